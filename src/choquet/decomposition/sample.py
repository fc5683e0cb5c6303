"""The operators to be clustered: all distinct ones with multiplicity, or of walks drawn."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from math import factorial
from typing import Any

import numpy as np

from choquet.arrays import FloatArray, IntArray, generator
from choquet.errors import DataError, OptionError
from choquet.walks import (
    AbstractWalks,
    DataSupport,
    OperatorGraph,
    list_walks,
    sort_unrank,
    walk_weights,
)


@dataclass(frozen=True, eq=False)
class OperatorSample:
    """Operators of a measure, each with the number of walks it stands for.

    Attributes
    ----------
    weights : array of shape (n, N)
        Weights by rank, distinct rows.
    counts : array of n ints
        Walks with each operator: of all walks if `complete`, else of those drawn.
    graph : AbstractWalks
        Where the operators come from; row k is operator number k if `complete`.
    complete : bool
        Whether every operator is there.
    """

    weights: FloatArray
    counts: IntArray
    graph: AbstractWalks
    complete: bool

    @property
    def slack(self) -> FloatArray:
        """How far the cumulative weights of each operator can be off: 0 where all is known."""
        return self.graph.slack

    @property
    def shares(self) -> FloatArray:
        """Share of the walks that each operator stands for."""
        return np.asarray(self.counts / self.counts.sum(), dtype=np.float64)


def sample_operators(
    measure: Any,
    support: DataSupport | None = None,
    *,
    epsilon: float = 0.0,
    decimals: int = 9,
    max_operators: int = 1_000_000,
    n_walks: int = 20_000,
    rng: Any = None,
) -> OperatorSample:
    """All distinct operators up to `max_operators`, else those of `n_walks` walks drawn evenly.

    Only walks with Φ < `epsilon`, or Φ = 0, are kept where there is a support.

    Examples
    --------
    >>> from choquet import Measure
    >>> sample = sample_operators(Measure([0, 0, 1, 1, 1, 1, 1, 1]))
    >>> sample.counts, sample.complete
    (array([2, 4]), True)
    """
    if max_operators < 1 or n_walks < 1:
        raise OptionError(f"max_operators={max_operators} and n_walks={n_walks} must be at least 1")
    if not measure.is_dense:
        walks = list_walks(
            measure, support, epsilon=epsilon, decimals=decimals, most=n_walks, rng=rng
        )
        return OperatorSample(walks.weights(), walks.walk_counts, walks, complete=walks.complete)
    graph = OperatorGraph(measure, support, epsilon=epsilon, decimals=decimals)
    if not graph.n_walks:
        raise DataError(
            f"the data ({support!r}) support no walk with Φ {'= 0' if not epsilon else '<'}"
            f"{f' {epsilon}' if epsilon else ''}; "
            "allow unsupported subsets with a larger epsilon=, or take all walks with support=None"
        )
    if graph.n_operators <= max_operators and graph.n_sources <= 20:
        return OperatorSample(graph.weights(), graph.walk_counts, graph, complete=True)
    random = generator(rng)
    if support is None and graph.n_sources <= 20:
        sorts = stratified_sorts(graph.n_sources, n_walks, random)
    else:
        sorts = graph.sample_sorts(n_walks, rng=random)
    rounded = np.round(walk_weights(measure, sorts), decimals) + 0.0
    weights, counts = np.unique(rounded, axis=0, return_counts=True)
    return OperatorSample(weights, counts, graph, complete=False)


def stratified_sorts(n_sources: int, n: int, rng: np.random.Generator) -> IntArray:
    """Sorts drawn one from each of n equal stretches of the lexicographic order.

    Sorts that begin alike lie together there, so every beginning gets its due share.

    Examples
    --------
    >>> sorts = stratified_sorts(6, 60, np.random.default_rng(0))
    >>> np.bincount(sorts[:, 0])  # each source is the largest equally often
    array([10, 10, 10, 10, 10, 10])
    """
    total = factorial(n_sources)
    # Integer arithmetic: 20! is beyond what floats count exactly.
    edges = [k * total // n for k in range(n + 1)]
    ranks = [
        low + int(rng.random() * (high - low)) if high > low else min(low, total - 1)
        for low, high in itertools.pairwise(edges)
    ]
    return sort_unrank(ranks, n_sources)
