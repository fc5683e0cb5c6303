"""Shapes that hold everywhere: monotone outputs, convex and concave utilities.

Along a source the sum is piecewise linear. In an interval of the source its slope is that of the
utility plus, for each term with the source, the difference over one edge of the grid; which edge
depends on where the other sources are. The smallest sum over all of these places must not be
negative. A quadratic programme with one constraint for each place found wanting is solved again
until none is: the result is monotone because every place was looked at, not because a solver says
so.

Where terms share further sources, places are looked at together if there are few enough, and terms
one by one otherwise, which is sufficient but may ask for more than needed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from choquet.additive.axes import Axis
from choquet.additive.fit import Fit
from choquet.additive.terms import Term
from choquet.arrays import FloatArray
from choquet.errors import SolverError
from choquet.lattice.lazy import linalg, optimize, sp

_MARGIN = 1e-7
"""Least rise over an interval, relative to the size of its constraint: room for rounding."""
_PLACES = 60_000
_ROUNDS = 40
"""Times that broken places are added before all edges are handed over at once."""


@dataclass(frozen=True)
class Proof:
    """What was checked of a constrained fit.

    Attributes
    ----------
    least_rise : float
        Smallest rise, in the direction asked for, over any interval and place; not negative.
    n_constraints : int
        Places that had to be held.
    gap : float
        How far the programme's answer is from its best, relative to its value.
    exact : bool
        Whether all places were looked at together: no constraint asks for more than needed.
    """

    least_rise: float
    n_constraints: int
    gap: float
    exact: bool


@dataclass(frozen=True, eq=False)
class _Edges:
    """Differences of a term along one source: a row of the basis for each interval and place."""

    columns: slice
    others: tuple[int, ...]
    axes: tuple[Axis, ...]
    knots: FloatArray
    rows: FloatArray


def _edges(term: Term, columns: slice, source: int) -> _Edges:
    """Slopes of a term along a source, (intervals, *other axes, numbers)."""
    a = term.sources.index(source)
    knots = term.axes[a].knots
    grid = np.moveaxis(term.basis.reshape(*term.shape, -1), a, 0)[: len(knots)]
    steps = np.diff(knots).reshape(-1, *([1] * (grid.ndim - 1)))
    others = tuple(s for s in term.sources if s != source)
    axes = tuple(axis for s, axis in zip(term.sources, term.axes, strict=True) if s != source)
    return _Edges(columns, others, axes, knots, np.diff(grid, axis=0) / steps)


class _Direction:
    """All intervals of one source, and the worst place of each at some numbers."""

    def __init__(self, fit: Fit, source: int, sign: float) -> None:
        design = fit.design
        self.sign, self.size = sign, design.n_numbers
        self.edges = [
            _edges(term, design.numbers(k), source)
            for k, term in enumerate(fit.terms)
            if source in term.sources
        ]
        knots = [edges.knots for edges in self.edges]
        self.knots = np.unique(np.concatenate(knots)) if knots else np.zeros(0)
        self.parts = list(_connected(self.edges))
        self.exact = all(_together(part) is not None for part in self.parts)

    def worst(self, beta: FloatArray) -> Iterator[tuple[float, FloatArray]]:
        """Least rise over each interval, and the constraint that says so."""
        for low, high in zip(self.knots[:-1], self.knots[1:], strict=True):
            middle, width = (low + high) / 2, high - low
            row, rise = np.zeros(self.size), 0.0
            for part in self.parts:
                rise += self._least(part, beta, middle, width, row)
            yield rise, row

    def _least(
        self, part: list[_Edges], beta: FloatArray, at: float, width: float, row: FloatArray
    ) -> float:
        held = []
        for edges in part:
            k = int(np.searchsorted(edges.knots, at)) - 1
            if 0 <= k < len(edges.rows):
                rows = self.sign * width * edges.rows[k]
                held.append((edges, rows, rows @ beta[edges.columns]))
        union = _together(part)
        if union is None:
            total = 0.0
            for edges, rows, values in held:
                place = np.unravel_index(int(np.argmin(values)), values.shape)
                row[edges.columns] += rows[place]
                total += float(values[place])
            return total
        names = list(union)
        summed = np.zeros([union[name].size for name in names])
        for edges, _, values in held:
            summed = summed + _spread(values, edges.others, names)
        place = np.unravel_index(int(np.argmin(summed)), summed.shape)
        for edges, rows, _ in held:
            row[edges.columns] += rows[tuple(place[names.index(s)] for s in edges.others)]
        return float(summed[place])


def _spread(values: FloatArray, others: Sequence[int], names: Sequence[int]) -> FloatArray:
    """Values by some sources as an array that broadcasts over all of them."""
    order = sorted(range(len(others)), key=lambda j: names.index(others[j]))
    shape = [values.shape[others.index(name)] if name in others else 1 for name in names]
    return np.transpose(values, order).reshape(shape)


def _connected(edges: Sequence[_Edges]) -> Iterator[list[_Edges]]:
    """Groups of terms that share no further source with other groups."""
    left = list(edges)
    while left:
        group = [left.pop(0)]
        names = set(group[0].others)
        while more := [e for e in left if names & set(e.others)]:
            group += more
            names |= {s for e in more for s in e.others}
            left = [e for e in left if not any(e is m for m in more)]
        yield group


def _together(part: Sequence[_Edges]) -> dict[int, Axis] | None:
    """Axes of the other sources, if all terms agree on them and there are few places."""
    found: dict[int, Axis] = {}
    for edges in part:
        for source, axis in zip(edges.others, edges.axes, strict=True):
            known = found.setdefault(source, axis)
            if known.size != axis.size or not np.array_equal(known.knots, axis.knots):
                return None
    return found if np.prod([axis.size for axis in found.values()]) <= _PLACES else None


def _bends(fit: Fit, curvatures: Mapping[int, float]) -> list[FloatArray]:
    """Constraints for convex (1) and concave (-1) utilities."""
    design, rows = fit.design, []
    for k, term in enumerate(fit.terms):
        if len(term.sources) == 1 and term.sources[0] in curvatures:
            slopes = _edges(term, design.numbers(k), term.sources[0]).rows
            for bend in np.diff(slopes, axis=0):
                row = np.zeros(design.n_numbers)
                row[design.numbers(k)] = curvatures[term.sources[0]] * bend
                rows.append(row)
    return rows


def _least_rise(directions: Sequence[_Direction], beta: FloatArray) -> float:
    """Smallest rise over any interval and place, in the directions asked for."""
    return min((rise for d in directions for rise, _ in d.worst(beta)), default=0.0)


def constrain(fit: Fit, signs: Mapping[int, float], curvatures: Mapping[int, float]) -> Proof:
    """Replace the numbers of a fit by the best ones that have the shapes asked for.

    Parameters
    ----------
    fit : Fit
        Of one score, with its strengths; they stay as they are.
    signs : mapping of float by source
        1 for outputs that do not fall with the source, -1 for outputs that do not rise.
    curvatures : mapping of float by source
        1 for convex utilities, -1 for concave ones.

    Raises
    ------
    SolverError
        If the places that break the shape do not run out.
    """
    directions = [_Direction(fit, source, sign) for source, sign in signs.items()]
    always, held = _bends(fit, curvatures), list[FloatArray]()
    result, q = fit.results[0], fit.quadratics[0]
    penalty = fit.penalties() @ np.exp(fit.rhos[0])
    gap = 0.0
    for step in range(1 if fit.family.linear else 12):
        if step:
            q = fit.quadratic(0)
        A = q.curve + np.diag(penalty + 1e-9 * np.mean(q.curve.diagonal()))
        factor = (linalg.cholesky(A, lower=True), True)
        free = linalg.cho_solve(factor, q.linear)
        beta, gap, held = _solve(free, factor, always, held, directions)
        moved = float(np.sqrt(max((beta - fit.betas[0]) @ q.curve @ (beta - fit.betas[0]), 0.0)))
        first = step == 0 and _least_rise(directions, fit.betas[0]) < 0
        if fit.family.linear or first:
            fit.betas[0] = beta
        else:
            fit._step(0, beta - fit.betas[0], penalty, q.loss)
        if moved < 0.05 * np.sqrt(result.variance):
            break
    rise = _least_rise(directions, fit.betas[0])
    return Proof(rise, len(always) + len(held), gap, all(d.exact for d in directions))


def _solve(
    free: FloatArray,
    factor: tuple[FloatArray, bool],
    always: list[FloatArray],
    held: list[FloatArray],
    directions: list[_Direction],
) -> tuple[FloatArray, float, list[FloatArray]]:
    """The best numbers, the gap, and the places held: those broken are added, idle ones dropped."""
    for _ in range(_ROUNDS):
        rows = [*always, *held]
        beta, gap, active = _programme(free, factor, rows) if rows else (free, 0.0, rows)
        new = [
            row
            for d in directions
            for rise, row in d.worst(beta)
            if rise < 0.5 * _MARGIN * np.linalg.norm(row)
        ]
        held = [*active[len(always) :], *new] if rows else new
        held = [row for row in held if row is not None]
        if not new:
            return beta, gap, held
    beta, gap = _all_at_once(free, factor, always, directions)
    return beta, gap, held


def _programme(
    free: FloatArray, factor: tuple[FloatArray, bool], rows: list[FloatArray]
) -> tuple[FloatArray, float, list[Any]]:
    """Nearest numbers, in the metric of the loss, whose rises are at least the margin.

    The dual has one unknown a constraint and is a non-negative least-squares problem. Rows that it
    does not need come back as None.
    """
    A = np.array(rows)
    A /= np.maximum(np.linalg.norm(A, axis=1, keepdims=True), 1e-12)
    half = linalg.solve_triangular(factor[0], A.T, lower=True)
    lack = _MARGIN - A @ free
    # min |half x|^2 / 2 - lack x over x >= 0, as least squares.
    scale = np.sqrt(np.maximum((half**2).sum(axis=0), 1e-300))
    values, vectors = linalg.eigh((half / scale).T @ (half / scale))
    root = np.sqrt(np.maximum(values, 1e-13 * values.max()))
    left, right = (vectors * root).T, (vectors / root).T @ (lack / scale)
    dual = optimize.nnls(left, right, maxiter=50 * len(rows))[0] / scale
    beta = free + linalg.solve_triangular(factor[0], half @ dual, lower=True, trans="T")
    gap = abs(float(dual @ (A @ beta - _MARGIN)))
    size = float((half @ dual) @ (half @ dual))
    needed = [row if x > 0 else None for row, x in zip(rows, dual, strict=True)]
    return beta, gap / max(size, 1e-12), needed


def _all_at_once(
    free: FloatArray,
    factor: tuple[FloatArray, bool],
    always: list[FloatArray],
    directions: list[_Direction],
) -> tuple[FloatArray, float]:
    """The same programme with every edge in it, for shapes that the data contradict widely.

    The worst edge of each term in each interval is an unknown of its own, so terms are taken one
    by one: sufficient, and never short of a solution.
    """
    import clarabel

    size, extra = len(free), 0
    blocks: list[tuple[FloatArray, list[int]]] = [(row, []) for row in always]
    lifted: list[Any] = []
    for d in directions:
        for low, high in zip(d.knots[:-1], d.knots[1:], strict=True):
            whole, own = np.zeros(size), list[int]()
            for edges in d.edges:
                k = int(np.searchsorted(edges.knots, (low + high) / 2)) - 1
                if not 0 <= k < len(edges.rows):
                    continue
                rows = d.sign * (high - low) * edges.rows[k].reshape(-1, edges.rows.shape[-1])
                if len(rows) == 1:
                    whole[edges.columns] += rows[0]
                else:
                    lifted.append((extra, edges.columns, rows))
                    own.append(extra)
                    extra += 1
            blocks.append((whole, own))
    A, b = _lifted_rows(size, extra, blocks, lifted)
    curve = factor[0] @ factor[0].T
    P = sp.block_diag([sp.csc_array(np.triu(curve)), sp.csc_array((extra, extra))], format="csc")
    q = np.concatenate([-curve @ free, np.zeros(extra)])
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-10
    unit = max(float(np.abs(curve.diagonal()).max()), 1e-300)
    solver = clarabel.DefaultSolver(
        sp.csc_matrix(P / unit), q / unit, A, b, [clarabel.NonnegativeConeT(len(b))], settings
    )
    answer = solver.solve()
    x = np.array(answer.x)
    if not np.isfinite(x).all() or "Infeasible" in str(answer.status):
        raise SolverError(
            f"the monotone fit was not solved (status {answer.status}); use fewer knots, or a "
            "smaller max_order"
        )
    value = float(x[:size] @ curve @ x[:size] + q @ x) / unit
    gap = abs(value + float(b @ np.array(answer.z)))
    return x[:size], gap


def _lifted_rows(
    size: int, extra: int, blocks: Sequence[Any], lifted: Sequence[Any]
) -> tuple[Any, FloatArray]:
    """Constraints ``A x <= b`` on the numbers and the worst edges."""
    parts, bounds = [], []
    for whole, own in blocks:
        row = np.zeros((1, size + extra))
        row[0, :size] = whole
        row[0, [size + k for k in own]] = 1.0
        parts.append(sp.csr_array(-row))
        bounds.append([-10 * _MARGIN])
    for k, columns, rows in lifted:
        row = np.zeros((len(rows), size + extra))
        row[:, columns], row[:, size + k] = -rows, 1.0
        parts.append(sp.csr_array(row))
        bounds.append([0.0] * len(rows))
    A = sp.csc_matrix(sp.vstack(parts))
    A.sum_duplicates()
    A.sort_indices()
    return A, np.concatenate(bounds)
