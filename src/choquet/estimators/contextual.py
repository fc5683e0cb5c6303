"""`ContextualRegressor`: operators and contexts straight from data.

It never touches the 2**N subsets of a measure, so a hundred sources are as welcome as five.
"""

from __future__ import annotations

from numbers import Integral

import numpy as np

from choquet.arrays import generator, refuse_labels
from choquet.contexts.learn import TreeOptions, learn
from choquet.contexts.pruning import content_folds
from choquet.contexts.rows import LEAVES
from choquet.decomposition.trees import describe
from choquet.errors import DataError, OptionError
from choquet.estimators.common import names_or_numbers, sources_of
from choquet.estimators.foundation import PoorScore, RegressorMixin, check_is_fitted, later
from choquet.estimators.methods import Explained, Learner, Predictor
from choquet.estimators.validation import checked_inputs, checked_rows
from choquet.lattice.ties import settled
from choquet.learning.data.scale import NO_WEIGHT, check_rows

check_cv = later("sklearn.model_selection", "check_cv")
check_random_state = later("sklearn.utils", "check_random_state")

_PENALTIES = (1e-3, 1.0, 10.0)
"""Penalties that held-out rows choose from."""


class Contextual(PoorScore, Explained, Learner):
    """What both share: validation, options, and the way to the leaves."""

    def _weighted(self, X, y, sample_weight):
        """Rows of positive weight, their weights, and their folds; what rounding parts is tied."""
        X = settled(X)
        weight = np.ones(len(X)) if sample_weight is None else sample_weight
        kept = slice(None) if sample_weight is None else weight > 0
        if not weight.any():
            raise DataError(NO_WEIGHT)
        check_rows(X[kept], y[kept] if y.dtype.kind == "f" else None, weight[kept])
        return X[kept], y[kept], weight[kept], self._folds(X, y, kept)

    def _folds(self, X, y, kept):
        """Fold of each row that is kept; None where no fold is asked for."""
        if self.prune != "cv":
            return None
        if isinstance(self.cv, Integral):
            if self.cv < 2:
                raise OptionError(f"cv={self.cv} must be at least 2; or prune='bic'")
            codes = np.unique(y[kept], return_inverse=True)[1].astype(np.float64)
            rng = generator(check_random_state(self.random_state))
            return content_folds(X[kept], codes, int(self.cv), rng)
        folds = np.full(len(X), -1)
        for number, (_, test) in enumerate(check_cv(self.cv, y).split(X, y)):
            folds[test] = number
        return folds[kept]

    def _options(self):
        wide = self.n_features_in_ > self.screen
        kinds = (self.leaf,) if self.leaf != "auto" else LEAVES[:2] if wide else LEAVES
        penalties = _PENALTIES if self.l2 == "auto" else (self.l2,)
        if self.prune != "cv":
            # No row is held out to choose by: the widest kind and the middle penalty are taken.
            kinds, penalties = kinds[-1:], (penalties[len(penalties) // 2],)
        return TreeOptions(
            kinds=kinds,
            l2s=penalties,
            convex=bool(getattr(self, "convex", False)),
            l1=getattr(self, "l1", 0.0),
            loss=getattr(self, "loss", "squared"),
            max_leaves=self.max_leaves,
            min_samples_leaf=self.min_samples_leaf,
            above=self.above,
            n_cuts=self.n_cuts,
            screen=self.screen,
            prune=self.prune,
            merge=self.merge,
            n_jobs=self.n_jobs,
        )

    def _names(self):
        return names_or_numbers(sources_of(self), self.n_features_in_)

    # Views of the decomposition: fitted and loaded models have them alike.

    @property
    def operators_(self):
        """Operators by decreasing share, each with its contexts and what supports it."""
        return self.decomposition_.operators

    @property
    def rules_(self):
        """The tree as rules."""
        return self.decomposition_.rules

    @property
    def n_leaves_(self):
        """Number of contexts."""
        return len(self.decomposition_.leaves)

    @property
    def n_operators_(self):
        """Number of operators, which contexts may share."""
        return self.decomposition_.n_operators

    def _checked(self, X):
        check_is_fitted(self)
        refuse_categories(X)
        return checked_inputs(self, X)


class ContextualRegressor(RegressorMixin, Predictor, Contextual):
    """A few operators by source and by rank, and the rules that choose between them.

    A tree splits on the ranks of the sources ("ir is among the top two", "ir is above emi"); each
    leaf is a regression on the inputs, by source, sorted by size, or both. The tree is grown
    best-first and cut back, and leaves that are alike share an operator.
    Put a `StandardScaler` before it where the sources have different units: ranks compare them.

    Parameters
    ----------
    leaf : {"auto", "both", "rank", "source"}, default "auto"
        What an operator weighs: inputs by source, by rank (sorted), or both. "auto" lets held-out
        rows choose, and takes the shorter where two do equally well.
    convex : bool, default False
        Weights of the leaves on the simplex without bias (fusion), or free with a bias.
    max_leaves : int, default 16
    min_samples_leaf : float, optional
        Least number of rows in a leaf, counted by weight; 20, or 2 (N + 1) if that is more.
    l1, l2 : float, or "auto" for l2
        Penalties on the weights, in units of the data's spread, so that they count as so many rows
        do. l2 draws a leaf to its parent's weights, the root to zero (to the mean if convex); l1,
        for free weights, sets some to zero. The search for splits leaves l1 aside. By default l2
        is chosen by held-out rows; it is 1 where prune holds none out.
    loss : {"squared", "huber"}, default "squared"
        "huber" lets rows with residuals beyond 1.345 robust standard deviations count less.
    above : bool, default True
        Try "source i above source j" beside "source i among the top t".
    n_cuts : int, default 0
        Try "source i is at least c" as well, at so many thresholds c between its values.
    screen : int, default 16
        Up to so many sources every predicate is tried. Beyond, a score test picks as many sources,
        and as many pairs of these, for which it is.
    prune : {"cv", "bic", "none"}, default "cv"
        How the price of a leaf is chosen: by cross-validation, or by the Bayesian information
        criterion, which needs no second growth.
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
    decomposition_ : TreeDecomposition
        With the names of a `ClusterDecomposition`: operators, rules, predict, operator_of.
    operators_ : tuple of LearnedOperator
        By decreasing share, each with weights by rank, bias, contexts and what supports it.
    rules_ : RuleList
    n_leaves_ : int
    n_operators_ : int
    l2_ : float
        The penalty that was taken.
    path_ : Path
        Subtrees of the grown tree, and the price of a leaf at which each is best.
    fold_errors_ : array or None
        Mean squared error of each on held-out rows, in units of the target's variance.

    References
    ----------
    Breiman, Friedman, Olshen & Stone (1984), "Classification and regression trees"; Quinlan (1992),
    "Learning with continuous classes", for regressions in leaves; Yager (1988), "On ordered
    weighted averaging aggregation operators in multicriteria decision making".

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).random((300, 3))
    >>> y = np.where(X[:, 0] == X.max(axis=1), np.median(X, axis=1), X.max(axis=1))
    >>> model = ContextualRegressor(convex=True, l2=0.0).fit(X, y)
    >>> model.rules_.text(["gpr", "ir", "emi"], [op.name for op in model.operators_])
    ['If gpr is the largest: median; otherwise: max.']
    >>> model.predict([[0.9, 0.4, 0.2]]).round(2)
    array([0.4])
    """

    def __init__(
        self,
        *,
        leaf="auto",
        convex=False,
        max_leaves=16,
        min_samples_leaf=None,
        l1=0.0,
        l2="auto",
        loss="squared",
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
        self.convex = convex
        self.max_leaves = max_leaves
        self.min_samples_leaf = min_samples_leaf
        self.l1 = l1
        self.l2 = l2
        self.loss = loss
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
        X, y, sample_weight = checked_rows(self, X, y, sample_weight, reset=True)
        X, y, weight, folds = self._weighted(X, y, sample_weight)
        found = learn(X, y.astype(np.float64), weight, self._options(), folds)
        self.decomposition_ = describe(found, self._names())
        self.l2_, self.path_, self.fold_errors_ = found.l2, found.path, found.fold_errors

    def _predict(self, X):
        X = self._checked(X)
        return self.decomposition_.predict(X)

    def apply(self, X):
        """Number of the leaf that each row falls into.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_sources)

        Returns
        -------
        array of ints of shape (n_samples,)
        """
        X = self._checked(X)
        return self.decomposition_.leaf_of(X)

    def operator_of(self, X):
        """Number, in `operators_`, of the operator that decides each row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_sources)

        Returns
        -------
        array of ints of shape (n_samples,)
        """
        X = self._checked(X)
        return self.decomposition_.operator_of(X)

    def trust(self, X):
        """Share of the deciding operator's weights that data, not the penalty, decided.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_sources)

        Returns
        -------
        array of shape (n_samples,)
        """
        X = self._checked(X)
        return self.decomposition_.trust(X)


def refuse_categories(X):
    """Raise for columns of a frame that are no numbers: ranks of categories mean nothing."""
    refuse_labels(X)
    dtypes = getattr(X, "dtypes", None)
    columns = getattr(X, "columns", None)
    if dtypes is None or columns is None:
        return
    wrong = [
        str(name)
        for name, dtype in zip(columns, dtypes, strict=True)
        if str(dtype).lower() in {"category", "categorical", "str", "string", "utf8"}
    ]
    if wrong:
        raise DataError(
            f"columns {', '.join(wrong)} hold categories, which have no rank among numbers; "
            "encode them as degrees on the scale of the other sources, or drop them"
        )
