"""The orders in which programs list the values of a measure."""

from __future__ import annotations

from typing import Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from choquet.arrays import FloatArray, check_option
from choquet.errors import MeasureError
from choquet.lattice import check_dense, masks_by_sizes, monotonicity_witness

OrderName: TypeAlias = Literal["binary", "size"]

ORDERS: tuple[str, ...] = get_args(OrderName)
"""By bit mask, and by size and then lexicographically."""


def by_mask(values: npt.ArrayLike, order: str) -> FloatArray:
    """Values by bit mask, from values in an order; the last axis runs over the subsets.

    Parameters
    ----------
    values : array-like of shape (..., 2**N) or (..., 2**N - 1)
        With the empty set first, or without it.
    order : {"binary", "size"}
        The order of the subsets.

    Raises
    ------
    MeasureError
        If the number of values is neither, or g(∅) is not 0.

    Examples
    --------
    >>> by_mask([0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 1], "size")
    array([0. , 0.1, 0.2, 0.4, 0.3, 0.5, 0.6, 1. ])
    """
    check_option("order", order, ORDERS)
    array = np.asarray(values, dtype=np.float64)
    length = array.shape[-1]
    n_sources = (length + 1).bit_length() - 1
    check_dense(max(n_sources, 1))
    if length == (1 << n_sources) - 1 and length:
        array = np.concatenate([np.zeros((*array.shape[:-1], 1)), array], axis=-1)
    elif length != 1 << n_sources or length < 2:
        raise MeasureError(
            f"{length} values make no measure: on N sources there are 2**N (2, 4, 8, ...), or "
            "2**N - 1 without the empty set; values without the whole set need its 1 at the end"
        )
    elif array[..., 0].any():
        first = array[..., 0].ravel()
        raise MeasureError(
            f"of {length} values the first is g(∅) and must be 0, not "
            f"{first[np.flatnonzero(first)[0]]:g}; leave the empty set out, or give its 0"
        )
    if order == "size":
        sized = array
        array = np.empty_like(sized)
        array[..., masks_by_sizes(n_sources)] = sized
    return array


def other_order(values: npt.ArrayLike, order: str) -> str:
    """A hint if values that are not monotone in one order are so in the other, else nothing.

    Examples
    --------
    >>> other_order([0, 0.1, 0.2, 0.3, 0.1, 0.3, 0.4, 1], "size")
    ". Read with order='binary' they are monotone"
    """
    other = ORDERS[1 - ORDERS.index(order)]
    if monotonicity_witness(by_mask(values, other)) is not None:
        return ""
    return f". Read with order={other!r} they are monotone"
