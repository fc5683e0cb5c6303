"""The exact end of a monotone least-squares problem: pools of equal values, and flow between them.

At the optimum the values fall into *pools*, connected sets of equal value. Given the pools, their
values are a small least-squares problem without constraints; given the values, the pools are right
if and only if the gradient can be carried along the edges inside them: values that want to rise
must push up against values that want to fall. That is a maximum flow, and what it cannot carry
shows where a pool must be split. So, in rounds,

1. solve for the values of the pools, held near the last point by a small weight;
2. merge pools that are out of order and were the first to meet on the way, and solve again;
3. send the gradient along the edges inside the pools; split pools along what is stuck.

What is stuck also bounds the distance to the optimum. With the flow λ ≥ 0 on edges of equal values
and the rest r = ∇f(g) - Σ λ_e (e_high - e_low), convexity gives for every monotone g'

    f(g') ≥ f(g) + r·(g' - g),

and the right side is smallest where each value of g' is as low or high as it may be.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from choquet.arrays import BoolArray, FloatArray, IntArray
from choquet.lattice.lazy import sp
from choquet.lattice.vectors import norm
from choquet.learning.solvers.elimination import Parts, System
from choquet.learning.solvers.quadratic import Form, gradient_of, projected

WEIGHT = 0.1
"""Weight that holds the first round near its start, in units of the median curvature."""
FALL, RISE = 0.3, 10.0
"""How the weight changes after a round that was good, or bad."""
LEAST = 1e-5
"""Least weight, in units of the first: lower ones make the conjugate gradients slow."""
NEAR = ((10, 0.1), (15, 0.5), (20, 1.0))
"""Up to so many merges: the share of the way after which pools that meet are merged."""
WORSE = 0.1
"""A round may end that much above the best objective; beyond, it is taken back."""
FAILURES = 3
LAST, LONGEST = 2, 10
"""Rounds with the least weight after the gap is small, and rounds after it was small at all."""
ROUGH = 100.0
"""How much less accurate the values need to be as long as pools are merged."""


@dataclass(frozen=True)
class Pooled:
    """Monotone values, their objective, a bound on its excess, and the multipliers of the edges."""

    values: FloatArray
    objective: float
    gap: float
    force: FloatArray


@dataclass(frozen=True)
class Edges:
    """Edges of an order on so many unknowns."""

    low: IntArray
    high: IntArray
    size: int

    def components(self, keep: Any) -> IntArray:
        """Label of each unknown: those that some of the edges connect have the same."""
        return _components(self.low[keep], self.high[keep], self.size)


@dataclass
class Task:
    """What the steps share.

    Attributes
    ----------
    form : Form
    objective : callable
        Objective of the unknowns (values followed by intercepts).
    edges : Edges
    cap : float
        Largest value a monotone solution can have.
    small : callable
        ``small(gap, objective)`` says whether to stop.
    finish : bool
        Whether to go on then until the values have all their digits.
    enough : float
        Sum of residuals that does not matter.
    left : float
        Multiplications that may still be made.
    """

    form: Form
    objective: Callable[[FloatArray], float]
    edges: Edges
    cap: float
    small: Callable[[float, float], bool]
    finish: bool
    enough: float
    left: float


def pool(task: Task, v: FloatArray, force: FloatArray, closed: FloatArray) -> Pooled | None:
    """Improve a rough solution to the exact one, if its pools are near enough to the right ones.

    It begins at rough unknowns, not quite in order, and multipliers of the edges; `closed` are the
    same unknowns in order. None if no round was any good.
    """
    edges, least = task.edges, task.objective(closed)
    best = _rounds(task, edges.components(force > 0), v, force, least)
    if best is not None:
        return best
    # Nearly perfect fits hardly press anywhere: there the rough solution in order guides better.
    equal = edges.components(closed[edges.low] == closed[edges.high])
    return _rounds(task, equal, closed, force, least)


def _rounds(
    task: Task, label: IntArray, center: FloatArray, force: FloatArray, least: float
) -> Pooled | None:
    form, edges = task.form, task.edges
    touched = form.diagonal[form.free & (form.diagonal > 0)]
    first = weight = WEIGHT * (float(np.median(touched)) if len(touched) else 1.0)
    gap = least
    best: Pooled | None = None
    failures = last = more = 0
    while task.left > 0:
        allowed = least + min(WORSE * abs(least), np.inf if best is None else best.gap)
        found = _ordered_pools(task, label, center, weight, 1e-4 * gap, allowed)
        if found is None:
            weight *= RISE
            failures += 1
            if failures > FAILURES:
                break
            continue
        failures, center, value = 0, found, task.objective(found)
        least = min(least, value)
        tight = np.flatnonzero(center[edges.high] <= center[edges.low])
        inside = Edges(edges.low[tight], edges.high[tight], edges.size)
        flow, up, down, rest = _carried(form, inside, center, force[tight])
        force = np.zeros(len(force))
        force[tight] = flow
        gap = _bound(form, center, rest, task.cap)
        if best is None or gap < best.gap:
            best = Pooled(center, value, gap, force)
        if task.small(gap, value):
            # The objective is flat at its optimum: the values gain from a few more digits.
            if last == LAST or more == LONGEST or not task.finish:
                break
            weight = LEAST * first if more == 0 else weight
            last, more = last + (weight <= LEAST * first), more + 1
            task.enough, gap = 1e-14 * norm(form.right), 0.0  # near what rounding leaves
        cut = (up[inside.low] != up[inside.high]) | (down[inside.low] != down[inside.high])
        label = inside.components(~cut)
        weight = max(weight * FALL, LEAST * first)
    return best


def _components(low: IntArray, high: IntArray, size: int) -> IntArray:
    graph = sp.coo_array((np.ones(len(low), dtype=np.int8), (low, high)), (size, size))
    labels = sp.csgraph.connected_components(graph, directed=False)[1]
    return np.asarray(labels, dtype=np.int64)


def _ordered_pools(
    task: Task,
    label: IntArray,
    center: FloatArray,
    weight: float,
    accuracy: float,
    allowed: float,
) -> FloatArray | None:
    """Unknowns with pools merged until they are in order; None if that costs too much."""
    reduced = _Reduced.of(task.form, label)
    z = before = np.bincount(label, center) / reduced.count
    merges, exact = 0, False
    while not reduced.torn:
        least = max(task.enough, accuracy) / np.sqrt(len(z))
        z, steps = reduced.solve(z, before, weight, least * (1.0 if exact else ROUGH))
        work = reduced.parts.work
        task.left -= (steps + 20) * work + 10 * len(task.edges.low)
        if task.left < 0 or task.objective(z[label]) > allowed:
            return None
        a, b = label[task.edges.low], label[task.edges.high]
        bad = np.flatnonzero(z[a] > z[b])
        if not len(bad):
            if exact:
                return z[label]
            exact = True
            continue
        merges += 1
        if merges > NEAR[-1][0]:
            return None
        a, b = a[bad], b[bad]
        room = np.maximum(before[b] - before[a], 0.0)
        when = room / (room + z[a] - z[b])
        near = next(share for most, share in NEAR if merges <= most)
        first = when <= max(near, 1.5 * float(when.min()))
        join = _components(a[first], b[first], len(z))
        reduced, count = reduced.merged(join), reduced.count
        z = np.bincount(join, count * z) / reduced.count
        before = np.bincount(join, count * before) / reduced.count
        label = join[label]
    return None


@dataclass(frozen=True)
class _Reduced:
    """The form with one unknown per pool; `count` and `inner` count its values, all and free."""

    parts: Parts
    frame: FloatArray
    strength: float
    count: FloatArray
    inner: FloatArray
    free: BoolArray
    at: FloatArray
    torn: bool

    @classmethod
    def of(cls, form: Form, label: IntArray) -> _Reduced:
        n, extra = form.frame.shape[1], len(form.free) - form.frame.shape[1]
        single = cls(
            form.parts,
            np.hstack([form.frame * form.free[:n], np.zeros((len(form.frame), extra))]),
            form.strength,
            np.ones(n + extra),
            np.append(form.free[:n], np.zeros(extra)).astype(np.float64),
            form.free,
            form.known,
            torn=False,
        )
        return single.merged(label)

    def merged(self, label: IntArray) -> _Reduced:
        """One unknown for each label."""
        k = int(label.max()) + 1
        count = np.asarray(np.bincount(label, self.count, k), dtype=np.float64)
        held = np.flatnonzero(~self.free)
        free = np.ones(k, dtype=bool)
        free[label[held]] = False
        at = np.zeros(k)
        at[label[held]] = self.at[held]
        # A pool that holds both ∅ and the top has no value.
        torn = self.torn or bool((at[label[held]] != self.at[held]).any())
        gather = sp.csr_array((np.ones(len(label)), (label, np.arange(len(label)))))
        return _Reduced(
            self.parts.merged(gather),
            np.ascontiguousarray((gather @ self.frame.T).T),
            self.strength,
            count,
            np.asarray(np.bincount(label, self.inner, k), dtype=np.float64),
            free,
            at,
            torn,
        )

    def solve(
        self, x: FloatArray, before: FloatArray, weight: float, accuracy: float
    ) -> tuple[FloatArray, int]:
        """Values of the pools, held near those before, and the iterations that took."""
        hold = weight * self.count
        diagonal = self.parts.diagonal + hold
        diagonal += self.strength * (self.inner - (self.frame**2).sum(axis=0))
        parts = self.parts
        aims = parts.aims - parts.rows @ self.at
        pull = parts.rest @ self.at + parts.extra * self.at
        pull += self.strength * (self.inner * self.at - projected(self.frame, self.at))
        right = np.where(self.free, parts.right - pull + hold * before, 0.0)
        # The loop's own prior term counts each pool once.
        shift = hold + self.strength * (self.inner - 1.0)
        system = System(parts, shift, self.free, self.frame, self.strength, diagonal)
        x, steps = system.solve(aims, right, np.where(self.free, x, 0.0), accuracy, 3000)
        return np.where(self.free, x, self.at), steps


def _carried(
    form: Form, inside: Edges, g: FloatArray, force: FloatArray
) -> tuple[FloatArray, BoolArray, BoolArray, FloatArray]:
    """Flow inside the pools that carries the gradient; what should rise, fall; and the rest."""
    from choquet.learning.solvers._kernels_flow import reach, route

    low, high, n = inside.low, inside.high, inside.size
    ends = np.concatenate([low, high])
    arcs = np.tile(np.arange(len(low)), 2)[np.argsort(ends, kind="stable")]
    starts = np.zeros(n + 1, dtype=np.int64)
    np.cumsum(np.bincount(ends, minlength=n), out=starts[1:])
    gradient = gradient_of(form, g)
    tolerance = 1e-12 * float(np.abs(gradient).max(initial=1e-300))
    flow = force.copy()
    held = ~form.free
    excess = _excess(gradient, low, high, flow)
    # Known values take whatever is left over, then give whatever is missing.
    excess[held] = -np.inf
    route(starts, arcs, low, high, flow, excess, tolerance)
    up = excess > tolerance
    reach(starts, arcs, low, high, flow, up)
    missing = np.minimum(excess, 0.0)
    missing[held] = np.inf
    route(starts, arcs, low, high, flow, missing, tolerance)
    down = missing < -tolerance
    reach(starts, arcs, high, low, flow, down)
    rest = _excess(gradient, low, high, flow)
    rest[held] = 0.0
    return flow, up, down, rest


def _excess(gradient: FloatArray, low: IntArray, high: IntArray, flow: FloatArray) -> FloatArray:
    n = len(gradient)
    return np.asarray(np.bincount(high, flow, n) - np.bincount(low, flow, n) - gradient)


def _bound(form: Form, g: FloatArray, rest: FloatArray, cap: float) -> float:
    """Most that any monotone values below the cap can gain from what the flow did not carry."""
    n = form.frame.shape[1]
    gain = np.maximum(rest[:n] * (cap - g[:n]), -rest[:n] * g[:n]).sum()
    return float(gain + np.abs(rest[n:]).sum() * max(cap, 1.0))
