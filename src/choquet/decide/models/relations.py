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
from choquet.decide.models.functionals import Integral
from choquet.decide.models.program import EXACT, TIED, Program
from choquet.decide.models.spaces import order_rows
from choquet.errors import SolverError
from choquet.watching import each

_GAP = 1e-4
"""By how much "above" is above where ranks are counted."""


@dataclass(eq=False)
class Table:
    """Scores of alternatives in the coordinates of a program, and what was solved so far.

    `X` and `upper` are the lower and upper ends of the scores, `low` and `high` their integrals as
    rows on the coordinates; `most` holds each lead of one over another that was worked out.
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

    Each row of `witnesses` holds scores under a measure that is known to agree; it refutes pairs.
    Without `prune` dominance, witnesses and chains are not used; the answer is the same.
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
    hand from the other; where the two differ, mixed-integer programs decide, and the measures that
    they find bound the ranks of all others.
    """
    m = len(table.X)
    split = table.program.split(cap=1.0)[0]
    gap = min(_GAP, split / 2) if np.isfinite(split) else _GAP
    seen = np.tile([m + 1, 0], (m, 1))
    for scores in () if witnesses is None else witnesses:
        _see(seen, scores, scores, gap)
    worst = m + 1 - necessary.sum(axis=1)
    found = np.zeros((m, 2), dtype=np.int64)
    above = np.asarray((table.X[:, None] > table.upper[None] + EXACT).all(axis=2))
    for a in each("finding the best ranks", np.argsort(seen[:, 0], kind="stable").tolist()):
        if seen[a, 0] > 1 + above[:, a].sum():
            _prove_above(table, a, gap, necessary, above)
        best = 1 + int(above[:, a].sum())
        found[a, 0] = best if seen[a, 0] <= best else _rank(
            table, a, gap, necessary, above[:, a], seen, worst=False
        )  # fmt: skip
    for a in each("finding the worst ranks", np.argsort(-seen[:, 1], kind="stable").tolist()):
        found[a, 1] = worst[a] if seen[a, 1] >= worst[a] else _rank(
            table, a, gap, necessary, above[:, a], seen, worst=True
        )  # fmt: skip
    return found


def _see(seen: IntArray, low: FloatArray, high: FloatArray, gap: float) -> None:
    """Take in the ranks that one measure gives, as good and as bad as ranges of scores allow."""
    others = ~np.eye(len(low), dtype=bool)
    best = 1 + (low[None, :] > high[:, None]).sum(axis=1)
    worst = 1 + ((high[None, :] > low[:, None] + gap) & others).sum(axis=1)
    np.minimum(seen[:, 0], best, out=seen[:, 0])
    np.maximum(seen[:, 1], worst, out=seen[:, 1])


def _prove_above(table: Table, a: int, gap: float, necessary: BoolArray, above: BoolArray) -> None:
    """Find out who is above an alternative for every measure that keeps what is strict by `gap`."""
    for b in np.flatnonzero(necessary[:, a] & ~necessary[a] & ~above[:, a]):
        chained = (above[b] & necessary[:, a]) | (necessary[b] & above[:, a])
        if chained.any():
            above[b, a] = True
            continue
        least = table.program.minimise(table.low[b] - table.high[a], gap=gap)
        table.solved += 1
        above[b, a] = least is not None and least[0] > EXACT


def _rank(
    table: Table,
    a: int,
    gap: float,
    necessary: BoolArray,
    above: BoolArray,
    seen: IntArray,
    *,
    worst: bool,
) -> int:
    """One extreme rank, given one that was seen: a program looks for a better or a worse one."""
    from scipy.optimize import LinearConstraint, milp

    program, space = table.program, table.program.space
    m = len(table.X)
    others = np.delete(np.arange(m), a)
    if worst:
        lead, need = table.high[others] - table.low[a], np.full(m - 1, gap)
        far = table.upper[a] - table.X[others]
    else:
        lead, need = table.high[a] - table.low[others], np.zeros(m - 1)
        far = table.upper[others] - table.X[a]
    # An alternative is missed (1) if it is not below, or not above, as is wanted. No integral of a
    # difference exceeds the largest difference of two scores.
    must = necessary[a, others] if worst else above[others]
    may = np.ones(m - 1, dtype=bool) if worst else ~necessary[a, others]
    if not must.any():
        at_once = program.minimise(np.zeros(space.size), gap=gap, extra=(lead, need))
        table.solved += 1
        if at_once is not None:
            _see(seen, table.low @ at_once[1], table.high @ at_once[1], gap)
            return m if worst else 1
    A, b, strict, E, e = program.system(extra=(lead, need))
    big = np.maximum(far.max(axis=1), 0.0) + need + _GAP
    lift = sp.vstack([sp.csr_array((A.shape[0] - m + 1, m - 1)), sp.diags_array(big)])
    limits: list[Any] = [LinearConstraint(sp.hstack([A, lift]), b + gap * strict, np.inf)]
    if E.shape[0]:
        limits.append(LinearConstraint(sp.hstack([E, sp.csr_array((E.shape[0], m - 1))]), e, e))
    known = m - int(seen[a, 1]) if worst else int(seen[a, 0]) - 1
    limits += [
        LinearConstraint(sp.hstack([sp.csr_array((rows.shape[0], space.size)), rows]), -np.inf, top)
        for rows, top in _on_missed(necessary[np.ix_(others, others)], known, worst=worst)
    ]
    with _quiet():
        found = milp(
            np.append(np.zeros(space.size), np.ones(m - 1)),
            integrality=np.append(np.zeros(space.size), np.ones(m - 1)),
            bounds=(np.append(space.lower, must), np.append(space.upper, may)),
            constraints=limits,
        )
    table.solved += 1
    if found.x is not None:
        point = found.x[: space.size]
        _see(seen, table.low @ point, table.high @ point, gap)
        known = round(float(found.fun))
    elif found.status != 2 or known >= m:
        raise SolverError(f"the extreme rank of alternative {a} was not found: {found.message}")
    return m - known if worst else 1 + known


def _on_missed(necessary: BoolArray, known: int, *, worst: bool) -> list[tuple[Any, float]]:
    """Rows on who is missed: fewer than are known, and with one all that it necessarily beats."""
    count = len(necessary)
    rows: list[tuple[Any, float]] = [(sp.csr_array(np.ones((1, count))), known - 1.0)]
    over = (necessary & ~necessary.T).astype(np.int32)
    pairs = np.argwhere((over > 0) & (over @ over == 0))
    if len(pairs):
        # Who is above misses at least those that it must be above: v_below ≤ v_above, or reversed.
        rows.append((order_rows(pairs[:, ::-1] if worst else pairs, count), 0.0))
    return rows


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


def largest_regrets(table: Table, necessary: BoolArray) -> FloatArray:
    """The most that each alternative can fall behind another.

    Alternatives that another one necessarily equals or beats cannot lead by more than that one, and
    no lead exceeds the largest difference of two scores.
    """
    m = len(table.X)
    worst = np.zeros(m)
    better = necessary & ~necessary.T
    leaders = [b for b in range(m) if not better[:, b].any()]
    for a in range(m):
        bound = (table.upper - table.X[a]).max(axis=1)
        for b in sorted(leaders, key=lambda b: -bound[b]):
            if b == a or bound[b] <= worst[a] or necessary[a, b]:
                continue
            lead = table.most.get((b, a))
            lead = table.lead(b, a)[0] if lead is None else lead
            worst[a] = max(worst[a], lead)
    return worst
