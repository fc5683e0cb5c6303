"""Results that show themselves: sentences at the prompt, paragraphs and tables in notebooks.

Tables have no styles and no scripts; every text is escaped.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from html import escape
from typing import TypeVar

__all__ = [
    "Shown",
    "ShownTuple",
    "html_paragraphs",
    "html_table",
    "list_words",
    "number_word",
    "rounded",
]

_NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


class Shown(ABC):
    """A result with a text. Printed, or as the last line of a cell, it shows that text.

    Examples
    --------
    >>> class Verdict(Shown):
    ...     def text(self) -> str:
    ...         return "Radar is above map & camera."
    >>> Verdict()
    Radar is above map & camera.
    >>> Verdict()._repr_html_()
    '<p>Radar is above map &amp; camera.</p>'
    """

    @abstractmethod
    def text(self) -> str:
        """The result in sentences, one a line."""

    def html_table(self) -> str:
        """A table for notebooks; empty where the sentences say everything."""
        return ""

    def __repr__(self) -> str:
        return self.text()

    def _repr_html_(self) -> str:
        return html_paragraphs(self.text().splitlines()) + self.html_table()


OneShown = TypeVar("OneShown", bound=Shown)


class ShownTuple(tuple[OneShown, ...]):
    """Several results, numbered where they are shown.

    Examples
    --------
    >>> ShownTuple()
    Nothing.
    """

    nothing = "Nothing."
    """What an empty one says."""

    def __repr__(self) -> str:
        lines = [f"{number}. {one.text()}" for number, one in enumerate(self, 1)]
        return "\n".join(lines) or self.nothing

    def _repr_html_(self) -> str:
        if not self:
            return html_paragraphs([self.nothing])
        return "<ol>" + "".join(f"<li>{escape(one.text())}</li>" for one in self) + "</ol>"


def html_paragraphs(lines: Iterable[str]) -> str:
    """Lines of text as paragraphs.

    Examples
    --------
    >>> html_paragraphs(["a < b", "c"])
    '<p>a &lt; b</p><p>c</p>'
    """
    return "".join(f"<p>{escape(line)}</p>" for line in lines)


def html_table(caption: str, heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table with a caption and a row of heads.

    Examples
    --------
    >>> html_table("Values", ["a"], [["<1>"]]).split("</thead>")[1]
    '<tbody><tr><td>&lt;1&gt;</td></tr></tbody></table>'
    """
    head = "".join(f'<th scope="col">{escape(cell)}</th>' for cell in heads)
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows
    )
    return (
        f"<table><caption>{escape(caption)}</caption><thead><tr>{head}</tr></thead>"
        f"<tbody>{body}</tbody></table>"
    )


def rounded(number: float, digits: int) -> str:
    """A number between about -1000 and 1000 for people: what rounding leaves of it, and 0 as 0.

    Examples
    --------
    >>> rounded(8.88e-16, 3), rounded(0.25, 3), rounded(-1 / 3, 3)
    ('0', '0.25', '-0.333')
    """
    return f"{round(float(number), digits) + 0.0:g}"


def number_word(number: int) -> str:
    """A number up to ten as a word.

    Examples
    --------
    >>> number_word(3), number_word(12)
    ('three', '12')
    """
    return _NUMBERS[number] if number < len(_NUMBERS) else str(number)


def list_words(items: Iterable[str], joint: str = "and") -> str:
    """Items with commas, and the last after "and".

    Examples
    --------
    >>> list_words(["ir"]), list_words(["ir", "emi"]), list_words("abc", "or")
    ('ir', 'ir and emi', 'a, b or c')
    """
    words = list(items)
    return f"{', '.join(words[:-1])} {joint} {words[-1]}" if len(words) > 1 else "".join(words)
