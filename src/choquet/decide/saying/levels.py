"""From the units of the data to one scale: two levels a criterion, poor and good."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from choquet.arrays import FloatArray
from choquet.decide.saying.describing import quote
from choquet.decide.saying.table import Alternatives
from choquet.errors import ChoquetError, DataError, OptionError
from choquet.scales import Scale, points_scale

UNIT = (0.0, 1.0)


@dataclass(frozen=True, eq=False)
class Levels:
    """Alternatives on the common scale, where 0 is poor and 1 is good.

    Lower and upper scores differ where the table holds a range or a question mark. Users count the
    common scale from `origin`, and it is so wide.
    """

    lower: FloatArray
    upper: FloatArray
    scales: Mapping[str, Scale]
    origin: float = 0.0
    width: float = 1.0

    @property
    def middle(self) -> FloatArray:
        """Scores, in the middle of what is known."""
        return (self.lower + self.upper) / 2

    def in_units(self, criterion: str, score: float, near: float) -> float:
        """A score in the units of the data."""
        scale = self.scales.get(criterion)
        if scale is None:
            return self.origin + self.width * score
        return float(scale.inverse(np.array([score]), np.array([near]))[0])


def as_scale(given: Any, criterion: str) -> Scale:
    """A scale from two levels (poor, good), from points (data, score), or as it is.

    Examples
    --------
    >>> as_scale((34000, 14000), "price")([24000]).tolist()
    [0.5]
    """
    if isinstance(given, Scale):
        return given
    try:
        flat = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise OptionError(f"the scale of {criterion} must be two levels: (poor, good)") from None
    if flat.shape == (2,):
        if flat[0] == flat[1]:
            raise OptionError(f"{criterion}: poor and good are the same level, {flat[0]:g}")
        points: Sequence[Any] = [(flat[0], 0.0), (flat[1], 1.0)]
    elif flat.ndim == 2 and flat.shape[1] == 2:
        points = flat.tolist()
    else:
        raise OptionError(f"the scale of {criterion} must be two levels: (poor, good)")
    try:
        return points_scale(points, clip=False)
    except ChoquetError as error:
        raise OptionError(f"the scale of {criterion}: {error}") from None


def scaled(
    table: Alternatives,
    scales: Mapping[str, Scale],
    common: tuple[float, float] | None = None,
    better: Mapping[str, int] | None = None,
) -> Levels:
    """Put a table on one scale: that of a column, or else the common one, by default 0 to 1.

    Of columns on the common scale less is better where `better` is -1.

    Raises
    ------
    DataError
        With the lines to paste, if columns need a scale.
    """
    low, high = UNIT if common is None else common
    inside = _inside(table, low, high)
    less = {name for name, sign in (better or {}).items() if sign < 0}
    scales = {name: as_scale((high, low), name) for name in inside & less} | dict(scales)
    lower, upper = np.empty_like(table.lower), np.empty_like(table.upper)
    open_ = []
    for j, name in enumerate(table.criteria):
        ends = np.stack([table.lower[:, j], table.upper[:, j]])
        known = ends[np.isfinite(ends)]
        if name in scales:
            found = scales[name](ends)
            lower[:, j], upper[:, j] = found.min(axis=0), found.max(axis=0)
        else:
            if name not in inside:
                open_.append((name, known.min(), known.max()))
            lower[:, j], upper[:, j] = (ends - low) / (high - low)
    if open_:
        raise DataError(_lines_to_paste(open_, common))
    unknown = np.isnan(lower)
    lower[unknown], upper[unknown] = 0.0, 1.0
    return Levels(lower, upper, dict(scales), low, high - low)


def known_directions(
    table: Alternatives,
    scales: Mapping[str, Scale],
    common: tuple[float, float] | None = None,
) -> dict[str, int]:
    """1 for columns of which more is better, -1 for less; nothing where that is not known."""
    low, high = UNIT if common is None else common
    found = dict.fromkeys(_inside(table, low, high), 1)
    for name, scale in scales.items():
        found[name] = 1 if scale.values[-1] > scale.values[0] else -1
    return found


def _inside(table: Alternatives, low: float, high: float) -> set[str]:
    """Columns that lie between two numbers, as far as they are known."""
    with np.errstate(invalid="ignore"):
        outside = ((table.lower < low) | (table.upper > high)).sum(axis=0)
    return {name for name, out in zip(table.criteria, outside, strict=True) if not out}


def dominated(table: Alternatives, better: Mapping[str, int]) -> list[tuple[str, str]]:
    """Pairs of which the first is at least as good on every criterion, and better on one.

    Examples
    --------
    >>> from choquet.decide.saying.table import read_table
    >>> table = read_table({"car": ["A", "B"], "price": [100, 200], "space": [5, 4]})
    >>> dominated(table, {"price": -1, "space": 1})
    [('A', 'B')]
    """
    above = np.ones((len(table.names),) * 2, dtype=bool)
    for j, name in enumerate(table.criteria):
        ends = np.stack([table.lower[:, j], table.upper[:, j]])
        if name in better:
            least, most = np.sort(better[name] * ends, axis=0)
            least = np.where(np.isnan(least), -np.inf, least)
            most = np.where(np.isnan(most), np.inf, most)
            above &= least[:, None] >= most
        else:
            exact = ends[0] == ends[1]
            above &= (ends[0][:, None] == ends[0]) & exact[:, None] & exact
    pairs = np.argwhere(above & ~above.T)
    return [(table.names[a], table.names[b]) for a, b in pairs]


def _lines_to_paste(
    open_: Sequence[tuple[str, float, float]], common: tuple[float, float] | None
) -> str:
    where = "0 and 1" if common is None else f"{common[0]:g} and {common[1]:g}"
    several = len(open_) > 1
    many = "These columns are" if several else "This column is"
    need = "need" if several else "needs"
    lines = "\n".join(f"    {line}" for line in lines_to_fill(open_))
    return f"{many} not between {where} and {need} a scale. {FILL_IN}:\n{lines}"


FILL_IN = (
    "Paste these lines, and replace each ? by a level in the units of the column: one that is poor "
    "and one that is good, with the same meaning everywhere (not the least and the largest of the "
    "table)"
)
"""What to do with lines that leave levels open."""


def lines_to_fill(open_: Sequence[tuple[str, float, float]]) -> list[str]:
    """Lines of scales with the levels left open, for columns with their least and largest."""
    return [
        f"{quote(name)}: poor ?, good ?    # the table has {low:g} to {high:g}"
        for name, low, high in open_
    ]
