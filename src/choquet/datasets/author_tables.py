"""Tables of numbers in the files of the paper's repositories: text of any delimiter, and MATLAB."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from choquet.arrays import FloatArray, as_number
from choquet.errors import DamagedFileError, DataError, FileError

_TEXT = (".csv", ".txt", ".dat", ".data", ".tsv")


class Block(NamedTuple):
    """Lines of numbers of one length, and what is written above them or the variable's name."""

    label: str
    numbers: FloatArray


def blocks_of(path: str | os.PathLike[str]) -> list[Block]:
    r"""The tables of a file: of text, cut at empty lines and headings; of MATLAB, its variables.

    Raises
    ------
    FileError
        If the file cannot be read, has another ending, or holds no numbers.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "fish.csv"
    >>> _ = path.write_text("0,0\n0.5,0.4\n,\nTesting MSE,\n0.1,0.2\n")
    >>> [(block.label, block.numbers.shape) for block in blocks_of(path)]
    [('', (2, 2)), ('Testing MSE', (1, 2))]
    """
    file = Path(path)
    suffix = file.suffix.lower()
    if suffix != ".mat" and suffix not in _TEXT:
        known = ", ".join((*_TEXT, ".mat"))
        raise FileError(f"{file} ends in {suffix!r}; files of measures and sorts end in {known}")
    try:
        blocks = _matlab(file) if suffix == ".mat" else _text(file)
    except OSError as error:
        if isinstance(error, FileError):
            raise
        raise FileError(f"{file} cannot be read: {error.strerror or error}") from None
    if not blocks:
        raise DataError(f"{file} holds no table of numbers")
    return blocks


def as_table(path: str | os.PathLike[str]) -> FloatArray:
    r"""The largest table of a file.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "rows.csv"
    >>> _ = path.write_text("length;width;target\n1;2;3\n4;5;6\n")
    >>> as_table(path)
    array([[1., 2., 3.],
           [4., 5., 6.]])
    """
    return max(blocks_of(path), key=lambda block: block.numbers.size).numbers


def _text(file: Path) -> list[Block]:
    try:
        lines = file.read_text(encoding="utf-8-sig").splitlines()
    except UnicodeDecodeError:
        raise DamagedFileError(f"{file} is no text in UTF-8") from None
    blocks: list[Block] = []
    rows: list[list[float]] = []
    label = ""
    for number, line in enumerate([*lines, ""], start=1):
        cells = [cell.strip().strip('"') for cell in re.split(r"[,;\t]|\s+", line.strip())]
        filled = [cell for cell in cells if cell]
        values = _numbers(filled)
        if values and rows and len(values) != len(rows[0]):
            raise DataError(
                f"{file}, line {number} has {len(values)} numbers, the lines above {len(rows[0])}"
            )
        if values:
            rows.append(values)
            continue
        if rows:
            blocks.append(Block(label, _finite(np.array(rows), file)))
            rows, label = [], ""
        if filled:
            label = " ".join(filled)
    return blocks


def _numbers(cells: list[str]) -> list[float] | None:
    """The numbers of a line, or None if it is empty or a heading."""
    try:
        return [as_number(cell) for cell in cells] or None
    except ValueError:
        return None


def _finite(table: FloatArray, file: Path) -> FloatArray:
    if not np.isfinite(table).all():
        row, column = (int(k) for k in np.argwhere(~np.isfinite(table))[0])
        raise DataError(
            f"{file} holds {table[row, column]} in row {row}, column {column} of a table; "
            "every number must be finite"
        )
    return table


def _matlab(file: Path) -> list[Block]:
    from scipy.io import loadmat

    try:
        found: dict[str, Any] = loadmat(str(file), appendmat=False)
    except FileNotFoundError:
        raise
    except NotImplementedError:
        raise FileError(
            f"{file} is of MATLAB's version 7.3, which is not read; save it there with -v7"
        ) from None
    except Exception as error:  # whatever a damaged file makes the reader do
        raise DamagedFileError(f"{file} is no MATLAB file that can be read: {error}") from None
    tables = [(name, _dense(value)) for name, value in found.items() if not name.startswith("__")]
    return [Block(name, _finite(table, file)) for name, table in tables if table is not None]


def _dense(value: Any) -> FloatArray | None:
    """A variable as a table, cells of equal length stacked; None for what holds no numbers."""
    from scipy.sparse import issparse

    if issparse(value):
        value = value.toarray()
    array = np.asarray(value)
    if array.dtype == object and array.size:
        cells = [np.asarray(cell).ravel() for cell in array.ravel()]
        if len({cell.shape for cell in cells}) > 1:
            return None
        array = np.array(cells).T
    if array.dtype.kind not in "buif" or array.ndim != 2 or not array.size:
        return None
    return array.astype(np.float64)
