"""Names of sources, and subsets as people write them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from choquet.errors import SourceError


def check_sources(sources: Iterable[str] | None, n_sources: int) -> tuple[str, ...]:
    """Names as a tuple of distinct strings; by default x1, x2, … as in the literature.

    Examples
    --------
    >>> check_sources(None, 3)
    ('x1', 'x2', 'x3')
    """
    if sources is None:
        return tuple(f"x{i + 1}" for i in range(n_sources))
    if isinstance(sources, str):
        raise SourceError(f"sources must be a list of names, not the text {sources!r}")
    names = tuple(str(name) for name in sources)
    if len(names) != n_sources:
        raise SourceError(f"{len(names)} source names were given for {n_sources} sources")
    if len(set(names)) < len(names):
        repeated = sorted({name for name in names if names.count(name) > 1})
        raise SourceError(f"source names must differ, but {repeated[0]!r} is given more than once")
    return names


def source_numbers(sources: Sequence[str], subset: Iterable[str | int]) -> tuple[int, ...]:
    """Numbers of the sources of a subset given by names or numbers, in the order given.

    Examples
    --------
    >>> source_numbers(("gpr", "ir", "emi"), ["emi", 0])
    (2, 0)
    """
    numbers: list[int] = []
    for item in subset:
        if isinstance(item, str):
            if item not in sources:
                raise SourceError(f"no source is named {item!r}; there are {', '.join(sources)}")
            number = sources.index(item)
        else:
            number = int(item)
            if number != item or not 0 <= number < len(sources):
                raise SourceError(f"source number {item} is outside 0..{len(sources) - 1}")
        if number in numbers:
            raise SourceError(f"source {sources[number]!r} is named twice in one subset")
        numbers.append(number)
    return tuple(numbers)


def subset_of(key: Any) -> tuple[Any, ...]:
    """Subset as a tuple, given as one name or number, or as a collection of them.

    Examples
    --------
    >>> subset_of("ir"), subset_of({2})
    (('ir',), (2,))
    """
    return (key,) if isinstance(key, str | int | np.integer) else tuple(key)


def format_subset(sources: Sequence[str], mask: int) -> str:
    """A subset in words.

    Examples
    --------
    >>> format_subset(("gpr", "ir", "emi"), 5)
    '{gpr, emi}'
    """
    inside = [name for i, name in enumerate(sources) if mask >> i & 1]
    return f"{{{', '.join(inside)}}}" if inside else "∅"
