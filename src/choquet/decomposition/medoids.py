"""Medoids: the operator of a cluster that is closest, on average, to all of it."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from choquet.arrays import FloatArray, IntArray, as_inputs
from choquet.decomposition.spanning import check_counts, distinct_points
from choquet.errors import DataError
from choquet.operators.dissimilarity import Dissimilarity, Metric, as_dissimilarity

__all__ = ["medoids"]

ROWS_AT_ONCE = 1 << 22
"""Dissimilarities held at a time: 32 MiB."""


def medoids(
    points: npt.ArrayLike,
    labels: npt.ArrayLike | None = None,
    *,
    counts: npt.ArrayLike | None = None,
    metric: Metric = "rms",
) -> IntArray:
    """The medoid of every cluster: the point with the smallest sum of dissimilarities to it.

    Exact, and without the matrix of dissimilarities. For a metric, most points are ruled out by the
    triangle inequality; for squared Euclidean distance the sums have a closed form; only a user's
    function takes all pairs.

    Parameters
    ----------
    points : array-like of shape (n, n_sources)
        Operators.
    labels : array-like of shape (n,), optional
        Cluster of each, numbered from 0; one cluster when not given. Negative ones are left out.
    counts : array-like of shape (n,), optional
        How often each operator occurs: it weighs so much.
    metric : str, Dissimilarity or callable, default "rms"
        See `dissimilarity`.

    Returns
    -------
    ndarray of shape (n_clusters,)
        Row number of each medoid, the first among equal rows. Equally good operators are decided
        by the one nearer to the mean, then by the weights, not by the order of rows.

    References
    ----------
    Newling and Fleuret, "A sub-quadratic exact medoid algorithm", AISTATS 2017.

    Examples
    --------
    >>> medoids([[1, 0], [0.8, 0.2], [0.7, 0.3], [0, 1]], [0, 0, 0, 1])
    array([1, 3])
    """
    row = as_dissimilarity(metric)
    rows = as_inputs(points)
    weights = check_counts(counts, len(rows)).astype(np.float64)
    groups = np.zeros(len(rows), dtype=np.int64) if labels is None else check_labels(labels, rows)
    n_clusters = int(groups.max()) + 1
    found = np.empty(n_clusters, dtype=np.int64)
    for number in range(n_clusters):
        inside = np.flatnonzero(groups == number)
        if len(inside) == 0:
            raise DataError(f"cluster {number} is empty; number clusters from 0 without gaps")
        first, inverse = distinct_points(rows[inside])
        total = np.bincount(inverse, weights=weights[inside]).astype(np.float64)
        found[number] = inside[first[medoid_of(rows[inside[first]], total, row)]]
    return found


def check_labels(labels: npt.ArrayLike, rows: FloatArray) -> IntArray:
    """Whole numbers, one per row, of which some are not negative."""
    given = np.asarray(labels)
    if given.shape != (len(rows),) or given.dtype.kind not in "iu":
        raise DataError(
            f"labels must be {len(rows)} whole numbers, not {given.dtype} of shape {given.shape}"
        )
    if given.max() < 0:
        raise DataError("labels are all negative: there is no cluster to find a medoid of")
    return given.astype(np.int64)


def medoid_of(points: FloatArray, weights: FloatArray, metric: Dissimilarity) -> int:
    """Number of the medoid among distinct points."""
    if not metric.embeddable:
        return medoid_by_blocks(points, weights, metric)
    vectors = metric.embed(points)
    middle = (weights @ vectors / weights.sum())[None]
    spread = metric.between_embedded(middle, vectors)[0]
    if metric.p == 2.0 and metric.power == 2.0:
        # Σ w |x - y|² is |x - mean|² times the total weight plus a constant.
        return int(spread.argmin())
    if not metric.is_metric:
        return medoid_by_blocks(points, weights, metric)
    return medoid_by_bounds(vectors, weights, metric, np.argsort(spread, kind="stable"))


def medoid_by_bounds(
    vectors: FloatArray, weights: FloatArray, metric: Dissimilarity, visit: IntArray
) -> int:
    """Medoid under a metric: sums are computed only where a lower bound leaves it open.

    The sums f of two points differ by at most their distance times the total weight.
    """
    total = float(weights.sum())
    lower = np.zeros(len(vectors))
    best, answer = np.inf, int(visit[0])
    for i in visit:
        if lower[i] >= best:
            continue
        away = metric.between_embedded(vectors[i : i + 1], vectors)[0]
        own = float(away @ weights)
        np.maximum(lower, np.abs(own - total * away), out=lower)
        lower[i] = own
        if own < best:
            best, answer = own, int(i)
    return answer


def medoid_by_blocks(points: FloatArray, weights: FloatArray, metric: Dissimilarity) -> int:
    """Medoid under any dissimilarity, by all pairs, some rows at a time."""
    step = max(1, ROWS_AT_ONCE // len(points))
    sums = [
        metric.matrix(points[low : low + step], points) @ weights
        for low in range(0, len(points), step)
    ]
    return int(np.concatenate(sums).argmin())
