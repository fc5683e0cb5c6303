"""What the output of a classifier is: the probability of a class, or the most probable class."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from choquet.decomposition.outcome import place_of
from choquet.errors import OptionError
from choquet.exports.plan import Formulas, Node


def chosen(f: Formulas, chances: list[Node], asked: int | None) -> dict[str, Node]:
    """The probability of a class, or the number of the most probable one."""
    if asked is not None:
        return {"output": chances[asked]}
    best, most = f.const(0.0), chances[0]
    for k, chance in enumerate(chances[1:], start=1):
        larger = f.less(most, chance)
        best, most = f.choose(larger, f.const(k), best), f.choose(larger, chance, most)
    return {"output": best}


def asked_class(label: Any, classes: Sequence[Any]) -> int | None:
    """Number of the class that is asked for: by default the second of two, and none of several."""
    if label is None:
        return 1 if len(classes) == 2 else None
    place = place_of(label, classes)
    if place is None:
        known = ", ".join(map(repr, classes))
        raise OptionError(f"there is no class {label!r}: the classes are {known}")
    return place


def meaning(names: tuple[str, ...], asked: int | None) -> str:
    """What the output of a classifier is, in words.

    Examples
    --------
    >>> meaning(("no", "yes"), 1)
    'The output is the probability of class yes.'
    """
    if asked is not None:
        return f"The output is the probability of class {names[asked]}."
    listed = ", ".join(f"{k} is {name}" for k, name in enumerate(names))
    return (
        f"The output is the number of the most probable class ({listed}). p0, p1 and so on are the "
        "probabilities. There is no number of the one operator, because each class has its own."
    )
