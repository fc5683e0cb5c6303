"""`Decision`: a table, its scales, and what people said about it."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from choquet.arrays import check_option, generator
from choquet.decide import consistency
from choquet.decide.models.families import FAMILIES, MAX_DRAWN, draw_family, widest_program
from choquet.decide.models.program import Program
from choquet.decide.saying.language import CLASSES
from choquet.decide.saying.levels import Levels, dominated, known_directions, lines_to_fill, scaled
from choquet.decide.saying.notes import Notes, statement_column
from choquet.decide.saying.reading import Said
from choquet.decide.saying.setting import Setting
from choquet.decide.saying.statements import Importance, Prefer, Score, Statement
from choquet.decide.saying.table import read_table
from choquet.decide.steps import judged_points
from choquet.errors import FileError, InconsistentError, OptionError, TooLargeError
from choquet.watching import each

if TYPE_CHECKING:
    from choquet.decide.answer import Answer
    from choquet.decide.consistency import Consistency

MAX_COMPARED = 200
"""Alternatives that are compared pair by pair."""


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
        self.left_out: tuple[str, ...] = ()
        self.notes = Notes(self.table.names, self.table.criteria, classes=tuple(classes))
        for name, parts in (tree or {}).items():
            self.notes.add_group(name, parts)
        known = self.notes.names  # two names that are the same are an error
        if isinstance(scales, Mapping):
            for name, levels in scales.items():
                self.notes.set_scale(known.criterion(name), levels)
        elif scales is not None:
            low, high = (float(end) for end in scales)
            self.notes.set_common((low, high))

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
        return tuple(self.notes.said)

    @property
    def levels(self) -> Levels:
        """Scores on the common scale; an error with the lines to paste if a column has no scale."""
        notes = self.notes
        return scaled(self.table, notes.scales, notes.common, notes.better)

    @property
    def directions(self) -> dict[str, int]:
        """1 for criteria of which more is better, -1 for the others, as far as that is known."""
        notes = self.notes
        return known_directions(self.table, notes.scales, notes.common) | notes.better

    @property
    def open_columns(self) -> list[str]:
        """Columns that need a scale and have none."""
        known = known_directions(self.table, self.notes.scales, self.notes.common)
        return [name for name in self.criteria if name not in known]

    @property
    def lines_to_fill(self) -> list[str]:
        """Lines of scales for these columns, the levels left open, with the table's range."""
        ends = np.concatenate([self.table.lower, self.table.upper])
        least, most = np.nanmin(ends, axis=0), np.nanmax(ends, axis=0)
        at = [self.criteria.index(name) for name in self.open_columns]
        return lines_to_fill([(self.criteria[j], least[j], most[j]) for j in at])

    @property
    def setting(self) -> Setting:
        """Names and scores as statements see them."""
        levels = self.levels
        return Setting(
            self.criteria,
            dict(zip(self.alternatives, levels.lower, strict=True)),
            dict(zip(self.alternatives, levels.upper, strict=True)),
            self.notes.tree,
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
        steps: Iterable[tuple[float, float, str]] = (),
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
        steps : iterable of (level, level, word)
            Steps between two levels, judged by a word of `choquet.decide.STEPS`, from "very weak"
            to "extreme"; see `choquet.decide.judged_points`.

        Returns
        -------
        Decision
            This decision.
        """
        own = self.notes.names.criterion(criterion)
        fixed, judged = [(poor, 0.0), *points, (good, 1.0)], list(steps)
        levels: Any = (poor, good) if len(fixed) == 2 else fixed
        if judged:
            levels = judged_points(dict(fixed), judged)
        self.notes.scales.pop(own, None)
        self.notes.set_scale(own, levels)
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
        flat = [
            part for one in statements for part in (one if isinstance(one, list | tuple) else [one])
        ]
        self.notes.add(flat)
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
        self.notes.read(statement_column(text))
        return self

    def prefer(self, better: str, worse: str, *, by: float = 0.0) -> Decision:
        """Say that one alternative is better than another, by at least so much."""
        names = (self.notes.names.alternative(better), self.notes.names.alternative(worse))
        return self.say(Prefer(*names, by))

    def importance(self, more: str, *, over: str, by: float = 0.0) -> Decision:
        """Say that one criterion matters more than another."""
        names = (self.notes.names.criterion(more), self.notes.names.criterion(over))
        return self.say(Importance(*names, by))

    def score(self, alternative: str, value: float, *, within: float = 0.05) -> Decision:
        """Say that an alternative scores about so much."""
        name = self.notes.names.alternative(alternative)
        return self.say(Score(name, value - within, value + within))

    def drop(self, *numbers: int) -> Decision:
        """Take statements back, by their numbers from 0."""
        self.notes.drop(numbers)
        return self

    def copy(self) -> Decision:
        """The same decision, to go on with apart from this one."""
        other = object.__new__(Decision)
        other.table, other.notes = self.table, self.notes.copy()
        other.left_out = self.left_out
        return other

    def without(self, alternative: str) -> Decision:
        """The decision without one alternative, and without all that mentions it."""
        left_out = self.notes.names.alternative(alternative)
        other = self.copy()
        said = other.notes.statements
        other.notes.drop([k for k, one in enumerate(said) if left_out in one.names()])
        return other._leaving([left_out])

    def shortlist(self) -> Decision:
        """The decision without alternatives that another one equals or beats on every criterion.

        Alternatives that statements name stay, and two stay in any case. The names of the others
        are in ``left_out``.

        Examples
        --------
        >>> table = {"car": ["A", "B", "C"], "price": [0.9, 0.2, 0.1], "space": [0.3, 0.8, 0.7]}
        >>> short = Decision(table).shortlist()
        >>> short.alternatives, short.left_out
        (('A', 'B'), ('C',))
        """
        named = {name for one in self.notes.statements for name in one.names()}
        beaten = Counter(worse for _, worse in self.dominance() if worse not in named)
        few = max(len(beaten) + 2 - len(self.alternatives), 0)
        behind = [name for name, _ in beaten.most_common(len(beaten) - few)]
        other = self.copy()._leaving(behind)
        other.left_out += tuple(name for name in self.alternatives if name in set(behind))
        return other

    def _leaving(self, left_out: Collection[str]) -> Decision:
        self.table = self.table.without(set(left_out))
        self.notes.alternatives = self.table.names
        return self

    def dominance(self) -> list[tuple[str, str]]:
        """Pairs of which the first is at least as good on every criterion and better on one.

        It needs no scales: which way a column is better is enough, by its scale or by a line such
        as ``price: lower is better``. Columns between 0 and 1 without either count upwards. In a
        column of which nothing is known, two alternatives can only be equal.
        """
        return dominated(self.table, self.directions)

    # -- answers -----------------------------------------------------------------------------------

    def check(self) -> Consistency:
        """Whether all that was said can hold together; if not, which statements conflict.

        Returns
        -------
        Consistency
            With ``.ok``, ``.split``, ``.conflicts`` and ``.repairs``; it prints as sentences.
        """
        none = np.zeros((0, len(self.criteria)))
        said = widest_program(self.notes.statements, self.setting, none, none)
        return consistency.check(said, self.notes.said, self.setting)

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

        models = [models] if isinstance(models, str) else list(models)
        for name in models:
            check_option("models", name, FAMILIES)
        if samples < 10:
            raise OptionError(f"samples={samples!r}: draw 10 or more")
        self._check_count()
        setting, levels = self.setting, self.levels
        found = self.check()
        if not found.ok:
            raise InconsistentError(str(found), found.conflicts, found.repairs)
        random = generator(rng)
        statements = self.notes.statements
        drawn = tuple(
            draw_family(name, statements, setting, levels.lower, levels.upper, samples, random)
            for name in each("drawing measures", list(FAMILIES))
            if name in models and (name != "all" or setting.n <= MAX_DRAWN)
        )
        if not any(family.holds for family in drawn):
            raise InconsistentError(
                f"none of the models asked for ({', '.join(models)}) can hold what was said; "
                "models that let more criteria interact can: leave models out"
            )
        seed = int(rng) if isinstance(rng, int | np.integer) else None
        return Answer(self.copy(), found, drawn, samples, seed)

    # -- inside ------------------------------------------------------------------------------------

    def _check_count(self) -> None:
        count = len(self.alternatives)
        if count <= MAX_COMPARED:
            return
        short = self.shortlist()
        left = len(short.alternatives)
        start = f"up to {MAX_COMPARED} alternatives can be compared pair by pair"
        if left <= MAX_COMPARED:
            raise TooLargeError(
                f"{start}, and there are {count}: go on with .shortlist(), which leaves out "
                f"{count - left} that another one equals or beats on every criterion"
            )
        raise TooLargeError(
            f"{start}, and of {count + len(self.left_out)} there are {left} that no other one "
            "equals or beats on every criterion: keep those that you would look at, for instance "
            "all that reach a level on the criterion that matters most"
        )

    def _program(self) -> Program:
        levels = self.levels
        return widest_program(self.notes.statements, self.setting, levels.lower, levels.upper)

    def __repr__(self) -> str:
        return (
            f"<Decision: {len(self.alternatives)} alternatives, {len(self.criteria)} criteria, "
            f"{len(self.notes.said)} statements>"
        )


def cars(*, statements: bool = True) -> Decision:
    """Twelve made-up cars with scales, and what the buyers said.

    Parameters
    ----------
    statements : bool, default True
        Whether to say it; the scales are given either way.

    Returns
    -------
    Decision
        To go on with.

    Examples
    --------
    >>> problem = cars()
    >>> problem
    <Decision: 12 alternatives, 5 criteria, 8 statements>
    >>> problem.check().ok
    True
    """
    folder = files("choquet.decide") / "data"
    problem = Decision(str(folder / "cars.csv")).read(str(folder / "statements.txt"))
    if not statements:
        problem.drop(*range(len(problem.statements)))
    return problem
