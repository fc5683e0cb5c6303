"""Arrays and options as the library accepts them: where bad input becomes a clear error."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from decimal import Decimal
from itertools import pairwise
from numbers import Real
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from choquet.errors import ChoquetWarning, DataError, OptionError

__all__ = [
    "BoolArray",
    "FloatArray",
    "IntArray",
    "as_inputs",
    "as_number",
    "as_vector",
    "cells_of",
    "check_option",
    "column_names",
    "generator",
    "real_numbers",
    "refuse_labels",
]

FloatArray: TypeAlias = npt.NDArray[np.float64]
IntArray: TypeAlias = npt.NDArray[np.int64]
BoolArray: TypeAlias = npt.NDArray[np.bool_]


def as_inputs(
    X: Any,
    n_sources: int | None = None,
    *,
    sources: Sequence[str] | None = None,
    finite: bool = True,
) -> FloatArray:
    """Samples by sources as a C-contiguous float64 array: the one place where inputs are checked.

    Parameters
    ----------
    X : array-like, data frame, table, series or mapping
        Samples by sources; a single sample may be given as one row. What has names (pandas, polars,
        Arrow; a row of a frame; a dict) is taken by them if `sources` are given, whatever the
        order of its columns. Everything else is taken by position; columns that have numbers or
        dates for names must be in their order then.
    n_sources : int, optional
        The number of columns that X must have.
    sources : sequence of str, optional
        The names of the columns to take, in this order.
    finite : bool, default True
        Refuse NaN and infinities here; kernels that check by themselves switch it off.

    Raises
    ------
    DataError
        For anything but real numbers, another number of columns, a source without a column, or
        values that are not finite.

    Examples
    --------
    >>> as_inputs([0.2, 0.7]).shape
    (1, 2)
    >>> as_inputs({"emi": 0.2, "gpr": 0.9}, sources=["gpr", "emi"])
    array([[0.9, 0.2]])
    """
    if sources is not None:
        n_sources = len(sources)
        names = column_names(X)
        if names is not None:
            found = _columns(X, names, sources)
            X = _stacked([real_numbers(column, f"column {name!r}") for name, column in found])
    if n_sources is not None:
        refuse_labels(X)
    array = real_numbers(X, "inputs")
    if array.ndim == 1:
        array = array.reshape(1, -1)
    if array.ndim != 2:
        raise DataError(f"inputs must be samples by sources, not an array of shape {array.shape}")
    if n_sources is not None and array.shape[1] != n_sources:
        raise DataError(f"inputs have {array.shape[1]} columns, but there are {n_sources} sources")
    if finite:
        refuse_nonfinite(array)
    return array


def column_names(X: Any) -> list[str] | None:
    """Names of the columns of a frame, table, series or mapping; None for what has none.

    Columns that are numbered only, as those of a frame made from an array, are no names.

    Examples
    --------
    >>> column_names({"ir": 0.3}), column_names([0.3])
    (['ir'], None)
    """
    found = _labels(X)
    return found if found and all(isinstance(name, str) for name in found) else None


def _labels(X: Any) -> list[Any] | None:
    """What the columns are called, by text or not; None for what has no such thing."""
    if isinstance(X, np.ndarray | list | tuple) or hasattr(X, "tocsr"):  # some sparse are mappings
        return None
    if hasattr(X, "collect"):
        raise DataError(f"a {type(X).__name__} holds no rows yet: call its collect() first")
    if isinstance(X, Mapping):
        return list(X)
    if hasattr(X, "column_names"):  # Arrow, whose .columns are the columns themselves
        return list(X.column_names)
    if hasattr(X, "columns"):
        return list(X.columns)
    if hasattr(X, "index") and not callable(X.index):  # a row of a frame
        return list(X.index)
    return None


def refuse_labels(X: Any) -> None:
    """Raise `DataError` for columns that are to be taken by position, but are called otherwise.

    Numbers and dates say a position if they ascend. Other labels that are no text, as those of
    several levels, and columns out of order could be anything.

    Examples
    --------
    >>> import pandas as pd
    >>> refuse_labels(pd.DataFrame([[0.1, 0.2]], columns=[1, 0]))
    Traceback (most recent call last):
    ...
    choquet.errors.DataError: the columns are called 1, 0, which are neither names nor in order: ...
    """
    found = _labels(X)
    if not found or all(isinstance(name, str) for name in found):
        return
    plain = all(isinstance(name, Real | np.datetime64 | date) for name in found)
    try:
        ordered = plain and all(a < b for a, b in pairwise(found))
    except TypeError:  # numbers beside dates
        ordered = False
    if not ordered:
        raise DataError(
            f"the columns are called {_listed(found)}, which are neither names nor in order: "
            "rename them to the sources, or pass an array with its columns in the order of the "
            "sources"
        )


def cells_of(X: Any, sources: Sequence[str]) -> npt.NDArray[Any]:
    """Cells by row and source, as they are: for columns that may hold text. Frames go by name.

    Examples
    --------
    >>> cells_of({"size": [2.0, 3.0], "colour": ["red", "blue"]}, ["colour", "size"]).tolist()
    [['red', 2.0], ['blue', 3.0]]
    """
    names = column_names(X)
    if names is None:
        refuse_labels(X)
        if isinstance(X, np.ma.MaskedArray):
            raise _masked("inputs")
        array = np.asarray(X)
    else:
        columns = [_cells(column) for _, column in _columns(X, names, sources)]
        alike = len({column.dtype for column in columns}) == 1
        array = _stacked([one if alike else one.astype(object) for one in columns])
    array = array[None] if array.ndim == 1 else array
    if array.ndim != 2 or array.shape[1] != len(sources):
        raise DataError(f"inputs of shape {array.shape}, but there are {len(sources)} sources")
    return array


def _cells(column: Any) -> npt.NDArray[Any]:
    array = np.asarray(column)
    if array.dtype.kind not in "mM":
        return array
    # As objects, NumPy's dates become whole numbers or None.
    cells = np.empty(len(array), dtype=object)
    cells[:] = list(column)
    return cells


def _columns(X: Any, names: list[str], sources: Sequence[str]) -> list[tuple[str, Any]]:
    """Columns of `X` with their names, in the order of the sources."""
    missing = [source for source in sources if source not in names]
    if missing:
        raise DataError(
            f"the data have no column {_listed(missing)}; they have {_listed(names)}: rename the "
            "columns to the sources, or pass an array with its columns in the order of the sources "
            f"({_listed(sources)})"
        )
    repeated = [source for source in sources if names.count(source) > 1]
    if repeated:
        raise DataError(f"two columns of the data are called {_listed(repeated[:1])}")
    extra = [name for name in names if name not in set(sources)]
    if extra:
        plural = "columns" if len(extra) > 1 else "column"
        warnings.warn(
            f"{plural} {_listed(extra)} left out: not a source", ChoquetWarning, stacklevel=5
        )
    return [(name, X[name]) for name in sources]


def _stacked(columns: list[npt.NDArray[Any]]) -> npt.NDArray[Any]:
    if len({column.shape for column in columns}) > 1:
        raise DataError("the columns of the data differ in length")
    return np.stack(columns, axis=-1)


def _listed(names: Sequence[Any], most: int = 10) -> str:
    shown = ", ".join(repr(name) for name in names[:most])
    return shown + (f" and {len(names) - most} more" if len(names) > most else "")


_NOT_NUMBERS = {
    "c": "complex numbers", "M": "dates", "m": "time differences", "U": "text", "S": "text",
    "V": "records",
}  # fmt: skip


def _masked(name: str) -> DataError:
    return DataError(
        f"{name} must be a plain array, not a masked one, whose masked values would be used; "
        "fill or drop them first"
    )


def real_numbers(values: Any, name: str) -> FloatArray:
    """Float64 array of what holds real numbers, or an error that says what it holds instead.

    Examples
    --------
    >>> real_numbers([1, None], "price")
    array([ 1., nan])
    >>> real_numbers(["1"], "price")
    Traceback (most recent call last):
    ...
    choquet.errors.DataError: price must be numbers, not text
    """
    if type(values) is np.ndarray and values.dtype == np.float64:
        return np.ascontiguousarray(values)
    if isinstance(values, np.ma.MaskedArray):
        raise _masked(name)
    try:
        array = np.asarray(values)
        if array.dtype.kind == "O" and array.size:
            # Text, dates and complex numbers may hide among objects, and some become floats.
            odd = next((one for one in array.ravel() if not _is_real(one)), None)
            if odd is not None:
                raise DataError(f"{name} must be numbers, not {odd!r} ({type(odd).__name__})")
        if array.dtype.kind in _NOT_NUMBERS:
            raise DataError(f"{name} must be numbers, not {_NOT_NUMBERS[array.dtype.kind]}")
        return np.ascontiguousarray(array, dtype=np.float64).reshape(array.shape)
    except (TypeError, ValueError, OverflowError) as error:
        if isinstance(error, DataError):
            raise
        raise DataError(f"{name} must be numbers: {error}") from None


def _is_real(value: object) -> bool:
    real = isinstance(value, Real | Decimal | np.bool_) or value is None
    return real and not isinstance(value, np.timedelta64)


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
    array = np.array(real_numbers(values, name))
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
