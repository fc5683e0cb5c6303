"""Fitting to data that arrive in chunks, solved once at the end."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from choquet.arrays import FloatArray
from choquet.errors import DataError, OptionError
from choquet.learning.estimators.common import IncrementalRegressor, check_information
from choquet.learning.statistics import Statistics
from choquet.walks import DataSupport

__all__ = ["fit_chunks"]


def fit_chunks(
    estimator: IncrementalRegressor,
    chunks: Iterable[tuple[FloatArray, FloatArray]],
    *,
    sources: Sequence[str],
) -> Any:
    """Fit to chunks of rows; only their statistics are kept, and solved once.

    Parameters
    ----------
    estimator : IncrementalRegressor
        One that learns from statistics, with squared loss.
    chunks : iterable of (X, y)
        Rows by source, and their targets.
    sources : sequence of str
        Names of the sources.

    Returns
    -------
    The estimator, fitted.

    Examples
    --------
    >>> import numpy as np
    >>> from choquet import ChoquetRegressor
    >>> X = np.random.default_rng(0).random((60, 2))
    >>> parts = ((X[k : k + 20], X[k : k + 20].max(axis=1)) for k in (0, 20, 40))
    >>> fit_chunks(ChoquetRegressor(), parts, sources=["a", "b"]).measure_.values.round(3)
    array([0., 1., 1., 1.])
    """
    if getattr(estimator, "loss", "squared") != "squared":
        raise OptionError("loss='absolute' keeps no statistics: use fit, or loss='squared'")
    statistics: Statistics | None = None
    support: DataSupport | None = None
    for X, y in chunks:
        if not len(X):
            continue
        more, seen = Statistics.from_data(X, y), DataSupport.from_data(X)
        statistics = more if statistics is None else statistics + more
        support = seen if support is None else support + seen
    if statistics is None or support is None:
        raise DataError("no data: there is no row to learn from")
    check_information(statistics, normal=not estimator._relaxed())
    estimator.n_features_in_ = len(sources)
    estimator.feature_names_in_ = np.array(sources, dtype=object)
    estimator._solve(statistics)
    estimator.statistics_, estimator.support_ = statistics, support
    return estimator
