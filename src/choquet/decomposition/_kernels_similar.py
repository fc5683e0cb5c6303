"""Compiled search for the most similar of many sorts."""

from __future__ import annotations

import numpy as np

from choquet.arrays import IntArray
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
