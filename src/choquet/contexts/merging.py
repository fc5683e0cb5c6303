"""Leaves that may share an operator: contexts stay apart, weights are learned together."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from choquet.arrays import FloatArray, IntArray
from choquet.contexts.leaves import LeafFit, LeafOptions, fit_leaf, fit_statistics
from choquet.contexts.rows import RankRows
from choquet.contexts.tree import Tree

__all__ = ["Operators", "own_operators", "shared_operators"]


@dataclass(frozen=True, eq=False)
class Operators:
    """Operators of a tree, in scaled units.

    Attributes
    ----------
    labels : array of ints
        Operator of each node; -1 for inner nodes.
    coefficients : array of shape (n_operators, N + 1)
    """

    labels: IntArray
    coefficients: FloatArray


def own_operators(tree: Tree) -> Operators:
    """Every leaf its own operator."""
    labels = np.full(len(tree.source), -1)
    labels[tree.leaves] = np.arange(len(tree.leaves))
    return Operators(labels, tree.coefficients[tree.leaves])


def shared_operators(rows: RankRows, tree: Tree, options: LeafOptions) -> Operators:
    """Join leaves, the most alike first, as long as the information criterion falls.

    Statistics of leaves add up, so a join is priced without looking at a row.

    Examples
    --------
    >>> import numpy as np
    >>> from choquet.contexts import LeafOptions, RankRows, SplitOptions, grow
    >>> rng = np.random.default_rng(0)
    >>> X = rng.random((400, 3))
    >>> first = X[:, 1] == X.max(axis=1)
    >>> y = np.where(first, X.min(axis=1), X.max(axis=1)) + 0.01 * rng.standard_normal(400)
    >>> rows, options = RankRows.from_data(X, y), LeafOptions(l2=0.1)
    >>> tree = grow(rows, np.arange(400), options, SplitOptions(20), max_leaves=5)
    >>> len(tree.leaves), len(shared_operators(rows, tree, options).coefficients)
    (5, 2)
    """
    place = tree.leaf_of(rows.ranks)
    groups = [[int(leaf)] for leaf in tree.leaves]
    centres = [tree.coefficients[leaf, :-1] for leaf in tree.leaves]
    fits = [fit_leaf(rows, np.flatnonzero(place == g[0]), options, c)
            for g, c in zip(groups, centres, strict=True)]  # fmt: skip
    weight = float(rows.weight.sum())
    floor = max(1e-12 * float(tree.error[0]), 1e-300)
    price = np.log(weight) * tree.coefficients.shape[1]
    costs: dict[tuple[int, int], float] = {}
    while len(fits) > 1:
        total = max(sum(fit.error for fit in fits), floor)
        for pair in ((i, j) for j in range(len(fits)) for i in range(j)):
            if pair not in costs:
                costs[pair] = _joined(fits[pair[0]], fits[pair[1]], options)[1]
        i, j = min(costs, key=lambda pair: costs[pair])
        if weight * np.log(max(total + costs[i, j], floor) / total) >= price:
            break
        centre = _centre(fits[i], fits[j])
        groups[i] += groups[j]
        fits[i] = fit_leaf(rows, np.flatnonzero(np.isin(place, groups[i])), options, centre)
        del groups[j], fits[j]
        costs = _renumbered(costs, i, j)
    labels = np.full(len(tree.source), -1)
    for number, group in enumerate(groups):
        labels[group] = number
    return Operators(labels, np.array([fit.coefficients for fit in fits]))


def _centre(first: LeafFit, second: LeafFit) -> FloatArray:
    # Entry P (P + 1) / 2 - 3 of the triangle is the sum of 1 · 1: the weight.
    sizes = np.array([first.statistics[-3], second.statistics[-3]])
    pair = np.array([first.coefficients[:-1], second.coefficients[:-1]])
    return np.asarray(sizes @ pair / sizes.sum())


def _joined(first: LeafFit, second: LeafFit, options: LeafOptions) -> tuple[FloatArray, float]:
    packed = (first.statistics + second.statistics)[None]
    found, errors = fit_statistics(packed, options, _centre(first, second))
    return found[0], float(errors[0]) - first.error - second.error


def _renumbered(
    costs: dict[tuple[int, int], float], changed: int, gone: int
) -> dict[tuple[int, int], float]:
    """Prices of joins that the last one left as they were."""
    return {
        (a - (a > gone), b - (b > gone)): cost
        for (a, b), cost in costs.items()
        if not {a, b} & {changed, gone}
    }
