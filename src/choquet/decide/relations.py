"""What holds for every measure that agrees: who is at least as good as whom, ranks, regret.

A minimum over the closed set of measures decides what is necessary. Most pairs need no program:
dominance proves some, every measure at hand refutes others, and proofs chain.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp

from choquet.arrays import BoolArray, FloatArray, IntArray
from choquet.decide.functionals import Integral
from choquet.decide.program import EXACT, TIED, Program
from choquet.errors import SolverError
from choquet.watching import each

__all__ = ["Relations", "extreme_ranks", "relations"]

_GAP = 1e-4
"""By how much "above" is above where ranks are counted."""


@dataclass(eq=False)
class Table:
    """Scores of alternatives in the coordinates of a program, and what was solved so far.

    Attributes
    ----------
    program : Program
        The measures that agree.
    X, upper : arrays
        Scores, lower and upper ends.
    low, high : arrays
        The integrals of the rows, as rows on the coordinates.
    most : dict
        The largest lead of one alternative over another that was worked out.
    """

    program: Program
    X: FloatArray
    upper: FloatArray
    low: FloatArray = field(init=False)
    high: FloatArray = field(init=False)
    most: dict[tuple[int, int], float] = field(default_factory=dict)
    solved: int = 0

    def __post_init__(self) -> None:
        space = self.program.space
        self.low = space.matrix([Integral(row) for row in self.X])
        exact = np.array_equal(self.X, self.upper)
        self.high = self.low if exact else space.matrix([Integral(row) for row in self.upper])

    def lead(self, first: int, second: int) -> tuple[float, FloatArray]:
        """The largest lead of one alternative over another, and the point where it is reached."""
        found = self.program.minimise(self.low[second] - self.high[first])
        self.solved += 1
        if found is None:
            raise SolverError("no measure agrees with what was said")
        self.most[first, second] = -found[0]
        return -found[0], found[1]


@dataclass(frozen=True, eq=False)
class Relations:
    """Necessary and possible preference.

    Attributes
    ----------
    necessary : array of bools (a, b)
        No measure that agrees gives b more than a.
    possible : array of bools (a, b)
        Some measure that agrees gives a at least as much as b.
    solved : int
        Programs that were needed.
    """

    necessary: BoolArray
    possible: BoolArray
    solved: int


def relations(
    table: Table, *, witnesses: FloatArray | None = None, prune: bool = True
) -> Relations:
    """Necessary and possible preference between all alternatives.

    Parameters
    ----------
    table : Table
        Alternatives and the measures that agree.
    witnesses : array of shape (n, alternatives), optional
        Scores under measures that are known to agree; each refutes pairs.
    prune : bool, default True
        Whether to use dominance, witnesses and chains; the answer is the same without.
    """
    m = len(table.X)
    before = table.solved
    same = np.eye(m, dtype=bool)
    if not prune:
        necessary = same.copy()
        for a in range(m):
            for b in range(m):
                if a != b:
                    necessary[a, b] = table.lead(b, a)[0] <= EXACT
    else:
        necessary = _pruned(table, witnesses)
    possible = ~necessary.T | same
    for a, b in np.argwhere(necessary.T & ~same):
        # b is never worse: can the two be equal?
        possible[a, b] = bool(necessary[a, b]) or _can_tie(table, int(a), int(b))
    return Relations(necessary, possible, table.solved - before)


def _pruned(table: Table, witnesses: FloatArray | None) -> BoolArray:
    necessary = np.asarray((table.X[:, None] >= table.upper[None]).all(axis=2))
    np.fill_diagonal(necessary, True)
    open_ = ~necessary
    order, apart = np.zeros(open_.shape), np.zeros(open_.shape)
    if witnesses is not None:
        for scores in witnesses:
            behind = scores[None, :] - scores[:, None]
            np.maximum(order, behind, out=order)
            apart -= behind
        open_ &= order <= EXACT
    # Pairs that lie far apart under all witnesses are proved first, and prove others.
    pairs = sorted(map(tuple, np.argwhere(open_).tolist()), key=lambda p: -apart[p])
    for a, b in each("comparing alternatives", pairs):
        if necessary[a, b] or not open_[a, b]:
            continue
        lead, point = table.lead(b, a)
        if lead <= EXACT:
            necessary[a, b] = True
            necessary |= necessary[:, [a]] & necessary[[b], :]
        else:
            behind = (table.high @ point)[None, :] - (table.low @ point)[:, None]
            open_ &= behind <= EXACT
    return necessary


def _can_tie(table: Table, a: int, b: int) -> bool:
    """Whether a, never better than b, can be as good."""
    row = table.high[a] - table.low[b]
    extra = (row[None, :], np.array([-EXACT]))
    table.solved += 1
    return table.program.split(extra=extra, cap=1.0)[0] > TIED


def extreme_ranks(
    table: Table, necessary: BoolArray, witnesses: FloatArray | None = None
) -> IntArray:
    """Best and worst rank of each alternative over all measures that agree.

    A rank counts who is strictly above. What is necessary bounds ranks from one side, measures at
    hand from the other; where the two differ, mixed-integer programs decide.

    Parameters
    ----------
    table : Table
        Alternatives and the measures that agree.
    necessary : array of bools
        See `Relations`.
    witnesses : array of shape (n, alternatives), optional
        Scores under measures that agree.
    """
    m = len(table.X)
    found = np.zeros((m, 2), dtype=np.int64)
    split = table.program.split(cap=1.0)[0]
    gap = min(_GAP, split / 2) if np.isfinite(split) else _GAP
    ranks = np.zeros((0, m), dtype=np.int64)
    if witnesses is not None and len(witnesses):
        ranks = 1 + (witnesses[:, None, :] > witnesses[:, :, None] + _GAP).sum(axis=2)
    for a in each("finding ranks", range(m)):
        above = necessary[:, a] & ~necessary[a]
        certain = int(sum(_always_above(table, int(b), a, gap) for b in np.flatnonzero(above)))
        best, worst = 1 + certain, m - int((necessary[a] & (np.arange(m) != a)).sum())
        seen_best = int(ranks[:, a].min(initial=m + 1))
        seen_worst = int(ranks[:, a].max(initial=0))
        found[a, 0] = best if seen_best <= best else _rank(table, a, gap, worst=False)
        found[a, 1] = worst if seen_worst >= worst else _rank(table, a, gap, worst=True)
    return found


def _always_above(table: Table, b: int, a: int, gap: float) -> bool:
    """Whether b is above a for every measure that keeps strict statements by `gap`."""
    found = table.program.minimise(table.low[b] - table.high[a], gap=gap)
    table.solved += 1
    return found is not None and found[0] > EXACT


def _rank(table: Table, a: int, gap: float, *, worst: bool) -> int:
    from scipy.optimize import LinearConstraint, milp

    program, space = table.program, table.program.space
    others = [b for b in range(len(table.X)) if b != a]
    if worst:
        lead = table.high[others] - table.low[a]
        need = np.full(len(others), gap)
    else:
        lead = table.high[a] - table.low[others]
        need = np.zeros(len(others))
    at_once = program.minimise(np.zeros(space.size), gap=gap, extra=(lead, need))
    table.solved += 1
    if at_once is not None:
        return len(others) + 1 if worst else 1
    A, b, strict, E, e = program.system(extra=(lead, need))
    # No integral of a difference exceeds the largest difference of two scores.
    first, second = (
        (table.X[a], table.upper[others]) if not worst else (table.X[others], table.upper[a])
    )
    big = np.maximum((second - first).max(axis=1), 0.0) + need + _GAP
    count = len(others)
    lift = sp.vstack([sp.csr_array((A.shape[0] - count, count)), sp.diags_array(big)])
    limits: list[Any] = [LinearConstraint(sp.hstack([A, lift]), b + gap * strict, np.inf)]
    if E.shape[0]:
        limits.append(LinearConstraint(sp.hstack([E, sp.csr_array((E.shape[0], count))]), e, e))
    with _quiet():
        found = milp(
            np.append(np.zeros(space.size), np.ones(count)),
            integrality=np.append(np.zeros(space.size), np.ones(count)),
            bounds=(
                np.append(space.lower, np.zeros(count)),
                np.append(space.upper, np.ones(count)),
            ),
            constraints=limits,
        )
    if found.x is None:
        raise SolverError(f"the extreme rank of alternative {a} was not found: {found.message}")
    missed = round(float(found.fun))
    return len(others) + 1 - missed if worst else 1 + missed


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep what HiGHS prints about its own roundings out of our output."""
    try:
        sys.stdout.flush()
        kept, nowhere = os.dup(1), os.open(os.devnull, os.O_WRONLY)
    except (OSError, AttributeError, ValueError):
        yield
        return
    try:
        os.dup2(nowhere, 1)
        yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)
        os.close(nowhere)


def largest_regrets(table: Table, necessary: BoolArray) -> tuple[FloatArray, IntArray]:
    """The most that each alternative can fall behind another, and behind which.

    Alternatives that another one necessarily equals or beats cannot lead by more than that one, and
    no lead exceeds the largest difference of two scores.
    """
    m = len(table.X)
    worst, rival = np.zeros(m), np.arange(m)
    better = necessary & ~necessary.T
    leaders = [b for b in range(m) if not better[:, b].any()]
    for a in range(m):
        bound = (table.upper - table.X[a]).max(axis=1)
        for b in sorted(leaders, key=lambda b: -bound[b]):
            if b == a or bound[b] <= worst[a] or necessary[a, b]:
                continue
            lead = table.most.get((b, a))
            lead = table.lead(b, a)[0] if lead is None else lead
            if lead > worst[a]:
                worst[a], rival[a] = lead, b
    return worst, rival
