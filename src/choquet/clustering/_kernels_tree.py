"""Compiled kd-tree and the searches of Borůvka's algorithm on it.

In every round each component looks for its shortest edge to another one. Nodes of the tree that
lie in one component are skipped by its points; a point remembers how near its nearest stranger can
be at best, and is not asked again while its component already knows something shorter.
"""

from __future__ import annotations

import numpy as np

from choquet.arrays import FloatArray, IntArray
from choquet.clustering._kernels import HUGE, compiled, gap

LEAF = 12
"""Points of a leaf, at most."""
Tree = tuple[
    FloatArray,  # points in the order of the tree
    IntArray,  # first point of each node
    IntArray,  # one past its last
    FloatArray,  # lower corner of its box
    FloatArray,  # upper corner
]


@compiled
def plant(points: FloatArray) -> tuple[Tree, IntArray]:
    """Balanced tree by medians along the widest side; node k has children 2k+1 and 2k+2.

    Returns the tree and the original number of each point in it.
    """
    n, dim = points.shape
    levels = 0
    while (n >> levels) > LEAF:
        levels += 1
    n_nodes = (2 << levels) - 1
    first = np.zeros(n_nodes, np.int64)
    last = np.zeros(n_nodes, np.int64)
    lower = np.empty((n_nodes, dim))
    upper = np.empty((n_nodes, dim))
    ids = np.arange(n)
    last[0] = n
    for node in range(n_nodes):
        low, high = first[node], last[node]
        for k in range(dim):
            smallest, largest = HUGE, -HUGE
            for i in range(low, high):
                value = points[ids[i], k]
                smallest = min(smallest, value)
                largest = max(largest, value)
            lower[node, k], upper[node, k] = smallest, largest
        if 2 * node + 2 < n_nodes:
            axis = int(np.argmax(upper[node] - lower[node]))
            middle = (low + high) // 2
            keys = points[ids[low:high], axis]
            ids[low:high] = ids[low:high][np.argsort(keys, kind="mergesort")]
            first[2 * node + 1], last[2 * node + 1] = low, middle
            first[2 * node + 2], last[2 * node + 2] = middle, high
    return (points[ids], first, last, lower, upper), ids


@compiled
def label_nodes(tree: Tree, component: IntArray) -> IntArray:
    """The component of all points of a node, or -1 if there are several."""
    first, last = tree[1], tree[2]
    n_nodes = first.shape[0]
    owner = np.full(n_nodes, -1)
    for node in range(n_nodes - 1, -1, -1):
        if 2 * node + 2 < n_nodes:
            if owner[2 * node + 1] == owner[2 * node + 2]:
                owner[node] = owner[2 * node + 1]
        else:
            label = component[first[node]]
            for i in range(first[node] + 1, last[node]):
                if component[i] != label:
                    label = -1
                    break
            owner[node] = label
    return owner


@compiled
def gap_to_box(point: FloatArray, lower: FloatArray, upper: FloatArray, p: float) -> float:
    """Smallest `gap` of a point to a box."""
    total = 0.0
    for k in range(point.shape[0]):
        t = max(0.0, lower[k] - point[k], point[k] - upper[k])
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
def nearest_stranger(
    tree: Tree,
    owner: IntArray,
    component: IntArray,
    i: int,
    bound: float,
    p: float,
    stack: IntArray,
    reach: FloatArray,
) -> tuple[float, int]:
    """Nearest point of another component closer than `bound`, or (bound, -1)."""
    points, first, last, lower, upper = tree
    n_nodes = first.shape[0]
    own = component[i]
    point = points[i]
    best, found = bound, -1
    stack[0] = 0
    reach[0] = 0.0
    top = 1
    while top > 0:
        top -= 1
        node = stack[top]
        if reach[top] >= best:
            continue
        child = 2 * node + 1
        if child >= n_nodes:
            for j in range(first[node], last[node]):
                if component[j] != own:
                    away = gap(point, points[j], p)
                    if away < best:
                        best, found = away, j
            continue
        left, right = HUGE, HUGE
        if owner[child] != own:
            left = gap_to_box(point, lower[child], upper[child], p)
        if owner[child + 1] != own:
            right = gap_to_box(point, lower[child + 1], upper[child + 1], p)
        # The nearer child goes on top of the stack; equally near, the one the point lies in.
        if left < right or (left == right and i < last[child]):
            near, near_gap, far, far_gap = child, left, child + 1, right
        else:
            near, near_gap, far, far_gap = child + 1, right, child, left
        if far_gap < best:
            stack[top], reach[top] = far, far_gap
            top += 1
        if near_gap < best:
            stack[top], reach[top] = near, near_gap
            top += 1
    return best, found


@compiled
def search_range(
    tree: Tree,
    owner: IntArray,
    component: IntArray,
    low: int,
    high: int,
    p: float,
    nearest: FloatArray,
    partner: IntArray,
    best: FloatArray,
) -> None:
    """Update the nearest stranger of points low..high-1 where their component may need it.

    `nearest` is exact where `partner` is still a stranger and a lower bound otherwise; `best` holds
    the shortest edge known for each component and belongs to this call alone.
    """
    stack = np.empty(128, np.int64)
    reach = np.empty(128)
    for i in range(low, high):
        own = component[i]
        if partner[i] >= 0 and component[partner[i]] != own:
            continue
        if nearest[i] >= best[own]:
            continue
        away, found = nearest_stranger(tree, owner, component, i, best[own], p, stack, reach)
        nearest[i], partner[i] = away, found
        best[own] = min(best[own], away)


@compiled
def known_edges(component: IntArray, nearest: FloatArray, partner: IntArray) -> FloatArray:
    """Shortest edge of each component among partners that are still strangers.

    Components above the mean size sit the round out, marked by -1: those below it will join them
    anyway, and the large ones are the costly ones to search for.
    """
    n = component.shape[0]
    sizes = np.zeros(n, np.int64)
    for i in range(n):
        sizes[component[i]] += 1
    mean = n / np.count_nonzero(sizes)
    best = np.full(n, HUGE)
    for i in range(n):
        own = component[i]
        if sizes[own] > mean:
            best[own] = -1.0
        elif partner[i] >= 0 and component[partner[i]] != own:
            best[own] = min(best[own], nearest[i])
    return best


@compiled
def join(
    component: IntArray,
    nearest: FloatArray,
    partner: IntArray,
    ends: IntArray,
    weights: FloatArray,
    best: FloatArray,
    n_edges: int,
) -> int:
    """Add the shortest edge of every component that looked for one; the number of edges then."""
    n = component.shape[0]
    choice = np.full(n, -1)
    for i in range(n):
        own = component[i]
        if best[own] < 0.0 or partner[i] < 0 or component[partner[i]] == own:
            continue
        if choice[own] < 0 or nearest[i] < nearest[choice[own]]:
            choice[own] = i
    parent = np.arange(n)
    for own in range(n):
        i = choice[own]
        if i < 0:
            continue
        a, b = own, component[partner[i]]
        while parent[a] != a:
            parent[a] = parent[parent[a]]
            a = parent[a]
        while parent[b] != b:
            parent[b] = parent[parent[b]]
            b = parent[b]
        # Two components may choose the same edge, or equal ones may close a ring: joined once.
        if a != b:
            parent[max(a, b)] = min(a, b)
            ends[n_edges, 0], ends[n_edges, 1] = i, partner[i]
            weights[n_edges] = nearest[i]
            n_edges += 1
    for i in range(n):
        a = component[i]
        while parent[a] != a:
            a = parent[a]
        component[i] = a
    return n_edges
