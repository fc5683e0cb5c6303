"""The paper's method and related ones: distinct operators are clustered, one operator each."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from math import ceil
from typing import Any, Literal

import numpy as np

from choquet.arrays import FloatArray, IntArray
from choquet.clustering.clodd import CloddMethod, check_weights, clodd, one_cluster
from choquet.clustering.clusters import Clusterer, cluster
from choquet.clustering.ivat import IVAT, ivat
from choquet.clustering.medoids import medoids
from choquet.clustering.partition import Partition, canonical_labels
from choquet.decomposition.clusters import ClusterContexts, ClusterDecomposition
from choquet.decomposition.methods import Method, Task
from choquet.decomposition.sample import OperatorSample, sample_operators
from choquet.errors import OptionError
from choquet.measures import AbstractMeasure
from choquet.operators.dissimilarity import Dissimilarity, Metric, as_dissimilarity
from choquet.walks import sorts_of

_COUNT_LEAST, _COUNT_LIMIT = 1000, 1 << 50
"""Multiplicities are scaled to add up to a number in this range; floats count it exactly."""

_DRAWN = 1.0
"""Ridge towards the mean of a cluster's weights, in rows, where operators are fitted to data."""


@dataclass(frozen=True, eq=False)
class Drawn:
    """The operators that are to be clustered, their picture, and how often each counts."""

    sample: OperatorSample
    picture: IVAT
    counts: IntArray
    rng: Any


@dataclass(frozen=True, kw_only=True)
class ClusterMethod(Method[ClusterDecomposition]):
    """What all clusterings of operators share; `Clodd` explains the options."""

    metric: Metric = "rms"
    refit: bool = False
    epsilon: float = 0.0
    scale: float | Literal["largest", "data"] = "largest"
    decimals: int = 9
    max_operators: int = 1_000_000
    n_walks: int = 20_000

    def __post_init__(self) -> None:
        as_dissimilarity(self.metric)
        if isinstance(self.scale, str) and self.scale not in ("largest", "data"):
            raise OptionError(
                f"scale={self.scale!r} is unknown; give 'largest', 'data' or a number above 0"
            )
        if not isinstance(self.scale, str) and not self.scale > 0:
            raise OptionError(f"scale={self.scale!r} must be a number above 0")

    @abstractmethod
    def partition(self, drawn: Drawn) -> Partition:
        """Clusters of the operators."""

    def decompose(self, task: Task) -> ClusterDecomposition:
        """Cluster the operators of the measure, and find the one that stands for each cluster."""
        row = as_dissimilarity(self.metric)
        sample = sample_operators(
            task.measure,
            task.support,
            epsilon=self.epsilon,
            decimals=self.decimals,
            max_operators=self.max_operators,
            n_walks=self.n_walks,
            rng=task.rng,
        )
        counts = _scaled(sample.counts)
        picture = ivat(sample.weights, metric=row, counts=counts)
        partition = self.partition(Drawn(sample, picture, counts, task.rng))
        partition, centres = _centres(sample, partition, row, counts)
        if self.refit:
            centres = _refitted(sample, partition.labels, centres, row, task)
        return ClusterDecomposition(
            sample=sample,
            picture=picture,
            partition=partition,
            centres=centres,
            metric=row,
            scale=_scale(self.scale, row, picture, task.measure),
            support=task.support,
            bias=task.bias,
            **task.known,
        )


@dataclass(frozen=True, kw_only=True)
class Clodd(ClusterMethod):
    """The paper's method: CLODD on the iVAT image of the operators, with medoids.

    Parameters
    ----------
    metric : str, Dissimilarity or callable, default "rms"
        What operators are clustered by.
    refit : bool, default False
        Take the mean of a cluster, or least squares on its rows, in place of its medoid.
    epsilon : float, default 0
        Take walks with Φ < epsilon as supported; 0 those with Φ = 0.
    scale : float, "largest" or "data", default "largest"
        White in pictures: the largest possible dissimilarity, the largest found, or a number.
    decimals : int, default 9
        Values that agree when rounded to so many decimals are one value.
    max_operators : int, default 1,000,000
        List all distinct operators up to so many.
    n_walks : int, default 20,000
        Beyond that, draw so many walks.
    alpha : float, default 0.5
        Share of squareness in CLODD's objective; the rest is edginess.
    gamma : float, default 0.05
        Smallest share of walks that a cluster may have without a penalty: operators used by fewer
        walks are hidden.
    max_clusters : int, default 10
        Largest number of clusters tried.
    search : {"path+local", "exact", "swarm"}, default "path+local"
        How partitions are searched; see `clodd`, where it is called method.
    same_below : float, default 0.01
        The noise floor: an operator stands for all that differ from it by no more than this in
        output, for any input in [0, 1]. If one stands for all, the answer is one operator; clusters
        whose means one could stand for are one.

    References
    ----------
    Anderson et al. Fuzzy Integral = Contextual Linear Order Statistic, Algorithms 2-4.

    Examples
    --------
    >>> from choquet import Clodd, Measure, decompose
    >>> g = Measure([0, 0, 1, 1, 1, 1, 1, 1], sources=["gpr", "ir", "emi"])
    >>> print(decompose(g, method=Clodd()))
    2 operators in place of 2**3 values, exact
      1. max (1, 0, 0), 66.7 % of walks
      2. median (0, 1, 0), 33.3 % of walks
    If gpr is the largest: median; otherwise: max.
    """

    alpha: float = 0.5
    gamma: float = 0.05
    max_clusters: int = 10
    search: CloddMethod = "path+local"
    same_below: float = 0.01

    def __post_init__(self) -> None:
        super().__post_init__()
        check_weights(self.alpha, self.gamma)

    def partition(self, drawn: Drawn) -> Partition:
        """Blocks of the iVAT image."""
        levels = np.cumsum(drawn.sample.weights, axis=1)
        if np.ptp(levels, axis=0).max() <= 2 * self.same_below:
            return one_cluster(drawn.picture, "clodd", proved=True)
        found = clodd(
            drawn.picture,
            alpha=self.alpha,
            gamma=self.gamma,
            max_clusters=self.max_clusters,
            method=self.search,
            rng=drawn.rng,
        )
        return _joined(found, levels, drawn.counts, self.same_below)


def _joined(found: Partition, levels: FloatArray, counts: IntArray, same: float) -> Partition:
    """Clusters are one if some operator is within `same` of their means: complete linkage."""
    totals = np.bincount(found.labels, counts, found.n_clusters)
    means = np.zeros((found.n_clusters, levels.shape[1]))
    np.add.at(means, found.labels, counts[:, None] * levels)
    means /= totals[:, None]
    if found.n_clusters < 2:
        return found
    from scipy.cluster.hierarchy import fcluster, linkage
    from scipy.spatial.distance import pdist

    joined = fcluster(linkage(pdist(means, "chebyshev"), "complete"), 2 * same, "distance") - 1
    if joined.max() + 1 == found.n_clusters:
        return found
    labels = canonical_labels(np.asarray(joined[found.labels], dtype=np.int64), counts)
    return Partition(labels, int(joined.max()) + 1, found.method)


@dataclass(frozen=True, kw_only=True)
class Linkage(ClusterMethod):
    """Single linkage: the iVAT image cut into `k` clusters, or at a height `level`.

    Parameters
    ----------
    metric, refit, epsilon, scale, decimals, max_operators, n_walks : optional
        As for `Clodd`.
    k : int, optional
        Number of clusters.
    level : float, optional
        Height of the cut, in units of `metric`; give this or `k`.

    Examples
    --------
    >>> from choquet import Linkage, Measure, decompose
    >>> decompose(Measure.random(4, rng=0), method=Linkage(k=3)).n_operators
    3
    """

    k: int | None = None
    level: float | None = None

    def partition(self, drawn: Drawn) -> Partition:
        """Clusters below the cut."""
        return cluster(drawn.picture, method="single_linkage", k=self.k, level=self.level)


@dataclass(frozen=True, kw_only=True)
class FuzzyCMeans(ClusterMethod):
    """Fuzzy c-means with `k` clusters.

    Parameters
    ----------
    metric, refit, epsilon, scale, decimals, max_operators, n_walks : optional
        As for `Clodd`.
    k : int
        Number of clusters.

    Examples
    --------
    >>> from choquet import FuzzyCMeans, Measure, decompose
    >>> decompose(Measure.random(4, rng=0), method=FuzzyCMeans(k=2)).n_operators
    2
    """

    k: int

    def partition(self, drawn: Drawn) -> Partition:
        """Clusters by largest membership."""
        return cluster(
            drawn.sample.weights, method="fuzzy_c_means", metric=as_dissimilarity(self.metric),
            counts=drawn.counts, k=self.k, rng=drawn.rng,
        )  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Distinct(ClusterMethod):
    """No clustering: every distinct operator of the measure on its own.

    Parameters
    ----------
    metric, refit, epsilon, scale, decimals, max_operators, n_walks : optional
        As for `Clodd`.

    Examples
    --------
    >>> from choquet import Distinct, Measure, decompose
    >>> decompose(Measure([0, 0, 1, 1, 1, 1, 1, 1]), method=Distinct()).error.worst
    0.0
    """

    def partition(self, drawn: Drawn) -> Partition:
        """Each its own cluster."""
        every = np.arange(len(drawn.sample.weights))
        labels = canonical_labels(every, drawn.counts)
        return Partition(labels, len(every), "distinct", proved=True)


@dataclass(frozen=True, kw_only=True)
class Clustering(ClusterMethod):
    """Any clusterer with the interface of scikit-learn.

    Parameters
    ----------
    metric, refit, epsilon, scale, decimals, max_operators, n_walks : optional
        As for `Clodd`.
    clusterer : object
        With ``fit_predict``; see `cluster` for what it is given.

    Examples
    --------
    >>> from sklearn.cluster import DBSCAN
    >>> from choquet import Clustering, Measure, decompose
    >>> method = Clustering(clusterer=DBSCAN(eps=1e-3, min_samples=1))
    >>> decompose(Measure([0, 0, 1, 1, 1, 1, 1, 1]), method=method).n_operators
    2
    """

    clusterer: Clusterer

    def partition(self, drawn: Drawn) -> Partition:
        """What the clusterer says."""
        return cluster(
            drawn.sample.weights, method=self.clusterer, metric=as_dissimilarity(self.metric),
            counts=drawn.counts, rng=drawn.rng,
        )  # fmt: skip


def _scaled(counts: IntArray) -> IntArray:
    """Multiplicities in numbers that clustering can work with.

    Few walks are counted several times: CLODD gives nothing for a cluster of one point, and with
    the 2 walks of two sources each would be such a point. What is too rare is for gamma to say,
    which is a share. Very many are scaled down, to add up as floats.
    """
    total = float(counts.sum(dtype=np.float64))
    if total > _COUNT_LIMIT:
        few: IntArray = np.rint(counts * (_COUNT_LIMIT / 2 / total)).astype(np.int64)
        return np.maximum(few, 1)
    return np.asarray(counts * ceil(_COUNT_LEAST / total))


def _centres(
    sample: OperatorSample, partition: Partition, metric: Dissimilarity, counts: IntArray
) -> tuple[Partition, FloatArray]:
    """Medoid of each cluster; operators that a clusterer calls noise go to the nearest."""
    chosen = medoids(sample.weights, partition.labels, counts=counts, metric=metric)
    centres = sample.weights[chosen]
    noise = np.flatnonzero(partition.labels < 0)
    if not len(noise):
        return partition, centres
    labels = partition.labels.copy()
    labels[noise] = metric.matrix(sample.weights[noise], centres).argmin(axis=1)
    return replace(partition, labels=labels), centres


def _refitted(
    sample: OperatorSample,
    labels: IntArray,
    centres: FloatArray,
    metric: Dissimilarity,
    task: Task,
) -> FloatArray:
    """The operators that fit their clusters best, under uniform inputs or on the rows."""
    shares = sample.shares
    means = np.array(
        [
            shares[labels == k] @ sample.weights[labels == k] / shares[labels == k].sum()
            for k in range(len(centres))
        ]
    )
    if task.X is None:
        return means
    contexts = ClusterContexts(sample, labels, centres, metric)
    place = contexts.labels_of_sorts(sorts_of(task.X))
    output, ordered = task.measure.integral(task.X), -np.sort(-task.X, axis=1)
    found = means.copy()
    for k, mean in enumerate(means):
        S, f = ordered[place == k], output[place == k]
        gram = S.T @ S + _DRAWN * np.eye(len(mean))
        found[k] = np.linalg.solve(gram, S.T @ f + _DRAWN * mean)
    return found


def _scale(scale: Any, metric: Dissimilarity, picture: IVAT, measure: AbstractMeasure) -> float:
    largest_found = float(picture.heights.max(initial=0.0)) or 1.0
    if scale == "data":
        return largest_found
    if scale == "largest":
        # Regression operators are not on the simplex, so nothing bounds them.
        possible = metric.largest(measure.n_sources)
        bounded = measure.monotone and measure.normal and np.isfinite(possible) and possible > 0
        return float(possible) if bounded else largest_found
    return float(scale)
