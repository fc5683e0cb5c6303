"""Ends over a region by whole arrays: the search of `_kernels.least_of` for many functions at once.

A few hundred functions of up to 30 unknowns take a third of a second, and nothing is compiled. The
steps are those of the compiled search, so the ends agree to what either may miss.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np

from choquet.arrays import BoolArray, FloatArray
from choquet.lattice.lazy import linalg, sp
from choquet.lattice.threads import one_blas_thread

TOLERANCE = 1e-9
"""Gap and broken constraints at which an end counts as found; values of measures lie in [0, 1]."""
MOST = 80
"""Newton steps at most; about 10 are usual."""
PULL = 0.1
"""What the curved constraint pulls with at first: about what it does in the end, for a value. With
a hundredth of it, seven sources took a quarter more steps."""
NEAR = 1e-5
"""Gap at which a least squared error counts as found, in units of the noise."""
FACTORED = 60
"""Unknowns from which a factorisation pays for a call of its own, about 15 µs: six sources."""
FIRM = 1.0 + 1e-14
"""Factor of the diagonal of a Newton matrix, for what rounding leaves nothing of."""
_AT_ONCE = 1_000_000
"""Numbers in the Newton matrices of one batch: 8 MB. Half and twice of it take as long."""


def least_at_once(
    form: FloatArray,
    gradient: FloatArray,
    rows: Any,
    room: FloatArray,
    costs: FloatArray,
    budgets: FloatArray,
) -> tuple[FloatArray, FloatArray]:
    """Least ``cost'd`` with ``rows d + room ≥ 0`` and ``gradient'd + d'form d ≤ budget``.

    Parameters
    ----------
    form, gradient : arrays of shape (n, n) and (n,)
    rows : sparse matrix of shape (m, n)
    room : array of shape (m,)
        None is negative, so that d = 0 is feasible.
    costs : array of shape (K, n)
    budgets : array of shape (K,)
        About 1; none is zero.

    Returns
    -------
    tuple of array (K,) and array (K,)
        The ends, and what is still broken of gap and constraints; infinite where the search failed.

    Examples
    --------
    >>> room, costs = np.array([0.25]), np.array([[2.0], [-2.0], [-2.0]])
    >>> ends, broken = least_at_once(
    ...     np.eye(1), np.zeros(1), sp.csr_array([[1.0]]), room, costs, np.array([1.0, 1.0, 4.0])
    ... )
    >>> ends.round(6), bool(broken.max() < 1e-6)
    (array([-0.5, -2. , -4. ]), True)
    """
    n = len(gradient)
    found, left = np.full(len(costs), np.nan), np.full(len(costs), np.inf)
    search = _Search(form, gradient, sp.csr_array(rows))
    size = max(_AT_ONCE // max(n * n, 1), 1)
    # A search that gets lost at the edge ends with what is not a number, which counts as failed.
    with _one_by_one(n), np.errstate(over="ignore", invalid="ignore"):
        for start in range(0, len(costs), size):
            part = slice(start, start + size)
            found[part], left[part] = search.least(costs[part], room, budgets[part])
    return found, left


def nearest_at_once(
    form: FloatArray, slopes: FloatArray, rows: Any, room: FloatArray, pins: FloatArray
) -> tuple[FloatArray, FloatArray, BoolArray]:
    """Least ``d'form d + slope'd`` with ``rows d + room ≥ 0`` and ``pin'd = 0``, for many slopes.

    Pins are springs: ``(pin'd)²`` is added to what is made least, and the answer is what its
    multiplier proves for a pin that does not give way, short by the square of what it gave.

    Parameters
    ----------
    form : array of shape (n, n)
    slopes, pins : arrays of shape (K, n)
        A pin of zeros holds nothing; the longer a pin, the stiffer it is.
    rows : sparse matrix of shape (m, n)
    room : array of shape (K, m)
        None is negative, so that d = 0 is feasible.

    Returns
    -------
    tuple of array (K,), array (K, n) and array (K,) of bool
        The least values, to about `NEAR`, where they are, and whether they were found.

    Examples
    --------
    >>> slopes, pins = np.array([[2.0, 4.0], [2.0, 4.0]]), np.array([[0.0, 0.0], [100.0, 0.0]])
    >>> found, at, solved = nearest_at_once(
    ...     np.eye(2), slopes, sp.csr_array([[0.0, 1.0]]), np.ones((2, 1)), pins
    ... )
    >>> found.round(3), at.round(3) + 0.0, solved
    (array([-4., -3.]), array([[-1., -1.],
           [ 0., -1.]]), array([ True,  True]))
    """
    search = _Search(form, np.zeros(len(form)), sp.csr_array(rows))
    found, at = np.full(len(slopes), np.nan), np.zeros_like(slopes)
    solved = np.zeros(len(slopes), np.bool_)
    size = max(_AT_ONCE // max(form.size, 1), 1)
    with _one_by_one(len(form)):
        for start in range(0, len(slopes), size):
            part = slice(start, start + size)
            found[part], at[part], solved[part] = search.nearest(
                slopes[part], room[part], pins[part]
            )
    return found, at, solved


def _one_by_one(n: int) -> AbstractContextManager[None]:
    """One thread where matrices are factored one by one: of eight sources two took 12 times as
    long on busy cores, waiting for each other. Below that it would take longer to ask for it.
    """
    return one_blas_thread() if n >= FACTORED else nullcontext()


class _Search:
    """What is the same for every function: the error, and which products the rows make."""

    def __init__(self, form: FloatArray, gradient: FloatArray, rows: Any) -> None:
        # By rows in memory: what `_fill` makes of it is filled in place.
        self.form, self.gradient = np.ascontiguousarray(form), gradient
        self.rows, self.across = rows, sp.csr_array(rows.T)
        n = len(gradient)
        counts = np.diff(rows.indptr)
        # Row e adds w_e · b_e b_e' to a Newton matrix: all of these, as one sparse matrix.
        partners, begin = np.repeat(counts, counts), np.repeat(rows.indptr[:-1], counts)
        one = np.repeat(np.arange(len(rows.data)), partners)
        before = np.repeat(np.cumsum(partners) - partners - begin, partners)
        two = np.arange(len(one)) - before
        first, second = rows.indices[one].astype(np.int64), rows.indices[two]
        owner = np.repeat(np.arange(len(counts)), counts)[one]
        products = rows.data[one] * rows.data[two]
        # Most places of a Newton matrix get none of them: `places` are those that do.
        self.places, place = np.unique(first * n + second, return_inverse=True)
        self.squares = sp.csr_array(
            (products, (place, owner)), shape=(len(self.places), len(counts))
        )

    def solver(self, at: _State, slope: FloatArray) -> Callable[[FloatArray], FloatArray]:
        """What solves with the Newton matrices, for one right side of each at a time.

        Large ones are factored one by one, once for all right sides, which is half the work; where
        rounding has made one of them less than positive, all are solved as they are.
        """
        n = len(self.gradient)
        H, added = np.empty((len(slope), n, n)), (self.squares @ (at.lam / at.s).T).T
        parts = list(zip(H, added, 2.0 * at.mu, slope, at.mu / at.t, strict=True))
        if n >= FACTORED and all(self._factored(*part) for part in parts):
            solve = linalg.lapack.dpotrs
            return lambda right: np.array(
                [solve(f.T, b, lower=1)[0] for f, b in zip(H, right, strict=True)]
            )
        for one, more, twice, row, weight in parts:
            self._fill(one, more, twice)
            one += (weight * row)[:, None] * row
            one.reshape(-1)[:: n + 1] *= FIRM
        return lambda right: np.asarray(np.linalg.solve(H, right[:, :, None])[:, :, 0])

    def _fill(self, one: FloatArray, more: FloatArray, twice: float) -> None:
        """A Newton matrix without the product of the slope with itself."""
        np.multiply(self.form, twice, out=one)
        one.reshape(-1)[self.places] += more

    def _factored(
        self, one: FloatArray, more: FloatArray, twice: float, row: FloatArray, weight: float
    ) -> bool:
        """Fill a Newton matrix with its factor, while it is in the processor's cache.

        Only one half is worked on, and the other is not cleared: nobody reads it.
        """
        self._fill(one, more, twice)
        linalg.blas.dsyr(weight, row, lower=1, a=one.T, overwrite_a=1)
        one.reshape(-1)[:: len(one) + 1] *= FIRM
        return not linalg.lapack.dpotrf(one.T, lower=1, clean=0, overwrite_a=1)[1]

    def least(
        self, cost: FloatArray, room: FloatArray, budget: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """The least value of each function; see `_kernels._least`, whose steps these are."""
        found, left = np.full(len(cost), np.nan), np.full(len(cost), np.inf)
        numbers, at = np.arange(len(cost)), _State.start(cost, room)
        at.t = budget.copy()
        for _ in range(MOST):
            along = at.d @ self.form
            slope = -self.gradient - 2.0 * along
            q = budget[numbers] - (at.d * (self.gradient + along)).sum(axis=1)
            rs = (self.rows @ at.d.T).T + room - at.s
            dual = at.cost - at.mu[:, None] * slope - (self.across @ at.lam.T).T
            gap = at.t * at.mu + (at.s * at.lam).sum(axis=1)
            worst = np.abs(q - at.t)
            for rest in (rs, dual):
                worst = np.maximum(worst, np.abs(rest).max(axis=1, initial=0.0))
            found[numbers] = (at.cost * at.d).sum(axis=1)
            left[numbers] = np.maximum(worst, gap)
            going = ~((gap < TOLERANCE) & (worst < 10 * TOLERANCE)) & np.isfinite(worst)
            if not going.any():
                break
            numbers, at = numbers[going], at.kept(going)
            parts = [part[going] for part in (slope, q, rs, dual, gap)]
            try:
                self._step(at, *parts)
            except np.linalg.LinAlgError:
                left[numbers] = np.inf
                break
        return found, left

    def _step(
        self, at: _State, slope: FloatArray, q: FloatArray, rs: FloatArray, dual: FloatArray,
        gap: FloatArray,
    ) -> None:  # fmt: skip
        """One step of Mehrotra's predictor and corrector, in place."""
        solve, rt, m = self.solver(at, slope), q - at.t, rs.shape[1]
        target, curve, bend = np.zeros(len(q)), np.zeros(len(q)), np.zeros(len(q))
        ds, dl = np.zeros_like(at.s), np.zeros_like(at.s)
        dt, dm = np.zeros(len(q)), np.zeros(len(q))
        step = np.zeros_like(at.d)
        away = back = np.ones(len(q))
        for corrected in range(2):
            if corrected:
                bend = (step * (step @ self.form)).sum(axis=1)
                curve = -bend * away * away
            # In the first round ds, dl, dt and dm are zero, and so are their products.
            cs = target[:, None] - at.s * at.lam - at.lam * rs - ds * dl
            ct = target - at.t * at.mu - at.mu * (rt + curve) - dt * dm
            right = -dual + slope * (ct / at.t)[:, None] + (self.across @ (cs / at.s).T).T
            step = solve(right)
            ds = (self.rows @ step.T).T + rs
            dt = rt + curve + (slope * step).sum(axis=1)
            dl = (cs + at.lam * rs - at.lam * ds) / at.s
            dm = (ct + at.mu * (rt + curve) - at.mu * dt) / at.t
            away = np.minimum(_reach(at.s, ds), _reach(at.t[:, None], dt[:, None]))
            back = np.minimum(_reach(at.lam, dl), _reach(at.mu[:, None], dm[:, None]))
            if not corrected:
                after = (at.t + away * dt) * (at.mu + back * dm)
                after += ((at.s + away[:, None] * ds) * (at.lam + back[:, None] * dl)).sum(axis=1)
                target = np.clip(after / gap, 0.0, 1.0) ** 3 * gap / (m + 1)
        away, back = np.minimum(1.0, 0.995 * away), np.minimum(1.0, 0.995 * back)
        # The step must stay inside the curved constraint itself, not only inside its tangent.
        bend, tilt = (step * (step @ self.form)).sum(axis=1), (slope * step).sum(axis=1)
        rest = q + away * tilt - away * away * bend
        while ((rest < 0.005 * at.t) & (away > 1e-9)).any():
            away = np.where((rest < 0.005 * at.t) & (away > 1e-9), 0.7 * away, away)
            rest = q + away * tilt - away * away * bend
        at.d += away[:, None] * step
        at.s += away[:, None] * ds
        at.lam += back[:, None] * dl
        at.t = np.maximum(rest, 1e-300)
        at.mu = at.mu + back * dm

    def nearest(
        self, slopes: FloatArray, room: FloatArray, pins: FloatArray
    ) -> tuple[FloatArray, FloatArray, BoolArray]:
        """The least squares of `nearest_at_once`: the same steps, without a curved constraint."""
        found, points = np.full(len(slopes), np.nan), np.zeros_like(slopes)
        numbers, at = np.arange(len(slopes)), _State.start(slopes, room)
        solved = np.zeros(len(slopes), np.bool_)
        # In the Newton matrices a pin takes the place of the slope of the curved constraint.
        at.mu, at.t, at.lam = at.t, at.t / 2, at.lam + np.abs(slopes).mean()
        for _ in range(MOST):
            along, held = at.d @ self.form, (pins * at.d).sum(axis=1)
            rs = (self.rows @ at.d.T).T + room - at.s
            dual = at.cost + 2.0 * (along + held[:, None] * pins) - (self.across @ at.lam.T).T
            gap = (at.s * at.lam).sum(axis=1)
            found[numbers] = (at.d * (along + at.cost)).sum(axis=1) + 2 * held**2
            points[numbers] = at.d
            close = np.abs(rs).max(axis=1, initial=0.0) < 1e-7
            flat = np.abs(dual).max(axis=1) < 1e-4 * np.abs(at.cost).max(axis=1)
            solved[numbers] = (gap < NEAR) & close & flat
            going = ~solved[numbers]
            if not going.any():
                break
            numbers, at = numbers[going], at.kept(going)
            room, pins = room[going], pins[going]
            try:
                self._step_down(at, pins, rs[going], dual[going], gap[going])
            except np.linalg.LinAlgError:
                break
        return found, points, solved

    def _step_down(
        self, at: _State, pins: FloatArray, rs: FloatArray, dual: FloatArray, gap: FloatArray
    ) -> None:
        """One step of Mehrotra's predictor and corrector for `nearest`, in place."""
        solve = self.solver(at, pins)
        target, ds, dl = np.zeros(len(gap)), np.zeros_like(at.s), np.zeros_like(at.s)
        step, away, back = dual, np.ones(len(gap)), np.ones(len(gap))
        for corrected in range(2):
            cs = target[:, None] - at.s * at.lam - at.lam * rs - ds * dl
            right = -dual + (self.across @ (cs / at.s).T).T
            step = solve(right)
            ds = (self.rows @ step.T).T + rs
            dl = (cs + at.lam * rs - at.lam * ds) / at.s
            away, back = _reach(at.s, ds), _reach(at.lam, dl)
            if not corrected:
                after = (at.s + away[:, None] * ds) * (at.lam + back[:, None] * dl)
                after = np.clip(after.sum(axis=1) / gap, 0.0, 1.0) ** 3 * gap
                # No nearer to the edges than is asked for, or rounding has the last word.
                target = np.maximum(after, 0.1 * NEAR) / rs.shape[1]
        away, back = np.minimum(1.0, 0.995 * away), np.minimum(1.0, 0.995 * back)
        at.d += away[:, None] * step
        at.s += away[:, None] * ds
        at.lam += back[:, None] * dl


class _State:
    """Where the searches stand: points, what is left of each constraint, and its multiplier."""

    def __init__(
        self, cost: FloatArray, d: FloatArray, s: FloatArray, lam: FloatArray, t: FloatArray,
        mu: FloatArray,
    ) -> None:  # fmt: skip
        self.cost, self.d, self.s, self.lam, self.t, self.mu = cost, d, s, lam, t, mu

    @classmethod
    def start(cls, cost: FloatArray, room: FloatArray) -> _State:
        """The optimum, with a little room at every constraint."""
        s = np.empty((len(cost), room.shape[-1]))
        s[:] = np.maximum(room, 1e-2)
        one = np.ones(len(cost))
        return cls(cost, np.zeros_like(cost), s, 1e-3 / s + 1e-3, one, PULL * one)

    def kept(self, which: BoolArray) -> _State:
        """Those that are not finished."""
        if which.all():
            return self
        parts = (self.cost, self.d, self.s, self.lam, self.t, self.mu)
        return _State(*(part[which] for part in parts))


def _reach(x: FloatArray, dx: FloatArray) -> FloatArray:
    """Longest step up to 1, for each row, that keeps x from falling below zero."""
    falling = dx < 0.0
    ratio = np.divide(-x, dx, out=np.ones_like(x), where=falling)
    return np.asarray(np.minimum(ratio.min(axis=1, initial=1.0), 1.0))
