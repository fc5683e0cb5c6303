"""Why statements exclude each other, in words."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from choquet.decide.saying.setting import Setting
from choquet.decide.saying.statements import (
    Compared,
    Importance,
    InClass,
    Indifferent,
    Interaction,
    Must,
    Prefer,
    Score,
    Statement,
    Sufficient,
)


def reason(statements: Sequence[Statement], setting: Setting) -> str:
    """Why a minimal conflict cannot hold: a sentence without its full stop."""
    found = (
        _known_shape(statements, setting)
        or _capped(statements, setting)
        or _circle(statements)
        or _same_steps(statements, setting)
    )
    if found:
        return found
    kinds = {statement.about for statement in statements}
    if kinds == {"criteria", "alternatives"}:
        return "what was said about criteria does not allow what was said about alternatives"
    if kinds == {"criteria"}:
        return "these words about criteria exclude each other"
    return "no way of weighing the criteria puts all of these in that order"


def _known_shape(statements: Sequence[Statement], setting: Setting) -> str | None:
    match list(statements):
        case [Prefer() as said]:
            return _dominated(said, setting)
        case [Indifferent() as said]:
            return _apart(said, setting)
        case [Score() as said]:
            return _outside(said, setting)
        case [InClass() as one, InClass() as other]:
            if one.alternative == other.alternative:
                return f"{one.alternative} cannot be in two classes"
            better, worse = (other, one) if one.rank < other.rank else (one, other)
            return _dominated(Prefer(better.alternative, worse.alternative), setting)
    return None


def _row(setting: Setting, name: object, *, upper: bool) -> np.ndarray:
    if isinstance(name, str):
        return np.asarray((setting.highs if upper else setting.lows)[name], dtype=np.float64)
    return np.asarray(name, dtype=np.float64)


def _columns(setting: Setting, said: Compared) -> list[int]:
    return list(range(setting.n) if said.on is None else setting.leaves(said.on))


def _dominated(said: Prefer, setting: Setting) -> str | None:
    columns = _columns(setting, said)
    better = _row(setting, said.better, upper=True)[columns]
    worse = _row(setting, said.worse, upper=False)[columns]
    if (worse >= better).all():
        every = "every criterion" if said.on is None else f"every criterion of {said.on}"
        return f"{said.worse} is at least as good as {said.better} on {every}"
    most = float((better - worse).max()) * setting.width
    if said.by > most:
        return f"{said.better} is nowhere better than {said.worse} by more than {most:.3g}"
    return None


def _apart(said: Indifferent, setting: Setting) -> str | None:
    columns = _columns(setting, said)
    every = "every criterion" if said.on is None else f"every criterion of {said.on}"
    for better, worse in ((said.first, said.second), (said.second, said.first)):
        gap = _row(setting, better, upper=False) - _row(setting, worse, upper=True)
        least = float(gap[columns].min()) * setting.width
        if least > 0:
            return f"{better} is better than {worse} by {least:.3g} or more on {every}"
    return None


def _outside(said: Score, setting: Setting) -> str:
    name, columns = said.alternative, _columns(setting, said)
    low = setting.origin + setting.width * float(_row(setting, name, upper=False)[columns].min())
    high = setting.origin + setting.width * float(_row(setting, name, upper=True)[columns].max())
    where = "" if said.on is None else f" on {said.on}"
    return (
        f"the score of {name}{where} lies between its worst and its best, {low:.3g} and "
        f"{high:.3g}, whatever the model"
    )


def _capped(statements: Sequence[Statement], setting: Setting) -> str | None:
    choices = [one for one in statements if isinstance(one, Prefer | Score) and one.on is None]
    for one in statements:
        if not isinstance(one, Must | Sufficient):
            continue
        leaves = setting.leaves(one.criterion)
        if len(leaves) != 1:
            continue
        for choice in choices:
            must = isinstance(one, Must)
            if isinstance(choice, Prefer):
                name = choice.better if must else choice.worse
            else:
                name = choice.alternative
            score = _row(setting, name, upper=must)[leaves[0]]
            shown = f"{setting.origin + setting.width * float(score):.3g}"
            end = _then(choice, float(score), setting, must=must) if len(statements) == 2 else ""
            if must:
                return f"a must caps {name} at its {one.criterion}, {shown}{end}"
            return f"{name} cannot fall below its {one.criterion}, {shown}, if that suffices{end}"
    return None


def _then(choice: Prefer | Score, score: float, setting: Setting, *, must: bool) -> str:
    """What follows for the other one, where the cap alone does not say it."""
    if not isinstance(choice, Prefer):
        return ""
    other = _row(setting, choice.worse if must else choice.better, upper=not must)
    if score <= other.min() if must else score >= other.max():
        return ""
    return f", and then {choice.worse} is at least as good as {choice.better}"


def _circle(statements: Sequence[Statement]) -> str | None:
    for kind, ends in ((Prefer, ("better", "worse")), (Importance, ("more", "less"))):
        if not all(isinstance(one, kind) for one in statements) or len(statements) < 2:
            continue
        if len({one.on for one in statements if isinstance(one, Compared)}) > 1:
            continue
        after = {getattr(one, ends[0]): getattr(one, ends[1]) for one in statements}
        path = [next(iter(after))]
        while path[-1] in after and len(path) <= len(statements):
            path.append(after[path[-1]])
        if path[-1] == path[0] and len(path) == len(statements) + 1:
            return f"they run in a circle: {' over '.join(map(str, path))}"
    if len(statements) == 2 and all(isinstance(one, Interaction) for one in statements):
        return "two criteria cannot both overlap and complement each other"
    return None


def _same_steps(statements: Sequence[Statement], setting: Setting) -> str | None:
    """Comparisons whose rows cancel: the same step, wanted in both directions."""
    if setting.n > 12 or not all(isinstance(one, Prefer) for one in statements):
        return None
    rows = np.array([one.rows(setting)[0].functional.values(setting.n) for one in statements])
    if np.abs(rows.sum(axis=0)).max() < 1e-9:
        return "they weigh the same differences against each other, in both directions"
    return None
