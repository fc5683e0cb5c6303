"""At run time: which operator decides a sample, and whether data stand behind it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from choquet.arrays import BoolArray, FloatArray, IntArray
from choquet.lattice.wide import steps_outside
from choquet.measures import AbstractMeasure, SupportedMeasure
from choquet.walks import DataSupport, sorts_of
from choquet.walks.sorts import strict_steps

if TYPE_CHECKING:
    from choquet.decomposition.result import Decomposition

__all__ = ["Assessment", "assess", "known_part", "labels_of_sorts", "similar_sorts"]

_CANDIDATES = 10_000
"""Supported walks among which a similar one is looked for, if data observed none whole."""

_FEW_SOURCES = 16
"""Beyond so many sources only the most frequent sorts are candidates; below, all are."""

_MAX_COMPARED = 40_000
"""Supported subsets that are all compared with each other, for intervals."""


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
        monotone or its supported subsets are too many to compare.
    operator : array of n ints
        The operator that decides, or would decide after `similar_sort` for unsupported samples.
    similar_sort : array of shape (n, N)
        The sample's own sort, or the most similar one with support.
    integral : array of n floats
        The integral itself; the middle of the interval where not all its values are known.
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
    integral = measure.integral(inputs) + decomposition.bias
    labels = labels_of_sorts(decomposition, sorts)
    chosen = sorts.copy()
    left_out = labels < 0
    if left_out.any():
        chosen[left_out] = similar_sorts(decomposition, sorts[left_out])
        labels[left_out] = labels_of_sorts(decomposition, chosen[left_out])
    unsupported = unsupported_steps(measure, support, sorts)
    if unsupported is None:
        phi = np.zeros(len(inputs))
        return Assessment(
            phi, phi == 0, np.column_stack([integral, integral]), labels, chosen, integral
        )
    tolerance = 0.0 if support is None else support.tolerance
    counted = strict_steps(inputs, sorts, tolerance)[:, :-1]
    missing = (unsupported & counted).sum(axis=1)
    phi = missing / max(measure.n_sources - 1, 1)
    bounded = decomposition.known_part
    if bounded is None:
        interval = np.full((len(inputs), 2), np.nan)
    else:
        interval = bounded.interval(inputs) + decomposition.bias
    supported = (phi == 0) | (phi < decomposition.sample.graph.epsilon)
    return Assessment(phi, supported, interval, labels, chosen, integral)


def unsupported_steps(
    measure: AbstractMeasure, support: DataSupport | None, sorts: IntArray
) -> BoolArray | None:
    """Which sets along each walk have no value of their own; None if all have one."""
    words = measure.known_words
    if words is not None:
        return steps_outside(words, sorts)
    return None if support is None else support.unsupported_steps(sorts)


def known_part(measure: AbstractMeasure, support: DataSupport | None) -> AbstractMeasure | None:
    """The supported values alone; None if nothing bounds the others, or too many are known."""
    if measure.known_words is not None:
        return measure
    if support is None or not measure.monotone:
        return None
    if measure.is_dense:
        return SupportedMeasure.from_measure(measure.to_measure(), support.supported)
    if support.n_supported > _MAX_COMPARED:
        return None
    values = measure.values_of(support.words)
    return SupportedMeasure.nearest(support.words, values, measure.sources, total=measure.total)


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
    from choquet.decomposition.decompose import operators_of

    weights = operators_of(decomposition.measure, sorts)
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
        kept = graph.index(observed) >= 0 if len(observed) else np.zeros(0, dtype=np.bool_)
        candidates, counts = observed[kept], decomposition.support.sort_counts[kept]
        if len(candidates) > _CANDIDATES and graph.n_sources > _FEW_SOURCES:
            candidates = candidates[np.argsort(-counts, kind="stable")[:_CANDIDATES]]
    if not len(candidates):
        candidates = np.unique(graph.sample_sorts(_CANDIDATES, rng=0), axis=0)
    from choquet.decomposition._kernels_similar import most_similar

    return candidates[most_similar(np.ascontiguousarray(sorts), np.ascontiguousarray(candidates))]
