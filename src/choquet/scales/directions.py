"""Directions: whether more of a column is better, less of it, or a number in between."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from choquet.arrays import FloatArray, as_vector
from choquet.errors import DataError, OptionError

DIRECTIONS = ("higher", "lower", "auto")
"""More is better; less is better; as the data say. A number is a peak: nearer to it is better."""

Direction: TypeAlias = Literal["higher", "lower"] | float

_NUMBERS = (int, float, np.number)
"""What a peak may be."""

_CLEAR = 3.0
"""Standard errors that a rank correlation must be below 0 for a column to be turned round."""


def ranks(x: npt.ArrayLike, weight: FloatArray | None = None) -> FloatArray:
    """Ranks from the least on, ties sharing their mean; a weight of 2 counts as two equal numbers.

    Examples
    --------
    >>> ranks([10.0, 30.0, 10.0])
    array([1. , 2.5, 1. ])
    """
    column = np.asarray(x)
    weights = np.ones(len(column)) if weight is None else weight
    _, group = np.unique(column, return_inverse=True)
    share = np.bincount(group, weights)
    return np.asarray((np.cumsum(share) - share / 2)[group], dtype=np.float64)


def rank_correlation(x: npt.ArrayLike, y: npt.ArrayLike, weight: FloatArray | None = None) -> float:
    """Spearman's rank correlation; 0 if either is constant.

    Examples
    --------
    >>> rank_correlation([1.0, 2.0, 9.0], [3.0, 2.0, 1.0])
    -1.0
    """
    return float(_correlations([as_vector(x, "x")], as_vector(y, "y"), weight)[0])


def _correlations(
    columns: Iterable[FloatArray], y: FloatArray, weight: FloatArray | None
) -> FloatArray:
    """The same of several columns with one target."""
    weights = np.ones(len(y)) if weight is None else weight
    if weights.sum() <= 0:
        return np.zeros(len(list(columns)))
    b, found = ranks(y, weights), []
    b = b - np.average(b, weights=weights)
    for column in columns:
        a = ranks(column, weights)
        a = a - np.average(a, weights=weights)
        size = float(np.sqrt((weights * a @ a) * (weights * b @ b)))
        found.append(float(weights * a @ b) / size if size > 0 else 0.0)
    return np.array(found)


def auto_directions(
    X: FloatArray, y: FloatArray, weight: FloatArray | None = None
) -> tuple[list[Direction], FloatArray]:
    """The direction of each column, and its rank correlation with the target.

    A column is "lower" where its rank correlation with the target is below 0 by more than three
    standard errors, 3 / √n; what is not clear stays "higher".

    Examples
    --------
    >>> X = np.column_stack([np.arange(20.0), -np.arange(20.0)])
    >>> auto_directions(X, np.arange(20.0))
    (['higher', 'lower'], array([ 1., -1.]))
    """
    found = _correlations(X.T, y, weight)
    n = len(X) if weight is None else float(weight.sum())
    # Of nine rows or fewer no correlation is clear.
    clear = _CLEAR / np.sqrt(max(n, 1.0))
    return ["lower" if r < -clear else "higher" for r in found], found


def choose_directions(
    given: Sequence[Any],
    X: FloatArray,
    y: Sequence[object] | npt.NDArray[np.generic] | None,
    weight: FloatArray | None = None,
) -> tuple[list[Direction], dict[int, float]]:
    """The direction of each column from what was asked, and the correlations "auto" went by.

    Examples
    --------
    >>> X = np.column_stack([np.arange(20.0), -np.arange(20.0)])
    >>> choose_directions(["lower", "auto"], X, np.arange(20.0))
    (['lower', 'lower'], {1: -1.0})
    """
    for one in given:
        known = one in DIRECTIONS if isinstance(one, str) else isinstance(one, _NUMBERS)
        if not known or isinstance(one, bool):
            raise OptionError(
                f"directions={one!r} is unknown; give {', '.join(DIRECTIONS)}, or the number "
                "that is best"
            )
    auto = [k for k, one in enumerate(given) if isinstance(one, str) and one == "auto"]
    if not auto:
        return list(given), {}
    if y is None:
        raise DataError(
            "directions='auto' needs the target: call fit(X, y), or give directions by column"
        )
    level = levels_of(y)
    if level is None or len(level) != len(X):
        level = np.zeros(len(X))  # classes without an order have no direction
    found, correlations = auto_directions(X, level, weight)
    chosen = [found[k] if k in auto else one for k, one in enumerate(given)]
    return chosen, {k: float(correlations[k]) for k in auto}


def direction_note(
    directions: Mapping[str, Direction], correlations: Mapping[str, float]
) -> str | None:
    """What "auto" chose, in a sentence or two; None if it turned nothing round.

    Examples
    --------
    >>> direction_note({"size": "higher", "price": "lower"}, {"size": 0.5, "price": -0.83})
    'Less is taken as better of price (rank correlation with the target -0.83).'
    """
    turned = [name for name in correlations if directions[name] == "lower"]
    if not turned:
        return None
    listed = ", ".join(
        f"{name} ({'rank correlation with the target ' if not k else ''}{correlations[name]:.2f})"
        for k, name in enumerate(turned)
    )
    return f"Less is taken as better of {listed}."


def levels_of(y: Sequence[object] | npt.NDArray[np.generic]) -> FloatArray | None:
    """Targets as numbers that have an order: numbers, or 0 and 1 for two classes; else None.

    Examples
    --------
    >>> levels_of(["no", "yes", "no"]), levels_of(["a", "b", "c"])
    (array([0., 1., 0.]), None)
    """
    array = np.asarray(y)
    if array.dtype.kind in "biuf":
        return array.astype(np.float64)
    classes, numbers = np.unique(array.astype(str), return_inverse=True)
    return numbers.astype(np.float64) if len(classes) <= 2 else None
