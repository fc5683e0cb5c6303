"""Spanning tree of very many points by Borůvka's algorithm on a kd-tree, on all processors."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from choquet.arrays import FloatArray, IntArray
from choquet.lattice.threads import in_chunks

__all__ = ["spanning_tree"]

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
    from choquet.clustering._kernels import root
    from choquet.clustering._kernels_tree import (
        join,
        known_edges,
        label_nodes,
        plant,
        search_range,
    )

    n = len(vectors)
    tree, ids = plant(np.ascontiguousarray(vectors))
    component = np.arange(n)
    nearest = np.zeros(n)
    partner = np.full(n, -1, dtype=np.int64)
    ends = np.empty((n - 1, 2), dtype=np.int64)
    lengths = np.empty(n - 1)
    borders = np.linspace(0, n, CHUNKS + 1).astype(np.int64).tolist()
    found = 0
    while found < n - 1:
        owner = label_nodes(tree, component)
        best = known_edges(component, nearest, partner)

        def search(low: int, high: int, owner: IntArray = owner, best: FloatArray = best) -> None:
            for a, b in pairwise(borders[low : high + 1]):
                search_range(tree, owner, component, a, b, p, nearest, partner, best.copy())

        in_chunks(search, CHUNKS, n * STEPS // CHUNKS)
        found = join(component, nearest, partner, ends, lengths, best, found)
    return ids[ends], np.array([root(length, p) for length in lengths])
