"""Compiled Markov chains over measures. Import inside functions: Numba loads slowly.

Each chain draws measures with probability proportional to RSS ** (-temper · W / 2), where RSS is
the squared error and W the number of rows: at temper 1 the posterior under a uniform prior and
normal noise whose variance is integrated out, at temper 0 the prior itself. Tempers rise to 1
before anything is kept. Each chain returns what the mean measure is made of, and the mean of
W / 2 · log RSS; where it is given `states`, it leaves evenly spaced ones there.

A value between two bounds is drawn by inverting its distribution function, so it depends smoothly
on the data: rounding errors in the statistics stay rounding errors in the result.
"""

from __future__ import annotations

import math

import numpy as np

from choquet.lattice.compiling import compiled

__all__ = ["bend", "curve_chain", "order_chain", "simplex_chain", "truncated_normal"]

TAIL = 6.0
"""Beyond this many deviations the tail of the normal is taken as that of its Rayleigh bound."""


@compiled
def _quantile(p):
    """Normal quantile: Abramowitz & Stegun 26.2.23, then two of Halley's steps."""
    q = min(p, 1.0 - p)
    t = math.sqrt(-2.0 * math.log(max(q, 1e-300)))
    top = 2.515517 + t * (0.802853 + t * 0.010328)
    x = t - top / (1.0 + t * (1.432788 + t * (0.189269 + t * 0.001308)))
    for _ in range(2):
        # x is the upper quantile of q: the tail beyond it should hold q.
        excess = 0.5 * math.erfc(x / math.sqrt(2.0)) - q
        slope = excess * math.sqrt(2.0 * math.pi) * math.exp(0.5 * x * x)
        x += slope / (1.0 - 0.5 * x * slope)
    return -x if p < 0.5 else x


@compiled
def truncated_normal(mean, deviation, low, high, u):
    """Quantile u of the normal distribution cut to [low, high]."""
    if not high > low:
        return low
    a, b = (low - mean) / deviation, (high - mean) / deviation
    flipped = a + b < 0.0
    if flipped:
        a, b, u = -b, -a, 1.0 - u
    # Now |a| <= |b| or the like: the interval leans to the right, where the upper tail is exact.
    if b - a < 1e-4 / (1.0 + abs(a)):
        z = a + u * (b - a)
    elif a > TAIL:
        z = math.sqrt(a * a - 2.0 * math.log1p(u * math.expm1(0.5 * (a * a - b * b))))
    else:
        upper = 0.5 * math.erfc(a / math.sqrt(2.0))
        lower = 0.5 * math.erfc(b / math.sqrt(2.0))
        z = -_quantile(upper + u * (lower - upper))
    z = min(max(z, a), b)
    return min(max(mean + deviation * (-z if flipped else z), low), high)


@compiled
def _add_to(total, term):
    # A loop compiles in a fraction of the time of an array expression.
    for k in range(len(total)):
        total[k] += term[k]


@compiled
def _copy_to(target, source):
    for k in range(len(target)):
        target[k] = source[k]


@compiled
def _keep(states, number, kept, current):
    """Leave every so many states, the last one among them, so that all places are filled."""
    n_states = len(states)
    if n_states > 0 and (number + 1) * n_states // kept > number * n_states // kept:
        _copy_to(states[number * n_states // kept], current)


@compiled
def _uniform(seed, counter):
    """Splitmix64 of a counter, as a float in [0, 1): much less to compile than a generator."""
    z = seed + np.uint64(counter) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z = z ^ (z >> np.uint64(31))
    return (z >> np.uint64(11)) * 1.1102230246251565e-16


@compiled
def _squared(indptr, indices, data, targets, square, g):
    """Squared error: of the whole form, or of its upper half with off-diagonal entries doubled."""
    rss = square
    for a in range(len(targets)):
        total = -2.0 * targets[a]
        for k in range(indptr[a], indptr[a + 1]):
            total += data[k] * g[indices[k]]
        rss += g[a] * total
    return max(rss, 0.0)


@compiled
def order_chain(
    indptr, indices, data, targets, square, weight, g, below_ptr, below, above_ptr, above,
    tempers, gammas, first, floor, seed, states,
):  # fmt: skip
    """Chain over all values in an order: each in turn, between those below and above it.

    The first value stays 0 and the last 1.
    """
    size = g.shape[0]
    total, energy = np.zeros(size), 0.0
    rss, counter = square, 0
    for t in range(len(tempers)):
        if t % 20 == 0:
            # Kept up to date below; afresh now and then, before rounding errors pile up.
            rss = _squared(indptr, indices, data, targets, square, g) + floor
        rss = max(rss, floor)
        if t >= first:
            energy += 0.5 * weight * math.log(rss)
            _add_to(total, g)
            _keep(states, t - first, len(tempers) - first, g)
        # The variance of the noise over the temper, drawn given the squared error.
        variance = 0.5 * rss / gammas[t]
        for a in range(1, size - 1):
            low, high = 0.0, 1.0
            for k in range(below_ptr[a], below_ptr[a + 1]):
                low = max(low, g[below[k]])
            for k in range(above_ptr[a], above_ptr[a + 1]):
                high = min(high, g[above[k]])
            u = _uniform(seed, counter)
            counter += 1
            rest, own = 0.0, 0.0
            for k in range(indptr[a], indptr[a + 1]):
                j = indices[k]
                if j == a:
                    own = data[k]
                else:
                    rest += data[k] * g[j]
            if own <= 0.0 or tempers[t] == 0.0:
                value = low + u * (high - low)
            else:
                middle = (targets[a] - rest) / own
                value = truncated_normal(middle, math.sqrt(variance / own), low, high, u)
            move = value - g[a]
            rss += move * (own * (value + g[a]) + 2.0 * (rest - targets[a]))
            g[a] = value
    kept = len(tempers) - first
    return total / kept, energy / kept


@compiled
def _reach(m, steps, row, pairs, n_sources, sign):
    """How far one can go along ±step before an m(i) + Σ min(0, m(ij)) falls below zero.

    Each of these is concave and piecewise linear along the step, so Newton's method from outside
    ends at its zero. Without pairs that is where the first number becomes zero.
    """
    if len(pairs) == 0:
        least = 1e300
        for k in range(len(m)):
            slope = sign * steps[row, k]
            if slope < 0.0:
                least = min(least, -m[k] / slope)
        return max(least, 0.0)
    largest = 0.0
    for k in range(len(m)):
        largest = max(largest, abs(steps[row, k]))
    far = 2.0 / largest
    for i in range(n_sources):
        for _ in range(2 * n_sources + 4):
            value, slope = m[i] + sign * far * steps[row, i], sign * steps[row, i]
            for j in range(n_sources):
                k = pairs[i, j]
                if k >= 0:
                    at = m[k] + sign * far * steps[row, k]
                    if at < 0.0:
                        value += at
                        slope += sign * steps[row, k]
            if value >= 0.0 or slope >= 0.0:
                break
            far = max(far - value / slope, 0.0)
            if far == 0.0:
                return 0.0
    return far


@compiled
def simplex_chain(
    form, linear, square, weight, m, steps, images, tilts, pairs, n_sources,
    spread, sizes, tempers, gammas, first, floor, seed, states,
):  # fmt: skip
    """Chain over m with Σ m = 1 and m(i) + Σ_j min(0, m(ij)) ≥ 0, along given directions.

    Without pairs that is the simplex (additive, symmetric and belief measures: all m positive),
    with all pairs the 2-additive measures. Pairs are normal about their mean with a variance that
    is itself unknown, inverse gamma (of shape 1, and `spread` squared) beforehand; every sweep
    draws it anew from gamma numbers, `sizes`. Interactions that data do not tell apart are drawn
    together.

    `images` are steps through the form, `tilts` steps of the pairs less their mean.
    """
    size = len(m)
    total, energy = np.zeros(size), 0.0
    slope = np.zeros(size)
    curvatures = (steps * images).sum(axis=1)
    tilt_squares = (tilts * tilts).sum(axis=1)
    counter = 0
    for t in range(len(tempers)):
        rss = square
        for k in range(size):
            slope[k] = -linear[k]
            for i in range(size):
                slope[k] += form[k, i] * m[i]
            rss += m[k] * (slope[k] - linear[k])
        rss = max(rss, 0.0) + floor
        if t >= first:
            energy += 0.5 * weight * math.log(rss)
            _add_to(total, m)
            _keep(states, t - first, len(tempers) - first, m)
        precision = 2.0 * gammas[t] / rss
        own = m[n_sources:]
        squares = ((own - own.sum() / max(len(own), 1)) ** 2).sum()
        pull = sizes[t] / (spread * spread + 0.5 * squares)
        for j in range(len(steps)):
            high = _reach(m, steps, j, pairs, n_sources, 1.0)
            low = -_reach(m, steps, j, pairs, n_sources, -1.0)
            u = _uniform(seed, counter)
            counter += 1
            sharpness = precision * curvatures[j] + pull * tilt_squares[j]
            if sharpness * (high - low) ** 2 < 1e-12:
                move = low + u * (high - low)
            else:
                drift = 0.0
                for k in range(size):
                    drift -= precision * steps[j, k] * slope[k] + pull * tilts[j, k] * m[k]
                deviation = 1.0 / math.sqrt(sharpness)
                move = truncated_normal(drift / sharpness, deviation, low, high, u)
            for k in range(size):
                m[k] += move * steps[j, k]
                slope[k] += move * images[j, k]
    kept = len(tempers) - first
    return total / kept, energy / kept


@compiled
def bend(inside, unknown, g):
    """Fill g with the distorted probability of these logarithms of shares and this curve."""
    n_sources = len(unknown) - 1
    shares = np.empty(n_sources)
    total = 0.0
    for i in range(n_sources):
        shares[i] = math.exp(unknown[i])
        total += shares[i]
    curve = unknown[n_sources]
    for a in range(len(g)):
        t = 0.0
        for i in range(n_sources):
            t += inside[a, i] * shares[i]
        t /= total
        if abs(curve) < 1e-6:
            g[a] = t + 0.5 * curve * t * (t - 1.0)
        else:
            g[a] = math.expm1(curve * t) / math.expm1(curve)


@compiled
def _log_prior(unknown, scale, spread):
    """A Laplace curve, and log shares that are normal with a variance that is itself unknown.

    That variance is inverse gamma (of shape 1, and `spread` squared) and integrated out, which
    leaves Student's distribution: shares that the data do not tell apart are drawn together, and
    shares that differ are let go. The mean of the logarithms changes no measure.
    """
    n_sources = len(unknown) - 1
    mean = 0.0
    for i in range(n_sources):
        mean += unknown[i] / n_sources
    squares = 0.0
    for i in range(n_sources):
        squares += (unknown[i] - mean) ** 2
    tail = -(1.0 + 0.5 * (n_sources - 1)) * math.log(spread * spread + 0.5 * squares)
    return tail - abs(unknown[n_sources]) / scale - 0.5 * n_sources * mean * mean


@compiled
def _half_square(shape, vector):
    """Half the squared length of the vector in units of the lower triangular shape."""
    z, total = np.empty(len(vector)), 0.0
    for k in range(len(vector)):
        rest = vector[k]
        for j in range(k):
            rest -= shape[k, j] * z[j]
        z[k] = rest / shape[k, k]
        total += 0.5 * z[k] * z[k]
    return total


@compiled
def curve_chain(
    indptr, indices, data, targets, square, weight, inside, unknown, scale, spread, shape,
    first, thin, uniforms, normals, floor,
):  # fmt: skip
    """Metropolis chain over λ-measures.

    It starts at the least squares fit, so it needs no tempers, and the shape of the spread there is
    that of its steps: from where it is, or anew from the start, which mixes at once where the data
    are many. It leaves its states, one in every `thin`, in place of a mean measure.
    """
    size, steps = len(unknown), len(uniforms)
    g, proposed, trial = np.empty(len(targets)), np.empty(len(targets)), np.empty(size)
    states, energy = np.empty(((steps - first) // thin + 1, size)), 0.0
    bend(inside, unknown, g)
    rss = _squared(indptr, indices, data, targets, square, g) + floor
    prior = _log_prior(unknown, scale, spread)
    start, n_states = unknown.copy(), 0
    stride, away = math.log(2.4 / math.sqrt(size)), 0.0
    for t in range(steps):
        kind, choice, chance = uniforms[t, 0], uniforms[t, 1], uniforms[t, 2]
        _copy_to(trial, unknown)
        i = int(choice * size)
        # How much more likely the way back is than the way there.
        back = 0.0
        if kind < 0.4:
            for k in range(size):
                for j in range(k + 1):
                    trial[k] += math.exp(stride) * shape[k, j] * normals[t, j]
        elif kind < 0.7:
            _copy_to(trial, start)
            for k in range(size):
                back += 0.5 * normals[t, k] * normals[t, k]
                for j in range(k + 1):
                    trial[k] += shape[k, j] * normals[t, j]
            back -= away
        elif kind < 0.85:
            trial[i] += 3.0 * shape[i, i] * normals[t, 0]
        else:
            trial[i] += 2.0 * math.exp(-3.0 * chance) * normals[t, 0]
            chance = uniforms[t, 3]
        largest = 0.0
        for k in range(size):
            largest = max(largest, abs(trial[k]))
        accepted = False
        if largest < 60.0:
            bend(inside, trial, proposed)
            error = _squared(indptr, indices, data, targets, square, proposed) + floor
            log_prior = _log_prior(trial, scale, spread)
            gain = 0.5 * weight * (math.log(rss) - math.log(error))
            accepted = math.log(max(chance, 1e-300)) < gain + log_prior - prior + back
            if accepted:
                _copy_to(unknown, trial)
                _copy_to(g, proposed)
                rss, prior = error, log_prior
                away = _half_square(shape, unknown - start)
        if kind < 0.4:
            stride += ((1.0 if accepted else 0.0) - 0.25) * 2.0 / math.sqrt(t + 10.0)
        if t >= first:
            energy += 0.5 * weight * math.log(rss)
            if (t - first) % thin == 0:
                _copy_to(states[n_states], unknown)
                n_states += 1
    return states[:n_states], energy / (steps - first)
