"""p-symmetric measures: sources fall into blocks, and only the number of sources of each counts.

Which sources belong together is unknown. The search starts from blocks of neighbours in the order
of the sources' importance, then moves one source at a time; each trial is a least squares problem
of as many unknowns as there are combinations of numbers, from the same sums.
"""

from __future__ import annotations

from itertools import combinations
from math import comb, factorial
from typing import NamedTuple

import numpy as np

from choquet.arrays import FloatArray, IntArray
from choquet.lattice.lazy import sp
from choquet.learning.data.statistics import Statistics
from choquet.learning.families.fits import different, fit_weights, least_form, order_of_pairs
from choquet.measures.formula import members_of

MOST_BLOCKS = 3
"""Blocks that are tried; with more, hardly fewer numbers are left than all measures have."""


class Blocks(NamedTuple):
    """A p-symmetric measure.

    Attributes
    ----------
    labels : array of shape (N,)
        The block of each source.
    values : array of shape (T,)
        Values by the numbers of sources of each block, the last block's number running fastest.
    chosen : float
        Logarithm of the number of partitions that the blocks were chosen from.
    """

    labels: IntArray
    values: FloatArray
    chosen: float


def table_of(labels: IntArray, masks: IntArray) -> IntArray:
    """Place of each subset in the table of numbers of sources by block.

    Examples
    --------
    >>> table_of(np.array([0, 0, 1]), np.arange(8))
    array([0, 2, 2, 4, 1, 3, 3, 5])
    """
    place = np.zeros(len(masks), dtype=np.int64)
    for block in range(int(labels.max()) + 1):
        own = int(((labels == block) << np.arange(len(labels))).sum())
        place = place * (own.bit_count() + 1) + np.bitwise_count(masks & own)
    return place


def n_partitions(n_sources: int, n_blocks: int) -> int:
    """Ways to part sources into blocks: Stirling numbers of the second kind.

    Examples
    --------
    >>> [n_partitions(4, k) for k in (1, 2, 3, 4)]
    [1, 7, 6, 1]
    """
    signs = ((-1) ** k * comb(n_blocks, k) * (n_blocks - k) ** n_sources for k in range(n_blocks))
    return int(sum(signs) // factorial(n_blocks))


def largest_table(n_sources: int) -> int:
    """Free values of the largest table, for blocks of equal size.

    Examples
    --------
    >>> largest_table(5)
    16
    """
    n_blocks = min(MOST_BLOCKS, n_sources)
    sizes = [(n_sources + k) // n_blocks + 1 for k in range(n_blocks)]
    return int(np.prod(sizes)) - 2


class _Search:
    """Expected error of partitions, by least squares without an order."""

    def __init__(self, statistics: Statistics) -> None:
        self.statistics = statistics
        self.gram = sp.coo_array(statistics.gram)
        self.masks = statistics.masks[:, 0].astype(np.int64)
        self.known: dict[bytes, float] = {}

    def forms(self, labels: IntArray) -> tuple[FloatArray, FloatArray]:
        """Quadratic and linear form of the squared error in the values of the table."""
        place, size = table_of(labels, self.masks), _size(labels)
        pairs = place[self.gram.row] * size + place[self.gram.col]
        form = np.bincount(pairs, self.gram.data, minlength=size * size).astype(np.float64)
        linear = np.bincount(place, self.statistics.targets, minlength=size).astype(np.float64)
        return form.reshape(size, size), linear

    def score(self, labels: IntArray) -> float:
        """Generalised cross-validation; infinite where there are more values than rows."""
        key = labels.tobytes()
        if key not in self.known:
            size, weight = _size(labels), self.statistics.weight
            self.known[key] = np.inf
            if size - 2 < weight:
                form, linear = self.forms(labels)
                inner = form[1:-1, 1:-1] + 1e-9 * np.trace(form) * np.eye(size - 2)
                side = linear[1:-1] - form[1:-1, -1]
                rest = self.statistics.target_square - 2 * linear[-1] + form[-1, -1]
                error = max(rest - float(side @ np.linalg.solve(inner, side)), 0.0)
                floor = 1e-12 * max(self.statistics.target_square, 1e-300)
                self.known[key] = (error + floor) / (1 - (size - 2) / weight) ** 2
        return self.known[key]

    def best(self, order: IntArray, n_blocks: int) -> IntArray:
        """Blocks of neighbours in an order of the sources, then the best moves of one source."""
        n = len(order)
        tried = []
        for cuts in combinations(range(1, n), n_blocks - 1):
            labels = np.empty(n, dtype=np.int64)
            labels[order] = np.searchsorted(cuts, np.arange(n), side="right")
            tried.append(labels)
        best = min(tried, key=self.score)
        while True:
            moved = [best]
            for source in range(n):
                for block in range(n_blocks):
                    labels = best.copy()
                    labels[source] = block
                    if len(np.unique(labels)) == n_blocks:
                        moved.append(labels)
            better = min(moved, key=self.score)
            if not self.score(better) < self.score(best):
                return best
            best = better


def _size(labels: IntArray) -> int:
    return int(np.prod(np.bincount(labels) + 1))


def covers_of(labels: IntArray) -> IntArray:
    """Pairs of places of the table that differ by one source: smaller, larger.

    Examples
    --------
    >>> covers_of(np.array([0, 1]))
    array([[0, 2],
           [1, 3],
           [0, 1],
           [2, 3]])
    """
    shape = tuple(np.bincount(labels) + 1)
    places = np.arange(int(np.prod(shape))).reshape(shape)
    pairs = []
    for axis in range(len(shape)):
        low = np.delete(places, -1, axis=axis).ravel()
        pairs.append(np.column_stack([low, np.delete(places, 0, axis=axis).ravel()]))
    return np.concatenate(pairs)


def fit_blocks(statistics: Statistics) -> Blocks:
    """p-symmetric measure of least squared error, for the number of blocks that promises most.

    References
    ----------
    Miranda, Grabisch & Gil (2002), "p-symmetric fuzzy measures"; Golub, Heath & Wahba (1979),
    "Generalized cross-validation as a method for choosing a good ridge parameter".

    Examples
    --------
    >>> X = np.random.default_rng(0).random((200, 4))
    >>> y = X[:, [0, 2]].max(axis=1) * 0.7 + X[:, [1, 3]].min(axis=1) * 0.3
    >>> found = fit_blocks(Statistics.from_data(X, y))
    >>> found.values.round(3)[table_of(found.labels, np.array([1, 2, 5, 10]))] + 0.0
    array([0.7, 0. , 0.7, 0.3])
    """
    n, weight = statistics.n_sources, statistics.weight
    search, found = _Search(statistics), []
    order = np.argsort(fit_weights(statistics, members_of(statistics.masks, n)))
    floor = 1e-12 * max(statistics.target_square, 1e-300)
    for n_blocks in range(min(2, n), min(MOST_BLOCKS, n) + 1):
        labels = search.best(order, n_blocks)
        form, linear = search.forms(labels)
        shape = tuple(np.bincount(labels) + 1)
        values = _monotone(form, linear, covers_of(labels)).reshape(shape)
        for axis in range(n_blocks):  # monotone to the bit
            values = np.maximum.accumulate(values, axis=axis)
        values = values.ravel()
        values[0], values[-1] = 0.0, 1.0
        error = float(values @ form @ values - 2 * linear @ values + statistics.target_square)
        chosen = float(np.log(n_partitions(n, n_blocks)))
        left = max(1 - (different(values) + 2 * chosen) / weight, 1e-3)
        found.append(((max(error, 0.0) + floor) / left**2, Blocks(labels, values, chosen)))
    return min(found, key=lambda one: one[0])[1]


def _monotone(form: FloatArray, linear: FloatArray, pairs: IntArray) -> FloatArray:
    """Values from 0 to 1 in the order of the pairs that fit best."""
    size = len(linear)
    order = order_of_pairs(pairs[:, 0], pairs[:, 1], size)
    ends = sp.csr_array((np.ones(2), ([0, 1], [0, size - 1])), (2, size))
    b = np.concatenate([[0.0, 1.0], np.zeros(len(pairs))])
    values = least_form(2 * form, -2 * linear, sp.vstack([ends, order]), b, 2)
    return np.clip(values, 0.0, 1.0)
