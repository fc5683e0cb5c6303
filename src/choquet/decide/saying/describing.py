"""Statements back in words, which can be read again where the language has them."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from choquet.decide.saying import statements as s
from choquet.decide.saying.vocabulary import QUOTES


def quote(name: Any) -> str:
    """A name as it can be read back.

    Examples
    --------
    >>> quote("Bolt"), quote("rock and roll"), quote('the "new" one')
    ('Bolt', '"rock and roll"', '“the "new" one”')
    """
    text = str(name)
    risky = re.search(r"[<>=~,;#:≥≤≈\"']| - |\b(and|or|than|is|by|on|over|about|matters)\b", text)
    if not risky and text == text.strip():
        return text
    free = [pair for pair in QUOTES if not set(pair) & set(text)]
    pair = free[0] if free else QUOTES[0]
    return f"{pair[0]}{text}{pair[1]}"


def describe(statement: s.Statement) -> str:
    """A statement in words that can be read back where the language has them.

    Examples
    --------
    >>> describe(s.Prefer("Echo", "Aria"))
    'Echo > Aria'
    """
    if isinstance(statement, s.Compared) and statement.on is not None:
        return f"{describe(replace(statement, on=None))} on {quote(statement.on)}"
    match statement:
        case s.Prefer(better, worse, by, strict):
            sign = ">" if strict else ">="
            step = f" by {by:g}" if by else ""
            return f"{quote(better)} {sign} {quote(worse)}{step}"
        case s.Indifferent(first, second):
            return f"{quote(first)} ~ {quote(second)}"
        case s.Score(name, low, high):
            return f"{quote(name)} {_range(low, high)}"
        case s.InClass(name, rank, label):
            return f"{quote(name)} {label or f'in class {rank}'}"
        case s.Intensity(a, b, c, d):
            return f"{quote(a)} - {quote(b)} > {quote(c)} - {quote(d)}"
        case s.Undecided(first, second):
            return f"cannot say {quote(first)} or {quote(second)}"
    return _describe_criteria(statement)


def _range(low: float | None, high: float | None) -> str:
    if low is None or high is None:
        return f"at most {high:g}" if low is None else f"at least {low:g}"
    return f"between {low:g} and {high:g}"


def _describe_criteria(statement: s.Statement) -> str:
    match statement:
        case s.Importance(more, less, by, _, at_most):
            how = "much " if by >= 0.1 else "slightly " if at_most is not None else ""
            return f"{quote(more)} matters {how}more than {quote(less)}"
        case s.SameImportance(first, second):
            return f"{quote(first)} and {quote(second)} matter equally"
        case s.ImportanceBetween(name, low, high):
            return f"importance of {quote(name)} {_range(low, high)}"
        case s.Interaction((first, second), sign):
            word = {-1: "overlap", 0: "are independent", 1: "complement each other"}[sign]
            return f"{quote(first)} and {quote(second)} {word}"
        case s.Must(name):
            return f"{quote(name)} is a must"
        case s.Sufficient(name):
            return f"{quote(name)} is sufficient"
        case s.Irrelevant(name):
            return f"{quote(name)} is irrelevant"
        case s.OnlyIf(name, context):
            return f"{quote(name)} counts only if {quote(context)} is good"
        case s.Cautious(low, high):
            return "be strict" if (low, high) == (None, 0.5) else f"orness {_range(low, high)}"
    return str(statement)
