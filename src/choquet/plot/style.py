"""What all pictures share: axes, colours, and labels that stay apart."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from choquet.arrays import FloatArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class Style(NamedTuple):
    """One row of the table of styles: the same thing said by colour, hatch, line and marker."""

    colour: str
    hatch: str
    line: str | tuple[int, tuple[int, ...]]
    marker: str

    @property
    def curve(self) -> dict[str, Any]:
        """Options of a curve in this style."""
        return {"color": self.colour, "linestyle": self.line, "marker": self.marker}


STYLES = (
    Style("#0072B2", "", "-", "o"),
    Style("#E69F00", "//", "--", "s"),
    Style("#009E73", "..", "-.", "^"),
    Style("#CC79A7", "xx", ":", "D"),
    Style("#56B4E9", "\\\\", (0, (5, 1)), "v"),
    Style("#D55E00", "++", (0, (3, 1, 1, 1)), "P"),
    Style("#000000", "oo", (0, (1, 1)), "X"),
    Style("#F0E442", "--", (0, (5, 1, 1, 1, 1, 1)), "*"),
)
"""Colours that people with colour-blindness tell apart (Okabe, Ito 2008); never colour alone."""

GREY = "#777777"
"""For what is not the point of a picture; readable on white."""


def style_of(number: int) -> Style:
    """Style of the thing with that number; they repeat.

    Examples
    --------
    >>> style_of(0).colour, style_of(8) == style_of(0)
    ('#0072B2', True)
    """
    return STYLES[number % len(STYLES)]


def axes_or_new(ax: Axes | None, size: tuple[float, float]) -> Axes:
    """The axes given, or those of a new figure of that size (inches).

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> given = Figure().subplots()
    >>> axes_or_new(given, (4, 3)) is given
    True
    """
    if ax is not None:
        return ax
    from matplotlib import pyplot

    # "compressed" is "constrained" that also keeps labels beside square images in the figure.
    new: Axes = pyplot.figure(figsize=size, layout="compressed").subplots()
    return new


def points_of(ax: Axes) -> tuple[float, float]:
    """Width and height of the axes in points, the unit of font sizes.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> ax = Figure(figsize=(2, 1)).add_axes((0, 0, 1, 1))
    >>> points_of(ax)
    (144.0, 72.0)
    """
    box = ax.get_window_extent()
    scale = 72 / ax.figure.dpi
    return float(box.width * scale), float(box.height * scale)


def legend(ax: Axes, entries: Sequence[tuple[Any, str]], **where: Any) -> Any:
    """Legend of handles and texts, taken as they are: a source may be called ``$x$``.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> ax = Figure().subplots()
    >>> legend(ax, [(ax.plot([0, 1])[0], "$a$")]).get_texts()[0].get_text()
    '$a$'
    """
    made = ax.legend(*zip(*entries, strict=True), fontsize=8, **where)
    for text in made.get_texts():
        text.set_parse_math(False)
    return made


def percent(share: float) -> str:
    """A share in words: whole per cents, two digits near 0 and 1.

    Examples
    --------
    >>> percent(0.25), percent(0.00123), percent(0.9991), percent(1)
    ('25%', '0.12%', '99.91%', '100%')
    """
    if share in (0, 1) or 0.01 <= share <= 0.99:
        return f"{share:.0%}"
    return f"{100 * share:.2g}%" if share < 0.5 else f"{100 * share:.4g}%"


def short_name(name: str, most: int = 32) -> str:
    """The name of an operator as a picture has room for it: a long one without its formula.

    Examples
    --------
    >>> short_name("near mean: 0.4 median + 0.3 smallest + 0.2 largest + 0.1 2nd largest")
    'near mean'
    >>> short_name("0.5 gpr + 0.5 smallest")
    '0.5 gpr + 0.5 smallest'
    """
    if len(name) <= most:
        return name
    kind, colon, _ = name.partition(": ")
    return kind if colon and len(kind) <= most else f"{name[: most - 1].rstrip()}…"


def spread(places: FloatArray, gap: float, low: float, high: float) -> FloatArray:
    """Move ascending places as little as needed so that they are a gap apart between two limits.

    Where they cannot all fit, they are spaced evenly.

    Examples
    --------
    >>> spread(np.array([1.0, 1.1, 5.0]), 1.0, 0.0, 10.0)
    array([1., 2., 5.])
    """
    n = len(places)
    if n and (n - 1) * gap >= high - low:
        return np.linspace(low, high, n) if n > 1 else np.array([(low + high) / 2])
    steps = gap * np.arange(n)
    # Without the steps the places need only ascend: from the left, then back from the limit.
    ascending = np.maximum.accumulate(np.maximum(places - steps, low))
    moved: FloatArray = np.minimum(ascending, high - steps[-1] if n else high) + steps
    return moved
