"""`ChoquetAdditiveRegressor`: a sum of few small Choquet integrals on calibrated inputs."""

from __future__ import annotations

import warnings
from copy import copy
from dataclasses import replace
from typing import Any

import numpy as np

from choquet.additive.believe import believe
from choquet.additive.choose import LINKS, LinkChoice, choose_link, sample
from choquet.additive.contexts import AdditiveDecomposition, count_contexts
from choquet.additive.families import Squares
from choquet.additive.fit import Options, ground_of
from choquet.additive.link import link_of, polish, refined
from choquet.additive.model import model_of
from choquet.additive.noise import with_noise
from choquet.additive.search import grow
from choquet.additive.shape import constrain
from choquet.additive.table import Memory
from choquet.additive.temper import temper
from choquet.arrays import cells_of, column_names, refuse_labels
from choquet.certainty.levels import check_level, student_quantile
from choquet.errors import DataError, OptionError, SolverWarning
from choquet.estimators.additive.columns import by_column, columns_of, encode, position_of, unseen
from choquet.estimators.foundation import RegressorMixin, check_is_fitted, is_classifier, later
from choquet.estimators.methods import Learner, Predictor
from choquet.estimators.validation import (
    checked_classes,
    checked_inputs,
    checked_rows,
    checked_weights,
    in_our_words,
    names_given,
)
from choquet.frames import to_frame
from choquet.lattice.threads import one_blas_thread
from choquet.learning.data.scale import NO_WEIGHT, check_rows

_check_feature_names = later("sklearn.utils.validation", "_check_feature_names")


_KNOTS = (16, 8, 5, 4)
_FEW_KNOTS = (16, 4, 3, 3)
_COMPACT = 8
"""Terms up to which a model is to be read whole: it has only the knots that it needs."""


class Additive(Learner):
    """What both estimators share: columns, options, and what a fitted sum can tell."""

    def _learn(self, X, y, sample_weight):
        self._fit(*self._prepare(X, y, sample_weight, classes=is_classifier(self)))

    def _prepare(self, X, y, sample_weight, *, classes):
        """Rows of positive weight as numbers, what their columns hold, and their weights."""
        given, self.target_name_ = X, getattr(y, "name", None)
        refuse_labels(X)
        names = column_names(X)
        if names is None:
            shape = X.shape if hasattr(X, "shape") else in_our_words(np.asarray, X).shape
            names = [f"x{i}" for i in range(shape[1] if len(shape) == 2 else 0)]
        self.columns_ = in_our_words(columns_of, X, names, self.categories)
        encoded = in_our_words(encode, X, self.columns_)
        if classes:
            checks = {"ensure_min_samples": 2, "ensure_all_finite": "allow-nan"}
            X, y = checked_classes(self, encoded, y, **checks)
        else:
            X, y, _ = checked_rows(
                self, encoded, y, None, reset=True, gaps=True, ensure_min_samples=2
            )
        if hasattr(given, "columns"):
            in_our_words(_check_feature_names, self, given, reset=True)
        if sample_weight is not None and not np.any(np.asarray(sample_weight)):
            raise DataError(NO_WEIGHT)
        weight = checked_weights(sample_weight, X)
        weight = np.ones(len(X)) if weight is None else weight.astype(np.float64)
        kept = weight > 0
        X, y, weight = X[kept], y[kept], weight[kept]
        check_rows(X, None if classes else y, weight)
        # A weight says how many rows a row stands for; weights of less than one row on average
        # say nothing about how many rows there are.
        return X, y, weight * max(1.0, len(weight) / weight.sum())

    def _cells(self, X):
        """Columns in the order of the fit, as they were given."""
        check_is_fitted(self, "model_")
        refuse_labels(X)
        names = names_given(self)
        if names is not None and column_names(X) is not None:
            X = cells_of(X, names)
        elif hasattr(X, "columns") or hasattr(self, "feature_names_in_"):
            in_our_words(_check_feature_names, self, X, reset=False)
        return X

    def _inputs(self, X):
        X = self._cells(X)
        encoded = in_our_words(encode, X, self.columns_)
        return checked_inputs(self.nameless(), encoded, gaps=True)

    def _options(self):
        if not isinstance(self.max_order, int | np.integer) or not 1 <= self.max_order <= 4:
            raise OptionError(f"max_order={self.max_order!r} must be 1, 2, 3 or 4")
        if self.max_terms is not None and (
            not isinstance(self.max_terms, int | np.integer) or self.max_terms < 1
        ):
            raise OptionError(f"max_terms={self.max_terms!r} must be a positive number, or None")
        knots = self.n_knots
        few = knots is None and self.max_terms is not None and self.max_terms <= _COMPACT
        if knots is None:
            knots = _FEW_KNOTS if few else _KNOTS
        knots = tuple(knots)
        if len(knots) < self.max_order or any(
            not isinstance(k, int | np.integer) or not 2 <= k <= 64 for k in knots
        ):
            raise OptionError(
                f"n_knots={self.n_knots!r} must be whole numbers from 2 to 64, one for each order "
                f"up to max_order={self.max_order}"
            )
        return Options(
            max_order=int(self.max_order),
            max_terms=None if self.max_terms is None else int(self.max_terms),
            n_knots=tuple(int(k) for k in knots),
            groups=self._groups(),
            thin=bool(few),
        )

    def _groups(self):
        """Sets of sources that may be in one term, or None for any."""
        given, names = self.interaction_cst, [source.name for source in self.columns_]
        if given is None:
            return None
        if isinstance(given, str):
            if given == "no_interactions":
                return ()
            if given == "pairwise":
                n = range(len(names))
                return tuple(frozenset((i, j)) for i in n for j in n if i < j)
            raise OptionError(
                f"interaction_cst={given!r} is unknown; say 'pairwise', 'no_interactions', or "
                "list the groups of columns that may interact"
            )
        return tuple(
            frozenset(position_of("interaction_cst", key, names) for key in group)
            for group in given
        )

    def _shapes(self):
        """Directions and curvatures by source, checked."""
        names = [source.name for source in self.columns_]
        signs = by_column("monotonic_cst", self.monotonic_cst, names)
        for i, sign in signs.items():
            if sign not in (-1, 0, 1):
                raise OptionError(
                    f"monotonic_cst of {names[i]} is {sign!r}; it must be 1 (the output must not "
                    "fall), -1 (it must not rise) or 0"
                )
            self._has_order("monotonic_cst", i, sign != 0)
        known = {"convex": 1.0, "concave": -1.0}
        curvatures = by_column("curvature_cst", self.curvature_cst, names)
        for i, word in curvatures.items():
            if word not in (None, *known):
                raise OptionError(
                    f"curvature_cst of {names[i]} is {word!r}; it must be 'convex' or 'concave'"
                )
            self._has_order("curvature_cst", i, word is not None)
        return (
            {i: float(sign) for i, sign in signs.items() if sign},
            {i: known[word] for i, word in curvatures.items() if word is not None},
        )

    def _has_order(self, option, i, asked):
        if asked and self.columns_[i].kind == "nominal":
            raise OptionError(
                f"{option} names {self.columns_[i].name}, whose categories have no order; list its "
                "levels from low to high in categories, or leave it out"
            )

    def _fit_table(self, table, family, uncertain=False):
        """The whole procedure on rows whose targets are as the family takes them."""
        options, (signs, curvatures) = self._options(), self._shapes()
        if family.known_scale:  # the straight line of logistic regression is the simplest choice
            options = replace(options, ranks=0.0)
        ground = ground_of(table, self.columns_, options)
        bent, first = uncertain and not family.linear, getattr(family, "kappa", 0.0)
        if bent:
            family = refined(table, ground, family, options)
        fit = grow(table, ground, family, options)
        shaped = bool(signs or curvatures)
        self.moves_ = temper(fit, average=not shaped) if family.known_scale else {}
        if bent:
            polish(fit, first)
        free = not (shaped or family.known_scale or options.max_terms)
        self.believed_ = believe(fit) if free else 1.0
        link = link_of(fit) if uncertain else None
        self.__dict__.pop("proof_", None)
        if shaped:
            self.proof_ = constrain(fit, signs, curvatures)
        self.model_ = model_of(fit, link)
        self.contexts_ = count_contexts(self.model_, table)
        self.n_rows_ = ground.weight
        self.n_numbers_, self.edf_ = self.model_.n_numbers, self.model_.edf
        if not self.model_.settled:
            warnings.warn(
                "the strengths of the penalties did not all come to rest: the model may be "
                "smoother or rougher than the data ask for; try fewer terms or knots",
                SolverWarning,
                stacklevel=3,
            )

    def nameless(self):
        """The same model for rows whose columns are in order, but have no names.

        Returns
        -------
        Additive
            A copy that shares all that was learned.
        """
        found = copy(self)
        found.__dict__.pop("feature_names_in_", None)
        return found

    def unfitted(self):
        """The same options, for another fit to rows whose columns are in order, but have no names.

        Returns
        -------
        Additive
            Not fitted.
        """
        from sklearn.base import clone

        check_is_fitted(self, "model_")
        names = [column.name for column in self.columns_]
        found: dict[str, Any] = {
            option: by_column(option, getattr(self, option), names) or None
            for option in ("monotonic_cst", "curvature_cst")
        }
        groups = self.interaction_cst
        if groups is not None and not isinstance(groups, str):
            found["interaction_cst"] = [
                [position_of("interaction_cst", key, names) for key in group] for group in groups
            ]
        if any(column.kind != "number" for column in self.columns_):
            found["categories"] = {
                i: list(column.levels) if column.kind == "ordered" else column.kind
                for i, column in enumerate(self.columns_)
            }
        return clone(self).set_params(**found)

    @property
    def terms_(self):
        """The terms, largest share of the variance first."""
        check_is_fitted(self, "model_")
        return self.model_.terms

    @property
    def decomposition_(self):
        """The sum as operators with contexts; of the first score, where there are several."""
        return self.decomposition_of(0)

    def decomposition_of(self, score, against=None):
        """The sum of one score as operators with contexts.

        Parameters
        ----------
        score : int
            Number of the class, where each has a score; 0 otherwise.
        against : int, optional
            Number of the class whose score is taken away.

        Returns
        -------
        AdditiveDecomposition
        """
        check_is_fitted(self, "model_")
        return AdditiveDecomposition(
            self.model_, self._outputs, self.contexts_, score, against, **self._effects()
        )

    def _effects(self):
        """How effects are shown."""
        return {}

    @property
    def outcome_(self):
        """What the scores say of classes; None for numbers."""
        return None

    def rename(self, sources, target=None):
        """Give the columns of a fitted model names, and the target one.

        Parameters
        ----------
        sources : sequence of str
        target : str, optional

        Returns
        -------
        self
        """
        check_is_fitted(self, "model_")
        self.columns_ = tuple(
            replace(column, name=name) for column, name in zip(self.columns_, sources, strict=True)
        )
        self.model_ = self.model_.renamed(sources)
        self.feature_names_in_ = np.array(list(sources), dtype=object)
        self.target_name_ = target
        return self

    def explain(self, X):
        """Why each row gets its score: at most one sentence a term, largest effect first.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_sources)

        Returns
        -------
        list of RowExplanation
        """
        rows = self._inputs(X)
        return self.decomposition_.explain(rows, unseen(self._cells(X), self.columns_))

    def to_frame(self):
        """The terms as a pandas data frame, largest share of the variance first.

        Returns
        -------
        pandas.DataFrame
            Name, order, share of the variance, numbers, numbers decided by data, and trust.
        """
        terms = self.terms_
        columns = {
            "term": [term.name for term in terms],
            "order": [len(term.sources) for term in terms],
            "share": [term.share for term in terms],
            "numbers": [term.n_numbers for term in terms],
            "decided": [term.edf for term in terms],
            "trust": [term.trust for term in terms],
        }
        return to_frame(columns, "pandas")

    def trust(self, X):
        """Share of what the penalties leave open that data decided, for each row (1: all).

        Parameters
        ----------
        X : array-like of shape (n_samples, n_sources)

        Returns
        -------
        array of shape (n_samples,)
        """
        return self.model_.trust(self._inputs(X))

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


class ChoquetAdditiveRegressor(RegressorMixin, Predictor, Additive):
    """A sum of few small Choquet integrals on calibrated inputs.

    The score of a row is an intercept, a utility of each source, and a few terms of two to four
    sources. A utility is a broken line. A term has values on a coarse grid, and inside a cell of
    the grid it is the Choquet integral of the positions in the cell, so that for one cell and one
    order it is a linear order statistic. Strengths of the penalties come from restricted maximum
    likelihood, terms from a penalised score, and the link, one number, from held-out rows.

    Parameters
    ----------
    monotonic_cst : mapping or sequence, optional
        By name or position: 1 where the output must not fall with the source, -1 where it must
        not rise, 0 for no constraint.
    interaction_cst : "pairwise", "no_interactions" or sequence of groups, optional
        Groups of columns, by name or position; a term stays inside one group.
    curvature_cst : mapping, optional
        ``"convex"`` or ``"concave"`` utilities, by name or position.
    max_order : int, default 4
        Most sources of a term, at most 4.
    max_terms : int, optional
        Most terms, utilities included. Models of up to 8 terms have few knots, to be read whole.
    n_knots : sequence of int, optional
        Most knots of a source in a utility, a pair, a triple, ...; (16, 8, 5, 4) by default.
        Compact models have (16, 4, 3, 3), of which utilities keep those that they need.
    link : "auto", "add" or float, default "auto"
        ``"add"`` is 0: effects add up. With a number k other than 0 the output is
        (exp(k score) - 1) / k, in units of the standardised target: effects multiply (where
        k score is below -2 or above 2.5 it goes on as a straight line). ``"auto"`` chooses by
        held-out rows.
    categories : "from_dtype" or mapping, default "from_dtype"
        By name or position: ``"nominal"``, ``"number"``, or the levels of an ordered category
        from low to high. Categorical and text columns of a frame are recognised.

    Attributes
    ----------
    terms_ : tuple of FittedTerm
        Each with knots, values, standard errors, share of the variance, and trust.
    decomposition_ : AdditiveDecomposition
        Operators with contexts, which give the same predictions.
    model_ : AdditiveModel
    link_ : float
        Number of the link. The one that was chosen is moved to the most likely one near by.
    link_choice_ : LinkChoice
        The numbers that were tried, and how well each predicted.
    believed_ : float
        Share of the terms of several sources that held-out rows ask for; the rest is the fit by
        utilities alone. It is 1 for shapes and with `max_terms`.
    noise_ : float
        Standard deviation of the noise, in units of the target, as a mean over the rows.
    columns_ : tuple of Source
    n_numbers_ : int
    edf_ : float
        Numbers that data, not the penalties, decided.

    Notes
    -----
    Missing values are learned if they occur in training. A source that is missing only later is
    left out: its terms have mean zero, and `predict_interval` widens by their spread.

    A weight says how many rows a row stands for. Weights of less than one on average are scaled to
    one on average.

    References
    ----------
    Grabisch & Labreuche (2008), "Bipolarization of posets and natural interpolation", and Lovász
    (1983), "Submodular functions and convexity", for the interpolation; Wood (2011), "Fast stable
    restricted maximum likelihood", for the strengths.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).random((300, 3))
    >>> y = X[:, 0] + np.minimum(X[:, 1], X[:, 2])
    >>> model = ChoquetAdditiveRegressor(link="add").fit(X, y)
    >>> sorted(term.name for term in model.terms_)
    ['x0', 'x1', 'x1 × x2', 'x2']
    >>> model.predict([[0.5, 0.2, 0.9]]).round(1)
    array([0.7])
    """

    def __init__(
        self,
        *,
        monotonic_cst=None,
        interaction_cst=None,
        curvature_cst=None,
        max_order=4,
        max_terms=None,
        n_knots=None,
        link="auto",
        categories="from_dtype",
    ):
        self.monotonic_cst = monotonic_cst
        self.interaction_cst = interaction_cst
        self.curvature_cst = curvature_cst
        self.max_order = max_order
        self.max_terms = max_terms
        self.n_knots = n_knots
        self.link = link
        self.categories = categories

    def _fit(self, X, y, weight):
        centre = float(weight @ y / weight.sum())
        scale = float(np.sqrt(weight @ (y - centre) ** 2 / weight.sum()))
        if scale <= 1e-14 * max(abs(centre), 1e-300):
            scale = 1.0
        self._learn_table(Memory(X, (y - centre) / scale, weight), centre, scale)

    @one_blas_thread()
    def _learn_table(self, table, centre, scale):
        """Fit to rows whose targets are standardised."""
        options = self._options()
        self._shapes()  # before anything that takes time
        self.centre_, self.scale_ = centre, scale
        self.link_choice_ = self._choose(table, options)
        uncertain = bool(self.link_choice_.utilities)
        self._fit_table(table, Squares(self.link_choice_.kappa), uncertain)
        self.model_ = with_noise(self.model_, table, table.weight)
        self.link_ = self.model_.kappa
        self.noise_ = scale * float(np.sqrt(self.model_.variance))
        return self

    def _choose(self, table, options):
        if self.link == "auto":
            return choose_link(sample(table, table.weight), self.columns_, options, LINKS)
        if self.link == "add":
            return LinkChoice(0.0, {}, {})
        if isinstance(self.link, int | float | np.number) and -4 <= float(self.link) <= 4:
            return LinkChoice(float(self.link), {}, {})
        raise OptionError(f"link={self.link!r} must be 'auto', 'add', or a number from -4 to 4")

    def _effects(self):
        if self.link_ == 0:
            return {"unit": self.scale_}
        return {"kappa": self.link_, "origin": self.centre_ - self.scale_ / self.link_}

    def _outputs(self, sums):
        return self._output(sums[0] + self.model_.fixed[0, 0])

    def _output(self, score):
        return self.centre_ + self.scale_ * Squares(self.link_).mean(score)

    def _predict(self, X):
        X = self._inputs(X)
        return self._outputs(self.model_.scores(X))

    def predict_interval(self, X, level=0.95, noise=False):
        """Band for the mean of each row, or for new targets.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_sources)
        level : float, default 0.95
        noise : bool, default False
            Add the noise: the band is for a new target, not for the mean. It is even, or grows
            with the output in a straight line, whichever the training rows say.

        Returns
        -------
        array of shape (n_samples, 2)
        """
        level = check_level(level)
        X = self._inputs(X)
        score = self.model_.scores(X)[0] + self.model_.fixed[0, 0]
        error = np.sqrt(self.model_.score_variance(X)[0])
        z = student_quantile(level, max(self.n_rows_ - self.edf_, 1.0))
        if not noise:
            return np.sort(self._output(score[:, None] + z * error[:, None] * [-1, 1]), axis=1)
        slope = Squares(self.link_).slope(score)
        spread = self.noise_ * self.model_.noise_shape(Squares(self.link_).mean(score))
        half = z * np.sqrt((self.scale_ * slope * error) ** 2 + spread**2)
        return self._output(score)[:, None] + half[:, None] * [-1, 1]
