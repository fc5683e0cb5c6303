"""Integrals of inputs that are intervals or fuzzy numbers: tight bounds, α-cut by α-cut."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from choquet.arrays import FloatArray, as_inputs, as_vector
from choquet.errors import DataError, MeasureError, OptionError
from choquet.measures.abstract import AbstractMeasure, IntegralName, check_measure

__all__ = ["FuzzyIntegrals", "integral_of_fuzzy", "integral_of_intervals"]


def integral_of_intervals(
    measure: AbstractMeasure, lower: Any, upper: Any, *, kind: IntegralName = "choquet"
) -> FloatArray:
    """Tight bounds of the integral of inputs of which only lower and upper ends are known.

    The integral by a monotone measure grows with every input, so its ends are the integrals of the
    ends, and every value between is attained. Where the measure is known in part, the bounds hold
    for every measure that agrees with it.

    Parameters
    ----------
    measure : AbstractMeasure
        Monotone.
    lower, upper : array-like or data frame of shape (n_samples, N)
        Ends of the inputs.
    kind : {"choquet", "sugeno", "shilkret"}, default "choquet"
        Which integral; the last two need inputs that are not negative.

    Returns
    -------
    array of shape (n_samples, 2)

    References
    ----------
    Grabisch, Nguyen & Walker (1995), "Fundamentals of uncertainty calculi with applications to
    fuzzy inference", for interval-valued integrands.

    Examples
    --------
    >>> from choquet import Measure
    >>> g = Measure([0, 0.2, 0.3, 1])
    >>> integral_of_intervals(g, [[0.4, 0.1]], [[0.6, 0.9]]).round(12)
    array([[0.16, 0.69]])
    """
    names = _monotone(measure).sources
    low, high = as_inputs(lower, sources=names), as_inputs(upper, sources=names)
    if low.shape != high.shape:
        raise DataError(f"lower has shape {low.shape}, upper {high.shape}; they must be alike")
    if (low > high).any():
        row, column = (int(k) for k in np.argwhere(low > high)[0])
        raise DataError(
            f"an interval is empty: row {row}, column {column} goes from {low[row, column]:g} to "
            f"{high[row, column]:g}"
        )
    return np.column_stack(
        [measure.interval(low, kind=kind)[:, 0], measure.interval(high, kind=kind)[:, 1]]
    )


@dataclass(frozen=True, eq=False)
class FuzzyIntegrals:
    """Fuzzy numbers that integrals came out as, one for each sample.

    Attributes
    ----------
    alphas : array of shape (n_levels,)
        Degrees of membership, ascending.
    lower, upper : array of shape (n_samples, n_levels)
        Ends of the α-cuts; NaN where a cut is empty.
    height : array of shape (n_samples,)
        The largest degree that is reached: the smallest height among the inputs of the sample.

    Examples
    --------
    >>> from choquet import Measure
    >>> found = integral_of_fuzzy(Measure([0, 1]), [[[0, 1, 1, 3]]], alphas=[0, 1])
    >>> found.lower, found.upper
    (array([[0., 1.]]), array([[3., 1.]]))
    """

    alphas: FloatArray
    lower: FloatArray
    upper: FloatArray
    height: FloatArray


def integral_of_fuzzy(
    measure: AbstractMeasure,
    trapezoids: npt.ArrayLike,
    heights: npt.ArrayLike | None = None,
    *,
    alphas: npt.ArrayLike | None = None,
    kind: IntegralName = "choquet",
) -> FuzzyIntegrals:
    """Integral of trapezoidal fuzzy numbers by the extension principle.

    Each α-cut of the result is the integral of the α-cuts of the inputs, with both ends attained.
    Sub-normal inputs, whose membership stays below 1, limit the height of the result to their
    smallest height.

    Parameters
    ----------
    measure : AbstractMeasure
        Monotone.
    trapezoids : array-like of shape (n_samples, N, 4)
        Each a ≤ b ≤ c ≤ d: membership rises from a to b, stays, and falls from c to d. Triangles
        have b = c, intervals a = b and c = d, numbers all four alike.
    heights : array-like of shape (n_samples, N), optional
        Membership between b and c; 1 by default.
    alphas : array-like, optional
        Degrees in [0, 1] to cut at; 0, 0.1, …, 1 by default.
    kind : {"choquet", "sugeno", "shilkret"}, default "choquet"
        Which integral.

    Returns
    -------
    FuzzyIntegrals

    References
    ----------
    Anderson, Havens, Wagner, Keller, Anderson & Wescott (2014), "Extension of the fuzzy integral
    for general fuzzy set-valued information", IEEE Transactions on Fuzzy Systems 22.

    Examples
    --------
    >>> from choquet import Measure
    >>> g = Measure.additive([0.5, 0.5])
    >>> found = integral_of_fuzzy(g, [[[0, 0.2, 0.2, 0.4], [0.6, 0.8, 0.8, 1.0]]], [[1.0, 0.5]],
    ...                           alphas=[0.0, 0.5, 1.0])
    >>> found.lower.round(3), found.height
    (array([[0.3 , 0.45,  nan]]), array([0.5]))
    """
    names = _monotone(measure).sources
    corners = np.asarray(trapezoids, dtype=np.float64)
    if corners.ndim != 3 or corners.shape[1:] != (len(names), 4):
        raise DataError(
            f"trapezoids must have shape (n_samples, {len(names)}, 4), not {corners.shape}"
        )
    if not np.isfinite(corners).all() or (np.diff(corners, axis=2) < 0).any():
        raise DataError("the four numbers of a trapezoid must be finite and ascend: a ≤ b ≤ c ≤ d")
    tops = np.ones(corners.shape[:2]) if heights is None else as_inputs(heights, len(names))
    if tops.shape != corners.shape[:2] or ((tops <= 0) | (tops > 1)).any():
        raise DataError(f"heights must be {corners.shape[:2]} numbers above 0 and at most 1")
    levels = np.linspace(0, 1, 11) if alphas is None else np.sort(as_vector(alphas, "alphas"))
    if ((levels < 0) | (levels > 1)).any():
        raise OptionError(f"alphas must lie between 0 and 1, not {levels.tolist()}")
    height = tops.min(axis=1)
    ends = np.full((len(corners), len(levels), 2), np.nan)
    for k, level in enumerate(levels):
        reached = height >= level
        if reached.any():
            a, b, c, d = np.moveaxis(corners[reached], 2, 0)
            share = level / tops[reached]
            ends[reached, k] = integral_of_intervals(
                measure, a + (b - a) * share, d - (d - c) * share, kind=kind
            )
    return FuzzyIntegrals(levels, ends[:, :, 0], ends[:, :, 1], height)


def _monotone(measure: AbstractMeasure) -> AbstractMeasure:
    if not check_measure(measure).monotone:
        raise MeasureError(
            "bounds of inputs become bounds of the integral only by a monotone measure; this one "
            "was made with monotone=False"
        )
    return measure
