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
import numpy.typing as npt

from choquet.arrays import FloatArray, IntArray
from choquet.clustering._kernels import HUGE, compiled
from choquet.lattice.compiling import compiled_with

_inside = compiled_with(fastmath={"nnan", "nsz", "reassoc", "contract"}, forceinline=True)
"""For what is done for every pair of points: a call would take longer than its work."""
LEAF = 24
"""Points of a leaf, at most: six times as many as a processor takes at once."""
_AWAY = 1e100
"""A coordinate that nothing is near to, and that can be squared."""
LISTED = 14
"""Neighbours of a point that are listed."""
Tree = tuple[
    FloatArray,  # points in the order of the tree
    IntArray,  # first point of each node; node k has children 2k+1 and 2k+2
    IntArray,  # one past its last
    FloatArray,  # lower corner of its box
    FloatArray,  # upper corner
    FloatArray,  # points by leaf, coordinate and place; far away where a leaf is not full
    FloatArray,  # corners of the eight boxes three levels below a node, by coordinate
]

Near = npt.NDArray[np.int32]
"""Numbers of points, in half the room."""


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
    boxes = np.empty((n_nodes // 8, 2, wide, 8))
    tree = (points, first, last, corners[0], corners[1], cells, boxes)
    plant(tree, ids)
    return tree, ids


@compiled
def plant(tree: Tree, ids: IntArray) -> None:
    """Bring points, and their numbers with them, into the order of a tree; fill in its nodes."""
    points, first, last, lower, upper, cells, boxes = tree
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
    for node in range(boxes.shape[0]):
        for k in range(dim):
            for m in range(8):
                boxes[node, 0, k, m] = lower[8 * node + 7 + m, k]
                boxes[node, 1, k, m] = upper[8 * node + 7 + m, k]


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


@compiled
def _to_box(
    points: FloatArray, i: int, lower: FloatArray, upper: FloatArray, x: int, p: float
) -> float:
    """Least of it between a point and the box of node x."""
    total = 0.0
    for k in range(points.shape[1]):
        t = max(0.0, max(lower[x, k] - points[i, k], points[i, k] - upper[x, k]))
        total = max(total, t) if p == np.inf else total + _power(t, p)
    return total


@_inside
def _eight(points: FloatArray, i: int, box: FloatArray, p: float, out: FloatArray) -> None:
    """The same for the eight boxes three levels below a node."""
    wide = points.shape[1]
    if p != 2.0 or wide > 12:
        _eight_any(points, i, box, p, out)
        return
    a, b, c, d = points[i, 0], points[i, 1], points[i, 2], points[i, 3]
    e, f, g, h = points[i, 4], points[i, 5], points[i, 6], points[i, 7]
    for m in range(8):
        s = max(0.0, max(box[0, 0, m] - a, a - box[1, 0, m]))
        t = max(0.0, max(box[0, 1, m] - b, b - box[1, 1, m]))
        u = max(0.0, max(box[0, 2, m] - c, c - box[1, 2, m]))
        v = max(0.0, max(box[0, 3, m] - d, d - box[1, 3, m]))
        w = max(0.0, max(box[0, 4, m] - e, e - box[1, 4, m]))
        x = max(0.0, max(box[0, 5, m] - f, f - box[1, 5, m]))
        y = max(0.0, max(box[0, 6, m] - g, g - box[1, 6, m]))
        z = max(0.0, max(box[0, 7, m] - h, h - box[1, 7, m]))
        out[m] = (s * s + t * t + u * u + v * v) + (w * w + x * x + y * y + z * z)
    if wide == 12:
        a, b, c, d = points[i, 8], points[i, 9], points[i, 10], points[i, 11]
        for m in range(8):
            s = max(0.0, max(box[0, 8, m] - a, a - box[1, 8, m]))
            t = max(0.0, max(box[0, 9, m] - b, b - box[1, 9, m]))
            u = max(0.0, max(box[0, 10, m] - c, c - box[1, 10, m]))
            v = max(0.0, max(box[0, 11, m] - d, d - box[1, 11, m]))
            out[m] += s * s + t * t + u * u + v * v


@compiled
def _eight_any(points: FloatArray, i: int, box: FloatArray, p: float, out: FloatArray) -> None:
    for m in range(8):
        total = 0.0
        for k in range(points.shape[1]):
            t = max(0.0, max(box[0, k, m] - points[i, k], points[i, k] - box[1, k, m]))
            total = max(total, t) if p == np.inf else total + _power(t, p)
        out[m] = total


@_inside
def _pushed(
    near: FloatArray, below: int, bound: float, stack: IntArray, reach: FloatArray, top: int
) -> int:
    """Put those of eight nodes on the stack that are near enough, the nearest on top."""
    at = -1
    for m in range(8):
        if near[m] < bound and (at < 0 or near[m] < near[at]):
            at = m
    if at < 0:
        return top
    for m in range(8):
        if near[m] < bound and m != at:
            stack[top], reach[top] = below + m, near[m]
            top += 1
    stack[top], reach[top] = below + at, near[at]
    return top + 1


@compiled
def list_neighbours(
    tree: Tree, low: int, high: int, p: float, away: FloatArray, near: Near
) -> None:
    """The nearest points of every point in leaves low..high-1, and how far away they are."""
    points, first, last, lower, upper, cells, boxes = tree
    half, roots = first.shape[0] // 2, _roots(first.shape[0])
    stack, reach = np.empty(256, np.int64), np.empty(256)
    gaps, eight = np.empty(LEAF), np.empty(8)
    far, who = np.empty(LISTED), np.empty(LISTED, np.int64)
    end = LISTED - 1
    for leaf in range(low, high):
        for i in range(first[leaf], last[leaf]):
            for m in range(LISTED):
                far[m], who[m] = HUGE, -1
            # From the own leaf upwards, each time into what is new: near points come first.
            node, climbing = leaf, True
            stack[0], reach[0], top = leaf, 0.0, 1
            while True:
                while top > 0:
                    top -= 1
                    x = stack[top]
                    if reach[top] >= far[end]:
                        continue
                    if x < half:
                        _eight(points, i, boxes[x], p, eight)
                        top = _pushed(eight, 8 * x + 7, far[end], stack, reach, top)
                        continue
                    _gaps(points, i, cells[x - half], p, gaps)
                    for j in range(first[x], last[x]):
                        gap = gaps[j - first[x]]
                        if gap < far[end] and j != i:
                            m = end
                            while m > 0 and far[m - 1] > gap:
                                far[m], who[m] = far[m - 1], who[m - 1]
                                m -= 1
                            far[m], who[m] = gap, j
                if node > 2 * roots - 2:
                    above = (node - 7) // 8
                    _eight(points, i, boxes[above], p, eight)
                    eight[node - 8 * above - 7] = HUGE
                    top = _pushed(eight, 8 * above + 7, far[end], stack, reach, top)
                    node = above
                elif climbing:
                    climbing = False
                    for x in range(roots - 1, 2 * roots - 1):
                        if x != node:
                            edge = _to_box(points, i, lower, upper, x, p)
                            if edge < far[end]:
                                stack[top], reach[top] = x, edge
                                top += 1
                else:
                    break
            for m in range(LISTED):
                away[i, m], near[i, m] = far[m], who[m]


@compiled
def _roots(n_nodes: int) -> int:
    """How many nodes there are on the first level from which one comes to leaves in threes."""
    levels = 0
    while (2 << levels) - 1 < n_nodes:
        levels += 1
    return 1 << (levels % 3)


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
    near: Near,
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
    points, first, last, lower, upper, cells, boxes = tree
    half, roots = first.shape[0] // 2, _roots(first.shape[0])
    stack, reach = np.empty(256, np.int64), np.empty(256)
    gaps, eight = np.empty(LEAF), np.empty(8)
    for leaf in range(low, high):
        for i in range(first[leaf], last[leaf]):
            own = component[i]
            if partner[i] >= 0 or nearest[i] >= best[own]:
                continue
            bound, found = best[own], -1
            node, climbing = leaf, True
            stack[0], reach[0], top = leaf, 0.0, 1
            while True:
                while top > 0:
                    top -= 1
                    x = stack[top]
                    if reach[top] >= bound or owner[x] == own:
                        continue
                    if x < half:
                        _eight(points, i, boxes[x], p, eight)
                        top = _pushed(eight, 8 * x + 7, bound, stack, reach, top)
                        continue
                    _gaps(points, i, cells[x - half], p, gaps)
                    for j in range(first[x], last[x]):
                        if gaps[j - first[x]] < bound and component[j] != own:
                            bound, found = gaps[j - first[x]], j
                if node > 2 * roots - 2:
                    above = (node - 7) // 8
                    if owner[above] != own:
                        _eight(points, i, boxes[above], p, eight)
                        eight[node - 8 * above - 7] = HUGE
                        top = _pushed(eight, 8 * above + 7, bound, stack, reach, top)
                    node = above
                elif climbing:
                    climbing = False
                    for x in range(roots - 1, 2 * roots - 1):
                        if x != node:
                            edge = _to_box(points, i, lower, upper, x, p)
                            if edge < bound:
                                stack[top], reach[top] = x, edge
                                top += 1
                else:
                    break
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
