"""The best CLODD partition by proof: enumeration, dynamic programs, branch and bound.

For fixed numbers c of blocks and a least block size, let w be the number of pairs within blocks
and S the sum over them; T and P are the sum and the number of all pairs.

* α = 1: (T-S)/(P-w) - S/w ≥ v is T w - P S - v P w + v w² ≥ 0, which is convex in (w, S) for
  v ≥ 0 and falls with S. So the optimum is a vertex of the lower convex hull of all (w, S), and a
  dynamic program finds each vertex from its slope.
* α < 1: on an interval of w, T/(P-w) lies under its chord and P/(w(P-w)) above its minimum, which
  leaves an objective that is additive over blocks and cuts. A dynamic program bounds it, with a
  multiplier for staying in the interval. If few partitions can still beat the best one they are
  listed from the same tables; otherwise the interval is split.

The size penalty is treated by intervals of the least size: over sizes l..l' it is at most its value
at l', and the rest at most its optimum for blocks of at least l.
"""

from __future__ import annotations

import heapq
import math
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from choquet.arrays import FloatArray, IntArray
from choquet.clustering.blocks import BlockSums
from choquet.errors import TooLargeError

ENUMERATE = 300_000
"""Partitions up to which all of them are simply scored: well under a second."""
LIMIT_SQUARE, LIMIT_EDGES = 720, 120
"""Distinct points up to which the dynamic programs answer in reasonable time (α = 1, α < 1)."""
TOLERANCE = 1e-9
"""Optimality is proved up to this share of the largest height."""
PINNED = 1e-4
"""Width of an interval that stands for one whole number of pairs."""
FEW_STEPS, MANY_STEPS = 200_000, 20_000_000
"""Steps for listing what a relaxation leaves open: of an interval, and when it cannot be split."""
MAX_NODES = 400
"""Intervals that branch and bound may split before it gives the proof up, per size and number."""


def exact_bounds(
    sums: BlockSums,
    alpha: float,
    reach: float,
    most: int,
    known: IntArray,
    scores: FloatArray,
    enumerate_below: int = ENUMERATE,
) -> tuple[IntArray, bool]:
    """Best boundaries and whether they are proved to be, starting from a known good answer."""
    from choquet.clustering._kernels_exact import block_tables, enumerate_all

    n = sums.n_positions
    if sum(math.comb(n - 1, c - 1) for c in range(2, most + 1)) <= enumerate_below:
        return enumerate_all(sums.tables, alpha, reach, most, scores), True
    limit = LIMIT_SQUARE if alpha == 1 else LIMIT_EDGES
    if n > limit:
        raise TooLargeError(
            f"method='exact' with alpha={alpha} proves partitions of up to {limit} distinct "
            f"points, not {n}; use method='path+local', or `big_ivat` for fewer points"
        )
    search = Search(sums, alpha, reach, known, *block_tables(sums.tables))
    search.best = search.value(known, reach)
    for c in range(2, most + 1):
        search.over_sizes(c)
    found = len(search.bounds) - 1
    scores[found] = max(scores[found], search.best)
    return search.bounds, search.proved


@dataclass
class Search:
    """State of one proof: the best answer so far, and tables of all blocks."""

    sums: BlockSums
    alpha: float
    reach: float
    bounds: IntArray
    inside: FloatArray
    lefts: FloatArray
    rights: FloatArray
    best: float = 0.0
    proved: bool = True
    pairs: float = field(init=False)
    total: float = field(init=False)

    def __post_init__(self) -> None:
        n = self.sums.before[-1]
        self.pairs = float(n * (n - 1) / 2)
        self.total = float(self.inside[0, -1])

    def smooth(self, least: float) -> float:
        """The size penalty."""
        from choquet.clustering._kernels_clodd import spline

        return float(spline(least, self.reach))

    def over_sizes(self, c: int) -> None:
        """Improve the best answer by partitions into c blocks, by intervals of the least size."""
        before = self.sums.before
        sizes = np.unique(before[None, :] - before[:, None])
        sizes = sizes[(sizes >= 1) & (sizes <= before[-1] / c)]
        if self.reach > 0:
            sizes = sizes[sizes > 1]
        # Sizes without penalty are all alike: only the smallest of them matters.
        free = np.flatnonzero([self.smooth(float(s)) >= 1 for s in sizes])
        sizes = sizes if len(free) == 0 else sizes[: free[0] + 1]
        stack = [(0, len(sizes) - 1)] if len(sizes) else []
        while stack:
            low, high = stack.pop()
            needed = self.best / self.smooth(float(sizes[high]))
            bounds = self.solve(c, float(sizes[low]), needed)
            if bounds is None:
                continue
            self.offer(bounds)
            if low < high:
                middle = (low + high) // 2
                stack += [(low, middle), (middle + 1, high)]

    def offer(self, bounds: IntArray) -> None:
        """Keep boundaries if they are better."""
        score = self.value(bounds, self.reach)
        if score > self.best:
            self.best, self.bounds = score, bounds

    def value(self, bounds: IntArray, reach: float = 0.0) -> float:
        """Objective; without a reach it has no size penalty."""
        from choquet.clustering._kernels_clodd import evaluate

        return float(evaluate(self.sums.tables, bounds, self.alpha, reach)[0])

    def solve(self, c: int, least: float, needed: float) -> IntArray | None:
        """Best c blocks of at least that size if they reach more than `needed`, else None."""
        bounds = self.on_hull(c, least) if self.alpha == 1 else self.by_branching(c, least, needed)
        if bounds is None or self.value(bounds) <= needed + TOLERANCE:
            return None
        return bounds

    def coordinates(self, bounds: IntArray) -> tuple[float, float]:
        """Pairs within blocks and the sum over them."""
        sizes = np.diff(self.sums.before[bounds])
        inside = self.inside[bounds[:-1], bounds[1:]]
        return float((sizes * (sizes - 1) / 2).sum()), float(inside.sum())

    def on_hull(self, c: int, least: float) -> IntArray | None:
        """Best of the vertices of the lower hull of (pairs, sum): the optimum for α = 1."""
        from choquet.clustering._kernels_exact import best_blocks

        def vertex(slope: float) -> tuple[float, float, IntArray]:
            bounds = best_blocks(self.sums.before, self.inside, c, least, slope)
            return (*self.coordinates(bounds), bounds)

        if len(best_blocks(self.sums.before, self.inside, c, least, 0.0)) == 0:
            return None
        steep = self.total + 1.0
        ends = [vertex(-steep), vertex(steep)]
        found, stack = list(ends), [(ends[0], ends[1])]
        while stack:
            left, right = stack.pop()
            if right[0] - left[0] < 0.5:
                continue
            slope = (right[1] - left[1]) / (right[0] - left[0])
            middle = vertex(slope)
            below = (left[1] - slope * left[0]) - (middle[1] - slope * middle[0])
            if below > 1e-12 * max(1.0, abs(left[1])):
                found.append(middle)
                stack += [(left, middle), (middle, right)]
        return max((bounds for _, _, bounds in found), key=self.value)

    def by_branching(self, c: int, least: float, needed: float) -> IntArray | None:
        """Best c blocks for α < 1, by splitting the range of w until the bounds meet."""
        total = float(self.sums.before[-1])
        large = total - (c - 1) * least
        if large < least:
            return None
        lowest = max((total * total / c - total) / 2, 1.0)
        highest = (large * (large - 1) + (c - 1) * least * (least - 1)) / 2
        # Pairs are whole numbers: half a unit of air keeps both ends inside.
        borders = np.geomspace(max(lowest - 0.5, 0.5), min(highest, self.pairs - 1) + 0.5, 5)
        best = Incumbent(needed)
        heap: list[tuple[float, float, float, Relaxation]] = []
        for low, high in pairwise(float(border) for border in borders):
            relaxed = self.relax(c, least, low, high, best)
            heapq.heappush(heap, (-relaxed.bound, low, high, relaxed))
        for _ in range(MAX_NODES):
            if not heap or -heap[0][0] <= best.value + TOLERANCE:
                return best.bounds
            _, low, high, relaxed = heapq.heappop(heap)
            whole = math.floor(high)
            pinned = high - low < 2 * PINNED
            if self.list_all(c, least, relaxed, best, MANY_STEPS if pinned else FEW_STEPS):
                continue
            if pinned:
                # One number of pairs is left, and more candidates for it than can be listed.
                self.proved = False
                continue
            middle = math.sqrt(low * high)
            halves = [(low, middle), (middle, high)]
            if math.ceil(low) == whole:
                halves = [(whole - PINNED / 2, whole + PINNED / 2)]
            for ends in halves:
                if math.floor(ends[1]) >= ends[0]:
                    relaxed = self.relax(c, least, *ends, best)
                    heapq.heappush(heap, (-relaxed.bound, *ends, relaxed))
        self.proved = False
        return best.bounds

    def list_all(
        self, c: int, least: float, relaxed: Relaxation, best: Incumbent, steps: int
    ) -> bool:
        """Score every partition that the relaxation leaves open; whether that was possible."""
        from choquet.clustering._kernels_exact import list_above, prefix_values

        terms = (relaxed.slope, relaxed.price, (1.0 - self.alpha) / (c - 1))
        blocks = (self.inside, self.lefts, self.rights)
        values = prefix_values(self.sums.before, *blocks, c, least, *terms)
        above = best.value + TOLERANCE
        complete, value, bounds = list_above(
            self.sums.tables, blocks, values, terms, self.alpha, above, relaxed.constant, steps
        )
        if len(bounds):
            best.offer(bounds, value)
        return bool(complete)

    def relax(self, c: int, least: float, low: float, high: float, best: Incumbent) -> Relaxation:
        """Upper bound over partitions with pairs within in low..high; offers what it meets."""
        from choquet.clustering._kernels_exact import best_path, prefix_values

        alpha, total, pairs = self.alpha, self.total, self.pairs
        at_low, at_high = total / (pairs - low), total / (pairs - high)
        chord = (at_high - at_low) / (high - low)
        ends = [low, high] + ([pairs / 2] if low < pairs / 2 < high else [])
        price = alpha * min(pairs / (w * (pairs - w)) for w in ends)
        gain = (1.0 - alpha) / (c - 1)
        blocks = (self.inside, self.lefts, self.rights)
        step = max(alpha * chord, 0.1 * price, 1e-12)
        tightest = Relaxation(math.inf, 0.0, 0.0, 0.0)
        multiplier = 0.0
        under: float | None = None
        over: float | None = None
        for attempt in range(8):
            slope = alpha * chord + multiplier
            values = prefix_values(self.sums.before, *blocks, c, least, slope, price, gain)
            value, bounds = best_path(self.sums.before, blocks, values, gain)
            if value == -math.inf:
                return Relaxation(value, slope, price, 0.0)
            limit = low if multiplier >= 0 else high
            constant = alpha * (at_low - chord * low) - multiplier * limit
            tightest = min(tightest, Relaxation(value + constant, slope, price, constant))
            best.offer(bounds, self.value(bounds))
            inside = self.coordinates(bounds)[0]
            if tightest.bound <= best.value + TOLERANCE or low <= inside <= high:
                break
            if inside < low:
                under = multiplier
            else:
                over = multiplier
            if under is not None and over is not None:
                multiplier = (under + over) / 2
            elif over is not None:
                multiplier = over - step * 2**attempt
            elif under is not None:
                multiplier = under + step * 2**attempt
        return tightest


class Relaxation(NamedTuple):
    """An objective that is additive over blocks and cuts, and nowhere below the true one."""

    bound: float
    slope: float
    price: float
    constant: float


@dataclass
class Incumbent:
    """The best value met, and its boundaries; none while only a value to beat is known."""

    value: float
    bounds: IntArray | None = None

    def offer(self, bounds: IntArray, value: float) -> None:
        """Keep boundaries if they are better."""
        if value > self.value + 1e-13:
            self.value, self.bounds = value, bounds
