"""Names of alternatives and criteria, and how people write them."""

from __future__ import annotations

import difflib
import re
import unicodedata
from collections.abc import Sequence

from choquet.errors import StatementError

QUOTES = ('""', "“”", "''")
"""What a name may stand between."""


def key(name: str) -> str:
    """What names are compared by: case, the kind of blank and quotes around do not count.

    Examples
    --------
    >>> key("Running  Cost") == key("running_cost") == key("“Running cost”")
    True
    """
    plain = unicodedata.normalize("NFKC", name).strip()
    if len(plain) > 2 and plain[0] + plain[-1] in QUOTES:
        plain = plain[1:-1]
    return re.sub(r"[\s_]+", " ", plain).strip().casefold()


class Vocabulary:
    """Names of alternatives, criteria and groups, and how to find one.

    Parameters
    ----------
    alternatives, criteria : sequences of str
        Names.
    groups : sequence of str, optional
        Nodes of a tree of criteria.

    Raises
    ------
    StatementError
        If two names differ by case or blanks only, or one names both.

    Examples
    --------
    >>> Vocabulary(["Bolt"], ["running_cost"]).criterion("Running cost")
    'running_cost'
    """

    def __init__(
        self, alternatives: Sequence[str], criteria: Sequence[str], groups: Sequence[str] = ()
    ) -> None:
        self.alternatives = _table(alternatives, "alternatives")
        self.criteria = _table([*criteria, *groups], "criteria")
        self.groups = {key(name) for name in groups}
        both = sorted(set(self.alternatives) & set(self.criteria))
        if both:
            raise StatementError(
                f"{self.criteria[both[0]]!r} names both an alternative and a criterion: rename one"
            )

    def add_group(self, name: str) -> None:
        """Learn the name of a further group."""
        if key(name) in self.criteria or key(name) in self.alternatives:
            raise StatementError(f"{name!r} is a name already: choose another one for the group")
        self.criteria[key(name)] = name
        self.groups.add(key(name))

    def group(self, text: str) -> str:
        """The group of criteria that a text names."""
        found = self.criterion(text)
        if key(text) not in self.groups:
            raise StatementError(f"{found} is one criterion, whose scores are known: name a group")
        return found

    def alternative(self, text: str) -> str:
        """The alternative that a text names."""
        return self._find(text, self.alternatives, self.criteria, "an alternative", "a criterion")

    def criterion(self, text: str) -> str:
        """The criterion that a text names."""
        return self._find(text, self.criteria, self.alternatives, "a criterion", "an alternative")

    @staticmethod
    def _find(
        text: str, table: dict[str, str], other: dict[str, str], kind: str, other_kind: str
    ) -> str:
        wanted = key(text)
        if wanted in table:
            return table[wanted]
        if wanted in other:
            raise StatementError(f"{other[wanted]} is {other_kind}, and {kind} is needed here")
        if not wanted:
            raise StatementError(f"{kind} is missing")
        near = difflib.get_close_matches(wanted, table, 1, 0.6)
        if near:
            hint = f"did you mean {table[near[0]]}?"
        else:
            shown = list(table.values())
            more = f" and {len(shown) - 6} more" if len(shown) > 6 else ""
            hint = f"there are {', '.join(shown[:6])}{more}" if shown else "there are none"
        raise StatementError(f"no {kind.split()[-1]} is called {text.strip()!r}; {hint}")


def _table(names: Sequence[str], what: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for name in names:
        if not key(name):
            raise StatementError(f"one of the {what} has no name")
        if key(name) in found:
            first = found[key(name)]
            same = "twice" if first == name else f"beside {name!r}; case and blanks do not count"
            raise StatementError(f"{first!r} is among the {what} {same}: rename one")
        found[key(name)] = name
    return found
