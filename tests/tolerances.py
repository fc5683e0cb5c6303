"""How near two answers must be, derived from what the solvers prove and not from one processor.

A solver proves that its objective lies at most `Solution.gap` above the optimum. Two things are
left to say: how well floating point knows the objective, and what the objective says of the values.
"""

from __future__ import annotations

import numpy as np

from choquet.learning import Problem, Solution

ROUNDING = 16 * np.finfo(float).eps
"""An objective is a difference of terms as large as `Problem.constant`, so its rounding error is
this share of that number; 16 leaves room for the order in which a processor adds."""


def objective_error(problem: Problem, *solutions: Solution) -> float:
    """How far the objectives of solutions of one problem may lie apart."""
    proved = max((max(solution.gap, 0.0) for solution in solutions), default=0.0)
    return proved + ROUNDING * problem.constant


def value_error(problem: Problem, *solutions: Solution) -> float:
    """How far the values of solutions of one problem may lie apart.

    With the smallest curvature c of the objective in the values that data or penalties speak of,
    values whose objective lies e above the optimum are at most sqrt(2 e / c) away from it; two such
    answers twice that.
    """
    quadratic = problem.quadratic.toarray()
    free = np.append(~problem.fixed, np.ones(problem.n_intercepts, dtype=bool)) & (
        quadratic.diagonal() > 0
    )
    curvature = np.linalg.eigvalsh(quadratic[np.ix_(free, free)])[0]
    assert curvature > 0, "the data do not determine the values"
    away = np.sqrt(2 * objective_error(problem, *solutions) / curvature)
    return float(away * max(len(solutions), 1))
