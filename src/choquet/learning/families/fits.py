"""Simple fits from statistics: weighted means, OWA, Sugeno λ, and gradient descent.

Baselines: the first three have about N numbers in place of 2**N values, the last is what network
papers do. All work on the subsets that data saw, whatever the number of sources.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from choquet.arrays import BoolArray, FloatArray, IntArray
from choquet.lattice.lazy import sp, special
from choquet.lattice.vectors import dot
from choquet.lattice.wide import WordArray
from choquet.learning.data.statistics import Statistics
from choquet.learning.solvers.interior import Conic, run_clarabel
from choquet.measures.formula import FormulaMeasure, distort, members_of


def least_form(P: Any, q: FloatArray, A: Any, b: FloatArray, n_equal: int) -> FloatArray:
    """The x of least ½x'Px + q'x with A x ≤ b; the first `n_equal` rows are equations."""
    n = len(q)
    return run_clarabel(Conic(sp.csc_array(P), q, A, b, n_equal, sp.eye_array(n), np.zeros(n)))[0]


def order_of_pairs(low: IntArray, high: IntArray, size: int) -> Any:
    """Rows A with A x ≤ 0 where no x of `low` is above that of `high`."""
    rows = np.tile(np.arange(len(low)), 2)
    data = np.repeat([1.0, -1.0], len(low))
    return sp.csr_array((data, (rows, np.append(low, high))), (len(low), size))


def convex_weights(P: FloatArray, q: FloatArray) -> FloatArray:
    """The x ≥ 0 with Σ x = 1 of least ½x'Px + q'x, but for rounding of the sum."""
    n = len(q)
    A = sp.vstack([np.ones((1, n)), -sp.eye_array(n)])
    return np.maximum(least_form(P, q, A, np.append(1.0, np.zeros(n)), 1), 0.0)


def fit_weights(statistics: Statistics, pattern: FloatArray) -> FloatArray:
    """Weights w ≥ 0 with Σ w = 1 that fit best where g(A) = pattern[A] @ w on the seen subsets.

    Parameters
    ----------
    statistics : Statistics
    pattern : array of shape (K, R)
        One row for each of `Statistics.masks`.

    References
    ----------
    Lawson & Hanson (1974), "Solving least squares problems".

    Examples
    --------
    >>> X = np.random.default_rng(0).random((100, 3))
    >>> statistics = Statistics.from_data(X, X @ [0.2, 0.3, 0.5])
    >>> fit_weights(statistics, members_of(statistics.masks, 3)).round(6)
    array([0.2, 0.3, 0.5])
    """
    P = 2 * pattern.T @ (statistics.gram @ pattern)
    weights = convex_weights(P, -2 * pattern.T @ statistics.targets)
    return np.asarray(weights / weights.sum())


def different(values: FloatArray) -> int:
    """How many different numbers between 0 and 1 there are: what a monotone fit made use of.

    References
    ----------
    Meyer & Woodroofe (2000), "On the degrees of freedom in shape-restricted regression".

    Examples
    --------
    >>> different(np.array([0.0, 0.2, 0.2, 0.7, 1.0]))
    2
    """
    pools = np.unique(np.asarray(values).round(5))
    return int(np.count_nonzero((pools > 0) & (pools < 1)))


def noise_of(statistics: Statistics, values: FloatArray) -> float:
    """Variance of the noise about a dense measure; infinite if it used as many numbers as rows."""
    spare = statistics.weight - different(values[statistics.positions])
    least = 1e-12 * max(statistics.target_square / statistics.weight, 1e-300)
    return max(statistics.squared_error(values) / spare, least) if spare > 0 else float("inf")


def pairs_of(words: WordArray, n_sources: int) -> Any:
    """Which single sources, then which pairs of them, each subset holds (scipy.sparse, CSR).

    Examples
    --------
    >>> pairs_of(np.array([[0b101]], dtype=np.uint64), 3).toarray()
    array([[1., 0., 1., 0., 1., 0.]])
    """
    inside = members_of(words, n_sources)
    left, right = np.triu_indices(n_sources, 1)
    return sp.csr_array(np.hstack([inside, inside[:, left] * inside[:, right]]))


def fit_pairs(statistics: Statistics) -> FloatArray:
    """Möbius values m of the 2-additive measure of least squared error: N singles, then all pairs.

    It is monotone where m(i) + Σ_j min(0, m(ij)) ≥ 0 for every source i. With t(ij) ≥ 0 and
    t(ij) ≥ -m(ij) that is m(i) ≥ Σ_j t(ij): N + N(N-1) rows in place of the N 2**(N-1) of the
    lattice.

    References
    ----------
    Grabisch (1997), "k-order additive discrete fuzzy measures and their representation".

    Examples
    --------
    >>> X = np.random.default_rng(0).random((100, 3))
    >>> y = 0.5 * X[:, 0] + 0.5 * np.minimum(X[:, 1], X[:, 2])
    >>> fit_pairs(Statistics.from_data(X, y)).round(4) + 0.0
    array([0.5, 0. , 0. , 0. , 0. , 0.5])
    """
    n = statistics.n_sources
    left, right = np.triu_indices(n, 1)
    pattern = pairs_of(statistics.masks, n).toarray()
    size, k = pattern.shape[1], len(left)
    form = np.zeros((size + k, size + k))
    form[:size, :size] = 2 * pattern.T @ (statistics.gram @ pattern)
    q = np.append(-2 * pattern.T @ statistics.targets, np.zeros(k))
    of_pair = sp.csr_array(
        (np.ones(2 * k), (np.append(left, right), np.tile(np.arange(k), 2))), (n, k)
    )
    eye = sp.eye_array(k)
    A = sp.block_array(
        [
            [np.ones((1, n)), np.ones((1, k)), sp.csr_array((1, k))],
            [-sp.eye_array(n), sp.csr_array((n, k)), of_pair],
            [sp.csr_array((k, n)), -eye, -eye],
            [sp.csr_array((k, n)), sp.csr_array((k, k)), -eye],
        ]
    )
    b = np.append(1.0, np.zeros(n + 2 * k))
    return least_form(form, q, A, b, 1)[:size]


def fit_lambda(statistics: Statistics) -> FormulaMeasure:
    """Sugeno λ-measure of least squared error.

    With a_i = log(1 + λ g_i) / log(1 + λ) the densities become shares that sum to one, and λ one
    number that bends them: no root to find, a smooth problem, any number of sources.

    References
    ----------
    Sugeno (1974), "Theory of fuzzy integrals and its applications"; Keller & Osborn (1996),
    "Training the fuzzy integral"; Wakker (1990), for distorted probabilities.

    Examples
    --------
    >>> from choquet import Measure, choquet_integral
    >>> X = np.random.default_rng(0).random((100, 3))
    >>> y = choquet_integral(Measure.sugeno_lambda([0.1, 0.3, 0.2]), X)
    >>> fit_lambda(Statistics.from_data(X, y)).densities.round(4)
    array([0.1, 0.3, 0.2])
    """
    n = statistics.n_sources
    inside = members_of(statistics.masks, n)
    found = [_levenberg(statistics, inside, np.append(np.zeros(n), c)) for c in (-2.0, 0.1, 2.0)]
    best = min(found, key=lambda result: result[0])[1]
    return FormulaMeasure("additive", special.softmax(best[:n]), curve=float(best[n]))


def _levenberg(
    statistics: Statistics, inside: FloatArray, unknown: FloatArray
) -> tuple[float, FloatArray]:
    """Damped Gauss-Newton steps on the logits of the shares and the curve."""
    gram, targets, n = statistics.gram, statistics.targets, statistics.n_sources

    def error(at: FloatArray) -> float:
        g = distort(inside @ special.softmax(at[:n]), float(at[n]))
        return dot(g, gram @ g) - 2 * dot(targets, g) + statistics.target_square

    current, damping = error(unknown), 1e-3
    for _ in range(200):
        shares, c = special.softmax(unknown[:n]), float(unknown[n])
        t = inside @ shares
        g = distort(t, c)
        by_t, by_c = _distortion_slopes(t, g, c)
        by_logit = by_t[:, None] * (inside - t[:, None]) * shares
        jacobian = np.column_stack([by_logit, by_c])
        slope = jacobian.T @ (gram @ g - targets)
        curvature = jacobian.T @ (gram @ jacobian)
        scale = np.maximum(np.diag(curvature), 1e-12 * max(float(np.trace(curvature)), 1e-300))
        gained = 0.0
        while damping < 1e12:
            try:
                step = np.linalg.solve(curvature + damping * np.diag(scale), slope)
            except np.linalg.LinAlgError:  # no direction left in which the error changes
                return current, unknown
            trial = np.clip(unknown - step, -30.0, 30.0)
            new = error(trial)
            if new < current:
                gained, current, unknown = current - new, new, trial
                damping = max(damping / 5, 1e-12)
                break
            damping *= 4
        if gained <= 1e-13 * max(current, 1e-14 * statistics.target_square):
            break
    return current, unknown


def _distortion_slopes(t: FloatArray, g: FloatArray, c: float) -> tuple[FloatArray, FloatArray]:
    if abs(c) < 1e-6:
        return 1 + 0.5 * c * (2 * t - 1), 0.5 * t * (t - 1)
    scale = np.expm1(c)
    by_t = c * np.exp(c * t) / scale
    return by_t, t * np.exp(c * t) / scale - g * (1 + 1 / scale)


def descend(
    statistics: Statistics, *, rate: float = 0.02, n_steps: int = 1000
) -> tuple[FloatArray, FloatArray]:
    """Gradient descent on increments: g(A) = max over seen B ⊂ A of g(B) + max(0, θ(A)), cut at 1.

    Gives the values on the seen subsets, and the error after each step.

    References
    ----------
    Islam, Anderson, Pinar, Havens, Scott & Keller (2020), "Enabling explainable fusion in deep
    learning with fuzzy integral neural networks", for the parametrisation; Kingma & Ba (2015),
    "Adam", for the steps.

    Examples
    --------
    >>> X = np.random.default_rng(0).random((100, 3))
    >>> descend(Statistics.from_data(X, X.max(axis=1)))[0].round(1)
    array([1., 1., 1., 1., 1., 1., 1.])
    """
    gram, targets = statistics.gram, statistics.targets
    n, size = statistics.n_sources, len(targets)
    sizes = np.bitwise_count(statistics.masks).sum(axis=1).astype(np.int64)
    theta = np.full(size, 1.0 / n)
    first, second = np.zeros(size), np.zeros(size)
    levels = [level for k in range(1, n) if len(level := np.flatnonzero(sizes == k))]
    parents = _parents(statistics.masks, sizes, levels)
    top = sizes == n
    weight = max(statistics.weight, 1e-300)
    errors: list[float] = []
    best, values = np.inf, sizes / n
    square = statistics.target_square
    for step in range(1, n_steps + 1):
        g, chosen = _forward(theta, levels, parents)
        g[top] = 1.0
        image = gram @ g
        gradient = np.where(top, 0.0, 2 * (image - targets) / weight)
        error = (dot(g, image) - 2 * dot(targets, g) + square) / weight
        errors.append(error)
        if error < best:
            best, values = error, g
        slope = _backward(theta, g, gradient, levels, chosen)
        first = 0.9 * first + 0.1 * slope
        second = 0.999 * second + 0.001 * slope**2
        move = (first / (1 - 0.9**step)) / (np.sqrt(second / (1 - 0.999**step)) + 1e-12)
        theta = theta - rate * move / np.sqrt(1 + step / 100)
        recent = errors[-101:-1]
        if step > 100 and min(recent[:50]) - min(recent[50:]) < 1e-9 * best:
            break
    return values, np.array(errors)


def _parents(words: WordArray, sizes: IntArray, levels: list[IntArray]) -> list[BoolArray]:
    """For each level, which smaller subsets each of its subsets contains."""
    inside = []
    for level in levels:
        below = np.flatnonzero(sizes < sizes[level[0]])
        part = np.zeros((len(level), len(sizes)), dtype=bool)
        outside = (words[below][None, :, :] & ~words[level][:, None, :]).any(axis=2)
        part[:, below] = ~outside
        inside.append(part)
    return inside


def _forward(
    theta: FloatArray, levels: list[IntArray], parents: list[BoolArray]
) -> tuple[FloatArray, list[IntArray]]:
    g = np.zeros(len(theta))
    chosen = []
    for level, inside in zip(levels, parents, strict=True):
        values = np.where(inside, g[None, :], -1.0)
        at = values.argmax(axis=1)
        best = values[np.arange(len(level)), at]
        chosen.append(np.where(best >= 0, at, -1))
        g[level] = np.minimum(np.maximum(best, 0.0) + np.maximum(theta[level], 0.0), 1.0)
    return g, chosen


def _backward(
    theta: FloatArray,
    g: FloatArray,
    gradient: FloatArray,
    levels: list[IntArray],
    chosen: list[IntArray],
) -> FloatArray:
    flow = gradient.copy()
    slope = np.zeros(len(theta))
    for level, source in zip(reversed(levels), reversed(chosen), strict=True):
        # A value cut at 1 still feels a push downwards, and a closed increment one upwards:
        # otherwise either would be stuck for good.
        alive = (g[level] < 1.0) | (flow[level] > 0)
        passed = np.where(alive, flow[level], 0.0)
        slope[level] = np.where((theta[level] > 0) | (passed < 0), passed, 0.0)
        np.add.at(flow, source[source >= 0], passed[source >= 0])
    return slope
