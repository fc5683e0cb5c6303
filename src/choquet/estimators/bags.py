"""Multiple-instance learning: a label belongs to a bag of rows, and its largest output must fit."""

from __future__ import annotations

import numpy as np

from choquet.errors import DataError, OptionError
from choquet.estimators.common import names_or_numbers, sources_of
from choquet.estimators.foundation import (
    BaseEstimator,
    PoorScore,
    RegressorMixin,
    check_is_fitted,
)
from choquet.estimators.methods import Predictor
from choquet.estimators.regressor import ChoquetRegressor
from choquet.estimators.validation import checked_inputs, checked_rows


class MultipleInstanceRegressor(PoorScore, RegressorMixin, Predictor, BaseEstimator):
    """Choquet integral learned from labels of bags: the largest output in a bag is its output.

    Each round takes in every bag the row with the largest output as its witness, and learns from
    the witnesses alone, exactly. Rounds go on while the error of the bags falls. It is a heuristic:
    another choice of witnesses may do better.

    Parameters
    ----------
    max_iter : int, default 50
        Rounds at most.

    Attributes
    ----------
    measure_ : Measure or SupportedMeasure
    regressor_ : ChoquetRegressor
        Learned from the last witnesses.
    witnesses_ : array of shape (n_bags,)
        Row number of each, in the order of the sorted names of bags.
    errors_ : array
        Mean squared error of the bags after each round.
    n_iter_ : int
        Rounds that lowered the error.
    proved_ : bool
        True if every bag has one row, False otherwise.

    References
    ----------
    Du & Zare (2019), "Multiple instance Choquet integral classifier fusion and regression for
    remote sensing applications", IEEE Transactions on Geoscience and Remote Sensing 57.

    Examples
    --------
    Two rows a bag, of which the label speaks of the larger output.

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X, bags = rng.random((200, 3)), np.arange(200) // 2
    >>> label = np.median(X, axis=1).reshape(-1, 2).max(axis=1)[bags]
    >>> model = MultipleInstanceRegressor().fit(X, label, bags)
    >>> float(model.errors_[-1].round(6))
    0.0
    """

    def __init__(self, *, max_iter=50):
        self.max_iter = max_iter

    def fit(self, X, y, bags=None):
        """Learn from rows in bags.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_sources)
        y : array-like of shape (n_samples,)
            The label of the bag of each row.
        bags : array-like of shape (n_samples,), optional
            The name of the bag of each row; every row is a bag of its own by default.

        Returns
        -------
        self
        """
        X, y, _ = checked_rows(self, X, y, None, reset=True)
        if self.max_iter < 1:
            raise OptionError(f"max_iter={self.max_iter} must be at least 1")
        names = np.arange(len(y)) if bags is None else np.asarray(bags)
        if names.shape != y.shape:
            raise DataError(f"bags must name one bag for each of {len(y)} rows, not {names.shape}")
        _, place = np.unique(names, return_inverse=True)
        place = place.ravel()
        labels = np.full(place.max() + 1, np.nan)
        labels[place] = y
        if (labels[place] != y).any():
            row = int(np.flatnonzero(labels[place] != y)[0])
            raise DataError(f"bag {names[row]!r} has several labels; a bag has one")
        best, errors = np.inf, []
        # The first witness is the row with the largest mean, whose output no measure can ignore.
        witnesses = _largest(X.mean(axis=1), place)
        for _ in range(self.max_iter):
            model = ChoquetRegressor().fit(X[witnesses], labels)
            outputs = model.predict(X)
            chosen = _largest(outputs, place)
            error = float(((outputs[chosen] - labels) ** 2).mean())
            if error >= best:
                break
            best = error
            errors.append(error)
            self.regressor_, self.witnesses_ = model, chosen
            if np.array_equal(chosen, witnesses):
                break
            witnesses = chosen
        self.errors_, self.n_iter_ = np.array(errors), len(errors)
        columns = names_or_numbers(sources_of(self), X.shape[1])
        self.measure_ = self.regressor_.measure_ = self.regressor_.measure_.renamed(columns)
        self.support_ = self.regressor_.support_
        self.proved_ = bool(len(labels) == len(y))
        return self

    def _checked(self, X):
        check_is_fitted(self, "measure_")
        return checked_inputs(self, X)

    def _predict(self, X):
        rows = self._checked(X)
        return self.regressor_.predict(rows)

    def support_interval(self, X):
        """Tight bounds of each output over all fillings of the subsets that no witness supports.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_sources)

        Returns
        -------
        array of shape (n_samples, 2)
        """
        rows = self._checked(X)
        return self.regressor_.support_interval(rows)

    def explain(self, X):
        """Why each row gets its output: the operator that decides, contributions, support.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_sources)

        Returns
        -------
        list of SampleExplanation
        """
        rows = self._checked(X)
        return self.regressor_.explain(rows)

    def predict_bags(self, X, bags):
        """Output of each bag: the largest of its rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_sources)
        bags : array-like of shape (n_samples,)

        Returns
        -------
        array of shape (n_bags,)
            In the order of the sorted names of bags.
        """
        outputs = self.predict(X)
        names = np.asarray(bags)
        if names.shape != outputs.shape:
            raise DataError(f"bags must name one bag for each of {len(outputs)} rows")
        _, place = np.unique(names, return_inverse=True)
        return outputs[_largest(outputs, place.ravel())]


def _largest(values, place):
    """Row number of the largest value in each bag, the first among equals."""
    order = np.lexsort((np.arange(len(values)), -values, place))
    _, first = np.unique(place[order], return_index=True)
    return order[first]
