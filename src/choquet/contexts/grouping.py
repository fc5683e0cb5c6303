"""Leaves that share an operator, and the shortest kind of operator that does for each group.

Sums of products add up over rows, so everything here is priced from the sums of the leaves.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from choquet.arrays import FloatArray, IntArray
from choquet.contexts.leaves import LeafFit, LeafOptions, fit_leaf, fit_statistics, statistics_of
from choquet.contexts.rows import Leaf, RankRows, Weights
from choquet.contexts.tree import Tree

__all__ = ["Grouping", "Price", "group_leaves", "joined_leaves", "own_groups"]


@dataclass(frozen=True)
class Price:
    """What a number more in a description must save: an information criterion.

    Attributes
    ----------
    count : float
        Independent values that are described: rows, or the values of a measure.
    noise : float
        Mean square that no description can or need go below, in the units of the target.
    number : float
        What a number costs: log(count) is the Bayesian information criterion, 2 is Akaike's.
    limit : float, default infinity
        Mean square above which a description is too poor to be of use, however short it is: from
        there on what is left costs thrice.

    References
    ----------
    Schwarz (1978), "Estimating the dimension of a model".

    Examples
    --------
    >>> price = Price(100.0, 1e-4, 4.6)
    >>> price.of(0.01, 3) < price.of(0.02, 2), price.of(1e-6, 3) < price.of(1e-6, 2)
    (True, False)
    """

    count: float
    noise: float
    number: float
    limit: float = np.inf

    def of(self, error: float, n_numbers: float) -> float:
        """Price of a description with so large a mean squared error and so many numbers."""
        level = max(error, 0.0) + self.noise
        logarithm = np.log(max(level, 1e-300))
        beyond = max(logarithm - np.log(self.limit), 0.0) if np.isfinite(self.limit) else 0.0
        return float(self.count * (logarithm + 2 * beyond) + self.number * n_numbers)


@dataclass(frozen=True, eq=False)
class Grouping:
    """Operators of a tree, each for a group of its leaves.

    Attributes
    ----------
    labels : array of ints
        Operator of each node; -1 for inner nodes.
    coefficients : array of shape (n_operators, n_columns + 1)
        In scaled units; zeros in the columns that an operator does not weigh.
    kinds : tuple of {"both", "rank", "source"}
        What each operator weighs.
    error : float
        Mean squared error in scaled units.
    n_numbers : int
        Weights and biases of all operators together.
    """

    labels: IntArray
    coefficients: FloatArray
    kinds: tuple[Leaf, ...]
    error: float
    n_numbers: int

    def in_units(self, rows: RankRows) -> Weights:
        """The operators in the units of the data."""
        return rows.in_units(self.coefficients)


@dataclass(frozen=True, eq=False)
class _Group:
    leaves: tuple[int, ...]
    statistics: FloatArray
    centre: FloatArray
    error: float


def own_groups(rows: RankRows, tree: Tree) -> Grouping:
    """Every leaf its own operator."""
    labels = np.full(len(tree.source), -1)
    labels[tree.leaves] = np.arange(len(tree.leaves))
    error = float(tree.error[tree.leaves].sum() / rows.weight.sum())
    numbers = len(tree.leaves) * n_numbers(rows, rows.leaf)
    kinds = (rows.leaf,) * len(tree.leaves)
    return Grouping(labels, tree.coefficients[tree.leaves], kinds, error, numbers)


def n_numbers(rows: RankRows, kind: Leaf) -> int:
    """Numbers that an operator of a kind is free to choose: one is given with the sum or total."""
    n = rows.n_sources
    free = 2 * n - 1 if kind == "both" else n
    return free - 1 if rows.total is not None or rows.convex else free + 1


def group_leaves(
    rows: RankRows,
    tree: Tree,
    options: LeafOptions,
    price: Price,
    *,
    max_operators: int,
    kinds: Sequence[Leaf],
) -> Grouping:
    """Join leaves, the most alike first, and keep the number of operators with the best price.

    Parameters
    ----------
    rows : RankRows
    tree : Tree
    options : LeafOptions
    price : Price
    max_operators : int
    kinds : sequence of {"both", "rank", "source"}
        What operators may weigh, besides what the rows have.

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
    >>> price = Price(400, 1e-10, 6)
    >>> found = group_leaves(rows, tree, options, price, max_operators=8, kinds=["rank"])
    >>> len(tree.leaves), len(found.coefficients)
    (5, 2)
    """
    place = tree.leaf_of(rows.ranks, rows.values)
    first = _first(rows, tree, options, place)
    whole = float(rows.weight.sum())
    size = n_numbers(rows, rows.leaf)
    best: tuple[float, list[_Group]] | None = None
    for groups in _joins(first, options):
        if len(groups) <= max_operators:
            error = sum(group.error for group in groups) / whole
            value = price.of(error, size * len(groups))
            if best is None or value < best[0]:
                best = (value, groups)
    assert best is not None
    return _shortest(rows, tree, options, price, best[1], place, kinds)


def joined_leaves(
    rows: RankRows, tree: Tree, options: LeafOptions, max_operators: int
) -> list[IntArray]:
    """Group of each row, for every number of groups that leaves are joined to."""
    place = tree.leaf_of(rows.ranks, rows.values)
    found = []
    for groups in _joins(_first(rows, tree, options, place), options):
        if 1 < len(groups) <= max_operators:
            number = np.zeros(len(tree.source), dtype=np.int64)
            for k, group in enumerate(groups):
                number[list(group.leaves)] = k
            found.append(number[place])
    return found


def _first(rows: RankRows, tree: Tree, options: LeafOptions, place: IntArray) -> list[_Group]:
    """Each leaf a group of its own."""
    found: list[tuple[tuple[int, ...], FloatArray, FloatArray]] = []
    for leaf in tree.leaves:
        index = np.flatnonzero(place == leaf)
        centre = tree.coefficients[leaf, :-1].copy()
        if options.loss == "squared":
            packed = statistics_of(rows, index, rows.weight)
        else:
            packed = fit_leaf(rows, index, options, centre).statistics
        found.append(((int(leaf),), packed, centre))
    return _groups(found, options)


def _groups(
    found: list[tuple[tuple[int, ...], FloatArray, FloatArray]], options: LeafOptions
) -> list[_Group]:
    """Groups of leaves with their errors, all computed at once."""
    if not found:
        return []
    packed, centres = np.array([one[1] for one in found]), np.array([one[2] for one in found])
    errors = fit_statistics(packed, options, centres)[1]
    return [_Group(*one, float(error)) for one, error in zip(found, errors, strict=True)]


def _joins(groups: list[_Group], options: LeafOptions) -> list[list[_Group]]:
    """The groups after each join, from none to all in one."""
    path = [groups]
    costs: dict[tuple[int, int], _Group] = {}
    while len(groups) > 1:
        pairs = [(i, j) for i in range(len(groups)) for j in range(i)]
        keys = [(groups[i].leaves[0], groups[j].leaves[0]) for i, j in pairs]
        new = [
            (key, _joined(groups[i], groups[j]))
            for key, (i, j) in zip(keys, pairs, strict=True)
            if key not in costs
        ]
        joined = _groups([one for _, one in new], options)
        costs |= {key: group for (key, _), group in zip(new, joined, strict=True)}
        rise = [
            costs[groups[i].leaves[0], groups[j].leaves[0]].error
            - groups[i].error
            - groups[j].error
            for i, j in pairs
        ]
        i, j = pairs[int(np.argmin(rise))]
        best = costs[groups[i].leaves[0], groups[j].leaves[0]]
        gone = {groups[i].leaves[0], groups[j].leaves[0]}
        groups = [g for k, g in enumerate(groups) if k not in (i, j)] + [best]
        costs = {key: cost for key, cost in costs.items() if not gone & set(key)}
        path.append(groups)
    return path


def _joined(one: _Group, two: _Group) -> tuple[tuple[int, ...], FloatArray, FloatArray]:
    """Leaves, statistics and centre of two groups together."""
    share = len(one.leaves) / (len(one.leaves) + len(two.leaves))
    centre = share * one.centre + (1 - share) * two.centre
    return (*one.leaves, *two.leaves), one.statistics + two.statistics, centre


def _shortest(
    rows: RankRows,
    tree: Tree,
    options: LeafOptions,
    price: Price,
    groups: list[_Group],
    place: IntArray,
    kinds: Sequence[Leaf],
) -> Grouping:
    """The operators of groups, each of the kind with the best price."""
    n, whole = rows.n_sources, float(rows.weight.sum())
    columns: dict[Leaf, IntArray] = {rows.leaf: np.arange(rows.n_columns)}
    if rows.leaf == "both":
        columns |= {"rank": np.arange(n, 2 * n), "source": np.arange(n)}
    usable: list[Leaf] = [rows.leaf, *(k for k in kinds if k in columns and k != rows.leaf)]
    errors = [group.error for group in groups]
    chosen: list[tuple[Leaf, FloatArray]] = []
    sizes = [n_numbers(rows, rows.leaf)] * len(groups)
    fits = {kind: _fit_kind(rows, groups, options, columns[kind], place) for kind in usable}
    for k in range(len(groups)):
        others, n_others = sum(errors) - errors[k], sum(sizes) - sizes[k]
        best: tuple[float, Leaf, FloatArray, float] | None = None
        for kind in usable:
            found, error = fits[kind][0][k], float(fits[kind][1][k])
            value = price.of((others + error) / whole, n_others + n_numbers(rows, kind))
            if best is None or value < best[0]:
                best = (value, kind, found, error)
        assert best is not None
        chosen.append((best[1], best[2]))
        errors[k], sizes[k] = best[3], n_numbers(rows, best[1])
    labels = np.full(len(tree.source), -1)
    for number, group in enumerate(groups):
        labels[list(group.leaves)] = number
    return Grouping(
        labels,
        np.array([found for _, found in chosen]),
        tuple(kind for kind, _ in chosen),
        sum(errors) / whole,
        sum(sizes),
    )


def _fit_kind(
    rows: RankRows, groups: list[_Group], options: LeafOptions, columns: IntArray, place: IntArray
) -> tuple[FloatArray, FloatArray]:
    """Coefficients and errors of all groups' operators, where they weigh some columns only."""
    if len(columns) == rows.n_columns and (options.loss != "squared" or options.l1):
        fits: list[LeafFit] = [
            fit_leaf(rows, np.flatnonzero(np.isin(place, one.leaves)), options, one.centre)
            for one in groups
        ]
        return np.array([one.coefficients for one in fits]), np.array([one.error for one in fits])
    packed = np.array([group.statistics for group in groups])
    centres = np.array([group.centre for group in groups])
    width = rows.n_columns + 2
    kept = np.append(columns, [width - 2, width - 1])
    at = np.zeros((width, width), dtype=np.int64)
    at[np.triu_indices(width)] = np.arange(packed.shape[1])
    part = at[np.ix_(kept, kept)][np.triu_indices(len(kept))]
    found, errors = fit_statistics(packed[:, part], options, centres[:, columns])
    coefficients = np.zeros((len(groups), rows.n_columns + 1))
    coefficients[:, columns], coefficients[:, -1] = found[:, :-1], found[:, -1]
    return coefficients, errors
