"""Rows, targets, weights and classes as the estimators accept them; errors are of `choquet.errors`.

scikit-learn checks shapes and names of columns. Masked arrays, dates and text it turns into numbers
without a word, which `choquet.arrays` refuses.
"""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Number
from typing import Any

import numpy as np

from choquet.arrays import FloatArray, as_inputs, as_vector, column_names
from choquet.errors import ChoquetError, DataError
from choquet.estimators.foundation import later, validate_data

_check_sample_weight = later("sklearn.utils.validation", "_check_sample_weight")
check_classification_targets = later("sklearn.utils.multiclass", "check_classification_targets")


class _KindError(DataError, TypeError):
    """Data of a kind that is no number, which scikit-learn wants to be a TypeError as well."""


def in_our_words(check: Any, *arguments: Any, **options: Any) -> Any:
    """Call a check of scikit-learn; what it refuses is a `DataError`."""
    try:
        return check(*arguments, **options)
    except ChoquetError:
        raise
    except TypeError as error:
        raise _KindError(str(error)) from None
    except ValueError as error:
        text = str(error)
        if "contains NaN" in text:  # scikit-learn goes on with estimators of its own
            way = ', or use missing="present"' if hasattr(arguments[0], "missing") else ""
            text = f"{text.splitlines()[0]} Fill missing values in, leave such rows out{way}."
        raise DataError(text) from None


def checked_inputs(
    estimator: Any, X: Any, *, dtype: Any = np.float64, gaps: bool = False, reset: bool = False
) -> Any:
    """Inputs alone, as in `predict`; with `gaps` some may be missing.

    With `reset` the estimator takes down how many columns there are, and their names.
    """
    finite: Any = "allow-nan" if gaps else True
    # Features of other estimators (dtype="numeric") are not the sources of the measure.
    names = names_given(estimator) if dtype is np.float64 and not reset else None
    plain = type(X) is np.ndarray and X.dtype == np.float64
    if names is not None and not plain and column_names(X) is not None:
        X = as_inputs(X, sources=names, finite=False)
    array = in_our_words(
        validate_data, estimator, X, dtype=dtype, reset=reset, ensure_all_finite=finite
    )
    if array is not X or not plain:
        as_inputs(X, array.shape[1], finite=False)
    return array


def names_given(estimator: Any) -> Sequence[str] | None:
    """Names of sources that scikit-learn does not know of: those given with sums or chunks."""
    held = vars(estimator)
    if "feature_names_in_" in held:
        return None  # scikit-learn compares these
    if "columns_" in held:
        names = [column.name for column in held["columns_"]]
    else:
        names = list(getattr(held.get("measure_"), "sources", ()))
    numbered = any(names == [f"x{i + k}" for i in range(len(names))] for k in (0, 1))
    return None if numbered else names


def checked_rows(
    estimator: Any,
    X: Any,
    y: Any,
    sample_weight: Any,
    *,
    reset: bool,
    gaps: bool = False,
    **checks: Any,
) -> tuple[FloatArray, FloatArray, FloatArray | None]:
    """Inputs, numbers to predict, and weights or None; with `gaps` inputs may be missing."""
    array, targets = in_our_words(
        validate_data,
        estimator,
        X,
        y,
        dtype=np.float64,
        y_numeric=True,
        reset=reset,
        ensure_all_finite="allow-nan" if gaps else True,
        **checks,
    )
    if array is not X or type(X) is not np.ndarray:
        as_inputs(X, array.shape[1], finite=False)
    given = y if hasattr(y, "ndim") else np.asarray(y)
    as_vector(np.ravel(given) if given.ndim == 2 else given, "y")  # a column is as good as a row
    return array, targets.astype(np.float64), checked_weights(sample_weight, array)


def checked_classes(
    estimator: Any, X: Any, y: Any, *, dtype: Any = np.float64, **checks: Any
) -> tuple[Any, Any]:
    """Inputs and labels of classes; dtype="numeric" leaves the inputs as they are."""
    array, labels = in_our_words(validate_data, estimator, X, y, dtype=dtype, **checks)
    as_inputs(X, array.shape[1], finite=False)
    return array, checked_labels(y, labels)


def checked_scores(scores: Any, n_sources: int | None = None, *, gaps: bool = False) -> FloatArray:
    """Scores of samples by classes by sources; with `gaps` some may be missing."""
    shape = np.shape(scores)
    if len(shape) != 3 or 0 in shape:
        raise DataError(
            f"scores must be an array (n_samples, n_classes, n_sources), not of shape {shape}; to "
            "fuse classifiers on features, pass estimators="
        )
    if n_sources is not None and shape[2] != n_sources:
        raise DataError(f"scores of {shape[2]} sources, learned {n_sources}")
    table = scores if isinstance(scores, np.ndarray) else np.asarray(scores)
    flat = as_inputs(table.reshape(-1, shape[2]), finite=not gaps)
    if np.isinf(flat).any():
        raise DataError("a score is infinite; NaN says that a source is silent")
    return flat.reshape(shape)


def checked_labels(given: Any, labels: Any) -> Any:
    """Labels of classes, none of them masked or a date."""
    if isinstance(given, np.ma.MaskedArray):
        raise DataError("y must be a plain array, not a masked one; fill or drop what is masked")
    if np.asarray(labels).dtype.kind in "Mm":
        raise DataError("y must be classes, not dates: turn them into text first")
    in_our_words(check_classification_targets, labels)
    return labels


def checked_weights(sample_weight: Any, X: FloatArray) -> FloatArray | None:
    """Weights of the rows, not negative; None stays None."""
    if sample_weight is None:
        return None
    if not isinstance(sample_weight, Number):
        as_vector(sample_weight, "sample_weight")
    return np.asarray(
        in_our_words(_check_sample_weight, sample_weight, X, ensure_non_negative=True)
    )


def classes_of(y: Any) -> Any:
    """The sorted classes among the targets: at least two."""
    classes = np.unique(y)
    if len(classes) < 2:
        only = f"{classes[0]}" if len(classes) else "none"
        raise DataError(
            f"all samples belong to one class ({only}): a classifier needs at least two classes"
        )
    return classes
