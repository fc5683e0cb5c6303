"""The paper's worked examples: N = 2 expansions, Lemma 1, demining, and its first three figures."""

from __future__ import annotations

from math import factorial
from pathlib import Path
from typing import Any

import numpy as np

from choquet.arrays import generator
from choquet.datasets import make_demining
from choquet.decomposition import Clodd, Distinct, decompose
from choquet.lattice import masks_by_size
from choquet.measures import Measure
from choquet.operators import DISSIMILARITIES, dissimilarity
from choquet.reproduce.experiments.claims import claims
from choquet.reproduce.experiments.fits import operators_text
from choquet.reproduce.result import ExperimentResult, Picture, Row
from choquet.reproduce.work import ALONE, Work
from choquet.walks import DataSupport, OperatorGraph, all_sorts, walk_weights

_BOTH = [[0, 1], [1, 0]]
_LARGEST_N = 9


def run(
    *, data: Path | None = None, seeds: int = 1, rng: Any = 0, work: Work = ALONE
) -> ExperimentResult:
    """Check the worked examples.

    `rng` is for the measure of the expansions; nothing is repeated, and no data are needed.

    Examples
    --------
    >>> result = run()
    >>> [row.verdict for row in result.rows if "Demining" in row.paper]
    ['corrected']
    """
    del data, seeds
    parts = (lambda: _expansions(rng), claims, _lemma, _demining, _normalisation)
    rows: list[Row] = []
    numbers: dict[str, Any] = {}
    for k, part in enumerate(parts):
        part_rows, part_numbers = part()
        rows += part_rows
        numbers |= part_numbers
        if work.progress is not None:
            work.progress(k + 1, len(parts))
    title = "Worked examples (Sections II-IV, Figures 1-3)"
    return ExperimentResult("examples", title, tuple(rows), numbers, _figures())


def _expansions(rng: Any) -> tuple[list[Row], dict[str, Any]]:
    """Weights of the two walks for N = 2: in general, for a symmetric, and an additive measure."""
    g1, g2 = generator(rng).uniform(0.1, 0.9, 2)
    choquet = walk_weights(Measure([0, g1, g2, 1]), _BOTH)
    order = walk_weights(Measure.symmetric([g1, 1 - g1]), _BOTH)
    # By source, as the paper writes a convex sum: on the second walk source 2 comes first.
    convex = walk_weights(Measure.additive([g1, 1 - g1]), _BOTH)
    general = np.allclose(choquet, [[g1, 1 - g1], [g2, 1 - g2]], atol=1e-12)
    same_by_rank = np.allclose(order[0], order[1], atol=1e-12)
    same_by_source = np.allclose(convex[0], convex[1, ::-1], atol=1e-12)
    rows = [
        Row(
            "N = 2, Choquet integral: w = g({x1}), 1 - g({x1}), g({x2}), 1 - g({x2})",
            f"g({{x1}}) = {g1:.3f}, g({{x2}}) = {g2:.3f} give {operators_text(choquet)}",
            "holds" if general else "differs",
        ),
        Row(
            "N = 2, order statistic: w1 = w3 and w2 = w4",
            operators_text(order),
            "holds" if same_by_rank else "differs",
        ),
        Row(
            "N = 2, convex sum: w1 = w4 and w2 = w3",
            operators_text(convex),
            "holds" if same_by_source else "differs",
        ),
    ]
    return rows, {"expansions": {"choquet": choquet, "order": order, "convex": convex}}


def _lemma() -> tuple[list[Row], dict[str, Any]]:
    """One operator for the maximum, N! for values that all differ: g(A) = mask / (2**N - 1)."""
    fewest, most, firsts = {}, {}, {}
    for n in range(2, _LARGEST_N + 1):
        largest = Measure(np.minimum(np.arange(1 << n), 1).astype(np.float64))
        powers = Measure(np.arange(1 << n) / ((1 << n) - 1))
        fewest[n] = OperatorGraph(largest).n_operators
        most[n] = OperatorGraph(powers).n_operators
        firsts[n] = len(np.unique(powers.values[masks_by_size(n, 1)]))
    holds = all(fewest[n] == 1 and most[n] == factorial(n) for n in most)
    n = _LARGEST_N
    rows = [
        Row(
            "Lemma 1: at least one and at most N! operators",
            f"both constructed for N = 2..{n}: the maximum has {fewest[n]}, "
            f"g(A) = Σ 2^i / (2^N - 1) has N! ({most[n]:,} for N = {n})",
            "holds" if holds else "differs",
        ),
        Row(
            "Proof of Lemma 1: every weight of every walk can be a value of its own",
            "impossible for N ≥ 3: the first weight of a walk is g of one source, so there are at "
            f"most N = {n} of them ({firsts[n]} in the example) for N! = {factorial(n):,} walks. "
            "The walks differ as vectors, which is enough for the lemma",
            "corrected",
        ),
    ]
    return rows, {"lemma": {"fewest": fewest, "most": most, "first_weights": firsts}}


def _demining() -> tuple[list[Row], dict[str, Any]]:
    decomposition = decompose(_demining_measure(), method=Distinct())
    names = [operator.name for operator in decomposition.operators]
    row = Row(
        "Demining: three operators (two are listed)",
        f"{decomposition.n_operators} distinct operators over 6 walks: "
        + ", ".join(
            f"{name} {operators_text(o.weights)} on {o.share:.0%} of walks"
            for name, o in zip(names, decomposition.operators, strict=True)
        )
        + f". {' '.join(str(decomposition).splitlines()[1 + decomposition.n_operators :])}",
        "corrected" if decomposition.n_operators == 2 else "differs",
    )
    return [row], {"demining": {"operators": decomposition.weights, "names": names}}


def _normalisation() -> tuple[list[Row], dict[str, Any]]:
    """Distance between max and min, which the paper takes for the largest of any l_p norm."""
    n = 5
    ends = np.eye(n)[[0, -1]]
    names = ("l1", "l2", "sql2", "hellinger", "worst", "emd", "rms")
    found = {
        name: float(dissimilarity(ends[:1], ends[1:], metric=DISSIMILARITIES[name])[0, 0])
        for name in names
    }
    listed = ", ".join(f"{name} {value:.4g}" for name, value in found.items())
    right = abs(found["l2"] - 2**0.5) < 1e-12 and abs(found["sql2"] - 2) < 1e-12
    row = Row(
        "Normalisation: the largest dissimilarity for an l_p norm is 2",
        f"2 for l1 and squared l2 only; between max and min for N = {n}: {listed}",
        "corrected" if right else "differs",
    )
    return [row], {"max_to_min": found}


def three_operator_measure() -> Measure:
    """A measure on five sources with exactly three operators, for the right half of Figure 3.

    Examples
    --------
    >>> OperatorGraph(three_operator_measure()).n_operators
    3
    """
    values = np.zeros(32)
    values[masks_by_size(5, 2)] = np.repeat([0.1, 0.5, 0.9], [4, 3, 3])
    values[masks_by_size(5, 3)] = 0.9
    values[masks_by_size(5, 4)] = 1.0
    values[-1] = 1.0
    return Measure(values)


def _figures() -> dict[str, Picture]:
    return {
        "figure1": Picture(
            "Figure 1: from a measure (a) by its walks (b) and their likeness (c) to operators "
            "(d), for demining",
            (12.5, 4.2),
            _draw_overview,
        ),
        "figure2": Picture(
            "Figure 2: a measure with an observed walk, one that is not, and one observed in part; "
            "the walks observed as a table",
            (9.5, 4.5),
            _draw_hasse,
        ),
        "figure3": Picture(
            "Figure 3: iVAT of a single operator (maximum), and of a measure with three operators",
            (6.6, 3.9),
            _draw_ivat,
        ),
    }


def _demining_measure() -> Measure:
    measure = make_demining(1, rng=0).measure
    assert measure is not None  # the generator knows the truth
    return measure


def _draw_overview(figure: Any) -> None:
    from choquet import plot

    measure = _demining_measure()
    decomposition = decompose(measure, method=Clodd())
    first, second, third, fourth = figure.subplots(1, 4, width_ratios=(1.2, 1, 1, 1))
    plot.hasse(measure, ax=first)
    sorts = all_sorts(3)
    cells = [
        [" > ".join(measure.sources[i] for i in sort), *(f"{w:g}" for w in weights)]
        for sort, weights in zip(sorts, walk_weights(measure, sorts), strict=True)
    ]
    _draw_cells(second, ["walk", "w1", "w2", "w3"], cells, first=0.55)
    plot.ivat(decomposition, ax=third, boxes=False).set(xlabel="", ylabel="")
    plot.operators(decomposition, ax=fourth)
    titles = ("measure", "walks", "likeness", "operators")
    for letter, title, ax in zip("abcd", titles, figure.axes, strict=False):
        ax.set_title(f"({letter}) {title}", fontsize=10, pad=24)


def _draw_cells(ax: Any, header: list[str], rows: list[list[str]], *, first: float) -> None:
    """A plain table whose first column takes a share of the width."""
    rest = (1 - first) / (len(header) - 1) if len(header) > 1 else 0.0
    widths = [first, *([rest] * (len(header) - 1))]
    table = ax.table(rows, colLabels=header, colWidths=widths, loc="center", cellLoc="center")
    table.auto_set_font_size(False)
    table.set_fontsize(8)
    table.scale(1, 1.4)
    ax.set_axis_off()


def _draw_hasse(figure: Any) -> None:
    from choquet import plot

    measure = _demining_measure()
    support = DataSupport.from_data([[0.9, 0.5, 0.1], [0.8, 0.1, 0.3]])
    walks = [[0, 1, 2], [1, 2, 0], [1, 0, 2]]
    left, right = figure.subplots(1, 2, width_ratios=(2.4, 1))
    plot.hasse(measure, support=support, walks=walks, ax=left)
    seen = [[" > ".join(measure.sources[i] for i in sort)] for sort in support.observed_sorts]
    _draw_cells(right, ["walks observed"], seen, first=1.0)


def _draw_ivat(figure: Any) -> None:
    from choquet import plot

    largest = Measure.symmetric([1, 0, 0, 0, 0])
    pair = {
        "maximum": decompose(largest, method=Clodd()),
        "three operators": decompose(three_operator_measure(), method=Clodd()),
    }
    plot.compare(pair, ax=figure.subplots())
