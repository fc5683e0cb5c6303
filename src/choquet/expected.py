"""What comes out of a file must be what it is taken for: arrays, numbers and texts."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

__all__ = [
    "FLAG",
    "NAMES",
    "NUMBER",
    "TEXT",
    "Array",
    "Field",
    "Number",
    "Text",
    "Words",
    "expect_fields",
]

_MAX_WHOLE, _MAX_FLOAT = 1 << 62, 1.7e308
"""JSON has whole numbers of any size."""


@dataclass(frozen=True)
class Field:
    """What a field must be. `known` holds numbers by name, for ends and sizes that have one."""

    def check(self, value: Any, name: str, known: dict[Any, Any]) -> Any:  # noqa: ARG002
        """The value, or a ValueError: here True or False, not what only counts as one."""
        if not isinstance(value, bool):
            raise ValueError(f"{name} is {value!r:.40}, not true or false")
        return value


@dataclass(frozen=True)
class Array(Field):
    """An array of some shape (None: any length), of finite numbers between two ends."""

    shape: tuple[int | str | None, ...]
    kinds: str = "f"
    low: float | str = -math.inf
    high: float | str = math.inf

    def check(self, value: Any, name: str, known: dict[Any, Any]) -> Any:
        """The array."""
        if not isinstance(value, np.ndarray) or value.dtype.kind not in self.kinds:
            kind = value.dtype if isinstance(value, np.ndarray) else type(value).__name__
            raise ValueError(f"{name} is {kind}, no array of numbers of its kind")
        shape = [known.get(one) if isinstance(one, str) else one for one in self.shape]
        if len(value.shape) != len(shape) or any(
            size not in (None, there) for size, there in zip(shape, value.shape, strict=True)
        ):
            shown = ", ".join("any" if size is None else str(size) for size in shape)
            raise ValueError(f"{name} has shape {value.shape}, not ({shown})")
        if value.dtype.kind in "fiu":
            low, high = known.get(self.low, self.low), known.get(self.high, self.high)
            fine = (value >= low) & (value <= high)
            if value.dtype.kind == "f":
                fine &= np.isfinite(value)
            if not fine.all():
                wrong = value[~fine][0]
                raise ValueError(f"{name} holds {wrong:g}, which is not {_range(low, high)}")
        known.update(zip(self.shape, value.shape, strict=True))
        return value


@dataclass(frozen=True)
class Words(Field):
    """Subsets of so many sources, 64 of them to a word: distinct, and ascending as numbers.

    Fields after it know how many there are by its name, and by "last" the number of the last one.
    """

    sources: str

    def check(self, value: Any, name: str, known: dict[Any, Any]) -> Any:
        """The subsets, as an array of a row each."""
        n_sources = known[self.sources]
        words = Array((None, -(-n_sources // 64)), "u").check(value, name, known)
        before, after = words[:-1, ::-1], words[1:, ::-1]  # the last word counts most
        first = (before != after).argmax(axis=1)[:, None]
        rises = np.take_along_axis(before, first, 1) < np.take_along_axis(after, first, 1)
        if not rises.all():
            raise ValueError(f"{name} are not distinct subsets in order")
        last = n_sources % 64
        if last and len(words) and int(words[:, -1].max()) >> last:
            raise ValueError(f"{name} holds subsets of more than {n_sources} sources")
        known.update({name: len(words), "last": len(words) - 1})
        return words


@dataclass(frozen=True)
class Number(Field):
    """A finite number between two ends; NaN too where it may be lacking."""

    low: float | str = -math.inf
    high: float | str = math.inf
    whole: bool = False
    lacking: bool = False

    def check(self, value: Any, name: str, known: dict[Any, Any]) -> Any:
        """The number."""
        right = isinstance(value, int if self.whole else int | float)
        if not right or isinstance(value, bool):
            raise ValueError(f"{name} is {value!r:.40}, no {'whole ' if self.whole else ''}number")
        limit = _MAX_WHOLE if self.whole else _MAX_FLOAT
        low, high = known.get(self.low, self.low), known.get(self.high, self.high)
        inside = low <= value <= high and abs(value) <= limit
        if not inside and not (self.lacking and value != value):
            raise ValueError(f"{name} is {value!s:.40}, which is not {_range(low, high)}")
        known[name] = value
        return value


@dataclass(frozen=True)
class Text(Field):
    """A text, one of those that are known where they are given."""

    among: Collection[str] | None = None

    def check(self, value: Any, name: str, known: dict[Any, Any]) -> Any:  # noqa: ARG002
        """The text."""
        if not isinstance(value, str) or (self.among is not None and value not in self.among):
            raise ValueError(f"{name} is {value!r:.40}, which is unknown")
        return value


@dataclass(frozen=True)
class _Names(Field):
    def check(self, value: Any, name: str, known: dict[Any, Any]) -> Any:
        if not isinstance(value, list | tuple) or not all(isinstance(one, str) for one in value):
            raise ValueError(f"{name} are no list of names")
        if not value or len(set(value)) < len(value):
            raise ValueError(f"{name} are not distinct, or none")
        known[name] = len(value)
        return tuple(value)


FLAG, NAMES, NUMBER, TEXT = Field(), _Names(), Number(), Text()
"""True or false; distinct texts, at least one; any finite number; any text."""


def expect_fields(
    data: Mapping[str, Any],
    table: Mapping[str, Field],
    *,
    absent: Collection[str] = (),
    unknown: Collection[str] = (),
    **sizes: int,
) -> dict[str, Any]:
    """The fields of a table, each of which is what the table says.

    Those in `absent` may be absent, those in `unknown` None or absent. A name in a shape or for an
    end stands for a number: one of `sizes`, a field before it, how many names that held, or a size
    of the first array whose shape has that name.

    Examples
    --------
    >>> shares = Array(("sources",), low=0, high=1)
    >>> table = {"sources": NAMES, "weights": shares, "n": Number(whole=True)}
    >>> expect_fields({"sources": ["ir"], "weights": np.ones(3), "n": 1}, table)
    Traceback (most recent call last):
    ...
    ValueError: weights has shape (3,), not (1)
    >>> expect_fields({"sources": ["ir"], "weights": np.array([1.5]), "n": 1}, table)
    Traceback (most recent call last):
    ...
    ValueError: weights holds 1.5, which is not from 0 to 1
    >>> expect_fields({"sources": ["ir"], "weights": np.ones(1), "n": 2.5}, table)
    Traceback (most recent call last):
    ...
    ValueError: n is 2.5, no whole number
    >>> expect_fields({"words": np.array([[3], [9]], dtype=np.uint64)}, {"words": Words("n")}, n=3)
    Traceback (most recent call last):
    ...
    ValueError: words holds subsets of more than 3 sources
    """
    known: dict[Any, Any] = dict(sizes)
    return {
        name: field.check(data[name], name, known)
        for name, field in table.items()
        if not (name in absent and name not in data)
        and not (name in unknown and data.get(name) is None)
    }


def _range(low: float, high: float) -> str:
    if low == -math.inf and high == math.inf:
        return "finite"
    return f"from {low:g} to {high:g}" if high < math.inf else f"finite and at least {low:g}"
