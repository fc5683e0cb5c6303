"""Arrays and options as the library accepts them: where bad input becomes a clear error."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from choquet.errors import DataError, OptionError

__all__ = [
    "BoolArray",
    "FloatArray",
    "IntArray",
    "as_inputs",
    "as_number",
    "as_vector",
    "check_option",
    "generator",
]

FloatArray: TypeAlias = npt.NDArray[np.float64]
IntArray: TypeAlias = npt.NDArray[np.int64]
BoolArray: TypeAlias = npt.NDArray[np.bool_]


def as_inputs(X: npt.ArrayLike, n_sources: int | None = None, *, finite: bool = True) -> FloatArray:
    """Samples by sources as a C-contiguous float64 array.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_sources) or (n_sources,)
        Inputs; a single sample may be given as one row.
    n_sources : int, optional
        The number of columns to insist on.
    finite : bool, default True
        Refuse NaN and infinities here; kernels that check by themselves switch it off.

    Raises
    ------
    DataError
        For anything but numbers, another number of columns, or values that are not finite.

    Examples
    --------
    >>> as_inputs([0.2, 0.7]).shape
    (1, 2)
    """
    try:
        array = np.ascontiguousarray(X, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(f"inputs must be numbers: {error}") from None
    if np.ndim(X) == 1:
        array = array.reshape(1, -1)
    if array.ndim != 2:
        raise DataError(f"inputs must be samples by sources, not an array of shape {np.shape(X)}")
    if n_sources is not None and array.shape[1] != n_sources:
        raise DataError(f"inputs have {array.shape[1]} columns, but there are {n_sources} sources")
    if finite:
        refuse_nonfinite(array)
    return array


def refuse_nonfinite(array: FloatArray) -> None:
    """Raise `DataError` naming the first value of a samples-by-sources array that is not finite."""
    if not np.isfinite(array).all():
        row, column = (int(k) for k in np.argwhere(~np.isfinite(array))[0])
        raise DataError(
            f"inputs must be finite: row {row}, column {column} holds {array[row, column]}; "
            "drop or impute such rows first"
        )


def as_vector(values: npt.ArrayLike, name: str, length: int | None = None) -> FloatArray:
    """One-dimensional finite float64 array, named in the error messages.

    Examples
    --------
    >>> as_vector([1, 2], "weights")
    array([1., 2.])
    """
    try:
        array = np.array(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(f"{name} must be numbers: {error}") from None
    if array.ndim != 1:
        raise DataError(f"{name} must be one-dimensional, not of shape {array.shape}")
    if length is not None and len(array) != length:
        raise DataError(f"{name} must hold {length} values, not {len(array)}")
    if not np.isfinite(array).all():
        where = int(np.flatnonzero(~np.isfinite(array))[0])
        raise DataError(f"{name} must be finite, but position {where} holds {array[where]}")
    return array


def as_number(text: str) -> float:
    """The number that a text spells, as people and tables write numbers: 1_0 is not 10.

    Raises
    ------
    ValueError
        If it is none.

    Examples
    --------
    >>> as_number(" -2.5e3 ")
    -2500.0
    >>> as_number("1_0")
    Traceback (most recent call last):
    ...
    ValueError: '1_0' is not a number
    """
    # Python's own notation has underscores between digits; nobody else's has.
    if "_" in text:
        raise ValueError(f"{text!r} is not a number")
    return float(text)


def check_option(name: str, value: object, known: Iterable[str]) -> str:
    """Return `value` if it is one of `known`, or raise an `OptionError` that lists them.

    Examples
    --------
    >>> check_option("metric", "l2", ["l1", "l2"])
    'l2'
    """
    options = list(known)
    if not isinstance(value, str) or value not in options:
        raise OptionError(f"{name}={value!r} is unknown; choose one of {', '.join(options)}")
    return value


def generator(rng: Any) -> np.random.Generator:
    """NumPy generator from a seed, a generator, or None (fresh entropy).

    Examples
    --------
    >>> generator(0).integers(10) == generator(0).integers(10)
    np.True_
    """
    if isinstance(rng, np.random.RandomState):
        return np.random.default_rng(rng.randint(2**31, size=4))
    return np.random.default_rng(rng)
