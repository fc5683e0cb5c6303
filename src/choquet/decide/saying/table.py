"""Alternatives by criteria: from a file, a frame or an array, in the units of the data."""

from __future__ import annotations

import csv
import io
import os
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from choquet.arrays import FloatArray, column_names
from choquet.errors import DataError, FileError, TooLargeError

MAX_ALTERNATIVES = 5000
"""Alternatives of a table: who beats whom on every criterion is found for so many."""

_NUMBER = r"[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?"
_RANGE = re.compile(rf"({_NUMBER})\s*(?:to|\.\.|…|–)\s*({_NUMBER})")


@dataclass(frozen=True, eq=False)
class Alternatives:
    """A table of alternatives in the units of the data.

    Each cell is known to lie between `lower` and `upper`; both are NaN where nothing is known.
    """

    names: tuple[str, ...]
    criteria: tuple[str, ...]
    lower: FloatArray
    upper: FloatArray

    def __post_init__(self) -> None:
        if len(self.names) < 2:
            raise DataError(
                f"a decision needs two alternatives or more, and the table has {len(self.names)}"
            )
        if len(self.criteria) < 2:
            only = f", {self.criteria[0]}: sort by it" if self.criteria else ""
            raise DataError(
                f"a decision needs two criteria or more; the table has {len(self.criteria)}{only}"
            )
        if len(self.names) > MAX_ALTERNATIVES:
            raise TooLargeError(
                f"{len(self.names)} alternatives are too many; the limit is {MAX_ALTERNATIVES}: "
                "leave out those that you would not choose anyway"
            )

    @property
    def middle(self) -> FloatArray:
        """The middle of what is known of each cell."""
        return (self.lower + self.upper) / 2

    def without(self, left_out: Collection[str]) -> Alternatives:
        """The table without some alternatives."""
        keep = [k for k, one in enumerate(self.names) if one not in left_out]
        names = tuple(self.names[k] for k in keep)
        return Alternatives(names, self.criteria, self.lower[keep], self.upper[keep])


def read_table(
    table: Any, names: str | Sequence[str] | None = None, criteria: Sequence[str] | None = None
) -> Alternatives:
    """Alternatives from a CSV file, a frame, a dict of columns or an array; see `Decision`.

    Examples
    --------
    >>> found = read_table({"car": ["Aria", "Bolt"], "price": [1, 2], "space": ["?", "3 to 5"]})
    >>> found.names, found.criteria, found.upper.tolist()
    (('Aria', 'Bolt'), ('price', 'space'), [[1.0, nan], [2.0, 5.0]])
    """
    if isinstance(table, str | os.PathLike):
        columns = _csv_columns(Path(table))
    elif (
        isinstance(table, Mapping)
        and criteria is not None
        and not set(map(str, table)) & set(criteria)
    ):
        rows = [list(np.atleast_1d(np.asarray(row, dtype=object))) for row in table.values()]
        return _from_rows(rows, [str(name) for name in table], list(criteria))
    else:
        found = column_names(table)
        index = _index(table)
        if found is None and index is None:
            return _from_array(table, names, criteria)
        own = list(table.columns) if found is None else found
        columns = {str(name): list(table[name]) for name in own}
        if index is not None and _by_index(index, names, columns):
            names = [str(one) for one in index]
    return _from_columns(columns, names, criteria)


def _index(table: Any) -> Any:
    """The names of the rows of a frame; None for what has none."""
    index = getattr(table, "index", None)
    return None if index is None or callable(index) or isinstance(table, Mapping) else index


def _by_index(
    index: Any, names: str | Sequence[str] | None, columns: Mapping[str, list[Any]]
) -> bool:
    """Whether the names of alternatives are those of a frame's rows."""
    if isinstance(names, str):
        return names not in columns and names == index.name
    if names is not None:
        return False
    return _text(list(index)) or not any(_text(cells) for cells in columns.values())


def _text(cells: Sequence[Any]) -> bool:
    return (
        bool(cells)
        and all(isinstance(cell, str) for cell in cells)
        and not any(_parsed(cell) for cell in cells)
    )


def _csv_columns(path: Path) -> dict[str, list[Any]]:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise DataError(f"{path} is not text in UTF-8: save it again as CSV UTF-8") from None
    except OSError as error:
        raise FileError(f"{path} cannot be read: {error.strerror or error}") from error
    first = text.split("\n", 1)[0]
    mark = max(",;\t", key=first.count)
    lines = [
        row for row in csv.reader(io.StringIO(text), delimiter=mark) if any(map(str.strip, row))
    ]
    if len(lines) < 2:
        raise DataError(f"{path} has no rows below its head")
    head = [name.strip() for name in lines[0]]
    if len(set(head)) < len(head) or not all(head):
        raise DataError(f"{path}: every column needs a name of its own in the first line")
    for number, row in enumerate(lines[1:], 2):
        if len(row) != len(head):
            raise DataError(f"{path}, row {number} has {len(row)} cells, and the head {len(head)}")
    return {name: [row[k].strip() for row in lines[1:]] for k, name in enumerate(head)}


def _from_columns(
    columns: Mapping[str, list[Any]],
    names: str | Sequence[str] | None,
    criteria: Sequence[str] | None,
) -> Alternatives:
    labels: list[str]
    used: str | None = None
    if isinstance(names, str):
        if names not in columns:
            raise DataError(f"there is no column {names!r}; there are {', '.join(columns)}")
        labels, used = [str(cell) for cell in columns[names]], names
    elif names is None:
        used = next((name for name, cells in columns.items() if _text(cells)), None)
        first = next(iter(columns.values()))
        labels = columns[used] if used else [f"a{k + 1}" for k in range(len(first))]
    else:
        labels = [str(name) for name in names]
    chosen = [name for name in columns if name != used] if criteria is None else list(criteria)
    missing = [name for name in chosen if name not in columns]
    if missing:
        raise DataError(f"there is no column {missing[0]!r}; there are {', '.join(columns)}")
    rows = [list(row) for row in zip(*(columns[name] for name in chosen), strict=True)]
    return _from_rows(rows, labels, chosen)


def _from_array(
    table: Any, names: str | Sequence[str] | None, criteria: Sequence[str] | None
) -> Alternatives:
    if isinstance(names, str):
        raise DataError("an array has no column of names; pass a list: names=['A', 'B']")
    array = np.asarray(table, dtype=object)
    if array.ndim != 2:
        raise DataError(f"a table has rows and columns; this has the shape {array.shape}")
    labels = [f"a{k + 1}" for k in range(len(array))] if names is None else list(map(str, names))
    columns = [f"x{k + 1}" for k in range(array.shape[1])] if criteria is None else list(criteria)
    return _from_rows([list(row) for row in array], labels, columns)


def _from_rows(rows: list[list[Any]], names: list[str], criteria: list[str]) -> Alternatives:
    if len(names) != len(rows):
        raise DataError(f"there are {len(names)} names for {len(rows)} rows")
    wrong = next((row for row in rows if len(row) != len(criteria)), None)
    if wrong is not None:
        raise DataError(f"a row has {len(wrong)} cells, and there are {len(criteria)} criteria")
    names = [name.strip() for name in names]
    ends = np.full((2, len(rows), len(criteria)), np.nan)
    for i, row in enumerate(rows):
        for j, cell in enumerate(row):
            where = f"{names[i] or f'row {i + 1}'}, column {criteria[j]}"
            ends[:, i, j] = _cell(cell, where)
    return Alternatives(tuple(names), tuple(map(str, criteria)), ends[0], ends[1])


def _parsed(cell: str) -> tuple[float, float] | None:
    text = cell.strip()
    if text == "?":
        return np.nan, np.nan
    found = _RANGE.fullmatch(text)
    if found:
        return float(found[1]), float(found[2])
    if re.fullmatch(_NUMBER, text):
        return float(text), float(text)
    return None


def _cell(cell: Any, where: str) -> tuple[float, float]:
    known = "write ? if it is not known, or a range such as 3 to 5"
    if cell is None or (isinstance(cell, str) and not cell.strip()):
        raise DataError(f"{where} is empty: {known}")
    if isinstance(cell, str):
        found = _parsed(cell)
        if found is None:
            raise DataError(
                f"{where} holds {cell!r}, which is no number: {known}; if the "
                "column does not count, name those that do: criteria=['price', 'space']; if it "
                "holds the names, name it: names='car'"
            )
        if found[0] > found[1]:
            raise DataError(f"{where} holds {cell!r}: give the smaller number first")
        return found
    if isinstance(cell, tuple | list) and len(cell) == 2:
        return float(cell[0]), float(cell[1])
    try:
        value = float(cell)
    except (TypeError, ValueError):
        raise DataError(f"{where} holds {cell!r}, which is no number: {known}") from None
    if not np.isfinite(value):
        raise DataError(f"{where} is empty or infinite ({value}): {known}")
    return value, value
