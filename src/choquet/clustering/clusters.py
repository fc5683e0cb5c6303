"""Every clustering through one door: single linkage, CLODD, fuzzy c-means, or an object given."""

from __future__ import annotations

import inspect
import math
from typing import Any, Literal, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from choquet.arrays import FloatArray, as_inputs, check_option, generator
from choquet.clustering.clodd import clodd
from choquet.clustering.ivat import IVAT, block_labels, ivat, refuse_matrix
from choquet.clustering.partition import Partition, canonical_labels, canonical_ranks
from choquet.clustering.spanning import check_counts, check_distances, distinct_points
from choquet.errors import DataError, OptionError
from choquet.operators.dissimilarity import Metric, as_dissimilarity

ClusterMethod = Literal["clodd", "single_linkage", "fuzzy_c_means"]


@runtime_checkable
class Clusterer(Protocol):
    """What is asked of a clusterer given as an object: scikit-learn's `fit_predict`."""

    def fit_predict(self, X: Any) -> Any:
        """Labels of the rows of X, negative for noise."""


def cluster(
    points: npt.ArrayLike | IVAT,
    *,
    method: ClusterMethod | Clusterer = "clodd",
    metric: Metric | Literal["precomputed"] = "rms",
    counts: npt.ArrayLike | None = None,
    k: int | None = None,
    level: float | None = None,
    rng: Any = None,
) -> Partition:
    """Cluster operators by a method of the library, or by a clusterer from scikit-learn.

    Parameters
    ----------
    points : array-like of shape (n, n_sources), or IVAT
        Operators; an image made before will do for "clodd" and "single_linkage".
    method : {"clodd", "single_linkage", "fuzzy_c_means"} or object, default "clodd"
        An object needs `fit_predict`. It gets the matrix of dissimilarities if its `metric` (or
        `affinity`) is "precomputed", otherwise the vectors whose norm is the dissimilarity; and
        the counts, if its `fit_predict` takes `sample_weight` (else they only number clusters).
    metric : str, Dissimilarity, callable or "precomputed", default "rms"
        See `ivat`; not used when an IVAT is given.
    counts : array-like of shape (n,), optional
        How often each operator occurs; not used when an IVAT is given.
    k : int, optional
        Number of clusters, for "single_linkage" and "fuzzy_c_means"; the most clusters, for
        "clodd" (10 when not given).
    level : float, optional
        For "single_linkage" instead of k: the height above which to cut. For "clodd": the height
        up to which all is one cluster.
    rng : seed or Generator, optional
        For "fuzzy_c_means".

    Returns
    -------
    Partition
        Clusters numbered by decreasing total count; noise, where the clusterer knows it, is -1.

    Examples
    --------
    >>> points = [[1, 0, 0], [0.9, 0.1, 0], [0, 0, 1], [0, 0.1, 0.9], [0.95, 0.05, 0]]
    >>> cluster(points, method="single_linkage", k=2).labels
    array([0, 0, 1, 1, 0])
    """
    if isinstance(method, str):
        check_option("method", method, ("clodd", "single_linkage", "fuzzy_c_means"))
    elif not isinstance(method, Clusterer):
        raise OptionError(
            f"method={method!r} is neither a name (clodd, single_linkage, fuzzy_c_means) nor an "
            "object with fit_predict"
        )
    elif k is not None or level is not None:
        raise OptionError(f"k={k} and level={level} are for named methods; set up the object")
    if method in ("clodd", "single_linkage"):
        picture = points if isinstance(points, IVAT) else ivat(points, metric=metric, counts=counts)
        if method == "clodd":
            return clodd(picture, max_clusters=10 if k is None else k, same_below=level or 0.0)
        cuts = picture.cut_positions(k=k, level=level)
        labels = canonical_labels(block_labels(picture, cuts), picture.counts)
        return Partition(labels, len(cuts) + 1, "single_linkage", cuts=cuts)
    if isinstance(points, IVAT):
        raise DataError(f"method={method!r} needs the operators themselves, not their image")
    if isinstance(method, Clusterer):
        return by_object(points, method, metric, counts)
    if level is not None or k is None:
        raise OptionError(f"fuzzy_c_means needs k and no level: k={k}, level={level}")
    if isinstance(metric, str) and metric == "precomputed":
        raise OptionError("fuzzy_c_means needs operators, not metric='precomputed'")
    return fuzzy_c_means(points, k, metric=metric, counts=counts, rng=rng)


def by_object(
    points: npt.ArrayLike, method: Clusterer, metric: Any, counts: npt.ArrayLike | None
) -> Partition:
    """Labels of a clusterer given as an object."""
    wants_matrix = "precomputed" in (
        getattr(method, "metric", None),
        getattr(method, "affinity", None),
    )
    if isinstance(metric, str) and metric == "precomputed":
        if not wants_matrix:
            raise OptionError(
                f"metric='precomputed' needs a clusterer set up for it, but {method!r} is not: "
                "give it metric='precomputed' too"
            )
        rows = check_distances(points)
    else:
        row = as_dissimilarity(metric)
        rows = as_inputs(points)
        if wants_matrix:
            refuse_matrix(len(rows))
            rows = row.matrix(rows, rows)
        elif row.embeddable:
            rows = row.embed(rows)
        else:
            raise OptionError(
                f"metric {row.name} has no vectors for {method!r}; give the clusterer "
                "metric='precomputed'"
            )
    multiplicity = check_counts(counts, len(rows))
    weights = {}
    if "sample_weight" in inspect.signature(method.fit_predict).parameters and counts is not None:
        weights["sample_weight"] = multiplicity.astype(np.float64)
    found = np.asarray(method.fit_predict(rows, **weights), dtype=np.int64)
    if found.shape != (len(rows),):
        raise DataError(f"{method!r} returned labels of shape {found.shape} for {len(rows)} points")
    labels = canonical_labels(found, multiplicity)
    return Partition(labels, int(labels.max(initial=-1)) + 1, type(method).__name__)


def fuzzy_c_means(
    points: npt.ArrayLike,
    k: int,
    *,
    metric: Metric = "rms",
    counts: npt.ArrayLike | None = None,
    fuzzifier: float = 2.0,
    n_starts: int = 5,
    max_iterations: int = 300,
    tolerance: float = 1e-7,
    rng: Any = None,
) -> Partition:
    """Fuzzy c-means: k centres, and how much each operator belongs to each of them.

    Parameters
    ----------
    points : array-like of shape (n, n_sources)
        Operators.
    k : int
        Number of clusters, at most the number of distinct operators.
    metric : str or Dissimilarity, default "rms"
        One that is Euclidean after its map: l2, sql2, hellinger, aitchison, rms, or `a_norm`.
    counts : array-like of shape (n,), optional
        How often each operator occurs: it weighs so much.
    fuzzifier : float, default 2
        Exponent of the memberships, above 1; towards 1 they become crisp.
    n_starts : int, default 5
        Random starts, of which the best is kept.
    max_iterations : int, default 300
        Iterations a start may take.
    tolerance : float, default 1e-7
        Stop when no membership changes by more.
    rng : seed or Generator, optional
        Randomness of the starts.

    Returns
    -------
    Partition
        With memberships; `labels` are the largest of them. Its score is minus the objective.

    References
    ----------
    Bezdek, "Pattern recognition with fuzzy objective function algorithms", 1981. Starts are spread
    as in Arthur and Vassilvitskii, "k-means++", 2007.

    Examples
    --------
    >>> partition = fuzzy_c_means([[1, 0], [0.9, 0.1], [0, 1]], 2, rng=0)
    >>> partition.labels, partition.memberships.shape
    (array([0, 0, 1]), (3, 2))
    """
    row = as_dissimilarity(metric)
    if row.p != 2.0:
        raise OptionError(
            f"fuzzy c-means needs a metric that is Euclidean after a map, not {row.name}"
        )
    if not fuzzifier > 1:
        raise OptionError(f"fuzzifier={fuzzifier} must be above 1")
    if n_starts < 1 or max_iterations < 1:
        raise OptionError(f"n_starts={n_starts} and max_iterations={max_iterations} must be ≥ 1")
    rows = as_inputs(points)
    multiplicity = check_counts(counts, len(rows))
    first, inverse = distinct_points(rows)
    if not 1 <= k <= len(first):
        raise OptionError(
            f"k={k} clusters cannot be made of {len(first)} distinct points; "
            f"choose 1 to {len(first)}"
        )
    vectors = row.embed(rows[first])
    weights = np.bincount(inverse, weights=multiplicity).astype(np.float64)
    random = generator(rng)
    best, memberships = math.inf, np.empty((0, 0))
    for _ in range(n_starts):
        centres = spread_centres(vectors, weights, k, random)
        cost, degrees = c_means(vectors, weights, centres, fuzzifier, max_iterations, tolerance)
        if cost < best:
            best, memberships = cost, degrees
    memberships = memberships[inverse]
    labels = memberships.argmax(axis=1)
    # A centre that is nobody's first choice keeps its column, after all others.
    padded = np.concatenate([labels, np.arange(k)])
    ranks = canonical_ranks(padded, np.concatenate([multiplicity, np.zeros(k, dtype=np.int64)]))
    ordered = np.empty_like(memberships)
    ordered[:, ranks] = memberships
    return Partition(ranks[labels], k, "fuzzy_c_means", score=-best, memberships=ordered)


def squared_distances(vectors: FloatArray, centres: FloatArray) -> FloatArray:
    """Squared Euclidean distance of every vector to every centre."""
    difference = vectors[:, None, :] - centres[None, :, :]
    return np.asarray(np.einsum("ijk,ijk->ij", difference, difference))


def spread_centres(
    vectors: FloatArray, weights: FloatArray, k: int, rng: np.random.Generator
) -> FloatArray:
    """Start centres drawn with probability proportional to squared distance from those drawn."""
    chosen: list[int] = []
    nearest = np.ones(len(vectors))
    for _ in range(k):
        chance = weights * nearest
        chance[chosen] = 0.0
        if chance.sum() <= 0:
            # Distinct operators can coincide under the metric; any of the rest will do.
            chance = weights.copy()
            chance[chosen] = 0.0
        chosen.append(int(rng.choice(len(vectors), p=chance / chance.sum())))
        away = squared_distances(vectors, vectors[chosen[-1:]])[:, 0]
        nearest = away if len(chosen) == 1 else np.minimum(nearest, away)
    return vectors[chosen]


def c_means(
    vectors: FloatArray,
    weights: FloatArray,
    centres: FloatArray,
    fuzzifier: float,
    max_iterations: int,
    tolerance: float,
) -> tuple[float, FloatArray]:
    """Alternate memberships and centres from given centres; the objective and the memberships."""
    before = np.zeros((len(vectors), len(centres)))
    for _ in range(max_iterations):
        away = squared_distances(vectors, centres)
        # On a centre (or two that coincide) the membership is shared among those alone.
        nearest = np.broadcast_to(away.min(axis=1, keepdims=True), away.shape)
        ratio = np.divide(nearest, away, out=np.ones_like(away), where=away > 0)
        degrees = ratio ** (1.0 / (fuzzifier - 1.0))
        degrees /= degrees.sum(axis=1, keepdims=True)
        powers = weights[:, None] * degrees**fuzzifier
        centres = (powers.T @ vectors) / np.maximum(powers.sum(axis=0), 1e-300)[:, None]
        if np.abs(degrees - before).max() <= tolerance:
            break
        before = degrees
    return float((powers * squared_distances(vectors, centres)).sum()), degrees
