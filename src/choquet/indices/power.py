"""Shapley, Banzhaf and interaction indices.

Each is a weighted sum of g over subsets, with weights that depend on the subset's size and on which
of the one or two sources it holds. Sums over "all subsets that hold i" (and j) cost O(2**N) for all
sources (and pairs) together, so the indices cost less than one Möbius transform.
"""

from __future__ import annotations

from math import comb
from typing import Any

import numpy as np

from choquet.arrays import FloatArray
from choquet.errors import MissingDependencyError
from choquet.lattice import (
    containing_sums,
    containing_sums_of_pairs,
    members,
    mobius,
    subset_sizes,
    superset_zeta,
)
from choquet.lattice.wide import membership
from choquet.measures import AbstractMeasure, Measure, MobiusMeasure, check_measure
from choquet.walks import DataSupport, OperatorGraph, check_support


def shapley(measure: AbstractMeasure) -> FloatArray:
    """Shapley value of each source: its mean contribution over all walks; they sum to g(X).

    Parameters
    ----------
    measure : AbstractMeasure
        On N sources.

    Returns
    -------
    array of shape (N,)
        One value for each source.

    References
    ----------
    Shapley, L. S. (1953). A value for n-person games. Annals of Mathematics Studies 28, 307-317.

    Examples
    --------
    >>> from choquet import Measure, shapley
    >>> shapley(Measure([0, 0.2, 0.3, 1])).round(12)
    array([0.45, 0.55])
    """
    few = check_measure(measure).as_mobius
    if few is not None:
        # A coefficient belongs to its members in equal parts.
        return _by_source(few, np.asarray(1 / few.sizes, dtype=np.float64))
    n = measure.n_sources
    # |A|! (N - |A| - 1)! / N! for a set A that the source joins.
    joins = np.array([1 / (n * comb(n - 1, a)) for a in range(n)] + [0.0])
    return _single_index(measure.to_measure(), joins)


def banzhaf(measure: AbstractMeasure) -> FloatArray:
    """Banzhaf value of each source: its mean contribution over all subsets of the others.

    Parameters
    ----------
    measure : AbstractMeasure
        On N sources.

    Returns
    -------
    array of shape (N,)
        One value for each source.

    References
    ----------
    Banzhaf, J. F. (1965). Weighted voting doesn't work. Rutgers Law Review 19, 317-343.

    Examples
    --------
    >>> from choquet import Measure, banzhaf
    >>> banzhaf(Measure([0, 0.2, 0.3, 1])).round(12)
    array([0.45, 0.55])
    """
    few = check_measure(measure).as_mobius
    if few is not None:
        # The other members are all there in one of 2^(k - 1) subsets.
        return _by_source(few, np.exp2(1.0 - few.sizes))
    n = measure.n_sources
    return _single_index(measure.to_measure(), np.array([0.5 ** (n - 1)] * n + [0.0]))


def _by_source(measure: MobiusMeasure, shares: FloatArray) -> FloatArray:
    """Sum over the subsets with each source of a share of their coefficients."""
    inside = membership(measure.words, measure.n_sources)
    return np.asarray((measure.coefficients * shares) @ inside)


def _single_index(measure: Measure, joins: FloatArray) -> FloatArray:
    """Σ over A without i of joins[|A|] (g(A ∪ i) - g(A)), for every i."""
    sizes = subset_sizes(measure.n_sources)
    left = joins[sizes] * measure.values
    joined = np.concatenate([[0.0], joins[:-1]])[sizes] * measure.values
    # Σ over A without i of `left` is the sum of all of it less that over A with i.
    return containing_sums(left + joined) - float(left.sum())


def interaction(measure: AbstractMeasure) -> FloatArray:
    """Interaction index of every pair (N × N): > 0 they complement, < 0 they replace each other.

    The diagonal holds the Shapley values, as the index of single sources does.

    Parameters
    ----------
    measure : AbstractMeasure
        On N sources.

    Returns
    -------
    array of shape (N, N)
        Symmetric.

    References
    ----------
    Murofushi, Soneda (1993). Techniques for reading fuzzy measures (III): interaction index.
    Grabisch (1997). k-order additive discrete fuzzy measures. Fuzzy Sets and Systems 92, 167-189.

    Examples
    --------
    >>> from choquet import Measure, interaction
    >>> interaction(Measure([0, 0.2, 0.3, 1])).round(12)
    array([[0.45, 0.5 ],
           [0.5 , 0.55]])
    """
    few = check_measure(measure).as_mobius
    held = measure.to_measure() if few is None else few
    n, result = measure.n_sources, np.diag(shapley(held))
    if few is not None:
        inside = membership(few.words, n).astype(np.float64)
        shared = few.coefficients / np.maximum(few.sizes - 1, 1)
        pairs = inside.T @ (np.where(few.sizes > 1, shared, 0.0)[:, None] * inside)
        return np.asarray(np.where(np.eye(n, dtype=np.bool_), result, pairs))
    if n == 1:
        return result
    values = held.to_measure().values
    # |A|! (N - |A| - 2)! / (N - 1)! for a set A that both sources join.
    joins = np.array([1 / ((n - 1) * comb(n - 2, a)) for a in range(n - 1)] + [0.0, 0.0])
    sizes = subset_sizes(n)
    neither = joins[sizes] * values
    one = -np.concatenate([[0.0], joins[:-1]])[sizes] * values
    both = np.concatenate([[0.0, 0.0], joins[:-2]])[sizes] * values
    # "Exactly one" and "neither" by inclusion and exclusion over sums of sets that hold a source.
    single = containing_sums(one - neither)
    pairs = containing_sums_of_pairs(both - 2 * one + neither)
    pairs += single[:, None] + single[None, :] + neither.sum()
    return np.where(np.eye(n, dtype=np.bool_), result, pairs)


def interaction_transform(measure: AbstractMeasure) -> FloatArray:
    """Shapley interaction index of every subset, by mask (Grabisch 1997).

    Examples
    --------
    >>> from choquet import Measure
    >>> interaction_transform(Measure([0, 0.2, 0.3, 1])).round(12)
    array([0.41666667, 0.45      , 0.55      , 0.5       ])
    """
    # I(A) = Σ_{B ⊇ A} m(B) / (|B| - |A| + 1): one superset sum for each difference of sizes would
    # do; a weighted sum over supersets by size is a polynomial in |B|, integrated over [0, 1]:
    # ∫ t^(|B|-|A|) dt, exact by Gauss quadrature with ⌈(N + 1) / 2⌉ nodes.
    n = check_measure(measure).n_sources
    masses = mobius(measure.to_measure().values)
    sizes = subset_sizes(n).astype(np.float64)
    nodes, shares = np.polynomial.legendre.leggauss(n // 2 + 1)
    total = np.zeros(len(masses))
    for t, share in zip((nodes + 1) / 2, shares / 2, strict=True):
        power = t**sizes
        total += share * superset_zeta(masses * power) / power
    return total


def supported_shapley(
    measure: AbstractMeasure, support: DataSupport, *, epsilon: float = 0.0
) -> FloatArray:
    """Mean contribution of each source over the walks that data support, all counted once.

    NaN for every source if no walk is supported.

    References
    ----------
    Murray, Islam, Pinar, Anderson, Scott, Havens, Keller (2020). Explainable AI for the Choquet
    integral. IEEE Transactions on Emerging Topics in Computational Intelligence.

    Examples
    --------
    >>> from choquet import DataSupport, Measure
    >>> supported_shapley(Measure([0, 0.2, 0.3, 1]), DataSupport.from_data([[0.9, 0.1]]))
    array([0.2, 0.8])
    """
    return np.diagonal(supported_interaction(measure, support, epsilon=epsilon)).copy()


def supported_interaction(
    measure: AbstractMeasure, support: DataSupport, *, epsilon: float = 0.0
) -> FloatArray:
    """Interaction of each pair over the places where data support all four values it compares.

    A pair i, j is compared at a set A if A, A ∪ i, A ∪ j and A ∪ {i, j} are all supported; the mean
    over these A is weighted as in the full index, so that full support gives `interaction`. NaN
    where there is no such place. The diagonal holds `supported_shapley`.

    Examples
    --------
    >>> from choquet import DataSupport, Measure
    >>> g = Measure([0, 0.2, 0.3, 1])
    >>> supported_interaction(g, DataSupport.from_data([[0.9, 0.1], [0.1, 0.9]])).round(12)
    array([[0.45, 0.5 ],
           [0.5 , 0.55]])
    """
    n = check_measure(measure).n_sources
    check_support(support, measure)
    result = np.full((n, n), np.nan)
    known, g, sizes = support.supported, measure.to_measure().values, subset_sizes(n)
    joins = np.array([1 / comb(n - 2, a) if n > 1 else 1.0 for a in range(max(n - 1, 1))])
    masks = np.arange(1 << n)
    for i in range(n):
        for j in range(i):
            a = masks[(masks >> i & 1 == 0) & (masks >> j & 1 == 0)]
            both, with_i, with_j = a | 1 << i | 1 << j, a | 1 << i, a | 1 << j
            shares = joins[sizes[a]] * (known[a] & known[both] & known[with_i] & known[with_j])
            if shares.any():
                change = g[both] - g[with_i] - g[with_j] + g[a]
                result[i, j] = result[j, i] = shares @ change / shares.sum()
    result[np.diag_indices(n)] = OperatorGraph(measure, support, epsilon=epsilon).contributions()
    return result


def to_shapiq(measure: AbstractMeasure) -> Any:
    """Pair interactions as shapiq's ``InteractionValues`` object, for its plots.

    Examples
    --------
    >>> from choquet import Measure
    >>> to_shapiq(Measure([0, 0.2, 0.3, 1]))  # doctest: +SKIP
    InteractionValues(index=k-SII, max_order=2, ...)
    """
    try:
        from shapiq import InteractionValues
    except ImportError:
        raise MissingDependencyError(
            "exporting interactions needs shapiq: pip install shapiq"
        ) from None
    full = interaction_transform(measure)
    subsets = [members(m) for m in range(len(full)) if m.bit_count() <= 2]
    lookup = {subset: k for k, subset in enumerate(subsets)}
    values = np.array([full[sum(1 << i for i in subset)] for subset in subsets])
    return InteractionValues(
        values=values,
        index="SII",
        max_order=2,
        min_order=0,
        n_players=measure.n_sources,
        interaction_lookup=lookup,
        baseline_value=0.0,
        estimated=False,
    )
