"""Loops of the measures room, compiled where there is much to do."""

import numpy as np

from choquet.lattice.compiling import compiled, compiled_with


@compiled
def _uniform_bits(seed, counter):
    """Splitmix64 of a counter, as a float in [0, 1): no state to carry, so loops vectorise."""
    z = seed + counter * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z = z ^ (z >> np.uint64(31))
    return (z >> np.uint64(11)) * 1.1102230246251565e-16


@compiled_with(fastmath={"nnan", "nsz"}, error_model="numpy")
def _update(target, other, has_last, n_bits, seed, counter, low, high):
    """Redraw all sets of one parity given those of the other, between their bounds."""
    half = target.shape[0]
    # The neighbour across the last source has the same low bits; all others differ in one bit.
    for a in range(half):
        v = other[a]
        low[a] = v if has_last[a] else 0.0
        high[a] = 1.0 if has_last[a] else v
    # Two sources at a time: four sets of the other parity bound four of this one.
    for i in range(0, n_bits - 1, 2):
        step = 1 << i
        for base in range(0, half, 4 * step):
            for a in range(base, base + step):
                b, c, d = a + step, a + 2 * step, a + 3 * step
                high[a] = min(high[a], min(other[b], other[c]))
                high[b], low[b] = min(high[b], other[d]), max(low[b], other[a])
                high[c], low[c] = min(high[c], other[d]), max(low[c], other[a])
                low[d] = max(low[d], max(other[b], other[c]))
    if n_bits % 2:
        step = 1 << (n_bits - 1)
        for a in range(step):
            high[a] = min(high[a], other[a + step])
            low[a + step] = max(low[a + step], other[a])
    for a in range(half):
        u = _uniform_bits(seed, counter + np.uint64(a))
        target[a] = low[a] + u * (high[a] - low[a])


def _gibbs_arrays(start, n_sources, sweeps, seed):
    """As `gibbs_sweeps`, by operations on whole halves of the lattice."""
    n_bits = n_sources - 1
    half = 1 << n_bits
    numbers = np.arange(half)
    odd_low = np.zeros(half, np.bool_)
    for i in range(n_bits):
        odd_low ^= (numbers >> i & 1).astype(np.bool_)
    has_last = (odd_low, ~odd_low)  # of the sets of even size, and of those of odd size
    places = [numbers + half * flags for flags in has_last]
    sides = [start[place] for place in places]
    # Sets of the other parity that differ in one of the low bits, and whether they are smaller.
    others = [(numbers ^ (1 << i), (numbers >> i & 1).astype(np.bool_)) for i in range(n_bits)]
    counters = numbers.astype(np.uint64)
    counter = np.uint64(0)
    for _ in range(sweeps):
        for side in (1, 0):
            other = sides[1 - side]
            low = np.where(has_last[side], other, 0.0)
            high = np.where(has_last[side], 1.0, other)
            for across, smaller in others:
                near = other[across]
                low = np.where(smaller, np.maximum(low, near), low)
                high = np.where(smaller, high, np.minimum(high, near))
            u = _uniform_bits(seed, counter + counters)
            sides[side] = low + u * (high - low)
            counter += np.uint64(half)
            sides[0][0] = 0.0
            sides[n_sources % 2][half - 1] = 1.0
    values = np.empty(2 * half)
    for place, side in zip(places, sides, strict=True):
        values[place] = side
    return values


def _gibbs_steps(start, n_sources, sweeps, seed):
    return sweeps * n_sources * (40 + (1 << n_sources) / 5)


@compiled_with(steps=_gibbs_steps, plain=_gibbs_arrays)
def gibbs_sweeps(start, n_sources, sweeps, seed):
    """Gibbs sweeps over the order polytope; sets of even and odd size take turns.

    Neighbours in the lattice differ in parity, so all sets of one parity are independent given the
    others. Both halves are indexed by the low N-1 bits: the parity tells the last one.
    """
    n_bits = n_sources - 1
    half = 1 << n_bits
    even, odd = np.empty(half), np.empty(half)
    even_has_last, odd_has_last = np.empty(half, np.bool_), np.empty(half, np.bool_)
    for a in range(half):
        parity, rest = 0, a
        while rest:
            parity ^= 1
            rest &= rest - 1
        even_has_last[a] = parity == 1
        odd_has_last[a] = parity == 0
        even[a] = start[a + half if parity == 1 else a]
        odd[a] = start[a + half if parity == 0 else a]
    low, high = np.empty(half), np.empty(half)
    counter = np.uint64(0)
    for _ in range(sweeps):
        _update(odd, even, odd_has_last, n_bits, seed, counter, low, high)
        counter += np.uint64(half)
        _pin(even, odd, n_sources, half)
        _update(even, odd, even_has_last, n_bits, seed, counter, low, high)
        counter += np.uint64(half)
        _pin(even, odd, n_sources, half)
    values = np.empty(2 * half)
    for a in range(half):
        values[a + half if even_has_last[a] else a] = even[a]
        values[a + half if odd_has_last[a] else a] = odd[a]
    return values


@compiled
def _pin(even, odd, n_sources, half):
    """∅ stays 0 and X stays 1."""
    even[0] = 0.0
    if n_sources % 2 == 0:
        even[half - 1] = 1.0
    else:
        odd[half - 1] = 1.0


@compiled_with(steps=lambda order, uniforms, n_sources: 2.0 * 3**n_sources)
def fill_in_order(order, uniforms, n_sources):
    """Give each set in turn a value uniform between the bounds that earlier ones leave it."""
    n = 1 << n_sources
    low, high = np.zeros(n), np.ones(n)
    low[n - 1], high[0] = 1.0, 0.0
    for k in range(order.shape[0]):
        a = order[k]
        value = low[a] + uniforms[k] * (high[a] - low[a])
        low[a] = high[a] = value
        # All supersets now lie above, all subsets below.
        rest = (n - 1) ^ a
        s = rest
        while s:
            b = a | s
            if low[b] < value:
                low[b] = value
            s = (s - 1) & rest
        s = (a - 1) & a
        while s:
            if high[s] > value:
                high[s] = value
            s = (s - 1) & a
    return low


@compiled
def _is_subset(a, b):
    """Whether the set of words `a` lies inside that of `b`."""
    for w in range(a.shape[0]):
        if a[w] & ~b[w]:
            return False
    return True


def _pairs_of(words, values, asked, *rest):
    return 3.0 * len(asked) * len(words)


@compiled_with(steps=_pairs_of)
def containment_bounds(words, values, asked, lower, upper):
    """Largest value inside and smallest value around each of the sets asked for.

    The bounds begin at 0 and at the total, and are drawn together in place.
    """
    for q in range(asked.shape[0]):
        low, high = lower[q], upper[q]
        for k in range(words.shape[0]):
            if values[k] > low and _is_subset(words[k], asked[q]):
                low = values[k]
            if values[k] < high and _is_subset(asked[q], words[k]):
                high = values[k]
        lower[q], upper[q] = low, high


@compiled_with(steps=lambda words, values: 3.0 * len(words) ** 2)
def containment_witness(words, values):
    """A pair of rows, the first set inside the second, with the larger value; (-1, -1) if none."""
    for a in range(words.shape[0]):
        for b in range(words.shape[0]):
            if values[a] > values[b] and _is_subset(words[a], words[b]):
                return a, b
    return -1, -1


def _walk_bounds_arrays(inside, values, sorts, total, lower, upper):
    """As `walk_bounds`, one known set at a time for all walks."""
    n, n_sources = sorts.shape
    rows = np.arange(n)
    rank = np.empty((n, n_sources), np.int64)
    np.put_along_axis(rank, sorts, np.arange(n_sources)[None, :], axis=1)
    for k in range(values.shape[0]):
        last = np.where(inside[k], rank, -1).max(axis=1)
        absent = np.where(inside[k], n_sources, rank).min(axis=1)
        lower[rows, last] = np.maximum(lower[rows, last], values[k])
        some = np.flatnonzero(absent > 0)
        before = absent[some] - 1
        upper[some, before] = np.minimum(upper[some, before], values[k])
    np.maximum.accumulate(lower, axis=1, out=lower)
    upper[:] = np.minimum.accumulate(upper[:, ::-1], axis=1)[:, ::-1]
    lower[:, n_sources - 1] = total


def _walk_bounds_steps(inside, values, sorts, total, lower, upper):
    return len(values) * (100 + sorts.size / 30)


@compiled_with(steps=_walk_bounds_steps, plain=_walk_bounds_arrays)
def walk_bounds(inside, values, sorts, total, lower, upper):
    """Bounds of g along each walk; they begin at 0 and at the total.

    A known set lies inside A_j as soon as j has passed the rank of its last member, and around A_j
    as long as j has not passed the rank of its first absentee: one pass over the sets is enough.
    """
    n, n_sources = sorts.shape
    rank = np.empty(n_sources, np.int64)
    for r in range(n):
        for j in range(n_sources):
            rank[sorts[r, j]] = j
        for k in range(values.shape[0]):
            last_member, first_absentee = -1, n_sources
            for i in range(n_sources):
                if inside[k, i]:
                    last_member = max(last_member, rank[i])
                else:
                    first_absentee = min(first_absentee, rank[i])
            lower[r, last_member] = max(lower[r, last_member], values[k])
            if first_absentee > 0:
                upper[r, first_absentee - 1] = min(upper[r, first_absentee - 1], values[k])
        for j in range(1, n_sources):
            lower[r, j] = max(lower[r, j], lower[r, j - 1])
        for j in range(n_sources - 2, -1, -1):
            upper[r, j] = min(upper[r, j], upper[r, j + 1])
        lower[r, n_sources - 1] = total
