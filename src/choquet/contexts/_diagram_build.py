"""From the operator graph to a minimised diagram: classes of prefixes, rows of children, merging.

What remains to be said about a walk after k steps depends on two things: the subset reached, and
what the values met so far leave open. The second is a *class*. For exact operators it is the state
of the graph, since numbers are sums along the path; for labels it is the state together with the
labels that follow it. Every class with every subset of its state is a row of children by source.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from choquet.arrays import BoolArray, IntArray
from choquet.errors import TooLargeError
from choquet.walks._states import Lattice, Level, _distinct_groups

_OPEN = -1
"""Child that is never reached: the source is used already, or no walk that is kept goes there."""


@dataclass(frozen=True)
class Classes:
    """Classes of one level. The first `n_constant` are decided: one label, whatever follows.

    The others have a state each, and for each edge of it (`edge_ptr`) a class on the next level.
    """

    n_constant: int
    state: IntArray
    edge_ptr: IntArray
    child: IntArray


@dataclass(frozen=True)
class Layer:
    """Merged nodes of one level: rows of children on the next, by source, and weights likewise."""

    child: IntArray
    weight: IntArray


# -- classes ---------------------------------------------------------------------------------------


def classes_by_label(levels: tuple[Level, ...], labels: IntArray, n_labels: int) -> list[Classes]:
    """Classes of operator prefixes of which the same labels follow, for every level but the last.

    `labels` are 0..n_labels-1, one for each operator.
    """
    states = [np.zeros(1, dtype=np.int64)]
    edges = []
    for level in levels[:-1]:
        edges.append(_ranges(level.edge_ptr[states[-1]], level.edge_ptr[states[-1] + 1]))
        states.append(level.target[edges[-1]])
    found: list[Classes] = []
    after = labels
    for level, state in zip(reversed(levels[:-1]), reversed(states[:-1]), strict=True):
        lengths = level.edge_ptr[state + 1] - level.edge_ptr[state]
        starts = np.cumsum(lengths) - lengths
        low = np.minimum.reduceat(after, starts)
        decided = (low == np.maximum.reduceat(after, starts)) & (low < n_labels)
        group = _numbers_of_runs(starts, lengths, after)
        open_ = np.flatnonzero(~decided)
        key = state[open_] * (int(group.max()) + 1) + group[open_]
        _, first, inverse = np.unique(key, return_index=True, return_inverse=True)
        chosen = open_[first]
        children = after[_ranges(starts[chosen], starts[chosen] + lengths[chosen])]
        found.append(Classes(n_labels, state[chosen], _pointers(lengths[chosen]), children))
        after = low.copy()
        after[open_] = n_labels + inverse
    return found[::-1]


def classes_by_number(levels: tuple[Level, ...]) -> list[Classes]:
    """States as classes, for every level but the last; one with a single operator is decided."""
    found = []
    for level, following in pairwise(levels):
        open_ = following.n_paths > 1
        after = np.where(open_, np.cumsum(open_), 0).astype(np.int64)
        state = np.flatnonzero(level.n_paths > 1)
        start, stop = level.edge_ptr[state], level.edge_ptr[state + 1]
        child = after[level.target[_ranges(start, stop)]]
        found.append(Classes(1, state, _pointers(stop - start), child))
    return found


def _ranges(start: IntArray, stop: IntArray) -> IntArray:
    """start[0], …, stop[0] - 1, start[1], … in one array."""
    lengths = stop - start
    before = np.cumsum(lengths) - lengths
    return np.asarray(
        np.arange(int(lengths.sum())) + np.repeat(start - before, lengths), dtype=np.int64
    )


def _pointers(lengths: IntArray) -> IntArray:
    return np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(lengths)])


# -- rows of children, merged from the last level back ---------------------------------------------


def merge_layers(
    lattice: Lattice,
    levels: tuple[Level, ...],
    classes: list[Classes],
    *,
    weighted: bool,
    max_nodes: int,
) -> tuple[list[Layer], IntArray, int]:
    """Layers from the root (node 0) to the last step, labels at the end, and the least number."""
    sizes = [
        int(np.diff(level.member_ptr)[part.state].sum())
        for level, part in zip(levels[:-1], classes, strict=True)
    ]
    if sum(sizes) > max_nodes:
        raise TooLargeError(
            f"the diagram starts from {sum(sizes):,} nodes, more than max_nodes={max_nodes:,}; "
            "give fewer labels, round values with a smaller decimals=, or raise max_nodes="
        )
    n_constant = classes[0].n_constant
    layers: list[Layer] = []
    # Nodes of the next level: first the decided ones, then every class with every subset.
    node, least = np.arange(n_constant), np.zeros(n_constant, dtype=np.int64)
    next_ptr = np.zeros(1, dtype=np.int64)
    for k in reversed(range(len(classes))):
        part = classes[k]
        steps = _steps(lattice, levels[k], levels[k + 1], part)
        child, weight, ptr = _rows(lattice.n_sources, part, steps, node, least, next_ptr)
        if not weighted:
            weight[:] = 0
        # Numbers count from the least that a node leads to, so that equal shapes are equal nodes.
        least = np.where(child == _OPEN, np.iinfo(np.int64).max, weight).min(axis=1)
        layer, node = _merge(child, np.where(child == _OPEN, 0, weight - least[:, None]))
        layers.append(layer)
        next_ptr = ptr
    return *_reachable(layers[::-1], int(node[-1])), int(least[-1])


@dataclass(frozen=True)
class _Steps:
    """Steps from classes: class and place in its state, by which source, to which, at what cost."""

    owner: IntArray
    place: IntArray
    source: IntArray
    child: IntArray
    end: IntArray
    before: IntArray


def _steps(lattice: Lattice, level: Level, following: Level, part: Classes) -> _Steps:
    """All steps from the undecided classes of a level, by every source that goes on."""
    size = level.member_ptr[part.state + 1] - level.member_ptr[part.state]
    at = _ranges(level.member_ptr[part.state], level.member_ptr[part.state + 1])
    class_of = np.repeat(np.arange(len(part.state)), size)
    place = np.arange(len(at)) - np.repeat(_pointers(size)[:-1], size)
    nodes = level.members[at]
    froms, reached = lattice.successors(nodes)
    owner = class_of[froms]
    state = part.state[owner]
    edge = level.edge_of(state, lattice.labels[reached // lattice.width])
    child = part.child[part.edge_ptr[owner] + edge - level.edge_ptr[state]]
    added = reached // lattice.width ^ nodes[froms] // lattice.width
    return _Steps(
        owner=owner,
        place=place[froms],
        source=np.log2(added.astype(np.float64)).round().astype(np.int64),
        child=child,
        end=following.places(lattice, level.target[edge], reached),
        before=level.paths_before[edge],
    )


def _rows(
    n_sources: int,
    part: Classes,
    steps: _Steps,
    node: IntArray,
    least: IntArray,
    next_ptr: IntArray,
) -> tuple[IntArray, IntArray, IntArray]:
    """Children and weights by source: of the decided classes, then of the others by subset.

    Also where the rows of each undecided class begin, counted from the first of them.
    """
    n_constant = part.n_constant
    n_places = np.zeros(len(part.state), dtype=np.int64)
    np.maximum.at(n_places, steps.owner, steps.place + 1)
    ptr = _pointers(n_places)
    child = np.full((n_constant + int(ptr[-1]), n_sources), _OPEN)
    weight = np.zeros(child.shape, dtype=np.int64)
    child[:n_constant] = node[:n_constant, None]
    decided = steps.child < n_constant
    begin = n_constant + next_ptr[np.maximum(steps.child - n_constant, 0)]
    to = np.where(decided, steps.child, begin + steps.end)
    row = n_constant + ptr[steps.owner] + steps.place
    child[row, steps.source] = node[to]
    weight[row, steps.source] = steps.before + least[to]
    return child, weight, ptr


def _merge(child: IntArray, weight: IntArray) -> tuple[Layer, IntArray]:
    """Nodes that are alike where both are defined, made one as far as a quick rule finds them."""
    if weight.any():
        weights, coded = np.unique(weight, return_inverse=True)
        key = child * len(weights) + coded.reshape(child.shape)
    else:
        weights, key = np.zeros(1, dtype=np.int64), child
    keys, number = np.unique(key[child != _OPEN], return_inverse=True)
    rows = np.full(child.shape, _OPEN)
    rows[child != _OPEN] = number
    rows, keys = _by_popularity(rows, keys)
    best: tuple[IntArray, IntArray] | None = None
    for filled in (_fill_default(rows), _fill_default(_fill_alike(rows))):
        distinct, inverse = _distinct_rows(filled)
        if best is None or len(distinct) < len(best[0]):
            best = distinct, inverse
    assert best is not None
    values = keys[best[0]]
    return Layer(values // len(weights), weights[values % len(weights)]), best[1]


def _by_popularity(rows: IntArray, keys: IntArray) -> tuple[IntArray, IntArray]:
    """Children renumbered so that 0 is the one that most sources lead to, and their keys."""
    counts = np.bincount(rows[rows != _OPEN], minlength=len(keys))
    order = np.argsort(-counts, kind="stable")
    rank = np.empty(len(keys), dtype=np.int64)
    rank[order] = np.arange(len(keys))
    return np.where(rows == _OPEN, _OPEN, rank[rows]), keys[order]


def majority(rows: IntArray) -> IntArray:
    """Most frequent child of each row that is not open, the smallest number of equals."""
    best = np.full(len(rows), -1)
    most = np.zeros(len(rows), dtype=np.int64)
    for j in range(rows.shape[1]):
        column = rows[:, j]
        count = np.where(column == _OPEN, 0, (rows == column[:, None]).sum(axis=1))
        better = (count > most) | ((count == most) & (count > 0) & (column < best))
        best, most = np.where(better, column, best), np.where(better, count, most)
    return best


def _fill_default(rows: IntArray) -> IntArray:
    """Open children take the majority of their row."""
    return np.where(rows == _OPEN, majority(rows)[:, None], rows)


def _fill_alike(rows: IntArray) -> IntArray:
    """Open children take what the source leads to in other rows with the same set of children.

    Sources that play the same part have the same child there, used or not: this is what keeps the
    diagram of a p-symmetric measure small.
    """
    family = _families(rows)
    n_children = int(rows.max()) + 1
    n = rows.shape[1]
    filled = rows.copy()
    for j in range(n):
        known = rows[:, j] != _OPEN
        pairs, counts = np.unique(family[known] * n_children + rows[known, j], return_counts=True)
        if not len(pairs):
            continue
        order = np.lexsort((pairs, -counts, pairs // n_children))
        owner, first = np.unique((pairs // n_children)[order], return_index=True)
        usual = np.full(int(family.max()) + 1, _OPEN)
        usual[owner] = (pairs % n_children)[order][first]
        filled[~known, j] = usual[family[~known]]
    return filled


def _families(rows: IntArray) -> IntArray:
    """Rows with the same set of children have the same number."""
    ordered = np.sort(rows, axis=1)
    repeated: BoolArray = np.zeros(rows.shape, dtype=np.bool_)
    repeated[:, 1:] = ordered[:, 1:] == ordered[:, :-1]
    ordered[repeated] = _OPEN
    return _distinct_rows(np.sort(ordered, axis=1))[1]


def _distinct_rows(rows: IntArray) -> tuple[IntArray, IntArray]:
    """The distinct rows, and the number of each row among them."""
    n, width = rows.shape
    number = _numbers_of_runs(np.arange(n) * width, np.full(n, width), rows.ravel())
    first = np.unique(number, return_index=True)[1]
    return rows[first], number


def _numbers_of_runs(starts: IntArray, lengths: IntArray, values: IntArray) -> IntArray:
    """Runs of values with the same values in the same places have the same number."""
    place = np.arange(len(values)) - np.repeat(starts, lengths)
    # Groups are compared as sets, so each value carries its place.
    return _distinct_groups(starts, place * (int(values.max()) + 2) + values + 1)[0]


def _reachable(layers: list[Layer], root: int) -> tuple[list[Layer], IntArray]:
    """Layers without nodes that no walk comes to, renumbered, and the labels that are left."""
    kept, found = np.array([root]), []
    for layer in layers:
        child = layer.child[kept]
        kept, number = np.unique(child, return_inverse=True)
        found.append((number.reshape(child.shape), layer.weight, kept))
    rows, result = np.array([root]), []
    for child, weight, after in found:
        result.append(Layer(child.astype(np.int64), weight[rows]))
        rows = after
    return result, rows
