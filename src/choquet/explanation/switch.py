"""What would change the operator: the nearest input whose walk has another one.

To bring an input into another sort, each pair of sources that stands the other way round there must
meet, and meets soonest halfway. So the least change of all inputs (in the largest single change) is
half the largest gap among those pairs, and it is exact for every sort.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from choquet.arrays import FloatArray, IntArray
from choquet.decomposition import Decomposition
from choquet.explanation.abstract import PlainData
from choquet.explanation.phrases import SPOKEN, figure
from choquet.walks import all_sorts

_LISTED = 8
"""Sources up to which all sorts are listed; beyond, they are searched from the nearest on."""

_BUDGET = 4_000
"""Sorts that a search looks at before it gives up."""

_BATCH = 256
"""Sorts whose operator is asked for at a time."""


@dataclass(frozen=True, eq=False)
class Switch(PlainData):
    """The smallest change of inputs that leads to another operator.

    Attributes
    ----------
    operator : int
        The operator on the other side.
    change : float
        No input has to move by more than this to reach the border, and by less none suffices. Any
        more, and the other operator decides.
    pair : tuple of two ints
        The sources that swap last: the first is above the second now.
    sort : array of N ints
        The sort on the other side.
    inputs : array of N floats
        A point on the border, by source.
    exact : bool
        Whether no smaller change can do, rather than none among the sorts that were looked at.
    """

    operator: int
    change: float
    pair: tuple[int, int]
    sort: IntArray
    inputs: FloatArray
    exact: bool


def moves_text(switch: Switch, sources: Sequence[str], inputs: FloatArray) -> str:
    """Where a switch happens, as the inputs that move: for sources in units of their own.

    Examples
    --------
    >>> x = np.array([0.9, 0.4, 0.2])
    >>> moves_text(switch_to(x, np.array([1, 0, 2]), 0), ["gpr", "ir", "emi"], x)
    'just beyond gpr at 0.65 instead of 0.9, ir at 0.65 instead of 0.4'
    """
    moved = np.flatnonzero(np.abs(switch.inputs - inputs) > 1e-12 * (1 + np.abs(inputs)))
    if not len(moved):
        return "at once: the inputs are on the border"
    parts = [
        f"{sources[i]} at {figure(switch.inputs[i], 4)} instead of {figure(inputs[i], 4)}"
        for i in moved[:SPOKEN]
    ]
    more = len(moved) - SPOKEN
    return "just beyond " + ", ".join(parts) + (f" and {more} more moves" if more > 0 else "")


def smallest_switch(
    decomposition: Decomposition, x: FloatArray, sort: IntArray, operator: int
) -> Switch | None:
    """Nearest sort with another operator, or None if none was found.

    Up to 8 sources all sorts are compared. Beyond, sorts are visited by adjacent swaps from the
    sample's own, the nearest first: what is found is the nearest, but the search may end, after
    4,000 sorts, without an answer.

    Examples
    --------
    >>> from choquet import Measure, decompose
    >>> d = decompose(Measure([0, 0, 1, 1, 1, 1, 1, 1], sources=["gpr", "ir", "emi"]))
    >>> switch = smallest_switch(d, np.array([0.9, 0.4, 0.2]), np.array([0, 1, 2]), 1)
    >>> round(switch.change, 6), switch.pair, switch.sort.tolist(), switch.operator
    (0.25, (0, 1), [1, 0, 2], 0)
    """
    if decomposition.n_operators == 1:
        return None
    for sorts in _listed(x) if len(x) <= _LISTED else _searched(x, sort):
        labels = decomposition.operator_of_sorts(sorts)
        other = np.flatnonzero(labels != operator)
        if len(other):
            return switch_to(x, sorts[other[0]], int(labels[other[0]]))
    return None


def switch_to(x: FloatArray, sort: IntArray, operator: int) -> Switch:
    """The smallest change that brings inputs to the border of a sort, where an operator decides.

    Examples
    --------
    >>> switch_to(np.array([0.9, 0.4, 0.2]), np.array([1, 0, 2]), 0).inputs
    array([0.65, 0.65, 0.2 ])
    """
    ordered = x[sort]
    before = np.minimum.accumulate(ordered)
    after = np.maximum.accumulate(ordered[::-1])[::-1]
    # Halfway between the least before and the largest after: the nearest descending sequence.
    moved = np.empty_like(x)
    moved[sort] = (before + after) / 2
    at = int((after - before).argmax())
    low = int(sort[: at + 1][ordered[: at + 1].argmin()])
    high = int(sort[at:][ordered[at:].argmax()])
    if low == high:  # tied inputs: the sample is on the border already
        own = np.argsort(-x, kind="stable")
        first = int(np.flatnonzero(own != sort)[0])
        low, high = int(sort[first]), int(own[first])
    change = float(after[at] - before[at]) / 2
    return Switch(operator, max(change, 0.0), (high, low), sort, moved, True)


def _listed(x: FloatArray) -> Iterator[IntArray]:
    """All sorts, nearest first."""
    sorts = all_sorts(len(x))
    ordered = x[sorts]
    gaps = np.maximum.accumulate(ordered[:, ::-1], axis=1)[:, ::-1] - np.minimum.accumulate(
        ordered, axis=1
    )
    nearest = np.argsort(gaps.max(axis=1), kind="stable")
    for start in range(0, len(nearest), _BATCH):
        yield sorts[nearest[start : start + _BATCH]]


def _searched(x: FloatArray, sort: IntArray) -> Iterator[IntArray]:
    """Sorts by best-first search over adjacent swaps: gaps only grow on the way, so order holds."""
    start = tuple(int(i) for i in sort)
    queue: list[tuple[float, tuple[int, ...]]] = [(0.0, start)]
    seen = {start}
    batch: list[tuple[int, ...]] = []
    for _ in range(_BUDGET):
        if not queue:
            break
        gap, current = heapq.heappop(queue)
        batch.append(current)
        for j in range(len(current) - 1):
            upper, lower = current[j], current[j + 1]
            swapped = (*current[:j], lower, upper, *current[j + 2 :])
            if x[upper] >= x[lower] and swapped not in seen:
                seen.add(swapped)
                heapq.heappush(queue, (max(gap, float(x[upper] - x[lower])), swapped))
        if len(batch) == _BATCH:
            yield np.array(batch, dtype=np.int64)
            batch = []
    if batch:
        yield np.array(batch, dtype=np.int64)
