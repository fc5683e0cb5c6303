"""What is said about criteria."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from choquet.decide.models import functionals as f
from choquet.decide.saying.setting import Criterion, Row, Setting, interval
from choquet.decide.saying.statement import Statement
from choquet.errors import SourceError


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
