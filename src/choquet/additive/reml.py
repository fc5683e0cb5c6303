"""Strengths of penalties by restricted maximum likelihood, with a certificate.

All penalties are diagonal (see `axes`), so the criterion, its gradient and its Hessian in the
logarithms of the strengths cost one Cholesky factor and one inverse.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from choquet.additive import _kernels
from choquet.arrays import BoolArray, FloatArray, IntArray
from choquet.lattice.lazy import linalg

_ROUNDING = 1e-11
"""Change of the criterion, in shares of it, that may be rounding: sums over some thousand rows."""

_BOUND = (np.log(1e-6), np.log(1e8))
_LEAST_OF_CLASSES = np.log(1e-4)
"""Least strength where the scale is known: classes that can be told apart ask for none at all."""
_RIDGE = 1e-9
_GRID = np.arange(-6.0, 16.0, 2.0)
"""Logarithms of a strength at which the likelihood is looked at, to average over it."""
SPREAD = 5.0
"""How far strengths of one kind lie apart, in logarithms: they are shrunk to their mean."""


def mirrored(A: FloatArray) -> FloatArray:
    """A symmetric matrix of which the upper half was given; the lower half is written."""
    _kernels.mirror(A)
    return A


@dataclass(frozen=True, eq=False)
class Quadratic:
    """Loss near a fit: ``square - 2 linear @ b + b @ curve @ b``, from rows of weight `n` in all.

    `known_scale` says that the loss is minus twice a log-likelihood; otherwise it is a sum of
    squares whose variance is estimated. `loss` is the loss of the rows where the model was made.
    """

    curve: FloatArray
    linear: FloatArray
    square: float
    n: float
    n_fixed: int
    known_scale: bool
    loss: float = 0.0


@dataclass(frozen=True, eq=False)
class Reml:
    """Numbers at the strengths found.

    Attributes
    ----------
    beta : array of shape (p,)
    inverse : array of shape (p, p)
        Of curvature plus penalty; times `variance` it is the posterior covariance.
    edf : array of shape (p,)
        Degrees of freedom by number: how far data, not the penalty, decided it.
    variance : float
        Of the noise; 1 where the scale is known.
    log_strengths : array of shape (J,)
    gradient : array of shape (J,)
        Of the criterion; zero, or pointing out of the bounds, where it is at its minimum.
    value : float
        The criterion: minus twice the restricted log-likelihood, up to a constant.
    converged : bool
    penalty : array of shape (p,)
        What all penalties together weigh on the square of each number.
    """

    beta: FloatArray
    inverse: FloatArray
    edf: FloatArray
    variance: float
    log_strengths: FloatArray
    gradient: FloatArray
    value: float
    converged: bool
    penalty: FloatArray


class _Point:
    """The criterion at some strengths, with what its derivatives need."""

    def __init__(self, q: Quadratic, D: FloatArray, rho: FloatArray, apart: FloatArray) -> None:
        self.q, self.D, self.rho, self.apart = q, D, rho, apart
        self.strengths = np.exp(rho)
        self.penalty = D @ self.strengths + _RIDGE * max(float(np.mean(q.curve.diagonal())), 1e-12)
        self.penalty[: q.n_fixed] = 0.0
        A = q.curve + np.diag(self.penalty)
        fixed = np.arange(q.n_fixed)
        A[fixed, fixed] *= 1 + 1e-12
        try:
            self.factor = linalg.cholesky(A, lower=True, check_finite=False)
        except linalg.LinAlgError:
            values, vectors = linalg.eigh(A)
            A = (vectors * np.maximum(values, 1e-10 * values.max())) @ vectors.T
            self.factor = linalg.cholesky((A + A.T) / 2, lower=True, check_finite=False)
        self.beta = linalg.cho_solve((self.factor, True), q.linear, check_finite=False)
        self.loss = max(q.square - float(q.linear @ self.beta), 1e-12 * max(q.square, 1e-300))
        inner = self.penalty[q.n_fixed :]
        self.value = 2 * float(np.log(self.factor.diagonal()).sum()) - float(np.log(inner).sum())
        free = max(q.n - q.n_fixed, 1.0)
        self.variance = 1.0 if q.known_scale else self.loss / free
        self.value += self.loss if q.known_scale else free * float(np.log(self.loss))
        self.value += float(rho @ apart @ rho)

    @cached_property
    def inverse(self) -> FloatArray:
        """Of curvature plus penalty."""
        return mirrored(linalg.lapack.dpotri(self.factor, lower=1)[0].T)

    def derivatives(self) -> tuple[FloatArray, FloatArray]:
        """Gradient and Hessian in the logarithms of the strengths."""
        q, D, V = self.q, self.D * self.strengths, self.inverse
        size = D.T @ self.beta**2
        trace = D.T @ V.diagonal()
        relative = np.zeros_like(D)
        relative[q.n_fixed :] = D[q.n_fixed :] / self.penalty[q.n_fixed :, None]
        prior = relative.sum(axis=0)
        scaled = size / self.variance
        gradient = scaled + trace - prior
        inner = V * (V + np.outer(2 / self.variance * self.beta, self.beta))
        hessian = -_within(_within(inner, D), D)
        hessian += relative.T @ relative + np.diag(gradient)
        if not q.known_scale:
            hessian -= np.outer(scaled, scaled) / max(q.n - q.n_fixed, 1.0)
        return gradient + 2 * self.apart @ self.rho, hessian + 2 * self.apart


def _within(A: FloatArray, D: FloatArray) -> FloatArray:
    """``D.T @ A``, transposed, of a symmetric A: a penalty touches the numbers of one term only."""
    touched = D > 0
    first, last = touched.argmax(axis=0), len(D) - touched[::-1].argmax(axis=0)
    out = np.empty((A.shape[0], D.shape[1]))
    for j, (low, high) in enumerate(zip(first, last, strict=True)):
        out[:, j] = A[:, low:high] @ D[low:high, j]
    return out.T


def reml(
    q: Quadratic,
    D: FloatArray,
    rho: FloatArray,
    kinds: IntArray,
    *,
    max_iter: int = 30,
    tolerance: float = 1e-2,
    aim: float | None = None,
) -> Reml:
    """Minimise the restricted likelihood criterion by Newton steps within bounds.

    Parameters
    ----------
    q : Quadratic
    D : array of shape (p, J)
        Diagonal of each penalty, zero outside of its term.
    rho : array of shape (J,)
        Logarithms of the strengths to begin with.
    kinds : array of ints of shape (J,)
        Penalties of one kind have strengths that are shrunk towards each other.
    max_iter : int, default 30
        Without steps the strengths stay as they are, and no certificate is given.
    tolerance : float, default 0.01
        Largest part of the gradient, in units of minus twice the log-likelihood, that counts as
        converged.
    aim : float, optional
        Steps go on down to this gradient while they find better strengths, so that sums in another
        order come to the same ones; by default `tolerance` is enough.

    References
    ----------
    Wood (2011), "Fast stable restricted maximum likelihood and marginal likelihood estimation of
    semiparametric generalized linear models".
    """
    bound = (_LEAST_OF_CLASSES if q.known_scale else _BOUND[0], _BOUND[1])
    apart = _apart(kinds)
    point = _Point(q, D, np.clip(rho, *bound), apart)
    done, gradient = False, np.zeros(len(rho))
    for _ in range(max_iter + 1 if max_iter else 0):
        gradient, hessian = point.derivatives()
        live = ~(
            ((point.rho <= bound[0]) & (gradient > 0)) | ((point.rho >= bound[1]) & (gradient < 0))
        )
        gradient = np.where(live, gradient, 0.0)
        largest = float(np.abs(gradient).max(initial=0.0))
        done = largest <= tolerance
        if largest <= (tolerance if aim is None else aim) or _ == max_iter:
            break
        found = _descend(point, gradient, hessian, live, bound)
        if found is None:
            break
        point = found
    edf = np.einsum("ij,ij->i", point.inverse, q.curve)
    return Reml(
        beta=point.beta,
        inverse=point.inverse,
        edf=edf,
        variance=point.variance,
        log_strengths=point.rho,
        gradient=gradient,
        value=point.value,
        converged=done,
        penalty=point.penalty,
    )


def _apart(kinds: IntArray) -> FloatArray:
    """Quadratic form of how far logarithms of strengths of one kind lie from their mean."""
    same = kinds[:, None] == kinds
    return np.asarray((np.eye(len(kinds)) - same / same.sum(axis=1, keepdims=True)) / SPREAD**2)


def _descend(
    point: _Point,
    gradient: FloatArray,
    hessian: FloatArray,
    live: BoolArray,
    bound: tuple[float, float],
) -> _Point | None:
    """The next point: a Newton step of bounded length, shortened until the criterion falls.

    Near the end it falls by less than its rounding, which depends on the order of sums. There the
    gradient is asked instead: it must fall.
    """
    values, vectors = np.linalg.eigh(hessian[np.ix_(live, live)])
    least = max(1e-5 * float(np.abs(values).max(initial=0.0)), 1e-3)
    step = np.zeros(len(gradient))
    step[live] = -vectors @ ((vectors.T @ gradient[live]) / np.maximum(np.abs(values), least))
    step *= min(1.0, 4.0 / max(float(np.abs(step).max(initial=0.0)), 1e-300))
    for _ in range(12):
        new = _Point(point.q, point.D, np.clip(point.rho + step, *bound), point.apart)
        fall = (point.value - new.value) / max(abs(point.value), 1.0)
        if fall > _ROUNDING:
            return new
        if fall > -_ROUNDING and _size(new.derivatives()[0], live) < _size(gradient, live):
            return new
        step /= 3
    return None


def _size(gradient: FloatArray, live: BoolArray) -> float:
    return float(np.abs(gradient[live]).max(initial=0.0))


def covariance_of(q: Quadratic, D: FloatArray, found: Reml, kinds: IntArray) -> FloatArray:
    """Posterior covariance of the numbers about those found, averaged over each strength.

    The strengths are estimates. Where the likelihood hardly tells a strength from larger and
    smaller ones, the covariance at the best one is too small, above all where that is "no curvature
    at all". So each strength in turn takes the values of a grid, weighted by their restricted
    likelihood, while the others stay as they are. A strength touches the numbers of one term only,
    so that each value costs an inverse of the size of the term.

    References
    ----------
    Wood, Pya & Säfken (2016), "Smoothing parameter and model selection for general smooth models",
    on why strengths must be averaged over.
    """
    V, beta, rho, apart = found.inverse, found.beta, found.log_strengths, _apart(kinds)
    penalty = D @ np.exp(rho)
    free = max(q.n - q.n_fixed, 1.0)
    loss = found.variance * free
    total = V * found.variance
    for j in range(D.shape[1]):
        block = np.flatnonzero(D[:, j] > 0)
        own, inner, b = D[block, j], V[np.ix_(block, block)], beta[block]
        values, pulls, shifts = [], [], []
        for new in _GRID:
            change = own * (np.exp(new) - np.exp(rho[j]))
            mixed = np.eye(len(block)) + change[:, None] * inner
            pull = np.linalg.solve(mixed, np.diag(change))
            shift = pull @ b
            moved = np.append(rho[:j], [new, *rho[j + 1 :]])
            value = np.linalg.slogdet(mixed)[1] + moved @ apart @ moved
            value -= float(np.log1p(change / penalty[block]).sum())
            more = float(b @ shift)
            value += more if q.known_scale else free * np.log1p(max(more / loss, -1 + 1e-12))
            values.append(value)
            pulls.append(pull)
            shifts.append(shift)
        weights = np.exp((min(values) - np.array(values)) / 2)
        weights /= weights.sum()
        wider = np.einsum("g,gi,gj->ij", weights, shifts, shifts)
        wider -= found.variance * np.einsum("g,gij->ij", weights, pulls)
        total += V[:, block] @ ((wider + wider.T) / 2) @ V[block]
    return np.asarray((total + total.T) / 2)
