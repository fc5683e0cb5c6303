"""What the least-squares estimators share: validation, statistics, and warnings about the data."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import partial

import numpy as np

from choquet.arrays import FloatArray
from choquet.certainty.noise import learned_noise
from choquet.errors import DataError, OptionError, SolverError, SupportWarning, TooLargeError
from choquet.estimators.certain import CertainRegressor
from choquet.estimators.foundation import PoorScore, RegressorMixin, check_is_fitted
from choquet.estimators.methods import Explained, Learner, Predictor
from choquet.estimators.validation import checked_inputs, checked_rows
from choquet.lattice.ties import settled
from choquet.learning.data.chunks import Evidence, evidence_of
from choquet.learning.data.minima import MinimaStatistics
from choquet.learning.data.scale import check_information
from choquet.learning.data.statistics import Statistics
from choquet.learning.fill import uncertainty
from choquet.measures import AbstractMeasure, Measure, SupportedMeasure
from choquet.scales import fit_warnings
from choquet.silent import (
    MissingPattern,
    filled_below,
    lacking,
    patterns_of,
    silent_integral,
    silent_interval,
    span_of,
)
from choquet.walks import DataSupport, sorts_of
from choquet.walks.sorts import strict_steps

_MAX_COMPARED = 40_000
"""Supported subsets that are all compared with each other."""


def sources_of(estimator) -> tuple[str, ...] | None:
    """Names of the sources from the columns of a frame, or None."""
    names = getattr(estimator, "feature_names_in_", None)
    return None if names is None else tuple(str(name) for name in names)


def names_or_numbers(names, n_sources: int) -> tuple[str, ...]:
    """Given names of the sources, or x1, x2 and so on."""
    return tuple(f"x{i + 1}" for i in range(n_sources)) if names is None else tuple(names)


@dataclass(frozen=True, eq=False)
class Batch:
    """Rows that have just arrived; `more` says that `partial_fit` brought them."""

    X: FloatArray
    y: FloatArray
    weight: FloatArray | None
    more: bool = False


@dataclass(frozen=True, eq=False)
class Material:
    """All that a regressor learns from: the sums over all rows, and the last rows themselves.

    `batch` is None where only sums arrive.
    """

    statistics: Statistics | MinimaStatistics
    support: DataSupport
    names: tuple[str, ...]
    batch: Batch | None = None


def check_reach(X: FloatArray, y: FloatArray) -> bool:
    """Warn if a normal monotone measure cannot come near the targets; whether it can."""
    low, high = float(X.min()) + 0.0, float(X.max()) + 0.0
    margin = 0.05 * max(high - low, 1e-12)
    share = float(np.mean((y < low - margin) | (y > high + margin)))
    if share > 0.1:
        warnings.warn(
            f"{share:.0%} of the targets lie outside [{low:.4g}, {high:.4g}], the range of the "
            "inputs, where no normal monotone measure can reach them; rescale the inputs or the "
            "targets (choquet.InUnits scales both), or use normal=False, fit_intercept=True",
            SupportWarning,
            stacklevel=4,
        )
    return share <= 0.1


_LOOKED_AT = 20_000
"""Rows, evenly spaced, that a fit is looked at on."""


def check_fit(X, y, weight, predict, sources, *, monotone: bool) -> None:
    """Warn if a fit is worse than the mean of the target, or a source runs against it."""
    step = max(1, -(-len(X) // _LOOKED_AT))
    rows, targets = X[::step], y[::step]
    weights = np.ones(len(targets)) if weight is None else weight[::step]
    if weights.sum() <= 0:
        return
    mean = np.average(targets, weights=weights)
    error = float(weights @ (targets - predict(rows)) ** 2)
    spread = float(weights @ (targets - mean) ** 2)
    for text in fit_warnings(
        rows, targets, error, spread, sources, weight=weights, monotone=monotone
    ):
        warnings.warn(text, SupportWarning, stacklevel=5)


def integrate(measure: AbstractMeasure, X: FloatArray, fill: str) -> FloatArray:
    """Choquet integrals; where values are bounded only, of the end that `fill` names."""
    if fill in ("lower", "upper") and measure.known_words is not None:
        return measure.interval_of_rows(X)[:, int(fill == "upper")]
    return measure.integral_of_rows(X)


class MeasureRegressor(PoorScore, CertainRegressor, RegressorMixin, Predictor, Explained, Learner):
    """Base of the regressors that learn from statistics; subclasses define `_solve`."""

    statistics_: Statistics | MinimaStatistics
    support_: DataSupport
    measure_: AbstractMeasure
    intercept_: float
    patterns_: dict[tuple[int, ...], int]

    _advises = False
    """Whether to say of a fit that it is worse than the mean, or what runs against it."""

    def _solve(self, material: Material) -> None:
        raise NotImplementedError

    def _order(self, n_sources: int) -> int | None:
        """The k of k-additive measures that are learned from minima, or None."""
        del n_sources
        return None

    def _evidence(self, X, y, sample_weight=None) -> Evidence:
        """What is kept of rows, as this estimator needs it."""
        return evidence_of(X, y, sample_weight, k_additive=self._order(np.shape(X)[1]))

    def _learn(self, X, y, sample_weight, *, more=False):
        """Learn from rows: these alone, or with `more` these and all before them."""
        first = not (more and hasattr(self, "statistics_"))
        gaps = self._gaps()
        X, y, weight = checked_rows(self, X, y, sample_weight, reset=first, gaps=gaps)
        if gaps:
            X, y, weight = self._complete(X, y, weight, first=first)
        evidence = self._evidence(X, y, weight)
        statistics, support = evidence.statistics, evidence.support
        if not first:
            statistics, support = self.statistics_ + statistics, self.support_ + support
        check_information(statistics, normal=not self._relaxed(), y=y)
        near = self._relaxed() or self.free_target_ or check_reach(X, y)
        names = names_or_numbers(sources_of(self), X.shape[1])
        self._learn_from(Material(statistics, support, names, Batch(X, y, weight, more)))
        if near and not more and X.shape[1] > 1 and self._advises:
            check_fit(X, y, weight, self._integrals, names, monotone=not self._relaxed())
        return self

    def _gaps(self) -> bool:
        """Whether inputs may be missing."""
        missing = getattr(self, "missing", "error")
        if isinstance(missing, str) and missing == "error":
            return False
        span_of(missing)  # refuses what is no range
        return True

    def _complete(self, X, y, weight, *, first):
        """The rows to learn from, which lack nothing; all are counted by what they lack."""
        counts = {} if first else dict(self.patterns_)
        for silent, count in patterns_of(X).items():
            counts[silent] = counts.get(silent, 0) + count
        self.patterns_ = counts
        whole = ~lacking(X)
        if whole.all():
            return X, y, weight
        if not whole.any():
            raise DataError("every row lacks an input: there is no complete row to learn from")
        warnings.warn(
            f"{int((~whole).sum())} of {len(X)} rows lack an input and are not learned from; "
            "patterns_ counts them by the sources that are silent",
            SupportWarning,
            stacklevel=4,
        )
        return X[whole], y[whole], None if weight is None else weight[whole]

    def _learn_from(self, material: Material):
        """Learn from sums, and keep them."""
        try:
            self._solve(material)
        except (np.linalg.LinAlgError, ArithmeticError) as error:
            raise SolverError(
                f"the data are too few or too extreme for {type(self).__name__}: {error}; give "
                "more rows, or scale inputs and weights to about 1"
            ) from None
        self.n_features_in_ = material.statistics.n_sources
        self.statistics_, self.support_ = material.statistics, material.support
        self.noise_, batch = None, material.batch
        if batch is not None and not batch.more:  # sums alone do not tell
            self._learn_noise(batch.X, batch.y, batch.weight)
        return self

    def _learn_noise(self, X, y, sample_weight, *, part=False):
        """Learn where the noise is large, from all rows or a part of them."""
        if isinstance(self.statistics_, Statistics):
            outputs = self._integrals(X)
            self.noise_ = learned_noise(X, y, outputs, sample_weight, part=part)

    def _checked(self, X, *, gaps=False):
        """Rows for a model that is fitted; with `gaps` some inputs may be missing."""
        check_is_fitted(self, "measure_")
        return checked_inputs(self, X, gaps=gaps)

    def _predict(self, X):
        return self._integrals(self._checked(X, gaps=self._gaps()))

    def _integrals(self, X):
        """Predictions of rows that are known to be good, or lack inputs that they may lack."""
        whole = partial(integrate, self.measure_, fill=getattr(self, "fill", "midpoint"))
        if self._gaps() and lacking(X).any():
            return silent_integral(self.measure_, X, self.missing, whole) + self.intercept_
        return whole(X) + self.intercept_

    def support_interval(self, X):
        """Tight bounds of each prediction over all measures that agree with what is known.

        Known are the values of supported subsets and what experts said. The bounds say what was
        never seen, not how exact the fit is: see `predict_interval` for that. Without statements
        they are those of the lowest and the highest monotone filling. With statements each bound is
        a linear program, solved to about 1e-7, for each row that needs a subset without data.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_sources)

        Returns
        -------
        array of shape (n_samples, 2)
            Without monotonicity an unsupported subset can have any value that the statements
            allow: the bounds of rows that need one may be infinite.
        """
        X = self._checked(X, gaps=self._gaps())
        if lacking(X).any():
            span = span_of(self.missing) or (0.0, 1.0)
            return silent_interval(self.measure_, X, span, self._support_bounds)
        return self._support_bounds(X)

    def _support_bounds(self, X):
        """Bounds of rows that lack nothing."""
        X = settled(X)
        if not self.measure_.monotone:
            value = self.measure_.integral(X) + self.intercept_
            half = np.where(self._unsupported_steps(X).any(axis=1), np.inf, 0.0)
            return np.column_stack([value - half, value + half])
        if not self.measure_.is_dense:
            return self._supported_part().interval(X) + self.intercept_
        # With all values at hand, both extreme fillings are two sweeps over the lattice.
        bounds = uncertainty(self.measure_.to_measure().values, self.support_.supported)
        ends = [Measure(end, normal=self.measure_.normal).integral(X) for end in bounds]
        return np.sort(np.column_stack(ends), axis=1) + self.intercept_

    def support_share(self, X):
        """Share of the subsets each row needs that data support (1: all; the paper's 1 - Φ).

        Ties need nothing: only subsets at strict gaps count. A row that lacks inputs needs subsets
        of the sources that are there, and all of these together.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_sources)

        Returns
        -------
        array of shape (n_samples,)
        """
        X = self._checked(X, gaps=self._gaps())
        X = filled_below(X) if lacking(X).any() else X
        needed = strict_steps(X)[:, :-1]
        missing = self._unsupported_steps(X)
        return 1.0 - missing.sum(axis=1) / np.maximum(needed.sum(axis=1), 1)

    def missing_patterns(self, X):
        """Which sources are silent together, in how many rows, and what data know of the others.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_sources)
            With NaN where a source is silent; ``missing`` must not be "error".

        Returns
        -------
        list of MissingPattern
            The most frequent first.
        """
        rows = self._checked(X, gaps=self._gaps())
        share, names = self.support_share(X), self.measure_.sources
        learned = getattr(self, "patterns_", {(): self.support_.n_samples})
        found = []
        for silent, count in patterns_of(rows).items():
            absent = np.zeros(len(names), dtype=bool)
            absent[list(silent)] = True
            here = (np.isnan(rows) == absent).all(axis=1)
            words = tuple(names[i] for i in silent)
            mean = float(share[here].mean())
            found.append(MissingPattern(words, count, learned.get(silent, 0), mean))
        return sorted(found, key=lambda one: -one.rows)

    def _supported_part(self) -> AbstractMeasure:
        """The values that data support, and bounds of the others."""
        measure, words = self.measure_, self.support_.words
        if measure.known_words is not None:
            return measure
        if len(words) > _MAX_COMPARED:
            raise TooLargeError(
                f"{len(words):,} supported subsets are too many to compare (at most "
                f"{_MAX_COMPARED:,}); support_share(X) tells how much of each row has data"
            )
        values = measure.values_of(words)
        return SupportedMeasure.nearest(words, values, measure.sources, total=measure.total)

    def _unsupported_steps(self, X):
        # Flags by size of the subset; a tied row does not need the subsets inside its ties.
        sorts = sorts_of(X)
        return self.support_.unsupported_steps(sorts) & strict_steps(X, sorts)[:, :-1]

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self._gaps()
        return tags


def check_sums(estimator) -> None:
    """Refuse to go on from sums where the loss is not a sum of squares."""
    if getattr(estimator, "loss", "squared") != "squared":
        raise OptionError("loss='absolute' keeps no statistics: use fit, or loss='squared'")


class IncrementalRegressor(MeasureRegressor):
    """A regressor that can go on learning, because statistics add up."""

    def partial_fit(self, X, y, sample_weight=None):
        """Learn from one more batch; the result equals one `fit` on all batches.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_sources)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), optional

        Returns
        -------
        self
        """
        check_sums(self)
        return self._learn(X, y, sample_weight, more=True)
