"""Which statements exclude each other, and what is least to give up.

All minimal conflicts and all minimal repairs come from one search (MARCO): a map proposes the
largest set of statements that is not yet known to be good or bad. If it can hold, what it leaves
out is a repair; if not, it is shrunk to a conflict.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

import numpy as np

from choquet.arrays import FloatArray
from choquet.decide.models.program import Program


@dataclass(frozen=True)
class Conflicts:
    """Minimal conflicting sets of statements, minimal repairs (cheapest first), and if that is all.

    Attributes
    ----------
    conflicts, repairs : lists of frozensets of int
        Numbers of statements.
    complete : bool
        False if the search was cut short.
    """

    conflicts: list[frozenset[int]]
    repairs: list[frozenset[int]]
    complete: bool


def find_conflicts(
    program: Program, firmness: Sequence[float] | None = None, *, limit: int = 200
) -> Conflicts:
    """All minimal conflicts among statements and all minimal repairs.

    Parameters
    ----------
    program : Program
        Measures and statements.
    firmness : sequence of float, optional
        How firmly each statement is held; the repair that gives up least comes first.
    limit : int, default 200
        Sets looked for at most.

    References
    ----------
    Liffiton, Previti, Malik, Marques-Silva (2016). Fast, flexible MUS enumeration. Constraints 21,
    223-250.
    """
    m = program.n_statements
    firm = np.ones(m) if firmness is None else np.asarray(firmness, dtype=np.float64)
    known: dict[frozenset[int], bool] = {}

    def holds(keep: Collection[int]) -> bool:
        key = frozenset(keep)
        if key not in known:
            known[key] = program.consistent(key)
        return known[key]

    conflicts: list[frozenset[int]] = []
    repairs: list[frozenset[int]] = []
    complete = False
    while not complete and len(conflicts) + len(repairs) < limit:
        proposed = _propose(m, firm, conflicts, repairs)
        complete = proposed is None
        if proposed is None:
            break
        if holds(proposed):
            repairs.append(frozenset(range(m)) - proposed)
        else:
            conflicts.append(shrunk(proposed, holds))
    order = sorted(repairs, key=lambda one: (firm[list(one)].sum(), len(one), sorted(one)))
    return Conflicts(sorted(conflicts, key=lambda c: (len(c), sorted(c))), order, complete)


def _propose(
    m: int,
    firm: FloatArray,
    conflicts: Sequence[frozenset[int]],
    repairs: Sequence[frozenset[int]],
) -> frozenset[int] | None:
    """The firmest set that holds no known conflict and something of each known repair."""
    from scipy.optimize import LinearConstraint, milp

    rows = np.zeros((len(conflicts) + len(repairs), m))
    for row, one in zip(rows, [*conflicts, *repairs], strict=True):
        row[list(one)] = 1.0
    low = [-np.inf] * len(conflicts) + [1.0] * len(repairs)
    high = [len(one) - 1.0 for one in conflicts] + [np.inf] * len(repairs)
    limits = [LinearConstraint(rows, low, high)] if len(rows) else []
    found = milp(-firm, integrality=np.ones(m), bounds=(0, 1), constraints=limits)
    if not found.success:
        return None
    return frozenset(np.flatnonzero(found.x > 0.5).tolist())


def shrunk(statements: Collection[int], holds: Callable[[Collection[int]], bool]) -> frozenset[int]:
    """A minimal conflict within statements that cannot hold: halves first, then one by one."""
    left = sorted(statements)
    step = max(len(left) // 2, 1)
    while True:
        at = 0
        while at < len(left) and len(left) > 1:
            fewer = left[:at] + left[at + step :]
            if not holds(fewer):
                left = fewer
            else:
                at += step
        if step == 1:
            return frozenset(left)
        step = max(step // 2, 1)
