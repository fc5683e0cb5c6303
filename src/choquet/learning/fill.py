"""Values for subsets that no data support: an explicit policy, always inside what is possible.

The supported values of a monotone measure leave every other subset an interval, from the largest
value inside it to the smallest around it. Each policy picks a monotone filling of those intervals.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np

from choquet.arrays import BoolArray, FloatArray, IntArray, check_option
from choquet.errors import OptionError
from choquet.lattice import downward_minimum, n_sources_of, subset_sizes, upward_maximum

FillName = Literal["lower", "upper", "midpoint", "prior", "similar"]


def uncertainty(values: FloatArray, supported: BoolArray) -> tuple[FloatArray, FloatArray]:
    """Interval of uncertainty of every subset, by mask: (value, value) where supported.

    References
    ----------
    Islam, Anderson, Pinar & Havens (2018), "Data-driven compression and efficient learning of the
    Choquet integral".

    Examples
    --------
    >>> values = np.array([0.0, 0.4, np.nan, 1.0])
    >>> uncertainty(values, np.array([True, True, False, True]))
    (array([0. , 0.4, 0. , 1. ]), array([0. , 0.4, 1. , 1. ]))
    """
    known = supported.copy()
    known[[0, -1]] = True
    lower = upward_maximum(np.where(known, values, 0.0))
    upper = downward_minimum(np.where(known, values, values[-1]))
    return lower, upper


def walk_distance(masks: IntArray, sorts: IntArray) -> IntArray:
    """Least Kendall distance from each sort to a walk through each subset.

    The nearest such walk keeps the sort's order inside the subset and outside; it must only move
    the subset's sources to the front. That takes one swap for every pair of a source in the subset
    that comes after one outside: the ranks of the subset's sources, less those of a front row.

    Parameters
    ----------
    masks : array of shape (K,)
    sorts : array of shape (S, N)
        Source numbers, largest input first.

    Returns
    -------
    array of shape (K, S)

    References
    ----------
    Kendall (1938), "A new measure of rank correlation"; Mann & Whitney (1947), for the sum of
    ranks as a count of pairs.

    Examples
    --------
    >>> walk_distance(np.array([0b001, 0b110]), np.array([[0, 1, 2], [2, 0, 1]]))
    array([[0, 1],
           [2, 1]])
    """
    n_sources = sorts.shape[1]
    ranks = np.argsort(sorts, axis=1)
    inside = (masks[:, None] >> np.arange(n_sources)) & 1
    sizes = inside.sum(axis=1)
    # Small whole numbers: exact in single precision, where the product is fastest.
    total = inside.astype(np.float32) @ ranks.T.astype(np.float32)
    return np.asarray(total.astype(np.int64) - (sizes * (sizes - 1) // 2)[:, None])


def _similar(
    values: FloatArray, supported: BoolArray, sorts: IntArray | None, counts: IntArray | None
) -> FloatArray:
    """Mean, at the same size, over the walks that are most similar to one through the subset."""
    n_sources = n_sources_of(values)
    sizes = subset_sizes(n_sources)
    estimate = np.array(values)
    for size in range(1, n_sources):
        level = np.flatnonzero(sizes == size)
        unknown = level[~supported[level]]
        known, weight, distance = _walks_at(size, level[supported[level]], supported, sorts, counts)
        if not len(known) or not len(unknown):
            estimate[unknown] = np.nan
            continue
        # Blocks keep the table of distances small on the wide middle levels.
        for block in np.array_split(unknown, max(1, len(unknown) * len(known) // 4_000_000)):
            far = distance(block)
            closest = (far == far.min(axis=1, keepdims=True)) * weight
            estimate[block] = (closest @ values[known]) / closest.sum(axis=1)
    return estimate


def _walks_at(
    size: int,
    known: IntArray,
    supported: BoolArray,
    sorts: IntArray | None,
    counts: IntArray | None,
) -> tuple[IntArray, FloatArray, Callable[[IntArray], IntArray]]:
    """Subsets on supported walks at one size, how much each counts, and the distance to them."""
    if sorts is not None and len(sorts):
        at = (1 << sorts[:, :size].astype(np.int64)).sum(axis=1)
        kept = supported[at]
        if kept.any():
            seen, weight = sorts[kept], np.ones(len(sorts)) if counts is None else counts
            return at[kept], weight[kept].astype(float), lambda masks: walk_distance(masks, seen)
    # No row without a tie: any walk through a supported subset may be the one that was seen. Two
    # subsets that differ in m sources have walks m * m swaps apart.
    return (
        known,
        np.ones(len(known)),
        lambda masks: (size - np.bitwise_count(masks[:, None] & known).astype(np.int64)) ** 2,
    )


FILLS: dict[str, str] = {
    "lower": "the smallest value possible: cautious",
    "upper": "the largest value possible: bold",
    "midpoint": "the middle of the interval",
    "prior": "the prior's value, moved into the interval",
    "similar": "the mean over the most similar supported walks, at the same size",
}
"""What each policy means."""


def fill_unsupported(
    values: FloatArray,
    supported: BoolArray,
    *,
    policy: FillName = "midpoint",
    prior: FloatArray | None = None,
    sorts: IntArray | None = None,
    counts: IntArray | None = None,
) -> FloatArray:
    """Monotone measure that keeps the supported values and fills the others.

    Parameters
    ----------
    values : array of shape (2**N,)
        Values by mask; those of unsupported subsets are ignored.
    supported : array of bool of shape (2**N,)
    policy : {"lower", "upper", "midpoint", "prior", "similar"}, default "midpoint"
        A row of `FILLS`.
    prior : array of shape (2**N,), optional
        Monotone values for ``policy="prior"``.
    sorts, counts : arrays of shape (S, N) and (S,), optional
        Observed sorts and how often each was seen, for ``policy="similar"``: a subset gets the mean
        value, at its size, of the observed walks with least Kendall distance to a walk through it.
        Without them any walk through a supported subset counts as observed.

    Examples
    --------
    >>> values = np.array([0.0, 0.4, np.nan, 1.0])
    >>> supported = np.array([True, True, False, True])
    >>> fill_unsupported(values, supported, policy="similar", sorts=np.array([[0, 1]]))
    array([0. , 0.4, 0.4, 1. ])
    """
    check_option("policy", policy, FILLS)
    lower, upper = uncertainty(values, supported)
    middle = (lower + upper) / 2
    ends = {"lower": lower, "upper": upper, "midpoint": middle}
    if policy in ends:
        return ends[policy]
    if policy == "similar":
        wished = _similar(values, supported, sorts, counts)
    elif prior is None:
        raise OptionError("fill='prior' needs a prior: pass one, or choose fill='midpoint'")
    else:
        wished = np.asarray(prior, dtype=np.float64)
    wished = np.where(np.isnan(wished), middle, wished)
    # Where the wish is not monotone it is raised, which the upper ends allow.
    return upward_maximum(np.clip(wished, lower, upper))
