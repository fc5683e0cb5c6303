"""The report: summarise once, then write it as one HTML file, JSON or Markdown."""

from __future__ import annotations

import html
import json
import os
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy.typing as npt

from choquet.errors import OptionError
from choquet.explanation.phrases import percent
from choquet.files import check_target, write_whole
from choquet.report.additive import curve_points, map_cells
from choquet.report.layout import MAX_HASSE, bars, hasse, reliability_points, signed_bars
from choquet.report.markdown import as_markdown
from choquet.report.rendering import encodable, rendered
from choquet.report.summary import summarise
from choquet.scales import figure, figures, figures_of
from choquet.watching import steps


class Report:
    """A report on a model: what it does, how good it is, where not to trust it, what to do next.

    Nothing is computed before it is asked for.

    Parameters
    ----------
    model : Decomposition, Measure, fitted model, or a pipeline that ends in one
        What to report on; measures and models are decomposed first.
    X : array-like of shape (n, N) or data frame, optional
        Samples to show and, if the decomposition knows no data, to take support from. The columns
        of a frame are taken by name. Samples that the model has not seen show best how good it is;
        for those that it was learned from, it is cross-validated. A `FusionClassifier` takes its
        scores.
    y : array-like of n floats, optional
        Their targets, to measure errors on.
    title : str, optional
        Heading; made from the sources by default.
    n_samples : int, default 100
        Samples that are listed, from the first.

    Examples
    --------
    >>> import choquet
    >>> g = choquet.Measure([0, 0, 1, 1, 1, 1, 1, 1], sources=["gpr", "ir", "emi"])
    >>> report = choquet.Report(g, X=[[0.9, 0.4, 0.2], [0.1, 0.6, 0.5]])
    >>> report.markdown().splitlines()[0]
    '# How gpr, ir and emi are combined'
    >>> report.html().startswith("<!doctype html>")
    True
    """

    def __init__(
        self,
        model: Any,
        X: Any = None,
        y: npt.ArrayLike | None = None,
        *,
        title: str | None = None,
        n_samples: int = 100,
    ) -> None:
        if n_samples < 0:
            raise OptionError(f"n_samples={n_samples} must be at least 0")
        if y is not None and X is None:
            raise OptionError("y was given without X; give the samples that it belongs to")
        self._given = (model, X, y)
        self._options: dict[str, Any] = {"title": title, "n_samples": n_samples}

    @cached_property
    def data(self) -> dict[str, Any]:
        """All that the report says, in lists, strings, numbers, booleans and None.

        Examples
        --------
        >>> import choquet
        >>> choquet.Report(choquet.Measure([0, 0, 0, 1])).data["first"]["works"]["sentences"]
        ['Always take the smallest.']
        """
        with steps("looking at the model"):
            return summarise(*self._given, **self._options)

    def json(self) -> str:
        """The report as JSON.

        Examples
        --------
        >>> import choquet, json
        >>> json.loads(choquet.Report(choquet.Measure([0, 0, 0, 1])).json())["n_operators"]
        1
        """
        return json.dumps(self.data, allow_nan=False, indent=1)

    def markdown(self) -> str:
        """The report as Markdown, without pictures.

        Examples
        --------
        >>> import choquet
        >>> print(choquet.Report(choquet.Measure([0, 0, 0, 1])).markdown())
        # How x1 and x2 are combined
        <BLANKLINE>
        The model combines x1 and x2 into one output. It always combines them in the same way.
        ...
        """
        return encodable(as_markdown(self.data))

    def html(self) -> str:
        """The report as one HTML page that needs nothing else, online or off.

        Raises
        ------
        MissingDependencyError
            Without jinja2.

        Examples
        --------
        >>> import choquet
        >>> "http://" in choquet.Report(choquet.Measure([0, 0, 0, 1])).html()
        False
        """
        data = self.data
        with steps("drawing the page"):
            return _render(data)

    def write_html(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> Path:
        """Write the page to a file, whole or not at all.

        Raises
        ------
        OptionError
            If the name ends as those of other formats do, such as .pdf.
        FileError
            If the file exists and `overwrite` is False, or it cannot be written.

        Examples
        --------
        >>> import choquet, pathlib, tempfile
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "report.html"
        >>> report = choquet.Report(choquet.Measure([0, 0, 0, 1]))
        >>> report.write_html(path).stat().st_size < 3_000_000
        True
        """
        suffix = Path(path).suffix
        if suffix.lower() not in ("", ".html", ".htm"):
            raise OptionError(f"{path}: this writes HTML, not {suffix}; end the name in .html")
        check_target(path, overwrite=overwrite)
        return write_whole(path, self.html().encode("utf-8"), overwrite=overwrite)

    def _repr_html_(self) -> str:
        # A frame of its own, so that the page's styles stay in it.
        inside = html.escape(self.html())
        return f'<iframe title="report" srcdoc="{inside}" width="100%" height="800"></iframe>'

    def __repr__(self) -> str:
        return f"<Report {self.data['title']!r}: {self.data['n_operators']} operators>"


def _render(data: dict[str, Any]) -> str:
    if data.get("kind") == "additive":
        return _render_additive(data)
    n, fused = len(data["sources"]), "classes" in data
    return rendered(
        "fusion.html" if fused else "report.html",
        data,
        _embedded_fusion(data) if fused else _embedded(data),
        styles=["report.css"],
        script="explorer.js",
        filters=_FILTERS,
        rest=_NOT_NEEDED,
        bars=bars,
        signed_bars=signed_bars,
        reliability_points=reliability_points,
        hasse=hasse(n) if data["explorer"].get("values") else None,
        graph=bool(data.get("tree")) and n > MAX_HASSE,
    )


def _render_additive(data: dict[str, Any]) -> str:
    """The page on a sum of terms."""
    curves = []
    for number, picture in enumerate(data["pictures"]):
        if picture["kind"] == "curve":
            drawn = curve_points(picture)
            source = data["explorer"]["terms"][number]["sources"][0]
            places = {key: drawn[key] for key in ("x", "y")}
            curves.append({"number": number, "source": source, "knots": picture["knots"], **places})
    return rendered(
        "additive.html",
        data,
        {"explorer": data["explorer"], "curves": curves},
        styles=["report.css", "additive.css"],
        script="additive.js",
        filters=_FILTERS,
        rest=_NOT_NEEDED,
        curve_points=curve_points,
        map_cells=map_cells,
        reliability_points=reliability_points,
    )


def _embedded(data: dict[str, Any]) -> dict[str, Any]:
    """What the page's own script needs."""
    wanted = ("name", "phrase", "trust", "count")
    return {
        "sources": data["sources"],
        "operators": [
            {key: operator[key] for key in wanted} for operator in data["model"]["operators"]
        ],
        "rules": data["rules"],
        "leaves": [
            {key: node[key] for key in ("node", "rule", "weight")}
            for node in data["tree"] or ()
            if node["question"] is None
        ],
        "explorer": data["explorer"],
        "samples": [row["inputs"] for row in (data["samples"] or {"rows": []})["rows"]],
    }


def _embedded_fusion(data: dict[str, Any]) -> dict[str, Any]:
    """The same of fused classifiers."""
    explorer = data["explorer"]
    names = ("samples", "label", "sample", "power")
    return {
        "sources": data["sources"],
        "labels": data["labels"],
        "views": [{**view, "rules": None, "leaves": []} for view in explorer["views"]],
        "fusion": {name: explorer[name] for name in names},
    }


def _short(value: float) -> str:
    """A number that fits on a bar: two decimals, or three digits if it is large."""
    if abs(value) >= 10:
        return figure(value)
    return f"{value:.2f}".rstrip("0").rstrip(".") if abs(value) >= 0.005 else "0"


def _columns(rows: Sequence[Mapping[str, Any]], names: Sequence[str]) -> list[list[Any]]:
    """Some columns of a table, row by row."""
    return [[row[name] for name in names] for row in rows]


def _grid(rows: Sequence[Sequence[float | None]], digits: int = 3) -> list[list[str]]:
    """The numbers of a table as people write them, row by row."""
    told = iter(figures((value for row in rows for value in row), digits))
    return [[next(told) for _ in row] for row in rows]


def _cells(rows: Sequence[Sequence[float | None]], digits: int = 3) -> list[str]:
    """The same as the cells of each row."""
    from markupsafe import Markup

    return [Markup("".join(f"<td>{text}</td>" for text in row)) for row in _grid(rows, digits)]


def _coded(text: str) -> str:
    """A sentence, with what stands between backticks as code."""
    from markupsafe import Markup, escape

    parts = [escape(part) for part in text.split("`")]
    coded = (f"<code>{part}</code>" if k % 2 else part for k, part in enumerate(parts))
    return Markup("".join(coded)) if len(parts) % 2 else text


def _percent(share: float | None) -> str:
    # The sign stays with its number.
    return "–" if share is None else percent(share).replace(" %", "\u00a0%")


_FILTERS = {
    "number": figure, "numbers": figures, "cells": _cells, "columns": _columns, "grid": _grid,
    "percent": _percent, "short": _short, "coded": _coded, "weights": figures_of,
}  # fmt: skip
_NOT_NEEDED = " (json() and markdown() do not)"
