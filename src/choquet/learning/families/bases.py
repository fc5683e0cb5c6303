"""Families of measures as column spaces: additive, k-additive, symmetric."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np

from choquet.errors import OptionError
from choquet.lattice import check_dense, mask_of, subset_sizes
from choquet.lattice.lazy import sp


def k_additive_basis(n_sources: int, k: int) -> Any:
    """Matrix from the Möbius values of sets of at most k sources to all 2**N values of g.

    References
    ----------
    Grabisch (1997), "k-order additive discrete fuzzy measures and their representation".

    Examples
    --------
    >>> k_additive_basis(2, 1).toarray()
    array([[0., 0.],
           [1., 0.],
           [0., 1.],
           [1., 1.]])
    """
    check_dense(n_sources)
    if not 1 <= k <= n_sources:
        raise OptionError(f"k={k} is out of range for {n_sources} sources: choose 1 to {n_sources}")
    masks = np.arange(1 << n_sources)
    columns = [mask_of(c) for size in range(1, k + 1) for c in combinations(range(n_sources), size)]
    pieces = [masks[masks & column == column] for column in columns]
    starts = np.concatenate([[0], np.cumsum([len(p) for p in pieces])])
    rows = np.concatenate(pieces)
    shape = (1 << n_sources, len(columns))
    return sp.csr_array(sp.csc_array((np.ones(len(rows)), rows, starts), shape=shape))


def additive_basis(n_sources: int) -> Any:
    """Matrix from N densities to the values of the additive measure.

    Examples
    --------
    >>> additive_basis(3) @ np.array([0.2, 0.3, 0.5])
    array([0. , 0.2, 0.3, 0.5, 0.5, 0.7, 0.8, 1. ])
    """
    return k_additive_basis(n_sources, 1)


def symmetric_basis(n_sources: int) -> Any:
    """Matrix from one value per size 1..N to the values of the symmetric measure (Yager's OWA).

    Examples
    --------
    >>> symmetric_basis(2) @ np.array([0.3, 1.0])
    array([0. , 0.3, 0.3, 1. ])
    """
    sizes = subset_sizes(n_sources).astype(np.int64)
    rows = np.arange(1, len(sizes))
    shape = (len(sizes), n_sources)
    return sp.csr_array((np.ones(len(rows)), (rows, sizes[1:] - 1)), shape=shape)
