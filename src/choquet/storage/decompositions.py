"""Decompositions: what was chosen is stored, what follows from it is computed again."""

from __future__ import annotations

from typing import Any

import numpy as np

from choquet.clustering.ivat import IVAT
from choquet.clustering.partition import Partition
from choquet.decomposition.clusters import ClusterDecomposition
from choquet.decomposition.sample import OperatorSample
from choquet.errors import OptionError
from choquet.operators.dissimilarity import DISSIMILARITIES
from choquet.storage.values import decode_value, encode_value
from choquet.walks import OperatorGraph, WalkList

__all__ = ["decode_decomposition", "encode_decomposition"]

_PARTITION = ("n_clusters", "method", "score", "proved", "squareness", "edginess")


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
        "ivat": {
            "order": found.ivat.order,
            "heights": found.ivat.heights,
            "counts": found.ivat.counts,
        },
        "partition": {key: getattr(partition, key) for key in _PARTITION},
        "cuts": partition.cuts,
        "memberships": partition.memberships,
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


def decode_decomposition(data: dict[str, Any]) -> ClusterDecomposition:
    """The decomposition again; errors, shares and rules follow from what was stored."""
    measure, support = decode_value(data["measure"]), decode_value(data["support"])
    options = {"epsilon": data["epsilon"], "decimals": int(data["decimals"])}
    if "walks" in data:
        walks = WalkList(measure, support=support, **options, **data["walks"])
        return _decoded(
            data, OperatorSample(walks.weights(), walks.walk_counts, walks, walks.complete)
        )
    graph = OperatorGraph(measure, support, **options)
    if "sample" in data:
        drawn = data["sample"]
        sample = OperatorSample(drawn["weights"], drawn["counts"], graph, complete=False)
    else:
        sample = OperatorSample(graph.weights(), graph.walk_counts, graph, complete=True)
    return _decoded(data, sample)


def _decoded(data: dict[str, Any], sample: OperatorSample) -> ClusterDecomposition:
    measure = sample.graph.measure
    labels, centres, image = data["labels"], data["weights"], data["ivat"]
    n = len(sample.weights)
    for name, array in (("labels", labels), *image.items()):
        if array.shape != (n,):
            raise ValueError(f"{name} has shape {array.shape}, not ({n},)")
    if centres.ndim != 2 or centres.shape[1] != measure.n_sources:
        raise ValueError(f"weights have shape {centres.shape}")
    if set(np.unique(labels).tolist()) != set(range(len(centres))):
        raise ValueError(f"labels do not number {len(centres)} operators")
    metric = DISSIMILARITIES[data["metric"]]
    picture = IVAT(image["order"], image["heights"], image["counts"], metric.name)
    partition = Partition(
        labels=labels,
        cuts=data["cuts"],
        memberships=data["memberships"],
        scores={int(k): score for k, score in data["scores"]},
        **data["partition"],
    )
    # Files of earlier versions hold no intervals, only what followed from them, and no classes.
    known = ("identification", "outcome", "units")
    identified, outcome, units = (decode_value(data.get(key)) for key in known)
    return ClusterDecomposition(
        sample=sample,
        picture=picture,
        partition=partition,
        centres=centres,
        metric=metric,
        scale=data["scale"],
        support=sample.graph.support,
        bias=data["bias"],
        identification=identified,
        outcome=outcome,
        stable_shares=data["stable_shares"],
        units=units,
    )
