"""Fitting to data that arrive in chunks, solved once at the end."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from choquet.arrays import FloatArray
from choquet.errors import DataError, OptionError, TooLargeError
from choquet.learning.estimators.common import IncrementalRegressor, check_information
from choquet.learning.statistics import Statistics
from choquet.walks import DataSupport

__all__ = ["fit_chunks"]

_BLOCK = 100_000
"""Rows whose statistics are taken at a time."""

_MAX_SORT_BYTES = 1 << 29
"""Size of the observed sorts, which alone grow with the rows: ten sources stay below it."""


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
        Names of the sources, for the measure.

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
    parts: list[_Part] = []
    for X, y in _blocks(chunks):
        parts.append(_Part(len(X), Statistics.from_data(X, y), DataSupport.from_data(X)))
        # Like a binary counter: every row takes part in few joins, though there be many blocks.
        while len(parts) > 1 and parts[-2].n_rows <= parts[-1].n_rows:
            parts[-2:] = [parts[-2].join(parts[-1])]
    if not parts:
        raise DataError("no data: there is no row to learn from")
    while len(parts) > 1:
        parts[-2:] = [parts[-2].join(parts[-1])]
    _, statistics, support = parts[0]
    check_information(statistics, normal=not estimator._relaxed())
    estimator.n_features_in_ = len(sources)
    estimator.feature_names_in_ = np.array(sources, dtype=object)
    try:
        estimator._solve(statistics)
    finally:
        # The measure has the names now; rows came as arrays, and so may those to predict.
        del estimator.feature_names_in_
    estimator.statistics_, estimator.support_ = statistics, support
    return estimator


class _Part(NamedTuple):
    n_rows: int
    statistics: Statistics
    support: DataSupport

    def join(self, other: _Part) -> _Part:
        support = self.support + other.support
        if support.observed_sorts.nbytes > _MAX_SORT_BYTES:
            raise TooLargeError(
                f"the first {self.n_rows + other.n_rows:,} rows hold "
                f"{len(support.observed_sorts):,} different sorts of {support.n_sources} sources, "
                f"which need more than {_MAX_SORT_BYTES >> 20} MiB; "
                "learn from fewer rows, or from fewer sources"
            )
        return _Part(self.n_rows + other.n_rows, self.statistics + other.statistics, support)


def _blocks(
    chunks: Iterable[tuple[FloatArray, FloatArray]],
) -> Iterator[tuple[FloatArray, FloatArray]]:
    """Chunks joined to blocks of some size: joining statistics costs more than small chunks do."""
    held: list[tuple[FloatArray, FloatArray]] = []
    n_rows = 0
    for X, y in chunks:
        held.append((X, y))
        n_rows += len(X)
        if n_rows >= _BLOCK:
            yield np.concatenate([X for X, _ in held]), np.concatenate([y for _, y in held])
            held, n_rows = [], 0
    if n_rows:
        yield np.concatenate([X for X, _ in held]), np.concatenate([y for _, y in held])
