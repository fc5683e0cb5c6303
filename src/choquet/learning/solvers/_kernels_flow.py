"""Compiled flow along containments. Import this module inside functions: Numba loads slowly."""

from __future__ import annotations

import numpy as np

from choquet.lattice.compiling import compiled


@compiled
def route(starts, arcs, low, high, flow, excess, tolerance):
    """Send as much positive excess as possible to nodes of negative excess, in place.

    Edges lead from low to high without limit, and back as far as their flow goes. Shortest paths
    first, all of one length at a time (Dinitz). `arcs[starts[v]:starts[v + 1]]` are v's edges.
    """
    n = len(excess)
    distance = np.empty(n, np.int64)
    queue = np.empty(n, np.int64)
    current = np.empty(n, np.int64)
    path = np.empty(n, np.int64)
    sent = True
    while sent:
        sent = False
        distance[:] = -1
        head, tail = 0, 0
        for v in range(n):
            current[v] = starts[v]
            if excess[v] < -tolerance:
                distance[v] = 0
                queue[tail] = v
                tail += 1
        while head < tail:
            v = queue[head]
            head += 1
            for k in range(starts[v], starts[v + 1]):
                e = arcs[k]
                if high[e] == v:
                    u = low[e]
                elif flow[e] > 0.0:
                    u = high[e]
                else:
                    continue
                if distance[u] < 0:
                    distance[u] = distance[v] + 1
                    queue[tail] = u
                    tail += 1
        for s in range(n):
            while excess[s] > tolerance and distance[s] > 0:
                v, depth = s, 0
                while True:
                    if distance[v] == 0:
                        amount = min(excess[s], -excess[v])
                        for j in range(depth):
                            if path[j] < 0:
                                amount = min(amount, flow[-path[j] - 1])
                        for j in range(depth):
                            if path[j] < 0:
                                flow[-path[j] - 1] -= amount
                            else:
                                flow[path[j]] += amount
                        excess[s] -= amount
                        excess[v] += amount
                        sent = True
                        break
                    moved = False
                    while current[v] < starts[v + 1]:
                        e = arcs[current[v]]
                        forward = low[e] == v
                        u = high[e] if forward else low[e]
                        open_ = (forward or flow[e] > 0.0) and distance[u] == distance[v] - 1
                        if open_ and (distance[u] > 0 or excess[u] < 0.0):
                            path[depth] = e if forward else -e - 1
                            depth += 1
                            v = u
                            moved = True
                            break
                        current[v] += 1
                    if moved:
                        continue
                    distance[v] = -2
                    if depth == 0:
                        break
                    depth -= 1
                    e = path[depth]
                    v = low[e] if e >= 0 else high[-e - 1]
                    current[v] += 1


@compiled
def reach(starts, arcs, low, high, flow, seen):
    """Mark all nodes to which more could be sent from the marked ones: with flow, or against it."""
    n = len(seen)
    queue = np.empty(n, np.int64)
    head, tail = 0, 0
    for v in range(n):
        if seen[v]:
            queue[tail] = v
            tail += 1
    while head < tail:
        v = queue[head]
        head += 1
        for k in range(starts[v], starts[v + 1]):
            e = arcs[k]
            if low[e] == v:
                u = high[e]
            elif flow[e] > 0.0:
                u = low[e]
            else:
                continue
            if not seen[u]:
                seen[u] = True
                queue[tail] = u
                tail += 1
