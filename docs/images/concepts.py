"""Draw the concepts in plain pictures: python docs/images/concepts.py."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import choquet

HERE = Path(__file__).parent
BLUE, ORANGE, GREEN, GREY = "#0072B2", "#E69F00", "#009E73", "#8C8C8C"
SOURCES = ["radar", "camera", "detector"]
MEASURE = choquet.Measure([0, 0.5, 0.3, 0.6, 0.4, 0.9, 0.8, 1.0], sources=SOURCES)
SAMPLE = {"radar": 0.9, "detector": 0.6, "camera": 0.2}
"""Largest first, which makes a walk of it."""


def main() -> None:
    for draw, size in (
        (measure, (6.4, 3.2)),
        (walk, (9.0, 3.4)),
        (operator, (9.0, 2.6)),
        (context, (4.4, 4.2)),
        (support, (4.4, 4.2)),
        (interval, (6.4, 2.4)),
    ):
        figure = Figure(figsize=size, layout="constrained")
        draw(figure)
        figure.savefig(HERE / f"concept-{draw.__name__}.png", dpi=110)


def measure(figure: Figure) -> None:
    """A bar for each group of sources."""
    ax = figure.subplots()
    groups = sorted(range(1, 8), key=lambda mask: (mask.bit_count(), mask))
    names = [" + ".join(MEASURE.format(mask).strip("{}").split(", ")) for mask in groups]
    colours = [(GREY, BLUE, GREEN, ORANGE)[mask.bit_count()] for mask in groups]
    bars = ax.barh(names, [MEASURE.values[mask] for mask in groups], color=colours)
    ax.bar_label(bars, fmt="%.1f", padding=3)
    ax.invert_yaxis()
    ax.set(xlim=(0, 1.12), xlabel="value of the group")
    _plain(ax)


def walk(figure: Figure) -> None:
    """Inputs by rank, and the value of the group as it grows."""
    left, right = figure.subplots(1, 2, width_ratios=(2, 3))
    bars = left.bar(list(SAMPLE), list(SAMPLE.values()), color=BLUE)
    left.bar_label(bars, fmt="%.1f")
    left.set(title="1. Sort the inputs, largest first", ylim=(0, 1.1), ylabel="input")
    names = list(SAMPLE)
    values = np.array([MEASURE(*names[: k + 1]) for k in range(3)])
    steps = np.diff(values, prepend=0.0)
    right.bar(range(3), steps, bottom=values - steps, color=ORANGE, width=0.9)
    for k, (step, value) in enumerate(zip(steps, values, strict=True)):
        right.text(k, value + 0.02, f"{value:.1f}", ha="center")
        right.text(k, value - step / 2, f"+{step:.1f}", ha="center", va="center")
    labels = [names[0], f"{names[0]}\n+ {names[1]}", f"{names[0]} + {names[1]}\n+ {names[2]}"]
    right.set_xticks(range(3), labels)
    right.set(title="2. The steps are the weights", ylim=(0, 1.15), ylabel="value of the group")
    terms = [f"{step:.1f} × {x:.1f}" for step, x in zip(steps, SAMPLE.values(), strict=True)]
    total = float(steps @ np.array(list(SAMPLE.values())))
    figure.supxlabel(f"3. Result: {' + '.join(terms)} = {total:.2f}")
    for ax in (left, right):
        _plain(ax)


def operator(figure: Figure) -> None:
    """Four operators of five inputs, as weights by rank."""
    weights = {
        "largest": [1, 0, 0, 0, 0],
        "median": [0, 0, 1, 0, 0],
        "mean": [0.2] * 5,
        "mean without extremes": [0, 1 / 3, 1 / 3, 1 / 3, 0],
    }
    axes = figure.subplots(1, 4, sharey=True)
    for ax, (name, values) in zip(axes, weights.items(), strict=True):
        ax.bar(range(1, 6), values, color=GREEN)
        ax.set(title=name, xticks=range(1, 6), ylim=(0, 1.05))
        _plain(ax)
    axes[0].set_ylabel("weight")
    figure.supxlabel("rank of the input (1 = largest)")


def context(figure: Figure) -> None:
    """Two contexts, one on each side of the line where the order changes."""
    ax = figure.subplots()
    ax.fill([0, 1, 1], [0, 0, 1], color=ORANGE, alpha=0.5)
    ax.fill([0, 0, 1], [0, 1, 1], color=BLUE, alpha=0.4)
    ax.text(0.66, 0.3, "radar is the largest:\ntake the median", ha="center")
    ax.text(0.34, 0.72, "otherwise:\ntake the largest", ha="center")
    _square(ax)


def support(figure: Figure) -> None:
    """Rows on one side of the line only."""
    ax = figure.subplots()
    rows = np.random.default_rng(1).random((90, 3))
    others = rows[:, 1:].max(axis=1)
    seen = rows[:, 0] < others
    ax.fill([0, 1, 1], [0, 0, 1], color=GREY, alpha=0.25, hatch="//", linewidth=0)
    ax.scatter(rows[seen, 0], others[seen], s=14, color=BLUE)
    box = {"facecolor": "white", "edgecolor": "none"}
    ax.text(0.66, 0.3, "never seen:\nno support", ha="center", bbox=box)
    _square(ax)


def interval(figure: Figure) -> None:
    """The same estimate with a narrow and a wide interval."""
    ax = figure.subplots()
    for place, (half, name) in enumerate([(0.04, "many rows"), (0.16, "few rows")]):
        ax.errorbar(0.6, place, xerr=half, fmt="o", color=BLUE, capsize=5, markersize=8)
        ax.text(0.02, place, name, va="center")
    ax.text(0.6, -0.32, "estimate", ha="center", color=GREY)
    ax.annotate("", (0.44, 1.32), (0.76, 1.32), arrowprops={"arrowstyle": "<->", "color": GREY})
    ax.text(0.6, 1.55, "interval", ha="center", color=GREY)
    ax.set(xlim=(0, 1), ylim=(1.7, -0.55), xlabel="result", yticks=[])
    _plain(ax)
    ax.spines["left"].set_visible(False)


def _square(ax: Axes) -> None:
    ax.plot([0, 1], [0, 1], color="black", linewidth=1)
    ax.set(xlim=(0, 1), ylim=(0, 1), aspect="equal")
    ax.set(xlabel="input of the radar", ylabel="larger of the two other inputs")


def _plain(ax: Axes) -> None:
    ax.spines[["top", "right"]].set_visible(False)


if __name__ == "__main__":
    main()
