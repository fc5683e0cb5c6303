"""What people say, as small frozen classes; each gives linear rows on measures.

Alternatives are named, or given as rows of scores; criteria are named or numbered. A statement is
resolved by a `Setting`, which knows the names. Statements about criteria and about rows of scores
also serve ``ChoquetRegressor(expert=[…])``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any, ClassVar, TypeAlias

import numpy as np

from choquet.arrays import FloatArray
from choquet.decide import functionals as f
from choquet.errors import OptionError, SourceError

__all__ = [
    "Cautious",
    "FavourBetween",
    "Importance",
    "ImportanceBetween",
    "InClass",
    "Indifferent",
    "Intensity",
    "Interaction",
    "InteractionBetween",
    "InteractionOrder",
    "Irrelevant",
    "Must",
    "OnlyIf",
    "Prefer",
    "Row",
    "SameImportance",
    "Score",
    "Separate",
    "Setting",
    "Statement",
    "Sufficient",
    "Undecided",
    "ValueBetween",
    "VetoBetween",
]

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

    def siblings(self, *names: Criterion) -> tuple[list[tuple[int, ...]], list[int]] | None:
        """The parts of the node that holds all these, and their places; None if none does."""
        for parts in self.tree.values():
            if all(name in parts for name in names):
                return [self.leaves(part) for part in parts], [list(parts).index(x) for x in names]
        return None

    def integral(self, alternative: Alternative, *, upper: bool) -> f.Functional:
        """The score of an alternative, with the upper or lower end of what is not known."""
        if not isinstance(alternative, str):
            row = np.asarray(alternative, dtype=np.float64)
            if row.shape != (self.n,):
                raise OptionError(f"a row needs {self.n} scores, not {list(alternative)}")
            return f.Integral((row - self.origin) / self.width)
        table = self.highs if upper else self.lows
        if alternative not in table:
            raise SourceError(f"no alternative is called {alternative!r}")
        return f.Integral(np.asarray(table[alternative], dtype=np.float64))

    def better(self, first: Alternative, second: Alternative) -> f.Functional:
        """By how much the first is better, as favourable to it as the ranges allow."""
        return f.difference(self.integral(first, upper=True), self.integral(second, upper=False))

    def importance(self, name: Criterion, beside: Criterion | None = None) -> f.Functional:
        """Importance of a criterion, or of a node among its siblings."""
        names = [name] if beside is None else [name, beside]
        found = self.siblings(*names) if self.tree else None
        if found is not None:
            return f.NodeImportance(found[0], found[1][0])
        return f.Importance(self.criterion(name))

    def interaction(self, pair: tuple[Criterion, Criterion]) -> f.Functional:
        """Interaction of two criteria, or of two parts of one node."""
        first, second = pair
        if first == second:
            raise SourceError(f"{first} does not interact with itself: name two criteria")
        found = self.siblings(first, second) if self.tree else None
        if found is not None:
            return f.NodeInteraction(found[0], *found[1])
        return f.InteractionIndex(self.criterion(first), self.criterion(second))


@dataclass(frozen=True)
class Statement:
    """Something that was said.

    Parameters
    ----------
    firm : float, default 1
        How firmly: what is said less firmly is given up first.
    """

    firm: float = field(default=1.0, kw_only=True)
    about: ClassVar[str] = "criteria"

    def rows(self, setting: Setting) -> list[Row]:
        """Rows on measures."""
        return self._rows(setting)

    def names(self) -> tuple[str, ...]:
        """Alternatives that it names."""
        return self._names()

    def _rows(self, setting: Setting) -> list[Row]:
        raise NotImplementedError

    def _names(self) -> tuple[str, ...]:
        return ()

    def to_rows(self, sources: Sequence[str]) -> Any:
        """Rows for ``ChoquetRegressor(expert=…)``, by the names of its sources.

        Examples
        --------
        >>> rows = Importance("safety", "comfort").to_rows(["safety", "comfort"])
        >>> rows.matrix.toarray().tolist(), rows.lower.tolist()
        ([[0.0, 1.0, -1.0, 0.0]], [1e-06])
        """
        import scipy.sparse as sp

        from choquet.learning.problem import Rows

        setting = Setting(tuple(sources))
        rows = self.rows(setting)
        lower = [row.bound + (STRICT if row.strict else 0.0) for row in rows]
        upper = [row.bound if row.equal else np.inf for row in rows]
        table = np.array([row.functional.values(setting.n) for row in rows])
        matrix = sp.csr_array(table.reshape(len(rows), 1 << setting.n))
        return Rows(matrix, np.array(lower, dtype=np.float64), np.array(upper, dtype=np.float64))


STRICT = 1e-6
"""By how much "more" is more, where a learner keeps what was said: above what solvers miss."""


@dataclass(frozen=True)
class _OfAlternatives(Statement):
    about: ClassVar[str] = "alternatives"


def _named(*alternatives: Alternative) -> tuple[str, ...]:
    return tuple(one for one in alternatives if isinstance(one, str))


@dataclass(frozen=True)
class Prefer(_OfAlternatives):
    """One alternative is better than another, by at least so much.

    Examples
    --------
    >>> Prefer("Echo", "Aria", by=0.05)
    Prefer(better='Echo', worse='Aria', by=0.05, strict=True, firm=1.0)
    """

    better: Alternative
    worse: Alternative
    by: float = 0.0
    strict: bool = True

    def _rows(self, setting: Setting) -> list[Row]:
        gap = setting.better(self.better, self.worse)
        return [Row(gap, self.by / setting.width, float(self.strict))]

    def _names(self) -> tuple[str, ...]:
        return _named(self.better, self.worse)


@dataclass(frozen=True)
class Intensity(_OfAlternatives):
    """The step from one alternative to a better one is larger than another such step."""

    better: Alternative
    worse: Alternative
    than_better: Alternative
    than_worse: Alternative

    def _rows(self, setting: Setting) -> list[Row]:
        here = setting.better(self.better, self.worse)
        there = f.difference(
            setting.integral(self.than_better, upper=False),
            setting.integral(self.than_worse, upper=True),
        )
        return [Row(f.difference(here, there), 0.0, 1.0)]

    def _names(self) -> tuple[str, ...]:
        return _named(self.better, self.worse, self.than_better, self.than_worse)


@dataclass(frozen=True)
class Indifferent(_OfAlternatives):
    """Two alternatives are about equally good."""

    first: Alternative
    second: Alternative
    within: float = 0.02

    def _rows(self, setting: Setting) -> list[Row]:
        room = self.within / setting.width
        pairs = ((self.first, self.second), (self.second, self.first))
        return [Row(setting.better(a, b), -room) for a, b in pairs]

    def _names(self) -> tuple[str, ...]:
        return _named(self.first, self.second)


@dataclass(frozen=True)
class Score(_OfAlternatives):
    """The score of an alternative lies between two numbers."""

    alternative: Alternative
    low: float | None = None
    high: float | None = None

    def _rows(self, setting: Setting) -> list[Row]:
        found = []
        if self.low is not None:
            bound = (self.low - setting.origin) / setting.width
            found.append(Row(setting.integral(self.alternative, upper=True), bound))
        if self.high is not None:
            lower = setting.integral(self.alternative, upper=False)
            bound = -(self.high - setting.origin) / setting.width
            found.append(Row(f.Sum(((-1.0, lower),)), bound))
        return found

    def _names(self) -> tuple[str, ...]:
        return _named(self.alternative)


@dataclass(frozen=True)
class InClass(_OfAlternatives):
    """An alternative belongs to a class; those of better classes score more.

    One alone says nothing: rows come from pairs, see `class_rows`.
    """

    alternative: str
    rank: int
    label: str = ""

    def _rows(self, setting: Setting) -> list[Row]:
        del setting
        return []

    def _names(self) -> tuple[str, ...]:
        return (self.alternative,)


@dataclass(frozen=True)
class Undecided(_OfAlternatives):
    """Someone was asked to compare two things, and could not say: it adds nothing."""

    first: str
    second: str

    def _rows(self, setting: Setting) -> list[Row]:
        del setting
        return []


@dataclass(frozen=True)
class Importance(Statement):
    """One criterion matters more than another; `at_most` bounds by how much."""

    more: Criterion
    less: Criterion
    by: float = 0.0
    strict: bool = True
    at_most: float | None = None

    def _rows(self, setting: Setting) -> list[Row]:
        gap = f.difference(
            setting.importance(self.more, self.less), setting.importance(self.less, self.more)
        )
        found = [Row(gap, self.by, self.strict * setting.width)]
        return found if self.at_most is None else found + interval(gap, None, self.at_most)


@dataclass(frozen=True)
class SameImportance(Statement):
    """Two criteria matter about equally."""

    first: Criterion
    second: Criterion
    within: float = 0.02

    def _rows(self, setting: Setting) -> list[Row]:
        gap = f.difference(
            setting.importance(self.first, self.second),
            setting.importance(self.second, self.first),
        )
        return interval(gap, -self.within, self.within)


@dataclass(frozen=True)
class ImportanceBetween(Statement):
    """The importance of a criterion lies between two numbers; all together make 1."""

    criterion: Criterion
    low: float | None = None
    high: float | None = None

    def _rows(self, setting: Setting) -> list[Row]:
        found = setting.siblings(self.criterion) if setting.tree else None
        if found is None:
            return interval(setting.importance(self.criterion), self.low, self.high)
        own = f.NodeImportance(found[0], found[1][0])
        whole = f.SetValue(tuple(sorted(i for part in found[0] for i in part)))
        rows = []
        if self.low is not None:
            rows.append(Row(f.Sum(((1.0, own), (-self.low, whole)))))
        if self.high is not None:
            rows.append(Row(f.Sum(((self.high, whole), (-1.0, own)))))
        return rows


@dataclass(frozen=True)
class Interaction(Statement):
    """Two criteria overlap (-1), complement each other (1), or are independent (0)."""

    pair: tuple[Criterion, Criterion]
    sign: int

    def _rows(self, setting: Setting) -> list[Row]:
        found = setting.interaction(self.pair)
        if self.sign == 0:
            return [Row(found, 0.0, equal=True)]
        return [Row(f.Sum(((float(np.sign(self.sign)), found),)), 0.0, setting.width)]


@dataclass(frozen=True)
class InteractionBetween(Statement):
    """The interaction of two criteria lies between two numbers."""

    pair: tuple[Criterion, Criterion]
    low: float | None = None
    high: float | None = None

    def _rows(self, setting: Setting) -> list[Row]:
        return interval(setting.interaction(self.pair), self.low, self.high)


@dataclass(frozen=True)
class InteractionOrder(Statement):
    """One interaction is larger than another."""

    more: tuple[Criterion, Criterion]
    less: tuple[Criterion, Criterion]
    by: float = 0.0
    strict: bool = True

    def _rows(self, setting: Setting) -> list[Row]:
        gap = f.difference(setting.interaction(self.more), setting.interaction(self.less))
        return [Row(gap, self.by, self.strict * setting.width)]


@dataclass(frozen=True)
class Must(Statement):
    """A criterion is a must: no score exceeds the one on this criterion."""

    criterion: Criterion

    def _rows(self, setting: Setting) -> list[Row]:
        own = setting.leaves(self.criterion)
        others = tuple(i for i in range(setting.n) if i not in own)
        return [Row(f.SetValue(others), 0.0, equal=True)] if others else []


@dataclass(frozen=True)
class Sufficient(Statement):
    """A criterion is enough: no score falls below the one on this criterion."""

    criterion: Criterion

    def _rows(self, setting: Setting) -> list[Row]:
        return [Row(f.SetValue(setting.leaves(self.criterion)), 1.0, equal=True)]


@dataclass(frozen=True)
class Irrelevant(Statement):
    """A criterion does not count at all."""

    criterion: Criterion

    def _rows(self, setting: Setting) -> list[Row]:
        return [Row(f.Importance(i), 0.0, equal=True) for i in setting.leaves(self.criterion)]


@dataclass(frozen=True)
class OnlyIf(Statement):
    """A criterion counts only as far as another one is good."""

    criterion: Criterion
    context: Criterion

    def _rows(self, setting: Setting) -> list[Row]:
        first, second = setting.criterion(self.criterion), setting.criterion(self.context)
        if first == second:
            raise SourceError(f"{self.criterion} cannot depend on itself: name two criteria")
        return [Row(f.GainWithout(first, second), 0.0, equal=True)]


@dataclass(frozen=True)
class Separate(Statement):
    """Criteria of different groups do not interact."""

    groups: tuple[tuple[Criterion, ...], ...]

    def _rows(self, setting: Setting) -> list[Row]:
        group = {setting.criterion(name): k for k, part in enumerate(self.groups) for name in part}
        most = min(setting.n, 2 if setting.n > 12 else setting.n)
        return [
            Row(f.Mass(members), 0.0, equal=True)
            for size in range(2, most + 1)
            for members in combinations(range(setting.n), size)
            if len({group.get(i, -1 - i) for i in members}) > 1
        ]


@dataclass(frozen=True)
class Cautious(Statement):
    """How much good scores may make up for poor ones (orness): 0 not at all, 1 wholly."""

    low: float | None = None
    high: float | None = None

    def _rows(self, setting: Setting) -> list[Row]:
        del setting
        return interval(f.Orness(), self.low, self.high)


@dataclass(frozen=True)
class VetoBetween(Statement):
    """The degree to which a poor score on a criterion spoils the whole; 1 is a must."""

    criterion: Criterion
    low: float | None = None
    high: float | None = None

    def _rows(self, setting: Setting) -> list[Row]:
        return interval(f.Veto(setting.criterion(self.criterion)), self.low, self.high)


@dataclass(frozen=True)
class FavourBetween(Statement):
    """The degree to which a good score on a criterion saves the whole; 1 suffices."""

    criterion: Criterion
    low: float | None = None
    high: float | None = None

    def _rows(self, setting: Setting) -> list[Row]:
        return interval(f.Favour(setting.criterion(self.criterion)), self.low, self.high)


@dataclass(frozen=True)
class ValueBetween(Statement):
    """The value of a set of criteria: the score of what is good on these and poor elsewhere."""

    criteria: tuple[Criterion, ...]
    low: float | None = None
    high: float | None = None

    def _rows(self, setting: Setting) -> list[Row]:
        members = tuple(setting.criterion(name) for name in self.criteria)
        return interval(f.SetValue(members), self.low, self.high)


def class_rows(
    statements: Sequence[Statement], setting: Setting
) -> list[tuple[tuple[int, int], Row]]:
    """Rows between alternatives of different classes, with the two statements that they need."""
    placed = [(k, one) for k, one in enumerate(statements) if isinstance(one, InClass)]
    return [
        ((j, k), Row(setting.better(one.alternative, other.alternative), 0.0, 1.0))
        for j, one in placed
        for k, other in placed
        if one.rank > other.rank
    ]
