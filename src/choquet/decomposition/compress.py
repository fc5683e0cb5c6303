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
    """Groups of operators, and one order statistic for each.

    Attributes
    ----------
    labels : array of n ints
        Group of each operator.
    weights : array of shape (k, N)
        The order statistic of each group: it need not be one of the operators.
    lower_bound : int
        No cover has fewer groups than this.
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

    Parameters
    ----------
    weights : array of shape (n, N)
        Operators, by rank.
    max_error : float
        The promise: largest difference of output over inputs in [0, 1].

    Examples
    --------
    >>> cover = cover_operators(np.array([[1.0, 0], [0.9, 0.1], [0, 1.0]]), 0.05)
    >>> cover.weights, cover.proved
    (array([[0.  , 1.  ],
           [0.95, 0.05]]), True)
    """
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
        labels = _group_in_order(levels, order, side)
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


def _group_in_order(levels: FloatArray, order: IntArray, side: float) -> IntArray:
    """Put each operator into the group whose box it widens least, or into a new one."""
    from choquet.decomposition._kernels import group_in_order

    labels = group_in_order(np.ascontiguousarray(levels[order]), side)
    result = np.empty_like(labels)
    result[order] = labels
    return result
