"""Knots of each source from sums over blocks: the same whatever the blocks.

Sources with few values have a knot at each. Others have knots at quantiles, found exactly (to 48
bits) by counting: three passes, each of which looks at sixteen bits more of the wanted numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from choquet.additive.axes import Axis, Source
from choquet.additive.table import Block, Memory, Table
from choquet.arrays import FloatArray

_BITS = 16
_DIGITS = 3
_NUMBERS = 1000
"""Numbers that all utilities together have at most, about."""
_FEWEST = 4
"""Knots that are left to each of many columns."""
_SMALLEST = 1e-9
"""Share of all weight by which sums may differ between orders of adding up."""


class _Values:
    """The distinct values of a column while they are few, else None. Add with ``+``."""

    def __init__(self, values: FloatArray | None, most: int) -> None:
        self.values = None if values is None or len(values) > most else values
        self.most = most

    def __add__(self, other: _Values) -> _Values:
        if self.values is None or other.values is None:
            return _Values(None, self.most)
        return _Values(np.union1d(self.values, other.values), self.most)


def distinct_values(table: Table, most: int) -> tuple[list[FloatArray | None], FloatArray]:
    """Distinct values of each column, None if there are more than `most`, and the missing ones.

    Examples
    --------
    >>> from choquet.additive.table import Memory
    >>> X = np.array([[1.0, 0.3], [1.0, np.nan], [2.0, 0.1]])
    >>> distinct_values(Memory(X, np.zeros(3), np.ones(3)), 2)
    ([array([1., 2.]), array([0.1, 0.3])], array([0., 1.]))
    """

    def look(block: Block) -> tuple[Any, ...]:
        X = block.X[block.weight > 0]
        found = [_Values(np.unique(x[~np.isnan(x)]), most) for x in X.T]
        return (*found, np.isnan(X).sum(axis=0).astype(np.float64))

    *values, missing = table.total(look)
    return [each.values for each in values], missing


def _keys(x: FloatArray) -> np.ndarray:
    """Whole numbers in the order of the floats."""
    bits = (np.ascontiguousarray(x) + 0.0).view(np.uint64)
    sign = np.uint64(1) << np.uint64(63)
    return np.where(bits & sign, ~bits, bits | sign)


def _floats(keys: np.ndarray) -> FloatArray:
    sign = np.uint64(1) << np.uint64(63)
    return np.where(keys & sign, keys ^ sign, ~keys).view(np.float64)


def quantiles(table: Table, columns: Sequence[int], probabilities: FloatArray) -> FloatArray:
    """The least value of each column that has a share of the weight at or below it.

    Examples
    --------
    >>> from choquet.additive.table import Memory
    >>> X = np.arange(1.0, 101.0)[:, None]
    >>> rows = Memory(X, X[:, 0], np.ones(100))
    >>> quantiles(rows, [0], np.array([0.25, 1.0])).round(3)
    array([[ 25., 100.]])
    """
    if isinstance(table, Memory):
        return _sorted_quantiles(table, columns, probabilities)
    size, n = 1 << _BITS, len(columns)
    prefix = np.zeros((n, len(probabilities)), dtype=np.uint64)
    wanted = np.zeros((n, len(probabilities)))
    for digit in range(_DIGITS):
        shift = np.uint64(64 - _BITS * (digit + 1))
        groups = [np.unique(row) for row in prefix]

        def look(
            block: Block, shift: np.uint64 = shift, groups: list[np.ndarray] = groups
        ) -> tuple[Any, ...]:
            out = []
            for column, group in zip(columns, groups, strict=True):
                here = ~np.isnan(block.X[:, column]) & (block.weight > 0)
                key = _keys(block.X[here, column]) >> shift
                weight = block.weight[here]
                place = np.searchsorted(group, key >> np.uint64(_BITS))
                place = np.minimum(place, len(group) - 1)
                inside = group[place] == key >> np.uint64(_BITS)
                low = (key & np.uint64(size - 1)).astype(np.int64)
                flat = place[inside] * size + low[inside]
                out.append(np.bincount(flat, weight[inside], len(group) * size))
            return tuple(out)

        for k, (counts, group) in enumerate(zip(table.total(look), groups, strict=True)):
            below = np.cumsum(counts.reshape(len(group), size), axis=1)
            if digit == 0:
                wanted[k] = probabilities * below[0, -1] * (1 - _SMALLEST)
            for j in range(len(probabilities)):
                line = below[np.searchsorted(group, prefix[k, j])]
                at = min(int(np.searchsorted(line, wanted[k, j])), size - 1)
                wanted[k, j] -= line[at - 1] if at else 0.0
                prefix[k, j] = (prefix[k, j] << np.uint64(_BITS)) | np.uint64(at)
    low = prefix << np.uint64(64 - _BITS * _DIGITS)
    return _floats(low.ravel()).reshape(low.shape)


def _sorted_quantiles(
    table: Memory, columns: Sequence[int], probabilities: FloatArray
) -> FloatArray:
    """The same numbers by sorting, which is faster where all rows are in memory."""
    blocks = list(table.blocks())
    weight = np.concatenate([block.weight for block in blocks])
    found = np.empty((len(columns), len(probabilities)))
    for k, column in enumerate(columns):
        x = np.concatenate([block.X[:, column] for block in blocks])
        here = ~np.isnan(x) & (weight > 0)
        order = np.argsort(x[here], kind="stable")
        below = np.cumsum(weight[here][order])
        wanted = probabilities * below[-1] * (1 - _SMALLEST)
        at = np.minimum(np.searchsorted(below, wanted), len(below) - 1)
        found[k] = x[here][order][at]
    kept = ~np.uint64((1 << (64 - _BITS * _DIGITS)) - 1)
    return _floats(_keys(found.ravel()) & kept).reshape(found.shape)


def axes_of(
    table: Table, sources: Sequence[Source], n_knots: Sequence[int]
) -> list[dict[int, Axis]]:
    """Axes of the sources that vary, for terms of order one, two, ...

    Parameters
    ----------
    table : Table
    sources : sequence of Source
    n_knots : sequence of int
        Most knots of a source in a term of each order.
    """
    most = max(n_knots)
    n_knots = _affordable(n_knots, len(sources))
    values, missing = distinct_values(table, most)
    many = [i for i, s in enumerate(sources) if s.kind != "nominal" and values[i] is None]
    cuts = sorted({(j, k) for k in n_knots for j in range(k)}, key=lambda c: c[0] / (c[1] - 1))
    shares = np.unique([max(j / (k - 1), 1e-12) for j, k in cuts])
    found = dict(zip(many, quantiles(table, many, shares), strict=True)) if many else {}
    axes: list[dict[int, Axis]] = []
    for k in n_knots:
        wanted = np.searchsorted(shares, np.maximum(np.linspace(0, 1, k), 1e-12) - 1e-13)
        made = {}
        for i, source in enumerate(sources):
            absent = bool(missing[i] > 0)
            if source.kind == "nominal":
                axis = Axis(np.zeros(0), len(source.levels), absent)
            else:
                axis = Axis(_knots(values[i], found.get(i), wanted, k), 0, absent)
            if axis.size > 1:
                made[i] = axis
        axes.append(made)
    return axes


def _affordable(n_knots: Sequence[int], n_sources: int) -> list[int]:
    """Fewer knots where columns are many: the time grows as the cube of all numbers.

    Examples
    --------
    >>> _affordable((16, 8, 5, 4), 20), _affordable((16, 8, 5, 4), 200)
    ([16, 8, 5, 4], [5, 5, 5, 4])
    """
    most = max(_FEWEST, _NUMBERS // max(n_sources, 1))
    return [min(k, most) for k in n_knots]


def _knots(
    values: FloatArray | None, quantile: FloatArray | None, wanted: np.ndarray, most: int
) -> FloatArray:
    """All values if they are few, else quantiles; of some values, those nearest to even ranks."""
    if values is None:
        assert quantile is not None
        return np.unique(quantile[wanted])
    if len(values) <= most:
        return values
    return np.asarray(values[np.unique(np.linspace(0, len(values) - 1, most).round().astype(int))])
