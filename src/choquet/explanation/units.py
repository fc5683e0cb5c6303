"""The units of the data: explanations of a scaled model speak in those, not in scaled numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from choquet.arrays import FloatArray
from choquet.explanation.phrases import plain
from choquet.learning.scaled import ScaledModel

__all__ = ["Units", "units_of"]

_SPOKEN = 12
"""Sources whose scale is spelled out."""


@dataclass(frozen=True, eq=False)
class Units:
    """How scaled inputs and outputs stand to the numbers in the data.

    Attributes
    ----------
    scaling : str
        How the scale was found: "minmax" or "standard".
    offsets, widths : arrays of N floats
        Scaled input = (input - offset) / width, by source.
    target : str
        What the output is called.
    target_offset, target_width : float
        Output = scaled output × width + offset.

    Examples
    --------
    >>> import numpy as np
    >>> units = Units("minmax", np.array([10.0, 0.0]), np.array([90.0, 4.0]), "y", 0.0, 2.0)
    >>> units.scaled(np.array([55.0, 1.0])), units.inputs(np.array([0.5, 0.25]))
    (array([0.5 , 0.25]), array([55.,  1.]))
    """

    scaling: str
    offsets: FloatArray
    widths: FloatArray
    target: str
    target_offset: float
    target_width: float

    def scaled(self, X: FloatArray) -> FloatArray:
        """Inputs as the operators see them, from those in the data."""
        return np.asarray((X - self.offsets) / self.widths)

    def inputs(self, scaled: FloatArray) -> FloatArray:
        """Inputs as in the data, from scaled ones."""
        return np.asarray(scaled * self.widths + self.offsets)

    def output(self, scaled: float) -> float:
        """An output as in the data."""
        return float(scaled * self.target_width + self.target_offset)

    def text(self, sources: Sequence[str]) -> str:
        """What the common scale means, in a sentence or two.

        Examples
        --------
        >>> import numpy as np
        >>> units = Units("minmax", np.array([10.0, 0.0]), np.array([90.0, 4.0]), "y", 0.0, 2.0)
        >>> units.text(["ir", "emi"])
        'Sources are compared on a common scale, on which 0 and 1 stand for 10 and 100 of ir, 0 \
and 4 of emi. Of y, they stand for 0 and 2.'
        """
        ends = self.offsets + self.widths
        parts = [
            f"{low:.4g} and {high:.4g} of {name}"
            for name, low, high in zip(sources, self.offsets, ends, strict=True)
        ][:_SPOKEN]
        more = f" (and so on for {len(sources) - _SPOKEN} more)" if len(sources) > _SPOKEN else ""
        text = "Sources are compared on a common scale, on which 0 and 1 stand for "
        text += ", ".join(parts) + more + "."
        if (self.target_offset, self.target_width) != (0.0, 1.0):
            low, high = self.target_offset, self.target_offset + self.target_width
            text += f" Of {self.target}, they stand for {low:.4g} and {high:.4g}."
        return text

    def to_dict(self) -> dict[str, Any]:
        """Plain data, as JSON holds them."""
        found: dict[str, Any] = plain(dict(vars(self)))
        return found


def units_of(model: Any) -> Units | None:
    """The units of a model's data, or None where the model takes the data as they are.

    Examples
    --------
    >>> from choquet import Measure
    >>> units_of(Measure([0, 0, 0, 1])) is None
    True
    """
    if not isinstance(model, ScaledModel) or model.scaling == "none":
        return None
    return Units(
        model.scaling,
        model.offsets,
        model.widths,
        model.target,
        model.target_offset,
        model.target_width,
    )
