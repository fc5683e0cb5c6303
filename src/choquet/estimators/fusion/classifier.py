"""`FusionClassifier`: the class scores of several classifiers fused by Choquet integrals."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from choquet.decomposition.outcome import Outcome
from choquet.errors import ChoquetError, DataError, OptionError
from choquet.estimators.common import Batch, Material, MeasureRegressor, names_or_numbers
from choquet.estimators.foundation import (
    BaseEstimator,
    PoorScore,
    available_if,
    check_is_fitted,
    later,
)
from choquet.estimators.fusion.calibration import Kept, best_power, probabilities
from choquet.estimators.fusion.class_scores import ClassScores, Roles
from choquet.estimators.methods import Probable
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
from choquet.learning.data.scale import check_information
from choquet.learning.data.statistics import Statistics, sample_weights
from choquet.silent import lacking, span_of
from choquet.walks import DataSupport
from choquet.watching import each

check_cv = later("sklearn.model_selection", "check_cv")
clone = later("sklearn.base", "clone")
cross_val_predict = later("sklearn.model_selection", "cross_val_predict")
has_fit_parameter = later("sklearn.utils.validation", "has_fit_parameter")


def _weights(estimator, sample_weight):
    if sample_weight is None or not has_fit_parameter(estimator, "sample_weight"):
        return {}
    return {"sample_weight": sample_weight}


def _fitted(estimator, X, y, options):
    """One classifier fitted to all rows."""
    return estimator.fit(X, y, **options)


def _complete(part):
    """The rows of scores in which no source is silent."""
    whole = ~lacking(part.X)
    if whole.all():
        return part
    if not whole.any():
        raise DataError("every row of scores lacks a source: there is nothing to learn from")
    return Batch(part.X[whole], part.y[whole], part.weight[whole], part.more)


class _Learner:
    """The measures that were learned from some of the samples, and the sums behind them."""

    def __init__(self, models):
        self.models = models
        self.evidence: list[Evidence] = []

    def learn(self, parts, names, n_jobs):
        """Learn from one more batch, cut into parts: one for each measure."""
        parts = [_complete(part) for part in parts]
        new = [evidence_of(part.X, part.y, part.weight) for part in parts]
        if self.evidence:
            pairs = zip(self.evidence, new, strict=True)
            new = [Evidence(a.statistics + b.statistics, a.support + b.support) for a, b in pairs]
        for one in new:
            # Classifiers that always agree leave the measure open, which is worth a warning only.
            check_information(one.statistics, normal=False)
        jobs = [
            (model, Material(one.statistics, one.support, names, part))
            for model, one, part in zip(self.models, new, parts, strict=True)
        ]
        learn = MeasureRegressor._learn_from
        self.models, self.evidence = run_jobs(learn, jobs, n_jobs=n_jobs, title="fusing"), new


def _fuse(models, scores):
    """Integrals of the scores, by sample and class; one measure may serve all classes."""
    n_samples, n_classes, n_sources = scores.shape
    if len(models) == 1:
        return models[0]._integrals(scores.reshape(-1, n_sources)).reshape(n_samples, n_classes)
    return np.column_stack([model._integrals(scores[:, k]) for k, model in enumerate(models)])


class FusionClassifier(PoorScore, Probable, BaseEstimator):
    """Scores of several classifiers, fused class by class with a learned measure.

    The sources are the classifiers. For each class, the integral of their scores for that class is
    fitted to 1 where the class is true and 0 elsewhere; the class of the largest integral wins.
    Probabilities are powers of these fused scores; the power is the one whose log-loss is smallest
    on samples that the measure behind it has not seen.

    Parameters
    ----------
    estimators : list of (str, estimator), optional
        Classifiers with `predict_proba`. Without them, `fit` and `predict` take scores: an array of
        shape (n_samples, n_classes, n_sources), a `ClassScores`, or a data frame.
    shared : bool, default True
        One measure for all classes, or one for each.
    cv : int, splitter, iterable or "prefit", default 5
        Folds for scores that no classifier was trained on, as in stacking; "prefit" takes fitted
        classifiers as they are.
    regressor : ChoquetRegressor, ChoquetRegressorCV or another of this room, optional
        How to learn a measure; the default one if None.
    calibrate : bool, default True
        Whether to find the power; without it, probabilities are fused scores divided by their sum.
    sources : sequence of str, optional
        Names of the classifiers, where scores are a bare array.
    classes : sequence, optional
        The classes in the order of the scores, where these are a bare array; sorted by default.
    columns : dict, optional
        Of a data frame of scores: which column is the ``"id"`` of the sample, the ``"label"`` (the
        class that a score is for), the ``"score"``, the ``"source"``, and the ``"truth"``. Without
        a "label", each row is a sample, and columns are named after source and class.
    missing : {"error", "present", "interval"} or (low, high), default "error"
        What NaN means among scores that are given: see `ChoquetRegressor`.
    n_jobs : int, optional
        Folds, classifiers and classes at a time, through joblib: processes of this machine, or the
        workers of a cluster inside ``joblib.parallel_config(backend="dask")``.

    Attributes
    ----------
    classes_ : array
    sources_ : tuple of str
        Names of the classifiers.
    measures_ : list of Measure
        One, or one for each class.
    measure_ : Measure
        The first.
    power_ : float
        Of the fused scores in the probabilities; NaN where they are not calibrated.
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
    >>> model = FusionClassifier(sources=["resnet", "vgg"]).fit(scores, y)
    >>> model.score(scores, y), model.predict_proba(scores[:1]).shape, model.sources_
    (1.0, (1, 3), ('resnet', 'vgg'))
    """

    takes_scores = True
    """Whether samples are scores by class and source, which reports must know."""

    supports_: list[DataSupport]
    statistics_: list[Statistics]
    models_: list[MeasureRegressor]
    measures_: list[Any]
    sources_: tuple[str, ...]
    power_ = float("nan")

    def __init__(
        self,
        estimators=None,
        *,
        shared=True,
        cv=5,
        regressor=None,
        calibrate=True,
        sources=None,
        classes=None,
        columns=None,
        missing="error",
        n_jobs=None,
    ):
        self.estimators = estimators
        self.shared = shared
        self.cv = cv
        self.regressor = regressor
        self.calibrate = calibrate
        self.sources = sources
        self.classes = classes
        self.columns = columns
        self.missing = missing
        self.n_jobs = n_jobs

    # -- learning ----------------------------------------------------------------------------------

    def fit(self, X, y=None, sample_weight=None):
        """Learn the measure, and the classifiers if they are not fitted yet.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or scores
            Scores where `estimators` is None; see there.
        y : array-like of shape (n_samples,), optional
            The true classes; not needed where a frame holds them (``columns={"truth": …}``).
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
    def partial_fit(self, X, y=None, classes=None, sample_weight=None):
        """Learn from one more batch of scores; the result equals one `fit` on all batches.

        Parameters
        ----------
        X : scores, as in `fit`
        y : array-like of shape (n_samples,), optional
        classes : array-like, optional
            All classes; needed in the first call.
        sample_weight : array-like of shape (n_samples,), optional

        Returns
        -------
        self
        """
        if not hasattr(self, "statistics_") and classes is None and self.classes is None:
            raise OptionError("the first call of partial_fit needs classes=, all of them")
        return self._learn(X, y, classes, sample_weight, more=True)

    def _learn(self, X, y, classes, sample_weight, *, more=False):
        first = not (more and hasattr(self, "statistics_"))
        if first:
            for name in ("classes_", "sources_") if self.estimators is None else ("sources_",):
                if hasattr(self, name):
                    delattr(self, name)
        given = self._given(X, y, classes)
        scores, y = given.scores, given.truth
        if y is None:
            raise DataError(
                "the true classes are missing; give y, or name their column: columns={'truth': …}"
            )
        self.classes_, self.sources_ = given.classes, given.sources
        unseen = np.setdiff1d(y, self.classes_)
        if len(unseen):
            raise DataError(f"labels {unseen.tolist()} are not among the classes")
        weight = sample_weights(sample_weight, len(y))
        if first:
            self._whole = _Learner(
                [self._model() for _ in range(1 if self.shared else scores.shape[1])]
            )
            self._halves = [_Learner(clone(self._whole.models, safe=False)) for _ in range(2)]
            self._kept, self.power_ = Kept(), float("nan")
        elif not hasattr(self, "_whole"):  # it comes from a file
            self._whole, self._halves = _Learner(self.models_), []
            pairs = zip(self.statistics_, self.supports_, strict=True)
            self._whole.evidence = [Evidence(a, b) for a, b in pairs]
        self._whole.learn(self._parts(scores, y, weight, more), self.sources_, self.n_jobs)
        evidence = self._whole.evidence
        self.models_ = self._whole.models
        self.statistics_ = [one.statistics for one in evidence]
        self.supports_ = [one.support for one in evidence]
        self.support_ = self.supports_[0]
        self.measures_ = [model.measure_ for model in self.models_]
        self.measure_ = self.measures_[0]
        if self.calibrate and self._halves:
            self._calibrate(scores, y, weight, more)
        return self

    def _calibrate(self, scores, y, weight, more):
        """The power whose log-loss is least on each half by the measures of the other half."""
        odd = (np.arange(len(y)) + self._kept.n_seen) % 2 == 1
        place = np.searchsorted(np.sort(self.classes_), y)
        place = np.argsort(self.classes_, kind="stable")[place]
        self._kept.join(scores, place, weight)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                for learner, rows in zip(self._halves, (~odd, odd), strict=True):
                    parts = self._parts(scores[rows], y[rows], weight[rows], more)
                    learner.learn(parts, self.sources_, self.n_jobs)
        except (ChoquetError, ValueError):
            self._halves = []  # too few samples for halves: there is nothing to calibrate on
            return
        rows, place, weight, odd = self._kept.rows()
        fused = np.empty(rows.shape[:2])
        for learner, other in zip(self._halves, (odd, ~odd), strict=True):
            fused[other] = _fuse(learner.models, rows[other])
        self.power_ = best_power(fused, place, weight)

    def _given(self, X, y, classes):
        """Scores with names and labels, checked, from whatever was given."""
        known = getattr(self, "classes_", None) if classes is None else np.asarray(classes)
        if known is None and self.classes is not None:
            known = np.asarray(self.classes)
        names = getattr(self, "sources_", None) or self.sources
        if names is None and self.estimators is not None:
            names = [name for name, _ in self.estimators]
        if isinstance(X, ClassScores):
            given = X.ordered(known, names)
        elif hasattr(X, "columns") or isinstance(X, dict):
            roles = Roles(**(self.columns or {}))
            given = ClassScores.from_columns(X, roles, classes=known, sources=names)
        else:
            sources = None if names is None else len(names)
            scores = checked_scores(X, sources, gaps=self._gaps())
            labels = known if known is not None or y is None else classes_of(np.asarray(y))
            labels = np.arange(scores.shape[1]) if labels is None else labels
            names = tuple(map(str, names_or_numbers(names, scores.shape[2])))
            if scores.shape[1] != len(labels):
                raise DataError(
                    f"there are scores for {scores.shape[1]} classes, but {len(labels)} "
                    "classes; pass scores in the order of the sorted classes, or give classes="
                )
            given = ClassScores(scores, labels, names, np.arange(1, len(scores) + 1))
        if y is None:
            return given
        y = checked_labels(y, np.asarray(y))
        if y.shape != given.scores.shape[:1]:
            raise DataError(
                f"there are scores of {len(given.scores)} samples, and labels {y.shape}"
            )
        return given.labelled(y)

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

    def _parts(self, scores, y, weight, more):
        target = (y[:, None] == self.classes_).astype(np.float64)
        if self.shared:
            n_classes = scores.shape[1]
            flat = scores.reshape(-1, scores.shape[2])
            return [Batch(flat, target.ravel(), np.repeat(weight, n_classes), more)]
        return [Batch(scores[:, k], target[:, k], weight, more) for k in range(scores.shape[1])]

    def _model(self):
        model = ChoquetRegressor() if self.regressor is None else clone(self.regressor)
        if getattr(model, "loss", "squared") != "squared":
            raise OptionError("fusion learns from statistics: the regressor needs loss='squared'")
        if self._gaps():
            if "missing" not in model.get_params():
                raise OptionError(
                    f"a {type(model).__name__} takes no missing scores; use a ChoquetRegressor"
                )
            model.set_params(missing=self.missing)
        return model

    def _gaps(self):
        """Whether scores may be missing."""
        span_of(self.missing)
        return not (isinstance(self.missing, str) and self.missing == "error")

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
                for _, estimator in each("trying classifiers", self.estimators)
            ]  # fmt: skip
        jobs = (
            (clone(estimator), X, y, _weights(estimator, sample_weight))
            for _, estimator in self.estimators
        )
        self.estimators_ = run_jobs(_fitted, jobs, n_jobs=self.n_jobs, title="fitting classifiers")
        # A class of one sample cannot be left out and learned at once: its own scores must do.
        return np.stack(columns, axis=2) if columns else self._scores(X)

    def _scores(self, X):
        return np.stack([e.predict_proba(X) for e in self.estimators_], axis=2)

    def class_scores(self, X):
        """The scores of samples, with names, as `fuse` and the others see them.

        Parameters
        ----------
        X : array-like
            As in `fit`.

        Returns
        -------
        ClassScores
        """
        check_is_fitted(self, "measures_")
        if self.estimators is not None and not isinstance(X, ClassScores):
            X = self._scores(checked_inputs(self, X, dtype="numeric"))
        return self._given(X, None, None)

    def fuse(self, X):
        """Integral of the scores for each class: (n_samples, n_classes), not normalised.

        Parameters
        ----------
        X : array-like
            As in `fit`.
        """
        given = self.class_scores(X)
        return _fuse(self.models_, given.scores)

    def _proba(self, X):
        return probabilities(self.fuse(X), self.power_)

    # -- certainty ---------------------------------------------------------------------------------

    def support_share(self, X):
        """Share of the values behind the answer's fused score that data support.

        Parameters
        ----------
        X : array-like
            As in `fit`.

        Returns
        -------
        array of shape (n_samples,)
            1 where the scores for the answer rank in an order that was seen.
        """
        scores = self.class_scores(X).scores
        answer = probabilities(_fuse(self.models_, scores), self.power_).argmax(axis=1)
        rows = scores[np.arange(len(answer)), answer]
        found = np.empty(len(rows))
        for number, model in enumerate(self.models_):
            mine = np.ones(len(rows), dtype=bool) if len(self.models_) == 1 else answer == number
            if mine.any():
                found[mine] = model.support_share(rows[mine])
        return found

    def trust(self, X):
        """The same as `support_share`, by the name that contextual models have for it."""
        return self.support_share(X)

    def predict_interval(self, X, level=0.95):
        """Interval of the probability of the answer: where it lies with this confidence.

        Each class's score has an interval of its own; the ends are where the class does worst and
        the others best, or the other way round, so the interval is a cautious one.

        Parameters
        ----------
        X : array-like
            As in `fit`.
        level : float, default 0.95

        Returns
        -------
        array of shape (n_samples, 2)
        """
        return self._ends_of_answer(X, lambda model, rows: model.predict_interval(rows, level))

    def support_interval(self, X):
        """Bounds of the probability of the answer over all measures that agree with what was seen.

        Parameters
        ----------
        X : array-like
            As in `fit`.

        Returns
        -------
        array of shape (n_samples, 2)
            They say what unseen combinations leave open, not how often the answer is right.
        """
        return self._ends_of_answer(X, lambda model, rows: model.support_interval(rows))

    def _ends_of_answer(self, X, interval):
        """Ends of the probability of the answer from the intervals of the fused scores."""
        scores = self.class_scores(X).scores
        n_samples, n_classes, n_sources = scores.shape
        if len(self.models_) == 1:
            ends = interval(self.models_[0], scores.reshape(-1, n_sources))
            ends = ends.reshape(n_samples, n_classes, 2)
        else:
            each = [interval(model, scores[:, k]) for k, model in enumerate(self.models_)]
            ends = np.stack(each, axis=1)
        answer = _fuse(self.models_, scores).argmax(axis=1)
        at, found = np.arange(n_samples), []
        for end in (0, 1):
            # Lowest where the class has its lowest score and the others their highest.
            mixed = ends[:, :, 1 - end].copy()
            mixed[at, answer] = ends[at, answer, end]
            found.append(probabilities(mixed, self.power_)[at, answer])
        return np.column_stack(found)

    def explain(self, X):
        """Why each sample gets its class: how the scores for that class were fused.

        Parameters
        ----------
        X : array-like
            As in `fit`.

        Returns
        -------
        list of FusionExplanation
            Print ``.text()`` of one, or take its attributes.
        """
        from choquet.explanation import explain_fusion

        return explain_fusion(self, X)
