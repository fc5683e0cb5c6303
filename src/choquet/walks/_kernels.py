"""Loops of the walks room, compiled where there are many walks."""

import numpy as np

from choquet.lattice.compiling import compiled_with


def _paths(edge_ptr, target, pair_ptr, pair_from, pair_to, n_members, n_sources, counts):
    return 10.0 * n_sources * len(counts)


@compiled_with(steps=_paths)
def count_walks(edge_ptr, target, pair_ptr, pair_from, pair_to, n_members, n_sources, counts):
    """Number of walks behind every path of the operator graph, depth first, in the order of paths.

    The number of walks that reach each node of a state depends on the path taken to it, so it is
    carried along: one row of counts for each level.
    """
    widest = 1
    for s in range(n_members.shape[0]):
        widest = max(widest, n_members[s])
    row = np.zeros((n_sources + 1, widest), counts.dtype)
    state = np.zeros(n_sources + 1, np.int64)
    edge = np.zeros(n_sources + 1, np.int64)
    if counts.shape[0] == 0:
        return
    row[0, 0] = 1
    level, number = 0, 0
    edge[0] = edge_ptr[0]
    while level >= 0:
        if level == n_sources:
            for m in range(n_members[state[level]]):
                counts[number] += row[level, m]
            number += 1
            level -= 1
            continue
        e = edge[level]
        if e == edge_ptr[state[level] + 1]:
            level -= 1
            continue
        edge[level] += 1
        after = target[e]
        for m in range(n_members[after]):
            row[level + 1, m] = 0
        for p in range(pair_ptr[e], pair_ptr[e + 1]):
            row[level + 1, pair_to[p]] += row[level, pair_from[p]]
        level += 1
        state[level] = after
        edge[level] = edge_ptr[after]
