"""Which conditions can hold together, and how to say the same with fewer of them.

Ranks are places in a queue: "among the top t" is a last place that will do, its opposite a first
one, and "above" says who comes before whom. Whether all can be had is the problem of unit jobs on
one machine with release times, deadlines and precedence. Once release times and deadlines agree
with the precedence, serving the most urgent job first finds an order if there is one.

References
----------
Garey, Johnson, Simons & Tarjan (1981), "Scheduling unit-time tasks with arbitrary release times and
deadlines".
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from choquet.contexts.conditions import Condition, Rule


def possible(conditions: Sequence[Condition], n_sources: int) -> bool:
    """Whether conditions can all hold in one sample.

    For conditions on ranks the answer is exact. Of values only this counts: a source that is at
    least at a value is above one that is below it.

    Examples
    --------
    >>> largest, above = Condition(0, top=1), Condition(1, above=0)
    >>> possible([largest, above], 3), possible([largest, above.opposite], 3)
    (False, True)
    >>> possible([Condition(source, top=2) for source in range(3)], 4)
    False
    """
    first: dict[int, int] = {}
    low: dict[int, float] = {}
    for c in conditions:
        for source in (c.source, *(() if c.above is None else (c.above,))):
            first[source], low[source] = 0, float("-inf")
    last = dict.fromkeys(first, n_sources - 1)
    high = dict.fromkeys(first, float("inf"))
    before = set()
    for c in conditions:
        if c.above is not None:
            before.add((c.above, c.source) if c.negated else (c.source, c.above))
        elif c.value is not None and c.negated:
            high[c.source] = min(high[c.source], c.value)
        elif c.value is not None:
            low[c.source] = max(low[c.source], c.value)
        elif c.negated:
            first[c.source] = max(first[c.source], c.top or 1)
        else:
            last[c.source] = min(last[c.source], (c.top or 1) - 1)
    before |= {(i, j) for i in first for j in first if low[i] >= high[j]}
    changed = bool(before)
    for _ in range(len(first) + 1):
        if not changed:
            return _placed(first, last)
        changed = False
        for i, j in before:
            if first[j] <= first[i] or last[i] >= last[j]:
                first[j], last[i] = max(first[j], first[i] + 1), min(last[i], last[j] - 1)
                changed = True
    return False  # what still moves after as many rounds as sources goes in a circle


def _placed(first: Mapping[int, int], last: Mapping[int, int]) -> bool:
    """Whether each source can have a place of its own within its limits."""
    left, place = set(first), 0
    while left:
        place = max(place, min(first[source] for source in left))
        urgent = min((s for s in left if first[s] <= place), key=lambda source: last[source])
        if last[urgent] < place:
            return False
        left.remove(urgent)
        place += 1
    return True


def shortest(
    conditions: Iterable[Condition],
    n_sources: int,
    elsewhere: Sequence[Sequence[Condition]] = ((),),
) -> tuple[Condition, ...]:
    """Conditions without those that can be left out.

    A condition can be left out if, where the others hold and it does not, none of the cases
    `elsewhere` is possible. By default that is: if the others imply it.

    Examples
    --------
    >>> shortest([Condition(0, above=1), Condition(0, above=2), Condition(0, top=1)], 3)
    (Condition(source=0, top=1, above=None, value=None, negated=False),)
    """
    kept = list(dict.fromkeys(conditions))
    for one in tuple(kept):
        rest = [other for other in kept if other != one]
        if not any(possible([*rest, one.opposite, *case], n_sources) for case in elsewhere):
            kept = rest
    return tuple(kept)


def rules_by_operator(leaves: Sequence[Rule], n_sources: int) -> dict[int, tuple[Rule, ...]]:
    """Rules of each operator from cases that exclude each other and leave nothing out.

    Conditions that only part cases of one operator are left out, and so are cases that are part of
    another then. Rules of one operator may overlap, and each is true alone; the share of a rule is
    that of its cases.

    Examples
    --------
    >>> case = (Condition(0, top=1), Condition(1, above=2))
    >>> rest = (Condition(0, top=1), Condition(2, above=1))
    >>> other = (Condition(0, top=1, negated=True),)
    >>> leaves = [Rule(part, k, 1 / 3, 1.0) for part, k in ((case, 0), (rest, 0), (other, 1))]
    >>> found = rules_by_operator(leaves, 3)
    >>> [rule.text(["a", "b", "c"]) for rule in (*found[0], *found[1])]
    ['a is the largest', 'a is not the largest']
    """
    found: dict[int, tuple[Rule, ...]] = {}
    for operator in dict.fromkeys(rule.operator for rule in leaves):
        elsewhere = [rule.conditions for rule in leaves if rule.operator != operator]
        own = [
            replace(rule, conditions=shortest(rule.conditions, n_sources, elsewhere))
            for rule in leaves
            if rule.operator == operator
        ]
        kept: list[Rule] = []
        for rule in sorted(own, key=lambda one: len(one.conditions)):
            place = next((k for k, one in enumerate(kept) if _within(rule, one, n_sources)), None)
            if place is None:
                kept.append(rule)
            else:
                kept[place] = replace(kept[place], share=kept[place].share + rule.share)
        found[operator] = tuple(kept)
    return found


def _within(rule: Rule, other: Rule, n_sources: int) -> bool:
    """Whether a rule applies only where another does."""
    return not any(
        possible([*rule.conditions, condition.opposite], n_sources)
        for condition in other.conditions
    )
