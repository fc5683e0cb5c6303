"""Data on a cluster: evidence by partition, added up in a tree, for one solve."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from choquet.errors import DataError, MissingDependencyError
from choquet.learning.chunked import Evidence, evidence_of
from choquet.learning.statistics import Statistics

__all__ = ["evidence_from_dask", "statistics_from_dask"]

_FAN_IN = 8
"""Partial sums that one task adds."""


def statistics_from_dask(X: Any, y: Any, sample_weight: Any = None) -> Statistics:
    """Statistics of a Dask array or data frame, without the sorts that support keeps.

    Parameters and errors are those of `evidence_from_dask`; the result is for `fit_statistics` of
    `choquet.learning.estimators`. It is several times faster, and its size has a bound.
    """
    found: Statistics = _tree_sum(X, y, sample_weight, Statistics.from_data)
    return found


def evidence_from_dask(X: Any, y: Any, sample_weight: Any = None) -> Evidence:
    """Evidence of a Dask array or data frame, a partition at a time.

    Rows never move: each partition becomes its sums, and those are added eight at a time until one
    is left. A partition whose worker is lost is counted again by another, from where its rows come
    from, so nothing is lost and nothing counts twice.

    Parameters
    ----------
    X : dask array of shape (n_samples, n_sources), or dask data frame
    y : dask array of shape (n_samples,), or dask series
        In as many partitions as `X`, of the same lengths.
    sample_weight : dask array or series, optional
        Likewise.

    Returns
    -------
    Evidence
        For `fit_evidence` of `choquet.learning.estimators`.

    Raises
    ------
    DataError
        If numbers of partitions differ, a partition has another width than the others or other
        lengths in `X` and `y`, or no partition has a row.
    """
    found: Evidence = _tree_sum(X, y, sample_weight, evidence_of)
    return found


def _tree_sum(X: Any, y: Any, sample_weight: Any, make: Callable[..., Any]) -> Any:
    try:
        import dask
    except ImportError:
        raise MissingDependencyError("Clusters need dask: pip install 'choquet[dask]'") from None
    columns = [_partitions(X), _partitions(y)]
    if sample_weight is not None:
        columns.append(_partitions(sample_weight))
    counts = [len(parts) for parts in columns]
    if len(set(counts)) > 1:
        raise DataError(
            f"X, y and weights have {', '.join(map(str, counts))} partitions: rechunk or "
            "repartition them alike"
        )
    task, join = dask.delayed(_partial, pure=True), dask.delayed(_join, pure=True)
    level = [task(make, number, *parts) for number, parts in enumerate(zip(*columns, strict=True))]
    while len(level) > 1:
        level = [join(level[k : k + _FAN_IN]) for k in range(0, len(level), _FAN_IN)]
    total = level[0].compute() if level else None
    if total is None:
        raise DataError("no data: every partition is empty")
    return total[1]


def _partitions(data: Any) -> list[Any]:
    """Delayed partitions of rows; arrays must not be split between sources."""
    if not hasattr(data, "to_delayed"):
        raise DataError(
            f"a Dask array or data frame is needed, not {type(data).__name__}; use "
            "evidence_of_chunks for an iterator of arrays"
        )
    if hasattr(data, "chunks") and data.ndim == 2 and len(data.chunks[1]) > 1:
        data = data.rechunk({1: -1})
    return list(np.ravel(np.asarray(data.to_delayed(), dtype=object)))


def _partial(
    make: Callable[..., Any], number: int, X: Any, y: Any, weight: Any = None
) -> tuple[int, Any] | None:
    """Sums of one partition with its number, for messages; None if it has no row."""
    if not len(X) and not len(y):
        return None
    try:
        return number, make(np.asarray(X), np.asarray(y), weight)
    except DataError as error:
        raise DataError(f"partition {number}: {error}") from None


def _join(parts: list[tuple[int, Any] | None]) -> tuple[int, Any] | None:
    known = [part for part in parts if part is not None]
    if not known:
        return None
    number, total = known[0]
    for other, more in known[1:]:
        try:
            total = total + more
        except DataError as error:
            raise DataError(f"partitions {number} and {other}: {error}") from None
    return number, total
