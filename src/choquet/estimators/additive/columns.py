"""Columns of a table as the additive models take them: numbers, with levels counted from zero."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from typing import Any

import numpy as np

from choquet.additive.axes import Source
from choquet.arrays import BoolArray, FloatArray, real_numbers
from choquet.errors import DataError, OptionError, SourceError

_WORDS = ("category", "categorical", "enum", "object", "str", "utf8")


def by_column(option: str, given: Any, names: Sequence[str]) -> dict[int, Any]:
    """An option by name or position as a dictionary by position.

    Parameters
    ----------
    option : str
        Its name, for the error messages.
    given : None, mapping by name or position, or sequence with a value for each column
    names : sequence of str

    Examples
    --------
    >>> by_column("monotonic_cst", {"b": 1}, ["a", "b"]), by_column("monotonic_cst", [0, 1], "ab")
    ({1: 1}, {0: 0, 1: 1})
    """
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        values = list(given)
        if len(values) != len(names):
            raise OptionError(
                f"{option} has {len(values)} values for {len(names)} columns; give one for each, "
                "or a dictionary by name"
            )
        return dict(enumerate(values))
    found: dict[int, Any] = {}
    for key, value in given.items():
        i = position_of(option, key, names)
        if i in found and found[i] != value:
            raise OptionError(f"{option} says both {found[i]!r} and {value!r} of {names[i]}")
        found[i] = value
    return found


def position_of(option: str, key: Any, names: Sequence[str]) -> int:
    """Position of a column that is given by name or position."""
    if isinstance(key, int | np.integer) and key is not True and key is not False:
        if 0 <= key < len(names):
            return int(key)
    elif key in list(names):
        return list(names).index(key)
    shown = ", ".join(list(names)[:12]) + (", ..." if len(names) > 12 else "")
    raise SourceError(f"{option} names {key!r}, but the columns are {shown}")


def columns_of(X: Any, names: Sequence[str], categories: Any) -> tuple[Source, ...]:
    """What each column holds, by the types of a frame and by what was said of it.

    Parameters
    ----------
    X : array or frame
    names : sequence of str
    categories : "from_dtype", or mapping by name or position
        ``"nominal"``, ``"number"``, or the levels of an ordered category from low to high.
    """
    twice = sorted({str(name) for name in names if list(names).count(name) > 1})
    if twice:
        raise DataError(
            f"several columns are called {', '.join(twice)}; give each column a name of its own"
        )
    said = {} if isinstance(categories, str) else by_column("categories", categories, names)
    if isinstance(categories, str) and categories != "from_dtype":
        raise OptionError(
            f"categories={categories!r} is unknown; say 'from_dtype', or give a dictionary"
        )
    return tuple(_source(X, i, str(name), said.get(i)) for i, name in enumerate(names))


def _source(X: Any, i: int, name: str, said: Any) -> Source:
    if said is not None and not isinstance(said, str):
        levels = tuple(said)
        if len(set(levels)) != len(levels) or not levels:
            raise OptionError(f"categories of {name} must be different levels, not {levels}")
        return Source(name, "ordered", levels)
    if said not in (None, "nominal", "number"):
        raise OptionError(
            f"categories of {name} are {said!r}; say 'nominal', 'number', or list the levels"
        )
    if said == "number" or (said is None and not _is_frame(X)):
        return Source(name)
    column = _column(X, i)
    kind = str(column.dtype).lower()
    if said is None and not kind.startswith(_WORDS):
        return Source(name)
    declared = getattr(getattr(column, "cat", None), "categories", None)
    if declared is not None and kind == "category":
        ordered = bool(column.cat.ordered) and said is None
        return Source(name, "ordered" if ordered else "nominal", tuple(declared))
    found = {value for value in column.tolist() if not _absent(value)}
    if said is None and any(isinstance(value, date | timedelta) for value in found):
        return Source(name)  # dates are no categories unless they are said to be: they are refused
    try:
        levels = tuple(sorted(found))
    except TypeError:
        levels = tuple(sorted(found, key=str))
    if said is None and levels and all(isinstance(v, int | float) for v in levels):
        return Source(name)
    return Source(name, "nominal", tuple(map(_short, levels)))


def _short(level: Any) -> Any:
    """A whole number as such: 1 and not 1.0. Both are the same level."""
    return int(level) if isinstance(level, float) and level.is_integer() else level


def _is_frame(X: Any) -> bool:
    return hasattr(X, "columns") and hasattr(X, "dtypes")


def _column(X: Any, i: int) -> Any:
    return X[X.columns[i]] if _is_frame(X) else np.asarray(X)[:, i]


def _absent(value: Any) -> bool:
    # pandas.NA is neither equal to itself nor not.
    return value is None or str(value) == "<NA>" or value != value


def encode(X: Any, sources: Sequence[Source]) -> Any:
    """The columns as numbers, where any holds categories; otherwise what was given.

    An unordered level that was never seen becomes -1; a missing or unknown ordered one, NaN.

    Examples
    --------
    >>> source = Source("colour", "nominal", ("blue", "red"))
    >>> encode(np.array([["red"], ["green"]], dtype=object), [source])
    array([[ 1.],
           [-1.]])
    """
    if all(source.kind == "number" for source in sources) and not _is_frame(X):
        return X
    if not hasattr(X, "shape") or len(X.shape) != 2 or X.shape[1] != len(sources):
        return X
    return np.column_stack([_numbers(_column(X, i), source) for i, source in enumerate(sources)])


def unseen(X: Any, sources: Sequence[Source]) -> BoolArray:
    """Which cells hold a category that was never seen, row by row.

    Examples
    --------
    >>> source = Source("colour", "nominal", ("blue", "red"))
    >>> unseen(np.array([["red"], ["green"], [None]], dtype=object), [source]).ravel()
    array([False,  True, False])
    """
    rows = X if hasattr(X, "shape") else np.asarray(X, dtype=object)
    found = np.zeros((len(rows), len(sources)), dtype=bool)
    for i, source in enumerate(sources):
        if source.kind != "number":
            column, known = _column(rows, i), set(source.levels)
            values = column.tolist() if hasattr(column, "tolist") else column.to_list()
            found[:, i] = [not _absent(value) and value not in known for value in values]
    return found


def indicators(rows: FloatArray, sources: Sequence[Source]) -> tuple[FloatArray, list[str]]:
    """Numbers that linear models take, and their names: one column for each level without an order.

    Parameters
    ----------
    rows : array of shape (n_samples, n_sources)
        As `encode` gives them.
    sources : sequence of Source

    Examples
    --------
    >>> source = Source("colour", "nominal", ("blue", "red"))
    >>> indicators(np.array([[1.0], [-1.0]]), [source])
    (array([[0., 1.],
           [0., 0.]]), ['colour is blue', 'colour is red'])
    """
    columns, names = [], []
    for source, column in zip(sources, rows.T, strict=True):
        if source.kind == "nominal":
            columns += [(column == k).astype(np.float64) for k in range(len(source.levels))]
            names += [f"{source.name} is {level}" for level in source.levels]
        else:
            columns.append(column)
            names.append(source.name)
    return np.column_stack(columns), names


def _numbers(column: Any, source: Source) -> FloatArray:
    values = column.tolist() if hasattr(column, "tolist") else column.to_list()
    if source.kind == "number":
        # A date that is not there is no number that is not there: it goes on, and is refused.
        known = [None if _absent(v) and str(v) != "NaT" else v for v in values]
        return real_numbers(known, f"column {source.name!r}")
    code = {level: float(k) for k, level in enumerate(source.levels)}
    unknown = -1.0 if source.kind == "nominal" else np.nan
    return np.array([np.nan if _absent(v) else code.get(v, unknown) for v in values])
