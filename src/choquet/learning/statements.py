"""What experts said, kept to the end: fillings and intervals that agree with every statement.

The supported values of a measure leave the others open; statements about importances, interactions
or orness tie them together again. A filling that ignores the statements can break them. Here the
values without data are the unknowns, and all statements and containments are rows.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from choquet.arrays import BoolArray, FloatArray
from choquet.errors import SolverError
from choquet.lattice import upward_maximum
from choquet.lattice.lazy import sp
from choquet.lattice.ties import settled
from choquet.lattice.wide import chains
from choquet.learning.families.fits import least_form
from choquet.learning.fill import uncertainty
from choquet.learning.problem import Problem, Rows, reached
from choquet.learning.solvers.interior import order_rows, row_blocks

KEPT = 1e-7
"""By how much a statement may be missed: what the solvers reach, and far below what is meant."""


def misses(rows: Rows, values: FloatArray) -> FloatArray:
    """How far each statement is missed; zero or less where it holds."""
    at = rows.matrix @ values
    return np.asarray(np.maximum(rows.lower - at, at - rows.upper))


def check_statements(rows: Rows, values: FloatArray) -> None:
    """Raise `SolverError` if the measure breaks a statement by more than `KEPT`.

    Examples
    --------
    >>> from choquet.learning.expert import shapley_order
    >>> check_statements(shapley_order(2, more=1, less=0), np.array([0.0, 0.2, 0.6, 1.0]))
    """
    missed = misses(rows, values)
    if not (missed <= KEPT).all():
        worst = int(np.argmax(np.where(np.isnan(missed), np.inf, missed)))
        at = float((rows.matrix @ values)[worst])
        raise SolverError(
            f"the measure breaks statement {worst + 1} of {len(missed)}: {at:.6g} does not lie in "
            f"[{rows.lower[worst]:.6g}, {rows.upper[worst]:.6g}]; check that the statements do not "
            "contradict each other, or give them a little room"
        )


class _Open:
    """The values without data as unknowns x, and the rows A x ≤ b that they must keep."""

    def __init__(self, problem: Problem, values: FloatArray, supported: BoolArray) -> None:
        known = supported.copy()
        known[[0, -1]] = True
        self.free = np.flatnonzero(~known)
        self.known = np.where(known, values, 0.0)
        count = len(self.free)
        shape = (len(values), count)
        self.lift = sp.csr_array((np.ones(count), (self.free, np.arange(count))), shape=shape)
        assert problem.rows is not None
        bare = replace(problem, n_intercepts=0, rows=reached(problem.rows, values))
        blocks: list[tuple[Any, FloatArray]] = row_blocks(bare, self.lift, self.known)
        order = order_rows(bare, None)
        if order is not None:
            blocks.append((-(order @ self.lift), order @ self.known))
        A = sp.csr_array(sp.vstack([block for block, _ in blocks]))
        b = np.concatenate([bound for _, bound in blocks])
        A.eliminate_zeros()
        kept = np.flatnonzero(np.diff(A.indptr) > 0)
        self.A, self.b = A[kept], b[kept]


def fill_within(
    problem: Problem, values: FloatArray, supported: BoolArray, wished: FloatArray
) -> FloatArray:
    """The measure nearest to a wished filling that keeps supported values and all statements.

    Parameters
    ----------
    problem : Problem
        Dense and monotone, with statements.
    values : array of shape (2**N,)
        Values that keep the statements; those of unsupported subsets may change.
    supported : array of bool of shape (2**N,)
    wished : array of shape (2**N,)
        A monotone filling of the same supported values: it is the answer if it keeps the
        statements, otherwise the answer is the one of least squared distance from it.

    Examples
    --------
    >>> from choquet.learning import Statistics, expert, fill_unsupported, least_squares, solve
    >>> from choquet.learning import with_rows
    >>> problem = least_squares(Statistics.from_data([[0.9, 0.4, 0.4]], [0.6]))
    >>> problem = with_rows(problem, expert.shapley_order(3, more=2, less=0, margin=0.1))
    >>> values, supported = solve(problem).values, np.array([1, 1, 0, 0, 0, 0, 0, 1], dtype=bool)
    >>> wished = fill_unsupported(values, supported)
    >>> filled = fill_within(problem, values, supported, wished)
    >>> (problem.rows.matrix @ np.column_stack([wished, filled])).round(3)
    array([[-0.05,  0.1 ]])
    """
    assert problem.rows is not None
    if (misses(problem.rows, wished) <= 1e-12).all():
        return wished
    part = _Open(problem, values, supported)
    count = len(part.free)
    if not count:
        return values
    form = 2 * sp.eye_array(count, format="csc")
    found = part.known + part.lift @ least_form(form, -2 * wished[part.free], part.A, part.b, 0)
    # Monotone but for rounding: lifted over it, which the upper ends allow.
    return upward_maximum(np.clip(found, *uncertainty(values, supported)))


def interval_within(
    problem: Problem, values: FloatArray, supported: BoolArray, X: FloatArray
) -> FloatArray:
    """Range of each row's integral over the measures that keep supported values and statements.

    Two linear programs for each row that needs a value without data; none where the lowest or the
    highest filling keeps the statements by itself.

    Parameters
    ----------
    problem : Problem
        Dense, with statements; monotone or not.
    values : array of shape (2**N,)
        The learned measure, which keeps the statements.
    supported : array of bool of shape (2**N,)
    X : array of shape (n_samples, N)

    Returns
    -------
    array of shape (n_samples, 2)
        Infinite where nothing bounds the integral, which needs ``monotone=False``.

    Examples
    --------
    >>> from choquet.learning import Statistics, expert, least_squares, with_rows
    >>> problem = least_squares(Statistics.from_data([[0.9, 0.4]], [0.6]))
    >>> problem = with_rows(problem, expert.shapley_order(2, more=1, less=0))
    >>> values, supported = np.array([0.0, 0.4, 0.7, 1.0]), np.array([1, 1, 0, 1], dtype=bool)
    >>> interval_within(problem, values, supported, np.array([[0.2, 1.0]])).round(6)
    array([[0.52, 1.  ]])
    """
    from scipy.optimize import linprog

    assert problem.rows is not None
    part = _Open(problem, values, supported)
    words, gaps = chains(settled(X))
    at = words[..., 0].astype(np.int64)
    own = (gaps * values[at]).sum(axis=1)
    ends = np.column_stack([own, own])
    limits = np.full((len(values), 2), [-np.inf, np.inf])
    if problem.monotone:
        limits = np.column_stack(uncertainty(values, supported))
    opened = np.zeros(len(values), dtype=bool)
    opened[part.free] = True
    place = np.zeros(len(values), dtype=np.int64)
    place[part.free] = np.arange(len(part.free))
    for side, sign in ((0, 1.0), (1, -1.0)):
        filled = limits[:, side]
        if np.isfinite(filled).all() and (misses(problem.rows, filled) <= 1e-12).all():
            ends[:, side] = (gaps * filled[at]).sum(axis=1)
            continue
        for row in range(len(X)):
            needed = opened[at[row]] & (gaps[row] != 0)
            if not needed.any():
                continue
            cost = np.zeros(len(part.free))
            cost[place[at[row][needed]]] = sign * gaps[row][needed]
            answer = linprog(cost, part.A, part.b, bounds=limits[part.free], method="highs")
            rest = float((gaps[row] * part.known[at[row]]).sum())
            if answer.status == 3:
                ends[row, side] = -sign * np.inf
            elif answer.status == 0:
                ends[row, side] = rest + sign * float(answer.fun)
            else:
                raise SolverError(
                    f"no end of the interval of row {row} was found: {answer.message}; give the "
                    "statements a little room"
                )
    return ends
