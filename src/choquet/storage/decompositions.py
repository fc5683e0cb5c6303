"""Decompositions: what was chosen is stored, what follows from it is computed again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from choquet.errors import OptionError
from choquet.expected import FLAG, NUMBER, TEXT, Array, Number, Text, expect_fields
from choquet.operators.dissimilarity import DISSIMILARITIES
from choquet.storage.values import decode_value, encode_value
from choquet.walks import DataSupport, OperatorGraph, WalkList

if TYPE_CHECKING:
    from choquet.decomposition.clusters import ClusterDecomposition
    from choquet.decomposition.sample import OperatorSample

_COUNTS = Array(("n",), "i", low=1)
_OPTIONS = {"epsilon": Number(low=0), "decimals": Number(low=0, high=300, whole=True)}
_LISTED = {"complete": FLAG, "sorts": Array(("n", "n_sources"), "i"), "counts": _COUNTS}
_DRAWN = {"weights": Array(("n", "n_sources")), "counts": _COUNTS}
_CENTRES = {
    "weights": Array((None, "n_sources")),
    "labels": Array(("n",), "i", low=0, high="last"),
    "scale": Number(low=0),
    "bias": NUMBER,
    "metric": Text(DISSIMILARITIES),
}
_PICTURE = {"order": Array(("n",), "i"), "heights": Array(("n",), low=0), "counts": _COUNTS}
_SCORES = {
    "n_clusters": Number(low="k", high="k", whole=True),
    "method": TEXT,
    "score": Number(lacking=True),
    "proved": FLAG,
    **dict.fromkeys(("squareness", "edginess"), Number(lacking=True)),
}
_CUTS = {
    "cuts": Array((None,), "i", low=0, high="n"),
    "memberships": Array(("n", None), low=0, high=1 + 1e-9),
}
"""What the fields of each part must be."""


def encode_decomposition(found: ClusterDecomposition) -> dict[str, Any]:
    """Measure, support, operators, labels and picture, as plain data."""
    name = found.metric.name
    if DISSIMILARITIES.get(name) is not found.metric:
        raise OptionError(
            f"cannot save a decomposition by the metric {name!r}: a file can only name rows of "
            f"the table, {', '.join(DISSIMILARITIES)}; decompose with one of them"
        )
    graph, partition = found.sample.graph, found.partition
    data = {
        "measure": encode_value(found.measure),
        "support": encode_value(found.support),
        "epsilon": graph.epsilon,
        "decimals": graph.decimals,
        "bias": found.bias,
        "metric": name,
        "scale": found.scale,
        "weights": found.centres,
        "stable_shares": np.array([operator.stable_share for operator in found.operators]),
        "identification": encode_value(found.identification),
        "labels": found.labels,
        "ivat": {key: getattr(found.ivat, key) for key in _PICTURE},
        "partition": {key: getattr(partition, key) for key in _SCORES},
        **{key: getattr(partition, key) for key in _CUTS},
        "scores": [[int(k), float(score)] for k, score in partition.scores.items()],
        **{
            name: encode_value(getattr(found, name))
            for name in ("outcome", "units")
            if getattr(found, name) is not None
        },
    }
    if not graph.measure.is_dense:
        return {**data, "walks": graph.listed(0)._asdict()}
    if not found.sample.complete:
        # Operators that were drawn cannot be listed again; all others can.
        data["sample"] = {"weights": found.sample.weights, "counts": found.sample.counts}
    return data


def _sample(data: dict[str, Any]) -> OperatorSample:
    """The operators again, which were drawn, or are listed once more."""
    from choquet.decomposition.sample import OperatorSample

    measure, support = decode_value(data["measure"]), decode_value(data["support"])
    if not hasattr(measure, "n_sources") or not isinstance(support, DataSupport | None):
        raise ValueError("it holds no measure, or a support that is none")
    options = expect_fields(data, _OPTIONS)
    n = len(data["labels"])
    if "walks" in data:
        listed = data["walks"]
        expect_fields(listed, _LISTED, n_sources=measure.n_sources)
        walks = WalkList(measure, support=support, **options, **listed)
        return OperatorSample(walks.weights(), walks.walk_counts, walks, walks.complete)
    graph = OperatorGraph(measure, support, **options)
    if "sample" in data:
        drawn = expect_fields(data["sample"], _DRAWN, n=n, n_sources=measure.n_sources)
        return OperatorSample(**drawn, graph=graph, complete=False)
    # Before they are listed: there may be up to N! of them.
    if graph.n_operators != n:
        raise ValueError(f"{n} labels, but {graph.n_operators} operators")
    return OperatorSample(graph.weights(), graph.walk_counts, graph, complete=True)


def decode_decomposition(data: dict[str, Any]) -> ClusterDecomposition:
    """The decomposition again; errors, shares and rules follow from what was stored."""
    from choquet.clustering.ivat import IVAT
    from choquet.clustering.partition import Partition
    from choquet.decomposition.clusters import ClusterDecomposition

    sample = _sample(data)
    n, labels = len(sample.weights), data["labels"]
    last = len(data["weights"]) - 1
    expect_fields(data, _CENTRES, n=n, n_sources=sample.graph.measure.n_sources, last=last)
    centres = data["weights"]
    if set(np.unique(labels).tolist()) != set(range(len(centres))):
        raise ValueError(f"labels do not number {len(centres)} operators")
    metric = DISSIMILARITIES[data["metric"]]
    image = expect_fields(data["ivat"], _PICTURE, n=n)
    if not np.array_equal(np.sort(image["order"]), np.arange(n)):
        raise ValueError("order is not an order of the operators")
    about = expect_fields(data["partition"], _SCORES, k=len(centres))
    expect_fields(data, _CUTS, unknown=tuple(_CUTS), n=n)
    cuts = {key: data[key] for key in _CUTS}
    if cuts["cuts"] is not None and (np.diff(cuts["cuts"]) <= 0).any():
        raise ValueError("cuts are not in order")
    scores = {int(number): float(score) for number, score in data["scores"]}
    # Files of earlier versions hold no intervals, only what followed from them, and no classes.
    known = ("identification", "outcome", "units")
    identified, outcome, units = (decode_value(data.get(key)) for key in known)
    shares = data["stable_shares"]
    if (
        shares.dtype != np.float64
        or shares.shape != (len(centres),)
        or not (np.isnan(shares) | (shares >= 0)).all()
    ):
        raise ValueError("stable_shares are no shares of the operators")
    return ClusterDecomposition(
        sample=sample,
        picture=IVAT(**image, metric=metric.name),
        partition=Partition(labels=labels, **about, **cuts, scores=scores),
        centres=centres,
        metric=metric,
        scale=data["scale"],
        support=sample.graph.support,
        bias=data["bias"],
        identification=identified,
        outcome=outcome,
        stable_shares=shares,
        units=units,
    )
