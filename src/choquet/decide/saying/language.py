"""Plain sentences, one a line or a cell, to statements.

A sentence is tried against a table of patterns, each of which must fit the whole of it. What fits
none is an error, never a near match; all errors of a text come at once.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from choquet.decide.saying.describing import describe, quote
from choquet.decide.saying.reading import QUOTED, Parsed, Reader, Said
from choquet.decide.saying.sentences import PATTERNS
from choquet.decide.saying.vocabulary import Vocabulary
from choquet.errors import ChoquetError, StatementError

__all__ = ["CLASSES", "Parsed", "Said", "Vocabulary", "describe", "parse", "quote"]

CLASSES = ("bad", "poor", "fair", "good", "excellent")
"""Classes that need no naming, from the worst to the best."""


def parse(
    text: str,
    vocabulary: Vocabulary,
    *,
    width: float = 1.0,
    origin: float = 0.0,
    classes: Sequence[str] = CLASSES,
    numbered: bool = True,
    take: Callable[[Parsed], None] | None = None,
) -> Parsed:
    """Statements, scales and groups of a text.

    Parameters
    ----------
    text : str
        One statement a line; ``;`` parts several, ``#`` begins a comment.
    vocabulary : Vocabulary
        Names.
    width, origin : float
        The common scale, which percentages refer to.
    classes : sequence of str
        Classes from the worst to the best.
    numbered : bool, default True
        Whether statements remember their line.
    take : callable, optional
        Gets what each sentence says, one after the other; what it raises is told with the line.

    Raises
    ------
    StatementError
        With one sentence for each line that was not understood.

    Examples
    --------
    >>> found = parse("Echo > Aria; be strict", Vocabulary(["Aria", "Echo"], ["price"]))
    >>> [said.statement for said in found.said]
    [Prefer(better='Echo', worse='Aria', by=0.0, strict=True), Cautious(low=None, high=0.5)]
    """
    reader = Reader(vocabulary, PATTERNS, width=width, origin=origin, classes=tuple(classes))
    problems = []
    for number, line in enumerate(text.splitlines(), 1):
        for part in _parts(line):
            if take is not None:
                reader.found = Parsed()
            try:
                reader.read(part, number if numbered else None)
                if take is not None:
                    take(reader.found)
            except ChoquetError as error:
                where = f"line {number}: " if numbered else ""
                problems.append(f"{where}{part!r}: {error}")
    if problems:
        raise StatementError(*problems)
    return reader.found


def _parts(line: str) -> list[str]:
    """Statements of a line, without comments; quotes protect what is inside."""
    held: list[str] = []

    def hold(match: re.Match[str]) -> str:
        held.append(match[0])
        return f"\0{len(held) - 1}\0"

    plain = QUOTED.sub(hold, line).split("#")[0]
    back = [re.sub("\0(\\d+)\0", lambda m: held[int(m[1])], part) for part in plain.split(";")]
    return [part.strip() for part in back if part.strip()]
