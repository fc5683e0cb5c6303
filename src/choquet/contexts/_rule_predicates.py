"""All conditions on ranks, as the columns that rules are searched in."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from choquet.arrays import BoolArray, FloatArray, IntArray

_ALL_RANKS = 24
"""Up to so many sources every rank is tried as a bound; beyond, the outer ones and the middle."""


@dataclass(frozen=True)
class Predicates:
    """All conditions on ranks, negations left out: "i among the top t", then "i above j", i < j.

    The bound of source i is t or j; `is_top` says which of the two kinds each one is.
    """

    source: IntArray
    bound: IntArray
    is_top: BoolArray

    @classmethod
    def of(cls, n_sources: int) -> Predicates:
        """Those of N sources, the plainest first: largest, smallest, above, then other ranks."""
        n = n_sources
        ranks = set(range(1, n))
        if n > _ALL_RANKS:
            ranks = {1, 2, 3, n // 2, n - 3, n - 2, n - 1}
        outer = [t for t in (1, n - 1) if t in ranks]
        outer = outer[: 1 if n == 2 else 2]
        rows = [(i, t, True) for t in outer for i in range(n)]
        rows += [(i, j, False) for i in range(n) for j in range(i + 1, n)] if n > 2 else []
        rows += [(i, t, True) for t in sorted(ranks - set(outer)) for i in range(n)]
        table = np.array(rows, dtype=np.int64).reshape(-1, 3)
        return cls(table[:, 0], table[:, 1], table[:, 2].astype(np.bool_))

    def __len__(self) -> int:
        return len(self.source)

    def most_telling(
        self, positions: IntArray, labels: IntArray, shares: FloatArray, most: int
    ) -> Predicates:
        """Those that by themselves say most about the labels (mutual information), as ordered."""
        ranks = np.ascontiguousarray(positions.T)
        total = np.bincount(labels, shares)
        told = np.empty(len(self))
        for k, (i, bound, top) in enumerate(zip(self.source, self.bound, self.is_top, strict=True)):
            held = ranks[i] < (bound if top else ranks[bound])
            both = np.bincount(labels, shares * held, minlength=len(total))
            told[k] = _information(np.stack([both, total - both]))
        kept = np.sort(np.argsort(-told, kind="stable")[:most])
        return Predicates(self.source[kept], self.bound[kept], self.is_top[kept])

    def matrix(self, positions: IntArray) -> npt.NDArray[np.float32]:
        """Whether each predicate holds (P rows); `positions` is the rank of every source from 0."""
        ranks = np.ascontiguousarray(positions.T)
        held = np.empty((len(self), len(positions)), dtype=np.float32)
        for row, i, bound, top in zip(held, self.source, self.bound, self.is_top, strict=True):
            row[:] = ranks[i] < (bound if top else ranks[bound])
        return held


def _information(joint: FloatArray) -> float:
    """Mutual information of a table of shares."""
    joint = np.maximum(joint, 0.0)
    expected = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0, keepdims=True)
    inside = (joint > 0) & (expected > 0)
    return float((joint[inside] * np.log(joint[inside] / expected[inside])).sum())
