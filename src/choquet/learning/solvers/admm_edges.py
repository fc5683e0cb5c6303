"""ADMM on the edges of an order: monotone least squares on tens of thousands of values.

Monotone values need only the containments with nothing in between (the Hasse diagram). Each such
edge has two copies of its ends, whose projection is "average them if they are out of order"; an
edge takes part once it has been violated, which most never are. The quadratic form is solved by
conjugate gradients from the previous point.

Multipliers λ ≥ 0 of the edges bound the optimum from below at *any* point v, monotone or not: for
monotone g with values in [0, 1], convexity gives f(g) ≥ f(v) + ∇f(v)·(g - v), and with the rest
r = ∇f(v) - Σ λ_e (e_high - e_low),

    f(g) ≥ f(v) - Σ λ_e (v_high - v_low) + Σ min(r (0 - v), r (1 - v)).

Long before these iterations come to their end they show which values will be equal. So, now and
then, `pools` tries to jump to the exact solution, and usually proves that it is one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from choquet.arrays import BoolArray, FloatArray, IntArray
from choquet.lattice.lazy import sp
from choquet.lattice.vectors import dot, norm
from choquet.learning.solvers.containments import Order
from choquet.learning.solvers.elimination import System
from choquet.learning.solvers.pooling import Edges, Task, pool
from choquet.learning.solvers.quadratic import form_of, gradient_of
from choquet.learning.solvers.solution import Solution
from choquet.watching import steps

OVER_RELAXATION = 1.8
CHECK_EVERY = 25
LEAN = 3.0
"""How much more the primal residual counts in the balance; fewer iterations (measured)."""
PERFECT = 1e-6
"""Of the tolerance, as a share of the squared targets: a smaller gap counts as none, since there is
no error left to refer to."""
SOFTEST = 0.05
"""Least rho, in units of the form: softer ones make the conjugate gradients slow."""
FIRST_POOLS = 100
"""Iterations before `pools` is tried first; then whenever their number has doubled."""

ROUGH = 1e-5
"""From this tolerance on nobody asks for the last digits of the values."""
NEARLY = 100.0
"""Objectives up to so many times the resolution need a gap no smaller than the resolution: they are
errors of a unit of the third digit of the targets."""
PATIENCE = 1.5
"""How much work `pools` may do, in units of all iterations so far."""


@dataclass
class _State:
    """The point, and for every edge whether it takes part, two copies and a multiplier."""

    v: FloatArray
    on: BoolArray
    below: FloatArray
    above: FloatArray
    force: FloatArray
    rho: float
    softest: float


@dataclass(frozen=True)
class Warm:
    """What the next problem on the same edges can start from."""

    low: IntArray
    high: IntArray
    v: FloatArray
    force: FloatArray
    rho: float


@dataclass
class Found:
    """Best monotone unknowns so far, their objective, and the best bound from below."""

    unknowns: FloatArray
    objective: float = np.inf
    bound: float = -np.inf
    iterations: int = 0
    solved: bool = False
    message: str = ""
    warm: Warm | None = None

    @property
    def gap(self) -> float:
        """Bound on what the objective is above the optimum."""
        return max(self.objective - self.bound, 0.0)


class _Search:
    """One problem on its order: what the steps of the search share."""

    def __init__(self, order: Order, tolerance: float, resolution: float = 0.0) -> None:
        self.order, self.problem = order, order.problem
        self.form = form_of(order.problem)
        self.n = order.problem.n_values
        self.floor = PERFECT * tolerance * max(abs(order.problem.constant), 1e-300)
        self.tolerance = tolerance
        self.exact = resolution * abs(order.problem.constant)
        self.work = 0.0

    def objective(self, v: FloatArray) -> float:
        return self.problem.objective(v[: self.n], v[self.n :])

    def extended(self, v: FloatArray) -> float:
        """The objective with g for |g|: what the form and its gradient say below zero too."""
        inner = v[: self.n][self.form.free[: self.n]]
        return self.objective(v) + 2 * self.problem.l1 * float(np.minimum(inner, 0.0).sum())

    def small(self, gap: float, objective: float) -> bool:
        if 0.0 <= objective <= self.exact:
            return True  # nothing is below 0, so the gap is at most the objective
        enough = max(self.tolerance * abs(objective), self.floor)
        if self.nearly_exact(objective):
            enough = max(enough, self.exact)
        return bool(np.isfinite(gap)) and gap <= enough

    def nearly_exact(self, objective: float) -> bool:
        """Whether errors are so small that their last digits are below those of the targets."""
        return objective <= NEARLY * self.exact

    def closed(self, v: FloatArray) -> FloatArray:
        from choquet.learning._kernels import close_edges

        closed = v.copy()
        closed[: self.n] = np.clip(v[: self.n], 0.0, 1.0 if self.problem.normal else None)
        close_edges(self.order.low, self.order.high, closed)
        return closed

    def cap(self, v: FloatArray) -> float:
        """Largest value of a monotone measure; only a guess if it is not normal."""
        return 1.0 if self.problem.normal else max(1.0, 2 * float(v[: self.n].max(initial=0.0)))


def solve_edges(
    order: Order,
    *,
    start: Solution | None = None,
    verbose: bool = False,
    tolerance: float,
    max_iterations: int,
    resolution: float = 0.0,
) -> Found:
    """Solve a monotone quadratic problem along the edges of its order.

    The gap is relative to the objective: the sum of squared errors with its penalties. An objective
    or a gap below `resolution` times the sum of squared targets is as good as none: the root mean
    square error is then within the root of `resolution` of the least, in units of the targets.
    """
    search = _Search(order, tolerance, resolution)
    state, again = _initial(search, start)
    best = Found(state.v)
    if again:
        _pool(search, state, best)
    inner, pools_at = 1e-2, FIRST_POOLS
    with steps("steps of the search") as advance:
        while best.iterations < max_iterations and not best.solved:
            primal, dual = _iterate(search, state, inner, CHECK_EVERY)
            best.iterations += CHECK_EVERY
            advance(CHECK_EVERY)
            inner = min(inner, max(primal, dual))
            solved = _judge(search, state, best)
            last = best.iterations >= max_iterations
            fine = tolerance < ROUGH and not search.nearly_exact(best.objective)
            due = fine if solved else best.iterations >= pools_at or last
            if due:
                _pool(search, state, best)
                pools_at = 2 * best.iterations
            if verbose and (best.solved or best.iterations % (10 * CHECK_EVERY) == 0):
                print(  # noqa: T201 - asked for
                    f"edges {best.iterations:6d}  objective {best.objective:.9g}  "
                    f"gap {best.gap:.1e}  "
                    f"{np.count_nonzero(state.on)} of {len(state.on)} containments took part"
                )
            _join(search, state)
            if best.iterations <= 0.8 * max_iterations:
                _balance(state, primal, dual)
    if best.warm is None:
        best.warm = Warm(order.low, order.high, state.v, state.force, state.rho)
    best.message = (
        f"{np.count_nonzero(state.on)} of {len(state.on)} containments took part; "
        f"{best.objective:.6g} is at most {best.gap:.1e} above the optimum"
    )
    return best


def _initial(search: _Search, start: Solution | None) -> tuple[_State, bool]:
    order, form, n = search.order, search.form, search.n
    warm = None if start is None else start.warm
    size = len(form.free)
    touched = form.diagonal[form.free & (form.diagonal > 0)]
    rho = float(np.median(touched)) if len(touched) else 1.0
    softest = SOFTEST * rho
    v = np.zeros(size)
    v[:n] = np.bitwise_count(search.problem.masks).sum(axis=1) / search.problem.n_sources
    force = np.zeros(len(order.low))
    again = (
        isinstance(warm, Warm)
        and len(warm.v) == size
        and np.array_equal(warm.low, order.low)
        and np.array_equal(warm.high, order.high)
    )
    if again:
        v, force, rho = warm.v.copy(), warm.force.copy(), max(warm.rho, softest)  # type: ignore[union-attr]
    elif start is not None:
        v[order.place] = start.values[order.origin]
        if len(start.intercepts) == size - n:
            v[n:] = start.intercepts
    v = np.where(form.free, v, form.known)
    # Steps of observed chains come first: the form has an entry where one sample saw both ends.
    entries = sp.coo_array(form.matrix)
    seen = np.sort(entries.row.astype(np.int64) * size + entries.col)
    keys = order.low.astype(np.int64) * size + order.high
    at = np.minimum(np.searchsorted(seen, keys), max(len(seen) - 1, 0))
    on = (order.low == 0) | (order.high == n - 1) | (force > 0)
    if len(seen):
        on |= seen[at] == keys
    # Nothing but its edges holds a value without curvature.
    loose = form.free & (form.diagonal <= 0)
    on |= loose[order.low] | loose[order.high]
    return _State(v, on, v[order.low], v[order.high], force, rho, softest), again


def _join(search: _Search, state: _State) -> None:
    """Edges that are violated take part from now on."""
    low, high = search.order.low, search.order.high
    new = ~state.on & (state.v[low] > state.v[high])
    state.on |= new
    state.below[new] = state.v[low[new]]
    state.above[new] = state.v[high[new]]


def _iterate(search: _Search, state: _State, inner: float, steps: int) -> tuple[float, float]:
    """Some iterations on the edges that take part; returns the last primal and dual residuals."""
    from choquet.learning._kernels import edge_step

    order, form = search.order, search.form
    size, at, rho = len(form.free), np.flatnonzero(state.on), state.rho
    low, high = order.low[at], order.high[at]
    below, above, force = state.below[at], state.above[at], state.force[at]
    total = np.bincount(low, rho * below - force, size)
    total += np.bincount(high, rho * above + force, size)
    edges = np.bincount(low, minlength=size) + np.bincount(high, minlength=size)
    shift = rho * edges.astype(np.float64)
    system = System(form.parts, shift, form.free, form.frame, form.strength, form.diagonal + shift)
    accuracy = max(0.2 * inner * norm(shift[form.free]), 1e-15)
    primal = dual = 0.0
    for _ in range(steps):
        x = np.where(form.free, state.v, 0.0)
        x, inside = system.solve(form.parts.aims, form.parts.right + total, x, accuracy, 60)
        search.work += (inside + 1) * system.work + 10 * len(at)
        state.v = x + form.known
        primal, dual = edge_step(
            state.v, low, high, rho, below, above, force, total, OVER_RELAXATION
        )
    state.below[at], state.above[at], state.force[at] = below, above, force
    count = 2 * max(len(at), 1)
    return float(np.sqrt(primal / count)), float(np.sqrt(dual / count))


def _judge(search: _Search, state: _State, best: Found) -> bool:
    order, n, v = search.order, search.n, state.v
    closed = search.closed(v)
    objective = search.objective(closed)
    if objective < best.objective:
        best.unknowns, best.objective, best.warm = closed, objective, None
    force, size, cap = state.force, len(v), search.cap(v)
    flow = np.bincount(order.low, force, size) - np.bincount(order.high, force, size)
    rest = gradient_of(search.form, v) + np.where(search.form.free, flow, 0.0)
    lost = np.maximum(rest[:n] * v[:n], rest[:n] * (v[:n] - cap)).sum()
    lost += np.abs(rest[n:]).sum() * max(cap, 1.0)
    slack = dot(force, v[order.high] - v[order.low])
    bound = search.extended(v) - float(slack + lost)
    # A sum of squares and its penalties are never negative.
    best.bound = max(best.bound, bound, 0.0)
    best.solved = search.small(best.gap, best.objective)
    return best.solved


def _pool(search: _Search, state: _State, best: Found) -> None:
    """Try to jump to the solution; the search goes on from there if that is better."""
    order = search.order
    task = Task(
        search.form,
        search.objective,
        Edges(order.low, order.high, len(state.v)),
        cap=search.cap(state.v),
        small=search.small,
        finish=search.tolerance < ROUGH,
        enough=0.01 * max(search.tolerance * abs(best.objective), search.floor),
        left=PATIENCE * search.work + 1e7,
    )
    found = pool(task, state.v, state.force, search.closed(state.v))
    if found is None:
        return
    best.bound = max(best.bound, found.objective - found.gap)
    better = found.objective < best.objective
    if better or found.objective == best.objective or found.gap < best.gap:
        best.unknowns, best.objective = found.values, found.objective
        best.warm = Warm(order.low, order.high, found.values, found.force, state.rho)
    best.solved = search.small(best.gap, best.objective)
    if better and not best.solved:
        # Nearly perfect fits hardly press anywhere, and come near only slowly without this.
        state.v, state.force = found.values.copy(), found.force.copy()
        state.on |= state.force > 0
        state.below, state.above = state.v[order.low], state.v[order.high]


def _balance(state: _State, primal: float, dual: float) -> None:
    size = float(np.sqrt((state.below[state.on] ** 2).mean()))
    force = float(np.sqrt((state.force[state.on] ** 2).mean())) / state.rho
    if force == 0 or dual == 0 or size == 0:
        return
    ratio = float(np.clip(np.sqrt(LEAN * (primal / size) / (dual / force)), 0.2, 5.0))
    if not 1 / 1.5 < ratio < 1.5:
        state.rho = max(state.rho * ratio, state.softest)
