"""Integrals and operators of many rows, from the values of all subsets."""

from __future__ import annotations

import numpy as np

from choquet.arrays import FloatArray, IntArray, refuse_nonfinite
from choquet.lattice.threads import in_chunks


def integrals_of_rows(values: FloatArray, inputs: FloatArray, number: int) -> FloatArray:
    """Integral of each row, by the number of its kind; inputs that are not finite are refused.

    Examples
    --------
    >>> integrals_of_rows(np.array([0, 0.2, 0.3, 1]), np.array([[0.9, 0.4]]), 0)
    array([0.5])
    """
    from choquet.lattice import _kernels

    result = np.empty(len(inputs))

    def part(low: int, high: int) -> bool:
        return bool(_kernels.integrate(values, inputs[low:high], number, result[low:high]))

    if not all(in_chunks(part, len(inputs), inputs.shape[1] ** 2)):
        refuse_nonfinite(inputs)
    return result


def weights_of_walks(values: FloatArray, sorts: IntArray) -> FloatArray:
    """Steps of the values along the walk of each sort.

    Examples
    --------
    >>> weights_of_walks(np.array([0, 0.2, 0.3, 1]), np.array([[1, 0]]))
    array([[0.3, 0.7]])
    """
    from choquet.lattice import _kernels

    weights = np.empty(sorts.shape)

    def part(low: int, high: int) -> None:
        _kernels.walk_weights(values, sorts[low:high], weights[low:high])

    in_chunks(part, len(sorts), 4 * sorts.shape[1])
    return weights
