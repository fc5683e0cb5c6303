"""Lattice ADMM: monotone least squares by averaging pairs, for lattices too large to factor.

Monotonicity along one source is 2**(N-1) independent pairs, whose projection is "average the pair
if it is out of order". One copy of the measure per source, the quadratic form solved by conjugate
gradients from the previous point (its matrix has few entries: only comparable pairs that data saw).

The multipliers of the pairs bound the distance to the optimum: for monotone g', convexity gives
f(g') ≥ f(g) + ∇f(g)·(g' - g), and ∇f splits into multipliers along pairs plus a remainder r, so

    f(g) - f(g') ≤ Σ λ_e (g(A∪i) - g(A)) + Σ |r(A)| max(g(A), 1 - g(A)).

Iterations stop when this bound, and the steps, are small enough.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from choquet.arrays import FloatArray
from choquet.errors import OptionError
from choquet.lattice import cover_pairs, subset_sizes
from choquet.learning.problem import Problem
from choquet.learning.solvers.solution import Solution, close, finish

__all__ = ["Form", "admm", "admm_handles", "form_of", "gradient_of"]

OVER_RELAXATION = 1.8
CHECK_EVERY = 25
LEAN = 3.0
"""How much more the primal residual counts in the balance; fewer iterations (measured)."""
LARGE = 13
"""From here on the bound on the gap is too loose to wait for: see `_still`."""
MESSAGES = (
    "stopped at max_iterations",
    "the objective no longer changes",
    "the bound on the gap is small",
)


def admm_handles(problem: Problem) -> bool:
    """Whether the problem is one for this solver: dense, monotone, nothing but quadratic terms."""
    return (
        problem.dense
        and problem.monotone
        and problem.basis is None
        and problem.rows is None
        and problem.absolute is None
        and problem.power is None
    )


@dataclass
class _State:
    """What one iteration hands to the next; `rho` is the penalty on disagreement of the copies."""

    v: FloatArray
    copies: FloatArray
    duals: FloatArray
    rho: float


@dataclass(frozen=True)
class Form:
    """The quadratic form in the shape the kernel takes."""

    matrix: Any
    diagonal: FloatArray
    right: FloatArray
    frame: FloatArray
    strength: float
    free: Any


def admm(
    problem: Problem,
    *,
    start: Solution | None = None,
    verbose: bool = False,
    tolerance: float = 2e-5,
    max_iterations: int = 10_000,
) -> Solution:
    """Solve a monotone quadratic problem on the dense lattice.

    Parameters
    ----------
    problem : Problem
        Dense and monotone, with a squared loss; see `admm_handles`.
    start : Solution, optional
        A solution of a similar problem to start from.
    verbose : bool, default False
        Print residuals now and then.
    tolerance : float, default 2e-5
        Where the bound on the relative distance of the objective from its optimum may stop; the
        bound is loose, and merging pressed pairs afterwards usually gains five more digits.
    max_iterations : int, default 10_000

    References
    ----------
    Boyd, Parikh, Chu, Peleato & Eckstein (2011), "Distributed optimization and statistical
    learning via the alternating direction method of multipliers".

    Examples
    --------
    >>> from choquet.learning.problem import least_squares
    >>> from choquet.learning.statistics import Statistics
    >>> X = np.array([[0.9, 0.4], [0.2, 0.6]])
    >>> problem = least_squares(Statistics.from_data(X, [0.6, 0.48]))
    >>> admm(problem).values.round(6)
    array([0. , 0.4, 0.7, 1. ])
    """
    if not admm_handles(problem):
        raise OptionError(
            "solver='admm' needs a dense monotone problem with squared loss and no expert "
            "statements, basis or lp penalty; use solver='interior'"
        )
    form = form_of(problem)
    state = _initial(problem, form, start)
    total = (state.copies - state.duals).sum(axis=0)
    inner, gap, done, small = 1e-2, np.inf, False, False
    history: list[float] = []
    iteration = 0
    for iteration in range(1, max_iterations + 1):
        primal, dual = _iterate(problem, form, state, total, inner)
        inner = min(inner, max(primal, dual))
        if iteration % CHECK_EVERY:
            continue
        gap, objective = _gap(problem, form, state)
        history.append(objective)
        if verbose:
            print(  # noqa: T201 - asked for
                f"admm {iteration:6d}  objective {objective:.9g}  primal {primal:.1e}  "
                f"dual {dual:.1e}  gap {gap:.1e}"
            )
        floor = 1e-13 * max(abs(problem.constant), 1e-300)
        small = gap <= tolerance * max(objective, floor / tolerance)
        still = _still(history, tolerance) and problem.n_sources >= LARGE
        done = max(primal, dual) < (1e-6 if small else 1e-5 if still else 1e-11)
        if done:
            break
        if iteration <= max_iterations * 0.8:
            _balance(state, primal, dual, total)
    values = _polished(problem, form, state)
    return finish(
        problem,
        values,
        gap=gap,
        solved=done,
        message=MESSAGES[done + (done and small)],
        iterations=iteration,
        solver="admm",
        warm=state,
    )


def _still(history: list[float], tolerance: float) -> bool:
    """Whether the objective has hardly changed over the last eight checks."""
    if len(history) < 9:
        return False
    recent = history[-9:]
    return max(recent) - min(recent) <= tolerance * abs(recent[-1])


def form_of(problem: Problem) -> Form:
    """Quadratic form of a problem, with known values moved to the right-hand side."""
    extra = problem.bias
    free = np.append(~problem.fixed, np.ones(extra, dtype=bool))
    at = np.append(problem.start, np.zeros(extra))
    quadratic = sp.csr_array(problem.quadratic)
    inner = np.append((~problem.fixed).astype(np.float64), np.zeros(extra))
    linear = problem.linear + problem.l1 * inner
    right = -(linear + quadratic @ at)
    diagonal = quadratic.diagonal()
    frame, strength = np.zeros((0, problem.n_values)), 0.0
    if problem.prior is not None and problem.prior.strength > 0:
        strength = 2 * problem.prior.strength
        frame = np.ascontiguousarray(np.linalg.qr(problem.prior.basis.toarray())[0].T)
        top = problem.start
        right[: problem.n_values] -= strength * (top - frame.T @ (frame @ top))
        diagonal = diagonal + np.append(strength * (1 - (frame**2).sum(axis=0)), np.zeros(extra))
    pick = sp.diags_array(free.astype(np.float64))
    matrix = sp.csr_array(pick @ quadratic @ pick)
    matrix.eliminate_zeros()
    return Form(matrix, diagonal, np.where(free, right, 0.0), frame, strength, free)


def _initial(problem: Problem, form: Form, start: Solution | None) -> _State:
    n, extra = problem.n_sources, problem.bias
    if start is not None and isinstance(start.warm, _State):
        warm = start.warm
        return _State(warm.v.copy(), warm.copies.copy(), warm.duals.copy(), warm.rho)
    g = np.array(start.values) if start is not None else subset_sizes(n) / n
    inner = form.diagonal[: problem.n_values][~problem.fixed]
    touched = inner[inner > 0]
    rho = float(np.median(touched)) if len(touched) else 1.0
    v = np.append(g, np.zeros(extra))
    return _State(v, np.tile(g, (n, 1)), np.zeros((n, len(g))), rho)


def _iterate(
    problem: Problem, form: Form, state: _State, total: FloatArray, inner: float
) -> tuple[float, float]:
    from choquet.learning._kernels import conjugate_gradients, lattice_step

    n_values, n = problem.n_values, problem.n_sources
    shift = np.zeros(len(state.v))
    shift[:n_values] = state.rho * n
    right = form.right.copy()
    right[:n_values] += state.rho * total
    diagonal = form.diagonal + shift
    inverse = np.where(form.free & (diagonal > 0), 1 / np.maximum(diagonal, 1e-300), 0.0)
    x = np.where(form.free, state.v, 0.0)
    accuracy = max(0.2 * inner * state.rho * n * np.sqrt(n_values), 1e-15)
    matrix = form.matrix
    conjugate_gradients(
        matrix.indptr, matrix.indices, matrix.data, form.frame, form.strength,
        shift, inverse, form.free, right, x, accuracy, 60,
    )  # fmt: skip
    x[:n_values] += problem.start
    state.v = x
    primal, dual = lattice_step(x[:n_values], state.copies, state.duals, total, OVER_RELAXATION)
    return float(np.sqrt(primal / state.copies.size)), float(np.sqrt(dual / state.copies.size))


def _balance(state: _State, primal: float, dual: float, total: FloatArray) -> None:
    size = float(np.sqrt((state.copies**2).mean()))
    force = float(np.sqrt((state.duals**2).mean()))
    if force == 0 or dual == 0 or size == 0:
        return
    ratio = float(np.clip(np.sqrt(LEAN * (primal / size) / (dual / force)), 0.2, 5.0))
    if 1 / 1.5 < ratio < 1.5:
        return
    state.rho *= ratio
    state.duals /= ratio
    total[:] = (state.copies - state.duals).sum(axis=0)


def gradient_of(form: Form, v: FloatArray) -> FloatArray:
    """Gradient of the form at v; zero at known values."""
    inner = np.where(form.free, v, 0.0)
    gradient = form.matrix @ inner - form.right
    if form.strength:
        m = form.frame.shape[1]
        gradient[:m] += form.strength * (inner[:m] - form.frame.T @ (form.frame @ inner[:m]))
    return np.where(form.free, gradient, 0.0)


def _gap(problem: Problem, form: Form, state: _State) -> tuple[float, float]:
    g, _ = close(problem, state.v[: problem.n_values])
    v = np.append(g, state.v[problem.n_values :])
    rest = gradient_of(form, v)[: problem.n_values]
    rest += np.where(form.free[: problem.n_values], state.rho * state.duals.sum(axis=0), 0.0)
    slack = 0.0
    for i in range(problem.n_sources):
        pairs, force = g.reshape(-1, 2, 1 << i), state.duals[i].reshape(-1, 2, 1 << i)
        slack += float((force[:, 0] * (pairs[:, 1] - pairs[:, 0])).sum())
    reach = np.maximum(g, max(1.0, float(g[-1])) - g)
    objective = problem.objective(g, v[problem.n_values :])
    return state.rho * slack + float(np.abs(rest) @ reach), objective


def _polished(problem: Problem, form: Form, state: _State) -> FloatArray:
    """Best of the last point and of the point with every pressed pair merged into one value."""
    from choquet.learning._kernels import conjugate_gradients

    n_values = problem.n_values
    pairs = cover_pairs(problem.n_sources)
    source = np.repeat(np.arange(problem.n_sources), len(pairs) // problem.n_sources)
    pressed = pairs[state.duals[source, pairs[:, 0]] > 0]
    size = len(state.v)
    edges = sp.coo_array((np.ones(len(pressed)), (pressed[:, 0], pressed[:, 1])), (size, size))
    n_blocks, label = sp.csgraph.connected_components(edges, directed=False)
    merge = sp.csr_array((np.ones(size), (np.arange(size), label)), (size, n_blocks))
    held = np.zeros(n_blocks, dtype=bool)
    held[label[~form.free]] = True
    free = ~held
    at = np.zeros(n_blocks)
    at[label[n_values - 1]] = 1.0 if problem.normal else 0.0
    if form.strength or not problem.normal:
        return _best(problem, [state.v])
    reduced = sp.csr_array(merge.T @ form.matrix @ merge)
    right = merge.T @ form.right - reduced @ at
    weight = 1e-9 * max(float(reduced.diagonal().max(initial=0.0)), 1e-300)
    y0 = (merge.T @ state.v) / np.bincount(label)
    x = np.where(free, y0, 0.0)
    shift = np.full(n_blocks, weight)
    diagonal = reduced.diagonal() + weight
    conjugate_gradients(
        reduced.indptr, reduced.indices, reduced.data, np.zeros((0, n_blocks)), 0.0, shift,
        np.where(free, 1 / diagonal, 0.0), free, np.where(free, right + weight * y0, 0.0), x,
        1e-14 * float(np.abs(right).max(initial=1.0)), 2000,
    )  # fmt: skip
    return _best(problem, [state.v, merge @ (x + at)])


def _best(problem: Problem, candidates: list[FloatArray]) -> FloatArray:
    def value(v: FloatArray) -> float:
        closed, _ = close(problem, v[: problem.n_values])
        return problem.objective(closed, v[problem.n_values :])

    return min(candidates, key=value)
