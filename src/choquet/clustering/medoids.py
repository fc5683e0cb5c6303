"""Medoids: the operator of a cluster that is closest, on average, to all of it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from choquet.arrays import FloatArray, IntArray, as_inputs
from choquet.clustering.spanning import check_counts, distinct_points
from choquet.errors import DataError
from choquet.lattice.threads import in_chunks
from choquet.operators.dissimilarity import Dissimilarity, Metric, as_dissimilarity

COARSEST = 512
"""Groups of the first bound, a power of two."""
ROWS_AT_ONCE = 1 << 22
"""Dissimilarities held at a time: 32 MiB."""
_SMALL = 1 << 20
"""Differences that are taken all at once: some 20 ms, and nothing to compile."""


def medoids(
    points: npt.ArrayLike,
    labels: npt.ArrayLike | None = None,
    *,
    counts: npt.ArrayLike | None = None,
    metric: Metric = "rms",
) -> IntArray:
    """The medoid of every cluster: the point with the smallest sum of dissimilarities to it.

    Exact, and without the matrix of dissimilarities. A norm is convex, so the sum over a group of
    points is at least that with all of them at their mean: such bounds, over ever finer groups,
    rule out most points before any sum is taken. For squared Euclidean distance the sums have a
    closed form; only a user's function takes all pairs.

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

    Examples
    --------
    >>> medoids([[1, 0], [0.8, 0.2], [0.7, 0.3], [0, 1]], [0, 0, 0, 1])
    array([1, 3])
    """
    row = as_dissimilarity(metric)
    rows, weights, groups = check_clusters(points, labels, counts)
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


def check_clusters(
    points: npt.ArrayLike, labels: npt.ArrayLike | None, counts: npt.ArrayLike | None
) -> tuple[FloatArray, FloatArray, IntArray]:
    """Points, their weights, and the cluster of each: whole numbers, some of them not negative."""
    rows = as_inputs(points)
    weights = check_counts(counts, len(rows)).astype(np.float64)
    given = np.zeros(len(rows), dtype=np.int64) if labels is None else np.asarray(labels)
    if given.shape != (len(rows),) or given.dtype.kind not in "iu":
        raise DataError(
            f"labels must be {len(rows)} whole numbers, not {given.dtype} of shape {given.shape}"
        )
    if given.max() < 0:
        raise DataError("labels are all negative: there is no cluster to find a medoid of")
    return rows, weights, given.astype(np.int64)


def medoid_of(points: FloatArray, weights: FloatArray, metric: Dissimilarity) -> int:
    """Number of the medoid among distinct points."""
    if not metric.embeddable:
        return medoid_by_blocks(points, weights, metric)
    vectors = np.ascontiguousarray(metric.embed(points))
    middle = (weights @ vectors / weights.sum())[None]
    spread = metric.between_embedded(middle, vectors)[0]
    if metric.p == 2.0 and metric.power == 2.0:
        # Σ w |x - y|² is |x - mean|² times the total weight plus a constant.
        return int(spread.argmin())
    if metric.power != 1.0:
        return medoid_by_blocks(points, weights, metric)
    nearest_first = np.argsort(spread, kind="stable")
    return medoid_by_groups(vectors, weights, float(metric.p), nearest_first)


def medoid_by_groups(
    vectors: FloatArray, weights: FloatArray, p: float, candidates: IntArray
) -> int:
    """Medoid under a norm: candidates are ruled out by sums over means of ever finer groups."""
    everything = np.ascontiguousarray(vectors.T)
    best = np.inf
    for columns, totals in grouped(vectors, weights):
        lower = norm_sums(vectors[candidates], columns, totals, p)
        likely = candidates[lower.argmin()]
        best = min(best, float(norm_sums(vectors[[likely]], everything, weights, p)[0]))
        # Rounding must not rule out the best itself.
        candidates = candidates[lower <= best * (1 + 1e-12)]
    sums = norm_sums(vectors[candidates], everything, weights, p)
    return int(candidates[sums.argmin()])


def grouped(vectors: FloatArray, weights: FloatArray) -> Iterator[tuple[FloatArray, FloatArray]]:
    """Means and total weights of groups of neighbours: hundreds, then thousands of them."""
    from choquet.clustering._kernels_tree import planted

    if len(vectors) < 4 * COARSEST:
        return
    tree, ids = planted(vectors)
    points, owned = tree[0][:, : vectors.shape[1]], weights[ids]
    n_groups = COARSEST
    while 4 * n_groups <= len(vectors) and 2 * n_groups <= len(tree[1]) + 1:
        # Level k of the tree is nodes 2**k - 1 to 2**(k+1) - 2, one after the other.
        starts = tree[1][n_groups - 1 : 2 * n_groups - 1]
        totals = np.add.reduceat(owned, starts)
        means = np.add.reduceat(points * owned[:, None], starts) / totals[:, None]
        yield np.ascontiguousarray(means.T), totals
        n_groups *= 8


def norm_sums(
    queries: FloatArray, columns: FloatArray, weights: FloatArray, p: float
) -> FloatArray:
    """Weighted sums of distances of queries to points in columns, on all processors."""
    if len(queries) * columns.size <= _SMALL:
        apart = np.abs(queries[:, :, None] - columns)
        largest = apart.max(axis=1)
        return np.asarray((largest if p == np.inf else (apart**p).sum(axis=1) ** (1 / p)) @ weights)
    from choquet.clustering._kernels import distance_sums

    sums = np.empty(len(queries))

    def part(low: int, high: int) -> None:
        distance_sums(queries[low:high], columns, weights, p, sums[low:high])

    in_chunks(part, len(queries), columns.size)
    return sums


def medoid_by_blocks(points: FloatArray, weights: FloatArray, metric: Dissimilarity) -> int:
    """Medoid under any dissimilarity, by all pairs, some rows at a time."""
    step = max(1, ROWS_AT_ONCE // len(points))
    sums = [
        metric.matrix(points[low : low + step], points) @ weights
        for low in range(0, len(points), step)
    ]
    return int(np.concatenate(sums).argmin())
