"""What the data determine: an interval for each value, and identified, touched or free subsets.

A subset with a gap in the data is *touched*; its value can still be anything if other values can
make up for it. The interval of g(A) is the range of g(A) over all feasible measures whose error is
near the least: within what a level of confidence allows, or within (1 + τ) of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from choquet.arrays import BoolArray, FloatArray, IntArray
from choquet.certainty.levels import check_level
from choquet.certainty.noise import Noise
from choquet.certainty.region import PLAIN, Region, confidence_region
from choquet.errors import OptionError, TooLargeError
from choquet.lattice.lazy import sp
from choquet.lattice.wide import WordArray, chains_of, find_rows, n_words, unique_rows
from choquet.learning.data.statistics import Statistics
from choquet.learning.problem import Problem
from choquet.learning.solvers.solution import Solution
from choquet.shown import Shown
from choquet.watching import steps

_MAX_SUPPORTED = 4_000
"""Supported subsets up to which the quadratic form is taken apart whole."""

STATES = ("free", "touched", "identified")
"""Names of the states 0, 1 and 2: no data, data but no unique value, one value."""


BATCHES = 8
"""Batches per process, so that progress shows and no process waits long for the last one."""
EVERY = 8
"""Sources up to which all subsets are looked at unless told otherwise; beyond, the supported."""
SEEN = 0.05
"""Share of a usual gap that a value must move the outputs by, going from 0 to 1, to be seen."""


@dataclass(frozen=True, eq=False, repr=False)
class Identification(Shown):
    """Interval and state of each subset.

    Attributes
    ----------
    tau : float
        Relative slack of the error; infinite where the data say nothing of the noise.
    masks : array of shape (K,)
        Subsets, as bit masks: 64-bit integers up to 16 sources, Python's own beyond.
    lower, upper : arrays of shape (K,)
        Range of g(A) over the measures whose error is within the slack.
    state : array of shape (K,)
        0 free, 1 touched, 2 identified: positions in `STATES`.
    level : float or None
        The level of confidence that the slack is for; None if `tau` was given.
    """

    tau: float
    masks: npt.NDArray[Any]
    lower: FloatArray
    upper: FloatArray
    state: IntArray
    level: float | None = None

    def text(self) -> str:
        """How many values are known, and how well.

        Examples
        --------
        >>> Identification(0.01, np.array([1, 2]), np.array([0.3, 0.0]), np.array([0.31, 1.0]),
        ...                np.array([2, 0]), 0.95)
        Intervals of 2 values, 95 % sure: 1 identified, 0 touched by data, 1 free.
        Half of the intervals are no longer than 0.505, the longest is 1.
        """
        sure = f"{100 * self.level:g} % sure" if self.level else f"error within {self.tau:g}"
        free, touched, known = (int((self.state == k).sum()) for k in range(3))
        first = f"Intervals of {len(self.masks)} values, {sure}: {known} identified"
        first += f", {touched} touched by data, {free} free."
        if not len(self.masks):
            return first
        half, most = np.median(self.width), self.width.max()
        line = f"Half of the intervals are no longer than {half:.3g}, the longest is {most:.3g}."
        return f"{first}\n{line}"

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


def states(problem: Problem, *, gap: float = 1.0) -> IntArray:
    """State of each of the problem's values: 0 free, 1 touched, 2 identified by the data alone.

    A value is identified if the data see it: going from 0 to 1, while all other values make up for
    it as well as they can, it moves the outputs by 5 % of a usual gap or more (root of the sum of
    squares over the rows). A row with a gap of 1e-4 touches a value and does not identify it.
    Known values are identified.

    Parameters
    ----------
    problem : Problem
    gap : float, default 1.0
        A usual gap between neighbouring inputs of a row.

    Examples
    --------
    >>> from choquet.learning.problem import least_squares
    >>> from choquet.learning.data.statistics import Statistics
    >>> states(least_squares(Statistics.from_data([[0.9, 0.4, 0.4]], [0.6])))
    array([2, 2, 0, 0, 0, 0, 0, 2])
    >>> states(least_squares(Statistics.from_data([[0.4001, 0.4, 0.4]], [0.4])))
    array([2, 1, 0, 0, 0, 0, 0, 2])
    """
    n = problem.n_values
    state = np.zeros(n, dtype=np.int64)
    fixed = problem.fixed
    state[fixed] = 2
    diagonal = problem.quadratic.diagonal()
    free = np.append(~fixed, np.ones(problem.n_intercepts, dtype=bool))
    used = np.flatnonzero((diagonal > 0) & free)
    if not len(used):
        return state
    block = sp.csr_array(problem.quadratic)[used][:, used].toarray()
    scale = 1 / np.sqrt(diagonal[used])
    values, vectors = np.linalg.eigh(block * scale[:, None] * scale[None, :])
    # The variance of each value for noise of variance 1: what the others leave of its information.
    floor = 1e-12 * values.max()
    variance = 2 * scale**2 * (vectors**2 / np.maximum(values, floor)).sum(axis=1)
    seen = 1 / variance >= (SEEN * gap) ** 2
    null = vectors[:, values <= 1e-10 * values.max()]
    seen &= (null**2).sum(axis=1) <= 1e-12
    inner = used < n
    state[used[inner]] = np.where(seen[inner], 2, 1)
    return state


def identify(
    problem: Problem,
    solution: Solution,
    *,
    level: float = 0.95,
    n_samples: float | None = None,
    tau: float | None = None,
    width: float = 0.05,
    masks: npt.ArrayLike | None = None,
    gap: float = 1.0,
    statistics: Statistics | None = None,
    noise: Noise | None = None,
    n_jobs: int = 1,
    progress: Callable[[int, int], None] | None = None,
) -> Identification:
    """Interval of each value: the range that data and constraints leave it.

    Parameters
    ----------
    problem : Problem
        With a squared loss, dense or of up to 4,000 supported subsets.
    solution : Solution
        Its optimum.
    level : float, default 0.95
        Level of confidence; see `choquet.certainty.region.confidence_slack`.
    n_samples : float, optional
        Number of rows, or the sum of their weights, which a level needs.
    tau : float, optional
        In place of a level: measures whose objective is at most (1 + tau) times the optimum.
    width : float, default 0.05
        Longest interval that still counts as identified; a subset with data and a longer one, or
        with too little information, is only touched.
    masks : array-like of ints, optional
        Subsets to look at; by default all of up to 8 sources, and the supported ones beyond. Each
        takes two convex programs of the size of the problem: beyond 10 sources name those that
        matter.
    gap : float, default 1.0
        As in `states`.
    statistics : Statistics, optional
        The data, as in `choquet.certainty.region.confidence_slack`.
    noise : Noise, optional
        How the noise differs between rows, as there.
    n_jobs : int, default 1
        Processes, through joblib (-1: one per core).
    progress : callable, optional
        Called with (done, total) after each batch.

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
    (array([0, 1, 2, 3]), array([False,  True,  True, False]))
    """
    if problem.absolute is not None or problem.prior is not None:
        raise OptionError("identify needs a problem with squared loss and no family prior")
    if not problem.dense and problem.n_values > _MAX_SUPPORTED:
        raise TooLargeError(
            f"{problem.n_values:,} supported subsets are more than the {_MAX_SUPPORTED:,} that "
            "identify can look into; ask a model of fewer samples, or use support_interval"
        )
    pairs = _containments(problem)
    if tau is None:
        level = check_level(level)
        if n_samples is None:
            raise OptionError("a level needs n_samples, the number of rows; or give tau")
        region = confidence_region(
            problem, solution, n_samples, level, "values", statistics, noise, pairs
        )
        most = max(region.slack)
        share = most / solution.objective if solution.objective > 0 else np.inf
    else:
        if not tau > 0:
            raise OptionError(f"tau={tau} must be positive")
        share = float(tau)
        slack = max(share * solution.objective, 1e-12 * max(abs(problem.constant), 1e-300))
        region = Region(problem, solution, slack, pairs)
    wanted = _wanted(problem) if masks is None else _positions(problem, masks)
    lower, upper = np.empty(len(wanted)), np.empty(len(wanted))
    done = 0
    with steps("intervals of values", len(wanted)) as advance:
        for ends in _batches(region, wanted, n_jobs):
            lower[done : done + len(ends)], upper[done : done + len(ends)] = ends.T
            done += len(ends)
            advance(len(ends))
            if progress is not None:
                progress(done, len(wanted))
    state = states(problem, gap=gap)[wanted]
    state = np.where((state == 2) & (upper - lower > width), 1, state)
    given = level if tau is None else None
    return Identification(share, _names(problem, wanted), lower, upper, state, given)


def _wanted(problem: Problem) -> IntArray:
    """Positions to look at: all of a small lattice, else those of free values with data."""
    if problem.dense and problem.n_sources <= EVERY:
        return np.arange(problem.n_values)
    wanted = np.flatnonzero(problem.quadratic.diagonal()[: problem.n_values] > 0)
    return wanted[~problem.fixed[wanted]]


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
        given = np.atleast_1d(np.asarray(masks))
        whole = np.issubdtype(given.dtype, np.integer)
        if not whole or given.ndim != 1 or (given < 0).any() or (given >= problem.n_values).any():
            raise OptionError(
                f"masks={masks!r} must be whole numbers from 0 to {problem.n_values - 1}, a bit "
                f"for each of the {problem.n_sources} sources"
            )
        return given.astype(np.int64)
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


def _batches(region: Region, wanted: IntArray, n_jobs: int) -> Iterator[FloatArray]:
    """Ends of the wanted values, some rows at a time."""
    if n_jobs == 1 or len(wanted) <= 1:
        # What whole arrays do in a fifth of a second is one batch: no one waits for progress there.
        work = 2.0 * len(wanted) * region.problem.n_values**2
        n_parts = int(min(np.ceil(BATCHES * work / PLAIN), BATCHES, len(wanted)))
        for part in np.array_split(wanted, max(1, n_parts)):
            yield _ends(region, part)
        return
    from joblib import Parallel, delayed, effective_n_jobs

    n_parts = min(len(wanted), BATCHES * effective_n_jobs(n_jobs))
    yield from Parallel(n_jobs=n_jobs, return_as="generator")(
        delayed(_ends)(region, part) for part in np.array_split(wanted, n_parts)
    )


def _ends(region: Region, part: IntArray) -> FloatArray:
    """Ends of the values at these positions; those of monotone measures lie in [0, g(X)]."""
    problem, size = region.problem, len(region.values)
    rows = sp.csr_array((np.ones(len(part)), (np.arange(len(part)), part)), (len(part), size))
    ends = region.ends(rows)
    if problem.monotone:
        ends = np.clip(ends, 0.0, 1.0 if problem.normal else None)
    return ends
