"""Contexts that were grown as conditions, each leaf of a tree with its operator."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import factorial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from choquet.arrays import FloatArray, IntArray
from choquet.contexts.conditions import Condition, Context, Rule
from choquet.contexts.from_walks import POOR, Applied
from choquet.contexts.learn import Learned
from choquet.contexts.leaves import statistics_of
from choquet.contexts.logic import rules_by_operator, shortest
from choquet.contexts.rows import RankRows, Weights
from choquet.contexts.rules import RuleList
from choquet.contexts.tree import Tree
from choquet.decomposition.cost import Cost
from choquet.decomposition.operators import (
    UNKNOWN,
    Contexts,
    ContextualOperator,
    Errors,
    errors_of,
)
from choquet.decomposition.outcome import Outcome
from choquet.decomposition.result import Decomposition, Identified, stable_shares
from choquet.decomposition.runtime import Decided
from choquet.errors import DataError
from choquet.measures import AbstractMeasure
from choquet.operators.blends import shortest_split
from choquet.operators.dissimilarity import DISSIMILARITIES
from choquet.scales import Units
from choquet.walks import DataSupport

if TYPE_CHECKING:
    from choquet.decomposition.clusters import ClusterDecomposition

EVIDENCE = (
    "bias", "share", "data_share", "count", "rank", "condition", "trust", "residual",
    "stable_share",
)  # fmt: skip
"""What is known of an operator that was fitted to data, besides its weights."""


_DECIMALS = 6
"""Decimals that weights are rounded to, where that costs nothing."""

_DUST = 1e-9
"""Biases up to so much of the largest weight are rounding of zero."""

_CONTRADICTED = (
    "The rows contradict the model, which predicts their targets worse than their mean does; check "
    "columns, directions and units:"
)
_POOR_WORDS = "A poor description, which should not stand in for the integral:"

_HELP = (
    "What would help: more operators (method=ContextTree(max_operators=16)), conditions on values "
    "(n_cuts=8, with rows), rows of the contexts that matter (X), or the integral itself."
)


@dataclass(frozen=True, eq=False)
class TreeContexts(Contexts):
    """The leaves of a tree: conditions that exclude each other and leave nothing out.

    `labels` holds the operator of each node, -1 for inner nodes; conditions on values are told in
    `units`.
    """

    sources: tuple[str, ...]
    tree: Tree
    labels: IntArray
    units: Units | None = None

    def of(self, number: int) -> Context:
        """When an operator is used, in as few conditions as are found."""
        return Context(self._rules.get(number, ()), self.sources)

    def labels_of_sorts(self, sorts: IntArray) -> IntArray:
        """Operator of each sort."""
        ranks = np.argsort(np.asarray(sorts), axis=1).astype(np.int16)
        return np.asarray(self.labels[self.tree.leaf_of(ranks)])

    @cached_property
    def _rules(self) -> Mapping[int, tuple[Rule, ...]]:
        return rules_by_operator(tuple(self.leaves.values()), len(self.sources))

    @cached_property
    def leaves(self) -> Mapping[int, Rule]:
        """The conditions of each leaf, with its share."""
        tree, found = self.tree, {}
        pending: list[tuple[int, tuple[Condition, ...]]] = [(0, ())]
        while pending:
            node, conditions = pending.pop()
            if tree.source[node] < 0:
                needed = shortest(conditions, len(self.sources))
                share = float(tree.weight[node] / tree.weight[0])
                found[node] = Rule(needed, int(self.labels[node]), share, 1.0)
                continue
            asked = tree.question(node, self.units)
            pending.append((int(tree.no[node]), (*conditions, asked.opposite)))
            pending.append((int(tree.yes[node]), (*conditions, asked)))
        return found

    @cached_property
    def rules(self) -> RuleList:
        """The tree as rules: those of two operators do not overlap, so order does not matter."""
        rules = [one for number, own in self._rules.items() if number for one in own]
        return RuleList(tuple(rules), 0, len(self.sources), 1.0, True)


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
    identification : Identification or None
        Near-optimal intervals of the values, if they were given.
    n_walks : int
        Walks that `error` was taken over.
    spread : float
        Standard deviation of the integral: under uniform inputs, or on the rows it was fitted to.
    row_error : float
        Root mean square difference from the integral on these rows; NaN without rows.
    cost : Cost or None
        Errors on held-out rows, where targets were given.
    n_drawn : int
        Rows that contexts were grown from, where these were drawn of more; 0 if it was all.

    Examples
    --------
    >>> import numpy as np
    >>> from choquet import ContextualRegressor
    >>> X = np.random.default_rng(0).random((300, 3))
    >>> y = np.where(X[:, 0] == X.max(axis=1), np.median(X, axis=1), X.max(axis=1))
    >>> model = ContextualRegressor(convex=True, l2=0.0).fit(X, y).decomposition_
    >>> print(model)
    2 operators of 3 sources
      1. max, 67.3 % of samples: x1 is not the largest
      2. median, 32.7 % of samples: x1 is the largest
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
    identification: Identified | None = None
    n_walks: int = 0
    spread: float = float("nan")
    row_error: float = float("nan")
    cost: Cost | None = None
    intercept: float = 0.0
    n_drawn: int = 0

    def __post_init__(self) -> None:
        if self.contexts.units is not self.units:
            contexts = replace(self.contexts, units=self.units)
            operators = tuple(replace(one, contexts=contexts) for one in self.operators)
            object.__setattr__(self, "contexts", contexts)
            object.__setattr__(self, "operators", operators)

    @cached_property
    def sources(self) -> tuple[str, ...]:
        """Names of the sources."""
        return self.contexts.sources

    @cached_property
    def tree(self) -> Tree:
        """The tree of conditions."""
        return self.contexts.tree

    @cached_property
    def leaves(self) -> Mapping[int, Rule]:
        """The context of each leaf, with its share."""
        return self.contexts.leaves

    @cached_property
    def labels(self) -> IntArray:
        """Operator of each node of the tree; -1 for inner nodes."""
        return self.contexts.labels

    @property
    def restricted(self) -> bool:
        """Whether only walks that data support were looked at."""
        return self.support is not None

    @cached_property
    def clusters(self) -> ClusterDecomposition:
        """The same measure decomposed by CLODD, for pictures of its operators."""
        if self.measure is None:
            raise DataError("the operators were learned directly: there is no measure to cluster")
        from choquet.decomposition.clustering_methods import Clodd
        from choquet.decomposition.methods import Task

        support = self.support if self.unit == "walks" else None
        known = {name: getattr(self, name) for name in ("outcome", "identification", "units")}
        return Clodd().decompose(Task(self.measure, support, self.intercept, **known))

    def decided(self, inputs: FloatArray) -> Decided:
        """What decides each sample: its own sort and its leaf."""
        sorts, ordered, leaves = self.tree.placed(inputs)
        return Decided(np.asarray(self.labels[leaves]), sorts, sorts, leaves, ordered)

    def operator_of_sorts(self, sorts: IntArray) -> IntArray:
        """Number of the operator that decides each sort."""
        return self.contexts.labels_of_sorts(sorts)

    @property
    def poor(self) -> bool:
        """Whether the operators stand for the integral, or predict, too badly to be relied on."""
        if self.measure is None:
            return False
        if self.cost is not None:
            return self.cost.poor
        typical = self.error.rms if np.isnan(self.row_error) else self.row_error
        return bool(typical > max(POOR * self.spread, _DUST))

    def opening(self) -> str:
        """How many operators stand for what, and how well; first of all if they do so badly."""
        several = self.n_operators != 1
        count = f"{self.n_operators} operator{'s' if several else ''}"
        if self.measure is None:
            return f"{count} of {self.n_sources} sources"
        what = f"{count} describe{'' if several else 's'} the integral of {self.n_sources} sources"
        if self.unit == "walks" and self.support is not None:
            whole = self.n_sources <= 20 and self.n_walks == factorial(self.n_sources)
            what += "" if whole else " where data support it"
        if self.exact and self.error.worst <= 1e-9 * max(1.0, self.spread):
            return f"{what} exactly."
        parts = [] if np.isnan(self.error.worst) else [self._uniform()]
        if np.isfinite(self.row_error):
            parts.append(f"off by {self.row_error:.3g} on the rows (root mean square)")
        if self.n_drawn:
            parts.append(f"with contexts grown from {self.n_drawn:,} rows drawn of these")
        text = f"{what}: {', '.join(parts)}."
        if self.cost is not None:
            text += f" {self.cost.ratios()}"
        if self.cost is not None and self.cost.contradicted:
            return f"{_CONTRADICTED} {text}"
        return f"{_POOR_WORDS} {text}" if self.poor else text

    def _uniform(self) -> str:
        drawn = "" if self.exact else f", over {self.n_walks:,} walks drawn"
        return (
            f"off by at most {self.error.worst:.3g}, by {self.error.rms:.3g} in the root mean "
            f"square, for inputs in [0, 1]{drawn}"
        )

    def __str__(self) -> str:
        lines = [self.opening()]
        if self.cost is not None:
            lines.append(self.cost.steadiness())
        for number, operator in enumerate(self.operators, start=1):
            context = f": {operator.context}" if self.n_operators > 1 else ""
            share = f"{100 * operator.share:.1f} % of {self.unit}"
            lines.append(f"  {number}. {operator.name}, {share}{context}")
        if self.poor and not (self.cost is not None and self.cost.contradicted):
            lines.append(_HELP)
        return "\n".join(lines)

    def _same_contexts(self, other: TreeDecomposition) -> bool:
        return self.leaves == other.leaves


def describe(
    found: Learned, sources: tuple[str, ...], *, residual: FloatArray | None = None, **known: Any
) -> TreeDecomposition:
    """What was learned from rows, in their units, with what supports each operator.

    `residual` holds what is left of each row's target, by default that of least squares; `known`
    other fields of the decomposition.
    """
    rows, tree, grouping = found.rows, found.tree, found.grouping
    labels = grouping.labels[tree.leaf_of(rows.ranks, rows.values)]
    if residual is None:
        fitted = np.einsum("ij,ij->i", rows.Z[:, :-1], grouping.coefficients[labels])
        residual = rows.target_scale * (rows.Z[:, -1] - fitted)
    shares = np.bincount(labels, rows.weight, len(grouping.coefficients)) / rows.weight.sum()
    evidence = [
        {"share": float(share), **_evidence(rows, np.flatnonzero(labels == k), residual, found.l2)}
        for k, share in enumerate(shares)
    ]
    return _ordered(sources, tree, grouping.labels, grouping.in_units(rows), evidence, known)


def describe_measure(
    found: Applied,
    measure: AbstractMeasure,
    sorts: IntArray,
    counts: FloatArray,
    *,
    complete: bool,
    bias: float = 0.0,
    **known: Any,
) -> TreeDecomposition:
    """What was found in the walks of a measure, with how far each operator is from it."""
    tree, leaves, weights, labels, spread = found
    bounds = measure.bounds_of_sorts(sorts)
    error, errors = walk_errors(bounds, sorts, counts, labels, weights)
    rounded = Weights(*(np.round(part, _DECIMALS) + 0.0 for part in weights))
    known_error, known_errors = walk_errors(bounds, sorts, counts, labels, rounded)
    if known_error.worst <= error.worst + _DUST:
        # Of equally good numbers those are taken that can be said.
        weights, error, errors = rounded, known_error, known_errors
    shares = np.bincount(labels, counts, len(errors)) / counts.sum()
    stable = stable_shares(known.get("identification"), sorts, labels, len(errors))
    evidence = [
        {"share": float(share), "error": one, "stable_share": float(pinned)}
        for share, one, pinned in zip(shares, errors, stable, strict=True)
    ]
    shifted = weights._replace(bias=weights.bias + bias)
    whole = {"measure": measure, "error": error, "exact": complete, "unit": "walks", **known}
    whole |= {"intercept": bias, "spread": spread}
    return _ordered(measure.sources, tree, leaves, shifted, evidence, whole)


def walk_errors(
    bounds: tuple[FloatArray, FloatArray],
    sorts: IntArray,
    counts: FloatArray,
    labels: IntArray,
    weights: Weights,
) -> tuple[Errors, list[Errors]]:
    """Errors of operators by source and by rank in place of walks, overall and for each operator.

    Along a walk the operator is an order statistic too, with the weight of each source at the rank
    that the walk gives it. `bounds` are those of the values along each walk.
    """
    lower, upper = bounds
    middle, slack = (lower + upper) / 2, (upper - lower) / 2
    by_source = np.take_along_axis(weights.by_source[labels], sorts, axis=1)
    replaced = np.cumsum(weights.by_rank[labels] + by_source, axis=1)
    worst = (np.abs(middle - replaced) + slack).max(axis=1)
    away = np.diff(middle - replaced, axis=1, prepend=0.0)
    squares = (DISSIMILARITIES["rms"].embed(away) ** 2).sum(axis=1)
    own = [errors_of(worst, squares, counts, labels == k) for k in range(len(weights.bias))]
    return errors_of(worst, squares, counts, np.ones(len(labels), dtype=np.bool_)), own


def _ordered(
    sources: tuple[str, ...],
    tree: Tree,
    labels: IntArray,
    weights: Weights,
    evidence: Sequence[Mapping[str, Any]],
    known: Mapping[str, Any],
) -> TreeDecomposition:
    """A decomposition with its operators by decreasing share, each in its shortest form."""
    order = np.argsort([-round(one["share"], 12) for one in evidence], kind="stable")
    new = np.argsort(order, kind="stable")
    split = [shortest_split(weights.by_rank[k], weights.by_source[k]) for k in order]
    size = np.abs(weights.by_rank + weights.by_source.mean(axis=1, keepdims=True)).max(axis=1)
    biases = np.where(np.abs(weights.bias) <= _DUST * size, 0.0, weights.bias)
    return with_contexts(
        sources,
        tree,
        np.where(labels >= 0, new[labels], -1),
        _settled([by_rank for by_rank, _ in split]),
        _settled([by_source for _, by_source in split]),
        [{"bias": float(biases[k]), **evidence[k]} for k in order],
        **known,
    )


def _settled(weights: Sequence[FloatArray]) -> FloatArray:
    """Weights without the dust that the ridge of a fit leaves on exact ones."""
    return np.asarray(np.round(np.array(weights), 12) + 0.0, dtype=np.float64)


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
    n = rows.n_columns
    full = np.zeros((n + 2, n + 2))
    full[np.triu_indices(n + 2)] = statistics_of(rows, index, rows.weight)
    full += np.triu(full, 1).T
    weight = max(float(rows.weight[index].sum()), 1e-300)
    spread = full[:n, :n] - np.outer(full[:n, n], full[:n, n]) / weight
    values = np.maximum(np.linalg.eigvalsh(spread), 0.0)
    seen = values[values > 1e-10 * max(values[-1], 1e-300)]
    # By source and by rank alike the sum of all inputs: one direction is there twice, or not free.
    free = n - (rows.leaf == "both") - (rows.total is not None)
    squares = rows.weight[index] @ residual[index] ** 2
    return {
        "count": len(index),
        "rank": len(seen),
        "condition": float(np.sqrt(seen[-1] / seen[0])) if len(seen) else float("inf"),
        "trust": min(float((seen / (seen + l2)).sum()) / max(free, 1), 1.0),
        "residual": float(np.sqrt(squares / weight)),
    }
