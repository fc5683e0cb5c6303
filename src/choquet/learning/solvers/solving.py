"""The table of solvers, and the choice among them."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Literal, NamedTuple

import numpy as np

from choquet.arrays import FloatArray, check_option
from choquet.errors import OptionError, SolverWarning
from choquet.learning.problem import Problem, with_diagonal
from choquet.learning.solvers.admm import admm, admm_handles
from choquet.learning.solvers.free import free, free_handles
from choquet.learning.solvers.interior import interior
from choquet.learning.solvers.solution import Solution, check_finite, finish
from choquet.learning.solvers.supported import supported
from choquet.watching import steps

SolverName = Literal["auto", "interior", "admm", "supported", "free"]

INTERIOR_SOURCES = 7
"""Up to here one interior-point call on the whole lattice takes less time than the pools need."""
FALLBACK_SOURCES = 11
"""Up to here the interior point takes over where ADMM does not come to an end."""


class Solver(NamedTuple):
    """One row of the table of solvers."""

    run: Callable[..., Solution]
    meaning: str


SOLVERS: dict[str, Solver] = {
    "interior": Solver(interior, "Clarabel on all constraints; any problem, up to 10-12 sources"),
    "admm": Solver(admm, "pair projections on the dense lattice; squared loss, up to 16 sources"),
    "supported": Solver(supported, "supported subsets, lazy containments; any number of sources"),
    "free": Solver(free, "closed form or coordinate descent; no constraints"),
}


def choose_solver(problem: Problem) -> str:
    """Name of the solver that `solve` takes for a problem with ``solver="auto"``.

    Examples
    --------
    >>> from choquet.learning.problem import least_squares
    >>> from choquet.learning.data.statistics import Statistics
    >>> choose_solver(least_squares(Statistics.from_data([[0.9, 0.4]], [0.6])))
    'interior'
    """
    if free_handles(problem):
        return "free"
    if not problem.dense:
        return "supported"
    if not admm_handles(problem):
        return "interior"
    return "interior" if problem.n_sources <= INTERIOR_SOURCES else "admm"


def solve(
    problem: Problem,
    *,
    solver: SolverName = "auto",
    start: Solution | FloatArray | None = None,
    verbose: bool = False,
) -> Solution:
    """Solve a learning problem.

    Parameters
    ----------
    problem : Problem
    solver : {"auto", "interior", "admm", "supported", "free"}, default "auto"
        A row of `SOLVERS`, or the choice of `choose_solver`.
    start : Solution or array of values, optional
        A solution of a similar problem, or values on the problem's subsets (those of `hlms`, say),
        for solvers that can start from one: "admm" and "supported". The result is the same.
    verbose : bool, default False
        Show progress.

    Warns
    -----
    SolverWarning
        If the solver stopped before its accuracy was reached.

    Examples
    --------
    >>> from choquet.learning.problem import least_squares
    >>> from choquet.learning.data.statistics import Statistics
    >>> problem = least_squares(Statistics.from_data([[0.9, 0.4], [0.2, 0.6]], [0.6, 0.48]))
    >>> solution = solve(problem)
    >>> solution.status, solution.values.round(6)
    ('solved', array([0. , 0.4, 0.7, 1. ]))
    """
    check_option("solver", solver, ["auto", *SOLVERS])
    if isinstance(start, np.ndarray):
        start = _as_start(problem, start)
    if problem.power is not None:
        return _reweighted(problem, solver, verbose)
    name = choose_solver(problem) if solver == "auto" else solver
    with steps("solving"):
        if solver == "auto" and name == "admm" and problem.n_sources <= FALLBACK_SOURCES:
            solution = admm(problem, start=start, verbose=verbose, max_iterations=2500)
            if solution.status != "solved":
                solution = interior(problem, verbose=verbose)
        else:
            solution = SOLVERS[name].run(problem, start=start, verbose=verbose)
    if np.isinf(solution.gap):
        check_finite(solution.objective, solution.gap, f"solver {name}")
    if solution.status != "solved":
        warnings.warn(
            f"solver {name} stopped early ({solution.message}) after {solution.iterations} "
            f"iterations; the objective {solution.objective:.6g} may be above the optimum by "
            f"{solution.gap:.1e}. Scale the data, add a penalty, or try another solver",
            SolverWarning,
            stacklevel=2,
        )
    return solution


def _as_start(problem: Problem, values: FloatArray) -> Solution:
    if values.shape != (problem.n_values,):
        raise OptionError(
            f"start has shape {values.shape}, the problem has {problem.n_values} subsets; give one "
            "value for each of problem.masks"
        )
    intercepts = np.zeros(problem.n_intercepts)
    return finish(
        problem, np.append(values, intercepts), message="given", iterations=0, solver="given"
    )


def _reweighted(problem: Problem, solver: SolverName, verbose: bool) -> Solution:
    """Iteratively reweighted least squares for Σ|g|^p: each |g|^p is capped by a parabola."""
    assert problem.power is not None
    p, weight = problem.power
    plain = replace(problem, power=None)

    def ridged(weights: float | FloatArray) -> Problem:
        return with_diagonal(plain, np.where(problem.fixed, 0.0, 2 * weights))

    if p == 2 or weight == 0:
        solution = solve(ridged(weight), solver=solver)
        return replace(solution, objective=problem.objective(solution.values, solution.intercepts))
    solution = solve(plain, solver=solver, verbose=verbose)
    values, best, smooth, quiet = solution.values, solution, 1.0, 0
    for _ in range(200):
        ridge = weight * (p / 2) * (values**2 + smooth**2) ** (p / 2 - 1)
        solution = solve(ridged(ridge), solver=solver, start=solution)
        moved = float(np.abs(solution.values - values).max(initial=0.0))
        values = solution.values
        score = problem.objective(values, solution.intercepts)
        if score < problem.objective(best.values, best.intercepts) - 1e-12 * abs(score):
            best, quiet = solution, 0
        else:
            quiet += 1
        if smooth > 1e-7:
            smooth *= 0.7
        elif moved < 1e-9 or quiet > 5:
            break
    objective = problem.objective(best.values, best.intercepts)
    return replace(best, objective=objective, gap=np.nan, message="reweighted least squares")
