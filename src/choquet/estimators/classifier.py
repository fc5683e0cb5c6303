"""`ChoquetClassifier`: choquistic regression for two, several or ordered classes."""

from __future__ import annotations

import warnings
from functools import partial

import numpy as np

from choquet.decomposition.outcome import Outcome
from choquet.errors import DataError, SupportWarning
from choquet.estimators.common import integrate, names_or_numbers, sources_of
from choquet.estimators.foundation import PoorScore, check_is_fitted
from choquet.estimators.methods import Learner, Scored
from choquet.estimators.validation import (
    checked_classes,
    checked_inputs,
    checked_weights,
    classes_of,
)
from choquet.jobs import run_jobs
from choquet.lattice.ties import settled
from choquet.learning.data.scale import ALL_TIED
from choquet.learning.fill import fill_unsupported
from choquet.learning.logistic import fit_logistic, sigmoid
from choquet.learning.problem import MAX_LATTICE_SOURCES
from choquet.measures import Measure, SupportedMeasure
from choquet.measures.sparse import SparseMeasure
from choquet.walks import DataSupport

MAX_NEWTON_SOURCES = 7
"""Up to here Newton steps solve for all subsets; beyond, for the supported ones alone."""

NO_RELATION = 1e-6
"""Log-odds that differ by less over the whole range of the inputs are rounding, not learned."""


class ChoquetClassifier(PoorScore, Scored, Learner):
    """Classifier that turns a Choquet integral into the probability of each class.

    P(positive) = sigmoid(γ · C_g(x) + intercept), with g monotone and normal and γ ≥ 0: more of
    any source never makes the positive class less likely. Several classes are taken one against
    the rest; ordered ones share the measure and differ in the threshold. Where no source makes the
    positive class more likely, γ is 0: every row gets the share of the class, with a warning.

    Parameters
    ----------
    alpha : float, default 0.01
        Weight of γ² / 2.
    monotone : bool, default True
    ordinal : bool, default False
        Take the classes, in sorted order, as levels.
    max_iter : int, default 50
        Newton steps.
    n_jobs : int, optional
        Classes at a time, through joblib.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    measures_ : list of Measure
        One; with more than two unordered classes one for each.
    measure_ : Measure
        The first of them.
    scales_ : array
        γ of each measure.
    intercepts_ : array
        One for each measure, or for each threshold.
    support_ : DataSupport
    n_iter_ : int

    References
    ----------
    Tehrani, Cheng, Dembczyński & Hüllermeier (2012), "Learning monotone nonlinear models using the
    Choquet integral"; Tehrani & Hüllermeier (2013), "Ordinal choquistic regression".

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).random((200, 2))
    >>> model = ChoquetClassifier().fit(X, X.min(axis=1) > 0.3)
    >>> model.predict([[0.9, 0.1], [0.6, 0.7]])
    array([False,  True])
    """

    def __init__(self, *, alpha=0.01, monotone=True, ordinal=False, max_iter=50, n_jobs=None):
        self.alpha = alpha
        self.monotone = monotone
        self.ordinal = ordinal
        self.max_iter = max_iter
        self.n_jobs = n_jobs

    def _learn(self, X, y, sample_weight):
        X, y = checked_classes(self, X, y)
        sample_weight = checked_weights(sample_weight, X)
        if sample_weight is not None and not (sample_weight > 0).any():
            raise DataError("sample_weight is zero in every row: nothing to learn from")
        kept = slice(None) if sample_weight is None else sample_weight > 0
        self.classes_ = classes_of(y[kept])
        X, y = settled(X[kept]), y[kept]
        if X.shape[1] > 1 and (X[:, :1] == X).all():
            raise DataError(ALL_TIED)
        weight = None if sample_weight is None else sample_weight[kept]
        self.support_ = DataSupport.from_data(X, sample_weight=weight)
        options = {
            "alpha": self.alpha,
            "monotone": self.monotone,
            "dense": X.shape[1] <= MAX_NEWTON_SOURCES,
            "max_iterations": self.max_iter,
        }
        found = self._fit_all(X, np.searchsorted(self.classes_, y), weight, options)
        self.n_iter_ = max(one.iterations for one in found)
        self.scales_ = np.array([one.values[-1] for one in found])
        self.intercepts_ = np.concatenate([one.intercepts for one in found])
        falls = ~(self.scales_ * float(np.ptp(X)) > NO_RELATION)
        if self.monotone:
            self.scales_[falls] = 0.0  # what rounding left of them would order the rows at random
        self.measures_ = [self._measure(*one) for one in zip(found, falls, strict=True)]
        self.measure_ = self.measures_[0]
        if self.monotone and falls.any():
            self._warn_of([self.outcomes_[k] for k in np.flatnonzero(falls)])

    def _fit_all(self, X, level, weight, options):
        n_classes = len(self.classes_)
        if self._ordered:
            above = level[:, None] > np.arange(n_classes - 1)
            return [fit_logistic(X, above.astype(float), weight, **options)]
        targets = [1] if n_classes == 2 else range(n_classes)
        jobs = [(X, (level == k).astype(float)[:, None], weight) for k in targets]
        return run_jobs(
            partial(fit_logistic, **options), jobs, n_jobs=self.n_jobs, title="fitting classes"
        )

    @property
    def _ordered(self):
        return self.ordinal and len(self.classes_) > 2

    @property
    def outcomes_(self):
        """What the integral of each of `measures_` says of a class."""
        classes = tuple(self.classes_.tolist())
        if self._ordered:
            return [Outcome("level", classes)]
        numbers = [1] if len(classes) == 2 else range(len(classes))
        # A measure that need not be normal holds the slope itself.
        slopes = self.scales_ if self.monotone else np.ones(len(numbers))
        links = zip(numbers, slopes.tolist(), self.intercepts_.tolist(), strict=True)
        return [Outcome("integral", classes, *link) for link in links]

    def _warn_of(self, outcomes):
        """Say which classes no measure can tell from the rest, and what else would."""
        labels = [repr(one.classes[one.number]) for one in outcomes if one.number is not None]
        several = len(labels) > 1
        what = f"class{'es' if several else ''} {', '.join(labels)}" if labels else "the classes"
        rest = ", taken against the rest," if labels and len(self.classes_) > 2 else ""
        before = " of it, before those of all classes are divided by their sum" if rest else ""
        levels = ", or ordinal=True if the classes are ordered" if rest else ""
        warnings.warn(
            f"{what}{rest} {'do' if several or not labels else 'does'} not rise with any source, "
            f"so every row gets the same probability{before}, and the plain mean is given as the "
            f"measure; turn sources round (1 - x), or pass monotone=False{levels}",
            SupportWarning,
            stacklevel=4,
        )

    def _measure(self, found, falls):
        n_sources = self.n_features_in_
        names = names_or_numbers(sources_of(self), n_sources)
        dense = n_sources <= MAX_LATTICE_SOURCES
        if not self.monotone:
            if not dense:
                return SparseMeasure(found.masks, found.values, names)
            values = np.zeros(1 << n_sources)
            values[found.masks[:, 0].astype(np.int64)] = found.values
            return Measure(values, names, monotone=False, normal=False)
        if falls:
            values = np.bitwise_count(found.masks).sum(axis=1) / n_sources
        else:
            values = np.minimum(found.values / found.values[-1], 1.0)
        if not dense:
            return SupportedMeasure(found.masks[:-1], values[:-1], names)
        full = np.zeros(1 << n_sources)
        full[found.masks[:, 0].astype(np.int64)] = values
        full[0], full[-1] = 0.0, 1.0
        return Measure(fill_unsupported(full, self.support_.supported), names)

    def _decisions(self, X):
        check_is_fitted(self, "measure_")
        if self._ordered:
            return np.log(np.maximum(self._proba(X), 1e-300))
        odds = self._log_odds(X)
        return odds[:, 0] if len(self.classes_) == 2 else odds

    def _log_odds(self, X):
        check_is_fitted(self, "measure_")
        X = checked_inputs(self, X)
        scales = self.scales_ if self.monotone else np.ones(len(self.measures_))
        integrals = [integrate(measure, X, "midpoint") for measure in self.measures_]
        return np.column_stack(integrals) * scales + self.intercepts_

    def _proba(self, X):
        above = sigmoid(self._log_odds(X))
        if len(self.classes_) == 2:
            return np.column_stack([1 - above[:, 0], above[:, 0]])
        if self.ordinal:
            edges = np.column_stack([np.ones(len(above)), above, np.zeros(len(above))])
            shares = np.maximum(-np.diff(edges, axis=1), 0.0)
        else:
            shares = np.maximum(above, 1e-300)
        return shares / shares.sum(axis=1, keepdims=True)
