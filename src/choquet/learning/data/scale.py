"""Data on a scale that sums of squares can hold: anything else is refused, never rounded away."""

from __future__ import annotations

from typing import Any

import numpy as np

from choquet.arrays import FloatArray
from choquet.errors import DataError

__all__ = ["LARGEST", "OFFSET", "SMALLEST", "check_scale", "refuse_offset", "refuse_overflow"]

LARGEST, SMALLEST = 1e200, 1e-200
"""Where sums of squares lose digits, or solvers leave the range of floating-point numbers."""

OFFSET = 1e6
"""Most that inputs may lie from zero, in units of their differences within rows: beyond, rounding
of squares (1 part in 10^16) reaches the digits in which squared errors of models differ."""


def refuse_overflow(*sums: FloatArray) -> None:
    """Raise `DataError` if a sum is not finite, or beyond `LARGEST`.

    Examples
    --------
    >>> refuse_overflow(np.array([1e155, -3.0]))
    """
    for one in sums:
        if one.size and not np.abs(one).max() <= LARGEST:
            raise DataError(
                "the sums of squares of these data do not fit floating-point numbers (the limit is "
                f"{LARGEST:g}): inputs, targets or weights are too large; divide them by their size"
            )


def check_scale(statistics: Any) -> None:
    """Raise `DataError` if the data summed up are too small, or too far from zero, to learn from.

    Parameters
    ----------
    statistics : Statistics or MinimaStatistics

    Examples
    --------
    >>> from choquet.learning import Statistics
    >>> check_scale(Statistics.from_data([[0.9, 0.4]], [0.5]))
    >>> check_scale(Statistics.from_data([[9e8 + 1, 9e8]], [9e8]))
    Traceback (most recent call last):
    ...
    choquet.errors.DataError: the inputs of a row lie near 9e+08 but differ by about 1 ...
    """
    cross, spread, size = statistics.sizes
    if not min(size, statistics.weight) >= SMALLEST:
        raise DataError(
            "the squares of the inputs, or the weights, are zero or too small for floating-point "
            f"numbers (below {SMALLEST:g}): multiply them by a number that brings them near 1"
        )
    refuse_offset(cross, spread, statistics.weight)


def refuse_offset(cross: float, spread: float, weight: float) -> None:
    """Raise `DataError` if inputs lie further from zero than `OFFSET` times their differences.

    Parameters
    ----------
    cross : float
        Weighted sum of differences within a row times its smallest input.
    spread : float
        Weighted sum of squared differences.
    weight : float
        Sum of the weights.

    Examples
    --------
    >>> refuse_offset(0.4, 0.2, 1.0)
    """
    if spread > 0 and cross > OFFSET * spread:
        apart = np.sqrt(spread / weight)
        raise DataError(
            f"the inputs of a row lie near {apart * cross / spread:.1g} but differ by about "
            f"{apart:.1g} only, which sums of squares cannot hold: subtract the same number from "
            "all inputs (and from the targets: a normal measure stays the same), or scale the "
            "columns"
        )
