"""Additive models of data that arrive in chunks: the same as of all rows at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from choquet.additive.axes import Source
from choquet.additive.table import Block, Chunks, Span, Table, added
from choquet.arrays import FloatArray, as_vector, column_names
from choquet.errors import DataError, OptionError, SourceError
from choquet.estimators.additive.classifier import ChoquetAdditiveClassifier
from choquet.estimators.additive.regressor import Additive
from choquet.learning.data.chunks import Order
from choquet.learning.data.scale import check_ranges


def fit_additive_chunks(
    estimator: Additive,
    chunks: Callable[[], Iterable[Any]] | Iterable[Any],
    *,
    sources: Sequence[str] | None = None,
) -> Any:
    """Fit an additive model to chunks that are read again for each pass.

    Parameters
    ----------
    estimator : ChoquetAdditiveRegressor or ChoquetAdditiveClassifier
        With numbers only: categories are given as numbers, with ``categories=`` by position.
    chunks : callable, or iterable that can be gone through again
        (X, y) or (X, y, weight) each; a list, the row groups of `parquet_chunks`, or a function
        that opens the data anew. A generator can be gone through only once, and is refused.
    sources : sequence of str, optional
        Names of the columns.

    Returns
    -------
    The estimator, fitted: the same as `fit` on all rows, up to rounding.

    Notes
    -----
    The data are gone through about five times for the knots, and then a few times a round. Rows
    that choose the link (at most about four thousand) are kept in memory, and nothing else is.

    Examples
    --------
    >>> import numpy as np
    >>> from choquet import ChoquetAdditiveRegressor
    >>> X = np.random.default_rng(0).random((200, 2))
    >>> parts = [(X[:90], X[:90, 0]), (X[90:], X[90:, 0])]
    >>> model = fit_additive_chunks(ChoquetAdditiveRegressor(), parts)
    >>> whole = ChoquetAdditiveRegressor().fit(X, X[:, 0])
    >>> bool(abs(model.predict(X) - whole.predict(X)).max() < 1e-8)
    True
    """
    if isinstance(chunks, Iterator):
        raise OptionError(
            "chunks can be gone through only once, but a fit needs several passes: give a list, "
            "parquet_chunks(...), or a function that opens the data anew"
        )
    read = chunks if callable(chunks) else lambda: chunks
    order = Order(sources)
    table = Chunks(lambda: _checked(read(), order))
    if next(table.blocks(), None) is None:
        raise DataError("nothing to learn from: no chunk has a row of positive weight")
    return _fit(estimator, table, order)


def fit_additive_dask(
    estimator: Additive, X: Any, y: Any, *, sources: Sequence[str] | None = None
) -> Any:
    """Fit an additive model to a Dask array or data frame, a partition at a time.

    Parameters
    ----------
    estimator : ChoquetAdditiveRegressor or ChoquetAdditiveClassifier
    X : dask array of shape (n_samples, n_sources), or dask data frame
    y : dask array of shape (n_samples,), or dask series, in the same partitions
    sources : sequence of str, optional
        Names of the columns; by default those of the frame.

    Returns
    -------
    The estimator, fitted. Partitions are summed where they are; only sums move.
    """
    order = Order(column_names(X) if sources is None else sources)
    return _fit(estimator, _Partitions(X, y, order), order)


class _Partitions(Table):
    """Partitions of a Dask collection; each pass is one task graph."""

    def __init__(self, X: Any, y: Any, order: Order) -> None:
        self._order = order
        self._X, self._y = (np.ravel(part.to_delayed()).tolist() for part in (X, y))
        if len(self._X) != len(self._y):
            raise DataError(
                f"X and y have {len(self._X)} and {len(self._y)} partitions: rechunk them alike"
            )

    def total(self, function: Callable[[Block], tuple[Any, ...]]) -> tuple[Any, ...]:
        """Sum over partitions, eight at a time."""
        import dask

        order = self._order

        def one(X: Any, y: Any) -> tuple[Any, ...]:
            return Chunks(lambda: _checked([(X, y)], order)).total(function)

        parts = [dask.delayed(one)(X, y) for X, y in zip(self._X, self._y, strict=True)]
        while len(parts) > 1:
            parts = [dask.delayed(added)(parts[k : k + 8]) for k in range(0, len(parts), 8)]
        (found,) = dask.compute(parts[0])
        return tuple(found)


def _checked(
    chunks: Iterable[Any], order: Order
) -> Iterator[tuple[FloatArray, FloatArray, FloatArray]]:
    """Chunks as arrays, with the number of the one that is wrong."""
    width = None
    for number, chunk in enumerate(chunks):
        if len(chunk) not in (2, 3):
            raise DataError(f"chunk {number} must be (X, y) or (X, y, weight), not {len(chunk)}")
        try:
            X = order.rows(chunk[0], width, finite=False)
            if np.isinf(X).any():
                raise DataError("inputs must not be infinite")
            y = as_vector(chunk[1], "y", len(X))
            weight = as_vector(chunk[2], "weight", len(X)) if len(chunk) == 3 else np.ones(len(X))
            if (weight < 0).any():
                raise DataError("weights must not be negative")
        except DataError as error:
            raise DataError(f"chunk {number}: {error}") from None
        width = X.shape[1]
        kept = weight > 0
        if kept.any():
            yield X[kept], y[kept], weight[kept]


def _fit(estimator: Additive, table: Table, order: Order) -> Any:
    def look(block: Block) -> tuple[Any, ...]:
        X, y, w = block.X, block.y, block.weight
        ends = Span(X.T), Span(y[None]), Span(w[None])
        return len(y), _Columns(X.shape[1]), _Classes(np.unique(y)), *ends

    n_rows, columns, classes, inputs, target, weights = table.total(look)
    classify = isinstance(estimator, ChoquetAdditiveClassifier)
    numbers = [inputs] if classify else [inputs, target]
    low, high = (np.concatenate([getattr(one, end) for one in numbers]) for end in ("low", "high"))
    check_ranges(low, high, columns.n, float(weights.high[0]))
    weight, total = table.total(lambda block: (block.weight.sum(), block.weight @ block.y))
    names = [f"x{i}" for i in range(columns.n)] if order.sources is None else list(order.sources)
    if len(names) != columns.n:
        raise SourceError(f"{len(names)} names were given for {columns.n} columns")
    estimator.n_features_in_ = columns.n
    estimator.__dict__.pop("feature_names_in_", None)
    estimator.columns_ = _columns(estimator, names, table)
    factor = max(1.0, n_rows / weight)
    if classify:
        if len(classes.values) < 2:
            raise DataError("all rows belong to one class: a classifier needs at least two")
        if len(classes.values) > _MOST_CLASSES:
            raise DataError(
                f"the chunks have more than {_MOST_CLASSES:,} classes; if they are numbers, learn "
                "them with ChoquetAdditiveRegressor"
            )
        estimator.classes_ = estimator._ordered_classes(classes.values)
        place = estimator.classes_
        ranks = np.argsort(place)
        coded = _Recoded(table, lambda y: ranks[np.searchsorted(place[ranks], y)] * 1.0, factor)
        return estimator._learn_table(coded)
    centre = float(total / weight)
    (square,) = table.total(lambda block: (block.weight @ (block.y - centre) ** 2,))
    scale = float(np.sqrt(square / weight))
    if scale <= 1e-14 * max(abs(centre), 1e-300):
        scale = 1.0
    return estimator._learn_table(
        _Recoded(table, lambda y: (y - centre) / scale, factor), centre, scale
    )


class _Recoded(Table):
    """A table whose targets are changed as they are read."""

    def __init__(self, table: Table, change: Callable[[Any], Any], factor: float) -> None:
        self._table, self._change, self._factor = table, change, factor

    def total(self, function: Callable[[Block], tuple[Any, ...]]) -> tuple[Any, ...]:
        """Sum over blocks with changed targets."""

        def look(block: Block) -> tuple[Any, ...]:
            return function(Block(block.X, self._change(block.y), block.weight * self._factor))

        return self._table.total(look)


class _Columns:
    """The number of columns, which all blocks must agree on. Add with ``+``."""

    def __init__(self, n: int) -> None:
        self.n = n

    def __add__(self, other: _Columns) -> _Columns:
        if self.n != other.n:
            raise DataError(f"chunks have {self.n} and {other.n} columns")
        return self


_MOST_CLASSES = 1000
"""Classes that are kept while chunks are counted: targets that are numbers would fill memory."""


class _Classes:
    """Distinct targets while they are few. Add with ``+``."""

    def __init__(self, values: FloatArray) -> None:
        self.values = values[: _MOST_CLASSES + 1]

    def __add__(self, other: _Classes) -> _Classes:
        return _Classes(np.union1d(self.values, other.values))


def _columns(estimator: Additive, names: Sequence[str], table: Table) -> tuple[Source, ...]:
    from choquet.additive.knots import distinct_values
    from choquet.estimators.additive.columns import by_column

    given = estimator.categories
    said = {} if isinstance(given, str) else by_column("categories", given, names)
    levels, _ = distinct_values(table, 1000) if said else ([], None)
    found = []
    for i, name in enumerate(names):
        if i not in said or said[i] == "number":
            found.append(Source(name))
            continue
        known = levels[i]
        wanted = np.arange(len(known) if known is not None else 0, dtype=np.float64)
        if known is None or not np.array_equal(known, wanted):
            raise DataError(
                f"categories of {name} must be numbers 0, 1, 2, ... in chunks; encode them first"
            )
        kind = "nominal" if said[i] == "nominal" else "ordered"
        found.append(Source(name, kind, tuple(range(len(known)))))
    return tuple(found)
