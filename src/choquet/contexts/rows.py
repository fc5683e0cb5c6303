"""Rows as a tree of contexts sees them: inputs by source and by rank, and what conditions ask."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from choquet.arrays import FloatArray, IntArray
from choquet.contexts.sums import Sums, sums_of
from choquet.lattice.ties import TIE, falling

RankArray = npt.NDArray[np.int16]

Leaf = Literal["rank", "source", "both"]
LEAVES: tuple[Leaf, ...] = ("rank", "source", "both")
"""What an operator may weigh: inputs by rank, by source, or both; of equals the first is taken."""


class Weights(NamedTuple):
    """Operators in the units of the data, one row each."""

    by_rank: FloatArray
    by_source: FloatArray
    bias: FloatArray


def uniform_moments(n: int) -> FloatArray:
    """Second moments of uniform inputs, largest first: a (b + 1) / ((N + 1)(N + 2)).

    Here a ≤ b are the two ranks counted from the smallest.
    """
    up = np.arange(n, 0, -1)
    low, high = np.minimum.outer(up, up), np.maximum.outer(up, up)
    return np.asarray(low * (high + 1) / ((n + 1) * (n + 2)))


def ranks_of(X: FloatArray) -> tuple[FloatArray, RankArray]:
    """Inputs by rank, largest first, and the rank of each source, from 0; ties by source number.

    Examples
    --------
    >>> import numpy as np
    >>> ordered, ranks = ranks_of(np.array([[0.2, 0.9, 0.5]]))
    >>> ordered, ranks
    (array([[0.9, 0.5, 0.2]]), array([[2, 0, 1]], dtype=int16))
    """
    sorts, ordered = falling(X)
    ranks = np.empty(X.shape, dtype=np.int16)
    np.put_along_axis(ranks, sorts, np.arange(X.shape[1], dtype=np.int16)[None, :], axis=1)
    return ordered, ranks


@dataclass(frozen=True, eq=False)
class RankRows:
    """Rows in units of the data's own spread, with what is needed to undo that.

    Attributes
    ----------
    Z : array of shape (n_rows, n_columns + 2)
        What operators weigh (inputs by source, then by rank), one, and the target, all centred and
        scaled.
    asked : array of shape (n_rows, N) or (n_rows, 2 N)
        What conditions ask: the rank of each source, from 0 for the largest input; and, where they
        may ask for a source's own value, the number of `cuts` above it.
    cuts : tuple of arrays
        Values of each source that conditions may ask for, largest first; () if they may not.
    values : array of shape (n_rows, N) or None
        Inputs as they are; None for walks, which have none.
    weight : array of shape (n_rows,)
    leaf : {"both", "rank", "source"}
    centres : array of shape (n_columns,)
        What was taken off each column.
    scale, target_centre, target_scale : float
    convex : bool
        Whether inputs and target share centre and scale, as weights on the simplex need.
    total : float or None
        What the weights of every operator sum to, without a bias; None where both are free.
    each : int
        Rows that stand for one walk, one after the other; 1 for rows of data.

    Examples
    --------
    >>> import numpy as np
    >>> rows = RankRows.from_data(np.array([[0.2, 0.9], [0.4, 0.3]]), np.array([1.0, 3.0]))
    >>> rows.ranks.tolist(), rows.target_centre, rows.n_columns
    ([[1, 0], [0, 1]], 2.0, 2)
    """

    Z: FloatArray
    asked: RankArray
    cuts: tuple[FloatArray, ...]
    values: FloatArray | None
    weight: FloatArray
    leaf: Leaf
    centres: FloatArray
    scale: float
    target_centre: float
    target_scale: float
    convex: bool
    total: float | None = None
    each: int = 1

    @classmethod
    def from_data(
        cls,
        X: FloatArray,
        y: FloatArray,
        weight: FloatArray | None = None,
        *,
        leaf: Leaf = "rank",
        convex: bool = False,
        total: float | None = None,
        n_cuts: int = 0,
    ) -> RankRows:
        """Rows from inputs and targets, weights not negative; `n_cuts` thresholds a source."""
        w = np.ones(len(X)) if weight is None else np.asarray(weight, dtype=np.float64)
        ordered, asked = ranks_of(X)
        cuts = tuple(_cuts(column, n_cuts) for column in X.T) if n_cuts else ()
        if cuts:
            codes = [np.searchsorted(-c, -x, "left") for c, x in zip(cuts, X.T, strict=True)]
            asked = np.hstack([asked, np.array(codes, dtype=np.int16).T])
        if total is not None:
            # With the mean taken off each row the sum of the weights is free: it is given.
            mean = X.mean(axis=1)
            weighed = _columns(X - mean[:, None], ordered - mean[:, None], leaf)
            spread = _spread(weighed, w)
            target = y - total * mean
            size = float(np.sqrt(w @ target**2 / w.sum())) or 1.0
            Z = np.column_stack([weighed / spread, np.zeros(len(X)), target / size])
            none = np.zeros(weighed.shape[1])
            return cls(Z, asked, cuts, X, w, leaf, none, spread, 0.0, size, convex, total)
        weighed = _columns(X, ordered, leaf)
        whole = float(w.sum())
        centres = w @ weighed / whole
        if convex:
            centres[:] = centres.mean()
        weighed = weighed - centres
        scale = _spread(weighed, w, float(np.abs(X).max(initial=0.0)))
        centre = float(centres[0]) if convex else float(w @ y / whole)
        deviation = float(np.sqrt(w @ (y - centre) ** 2 / whole))
        level = float(np.abs(y).max(initial=0.0))
        target_scale = scale if convex else deviation if deviation > 1e-12 * level else 1.0
        Z = np.column_stack([weighed / scale, np.ones(len(X)), (y - centre) / target_scale])
        return cls(Z, asked, cuts, X, w, leaf, centres, scale, centre, target_scale, convex)

    @classmethod
    def from_walks(
        cls, sorts: IntArray, weights: FloatArray, counts: FloatArray, *, leaf: Leaf = "both"
    ) -> RankRows:
        """Rows that stand for walks under independent uniform inputs.

        The inputs of a walk, sorted, have the same second moments M whatever the walk; with M = L
        Lᵀ the columns of L, N rows for each walk, have them as well, and least squares asks for no
        more. The weights of every operator sum to what those of the walks do.

        Examples
        --------
        >>> import numpy as np
        >>> walks = np.array([[0, 1], [1, 0]])
        >>> rows = RankRows.from_walks(walks, np.array([[1.0, 0.0], [1.0, 0.0]]), np.ones(2))
        >>> len(rows.Z), rows.total
        (4, 1.0)
        """
        n = sorts.shape[1]
        root = np.linalg.cholesky(uniform_moments(n))
        ordered = np.tile(root.T, (len(sorts), 1))
        places = np.repeat(np.argsort(sorts, axis=1), n, axis=0)
        X = np.take_along_axis(ordered, places, axis=1)
        y = np.einsum("ij,ij->i", ordered, np.repeat(weights, n, axis=0))
        total = float(counts @ weights.sum(axis=1) / counts.sum())
        mean = ordered.mean(axis=1)
        weighed = _columns(X - mean[:, None], ordered - mean[:, None], leaf)
        w = np.repeat(counts.astype(np.float64), n)
        target = y - total * mean
        Z = np.column_stack([weighed, np.zeros(len(X)), target])
        return cls(
            Z, places.astype(np.int16), (), None, w, leaf, np.zeros(weighed.shape[1]),
            1.0, 0.0, 1.0, False, total, n,
        )  # fmt: skip

    @property
    def n_sources(self) -> int:
        """Number of sources N."""
        return int(self.asked.shape[1]) // (2 if self.cuts else 1)

    @property
    def ranks(self) -> RankArray:
        """Rank of each source, from 0 for the largest input."""
        return self.asked[:, : self.n_sources]

    def n_codes(self, column: int) -> int:
        """Number of different answers in a column of `asked`."""
        n = self.n_sources
        return n if column < n else len(self.cuts[column - n]) + 1

    def with_leaf(self, leaf: Leaf) -> RankRows:
        """The same rows for operators that weigh less."""
        if leaf == self.leaf:
            return self
        n = self.n_sources
        kept = slice(n) if leaf == "source" else slice(n, 2 * n)
        Z = np.hstack([self.Z[:, kept], self.Z[:, -2:]])
        return replace(self, Z=Z, leaf=leaf, centres=self.centres[kept])

    @cached_property
    def sums(self) -> Sums | None:
        """Products and answers of all rows; None where they are too many to be kept."""
        return sums_of(self.Z, self.asked, self.cuts, self.each)

    @property
    def n_columns(self) -> int:
        """Number of weights of an operator."""
        return int(self.Z.shape[1] - 2)

    def everything(self) -> IntArray:
        """Numbers of all rows."""
        return np.arange(len(self.Z))

    def output(self, fitted: FloatArray, index: IntArray) -> FloatArray:
        """Fitted values of some rows in the units of the target."""
        found = self.target_centre + self.target_scale * fitted
        if self.total is not None and self.values is not None:
            found = found + self.total * self.values[index].mean(axis=1)
        return np.asarray(found)

    def in_units(self, coefficients: FloatArray) -> Weights:
        """Operators in the units of the data."""
        weights = coefficients[:, :-1] * (self.target_scale / self.scale)
        n, zeros = self.n_sources, np.zeros((len(weights), self.n_sources))
        by_source = zeros if self.leaf == "rank" else weights[:, :n]
        by_rank = zeros if self.leaf == "source" else weights[:, -n:]
        if self.total is not None:
            rest = (self.total - weights.sum(axis=1)) / n
            return Weights(by_rank + rest[:, None], by_source, np.zeros(len(weights)))
        if self.convex:
            return Weights(by_rank, by_source, np.zeros(len(weights)))
        biases = self.target_centre + self.target_scale * coefficients[:, -1]
        return Weights(by_rank, by_source, biases - weights @ self.centres)

    def from_units(self, weights: Weights) -> FloatArray:
        """Coefficients of operators by source and by rank that are given in the units of the data.

        It undoes `in_units`, for rows whose operators may weigh both.
        """
        both = np.hstack([weights.by_source, weights.by_rank])
        last = np.zeros(len(both))
        if self.total is None:
            last = (weights.bias + both @ self.centres - self.target_centre) / self.target_scale
        return np.column_stack([both * (self.scale / self.target_scale), last])


def _columns(by_source: FloatArray, by_rank: FloatArray, leaf: Leaf) -> FloatArray:
    if leaf == "both":
        return np.hstack([by_source, by_rank])
    return by_rank if leaf == "rank" else by_source


def _cuts(column: FloatArray, most: int) -> FloatArray:
    """Thresholds between the values of a column, at most so many, largest first."""
    known = np.unique(column)
    # Values that differ by rounding alone are one, and no cut is at a value: it is between two.
    known = known[np.append(True, np.diff(known) > TIE * np.abs(known).max())]
    between = (known[1:] + known[:-1]) / 2
    if len(between) > most:
        wanted = np.quantile(column, np.linspace(0, 1, most + 2)[1:-1])
        place = np.unique(np.searchsorted(known, wanted, "left"))
        between = between[place[(place > 0) & (place < len(known))] - 1]
    return np.asarray(between[::-1])


def _spread(weighed: FloatArray, weight: FloatArray, size: float = 0.0) -> float:
    """Root mean square of all columns; rounding leaves dust where nothing varies: no scale."""
    squares = weight @ np.einsum("ij,ij->i", weighed, weighed)
    spread = float(np.sqrt(squares / (weight.sum() * weighed.shape[1])))
    return spread if spread > 1e-12 * size and spread > 0 else 1.0
