"""What the sum of terms says of the target: a mean, the odds of a class, or an ordered class.

A family gives, for each row, how the loss changes with the score: its slope and its curvature. The
loss is a sum of squares, or minus twice the log-likelihood. Numbers that are never penalised, an
intercept or the thresholds between ordered classes, are "fixed".
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from choquet.arrays import FloatArray
from choquet.lattice.lazy import special

_LEAST = 1e-10
BEND = (-2.0, 2.5)
"""Where the link of effects that multiply becomes a straight line, in units of kappa x score."""


class Working(NamedTuple):
    """Loss of some rows, and the numbers from which the next quadratic model of it is made.

    Attributes
    ----------
    loss : array of shape (n,)
        Of each row.
    slope, curve : arrays of shape (n,)
        By which half the loss falls, and bends, with the score of each row.
    cross : array of shape (n, n_fixed)
        Curvature between the score and the fixed numbers.
    fixed_slope : array of shape (n_fixed,)
    fixed_curve : array of shape (n_fixed, n_fixed)
    """

    loss: FloatArray
    slope: FloatArray
    curve: FloatArray
    cross: FloatArray
    fixed_slope: FloatArray
    fixed_curve: FloatArray


def _simple(loss: FloatArray, slope: FloatArray, curve: FloatArray) -> Working:
    """Working numbers where the one fixed number is an intercept."""
    one = np.array([[curve.sum()]])
    return Working(loss, slope, curve, curve[:, None], slope.sum()[None], one)


class Family:
    """Base of the families; `n_scores` is more than one for unordered classes."""

    n_fixed = 1
    n_scores = 1
    linear = False
    known_scale = True

    def working(
        self, k: int, eta: FloatArray, fixed: FloatArray, y: FloatArray, weight: FloatArray
    ) -> Working:
        """Working numbers of score k.

        Parameters
        ----------
        k : int
        eta : array of shape (n_scores, n)
            Sums of terms.
        fixed : array of shape (n_scores, n_fixed)
        y, weight : arrays of shape (n,)
        """
        raise NotImplementedError

    def start(self, y: FloatArray, weight: FloatArray) -> tuple[FloatArray, ...]:
        """Sums over a block from which `begin` finds the first fixed numbers."""
        raise NotImplementedError

    def begin(self, sums: tuple[FloatArray, ...]) -> FloatArray:
        """First fixed numbers, (n_scores, n_fixed), where no term says anything."""
        raise NotImplementedError


class Squares(Family):
    """Squared error behind a link of one number: (exp(kappa score) - 1) / kappa.

    With ``kappa = 0`` effects add; with another they multiply. Targets are standardised. Where
    ``kappa score`` is below -2 or above 2.5 the link goes on as a straight line, so that a row at
    the end of the scale still says something, and no output explodes.

    Examples
    --------
    >>> Squares(0.0).mean(np.array([0.5])), Squares(1.0).mean(np.array([np.log(2)]))
    (array([0.5]), array([1.]))
    """

    known_scale = False

    def __init__(self, kappa: float = 0.0) -> None:
        self.kappa = kappa
        self.linear = kappa == 0

    def mean(self, score: FloatArray) -> FloatArray:
        """Output of the link."""
        if self.linear:
            return score
        bent = np.clip(self.kappa * score, *BEND)
        line = (self.kappa * score - bent) * np.exp(bent)
        return np.asarray((np.expm1(bent) + line) / self.kappa)

    def slope(self, score: FloatArray) -> FloatArray:
        """Slope of the link."""
        if self.linear:
            return np.ones_like(score)
        return np.asarray(np.exp(np.clip(self.kappa * score, *BEND)))

    def bend(self, score: FloatArray) -> FloatArray:
        """How the output of the link moves with its number, at the same score."""
        if self.linear:
            return np.asarray(score**2 / 2)
        return np.asarray((score * self.slope(score) - self.mean(score)) / self.kappa)

    def working(
        self, k: int, eta: FloatArray, fixed: FloatArray, y: FloatArray, weight: FloatArray
    ) -> Working:
        """Working numbers: Gauss-Newton."""
        del k  # there is one score
        score = eta[0] + fixed[0, 0]
        d, rest = self.slope(score), y - self.mean(score)
        return _simple(weight * rest**2, weight * d * rest, weight * d**2)

    def start(self, y: FloatArray, weight: FloatArray) -> tuple[FloatArray, ...]:
        """Weight and sum."""
        return weight.sum(), (weight * y).sum()

    def begin(self, sums: tuple[FloatArray, ...]) -> FloatArray:
        """The score whose output is the mean."""
        mean = float(sums[1] / sums[0])
        if not self.linear:
            mean = np.log1p(max(self.kappa * mean, -0.9)) / self.kappa
        return np.array([[mean]])


class Logistic(Family):
    """Log-odds of the second of two classes, coded 0 and 1."""

    def working(
        self, k: int, eta: FloatArray, fixed: FloatArray, y: FloatArray, weight: FloatArray
    ) -> Working:
        """Working numbers."""
        del k  # there is one score
        score = eta[0] + fixed[0, 0]
        mu = special.expit(score)
        loss = 2 * weight * (np.logaddexp(0, score) - y * score)
        return _simple(loss, weight * (y - mu), weight * np.maximum(mu * (1 - mu), _LEAST))

    def start(self, y: FloatArray, weight: FloatArray) -> tuple[FloatArray, ...]:
        """Weight of both classes."""
        return (weight * (1 - y)).sum(), (weight * y).sum()

    def begin(self, sums: tuple[FloatArray, ...]) -> FloatArray:
        """Log-odds of all rows."""
        return np.array([[np.log(sums[1] / sums[0])]])


class Multinomial(Family):
    """One score a class; their soft-max gives the probabilities. Classes are coded 0, 1, 2, ..."""

    def __init__(self, n_classes: int) -> None:
        self.n_scores = n_classes

    def working(
        self, k: int, eta: FloatArray, fixed: FloatArray, y: FloatArray, weight: FloatArray
    ) -> Working:
        """Working numbers of class k, the scores of the others as they are."""
        score = eta + fixed[:, :1]
        score = score - score.max(axis=0)
        log_sum = np.log(np.exp(score).sum(axis=0))
        mu = np.exp(score[k] - log_sum)
        own = np.take_along_axis(score, y.astype(np.int64)[None], axis=0)[0]
        loss = 2 * weight * (log_sum - own)
        slope = weight * ((y == k) - mu)
        return _simple(loss, slope, weight * np.maximum(mu * (1 - mu), _LEAST))

    def start(self, y: FloatArray, weight: FloatArray) -> tuple[FloatArray, ...]:
        """Weight of each class."""
        return (np.bincount(y.astype(np.int64), weight, self.n_scores).astype(np.float64),)

    def shares(self, eta: FloatArray, fixed: FloatArray) -> FloatArray:
        """Probability of each class, (n_classes, n)."""
        return np.asarray(special.softmax(eta + fixed[:, :1], axis=0))

    def begin(self, sums: tuple[FloatArray, ...]) -> FloatArray:
        """Logarithms of the shares, with mean zero."""
        logs = np.log(sums[0] / sums[0].sum())
        return np.asarray((logs - logs.mean())[:, None])


class Ordered(Family):
    """Ordered classes by proportional odds: P(class <= k) = 1 / (1 + exp(score - threshold k)).

    References
    ----------
    McCullagh (1980), "Regression models for ordinal data".
    """

    def __init__(self, n_classes: int) -> None:
        self.n_classes, self.n_fixed = n_classes, n_classes - 1

    def below(self, eta: FloatArray, thresholds: FloatArray) -> FloatArray:
        """P(class <= k) of each row, from -1 (zero) to the last class (one)."""
        inner = special.expit(thresholds - eta[:, None])
        n = len(eta)
        return np.hstack([np.zeros((n, 1)), inner, np.ones((n, 1))])

    def working(
        self, k: int, eta: FloatArray, fixed: FloatArray, y: FloatArray, weight: FloatArray
    ) -> Working:
        """Working numbers: Fisher scoring on score and thresholds together."""
        del k  # there is one score
        t, size = fixed[0], self.n_fixed
        n = len(y)
        if (np.diff(t) <= 0).any():
            nothing = np.zeros((n, size))
            flat = np.zeros((size, size))
            return Working(
                np.full(n, np.inf), np.zeros(n), np.ones(n), nothing, np.zeros(size), flat
            )
        F = self.below(eta[0], t)
        shares = np.maximum(np.diff(F, axis=1), _LEAST)
        own = y.astype(np.int64)[:, None]
        high, low = np.take_along_axis(F, own + 1, 1), np.take_along_axis(F, own, 1)
        p = np.take_along_axis(shares, own, 1)[:, 0]
        f = F[:, 1:-1] * (1 - F[:, 1:-1])
        slope = weight * (high + low - 1)[:, 0]
        curve = (shares * (1 - F[:, 1:] - F[:, :-1]) ** 2).sum(axis=1)
        cross = -f * (F[:, 2:] - F[:, :-2])
        at = np.arange(size)
        step = ((own == at) * f - (own == at + 1) * f) / p[:, None]
        curves = np.zeros((size, size))
        curves[at, at] = (weight[:, None] * f**2 * (1 / shares[:, :-1] + 1 / shares[:, 1:])).sum(0)
        off = -(weight[:, None] * f[:, :-1] * f[:, 1:] / shares[:, 1:-1]).sum(axis=0)
        curves[at[:-1], at[1:]] = curves[at[1:], at[:-1]] = off
        return Working(
            -2 * special.xlogy(weight, p),
            slope,
            weight * np.maximum(curve, _LEAST),
            weight[:, None] * cross,
            weight @ step,
            curves,
        )

    def start(self, y: FloatArray, weight: FloatArray) -> tuple[FloatArray, ...]:
        """Weight of each class."""
        return (np.bincount(y.astype(np.int64), weight, self.n_classes).astype(np.float64),)

    def begin(self, sums: tuple[FloatArray, ...]) -> FloatArray:
        """Log-odds of being at most of each class."""
        below = np.cumsum(sums[0])[:-1] / sums[0].sum()
        return np.asarray(np.log(below / (1 - below))[None])
