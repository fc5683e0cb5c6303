"""A model together with the units of its data: what a file on the command line becomes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from choquet.arrays import FloatArray, as_inputs
from choquet.errors import DataError, OptionError

__all__ = ["SCALINGS", "ScaledModel"]

SCALINGS = ("none", "minmax", "standard")
"""Leave the columns as they are; map their range to [0, 1]; to mean 0 and standard deviation 1."""


@dataclass(frozen=True, eq=False, repr=False)
class ScaledModel:
    """A fitted model with the names and units of its sources and target.

    An integral compares its inputs, so that they must be on one scale. Each source is shifted and
    divided before, the output is multiplied and shifted back after.

    Attributes
    ----------
    model : estimator, or a decomposition of one
        Fitted on scaled inputs.
    sources : tuple of str
    target : str
    scaling : {"none", "minmax", "standard"}
    offsets, widths : arrays of shape (n_sources,)
        Scaled input = (input - offset) / width.
    target_offset, target_width : float
        Output = scaled output × width + offset.

    Examples
    --------
    >>> import numpy as np
    >>> from choquet import ChoquetRegressor
    >>> model = ChoquetRegressor().fit([[0, 1], [1, 0], [0.5, 0.2]], [1, 1, 0.5])
    >>> metres = ScaledModel(model, ("a", "b"), "height", "minmax",
    ...                      np.zeros(2), np.array([10.0, 100.0]), 0.0, 2.0)
    >>> metres.predict([[10.0, 50.0]]).round(3)
    array([2.])
    """

    model: Any
    sources: tuple[str, ...]
    target: str
    scaling: str
    offsets: FloatArray
    widths: FloatArray
    target_offset: float = 0.0
    target_width: float = 1.0

    def __post_init__(self) -> None:
        if self.scaling not in SCALINGS:
            raise OptionError(f"scaling={self.scaling!r} is unknown; give {', '.join(SCALINGS)}")
        n = len(self.sources)
        for name in ("offsets", "widths"):
            if getattr(self, name).shape != (n,):
                raise DataError(f"{name} must be {n} numbers, one for each source")
        if not (self.widths > 0).all() or not self.target_width > 0:
            raise DataError("widths must be above 0")

    @property
    def measure_(self) -> Any:
        """The learned measure, on scaled inputs."""
        found = getattr(self.model, "measure_", None)
        return self.model.measure if found is None else found

    @property
    def support_(self) -> Any:
        """The support of the data learned from."""
        return self.model.support_

    @property
    def bias_(self) -> float:
        """Added to every integral, in scaled units."""
        return float(getattr(self.model, "bias_", 0.0))

    @property
    def outcome(self) -> Any:
        """What the output of a decomposition says of a class, if of any."""
        return getattr(self.model, "outcome", None)

    @property
    def outcomes_(self) -> Any:
        """The same for each of a classifier's measures."""
        return self.model.outcomes_

    @property
    def classifies(self) -> bool:
        """Whether the outputs are classes, not numbers."""
        return hasattr(self.model, "classes_")

    def inputs(self, X: npt.ArrayLike) -> FloatArray:
        """Rows in the units of the data, scaled for the integral."""
        return np.asarray((as_inputs(X, len(self.sources)) - self.offsets) / self.widths)

    def predict(self, X: npt.ArrayLike) -> npt.NDArray[Any]:
        """Outputs in the units of the target, or classes."""
        found = np.asarray(self.model.predict(self.inputs(X)))
        return found if self.classifies else self._back(found)

    def predict_interval(self, X: npt.ArrayLike) -> FloatArray:
        """Bounds of each output over all values of unsupported subsets: (n_samples, 2)."""
        return self._back(self.model.predict_interval(self.inputs(X)))

    def trust(self, X: npt.ArrayLike) -> FloatArray:
        """Share of the subsets each row needs that data support."""
        return np.asarray(self.model.trust(self.inputs(X)))

    def _back(self, scaled: FloatArray) -> FloatArray:
        return np.asarray(scaled * self.target_width + self.target_offset)

    def around(self, model: Any) -> ScaledModel:
        """Another model of the same inputs and outputs, a decomposition say, in the same units."""
        return replace(self, model=model)

    def reordered(self, names: Sequence[str]) -> list[int]:
        """Positions of the sources among the given names, or an error that lists what lacks."""
        missing = [source for source in self.sources if source not in names]
        if missing:
            raise DataError(f"the data have no column {', '.join(map(repr, missing))}")
        return [list(names).index(source) for source in self.sources]

    def __repr__(self) -> str:
        kind = type(self.model).__name__
        return f"<ScaledModel {kind} of {self.target!r} from {len(self.sources)} sources>"
