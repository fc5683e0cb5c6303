"""`ChoquetRegressor`: the learning problems of this room behind one scikit-learn estimator."""

from __future__ import annotations

import warnings
from functools import cached_property
from numbers import Integral

import numpy as np

from choquet.arrays import check_option
from choquet.certainty.selective import SelectiveCurve, selective_curve
from choquet.errors import DataError, OptionError, SolverWarning
from choquet.estimators.common import Batch, IncrementalRegressor
from choquet.learning import families, solvers
from choquet.learning.data.minima import MinimaStatistics, fit_additive
from choquet.learning.data.statistics import Statistics
from choquet.learning.expert import as_rows
from choquet.learning.fill import FILLS, fill_unsupported
from choquet.learning.problem import (
    MAX_LATTICE_SOURCES,
    Problem,
    absolute_loss,
    check_weight,
    least_squares,
    with_basis,
    with_penalty,
    with_prior,
    with_rows,
)
from choquet.learning.representative import choose
from choquet.learning.statements import check_statements, fill_within, interval_within
from choquet.measures import Measure, MobiusMeasure, SupportedMeasure
from choquet.measures.mobius import coalitions
from choquet.measures.sparse import SparseMeasure

_OPTIONAL = {
    "start": ("hlms",),
    "penalty": ("l1", "l2", "elasticnet", "lp"),
    "choice": ("variance", "entropy"),
}
"""What options may be, besides None."""


class ChoquetRegressor(IncrementalRegressor):
    """Regression by a Choquet integral, with an account of what the data determine.

    The default is the monotone, normal measure of least squared error. Choquet regression as in
    the literature ("CIR") is ``monotone=False, normal=False, fit_intercept=True`` with
    ``penalty="l1"`` or ``"l2"``, after a `StandardScaler`.

    Parameters
    ----------
    monotone, normal : bool, default True
        Require that g does not decrease, and that g(X) = 1.
    fit_intercept : bool, default False
        Learn an intercept.
    loss : {"squared", "absolute"}, default "squared"
    penalty : {None, "l1", "l2", "elasticnet", "lp"}, default None
        Penalty on the values of the measure, with weight `alpha`.
    alpha : float, default 1.0
    l1_ratio : float, default 0.5
        Share of l1 in the elastic net.
    p : float in (0, 2], default 0.5
        Power of the lp penalty.
    prior : {None, "additive", "symmetric", "2-additive"} or Measure, default None
        Shrink towards a family (its member is estimated jointly), or towards a given measure.
    prior_alpha : float, default 1.0
        Weight of the squared distance to the prior.
    k_additive : int, optional
        Restrict to k-additive measures. Beyond 16 sources the Möbius coefficients are learned
        directly; the penalty is then on those of two and more sources. Monotone 2-additive measures
        are all searched; for k ≥ 3 those whose single coefficients outweigh the negative ones.
    expert : Rows, or sequence of statements, optional
        Statements from `choquet.learning.expert`, joined with ``+``; or those of `choquet.decide`,
        which name the columns: ``[Importance("safety", "comfort")]``.
    choice : {None, "variance", "entropy"}, default None
        Where many measures are optimal, take the one of least variance or largest entropy.
    fill : {"lower", "upper", "midpoint", "prior", "similar"}, default "midpoint"
        Values of subsets without data, unless a penalty, prior or choice determines them.
    solver : {"auto", "interior", "admm", "supported", "free"}, default "auto"
    start : {None, "hlms"}, default None
        Where solvers that iterate begin: "hlms" runs the heuristic least mean squares over the rows
        first. The result is the same.
    missing : {"error", "present", "interval"} or (low, high), default "error"
        What NaN among the inputs means. With "present" a silent source is left out, and the measure
        restricted to the others answers. With "interval" it may have any value from 0 to 1, with a
        pair any from low to high: `predict` gives the middle of what is possible, and
        `support_interval` both ends. Rows that lack an input are not learned from, but counted.
    verbose : bool, default False

    Attributes
    ----------
    measure_ : Measure; beyond 16 sources a SupportedMeasure, (not monotone) a SparseMeasure, or
        (k-additive) a MobiusMeasure
    intercept_ : float
    support_ : DataSupport
    statistics_ : Statistics, or MinimaStatistics
        All that was learned from; add statistics of other data with ``+``.
    noise_ : Noise or None
        Where the noise is large: ``text(sources)`` says it, and `relative_noise` gives its size.
        None where rows show no difference, beyond 9 sources, and after `partial_fit`.
    problem_ : Problem
        Not there for Möbius coefficients.
    solution_ : Solution

    References
    ----------
    Grabisch, Kojadinovic & Meyer (2008), "A review of methods for capacity identification in
    Choquet integral based multi-attribute utility theory"; Kakula, Pinar, Havens & Anderson
    (2020), "Choquet integral ridge regression".

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.random((50, 3))
    >>> model = ChoquetRegressor().fit(X, X.max(axis=1))
    >>> model.measure_.values.round(3)
    array([0., 1., 1., 1., 1., 1., 1., 1.])
    >>> model.predict([[0.2, 0.9, 0.4]]).round(3)
    array([0.9])
    """

    def __init__(
        self,
        *,
        monotone=True,
        normal=True,
        fit_intercept=False,
        loss="squared",
        penalty=None,
        alpha=1.0,
        l1_ratio=0.5,
        p=0.5,
        prior=None,
        prior_alpha=1.0,
        k_additive=None,
        expert=None,
        choice=None,
        fill="midpoint",
        solver="auto",
        start=None,
        missing="error",
        verbose=False,
    ):
        self.monotone = monotone
        self.normal = normal
        self.fit_intercept = fit_intercept
        self.loss = loss
        self.penalty = penalty
        self.alpha = alpha
        self.l1_ratio = l1_ratio
        self.p = p
        self.prior = prior
        self.prior_alpha = prior_alpha
        self.k_additive = k_additive
        self.expert = expert
        self.choice = choice
        self.fill = fill
        self.solver = solver
        self.start = start
        self.missing = missing
        self.verbose = verbose

    # -- learning ----------------------------------------------------------------------------------

    _advises = True

    def _order(self, n_sources):
        return self.k_additive if n_sources > MAX_LATTICE_SOURCES else None

    def _solve(self, material):
        statistics = material.statistics
        self._check_options(statistics.n_sources)
        if self._order(statistics.n_sources) is not None:
            self._solve_additive(material)
            return
        batch = material.batch
        problem = self._problem(statistics, batch, material.names)
        usual = problem.monotone and problem.normal
        start = (
            solvers.hlms(batch.X, batch.y) if self.start and batch is not None and usual else None
        )
        solution = solvers.solve(problem, solver=self.solver, start=start, verbose=self.verbose)
        if self.choice is not None:
            solution = choose(problem, solution, by=self.choice)
        self.problem_, self.solution_ = problem, solution
        self.intercept_ = solution.bias
        self.measure_ = self._measure(material, problem, solution)

    def _solve_additive(self, material):
        """Möbius coefficients in place of values: never all 2**N, nor only those with data."""
        statistics = material.statistics
        if isinstance(statistics, Statistics):
            statistics = MinimaStatistics.from_gaps(statistics, self.k_additive)
        s = 0.0 if self.penalty is None else self.alpha
        share = {None: 0.0, "l1": 1.0, "l2": 0.0, "elasticnet": self.l1_ratio}.get(self.penalty)
        if share is None or (share > 0 and not self.monotone):
            raise OptionError(
                f"penalty={self.penalty!r} with k_additive beyond {MAX_LATTICE_SOURCES} sources "
                "is not available" + ("" if share is None else " with monotone=False; use 'l2'")
            )
        solution = fit_additive(
            statistics, monotone=self.monotone, normal=self.normal,
            fit_intercept=self.fit_intercept, l1=s * share, l2=s * (1 - share),
        )  # fmt: skip
        if solution.status != "solved":
            warnings.warn(
                f"k-additive learning stopped after {solution.iterations} iterations; the "
                f"objective {solution.objective:.6g} may be above the optimum by "
                f"{solution.gap:.1e}. Scale the data, or add a penalty",
                SolverWarning,
                stacklevel=2,
            )
        self.solution_, self.intercept_ = solution, solution.bias
        self.measure_ = MobiusMeasure(
            coalitions(statistics.n_sources, self.k_additive), solution.values, material.names,
            monotone=self.monotone, normal=self.normal,
        )  # fmt: skip

    def _check_options(self, n_sources):
        check_option("loss", self.loss, ["squared", "absolute"])
        check_option("fill", self.fill, FILLS)
        for name, known in _OPTIONAL.items():
            if getattr(self, name) is not None:
                check_option(name, getattr(self, name), known)
        if self.prior is not None and not isinstance(self.prior, Measure):
            check_option("prior", self.prior, families.BASES)
        check_weight("alpha", self.alpha)
        check_weight("prior_alpha", self.prior_alpha)
        if not 0 <= self.l1_ratio <= 1:
            raise OptionError(f"l1_ratio={self.l1_ratio} is out of range: choose 0 to 1")
        k = self.k_additive
        if k is not None and not (isinstance(k, Integral) and 1 <= int(k) <= n_sources):
            raise OptionError(
                f"k_additive={k!r} must be a whole number from 1 to the {n_sources} sources"
            )
        if n_sources <= MAX_LATTICE_SOURCES:
            return
        dense_only = {
            "prior": self.prior, "expert": self.expert, "choice": self.choice, "start": self.start,
        }  # fmt: skip
        used = [name for name, value in dense_only.items() if value is not None]
        if self.loss == "absolute":
            used.append("loss")
        if used or self.fill in ("prior", "similar"):
            raise OptionError(
                f"{n_sources} sources are more than {MAX_LATTICE_SOURCES}: only supported subsets "
                f"are learned, and {', '.join(used) or 'fill'} needs them all; leave it out"
            )

    @cached_property
    def problem_(self) -> Problem:
        """The problem that was solved; a model from a file makes it again when it is asked for."""
        if "solution_" not in vars(self) or self.loss != "squared":
            raise AttributeError(f"this {type(self).__name__} holds no problem_")
        statistics = vars(self).get("statistics_")
        if not isinstance(statistics, Statistics) or self.solution_.solver == "additive":
            raise AttributeError(f"this {type(self).__name__} holds no problem_")
        return self._problem(statistics, None, self.measure_.sources)

    def _problem(self, statistics: Statistics, batch: Batch | None, names) -> Problem:
        shape, n_sources = self._shape(), statistics.n_sources
        if self.loss == "absolute":
            assert batch is not None  # whoever passes sums alone is refused before
            problem = absolute_loss(batch.X, batch.y, batch.weight, **shape)
        else:
            problem = least_squares(statistics, dense=n_sources <= MAX_LATTICE_SOURCES, **shape)
        problem = self._with_penalty(problem)
        if isinstance(self.prior, Measure):
            if self.prior.n_sources != n_sources:
                raise OptionError(
                    f"the prior has {self.prior.n_sources} sources, the data have {n_sources}"
                )
            problem = with_prior(problem, self.prior.values, self.prior_alpha)
        elif self.prior is not None:
            basis = families.FAMILIES[self.prior].basis(n_sources)  # type: ignore[misc]
            problem = with_prior(problem, basis, self.prior_alpha)
        return self._restricted(problem, names)

    def _restricted(self, problem: Problem, names) -> Problem:
        """With what restricts the measures: k-additivity, and what experts said."""
        if self.k_additive is not None:
            problem = with_basis(
                problem, families.k_additive_basis(problem.n_sources, self.k_additive)
            )
        if self.expert is not None:
            problem = with_rows(problem, as_rows(self.expert, names))
        return problem

    def _with_penalty(self, problem):
        if self.penalty is None:
            return problem
        if self.penalty == "lp":
            return with_penalty(problem, power=(self.p, self.alpha))
        share = {"l1": 1.0, "l2": 0.0, "elasticnet": self.l1_ratio}[self.penalty]
        return with_penalty(problem, l1=self.alpha * share, l2=self.alpha * (1 - share))

    def _measure(self, material, problem, solution):
        names, values = material.names, solution.values
        if problem.dense:
            values = self._filled(material, problem, values)
            if problem.rows is not None:
                check_statements(problem.rows, values)
            return Measure(values, names, monotone=self.monotone, normal=self.normal)
        if self.monotone:
            return SupportedMeasure(problem.masks[:-1], values[:-1], names, total=float(values[-1]))
        return SparseMeasure(problem.masks, values, names)

    def _filled(self, material, problem, values):
        """Values by mask, those without data by the policy, unless something else decides them."""
        determined = (self.penalty, self.k_additive, self.choice) != (None, None, None) or (
            self.prior is not None and self.prior_alpha > 0
        )
        if determined or not self.monotone:
            return values
        statistics, support = material.statistics, material.support
        supported = np.zeros(len(values), dtype=bool)
        supported[statistics.positions[statistics.counts > 0]] = True
        wished = fill_unsupported(
            values,
            supported,
            policy=self.fill,
            prior=self.prior.values if isinstance(self.prior, Measure) else None,
            sorts=support.observed_sorts,
            counts=support.sort_counts,
        )
        if problem.rows is None:
            return wished
        return fill_within(problem, values, supported, wished)

    def _support_bounds(self, X):
        problem = None if self.expert is None else getattr(self, "problem_", None)
        if problem is None or problem.rows is None:
            return super()._support_bounds(X)
        assert isinstance(self.measure_, Measure)  # statements need all subsets
        supported = self.support_.supported
        bounds = interval_within(problem, self.measure_.values, supported, X) + self.intercept_
        own = self._integrals(X)
        return np.column_stack([np.minimum(bounds[:, 0], own), np.maximum(bounds[:, 1], own)])

    # -- what the data determine -------------------------------------------------------------------

    def _wide_problem(self, free=False):
        return self._restricted(super()._wide_problem(free), self.measure_.sources)

    def _fit_of_all(self, free=False):
        return self._own_problem() if self._plain() and not free else super()._fit_of_all(free)

    def _own_problem(self):
        return self.problem_, self.solution_

    def _plain(self):
        """Whether nothing but squared error and constraints decided the fit."""
        drawn = self.penalty is not None and self.alpha > 0
        drawn = drawn or (self.prior is not None and self.prior_alpha > 0)
        return not drawn and self.loss == "squared"

    def selective_curve(self, X, y, *, by="support") -> SelectiveCurve:
        """Mean squared error among accepted samples against the accepted share.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_sources)
        y : array-like of shape (n_samples,)
        by : {"support", "width"}, default "support"
            Accept by the share of supported subsets, or by the width of `support_interval`.
        """
        check_option("by", by, ["support", "width"])
        errors = (self.predict(X) - np.asarray(y, dtype=np.float64)) ** 2
        if by == "support":
            return selective_curve(errors, self.support_share(X))
        bounds = self.support_interval(X)
        width = bounds[:, 1] - bounds[:, 0]
        if not np.isfinite(width).all():
            raise DataError("some intervals are infinite (monotone=False): use by='support'")
        return selective_curve(errors, -width)
