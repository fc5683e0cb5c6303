"""Linear programs over the measures that agree with what was said.

Strict rows carry a share of one unknown ε. The largest ε, the split, says whether the statements
can hold together, and by how much.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from choquet.arrays import BoolArray, FloatArray
from choquet.decide.models.functionals import Functional
from choquet.decide.models.spaces import Space
from choquet.decide.saying.setting import Row, Setting
from choquet.decide.saying.statements import Statement, class_rows
from choquet.errors import SolverError

TIED = 1e-7
"""A split up to this is a tie and no preference: below what solvers tell apart."""

EXACT = 1e-8
"""Differences of scores up to this are rounding."""

_CAP = 1e3
_OPTIONS = {"primal_feasibility_tolerance": 1e-9, "dual_feasibility_tolerance": 1e-9}


@dataclass(frozen=True, eq=False)
class Program:
    """The measures of a space that agree with some statements.

    Attributes
    ----------
    space : Space
        Coordinates.
    matrix, bound : arrays
        Rows of all statements: matrix @ v ≥ bound + strict · ε, or = bound.
    strict : array of floats
        How much of ε a row carries.
    equal : array of bools
        Rows that are equations.
    owners : list of tuples
        Which statements a row comes from: it is in force when all of them are.
    n_statements : int
        How many statements there are.
    """

    space: Space
    matrix: FloatArray
    bound: FloatArray
    strict: FloatArray
    equal: BoolArray
    owners: Sequence[tuple[int, ...]]
    n_statements: int

    @cached_property
    def _sparse(self) -> Any:
        return sp.csr_array(self.matrix)

    def in_force(self, keep: Collection[int] | None) -> BoolArray:
        """Rows whose statements are all kept."""
        if keep is None:
            return np.ones(len(self.bound), dtype=bool)
        kept = set(keep)
        return np.array([kept.issuperset(owner) for owner in self.owners], dtype=bool)

    def minimise(
        self,
        cost: FloatArray,
        *,
        keep: Collection[int] | None = None,
        gap: float = 0.0,
        extra: tuple[Any, FloatArray] | None = None,
    ) -> tuple[float, FloatArray] | None:
        """The least cost over the measures that agree, and where; None if there are none.

        Parameters
        ----------
        cost : array
            By coordinate.
        keep : collection of int, optional
            Statements in force; all by default.
        gap : float, default 0
            By how much strict rows must hold.
        extra : matrix and array, optional
            Further rows, matrix @ v ≥ array.
        """
        found = self._solve(cost, keep, extra, gap=gap)
        return None if found is None else (float(found.fun), np.asarray(found.x))

    def split(
        self,
        *,
        keep: Collection[int] | None = None,
        extra: tuple[Any, FloatArray] | None = None,
        cap: float = _CAP,
    ) -> tuple[float, FloatArray | None]:
        """The largest ε by which all strict rows can hold, and a point where they do.

        It is infinite if no row is strict, and minus infinity if the others exclude each other.
        """
        if not self.strict[self.in_force(keep)].any():
            found = self._solve(np.zeros(self.space.size), keep, extra)
            return (-np.inf, None) if found is None else (np.inf, np.asarray(found.x))
        found = self._solve(np.zeros(self.space.size), keep, extra, split=cap)
        if found is None:
            return -np.inf, None
        return -float(found.fun), np.asarray(found.x[: self.space.size])

    def consistent(self, keep: Collection[int] | None = None) -> bool:
        """Whether statements can hold together."""
        return self.split(keep=keep, cap=1.0)[0] > TIED

    def _solve(
        self,
        cost: FloatArray,
        keep: Collection[int] | None,
        extra: tuple[Any, FloatArray] | None,
        *,
        gap: float = 0.0,
        split: float | None = None,
    ) -> Any:
        A, b, strict, E, e = self.system(keep, extra)
        lower, upper = self.space.lower, self.space.upper
        if split is not None:
            A = sp.hstack([A, sp.csr_array(-strict[:, None])])
            E = sp.hstack([E, sp.csr_array((E.shape[0], 1))])
            cost = np.append(np.zeros(len(cost)), -1.0)
            lower, upper = np.append(lower, -np.inf), np.append(upper, split)
        else:
            b = b + gap * strict
        given = (cost, -A, -b, E, e, np.column_stack([lower, upper]))
        found = highs(*given, options=_OPTIONS)
        if found.status not in (0, 2):
            # Presolve may leave open whether nothing agrees or nothing bounds; simplex alone knows.
            found = highs(*given, method="highs-ds", options={"presolve": False})
        if found.status not in (0, 2):
            raise SolverError(f"a linear program was not solved: {found.message}")
        return found if found.status == 0 else None

    def system(
        self,
        keep: Collection[int] | None = None,
        extra: tuple[Any, FloatArray] | None = None,
    ) -> tuple[Any, FloatArray, FloatArray, Any, FloatArray]:
        """All rows: A v ≥ b + strict · ε, E v = e."""
        space, use = self.space, self.in_force(keep)
        above, equal = np.flatnonzero(use & ~self.equal), np.flatnonzero(use & self.equal)
        parts = [space.order, self._sparse[above]]
        bounds = [space.margin, self.bound[above]]
        strict = [np.zeros(len(space.margin)), self.strict[above]]
        if extra is not None:
            parts.append(sp.csr_array(extra[0]))
            bounds.append(np.asarray(extra[1], dtype=np.float64))
            strict.append(np.zeros(len(bounds[-1])))
        A = sp.csr_array(sp.vstack(parts))
        E = sp.csr_array(sp.vstack([space.equal, self._sparse[equal]]))
        e = np.concatenate([space.one, self.bound[equal]])
        return A, np.concatenate(bounds), np.concatenate(strict), E, e

    def bounded_system(
        self, *, implied: bool = True
    ) -> tuple[Any, FloatArray, FloatArray, Any, FloatArray]:
        """The same rows, and the bounds of coordinates among them.

        Values of all sets lie between those of the empty and the whole set by their order alone:
        such bounds are there if they are wanted although `implied`.
        """
        space = self.space
        A, b, strict, E, e = self.system()
        eye = sp.eye_array(space.size, format="csr")
        fixed = space.lower == space.upper
        needed = ~fixed & (implied or not space.by_values)
        at = np.flatnonzero(fixed)
        low = np.flatnonzero(np.isfinite(space.lower) & needed)
        high = np.flatnonzero(np.isfinite(space.upper) & needed)
        return (
            sp.csr_array(sp.vstack([A, eye[low], -eye[high]])),
            np.concatenate([b, space.lower[low], -space.upper[high]]),
            np.append(strict, np.zeros(len(low) + len(high))),
            sp.csr_array(sp.vstack([E, eye[at]])),
            np.concatenate([e, space.lower[at]]),
        )

    def range_of(self, functional: Functional) -> tuple[float, float]:
        """Least and largest value of a linear number over the measures that agree."""
        cost = self.space.row(functional)
        ends = [self.minimise(sign * cost) for sign in (1.0, -1.0)]
        if ends[0] is None or ends[1] is None:
            raise SolverError("no measure agrees with what was said")
        return ends[0][0], -ends[1][0]


def highs(
    cost: FloatArray, A: Any, b: FloatArray, E: Any, e: FloatArray, bounds: Any,
    method: str = "highs", options: dict[str, Any] | None = None,
) -> Any:  # fmt: skip
    """The least cost with A v ≤ b and E v = e, by SciPy; either may be without rows."""
    from scipy.optimize import linprog

    above = (A, b) if A.shape[0] else (None, None)
    equal = (E, e) if E.shape[0] else (None, None)
    return linprog(cost, *above, *equal, bounds, method=method, options=options)


def rows_of(
    statements: Sequence[Statement], setting: Setting
) -> tuple[list[Row], list[tuple[int, ...]]]:
    """All rows of some statements, and which statements each comes from."""
    rows: list[Row] = []
    owners: list[tuple[int, ...]] = []
    for number, statement in enumerate(statements):
        own = statement.rows(setting)
        rows += own
        owners += [(number,)] * len(own)
    for pair, row in class_rows(statements, setting):
        rows.append(row)
        owners.append(pair)
    return rows, owners


def program(space: Space, statements: Sequence[Statement], setting: Setting) -> Program:
    """The measures of a space that agree with statements.

    Examples
    --------
    >>> from choquet.decide.models.spaces import space
    >>> from choquet.decide.saying.setting import Setting
    >>> from choquet.decide.saying.statements import Importance
    >>> said = program(space(2), [Importance("a", "b")], Setting(["a", "b"]))
    >>> round(said.split()[0], 9)
    1.0
    """
    rows, owners = rows_of(statements, setting)
    return Program(
        space,
        space.matrix([row.functional for row in rows]),
        np.array([row.bound for row in rows], dtype=np.float64),
        np.array([row.strict for row in rows], dtype=np.float64),
        np.array([row.equal for row in rows], dtype=bool),
        owners,
        len(statements),
    )
