"""Contexts that were grown as conditions, each leaf of a tree with its operator."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from choquet.arrays import FloatArray, IntArray
from choquet.contexts.conditions import Condition, Context, Rule
from choquet.contexts.leaves import statistics_of
from choquet.contexts.merging import Operators
from choquet.contexts.rows import RankRows, ranks_of
from choquet.contexts.rules import RuleList
from choquet.contexts.tree import Tree
from choquet.decomposition.operators import UNKNOWN, Contexts, ContextualOperator, Errors
from choquet.decomposition.outcome import Outcome
from choquet.decomposition.result import Decomposition
from choquet.scales import Units
from choquet.walks import DataSupport, sorts_of

__all__ = ["EVIDENCE", "TreeContexts", "TreeDecomposition", "describe", "with_contexts"]

EVIDENCE = ("bias", "share", "count", "rank", "condition", "trust", "residual")
"""What is known of an operator that was fitted to data, besides its weights."""


@dataclass(frozen=True, eq=False)
class TreeContexts(Contexts):
    """The leaves of a tree: conditions that exclude each other and leave nothing out.

    Attributes
    ----------
    sources : tuple of str
    tree : Tree
    labels : array of ints
        Operator of each node; -1 for inner nodes.
    """

    sources: tuple[str, ...]
    tree: Tree
    labels: IntArray

    def of(self, number: int) -> Context:
        """When an operator is used: the leaves that lead to it."""
        rules = tuple(rule for rule in self.leaves.values() if rule.operator == number)
        return Context(rules, self.sources)

    @cached_property
    def leaves(self) -> Mapping[int, Rule]:
        """The conditions of each leaf, with its share."""
        tree = self.tree
        return {
            leaf: Rule(
                conditions, int(self.labels[leaf]), float(tree.weight[leaf] / tree.weight[0]), 1.0
            )
            for leaf, conditions in _paths(tree).items()
        }

    @cached_property
    def rules(self) -> RuleList:
        """The tree as rules: contexts do not overlap, so their order does not matter."""
        rules = tuple(rule for rule in self.leaves.values() if rule.operator != 0)
        return RuleList(rules, 0, len(self.sources), 1.0, True)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class TreeDecomposition(Decomposition):
    """Contexts as the leaves of a tree, learned from data or grown from the walks of a measure.

    Attributes
    ----------
    contexts : TreeContexts
    operators : tuple of ContextualOperator
        By decreasing share.
    measure : AbstractMeasure or None
    support : DataSupport or None
    outcome : Outcome or None
    error : Errors
        From the integral of `measure`; NaN without one.
    exact : bool
        Whether `error` is exact, not of a sample of walks.
    unit : {"walks", "samples"}
        What shares are shares of.

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

    contexts: TreeContexts = None  # type: ignore[assignment]
    operators: tuple[ContextualOperator, ...] = ()
    measure: Any = None
    support: DataSupport | None = None
    outcome: Outcome | None = None
    error: Errors = UNKNOWN
    exact: bool = False
    unit: Literal["walks", "samples"] = "samples"
    units: Units | None = None

    @property
    def sources(self) -> tuple[str, ...]:
        """Names of the sources."""
        return self.contexts.sources

    @property
    def tree(self) -> Tree:
        """The tree of conditions."""
        return self.contexts.tree

    @property
    def labels(self) -> IntArray:
        """Operator of each node of the tree; -1 for inner nodes."""
        return self.contexts.labels

    @property
    def leaves(self) -> Mapping[int, Rule]:
        """The context of each leaf, with its share."""
        return self.contexts.leaves

    def leaf_of(self, X: npt.ArrayLike) -> IntArray:
        """Number of the leaf of each sample; ties are sorted by the order of the sources."""
        return self.tree.leaf_of(ranks_of(self.scaled(X))[1])

    def decided(self, inputs: FloatArray) -> tuple[IntArray, IntArray]:
        """Operator of each sample, and its sort."""
        return np.asarray(self.labels[self.tree.leaf_of(ranks_of(inputs)[1])]), sorts_of(inputs)

    def operator_of_sorts(self, sorts: IntArray) -> IntArray:
        """Number of the operator that decides each sort."""
        ranks = np.argsort(np.asarray(sorts), axis=1).astype(np.int16)
        return np.asarray(self.labels[self.tree.leaf_of(ranks)])

    def opening(self) -> str:
        """How many operators there are, of how many sources."""
        plural = "operator" if self.n_operators == 1 else "operators"
        return f"{self.n_operators} {plural} of {self.n_sources} sources"

    def _same_contexts(self, other: TreeDecomposition) -> bool:
        return self.leaves == other.leaves


def describe(
    rows: RankRows,
    tree: Tree,
    found: Operators,
    sources: tuple[str, ...],
    *,
    l2: float,
    residual: FloatArray | None = None,
) -> TreeDecomposition:
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
    weights = rows.in_units(found.coefficients)
    evidence = [
        {
            "bias": float(weights.bias[k]),
            "share": float(shares[k]),
            **_evidence(rows, np.flatnonzero(labels == k), residual, l2),
        }
        for k in order
    ]
    names = np.where(found.labels >= 0, new[found.labels], -1)
    by_rank, by_source = weights.by_rank[order], weights.by_source[order]
    return with_contexts(sources, tree, names, by_rank, by_source, evidence)


def with_contexts(
    sources: tuple[str, ...],
    tree: Tree,
    labels: IntArray,
    rank_weights: FloatArray,
    source_weights: FloatArray,
    evidence: Sequence[Mapping[str, Any]],
    **known: Any,
) -> TreeDecomposition:
    """A decomposition from a tree, the operator of each node, and what is known of each operator.

    `evidence` holds, for each operator, attributes of a `ContextualOperator` besides its weights;
    `known` other fields of the decomposition.
    """
    contexts = TreeContexts(sources, tree, labels)
    operators = tuple(
        ContextualOperator(
            sources=sources,
            rank_weights=rank_weights[number],
            source_weights=source_weights[number],
            number=number,
            contexts=contexts,
            **one,
        )
        for number, one in enumerate(evidence)
    )
    return TreeDecomposition(contexts=contexts, operators=operators, **known)


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
