"""How many operators a cloud of walks holds, by each clustering that the paper names."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

import numpy as np

from choquet.arrays import FloatArray, IntArray
from choquet.clustering import cluster, fuzzy_c_means
from choquet.operators import DISSIMILARITIES

LINK = 0.1
"""Half the smallest worst-case difference between two of the four true operators of Figure 4:
single linkage and DBSCAN join operators by steps of at most this much in output."""
_BANDWIDTH = 0.022
"""Half the smallest root mean square difference between two of them: the window of mean shift."""
_MOST = 8
"""Clusters that fuzzy c-means is tried with, at most."""


def _single_linkage(points: FloatArray, counts: IntArray) -> int:
    found = cluster(points, method="single_linkage", metric="worst", counts=counts, level=LINK)
    return found.n_clusters


def _dbscan(points: FloatArray, counts: IntArray) -> int:
    from sklearn.cluster import DBSCAN

    method = DBSCAN(eps=LINK, min_samples=5, metric="precomputed")
    return cluster(points, method=method, metric="worst", counts=counts).n_clusters


def _mean_shift(points: FloatArray, counts: IntArray) -> int:
    from sklearn.cluster import MeanShift

    return cluster(points, method=MeanShift(bandwidth=_BANDWIDTH), counts=counts).n_clusters


def _fuzzy(points: FloatArray, counts: IntArray) -> int:
    if len(points) < 2:
        return len(points)
    scores = {k: xie_beni(points, counts, k, rng=0) for k in range(2, min(_MOST, len(points)) + 1)}
    return min(scores, key=lambda k: scores[k])


def xie_beni(points: FloatArray, counts: IntArray, k: int, *, rng: int) -> float:
    """Spread of fuzzy c-means' k clusters, relative to how far apart their centres are.

    References
    ----------
    Xie & Beni (1991), "A validity measure for fuzzy clustering".

    Examples
    --------
    >>> points = np.array([[1.0, 0.0], [0.9, 0.1], [0.0, 1.0], [0.1, 0.9]])
    >>> two, three = (xie_beni(points, np.ones(4, dtype=int), k, rng=0) for k in (2, 3))
    >>> two < three
    True
    """
    found = fuzzy_c_means(points, k, counts=counts, n_starts=2, rng=rng)
    assert found.memberships is not None  # fuzzy c-means has them
    place = DISSIMILARITIES["rms"].embed(points)
    weight = found.memberships**2 * counts[:, None]
    centres = weight.T @ place / weight.sum(axis=0)[:, None]
    away = ((place[:, None] - centres[None]) ** 2).sum(axis=2)
    between = ((centres[:, None] - centres[None]) ** 2).sum(axis=2)
    nearest = float(between[~np.eye(k, dtype=bool)].min())
    return float((weight * away).sum() / counts.sum() / max(nearest, 1e-300))


CLUSTERINGS: Mapping[str, Callable[[FloatArray, IntArray], int]] = MappingProxyType(
    {
        f"single linkage, steps up to {LINK:g}": _single_linkage,
        f"DBSCAN, steps up to {LINK:g}, five walks": _dbscan,
        "mean shift": _mean_shift,
        "fuzzy c-means, number by Xie-Beni": _fuzzy,
    }
)
"""Number of clusters of operators, given with their counts of walks; CLODD and the distinct
operators are counted by the decomposition itself."""
