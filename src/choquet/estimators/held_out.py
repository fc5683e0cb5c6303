"""How good a model is on rows that it has not seen, beside two answers that anyone could give."""

from __future__ import annotations

import warnings
from typing import NamedTuple

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from choquet.arrays import FloatArray
from choquet.errors import ChoquetError

__all__ = ["HeldOut", "held_out"]


class HeldOut(NamedTuple):
    """Errors on held-out rows: root mean square, or shares of wrong answers."""

    folds: int
    rows: int
    model: float
    mean: float
    """Of always answering the mean, or the most frequent class."""
    linear: float
    """Of a linear, or logistic, regression on the same columns."""

    @property
    def r2(self) -> float:
        """Share of the variance about the mean that the model explains; may be below 0."""
        return _r2(self.model, self.mean)

    @property
    def linear_r2(self) -> float:
        """The same of the linear model."""
        return _r2(self.linear, self.mean)


def _r2(error: float, mean: float) -> float:
    return 1 - (error / mean) ** 2 if mean > 0 else float("nan")


def held_out(model, X: FloatArray, y, *, folds: int = 5, random_state=0) -> HeldOut | None:
    """Fit on all folds but one and answer for that one, in turn; None if no model can be fitted.

    Parameters
    ----------
    model : estimator
        With all that it does to the columns, so that scales are found without the rows held out.
    X, y : arrays
    folds : int, default 5
        Fewer where there are fewer rows, or a class has fewer.
    random_state : int, RandomState or None, default 0

    Examples
    --------
    >>> import numpy as np
    >>> from choquet import ChoquetRegressor
    >>> X = np.random.default_rng(0).random((60, 3))
    >>> found = held_out(ChoquetRegressor(), X, X.max(axis=1))
    >>> found.model < found.linear < found.mean
    True
    """
    classify = is_classifier(model)
    least = np.unique(y, return_counts=True)[1].min() if classify else len(y)
    folds = int(min(folds, least))
    if folds < 2:
        return None
    kind = StratifiedKFold if classify else KFold
    parts = list(kind(folds, shuffle=True, random_state=random_state).split(X, y))
    rivals = (
        (DummyClassifier(), make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)))
        if classify
        else (DummyRegressor(), LinearRegression())
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            errors = [_error(one, X, y, parts, classify) for one in (model, *rivals)]
        except (ChoquetError, ValueError):
            return None
    return HeldOut(folds, len(y), *errors)


def _error(model, X, y, parts, classify) -> float:
    lost = 0.0
    for train, test in parts:
        answers = clone(model).fit(X[train], y[train]).predict(X[test])
        lost += np.sum(answers != y[test]) if classify else np.sum((answers - y[test]) ** 2)
    return float(lost / len(y) if classify else np.sqrt(lost / len(y)))
