"""The answer of every clustering: one label per point, clusters numbered from the most frequent."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from choquet.arrays import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Partition:
    """Clusters of points.

    Attributes
    ----------
    labels : ndarray of shape (n_points,)
        Cluster of each point: 0 is the one with the largest total count, ties go to the one met
        first. -1 marks noise, for clusterings that know it.
    n_clusters : int
        Number of clusters, noise not counted.
    method : str
        How they were found.
    score : float
        Value of the method's objective (larger is better), NaN where it has none.
    proved : bool
        Whether no better partition exists, by proof; False when the search was a heuristic.
    cuts : ndarray or None
        For clusters that are contiguous in the iVAT order: the positions of the order that start
        a new cluster.
    scores : dict of int to float
        Best score found for each number of clusters.
    squareness, edginess : float
        The two terms of CLODD's objective, before they are weighted.
    memberships : ndarray of shape (n_points, n_clusters) or None
        Degrees of membership, where the method gives them.
    """

    labels: IntArray
    n_clusters: int
    method: str
    score: float = math.nan
    proved: bool = False
    cuts: IntArray | None = None
    scores: dict[int, float] = field(default_factory=dict)
    squareness: float = math.nan
    edginess: float = math.nan
    memberships: FloatArray | None = None


def canonical_ranks(labels: IntArray, counts: IntArray) -> IntArray:
    """New number of each label 0..k-1: by decreasing total count, then by first occurrence.

    Examples
    --------
    >>> import numpy as np
    >>> canonical_ranks(np.array([2, 0, 1, 1]), np.array([1, 5, 1, 1]))
    array([0, 1, 2])
    """
    n_labels = int(labels.max(initial=-1)) + 1
    known = labels >= 0
    totals = np.zeros(n_labels, dtype=np.int64)
    np.add.at(totals, labels[known], counts[known])
    first = np.full(n_labels, len(labels), dtype=np.int64)
    np.minimum.at(first, labels[known], np.flatnonzero(known))
    ranks = np.empty(n_labels, dtype=np.int64)
    ranks[np.lexsort((first, -totals))] = np.arange(n_labels)
    return ranks


def canonical_labels(labels: IntArray, counts: IntArray) -> IntArray:
    """Labels renumbered by decreasing total count; negative ones become -1 (noise).

    Examples
    --------
    >>> import numpy as np
    >>> canonical_labels(np.array([7, 3, 3, -1]), np.ones(4, dtype=np.int64))
    array([ 1,  0,  0, -1])
    """
    result = np.full(len(labels), -1, dtype=np.int64)
    known = labels >= 0
    _, compact = np.unique(labels[known], return_inverse=True)
    result[known] = compact
    if known.any():
        result[known] = canonical_ranks(result, counts)[result[known]]
    return result
