"""What was learned directly: a contextual model, the units of its data, and what it answers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from choquet.arrays import FloatArray
from choquet.decomposition.outcome import Outcome, outcome_of
from choquet.decomposition.trees import TreeDecomposition
from choquet.explanation.units import Units, units_of
from choquet.learning.scaled import ScaledModel

__all__ = ["TRUSTED", "Learned", "as_learned"]

TRUSTED = 0.5
"""Trust from which on a context counts as supported: data decided more of it than the penalty."""


@dataclass(frozen=True, eq=False)
class Learned:
    """A contextual model ready to be explained.

    Attributes
    ----------
    model : TreeDecomposition
    units : Units or None
        Of the data, where the model sees them scaled.
    """

    model: TreeDecomposition
    units: Units | None = None

    @property
    def sources(self) -> tuple[str, ...]:
        """Names of the sources."""
        return self.model.sources

    @property
    def outcome(self) -> Outcome | None:
        """What the output says of a class; None if it is a number."""
        return self.model.outcome

    @property
    def label(self) -> str | None:
        """The class whose log-odds are the output, if it is one's."""
        return None if self.outcome is None else self.outcome.label

    @property
    def output_name(self) -> str:
        """What the operators give, in words."""
        return "the output" if self.outcome is None else self.outcome.name

    def scaled(self, inputs: FloatArray) -> FloatArray:
        """Inputs as the operators see them."""
        return inputs if self.units is None else self.units.scaled(inputs)

    def output(self, scaled: FloatArray) -> FloatArray:
        """Outputs in the units of the data."""
        if self.units is None:
            return scaled
        return np.asarray(scaled * self.units.target_width + self.units.target_offset)

    def trusted_leaves(self) -> list[int]:
        """Leaves whose operator the data decided more than the penalty did."""
        trust = [operator.trust for operator in self.model.operators]
        return [leaf for leaf in self.model.leaves if trust[self.model.labels[leaf]] >= TRUSTED]


def as_learned(model: Any, x: FloatArray | None = None) -> Learned | None:
    """A contextual model, or what holds one, ready to be explained; None for anything else.

    Of a classifier of several classes the first is taken, or, if a sample is given (in the units of
    the data), the one that it is put into.

    Examples
    --------
    >>> from choquet import Measure
    >>> as_learned(Measure([0, 0, 0, 1])) is None
    True
    """
    inner = model.model if isinstance(model, ScaledModel) else model
    units = units_of(model)
    if isinstance(inner, TreeDecomposition):
        return Learned(inner, units)
    if isinstance(getattr(inner, "decomposition_", None), TreeDecomposition):
        if not hasattr(inner, "decompositions_"):
            return Learned(inner.decomposition_, units)
        if x is None or len(inner.decompositions_) == 1:
            return Learned(replace(inner.decomposition_, outcome=outcome_of(inner)), units)
        scaled = x if units is None else units.scaled(x)
        odds = [one.predict(scaled)[0] for one in inner.decompositions_]
        number = int(np.argmax(odds))
        chosen, outcome = inner.decompositions_[number], inner.outcomes_[number]
        return Learned(replace(chosen, outcome=outcome), units)
    return None
