"""`ContextualClassifier`: contextual order statistics behind a logistic link."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from choquet.contexts.learn import learn
from choquet.decomposition.outcome import Outcome
from choquet.decomposition.trees import describe
from choquet.estimators.contextual import Contextual, refuse_categories
from choquet.estimators.methods import Scored
from choquet.estimators.validation import checked_classes, checked_weights, classes_of
from choquet.learning.leaf_log_odds import logistic_operators
from choquet.learning.logistic import sigmoid


class ContextualClassifier(Scored, Contextual):
    """Contextual order statistics behind a logistic link.

    The tree is grown on the squared error of the class (0 or 1), then the operators of its leaves
    are fitted to the log-odds, drawn to those of all rows together. Several classes are taken one
    against the rest, each with a tree of its own.

    Parameters
    ----------
    leaf : {"auto", "both", "rank", "source"}, default "auto"
        What an operator weighs: inputs by source, by rank, or both; see `ContextualRegressor`.
    max_leaves : int, default 16
    min_samples_leaf : float, optional
        Least number of rows in a leaf, counted by weight; 20, or 2 (N + 1) if that is more.
    l2 : float or "auto", default "auto"
        Penalty on the weights, in units of the data's spread; "auto" lets held-out rows choose.
    above : bool, default True
        Try "source i above source j" beside "source i among the top t".
    n_cuts : int, default 0
        Try "source i is at least c" as well, at so many thresholds c between its values.
    screen : int, default 16
        Up to so many sources every predicate is tried; see `ContextualRegressor`.
    prune : {"cv", "bic", "none"}, default "cv"
        How the price of a leaf is chosen.
    cv : int, splitter or iterable of (train, test), default 5
        Folds; of a given number, equal rows fall into the same one.
    merge : bool, default True
        Let leaves share an operator where the information criterion prefers it.
    n_jobs : int, optional
        Folds at a time, through joblib. The result is the same.
    random_state : int, RandomState or None, default 0
        Draws the folds.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    decompositions_ : list of TreeDecomposition
        One, for the log-odds of the second class; with more than two classes one for each.
    decomposition_, operators_, rules_
        Of the first of them.

    References
    ----------
    Landwehr, Hall & Frank (2005), "Logistic model trees".

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).random((300, 3))
    >>> score = np.where(X[:, 0] == X.max(axis=1), X.min(axis=1), X.max(axis=1))
    >>> model = ContextualClassifier(l2=0.1).fit(X, score > 0.5)
    >>> model.predict([[0.9, 0.4, 0.2], [0.2, 0.9, 0.4]])
    array([False,  True])
    """

    def __init__(
        self,
        *,
        leaf="auto",
        max_leaves=16,
        min_samples_leaf=None,
        l2="auto",
        above=True,
        n_cuts=0,
        screen=16,
        prune="cv",
        cv=5,
        merge=True,
        n_jobs=None,
        random_state=0,
    ):
        self.leaf = leaf
        self.max_leaves = max_leaves
        self.min_samples_leaf = min_samples_leaf
        self.l2 = l2
        self.above = above
        self.n_cuts = n_cuts
        self.screen = screen
        self.prune = prune
        self.cv = cv
        self.merge = merge
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _learn(self, X, y, sample_weight):
        refuse_categories(X)
        X, y = checked_classes(self, X, y)
        X, y, weight, folds = self._weighted(X, y, checked_weights(sample_weight, X))
        options = self._options()
        self.classes_ = classes_of(y)
        self.decompositions_ = []
        for outcome in self.outcomes_:
            target = (y == self.classes_[outcome.number]).astype(np.float64)
            found = self._against_rest(X, target, weight, options, folds)
            self.decompositions_.append(replace(found, outcome=outcome))

    @property
    def outcomes_(self):
        """What each of `decompositions_` gives: the log-odds of a class."""
        classes = tuple(self.classes_.tolist())
        numbers = [1] if len(classes) == 2 else range(len(classes))
        return [Outcome("log-odds", classes, number) for number in numbers]

    @property
    def decomposition_(self):
        """Of the log-odds of the second class; with more than two classes, of the first one."""
        return self.decompositions_[0]

    def _against_rest(self, X, target, weight, options, folds):
        found = learn(X, target, weight, options, folds)
        rows = replace(found.rows, target_centre=0.0, target_scale=1.0)
        operators = logistic_operators(rows, target, found.tree, found.grouping, found.l2)
        place = operators.labels[found.tree.leaf_of(rows.ranks, rows.values)]
        odds = np.einsum("ij,ij->i", rows.Z[:, :-1], operators.coefficients[place])
        learned = replace(found, rows=rows, grouping=operators)
        return describe(learned, self._names(), residual=target - sigmoid(odds))

    def _decisions(self, X):
        odds = self._log_odds(X)
        return odds[:, 0] if len(self.classes_) == 2 else odds

    def _log_odds(self, X):
        X = self._checked(X)
        return np.column_stack([model.predict(X) for model in self.decompositions_])

    def _proba(self, X):
        shares = sigmoid(self._log_odds(X))
        if len(self.classes_) == 2:
            return np.column_stack([1 - shares[:, 0], shares[:, 0]])
        shares = np.maximum(shares, 1e-300)
        return shares / shares.sum(axis=1, keepdims=True)

    def _answer(self, X):
        odds = self._log_odds(X)
        return (odds[:, 0] > 0).astype(int) if len(self.classes_) == 2 else odds.argmax(axis=1)

    def operator_of(self, X):
        """Number of the operator that decides each row, a column for each of `decompositions_`.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_sources)

        Returns
        -------
        array of ints of shape (n_samples, n_decompositions)
        """
        X = self._checked(X)
        return np.column_stack([model.operator_of(X) for model in self.decompositions_])
