"""How sure a regressor is: intervals of values, outputs and indices, and draws of measures."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np

from choquet import certainty
from choquet.arrays import FloatArray
from choquet.certainty.functions import output_rows
from choquet.certainty.identification import Identification, identify, states
from choquet.certainty.indices import IndexIntervals, index_intervals
from choquet.certainty.levels import check_level, student_quantile
from choquet.certainty.noise import Noise
from choquet.certainty.projected import rows_that_speak
from choquet.certainty.region import Region, confidence_region, noise_variance, numbers_used
from choquet.errors import OptionError, SupportWarning, TooLargeError
from choquet.estimators.foundation import check_is_fitted
from choquet.estimators.validation import checked_inputs
from choquet.lattice.lazy import sp
from choquet.learning import solvers
from choquet.learning.data.statistics import Statistics
from choquet.learning.problem import Problem, least_squares
from choquet.learning.solvers.solution import Solution
from choquet.silent import filled_below, lacking, silent_interval, span_of

if TYPE_CHECKING:
    from choquet.certainty import Draws

_USUAL = {"monotone": True, "normal": True, "fit_intercept": False}
"""What measures are where no option says otherwise: draws are of these alone."""
MAX_REGION, MAX_ELLIPSOID, MAX_DRAWN = 9, 11, 16
"""Sources up to which an interval takes less than a second; without constraints; in draws."""
ROUNDING = 1e-12
"""Share of an input that sums over it may differ by."""

_REGIONS: WeakKeyDictionary[Any, tuple[Any, Problem, Solution]] = WeakKeyDictionary()
"""The least squares fit over all measures for each model, as long as the model lives."""
_FREE: WeakKeyDictionary[Any, tuple[Any, Problem, Solution]] = WeakKeyDictionary()
"""The same over measures that need not be normal, with an intercept."""
_LAST: WeakKeyDictionary[Solution, tuple[tuple[float, float, str], Region]] = WeakKeyDictionary()
"""The region that was asked for last around each fit, as long as the fit lives."""


def warn_of_weights(statistics: Statistics) -> None:
    """Warn where weights cannot be numbers of rows: their sum is less than the number of rows."""
    if statistics.weight < (1 - 1e-9) * statistics.n_samples:
        warnings.warn(
            f"sample_weight counts rows, and the weights of {statistics.n_samples:,} rows sum to "
            f"{statistics.weight:.3g}: intervals and averages reckon with that many rows; divide "
            "weights that are only relative by their mean",
            SupportWarning,
            stacklevel=4,
        )


class CertainRegressor:
    """What is known of a measure that was learned from statistics; for `MeasureRegressor`."""

    statistics_: Any
    measure_: Any
    missing: Any
    _gaps: Any
    _integrals: Any
    free_target_ = False
    """Whether the target's scale was learned from the same rows, so that outputs may be off by it:
    `choquet.InUnits` says so."""
    noise_: Noise | None = None
    """How the noise differs between rows; models of earlier versions do not know."""

    def _shape(self):
        """What the measures are that intervals range over."""
        return {name: getattr(self, name, usual) for name, usual in _USUAL.items()}

    def _relaxed(self):
        """Whether the measures may fall, or need not be normal."""
        return not (self._shape()["monotone"] and self._shape()["normal"])

    def _wide_problem(self, free: bool = False) -> Problem:
        """Squared error over all measures of the model's shape, without what draws them in.

        If `free`, measures need not be normal, and there is an intercept: the scale of the target
        is as open as they are.
        """
        dense = self.statistics_.n_sources <= MAX_DRAWN
        shape = self._shape() | ({"normal": False, "fit_intercept": True} if free else {})
        return least_squares(self.statistics_, dense=dense, **shape)

    def _fit_of_all(self, free: bool = False) -> tuple[Problem, Solution]:
        """That problem and its optimum."""
        place = _FREE if free else _REGIONS
        kept = place.get(self)
        if kept is None or kept[0] is not self.statistics_:
            problem = self._wide_problem(free)
            kept = place[self] = (self.statistics_, problem, solvers.solve(problem))
        return kept[1], kept[2]

    def _n_rows(self) -> float:
        """How many rows speak of the measure; weights are numbers of rows."""
        warn_of_weights(self.statistics_)
        return rows_that_speak(self.statistics_)

    def _need_region(self):
        """Refuse what would take too long, or is told by nothing that holds the truth."""
        self._need_values(MAX_REGION if self._shape()["monotone"] else MAX_ELLIPSOID)

    def _need_values(self, most):
        check_is_fitted(self, "measure_")
        if not isinstance(self.statistics_, Statistics):
            raise OptionError(
                "this model learned coefficients that all data share, not values of subsets; "
                "leave k_additive out to ask which values the data determine"
            )
        n = self.statistics_.n_sources
        if n > most:
            raise TooLargeError(
                f"intervals need all 2**N values, and {n} sources are more than {most}; "
                "support_interval(X) says what subsets without data leave open, and "
                "choquet.ConformalRegressor gives intervals for new targets"
            )

    # -- values ------------------------------------------------------------------------------------

    def states(self):
        """State of every subset by mask: 0 free, 1 touched, 2 identified.

        A subset is identified if the data see its value; a row with a tiny gap only touches it.

        Returns
        -------
        array of shape (2**n_sources,)
            Beyond 16 sources one state for each supported subset.
        """
        self._need_values(np.inf)
        return states(self._own_problem()[0], gap=self._usual_gap())

    def _own_problem(self) -> tuple[Problem, Solution]:
        """What was learned: the problem that `tau` speaks of."""
        return self._fit_of_all()

    def _usual_gap(self):
        known = self.statistics_
        return float(np.sqrt((known.information / np.maximum(known.counts, 1)).max(initial=0.0)))

    def identify(
        self, level=0.95, *, tau=None, width=0.05, masks=None, n_jobs=1, progress=None
    ) -> Identification:
        """Interval of each value: where the truth lies with this confidence.

        The interval is the range of the value over all measures of the model's shape (monotone and
        normal, as asked) whose squared error is near the least. Values that no data touch keep
        the range that the others leave them.

        Parameters
        ----------
        level : float, default 0.95
            About so many of the intervals hold the true value.
        tau : float, optional
            In place of a level: measures within (1 + tau) of the least error, whatever the noise.
        width : float, default 0.05
            Longest interval that still counts as identified.
        masks : array-like of ints, optional
            Subsets to look at; by default all of up to 8 sources, and the supported ones beyond.
        n_jobs : int, default 1
            Processes, through joblib.
        progress : callable, optional
            Called with (done, total).

        Returns
        -------
        Identification
            With ``lower``, ``upper``, ``state`` and ``masks``.
        """
        check_level(level)
        self._need_values(np.inf)
        problem, solution = self._fit_of_all() if tau is None else self._own_problem()
        return identify(
            problem, solution, level=level, n_samples=self._n_rows(), tau=tau,
            width=width, masks=masks, gap=self._usual_gap(), statistics=self.statistics_,
            noise=self.noise_, n_jobs=n_jobs, progress=progress,
        )  # fmt: skip

    # -- outputs -----------------------------------------------------------------------------------

    def predict_interval(self, X, level=0.95, noise=False):
        """Interval of each output: where the truth lies with this confidence.

        It is the range of the output over all measures of the model's shape whose squared error
        is near the least: a few milliseconds a row of 7 sources, a third of a second with 9, which
        are the most (11 where measures need not be monotone). Rows that say nothing of the noise
        leave everything possible. What subsets without data leave open is `support_interval`.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_sources)
        level : float, default 0.95
            About so many of the intervals hold the output without noise.
        noise : bool, default False
            Make it an interval for a new target, which has noise.

        Returns
        -------
        array of shape (n_samples, 2)
            Always around the prediction.
        """
        level = check_level(level)
        self._need_region()
        X = checked_inputs(self, X, gaps=self._gaps())
        if self._gaps() and lacking(X).any():
            span, own = span_of(self.missing) or (0.0, 1.0), self._integrals(X)
            found = silent_interval(
                self.measure_, X, span, lambda rows: self._intervals(rows, level, noise)
            )
            return np.column_stack([np.fmin(found[:, 0], own), np.fmax(found[:, 1], own)])
        return self._intervals(X, level, noise)

    def _intervals(self, X: FloatArray, level: float, noise: bool) -> FloatArray:
        """Intervals of rows that lack nothing."""
        own = self._integrals(X)
        bounds = self._bounds(X, level)
        low, high = np.minimum(bounds[:, 0], own), np.maximum(bounds[:, 1], own)
        if noise:
            half = self._noise_half(level) * self._sizes(X, own)
            low, high = own - np.hypot(own - low, half), own + np.hypot(high - own, half)
        return np.column_stack([low, high])

    def relative_noise(self, X):
        """Size of the noise of each row, beside the root mean square of the rows learned from.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_sources)

        Returns
        -------
        array of shape (n_samples,)
            1 where the noise is as usual, and everywhere if no difference is known.
        """
        check_is_fitted(self, "measure_")
        X = checked_inputs(self, X, gaps=self._gaps())
        own = self._integrals(X)
        return self._sizes(filled_below(X) if lacking(X).any() else X, own)

    def _sizes(self, X: FloatArray, own: FloatArray) -> FloatArray:
        """The same of rows that lack nothing, and their outputs."""
        known = self.noise_
        return np.ones(len(X)) if known is None else known.relative(X, own)

    def _bounds(self, X: FloatArray, level: float) -> FloatArray:
        rows, free = output_rows(X), self.free_target_
        if self._intercept() or free:
            rows = sp.hstack([rows, np.ones((rows.shape[0], 1))])
        found = self._region(level, "outputs", free).ends(rows)
        if not (self._relaxed() or self._intercept() or free):
            # No farther than the inputs themselves, but for rounding.
            least, most = X.min(axis=1)[:, None], X.max(axis=1)[:, None]
            found = np.clip(found, least - ROUNDING * abs(least), most + ROUNDING * abs(most))
        return found

    def _intercept(self):
        return self._shape()["fit_intercept"]

    def _region(self, level: float, kind: str, free: bool = False) -> Region:
        """The region of a level; the last one is kept, for rows that are asked for one by one."""
        (problem, solution), asked = self._fit_of_all(free), (self._n_rows(), level, kind)
        known = _LAST.get(solution)
        if known is None or known[0] != asked:
            found = confidence_region(problem, solution, *asked, self.statistics_, self.noise_)
            known = _LAST[solution] = (asked, found)
        return known[1]

    def _noise_half(self, level: float) -> float:
        """Half of the interval of usual noise alone; infinite where the rows say nothing of it."""
        problem, solution = self._fit_of_all(self.free_target_)
        free, used = numbers_used(problem, solution)
        variance, spare = noise_variance(solution.objective, free, used, self._n_rows())
        if not spare:
            return float("inf")
        return student_quantile(level, spare) * float(np.sqrt(variance))

    # -- indices and draws -------------------------------------------------------------------------

    def index_intervals(self, level=0.95) -> IndexIntervals:
        """Shapley values, interactions and orness, each with a standard error and an interval.

        Parameters
        ----------
        level : float, default 0.95

        Returns
        -------
        IndexIntervals
            ``to_frame()`` is a table of them.
        """
        level = check_level(level)
        self._need_region()
        if self._relaxed():
            raise OptionError("indices are of monotone normal measures: keep monotone and normal")
        return index_intervals(
            self.measure_.to_measure(), level,
            lambda rows, share, name: self._region(share, name).ends(self._without(rows)),
        )  # fmt: skip

    def _without(self, rows):
        """Rows of coefficients that leave the intercept out."""
        return np.hstack([rows, np.zeros((len(rows), 1))]) if self._intercept() else rows

    def measure_draws(self, n=1000, rng=None) -> Draws:
        """Draws of monotone normal measures given the data, and what they say.

        Parameters
        ----------
        n : int, default 1000
        rng : seed or numpy.random.Generator, optional

        Returns
        -------
        Draws
            With ``values``, ``n_effective``, ``r_hat``, ``interval``, ``probability``,
            ``ranking`` and ``operators``.
        """
        self._need_values(MAX_DRAWN)
        if self._shape() != _USUAL:
            raise OptionError(
                "draws are of monotone normal measures without an intercept: keep monotone and "
                "normal, and fit_intercept=False"
            )
        warn_of_weights(self.statistics_)
        return certainty.draw_measures(
            self.statistics_, n, shares=self._family_shares(), noise=self.noise_, rng=rng
        )

    def _family_shares(self):
        """Probability of each family; None for all monotone measures alone."""
        return None

    def sample_measures(self, n=1000, rng=None):
        """Draws of monotone normal measures given the data.

        Any index, operator or output of the draws has a distribution: its quantiles are an
        interval. A warning says where chains have not mixed; `measure_draws` reports it.

        Parameters
        ----------
        n : int, default 1000
        rng : seed or numpy.random.Generator, optional

        Returns
        -------
        array of shape (n, 2**n_sources)
            One measure in a row, by mask.
        """
        return self.measure_draws(n, rng).values
