"""VAT and iVAT without the matrix: an order, a height for each position, and nothing else.

The order is the one in which Prim's algorithm adds the points to a spanning tree, and the height of
a position is the weight of the edge that attached it. Then iVAT[i, j] = max(heights[i+1..j]), so
those two vectors are the image; it is drawn from them at any resolution.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from choquet.arrays import FloatArray, IntArray, as_inputs
from choquet.clustering.blocks import BlockSums
from choquet.clustering.partition import canonical_labels
from choquet.clustering.spanning import (
    check_counts,
    check_distances,
    distinct_points,
    spanning_order,
    spanning_order_of_matrix,
)
from choquet.errors import DataError, OptionError, TooLargeError
from choquet.operators.dissimilarity import Dissimilarity, Metric, as_dissimilarity, dissimilarity
from choquet.shown import Shown

IMAGE_SIZE = 1000
"""Pixels a side that `IVAT.image` stops at when not told."""
MATRIX_LIMIT = 20_000
"""Points of the largest matrix that is made: 3 GiB."""


@dataclass(frozen=True, eq=False, repr=False)
class IVAT(Shown):
    """The iVAT image of n points, as two vectors.

    Attributes
    ----------
    order : ndarray of shape (n,)
        The point at each position.
    heights : ndarray of shape (n,)
        Dissimilarity by which each position was attached to those before it; the first is 0, and
        so are those of copies.
    counts : ndarray of shape (n,)
        How often each *point* occurs, in the points' own order.
    metric : str
        Name of the dissimilarity.

    Examples
    --------
    >>> picture = ivat([[1, 0], [0, 1], [0.9, 0.1]], metric="l1")
    >>> picture.matrix().round(6)
    array([[0. , 1.8, 1.8],
           [1.8, 0. , 0.2],
           [1.8, 0.2, 0. ]])
    >>> picture.n_distinct, picture.cut(k=2)
    (3, array([0, 1, 0]))
    """

    order: IntArray
    heights: FloatArray
    counts: IntArray
    metric: str

    def text(self) -> str:
        """How many points there are, and how far apart.

        Examples
        --------
        >>> ivat([[1, 0], [0, 1], [0.9, 0.1]], metric="l1")
        iVAT image of 3 points, 3 of them different, by the l1 dissimilarity: steps up to 1.8.
        """
        most = self.heights.max(initial=0.0)
        return (
            f"iVAT image of {self.n_total} points, {self.n_distinct} of them different, by the "
            f"{self.metric} dissimilarity: steps up to {most:.3g}."
        )

    @property
    def n_points(self) -> int:
        """Number of points given, each counted once."""
        return len(self.order)

    @property
    def n_total(self) -> int:
        """Number of points with their counts: the rows of the picture."""
        return int(self.counts.sum())

    @property
    def n_distinct(self) -> int:
        """Number of points that differ under the metric: the most clusters there can be."""
        return int(np.count_nonzero(self.heights > 0)) + 1

    def distance(self, i: int, j: int) -> float:
        """Dissimilarity in the picture: the smallest largest step on any way from i to j."""
        for point in (i, j):
            if not 0 <= point < self.n_points:
                raise DataError(f"there is no point {point} among {self.n_points}")
        a, b = sorted(int(np.flatnonzero(self.order == point)[0]) for point in (i, j))
        return float(self.heights[a + 1 : b + 1].max(initial=0.0))

    def matrix(self) -> FloatArray:
        """The n × n matrix in the order of the picture, each point once.

        Raises
        ------
        TooLargeError
            Above 20,000 points.
        """
        from choquet.clustering._kernels_blocks import full_image

        refuse_matrix(self.n_points)
        return full_image(self.heights)

    def image(self, size: int | None = None) -> FloatArray:
        """The picture, `size` pixels a side: each is the exact mean of the entries it covers.

        Points occupy as many rows as their counts say, without being repeated in memory, and a
        pixel that covers part of a row takes that part of it.

        Parameters
        ----------
        size : int, optional
            Pixels a side; one per row, but at most 1000, when not given.
        """
        from choquet.clustering._kernels_blocks import picture

        if size is None:
            size = min(self.n_total, IMAGE_SIZE)
        if size < 1:
            raise OptionError(f"size={size} must be at least 1")
        refuse_matrix(size)
        heights, counts = condensed(self)
        ends = np.cumsum(counts, dtype=np.float64)
        borders = np.arange(1, size) * float(self.n_total) / size
        # A border inside a point's rows splits it into two positions at height 0 of each other.
        merged = np.concatenate([ends, borders])
        starts = np.unique(np.concatenate([[0.0], merged[merged < ends[-1]]]))
        split = np.zeros(len(starts))
        split[np.searchsorted(starts, ends[:-1])] = heights[1:]
        sums = BlockSums(split, np.diff(starts, append=ends[-1]))
        edges = np.concatenate([[0], np.searchsorted(starts, borders), [len(starts)]])
        return picture(sums.tables, edges)

    def cut(self, *, k: int | None = None, level: float | None = None) -> IntArray:
        """Single-linkage clusters: the label of each point.

        Parameters
        ----------
        k : int, optional
            Number of clusters: cut at the k - 1 largest heights, the earliest of equal ones.
        level : float, optional
            Cut where the height exceeds it.

        Raises
        ------
        OptionError
            Unless exactly one of the two is given, and `k` is between 1 and `n_distinct`.
        """
        return canonical_labels(
            block_labels(self, self.cut_positions(k=k, level=level)), self.counts
        )

    def cut_positions(self, *, k: int | None = None, level: float | None = None) -> IntArray:
        """Positions of the order at which `cut` starts a new cluster."""
        if (k is None) == (level is None):
            raise OptionError(f"give k or level, one of them: k={k}, level={level}")
        if level is not None:
            if not level >= 0:
                raise OptionError(f"level={level} must be at least 0")
            return np.flatnonzero(self.heights > level)
        if k is None or not 1 <= k <= self.n_distinct:
            raise OptionError(
                f"k={k} clusters cannot be made of {self.n_distinct} distinct points; "
                f"choose 1 to {self.n_distinct}"
            )
        return np.sort(np.argsort(-self.heights, kind="stable")[: k - 1])


@dataclass(frozen=True, eq=False)
class VAT:
    """The VAT order of points, with the reordered matrix on request.

    Attributes
    ----------
    order, heights : ndarray of shape (n,)
        As in `IVAT`: the two share them.
    points : ndarray of shape (n, N) or (n, n)
        What was given: operators, or their dissimilarities.
    metric : Dissimilarity or None
        The dissimilarity, None for a given matrix.
    """

    order: IntArray
    heights: FloatArray
    points: FloatArray
    metric: Dissimilarity | None

    def matrix(self) -> FloatArray:
        """The matrix of dissimilarities with rows and columns in order; at most 20,000 points."""
        refuse_matrix(len(self.order))
        if self.metric is None:
            return np.ascontiguousarray(self.points[np.ix_(self.order, self.order)])
        return dissimilarity(self.points[self.order], metric=self.metric)


@dataclass(frozen=True, eq=False)
class SampledIVAT:
    """iVAT of representatives, with every point assigned to the nearest of them.

    Attributes
    ----------
    ivat : IVAT
        The image of the representatives; each counts for the points assigned to it.
    representatives : ndarray of shape (n_representatives,)
        Their row numbers among the points.
    assignment : ndarray of shape (n_points,)
        For every point, its representative's place in `representatives`.
    radius : float
        Largest distance (before any power, as for "sql2") of a point to its representative.
    """

    ivat: IVAT
    representatives: IntArray
    assignment: IntArray
    radius: float


def refuse_matrix(n: int) -> None:
    """Raise `TooLargeError` where an n × n matrix would be too much."""
    if n > MATRIX_LIMIT:
        raise TooLargeError(
            f"a matrix of {n} × {n} needs {n * n * 8 / 2**30:.0f} GiB; "
            f"`image(size)` draws it at any size up to {MATRIX_LIMIT}"
        )


def block_labels(picture: IVAT, cuts: IntArray) -> IntArray:
    """Number of the block that each point falls into, from 0 along the order."""
    marks = np.zeros(picture.n_points, dtype=np.int64)
    marks[cuts] = 1
    labels = np.empty(picture.n_points, dtype=np.int64)
    labels[picture.order] = np.cumsum(marks)
    return labels


def condensed(picture: IVAT) -> tuple[FloatArray, IntArray]:
    """Heights and total counts with copies (positions at height 0) merged into one position."""
    starts = np.flatnonzero(picture.heights > 0)
    starts = np.concatenate([[0], starts])
    return picture.heights[starts], np.add.reduceat(picture.counts[picture.order], starts)


def ivat(
    points: npt.ArrayLike,
    *,
    metric: Metric | Literal["precomputed"] = "rms",
    counts: npt.ArrayLike | None = None,
    start: int | None = None,
) -> IVAT:
    """Improved visual assessment of cluster tendency, in O(n) memory.

    Parameters
    ----------
    points : array-like of shape (n, n_sources), or (n, n) when precomputed
        Operators, or their dissimilarities.
    metric : str, Dissimilarity, callable or "precomputed", default "rms"
        See `dissimilarity`. Those of the table run compiled on mapped vectors; a callable is
        asked for one row at a time.
    counts : array-like of shape (n,), optional
        How often each point occurs (whole numbers from 1). Repeated rows are allowed too.
    start : int, optional
        The point to begin with. By default one end of the largest dissimilarity, exactly so up to
        20,000 distinct points and by two sweeps (farthest from the middle, then farthest from
        that) beyond. It turns the picture, but never changes an iVAT value.

    Returns
    -------
    IVAT

    Raises
    ------
    DataError
        For no points, values that are not finite, or a matrix that is none of dissimilarities.

    Notes
    -----
    Equal points are merged before and come back at height 0, so they cost nothing. Distinct points
    are sorted first, so the result does not depend on the order of the rows.

    References
    ----------
    Bezdek and Hathaway, "VAT: a tool for visual assessment of (cluster) tendency", IJCNN 2002.
    Havens and Bezdek, "An efficient formulation of the improved visual assessment of cluster
    tendency (iVAT) algorithm", IEEE TKDE 24(5), 2012.

    Examples
    --------
    >>> picture = ivat([[1, 0, 0], [0, 0, 1], [0.8, 0.1, 0.1], [0, 0, 1]], metric="l1")
    >>> picture.order
    array([1, 3, 2, 0])
    >>> picture.heights.round(6)
    array([0. , 0. , 1.8, 0.4])
    >>> picture.cut(k=2)
    array([0, 1, 0, 1])
    """
    if isinstance(metric, str) and metric == "precomputed":
        distances = check_distances(points)
        multiplicity = check_counts(counts, len(distances))
        order, heights = spanning_order_of_matrix(distances, start)
        return IVAT(order, heights, multiplicity, "precomputed")
    row = as_dissimilarity(metric)
    rows = as_inputs(points)
    multiplicity = check_counts(counts, len(rows))
    order, heights = spanning_order(rows, row, start)
    return IVAT(order, heights, multiplicity, row.name)


def vat(
    points: npt.ArrayLike,
    *,
    metric: Metric | Literal["precomputed"] = "rms",
    start: int | None = None,
) -> VAT:
    """Visual assessment of cluster tendency: the order, and the reordered matrix on request.

    Parameters
    ----------
    points : array-like of shape (n, n_sources), or (n, n) when precomputed
        Operators, or their dissimilarities.
    metric : str, Dissimilarity, callable or "precomputed", default "rms"
        See `dissimilarity`.
    start : int, optional
        The point to begin with; one end of the largest dissimilarity by default.

    Returns
    -------
    VAT
        The order; `VAT.matrix` gives the reordered dissimilarities.

    References
    ----------
    Bezdek and Hathaway, "VAT: a tool for visual assessment of (cluster) tendency", IJCNN 2002.

    Examples
    --------
    >>> vat([[1, 0], [0, 1], [0.9, 0.1]], metric="l1").matrix().round(6)
    array([[0. , 1.8, 2. ],
           [1.8, 0. , 0.2],
           [2. , 0.2, 0. ]])
    """
    picture = ivat(points, metric=metric, start=start)
    precomputed = isinstance(metric, str) and metric == "precomputed"
    row = None if precomputed else as_dissimilarity(metric)  # type: ignore[arg-type]
    return VAT(picture.order, picture.heights, as_inputs(points), row)


def big_ivat(
    points: npt.ArrayLike,
    *,
    n_representatives: int = 1000,
    metric: Metric = "rms",
    counts: npt.ArrayLike | None = None,
) -> SampledIVAT:
    """The iVAT image of very many points, by representatives that are spread over them.

    Representatives are chosen farthest-first, which covers the points within twice the smallest
    possible radius. With r the radius reported, every iVAT dissimilarity between representatives
    is at least the one among all points and at most 2 r above it (for "sql2": of the roots).

    Parameters
    ----------
    points : array-like of shape (n, n_sources)
        Operators.
    n_representatives : int, default 1000
        How many to choose; all distinct points if there are fewer.
    metric : str or Dissimilarity, default "rms"
        One with a map: a row of the table, see `dissimilarity`.
    counts : array-like of shape (n,), optional
        How often each point occurs, as in `ivat`.

    Returns
    -------
    SampledIVAT
        The picture of the representatives, and which of them each point is nearest to.

    References
    ----------
    Gonzalez, "Clustering to minimize the maximum intercluster distance", 1985. Hathaway, Bezdek and
    Huband, "Scalable visual assessment of cluster tendency for large data sets", 2006 (sVAT, which
    also draws at random around such representatives; here all points count at their nearest).

    Examples
    --------
    >>> sampled = big_ivat([[1, 0], [0, 1], [0.9, 0.1]], n_representatives=2, metric="l1")
    >>> sampled.ivat.counts, sampled.assignment, round(sampled.radius, 6)
    (array([1, 2]), array([1, 0, 1]), 0.2)
    """
    from choquet.clustering._kernels import maximin

    row = as_dissimilarity(metric)
    if not row.embeddable:
        raise OptionError(f"big_ivat needs a metric of the table, not the function {row.name}")
    if n_representatives < 1:
        raise OptionError(f"n_representatives={n_representatives} must be at least 1")
    rows = as_inputs(points)
    multiplicity = check_counts(counts, len(rows))
    first, inverse = distinct_points(rows)
    embedded = np.ascontiguousarray(row.embed(rows[first]))
    middle = embedded.mean(axis=0, keepdims=True)
    begin = int(row.between_embedded(middle, embedded)[0].argmax())
    chosen, nearest, radius = maximin(embedded, row.p, begin, min(n_representatives, len(first)))
    totals = np.zeros(len(chosen), dtype=np.int64)
    np.add.at(totals, nearest[inverse], multiplicity)
    picture = ivat(rows[first[chosen]], metric=row, counts=totals)
    return SampledIVAT(picture, first[chosen], nearest[inverse], float(radius.max()))
