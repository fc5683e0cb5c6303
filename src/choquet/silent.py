"""Sources that say nothing: integrals of rows in which some inputs are missing (NaN).

Two answers are possible. The *interval* holds every integral that some value of the missing inputs
would give. The *present* sources alone give one number, by the measure restricted to them:
g(A) g(X) / g(S) for subsets A of the sources S that are there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from choquet.arrays import BoolArray, FloatArray
from choquet.errors import OptionError, TooLargeError
from choquet.lattice.wide import pack
from choquet.measures.abstract import AbstractMeasure

__all__ = [
    "MISSING",
    "MissingPattern",
    "filled_below",
    "lacking",
    "patterns_of",
    "present_integral",
    "silent_integral",
    "silent_interval",
    "span_of",
]

MISSING = ("error", "present", "interval")
"""What becomes of missing inputs; a pair (low, high) is an interval with another range."""

_MOST = 1 << 20
"""Most places at which the integral of one row is looked at, where it need not be monotone."""


@dataclass(frozen=True)
class MissingPattern:
    """Rows in which the same sources are silent.

    Attributes
    ----------
    silent : tuple of str
        Names of these sources; none for complete rows.
    rows : int
        How many of the rows asked about.
    learned : int
        How many rows of the training data had the same pattern.
    support : float
        Mean share of the subsets that these rows need for which there are data.
    """

    silent: tuple[str, ...]
    rows: int
    learned: int
    support: float


def span_of(missing: Any) -> tuple[float, float] | None:
    """The range of a missing input, or None where the present sources answer alone.

    Examples
    --------
    >>> span_of("interval"), span_of((0, 10)), span_of("present")
    ((0.0, 1.0), (0.0, 10.0), None)
    """
    if isinstance(missing, str) and missing in MISSING:
        return (0.0, 1.0) if missing == "interval" else None
    wrong = OptionError(
        f"missing={missing!r} is unknown; choose 'error', 'present', 'interval', or the least and "
        "the largest value that a missing input can have, such as (0, 10)"
    )
    if isinstance(missing, str) or not isinstance(missing, Sequence | np.ndarray):
        raise wrong
    ends = list(missing)
    if len(ends) != 2 or not all(isinstance(end, int | float | np.number) for end in ends):
        raise wrong
    low, high = (float(end) for end in ends)
    if not (np.isfinite(low) and np.isfinite(high) and low <= high):
        raise wrong
    return low, high


def patterns_of(X: FloatArray) -> dict[tuple[int, ...], int]:
    """How many rows have each set of silent sources, by their numbers.

    Examples
    --------
    >>> patterns_of(np.array([[0.1, np.nan], [0.2, 0.3], [0.4, np.nan]]))
    {(): 1, (1,): 2}
    """
    distinct, counts = np.unique(np.isnan(X), axis=0, return_counts=True)
    return {
        tuple(np.flatnonzero(row).tolist()): int(count)
        for row, count in zip(distinct, counts, strict=True)
    }


def filled_below(X: FloatArray) -> FloatArray:
    """Rows whose missing inputs lie below all others, so that present sources are sorted alone."""
    absent = np.isnan(X)
    least = np.where(absent, np.inf, X).min(axis=1, keepdims=True, initial=np.inf)
    least = np.where(np.isfinite(least), least, 0.0)
    return np.where(absent, least - np.maximum(np.abs(least), 1.0), X)


def present_integral(
    measure: AbstractMeasure, X: FloatArray, integral: Callable[[FloatArray], FloatArray]
) -> FloatArray:
    """Integral of the present inputs by the measure restricted to their sources.

    With the missing inputs at the least present one, m, the integral is m g(X) plus a sum over
    subsets of the present sources S. Divided by g(S) in place of g(X), that sum is the restricted
    integral. NaN where g(S) is zero: sources without weight say nothing.
    """
    absent = np.isnan(X)
    least = np.where(absent, np.inf, X).min(axis=1, initial=np.inf)
    known = np.isfinite(least)
    least = np.where(known, least, 0.0)
    found = integral(np.where(absent, least[:, None], X))
    patterns, place = np.unique(~absent, axis=0, return_inverse=True)
    weight = measure.values_of(pack(patterns))[place.ravel()]
    total = float(measure.total)
    out = np.full(len(X), np.nan)
    usable = known & (np.abs(weight) > 1e-12 * max(abs(total), 1e-300))
    out[usable] = total * (least[usable] + (found[usable] - total * least[usable]) / weight[usable])
    whole = ~absent.any(axis=1)
    out[whole] = found[whole]
    return out


def silent_interval(
    measure: AbstractMeasure,
    X: FloatArray,
    span: tuple[float, float],
    bounds: Callable[[FloatArray], FloatArray],
) -> FloatArray:
    """Least and largest integral over all values of the missing inputs: (n_samples, 2).

    An integral by a monotone measure rises with each input, so both ends of the range are enough.
    Otherwise it is linear wherever the order of the inputs stays the same, so that its extremes lie
    where each missing input is an end of the range or equals a present one: all are looked at.
    """
    absent = np.isnan(X)
    low, high = span
    if measure.monotone:
        lower = bounds(np.where(absent, low, X))[:, 0]
        return np.column_stack([lower, bounds(np.where(absent, high, X))[:, 1]])
    out = np.empty((len(X), 2))
    whole = ~absent.any(axis=1)
    if whole.any():
        out[whole] = bounds(X[whole])
    for i in np.flatnonzero(~whole):
        here = X[i, ~absent[i]]
        values = np.unique([low, high, *here[(here > low) & (here < high)]])
        n_silent = int(absent[i].sum())
        if len(values) ** n_silent > _MOST:
            raise TooLargeError(
                f"row {i} lacks {n_silent} inputs, and the measure is not monotone: "
                f"{len(values)}**{n_silent} places are too many; use missing='present'"
            )
        rows = np.repeat(X[i][None], len(values) ** n_silent, axis=0)
        rows[:, absent[i]] = list(product(values, repeat=n_silent))
        found = bounds(rows)
        out[i] = found[:, 0].min(), found[:, 1].max()
    return out


def silent_integral(
    measure: AbstractMeasure,
    X: FloatArray,
    missing: Any,
    integral: Callable[[FloatArray], FloatArray],
) -> FloatArray:
    """One number a row: by the present sources, or the middle of the interval.

    Examples
    --------
    >>> from choquet import Measure
    >>> g = Measure([0, 0.2, 0.3, 1])
    >>> rows = np.array([[0.6, np.nan]])
    >>> silent_integral(g, rows, "present", g.integral)
    array([0.6])
    >>> silent_integral(g, rows, "interval", g.integral).round(12)
    array([0.42])
    """
    span = span_of(missing)
    if span is None:
        return present_integral(measure, X, integral)

    def both(rows: FloatArray) -> FloatArray:
        found = integral(rows)
        return np.column_stack([found, found])

    return np.asarray(silent_interval(measure, X, span, both).mean(axis=1))


def lacking(X: FloatArray) -> BoolArray:
    """Whether each row lacks an input."""
    return np.asarray(np.isnan(X).any(axis=1))
