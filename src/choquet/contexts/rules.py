"""Contexts as rules: when each operator is used, in conditions on the ranks of the sources.

A list of rules is read from the top: the first whose conditions all hold names the operator, and
what no rule decides falls to a default. "If gpr is the largest: median; otherwise: max."
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import factorial

import numpy as np
import numpy.typing as npt

from choquet.arrays import BoolArray, FloatArray, IntArray
from choquet.contexts._labels import as_labels, as_shares
from choquet.contexts._rule_predicates import Predicates
from choquet.contexts._rule_search import Problem, best_list, decide
from choquet.errors import DataError, OptionError
from choquet.measures.sources import check_sources
from choquet.walks.sorts import as_sorts

__all__ = ["Condition", "Rule", "RuleList", "find_rules"]

_ALL_PREDICATES, _FEW_SOURCES = 900, 16
"""Conditions that rules are made of: all up to 16 sources, beyond those that tell most alone."""

_WORDS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


@dataclass(frozen=True)
class Condition:
    """A condition on the ranks of sources: one among the largest, or one above another.

    Parameters
    ----------
    source : int
        Number of the source it is about.
    top : int, optional
        The source is among the `top` largest inputs, or …
    above : int, optional
        … its input is larger than that of this source. One of the two must be given.
    negated : bool, default False
        Whether the opposite is meant.

    Examples
    --------
    >>> from choquet.contexts.rules import Condition
    >>> largest = Condition(0, top=1)
    >>> largest.text(["gpr", "ir", "emi"])
    'gpr is the largest'
    >>> largest.holds([[0, 2, 1], [2, 1, 0]])
    array([ True, False])
    >>> Condition(1, above=2).text(["gpr", "ir", "emi"])
    'ir is above emi'
    >>> Condition(0, top=2, negated=True).text(["gpr", "ir", "emi"])
    'gpr is the smallest'
    """

    source: int
    top: int | None = None
    above: int | None = None
    negated: bool = False

    def __post_init__(self) -> None:
        if (self.top is None) == (self.above is None):
            raise OptionError(
                f"a condition has either top= or above=, not top={self.top} and above={self.above}"
            )
        if self.source < 0 or self.source == self.above or (self.above or 0) < 0:
            raise OptionError(f"source {self.source} above source {self.above} is no condition")
        if self.top is not None and self.top < 1:
            raise OptionError(f"top={self.top} must be at least 1")

    def holds(self, sorts: npt.ArrayLike) -> BoolArray:
        """Whether it holds, for each sort (source numbers, largest input first)."""
        rows = as_sorts(sorts)
        self._check(rows.shape[1])
        return self._holds(np.argsort(rows, axis=1))

    def text(self, sources: Sequence[str]) -> str:
        """The condition in words, with the names of the sources."""
        names, n = check_sources(sources, len(sources)), len(sources)
        self._check(n)
        name, no = names[self.source], "not " if self.negated else ""
        if self.above is not None:
            return f"{name} is {no}above {names[self.above]}"
        top = self.top or 1
        if n == 2 or top == n - 1 != 1:
            # Not among the top N - 1 is the smallest; of two sources, not the largest is too.
            if n == 2:
                return f"{name} is the {'smallest' if self.negated else 'largest'}"
            return f"{name} is {'' if self.negated else 'not '}the smallest"
        if top == 1:
            return f"{name} is {no}the largest"
        if 2 * top > n:
            return f"{name} is {'' if self.negated else 'not '}among the bottom {_word(n - top)}"
        return f"{name} is {no}among the top {_word(top)}"

    def _check(self, n_sources: int) -> None:
        if max(self.source, self.above or 0) >= n_sources or (self.top or 1) >= max(n_sources, 2):
            raise DataError(f"{self} is no condition on {n_sources} sources")

    def _holds(self, positions: IntArray) -> BoolArray:
        bound = positions[:, self.above] if self.above is not None else self.top or 1
        held: BoolArray = (positions[:, self.source] < bound) != self.negated
        return held


def _word(number: int) -> str:
    return _WORDS[number] if number < len(_WORDS) else str(number)


@dataclass(frozen=True)
class Rule:
    """Conditions that lead to an operator.

    Attributes
    ----------
    conditions : tuple of Condition
        All of them must hold.
    operator : int
        Label of the operator.
    share : float
        Share of all walks, by weight, that this rule decides: those it covers and no earlier rule
        does.
    precision : float
        Share of these for which the operator is right; NaN if it decides none.

    Examples
    --------
    >>> from choquet.contexts.rules import Condition, Rule
    >>> Rule((Condition(0, top=1), Condition(1, above=2)), 4, 1 / 6, 1.0).text(["a", "b", "c"])
    'a is the largest and b is above c'
    """

    conditions: tuple[Condition, ...]
    operator: int
    share: float
    precision: float

    def covers(self, sorts: npt.ArrayLike) -> BoolArray:
        """Whether all conditions hold, for each sort, whatever earlier rules say."""
        rows = as_sorts(sorts)
        for condition in self.conditions:
            condition._check(rows.shape[1])
        return self._covers(np.argsort(rows, axis=1))

    def text(self, sources: Sequence[str]) -> str:
        """Its conditions in words."""
        return " and ".join(condition.text(sources) for condition in self.conditions)

    def _covers(self, positions: IntArray) -> BoolArray:
        held = np.ones(len(positions), dtype=np.bool_)
        for condition in self.conditions:
            held &= condition._holds(positions)
        return held


@dataclass(frozen=True)
class RuleList:
    """Rules in order: the first that covers a sort names its operator, else the default does.

    Attributes
    ----------
    rules : tuple of Rule
        From the first to the last.
    default : int
        Operator where no rule applies.
    n_sources : int
        Number of sources N.
    fidelity : float
        Share of the walks, by weight, for which the list names the right operator.
    exact : bool
        Whether it names the right one for every walk, not only for a sample of them.

    Examples
    --------
    >>> from choquet import all_sorts
    >>> from choquet.contexts.rules import find_rules
    >>> sorts = all_sorts(3)
    >>> rules = find_rules(sorts, sorts[:, 0] != 0)  # label 0 where source 0 is the largest
    >>> rules.text(["gpr", "ir", "emi"], ["median", "max"])
    ['If gpr is the largest: median; otherwise: max.']
    >>> rules.predict([[1, 0, 2]])
    array([1])
    >>> rules.fidelity, rules.exact
    (1.0, True)
    """

    rules: tuple[Rule, ...]
    default: int
    n_sources: int
    fidelity: float
    exact: bool

    @property
    def n_conditions(self) -> int:
        """Number of conditions in all rules together: the length of the list."""
        return sum(len(rule.conditions) for rule in self.rules)

    def predict(self, sorts: npt.ArrayLike) -> IntArray:
        """Operator that the list names, for each sort."""
        positions = np.argsort(as_sorts(sorts, self.n_sources), axis=1)
        coverage = [rule._covers(positions) for rule in self.rules]
        return decide(coverage, [r.operator for r in self.rules], self.default, len(positions))

    def of(self, operator: int) -> tuple[Rule, ...]:
        """Rules that lead to an operator: its context, beside "otherwise" if it is the default."""
        return tuple(rule for rule in self.rules if rule.operator == operator)

    def context(self, operator: int, sources: Sequence[str] | None = None) -> str:
        """When an operator is used, in words; earlier rules of the list go first.

        Examples
        --------
        >>> from choquet import all_sorts
        >>> from choquet.contexts.rules import find_rules
        >>> sorts = all_sorts(3)
        >>> rules = find_rules(sorts, sorts[:, 0] != 0)
        >>> rules.context(0, ["gpr", "ir", "emi"]), rules.context(1), rules.context(2)
        ('gpr is the largest', 'otherwise', 'never')
        """
        names = check_sources(sources, self.n_sources)
        parts = [rule.text(names) for rule in self.of(operator)]
        if operator == self.default:
            parts.append("otherwise" if self.rules else "always")
        return "; or ".join(parts) or "never"

    def text(
        self,
        sources: Sequence[str] | None = None,
        names: Sequence[str] | Mapping[int, str] | None = None,
    ) -> list[str]:
        """The list as sentences, the first that applies counting.

        Parameters
        ----------
        sources : sequence of str, optional
            Names of the sources; x1, x2, … by default.
        names : sequence or mapping of str, optional
            Names of the operators by label; "operator 0" and so on where there is none.

        Returns
        -------
        list of str
            A rule that is not always right says for what share of its walks it is.
        """
        known = check_sources(sources, self.n_sources)
        called = dict(names) if isinstance(names, Mapping) else dict(enumerate(names or ()))
        ends = [
            f"{rule.text(known)}: {called.get(rule.operator, f'operator {rule.operator}')}"
            + ("" if rule.precision == 1 else f" (right for {_percent(rule.precision)})")
            for rule in self.rules
        ]
        last = called.get(self.default, f"operator {self.default}")
        if not ends:
            return [f"Always: {last}."]
        if len(ends) == 1:
            return [f"If {ends[0]}; otherwise: {last}."]
        middle = [f"Otherwise, if {end}." for end in ends[1:]]
        return [f"If {ends[0]}.", *middle, f"Otherwise: {last}."]


def _percent(share: float) -> str:
    """A share below 1 in per cent, never rounded up to 100."""
    return f"{min(100 * share, 99.9):.3g} %"


def find_rules(
    sorts: npt.ArrayLike,
    labels: npt.ArrayLike,
    *,
    weights: npt.ArrayLike | None = None,
    max_rules: int = 20,
    max_conditions: int = 3,
    min_gain: float = 0.001,
    complete: bool = False,
) -> RuleList:
    """A short ordered list of rules for the operator of a sort.

    The list is grown greedily, the shortest rule first: at each step the shortest conjunction of
    conditions that is always right, and among those the one that decides most; where none decides
    enough, the one with the largest surplus of right over wrong. Several such lists, with each
    label as the default, are grown and relieved of what they can do without; the most faithful is
    kept, then the shortest. The search is a heuristic (the shortest list is out of reach of any
    quick algorithm), but `fidelity` is counted, not estimated.

    Parameters
    ----------
    sorts : array-like of shape (n, N)
        Source numbers, largest input first.
    labels : array-like of n ints
        Label of the operator of each sort.
    weights : array-like of n floats, optional
        How much each sort counts: ≥ 0; equal by default.
    max_rules : int, default 20
        Most rules, the default not counted.
    max_conditions : int, default 3
        Most conditions in a rule.
    min_gain : float, default 0.001
        Least share of the weight that a rule must gain.
    complete : bool, default False
        Whether the sorts are all that matter (all supported walks, say), so that a list that is
        right for each of them may be called exact. All N! sorts are recognised as such.

    Returns
    -------
    RuleList

    References
    ----------
    Rivest, R. L. (1987). Learning decision lists. Machine Learning 2, 229-246.

    Examples
    --------
    >>> from choquet import Measure, OperatorGraph, all_sorts
    >>> from choquet.contexts.rules import find_rules
    >>> g = Measure([0, 0, 1, 1, 1, 1, 1, 1], sources=["gpr", "ir", "emi"])
    >>> sorts = all_sorts(3)
    >>> rules = find_rules(sorts, OperatorGraph(g).index(sorts))
    >>> rules.text(g.sources, ["median", "max"])
    ['If gpr is the largest: median; otherwise: max.']
    """
    rows = as_sorts(sorts)
    known, compact = as_labels(labels, len(rows), "sorts")
    shares = as_shares(weights, len(rows))
    for name, value in (("max_rules", max_rules), ("max_conditions", max_conditions)):
        if value < (name == "max_conditions"):
            raise OptionError(f"{name}={value} must be at least {int(name == 'max_conditions')}")
    if not 0 <= min_gain < 1:
        raise OptionError(f"min_gain={min_gain} must be a share of the weight, from 0 to below 1")
    positions = np.argsort(rows, axis=1)
    order = np.flatnonzero(shares > 0)
    order = order[np.argsort(compact[order], kind="stable")]
    predicates = Predicates.of(rows.shape[1])
    if rows.shape[1] > _FEW_SOURCES:
        # Tables of pairs, one a label, are what the search costs.
        most = max(200, 2 * _ALL_PREDICATES // len(known))
        predicates = predicates.most_telling(positions[order], compact[order], shares[order], most)
    problem = Problem(
        predicates.matrix(positions[order]),
        compact[order],
        shares[order],
        len(known),
        max_rules,
        max_conditions,
        float(min_gain),
    )
    clauses, default = best_list(problem) if len(known) > 1 and len(predicates) else ([], 0)
    conditions = [tuple(_condition(predicates, q) for q in literals) for literals, _ in clauses]
    named = [int(known[k]) for _, k in clauses]
    return _measured(
        conditions, named, int(known[default]), positions, known[compact], shares, complete
    )


def _measured(
    conditions: list[tuple[Condition, ...]],
    named: list[int],
    default: int,
    positions: IntArray,
    labels: IntArray,
    shares: FloatArray,
    complete: bool,
) -> RuleList:
    """Rules with the share and precision of each, counted on the walks themselves."""
    rules: list[Rule] = []
    left = np.ones(len(labels), dtype=np.bool_)
    right = np.zeros(len(labels), dtype=np.bool_)
    for parts, operator in zip(conditions, named, strict=True):
        decided = left & Rule(parts, operator, 0.0, 0.0)._covers(positions)
        correct = decided & (labels == operator)
        share = float(shares[decided].sum())
        wrong = float(shares[decided & ~correct].sum())
        precision = 1 - wrong / share if share > 0 else float("nan")
        rules.append(Rule(parts, operator, share, precision))
        left &= ~decided
        right |= correct
    right |= left & (labels == default)
    whole = complete or _holds_all(positions)
    # 1 minus the wrong weight, so that a list without a mistake has a fidelity of exactly 1.
    fidelity = 1.0 - float(shares[~right].sum())
    return RuleList(
        tuple(rules), default, positions.shape[1], fidelity, bool(whole and right.all())
    )


def _condition(predicates: Predicates, literal: int) -> Condition:
    """A literal as a condition; "not i above j" is "j above i"."""
    negated, at = divmod(literal, len(predicates))
    source, bound = int(predicates.source[at]), int(predicates.bound[at])
    if predicates.is_top[at]:
        return Condition(source, top=bound, negated=bool(negated))
    return Condition(bound, above=source) if negated else Condition(source, above=bound)


def _holds_all(positions: IntArray) -> bool:
    """Whether all N! sorts are among the rows."""
    n = positions.shape[1]
    return len(positions) >= factorial(n) and len(np.unique(positions, axis=0)) == factorial(n)
