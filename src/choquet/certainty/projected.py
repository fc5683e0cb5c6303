"""Independent draws of monotone measures: draws without an order, then the nearest monotone one.

Least squares without constraints has a normal posterior under a flat prior, with a variance that is
drawn as well. Each draw of it is taken to the monotone normal measure of least squared error. Draws
reach values of 0 and 1 and values that are alike, as truths do; draws under a prior that is spread
evenly over all monotone measures never do, and cover such truths badly.

What the data leave open follows a measure drawn evenly over all monotone ones.
"""

from __future__ import annotations

import numpy as np

from choquet.arrays import FloatArray
from choquet.certainty.noise import Noise
from choquet.certainty.region import noise_variance, numbers_used
from choquet.lattice import cover_pairs, subset_sizes
from choquet.lattice.lazy import sp
from choquet.learning import solvers
from choquet.learning.data.statistics import Statistics
from choquet.learning.problem import least_squares
from choquet.measures.random import uniform_measure
from choquet.watching import each

REACHED = 1e-5
"""Distance from 0 or 1 that the search does not tell from none."""
MAX_PROJECTED = 8
"""Sources up to which draws are projected: at 8 a draw takes about 50 ms."""


def rows_that_speak(statistics: Statistics) -> float:
    """Weight of the rows that say something of the measure: those whose inputs are not all alike.

    A row of equal inputs has the same output by every measure. Where most rows are such, as scores
    of zero by all classifiers are, their small errors say nothing of the noise of the others. They
    are counted by the rank between whose inputs gaps are most frequent. Of a single source every
    row speaks.

    Examples
    --------
    >>> rows_that_speak(Statistics.from_data([[0.9, 0.4], [0.2, 0.3], [0.0, 0.0]], [0.5, 0.2, 0.0]))
    2.0
    """
    if statistics.n_sources == 1:
        return float(statistics.weight)
    sizes = np.bitwise_count(statistics.masks).sum(axis=1, dtype=np.int64)
    inner = sizes < statistics.n_sources
    by_rank = np.bincount(sizes[inner], statistics.counts[inner], minlength=1)
    share = min(float(by_rank.max()) / max(statistics.n_samples, 1), 1.0)
    return statistics.weight * share


def projected_draws(
    statistics: Statistics, n: int, rng: np.random.Generator, noise: Noise | None = None
) -> FloatArray:
    """Draws of monotone normal measures, one in a row by mask, from rows that tell of the noise.

    Where the noise differs between rows, so does how much the values vary that rows tell of.

    References
    ----------
    Lin & Dunson (2014), "Bayesian monotone regression using Gaussian process projection".

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.random((50, 2))
    >>> statistics = Statistics.from_data(X, X.max(axis=1) + 0.1 * rng.standard_normal(50))
    >>> draws = projected_draws(statistics, 100, rng)
    >>> draws.shape, bool((draws[:, 1] > 0.999).any())
    ((100, 4), True)
    """
    from choquet.certainty._kernels import nearest_of

    problem = least_squares(statistics)
    solution = solvers.solve(problem)
    free, used = numbers_used(problem, solution)
    variance, spare = noise_variance(solution.objective, free, used, rows_that_speak(statistics))
    size, n_sources = problem.n_values, problem.n_sources
    form = problem.quadratic.toarray() / 2
    noisy = form if noise is None else least_squares(noise.rows).quadratic.toarray() / 2
    values, vectors = np.linalg.eigh(noisy)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    # Noise at least as large as rounding, so that what the data leave open follows the prior.
    floor = 1e-12 * max(float(np.trace(form)) / size, 1e-300)
    sizes = np.maximum(spare * variance / rng.chisquare(spare, n), floor)
    pulls = root @ rng.standard_normal((size, n)) * np.sqrt(sizes)
    centre = subset_sizes(n_sources) / n_sources
    inner = slice(1, size - 1)
    edges = cover_pairs(n_sources)
    rows, count = np.arange(len(edges)), len(edges)
    order = sp.csr_array(
        (np.repeat([-1.0, 1.0], count), (np.tile(rows, 2), edges.T.ravel())), (count, size)
    )
    room = np.asarray(order @ centre)
    order = sp.csr_array(order[:, inner])
    out = np.empty((n, size))
    out[:, 0], out[:, -1] = 0.0, 1.0
    found = np.empty((1, size - 2))
    for k in each("drawing measures", range(n)):
        own = np.ascontiguousarray((form + sizes[k] * np.eye(size))[inner, inner])
        prior = uniform_measure(n_sources, rng)
        slope = 2 * (form @ centre + sizes[k] * (centre - prior) - pulls[:, k])
        slope += problem.linear
        nearest_of(
            own, np.ascontiguousarray(slope[None, inner]), order.indptr.astype(np.int64),
            order.indices.astype(np.int64), order.data, room, found,
        )  # fmt: skip
        out[k, inner] = centre[inner] + found[0]
    # An interior point comes near the ends; what is as near as it can tell is there.
    out[out < REACHED], out[out > 1 - REACHED] = 0.0, 1.0
    return out
