"""Compiled search for CLODD partitions. A partition is its boundaries: 0, the cuts, n."""

from __future__ import annotations

import numpy as np

from choquet.arrays import FloatArray, IntArray
from choquet.clustering._kernels import counted
from choquet.clustering._kernels_blocks import Tables, edge, within

EPS = 1e-12
"""Smallest gain for which a search moves on: below is rounding."""


def _search_steps(tables, cuts, candidates, *rest):  # type: ignore[no-untyped-def]
    # About 2,400 a candidate; a tenth of it, for this loop takes ten seconds to compile.
    return 240 * len(candidates)


@counted(lambda *rest: 10)
def spline(smallest: float, reach: float) -> float:
    """Penalty for a smallest block: 0 for a single point, 1 from `reach` on; off when reach = 0."""
    if reach <= 0.0:
        return 1.0
    if smallest <= 1.0:
        return 0.0
    if smallest >= reach:
        return 1.0
    if smallest <= reach / 2.0:
        return 2.0 * (smallest / reach) ** 2
    return 1.0 - 2.0 * ((reach - smallest) / reach) ** 2


@counted(lambda *rest: 80)
def contrast(tables: Tables, inside: float, pairs: float) -> float:
    """Mean between blocks minus mean within, from the sum and the number of pairs within."""
    before = tables[1]
    n = before.shape[0] - 1
    all_pairs = before[n] * (before[n] - 1.0) / 2.0
    if pairs <= 0.0 or pairs >= all_pairs:
        return 0.0
    return float((within(tables, 0, n) - inside) / (all_pairs - pairs) - inside / pairs)


@counted(lambda tables, bounds, *rest: 200 * len(bounds))
def evaluate(
    tables: Tables, bounds: IntArray, alpha: float, reach: float
) -> tuple[float, float, float]:
    """Objective, squareness and edginess of one partition, in O(number of blocks)."""
    before = tables[1]
    c = bounds.shape[0] - 1
    inside, pairs, edges = 0.0, 0.0, 0.0
    smallest = np.inf
    for k in range(c):
        size = before[bounds[k + 1]] - before[bounds[k]]
        inside += within(tables, bounds[k], bounds[k + 1])
        pairs += size * (size - 1.0) / 2.0
        smallest = min(smallest, size)
        if k > 0:
            edges += edge(tables, bounds[k - 1], bounds[k], bounds[k + 1])
    squareness = contrast(tables, inside, pairs)
    edginess = edges / (c - 1) if c > 1 else 0.0
    score = spline(smallest, reach) * (alpha * squareness + (1.0 - alpha) * edginess)
    return score, squareness, edginess


@counted(lambda tables, bounds, *rest: 200 * bounds.size)
def evaluate_many(tables: Tables, bounds: IntArray, alpha: float, reach: float) -> FloatArray:
    """Objective of each row of boundaries; rows that repeat a boundary are no partitions: -1."""
    scores = np.full(bounds.shape[0], -1.0)
    for i in range(bounds.shape[0]):
        proper = True
        for k in range(1, bounds.shape[1]):
            proper = proper and bounds[i, k] > bounds[i, k - 1]
        if proper:
            scores[i] = evaluate(tables, bounds[i], alpha, reach)[0]
    return scores


@counted(lambda tables, ranking, *rest: 30 * len(ranking))
def greedy_cuts(tables: Tables, ranking: IntArray, least: float, count: int) -> IntArray:
    """Up to `count` cuts, the highest first, that leave no block smaller than `least`."""
    before = tables[1]
    n = before.shape[0] - 1
    bounds = np.empty(count + 2, np.int64)
    bounds[0], bounds[1] = 0, n
    cuts = np.empty(count, np.int64)
    found = 0
    for x in ranking:
        if found == count:
            break
        k = np.searchsorted(bounds[: found + 2], x)
        if before[x] - before[bounds[k - 1]] < least or before[bounds[k]] - before[x] < least:
            continue
        for q in range(found + 2, k, -1):
            bounds[q] = bounds[q - 1]
        bounds[k] = x
        cuts[found] = x
        found += 1
    return cuts[:found]


@counted(lambda tables, bounds, *rest: 200 * len(bounds))
def summarise(tables: Tables, bounds: IntArray, c: int, blocks: FloatArray) -> None:
    """Per block: sum inside, size, edge at its start, and the smallest size before and after it."""
    before = tables[1]
    blocks[3, 0] = np.inf
    blocks[4, c] = np.inf
    for k in range(c):
        blocks[0, k] = within(tables, bounds[k], bounds[k + 1])
        blocks[1, k] = before[bounds[k + 1]] - before[bounds[k]]
        blocks[2, k] = edge(tables, bounds[k - 1], bounds[k], bounds[k + 1]) if k > 0 else 0.0
        blocks[3, k + 1] = min(blocks[3, k], blocks[1, k])
    for k in range(c - 1, -1, -1):
        blocks[4, k] = min(blocks[4, k + 1], blocks[1, k])


@counted(lambda *rest: 400)
def after_change(
    tables: Tables,
    bounds: IntArray,
    c: int,
    blocks: FloatArray,
    totals: FloatArray,
    low: int,
    high: int,
    x: int,
    alpha: float,
    reach: float,
) -> float:
    """Objective when blocks low..high become one (x < 0) or two (cut at x), in O(1).

    Inserting, moving and deleting a cut are all of this kind: only the sums of those blocks and
    the edges at their ends change.
    """
    before = tables[1]
    inside, pairs, edges = totals[0], totals[1], totals[2]
    for k in range(low, high + 1):
        inside -= blocks[0, k]
        pairs -= blocks[1, k] * (blocks[1, k] - 1.0) / 2.0
        edges -= blocks[2, k]
    start, end = bounds[low], bounds[high + 1]
    first_end = end if x < 0 else x
    last_start = start if x < 0 else x
    smallest = min(blocks[3, low], blocks[4, high + 1])
    size = before[first_end] - before[start]
    smallest = min(smallest, size)
    inside += within(tables, start, first_end)
    pairs += size * (size - 1.0) / 2.0
    if x >= 0:
        size = before[end] - before[x]
        smallest = min(smallest, size)
        inside += within(tables, x, end)
        pairs += size * (size - 1.0) / 2.0
        edges += edge(tables, start, x, end)
    if low > 0:
        edges += edge(tables, bounds[low - 1], start, first_end)
    if high + 1 < c:
        edges += edge(tables, last_start, end, bounds[high + 2]) - blocks[2, high + 1]
    after = c - (high - low + 1) + (2 if x >= 0 else 1)
    edginess = edges / (after - 1) if after > 1 else 0.0
    value = alpha * contrast(tables, inside, pairs) + (1.0 - alpha) * edginess
    return float(spline(smallest, reach) * value)


@counted(_search_steps)
def local_search(
    tables: Tables,
    cuts: IntArray,
    candidates: IntArray,
    alpha: float,
    reach: float,
    most: int,
    scores: FloatArray,
) -> IntArray:
    """Best boundaries reached by inserting, moving and deleting one cut at a time.

    `candidates` are the sorted positions where cuts may stand; `scores` collects the best value
    met for every number of blocks, of which there are at most `most`.
    """
    n = tables[1].shape[0] - 1
    c = cuts.shape[0] + 1
    bounds = np.zeros(most + 2, np.int64)
    for q in range(c - 1):
        bounds[q + 1] = cuts[q]
    bounds[c] = n
    blocks = np.zeros((5, most + 2))
    totals = np.zeros(3)
    best = evaluate(tables, bounds[: c + 1], alpha, reach)[0]
    scores[c] = max(scores[c], best)
    # Arrays are changed one number at a time: parts of arrays take seconds to compile.
    while True:
        summarise(tables, bounds, c, blocks)
        totals[0], totals[1], totals[2] = 0.0, 0.0, 0.0
        for k in range(c):
            totals[0] += blocks[0, k]
            totals[1] += blocks[1, k] * (blocks[1, k] - 1.0) / 2.0
            totals[2] += blocks[2, k]
        goal, to_low, to_high, to_x = best + EPS, -1, -1, -1
        for k in range(1, c if c > 2 else 1):
            value = after_change(tables, bounds, c, blocks, totals, k - 1, k, -1, alpha, reach)
            scores[c - 1] = max(scores[c - 1], value)
            if value > goal:
                goal, to_low, to_high, to_x = value, k - 1, k, -1
        k = 0
        for x in candidates:
            while bounds[k + 1] <= x:
                k += 1
            if bounds[k] == x:
                continue
            for low in range(max(0, k - 1), min(k, c - 2) + 1):
                value = after_change(
                    tables, bounds, c, blocks, totals, low, low + 1, x, alpha, reach
                )
                scores[c] = max(scores[c], value)
                if value > goal:
                    goal, to_low, to_high, to_x = value, low, low + 1, x
            if c < most:
                value = after_change(tables, bounds, c, blocks, totals, k, k, x, alpha, reach)
                scores[c + 1] = max(scores[c + 1], value)
                if value > goal:
                    goal, to_low, to_high, to_x = value, k, k, x
        if to_low < 0:
            return bounds[: c + 1].copy()
        # Boundaries to_low + 1 .. to_high go; to_x comes in their place.
        fewer = to_high - to_low - (1 if to_x >= 0 else 0)
        if fewer < 0:
            for q in range(c, to_low, -1):
                bounds[q + 1] = bounds[q]
        elif fewer > 0:
            for q in range(to_high + 1, c + 1):
                bounds[q - fewer] = bounds[q]
        if to_x >= 0:
            bounds[to_low + 1] = to_x
        c -= fewer
        best = evaluate(tables, bounds[: c + 1], alpha, reach)[0]
