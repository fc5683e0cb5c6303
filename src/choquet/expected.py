"""What comes out of a file must be what it is taken for: arrays, numbers and texts."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["expect_array", "expect_number", "expect_text"]

_MAX_WHOLE, _MAX_FLOAT = 1 << 62, 1.7e308
"""JSON has whole numbers of any size."""


def expect_array(
    data: Mapping[str, Any],
    name: str,
    shape: tuple[int | None, ...],
    *,
    kinds: str = "f",
    low: float = -math.inf,
    high: float = math.inf,
) -> npt.NDArray[Any]:
    """An array of some shape (None: any length), of finite numbers between two limits.

    Examples
    --------
    >>> expect_array({"shares": np.array([0.5, 1.5])}, "shares", (None,), low=0, high=1)
    Traceback (most recent call last):
    ...
    ValueError: shares holds 1.5, which is not from 0 to 1
    """
    array = data[name]
    if not isinstance(array, np.ndarray) or array.dtype.kind not in kinds:
        kind = array.dtype if isinstance(array, np.ndarray) else type(array).__name__
        raise ValueError(f"{name} is {kind}, no array of numbers of its kind")
    if len(array.shape) != len(shape) or any(
        size not in (None, there) for size, there in zip(shape, array.shape, strict=True)
    ):
        shown = ", ".join("any" if size is None else str(size) for size in shape)
        raise ValueError(f"{name} has shape {array.shape}, not ({shown})")
    if array.dtype.kind in "fiu":
        fine = (array >= low) & (array <= high)
        if array.dtype.kind == "f":
            fine &= np.isfinite(array)
        if not fine.all():
            raise ValueError(f"{name} holds {array[~fine][0]:g}, which is not {_range(low, high)}")
    return array


def expect_number(
    data: Mapping[str, Any],
    name: str,
    *,
    low: float = -math.inf,
    high: float = math.inf,
    whole: bool = False,
    lacking: bool = False,
) -> Any:
    """A finite number between two limits; NaN too where it may be lacking.

    Examples
    --------
    >>> expect_number({"n": 2.5}, "n", whole=True)
    Traceback (most recent call last):
    ...
    ValueError: n is 2.5, no whole number
    """
    value = data[name]
    right = isinstance(value, int if whole else int | float) and not isinstance(value, bool)
    if not right:
        raise ValueError(f"{name} is {value!r:.40}, no {'whole ' if whole else ''}number")
    limit = _MAX_WHOLE if whole else _MAX_FLOAT
    if not (lacking and math.isnan(value)) and not (low <= value <= high and abs(value) <= limit):
        raise ValueError(f"{name} is {value!s:.40}, which is not {_range(low, high)}")
    return value


def expect_text(data: Mapping[str, Any], name: str, known: Any = None) -> str:
    """A text, one of those that are known where they are given."""
    value = data[name]
    if not isinstance(value, str) or (known is not None and value not in known):
        raise ValueError(f"{name} is {value!r:.40}, which is unknown")
    return value


def _range(low: float, high: float) -> str:
    if low == -math.inf and high == math.inf:
        return "finite"
    return f"from {low:g} to {high:g}" if high < math.inf else f"finite and at least {low:g}"
