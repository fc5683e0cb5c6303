"""`Commensurate`: columns to one scale and one direction; `InUnits`: a model with its scales."""

from __future__ import annotations

import warnings
from collections.abc import Mapping

import numpy as np

from choquet.arrays import as_inputs, check_option
from choquet.errors import OptionError
from choquet.estimators.foundation import (
    BaseEstimator,
    OneToOneFeatureMixin,
    TransformerMixin,
    available_if,
    check_is_fitted,
    is_classifier,
    later,
)
from choquet.estimators.methods import Explained, Learner, Predictor
from choquet.estimators.validation import (
    checked_classes,
    checked_inputs,
    checked_rows,
    checked_weights,
)
from choquet.scales import IDENTITY, Units, fit_scale
from choquet.scales.directions import choose_directions
from choquet.scales.scale import Scale, fit_scales
from choquet.scales.units import with_names

_check_feature_names_in = later("sklearn.utils.validation", "_check_feature_names_in")
accuracy_score = later("sklearn.metrics", "accuracy_score")
clone = later("sklearn.base", "clone")
get_tags = later("sklearn.utils", "get_tags")
r2_score = later("sklearn.metrics", "r2_score")


class Commensurate(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Map columns to [0, 1], all pointing the same way, so that an integral can compare them.

    Parameters
    ----------
    directions : {"higher", "lower", "auto"} or dict, default "higher"
        Whether more or less of a column is better. One direction is for all columns; a dict has one
        for each column, by its name in a frame or its position. "auto" takes the direction from the
        rank correlation with y, and from what fits better beside the other columns. A number is a
        peak: the nearer to it, the better. Columns that a dict does not name are "higher".
    method : {"minmax", "common", "quantiles", "standard", "none"} or dict, default "minmax"
        "minmax" maps the range of the data to [0, 1], "common" the range of all columns that have
        it, which are in one unit, "quantiles" maps a number to the share of the data below it,
        "standard" gives mean 0 and standard deviation 1, "none" changes nothing. A dict has one for
        each column. There, pairs such as ``[(10, 1.0), (50, 0.0)]`` are points of your own: a
        number in the data, and its place between 0 and 1. Columns that a dict does not name are
        "minmax".
    clip : bool, default False
        Whether numbers beyond the range of the data are moved to its end. Otherwise the scale goes
        on. Scales from points of your own always end.

    Attributes
    ----------
    scales_ : tuple of Scale
        One for each column.
    directions_ : dict
        The direction of each column by name (by "x0", "x1" and so on without names).
    note_ : str or None
        What "auto" chose, in sentences; None if it turned nothing round.

    Examples
    --------
    >>> from choquet import Commensurate
    >>> X = [[10.0, 3.0], [20.0, 5.0], [50.0, 4.0]]
    >>> Commensurate(directions={0: "lower"}).fit_transform(X) + 0.0
    array([[1.  , 0.  ],
           [0.75, 1.  ],
           [0.  , 0.5 ]])
    >>> Commensurate(directions="auto").fit(X, [0.9, 0.8, 0.1]).directions_
    {'x0': 'higher', 'x1': 'higher'}
    """

    def __init__(self, *, directions="higher", method="minmax", clip=False):
        self.directions = directions
        self.method = method
        self.clip = clip

    def fit(self, X, y=None, sample_weight=None):
        """Find the scale of each column.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_columns)
        y : array-like of shape (n_samples,), optional
            The target, numbers or classes, for directions that are "auto".
        sample_weight : array-like of shape (n_samples,), optional
            Rows of weight 0 are left out; others count so much in quantiles and directions.

        Returns
        -------
        self
        """
        X = checked_inputs(self, X, reset=True)
        sample_weight = checked_weights(sample_weight, X)
        given = self._by_column(self.directions, "higher", "directions")
        methods, names = self._by_column(self.method, "minmax", "method"), self._names()
        directions, self.note_ = choose_directions(given, X, y, sample_weight, names)
        self.scales_ = fit_scales(
            X, directions, methods, names=names, clip=self.clip, weight=sample_weight
        )
        self.directions_ = self._directions()
        return self

    def _names(self):
        return [str(name) for name in _check_feature_names_in(self)]

    def _directions(self):
        pairs = zip(self._names(), self.scales_, strict=True)
        return {name: scale.direction for name, scale in pairs}

    def _by_column(self, given, default, what):
        """One entry for each column from what may be one for all, or a dict."""
        n = self.n_features_in_
        if not isinstance(given, Mapping):
            return [given] * n
        names = {name: k for k, name in enumerate(self._names())}
        found = [default] * n
        for key, value in given.items():
            place = names.get(key, key) if isinstance(key, str) else key
            if isinstance(place, bool) or not isinstance(place, int | np.integer) or place >= n:
                raise OptionError(
                    f"{what}: there is no column {key!r}; the columns are {', '.join(names)}"
                )
            found[place] = value
        return found

    @classmethod
    def from_scales(cls, scales, names=None, **options):
        """A fitted transformer from scales that are known.

        Parameters
        ----------
        scales : sequence of Scale
        names : sequence of str, optional
        **options
            Of the transformer.

        Returns
        -------
        Commensurate
        """
        made = cls(**options)
        made.scales_, made.n_features_in_, made.note_ = tuple(scales), len(scales), None
        if names is not None:
            made.feature_names_in_ = np.array(names, dtype=object)
        made.directions_ = made._directions()
        return made

    def transform(self, X):
        """Columns on the common scale.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_columns)

        Returns
        -------
        array of shape (n_samples, n_columns)
        """
        check_is_fitted(self)
        return Units(self.scales_).scaled(checked_inputs(self, X))

    def inverse_transform(self, X):
        """Columns in the units of the data; before the peak, where a column has one.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_columns)

        Returns
        -------
        array of shape (n_samples, n_columns)
        """
        check_is_fitted(self)
        names = getattr(self, "feature_names_in_", None)
        rows = as_inputs(X, self.n_features_in_, sources=None if names is None else names.tolist())
        return Units(self.scales_).inputs(rows)


TARGETS = ("fitted", "minmax", "standard", "none")
"""How the scale of a target is found."""
ROWS, FAR = 3, 2.0
"""Rows for each source, and for one more, from which on the ends of a target are learned, and how
many ranges beyond it they may lie. With two rows they were up to 150 ranges away, of seven sources;
with three, two at most (minima, maxima, means and medians of 3, 5, 7 and 9 sources)."""
CONSTANT = 1e-9
"""How far answers may be from a target that is always the same, as a share of it."""
FLAT, SAME = 1e-3, 1e-6
"""Shares of the target's range: what the ends of its scale are apart, at least, and how far they
are off by the tolerance of the solver alone."""


def fit_target(X, y, weight=None):
    """The scale of a target, learned with a measure: what outputs are if all inputs are 0, or 1.

    The least and the largest target are where noise is largest, and seldom where all inputs are at
    their ends. So the ends are those of the monotone measure, with an intercept, that fits best.
    For minima and maxima that was better than additive and 2-additive measures from 8 rows of three
    and four sources on, and of 10 sources by far; for means, and for medians of a few rows, an
    additive one was better, by up to a quarter of the error. All were
    better than the least and the largest there, but for additive ones of minima and maxima. With
    fewer than three rows for each source and one more, the ends can come out anywhere, so they are
    the least and the largest. Where no source rises with the target, both are next to its mean.

    Parameters
    ----------
    X : array of shape (n_samples, n_sources)
        Inputs on the common scale; rows that lack a value are left out.
    y : array of shape (n_samples,)
    weight : array of shape (n_samples,), optional

    Returns
    -------
    Scale

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).random((60, 3))
    >>> [round(end, 3) for end in fit_target(X, 20 + 5 * np.median(X, axis=1)).ends]
    [20.0, 25.0]
    """
    from choquet.estimators.regressor import ChoquetRegressor

    counted = y if weight is None else y[weight > 0]
    if len(counted) and (counted == counted[0]).all():
        return _next_to(float(counted[0]))
    usual = fit_scale(y, weight=weight, name="the target")
    whole = ~np.isnan(X).any(axis=1)
    whole &= True if weight is None else weight > 0
    n = X.shape[1]
    if whole.sum() < ROWS * (n + 1) or (y[whole] == y[whole][:1]).all():
        return usual
    judge = ChoquetRegressor(normal=False, fit_intercept=True)
    given = None if weight is None else weight[whole]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        judge.fit(X[whole], usual(y[whole]), given)
    ends = judge.predict(np.stack([np.zeros(n), np.ones(n)]))
    low, high = np.clip(ends, -FAR, 1 + FAR)
    if not high - low > FLAT:
        middle = float(np.average(usual(y[whole]), weights=given))
        low, high = middle - FLAT / 2, middle + FLAT / 2
    elif max(abs(low), abs(high - 1)) < SAME:
        return usual
    return Scale(usual.inverse([low, high]), np.array([0.0, 1.0]))


def _next_to(constant):
    """The scale of a target that is always the same: whatever is learned, that is the answer."""
    half = CONSTANT * (abs(constant) or 1.0)
    return Scale(np.array([constant - half, constant + half]), np.array([0.0, 1.0]))


def _inner_has(name):
    """Whether the estimator inside has a method: the fitted one, or that to be fitted."""

    def check(self):
        getattr(getattr(self, "estimator_", None) or self._made(), name)
        return True

    return available_if(check)


class InUnits(Predictor, Explained, Learner):
    """An estimator with the scales of its columns and its target; it predicts in their units.

    Columns are put on one scale before (`Commensurate`), outputs back into the units of the target
    after. It is what ``choquet fit`` writes.

    Parameters
    ----------
    estimator : estimator, optional
        What learns; a `ChoquetRegressor` by default.
    scale : Commensurate, optional
        The scales of the columns; ``Commensurate(directions="auto")`` by default.
    target : {"fitted", "minmax", "standard", "none"}, default "fitted"
        The scale of a numeric target; classes have none. "fitted" learns its ends with a measure
        (see `fit_target`); the others take them from the target alone, "minmax" from its least and
        largest number, which noise decides.

    Attributes
    ----------
    estimator_ : estimator
        Fitted on the common scale.
    scale_ : Commensurate
        Fitted; its ``note_`` says which columns were turned round.
    units_ : Units
        All scales, the target's too.
    target_name_ : str or None
        Name of the target, where y had one.

    Examples
    --------
    >>> import numpy as np
    >>> from choquet import InUnits
    >>> X = np.random.default_rng(0).random((40, 2)) * [10, 300]
    >>> y = 5 + np.minimum(X[:, 0] / 10, 1 - X[:, 1] / 300)
    >>> model = InUnits().fit(X, y)
    >>> model.scale_.directions_
    {'x0': 'higher', 'x1': 'lower'}
    >>> model.predict([[5.0, 30.0]]).round(1)
    array([5.5])
    """

    def __init__(self, estimator=None, *, scale=None, target="fitted"):
        self.estimator = estimator
        self.scale = scale
        self.target = target

    def _made(self):
        from choquet.estimators.regressor import ChoquetRegressor

        return ChoquetRegressor() if self.estimator is None else self.estimator

    def _learn(self, X, y, sample_weight):
        check_option("target", self.target, TARGETS)
        estimator, name = clone(self._made()), getattr(y, "name", None)
        classify = is_classifier(estimator)
        if classify:
            X, y = checked_classes(self, X, y, ensure_min_samples=2)
            sample_weight = checked_weights(sample_weight, X)
        else:
            X, y, sample_weight = checked_rows(
                self, X, y, sample_weight, reset=True, ensure_min_samples=2
            )
        made = Commensurate(directions="auto") if self.scale is None else clone(self.scale)
        given = {} if sample_weight is None else {"sample_weight": sample_weight}
        made.fit(with_names(self, X), y, **given)
        scale, scaled = IDENTITY, Units(made.scales_).scaled(X)
        self._mark(estimator)
        if not classify and self.target == "fitted":
            scale = fit_target(scaled, y.astype(np.float64), sample_weight)
        elif not classify:
            scale = fit_scale(
                y.astype(np.float64), method=self.target, weight=sample_weight, name="the target"
            )
        estimator.fit(scaled, y if classify else scale(y), **given)
        return self._set(estimator, made, scale, name)

    def _mark(self, estimator):
        """Let an estimator know that the scale of its target is learned from the same rows."""
        if self.target == "fitted" and hasattr(estimator, "free_target_"):
            estimator.free_target_ = True

    def _set(self, estimator, scale, target, name):
        self._mark(estimator)
        self.estimator_, self.scale_ = estimator, scale
        self.target_name_ = None if name is None else str(name)
        self.units_ = Units(scale.scales_, target, self.target_name_ or "the output")
        return self

    @classmethod
    def from_parts(
        cls, estimator, scales, *, sources, target=IDENTITY, target_name=None, like=None
    ):
        """A fitted model from its fitted parts.

        Its options say how to find such parts again, as held-out rows ask for: those of `like`, or
        ranges of the data in the directions of the scales.

        Parameters
        ----------
        estimator : fitted estimator
            On the common scale.
        scales : sequence of Scale
        sources : sequence of str
            Names of the columns.
        target : Scale, optional
        target_name : str, optional
        like : InUnits, optional
            One that was not fitted, with the options that the parts were found by.

        Returns
        -------
        InUnits
        """
        scale = Commensurate.from_scales(scales, sources)
        if like is None:
            ways = {True: "none", False: "minmax"}
            again = Commensurate(
                directions={k: one.direction for k, one in enumerate(scales)},
                method={k: ways[one.trivial] for k, one in enumerate(scales)},
            )
            like = cls(estimator, scale=again, target="none" if target.trivial else "fitted")
        made = clone(like)
        made.n_features_in_, made.feature_names_in_ = len(scales), scale.feature_names_in_
        return made._set(estimator, scale, target, target_name)

    def _checked(self, X):
        check_is_fitted(self)
        return checked_inputs(self, X)

    def _scaled(self, X):
        rows = self._checked(X)
        return self.units_.scaled(rows)

    def _predict(self, X):
        scaled = self._scaled(X)
        found = self.estimator_.predict(scaled)
        return found if is_classifier(self.estimator_) else self.units_.output(found)

    def score(self, X, y, sample_weight=None):
        """R² of a regressor, the share of right answers of a classifier.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_sources)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), optional

        Returns
        -------
        float
        """
        measure = accuracy_score if is_classifier(self._made()) else r2_score
        return measure(y, self.predict(X), sample_weight=sample_weight)

    @property
    def classes_(self):
        """Classes of a classifier."""
        return self.estimator_.classes_

    @property
    def measure_(self):
        """The learned measure, on the common scale, where the estimator has one."""
        return self.estimator_.measure_

    @property
    def support_(self):
        """The support of the data learned from, where the estimator knows it."""
        return self.estimator_.support_

    @_inner_has("predict_proba")
    def predict_proba(self, X):
        """Probabilities of the classes; see the estimator's own."""
        scaled = self._scaled(X)
        return self.estimator_.predict_proba(scaled)

    @_inner_has("decision_function")
    def decision_function(self, X):
        """Scores of the classes; see the estimator's own."""
        scaled = self._scaled(X)
        return self.estimator_.decision_function(scaled)

    @_inner_has("predict_interval")
    def predict_interval(self, X, level=0.95, **options):
        """Intervals of the outputs, in the units of the target; see the estimator's own."""
        scaled = self._scaled(X)
        return self.units_.output(self.estimator_.predict_interval(scaled, level, **options))

    @_inner_has("relative_noise")
    def relative_noise(self, X):
        """Size of the noise of each row, beside the usual; see the estimator's own."""
        scaled = self._scaled(X)
        return self.estimator_.relative_noise(scaled)

    @_inner_has("support_interval")
    def support_interval(self, X):
        """What subsets without data leave open, in units of the target; see the estimator's own."""
        scaled = self._scaled(X)
        return self.units_.output(self.estimator_.support_interval(scaled))

    @_inner_has("support_share")
    def support_share(self, X):
        """Share of the subsets each row needs that data support; see the estimator's own."""
        scaled = self._scaled(X)
        return self.estimator_.support_share(scaled)

    @_inner_has("trust")
    def trust(self, X):
        """Share of the deciding operator's weights that data decided; see the estimator's own."""
        scaled = self._scaled(X)
        return self.estimator_.trust(scaled)

    def __sklearn_is_fitted__(self):
        return hasattr(self, "estimator_")

    def __sklearn_tags__(self):
        tags, inner = super().__sklearn_tags__(), get_tags(self._made())
        tags.estimator_type = inner.estimator_type
        tags.classifier_tags, tags.regressor_tags = inner.classifier_tags, inner.regressor_tags
        tags.target_tags = inner.target_tags
        tags.input_tags = inner.input_tags
        return tags
