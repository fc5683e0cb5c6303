"""The authors' files: what the paper says of them beside what they say, and their pictures."""

from __future__ import annotations

from collections.abc import Mapping
from math import factorial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from choquet.arrays import FloatArray
from choquet.clustering import clodd, ivat, medoids
from choquet.explanation.phrases import number_word
from choquet.operators.dissimilarity import MetricName
from choquet.reproduce.experiments.fits import fit, operators_text
from choquet.reproduce.experiments.regression_rows import CLAIMS, PRINTED_YACHT
from choquet.reproduce.result import (
    Picture,
    Row,
    Table,
    Verdict,
    between,
    estimate,
    quantiles,
    share_of,
)

if TYPE_CHECKING:
    from choquet.reproduce.experiments.authors import Found

PRINTED: Mapping[str, FloatArray] = MappingProxyType({"yacht": np.array(PRINTED_YACHT)})
"""Operators that the paper prints, by data set."""
TITLES = {"binary": "by bit mask", "size": "by size"}
COUNTED: Mapping[str, tuple[str, MetricName]] = MappingProxyType(
    {
        "all walks, rms": ("all", "rms"),
        "all walks, l2": ("all", "l2"),
        "observed walks, rms": ("observed", "rms"),
    }
)
"""How operators are counted: of which walks, by which distance."""
_MAIN, _NORM, _SEEN = COUNTED
_SAME = 0.05
"""Largest difference of a weight up to which an operator counts as the printed one."""


def rows_of(found: Found) -> list[Row]:
    """The table of one study."""
    if found.study.rows is None and any(r.decreases == 0 for r in found.readings.values()):
        return [_start_row(found)]
    rows = [_order_row(found)]
    if found.sorts is not None:
        rows += [*_line_rows(found)]
    if found.nearest and found.order is not None:
        rows.append(_printed_row(found))
    if found.order is not None and found.operators:
        rows += _operator_rows(found)
    rows += _test_rows(found)
    return rows


def _between(values: FloatArray | None) -> str:
    return between(quantiles(values))


def _name(found: Found) -> str:
    return found.study.name.replace("_", " ").capitalize()


def _order_row(found: Found) -> Row:
    said = []
    which = next(iter(found.readings))[0]
    a, b = (found.readings[which, order] for order in ("binary", "size"))
    if a.best_errors is not None and b.best_errors is not None:
        said.append(
            f"mean squared error on the standardised data, median over {len(a.values)} runs: "
            f"{_between(a.errors)} by bit mask, {_between(b.errors)} by size; with the best "
            f"constant for each {_between(a.best_errors)} and {_between(b.best_errors)}"
        )
    if a.zeros is not None and b.zeros is not None:
        said.append(
            f"values of subsets that no training row observed are zero in {a.zeros:.0%} of cases "
            f"by bit mask, in {b.zeros:.0%} by size (of others {a.zeros_elsewhere:.1%} and "
            f"{b.zeros_elsewhere:.1%})"
        )
    if a.spread is not None and b.spread is not None:
        said.append(
            "rank correlation between observations of a subset and the spread of its value "
            f"{a.spread[0]:.2f} by bit mask, {b.spread[0]:.2f} by size"
        )
    said.append(f"values fall at {a.decreases:.0%} and {b.decreases:.0%} of steps")
    verdicts: dict[str | None, Verdict] = {"binary": "corrected", "size": "holds"}
    return Row(
        f"{_name(found)}: values listed by size, then lexicographically, as the authors' program "
        "reads them",
        ("no check decides: " if found.order is None else f"listed {TITLES[found.order]}: ")
        + "; ".join(said),
        verdicts.get(found.order, "not reproducible"),
    )


def _line_rows(found: Found) -> list[Row]:
    matches = found.study.matches()
    distinct = found.distinct_sorts
    counts = {name: one.n_matched for name, one in matches.items()}
    total = len(matches["sorts"].sorts)
    if counts["ranks"] is None:
        text = f"as {found.lines_are} they go better with the values; no rows to compare with"
    else:
        text = (
            f"as ranks {counts['ranks']:,} of {total:,} lines match a row of the data, as sorts "
            f"{counts['sorts']:,}"
        )
    if found.lines_are == "ranks":
        text += (
            f". Read as sorts, only {observed_lines(found)} of the {len(distinct)} walks were "
            "observed"
        )
    rows = [
        Row(
            f"{_name(found)}: the lines of the file of sorts are sorts",
            text,
            "corrected" if found.lines_are == "ranks" else "holds",
        )
    ]
    claim = CLAIMS.get(found.study.name)
    if claim is not None:
        n_walks = factorial(found.study.n_sources)
        share = len(distinct) / n_walks
        rows.append(
            Row(
                f"{_name(found)}: {claim.walks:.0%} of the walks were observed",
                f"{len(distinct)} of {n_walks}, {share:.1%}: a file of permutations holds as many "
                "distinct ones as of their inverses",
                "holds" if abs(share - claim.walks) < 0.02 else "differs",
            )
        )
    return rows


def observed_lines(found: Found) -> int:
    """How many of the distinct lines, taken as sorts, are walks that some row took."""
    as_sorts = found.study.matches()["sorts"]
    if as_sorts.matched is not None:
        return len(np.unique(as_sorts.sorts[as_sorts.matched], axis=0))
    taken = {tuple(sort) for sort in found.distinct_sorts.tolist()}
    return sum(tuple(sort) in taken for sort in np.unique(as_sorts.sorts, axis=0).tolist())


def _printed_row(found: Found) -> Row:
    assert found.order is not None  # asked for only then
    right, wrong = found.nearest[found.order], found.nearest[found.wrong]
    fewer = {order: away[:, 1] for order, away in found.nearest_but_one.items()}
    run = shown_run(found)
    values = found.readings["none", found.order].values[run]
    same = (wrong[run] < _SAME).sum()
    return Row(
        f"{_name(found)}: the printed operators w1, w2, w3",
        f"w1 and w3 are walks of run {run + 1} read {TITLES[found.wrong]}: the largest difference "
        f"of a weight is {wrong[run, 0]:.2f} and {wrong[run, 2]:.2f}. Five weights of w2 are those "
        f"of a walk of that run, too, to {fewer[found.wrong][run]:.2f}, and one is a misprint: w2 "
        f"sums to {sum(PRINTED_YACHT[1]):.2f}, every walk of that run to {values[-1]:.3f}. Read "
        f"{TITLES[found.order]}, the nearest walk of run {run + 1} is {right[run, 0]:.1f} away "
        f"from w1 and {right[run, 2]:.1f} from w3, and {fewer[found.order][run]:.2f} from five "
        f"weights of w2; of all runs the nearest to w1 is {right[:, 0].min():.1f} away",
        "corrected" if same >= 2 and right[run].max() > 1 else "differs",
    )


def shown_run(found: Found) -> int:
    """The run whose walks are nearest to the printed operators in some order, else the second."""
    if not found.nearest:
        return min(1, len(next(iter(found.readings.values())).values) - 1)
    # Two of three: one of the printed operators has a misprint.
    best = [np.sort(away, axis=1)[:, :2].max(axis=1) for away in found.nearest.values()]
    return int(np.min(best, axis=0).argmin())


def _share(counts: FloatArray, number: int) -> str:
    return share_of(int((counts == number).sum()), len(counts))


def _counted(counts: FloatArray) -> str:
    found = np.bincount(counts.astype(int))
    return ", ".join(f"{k} in {n}" for k, n in enumerate(found) if n)


def _operator_rows(found: Found) -> list[Row]:
    assert found.order is not None  # asked for only then
    claim = CLAIMS.get(found.study.name)
    rows: list[Row] = []
    if claim is None or ("none", found.order, _MAIN) not in found.operators:
        return rows
    right = found.operators["none", found.order, _MAIN]
    wrong = found.operators["none", found.wrong, _MAIN]
    if claim.operators is not None:
        common = int(np.bincount(right.astype(int)).argmax())
        rows.append(
            Row(
                f"{_name(found)}, no penalty: {number_word(claim.operators)} operators",
                f"by CLODD {claim.operators} in {_share(right, claim.operators)} read "
                f"{TITLES[found.order]} ({_counted(right)}), in {_share(wrong, claim.operators)} "
                f"read {TITLES[found.wrong]}. Walks are compared by their outputs (rms) here; by "
                "the norm l2 of their weights it finds "
                f"{_counted(found.operators['none', found.order, _NORM])} runs. They are other "
                f"operators than the printed ones, in run {shown_run(found) + 1}: "
                f"{operators_text(_example(found), 2)}",
                "holds" if common == claim.operators else "differs",
            )
        )
    if ("penalty", found.order, _MAIN) in found.operators:
        rows.append(_penalty_row(found, claim))
    if ("none", found.order, _SEEN) in found.operators:
        seen = found.operators["none", found.order, _SEEN]
        same = float((seen == right).mean())
        rows.append(
            Row(
                f"{_name(found)}: all walks and observed walks show the same structure",
                f"as many operators in both in {same:.0%} of runs read {TITLES[found.order]}",
                "holds" if same > 0.5 else "differs",
            )
        )
    return rows


def _penalty_row(found: Found, claim: Any) -> Row:
    assert found.order is not None  # asked for only then
    right = found.operators["none", found.order, _MAIN]
    drawn = found.operators["penalty", found.order, _MAIN]
    text = (
        f"operators with penalty: {_counted(drawn)} runs; without: {_counted(right)}; read "
        f"{TITLES[found.order]}; largest |g| "
        f"{_between(np.abs(found.readings['penalty', found.order].values).max(axis=1))} with, "
        f"{_between(np.abs(found.readings['none', found.order].values).max(axis=1))} without"
    )
    said, holds = (
        "the impact of the penalty is subtle, if any",
        abs(drawn.mean() - right.mean()) < 1,
    )
    if claim.operators_regularised is not None:
        said = "a penalty leads to one operator instead of three"
        holds = (drawn == claim.operators_regularised).mean() > 0.5
    return Row(f"{_name(found)}: {said}", text, "holds" if holds else "differs")


def _example(found: Found) -> FloatArray:
    """Medoids of the clusters of the run that is shown."""
    assert found.order is not None  # asked for only then
    points = found.walks("none", found.order, "all", shown_run(found))
    labels = clodd(ivat(points.round(6)), same_below=1e-6).labels
    return points[medoids(points, labels)]


def _test_rows(found: Found) -> list[Row]:
    """Test errors that a file tells, beside those of the same regression on random halves."""
    if found.study.rows is None:
        return []
    X, y = found.study.rows
    n_train = round(0.75 * len(y)) if found.study.lines is None else len(found.study.lines)
    tested = [file.errors for which, file in found.study.files.items() if which == "none"]
    return [
        Row(
            f"{_name(found)}, no penalty: test error of {errors.mean():.3f} in the mean (in the "
            "authors' file, not in the paper)",
            f"{theirs:.3f} there; here {ours:.3f} over {len(errors)} random splits with "
            f"{n_train:,} training rows each",
            "holds" if abs(ours.mean - errors.mean()) < ours.bar + theirs.bar else "differs",
        )
        for errors in tested
        if len(errors) and n_train < len(y)
        for theirs in [estimate(errors)]
        for ours in [estimate([_test_error(X, y, n_train, k) for k in range(len(errors))])]
    ]


def _test_error(X: FloatArray, y: FloatArray, n_train: int, seed: int) -> float:
    """Mean squared error of Choquet regression on rows that a random split holds out."""
    order = np.random.default_rng(seed).permutation(len(y))
    train, test = order[:n_train], order[n_train:]
    model = fit(X[train], y[train], monotone=False, normal=False, fit_intercept=True)
    return float(((model.predict(X[test]) - y[test]) ** 2).mean())


def _start_row(found: Found) -> Row:
    n = found.study.n_sources
    order, which = found.order or "binary", next(iter(found.study.files))
    values = found.readings[which, order].values
    sizes = np.bitwise_count(np.arange(1 << n))
    away = np.abs(values - sizes / (2**n - 2))[:, 1:-1]
    means = np.array([values[:, sizes == k].mean() for k in range(n + 1)])
    fall = found.readings[which, found.wrong if found.order else "size"].decreases
    near = np.diff(means)[-1] > 0.9 and np.median(away) < 0.01
    return Row(
        f"{found.study.name}: almost all learned integrals were a single operator, the minimum",
        f"{'true' if near else 'not true'} of these {len(values)} measures: mean weights by rank "
        f"{operators_text(np.diff(means))}. Gradient descent may start from k/{2**n - 2} for a "
        f"subset of size k: the values are {np.median(away):.4f} away from that in the median, "
        f"{away.max():.3f} at most. (Listed {TITLES[order]}; by the other order {fall:.0%} of "
        "steps would fall)",
        "holds" if near else "differs",
    )


def table_of(found: Found) -> Table:
    """Every file in both orders."""
    rows = []
    for (which, order), reading in found.readings.items():
        name = {"none": "no penalty", "penalty": "penalty"}[which]
        counts = [found.operators.get((which, order, name)) for name in COUNTED]
        rows.append(
            (
                f"{name}, {TITLES[order]}",
                _between(reading.errors),
                _between(reading.best_errors),
                "–" if reading.zeros is None else f"{reading.zeros:.0%}",
                "–" if reading.zeros_elsewhere is None else f"{reading.zeros_elsewhere:.1%}",
                f"{reading.decreases:.0%}",
                *("–" if count is None else _counted(count) for count in counts),
            )
        )
    header = (
        *("file and order", "error, bias of the file", "error, best constant"),
        *("zeros without data", "zeros with data", "steps that fall"),
        *(f"operators, {name}" for name in COUNTED),
    )
    return Table(f"{_name(found)}: what can be checked of each order", header, rows)


def pictures(found: Found) -> dict[str, Picture]:
    """The four panels of the paper, in both orders."""
    if not found.operators:
        return {}
    name = found.study.name
    figure = CLAIMS[name].figure if name in CLAIMS else ""
    key = f"{figure.replace(' ', '').lower() or name}_orders"
    order = found.order or "binary"
    caption = (
        f"{figure + ': ' if figure else ''}iVAT of run {shown_run(found) + 1} of {_name(found)}; "
        f"above, values read {TITLES[order]}"
        f"{', which the checks speak for' if found.order else ''}; below, read "
        f"{TITLES[found.wrong]}. Left and right pairs have one scale each, as in the paper"
    )
    return {key: Picture(caption, (11.0, 7.4), lambda target: _draw(target, found))}


def _draw(figure: Any, found: Found) -> None:
    from choquet import plot

    order = found.order or "binary"
    some = ["all"] + (["observed"] if found.sorts is not None else [])
    run = shown_run(found)
    axes = figure.subplots(2, len(some), squeeze=False)
    letters = iter("abcdefgh")
    for line, read in zip(axes, (order, found.wrong), strict=True):
        for ax, walks in zip(line, some, strict=True):
            panels = {}
            for which in found.study.files:
                title = f"({next(letters)}) {walks}{', penalty' * (which == 'penalty')}"
                last = len(found.study.files[which].values) - 1
                values = found.walks(which, read, walks, min(run, last))
                panels[title] = ivat(values.round(6), metric="l2")
            plot.compare(panels, ax=ax)
            ax.set_title(f"values read {TITLES[read]}", fontsize=10)
