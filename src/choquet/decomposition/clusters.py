"""The paper's way: the distinct operators of a measure clustered, a medoid for each cluster."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from choquet.arrays import FloatArray, IntArray
from choquet.clustering.ivat import IVAT
from choquet.clustering.partition import Partition, canonical_ranks
from choquet.contexts.conditions import Context
from choquet.contexts.rules import RuleList, find_rules
from choquet.decomposition.operators import Contexts, ContextualOperator, Errors, cluster_errors
from choquet.decomposition.outcome import Outcome
from choquet.decomposition.result import Decomposition, Identified, stable_shares
from choquet.decomposition.runtime import Decided
from choquet.decomposition.sample import OperatorSample
from choquet.errors import DataError
from choquet.lattice.ties import falling
from choquet.operators import Dissimilarity
from choquet.scales import Units
from choquet.walks import DataSupport, OperatorGraph
from choquet.walks.abstract import ListedWalks

if TYPE_CHECKING:
    from choquet.contexts.diagram import Diagram

_LISTED_WALKS = 40_320
"""Walks that rules are found from: all of them up to so many, else as many drawn."""

_MOST_RULES = 32
"""Rules in a list, at most: one for each of many operators, and all that anyone would read."""

_CANDIDATES = 10_000
"""Supported walks among which a similar one is looked for, if data observed none whole."""

_FEW_SOURCES = 16
"""Beyond so many sources only the most frequent sorts are candidates; below, all are."""


@dataclass(frozen=True, eq=False)
class ClusterContexts(Contexts):
    """Which walks each cluster holds; rules for them are found when first asked for.

    Where operators were drawn, a walk goes to the nearest by `metric`.
    """

    sample: OperatorSample
    labels: IntArray
    centres: FloatArray
    metric: Dissimilarity

    def of(self, number: int) -> Context:
        """When an operator is used, complete."""
        return self.rules.context(number, self.sample.graph.measure.sources)

    @cached_property
    def rules(self) -> RuleList:
        """Rules from all walks kept if they can be listed, else from as many drawn."""
        sorts, counts, complete = self.walks
        most = min(max(20, len(self.centres)), _MOST_RULES)
        found = self.labels_of_walks(sorts)
        return find_rules(sorts, found, weights=counts, complete=complete, max_rules=most)

    @cached_property
    def walks(self) -> ListedWalks:
        """Walks that rules are found from, how often each counts, and whether these are all."""
        return self.sample.graph.listed(_LISTED_WALKS)

    def labels_of_walks(self, sorts: IntArray) -> IntArray:
        """Operator of each walk; where operators were drawn, the nearest centre."""
        if self.sample.complete:
            found: IntArray = self.labels[self.sample.graph.index(sorts).astype(np.int64)]
            return found
        weights = self.sample.graph.measure.walk_weights(sorts)
        return np.asarray(self.metric.matrix(weights, self.centres).argmin(axis=1), dtype=np.int64)

    def labels_of_sorts(self, sorts: IntArray) -> IntArray:
        """Operator of each sort; -1 where the walk was left out."""
        if self.sample.complete:
            numbers = self.sample.graph.index(sorts).astype(np.int64)
            return np.where(numbers >= 0, self.labels[numbers], -1)
        # Drawn operators: the nearest of them decides.
        from scipy.spatial import cKDTree

        weights, known = self.sample.graph.measure.walk_weights(sorts), self.sample.weights
        if self.metric.embeddable:
            tree = cKDTree(self.metric.embed(known))
            nearest = tree.query(self.metric.embed(weights), p=self.metric.p)[1]
        else:
            away = [self.metric.matrix(w[None], known)[0].argmin() for w in weights]
            nearest = np.array(away, dtype=np.int64)
        return np.asarray(self.labels[nearest])


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class ClusterDecomposition(Decomposition):
    """Clusters of a measure's operators, each with an order statistic that stands for it.

    Attributes
    ----------
    sample : OperatorSample
        The operators that were clustered.
    picture : IVAT
        Their iVAT image, in the units of `metric`; `ivat` is the same.
    partition : Partition
        How they were clustered, with CLODD's scores.
    centres : array of shape (n_operators, N)
        Weights by rank of the operators.
    metric : Dissimilarity
        What was clustered by.
    scale : float
        The dissimilarity drawn white in pictures that are given it; 0 is black.
    support : DataSupport or None
        The data that samples are assessed by: those that the walks were restricted to, if any.
    bias : float
        Added to every output (regression).
    identification : Identification or None
        Near-optimal intervals of the values, if they were given.
    outcome : Outcome or None
    stable_shares : array or None
        Share of each operator's walks that data determine, where the intervals are not at hand.

    Examples
    --------
    >>> from choquet import Measure, decompose
    >>> d = decompose(Measure([0, 0, 1, 1, 1, 1, 1, 1]), method="clodd")
    >>> d.partition.n_clusters, d.labels
    (2, array([1, 0]))
    """

    sample: OperatorSample
    picture: IVAT
    partition: Partition
    centres: FloatArray
    metric: Dissimilarity
    scale: float
    support: DataSupport | None = None
    bias: float = 0.0
    identification: Identified | None = None
    outcome: Outcome | None = None
    stable_shares: FloatArray | None = None
    units: Units | None = None

    @property
    def sources(self) -> tuple[str, ...]:
        """Names of the sources."""
        return tuple(self.measure.sources)

    @property
    def measure(self) -> Any:
        """What was decomposed."""
        return self.sample.graph.measure

    @property
    def clusters(self) -> ClusterDecomposition:
        """Itself."""
        return self

    @property
    def ivat(self) -> IVAT:
        """The iVAT image of the operators."""
        return self.picture

    @property
    def labels(self) -> IntArray:
        """For each operator of `sample`, the one of `operators` that stands for it."""
        return self.partition.labels

    @property
    def restricted(self) -> bool:
        """Whether only walks that data support were looked at."""
        return bool(self.sample.graph.restricted)

    @property
    def intercept(self) -> float:
        """What the model adds to the integral."""
        return self.bias

    @property
    def exact(self) -> bool:
        """Whether every distinct operator was looked at, not a sample of them."""
        return self.sample.complete

    @property
    def unit(self) -> Literal["walks", "samples"]:
        """Shares are of walks."""
        return "walks"

    @property
    def epsilon(self) -> float:
        """Walks with Φ below it count as supported."""
        return self.sample.graph.epsilon

    @property
    def n_operators(self) -> int:
        """Number of operators."""
        return len(self.centres)

    @cached_property
    def contexts(self) -> ClusterContexts:
        """When each operator is used."""
        return ClusterContexts(self.sample, self.labels, self.centres, self.metric)

    @cached_property
    def _errors(self) -> tuple[Errors, list[Errors]]:
        one = self.sample
        return cluster_errors(one.weights, one.shares, self.labels, self.centres, one.slack)

    @property
    def error(self) -> Errors:
        """Exact errors: over all walks that were decomposed if `exact`, else over those drawn."""
        return self._errors[0]

    @cached_property
    def operators(self) -> tuple[ContextualOperator, ...]:
        """The operators, by decreasing share of walks."""
        sample, data_shares, stable = self.sample, self._data_shares(), self._stable()
        found = []
        for number, weights in enumerate(self.centres):
            inside = self.labels == number
            away = self.metric.matrix(weights[None], sample.weights[inside])[0]
            shares = sample.shares[inside]
            found.append(
                ContextualOperator(
                    sources=self.sources,
                    rank_weights=weights,
                    source_weights=np.zeros(len(weights)),
                    bias=self.bias,
                    number=number,
                    contexts=self.contexts,
                    # From counts: shares of equal numbers of walks are equal to the last bit.
                    share=float(sample.counts[inside].sum() / sample.counts.sum()),
                    data_share=float(data_shares[number]),
                    n_members=int(inside.sum()),
                    spread=float(away @ shares / shares.sum()),
                    error=self._errors[1][number],
                    stable_share=float(stable[number]),
                )
            )
        return tuple(found)

    def _data_shares(self) -> FloatArray:
        """Share of the samples without ties that each operator decides."""
        support, k = self.support, len(self.centres)
        if support is None or not len(support.observed_sorts) or not self.exact:
            return np.full(k, np.nan)
        numbers = self.sample.graph.index(support.observed_sorts)
        kept = numbers >= 0
        totals = np.bincount(self.labels[numbers[kept]], support.sort_counts[kept], minlength=k)
        return np.asarray(totals / max(float(totals.sum()), 1.0))

    def _stable(self) -> FloatArray:
        if self.stable_shares is not None:
            return self.stable_shares
        if self.identification is None:
            return np.full(len(self.centres), np.nan)
        sorts = self.contexts.walks[0]
        found = self.contexts.labels_of_walks(sorts)
        return stable_shares(self.identification, sorts, found, len(self.centres))

    # -- use ---------------------------------------------------------------------------------------

    def decided(self, inputs: FloatArray) -> Decided:
        """What decides each sample: its own sort, or a similar one."""
        sorts, ordered = falling(inputs)
        no_leaf = np.full(len(sorts), -1, dtype=np.int64)
        return Decided(*self._decided(sorts), sorts, no_leaf, ordered)

    def operator_of_sorts(self, sorts: IntArray) -> IntArray:
        """Number of the operator that decides each sort; see `operator_of`."""
        return self._decided(sorts)[0]

    def _decided(self, sorts: IntArray) -> tuple[IntArray, IntArray]:
        labels = self.contexts.labels_of_sorts(sorts)
        left_out = labels < 0
        if not left_out.any():
            return labels, sorts
        chosen = sorts.copy()
        chosen[left_out] = self._similar(sorts[left_out])
        labels[left_out] = self.contexts.labels_of_sorts(chosen[left_out])
        return labels, chosen

    def _similar(self, sorts: IntArray) -> IntArray:
        """For each sort the supported one that shares most sets with it, then the nearest order.

        The candidates are the sorts that data observed, or walks drawn from the supported ones.
        """
        graph = self.sample.graph
        candidates = np.zeros((0, graph.n_sources), dtype=np.int64)
        if self.support is not None:
            observed = self.support.observed_sorts
            kept = graph.index(observed) >= 0 if len(observed) else np.zeros(0, dtype=np.bool_)
            candidates, counts = observed[kept], self.support.sort_counts[kept]
            if len(candidates) > _CANDIDATES and graph.n_sources > _FEW_SOURCES:
                candidates = candidates[np.argsort(-counts, kind="stable")[:_CANDIDATES]]
        if not len(candidates):
            candidates = np.unique(graph.sample_sorts(_CANDIDATES, rng=0), axis=0)
        from choquet.decomposition._kernels import most_similar

        pair = np.ascontiguousarray(sorts), np.ascontiguousarray(candidates)
        return candidates[most_similar(*pair)]

    def rules_by_data(self) -> RuleList:
        """Rules found from the sorts that data observed, each weighted by how often it was.

        They are shorter than `rules` where data see few of the walks, and say nothing of the rest.

        Examples
        --------
        >>> from choquet import DataSupport, Measure, decompose
        >>> support = DataSupport.from_data([[0.9, 0.5, 0.1], [0.1, 0.5, 0.9], [0.9, 0.1, 0.5]])
        >>> g = Measure([0, 0, 1, 1, 1, 1, 1, 1], ["gpr", "ir", "emi"])
        >>> d = decompose(g, support=support, method="clodd")
        >>> d.rules_by_data().text(d.measure.sources, d.operator_names)
        ['If emi is the largest: max; otherwise: median.']
        """
        if self.support is None or not len(self.support.observed_sorts):
            raise DataError("no data without ties are known; use rules, which are over all walks")
        sorts = self.support.observed_sorts
        return find_rules(sorts, self.operator_of_sorts(sorts), weights=self.support.sort_counts)

    def index(self, *, max_nodes: int = 2_000_000) -> Diagram:
        """Decision diagram from a sort to its operator, in N look-ups and without the measure.

        Examples
        --------
        >>> from choquet import Measure, decompose
        >>> diagram = decompose(Measure([0, 0, 1, 1, 1, 1, 1, 1]), method="clodd").index()
        >>> diagram.index([[0, 1, 2], [1, 0, 2]])
        array([1, 0])
        """
        self._check_complete("an index")
        from choquet.contexts.diagram import Diagram

        if not isinstance(self.sample.graph, OperatorGraph):
            raise DataError(
                "an index holds all walks of a dense measure; here walks were listed, "
                "and operator_of_sorts looks them up"
            )
        return Diagram.build(self.sample.graph, self.labels, max_nodes=max_nodes)

    def compress(self, *, max_error: float) -> ClusterDecomposition:
        """Fewest operators found that are never off by more than `max_error`, on inputs in [0, 1].

        The operators are new ones, in the middle of what they stand for. ``partition.proved`` says
        whether fewer are impossible, ``partition.scores`` holds the lower bound.

        Examples
        --------
        >>> from choquet import Measure, decompose
        >>> parts = decompose(Measure.random(5, rng=0), method="clodd")
        >>> small = parts.compress(max_error=0.2)
        >>> small.error.worst <= 0.2, small.n_operators < 20
        (True, True)
        """
        from choquet.decomposition.compress import cover_operators

        self._check_complete("a promise")
        cover = cover_operators(self.sample.weights, max_error)
        ranks = canonical_ranks(cover.labels, self.ivat.counts)
        centres = np.empty_like(cover.weights)
        centres[ranks] = cover.weights
        partition = Partition(
            ranks[cover.labels],
            len(centres),
            "compress",
            score=-float(len(centres)),
            proved=cover.proved,
            scores={cover.lower_bound: -float(cover.lower_bound)},
        )
        return replace(self, partition=partition, centres=centres, stable_shares=None)

    def _check_complete(self, what: str) -> None:
        if not self.exact:
            raise DataError(
                f"{what} needs every operator, but they were drawn at random; "
                "decompose with a larger max_operators="
            )

    # -- words -------------------------------------------------------------------------------------

    def opening(self) -> str:
        """How many operators stand for what, and how well."""
        n = self.n_sources
        certificate = f"off by at most {self.error.worst:.3g} (rms {self.error.rms:.3g})"
        if not self.exact:
            certificate += " on the walks drawn"
        elif self.error.worst < 1e-12:
            certificate = "exact"
        walks = self.sample.graph
        place = f"2**{n} values"
        if not walks.measure.is_dense:
            place = f"{walks.n_distinct_walks:,} walks of {n} sources"
            if walks.n_partial:
                place += f" ({walks.n_partial:,} partly supported)"
        plural = "operator" if self.n_operators == 1 else "operators"
        return f"{self.n_operators} {plural} in place of {place}, {certificate}"

    def _same_contexts(self, other: ClusterDecomposition) -> bool:
        return np.array_equal(self.labels, other.labels)
