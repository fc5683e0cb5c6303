"""Families of measures: one row says all that learning, averaging and storing need of a family.

To add a family, add a row to `FAMILIES` and a test of it.
"""

from __future__ import annotations

from collections.abc import Callable
from math import comb
from typing import Any, NamedTuple

import numpy as np

from choquet.arrays import FloatArray
from choquet.lattice import upward_maximum
from choquet.lattice.wide import WordArray
from choquet.learning.data.statistics import Statistics
from choquet.learning.families import chains, curves
from choquet.learning.families.bases import additive_basis, k_additive_basis, symmetric_basis
from choquet.learning.families.blocks import fit_blocks, largest_table, table_of
from choquet.learning.families.fits import different, fit_lambda, fit_pairs, fit_weights, pairs_of
from choquet.learning.families.maxitive import fit_maxitive
from choquet.measures import AbstractMeasure, FormulaMeasure, Measure, MobiusMeasure
from choquet.measures.formula import FormulaName, members_of, ranks_of
from choquet.measures.mobius import coalitions

ZERO = 1e-6
"""Weights below this count as none."""
MOST_MASSES = 600
"""Subsets that may bear mass in a belief measure: all of them for up to 9 sources."""
SEARCHED = 1.25
"""Numbers that a possibility or necessity fit uses for each of its levels: which source decides is
searched for as well. Measured by ``python benchmarks/family_odds.py --numbers``; fits of convex
families and 2-maxitive ones use as many as they have."""


class Fit(NamedTuple):
    """The member of a family of least squared error, and how many numbers that took."""

    measure: AbstractMeasure
    n_used: float
    """Free numbers that no constraint holds. What was chosen among K ways costs 2 log K more: with
    half of the criterion in the weights, that makes the odds of each way one in K."""


class Family(NamedTuple):
    """One row of the table of families that a measure may belong to, or shrink towards."""

    meaning: str
    n_parameters: Callable[[int], int]
    """Free numbers, by the number of sources."""
    fit: Callable[[Statistics], Fit] | None
    """The monotone normal member of least squared error; None for all measures."""
    pattern: Callable[[WordArray, int], Any] | None = None
    """Columns whose weighted sum gives the value of a subset; None if the family is not linear."""
    basis: Callable[[int], Any] | None = None
    """Matrix from free numbers to all 2**N values, to shrink towards or to restrict to."""
    wide: bool = False
    """Whether that fit is offered beyond 16 sources."""
    chain: chains.Chain | None = None
    """Mean over the family, each member with its probability given the data; None if there is no
    chain, then the fit alone speaks for the family."""
    sparse: chains.Chain | None = None
    """A second mean, under a prior by which values are likely to be alike, or weights zero."""


def _weights(name: FormulaName, pattern: Callable[[WordArray, int], FloatArray]) -> Any:
    def fit(statistics: Statistics) -> Fit:
        weights = fit_weights(statistics, pattern(statistics.masks, statistics.n_sources))
        return Fit(FormulaMeasure(name, weights), _count(weights) - 1)

    return fit


def _count(weights: FloatArray) -> int:
    return int((np.abs(weights) > ZERO).sum())


def _every(n_sources: int) -> WordArray:
    return np.arange(1 << n_sources, dtype=np.uint64)[:, None]


def _mixture(pattern: Callable[[WordArray, int], FloatArray]) -> Any:
    """Fit of weights of any columns."""

    def fit(statistics: Statistics) -> Fit:
        n = statistics.n_sources
        weights = fit_weights(statistics, pattern(statistics.masks, n))
        values = np.clip(upward_maximum(pattern(_every(n), n) @ weights), 0.0, 1.0)
        values[0], values[-1] = 0.0, 1.0
        return Fit(Measure(values), _count(weights) - 1)

    return fit


def sources_and_ranks(words: WordArray, n_sources: int) -> FloatArray:
    """Which sources, then which ranks each subset sums: a weighted mean plus an OWA.

    All monotone sums of an additive and a symmetric measure have such weights, none negative.

    Examples
    --------
    >>> sources_and_ranks(np.array([[0b101]], dtype=np.uint64), 3)
    array([[1., 0., 1., 1., 1., 0.]])
    """
    return np.hstack([members_of(words, n_sources), ranks_of(words, n_sources)])


def ends_of_pairs(words: WordArray, n_sources: int) -> FloatArray:
    """Which subsets hold each source, both sources of each pair, and one of them at the least.

    All 2-additive measures are averages of these (Miranda, Combarro & Gil 2006).

    Examples
    --------
    >>> ends_of_pairs(np.array([[0b01], [0b11]], dtype=np.uint64), 2)
    array([[1., 0., 0., 1.],
           [1., 1., 1., 1.]])
    """
    inside = members_of(words, n_sources)
    left, right = np.triu_indices(n_sources, 1)
    pair = inside[:, left], inside[:, right]
    return np.hstack([inside, np.minimum(*pair), np.maximum(*pair)])


def focal_sets(n_sources: int) -> Any:
    """Subsets that may bear mass: the smallest and the largest, as many as `MOST_MASSES` allows.

    Examples
    --------
    >>> focal_sets(2)
    array([1, 2, 3])
    """
    masks = np.arange(1, 1 << n_sources)
    sizes = np.bitwise_count(masks)
    away = np.minimum(sizes, n_sources - sizes)
    for level in range(n_sources // 2, 0, -1):
        kept = masks[away <= level]
        if len(kept) <= MOST_MASSES or level == 1:
            return kept
    return masks


def held_by(words: WordArray, n_sources: int) -> FloatArray:
    """Which focal sets lie inside each subset: a belief measure is a sum of such columns.

    Examples
    --------
    >>> held_by(np.array([[1], [3]], dtype=np.uint64), 2)
    array([[1., 0., 0.],
           [1., 1., 1.]])
    """
    masks, focal = words[:, 0].astype(np.int64)[:, None], focal_sets(n_sources)
    return np.asarray(masks & focal == focal, dtype=np.float64)


def met_by(words: WordArray, n_sources: int) -> FloatArray:
    """Which focal sets meet each subset: a plausibility measure is a sum of such columns.

    Examples
    --------
    >>> met_by(np.array([[1], [3]], dtype=np.uint64), 2)
    array([[1., 0., 1.],
           [1., 1., 1.]])
    """
    masks, focal = words[:, 0].astype(np.int64)[:, None], focal_sets(n_sources)
    return np.asarray(masks & focal != 0, dtype=np.float64)


def _pairs(statistics: Statistics) -> Fit:
    n = statistics.n_sources
    names = [f"x{i + 1}" for i in range(n)]
    m = fit_pairs(statistics)
    # Monotone and normal as near as the solver proved it; whoever needs more closes the values.
    measure = MobiusMeasure(coalitions(n, min(n, 2)), m, names, monotone=False, normal=False)
    left, right = np.triu_indices(n, 1)
    room = m[:n].copy()
    for ends in (left, right):
        np.add.at(room, ends, np.minimum(m[n:], 0.0))
    return Fit(measure, _count(room) + _count(m[n:]) - 1)


def _curve(statistics: Statistics) -> Fit:
    found = fit_lambda(statistics)
    return Fit(found, _count(found.weights))


def _blocks(statistics: Statistics) -> Fit:
    found = fit_blocks(statistics)
    place = table_of(found.labels, np.arange(1 << statistics.n_sources))
    return Fit(Measure(found.values[place]), different(found.values) + 2 * found.chosen)


def _maxitive(k: int, dual: bool) -> Any:
    def fit(statistics: Statistics) -> Fit:
        values = fit_maxitive(statistics, k, dual=dual)
        levels = different(values[statistics.positions])
        return Fit(Measure(values), levels * (SEARCHED if k == 1 else 1.0))

    return fit


FAMILIES: dict[str, Family] = {
    "none": Family(
        meaning="any monotone measure",
        n_parameters=lambda n: (1 << n) - 2,
        fit=None,
        wide=True,
        chain=chains.lattice,
        sparse=chains.alike,
    ),
    "additive": Family(
        meaning="weighted arithmetic mean",
        n_parameters=lambda n: n,
        pattern=members_of,
        basis=additive_basis,
        fit=_weights("additive", members_of),
        wide=True,
        chain=chains.simplex(members_of),
        sparse=chains.faces(members_of),
    ),
    "symmetric": Family(
        meaning="ordered weighted average (OWA)",
        n_parameters=lambda n: n,
        pattern=ranks_of,
        basis=symmetric_basis,
        fit=_weights("symmetric", ranks_of),
        wide=True,
        chain=chains.simplex(ranks_of),
        sparse=chains.faces(ranks_of),
    ),
    "2-additive": Family(
        meaning="sources with pairwise interactions",
        n_parameters=lambda n: n + comb(n, 2),
        pattern=pairs_of,
        basis=lambda n: k_additive_basis(n, min(2, n)),
        fit=_pairs,
        chain=chains.simplex(pairs_of, with_pairs=True),
        sparse=chains.faces(ends_of_pairs),
    ),
    "lambda": Family(
        meaning="Sugeno λ-measure: shares of the sources, bent by one number",
        n_parameters=lambda n: n,
        fit=_curve,
        wide=True,
        chain=curves.curve,
    ),
    "two-operator": Family(
        meaning="a weighted mean plus an ordered weighted average",
        n_parameters=lambda n: 2 * n - 1,
        pattern=sources_and_ranks,
        fit=_mixture(sources_and_ranks),
        chain=chains.simplex(sources_and_ranks),
        sparse=chains.faces(sources_and_ranks),
    ),
    "p-symmetric": Family(
        meaning="sources in up to three blocks, of which only the numbers count",
        n_parameters=largest_table,
        fit=_blocks,
        chain=chains.blocks(),
        sparse=chains.blocks(alike=True),
    ),
    "belief": Family(
        meaning="masses of subsets, none negative: interactions that only add",
        n_parameters=lambda n: len(focal_sets(n)) - 1,
        pattern=held_by,
        fit=_mixture(held_by),
    ),
    "plausibility": Family(
        meaning="dual of a belief measure: interactions that only take away",
        n_parameters=lambda n: len(focal_sets(n)) - 1,
        pattern=met_by,
        fit=_mixture(met_by),
    ),
    "possibility": Family(
        meaning="the best source of a subset decides",
        n_parameters=lambda n: n,
        fit=_maxitive(1, dual=False),
    ),
    "necessity": Family(
        meaning="the worst source outside a subset decides",
        n_parameters=lambda n: n,
        fit=_maxitive(1, dual=True),
    ),
    "2-maxitive": Family(
        meaning="the best pair of sources in a subset decides",
        n_parameters=lambda n: n + comb(n, 2),
        fit=_maxitive(2, dual=False),
    ),
    "2-minitive": Family(
        meaning="the worst pair of sources outside a subset decides",
        n_parameters=lambda n: n + comb(n, 2),
        fit=_maxitive(2, dual=True),
    ),
}
"""Families by name."""

PRIORS = tuple(name for name, family in FAMILIES.items() if family.fit is not None)
"""What `ChoquetRegressorCV` may choose from, or shrink towards."""
BASES = tuple(name for name, family in FAMILIES.items() if family.basis is not None)
"""What `ChoquetRegressor` may shrink towards, together with the fit."""
