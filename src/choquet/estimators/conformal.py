"""Intervals and sets of classes around any estimator, by cross-validation and without a model."""

from __future__ import annotations

import numpy as np

from choquet.certainty.conformal import class_sets, cv_plus
from choquet.certainty.levels import check_level
from choquet.errors import DataError, OptionError
from choquet.estimators.foundation import (
    BaseEstimator,
    ClassifierMixin,
    RegressorMixin,
    check_is_fitted,
    later,
)
from choquet.estimators.methods import Predictor
from choquet.estimators.validation import checked_classes, checked_inputs, checked_rows, classes_of

KFold = later("sklearn.model_selection", "KFold")
StratifiedKFold = later("sklearn.model_selection", "StratifiedKFold")
clone = later("sklearn.base", "clone")
get_tags = later("sklearn.utils", "get_tags")


class _Conformal(Predictor, BaseEstimator):
    """Models of all folds but one, and one of all rows, which answers."""

    def __init__(self, estimator=None, *, cv=10, random_state=None):
        self.estimator = estimator
        self.cv = cv
        self.random_state = random_state

    def fit(self, X, y):
        """Fit one model to all rows, and one without each fold.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_sources)
        y : array-like of shape (n_samples,)

        Returns
        -------
        self
        """
        self._learn(X, y)
        return self

    def _predict(self, X):
        check_is_fitted(self)
        return self.estimator_.predict(checked_inputs(self, X))

    def _fit_folds(self, X, y, folds):
        if isinstance(self.cv, bool) or not isinstance(self.cv, int | np.integer) or self.cv < 2:
            raise OptionError(f"cv={self.cv!r} must be a whole number of folds, at least 2")
        if len(X) < 2:
            raise DataError(f"{len(X)} row(s) cannot be judged by others; give at least 2 rows")
        n_folds = min(self.cv, len(X))
        self.fold_ = np.zeros(len(X), dtype=np.int64)
        self.models_ = []
        splits = folds(n_folds, shuffle=True, random_state=self.random_state).split(X, y)
        for number, (train, test) in enumerate(splits):
            self.fold_[test] = number
            self.models_.append(clone(self._made()).fit(X[train], y[train]))
        self.estimator_ = clone(self._made()).fit(X, y)

    def __sklearn_tags__(self):
        tags, inner = super().__sklearn_tags__(), get_tags(self._made())
        tags.input_tags = inner.input_tags
        tags.regressor_tags, tags.classifier_tags = inner.regressor_tags, inner.classifier_tags
        return tags


class ConformalRegressor(RegressorMixin, _Conformal):
    """Intervals for new targets around any regressor, by cross-validation plus (CV+).

    They need no normal noise, only rows that are like those to come. They are longer where the
    regressor has learned that the noise is larger (`relative_noise`). Where values that no data
    support had to be guessed, they are widened by what that leaves open.

    Parameters
    ----------
    estimator : regressor, optional
        A `ChoquetRegressor` by default.
    cv : int, default 10
        Number of folds.
    random_state : int, RandomState or None, default None
        Shuffles the folds.

    Attributes
    ----------
    estimator_ : regressor
        Fitted to all rows.
    models_ : list of regressors
        Each fitted without one fold.
    residuals_ : array of shape (n_samples,)
        Absolute error of each row by the model that has not seen it, in units of the size that
        this model takes the noise to have there.

    References
    ----------
    Barber, Candès, Ramdas & Tibshirani (2021), "Predictive inference with the jackknife+"; Lei,
    G'Sell, Rinaldo, Tibshirani & Wasserman (2018), "Distribution-free predictive inference for
    regression", for errors in units of their size.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.random((200, 2))
    >>> y = X.max(axis=1) + 0.1 * rng.standard_normal(200)
    >>> y = np.clip(y, 0, 1)
    >>> model = ConformalRegressor(random_state=0).fit(X[:100], y[:100])
    >>> low, high = model.predict_interval(X[100:], level=0.9).T
    >>> bool(0.8 < np.mean((low <= y[100:]) & (y[100:] <= high)) < 1)
    True
    """

    def _made(self):
        from choquet.estimators.regressor import ChoquetRegressor

        return ChoquetRegressor() if self.estimator is None else self.estimator

    def _learn(self, X, y):
        X, y, _ = checked_rows(self, X, y, None, reset=True)
        self._fit_folds(X, y, KFold)
        self.residuals_ = np.empty(len(X))
        for number, model in enumerate(self.models_):
            rows = self.fold_ == number
            away = np.abs(y[rows] - model.predict(X[rows]))
            self.residuals_[rows] = away / _size_of_noise(model, X[rows])

    def predict_interval(self, X, level=0.95):
        """Interval for a new target of each row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_sources)
        level : float, default 0.95

        Returns
        -------
        array of shape (n_samples, 2)
            Infinite where there are too few rows for the level.
        """
        level = check_level(level)
        check_is_fitted(self)
        X = checked_inputs(self, X)
        found = cv_plus(
            np.array([model.predict(X) for model in self.models_]),
            self.fold_, self.residuals_, level,
            np.array([_size_of_noise(model, X) for model in self.models_]),
        )  # fmt: skip
        own = self.estimator_.predict(X)
        found = np.column_stack([np.minimum(found[:, 0], own), np.maximum(found[:, 1], own)])
        if hasattr(self.estimator_, "support_interval"):
            open_ = self.estimator_.support_interval(X) - own[:, None]
            found += np.column_stack([np.minimum(open_[:, 0], 0), np.maximum(open_[:, 1], 0)])
        return found


def _size_of_noise(model, X):
    """Of each row, beside the usual; 1 for regressors that do not know."""
    return model.relative_noise(X) if hasattr(model, "relative_noise") else np.ones(len(X))


class ConformalClassifier(ClassifierMixin, _Conformal):
    """Sets of classes around any classifier that hold the true class as often as promised.

    Parameters
    ----------
    estimator : classifier with ``predict_proba``, optional
        A `ChoquetClassifier` by default.
    cv : int, default 10
        Number of folds.
    random_state : int, RandomState or None, default None
        Shuffles the folds.

    Attributes
    ----------
    estimator_ : classifier
        Fitted to all rows.
    models_ : list of classifiers
        Each fitted without one fold.
    classes_ : array of shape (n_classes,)

    References
    ----------
    Vovk (2015), "Cross-conformal predictors".

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.random((200, 2))
    >>> y = X.min(axis=1) + 0.1 * rng.standard_normal(200) > 0.3
    >>> model = ConformalClassifier(random_state=0).fit(X[:100], y[:100])
    >>> sets = model.predict_set(X[100:], level=0.9)
    >>> bool(np.mean(sets[np.arange(100), y[100:].astype(int)]) > 0.8)
    True
    """

    def _made(self):
        from choquet.estimators.classifier import ChoquetClassifier

        return ChoquetClassifier() if self.estimator is None else self.estimator

    def _learn(self, X, y):
        X, y = checked_classes(self, X, y)
        self.classes_ = classes_of(y)
        rare = min(int((y == label).sum()) for label in self.classes_)
        if rare < 2:
            raise DataError("a class has one row only, which no other model can judge; give two")
        # The shares of the classes are kept, as long as each class has a row for each fold.
        self._fit_folds(X, y, lambda n, **options: StratifiedKFold(min(n, rare), **options))
        self.doubts_ = np.empty(len(X))
        for number, model in enumerate(self.models_):
            rows = np.flatnonzero(self.fold_ == number)
            shares = self._shares(model, X[rows])
            at = np.searchsorted(self.classes_, y[rows])
            self.doubts_[rows] = 1 - shares[np.arange(len(rows)), at]

    def _shares(self, model, X):
        """Probabilities by our classes; a model that has not seen a class gives it none."""
        shares = np.zeros((len(X), len(self.classes_)))
        shares[:, np.searchsorted(self.classes_, model.classes_)] = model.predict_proba(X)
        return shares

    def predict_set(self, X, level=0.95):
        """Which classes each row may have.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_sources)
        level : float, default 0.95
            About so many of the sets hold the true class.

        Returns
        -------
        array of bool of shape (n_samples, n_classes)
        """
        level = check_level(level)
        check_is_fitted(self)
        X = checked_inputs(self, X)
        shares = np.array([self._shares(model, X) for model in self.models_])
        return class_sets(shares, self.fold_, self.doubts_, level)
