"""Markov chains over the measures of a family, each measure with its probability given the data.

A chain takes statistics, a floor of the squared error, a generator, and how many of its states to
keep. It gives the mean measure by mask, the mean energy W/2 log(squared error), W being the weight
of the data, and the measures kept, in the order in which it came by them.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from choquet.arrays import FloatArray, IntArray
from choquet.errors import OptionError
from choquet.lattice import cover_pairs, subset_sizes
from choquet.lattice.lazy import LazyModule
from choquet.learning.data.statistics import Statistics
from choquet.learning.families.blocks import covers_of, fit_blocks, table_of
from choquet.learning.families.fits import fit_lambda
from choquet.measures.formula import members_of

if TYPE_CHECKING:
    import scipy.sparse as sp
else:
    sp = LazyModule("scipy.sparse")

__all__ = ["Chain", "Chained", "alike", "blocks", "curve", "lattice", "simplex"]


class Chained(NamedTuple):
    """What a chain found."""

    mean: FloatArray
    energy: float
    states: FloatArray
    """Measures by mask, one in a row."""
    chosen: float = 0.0
    """Logarithm of the number of ways that the data chose the form of the family from."""


class Chain(Protocol):
    """See the head of this module."""

    def __call__(
        self, statistics: Statistics, floor: float, rng: np.random.Generator, n_states: int = 0
    ) -> Chained:
        """Run the chain."""
        ...


CURVE_SCALE = 3.0
"""Mean size of the curve c = log(1 + λ) beforehand."""
STATES = 1000
"""Measures that the mean of a λ family is made of, about."""
SHARE_SPREAD = 0.5
"""Standard deviation of the logarithms of shares beforehand, about; data can make it larger."""
SPACING = 10
"""Sweeps from one state that is kept to the next, where sweeps are cheap."""
PAIR_SPREAD = 1.0
"""The same of interactions of pairs about their mean, times N²: in all about half of the whole."""


def _schedule(
    statistics: Statistics, rng: np.random.Generator, n_states: int
) -> tuple[FloatArray, FloatArray, int]:
    """Tempers of all sweeps, gamma numbers for their noise, and the first sweep that is kept."""
    rising, kept = (1000, 2000) if statistics.n_sources <= 8 else (400, 600)
    kept = max(kept, (SPACING if statistics.n_sources <= 8 else 1) * n_states)
    tempers = np.minimum(np.arange(rising + kept) / (0.75 * rising), 1.0) ** 5
    shapes = 0.5 * statistics.weight * tempers
    return tempers, np.maximum(rng.standard_gamma(shapes), 1e-200), rising


def _seed(rng: np.random.Generator) -> np.uint64:
    return rng.integers(2**64, dtype=np.uint64)


def lattice(
    statistics: Statistics, floor: float, rng: np.random.Generator, n_states: int = 0
) -> Chained:
    """Chain over all monotone normal measures."""
    n = statistics.n_sources
    start = subset_sizes(n) / n
    return _ordered(statistics, floor, rng, n_states, statistics.positions, start, cover_pairs(n))


def alike(
    statistics: Statistics, floor: float, rng: np.random.Generator, n_states: int = 0
) -> Chained:
    """Chain over all monotone normal measures, where values are likely to equal a neighbour.

    Beforehand, a value equals the nearest one below it, or above it, with as much weight as if it
    lay anywhere in an interval of length one. So 0, 1 and values that are alike are as likely as
    all others together. It keeps no states.
    """
    from choquet.learning.families._kernels_alike import alike_chain

    if n_states:
        raise OptionError("the chain over values that are alike gives a mean, and no draws")
    n = statistics.n_sources
    unit, ordered = _in_order(statistics, statistics.positions, subset_sizes(n) / n, cover_pairs(n))
    mean, energy = alike_chain(*ordered, *_schedule(statistics, rng, 0), floor / unit, _seed(rng))
    states = np.empty((0, len(mean)))
    return Chained(mean, energy + 0.5 * statistics.weight * float(np.log(unit)), states)


def blocks(
    statistics: Statistics, floor: float, rng: np.random.Generator, n_states: int = 0
) -> Chained:
    """Chain over the p-symmetric measures with the blocks of the least squares fit."""
    n, (labels, _, chosen) = statistics.n_sources, fit_blocks(statistics)
    place = table_of(labels, np.arange(1 << n))
    size = int(place.max()) + 1
    start = np.zeros(size)
    start[place] = subset_sizes(n) / n
    at = place[statistics.positions]
    found = _ordered(statistics, floor, rng, n_states, at, start, covers_of(labels))
    return Chained(found.mean[place], found.energy, found.states[:, place], chosen)


def _ordered(
    statistics: Statistics,
    floor: float,
    rng: np.random.Generator,
    n_states: int,
    at: IntArray,
    start: FloatArray,
    pairs: IntArray,
) -> Chained:
    """Chain over values in an order; `at` has the place of the value of each seen subset."""
    from choquet.learning.families._kernels_chains import order_chain

    states = np.empty((n_states, len(start)))
    unit, ordered = _in_order(statistics, at, start, pairs)
    mean, energy = order_chain(
        *ordered, *_schedule(statistics, rng, n_states), floor / unit, _seed(rng), states
    )
    return Chained(mean, energy + 0.5 * statistics.weight * float(np.log(unit)), states)


def _in_order(
    statistics: Statistics, at: IntArray, start: FloatArray, pairs: IntArray
) -> tuple[float, tuple[Any, ...]]:
    """A unit of the squared error, and what chains over values in an order begin with."""
    size, (low, high) = len(start), pairs.T
    # In units of the targets, whose products fit; a power of two changes no digit.
    unit = float(2.0 ** np.round(np.log2(max(statistics.target_square, 1e-300))))
    gram = sp.coo_array(statistics.gram)
    form = sp.csr_array((gram.data, (at[gram.row], at[gram.col])), shape=(size, size))
    form.sum_duplicates()
    form.sort_indices()
    targets = np.bincount(at, statistics.targets, minlength=size)
    ones = np.ones(len(pairs))
    below = sp.csr_array((ones, (high, low)), (size, size))
    above = sp.csr_array((ones, (low, high)), (size, size))
    return unit, (
        form.indptr.astype(np.int32), form.indices.astype(np.int32), form.data / unit,
        targets / unit, statistics.target_square / unit, statistics.weight, start,
        below.indptr.astype(np.int32), below.indices.astype(np.int32),
        above.indptr.astype(np.int32), above.indices.astype(np.int32),
    )  # fmt: skip


def simplex(pattern: Callable[[Any, int], Any], *, with_pairs: bool = False) -> Chain:
    """Chain over the measures pattern @ m, m with or without pairs: see `simplex_chain`."""

    def run(
        statistics: Statistics, floor: float, rng: np.random.Generator, n_states: int = 0
    ) -> Chained:
        from choquet.learning.families._kernels_chains import simplex_chain

        n = statistics.n_sources
        every = pattern(np.arange(1 << n, dtype=np.uint64)[:, None], n)
        seen = every[statistics.positions]
        form = seen.T @ (statistics.gram @ seen)
        form = form.toarray() if sp.issparse(form) else np.asarray(form)
        form = np.ascontiguousarray(0.5 * (form + form.T))
        size = len(form)
        # Without pairs every number is positive; with them, the first n are the single sources.
        singles, pairs = (n, np.full((n, n), -1)) if with_pairs else (size, np.empty((0, 0), int))
        if with_pairs:
            for k, (i, j) in enumerate(combinations(range(n), 2)):
                pairs[i, j] = pairs[j, i] = n + k
        start = np.zeros(size)
        start[:singles] = 1.0 / singles
        steps = _directions(form)
        tilts = np.zeros_like(steps)
        n_pairs = size - singles
        if n_pairs:
            tilts[:, n:] = steps[:, n:] - steps[:, n:].mean(axis=1, keepdims=True)
        schedule = _schedule(statistics, rng, n_states)
        states = np.empty((n_states, size))
        sizes = rng.standard_gamma(1 + 0.5 * max(n_pairs - 1, 0), len(schedule[0]))
        mean, energy = simplex_chain(
            form, np.asarray(seen.T @ statistics.targets), statistics.target_square,
            statistics.weight, start, steps, steps @ form, tilts, pairs, singles,
            PAIR_SPREAD / n**2, sizes, *schedule, floor, _seed(rng), states,
        )  # fmt: skip
        return Chained(np.asarray(every @ mean), energy, np.asarray((every @ states.T).T))

    return run


def _directions(form: FloatArray) -> FloatArray:
    """Rows that sum to zero and hardly interact in the form, so that steps along them mix fast."""
    size = len(form)
    free = np.vstack([-np.ones(size - 1), np.eye(size - 1)])
    inner = free.T @ form @ free
    inner += 1e-4 * np.trace(inner) / max(size - 1, 1) * np.eye(size - 1)
    try:
        root = np.linalg.cholesky(inner)
    except np.linalg.LinAlgError:  # next to no data: any directions do
        root = np.eye(size - 1)
    return np.ascontiguousarray((free @ np.linalg.inv(root).T).T)


def _root_of_inverse(matrix: FloatArray) -> FloatArray:
    """A root of the inverse of a positive matrix, also where rounding makes it singular."""
    try:
        return np.linalg.cholesky(np.linalg.inv(matrix))
    except np.linalg.LinAlgError:
        values, vectors = np.linalg.eigh(matrix)
        return np.asarray(vectors / np.sqrt(np.maximum(values, 1e-12 * values.max())))


def curve(
    statistics: Statistics, floor: float, rng: np.random.Generator, n_states: int = 0
) -> Chained:
    """Chain over λ-measures: shares of the sources, and how they are bent."""
    from choquet.learning.families._kernels_chains import bend, curve_chain

    n = statistics.n_sources
    inside = members_of(np.arange(1 << n, dtype=np.uint64)[:, None], n)
    fit = fit_lambda(statistics)
    shares = np.maximum(fit.weights, 1e-5)
    start = np.append(np.log(shares / shares.mean()), np.clip(fit.curve, -50.0, 50.0))
    at = statistics.positions
    base = np.empty(len(inside))
    bend(inside, start, base)
    bent = np.empty((n + 1, len(inside)))
    for k, nudge in enumerate(start + 1e-4 * np.eye(n + 1)):
        bend(inside, nudge, bent[k])
    slopes = ((bent - base) / 1e-4)[:, at].T
    curvature = slopes.T @ (statistics.gram @ slopes)
    variance = (statistics.error_of(base[at]) + floor) / statistics.weight
    prior = np.diag(np.append(np.ones(n), 1 / CURVE_SCALE**2))
    shape = _root_of_inverse(curvature / variance + prior)
    upper = sp.csr_array(2 * sp.triu(statistics.gram) - sp.diags_array(statistics.information))
    # One step costs as much as the form has entries: about a second's worth in all.
    n_steps = int(np.clip(1.2e9 / max(upper.nnz + 20 * len(inside), 1), 2_500, 30_000))
    states, energy = curve_chain(
        upper.indptr.astype(np.int32), upper.indices.astype(np.int32), upper.data,
        statistics.targets, statistics.target_square, statistics.weight,
        np.ascontiguousarray(inside[at]), start, CURVE_SCALE, SHARE_SPREAD, shape,
        n_steps // 4, max(n_steps // STATES, 1),
        rng.random((n_steps, 4)), rng.standard_normal((n_steps, n + 1)), floor,
    )  # fmt: skip
    # Over all subsets, not only those of the data; a part of the states is enough for a mean.
    kept = np.linspace(0, len(states) - 1, n_states).round().astype(np.int64)
    total, found = np.zeros(len(inside)), np.empty((n_states, len(inside)))
    for number, state in enumerate(states):
        bend(inside, state, base)
        total += base
        found[kept == number] = base
    return Chained(total / len(states), energy, found)
