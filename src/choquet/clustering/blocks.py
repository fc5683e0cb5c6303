"""Sums over blocks of an iVAT image in constant time, from two vectors and without the image."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from choquet.arrays import FloatArray, as_vector
from choquet.errors import DataError

if TYPE_CHECKING:
    from choquet.clustering._kernels_blocks import Tables


@dataclass(frozen=True, eq=False)
class BlockSums:
    """Prefix tables over the heights of an iVAT order.

    In that order iVAT[i, j] = max(heights[i+1..j]) for i < j. The pairs of a block [a, b) are split
    at its highest position p: those across p all have that value, and those on one side of it are
    differences of prefix sums. Building takes O(n log n), every question O(1).

    Parameters
    ----------
    heights : array-like of shape (n,)
        Height at which each position is attached; the first is not used.
    weights : array-like of shape (n,), optional
        How many copies of a position there are; one of each when not given. Copies have
        dissimilarity 0 to each other.

    Examples
    --------
    >>> sums = BlockSums([0.0, 0.2, 0.7])
    >>> round(sums.within(0, 3), 12)     # 0.2 + 0.7 + 0.7
    1.6
    >>> round(sums.edge(0, 2, 3), 12)    # (0.5 + 0.7 + 0.7) / 3 rows
    0.633333333333
    """

    heights: npt.ArrayLike
    weights: npt.ArrayLike | None = None
    tables: Tables = field(init=False, repr=False)
    """Arrays for the compiled code."""

    def __post_init__(self) -> None:
        from choquet.clustering._kernels_blocks import build

        heights = as_vector(self.heights, "heights")
        n = len(heights)
        weights = np.ones(n) if self.weights is None else as_vector(self.weights, "weights", n)
        if n == 0:
            raise DataError("heights must hold at least one position")
        if (heights < 0).any() or (weights <= 0).any():
            raise DataError(
                f"heights must be ≥ 0 and weights > 0; the smallest are {heights.min()} and "
                f"{weights.min()}"
            )
        heights[0] = 0.0
        object.__setattr__(self, "heights", heights)
        object.__setattr__(self, "weights", weights)
        object.__setattr__(self, "tables", build(heights, weights))

    @property
    def n_positions(self) -> int:
        """Number of positions, copies not counted."""
        return len(self.tables[0])

    @property
    def before(self) -> FloatArray:
        """Total weight before each position, with the total at the end."""
        return self.tables[1]

    def within(self, a: int, b: int) -> float:
        """Sum of iVAT over all pairs of copies in positions a..b-1."""
        from choquet.clustering._kernels_blocks import within

        self._check(a, b)
        return float(within(self.tables, a, b))

    def between(self, a: int, b: int, c: int, d: int) -> float:
        """Sum of iVAT over all copies in rows a..b-1 and columns c..d-1, for b ≤ c."""
        self._check(a, b)
        self._check(b, c)
        self._check(c, d)
        total = self.within(a, d) - self.within(a, c) - self.within(b, d) + self.within(b, c)
        return max(0.0, total)

    def edge(self, a: int, m: int, b: int) -> float:
        """Mean absolute step from iVAT[i, m-1] to iVAT[i, m] over rows a..b-1, for a < m < b."""
        from choquet.clustering._kernels_blocks import edge

        self._check(a, b)
        if not a < m < b:
            raise DataError(f"a cut at {m} does not lie inside the block [{a}, {b})")
        return float(edge(self.tables, a, m, b))

    def _check(self, a: int, b: int) -> None:
        if not 0 <= a <= b <= self.n_positions:
            raise DataError(f"[{a}, {b}) is no block of {self.n_positions} positions")
