"""Families of measures as arrays of 2**N values by bit mask."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from choquet.arrays import FloatArray, as_vector, check_option
from choquet.errors import DataError, MeasureError
from choquet.lattice import (
    check_dense,
    downward_minimum,
    mask_of,
    n_sources_of,
    subset_sizes,
    upward_maximum,
    zeta,
)
from choquet.measures.sources import format_subset, source_numbers


def additive(weights: npt.ArrayLike) -> FloatArray:
    """Sum of the weights in the subset."""
    shares = _convex_weights(weights)
    values = _fold(shares, np.add)
    values[-1] = 1.0
    return np.minimum(values, 1.0)


def symmetric(weights: npt.ArrayLike) -> FloatArray:
    """Sum of the first |A| weights: the order statistic with these weights, largest input first."""
    shares = _convex_weights(weights)
    by_size = np.minimum(np.concatenate([[0.0], np.cumsum(shares)]), 1.0)
    by_size[-1] = 1.0
    values: FloatArray = by_size[subset_sizes(len(shares))]
    return values


def _convex_weights(weights: npt.ArrayLike) -> FloatArray:
    shares = as_vector(weights, "weights")
    check_dense(len(shares))
    if (shares < 0).any() or abs(shares.sum() - 1) > 1e-9:
        raise MeasureError(f"weights must be ≥ 0 and sum to 1; these sum to {shares.sum():g}")
    return shares


def _fold(densities: FloatArray, join: np.ufunc | Callable[..., FloatArray]) -> FloatArray:
    """Join the densities of every subset, doubling the array source by source."""
    values = np.zeros(1)
    for density in densities:
        values = np.concatenate([values, join(values, density)])
    return values


def _densities(densities: npt.ArrayLike) -> FloatArray:
    values = as_vector(densities, "densities")
    check_dense(len(values))
    if (values < 0).any() or (values > 1).any():
        raise MeasureError(f"densities must lie in [0, 1], not {values.tolist()}")
    return values


def sugeno_lambda_root(densities: npt.ArrayLike) -> float:
    """λ > -1 with Π(1 + λ g_i) = 1 + λ (Sugeno 1974); its sign is that of 1 - Σ g_i.

    The limit λ = -1 is returned where a density is 1, and 0 where they sum to 1.

    Examples
    --------
    >>> round(sugeno_lambda_root([0.2, 0.3, 0.1]), 4)
    3.1091
    """
    g = _densities(densities)
    g = g[g > 0]
    if len(g) == 1 and g[0] == 1:
        return 0.0
    if (g == 1).any():
        return -1.0
    if len(g) < 2:
        raise MeasureError(
            "a λ-measure needs two densities above 0, or one that is 1: "
            f"none exists for {np.asarray(densities).tolist()}"
        )
    excess = float(np.sum(g)) - 1
    if abs(excess) < 1e-15:
        return 0.0

    # In t = log(1 + λ) the equation is Σ log(1 + λ g_i) - t = 0; dividing by t removes the trivial
    # root at 0 and leaves a function that rises in t from Σ g_i - 1 there to the count minus 1.
    def slope(t: float) -> float:
        if abs(t) < 1e-12:
            return excess
        return float(np.log1p(np.expm1(t) * g).sum() / t) - 1

    from scipy.optimize import brentq

    far = -1.0 if excess > 0 else 1.0
    while slope(far) * excess > 0:
        far *= 2
        if abs(far) > 700:
            raise MeasureError(f"λ for the densities {g.tolist()} is beyond the range of floats")
    t = brentq(slope, 0.0, far, xtol=1e-300, rtol=8.9e-16, maxiter=500)
    return float(np.expm1(t))


def sugeno_lambda(densities: npt.ArrayLike) -> FloatArray:
    """Values of the λ-measure, g(A ∪ B) = g(A) + g(B) + λ g(A) g(B) for disjoint A, B.

    Examples
    --------
    >>> sugeno_lambda([0.5, 0.5])
    array([0. , 0.5, 0.5, 1. ])
    """
    g = _densities(densities)
    root = sugeno_lambda_root(g)
    if abs(root) < 1e-15:
        values = _fold(g, np.add)
    elif root == -1:
        values = _fold(g, _probabilistic_sum)
    else:
        # In logarithms the rule is a plain sum, so no subset loses digits to cancellation.
        values = np.expm1(_fold(np.log1p(root * g), np.add)) / root
    values = np.clip(values, 0.0, 1.0)
    values[-1] = 1.0
    # Singletons exactly as given, and the last rounding errors out of the order.
    values[1 << np.arange(len(g))] = g
    return upward_maximum(values)


def _probabilistic_sum(a: FloatArray, b: float) -> FloatArray:
    return a + b - a * b


CONORMS: dict[str, np.ufunc | Callable[..., FloatArray]] = {
    "max": np.maximum,
    "probabilistic": _probabilistic_sum,
    "bounded": lambda a, b: np.minimum(a + b, 1.0),
}
"""t-conorms S by name, for `decomposable`."""


def possibility(densities: npt.ArrayLike) -> FloatArray:
    """Largest density in the subset (Zadeh 1978)."""
    g = _densities(densities)
    if g.max() != 1:
        raise MeasureError(f"the largest possibility must be 1, not {g.max():g}")
    return _fold(g, np.maximum)


def decomposable(densities: npt.ArrayLike, conorm: str) -> FloatArray:
    """Densities joined by a t-conorm, g(X) = 1.

    Examples
    --------
    >>> decomposable([0.3, 0.5], "max")
    array([0. , 0.3, 0.5, 1. ])
    """
    join = CONORMS[check_option("conorm", conorm, CONORMS)]
    values = np.clip(_fold(_densities(densities), join), 0.0, 1.0)
    values[-1] = 1.0
    return upward_maximum(values)


def from_mobius(masses: npt.ArrayLike) -> FloatArray:
    """Measure with the given Möbius transform, cleared of decreases that are mere rounding."""
    values = zeta(as_vector(masses, "Möbius masses"))
    closed = upward_maximum(values)
    rounding = 1e-12 * max(1.0, float(np.abs(values).max()))
    return closed if (closed - values).max() <= rounding else values


def belief(masses: npt.ArrayLike) -> FloatArray:
    """Sum of the masses of all subsets; masses are ≥ 0 and sum to 1, none on ∅."""
    m = as_vector(masses, "masses")
    n_sources_of(m)
    if (m < 0).any() or m[0] != 0 or abs(m.sum() - 1) > 1e-9:
        raise MeasureError("belief masses must be ≥ 0, sum to 1, and be 0 on the empty set")
    values = zeta(m)
    return upward_maximum(values / values[-1])


def p_symmetric(groups: Sequence[Sequence[int]], table: npt.ArrayLike) -> FloatArray:
    """Value by the number of members from each group.

    Examples
    --------
    >>> p_symmetric([[0], [1]], [[0, 0.3], [0.6, 1]])
    array([0. , 0.6, 0.3, 1. ])
    """
    by_count = np.asarray(table, dtype=np.float64)
    expected = tuple(len(group) + 1 for group in groups)
    if by_count.shape != expected:
        raise DataError(
            f"the table must have shape {expected} (group sizes plus one), not {by_count.shape}"
        )
    n_sources = sum(len(group) for group in groups)
    masks = np.arange(1 << n_sources)
    counts = tuple(
        np.bitwise_count(masks & sum(1 << i for i in group)).astype(np.intp) for group in groups
    )
    values: FloatArray = by_count[counts]
    return values


def by_subset(values: Iterable[tuple[Any, float]], sources: tuple[str, ...]) -> FloatArray:
    """Values by mask from pairs of subset and value; what is not given is not a number.

    Examples
    --------
    >>> by_subset([(("ir",), 0.4), (("ir", "emi"), 1.0)], ("ir", "emi"))
    array([0. , 0.4, nan, 1. ])
    """
    check_dense(len(sources))
    dense = np.full(1 << len(sources), np.nan)
    for subset, value in values:
        mask = mask_of(source_numbers(sources, subset))
        if not np.isnan(dense[mask]):
            raise MeasureError(f"g({format_subset(sources, mask)}) is given twice")
        dense[mask] = value
    if np.isnan(dense[0]):
        dense[0] = 0.0
    return dense


def fill_missing(
    values: FloatArray, names: Sequence[str], fill: str | None, *, normal: bool
) -> FloatArray:
    """Fill NaN with the smallest or largest value that monotonicity allows.

    Examples
    --------
    >>> fill_missing(np.array([0.0, 0.4, np.nan, 1.0]), ["a", "b"], "upper", normal=True)
    array([0. , 0.4, 1. , 1. ])
    """
    missing = np.flatnonzero(np.isnan(values))
    if fill is None:
        raise MeasureError(
            f"no value is given for {format_subset(names, int(missing[0]))} "
            f"({len(missing)} subsets are missing); give all, or pass fill='lower' or 'upper'"
        )
    check_option("fill", fill, ["lower", "upper"])
    if normal and np.isnan(values[-1]):
        values[-1] = 1.0
    if fill == "lower":
        bound = upward_maximum(np.where(np.isnan(values), -np.inf, values))
    else:
        bound = downward_minimum(np.where(np.isnan(values), np.inf, values))
    return np.where(np.isnan(values), bound, values)
