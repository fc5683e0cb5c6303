"""Spanning trees of points: which way to compute them, and the checks of what goes in."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from choquet.arrays import FloatArray, IntArray, as_inputs, as_vector
from choquet.clustering.boruvka import spanning_tree
from choquet.errors import DataError, OptionError
from choquet.operators.dissimilarity import Dissimilarity

EXACT_START = 20_000
"""Distinct points up to which the two ends of the largest dissimilarity are found exactly."""
TREE_POINTS, TREE_DIMENSIONS = 12_000, 12
"""Above so many distinct points of so few coordinates a kd-tree beats Prim's algorithm."""
LARGEST_TOTAL = 1 << 53
"""Counts are added up as floats, exactly up to here."""


def check_counts(counts: npt.ArrayLike | None, n: int) -> IntArray:
    """Counts as whole numbers from 1, all 1 when not given."""
    if n == 0:
        raise DataError("there are no points; give at least one")
    if counts is None:
        return np.ones(n, dtype=np.int64)
    values = as_vector(counts, "counts", n)
    wrong = np.flatnonzero((values < 1) | (values != np.floor(values)))
    if len(wrong):
        raise DataError(
            f"counts must be whole numbers from 1, but position {wrong[0]} holds {values[wrong[0]]}"
        )
    if values.sum() > LARGEST_TOTAL:
        raise DataError(
            f"counts sum to {values.sum():.3g}, but only totals up to 2**53 are exact; "
            "divide them by a common factor"
        )
    return values.astype(np.int64)


def check_distances(distances: npt.ArrayLike) -> FloatArray:
    """A matrix of dissimilarities: square, symmetric, finite, ≥ 0, and 0 on the diagonal."""
    matrix = as_inputs(distances)
    n = len(matrix)
    if matrix.shape != (n, n):
        raise DataError(
            f"a precomputed matrix must be square, not of shape {matrix.shape}; "
            "name a metric if these are operators"
        )
    if n == 0:
        raise DataError("there are no points; give at least one")
    if (matrix < 0).any():
        i, j = (int(k) for k in np.argwhere(matrix < 0)[0])
        raise DataError(f"dissimilarities must be ≥ 0, but entry ({i}, {j}) is {matrix[i, j]}")
    diagonal = np.flatnonzero(matrix.diagonal())
    if len(diagonal):
        i = int(diagonal[0])
        raise DataError(f"the diagonal must be 0, but entry ({i}, {i}) is {matrix[i, i]}")
    skew = np.abs(matrix - matrix.T)
    if skew.max() > 1e-9 * matrix.max():
        i, j = divmod(int(skew.argmax()), n)
        raise DataError(
            f"the matrix must be symmetric, but entries ({i}, {j}) and ({j}, {i}) are "
            f"{matrix[i, j]} and {matrix[j, i]}"
        )
    return np.maximum(matrix, matrix.T)


def distinct_points(points: FloatArray) -> tuple[IntArray, IntArray]:
    """First row of every distinct point, points sorted; and each row's place among them.

    Examples
    --------
    >>> import numpy as np
    >>> distinct_points(np.array([[1.0], [0.0], [1.0]]))
    (array([1, 0]), array([1, 0, 1]))
    """
    order = np.lexsort(points.T[::-1])
    ordered = points[order]
    new = np.ones(len(points), dtype=bool)
    new[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    inverse = np.empty(len(points), dtype=np.int64)
    inverse[order] = np.cumsum(new) - 1
    return order[new], inverse


def check_start(start: int | None, n: int) -> None:
    """Refuse a start that is no point."""
    if start is not None and not 0 <= start < n:
        raise OptionError(f"start={start} is none of the {n} points")


def spanning_order(
    points: FloatArray, metric: Dissimilarity, start: int | None
) -> tuple[IntArray, FloatArray]:
    """Prim's order of all rows and the height of each, equal rows side by side at height 0."""
    check_start(start, len(points))
    first, inverse = distinct_points(points)
    unique = points[first]
    begin = None if start is None else int(inverse[start])
    if metric.embeddable:
        order, heights = order_of_embedded(metric.embed(unique), metric, begin)
    else:
        order, heights = order_of_callable(unique, metric, begin)
    # Rows of one distinct point, in the order of the rows, take its place one after the other.
    place = np.empty(len(first), dtype=np.int64)
    place[order] = np.arange(len(first))
    rows = np.argsort(place[inverse], kind="stable")
    spread = np.zeros(len(points))
    positions = place[inverse][rows]
    opens = np.ones(len(points), dtype=bool)
    opens[1:] = positions[1:] != positions[:-1]
    spread[opens] = heights
    if start is not None:
        # Among equal rows, the one asked for leads.
        lead = int(np.flatnonzero(rows == start)[0])
        rows[: lead + 1] = np.roll(rows[: lead + 1], 1)
    return rows, spread


def order_of_embedded(
    embedded: FloatArray, metric: Dissimilarity, start: int | None
) -> tuple[IntArray, FloatArray]:
    """Order and heights of distinct points given as mapped vectors."""
    from choquet.clustering._kernels import order_of_tree, prim

    # A total that all operators share, up to rounding, is a coordinate that tells nothing apart.
    width = np.ptp(embedded, axis=0)
    varies = width > 1e-14 * np.abs(embedded).max(initial=0.0)
    vectors = np.ascontiguousarray(embedded[:, varies] if varies.any() else embedded[:, :1])
    begin = end_of_diameter(vectors, metric) if start is None else start
    n, dim = vectors.shape
    if n > TREE_POINTS and dim <= TREE_DIMENSIONS:
        turned = _without_total(vectors, metric.p)
        edges, lengths = spanning_tree(turned, float(metric.p))
        if turned is not vectors:  # free of what the reflection rounded
            lengths = np.sqrt(((vectors[edges[:, 0]] - vectors[edges[:, 1]]) ** 2).sum(axis=1))
        first, neighbour, lengths = as_adjacency(n, edges, lengths)
        order, heights = order_of_tree(first, neighbour, lengths, begin)
    else:
        order, heights = prim(vectors, float(metric.p), begin)
    return order, heights if metric.power == 1.0 else heights**metric.power


def _without_total(vectors: FloatArray, p: float) -> FloatArray:
    """The same Euclidean distances with one coordinate less, where all rows add up to one total.

    Weights of operators do. A reflection takes the direction of the total to the last axis. It pays
    from nine coordinates to eight, which processors take four at a time.
    """
    dim, totals = vectors.shape[1], vectors.sum(axis=1)
    if p != 2.0 or dim != 9 or np.ptp(totals) > 1e-14 * np.abs(totals).max():
        return vectors
    turn = np.full(dim, dim**-0.5)
    turn[-1] -= 1.0
    along = (vectors @ turn) * (2.0 / (turn @ turn))
    return np.ascontiguousarray(vectors[:, :-1] - along[:, None] * turn[:-1])


def as_adjacency(
    n: int, edges: IntArray, lengths: FloatArray
) -> tuple[IntArray, IntArray, FloatArray]:
    """Neighbours of every point of a tree, with the first place of each point's."""
    sources = np.concatenate([edges[:, 0], edges[:, 1]])
    targets = np.concatenate([edges[:, 1], edges[:, 0]])
    by_source = np.argsort(sources, kind="stable")
    first = np.zeros(n + 1, dtype=np.int64)
    np.cumsum(np.bincount(sources, minlength=n), out=first[1:])
    return first, targets[by_source], np.concatenate([lengths, lengths])[by_source]


def end_of_diameter(vectors: FloatArray, metric: Dissimilarity) -> int:
    """One end of the largest distance: the first in the points' order, if exact."""
    from choquet.clustering._kernels import diameter, gap, root

    middle = vectors.mean(axis=0, keepdims=True)
    norm = Dissimilarity("norm", "", metric.largest, p=metric.p)
    radius = norm.between_embedded(middle, vectors)[0]
    one = int(radius.argmax())
    other = int(norm.between_embedded(vectors[one : one + 1], vectors)[0].argmax())
    if len(vectors) > EXACT_START:
        return min(one, other)
    known = root(gap(vectors[one], vectors[other], metric.p), metric.p)
    ranking = np.argsort(-radius, kind="stable")
    return int(diameter(vectors, ranking, radius, metric.p, known)[0])


def order_of_callable(
    points: FloatArray, metric: Dissimilarity, start: int | None
) -> tuple[IntArray, FloatArray]:
    """Prim with one call of the user's function per point."""
    n = len(points)
    if start is None:
        start = ends_by_rows(points, metric)
    left = np.arange(n)
    key = np.full(n, np.inf)
    order = np.empty(n, dtype=np.int64)
    heights = np.zeros(n)
    at = int(start)
    for r in range(n):
        here = int(left[at])
        order[r], heights[r] = here, key[at] if r else 0.0
        left, key = np.delete(left, at), np.delete(key, at)
        if r < n - 1:
            row = metric.matrix(points[here : here + 1], points[left])[0]
            key = np.minimum(key, row)
            at = int(key.argmin())
    return order, heights


def ends_by_rows(points: FloatArray, metric: Dissimilarity) -> int:
    """One end of the largest dissimilarity under a user's function, by rows; two sweeps if many."""
    n = len(points)
    if n > EXACT_START // 10:
        one = int(metric.matrix(points[:1], points)[0].argmax())
        return min(one, int(metric.matrix(points[one : one + 1], points)[0].argmax()))
    largest = [metric.matrix(points[i : i + 1], points)[0].max() for i in range(n)]
    return int(np.argmax(largest))


def spanning_order_of_matrix(
    distances: FloatArray, start: int | None
) -> tuple[IntArray, FloatArray]:
    """Prim's order and heights on a checked matrix."""
    from choquet.clustering._kernels import prim_of_matrix

    check_start(start, len(distances))
    begin = int(distances.argmax()) // len(distances) if start is None else start
    return prim_of_matrix(distances, begin)
