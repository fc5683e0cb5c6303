"""What the data determine: near-optimal intervals, and identified, touched or free subsets.

A subset with a gap in the data is *touched*; its value can still be anything if other values can
make up for it. The near-optimal interval of g(A) is the range of g(A) over all feasible measures
whose error is at most (1 + τ) times the optimum: two second-order cone programs per subset.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from choquet.arrays import BoolArray, FloatArray, IntArray
from choquet.errors import OptionError, SolverError, TooLargeError
from choquet.lattice.lazy import LazyModule
from choquet.lattice.wide import WordArray, chains_of, find_rows, n_words, unique_rows
from choquet.learning.problem import Problem
from choquet.learning.solvers.interior import conic_form
from choquet.learning.solvers.solution import Solution

if TYPE_CHECKING:
    import scipy.sparse as sp
else:
    sp = LazyModule("scipy.sparse")

__all__ = ["STATES", "Identification", "identify", "states"]

_MAX_SUPPORTED = 4_000
"""Supported subsets up to which the quadratic form is taken apart whole."""

STATES = ("free", "touched", "identified")
"""Names of the states 0, 1 and 2: no data, data but no unique value, one value."""


BATCHES = 8
"""Batches per process, so that progress shows and no process waits long for the last one."""


@dataclass(frozen=True, eq=False)
class Identification:
    """Near-optimal interval and state of each subset.

    Attributes
    ----------
    tau : float
        Relative slack of the error.
    masks : array of shape (K,)
        Subsets, as bit masks: 64-bit integers up to 16 sources, Python's own beyond.
    lower, upper : arrays of shape (K,)
        Range of g(A) over near-optimal measures.
    state : array of shape (K,)
        0 free, 1 touched, 2 identified: positions in `STATES`.
    """

    tau: float
    masks: npt.NDArray[Any]
    lower: FloatArray
    upper: FloatArray
    state: IntArray

    @property
    def width(self) -> FloatArray:
        """Lengths of the intervals."""
        return self.upper - self.lower

    def stable_walks(self, sorts: npt.ArrayLike, *, width: float = 0.05) -> BoolArray:
        """Whether every value on a walk is pinned to within `width`, for each sort.

        Walks through subsets that were not asked for are not stable.

        Examples
        --------
        >>> found = Identification(0.01, np.array([1]), np.array([0.3]), np.array([0.31]),
        ...                        np.array([2]))
        >>> found.stable_walks([[0, 1], [1, 0]])
        array([ True, False])
        """
        order = np.asarray(sorts, dtype=np.int64)
        pinned = self.masks[self.width <= width]
        if self.masks.dtype == object:
            chains = chains_of(order)[:, :-1]
            table = unique_rows(words_of(pinned, order.shape[1]))[0]
            found = find_rows(table, chains.reshape(-1, chains.shape[2])) >= 0
            return np.asarray(found.reshape(chains.shape[:2]).all(axis=1))
        chain = np.cumsum(np.left_shift(1, order), axis=1)[:, :-1]
        return np.asarray(np.isin(chain, pinned).all(axis=1))


def states(problem: Problem) -> IntArray:
    """State of each of the problem's values: 0 free, 1 touched, 2 identified by the data alone.

    A value is identified if no direction that leaves all predictions alone moves it: its row of the
    null space of the quadratic form is zero. Known values are identified.

    Examples
    --------
    >>> from choquet.learning.problem import least_squares
    >>> from choquet.learning.data.statistics import Statistics
    >>> states(least_squares(Statistics.from_data([[0.9, 0.4, 0.4]], [0.6])))
    array([2, 2, 0, 0, 0, 0, 0, 2])
    """
    n = problem.n_values
    state = np.zeros(n, dtype=np.int64)
    state[problem.fixed] = 2
    diagonal = problem.quadratic.diagonal()
    free = np.append(~problem.fixed, np.ones(problem.n_intercepts, dtype=bool))
    used = np.flatnonzero((diagonal > 0) & free)
    if not len(used):
        return state
    block = sp.csr_array(problem.quadratic)[used][:, used].toarray()
    scale = 1 / np.sqrt(diagonal[used])
    values, vectors = np.linalg.eigh(block * scale[:, None] * scale[None, :])
    null = vectors[:, values <= 1e-10 * values.max()]
    moved = (null**2).sum(axis=1) > 1e-12
    inner = used < n
    state[used[inner]] = np.where(moved[inner], 1, 2)
    return state


def identify(
    problem: Problem,
    solution: Solution,
    *,
    tau: float = 0.01,
    width: float = 0.05,
    masks: npt.ArrayLike | None = None,
    n_jobs: int = 1,
    progress: Callable[[int, int], None] | None = None,
) -> Identification:
    """Near-optimal interval of each supported value.

    Parameters
    ----------
    problem : Problem
        With a squared loss, dense or of up to 4,000 supported subsets.
    solution : Solution
        Its optimum.
    tau : float, default 0.01
        Measures whose objective is at most (1 + tau) times the optimum count as near-optimal.
    width : float, default 0.05
        Longest interval that still counts as identified; a subset with data and a longer one, or
        with a direction along which nothing is predicted differently, is only touched.
    masks : array-like of ints, optional
        Subsets to look at; all supported ones by default. Each takes two cone programs of the size
        of the problem: beyond 16 sources name those that matter.
    n_jobs : int, default 1
        Processes, through joblib (-1: one per core). Each sets up its cone program once.
    progress : callable, optional
        Called with (done, total) after each subset; with several processes after each batch.

    References
    ----------
    Boyd & Vandenberghe (2004), "Convex optimization", 4.4.2, for the cone program.

    Examples
    --------
    >>> from choquet.learning.problem import least_squares
    >>> from choquet.learning.solvers import solve
    >>> from choquet.learning.data.statistics import Statistics
    >>> problem = least_squares(Statistics.from_data([[0.9, 0.4], [0.8, 0.2]], [0.6, 0.5]))
    >>> found = identify(problem, solve(problem), tau=0.1)
    >>> found.masks, found.lower < found.upper
    (array([1]), array([ True]))
    """
    if problem.absolute is not None or problem.prior is not None:
        raise OptionError("identify needs a problem with squared loss and no family prior")
    if not problem.dense and problem.n_values > _MAX_SUPPORTED:
        raise TooLargeError(
            f"{problem.n_values:,} supported subsets are more than the {_MAX_SUPPORTED:,} that "
            "identify can look into; ask a model of fewer samples, or use predict_interval"
        )
    if not tau > 0:
        raise OptionError(f"tau={tau} must be positive")
    state = states(problem)
    if masks is None:
        wanted = np.flatnonzero(problem.quadratic.diagonal()[: problem.n_values] > 0)
        wanted = wanted[~problem.fixed[wanted]]
    else:
        wanted = _positions(problem, masks)
    lower, upper = np.empty(len(wanted)), np.empty(len(wanted))
    done = 0
    for ends in _batches(problem, solution, tau, wanted, n_jobs):
        lower[done : done + len(ends)], upper[done : done + len(ends)] = ends.T
        done += len(ends)
        if progress is not None:
            progress(done, len(wanted))
    state = np.where((state[wanted] == 2) & (upper - lower > width), 1, state[wanted])
    return Identification(float(tau), _names(problem, wanted), lower, upper, state)


def words_of(masks: npt.ArrayLike, n_sources: int) -> WordArray:
    """Python's bit masks as words.

    Examples
    --------
    >>> words_of([1 << 64, 3], 70)[:, 0]
    array([0, 3], dtype=uint64)
    """
    given = np.atleast_1d(np.asarray(masks, dtype=object))
    table = np.zeros((len(given), n_words(n_sources)), dtype=np.uint64)
    for row, mask in enumerate(given):
        for word in range(table.shape[1]):
            table[row, word] = (int(mask) >> (64 * word)) & 0xFFFF_FFFF_FFFF_FFFF
    return table


def _positions(problem: Problem, masks: npt.ArrayLike) -> IntArray:
    """Where subsets stand among the problem's values."""
    if problem.dense:
        return np.asarray(masks, dtype=np.int64)
    at = find_rows(problem.masks, words_of(masks, problem.n_sources))
    if (at < 0).any():
        mask = np.atleast_1d(np.asarray(masks, dtype=object))[np.flatnonzero(at < 0)[0]]
        raise OptionError(f"subset {mask} has no data; measure_.interval tells what it can be")
    return at


def _names(problem: Problem, positions: IntArray) -> npt.NDArray[Any]:
    if problem.dense:
        return positions
    words = problem.masks[positions]
    names = [sum(int(word) << (64 * k) for k, word in enumerate(row)) for row in words]
    return np.array(names, dtype=object)


def _containments(problem: Problem) -> IntArray | None:
    """Pairs of supported subsets, one inside the other with none between; None if dense."""
    if problem.dense or not problem.monotone:
        return None
    masks = problem.masks
    inside = np.zeros((len(masks), len(masks)), dtype=np.bool_)
    for row, mask in enumerate(masks):
        inside[row] = ~(mask & ~masks).any(axis=1)
        inside[row, row] = False
    some = sp.csr_array(inside.astype(np.float32))
    between = np.asarray((some @ some).toarray() > 0)
    return np.argwhere(inside & ~between)


def _batches(
    problem: Problem, solution: Solution, tau: float, wanted: IntArray, n_jobs: int
) -> Iterator[FloatArray]:
    """Extremes of the wanted subsets, some rows at a time."""
    if n_jobs == 1 or len(wanted) <= 1:
        cone = _Ellipsoid(problem, solution, tau)
        for mask in wanted:
            yield np.array([cone.extremes(int(mask))])
        return
    from joblib import Parallel, delayed, effective_n_jobs

    n_parts = min(len(wanted), BATCHES * effective_n_jobs(n_jobs))
    bare = replace(solution, warm=None)
    yield from Parallel(n_jobs=n_jobs, return_as="generator")(
        delayed(_extremes)(problem, bare, tau, part) for part in np.array_split(wanted, n_parts)
    )


def _extremes(problem: Problem, solution: Solution, tau: float, masks: IntArray) -> FloatArray:
    cone = _Ellipsoid(problem, solution, tau)
    return np.array([cone.extremes(int(mask)) for mask in masks])


class _Ellipsoid:
    """Feasible measures of small excess error, as cones around the optimum.

    With d the distance from the optimum, c the gradient there and s = τ · optimum, the excess is
    d'Gd + c'd ≤ s; dividing by s keeps the numbers near one whatever the scale of the error.
    """

    def __init__(self, problem: Problem, solution: Solution, tau: float) -> None:
        self.problem = problem
        conic = conic_form(problem, _containments(problem))
        self.lift = sp.csr_array(conic.lift)
        self.values = solution.values
        at = np.append(solution.values, solution.intercepts)
        if problem.basis is None:
            x = conic.lift.T @ (at - conic.offset)
        else:
            x = sp.linalg.lsqr(conic.lift, at, atol=1e-14, btol=1e-14)[0]
        # A perfect fit has no error to be relative to: then what rounding leaves of the targets.
        floor = 1e-12 * max(abs(problem.constant), 1e-300)
        slack = max(tau * solution.objective, floor)
        gradient = (conic.P @ x + conic.q) / slack
        values, vectors = np.linalg.eigh(conic.P.toarray() / (2 * slack))
        keep = values > 1e-14 * values.max(initial=0.0)
        root = np.sqrt(values[keep])[:, None] * vectors[:, keep].T
        self.root, self.gradient = root, gradient
        n = len(gradient)
        ball = np.vstack([gradient, gradient, -2 * root])
        bound = np.concatenate([[2.0, 0.0], np.zeros(len(root))])
        self.A = sp.csc_array(sp.vstack([conic.A, sp.csr_array(ball)]))
        rest = conic.b - conic.A @ x
        rest[conic.n_equal :] = np.maximum(rest[conic.n_equal :], 0.0)
        rest[: conic.n_equal] = 0.0
        self.b = np.concatenate([rest, bound])
        self.conic, self.n = conic, n
        self.solver: Any = None

    def _set_up(self, q: FloatArray) -> Any:
        """The solver, once: between subsets only its linear objective changes."""
        import clarabel

        settings = clarabel.DefaultSettings()
        settings.verbose = False
        settings.presolve_enable = False
        settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-9
        cones = [
            clarabel.ZeroConeT(self.conic.n_equal),
            clarabel.NonnegativeConeT(len(self.conic.b) - self.conic.n_equal),
            clarabel.SecondOrderConeT(len(self.root) + 2),
        ]
        A = sp.csc_matrix(self.A)
        A.sum_duplicates()
        return clarabel.DefaultSolver(
            sp.csc_matrix((self.n, self.n)), q, A, self.b, cones, settings
        )

    def extremes(self, mask: int) -> tuple[float, float]:
        row = self.lift[[mask]].toarray().ravel()
        if not row.any():
            return float(self.values[mask]), float(self.values[mask])
        if not self.problem.monotone and self.problem.rows is None:
            return self._closed_form(mask, row)
        ends = []
        for sign in (1.0, -1.0):
            if self.solver is None:
                self.solver = self._set_up(sign * row)
            else:
                self.solver.update(q=sign * row)
            answer = self.solver.solve()
            d = np.array(answer.x)
            if "Solved" not in str(answer.status) and not np.isfinite(d).all():
                raise SolverError(
                    f"Clarabel found no end of the near-optimal interval of subset {mask} (status "
                    f"{answer.status}); try a larger tau"
                )
            ends.append(float(self.values[mask] + row @ d))
        low, high = min(ends[0], self.values[mask]), max(ends[1], self.values[mask])
        if self.problem.monotone:
            low = max(low, 0.0)
            high = min(high, 1.0) if self.problem.normal else high
        return float(low), float(high)

    def _closed_form(self, mask: int, row: FloatArray) -> tuple[float, float]:
        # Without constraints the set is an ellipsoid: its half-width along the row is a norm.
        z, rest, *_ = np.linalg.lstsq(self.root.T, row, rcond=None)
        missed = np.abs(self.root.T @ z - row).max()
        half = np.inf if missed > 1e-6 else float(np.sqrt(z @ z))
        del rest
        return float(self.values[mask] - half), float(self.values[mask] + half)
