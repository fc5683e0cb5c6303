"""Supported subsets alone, along the edges of their order: any number of sources."""

from __future__ import annotations

import numpy as np

from choquet.learning.problem import Problem
from choquet.learning.solvers.admm_edges import solve_edges
from choquet.learning.solvers.containments import order_of
from choquet.learning.solvers.solution import Solution, finish

RESOLUTION = 1e-8
"""Squared errors, as a share of the squared targets, that are as good as none: an error of 1e-4 of
a target, one unit of its fourth digit, and targets are seldom known to more. Many sources leave
many measures that fit without error; to tell them apart by further digits took minutes, and none
predicted better."""


def poset_handles(problem: Problem) -> bool:
    """Whether the problem is one for `poset`: monotone, nothing but quadratic terms."""
    return (
        not problem.dense
        and problem.monotone
        and problem.basis is None
        and problem.rows is None
        and problem.absolute is None
        and problem.prior is None
        and problem.power is None
    )


def poset(
    problem: Problem,
    *,
    start: Solution | None = None,
    verbose: bool = False,
    tolerance: float = 1e-7,
    max_iterations: int = 10_000,
) -> Solution:
    """Solve a monotone quadratic problem on supported subsets alone.

    Parameters
    ----------
    problem : Problem
        Built with ``dense=False``; see `poset_handles`.
    start : Solution, optional
        A solution of a similar problem on the same subsets.
    verbose : bool, default False
        Print objective and bound now and then.
    tolerance : float, default 1e-7
        Where the bound on the distance of the objective from its optimum may stop, relative to
        the objective. A fit to four digits of the targets (`RESOLUTION`) is taken as it is, and so
        is one whose error is proved to be within as much of the least.
    max_iterations : int, default 10_000

    References
    ----------
    Boyd, Parikh, Chu, Peleato & Eckstein (2011), "Distributed optimization and statistical
    learning via the alternating direction method of multipliers"; Best & Chakravarti (1990),
    "Active set algorithms for isotonic regression", for pools of equal values.

    Examples
    --------
    >>> from choquet.learning.problem import least_squares
    >>> from choquet.learning.data.statistics import Statistics
    >>> X = np.random.default_rng(0).random((20, 70))
    >>> problem = least_squares(Statistics.from_data(X, X.mean(axis=1)), dense=False)
    >>> poset(problem).objective < 1e-6
    True
    """
    order = order_of(problem)
    found = solve_edges(
        order, start=start, verbose=verbose, tolerance=tolerance, max_iterations=max_iterations,
        resolution=RESOLUTION,
    )  # fmt: skip
    n = order.problem.n_values
    return finish(
        problem,
        np.append(found.unknowns[order.place], found.unknowns[n:]),
        gap=found.gap,
        solved=found.solved,
        message=found.message,
        iterations=found.iterations,
        solver="supported",
        warm=found.warm,
    )
