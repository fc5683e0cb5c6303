"""Compiled enumeration and dynamic programs over all CLODD partitions, for small problems."""

from __future__ import annotations

import numpy as np

from choquet.arrays import FloatArray, IntArray
from choquet.clustering._kernels import compiled
from choquet.clustering._kernels_blocks import Tables, edge_left, edge_right, within
from choquet.clustering._kernels_clodd import evaluate


@compiled
def enumerate_all(
    tables: Tables, alpha: float, reach: float, most: int, scores: FloatArray
) -> IntArray:
    """Best boundaries over every partition into 2..most blocks, one after the other."""
    n = tables[1].shape[0] - 1
    best = -1.0
    answer = np.array([0, n])
    for c in range(2, most + 1):
        bounds = np.arange(c + 1)
        bounds[c] = n
        while True:
            value = evaluate(tables, bounds, alpha, reach)[0]
            scores[c] = max(scores[c], value)
            if value > best:
                best = value
                answer = bounds.copy()
            k = c - 1
            while k > 0 and bounds[k] == n - c + k:
                k -= 1
            if k == 0:
                break
            bounds[k] += 1
            for q in range(k + 1, c):
                bounds[q] = bounds[q - 1] + 1
    return answer


@compiled
def block_tables(tables: Tables) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Sum within, left edge and right edge of every block, for the dynamic programs."""
    n = tables[1].shape[0] - 1
    sums = np.zeros((n + 1, n + 1))
    lefts = np.zeros((n + 1, n + 1))
    rights = np.zeros((n + 1, n + 1))
    for i in range(n):
        for j in range(i + 1, n + 1):
            sums[i, j] = within(tables, i, j)
            if j < n:
                lefts[i, j] = edge_left(tables, i, j)
            if i > 0:
                rights[i, j] = edge_right(tables, i, j)
    return sums, lefts, rights


@compiled
def best_blocks(
    before: FloatArray, sums: FloatArray, c: int, least: float, slope: float
) -> IntArray:
    """Boundaries of c blocks of at least that size that maximise Σ slope * pairs - sum inside."""
    n = before.shape[0] - 1
    value = np.full((c + 1, n + 1), -np.inf)
    came = np.full((c + 1, n + 1), -1)
    value[0, 0] = 0.0
    for k in range(1, c + 1):
        for j in range(k, n + 1):
            for i in range(k - 1, j):
                size = before[j] - before[i]
                if size < least:
                    break
                if value[k - 1, i] == -np.inf:
                    continue
                v = value[k - 1, i] + slope * size * (size - 1.0) / 2.0 - sums[i, j]
                if v > value[k, j]:
                    value[k, j] = v
                    came[k, j] = i
    if came[c, n] < 0:
        return np.zeros(0, np.int64)
    bounds = np.empty(c + 1, np.int64)
    bounds[c] = n
    for k in range(c, 0, -1):
        bounds[k - 1] = came[k, bounds[k]]
    return bounds


@compiled
def prefix_values(
    before: FloatArray,
    sums: FloatArray,
    lefts: FloatArray,
    rights: FloatArray,
    c: int,
    least: float,
    slope: float,
    price: float,
    gain: float,
) -> FloatArray:
    """Best Σ slope * pairs - price * inside + gain * edges, by number of blocks and last block.

    An edge depends on two blocks, so the state is the last block: O(c n³). Blocks are of at least
    the least size; only the last number c needs to end at n.
    """
    n = before.shape[0] - 1
    values = np.full((c + 1, n + 1, n + 1), -np.inf)
    for j in range(1, n + 1):
        size = before[j]
        if size >= least:
            values[1, 0, j] = slope * size * (size - 1.0) / 2.0 - price * sums[0, j]
    for k in range(2, c + 1):
        for j in range(k - 1, n):
            for e in range(n if k == c else j + 1, n + 1):
                size = before[e] - before[j]
                if size < least:
                    continue
                best = -np.inf
                for i in range(k - 2, j):
                    edges = (lefts[i, j] + rights[j, e]) / (before[e] - before[i])
                    best = max(best, values[k - 1, i, j] + gain * edges)
                own = slope * size * (size - 1.0) / 2.0 - price * sums[j, e]
                values[k, j, e] = best + own
    return values


@compiled
def list_above(
    tables: Tables,
    blocks: tuple[FloatArray, FloatArray, FloatArray],
    values: FloatArray,
    terms: tuple[float, float, float],
    alpha: float,
    above: float,
    margin: float,
    limit: int,
) -> tuple[bool, float, IntArray]:
    """Score every partition whose relaxed value exceeds what is known by more than `margin` allows.

    `values` are `prefix_values` for the slope, price and gain in `terms`; a partition can score
    more than `above` only if its relaxed value exceeds above - margin. Those are listed from the
    last block to the first. Returns whether all were seen before `limit` steps, and the best.
    """
    sums, lefts, rights = blocks
    slope, price, gain = terms
    before = tables[1]
    c, n = values.shape[0] - 1, values.shape[1] - 1
    best, answer = above, np.zeros(0, np.int64)
    bounds = np.empty(c + 1, np.int64)
    bounds[c] = n
    # Per level: the start to try next, and the value of all blocks and edges to the right of it.
    trial = np.zeros(c + 2, np.int64)
    right_of = np.zeros(c + 2)
    trial[c] = n - 1
    k = c
    for _ in range(limit):
        if k > c:
            return True, best, answer
        i = trial[k]
        trial[k] -= 1
        if i < 0:
            k += 1
            continue
        end = bounds[k]
        if values[k, i, end] == -np.inf:
            continue
        rest = right_of[k]
        if k < c:
            after = bounds[k + 1]
            rest += gain * (lefts[i, end] + rights[end, after]) / (before[after] - before[i])
        if values[k, i, end] + rest <= best - margin:
            continue
        bounds[k - 1] = i
        if k == 1:
            score = evaluate(tables, bounds, alpha, 0.0)[0]
            if score > best:
                best, answer = score, bounds.copy()
            continue
        size = before[end] - before[i]
        right_of[k - 1] = rest + slope * size * (size - 1.0) / 2.0 - price * sums[i, end]
        trial[k - 1] = i - 1
        k -= 1
    return False, best, answer


@compiled
def best_path(
    before: FloatArray,
    blocks: tuple[FloatArray, FloatArray, FloatArray],
    values: FloatArray,
    gain: float,
) -> tuple[float, IntArray]:
    """The best of `prefix_values` over all of 0..n, and its boundaries (none if there is none)."""
    _, lefts, rights = blocks
    c, n = values.shape[0] - 1, values.shape[1] - 1
    j = int(np.argmax(values[c, :, n]))
    top = values[c, j, n]
    if top == -np.inf:
        return top, np.zeros(0, np.int64)
    bounds = np.empty(c + 1, np.int64)
    bounds[c], bounds[c - 1] = n, j
    for k in range(c - 1, 0, -1):
        start, end = bounds[k], bounds[k + 1]
        best = -np.inf
        for i in range(start):
            edges = (lefts[i, start] + rights[start, end]) / (before[end] - before[i])
            value = values[k, i, start] + gain * edges
            if value > best:
                best = value
                bounds[k - 1] = i
    return top, bounds
