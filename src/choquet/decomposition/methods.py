"""What a method of decomposition is given, and what it must do."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from choquet.arrays import FloatArray
from choquet.decomposition.outcome import Outcome
from choquet.decomposition.result import Decomposition, Identified
from choquet.measures import AbstractMeasure
from choquet.scales import Units
from choquet.walks import DataSupport


@dataclass(frozen=True, eq=False)
class Task:
    """What is to be decomposed.

    Attributes
    ----------
    measure : AbstractMeasure
    support : DataSupport or None
        Restrict walks to those that these data support.
    bias : float
        What the model adds to the integral.
    X, y : arrays or None
        Rows and their targets.
    model : object or None
        What learned the measure, to be fitted again without some rows; None if it cannot.
    outcome : Outcome or None
    identification : Identification or None
    units : Units or None
        Of the data; rows and targets are on the common scale already.
    rng : seed or Generator
    """

    measure: AbstractMeasure
    support: DataSupport | None
    bias: float
    X: FloatArray | None
    y: FloatArray | None
    model: Any
    outcome: Outcome | None
    identification: Identified | None
    units: Units | None
    rng: Any


Made = TypeVar("Made", bound=Decomposition, covariant=True)


class Method(ABC, Generic[Made]):
    """A way to decompose, with its options: a frozen object that `decompose` is given."""

    @abstractmethod
    def decompose(self, task: Task) -> Made:
        """Decompose what the task holds."""
