"""Spanning tree of very many points by Borůvka's algorithm on a kd-tree, on all processors."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from choquet.arrays import FloatArray, IntArray
from choquet.lattice.threads import in_chunks
from choquet.watching import steps

CHUNKS = 16
"""Parts that the points are searched in. Fixed, so that ties fall alike on every machine."""
STEPS = 4000
"""Steps that looking for a point's nearest stranger takes, about."""


def spanning_tree(vectors: FloatArray, p: float) -> tuple[IntArray, FloatArray]:
    """Edges (n-1, 2) and lengths of a shortest spanning tree under the p-norm.

    References
    ----------
    Borůvka 1926; March, Ram and Gray, "Fast Euclidean minimum spanning tree", KDD 2010.

    Examples
    --------
    >>> import numpy as np
    >>> edges, lengths = spanning_tree(np.array([[0.0], [5.0], [1.0]]), 1.0)
    >>> sorted(lengths.tolist())
    [1.0, 4.0]
    """
    from choquet.clustering import _kernels_tree as kernels

    n = len(vectors)
    tree, ids = kernels.planted(vectors)
    first, last = tree[1], tree[2]
    component, at = np.arange(n), np.zeros(n, dtype=np.int64)
    owner, sizes = np.empty(len(first), dtype=np.int64), np.empty(n, dtype=np.int64)
    choice, parent = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    nearest, best = np.zeros(n), np.empty(n)
    partner = np.full(n, -1)
    ends, lengths = np.empty((n - 1, 2), dtype=np.int64), np.empty(n - 1)
    away = np.empty((n, kernels.LISTED))
    near = np.empty((n, kernels.LISTED), dtype=np.int32)
    leaves = np.linspace(len(first) // 2, len(first), CHUNKS + 1).astype(np.int64).tolist()

    def list_(low: int, high: int) -> None:
        kernels.list_neighbours(tree, leaves[low], leaves[high], p, away, near)

    in_chunks(list_, CHUNKS, n * STEPS // CHUNKS)

    def search(low: int, high: int) -> None:
        for a, b in pairwise(leaves[low : high + 1]):
            kernels.search_range(tree, owner, component, a, b, p, nearest, partner, best.copy())

    found = 0
    with steps("joining points", n - 1) as advance:
        while found < n - 1:
            kernels.label_nodes(first, last, component, owner)
            kernels.go_on(component, away, near, at, nearest, partner, best, sizes)
            in_chunks(search, CHUNKS, n * STEPS // CHUNKS)
            more = kernels.join(
                component, nearest, partner, ends, lengths, best, choice, parent, found
            )
            advance(more - found)
            found = more
    return ids[ends], _distances(lengths, p)


def _distances(sums: FloatArray, p: float) -> FloatArray:
    """Distances from sums of p-th powers."""
    if p == 1.0 or p == np.inf:
        return sums
    return np.asarray(np.sqrt(sums) if p == 2.0 else sums ** (1.0 / p))
