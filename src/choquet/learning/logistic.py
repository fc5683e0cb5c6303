"""Choquistic regression: a logistic link on the integral, by Newton steps that are least squares.

With u = γ g the scale γ is the value u(X), and the log-odds are linear in u and the intercept: the
problem is convex, and each Newton step is a monotone weighted least-squares problem.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace

import numpy as np

from choquet.arrays import FloatArray
from choquet.errors import SolverWarning
from choquet.lattice.lazy import sp
from choquet.lattice.ties import settled
from choquet.lattice.vectors import dot
from choquet.lattice.wide import WordArray, chains, find_rows
from choquet.learning.data.scale import check_scale
from choquet.learning.data.statistics import Statistics
from choquet.learning.problem import Problem, check_weight, least_squares, with_diagonal
from choquet.learning.solvers import solve
from choquet.learning.solvers.solution import close


@dataclass(frozen=True, eq=False)
class Logistic:
    """Values of u on `masks`, intercept (or thresholds), and the penalised negative log-likelihood.

    Attributes
    ----------
    masks : array of shape (K, W)
    values : array of shape (K,)
        u = γ g; the last one is γ.
    intercepts : array of shape (T,)
        One, or one for each threshold between ordered classes.
    loss : float
    iterations : int
    """

    masks: WordArray
    values: FloatArray
    intercepts: FloatArray
    loss: float
    iterations: int


def sigmoid(x: FloatArray) -> FloatArray:
    """Logistic function without overflow.

    Examples
    --------
    >>> sigmoid(np.array([-1000.0, 0.0]))
    array([0. , 0.5])
    """
    small = np.exp(-np.abs(x))
    return np.where(x >= 0, 1 / (1 + small), small / (1 + small))


def fit_logistic(
    X: FloatArray,
    above: FloatArray,
    sample_weight: FloatArray | None = None,
    *,
    alpha: float = 0.01,
    monotone: bool = True,
    dense: bool = True,
    max_iterations: int = 50,
) -> Logistic:
    """Log-odds of being above each threshold between classes as an integral plus an intercept.

    Thresholds share one measure. The loss sums a logistic loss over all of them, so that far misses
    cost more.

    Parameters
    ----------
    X : array of shape (n_samples, n_sources)
    above : array of shape (n_samples, n_thresholds)
        1 where the class is above the threshold, 0 where it is not; two classes have one.
    sample_weight : array of shape (n_samples,), optional
    alpha : float, default 0.01
        Weight of γ² / 2, which keeps the scale finite where the classes can be separated.
    monotone : bool, default True
    dense : bool, default True
        All subsets as unknowns, or only those that data support.
    max_iterations : int, default 50

    References
    ----------
    Tehrani, Cheng, Dembczyński & Hüllermeier (2012), "Learning monotone nonlinear models using the
    Choquet integral"; Rennie & Srebro (2005), "Loss functions for preference levels: regression
    with discrete ordered labels".

    Examples
    --------
    >>> X = np.random.default_rng(0).random((200, 2))
    >>> found = fit_logistic(X, (X.min(axis=1) > 0.3).astype(float)[:, None])
    >>> (found.values / found.values[-1]).round(1)
    array([0., 0., 0., 1.])
    >>> found = fit_logistic(X, (X.max(axis=1)[:, None] > [0.4, 0.8]).astype(float))
    >>> bool(found.intercepts[0] > found.intercepts[1])
    True
    """
    check_weight("alpha", alpha)
    weight = np.ones(len(X)) if sample_weight is None else np.asarray(sample_weight, float)
    X, t, weight = settled(X[weight > 0]), above[weight > 0], weight[weight > 0]
    statistics = Statistics.from_data(X, t[:, 0], weight)
    check_scale(statistics)
    shape = {"monotone": monotone, "normal": False, "dense": dense}
    first = least_squares(statistics, **shape)
    loss = _Loss(X, t, weight, first, alpha)
    u = np.zeros(first.n_values)
    share = np.clip((weight @ t) / weight.sum(), 1e-3, 1 - 1e-3)
    intercepts = np.log(share / (1 - share))
    current = loss.value(u, intercepts)
    iterations, solution = 0, None
    while iterations < max_iterations:
        iterations += 1
        # The containments that one step needed, the next will need again.
        solution = solve(loss.model(u, intercepts, shape), start=solution)
        new_u, new_intercepts = solution.values, solution.intercepts
        length, found = 1.0, np.inf
        while length > 1e-6:
            trial_u = u + length * (new_u - u)
            trial = intercepts + length * (new_intercepts - intercepts)
            found = loss.value(trial_u, trial)
            if found <= current * (1 + 1e-13):
                break
            length /= 2
        gained = current - found
        if length > 1e-6:  # a last step that gains nothing any more still gains digits of u
            u, intercepts, current = trial_u, trial, found
        if gained <= 1e-13 * current:
            break
    else:
        warnings.warn(
            f"choquistic regression stopped after {max_iterations} Newton steps; "
            "raise max_iter, or the weight alpha of the penalty",
            SolverWarning,
            stacklevel=3,
        )
    # Steps of part length are monotone but for rounding.
    u, _ = close(first, u)
    return Logistic(first.masks, u, intercepts, current, iterations)


class _Loss:
    """Penalised negative log-likelihood of u and the intercepts."""

    def __init__(
        self, X: FloatArray, t: FloatArray, weight: FloatArray, problem: Problem, alpha: float
    ) -> None:
        words, gaps = chains(X)
        at = find_rows(problem.masks, words.reshape(-1, words.shape[2]))
        kept = at >= 0
        rows = np.repeat(np.arange(len(X)), X.shape[1])
        shape = (len(X), problem.n_values)
        self.design = sp.csr_array((gaps.ravel()[kept], (rows[kept], at[kept])), shape=shape)
        self.X, self.t, self.weight = X, t, weight
        # The scale u(X) bounds every monotone value, so the rest needs only enough to make the
        # answer unique; without monotonicity nothing else holds them.
        self.ridge = np.full(problem.n_values, 1e-3 if problem.monotone else 1.0)
        self.ridge[-1] = 1.0
        self.alpha = alpha

    def margins(self, u: FloatArray, intercepts: FloatArray) -> FloatArray:
        return np.asarray((self.design @ u)[:, None] + intercepts)

    def value(self, u: FloatArray, intercepts: FloatArray) -> float:
        eta = self.margins(u, intercepts)
        loss = np.logaddexp(0.0, eta) - self.t * eta
        penalty = 0.5 * self.alpha * dot(self.ridge, u**2)
        return dot(self.weight, loss.sum(axis=1)) + penalty

    def model(self, u: FloatArray, intercepts: FloatArray, shape: dict[str, bool]) -> Problem:
        """Newton's quadratic model of the loss, as weighted least squares on working targets."""
        eta = self.margins(u, intercepts)
        p = sigmoid(eta)
        curvature = np.maximum(p * (1 - p), 1e-7)
        working = eta + (self.t - p) / curvature
        heavy = self.weight[:, None] * curvature
        # Thresholds share u: for u their rows merge into one of summed weight and mean target.
        total = heavy.sum(axis=1)
        merged = (heavy * working).sum(axis=1) / total
        problem = least_squares(Statistics.from_data(self.X, merged, total), **shape)
        cross = sp.csc_array(2 * (self.design.T @ heavy))
        corner = sp.diags_array(2 * heavy.sum(axis=0))
        problem = replace(
            problem,
            quadratic=sp.csc_array(sp.block_array([[problem.quadratic, cross], [cross.T, corner]])),
            linear=np.append(problem.linear, -2 * (heavy * working).sum(axis=0)),
            n_intercepts=heavy.shape[1],
            samples=None,
        )
        # The model is half the weighted squares, which the problem counts whole.
        return with_diagonal(problem, 2 * (self.alpha * self.ridge))
