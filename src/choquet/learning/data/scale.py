"""Data on a scale that sums of squares can hold: anything else is refused, never rounded away."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from choquet.arrays import FloatArray
from choquet.errors import DataError, SupportWarning
from choquet.lattice.ties import TIE

LARGEST, SMALLEST = 1e200, 1e-200
"""Where sums of squares lose digits, or solvers leave the range of floating-point numbers."""

OFFSET = 1e6
"""Most that inputs may lie from zero, in units of their differences within rows: beyond, rounding
of squares (1 part in 10^16) reaches the digits in which squared errors of models differ."""

NO_WEIGHT = (
    "nothing to learn from: sample_weight is zero in every row; "
    "give at least one row a positive weight"
)

ALL_TIED = (
    "every row is tied in all sources, on the scale that they are compared on, so no subset but "
    "the whole has any data; give inputs that differ between sources, or more rows"
)

_SIZE = 1e60
"""Largest number, and one by the smallest, that learners take which go on from rows: they square
squares. With 1e90 trees of contexts overflow."""

_AWAY = 1e8
"""Most that a column may lie from zero for them, in units of its spread. Half of the digits are
left then; trees of contexts and additive models change for the worse from 1e10 on."""


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


def check_information(statistics: Any, *, normal: bool, y: FloatArray | None = None) -> None:
    """Raise where there is nothing to learn from; warn where next to nothing is.

    `y` are the last targets themselves, where they are at hand: sums alone cannot tell targets that
    are all alike from those that differ in their last digits.
    """
    if statistics.n_samples == 0 or statistics.weight <= 0:
        raise DataError(NO_WEIGHT)
    check_scale(statistics)
    if statistics.n_sources == 1:
        if normal:
            warnings.warn(
                "one source only (n_features = 1): a normal measure on it has no free value, and "
                "answers the input itself, on the scale that the measure has. normal=False "
                "(--no-normal) learns a factor",
                SupportWarning,
                stacklevel=4,
            )
        return
    if statistics.tied:
        if normal:
            raise DataError(ALL_TIED)
        warnings.warn(ALL_TIED, SupportWarning, stacklevel=4)
    mean = statistics.target_sum / statistics.weight
    spread = statistics.target_square / statistics.weight - mean**2
    apart = 0.0 if y is None else float(np.ptp(y))
    near = 0.0 if y is None else float(np.abs(y).max())
    if TIE * near < apart < near / OFFSET and spread * OFFSET**2 < mean**2:
        raise DataError(
            f"the targets lie near {mean:.3g} but differ by {apart:.3g} only, which sums of "
            "squares cannot hold: subtract the same number from all targets, and from the inputs"
        )
    if spread <= 1e-14 * max(mean**2, 1e-300):
        warnings.warn(
            "the target is constant: the measure will say little about the sources",
            SupportWarning,
            stacklevel=4,
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


def check_rows(
    X: FloatArray, y: FloatArray | None = None, weight: FloatArray | None = None
) -> None:
    """Raise `DataError` if rows are too large, too small or too far from zero to learn from.

    For learners that go on from the rows and their squares, and not from sums; NaN is passed over.

    Parameters
    ----------
    X : array of shape (n_samples, n_columns)
    y, weight : arrays of shape (n_samples,), optional

    Examples
    --------
    >>> check_rows(np.array([[0.2, 0.7], [0.4, 0.7]]), np.array([0.5, 0.6]))
    >>> check_rows(np.array([[1e9, 0.7], [1e9 + 1, 0.7]]))
    Traceback (most recent call last):
    ...
    choquet.errors.DataError: column 0 lies near 1e+09 but its numbers differ by at most 1, which \
leaves too few digits to learn from: subtract a number from them
    """
    low, high = (
        np.append(end.reduce(X, axis=0, initial=first), [] if y is None else end.reduce(y))
        for end, first in ((np.fmin, np.inf), (np.fmax, -np.inf))
    )
    check_ranges(low, high, X.shape[1], None if weight is None else float(weight.max()))


def check_ranges(
    low: FloatArray, high: FloatArray, n_columns: int, weight: float | None = None
) -> None:
    """Raise `DataError` as `check_rows` does, for rows whose least and largest numbers are known.

    Parameters
    ----------
    low, high : arrays of shape (n_columns,) or (n_columns + 1,)
        Of each column, and of the target; without a number known, `low` is above `high`.
    n_columns : int
    weight : float, optional
        The largest weight.
    """
    sizes = []
    for k in np.flatnonzero(low <= high).tolist():
        sizes.append((k, max(abs(float(low[k])), abs(float(high[k])))))
        spread = float(high[k] / 2 - low[k] / 2)  # halves, which cannot overflow
        if 0 < spread < sizes[-1][1] / _AWAY / 2:
            name = f"column {k}" if k < n_columns else "the target"
            raise DataError(
                f"{name} lies near {high[k]:.1g} but its numbers differ by at most "
                f"{2 * spread:.1g}, which leaves too few digits to learn from: subtract a number "
                "from them"
            )
    # A column, or the target, of zeros is fine; inputs that are all tiny are not.
    inputs = max([size for k, size in sizes if k < n_columns], default=1.0)
    largest = max([inputs, *(size for _, size in sizes), weight or 0.0])
    if min(inputs, 1.0 if weight is None else weight) < 1 / _SIZE or largest > _SIZE:
        raise DataError(
            "the squares of the inputs, the targets or the weights do not fit floating-point "
            f"numbers (the numbers must lie between {1 / _SIZE:g} and {_SIZE:g}): scale them"
        )
