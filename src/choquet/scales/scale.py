"""One column's scale: a piecewise linear map from the units of the data to the common scale."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from choquet.arrays import FloatArray, as_vector, check_option
from choquet.errors import DataError, OptionError
from choquet.scales.directions import Direction

METHODS = ("minmax", "common", "quantiles", "standard", "none")
"""The range to [0, 1]; the range of all columns together, which keeps their one unit; the share of
the data below; mean 0 and deviation 1; as they are."""

_SIDES = np.array([-2.0, 2.0])
"""Deviations from the mean at which the points of a standardised column stand."""

_FEW_DIGITS = 1024 * float(np.finfo(np.float64).eps)
"""Numbers that differ by so little of their size have two decimal digits left or fewer."""

_SMALLEST = 1e-150
"""Least range, and one by the largest, whose square can be worked with."""

_QUANTILES = 33
"""Points of a scale of quantiles, the ends included."""


@dataclass(frozen=True, eq=False, repr=False)
class Scale:
    """A piecewise linear map from data to the common scale, and back.

    Attributes
    ----------
    points : array of floats, increasing
        Numbers in the units of the data.
    values : array of as many floats
        Where they stand on the common scale. They rise, fall, or rise to a peak and then fall.
    clip : bool
        Whether what lies beyond the first and last point stands where they do. Otherwise the first
        and last pieces go on.

    Examples
    --------
    >>> import numpy as np
    >>> price = Scale(np.array([10.0, 50.0]), np.array([1.0, 0.0]))
    >>> price([10.0, 20.0, 60.0]), price.inverse([0.75])
    (array([ 1.  ,  0.75, -0.25]), array([20.]))
    >>> price.direction
    'lower'
    """

    points: FloatArray
    values: FloatArray
    clip: bool = False

    def __post_init__(self) -> None:
        given = [np.asarray(one) for one in (self.points, self.values)]
        if any(one.dtype.kind not in "fiu" for one in given):
            raise DataError(
                f"a scale is made of numbers, not {given[0]!r:.40} and {given[1]!r:.40}"
            )
        if not isinstance(self.clip, bool | np.bool_):
            raise DataError(f"clip is {self.clip!r:.40}, not true or false")
        points, values = (one.astype(np.float64) for one in given)
        if points.ndim != 1 or len(points) < 2 or points.shape != values.shape:
            raise DataError(f"a scale needs two points or more, not {points} and {values}")
        if not (np.isfinite(points).all() and np.isfinite(values).all()):
            raise DataError(f"the points of a scale must be finite: {points}, {values}")
        if not (np.diff(points) > 0).all():
            raise DataError(f"the points of a scale must increase: {points}")
        rises = np.diff(values)
        top = int(np.argmax(values))
        if (rises[:top] < 0).any() or (rises[top:] > 0).any() or not rises.any():
            raise DataError(f"a scale must rise, fall, or rise to one peak and then fall: {values}")
        object.__setattr__(self, "points", points)
        object.__setattr__(self, "values", values)

    @property
    def direction(self) -> Direction:
        """Whether more is "higher" or "lower" on the common scale, or the number that is best."""
        top = int(np.argmax(self.values))
        if self.values[-1] == self.values[top]:
            return "higher"
        return "lower" if self.values[0] == self.values[top] else float(self.points[top])

    @property
    def affine(self) -> bool:
        """Whether it is one straight line."""
        return len(self.points) == 2 and not self.clip

    @property
    def trivial(self) -> bool:
        """Whether it changes nothing."""
        return self.affine and self.ends == (0.0, 1.0)

    @property
    def width(self) -> float:
        """Of a straight line: how much one of the common scale is in the data, with its sign."""
        return float((self.points[-1] - self.points[0]) / (self.values[-1] - self.values[0]))

    @property
    def ends(self) -> tuple[float, float]:
        """Where 0 and 1 of the common scale are in the data."""
        low, high = self.inverse(np.array([0.0, 1.0]))
        return float(low), float(high)

    def __call__(self, x: npt.ArrayLike) -> FloatArray:
        """Numbers of the data on the common scale."""
        return _interpolated(np.asarray(x, dtype=np.float64), self.points, self.values, self.clip)

    def inverse(self, values: npt.ArrayLike, near: npt.ArrayLike | None = None) -> FloatArray:
        """Numbers of the common scale in the units of the data.

        Where a peak gives two answers, it is the one that is nearer to `near`; without that, the
        one before the peak.
        """
        v = np.asarray(values, dtype=np.float64)
        top = int(np.argmax(self.values))
        if top == 0:
            return self._side(v, slice(None))
        rising = self._side(v, slice(None, top + 1))
        if near is None or self.values[top] == self.values[-1]:
            return rising
        falling = self._side(v, slice(top, None))
        x = np.asarray(near, dtype=np.float64)
        return np.where(np.abs(rising - x) <= np.abs(falling - x), rising, falling)

    def _side(self, v: FloatArray, part: slice) -> FloatArray:
        """Inverse of the points on one side of the peak."""
        values, points = self.values[part], self.points[part]
        if values[0] > values[-1]:
            values, points = values[::-1], points[::-1]
        # Of a flat piece, any point would do; the last one of it is taken.
        kept = np.append(np.diff(values) > 0, True)
        values, points = values[kept], points[kept]
        if len(values) == 1:
            return np.full_like(v, points[0])
        return _interpolated(v, values, points, self.clip)

    def to_dict(self) -> dict[str, Any]:
        """Plain data, as JSON holds them."""
        return {
            "points": self.points.tolist(),
            "values": self.values.tolist(),
            "clip": self.clip,
            "direction": self.direction,
        }

    def __repr__(self) -> str:
        ends = zip(self.points[[0, -1]], self.values[[0, -1]], strict=True)
        first, last = (
            f"{x:,.0f} is {v:.4g}" if abs(x) >= 1000 else f"{x:.4g} is {v:.4g}" for x, v in ends
        )
        return f"<Scale of {len(self.points)} points: {first}, {last}>"


IDENTITY = Scale(np.array([0.0, 1.0]), np.array([0.0, 1.0]))
"""The data as they are."""


def _interpolated(x: FloatArray, points: FloatArray, values: FloatArray, clip: bool) -> FloatArray:
    if len(points) == 2 and not clip:
        return np.asarray(values[0] + (x - points[0]) * _slope(points, values, 0))
    found = np.interp(x, points, values)
    if clip:
        return np.asarray(found)
    below, above = x < points[0], x > points[-1]
    found = np.where(below, values[0] + (x - points[0]) * _slope(points, values, 0), found)
    return np.where(above, values[-1] + (x - points[-1]) * _slope(points, values, -2), found)


def _slope(points: FloatArray, values: FloatArray, k: int) -> float:
    return float((values[k + 1] - values[k]) / (points[k + 1] - points[k]))


def scales_from(fields: Iterable[Mapping[str, Any]]) -> list[Scale]:
    """Scales from the fields of each by name, as files hold them.

    Examples
    --------
    >>> scales_from([{"points": [10, 100], "values": [0.0, 1.0], "clip": False}])
    [<Scale of 2 points: 10 is 0, 100 is 1>]
    """
    return [Scale(**one) for one in fields]


def fit_scale(
    x: npt.ArrayLike,
    *,
    direction: Direction = "higher",
    method: str = "minmax",
    clip: bool = False,
    weight: FloatArray | None = None,
    name: str = "the column",
) -> Scale:
    """The scale of a column of data.

    Parameters
    ----------
    x : array of floats
        The column.
    direction : {"higher", "lower"} or float, default "higher"
        Whether more or less of it is better, or the number that is best: values on both sides of
        that peak stand the lower the farther away they are.
    method : {"minmax", "common", "quantiles", "standard", "none"}, default "minmax"
        A row of `METHODS`; of one column alone, the common range is its own.
    clip : bool, default False
        See `Scale`.
    weight : array of floats, optional
        How much each number counts; those of weight 0 are left out.
    name : str, default "the column"
        What errors call it.

    Raises
    ------
    DataError
        If its numbers differ, but too little beside their size, or so little or so much that
        floating-point numbers cannot tell.

    Examples
    --------
    >>> fit_scale([2.0, 4.0, 10.0], direction="lower")([2.0, 4.0, 10.0])
    array([1.  , 0.75, 0.  ])
    >>> fit_scale([18.0, 21.0, 30.0], direction=21.0)([18.0, 21.0, 30.0])
    array([0.66666667, 1.        , 0.        ])
    """
    check_option("method", method, METHODS)
    return _fitted(as_vector(x, name), direction, method, clip, weight, name)


def fit_scales(
    X: FloatArray,
    directions: Sequence[Direction],
    methods: Sequence[Any],
    *,
    names: Sequence[str],
    clip: bool = False,
    weight: FloatArray | None = None,
) -> tuple[Scale, ...]:
    """The scale of each column of rows that were checked; a method may be points of a scale too.

    Examples
    --------
    >>> X = np.array([[2.0, 10.0], [4.0, 50.0]])
    >>> fit_scales(X, ["lower", "higher"], ["minmax", [(0, 0.0), (100, 1.0)]], names=["a", "b"])
    (<Scale of 2 points: 2 is 1, 4 is 0>, <Scale of 2 points: 0 is 0, 100 is 1>)
    """
    for method in dict.fromkeys(one for one in methods if isinstance(one, str)):
        check_option("method", method, METHODS)
    found = []
    together = [
        k for k, method in enumerate(methods) if isinstance(method, str) and method == "common"
    ]
    kept = X[:, together] if weight is None else X[weight > 0][:, together]
    span = np.array([kept.min(initial=np.inf), kept.max(initial=-np.inf)])
    for k, (direction, method, name) in enumerate(zip(directions, methods, names, strict=True)):
        if k in together and np.isfinite(span).all():
            found.append(_fitted(span, direction, "minmax", clip, None, name))
            continue
        if isinstance(method, str):
            found.append(_fitted(X[:, k], direction, method, clip, weight, name))
            continue
        scale = points_scale(method)
        if direction == "lower" and scale.direction != "lower":
            raise OptionError(
                f"{name!r} is to be lower, but its points say {scale.direction!r}; give one of them"
            )
        found.append(scale)
    return tuple(found)


def _fitted(
    column: FloatArray,
    direction: Direction,
    method: str,
    clip: bool,
    weight: FloatArray | None,
    name: str,
) -> Scale:
    weights = np.ones(len(column)) if weight is None else weight
    column, weights = column[weights > 0], weights[weights > 0]
    if not len(column):
        raise DataError("a scale needs one number or more")
    if isinstance(direction, str):
        points, values = _rising(column, method, weights, name)
        if direction == "lower":
            values = -values if method == "standard" else 1.0 - values
        return Scale(points, values, clip)
    peak = float(direction)
    if not np.isfinite(peak):
        raise OptionError(f"direction={direction!r}: a peak must be a finite number")
    # How far away from the peak a number is decides, less being better; the peak itself counts too.
    how = method if method == "quantiles" else "minmax"
    distances = np.append(np.abs(column - peak), 0.0)
    more = np.append(weights, weights.sum() / (_QUANTILES - 1))
    away, values = _rising(distances, how, more, name)
    values = 1.0 - values
    return Scale(
        np.concatenate([peak - away[:0:-1], peak + away]),
        np.concatenate([values[:0:-1], values]),
        clip,
    )


def _rising(
    column: FloatArray, method: str, weights: FloatArray, name: str
) -> tuple[FloatArray, FloatArray]:
    low, high = float(column.min()), float(column.max())
    unit = np.array([0.0, 1.0])
    if method == "none":
        return unit, unit
    constant = not _varies(low, high, name)
    if method == "standard":
        mean = low + float(np.average(column - low, weights=weights))
        deviation = float(np.sqrt(np.average((column - mean) ** 2, weights=weights)))
        return mean + (max(1.0, abs(low)) if constant else deviation) * _SIDES, _SIDES
    if constant:
        return np.array([low, low + max(1.0, abs(low))]), unit
    if method in ("minmax", "common"):
        return np.array([low, high]), unit
    order = np.argsort(column, kind="stable")
    total = np.cumsum(weights[order])
    levels = np.linspace(0.0, 1.0, _QUANTILES)
    # The least number that so large a share of the data does not exceed.
    places = np.searchsorted(total, levels * total[-1] * (1 - 1e-12))
    points, group = np.unique(column[order][places], return_inverse=True)
    # Numbers that occur often stand in the middle of their share of the data.
    values = np.bincount(group, levels) / np.bincount(group)
    return points, (values - values[0]) / (values[-1] - values[0])


def _varies(low: float, high: float, name: str) -> bool:
    """Whether numbers differ at all; raises if they do, but not enough to be told apart."""
    if low == high:
        return False
    spread, size = high / 2 - low / 2, max(abs(low), abs(high))  # halves, which cannot overflow
    if 2 * spread <= _FEW_DIGITS * size:
        raise DataError(
            f"{name} lies near {high:.3g} but its numbers differ by {2 * spread:.1g} only, which "
            "leaves too few digits: subtract a number from them, or leave it out"
        )
    if not _SMALLEST <= spread <= 1 / _SMALLEST:
        raise DataError(
            f"{name} has numbers from {low:.3g} to {high:.3g}, a range by which one cannot divide: "
            "scale them"
        )
    return True


def points_scale(points: Sequence[Sequence[float]], *, clip: bool = True) -> Scale:
    """A scale from pairs of a number in the data and where it stands between 0 and 1.

    Examples
    --------
    >>> points_scale([(10, 1.0), (20, 0.5), (50, 0.0)])([5, 15, 60])
    array([1.  , 0.75, 0.  ])
    """
    try:
        table = np.array(sorted((float(x), float(v)) for x, v in points))
    except (TypeError, ValueError) as error:
        raise OptionError(f"points must be pairs of numbers (data, scale): {error}") from None
    if len(table) < 2:
        raise OptionError(f"points={points!r}: a scale needs two pairs or more")
    if table[:, 1].min() < 0 or table[:, 1].max() > 1:
        raise OptionError(f"points={points!r}: the second of each pair must be between 0 and 1")
    return Scale(table[:, 0], table[:, 1], clip)
