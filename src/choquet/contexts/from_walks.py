"""Contexts from the walks of a measure, under independent uniform inputs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import NamedTuple

import numpy as np

from choquet.arrays import FloatArray, IntArray
from choquet.contexts.grouping import Grouping, Price, groupings, joined_leaves, n_numbers, refitted
from choquet.contexts.learn import collapsed
from choquet.contexts.leaves import LeafOptions, fit_statistics, statistics_of
from choquet.contexts.meeting import Together
from choquet.contexts.pruning import weakest_links
from choquet.contexts.rows import Leaf, RankRows, Weights, uniform_moments
from choquet.contexts.splits import SplitOptions
from choquet.contexts.tree import Tree, grow, grow_several
from choquet.operators.dissimilarity import DISSIMILARITIES
from choquet.watching import each

_GROWN = 16
"""Leaves of a tree before leaves that are alike share an operator."""

_SETTLED = 5_000
"""Rows (walks times sources) up to which contexts are grown again for walks that went to their
nearest operator: all walks of six sources, a second."""

_TURNS = 20
"""Turns of walks and operators, at most."""

_DUST = 1e-9
"""Ridge that tells what two equal columns share, and changes nothing else."""

NUMBER = 2.5
"""What a number costs: between Akaike's criterion (2) and that of Bayes (3.4 for five sources).

Chosen on measures learned from the paper's noisy data, of which the true number of operators is
known; from 2 to 3 it is found in nearly all.
"""

POOR = 0.15
"""Typical error, in shares of the output's standard deviation, that makes a description poor."""

_QUIET = 0.25
"""Importance (the mean weight over all walks is the Shapley value), in shares of the mean, below
which conditions on a source are done without where that is as good."""

_SPLIT = 0.25
"""What a condition costs, in numbers: of two trees that do the same the smaller is taken. One that
asks about a source that hardly matters counts twice."""

_BOTH = 0.2
"""What an operator by source and by rank costs beside its numbers: of descriptions that are as long
and as good, that in weighted means or order statistics alone is easier to read. It is less than a
condition costs, so that one such operator goes before two others and a condition."""

_EXACT = 1e-10
"""Mean squared error, in shares of the output's variance, that is rounding and the ridge's dust."""

_ALIKE = 2 / 3
"""Operators by source alone or by rank alone, in shares of the walks, up to which an exact
description is no accident: of a measure without structure all walks differ."""


@dataclass(frozen=True, eq=False)
class Described:
    """A tree, its operators, the rows they were fitted to, and whether they agree where contexts
    meet.
    """

    rows: RankRows
    tree: Tree
    grouping: Grouping
    meets: bool = False

    def applied(self, sorts: IntArray, weights: FloatArray, counts: FloatArray) -> Applied:
        """What it makes of walks, those it was found in or others, that count so much each."""
        tree, grouping = collapsed(self.tree, self.grouping)
        place = tree.leaf_of(np.argsort(sorts, axis=1).astype(np.int16))
        return Applied(
            tree.weighed(place, counts),
            grouping.labels,
            grouping.in_units(self.rows),
            grouping.labels[place],
            float(np.sqrt(output_variance(weights, counts))),
        )


class Applied(NamedTuple):
    """A description without needless conditions, and what it makes of walks."""

    tree: Tree
    """With how many walks each context has."""
    leaves: IntArray
    """The operator of each node; -1 for conditions."""
    weights: Weights
    """The operators, in the units of the data."""
    labels: IntArray
    """The operator of each walk."""
    spread: float
    """Standard deviation of the output of these walks."""


class _Priced(NamedTuple):
    """A description with its price; exact ones come first, however short others are."""

    inexact: bool
    value: float
    found: Described

    @property
    def key(self) -> tuple[bool, float]:
        """What is compared; prices that differ by rounding are equal."""
        return self.inexact, round(self.value, 9)


def describe_walks(
    sorts: IntArray,
    weights: FloatArray,
    counts: FloatArray,
    *,
    n_values: int,
    max_operators: int,
    kinds: Sequence[Leaf],
    floor: float,
    screen: int = 16,
) -> Described:
    """The description of walks with the best price: few operators, few numbers, small error.

    Trees are grown for operators by rank, by source and by both; where some sources hardly matter,
    trees that do not ask about them as well. Of each, every subtree of its pruning path and every
    number of shared operators is a candidate. Conditions that were chosen one by one follow what a
    measure owes to noise. So the walks of the best description, and of those with other numbers of
    operators, go to the operator nearest to them, and trees are grown for these groups again.
    Descriptions that are exact, and no accident, go before all others. The last ones are also tried
    with operators that are fitted together, so that they agree where their contexts meet, and then
    without weights that are small.

    A measure has `n_values` free values. Below the `floor`, a root mean square error in shares of
    the output's standard deviation, descriptions count as equally good.

    Examples
    --------
    >>> from choquet import Measure, all_sorts
    >>> g, sorts = Measure([0, 0, 1, 1, 1, 1, 1, 1]), all_sorts(3)
    >>> found = describe_walks(
    ...     sorts, g.walk_weights(sorts), np.ones(6), n_values=6, max_operators=8,
    ...     kinds=["rank", "source", "both"], floor=0.01,
    ... )
    >>> len(found.tree.leaves), found.grouping.kinds
    (2, ('rank', 'rank'))
    """
    whole = RankRows.from_walks(sorts, weights, counts)
    spread = output_variance(weights, counts)
    heard = _heard(sorts, weights, counts)
    search = _Search(
        sorts=sorts,
        weights=weights,
        counts=counts,
        n_values=n_values,
        max_operators=max_operators,
        kinds=tuple(kinds),
        spread=spread,
        price=Price(float(n_values), floor**2 * spread, NUMBER, POOR**2 * spread),
        options=LeafOptions(l2=_DUST * float(whole.weight.sum())),
        # If two sources matter, familiar names of ranks among all are told, as in the paper.
        quiet=set(range(sorts.shape[1])) - set(heard) if heard and len(heard) > 2 else set(),
    )
    least = max(float(counts.sum()) * sorts.shape[1] / 200, float(counts.min() * sorts.shape[1]))
    tries = list(product([None, heard] if heard else [None], kinds))
    found = []
    for asked, kind in each("describing walks", tries):
        splits = SplitOptions(least, screen=screen, asked=asked)
        found.append((*search.priced(whole.with_leaf(kind), splits), splits))
    best, tree, splits = min(found, key=lambda one: one[0].key)
    near = best.found.grouping.error * sorts.shape[1] <= search.price.noise
    if not best.inexact or len(whole.Z) > _SETTLED:
        return search.refitted(best.found)
    several = [best.found] if near else search.settled(best, tree, splits)
    several = [search.refitted(one) for one in several]
    several += [search.met(one) for one in several if len(one.grouping.kinds) > 1]
    return search.thinned(min(several, key=lambda one: search.told(one).key))


@dataclass(frozen=True, eq=False, kw_only=True)
class _Search:
    """Walks, and what their descriptions are compared by."""

    sorts: IntArray
    weights: FloatArray
    counts: FloatArray
    n_values: int
    max_operators: int
    kinds: tuple[Leaf, ...]
    spread: float
    price: Price
    options: LeafOptions
    quiet: set[int]

    def priced(self, rows: RankRows, splits: SplitOptions) -> tuple[_Priced, Tree]:
        """The best description of rows, and the whole tree that it is a part of."""
        tree = grow(rows, rows.everything(), self.options, splits, max_leaves=_GROWN)
        parts = _subtrees(tree)
        several = self._grouped(rows, parts, self.price)
        # What the floor would join is looked at as it is as well, where all leaves are exact.
        dust = _EXACT * float(rows.weight.sum()) * self.spread / rows.each
        exact = [part for part in parts if part.error[part.leaves].sum() <= dust]
        if exact:
            parts = parts + exact
            several += self._grouped(rows, exact, replace(self.price, noise=_EXACT * self.spread))
        return self._best(rows, parts, several), tree

    def regrown(
        self, rows: RankRows, several: Sequence[RankRows], splits: SplitOptions
    ) -> list[Described]:
        """The best descriptions of rows by contexts that are grown for each of several others."""
        if not several:
            return []
        trees = grow_several(several, self.options, splits, max_leaves=_GROWN)
        parts = [_subtrees(tree) for tree in trees]
        found = iter(self._grouped(rows, [part for own in parts for part in own], self.price))
        return [self._best(rows, own, [next(found) for _ in own]).found for own in parts]

    def _best(self, rows: RankRows, trees: Sequence[Tree], several: Sequence[Grouping]) -> _Priced:
        priced = (self.told(Described(rows, *one)) for one in zip(trees, several, strict=True))
        return min(priced, key=lambda one: one.key)

    def _grouped(self, rows: RankRows, trees: Sequence[Tree], price: Price) -> list[Grouping]:
        return groupings(
            rows,
            trees,
            self.options,
            price,
            max_operators=self.max_operators,
            kinds=self.kinds,
        )

    def told(self, one: Described) -> _Priced:
        """A description with its price, and whether it is exact and no accident."""
        tree, found = one.tree, one.grouping
        error = found.error * one.rows.each  # a walk is as many rows as it has sources
        n_both = found.kinds.count("both")
        asked = len(tree.leaves) - 1 + int(np.isin(tree.source, [*self.quiet]).sum())
        value = self.price.of(error, found.n_numbers + _SPLIT * asked + _BOTH * n_both)
        short = found.n_numbers < self.n_values
        short |= not n_both and len(found.kinds) <= _ALIKE * len(self.sorts)
        exact = short and error <= _EXACT * self.spread and not self._alike(one)
        return _Priced(not exact, value, one)

    def _alike(self, one: Described) -> bool:
        """Whether two operators differ by no more than the floor: they are to be one."""
        Z, weight = one.rows.Z[:, :-2], one.rows.weight
        second = (Z.T * weight) @ Z * (one.rows.each / float(weight.sum()))
        own = one.grouping.coefficients[:, :-1]
        away = own[np.triu_indices(len(own), 1)[0]] - own[np.triu_indices(len(own), 1)[1]]
        squares = np.einsum("ki,ij,kj->k", away, second, away)
        return bool((squares <= self.price.noise).any())

    def settled(self, best: _Priced, tree: Tree, splits: SplitOptions) -> list[Described]:
        """The same, and others for walks that went to the nearest operator of the whole tree."""
        rows, options = best.found.rows, self.options
        several, limit = [], self.told(self.met(best.found)).value
        joined = joined_leaves(rows, tree, options, self.max_operators)
        for labels in each("settling contexts", joined):
            groups, error = _nearest(rows, labels, self.sorts, self.weights, options)
            # At best contexts tell the groups apart, and operators that meet are as few as one.
            least = min(n_numbers(rows, kind) for kind in self.kinds)
            if self.price.of(error, least + _SPLIT * labels.max()) >= min(limit, best.value):
                continue
            grown = RankRows.from_walks(self.sorts, groups, self.counts, leaf=rows.leaf)
            several.append(grown)
        return [best.found, *self.regrown(rows, several, splits)]

    def refitted(self, one: Described) -> Described:
        """The same, its operators fitted again without the ridge."""
        fitted = refitted(one.rows, one.tree, one.grouping, self.options)
        return replace(one, grouping=fitted)

    def met(self, one: Described) -> Described:
        """The same contexts with operators that agree where these meet."""
        grouping = Together(one.rows, one.tree, one.grouping, self.sorts).fitted()
        return one if grouping is None else replace(one, grouping=grouping, meets=True)

    def thinned(self, one: Described) -> Described:
        """The same without small weights that do not pay."""
        together = Together(one.rows, one.tree, one.grouping, self.sorts, agree=one.meets)
        grouping = together.thinned(lambda other: self.told(replace(one, grouping=other)).value)
        return one if grouping is None else replace(one, grouping=grouping)


def _subtrees(tree: Tree) -> list[Tree]:
    """Every subtree of its pruning path, from the whole tree to the root alone."""
    return [tree.cut(stops) for stops in weakest_links(tree).stops]


def _nearest(
    rows: RankRows, labels: IntArray, sorts: IntArray, weights: FloatArray, options: LeafOptions
) -> tuple[FloatArray, float]:
    """Weights by rank of the operator nearest to each walk, and the mean squared error.

    Operators are fitted to their walks and walks go to the nearest operator, in turns: Lloyd's
    algorithm, with operators for centres.
    """
    n = sorts.shape[1]
    for _ in range(_TURNS):
        parts = [np.flatnonzero(labels == k) for k in np.flatnonzero(np.bincount(labels))]
        packed = np.array([statistics_of(rows, part, rows.weight) for part in parts])
        coefficients, errors = fit_statistics(packed, options, np.zeros(rows.n_columns))
        found = rows.in_units(coefficients)
        along = found.by_source[:, sorts] + found.by_rank[:, None, :]
        away = DISSIMILARITIES["rms"].embed((along - weights).reshape(-1, n))
        nearest = (away**2).sum(axis=1).reshape(len(parts), len(sorts)).argmin(axis=0)
        moved, labels = labels, np.repeat(nearest, n)
        if np.array_equal(moved, labels):
            break
    error = float(errors.sum() / rows.weight.sum()) * n
    return np.asarray(along[nearest, np.arange(len(sorts))]), error


def _heard(sorts: IntArray, weights: FloatArray, counts: FloatArray) -> tuple[int, ...] | None:
    """Sources that matter, if some of the others hardly do."""
    shares = np.bincount(sorts.ravel(), (weights * counts[:, None]).ravel(), sorts.shape[1])
    size = np.abs(shares)
    heard = np.flatnonzero(size >= _QUIET * size.mean())
    return tuple(heard.tolist()) if 1 < len(heard) < len(size) else None


def output_variance(weights: FloatArray, counts: FloatArray) -> float:
    """Variance of the output under independent uniform inputs, of walks that count so much."""
    n = weights.shape[1]
    shares = counts / counts.sum()
    square = np.einsum("i,ij,jk,ik->", shares, weights, uniform_moments(n), weights)
    mean = float(shares @ weights @ (np.arange(n, 0, -1) / (n + 1)))
    return max(float(square) - mean**2, 1e-300)
