"""What every loader and generator returns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from choquet.arrays import FloatArray
from choquet.errors import MissingDependencyError
from choquet.measures import Measure


@dataclass(frozen=True, eq=False, repr=False)
class Bunch:
    """Samples, their target, and where they come from.

    Attributes
    ----------
    data : array of shape (n_samples, N)
        Inputs, one column for each feature (source).
    target : array of shape (n_samples,)
        What to predict; class numbers from 0 where `classes` names them.
    feature_names : tuple of N str
        Names of the columns.
    target_name : str
        Name of the target.
    description : str
        Meaning of the columns, credit, licence and doi.
    classes : tuple of str
        Names of the classes, worst first; empty for regression.
    measure : Measure or None
        The measure that made the target, where it is known.

    Examples
    --------
    >>> from choquet.datasets import load_yacht
    >>> yacht = load_yacht()
    >>> yacht
    <Bunch of 308 samples × 6 features: residuary_resistance>
    >>> X, y = yacht.data, yacht.target
    """

    data: FloatArray
    target: FloatArray
    feature_names: tuple[str, ...]
    target_name: str
    description: str
    classes: tuple[str, ...] = ()
    measure: Measure | None = None

    @property
    def frame(self) -> Any:
        """Features and target as a pandas DataFrame, made when asked for.

        Raises
        ------
        MissingDependencyError
            If pandas is not installed.
        """
        try:
            import pandas
        except ImportError:
            raise MissingDependencyError("frames need pandas: pip install pandas") from None
        frame = pandas.DataFrame(self.data, columns=list(self.feature_names))
        frame[self.target_name] = self.target
        return frame

    def __repr__(self) -> str:
        n_samples, n_features = self.data.shape
        return f"<Bunch of {n_samples:,} samples × {n_features} features: {self.target_name}>"
