"""Whether the probabilities of a classifier can be believed: a table, a picture and words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from choquet.explanation.phrases import percent
from choquet.report.quality import measured_on
from choquet.scales import figure

if TYPE_CHECKING:
    from choquet.certainty import Reliability
    from choquet.estimators.held_out import HeldOut

_TERMS = (
    "Samples are put into groups by the probability that the model gives its answer, of about "
    "equal size unless many have the same. Where this probability agrees with the share of right "
    "answers, an answer of 90 % is right nine times out of ten. The 95 % intervals say where the "
    "share would lie with many more samples; with few samples they are wide. Probabilities of "
    "other classes are not looked at."
)

_OFF = {1: "high", -1: "low"}

_WORTH_SAYING = 0.01
"""How far mean probabilities must be off for the first screen to say so."""


def reliability_table(found: HeldOut | None, *, n: int) -> dict[str, Any] | None:
    """How often answers of a given probability are right, with the words around it, in plain data.

    Parameters
    ----------
    found : HeldOut or None
        On whose rows, and whether the model saw them.
    n : int
        Samples that were given, of which some may have been looked at.
    """
    if found is None or found.reliability is None:
        return None
    known = found.reliability
    told = known.to_dict()
    return {
        **told,
        "rows": [{**row, "interval": _interval(row)} for row in told["rows"]],
        "folds": found.folds,
        "how": f"{measured_on(found, n)}.",
        "terms": _TERMS,
        "verdict": verdict_of(known),
    }


def verdict_of(known: Reliability) -> str:
    """What the groups show, beside what chance alone would, in sentences.

    Examples
    --------
    >>> from choquet.certainty import reliability_curve
    >>> text = verdict_of(reliability_curve([0.95] * 100, [True] * 70 + [False] * 30))
    >>> text.partition(" (")[0]
    'The probabilities are too high: on average they are 95 %, and 70 % of the answers are right'
    """
    if known.lean:
        opening = f"The probabilities are too {_OFF[known.lean]}"
    elif known.gap > known.limit:
        opening = "Some probabilities are off"
    else:
        opening = "These samples show no fault of the probabilities"
    gap, chance, limit = (figure(100 * x, 2) for x in (known.gap, known.chance, known.limit))
    where = "In the mean over the groups, the" if len(known.count) > 1 else "The"
    return (
        f"{opening}: {_beside(known.to_dict())}. {where} two differ by {gap} percentage points. "
        f"Probabilities without any fault would differ by {chance} points on so many samples, by "
        f"chance alone, and by less than {limit} in 95 % of cases."
    )


def unreliable(told: dict[str, Any] | None) -> list[str]:
    """What the first screen says of probabilities that are too high, or too low.

    Parameters
    ----------
    told : dict or None
        As from `reliability_table`.
    """
    if not told or not told["lean"] or abs(told["told"] - told["right"]) < _WORTH_SAYING:
        return []
    return [f"Its probabilities are too {_OFF[told['lean']]}: {_beside(told)}."]


def _beside(told: dict[str, Any]) -> str:
    return (
        f"on average they are {percent(told['told'])}, and {percent(told['right'])} of the answers "
        f"are right ({_interval(told)})"
    )


def _interval(told: dict[str, Any]) -> str:
    return f"{percent(told['low'], 2).removesuffix(' %')} to {percent(told['high'], 2)}"
