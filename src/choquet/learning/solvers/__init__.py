"""Solvers of the learning problem, as rows of a table, and the choice among them."""

from typing import TYPE_CHECKING

from choquet.doors import lazy_door

__all__ = ["SOLVERS", "Solution", "Solver", "SolverName", "choose_solver", "hlms", "solve"]

if TYPE_CHECKING:
    from choquet.learning.solvers.hlms import hlms
    from choquet.learning.solvers.solution import Solution
    from choquet.learning.solvers.solving import (
        SOLVERS,
        Solver,
        SolverName,
        choose_solver,
        solve,
    )
else:
    __getattr__, __dir__ = lazy_door(
        __name__,
        {
            "hlms": "hlms",
            "solution": "Solution",
            "solving": "SOLVERS Solver SolverName choose_solver solve",
        },
    )
