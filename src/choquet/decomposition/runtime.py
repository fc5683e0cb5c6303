"""At run time: which operator decides a sample, and whether data stand behind it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from choquet.arrays import BoolArray, FloatArray, IntArray
from choquet.integrals import choquet_integral, choquet_interval
from choquet.lattice.wide import chains_of
from choquet.measures import SupportedMeasure
from choquet.walks import sorts_of, walk_weights
from choquet.walks.sorts import strict_steps

if TYPE_CHECKING:
    from choquet.decomposition.result import Decomposition

__all__ = ["Assessment", "assess", "labels_of_sorts", "similar_sorts"]

_CANDIDATES = 10_000
"""Supported walks among which a similar one is looked for, if data observed none whole."""

_BLOCK = 4_000_000
"""Comparisons of sets that are held at a time."""


@dataclass(frozen=True, eq=False)
class Assessment:
    """What is known about samples, one entry each.

    Attributes
    ----------
    phi : array of n floats
        Share of the values in the sample's integral, ∅ and X aside, that no data support. Values
        with weight zero, as ties have, do not count.
    supported : array of n bools
        Whether all of them are supported (or enough, where the decomposition allowed some not to
        be).
    interval : array of shape (n, 2)
        Tight bounds of the integral over all monotone measures with the supported values; both
        equal to the integral if there is no support to restrict it, NaN if the measure is not
        monotone.
    operator : array of n ints
        The operator that decides, or would decide after `similar_sort` for unsupported samples.
    similar_sort : array of shape (n, N)
        The sample's own sort, or the most similar one with support.
    integral : array of n floats
        The integral itself.
    """

    phi: FloatArray
    supported: BoolArray
    interval: FloatArray
    operator: IntArray
    similar_sort: IntArray
    integral: FloatArray


def assess(decomposition: Decomposition, inputs: FloatArray) -> Assessment:
    """Support, interval and deciding operator of each sample."""
    measure, support = decomposition.measure, decomposition.support
    sorts = sorts_of(inputs)
    integral = choquet_integral(measure, inputs) + decomposition.bias
    labels = labels_of_sorts(decomposition, sorts)
    chosen = sorts.copy()
    left_out = labels < 0
    if left_out.any():
        chosen[left_out] = similar_sorts(decomposition, sorts[left_out])
        labels[left_out] = labels_of_sorts(decomposition, chosen[left_out])
    if support is None:
        phi = np.zeros(len(inputs))
        return Assessment(
            phi, phi == 0, np.column_stack([integral, integral]), labels, chosen, integral
        )
    counted = strict_steps(inputs, sorts, support.tolerance)[:, :-1]
    missing = (support.unsupported_steps(sorts) & counted).sum(axis=1)
    phi = missing / max(measure.n_sources - 1, 1)
    if measure.monotone:
        known = SupportedMeasure.from_measure(measure, support.supported)
        interval = choquet_interval(known, inputs) + decomposition.bias
    else:
        interval = np.full((len(inputs), 2), np.nan)
    supported = (phi == 0) | (phi < decomposition.sample.graph.epsilon)
    return Assessment(phi, supported, interval, labels, chosen, integral)


def labels_of_sorts(decomposition: Decomposition, sorts: IntArray) -> IntArray:
    """Operator of each sort; -1 where the walk was left out."""
    sample = decomposition.sample
    if sample.complete:
        numbers = sample.graph.index(sorts).astype(np.int64)
        labels: IntArray = decomposition.labels[numbers]
        return np.where(numbers >= 0, labels, -1)
    # Drawn operators: the nearest of them decides.
    from scipy.spatial import cKDTree

    metric = decomposition.metric
    weights = walk_weights(decomposition.measure, sorts)
    if metric.embeddable:
        tree = cKDTree(metric.embed(sample.weights))
        nearest = tree.query(metric.embed(weights), p=metric.p)[1]
    else:
        nearest = np.array(
            [metric.matrix(w[None], sample.weights)[0].argmin() for w in weights], dtype=np.int64
        )
    return np.asarray(decomposition.labels[nearest])


def similar_sorts(decomposition: Decomposition, sorts: IntArray) -> IntArray:
    """For each sort the supported one that shares most sets with it, then the nearest order.

    The candidates are the sorts that data observed, or walks drawn from the supported ones.
    """
    graph = decomposition.sample.graph
    candidates = np.zeros((0, graph.n_sources), dtype=np.int64)
    if decomposition.support is not None:
        observed = decomposition.support.observed_sorts
        candidates = observed[graph.index(observed) >= 0] if len(observed) else observed
    if not len(candidates):
        candidates = np.unique(graph.sample_sorts(_CANDIDATES, rng=0), axis=0)
    theirs, ranks = chains_of(candidates), np.argsort(candidates, axis=1)
    best = np.empty(len(sorts), dtype=np.int64)
    step = max(1, _BLOCK // (len(candidates) * graph.n_sources))
    for start in range(0, len(sorts), step):
        part = sorts[start : start + step]
        shared = (chains_of(part)[:, None] == theirs[None]).all(axis=3).sum(axis=2)
        moved = np.abs(np.argsort(part, axis=1)[:, None] - ranks[None]).sum(axis=2)
        # Shared sets first; the total displacement of sources is below N² and only breaks ties.
        best[start : start + step] = (shared * graph.n_sources**2 - moved).argmax(axis=1)
    return candidates[best]
