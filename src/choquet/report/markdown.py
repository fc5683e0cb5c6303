"""The report as Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from choquet.explanation.phrases import figure, percent
from choquet.scales import figures_of

_BY_SUPPORT = (
    "By support, an answer could lie wherever the sets of inputs without data allow; those with "
    "data are taken as exact, so this is no confidence interval."
)
"""What the bounds of a sample are."""


def as_markdown(data: dict[str, Any]) -> str:
    r"""Markdown from the data of a report; names cannot break out of their place.

    Examples
    --------
    >>> from choquet import Measure
    >>> from choquet.report import summarise
    >>> as_markdown(summarise(Measure([0, 0, 0, 1], sources=["a|b", "<i>"])))[:35]
    '# How a\\|b and \\<i\\> are combined\n\n'
    """
    if data.get("kind") == "additive":
        return _additive(data)
    lines = [f"# {_escape(data['title'])}", "", *_first(data["first"])]
    if "classes" in data:
        lines += [*_classes(data), *_reliability(data)]
    else:
        lines += [
            *_reliability(data),
            *_rules(data),
            *_operators(data),
            *_contexts(data),
            *_sources(data),
        ]
        lines += [*_support(data), *_requests(data), *_errors(data), *_samples(data)]
    lines += ["", f"Made with choquet {data['library_version']}."]
    return "\n".join(lines) + "\n"


def _additive(data: dict[str, Any]) -> str:
    """A sum of terms."""
    story = data["story"]
    lines = [f"# {_escape(data['title'])}", "", *_first(data["first"]), *_reliability(data), ""]
    lines += ["## All terms", "", _escape(story["opening"]), "", *_points(story["sentences"])]
    heads = ["term", "share of the variation", "numbers", "decided by data", "share decided"]
    rows = [
        [
            one["term"], percent(one["share"]), str(one["numbers"]), figure(one["decided"]),
            percent(one["trust"]),
        ]
        for one in story["terms"]
    ]  # fmt: skip
    lines += ["", *_table(heads, rows)]
    errors = data["errors"]
    if errors is not None:
        said = (
            f"{percent(errors['right'])} of {errors['n']} samples are right."
            if errors["right"] is not None
            else f"Typical error on {errors['n']} samples: {figure(errors['rmse'])}."
        )
        lines += ["", "## Errors", "", said]
    lines += ["", f"Made with choquet {data['library_version']}."]
    return "\n".join(lines) + "\n"


def _first(first: dict[str, Any]) -> list[str]:
    """The first screen."""
    works, quality = first["works"], first["quality"]
    lines = [_escape(first["what"]), ""]
    if first["warnings"]:
        lines += ["**Warnings**", "", *_points(first["warnings"]), ""]
    lines += ["## How good is it?", ""]
    lines += _scores(quality) if quality else [_escape(first["no_quality"])]
    lines += ["", "## How does it work?", "", *_points(works["sentences"]), ""]
    lines += [line for note in works["notes"] for line in (_escape(note), "")]
    lines += [_escape(works["cost"]), ""]
    lines += ["## Where not to trust it", "", *_points(first["distrust"]), ""]
    # What is to be typed stands between backticks, in which nothing else means anything.
    next_ = [re.sub(r"`[^`]+`|[^`]+", _typed, text) for text in first["next"]]
    return [*lines, "## What to do next", "", *(f"- {text}" for text in next_)]


def _typed(found: re.Match[str]) -> str:
    text = found[0]
    return text if text.startswith("`") else _kept(text)


def _points(texts: Iterable[str]) -> list[str]:
    return [f"- {_escape(text)}" for text in texts]


def _scores(quality: dict[str, Any]) -> list[str]:
    if quality["numbers"]:
        heads = ("", "typical error", "R²")
        rows = [
            (
                r["who"],
                _with_half(
                    r["told"]["error"], r["told"]["error_half"] if r["key"] == "model" else None
                ),
                r["told"]["r2"],
            )
            for r in quality["rows"]
        ]
    else:
        heads = ("", "right", "log-loss")
        rows = [
            (
                r["who"],
                f"{r['told']['right']} ± {r['told']['right_half']}",
                _with_half(r["told"]["log_loss"], r["told"]["log_loss_half"]),
            )
            for r in quality["rows"]
        ]
    verdict = [_escape(quality["verdict"]), ""] if quality["verdict"] else []
    return [*verdict, *_table(heads, rows), "", _escape(f"{quality['how']} {quality['terms']}")]


def _with_half(told: str, half: str | None) -> str:
    return told if half is None else f"{told} ± {half}"


def _reliability(data: dict[str, Any]) -> list[str]:
    """Probabilities beside the share of answers that are right."""
    told = data["reliability"]
    if told is None:
        return []
    heads = ("samples", "probability given", "right", "95 % interval")
    rows = [
        [str(row["n"]), percent(row["told"]), percent(row["right"]), row["interval"]]
        for row in told["rows"]
    ]
    lines = ["", "## Can the probabilities be believed?", "", _escape(told["verdict"]), ""]
    return [*lines, *_table(heads, rows), "", _escape(f"{told['how']} {told['terms']}")]


def _rules(data: dict[str, Any]) -> list[str]:
    story, model = data["story"], data["model"]
    lines = ["", "## All rules", "", _escape(story["certificate"]), ""]
    lines += _points(model["sentences"])
    for key in ("fidelity", "classes", "units"):
        lines += ["", _escape(story[key])] if story[key] else []
    return lines


def _operators(data: dict[str, Any]) -> list[str]:
    learned = data["model"]["learned"]
    operators = data["model"]["operators"]
    heads = ["", "name", "takes", "weights, largest input first"]
    of = "all orders of the inputs" if operators[0]["unit"] == "walks" else "samples"
    heads += (
        ["adds", "samples", "share", "decided by data"]
        if learned
        else [f"share of {of}", "largest difference"]
    )
    rows = []
    for operator in operators:
        row = [str(operator["number"] + 1), operator["name"], operator["phrase"]]
        row.append(figures_of(operator["weights"]))
        if learned:
            row += [figures_of([operator["bias"]], operator["weights"]), str(operator["count"])]
            row += [percent(operator["share"]), _percent(operator["trust"])]
        else:
            row += [percent(operator["share"]), figure(operator["worst"], 2)]
        rows.append(row)
    about = "An operator is one way of combining the inputs."
    return ["", "## Operators", "", about, "", *_table(heads, rows)]


def _contexts(data: dict[str, Any]) -> list[str]:
    if data["tree"] is None:
        return []
    rows = [
        (node["rule"], str(node["operator"] + 1), percent(node["share"]))
        for node in data["tree"]
        if node["question"] is None
    ]
    about = "A context is a situation, told by which inputs are larger than others."
    return ["", "## Contexts", "", about, "", *_table(("if", "operator", "share"), rows)]


def _sources(data: dict[str, Any]) -> list[str]:
    lines: list[str] = []
    if data["source_table"] is not None:
        lines += _table(
            ("source", "questions about it", "mean contribution"),
            (
                (row["source"], str(row["asked"]), figure(row["mean"]))
                for row in data["source_table"]
            ),
        )
        lines.append("")
    lines += _indices(data["sources"], data["indices"]) if data["indices"] else []
    return ["", "## Sources", "", *lines] if lines else []


def _indices(sources: list[str], indices: dict[str, Any]) -> list[str]:
    pairs = indices["interaction"]
    about = "The Shapley value of a source is its average share in the output."
    heads = ["source", "Shapley value"]
    rows = [[name, figure(indices["shapley"][i], 2)] for i, name in enumerate(sources)]
    if pairs is not None:
        about += " An interaction above 0 means that two sources need each other; below 0, that "
        about += "one can replace the other."
        heads += [f"interaction with {name}" for name in sources]
        for i, row in enumerate(rows):
            row += ["·" if k == i else figure(value, 2) for k, value in enumerate(pairs[i])]
    lines = [about, "", *_table(heads, rows)]
    listed = indices["pairs"] or ()
    strongest = [(" and ".join(row["pair"]), figure(row["value"], 2)) for row in listed]
    return lines + (["", *_table(("pair", "interaction"), strongest)] if strongest else [])


def _support(data: dict[str, Any]) -> list[str]:
    if data["support"] is None:
        return []
    rows = [
        (str(row["size"]), str(row["subsets"]), str(row["supported"]))
        for row in data["support"]["by_size"]
    ]
    lines = ["", "## Data behind it", "", _escape(data["story"]["evidence"]), ""]
    return lines + _table(("sources in a set", "sets", "with data"), rows)


def _requests(data: dict[str, Any]) -> list[str]:
    requests = [
        f"{k}. {_escape(request['text'])} (expected gain {figure(request['gain'], 2)})"
        for k, request in enumerate(data["model"]["requests"], start=1)
    ]
    return ["", "## Data to collect next", "", *requests] if requests else []


def _errors(data: dict[str, Any]) -> list[str]:
    errors = data["errors"]
    if errors is None:
        return []
    key, what = ("right", "right: ") if errors["classes"] else ("rmse", "typical error: ")
    heads, keys = ["samples", "number", f"{what}model"], [key]
    if errors["other"] is not None:
        heads.append(f"{what}{'rules' if errors['other'] == 'operators' else 'full model'}")
        keys.append(f"other_{key}")
    show = percent if errors["classes"] else figure
    rows = [
        [row["which"], str(row["n"]), *(show(row[name]) for name in keys)] for row in errors["rows"]
    ]
    return ["", "## Errors on the samples", "", *_table(heads, rows)]


def _samples(data: dict[str, Any]) -> list[str]:
    samples = data["samples"]
    if samples is None or not samples["rows"]:
        return []
    other = {"operators": "by the rules", "integral": "full model"}.get(samples["other"])
    key = {"operators": "operator_output", "integral": "integral"}.get(samples["other"], "")
    heads = ["output", *(["target"] if "target" in samples["rows"][0] else []), "operator"]
    heads += ["not seen"] if other is None else [other, "could lie, by support", "not seen"]
    rows = []
    for row in samples["rows"]:
        cells = [figure(row["output"]), *([figure(row["target"])] if "target" in row else [])]
        cells.append(str(row["operator"] + 1))
        if other is not None:
            cells += [figure(row[key]), f"{figure(row['low'])} to {figure(row['high'])}"]
        rows.append([*cells, _percent(row["phi"]), *(figure(x, 4) for x in row["inputs"])])
    title = f"## Samples ({len(rows)} of {samples['n']})"
    about = [] if other is None else [_BY_SUPPORT, ""]
    return ["", title, "", *about, *_table([*heads, *data["sources"]], rows)]


def _classes(data: dict[str, Any]) -> list[str]:
    rows = [
        (
            row["label"], str(row["n"]), _percent(row["right"]), _percent(row["unseen"]),
            str(row["n_operators"]), str(row["never"]), " ".join(row["sentences"]),
        )
        for row in data["classes"]
    ]  # fmt: skip
    heads = ("class", "samples", "found", "not seen before", "operators", "sets without data")
    lines = ["", "## Class by class", "", *_table((*heads, "in short"), rows)]
    return lines + _fused_samples(data["samples"])


def _fused_samples(samples: dict[str, Any] | None) -> list[str]:
    """The samples of a fusion: wrong answers first, then those least sure."""
    if samples is None or not samples["rows"]:
        return []
    rows = [
        (
            row["id"], row["truth"] or "–", row["answer"], percent(row["probability"]),
            row["next"], percent(row["next_probability"]),
        )
        for row in samples["rows"]
    ]  # fmt: skip
    heads = ("sample", "true class", "answer", "probability", "next", "its probability")
    order = "Wrong answers come first, then those that are least sure."
    title = f"## Samples ({len(rows)} of {samples['n']})"
    return ["", title, "", order, "", *_table(heads, rows)]


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    lines = [_row(heads), "|" + "---|" * len(heads)]
    return lines + [_row(row) for row in rows]


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(_escape(cell) for cell in cells) + " |"


def _escape(text: str) -> str:
    """Text in which no character means anything to Markdown, on one line."""
    return _kept(" ".join(text.split()))


def _kept(text: str) -> str:
    return re.sub(r"([\\`*_{}\[\]<>|#~&])", r"\\\1", text)


def _percent(share: float | None) -> str:
    return "–" if share is None else percent(share)
