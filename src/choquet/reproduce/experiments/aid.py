"""Figure 6: fusion of deep networks on the AID images."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from choquet.datasets import fetch_aid
from choquet.decomposition import Clodd, ClusterDecomposition, decompose
from choquet.measures import Measure
from choquet.reproduce.experiments.aid_figure import FILE, four_networks
from choquet.reproduce.experiments.aid_fusion import (
    Fusion,
    Walks,
    average_walk,
    familiar_shares,
    fuse_all,
    mean_tests,
    unmoved_share,
)
from choquet.reproduce.experiments.authors_files import authors_folder, find_studies
from choquet.reproduce.experiments.descent import starts
from choquet.reproduce.experiments.fits import operators_text
from choquet.reproduce.result import (
    Estimate,
    ExperimentResult,
    Picture,
    Row,
    Table,
    check_seeds,
    estimate,
)
from choquet.reproduce.where import aid_origin
from choquet.reproduce.work import ALONE, Work

_OWN, _SHARED = "Choquet, one measure a class", "Choquet, shared measure"
_THEIRS = "the authors' shared measures"
_SHOWN = 1
"""The measure of Figure 6 (b): BareLand, network fold 1, fusion fold 1."""
_TITLE = "Seven networks on remote-sensing images (Figure 6)"


def run(
    *, data: Path | None = None, seeds: int = 5, rng: Any = 0, work: Work = ALONE
) -> ExperimentResult:
    """Fit the paper's 300 measures exactly, test them, and look into its N = 4 example.

    `data` holds ``aid/``; without it the experiment says that it was skipped. The repetitions are
    the network folds, at most five, and nothing is drawn.

    Examples
    --------
    >>> run().rows[0].verdict
    'skipped'
    """
    del rng
    n_folds = min(check_seeds(seeds), 5)
    rows: list[Row] = []
    numbers: dict[str, Any] = {}
    figures: dict[str, Picture] = {}
    origin = aid_origin(data)
    scores = None if origin is None else fetch_aid(origin, progress=None)
    example = None if data is None else data / "aid" / FILE
    left: ClusterDecomposition | None = None
    if example is not None and example.is_file():
        found, numbers["four_networks"], left = four_networks(example, scores)
        rows += found
    else:
        rows.append(_skipped("N = 4 example", f"aid/{FILE}"))
    if scores is None:
        rows.append(_skipped("N = 7, 300 measures", "the scores of seven networks (aid/)"))
        return ExperimentResult("aid", _TITLE, tuple(rows), numbers)
    fusion = fuse_all(scores, n_folds=n_folds, work=work)
    theirs = _their_measures(data)
    if theirs:
        fusion.error[_THEIRS], fusion.accuracy[_THEIRS] = mean_tests(theirs, scores, n_folds)
    rows += [*_minimum_rows(fusion, theirs), *_walk_rows(fusion)]
    rows += _test_rows(fusion)
    numbers["seven_networks"] = _numbers(fusion)
    figures["figure6"] = Picture(
        "Figure 6: (a) N = 4, supported walks; (b) N = 7, exact least squares, and (c) what "
        "gradient descent from 1/(2^N-2) starts with, each scaled by its own largest dissimilarity",
        (11.0, 4.6),
        lambda figure: _draw_ivat(figure, left, fusion),
    )
    figures["aid_walks"] = Picture(
        "Mean weights by rank over all measures and walks",
        (7.0, 3.4),
        lambda figure: _draw_walks(figure, fusion),
    )
    figures["aid_test"] = Picture(
        "Test error and accuracy by method, means over folds with 95 % intervals",
        (10.0, 4.2),
        lambda figure: _draw_tests(figure, fusion),
    )
    notes = (
        f"{len(fusion.measures)} measures: 30 classes × {n_folds} network folds × 2 fusion folds, "
        "the exact least-squares optimum each, tested on the half it was not learned from. "
        "Intervals are over the folds, which share images, so they are somewhat too short.",
    )
    tables = (_test_table(fusion), _descent_table(fusion))
    return ExperimentResult("aid", _TITLE, tuple(rows), numbers, figures, notes, tables)


def _skipped(what: str, missing: str) -> Row:
    return Row(
        what,
        f"skipped: {missing} not found; give the folder of data (data=, --data or CHOQUET_DATA)",
        "skipped",
    )


def _mean_share(measures: list[Measure], name: str) -> float:
    return float(np.mean([familiar_shares(measure).get(name, 0.0) for measure in measures]))


def _minimum_rows(fusion: Fusion, theirs: list[Measure] | None = None) -> list[Row]:
    mean = average_walk(fusion.measures)
    share = _mean_share(fusion.measures, "min")
    single = float(np.mean(np.array(fusion.operators) == 1))
    own, near = "", 0.0
    if theirs:
        near, start = _mean_share(theirs, "min"), 1 / (2 ** theirs[0].n_sources - 2)
        own = (
            f"true of the {len(theirs)} shared measures that the authors published: {near:.0%} of "
            f"their walks are near the minimum, because {unmoved_share(theirs, start):.0%} of "
            "their values are within 0.01 of an increment of 1/(2^N-2) for each source, where "
            "descent starts. But "
        )
    return [
        Row(
            "N = 7: almost all learned integrals were a single operator, the minimum",
            f"{own}it is not what these data ask for: of {len(fusion.measures)} exact "
            f"least-squares optima {single:.0%} have a single operator, and {share:.1%} of walks "
            f"are near the minimum. Mean weights by rank {operators_text(mean)}, shared measure "
            f"{operators_text(average_walk(fusion.shared))}: around the median. Supported walks "
            f"alone: {operators_text(np.mean(fusion.supported_walks, axis=0))}, "
            f"{np.mean(fusion.supported_minimum):.1%} near the minimum. Below, what gradient "
            "descent leaves of its start",
            "holds" if max(near, share) > 0.5 else "differs",
        ),
        Row(
            "Occasionally more than one operator",
            f"in the exact optima CLODD finds {estimate(fusion.operators):.1f} in all walks, "
            f"{estimate(fusion.operators_supported):.1f} in the supported ones; distinct to four "
            f"decimals: {estimate(fusion.distinct):.0f}",
            "differs" if single < 0.5 else "holds",
        ),
    ]


def _their_measures(data: Path | None) -> list[Measure] | None:
    """The authors' shared measures of seven networks, where they are at hand."""
    folder = authors_folder(data)
    studies = [] if folder is None else find_studies(folder)[0]
    for study in studies:
        if study.n_sources == 7 and "none" in study.files and study.lines is None:
            order = study.order()[0] or "binary"
            return [Measure(values) for values in study.readings("none")[order].values]
    return None


def _walks(fusion: Fusion) -> dict[str, Estimate]:
    return {name: estimate([getattr(w, name) for w in fusion.walks]) for name in Walks._fields}


def _walk_rows(fusion: Fusion) -> list[Row]:
    of = _walks(fusion)
    return [
        Row(
            "About 60 of the walks are observed",
            f"{of['by_sorting']:.0f} distinct sorts if ties are broken by the order of the "
            "networks, as the authors do. The objection is to what it means: "
            f"{of['tied_rows']:.1%} of rows hold a tie and observed no walk; without them there "
            f"are {of['untied']:.0f}. All values are supported on {of['supported']:.0%} of walks",
            "holds" if 40 <= of["by_sorting"].mean <= 80 else "differs",
        ),
        Row(
            "Almost all observations have the sort (1, 2, …, N), the default when all agree",
            f"{of['default_rounded']:.0%} of rows if all scores are rounded to four decimals, as "
            "those of the first four networks are, and ties are broken by the order of the "
            f"networks ({of['by_sorting_rounded']:.0f} distinct sorts then). The objection is to "
            "what it means: it is no observation of that walk. Without rounding "
            f"{of['default']:.1%} of rows have it, without a tie {of['default_untied']:.2%}",
            "holds" if of["default_rounded"].mean > 0.8 else "differs",
        ),
    ]


def _test_rows(fusion: Fusion) -> list[Row]:
    error = {name: estimate(values) for name, values in fusion.error.items()}
    right = {name: estimate(values) for name, values in fusion.accuracy.items()}
    own, minimum = error[_OWN], error["min"]
    ratio = estimate(np.divide(fusion.error[_OWN], fusion.error["min"]))
    saved = estimate(np.subtract(fusion.error["min"], fusion.error[_OWN]))
    tested = [name for name in fusion.error if name != _THEIRS]
    networks = tested[-fusion.measures[0].n_sources :]
    best = max(networks, key=lambda name: right[name].mean)
    theirs = ""
    if _THEIRS in error:
        theirs = f". The measures that the authors published have {error[_THEIRS]:.5f}"
    others = ("mean", "median", "min", "max")
    listed = "; ".join(
        f"{name} {right[name]:.2%} (error {error[name]:.5f})"
        for name in (_OWN, _SHARED, *others, best)
    )
    gain = estimate(np.subtract(fusion.accuracy[_SHARED], fusion.accuracy[best]))
    beyond = estimate(np.subtract(fusion.accuracy[_SHARED], fusion.accuracy["mean"]))
    return [
        Row(
            "It makes sense that the operator is pessimistic",
            f"the minimum has a test error of {minimum:.5f}, the exact optimum {own:.5f}: "
            f"{ratio:.2f} of it{theirs}",
            "corrected" if saved.low > 0 else "holds",
        ),
        Row(
            "Strong learners that agree: not the most ideal scenario for an ensemble",
            f"accuracy on the other half: {listed}. Fused by the shared measure against the best "
            f"network: {100 * gain.mean:+.2f} ± {100 * gain.half:.2f} points, against the mean: "
            f"{100 * beyond.mean:+.2f} ± {100 * beyond.half:.2f}",
            "holds" if abs(beyond.mean) < 0.01 else "differs",
        ),
    ]


def _test_table(fusion: Fusion) -> Table:
    """Every method that fuses, and every network alone."""
    names = [name for name in fusion.error if not name.startswith("descent")]
    rows = [
        (name, f"{estimate(fusion.error[name]):.5f}", f"{estimate(fusion.accuracy[name]):.2%}")
        for name in names
    ]
    caption = "On the half not learned from: means over folds with 95 % intervals"
    return Table(caption, ("method", "mean squared error", "accuracy"), rows)


def _descent_table(fusion: Fusion) -> Table:
    """What is left of the start of gradient descent, by start and number of steps."""

    def line(name: str, found: list[Measure], unmoved: str, error: list[float]) -> tuple[str, ...]:
        near = (f"{_mean_share(found, k):.0%}" for k in ("min", "mean", "median"))
        walk = operators_text(average_walk(found))
        return name, walk, *near, unmoved, f"{estimate(error):.5f}"

    rows = [
        line(name, fusion.descents[name], f"{share:.0%}", fusion.error[f"descent from {name}"])
        for name, share in _unmoved(fusion).items()
    ]
    rows.append(line("exact optimum", fusion.measures, "–", fusion.error[_OWN]))
    header = (
        *("gradient descent from", "mean weights by rank"),
        *("walks near min", "near mean", "near median"),
        *("values not moved", "test error"),
    )
    return Table("Where the minimum comes from", header, rows)


def _unmoved(fusion: Fusion) -> dict[str, float]:
    """Share of values that each descent left where they started."""
    start = starts(fusion.measures[0].n_sources)
    return {k: unmoved_share(g, start[k.split(",")[0]]) for k, g in fusion.descents.items()}


def _numbers(fusion: Fusion) -> dict[str, Any]:
    return {
        "n_measures": len(fusion.measures),
        "mean_walk": average_walk(fusion.measures),
        "mean_walk_supported": np.mean(fusion.supported_walks, axis=0),
        "supported_near_minimum": estimate(fusion.supported_minimum),
        "mean_walk_shared": average_walk(fusion.shared),
        "mean_walk_descent": {k: average_walk(found) for k, found in fusion.descents.items()},
        "unmoved_by_descent": _unmoved(fusion),
        "share_near": {
            name: _mean_share(fusion.measures, name) for name in ("min", "median", "max", "mean")
        },
        "operators": estimate(fusion.operators),
        "operators_supported": estimate(fusion.operators_supported),
        "distinct": estimate(fusion.distinct),
        "walks": _walks(fusion),
        "test_error": {name: estimate(values) for name, values in fusion.error.items()},
        "accuracy": {name: estimate(values) for name, values in fusion.accuracy.items()},
    }


# -- pictures --------------------------------------------------------------------------------------


def _draw_ivat(figure: Any, left: ClusterDecomposition | None, fusion: Fusion) -> None:
    from choquet import plot

    start = next(iter(starts(fusion.measures[0].n_sources)))
    things: dict[str, Any] = {} if left is None else {"(a) N = 4, exact": left}
    things["(b) N = 7, exact"] = decompose(fusion.measures[_SHOWN], method=Clodd(decimals=4))
    things["(c) N = 7, start of descent"] = decompose(
        fusion.descents[f"{start}, 0 steps"][_SHOWN], method=Clodd()
    )
    for ax, (title, thing) in zip(figure.subplots(1, len(things)), things.items(), strict=True):
        plot.ivat(thing, ax=ax, size=300, boxes=False).set_xlabel("")
        n = thing.n_operators
        ax.set_title(f"{title}: {n} operator{'s' if n > 1 else ''}", fontsize=10)


def _draw_walks(figure: Any, fusion: Fusion) -> None:
    from choquet.plot.style import style_of

    ax = figure.subplots()
    lines = {"exact, one a class": fusion.measures, "exact, shared": fusion.shared}
    for name, found in fusion.descents.items():
        if name.endswith((" 0 steps", " 300 steps")):
            lines[f"descent from {name}"] = found
    ranks = np.arange(1, fusion.measures[0].n_sources + 1)
    for k, (label, measures) in enumerate(lines.items()):
        weights = average_walk(measures)
        ax.plot(ranks, weights, label=label, **style_of(k).curve)
    ax.set_xlabel("rank, largest score first")
    ax.set_ylabel("mean weight")
    ax.legend(fontsize=8)


def _draw_tests(figure: Any, fusion: Fusion) -> None:
    axes = figure.subplots(1, 2, sharey=True)
    names = [name for name in fusion.error if not name.endswith(" 0 steps")]
    places = np.arange(len(names))
    panels = {"mean squared error": fusion.error, "accuracy": fusion.accuracy}
    for ax, (label, found) in zip(axes, panels.items(), strict=True):
        values = [estimate(found[name]) for name in names]
        means, bars = [value.mean for value in values], [value.bar for value in values]
        ax.errorbar(means, places, xerr=bars, fmt="o", color="black", capsize=3)
        ax.set_xlabel(f"{label} on the other half")
        ax.grid(axis="x", alpha=0.4)
    axes[0].set_yticks(places, names, fontsize=8)
    axes[0].invert_yaxis()
