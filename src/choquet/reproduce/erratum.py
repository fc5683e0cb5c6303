"""A short page on the order of the authors' values, from the document of that experiment."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from choquet.reproduce.experiments.authors_rows import TITLES
from choquet.reproduce.experiments.regression_rows import CLAIMS
from choquet.reproduce.page import MARK, figures
from choquet.reproduce.result import between, share_of

_INTRODUCTION = """\
This page is about the measures behind the figures of “Fuzzy Integral = Contextual Linear Order
Statistic” (Anderson, Deardorff, Havens, Kakula, Wilkin, Islam, Pinar, Buck). It is written for
readers of the paper and for its authors, to whom we are grateful for having published the files:
without them nobody could have noticed. The method of the paper is not in question. If we are
mistaken, we want to know.

The files are in the public repository mdeardorff/FuzzyMeasures. They have no licence, so they are
not part of this project; with a copy of them this page is written again by

    choquet reproduce authors --data FOLDER -o results
"""


def erratum_page(document: Mapping[str, Any], images: str = "") -> str:
    """The page, from what `reproduce` found in the authors' files.

    `images` stands before the names of pictures.

    Examples
    --------
    >>> page = erratum_page({"numbers": {}, "figures": {}, "options": {"seeds": 1}})
    >>> page.splitlines()[2]
    '# The order of the values in the authors’ files'
    """
    numbers: Mapping[str, Any] = document["numbers"]
    known = {name: n for name, n in numbers.items() if n["start"] is None}
    started = {name: n for name, n in numbers.items() if n["start"] and n["start"]["near"]}
    parts = [MARK, "# The order of the values in the authors’ files", _INTRODUCTION]
    if known:
        parts += ["## What we found", _orders(known), _lines(known), _printed(known)]
        parts += figures(document, images)
    if started:
        parts += [_starts(started)]
    if known:
        parts += ["## What stays true", _stays(known)]
    parts += [
        "## How sure this is",
        "The order is not a matter of taste: a measure is a list of numbers, and only one order of "
        "the subsets makes it predict the data it was learned from. Zeros and spread are checks "
        "that do not need the targets. What we cannot know is which file a figure of the paper was "
        "drawn from; the printed operators tell it for Yacht alone. All numbers are on [the page "
        "of results](paper.md) and in `results.json`.",
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _title(name: str) -> str:
    return name.replace("_", " ").capitalize()


def _orders(known: Mapping[str, Any]) -> str:
    rows = ["| file | check | by bit mask | by size |", "|---|---|---:|---:|"]
    for name, one in known.items():
        for which, both in one["files"].items():
            file = f"{_title(name)}, {'no penalty' if which == 'none' else 'penalty'}"
            rows += _checks(file, both)
    decided = {_title(name): TITLES[one["order"]] for name, one in known.items() if one["order"]}
    orders = ", ".join(f"{name} {order}" for name, order in decided.items())
    runs = {
        order["n_runs"]
        for one in known.values()
        for both in one["files"].values()
        for order in both.values()
    }
    column = f"one of {runs.pop()} runs" if len(runs) == 1 else "one run"
    return (
        f"**1. The order of the subsets.** Each column of a file is {column}, each row the value "
        "of one subset. The order of the subsets is not written down. The authors’ program reads "
        "the values by size of the subset and then lexicographically (∅, {1}, {2}, {3}, …, "
        "{1, 2}, …). The other usual order is by bit mask (∅, {1}, {2}, {1, 2}, {3}, …). The "
        f"checks below say in which order the values were written: {orders or 'undecided'}.\n\n"
        + "\n".join(rows)
        + "\n\nErrors are mean squared errors on the standardised data (1 is the error of the "
        "mean of the target): the median over the runs, with the range from 2.5 % to 97.5 % of "
        "them. “Best constant” lets each reading choose its own bias."
    )


def _checks(file: str, both: Mapping[str, Any]) -> list[str]:
    a, b = both["binary"], both["size"]
    rows: list[tuple[str, ...]] = []
    if a["error"] is not None:
        for key, what in (("error", "error"), ("error_with_best_constant", "error, best constant")):
            rows.append((file, what, between(a[key]), between(b[key])))
    key = "zeros_without_data"
    if a[key] != b[key]:  # a penalty leaves no zeros, and then they tell nothing
        rows.append((file, "zeros where no row was", f"{a[key]:.0%}", f"{b[key]:.0%}"))
    if a["spread"] is not None and a["zeros_without_data"] is None:
        values = [f"{one['spread'][0]:.2f}" for one in (a, b)]
        rows.append((file, "correlation of count and spread", *values))
    return [f"| {' | '.join(row)} |" for row in rows]


def _lines(known: Mapping[str, Any]) -> str:
    said = []
    for name, one in known.items():
        matched = one["lines_matched"]
        if one["lines_are"] != "ranks" or matched.get("ranks") is None:
            continue
        seen = one["observed"]
        said.append(
            f"{_title(name)}: as ranks {matched['ranks']:,} lines match a row of the data, as "
            f"sorts {matched['sorts']:,}. Read as sorts, {seen['lines_that_are_walks']} of the "
            f"{seen['walks']} walks called observed were observed."
        )
    if not said:
        return ""
    return (
        "**2. Sorts and ranks.** The lines of the files of sorts are ranks, the inverse "
        "permutations: the third number says where the third source stands, not which source is "
        "third. " + " ".join(said)
    )


def _printed(known: Mapping[str, Any]) -> str:
    one = known.get("yacht")
    if one is None or "printed" not in one or one["order"] is None:
        return ""
    wrong = next(order for order in one["printed"] if order != one["order"])
    runs = one["printed"][wrong]
    run = min(range(len(runs)), key=lambda k: sorted(runs[k])[1])
    came, truly = runs[run], one["printed"][one["order"]][run]
    fewer = one["printed_but_one"][wrong][run][1]
    return (
        f"**3. The printed operators.** w1 and w3 of Yacht are walks of run {run + 1} read "
        f"{TITLES[wrong]}, to {max(came[0], came[2]):.2f} in every weight; so are five of the six "
        f"weights of w2, to {fewer:.2f} (the other is a misprint, as the sum of w2 shows). Read "
        f"{TITLES[one['order']]}, the walk of that run nearest to w1 is {truly[0]:.0f} away. So "
        "the text and Figure 7 describe a measure that the learning did not find."
    )


def _starts(started: Mapping[str, Any]) -> str:
    said = []
    for name, one in started.items():
        start, n = one["start"], one["n_sources"]
        said.append(
            f"The measures in `{name}` are the minimum, as the paper says: mean weight of the "
            f"smallest input {start['mean_walk'][-1]:.3f}. They also lie next to where gradient "
            f"descent begins, a subset of size k having k/{2**n - 2}: "
            f"{start['median_distance']:.4f} away in the median, "
            f"{start['largest_distance']:.3f} at most. The minimum is where the training began, "
            "not what the data ask for: the least-squares optimum on the same "
            "scores has [a quarter of the error](paper.md)."
        )
    return "**4. The minimum on AID.** " + " ".join(said)


def _stays(known: Mapping[str, Any]) -> str:
    points = []
    for name, one in known.items():
        claim = CLAIMS.get(name)
        if claim is None or one["order"] is None or "observed" not in one:
            continue
        points.append(
            f"- {_title(name)}: {one['observed']['share']:.1%} of the walks were observed (the "
            f"paper: {claim.walks:.0%})."
        )
        counts = one["files"].get("none", {}).get(one["order"], {}).get("operators", {})
        listed = {key: counts.get(f"all walks, {key}") for key in ("rms", "l2")}
        if claim.operators is not None and listed["rms"] is not None:
            shares = [
                share_of(sum(one[claim.operators :][:1]), sum(one)) for one in listed.values()
            ]
            points.append(
                f"- {_title(name)}: CLODD finds {claim.operators} operators in {shares[0]} in the "
                "right order, with other weights than those printed. It depends on how "
                "operators are compared: this is by their outputs (root mean square); by the norm "
                f"of their weights it is {shares[1]}."
            )
    points.append("- The decomposition itself, which does not depend on any of this.")
    return "\n".join(points)
