"""What people say, as small frozen classes; each gives linear rows on measures.

Alternatives are named, or given as rows of scores; criteria are named or numbered. A statement is
resolved by a `Setting`, which knows the names. Statements about criteria and about rows of scores
also serve ``ChoquetRegressor(expert=[…])``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any, ClassVar

import numpy as np

from choquet.decide.models import functionals as f
from choquet.decide.saying.setting import Alternative, Criterion, Row, Setting, interval
from choquet.errors import SourceError

STRICT = 1e-6
"""By how much "more" is more, where a learner keeps what was said: above what solvers miss."""

_LEAST = 1e-3
"""The least value of a node within which scores were given: they mean nothing where it has none."""


@dataclass(frozen=True)
class Statement:
    """Something that was said.

    Parameters
    ----------
    firm : float, default 1
        How firmly: what is said less firmly is given up first.
    """

    firm: float = field(default=1.0, kw_only=True, repr=False)
    about: ClassVar[str] = "criteria"
    naming: ClassVar[tuple[str, ...]] = ()

    def rows(self, setting: Setting) -> list[Row]:
        """Rows on measures."""
        return self._rows(setting)

    def names(self) -> tuple[str, ...]:
        """Alternatives that it names, in the fields of `naming`; others are rows of scores."""
        held = [getattr(self, field) for field in self.naming]
        return tuple(one for one in held if isinstance(one, str))

    def _rows(self, setting: Setting) -> list[Row]:  # noqa: ARG002 - nothing unless a class says it
        return []

    def to_rows(self, sources: Sequence[str]) -> Any:
        """Rows for ``ChoquetRegressor(expert=…)``, by the names of its sources.

        Examples
        --------
        >>> from choquet.decide import Importance
        >>> rows = Importance("safety", "comfort").to_rows(["safety", "comfort"])
        >>> rows.matrix.toarray().tolist(), rows.lower.tolist()
        ([[0.0, 1.0, -1.0, 0.0]], [1e-06])
        """
        import scipy.sparse as sp

        from choquet.learning.problem import Rows

        if self.names():
            raise SourceError(
                f"{self.names()[0]!r} is an alternative, and rows of data have no names: give its "
                "scores, as in Prefer((0.9, 0.2), (0.1, 0.8))"
            )
        setting = Setting(tuple(sources))
        rows = self.rows(setting)
        lower = [row.bound + (STRICT if row.strict else 0.0) for row in rows]
        upper = [row.bound if row.equal else np.inf for row in rows]
        table = np.array([row.functional.values(setting.n) for row in rows])
        matrix = sp.csr_array(table.reshape(len(rows), 1 << setting.n))
        return Rows(matrix, np.array(lower, dtype=np.float64), np.array(upper, dtype=np.float64))


# -- about alternatives ----------------------------------------------------------------------------


@dataclass(frozen=True)
class _OfAlternatives(Statement):
    about: ClassVar[str] = "alternatives"


@dataclass(frozen=True)
class Compared(_OfAlternatives):
    """What may be said about the whole, or within one node of a tree of criteria.

    Scores within a node are divided by its value. Rows are multiplied by that value instead, which
    keeps them linear.

    Attributes
    ----------
    on : str or None
        The node; the whole by default.
    """

    on: str | None = field(default=None, kw_only=True, repr=False)

    def _at_least(
        self, setting: Setting, gap: f.Functional, bound: float, strict: bool = False
    ) -> list[Row]:
        if self.on is None:
            return [Row(gap, bound, float(strict))]
        node = setting.node(self.on)
        if bound:
            gap = f.Sum(((1.0, gap), (-bound, node)))
        if strict:  # then the node has a value
            return [Row(gap, 0.0, 1.0)]
        return [Row(gap), Row(node, _LEAST)]


@dataclass(frozen=True)
class Prefer(Compared):
    """One alternative is better than another, by at least so much.

    Examples
    --------
    >>> Prefer("Echo", "Aria", by=0.05)
    Prefer(better='Echo', worse='Aria', by=0.05, strict=True)
    """

    better: Alternative
    worse: Alternative
    by: float = 0.0
    strict: bool = True
    naming = ("better", "worse")

    def _rows(self, setting: Setting) -> list[Row]:
        gap = setting.better(self.better, self.worse, self.on)
        return self._at_least(setting, gap, self.by / setting.width, self.strict)


@dataclass(frozen=True)
class Intensity(Compared):
    """The step from one alternative to a better one is larger than another such step."""

    better: Alternative
    worse: Alternative
    than_better: Alternative
    than_worse: Alternative
    naming = ("better", "worse", "than_better", "than_worse")

    def _rows(self, setting: Setting) -> list[Row]:
        here = setting.better(self.better, self.worse, self.on)
        there = f.difference(
            setting.integral(self.than_better, upper=False, on=self.on),
            setting.integral(self.than_worse, upper=True, on=self.on),
        )
        return self._at_least(setting, f.difference(here, there), 0.0, True)


@dataclass(frozen=True)
class Indifferent(Compared):
    """Two alternatives are about equally good."""

    first: Alternative
    second: Alternative
    within: float = 0.02
    naming = ("first", "second")

    def _rows(self, setting: Setting) -> list[Row]:
        room = -self.within / setting.width
        pairs = ((self.first, self.second), (self.second, self.first))
        gaps = [setting.better(*pair, self.on) for pair in pairs]
        return [row for gap in gaps for row in self._at_least(setting, gap, room)]


@dataclass(frozen=True)
class Score(Compared):
    """The score of an alternative lies between two numbers."""

    alternative: Alternative
    low: float | None = None
    high: float | None = None
    naming = ("alternative",)

    def _rows(self, setting: Setting) -> list[Row]:
        found = []
        if self.low is not None:
            bound = (self.low - setting.origin) / setting.width
            upper = setting.integral(self.alternative, upper=True, on=self.on)
            found += self._at_least(setting, upper, bound)
        if self.high is not None:
            lower = setting.integral(self.alternative, upper=False, on=self.on)
            bound = -(self.high - setting.origin) / setting.width
            found += self._at_least(setting, f.Sum(((-1.0, lower),)), bound)
        return found


@dataclass(frozen=True)
class InClass(_OfAlternatives):
    """An alternative belongs to a class; those of better classes score more.

    One alone says nothing: rows come from pairs, see `class_rows`.
    """

    alternative: str
    rank: int
    label: str = ""
    naming = ("alternative",)


@dataclass(frozen=True)
class Undecided(_OfAlternatives):
    """Someone was asked to compare two things, and could not say: it adds nothing."""

    first: str
    second: str


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


# -- about criteria --------------------------------------------------------------------------------


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

    def _rows(self, setting: Setting) -> list[Row]:  # noqa: ARG002
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
