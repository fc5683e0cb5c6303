"""Least squares without an order of the values: unbiased, with a known error, but less sharp.

The ordered fit is drawn away from edges where the truth lies on them: a Shapley value is a mean of
many differences that the order keeps from falling below zero, so it comes out too large where they
are zero. The fit without an order has no such bias. It tells how far the order moved a number.
"""

from __future__ import annotations

import numpy as np

from choquet.arrays import FloatArray

SEEN = 1e-14
"""Curvature, as a share of the largest, from which on data see a direction."""
LONGEST = 2.0
"""How many times as long a side may become: where a number without an order is worth little, the
distance to it says little of a bias."""


class Unordered:
    """The least of ``d'form d + gradient'd`` over all d, and how well it is known.

    Parameters
    ----------
    form, gradient : arrays of shape (n, n) and (n,)

    Attributes
    ----------
    step : array of shape (n,)
        From the ordered fit, d = 0, to the least.

    Examples
    --------
    >>> found = Unordered(np.eye(2), np.array([-2.0, 0.0]))
    >>> found.step, found.halves(np.array([[3.0, 4.0]]))
    (array([ 1., -0.]), array([5.]))
    """

    def __init__(self, form: FloatArray, gradient: FloatArray) -> None:
        values, vectors = np.linalg.eigh(form)
        seen = values > SEEN * values.max(initial=0.0)
        self._known = vectors[:, seen] / np.sqrt(values[seen])
        self._open = vectors[:, ~seen]
        self.step: FloatArray = -(self._known @ (self._known.T @ gradient)) / 2

    def halves(self, costs: FloatArray) -> FloatArray:
        """Half-widths of functions where ``d'form d ≤ 1``; infinite where data leave them open."""
        half = np.sqrt(((costs @ self._known) ** 2).sum(axis=1))
        missed = np.abs(costs @ self._open).max(axis=1, initial=0.0)
        half[missed > 1e-6 * np.abs(costs).max(axis=1, initial=0.0)] = np.inf
        return np.asarray(half)

    def doubted(
        self, costs: FloatArray, ends: FloatArray, quantile: float, ratios: FloatArray
    ) -> FloatArray:
        """Ends around the ordered fit, longer towards the fit without an order if that is far.

        The squared distance D² of the two fits is on average the squared bias of the ordered one
        and the variance of D, which is the variance without an order less that with it (Hausman).
        What is left of D² is added to the squared error of the side towards the unordered fit.

        Parameters
        ----------
        costs : array of shape (K, n)
        ends : array of shape (K, 2)
            Distances from the fit; `form` is scaled so that ``d'form d ≤ 1`` there.
        quantile : float
            Of F with one degree of freedom, at the level of the ends.
        ratios : array of shape (K,)
            Of the variance of each function to what it were if the noise were alike in all rows.

        References
        ----------
        Hausman (1978), "Specification tests in econometrics".

        Examples
        --------
        >>> found = Unordered(np.eye(1), np.array([-2.0]))
        >>> found.doubted(np.eye(1), np.array([[-0.5, 0.5]]), 3.0, np.ones(1)).round(3)
        array([[-0.5,  1. ]])
        """
        away, half = costs @ self.step, np.ptp(ends, axis=1) / 2
        apart = np.maximum(ratios * self.halves(costs) ** 2 - half**2, 0.0)
        return lengthened(ends, away, quantile * away**2 - apart)


def lengthened(ends: FloatArray, away: FloatArray, bias: FloatArray) -> FloatArray:
    """Ends around a fit, longer on the side where the truth is expected.

    Parameters
    ----------
    ends : array of shape (K, 2)
        Distances from the fit.
    away : array of shape (K,)
        The side: below the fit if negative.
    bias : array of shape (K,)
        What is added to the squared length of that side, as far as it is positive; the side becomes
        `LONGEST` times as long as it was usual at most.

    Examples
    --------
    >>> lengthened(np.array([[-0.3, 0.3]]), np.array([1.0]), np.array([0.07]))
    array([[-0.3,  0.4]])
    """
    low, high = -ends[:, 0], ends[:, 1]
    half = (low + high) / 2
    more = np.clip(bias, 0.0, (LONGEST**2 - 1) * half**2)
    low = np.sqrt(low**2 + np.where(away < 0, more, 0.0))
    high = np.sqrt(high**2 + np.where(away > 0, more, 0.0))
    return np.column_stack([-low, high])
