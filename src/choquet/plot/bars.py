"""Bars: operators by rank, and the indices of a measure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.patches import Rectangle

from choquet.arrays import FloatArray
from choquet.decomposition import Decomposition
from choquet.errors import DataError, OptionError
from choquet.indices import interaction, shapley
from choquet.measures import AbstractMeasure
from choquet.operators import OrderStatistic
from choquet.plot.style import (
    GREY,
    STYLES,
    axes_or_new,
    legend,
    percent,
    points_of,
    short_name,
    style_of,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes


_TICKS = 25
"""Ranks that are named below the bars."""


def operators(thing: Any, *, max_operators: int = 8, ax: Axes | None = None) -> Axes:
    """Weights by rank, the operators side by side.

    Parameters
    ----------
    thing : ClusterDecomposition, TreeDecomposition, OperatorGraph, or sequence
        What holds the operators; a sequence of OrderStatistic or of rows of weights.
    max_operators : int, default 8
        Draw the ones with the largest shares if there are more; the title says so.
    ax : matplotlib Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib Axes

    References
    ----------
    Yager, R. R. (1988). On ordered weighted averaging aggregation operators in multicriteria
    decisionmaking. IEEE Transactions on Systems, Man, and Cybernetics 18, 183-190.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from choquet import OperatorGraph, datasets, plot
    >>> graph = OperatorGraph(datasets.make_noise_measure())
    >>> ax = plot.operators(graph, ax=Figure().subplots())
    >>> len(ax.containers), len(ax.patches)  # four operators of five weights
    (4, 20)
    """
    if max_operators < 1:
        raise OptionError(f"max_operators={max_operators} must be at least 1")
    weights, names, shares, total = _listed(thing, max_operators)
    n_operators, n = weights.shape
    ax = axes_or_new(ax, (min(max(6.0, 0.9 * n + 0.2 * n * n_operators), 11.0), 4.0))
    wide = 0.84 / n_operators
    ranks = np.arange(1, n + 1)
    counted = thing.unit if isinstance(thing, Decomposition) else "walks"
    entries = []
    for k, (name, part) in enumerate(zip(names, shares, strict=True)):
        colour, hatch, *_ = style_of(k)
        at = ranks + (k - (n_operators - 1) / 2) * wide
        edge = "white" if colour != "#F0E442" else "black"
        bars = ax.bar(at, weights[k], wide, color=colour, hatch=hatch, edgecolor=edge, lw=0.6)
        share = "" if part is None else f", {percent(part)} of {counted}"
        entries.append((bars, f"{k + 1}: {short_name(name)}{share}"))
    ax.axhline(0, color="black", linewidth=0.8)
    ax.set_xticks(ranks if n <= _TICKS else ranks[:: -(-n // _TICKS)])
    ax.set_xlabel("rank of the input (1 = largest)")
    ax.set_ylabel("weight")
    ax.margins(y=0.05)
    if total > n_operators:
        ax.set_title(f"{n_operators} of {total:,} operators, largest shares", fontsize=10)
    above = (0.5, 1.06 if total > n_operators else 1.0)
    legend(ax, entries, loc="lower center", bbox_to_anchor=above, ncols=2, frameon=False)
    return ax


def _listed(thing: Any, most: int) -> tuple[FloatArray, list[str], list[float | None], int]:
    """Weights, names, shares and the number of all operators, largest share first if too many."""
    if hasattr(thing, "walk_counts"):
        all_weights, all_shares = thing.weights(), list(thing.shares)
        found: list[Any] = list(all_weights)
    else:
        found = list(getattr(thing, "operators", thing))
        all_shares = [getattr(item, "share", None) for item in found]
    if not found:
        raise DataError("there is no operator to draw")
    chosen = list(range(len(found)))
    if len(found) > most:
        chosen.sort(key=lambda k: -(all_shares[k] or 0.0))
        chosen = chosen[:most]
    made = [found[k] if hasattr(found[k], "weights") else OrderStatistic(found[k]) for k in chosen]
    lengths = {len(item.weights) for item in made}
    if len(lengths) > 1:
        raise DataError(f"operators on {sorted(lengths)} sources cannot share one axis")
    shares = [None if all_shares[k] is None else float(all_shares[k]) for k in chosen]
    weights = np.array([item.weights for item in made])
    return weights, [item.name for item in made], shares, len(found)


def indices(measure: AbstractMeasure, *, ax: Axes | None = None) -> Axes:
    """Shapley values as bars beside the interaction of every pair as a heat map.

    Parameters
    ----------
    measure : AbstractMeasure
        On any number of sources; up to 10 the values are written into the cells, beyond, negative
        cells are hatched.
    ax : matplotlib Axes, optional
        Where to draw; a new figure by default. The two panels lie inside, as its child axes.

    Returns
    -------
    matplotlib Axes

    References
    ----------
    Shapley (1953). A value for n-person games. Murofushi, Soneda (1993). Techniques for reading
    fuzzy measures (III): interaction index.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from choquet import datasets, plot
    >>> ax = plot.indices(datasets.make_demining().measure, ax=Figure().subplots())
    >>> bars, cells = ax.child_axes[:2]
    >>> len(bars.patches), len(cells.texts)  # three sources, six ordered pairs
    (3, 6)
    """
    n = measure.n_sources
    side = max(3.0, 0.55 * n)
    ax = axes_or_new(ax, (2.1 * side + 1.2, side + 1.0))
    ax.set_axis_off()
    left = ax.inset_axes((0.0, 0.0, 0.38, 1.0))
    right = ax.inset_axes((0.46, 0.0, 0.46, 1.0))
    places = np.arange(n)
    left.barh(places, shapley(measure), color=STYLES[0].colour, height=0.7)
    left.axvline(measure.total / n, color=GREY, linestyle="--", linewidth=1)
    left.axvline(0, color="black", linewidth=0.8)
    left.set_xlabel("Shapley value (dashed: equal shares)")
    left.set_ylabel("source")
    left.set_ylim(n - 0.5, -0.5)
    left.set_yticks(places, measure.sources, parse_math=False)
    _draw_interaction(right, ax, interaction(measure))
    # Names are turned where they would touch.
    touch = max(map(len, measure.sources)) * 6.5 > 0.46 * points_of(ax)[0] / n
    right.set_xticks(places, measure.sources, rotation=90 if touch else 0, parse_math=False)
    right.set_yticks(places, [])
    right.set_xlabel("source")
    return ax


def _draw_interaction(cells: Axes, ax: Axes, pairs: FloatArray) -> None:
    n = len(pairs)
    shown = pairs.copy()
    np.fill_diagonal(shown, np.nan)
    # Interactions that are all rounding errors, as of a self-dual measure, are drawn as none.
    top = max(float(np.nanmax(np.abs(shown))), 0.01) if n > 1 else 0.01
    image = cells.imshow(shown, cmap="PuOr", vmin=-top, vmax=top, aspect="auto")
    cells.set_facecolor("#E4E4E4")
    for i, j in np.argwhere(~np.isnan(shown)):
        value = shown[i, j]
        if n <= 10:
            # Both ends of the map are dark, so the letters follow the distance from zero.
            colour = "white" if abs(value) > 0.6 * top else "black"
            text = f"{value:+.2f}" if abs(value) >= 0.005 else "0"
            font = 8 if n <= 7 else 6.5
            cells.text(j, i, text, ha="center", va="center", fontsize=font, color=colour)
        elif value < 0:
            cells.add_patch(
                Rectangle((j - 0.5, i - 0.5), 1, 1, fill=False, hatch="///", linewidth=0)
            )
    bar = ax.figure.colorbar(image, cax=ax.inset_axes((0.94, 0.0, 0.025, 1.0)))
    bar.set_label("interaction (+ complement, − replace)")
