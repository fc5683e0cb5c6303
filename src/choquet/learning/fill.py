"""Values for subsets that no data support: an explicit policy, always inside what is possible.

The supported values of a monotone measure leave every other subset an interval, from the largest
value inside it to the smallest around it. Each policy picks a monotone filling of those intervals.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple

import numpy as np

from choquet.arrays import BoolArray, FloatArray, check_option
from choquet.errors import OptionError
from choquet.lattice import downward_minimum, n_sources_of, subset_sizes, upward_maximum

__all__ = ["FILLS", "Fill", "FillName", "fill_unsupported", "uncertainty"]

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


def _similar(values: FloatArray, supported: BoolArray, _: FloatArray | None) -> FloatArray:
    """Mean over the supported subsets of the same size that share most sources."""
    n_sources = n_sources_of(values)
    sizes = subset_sizes(n_sources)
    estimate = np.array(values)
    for size in range(1, n_sources):
        level = np.flatnonzero(sizes == size)
        known, unknown = level[supported[level]], level[~supported[level]]
        if not len(known) or not len(unknown):
            estimate[unknown] = np.nan
            continue
        # Blocks keep the table of overlaps small on the wide middle levels.
        for block in np.array_split(unknown, max(1, len(unknown) * len(known) // 4_000_000)):
            shared = np.bitwise_count(block[:, None] & known[None, :])
            closest = shared == shared.max(axis=1, keepdims=True)
            estimate[block] = (closest @ values[known]) / closest.sum(axis=1)
    return estimate


def _prior(_values: FloatArray, _: BoolArray, prior: FloatArray | None) -> FloatArray:
    if prior is None:
        raise OptionError("fill='prior' needs a prior: pass one, or choose fill='midpoint'")
    return np.asarray(prior, dtype=np.float64)


class Fill(NamedTuple):
    """One row of the table of policies."""

    wish: Callable[[FloatArray, BoolArray, FloatArray | None], FloatArray] | None
    """Wished values, moved into the intervals afterwards; None where an interval end is meant."""
    meaning: str


FILLS: dict[str, Fill] = {
    "lower": Fill(None, "the smallest value possible: cautious"),
    "upper": Fill(None, "the largest value possible: bold"),
    "midpoint": Fill(None, "the middle of the interval"),
    "prior": Fill(_prior, "the prior's value, moved into the interval"),
    "similar": Fill(_similar, "the mean of the most similar supported subsets of the same size"),
}


def fill_unsupported(
    values: FloatArray,
    supported: BoolArray,
    *,
    policy: FillName = "midpoint",
    prior: FloatArray | None = None,
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

    Examples
    --------
    >>> values = np.array([0.0, 0.4, np.nan, 1.0])
    >>> supported = np.array([True, True, False, True])
    >>> fill_unsupported(values, supported, policy="similar")
    array([0. , 0.4, 0.4, 1. ])
    """
    check_option("policy", policy, FILLS)
    lower, upper = uncertainty(values, supported)
    if policy == "lower":
        return lower
    if policy == "upper":
        return upper
    middle = (lower + upper) / 2
    wish = FILLS[policy].wish
    if wish is None:
        return middle
    wished = wish(values, supported, prior)
    wished = np.where(np.isnan(wished), middle, wished)
    # Where the wish is not monotone it is raised, which the upper ends allow.
    return upward_maximum(np.clip(wished, lower, upper))
