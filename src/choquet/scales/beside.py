"""Which way columns point beside each other: what the correlation of each one alone cannot tell.

A monotone model asks what the target does when one column rises and the others stay. Where columns
depend on each other, a correlation says what it does when the others rise along. And a column that
decides in few rows has a small correlation, though beside the others its direction is clear.
"""

from __future__ import annotations

import numpy as np

from choquet.arrays import BoolArray, FloatArray, IntArray

FOLDS = 5
"""Parts that rows are held out in."""
LEAST, MOST = 20, 2000
"""Rows from which on held-out rows are asked, and that are asked at most. Of targets that nothing
tells, one column in 500 was turned round with 20 rows, and one in 40 with 16."""
CLEARLY, HARDLY = 2.0, 1.0
"""Standard errors by which directions must be better together to be taken, and by which one column
must be worse the usual way to keep the other; chosen on 100 made-up tables and 8 real ones."""


def directions_beside(
    X: FloatArray, y: FloatArray, usual: IntArray, free: BoolArray, weight: FloatArray | None = None
) -> IntArray:
    """Directions in which a monotone model of all columns tells held-out rows best.

    The usual directions are compared with the signs of a linear regression on ranks. The model is a
    sum of columns and of order statistics with weights that are not negative. If the signs err
    clearly less, each column goes back to its usual direction where that costs hardly anything.

    Parameters
    ----------
    X, y : arrays of shape (n, N) and (n,)
    usual : array of N ints
        1 where more is better, -1 where less is.
    free : array of N bools
        Columns that may be turned.
    weight : array of shape (n,), optional

    Returns
    -------
    array of N ints

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> size = rng.random(200)
    >>> X = np.column_stack([size, size + 0.2 * rng.random(200)])
    >>> y = np.minimum(X[:, 0], 1.2 - X[:, 1])
    >>> directions_beside(X, y, np.array([1, 1]), np.array([True, True]))
    array([ 1, -1])
    """
    rows = np.flatnonzero(np.ones(len(X)) if weight is None else weight > 0)
    low, high = X[rows].min(axis=0, initial=np.inf), X[rows].max(axis=0, initial=-np.inf)
    free = free & (high > low)
    if len(rows) < max(LEAST, X.shape[1] + 2) or not free.any() or (y[rows] == y[rows[0]]).all():
        return usual
    rng = np.random.default_rng(0)
    rows = rng.permutation(rows)[:MOST]
    counts = np.ones(len(rows)) if weight is None else weight[rows]
    # A half first: the range of a column may be more than the largest number.
    scaled = (X[rows] / 2 - low / 2) / np.where(high > low, high / 2 - low / 2, 1.0)
    target = y[rows] / np.abs(y[rows]).max()
    signs = np.where(free & (_slopes(scaled, target, counts) < 0), -1, np.where(free, 1, usual))
    judge = _Judge(scaled, target - np.average(target, weights=counts), counts)
    if not judge.errors_above(usual, signs) > CLEARLY:
        return usual
    while True:
        back = []
        for k in np.flatnonzero(signs != usual):
            other = signs.copy()
            other[k] = usual[k]
            back.append((judge.errors_above(other, signs), int(k)))
        cost, place = min(back, default=(np.inf, -1))
        if cost > HARDLY:
            return signs
        signs = signs.copy()
        signs[place] = usual[place]


def _slopes(X: FloatArray, y: FloatArray, weight: FloatArray) -> FloatArray:
    """Of a linear regression on ranks, with a ridge that only tells copies of a column apart."""
    from choquet.scales.directions import ranks

    root = np.sqrt(weight)[:, None]
    columns = np.column_stack([ranks(one, weight) for one in (*X.T, y)])
    columns = root * (columns - np.average(columns, axis=0, weights=weight))
    columns /= np.maximum(np.sqrt((columns**2).sum(axis=0)), 1e-300)
    A, b = columns[:, :-1], columns[:, -1]
    return np.asarray(np.linalg.solve(A.T @ A + 1e-9 * np.eye(A.shape[1]), A.T @ b))


class _Judge:
    """Held-out squared errors of a monotone sum, for any directions of the columns."""

    def __init__(self, X: FloatArray, y: FloatArray, weight: FloatArray) -> None:
        self.X, self.y, self.weight = X, y, weight
        self.fold = np.arange(len(X)) % FOLDS
        self.known: dict[bytes, FloatArray] = {}

    def errors_above(self, one: IntArray, other: IntArray) -> float:
        """How far the errors of directions are above those of others, in standard errors."""
        if not np.isfinite(self.errors(other)).all():
            return -np.inf
        gain = self.errors(one) - self.errors(other)
        if not np.isfinite(gain).all():
            return np.inf
        mean = float(np.average(gain, weights=self.weight))
        spread = float(np.sqrt(np.average((gain - mean) ** 2, weights=self.weight)))
        return mean / max(spread / float(np.sqrt(len(gain))), 1e-300)

    def errors(self, directions: IntArray) -> FloatArray:
        """Squared error of each row."""
        key = directions.astype(np.int8).tobytes()
        if key not in self.known:
            self.known[key] = self._errors(directions)
        return self.known[key]

    def _errors(self, directions: IntArray) -> FloatArray:
        from scipy.optimize import nnls

        Z = np.where(directions > 0, self.X, 1 - self.X)
        ones = np.ones((len(Z), 1))
        A = np.hstack([ones, -ones, Z, np.sort(Z, axis=1)])
        size, part = A.shape[1], [self.fold == k for k in range(FOLDS)]
        forms = np.array([(A[p] * self.weight[p, None]).T @ A[p] for p in part])
        sides = np.array([A[p].T @ (self.weight * self.y)[p] for p in part])
        found = np.empty(len(Z))
        for k, held in enumerate(part):
            form = forms.sum(axis=0) - forms[k]
            # Columns and order statistics have the same sum: a little ridge makes the form regular.
            form += 1e-6 * np.trace(form) / size * np.eye(size)
            root = np.linalg.cholesky(form)
            side = np.linalg.solve(root, sides.sum(axis=0) - sides[k])
            try:
                weights = nnls(root.T, side, maxiter=30 * size)[0]
            except RuntimeError:  # it went round in circles: such directions are not taken
                return np.full(len(Z), np.inf)
            found[held] = self.y[held] - A[held] @ weights
        return np.asarray(found**2)
