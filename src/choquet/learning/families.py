"""Fits of a Sugeno λ-measure, and gradient descent on a monotone parametrisation, from statistics.

Both are baselines: the first has N densities in place of 2**N values, the second is what network
papers do. Neither problem is convex; both need nothing but the statistics of least squares.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.optimize as so
import scipy.sparse as sp

from choquet.arrays import FloatArray
from choquet.lattice import check_dense, subset_sizes, upward_maximum
from choquet.learning.statistics import Statistics
from choquet.measures.families import sugeno_lambda

__all__ = ["Descent", "descend", "fit_lambda", "quadratic_form"]


def quadratic_form(statistics: Statistics) -> tuple[sp.csr_array, FloatArray]:
    """Gram matrix and target products over all 2**N subsets."""
    check_dense(statistics.n_sources)
    size = 1 << statistics.n_sources
    gram = sp.coo_array(statistics.gram)
    place = statistics.positions
    full = sp.csr_array((gram.data, (place[gram.row], place[gram.col])), shape=(size, size))
    targets = np.zeros(size)
    targets[place] = statistics.targets
    return full, targets


def fit_lambda(statistics: Statistics, *, starts: int = 3) -> FloatArray:
    """Densities of the Sugeno λ-measure of least squared error.

    Quasi-Newton from symmetric densities below, at and above additivity, each in (0, 1).

    References
    ----------
    Sugeno (1974), "Theory of fuzzy integrals and its applications"; Keller & Osborn (1996),
    "Training the fuzzy integral".

    Examples
    --------
    >>> from choquet import Measure, choquet_integral
    >>> X = np.random.default_rng(0).random((100, 3))
    >>> y = choquet_integral(Measure.sugeno_lambda([0.1, 0.3, 0.2]), X)
    >>> fit_lambda(Statistics.from_data(X, y)).round(3)
    array([0.1, 0.3, 0.2])
    """
    n = statistics.n_sources
    if n == 1:
        return np.ones(1)
    gram, targets = quadratic_form(statistics)
    # Only the touched rows matter; on large lattices that is most of the time.
    scale = max(statistics.target_square, 1e-300)

    def loss(logits: FloatArray) -> float:
        g = sugeno_lambda(_unit(logits))
        return float(g @ (gram @ g) - 2 * targets @ g) / scale

    best = None
    for density in np.geomspace(0.3 / n, min(2.5 / n, 0.9), starts):
        start = np.full(n, np.log(density / (1 - density)))
        found = so.minimize(loss, start, method="L-BFGS-B", bounds=[(-12.0, 8.0)] * n,
                            options={"ftol": 1e-15, "gtol": 1e-10, "maxiter": 500})  # fmt: skip
        if best is None or found.fun < best.fun:
            best = found
    assert best is not None
    return np.asarray(_unit(best.x))


def _unit(logits: FloatArray) -> FloatArray:
    return np.asarray(1 / (1 + np.exp(-logits)))


@dataclass(frozen=True, eq=False)
class Descent:
    """Values found by gradient descent, the error after each step, and the number of steps."""

    values: FloatArray
    errors: FloatArray
    n_steps: int


def descend(
    statistics: Statistics, *, rate: float = 0.02, n_steps: int = 1000, tolerance: float = 1e-9
) -> Descent:
    """Gradient descent on increments: g(A) = max over A∖i of g + max(0, θ(A)), cut at 1.

    References
    ----------
    Islam, Anderson, Pinar, Havens, Scott & Keller (2020), "Enabling explainable fusion in deep
    learning with fuzzy integral neural networks", for the parametrisation; Kingma & Ba (2015),
    "Adam", for the steps.

    Examples
    --------
    >>> X = np.random.default_rng(0).random((100, 3))
    >>> descend(Statistics.from_data(X, X.max(axis=1))).values.round(1)
    array([0., 1., 1., 1., 1., 1., 1., 1.])
    """
    gram, targets = quadratic_form(statistics)
    n, size = statistics.n_sources, len(targets)
    sizes = subset_sizes(n)
    theta = np.where(sizes > 0, 1.0 / n, 0.0)
    first, second = np.zeros(size), np.zeros(size)
    levels = [np.flatnonzero(sizes == k) for k in range(1, n)]
    parents = [_parents(level, n) for level in levels]
    weight = max(statistics.weight, 1e-300)
    errors: list[float] = []
    best, values = np.inf, sizes / n
    for step in range(1, n_steps + 1):
        g, chosen = _forward(theta, levels, parents)
        gradient = 2 * (gram @ g - targets) / weight
        error = (float(g @ (gram @ g) - 2 * targets @ g) + statistics.target_square) / weight
        errors.append(error)
        if error < best:
            best, values = error, g
        slope = _backward(theta, g, gradient, levels, chosen)
        first = 0.9 * first + 0.1 * slope
        second = 0.999 * second + 0.001 * slope**2
        move = (first / (1 - 0.9**step)) / (np.sqrt(second / (1 - 0.999**step)) + 1e-12)
        theta = theta - rate * move / np.sqrt(1 + step / 100)
        recent = errors[-101:-1]
        if step > 100 and min(recent[:50]) - min(recent[50:]) < tolerance * best:
            break
    return Descent(np.minimum(upward_maximum(values), 1.0), np.array(errors), len(errors))


def _parents(level: FloatArray, n_sources: int) -> FloatArray:
    bits = 1 << np.arange(n_sources)
    inside = (level[:, None] & bits) > 0
    return np.where(inside, level[:, None] ^ bits, level[:, None] * 0)


def _forward(theta, levels, parents):  # type: ignore[no-untyped-def]
    g = np.zeros(len(theta))
    chosen = []
    for level, below in zip(levels, parents, strict=True):
        values = g[below]
        at = values.argmax(axis=1)
        chosen.append(below[np.arange(len(level)), at])
        g[level] = np.minimum(values.max(axis=1) + np.maximum(theta[level], 0.0), 1.0)
    g[-1] = 1.0
    return g, chosen


def _backward(theta, g, gradient, levels, chosen):  # type: ignore[no-untyped-def]
    flow = gradient.copy()
    slope = np.zeros(len(theta))
    for level, source in zip(reversed(levels), reversed(chosen), strict=True):
        # A value cut at 1 still feels a push downwards, and a closed increment one upwards:
        # otherwise either would be stuck for good.
        alive = (g[level] < 1.0) | (flow[level] > 0)
        passed = np.where(alive, flow[level], 0.0)
        slope[level] = np.where((theta[level] > 0) | (passed < 0), passed, 0.0)
        np.add.at(flow, source, passed)
    return slope
