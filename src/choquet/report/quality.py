"""How good a model is, beside simple answers: on samples it has not seen, or cross-validated."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from choquet.arrays import FloatArray, column_names
from choquet.decomposition import TreeDecomposition
from choquet.decomposition.outcome import place_of
from choquet.errors import DataError
from choquet.explanation import AdditiveView
from choquet.explanation.phrases import figure, percent
from choquet.explanation.view import View
from choquet.walks import DataSupport

__all__ = ["quality_of", "quality_of_sum", "seen_before", "sum_seen_before"]

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


def quality_of(
    model: Any, view: View, X: Any, inputs: FloatArray, targets: FloatArray | None, y: Any
) -> dict[str, Any] | None:
    """Scores of the model and of simple answers on the same samples, in plain data.

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
    """
    from choquet.estimators.held_out import score_numbers

    step = max(1, -(-len(inputs) // _EXAMINED))
    rows, some = inputs[::step], _every(X, inputs, view.sources, step)
    classes = getattr(model, "classes_", None)
    if classes is not None and hasattr(model, "predict_proba"):
        truth, numbers = _labels(np.asarray(y), classes)[::step], False
    elif targets is None:
        return None
    else:
        truth, numbers = targets[::step], True
    if seen_before(view, inputs) and hasattr(model, "get_params"):
        own = None
    elif numbers:
        own = score_numbers(view.in_data(view.answers(view.parts.scaled(rows))), truth)
    else:
        own = _class_score(model, some, truth, classes)
    found = _beside_others(model, some, rows, truth, own, numbers=numbers, sources=view.sources)
    return found and scores_table(found, numbers=numbers, n=len(inputs), what=view.target)


def quality_of_sum(view: AdditiveView, X: Any, rows: FloatArray, y: Any) -> dict[str, Any] | None:
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
    from choquet.estimators.held_out import score_numbers

    model, numbers = view.model.nameless(), view.outcome is None
    step = max(1, -(-len(rows) // _EXAMINED))
    truth = (
        np.asarray(y, dtype=np.float64) if numbers else _labels(np.asarray(y), model.classes_)
    )[::step]
    plain, names = _indicators(view, rows[::step])
    if sum_seen_before(view, rows):
        own, model = None, model.unfitted()
    elif numbers:
        own = score_numbers(model.predict(X[::step]), truth)
    else:
        own = _class_score(model, X[::step], truth, model.classes_)
    found = _beside_others(model, X[::step], plain, truth, own, numbers=numbers, sources=names)
    return found and scores_table(found, numbers=numbers, n=len(rows), what=view.target)


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


def _indicators(view: AdditiveView, rows: FloatArray) -> tuple[FloatArray, list[str]]:
    """Numbers that linear models take: one column for each level without an order."""
    columns, names = [], []
    for source, column in zip(view.model.columns_, rows.T, strict=True):
        if source.kind == "nominal":
            columns += [(column == k).astype(np.float64) for k in range(len(source.levels))]
            names += [f"{source.name} is {level}" for level in source.levels]
        else:
            columns.append(column)
            names.append(source.name)
    return np.column_stack(columns), names


def _beside_others(
    model: Any,
    X: Any,
    rows: FloatArray,
    truth: Any,
    own: Any,
    *,
    numbers: bool,
    sources: Sequence[str],
) -> Any:
    """Scores of the model and of simple answers; without a score of its own, it is fitted again."""
    from choquet.estimators.held_out import HeldOut, baseline_scores, held_out

    if own is None:
        return held_out(model, X, truth, folds=_FOLDS, sources=sources, numbers=rows)
    few = not numbers and np.unique(truth, return_counts=True)[1].min() < 2
    rivals = {} if few else baseline_scores(rows, truth, classify=not numbers, sources=sources)
    return HeldOut(0, len(truth), {"model": own, **rivals})


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


def _class_score(model: Any, X: Any, truth: Any, classes: Any) -> Any:
    import warnings

    from choquet.estimators.held_out import score_classes

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        proba = model.predict_proba(X)
    place = {label: k for k, label in enumerate(classes.tolist())}
    return score_classes(proba, np.array([place[label] for label in truth.tolist()]))


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
        found = DataSupport.from_data(parts.scaled(inputs), tolerance=support.tolerance)
        same = found.n_supported == support.n_supported and found.n_tied == support.n_tied
        if not (same and np.array_equal(found.words, support.words)):
            return False
        return bool(np.allclose(found.informations, support.informations, rtol=1e-6))
    if view.learned and isinstance(parts, TreeDecomposition):
        tree = parts.tree
        if not np.isclose(tree.weight[0], len(inputs)):
            return False
        leaves = np.bincount(parts.leaf_of(inputs), minlength=len(tree.weight))
        ends = tree.source < 0
        return bool(np.allclose(leaves[ends], tree.weight[ends]))
    return False


def scores_table(found: Any, *, numbers: bool, n: int, what: str | None) -> dict[str, Any]:
    """Scores as rows of a table with the words around them."""
    rows, best = [], min(score.error for score in found.scores.values())
    for name, score in found.scores.items():
        who = _WHO[name]
        if name == "linear" and not numbers:
            who = "Logistic regression"
        if name == "mean" and not numbers:
            who = "Always the most frequent class"
        if score.detail:
            who += f" ({score.detail})"
        row = {"key": name, "who": who, **score.to_dict(), "best": score.error <= best}
        row["r2"] = found.r2(name) if numbers and "mean" in found.scores else None
        rows.append(row)
    how = (
        f"Cross-validated on {found.rows:,} samples in {found.folds} parts: each part is answered "
        "by a model that did not see it"
        if found.folds
        else f"On {found.rows:,} samples that the model did not learn from"
    )
    if found.rows < n:
        how += f" ({found.rows:,} of {n:,}, evenly spaced)"
    if not found.folds and len(rows) > 1:
        how += "; the others learn from these samples by cross-validation"
    error = {} if not numbers else {"of": what or "the output"}
    return {
        "numbers": numbers,
        "how": f"{how}.",
        "folds": found.folds,
        "rows": rows,
        "verdict": _verdict({row["key"]: row for row in rows}, numbers=numbers, **error),
    }


def _verdict(rows: dict[str, Any], *, numbers: bool, of: str = "") -> str:
    own = rows["model"]
    if numbers:
        text = f"The typical error is {figure(own['error'])}"
        text += f" (in units of {of})" if of not in ("", "the output") else ""
        others = [
            (words, figure(rows[key]["error"]))
            for key, words in (("linear", "a linear model"), ("mean", "always the mean"))
            if key in rows
        ]
    else:
        text = f"{percent(1 - own['error'])} of the answers are right"
        names = {
            "linear": "logistic regression",
            "average": "the mean of the scores",
            "single": "the best single source",
            "mean": "always the most frequent class",
        }
        others = [
            (words, percent(1 - rows[key]["error"])) for key, words in names.items() if key in rows
        ][:2]
    if others:
        text += "; for comparison, " + ", ".join(f"{who}: {value}" for who, value in others)
    return f"{text}."
