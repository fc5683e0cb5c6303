"""`ChoquetAdditiveClassifier`: small Choquet integrals behind a logistic link."""

from __future__ import annotations

import numpy as np
from scipy.special import expit, ndtri, softmax

from choquet.additive.families import Logistic, Multinomial, Ordered
from choquet.additive.table import Memory
from choquet.certainty.levels import check_level
from choquet.decomposition.outcome import Outcome
from choquet.errors import OptionError
from choquet.estimators.additive.regressor import Additive
from choquet.estimators.methods import Scored
from choquet.estimators.validation import classes_of
from choquet.lattice.threads import one_blas_thread

_POINTS = 9
"""Scores in a band at which probabilities are looked at."""


class ChoquetAdditiveClassifier(Scored, Additive):
    """A sum of few small Choquet integrals for the odds of classes.

    Two classes have one score, the log-odds of the second. Several unordered classes have a score
    each, from the same terms, and probabilities by soft-max. Ordered classes have one score and
    thresholds between them (proportional odds), so that an effect moves all of them one way.

    Parameters
    ----------
    ordered : bool or sequence, default False
        Whether the classes are ordered: True for the order of their labels, or the classes from
        low to high.
    monotonic_cst : mapping or sequence, optional
        Direction of each source, 1 or -1, by name or position; for two classes or ordered ones.
    interaction_cst : "pairwise", "no_interactions" or sequence of groups, optional
        Sources that may stand in one term; see `ChoquetAdditiveRegressor`.
    curvature_cst : mapping, optional
        ``"convex"`` or ``"concave"`` utilities; for two classes or ordered ones.
    max_order : int, default 4
        Most sources of a term, at most 4.
    max_terms : int, optional
        Most terms, utilities included; see `ChoquetAdditiveRegressor`.
    n_knots : sequence of int, optional
        Most knots of a source by the order of the term; see `ChoquetAdditiveRegressor`.
    categories : "from_dtype" or mapping, default "from_dtype"
        Which columns hold categories; see `ChoquetAdditiveRegressor`.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    terms_ : tuple of FittedTerm
        The values of each have one row for each score.
    model_ : AdditiveModel
    n_numbers_, edf_, columns_
        As in `ChoquetAdditiveRegressor`.

    Notes
    -----
    Scores are averages over strengths of the penalties, with weights whose average predicts
    held-out rows, so that few data do not make probabilities extreme. With `monotonic_cst` or
    `curvature_cst` the best strengths are taken, and the shape is proved for them. ``moves_`` holds
    the held-out loss of all that were tried. Ordered classes also have ``thresholds_``, the
    n_classes - 1 scores between them.

    References
    ----------
    McCullagh (1980), "Regression models for ordinal data"; Yao, Vehtari, Simpson & Gelman (2018),
    "Using stacking to average Bayesian predictive distributions".

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).random((300, 3))
    >>> model = ChoquetAdditiveClassifier().fit(X, np.minimum(X[:, 1], X[:, 2]) > 0.3)
    >>> model.predict([[0.5, 0.2, 0.9], [0.5, 0.6, 0.9]])
    array([False,  True])
    """

    def __init__(
        self,
        *,
        ordered=False,
        monotonic_cst=None,
        interaction_cst=None,
        curvature_cst=None,
        max_order=4,
        max_terms=None,
        n_knots=None,
        categories="from_dtype",
    ):
        self.ordered = ordered
        self.monotonic_cst = monotonic_cst
        self.interaction_cst = interaction_cst
        self.curvature_cst = curvature_cst
        self.max_order = max_order
        self.max_terms = max_terms
        self.n_knots = n_knots
        self.categories = categories

    def _fit(self, X, y, weight):
        self.classes_ = self._ordered_classes(classes_of(y))
        place = {label: float(k) for k, label in enumerate(self.classes_.tolist())}
        coded = np.array([place[label] for label in y.tolist()])
        self._learn_table(Memory(X, coded, weight))

    def _ordered_classes(self, found):
        if isinstance(self.ordered, bool | np.bool_):
            return found
        given = np.asarray(list(self.ordered))
        if len(set(given.tolist())) != len(given) or set(given.tolist()) != set(found.tolist()):
            raise OptionError(
                f"ordered={self.ordered!r} must list each class once, from low to high; the "
                f"classes are {', '.join(map(str, found))}"
            )
        return given

    def _family(self):
        n_classes = len(self.classes_)
        if n_classes == 2:
            return Logistic()
        if self.ordered is False:
            if self.monotonic_cst is not None or self.curvature_cst is not None:
                raise OptionError(
                    f"monotonic_cst and curvature_cst need two classes, or ordered ones; there are "
                    f"{n_classes} without an order. Set ordered=True if they have one"
                )
            return Multinomial(n_classes)
        return Ordered(n_classes)

    @property
    def outcome_(self):
        """What the scores say of the classes."""
        classes = tuple(self.classes_.tolist())
        if hasattr(self, "thresholds_"):
            return Outcome("level", classes)
        return Outcome("log-odds", classes, 1 if len(classes) == 2 else 0, chosen=False)

    @one_blas_thread()
    def _learn_table(self, table):
        """Fit to rows whose classes are numbers from zero."""
        self._fit_table(table, self._family())
        self.__dict__.pop("thresholds_", None)
        if isinstance(self._family(), Ordered):
            self.thresholds_ = self.model_.fixed[0]
        return self

    def _decisions(self, X):
        rows = self._inputs(X)
        return self._outputs(self.model_.scores(rows))

    def _outputs(self, sums):
        score = self._with_fixed(sums)
        return score[0] if len(score) == 1 else score.T

    def _with_fixed(self, sums):
        """Scores of sums of terms; thresholds stand beside the score, not in it."""
        return sums if hasattr(self, "thresholds_") else sums + self.model_.fixed

    def _scores(self, X):
        return self._with_fixed(self.model_.scores(X))

    def _shares(self, score):
        """Probabilities of the classes at scores."""
        if hasattr(self, "thresholds_"):
            below = Ordered(len(self.classes_)).below(score[0], self.thresholds_)
            return np.maximum(np.diff(below, axis=1), 0.0)
        if len(score) == 1:
            second = expit(score[0])
            return np.column_stack([1 - second, second])
        return softmax(score.T, axis=1)

    def _proba(self, X):
        return self._shares(self._scores(self._inputs(X)))

    def _answer(self, X):
        if hasattr(self, "thresholds_"):
            # Half of the probability lies below a threshold where the score is at it.
            score = self._scores(self._inputs(X))[0]
            return np.searchsorted(self.thresholds_, score, side="left")
        return super()._answer(X)

    def predict_interval(self, X, level=0.95):
        """Band for the probability of each class; `predict_proba` lies inside.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_sources)
        level : float, default 0.95

        Returns
        -------
        array of shape (n_samples, n_classes, 2)
        """
        level = check_level(level)
        X = self._inputs(X)
        score = self._scores(X)
        error = np.sqrt(self.model_.score_variance(X))
        z = ndtri((1 + level) / 2) * np.linspace(-1, 1, _POINTS)
        found = []
        for k in range(len(score)):
            moved = np.repeat(score[None], _POINTS, axis=0)
            moved[:, k] += z[:, None] * error[k]
            shares = np.stack([self._shares(each) for each in moved])
            found.append(shares if len(score) == 1 else shares[:, :, k : k + 1])
        shares = np.concatenate(found, axis=2)
        return np.stack([shares.min(axis=0), shares.max(axis=0)], axis=2)
