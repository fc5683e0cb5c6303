"""How the noise differs between rows, and what that means for a number that rows tell of.

Scores between 0 and 1 are noisier in the middle than at the ends, and sensors where they see much.
An interval that takes one size for all rows is too short where the noise is large, and too long
where it is small. So the size of the errors is learned from the inputs and from the output, and
each number has the noise of the rows that it comes from.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from choquet.arrays import FloatArray
from choquet.errors import DataError
from choquet.lattice.lazy import linalg, sp
from choquet.learning.data.statistics import Statistics, sample_weights
from choquet.learning.problem import Problem, least_squares
from choquet.learning.solvers.interior import conic_form
from choquet.learning.solvers.solution import Solution

MOST_SOURCES = 9
"""Sources up to which it is learned: as many as intervals of outputs have."""
MOST_ROWS = 20_000
"""Rows that it is learned from, drawn evenly: a hundredth of the size is chance then."""
TOLD = 1.5
"""Times by which errors differ at least where words tell of it: half as much again."""
NOISY = 1e-10
"""Least error that counts as noise, as a share of the squared targets."""
KNOWN = 1e-12
"""Share of the largest curvature below which rows say nothing of a number."""


@dataclass(frozen=True, eq=False)
class Noise:
    """The size of the noise by inputs and output, beside the root mean square over all rows.

    Attributes
    ----------
    spans : array of shape (N + 1, 2)
        Least and largest of each input, and of the targets; of these a little more than they are.
    sizes : array of shape (2 N + 2,)
        What adds to the size, none below zero: how far each input is above its least, and below its
        largest; nearness of the output to the middle of its range; and the same for all rows.
    rows : Statistics
        Of the rows that it was learned from, each weighted by the square of its size.
    usual : Statistics or None
        Of the same rows as they are, where they are only a part of the data; then their numbers
        stand for those of all.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.random((500, 2))
    >>> errors = X[:, 0] * rng.standard_normal(500)
    >>> noise = learned_noise(X, X.mean(axis=1) + errors, X.mean(axis=1))
    >>> noise.relative(np.array([[0.1, 0.5], [0.9, 0.5]]), np.array([0.3, 0.7])).round(1)
    array([0.2, 1.5])
    """

    spans: FloatArray
    sizes: FloatArray
    rows: Statistics
    usual: Statistics | None = None

    def __post_init__(self) -> None:
        n = self.rows.n_sources
        if self.usual is not None and self.usual.n_sources != n:
            raise DataError(f"rows of {n} and of {self.usual.n_sources} sources are not the same")
        if self.spans.shape != (n + 1, 2) or self.sizes.shape != (2 * n + 2,):
            raise DataError(f"the noise of {n} sources has {n + 1} spans and {2 * n + 2} sizes")
        finite = np.isfinite(self.spans).all() and np.isfinite(self.sizes).all()
        if not finite or (self.spans[:, 0] > self.spans[:, 1]).any() or (self.sizes < 0).any():
            raise DataError("spans must go from the least to the largest, sizes not be negative")

    @property
    def n_sources(self) -> int:
        """Number of sources."""
        return self.rows.n_sources

    def relative(self, X: FloatArray, outputs: FloatArray) -> FloatArray:
        """Size of the noise of rows, beside the root mean square of those learned from."""
        return np.asarray(_traits(X, outputs, self.spans) @ self.sizes)

    def text(self, sources: Sequence[str]) -> str:
        """Where errors are largest, in a sentence; empty where the difference is small.

        One input after the other goes from a quarter of its range to three quarters, all else
        staying in the middle; the output goes from near its ends to the middle.

        Examples
        --------
        >>> rng = np.random.default_rng(0)
        >>> X = rng.random((500, 2))
        >>> errors = X[:, 0] * rng.standard_normal(500)
        >>> noise = learned_noise(X, X.mean(axis=1) + errors, X.mean(axis=1))
        >>> noise.text(["radar", "lidar"])
        'Errors are about 3 times as large where radar is large as where it is small.'
        """
        n, (low, high) = self.n_sources, self.spans.T
        at = np.full((n + 1, 2, n + 1), 0.5)
        at[range(n), :, range(n)] = 0.25, 0.75
        at[n, 0, n] = 0.05
        rows = (low + at * (high - low)).reshape(-1, n + 1)
        sizes = self.relative(rows[:, :-1], rows[:, -1]).reshape(-1, 2)
        less, more = np.sort(sizes, axis=1).T
        times = more / np.maximum(less, 1e-3 * more.max())
        most = int(np.argmax(times))
        if not times[most] >= TOLD:
            return ""
        ends = "is small", "is large"
        name = sources[most] if most < n else ""
        if not name:
            ends = "is near an end of its range", "is in the middle of it"
        few, many = ends if sizes[most, 1] >= sizes[most, 0] else ends[::-1]
        told = f"where {name or 'the output'} {many} as where it {few}"
        return f"Errors are about {times[most]:.2g} times as large {told}."


def _traits(X: FloatArray, outputs: FloatArray, spans: FloatArray) -> FloatArray:
    """What the size of the noise may depend on, as columns between 0 and 1."""
    low, high = spans.T
    width = np.where(high > low, high - low, 1.0)
    at = np.clip((np.column_stack([X, outputs]) - low) / width, 0.0, 1.0)
    inputs, output = at[:, :-1], at[:, -1:]
    middle = 2 * np.sqrt(output * (1 - output))  # of a target that is 0 or 1: its deviation
    return np.hstack([inputs, 1 - inputs, middle, np.ones_like(output)])


def learned_noise(
    X: FloatArray,
    y: FloatArray,
    outputs: FloatArray,
    sample_weight: FloatArray | None = None,
    *,
    part: bool = False,
) -> Noise | None:
    """The noise of rows from the errors of a fit; None where it shows no difference between rows.

    The mean size of an error is a sum of what inputs and the output add to it, found by least
    squares on the sizes themselves, which a few large errors move less than their squares would. It
    is drawn back to the same for all rows by as much as chance explains (James and Stein).

    Parameters
    ----------
    X : array of shape (n_samples, n_sources)
    y, outputs : arrays of shape (n_samples,)
        Targets, and what the model makes of the rows.
    sample_weight : array of shape (n_samples,), optional
        Numbers of rows.
    part : bool, default False
        Whether these are only some of the rows. Of more than `MOST_ROWS` rows so many are drawn.

    References
    ----------
    Glejser (1969), "A new test for heteroskedasticity"; James & Stein (1961), "Estimation with
    quadratic loss".

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> X = rng.random((100, 2))
    >>> learned_noise(X, X.mean(axis=1), X.mean(axis=1)) is None
    True
    """
    weight = sample_weights(sample_weight, len(X))
    # A row of equal inputs has the same output by every measure, and says nothing of it.
    seen = np.flatnonzero((weight > 0) & (np.ptp(X, axis=1) > 0))
    if X.shape[1] > MOST_SOURCES or not len(seen):
        return None
    part = part or bool(len(seen) < np.count_nonzero(weight))
    if len(seen) > MOST_ROWS:
        seen, part = np.random.default_rng(0).choice(seen, MOST_ROWS, replace=False), True
    X, y, outputs, weight = X[seen], y[seen], outputs[seen], weight[seen]
    errors, total = np.abs(y - outputs), float(weight.sum())
    spans = np.array([(x.min(), x.max()) for x in (*X.T, y)], dtype=np.float64)
    # Outputs of so many rows each are not known nearer to their ends: Laplace's rule of succession.
    rows_each = total / max(2 ** X.shape[1] - 2, 1)
    spans[-1] += np.array([-1.0, 1.0]) * np.ptp(spans[-1]) / rows_each
    # Ends of an input add up to the same for all rows, so each input tells one number.
    told = int((np.ptp(spans, axis=1) > 0).sum())
    mean = float(weight @ errors) / total
    if not weight @ errors**2 > NOISY * (weight @ y**2) or total <= told + 2:
        return None
    errors /= mean
    traits = _traits(X, outputs, spans)
    found = _positive(traits[:, :-1], errors, weight)
    sizes = traits[:, :-1] @ found
    explained = float(weight @ (sizes - 1) ** 2)
    chance = float(weight @ (errors - sizes) ** 2) / (total - told - 1)
    share = 1 - max(told - 2, 1) * chance / explained if explained > 0 else 0.0
    if share <= 0:
        return None
    drawn = np.append(share * found, 1 - share)
    drawn /= np.sqrt(float(weight @ (traits @ drawn) ** 2) / total)
    rows = Statistics.from_data(X, y, weight * (traits @ drawn) ** 2)
    return Noise(spans, drawn, rows, Statistics.from_data(X, y, weight) if part else None)


def _positive(columns: FloatArray, target: FloatArray, weight: FloatArray) -> FloatArray:
    """Least squares with weights that are not negative, by the products of the columns."""
    from scipy.optimize import nnls

    form = (columns.T * weight) @ columns
    values, vectors = np.linalg.eigh(form)
    kept = values > KNOWN * values.max()
    root = np.sqrt(values[kept])
    side = (vectors[:, kept].T @ (columns.T @ (weight * target))) / root
    return np.asarray(nnls(root[:, None] * vectors[:, kept].T, side, maxiter=50 * len(form))[0])


class Ratios:
    """Variance of numbers under a noise, over what it would be were the noise alike in all rows.

    Each number comes from the rows with its own weights: it has the mean of their variances, by the
    squares of these weights. The weights are those of least squares that knows beforehand about
    how far values may lie from each other.

    Parameters
    ----------
    noise : Noise or None
        None for noise that is alike in all rows: all ratios are 1.
    problem : Problem
        Dense.
    solution : Solution
        Its optimum.
    variance : float
        Of the noise, over all rows; 0 where it does not matter.

    Examples
    --------
    >>> from choquet.learning import solve
    >>> rng = np.random.default_rng(0)
    >>> X = rng.random((500, 2))
    >>> y = X.mean(axis=1) + 0.1 * X[:, 0] * rng.standard_normal(500)
    >>> noise = learned_noise(X, y, X.mean(axis=1))
    >>> problem = least_squares(Statistics.from_data(X, y))
    >>> ratios = Ratios(noise, problem, solve(problem), 0.003)
    >>> ratios.of(np.array([[1.0, 0.0], [0.0, 1.0]])).round(1)
    array([1.9, 0.2])
    """

    def __init__(
        self, noise: Noise | None, problem: Problem, solution: Solution, variance: float
    ) -> None:
        self.variance = variance
        self.known = noise is not None and problem.dense and 0 < variance < np.inf
        if noise is None or not self.known:
            return
        lift = sp.csr_array(conic_form(problem).lift).toarray()

        def form_of(rows: Statistics | None) -> FloatArray:
            own = bool(problem.n_intercepts)
            same = problem if rows is None else least_squares(rows, fit_intercept=own)
            return np.asarray(lift.T @ (same.quadratic @ lift) / 2)

        self.form, self.noisy = form_of(None), form_of(noise.rows)
        self._usual = form_of(noise.usual)
        # Numbers anywhere in a span have a twelfth of its square as variance.
        span = float(np.ptp(np.append(solution.values, 0.0))) or 1.0
        self._firm = variance * 12 / span**2 * np.eye(len(self.form))

    @cached_property
    def _factor(self) -> Any:
        return linalg.cho_factor(self.form + self._firm, lower=True)

    def of(self, costs: FloatArray) -> FloatArray:
        """The ratio of each number, by its coefficients of shape (K, n)."""
        if not self.known:
            return np.ones(len(costs))
        weights = linalg.cho_solve(self._factor, costs.T).T
        alike = ((weights @ self._usual) * weights).sum(axis=1)
        own = ((weights @ self.noisy) * weights).sum(axis=1)
        most = (weights**2).sum(axis=1) * self.form.diagonal().max(initial=0.0)
        told = alike > KNOWN * most
        return np.where(told, own / np.where(told, alike, 1.0), 1.0)
