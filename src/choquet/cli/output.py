"""What a command says: tables for people, JSON for scripts, one line for an error."""

from __future__ import annotations

import contextlib
import json
import math
import sys
import warnings
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from choquet.arrays import as_number
from choquet.errors import ChoquetWarning

if TYPE_CHECKING:
    from rich.console import Console

_WORDS = {"monotone=False": "--no-monotone", "ordinal=True": "--ordinal"}
"""Options that warnings advise, as they are called on the command line."""


def printable(text: Any) -> str:
    r"""Text without characters that would command the terminal: names come from files.

    Examples
    --------
    >>> printable("a\x1b[2Jb")
    'a\\x1b[2Jb'
    """
    return "".join(
        c if c.isprintable() or c == "\n" else c.encode("unicode_escape").decode()
        for c in str(text)
    )


def _console() -> Console:
    from rich.console import Console

    # Made anew, because the streams may be replaced between two commands of one process.
    return Console(file=sys.stdout, highlight=False, markup=False, soft_wrap=True)


def say(text: str = "", *, style: str | None = None) -> None:
    """Print a paragraph; wrapped where a person looks on, as it is in a pipe."""
    if not sys.stdout.isatty():
        sys.stdout.write(printable(text) + "\n")
        return
    from rich.text import Text

    console = _console()
    console.soft_wrap = False
    console.print(Text(printable(text)), style=style)


def say_table(
    header: Sequence[str], rows: Iterable[Sequence[Any]], *, title: str | None = None
) -> None:
    """Print a table; numbers stand to the right."""
    from rich.table import Table
    from rich.text import Text

    rows = [list(row) for row in rows]
    table = Table(title=None if title is None else Text(printable(title)), title_justify="left")
    for k, name in enumerate(header):
        numeric = all(isinstance(row[k], int | float) for row in rows)
        table.add_column(
            Text(printable(name)), justify="right" if numeric else "left", overflow="fold"
        )
    for row in rows:
        table.add_row(*(Text(_cell(value)) for value in row))
    _console().print(table)


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return "–" if math.isnan(value) else f"{value:.4g}"
    return printable(value)


def many(number: int, what: str) -> str:
    """So many of something, in the singular or the plural.

    Examples
    --------
    >>> many(1, "row"), many(2000, "row")
    ('1 row', '2,000 rows')
    """
    return f"{number:,} {what}" + ("" if number == 1 else "s")


def say_json(document: Any) -> None:
    """Print one JSON document; what is not finite becomes null."""
    sys.stdout.write(json.dumps(plain(document), indent=1, ensure_ascii=False, allow_nan=False))
    sys.stdout.write("\n")


def plain(node: Any) -> Any:
    """Arrays and NumPy scalars as lists and numbers, NaN and infinities as None.

    Examples
    --------
    >>> import numpy as np
    >>> plain({"a": np.array([1.0, np.nan]), 2: (np.int64(3),)})
    {'a': [1.0, None], '2': [3]}
    """
    if isinstance(node, dict):
        return {str(key): plain(value) for key, value in node.items()}
    if isinstance(node, list | tuple):
        return [plain(value) for value in node]
    if hasattr(node, "tolist"):
        return plain(node.tolist())
    if isinstance(node, float) and not math.isfinite(node):
        return None
    return node


def say_reliability(told: dict[str, Any]) -> None:
    """Say in one line how probabilities agree with what happened, on rows held out.

    Examples
    --------
    >>> say_reliability({"told": 0.951, "right": 0.93, "gap": 0.034, "chance": 0.02})
    Probabilities there: 95.1 % on average, 93.0 % right; in groups they differ by 3.4 points ...
    """
    shown = {key: f"{100 * told[key]:.1f}" for key in ("told", "right", "gap", "chance")}
    say(
        f"Probabilities there: {shown['told']} % on average, {shown['right']} % right; in groups "
        f"they differ by {shown['gap']} points ({shown['chance']} by chance alone)."
    )


_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")
"""How texts begin that a spreadsheet takes for a formula, or passes over to find one."""


def guarded(cell: Any) -> Any:
    r"""A cell of CSV that no spreadsheet runs: a quote before text that begins like a formula.

    Numbers stay as they are, and so does text that is a number.

    Examples
    --------
    >>> guarded('=HYPERLINK("http://example.org")'), guarded(-0.5), guarded("-1")
    ('\'=HYPERLINK("http://example.org")', -0.5, '-1')
    """
    if not isinstance(cell, str) or not cell.startswith(_FORMULA):
        return cell
    try:
        number = math.isfinite(as_number(cell)) and cell.strip() == cell
    except ValueError:
        number = False
    return cell if number else f"'{cell}"


def warn(text: str) -> None:
    """Say something beside the result, on one line of standard error."""
    # Where nobody listens, the exit code must do.
    with contextlib.suppress(OSError, AttributeError):
        sys.stderr.write(f"choquet: {printable(' '.join(str(text).split()))}\n")


@contextlib.contextmanager
def say_warnings() -> Iterator[None]:
    """Turn the library's warnings into lines, each said once; others are none of the user's.

    They are said when the work went well: an error is one line, and comes alone.
    """
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", ChoquetWarning)
        yield
    for message in dict.fromkeys(str(one.message) for one in caught):
        for option, word in _WORDS.items():
            message = message.replace(option, word)
        warn(f"note: {message}")
