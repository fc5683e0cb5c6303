"""What stands in for the loops of `_kernels` while there is little to do: whole arrays at once.

Each function gives the same answer as its loop to the bit: numbers are added in the same order.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from choquet.arrays import FloatArray, IntArray

_NEAR = 60_000
"""Numbers of the systems that are solved side by side: half a megabyte."""


@cache
def _places(width: int) -> tuple[IntArray, IntArray]:
    """Rows and columns of the upper triangle of a square matrix."""
    rows, columns = np.triu_indices(width)
    return rows, columns


def _products(Z: FloatArray, weight: FloatArray, rows: IntArray) -> FloatArray:
    """Weighted products of each of some rows, upper triangle."""
    first, second = _places(Z.shape[1])
    part = Z[rows]
    products: FloatArray = (weight[rows, None] * part)[:, first] * part[:, second]
    return products


def node_statistics(Z: FloatArray, weight: FloatArray, rows: IntArray, out: FloatArray) -> None:
    """Add the products of some rows to one vector."""
    np.add.at(out[None], np.zeros(len(rows), np.int64), _products(Z, weight, rows))


def sort_by_rank(ranks: Any, rows: IntArray, source: int, starts: IntArray, out: IntArray) -> None:
    """Order some rows by the rank of a source; `starts` gets where each begins."""
    found = ranks[rows, source]
    starts[0] = 0
    starts[1:] = np.cumsum(np.bincount(found, minlength=len(starts) - 1))
    out[:] = rows[np.argsort(found, kind="stable")]


def rank_statistics(
    Z: FloatArray, weight: FloatArray, count: FloatArray, ranks: Any, rows: IntArray, source: int,
    out: FloatArray, counts: FloatArray,
) -> None:  # fmt: skip
    """Add the products of some rows to one vector for each rank of a source."""
    found = ranks[rows, source]
    np.add.at(counts, found, count[rows])
    np.add.at(out, found, _products(Z, weight, rows))


def above_statistics(
    Z: FloatArray, weight: FloatArray, count: FloatArray, ranks: Any, rows: IntArray,
    pairs: IntArray, out: FloatArray, counts: FloatArray,
) -> None:  # fmt: skip
    """Add the products of the rows in which the first of a pair of sources is above the other."""
    products = _products(Z, weight, rows)
    above = ranks[rows[:, None], pairs[:, 0]] < ranks[rows[:, None], pairs[:, 1]]
    for q in range(len(pairs)):
        part = np.flatnonzero(above[:, q])
        number = np.full(len(part), q)
        np.add.at(out, number, products[part])
        np.add.at(counts, number, count[rows[part]])


def rank_scores(
    Z: FloatArray, residual: FloatArray, weight: FloatArray, ranks: Any, rows: IntArray,
    out: FloatArray, weights: FloatArray,
) -> None:  # fmt: skip
    """Add weighted residual times row, for each source and each of its ranks."""
    scaled = (weight[rows] * residual[rows])[:, None] * Z[rows, :-1]
    for i in range(len(out)):
        np.add.at(weights[i], ranks[rows, i], weight[rows])
        np.add.at(out[i], ranks[rows, i], scaled)


def pair_scores(
    Z: FloatArray, residual: FloatArray, weight: FloatArray, ranks: Any, rows: IntArray,
    pairs: IntArray, out: FloatArray, weights: FloatArray,
) -> None:  # fmt: skip
    """Add weighted residual times row, for each pair of sources with the first above."""
    scaled = (weight[rows] * residual[rows])[:, None] * Z[rows, :-1]
    for q, (first, second) in enumerate(pairs):
        above = np.flatnonzero(ranks[rows, first] < ranks[rows, second])
        number = np.full(len(above), q)
        np.add.at(weights, number, weight[rows[above]])
        np.add.at(out, number, scaled[above])


@cache
def _constant_first(width: int) -> tuple[Any, Any]:
    """Places of a system, its constant in front and its right side below; and of its weights."""
    order = np.r_[width - 1, 0 : width - 1]
    weights = np.arange(1, width)
    return np.ix_(np.append(order, width), order), (weights, weights)


def fit_free(packed: FloatArray, l2: float, centres: FloatArray, out: FloatArray) -> FloatArray:
    """Least squares of many leaves side by side, as many at a time as stay near the processor."""
    step = max(_NEAR // out.shape[1] ** 2, 16)
    if len(packed) <= step:
        return _fit_free(packed, l2, centres, out)
    return np.concatenate(
        [
            _fit_free(packed[k : k + step], l2, centres[k : k + step], out[k : k + step])
            for k in range(0, len(packed), step)
        ]
    )


def _fit_free(packed: FloatArray, l2: float, centres: FloatArray, out: FloatArray) -> FloatArray:
    """Least squares; the last axis numbers the leaves."""
    width = out.shape[1]
    first, second = _places(width + 1)
    full = np.empty((width + 1, width + 1, len(packed)))
    full[first, second] = packed.T
    full[second, first] = packed.T
    # The constant comes first, as in the loop; what is to be fitted, last.
    places, weights = _constant_first(width)
    A = full[places]
    A[weights] += l2
    A[width, 1:] += l2 * centres[:, : width - 1].T
    x = _solve(A)
    out[:, : width - 1] = x[1:].T
    out[:, width - 1] = x[0]
    return _errors(full, out.T, width)


def _solve(A: FloatArray) -> FloatArray:
    """Cholesky and two substitutions, for many systems; see the loop of the same name.

    The right side is the last row, so that the first substitution is one row more of Cholesky's.
    Each column is taken off all that follow it at once: every number loses the same products in
    the same order as in the loop.
    """
    size = A.shape[1]
    at = np.arange(size)
    own, x = A[at, at], A[size]
    least = np.where(own > 0.0, 1e-11 * own, np.inf)
    pivots = np.empty_like(least)
    for j in range(size):
        np.sqrt(np.abs(A[j, j]), out=pivots[j])
        pivots[j][A[j, j] <= least[j]] = np.inf
        column = A[j + 1 :, j]
        column /= pivots[j]  # zero where the pivot is lost
        A[j + 1 :, j + 1 :] -= column[:, None] * column[:-1]
    for j in range(size - 1, -1, -1):
        x[j] /= pivots[j]
        x[:j] -= A[j, :j] * x[j]
    return x


def _errors(full: FloatArray, coefficients: FloatArray, width: int) -> FloatArray:
    """Squared errors of coefficients, from the products alone."""
    # A running sum adds one after the other, as the loop does; a sum would add in pairs.
    rows = np.add.accumulate(full[:width, :width] * coefficients, axis=1)[:, -1]
    parts = coefficients * (rows - 2.0 * full[:width, width])
    total = np.add.accumulate(np.concatenate([full[None, width, width], parts]))[-1]
    found: FloatArray = np.maximum(total, 0.0)
    return found
