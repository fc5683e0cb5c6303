"""The fewest order statistics that keep a promised worst-case error.

Operators whose cumulative weights differ by at most 2ε everywhere can be replaced by one, the
middle of their ranges, at an error of at most ε. Ranges are boxes, and boxes that meet pairwise
have a common point; so the question is the smallest number of groups in which all pairs differ by
at most 2ε: a clique cover. That is hard in general. It is answered here from above by greedy
grouping, tried in several orders, and from below by operators that pairwise differ by more than 2ε,
no two of which can share a group. Where the two meet, the number is proved to be the smallest.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from choquet.arrays import FloatArray, IntArray
from choquet.errors import OptionError

_DRAWN_ORDERS = 6
"""Orders of grouping that are tried beside the two that the operators suggest."""

_SLACK = 1e-12
"""Differences beyond the promise by this much are rounding."""


@dataclass(frozen=True, eq=False)
class Cover:
    """Groups of operators, and an order statistic for each, which need not be one of the operators.

    No cover has fewer groups than `lower_bound`.
    """

    labels: IntArray
    weights: FloatArray
    lower_bound: int

    @property
    def proved(self) -> bool:
        """Whether no smaller number of operators keeps the promise."""
        return len(self.weights) == self.lower_bound


def cover_operators(weights: FloatArray, max_error: float) -> Cover:
    """Group operators so that one order statistic for each group is never off by more.

    Examples
    --------
    >>> cover = cover_operators(np.array([[1.0, 0], [0.9, 0.1], [0, 1.0]]), 0.05)
    >>> cover.weights, cover.proved
    (array([[0.  , 1.  ],
           [0.95, 0.05]]), True)
    """
    from choquet.decomposition._kernels import group_in_order

    if not max_error >= 0:
        raise OptionError(f"max_error={max_error} must be at least 0")
    levels = np.cumsum(weights, axis=1)
    side = 2 * max_error + _SLACK
    random = np.random.default_rng(0)
    packed = _packing(levels, side)
    spread = np.argsort(levels.sum(axis=1), kind="stable")
    rest = np.setdiff1d(np.arange(len(levels)), packed)
    orders = [spread, np.concatenate([packed, rest])]
    orders += [random.permutation(len(levels)) for _ in range(_DRAWN_ORDERS)]
    best: IntArray | None = None
    for order in orders:
        # Each operator goes into the group whose box it widens least, or into a new one.
        labels = np.empty(len(order), dtype=np.int64)
        labels[order] = group_in_order(np.ascontiguousarray(levels[order]), side)
        if best is None or labels.max() < best.max():
            best = labels
        if best.max() + 1 == len(packed):
            break
    assert best is not None
    n_groups = int(best.max()) + 1
    middles = np.empty((n_groups, levels.shape[1]))
    for k in range(n_groups):
        inside = levels[best == k]
        middles[k] = (inside.min(axis=0) + inside.max(axis=0)) / 2
    return Cover(best, np.diff(middles, axis=1, prepend=0.0), len(packed))


def _packing(levels: FloatArray, side: float) -> IntArray:
    """Operators that pairwise differ by more than `side`, farthest first."""
    chosen = [int(np.abs(levels - levels.mean(axis=0)).max(axis=1).argmax())]
    away = np.abs(levels - levels[chosen[0]]).max(axis=1)
    while away.max() > side:
        chosen.append(int(away.argmax()))
        away = np.minimum(away, np.abs(levels - levels[chosen[-1]]).max(axis=1))
    return np.array(chosen)
