"""The result: operators with their contexts, and what they cost in place of the measure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, Protocol

import numpy as np
import numpy.typing as npt

from choquet.arrays import BoolArray, FloatArray, IntArray, as_inputs, check_option
from choquet.clustering.ivat import IVAT
from choquet.clustering.partition import Partition
from choquet.contexts.rules import RuleList, find_rules
from choquet.decomposition.operators import ContextualOperator, Errors
from choquet.decomposition.outcome import Outcome
from choquet.decomposition.runtime import (
    Assessment,
    assess,
    known_part,
    labels_of_sorts,
    similar_sorts,
)
from choquet.decomposition.sample import OperatorSample
from choquet.errors import DataError
from choquet.measures import AbstractMeasure
from choquet.operators import Dissimilarity
from choquet.walks import DataSupport, WalkList, sorts_of

if TYPE_CHECKING:
    from choquet.contexts.diagram import Diagram

__all__ = ["Decomposition", "Identified"]

_SHOWN = 12
"""Operators that are listed in words."""


class Identified(Protocol):
    """What is asked of an identification: near-optimal intervals, and walks that are pinned down.

    See `choquet.certainty.identify.Identification`.
    """

    @property
    def masks(self) -> IntArray:
        """Subsets, as bit masks."""

    @property
    def lower(self) -> FloatArray:
        """Least near-optimal value of each."""

    @property
    def upper(self) -> FloatArray:
        """Largest near-optimal value of each."""

    def stable_walks(self, sorts: IntArray) -> BoolArray:
        """Whether every value on each walk is pinned down."""


@dataclass(frozen=True, eq=False, repr=False)
class Decomposition:
    """A fuzzy integral as a handful of contextual linear order statistics.

    Attributes
    ----------
    measure : AbstractMeasure
        What was decomposed.
    support : DataSupport or None
        The data that walks were restricted to, if any.
    operators : tuple of ContextualOperator
        By decreasing share of walks.
    labels : array of ints
        For each operator of `sample`, the one of `operators` that stands for it.
    sample : OperatorSample
        The operators that were clustered.
    ivat : IVAT
        Their picture, in the units of `metric`.
    partition : Partition
        How they were clustered, with CLODD's scores.
    metric : Dissimilarity
        What was clustered by.
    scale : float
        The dissimilarity drawn white in pictures that are given it; 0 is black.
    error : Errors
        Exact ``(worst, rms)`` difference of output over inputs in [0, 1]: over all walks that were
        decomposed if `exact`, else over those drawn.
    bias : float
        Added to every output (regression).
    identification : Identification or None
        Near-optimal intervals of the values, if they were given.
    outcome : Outcome or None
        What the output says of a class, if the measure is a classifier's.

    Examples
    --------
    >>> from choquet import Measure, decompose
    >>> d = decompose(Measure([0, 0, 1, 1, 1, 1, 1, 1], sources=["gpr", "ir", "emi"]))
    >>> [(op.name, round(op.share, 3)) for op in d.operators]
    [('max', 0.667), ('median', 0.333)]
    >>> d.predict([[0.9, 0.4, 0.2]]), d.operator_of([[0.9, 0.4, 0.2]]), d.error
    (array([0.4]), array([1]), Errors(worst=0.0, rms=0.0))
    """

    measure: Any
    support: DataSupport | None
    operators: tuple[ContextualOperator, ...]
    labels: IntArray
    sample: OperatorSample
    ivat: IVAT
    partition: Partition
    metric: Dissimilarity
    scale: float
    error: Errors
    bias: float
    _rules: Callable[[], RuleList]
    identification: Identified | None = None
    outcome: Outcome | None = None

    @property
    def rules(self) -> RuleList:
        """Conditions on ranks that choose the operator, found when first asked for.

        Examples
        --------
        >>> from choquet import Measure, decompose
        >>> d = decompose(Measure([0, 0, 1, 1, 1, 1, 1, 1], sources=["gpr", "ir", "emi"]))
        >>> d.rules.text(d.measure.sources, [op.name for op in d.operators])
        ['If gpr is the largest: median; otherwise: max.']
        """
        return self._rules()

    def rules_by_data(self) -> RuleList:
        """Rules found from the sorts that data observed, each weighted by how often it was.

        They are shorter than `rules` where data see few of the walks, and say nothing of the rest.

        Examples
        --------
        >>> from choquet import DataSupport, Measure, decompose
        >>> support = DataSupport.from_data([[0.9, 0.5, 0.1], [0.1, 0.5, 0.9], [0.9, 0.1, 0.5]])
        >>> d = decompose(Measure([0, 0, 1, 1, 1, 1, 1, 1], ["gpr", "ir", "emi"]), support=support)
        >>> d.rules_by_data().text(d.measure.sources, d.operator_names)
        ['If emi is the largest: max; otherwise: median.']
        """
        if self.support is None or not len(self.support.observed_sorts):
            raise DataError("no data without ties are known; use rules, which are over all walks")
        sorts = self.support.observed_sorts
        return find_rules(sorts, self.operator_of_sorts(sorts), weights=self.support.sort_counts)

    @cached_property
    def known_part(self) -> AbstractMeasure | None:
        """The supported values alone, which bound the others; None if nothing does."""
        return known_part(self.measure, self.support)

    # -- size --------------------------------------------------------------------------------------

    @property
    def n_operators(self) -> int:
        """Number of operators."""
        return len(self.operators)

    @property
    def exact(self) -> bool:
        """Whether `error` is exact: every distinct operator was looked at, not a sample of them."""
        return self.sample.complete

    @property
    def weights(self) -> FloatArray:
        """Weights of the operators, one row each."""
        return np.array([operator.weights for operator in self.operators])

    @property
    def n_numbers(self) -> int:
        """Weights that are kept in place of the measure's 2**N values (without the index)."""
        return self.n_operators * len(self.measure.sources)

    def index(self, *, max_nodes: int = 2_000_000) -> Diagram:
        """Decision diagram from a sort to its operator, in N look-ups and without the measure.

        Examples
        --------
        >>> from choquet import Measure, decompose
        >>> diagram = decompose(Measure([0, 0, 1, 1, 1, 1, 1, 1])).index()
        >>> diagram.index([[0, 1, 2], [1, 0, 2]])
        array([1, 0])
        """
        if not self.sample.complete:
            raise DataError(
                "an index needs every operator, but they were drawn at random; "
                "decompose with a larger max_operators="
            )
        from choquet.contexts.diagram import Diagram

        if isinstance(self.sample.graph, WalkList):
            raise DataError(
                "an index holds all walks of a dense measure; here walks were listed, "
                "and operator_of_sorts looks them up"
            )
        return Diagram.build(self.sample.graph, self.labels, max_nodes=max_nodes)

    # -- use ---------------------------------------------------------------------------------------

    def operator_of(self, X: npt.ArrayLike) -> IntArray:
        """Number of the operator that decides each sample.

        A sample whose walk was left out, being unsupported, gets the operator of the most similar
        walk that was not; `assess` tells which samples these are.
        """
        return self.operator_of_sorts(sorts_of(as_inputs(X, sources=self.measure.sources)))

    def operator_of_sorts(self, sorts: IntArray) -> IntArray:
        """Number of the operator that decides each sort; see `operator_of`."""
        labels = labels_of_sorts(self, sorts)
        left_out = labels < 0
        if left_out.any():
            labels[left_out] = labels_of_sorts(self, similar_sorts(self, sorts[left_out]))
        return labels

    def predict(
        self,
        X: npt.ArrayLike,
        *,
        unsupported: Literal["similar", "measure", "suppress"] = "similar",
    ) -> FloatArray:
        """Output of the contextual order statistics in place of the integral.

        Parameters
        ----------
        X : array-like of shape (n_samples, N)
            Inputs.
        unsupported : {"similar", "measure", "suppress"}, default "similar"
            For samples whose walk was left out: use the operator of the most similar walk that was
            not; use the measure itself; or give no answer (NaN).

        Examples
        --------
        >>> from choquet import Measure, decompose
        >>> decompose(Measure([0, 0, 0, 1])).predict([[0.3, 0.8]])
        array([0.3])
        """
        check_option("unsupported", unsupported, ["similar", "measure", "suppress"])
        inputs = as_inputs(X, sources=self.measure.sources)
        sorts = sorts_of(inputs)
        labels = self.operator_of_sorts(sorts)
        ordered = np.take_along_axis(inputs, sorts, axis=1)
        output = np.einsum("ij,ij->i", ordered, self.weights[labels]) + self.bias
        restricted = self.support is not None or self.measure.known_words is not None
        if restricted and unsupported != "similar":
            left_out = ~assess(self, inputs).supported
            if unsupported == "measure":
                output[left_out] = self.measure.integral(inputs[left_out]) + self.bias
            else:
                output[left_out] = np.nan
        return np.asarray(output, dtype=np.float64)

    def assess(self, X: npt.ArrayLike) -> Assessment:
        """How well the data behind the decomposition support each sample; see `Assessment`.

        Examples
        --------
        >>> from choquet import DataSupport, Measure, decompose
        >>> g = Measure([0, 0.2, 0.3, 1])
        >>> d = decompose(g, support=DataSupport.from_data([[0.9, 0.1]]))
        >>> d.assess([[0.8, 0.2], [0.2, 0.8]]).supported
        array([ True, False])
        """
        return assess(self, as_inputs(X, sources=self.measure.sources))

    def compress(self, *, max_error: float) -> Decomposition:
        """Fewest operators found that are never off by more than `max_error`, on inputs in [0, 1].

        The operators are new ones, in the middle of what they stand for. ``partition.proved`` says
        whether fewer are impossible, ``partition.scores`` holds the lower bound.

        Examples
        --------
        >>> from choquet import Measure, decompose
        >>> small = decompose(Measure.random(5, rng=0)).compress(max_error=0.2)
        >>> small.error.worst <= 0.2, small.n_operators < 20
        (True, True)
        """
        from choquet.clustering.partition import canonical_ranks
        from choquet.decomposition.compress import cover_operators
        from choquet.decomposition.decompose import assemble

        if not self.sample.complete:
            raise DataError(
                "a promise needs every operator, but they were drawn at random; "
                "decompose with a larger max_operators="
            )
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
        return assemble(
            self.sample,
            self.ivat,
            partition,
            centres,
            self.metric,
            self.scale,
            self.bias,
            self.identification,
            self.outcome,
        )

    # -- words -------------------------------------------------------------------------------------

    def __str__(self) -> str:
        n = self.measure.n_sources
        certificate = (
            "exact"
            if self.exact and self.error.worst < 1e-12
            else f"off by at most {self.error.worst:.3g} (rms {self.error.rms:.3g})"
            + ("" if self.exact else " on the walks drawn")
        )
        plural = "operator" if self.n_operators == 1 else "operators"
        walks = self.sample.graph
        place = f"2**{n} values"
        if isinstance(walks, WalkList):
            place = f"{len(walks.sorts):,} walks of {n} sources"
            if walks.n_partial:
                place += f" ({walks.n_partial:,} partly supported)"
        lines = [f"{self.n_operators} {plural} in place of {place}, {certificate}"]
        for number, operator in enumerate(self.operators[:_SHOWN], start=1):
            weights = _weights(operator.weights)
            share = f"{100 * operator.share:.1f} % of walks"
            lines.append(f"  {number}. {operator.name} ({weights}), {share}")
        if self.n_operators > _SHOWN:
            lines.append(f"  … and {self.n_operators - _SHOWN} more")
        elif self.n_operators > 1:
            lines += self.rules.text(self.measure.sources, self.operator_names)
            if self.rules.fidelity < 1:
                lines.append(
                    f"(These rules are right for {_percent(self.rules.fidelity)} of walks.)"
                )
        return "\n".join(lines)

    @property
    def operator_names(self) -> list[str]:
        """Names of the operators, numbered where two are called the same.

        Examples
        --------
        >>> from choquet import Measure, decompose
        >>> decompose(Measure([0, 0.2, 0.25, 1])).operator_names
        ['soft min (1)', 'soft min (2)']
        """
        names = [operator.name for operator in self.operators]
        times = Counter(names)
        return [
            f"{name} ({number})" if times[name] > 1 else name
            for number, name in enumerate(names, start=1)
        ]

    def _repr_html_(self) -> str:
        # Notebooks ask for this; the room that draws is loaded only then.
        from choquet.report import decomposition_html

        return decomposition_html(self)

    def __repr__(self) -> str:
        return (
            f"<Decomposition of {self.measure.n_sources} sources into {self.n_operators} operators>"
        )


def _weights(weights: FloatArray) -> str:
    """Weights by rank; of very many the first and the last."""
    texts = [f"{w:.3g}" for w in weights + 0.0]
    if len(texts) > 2 * _SHOWN:
        texts = [*texts[: _SHOWN // 2], "…", *texts[-_SHOWN // 2 :]]
    return ", ".join(texts)


def _percent(share: float) -> str:
    """A share in per cent, never rounded up to all."""
    return f"{min(100 * share, 99.9):.3g} %"
