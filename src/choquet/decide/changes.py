"""What would change who is first: another score, another model, or an alternative less."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from choquet.decide.models.families import shares_of_first
from choquet.decide.models.flips import Flip, ScoreChange, model_change, score_change
from choquet.decide.models.spaces import MAX_GENERAL
from choquet.errors import OptionError

if TYPE_CHECKING:
    from choquet.decide.answer import Answer


@dataclass(frozen=True)
class Reversal:
    """What becomes of the leader when one alternative is left out, with all that mentions it."""

    left_out: str
    leader: str
    share: float
    changed: bool


def flip(answer: Answer, challenger: str, leader: str) -> Flip:
    """What would put one alternative before another in the middle model."""
    known = answer.decision.notes.names
    names = [known.alternative(challenger), known.alternative(leader)]
    first, second = (answer.alternatives.index(name) for name in names)
    if first == second:
        raise OptionError(f"{challenger} cannot overtake itself: name another alternative")
    levels = answer.decision.levels
    rows = levels.middle[[first, second]]
    score = np.asarray(answer.middle.integral(rows))
    columns = range(len(answer.criteria))
    rises = tuple(_change(answer, first, j, float(score[1]), up=True) for j in columns)
    falls = tuple(_change(answer, second, j, float(score[0]), up=False) for j in columns)
    model = None
    if len(answer.criteria) <= MAX_GENERAL:
        found = model_change(answer.everything, answer.middle, *rows)
        model = None if found is None else found[0]
    behind = float(score[1] - score[0]) * levels.width
    return Flip(names[0], names[1], behind, rises, falls, model)


def _change(answer: Answer, alternative: int, j: int, target: float, *, up: bool) -> ScoreChange:
    levels, name = answer.decision.levels, answer.criteria[j]
    row = levels.middle[alternative]
    limit = max(1.0, float(row[j])) if up else min(0.0, float(row[j]))
    to = score_change(answer.middle, row, j, target, limit)
    who = answer.alternatives[alternative]
    if to is None:
        return ScoreChange(who, name, None, None, None)
    raw = float(answer.decision.table.middle[alternative, j])
    near = raw if np.isfinite(raw) else 0.0
    there, here = (levels.in_units(name, x, near) for x in (to, float(row[j])))
    return ScoreChange(who, name, there - here, there, to - float(row[j]))


def reversals(answer: Answer, samples: int) -> list[Reversal]:
    """See `Answer.reversals`."""
    found: list[Reversal] = []
    if len(answer.alternatives) < 3:
        return found
    named = {name for one in answer.decision.statements for name in one.statement.names()}
    for place, name in enumerate(answer.alternatives):
        if name in named:
            models = [family.name for family in answer.families]
            other = answer.decision.without(name).solve(models, samples=samples)
            leader, share = other.leader, other.certainty
        else:
            rest = [k for k in range(len(answer.alternatives)) if k != place]
            shares = [shares_of_first(family.scores[:, rest]) for family in answer.held]
            least = np.min(shares, axis=0)
            leader, share = answer.alternatives[rest[int(least.argmax())]], float(least.max())
        changed = leader != answer.leader and name != answer.leader
        found.append(Reversal(name, leader, share, changed))
    return found
