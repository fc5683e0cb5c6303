"""What is said about alternatives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from choquet.decide.models import functionals as f
from choquet.decide.saying.setting import Alternative, Row, Setting
from choquet.decide.saying.statement import Statement

_LEAST = 1e-3
"""The least value of a node within which scores were given: they mean nothing where it has none."""


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


def _named(*alternatives: Alternative) -> tuple[str, ...]:
    return tuple(one for one in alternatives if isinstance(one, str))


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

    def _rows(self, setting: Setting) -> list[Row]:
        gap = setting.better(self.better, self.worse, self.on)
        return self._at_least(setting, gap, self.by / setting.width, self.strict)

    def _names(self) -> tuple[str, ...]:
        return _named(self.better, self.worse)


@dataclass(frozen=True)
class Intensity(Compared):
    """The step from one alternative to a better one is larger than another such step."""

    better: Alternative
    worse: Alternative
    than_better: Alternative
    than_worse: Alternative

    def _rows(self, setting: Setting) -> list[Row]:
        here = setting.better(self.better, self.worse, self.on)
        there = f.difference(
            setting.integral(self.than_better, upper=False, on=self.on),
            setting.integral(self.than_worse, upper=True, on=self.on),
        )
        return self._at_least(setting, f.difference(here, there), 0.0, True)

    def _names(self) -> tuple[str, ...]:
        return _named(self.better, self.worse, self.than_better, self.than_worse)


@dataclass(frozen=True)
class Indifferent(Compared):
    """Two alternatives are about equally good."""

    first: Alternative
    second: Alternative
    within: float = 0.02

    def _rows(self, setting: Setting) -> list[Row]:
        room = -self.within / setting.width
        pairs = ((self.first, self.second), (self.second, self.first))
        gaps = [setting.better(*pair, self.on) for pair in pairs]
        return [row for gap in gaps for row in self._at_least(setting, gap, room)]

    def _names(self) -> tuple[str, ...]:
        return _named(self.first, self.second)


@dataclass(frozen=True)
class Score(Compared):
    """The score of an alternative lies between two numbers."""

    alternative: Alternative
    low: float | None = None
    high: float | None = None

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
