"""Compiled loops over points: spanning trees in O(n) memory, ends of the diameter, maximin samples.

Norms are passed as an exponent p and compared through a monotone form without roots (`gap`, the
sum of p-th powers), which `root` turns into the distance at the end.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar, cast

import numpy as np

from choquet.arrays import FloatArray, IntArray
from choquet.lattice.compiling import compiled_with

F = TypeVar("F", bound=Callable[..., object])

HUGE = 1e300
BLOCK = 1024
"""Points whose distances are computed together: their sums stay in the first-level cache."""


def counted(steps: Callable[..., float] | None) -> Callable[[F], F]:
    """Compile with Numba: NaN never reaches a kernel here, and saying so lets minima vectorise.

    `steps` says how many steps a call takes; few are made in plain Python.
    """

    def loop_of(function: F) -> F:
        return cast(F, compiled_with(fastmath={"nnan", "nsz"}, steps=steps)(function))

    return loop_of


compiled = counted(None)


@counted(lambda value, p: 10)
def root(value: float, p: float) -> float:
    """Distance from the sum of p-th powers."""
    if p == 2.0:
        return float(np.sqrt(value))
    if p == 1.0 or p == np.inf:
        return value
    return float(value ** (1.0 / p))


@counted(lambda x, y, p: 4 * len(x))
def gap(x: FloatArray, y: FloatArray, p: float) -> float:
    """Sum of p-th powers of the differences of two vectors (their largest for p = ∞)."""
    total = 0.0
    for k in range(x.shape[0]):
        t = abs(x[k] - y[k])
        if p == 2.0:
            total += t * t
        elif p == 1.0:
            total += t
        elif p == np.inf:
            total = max(total, t)
        else:
            total += t**p
    return total


@compiled
def gaps_to(
    columns: FloatArray, low: int, high: int, point: FloatArray, p: float, out: FloatArray
) -> None:
    """`gap` of one vector to columns low..high of a coordinates-by-points array, into `out`."""
    size = high - low
    out[:size] = 0.0
    for k in range(columns.shape[0]):
        at = point[k]
        row = columns[k, low:high]
        if p == 2.0:
            for i in range(size):
                t = row[i] - at
                out[i] += t * t
        elif p == 1.0:
            for i in range(size):
                out[i] += abs(row[i] - at)
        elif p == np.inf:
            for i in range(size):
                t = abs(row[i] - at)
                out[i] = t if t > out[i] else out[i]
        else:
            for i in range(size):
                out[i] += abs(row[i] - at) ** p


@counted(lambda points, p, start: len(points) ** 2 * (2 + points.shape[1]))
def prim(points: FloatArray, p: float, start: int) -> tuple[IntArray, FloatArray]:
    """Order of arrival and weight of the attaching edge, by Prim in O(n) memory.

    Points still outside the tree are kept side by side (the last one fills the hole), so that each
    step is a few sweeps over contiguous memory.
    """
    n, dim = points.shape
    columns = points.T.copy()
    ids = np.arange(n)
    key = np.full(n, HUGE)
    order = np.empty(n, np.int64)
    heights = np.zeros(n)
    near = np.empty(BLOCK)
    point = np.empty(dim)
    at, left = start, n
    for r in range(n):
        order[r] = ids[at]
        if r > 0:
            heights[r] = root(key[at], p)
        left -= 1
        for k in range(dim):
            point[k] = columns[k, at]
            columns[k, at] = columns[k, left]
        ids[at] = ids[left]
        key[at] = key[left]
        best = HUGE
        for low in range(0, left, BLOCK):
            high = min(left, low + BLOCK)
            gaps_to(columns, low, high, point, p, near)
            keys = key[low:high]
            smallest = HUGE
            for i in range(high - low):
                keys[i] = min(keys[i], near[i])
                smallest = min(smallest, keys[i])
            if smallest < best:
                best = smallest
                at = low
        # The block is known; where in it the smallest key stands is looked up once per step.
        while at < left and key[at] != best:
            at += 1
    return order, heights


@compiled
def prim_of_matrix(matrix: FloatArray, start: int) -> tuple[IntArray, FloatArray]:
    """Prim on a given matrix of dissimilarities, with O(n) memory beside it."""
    n = matrix.shape[0]
    ids = np.arange(n)
    key = np.full(n, HUGE)
    order = np.empty(n, np.int64)
    heights = np.zeros(n)
    at, left = start, n
    for r in range(n):
        here = ids[at]
        order[r] = here
        if r > 0:
            heights[r] = key[at]
        left -= 1
        ids[at] = ids[left]
        key[at] = key[left]
        best = np.inf
        at = 0
        for i in range(left):
            key[i] = min(key[i], matrix[here, ids[i]])
            # The smallest number wins a tie, so that the answer does not depend on the holes.
            if key[i] < best or (key[i] == best and ids[i] < ids[at]):
                best = key[i]
                at = i
    return order, heights


@counted(lambda points, *rest: len(points) ** 2 * (2 + points.shape[1]))
def diameter(
    points: FloatArray, ranking: IntArray, radius: FloatArray, p: float, known: float
) -> tuple[int, int]:
    """A pair of points at the largest distance.

    `ranking` sorts points by decreasing distance `radius` to some centre. A pair is at most the sum
    of its radii apart, so the scan stops where that falls below `known` or what was found since.
    Points at `known` are found again: it is a lower bound only.
    """
    n = ranking.shape[0]
    best, first, second = known, ranking[0], ranking[0]
    slack = 1.0 + 1e-12
    for a in range(n):
        i = ranking[a]
        if 2.0 * radius[i] * slack < best:
            break
        for b in range(a + 1, n):
            j = ranking[b]
            if (radius[i] + radius[j]) * slack < best:
                break
            distance = root(gap(points[i], points[j], p), p)
            low, high = min(i, j), max(i, j)
            tie = distance == best and (first == second or (low, high) < (first, second))
            if distance > best or tie:
                best, first, second = distance, low, high
    return first, second


@compiled
def maximin(
    points: FloatArray, p: float, start: int, count: int
) -> tuple[IntArray, IntArray, FloatArray]:
    """Farthest-first sample: its points, the nearest of them for every point, and that distance."""
    n, dim = points.shape
    columns = points.T.copy()
    chosen = np.empty(count, np.int64)
    nearest = np.zeros(n, np.int64)
    key = np.full(n, HUGE)
    near = np.empty(BLOCK)
    point = np.empty(dim)
    at = start
    for r in range(count):
        chosen[r] = at
        for k in range(dim):
            point[k] = columns[k, at]
        best = -1.0
        for low in range(0, n, BLOCK):
            high = min(n, low + BLOCK)
            gaps_to(columns, low, high, point, p, near)
            for i in range(high - low):
                if near[i] < key[low + i]:
                    key[low + i] = near[i]
                    nearest[low + i] = r
                if key[low + i] > best:
                    best = key[low + i]
                    at = low + i
    for i in range(n):
        key[i] = root(key[i], p)
    return chosen, nearest, key


@compiled
def distance_sums(
    queries: FloatArray, columns: FloatArray, weights: FloatArray, p: float, sums: FloatArray
) -> None:
    """Σ weight * distance of each query to all points, given as coordinates by points."""
    n = columns.shape[1]
    near = np.empty(BLOCK)
    for q in range(queries.shape[0]):
        total = 0.0
        for low in range(0, n, BLOCK):
            high = min(n, low + BLOCK)
            gaps_to(columns, low, high, queries[q], p, near)
            if p == 2.0:
                for i in range(high - low):
                    near[i] = np.sqrt(near[i])
            elif p != 1.0 and p != np.inf:
                for i in range(high - low):
                    near[i] = near[i] ** (1.0 / p)
            total += np.dot(near[: high - low], weights[low:high])
        sums[q] = total


@compiled
def order_of_tree(
    first: IntArray, neighbour: IntArray, weight: FloatArray, start: int
) -> tuple[IntArray, FloatArray]:
    """Prim's order on a given tree in adjacency form, by a binary heap: O(n log n)."""
    n = first.shape[0] - 1
    capacity = neighbour.shape[0] + 1
    heap_weight = np.empty(capacity)
    heap_point = np.empty(capacity, np.int64)
    seen = np.zeros(n, np.bool_)
    order = np.empty(n, np.int64)
    heights = np.zeros(n)
    heap_weight[0] = 0.0
    heap_point[0] = start
    size, arrived = 1, 0
    while size > 0:
        height, here = heap_weight[0], heap_point[0]
        size -= 1
        last_weight, last_point = heap_weight[size], heap_point[size]
        i = 0
        while 2 * i + 1 < size:
            child = 2 * i + 1
            if child + 1 < size and (heap_weight[child + 1], heap_point[child + 1]) < (
                heap_weight[child],
                heap_point[child],
            ):
                child += 1
            if (heap_weight[child], heap_point[child]) >= (last_weight, last_point):
                break
            heap_weight[i], heap_point[i] = heap_weight[child], heap_point[child]
            i = child
        heap_weight[i], heap_point[i] = last_weight, last_point
        if seen[here]:
            continue
        seen[here] = True
        order[arrived], heights[arrived] = here, height
        arrived += 1
        for edge in range(first[here], first[here + 1]):
            to = neighbour[edge]
            if not seen[to]:
                i = size
                size += 1
                while i > 0 and (heap_weight[(i - 1) // 2], heap_point[(i - 1) // 2]) > (
                    weight[edge],
                    to,
                ):
                    heap_weight[i], heap_point[i] = (
                        heap_weight[(i - 1) // 2],
                        heap_point[(i - 1) // 2],
                    )
                    i = (i - 1) // 2
                heap_weight[i], heap_point[i] = weight[edge], to
    return order, heights
