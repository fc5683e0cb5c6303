"""More data than memory: statistics of chunks and of Parquet files, added up as they come."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from hashlib import blake2b
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from choquet.arrays import FloatArray, as_inputs, as_vector, column_names
from choquet.errors import (
    DataError,
    FileError,
    MissingDependencyError,
    OptionError,
    SourceError,
    TooLargeError,
)
from choquet.lattice.wide import n_words
from choquet.learning.data.minima import MinimaStatistics
from choquet.learning.data.statistics import Statistics
from choquet.walks import DataSupport
from choquet.watching import steps

_BLOCK = 100_000
"""Rows whose statistics are taken at a time."""

_LOOKED_AT = 256
"""Bytes of each column of a row group that tell one Parquet file from another."""

_MAX_SORT_BYTES = 1 << 29
"""Size of the observed sorts, which alone grow with the rows: ten sources stay below it."""

Chunk = tuple[Any, ...]
"""Rows by source, targets, and possibly weights."""


@dataclass(frozen=True, eq=False)
class Evidence:
    """What a least-squares learner keeps of data: statistics and support. Add with ``+``.

    Attributes
    ----------
    statistics : Statistics or MinimaStatistics
    support : DataSupport

    Examples
    --------
    >>> part = evidence_of([[0.9, 0.4], [0.2, 0.6]], [0.6, 0.5])
    >>> (part + part).statistics.n_samples
    4
    """

    statistics: Any
    support: DataSupport

    def __add__(self, other: Evidence) -> Evidence:
        if not isinstance(other, Evidence):
            return NotImplemented
        statistics = self.statistics + other.statistics
        support = self.support + other.support
        if support.observed_sorts.nbytes > _MAX_SORT_BYTES:
            raise TooLargeError(
                f"the first {support.n_samples:,} rows hold {len(support.observed_sorts):,} "
                f"different sorts of {support.n_sources} sources, which need more than "
                f"{_MAX_SORT_BYTES >> 20} MiB; learn from fewer rows, or from fewer sources; in "
                "Python, statistics_of_chunks and fit_statistics do without the sorts"
            )
        return Evidence(statistics, support)

    def of(self, sources: Sequence[str] | None) -> Evidence:
        """The same evidence, whose support knows the names of the sources, if there are any."""
        names = None if sources is None else tuple(sources)
        return Evidence(self.statistics, replace(self.support, sources=names))


def evidence_of(
    X: Any, y: Any, sample_weight: Any = None, *, k_additive: int | None = None
) -> Evidence:
    """Evidence of one chunk of rows, at least one.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_sources)
    y : array-like of shape (n_samples,)
    sample_weight : array-like of shape (n_samples,), optional
    k_additive : int, optional
        Keep what k-additive learning beyond 16 sources needs: `MinimaStatistics`, whose size has a
        bound, in place of `Statistics`.

    Examples
    --------
    >>> evidence_of([[0.9, 0.4]], [0.6]).support.n_samples
    1
    """
    return Evidence(
        statistics_of(X, y, sample_weight, k_additive=k_additive),
        DataSupport.from_data(X, sample_weight=sample_weight),
    )


def statistics_of(
    X: Any, y: Any, sample_weight: Any = None, *, k_additive: int | None = None
) -> Any:
    """Statistics of one chunk of rows: of gaps, or of minima for k-additive learning.

    Examples
    --------
    >>> statistics_of([[0.9, 0.4, 0.2]], [0.6], k_additive=2).n_features
    6
    """
    if k_additive is None:
        return Statistics.from_data(X, y, sample_weight)
    return MinimaStatistics.from_data(X, y, sample_weight, order=k_additive)


def evidence_of_chunks(
    chunks: Iterable[Chunk],
    *,
    make: Callable[..., Evidence] = evidence_of,
    sources: Sequence[str] | None = None,
    checkpoint: str | PathLike[str] | None = None,
    checkpoint_every: int = 100,
) -> Evidence:
    """Add up the evidence of chunks; one chunk is held at a time, empty ones are skipped.

    Parameters
    ----------
    chunks : iterable of (X, y) or (X, y, sample_weight)
    make : callable, default `evidence_of`
        What becomes of a block of rows.
    sources : sequence of str, optional
        The order of the sources: frames are read by these names. By default the first frame says
        it, and the support keeps its names.
    checkpoint : str or path, optional
        A file that keeps the sums so far, and how many chunks are in them. If it is there already,
        so many chunks are skipped (give the same chunks again) and the sums go on from it.
    checkpoint_every : int, default 100
        Chunks between two writes; there is one at the end, and one where a chunk fails.

    Raises
    ------
    DataError
        If there is no row at all, or a chunk has another number of sources than the first; the
        message tells which. Also if the checkpoint is of other data, or of other sums.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).random((60, 2))
    >>> parts = ((X[k : k + 20], X[k : k + 20].max(axis=1)) for k in (0, 20, 40))
    >>> evidence_of_chunks(parts).statistics.n_samples
    60
    """
    order = Order(sources)
    found: Evidence = sum_of_chunks(chunks, make, order, checkpoint, checkpoint_every)
    return found.of(order.sources)


def statistics_of_chunks(
    chunks: Iterable[Chunk],
    *,
    k_additive: int | None = None,
    sources: Sequence[str] | None = None,
    checkpoint: str | PathLike[str] | None = None,
    checkpoint_every: int = 100,
) -> Any:
    """Add up the statistics of chunks, without the sorts that support keeps: faster, and bounded.

    Parameters
    ----------
    chunks : iterable of (X, y) or (X, y, sample_weight)
    k_additive : int, optional
        As in `evidence_of`.
    sources, checkpoint, checkpoint_every
        As in `evidence_of_chunks`.

    Returns
    -------
    Statistics, or MinimaStatistics

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).random((60, 2))
    >>> parts = ((X[k : k + 20], X[k : k + 20].max(axis=1)) for k in (0, 20, 40))
    >>> statistics_of_chunks(parts).n_samples
    60
    """
    make = partial(statistics_of, k_additive=k_additive)
    return sum_of_chunks(chunks, make, Order(sources), checkpoint, checkpoint_every)


class Order:
    """The order of the sources: as given, or as the first frame has them."""

    def __init__(self, sources: Sequence[str] | None) -> None:
        self.sources = None if sources is None else tuple(sources)

    def rows(self, X: Any, n_sources: int | None, *, finite: bool = True) -> FloatArray:
        """A chunk as numbers, by name where it has names."""
        names = column_names(X)
        if self.sources is None and names is not None:
            self.sources = tuple(names)
        if names is not None:
            X = as_inputs(X, sources=self.sources, finite=finite)
        return as_inputs(X, n_sources, finite=finite)


def sum_of_chunks(
    chunks: Iterable[Chunk],
    make: Callable[..., Any],
    order: Order,
    checkpoint: str | PathLike[str] | None = None,
    every: int = 100,
) -> Any:
    """Add up whatever `make` makes of blocks of rows; see `evidence_of_chunks`."""
    from choquet.learning.data.checkpoint import Checkpoint

    if every < 1:
        raise OptionError(f"checkpoint_every={every} must be at least 1")
    parts: list[tuple[int, Any]] = []
    done = saved = Checkpoint(0, 0, None)
    # What a source that can be entered in the middle says of its first chunks, without reading.
    fingerprint = getattr(chunks, "fingerprint", lambda _: "")
    if checkpoint is not None and Path(checkpoint).exists():
        done = saved = Checkpoint.read(checkpoint)
        done.refuse_other_sums(make)
        parts = [(done.n_rows, done.total)]
        chunks = done.rest_of(chunks)

    def total() -> Any:
        while len(parts) > 1:
            parts[-2:] = [_join(parts[-2], parts[-1])]
        return parts[0][1] if parts else None

    def write() -> Checkpoint:
        told = replace(done, total=total(), source=fingerprint(done.n_chunks))
        assert checkpoint is not None
        told.write(checkpoint)
        return told

    with steps("adding up rows") as advance:
        try:
            blocks = _blocks(chunks, order, done, every if checkpoint is not None else None)
            for n_chunks, content, block in blocks:
                if block:
                    parts.append((len(block[0]), make(*block)))
                    advance(len(block[0]))
                # Like a binary counter: every row takes part in few joins, however many blocks.
                while len(parts) > 1 and parts[-2][0] <= parts[-1][0]:
                    parts[-2:] = [_join(parts[-2], parts[-1])]
                n_rows = done.n_rows + (len(block[0]) if block else 0)
                done = Checkpoint(n_chunks, n_rows, None, content=content)
                if checkpoint is not None and n_chunks - saved.n_chunks >= every and parts:
                    saved = write()
        finally:
            # Also where a chunk fails: what was summed up before it is not lost.
            if checkpoint is not None and parts and done.n_chunks > saved.n_chunks:
                write()
    if not parts:
        raise DataError("no data: there is no row to learn from")
    return total()


def _join(left: tuple[int, Any], right: tuple[int, Any]) -> tuple[int, Any]:
    return left[0] + right[0], left[1] + right[1]


def _blocks(
    chunks: Iterable[Chunk], order: Order, done: Any, every: int | None
) -> Iterator[tuple[int, str, list[FloatArray]]]:
    """Chunks joined to blocks of some size: joining statistics costs more than small chunks do.

    With each block come the number of chunks up to its end and, for a checkpoint, what they hold.
    """
    from choquet.learning.data.checkpoint import content_after

    held: list[list[FloatArray]] = []
    n_rows, n_sources, number = 0, done.n_sources, done.n_chunks - 1
    last, content = number, done.content
    for number, chunk in enumerate(chunks, start=done.n_chunks):
        if len(chunk) not in (2, 3):
            raise DataError(f"chunk {number} must be (X, y) or (X, y, weight), not {len(chunk)}")
        if len(chunk[0]) or len(chunk[1]):
            try:
                X = order.rows(chunk[0], n_sources)
                y = as_vector(chunk[1], "y", len(X))
                given = chunk[2] if len(chunk) == 3 else np.ones(len(X))
                weight = as_vector(given, "weight", len(X))
            except DataError as error:
                raise DataError(f"chunk {number}: {error}") from None
            held.append([X, y, weight])
            n_rows, n_sources = n_rows + len(X), X.shape[1]
            if every is not None:
                content = content_after(content, X, y, weight)
        if n_rows >= _BLOCK or (every is not None and number - last >= every):
            yield number + 1, content, list(map(np.concatenate, zip(*held, strict=True)))
            held, n_rows, last = [], 0, number
    if number > last:
        yield number + 1, content, list(map(np.concatenate, zip(*held, strict=True)))


def support_of(statistics: Statistics | MinimaStatistics) -> DataSupport:
    """Support of the subsets that statistics know of; sorts they do not keep, so none is observed.

    Minima are sums over sources, not subsets: they know of no subset.

    Examples
    --------
    >>> X, y = [[0.9, 0.5, 0.1], [0.8, 0.3, 0.3]], [0.5, 0.4]
    >>> support = support_of(Statistics.from_data(X, y))
    >>> support.count, len(support.observed_sorts)
    (array([0, 2, 0, 1, 0, 0, 0, 2]), 0)
    """
    n_sources = statistics.n_sources
    if isinstance(statistics, MinimaStatistics):
        words = np.zeros((0, n_words(n_sources)), dtype=np.uint64)
        counts, informations = np.zeros(0, dtype=np.int64), np.zeros(0)
    else:
        proper = np.bitwise_count(statistics.masks).sum(axis=1) < n_sources
        words, counts = statistics.masks[proper], statistics.counts[proper]
        informations = statistics.information[proper]
    return DataSupport(
        n_sources=n_sources,
        n_samples=statistics.n_samples,
        n_tied=statistics.n_samples,
        words=words,
        counts=counts,
        informations=informations,
        observed_sorts=np.zeros((0, n_sources), dtype=np.int64),
        sort_counts=np.zeros(0, dtype=np.int64),
        tolerance=0.0,
    )


def parquet_chunks(
    path: str | PathLike[str],
    *,
    sources: Sequence[str],
    target: str,
    weight: str | None = None,
) -> ParquetChunks:
    """Rows of a Parquet file, a row group at a time, for `evidence_of_chunks`.

    Parameters
    ----------
    path : str or path
    sources : sequence of str
        Columns of the sources, in order.
    target : str
        Column of the target.
    weight : str, optional
        Column of the weights.

    Returns
    -------
    ParquetChunks
        An iterable of (X, y), or (X, y, weight), which a checkpoint can enter in the middle without
        reading what comes before.

    Examples
    --------
    >>> import os, tempfile
    >>> import pyarrow, pyarrow.parquet
    >>> name = os.path.join(tempfile.mkdtemp(), "rows.parquet")
    >>> table = pyarrow.table({"a": [0.1, 0.2], "b": [0.3, 0.1], "y": [0.3, 0.2]})
    >>> pyarrow.parquet.write_table(table, name, row_group_size=1)
    >>> [X.tolist() for X, y in parquet_chunks(name, sources=["a", "b"], target="y")]
    [[[0.1, 0.3]], [[0.2, 0.1]]]
    """
    return ParquetChunks(Path(path), tuple(sources), target, weight)


@dataclass(frozen=True)
class ParquetChunks:
    """Row groups of a Parquet file as chunks; made by `parquet_chunks`."""

    path: Path
    sources: tuple[str, ...]
    target: str
    weight: str | None

    @property
    def columns(self) -> list[str]:
        """Names of all columns that are read."""
        return [*self.sources, self.target, *([] if self.weight is None else [self.weight])]

    def __iter__(self) -> Iterator[tuple[FloatArray, ...]]:
        return self._groups(0)

    def after(self, n_chunks: int) -> tuple[int, Iterator[tuple[FloatArray, ...]]]:
        """Rows in the first chunks (-1 if there are fewer chunks), and the chunks after them."""
        from pyarrow import parquet

        with parquet.ParquetFile(self.path) as file:
            groups = [file.metadata.row_group(k).num_rows for k in range(file.num_row_groups)]
        rows = sum(groups[:n_chunks]) if n_chunks <= len(groups) else -1
        return rows, self._groups(n_chunks)

    def fingerprint(self, n_chunks: int) -> str:
        """A digest of what the file says of its first chunks: sizes, limits, and first bytes.

        Their rows are not read, only a few bytes of each column of each row group.
        """
        from pyarrow import parquet

        digest = blake2b(repr(self.columns).encode(), digest_size=16)
        with parquet.ParquetFile(self.path) as file, self.path.open("rb") as raw:
            for number in range(min(n_chunks, file.num_row_groups)):
                group = file.metadata.row_group(number)
                for column in map(group.column, range(group.num_columns)):
                    if column.path_in_schema not in self.columns:
                        continue
                    about = sorted(column.to_dict().items(), key=str)
                    digest.update(repr(about).encode())
                    raw.seek(column.dictionary_page_offset or column.data_page_offset)
                    digest.update(raw.read(min(_LOOKED_AT, column.total_compressed_size)))
        return digest.hexdigest()

    def _groups(self, start: int) -> Iterator[tuple[FloatArray, ...]]:
        """The chunks from one on."""
        try:
            import pyarrow
            from pyarrow import parquet
        except ImportError:
            message = "Parquet files need pyarrow: pip install pyarrow"
            raise MissingDependencyError(message) from None
        path, columns, n = self.path, self.columns, len(self.sources)
        if not path.is_file():
            raise FileError(f"there is no file {path}")
        with parquet.ParquetFile(path) as file:
            missing = [name for name in columns if name not in file.schema_arrow.names]
            if missing:
                known = ", ".join(file.schema_arrow.names)
                raise SourceError(f"{path} has no columns {', '.join(missing)}; it has {known}")
            for name in columns:
                kind = file.schema_arrow.field(name).type
                numeric = pyarrow.types.is_integer(kind) or pyarrow.types.is_floating(kind)
                if not (numeric or pyarrow.types.is_boolean(kind)):
                    raise DataError(f"column {name} of {path} holds {kind}, not numbers: encode it")
            for group in range(start, file.num_row_groups):
                table = file.read_row_group(group, columns=columns)
                read = [table.column(name).to_numpy().astype(np.float64) for name in columns]
                yield (np.column_stack(read[:n]), *read[n:])
