"""Walks that meet supported subsets only, or almost only, for any number of sources.

The supported subsets and their containments form a graph from ∅ to X; a walk that is supported
throughout is a path of steps by one source. A step by d sources passes d - 1 unsupported subsets.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from choquet.arrays import IntArray, generator
from choquet.errors import TooLargeError
from choquet.lattice.wide import WordArray, find_rows, membership, pack, unique_rows

_BLOCK = 8_000_000
_MAX_COMPARED = 30_000
"""Subsets up to which steps by several sources are looked for: all pairs are compared."""


class SupportedPaths:
    """Paths from ∅ to X through given subsets, counted, listed and drawn.

    A walk may pass so many other subsets in all as are `allowed`.

    Attributes
    ----------
    n_walks : int
        Number of paths, exact. A step by several sources counts once, whatever their order.

    Examples
    --------
    >>> paths = SupportedPaths(np.array([[1], [2], [3]], dtype=np.uint64), 3)
    >>> paths.n_walks, paths.sorts(10).tolist()
    (2, [[0, 1, 2], [1, 0, 2]])
    """

    def __init__(self, words: WordArray, n_sources: int, allowed: int = 0) -> None:
        ends = pack(np.array([[False] * n_sources, [True] * n_sources]))
        table = unique_rows(np.concatenate([words.reshape(-1, ends.shape[1]), ends]))[0]
        sizes = np.bitwise_count(table).sum(axis=1).astype(np.int64)
        order = np.argsort(sizes, kind="stable")
        self._words, self._sizes = table[order], sizes[order]
        self.n_sources, self.allowed = n_sources, allowed
        lower, upper = self._steps(table, order)
        self._above: list[list[int]] = [[] for _ in order]
        for a, b in zip(lower.tolist(), upper.tolist(), strict=True):
            self._above[a].append(b)
        # Paths from each subset to X that pass exactly u more unsupported subsets.
        self._counts = [[0] * (allowed + 1) for _ in order]
        self._counts[-1][0] = 1
        for a in range(len(order) - 2, -1, -1):
            mine, size = self._counts[a], int(self._sizes[a])
            for b in self._above[a]:
                missed = int(self._sizes[b]) - size - 1
                for u, count in enumerate(self._counts[b][: allowed + 1 - missed]):
                    mine[u + missed] += count
        self.n_walks: int = sum(self._counts[0])

    def _steps(self, table: WordArray, order: IntArray) -> tuple[IntArray, IntArray]:
        """Pairs (smaller, larger) of subsets, by position in order of size."""
        place = np.empty(len(order), dtype=np.int64)
        place[order] = np.arange(len(order))
        inside = membership(table, self.n_sources)
        lower, upper = [], []
        for i in range(self.n_sources):
            with_i = np.flatnonzero(inside[:, i])
            rest = table[with_i].copy()
            rest[:, i // 64] &= ~(np.uint64(1) << np.uint64(i % 64))
            found = find_rows(table, rest)
            lower.append(place[found[found >= 0]])
            upper.append(place[with_i[found >= 0]])
        if self.allowed:
            more = self._long_steps()
            lower.append(more[:, 0])
            upper.append(more[:, 1])
        return np.concatenate(lower), np.concatenate(upper)

    def _long_steps(self) -> IntArray:
        words, sizes = self._words, self._sizes
        if len(words) > _MAX_COMPARED:
            raise TooLargeError(
                f"{len(words):,} supported subsets are too many to look for partly supported "
                f"walks (at most {_MAX_COMPARED:,}); use epsilon=0"
            )
        found = []
        for a in range(len(words)):
            # Subsets are in order of size, so those that can follow stand together.
            start, stop = np.searchsorted(sizes, [sizes[a] + 2, sizes[a] + self.allowed + 2])
            missing = (words[a] & ~words[start:stop]).any(axis=1)
            above = start + np.flatnonzero(~missing)
            found.append(np.column_stack([np.full(len(above), a), above]))
        return np.concatenate(found)

    def sorts(self, most: int, rng: Any = None) -> IntArray:
        """All walks if there are at most so many, else so many drawn uniformly.

        Sources of a step by several come in the order of their numbers.
        """
        chains = self._listed() if self.n_walks <= most else self._drawn(most, rng)
        inside = membership(self._words, self.n_sources)
        found = []
        for chain in chains:
            steps = [np.flatnonzero(inside[b] & ~inside[a]) for a, b in chain]
            found.append(np.concatenate(steps))
        return np.array(found, dtype=np.int64).reshape(-1, self.n_sources)

    def _listed(self) -> Iterator[list[tuple[int, int]]]:
        last = len(self._words) - 1
        pending: list[tuple[int, int, list[tuple[int, int]]]] = [(0, self.allowed, [])]
        while pending:
            at, left, chain = pending.pop()
            if at == last:
                yield chain
                continue
            onward = reversed(self._onward(at, left))
            pending += [(b, rest, [*chain, (at, b)]) for b, rest, _ in onward]

    def _onward(self, at: int, left: int) -> list[tuple[int, int, int]]:
        """Subsets that lead on, how many others may be passed from there, and in how many ways."""
        found = []
        for b in self._above[at]:
            rest = left - (int(self._sizes[b]) - int(self._sizes[at]) - 1)
            ways = sum(self._counts[b][: rest + 1]) if rest >= 0 else 0
            if ways:
                found.append((b, rest, ways))
        return found

    def _drawn(self, n: int, rng: Any) -> Iterator[list[tuple[int, int]]]:
        random = generator(rng)
        last = len(self._words) - 1
        for _ in range(n):
            at, left, chain = 0, self.allowed, []
            while at != last:
                onward = self._onward(at, left)
                total = sum(ways for *_, ways in onward)
                shares = np.cumsum([ways / total for *_, ways in onward])
                pick = min(int(np.searchsorted(shares, random.random())), len(onward) - 1)
                b, left, _ = onward[pick]
                chain.append((at, b))
                at = b
            yield chain
