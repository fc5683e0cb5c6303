"""Decompositions: what was chosen is stored, what follows from it is computed again."""

from __future__ import annotations

from typing import Any

import numpy as np

from choquet.clustering.ivat import IVAT
from choquet.clustering.partition import Partition
from choquet.decomposition.clusters import ClusterDecomposition
from choquet.decomposition.sample import OperatorSample
from choquet.errors import OptionError
from choquet.expected import expect_array, expect_number, expect_text
from choquet.operators.dissimilarity import DISSIMILARITIES
from choquet.storage.checks import check_flag
from choquet.storage.values import decode_value, encode_value
from choquet.walks import DataSupport, OperatorGraph, WalkList

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
    if not hasattr(measure, "n_sources") or not isinstance(support, DataSupport | None):
        raise ValueError("it holds no measure, or a support that is none")
    options = {
        "epsilon": expect_number(data, "epsilon", low=0),
        "decimals": expect_number(data, "decimals", low=0, high=300, whole=True),
    }
    n = len(expect_array(data, "labels", (None,), kinds="i", low=0))
    if "walks" in data:
        listed = data["walks"]
        check_flag(listed, "complete")
        expect_array(listed, "sorts", (None, measure.n_sources), kinds="i")
        expect_array(listed, "counts", (len(listed["sorts"]),), kinds="i", low=1)
        walks = WalkList(measure, support=support, **options, **listed)
        return _decoded(
            data, OperatorSample(walks.weights(), walks.walk_counts, walks, walks.complete)
        )
    graph = OperatorGraph(measure, support, **options)
    if "sample" in data:
        drawn = data["sample"]
        expect_array(drawn, "weights", (n, measure.n_sources))
        expect_array(drawn, "counts", (n,), kinds="i", low=1)
        sample = OperatorSample(drawn["weights"], drawn["counts"], graph, complete=False)
    else:
        # Before they are listed: there may be up to N! of them.
        if graph.n_operators != n:
            raise ValueError(f"{n} labels, but {graph.n_operators} operators")
        sample = OperatorSample(graph.weights(), graph.walk_counts, graph, complete=True)
    return _decoded(data, sample)


def _decoded(data: dict[str, Any], sample: OperatorSample) -> ClusterDecomposition:
    n, labels = len(sample.weights), data["labels"]
    centres = expect_array(data, "weights", (None, sample.graph.measure.n_sources))
    expect_array(data, "labels", (n,), kinds="i", low=0, high=len(centres) - 1)
    if set(np.unique(labels).tolist()) != set(range(len(centres))):
        raise ValueError(f"labels do not number {len(centres)} operators")
    expect_number(data, "scale", low=0)
    expect_number(data, "bias")
    metric = DISSIMILARITIES[expect_text(data, "metric", DISSIMILARITIES)]
    picture = IVAT(**_picture(data["ivat"], n), metric=metric.name)
    partition = Partition(labels=labels, **_partition(data, n, len(centres)))
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
        picture=picture,
        partition=partition,
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


def _picture(image: dict[str, Any], n: int) -> dict[str, Any]:
    order = expect_array(image, "order", (n,), kinds="i")
    if not np.array_equal(np.sort(order), np.arange(n)):
        raise ValueError("order is not an order of the operators")
    heights = expect_array(image, "heights", (n,), low=0)
    return {
        "order": order,
        "heights": heights,
        "counts": expect_array(image, "counts", (n,), kinds="i", low=1),
    }


def _partition(data: dict[str, Any], n: int, k: int) -> dict[str, Any]:
    about = data["partition"]
    expect_number(about, "n_clusters", low=k, high=k, whole=True)
    expect_text(about, "method")
    check_flag(about, "proved")
    for name in ("score", "squareness", "edginess"):
        expect_number(about, name, lacking=True)
    if data["cuts"] is not None:
        cuts = expect_array(data, "cuts", (None,), kinds="i", low=0, high=n)
        if (np.diff(cuts) <= 0).any():
            raise ValueError("cuts are not in order")
    if data["memberships"] is not None:
        expect_array(data, "memberships", (n, None), low=0, high=1 + 1e-9)
    scores = {int(number): float(score) for number, score in data["scores"]}
    return {
        **{name: about[name] for name in _PARTITION},
        "cuts": data["cuts"],
        "memberships": data["memberships"],
        "scores": scores,
    }
