"""The nearest input in another context, when contexts are conditions on ranks.

Changing no input by more than half of a gap, the sorts that can be reached are those in which a
source that is larger by more than the gap stays before. A context asks some sources to come early
or late, and some before others. So the question is one of scheduling: jobs of one unit on one
machine with release times, deadlines and precedences, which taking the earliest deadline first
answers exactly once the dates are consistent with the precedences. The least gap is found by
bisection.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from choquet.arrays import FloatArray, IntArray
from choquet.contexts.conditions import Condition, Rule
from choquet.decomposition import Decomposition
from choquet.explanation.switch import Switch, switch_to


@dataclass(frozen=True)
class _Jobs:
    """Places that each source, counted from the largest input down, may take."""

    first: list[int]
    last: list[int]
    before: list[tuple[int, int]]


def nearest_context(model: Decomposition, x: FloatArray, leaves: Sequence[int]) -> Switch | None:
    """The smallest change of inputs that leads to one of these leaves; None if there are none.

    None as well where contexts ask for values of sources: only orders are searched.

    Examples
    --------
    >>> import numpy as np
    >>> from choquet import ContextualRegressor
    >>> X = np.random.default_rng(0).random((300, 3))
    >>> y = np.where(X[:, 0] == X.max(axis=1), np.median(X, axis=1), X.max(axis=1))
    >>> model = ContextualRegressor(convex=True, l2=0.0).fit(X, y).decomposition_
    >>> found = nearest_context(model, np.array([0.9, 0.4, 0.2]), [2])
    >>> round(found.change, 6), found.pair, found.sort.tolist()
    (0.25, (0, 1), [1, 0, 2])
    """
    tree, contexts = model.tree, model.leaves
    if not leaves or tree is None or tree.has_thresholds:
        return None
    space = _Space(x)
    best: tuple[int, int] | None = None
    for leaf in leaves:
        at = space.least_gap(contexts[leaf], len(space.gaps) if best is None else best[0])
        if at is not None:
            best = (at, leaf)
    if best is None:
        return None
    context = contexts[best[1]]
    return switch_to(x, space.sort(context, best[0]), context.operator)


def nearest_sort(x: FloatArray, conditions: Sequence[Condition]) -> IntArray | None:
    """The nearest sort in which all conditions hold; None if they contradict each other.

    Examples
    --------
    >>> import numpy as np
    >>> nearest_sort(np.array([0.9, 0.5, 0.1]), [Condition(2, top=2)])
    array([0, 2, 1])
    """
    space, rule = _Space(x), Rule(tuple(conditions), 0, 0.0, 1.0)
    at = space.least_gap(rule, len(space.gaps))
    return None if at is None else space.sort(rule, at)


class _Space:
    """Gaps of one sample, and the sorts within reach of each."""

    def __init__(self, x: FloatArray) -> None:
        self.order = np.argsort(-x, kind="stable")
        values = x[self.order]
        self.n = len(x)
        self.away = values[:, None] - values[None, :]
        self.gaps = np.unique(self.away[np.triu_indices(self.n)])
        self.place = np.argsort(self.order)

    def jobs(self, rule: Rule) -> _Jobs:
        first, last = [0] * self.n, [self.n - 1] * self.n
        before = []
        for condition in rule.conditions:
            at = int(self.place[condition.source])
            if condition.above is not None:
                pair = (at, int(self.place[condition.above]))
                before.append(pair[::-1] if condition.negated else pair)
            elif condition.negated:
                first[at] = max(first[at], condition.top or 1)
            else:
                last[at] = min(last[at], (condition.top or 1) - 1)
        return _Jobs(first, last, before)

    def least_gap(self, rule: Rule, below: int) -> int | None:
        """Number of the least gap, under `below`, that is enough; None if none is."""
        jobs = self.jobs(rule)
        low, high = -1, below - 1
        if high < 0 or self.schedule(jobs, high) is None:
            return None
        while high - low > 1:
            middle = (low + high) // 2
            if self.schedule(jobs, middle) is None:
                low = middle
            else:
                high = middle
        return high

    def sort(self, rule: Rule, at: int) -> IntArray:
        """Sources in order, with no pair swapped that need not be."""
        jobs = self.jobs(rule)
        found = self.schedule(jobs, at)
        assert found is not None
        return self.order[_settled(found, jobs)]

    def schedule(self, jobs: _Jobs, at: int) -> list[int] | None:
        """Places in order, the earliest deadline first; None if some deadline cannot be met."""
        larger = self.away > self.gaps[at]
        dates = _consistent(
            jobs, larger.sum(axis=0).tolist(), (self.n - larger.sum(axis=1)).tolist()
        )
        if dates is None:
            return None
        first, last = dates
        coming = sorted(range(self.n), key=lambda k: (first[k], k))
        ready: list[tuple[int, int]] = []
        found: list[int] = []
        next_ = 0
        for slot in range(self.n):
            while next_ < self.n and first[coming[next_]] <= slot:
                heapq.heappush(ready, (last[coming[next_]], coming[next_]))
                next_ += 1
            if not ready or ready[0][0] < slot:
                return None
            found.append(heapq.heappop(ready)[1])
        return found


def _consistent(
    jobs: _Jobs, n_before: list[int], start_after: list[int]
) -> tuple[list[int], list[int]] | None:
    """Dates in which no job comes before what must precede it.

    The first `n_before[k]` jobs precede job k, which precedes those from `start_after[k]` on.
    """
    n = len(n_before)
    first, last = jobs.first.copy(), jobs.last.copy()
    for _ in range(n + 1):
        settled = True
        latest = [-1] * (n + 1)
        for k in range(n):
            if first[k] <= latest[n_before[k]]:
                first[k], settled = latest[n_before[k]] + 1, False
            latest[k + 1] = max(latest[k], first[k])
        earliest = [n] * (n + 1)
        for k in reversed(range(n)):
            if last[k] >= earliest[start_after[k]]:
                last[k], settled = earliest[start_after[k]] - 1, False
            earliest[k] = min(earliest[k + 1], last[k])
        for a, b in jobs.before:
            if first[b] <= first[a]:
                first[b], settled = first[a] + 1, False
            if last[a] >= last[b]:
                last[a], settled = last[b] - 1, False
        if settled:
            return first, last
        if max(first) >= n or min(last) < 0:
            return None
    return None


def _settled(places: list[int], jobs: _Jobs) -> list[int]:
    """Swap neighbours back into their old order wherever the conditions allow it."""
    found, fixed = list(places), set(jobs.before)
    moved = True
    while moved:
        moved = False
        for j in range(len(found) - 1):
            a, b = found[j], found[j + 1]
            free = (a, b) not in fixed and jobs.last[a] > j and jobs.first[b] <= j
            if a > b and free:
                found[j], found[j + 1], moved = b, a, True
    return found
