"""An operator of a decomposition: weights by rank and by source, and when and how it is used."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from choquet.arrays import BoolArray, FloatArray, IntArray, as_inputs
from choquet.contexts.conditions import Context
from choquet.contexts.rules import RuleList
from choquet.operators.blends import blend_name
from choquet.operators.dissimilarity import DISSIMILARITIES

_NAN = float("nan")


class Errors(NamedTuple):
    """How far the decomposition's output can be from the integral, over inputs in [0, 1].

    Both are NaN where there is no integral to compare with.
    """

    worst: float
    """Largest difference over all inputs."""
    rms: float
    """Root mean square difference over uniform inputs."""


UNKNOWN = Errors(_NAN, _NAN)
"""Where there is no integral to compare with."""


class Contexts(ABC):
    """Which operator is used where: what the operators of one decomposition share."""

    @property
    @abstractmethod
    def rules(self) -> RuleList:
        """Conditions that choose the operator, as a list that is read from the top."""

    @abstractmethod
    def of(self, number: int) -> Context:
        """When an operator is used, complete."""

    @abstractmethod
    def labels_of_sorts(self, sorts: IntArray) -> IntArray:
        """Operator of each sort; -1 where the walk was left out."""


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class ContextualOperator:
    """Weights by rank and by source, with the situations in which they are used.

    The output is Σ source_weights[i] h_i + Σ rank_weights[j] h_(j) + bias, h_(1) the largest input.
    It is itself a Choquet integral, of an additive plus a symmetric measure.

    Attributes
    ----------
    sources : tuple of str
    rank_weights : array of N floats
        By rank, largest input first; zeros in a weighted mean.
    source_weights : array of N floats
        By source; zeros in an order statistic.
    bias : float
        Added to its output.
    number : int
        Its number in the decomposition.
    contexts : Contexts
        When each operator of the decomposition is used.
    share : float
        Share of the walks, or of the samples where it was fitted to data, in which it is used.
    data_share : float
        Share of the samples in which it is used; NaN if no data are known.
    count : int
        Samples it was fitted to; 0 if it was made from a measure alone.
    rank : int
        Directions of the inputs that these samples vary in.
    condition : float
        Ratio of largest to smallest spread over these directions.
    trust : float
        Share of the weights that data decided, not the penalty; NaN without data.
    residual : float
        Root mean square residual on these samples.
    n_members : int
        Distinct operators of the measure that it stands for, where these were clustered.
    spread : float
        Mean dissimilarity of those to it, weighted by walks, in the metric of the clustering.
    error : Errors
        Worst and root mean square difference from the integral, where it is used.
    stable_share : float
        Share of its walks whose values the data determine; NaN if that was not computed. Of the
        others some value could be quite another at almost the same error.

    Examples
    --------
    >>> from choquet import Measure, decompose
    >>> d = decompose(Measure([0, 0, 1, 1, 1, 1, 1, 1], sources=["gpr", "ir", "emi"]))
    >>> operator = d.operators[1]
    >>> operator.name, operator.weights, operator([[0.9, 0.4, 0.2]])
    ('median', array([0., 1., 0.]), array([0.4]))
    >>> str(operator.context)
    'gpr is the largest'
    """

    sources: tuple[str, ...]
    rank_weights: FloatArray
    source_weights: FloatArray
    bias: float
    number: int
    contexts: Contexts
    share: float
    data_share: float = _NAN
    count: int = 0
    rank: int = 0
    condition: float = _NAN
    trust: float = _NAN
    residual: float = _NAN
    n_members: int = 1
    spread: float = _NAN
    error: Errors = UNKNOWN
    stable_share: float = _NAN

    def __call__(self, X: npt.ArrayLike) -> FloatArray:
        """Value for each sample (row) of inputs, columns in the order of the sources."""
        inputs = as_inputs(X, sources=self.sources)
        by_rank = -np.sort(-inputs, axis=1) @ self.rank_weights
        return np.asarray(by_rank + inputs @ self.source_weights + self.bias)

    @cached_property
    def n_sources(self) -> int:
        """Number of inputs N."""
        return len(self.rank_weights)

    @cached_property
    def weights(self) -> FloatArray:
        """By rank: its own where it knows ranks alone, else those of the nearest order statistic.

        Under independent uniform inputs, all sorts alike, a weight by source counts for every rank
        with an Nth.
        """
        return np.asarray(self.rank_weights + self.source_weights.mean())

    @property
    def orness(self) -> float:
        """Degree of "or": 1 for the max, 1/2 for any weighted mean, 0 for the min (Yager 1988)."""
        n = self.n_sources
        return 0.5 if n == 1 else float(self.weights @ np.arange(n - 1, -1, -1)) / (n - 1)

    @cached_property
    def name(self) -> str:
        """What to call it: "median", or the sum that it is: "weighted mean: 0.5 gpr + 0.5 ir"."""
        return blend_name(self.rank_weights, self.source_weights, self.bias, self.sources)

    @property
    def context(self) -> Context:
        """When it is used: rules that are complete and true each alone, found when asked for."""
        return self.contexts.of(self.number)

    @property
    def stable(self) -> bool | None:
        """Whether the data determine most of its walks; None if that was not looked into."""
        return None if np.isnan(self.stable_share) else self.stable_share > 0.5

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ContextualOperator):
            return NotImplemented
        return (
            self.sources == other.sources
            and np.array_equal(self.rank_weights, other.rank_weights)
            and np.array_equal(self.source_weights, other.source_weights)
            and (self.bias, self.number, self.share) == (other.bias, other.number, other.share)
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<ContextualOperator {self.number + 1}: {self.name}, share {self.share:.1%}>"


def cluster_errors(
    weights: FloatArray,
    shares: FloatArray,
    labels: IntArray,
    chosen: FloatArray,
    slack: FloatArray | float = 0.0,
) -> tuple[Errors, list[Errors]]:
    """Exact errors of replacing each operator by its cluster's, overall and by cluster.

    Along one walk the largest difference over inputs in [0, 1] is the largest cumulative difference
    of the weights, and the mean square over uniform inputs is a quadratic form; all walks are
    equally likely under uniform inputs. Where cumulative weights are known up to a slack only, the
    largest difference has room for it; the mean square is that from the middle.
    """
    replaced = chosen[labels]
    worst = (np.abs(np.cumsum(weights - replaced, axis=1)) + slack).max(axis=1)
    embed = DISSIMILARITIES["rms"].embed
    squares = ((embed(weights) - embed(replaced)) ** 2).sum(axis=1)
    by_cluster = [errors_of(worst, squares, shares, labels == k) for k in range(len(chosen))]
    return Errors(float(worst.max()), float(np.sqrt(shares @ squares))), by_cluster


def errors_of(
    worst: FloatArray, squares: FloatArray, counts: FloatArray, inside: BoolArray
) -> Errors:
    """Errors over the walks that are inside, of which each counts so much."""
    if not inside.any():
        return UNKNOWN
    mean = float(counts[inside] @ squares[inside] / counts[inside].sum())
    return Errors(float(worst[inside].max()), float(np.sqrt(mean)))
