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
    if data["kind"] == "contextual":
        return _contextual(data)
    model = data["model"]
    lines = _opening(data)
    if not model["rules_exact"] and model["rules_fidelity"] is not None:
        lines += ["", f"These rules are right for {percent(model['rules_fidelity'])} of walks."]
    lines += ["", "## Operators", ""]
    lines += _table(
        ("", "name", "takes", "weights, largest input first", "share of walks", "worst error"),
        (
            (
                str(operator["number"] + 1),
                operator["name"],
                operator["phrase"],
                ", ".join(_number(w) for w in operator["weights"]),
                percent(operator["share"]),
                _number(operator["worst"]),
            )
            for operator in model["operators"]
        ),
    )
    lines += ["", "## Sources", "", *_sources(data)]
    lines += _evidence(data) + _samples(data)
    lines += ["", f"Made with choquet {data['library_version']}."]
    return "\n".join(lines) + "\n"


def _opening(data: dict[str, Any]) -> list[str]:
    story = data["story"]
    lines = [f"# {_escape(data['title'])}", ""]
    lines += [f"{_escape(story['opening'])} {_escape(story['certificate'])}", ""]
    for key in ("classes", "units"):
        lines += [_escape(story[key]), ""] if story[key] else []
    lines += ["## When each operator is used", ""]
    return lines + [f"- {_escape(sentence)}" for sentence in data["model"]["sentences"]]


def _contextual(data: dict[str, Any]) -> str:
    """A contextual model: operators, contexts, what to collect, errors, samples."""
    operators = data["model"]["operators"]
    lines = [*_opening(data), "", "## Operators", ""]
    lines += _table(
        ("", "name", "takes", "weights, largest input first", "adds", "samples", "share", "trust"),
        (
            (
                str(operator["number"] + 1),
                operator["name"],
                operator["phrase"],
                ", ".join(_number(w) for w in operator["weights"]),
                _number(operator["bias"]),
                str(operator["count"]),
                percent(operator["share"]),
                percent(operator["trust"]),
            )
            for operator in operators
        ),
    )
    leaves = [node for node in data["tree"] if node["question"] is None]
    lines += ["", "## Contexts", ""]
    lines += _table(
        ("if", "operator", "samples", "share"),
        (
            (
                node["rule"],
                f"{node['operator'] + 1}. {operators[node['operator']]['name']}",
                _number(node["weight"]),
                percent(node["share"]),
            )
            for node in leaves
        ),
    )
    lines += ["", "## Sources", ""]
    lines += _table(
        ("source", "questions about it", "mean contribution"),
        ((row["source"], str(row["asked"]), _number(row["mean"])) for row in data["source_table"]),
    )
    lines += _requests(data)
    if data["errors"] is not None:
        keys = ("right",) if data["errors"]["classes"] else ("rmse", "mae")
        lines += ["", "## Errors on the samples", ""]
        lines += _table(
            ("samples", "number", *keys),
            (
                (row["which"], str(row["n"]), *(_number(row[key]) for key in keys))
                for row in data["errors"]["rows"]
            ),
        )
    rows = (data["samples"] or {"rows": []})["rows"]
    if rows:
        lines += ["", f"## Samples ({len(rows)} of {data['samples']['n']})", ""]
        lines += _table(
            (*data["sources"], "operator", "output", "trust"),
            (
                (
                    *map(_number, row["inputs"]),
                    operators[row["operator"]]["name"],
                    _number(row["output"]),
                    percent(row["trust"]),
                )
                for row in rows
            ),
        )
    lines += ["", f"Made with choquet {data['library_version']}."]
    return "\n".join(lines) + "\n"


def _requests(data: dict[str, Any]) -> list[str]:
    requests = data["model"]["requests"]
    if not requests:
        return []
    return [
        "",
        "## Data to collect next",
        "",
        *(
            f"{k}. {_escape(request['text'])} (gain {_number(request['gain'])})"
            for k, request in enumerate(requests, start=1)
        ),
    ]


def _sources(data: dict[str, Any]) -> list[str]:
    sources, indices = data["sources"], data["indices"]
    if indices["interaction"] is None:
        shares = ((name, _number(indices["shapley"][i])) for i, name in enumerate(sources))
        pairs = (
            (" and ".join(row["pair"]), _number(row["value"])) for row in indices["pairs"] or ()
        )
        lines = _table(("source", "Shapley"), shares)
        return lines + (["", *_table(("pair", "interaction"), pairs)] if indices["pairs"] else [])
    rows = (
        (name, _number(indices["shapley"][i]), *map(_number, indices["interaction"][i]))
        for i, name in enumerate(sources)
    )
    cleaned = (
        tuple("·" if k == i + 2 else cell for k, cell in enumerate(row))
        for i, row in enumerate(rows)
    )
    heads = ("source", "Shapley", *(f"interaction with {name}" for name in sources))
    return _table(heads, cleaned)


def _evidence(data: dict[str, Any]) -> list[str]:
    if data["support"] is None:
        return []
    lines = ["", "## Support by data", "", _escape(data["story"]["evidence"]), ""]
    lines += _table(
        ("subset size", "subsets", "supported"),
        (
            (str(row["size"]), str(row["subsets"]), str(row["supported"]))
            for row in data["support"]["by_size"]
        ),
    )
    return lines + _requests(data)


def _samples(data: dict[str, Any]) -> list[str]:
    lines: list[str] = []
    if data["errors"] is not None:
        lines += ["", "## Errors on the samples", ""]
        key, what = (
            ("right", "share right by") if data["errors"]["classes"] else ("rmse", "RMSE of")
        )
        lines += _table(
            ("samples", "number", f"{what} the operators", f"{what} the integral"),
            (
                (
                    row["which"],
                    str(row["n"]),
                    _number(row[f"operators_{key}"]),
                    _number(row[f"integral_{key}"]),
                )
                for row in data["errors"]["rows"]
            ),
        )
    if data["samples"] is not None and data["samples"]["rows"]:
        names = [operator["name"] for operator in data["model"]["operators"]]
        lines += ["", f"## Samples ({len(data['samples']['rows'])} of {data['samples']['n']})", ""]
        lines += _table(
            (*data["sources"], "operator", "output", "interval", "unsupported"),
            (
                (
                    *map(_number, row["inputs"]),
                    names[row["operator"]] if row["operator"] < len(names) else "–",
                    _number(row["output"]),
                    f"{_number(row['low'])} to {_number(row['high'])}",
                    percent(row["phi"]),
                )
                for row in data["samples"]["rows"]
            ),
        )
    return lines


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
