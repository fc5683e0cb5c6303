"""The report as Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from choquet.explanation.phrases import percent

__all__ = ["as_markdown"]


def as_markdown(data: dict[str, Any]) -> str:
    r"""Markdown from the data of a report; names cannot break out of their place.

    Examples
    --------
    >>> from choquet import Measure
    >>> from choquet.report import summarise
    >>> as_markdown(summarise(Measure([0, 0, 0, 1], sources=["a|b", "<i>"])))[:32]
    '# How a\\|b and \\<i\\> are fused\n\n'
    """
    if data.get("kind") == "additive":
        return _additive(data)
    lines = [f"# {_escape(data['title'])}", "", *_story(data), *_operators(data), *_contexts(data)]
    lines += [*_sources(data), *_support(data), *_requests(data), *_errors(data), *_samples(data)]
    lines += ["", f"Made with choquet {data['library_version']}."]
    return "\n".join(lines) + "\n"


def _additive(data: dict[str, Any]) -> str:
    """A sum of terms."""
    story = data["story"]
    lines = [f"# {_escape(data['title'])}", "", _escape(story["opening"]), ""]
    lines += [f"- {_escape(sentence)}" for sentence in story["sentences"]]
    heads = ["term", "share of the variance", "numbers", "decided by data", "trust"]
    rows = [
        [
            one["term"], percent(one["share"]), str(one["numbers"]), _number(one["decided"]),
            percent(one["trust"]),
        ]
        for one in story["terms"]
    ]  # fmt: skip
    lines += ["", "## Terms", "", *_table(heads, rows)]
    errors = data["errors"]
    if errors is not None:
        said = (
            f"{percent(errors['right'])} of {errors['n']} samples are right."
            if errors["right"] is not None
            else f"Root mean square error on {errors['n']} samples: {_number(errors['rmse'])}."
        )
        lines += ["", "## Errors", "", said]
    lines += ["", f"Made with choquet {data['library_version']}."]
    return "\n".join(lines) + "\n"


def _story(data: dict[str, Any]) -> list[str]:
    story, model = data["story"], data["model"]
    lines = [f"{_escape(story['opening'])} {_escape(story['certificate'])}", ""]
    for key in ("classes", "units"):
        lines += [_escape(story[key]), ""] if story[key] else []
    lines += ["## When each operator is used", ""]
    lines += [f"- {_escape(sentence)}" for sentence in model["sentences"]]
    if not model["rules_exact"] and model["rules_fidelity"] is not None:
        lines += ["", f"These rules are right for {percent(model['rules_fidelity'])} of walks."]
    return lines


def _operators(data: dict[str, Any]) -> list[str]:
    learned = data["model"]["learned"]
    heads = ["", "name", "takes", "weights, largest input first"]
    heads += ["adds", "samples", "share", "trust"] if learned else ["share of walks", "worst error"]
    rows = []
    for operator in data["model"]["operators"]:
        row = [str(operator["number"] + 1), operator["name"], operator["phrase"]]
        row.append(", ".join(_number(w) for w in operator["weights"]))
        if learned:
            row += [_number(operator["bias"]), str(operator["count"])]
            row += [percent(operator["share"]), _percent(operator["trust"])]
        else:
            row += [percent(operator["share"]), _number(operator["worst"])]
        rows.append(row)
    return ["", "## Operators", "", *_table(heads, rows)]


def _contexts(data: dict[str, Any]) -> list[str]:
    if data["tree"] is None:
        return []
    names = [operator["name"] for operator in data["model"]["operators"]]
    rows = [
        (
            node["rule"],
            f"{node['operator'] + 1}. {_at(names, node['operator'])}",
            _number(node["weight"]),
            percent(node["share"]),
        )
        for node in data["tree"]
        if node["question"] is None
    ]
    return ["", "## Contexts", "", *_table(("if", "operator", "samples", "share"), rows)]


def _sources(data: dict[str, Any]) -> list[str]:
    lines: list[str] = []
    if data["source_table"] is not None:
        lines += _table(
            ("source", "questions about it", "mean contribution"),
            (
                (row["source"], str(row["asked"]), _number(row["mean"]))
                for row in data["source_table"]
            ),
        )
    lines += _indices(data["sources"], data["indices"]) if data["indices"] else []
    return ["", "## Sources", "", *lines] if lines else []


def _indices(sources: list[str], indices: dict[str, Any]) -> list[str]:
    pairs = indices["interaction"]
    heads = ["source", "Shapley"]
    rows = [[name, _number(indices["shapley"][i])] for i, name in enumerate(sources)]
    if pairs is not None:
        heads += [f"interaction with {name}" for name in sources]
        for i, row in enumerate(rows):
            row += ["·" if k == i else _number(value) for k, value in enumerate(pairs[i])]
    lines = _table(heads, rows)
    listed = indices["pairs"] or ()
    strongest = [(" and ".join(row["pair"]), _number(row["value"])) for row in listed]
    return lines + (["", *_table(("pair", "interaction"), strongest)] if strongest else [])


def _support(data: dict[str, Any]) -> list[str]:
    if data["support"] is None:
        return []
    rows = [
        (str(row["size"]), str(row["subsets"]), str(row["supported"]))
        for row in data["support"]["by_size"]
    ]
    lines = ["", "## Support by data", "", _escape(data["story"]["evidence"]), ""]
    return lines + _table(("subset size", "subsets", "supported"), rows)


def _requests(data: dict[str, Any]) -> list[str]:
    requests = [
        f"{k}. {_escape(request['text'])} (gain {_number(request['gain'])})"
        for k, request in enumerate(data["model"]["requests"], start=1)
    ]
    return ["", "## Data to collect next", "", *requests] if requests else []


def _errors(data: dict[str, Any]) -> list[str]:
    errors = data["errors"]
    if errors is None:
        return []
    key, what = ("right", "share right by") if errors["classes"] else ("rmse", "RMSE of")
    heads, keys = ["samples", "number", f"{what} the output"], [key]
    if errors["other"] is not None:
        heads.append(f"{what} the {errors['other']}")
        keys.append(f"other_{key}")
    rows = [
        [row["which"], str(row["n"]), *(_number(row[name]) for name in keys)]
        for row in errors["rows"]
    ]
    return ["", "## Errors on the samples", "", *_table(heads, rows)]


def _samples(data: dict[str, Any]) -> list[str]:
    samples = data["samples"]
    if samples is None or not samples["rows"]:
        return []
    names = [operator["name"] for operator in data["model"]["operators"]]
    other = {"operators": "by the operators", "integral": "integral"}.get(samples["other"])
    key = {"operators": "operator_output", "integral": "integral"}.get(samples["other"], "")
    heads = [*data["sources"], "operator", "output"]
    heads += ["unsupported"] if other is None else [other, "interval", "unsupported"]
    rows = []
    for row in samples["rows"]:
        cells = [*map(_number, row["inputs"]), _at(names, row["operator"]), _number(row["output"])]
        if other is not None:
            bounds = f"{_number(row['low'])} to {_number(row['high'])}"
            cells += [_number(row[key]), bounds]
        rows.append([*cells, _percent(row["phi"])])
    title = f"## Samples ({len(rows)} of {samples['n']})"
    return ["", title, "", *_table(heads, rows)]


def _at(names: Sequence[str], number: int) -> str:
    return names[number] if number < len(names) else "–"


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    lines = [_row(heads), "|" + "---|" * len(heads)]
    return lines + [_row(row) for row in rows]


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(_escape(cell) for cell in cells) + " |"


def _escape(text: str) -> str:
    """Text in which no character means anything to Markdown, on one line."""
    return re.sub(r"([\\`*_{}\[\]<>|#~&])", r"\\\1", " ".join(text.split()))


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value + 0.0:.4g}"


def _percent(share: float | None) -> str:
    return "–" if share is None else percent(share)
