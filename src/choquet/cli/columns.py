"""Columns of numbers from a CSV file, a chunk of rows at a time, whatever the file's size."""

from __future__ import annotations

import csv
import shutil
import sys
import tempfile
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, islice
from operator import itemgetter
from pathlib import Path
from typing import IO, Any, Literal

import numpy as np
import numpy.typing as npt

from choquet.arrays import BoolArray, FloatArray, as_number
from choquet.cli.marks import (
    Marks,
    UnclearNumberError,
    WrittenNumberError,
    advice,
    may_hold_marks,
)
from choquet.errors import DataError, FileError, TooLargeError
from choquet.files import open_file

MAX_COLUMNS = 20_000
_MAX_LINE = 8 << 20
"""Characters of one line; beyond it the file is hardly CSV, and would fill the memory."""
_CHUNK_CELLS = 1 << 18
"""Cells held as Python texts at a time: some 30 MB."""
_DELIMITERS = ",;\t|"
MAX_TEXTS = 1 << 26
"""Cells that are held as texts at once, where a command needs all of them."""
_HEAD = 1 << 22
"""Bytes at the start of a file that are searched for numbers with commas."""
_MISSING = {"", "na", "n/a", "nan", "null", "none", "?"}

Missing = Literal["error", "drop", "keep"]


@dataclass(frozen=True, eq=False)
class Chunk:
    """Some rows of the columns asked for.

    Attributes
    ----------
    X : array of shape (n_rows, n_columns)
        Columns of numbers; of numbers and texts where some were asked for as words, None for a
        text that is missing.
    labels : array of n_rows texts, or None
        The column that was asked for as text.
    n_bytes : int
        Size of these rows in the file, for progress.
    kept : array of bool
        For each row of the file, whether it is among these; not if a value was missing.
    """

    X: npt.NDArray[Any]
    labels: npt.NDArray[Any] | None
    n_bytes: int
    kept: BoolArray

    @property
    def n_dropped(self) -> int:
        """Rows left out because a value was missing."""
        return int((~self.kept).sum())


def standard_input() -> IO[bytes]:
    """Standard input as bytes, if it is open."""
    if sys.stdin is None:
        raise FileError("standard input is closed; pipe a file into it, or name one instead of -")
    return sys.stdin.buffer


@contextmanager
def open_binary(path: Path) -> Iterator[IO[bytes]]:
    """A file that can be read twice; standard input ("-") is kept in a temporary file for that."""
    if str(path) == "-":
        with tempfile.TemporaryFile() as kept:
            shutil.copyfileobj(standard_input(), kept, 1 << 20)
            kept.seek(0)
            yield kept
        return
    with open_file(path) as stream:
        yield stream


class CsvFile:
    r"""A CSV file with a header, read again from the start by each call of `chunks`.

    Parameters
    ----------
    stream : binary stream
        Seekable; UTF-8, with or without a byte order mark.
    name : str
        For messages.
    delimiter : str, optional
        Between cells; the most frequent of comma, semicolon, tab and bar in the header by default.

    Examples
    --------
    >>> import io
    >>> table = CsvFile(io.BytesIO(b"a,b\n1,2\n3,4\n"), "example.csv")
    >>> table.names
    ('a', 'b')
    >>> next(table.chunks(["b", "a"])).X
    array([[2., 1.],
           [4., 3.]])
    """

    def __init__(self, stream: IO[bytes], name: str, *, delimiter: str | None = None) -> None:
        self._stream = stream
        self.name = name
        self.n_bytes = stream.seek(0, 2)
        stream.seek(0)
        first = next(self._lines(), "")
        if not first.strip():
            raise DataError(f"{name} is empty; its first line must name the columns")
        if delimiter is None:
            delimiter = max(_DELIMITERS, key=first.count)
        elif len(delimiter) != 1:
            raise DataError(f"the delimiter must be one character, not {delimiter!r}")
        self.delimiter = delimiter
        header = next(self._rows())[0]
        self.names = tuple(cell.strip() for cell in header)
        self._check_names()

    def _check_names(self) -> None:
        if len(self.names) > MAX_COLUMNS:
            raise TooLargeError(
                f"{self.name} has {len(self.names)} columns; at most {MAX_COLUMNS} are read"
            )
        seen: set[str] = set()
        for number, name in enumerate(self.names, start=1):
            if not name:
                raise DataError(f"{self.name}: column {number} has no name; the header needs one")
            if name in seen:
                raise DataError(f"{self.name}: two columns are called {name!r}; rename one")
            seen.add(name)

    def places(self, names: Sequence[str]) -> list[int]:
        """Positions of columns, or an error that names those that are not there."""
        at = {name: place for place, name in enumerate(self.names)}
        missing = [name for name in names if name not in at]
        if missing:
            shown = ", ".join(self.names[:10]) + (" …" if len(self.names) > 10 else "")
            raise DataError(
                f"{self.name} has no column {', '.join(map(repr, missing))}; it has {shown}"
            )
        return [at[name] for name in names]

    def chunks(
        self,
        columns: Sequence[str],
        *,
        words: Collection[str] = (),
        text: str | None = None,
        missing: Missing = "error",
    ) -> Iterator[Chunk]:
        """Rows as numbers, in order.

        Parameters
        ----------
        columns : sequence of str
            Columns to read as numbers.
        words : collection of str
            Those of them that hold words, and are read as they are.
        text : str, optional
            One more column, to be read as text.
        missing : {"error", "drop", "keep"}, default "error"
            What to do with rows that lack a value; kept, they hold NaN.
        """
        names = [name for name in columns if name not in words]
        spelled = [name for name in columns if name in words]
        asked = [*names, *spelled, *([] if text is None else [text])]
        self.places(columns)
        pick = _picker(self.places(asked))
        _ = self._marks  # found before the reading begins: there is one stream

        def made(n_bytes: int) -> Chunk:
            return self._chunk(picked, numbers, asked, len(names), text, missing, n_bytes)

        rows = self._rows()
        next(rows)
        size = max(1, _CHUNK_CELLS // max(len(self.names), 1))
        picked: list[Sequence[str]] = []
        numbers: list[int] = []
        before = 0
        for row, line, at in rows:
            if len(row) != len(self.names):
                if not row:
                    continue  # an empty line, as editors leave at the end
                raise DataError(
                    f"{self.name}, line {line}: {len(row)} cells, but the header has "
                    f"{len(self.names)} columns"
                )
            picked.append(pick(row))
            numbers.append(line)
            if len(picked) == size:
                yield in_order(made(at - before), [*names, *spelled], columns)
                picked, numbers, before = [], [], at
        if picked:
            yield in_order(made(self.n_bytes - before), [*names, *spelled], columns)

    def _chunk(
        self,
        rows: list[Sequence[str]],
        lines: list[int],
        columns: Sequence[str],
        n: int,
        text: str | None,
        missing: Missing,
        n_bytes: int,
    ) -> Chunk:
        """Rows whose first `n` cells are numbers, and the others words; the last may be a label."""
        cells = rows if n == len(columns) else (row[:n] for row in rows)
        texts = list(chain.from_iterable(cells))
        try:
            odd = "_" in "".join(texts)
            # Where points may part thousands, no cell is a number by itself.
            parse = _none if self._marks.needed else as_number if odd else float
            X = np.array(list(map(parse, texts)), dtype=np.float64).reshape(len(rows), n)
        except ValueError:
            X = np.array(
                [
                    [self._number(row[k], line, columns[k], missing) for k in range(n)]
                    for row, line in zip(rows, lines, strict=True)
                ]
            ).reshape(len(rows), n)
        words = _words(rows, n)
        known = words != None  # noqa: E711 -- cell by cell
        lacking = np.asarray(~np.isfinite(X).all(axis=1))
        if missing == "keep":
            lacking = np.asarray(np.isinf(X).any(axis=1))
        # A row without a label is of no use, whatever may be missing.
        needed = known if missing != "keep" else known[:, -1:] if text is not None else known[:, :0]
        lacking |= ~needed.all(axis=1)
        if lacking.any():
            self._refuse(X, known, lines, columns, missing, lacking)
            X, words = X[~lacking], words[~lacking]
        labels = None if text is None else words[:, -1]
        inputs = words if text is None else words[:, :-1]
        if inputs.shape[1]:
            X = np.concatenate([X.astype(object), inputs], axis=1)
        return Chunk(X, labels, n_bytes, ~lacking)

    def _number(self, cell: str, line: int, column: str, missing: Missing) -> float:
        where = f"{self.name}, line {line}, column {column!r}"
        try:
            return as_number(self._marks.plain(cell, column))
        except UnclearNumberError as error:
            raise UnclearNumberError(f"{where}: {error}") from None
        except ValueError:
            if cell.strip().lower() in _MISSING:
                return float("nan")
        shown = cell if len(cell) <= 40 else f"{cell[:40]}…"
        if (told := advice(cell)) is not None:
            raise WrittenNumberError(f"{where}: {shown!r} is not a number; {told}")
        hint = "" if missing == "error" else " (only missing values are dropped)"
        raise DataError(f"{where}: {shown!r} is not a number{hint}")

    def _refuse(
        self,
        X: FloatArray,
        known: BoolArray,
        lines: list[int],
        columns: Sequence[str],
        missing: Missing,
        lacking: BoolArray,
    ) -> None:
        """Raise for the first value that is infinite, or missing where that is an error."""
        infinite = np.isinf(X)
        bad = infinite.any(axis=1) if missing != "error" else lacking
        if not bad.any():
            return
        row = int(np.argmax(bad))
        flags = infinite[row] if missing != "error" else ~np.isfinite(X[row])
        k = int(np.argmax(np.concatenate([flags, ~known[row]])))
        where = f"{self.name}, line {lines[row]}, column {columns[k]!r}"
        if flags.any() and infinite[row, k]:
            raise DataError(f"{where}: the value is infinite; mend it or take the row out")
        raise DataError(f"{where}: the value is missing; fill it in, or pass --missing drop")

    def texts(self) -> dict[str, list[str]]:
        """All columns as texts, held at once."""
        marks, rows = self._marks, self._rows()
        next(rows, None)
        columns: list[list[str]] = [[] for _ in self.names]
        for row, line, _ in rows:
            if not any(cell.strip() for cell in row):
                continue
            if len(row) != len(columns):
                raise DataError(
                    f"{self.name}, line {line} has {len(row)} cells; the header has {len(columns)}"
                )
            for name, column, cell in zip(self.names, columns, row, strict=True):
                try:
                    column.append(marks.plain(cell, name))
                except UnclearNumberError as error:
                    raise UnclearNumberError(
                        f"{self.name}, line {line}, column {name!r}: {error}"
                    ) from None
            if len(columns[0]) * len(columns) > MAX_TEXTS:
                raise TooLargeError(f"{self.name} holds more than {MAX_TEXTS:,} cells")
        return dict(zip(self.names, columns, strict=True))

    @cached_property
    def _marks(self) -> Marks:
        """What commas and points inside numbers are, by the first rows."""
        self._stream.seek(0)
        rows: Iterator[list[str]] = iter(())
        if may_hold_marks(self._stream.read(_HEAD), self.delimiter):
            size = max(1, _CHUNK_CELLS // max(len(self.names), 1))
            rows = (row for row, _, _ in islice(self._rows(), 1, size + 1))
        return Marks(self.names, rows, comma_parts_cells=self.delimiter == ",")

    @property
    def notes(self) -> list[str]:
        """How commas and points inside numbers were read, where that is not plain."""
        return self._marks.notes

    # -- lines -------------------------------------------------------------------------------------

    def _lines(self) -> Iterator[str]:
        """Lines as text, each of bearable length."""
        self._stream.seek(0)
        number = 0
        while line := self._stream.readline(_MAX_LINE):
            number += 1
            if len(line) == _MAX_LINE:
                raise TooLargeError(
                    f"{self.name}, line {number} is longer than {_MAX_LINE >> 20} MiB; "
                    "is this a CSV file?"
                )
            self._at = self._stream.tell() if number % 256 == 0 else self._at
            try:
                yield line.decode("utf-8-sig" if number == 1 else "utf-8")
            except UnicodeDecodeError:
                raise DataError(
                    f"{self.name}, line {number} is not UTF-8 text; save the file as CSV in UTF-8"
                ) from None

    _at = 0

    def _rows(self) -> Iterator[tuple[list[str], int, int]]:
        """Cells of each row, the line it ends on, and about how far into the file that is."""
        reader = csv.reader(self._lines(), delimiter=self.delimiter, strict=True)
        while True:
            try:
                row = next(reader)
            except StopIteration:
                return
            except csv.Error as error:
                raise DataError(f"{self.name}, line {reader.line_num}: {error}") from None
            yield row, reader.line_num, self._at


def _none(cell: str) -> float:
    raise ValueError(cell)


def _words(rows: list[Sequence[str]], n: int) -> npt.NDArray[Any]:
    """The cells of each row from the n-th on; None for one that is missing."""
    width = len(rows[0]) - n
    found = np.empty((len(rows), width), dtype=object)
    for k in range(width):
        cells = [row[n + k].strip() for row in rows]
        found[:, k] = [None if cell.lower() in _MISSING else cell for cell in cells]
    return found


def with_target(chunk: Chunk) -> Chunk:
    """The rows of a chunk whose last column, the target, is there."""
    there = ~np.isnan(chunk.X[:, -1].astype(np.float64))
    kept = chunk.kept.copy()
    kept[kept] = there
    return Chunk(chunk.X[there], None, chunk.n_bytes, kept)


def in_order(chunk: Chunk, given: Sequence[str], wanted: Sequence[str]) -> Chunk:
    """The same chunk with its columns in another order."""
    if list(given) == list(wanted):
        return chunk
    return replace(chunk, X=chunk.X[:, [given.index(name) for name in wanted]])


def _picker(places: list[int]) -> Callable[[list[str]], Sequence[str]]:
    if len(places) == 1:
        return lambda row: (row[places[0]],)
    return itemgetter(*places)
