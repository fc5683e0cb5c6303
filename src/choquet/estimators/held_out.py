"""How good a model is on rows that it has not seen, beside two answers that anyone could give."""

from __future__ import annotations

import time
import warnings
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from choquet.arrays import FloatArray
from choquet.errors import ChoquetError

__all__ = ["Compared", "HeldOut", "compare", "held_out"]


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
    parts = _parts(X, y, classify, folds, random_state)
    if len(parts) < 2:
        return None
    linear = LogisticRegression(max_iter=1000) if classify else LinearRegression()
    # Where values are missing, the linear model is given the mean of the others.
    rivals = (
        DummyClassifier() if classify else DummyRegressor(),
        make_pipeline(SimpleImputer(keep_empty_features=True), StandardScaler(), linear),
    )
    try:
        lost = [_losses(one, X, y, parts, classify)[0] for one in (model, *rivals)]
    except (ChoquetError, ValueError):
        return None
    return HeldOut(len(parts), len(y), *(_error(one, classify) for one in lost))


def _parts(X, y, classify, folds, random_state):
    """Rows to learn from and rows held out, in turn; none if there are too few rows."""
    least = np.unique(y, return_counts=True)[1].min() if classify else len(y)
    folds = int(min(folds, least))
    if folds < 2:
        return []
    kind = StratifiedKFold if classify else KFold
    return list(kind(folds, shuffle=True, random_state=random_state).split(X, y))


def _losses(model, X, y, parts, classify):
    """Loss of each row when it is held out, the last model fitted, and seconds a fit."""
    lost, fitted, started = np.zeros(len(y)), None, time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for train, test in parts:
            fitted = clone(model).fit(X[train], y[train])
            answers = fitted.predict(X[test])
            lost[test] = answers != y[test] if classify else (answers - y[test]) ** 2
    return lost, fitted, (time.process_time() - started) / len(parts)


def _error(lost: FloatArray, classify: bool) -> float:
    return float(lost.mean() if classify else np.sqrt(lost.mean()))


class Compared(NamedTuple):
    """One of several models on the same held-out rows."""

    model: Any
    """As fitted to all rows but the last part."""
    error: float
    """Root mean square, or share of wrong answers."""
    seconds: float
    """Of one fit, in processor time."""
    near: bool
    """Whether its mean loss is above the least by at most one standard error of the latter."""


def compare(
    models, X: FloatArray, y, *, folds: int = 5, random_state=0, after=lambda: None
) -> list[Compared | None]:
    """Models on the same held-out rows; None for one that cannot be fitted.

    Parameters
    ----------
    models : sequence of estimators
    X, y : arrays
    folds : int, default 5
    random_state : int, RandomState or None, default 0
    after : callable, optional
        Called when a model is done.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LinearRegression
    >>> from choquet import ChoquetRegressor
    >>> X = np.random.default_rng(0).random((60, 3))
    >>> [one.near for one in compare([LinearRegression(), ChoquetRegressor()], X, X.max(axis=1))]
    [False, True]
    """
    classify = is_classifier(models[0])
    parts = _parts(X, y, classify, folds, random_state)
    tried: list[Any] = []
    for model in models:
        try:
            tried.append(_losses(model, X, y, parts, classify) if len(parts) > 1 else None)
        except (ChoquetError, ValueError):
            tried.append(None)
        after()
    lost = [one[0] for one in tried if one is not None]
    if not lost:
        return [None] * len(models)
    best = min(lost, key=np.mean)
    return [
        None
        if one is None
        else Compared(one[1], _error(one[0], classify), one[2], _near(one[0], best))
        for one in tried
    ]


def _near(lost: FloatArray, best: FloatArray) -> bool:
    return bool(lost.mean() <= best.mean() + best.std() / np.sqrt(len(best)))
