"""One class of several: what was learned for it, ready to be explained."""

from __future__ import annotations

from typing import Any

from choquet.decomposition import decompose
from choquet.errors import OptionError
from choquet.explanation.learned import Learned, as_learned
from choquet.learning.scaled import ScaledModel

__all__ = ["of_class"]


def of_class(model: Any, label: Any) -> Any:
    """What a classifier learned for one class, for `explain_model`, `Report` and the others.

    Parameters
    ----------
    model : fitted classifier, or a `ScaledModel` of one
    label : object
        A class, or its name.

    Returns
    -------
    Decomposition, ScaledModel or Learned
        Of the class against the rest. Where one measure serves all classes (two of them, ordered
        ones, or one shared measure), of that one.

    Raises
    ------
    OptionError
        If the model has no classes, or not this one.

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
    classes = [str(name) for name in getattr(inner, "classes_", ())]
    if str(label) not in classes:
        known = f"the classes are {', '.join(classes)}" if classes else "the model has no classes"
        raise OptionError(f"there is no class {str(label)!r}: {known}")
    number = classes.index(str(label))
    learned = as_learned(model)
    if learned is not None:
        if len(inner.decompositions_) == 1:
            return learned
        chosen, value = inner.decompositions_[number], inner.classes_[number]
        return Learned(chosen, learned.units, classes[number], tuple(classes), value)
    place = number if len(inner.measures_) > 1 else 0
    supports = getattr(inner, "supports_", None) or [inner.support_] * len(inner.measures_)
    found = decompose(inner.measures_[place], support=supports[place])
    return model.around(found) if isinstance(model, ScaledModel) else found
