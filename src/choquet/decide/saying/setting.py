"""Rows on measures, and the names and scores that statements refer to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np

from choquet.arrays import FloatArray
from choquet.decide.models import functionals as f
from choquet.errors import OptionError, SourceError

Alternative: TypeAlias = str | tuple[float, ...]
Criterion: TypeAlias = str | int


@dataclass(frozen=True, eq=False)
class Row:
    """One row: functional ≥ bound + strict · ε, or = bound.

    The same ε serves all that is strict, scores in the units of their scale: `strict` is 1 for
    scores, which are held between 0 and 1, and the width of the scale for importance and such.
    """

    functional: f.Functional
    bound: float = 0.0
    strict: float = 0.0
    equal: bool = False


def interval(functional: f.Functional, low: float | None, high: float | None) -> list[Row]:
    """Rows that keep a number between two others; an equation if they are the same."""
    if low is not None and high is not None and low == high:
        return [Row(functional, low, equal=True)]
    rows = [] if low is None else [Row(functional, low)]
    if high is not None:
        rows.append(Row(f.Sum(((-1.0, functional),)), -high))
    return rows


@dataclass(frozen=True, eq=False)
class Setting:
    """Names and scores that statements refer to.

    Attributes
    ----------
    criteria : sequence of str
        Names.
    lows, highs : dict of str to array
        Scores of the alternatives on the common scale; two where a score is known as a range.
    tree : dict of str to sequence of str
        The parts of each node; parts are nodes or criteria. Empty without a tree.
    width : float
        The width of the common scale as users count: 20 for marks from 0 to 20.
    origin : float
        Where it begins.
    """

    criteria: Sequence[str]
    lows: Mapping[str, FloatArray] = field(default_factory=dict)
    highs: Mapping[str, FloatArray] = field(default_factory=dict)
    tree: Mapping[str, Sequence[str]] = field(default_factory=dict)
    width: float = 1.0
    origin: float = 0.0

    @property
    def n(self) -> int:
        """Number of criteria."""
        return len(self.criteria)

    def criterion(self, name: Criterion) -> int:
        """Number of a criterion."""
        if isinstance(name, int) and not isinstance(name, bool) and 0 <= name < self.n:
            return name
        if name not in self.criteria:
            known = ", ".join(list(self.criteria)[:10])
            raise SourceError(f"no criterion is called {name!r}; there are {known}")
        return next(k for k, one in enumerate(self.criteria) if one == name)

    def leaves(self, name: Criterion) -> tuple[int, ...]:
        """Criteria under a node; a criterion stands for itself."""
        if isinstance(name, str) and name in self.tree:
            return tuple(sorted(i for part in self.tree[name] for i in self.leaves(part)))
        return (self.criterion(name),)

    @property
    def roots(self) -> tuple[str, ...]:
        """Groups and criteria that are in no group."""
        inside = {part for parts in self.tree.values() for part in parts}
        return tuple(name for name in (*self.tree, *self.criteria) if name not in inside)

    def siblings(self, *names: Criterion) -> tuple[list[tuple[int, ...]], list[int]] | None:
        """The parts of the node that holds all these, and their places; None if none does."""
        for parts in (*self.tree.values(), self.roots):
            if all(name in parts for name in names):
                places = [list(parts).index(str(name)) for name in names]
                return [self.leaves(part) for part in parts], places
        return None

    def node(self, name: Criterion) -> f.Functional:
        """The value of a node of the tree, which scores within it are divided by."""
        return f.SetValue(self._members(name))

    def _members(self, name: Criterion) -> tuple[int, ...]:
        found = self.leaves(name)
        if len(found) < 2:
            raise SourceError(f"{name} is one criterion, whose scores are known: name a group")
        return found

    def integral(
        self, alternative: Alternative, *, upper: bool, on: Criterion | None = None
    ) -> f.Functional:
        """The score of an alternative, with the upper or lower end of what is not known.

        Within a node it is the score times the value of the node, so that it stays linear.
        """
        members = None if on is None else self._members(on)
        if not isinstance(alternative, str):
            row = np.asarray(alternative, dtype=np.float64)
            if row.shape != (self.n,):
                raise OptionError(f"a row needs {self.n} scores, not {list(alternative)}")
            return f.Integral((row - self.origin) / self.width, members)
        table = self.highs if upper else self.lows
        if alternative not in table:
            raise SourceError(f"no alternative is called {alternative!r}")
        return f.Integral(np.asarray(table[alternative], dtype=np.float64), members)

    def better(
        self, first: Alternative, second: Alternative, on: Criterion | None = None
    ) -> f.Functional:
        """By how much the first is better, as favourable to it as the ranges allow."""
        return f.difference(
            self.integral(first, upper=True, on=on), self.integral(second, upper=False, on=on)
        )

    def importance(self, name: Criterion, beside: Criterion | None = None) -> f.Functional:
        """Importance of a criterion, or of a node among its siblings."""
        names = [name] if beside is None else [name, beside]
        found = self.siblings(*names) if self.tree else None
        if found is not None:
            return f.NodeImportance(found[0], found[1][0])
        self._check_same_group(names)
        return f.Importance(self.criterion(name))

    def _check_same_group(self, names: Sequence[Criterion]) -> None:
        if any(name in self.tree for name in names):
            raise SourceError(
                f"{' and '.join(map(str, names))} are not parts of the same group; a group can be "
                "set beside other parts of the group that it is in"
            )

    def interaction(self, pair: tuple[Criterion, Criterion]) -> f.Functional:
        """Interaction of two criteria, or of two parts of one node."""
        first, second = pair
        if first == second:
            raise SourceError(f"{first} does not interact with itself: name two criteria")
        found = self.siblings(first, second) if self.tree else None
        if found is not None:
            return f.NodeInteraction(found[0], *found[1])
        self._check_same_group(pair)
        return f.InteractionIndex(self.criterion(first), self.criterion(second))
