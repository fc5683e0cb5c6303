"""When two inputs count as alike: the one tolerance of the library.

``0.1 * 3`` and ``0.3`` mean the same number and differ by one unit in the last place. A number that
came out of a few operations on numbers of size s is off by a few such units of s, so a difference
of that size says nothing about the data. Two inputs of a row are tied if neighbours in its order
differ by at most `TIE` times the largest magnitude in the row.

The row alone decides, not the column or the data set: then rows may arrive in any order and in any
chunks, and what is learned from them is the same. Differences above the limit are never touched.
"""

from __future__ import annotations

import numpy as np

from choquet.arrays import FloatArray

__all__ = ["LEAST", "TIE", "settled", "tie_widths"]

TIE = 16 * float(np.finfo(np.float64).eps)
"""Sixteen units in the last place, about 3.6e-15 of the largest magnitude in a row."""

LEAST = float(np.finfo(np.float64).tiny)
"""Least squared gap that counts: below, products lose their digits."""


def tie_widths(falling: FloatArray) -> FloatArray:
    """Largest difference that counts as a tie, for rows in falling order: (n_samples, 1).

    Examples
    --------
    >>> X = np.array([[0.1 * 3, 0.3], [0.31, 0.3]])
    >>> X[:, :1] - X[:, 1:] <= tie_widths(X)
    array([[ True],
           [False]])
    """
    return np.asarray(TIE * np.maximum(falling[:, :1], -falling[:, -1:]))


def settled(X: FloatArray) -> FloatArray:
    """The same rows with tied inputs made equal, to the largest of them; `X` itself without any.

    Examples
    --------
    >>> settled(np.array([[0.1 * 3, 0.5, 0.3]])).tolist()
    [[0.30000000000000004, 0.5, 0.30000000000000004]]
    """
    if X.shape[1] < 2:
        return X
    falling = -np.sort(-X, axis=1)
    gaps = falling[:, :-1] - falling[:, 1:]
    near = np.flatnonzero(((gaps > 0) & (gaps <= tie_widths(falling))).any(axis=1))
    if not len(near):
        return X
    rows = X[near]
    order = np.argsort(-rows, axis=1, kind="stable")
    falling, gaps = falling[near], gaps[near]
    first = np.ones(falling.shape, dtype=np.bool_)
    first[:, 1:] = gaps > tie_widths(falling)
    # Each place takes the value at the last place before it where a new group starts.
    place = np.maximum.accumulate(np.where(first, np.arange(rows.shape[1]), 0), axis=1)
    even = np.empty_like(rows)
    np.put_along_axis(even, order, np.take_along_axis(falling, place, axis=1), axis=1)
    answer = X.copy()
    answer[near] = even
    return answer
