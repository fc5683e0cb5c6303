"""Labels and weights of walks or operators, as the rules and the diagram accept them."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from choquet.arrays import FloatArray, IntArray, as_vector
from choquet.errors import DataError


def as_labels(labels: npt.ArrayLike, n: int, of: str) -> tuple[IntArray, IntArray]:
    """Distinct labels, ascending, and the place of each one's label among them."""
    array = np.asarray(labels)
    if array.shape != (n,):
        raise DataError(f"there are {n} {of}, but labels have the shape {array.shape}")
    if not n:
        raise DataError(f"there are no {of}: at least one is needed")
    if array.dtype != np.bool_ and not np.issubdtype(array.dtype, np.integer):
        raise DataError(f"labels must be whole numbers, not {array.dtype}")
    known, compact = np.unique(array.astype(np.int64), return_inverse=True)
    return known, compact.astype(np.int64)


def as_shares(weights: npt.ArrayLike | None, n: int) -> FloatArray:
    """Weights that are ≥ 0 as shares of their sum; equal ones by default."""
    if weights is None:
        return np.full(n, 1 / n)
    array = as_vector(weights, "weights", n)
    if array.min() < 0 or array.sum() <= 0:
        raise DataError(
            f"weights must be ≥ 0 and not all 0; the least is {array.min():g}, "
            f"the sum {array.sum():g}"
        )
    return np.asarray(array / array.sum(), dtype=np.float64)
