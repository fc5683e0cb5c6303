"""One sentence after another: quotes, firmness, names and numbers."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from choquet.decide.saying import statements as s
from choquet.decide.saying.describing import describe
from choquet.decide.saying.vocabulary import Vocabulary, key
from choquet.errors import StatementError

FIRMNESS = {"sure": 2.0, "perhaps": 0.5}
"""How firmly something is said, by the word in brackets; 1 without."""

QUOTED = re.compile(r"\"([^\"]*)\"|“([^”]*)”|(?<!\w)'([^']*)'(?!\w)")

KNOWN = (
    "A > B; A > B by 0.1; A ~ B; A about 0.8; A, B good; x matters more than y; x and y overlap; "
    "x and y complement each other; x is a must; be strict"
)
"""What to try when a sentence is not understood."""


@dataclass(frozen=True)
class Said:
    """A statement as it was said.

    Attributes
    ----------
    statement : Statement
        What it means.
    text : str
        How it was said.
    line : int or None
        Where, if it came from a text of several lines.
    """

    statement: s.Statement
    text: str
    line: int | None = None

    def to_rows(self, sources: Sequence[str]) -> Any:
        """Rows for ``ChoquetRegressor(expert=problem.statements)``; see `Statement.to_rows`."""
        return self.statement.to_rows(sources)

    def __str__(self) -> str:
        quoted = f"“{self.text}”"
        return quoted if self.line is None else f"line {self.line} {quoted}"


@dataclass(frozen=True)
class ScaleLine:
    """Levels of a criterion: pairs of a number in the table and where it stands."""

    points: tuple[tuple[float, float], ...]

    @property
    def rises(self) -> bool:
        """Whether more is better."""
        return self.points[-1][1] > self.points[0][1]


@dataclass
class Parsed:
    """What a text says, as `Notes` keep it; `scales` and `groups` are those of this text alone."""

    said: list[Said] = field(default_factory=list)
    scales: dict[str, ScaleLine] = field(default_factory=dict)
    groups: dict[str, tuple[str, ...]] = field(default_factory=dict)
    better: dict[str, int] = field(default_factory=dict)
    common: tuple[float, float] | None = None
    classes: tuple[str, ...] | None = None


Build = Callable[["Reader", re.Match[str]], Sequence[s.Statement]]


class Reader:
    """Reads one sentence after another."""

    def __init__(
        self,
        names: Vocabulary,
        patterns: Sequence[tuple[re.Pattern[str], Build]],
        *,
        width: float,
        origin: float,
        classes: tuple[str, ...],
    ) -> None:
        self.names, self.width, self.origin = names, width, origin
        self.classes = classes
        self.patterns = patterns
        self.found = Parsed()
        self.quoted: list[str] = []

    def read(self, sentence: str, line: int | None) -> None:
        """Read one sentence: statements, a scale, or a group."""
        text, firm = sentence, 1.0
        head = re.match(r"\[\s*(\w+)\s*\]\s*", text)
        if head:
            if head[1].lower() not in FIRMNESS:
                raise StatementError(f"[{head[1]}] is unknown; write [sure] or [perhaps]")
            firm, text = FIRMNESS[head[1].lower()], text[head.end() :]
        self.quoted = []

        def hold(match: re.Match[str]) -> str:
            self.quoted.append(next(part for part in match.groups() if part is not None))
            return f"\0{len(self.quoted) - 1}\0"

        plain = QUOTED.sub(hold, text).strip().rstrip(".").strip()
        made = self.within_a_node(plain) or self.sentence(plain)
        if made is None:
            raise StatementError(f"this is not understood; try one of: {KNOWN}")
        own = sentence if len(made) == 1 else None
        for statement in made:
            one = replace(statement, firm=firm)
            self.found.said.append(Said(one, own or describe(one), line))

    def sentence(self, plain: str) -> Sequence[s.Statement] | None:
        """Statements of a sentence; None if no pattern fits."""
        for pattern, build in self.patterns:
            match = pattern.fullmatch(plain)
            if match:
                return build(self, match)
        return None

    def within_a_node(self, plain: str) -> Sequence[s.Statement] | None:
        """Statements of a sentence that ends with the name of a group: ``A > B on cost``."""
        found = re.fullmatch(r"(.+) on (.+?)( by .+)?", plain)
        if not found or not self.names.groups:
            return None
        end = key(f" on {self.unquoted(found[2])}")
        if any(name.endswith(f" {end}") for name in self.names.alternatives):
            return None
        group = self.names.group(self.unquoted(found[2]))
        made = self.sentence(found[1] + (found[3] or ""))
        if made is None or not all(isinstance(one, s.Compared) for one in made):
            raise StatementError("within a group, alternatives can be compared or given scores")
        return [replace(one, on=group) for one in made if isinstance(one, s.Compared)]

    def unquoted(self, text: str) -> str:
        """A text with what was in quotes put back."""
        return re.sub("\0(\\d+)\0", lambda m: self.quoted[int(m[1])], text)

    def alternative(self, text: str) -> str:
        """The alternative that a text names."""
        return self.names.alternative(self.unquoted(text))

    def criterion(self, text: str) -> str:
        """The criterion that a text names."""
        return self.names.criterion(self.unquoted(text))

    def pair(self, first: str, second: str) -> tuple[str, str]:
        """Two different criteria."""
        found = self.criterion(first), self.criterion(second)
        if found[0] == found[1]:
            raise StatementError(f"{found[0]} is named twice: name two criteria")
        return found

    def several(self, text: str) -> list[str]:
        """Alternatives of a list."""
        return [self.alternative(part) for part in re.split(r"\s*,\s*|\s+and\s+", text)]

    def number(self, text: str) -> float:
        """A share, or a number as it stands."""
        plain = text.replace(" ", "")
        return float(plain[:-1]) / 100 if plain.endswith("%") else float(plain)

    def score(self, text: str) -> float:
        """A score; percentages are of the common scale."""
        value = self.number(text)
        return self.origin + value * self.width if "%" in text else value

    def step(self, text: str) -> float:
        """A difference of scores."""
        return self.number(text) * (self.width if "%" in text else 1.0)

    def ordered(self, low: float, high: float) -> tuple[float, float]:
        """Two numbers, the smaller first."""
        if low > high:
            raise StatementError(f"{low:g} is above {high:g}: give the smaller number first")
        return low, high
