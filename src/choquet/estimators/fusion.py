"""`FusionClassifier`: the class scores of several classifiers fused by Choquet integrals."""

from __future__ import annotations

from typing import Any

import numpy as np

from choquet.decomposition.outcome import Outcome
from choquet.errors import DataError, OptionError
from choquet.estimators.common import (
    Batch,
    Material,
    MeasureRegressor,
    check_information,
    names_or_numbers,
)
from choquet.estimators.foundation import (
    BaseEstimator,
    ClassifierMixin,
    available_if,
    check_is_fitted,
    later,
)
from choquet.estimators.regressor import ChoquetRegressor
from choquet.estimators.validation import (
    checked_classes,
    checked_inputs,
    checked_labels,
    checked_scores,
    checked_weights,
    classes_of,
)
from choquet.jobs import run_jobs
from choquet.learning.data.chunks import Evidence, evidence_of
from choquet.learning.data.statistics import Statistics, sample_weights
from choquet.walks import DataSupport

check_cv = later("sklearn.model_selection", "check_cv")
clone = later("sklearn.base", "clone")
cross_val_predict = later("sklearn.model_selection", "cross_val_predict")
has_fit_parameter = later("sklearn.utils.validation", "has_fit_parameter")

__all__ = ["FusionClassifier"]


def _weights(estimator, sample_weight):
    if sample_weight is None or not has_fit_parameter(estimator, "sample_weight"):
        return {}
    return {"sample_weight": sample_weight}


def _solved(model, material):
    """One measure learned: a job of its own."""
    return model._learn_from(material)


def _fitted(estimator, X, y, options):
    """One classifier fitted to all rows."""
    return estimator.fit(X, y, **options)


class FusionClassifier(ClassifierMixin, BaseEstimator):
    """Scores of several classifiers, fused class by class with a learned measure.

    The sources are the classifiers. For each class, the integral of their scores for that class is
    fitted to 1 where the class is true and 0 elsewhere; the class of the largest integral wins.

    Parameters
    ----------
    estimators : list of (str, estimator), optional
        Classifiers with `predict_proba`. Without them, `fit` and `predict` take scores as an array
        of shape (n_samples, n_classes, n_sources).
    shared : bool, default True
        One measure for all classes, or one for each.
    cv : int, splitter, iterable or "prefit", default 5
        Folds for scores that no classifier was trained on, as in stacking; "prefit" takes fitted
        classifiers as they are.
    regressor : ChoquetRegressor, ChoquetRegressorCV or another of this room, optional
        How to learn a measure; the default one if None.
    n_jobs : int, optional
        Folds, classifiers and classes at a time, through joblib: processes of this machine, or the
        workers of a cluster inside ``joblib.parallel_config(backend="dask")``.

    Attributes
    ----------
    classes_ : array
    measures_ : list of Measure
        One, or one for each class.
    measure_ : Measure
        The first.
    estimators_ : list
        Fitted classifiers.
    support_ : DataSupport
        Of the first measure.

    References
    ----------
    Cho & Kim (1995), "Combining multiple neural networks by fuzzy integral for robust
    classification"; Wolpert (1992), "Stacked generalization".

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(0, 3, 200)
    >>> sure = np.eye(3)[y][:, :, None] * [0.8, 0.5]
    >>> scores = sure + 0.2 * rng.random((200, 3, 2))
    >>> model = FusionClassifier().fit(scores, y)
    >>> model.score(scores, y), model.predict_proba(scores[:1]).shape
    (1.0, (1, 3))
    """

    statistics_: list[Statistics]
    supports_: list[DataSupport]
    models_: list[MeasureRegressor]
    measures_: list[Any]

    def __init__(self, estimators=None, *, shared=True, cv=5, regressor=None, n_jobs=None):
        self.estimators = estimators
        self.shared = shared
        self.cv = cv
        self.regressor = regressor
        self.n_jobs = n_jobs

    # -- learning ----------------------------------------------------------------------------------

    def fit(self, X, y, sample_weight=None):
        """Learn the measure, and the classifiers if they are not fitted yet.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or scores (n_samples, n_classes, n_sources)
            Scores where `estimators` is None.
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the fused rows (and of the classifiers' fits where they take them).

        Returns
        -------
        self
        """
        if self.estimators is None:
            return self._learn(X, y, None, sample_weight)
        X, y = checked_classes(self, X, y, dtype="numeric")
        sample_weight = checked_weights(sample_weight, X)
        if sample_weight is not None:
            kept = sample_weight > 0
            if not kept.any():
                raise DataError("sample_weight is zero in every row: nothing to learn from")
            # A row of weight zero must not exist for the folds; given folds count it, though.
            if isinstance(self.cv, int | str):
                X, y, sample_weight = X[kept], y[kept], sample_weight[kept]
        self.classes_ = classes_of(y)
        scores = self._training_scores(X, y, sample_weight)
        return self._learn(scores, y, self.classes_, sample_weight)

    def _scores_given(self):
        return self.estimators is None

    @available_if(_scores_given)
    def partial_fit(self, X, y, classes=None, sample_weight=None):
        """Learn from one more batch of scores; the result equals one `fit` on all batches.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_classes, n_sources)
        y : array-like of shape (n_samples,)
        classes : array-like, optional
            All classes; needed in the first call.
        sample_weight : array-like of shape (n_samples,), optional

        Returns
        -------
        self
        """
        if not hasattr(self, "statistics_") and classes is None:
            raise OptionError("the first call of partial_fit needs classes=, all of them")
        return self._learn(X, y, classes, sample_weight, more=True)

    def _learn(self, scores, y, classes, sample_weight, *, more=False):
        first = not (more and hasattr(self, "statistics_"))
        scores = checked_scores(scores, None if first else self.measures_[0].n_sources)
        y = checked_labels(y, np.asarray(y))
        if y.shape != scores.shape[:1]:
            raise DataError(f"there are scores of {len(scores)} samples, and labels {y.shape}")
        if first:
            self.classes_ = np.unique(y if classes is None else classes)
        if scores.shape[1] != len(self.classes_):
            raise DataError(
                f"there are scores for {scores.shape[1]} classes, but {len(self.classes_)} "
                "classes; pass scores in the order of the sorted classes"
            )
        unseen = np.setdiff1d(y, self.classes_)
        if len(unseen):
            raise DataError(f"labels {unseen.tolist()} are not among the classes")
        target = (y[:, None] == self.classes_).astype(np.float64)
        weight = sample_weights(sample_weight, len(y))
        parts = self._parts(scores, target, weight, more)
        evidence = [evidence_of(part.X, part.y, part.weight) for part in parts]
        if not first:
            known = zip(self.statistics_, self.supports_, evidence, strict=True)
            evidence = [Evidence(a + one.statistics, b + one.support) for a, b, one in known]
        given = None if self.estimators is None else [name for name, _ in self.estimators]
        names = names_or_numbers(given, scores.shape[2])
        materials = [
            Material(one.statistics, one.support, names, part)
            for one, part in zip(evidence, parts, strict=True)
        ]
        models = [self._model() for _ in parts] if first else self.models_
        for one in evidence:
            # Classifiers that always agree leave the measure open, which is worth a warning only.
            check_information(one.statistics, normal=False)
        self.models_ = run_jobs(_solved, zip(models, materials, strict=True), n_jobs=self.n_jobs)
        self.statistics_ = [one.statistics for one in evidence]
        self.supports_ = [one.support for one in evidence]
        self.support_ = self.supports_[0]
        self.measures_ = [model.measure_ for model in self.models_]
        self.measure_ = self.measures_[0]
        return self

    @property
    def intercept_(self):
        """Added to every integral of the first measure."""
        return self.models_[0].intercept_

    @property
    def outcomes_(self):
        """What the integral of each of `measures_` is: the fused score of a class, or of any."""
        classes = tuple(self.classes_.tolist())
        numbers = [None] if len(self.measures_) == 1 else range(len(classes))
        return [Outcome("score", classes, number) for number in numbers]

    def _parts(self, scores, target, weight, more):
        if self.shared:
            n_classes = scores.shape[1]
            flat = scores.reshape(-1, scores.shape[2])
            return [Batch(flat, target.ravel(), np.repeat(weight, n_classes), more)]
        return [Batch(scores[:, k], target[:, k], weight, more) for k in range(scores.shape[1])]

    def _model(self):
        model = ChoquetRegressor() if self.regressor is None else clone(self.regressor)
        if getattr(model, "loss", "squared") != "squared":
            raise OptionError("fusion learns from statistics: the regressor needs loss='squared'")
        return model

    # -- scores ------------------------------------------------------------------------------------

    def _training_scores(self, X, y, sample_weight):
        if not len(self.estimators):
            raise OptionError("estimators is empty: give at least one (name, classifier)")
        if isinstance(self.cv, str) and self.cv == "prefit":
            self.estimators_ = [estimator for _, estimator in self.estimators]
            for estimator in self.estimators_:
                if not np.array_equal(estimator.classes_, self.classes_):
                    raise DataError(
                        f"{type(estimator).__name__} was fitted to classes "
                        f"{estimator.classes_.tolist()}, the labels are {self.classes_.tolist()}"
                    )
            return self._scores(X)
        level = np.searchsorted(self.classes_, y)
        smallest = int(np.bincount(level).min())
        columns = []
        if smallest >= 2:
            cv = min(self.cv, smallest) if isinstance(self.cv, int) else self.cv
            columns = [
                cross_val_predict(
                    clone(estimator), X, level, cv=check_cv(cv, level, classifier=True),
                    method="predict_proba", n_jobs=self.n_jobs,
                    params=_weights(estimator, sample_weight),
                )
                for _, estimator in self.estimators
            ]  # fmt: skip
        jobs = (
            (clone(estimator), X, y, _weights(estimator, sample_weight))
            for _, estimator in self.estimators
        )
        self.estimators_ = run_jobs(_fitted, jobs, n_jobs=self.n_jobs)
        # A class of one sample cannot be left out and learned at once: its own scores must do.
        return np.stack(columns, axis=2) if columns else self._scores(X)

    def _scores(self, X):
        return np.stack([e.predict_proba(X) for e in self.estimators_], axis=2)

    def fuse(self, X):
        """Integral of the scores for each class: (n_samples, n_classes), not normalised.

        Parameters
        ----------
        X : array-like
            As in `fit`.
        """
        check_is_fitted(self, "measures_")
        if self.estimators is None:
            scores = checked_scores(X, self.measures_[0].n_sources)
        else:
            scores = self._scores(checked_inputs(self, X, dtype="numeric"))
        n_samples, n_classes, n_sources = scores.shape
        if n_classes != len(self.classes_):
            raise DataError(f"scores for {n_classes} classes, learned {len(self.classes_)}")
        if self.shared:
            flat = self.models_[0]._integrals(scores.reshape(-1, n_sources))
            return flat.reshape(n_samples, n_classes)
        columns = [model._integrals(scores[:, k]) for k, model in enumerate(self.models_)]
        return np.column_stack(columns)

    def predict_proba(self, X):
        """Fused scores, not below zero, that sum to one over the classes.

        Parameters
        ----------
        X : array-like
            As in `fit`.
        """
        fused = np.maximum(self.fuse(X), 0.0)
        total = fused.sum(axis=1, keepdims=True)
        return np.where(total > 0, fused / np.maximum(total, 1e-300), 1.0 / fused.shape[1])

    def predict(self, X):
        """Class of the largest fused score.

        Parameters
        ----------
        X : array-like
            As in `fit`.
        """
        proba = self.predict_proba(X)
        return self.classes_[proba.argmax(axis=1)]

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True
        return tags
