"""What every view and every explanation answers to, whatever was fitted.

AbstractView
├── View                   operators of all sources, and when each is used
└── AdditiveView           a sum of small integrals
ModelExplanation
├── OperatorsExplanation
└── TermsExplanation
SampleExplanation
├── OperatorSample
└── TermsSample
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

from choquet.explanation.phrases import plain
from choquet.frames import FrameLibrary
from choquet.shown import Shown
from choquet.walks import DataSupport


class PlainData:
    """A result that can be told as plain data."""

    def to_dict(self) -> dict[str, Any]:
        """Plain data, as JSON holds them: all fields, and what else is told of them."""
        found: dict[str, Any] = plain({**vars(self), **self._more()})
        return found

    def _more(self) -> dict[str, Any]:
        return {}


class Explanation(PlainData, Shown):
    """Plain data first, and text second."""

    @abstractmethod
    def to_frame(self, library: FrameLibrary | None = None) -> Any:
        """A table, as a frame of pandas or polars."""


class ModelExplanation(Explanation):
    """What a model does, in words and numbers: all that `explain_model` returns.

    Attributes
    ----------
    sources : tuple of str
        Names.
    sentences : tuple of str
        What the model does, as instructions or as the effects of its terms.
    """

    sources: tuple[str, ...]
    sentences: tuple[str, ...]

    @abstractmethod
    def opening(self) -> str:
        """What the model combines, and how, in a sentence or two."""


class SampleExplanation(Explanation):
    """Why a sample got its output: all that `explain_sample` returns.

    Attributes
    ----------
    sources : tuple of str
        Names.
    inputs : sequence
        By source, in the data.
    output : object
        What the model gives.
    """

    sources: tuple[str, ...]
    inputs: Any
    output: Any


class AbstractView(ABC):
    """What explanations, reports and commands ask of anything fitted."""

    @property
    @abstractmethod
    def sources(self) -> tuple[str, ...]:
        """Names of the sources."""

    @property
    @abstractmethod
    def target(self) -> str | None:
        """What is predicted, where that has a name."""

    @property
    @abstractmethod
    def outcome(self) -> Any:
        """What the output says of classes, or None."""

    @abstractmethod
    def explained(self, X: Any, model: Any = None) -> Sequence[SampleExplanation]:
        """Why each row got its output."""

    @abstractmethod
    def story(self, *, n_requests: int = 5, support: DataSupport | None = None) -> ModelExplanation:
        """What the model does."""
