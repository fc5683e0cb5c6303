"""Compiled parts of growing a tree: statistics of all candidate splits, and their errors.

A row is z = (inputs by rank, 1, target). Its products z zᵀ add up to everything that least squares
in a leaf needs; the upper triangle is kept, row by row, in one vector of P (P + 1) / 2 numbers.
"""

from __future__ import annotations

import numpy as np

from choquet.contexts import _small
from choquet.lattice.compiling import compiled, compiled_with


def _node_steps(Z, weight, rows, out):
    # Whole arrays cost about 100 steps a call, and then one for twenty products.
    return 100 + len(rows) * Z.shape[1] ** 2 / 40


def _split_steps(Z, weight, count, ranks, rows, *rest):
    return _node_steps(Z, weight, rows, None)


def _scores_steps(Z, residual, weight, ranks, rows, *rest):
    return len(rest[0]) * (60 + len(rows) * Z.shape[1] / 10)


@compiled
def _add_products(Z, row, weight, out):
    width = Z.shape[1]
    at = 0
    for a in range(width):
        scaled = weight * Z[row, a]
        for b in range(a, width):
            out[at] += scaled * Z[row, b]
            at += 1


@compiled_with(steps=_node_steps, plain=_small.node_statistics)
def node_statistics(Z, weight, rows, out):
    """Add the products of some rows to one vector."""
    for k in range(len(rows)):
        _add_products(Z, rows[k], weight[rows[k]], out)


@compiled_with(steps=lambda ranks, rows, *rest: 60 + len(rows), plain=_small.sort_by_rank)
def sort_by_rank(ranks, rows, source, starts, out):
    """Order some rows by the rank of a source (counting sort); `starts` gets where each begins."""
    starts[:] = 0
    for k in range(len(rows)):
        starts[ranks[rows[k], source] + 1] += 1
    for r in range(1, len(starts)):
        starts[r] += starts[r - 1]
    place = starts.copy()
    for k in range(len(rows)):
        rank = ranks[rows[k], source]
        out[place[rank]] = rows[k]
        place[rank] += 1


@compiled_with(steps=_split_steps, plain=_small.rank_statistics)
def rank_statistics(Z, weight, count, ranks, rows, source, out, counts):
    """Add the products of some rows to one vector for each rank of a source."""
    for k in range(len(rows)):
        row = rows[k]
        rank = ranks[row, source]
        counts[rank] += count[row]
        _add_products(Z, row, weight[row], out[rank])


def _above_steps(Z, weight, count, ranks, rows, pairs, *rest):
    return len(pairs) * _node_steps(Z, weight, rows, None) / 2


@compiled_with(steps=_above_steps, plain=_small.above_statistics)
def above_statistics(Z, weight, count, ranks, rows, pairs, out, counts):
    """Add the products of the rows in which the first of a pair of sources is above the other."""
    for q in range(len(pairs)):
        source, other = pairs[q, 0], pairs[q, 1]
        for k in range(len(rows)):
            row = rows[k]
            if ranks[row, source] < ranks[row, other]:
                counts[q] += count[row]
                _add_products(Z, row, weight[row], out[q])


@compiled_with(steps=_scores_steps, plain=_small.rank_scores)
def rank_scores(Z, residual, weight, ranks, rows, out, weights):
    """Add weighted residual times row, for each source and each of its ranks."""
    width = Z.shape[1] - 1
    n_sources = len(out)
    scaled = np.empty(width)
    for k in range(len(rows)):
        row = rows[k]
        for a in range(width):
            scaled[a] = weight[row] * residual[row] * Z[row, a]
        for i in range(n_sources):
            rank = ranks[row, i]
            weights[i, rank] += weight[row]
            target = out[i, rank]
            for a in range(width):
                target[a] += scaled[a]


@compiled_with(steps=_scores_steps, plain=_small.pair_scores)
def pair_scores(Z, residual, weight, ranks, rows, pairs, out, weights):
    """Add weighted residual times row, for each pair of sources with the first above."""
    width = Z.shape[1] - 1
    scaled = np.empty(width)
    for k in range(len(rows)):
        row = rows[k]
        for a in range(width):
            scaled[a] = weight[row] * residual[row] * Z[row, a]
        for q in range(len(pairs)):
            if ranks[row, pairs[q, 0]] < ranks[row, pairs[q, 1]]:
                weights[q] += weight[row]
                target = out[q]
                for a in range(width):
                    target[a] += scaled[a]


@compiled
def _unpack(packed, full):
    at = 0
    width = full.shape[0]
    for a in range(width):
        for b in range(a, width):
            full[a, b] = packed[at]
            full[b, a] = packed[at]
            at += 1


@compiled
def _solve(A, b, x, size):
    # Cholesky in place (lower triangle), then two substitutions. A pivot lost to rounding belongs
    # to a direction that the rows do not see: its coefficient stays zero.
    for j in range(size):
        own = A[j, j]
        pivot = own
        for k in range(j):
            pivot -= A[j, k] * A[j, k]
        if pivot <= 1e-11 * own or own <= 0.0:
            A[j, j] = 0.0
            for i in range(j + 1, size):
                A[i, j] = 0.0
            continue
        root = np.sqrt(pivot)
        A[j, j] = root
        for i in range(j + 1, size):
            total = A[i, j]
            for k in range(j):
                total -= A[i, k] * A[j, k]
            A[i, j] = total / root
    for j in range(size):
        total = b[j]
        for k in range(j):
            total -= A[j, k] * x[k]
        x[j] = total / A[j, j] if A[j, j] > 0.0 else 0.0
    for j in range(size - 1, -1, -1):
        total = x[j]
        for k in range(size - 1, j, -1):
            total -= A[k, j] * x[k]
        x[j] = total / A[j, j] if A[j, j] > 0.0 else 0.0


@compiled
def _error(full, coefficients, width):
    # Squared error of the coefficients on (inputs by rank, 1), from the products alone.
    total = full[width, width]
    for a in range(width):
        row = 0.0
        for b in range(width):
            row += full[a, b] * coefficients[b]
        total += coefficients[a] * (row - 2.0 * full[a, width])
    return max(total, 0.0)


def _fit_steps(packed, l2, centres, out):
    # About 40 µs a column, and 3 ns for each product; a third of it, for this loop takes three
    # seconds to compile, most others one.
    return 40 * out.shape[1] + len(packed) * out.shape[1] ** 3 / 300


@compiled_with(steps=_fit_steps, plain=_small.fit_free)
def fit_free(packed, l2, centres, out):
    """Weights and bias of least squared error plus l2 times the squared distance to a centre.

    `packed` holds one vector of products a row, `centres` one centre; `out` receives the
    coefficients of each, the bias last. Returns the squared errors, without the penalty.
    """
    width = out.shape[1]
    full = np.empty((width + 1, width + 1))
    A = np.empty((width, width))
    b = np.empty(width)
    errors = np.empty(len(packed))
    for q in range(len(packed)):
        _unpack(packed[q], full)
        for i in range(width):
            # The constant comes first: its pivot is the count, and what is left of the others is
            # centred, which keeps the digits.
            p = width - 1 if i == 0 else i - 1
            b[i] = full[p, width]
            for j in range(width):
                r = width - 1 if j == 0 else j - 1
                A[i, j] = full[p, r]
            if i > 0:
                A[i, i] += l2
                b[i] += l2 * centres[q, p]
        found = np.zeros(width)
        _solve(A, b, found, width)
        # One by one: parts of arrays take seconds to compile.
        for i in range(width):
            out[q, i - 1 if i > 0 else width - 1] = found[i]
        errors[q] = _error(full, out[q], width)
    return errors


@compiled
def _not_negative(Q, u, passive, size):
    # Lawson & Hanson's active set for ½ uᵀ Q u - 1ᵀ u, u ≥ 0, started from a passive set.
    chosen = np.empty(size, np.int64)
    A, b, x = np.empty((size, size)), np.ones(size), np.empty(size)
    for i in range(size):
        u[i] = 0.0
    warm = False
    for i in range(size):
        warm = warm or passive[i]
    for _ in range(3 * size + 10):
        if not warm:
            best, enter = 1e-10, -1
            for i in range(size):
                if not passive[i]:
                    slope = 1.0
                    for j in range(size):
                        slope -= Q[i, j] * u[j]
                    if slope > best:
                        best, enter = slope, i
            if enter < 0:
                return
            passive[enter] = True
        for _ in range(size + 1):
            n = 0
            for i in range(size):
                if passive[i]:
                    chosen[n] = i
                    n += 1
            if n == 0:
                break
            for k in range(n):
                for m in range(n):
                    A[k, m] = Q[chosen[k], chosen[m]]
            for k in range(n):
                x[k] = 0.0
            _solve(A, b, x, n)
            step = 1.0
            for k in range(n):
                if x[k] <= 0.0:
                    gap = u[chosen[k]] - x[k]
                    step = min(step, u[chosen[k]] / gap if gap > 0.0 else 0.0)
            left = False
            for k in range(n):
                i = chosen[k]
                u[i] += step * (x[k] - u[i])
                if x[k] <= 0.0 and u[i] <= 1e-14:
                    u[i], passive[i], left = 0.0, False, True
            if not left:
                break
        warm = False


def _convex_steps(packed, l2, centres, out):
    return 2.0 * len(packed) * out.shape[1] ** 3


@compiled_with(steps=_convex_steps)
def fit_convex(packed, l2, centres, out):
    """Weights on the simplex of least squared error plus l2 times the squared distance to a centre.

    As the weights sum to one, the error is wᵀ Q w with Q the products of (input - target), and the
    shortest vector over the simplex is the solution u ≥ 0 of least (uᵀ (Q + 1 1ᵀ) u) / 2 - Σ u,
    divided by its sum. Returns the squared errors, without the penalty.
    """
    width = out.shape[1]
    size = width - 1
    full = np.empty((width + 1, width + 1))
    Q = np.empty((size, size))
    u = np.empty(size)
    errors = np.empty(len(packed))
    passive = np.empty(size, np.bool_)
    for q in range(len(packed)):
        _unpack(packed[q], full)
        centre = centres[q]
        square = full[width, width]
        distance = 0.0
        for i in range(size):
            distance += centre[i] * centre[i]
        scale = 1e-300
        for i in range(size):
            for j in range(size):
                Q[i, j] = full[i, j] - full[i, width] - full[j, width] + square
                Q[i, j] += l2 * (distance - centre[i] - centre[j])
            Q[i, i] += l2
            scale = max(scale, Q[i, i])
        for i in range(size):
            for j in range(size):
                Q[i, j] = Q[i, j] / scale + 1.0
            Q[i, i] += 1e-12
        for i in range(size):
            passive[i] = centre[i] > 0.0
        _not_negative(Q, u, passive, size)
        total = 0.0
        for i in range(size):
            total += u[i]
        for i in range(size):
            out[q, i] = u[i] / total if total > 0.0 else 1.0 / size
        out[q, size] = 0.0
        errors[q] = _error(full, out[q], width)
    return errors


@compiled_with(steps=lambda packed, *rest: 20.0 * len(packed))
def soften(packed, l1, l2, centre, coefficients, limit):
    """Coordinate descent with l1 · Σ|w| beside the l2 penalty; the bias, last, is free."""
    width = len(coefficients)
    full = np.empty((width + 1, width + 1))
    _unpack(packed, full)
    for _ in range(limit):
        moved = 0.0
        for i in range(width - 1, -1, -1):
            slope = full[i, width]
            for j in range(width):
                if j != i:
                    slope -= full[i, j] * coefficients[j]
            if i == width - 1:
                new = slope / full[i, i] if full[i, i] > 0.0 else 0.0
            else:
                slope += l2 * centre[i]
                size = max(abs(slope) - 0.5 * l1, 0.0)
                curve = full[i, i] + l2
                new = np.sign(slope) * size / curve if curve > 0.0 else 0.0
            moved = max(moved, abs(new - coefficients[i]) * np.sqrt(full[i, i]))
            coefficients[i] = new
        if moved <= 1e-9 * np.sqrt(full[width, width] + 1e-300):
            break
    return _error(full, coefficients, width)
