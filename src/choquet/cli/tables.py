"""Tables of any format that is read: CSV by ourselves, Parquet and Arrow through pyarrow."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Protocol

import numpy as np

from choquet.cli.columns import MAX_TEXTS, Chunk, CsvFile, Missing, open_binary
from choquet.cli.marks import UnclearNumberError, WrittenNumberError, is_number, kind_of
from choquet.cli.output import warn
from choquet.errors import DamagedFileError, DataError, MissingDependencyError, TooLargeError

_BATCH = 65_536
"""Rows of a Parquet or Arrow file that are held at a time."""


class Table(Protocol):
    """Named columns that can be read from the start as often as needed."""

    name: str
    names: tuple[str, ...]
    n_bytes: int

    @property
    def notes(self) -> list[str]:
        """How commas and points inside numbers were read, where that is not plain."""
        ...

    def places(self, names: Sequence[str]) -> list[int]:
        """Positions of columns."""
        ...

    def chunks(
        self,
        columns: Sequence[str],
        *,
        words: Collection[str] = (),
        text: str | None = None,
        missing: Missing = "error",
    ) -> Iterator[Chunk]:
        """Rows as numbers, and some columns as words, in order."""
        ...

    def texts(self) -> dict[str, list[str]]:
        """All columns as texts, held at once."""
        ...


@contextmanager
def open_table(path: Path, *, delimiter: str | None = None) -> Iterator[Table]:
    """Open a file of data by its content; "-" is standard input."""
    with open_binary(path) as stream:
        yield table_of(stream, name_of(path), delimiter=delimiter)


def name_of(path: Path) -> str:
    """What messages call a file."""
    return "standard input" if str(path) == "-" else str(path)


def table_of(stream: IO[bytes], name: str, *, delimiter: str | None = None) -> Table:
    """The table in a stream that can be read twice, by its content."""
    mark = stream.read(8)
    stream.seek(0)
    if mark[:4] == b"PAR1" or mark[:6] == b"ARROW1":
        return _ArrowFile(stream, name, parquet=mark[:4] == b"PAR1")
    return CsvFile(stream, name, delimiter=delimiter)


class _ArrowFile:
    """A Parquet file, or an Arrow (Feather) file."""

    notes: list[str] = []  # noqa: RUF012

    def __init__(self, stream: IO[bytes], name: str, *, parquet: bool) -> None:
        try:
            import pyarrow
        except ImportError:
            raise MissingDependencyError(
                "Parquet and Arrow files need pyarrow: pip install pyarrow; or save as CSV"
            ) from None
        self.name = name
        self.n_bytes = stream.seek(0, 2)
        stream.seek(0)
        self._errors = (pyarrow.ArrowException, OSError)
        try:
            if parquet:
                from pyarrow.parquet import ParquetFile

                self._file: Any = ParquetFile(stream)
                self.names = tuple(self._file.schema_arrow.names)
                self.n_rows = self._file.metadata.num_rows
            else:
                self._file = pyarrow.ipc.open_file(stream)
                self.names = tuple(self._file.schema.names)
                self.n_rows = 0
        except self._errors as error:
            raise DataError(f"{name} cannot be read: {_first_line(error)}") from None
        self._parquet = parquet

    def places(self, names: Sequence[str]) -> list[int]:
        missing = [name for name in names if name not in self.names]
        if missing:
            raise DataError(
                f"{self.name} has no column {', '.join(map(repr, missing))}; "
                f"it has {', '.join(self.names[:10])}"
            )
        return [self.names.index(name) for name in names]

    def chunks(
        self,
        columns: Sequence[str],
        *,
        words: Collection[str] = (),
        text: str | None = None,
        missing: Missing = "error",
    ) -> Iterator[Chunk]:
        self.places([*columns, *([] if text is None else [text])])
        done = 0
        for batch in self._batches():
            X = np.empty((batch.num_rows, len(columns)), dtype=object if words else np.float64)
            lacking = np.zeros(batch.num_rows, dtype=bool)
            for k, column in enumerate(columns):
                cells = batch.column(self.names.index(column))
                if column in words:
                    X[:, k] = found = _spelled(cells)
                    absent = found == None  # noqa: E711 -- cell by cell
                else:
                    X[:, k] = numbers = self._numbers(cells, column, done)
                    absent = np.isnan(numbers)
                lacking |= absent & (missing != "keep")
            labels = None
            if text is not None:
                labels = _spelled(batch.column(self.names.index(text)))
                lacking |= labels == None  # noqa: E711 -- cell by cell
            if lacking.any() and missing == "error":
                row = done + int(np.argmax(lacking)) + 1
                raise DataError(
                    f"{self.name}, row {row}: a value is missing; fill it in, "
                    "or pass --missing drop"
                )
            done += batch.num_rows
            kept = np.asarray(~lacking)
            yield Chunk(
                X[kept],
                None if labels is None else labels[kept],
                batch.nbytes,
                kept,
            )

    def texts(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {name: [] for name in self.names}
        for batch in self._batches():
            for name, column in zip(self.names, batch.columns, strict=True):
                found[name] += ["" if one is None else str(one) for one in column.to_pylist()]
            if len(found[name]) * len(found) > MAX_TEXTS:
                raise TooLargeError(f"{self.name} holds more than {MAX_TEXTS:,} cells")
        return found

    def _batches(self) -> Iterator[Any]:
        try:
            if self._parquet:
                yield from self._file.iter_batches(batch_size=_BATCH)
            else:
                for k in range(self._file.num_record_batches):
                    yield self._file.get_batch(k)
        except self._errors as error:
            raise DataError(f"{self.name} cannot be read: {_first_line(error)}") from None

    def _numbers(self, array: Any, column: str, done: int) -> Any:
        try:
            values = array.cast("float64").to_numpy(zero_copy_only=False)
        except self._errors:
            raise DataError(
                f"{self.name}, column {column!r} holds {array.type}, not numbers"
            ) from None
        values = np.asarray(values, dtype=np.float64)
        if np.isinf(values).any():
            row = done + int(np.argmax(np.isinf(values))) + 1
            raise DataError(f"{self.name}, row {row}, column {column!r}: the value is infinite")
        return values


def _spelled(cells: Any) -> Any:
    """Cells as texts, None where one is missing."""
    found = [None if cell is None else str(cell) for cell in cells.to_pylist()]
    return np.array(found, dtype=object)


def _first_line(error: BaseException) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]


def words_of(
    table: Table, names: Sequence[str], said: Collection[str] = ()
) -> dict[str, list[str]]:
    """The columns that hold words, each with the cells of its first rows that are not missing.

    A column of numbers with a cell that is none is refused, unless it is said to hold words.
    """
    if not said and numeric(table, *names):
        return {}
    spelled = [name for name in names if not numeric(table, name, unclear=name in said)]
    if not spelled:
        return {}
    chunk = next(table.chunks(spelled, words=spelled, missing="keep"))
    found = {
        name: [cell for cell in chunk.X[:, k].tolist() if cell is not None]
        for k, name in enumerate(spelled)
    }
    for name, cells in found.items():
        kinds = [kind_of(cell) or ("number" if is_number(cell) else None) for cell in cells]
        plain = sum(kind not in (None, "unit") for kind in kinds)
        if name in said or not cells:
            continue
        if 2 * plain > len(cells):
            try:
                next(table.chunks([name], missing="keep"))
            except DataError as error:
                mend = "" if isinstance(error, WrittenNumberError) else "mend it, "
                hint = f"{mend}or pass --categories {name} if it holds words"
                raise DataError(f"{error}; {hint}") from None
        if 2 * kinds.count("unit") > len(cells):
            shown = cells[kinds.index("unit")]
            warn(
                f"note: {name!r} is taken as words, such as {shown!r}; for amounts write the "
                "number alone, and the unit into the name of the column"
            )
    return found


def naming_keep(chunks: Iterator[Chunk]) -> Iterator[Chunk]:
    """Chunks for an additive model; an error of a missing value says that it may be kept."""
    try:
        yield from chunks
    except DataError as error:
        old, new = "pass --missing drop", "pass --missing keep, which additive models take"
        if old not in str(error):
            raise
        raise DataError(str(error).replace(old, f"{new}, or --missing drop")) from None


def numeric(table: Any, *names: str, unclear: bool = False) -> bool:
    """Whether the first chunk of columns is numbers; a column of texts is only named.

    A number that may be another one is an error, unless `unclear` lets it be a text.
    """
    try:
        next(table.chunks(names, missing="drop"), None)
    except DamagedFileError:
        raise
    except UnclearNumberError:
        if unclear:
            return False
        raise
    except DataError as error:
        if "is not a number" in str(error) or "not numbers" in str(error):
            return False
        raise
    return True
