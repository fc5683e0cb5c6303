"""What a set of walks is, whether all of them stand in a graph or some in a list."""

from __future__ import annotations

from abc import ABC, abstractmethod
from math import factorial
from typing import Any, NamedTuple

import numpy.typing as npt

from choquet.arrays import FloatArray, IntArray
from choquet.measures.abstract import AbstractMeasure
from choquet.walks.support import DataSupport


class ListedWalks(NamedTuple):
    """Walks one by one."""

    sorts: IntArray
    """The walks, one sort a row."""
    counts: IntArray | None
    """How often each counts; None: all alike."""
    complete: bool
    """Whether these are all walks of the set."""


class AbstractWalks(ABC):
    """Walks of a measure, with their distinct operators.

    Attributes
    ----------
    measure : AbstractMeasure
        On N sources.
    support : DataSupport or None
        The data that the walks are restricted to, if any.
    epsilon : float
        Walks with Φ below it count as supported; 0: those with Φ = 0.
    decimals : int
        Values that agree when rounded to so many decimals are one value.
    n_walks, n_operators : int
        How many walks there are, each as often as it counts, and how many distinct operators.
    """

    measure: AbstractMeasure
    support: DataSupport | None
    epsilon: float
    decimals: int
    n_walks: int
    n_operators: int

    @property
    def n_sources(self) -> int:
        """Number of sources N."""
        return self.measure.n_sources

    @property
    def restricted(self) -> bool:
        """Whether there are other walks than these."""
        return self.n_distinct_walks < factorial(self.n_sources)

    @property
    @abstractmethod
    def n_distinct_walks(self) -> int:
        """How many different walks there are."""

    @property
    @abstractmethod
    def n_partial(self) -> int:
        """Walks that meet subsets whose value is known only to lie between bounds."""

    @property
    @abstractmethod
    def slack(self) -> FloatArray:
        """For each distinct operator, how far its cumulative weights can be off; (1, 1) if none."""

    @property
    @abstractmethod
    def walk_counts(self) -> npt.NDArray[Any]:
        """Number of walks with each operator."""

    @abstractmethod
    def weights(self, numbers: npt.ArrayLike | None = None) -> FloatArray:
        """Weights by rank of the distinct operators, one row each; by default of all."""

    @abstractmethod
    def index(self, sorts: npt.ArrayLike) -> npt.NDArray[Any]:
        """Number of the operator of each sort; -1 for a walk that is not among these."""

    @abstractmethod
    def sample_sorts(self, n: int, *, rng: Any = None) -> IntArray:
        """Sorts of walks drawn with replacement, each as likely as it counts."""

    @abstractmethod
    def contributions(self) -> FloatArray:
        """Mean contribution of each source over the walks."""

    @abstractmethod
    def listed(self, most: int) -> ListedWalks:
        """The walks one by one; where they are more than `most`, so many drawn at random."""
