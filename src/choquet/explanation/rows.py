"""Samples as people hand them over: arrays by position, tables by the names of their columns."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from choquet.arrays import FloatArray, as_inputs
from choquet.errors import ChoquetWarning, DataError
from choquet.explanation.phrases import list_words

__all__ = ["named_inputs"]

_NAMED = 10
"""Columns that a message names."""


def named_inputs(X: Any, sources: Sequence[str]) -> FloatArray:
    """Samples by sources, in the order of the sources.

    Parameters
    ----------
    X : array-like, data frame, table, series or mapping
        What has names (pandas, polars, Arrow; a row of a frame; a dict) is taken by them, whatever
        its order; a column that is no source is left out, with a warning. All else, and frames
        whose columns are but numbered, is taken by position.
    sources : sequence of str
        Names of the columns to take.

    Raises
    ------
    DataError
        If a source has no column.

    Examples
    --------
    >>> named_inputs({"emi": 0.2, "gpr": 0.9, "ir": 0.4}, ["gpr", "ir", "emi"])
    array([[0.9, 0.4, 0.2]])
    """
    names = _names(X)
    if names is None:
        return as_inputs(X, len(sources))
    missing = [source for source in sources if source not in names]
    if missing:
        raise DataError(
            f"the data have no column {_listed(missing)}; they have {_listed(names)}: rename "
            "columns to the sources of the model, or pass an array in their order"
        )
    extra = [name for name in names if name not in set(sources)]
    if extra:
        plural = "columns" if len(extra) > 1 else "column"
        warnings.warn(
            f"{plural} {_listed(extra)} left out: no source of the model",
            ChoquetWarning,
            stacklevel=3,
        )
    try:
        columns = [np.asarray(X[name], dtype=np.float64) for name in sources]
    except (TypeError, ValueError) as error:
        raise DataError(f"inputs must be numbers: {error}") from None
    if len({column.shape for column in columns}) > 1 or columns[0].ndim > 1:
        raise DataError("the columns of the data differ in length, or two have the same name")
    return as_inputs(np.stack(columns, axis=-1), len(sources))


def _names(X: Any) -> list[str] | None:
    """Names of the columns; None for what has none but numbers."""
    if isinstance(X, Mapping):
        found = list(X)
    elif hasattr(X, "column_names"):  # Arrow, whose .columns are the columns themselves
        found = list(X.column_names)
    elif hasattr(X, "columns"):
        found = list(X.columns)
    elif hasattr(X, "index") and not callable(X.index):  # a row of a frame
        found = list(X.index)
    else:
        return None
    return found if found and all(isinstance(name, str) for name in found) else None


def _listed(names: Sequence[str]) -> str:
    shown = [repr(name) for name in names[:_NAMED]]
    more = len(names) - _NAMED
    return ", ".join(shown) + f" and {more} more" if more > 0 else list_words(shown)
