"""Compiled kd-tree and the searches of Borůvka's algorithm on it.

One pass lists the nearest neighbours of every point. In every round each component looks for its
shortest edge to another one: a point goes on in its list past the points of its own component, and
only a point whose list is used up searches the tree again, skipping nodes that lie in its
component. It remembers how near its nearest stranger can be at best, and is not asked again while
its component knows something shorter.

Coordinates are filled up with zeros to eight or twelve, if they are not more. Euclidean distances
of so many are written out: a processor then does four at once. The order of the sums is fixed, so
that all machines agree.
"""

from __future__ import annotations

import numpy as np

from choquet.arrays import FloatArray, IntArray
from choquet.clustering._kernels import HUGE, compiled
from choquet.lattice.compiling import compiled_with

_inside = compiled_with(fastmath={"nnan", "nsz", "reassoc", "contract"}, forceinline=True)
"""For what is done for every pair of points: a call would take longer than its work."""
LEAF = 16
"""Points of a leaf, at most: four times as many as a processor takes at once."""
_AWAY = 1e100
"""A coordinate that nothing is near to, and that can be squared."""
LISTED = 12
"""Neighbours of a point that are listed."""
Tree = tuple[
    FloatArray,  # points in the order of the tree
    IntArray,  # first point of each node; node k has children 2k+1 and 2k+2
    IntArray,  # one past its last
    FloatArray,  # lower corner of its box
    FloatArray,  # upper corner
    FloatArray,  # points by leaf, coordinate and place; far away where a leaf is not full
]


def planted(vectors: FloatArray) -> tuple[Tree, IntArray]:
    """Balanced tree by medians along the widest side, and the number of each point in it."""
    n, dim = vectors.shape
    levels = 0
    while (n >> levels) > LEAF:
        levels += 1
    n_nodes, wide = (2 << levels) - 1, max(4 * (-(-dim // 4)), 8)
    points = np.zeros((n, wide))
    points[:, :dim] = vectors
    first, last = np.zeros(n_nodes, dtype=np.int64), np.zeros(n_nodes, dtype=np.int64)
    corners = np.empty((2, n_nodes, wide))
    ids = np.arange(n)
    cells = np.full(((n_nodes + 1) // 2, wide, LEAF), _AWAY)
    tree = (points, first, last, corners[0], corners[1], cells)
    plant(tree, ids)
    return tree, ids


@compiled
def plant(tree: Tree, ids: IntArray) -> None:
    """Bring points, and their numbers with them, into the order of a tree; fill in its nodes."""
    points, first, last, lower, upper, cells = tree
    n_nodes, dim = lower.shape
    last[0] = points.shape[0]
    for node in range(n_nodes):
        low, high = first[node], last[node]
        for k in range(dim):
            lower[node, k] = upper[node, k] = points[low, k]
        for i in range(low + 1, high):
            for k in range(dim):
                lower[node, k] = min(lower[node, k], points[i, k])
                upper[node, k] = max(upper[node, k], points[i, k])
        if 2 * node + 2 >= n_nodes:
            for i in range(low, high):
                for k in range(dim):
                    cells[node - n_nodes // 2, k, i - low] = points[i, k]
            continue
        axis, widest = 0, -1.0
        for k in range(dim):
            if upper[node, k] - lower[node, k] > widest:
                axis, widest = k, upper[node, k] - lower[node, k]
        middle = (low + high) // 2
        _part(points, ids, axis, low, high - 1, middle)
        first[2 * node + 1], last[2 * node + 1] = low, middle
        first[2 * node + 2], last[2 * node + 2] = middle, high


@compiled
def _part(points: FloatArray, ids: IntArray, axis: int, low: int, high: int, middle: int) -> None:
    """Hoare's selection: what is smaller along an axis before the middle, what is larger after."""
    while low < high:
        a, b, c = points[low, axis], points[(low + high) // 2, axis], points[high, axis]
        pivot = max(min(a, b), min(max(a, b), c))
        i, j = low, high
        while i <= j:
            while points[i, axis] < pivot:
                i += 1
            while points[j, axis] > pivot:
                j -= 1
            if i <= j:
                for k in range(points.shape[1]):
                    held = points[i, k]
                    points[i, k] = points[j, k]
                    points[j, k] = held
                number = ids[i]
                ids[i] = ids[j]
                ids[j] = number
                i += 1
                j -= 1
        if middle <= j:
            high = j
        elif middle >= i:
            low = i
        else:
            return


@_inside
def _gaps(points: FloatArray, i: int, cell: FloatArray, p: float, out: FloatArray) -> None:
    """Sums of p-th powers of the differences of a point to those of a leaf (largest for p = ∞)."""
    wide = points.shape[1]
    if p != 2.0 or wide > 12:
        _gaps_any(points, i, cell, p, out)
        return
    a, b, c, d = points[i, 0], points[i, 1], points[i, 2], points[i, 3]
    e, f, g, h = points[i, 4], points[i, 5], points[i, 6], points[i, 7]
    for m in range(LEAF):
        s, t, u, v = cell[0, m] - a, cell[1, m] - b, cell[2, m] - c, cell[3, m] - d
        w, x, y, z = cell[4, m] - e, cell[5, m] - f, cell[6, m] - g, cell[7, m] - h
        out[m] = (s * s + t * t + u * u + v * v) + (w * w + x * x + y * y + z * z)
    if wide == 12:
        a, b, c, d = points[i, 8], points[i, 9], points[i, 10], points[i, 11]
        for m in range(LEAF):
            s, t, u, v = cell[8, m] - a, cell[9, m] - b, cell[10, m] - c, cell[11, m] - d
            out[m] += s * s + t * t + u * u + v * v


@compiled
def _gaps_any(points: FloatArray, i: int, cell: FloatArray, p: float, out: FloatArray) -> None:
    for m in range(LEAF):
        out[m] = 0.0
    for k in range(points.shape[1]):
        for m in range(LEAF):
            t = abs(cell[k, m] - points[i, k])
            out[m] = max(out[m], t) if p == np.inf else out[m] + _power(t, p)


@compiled
def _power(t: float, p: float) -> float:
    if p == 1.0:
        return t
    return t * t if p == 2.0 else t**p


@_inside
def _outside(at: float, low: float, high: float) -> float:
    """How far a number lies outside an interval."""
    return max(0.0, max(low - at, at - high))


@_inside
def _to_box(
    points: FloatArray, i: int, lower: FloatArray, upper: FloatArray, x: int, p: float
) -> float:
    """Least of it between a point and the box of node x."""
    wide = points.shape[1]
    if p == 2.0 and wide <= 12:
        q0 = _outside(points[i, 0], lower[x, 0], upper[x, 0])
        r0 = _outside(points[i, 1], lower[x, 1], upper[x, 1])
        s0 = _outside(points[i, 2], lower[x, 2], upper[x, 2])
        t0 = _outside(points[i, 3], lower[x, 3], upper[x, 3])
        q1 = _outside(points[i, 4], lower[x, 4], upper[x, 4])
        r1 = _outside(points[i, 5], lower[x, 5], upper[x, 5])
        s1 = _outside(points[i, 6], lower[x, 6], upper[x, 6])
        t1 = _outside(points[i, 7], lower[x, 7], upper[x, 7])
        a = q0 * q0 + q1 * q1
        b = r0 * r0 + r1 * r1
        c = s0 * s0 + s1 * s1
        d = t0 * t0 + t1 * t1
        if wide == 12:
            q0 = _outside(points[i, 8], lower[x, 8], upper[x, 8])
            r0 = _outside(points[i, 9], lower[x, 9], upper[x, 9])
            s0 = _outside(points[i, 10], lower[x, 10], upper[x, 10])
            t0 = _outside(points[i, 11], lower[x, 11], upper[x, 11])
            a += q0 * q0
            b += r0 * r0
            c += s0 * s0
            d += t0 * t0
        return (a + b) + (c + d)
    return _to_box_any(points, i, lower, upper, x, p)


@compiled
def _to_box_any(
    points: FloatArray, i: int, lower: FloatArray, upper: FloatArray, x: int, p: float
) -> float:
    total = 0.0
    for k in range(points.shape[1]):
        t = _outside(points[i, k], lower[x, k], upper[x, k])
        total = max(total, t) if p == np.inf else total + _power(t, p)
    return total


@compiled
def list_neighbours(
    tree: Tree, low: int, high: int, p: float, away: FloatArray, near: IntArray
) -> None:
    """The nearest points of every point in leaves low..high-1, and how far away they are."""
    points, first, last, lower, upper, cells = tree
    n_nodes = first.shape[0]
    stack, reach, gaps = np.empty(128, np.int64), np.empty(128), np.empty(LEAF)
    far, who = np.empty(LISTED), np.empty(LISTED, np.int64)
    end = LISTED - 1
    for leaf in range(low, high):
        for i in range(first[leaf], last[leaf]):
            for m in range(LISTED):
                far[m], who[m] = HUGE, -1
            # From the own leaf upwards, each time into the other half: near points come first.
            node, other = leaf, leaf
            while True:
                edge = _to_box(points, i, lower, upper, other, p)
                top = 0
                if edge < far[end]:
                    stack[0], reach[0], top = other, edge, 1
                while top > 0:
                    top -= 1
                    x = stack[top]
                    if reach[top] >= far[end]:
                        continue
                    child = 2 * x + 1
                    if child >= n_nodes:
                        _gaps(points, i, cells[x - n_nodes // 2], p, gaps)
                        for j in range(first[x], last[x]):
                            gap = gaps[j - first[x]]
                            if gap < far[end] and j != i:
                                m = end
                                while m > 0 and far[m - 1] > gap:
                                    far[m], who[m] = far[m - 1], who[m - 1]
                                    m -= 1
                                far[m], who[m] = gap, j
                        continue
                    left = _to_box(points, i, lower, upper, child, p)
                    right = _to_box(points, i, lower, upper, child + 1, p)
                    nearer = child if left < right else child + 1
                    # The nearer child goes on top of the stack.
                    if max(left, right) < far[end]:
                        stack[top], reach[top] = 2 * child + 1 - nearer, max(left, right)
                        top += 1
                    if min(left, right) < far[end]:
                        stack[top], reach[top] = nearer, min(left, right)
                        top += 1
                if node == 0:
                    break
                other = node + 1 if node % 2 == 1 else node - 1
                node = (node - 1) // 2
            for m in range(LISTED):
                away[i, m], near[i, m] = far[m], who[m]


@compiled
def label_nodes(first: IntArray, last: IntArray, component: IntArray, owner: IntArray) -> None:
    """The component of all points of a node, or -1 if there are several."""
    n_nodes = first.shape[0]
    for node in range(n_nodes - 1, -1, -1):
        label = -1
        if 2 * node + 2 < n_nodes:
            if owner[2 * node + 1] == owner[2 * node + 2]:
                label = owner[2 * node + 1]
        else:
            label = component[first[node]]
            for i in range(first[node] + 1, last[node]):
                if component[i] != label:
                    label = -1
                    break
        owner[node] = label


@compiled
def go_on(
    component: IntArray,
    away: FloatArray,
    near: IntArray,
    at: IntArray,
    nearest: FloatArray,
    partner: IntArray,
    best: FloatArray,
    sizes: IntArray,
) -> None:
    """Go on in the list of every point to a stranger; the shortest edge known by each component.

    `nearest` is exact where there is a partner, and a lower bound otherwise. Components above the
    mean size sit the round out, marked by -1: those below it will join them anyway, and the large
    ones are the costly ones to search for.
    """
    n, count = component.shape[0], 0
    for i in range(n):
        sizes[i] = 0
    for i in range(n):
        count += sizes[component[i]] == 0
        sizes[component[i]] += 1
    for own in range(n):
        best[own] = -1.0 if sizes[own] * count > n else HUGE
    for i in range(n):
        own = component[i]
        if best[own] < 0.0:
            continue
        if partner[i] >= 0 and component[partner[i]] == own:
            partner[i] = -1
        if partner[i] < 0:
            m = at[i]
            while m < LISTED and near[i, m] >= 0 and component[near[i, m]] == own:
                m += 1
            at[i] = m
            if m < LISTED and near[i, m] >= 0:
                partner[i], nearest[i] = near[i, m], away[i, m]
            elif m == LISTED:
                nearest[i] = max(nearest[i], away[i, m - 1])
        if partner[i] >= 0 and nearest[i] < best[own]:
            best[own] = nearest[i]


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
    """Update the nearest stranger of points in leaves low..high-1 where their component needs it.

    `best` holds the shortest edge known for each component and belongs to this call alone.
    """
    points, first, last, lower, upper, cells = tree
    n_nodes = first.shape[0]
    stack, reach, gaps = np.empty(128, np.int64), np.empty(128), np.empty(LEAF)
    for leaf in range(low, high):
        for i in range(first[leaf], last[leaf]):
            own = component[i]
            if partner[i] >= 0 or nearest[i] >= best[own]:
                continue
            bound, found = best[own], -1
            node, other = leaf, leaf
            while True:
                top = 0
                if owner[other] != own:
                    edge = _to_box(points, i, lower, upper, other, p)
                    if edge < bound:
                        stack[0], reach[0], top = other, edge, 1
                while top > 0:
                    top -= 1
                    x = stack[top]
                    if reach[top] >= bound:
                        continue
                    child = 2 * x + 1
                    if child >= n_nodes:
                        _gaps(points, i, cells[x - n_nodes // 2], p, gaps)
                        for j in range(first[x], last[x]):
                            if gaps[j - first[x]] < bound and component[j] != own:
                                bound, found = gaps[j - first[x]], j
                        continue
                    left, right = HUGE, HUGE
                    if owner[child] != own:
                        left = _to_box(points, i, lower, upper, child, p)
                    if owner[child + 1] != own:
                        right = _to_box(points, i, lower, upper, child + 1, p)
                    nearer = child if left < right else child + 1
                    if max(left, right) < bound:
                        stack[top], reach[top] = 2 * child + 1 - nearer, max(left, right)
                        top += 1
                    if min(left, right) < bound:
                        stack[top], reach[top] = nearer, min(left, right)
                        top += 1
                if node == 0:
                    break
                other = node + 1 if node % 2 == 1 else node - 1
                node = (node - 1) // 2
            nearest[i], partner[i] = bound, found
            best[own] = min(best[own], bound)


@compiled
def join(
    component: IntArray,
    nearest: FloatArray,
    partner: IntArray,
    ends: IntArray,
    weights: FloatArray,
    best: FloatArray,
    choice: IntArray,
    parent: IntArray,
    n_edges: int,
) -> int:
    """Add the shortest edge of every component that looked for one; the number of edges then."""
    n = component.shape[0]
    for i in range(n):
        choice[i] = -1
        parent[i] = i
    for i in range(n):
        own = component[i]
        if best[own] < 0.0 or partner[i] < 0:
            continue
        if choice[own] < 0 or nearest[i] < nearest[choice[own]]:
            choice[own] = i
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
