"""Contexts from the walks of a measure, under independent uniform inputs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from choquet.arrays import FloatArray, IntArray
from choquet.contexts.grouping import Grouping, Price, groupings, joined_leaves, n_numbers
from choquet.contexts.leaves import LeafOptions, fit_statistics, statistics_of
from choquet.contexts.pruning import weakest_links
from choquet.contexts.rows import Leaf, RankRows
from choquet.contexts.splits import SplitOptions
from choquet.contexts.tree import Tree, grow
from choquet.operators.dissimilarity import DISSIMILARITIES
from choquet.watching import each

__all__ = ["NUMBER", "POOR", "Described", "describe_walks", "output_variance"]

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


@dataclass(frozen=True, eq=False)
class Described:
    """A tree, its operators, and the rows they were fitted to."""

    rows: RankRows
    tree: Tree
    grouping: Grouping


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

    Parameters
    ----------
    sorts : array of shape (n_walks, N)
    weights : array of shape (n_walks, N)
        Of each walk, by rank.
    counts : array of shape (n_walks,)
        How much each counts.
    n_values : int
        Free values of the measure.
    max_operators : int
    kinds : sequence of {"both", "rank", "source"}
    floor : float
        Root mean square error below which descriptions count as equally good, in shares of the
        output's standard deviation.
    screen : int, default 16
        As in `SplitOptions`.

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
    price = Price(float(n_values), floor**2 * spread, NUMBER, POOR**2 * spread)
    least = max(float(counts.sum()) * sorts.shape[1] / 200, float(counts.min() * sorts.shape[1]))
    options = LeafOptions(l2=_DUST * float(whole.weight.sum()))
    heard = _heard(sorts, weights, counts)
    # If two sources matter, familiar names of ranks among all are told, as in the paper.
    quiet = set(range(sorts.shape[1])) - set(heard) if heard and len(heard) > 2 else set()
    tries = list(product([None, heard] if heard else [None], kinds))

    def priced(rows: RankRows, grown: RankRows, splits: SplitOptions) -> tuple[float, Described]:
        """The best description of rows by contexts that are grown for others."""
        tree = grow(grown, grown.everything(), options, splits, max_leaves=_GROWN)
        parts = [tree.cut(stops) for stops in weakest_links(tree).stops]
        several = groupings(rows, parts, options, price, max_operators=max_operators, kinds=kinds)
        best: tuple[float, Described] | None = None
        for part, found in zip(parts, several, strict=True):
            # A walk is as many rows as it has sources.
            error = found.error * sorts.shape[1]
            splits_made = len(part.leaves) - 1 + int(np.isin(part.source, [*quiet]).sum())
            value = price.of(error, found.n_numbers + _SPLIT * splits_made)
            if best is None or value < best[0] - 1e-9:
                best = (value, Described(rows, part, found))
        assert best is not None
        return best

    def tried(asked: tuple[int, ...] | None, kind: Leaf) -> tuple[float, Described]:
        rows = whole.with_leaf(kind)
        return priced(rows, rows, SplitOptions(least, screen=screen, asked=asked))

    found = [tried(asked, kind) for asked, kind in each("describing walks", tries)]
    first = min(range(len(found)), key=lambda k: (round(found[k][0], 9), k))
    best = found[first]
    rows = best[1].rows
    if best[1].grouping.error * sorts.shape[1] <= price.noise or len(rows.Z) > _SETTLED:
        return best[1]
    splits = SplitOptions(least, screen=screen, asked=tries[first][0])
    tree = grow(rows, rows.everything(), options, splits, max_leaves=_GROWN)
    least_numbers = min(n_numbers(rows, kind) for kind in kinds)
    for labels in each("settling contexts", joined_leaves(rows, tree, options, max_operators)):
        groups, error, n_groups = _nearest(rows, labels, sorts, weights, options)
        # Contexts can at best tell the groups apart: where that does not pay, none are grown.
        numbers = n_groups * least_numbers + _SPLIT * (n_groups - 1)
        if price.of(error, numbers) >= best[0]:
            continue
        again = priced(rows, RankRows.from_walks(sorts, groups, counts, leaf=rows.leaf), splits)
        if again[0] < best[0] - 1e-9:
            best = again
    return best[1]


def _nearest(
    rows: RankRows, labels: IntArray, sorts: IntArray, weights: FloatArray, options: LeafOptions
) -> tuple[FloatArray, float, int]:
    """Weights by rank of the operator nearest to each walk, from operators for groups of rows.

    Also the mean squared error of these operators, and how many there are.

    Operators are fitted to their walks and walks go to the nearest operator, in turns: Lloyd's
    algorithm, with operators for centres.
    """
    n = sorts.shape[1]
    for _ in range(_TURNS):
        parts = [np.flatnonzero(labels == k) for k in np.unique(labels)]
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
    return np.asarray(along[nearest, np.arange(len(sorts))]), error, len(parts)


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
    up = np.arange(n, 0, -1)
    low, high = np.minimum.outer(up, up), np.maximum.outer(up, up)
    square = np.einsum(
        "i,ij,jk,ik->", shares, weights, low * (high + 1) / ((n + 1) * (n + 2)), weights
    )
    mean = float(shares @ weights @ (up / (n + 1)))
    return max(float(square) - mean**2, 1e-300)
