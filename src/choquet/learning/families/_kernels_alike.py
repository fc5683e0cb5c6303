"""Compiled sweeps over measures whose values are likely to be alike.

Import inside functions: Numba loads slowly. See `_kernels_chains` for what all chains share.
"""

from __future__ import annotations

import math

from choquet.lattice.compiling import compiled
from choquet.learning.families._kernels_chains import truncated_normal


@compiled
def _drawn(mean, deviation, low, high, u, v):
    """A normal number cut to [low, high], where both ends weigh as much as a length of one.

    A deviation of zero stands for no information at all.
    """
    if not high > low:
        return low
    at_low, at_high, between = 1.0, 1.0, high - low
    if deviation > 0.0:
        a, b = (low - mean) / deviation, (high - mean) / deviation
        if a + b < 0.0:
            at, to = -b / math.sqrt(2.0), -a / math.sqrt(2.0)
        else:
            at, to = a / math.sqrt(2.0), b / math.sqrt(2.0)
        # All in units of the density at the end that is nearer to the mean, or at the mean itself.
        top = max(at, 0.0) ** 2
        scale = deviation * math.sqrt(2.0 * math.pi)
        at_low, at_high = math.exp(top - 0.5 * a * a), math.exp(top - 0.5 * b * b)
        if at < 5.0:
            between = scale * 0.5 * (math.erfc(at) - math.erfc(to)) * math.exp(top)
        else:  # The tail, by its first term.
            between = scale * 0.5 * (1.0 - math.exp(at * at - to * to)) / (at * math.sqrt(math.pi))
    spot = u * (at_low + at_high + between)
    if spot < at_low:
        return low
    if spot < at_low + at_high:
        return high
    if deviation > 0.0:
        return truncated_normal(mean, deviation, low, high, v)
    return low + v * (high - low)


@compiled
def _block(g, start, whole, below_ptr, below, above_ptr, above, member, mark):
    """Values that move together, from one of them: itself, or all that are alike next to it.

    Gives their number and the ends between which they can move; `mark` says which they are.
    """
    level, low, high = g[start], 0.0, 1.0
    member[0], mark[start] = start, start
    count, looked = 1, 0
    while looked < count:
        a = member[looked]
        looked += 1
        for k in range(below_ptr[a], below_ptr[a + 1]):
            b = below[k]
            if not whole or g[b] != level:
                low = max(low, g[b])
            elif mark[b] != start:
                member[count], mark[b] = b, start
                count += 1
        for k in range(above_ptr[a], above_ptr[a + 1]):
            b = above[k]
            if not whole or g[b] != level:
                high = min(high, g[b])
            elif mark[b] != start:
                member[count], mark[b] = b, start
                count += 1
    return count, low, high


@compiled
def alike_sweeps(
    indptr, indices, data, targets, g, below_ptr, below, above_ptr, above,
    rss, floor, tempers, gammas, uniforms, left, errors, member, mark,
):  # fmt: skip
    """Sweeps over values in an order, which are likely to equal one of their neighbours.

    Each sweep moves every value, then all values that are alike and hang together. `member` and
    `mark` are room to work in.
    """
    size = len(g)
    for t in range(len(tempers)):
        if rss < floor:
            rss = floor
        errors[t] = rss
        for a in range(size):
            left[t, a] = g[a]
        variance, drawn = 0.5 * rss / gammas[t], 0
        for whole in range(2):
            for a in range(size):
                mark[a] = -1
            for start in range(1, size - 1):
                level = g[start]
                if whole and (mark[start] >= 0 or level <= 0.0 or level >= 1.0):
                    continue
                count, low, high = _block(
                    g, start, whole, below_ptr, below, above_ptr, above, member, mark
                )
                if whole and count == 1:
                    continue
                own, rest = 0.0, 0.0
                for q in range(count):
                    a = member[q]
                    rest -= targets[a]
                    for k in range(indptr[a], indptr[a + 1]):
                        if mark[indices[k]] == start:
                            own += data[k]
                        else:
                            rest += data[k] * g[indices[k]]
                deviation, middle = 0.0, 0.0
                if own > 0.0 and tempers[t] > 0.0:
                    deviation, middle = math.sqrt(variance / own), -rest / own
                value = _drawn(
                    middle, deviation, low, high, uniforms[t, drawn], uniforms[t, drawn + 1]
                )
                drawn += 2
                rss += (value - level) * (own * (value + level) + 2.0 * rest)
                for q in range(count):
                    g[member[q]] = value
