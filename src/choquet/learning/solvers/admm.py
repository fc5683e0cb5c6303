"""Pair projections on the dense lattice: monotone least squares where an interior point is slow.

The unknowns are the subsets that the objective depends on (see `order`); the others are filled in
afterwards, midway between what lies inside and around them, at no cost to the objective.
"""

from __future__ import annotations

import numpy as np

from choquet.errors import OptionError
from choquet.learning.fill import fill_unsupported
from choquet.learning.problem import Problem
from choquet.learning.solvers.admm_edges import solve_edges
from choquet.learning.solvers.containments import order_of
from choquet.learning.solvers.solution import Solution, finish


def admm_handles(problem: Problem) -> bool:
    """Whether the problem is one for this solver: dense, monotone, nothing but quadratic terms."""
    return (
        problem.dense
        and problem.monotone
        and problem.basis is None
        and problem.rows is None
        and problem.absolute is None
        and problem.power is None
    )


def admm(
    problem: Problem,
    *,
    start: Solution | None = None,
    verbose: bool = False,
    tolerance: float = 1e-7,
    max_iterations: int = 10_000,
) -> Solution:
    """Solve a monotone quadratic problem on the dense lattice.

    Parameters
    ----------
    problem : Problem
        Dense and monotone, with a squared loss; see `admm_handles`.
    start : Solution, optional
        A solution of a similar problem to start from.
    verbose : bool, default False
        Print objective and bound now and then.
    tolerance : float, default 1e-7
        Where the bound on the distance of the objective from its optimum may stop, relative to
        the objective.
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
    order = order_of(problem)
    found = solve_edges(
        order, start=start, verbose=verbose, tolerance=tolerance, max_iterations=max_iterations
    )
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
        solver="admm",
        warm=found.warm,
    )
