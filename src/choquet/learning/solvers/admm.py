"""Pair projections along the edges of an order: monotone least squares of any size.

The unknowns are the subsets that the objective depends on (see `containments`). Of a dense problem
the others are filled in afterwards, midway between what lies inside and around them, at no cost to
the objective.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from choquet.errors import OptionError
from choquet.learning.fill import fill_unsupported
from choquet.learning.problem import Problem
from choquet.learning.solvers.admm_edges import solve_edges
from choquet.learning.solvers.containments import order_of
from choquet.learning.solvers.solution import Solution, finish

RESOLUTION = 1e-8
"""Squared errors, as a share of the squared targets, that are as good as none on supported subsets:
an error of 1e-4 of a target, one unit of its fourth digit, and targets are seldom known to more.
Many sources leave many measures that fit without error; to tell them apart by further digits took
minutes, and none predicted better."""


def poset_handles(problem: Problem) -> bool:
    """Whether the problem is one for `poset`: monotone, nothing but quadratic terms."""
    return (
        problem.monotone
        and problem.basis is None
        and problem.rows is None
        and problem.absolute is None
        and problem.power is None
        and (problem.dense or problem.prior is None)
    )


def admm_handles(problem: Problem) -> bool:
    """Whether the problem is one for `admm`: one for `poset`, and dense."""
    return problem.dense and poset_handles(problem)


def admm(problem: Problem, **options: Any) -> Solution:
    """Solve a dense problem with `poset`.

    Examples
    --------
    >>> from choquet.learning.problem import least_squares
    >>> from choquet.learning.data.statistics import Statistics
    >>> X = np.array([[0.9, 0.4], [0.2, 0.6]])
    >>> problem = least_squares(Statistics.from_data(X, [0.6, 0.48]))
    >>> admm(problem).values.round(6)
    array([0. , 0.4, 0.7, 1. ])
    """
    if not admm_handles(problem):
        raise OptionError(
            "solver='admm' needs a dense monotone problem with squared loss and no expert "
            "statements, basis or lp penalty; use solver='interior'"
        )
    return poset(problem, **options)


def poset(
    problem: Problem,
    *,
    start: Solution | None = None,
    verbose: bool = False,
    tolerance: float = 1e-7,
    max_iterations: int = 10_000,
) -> Solution:
    """Solve a monotone quadratic problem along the edges of its order.

    Parameters
    ----------
    problem : Problem
        See `poset_handles`.
    start : Solution, optional
        A solution of a similar problem on the same subsets.
    verbose : bool, default False
        Print objective and bound now and then.
    tolerance : float, default 1e-7
        Where the bound on the distance of the objective from its optimum may stop, relative to
        the objective. On supported subsets alone, a fit to four digits of the targets
        (`RESOLUTION`) is taken as it is, and so is one whose error is proved to be within as much
        of the least.
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
        resolution=0.0 if problem.dense else RESOLUTION,
    )  # fmt: skip
    known = np.zeros(problem.n_values, dtype=bool)
    known[order.origin] = True
    values = np.zeros(problem.n_values)
    values[order.origin] = found.unknowns[order.place]
    if not known.all():
        values = fill_unsupported(values, known)
    return finish(
        problem,
        np.append(values, found.unknowns[order.problem.n_values :]),
        gap=found.gap,
        solved=found.solved,
        message=found.message,
        iterations=found.iterations,
        solver="admm" if problem.dense else "supported",
        warm=found.warm,
    )
