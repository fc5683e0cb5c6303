"""The report on an additive model: curves and maps of its terms, as plain data and as a page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from choquet._version import __version__
from choquet.additive.axes import Axis, Source
from choquet.additive.model import FittedTerm
from choquet.arrays import FloatArray
from choquet.errors import DataError
from choquet.explanation import AdditiveView, brief_of_sum
from choquet.explanation.additive import place_words
from choquet.explanation.phrases import plain, source_words
from choquet.report.first_of_sum import first_of_sum
from choquet.report.quality import quality_of_sum, scores_table
from choquet.report.reliability import reliability_table

_BAND = 1.959963984540054
"""Standard errors of a band of 95 %."""
_PICTURES = 40
"""Terms that are drawn; the table lists all."""
_EXAMINED = 20_000


def summarise_additive(
    view: AdditiveView, X: Any, y: npt.ArrayLike | None, *, title: str | None, n_samples: int
) -> dict[str, Any]:
    """What a report says about an additive model."""
    story, model = view.story(), view.model
    given = None if X is None or not len(X) else view.rows_of(X)
    cells, rows = (None, None) if given is None else given
    truth = None if y is None or rows is None else _truth(y, len(rows))
    judged, n = None, 0 if rows is None else len(rows)
    if cells is not None and rows is not None and truth is not None:
        judged = quality_of_sum(view, cells, rows, truth)
    quality, reliability = scores_table(judged, n=n), reliability_table(judged, n=n)
    samples = _samples(view, cells, truth, n_samples)
    what = source_words(view.sources, title=True)
    target = view.target or ("the class" if view.outcome is not None else "the output")
    data = {
        "format": "choquet report",
        "format_version": 3,
        "kind": "additive",
        "library_version": __version__,
        "title": title or f"How {what} are combined into {target}",
        "sources": view.sources,
        "target": target,
        "n_operators": sum(len(met) for met in model.contexts_),
        "first": first_of_sum(
            view,
            brief_of_sum(view, rows),
            quality,
            rows=rows,
            samples=samples,
            reliability=reliability,
            targets=truth is not None,
        ),
        "story": story.to_dict(),
        "classes": None if view.outcome is None else [str(one) for one in model.classes_],
        "scored": str(view.scored) if view.outcome is not None else None,
        "pictures": [_picture(view, t) for t in range(min(len(model.terms_), _PICTURES))],
        "explorer": _explorer(view, samples),
        "errors": None if truth is None else _errors(view, cells, truth),
        "reliability": reliability,
        "samples": samples,
        "n_samples": n,
    }
    found: dict[str, Any] = plain(data)
    return found


def _picture(view: AdditiveView, t: int) -> dict[str, Any]:
    """What is drawn of one term: a curve with a band, levels, a map, or nothing of larger ones."""
    term, score = view.model.terms_[t], view.score
    shown = _Shown(view)
    sources = [view.model.columns_[i] for i in term.sources]
    values, errors = term.values[score], term.errors[score]
    found: dict[str, Any] = {"name": term.name, "share": term.share, "trust": term.trust}
    found["sentence"] = view.story_of(term)
    if len(term.sources) == 1:
        low, high = (shown(values + sign * _BAND * errors) for sign in (-1, 1))
        low, high = np.minimum(low, high), np.maximum(low, high)
        found |= {
            "kind": "curve" if len(term.axes[0].knots) > 1 else "levels",
            "labels": _labels(sources[0], term.axes[0]),
            "knots": term.axes[0].knots,
            "values": shown(values),
            "low": low,
            "high": high,
            "rows": _rows_by_cell(view, t, term),
        }
    elif len(term.sources) == 2:
        found |= {
            "kind": "map",
            "across": _labels(sources[0], term.axes[0]),
            "up": _labels(sources[1], term.axes[1]),
            "values": shown(values),
            "errors": errors * view.unit,
            "rows": _rows_by_cell(view, t, term),
            "neutral": shown.neutral,
        }
    else:
        found["kind"] = "larger"
    return found


class _Shown:
    """Effects as they are shown: in units of the output, or as factors."""

    def __init__(self, view: AdditiveView) -> None:
        self.parts = view.parts
        self.neutral = 0.0 if self.parts.origin is None else 1.0

    def __call__(self, effects: FloatArray) -> FloatArray:
        if self.parts.origin is None:
            return np.asarray(effects * self.parts.unit)
        return np.asarray(np.exp(self.parts.kappa * effects))


def _labels(source: Source, axis: Axis) -> list[str]:
    return [place_words(source, axis, k) for k in range(axis.size)]


def _rows_by_cell(view: AdditiveView, t: int, term: FittedTerm) -> FloatArray:
    """Training rows in each cell of the grid: between knots, or in a slot."""
    met = view.model.contexts_[t]
    shape = tuple(axis.size for axis in term.axes)
    out = np.zeros(shape)
    d = len(shape)
    np.add.at(out, tuple(met[:, j] for j in range(d)), met[:, -1])
    return out


def _explorer(view: AdditiveView, samples: list[dict[str, Any]] | None) -> dict[str, Any]:
    """What the page needs to compute outputs by itself, and the sample that it opens on."""
    model = view.model
    inner = model.model_
    opened = _interesting(samples)
    first = None if opened is None or not samples else samples[opened]["inputs"]
    ends: list[Any] = []
    for i, source in enumerate(model.columns_):
        axes = [
            axis
            for term in model.terms_
            for j, axis in zip(term.sources, term.axes, strict=True)
            if j == i
        ]
        if not axes:
            ends.append(None)
            continue
        widest = max(axes, key=lambda axis: axis.size)
        if source.kind == "number":
            knots = np.concatenate([axis.knots for axis in axes])
            low, high = float(knots.min()), float(knots.max())
            start = float(np.median(widest.knots))
            if first is not None and isinstance(first[i], int | float) and first[i] == first[i]:
                start = float(first[i])  # it may be outside of the rows learned from
                low, high = min(low, start), max(high, start)
            ends.append({"low": low, "high": high, "start": start, "levels": None})
        else:
            levels = [str(level) for level in source.levels]
            here = None if first is None else str(first[i])
            start = levels.index(here) if here in levels else 0
            ends.append({"low": 0, "high": len(levels) - 1, "start": start, "levels": levels})
    return {
        "inputs": ends,
        "terms": [
            {
                "name": term.name,
                "sources": term.sources,
                "knots": [axis.knots for axis in term.axes],
                "sizes": [axis.size for axis in term.axes],
                "values": [values.ravel() for values in term.values],
                "errors": term.errors[view.score].ravel() * _BAND,
                "edges": [term.edges(view.score, a) * _BAND**2 for a in range(len(term.axes))],
            }
            for term in model.terms_
        ],
        "opened": opened,
        "base": inner.fixed[:, 0] if inner.fixed.shape[1] == 1 else np.zeros(inner.n_scores),
        "bounds": inner.bounds,
        "shown": view.score,
        "thresholds": getattr(model, "thresholds_", None),
        "classes": None if view.outcome is None else [str(one) for one in model.classes_],
        "unit": view.unit,
        "kappa": view.parts.kappa,
        "centre": getattr(model, "centre_", 0.0) if view.outcome is None else 0.0,
        "scale": getattr(model, "scale_", 1.0) if view.outcome is None else 1.0,
    }


def _truth(y: Any, n: int) -> Any:
    target = np.asarray(y).ravel()
    if len(target) != n:
        raise DataError(f"y must hold {n} values, not {len(target)}")
    return target


def _samples(view: AdditiveView, cells: Any, truth: Any, most: int) -> list[dict[str, Any]] | None:
    if cells is None:
        return None
    shown = [one.to_dict() for one in view.explained(cells[:most])] if most else []
    if truth is not None:
        for one, target in zip(shown, truth[:most].tolist(), strict=True):
            one["target"] = str(target) if view.outcome is not None else float(target)
    return shown


def _interesting(samples: list[dict[str, Any]] | None) -> int | None:
    """The sample that the explorer opens on: with the largest error, or the least known."""
    if not samples:
        return None
    if "target" not in samples[0]:
        return int(np.argmin([one["trust"] for one in samples]))
    if samples[0]["probability"] is None:
        return int(np.argmax([abs(one["output"] - one["target"]) for one in samples]))
    # Of wrong answers the most certain one; if there is none, the least certain.
    wrong = [str(one["output"]) != one["target"] for one in samples]
    sure = [one["probability"] for one in samples]
    return int(np.argmax([w + p if w else -p for w, p in zip(wrong, sure, strict=True)]))


def _errors(view: AdditiveView, rows: Any, target: Any) -> dict[str, Any]:
    """Errors on the samples that were given, which the model may have learned from."""
    kept = np.unique(np.linspace(0, len(rows) - 1, min(len(rows), _EXAMINED)).astype(np.int64))
    answers = view.model.nameless().predict(rows[kept])
    if view.outcome is not None:
        right = np.array([str(a) == str(b) for a, b in zip(answers, target[kept], strict=True)])
        return {"n": len(kept), "right": float(right.mean()), "rmse": None, "mae": None}
    away = answers - target[kept].astype(np.float64)
    rmse, mae = float(np.sqrt(np.mean(away**2))), float(np.abs(away).mean())
    return {"n": len(kept), "right": None, "rmse": rmse, "mae": mae}


def curve_points(
    picture: dict[str, Any], *, width: float = 260.0, height: float = 130.0
) -> dict[str, Any]:
    """Where the parts of a curve with its band, or of levels with bars, are drawn.

    Examples
    --------
    >>> picture = {"knots": [0.0, 1.0], "values": [0.0, 2.0], "low": [-1, 1], "high": [1, 3],
    ...            "rows": [5, 0], "kind": "curve", "labels": ["0", "1"]}
    >>> curve_points(picture)["line"]
    '0.0,97.5 260.0,32.5'
    """
    low, high = float(min(picture["low"])), float(max(picture["high"]))
    span = (high - low) or 1.0

    def up(value: float) -> float:
        return round(height * (1 - (value - low) / span), 2)

    n = len(picture["knots"])
    if picture["kind"] == "curve":
        first, last = picture["knots"][0], picture["knots"][-1]
        x = [round(width * (k - first) / ((last - first) or 1.0), 2) for k in picture["knots"]]
    else:
        size = len(picture["values"])
        n = size
        x = [round(width * (k + 0.5) / size, 2) for k in range(size)]
    rows = picture["rows"][: max(n - 1, 0)] if picture["kind"] == "curve" else []
    widths = [max(x[k + 1] - x[k], 1e-9) for k in range(len(rows))]
    dense = [r / w for r, w in zip(rows, widths, strict=True)]
    most = max(dense, default=0.0) or 1.0
    density = [
        {"x": x[k], "width": round(widths[k], 2), "height": round(16 * share / most, 2)}
        for k, share in enumerate(dense)
    ]
    found: dict[str, Any] = {
        "width": width,
        "height": height,
        "x": x,
        "y": [up(v) for v in picture["values"]],
        "low": [up(v) for v in picture["low"]],
        "high": [up(v) for v in picture["high"]],
        "density": density,
        "bottom": low,
        "top": high,
    }
    pairs = [f"{a},{b}" for a, b in zip(found["x"][:n], found["y"][:n], strict=True)]
    found["line"] = " ".join(pairs)
    around = list(zip(x[:n], found["high"][:n], strict=True))
    around += list(zip(x[:n], found["low"][:n], strict=True))[::-1]
    found["band"] = " ".join(f"{a},{b}" for a, b in around)
    return found


def map_cells(picture: dict[str, Any], *, size: float = 200.0) -> list[dict[str, Any]]:
    """Squares of a map: a corner of the grid each, the darker the further from no effect."""
    values: Sequence[Sequence[float]] = picture["values"]
    neutral = picture["neutral"]
    most = max((abs(v - neutral) for row in values for v in row), default=0.0) or 1.0
    wide, tall = size / len(values), size / len(values[0])
    return [
        {
            "x": round(a * wide, 2),
            "y": round(size - (b + 1) * tall, 2),
            "width": round(wide, 2),
            "height": round(tall, 2),
            "up": v >= neutral,
            "strength": round(abs(v - neutral) / most, 3),
            "value": v,
            "across": picture["across"][a],
            "along": picture["up"][b],
            "rows": int(picture["rows"][a][b]),
        }
        for a, row in enumerate(values)
        for b, v in enumerate(row)
    ]
