"""Interior point: any problem, to eight digits or better, while the lattice is small.

Clarabel solves min ½x'Px + q'x subject to Ax + s = b with s in a product of cones. This module
writes a `Problem` in that form and reads the answer back; it believes nothing without recomputing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from choquet.arrays import FloatArray, IntArray
from choquet.errors import SolverError
from choquet.lattice import cover_pairs
from choquet.lattice.lazy import sp
from choquet.lattice.vectors import dot
from choquet.learning.problem import Problem
from choquet.learning.solvers.solution import Solution, check_finite, finish

__all__ = ["Conic", "conic_form", "interior", "run_clarabel"]

FEASIBLE = 1e-6
"""Largest closure that still counts as solved."""
GOOD = 1e-8
"""Relative duality gap that counts as solved, whatever tighter tolerance was asked for."""


@dataclass(frozen=True, eq=False)
class Conic:
    """A problem in Clarabel's form; unknowns of the problem are ``lift @ x + offset``."""

    P: Any
    q: FloatArray
    A: Any
    b: FloatArray
    n_equal: int
    lift: Any
    offset: FloatArray

    def __post_init__(self) -> None:
        for part in (self.P.data, self.q, self.A.data, self.b):
            if not np.isfinite(part).all():
                raise SolverError(
                    "the problem holds numbers that are not finite: inputs, weights or penalties "
                    "are too large; bring them near 1"
                )


def interior(
    problem: Problem,
    *,
    start: Solution | None = None,  # noqa: ARG001 - an interior point cannot use a start
    verbose: bool = False,
    pairs: IntArray | None = None,
) -> Solution:
    """Solve with Clarabel.

    Parameters
    ----------
    problem : Problem
    start : Solution, optional
        Ignored.
    verbose : bool, default False
        Let Clarabel print its iterations.
    pairs : array of shape (E, 2), optional
        Positions (smaller, larger) to keep in order; the cover pairs of the lattice by default.

    References
    ----------
    Goulart & Chen (2024), "Clarabel: an interior-point solver for conic programs with quadratic
    objectives".

    Examples
    --------
    >>> from choquet.learning.problem import least_squares
    >>> from choquet.learning.data.statistics import Statistics
    >>> X = np.array([[0.9, 0.4], [0.2, 0.6]])
    >>> problem = least_squares(Statistics.from_data(X, [0.6, 0.48]))
    >>> interior(problem).values.round(6)
    array([0. , 0.4, 0.7, 1. ])
    """
    conic = conic_form(problem, pairs)
    x, gap, message, iterations = run_clarabel(conic, verbose=verbose)
    solution = finish(
        problem,
        conic.lift @ x + conic.offset,
        gap=gap,
        solved=message == "Solved",
        message=message,
        iterations=iterations,
        solver="interior",
    )
    if solution.violation > FEASIBLE:
        raise SolverError(
            f"Clarabel stopped with status {message} and broke a constraint by "
            f"{solution.violation:.1e}; check that the expert statements do not contradict "
            "each other, or try solver='admm'"
        )
    return solution


def conic_form(problem: Problem, pairs: IntArray | None = None) -> Conic:
    """Write a problem as a cone program, with known values substituted."""
    lift, offset, equal, equal_to = _coordinates(problem)
    n = lift.shape[1]
    P = lift.T @ problem.quadratic @ lift
    q = lift.T @ (problem.linear + problem.quadratic @ offset)
    blocks: list[tuple[Any, FloatArray]] = []
    order = order_rows(problem, pairs)
    if order is not None:
        blocks.append((-(order @ lift), order @ offset))
    if problem.rows is not None:
        blocks += row_blocks(problem, lift, offset)
    form = _Growing(P, q, n, [(equal, equal_to)], blocks)
    if problem.prior is not None and problem.prior.alpha > 0:
        form.add_prior(problem, lift, offset)
    if problem.l1 > 0:
        form.add_l1(problem, lift, offset)
    if problem.absolute is not None:
        form.add_absolute(problem, lift, offset)
    return form.conic(lift, offset)


def _coordinates(problem: Problem) -> tuple[Any, FloatArray, Any, FloatArray]:
    extra = problem.n_intercepts
    size = problem.n_values + extra
    fixed = np.append(problem.fixed, np.zeros(extra, dtype=bool))
    offset = np.append(problem.start, np.zeros(extra))
    if problem.basis is None:
        free = np.flatnonzero(~fixed)
        lift = sp.csc_array((np.ones(len(free)), (free, np.arange(len(free)))), (size, len(free)))
        return lift, offset, sp.csr_array((0, len(free))), np.zeros(0)
    basis = problem.basis
    lift = sp.csc_array(sp.block_diag([basis, sp.eye_array(extra)]) if extra else basis)
    # ∅ is zero in every basis by construction; only the top can need a row.
    kept = np.flatnonzero(problem.fixed & (np.abs(basis).sum(axis=1) > 0))
    equal = sp.csr_array(lift)[kept]
    return lift, np.zeros(size), equal, problem.start[kept]


def order_rows(problem: Problem, pairs: IntArray | None) -> Any:
    if not problem.monotone:
        return None
    size = problem.n_values + problem.n_intercepts
    if pairs is None:
        pairs = cover_pairs(problem.n_sources)
    count = np.arange(len(pairs))
    data = np.concatenate([np.full(len(pairs), -1.0), np.ones(len(pairs))])
    at = (np.concatenate([count, count]), np.concatenate([pairs[:, 0], pairs[:, 1]]))
    order = sp.csr_array((data, at), shape=(len(pairs), size))
    if problem.dense:
        return order
    floor = sp.eye_array(problem.n_values, size, format="csr")
    return sp.csr_array(sp.vstack([order, floor]))


def row_blocks(problem: Problem, lift: Any, offset: FloatArray) -> list[tuple[Any, FloatArray]]:
    rows = problem.rows
    assert rows is not None
    matrix = rows.matrix
    if problem.n_intercepts:
        matrix = sp.hstack([matrix, sp.csr_array((matrix.shape[0], problem.n_intercepts))])
    matrix = sp.csr_array(matrix)
    at, inside = matrix @ offset, matrix @ lift
    upper, lower = np.isfinite(rows.upper), np.isfinite(rows.lower)
    return [
        (inside[np.flatnonzero(upper)], (rows.upper - at)[upper]),
        (-inside[np.flatnonzero(lower)], (at - rows.lower)[lower]),
    ]


class _Growing:
    """A cone program under construction: unknowns are appended on the right."""

    def __init__(
        self,
        P: Any,
        q: FloatArray,
        n: int,
        equal: list[tuple[Any, FloatArray]],
        below: list[tuple[Any, FloatArray]],
    ) -> None:
        self.P, self.q, self.n = sp.csc_array(P), q, n
        self.equal, self.below = equal, below

    def _widen(self, P: Any, cross: Any, q: FloatArray) -> None:
        self.P = sp.csc_array(sp.block_array([[self.P, cross], [cross.T, P]]))
        self.q = np.concatenate([self.q, q])
        self.n += len(q)

    def add_prior(self, problem: Problem, lift: Any, offset: FloatArray) -> None:
        prior = problem.prior
        assert prior is not None
        s, T = 2 * prior.alpha, prior.basis
        pick = sp.csr_array(lift)[: problem.n_values]
        at = offset[: problem.n_values]
        self.P = self.P + s * sp.csc_array(pick.T @ pick)
        self.q = self.q + s * (pick.T @ at)
        self._widen(s * (T.T @ T), -s * (pick.T @ T), -s * (T.T @ at))

    def add_l1(self, problem: Problem, lift: Any, offset: FloatArray) -> None:
        inner = np.flatnonzero(~problem.fixed)
        pick = sp.csr_array(lift)[inner]
        if problem.monotone:  # |g| = g: a linear term, no new unknowns
            self.q = self.q.copy()
            self.q[: pick.shape[1]] += problem.l1 * np.asarray(pick.sum(axis=0)).ravel()
            return
        n, k = self.n, len(inner)
        self._widen(sp.csc_array((k, k)), sp.csc_array((n, k)), np.full(k, problem.l1))
        pad = sp.csr_array((k, n - pick.shape[1]))
        minus = -sp.eye_array(k)
        at = offset[inner]
        self.below.append((sp.hstack([pick, pad, minus]), -at))
        self.below.append((sp.hstack([-pick, pad, minus]), at))

    def add_absolute(self, problem: Problem, lift: Any, offset: FloatArray) -> None:
        loss = problem.absolute
        assert loss is not None
        n, k = self.n, len(loss.targets)
        self._widen(sp.csc_array((k, k)), sp.csc_array((n, k)), loss.weights)
        inside = sp.csr_array(loss.design @ lift)
        pad = sp.csr_array((k, n - inside.shape[1]))
        minus = -sp.eye_array(k)
        rest = loss.targets - loss.design @ offset
        self.below.append((sp.hstack([inside, pad, minus]), rest))
        self.below.append((sp.hstack([-inside, pad, minus]), -rest))

    def conic(self, lift: Any, offset: FloatArray) -> Conic:
        blocks = [
            (sp.csr_array(sp.hstack([A, sp.csr_array((A.shape[0], self.n - A.shape[1]))])), b)
            for A, b in (*self.equal, *self.below)
        ]
        A = sp.csr_array(sp.vstack([block for block, _ in blocks]))
        b = np.concatenate([bound for _, bound in blocks])
        n_equal = self.equal[0][0].shape[0]
        # Rows without unknowns say nothing, and cost a cone each.
        keep = np.flatnonzero((np.diff(A.indptr) > 0) | (np.arange(len(b)) < n_equal))
        wide = sp.hstack([lift, sp.csc_array((lift.shape[0], self.n - lift.shape[1]))])
        return Conic(self.P, self.q, A[keep], b[keep], n_equal, sp.csr_array(wide), offset)


def run_clarabel(
    conic: Conic, *, verbose: bool = False, cones: list[Any] | None = None
) -> tuple[FloatArray, float, str, int]:
    """Unknowns, recomputed duality gap, status and iterations of one call."""
    import clarabel

    settings = clarabel.DefaultSettings()
    settings.verbose = verbose
    # Tighter than it can always reach: a perfect fit shows in the values only as the square root
    # of the gap. What it reaches is judged below, not by its own word.
    settings.tol_gap_abs = settings.tol_gap_rel = 1e-14
    settings.tol_feas = 1e-11
    P = sp.csc_matrix(sp.triu(conic.P, format="csc"))
    A = sp.csc_matrix(conic.A)
    P.sum_duplicates()
    A.sum_duplicates()
    scale = max(float(np.abs(P.diagonal()).max(initial=0.0)), float(np.abs(conic.q).max(initial=0)))
    scale = scale or 1.0
    if cones is None:
        cones = [
            clarabel.ZeroConeT(conic.n_equal),
            clarabel.NonnegativeConeT(len(conic.b) - conic.n_equal),
        ]
    answer = clarabel.DefaultSolver(P / scale, conic.q / scale, A, conic.b, cones, settings).solve()
    x, z = np.array(answer.x), np.array(answer.z)
    status = str(answer.status)
    if not np.isfinite(x).all() or "Infeasible" in status:
        raise SolverError(
            f"Clarabel found no answer (status {status}): the statements contradict each other, "
            "or the problem is unbounded; drop expert statements one by one to find out which"
        )
    curvature = dot(x, conic.P @ x)
    gap = abs(curvature + dot(conic.q, x) + scale * dot(conic.b, z))
    check_finite(gap, gap, "Clarabel")
    if gap <= GOOD * (scale + curvature):
        status = "Solved"
    return x, gap, status, int(answer.iterations)
