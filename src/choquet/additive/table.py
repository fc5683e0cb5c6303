"""Rows in blocks: everything that a fit needs of data is a sum over blocks.

One machine, chunks that are read again for each pass, and partitions of a cluster differ only in
who adds the blocks up, so they give the same answer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np

from choquet.additive.terms import Design, Places, Rows, Term
from choquet.arrays import BoolArray, FloatArray, IntArray

__all__ = ["Block", "Chunks", "Memory", "Part", "Table", "row_hash"]

_BLOCK = 1 << 16
"""Rows of one block in memory."""
_KEPT = 1 << 26
"""Most numbers of sparse rows that stay in memory between passes."""


class Block:
    """Some rows with targets and weights; sparse rows of terms are kept if asked to."""

    def __init__(
        self, X: FloatArray, y: FloatArray, weight: FloatArray, *, keep: bool = False
    ) -> None:
        self.X, self.y, self.weight = X, y, weight
        self.places = Places(X)
        self._rows: dict[int, tuple[Term, Rows]] | None = {} if keep else None
        self._last: tuple[Design, Rows] | None = None

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
        made = [self.rows(term) for term in design.terms]
        if not made:
            return design.rows(self.places)
        index = [rows.index + cut for rows, cut in zip(made, design.grid_cuts, strict=False)]
        found = Rows(np.hstack(index), np.hstack([rows.share for rows in made]))
        if self._rows is not None:
            self._last = (design, found)
        return found

    def forget(self, terms: Iterable[Term]) -> None:
        """Give up the rows of terms that are not needed again."""
        for term in terms:
            if self._rows is not None:
                self._rows.pop(id(term), None)

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
        return reduce(_add, (function(block) for block in self.blocks()))

    def part(self, keep: Callable[[Block], BoolArray]) -> Table:
        """The rows that a function of each block keeps."""
        return Part(self, keep)


def _add(left: tuple[Any, ...], right: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(a + b for a, b in zip(left, right, strict=True))


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

    def part(self, keep: Callable[[Block], BoolArray]) -> Table:
        """The rows that a function of each block keeps."""
        made = Memory.__new__(Memory)
        made._blocks = [block.where(keep(block)) for block in self._blocks]
        return made


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


@dataclass(frozen=True)
class Part(Table):
    """Those rows of a table that a function of each block keeps."""

    whole: Table
    keep: Callable[[Block], BoolArray]

    def blocks(self) -> Iterator[Block]:
        """The blocks, one after the other."""
        return (block.where(self.keep(block)) for block in self.whole.blocks())

    def total(self, function: Callable[[Block], tuple[Any, ...]]) -> tuple[Any, ...]:
        """Sum over the rows that are kept."""
        return self.whole.total(lambda block: function(block.where(self.keep(block))))


def row_hash(X: FloatArray, y: FloatArray) -> IntArray:
    """A number for each row by its content: equal rows have equal numbers, whatever their place.

    References
    ----------
    Steele, Lea & Flood (2014), "Fast splittable pseudorandom number generators".

    Examples
    --------
    >>> X = np.array([[1.0, 2.0], [3.0, 4.0], [1.0, 2.0]])
    >>> h = row_hash(X, np.zeros(3))
    >>> bool(h[0] == h[2] != h[1])
    True
    """
    z = np.zeros(len(X), dtype=np.uint64)
    with np.errstate(over="ignore"):
        for column in (*X.T, y):
            z ^= (np.ascontiguousarray(column, dtype=np.float64) + 0.0).view(np.uint64)
            z += np.uint64(0x9E3779B97F4A7C15)
            z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
            z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
            z = z ^ (z >> np.uint64(31))
    return (z >> np.uint64(1)).astype(np.int64)
