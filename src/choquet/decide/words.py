"""The verdict in plain words: who is ahead, how firm that is, what to ask, what would change it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from choquet.decide.models.flips import Flip, ScoreChange
from choquet.decide.saying.statements import Prefer
from choquet.shown import list_words, number_word

if TYPE_CHECKING:
    from choquet.decide.answer import Answer
    from choquet.decide.decision import Decision

SURE = 0.95
"""The lowest share of first places at which a decision counts as settled."""

MIDDLE = "the mean of those drawn"
"""What the middle model is."""

TIE = 1e-9
"""Scores as near as this tie, on a scale from 0 to 1."""

_SHOWN = 8


@dataclass(frozen=True)
class Verdict:
    """What the first screen says: sentences, empty where there is nothing to say."""

    headline: str
    shares: str
    families: str
    question: str
    certain: str
    changes: str
    cautious: str
    settled: bool

    @property
    def lines(self) -> list[str]:
        """All sentences, in order."""
        return [line for line in vars(self).values() if line and isinstance(line, str)]


def percent(share: float) -> str:
    """A share for people: never 0 or 100 unless it is.

    Examples
    --------
    >>> percent(0.558), percent(0.0004), percent(0.9999), percent(1.0)
    ('56 %', 'under 1 %', 'over 99 %', '100 %')
    """
    if 0 < share < 0.01:
        return "under 1 %"
    if 0.99 < share < 1:
        return "over 99 %"
    return f"{100 * share:.0f} %"


def brief(share: float) -> str:
    """A share that fits a table: never 0 or 100 unless it is.

    Examples
    --------
    >>> brief(0.558), brief(0.0004), brief(0.9999), brief(1.0)
    ('56 %', '<1 %', '>99 %', '100 %')
    """
    return percent(share).replace("under ", "<").replace("over ", ">")


def counted(number: int, word: str) -> str:
    """How many there are, in words up to ten.

    Examples
    --------
    >>> counted(1, "statement"), counted(12, "way")
    ('one statement', '12 ways')
    """
    return f"{number_word(number)} {word}{'' if number == 1 else 's'}"


def left_out(decision: Decision) -> str:
    """Which alternatives a short list is without, and why."""
    gone = decision.left_out
    if not gone:
        return ""
    all_of_them = len(gone) + len(decision.alternatives)
    verb = "is" if len(gone) == 1 else "are"
    return (
        f"{len(gone)} of {all_of_them} alternatives {verb} left out: another one is at least as "
        "good on every criterion."
    )


def verdict(answer: Answer, *, sure: float = SURE) -> Verdict:
    """The first screen of an answer; `sure` is the lowest share of first places that settles it."""
    return Verdict(
        headline=_headline(answer, sure),
        shares=_shares(answer),
        families=_families(answer),
        question=_question(answer, sure),
        certain=_certain(answer),
        changes=_changes(answer),
        cautious=_cautious(answer),
        settled=answer.certainty >= sure,
    )


def _spoken(answer: Answer) -> int:
    return len({(one.line, one.text) for one in answer.decision.statements})


def _best_in_all(answer: Answer) -> bool:
    """Whether the first is at least as good as all others in every model."""
    return bool(answer.necessary[answer.order[0]].all())


def _tied(answer: Answer) -> list[str]:
    """The alternatives that are as good as the first in every model, with the first."""
    first = answer.order[0]
    same = answer.necessary[first] & answer.necessary[:, first]
    return [name for k, name in enumerate(answer.alternatives) if same[k] or k == first]


def _headline(answer: Answer, sure: float) -> str:
    order, names = answer.order, answer.alternatives
    leader, second = names[order[0]], names[order[1]]
    said = _spoken(answer)
    own = f"your {counted(said, 'statement')}" if said else "the table alone"
    if _best_in_all(answer):
        tied = _tied(answer)
        if len(tied) > 1:
            return f"{list_words(tied)} tie for the first place, whatever the model."
        return f"{leader} comes first, whatever the model."
    if answer.certainty >= sure:
        end = f": {own} settle it." if said else ", before anything was said."
        return f"{leader} comes first in nearly all models{end}"
    verb = "does" if said == 1 or not said else "do"
    if answer.certainty < 0.5 and answer.highest[order[1]] > answer.certainty:
        return f"{leader} and {second} are close, and {own} {verb} not settle it."
    return f"{leader} is ahead of {second}, but {own} {verb} not settle it."


def _shares(answer: Answer) -> str:
    parts = []
    for k in answer.order[:4]:
        name = answer.alternatives[k]
        if answer.highest[k] < 0.005:
            continue
        low, high = (answer.claimed(k, one[k]) for one in (answer.lowest, answer.highest))
        if low < 0.005:
            most = "" if percent(high).startswith("under") else "at most "
            parts.append(f"{name} in {most}{percent(high)}")
        elif percent(low) == percent(high):
            parts.append(f"{name} in {percent(low)}")
        else:
            parts.append(f"{name} in {percent(low)} to {percent(high)}")
    parts[0] = parts[0].replace(" in ", " comes first in ", 1)
    agree = "the models that agree with all you said" if _spoken(answer) else "all models"
    return f"Of {agree}, {list_words(parts)}."


def _families(answer: Answer) -> str:
    words = {
        "weights": "with plain weights",
        "pairs": "in which pairs of criteria interact",
        "all": "in which any criteria interact",
    }
    held = [words[family.name] for family in answer.held]
    text = ""
    if len(held) > 1:
        kinds = list_words([f"those {one}" for one in held])
        some = answer.order[:4]
        ranges = any(percent(answer.lowest[k]) != percent(answer.highest[k]) for k in some)
        what = "Each range covers" if ranges else "These shares cover"
        text = f"{what} {counted(len(held), 'kind')} of models: {kinds}."
    for family in answer.families:
        if not family.holds:
            because = list_words([f"“{one.text}”" for one in answer.blocked_by(family)[:3]])
            kind = {"weights": "Plain weights", "pairs": "Pairs alone"}.get(family.name, "They")
            text += f" {kind} cannot express what you said: {because}."
    return text.strip()


def _question(answer: Answer, sure: float) -> str:
    if answer.certainty >= sure or answer.question is None or _best_in_all(answer):
        return ""
    asked = answer.question
    nearly = asked.after < 0.25 * max(asked.before, 1e-9)
    start = "Answer this and it is nearly settled" if nearly else "Answer this next"
    return f"{start}: {asked.text}"


def _certain(answer: Answer) -> str:
    names = answer.alternatives
    levels = answer.decision.levels
    dominated = (levels.lower[:, None] >= levels.upper[None]).all(axis=2)
    said = {
        (one.statement.better, one.statement.worse)
        for one in answer.decision.statements
        if isinstance(one.statement, Prefer) and one.statement.on is None
    }
    new = [
        (names[a], names[b])
        for a, b in np.argwhere(answer.necessary & ~dominated)
        if a != b and (names[a], names[b]) not in said
    ]
    parts = []
    if said:
        pairs = list_words([f"{a} over {b}" for a, b in sorted(said, key=str)][:_SHOWN])
        parts.append(f"what you said ({pairs})")
    if new:
        more = f" and {len(new) - _SHOWN} more pairs" if len(new) > _SHOWN else ""
        pairs = list_words([f"{a} at least as good as {b}" for a, b in new[:_SHOWN]])
        parts.append(f"what follows from it ({pairs}{more})")
    plain = answer.decision.dominance()
    if plain:
        more = f" and {len(plain) - _SHOWN} more pairs" if len(plain) > _SHOWN else ""
        pairs = list_words([f"{a} over {b}" for a, b in plain[:_SHOWN]])
        parts.append(f"who is at least as good on every criterion ({pairs}{more})")
    if _best_in_all(answer) and len(tied := _tied(answer)) > 1:
        parts.append(f"who ties ({list_words(tied)})")
    text = f"Certain whatever the model: {list_words(parts)}."
    text = text if parts else "Nothing is certain whatever the model."
    never = [names[k] for k in np.flatnonzero(answer.never_first)]
    if never and len(never) < len(names):
        others = [f"{len(never) - 20} others"] if len(never) > 20 else []
        text += f" Never first: {list_words([*never[:20], *others])}."
    return text


def _amount(change: ScoreChange) -> str:
    assert change.change is not None
    size = abs(change.change)
    shown = f"{size:,.3g}" if size < 1000 else f"{size:,.0f}"
    return f"{change.criterion} {'up' if change.change > 0 else 'down'} by {shown}"


def _changes(answer: Answer) -> str:
    order, names = answer.order, answer.alternatives
    if len(order) < 2:
        return ""
    leader, rival = names[order[0]], names[order[1]]
    flip = answer.flip(rival, over=leader)
    if abs(flip.behind) <= TIE * answer.decision.levels.width:
        return f"In the middle model ({MIDDLE}) {leader} and {rival} tie."
    if flip.behind < 0:
        start = f"In the middle model ({MIDDLE}) {rival} scores more than {leader}. "
        return _flip_text(answer.flip(leader, over=rival), start)
    return _flip_text(flip, "")


def _flip_text(flip: Flip, start: str) -> str:
    ways = [_amount(one) for one in flip.rises if one.change is not None]
    never = [one.criterion for one in flip.rises if one.change is None]
    who = flip.challenger
    if ways:
        text = f"{start}What would put {who} before {flip.leader} in the middle model"
        text += ": its " if start else f" ({MIDDLE}): its "
        text += list_words(ways, "or") + ("; each alone is enough." if len(ways) > 1 else ".")
        if never:
            text += f" Its {list_words(never, 'or')} alone cannot do it."
        return text
    middle = "middle model" if start else f"middle model ({MIDDLE})"
    return f"{start}No single score of {who} would put it before {flip.leader} in the {middle}."


def _cautious(answer: Answer) -> str:
    regrets, names = answer.regrets, answer.alternatives
    best = answer.cautious
    text = (
        f"Cautious choice: {best}, which can fall behind another by "
        f"{regrets[names.index(best)]:.2g} at most"
    )
    if answer.leader != best:
        text += f"; {answer.leader} by {regrets[names.index(answer.leader)]:.2g}"
    return text + "."
