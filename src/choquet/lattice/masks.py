"""Subsets as bit masks."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from choquet.arrays import IntArray
from choquet.errors import MeasureError, SourceError, TooLargeError

MAX_DENSE_SOURCES = 24
"""Largest number of sources whose 2**N values are held as one array (128 MiB each)."""


def check_dense(n_sources: int) -> None:
    """Refuse a dense array that would not fit, saying what it needs and what to use instead.

    Examples
    --------
    >>> check_dense(40)
    Traceback (most recent call last):
    ...
    choquet.errors.TooLargeError: a dense measure on 40 sources needs 2**40 values (8,192 GiB); ...
    """
    if n_sources > MAX_DENSE_SOURCES:
        size = f"{2 ** (n_sources - 27):,} GiB" if n_sources < 60 else f"2**{n_sources + 3} bytes"
        raise TooLargeError(
            f"a dense measure on {n_sources} sources needs 2**{n_sources} values ({size}); "
            f"the limit is {MAX_DENSE_SOURCES} sources. Use a SupportedMeasure, which keeps only "
            "the subsets that data support"
        )
    if n_sources < 1:
        raise SourceError("a measure needs at least one source")


def mask_of(sources: Iterable[int]) -> int:
    """Bit mask of a subset given by source numbers.

    Examples
    --------
    >>> mask_of([0, 2])
    5
    """
    mask = 0
    for source in sources:
        mask |= 1 << int(source)
    return mask


def members(mask: int) -> tuple[int, ...]:
    """Source numbers of a subset, ascending.

    Examples
    --------
    >>> members(5)
    (0, 2)
    """
    mask = int(mask)
    return tuple(i for i in range(mask.bit_length()) if mask >> i & 1)


def n_sources_of(values: npt.ArrayLike) -> int:
    """N for an array of 2**N values; one of more than a dense measure may have is refused.

    Examples
    --------
    >>> n_sources_of([0, 0.4, 0.7, 1])
    2
    """
    shape = np.shape(values)
    n_sources = shape[0].bit_length() - 1 if len(shape) == 1 else 0
    if n_sources < 1 or shape[0] != 1 << n_sources:
        raise MeasureError(
            f"a measure on N sources needs 2**N values in one row (2, 4, 8, ...), not shape {shape}"
        )
    check_dense(n_sources)
    return n_sources


@lru_cache(maxsize=8)
def subset_sizes(n_sources: int) -> npt.NDArray[np.uint8]:
    """Number of sources in each subset, by mask (read-only, shared between calls).

    Examples
    --------
    >>> subset_sizes(2)
    array([0, 1, 1, 2], dtype=uint8)
    """
    check_dense(n_sources)
    sizes = np.bitwise_count(np.arange(1 << n_sources, dtype=np.uint32))
    sizes.flags.writeable = False
    return sizes


def masks_by_size(n_sources: int, size: int) -> IntArray:
    """Masks of all subsets of one size, in the lexicographic order of their source numbers.

    This is the order in which the literature numbers "the first pair", "the second pair", …

    Examples
    --------
    >>> [members(m) for m in masks_by_size(3, 2)]
    [(0, 1), (0, 2), (1, 2)]
    """
    from itertools import combinations

    return np.array([mask_of(c) for c in combinations(range(n_sources), size)], dtype=np.int64)


def masks_by_sizes(n_sources: int) -> IntArray:
    """Masks of all subsets by size, then in the lexicographic order of their source numbers.

    Examples
    --------
    >>> masks_by_sizes(3)
    array([0, 1, 2, 4, 3, 5, 6, 7])
    """
    return np.concatenate([masks_by_size(n_sources, size) for size in range(n_sources + 1)])


def cover_pairs(n_sources: int) -> IntArray:
    """All pairs (A, A ∪ {i}) of masks: the N 2**(N-1) edges of the Hasse diagram.

    Examples
    --------
    >>> cover_pairs(2).tolist()
    [[0, 1], [2, 3], [0, 2], [1, 3]]
    """
    masks = np.arange(1 << n_sources, dtype=np.int64)
    edges = []
    for i in range(n_sources):
        lower = masks[masks >> i & 1 == 0]
        edges.append(np.column_stack([lower, lower | 1 << i]))
    return np.concatenate(edges)
