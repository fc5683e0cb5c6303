"""One class of several: what was learned for it, ready to be explained."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from choquet.decomposition.decompose import decompose
from choquet.decomposition.outcome import place_of
from choquet.errors import OptionError
from choquet.learning.scaled import ScaledModel

__all__ = ["of_class"]


def of_class(model: Any, label: Any) -> Any:
    """What a classifier learned for one class, for `explain_model`, `Report` and the others.

    Parameters
    ----------
    model : fitted classifier, or a `ScaledModel` of one
    label : object
        A class, its name, or the number that its name is.

    Returns
    -------
    ClusterDecomposition, TreeDecomposition, or ScaledModel of one
        Of the class against the rest; its ``outcome`` says so. Where one measure serves all classes
        (two of them, ordered ones, or one shared measure), of that one.

    Raises
    ------
    OptionError
        If the model has no classes, or not this one.
    NotFittedError
        If the classifier is not fitted.

    Examples
    --------
    >>> import numpy as np
    >>> from choquet import ContextualClassifier, explain_model
    >>> X = np.random.default_rng(0).random((300, 3))
    >>> y = np.array(["low", "middle", "high"])[np.digitize(np.median(X, axis=1), [0.4, 0.6])]
    >>> model = ContextualClassifier(max_leaves=1).fit(X, y)
    >>> explain_model(of_class(model, "low")).opening()[-37:]
    'the log-odds of low against the rest.'
    """
    inner = model.model if isinstance(model, ScaledModel) else model
    if hasattr(type(inner), "outcomes_"):
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(inner, "classes_")
    alone: Any = getattr(inner, "outcome", None)
    outcomes = getattr(inner, "outcomes_", []) if alone is None else [alone]
    classes = outcomes[0].classes if outcomes else ()
    number = place_of(label, classes)
    if number is None:
        listed = ", ".join(map(repr, classes))
        known = f"the classes are {listed}" if classes else "the model has no classes"
        raise OptionError(f"there is no class {label!r}: {known}")
    place = next((k for k, one in enumerate(outcomes) if one.serves(number)), None)
    if place is None:
        raise OptionError(
            f"this was learned for class {classes[alone.number]!r} alone; ask the whole model for "
            f"{classes[number]!r}"
        )
    learned = _learned(inner, place) if alone is None else inner
    found = replace(learned, outcome=outcomes[place].of(number))
    return model.around(found) if isinstance(model, ScaledModel) else found


def _learned(model: Any, place: int) -> Any:
    """The operators of one class, as they were learned or taken out of its measure."""
    if hasattr(model, "decompositions_"):
        return model.decompositions_[place]
    if hasattr(model, "models_"):
        # A fusion: each of them has data, and may have a bias, of its own.
        support, bias = model.supports_[place], model.models_[place].bias_
    else:
        support, bias = model.support_, 0.0
    return replace(decompose(model.measures_[place], support=support), bias=bias)
