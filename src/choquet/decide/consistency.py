"""Whether statements can hold together; if not, which exclude each other and what to give up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from choquet.decide.models.conflicts import find_conflicts
from choquet.decide.models.program import TIED, Program
from choquet.decide.reasons import reason
from choquet.decide.saying.reading import Said
from choquet.decide.saying.setting import Setting
from choquet.shown import list_words


@dataclass(frozen=True, repr=False)
class Consistency:
    """Whether statements can hold together.

    Attributes
    ----------
    ok : bool
        Whether they can.
    split : float
        By how much all strict statements can hold at once, in the units of the scores; infinite
        if none is strict, 0 or less if they cannot hold.
    conflicts : tuple of frozensets of int
        All minimal sets of statements that exclude each other, by their numbers from 0.
    repairs : tuple of frozensets of int
        All minimal sets of statements to drop, the cheapest first.
    reasons : tuple of str
        Why, for each conflict.
    statements : tuple of Said
        What was said.
    complete : bool
        False if there are so many conflicts that the search was cut short.
    """

    ok: bool
    split: float
    conflicts: tuple[frozenset[int], ...]
    repairs: tuple[frozenset[int], ...]
    reasons: tuple[str, ...]
    statements: tuple[Said, ...]
    complete: bool = True

    @property
    def sentences(self) -> list[str]:
        """What to say about it."""
        if self.ok:
            if not self.statements:
                return ["Nothing was said yet."]
            if not np.isfinite(self.split):
                return ["All that was said can hold together."]
            return [f"All that was said can hold together, by {self.split:.3g} at once."]
        found = []
        for conflict, why in zip(self.conflicts, self.reasons, strict=True):
            said = [str(self.statements[k]) for k in sorted(conflict)]
            if len(said) == 1:
                found.append(f"{_capital(said[0])} cannot hold: {why}.")
            else:
                found.append(f"{_capital(list_words(said))} exclude each other: {why}.")
        cheapest = self.repairs[0] if self.repairs else frozenset()
        drop = list_words([str(self.statements[k]) for k in sorted(cheapest)])
        more = len(self.repairs) - 1
        others = f" There are {more} other ways." if more > 1 else ""
        others = " There is one other way." if more == 1 else others
        found.append(f"Least change: drop {drop}.{others}")
        if not self.complete:
            found.append("There are more conflicts than are listed here.")
        return found

    def __str__(self) -> str:
        return "\n".join(self.sentences)

    __repr__ = __str__


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def check(program: Program, said: Sequence[Said], setting: Setting) -> Consistency:
    """Whether the statements of a program can hold together, with conflicts and repairs if not."""
    split = program.split()[0]
    strict = bool(program.strict.any())
    if split > TIED:
        shown = split * setting.width if strict else np.inf
        return Consistency(True, shown, (), (), (), tuple(said))
    firm = [one.statement.firm for one in said]
    found = find_conflicts(program, firm)
    reasons = tuple(
        reason([said[k].statement for k in sorted(one)], setting) for one in found.conflicts
    )
    return Consistency(
        False,
        split * setting.width,
        tuple(found.conflicts),
        tuple(found.repairs),
        reasons,
        tuple(said),
        found.complete,
    )
