"""The Hasse diagram of a measure, with what data support and the walks that matter."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from matplotlib.collections import LineCollection
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from choquet.arrays import BoolArray, FloatArray, IntArray
from choquet.errors import DataError
from choquet.lattice import cover_pairs, masks_by_size, members
from choquet.measures import AbstractMeasure, Measure, check_measure
from choquet.measures.sources import source_numbers
from choquet.plot.graph_diagram import operator_graph
from choquet.plot.style import GREY, STYLES, Style, axes_or_new, legend, points_of, style_of
from choquet.walks import DataSupport, OperatorGraph, check_support
from choquet.walks.sorts import as_sorts

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MAX_SOURCES = 7
"""Most sources whose 2**N subsets are drawn one by one."""

_SIZES = {4: (7.0, 6.0), 5: (9.0, 7.0), 6: (13.0, 8.0), 7: (20.0, 10.0)}
_LARGEST_FONT, _NAMES_FONT, _SMALLEST_FONT = 10.0, 7.0, 4.0
"""Points: below the second, sources are numbers with a key; below the third, not written at all."""

OBSERVED, PARTLY, UNOBSERVED = "observed", "partly observed", "unobserved"
_WALK_STYLES: dict[str, Style] = {
    OBSERVED: STYLES[5]._replace(line="-"),
    PARTLY: STYLES[2]._replace(line="--"),
    UNOBSERVED: STYLES[3]._replace(line=":"),
}
"""Red, green and purple, as in the paper, and solid, dashed and dotted."""


class _Walk(NamedTuple):
    chain: IntArray
    style: Style
    text: str


def hasse(
    measure: AbstractMeasure,
    *,
    support: DataSupport | None = None,
    walks: Iterable[Sequence[int | str]] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Subsets by size with their values; supported ones solid, others dashed; walks highlighted.

    Parameters
    ----------
    measure : Measure
        On up to 7 sources; beyond, its operator graph is drawn by `operator_graph`.
    support : DataSupport, optional
        Subsets that it does not support are dashed and shaded, steps from or to them dotted.
    walks : sequence of sorts, optional
        Sources by name or number, largest input first. With a support each is coloured as observed
        (every subset on it is supported: Φ = 0), partly observed, or unobserved (none is).
    ax : matplotlib Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib Axes

    References
    ----------
    Anderson et al. Fuzzy Integral = Contextual Linear Order Statistic, Figure 2.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from choquet import DataSupport, datasets, plot
    >>> demining = datasets.make_demining(2, rng=0)
    >>> ax = plot.hasse(
    ...     demining.measure,
    ...     support=DataSupport.from_data(demining.data),
    ...     walks=[["ir", "emi", "gpr"]],
    ...     ax=Figure().subplots(),
    ... )
    >>> len(ax.texts)  # a label for each of the 2**3 subsets
    8
    """
    measure = check_measure(measure).to_measure()
    if support is not None:
        check_support(support, measure)
    sorts = _sorts(measure, () if walks is None else walks)
    if measure.n_sources > MAX_SOURCES:
        return operator_graph(OperatorGraph(measure, support), walks=sorts, ax=ax)
    n = measure.n_sources
    ax = axes_or_new(ax, _SIZES.get(n, (6.5, 5.0)))
    supported = np.ones(1 << n, dtype=np.bool_) if support is None else support.supported
    shown = [_walk_of(measure, sort, support, k) for k, sort in enumerate(sorts)]
    x, y = _places(n)
    _draw_steps(ax, x, y, supported)
    for k, walk in enumerate(shown):
        # Later walks are thinner, so that those who share steps are all seen.
        width = max(6.0 - 1.5 * k, 1.8)
        look: dict[str, Any] = {"color": walk.style.colour, "linestyle": walk.style.line}
        ax.plot(x[walk.chain], y[walk.chain], linewidth=width, zorder=2, gid="walk", **look)
    entries = _legend_entries(shown, support)
    _frame(ax, n, len(entries))
    _draw_nodes(ax, measure, x, y, supported, shown)
    if entries:
        legend(ax, entries, loc="upper left", frameon=False, borderaxespad=0.2)
    return ax


def _sorts(measure: Measure, walks: Iterable[Sequence[int | str]]) -> IntArray:
    rows = [source_numbers(measure.sources, walk) for walk in walks]
    if not rows:
        return np.zeros((0, measure.n_sources), dtype=np.int64)
    for row in rows:
        if len(row) != measure.n_sources:
            raise DataError(
                f"a walk names all {measure.n_sources} sources, largest input first; "
                f"{[measure.sources[i] for i in row]} names {len(row)}"
            )
    return as_sorts(rows, measure.n_sources)


def _walk_of(measure: Measure, sort: IntArray, support: DataSupport | None, number: int) -> _Walk:
    chain = np.concatenate([[0], np.cumsum(np.int64(1) << sort)])
    text = "walk " + " > ".join(measure.sources[i] for i in sort)
    if support is None:
        return _Walk(chain, style_of(number), text)
    phi = float(support.phi(sort[None])[0])
    state = OBSERVED if phi == 0 else UNOBSERVED if phi == 1 else PARTLY
    note = f"{state} (Φ = {phi:.2g})" if state == PARTLY else state
    return _Walk(chain, _WALK_STYLES[state], f"{text}: {note}")


def _places(n: int) -> tuple[FloatArray, FloatArray]:
    """Each level fills the width evenly, in lexicographic order; the height is the size."""
    x, y = np.empty(1 << n), np.empty(1 << n)
    for size in range(n + 1):
        masks = masks_by_size(n, size)
        x[masks] = (np.arange(len(masks)) + 0.5) / len(masks)
        y[masks] = size
    return x, y


def _draw_steps(ax: Axes, x: FloatArray, y: FloatArray, supported: BoolArray) -> None:
    pairs = cover_pairs(len(x).bit_length() - 1)
    segments = np.stack([x[pairs], y[pairs]], axis=2)
    both = supported[pairs].all(axis=1)
    crowded = len(pairs) > 100
    for chosen, line, width, name in (
        (both, "-", 0.4 if crowded else 0.9, "steps"),
        (~both, (0, (1, 3)), 0.5 if crowded else 1.0, "unsupported steps"),
    ):
        lines = LineCollection(
            list(segments[chosen]), colors=GREY, linewidths=width, linestyles=[line], zorder=1
        )
        lines.set_gid(name)
        ax.add_collection(lines)


def _frame(ax: Axes, n: int, n_entries: int) -> None:
    """Limits and axes; the legend gets a strip of its own above X."""
    height = points_of(ax)[1]
    strip = min(n_entries * 12.5 + 4 if n_entries else 0.0, 0.6 * height)
    ax.set_xlim(0, 1)
    ax.set_ylim(-0.5, n + 0.5 + (n + 1) * strip / (height - strip))
    ax.set_xticks([])
    ax.set_yticks(range(n + 1))
    ax.set_ylabel("subset size |A|")
    for side in ("top", "right", "bottom"):
        ax.spines[side].set_visible(False)
    ax.spines["left"].set_bounds(0, n)


def _draw_nodes(
    ax: Axes,
    measure: Measure,
    x: FloatArray,
    y: FloatArray,
    supported: BoolArray,
    walks: Sequence[_Walk],
) -> None:
    texts, font = _node_texts(ax, measure)
    if font < _SMALLEST_FONT:
        _draw_dots(ax, x, y, supported)
        return
    # A line may pass behind subsets that its walk does not meet: those it meets wear its colour.
    colours = {mask: walk.style.colour for walk in reversed(walks) for mask in walk.chain.tolist()}
    for mask, text in enumerate(texts):
        seen, met = bool(supported[mask]), mask in colours
        ax.text(
            x[mask],
            y[mask],
            text,
            ha="center",
            va="center",
            fontsize=font,
            zorder=3,
            linespacing=1.1,
            parse_math=False,
            fontweight="bold" if met else "normal",
            bbox={
                "boxstyle": "round,pad=0.25",
                "facecolor": "white" if seen else "#E4E4E4",
                "edgecolor": colours.get(mask, "black"),
                "linewidth": min(1.0, font / 8) * (2 if met else 1),
                "linestyle": "-" if seen else (0, (3, 2)),
            },
        )


def _draw_dots(ax: Axes, x: FloatArray, y: FloatArray, supported: BoolArray) -> None:
    """Nodes without labels, for axes too small for letters."""
    for chosen, face, name in (
        (supported, "black", "subsets"),
        (~supported, "#E4E4E4", "unsupported subsets"),
    ):
        ax.scatter(
            x[chosen], y[chosen], s=14, color=face, edgecolor="black", linewidth=0.6, zorder=3
        ).set_gid(name)
    ax.set_xlabel("too small for labels: give larger axes")


def _node_texts(ax: Axes, measure: Measure) -> tuple[list[str], float]:
    """Subset and value of every node, and a font in which neighbours do not touch."""
    n = measure.n_sources
    names = [", ".join(measure.sources[i] for i in members(mask)) for mask in range(1 << n)]
    numbers = ["".join(str(i + 1) for i in members(mask)) for mask in range(1 << n)]
    names[0] = numbers[0] = "∅"
    if n > 3:
        names[-1] = numbers[-1] = "X"
    form = ".2f" if np.abs(measure.values).max() < 10 else ".3g"
    values = [f"{value:{form}}" for value in measure.values]
    font = _font(ax, n, names, values)
    if font < _NAMES_FONT:
        names, font = numbers, _font(ax, n, numbers, values)
        key = ",  ".join(f"{i + 1} = {name}" for i, name in enumerate(measure.sources))
        ax.set_xlabel(f"sources:  {key}", parse_math=False, wrap=True)
    return [f"{name}\n{value}" for name, value in zip(names, values, strict=True)], font


def _font(ax: Axes, n: int, names: list[str], values: list[str]) -> float:
    width, height = points_of(ax)
    low, high = ax.get_ylim()
    # Lines of 1.2 em and the padding of the box, with some air between the levels.
    best = min(_LARGEST_FONT, height / (high - low) / 4.2)
    for size in range(n + 1):
        masks = masks_by_size(n, size)
        widest = max(max(len(names[m]), len(values[m])) for m in masks)
        # Bold digits are 0.7 em wide and most letters less; the box adds 0.5 em and its line.
        best = min(best, width / len(masks) / (0.7 * widest + 0.9))
    return best


def _legend_entries(
    shown: list[_Walk], support: DataSupport | None
) -> list[tuple[Line2D | Patch, str]]:
    entries: list[tuple[Line2D | Patch, str]] = [
        (Line2D([], [], color=one.style.colour, linestyle=one.style.line, linewidth=2.5), one.text)
        for one in shown
    ]
    if support is not None:
        box = Patch(facecolor="#E4E4E4", edgecolor="black", linestyle="--")
        entries.append((box, "subset that no sample supports"))
    return entries
