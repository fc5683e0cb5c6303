"""Random measures.

"Uniform" means uniform over all normal monotone measures: over the volume of the order polytope of
the lattice, or equivalently a uniform linear extension with sorted uniform values along it. It is
drawn by Gibbs sampling: each value in turn uniform between the largest value below and the smallest
above. Two copies of that chain, started at the smallest and the largest measure and driven by the
same random numbers, stay ordered and close in geometrically, by a factor of ten in every 3N sweeps
(measured for N = 3 to 10). After 10N sweeps no value depends on the start by more than about 1e-3,
which bounds the distance to uniform; `uniform_measure` takes more sweeps if asked.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple

import numpy as np

from choquet.arrays import FloatArray
from choquet.errors import OptionError
from choquet.lattice import subset_sizes, zeta
from choquet.measures import families

RandomName = Literal["uniform", "node", "increments", "k_additive", "convex", "belief"]

SWEEPS_PER_SOURCE = 10
"""Gibbs sweeps for each source; see the module's docstring for what that achieves."""


class RandomMeasure(NamedTuple):
    """One row of the table of random measures."""

    draw: Callable[[int, np.random.Generator, int], FloatArray]
    """From the number of sources, a generator, and the order k, to 2**N values."""
    meaning: str
    """What the measure is random over."""


def uniform_measure(
    n_sources: int, rng: np.random.Generator, sweeps: int | None = None
) -> FloatArray:
    """Draw from the uniform distribution over all normal monotone measures.

    Examples
    --------
    >>> import numpy as np
    >>> uniform_measure(3, np.random.default_rng(0)).shape
    (8,)
    """
    from choquet.measures import _kernels

    if n_sources == 1:
        return np.array([0.0, 1.0])
    if sweeps is None:
        sweeps = SWEEPS_PER_SOURCE * n_sources
    # Any start will do; one near the middle is met sooner by both extremes.
    start = subset_sizes(n_sources) / n_sources
    values: FloatArray = _kernels.gibbs_sweeps(
        start, n_sources, sweeps, rng.integers(2**64, dtype=np.uint64)
    )
    return values


def _random_node(n_sources: int, rng: np.random.Generator, _: int) -> FloatArray:
    from choquet.measures import _kernels

    order = rng.permutation(np.arange(1, (1 << n_sources) - 1))
    values: FloatArray = _kernels.fill_in_order(order, rng.random(len(order)), n_sources)
    return values


def _increments(n_sources: int, rng: np.random.Generator, _: int) -> FloatArray:
    sizes = subset_sizes(n_sources)
    values = np.zeros(1 << n_sources)
    for size in range(1, n_sources + 1):
        level = np.flatnonzero(sizes == size)
        below = np.zeros(len(level))
        for i in range(n_sources):
            inside = (level >> i) & 1 == 1
            below[inside] = np.maximum(below[inside], values[level[inside] ^ (1 << i)])
        values[level] = below + rng.random(len(level))
    return np.asarray(values / values[-1])


def _k_additive(n_sources: int, rng: np.random.Generator, k: int) -> FloatArray:
    if not 1 <= k <= n_sources:
        raise OptionError(f"k={k} must lie in 1..{n_sources} (the number of sources)")
    sizes = subset_sizes(n_sources)
    small = np.flatnonzero((sizes >= 1) & (sizes <= k))
    shares = rng.dirichlet(np.ones(2 * len(small)))
    minima, maxima = np.zeros(1 << n_sources), np.zeros(1 << n_sources)
    minima[small], maxima[small] = shares[: len(small)], shares[len(small) :]
    values = zeta(minima)
    # The dual of the minimum over a set is the maximum over it: k-additive as well.
    raised = zeta(maxima)
    return _closed(values + raised[-1] - raised[::-1])


def _convex(n_sources: int, rng: np.random.Generator, _: int) -> FloatArray:
    parts = 4
    shares = rng.dirichlet(np.ones(parts))
    values = np.zeros(1 << n_sources)
    for share in shares:
        probability = families.additive(rng.dirichlet(np.ones(n_sources)))
        values += share * probability ** (1 + rng.exponential(2.0))
    return _closed(values)


def _belief(n_sources: int, rng: np.random.Generator, _: int) -> FloatArray:
    masses = np.concatenate([[0.0], rng.dirichlet(np.ones((1 << n_sources) - 1))])
    return families.belief(masses)


def _closed(values: FloatArray) -> FloatArray:
    """Clear rounding errors out of values that are monotone and normal in exact arithmetic."""
    from choquet.lattice import upward_maximum

    values[0] = 0.0
    closed = upward_maximum(values / values[-1])
    return np.minimum(closed, 1.0)


RANDOM_MEASURES: dict[str, RandomMeasure] = {
    "uniform": RandomMeasure(
        lambda n, rng, _: uniform_measure(n, rng), "all normal monotone measures, uniformly"
    ),
    "node": RandomMeasure(
        _random_node, "subsets in random order, each uniform between its current bounds"
    ),
    "increments": RandomMeasure(
        _increments, "a uniform increment on the largest value below, by size; scaled to 1"
    ),
    "k_additive": RandomMeasure(
        _k_additive,
        "mixtures of minima and maxima over at most k sources (k = 2: every 2-additive one)",
    ),
    "convex": RandomMeasure(_convex, "supermodular: mixtures of powers of random probabilities"),
    "belief": RandomMeasure(_belief, "belief functions with uniform masses on all subsets"),
}
"""Kinds of random measures by name, for `Measure.random`."""
