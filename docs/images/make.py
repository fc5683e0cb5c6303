"""Draw the pictures of the README and the docs again: python docs/images/make.py."""

from __future__ import annotations

from pathlib import Path

from matplotlib.figure import Figure

import choquet

HERE = Path(__file__).parent


def overview() -> None:
    """The noise measure of the paper: its iVAT picture with four operators, and their weights."""
    measure = choquet.datasets.make_noise_measure()
    decomposition = choquet.decompose(measure)
    figure = Figure(figsize=(10, 4), layout="constrained")
    left, right = figure.subplots(1, 2)
    choquet.plot.ivat(decomposition, ax=left)
    choquet.plot.operators(decomposition, ax=right)
    figure.savefig(HERE / "overview.png", dpi=80)


def hasse() -> None:
    """The demining measure with one observed walk."""
    measure = choquet.Measure([0, 0, 1, 1, 1, 1, 1, 1], sources=["gpr", "ir", "emi"])
    support = choquet.DataSupport.from_data([[0.9, 0.5, 0.1], [0.3, 0.8, 0.2]])
    figure = Figure(figsize=(7, 4.5), layout="constrained")
    choquet.plot.hasse(measure, support=support, walks=[[0, 1, 2], [2, 1, 0]], ax=figure.subplots())
    figure.savefig(HERE / "hasse.png", dpi=80)


if __name__ == "__main__":
    overview()
    hasse()
