"""All that was said about a table: scales, directions, groups, classes and statements."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from choquet.decide.saying.describing import describe
from choquet.decide.saying.language import CLASSES, parse
from choquet.decide.saying.levels import as_scale
from choquet.decide.saying.reading import Parsed, Said
from choquet.decide.saying.setting import Setting
from choquet.decide.saying.statements import Statement
from choquet.decide.saying.vocabulary import Vocabulary
from choquet.errors import OptionError, SourceError, StatementError
from choquet.scales import Scale


@dataclass
class Notes:
    """What was said about a table, in the order it was said.

    Columns without a scale of their own share the `common` one. Of a criterion more is better (1)
    or less (-1), where that was said. The `tree` holds groups of criteria and their parts;
    `classes` run from the worst to the best.
    """

    alternatives: tuple[str, ...]
    criteria: tuple[str, ...]
    scales: dict[str, Scale] = field(default_factory=dict)
    common: tuple[float, float] | None = None
    better: dict[str, int] = field(default_factory=dict)
    tree: dict[str, tuple[str, ...]] = field(default_factory=dict)
    classes: tuple[str, ...] = CLASSES
    said: list[Said] = field(default_factory=list)

    def copy(self) -> Notes:
        """The same notes, to go on with apart from these."""
        return Notes(
            self.alternatives, self.criteria, dict(self.scales), self.common, dict(self.better),
            dict(self.tree), self.classes, list(self.said),
        )  # fmt: skip

    @property
    def names(self) -> Vocabulary:
        """Names of alternatives, criteria and groups."""
        return Vocabulary(self.alternatives, self.criteria, list(self.tree))

    @property
    def statements(self) -> list[Statement]:
        """What the statements mean."""
        return [one.statement for one in self.said]

    def add(self, statements: Iterable[Any]) -> None:
        """Take in sentences and statements: all of them, or none with all that is wrong."""
        work = self.copy()
        problems: list[str] = []
        for one in statements:
            if isinstance(one, Statement):
                one.rows(work._names_only())
                work.said.append(Said(one, describe(one)))
            elif not isinstance(one, str):
                raise OptionError(f"{one!r} is neither a sentence nor a statement")
            else:
                try:
                    work._hear(one, numbered="\n" in one.strip())
                except StatementError as error:
                    problems += error.problems
        if problems:
            raise StatementError(*problems)
        vars(self).update(vars(work))

    def read(self, text: str) -> None:
        """Take in the lines of a file."""
        work = self.copy()
        work._hear(text, numbered=True)
        vars(self).update(vars(work))

    def drop(self, numbers: Sequence[int]) -> None:
        """Take statements back, by their numbers from 0."""
        count = len(self.said)
        for number in numbers:
            if not 0 <= number < count:
                known = f"they are numbered from 0 to {count - 1}" if count else "none was made"
                raise OptionError(f"there is no statement {number}: {known}")
        self.said = [one for k, one in enumerate(self.said) if k not in set(numbers)]

    def set_scale(self, criterion: str, levels: Any) -> None:
        """Give a criterion its scale, which must not contradict what was said before."""
        new = as_scale(levels, criterion)
        old = self.scales.get(criterion)
        if old is not None and old.to_dict() != new.to_dict():
            pairs = zip(old.points, old.values, strict=True)
            shown = ", ".join(f"{at:g} is {value:g}" for at, value in pairs)
            raise StatementError(
                f"{criterion} has another scale already ({shown}): keep one of them"
            )
        rises = new.values[-1] > new.values[0]
        if self.better.get(criterion, 0) == (-1 if rises else 1):
            more = "lower" if rises else "higher"
            raise StatementError(f"{criterion}: {more} was said to be better; this is the reverse")
        self.scales[criterion] = new

    def set_better(self, criterion: str, sign: int) -> None:
        """Say whether more or less of a criterion is better."""
        scale = self.scales.get(criterion)
        known = self.better.get(criterion)
        if scale is not None:
            known = 1 if scale.values[-1] > scale.values[0] else -1
        if known not in (None, sign):
            raise StatementError(f"{criterion}: the reverse was said before; keep one of the two")
        self.better[criterion] = sign

    def set_common(self, ends: tuple[float, float]) -> None:
        """Give all columns without a scale of their own the same one."""
        if not ends[0] < ends[1]:
            raise OptionError(f"scales={ends!r}: the worst score must be below the best")
        if self.common not in (None, ends):
            raise StatementError("another scale for all scores was given before: keep one of them")
        self.common = ends

    def add_group(self, name: str, parts: Sequence[str]) -> None:
        """Put criteria, or groups of them, into one group."""
        known = {*self.criteria, *self.tree}
        for part in parts:
            if part not in known:
                raise SourceError(f"group {name!r}: there is no criterion or group {part!r}")
            if any(part in others for group, others in self.tree.items() if group != name):
                raise SourceError(f"group {name!r}: {part!r} is in another group already")
        self.tree[name] = tuple(parts)

    def _names_only(self) -> Setting:
        """Names, with scores that stand for themselves, before scales are known."""
        rows = dict.fromkeys(self.alternatives, np.zeros(len(self.criteria)))
        return Setting(self.criteria, rows, rows, self.tree)

    def _hear(self, text: str, *, numbered: bool) -> None:
        low, high = self.common or (0.0, 1.0)
        parse(
            text, self.names, width=high - low, origin=low, classes=self.classes,
            numbered=numbered, take=self._take,
        )  # fmt: skip

    def _take(self, found: Parsed) -> None:
        for name, line in found.scales.items():
            self.set_scale(name, line.points)
        for name, sign in found.better.items():
            self.set_better(name, sign)
        if found.common is not None:
            self.set_common(found.common)
        for name, parts in found.groups.items():
            self.add_group(name, parts)
        self.classes = found.classes or self.classes
        for one in found.said:
            one.statement.rows(self._names_only())  # what names and groups do not allow is raised
        self.said += found.said


def statement_column(text: str) -> str:
    r"""The column ``statement`` of a CSV text, cell by line; other texts as they are.

    Examples
    --------
    >>> statement_column("who,statement\nme,A > B")
    '\nA > B'
    """
    head = text.split("\n", 1)[0]
    mark = max(",;\t", key=head.count)
    names = [cell.strip().strip('"').casefold() for cell in head.split(mark)]
    if "statement" not in names:
        return text
    at = names.index("statement")
    rows = list(csv.reader(io.StringIO(text), delimiter=mark))
    cells = [row[at].replace("\n", "; ") if len(row) > at else "" for row in rows]
    return "\n".join(["", *cells[1:]])
