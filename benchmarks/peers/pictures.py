"""What was measured, drawn: ratios to ours, and curves of time and memory."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from benchmarks.peers.table import PEERS
from choquet.plot.style import GREY, STYLES, style_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["GROUPS", "draw_group", "draw_ratios", "pictures_of"]

GROUPS: Mapping[str, tuple[str, str]] = {
    "sources": ("number of sources N", "Time and memory as sources grow"),
    "samples": ("number of rows M", "Time and memory as rows grow"),
    "walks": ("number of walks, all with operators of their own", "As walks grow"),
    "learning": ("number of sources N", "Learning a monotone measure as sources grow"),
    "rows": ("number of rows M", "Learning a monotone measure as rows grow"),
}
"""Label of the horizontal axis and caption of each picture of curves."""


def pictures_of(document: Mapping[str, Any]) -> dict[str, tuple[str, Callable[[Figure], None]]]:
    """Captions and functions that draw, by name: those for which there is something to draw.

    Examples
    --------
    >>> pictures_of({"works": {}, "curves": {}})
    {}
    """
    found: dict[str, tuple[str, Callable[[Figure], None]]] = {}
    if any("ratio" in row for work in document["works"].values() for row in work["rows"][1:]):
        found["ratios"] = (
            "Time of each contender over that of choquet in the same run; right of the line is "
            "slower than choquet",
            lambda figure: draw_ratios(figure, document["works"]),
        )
    for group, (_, caption) in GROUPS.items():
        curves = [c for c in document["curves"].values() if c["group"] == group and c["values"]]
        if curves:
            found[group] = (
                caption,
                partial(draw_group, group=group, curves=curves),
            )
    return found


def draw_ratios(figure: Figure, works: Mapping[str, Mapping[str, Any]]) -> None:
    """A line for each work, a mark for each contender.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> rows = [{"contender": "choquet", "ratio": 1.0}, {"contender": "SciPy", "ratio": 3.0}]
    >>> draw_ratios(figure := Figure(), {"mst": {"title": "tree", "rows": rows}})
    >>> figure.axes[0].get_yticklabels()[0].get_text()
    'tree'
    """
    shown = [work for work in works.values() if any("ratio" in row for row in work["rows"][1:])]
    figure.set_size_inches(9, 1.6 + 0.26 * len(shown))
    ax: Axes = figure.subplots()
    handles: dict[str, Any] = {}
    for place, work in enumerate(shown):
        for row in work["rows"][1:]:
            if "ratio" not in row:
                continue
            number = list(PEERS).index(row["contender"]) - 1
            style = style_of(number)
            # There are more contenders than styles: the second time round, marks are open.
            filled = number < len(STYLES)
            (handles[row["contender"]],) = ax.plot(
                row["ratio"],
                place,
                linestyle="none",
                marker=style.marker,
                markersize=7,
                color=style.colour,
                markerfacecolor=style.colour if filled else "white",
                markeredgecolor=style.colour if not filled else "black",
                markeredgewidth=1.5 if not filled else 0.5,
            )
    ax.axvline(1.0, color=GREY, linewidth=1.4)
    ax.set_xscale("log")
    ax.set_yticks(range(len(shown)), [work["title"] for work in shown], fontsize=8)
    ax.set_ylim(len(shown) - 0.5, -0.5)
    ax.grid(axis="x", color="#dddddd", linewidth=0.6)
    ax.set_axisbelow(True)
    ax.set_xlabel("time over that of choquet")
    known = [name for name in PEERS if name in handles]
    figure.legend(
        [handles[name] for name in known], known, loc="outside lower center", ncols=4, fontsize=8
    )


def draw_group(figure: Figure, group: str, curves: list[Mapping[str, Any]]) -> None:
    """Time on the left, memory on the right.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> curve = {"title": "a", "along": "n_walks", "values": [6], "seconds": [1], "memory": [9]}
    >>> draw_group(figure := Figure(), "walks", [curve])
    >>> [ax.get_ylabel() for ax in figure.axes]
    ['seconds', 'MiB above what was held before']
    """
    figure.set_size_inches(10, 4.6)
    left, right = figure.subplots(1, 2)
    label = GROUPS[group][0]
    lines = []
    for number, curve in enumerate(curves):
        style = style_of(number)
        look = {
            "color": style.colour,
            "linestyle": style.line,
            "marker": style.marker,
            "markersize": 5,
            "markerfacecolor": style.colour if number < len(STYLES) else "white",
        }
        lines += left.plot(curve["values"], curve["seconds"], **look)
        held = [(v, m / 2**20) for v, m in zip(curve["values"], curve["memory"], strict=True) if m]
        if held:
            right.plot(*zip(*held, strict=True), **look)
    for ax, what in ((left, "seconds"), (right, "MiB above what was held before")):
        ax.set_yscale("log")
        if curves[0]["along"] != "n_sources":
            ax.set_xscale("log")
        ax.set_xlabel(label)
        ax.set_ylabel(what)
        ax.grid(color="#dddddd", linewidth=0.6)
    titles = [curve["title"] for curve in curves]
    # Below both: nine curves leave no room for it among them.
    figure.legend(lines, titles, loc="outside lower center", ncols=3, fontsize=8)
