"""From a measure to a handful of contextual order statistics, in one call.

    sample → dissimilarity → iVAT → clusters → medoids → rules → Decomposition

Each stage is a function of its own: `sample_operators`, `dissimilarity`, `ivat`, `cluster`,
`medoids`, `find_rules`.
"""

from __future__ import annotations

from dataclasses import replace
from math import ceil
from typing import Any, Literal

import numpy as np

from choquet.arrays import FloatArray, IntArray
from choquet.clustering.clodd import clodd, one_cluster
from choquet.clustering.clusters import Clusterer, cluster
from choquet.clustering.ivat import IVAT, ivat
from choquet.clustering.medoids import medoids
from choquet.clustering.partition import Partition, canonical_labels
from choquet.decomposition.clusters import ClusterDecomposition
from choquet.decomposition.outcome import outcome_of
from choquet.decomposition.result import Identified
from choquet.decomposition.sample import OperatorSample, sample_operators
from choquet.errors import DataError, OptionError
from choquet.measures import AbstractMeasure
from choquet.operators.dissimilarity import Dissimilarity, Metric, as_dissimilarity
from choquet.scales import unwrapped
from choquet.walks import DataSupport

__all__ = ["decompose"]

_COUNT_LEAST, _COUNT_LIMIT = 1000, 1 << 50
"""Multiplicities are scaled to add up to a number in this range; floats count it exactly."""


def decompose(
    measure: Any,
    *,
    support: DataSupport | Literal["auto"] | None = "auto",
    epsilon: float = 0.0,
    metric: Metric = "rms",
    method: Literal["clodd", "single_linkage", "fuzzy_c_means", "distinct"] | Clusterer = "clodd",
    k: int | None = None,
    level: float | None = None,
    alpha: float = 0.5,
    gamma: float = 0.05,
    max_clusters: int = 10,
    same_below: float = 0.01,
    scale: float | Literal["largest", "data"] = "largest",
    identification: Identified | None = None,
    decimals: int = 9,
    max_operators: int = 1_000_000,
    n_walks: int = 20_000,
    rng: Any = 0,
) -> ClusterDecomposition:
    """Decompose a measure, or a model that learned one, into contextual order statistics.

    Parameters
    ----------
    measure : AbstractMeasure or fitted model
        A model has ``measure_``, and ``support_`` where it learned from data. It may stand at the
        end of a pipeline of scalers: the decomposition then takes the data as they are. Beyond 16
        sources models know some subsets only; the walks are then those that data observed, each as
        often as it was, and what is said of shares and errors is about them.
    support : DataSupport, "auto" or None, default "auto"
        Take only walks that data support. "auto" takes the model's own support if it has one; None
        takes all walks.
    epsilon : float, default 0
        Take walks with Φ < epsilon as supported; 0 those with Φ = 0.
    metric : str, Dissimilarity or callable, default "rms"
        A row of `DISSIMILARITIES`; one made by `lp`, `a_norm` or `precomputed`; or a function.
    method : str or object, default "clodd"
        How to cluster: "clodd"; "single_linkage" with `k` or `level`; "fuzzy_c_means" with `k`;
        "distinct", every distinct operator on its own; or any object with ``fit_predict``.
    k, level : optional
        Number of clusters, or height to cut at, for the methods that take them.
    alpha, gamma, max_clusters : optional
        Of CLODD; see `clodd`. Note that gamma = 0.05 hides operators used by under 5 % of walks.
    same_below : float, default 0.01
        If no two operators differ by more than this in output, for any input in [0, 1], the answer
        is one operator. It is looked at before clustering, for CLODD only.
    scale : float, "largest" or "data", default "largest"
        White in pictures drawn with ``scale=d.scale`` (0 is black): the largest possible
        dissimilarity on the simplex, as the paper has it; the largest found; or a number, to share
        one scale between decompositions.
    identification : Identification, optional
        What ``model.identify()`` found: which walks the data pin down. Operators then tell the
        share of their walks that are (`stable_share`).
    decimals : int, default 9
        Values that agree when rounded to so many decimals are one value.
    max_operators, n_walks : int
        List all distinct operators up to the first; beyond it draw the second number of walks.
    rng : seed or numpy.random.Generator, default 0
        For draws, where there are any.

    Returns
    -------
    ClusterDecomposition

    References
    ----------
    Anderson et al. Fuzzy Integral = Contextual Linear Order Statistic, Algorithms 2-4.

    Examples
    --------
    >>> from choquet import Measure, decompose
    >>> g = Measure([0, 0, 1, 1, 1, 1, 1, 1], sources=["gpr", "ir", "emi"])
    >>> print(decompose(g))
    2 operators in place of 2**3 values, exact
      1. max (1, 0, 0), 66.7 % of walks
      2. median (0, 1, 0), 33.3 % of walks
    If gpr is the largest: median; otherwise: max.
    """
    model, units, names, _ = unwrapped(measure)
    measure, support, bias = _measure_of(model, support)
    if names is not None and names != tuple(measure.sources):
        measure = measure.renamed(names)
    row = as_dissimilarity(metric)
    sample = sample_operators(
        measure,
        support,
        epsilon=epsilon,
        decimals=decimals,
        max_operators=max_operators,
        n_walks=n_walks,
        rng=rng,
    )
    counts = _scaled(sample.counts)
    picture = ivat(sample.weights, metric=row, counts=counts)
    partition = _partition(
        sample,
        picture,
        row,
        counts,
        method,
        k,
        level,
        (alpha, gamma, max_clusters),
        same_below,
        rng,
    )
    partition, centres = _centres(sample, partition, row, counts)
    return ClusterDecomposition(
        sample=sample,
        ivat=picture,
        partition=partition,
        centres=centres,
        metric=row,
        scale=_scale(scale, row, picture, measure),
        support=sample.graph.support,
        bias=bias,
        identification=identification,
        outcome=outcome_of(model),
        units=units,
    )


def _measure_of(model: Any, support: Any) -> tuple[Any, DataSupport | None, float]:
    """Measure, support and bias of what was given."""
    measure = model if isinstance(model, AbstractMeasure) else getattr(model, "measure_", None)
    if measure is None and hasattr(model, "decomposition_"):
        raise DataError(
            f"a {type(model).__name__} learned its operators directly and holds no measure to take "
            "apart; what it learned is in decomposition_"
        )
    if not isinstance(measure, AbstractMeasure):
        raise DataError(
            f"cannot decompose {type(model).__name__}: give a measure or a fitted model"
        )
    if isinstance(support, str):
        if support != "auto":
            raise OptionError(f"support={support!r} is unknown; give a DataSupport, 'auto' or None")
        support = getattr(model, "support_", None)
    return measure, support, float(getattr(model, "intercept_", 0.0))


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


def _partition(
    sample: OperatorSample,
    picture: IVAT,
    metric: Dissimilarity,
    counts: IntArray,
    method: Any,
    k: int | None,
    level: float | None,
    clodd_options: tuple[float, float, int],
    same_below: float,
    rng: Any,
) -> Partition:
    if isinstance(method, str) and method == "distinct":
        every = np.arange(len(sample.weights))
        return Partition(canonical_labels(every, counts), len(every), "distinct", proved=True)
    if isinstance(method, str) and method == "clodd":
        if k is not None or level is not None:
            raise OptionError(
                f"k={k}, level={level}: CLODD chooses the number itself (up to max_clusters); "
                "for a number of your own use method='single_linkage'"
            )
        alpha, gamma, most = clodd_options
        levels = np.cumsum(sample.weights, axis=1)
        if (levels.max(axis=0) - levels.min(axis=0)).max() <= same_below:
            return one_cluster(picture, "clodd", proved=True)
        return clodd(picture, alpha=alpha, gamma=gamma, max_clusters=most)
    if isinstance(method, str) and method == "single_linkage":
        return cluster(picture, method="single_linkage", k=k, level=level)
    return cluster(
        sample.weights, method=method, metric=metric, counts=counts, k=k, level=level, rng=rng
    )


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


def _scale(scale: Any, metric: Dissimilarity, picture: IVAT, measure: Any) -> float:
    largest_found = float(picture.heights.max(initial=0.0)) or 1.0
    if scale == "data":
        return largest_found
    if scale == "largest":
        # Regression operators are not on the simplex, so nothing bounds them.
        possible = metric.largest(measure.n_sources)
        bounded = measure.monotone and measure.normal and np.isfinite(possible) and possible > 0
        return float(possible) if bounded else largest_found
    if isinstance(scale, str) or not scale > 0:
        raise OptionError(f"scale={scale!r} is unknown; give 'largest', 'data' or a number above 0")
    return float(scale)
