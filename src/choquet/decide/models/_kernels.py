"""Compiled walks through sets of measures: uniform in the long run, and never silently frozen.

Arrays are made by the callers and filled one number at a time: to make arrays in here took half a
second to compile, and to assign to parts of them takes seconds.
"""

from __future__ import annotations

import numpy as np

from choquet.lattice.compiling import compiled_with


@compiled_with(inside=True, error_model="numpy")
def _uniform(state):
    """Splitmix64: the next float in [0, 1)."""
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    z = state[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z = z ^ (z >> np.uint64(31))
    return (z >> np.uint64(11)) * 1.1102230246251565e-16


@compiled_with(inside=True, error_model="numpy")
def _direction(E, chosen, weights, work):
    """Fill `weights` with a direction on few coordinates that keeps E v; return how many they are.

    `chosen` holds one coordinate more than E has rows, so that one column depends on others.
    """
    m = E.shape[0]
    k = m + 1
    if m == 1:  # by far the most frequent: one coordinate takes what another one gives
        head = E[0, chosen[0]]
        weights[0], weights[1] = 1.0, 1.0
        if abs(head) <= 1e-11:
            return 1
        weights[0] = -E[0, chosen[1]] / head
        return 2
    for c in range(k):
        weights[c] = 0.0
        for r in range(m):
            work[r, c] = E[r, chosen[c]]
    for c in range(k):
        row = c  # every column before this one was a pivot
        best, at = 1e-11, -1
        for r in range(row, m):
            if abs(work[r, c]) > best:
                best, at = abs(work[r, c]), r
        if at < 0:  # depends on the columns before it
            weights[c] = 1.0
            for p in range(c):  # pivots all of them, each in the row of its number
                weights[p] = -work[p, c]
            return c + 1
        if at != row:
            for q in range(k):
                work[at, q], work[row, q] = work[row, q], work[at, q]
        scale = work[row, c]
        for q in range(k):
            work[row, q] /= scale
        for r in range(m):
            if r != row and work[r, c] != 0.0:
                factor = work[r, c]
                for q in range(k):
                    work[r, q] -= factor * work[row, q]
    return 0


@compiled_with(inside=True, error_model="numpy")
def _choose(d, k, chosen, state):
    """Fill `chosen` with k different coordinates."""
    for c in range(k):
        again = True
        while again:
            chosen[c] = int(_uniform(state) * d)
            again = False
            for q in range(c):
                if chosen[q] == chosen[c]:
                    again = True
                    break


@compiled_with(error_model="numpy")
def walk_rows(
    v, start, rows, coef, bound, E, steps, burn, out, state,
    chosen, weights, work, slack, change, seen, touched,
):  # fmt: skip
    """Walk through {A v ≥ bound, E v constant}; A by columns. Returns the share of moves.

    `state` is where chance is; what follows it is room to work in, of which `seen` is zero.
    """
    d, m, k = len(v), E.shape[0], len(chosen)
    stamp, moved, tried = 0, 0, 0
    for s in range(-burn, out.shape[0]):
        for r in range(len(bound)):  # recomputed, so that nothing drifts
            slack[r] = -bound[r]
        for c in range(d):
            for p in range(start[c], start[c + 1]):
                slack[rows[p]] += coef[p] * v[c]
        for _ in range(steps):
            if m == 0:
                chosen[0], weights[0], used = int(_uniform(state) * d), 1.0, 1
            else:
                _choose(d, k, chosen, state)
                used = _direction(E, chosen, weights, work)
            stamp += 1
            count = 0
            for c in range(used):
                if weights[c] == 0.0:
                    continue
                at = chosen[c]
                for p in range(start[at], start[at + 1]):
                    r = rows[p]
                    if seen[r] != stamp:
                        seen[r] = stamp
                        change[r] = 0.0
                        touched[count] = r
                        count += 1
                    change[r] += coef[p] * weights[c]
            low, high = -1e18, 1e18
            for q in range(count):
                r = touched[q]
                reach = -slack[r] / change[r] if slack[r] > 0.0 else 0.0
                if change[r] > 1e-14:
                    low = reach if reach > low else low
                elif change[r] < -1e-14:
                    high = reach if reach < high else high
            tried += 1
            if high - low <= 1e-13 or high - low > 1e17:
                continue
            moved += 1
            t = low + (high - low) * _uniform(state)
            for c in range(used):
                v[chosen[c]] += t * weights[c]
            for q in range(count):
                slack[touched[q]] += t * change[touched[q]]
        if s >= 0:
            for c in range(len(v)):
                out[s, c] = v[c]
    return moved / tried if tried else 0.0


@compiled_with(inside=True, error_model="numpy")
def _room(i, v, low, n, first, second, chosen, weights, used, sign):
    """How far one may go until criterion i would lower a value: a concave function's zero."""
    base, slope0 = low[i], 0.0
    for c in range(used):
        at = chosen[c]
        if weights[c] == 0.0 or not (first[at] == i or second[at] == i):
            continue
        if at < n:
            slope0 += sign * weights[c]
        else:
            base -= v[at] if v[at] < 0.0 else 0.0
    t = 4.0
    for _ in range(64):
        value, slope = base + slope0 * t, slope0
        for c in range(used):
            at = chosen[c]
            if at < n or weights[c] == 0.0 or not (first[at] == i or second[at] == i):
                continue
            here = v[at] + sign * weights[c] * t
            if here < 0.0:
                value += here
                slope += sign * weights[c]
        if value >= -1e-15:
            return t
        if slope >= 0.0:
            return 0.0
        t -= value / slope
        if t <= 0.0:
            return 0.0
    return t


@compiled_with(error_model="numpy")
def walk_pairs(
    v, first, second, G, bound, E, steps, burn, out, state,
    chosen, weights, work, slack, change, low, touches,
):  # fmt: skip
    """Walk through measures with interaction in pairs: v_i + Σ_j min(0, v_ij) ≥ 0, v G ≥ bound.

    `state` is where chance is; what follows it is room to work in.
    """
    d, n, k = len(v), len(low), len(chosen)
    moved, tried = 0, 0
    for s in range(-burn, out.shape[0]):
        for i in range(n):
            low[i] = v[i]
        for p in range(n, d):
            if v[p] < 0.0:
                low[first[p]] += v[p]
                low[second[p]] += v[p]
        for r in range(len(bound)):
            slack[r] = -bound[r]
        for c in range(d):
            for r in range(len(bound)):
                slack[r] += G[c, r] * v[c]
        for _ in range(steps):
            _choose(d, k, chosen, state)
            used = _direction(E, chosen, weights, work)
            for c in range(used):
                touches[first[chosen[c]]] = touches[second[chosen[c]]] = 0
            for c in range(used):
                touches[first[chosen[c]]] += 1
                if chosen[c] >= n:
                    touches[second[chosen[c]]] += 1
            up, down = 1e18, 1e18
            for c in range(used):
                at, weight = chosen[c], weights[c]
                if weight == 0.0:
                    continue
                for end in range(1 if at < n else 2):
                    i = first[at] if end == 0 else second[at]
                    rise, fall = 1e18, 1e18
                    if touches[i] == 1:  # this coordinate alone may lower the values of i
                        own = low[i] + v[at] if at >= n and v[at] > 0.0 else low[i]
                        reach = own / abs(weight) if own > 0.0 else 0.0
                        rise, fall = (reach, fall) if weight < 0.0 else (rise, reach)
                    elif touches[i] > 1:
                        touches[i] = 0
                        rise = _room(i, v, low, n, first, second, chosen, weights, used, 1.0)
                        fall = _room(i, v, low, n, first, second, chosen, weights, used, -1.0)
                    up = rise if rise < up else up
                    down = fall if fall < down else down
            for r in range(len(bound)):
                change[r] = 0.0
                for c in range(used):
                    change[r] += G[chosen[c], r] * weights[c]
                if abs(change[r]) > 1e-14:
                    reach = slack[r] / abs(change[r]) if slack[r] > 0.0 else 0.0
                    if change[r] < 0.0:
                        up = reach if reach < up else up
                    else:
                        down = reach if reach < down else down
            tried += 1
            if up + down <= 1e-13 or up + down > 1e17:
                continue
            moved += 1
            t = -down + (up + down) * _uniform(state)
            for c in range(used):
                at = chosen[c]
                step = t * weights[c]
                if at < n:
                    low[at] += step
                else:
                    fall = v[at] + step if v[at] + step < 0.0 else 0.0
                    fall -= v[at] if v[at] < 0.0 else 0.0
                    low[first[at]] += fall
                    low[second[at]] += fall
                v[at] += step
            for r in range(len(bound)):
                slack[r] += t * change[r]
        if s >= 0:
            for c in range(len(v)):
                out[s, c] = v[c]
    return moved / tried if tried else 0.0


@compiled_with(error_model="numpy")
def walk_lattice(g, start, rows, coef, bound, sweeps, burn, out, state, slack):
    """Walk through all measures: each value anew between its neighbours and what was said.

    Rows of statements come by columns, one column for each set. `slack` is room to work in.
    """
    for s in range(-burn, out.shape[0]):
        for r in range(len(bound)):  # recomputed, so that nothing drifts
            slack[r] = -bound[r]
        for a in range(len(g)):
            for p in range(start[a], start[a + 1]):
                slack[rows[p]] += coef[p] * g[a]
        for _ in range(sweeps):
            for a in range(1, len(g) - 1):
                # Each neighbour by its bit: no branch that a processor would guess wrong.
                low, high = 0.0, 1.0
                rest = a
                while rest:
                    bit = rest & -rest
                    v = g[a ^ bit]
                    low = v if v > low else low
                    rest ^= bit
                rest = (len(g) - 1) ^ a
                while rest:
                    bit = rest & -rest
                    v = g[a | bit]
                    high = v if v < high else high
                    rest ^= bit
                here = g[a]
                for p in range(start[a], start[a + 1]):
                    rest_of = slack[rows[p]]
                    edge = here - rest_of / coef[p] if rest_of > 0.0 else here
                    if coef[p] > 0.0:
                        if edge > low:
                            low = edge
                    elif edge < high:
                        high = edge
                if high <= low:
                    continue
                step = low + (high - low) * _uniform(state) - here
                for p in range(start[a], start[a + 1]):
                    slack[rows[p]] += coef[p] * step
                g[a] = here + step
        if s >= 0:
            for c in range(len(g)):
                out[s, c] = g[c]
