"""Which order a list of values was written in: what can be checked of each."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from choquet.arrays import BoolArray, FloatArray, IntArray
from choquet.lattice import cover_pairs
from choquet.measures import Measure
from choquet.measures.orders import ORDERS, by_mask

ZERO = 1e-6
"""Values of a regression up to this are zero: they had no data, and a penalty or a start at zero
left them there."""
_LEVEL = 1e-3
"""Probability, by chance, of a rank correlation that counts as evidence."""


@dataclass(frozen=True, eq=False)
class Reading:
    """Values as one order has them, and what can be checked of it."""

    values: FloatArray
    """By run and bit mask."""
    decreases: float
    """Share of the steps from a subset to a larger one at which a value falls, over all runs."""
    errors: FloatArray | None = None
    """Mean squared error of each run on the rows, with the bias of the file."""
    best_errors: FloatArray | None = None
    """The same with the best constant."""
    variance: float | None = None
    """Variance of the targets, which is the error of their mean."""
    zeros: float | None = None
    """Share of zeros among the values of subsets that no row observed; None if there are none."""
    zeros_elsewhere: float | None = None
    """The same among observed subsets."""
    spread: tuple[float, float] | None = None
    """Rank correlation between how often a subset was observed and how much its value varies
    between runs, and its probability by chance. What was seen more varies less."""


@dataclass(frozen=True, eq=False)
class MatchedRows:
    """Sorts as one reading has them, and how many of them some row of the data has."""

    sorts: IntArray
    matched: BoolArray | None

    @property
    def n_matched(self) -> int | None:
        """Lines that match, or None where there were no rows."""
        return None if self.matched is None else int(self.matched.sum())


def match_rows(sorts: IntArray, X: FloatArray | None) -> MatchedRows:
    """Which sorts put some row of `X` in decreasing order; ties may be broken either way.

    Examples
    --------
    >>> match_rows(np.array([[0, 1], [1, 0]]), np.array([[0.9, 0.2]])).matched
    array([ True, False])
    """
    if X is None or X.shape[1] != sorts.shape[1]:
        return MatchedRows(sorts, None)
    distinct, back = np.unique(sorts, axis=0, return_inverse=True)
    found = np.array([(np.diff(X[:, sort], axis=1) <= 0).all(axis=1).any() for sort in distinct])
    return MatchedRows(sorts, found[back.ravel()])


def observed_subsets(
    n_sources: int, X: FloatArray | None = None, sorts: IntArray | None = None
) -> IntArray:
    """How often each subset was on the way of a row, at a step that is no tie.

    Examples
    --------
    >>> observed_subsets(2, np.array([[0.9, 0.2], [0.5, 0.5]]))
    array([0, 1, 0, 2])
    """
    if X is not None:
        sorts = np.argsort(-X, axis=1, kind="stable")
        ordered = np.take_along_axis(X, sorts, axis=1)
        strict = np.column_stack([np.diff(ordered, axis=1) < 0, np.ones(len(X), dtype=bool)])
    else:
        assert sorts is not None  # one of both is given
        strict = np.ones(sorts.shape, dtype=bool)
    masks = np.cumsum(np.int64(1) << sorts, axis=1)
    return np.bincount(masks[strict], minlength=1 << n_sources)


def readings(
    values: FloatArray,
    bias: FloatArray,
    X: FloatArray | None = None,
    y: FloatArray | None = None,
    sorts: IntArray | None = None,
) -> dict[str, Reading]:
    """Both readings of values in the order of a file, with all that can be checked of each.

    Examples
    --------
    >>> values = np.array([[0, 0.1, 0.2, 0.5, 0.1, 0.3, 0.7, 1]])
    >>> {name: one.decreases for name, one in readings(values, np.zeros(1)).items()}
    {'binary': 0.0, 'size': 0.166...}
    """
    n_sources = values.shape[1].bit_length() - 1
    if X is not None and X.shape[1] != n_sources:
        X = y = None
    if sorts is not None and sorts.shape[1] != n_sources:
        sorts = None
    counts = None if X is None and sorts is None else observed_subsets(n_sources, X, sorts)
    return {order: _reading(by_mask(values, order), bias, X, y, counts) for order in ORDERS}


def _reading(
    values: FloatArray,
    bias: FloatArray,
    X: FloatArray | None,
    y: FloatArray | None,
    counts: IntArray | None,
) -> Reading:
    lower, upper = cover_pairs(values.shape[1].bit_length() - 1).T
    decreases = float((values[:, lower] > values[:, upper]).mean())
    errors = best = variance = zeros = elsewhere = spread = None
    if X is not None and y is not None:
        measures = (Measure(row, monotone=False, normal=False) for row in values)
        off = np.array([one.integral(X) for one in measures]) + bias[:, None] - y
        errors, best, variance = (off**2).mean(axis=1), off.var(axis=1), float(y.var())
    if counts is not None:
        inside = np.arange(1, len(counts) - 1)
        unseen, seen = inside[counts[inside] == 0], inside[counts[inside] > 0]
        is_zero = np.abs(values) <= ZERO
        zeros = float(is_zero[:, unseen].mean()) if len(unseen) else None
        elsewhere = float(is_zero[:, seen].mean()) if len(seen) else None
        spread = _spread(values[:, seen], counts[seen]) if len(values) >= 8 else None
    return Reading(values, decreases, errors, best, variance, zeros, elsewhere, spread)


def _spread(values: FloatArray, counts: IntArray) -> tuple[float, float] | None:
    from scipy.stats import spearmanr

    middle = np.subtract(*np.quantile(values, [0.75, 0.25], axis=0))
    if len(counts) < 8 or np.ptp(counts) == 0 or np.ptp(middle) == 0:
        return None
    found = spearmanr(counts, middle)
    return float(found.statistic), float(found.pvalue)


def choose(found: dict[str, Reading]) -> tuple[str | None, str]:
    """The order that the checks speak for, or None, and what they say.

    The strongest check that can be made decides: the error on the rows, then monotonicity, then
    zeros where there were no data, then how the spread between runs follows the counts.

    Examples
    --------
    >>> values = np.array([[0, 0.1, 0.2, 0.5, 0.1, 0.3, 0.7, 1]])
    >>> choose(readings(values, np.zeros(1)))[0]
    'binary'
    """
    first, second = ORDERS
    a, b = found[first], found[second]
    if np.array_equal(a.values, b.values):
        return first, "both orders give the same values"
    checks = (_by_error(a, b), _by_monotonicity(a, b), _by_zeros(a, b), _by_spread(a, b))
    said = [check for check in checks if check is not None]
    for better, why in said:
        if better is not None:
            return ORDERS[better], why
    return None, "; ".join(why for _, why in said) or "there is nothing to check"


def _by_error(a: Reading, b: Reading) -> tuple[int | None, str] | None:
    if a.errors is None or b.errors is None or a.best_errors is None or b.best_errors is None:
        return None
    # With the best constant for each, so that a bias that suits one order decides nothing.
    medians = [float(np.median(one)) for one in (a.best_errors, b.best_errors)]
    why = (
        f"the median error on the rows is {medians[0]:.3g} by bit mask and {medians[1]:.3g} by size"
    )
    wins = float(np.mean(a.best_errors < b.best_errors))
    clear = max(wins, 1 - wins) >= 0.75
    if a.variance is not None and min(medians) >= a.variance:
        why += f", no better than the mean of the targets ({a.variance:.3g}): these are other rows"
        clear = False
    return (int(wins < 0.5) if clear else None), why


def _by_monotonicity(a: Reading, b: Reading) -> tuple[int | None, str]:
    why = f"values fall at {a.decreases:.1%} of steps by bit mask and {b.decreases:.1%} by size"
    if (a.decreases == 0) == (b.decreases == 0):
        return None, why
    return int(b.decreases == 0), why


def _by_zeros(a: Reading, b: Reading) -> tuple[int | None, str] | None:
    if a.zeros is None or b.zeros is None:
        return None
    why = f"of the values without data {a.zeros:.0%} are zero by bit mask and {b.zeros:.0%} by size"
    if abs(a.zeros - b.zeros) < 0.5:
        return None, why
    return int(b.zeros > a.zeros), why


def _by_spread(a: Reading, b: Reading) -> tuple[int | None, str] | None:
    if a.spread is None or b.spread is None:
        return None
    why = (
        "the spread between runs and the number of observations correlate by "
        f"{a.spread[0]:.2f} by bit mask and {b.spread[0]:.2f} by size"
    )
    speaks = [one.spread[0] < 0 and one.spread[1] < _LEVEL for one in (a, b) if one.spread]
    if speaks[0] == speaks[1]:
        return None, why
    return int(speaks[1]), why
