"""Integrals of inputs that are intervals or fuzzy sets.

Direct integrals follow the extension principle, with tight bounds α-cut by α-cut. The non-direct
integral fuses the memberships of every place instead.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from choquet.arrays import FloatArray, as_inputs, as_vector
from choquet.errors import DataError, MeasureError, OptionError
from choquet.measures.abstract import AbstractMeasure, IntegralName, check_measure

__all__ = [
    "FuzzyIntegrals",
    "integral_of_fuzzy",
    "integral_of_intervals",
    "nondirect_integral",
    "trapezoid_memberships",
]


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
    smallest height: one doubtful source makes the whole result doubtful. `nondirect_integral` does
    not have this property.

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
    corners, tops = _trapezoids(trapezoids, heights, len(names))
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


def nondirect_integral(
    measure: AbstractMeasure, memberships: npt.ArrayLike, *, kind: IntegralName = "choquet"
) -> FloatArray:
    """Non-direct integral: at every place, the integral of the inputs' memberships there.

    The result is a fuzzy set again. It does not follow the extension principle: inputs far from
    each other give a result with several peaks, not one between them, and one sub-normal input
    does not limit its height. Inputs may have any shape. In terms of α-cuts, the membership of a
    place is the integral, over α from 0 to 1, of the measure of the sources whose α-cut holds it.

    Parameters
    ----------
    measure : AbstractMeasure
        Monotone and normal, so that the result lies between 0 and 1.
    memberships : array-like of shape (n_samples, N, n_places)
        Membership of every place in the fuzzy set of every source, from 0 to 1;
        `trapezoid_memberships` makes them.
    kind : {"choquet", "sugeno", "shilkret"}, default "choquet"
        Which integral.

    Returns
    -------
    array of shape (n_samples, n_places)
        Membership of every place in the result.

    Raises
    ------
    DataError
        If memberships have another shape or leave [0, 1].

    References
    ----------
    Anderson, Anderson & Wescott (2010), "Estimation of adult skeletal age-at-death using the Sugeno
    fuzzy integral", American Journal of Physical Anthropology 142; Anderson et al. (2014),
    "Extension of the fuzzy integral for general fuzzy set-valued information", for its properties.

    Examples
    --------
    Two sources that contradict each other: the result has two peaks.

    >>> from choquet import Measure
    >>> g = Measure.additive([0.6, 0.4])
    >>> places = [1, 2, 3, 4, 5]
    >>> sets = trapezoid_memberships([[[0, 1, 1, 3], [3, 5, 5, 6]]], places)
    >>> nondirect_integral(g, sets).round(3)
    array([[0.6, 0.3, 0. , 0.2, 0.4]])
    """
    names = _monotone(measure).sources
    degrees = np.asarray(memberships, dtype=np.float64)
    if degrees.ndim != 3 or degrees.shape[1] != len(names):
        raise DataError(
            f"memberships must have shape (n_samples, {len(names)}, n_places), not {degrees.shape}"
        )
    if not ((degrees >= 0) & (degrees <= 1)).all():  # NaN is neither
        raise DataError("memberships must be numbers from 0 to 1")
    rows = np.moveaxis(degrees, 1, 2).reshape(-1, len(names))
    return measure.integral(rows, kind=kind).reshape(degrees.shape[0], degrees.shape[2])


def trapezoid_memberships(
    trapezoids: npt.ArrayLike, places: npt.ArrayLike, heights: npt.ArrayLike | None = None
) -> FloatArray:
    """Membership of places in trapezoidal fuzzy numbers.

    Parameters
    ----------
    trapezoids : array-like of shape (n_samples, N, 4)
        Each a ≤ b ≤ c ≤ d, as in `integral_of_fuzzy`.
    places : array-like of shape (n_places,)
        Where to look.
    heights : array-like of shape (n_samples, N), optional
        Membership between b and c; 1 by default.

    Returns
    -------
    array of shape (n_samples, N, n_places)

    Examples
    --------
    >>> trapezoid_memberships([[[0, 1, 2, 4]]], [0.5, 1, 3, 5], [[0.8]])
    array([[[0.4, 0.8, 0.4, 0. ]]])
    """
    corners, tops = _trapezoids(trapezoids, heights)
    where = as_vector(places, "places")
    a, b, c, d = (corners[:, :, k, None] for k in range(4))
    with np.errstate(divide="ignore", invalid="ignore"):
        rising = np.where(b > a, (where - a) / (b - a), 1.0)
        falling = np.where(d > c, (d - where) / (d - c), 1.0)
    inside = (where >= a) & (where <= d)
    return np.where(inside, np.clip(np.minimum(rising, falling), 0.0, 1.0), 0.0) * tops[:, :, None]


def _trapezoids(
    trapezoids: npt.ArrayLike, heights: npt.ArrayLike | None, n_sources: int | None = None
) -> tuple[FloatArray, FloatArray]:
    """Corners and heights, checked."""
    corners = np.asarray(trapezoids, dtype=np.float64)
    wanted = "N" if n_sources is None else n_sources
    fits = corners.ndim == 3 and corners.shape[2] == 4
    if not fits or (n_sources is not None and corners.shape[1] != n_sources):
        raise DataError(f"trapezoids must have shape (n_samples, {wanted}, 4), not {corners.shape}")
    if not np.isfinite(corners).all() or (np.diff(corners, axis=2) < 0).any():
        raise DataError("the four numbers of a trapezoid must be finite and ascend: a ≤ b ≤ c ≤ d")
    tops = np.ones(corners.shape[:2]) if heights is None else np.asarray(heights, dtype=np.float64)
    if tops.shape != corners.shape[:2] or not ((tops > 0) & (tops <= 1)).all():
        raise DataError(f"heights must be {corners.shape[:2]} numbers above 0 and at most 1")
    return corners, tops


def _monotone(measure: AbstractMeasure) -> AbstractMeasure:
    if not check_measure(measure).monotone:
        raise MeasureError(
            "bounds of inputs become bounds of the integral only by a monotone measure; this one "
            "was made with monotone=False"
        )
    return measure
