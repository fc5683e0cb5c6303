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

    Walks are restricted to those that the `support` has data for; the model adds the `bias` to the
    integral. Rows and their targets are on the common scale already. The `model`, if there is one,
    can be fitted again without some rows.
    """

    measure: AbstractMeasure
    support: DataSupport | None
    bias: float
    X: FloatArray | None = None
    y: FloatArray | None = None
    model: Any = None
    outcome: Outcome | None = None
    identification: Identified | None = None
    units: Units | None = None
    rng: Any = 0

    @property
    def known(self) -> dict[str, Any]:
        """What a decomposition keeps as it was given."""
        return {name: getattr(self, name) for name in ("outcome", "identification", "units")}


Made = TypeVar("Made", bound=Decomposition, covariant=True)


class Method(ABC, Generic[Made]):
    """A way to decompose, with its options: a frozen object that `decompose` is given."""

    @abstractmethod
    def decompose(self, task: Task) -> Made:
        """Decompose what the task holds."""
