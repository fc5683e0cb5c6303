"""Figure 4: what the paper says of noise beside what was found, and the pictures of it."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from choquet.reproduce.experiments.counting import CLUSTERINGS
from choquet.reproduce.experiments.fits import operators_text
from choquet.reproduce.result import Estimate, Row, Table, Verdict, estimate

COUNTS = {"distinct": "distinct, to three decimals", "CLODD": "CLODD"} | {
    name: name for name in CLUSTERINGS
}
"""What is counted, and how it is called in tables."""


def _columns(trials: Any, name: str, **options: Any) -> dict[float, Any]:
    """What was found by level of noise, for least squares on the figure's measure."""
    wanted = {"reading": "figure", "clipped": False, "learner": "least squares"} | options
    return {
        setting.sigma: columns[name]
        for setting, columns in trials.items()
        if all(getattr(setting, key) == value for key, value in wanted.items())
    }


def _listed(columns: dict[float, list[float]], spec: str) -> str:
    return ", ".join(f"{estimate(v):{spec}} (σ = {sigma:g})" for sigma, v in columns.items())


def compare_with_paper(truth: dict[str, Any], trials: Any) -> list[Row]:
    """The table of the experiment."""
    rows = [*_truth_rows(truth), *_noise_rows(trials), *_count_rows(trials)]
    return [*rows, _shrinkage_row(trials)]


def _truth_rows(truth: dict[str, Any]) -> list[Row]:
    four = all(len(found["weights"]) == 4 for found in truth.values())
    figure, caption = truth["figure"], truth["caption"]
    same = np.allclose(figure["weights"], caption["weights"])
    return [
        Row(
            "The handcrafted measure has four operators",
            f"{len(figure['weights'])}: {operators_text(figure['weights'])}",
            "holds" if four else "differs",
        ),
        Row(
            "Caption: g = 0.2 for the first four pairs (the figure was made with five)",
            f"{'the same' if same else 'other'} operators either way, over "
            f"{'/'.join(map(str, figure['walks']))} walks with five pairs, "
            f"{'/'.join(map(str, caption['walks']))} with four",
            "corrected",
        ),
    ]


def _noise_rows(trials: Any) -> list[Row]:
    exact = [
        distinct == clodd == 4
        for reading in ("figure", "caption")
        for distinct, clodd in zip(
            _columns(trials, "distinct", reading=reading)[0.0],
            _columns(trials, "CLODD", reading=reading)[0.0],
            strict=True,
        )
    ]
    walks, agreed = _columns(trials, "walk"), _columns(trials, "agreement")
    # From one level of noise to the next the inputs are the same, so seed by seed.
    steps = [estimate(np.subtract(b, a)) for a, b in pairwise(walks.values())]
    return [
        Row(
            "σ = 0: the four operators are found",
            f"in {np.mean(exact):.0%} of {len(exact)} fits (both readings) exactly four distinct "
            "operators, and four by CLODD",
            "holds" if all(exact) else "differs",
        ),
        Row(
            "Learned operators diverge from the true ones as noise grows",
            f"mean error of a walk's operator: {_listed(walks, '.3f')}. From a true operator to "
            f"the nearest of CLODD's: {_listed(_columns(trials, 'true'), '.3f')}",
            "holds" if all(step.low > 0 for step in steps) else "differs",
        ),
        Row(
            "Noise clearly impacts the cluster structure and its identification",
            "agreement of CLODD's partition of the walks with the true one (1 is the same, 0 "
            f"chance): {_listed(agreed, '.2f')}",
            "holds" if estimate(agreed[max(agreed)]).high < 1 else "differs",
        ),
    ]


def _count_rows(trials: Any) -> list[Row]:
    """One line for each way to count."""
    rows = []
    for name, label in COUNTS.items():
        columns = _columns(trials, name)
        last = estimate(columns[max(columns)])
        verdict: Verdict = "holds" if last.low > 4 else "differs"
        text = f"{label}: {_listed(columns, '.1f')}"
        if name == "CLODD":
            four = ", ".join(f"{np.mean(np.equal(v, 4)):.0%}" for v in columns.values())
            text += f"; exactly four in {four} of seeds"
        rows.append(Row("σ = 0.1: more than the four true operators arise", text, verdict))
    return rows


def _shrinkage_row(trials: Any) -> Row:
    plain = _columns(trials, "walk")[0.1]
    texts, better = [], []
    learners = dict.fromkeys(setting.learner for setting in trials)
    for learner in list(learners)[1:]:
        walks = _columns(trials, "walk", learner=learner)[0.1]
        saved = estimate(np.subtract(plain, walks))
        better.append(saved.low > 0)
        texts.append(
            f"{learner}: {estimate(walks):.3f} instead of {estimate(plain):.3f}, "
            f"less by {saved:.4f} on the same data"
        )
    return Row(
        "Regularisation helps to combat noise (referred to, not shown)",
        f"error of a walk at σ = 0.1. {'; '.join(texts)}: a little",
        "holds" if any(better) else "differs",
    )


def count_table(trials: Any) -> Table:
    """Counts of operators by level of noise, a line for each way to count."""
    sigmas = list(_columns(trials, "CLODD"))
    rows = [
        (label, *(f"{estimate(values):.1f}" for values in _columns(trials, name).values()))
        for name, label in COUNTS.items()
    ]
    header = ("operators counted by", *(f"σ = {sigma:g}" for sigma in sigmas))
    return Table("Operators found, mean over seeds (four are true)", header, rows)


# -- pictures --------------------------------------------------------------------------------------


def _line(ax: Any, number: int, values: dict[float, Estimate], label: str) -> None:
    from choquet.plot.style import style_of

    means, bars = zip(*((value.mean, value.bar) for value in values.values()), strict=True)
    ax.errorbar(list(values), means, bars, capsize=3, label=label, **style_of(number).curve)
    ax.set_xlabel("noise σ")


def draw_curves(figure: Any, found: Any) -> None:
    """Errors, operators by CLODD and agreement, a line for each learner."""
    panels = [
        ("walk", "error of a walk's operator"),
        ("CLODD", "operators found by CLODD"),
        ("agreement", "agreement with the true partition"),
    ]
    learners = dict.fromkeys(setting.learner for setting in found)
    for ax, (name, label) in zip(figure.subplots(1, len(panels)), panels, strict=True):
        for k, learner in enumerate(learners):
            _line(ax, k, _columns(found, name, learner=learner), learner)
        ax.set_ylabel(label)
        ax.set_ylim(bottom=0)
    figure.axes[0].legend(fontsize=8)


def draw_counts(figure: Any, found: Any) -> None:
    """Operators by every clustering; distinct ones are far beyond and stand in the table."""
    ax = figure.subplots()
    for k, name in enumerate(name for name in COUNTS if name != "distinct"):
        _line(ax, k, _columns(found, name), COUNTS[name])
    ax.axhline(4, color="black", linewidth=0.8)
    ax.set_ylabel("operators")
    ax.set_ylim(bottom=0)
    ax.legend(fontsize=8)
