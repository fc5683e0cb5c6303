"""What was learned: operators with their contexts, in the interface of a decomposition."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from choquet.arrays import FloatArray, IntArray, as_inputs
from choquet.contexts.leaves import statistics_of
from choquet.contexts.merging import Operators
from choquet.contexts.rows import RankRows, ranks_of
from choquet.contexts.rules import Condition, Rule, RuleList
from choquet.contexts.tree import Tree
from choquet.decomposition.outcome import Outcome
from choquet.operators import OrderStatistic

__all__ = ["EVIDENCE", "ContextualModel", "LearnedOperator", "describe", "with_contexts"]

EVIDENCE = ("bias", "share", "count", "rank", "condition", "trust", "residual")
"""What is known of a learned operator besides its weights and context."""

_SHOWN = 12
"""Operators, and weights of one, that are listed in words."""


@dataclass(frozen=True, eq=False, repr=False)
class LearnedOperator(OrderStatistic):
    """An order statistic learned from the samples of its contexts, with what stands behind it.

    Attributes
    ----------
    weights : array of N floats
        By rank, largest input first.
    bias : float
        Added to its output.
    context : tuple of Rule
        The contexts in which it is used, each in conditions that all hold.
    share : float
        Share of the samples, by weight, that it was learned from.
    count : int
        Number of these samples.
    rank : int
        Directions of the sorted inputs (at most N) that these samples vary in.
    condition : float
        Ratio of largest to smallest spread over the directions they vary in.
    trust : float
        Share of the weights that data decided, not the penalty: 1 if all N directions are seen
        well.
    residual : float
        Root mean square residual on these samples.
    """

    bias: float
    context: tuple[Rule, ...]
    share: float
    count: int
    rank: int
    condition: float
    trust: float
    residual: float

    def __init__(
        self,
        weights: FloatArray,
        *,
        bias: float,
        context: tuple[Rule, ...],
        share: float,
        count: int,
        rank: int,
        condition: float,
        trust: float,
        residual: float,
    ) -> None:
        super().__init__(weights)
        for name, value in (
            ("bias", bias),
            ("context", context),
            ("share", share),
            ("count", count),
            ("rank", rank),
            ("condition", condition),
            ("trust", trust),
            ("residual", residual),
        ):
            object.__setattr__(self, name, value)

    def __call__(self, X: npt.ArrayLike) -> FloatArray:
        """Value for each sample (row) of inputs, whatever the order of its columns."""
        return super().__call__(X) + self.bias

    def __repr__(self) -> str:
        shown = ", ".join(f"{w:.4g}" for w in self.weights)
        return f"<LearnedOperator {self.name} ({shown}) in {self.share:.1%} of samples>"


@dataclass(frozen=True, eq=False, repr=False)
class ContextualModel:
    """Contextual order statistics learned directly, without a measure between.

    It answers to the names of a `Decomposition`: `operators`, `rules`, `predict`, `operator_of`.

    Attributes
    ----------
    sources : tuple of str
    operators : tuple of LearnedOperator
        By decreasing share of samples.
    rules : RuleList
        The tree as rules: contexts do not overlap, so their order does not matter.
    tree : Tree
    labels : array of ints
        Operator of each node of the tree; -1 for inner nodes.
    contexts : dict of Rule by int
        The context of each leaf, with its share of the samples.
    outcome : Outcome or None
        What the output says of a class, if the operators are a classifier's.

    Examples
    --------
    >>> import numpy as np
    >>> from choquet import ContextualRegressor
    >>> X = np.random.default_rng(0).random((300, 3))
    >>> y = np.where(X[:, 0] == X.max(axis=1), np.median(X, axis=1), X.max(axis=1))
    >>> model = ContextualRegressor(convex=True, l2=0.0).fit(X, y).decomposition_
    >>> print(model)
    2 operators of 3 sources
      1. max (1, 0, 0), 67.3 % of samples
      2. median (0, 1, 0), 32.7 % of samples
    If x1 is the largest: median; otherwise: max.
    >>> model.operator_of([[0.9, 0.4, 0.2]]), model.predict([[0.9, 0.4, 0.2]]).round(9)
    (array([1]), array([0.4]))
    """

    sources: tuple[str, ...]
    operators: tuple[LearnedOperator, ...]
    rules: RuleList
    tree: Tree
    labels: IntArray
    contexts: Mapping[int, Rule]
    outcome: Outcome | None = None

    @property
    def n_operators(self) -> int:
        """Number of operators."""
        return len(self.operators)

    @property
    def n_numbers(self) -> int:
        """Weights and biases that predictions need (without the rules)."""
        biases = sum(operator.bias != 0 for operator in self.operators)
        return self.n_operators * len(self.sources) + biases

    @property
    def weights(self) -> FloatArray:
        """Weights of the operators, one row each."""
        return np.array([operator.weights for operator in self.operators])

    @property
    def biases(self) -> FloatArray:
        """Biases of the operators."""
        return np.array([operator.bias for operator in self.operators])

    @property
    def operator_names(self) -> list[str]:
        """Names of the operators, numbered where two are called the same."""
        names = [operator.name for operator in self.operators]
        return [
            f"{name} ({number})" if names.count(name) > 1 else name
            for number, name in enumerate(names, start=1)
        ]

    def leaf_of(self, X: npt.ArrayLike) -> IntArray:
        """Number of the leaf of each sample; ties are sorted by the order of the sources."""
        return self.tree.leaf_of(ranks_of(as_inputs(X, sources=self.sources))[1])

    def operator_of(self, X: npt.ArrayLike) -> IntArray:
        """Number of the operator that decides each sample."""
        return np.asarray(self.labels[self.leaf_of(X)])

    def operator_of_sorts(self, sorts: npt.ArrayLike) -> IntArray:
        """Number of the operator that decides each sort."""
        ranks = np.argsort(np.asarray(sorts), axis=1).astype(np.int16)
        return np.asarray(self.labels[self.tree.leaf_of(ranks)])

    def predict(self, X: npt.ArrayLike) -> FloatArray:
        """Output of the operator that decides each sample."""
        ordered, ranks = ranks_of(as_inputs(X, sources=self.sources))
        chosen = self.labels[self.tree.leaf_of(ranks)]
        output = np.einsum("ij,ij->i", ordered, self.weights[chosen])
        return np.asarray(output + self.biases[chosen])

    def trust(self, X: npt.ArrayLike) -> FloatArray:
        """Trust of the operator that decides each sample; see `LearnedOperator`."""
        return np.array([operator.trust for operator in self.operators])[self.operator_of(X)]

    def __str__(self) -> str:
        plural = "operator" if self.n_operators == 1 else "operators"
        lines = [f"{self.n_operators} {plural} of {len(self.sources)} sources"]
        for number, operator in enumerate(self.operators[:_SHOWN], start=1):
            numbers = [f"{w:.3g}" for w in operator.weights.round(9) + 0.0]
            if len(numbers) > _SHOWN:
                numbers[6:-3] = ["…"]
            weights = ", ".join(numbers)
            sign = "-" if operator.bias < 0 else "+"
            bias = f" {sign} {abs(operator.bias):.3g}" if operator.bias else ""
            share = f"{100 * operator.share:.1f} % of samples"
            lines.append(f"  {number}. {operator.name} ({weights}){bias}, {share}")
        if self.n_operators > _SHOWN:
            lines.append(f"  … and {self.n_operators - _SHOWN} more")
        elif self.n_operators > 1:
            lines += self.rules.text(self.sources, self.operator_names)
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        # Notebooks ask for this; the room that draws is loaded only then.
        from choquet.report import contextual_html

        return contextual_html(self)

    def __repr__(self) -> str:
        return f"<ContextualModel of {len(self.sources)} sources, {self.n_operators} operators>"


def describe(
    rows: RankRows,
    tree: Tree,
    found: Operators,
    sources: tuple[str, ...],
    *,
    l2: float,
    residual: FloatArray | None = None,
) -> ContextualModel:
    """Operators in the units of the data, each with its contexts and what supports it.

    `residual` holds what is left of each row's target; that of least squares by default.
    """
    place = tree.leaf_of(rows.ranks)
    labels = found.labels[place]
    if residual is None:
        fitted = np.einsum("ij,ij->i", rows.Z[:, :-1], found.coefficients[labels])
        residual = rows.target_scale * (rows.Z[:, -1] - fitted)
    shares = np.bincount(labels, rows.weight, len(found.coefficients)) / rows.weight.sum()
    order = np.argsort(-shares, kind="stable")
    new = np.argsort(order, kind="stable")
    weights, biases = rows.in_units(found.coefficients)
    evidence = [
        {
            "bias": float(biases[k]),
            "share": float(shares[k]),
            **_evidence(rows, np.flatnonzero(labels == k), residual, l2),
        }
        for k in order
    ]
    names = np.where(found.labels >= 0, new[found.labels], -1)
    return with_contexts(sources, tree, names, weights[order], evidence)


def with_contexts(
    sources: tuple[str, ...],
    tree: Tree,
    labels: IntArray,
    weights: FloatArray,
    evidence: Sequence[Mapping[str, Any]],
) -> ContextualModel:
    """A model from a tree, the operator of each node, and what is known of each operator.

    Contexts and rules follow from the tree. `evidence` holds, for each operator, the attributes of
    a `LearnedOperator` besides weights and context.
    """
    contexts = {
        leaf: Rule(conditions, int(labels[leaf]), float(tree.weight[leaf] / tree.weight[0]), 1.0)
        for leaf, conditions in _paths(tree).items()
    }
    operators = [
        LearnedOperator(
            weights[number],
            context=tuple(rule for rule in contexts.values() if rule.operator == number),
            **known,
        )
        for number, known in enumerate(evidence)
    ]
    rules = tuple(rule for rule in contexts.values() if rule.operator != 0)
    listed = RuleList(rules, 0, len(sources), 1.0, True)
    return ContextualModel(sources, tuple(operators), listed, tree, labels, contexts)


def _evidence(rows: RankRows, index: IntArray, residual: FloatArray, l2: float) -> dict[str, Any]:
    """What the samples of an operator say of it."""
    n = rows.n_sources
    full = np.zeros((n + 2, n + 2))
    full[np.triu_indices(n + 2)] = statistics_of(rows, index, rows.weight)
    full += np.triu(full, 1).T
    weight = max(full[n, n], 1e-300)
    spread = full[:n, :n] - np.outer(full[:n, n], full[:n, n]) / weight
    values = np.maximum(np.linalg.eigvalsh(spread), 0.0)
    seen = values[values > 1e-10 * max(values[-1], 1e-300)]
    squares = rows.weight[index] @ residual[index] ** 2
    return {
        "count": len(index),
        "rank": len(seen),
        "condition": float(np.sqrt(seen[-1] / seen[0])) if len(seen) else float("inf"),
        "trust": float((seen / (seen + l2)).sum()) / n,
        "residual": float(np.sqrt(squares / weight)),
    }


def _paths(tree: Tree) -> dict[int, tuple[Condition, ...]]:
    """Conditions of each leaf, without those that others imply."""
    found: dict[int, tuple[Condition, ...]] = {}
    pending: list[tuple[int, tuple[Condition, ...]]] = [(0, ())]
    while pending:
        node, conditions = pending.pop()
        source, top, above = (int(a[node]) for a in (tree.source, tree.top, tree.above))
        if source < 0:
            found[node] = _shortest(conditions)
        elif above >= 0:
            pending.append((int(tree.no[node]), (*conditions, Condition(above, above=source))))
            pending.append((int(tree.yes[node]), (*conditions, Condition(source, above=above))))
        else:
            for child, negated in ((tree.no[node], True), (tree.yes[node], False)):
                more = Condition(source, top=top, negated=negated)
                pending.append((int(child), (*conditions, more)))
    return found


def _shortest(conditions: tuple[Condition, ...]) -> tuple[Condition, ...]:
    kept: dict[tuple[int, int | None, bool], Condition] = {}
    for condition in conditions:
        # Of several thresholds on one side the last is the tightest: it was split off inside.
        kept[condition.source, condition.above, condition.negated] = condition
    return tuple(kept.values())
