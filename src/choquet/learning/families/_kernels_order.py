"""Compiled sweeps over values in an order, such as all monotone measures.

Import inside functions: Numba loads slowly. See `_kernels_chains` for what all chains share. One
loop serves values that lie anywhere and values that are likely to be alike: two would have to be
compiled.
"""

from __future__ import annotations

import math

from choquet.lattice.compiling import compiled_with
from choquet.learning.families._kernels_chains import ROOT_TURN, truncated_normal

ROOT_TWO, ROOT_PI = math.sqrt(2.0), math.sqrt(math.pi)


@compiled_with(inside=True, error_model="numpy")
def _which_end(mean, deviation, low, high, u):
    """Whether a number is at its low end (0), at its high end (1), or between them (2).

    It is normal and cut to [low, high], where both ends weigh as much as a length of one. A
    deviation of zero stands for no information at all.
    """
    at_low, at_high, between = 1.0, 1.0, high - low
    if deviation > 0.0:
        a, b = (low - mean) / deviation, (high - mean) / deviation
        at, to = a / ROOT_TWO, b / ROOT_TWO
        if a + b < 0.0:
            at, to = -to, -at
        # All in units of the density at the end that is nearer to the mean, or at the mean itself.
        top = at * at if at > 0.0 else 0.0
        at_low, at_high = math.exp(top - 0.5 * a * a), math.exp(top - 0.5 * b * b)
        between = deviation * ROOT_TURN * 0.5
        if at < 5.0:
            between = between * (math.erfc(at) - math.erfc(to)) * math.exp(top)
        else:  # The tail, by its first term.
            between = between * (1.0 - math.exp(at * at - to * to)) / (at * ROOT_PI)
    spot = u * (at_low + at_high + between)
    return 0 if spot < at_low else 1 if spot < at_low + at_high else 2


@compiled_with(inside=True, error_model="numpy")
def _block(g, start, whole, near_ptr, near, member, mark):
    """Values that move together, from one of them: itself, or all that are alike next to it.

    Gives their number and the ends between which they can move; `mark` says which they are.
    """
    level, low, high = g[start], 0.0, 1.0
    member[0], mark[start] = start, start
    if not whole:  # Most of the work, so without a question about each neighbour.
        for k in range(near_ptr[2 * start], near_ptr[2 * start + 1]):
            low = g[near[k]] if g[near[k]] > low else low
        for k in range(near_ptr[2 * start + 1], near_ptr[2 * start + 2]):
            high = g[near[k]] if g[near[k]] < high else high
        return 1, low, high
    count, looked = 1, 0
    while looked < count:
        a = member[looked]
        looked += 1
        for k in range(near_ptr[2 * a], near_ptr[2 * a + 2]):
            b = near[k]
            if g[b] == level:
                if mark[b] != start:
                    member[count], mark[b] = b, start
                    count += 1
            elif k < near_ptr[2 * a + 1]:
                low = g[b] if g[b] > low else low
            else:
                high = g[b] if g[b] < high else high
    return count, low, high


@compiled_with(error_model="numpy")
def order_sweeps(
    indptr, indices, data, targets, g, near_ptr, near, rss, floor, gammas, uniforms, left,
    member, mark, alike,
):  # fmt: skip
    """Sweeps over all values in an order: each in turn, between those below and above it.

    The first value stays 0 and the last 1. If `alike` is 1, values are likely to equal one of their
    neighbours, and each sweep then moves all values that are alike and hang together; if it is 0,
    they lie anywhere. A gamma number of 0 stands for a temper of 0.

    `near` are the neighbours of each value: those below it, from `near_ptr[2 a]` on, then those
    above it, from `near_ptr[2 a + 1]` on. `member` and `mark` are room to work in.
    """
    size = len(g)
    for t in range(len(gammas)):
        if rss < floor:
            rss = floor
        left[t, size] = rss
        for a in range(size):
            left[t, a] = g[a]
        # The variance of the noise over the temper, drawn given the squared error.
        variance, drawn = 0.5 * rss / gammas[t], 0
        for whole in range(1 + alike):
            for a in range(size):
                mark[a] = -1
            for start in range(1, size - 1):
                level = g[start]
                if whole and (mark[start] >= 0 or level <= 0.0 or level >= 1.0):
                    continue
                count, low, high = _block(g, start, whole, near_ptr, near, member, mark)
                if whole and count == 1:
                    continue
                own, rest = 0.0, 0.0
                for q in range(count):
                    a = member[q]
                    if alike:
                        rest -= targets[a]
                    for k in range(indptr[a], indptr[a + 1]):
                        b = indices[k]
                        if b == start or (whole and mark[b] == start):
                            own += data[k]
                        else:
                            rest += data[k] * g[b]
                if not alike:
                    rest -= targets[start]
                deviation, middle, end = 0.0, 0.0, 2
                if own > 0.0 and gammas[t] > 0.0:
                    deviation, middle = math.sqrt(variance / own), -rest / own
                if alike:
                    end = _which_end(middle, deviation, low, high, uniforms[t, drawn])
                u = uniforms[t, drawn + alike]
                drawn += 1 + alike
                value = low + u * (high - low)
                if end < 2:
                    value = high if end else low
                elif deviation > 0.0:
                    value = truncated_normal(middle, deviation, low, high, u)
                rss += (value - level) * (own * (value + level) + 2.0 * rest)
                for q in range(count):
                    g[member[q]] = value
