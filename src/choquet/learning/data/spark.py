"""Data in Spark: evidence by partition from Arrow batches, added up there, for one solve here."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from math import ceil
from typing import Any

import numpy as np

from choquet.arrays import FloatArray
from choquet.errors import ChoquetError, DataError, MissingDependencyError, SourceError
from choquet.learning.data.checkpoint import Checkpoint
from choquet.learning.data.chunks import Evidence, Order, evidence_of, statistics_of, sum_of_chunks

_FAN_IN = 8
"""Partial sums that one task adds."""

_SCHEMA = "sums binary, problem string"
"""What a partition sends: its sums, or why there are none."""


def statistics_from_spark(
    frame: Any,
    *,
    sources: Sequence[str],
    target: str,
    weight: str | None = None,
    k_additive: int | None = None,
) -> Any:
    """Statistics of a Spark data frame, without the sorts that support keeps.

    Parameters and errors are those of `evidence_from_spark`; the result is for `fit_statistics` of
    `choquet.estimators`. It is several times faster, and its size has a bound.
    """
    make = partial(statistics_of, k_additive=k_additive)
    return _sum_all(frame, sources, target, weight, make)


def evidence_from_spark(
    frame: Any,
    *,
    sources: Sequence[str],
    target: str,
    weight: str | None = None,
    k_additive: int | None = None,
) -> Evidence:
    """Evidence of a Spark data frame, a partition at a time.

    Rows never move: each partition reads its Arrow batches and becomes its sums, and those are
    added eight at a time. Spark takes only what a task that went well sends, and runs one that
    failed again, so that no row is lost and none counts twice.

    Parameters
    ----------
    frame : pyspark.sql.DataFrame
    sources : sequence of str
        Columns of the sources, in order.
    target : str
        Column of the target.
    weight : str, optional
        Column of the weights.
    k_additive : int, optional
        As in `evidence_of`.

    Returns
    -------
    Evidence
        For `fit_evidence` of `choquet.estimators`.

    Raises
    ------
    SourceError
        If a column is not there, or is there twice.
    DataError
        If a column is nested or holds no numbers, has nulls, or there is no row.
    """
    make = partial(evidence_of, k_additive=k_additive)
    found: Evidence = _sum_all(frame, sources, target, weight, make)
    return found.of(sources)


def _sum_all(
    frame: Any,
    sources: Sequence[str],
    target: str,
    weight: str | None,
    make: Callable[..., Any],
) -> Any:
    columns = [*sources, target, *([] if weight is None else [weight])]
    table = _numbers(frame, columns)
    parts = table.mapInArrow(partial(_partition, make, columns, len(sources)), _SCHEMA)
    n_parts = table.rdd.getNumPartitions()
    while n_parts > _FAN_IN:
        n_parts = ceil(n_parts / _FAN_IN)
        parts = parts.repartition(n_parts).mapInArrow(_joined, _SCHEMA)
    total = None
    for row in parts.collect():
        if row.problem is not None:
            raise DataError(row.problem)
        total = _added(total, Checkpoint.from_bytes(bytes(row.sums), "a partition").total)
    if total is None:
        raise DataError(
            "no data: the frame has no partition, or every partition is empty; look at "
            "frame.count() and at the filters before"
        )
    return total


def _numbers(frame: Any, columns: Sequence[str]) -> Any:
    """The columns as numbers; names and types that cannot be are refused before any work."""
    try:
        from pyspark.sql import functions, types
    except ImportError:
        raise MissingDependencyError("Spark needs pyspark: pip install 'choquet[spark]'") from None
    if not hasattr(frame, "mapInArrow"):
        raise DataError(
            f"a Spark data frame is needed, not {type(frame).__name__}; use evidence_of_chunks for "
            "an iterator of arrays"
        )
    known = list(frame.columns)
    lacking = [name for name in columns if known.count(name) != 1]
    if lacking:
        twice = lacking[0] in known
        raise SourceError(
            f"the frame has {'two columns' if twice else 'no column'} {lacking[0]!r}; it has "
            f"{', '.join(known)}. Fields of a struct are columns after select('struct.field')"
        )
    for name in columns:
        kind = frame.schema[name].dataType
        if not isinstance(kind, types.NumericType | types.BooleanType):
            nested = isinstance(kind, types.ArrayType | types.StructType | types.MapType)
            what = "select its fields as columns of their own" if nested else "encode it"
            raise DataError(
                f"column {name!r} holds {kind.simpleString()}, not numbers: {what} first"
            )
    return frame.select(
        *(functions.col(quoted_column(name)).cast("double").alias(f"c{k}")
          for k, name in enumerate(columns))
    )  # fmt: skip


def quoted_column(name: str) -> str:
    """A name of a column in which dots and backticks mean nothing.

    Examples
    --------
    >>> print(quoted_column("a.b"))
    `a.b`
    """
    return "`" + name.replace("`", "``") + "`"


def _partition(
    make: Callable[..., Any], columns: Sequence[str], n_sources: int, batches: Iterable[Any]
) -> Iterator[Any]:
    """The sums of one partition, as one row of an Arrow batch; none if it has no row."""
    from pyspark import TaskContext

    task = TaskContext.get()
    where = "a partition" if task is None else f"partition {task.partitionId()}"
    yield from sums_of_batches(make, columns, n_sources, batches, where)


def sums_of_batches(
    make: Callable[..., Any],
    columns: Sequence[str],
    n_sources: int,
    batches: Iterable[Any],
    where: str,
) -> Iterator[Any]:
    """What `make` makes of Arrow batches, added up, or what is wrong with them and where."""
    rows = _Batches(batches, columns, n_sources)
    try:
        total = sum_of_chunks(rows, make, Order(None))
    except ChoquetError as error:
        if rows.n_rows:
            yield _sent(None, f"{where}: {error}")
        return
    yield _sent(Checkpoint(1, rows.n_rows, total).to_bytes(), None)


class _Batches:
    """Arrow batches as chunks of rows, counted as they come."""

    def __init__(self, batches: Iterable[Any], columns: Sequence[str], n_sources: int) -> None:
        self._batches, self._columns, self._n = batches, columns, n_sources
        self.n_rows = 0

    def __iter__(self) -> Iterator[tuple[FloatArray, ...]]:
        for batch in self._batches:
            self.n_rows += batch.num_rows
            read = []
            for k, name in enumerate(self._columns):
                column = batch.column(k)
                if column.null_count:
                    raise DataError(
                        f"column {name!r} holds {column.null_count} nulls; drop these rows with "
                        f"frame.na.drop(subset=[{name!r}]), or fill them"
                    )
                read.append(np.asarray(column.to_numpy(zero_copy_only=False), dtype=np.float64))
            if batch.num_rows:
                yield (np.column_stack(read[: self._n]), *read[self._n :])


def _joined(batches: Iterable[Any]) -> Iterator[Any]:
    """The sum of some partial sums, or the first problem among them."""
    total, n_chunks, n_rows = None, 0, 0
    for batch in batches:
        for row in batch.to_pylist():
            if row["problem"] is not None:
                yield _sent(None, row["problem"])
                return
            part = Checkpoint.from_bytes(row["sums"], "a partition")
            try:
                total = _added(total, part.total)
            except ChoquetError as error:
                yield _sent(None, str(error))
                return
            n_chunks, n_rows = n_chunks + part.n_chunks, n_rows + part.n_rows
    if total is not None:
        yield _sent(Checkpoint(n_chunks, n_rows, total).to_bytes(), None)


def _added(total: Any, part: Any) -> Any:
    return part if total is None else total + part


def _sent(sums: bytes | None, problem: str | None) -> Any:
    import pyarrow

    return pyarrow.RecordBatch.from_pydict(
        {
            "sums": pyarrow.array([sums], pyarrow.binary()),
            "problem": pyarrow.array([problem], pyarrow.string()),
        }
    )
