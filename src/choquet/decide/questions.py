"""The question whose answer says most about who is first."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from choquet.arrays import BoolArray, FloatArray, IntArray
from choquet.decide.models.families import Family
from choquet.decide.saying.describing import quote
from choquet.decide.saying.statements import Importance, Prefer, Statement, Undecided
from choquet.errors import OptionError

_OPEN = 0.02
"""A question is open if either answer has at least this share."""

_ASKED = 30
"""Alternatives that questions are about: those that come out best."""


@dataclass(frozen=True)
class Question:
    """A comparison to ask for.

    Attributes
    ----------
    first, second : str
        Two alternatives, or two criteria.
    about : {"alternatives", "criteria"}
        Which of these they are.
    share : float
        Share of models in which the first is better, or matters more: mean over the families.
    before, after : float
        Doubt about who is first, in bits, now and on average after the answer.
    """

    first: str
    second: str
    about: str
    share: float
    before: float
    after: float

    @property
    def text(self) -> str:
        """The question in words."""
        if self.about == "criteria":
            return f"Which matters more to you: {self.first} or {self.second}?"
        return f"Which do you prefer: {self.first} or {self.second}?"

    def statement(self, answer: str | None) -> Statement:
        """What an answer says; None is "cannot say"."""
        if answer is None:
            return Undecided(self.first, self.second)
        if answer not in (self.first, self.second):
            raise OptionError(f"answer={answer!r}: choose {self.first!r}, {self.second!r} or None")
        other = self.second if answer == self.first else self.first
        made: type[Importance] | type[Prefer] = Prefer
        if self.about == "criteria":
            made = Importance
        return made(answer, other)

    def line(self, answer: str | None) -> str:
        """What an answer says, as a line of the language."""
        if answer is None:
            return f"cannot say {quote(self.first)} or {quote(self.second)}"
        other = self.second if answer == self.first else self.first
        word = "matters more than" if self.about == "criteria" else ">"
        return f"{quote(answer)} {word} {quote(other)}"


def next_question(
    families: Sequence[Family],
    alternatives: Sequence[str],
    criteria: Sequence[str],
    *,
    skip: Collection[frozenset[str]] = (),
) -> Question | None:
    """The open comparison after which the least doubt remains about who is first, on average.

    Questions about alternatives are preferred to those about criteria that say as much. Pairs of
    names in `skip` are not asked about.
    """
    held = [family for family in families if family.holds]
    if not held:
        return None
    best = [family.scores.argmax(axis=1) for family in held]
    before = float(np.mean([_doubt(one, len(alternatives)) for one in best]))
    found: list[tuple[float, int, float, Question]] = []
    for kind, names, columns in (
        ("alternatives", alternatives, [family.scores for family in held]),
        ("criteria", criteria, [family.importances for family in held]),
    ):
        for a, b in _pairs(columns):
            if frozenset((names[a], names[b])) in skip:
                continue
            wins = [one[:, a] > one[:, b] for one in columns]
            share = float(np.mean([one.mean() for one in wins]))
            if not _OPEN < share < 1 - _OPEN:
                continue
            after = float(
                np.mean([_after(w, x, len(alternatives)) for w, x in zip(wins, best, strict=True)])
            )
            question = Question(names[a], names[b], kind, share, before, after)
            found.append((round(after, 6), int(kind == "criteria"), abs(share - 0.5), question))
    if not found:
        return None
    least = min(found, key=lambda one: one[:3])
    own = [one for one in found if one[1] == 0]
    if least[1] and own:
        other = min(own, key=lambda one: one[:3])
        if other[0] <= least[0] + 0.02:
            return other[3]
    return least[3]


def _pairs(columns: Sequence[FloatArray]) -> list[tuple[int, int]]:
    means = np.mean([one.mean(axis=0) for one in columns], axis=0)
    kept = sorted(np.argsort(-means, kind="stable")[:_ASKED].tolist())
    return [(a, b) for k, a in enumerate(kept) for b in kept[k + 1 :]]


def _doubt(best: IntArray, count: int) -> float:
    shares = np.bincount(best, minlength=count) / max(len(best), 1)
    shares = shares[shares > 0]
    return float(-(shares * np.log2(shares)).sum())


def _after(won: BoolArray, best: IntArray, count: int) -> float:
    share = float(won.mean())
    return share * _doubt(best[won], count) + (1 - share) * _doubt(best[~won], count)
