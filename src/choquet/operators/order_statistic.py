"""Linear order statistics (OWA operators) and linear convex sums."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from choquet.arrays import FloatArray, as_inputs, as_vector
from choquet.errors import DataError
from choquet.operators.names import Name, nearest_name


@dataclass(frozen=True, eq=False, repr=False)
class OrderStatistic:
    """A linear order statistic: Σ_j w_j h_π(j), inputs sorted with the largest first.

    Parameters
    ----------
    weights : array-like of N floats
        By rank, largest input first. For fusion they are ≥ 0 and sum to 1; regression allows any.

    References
    ----------
    Yager, R. R. (1988). On ordered weighted averaging aggregation operators in multicriteria
    decisionmaking. IEEE Transactions on Systems, Man, and Cybernetics 18, 183-190.

    Examples
    --------
    >>> from choquet import OrderStatistic
    >>> median = OrderStatistic([0, 1, 0])
    >>> median([[0.9, 0.1, 0.4]])
    array([0.4])
    >>> median.name, median.orness
    ('median', 0.5)
    """

    weights: FloatArray

    def __init__(self, weights: npt.ArrayLike) -> None:
        array = as_vector(weights, "weights")
        if not len(array):
            raise DataError("an order statistic needs at least one weight")
        array.flags.writeable = False
        object.__setattr__(self, "weights", array)

    def __call__(self, X: npt.ArrayLike) -> FloatArray:
        """Value for each sample (row) of inputs, whatever the order of its columns."""
        inputs = as_inputs(X, self.n_sources)
        return -np.sort(-inputs, axis=1) @ self.weights

    @property
    def n_sources(self) -> int:
        """Number of inputs N."""
        return len(self.weights)

    @property
    def is_convex(self) -> bool:
        """Whether the weights are ≥ 0 and sum to 1, to nine digits."""
        return bool(self.weights.min() >= -1e-9 and abs(self.weights.sum() - 1) <= 1e-9)

    @property
    def orness(self) -> float:
        """Degree of "or": 1 for the max, 1/2 for mean and median, 0 for the min (Yager 1988).

        Of a single input, which is all of these at once, it is 1/2.
        """
        n = self.n_sources
        if n == 1:
            return 0.5
        return float(self.weights @ np.arange(n - 1, -1, -1)) / (n - 1)

    @property
    def andness(self) -> float:
        """Degree of "and": 1 - orness."""
        return 1.0 - self.orness

    @property
    def dispersion(self) -> float:
        """Entropy of the weights, from 0 (one input decides) to log N (the mean) (Yager 1988).

        NaN where the weights are no shares.
        """
        if not self.is_convex:
            return float("nan")
        positive = self.weights[self.weights > 0]
        return float(-(positive * np.log(positive)).sum())

    @property
    def nearest_name(self) -> Name:
        """The familiar operator that differs least in output, and by how much at worst."""
        return nearest_name(self.weights)

    @property
    def name(self) -> str:
        """What to call it: "median", "about median", or "mixed"; see `nearest_name`."""
        return self.nearest_name.text

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, OrderStatistic):
            return NotImplemented
        return np.array_equal(self.weights, other.weights)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        shown = ", ".join(f"{w:.4g}" for w in self.weights)
        return f"<OrderStatistic {self.name}: ({shown})>"


@dataclass(frozen=True, eq=False, repr=False)
class LinearConvexSum:
    """A weighted mean: Σ_i w_i h_i, weights by source, ≥ 0 and summing to 1.

    Parameters
    ----------
    weights : array-like of N floats
        By source.
    sources : sequence of str, optional
        Names; x1, x2, … by default.

    Examples
    --------
    >>> from choquet import LinearConvexSum
    >>> LinearConvexSum([0.25, 0.75])([[1.0, 0.0]])
    array([0.25])
    """

    weights: FloatArray
    sources: tuple[str, ...]

    def __init__(self, weights: npt.ArrayLike, sources: Iterable[str] | None = None) -> None:
        array = as_vector(weights, "weights")
        if not len(array) or array.min() < 0 or abs(array.sum() - 1) > 1e-9:
            raise DataError(f"weights must be ≥ 0 and sum to 1; these sum to {array.sum():g}")
        names = tuple(sources) if sources is not None else ()
        names = names or tuple(f"x{i + 1}" for i in range(len(array)))
        if len(names) != len(array):
            raise DataError(f"{len(names)} source names were given for {len(array)} weights")
        array.flags.writeable = False
        object.__setattr__(self, "weights", array)
        object.__setattr__(self, "sources", names)

    def __call__(self, X: npt.ArrayLike) -> FloatArray:
        """Value for each sample (row) of inputs."""
        return as_inputs(X, len(self.weights)) @ self.weights

    def __repr__(self) -> str:
        shown = " + ".join(
            f"{w:.4g}·{name}" for w, name in zip(self.weights, self.sources, strict=True)
        )
        return f"<LinearConvexSum {shown}>"
