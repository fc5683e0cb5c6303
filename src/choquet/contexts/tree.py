"""A tree of rank predicates, grown best-first."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from choquet.arrays import BoolArray, FloatArray, IntArray
from choquet.contexts.conditions import Condition
from choquet.contexts.leaves import LeafFit, LeafOptions, fit_leaf
from choquet.contexts.rows import RankArray, RankRows
from choquet.contexts.splits import Split, SplitOptions, best_splits
from choquet.errors import DataError
from choquet.lattice.ties import falling
from choquet.scales import Units


@dataclass(frozen=True, eq=False)
class Tree:
    """Nodes as arrays, the root first; every node holds an operator, leaves use theirs.

    Attributes
    ----------
    source, top, above : arrays of ints
        The predicate of each inner node: the source's rank is below `top`, or below that of the
        source `above` where this is not -1. `source` is -1 in leaves.
    value : array of floats
        Where it is not NaN, the predicate is that the source's input is at least this.
    yes, no : arrays of ints
        Children, or -1.
    coefficients : array of shape (n_nodes, N + 1)
        Weights by rank and bias, in scaled units.
    error, weight : arrays of floats
        Squared error of each node's own operator on its rows, and the weight of these.
    """

    source: IntArray
    top: IntArray
    above: IntArray
    value: FloatArray
    yes: IntArray
    no: IntArray
    coefficients: FloatArray
    error: FloatArray
    weight: FloatArray

    @property
    def is_leaf(self) -> BoolArray:
        """Whether each node is a leaf."""
        return np.asarray(self.source < 0)

    @property
    def leaves(self) -> IntArray:
        """Numbers of the leaves."""
        return np.flatnonzero(self.is_leaf)

    @property
    def has_thresholds(self) -> bool:
        """Whether a condition asks for a source's own value, which a sort does not tell."""
        return bool(np.isfinite(self.value).any())

    def question(self, node: int, units: Units | None = None) -> Condition:
        """What an inner node asks, in the units of the data if these are given."""
        source, other = int(self.source[node]), int(self.above[node])
        if np.isfinite(self.value[node]):
            scale = None if units is None else units.scales[source]
            return Condition(source, value=float(self.value[node]), scale=scale)
        if other >= 0:
            return Condition(source, above=other)
        return Condition(source, top=int(self.top[node]))

    def holds(self, node: int, ranks: RankArray, inputs: FloatArray | None) -> BoolArray:
        """Whether the predicate of an inner node holds in each row."""
        source, other = self.source[node], self.above[node]
        if np.isfinite(self.value[node]):
            if inputs is None:
                raise DataError(
                    "these contexts ask for values of sources, which sorts do not tell; give inputs"
                )
            return np.asarray(inputs[:, source] >= self.value[node])
        bound = ranks[:, other] if other >= 0 else self.top[node]
        return np.asarray(ranks[:, source] < bound)

    def leaf_of(self, ranks: RankArray, inputs: FloatArray | None = None) -> IntArray:
        """Leaf that each row falls into."""
        out = np.zeros(len(ranks), dtype=np.int64)
        pending = [(0, np.arange(len(ranks)))]
        while pending:
            node, rows = pending.pop()
            if self.source[node] < 0:
                out[rows] = node
                continue
            held = self.holds(node, ranks[rows], None if inputs is None else inputs[rows])
            pending += [(int(self.yes[node]), rows[held]), (int(self.no[node]), rows[~held])]
        return out

    def placed(self, inputs: FloatArray) -> tuple[IntArray, FloatArray, IntArray]:
        """Sort of each sample, its inputs in that order, and its leaf."""
        sorts, ordered = falling(inputs)
        return sorts, ordered, self.leaf_of(np.argsort(sorts, axis=1).astype(np.int16), inputs)

    def weighed(self, place: IntArray, weight: FloatArray) -> Tree:
        """The same for other rows, of which the leaf and the weight are given."""
        found = np.asarray(np.bincount(place, weight, len(self.source)), dtype=np.float64)
        for node in range(len(found) - 1, -1, -1):  # children come after their parents
            if self.source[node] >= 0:
                found[node] = found[self.yes[node]] + found[self.no[node]]
        return replace(self, weight=found)

    def cut(self, stops: BoolArray) -> Tree:
        """The tree in which the nodes that `stops` marks are leaves, without what is below them."""
        return self.cut_with(stops)[0]

    def cut_with(self, stops: BoolArray) -> tuple[Tree, IntArray]:
        """The tree cut back, and the number that each of its nodes had before."""
        kept: list[int] = []
        pending = [0]
        while pending:
            node = pending.pop()
            kept.append(node)
            if not stops[node] and self.source[node] >= 0:
                pending += [int(self.no[node]), int(self.yes[node])]
        old = np.array(kept)
        new = np.full(len(self.source), -1)
        new[old] = np.arange(len(old))
        ends = stops[old] | (self.source[old] < 0)
        blank = np.full(len(old), -1)
        small = Tree(
            np.where(ends, blank, self.source[old]),
            np.where(ends, blank, self.top[old]),
            np.where(ends, blank, self.above[old]),
            np.where(ends, np.nan, self.value[old]),
            np.where(ends, blank, new[self.yes[old]]),
            np.where(ends, blank, new[self.no[old]]),
            self.coefficients[old],
            self.error[old],
            self.weight[old],
        )
        return small, old


@dataclass
class _Node:
    index: IntArray
    fit: LeafFit
    split: Split | None
    yes: int = -1
    no: int = -1


def grow(
    rows: RankRows,
    index: IntArray,
    options: LeafOptions,
    splits: SplitOptions,
    *,
    max_leaves: int,
) -> Tree:
    """Grow a tree: the split that lowers the error most comes first.

    A child's l2 penalty draws to its parent's operator, the root's to zero (to the mean if convex):
    few rows change little.

    Parameters
    ----------
    rows : RankRows
    index : array of ints
        Numbers of the rows to learn from.
    options : LeafOptions
    splits : SplitOptions
    max_leaves : int

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).random((300, 3))
    >>> y = np.where(X[:, 1] == X.max(axis=1), X.min(axis=1), X.max(axis=1))
    >>> rows = RankRows.from_data(X, y, convex=True)
    >>> tree = grow(rows, np.arange(300), LeafOptions(convex=True), SplitOptions(20), max_leaves=2)
    >>> tree.coefficients[tree.leaves, :3].round(6) + 0.0
    array([[0., 0., 1.],
           [1., 0., 0.]])
    """
    return _grown([_Growing(rows, index, options)], options, splits, max_leaves)[0]


def grow_several(
    several: Sequence[RankRows], options: LeafOptions, splits: SplitOptions, *, max_leaves: int
) -> list[Tree]:
    """A tree for all of each of several rows, with the same columns; they grow side by side."""
    working = [_Growing(rows, rows.everything(), options) for rows in several]
    return _grown(working, options, splits, max_leaves)


class _Growing:
    """A tree while it grows: its nodes, and the sides of the last split, which are to be priced."""

    def __init__(self, rows: RankRows, index: IntArray, options: LeafOptions) -> None:
        size = rows.n_columns
        start = np.full(size, 1 / size) if options.convex else np.zeros(size)
        self.rows, self.options = rows, options
        self.nodes: list[_Node] = []
        self.queue: list[tuple[float, int]] = []
        self.sides = [(index, fit_leaf(rows, index, options, start))]

    def add(self, several: Sequence[Split | None]) -> None:
        """Make nodes of the sides, given the best split of each."""
        for (part, fit), split in zip(self.sides, several, strict=True):
            self.nodes.append(_Node(part, fit, split))
            if split is not None and split.gain > 1e-10 * self.nodes[0].fit.error:
                heapq.heappush(self.queue, (-split.gain, len(self.nodes) - 1))

    def split(self) -> bool:
        """Split the node that gains most; False where none gains."""
        if not self.queue:
            return False
        node = self.nodes[heapq.heappop(self.queue)[1]]
        assert node.split is not None
        held = node.split.holds(self.rows, node.index)
        parts = (node.index[held], node.index[~held])
        fits = _sides(self.rows, node, parts, self.options)
        self.sides = list(zip(parts, fits, strict=True))
        node.yes, node.no = len(self.nodes), len(self.nodes) + 1
        return True


def _grown(
    working: Sequence[_Growing], options: LeafOptions, splits: SplitOptions, max_leaves: int
) -> list[Tree]:
    """Trees of so many leaves, the splits of all of them priced together."""
    going = list(working)
    for n_leaves in range(1, max_leaves + 1):
        sides = [(one.rows, *side) for one in going for side in one.sides]
        # The last leaves are not split.
        last = n_leaves == max_leaves
        several = [None] * len(sides) if last else best_splits(sides, options, splits)
        for one in going:
            one.add(several[: len(one.sides)])
            several = several[len(one.sides) :]
        going = [] if last else [one for one in going if one.split()]
        if not going:
            break
    return [_as_tree(one.rows, one.nodes) for one in working]


def _sides(
    rows: RankRows, node: _Node, parts: tuple[IntArray, IntArray], options: LeafOptions
) -> list[LeafFit]:
    """The operators of the two sides of a node, which pricing its split may have fitted already."""
    assert node.split is not None
    if node.split.sides and options.loss == "squared" and not options.l1:
        return [
            LeafFit(one.coefficients, one.error, rows.weight[part], one.statistics)
            for part, one in zip(parts, node.split.sides, strict=True)
        ]
    centre = node.fit.coefficients[:-1].copy()
    return [fit_leaf(rows, part, options, centre) for part in parts]


def _as_tree(rows: RankRows, nodes: list[_Node]) -> Tree:
    inner = [n.split if n.yes >= 0 else None for n in nodes]

    def column(name: str) -> IntArray:
        return np.array([-1 if split is None else getattr(split, name) for split in inner])

    return Tree(
        column("source"),
        column("top"),
        column("above"),
        np.array([np.nan if split is None else split.value for split in inner]),
        np.array([n.yes for n in nodes]),
        np.array([n.no for n in nodes]),
        np.array([n.fit.coefficients for n in nodes]),
        np.array([n.fit.error for n in nodes]),
        np.array([rows.weight[n.index].sum() for n in nodes]),
    )
