"""Indices of the integral as a whole: how optimistic, how additive, how near to known operators."""

from __future__ import annotations

from math import comb

import numpy as np

from choquet.arrays import FloatArray
from choquet.indices.moments import joins_of
from choquet.lattice import n_sources_of, subset_sizes
from choquet.measures import AbstractMeasure, Measure, check_measure
from choquet.operators import OrderStatistic, familiar_operators


def _mean_by_size(values: FloatArray) -> FloatArray:
    """Mean of a function over the subsets of each size 0..N."""
    n = n_sources_of(values)
    sums = np.bincount(subset_sizes(n), values, minlength=n + 1)
    means: FloatArray = sums / [comb(n, a) for a in range(n + 1)]
    return means


def nearest_order_statistic(measure: AbstractMeasure) -> OrderStatistic:
    """Order statistic whose walks differ least (in squares, over all walks) from the measure's.

    Its cumulative weights are the means of g over the subsets of each size.

    Examples
    --------
    >>> from choquet import Measure
    >>> nearest_order_statistic(Measure([0, 0.2, 0.4, 1])).weights.round(12)
    array([0.3, 0.7])
    """
    return OrderStatistic(np.diff(_mean_by_size(check_measure(measure).to_measure().values)))


def orness(measure: AbstractMeasure) -> float:
    """Orness of the integral: 1 for the max, 1/2 for any weighted mean, 0 for the min.

    References
    ----------
    Marichal, J.-L. (2004). Tolerant or intolerant character of interacting criteria in aggregation
    by the Choquet integral. European Journal of Operational Research 155, 771-791.

    Examples
    --------
    >>> from choquet import Measure
    >>> orness(Measure.symmetric([1, 0, 0])), orness(Measure.symmetric([0, 0, 1]))
    (1.0, 0.0)
    """
    few = check_measure(measure).as_mobius
    if few is not None:
        # Marichal 2000: a minimum of k of N inputs has orness (N - k) / ((k + 1) (N - 1)).
        n, k = few.n_sources, few.sizes
        each = (n - k) / ((k + 1) * max(n - 1, 1))
        return float(few.coefficients @ each) / few.total if n > 1 else 0.5
    return nearest_order_statistic(measure).orness


def andness(measure: AbstractMeasure) -> float:
    """Andness of the integral: 1 - orness.

    Examples
    --------
    >>> from choquet import Measure
    >>> andness(Measure.symmetric([0, 0, 1]))
    1.0
    """
    return 1.0 - orness(measure)


def veto(measure: AbstractMeasure) -> FloatArray:
    """Degree to which each source, being small, makes the integral small (Marichal 2004).

    Examples
    --------
    >>> from choquet import Measure
    >>> veto(Measure.symmetric([0, 0, 1]))
    array([1., 1., 1.])
    """
    return 1.0 - _means_around(check_measure(measure).to_measure(), with_source=False)


def favour(measure: AbstractMeasure) -> FloatArray:
    """Degree to which each source, being large, makes the integral large (Marichal 2004).

    Examples
    --------
    >>> from choquet import Measure
    >>> favour(Measure.symmetric([1, 0, 0]))
    array([1., 1., 1.])
    """
    return _means_around(check_measure(measure).to_measure(), with_source=True)


def _means_around(measure: Measure, *, with_source: bool) -> FloatArray:
    """Mean over sizes of the mean of g over subsets of the others, joined by the source or not.

    For vetoes the sizes run over 1..N-1 and for favours over 0..N-2, as in Marichal's definition.
    """
    n = measure.n_sources
    if n == 1:  # the only source has both, a veto and a favour
        return np.full(1, float(with_source))
    masks = np.arange(1 << n)
    result = np.empty(n)
    for i in range(n):
        others = masks[masks >> i & 1 == 0]
        # Drop bit i, so that subsets of the others are numbered as a lattice of N - 1 sources.
        values = measure.values[others | 1 << i if with_source else others]
        by_size = _mean_by_size(values)
        result[i] = (by_size[:-1] if with_source else by_size[1:]).mean()
    return result


def entropy(measure: AbstractMeasure, *, normalised: bool = True) -> float:
    """Entropy of the measure: the mean over walks of the entropy of their operators.

    From 0 (one input decides on every walk) to log N (the mean), or to 1 if normalised.

    References
    ----------
    Marichal, J.-L. (2002). Entropy of discrete Choquet capacities. European Journal of Operational
    Research 137, 612-624.

    Examples
    --------
    >>> from choquet import Measure
    >>> entropy(Measure.additive([0.5, 0.5])), entropy(Measure.symmetric([1, 0, 0]))
    (1.0, 0.0)
    """
    measure = check_measure(measure).to_measure()
    n = measure.n_sources
    if n == 1:
        return 0.0
    total = 0.0
    for share, step in joins_of(measure):
        positive = step > 0
        total -= float(share[positive] @ (step[positive] * np.log(step[positive])))
    return total / float(np.log(n)) if normalised else total


def nonadditivity(measure: AbstractMeasure) -> float:
    """Root mean square, over proper subsets, of g less the additive measure nearest to it.

    Examples
    --------
    >>> from choquet import Measure
    >>> nonadditivity(Measure.additive([0.2, 0.3, 0.5])) < 1e-12
    True
    """
    measure = check_measure(measure).to_measure()
    n = measure.n_sources
    if n == 1:
        return 0.0
    masks = np.arange(1, (1 << n) - 1)
    inside = (masks[:, None] >> np.arange(n) & 1).astype(np.float64)
    values = measure.values[1:-1]
    # Least squares with the weights summing to g(X), by eliminating the mean of inside's columns.
    total = float(measure.values[-1])
    base = inside.mean(axis=1) * total
    centred = inside - inside.mean(axis=1, keepdims=True)
    gram = centred.T @ centred
    weights = np.linalg.pinv(gram) @ (centred.T @ (values - base))
    return float(np.sqrt(np.mean((values - base - centred @ weights) ** 2)))


def nonmodularity(measure: AbstractMeasure) -> float:
    """Largest absolute g(A ∪ B) + g(A ∩ B) - g(A) - g(B), where A and B differ by one source each.

    Zero exactly for additive measures.

    Examples
    --------
    >>> from choquet import Measure
    >>> round(nonmodularity(Measure([0, 0.2, 0.3, 1])), 12)
    0.5
    """
    measure = check_measure(measure).to_measure()
    n = measure.n_sources
    worst = 0.0
    cube = measure.values.reshape((2,) * n)
    for i in range(n):
        for j in range(i):
            second = np.diff(np.diff(cube, axis=i), axis=j)
            worst = max(worst, float(np.abs(second).max()))
    return worst


def distance_to_operators(measure: AbstractMeasure) -> dict[str, float]:
    """Root mean square difference between the measure's operators and each familiar one.

    The mean is over all walks and ranks of cumulative weights, so it is exact without listing
    walks: every size counts alike, and every subset of one size.

    References
    ----------
    Price, Anderson, Wagner, Havens, Keller (2014). Indices for introspection on the Choquet
    integral. Advance Trends in Soft Computing, 261-271.

    Examples
    --------
    >>> from choquet import Measure
    >>> distance_to_operators(Measure.symmetric([0, 1, 0]))["median"]
    0.0
    """
    measure = check_measure(measure).to_measure()
    n = measure.n_sources
    if n == 1:
        return dict.fromkeys(familiar_operators(1), 0.0)
    first = _mean_by_size(measure.values)[1:-1]
    second = _mean_by_size(measure.values**2)[1:-1]
    distances = {}
    for name, weights in familiar_operators(n).items():
        level = np.cumsum(weights)[:-1]
        squares = second - 2 * level * first + level**2
        distances[name] = float(np.sqrt(max(squares.mean(), 0.0)))
    return distances
