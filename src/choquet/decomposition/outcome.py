"""What an output says of a class, where a measure or operators were learned for one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from choquet.arrays import BoolArray, FloatArray, as_number
from choquet.errors import DataError
from choquet.scales import figure

_KINDS = ("log-odds", "integral", "level", "score")

_LISTED = 12
"""Classes that a sentence names."""


@dataclass(frozen=True)
class Outcome:
    """What an output says of a class; kept with what was learned for it, in files too.

    Attributes
    ----------
    kind : {"log-odds", "integral", "level", "score"}
        Log-odds of the class; an integral that a logistic link makes its probability; an integral
        that rises with the level of ordered classes; a fused score.
    classes : tuple
        All classes, as they are in the data.
    number : int or None
        Which of them it is; None where one measure serves them all.
    slope, intercept : float
        Of an integral: slope × integral + intercept are the log-odds.
    chosen : bool
        Whether the class was asked for, and is not only the first of several.
    asked : int or None
        The class that was asked for, where the output is about the other of two.

    Examples
    --------
    >>> print(Outcome("integral", ("low", "mid", "high"), 1, 6.5, -3.2).text())
    The output is a score for mid against the rest: at 0.492 both are equally likely, and \
logistic(6.5 × output - 3.2) is the probability.
    """

    kind: str
    classes: tuple[Any, ...]
    number: int | None = None
    slope: float = 1.0
    intercept: float = 0.0
    chosen: bool = True
    asked: int | None = None

    def __post_init__(self) -> None:
        known = range(len(self.classes))
        named = [number for number in (self.number, self.asked) if number is not None]
        if self.kind not in _KINDS or not all(number in known for number in named):
            raise DataError(f"no outcome of {len(self.classes)} classes: {self.kind!r}, {named}")

    @property
    def labels(self) -> tuple[str, ...]:
        """Names of the classes."""
        return tuple(map(str, self.classes))

    @property
    def label(self) -> str | None:
        """Name of the class in question."""
        return None if self.number is None else self.labels[self.number]

    @property
    def contest(self) -> str:
        """The class, and what it is set against, in words."""
        rest = self.labels[1 - (self.number or 0)] if len(self.classes) == 2 else "the rest"
        return f"{self.label} against {rest}"

    @property
    def name(self) -> str:
        """What the output is called in a sentence."""
        return f"the log-odds of {self.contest}" if self.kind == "log-odds" else "the output"

    def serves(self, number: int) -> bool:
        """Whether the output says something of a class: that of one of two says all of both."""
        both = self.kind != "score" and len(self.classes) == 2
        return both or self.number in (None, number)

    def of(self, number: int) -> Outcome:
        """The same for one who asked for a class that it serves."""
        if self.kind == "score":
            return replace(self, number=number, chosen=True)
        asked = None if self.number in (None, number) else number
        return replace(self, chosen=True, asked=asked)

    def probability(self, output: npt.ArrayLike) -> FloatArray | None:
        """Outputs as probabilities of the class against the others; None if they tell none.

        Examples
        --------
        >>> Outcome("log-odds", ("no", "yes"), 1).probability([0.0]).round(3)
        array([0.5])
        """
        if self.kind not in ("log-odds", "integral"):
            return None
        odds = self.slope * np.asarray(output, dtype=np.float64) + self.intercept
        return np.asarray(np.exp(-np.logaddexp(0.0, -odds)))

    def chance(self, output: float) -> float | None:
        """The same of one output."""
        found = self.probability(output)
        return None if found is None else float(found)

    def holds(self, y: npt.ArrayLike) -> BoolArray:
        """Whether each of some labels is the class.

        Examples
        --------
        >>> Outcome("score", (0, 1), 1).holds(["1", "0", "1.0"])
        array([ True, False,  True])
        """
        labels = np.asarray(y).ravel().tolist()
        known = {label: place_of(label, self.classes) == self.number for label in set(labels)}
        return np.array([known[label] for label in labels], dtype=np.bool_)

    def text(self) -> str:
        """What the output is, and of which class, in a sentence or two."""
        return " ".join([self.meaning(), *self.notes()])

    def notes(self) -> list[str]:
        """What one who reads of this class should know of the others."""
        lines = []
        if not self.chosen:
            lines.append(
                f"This is one of {self._all()}; choose another with --class or choquet.of_class."
            )
        if self.asked is not None:
            other = self.labels[self.asked]
            lines.append(
                f"The log-odds of {other} are the same with the opposite sign."
                if self.kind == "log-odds"
                else f"The probability of {other} is 1 minus that."
            )
        return lines

    def meaning(self) -> str:
        """What the output is."""
        if self.kind == "integral":
            sign = "-" if self.intercept < 0 else "+"
            link = f"{figure(self.slope)} × output {sign} {figure(abs(self.intercept))}"
            even = figure(-self.intercept / self.slope) if self.slope else "no value"
            return (
                f"The output is a score for {self.contest}: at {even} both are equally likely, and "
                f"logistic({link}) is the probability."
            )
        if self.kind == "level":
            return f"The output is a score that rises with the class, of {self._all()}."
        if self.kind == "score":
            one = f"a class, of {self._all()}" if self.number is None else str(self.label)
            return f"The output is the fused score of {one}."
        return f"The output is {self.name}."

    def _all(self) -> str:
        more = len(self.labels) - _LISTED
        end = f" and {more} more" if more > 0 else ""
        return f"{len(self.labels)} classes: {', '.join(self.labels[:_LISTED])}{end}"

    def to_dict(self) -> dict[str, Any]:
        """Plain data, as JSON holds them, with the text."""
        return {
            "class": self.label,
            "classes": list(self.labels),
            "kind": self.kind,
            "slope": self.slope,
            "intercept": self.intercept,
            "chosen": self.chosen,
            "text": self.text(),
        }


def outcome_of(model: Any) -> Outcome | None:
    """What the outputs of a model, decomposition or the like say of a class; None if of none.

    Of several classes it is the first, for that is the one whose measure is ``measure_``.

    Examples
    --------
    >>> from choquet import Measure
    >>> outcome_of(Measure([0, 0, 0, 1])) is None
    True
    """
    own: Outcome | None = getattr(model, "outcome", None)
    several: Sequence[Outcome] = getattr(model, "outcomes_", ())
    return replace(several[0], chosen=len(several) == 1) if several else own


def place_of(label: Any, classes: Sequence[Any]) -> int | None:
    """Number of a class by itself, by its name, or by the number that its name is.

    Examples
    --------
    >>> place_of("mid", ["low", "mid"]), place_of(1, [0.0, 1.0]), place_of("1", ["0.0", "1.0"])
    (1, 1, 1)
    """
    for same in (lambda one: one, str, _number):
        wanted = same(label)
        for number, one in enumerate(classes):
            if wanted is not None and bool(same(one) == wanted):
                return number
    return None


def _number(label: Any) -> float | None:
    try:
        return as_number(str(label))
    except ValueError:
        return None
