"""Operators that agree where their contexts meet, so that a description has no jumps.

An integral is continuous. Operators that were fitted each in its own context are not: on the border
of two contexts they differ by what each owes to chance. Where contexts hold walks through the same
subset, their operators must give it the same value. Then they agree on all borders, and together
they are the Choquet integral of one measure. That leaves far fewer free numbers.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from choquet.arrays import FloatArray, IntArray
from choquet.contexts.grouping import Grouping, columns_of
from choquet.contexts.leaves import statistics_of
from choquet.contexts.rows import RankRows
from choquet.contexts.tree import Tree

_SAME = 1e-9
"""Singular values of zeros and ones, in shares of the largest, that are rounding."""


def met(
    rows: RankRows, tree: Tree, grouping: Grouping, sorts: IntArray, *, l2: float = 0.0
) -> Grouping:
    """The same contexts with the operators that fit best of those that agree where they meet.

    Parameters
    ----------
    rows : RankRows
        Of operators whose weights have a given sum (`total`).
    tree : Tree
        Without conditions on values.
    grouping : Grouping
    sorts : array of shape (n_walks, N)
        All walks that contexts are told apart for.
    l2 : float, default 0
        Ridge towards the operators as they are, in rows.

    Examples
    --------
    >>> from choquet import Measure, all_sorts
    >>> from choquet.contexts.from_walks import describe_walks
    >>> sorts = all_sorts(3)
    >>> weights = Measure([0, 0, 0.9, 1, 1, 1, 1, 1]).walk_weights(sorts)
    >>> found = describe_walks(
    ...     sorts, weights, np.ones(6), n_values=6, max_operators=2, kinds=["rank"], floor=0.1
    ... )
    >>> again = met(found.rows, found.tree, found.grouping, sorts)
    >>> again.n_numbers, np.abs(again.in_units(found.rows).by_rank).round(2).tolist()
    (3, [[0.0, 1.0, 0.0], [0.95, 0.05, 0.0]])
    """
    assert rows.total is not None
    values = _Values(rows, tree, grouping, sorts)
    basis = values.agreeing()
    gram, moments, square = _sums(rows, tree, grouping)
    start = grouping.coefficients[:, :-1].ravel()
    ridge = l2 + 1e-9 * float(np.trace(gram)) / len(gram)
    inner = basis.T @ gram @ basis + ridge * np.eye(basis.shape[1])
    found = basis @ np.linalg.solve(inner, basis.T @ (moments + ridge * start))
    error = square - 2 * moments @ found + found @ gram @ found
    coefficients = np.column_stack([found.reshape(len(grouping.kinds), -1), np.zeros(values.n)])
    return replace(
        grouping,
        coefficients=coefficients,
        error=max(float(error), 0.0) / float(rows.weight.sum()),
        n_numbers=int(np.linalg.matrix_rank(values.all @ basis)) if basis.size else 0,
    )


class _Values:
    """The values of subsets that operators give, as products with all their coefficients."""

    def __init__(self, rows: RankRows, tree: Tree, grouping: Grouping, sorts: IntArray) -> None:
        n, width, self.n = rows.n_sources, rows.n_columns, len(grouping.kinds)
        labels = grouping.labels[tree.leaf_of(np.argsort(sorts, axis=1).astype(np.int16))]
        inner = np.cumsum(1 << sorts.astype(np.int64), axis=1)[:, :-1]
        pairs = np.unique(np.column_stack([inner.ravel(), np.repeat(labels, n - 1)]), axis=0)
        self.subsets = pairs[:, 0]
        inside = (self.subsets[:, None] >> np.arange(n)) & 1
        first = np.arange(n) < inside.sum(axis=1, keepdims=True)
        columns = {"both": np.hstack([inside, first]), "rank": first, "source": inside}[rows.leaf]
        # The weights have a given sum: what is left of it is spread over all ranks.
        of_one = columns - inside.mean(axis=1, keepdims=True)
        self.used = np.zeros((self.n, width), dtype=np.bool_)
        for k, kind in enumerate(grouping.kinds):
            self.used[k, columns_of(rows)[kind]] = True
        given = np.zeros((len(pairs), self.n, width))
        given[np.arange(len(pairs)), pairs[:, 1]] = of_one * self.used[pairs[:, 1]]
        self.all: FloatArray = given.reshape(len(pairs), -1)

    def agreeing(self) -> FloatArray:
        """Basis of the coefficients with which all operators give a subset the same value."""
        first = np.searchsorted(self.subsets, self.subsets)
        again = first < np.arange(len(first))
        differ = self.all[again] - self.all[first[again]]
        unused = np.eye(self.used.size)[~self.used.ravel()]
        _, singular, right = np.linalg.svd(np.vstack([differ, unused, np.zeros_like(self.all[:1])]))
        return np.asarray(right[int((singular > _SAME * singular.max()).sum()) :].T)


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
