"""Data on a cluster: evidence by partition, added up in a tree, for one solve."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from choquet.arrays import column_names
from choquet.errors import ClusterError, DataError, MissingDependencyError, OptionError
from choquet.learning.data.checkpoint import Checkpoint, content_after
from choquet.learning.data.chunks import Evidence, evidence_of, statistics_of

_FAN_IN = 8
"""Partial sums that one task adds."""


class _Partial(NamedTuple):
    """Sums of some partitions."""

    number: int
    """The first of them, for messages."""
    sums: Any
    contents: dict[int, str]
    """What each of them holds, as a digest, where a checkpoint wants to know."""


def statistics_from_dask(
    X: Any,
    y: Any,
    sample_weight: Any = None,
    *,
    k_additive: int | None = None,
    checkpoint: str | PathLike[str] | None = None,
    checkpoint_every: int = 64,
) -> Any:
    """Statistics of a Dask array or data frame, without the sorts that support keeps.

    Parameters and errors are those of `evidence_from_dask`; the result is for `fit_statistics` of
    `choquet.estimators`. It is several times faster, and its size has a bound.
    """
    make = partial(statistics_of, k_additive=k_additive)
    return _sum_all(X, y, sample_weight, make, checkpoint, checkpoint_every)


def evidence_from_dask(
    X: Any,
    y: Any,
    sample_weight: Any = None,
    *,
    k_additive: int | None = None,
    checkpoint: str | PathLike[str] | None = None,
    checkpoint_every: int = 64,
) -> Evidence:
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
    k_additive : int, optional
        As in `evidence_of`.
    checkpoint : str or path, optional
        A file for the sums of the first partitions, in which a run that failed begins again.
    checkpoint_every : int, default 64
        Partitions that are summed up before the file is written.

    Returns
    -------
    Evidence
        For `fit_evidence` of `choquet.estimators`.

    Raises
    ------
    DataError
        If numbers of partitions differ, a partition has another width than the others or other
        lengths in `X` and `y`, or no partition has a row.
    ClusterError
        If the cluster goes away, or a partition kills its workers.
    """
    make = partial(evidence_of, k_additive=k_additive)
    found: Evidence = _sum_all(X, y, sample_weight, make, checkpoint, checkpoint_every)
    return found.of(column_names(X))


def _sum_all(
    X: Any,
    y: Any,
    sample_weight: Any,
    make: Callable[..., Any],
    checkpoint: str | PathLike[str] | None,
    every: int,
) -> Any:
    if every < 1:
        raise OptionError(f"checkpoint_every={every} must be at least 1")
    columns = [_partitions(X), _partitions(y)]
    if sample_weight is not None:
        columns.append(_partitions(sample_weight))
    counts = [len(parts) for parts in columns]
    if len(set(counts)) > 1:
        raise DataError(
            f"X, y and weights have {', '.join(map(str, counts))} partitions: rechunk or "
            "repartition them alike"
        )
    rows = list(enumerate(zip(*columns, strict=True)))
    done = Checkpoint(0, 0, None, len(rows))
    if checkpoint is not None and Path(checkpoint).exists():
        done = Checkpoint.read(checkpoint)
        if done.whole != len(rows):
            raise DataError(
                f"the checkpoint is of data in {done.whole} partitions, not {len(rows)}; give "
                "another file name, or remove the file to begin anew"
            )
        done.refuse_other_sums(make)
        _refuse_other_partitions(done, rows)
    group = len(rows) if checkpoint is None else every
    total = None if done.total is None else _Partial(0, done.total, dict(done.parts))
    work = partial(_partial, make, checkpoint is not None)
    for start in range(done.n_chunks, len(rows), max(group, 1)):
        total = _join([total, _tree_sum(work, rows[start : start + group])])
        if checkpoint is not None and total is not None:
            seen = min(start + group, len(rows))
            known = getattr(total.sums, "statistics", total.sums)
            Checkpoint(
                seen, known.n_samples, total.sums, len(rows), parts=tuple(total.contents.items())
            ).write(checkpoint)
    if total is None:
        raise DataError("no data: every partition is empty")
    return total.sums


def _refuse_other_partitions(done: Checkpoint, rows: list[tuple[int, tuple[Any, ...]]]) -> None:
    """Compare the first, the middle and the last partition of a checkpoint with those here."""
    known = done.parts
    chosen = [known[k] for k in sorted({0, len(known) // 2, len(known) - 1}) if known]
    for number, content in chosen:
        found = _tree_sum(_content, [rows[number]])
        if found is None or found.contents[number] != content:
            raise DataError(
                f"the checkpoint is of other data: partition {number} holds other numbers here; "
                "give another file name, or remove the file to begin anew"
            )


def _tree_sum(
    work: Callable[..., _Partial | None], rows: list[tuple[int, tuple[Any, ...]]]
) -> _Partial | None:
    """Sums of some partitions with the number of the first, or None if all are empty."""
    try:
        import dask
    except ImportError:
        raise MissingDependencyError("Clusters need dask: pip install 'choquet[dask]'") from None
    task, join = dask.delayed(work, pure=True), dask.delayed(_join, pure=True)
    level = [task(number, *parts) for number, parts in rows]
    while len(level) > 1:
        level = [join(level[k : k + _FAN_IN]) for k in range(0, len(level), _FAN_IN)]
    try:
        found: _Partial | None = level[0].compute() if level else None
        return found
    except BaseException as error:
        if _is_loss(error):
            raise ClusterError(
                f"the cluster was lost while partitions {rows[0][0]} to {rows[-1][0]} were summed "
                f"up ({type(error).__name__}: {error}); connect again and repeat, with "
                "checkpoint= to keep what is done"
            ) from error
        raise


def _is_loss(error: BaseException) -> bool:
    """Whether an error is the cluster's own, not one of the data or of the user's code."""
    names = {kind.__name__ for kind in type(error).__mro__}
    lost = {"KilledWorker", "CommClosedError", "CancelledError", "FutureCancelledError"}
    return bool(names & lost) or (
        type(error).__module__.startswith("distributed") and isinstance(error, OSError)
    )


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
    make: Callable[..., Any], hashed: bool, number: int, X: Any, y: Any, weight: Any = None
) -> _Partial | None:
    """Sums of one partition with its number, for messages; None if it has no row."""
    if not len(X) and not len(y):
        return None
    try:
        sums = make(np.asarray(X), np.asarray(y), weight)
    except DataError as error:
        raise DataError(f"partition {number}: {error}") from None
    told = _content(number, X, y, weight) if hashed else None
    return _Partial(number, sums, {} if told is None else told.contents)


def _content(number: int, X: Any, y: Any, weight: Any = None) -> _Partial | None:
    """What a partition holds, as a digest."""
    if not len(X) and not len(y):
        return None
    columns = [
        np.asarray(column, dtype=np.float64) for column in (X, y, weight) if column is not None
    ]
    return _Partial(number, None, {number: content_after("", *columns)})


def _join(parts: list[_Partial | None]) -> _Partial | None:
    known = [part for part in parts if part is not None]
    if not known:
        return None
    number, total, contents = known[0]
    for other, more, also in known[1:]:
        try:
            total, contents = total + more, {**contents, **also}
        except DataError as error:
            raise DataError(f"partitions {number} and {other}: {error}") from None
    return _Partial(number, total, contents)
