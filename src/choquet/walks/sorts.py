"""Sorts of the sources: from data, to and from lexicographic numbers, all of them, at random."""

from __future__ import annotations

from itertools import permutations
from math import factorial
from typing import Any

import numpy as np
import numpy.typing as npt

from choquet.arrays import BoolArray, FloatArray, IntArray, as_inputs, generator
from choquet.errors import DataError, TooLargeError
from choquet.lattice.threads import in_chunks
from choquet.lattice.ties import falling, settled, strict_falls
from choquet.lattice.wide import as_sorts
from choquet.measures.abstract import AbstractMeasure, check_measure

__all__ = [
    "all_sorts",
    "all_walk_weights",
    "as_sorts",
    "random_sorts",
    "sort_rank",
    "sort_unrank",
    "sorts_of",
    "strict_steps",
    "walk_weights",
]

_MAX_EXACT = 20
"""20! is the largest factorial below 2**63: numbers of longer sorts are Python integers."""

_MAX_LISTED = 500_000_000
"""Most numbers in a list of all walks (4 GB)."""


def sorts_of(X: npt.ArrayLike) -> IntArray:
    """Sort of each sample: source numbers by decreasing input, ties in the order of the sources.

    Inputs that differ by rounding alone are tied (`choquet.lattice.ties`). A sample with ties has
    several sorts and supports none of them fully: `strict_steps` tells where.

    Parameters
    ----------
    X : array-like of shape (n_samples, N)
        Inputs, one column for each source.

    Returns
    -------
    array of ints of shape (n, N)
        Source numbers, largest input first; one sort in each row.

    Examples
    --------
    >>> sorts_of([[0.2, 0.9, 0.5]])
    array([[1, 2, 0]])
    >>> sorts_of([[0.1 * 3, 0.3], [0.3, 0.1 * 3]])
    array([[0, 1],
           [0, 1]])
    """
    return falling(as_inputs(X))[0]


def strict_steps(
    X: npt.ArrayLike, sorts: IntArray | None = None, tolerance: float = 0.0
) -> BoolArray:
    """Whether each step of a sample's walk is a strict one: input j larger than input j + 1.

    Larger by more than rounding (`choquet.lattice.ties`), and by more than `tolerance`. Column j
    (from 0) tells whether the set of the j + 1 largest inputs is well defined; the last column, the
    set of all sources, always is.

    Examples
    --------
    >>> strict_steps([[0.5, 0.9, 0.5]])
    array([[ True, False,  True]])
    """
    inputs = as_inputs(X)
    if sorts is None:
        sorted_inputs = falling(inputs)[1]
    else:
        sorted_inputs = np.take_along_axis(settled(inputs), sorts, axis=1)
    strict = np.ones(inputs.shape, dtype=np.bool_)
    strict[:, :-1] = strict_falls(sorted_inputs, tolerance)
    return strict


def sort_rank(sorts: npt.ArrayLike) -> npt.NDArray[Any]:
    """Lexicographic number of each sort, from 0 (Lehmer code).

    Parameters
    ----------
    sorts : array-like of ints of shape (n, N)
        Source numbers, largest input first.

    Returns
    -------
    array of int64, or of Python integers beyond 20 sources

    Examples
    --------
    >>> sort_rank([[0, 1, 2], [0, 2, 1], [2, 1, 0]])
    array([0, 1, 5])
    """
    rows = as_sorts(sorts)
    n = rows.shape[1]
    dtype: Any = np.int64 if n <= _MAX_EXACT else object
    ranks = np.zeros(len(rows), dtype=dtype)
    for j in range(n - 1):
        smaller_after = (rows[:, j + 1 :] < rows[:, j : j + 1]).sum(axis=1).astype(dtype)
        ranks += smaller_after * factorial(n - 1 - j)
    return ranks


def sort_unrank(ranks: npt.ArrayLike, n_sources: int) -> IntArray:
    """Sort with each lexicographic number: the inverse of `sort_rank`.

    Parameters
    ----------
    ranks : array-like of ints
        Numbers from 0 to N! - 1.
    n_sources : int
        N.

    Returns
    -------
    array of ints of shape (n, N)
        Source numbers, largest input first; one sort in each row.

    Examples
    --------
    >>> sort_unrank([0, 5], 3)
    array([[0, 1, 2],
           [2, 1, 0]])
    """
    n_sorts = factorial(n_sources)
    rest = np.atleast_1d(np.asarray(ranks, dtype=np.int64 if n_sources <= _MAX_EXACT else object))
    for value in (rest.min(), rest.max()) if rest.size else ():
        if not 0 <= value < n_sorts:
            raise DataError(
                f"sorts of {n_sources} sources are numbered 0..{n_sorts - 1}, not {value}"
            )
    code = np.empty((len(rest), n_sources), dtype=np.int64)
    for j in range(n_sources):
        place = factorial(n_sources - 1 - j)
        code[:, j], rest = rest // place, rest % place
    # Right to left: an entry moves up by one for each earlier choice that is not larger.
    for j in reversed(range(n_sources - 1)):
        code[:, j + 1 :] += code[:, j + 1 :] >= code[:, j : j + 1]
    return code


def all_sorts(n_sources: int) -> IntArray:
    """All N! sorts in lexicographic order.

    Parameters
    ----------
    n_sources : int
        N; there are N! sorts.

    Returns
    -------
    array of ints of shape (n, N)
        Source numbers, largest input first; one sort in each row.

    Examples
    --------
    >>> all_sorts(2)
    array([[0, 1],
           [1, 0]])
    """
    _refuse_long_list(n_sources)
    sorts = np.zeros((1, 1), dtype=np.int8)
    for n in range(2, n_sources + 1):
        # Each first source i in front of the sorts of the others, renumbered to skip i.
        sorts = np.concatenate(
            [
                np.column_stack([np.full(len(sorts), i, dtype=np.int8), sorts + (sorts >= i)])
                for i in range(n)
            ]
        )
    return sorts.astype(np.int64)


def random_sorts(n_sources: int, n: int, rng: Any = None) -> IntArray:
    """Sorts drawn uniformly, with replacement.

    Parameters
    ----------
    n_sources : int
        N.
    n : int
        How many to draw.
    rng : seed or numpy.random.Generator, optional
        Where the randomness comes from.

    Returns
    -------
    array of ints of shape (n, N)
        Source numbers, largest input first; one sort in each row.

    Examples
    --------
    >>> random_sorts(4, 2, rng=0).shape
    (2, 4)
    """
    rows = np.tile(np.arange(n_sources), (n, 1))
    return generator(rng).permuted(rows, axis=1)


def walk_weights(measure: AbstractMeasure, sorts: npt.ArrayLike) -> FloatArray:
    """Operator of each walk: w_j = g(A_j) - g(A_{j-1}) for the j largest inputs A_j.

    Parameters
    ----------
    measure : AbstractMeasure
        On N sources. Where only bounds of a value are known, its middle counts.
    sorts : array-like of shape (n, N)
        Source numbers, largest input first.

    Returns
    -------
    array of shape (n, N)
        Weights by rank, largest input first.

    Examples
    --------
    >>> from choquet import Measure
    >>> g = Measure([0, 0, 1, 1, 1, 1, 1, 1], sources=["gpr", "ir", "emi"])
    >>> walk_weights(g, [[0, 1, 2], [1, 0, 2]])
    array([[0., 1., 0.],
           [1., 0., 0.]])
    """
    return check_measure(measure).walk_weights(sorts)


def all_walk_weights(measure: AbstractMeasure) -> FloatArray:
    """Operators of all N! walks in lexicographic order of their sorts.

    For the distinct ones among them, without N! steps, see `OperatorGraph`.

    Parameters
    ----------
    measure : AbstractMeasure
        On N sources.

    Returns
    -------
    array of shape (N!, N)
        One operator in each row.

    Examples
    --------
    >>> from choquet import Measure
    >>> all_walk_weights(Measure([0, 0.2, 0.3, 1]))
    array([[0.2, 0.8],
           [0.3, 0.7]])
    """
    from choquet.lattice import _kernels

    n = check_measure(measure).n_sources
    _refuse_long_list(n)
    dense = measure.to_measure()
    depth = min(2, n - 1)
    prefixes = np.array(list(permutations(range(n), depth)), dtype=np.int64)
    weights, each = np.empty((factorial(n), n)), factorial(n - depth)

    def part(low: int, high: int) -> None:
        rows = weights[low * each : high * each]
        _kernels.all_walk_weights(dense.values, prefixes[low:high], each, rows)

    in_chunks(part, len(prefixes), 4 * each * n)
    return weights


def _refuse_long_list(n_sources: int) -> None:
    if factorial(n_sources) * n_sources > _MAX_LISTED:
        size = factorial(n_sources) * n_sources * 8 / 1e9
        raise TooLargeError(
            f"all {factorial(n_sources):,} walks of {n_sources} sources would take {size:,.0f} GB; "
            "use OperatorGraph for the distinct operators, or random_sorts for a sample"
        )
