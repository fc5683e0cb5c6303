"""Everything a report says, as plain data that JSON can hold."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from choquet._version import __version__
from choquet.arrays import FloatArray, as_inputs, as_vector
from choquet.errors import DataError
from choquet.explanation import AdditiveView
from choquet.explanation.answers import Answers, answers_of
from choquet.explanation.brief import brief_of
from choquet.explanation.model import explain_view
from choquet.explanation.phrases import plain, source_words
from choquet.explanation.view import View, view_of
from choquet.report.additive import summarise_additive
from choquet.report.explorer import explorer_data
from choquet.report.first import first_screen
from choquet.report.fusing import summarise_fusion
from choquet.report.image import clustering_data, ivat_data
from choquet.report.quality import quality_of, scores_table
from choquet.report.reliability import reliability_table
from choquet.report.tables import index_table, source_table, support_table, tree_table
from choquet.walks import DataSupport

_LISTED_OPERATORS = 100
"""Operators in the tables; a decomposition into every distinct operator can have very many."""

_EXAMINED = 20_000
"""Samples that errors and support are measured on, evenly spaced if there are more."""


def summarise(
    model: Any,
    X: Any = None,
    y: npt.ArrayLike | None = None,
    *,
    title: str | None = None,
    n_samples: int = 100,
) -> dict[str, Any]:
    """What a report says about a model.

    Sections that have nothing to say are None: a model that learned its operators directly has no
    lattice, a measure no tree of questions.

    Parameters
    ----------
    model : Decomposition, Measure, fitted model, or a pipeline that ends in one
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
    >>> data["first"]["works"]["sentences"]
    ['If gpr is the largest, take the median of the three.', 'Otherwise take the largest.']
    """
    fused = getattr(model, "takes_scores", False)
    # Rows of one class alone may be given as well, as those of any measure.
    if fused and (model.estimators is not None or X is None or np.ndim(X) != 2 or _named(X)):
        return summarise_fusion(model, X, y, title=title, n_samples=n_samples)
    seen = view_of(model, identify=True)
    if isinstance(seen, AdditiveView):
        return summarise_additive(seen, X, y, title=title, n_samples=n_samples)
    assert isinstance(seen, View)
    inputs = None if X is None else as_inputs(X, sources=seen.sources)
    if inputs is not None and not len(inputs):
        inputs = None
    targets = None if y is None or inputs is None else _targets(seen, y, len(inputs))
    learned_from = seen.learned or seen.parts.support is not None
    view = _informed(seen, inputs)
    answers = None if inputs is None else answers_of(view, inputs[:_EXAMINED])
    every = answers if inputs is not None and len(inputs) <= _EXAMINED else None
    found, n = None, 0 if inputs is None else len(inputs)
    if y is not None and inputs is not None and not fused:
        output = None if every is None else every.output
        found = quality_of(model, seen, X, inputs, targets, y, output)
    quality, reliability = scores_table(found, n=n), reliability_table(found, n=n)
    story = explain_view(view)
    told = story.to_dict()
    samples = _samples(view, inputs, targets, answers, n_samples)
    verb = "is" if len(view.sources) == 1 else "are"
    data = {
        "format": "choquet report",
        "format_version": 3,
        "library_version": __version__,
        "title": title or f"How {source_words(view.sources, title=True)} {verb} combined",
        "sources": view.sources,
        "n_operators": view.parts.n_operators,
        "first": first_screen(
            view,
            story,
            brief_of(view, inputs),
            quality,
            answers if learned_from else None,
            inputs=inputs,
            targets=targets,
            samples=samples,
            reliability=reliability,
            learned_from=learned_from,
        ),
        "story": story.told(),
        "output": {
            "name": story.output_name if view.target is None or view.outcome else view.target,
            "label": None if view.outcome is None else view.outcome.label,
        },
        "model": {**told, "operators": told["operators"][:_LISTED_OPERATORS]},
        "rules": _rules(view),
        "tree": tree_table(view),
        "tree_unit": "samples" if view.parts.unit == "samples" else "orders of the inputs",
        "clustering": clustering_data(view.parts),
        "ivat": ivat_data(view.parts),
        "indices": index_table(view.parts),
        "source_table": source_table(view, inputs, every),
        "support": support_table(view),
        "samples": samples,
        "errors": _errors(view, inputs, targets, answers),
        "reliability": reliability,
        "explorer": {
            **explorer_data(view, inputs, _interesting(samples)),
            "error": _typical(quality),
        },
    }
    told_plainly: dict[str, Any] = plain(data)
    return told_plainly


def _named(X: Any) -> bool:
    return hasattr(X, "columns")


def _informed(view: View, inputs: FloatArray | None) -> View:
    """The view with the samples as its support, where a measure knows no data of its own."""
    parts: Any = view.parts
    if view.learned or parts.support is not None or inputs is None:
        return view
    support = DataSupport.from_data(view.scaled(inputs))
    return replace(view, parts=replace(parts, support=support))


def _targets(view: View, y: npt.ArrayLike, n: int) -> FloatArray | None:
    """What outputs are held against: numbers, or 1 for samples of the class and 0 for others."""
    outcome = view.outcome
    if outcome is None:
        return as_vector(y, "y", n)
    if len(np.asarray(y)) != n:
        raise DataError(f"y must hold {n} values, not {len(np.asarray(y))}")
    if outcome.number is None:
        return None  # an integral or score that serves all classes is about none of them
    return outcome.holds(y).astype(np.float64)


def _rules(view: View) -> dict[str, Any] | None:
    rules = view.rules
    if rules is None or view.parts.tree is not None:
        return None
    return {
        "default": rules.default,
        "items": [
            {
                "text": rule.text(view.sources),
                "conditions": [
                    {name: value for name, value in vars(one).items() if name != "scale"}
                    for one in rule.conditions
                ],
                "operator": rule.operator,
                "share": rule.share,
                "precision": rule.precision,
            }
            for rule in rules.rules
        ],
    }


def _samples(
    view: View,
    inputs: FloatArray | None,
    targets: FloatArray | None,
    answers: Answers | None,
    most: int,
) -> dict[str, Any] | None:
    if inputs is None or answers is None:
        return None
    shown = inputs[: min(most, _EXAMINED)]
    n, known = len(shown), answers.known
    numbers = {
        "output": answers.output,
        "operator_output": answers.operator_output,
        "integral": answers.integral,
        "low": answers.interval[:, 0],
        "high": answers.interval[:, 1],
        "phi": known.phi,
        "operator": known.operator,
    }
    sure = view.sure_ends(answers.scaled[:n]) if n else None
    if sure is not None:
        numbers |= dict(zip(("sure_low", "sure_high"), sure.T, strict=True))
    if view.parts.tree is not None:
        numbers["leaf"] = known.leaf
    if targets is not None:
        numbers["target"] = targets
    rows = [
        {"inputs": row, **{key: column[k] for key, column in numbers.items()}}
        for k, row in enumerate(shown)
    ]
    return {"n": len(inputs), "rows": rows, "other": _other(view)}


def _interesting(samples: dict[str, Any] | None) -> int:
    """The sample that the explorer opens on: with the largest error, or the least known."""
    rows = [] if samples is None else samples["rows"]
    if not rows:
        return 0
    if "target" in rows[0]:
        return int(np.argmax([abs(row["output"] - row["target"]) for row in rows]))
    return int(np.argmax([row["phi"] for row in rows]))


def _typical(quality: dict[str, Any] | None) -> float | None:
    """The error of an output, where it was measured on samples not seen."""
    return quality["rows"][0]["error"] if quality and quality["numbers"] else None


def _other(view: View) -> str | None:
    """The number beside the output: of the operators, where they are a summary, or the integral."""
    if view.own is not None:
        return "operators"
    return None if view.learned else "integral"


def _errors(
    view: View,
    inputs: FloatArray | None,
    targets: FloatArray | None,
    answers: Answers | None,
) -> dict[str, Any] | None:
    """Errors against targets, and apart for samples with and without support."""
    if inputs is None or targets is None or answers is None:
        return None
    kept = np.unique(np.linspace(0, len(inputs) - 1, min(len(inputs), _EXAMINED)).astype(np.int64))
    if len(kept) < len(inputs):
        answers = answers_of(view, inputs[kept])
    truth, other, known = targets[kept], _other(view), answers.known
    parts = [("all samples", np.ones(len(kept), dtype=np.bool_))]
    if (view.learned or view.parts.support is not None) and not known.supported.all():
        parts += [("of a kind seen before", known.supported), ("not seen before", ~known.supported)]
    pairs = {"": answers.output}
    if other is not None:
        pairs["other_"] = answers.operator_output if other == "operators" else answers.integral
    # A score is no probability: it is fitted to 1 and 0, and its errors are those of numbers.
    classes = view.outcome is not None and view.outcome.probability([0.0]) is not None
    rows: list[dict[str, Any]] = []
    for name, inside in parts:
        row: dict[str, Any] = {"which": name, "n": int(inside.sum())}
        for prefix, found in pairs.items():
            row |= _measured(view, found[inside], truth[inside], prefix, classes=classes)
        rows += [row] if inside.any() else []
    return {
        "n_examined": len(kept),
        "n_samples": len(inputs),
        "classes": classes,
        "other": other,
        "rows": rows,
    }


def _measured(
    view: View, found: FloatArray, truth: FloatArray, prefix: str, *, classes: bool
) -> dict[str, float]:
    if not len(found):
        return {}
    if classes and view.outcome is not None:
        told = view.outcome.probability(found)
        return {f"{prefix}right": float(((np.asarray(told) > 0.5) == truth).mean())}
    away = found - truth
    return {
        f"{prefix}rmse": float(np.sqrt(np.mean(away**2))),
        f"{prefix}mae": float(np.mean(np.abs(away))),
    }
