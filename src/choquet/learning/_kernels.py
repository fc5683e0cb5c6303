"""Compiled loops of the learning room. Import this module inside functions: Numba loads slowly."""

from __future__ import annotations

import numpy as np

from choquet.lattice.compiling import compiled, compiled_with


@compiled_with(inline="always")
def _add(pair, k, term):
    # Error-free sum (Knuth): the lost bits go to the second column, so that the order of the
    # terms leaves no trace in the rounded total. Fast-math would undo it.
    old = pair[k, 0]
    new = old + term
    back = new - old
    pair[k, 1] += (old - (new - back)) + (term - back)
    pair[k, 0] = new


@compiled_with(steps=lambda X, *rest: 3.0 * X.shape[0] * X.shape[1] ** 2)
def accumulate(X, y, weight, tie, least, gram, targets, sums, totals, counts):
    """Add every row's gap products to tables indexed by ternary pair code and by mask.

    Gaps up to `tie` times the largest magnitude of the row are none; nor are those whose weighted
    square is below `least`.
    """
    n_samples, n_sources = X.shape
    powers = np.empty(n_sources, np.int64)
    powers[0] = 1
    for i in range(1, n_sources):
        powers[i] = 3 * powers[i - 1]
    order = np.empty(n_sources, np.int64)
    masks = np.empty(n_sources, np.int64)
    codes = np.empty(n_sources, np.int64)
    gaps = np.empty(n_sources)
    for m in range(n_samples):
        w = weight[m]
        if w == 0.0:
            continue
        for i in range(n_sources):
            k = i
            while k > 0 and X[m, order[k - 1]] < X[m, i]:
                order[k] = order[k - 1]
                k -= 1
            order[k] = i
        width = tie * max(X[m, order[0]], -X[m, order[n_sources - 1]])
        mask = 0
        code = 0
        kept = 0
        for j in range(n_sources):
            source = order[j]
            mask |= 1 << source
            code += powers[source]
            gap = X[m, source]
            if j + 1 < n_sources:
                gap -= X[m, order[j + 1]]
                if gap <= width:
                    continue
            if w * gap * gap >= least:
                masks[kept] = mask
                codes[kept] = code
                gaps[kept] = gap
                kept += 1
        for a in range(kept):
            scaled = w * gaps[a]
            _add(sums, masks[a], scaled)
            _add(targets, masks[a], scaled * y[m])
            counts[masks[a]] += 1
            for b in range(a, kept):
                _add(gram, codes[a] + codes[b], scaled * gaps[b])
        _add(totals, 0, w)
        _add(totals, 1, w * y[m])
        _add(totals, 2, w * y[m] * y[m])


def _sum_by_turns(labels, values, carried, out):
    """`sum_runs` by whole arrays: first the first term of every label, then the second ones, …"""
    order = np.argsort(labels, kind="stable")
    sizes = np.bincount(labels, minlength=len(out))
    starts = np.cumsum(sizes) - sizes
    by_size = np.argsort(-sizes, kind="stable")
    many = np.searchsorted(-sizes[by_size], -np.arange(1, sizes.max(initial=0) + 1), side="right")
    for turn, count in enumerate(many):
        label = by_size[:count]
        term = order[starts[label] + turn]
        for terms in (values[term], carried[term]):
            old = out[label, 0]
            new = old + terms
            back = new - old
            out[label, 1] += (old - (new - back)) + (terms - back)
            out[label, 0] = new


@compiled_with(
    steps=lambda labels, values, carried, out: (
        30.0 * np.bincount(labels).max(initial=0) + 0.1 * len(labels)
    ),
    plain=_sum_by_turns,
)
def sum_runs(labels, values, carried, out):
    """Sum `values + carried` over runs of equal labels into the rows of `out`, error-free."""
    for k in range(len(labels)):
        _add(out, labels[k], values[k])
        _add(out, labels[k], carried[k])


@compiled_with(steps=lambda masks, *rest: len(masks) ** 2)
def close_containments(masks, sizes, order, values):
    """Raise each value to the largest one on a contained subset, smallest subsets first."""
    n_words = masks.shape[1]
    for k in range(len(order)):
        b = order[k]
        best = values[b]
        for j in range(k):
            a = order[j]
            if sizes[a] == sizes[b]:
                break
            if values[a] <= best:
                continue
            inside = True
            for w in range(n_words):
                if masks[a, w] & ~masks[b, w]:
                    inside = False
                    break
            if inside:
                best = values[a]
        values[b] = best


@compiled_with(steps=lambda masks, *rest: len(masks) ** 2)
def worst_containments(masks, sizes, order, values, tolerance):
    """For each subset the contained one that exceeds it most, or -1; the other way; the count."""
    n_words = masks.shape[1]
    worst = np.full(len(values), -1, np.int64)
    above = np.full(len(values), -1, np.int64)
    count = 0
    for k in range(len(order)):
        b = order[k]
        best = values[b] + tolerance
        for j in range(k):
            a = order[j]
            if sizes[a] == sizes[b]:
                break
            if values[a] <= values[b] + tolerance:
                continue
            inside = True
            for w in range(n_words):
                if masks[a, w] & ~masks[b, w]:
                    inside = False
                    break
            if inside:
                count += 1
                if values[a] > best:
                    best = values[a]
                    worst[b] = a
                if above[a] < 0 or values[b] < values[above[a]]:
                    above[a] = b
    return worst, above, count


@compiled_with(steps=lambda masks, before: 3.0 * len(masks) ** 2)
def cover_edges(masks, before):
    """Containments with nothing in between, of subsets in order of size.

    `before[b]` is the number of subsets smaller than b. Larger subsets of b come first, so that a
    subset is a cover unless it lies in one that was found; most lie in one of the first few.
    """
    n_words = masks.shape[1]
    room = 1 << 16
    low = np.empty(room, np.int32)
    high = np.empty(room, np.int32)
    count = 0
    for b in range(len(masks)):
        first = count
        for a in range(before[b] - 1, -1, -1):
            rest = np.uint64(0)
            for w in range(n_words):
                rest |= masks[a, w] & ~masks[b, w]
            if rest:
                continue
            between = False
            for e in range(first, count):
                rest = np.uint64(0)
                for w in range(n_words):
                    rest |= masks[a, w] & ~masks[low[e], w]
                if not rest:
                    between = True
                    break
            if between:
                continue
            if count == room:
                room *= 2
                more_low, more_high = np.empty(room, np.int32), np.empty(room, np.int32)
                more_low[:count] = low
                more_high[:count] = high
                low, high = more_low, more_high
            low[count] = a
            high[count] = b
            count += 1
    return low[:count].copy(), high[:count].copy()


def _close_by_rounds(low, high, values):
    """`close_edges` by whole arrays: as many rounds as the longest chain that rises, or fewer."""
    while True:
        lower = values[low]
        out = lower > values[high]
        if not out.any():
            return
        np.maximum.at(values, high[out], lower[out])


@compiled_with(steps=lambda low, high, values: 0.1 * len(low), plain=_close_by_rounds)
def close_edges(low, high, values):
    """Raise each value to the largest one below it; edges in order of their larger subset."""
    for e in range(len(low)):
        if values[low[e]] > values[high[e]]:
            values[high[e]] = values[low[e]]


@compiled
def edge_step(g, low, high, rho, below, above, force, total, alpha):
    """Project the two copies of each edge into order; return squared primal and dual changes.

    `force` is the multiplier of the edge. `total` receives, for each subset, the sum over its edges
    of rho times the copy, pushed by the multiplier.
    """
    primal = 0.0
    dual = 0.0
    total[:] = 0.0
    for e in range(len(low)):
        a = low[e]
        b = high[e]
        push = force[e] / rho
        left = alpha * g[a] + (1 - alpha) * below[e] + push
        right = alpha * g[b] + (1 - alpha) * above[e] - push
        shift = 0.5 * max(left - right, 0.0)
        left -= shift
        right += shift
        dual += (left - below[e]) ** 2 + (right - above[e]) ** 2
        primal += (g[a] - left) ** 2 + (g[b] - right) ** 2
        below[e] = left
        above[e] = right
        force[e] = rho * shift
        total[a] += rho * (left - shift)
        total[b] += rho * (right + shift)
    return primal, dual


@compiled_with(fastmath={"reassoc", "contract"})
def project(frame, x, out):
    """Σ frame[k] (frame[k]·x) into `out`: by hand, because BLAS would wait for its threads."""
    n_frame, m = frame.shape
    for i in range(m):
        out[i] = 0.0
    for k in range(n_frame):
        total = 0.0
        for i in range(m):
            total += frame[k, i] * x[i]
        for i in range(m):
            out[i] += total * frame[k, i]


@compiled
def conjugate_gradients(
    indptr, indices, data, starts, places, gaps, frame, strength, shift, inverse, free, b, x,
    tolerance, limit,
):  # fmt: skip
    """Solve (P + R'R + strength (I - frame frame') + diag(shift)) x = b on the free unknowns.

    In place. P has rows by `indptr`, `indices` and `data`; R by `starts`, `places` and `gaps`.
    `frame` has orthonormal columns (none without a prior); `inverse` is the inverse diagonal.
    Returns the number of iterations.
    """
    n = len(x)
    n_frame = frame.shape[0]
    direction = np.zeros(n)
    image = np.empty(n)
    residual = np.empty(n)
    back = np.empty(frame.shape[1])
    old = 0.0
    for k in range(limit + 1):
        source = x if k == 0 else direction
        for i in range(n):
            total = 0.0
            if free[i]:
                for e in range(indptr[i], indptr[i + 1]):
                    total += data[e] * source[indices[e]]
                total += shift[i] * source[i]
            image[i] = total
        for r in range(len(starts) - 1):
            total = 0.0
            for e in range(starts[r], starts[r + 1]):
                total += gaps[e] * source[places[e]]
            for e in range(starts[r], starts[r + 1]):
                image[places[e]] += gaps[e] * total
        if n_frame and strength > 0:
            m = frame.shape[1]
            project(frame, source, back)
            for i in range(m):
                if free[i]:
                    image[i] += strength * (source[i] - back[i])
        if k == 0:
            for i in range(n):
                residual[i] = b[i] - image[i] if free[i] else 0.0
        else:
            curvature = 0.0
            for i in range(n):
                curvature += direction[i] * image[i]
            if curvature <= 0.0:
                return k
            length = old / curvature
            for i in range(n):
                x[i] += length * direction[i]
                residual[i] -= length * image[i]
        square = 0.0
        new = 0.0
        for i in range(n):
            square += residual[i] * residual[i]
            new += residual[i] * residual[i] * inverse[i]
        if np.sqrt(square) <= tolerance:
            return k
        ratio = new / old if k > 0 else 0.0
        for i in range(n):
            direction[i] = residual[i] * inverse[i] + ratio * direction[i]
        old = new
    return limit


@compiled
def coordinate_descent(P, q, weight, x, limit, tolerance):
    """Minimise ½x'Px + q'x + Σ weight |x| in place; return the number of sweeps."""
    n = len(x)
    gradient = P @ x + q
    for sweep in range(limit):
        moved = 0.0
        for i in range(n):
            curvature = P[i, i]
            if curvature <= 0.0:
                continue
            target = curvature * x[i] - gradient[i]
            size = abs(target) - weight[i]
            new = 0.0
            if size > 0.0:
                new = size / curvature if target > 0.0 else -size / curvature
            step = new - x[i]
            if step != 0.0:
                x[i] = new
                for j in range(n):
                    gradient[j] += step * P[j, i]
                moved = max(moved, abs(step) * np.sqrt(curvature))
        if moved <= tolerance * (1.0 + np.sqrt(np.abs(x @ (P @ x)))):
            return sweep + 1
    return limit


@compiled_with(steps=lambda X, y, g, rate, epochs: 3.0 * epochs * X.shape[0] * X.shape[1] ** 2)
def hlms_passes(X, y, g, rate, epochs):
    """Move the values on each sample's chain against its error, within their neighbours' reach."""
    n_samples, n_sources = X.shape
    full = (1 << n_sources) - 1
    chain = np.empty(n_sources, np.int64)
    for _ in range(epochs):
        for m in range(n_samples):
            order = np.argsort(-X[m])
            mask = 0
            value = 0.0
            for j in range(n_sources):
                mask |= 1 << order[j]
                chain[j] = mask
                below = X[m, order[j + 1]] if j + 1 < n_sources else 0.0
                value += (X[m, order[j]] - below) * g[mask]
            error = value - y[m]
            for k in range(n_sources - 1):
                # Downward moves start at the bottom and upward ones at the top, so that a chain
                # can move as a whole.
                j = k if error > 0 else n_sources - 2 - k
                a = chain[j]
                new = g[a] - rate * error * (X[m, order[j]] - X[m, order[j + 1]])
                for i in range(n_sources):
                    bit = 1 << i
                    new = max(new, g[a ^ bit]) if a & bit else min(new, g[a | bit])
                g[a] = new
        g[full] = 1.0
