"""What every decomposition answers to, however it was made: operators, when each is used, and use.

Decomposition (abstract)
├── TreeDecomposition      contexts that were grown as conditions, from rows or from walks
└── ClusterDecomposition   the paper's way: operators of a measure clustered, rules found after
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, Protocol, Self

import numpy as np
import numpy.typing as npt

from choquet.arrays import BoolArray, FloatArray, IntArray, as_inputs, check_option
from choquet.contexts.conditions import Rule
from choquet.contexts.rules import RuleList, percent_below_all
from choquet.contexts.tree import Tree
from choquet.decomposition.cost import Cost
from choquet.decomposition.operators import Contexts, ContextualOperator, Errors
from choquet.decomposition.outcome import Outcome
from choquet.decomposition.runtime import Assessment, Decided, assess, known_part
from choquet.errors import DataError
from choquet.frames import FrameLibrary, to_frame
from choquet.measures import AbstractMeasure
from choquet.scales import Units
from choquet.walks import DataSupport

if TYPE_CHECKING:
    from choquet.clustering.ivat import IVAT
    from choquet.decomposition.clusters import ClusterDecomposition

_SHOWN = 12
"""Operators that are listed in words."""


class Identified(Protocol):
    """What is asked of an identification: near-optimal intervals, and walks that are pinned down.

    See `choquet.certainty.identification.Identification`.
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


def stable_shares(
    identification: Identified | None, sorts: IntArray, labels: IntArray, n_operators: int
) -> FloatArray:
    """Share of each operator's walks whose values the data pin down; NaN if that is not known."""
    if identification is None:
        return np.full(n_operators, np.nan)
    pinned = identification.stable_walks(sorts)
    return np.array(
        [pinned[labels == k].mean() if (labels == k).any() else np.nan for k in range(n_operators)]
    )


class Decomposition(ABC):
    """A few operators, and the situations in which each of them is used.

    `decompose` and the contextual learners return it. It is abstract: what it was made from is told
    by its two final classes, `TreeDecomposition` and `ClusterDecomposition`. Nothing of it changes
    after it was made, it can be pickled, and two that say the same are equal.

    Attributes
    ----------
    sources : tuple of str
    measure : AbstractMeasure or None
        What was decomposed; None where the operators were learned from data directly.
    support : DataSupport or None
        The data that it is restricted to, if any.
    operators : tuple of ContextualOperator
        By decreasing share.
    rules : RuleList
        Conditions that choose the operator, read from the top.
    error : Errors
        ``(worst, rms)`` difference of output from the integral over inputs in [0, 1].
    exact : bool
        Whether `error` is exact: every walk was looked at, not a sample of them.
    outcome : Outcome or None
        What the output says of a class, if it is a classifier's.
    units : Units or None
        Of the data, where the operators see them scaled. `predict`, `operator_of` and `assess`
        take and give these; weights, biases and errors are on the common scale.

    Examples
    --------
    >>> from choquet import Measure, decompose
    >>> d = decompose(Measure([0, 0, 1, 1, 1, 1, 1, 1], sources=["gpr", "ir", "emi"]))
    >>> [(op.name, round(op.share, 3)) for op in d.operators]
    [('max', 0.667), ('median', 0.333)]
    >>> d.predict([[0.9, 0.4, 0.2]]), d.operator_of([[0.9, 0.4, 0.2]]), d.error.worst < 1e-9
    (array([0.4]), array([1]), True)
    """

    # -- what the final classes hold ---------------------------------------------------------------

    @property
    @abstractmethod
    def sources(self) -> tuple[str, ...]:
        """Names of the sources."""

    @property
    @abstractmethod
    def measure(self) -> Any:
        """What was decomposed, or None."""

    @property
    @abstractmethod
    def support(self) -> DataSupport | None:
        """The data that it is restricted to, or None."""

    @property
    @abstractmethod
    def outcome(self) -> Outcome | None:
        """What the output says of a class, or None."""

    @property
    @abstractmethod
    def units(self) -> Units | None:
        """Of the data, where the operators see them scaled, or None."""

    @property
    @abstractmethod
    def operators(self) -> tuple[ContextualOperator, ...]:
        """The operators, by decreasing share."""

    @property
    @abstractmethod
    def contexts(self) -> Contexts:
        """When each operator is used."""

    @property
    @abstractmethod
    def error(self) -> Errors:
        """Worst and root mean square difference from the integral."""

    @property
    @abstractmethod
    def exact(self) -> bool:
        """Whether `error` is exact."""

    @property
    def tree(self) -> Tree | None:
        """The tree of conditions that contexts were grown as; None where rules came after."""
        return None

    @property
    def leaves(self) -> Mapping[int, Rule]:
        """The context of each leaf of the tree, with its share; empty without a tree."""
        return {}

    @property
    @abstractmethod
    def labels(self) -> IntArray:
        """Operator of each node of the tree (-1 for inner nodes), or of what was clustered."""

    @property
    def cost(self) -> Cost | None:
        """Errors on held-out rows, where targets were given; None where nothing was held out."""
        return None

    @property
    @abstractmethod
    def restricted(self) -> bool:
        """Whether only walks that data support were looked at."""

    @property
    @abstractmethod
    def intercept(self) -> float:
        """What the model adds to the integral of its measure."""

    @property
    def poor(self) -> bool:
        """Whether the operators should not stand in for what was decomposed."""
        return False

    @property
    @abstractmethod
    def unit(self) -> Literal["walks", "samples"]:
        """What the shares of the operators are shares of."""

    @property
    @abstractmethod
    def identification(self) -> Identified | None:
        """Which walks the data determine, or None."""

    @property
    def epsilon(self) -> float:
        """Walks with Φ below it count as supported; 0 where all of a walk must be."""
        return 0.0

    @property
    @abstractmethod
    def clusters(self) -> ClusterDecomposition:
        """The same measure decomposed the paper's way, for its pictures."""

    @property
    def ivat(self) -> IVAT:
        """The iVAT image of the measure's operators, made when asked for."""
        return self.clusters.ivat

    @abstractmethod
    def decided(self, inputs: FloatArray) -> Decided:
        """What decides each sample: its own sort, or a similar one."""

    @abstractmethod
    def operator_of_sorts(self, sorts: IntArray) -> IntArray:
        """Number of the operator that decides each sort; see `operator_of`."""

    @abstractmethod
    def opening(self) -> str:
        """How many operators stand for what, and how well, in one line."""

    # -- size --------------------------------------------------------------------------------------

    @cached_property
    def n_sources(self) -> int:
        """Number of sources N."""
        return len(self.sources)

    @cached_property
    def n_operators(self) -> int:
        """Number of operators."""
        return len(self.operators)

    @property
    def n_numbers(self) -> int:
        """Weights and biases that predictions need (without the contexts)."""
        return int(
            np.count_nonzero(self.rank_weights.any(axis=1)) * self.n_sources
            + np.count_nonzero(self.source_weights.any(axis=1)) * self.n_sources
            + np.count_nonzero(self.biases)
        )

    @property
    def rules(self) -> RuleList:
        """Conditions that choose the operator, found when first asked for.

        Examples
        --------
        >>> from choquet import Measure, decompose
        >>> d = decompose(Measure([0, 0, 1, 1, 1, 1, 1, 1], sources=["gpr", "ir", "emi"]))
        >>> d.rules.text(d.sources, d.operator_names)
        ['If gpr is the largest: median; otherwise: max.']
        """
        return self.contexts.rules

    @cached_property
    def rank_weights(self) -> FloatArray:
        """Weights by rank of the operators, one row each."""
        return np.array([operator.rank_weights for operator in self.operators])

    @cached_property
    def source_weights(self) -> FloatArray:
        """Weights by source of the operators, one row each."""
        return np.array([operator.source_weights for operator in self.operators])

    @cached_property
    def weights(self) -> FloatArray:
        """Weights of the order statistics nearest to the operators, one row each."""
        return np.array([operator.weights for operator in self.operators])

    @cached_property
    def biases(self) -> FloatArray:
        """What each operator adds."""
        return np.array([operator.bias for operator in self.operators])

    @cached_property
    def known_part(self) -> AbstractMeasure | None:
        """The supported values alone, which bound the others; None if nothing does."""
        return None if self.measure is None else known_part(self.measure, self.support)

    # -- use ---------------------------------------------------------------------------------------

    def in_units(self, units: Units | None) -> Self:
        """The same for data in other units."""
        if units is not None and len(units.scales) != self.n_sources:
            raise DataError(f"{len(units.scales)} scales for {self.n_sources} sources")
        return replace(self, units=units)  # type: ignore[type-var]

    def scaled(self, X: npt.ArrayLike) -> FloatArray:
        """Samples as the operators see them, from those in the data."""
        inputs = as_inputs(X, sources=self.sources)
        return inputs if self.units is None else self.units.scaled(inputs)

    def operator_of(self, X: npt.ArrayLike) -> IntArray:
        """Number of the operator that decides each sample; ties by the order of the sources.

        A sample whose walk was left out, being unsupported, gets the operator of the most similar
        walk that was not; `assess` tells which samples these are.
        """
        return self.decided(self.scaled(X))[0]

    def leaf_of(self, X: npt.ArrayLike) -> IntArray:
        """Number of the leaf of each sample, a key of `leaves`; -1 without a tree."""
        return self.decided(self.scaled(X)).leaf

    def predict(
        self,
        X: npt.ArrayLike,
        *,
        unsupported: Literal["similar", "measure", "suppress"] = "similar",
    ) -> FloatArray:
        """Output of the operator that decides each sample.

        Parameters
        ----------
        X : array-like of shape (n_samples, N)
            Inputs.
        unsupported : {"similar", "measure", "suppress"}, default "similar"
            For samples that data do not support: use the operator all the same; use the measure
            itself; or give no answer (NaN).

        Examples
        --------
        >>> from choquet import Measure, decompose
        >>> decompose(Measure([0, 0, 0, 1])).predict([[0.3, 0.8]])
        array([0.3])
        """
        check_option("unsupported", unsupported, ["similar", "measure", "suppress"])
        inputs = self.scaled(X)
        labels = self.decided(inputs)[0]
        output = self.outputs(inputs, labels)
        if unsupported == "similar":
            return output if self.units is None else self.units.output(output)
        if unsupported == "measure" and self.measure is None:
            raise DataError("the operators were learned directly: there is no measure to fall to")
        left_out = ~assess(self, inputs).supported
        output[left_out] = np.nan
        if unsupported == "measure":
            output[left_out] = self.measure.integral(inputs[left_out]) + self.intercept
        return output if self.units is None else self.units.output(output)

    def outputs(self, inputs: FloatArray, labels: IntArray) -> FloatArray:
        """Output of one operator for each sample."""
        ordered = -np.sort(-inputs, axis=1)
        output = np.einsum("ij,ij->i", ordered, self.rank_weights[labels])
        if self.source_weights.any():
            output += np.einsum("ij,ij->i", inputs, self.source_weights[labels])
        return np.asarray(output + self.biases[labels], dtype=np.float64)

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
        found = assess(self, self.scaled(X))
        if self.units is None:
            return found
        bounds, integral = self.units.output(found.interval), self.units.output(found.integral)
        return replace(found, interval=bounds, integral=integral)

    def trust(self, X: npt.ArrayLike) -> FloatArray:
        """Trust of the operator that decides each sample; see `ContextualOperator`."""
        return np.array([operator.trust for operator in self.operators])[self.operator_of(X)]

    # -- words and tables --------------------------------------------------------------------------

    @property
    def operator_names(self) -> list[str]:
        """Names of the operators, numbered where two are called the same."""
        names = [operator.name for operator in self.operators]
        times = Counter(names)
        return [
            f"{name} ({number})" if times[name] > 1 else name
            for number, name in enumerate(names, start=1)
        ]

    def to_frame(self, library: FrameLibrary | None = None) -> Any:
        """A table of the operators: names, contexts, shares, errors and weights.

        Parameters
        ----------
        library : {"pandas", "polars"}, optional
            Whose frame it is; the first of them that is installed by default.

        Examples
        --------
        >>> from choquet import Measure, decompose
        >>> d = decompose(Measure([0, 0, 1, 1, 1, 1, 1, 1], sources=["gpr", "ir", "emi"]))
        >>> d.to_frame()["context"].tolist()
        ['gpr is not the largest', 'gpr is the largest']
        """
        columns: dict[str, Any] = {
            "operator": self.operator_names,
            "context": [operator.context.text() for operator in self.operators],
            "share": [operator.share for operator in self.operators],
            "worst_error": [operator.error.worst for operator in self.operators],
            "rms_error": [operator.error.rms for operator in self.operators],
            "bias": self.biases,
        }
        columns |= {f"weight of {s}": self.source_weights[:, i] for i, s in enumerate(self.sources)}
        columns |= {f"weight of rank {j + 1}": w for j, w in enumerate(self.rank_weights.T)}
        return to_frame(columns, library)

    def __str__(self) -> str:
        lines = [self.opening()]
        for number, operator in enumerate(self.operators[:_SHOWN], start=1):
            share = f"{100 * operator.share:.1f} % of {self.unit}"
            lines.append(f"  {number}. {operator.name} ({_weights(operator)}), {share}")
        if self.n_operators > _SHOWN:
            lines.append(f"  and {self.n_operators - _SHOWN} more")
        elif self.n_operators > 1:
            lines += self.rules.text(self.sources, self.operator_names)
            if self.rules.fidelity < 1:
                right = percent_below_all(self.rules.fidelity)
                lines.append(f"(These rules are right for {right} of walks.)")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        # Notebooks ask for this; the room that draws is loaded only then.
        from choquet.report import decomposition_html

        return decomposition_html(self)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Decomposition) or type(self) is not type(other):
            return NotImplemented
        return (
            self.operators == other.operators
            and self.measure == other.measure
            and self.outcome == other.outcome
            and self._same_contexts(other)
        )

    __hash__ = None  # type: ignore[assignment]

    @abstractmethod
    def _same_contexts(self, other: Any) -> bool:
        """Whether another of the same class uses its operators where this one does."""

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self.n_sources} sources, {self.n_operators} operators>"


def _weights(operator: ContextualOperator) -> str:
    """Weights in words' brackets; of very many the first and the last."""
    texts = [f"{w:.3g}" for w in operator.weights.round(9) + 0.0]
    if len(texts) > 2 * _SHOWN:
        texts = [*texts[: _SHOWN // 2], "…", *texts[-_SHOWN // 2 :]]
    sign = "-" if operator.bias < 0 else "+"
    return ", ".join(texts) + (f") {sign} {abs(operator.bias):.3g}(" if operator.bias else "")
