"""Models in Spark: a pandas function that scores the rows of a data frame where they are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from choquet.arrays import FloatArray
from choquet.errors import MissingDependencyError, OptionError, SourceError
from choquet.learning.data.spark import quoted_column
from choquet.scales import unwrapped


def prediction_udf(model: Any, *, label: Any = None) -> Any:
    """A function of Spark that scores rows: as many columns as the model has sources, in order.

    Parameters
    ----------
    model : measure, decomposition, or fitted estimator
        It travels to the workers, which need the same versions of choquet and NumPy.
    label : object, optional
        Of a classifier: the class whose probability is wanted; the second of two by default.

    Returns
    -------
    pandas_udf
        It gives numbers; null where a value is missing or infinite, unless the model has learned
        what to do without it.
    """
    try:
        import pandas
        from pyspark.sql.functions import pandas_udf
    except ImportError:
        raise MissingDependencyError("Spark needs pyspark: pip install 'choquet[spark]'") from None
    answer = _answer(model, label)

    def score(*columns: pandas.Series) -> pandas.Series:
        frame = pandas.DataFrame(dict(enumerate(columns)))
        return pandas.Series(answer(frame), dtype="float64")

    # Annotations are text here; Spark wants to see the types themselves.
    score.__annotations__ = {"columns": pandas.Series, "return": pandas.Series}
    return pandas_udf(score, returnType="double")


def predict_spark(
    model: Any,
    frame: Any,
    *,
    sources: Sequence[str] | None = None,
    column: str = "prediction",
    label: Any = None,
) -> Any:
    """A Spark data frame with the model's answers in one more column.

    Parameters
    ----------
    model : measure, decomposition, or fitted estimator
    frame : pyspark.sql.DataFrame
    sources : sequence of str, optional
        Columns that the model takes, in its order; by default those that it was fitted to.
    column : str, default "prediction"
        Name of the column that is added.
    label : object, optional
        As in `prediction_udf`.

    Returns
    -------
    pyspark.sql.DataFrame
        Nothing is computed before Spark is asked for rows.

    Raises
    ------
    SourceError
        If the model has no names of columns and none are given, or a column is not there.
    """
    udf = prediction_udf(model, label=label)
    names = _names(model) if sources is None else tuple(sources)
    if names is None:
        raise SourceError("the model was fitted without names of columns; give sources=")
    lacking = [name for name in names if name not in frame.columns]
    if lacking:
        raise SourceError(
            f"the frame has no column {lacking[0]!r}; it has {', '.join(frame.columns)}"
        )
    return frame.withColumn(column, udf(*(quoted_column(name) for name in names)))


def _names(model: Any) -> tuple[str, ...] | None:
    inner, _, names, _ = unwrapped(model)
    own = getattr(inner, "feature_names_in_", None)
    found = names or getattr(inner, "sources", None) or own
    if found is None:
        found = getattr(getattr(inner, "measure_", None), "sources", None)
    return None if found is None else tuple(map(str, found))


def _answer(model: Any, label: Any) -> Callable[[Any], FloatArray]:
    """From a frame of columns in order to numbers, NaN where there is no answer."""
    inner = unwrapped(model).model
    names = getattr(model, "feature_names_in_", None)
    tags = getattr(inner, "__sklearn_tags__", None)
    learned = tags is not None and bool(tags().input_tags.allow_nan)  # what to do without a value
    place = _place(model, label)

    def answer(frame: Any) -> FloatArray:
        if names is not None:
            frame = frame.set_axis(list(names), axis=1)
        if learned:
            return _predicted(model, frame, place)
        numbers = frame.to_numpy(dtype=np.float64, na_value=np.nan)
        whole = np.isfinite(numbers).all(axis=1)
        out = np.full(len(frame), np.nan)
        if whole.any():
            rows = numbers[whole] if names is None else frame[whole]
            out[whole] = _predicted(model, rows, place)
        return out

    return answer


def _predicted(model: Any, rows: Any, place: int | None) -> FloatArray:
    if place is not None:
        return np.asarray(model.predict_proba(rows), dtype=np.float64)[:, place]
    if hasattr(model, "integral"):
        return np.asarray(model.integral(rows), dtype=np.float64)
    return np.asarray(model.predict(rows), dtype=np.float64)


def _place(model: Any, label: Any) -> int | None:
    """Number of the class whose probability is wanted; None for numbers."""
    classes = getattr(model, "classes_", None)
    if classes is None:
        return None
    from choquet.decomposition.outcome import place_of

    if label is None and len(classes) == 2:
        return 1
    place = None if label is None else place_of(label, tuple(classes.tolist()))
    if place is None:
        known = ", ".join(map(repr, classes.tolist()))
        raise OptionError(f"label={label!r} names no class; say which of {known} you want")
    return place
