"""How good a model is on rows that it has not seen, beside answers that anyone could give."""

from __future__ import annotations

import time
import warnings
from collections import Counter
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
from choquet.certainty import Reliability, reliability_curve
from choquet.errors import ChoquetError

_LEAST = 1e-15
"""Least probability of the true class in a log-loss, as scikit-learn had it."""

_NORMAL = 1.96
"""Standard errors on either side of a mean that cover it in 95 % of cases."""

_SINGLES = 40
"""Columns that are each tried alone as a classifier, from the first."""


class Score(NamedTuple):
    """Errors of one contender, each with half the width of its 95 % interval."""

    error: float
    """Root mean square error, or share of wrong answers."""
    error_half: float
    log_loss: float = float("nan")
    """Mean of -log of the probability of the true class; NaN of numbers and of bare votes."""
    log_loss_half: float = float("nan")
    detail: str = ""
    """Which source it is, of the best single one."""
    rarest_right: float = float("nan")
    """Share of the rows of the rarest class that are answered right; NaN of numbers."""
    lost: FloatArray | None = None
    """Squared error of each row, or whether its answer is wrong."""

    def to_dict(self) -> dict[str, Any]:
        """Plain data, without the single rows."""
        return {name: value for name, value in self._asdict().items() if name != "lost"}

    def beats(self, other: Score) -> bool:
        """Whether its rows have a smaller loss than those of another, by more than chance gives.

        Both answered the same rows, so the differences row by row are what chance is told by.

        Examples
        --------
        >>> import numpy as np
        >>> truth = np.linspace(0, 1, 50)
        >>> good, bad = score_numbers(truth + 0.1, truth), score_numbers(truth**2, truth)
        >>> good.beats(bad), bad.beats(good), good.beats(good)
        (True, False, False)
        """
        if self.lost is None or other.lost is None or len(self.lost) < 2:
            return False
        gain = other.lost - self.lost
        return bool(gain.mean() > _NORMAL * gain.std(ddof=1) / len(gain) ** 0.5)


def score_numbers(found: FloatArray, truth: FloatArray, detail: str = "") -> Score:
    """Root mean square error.

    Examples
    --------
    >>> import numpy as np
    >>> score_numbers(np.array([1.0, 2.0]), np.array([1.5, 2.5])).error
    0.5
    """
    squares = (np.asarray(found) - truth) ** 2
    error = float(np.sqrt(squares.mean()))
    deviation = float(squares.std(ddof=1)) if len(squares) > 1 else 0.0
    half = _NORMAL * deviation / len(squares) ** 0.5 / (2 * error) if error > 0 else 0.0
    return Score(error, half, detail=detail, lost=squares)


class Told(NamedTuple):
    """What a classifier says of rows."""

    proba: FloatArray
    """Of shape (n, n_classes)."""
    said: Any
    """Places of the classes that it answers; of ordered classes not always the most probable."""

    def reliability(self, place: Any) -> Reliability:
        """How often answers of a given probability are right.

        Parameters
        ----------
        place : array of n ints
            Of the true classes.

        Examples
        --------
        >>> import numpy as np
        >>> told = Told(np.array([[0.9, 0.1], [0.3, 0.7]]), np.array([0, 1]))
        >>> told.reliability(np.array([0, 0])).mean_right
        0.5
        """
        given = self.proba[np.arange(len(place)), self.said]
        # Shares that sum to one may be above it by a rounding.
        return reliability_curve(np.clip(given, 0.0, 1.0), self.said == place)


def told_by(fitted: Any, X: Any, classes: Any) -> Told:
    """What a fitted classifier says of rows, with classes in the order given.

    Parameters
    ----------
    fitted : classifier with `predict_proba`
    X : array or frame
    classes : array
        That rows learned from may lack, and that the model may hold in an order of its own.

    Examples
    --------
    >>> import numpy as np
    >>> from choquet import ChoquetAdditiveClassifier
    >>> X = np.linspace(0, 1, 60)[:, None]
    >>> y = np.where(X[:, 0] < 0.4, "low", "high")
    >>> told = told_by(ChoquetAdditiveClassifier().fit(X, y), X[:2], np.array(["low", "high"]))
    >>> told.said.tolist(), told.proba.shape
    ([0, 0], (2, 2))
    """
    names = classes.tolist()
    place = {label: k for k, label in enumerate(names)}
    shares = fitted.predict_proba(X)
    proba = np.zeros((len(shares), len(names)))
    own = getattr(fitted, "classes_", classes)
    proba[:, [place[label] for label in own.tolist()]] = shares
    return Told(proba, np.array([place[label] for label in fitted.predict(X).tolist()]))


def score_classes(
    proba: FloatArray, place: Any, detail: str = "", *, said: Any = None, sure: bool = False
) -> Score:
    """Share of wrong answers and log-loss, from probabilities and the places of the true classes.

    Parameters
    ----------
    proba : array of shape (n, n_classes)
    place : array of n ints
    detail : str
    said : array of n ints, optional
        Places of the answers; the most probable classes by default.
    sure : bool
        Whether the numbers only name a class, as votes do, so that they have no log-loss.

    Examples
    --------
    >>> import numpy as np
    >>> score_classes(np.array([[0.9, 0.1], [0.5, 0.5]]), np.array([0, 0])).error
    0.0
    """
    n = len(place)
    missed = ((proba.argmax(axis=1) if said is None else said) != place).astype(np.float64)
    wrong = float(missed.mean())
    half = _NORMAL * (wrong * (1 - wrong) / n + _NORMAL**2 / (4 * n * n)) ** 0.5
    rare = place == np.bincount(place, minlength=proba.shape[1]).argmin()
    found = float(np.mean(proba[rare].argmax(axis=1) == place[rare])) if rare.any() else np.nan
    if sure:
        return Score(wrong, half, detail=detail, rarest_right=found, lost=missed)
    lost = -np.log(np.clip(proba[np.arange(n), place], _LEAST, 1.0))
    spread = float(lost.std(ddof=1)) if n > 1 else 0.0
    return Score(wrong, half, float(lost.mean()), _NORMAL * spread / n**0.5, detail, found, missed)


class HeldOut(NamedTuple):
    """Scores of a model and of simple answers on the same rows, none of which they learned from."""

    folds: int
    """Parts that were held out in turn; 0 where the model had not seen any of the rows."""
    rows: int
    scores: dict[str, Score]
    """Of "model", "linear", "single" (the best single source) and "mean"."""
    reliability: Reliability | None = None
    """Of the model's probabilities, on the same rows; None of numbers."""

    @property
    def model(self) -> float:
        """Error of the model."""
        return self.scores["model"].error

    @property
    def mean(self) -> float:
        """Error of always answering the mean, or the most frequent class."""
        return self.scores["mean"].error

    @property
    def linear(self) -> float:
        """Error of a linear, or logistic, regression on the same columns."""
        return self.scores["linear"].error

    def r2(self, name: str = "model") -> float:
        """Share of the variance about the mean that a contender explains; may be below 0."""
        return 1 - (self.scores[name].error / self.mean) ** 2 if self.mean > 0 else float("nan")

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        scores = {name: score.to_dict() for name, score in self.scores.items()}
        found = {"folds": self.folds, "rows": self.rows, "scores": scores}
        known = self.reliability
        return found | {"reliability": None if known is None else known.to_dict()}


def held_out(
    model, X: Any, y, *, folds: int = 5, random_state=0, sources=None, numbers=None
) -> HeldOut | None:
    """Fit on all folds but one and answer for that one, in turn; None if no model can be fitted.

    Parameters
    ----------
    model : estimator
        With all that it does to the columns, so that scales are found without the rows held out.
    X, y : arrays; X may be a frame
    folds : int, default 5
        Fewer where there are fewer rows, or a class has fewer.
    random_state : int, RandomState or None, default 0
    sources : sequence of str, optional
        Names of the columns.
    numbers : array, optional
        What the simple answers take in place of X, where it holds more than numbers.

    Examples
    --------
    >>> import numpy as np
    >>> from choquet import ChoquetRegressor
    >>> X = np.random.default_rng(0).random((60, 3))
    >>> found = held_out(ChoquetRegressor(), X, X.max(axis=1), sources=["ir", "gpr", "emi"])
    >>> found.model < found.linear < found.mean
    True
    """
    classify, y = is_classifier(model), np.asarray(y)
    parts = parts_of(np.asarray(X), y, folds, random_state, classify)
    if parts is None:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            answers = _answers(model, X, y, parts, classify)
        except (ChoquetError, ValueError):
            return None
        own = _scored(answers, y, classify)
        plain = np.asarray(X if numbers is None else numbers, dtype=np.float64)
        rivals = _rivals(plain, y, parts, classify, sources)
    given = classify and hasattr(model, "predict_proba")
    reliability = answers.reliability(_places(y)) if given else None
    return HeldOut(len(parts), len(y), {"model": own, **rivals}, reliability)


def baseline_scores(X, y, *, classify: bool, folds: int = 5, sources=None) -> dict[str, Score]:
    """Scores of simple answers alone, each row answered by a fit to the others.

    There are none where rows are too few, or of one class.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).random((60, 2))
    >>> list(baseline_scores(X, X.max(axis=1), classify=False))
    ['linear', 'single', 'mean']
    """
    parts = parts_of(X, y, folds, 0, classify)
    if parts is None:
        return {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return _rivals(X, y, parts, classify, sources)


def parts_of(X, y, folds, random_state, classify):
    """Rows learned from and rows held out, for each fold; None if too few rows or one class."""
    counts = np.unique(y, return_counts=True)[1] if classify else np.array([len(y)])
    if classify and len(counts) < 2:
        return None
    folds = int(min(folds, counts.min()))
    if folds < 2:
        return None
    kind = StratifiedKFold if classify else KFold
    return list(kind(folds, shuffle=True, random_state=random_state).split(X, y))


def _rivals(X, y, parts, classify, sources) -> dict[str, Score]:
    # Where values are missing, these are given the mean of the others.
    X = SimpleImputer(keep_empty_features=True).fit_transform(X) if np.isnan(X).any() else X
    logistic = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
    linear = logistic if classify else LinearRegression()
    constant = DummyClassifier(strategy="prior") if classify else DummyRegressor()
    # The best source is chosen by the rows learned from, fold by fold.
    single, chosen = [], []
    columns = range(min(X.shape[1], _SINGLES) if classify else X.shape[1])
    for train, test in parts:
        fits = [clone(linear).fit(X[train][:, [k]], y[train]) for k in columns]
        best = int(np.argmax([fit.score(X[train][:, [k]], y[train]) for k, fit in enumerate(fits)]))
        chosen.append(best)
        single.append((test, _told(fits[best], X[test][:, [best]], np.unique(y), classify)))
    best = Counter(chosen).most_common(1)[0][0]
    detail = f"x{best + 1}" if sources is None else str(sources[best])
    return {
        "linear": _scored(_answers(linear, X, y, parts, classify), y, classify),
        "single": _scored(_together(single, y, classify), y, classify, detail),
        "mean": _scored(_answers(constant, X, y, parts, classify), y, classify),
    }


def _answers(model, X, y, parts, classify):
    """Answers for each row by a model that was fitted to the other folds."""
    classes, found = np.unique(y), []
    for train, test in parts:
        fitted = clone(model).fit(_rows(X, train), y[train])
        found.append((test, _told(fitted, _rows(X, test), classes, classify)))
    return _together(found, y, classify)


def _together(found, y, classify):
    if not classify:
        answers = np.empty(len(y))
        for test, told in found:
            answers[test] = told
        return answers
    proba, said = np.empty((len(y), len(np.unique(y)))), np.empty(len(y), dtype=np.int64)
    for test, told in found:
        proba[test], said[test] = told
    return Told(proba, said)


def _told(fitted, X, classes, classify):
    if not classify:
        return fitted.predict(X)
    if hasattr(fitted, "predict_proba"):
        return told_by(fitted, X, classes)
    proba = (np.asarray(fitted.predict(X))[:, None] == classes).astype(np.float64)
    return Told(proba, proba.argmax(axis=1))


def _scored(answers, y, classify, detail="") -> Score:
    if not classify:
        return score_numbers(answers, y, detail)
    return score_classes(answers.proba, _places(y), detail, said=answers.said)


def _places(y):
    """Each class as its place among those that occur."""
    return np.searchsorted(np.unique(y), y)


def _rows(X, index):
    return X.iloc[index] if hasattr(X, "iloc") else np.asarray(X)[index]


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
    lost: FloatArray
    """Loss of each row."""


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
    parts = parts_of(X, y, folds, random_state, classify)
    tried: list[Any] = []
    for model in models:
        try:
            tried.append(None if parts is None else _losses(model, X, y, parts, classify))
        except (ChoquetError, ValueError):
            tried.append(None)
        after()
    lost = [one[0] for one in tried if one is not None]
    if not lost:
        return [None] * len(models)
    best = min(lost, key=np.mean)
    most = best.mean() + best.std() / np.sqrt(len(best))
    return [
        None
        if one is None
        else Compared(
            one[1],
            float(one[0].mean() if classify else np.sqrt(one[0].mean())),
            one[2],
            bool(one[0].mean() <= most),
            one[0],
        )
        for one in tried
    ]


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
