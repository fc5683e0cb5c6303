"""At run time: which operator decides a sample, and whether data stand behind it."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from choquet.arrays import BoolArray, FloatArray, IntArray
from choquet.lattice.ties import strict_falls
from choquet.lattice.wide import steps_outside
from choquet.measures import AbstractMeasure
from choquet.measures.supported import known_at
from choquet.walks import DataSupport

if TYPE_CHECKING:
    from choquet.decomposition.result import Decomposition

TRUSTED = 0.5
"""Trust from which on an operator counts as supported: data decided more of it than the penalty."""

_MAX_COMPARED = 40_000
"""Supported subsets that are all compared with each other, for intervals."""


class Decided(NamedTuple):
    """Of each sample the operator, the sort that decided, its own sort, its leaf or -1, and its
    inputs in the order of its sort.
    """

    operator: IntArray
    similar_sort: IntArray
    sort: IntArray
    leaf: IntArray
    ordered: FloatArray


@dataclass(frozen=True, eq=False)
class Assessment:
    """What is known about samples, one entry each.

    Attributes
    ----------
    phi : array of n floats
        Share of the values in the sample's integral, ∅ and X aside, that no data support. Values
        with weight zero, as ties have, do not count. Where operators were learned directly: the
        share of the deciding weights that the penalty decided, not data.
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
    sort : array of shape (n, N)
        The sample's own sort.
    leaf : array of n ints
        The leaf of the tree of conditions that it falls into; -1 without a tree.
    integral : array of n floats
        The integral itself; the middle of the interval where not all its values are known; the
        output of the operator where there is no integral.
    """

    phi: FloatArray
    supported: BoolArray
    interval: FloatArray
    operator: IntArray
    similar_sort: IntArray
    integral: FloatArray
    sort: IntArray
    leaf: IntArray


def assess(decomposition: Decomposition, inputs: FloatArray) -> Assessment:
    """Support, interval and deciding operator of each sample."""
    measure, support = decomposition.measure, decomposition.support
    labels, chosen, sorts, leaves, ordered = decomposition.decided(inputs)
    if measure is None:
        trust = np.array([operator.trust for operator in decomposition.operators])[labels]
        output = decomposition.outputs(inputs, labels)
        unknown = np.full((len(inputs), 2), np.nan)
        phi, supported = 1 - trust, trust >= TRUSTED
        return Assessment(phi, supported, unknown, labels, chosen, output, sorts, leaves)
    integral = measure.integral_of_rows(inputs) + decomposition.intercept
    unsupported = unsupported_steps(measure, support, sorts)
    if unsupported is None:
        phi, exact = np.zeros(len(inputs)), np.column_stack([integral, integral])
        return Assessment(phi, phi == 0, exact, labels, chosen, integral, sorts, leaves)
    tolerance = 0.0 if support is None else support.tolerance
    missing = (unsupported & strict_falls(ordered, tolerance)).sum(axis=1)
    phi = missing / max(measure.n_sources - 1, 1)
    bounded = decomposition.known_part
    if bounded is None:
        interval = np.full((len(inputs), 2), np.nan)
    else:
        interval = bounded.interval_of_rows(inputs) + decomposition.intercept
    supported = (phi == 0) | (phi < decomposition.epsilon)
    return Assessment(phi, supported, interval, labels, chosen, integral, sorts, leaves)


def assess_each(decomposition: Decomposition, inputs: FloatArray) -> list[Assessment]:
    """The same for each sample alone."""
    found = assess(decomposition, inputs)
    whole = [getattr(found, field.name) for field in fields(found)]
    return [Assessment(*(part[k : k + 1] for part in whole)) for k in range(len(inputs))]


def unsupported_steps(
    measure: AbstractMeasure, support: DataSupport | None, sorts: IntArray
) -> BoolArray | None:
    """Which sets along each walk have no value of their own; None if all have one."""
    words = measure.known_words
    if words is None and support is not None:
        words = support.words
    return None if words is None else steps_outside(words, sorts)


def known_part(measure: AbstractMeasure, support: DataSupport | None) -> AbstractMeasure | None:
    """The supported values alone; None if nothing bounds the others, or too many are known."""
    if measure.known_words is not None:
        return measure
    if support is None or not (measure.is_dense or len(support.words) <= _MAX_COMPARED):
        return None
    return known_at(measure, support.words)
