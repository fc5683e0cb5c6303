"""Fitting to data that arrive in chunks, or that were summed up elsewhere; solved once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from os import PathLike
from typing import Any

import numpy as np

from choquet.arrays import FloatArray
from choquet.certainty.noise import MOST_ROWS, MOST_SOURCES
from choquet.errors import DataError, SourceError
from choquet.estimators.common import (
    IncrementalRegressor,
    Material,
    check_sums,
    names_or_numbers,
)
from choquet.learning.data.chunks import Chunk, Evidence, evidence_of_chunks, support_of
from choquet.learning.data.minima import MinimaStatistics
from choquet.learning.data.scale import check_information
from choquet.learning.data.statistics import Statistics, sample_weights


def fit_chunks(
    estimator: IncrementalRegressor,
    chunks: Iterable[Chunk],
    *,
    sources: Sequence[str] | None = None,
    checkpoint: str | PathLike[str] | None = None,
    checkpoint_every: int = 100,
) -> Any:
    """Fit to chunks of rows; their statistics are kept, and solved once.

    From up to 20,000 rows, drawn evenly, it is learned where the noise is large; then they go. A
    run that goes on from a checkpoint has not seen all rows, and takes the noise as alike.

    Parameters
    ----------
    estimator : IncrementalRegressor
        One that learns from statistics, with squared loss.
    chunks : iterable of (X, y) or (X, y, sample_weight)
        Rows by source, their targets, and their weights.
    sources : sequence of str, optional
        Names of the sources, for the measure; frames are read by them. By default those of the
        first frame.
    checkpoint : str or path, optional
        A file for the sums so far. A run that was stopped, or a chunk that failed, loses nothing:
        call again with the same chunks and file, and those in it are skipped.
    checkpoint_every : int, default 100
        Chunks between two writes.

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
    check_sums(estimator)
    kept = _Kept()

    def make(X: Any, y: Any, sample_weight: Any = None) -> Evidence:
        found = estimator._evidence(X, y, sample_weight)
        kept.add(X, y, sample_weight)
        return found

    evidence = evidence_of_chunks(
        chunks, make=make, sources=sources, checkpoint=checkpoint, checkpoint_every=checkpoint_every
    )
    fit_evidence(estimator, evidence, sources=sources)
    if kept.n_seen == evidence.support.n_samples:  # none of them in a checkpoint
        kept.tell(estimator)
    return estimator


class _Kept:
    """Rows drawn evenly from all that pass, to learn from how the noise differs between them."""

    def __init__(self) -> None:
        self.n_seen = 0
        self._rows: FloatArray | None = None
        self._rng = np.random.default_rng(0)

    def add(self, X: Any, y: Any, sample_weight: Any) -> None:
        """Look at some more rows, and keep those of the least random numbers."""
        if np.shape(X)[1] > MOST_SOURCES:
            return
        weights = sample_weights(sample_weight, len(X))
        rows = np.column_stack([self._rng.random(len(X)), weights, y, X])[weights > 0]
        self.n_seen += len(rows)
        rows = rows if self._rows is None else np.concatenate([self._rows, rows])
        if len(rows) > MOST_ROWS:
            rows = rows[np.argpartition(rows[:, 0], MOST_ROWS)[:MOST_ROWS]]
        self._rows = rows

    def tell(self, estimator: IncrementalRegressor) -> None:
        """Let a fitted model learn from the rows that were kept."""
        if self._rows is not None:
            weight, y, X = self._rows[:, 1], self._rows[:, 2], self._rows[:, 3:]
            estimator._learn_noise(X, y, weight, part=self.n_seen > len(X))


def fit_evidence(
    estimator: IncrementalRegressor,
    evidence: Evidence,
    *,
    sources: Sequence[str] | None = None,
) -> Any:
    """Fit to evidence that was gathered elsewhere: one solve, and no row is looked at.

    Parameters
    ----------
    estimator : IncrementalRegressor
        One that learns from statistics, with squared loss.
    evidence : Evidence
        From `evidence_of_chunks` or `evidence_from_dask`.
    sources : sequence of str, optional
        Names of the sources, for the measure; by default those that the support knows.

    Returns
    -------
    The estimator, fitted; `partial_fit` goes on from there.

    Examples
    --------
    >>> import numpy as np
    >>> from choquet import ChoquetRegressor
    >>> from choquet.learning.data.chunks import evidence_of
    >>> X = np.random.default_rng(0).random((60, 2))
    >>> fit_evidence(ChoquetRegressor(), evidence_of(X, X.min(axis=1))).measure_.values.round(3)
    array([0., 0., 0., 1.])
    """
    check_sums(estimator)
    statistics = evidence.statistics
    wanted = estimator._order(statistics.n_sources)
    if isinstance(statistics, MinimaStatistics) and statistics.order != wanted:
        # Minima serve k-additive learning beyond 16 sources, of their own k, and nothing else.
        need = "without it" if wanted is None else f"with k_additive={wanted}"
        raise DataError(
            f"the statistics of {statistics.n_sources} sources were gathered with k_additive="
            f"{statistics.order}; for this {type(estimator).__name__} gather them {need}"
        )
    if sources is not None and len(sources) != statistics.n_sources:
        raise SourceError(
            f"{len(sources)} names were given for {statistics.n_sources} sources: "
            f"{', '.join(sources)}"
        )
    known = evidence.support.sources
    if sources is not None and known and set(known) == set(sources) and known != tuple(sources):
        raise SourceError(
            f"the evidence is of {', '.join(known)} in this order, not of {', '.join(sources)}"
        )
    check_information(statistics, normal=not estimator._relaxed())
    # The measure takes the names; rows came as arrays, and so may those to predict.
    if hasattr(estimator, "feature_names_in_"):
        del estimator.feature_names_in_
    names = names_or_numbers(sources or known, statistics.n_sources)
    return estimator._learn_from(Material(statistics, evidence.support, names))


def fit_statistics(
    estimator: IncrementalRegressor,
    statistics: Statistics | MinimaStatistics,
    *,
    sources: Sequence[str] | None = None,
) -> Any:
    """Fit to statistics alone: as `fit_evidence`, but `support_` then knows subsets, not sorts.

    Of `MinimaStatistics` it knows neither.

    Parameters
    ----------
    estimator : IncrementalRegressor
        One that learns from statistics, with squared loss.
    statistics : Statistics or MinimaStatistics
        From `statistics_of_chunks` or `statistics_from_dask`.
    sources : sequence of str, optional
        Names of the sources, for the measure.

    Returns
    -------
    The estimator, fitted.

    Examples
    --------
    >>> import numpy as np
    >>> from choquet import ChoquetRegressor
    >>> from choquet.learning import Statistics
    >>> X = np.random.default_rng(0).random((60, 2))
    >>> known = Statistics.from_data(X, X.min(axis=1))
    >>> fit_statistics(ChoquetRegressor(), known).measure_.values.round(3)
    array([0., 0., 0., 1.])
    """
    return fit_evidence(estimator, Evidence(statistics, support_of(statistics)), sources=sources)
