"""Order-statistic regressions in the leaves, from additive statistics."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from choquet.arrays import FloatArray, IntArray, check_option
from choquet.contexts.rows import RankRows
from choquet.errors import OptionError

LOSSES = ("squared", "huber")

_TUNING = 1.345
"""Residuals up to so many standard deviations count in full: 95 % efficient on Gaussians."""

WIDE = 24
"""Beyond so many columns products go to BLAS, block by block; below, to a kernel, row by row."""

_BLOCK = 4096
"""Rows that are gathered at a time."""

_ROUNDS = 10
"""Rounds of reweighting, at most."""


@dataclass(frozen=True)
class LeafOptions:
    """How a leaf is fitted.

    Parameters
    ----------
    convex : bool, default False
        Weights on the simplex and no bias, or free weights with one.
    l1, l2 : float, default 0
        Penalties on the weights, in units of the data's spread: as so many rows would count.
    loss : {"squared", "huber"}, default "squared"

    Examples
    --------
    >>> LeafOptions(convex=True, l2=1.0).l2
    1.0
    """

    convex: bool = False
    l1: float = 0.0
    l2: float = 0.0
    loss: str = "squared"

    def __post_init__(self) -> None:
        check_option("loss", self.loss, LOSSES)
        for name, value in (("l1", self.l1), ("l2", self.l2)):
            if not 0 <= value < np.inf:
                raise OptionError(f"{name}={value} must be a finite number from 0")
        if self.convex and self.l1:
            raise OptionError(
                f"l1={self.l1} does nothing to weights that sum to one (convex=True): use l2"
            )


@dataclass(frozen=True, eq=False)
class LeafFit:
    """Coefficients of a leaf in scaled units, its error, and what the rows came to count."""

    coefficients: FloatArray
    error: float
    weight: FloatArray
    """By row of the leaf: sample weight, times Huber's weight where the loss is robust."""
    statistics: FloatArray
    """Products of the rows, so weighted."""


def statistics_of(rows: RankRows, index: IntArray, weight: FloatArray) -> FloatArray:
    """Upper triangle of the sum of products of some rows; additive over rows.

    Examples
    --------
    >>> import numpy as np
    >>> rows = RankRows.from_data(np.array([[0.2, 0.9], [0.4, 0.3]]), np.array([1.0, 3.0]))
    >>> parts = [statistics_of(rows, np.array([k]), rows.weight) for k in (0, 1)]
    >>> np.allclose(sum(parts), statistics_of(rows, np.arange(2), rows.weight))
    True
    """
    from choquet.contexts._kernels import node_statistics

    if rows.sums is not None:
        return rows.sums.node(index, weight)
    width = rows.Z.shape[1]
    if width > WIDE:
        return _by_products(rows.Z, weight, index)
    out = np.zeros(width * (width + 1) // 2)
    node_statistics(rows.Z, weight, index, out)
    return out


def _by_products(Z: FloatArray, weight: FloatArray, index: IntArray) -> FloatArray:
    width = Z.shape[1]
    total = np.zeros((width, width))
    for start in range(0, len(index), _BLOCK):
        part = index[start : start + _BLOCK]
        block = Z[part] * np.sqrt(weight[part])[:, None]
        total += block.T @ block
    return total.take(_upper(width))


@cache
def _upper(width: int) -> IntArray:
    """Places of the upper triangle in a square matrix laid out flat: asked for at every rank."""
    rows, columns = np.triu_indices(width)
    return np.asarray(rows * width + columns)


def rank_sums(
    rows: RankRows, index: IntArray, weight: FloatArray, source: int
) -> tuple[FloatArray, FloatArray]:
    """Statistics and counts (by sample weight) of some rows for each answer in a column of `asked`.

    Examples
    --------
    >>> import numpy as np
    >>> rows = RankRows.from_data(np.array([[0.2, 0.9], [0.4, 0.3]]), np.array([1.0, 3.0]))
    >>> sums, counts = rank_sums(rows, np.arange(2), rows.weight, 0)
    >>> sums.shape, counts
    ((2, 10), array([1., 1.]))
    """
    from choquet.contexts import _kernels

    n_codes, width = rows.n_codes(source), rows.Z.shape[1]
    out, counts = np.zeros((n_codes, width * (width + 1) // 2)), np.zeros(n_codes)
    if width <= WIDE:
        _kernels.rank_statistics(
            rows.Z, weight, rows.weight, rows.asked, index, source, out, counts
        )
        return out, counts
    starts, order = np.zeros(n_codes + 1, dtype=np.int64), np.empty_like(index)
    _kernels.sort_by_rank(rows.asked, index, source, starts, order)
    for r in range(n_codes):
        part = order[starts[r] : starts[r + 1]]
        counts[r] = rows.weight[part].sum()
        if len(part):
            out[r] = _by_products(rows.Z, weight, part)
    return out, counts


def above_sums(
    rows: RankRows, index: IntArray, weight: FloatArray, pairs: IntArray
) -> tuple[FloatArray, FloatArray]:
    """Statistics and counts of those of some rows in which the first of each pair is above."""
    from choquet.contexts import _kernels

    width = rows.Z.shape[1]
    out, counts = np.zeros((len(pairs), width * (width + 1) // 2)), np.zeros(len(pairs))
    if width <= WIDE:
        arguments = (rows.Z, weight, rows.weight, rows.asked, index, pairs, out, counts)
        _kernels.above_statistics(*arguments)
        return out, counts
    for q, (source, other) in enumerate(pairs):
        part = index[rows.ranks[index, source] < rows.ranks[index, other]]
        out[q], counts[q] = _by_products(rows.Z, weight, part), rows.weight[part].sum()
    return out, counts


def fit_statistics(
    packed: FloatArray, options: LeafOptions, centre: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Coefficients and squared errors for several leaves, one row of statistics each.

    `centre` holds the weights that the l2 penalty draws to, for all leaves or a row for each; l1
    is left to `fit_leaf`. Many leaves at once take hardly longer than one.
    """
    from choquet.contexts import _kernels

    out = np.empty((len(packed), centre.shape[-1] + 1))
    centres = np.ascontiguousarray(np.broadcast_to(centre, (len(packed), centre.shape[-1])))
    fit = _kernels.fit_convex if options.convex else _kernels.fit_free
    errors = fit(np.ascontiguousarray(packed), float(options.l2), centres, out)
    return out, errors


def fit_leaf(rows: RankRows, index: IntArray, options: LeafOptions, centre: FloatArray) -> LeafFit:
    """Fit one leaf to some rows; the l2 penalty draws its weights to `centre`.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).random((50, 3))
    >>> rows = RankRows.from_data(X, np.median(X, axis=1), convex=True)
    >>> fit = fit_leaf(rows, np.arange(50), LeafOptions(convex=True), np.full(3, 1 / 3))
    >>> fit.coefficients[:3].round(6) + 0.0
    array([0., 1., 0.])
    """
    weight = rows.weight[index].copy()
    fit = _weighted(rows, index, weight, options, centre)
    if options.loss == "squared":
        return fit
    for _ in range(_ROUNDS):
        residual = np.abs(rows.Z[index, -1] - rows.Z[index, :-1] @ fit.coefficients)
        # The median distance of a Gaussian from its centre is 0.6745 standard deviations.
        limit = _TUNING * _median(residual, rows.weight[index]) / 0.6745
        robust = rows.weight[index] * np.minimum(1.0, limit / np.maximum(residual, 1e-300))
        settled = np.abs(robust - weight).max() <= 1e-4 * weight.max()
        weight = np.maximum(robust, 1e-9 * rows.weight[index])
        fit = _weighted(rows, index, weight, options, centre)
        if settled:
            break
    return fit


def _weighted(
    rows: RankRows, index: IntArray, weight: FloatArray, options: LeafOptions, centre: FloatArray
) -> LeafFit:
    full = rows.weight
    if weight is not full[index]:
        full = np.zeros(len(rows.Z))
        full[index] = weight
    packed = statistics_of(rows, index, full)
    coefficients, errors = fit_statistics(packed[None], options, centre)
    found, error = coefficients[0], float(errors[0])
    if options.l1:
        from choquet.contexts._kernels import soften

        error = float(soften(packed, options.l1, options.l2, centre, found, 2000))
    return LeafFit(found, error, weight, packed)


def _median(values: FloatArray, weight: FloatArray) -> float:
    """Weighted median: a row of weight two counts as two rows."""
    order = np.argsort(values, kind="stable")
    total = np.cumsum(weight[order])
    low = np.searchsorted(total, 0.5 * total[-1] * (1 - 1e-12))
    return float(values[order[low]])
