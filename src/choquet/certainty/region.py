"""Ends of linear functions of a measure over all measures whose error is near the least.

A value, an output, a Shapley value, an interaction and orness are linear in the measure. Their
range over a *region* of measures (monotone, and with a squared error within some slack of the
least) takes two convex programs each. With the slack of `confidence_slack` the range is a
confidence interval.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from choquet.arrays import FloatArray, IntArray
from choquet.certainty.batched import least_at_once
from choquet.certainty.levels import student_quantile
from choquet.certainty.noise import NOISY, Noise, Ratios
from choquet.certainty.simulated import (
    can_simulate,
    expected_step,
    quantile_of,
    simulated_shares,
)
from choquet.certainty.unordered import Unordered, lengthened
from choquet.errors import SolverError
from choquet.lattice.lazy import sp
from choquet.learning.data.statistics import Statistics
from choquet.learning.problem import Problem
from choquet.learning.solvers.interior import Conic, conic_form
from choquet.learning.solvers.solution import Solution
from choquet.watching import each

COMPILED = 600
"""Unknowns up to which we search ourselves; beyond, Clarabel is faster."""
PLAIN = 4e6
"""Ends times unknowns squared up to which whole arrays do, in about 1.5 s, what a compiled search
does in a third of that after seconds of compiling: 2,200 functions of five sources, 125 of seven.
"""
LARGE = 100
"""Unknowns from which on whole arrays are as fast as compiled loops, because LAPACK factors their
matrices: seven sources take 7 ms an interval either way, eight 25 in place of 40."""
FOUND = 1e-6
"""What may be left of gap and constraints; beyond, Clarabel is asked."""
OUTWARDS = 1e-7
"""How far ends are moved outwards, for a value; what the search may miss is less."""
HEDGE = 2.0
"""On the slack by numbers used, which were chosen by looking at the data: without it, intervals of
7 sources and 100 rows at level 0.9 held 77 % of the outputs of a maximum (6 data sets). Rows abound
where more than one over this of those beside the numbers used are left beside all free values."""
LITTLE = 1e-3
"""Least slack in units of the noise's variance, where simulation asks for none."""
POOLED = 1e-6
"""Values nearer than this are one number of the fit."""


def numbers_used(problem: Problem, solution: Solution) -> tuple[int, int]:
    """How many free values data touch, and how many different numbers the fit made of them.

    Monotonicity pools values: those that it holds together, and those at 0 and 1, cost nothing.

    Examples
    --------
    >>> from choquet.learning import Statistics, least_squares, solve
    >>> X = np.random.default_rng(0).random((30, 3))
    >>> problem = least_squares(Statistics.from_data(X, X.max(axis=1)))
    >>> numbers_used(problem, solve(problem))
    (6, 0)
    """
    extra, fixed = problem.n_intercepts, problem.fixed
    touched = (problem.quadratic.diagonal()[: len(fixed)] > 0) & ~fixed
    free, values = int(touched.sum()), solution.values[touched]
    if problem.basis is not None:
        free = min(free, problem.basis.shape[1] - int(problem.normal))
    if not problem.monotone:
        return free + extra, free + extra
    inner = values[values > POOLED]
    if problem.normal:
        inner = inner[inner < 1 - POOLED]
    inner = np.sort(inner)
    used = int((np.diff(inner) > POOLED).sum()) + int(len(inner) > 0)
    return free + extra, min(used, free) + extra


def noise_variance(error: float, free: int, used: int, n_samples: float) -> tuple[float, float]:
    """Variance of the noise and its degrees of freedom; none where the rows are too few.

    Examples
    --------
    >>> noise_variance(8.0, 6, 3, 14)
    (1.0, 8)
    >>> noise_variance(8.0, 6, 3, 3)
    (inf, 0)
    """
    spare = n_samples - (free if n_samples > free else used)
    return (error / spare, spare) if spare > 0 else (float("inf"), 0)


def confidence_slack(
    problem: Problem,
    solution: Solution,
    n_samples: float,
    level: float,
    kind: str | None = None,
    statistics: Statistics | None = None,
    noise: Noise | None = None,
) -> tuple[float, float]:
    """How much more squared error than the least a measure may have, for lower and upper ends.

    With p free values and M rows that is ``F(1, M - p; level) / (M - p)`` of the least error, as
    for one number of a linear regression. Where M is not far above p, the numbers that the
    monotone fit really used stand in for p; for a `kind` of number, up to 7 sources, the slack is
    found by simulation there: so much that of intervals of such numbers, if what families of
    measures make of the data were the truth, a share of about ``(1 - level) / 2`` would end below
    it, and as many above it. It is infinite where the rows say nothing of the noise: as many
    numbers as rows, or a perfect fit of fewer than two rows to spare.

    Parameters
    ----------
    problem : Problem
        With a squared loss.
    solution : Solution
        Its optimum.
    n_samples : float
        Number of rows.
    level : float
    kind : {"values", "outputs", "shapley", "interaction", "orness"}, optional
        What intervals are asked for.
    statistics : Statistics, optional
        The data, for families of measures; without them only the fit stands for the truth.
    noise : Noise, optional
        How the noise differs between rows; by default it is alike in all of them.

    References
    ----------
    Meyer & Woodroofe (2000), "On the degrees of freedom in shape-restricted regression", for the
    numbers that a monotone fit uses.

    Examples
    --------
    >>> from choquet.learning import Statistics, least_squares, solve
    >>> rng = np.random.default_rng(0)
    >>> X = rng.random((30, 2))
    >>> problem = least_squares(Statistics.from_data(X, X.mean(axis=1) + 0.1 * rng.random(30)))
    >>> solution = solve(problem)
    >>> low, high = confidence_slack(problem, solution, 30, 0.95)
    >>> low == high, bool(np.isclose(low / solution.objective, 2.048407**2 / 28))
    (True, True)
    """
    free, used = numbers_used(problem, solution)
    error, spare = solution.objective, n_samples - used
    if not knows_noise(problem, solution, n_samples):
        return np.inf, np.inf
    if _rows_abound(problem, solution, n_samples):
        slack = max(error * _share(level, n_samples - free), _rounding(problem))
        return slack, slack
    if kind is not None and can_simulate(problem) and error > NOISY * abs(problem.constant):
        shares = simulated_shares(
            problem, solution, n_samples, error / spare, kind, statistics, noise
        )
        if shares.shape[1]:
            low, high = (_simulated_slack(own, level, spare) for own in shares)
            return error * low, error * high
    slack = max(error * HEDGE * _share(level, spare), _rounding(problem))
    return slack, slack


def _simulated_slack(shares: FloatArray, level: float, spare: float) -> float:
    """Share of the error that leaves half of what a level leaves out beyond one end."""
    share, known = quantile_of(shares, (1 + level) / 2)
    # Beyond what so few data sets can say, as an inner truth would go on.
    share *= _share(level, spare) / _share(min(level, 2 * known - 1), spare)
    return max(share, LITTLE / spare)


def knows_noise(problem: Problem, solution: Solution, n_samples: float) -> bool:
    """Whether rows tell of the noise: more of them than numbers used, and not fitted by chance.

    Examples
    --------
    >>> from choquet.learning import Statistics, least_squares, solve
    >>> problem = least_squares(Statistics.from_data([[0.9, 0.4], [0.8, 0.2]], [0.6, 0.5]))
    >>> knows_noise(problem, solve(problem), 2)
    True
    >>> problem = least_squares(Statistics.from_data([[0.9, 0.4]], [0.6]))
    >>> knows_noise(problem, solve(problem), 1)
    False
    """
    free, used = numbers_used(problem, solution)
    perfect = solution.objective <= _rounding(problem)
    return not (n_samples <= used or (n_samples <= free and perfect))


def _rows_abound(problem: Problem, solution: Solution, n_samples: float) -> bool:
    free, used = numbers_used(problem, solution)
    return n_samples > free and n_samples - free >= (n_samples - used) / HEDGE


def _share(level: float, spare: float) -> float:
    return student_quantile(level, spare) ** 2 / spare


def _rounding(problem: Problem) -> float:
    """A perfect fit has no error of its own: then what rounding leaves of the targets."""
    return 1e-12 * max(abs(problem.constant), 1e-300)


class _Near:
    """Feasible steps d from the optimum whose excess error is within one slack."""

    def __init__(self, conic: Conic, x: FloatArray, room: FloatArray, slack: float) -> None:
        self.conic, self.room = conic, room
        self.gradient = np.asarray(conic.P @ x + conic.q) / slack
        self.form = np.ascontiguousarray(conic.P.toarray()) / (2 * slack)
        self._solver: Any = None
        self._bound = room

    def least(self, costs: FloatArray, budgets: FloatArray) -> FloatArray:
        """Least ``cost'd`` for each row of costs, within so many times the slack."""
        out, broken = np.empty(len(costs)), np.full(len(costs), np.inf)
        work = len(self.gradient) ** 2
        if len(costs) and len(self.gradient) <= COMPILED and not self.conic.n_equal:
            rows = sp.csr_array(-self.conic.A)
            whole = len(self.gradient) >= LARGE or len(costs) * work <= PLAIN
            count = max(int(PLAIN) // work, 1)
            parts = [slice(k, k + count) for k in range(0, len(costs), count)]
            for part in each("intervals", parts) if len(parts) > 1 else parts:
                some, within = np.ascontiguousarray(costs[part]), budgets[part].copy()
                if whole:
                    out[part], broken[part] = least_at_once(
                        self.form, self.gradient, rows, self.room, some, within
                    )
                    continue
                from choquet.certainty._kernels import least_of

                least_of(
                    self.form, self.gradient, rows.indptr.astype(np.int64),
                    rows.indices.astype(np.int64), rows.data.astype(np.float64), self.room,
                    some, within, out[part], broken[part],
                )  # fmt: skip
        for k in np.flatnonzero(~(broken <= FOUND)):
            out[k] = self._end(costs[k], float(budgets[k]))
        return out

    def _set_up(self, q: FloatArray) -> Any:
        """Clarabel, once: between functions only its objective and the slack change."""
        import clarabel

        values, vectors = np.linalg.eigh(self.form)
        keep = values > 1e-14 * values.max(initial=0.0)
        root = np.sqrt(values[keep])[:, None] * vectors[:, keep].T
        ball = np.vstack([self.gradient, self.gradient, -2 * root])
        A = sp.csc_matrix(sp.vstack([self.conic.A, sp.csr_array(ball)]))
        A.sum_duplicates()
        settings = clarabel.DefaultSettings()
        settings.verbose = False
        settings.presolve_enable = False
        settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-9
        cones = [
            clarabel.ZeroConeT(self.conic.n_equal),
            clarabel.NonnegativeConeT(len(self.conic.b) - self.conic.n_equal),
            clarabel.SecondOrderConeT(len(root) + 2),
        ]
        n = len(q)
        self._bound = np.concatenate([self.room, np.zeros(len(root) + 2)])
        return clarabel.DefaultSolver(sp.csc_matrix((n, n)), q, A, self._bound, cones, settings)

    def _end(self, cost: FloatArray, budget: float) -> float:
        """Least value of one function, by Clarabel."""
        if self._solver is None:
            self._solver = self._set_up(cost)
        # |root d|² ≤ r = budget - gradient'd says |(2 root d, r - 1)| ≤ r + 1.
        self._bound[len(self.room) :][:2] = budget + 1, budget - 1
        self._solver.update(q=cost, b=self._bound)
        answer = self._solver.solve()
        d = np.array(answer.x)
        status = str(answer.status)
        if "DualInfeasible" in status:
            return -np.inf
        if "Solved" not in status and not np.isfinite(d).all():
            raise SolverError(
                f"Clarabel found no end of an interval (status {status}); try a larger tau or level"
            )
        return float(cost @ d)


class Region:
    """Feasible measures of small excess error around the optimum.

    With d the distance from the optimum, c the gradient there and s the slack, the excess is
    d'Gd + c'd ≤ s; dividing by s keeps the numbers near one whatever the scale of the error.

    Parameters
    ----------
    problem : Problem
        With a squared loss.
    solution : Solution
        Its optimum.
    slack : float, or tuple of two floats
        Excess error; infinite for all feasible measures. Two are for lower and for upper ends.
    pairs : array of shape (E, 2), optional
        Positions to keep in order, where the problem is not dense.
    doubt : float, default 0.0
        Quantile that the slack is made of, to make ends longer on the side where the truth is
        expected.
    step : array, optional
        Where that is, in the free unknowns; by default towards the fit without an order, as far as
        this is not chance: see `Unordered.doubted`.
    noise : Noise, optional
        How the noise differs between rows: a number has so many times the slack as the rows that it
        comes from have of the variance.
    variance : float, default 0.0
        Of the noise, over all rows; 0 where it does not matter.

    Examples
    --------
    >>> from choquet.learning import Statistics, least_squares, solve
    >>> problem = least_squares(Statistics.from_data([[0.9, 0.4], [0.8, 0.2]], [0.6, 0.5]))
    >>> region = Region(problem, solve(problem), 1e-4)
    >>> low, high = region.ends(np.array([[0.0, 1.0, 0.0, 0.0]]))[0]
    >>> bool(low < region.values[1] < high)
    True
    """

    def __init__(
        self,
        problem: Problem,
        solution: Solution,
        slack: float | tuple[float, float],
        pairs: IntArray | None = None,
        doubt: float = 0.0,
        step: FloatArray | None = None,
        noise: Noise | None = None,
        variance: float = 0.0,
    ) -> None:
        conic = conic_form(problem, pairs)
        at = np.append(solution.values, solution.intercepts)
        self.problem, self.conic, self.values = problem, conic, at
        if problem.basis is None:
            x = conic.lift.T @ (at - conic.offset)
        else:
            x = sp.linalg.lsqr(conic.lift, at, atol=1e-14, btol=1e-14)[0]
        # All feasible values are at most 1 or so: no excess is as large as this.
        largest = float(np.abs(conic.P).sum() + np.abs(conic.P @ x + conic.q).sum())
        most = 1e3 * max(largest, 1e-300)
        room = conic.b - conic.A @ x
        room[conic.n_equal :] = np.maximum(room[conic.n_equal :], 0.0)
        room[: conic.n_equal] = 0.0
        self.slack = low, high = tuple(min(one, most) for one in np.broadcast_to(slack, 2).tolist())
        self._below = _Near(conic, x, room, low)
        self._above = self._below if high == low else _Near(conic, x, room, high)
        self._doubt, self._step = doubt, step
        self._ratios = Ratios(noise, problem, solution, variance)

    @cached_property
    def _unordered(self) -> Unordered:
        return Unordered(self._below.form, self._below.gradient)

    @property
    def _bounded(self) -> bool:
        """Whether anything but the error holds the measures together."""
        return self.problem.monotone or self.problem.rows is not None

    def ends(self, functions: Any) -> FloatArray:
        """Least and largest value of linear functions of the measure.

        Parameters
        ----------
        functions : array or sparse matrix of shape (K, n_values + n_intercepts)
            Coefficients of the values of the problem's subsets, then of its intercepts.

        Returns
        -------
        array of shape (K, 2)
            An end that nothing bounds is infinite.
        """
        matrix = sp.csr_array(functions)
        at = np.asarray(matrix @ self.values)
        costs = (matrix @ sp.csr_array(self.conic.lift)).toarray()
        # What the search may miss is absolute, so functions are brought to one size for it.
        size = np.abs(costs).max(axis=1, initial=0.0)
        costs /= np.where(size > 0, size, 1.0)[:, None]
        found, ratios = np.zeros((len(costs), 2)), self._ratios.of(costs)
        moving = np.flatnonzero(size > 0)
        if not self._bounded:
            # Without constraints the set is an ellipsoid: its half-width along a row is a norm.
            half = self._unordered.halves(costs[moving]) * np.sqrt(ratios[moving])
            found[moving] = half[:, None] * [-1.0, 1.0]
        else:
            found[moving] = self._searched(costs[moving], ratios[moving])
        found[:, 0], found[:, 1] = np.minimum(found[:, 0], 0.0), np.maximum(found[:, 1], 0.0)
        if self._doubt:
            known = np.isfinite(found).all(axis=1)
            found[known] = self._doubted(costs[known], found[known], ratios[known])
        # Outwards by what the search may have missed: a truth at an end is in its interval.
        low, high = (size[:, None] * (found + [-OUTWARDS, OUTWARDS] * (size > 0)[:, None])).T
        return np.column_stack([at + low, at + high])

    def _doubted(self, costs: FloatArray, ends: FloatArray, ratios: FloatArray) -> FloatArray:
        if self._step is None:
            return self._unordered.doubted(costs, ends, self._doubt, ratios)
        away = costs @ self._step
        return lengthened(ends, away, self._doubt * away**2)

    def _searched(self, costs: FloatArray, ratios: FloatArray) -> FloatArray:
        if self._above is self._below:
            found = self._below.least(np.vstack([costs, -costs]), np.tile(ratios, 2))
            return np.column_stack([found[: len(costs)], -found[len(costs) :]])
        low, high = self._below.least(costs, ratios), self._above.least(-costs, ratios)
        return np.column_stack([low, -high])


def confidence_region(
    problem: Problem,
    solution: Solution,
    n_samples: float,
    level: float,
    kind: str | None = None,
    statistics: Statistics | None = None,
    noise: Noise | None = None,
    pairs: IntArray | None = None,
) -> Region:
    """The measures whose error is within `confidence_slack` of the least.

    Outputs and indices are sums of many values. Where no expert drew limits, their ends reckon with
    what the order makes of such a sum: where rows abound by the fit without an order, else by the
    bias of fits to data that are drawn at measures which may be the truth.
    """
    slack = confidence_slack(problem, solution, n_samples, level, kind, statistics, noise)
    free, used = numbers_used(problem, solution)
    known = np.isfinite(slack).all()
    variance = solution.objective / (n_samples - used) if known else 0.0
    doubt, step = 0.0, None
    if known and kind not in (None, "values") and problem.monotone and problem.rows is None:
        abound = _rows_abound(problem, solution, n_samples)
        step = None if abound else expected_step(solution)
        if abound or step is not None:
            spare = n_samples - (free if abound else used)
            doubt = student_quantile(level, spare) ** 2
    return Region(problem, solution, slack, pairs, doubt, step, noise, variance)
