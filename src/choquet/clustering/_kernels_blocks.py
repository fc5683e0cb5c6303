"""Compiled sums over blocks of an iVAT image, from the heights alone.

All sums are over positions with weights, so that a point met many times costs one position. The
tables travel as one tuple, `Tables`, because compiled code takes no classes.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from choquet.arrays import FloatArray, IntArray
from choquet.clustering._kernels import counted

Tables = tuple[
    FloatArray,  # heights
    FloatArray,  # before: total weight of the positions before each
    FloatArray,  # left: sum over i < j of weight[i] * iVAT[i, j], by j
    FloatArray,  # right: sum over j >= t of weight[j] * max(heights[t..j]), by t
    FloatArray,  # left_sums: weighted prefix sums of left
    FloatArray,  # right_sums: weighted suffix sums of i -> right[i + 1]
    IntArray,  # previous position of at least the same height, or 0
    IntArray,  # next position of at least the same height, or n
    npt.NDArray[np.int32],  # sparse table of the argmax of heights
]


@counted(lambda heights, weights: 60 * len(heights))
def build(heights: FloatArray, weights: FloatArray) -> Tables:
    """All tables in O(n log n)."""
    n = heights.shape[0]
    before = np.zeros(n + 1)
    for j in range(n):
        before[j + 1] = before[j] + weights[j]
    previous = np.zeros(n, np.int64)
    following = np.full(n, n, np.int64)
    left = np.zeros(n)
    right = np.zeros(n + 1)
    stack = np.empty(n, np.int64)
    top = 0
    for j in range(1, n):
        while top > 0 and heights[stack[top - 1]] < heights[j]:
            top -= 1
        previous[j] = stack[top - 1] if top > 0 else 0
        stack[top] = j
        top += 1
        # From previous[j] on, the largest height up to j is that of j; before, as seen from there.
        left[j] = left[previous[j]] + (before[j] - before[previous[j]]) * heights[j]
    top = 0
    for t in range(n - 1, 0, -1):
        while top > 0 and heights[stack[top - 1]] < heights[t]:
            top -= 1
        following[t] = stack[top - 1] if top > 0 else n
        stack[top] = t
        top += 1
        right[t] = (before[following[t]] - before[t]) * heights[t] + right[following[t]]
    left_sums = np.zeros(n + 1)
    right_sums = np.zeros(n + 1)
    for j in range(n):
        left_sums[j + 1] = left_sums[j] + weights[j] * left[j]
    for i in range(n - 2, -1, -1):
        right_sums[i] = right_sums[i + 1] + weights[i] * right[i + 1]
    levels = 1
    while (1 << levels) <= n:
        levels += 1
    table = np.zeros((levels, n), np.int32)
    table[0] = np.arange(n)
    for k in range(1, levels):
        half = 1 << (k - 1)
        for i in range(n - (1 << k) + 1):
            x, y = table[k - 1, i], table[k - 1, i + half]
            table[k, i] = x if heights[x] >= heights[y] else y
    return heights, before, left, right, left_sums, right_sums, previous, following, table


@counted(lambda *rest: 20)
def argmax(tables: Tables, first: int, last: int) -> int:
    """Position of the largest height in first..last, both included."""
    heights, table = tables[0], tables[8]
    k = 0
    while (2 << k) <= last - first + 1:
        k += 1
    x, y = table[k, first], table[k, last - (1 << k) + 1]
    return int(x if heights[x] >= heights[y] else y)


@counted(lambda *rest: 50)
def within(tables: Tables, a: int, b: int) -> float:
    """Sum of weight[i] * weight[j] * iVAT[i, j] over a <= i < j < b, in O(1)."""
    if b - a < 2:
        return 0.0
    heights, before, left, right, left_sums, right_sums = tables[:6]
    p = argmax(tables, a + 1, b - 1)
    across = heights[p] * (before[p] - before[a]) * (before[b] - before[p])
    # Beyond p, what lies before p looks as it does from p: nothing in the block is higher.
    after = (left_sums[b] - left_sums[p + 1]) - left[p] * (before[b] - before[p + 1])
    ahead = (right_sums[a] - right_sums[p]) - right[p] * (before[p] - before[a])
    return float(max(0.0, across + after + ahead))


@counted(lambda *rest: 50)
def edge_left(tables: Tables, a: int, m: int) -> float:
    """Sum over the rows of a..m-1 of |iVAT[i, m-1] - iVAT[i, m]|."""
    heights, before, left = tables[:3]
    # Rows see a contrast only back to the nearest position of at least the same height.
    i = max(a, tables[6][m])
    total = (before[m] - before[i]) * heights[m]
    if i < m - 1:
        p = argmax(tables, i + 1, m - 1)
        total -= (before[p] - before[i]) * heights[p] + (left[m - 1] - left[p])
    return float(total)


@counted(lambda *rest: 50)
def edge_right(tables: Tables, m: int, b: int) -> float:
    """Sum over the rows of m..b-1 of |iVAT[i, m-1] - iVAT[i, m]|."""
    heights, before, right = tables[0], tables[1], tables[3]
    j = min(b, tables[7][m])
    total = (before[j] - before[m]) * heights[m]
    if m + 1 < j:
        p = argmax(tables, m + 1, j - 1)
        total -= (right[m + 1] - right[p]) + (before[j] - before[p]) * heights[p]
    return float(total)


@counted(lambda *rest: 100)
def edge(tables: Tables, a: int, m: int, b: int) -> float:
    """Mean over the rows of a..b-1 of |iVAT[i, m-1] - iVAT[i, m]|: the contrast of a cut at m."""
    rows = tables[1][b] - tables[1][a]
    return float((edge_left(tables, a, m) + edge_right(tables, m, b)) / rows)


@counted(lambda tables, edges: 100 * len(edges) ** 2)
def picture(tables: Tables, edges: IntArray) -> FloatArray:
    """Mean of iVAT over every pair of intervals edges[k]..edges[k+1] of positions."""
    heights, before = tables[:2]
    size = edges.shape[0] - 1
    inner = np.zeros(size)
    for k in range(size):
        if edges[k + 1] - edges[k] > 1:
            inner[k] = heights[argmax(tables, edges[k] + 1, edges[k + 1] - 1)]
    pixels = np.zeros((size, size))
    for r in range(size):
        a, b = edges[r], edges[r + 1]
        width = before[b] - before[a]
        pixels[r, r] = 2.0 * within(tables, a, b) / (width * width)
        between = 0.0
        for k in range(r + 1, size):
            c, d = edges[k], edges[k + 1]
            # The largest height from one interval to the next; where it tops both, all is equal.
            between = max(between, heights[c] if k == r + 1 else max(inner[k - 1], heights[c]))
            value = between
            if between < inner[r] or between < inner[k]:
                total = within(tables, a, d) - within(tables, a, c)
                total += within(tables, b, c) - within(tables, b, d)
                value = max(between, total / (width * (before[d] - before[c])))
            pixels[r, k] = value
            pixels[k, r] = value
    return pixels


@counted(lambda heights: len(heights) ** 2)
def full_image(heights: FloatArray) -> FloatArray:
    """The whole iVAT matrix in order."""
    n = heights.shape[0]
    image = np.zeros((n, n))
    for i in range(n):
        largest = 0.0
        for j in range(i + 1, n):
            largest = max(largest, heights[j])
            image[i, j] = largest
    for i in range(n):
        for j in range(i):
            image[i, j] = image[j, i]
    return image
