"""Compiled interior points: ends over a region, nearest monotone measures. Import in functions."""

from __future__ import annotations

import numpy as np

from choquet.certainty.batched import MOST, PULL, TOLERANCE
from choquet.lattice.compiling import compiled


@compiled
def _times(ptr, idx, val, x, out):
    for e in range(len(out)):
        total = 0.0
        for k in range(ptr[e], ptr[e + 1]):
            total += val[k] * x[idx[k]]
        out[e] = total


@compiled
def _add_transposed(ptr, idx, val, w, out):
    for e in range(len(w)):
        for k in range(ptr[e], ptr[e + 1]):
            out[idx[k]] += val[k] * w[e]


@compiled
def _backward(L, x):
    """Solve L L' z = x in place."""
    n = len(x)
    for i in range(n):
        total = x[i]
        for j in range(i):
            total -= L[i, j] * x[j]
        x[i] = total / L[i, i]
    for i in range(n - 1, -1, -1):
        x[i] /= L[i, i]
        for j in range(i):
            x[j] -= L[i, j] * x[i]


@compiled
def _reach(x, dx, t, dt):
    """Longest step up to 1 that keeps x and t from falling below zero."""
    step = 1.0
    for e in range(len(x)):
        if dx[e] < 0.0:
            step = min(step, -x[e] / dx[e])
    if dt < 0.0:
        step = min(step, -t / dt)
    return step


@compiled
def _factor(G, scale, ptr, idx, val, w, gradient, g_weight, H, column):
    """Cholesky factor of the Newton matrix, in the lower half of H.

    A pivot that rounding leaves nothing of becomes huge: its unknown then stays where it is.
    """
    n = len(gradient)
    for i in range(n):
        factor = g_weight * gradient[i]
        for j in range(i + 1):
            H[i, j] = scale * G[i, j] + factor * gradient[j]
    for e in range(len(w)):
        for k in range(ptr[e], ptr[e + 1]):
            for j in range(ptr[e], ptr[e + 1]):
                if idx[j] <= idx[k]:
                    H[idx[k], idx[j]] += w[e] * val[k] * val[j]
    for i in range(n):
        column[i] = 1e-14 * H[i, i]
    # Four columns at a time, so that what is left of the matrix is read and written a quarter as
    # often; along rows, so that the innermost loop runs over neighbours.
    panel = np.zeros((4, n))
    for k in range(0, n, 4):
        end = min(k + 4, n)
        for at in range(k, end):
            pivot = np.sqrt(H[at, at]) if H[at, at] > column[at] else 1e64
            H[at, at] = pivot
            for i in range(at + 1, n):
                H[i, at] /= pivot
            for j in range(at + 1, end):
                factor = H[j, at]
                for i in range(j, n):
                    H[i, j] -= factor * H[i, at]
        for i in range(end, n):
            for b in range(4):
                panel[b, i] = H[i, k + b]
        for i in range(end, n):
            f0, f1, f2, f3 = panel[0, i], panel[1, i], panel[2, i], panel[3, i]
            for j in range(end, i + 1):
                H[i, j] -= f0 * panel[0, j] + f1 * panel[1, j] + f2 * panel[2, j] + f3 * panel[3, j]


@compiled
def _least(G, c, ptr, idx, val, room, cost, budget, H):
    """Least cost'd with B d + room ≥ 0 and c'd + d'Gd ≤ budget, and what is still broken.

    A primal-dual interior point with Mehrotra's predictor and corrector. The quadratic stays whole,
    so a step is one Cholesky factorisation of the size of d.
    """
    n, m = len(c), len(room)
    d, step, gradient, dual, column = (
        np.zeros(n), np.zeros(n), np.zeros(n), np.zeros(n), np.zeros(n)
    )  # fmt: skip
    s, lam = np.empty(m), np.empty(m)
    rs, ds, dl, cs = np.zeros(m), np.zeros(m), np.zeros(m), np.zeros(m)
    for e in range(m):
        s[e] = max(room[e], 1e-2)
        lam[e] = 1e-3 / s[e] + 1e-3
    t, mu, broken = budget, PULL, np.inf
    for _ in range(MOST):
        q = budget
        for i in range(n):
            total = 0.0
            for j in range(n):
                total += G[i, j] * d[j]
            gradient[i] = -c[i] - 2.0 * total
            q -= d[i] * (c[i] + total)
        _times(ptr, idx, val, d, rs)
        worst, complementary = abs(q - t), t * mu
        for e in range(m):
            rs[e] += room[e] - s[e]
            worst = max(worst, abs(rs[e]))
            complementary += s[e] * lam[e]
            cs[e] = -lam[e]
        for i in range(n):
            dual[i] = cost[i] - mu * gradient[i]
        _add_transposed(ptr, idx, val, cs, dual)
        for i in range(n):
            worst = max(worst, abs(dual[i]))
        rt = q - t
        broken = max(worst, complementary)
        if complementary < TOLERANCE and worst < 10 * TOLERANCE:
            break
        for e in range(m):
            dl[e] = lam[e] / s[e]
        _factor(G, 2.0 * mu, ptr, idx, val, dl, gradient, mu / t, H, column)
        target, curve, away, back, dt, dm = 0.0, 0.0, 1.0, 1.0, 0.0, 0.0
        for corrected in range(2):
            if corrected == 1:
                along = 0.0
                for i in range(n):
                    total = 0.0
                    for j in range(n):
                        total += G[i, j] * step[j]
                    along -= step[i] * total
                curve = along * away * away
            for e in range(m):
                cs[e] = target - s[e] * lam[e] - lam[e] * rs[e]
                if corrected == 1:
                    cs[e] -= ds[e] * dl[e]
            ct = target - t * mu - mu * (rt + curve)
            if corrected == 1:
                ct -= dt * dm
            for e in range(m):
                ds[e] = cs[e] / s[e]
            for i in range(n):
                step[i] = -dual[i] + gradient[i] * (ct / t)
            _add_transposed(ptr, idx, val, ds, step)
            _backward(H, step)
            _times(ptr, idx, val, step, ds)
            dt = rt + curve
            for i in range(n):
                dt += gradient[i] * step[i]
            for e in range(m):
                ds[e] += rs[e]
                dl[e] = (cs[e] + lam[e] * rs[e] - lam[e] * ds[e]) / s[e]
            dm = (ct + mu * (rt + curve) - mu * dt) / t
            away, back = _reach(s, ds, t, dt), _reach(lam, dl, mu, dm)
            if corrected == 0:
                after = (t + away * dt) * (mu + back * dm)
                for e in range(m):
                    after += (s[e] + away * ds[e]) * (lam[e] + back * dl[e])
                sigma = min(max(after / complementary, 0.0), 1.0) ** 3
                target = sigma * complementary / (m + 1)
        # The step must stay inside the curved constraint itself, not only inside its tangent.
        away, back = min(1.0, 0.995 * away), min(1.0, 0.995 * back)
        tilt, bend = 0.0, 0.0
        for i in range(n):
            total = 0.0
            for j in range(n):
                total += G[i, j] * step[j]
            tilt += gradient[i] * step[i]
            bend += step[i] * total
        rest = q + away * tilt - away * away * bend
        while rest < 0.005 * t and away > 1e-9:
            away *= 0.7
            rest = q + away * tilt - away * away * bend
        for i in range(n):
            d[i] += away * step[i]
        for e in range(m):
            s[e] += away * ds[e]
            lam[e] += back * dl[e]
        t = max(rest, 1e-300)
        mu += back * dm
    total = 0.0
    for i in range(n):
        total += cost[i] * d[i]
    return total, broken


@compiled
def least_of(G, c, ptr, idx, val, room, costs, budgets, out, broken):
    """Least value of every cost'd over the region; see `_least`."""
    H = np.empty((len(c), len(c)))
    for k in range(len(costs)):
        out[k], broken[k] = _least(G, c, ptr, idx, val, room, costs[k], budgets[k], H)


@compiled
def _nearest(G, q, ptr, idx, val, room, d, H):
    """The d of least d'Gd + q'd with B d + room ≥ 0 where room > 0; whether it was found."""
    n, m = len(q), len(room)
    step, dual, column, none = np.zeros(n), np.zeros(n), np.zeros(n), np.zeros(n)
    s, lam = room.copy(), np.empty(m)
    rs, ds, dl, cs = np.zeros(m), np.zeros(m), np.zeros(m), np.zeros(m)
    scale = 1e-300
    for i in range(n):
        d[i] = 0.0
        scale = max(scale, abs(q[i]), G[i, i])
    for e in range(m):
        lam[e] = 0.1 * scale
    for _ in range(MOST):
        _times(ptr, idx, val, d, rs)
        worst, complementary = 0.0, 0.0
        for e in range(m):
            rs[e] += room[e] - s[e]
            complementary += s[e] * lam[e]
            cs[e] = -lam[e]
        for i in range(n):
            total = q[i]
            for j in range(n):
                total += 2.0 * G[i, j] * d[j]
            dual[i] = total
        _add_transposed(ptr, idx, val, cs, dual)
        for i in range(n):
            worst = max(worst, abs(dual[i]))
        if complementary < 1e-10 * scale * n and worst < 1e-8 * scale:
            return True
        for e in range(m):
            dl[e] = lam[e] / s[e]
        _factor(G, 2.0, ptr, idx, val, dl, none, 0.0, H, column)
        target, away, back = 0.0, 1.0, 1.0
        for corrected in range(2):
            for e in range(m):
                cs[e] = target - s[e] * lam[e] - lam[e] * rs[e]
                if corrected == 1:
                    cs[e] -= ds[e] * dl[e]
            for e in range(m):
                ds[e] = cs[e] / s[e]
            for i in range(n):
                step[i] = -dual[i]
            _add_transposed(ptr, idx, val, ds, step)
            _backward(H, step)
            _times(ptr, idx, val, step, ds)
            for e in range(m):
                ds[e] += rs[e]
                dl[e] = (cs[e] + lam[e] * rs[e] - lam[e] * ds[e]) / s[e]
            away, back = _reach(s, ds, 1.0, 0.0), _reach(lam, dl, 1.0, 0.0)
            if corrected == 0:
                after = 0.0
                for e in range(m):
                    after += (s[e] + away * ds[e]) * (lam[e] + back * dl[e])
                target = min(max(after / complementary, 0.0), 1.0) ** 3 * complementary / m
        away, back = min(1.0, 0.995 * away), min(1.0, 0.995 * back)
        for i in range(n):
            d[i] += away * step[i]
        for e in range(m):
            s[e] += away * ds[e]
            lam[e] += back * dl[e]
    return False


@compiled
def nearest_of(G, slopes, ptr, idx, val, room, out):
    """The nearest feasible point for every row of slopes; how many were not found."""
    H, missed = np.empty(G.shape), 0
    for k in range(len(slopes)):
        if not _nearest(G, slopes[k], ptr, idx, val, room, out[k], H):
            missed += 1
    return missed
