"""k-additive measures on many sources: an interior point that never touches 2**N.

A 2-additive measure is monotone exactly if m_i + Σ_j min(0, m_ij) ≥ 0 for every source i. With the
pair's coefficient split, m_ij = p_ij - n_ij, and s_i = m_i - Σ_j n_ij, that says s, p, n ≥ 0: the
measure is a mixture of single sources, minima of pairs (p) and maxima of pairs (n), N² numbers. For
larger subsets the same split, m_T = p_T - n_T, is enough for monotonicity but not necessary.

Each Newton step needs D + L'(F'F)L with D diagonal and L from (s, p, n) to the R coefficients. It
is solved with a matrix of the size of the rows F, of which R are enough for any data.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from choquet.arrays import FloatArray
from choquet.lattice.lazy import linalg as sl
from choquet.lattice.lazy import sp
from choquet.lattice.vectors import dot

_ITERATIONS, _PATIENCE = 150, 8
"""Newton steps in all, and without getting nearer: rounding then is in the way."""
_GOOD = 1e-9
"""Relative gap that counts as solved; the aim is a thousand times less."""


@dataclass(frozen=True, eq=False)
class Mixture:
    """Coefficients of singles and of larger subsets, and how good they are."""

    coefficients: FloatArray
    gap: float
    solved: bool
    iterations: int


@dataclass(frozen=True, eq=False)
class _Split:
    """The map L from (s, p, n) to coefficients; `inside` says which sources each subset holds."""

    inside: Any
    """(P, N), sparse: the subsets of two and more sources."""

    def down(self, v: FloatArray) -> FloatArray:
        """Coefficients of (s, p, n)."""
        P, N = self.inside.shape
        s, p, n = v[:N], v[N : N + P], v[N + P :]
        return np.concatenate([s + self.inside.T @ n, p - n])

    def up(self, u: FloatArray) -> FloatArray:
        """The transposed map."""
        _, N = self.inside.shape
        return np.concatenate([u[:N], u[N:], self.inside @ u[:N] - u[N:]])


class _Newton:
    """(D + L'(F'F)L)^-1 for one diagonal D, with a ridge on the larger subsets inside D."""

    def __init__(self, split: _Split, root: FloatArray, D: FloatArray, l2: float) -> None:
        P, N = split.inside.shape
        self.split, self.root, self.D, self.l2 = split, root, D, l2
        ds, dp, dn = D[:N], D[N : N + P], D[N + P :]
        det = dp * dn + l2 * (dp + dn)
        # L D^-1 L' = [[A, -B'], [-B, T]] with A of single sources, T diagonal.
        self.inverse = (1 / ds, (dn + l2) / det, l2 / det, (dp + l2) / det)
        weighted = sp.diags_array(self.inverse[3]) @ split.inside
        self.A = np.diag(1 / ds) + (split.inside.T @ weighted).toarray()
        self.T = (dp + dn) / det
        self.B = sp.csr_array(sp.diags_array(dp / det) @ split.inside)
        middle = root @ self._spread(root.T)
        middle[np.diag_indices(len(root))] += 1.0
        self.factor = sl.cho_factor(middle, lower=True, overwrite_a=True)

    def _spread(self, u: FloatArray) -> FloatArray:
        """L D^-1 L' u."""
        N = len(self.A)
        T = self.T[:, None] if u.ndim == 2 else self.T
        return np.concatenate([self.A @ u[:N] - self.B.T @ u[N:], T * u[N:] - self.B @ u[:N]])

    def _over_D(self, r: FloatArray) -> FloatArray:
        s, pp, pn, nn = self.inverse
        N, P = len(s), len(pp)
        p, n = r[N : N + P], r[N + P :]
        return np.concatenate([s * r[:N], pp * p + pn * n, pn * p + nn * n])

    def _once(self, r: FloatArray) -> FloatArray:
        first = self._over_D(r)
        w = sl.cho_solve(self.factor, self.root @ self.split.down(first))
        return first - self._over_D(self.split.up(self.root.T @ w))

    def _times(self, v: FloatArray) -> FloatArray:
        down = self.split.down(v)
        image = self.root.T @ (self.root @ down)
        N = self.split.inside.shape[1]
        image[N:] += self.l2 * down[N:]
        return self.D * v + self.split.up(image)

    def solve(self, r: FloatArray) -> FloatArray:
        x = self._once(r)
        return x + self._once(r - self._times(x))


def mixture(
    root: FloatArray,
    targets: FloatArray,
    inside: Any,
    *,
    normal: bool,
    l1: float = 0.0,
    l2: float = 0.0,
) -> Mixture:
    """Minimise ½ m'Gm - targets'm + l1 Σ|m_T| + ½ l2 Σ m_T² over coefficients that keep order.

    Parameters
    ----------
    root : array of shape (r, R)
        Rows F with G = F'F: the data, or any root of their products.
    targets : array of R floats
    inside : sparse array of shape (P, N)
        Members of the subsets of two and more sources; the coefficients are the N singles', then
        theirs.
    normal : bool
        Whether the coefficients must sum to 1.
    l1, l2 : float
        Penalties on the coefficients of two and more sources.

    References
    ----------
    Mehrotra (1992), "On the implementation of a primal-dual interior point method"; Grabisch (1997)
    for monotone 2-additive measures.

    Examples
    --------
    >>> F = np.array([[0.9, 0.4, 0.4], [0.2, 0.6, 0.2]])   # x1, x2, min(x1, x2)
    >>> pair = sp.csr_array(np.ones((1, 2)))
    >>> found = mixture(F, F.T @ [0.9, 0.6], pair, normal=True)
    >>> found.coefficients.round(4)   # the maximum
    array([ 1.,  1., -1.])
    """
    split = _Split(sp.csr_array(inside, dtype=np.float64))
    P, N = split.inside.shape
    scale = max(float((root**2).sum(axis=0).max(initial=0.0)), l2, 1e-300)
    root = root / np.sqrt(scale)
    targets, l1, l2 = targets / scale, l1 / scale, l2 / scale
    cost = -split.up(targets)
    cost[N:] += l1
    row = split.up(np.ones(N + P)) if normal else np.zeros(N + 2 * P)
    v = np.full(N + 2 * P, 1 / max(float(split.up(np.ones(N + P)).sum()), 1.0))
    z = np.full(len(v), max(float(np.abs(cost).max()), 1.0))
    multiplier, best, found = 0.0, np.inf, split.down(v)
    iterations = last = 0
    while iterations < _ITERATIONS:
        iterations += 1
        m = split.down(v)
        image = root.T @ (root @ m)
        image[N:] += l2 * m[N:]
        slope = split.up(image) + cost
        dual = slope - multiplier * row - z
        primal = dot(row, v) - 1.0 if normal else 0.0
        mu = dot(v, z) / len(v)
        size = 1.0 + abs(dot(image, m)) + abs(dot(cost, v))
        gap = (dot(v, z) + abs(primal) + dot(np.abs(dual), np.abs(v))) / size
        if gap < best:
            last = iterations if gap < 0.5 * best else last
            best, found = gap, m
        if gap < 1e-3 * _GOOD or iterations - last > _PATIENCE:
            break
        try:
            newton = _Newton(split, root, z / v, l2)
            through = newton.solve(row) if normal else row
            aim = np.zeros(len(v))
            for corrected in (False, True):
                rest = v * z - aim
                dv = newton.solve(-dual - rest / v)
                shift = 0.0
                if normal:
                    shift = (-primal - dot(row, dv)) / dot(row, through)
                    dv = dv + shift * through
                dz = -(rest + z * dv) / v
                if not corrected:
                    ahead = dot(v + _reach(v, dv, 1.0) * dv, z + _reach(z, dz, 1.0) * dz)
                    aim = (ahead / len(v) / mu) ** 3 * mu - dv * dz
        except (np.linalg.LinAlgError, ValueError):
            break
        # One length for both: with a curved objective, unequal ones leave the duals behind.
        length = min(_reach(v, dv, 0.995), _reach(z, dz, 0.995))
        v, z, multiplier = v + length * dv, z + length * dz, multiplier + length * shift
    return Mixture(found, best * scale, best < _GOOD, iterations)


def _reach(v: FloatArray, step: FloatArray, share: float) -> float:
    """Longest step up to 1 that keeps v positive."""
    falling = step < 0
    if not falling.any():
        return 1.0
    return min(1.0, share * float((-v[falling] / step[falling]).min()))
