"""Compiled loops: the most similar of many sorts, and groups of operators in boxes."""

from __future__ import annotations

import numpy as np

from choquet.arrays import FloatArray, IntArray
from choquet.clustering._kernels import compiled


@compiled
def most_similar(sorts: IntArray, candidates: IntArray) -> IntArray:
    """Number of the candidate that shares most sets with each sort, then the nearest order.

    The first j sources are the same set as soon as the largest rank among the candidate's first j
    is j - 1, so one pass counts shared sets and the total displacement of sources.
    """
    n, n_sources = sorts.shape
    best = np.zeros(n, np.int64)
    rank = np.empty(n_sources, np.int64)
    for r in range(n):
        for j in range(n_sources):
            rank[sorts[r, j]] = j
        most = -1
        for c in range(candidates.shape[0]):
            furthest, shared, moved = -1, 0, 0
            for j in range(n_sources):
                at = rank[candidates[c, j]]
                furthest = max(furthest, at)
                if furthest == j:
                    shared += 1
                moved += abs(at - j)
            # The displacement is below N² and only breaks ties.
            score = shared * n_sources * n_sources - moved
            if c == 0 or score > most:
                most = score
                best[r] = c
    return best


@compiled
def group_in_order(levels: FloatArray, side: float) -> IntArray:
    """Put each row into the box it widens least, no box wider than `side`, or into a new one."""
    n, width = levels.shape
    labels = np.empty(n, np.int64)
    low, high = np.empty((16, width)), np.empty((16, width))
    n_groups = 0
    for r in range(n):
        best, chosen = np.inf, -1
        for k in range(n_groups):
            widest, growth = 0.0, 0.0
            for j in range(width):
                a, b = min(low[k, j], levels[r, j]), max(high[k, j], levels[r, j])
                widest = max(widest, b - a)
                growth += (b - a) - (high[k, j] - low[k, j])
                if widest > side:
                    break
            if widest <= side and growth < best:
                best, chosen = growth, k
        if chosen < 0:
            if n_groups == low.shape[0]:
                low = np.concatenate((low, np.empty((n_groups, width))))
                high = np.concatenate((high, np.empty((n_groups, width))))
            chosen = n_groups
            low[chosen], high[chosen] = levels[r], levels[r]
            n_groups += 1
        for j in range(width):
            low[chosen, j] = min(low[chosen, j], levels[r, j])
            high[chosen, j] = max(high[chosen, j], levels[r, j])
        labels[r] = chosen
    return labels
