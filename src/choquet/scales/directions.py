"""Directions: whether more of a column is better, less of it, or a number in between."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from choquet.arrays import BoolArray, FloatArray, as_vector
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


class Pointing(NamedTuple):
    """Which way columns point, and why."""

    directions: list[Direction]
    correlations: FloatArray
    """Rank correlation of each column with the target."""
    beside: BoolArray
    """Whether a direction is another than the column has alone, because of the other columns."""


def auto_directions(
    X: FloatArray,
    y: FloatArray,
    weight: FloatArray | None = None,
    free: Sequence[int] | None = None,
) -> Pointing:
    """The direction of each column, from its rank correlation and from how columns do together.

    Alone, a column is "lower" where its rank correlation with the target is below 0 by more than
    three standard errors, 3 / √n; what is not clear stays "higher". Where a monotone model of all
    columns tells held-out rows clearly better with other directions, it has these; see
    `choquet.scales.beside`.

    Parameters
    ----------
    X, y : arrays of shape (n, N) and (n,)
    weight : array of shape (n,), optional
    free : sequence of ints, optional
        Columns whose direction is asked for; the others are "higher". By default all.

    Examples
    --------
    >>> X = np.column_stack([np.arange(20.0), -np.arange(20.0)])
    >>> auto_directions(X, np.arange(20.0)).directions
    ['higher', 'lower']
    """
    from choquet.scales.beside import directions_beside

    found = _correlations(X.T, y, weight)
    asked = np.isin(np.arange(X.shape[1]), np.arange(X.shape[1]) if free is None else free)
    n = len(X) if weight is None else float(weight.sum())
    # Of nine rows or fewer no correlation is clear.
    alone = np.where(asked & (found < -_CLEAR / np.sqrt(max(n, 1.0))), -1, 1)
    signs = directions_beside(X, y, alone, asked, weight)
    return Pointing(["lower" if s < 0 else "higher" for s in signs], found, signs != alone)


def choose_directions(
    given: Sequence[Any],
    X: FloatArray,
    y: Sequence[object] | npt.NDArray[np.generic] | None,
    weight: FloatArray | None = None,
    names: Sequence[str] | None = None,
) -> tuple[list[Direction], str | None]:
    """The direction of each column from what was asked, and what "auto" chose, in words.

    Examples
    --------
    >>> X = np.column_stack([np.arange(20.0), -np.arange(20.0)])
    >>> choose_directions(["higher", "auto"], X, np.arange(20.0), names=["size", "price"])
    (['higher', 'lower'], 'Less is taken as better of price (rank correlation with the target \
-1.00).')
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
        return list(given), None
    if y is None:
        raise DataError(
            "directions='auto' needs the target: call fit(X, y), or give directions by column"
        )
    level = levels_of(y)
    if level is None or len(level) != len(X):
        level = np.zeros(len(X))  # classes without an order have no direction
    turned = np.column_stack([_pointing(x, one) for x, one in zip(X.T, given, strict=True)])
    found = auto_directions(turned, level, weight, auto)
    chosen = [found.directions[k] if k in auto else one for k, one in enumerate(given)]
    labels = [f"x{k}" for k in range(len(chosen))] if names is None else list(names)
    return chosen, direction_note(found, [labels[k] for k in auto], auto)


def _pointing(x: FloatArray, direction: Any) -> FloatArray:
    """A column turned as its direction says; as it is where that is asked for."""
    if isinstance(direction, str):
        return -x if direction == "lower" else x
    return np.asarray(-np.abs(x - float(direction)))


def direction_note(
    found: Pointing, names: Sequence[str], columns: Sequence[int] | None = None
) -> str | None:
    """What "auto" chose, in a sentence or two; None if all columns are as they would be anyway.

    Parameters
    ----------
    found : Pointing
    names : sequence of str
        Of the columns that were asked for.
    columns : sequence of ints, optional
        Their places; by default all.

    Examples
    --------
    >>> found = Pointing(["higher", "lower"], np.array([0.5, -0.83]), np.array([False, False]))
    >>> direction_note(found, ["size", "price"])
    'Less is taken as better of price (rank correlation with the target -0.83).'
    >>> found = Pointing(["higher", "lower"], np.array([0.5, 0.1]), np.array([False, True]))
    >>> direction_note(found, ["size", "price"])
    'Less is taken as better of price, because beside the other columns that fits better (rank \
correlation with the target 0.10).'
    """
    alone: list[tuple[str, float]] = []
    turned: list[tuple[str, float]] = []
    kept: list[tuple[str, float]] = []
    for name, k in zip(names, range(len(names)) if columns is None else columns, strict=True):
        told = (name, found.correlations[k])
        if found.directions[k] == "lower":
            (turned if found.beside[k] else alone).append(told)
        elif found.beside[k]:
            kept.append(told)
    because = ", because beside the other columns that fits better"
    sentences = (("Less", alone, ""), ("Less", turned, because), ("More", kept, because))
    return " ".join(_sentence(*one) for one in sentences if one[1]) or None


def _sentence(what: str, told: Sequence[tuple[str, float]], because: str) -> str:
    size = "rank correlation with the target "
    if because:
        named, sizes = ", ".join(a for a, _ in told), ", ".join(f"{r:.2f}" for _, r in told)
        return f"{what} is taken as better of {named}{because} ({size}{sizes})."
    listed = ", ".join(f"{a} ({'' if k else size}{r:.2f})" for k, (a, r) in enumerate(told))
    return f"{what} is taken as better of {listed}."


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
