"""Compiled loops of the learning room. Import this module inside functions: Numba loads slowly."""

from __future__ import annotations

import numpy as np
from numba import njit

__all__ = ["accumulate", "lattice_step", "sum_runs"]


@njit(cache=True, inline="always")
def _add(pair, k, term):
    # Error-free sum (Knuth): the lost bits go to the second column, so that the order of the
    # terms leaves no trace in the rounded total. Fast-math would undo it.
    old = pair[k, 0]
    new = old + term
    back = new - old
    pair[k, 1] += (old - (new - back)) + (term - back)
    pair[k, 0] = new


@njit(cache=True)
def accumulate(X, y, weight, gram, targets, sums, totals, counts):
    """Add every row's gap products to tables indexed by ternary pair code and by mask."""
    n_samples, n_sources = X.shape
    powers = np.empty(n_sources, np.int64)
    powers[0] = 1
    for i in range(1, n_sources):
        powers[i] = 3 * powers[i - 1]
    order = np.empty(n_sources, np.int64)
    masks = np.empty(n_sources, np.int64)
    codes = np.empty(n_sources, np.int64)
    gaps = np.empty(n_sources)
    for m in range(n_samples):
        w = weight[m]
        if w == 0.0:
            continue
        for i in range(n_sources):
            k = i
            while k > 0 and X[m, order[k - 1]] < X[m, i]:
                order[k] = order[k - 1]
                k -= 1
            order[k] = i
        mask = 0
        code = 0
        kept = 0
        for j in range(n_sources):
            source = order[j]
            mask |= 1 << source
            code += powers[source]
            gap = X[m, source]
            if j + 1 < n_sources:
                gap -= X[m, order[j + 1]]
            if gap != 0.0:
                masks[kept] = mask
                codes[kept] = code
                gaps[kept] = gap
                kept += 1
        for a in range(kept):
            scaled = w * gaps[a]
            _add(sums, masks[a], scaled)
            _add(targets, masks[a], scaled * y[m])
            counts[masks[a]] += 1
            for b in range(a, kept):
                _add(gram, codes[a] + codes[b], scaled * gaps[b])
        _add(totals, 0, w)
        _add(totals, 1, w * y[m])
        _add(totals, 2, w * y[m] * y[m])


@njit(cache=True)
def sum_runs(labels, values, carried, out):
    """Sum `values + carried` over runs of equal labels into the rows of `out`, error-free."""
    for k in range(len(labels)):
        _add(out, labels[k], values[k])
        _add(out, labels[k], carried[k])


@njit(cache=True)
def lattice_step(g, copies, duals, total, alpha):
    """Project each source's copy onto its ordered pairs; return squared primal and dual changes.

    Monotonicity along one source is 2**(N-1) independent pairs: a pair out of order moves to its
    mean. `total` receives the sum over sources of copy minus dual.
    """
    n_sources = copies.shape[0]
    n = len(g)
    primal = 0.0
    dual = 0.0
    for a in range(n):
        total[a] = 0.0
    for i in range(n_sources):
        bit = 1 << i
        copy = copies[i]
        u = duals[i]
        for block in range(0, n, 2 * bit):
            for a in range(block, block + bit):
                b = a + bit
                low = alpha * g[a] + (1 - alpha) * copy[a] + u[a]
                high = alpha * g[b] + (1 - alpha) * copy[b] + u[b]
                # Without a branch the loop vectorises: half the overlap moves to either side.
                shift = 0.5 * max(low - high, 0.0)
                new_low = low - shift
                new_high = high + shift
                dual += (new_low - copy[a]) ** 2 + (new_high - copy[b]) ** 2
                primal += (g[a] - new_low) ** 2 + (g[b] - new_high) ** 2
                copy[a] = new_low
                copy[b] = new_high
                u[a] = shift
                u[b] = -shift
                total[a] += new_low - shift
                total[b] += new_high + shift
    return primal, dual
