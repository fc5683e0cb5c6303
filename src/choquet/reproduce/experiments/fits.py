"""Fits and comparisons that several experiments use."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import numpy.typing as npt

from choquet.arrays import FloatArray, IntArray
from choquet.clustering import clodd, ivat
from choquet.errors import SupportWarning
from choquet.measures import Measure
from choquet.operators import dissimilarity
from choquet.operators.dissimilarity import MetricName
from choquet.walks import walk_weights


def fit(X: npt.ArrayLike, y: npt.ArrayLike, **options: Any) -> Any:
    """A fitted `ChoquetRegressor`; thin support is what the experiments are about, so no warning.

    Examples
    --------
    >>> fit([[0.9, 0.4], [0.2, 0.6]], [0.6, 0.48]).measure_.values.round(6)
    array([0. , 0.4, 0.7, 1. ])
    """
    from choquet import estimators

    regressor: Any = estimators.ChoquetRegressor
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SupportWarning)
        return regressor(**options).fit(X, y)


def agreement(first: npt.ArrayLike, second: npt.ArrayLike) -> float:
    """Adjusted Rand index of two partitions: 1 for the same, 0 for chance.

    References
    ----------
    Hubert & Arabie (1985), "Comparing partitions".

    Examples
    --------
    >>> agreement([0, 0, 1, 1], [5, 5, 2, 2])
    1.0
    """
    from sklearn.metrics import adjusted_rand_score

    return float(adjusted_rand_score(np.asarray(first), np.asarray(second)))


def picture_correlation(first: FloatArray, second: FloatArray) -> float:
    """Correlation of two iVAT matrices of the same walks, over pairs; NaN if one is constant.

    Examples
    --------
    >>> import numpy as np
    >>> a = np.array([[0.0, 1, 2], [1, 0, 2], [2, 2, 0]])
    >>> round(picture_correlation(a, 3 * a), 6)
    1.0
    """
    pairs = np.triu_indices(len(first), 1)
    a, b = first[pairs], second[pairs]
    if len(a) < 2 or np.ptp(a) < 1e-12 or np.ptp(b) < 1e-12:
        return float("nan")
    return float(np.corrcoef(a, b)[0, 1])


def mean_walk(measure: Measure) -> FloatArray:
    """Mean weights by rank over all walks: differences of the mean values by size of subset.

    Examples
    --------
    >>> mean_walk(Measure([0, 0, 1, 1, 1, 1, 1, 1])).round(3)
    array([0.667, 0.333, 0.   ])
    """
    sizes = np.bitwise_count(np.arange(1 << measure.n_sources))
    means = np.bincount(sizes, weights=measure.values) / np.bincount(sizes)
    return np.asarray(np.diff(means))


def operators_text(weights: npt.ArrayLike, decimals: int = 3) -> str:
    """Weights of operators as they stand in a table.

    Examples
    --------
    >>> operators_text([[1, 0], [0.25, 0.75]], 2)
    '(1, 0) (0.25, 0.75)'
    """
    rows = np.atleast_2d(np.asarray(weights, dtype=np.float64)).round(decimals) + 0.0
    return " ".join(f"({', '.join(f'{value:g}' for value in row)})" for row in rows)


def nearest(weights: npt.ArrayLike, found: FloatArray) -> float:
    """Largest difference of output, over inputs in [0, 1], to the nearest operator found.

    Examples
    --------
    >>> import numpy as np
    >>> nearest([1, 0], np.array([[0.9, 0.1], [0, 1]])).__round__(6)
    0.1
    """
    row = np.asarray(weights, dtype=np.float64)[None]
    return float(dissimilarity(row, found, metric="worst").min())


def count_operators(values: FloatArray, sorts: IntArray, metric: MetricName = "rms") -> int:
    """Operators that CLODD finds among the walks of a regression.

    Examples
    --------
    >>> from choquet.walks import all_sorts
    >>> count_operators(np.array([0, 0, 1, 1, 1, 1, 1, 1.0]), all_sorts(3))
    2
    """
    points = walk_weights(Measure(values, monotone=False, normal=False), sorts).round(6)
    return clodd(ivat(points, metric=metric), same_below=1e-6).n_clusters
