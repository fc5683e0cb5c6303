"""When two inputs count as alike: the one tolerance of the library.

``0.1 * 3`` and ``0.3`` mean the same number and differ by one unit in the last place. A number that
came out of a few operations on numbers of size s is off by a few such units of s, so a difference
of that size says nothing about the data. Two inputs of a row are tied if neighbours in its order
differ by at most `TIE` times the largest magnitude in the row.

The row alone decides, not the column or the data set: then rows may arrive in any order and in any
chunks, and what is learned from them is the same. Differences above the limit are never touched.

Whatever reads the order of a row, to learn or to answer, reads it by `falling`: tied inputs are
made equal first, and then stand in the order of the sources. Exports and pages do the same.
"""

from __future__ import annotations

import numpy as np

from choquet.arrays import BoolArray, FloatArray, IntArray

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


def falling(X: FloatArray) -> tuple[IntArray, FloatArray]:
    """Sources by falling input, ties in the order of the sources; and the inputs in that order.

    Tied inputs are equal in the answer, to the largest of them.

    Examples
    --------
    >>> sorts, inputs = falling(np.array([[0.3, 0.5, 0.1 * 3]]))
    >>> sorts.tolist(), inputs.tolist()
    ([[1, 0, 2]], [[0.5, 0.30000000000000004, 0.30000000000000004]])
    """
    sorts = np.argsort(-X, axis=1, kind="stable")
    ordered = np.take_along_axis(X, sorts, axis=1)
    tied, near = _ties(ordered)
    if len(near):
        n = X.shape[1]
        # Each place takes the value at the last place before it where a new group starts.
        start = np.where(tied[near], 0, np.arange(1, n))
        place = np.maximum.accumulate(np.column_stack([np.zeros_like(near), start]), axis=1)
        ordered[near] = np.take_along_axis(ordered[near], place, axis=1)
        again = np.argsort(place * n + sorts[near], axis=1)
        sorts[near] = np.take_along_axis(sorts[near], again, axis=1)
    return sorts, ordered


def strict_falls(ordered: FloatArray, tolerance: float = 0.0) -> BoolArray:
    """Whether each input is larger than the next by more than rounding and a tolerance: (n, N - 1).

    Examples
    --------
    >>> strict_falls(np.array([[0.9, 0.5, 0.5]]))
    array([[ True, False]])
    """
    least = np.maximum(tie_widths(ordered), tolerance)
    return np.asarray(-np.diff(ordered, axis=1) > least)


def _ties(ordered: FloatArray) -> tuple[BoolArray, IntArray]:
    """Which inputs are tied with the next, and the rows in which some are, but not equal."""
    with np.errstate(over="ignore"):
        gaps = ordered[:, :-1] - ordered[:, 1:]
    tied = np.asarray(gaps <= tie_widths(ordered))
    return tied, np.flatnonzero((tied & (gaps > 0)).any(axis=1))


def settled(X: FloatArray) -> FloatArray:
    """The same rows with tied inputs made equal, to the largest of them; `X` itself without any.

    Examples
    --------
    >>> settled(np.array([[0.1 * 3, 0.5, 0.3]])).tolist()
    [[0.30000000000000004, 0.5, 0.30000000000000004]]
    """
    near = _ties(-np.sort(-X, axis=1))[1]
    if not len(near):
        return X
    even = X.copy()
    sorts, ordered = falling(X[near])
    rows = np.empty_like(ordered)
    np.put_along_axis(rows, sorts, ordered, axis=1)
    even[near] = rows
    return even
