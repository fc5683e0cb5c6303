"""What experts say, as rows of the learning problem: lower ≤ matrix @ g ≤ upper.

Join statements with ``+``. Shapley values, interactions and orness are linear in the measure, so a
statement about them costs one row.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import comb
from typing import Any, Literal

import numpy as np

from choquet.arrays import FloatArray
from choquet.errors import OptionError, SourceError
from choquet.lattice import check_dense, subset_sizes
from choquet.lattice.lazy import sp
from choquet.learning.problem import Rows


def as_rows(said: Any, sources: Sequence[str]) -> Rows:
    """Rows of what experts say: rows as they are, or statements of `choquet.decide` by name.

    Parameters
    ----------
    said : Rows, statement, or sequence of statements
        A statement is anything that gives its rows by ``to_rows(sources)``.
    sources : sequence of str
        Names of the columns.

    Returns
    -------
    Rows
        All of them together.

    Examples
    --------
    >>> from choquet.decide import Importance
    >>> as_rows([Importance("b", "a", by=0.1)], ["a", "b"]).lower.round(3)
    array([0.1])
    """
    if isinstance(said, Rows):
        return said
    statements = list(said) if isinstance(said, Sequence) and not isinstance(said, str) else [said]
    if not statements or not all(hasattr(one, "to_rows") for one in statements):
        raise OptionError(
            f"expert={said!r}: give rows of choquet.learning.expert, or statements of "
            "choquet.decide such as [Importance('safety', 'comfort')]"
        )
    found = [one.to_rows(sources) for one in statements]
    rows: Rows = found[0]
    for one in found[1:]:
        rows = rows + one
    return rows


def _one_row(coefficients: FloatArray, lower: float, upper: float) -> Rows:
    bounds = np.array([[lower], [upper]], dtype=np.float64)
    return Rows(sp.csr_array(coefficients[None, :]), *bounds)


def _check_sources(n_sources: int, *sources: int) -> None:
    check_dense(n_sources)
    for source in sources:
        if not 0 <= source < n_sources:
            raise SourceError(f"there is no source {source}: {n_sources} are counted from 0")


def _shapley_row(n_sources: int, source: int) -> FloatArray:
    sizes = subset_sizes(n_sources).astype(np.int64)
    inside = np.arange(1 << n_sources) >> source & 1 == 1
    weight = np.array([1 / (n_sources * comb(n_sources - 1, k)) for k in range(n_sources)])
    return np.where(inside, weight[sizes - 1], -weight[np.minimum(sizes, n_sources - 1)])


def shapley_bounds(n_sources: int, source: int, lower: float, upper: float) -> Rows:
    """The Shapley value of a source lies in [lower, upper].

    References
    ----------
    Shapley (1953), "A value for n-person games"; Marichal & Roubens (2000), "Determination of
    weights of interacting criteria from a reference set", for statements as rows.

    Examples
    --------
    >>> import numpy as np
    >>> rows = shapley_bounds(2, 0, 0.5, 1.0)
    >>> rows.matrix @ np.array([0.0, 0.2, 0.6, 1.0])
    array([0.3])
    """
    _check_sources(n_sources, source)
    return _one_row(_shapley_row(n_sources, source), lower, upper)


def shapley_order(n_sources: int, more: int, less: int, margin: float = 0.0) -> Rows:
    """One source matters more than another: their Shapley values differ by at least `margin`.

    Examples
    --------
    >>> import numpy as np
    >>> (shapley_order(2, 1, 0).matrix @ np.array([0.0, 0.2, 0.6, 1.0])).round(12)
    array([0.4])
    """
    _check_sources(n_sources, more, less)
    row = _shapley_row(n_sources, more) - _shapley_row(n_sources, less)
    return _one_row(row, margin, np.inf)


def interaction_bounds(n_sources: int, i: int, j: int, lower: float, upper: float) -> Rows:
    """The interaction index of two sources lies in [lower, upper]; its sign: [0, inf], [-inf, 0].

    References
    ----------
    Murofushi & Soneda (1993); Grabisch (1997), "k-order additive discrete fuzzy measures".

    Examples
    --------
    >>> import numpy as np
    >>> (interaction_bounds(2, 0, 1, 0, np.inf).matrix @ np.array([0.0, 0.2, 0.6, 1.0])).round(12)
    array([0.2])
    """
    _check_sources(n_sources, i, j)
    if i == j:
        raise SourceError(f"source {i} does not interact with itself: name two sources")
    masks = np.arange(1 << n_sources)
    within = (masks >> i & 1) + (masks >> j & 1)
    rest = subset_sizes(n_sources).astype(np.int64) - within
    weight = np.array(
        [1 / ((n_sources - 1) * comb(n_sources - 2, k)) for k in range(n_sources - 1)]
    )
    return _one_row(np.where(within == 1, -1.0, 1.0) * weight[rest], lower, upper)


def orness_bounds(n_sources: int, lower: float, upper: float) -> Rows:
    """The orness (attitude: 0 is the minimum, 1 the maximum) lies in [lower, upper].

    References
    ----------
    Marichal (1998), "Aggregation operators for multicriteria decision aid": the mean over sizes
    1..N-1 of the mean value of g on sets of that size.

    Examples
    --------
    >>> import numpy as np
    >>> orness_bounds(2, 0.5, 1.0).matrix @ np.array([0.0, 0.2, 0.6, 1.0])
    array([0.4])
    """
    _check_sources(n_sources)
    if n_sources < 2:
        raise SourceError("orness needs at least two sources")
    sizes = subset_sizes(n_sources).astype(np.int64)
    weight = np.array([1 / ((n_sources - 1) * comb(n_sources, k)) for k in range(n_sources + 1)])
    weight[[0, -1]] = 0
    return _one_row(weight[sizes], lower, upper)


def modular(n_sources: int, kind: Literal["sub", "super"]) -> Rows:
    """Submodular (diminishing returns) or supermodular: g(A∪i) + g(A∪j) ≥ or ≤ g(A∪ij) + g(A).

    Examples
    --------
    >>> import numpy as np
    >>> (modular(2, "sub").matrix @ np.array([0.0, 0.2, 0.6, 1.0])).round(12)
    array([-0.2])
    """
    _check_sources(n_sources)
    if kind not in ("sub", "super"):
        raise OptionError(f"kind={kind!r} is unknown; choose one of sub, super")
    masks = np.arange(1 << n_sources)
    quads = []
    for i in range(n_sources):
        for j in range(i):
            base = masks[(masks >> i | masks >> j) & 1 == 0]
            quads.append(
                np.column_stack([base | 1 << i, base | 1 << j, base, base | 1 << i | 1 << j])
            )
    corners = np.concatenate(quads) if quads else np.empty((0, 4), dtype=np.int64)
    sign = np.array([1.0, 1.0, -1.0, -1.0]) * (1 if kind == "sub" else -1)
    rows = np.repeat(np.arange(len(corners)), 4)
    data = np.tile(sign, len(corners))
    matrix = sp.csr_array((data, (rows, corners.ravel())), shape=(len(corners), len(masks)))
    return Rows(matrix, np.zeros(len(corners)), np.full(len(corners), np.inf))


def known_values(n_sources: int, values: Mapping[int, Any]) -> Rows:
    """Known values of g by mask: a number, or a pair (lower, upper).

    Examples
    --------
    >>> known_values(2, {1: 0.3, 2: (0.5, 0.8)}).upper
    array([0.3, 0.8])
    """
    _check_sources(n_sources)
    masks = [int(mask) for mask in values]
    if any(not 0 <= mask < 1 << n_sources for mask in masks):
        raise SourceError(f"masks of {n_sources} sources lie in 0..{(1 << n_sources) - 1}: {masks}")
    bounds = np.array([np.broadcast_to(np.asarray(v, float), 2) for v in values.values()])
    bounds = bounds.reshape(-1, 2)
    matrix = sp.csr_array(
        (np.ones(len(masks)), (np.arange(len(masks)), masks)), shape=(len(masks), 1 << n_sources)
    )
    return Rows(matrix, bounds[:, 0].copy(), bounds[:, 1].copy())
