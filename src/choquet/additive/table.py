"""Rows in blocks: everything that a fit needs of data is a sum over blocks.

One machine, chunks that are read again for each pass, and partitions of a cluster differ only in
who adds the blocks up, so they give the same answer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np

from choquet.additive.terms import Design, Places, Rows, Term
from choquet.arrays import BoolArray, FloatArray, IntArray

_BLOCK = 1 << 16
"""Rows of one block in memory."""
_KEPT = 1 << 26
"""Most numbers of sparse rows that stay in memory between passes."""
_GRAINS = 1e6
"""Steps of a range that tell rows apart: coarse beside what rounding moves, 1e-16 of a number."""
_BETWEEN = 1 / np.pi
"""Steps begin at no fraction of the range, where whole numbers would lie on the edge of two."""


class Block:
    """Some rows with targets and weights; sparse rows of terms are kept if asked to."""

    def __init__(
        self, X: FloatArray, y: FloatArray, weight: FloatArray, *, keep: bool = False
    ) -> None:
        self.X, self.y, self.weight = X, y, weight
        self.places = Places(X)
        self._rows: dict[int, tuple[Term, Rows]] | None = {} if keep else None
        self._last: tuple[Design, Rows] | None = None
        self._scores: dict[int, tuple[FloatArray, FloatArray]] = {}

    def rows(self, term: Term) -> Rows:
        """Sparse rows of a term."""
        if self._rows is None:
            return term.rows(self.places)
        kept = self._rows.get(id(term))
        if kept is None:
            kept = self._rows[id(term)] = (term, term.rows(self.places))
        return kept[1]

    def design(self, design: Design) -> Rows:
        """Sparse rows of all terms of a design, side by side."""
        if self._last is not None and self._last[0] is design:
            return self._last[1]
        found = design.side_by_side([self.rows(term) for term in design.terms], len(self.X))
        if self._rows is not None:
            self._last, self._scores = (design, found), {}
        return found

    def scores(self, design: Design, betas: Sequence[FloatArray]) -> FloatArray:
        """Sums of the terms of a design for several lists of numbers, (n_lists, n).

        The sums of the lists asked for last are kept: of many classes one changes at a time. Lists
        are told apart by being the same array, so no one may write into them.
        """
        rows, known, found = self.design(design), self._scores, {}
        for beta in betas:
            found[id(beta)] = known.get(id(beta)) or (beta, rows(design.values(beta)))
        if self._rows is not None:
            self._scores = found
        return np.stack([found[id(beta)][1] for beta in betas])

    def where(self, kept: BoolArray) -> Block:
        """The rows of some place in a block of their own."""
        return Block(self.X[kept], self.y[kept], self.weight[kept], keep=self._rows is not None)


class Table:
    """A collection of blocks. `total` is all that a fit ever calls."""

    def blocks(self) -> Iterator[Block]:
        """The blocks, one after the other."""
        raise NotImplementedError

    def total(self, function: Callable[[Block], tuple[Any, ...]]) -> tuple[Any, ...]:
        """Sum of what the function gives for each block, part by part."""
        return added(function(block) for block in self.blocks())

    @property
    def weight(self) -> float:
        """Weight of all rows."""
        return float(self.total(lambda block: (block.weight.sum(),))[0])


def added(parts: Iterable[tuple[Any, ...]]) -> tuple[Any, ...]:
    """Sums of several, place by place."""
    return reduce(lambda left, right: tuple(a + b for a, b in zip(left, right, strict=True)), parts)


class Memory(Table):
    """Rows that are in memory."""

    def __init__(self, X: FloatArray, y: FloatArray, weight: FloatArray) -> None:
        keep = len(X) * X.shape[1] * 8 < _KEPT
        starts = range(0, max(len(X), 1), _BLOCK)
        cut = [slice(k, k + _BLOCK) for k in starts]
        self._blocks = [Block(X[s], y[s], weight[s], keep=keep) for s in cut]

    def blocks(self) -> Iterator[Block]:
        """The blocks, one after the other."""
        return iter(self._blocks)

    def part(self, keep: Callable[[Block], BoolArray]) -> Memory:
        """The rows that a function of each block keeps."""
        made = Memory.__new__(Memory)
        made._blocks = [block.where(keep(block)) for block in self._blocks]
        return made

    def folds(self, n_folds: int) -> Iterator[tuple[Memory, Memory]]:
        """Rows to learn from, and those held out, for folds by the content of rows."""
        numbers = RowHash.of(self)
        for fold in range(n_folds):

            def inside(block: Block, fold: int = fold) -> BoolArray:
                return np.asarray(numbers(block) // 7 % n_folds == fold)

            yield self.part(lambda block: ~inside(block)), self.part(inside)


@dataclass(frozen=True)
class Chunks(Table):
    """Rows that are read again for each pass.

    Attributes
    ----------
    read : callable
        Gives an iterable of (X, y, weight), always the same.
    """

    read: Callable[[], Iterable[tuple[FloatArray, FloatArray, FloatArray]]]

    def blocks(self) -> Iterator[Block]:
        """The blocks, one after the other."""
        for chunk in self.read():
            for k in range(0, len(chunk[0]), _BLOCK):
                yield Block(*(column[k : k + _BLOCK] for column in chunk))


class Span:
    """Least and largest value of each row of an array, missing ones aside. Add with ``+``."""

    def __init__(self, values: FloatArray) -> None:
        self.low = np.fmin.reduce(values, axis=-1, initial=np.inf)
        self.high = np.fmax.reduce(values, axis=-1, initial=-np.inf)

    def __add__(self, other: Span) -> Span:
        self.low = np.minimum(self.low, other.low)
        self.high = np.maximum(self.high, other.high)
        return self


@dataclass(frozen=True, eq=False)
class RowHash:
    """A number for each row by its content: equal rows have equal numbers, whatever their place.

    Columns and targets count by where they stand in their range, to a millionth of it, so that the
    numbers, and the folds that are made of them, are the same in other units.

    References
    ----------
    Steele, Lea & Flood (2014), "Fast splittable pseudorandom number generators".

    Examples
    --------
    >>> X = np.array([[1.0, 2.0], [3.0, 4.0], [1.0, 2.0]])
    >>> rows, scaled = (Memory(part, np.zeros(3), np.ones(3)) for part in (X, 0.3 * X))
    >>> h = RowHash.of(rows)(next(rows.blocks()))
    >>> bool(h[0] == h[2] != h[1])
    True
    >>> bool((h == RowHash.of(scaled)(next(scaled.blocks()))).all())
    True
    """

    low: FloatArray
    unit: FloatArray

    @classmethod
    def of(cls, table: Table) -> RowHash:
        """For the rows of a table."""
        (span,) = table.total(lambda block: (Span(np.vstack([block.X.T, block.y])),))
        known = span.high > span.low
        unit = (np.where(known, span.high, 1.0) - np.where(known, span.low, 0.0)) / _GRAINS
        return cls(np.where(known, span.low, 0.0), unit)

    def __call__(self, block: Block) -> IntArray:
        """Numbers of the rows of a block, from 0 to 2**63 - 1."""
        z = np.zeros(len(block.X), dtype=np.uint64)
        with np.errstate(over="ignore"):
            for column, low, unit in zip((*block.X.T, block.y), self.low, self.unit, strict=True):
                place = np.floor((column - low) / unit + _BETWEEN)
                z ^= np.where(np.isnan(place), -1.0, place + 0.0).view(np.uint64)
                z += np.uint64(0x9E3779B97F4A7C15)
                z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
                z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
                z = z ^ (z >> np.uint64(31))
        return (z >> np.uint64(1)).astype(np.int64)
