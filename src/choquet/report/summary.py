"""Everything a report says, as plain data that JSON can hold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from math import comb
from typing import Any

import numpy as np
import numpy.typing as npt

from choquet._version import __version__
from choquet.arrays import BoolArray, FloatArray, as_vector
from choquet.decomposition import ClusterDecomposition
from choquet.errors import OptionError
from choquet.explanation import list_words
from choquet.explanation.collect import value_bounds
from choquet.explanation.learned import as_learned
from choquet.explanation.model import explain_decomposition
from choquet.explanation.phrases import plain
from choquet.explanation.rows import named_inputs
from choquet.explanation.subject import as_decomposition, rules_of
from choquet.explanation.units import Units, units_of
from choquet.indices import banzhaf, interaction, shapley
from choquet.lattice import subset_sizes
from choquet.measures import Measure, MobiusMeasure
from choquet.report.contextual import held, summarise_contextual
from choquet.report.explorer import explorer_data
from choquet.report.image import ivat_data
from choquet.report.sliders import slider_data
from choquet.walks import DataSupport, WalkList

__all__ = ["summarise"]

_LISTED_OPERATORS = 100
"""Operators in the tables; a decomposition into every distinct operator can have very many."""

_LISTED_SUBSETS = 30
"""Subsets in the table of support: all of them up to five sources."""

_TABLED_SOURCES, _LISTED_PAIRS = 20, 20
"""Sources up to which all pairs are tabled, and how many of the strongest are listed beyond."""

_EXAMINED = 20_000
"""Samples that errors are measured on, evenly spaced if there are more."""


def summarise(
    model: Any,
    X: Any = None,
    y: npt.ArrayLike | None = None,
    *,
    title: str | None = None,
    n_samples: int = 100,
) -> dict[str, Any]:
    """What a report says about a model.

    Parameters
    ----------
    model : ClusterDecomposition, Measure or fitted model
        What to report on; measures and models are decomposed first.
    X : array-like of shape (n, N) or data frame, optional
        Samples to show and, if the decomposition knows no data, to take support from; in the units
        of the data. The columns of a frame are taken by name.
    y : array-like of n floats, optional
        Their targets, to measure errors on; classes, where a classifier is reported on.
    title : str, optional
        Heading; made from the sources by default.
    n_samples : int, default 100
        Samples that are listed, from the first.

    Returns
    -------
    dict
        Of lists, strings, numbers, booleans and None only.

    Examples
    --------
    >>> from choquet import Measure
    >>> from choquet.report import summarise
    >>> data = summarise(Measure([0, 0, 1, 1, 1, 1, 1, 1], sources=["gpr", "ir", "emi"]))
    >>> data["model"]["sentences"]
    ['If gpr is the largest, take the median of the three; otherwise take the largest.']
    """
    if n_samples < 0:
        raise OptionError(f"n_samples={n_samples} must be at least 0")
    if y is not None and X is None:
        raise OptionError("y was given without X; give the samples that it belongs to")
    learned = as_learned(model)
    if learned is not None:
        rows = None if X is None else named_inputs(X, learned.sources)
        heading = title or _title(learned.sources)
        return summarise_contextual(learned, rows, y, title=heading, n_samples=n_samples)
    decomposition, units = as_decomposition(model), units_of(model)
    measure = decomposition.measure
    given = None if X is None else named_inputs(X, measure.sources)
    inputs = given if given is None or units is None else units.scaled(given)
    targets = None if y is None or given is None else _targets(decomposition, y, len(given))
    if targets is not None and units is not None:
        targets = (targets - units.target_offset) / units.target_width
    support = decomposition.support
    if support is None and inputs is not None and len(inputs):
        support = DataSupport.from_data(inputs)
    story = explain_decomposition(decomposition, support=support, units=units)
    # Intervals and Φ of the samples go by the same data as everything else on the page.
    informed = replace(decomposition, support=support)
    explained = story.to_dict()
    explained["operators"] = explained["operators"][:_LISTED_OPERATORS]
    data = {
        "format": "choquet report",
        "format_version": 1,
        "kind": "measure",
        "library_version": __version__,
        "title": title or _title(measure.sources),
        "sources": measure.sources,
        "n_operators": decomposition.n_operators,
        "story": {
            "opening": story.opening(),
            "certificate": story.certificate(),
            "evidence": None if story.evidence is None else story.evidence.text(),
            "units": None if units is None else units.text(measure.sources),
            "classes": None if story.outcome is None else story.outcome.text(),
        },
        "units": None if units is None else units.to_dict(),
        "model": explained,
        "rules": _rules(decomposition),
        "clustering": {
            "method": decomposition.partition.method,
            "metric": decomposition.metric.name,
            "score": decomposition.partition.score,
            "proved": decomposition.partition.proved,
            "n_distinct": len(decomposition.sample.weights),
            "complete": decomposition.exact,
        },
        "ivat": ivat_data(decomposition),
        "indices": _indices(decomposition),
        "support": _support(decomposition, support),
        "samples": _samples(informed, inputs, targets, n_samples),
        "errors": _errors(informed, inputs, targets),
        "explorer": {
            **explorer_data(decomposition, support),
            **slider_data(measure.n_sources, units, given),
        },
    }
    if units is not None:
        _to_units(data, units, given)
    found: dict[str, Any] = plain(data)
    return found


def _to_units(data: dict[str, Any], units: Units, given: FloatArray | None) -> None:
    """Samples and errors in the units of the data."""
    for k, row in enumerate((data["samples"] or {"rows": []})["rows"]):
        row["inputs"] = None if given is None else given[k]
        for key in ("output", "integral", "low", "high", "target"):
            row[key] = None if row[key] is None else units.output(row[key])
    for row in (data["errors"] or {"rows": []})["rows"]:
        for key in {"operators_rmse", "integral_rmse", "operators_mae"} & set(row):
            row[key] *= units.target_width


def _targets(decomposition: ClusterDecomposition, y: npt.ArrayLike, n: int) -> FloatArray | None:
    """What outputs are held against: numbers, or 1 for samples of the class and 0 for others."""
    outcome = decomposition.outcome
    if outcome is None:
        return as_vector(y, "y", n)
    # An integral or score that serves all classes is about none of them.
    return None if outcome.number is None else held(outcome, y, n).astype(np.float64)


def _title(sources: tuple[str, ...]) -> str:
    many = len(sources) > 6 or sum(map(len, sources)) > 80
    what = f"{len(sources)} sources" if many else list_words(sources)
    return f"How {what} are fused"


def _indices(decomposition: ClusterDecomposition) -> dict[str, Any]:
    """Indices of the measure, or of the walks listed where few of its values are known."""
    measure, graph = decomposition.measure, decomposition.sample.graph
    if isinstance(measure, Measure | MobiusMeasure):
        found: dict[str, Any] = {"shapley": shapley(measure), "banzhaf": banzhaf(measure)}
        pairs = interaction(measure)
    elif isinstance(graph, WalkList):
        found = {"shapley": graph.contributions(), "banzhaf": None}
        pairs = None
    many = measure.n_sources > _TABLED_SOURCES
    return {
        **found,
        "observed": not isinstance(measure, Measure | MobiusMeasure),
        "interaction": None if many else pairs,
        "pairs": _strongest(pairs, measure.sources) if many and pairs is not None else None,
    }


def _strongest(pairs: FloatArray, sources: tuple[str, ...]) -> list[dict[str, Any]]:
    """The pairs of sources with the largest interactions, either way."""
    first, second = np.triu_indices(len(sources), 1)
    best = np.argsort(-np.abs(pairs[first, second]), kind="stable")[:_LISTED_PAIRS]
    return [
        {"pair": [sources[first[k]], sources[second[k]]], "value": pairs[first[k], second[k]]}
        for k in best
    ]


def _rules(decomposition: ClusterDecomposition) -> dict[str, Any] | None:
    sources, rules = decomposition.measure.sources, rules_of(decomposition)
    if rules is None:
        return None
    return {
        "default": rules.default,
        "items": [
            {
                "text": rule.text(sources),
                "conditions": [dict(vars(condition)) for condition in rule.conditions],
                "operator": rule.operator,
                "share": rule.share,
                "precision": rule.precision,
            }
            for rule in rules.rules
        ],
    }


def _support(
    decomposition: ClusterDecomposition, support: DataSupport | None
) -> dict[str, Any] | None:
    """Supported subsets by size, and the least known ones one by one."""
    if support is None:
        return None
    measure = decomposition.measure
    n = measure.n_sources
    if not isinstance(measure, Measure):
        by_size = np.bincount(np.bitwise_count(support.words).sum(axis=1), minlength=n + 1)
        rows = [
            {"size": size, "subsets": comb(n, size), "supported": int(by_size[size])}
            for size in range(1, n)
        ]
        return {"by_size": rows, "n_subsets": 2**n - 2, "subsets": []}
    sizes, known, counts = subset_sizes(n), support.supported, support.count
    lower, upper = value_bounds(measure, support)
    inner = np.arange(1, 2**n - 1)
    width = np.where(known, 0.0, 1.0) if not measure.monotone else upper - lower
    if len(inner) > _LISTED_SUBSETS:
        inner = inner[np.lexsort((counts[inner], -width[inner]))][:_LISTED_SUBSETS]
    return {
        "by_size": [
            {
                "size": size,
                "subsets": int((sizes == size).sum()),
                "supported": int((known & (sizes == size)).sum()),
            }
            for size in range(1, n)
        ],
        "n_subsets": 2**n - 2,
        "subsets": [
            {
                "subset": measure.format(int(mask)),
                "value": measure.values[mask],
                "low": lower[mask],
                "high": upper[mask],
                "samples": int(counts[mask]),
            }
            for mask in inner
        ],
    }


def _samples(
    decomposition: ClusterDecomposition,
    inputs: FloatArray | None,
    targets: FloatArray | None,
    most: int,
) -> dict[str, Any] | None:
    if inputs is None:
        return None
    shown = inputs[:most]
    rows = []
    if len(shown):
        known, outputs = decomposition.assess(shown), decomposition.predict(shown)
        rows = [
            {
                "inputs": shown[k],
                "output": outputs[k],
                "integral": known.integral[k],
                "low": known.interval[k, 0],
                "high": known.interval[k, 1],
                "phi": known.phi[k],
                "operator": known.operator[k],
                "target": None if targets is None else targets[k],
            }
            for k in range(len(shown))
        ]
    return {"n": len(inputs), "rows": rows}


def _errors(
    decomposition: ClusterDecomposition, inputs: FloatArray | None, targets: FloatArray | None
) -> dict[str, Any] | None:
    """Errors against targets, and apart for samples with and without support."""
    if inputs is None or targets is None or not len(inputs):
        return None
    kept = np.unique(np.linspace(0, len(inputs) - 1, min(len(inputs), _EXAMINED)).astype(np.int64))
    known = decomposition.assess(inputs[kept])
    rows = [("all samples", np.ones(len(kept), dtype=np.bool_))]
    if decomposition.support is not None:
        rows += [("supported", known.supported), ("unsupported", ~known.supported)]
    outputs, outcome = (decomposition.predict(inputs[kept]), known.integral), decomposition.outcome
    chances = [] if outcome is None else [outcome.probability(found) for found in outputs]
    # A score is no probability: it is fitted to 1 and 0, and its errors are those of numbers.
    told = [found > 0.5 for found in chances if found is not None]
    count = partial(_right, told) if told else partial(_away, outputs)
    return {
        "n_examined": len(kept),
        "n_samples": len(inputs),
        "classes": bool(told),
        "rows": [
            {"which": name, "n": int(inside.sum()), **count(targets[kept], inside)}
            for name, inside in rows
            if inside.any()
        ],
    }


def _away(
    outputs: Sequence[FloatArray], targets: FloatArray, inside: BoolArray
) -> dict[str, float]:
    first, second = ((found - targets)[inside] for found in outputs)
    return {
        "operators_rmse": float(np.sqrt(np.mean(first**2))),
        "integral_rmse": float(np.sqrt(np.mean(second**2))),
        "operators_mae": float(np.mean(np.abs(first))),
    }


def _right(told: Sequence[BoolArray], targets: FloatArray, inside: BoolArray) -> dict[str, float]:
    """Shares of samples of which it is rightly said whether they are of the class."""
    first, second = ((found == targets)[inside] for found in told)
    return {"operators_right": float(first.mean()), "integral_right": float(second.mean())}
