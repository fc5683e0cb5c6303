"""The operator graph: every operator of a measure as a path of cumulative weights."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from matplotlib.collections import LineCollection
from matplotlib.patheffects import withStroke

from choquet.arrays import FloatArray, IntArray
from choquet.errors import DataError
from choquet.plot.style import STYLES, axes_or_new, legend
from choquet.walks import OperatorGraph
from choquet.walks.sorts import as_sorts

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MAX_LINES = 4_000
"""Most steps that are drawn one by one; beyond, a picture shows where states are dense."""
_BINS = 60
_WALKS = tuple(STYLES[k] for k in (5, 6, 2, 3, 1))
"""Those that are dark enough to stand out from the grey of the other paths."""


def operator_graph(
    graph: OperatorGraph, *, walks: npt.ArrayLike | None = None, ax: Axes | None = None
) -> Axes:
    """States of the operator graph by subset size and value; each path through is an operator.

    The height of a path at size j is the sum of the operator's first j weights. The number of
    states at each size stands above it; a marker's area follows the operators that pass it on.

    Parameters
    ----------
    graph : OperatorGraph
        Of any number of sources. Beyond 4,000 edges, states are shown as a density.
    walks : array-like of shape (n, N), optional
        Sorts to highlight: source numbers, largest input first.
    ax : matplotlib Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    DataError
        If the graph has no walk.

    References
    ----------
    Rabin, Scott (1959). Finite automata and their decision problems. IBM Journal 3, 114-125: the
    subset construction that makes the graph.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from choquet import OperatorGraph, datasets, plot
    >>> graph = OperatorGraph(datasets.make_noise_measure())
    >>> ax = plot.operator_graph(graph, ax=Figure().subplots())
    >>> ax.get_xlabel(), [text.get_text() for text in ax.texts]
    ('subset size |A|', ['1', '1', '2', '2', '2', '1'])
    """
    if not graph.n_walks:
        raise DataError("no walk is supported, so there is no operator to draw")
    sorts = None if walks is None else as_sorts(walks, graph.n_sources)
    ax = axes_or_new(ax, (9.0, 5.5))
    n = graph.n_sources
    levels = graph.levels
    # Of each state the value of any of its subsets, which are equal.
    values = [
        graph.measure.values[graph.level_subsets(j)[level.member_ptr[:-1]]]
        for j, level in enumerate(levels)
    ]
    low, high = (
        f(min(0.0, *(v.min() for v in values)), *(v.max() for v in values)) for f in (min, max)
    )
    room = 0.12 * ((high - low) or 1.0)
    if graph.n_edges <= _MAX_LINES:
        _draw_paths(ax, graph, values)
    else:
        _draw_density(ax, values, low, high)
    for j, level in enumerate(levels):
        ax.text(
            j, high + 0.35 * room, f"{len(level.n_paths):,}", ha="center", va="bottom", fontsize=8
        )
    entries = _draw_walks(ax, graph, sorts) if sorts is not None and len(sorts) else []
    ax.set_xlim(-0.5, n + 0.5)
    ax.set_ylim(low - 0.4 * room, high + room)
    ax.set_xticks(range(n + 1))
    ax.set_xlabel("subset size |A|")
    ax.set_ylabel("value g(A) = sum of the first |A| weights")
    ax.set_title(
        f"{graph.n_operators:,} operators over {graph.n_walks:,} walks; states above each size",
        fontsize=10,
    )
    if entries:
        legend(ax, entries, loc="upper center", bbox_to_anchor=(0.5, -0.12), frameon=False)
    return ax


def _draw_paths(ax: Axes, graph: OperatorGraph, values: list[FloatArray]) -> None:
    segments = [
        [(j, a), (j + 1, b)]
        for j, level in enumerate(graph.levels[:-1])
        for a, b in zip(
            np.repeat(values[j], np.diff(level.edge_ptr)), values[j + 1][level.target], strict=True
        )
    ]
    thin = 0.4 if len(segments) > 300 else 1.0
    ax.add_collection(LineCollection(segments, colors="#B0B0B0", linewidths=thin, zorder=1))
    for j, level in enumerate(graph.levels):
        share = (level.n_paths / graph.n_operators).astype(np.float64)
        dots = ax.scatter(np.full(len(share), j), values[j], s=12 + 60 * share, zorder=2)
        dots.set(facecolor=STYLES[0].colour, edgecolor="white", linewidth=0.4)


def _draw_density(ax: Axes, values: list[FloatArray], low: float, high: float) -> None:
    """Share of each level's states by value, as strips of grey."""
    edges = np.linspace(low, high or 1.0, _BINS + 1)
    counts = np.array([np.histogram(v, edges)[0] / len(v) for v in values])
    shown = np.sqrt(counts / counts.max(axis=1, keepdims=True))
    look: dict[str, Any] = {"origin": "lower", "aspect": "auto", "cmap": "Blues", "zorder": 1}
    for j, row in enumerate(shown):
        extent = (j - 0.35, j + 0.35, edges[0], edges[-1])
        ax.imshow(row[:, None], extent=extent, vmin=0, vmax=1, **look)


def _draw_walks(ax: Axes, graph: OperatorGraph, sorts: IntArray) -> list[tuple[Any, str]]:
    handles = []
    masks = np.cumsum(np.int64(1) << sorts, axis=1)
    for k, (sort, chain) in enumerate(zip(sorts, masks, strict=True)):
        heights = np.concatenate([[0.0], graph.measure.values[chain]])
        (line,) = ax.plot(
            heights,
            **_WALKS[k % len(_WALKS)].curve,
            markersize=5,
            linewidth=2.6,
            path_effects=[withStroke(linewidth=4.5, foreground="white")],
            zorder=3,
            gid="walk",
        )
        text = "walk " + " > ".join(graph.measure.sources[i] for i in sort)
        handles.append((line, text))
    return handles
