"""`Decision`: a table, its scales, and what people said about it."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from choquet.arrays import check_option, generator
from choquet.decide import consistency
from choquet.decide.describing import describe
from choquet.decide.families import FAMILIES, MAX_DRAWN, draw_family, widest_program
from choquet.decide.language import CLASSES, parse
from choquet.decide.levels import Levels, as_scale, scaled
from choquet.decide.program import Program
from choquet.decide.reading import Parsed, Said
from choquet.decide.statements import Importance, Prefer, Score, Setting, Statement
from choquet.decide.table import read_table
from choquet.decide.vocabulary import Vocabulary
from choquet.errors import FileError, InconsistentError, OptionError, SourceError, StatementError
from choquet.scales import Scale

if TYPE_CHECKING:
    from choquet.decide.answer import Answer
    from choquet.decide.consistency import Consistency

__all__ = ["Decision"]


class Decision:
    """Alternatives, criteria, and what people say about them: a decision under construction.

    Parameters
    ----------
    table : path, data frame, dict or array-like
        Rows are alternatives, columns are criteria. A cell is a number, a range such as
        ``3 to 5``, or ``?`` where nothing is known.
    names : str or sequence of str, optional
        The column that holds the names, or the names themselves. By default the first column
        without numbers.
    criteria : sequence of str, optional
        The columns to use, or what to call those of an array.
    scales : dict, or pair of floats, optional
        Levels (poor, good) by criterion; or one pair for all columns, such as ``(0, 20)``.
        Columns without a scale must lie between 0 and 1.
    tree : dict of str to sequence of str, optional
        Groups of criteria, and groups of groups.
    classes : sequence of str
        Classes that statements may name, from the worst to the best.

    See Also
    --------
    choquet.ChoquetRegressor : Learns from scores; takes the same statements as ``expert``.

    Examples
    --------
    >>> import choquet
    >>> cars = {"car": ["Aria", "Bolt", "Cito"], "price": [0.2, 0.5, 0.9],
    ...         "safety": [0.9, 0.6, 0.1], "space": [0.4, 0.7, 0.3]}
    >>> problem = choquet.Decision(cars).say("Bolt > Cito", "safety matters more than space")
    >>> problem.check().ok
    True
    >>> problem.solve(samples=500, rng=0).leader
    'Bolt'
    """

    def __init__(
        self,
        table: Any,
        names: str | Sequence[str] | None = None,
        *,
        criteria: Sequence[str] | None = None,
        scales: Mapping[str, Any] | tuple[float, float] | None = None,
        tree: Mapping[str, Sequence[str]] | None = None,
        classes: Sequence[str] = CLASSES,
    ) -> None:
        self.table = read_table(table, names, criteria)
        self._tree: dict[str, tuple[str, ...]] = {}
        self._scales: dict[str, Scale] = {}
        self._common: tuple[float, float] | None = None
        self._classes = tuple(classes)
        self._said: list[Said] = []
        self._vocabulary = Vocabulary(self.table.names, self.table.criteria)
        for name, parts in (tree or {}).items():
            self._add_group(name, parts)
        if isinstance(scales, Mapping):
            for name, levels in scales.items():
                own = self._vocabulary.criterion(name)
                self._scales[own] = as_scale(levels, own)
        elif scales is not None:
            low, high = (float(end) for end in scales)
            if not low < high:
                raise OptionError(f"scales={scales!r}: the worst score must be below the best")
            self._common = (low, high)

    # -- what is known -----------------------------------------------------------------------------

    @property
    def alternatives(self) -> tuple[str, ...]:
        """Names of the alternatives."""
        return self.table.names

    @property
    def criteria(self) -> tuple[str, ...]:
        """Names of the criteria."""
        return self.table.criteria

    @property
    def statements(self) -> tuple[Said, ...]:
        """What was said; a statement's number is its place, from 0."""
        return tuple(self._said)

    @property
    def levels(self) -> Levels:
        """Scores on the common scale; an error with the lines to paste if a column has no scale."""
        return scaled(self.table, self._scales, self._common)

    @property
    def setting(self) -> Setting:
        """Names and scores as statements see them."""
        levels = self.levels
        return Setting(
            self.criteria,
            dict(zip(self.alternatives, levels.lower, strict=True)),
            dict(zip(self.alternatives, levels.upper, strict=True)),
            self._tree,
            levels.width,
            levels.origin,
        )

    # -- saying ------------------------------------------------------------------------------------

    def scale(
        self,
        criterion: str,
        *,
        poor: float,
        good: float,
        points: Iterable[tuple[float, float]] = (),
    ) -> Decision:
        """Give a criterion its scale; the direction follows from the two levels.

        Parameters
        ----------
        criterion : str
            Its name.
        poor, good : float
            Two levels in the units of the table, with the same meaning for all criteria.
        points : iterable of pairs
            Further levels: a number in the units of the table, and where it stands between 0
            (poor) and 1 (good).

        Returns
        -------
        Decision
            This decision.
        """
        own = self._vocabulary.criterion(criterion)
        more = list(points)
        levels = [(poor, 0.0), *more, (good, 1.0)] if more else (poor, good)
        self._scales[own] = as_scale(levels, own)
        return self

    def say(self, *statements: str | Statement) -> Decision:
        """Add statements, in words or as objects; all or none.

        Parameters
        ----------
        *statements : str or Statement
            Sentences such as ``"Echo > Aria"`` or ``"safety is a must"``, texts of several lines,
            or statements of `choquet.decide`.

        Returns
        -------
        Decision
            This decision.

        Raises
        ------
        StatementError
            With one sentence for each statement that was not understood.
        """
        said: list[Said] = []
        parsed: list[Parsed] = []
        problems: list[str] = []
        names = self._known()
        state = (self._classes, self._common)
        for one in statements:
            if isinstance(one, Statement):
                one.rows(self._names_only())
                said.append(Said(one, describe(one)))
                continue
            if not isinstance(one, str):
                raise OptionError(f"{one!r} is neither a sentence nor a statement")
            try:
                found = self._parse(one, names, state, numbered="\n" in one.strip())
            except StatementError as error:
                problems += error.problems
                continue
            parsed.append(found)
            said += found.said
            state = (found.classes or state[0], found.common or state[1])
        if problems:
            raise StatementError(*problems)
        self._take(parsed)
        self._said += said
        return self

    def read(self, path: str | os.PathLike[str]) -> Decision:
        """Add the statements of a file: one a line, or a CSV file with a column ``statement``.

        Parameters
        ----------
        path : path
            A text file in UTF-8.

        Returns
        -------
        Decision
            This decision.
        """
        try:
            text = Path(path).read_text(encoding="utf-8-sig")
        except UnicodeDecodeError:
            raise FileError(f"{path} is not text in UTF-8: save it again as UTF-8") from None
        except OSError as error:
            raise FileError(f"{path} cannot be read: {error.strerror or error}") from error
        state = (self._classes, self._common)
        found = self._parse(_statement_column(text), self._known(), state, numbered=True)
        self._take([found])
        self._said += found.said
        return self

    def prefer(self, better: str, worse: str, *, by: float = 0.0) -> Decision:
        """Say that one alternative is better than another, by at least so much."""
        names = (self._vocabulary.alternative(better), self._vocabulary.alternative(worse))
        return self.say(Prefer(*names, by))

    def importance(self, more: str, *, over: str, by: float = 0.0) -> Decision:
        """Say that one criterion matters more than another."""
        names = (self._vocabulary.criterion(more), self._vocabulary.criterion(over))
        return self.say(Importance(*names, by))

    def score(self, alternative: str, value: float, *, within: float = 0.05) -> Decision:
        """Say that an alternative scores about so much."""
        name = self._vocabulary.alternative(alternative)
        return self.say(Score(name, value - within, value + within))

    def drop(self, *numbers: int) -> Decision:
        """Take statements back, by their numbers from 0."""
        for number in numbers:
            if not 0 <= number < len(self._said):
                raise OptionError(
                    f"there is no statement {number}: {len(self._said)} are counted from 0"
                )
        self._said = [one for k, one in enumerate(self._said) if k not in set(numbers)]
        return self

    def copy(self) -> Decision:
        """The same decision, to go on with apart from this one."""
        other = object.__new__(Decision)
        vars(other).update(vars(self))
        other._said, other._scales, other._tree = (
            list(self._said),
            dict(self._scales),
            dict(self._tree),
        )
        other._vocabulary = self._known()
        return other

    # -- answers -----------------------------------------------------------------------------------

    def check(self) -> Consistency:
        """Whether all that was said can hold together; if not, which statements conflict.

        Returns
        -------
        Consistency
            With ``.ok``, ``.split``, ``.conflicts`` and ``.repairs``; it prints as sentences.
        """
        return consistency.check(self._program(), self._said, self.setting)

    def solve(
        self,
        models: Sequence[str] = ("weights", "pairs", "all"),
        *,
        samples: int = 2000,
        rng: Any = 0,
    ) -> Answer:
        """What follows from what was said: shares, what is certain, what to ask next.

        Parameters
        ----------
        models : sequence of str
            Families of models to draw from: "weights", "pairs" and "all".
        samples : int, default 2000
            Draws from each family.
        rng : int or numpy.random.Generator, default 0
            Where chance comes from.

        Returns
        -------
        Answer
            It does not change when more is said; ask again.

        Raises
        ------
        InconsistentError
            If statements exclude each other: it carries conflicts and repairs.
        """
        from choquet.decide.answer import Answer

        for name in models:
            check_option("models", name, FAMILIES)
        if samples < 10:
            raise OptionError(f"samples={samples!r}: draw 10 or more")
        setting, levels = self.setting, self.levels
        found = consistency.check(self._program(), self._said, setting)
        if not found.ok:
            raise InconsistentError(str(found), found.conflicts, found.repairs)
        random = generator(rng)
        statements = [one.statement for one in self._said]
        drawn = tuple(
            draw_family(name, statements, setting, levels.lower, levels.upper, samples, random)
            for name in FAMILIES
            if name in models and (name != "all" or setting.n <= MAX_DRAWN)
        )
        if not any(family.holds for family in drawn):
            raise InconsistentError(
                f"none of the models asked for ({', '.join(models)}) can hold what was said; "
                "models that let more criteria interact can: leave models out"
            )
        return Answer(self.copy(), found, drawn, samples)

    # -- inside ------------------------------------------------------------------------------------

    def _program(self) -> Program:
        levels = self.levels
        statements = [one.statement for one in self._said]
        return widest_program(statements, self.setting, levels.lower, levels.upper)

    def _names_only(self) -> Setting:
        """Names, with scores that stand for themselves, before scales are known."""
        rows = dict.fromkeys(self.alternatives, np.zeros(len(self.criteria)))
        return Setting(self.criteria, rows, rows, self._tree)

    def _known(self) -> Vocabulary:
        return Vocabulary(self.alternatives, self.criteria, list(self._tree))

    def _parse(
        self,
        text: str,
        names: Vocabulary,
        state: tuple[tuple[str, ...], tuple[float, float] | None],
        *,
        numbered: bool,
    ) -> Parsed:
        classes, common = state
        low, high = common or (0.0, 1.0)
        return parse(text, names, width=high - low, origin=low, classes=classes, numbered=numbered)

    def _take(self, parsed: Iterable[Parsed]) -> None:
        """Scales and groups of texts, after all of them were understood."""
        scales, common = dict(self._scales), self._common
        for one in parsed:
            for name, line in one.scales.items():
                new = as_scale(line.points, name)
                old = scales.get(name)
                if old is not None and old.to_dict() != new.to_dict():
                    raise StatementError(
                        f"{name} has another scale already, {old!r}: keep one of them"
                    )
                scales[name] = new
            if one.common is not None:
                if common not in (None, one.common):
                    raise StatementError("another scale for all scores was given before")
                common = one.common
            for name, parts in one.groups.items():
                self._add_group(name, parts)
            self._classes = one.classes or self._classes
        self._scales, self._common = scales, common

    def _add_group(self, name: str, parts: Sequence[str]) -> None:
        known = {*self.criteria, *self._tree}
        for part in parts:
            if part not in known:
                raise SourceError(f"group {name!r}: there is no criterion or group {part!r}")
            if any(part in others for group, others in self._tree.items() if group != name):
                raise SourceError(f"group {name!r}: {part!r} is in another group already")
        self._tree[name] = tuple(parts)
        self._vocabulary = self._known()

    def __repr__(self) -> str:
        return (
            f"<Decision: {len(self.alternatives)} alternatives, {len(self.criteria)} criteria, "
            f"{len(self._said)} statements>"
        )


def _statement_column(text: str) -> str:
    """The column ``statement`` of a CSV text, cell by line; other texts as they are."""
    head = text.split("\n", 1)[0]
    mark = max(",;\t", key=head.count)
    names = [cell.strip().strip('"').casefold() for cell in head.split(mark)]
    if "statement" not in names:
        return text
    at = names.index("statement")
    rows = list(csv.reader(io.StringIO(text), delimiter=mark))
    cells = [row[at].replace("\n", "; ") if len(row) > at else "" for row in rows]
    return "\n".join(["", *cells[1:]])
