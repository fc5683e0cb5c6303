"""Linear functions of a measure as rows of coefficients: outputs, Shapley values, interactions.

Row @ values is the number itself, so one engine gives the range of all of them.
"""

from __future__ import annotations

from math import comb
from typing import Any

import numpy as np

from choquet.arrays import FloatArray
from choquet.lattice import subset_sizes
from choquet.lattice.lazy import sp
from choquet.lattice.ties import settled
from choquet.lattice.wide import chains


def output_rows(X: FloatArray) -> Any:
    """Gaps of each row by mask (scipy.sparse, CSR): outputs are ``output_rows(X) @ values``.

    Examples
    --------
    >>> output_rows(np.array([[0.9, 0.4]])).toarray().round(12)
    array([[0. , 0.5, 0. , 0.4]])
    """
    n_samples, n_sources = X.shape
    words, gaps = chains(settled(X))
    rows = np.repeat(np.arange(n_samples), n_sources)
    columns = words[..., 0].ravel().astype(np.int64)
    shape = (n_samples, 1 << n_sources)
    return sp.csr_array((gaps.ravel(), (rows, columns)), shape)


def shapley_rows(n_sources: int) -> FloatArray:
    """One row for each source: its Shapley value.

    Examples
    --------
    >>> shapley_rows(2) @ np.array([0.0, 0.2, 0.3, 1.0])
    array([0.45, 0.55])
    """
    sizes, inside = subset_sizes(n_sources).astype(np.int64), _inside(n_sources)
    joins = np.array([1 / (n_sources * comb(n_sources - 1, k)) for k in range(n_sources)] + [0.0])
    return np.asarray(np.where(inside.T, joins[sizes - 1], -joins[sizes]))


def interaction_rows(n_sources: int) -> FloatArray:
    """One row for each pair of sources, (0, 1), (0, 2) and so on: their interaction.

    Examples
    --------
    >>> interaction_rows(2) @ np.array([0.0, 0.2, 0.3, 1.0])
    array([0.5])
    """
    n, sizes, inside = n_sources, subset_sizes(n_sources).astype(np.int64), _inside(n_sources)
    joins = [1 / ((n - 1) * comb(n - 2, k)) for k in range(n - 1)]
    first, second = np.triu_indices(n, 1)
    held = inside[:, first].astype(np.int64) + inside[:, second]
    # By how many of the two a set holds: it is the set that both join, or one or two of them more.
    by_size = np.array([0.0, 0.0, *joins, 0.0, 0.0])[sizes[:, None] - held + 2]
    return np.asarray((by_size * np.array([1.0, -1.0, 1.0])[held]).T)


def orness_row(n_sources: int) -> FloatArray:
    """One row: orness, the mean value over the sizes 1 to N - 1.

    Examples
    --------
    >>> orness_row(2) @ np.array([0.0, 0.2, 0.3, 1.0])
    array([0.25])
    """
    sizes = subset_sizes(n_sources).astype(np.int64)
    inner = (sizes > 0) & (sizes < n_sources)
    count = np.array([comb(n_sources, int(k)) for k in sizes])
    return np.where(inner, 1 / (count * max(n_sources - 1, 1)), 0.0)[None, :]


def _inside(n_sources: int) -> Any:
    return ((np.arange(1 << n_sources)[:, None] >> np.arange(n_sources)) & 1).astype(bool)


INDICES = {"shapley": shapley_rows, "interaction": interaction_rows, "orness": orness_row}
"""Indices that are linear in the measure, by name."""
