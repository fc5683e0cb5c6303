"""Loops compiled before the clock runs, as they are in a process that has worked for a second.

`choquet` runs a loop in plain Python until that has cost about as much as compiling it. What first
calls cost is another page; here every loop is compiled when it is first called. What only large
sizes call is called once on little data: a warm-up on a small size misses it.
"""

from __future__ import annotations

import numpy as np

from choquet.lattice import compiling

__all__ = ["call_solvers", "call_trees", "compile_at_once"]


def compile_at_once() -> None:
    """No loop is plain from now on."""
    compiling.PLAIN = 0


def call_solvers() -> None:
    """Each solver of monotone least squares, whichever `solve` takes for small problems."""
    from choquet.learning import Statistics, least_squares, solve

    rng = np.random.default_rng(0)
    X = rng.random((40, 4))
    statistics = Statistics.from_data(X, X.max(axis=1) + 0.1 * rng.standard_normal(40))
    solve(least_squares(statistics), solver="interior")
    solve(least_squares(statistics), solver="admm")
    solve(least_squares(statistics, dense=False), solver="supported")


def call_trees(n_points: int) -> None:
    """The spanning tree of many points, if there are many."""
    from choquet.clustering import ivat
    from choquet.clustering.spanning import EXACT_START, TREE_POINTS

    enough = max(EXACT_START, TREE_POINTS) + 1
    if n_points >= enough:
        ivat(np.random.default_rng(0).random((enough, 8)))
