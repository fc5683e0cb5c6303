"""Compiled Markov chains over measures. Import inside functions: Numba loads slowly.

Each chain draws measures with probability proportional to RSS ** (-temper · W / 2), where RSS is
the squared error and W the number of rows: at temper 1 the posterior under a uniform prior and
normal noise whose variance is integrated out, at temper 0 the prior itself. A call makes some
sweeps, each with a gamma number of its own, which is 0 where the temper is, and leaves what they
began with in the rows of `left`: the state of the chain, then its squared error.

A value between two bounds is drawn by inverting its distribution function, so it depends smoothly
on the data: rounding errors in the statistics stay rounding errors in the result.

Compiling is part of what the first fit costs, so the callers make the arrays and do what is done
once a sweep. A single sum over an axis in here would take two seconds to compile.
"""

from __future__ import annotations

import math

import numpy as np

from choquet.lattice.compiling import compiled_with

TAIL = 6.0
"""Beyond this many deviations the tail of the normal is taken as that of its Rayleigh bound."""
FAR = 25.0
"""Beyond this many deviations the tail is a series; the error function is far from zero there."""
ROOT_HALF, ROOT_TURN = math.sqrt(0.5), math.sqrt(2.0 * math.pi)


@compiled_with(inside=True, error_model="numpy")
def tail_quantile(p):
    """What a standard normal number exceeds with probability p, to the last digits of a double.

    Wichura (1988), "Algorithm AS 241: The percentage points of the normal distribution": three
    quotients of polynomials, one for the middle and two for the tails.
    """
    q = 0.5 - p
    if abs(q) <= 0.425:
        r = 0.180625 - q * q
        top = 3.3430575583588128105e4 + r * 2.5090809287301226727e3
        top = 4.5921953931549871457e4 + r * (6.7265770927008700853e4 + r * top)
        top = 1.9715909503065514427e3 + r * (1.3731693765509461125e4 + r * top)
        top = 3.3871328727963666080e0 + r * (1.3314166789178437745e2 + r * top)
        low = 2.8729085735721942674e4 + r * 5.2264952788528545610e3
        low = 2.1213794301586595867e4 + r * (3.9307895800092710610e4 + r * low)
        low = 6.8718700749205790830e2 + r * (5.3941960214247511077e3 + r * low)
        return q * top / (1.0 + r * (4.2313330701600911252e1 + r * low))
    r = p if q > 0.0 else 1.0 - p
    r = math.sqrt(-math.log(r if r > 1e-300 else 1e-300))
    if r <= 5.0:
        r -= 1.6
        top = 2.27238449892691845833e-2 + r * 7.74545014278341407640e-4
        top = 1.27045825245236838258e0 + r * (2.41780725177450611770e-1 + r * top)
        top = 5.76949722146069140550e0 + r * (3.64784832476320460504e0 + r * top)
        top = 1.42343711074968357734e0 + r * (4.63033784615654529590e0 + r * top)
        low = 5.47593808499534494600e-4 + r * 1.05075007164441684324e-9
        low = 1.48103976427480074590e-1 + r * (1.51986665636164571966e-2 + r * low)
        low = 1.67638483018380384940e0 + r * (6.89767334985100004550e-1 + r * low)
        z = top / (1.0 + r * (2.05319162663775882187e0 + r * low))
    else:
        r -= 5.0
        top = 2.71155556874348757815e-5 + r * 2.01033439929228813265e-7
        top = 2.65321895265761230930e-2 + r * (1.24266094738807843860e-3 + r * top)
        top = 1.78482653991729133580e0 + r * (2.96560571828504891230e-1 + r * top)
        top = 6.65790464350110377720e0 + r * (5.46378491116411436990e0 + r * top)
        low = 1.42151175831644588870e-7 + r * 2.04426310338993978564e-15
        low = 7.86869131145613259100e-4 + r * (1.84631831751005468180e-5 + r * low)
        low = 1.36929880922735805310e-1 + r * (1.48753612908506148525e-2 + r * low)
        z = top / (1.0 + r * (5.99832206555887937690e-1 + r * low))
    return z if q > 0.0 else -z


@compiled_with(inside=True, error_model="numpy")
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
        upper, lower = 0.5 * math.erfc(a * ROOT_HALF), 0.5 * math.erfc(b * ROOT_HALF)
        z = tail_quantile(upper + u * (lower - upper))
    z = a if z < a else b if z > b else z
    value = mean + deviation * (-z if flipped else z)
    return low if value < low else high if value > high else value


@compiled_with(inside=True, error_model="numpy")
def _reach(m, steps, row, pairs, sign, far):
    """How far one can go along ±step before an m(i) + Σ min(0, m(ij)) falls below zero.

    Each of these is concave and piecewise linear along the step, so Newton's method from `far`
    outside ends at its zero, in as many rounds as there are pieces; without pairs, in one.
    """
    n_pairs = pairs.shape[1]
    for i in range(len(pairs)):
        own = sign * steps[row, i]
        if n_pairs == 0:
            if own < 0.0 and far * own < -m[i]:
                far = -m[i] / own
            continue
        for _ in range(n_pairs + 3):
            value, slope = m[i] + far * own, own
            for j in range(n_pairs):
                k = pairs[i, j]
                tilt = sign * steps[row, k]
                at = m[k] + far * tilt
                if at < 0.0:
                    value += at
                    slope += tilt
            if value >= 0.0 or slope >= 0.0:
                break
            far -= value / slope
            if far <= 0.0:
                return 0.0
    return far if far > 0.0 else 0.0


@compiled_with(error_model="numpy")
def simplex_sweeps(
    form, linear, square, m, steps, images, tilts, traits, pairs,
    spread, floor, sizes, gammas, uniforms, left, slope,
):  # fmt: skip
    """Sweeps over m with Σ m = 1 and m(i) + Σ_j min(0, m(ij)) ≥ 0, along given directions.

    Without pairs that is the simplex (additive, symmetric and belief measures: all m positive),
    with all pairs the 2-additive measures: `pairs` has the places of the m(ij) of each i. They are
    normal about their mean with a variance that is itself unknown, inverse gamma (of shape 1, and
    `spread` squared) beforehand; every sweep draws it anew from gamma numbers, `sizes`.
    Interactions that data do not tell apart are drawn together.

    `images` are steps through the form; `tilts` are steps of the pairs less their mean. `traits` of
    a step are the curvature of the form along it, the squared length of its tilt, and how far one
    can go at most. `slope` is room to work in.
    """
    size, singles = len(m), len(pairs)
    for t in range(len(gammas)):
        rss = square
        for k in range(size):
            left[t, k] = m[k]
            slope[k] = -linear[k]
            for i in range(size):
                slope[k] += form[k, i] * m[i]
            rss += m[k] * (slope[k] - linear[k])
        rss = (rss if rss > 0.0 else 0.0) + floor
        left[t, size] = rss
        precision = 2.0 * gammas[t] / rss
        mean, squares = 0.0, 0.0
        for k in range(singles, size):
            mean += m[k] / (size - singles)
        for k in range(singles, size):
            away = m[k] - mean
            squares += away * away
        pull = sizes[t] / (spread * spread + 0.5 * squares)
        for j in range(len(steps)):
            high = _reach(m, steps, j, pairs, 1.0, traits[j, 2])
            low = -_reach(m, steps, j, pairs, -1.0, traits[j, 2])
            u = uniforms[t, j]
            sharpness = precision * traits[j, 0] + pull * traits[j, 1]
            if sharpness * (high - low) * (high - low) < 1e-12:
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


@compiled_with(inside=True, error_model="numpy")
def log_gap(a, b):
    """Logarithm of the integral of exp(-z² / 2) from a to b, with a < b."""
    if a + b < 0.0:
        a, b = -b, -a
    if b - a < 1e-4 / (1.0 + abs(a)):
        return math.log(b - a) - 0.125 * (a + b) * (a + b)
    if a < FAR:
        gap = math.erfc(a * ROOT_HALF) - math.erfc(b * ROOT_HALF)
        return math.log(0.5 * ROOT_TURN * gap)
    # Mills' ratio to two terms, for both ends.
    rest = math.exp(0.5 * (a * a - b * b)) * (1.0 / b - 1.0 / b**3)
    return math.log(1.0 / a - 1.0 / a**3 - rest) - 0.5 * a * a


@compiled_with(inside=True, error_model="numpy")
def _uniform(seed, count):
    """Splitmix64 of a counter, as a float in [0, 1)."""
    z = seed + np.uint64(count) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return float((z ^ (z >> np.uint64(31))) >> np.uint64(11)) * 2.0**-53


@compiled_with(error_model="numpy")
def face_sweeps(form, linear, square, w, rates, floor, gammas, seed, first, turns, left, slope):
    """Sweeps over weights w ≥ 0 with Σ w = 1, of which any may be zero, two of them at a time.

    What two weights have together is divided anew: all to the one, all to the other, or any share
    between. In each of the `turns` of a sweep every weight meets the one that is some places
    further on, and how many is drawn. `rates` are the logarithms of what a share between counts
    beforehand, by how many weights are then not zero, where all to the one counts 1. `slope` is
    room to work in.
    """
    size, some = len(w), 0
    for k in range(size):
        some += w[k] > 0.0
    for t in range(len(gammas)):
        rss = square
        for k in range(size):
            left[t, k] = w[k]
            slope[k] = -linear[k]
            for i in range(size):
                slope[k] += form[k, i] * w[i]
            rss += w[k] * (slope[k] - linear[k])
        rss = (rss if rss > 0.0 else 0.0) + floor
        left[t, size] = rss
        precision = 2.0 * gammas[t] / rss
        for turn in range(turns):
            count = ((first + t) * turns + turn) * (size + 1)
            apart = 1 + int(_uniform(seed, count + size) * (size - 1))
            for i in range(size):
                j = (i + apart) % size
                whole = w[i] + w[j]
                if whole == 0.0:
                    continue
                both = w[i] > 0.0 and w[j] > 0.0
                pull = precision * (slope[i] - slope[j])
                sharpness = precision * (form[i, i] + form[j, j] - 2.0 * form[i, j])
                # Energies at w[i] = 0 and at w[j] = 0, and of what lies between.
                down, up = -w[i], w[j]
                none = -down * (pull + 0.5 * sharpness * down)
                every = -up * (pull + 0.5 * sharpness * up)
                between = rates[some if both else some + 1]
                flat = sharpness * whole * whole < 1e-12
                mean, deviation = 0.0, 0.0
                if flat:
                    between += math.log(whole) + 0.5 * (none + every)
                else:
                    mean, deviation = -pull / sharpness, 1.0 / math.sqrt(sharpness)
                    between += math.log(deviation) - 0.5 * pull * mean
                    between += log_gap((down - mean) / deviation, (up - mean) / deviation)
                most = max(none, every, between)
                none, every = math.exp(none - most), math.exp(every - most)
                between = math.exp(between - most)
                u = _uniform(seed, count + i) * (none + every + between)
                new = 0.0
                if u < none:
                    new = 0.0
                elif u < none + every:
                    new = whole
                else:
                    u = min(max((u - none - every) / between, 0.0), 1.0)
                    move = down + u * whole
                    if not flat:
                        move = truncated_normal(mean, deviation, down, up, u)
                    new = w[i] + move
                if new == w[i]:
                    continue
                move = new - w[i]
                some -= (w[i] > 0.0) + (w[j] > 0.0)
                w[i] = new
                w[j] = whole - new if new < whole else 0.0
                some += (w[i] > 0.0) + (w[j] > 0.0)
                for k in range(size):
                    slope[k] += move * (form[k, i] - form[k, j])


@compiled_with(error_model="numpy")
def curve_steps(
    indptr, indices, data, targets, square, weight, floor, inside, start, units, scale, spread,
    moves, anew, backs, chances, unknown, now, trial, shares, values, left, energies, taken,
):  # fmt: skip
    """Metropolis steps over λ-measures, each by a move from where the chain is, or from the start.

    `unknown` are logarithms of shares and the curve; `now` is its energy and log prior. `backs`
    says how much more likely the way back is than the way there, but for the half squared distance
    from the start in `units`, where the step goes from there. From `trial` to `values` is room to
    work in. What the steps began with is left, as above, and whether they were taken.
    """
    size, n_sources = len(unknown), len(shares)
    for t in range(len(moves)):
        energies[t] = now[0]
        gain, largest, total, mean = backs[t], 0.0, 0.0, 0.0
        for k in range(size):
            left[t, k] = unknown[k]
            trial[k] = moves[t, k] + (start[k] if anew[t] else unknown[k])
            if abs(trial[k]) > largest:
                largest = abs(trial[k])
            away = 0.0
            for j in range(size):
                away += units[k, j] * (unknown[j] - start[j])
            if anew[t]:
                gain -= 0.5 * away * away
        if largest > 60.0:
            continue
        for i in range(n_sources):
            shares[i] = math.exp(trial[i])
            total += shares[i]
            mean += trial[i] / n_sources
        curve, squares, rss = trial[n_sources], 0.0, square
        for i in range(n_sources):
            squares += (trial[i] - mean) * (trial[i] - mean)
        for a in range(len(values)):
            share = 0.0
            for i in range(n_sources):
                share += inside[a, i] * shares[i]
            share /= total
            if abs(curve) < 1e-6:
                values[a] = share + 0.5 * curve * share * (share - 1.0)
            else:
                values[a] = math.expm1(curve * share) / math.expm1(curve)
        # The upper half of the form, with entries off the diagonal doubled.
        for a in range(len(values)):
            slope = -2.0 * targets[a]
            for k in range(indptr[a], indptr[a + 1]):
                slope += data[k] * values[indices[k]]
            rss += values[a] * slope
        energy = 0.5 * weight * math.log((rss if rss > 0.0 else 0.0) + floor)
        # A Laplace curve; log shares are normal with a variance that is inverse gamma (of shape 1,
        # and `spread` squared), integrated out; the mean of the logarithms changes no measure.
        prior = -(0.5 + 0.5 * n_sources) * math.log(spread * spread + 0.5 * squares)
        prior -= abs(curve) / scale + 0.5 * n_sources * mean * mean
        if chances[t] < gain + now[0] - energy + prior - now[1]:
            taken[t] = True
            now[0], now[1] = energy, prior
            for k in range(size):
                unknown[k] = trial[k]
