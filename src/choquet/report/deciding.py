"""The page of a decision: a verdict first, then what it rests on."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from choquet.decide.words import brief
from choquet.files import write_whole
from choquet.report.rendering import rendered


def decision_page(data: dict[str, Any]) -> str:
    """The page of a decision as one HTML text that needs nothing else.

    Parameters
    ----------
    data : dict
        What `choquet.decide` reports: ``Answer.to_dict()``.

    Raises
    ------
    MissingDependencyError
        Without jinja2.
    """
    return rendered(
        "decide.html",
        data,
        _embedded(data),
        styles=["report.css", "decide.css"],
        script="decide.js",
        filters={"number": _number, "percent": _percent},
    )


def write_page(
    data: dict[str, Any], path: str | os.PathLike[str], *, overwrite: bool = False
) -> Path:
    """Write the page of a decision to a file, whole or not at all."""
    return write_whole(path, decision_page(data).encode("utf-8"), overwrite=overwrite)


def _embedded(data: dict[str, Any]) -> dict[str, Any]:
    """What the page's own script needs."""
    names = ("alternatives", "criteria", "table", "scales", "explorer", "question", "order")
    return {name: data.get(name) for name in names}


def _number(value: Any, digits: int = 3) -> str:
    """A number, a range, or a question mark where nothing is known."""
    if value is None:
        return "?"
    if isinstance(value, list):
        return " to ".join(_number(one, digits) for one in value)
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value + 0.0:.{digits}g}"


def _percent(share: float) -> str:
    return brief(share).replace(" ", "\u00a0")
