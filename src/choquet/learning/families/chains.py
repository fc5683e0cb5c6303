"""Markov chains over the measures of a family, each measure with its probability given the data.

A chain takes statistics, a floor of the squared error, a generator, and how many of its states to
keep. It gives the mean measure by mask, the mean energy W/2 log(squared error), W being the weight
of the data, and the measures kept, in the order in which it came by them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import combinations
from typing import Any, NamedTuple, Protocol

import numpy as np

from choquet.arrays import FloatArray, IntArray
from choquet.lattice import cover_pairs, subset_sizes
from choquet.lattice.lazy import sp
from choquet.learning.data.statistics import Statistics
from choquet.learning.families.blocks import covers_of, fit_blocks, table_of


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


BLOCK = 20
"""Sweeps that a loop makes before the squared error is computed afresh, against rounding."""
CACHED = 1 << 14
"""Numbers that are worked on at a time, so that all steps find them in the processor's cache."""
SPACING = 10
"""Sweeps from one state that is kept to the next, where sweeps are cheap."""
MEETINGS = 12_000
"""How often each weight meets another one in a chain over weights that may be zero. Six chains of
this length differ by 1 to 10 % of the error of their mean (2-additive measures, 5 to 9 sources),
and took 0.05 to 0.14 s each; with all pairs in every sweep by 1 to 7 %, and 0.09 to 0.8 s."""
PAIR_SPREAD = 1.0
"""The same of interactions of pairs about their mean, times N²: in all about half of the whole."""


def _schedule(
    statistics: Statistics, rng: np.random.Generator, n_states: int
) -> tuple[FloatArray, int]:
    """Gamma numbers for the noise of all sweeps, 0 for no data, and the first sweep kept."""
    rising, kept = (1000, 2000) if statistics.n_sources <= 8 else (400, 600)
    kept = max(kept, (SPACING if statistics.n_sources <= 8 else 1) * n_states)
    tempers = np.minimum(np.arange(rising + kept) / (0.75 * rising), 1.0) ** 5
    shapes = 0.5 * statistics.weight * tempers
    gammas = np.maximum(rng.standard_gamma(shapes), 1e-200)
    return np.where(tempers > 0.0, gammas, 0.0), rising


class _Sweeps(Protocol):
    """Sweeps of a part of the schedule; rows of `left` are what they began at, errors last."""

    def __call__(self, part: slice, left: FloatArray) -> None:
        """Go on from where the chain is."""
        ...


def _gathered(
    sweeps: _Sweeps, n_sweeps: int, first: int, size: int, weight: float, n_states: int
) -> tuple[FloatArray, float, FloatArray]:
    """Mean and mean energy of the states from the first that counts, and evenly spaced ones."""
    kept, energy = n_sweeps - first, 0.0
    total: FloatArray = np.zeros(size)
    # The last one of them is the last of all.
    wanted = first - (-(np.arange(1, n_states + 1) * kept) // max(n_states, 1)) - 1
    states, left = np.empty((n_states, size)), np.empty((BLOCK, size + 1))
    for start in range(0, n_sweeps, BLOCK):
        stop = min(start + BLOCK, n_sweeps)
        sweeps(slice(start, stop), left)
        new = slice(max(first - start, 0), stop - start)
        total += left[new, :size].sum(axis=0)
        energy += 0.5 * weight * float(np.log(left[new, size]).sum())
        here = (wanted >= start) & (wanted < stop)
        states[here] = left[wanted[here] - start, :size]
    return total / kept, energy / kept, states


def _seed(rng: np.random.Generator) -> np.uint64:
    return rng.integers(2**64, dtype=np.uint64)


def _uniforms(seed: np.uint64, first: int, shape: tuple[int, int]) -> FloatArray:
    """Splitmix64 of a counter, as floats in [0, 1): any part of a stream, whenever it is wanted."""
    drawn: FloatArray = np.empty(shape[0] * shape[1])
    for begin in range(0, len(drawn), CACHED):
        part = drawn[begin : begin + CACHED]
        start = first * shape[1] + begin
        z = np.arange(start, start + len(part), dtype=np.uint64)
        z *= np.uint64(0x9E3779B97F4A7C15)
        z += seed
        for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB), (31, 1)):
            z ^= z >> np.uint64(shift)
            z *= np.uint64(factor)
        np.multiply(z >> np.uint64(11), 2.0**-53, out=part)
    return drawn.reshape(shape)


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
    all others together.
    """
    n = statistics.n_sources
    start, pairs = subset_sizes(n) / n, cover_pairs(n)
    return _ordered(
        statistics, floor, rng, n_states, statistics.positions, start, pairs, alike=True
    )


def blocks(*, alike: bool = False) -> Chain:
    """Chain over the p-symmetric measures with the blocks of the least squares fit.

    Values may be likely to equal a neighbour, as in the chain over all measures of this name.
    """

    def run(
        statistics: Statistics, floor: float, rng: np.random.Generator, n_states: int = 0
    ) -> Chained:
        n, (labels, _, chosen) = statistics.n_sources, fit_blocks(statistics)
        place = table_of(labels, np.arange(1 << n))
        start = np.zeros(int(place.max()) + 1)
        start[place] = subset_sizes(n) / n
        at, pairs = place[statistics.positions], covers_of(labels)
        found = _ordered(statistics, floor, rng, n_states, at, start, pairs, alike=alike)
        return Chained(found.mean[place], found.energy, found.states[:, place], chosen)

    return run


def _ordered(
    statistics: Statistics,
    floor: float,
    rng: np.random.Generator,
    n_states: int,
    at: IntArray,
    start: FloatArray,
    pairs: IntArray,
    *,
    alike: bool = False,
) -> Chained:
    """Chain over values in an order; `at` has the place of the value of each seen subset."""
    from choquet.learning.families._kernels_order import order_sweeps

    size, (low, high) = len(start), pairs.T
    # In units of the targets, whose products fit; a power of two changes no digit.
    unit = 2.0 ** round(math.log2(max(statistics.target_square, 1e-300)))
    gram = sp.coo_array(statistics.gram)
    form = sp.csr_array((gram.data, (at[gram.row], at[gram.col])), shape=(size, size))
    form.sum_duplicates()
    form.sort_indices()
    targets: FloatArray = np.bincount(at, statistics.targets, minlength=size) / unit
    ones = np.ones(2 * len(pairs))
    # What lies below each value, in one row, and what lies above it, in the next.
    places = (np.concatenate([2 * high, 2 * low + 1]), np.concatenate([low, high]))
    near = sp.csr_array((ones, places), shape=(2 * size, size))
    gammas, first = _schedule(statistics, rng, n_states)
    square, floor, seed, g = statistics.target_square / unit, floor / unit, _seed(rng), start.copy()
    form.data /= unit
    # Without a sign: a compiled loop would ask of every place whether it counts from the end.
    entries = (form.indptr.astype(np.uint32), form.indices.astype(np.uint32), form.data)
    order = (near.indptr.astype(np.uint32), near.indices.astype(np.uint32))
    # Values that are alike move twice in a sweep, by two numbers each time; room to work in.
    n_drawn = (4 if alike else 1) * (size - 2)
    room = (np.empty(size, dtype=np.int64), np.empty(size, dtype=np.int64))

    def sweeps(part: slice, left: FloatArray) -> None:
        error = max(float(square + g @ (form @ g - 2.0 * targets)), 0.0) + floor
        order_sweeps(
            *entries, targets, g, *order, error, floor, gammas[part],
            _uniforms(seed, part.start, (part.stop - part.start, n_drawn)), left, *room, int(alike),
        )  # fmt: skip

    mean, energy, states = _gathered(sweeps, len(gammas), first, size, statistics.weight, n_states)
    return Chained(mean, energy + 0.5 * statistics.weight * float(np.log(unit)), states)


def _by_weights(
    statistics: Statistics, pattern: Callable[[Any, int], Any]
) -> tuple[Any, FloatArray, FloatArray]:
    """The pattern of all subsets, and the squared error of pattern @ w: w'Fw - 2 l'w, F and l."""
    n = statistics.n_sources
    every = pattern(np.arange(1 << n, dtype=np.uint64)[:, None], n)
    seen = every[statistics.positions]
    form = seen.T @ (statistics.gram @ seen)
    form = form.toarray() if sp.issparse(form) else np.asarray(form)
    form = np.ascontiguousarray(0.5 * (form + form.T))
    return every, form, np.asarray(seen.T @ statistics.targets)


def simplex(pattern: Callable[[Any, int], Any], *, with_pairs: bool = False) -> Chain:
    """Chain over the measures pattern @ m, m with or without pairs: see `simplex_sweeps`."""

    def run(
        statistics: Statistics, floor: float, rng: np.random.Generator, n_states: int = 0
    ) -> Chained:
        from choquet.learning.families._kernels_chains import simplex_sweeps

        n = statistics.n_sources
        every, form, linear = _by_weights(statistics, pattern)
        size = len(form)
        # Without pairs every number is positive; with them, the first n are the single sources.
        singles = n if with_pairs else size
        of_pair = [
            [n + k for k, pair in enumerate(combinations(range(n), 2)) if with_pairs and i in pair]
            for i in range(singles)
        ]
        pairs = np.array(of_pair, dtype=np.int64).reshape(singles, -1)
        start = np.zeros(size)
        start[:singles] = 1.0 / singles
        steps = _directions(form)
        tilts = np.zeros_like(steps)
        n_pairs = size - singles
        if n_pairs:
            tilts[:, n:] = steps[:, n:] - steps[:, n:].mean(axis=1, keepdims=True)
        gammas, first = _schedule(statistics, rng, n_states)
        images = steps @ form
        # No number changes by more than 2; without pairs the first that becomes zero ends a step.
        most = 2.0 / np.abs(steps).max(axis=1) if with_pairs else np.full(len(steps), 1e300)
        traits = np.column_stack([(steps * images).sum(axis=1), (tilts * tilts).sum(axis=1), most])
        sizes = rng.standard_gamma(1 + 0.5 * max(n_pairs - 1, 0), len(gammas))
        seed, slope = _seed(rng), np.empty(size)

        def sweeps(part: slice, left: FloatArray) -> None:
            simplex_sweeps(
                form, linear, statistics.target_square, start, steps, images, tilts, traits,
                pairs, PAIR_SPREAD / n**2, floor, sizes[part], gammas[part],
                _uniforms(seed, part.start, (part.stop - part.start, len(steps))), left, slope,
            )  # fmt: skip

        mean, energy, states = _gathered(
            sweeps, len(gammas), first, size, statistics.weight, n_states
        )
        return Chained(np.asarray(every @ mean), energy, np.asarray((every @ states.T).T))

    return run


def faces(pattern: Callable[[Any, int], Any]) -> Chain:
    """Chain over the measures pattern @ w, where some of the weights w are likely to be zero.

    Beforehand every number of weights that are not zero is equally likely, and so are all weights
    of that number: a single column is as likely as all of them together.
    """

    def run(
        statistics: Statistics, floor: float, rng: np.random.Generator, n_states: int = 0
    ) -> Chained:
        from choquet.learning.families._kernels_chains import face_sweeps

        every, form, linear = _by_weights(statistics, pattern)
        size = len(form)
        w, slope, seed = np.full(size, 1.0 / size), np.empty(size), _seed(rng)
        # Of k weights there are `size` over k choices, and their simplex has a volume of one over
        # the factorial of k - 1; this is how much denser k weights are than k - 1.
        k = np.arange(2, size + 1)
        rates = np.append([0.0, 0.0], np.log(k * (k - 1) / (size - k + 1)))
        gammas, first = _schedule(statistics, rng, n_states)
        turns = 0 if size == 1 else max(MEETINGS // len(gammas), 1)

        def sweeps(part: slice, left: FloatArray) -> None:
            face_sweeps(
                form, linear, statistics.target_square, w, rates, floor, gammas[part], seed,
                part.start, turns, left, slope,
            )  # fmt: skip

        mean, energy, states = _gathered(
            sweeps, len(gammas), first, size, statistics.weight, n_states
        )
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
