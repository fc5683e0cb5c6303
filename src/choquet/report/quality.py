"""How good a model is, beside simple answers: on samples it has not seen, or cross-validated."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from choquet.arrays import FloatArray, column_names
from choquet.decomposition.outcome import place_of
from choquet.errors import DataError
from choquet.explanation import AdditiveView
from choquet.explanation.phrases import figure, percent
from choquet.explanation.view import View
from choquet.report.decimals import decimals_of, fixed
from choquet.walks import DataSupport

if TYPE_CHECKING:  # scikit-learn is loaded when there is something to judge
    from choquet.certainty import Reliability
    from choquet.estimators.held_out import HeldOut, Score

    _Own = tuple[Score, Reliability | None] | None

_EXAMINED = 2_000
"""Rows that models are fitted to again, and simple answers to; evenly spaced if there are more."""

_FOLDS = 5

_WHO = {
    "model": "This model",
    "linear": "A linear model",
    "single": "Best single source",
    "mean": "Always the mean",
    "vote": "Majority vote",
    "average": "Mean of the scores",
    "product": "Product of the scores",
    "stacking": "Stacking (logistic)",
}


_TERMS = {
    True: "The typical error is the root mean square of the errors; ± gives a 95 % interval. R² is "
    "the share of the variation that is explained: 1 is perfect, 0 is no better than the mean.",
    False: "Log-loss punishes confident mistakes; 0 is perfect. ± gives a 95 % interval.",
}
"""The terms of the table in one line, for numbers and for classes."""


def quality_of(
    model: Any,
    view: View,
    X: Any,
    inputs: FloatArray,
    targets: FloatArray | None,
    y: Any,
    told: FloatArray | None = None,
) -> HeldOut | None:
    """Scores of the model and of simple answers on the same samples.

    Samples that the model was learned from say nothing of new ones: then it is fitted again, five
    times, each time without a fifth of the samples, which it then answers.

    Parameters
    ----------
    model : object
        As it was given to the report.
    view : View
        Of it.
    X : array or frame
        Samples as they were given.
    inputs : array
        The same as numbers.
    targets : array or None
        What outputs are held against; None where there are several classes.
    y : array-like
        The targets as they were given.
    told : array, optional
        The outputs of all samples, where these are known.
    """
    from choquet.estimators.held_out import score_numbers

    step = max(1, -(-len(inputs) // _EXAMINED))
    rows, some = inputs[::step], _every(X, inputs, view.sources, step)
    classes = getattr(model, "classes_", None)
    if classes is not None and hasattr(model, "predict_proba"):
        truth, numbers = _labels(np.asarray(y), classes)[::step], False
    elif targets is None:
        return None
    elif view.outcome is not None:
        return _class_alone(view, rows, targets[::step], told if told is None else told[::step])
    else:
        truth, numbers = targets[::step], True
    own: _Own
    if seen_before(view, inputs) and hasattr(model, "get_params"):
        own = None
    elif numbers:
        own = score_numbers(view.outputs(rows) if told is None else told[::step], truth), None
    else:
        own = _judged(model, some, truth, classes)
    return _beside_others(model, some, rows, truth, own, numbers=numbers, sources=view.sources)


def _class_alone(
    view: View, rows: FloatArray, targets: FloatArray, told: FloatArray | None
) -> HeldOut | None:
    """Scores of what was learned for one class, which has a probability, or none to be judged."""
    from choquet.estimators.held_out import HeldOut, Told, baseline_scores, score_classes

    assert view.outcome is not None
    chance = view.outcome.probability(view.outputs(rows) if told is None else told)
    places = (targets > 0.5).astype(np.int64)
    if chance is None or len(np.unique(places)) < 2:
        return None
    proba = np.column_stack([1 - chance, chance])
    rivals = baseline_scores(rows, places, classify=True, sources=view.sources)
    scores = {"model": score_classes(proba, places), **rivals}
    known = Told(proba, proba.argmax(axis=1)).reliability(places)
    return HeldOut(0, len(places), scores, known)


def quality_of_sum(view: AdditiveView, X: Any, rows: FloatArray, y: Any) -> HeldOut | None:
    """The same for an additive model, whose columns may hold categories.

    Parameters
    ----------
    view : AdditiveView
    X : array
        Samples, columns in the order of the model.
    rows : array
        The same, with levels as numbers.
    y : array
        The targets as they were given.
    """
    from choquet.estimators.additive.columns import indicators
    from choquet.estimators.held_out import score_numbers

    model, numbers = view.model.nameless(), view.outcome is None
    step = max(1, -(-len(rows) // _EXAMINED))
    truth = (
        np.asarray(y, dtype=np.float64) if numbers else _labels(np.asarray(y), model.classes_)
    )[::step]
    plain, names = indicators(rows[::step], view.model.columns_)
    own: _Own
    if sum_seen_before(view, rows):
        own, model = None, model.unfitted()
    elif numbers:
        own = score_numbers(model.predict(X[::step]), truth), None
    else:
        own = _judged(model, X[::step], truth, model.classes_)
    return _beside_others(model, X[::step], plain, truth, own, numbers=numbers, sources=names)


def sum_seen_before(view: AdditiveView, rows: FloatArray) -> bool:
    """Whether the samples are those that an additive model was learned from.

    It remembers how many rows it met in each context, and no other samples give all these counts.

    Examples
    --------
    >>> import numpy as np
    >>> from choquet import ChoquetAdditiveRegressor
    >>> from choquet.explanation import view_of
    >>> X = np.random.default_rng(0).random((60, 2))
    >>> view = view_of(ChoquetAdditiveRegressor(link="add").fit(X[:50], X[:50].sum(axis=1)))
    >>> sum_seen_before(view, X[:50]), sum_seen_before(view, X[10:])
    (True, False)
    """
    if not np.isclose(view.model.n_rows_, len(rows)):
        return False
    for met, (cells, orders, _, known) in zip(
        view.parts.counts, view.parts.places(rows), strict=True
    ):
        found, counts = np.unique(np.hstack([cells, orders])[known], axis=0, return_counts=True)
        if not np.array_equal(np.column_stack([found, counts]), met):
            return False
    return True


def _beside_others(
    model: Any,
    X: Any,
    rows: FloatArray,
    truth: Any,
    own: _Own,
    *,
    numbers: bool,
    sources: Sequence[str],
) -> HeldOut | None:
    """Scores of the model and of simple answers; without a score of its own, it is fitted again."""
    from choquet.estimators.held_out import HeldOut, baseline_scores, held_out

    if own is None:
        return held_out(model, X, truth, folds=_FOLDS, sources=sources, numbers=rows)
    rivals = baseline_scores(rows, truth, classify=not numbers, sources=sources)
    score, reliability = own
    return HeldOut(0, len(truth), {"model": score, **rivals}, reliability)


def _every(X: Any, inputs: FloatArray, sources: Sequence[str], step: int) -> Any:
    """Evenly spaced rows: of a frame as a frame, which pipelines may need, in the right order."""
    if hasattr(X, "iloc") and X.ndim == 2 and column_names(X) is not None:
        return X[list(sources)].iloc[::step]
    return inputs[::step]


def _labels(y: Any, classes: Any) -> Any:
    """Labels as the model writes them."""
    known = {label: place_of(label, classes.tolist()) for label in set(y.tolist())}
    strange = [label for label, place in known.items() if place is None]
    if strange:
        raise DataError(
            f"the model does not know the class {strange[0]!r}; it knows "
            f"{', '.join(map(repr, classes.tolist()[:12]))}"
        )
    return np.array([classes[known[label]] for label in y.tolist()])


def _judged(model: Any, X: Any, truth: Any, classes: Any) -> tuple[Score, Reliability]:
    """How good the answers and the probabilities of a classifier are."""
    import warnings

    from choquet.estimators.held_out import score_classes, told_by

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        told = told_by(model, X, classes)
    place = {label: k for k, label in enumerate(classes.tolist())}
    places = np.array([place[label] for label in truth.tolist()])
    return score_classes(told.proba, places, said=told.said), told.reliability(places)


def seen_before(view: View, inputs: FloatArray) -> bool:
    """Whether the samples are those that the model was learned from, as far as it remembers them.

    Examples
    --------
    >>> import numpy as np
    >>> from choquet import ChoquetRegressor
    >>> from choquet.explanation import view_of
    >>> X = np.random.default_rng(0).random((40, 3))
    >>> view = view_of(ChoquetRegressor().fit(X[:30], X[:30].max(axis=1)))
    >>> seen_before(view, X[:30]), seen_before(view, X[10:])
    (True, False)
    """
    parts, support = view.parts, view.parts.support
    if support is not None:
        if support.n_samples != len(inputs):
            return False
        found = DataSupport.from_data(view.scaled(inputs), tolerance=support.tolerance)
        same = found.n_supported == support.n_supported and found.n_tied == support.n_tied
        if not (same and np.array_equal(found.words, support.words)):
            return False
        return bool(np.allclose(found.informations, support.informations, rtol=1e-6))
    tree = parts.tree
    if view.learned and tree is not None:
        if not np.isclose(tree.weight[0], len(inputs)):
            return False
        leaves = np.bincount(parts.leaf_of(inputs), minlength=len(tree.weight))
        ends = tree.source < 0
        return bool(np.allclose(leaves[ends], tree.weight[ends]))
    return False


def scores_table(found: HeldOut | None, *, n: int) -> dict[str, Any] | None:
    """Scores as rows of a table with the words around them.

    Parameters
    ----------
    found : HeldOut or None
    n : int
        Samples that were given, of which some may have been looked at.
    """
    if found is None:
        return None
    numbers = found.reliability is None
    rows, best = [], min(score.error for score in found.scores.values())
    own = found.scores["model"]
    for name, score in found.scores.items():
        who = _WHO[name]
        if name == "linear" and not numbers:
            who = "Logistic regression"
        if name == "mean" and not numbers:
            who = "Always the most frequent class"
        if score.detail:
            who += f" ({score.detail})"
        row = {"key": name, "who": who, **score.to_dict(), "best": score.error <= best}
        row["beats"], row["beaten"] = score.beats(own), own.beats(score)
        row["r2"] = found.r2(name) if numbers and "mean" in found.scores else None
        rows.append(row)
    _write_out(rows, numbers=numbers)
    others = "; the others are cross-validated on them" if len(rows) > 1 else ""
    return {
        "numbers": numbers,
        "how": f"{measured_on(found, n)}{'' if found.folds else others}.",
        "terms": _TERMS[numbers],
        "folds": found.folds,
        "rows": rows,
        "verdict": _verdict({row["key"]: row for row in rows}, numbers=numbers),
    }


def measured_on(found: HeldOut, n: int) -> str:
    """Which samples numbers rest on, and whether the model saw them; without a full stop."""
    how = (
        f"Cross-validated on {found.rows:,} samples in {found.folds} parts: each part is answered "
        "by a model that did not see it"
        if found.folds
        else f"On {found.rows:,} samples that are taken as new"
    )
    if found.rows < n:
        how += f" ({found.rows:,} of {n:,}, evenly spaced)"
    if not found.folds:
        how += ". If the model learned from some of them, it looks better here than it is"
    return how


def _write_out(rows: list[dict[str, Any]], *, numbers: bool) -> None:
    """The scores as a table shows them: each column with the decimals that the model's deserve."""
    own = next(row for row in rows if row["key"] == "model")
    if numbers:
        # Beyond four digits of the largest error, a score is 0.
        most = decimals_of(max(row["error"] for row in rows), 4)
        places = min(decimals_of(own["error_half"] or own["error"]), most)
        for row in rows:
            row["told"] = {"error": fixed(row["error"], places), "r2": figure(row["r2"], 2)}
            row["told"]["error_half"] = fixed(row["error_half"], places)
        return
    right = max(decimals_of(100 * own["error_half"], 1), 0) if own["error_half"] else 1
    lost = min(decimals_of(own["log_loss_half"] or 0.01), 4)
    for row in rows:
        row["told"] = {
            "right": percent(1 - row["error"])
            if row["error"] in (0, 1)
            else f"{fixed(100 * (1 - row['error']), right)} %",
            "right_half": fixed(100 * row["error_half"], right),
            "log_loss": fixed(row["log_loss"], lost),
            "log_loss_half": fixed(row["log_loss_half"], lost) if _known(row["log_loss"]) else None,
        }


def _verdict(rows: dict[str, Any], *, numbers: bool) -> str:
    """How the model compares with the best of the others; warnings say where it is worse."""
    others = [row for key, row in rows.items() if key != "model"]
    scored = [row for row in others if _known(row["log_loss"])]
    found = []
    if others and not (best := min(others, key=lambda row: row["error"]))["beats"]:
        verb = "is more accurate than" if best["beaten"] else "is about as accurate as"
        found.append(f"The model {verb} the best of the others: {_named(best)}.")
    if not numbers and scored:
        own, best = rows["model"], min(scored, key=lambda row: row["log_loss"])
        away = best["log_loss"] - own["log_loss"]
        # Differences within the intervals are none to speak of.
        about = abs(away) <= max(own["log_loss_half"] or 0.0, best["log_loss_half"] or 0.0)
        if about or away > 0:
            verb = "is about that" if about else "is lower than that"
            found.append(f"Its log-loss {verb} of the best of the others: {_named(best)}.")
    return " ".join(found)


def _named(row: dict[str, Any]) -> str:
    """Who it is, inside a sentence."""
    return str(row["who"][0].lower() + row["who"][1:])


def _known(value: float | None) -> bool:
    return value is not None and bool(np.isfinite(value))
