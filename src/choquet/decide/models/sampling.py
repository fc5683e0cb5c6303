"""Measures that agree, drawn uniformly: from plain weights, from pairs, and from all of them.

"Uniform over all measures" is an opinion: most of them treat criteria nearly alike. So three
families are drawn from, and a share counts as much as the lowest of the three.

What was said as an equation, or amounts to one ("safety is a must"), leaves the set of measures
flat. Coordinates that are fixed or tied are merged, and what remains is walked in directions that
keep the equations. A walk that does not move is an error, never an answer.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from choquet.arrays import BoolArray, FloatArray
from choquet.decide.models._small import is_small, walk_together
from choquet.decide.models.program import Program, highs
from choquet.decide.models.spaces import KAdditive, Pairs
from choquet.errors import SolverError
from choquet.lattice import upward_maximum

_FLAT = 1e-7
"""Room up to this is none: the row is an equation."""

_MANY = 24
"""Equations beyond which one walks in coordinates of what they leave free."""

_SMALL = 10
"""Criteria up to which flat sets of measures in pairs are walked by all their rows."""


def draw(program: Program, count: int, rng: np.random.Generator) -> FloatArray:
    """Points of a program's space, uniform over the measures that agree.

    For pairs, rows are Möbius coefficients (see `Pairs.sets`), because the N² weights of a measure
    are not unique; for all other spaces they are the coordinates. From one draw to the next there
    are N sweeps through all coordinates.

    Parameters
    ----------
    program : Program
        The measures that agree; there must be some.
    count : int
        Draws.
    rng : numpy.random.Generator
        Where chance comes from.
    """
    if isinstance(program.space, Pairs):
        return _draw_pairs(program, program.space, count, rng)
    general = program.space.by_values and not program.equal.any()
    if general and not is_small(program.space.order, 0, count, program.space.n):
        start, room = _centre(_everything(program))
        if room > _FLAT:
            return _draw_lattice(program, start, count, rng)
    return _draw_rows(program, count, rng)


def _draw_lattice(
    program: Program, start: FloatArray, count: int, rng: np.random.Generator
) -> FloatArray:
    """All measures, where what was said leaves room on every side."""
    from choquet.decide.models import _kernels

    columns = sp.csc_array(program.matrix)
    out = np.empty((count, len(start)))
    begin = upward_maximum(np.clip(start, 0.0, 1.0))
    begin[0], begin[-1] = 0.0, 1.0
    _kernels.walk_lattice(
        begin, columns.indptr.astype(np.int64), columns.indices.astype(np.int64), columns.data,
        program.bound, program.space.n, 20, out, _state(rng), np.empty(len(program.bound)),
    )  # fmt: skip
    return _moving(out, 1.0)


def _state(rng: np.random.Generator) -> Any:
    """Where the chance of a compiled walk begins."""
    return rng.integers(2**64, size=1, dtype=np.uint64)


def _walk_room(size: int, bound: FloatArray, E: FloatArray) -> tuple[Any, ...]:
    """What a compiled walk works in: coordinates chosen, a direction, and what rows leave."""
    chosen = min(len(E) + 1, size)
    work = np.zeros((max(len(E), 1), chosen))
    return (
        np.zeros(chosen, dtype=np.int64), np.zeros(chosen), work, np.zeros(len(bound)),
        np.zeros(len(bound)),
    )  # fmt: skip


@dataclass(frozen=True, eq=False)
class _Set:
    """{v : A v ≥ b, E v = e}."""

    A: Any
    b: FloatArray
    E: Any
    e: FloatArray


def _everything(program: Program) -> _Set:
    """All rows of a program, the bounds of coordinates among them."""
    A, b, _, E, e = program.bounded_system(implied=False)
    return _Set(A, b, E, e)


def _centre(system: _Set) -> tuple[FloatArray, float]:
    """A point with the most room to all rows at once."""
    d = system.A.shape[1]
    lengths = np.sqrt(np.asarray(system.A.multiply(system.A).sum(axis=1)).ravel())
    A = sp.hstack([-system.A, sp.csr_array(lengths[:, None])])
    E = sp.hstack([system.E, sp.csr_array((system.E.shape[0], 1))])
    bounds = [(None, None)] * d + [(0.0, 1.0)]
    found = highs(np.append(np.zeros(d), -1.0), A, -system.b, E, system.e, bounds)
    if found.status != 0:
        raise SolverError(f"no measure was found to start from: {found.message}")
    return np.asarray(found.x[:d]), float(found.x[-1])


def _implied(system: _Set) -> BoolArray:
    """Rows that are equations for every measure that agrees.

    References
    ----------
    Freund, Roundy, Todd (1985). Identifying the set of always-active constraints in a system of
    linear inequalities by a single linear program. MIT working paper 1674-85.
    """
    rows, d = system.A.shape
    # A v - b λ ≥ t with 0 ≤ t ≤ 1: beyond λ = 1 every row with room reaches 1.
    A = sp.hstack([-system.A, sp.eye_array(rows), sp.csr_array(system.b[:, None])])
    E = sp.hstack(
        [system.E, sp.csr_array((system.E.shape[0], rows)), sp.csr_array(-system.e[:, None])]
    )
    cost = np.concatenate([np.zeros(d), -np.ones(rows), np.zeros(1)])
    bounds = [(None, None)] * d + [(0.0, 1.0)] * rows + [(1.0, 1 / _FLAT)]
    found = highs(cost, A, np.zeros(rows), E, np.zeros(system.E.shape[0]), bounds)
    if found.status != 0:
        raise SolverError(f"which statements are equations was not found out: {found.message}")
    return np.asarray(found.x[d : d + rows] < 0.5)


def _flattened(system: _Set) -> tuple[_Set, FloatArray]:
    """The same set with all its equations known as such, and a point in its middle."""
    for _ in range(4):
        point, room = _centre(system)
        if room > _FLAT:
            return system, point
        equal = _implied(system)
        if not equal.any():
            return system, point
        system = _Set(
            system.A[np.flatnonzero(~equal)],
            system.b[~equal],
            sp.csr_array(sp.vstack([system.E, system.A[np.flatnonzero(equal)]])),
            np.concatenate([system.e, system.b[equal]]),
        )
        if system.A.shape[0] == 0:
            only = np.linalg.lstsq(system.E.toarray(), system.e, rcond=None)[0]
            return system, np.asarray(only)
    raise SolverError("the measures that agree are too few to draw from: give statements some room")


class _Ties:
    """Coordinates that equations fix, or tie to each other."""

    def __init__(self, size: int) -> None:
        self.parent = list(range(size))
        self.value: dict[int, float] = {}

    def root(self, at: int) -> int:
        while self.parent[at] != at:
            self.parent[at] = at = self.parent[self.parent[at]]
        return at

    def reduced(self, row: dict[int, float], rest: float) -> tuple[dict[int, float], float]:
        """An equation on the coordinates that are still free."""
        found: dict[int, float] = {}
        for at, weight in row.items():
            root = self.root(at)
            if root in self.value:
                rest -= weight * self.value[root]
            else:
                found[root] = found.get(root, 0.0) + weight
        return {at: weight for at, weight in found.items() if abs(weight) > 1e-11}, rest

    def learn(self, row: dict[int, float], rest: float) -> bool:
        """Take an equation in if it fixes one coordinate or ties two."""
        if len(row) == 1:
            ((at, weight),) = row.items()
            self.value[at] = rest / weight
            return True
        if len(row) == 2 and abs(rest) < 1e-11:
            (one, a), (two, b) = row.items()
            if abs(a + b) < 1e-11:
                self.parent[two] = one
                return True
        return False


def _merged(system: _Set) -> tuple[Any, FloatArray, FloatArray]:
    """Coordinates v = lift @ u + constant, those that are fixed or tied taken together.

    The third result holds the equations that are left, as rows on u.
    """
    E, d = sp.csr_array(system.E), system.E.shape[1]
    ties = _Ties(d)
    left = [
        (dict(zip(E.indices[a:b].tolist(), E.data[a:b].tolist(), strict=True)), float(rest))
        for a, b, rest in zip(E.indptr[:-1], E.indptr[1:], system.e, strict=True)
    ]
    changed = True
    while changed:
        changed, kept = False, []
        for row, rest in left:
            row, rest = ties.reduced(row, rest)
            if row and ties.learn(row, rest):
                changed = True
            elif row:
                kept.append((row, rest))
        left = kept
    roots = [ties.root(at) for at in range(d)]
    free = {root: k for k, root in enumerate(sorted(set(roots) - set(ties.value)))}
    moving = [at for at in range(d) if roots[at] in free]
    places = [free[roots[at]] for at in moving]
    lift = sp.csr_array((np.ones(len(moving)), (moving, places)), shape=(d, len(free)))
    constant = np.array([ties.value.get(root, 0.0) for root in roots])
    rows = np.zeros((len(left), len(free)))
    for k, (row, _) in enumerate(left):
        for at, weight in row.items():
            rows[k, free[at]] = weight
    return lift, constant, _independent(rows)


def _independent(rows: FloatArray) -> FloatArray:
    """Rows that span the same, none of them superfluous."""
    from scipy.linalg import qr

    if not len(rows):
        return rows
    _, upper, order = qr(rows.T, mode="economic", pivoting=True)
    size = np.abs(np.diag(upper))
    return np.asarray(rows[np.sort(order[: int((size > 1e-9 * max(size[0], 1e-300)).sum())])])


def _draw_rows(program: Program, count: int, rng: np.random.Generator) -> FloatArray:
    system, _ = _flattened(_everything(program))
    lift, constant, equations = _merged(system)
    if lift.shape[1] == len(equations):  # one measure only
        E, rest = (system.E @ lift).toarray(), system.e - system.E @ constant
        point = constant + lift @ np.linalg.lstsq(E, rest, rcond=None)[0]
        return np.tile(point, (count, 1))
    A, b = sp.csr_array(system.A @ lift), system.b - system.A @ constant
    used = np.flatnonzero(np.diff(A.indptr) > 0)
    A, b = A[used], b[used]
    start = _start(system, A, b, lift, constant)
    base: FloatArray = np.zeros(lift.shape[1])
    turn: Any = sp.eye_array(lift.shape[1])
    if len(equations) > _MANY:
        from scipy.linalg import null_space

        base, turn = start, null_space(equations)
        start = np.zeros(turn.shape[1])
        A, b = sp.csr_array(A @ turn), b - A @ base
        equations = np.zeros((0, turn.shape[1]))
    out = _walk(A, b, equations, start, count, program.space.n, rng)
    return np.asarray((lift @ (turn @ out.T + base[:, None])).T + constant)


def _start(system: _Set, A: Any, b: FloatArray, lift: Any, constant: FloatArray) -> FloatArray:
    E = sp.csr_array(system.E @ lift)
    used = np.flatnonzero(np.diff(E.indptr) > 0)
    rest = (system.e - system.E @ constant)[used]
    return _centre(_Set(A, b, E[used], rest))[0]


def _walk(
    A: Any,
    b: FloatArray,
    E: FloatArray,
    start: FloatArray,
    count: int,
    thin: int,
    rng: np.random.Generator,
) -> FloatArray:
    from choquet.decide.models import _kernels

    if is_small(A, len(E), count, thin):
        return _moving(*walk_together(A, b, E, start, count, thin, rng))
    columns = sp.csc_array(A)
    out = np.empty((count, len(start)))
    moved = _kernels.walk_rows(
        start.copy(), columns.indptr.astype(np.int64), columns.indices.astype(np.int64),
        columns.data, b, np.ascontiguousarray(E), thin * len(start), 20 + 10 * len(E), out,
        _state(rng), *_walk_room(len(start), b, E), *np.zeros((2, len(b)), dtype=np.int64),
    )  # fmt: skip
    return _moving(out, moved)


def _moving(out: FloatArray, moved: float) -> FloatArray:
    if moved < 1e-3 or (len(out) > 1 and not np.ptp(out, axis=0).any()):
        raise SolverError(
            "the walk through the measures that agree did not move: what was said leaves hardly "
            "any room; give an interval in place of a number, or drop a statement"
        )
    return out


def _draw_pairs(program: Program, space: Pairs, count: int, rng: np.random.Generator) -> FloatArray:
    from choquet.decide.models import _kernels

    if space.n <= _SMALL and is_small(KAdditive(space.n, 2).order, 1, count, space.n):
        return _draw_dense_pairs(program, space, count, rng)
    centre, room = _centre(_everything(program))
    # Rows on weights, read back as rows on coefficients: singles and smaller-of-two are the same.
    own = program.matrix[:, : space.n + len(space.pairs)]
    above, equal = ~program.equal, program.equal
    E = _independent(np.vstack([np.ones((1, own.shape[1])), own[equal]]))
    if room <= _FLAT:  # what was said amounts to equations
        if space.n <= _SMALL:
            return _draw_dense_pairs(program, space, count, rng)
        weights = _draw_rows(program, count, rng)
        return np.asarray((space.mobius_matrix @ weights.T).T)
    start = space.mobius_matrix @ centre
    first = np.concatenate([np.arange(space.n), space.pairs[:, 0]])
    second = np.concatenate([np.arange(space.n), space.pairs[:, 1]])
    G, bound = own[above], program.bound[above]
    says = np.ptp(G, axis=1) > 1e-12 if len(G) else np.zeros(0, dtype=bool)
    G, bound = G[says], bound[says]  # a row that is the same for all measures cannot stop a walk
    out = np.empty((count, own.shape[1]))
    if own.shape[1] <= len(E):
        return np.tile(start, (count, 1))
    moved = _kernels.walk_pairs(
        start, first, second, np.ascontiguousarray(G.T), bound, np.ascontiguousarray(E),
        min(2 * space.n, 20) * own.shape[1], 20 + 10 * len(E), out, _state(rng),
        *_walk_room(len(start), bound, E), np.zeros(space.n), np.zeros(space.n, dtype=np.int64),
    )  # fmt: skip
    return _moving(out, moved)


def _draw_dense_pairs(
    program: Program, space: Pairs, count: int, rng: np.random.Generator
) -> FloatArray:
    """Pairs by a row for each value that must not fall."""
    own = program.matrix[:, : space.n + len(space.pairs)]
    return _draw_rows(replace(program, space=KAdditive(space.n, 2), matrix=own), count, rng)
