"""What every solver returns, and the exact closure that every monotone answer goes through."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from choquet.arrays import FloatArray
from choquet.errors import SolverError
from choquet.lattice import upward_maximum
from choquet.learning.problem import Problem


@dataclass(frozen=True, eq=False)
class Solution:
    """Values on the problem's subsets, and how good they are.

    Attributes
    ----------
    values : array of shape (K,)
        Values on `Problem.masks`; monotone to the bit if the problem is.
    bias : float
        The first intercept, or zero.
    objective : float
        Recomputed from `values`, not the solver's own account.
    violation : float
        Largest broken constraint before the closure.
    gap : float
        Bound on how far the objective lies above the optimum (NaN where the solver has none).
    status : {"solved", "inaccurate"}
    message : str
        The solver's own words.
    iterations : int
    solver : str
    intercepts : array of shape (B,)
    warm : object
        What the same solver can start from next time.
    """

    values: FloatArray
    bias: float
    objective: float
    violation: float
    gap: float
    status: Literal["solved", "inaccurate"]
    message: str
    iterations: int
    solver: str
    intercepts: FloatArray = field(default_factory=lambda: np.zeros(0), repr=False)
    warm: Any = field(default=None, repr=False)


def close(problem: Problem, values: FloatArray) -> tuple[FloatArray, float]:
    """Nearest-above exact monotone values, and the largest decrease that had to be mended."""
    g = np.array(values, dtype=np.float64)
    if problem.n_values and not problem.masks[0].any():
        g[0] = 0.0
    if not problem.monotone:
        if problem.normal and problem.has_top:
            g[-1] = 1.0
        return g, 0.0
    g = np.maximum(g, 0.0)
    if problem.normal:
        g = np.minimum(g, 1.0)
        if problem.has_top:
            g[-1] = 1.0
    closed = upward_maximum(g) if problem.dense else _close_supported(problem, g)
    return closed, float(np.abs(closed - values).max(initial=0.0))


def _close_supported(problem: Problem, values: FloatArray) -> FloatArray:
    from choquet.learning._kernels import close_containments

    sizes = np.bitwise_count(problem.masks).sum(axis=1).astype(np.int64)
    order = np.argsort(sizes, kind="stable")
    closed = values.copy()
    close_containments(problem.masks, sizes, order, closed)
    return closed


def check_finite(objective: float, gap: float | None, solver: str) -> None:
    """Raise `SolverError` for an answer whose objective or gap is not a finite number."""
    if not (np.isfinite(objective) and (gap is None or np.isfinite(gap))):
        told = "" if gap is None else f", gap {gap:g}"
        raise SolverError(
            f"{solver} found no usable answer (objective {objective:g}{told}): inputs, weights or "
            "penalties are too large or too small; bring them near 1"
        )


def finish(
    problem: Problem,
    unknowns: FloatArray,
    *,
    gap: float | None = None,
    solved: bool = True,
    message: str,
    iterations: int,
    solver: str,
    warm: Any = None,
) -> Solution:
    """Close, recompute the objective, and wrap up values followed by intercepts.

    A solver without a bound on its distance from the optimum passes no gap.
    """
    closed, moved = close(problem, unknowns[: problem.n_values])
    intercepts = unknowns[problem.n_values :]
    violation = moved
    if problem.rows is not None:
        at = problem.rows.matrix @ closed
        broken = np.maximum(problem.rows.lower - at, at - problem.rows.upper)
        violation = max(violation, float(broken.max(initial=0.0)))
    with np.errstate(over="ignore", invalid="ignore"):
        objective = problem.objective(closed, intercepts)
    # An infinite gap: none was found so far. Whoever asks for an answer in the end refuses that.
    check_finite(objective, None if gap is None or np.isposinf(gap) else gap, solver)
    return Solution(
        values=closed,
        bias=float(intercepts[0]) if len(intercepts) else 0.0,
        objective=objective,
        violation=violation,
        gap=np.nan if gap is None else float(gap),
        status="solved" if solved else "inaccurate",
        message=message,
        iterations=iterations,
        solver=solver,
        intercepts=intercepts,
        warm=warm,
    )
