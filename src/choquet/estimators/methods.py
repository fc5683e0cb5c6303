"""Public methods that several estimators share: they say what goes in and what comes out.

The classes fill in the hooks below them.
"""

from __future__ import annotations

from typing import Any

from choquet.estimators.foundation import BaseEstimator, ClassifierMixin


class Learner(BaseEstimator):
    """An estimator that learns from rows with weights; subclasses define `_learn`."""

    def fit(self, X, y, sample_weight=None):
        """Learn from samples by sources.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_sources)
            Additive models take NaN, where a value is missing, and categories of a frame.
        y : array-like of shape (n_samples,)
            Numbers, or classes of a classifier.
        sample_weight : array-like of shape (n_samples,), optional

        Returns
        -------
        self
        """
        self._learn(X, y, sample_weight)
        return self


class Predictor:
    """An estimator with one answer for each row; subclasses define `_predict`."""

    _predict: Any

    def predict(self, X):
        """Output of each row, or its class.

        A measure gives the integral of the row, a contextual model the output of the operator that
        decides it. A model with units answers in those of the target.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_sources)

        Returns
        -------
        array of shape (n_samples,)
        """
        return self._predict(X)


class Explained:
    """An estimator that says why; subclasses define `_checked`, which gives rows as numbers."""

    _checked: Any

    def explain(self, X):
        """Why each row gets its output: the operator that decides, contributions, support.

        Contextual models also say which rule led there, and what would switch it.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_sources)

        Returns
        -------
        list of SampleExplanation
            Print ``.text()`` of one, or take its attributes.
        """
        from choquet.explanation import explain_samples

        return explain_samples(self, self._checked(X))


class Probable(ClassifierMixin):
    """A classifier by probabilities; subclasses define `_proba`."""

    def predict_proba(self, X):
        """Probability of each class.

        Parameters
        ----------
        X : array-like or frame
            As in `fit`.

        Returns
        -------
        array of shape (n_samples, n_classes)
        """
        return self._proba(X)

    def predict(self, X):
        """Class of each row: the most probable one.

        Additive models of ordered classes give the median, which errs by least.

        Parameters
        ----------
        X : array-like or frame
            As in `fit`.

        Returns
        -------
        array of shape (n_samples,)
        """
        answer = self._answer(X)
        return self.classes_[answer]

    def _answer(self, X):
        """Number of the class of each row."""
        return self._proba(X).argmax(axis=1)


class Scored(Probable):
    """One whose probabilities come from scores; subclasses define `_decisions`."""

    def decision_function(self, X):
        """Log-odds of the second of two classes; a score of each class, where there are several.

        Ordered classes have a log-probability each; in additive models they have one score, which
        is compared with `thresholds_`.

        Parameters
        ----------
        X : array-like or frame
            As in `fit`.

        Returns
        -------
        array of shape (n_samples,) or (n_samples, n_classes)
        """
        return self._decisions(X)
