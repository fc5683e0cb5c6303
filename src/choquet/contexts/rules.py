"""Contexts as rules: when each operator is used, in conditions on the ranks of the sources.

A list of rules is read from the top: the first whose conditions all hold names the operator, and
what no rule decides falls to a default. "If gpr is the largest: median; otherwise: max."
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import factorial

import numpy as np
import numpy.typing as npt

from choquet.arrays import FloatArray, IntArray
from choquet.contexts._labels import as_labels, as_shares
from choquet.contexts._rule_predicates import Predicates
from choquet.contexts._rule_search import Problem, best_list, decide
from choquet.contexts.conditions import Condition, Context, Rule
from choquet.contexts.logic import possible, shortest
from choquet.errors import OptionError
from choquet.measures.sources import check_sources
from choquet.walks.sorts import as_sorts

_ALL_PREDICATES, _FEW_SOURCES = 900, 16
"""Conditions that rules are made of: all up to 16 sources, beyond those that tell most alone."""


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
        """Rules that lead to an operator, each complete: with what earlier rules take from it."""
        last = sum(rule.share for rule in self.rules)
        rest = Rule((), self.default, max(1.0 - last, 0.0), 1.0)
        return tuple(
            replace(rule, unless=_exceptions(rule, self.rules[:place], self.n_sources))
            for place, rule in enumerate((*self.rules, rest))
            if rule.operator == operator
        )

    def context(self, operator: int, sources: Sequence[str] | None = None) -> Context:
        """When an operator is used, complete, whatever the order of the rules.

        Examples
        --------
        >>> from choquet import all_sorts
        >>> from choquet.contexts.rules import find_rules
        >>> sorts = all_sorts(3)
        >>> rules = find_rules(sorts, sorts[:, 0] != 0)
        >>> names = ["gpr", "ir", "emi"]
        >>> [rules.context(k, names).text() for k in range(3)]
        ['gpr is the largest', 'gpr is not the largest', 'never']
        """
        return Context(self.of(operator), check_sources(sources, self.n_sources))

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
            f"{rule.words(known)}: {called.get(rule.operator, f'operator {rule.operator}')}"
            + ("" if rule.precision == 1 else f" (right for {percent_below_all(rule.precision)})")
            for rule in self.rules
        ]
        last = called.get(self.default, f"operator {self.default}")
        if not ends:
            return [f"Always: {last}."]
        if len(ends) == 1:
            return [f"If {ends[0]}; otherwise: {last}."]
        middle = [f"Otherwise, if {end}." for end in ends[1:]]
        return [f"If {ends[0]}.", *middle, f"Otherwise: {last}."]


def _exceptions(
    rule: Rule, earlier: Sequence[Rule], n_sources: int
) -> tuple[tuple[Condition, ...], ...]:
    """Conditions of earlier rules that lead elsewhere and may hold where the rule's do.

    What the rule's own conditions say already is not said again.
    """
    own = rule.conditions
    found = []
    for other in earlier:
        if other.operator != rule.operator and possible([*own, *other.conditions], n_sources):
            news = [one for one in other.conditions if possible([*own, one.opposite], n_sources)]
            found.append(shortest(news, n_sources) or other.conditions)
    return tuple(dict.fromkeys(found))


def percent_below_all(share: float) -> str:
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
