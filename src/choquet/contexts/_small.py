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
    """Places of a system with the constant, the last but one, in front; and of its weights."""
    order = np.r_[width - 1, 0 : width - 1]
    weights = np.arange(1, width)
    return np.ix_(order, order), (weights, weights)


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
    # The constant comes first, as in the loop.
    places, weights = _constant_first(width)
    A, b = full[places], full[places[0][:, 0], width]
    A[weights] += l2
    b[1:] += l2 * centres[:, : width - 1].T
    x = _solve(A, b)
    out[:, : width - 1] = x[1:].T
    out[:, width - 1] = x[0]
    return _errors(full, out.T, width)


def _solve(A: FloatArray, b: FloatArray) -> FloatArray:
    """Cholesky and two substitutions, for many systems; see the loop of the same name.

    Each column is taken off all that follow it at once: every number loses the same products in
    the same order as in the loop.
    """
    size = len(A)
    at = np.arange(size)
    pivots, own = np.empty_like(b), A[at, at]
    least = np.where(own > 0.0, 1e-11 * own, np.inf)
    for j in range(size):
        np.sqrt(np.abs(A[j, j]), out=pivots[j])
        pivots[j][A[j, j] <= least[j]] = np.inf
        column = A[j + 1 :, j]
        column /= pivots[j]  # zero where the pivot is lost
        A[j + 1 :, j + 1 :] -= column[:, None] * column
        b[j] /= pivots[j]
        b[j + 1 :] -= column * b[j]
    for j in range(size - 1, -1, -1):
        total = b[j]
        for k in range(j + 1, size):
            total -= A[k, j] * b[k]
        total /= pivots[j]
    return b


def _errors(full: FloatArray, coefficients: FloatArray, width: int) -> FloatArray:
    """Squared errors of coefficients, from the products alone."""
    rows = np.zeros((width, full.shape[2]))
    for b in range(width):
        rows += full[:width, b] * coefficients[b]
    total = full[width, width].copy()
    for a in range(width):
        total += coefficients[a] * (rows[a] - 2.0 * full[a, width])
    found: FloatArray = np.maximum(total, 0.0)
    return found
