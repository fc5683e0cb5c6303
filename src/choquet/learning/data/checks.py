"""Sums of data as they come from files: what no data can have given is refused."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from choquet.arrays import BoolArray, FloatArray
from choquet.errors import DataError
from choquet.expected import Array, Number, Words, expect_fields
from choquet.walks import DataSupport

_SUPPORT = {
    "n_sources": Number(low=1, high=2**31, whole=True),
    "n_samples": Number(low=0, high=2**62, whole=True),
    "n_tied": Number(low=0, high="n_samples", whole=True),
    "words": Words("n_sources"),
    "counts": Array(("words",), "i", low=1, high="n_samples"),
    "informations": Array(("words",), low=0),
    "observed_sorts": Array(("sorts", "n_sources"), "i", low=0),
    "sort_counts": Array(("sorts",), "i", low=1, high="n_samples"),
    "tolerance": Number(low=0),
}
_STATISTICS = {
    "masks": Words("n_sources"),
    "counts": Array(("masks",), "i", low=1, high="n_samples"),
    "rows": Array(("pairs",), "i", low=0, high="last"),
    "columns": Array(("pairs",), "i", low=0, high="last"),
    "products": Array(("pairs", 2)),
    "target_products": Array(("masks", 2)),
    "gap_sums": Array(("masks", 2)),
    "totals": Array((3, 2)),
}
"""What the fields must be, before they are looked at together."""

_SLACK = 1e-6
"""Relative rounding that sums of products are allowed against Cauchy and Schwarz."""


def check_statistics(arrays: Mapping[str, Any]) -> None:
    """Refuse arrays that are no `Statistics` of any rows.

    Examples
    --------
    >>> from choquet.learning import Statistics
    >>> arrays = Statistics.from_data([[0.9, 0.4]], [0.5]).to_arrays()
    >>> check_statistics({**arrays, "totals": -arrays["totals"]})
    Traceback (most recent call last):
    ...
    choquet.errors.DataError: no rows have these sums: totals are negative
    """
    try:
        n, n_samples = _sizes(arrays, 2)
        found = expect_fields(arrays, _STATISTICS, n_sources=n, n_samples=n_samples)
        masks, _, rows, columns, *pairs = found.values()
        products, targets, gaps, totals = (pair.sum(axis=1) for pair in pairs)
    except (ValueError, KeyError, TypeError) as error:
        raise DataError(f"these arrays are no statistics: {error}") from None
    weight, total, square = (float(value) for value in totals)
    _insist(weight >= 0 and square >= 0, "totals are negative")
    _insist((weight > 0) == (n_samples > 0), f"{n_samples} rows weigh {weight:g}")
    k = len(masks)
    keys = rows * max(k, 1) + columns
    _insist((np.diff(keys) > 0).all(), "pairs are not in order")
    _insist(not (masks[rows] & ~masks[columns]).any(), "subsets of a pair are not nested")
    _insist(masks.any(axis=1).all(), "the empty set has no gap")
    information = np.zeros(k)
    same = rows == columns
    information[rows[same]] = products[same]
    _insist((information >= 0).all(), "a sum of squares is negative")
    size = np.sqrt(information)
    _insist(_within(products, size[rows], size[columns]), "a sum of products is too large")
    _insist(_within(targets, size, np.sqrt(square)), "a product with the target is too large")
    _insist(_within(gaps, size, np.sqrt(weight)), "a sum of gaps is too large")
    _insist(_within(total, np.sqrt(weight), np.sqrt(square)), "the sum of targets is too large")


def check_minima(arrays: Mapping[str, Any]) -> None:
    """Refuse arrays that are no `MinimaStatistics` of any rows.

    Examples
    --------
    >>> check_minima({"size": np.array([2, 1, 1]), "rows": np.zeros((1, 3))})
    Traceback (most recent call last):
    ...
    choquet.errors.DataError: these arrays are no statistics: rows has shape (1, 3), not (any, 4)
    """
    from choquet.learning.data.minima import minima, n_coefficients

    try:
        n, order, n_samples = _sizes(arrays, 3)
        if not 1 <= order <= n:
            raise ValueError(f"order {order} of {n} sources")
        width = n_coefficients(n, order) + 2
        table = {"rows": Array((None, width)), "gram": Array((None, None))}
        rows, gram = expect_fields(arrays, table).values()
        if gram.shape not in ((0, 0), (width, width)):
            raise ValueError(f"gram has shape {gram.shape}, not ({width}, {width})")
    except (ValueError, KeyError, TypeError) as error:
        raise DataError(f"these arrays are no statistics: {error}") from None
    _insist(len(rows) <= n_samples, f"{len(rows)} rows of {n_samples}")
    _insist((rows[:, -2] > 0).all(), "a row has no weight")
    smallest = minima(np.ascontiguousarray(rows[:, :n]), order)
    _insist(np.array_equal(smallest, rows[:, :-2]), "minima are not those of the inputs")
    square = np.diag(gram)
    _insist((square >= 0).all(), "a sum of squares is negative")
    size = np.sqrt(square)
    skew = (gram - gram.T) / _SLACK
    _insist(_within(skew, size[:, None], size), "the products are not symmetric")
    _insist(_within(gram, size[:, None], size), "a sum of products is too large")


def support_from(data: Mapping[str, Any]) -> DataSupport:
    """A `DataSupport` from its fields by name, if data can give it.

    Examples
    --------
    >>> support = DataSupport.from_data([[0.9, 0.5, 0.1]])
    >>> support_from(vars(support)).n_samples
    1
    >>> support_from({**vars(support), "n_samples": 0})
    Traceback (most recent call last):
    ...
    choquet.errors.DataError: these fields are no support: counts holds 1, which is not from 1 to 0
    """
    try:
        found = expect_fields(data, _SUPPORT)
        n, sorts = found["n_sources"], found["observed_sorts"]
        words = found["words"]
        names = data.get("sources")  # files of earlier versions have none
        if names is not None and not (
            isinstance(names, list | tuple)
            and len(set(names)) == len(names) == n
            and all(isinstance(name, str) for name in names)
        ):
            raise ValueError(f"sources are not {n} names")
    except (ValueError, KeyError, TypeError) as error:
        raise DataError(f"these fields are no support: {error}") from None
    seen = int(found["sort_counts"].sum()) + found["n_tied"]
    _insist(seen <= found["n_samples"], "more sorts were seen than rows")
    inside = np.bitwise_count(words).sum(axis=1)
    _insist(((inside > 0) & (inside < n)).all(), "only proper subsets are counted")
    every = np.broadcast_to(np.arange(n), sorts.shape)
    _insist(np.array_equal(np.sort(sorts, axis=1), every), "a sort repeats a source")
    _insist(_ascending(sorts), "sorts are not in order")
    return DataSupport(**{**data, "sources": None if names is None else tuple(names)})


def _sizes(arrays: Mapping[str, Any], count: int) -> list[int]:
    sizes: list[int] = expect_fields(arrays, {"size": Array((count,), "i", low=0)})["size"].tolist()
    if not 1 <= sizes[0] <= 2**31:
        raise ValueError(f"{sizes[0]} sources")
    return sizes


def _insist(fine: Any, reason: str) -> None:
    if not fine:
        raise DataError(f"no rows have these sums: {reason}")


def _within(value: Any, left: Any, right: Any) -> bool:
    """Whether a product is no larger than what it is a product of."""
    bound: FloatArray = np.asarray(left * right) * (1 + _SLACK) + 1e-290
    fine: BoolArray = np.abs(value) <= bound
    return bool(fine.all())


def _ascending(sorts: Any) -> bool:
    """Whether rows are distinct and in lexicographic order."""
    if len(sorts) < 2:
        return True
    change = sorts[1:] != sorts[:-1]
    at = change.argmax(axis=1)
    every = np.arange(len(at))
    return bool(change.any(axis=1).all() and (sorts[1:][every, at] > sorts[:-1][every, at]).all())
