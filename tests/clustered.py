"""The paper's way in one call, for tests: a method by name, with the options that belong to it."""

from __future__ import annotations

from typing import Any

from choquet import Clodd, Clustering, Distinct, FuzzyCMeans, Linkage, decompose
from choquet.decomposition import ClusterDecomposition

METHODS = {
    "clodd": Clodd, "single_linkage": Linkage, "fuzzy_c_means": FuzzyCMeans, "distinct": Distinct,
}  # fmt: skip


def clustered(
    measure: Any,
    *,
    method: Any = "clodd",
    support: Any = "auto",
    identification: Any = None,
    rng: Any = 0,
    **options: Any,
) -> ClusterDecomposition:
    """Decompose by a clustering of operators."""
    made = METHODS[method] if isinstance(method, str) else Clustering
    if made is Clustering:
        options["clusterer"] = method
    return decompose(
        measure, support=support, identification=identification, rng=rng, method=made(**options)
    )
