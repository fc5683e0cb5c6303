"""States of the operator graph, level by level, on flat arrays."""

from __future__ import annotations

from dataclasses import dataclass
from math import factorial
from typing import Any

import numpy as np
import numpy.typing as npt

from choquet.arrays import BoolArray, FloatArray, IntArray
from choquet.errors import TooLargeError
from choquet.lattice import n_sources_of, subset_sizes

_EXACT = 9e18
"""Counts up to here are int64; larger ones are Python integers."""


@dataclass(frozen=True)
class Lattice:
    """The nodes that walks may pass: (subset, unsupported so far), numbered subset·width + u.

    Attributes
    ----------
    labels : array of 2**N ints
        Number of each subset's rounded value, ascending with the value.
    label_values : array
        The value of each label.
    order, ranks : arrays of 2**N ints
        Subsets in the order of their labels, and the place of each in that order.
    unsupported : array of 2**N bools, or None
        Subsets that count as unsupported.
    width : int
        One more than the unsupported subsets that a walk may meet.
    completions : array of shape (2**N, width), or None
        Number of ways on to X; without support it is (N - |A|)!, and not stored.
    """

    n_sources: int
    labels: npt.NDArray[np.int32]
    label_values: FloatArray
    order: IntArray
    ranks: IntArray
    unsupported: BoolArray | None
    width: int
    completions: npt.NDArray[Any] | None

    @classmethod
    def of(
        cls, values: FloatArray, decimals: int, supported: BoolArray | None, allowed: int
    ) -> Lattice:
        """Lattice of a measure's values; `allowed` unsupported subsets on a walk."""
        n_sources = n_sources_of(values)
        _, first, labels = np.unique(
            np.round(values, decimals) + 0.0, return_index=True, return_inverse=True
        )
        order = np.argsort(labels.reshape(-1), kind="stable")
        ranks = np.empty_like(order)
        ranks[order] = np.arange(len(order))
        unsupported = None if supported is None else ~supported
        width = 1 if supported is None else allowed + 1
        return cls(
            n_sources=n_sources,
            labels=labels.astype(np.int32).reshape(-1),
            label_values=values[first],
            order=order,
            ranks=ranks,
            unsupported=unsupported,
            width=width,
            completions=None if unsupported is None else _completions(unsupported, width),
        )

    @property
    def n_walks(self) -> int:
        """Exact number of walks."""
        if self.completions is None:
            return factorial(self.n_sources)
        return int(self.completions[0, 0])

    def rank_of(self, nodes: IntArray) -> IntArray:
        """Place of each node when all are ordered by label."""
        if self.width == 1:
            return self.ranks[nodes]
        return self.ranks[nodes // self.width] * self.width + nodes % self.width

    def node_of(self, ranks: IntArray) -> IntArray:
        """Node at each place: the inverse of `rank_of`."""
        if self.width == 1:
            return self.order[ranks]
        return self.order[ranks // self.width] * self.width + ranks % self.width

    def allows(self, masks: IntArray) -> BoolArray:
        """Whether each walk, given as the masks of its chain, is among those kept."""
        if self.unsupported is None:
            return np.ones(len(masks), dtype=np.bool_)
        kept: BoolArray = self.unsupported[masks].sum(axis=1) < self.width
        return kept

    def successors(self, nodes: IntArray) -> tuple[IntArray, IntArray]:
        """All steps from the nodes by one source: positions in `nodes`, and the nodes reached."""
        masks, met = nodes // self.width, nodes % self.width
        froms, tos = [], []
        for i in range(self.n_sources):
            at = np.flatnonzero(masks >> i & 1 == 0)
            reached = masks[at] | 1 << i
            u = met[at]
            if self.unsupported is not None and self.completions is not None:
                u = u + self.unsupported[reached]
                alive = u < self.width
                alive[alive] = self.completions[reached[alive], u[alive]] > 0
                at, reached, u = at[alive], reached[alive], u[alive]
            froms.append(at)
            tos.append(reached * self.width + u)
        return np.concatenate(froms), np.concatenate(tos)

    def sample_sorts(self, n: int, rng: np.random.Generator) -> IntArray:
        """Sorts of walks drawn uniformly."""
        if self.completions is None:
            return rng.permuted(np.tile(np.arange(self.n_sources), (n, 1)), axis=1)
        sorts = np.empty((n, self.n_sources), dtype=np.int64)
        mask, met = np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.int64)
        assert self.unsupported is not None
        ways = self.completions.astype(np.float64)
        for j in range(self.n_sources):
            # Each source with the number of ways that remain after it.
            after = np.zeros((n, self.n_sources))
            for i in range(self.n_sources):
                reached = mask | 1 << i
                u = met + self.unsupported[reached]
                open_ = (mask >> i & 1 == 0) & (u < self.width)
                after[open_, i] = ways[reached[open_], u[open_]]
            cumulative = after.cumsum(axis=1)
            draw = rng.random(n) * cumulative[:, -1]
            sorts[:, j] = (cumulative <= draw[:, None]).sum(axis=1)
            mask = mask | np.int64(1) << sorts[:, j]
            met = met + self.unsupported[mask]
        return sorts

    def contributions(self, values: FloatArray) -> FloatArray:
        """Mean step of the values by each source over all walks, every walk counted once."""
        n = self.n_sources
        if not self.n_walks:
            return np.full(n, np.nan)
        unsupported = self.unsupported
        if unsupported is None or self.completions is None:
            unsupported = np.zeros(1 << n, dtype=np.bool_)
        ways = _completions(unsupported, self.width).astype(np.float64)
        reach = np.zeros_like(ways)
        reach[0, 0] = 1.0
        sizes = subset_sizes(n)
        means = np.zeros(n)
        for size in range(n):
            masks = np.flatnonzero(sizes == size)
            there, onward = reach[masks], ways[masks]
            flow = np.divide(there, onward, out=np.zeros(there.shape), where=onward > 0)
            for i in range(n):
                open_ = masks >> i & 1 == 0
                upper = masks[open_] | 1 << i
                # A step to an unsupported subset moves one column to the right.
                shift = unsupported[upper]
                passing = flow[open_]
                passing[shift, 1:] = passing[shift, :-1]
                passing[shift, 0] = 0.0
                passing *= ways[upper]
                reach[upper] += passing
                means[i] += passing.sum(axis=1) @ (values[upper] - values[masks[open_]])
        return means

    def flat_pairs(self, levels: tuple[Level, ...]) -> tuple[npt.NDArray[Any], ...]:
        """The graph as flat arrays for the walk counter: edges, and the node pairs behind each."""
        sizes = [len(level.n_paths) for level in levels]
        offsets = np.concatenate([[0], np.cumsum(sizes)])
        edge_ptr, target, pair_ptr, pair_from, pair_to = [np.zeros(1, np.int64)], [], [], [], []
        n_edges = n_pairs = 0
        pair_ptr.append(np.zeros(1, np.int64))
        for k, level in enumerate(levels[:-1]):
            edge_ptr.append(level.edge_ptr[1:] + n_edges)
            target.append(level.target + offsets[k + 1])
            edge, start, end = _pairs_of_level(self, level, levels[k + 1])
            pair_ptr.append(np.cumsum(np.bincount(edge, minlength=len(level.label))) + n_pairs)
            pair_from.append(start)
            pair_to.append(end)
            n_edges += len(level.label)
            n_pairs += len(edge)
        edge_ptr.append(np.full(sizes[-1] if sizes else 0, n_edges))
        members = [np.diff(level.member_ptr) for level in levels]
        return (
            np.concatenate(edge_ptr),
            _joined(target),
            np.concatenate(pair_ptr),
            _joined(pair_from),
            _joined(pair_to),
            _joined(members),
        )


@dataclass(frozen=True)
class Level:
    """States of one size, and the edges that leave them, sorted by state and label.

    Attributes
    ----------
    member_ptr, members : arrays of ints
        Nodes of each state: ``members[member_ptr[s]:member_ptr[s + 1]]``, ascending.
    edge_ptr : array of ints
        Edges of each state: from ``edge_ptr[s]`` to ``edge_ptr[s + 1]``.
    label, target : arrays of ints
        Value met by each edge, and the state it leads to on the next level.
    n_paths : array
        Number of operators from each state on.
    paths_before : array
        Number of operators by earlier edges of the same state.
    """

    member_ptr: IntArray
    members: IntArray
    edge_ptr: IntArray
    label: npt.NDArray[np.int32]
    target: IntArray
    n_paths: npt.NDArray[Any]
    paths_before: npt.NDArray[Any]

    def edge_of(self, state: IntArray, label: npt.NDArray[np.int32]) -> IntArray:
        """Edge with the given label from each state (it must exist)."""
        return self._last_not_above(state, self.label, label)

    def edge_at(self, state: IntArray, number: npt.NDArray[Any]) -> IntArray:
        """Edge on the path with the given number, counted from each state."""
        return self._last_not_above(state, self.paths_before, number)

    def places(self, lattice: Lattice, state: IntArray, nodes: IntArray) -> IntArray:
        """Place of each node among those of its state, by a search in (state, node) order."""
        n_nodes = (1 << lattice.n_sources) * lattice.width
        owner = np.repeat(np.arange(len(self.n_paths)), np.diff(self.member_ptr))
        found = np.searchsorted(owner * n_nodes + self.members, state * n_nodes + nodes)
        return found - self.member_ptr[state]

    def _last_not_above(
        self, state: IntArray, keys: npt.NDArray[Any], wanted: npt.NDArray[Any]
    ) -> IntArray:
        """Last edge of each state whose key is not above the one wanted, by bisection."""
        low, high = self.edge_ptr[state], self.edge_ptr[state + 1] - 1
        while True:
            open_ = low < high
            if not open_.any():
                return low
            middle = (low + high + 1) // 2
            fits = keys[middle] <= wanted
            low = np.where(open_ & fits, middle, low)
            high = np.where(open_ & ~fits, middle - 1, high)


def build_levels(lattice: Lattice, max_states: int) -> tuple[Level, ...]:
    """Subset construction from ∅ to X; empty if no walk is kept."""
    if lattice.n_walks == 0:
        return ()
    parts = []
    member_ptr, members = np.array([0, 1]), np.array([0])
    n_states = 1
    for _ in range(lattice.n_sources):
        edge_ptr, label, target, next_ptr, next_members = _step(lattice, member_ptr, members)
        parts.append((member_ptr, members, edge_ptr, label, target))
        member_ptr, members = next_ptr, next_members
        n_states += len(member_ptr) - 1
        if n_states > max_states:
            raise TooLargeError(
                f"the operator graph has more than {max_states:,} states; round values with a "
                "smaller decimals=, or raise max_states="
            )
    edge_ptr, none = np.zeros(len(member_ptr), dtype=np.int64), np.zeros(0, dtype=np.int64)
    return _count_paths([*parts, (member_ptr, members, edge_ptr, none.astype(np.int32), none)])


def _step(
    lattice: Lattice, member_ptr: IntArray, members: IntArray
) -> tuple[IntArray, npt.NDArray[np.int32], IntArray, IntArray, IntArray]:
    """Edges of all states of a level, and the distinct states they lead to."""
    n_states = len(member_ptr) - 1
    state_of = np.repeat(np.arange(n_states), np.diff(member_ptr))
    at, reached = lattice.successors(members)
    # Nodes are ranked by label, then number: one sort brings (state, label, node) into order, and
    # the nodes of a state, which have one label, stay ascending.
    n_nodes = (1 << lattice.n_sources) * lattice.width
    keys = state_of[at] * n_nodes + lattice.rank_of(reached)
    keys.sort()  # plain sorting is several times faster here than np.unique, which hashes first
    keys = keys[np.concatenate([[True], keys[1:] != keys[:-1]])]
    state, node = keys // n_nodes, lattice.node_of(keys % n_nodes)
    label = lattice.labels[node // lattice.width]
    starts = np.flatnonzero(np.concatenate([[True], (np.diff(state) != 0) | (np.diff(label) != 0)]))
    target, next_ptr, next_members = _distinct_groups(starts, node)
    edge_ptr = np.concatenate([[0], np.cumsum(np.bincount(state[starts], minlength=n_states))])
    return edge_ptr, label[starts], target, next_ptr, next_members


def _distinct_groups(starts: IntArray, nodes: IntArray) -> tuple[IntArray, IntArray, IntArray]:
    """Number equal runs of nodes alike; returns the number of each run, and the distinct runs.

    Runs are told apart by a 64-bit hash of their nodes and length, and then compared node by node,
    so that the answer does not rest on chance.
    """
    lengths = np.diff(np.append(starts, len(nodes)))
    seed = 0
    while True:
        hashes = np.add.reduceat(_scramble(nodes, seed), starts) + _scramble(lengths, seed + 1)
        _, chosen, number = np.unique(hashes, return_index=True, return_inverse=True)
        # Numbered in the order of their first occurrence, which does not depend on the hash.
        place = np.argsort(chosen)
        rank = np.empty_like(place)
        rank[place] = np.arange(len(place))
        chosen, number = chosen[place], rank[number.reshape(-1)]
        within = np.arange(len(nodes)) - np.repeat(starts, lengths)
        same_place = np.repeat(starts[chosen[number]], lengths) + within
        same_length = np.array_equal(lengths[chosen[number]], lengths)
        if same_length and np.array_equal(nodes[same_place], nodes):
            break
        seed += 1
    pointers = np.concatenate([[0], np.cumsum(lengths[chosen])])
    within = np.arange(pointers[-1]) - np.repeat(pointers[:-1], lengths[chosen])
    return number, pointers, nodes[np.repeat(starts[chosen], lengths[chosen]) + within]


def _scramble(nodes: IntArray, seed: int) -> npt.NDArray[np.uint64]:
    """Well-mixed 64-bit words (the finaliser of splitmix64)."""
    z = (nodes.astype(np.uint64) + np.uint64(1 + 1_000_003 * seed)) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def _count_paths(parts: list[tuple[Any, ...]]) -> tuple[Level, ...]:
    """Number of paths from every state, from the last level back."""
    estimate = np.ones(len(parts[-1][0]) - 1)
    largest = 1.0
    for _, _, edge_ptr, _, target in reversed(parts[:-1]):
        estimate = np.add.reduceat(estimate[target], edge_ptr[:-1])
        largest = max(largest, float(estimate.max()))
    dtype: Any = np.int64 if largest < _EXACT else object
    n_paths = np.ones(len(parts[-1][0]) - 1, dtype=dtype)
    member_ptr, members, edge_ptr, label, target = parts[-1]
    no_edges = np.zeros(0, dtype=dtype)
    levels = [Level(member_ptr, members, edge_ptr, label, target, n_paths, no_edges)]
    for member_ptr, members, edge_ptr, label, target in reversed(parts[:-1]):
        ahead = n_paths[target]
        n_paths = np.add.reduceat(ahead, edge_ptr[:-1])
        # A running sum within each state; differences of a wrapped int64 sum are still exact.
        running = np.cumsum(ahead) - ahead
        before = running - np.repeat(running[edge_ptr[:-1]], np.diff(edge_ptr))
        levels.append(Level(member_ptr, members, edge_ptr, label, target, n_paths, before))
    return tuple(reversed(levels))


def _completions(unsupported: BoolArray, width: int) -> npt.NDArray[Any]:
    """Ways from every node to X, from X back; exact."""
    n_sources = n_sources_of(unsupported)
    sizes = subset_sizes(n_sources)
    ways = np.zeros((len(unsupported), width), dtype=np.int64 if n_sources <= 20 else object)
    ways[-1] = 1
    for size in reversed(range(n_sources)):
        masks = np.flatnonzero(sizes == size)
        for i in range(n_sources):
            lower = masks[masks >> i & 1 == 0]
            upper = lower | 1 << i
            known = ~unsupported[upper]
            ways[lower[known]] += ways[upper[known]]
            ways[lower[~known], :-1] += ways[upper[~known], 1:]
    return ways


def _pairs_of_level(
    lattice: Lattice, level: Level, following: Level
) -> tuple[IntArray, IntArray, IntArray]:
    """All steps behind the edges of a level: edge (ascending), place in state, place in target."""
    state_of = np.repeat(np.arange(len(level.n_paths)), np.diff(level.member_ptr))
    at, reached = lattice.successors(level.members)
    edge = level.edge_of(state_of[at], lattice.labels[reached // lattice.width])
    start = at - level.member_ptr[state_of[at]]
    end = following.places(lattice, level.target[edge], reached)
    order = np.argsort(edge, kind="stable")
    return edge[order], start[order], end[order]


def _joined(arrays: list[IntArray]) -> IntArray:
    return np.concatenate(arrays) if arrays else np.zeros(0, dtype=np.int64)
