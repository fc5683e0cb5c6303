"""Leaves that share an operator, and the shortest kind of operator that does for each group.

Sums of products add up over rows, so everything here is priced from the sums of the leaves.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from choquet.arrays import FloatArray, IntArray
from choquet.contexts.leaves import LeafOptions, fit_leaf, fit_statistics, statistics_of
from choquet.contexts.rows import Leaf, RankRows, Weights
from choquet.contexts.tree import Tree


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

    `labels` holds the operator of each node, -1 for inner nodes. Coefficients and the mean squared
    error are in scaled units; columns that an operator of its kind does not weigh are zero.
    `n_numbers` counts the weights and biases of all operators together.
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
class _Groups:
    """Groups of leaves of one tree, one entry each."""

    leaves: tuple[tuple[int, ...], ...]
    statistics: FloatArray
    centres: FloatArray
    errors: FloatArray

    def __len__(self) -> int:
        return len(self.leaves)


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
    return groupings(rows, [tree], options, price, max_operators=max_operators, kinds=kinds)[0]


def groupings(
    rows: RankRows,
    trees: Sequence[Tree],
    options: LeafOptions,
    price: Price,
    *,
    max_operators: int,
    kinds: Sequence[Leaf],
) -> list[Grouping]:
    """The same for several trees, whose joins are priced together."""
    places = [tree.leaf_of(rows.ranks, rows.values) for tree in trees]
    whole = float(rows.weight.sum())
    size = n_numbers(rows, rows.leaf)
    kept: list[_Groups] = []
    for path in _joins(_first(rows, trees, options, places), options):
        few = [groups for groups in path if len(groups) <= max_operators]
        prices = [price.of(float(one.errors.sum()) / whole, size * len(one)) for one in few]
        kept.append(few[int(np.argmin(prices))])
    return _shortest(rows, trees, options, price, kept, places, kinds)


def joined_leaves(
    rows: RankRows, tree: Tree, options: LeafOptions, max_operators: int
) -> list[IntArray]:
    """Group of each row, for every number of groups that leaves are joined to."""
    place = tree.leaf_of(rows.ranks, rows.values)
    found = []
    for groups in _joins(_first(rows, [tree], options, [place]), options)[0]:
        if 1 < len(groups) <= max_operators:
            number = np.zeros(len(tree.source), dtype=np.int64)
            for k, leaves in enumerate(groups.leaves):
                number[list(leaves)] = k
            found.append(number[place])
    return found


def refitted(rows: RankRows, tree: Tree, grouping: Grouping, options: LeafOptions) -> Grouping:
    """The same operators fitted again, each drawn to itself: a small ridge takes nothing off."""
    place = grouping.labels[tree.leaf_of(rows.ranks, rows.values)]
    coefficients, errors = grouping.coefficients.copy(), 0.0
    for k, kind in enumerate(grouping.kinds):
        packed = statistics_of(rows, np.flatnonzero(place == k), rows.weight)[None]
        columns = columns_of(rows)[kind]
        centre = coefficients[k : k + 1]
        coefficients[k : k + 1], error = _fit_columns(rows, packed, centre, options, columns)
        errors += float(error[0])
    return replace(grouping, coefficients=coefficients, error=errors / float(rows.weight.sum()))


def columns_of(rows: RankRows) -> dict[Leaf, IntArray]:
    """What operators of each kind weigh, of the columns that the rows have."""
    columns: dict[Leaf, IntArray] = {rows.leaf: np.arange(rows.n_columns)}
    if rows.leaf == "both":
        n = rows.n_sources
        columns |= {"rank": np.arange(n, 2 * n), "source": np.arange(n)}
    return columns


def _first(
    rows: RankRows, trees: Sequence[Tree], options: LeafOptions, places: Sequence[IntArray]
) -> list[_Groups]:
    """Each leaf a group of its own, for each tree."""
    packed, centres = [], []
    for tree, place in zip(trees, places, strict=True):
        own = tree.coefficients[tree.leaves, :-1]
        parts = [np.flatnonzero(place == leaf) for leaf in tree.leaves]
        if options.loss == "squared":
            packed.append(np.array([statistics_of(rows, part, rows.weight) for part in parts]))
        else:
            fits = [fit_leaf(rows, one, options, c) for one, c in zip(parts, own, strict=True)]
            packed.append(np.array([fit.statistics for fit in fits]))
        centres.append(own)
    errors = fit_statistics(np.concatenate(packed), options, np.concatenate(centres))[1]
    ends = np.cumsum([len(one) for one in packed])
    return [
        _Groups(tuple((int(leaf),) for leaf in tree.leaves), *three)
        for tree, *three in zip(trees, packed, centres, np.split(errors, ends[:-1]), strict=True)
    ]


class _Joining:
    """The groups of one tree while they are joined: those that were there, and the joined ones."""

    def __init__(self, groups: _Groups) -> None:
        size = max(2 * len(groups) - 1, 1)
        self.leaves = list(groups.leaves)
        self.statistics = np.zeros((size, groups.statistics.shape[1]))
        self.centres = np.zeros((size, groups.centres.shape[1]))
        self.errors = np.zeros(size)
        self.rise = np.full((size, size), np.inf)
        self.left = list(range(len(groups)))
        k = len(groups)
        self.statistics[:k], self.centres[:k] = groups.statistics, groups.centres
        self.errors[:k] = groups.errors
        self.new = np.array([(i, j) for i in range(k) for j in range(i)]).reshape(-1, 2)
        self.path = [groups]

    def joined(self) -> tuple[FloatArray, FloatArray]:
        """Statistics and centres of the pairs that were not priced yet."""
        one, two = self.new.T
        count = np.array([len(leaves) for leaves in self.leaves])
        share = (count[one] / (count[one] + count[two]))[:, None]
        centres = share * self.centres[one] + (1 - share) * self.centres[two]
        return self.statistics[one] + self.statistics[two], centres

    def join(self, errors: FloatArray) -> None:
        """Join the two groups whose error rises least, given the errors of the new pairs."""
        one, two = self.new.T
        self.rise[one, two] = errors - self.errors[one] - self.errors[two]
        i, j = divmod(int(self.rise.argmin()), len(self.rise))
        rise = self.rise[i, j]
        for gone in (i, j):
            self.rise[gone], self.rise[:, gone] = np.inf, np.inf
        new = len(self.leaves)
        share = len(self.leaves[i]) / (len(self.leaves[i]) + len(self.leaves[j]))
        self.statistics[new] = self.statistics[i] + self.statistics[j]
        self.centres[new] = share * self.centres[i] + (1 - share) * self.centres[j]
        self.errors[new] = rise + self.errors[i] + self.errors[j]
        self.leaves.append((*self.leaves[i], *self.leaves[j]))
        self.left = [k for k in self.left if k not in (i, j)]
        self.new = np.array([(new, k) for k in self.left]).reshape(-1, 2)
        self.left.append(new)
        kept = self.left
        leaves = tuple(self.leaves[k] for k in kept)
        self.path.append(
            _Groups(leaves, self.statistics[kept], self.centres[kept], self.errors[kept])
        )


def _joins(firsts: Sequence[_Groups], options: LeafOptions) -> list[list[_Groups]]:
    """The groups of each tree after each join, from none to all in one; all trees side by side."""
    working = [_Joining(groups) for groups in firsts]
    going = [one for one in working if len(one.left) > 1]
    while going:
        parts = [one.joined() for one in going]
        packed, centres = (np.concatenate(several) for several in zip(*parts, strict=True))
        errors = fit_statistics(packed, options, centres)[1]
        ends = np.cumsum([len(one.new) for one in going])
        for one, own in zip(going, np.split(errors, ends[:-1]), strict=True):
            one.join(own)
        going = [one for one in going if len(one.left) > 1]
    return [one.path for one in working]


def _shortest(
    rows: RankRows,
    trees: Sequence[Tree],
    options: LeafOptions,
    price: Price,
    groups: Sequence[_Groups],
    places: Sequence[IntArray],
    kinds: Sequence[Leaf],
) -> list[Grouping]:
    """The operators of the groups of each tree, each of the kind with the best price."""
    columns = columns_of(rows)
    usable: list[Leaf] = [rows.leaf, *(k for k in kinds if k in columns and k != rows.leaf)]
    fits = {kind: _fit_kind(rows, groups, options, columns[kind], places) for kind in usable}
    found, start = [], 0
    for tree, own in zip(trees, groups, strict=True):
        part = slice(start, start + len(own))
        start += len(own)
        known = {kind: (fitted[part], errors[part]) for kind, (fitted, errors) in fits.items()}
        found.append(_by_kind(rows, tree, price, own, known))
    return found


def _by_kind(
    rows: RankRows,
    tree: Tree,
    price: Price,
    groups: _Groups,
    fits: Mapping[Leaf, tuple[FloatArray, FloatArray]],
) -> Grouping:
    """The operators of groups, each of the kind with the best price, given fits of each kind."""
    whole = float(rows.weight.sum())
    errors = groups.errors.tolist()
    sizes = [n_numbers(rows, rows.leaf)] * len(groups)
    chosen: list[Leaf] = []
    for k in range(len(groups)):
        others, n_others = sum(errors) - errors[k], sum(sizes) - sizes[k]
        prices = {
            kind: price.of((others + float(own[k])) / whole, n_others + n_numbers(rows, kind))
            for kind, (_, own) in fits.items()
        }
        kind = min(prices, key=lambda one: prices[one])
        chosen.append(kind)
        errors[k], sizes[k] = float(fits[kind][1][k]), n_numbers(rows, kind)
    labels = np.full(len(tree.source), -1)
    for number, leaves in enumerate(groups.leaves):
        labels[list(leaves)] = number
    coefficients = np.array([fits[kind][0][k] for k, kind in enumerate(chosen)])
    return Grouping(labels, coefficients, tuple(chosen), sum(errors) / whole, sum(sizes))


def _fit_kind(
    rows: RankRows,
    groups: Sequence[_Groups],
    options: LeafOptions,
    columns: IntArray,
    places: Sequence[IntArray],
) -> tuple[FloatArray, FloatArray]:
    """Coefficients and errors of all groups' operators, where they weigh some columns only."""
    packed = np.concatenate([one.statistics for one in groups])
    centres = np.concatenate([one.centres for one in groups])
    if len(columns) == rows.n_columns and (options.loss != "squared" or options.l1):
        parts = [
            np.flatnonzero(np.isin(place, leaves))
            for own, place in zip(groups, places, strict=True)
            for leaves in own.leaves
        ]
        fits = [fit_leaf(rows, one, options, c) for one, c in zip(parts, centres, strict=True)]
        return np.array([one.coefficients for one in fits]), np.array([one.error for one in fits])
    return _fit_columns(rows, packed, centres, options, columns)


def _fit_columns(
    rows: RankRows,
    packed: FloatArray,
    centres: FloatArray,
    options: LeafOptions,
    columns: IntArray,
) -> tuple[FloatArray, FloatArray]:
    """Coefficients, zero but in some columns, and errors of operators with these statistics."""
    width = rows.n_columns + 2
    kept = np.append(columns, [width - 2, width - 1])
    at = np.zeros((width, width), dtype=np.int64)
    at[np.triu_indices(width)] = np.arange(packed.shape[1])
    part = at[np.ix_(kept, kept)][np.triu_indices(len(kept))]
    found, errors = fit_statistics(packed[:, part], options, centres[:, columns])
    coefficients = np.zeros((len(packed), rows.n_columns + 1))
    coefficients[:, columns], coefficients[:, -1] = found[:, :-1], found[:, -1]
    return coefficients, errors
