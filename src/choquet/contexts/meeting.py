"""Operators that are fitted together: they agree where contexts meet, and weigh what matters.

An integral is continuous. Operators that were fitted each in its own context are not: on the border
of two contexts they differ by what each owes to chance. Where contexts hold walks through the same
subset, their operators must give it the same value. Then they agree on all borders, and together
they are the Choquet integral of one measure. That leaves far fewer free numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from choquet.arrays import BoolArray, FloatArray, IntArray
from choquet.contexts.grouping import Grouping, columns_of
from choquet.contexts.leaves import statistics_of
from choquet.contexts.rows import RankRows
from choquet.contexts.tree import Tree

_SAME = 1e-9
"""Singular values of zeros and ones, in shares of the largest, that are rounding."""

_DUST = 1e-9
"""Weights up to so much of an operator's largest are rounding of zero."""

_SMALL = 0.1
"""Weights up to so much of an operator's largest are tried without."""


class Together:
    """Operators of contexts, fitted together to rows whose weights have a given sum.

    They agree where contexts meet, if that is asked for, on all walks that `sorts` holds. The ridge
    `l2`, in rows, draws them to what they were.

    Examples
    --------
    >>> from choquet import Measure, all_sorts
    >>> from choquet.contexts.from_walks import describe_walks
    >>> sorts = all_sorts(3)
    >>> weights = Measure([0, 0, 0.9, 1, 1, 1, 1, 1]).walk_weights(sorts)
    >>> found = describe_walks(
    ...     sorts, weights, np.ones(6), n_values=6, max_operators=2, kinds=["rank"], floor=0.01
    ... )
    >>> again = Together(found.rows, found.tree, found.grouping, sorts).fitted()
    >>> np.abs(again.in_units(found.rows).by_rank).round(2).tolist()
    [[0.0, 1.0, 0.0], [0.95, 0.05, 0.0]]
    """

    def __init__(
        self,
        rows: RankRows,
        tree: Tree,
        grouping: Grouping,
        sorts: IntArray,
        *,
        agree: bool = True,
        l2: float = 0.0,
    ) -> None:
        assert rows.total is not None
        self.rows, self.grouping, self.agree = rows, grouping, agree
        self.start = _summed(rows, grouping)
        self.subsets, self.values = _values(rows, tree, grouping, sorts)
        self.gram, self.moments, self.square = _sums(rows, tree, grouping)
        self.ridge = l2 + 1e-9 * float(np.trace(self.gram)) / len(self.gram)

    def fitted(self, used: BoolArray | None = None) -> Grouping | None:
        """The best operators that weigh only what is `used`, by default what they weigh now.

        None if there are none such.
        """
        if used is None:
            size = np.abs(self.start)
            used = size > _DUST * size.max(axis=1, keepdims=True)
        equations, sides = self._equations(used)
        _, singular, right = np.linalg.svd(equations)
        basis = right[int((singular > _SAME * singular.max()).sum()) :].T
        given = np.linalg.lstsq(equations, sides, rcond=_SAME)[0]
        if np.abs(equations @ given - sides).max() > _SAME * max(np.abs(sides).max(), 1e-300):
            return None
        pull = self.moments + self.ridge * self.start.ravel()
        inner = self.gram + self.ridge * np.eye(len(self.gram))
        step = np.linalg.solve(basis.T @ inner @ basis, basis.T @ (pull - inner @ given))
        found = given + basis @ step
        error = self.square - 2 * self.moments @ found + found @ self.gram @ found
        weights = np.where(used, found.reshape(self.start.shape), 0.0)
        return replace(
            self.grouping,
            coefficients=np.column_stack([weights, np.zeros(len(weights))]),
            error=max(float(error), 0.0) / float(self.rows.weight.sum()),
            n_numbers=int(np.linalg.matrix_rank(self.values @ basis)) if basis.size else 0,
        )

    def thinned(self, price: Callable[[Grouping], float]) -> Grouping | None:
        """The same without small weights, as long as that has the better price."""
        best = self.fitted()
        if best is None:
            return None
        used = np.abs(best.coefficients[:, :-1]) > 0
        for fewer in self._fewer(best):
            other = self.fitted(used & fewer)
            if other is not None and price(other) < price(best):
                best, used = other, used & fewer
        return best

    def _fewer(self, best: Grouping) -> Iterator[BoolArray]:
        """What to weigh without small weights: of one column in all operators, then of each."""
        size = np.abs(best.coefficients[:, :-1])
        small = (size > 0) & (size <= _SMALL * size.max(axis=1, keepdims=True))
        columns = np.flatnonzero(small.any(axis=0))
        for column in columns[np.argsort(np.where(small, size, 0.0).max(axis=0)[columns])]:
            keep = np.ones_like(small)
            keep[small[:, column], column] = False
            yield keep
        for k, column in np.argwhere(small)[np.argsort(size[small])]:
            keep = np.ones_like(small)
            keep[k, column] = False
            yield keep

    def _equations(self, used: BoolArray) -> tuple[FloatArray, FloatArray]:
        """What coefficients must fulfil: sums of weights, zeros, and that operators agree."""
        n, width = used.shape
        parts = [np.kron(np.eye(n), np.ones(width)), np.eye(used.size)[~used.ravel()]]
        if self.agree:
            first = np.searchsorted(self.subsets, self.subsets)
            again = first < np.arange(len(first))
            parts.append(self.values[again] - self.values[first[again]])
        equations = np.vstack(parts)
        return equations, np.append(self.start.sum(axis=1), np.zeros(len(equations) - n))


def _summed(rows: RankRows, grouping: Grouping) -> FloatArray:
    """Coefficients with the given sum, which the rows leave open: what lacks is spread evenly."""
    start = grouping.coefficients[:, :-1].copy()
    total = float(rows.total or 0.0) * rows.scale / rows.target_scale
    for k, kind in enumerate(grouping.kinds):
        columns = columns_of(rows)[kind][-rows.n_sources :]
        start[k, columns] += (total - start[k].sum()) / rows.n_sources
    return start


def _values(
    rows: RankRows, tree: Tree, grouping: Grouping, sorts: IntArray
) -> tuple[IntArray, FloatArray]:
    """Subsets that walks of each context go through, and what gives their values.

    A value is a product of a row with the coefficients of all operators.
    """
    n, width, n_operators = rows.n_sources, rows.n_columns, len(grouping.kinds)
    labels = grouping.labels[tree.leaf_of(np.argsort(sorts, axis=1).astype(np.int16))]
    inner = np.cumsum(1 << sorts.astype(np.int64), axis=1)[:, :-1]
    pairs = np.unique(np.column_stack([inner.ravel(), np.repeat(labels, n - 1)]), axis=0)
    inside = (pairs[:, :1] >> np.arange(n)) & 1
    first = np.arange(n) < inside.sum(axis=1, keepdims=True)
    columns = {"both": np.hstack([inside, first]), "rank": first, "source": inside}[rows.leaf]
    given = np.zeros((len(pairs), n_operators, width))
    given[np.arange(len(pairs)), pairs[:, 1]] = columns
    return pairs[:, 0], given.reshape(len(pairs), -1)


def _sums(rows: RankRows, tree: Tree, grouping: Grouping) -> tuple[FloatArray, FloatArray, float]:
    """Products of what all operators weigh, with each other, with the target, and its square."""
    width, n = rows.n_columns, len(grouping.kinds)
    labels = grouping.labels[tree.leaf_of(rows.ranks)]
    gram, moments, square = np.zeros((n, width, n, width)), np.zeros((n, width)), 0.0
    for k in range(n):
        full = np.zeros((width + 2, width + 2))
        part = statistics_of(rows, np.flatnonzero(labels == k), rows.weight)
        full[np.triu_indices(width + 2)] = part
        full += np.triu(full, 1).T
        gram[k, :, k], moments[k] = full[:width, :width], full[:width, -1]
        square += float(full[-1, -1])
    return gram.reshape(n * width, -1), moments.ravel(), square
