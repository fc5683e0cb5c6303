"""Only supported subsets as unknowns, containments added as they are violated: any N.

Monotone values on any family of subsets extend to the whole lattice, so all containments within the
family are enough, and exact. `poset` solves on them. Where it does not come to an end, and up to a
few thousand subsets, an interior point does, in rounds: most containments never bind, so the steps
of the observed chains come first, then for each subset the contained one that exceeds it most.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from choquet.arrays import FloatArray, IntArray
from choquet.errors import OptionError
from choquet.lattice.lazy import sp
from choquet.lattice.wide import WordArray
from choquet.learning.problem import Problem
from choquet.learning.solvers.admm import poset, poset_handles
from choquet.learning.solvers.interior import conic_form, run_clarabel
from choquet.learning.solvers.solution import Solution, finish

TOLERANCE = 1e-9
"""Decreases below this are left to the exact closure."""

EXACT_SUBSETS = 3000
"""Beyond this many subsets the rounds of the interior point take too long."""


@dataclass(frozen=True, eq=False)
class _Warm:
    """Containments that turned out to matter between these subsets."""

    masks: WordArray
    pairs: IntArray


def supported(
    problem: Problem,
    *,
    start: Solution | None = None,
    verbose: bool = False,
    max_rounds: int = 40,
) -> Solution:
    """Solve on the problem's own subsets, whatever the number of sources.

    Parameters
    ----------
    problem : Problem
        Monotone, built with ``dense=False``.
    start : Solution, optional
        Of the same subsets: its values and the containments that matter come first.
    verbose : bool, default False
        Print progress.
    max_rounds : int, default 40
        Rounds in which the interior point gets the containments it has violated.

    Examples
    --------
    >>> from choquet.learning.problem import least_squares
    >>> from choquet.learning.data.statistics import Statistics
    >>> rng = np.random.default_rng(0)
    >>> X = rng.random((20, 70))
    >>> problem = least_squares(Statistics.from_data(X, X.mean(axis=1)), dense=False)
    >>> supported(problem).status
    'solved'
    """
    if problem.dense or problem.basis is not None or problem.rows is not None:
        raise OptionError(
            "solver='supported' needs a problem built with dense=False, without expert "
            "statements or basis"
        )
    if not problem.monotone:
        raise OptionError("solver='supported' is for monotone problems; use solver='free'")
    # A free top and intercepts leave flat directions, where few subsets are best left to Clarabel.
    flat = problem.n_intercepts > 0 or not problem.normal
    if poset_handles(problem) and not (flat and problem.n_values <= EXACT_SUBSETS):
        solution = poset(problem, start=start, verbose=verbose)
        if solution.status == "solved" or problem.n_values > EXACT_SUBSETS:
            return solution
    warm = None if start is None else start.warm
    if isinstance(warm, _Warm) and np.array_equal(warm.masks, problem.masks):
        pairs = warm.pairs
    else:
        pairs = chain_pairs(problem)
    iterations = 0
    for round_number in range(1, max_rounds + 1):
        conic = conic_form(problem, pairs)
        x, gap, message, steps = run_clarabel(conic)
        unknowns = conic.lift @ x + conic.offset
        iterations += steps
        new, count = violated_containments(problem, unknowns[: problem.n_values], TOLERANCE)
        if verbose:
            print(  # noqa: T201 - asked for
                f"supported: round {round_number}, {len(pairs)} containments, {count} violated"
            )
        if not len(new):
            break
        pairs = np.unique(np.concatenate([pairs, new]), axis=0)
    return finish(
        problem,
        unknowns,
        gap=gap,
        solved=message == "Solved" and not len(new),
        message=f"{round_number} rounds, {count} containments violated",
        iterations=iterations,
        solver="supported",
        warm=_Warm(problem.masks, pairs),
    )


def chain_pairs(problem: Problem) -> IntArray:
    """Containments to start from: each subset with its smallest supersets among comparable ones.

    Comparable pairs that one sample saw are the off-diagonal entries of the quadratic form; of
    these the ones with the next larger size are kept, and every subset is below the top.
    """
    n = problem.n_values
    sizes = np.bitwise_count(problem.masks).sum(axis=1).astype(np.int64)
    entries = sp.coo_array(problem.quadratic)
    a, b = entries.row.astype(np.int64), entries.col.astype(np.int64)
    inside = (a < n) & (b < n)
    a, b = a[inside], b[inside]
    up = sizes[a] < sizes[b]
    a, b = a[up], b[up]
    step, shortest = sizes[b] - sizes[a], np.full(n, problem.n_sources)
    np.minimum.at(shortest, a, step)
    kept = step == shortest[a]
    pairs = np.column_stack([a[kept], b[kept]])
    below = np.column_stack([np.arange(n - 1), np.full(n - 1, n - 1)])
    return np.unique(np.concatenate([pairs, below]), axis=0)


def violated_containments(
    problem: Problem, values: FloatArray, tolerance: float
) -> tuple[IntArray, int]:
    """Worst violated containment below and above each subset; and how many are violated at all."""
    from choquet.learning._kernels import worst_containments

    sizes = np.bitwise_count(problem.masks).sum(axis=1).astype(np.int64)
    order = np.argsort(sizes, kind="stable")
    worst, above, count = worst_containments(problem.masks, sizes, order, values, tolerance)
    at, under = np.flatnonzero(worst >= 0), np.flatnonzero(above >= 0)
    pairs = [np.column_stack([worst[at], at]), np.column_stack([under, above[under]])]
    return np.unique(np.concatenate(pairs), axis=0), int(count)
