"""Loops over samples and walks, compiled where there are many."""

import numpy as np

from choquet.lattice.compiling import compiled, compiled_with

_BLOCK = 512
"""Samples handled together: their inputs by column fit the first cache for N up to 8."""


_ROWS = 4096
"""Samples handled together where whole arrays are."""


def _integrate_arrays(g, X, integral, out):
    """As `integrate`, by operations on whole columns."""
    n_samples, n_sources = X.shape
    finite = True
    for first in range(0, n_samples, _ROWS):
        columns = np.array(X[first : first + _ROWS].T, dtype=np.float64, order="C")
        if not np.isfinite(columns).all():
            finite = False
            continue
        sets = np.zeros(columns.shape, np.int32)
        for i in range(n_sources):
            sets[i] |= 1 << i
            for j in range(i):
                first_is_larger = columns[j] >= columns[i]
                sets[i] |= first_is_larger * np.int32(1 << j)
                sets[j] |= ~first_is_larger * np.int32(1 << i)
        total = np.zeros(columns.shape[1])
        for i in range(n_sources):
            if integral == 0:
                total += columns[i] * (g[sets[i]] - g[sets[i] ^ np.int32(1 << i)])
            elif integral == 1:
                np.maximum(total, np.minimum(columns[i], g[sets[i]]), out=total)
            else:
                np.maximum(total, columns[i] * g[sets[i]], out=total)
        out[first : first + _ROWS] = total
    return finite


def _integrate_steps(g, X, integral, out):
    # A call of NumPy costs about as much as three steps, and then little for each number.
    return X.shape[1] ** 2 * (6 + X.shape[0] / 100)


@compiled_with(error_model="numpy", steps=_integrate_steps, plain=_integrate_arrays)
def integrate(g, X, integral, out):
    """Integral of every row of X into `out`; False if an input is not finite.

    For source i the set K of sources that are larger (or equal, and come first) is collected
    bit by bit from comparisons of whole columns, so that nothing is sorted and nothing branches.
    """
    n_samples, n_sources = X.shape
    n_blocks = (n_samples + _BLOCK - 1) // _BLOCK
    finite = True
    for block in range(n_blocks):
        first = block * _BLOCK
        length = min(n_samples, first + _BLOCK) - first
        columns = np.empty((n_sources, _BLOCK))
        sets = np.zeros((n_sources, _BLOCK), np.int32)
        unbounded = 0.0
        for s in range(length):
            for i in range(n_sources):
                value = X[first + s, i]
                columns[i, s] = value
                unbounded += value * 0.0
        finite = finite and unbounded == 0.0
        for i in range(n_sources):
            bit_i = np.int32(1 << i)
            for s in range(length):
                sets[i, s] |= bit_i
            for j in range(i):
                bit_j = np.int32(1 << j)
                for s in range(length):
                    first_is_larger = columns[j, s] >= columns[i, s]
                    sets[i, s] |= bit_j if first_is_larger else np.int32(0)
                    sets[j, s] |= np.int32(0) if first_is_larger else bit_i
        total = np.zeros(_BLOCK)
        for i in range(n_sources):
            bit_i = np.int32(1 << i)
            if integral == 0:
                for s in range(length):
                    k = sets[i, s]
                    total[s] += columns[i, s] * (g[k] - g[k ^ bit_i])
            elif integral == 1:
                for s in range(length):
                    total[s] = max(total[s], min(columns[i, s], g[sets[i, s]]))
            else:
                for s in range(length):
                    total[s] = max(total[s], columns[i, s] * g[sets[i, s]])
        for s in range(length):
            out[first + s] = total[s]
    return finite


@compiled
def _next_sort(sort):
    """Step to the next sort in lexicographic order; return the first position that changed."""
    n = sort.shape[0]
    i = n - 2
    while i >= 0 and sort[i] > sort[i + 1]:
        i -= 1
    if i < 0:
        return -1
    j = n - 1
    while sort[j] < sort[i]:
        j -= 1
    sort[i], sort[j] = sort[j], sort[i]
    low, high = i + 1, n - 1
    while low < high:
        sort[low], sort[high] = sort[high], sort[low]
        low += 1
        high -= 1
    return i


@compiled_with(steps=lambda g, prefixes, rows_each, out: 2 * out.size)
def all_walk_weights(g, prefixes, rows_each, out):
    """Operators of all walks that begin with these prefixes, in lexicographic order."""
    n = out.shape[1]
    depth = prefixes.shape[1]
    for p in range(prefixes.shape[0]):
        sort = np.empty(n, np.int64)
        used = np.zeros(n, np.bool_)
        for j in range(depth):
            sort[j] = prefixes[p, j]
            used[sort[j]] = True
        j = depth
        for i in range(n):
            if not used[i]:
                sort[j] = i
                j += 1
        masks = np.zeros(n + 1, np.int64)
        weights = np.empty(n)
        changed = 0
        for r in range(rows_each):
            # Only what lies behind the first change is computed again.
            for j in range(changed, n):
                masks[j + 1] = masks[j] | (1 << sort[j])
                weights[j] = g[masks[j + 1]] - g[masks[j]]
            row = p * rows_each + r
            for j in range(n):
                out[row, j] = weights[j]
            if r + 1 < rows_each:
                changed = _next_sort(sort)


def _walk_weights_arrays(g, sorts, out):
    """As `walk_weights`, by operations on whole arrays."""
    values = g[np.cumsum(np.left_shift(1, sorts, dtype=np.int64), axis=1)]
    out[:, :1] = values[:, :1]
    out[:, 1:] = values[:, 1:] - values[:, :-1]


@compiled_with(steps=lambda g, sorts, out: 30 + sorts.size / 10, plain=_walk_weights_arrays)
def walk_weights(g, sorts, out):
    """Operator of each walk given by its sort."""
    for r in range(sorts.shape[0]):
        mask, below = 0, 0.0
        for j in range(sorts.shape[1]):
            mask |= 1 << sorts[r, j]
            value = g[mask]
            out[r, j] = value - below
            below = value
