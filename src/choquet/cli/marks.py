"""Commas and points inside numbers: which is the decimal mark of a column, which parts thousands.

"2,626" is 2626 where points are decimal marks, and 2.626 where commas are. A cell alone does not
say which; other cells of its column and of the file do. Where they do not, it is refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from choquet.arrays import as_number
from choquet.errors import DataError

_OTHER = {",": ".", ".": ","}
_WORDS = {",": "comma", ".": "point"}
_GROUPED = {m: re.compile(rf"[+-]?[1-9]\d{{0,2}}(?:\{m}\d{{3}})+") for m in _OTHER}
"""Numbers in which a mark may part thousands: 2,626 and 1,234,567, but not 0,581 or 12,5."""
_DECIMAL = {",": re.compile(r"[+-]?\d+,\d+"), ".": re.compile(r"[+-]?\d*\.\d*(?:[eE][+-]?\d+)?")}
_BOTH = {
    m: re.compile(rf"[+-]?[1-9]\d{{0,2}}(?:\{_OTHER[m]}\d{{3}})+\{m}\d+") for m in _OTHER
}  # fmt: skip
"""Numbers that hold both marks, by the decimal one: 1,234.5 shows which is which."""
_MANY_POINTS = re.compile(rb"\d\.\d{3}\.\d{3}")
_AMOUNT = re.compile(r"([^\d\s.,+-]{0,3})\s*([+-]?\d[\d.,]*)\s*([^\d\s]{0,12})")

Role = Literal["decimal", "group"]


class UnclearNumberError(DataError):
    """A cell that may be one of two numbers."""


class WrittenNumberError(DataError):
    """A cell that is a number for people: with a percent sign, a unit or separators."""


@dataclass
class _Column:
    """What the cells of one column show."""

    decimal: set[str] = field(default_factory=set)
    """Marks that can only be decimal marks."""
    grouped: set[str] = field(default_factory=set)
    """Marks that may part thousands."""
    several: set[str] = field(default_factory=set)
    """Marks of which one number holds several, so that they part thousands."""
    numbers: int = 0
    words: int = 0

    def look(self, cell: str) -> None:
        """Learn from one cell."""
        mark = next((m for m in _OTHER if m in cell), None)
        if mark is None:
            number = is_number(cell)
        elif both := [m for m in _OTHER if _BOTH[m].fullmatch(cell)]:
            self.decimal.update(both)
            self.grouped.update(_OTHER[m] for m in both)
            self.several.update(_OTHER[m] for m in both)
            number = True
        elif _GROUPED[mark].fullmatch(cell):
            self.grouped.add(mark)
            if cell.count(mark) > 1:
                self.several.add(mark)
            number = True
        else:
            number = _DECIMAL[mark].fullmatch(cell) is not None and cell != mark
            if number:
                self.decimal.add(mark)
        self.numbers += number
        self.words += not number


class Marks:
    """What commas and points are in each column of a file.

    Parameters
    ----------
    names : sequence of str
    rows : iterable of rows of cells
        The first rows of the file.
    comma_parts_cells : bool
        Whether commas part cells, so that a decimal comma is refused.

    Examples
    --------
    >>> marks = Marks(["price", "score"], [["2,626", "0.27"], ["998", "0.5"]])
    >>> marks.plain("2,626", "price")
    '2626'
    >>> marks = Marks(["price", "score"], [["2,626", "0,27"], ["998", "0,5"]])
    >>> marks.plain("2,626", "price")
    '2.626'
    """

    def __init__(
        self,
        names: Sequence[str],
        rows: Iterable[Sequence[str]] = (),
        *,
        comma_parts_cells: bool = False,
    ) -> None:
        self._columns = {name: _Column() for name in names}
        self._strict = comma_parts_cells
        columns = list(self._columns.values())
        for row in rows:
            for column, cell in zip(columns, row, strict=False):
                cell = cell.strip()
                if cell:
                    column.look(cell)
        self.shown = {mark for one in columns if one.numbers > one.words for mark in one.decimal}
        """Marks that are decimal marks in some column of numbers."""
        self.needed = "," in self.shown or any(one.several for one in columns)
        """Whether a cell that Python reads as a number may be another one."""
        self._roles: dict[tuple[str, str], Role | None] = {}
        self.read: dict[tuple[str, str], tuple[str, str]] = {}
        """For a column ("" for all) and a mark, a number that was met and how it was read."""

    def role(self, column: str, mark: str) -> Role | None:
        """What a mark is in the numbers of a column that may be parted by it; None if unclear."""
        key = column, mark
        if key not in self._roles:
            self._roles[key] = self._role(self._columns[column], mark)
        return self._roles[key]

    def _role(self, column: _Column, mark: str) -> Role | None:
        other = _OTHER[mark]
        if mark in column.several:
            return None if mark in column.decimal or mark in self.shown else "group"
        if mark in column.decimal:
            return "decimal"
        if other in column.decimal or self.shown == {other}:
            return "group"
        if self.shown == {mark}:
            return "decimal"
        # Points are decimal marks where nothing speaks against it.
        return "decimal" if mark == "." and (not self.shown or self._strict) else None

    def plain(self, cell: str, column: str) -> str:
        """A number as Python writes it; what is no number with marks stays as it is."""
        cell = cell.strip()
        mark = next((m for m in _OTHER if m in cell), None)
        if mark is None:
            return cell
        for one in _OTHER:
            if _BOTH[one].fullmatch(cell):
                return self._kept(cell, column, _OTHER[one], one)
        if _GROUPED[mark].fullmatch(cell):
            role = self.role(column, mark)
            if role is None:
                raise UnclearNumberError(self._unclear(cell, mark))
            if role == "group":
                return self._kept(cell, column, mark, None)
        elif not _DECIMAL[mark].fullmatch(cell):
            return cell
        elif mark in self._columns[column].grouped and self.role(column, mark) == "group":
            raise UnclearNumberError(
                f"{cell!r} has a decimal {_WORDS[mark]}, but above {_WORDS[mark]}s part thousands "
                "in this column; write numbers without separators, and decimals with a point"
            )
        if mark == "." or self._strict or cell.count(mark) > 1:
            return cell
        made = cell.replace(",", ".")
        self.read.setdefault(("", ","), (cell, made))
        return made

    def _kept(self, cell: str, column: str, group: str, decimal: str | None) -> str:
        made = cell.replace(group, "")
        made = made if decimal is None else made.replace(decimal, ".")
        self.read.setdefault((column, group), (cell, made))
        return made

    def _unclear(self, cell: str, mark: str) -> str:
        whole, made = cell.replace(mark, ""), cell.replace(mark, ".")
        if cell.count(mark) > 1 or len(self.shown) > 1:
            why = f"some numbers of the file have decimal {_WORDS[mark]}s, and this one may be"
            what = f"{whole} with separators"
        else:
            why, what = "nothing in the file says whether it is", f"{whole} or {made}"
        return (
            f"{cell!r}: {why} {what}; write numbers without thousands separators, and decimals "
            "with a point"
        )

    @property
    def notes(self) -> list[str]:
        """How marks were read, with a number of the file for each."""
        return [
            f"{_WORDS[mark]}s inside numbers were read as decimal {_WORDS[mark]}s: {cell} as {made}"
            if not column
            else f"{_WORDS[mark]}s in {column!r} were read as thousands separators: "
            f"{cell} as {made}"
            for (column, mark), (cell, made) in self.read.items()
        ]


def may_hold_marks(head: bytes, delimiter: str) -> bool:
    """Whether the start of a file has commas inside of cells, or numbers with several points."""
    inside = b'"' if delimiter == "," else b","
    return inside in head or _MANY_POINTS.search(head) is not None


def is_number(cell: str) -> bool:
    """Whether a cell is a number as it stands."""
    try:
        as_number(cell)
    except ValueError:
        return False
    return True


def kind_of(cell: str) -> Literal["percent", "marks", "unit"] | None:
    """Why a cell that is a number for people is none here; None for other words.

    Examples
    --------
    >>> [kind_of(cell) for cell in ("5 %", "52,452", "$1,200", "12 kg", "red", "car 1", "a1")]
    ['percent', 'marks', 'unit', 'unit', None, None, None]
    """
    found = _AMOUNT.fullmatch(cell.strip())
    if found is None:
        return None
    before, number, after = found.groups()
    if not _written(number):
        return None
    if not before and not after:
        return None if is_number(number) else "marks"
    if not before and after == "%":
        return "percent"
    if before:  # a currency, not a word with a number behind it
        return None if before.isalnum() or after else "unit"
    return "unit" if after[0].isalpha() or after[0] in "€$£¥°" else None


def _written(number: str) -> bool:
    forms = (*_GROUPED.values(), *_DECIMAL.values(), *_BOTH.values())
    return number.isdigit() or any(form.fullmatch(number) for form in forms)


def advice(cell: str) -> str | None:
    """What to do about a cell that is a number for people; None for other words.

    Examples
    --------
    >>> advice("5%")
    'take the percent signs out of the column: write 5'
    """
    kind, bare = kind_of(cell), cell.strip()
    if kind == "percent":
        return f"take the percent signs out of the column: write {bare.rstrip('%').strip()}"
    if kind == "unit":
        return "write the number alone, and the unit into the name of the column"
    if kind is None:
        return None
    if any(form.fullmatch(bare) for form in (*_GROUPED.values(), *_BOTH.values())):
        return "write numbers without thousands separators, and decimals with a point"
    return "it has a decimal comma: write a point, or put semicolons between cells"
