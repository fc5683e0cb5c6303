"""Results of which some are computed when they are asked for."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any


class LazyResults(dict[str, Any]):
    """A dict in which a `functools.partial` stands for what it returns, until somebody looks.

    Examples
    --------
    >>> found = LazyResults(name="all", error=partial(sum, [1, 2]))
    >>> found.known()
    {'name': 'all'}
    >>> found["error"], dict(found)
    (3, {'name': 'all', 'error': 3})
    """

    def __getitem__(self, key: str) -> Any:
        value = super().__getitem__(key)
        if isinstance(value, partial):
            value = self[key] = value()
        return value

    def __iter__(self) -> Iterator[str]:
        # Defined, so that copies are made through `__getitem__`.
        return super().__iter__()

    def get(self, key: str, default: Any = None) -> Any:
        """The entry, or `default`."""
        return self[key] if key in self else default  # noqa: SIM401 - it would call itself

    def items(self) -> Any:
        """Names and entries, all of them computed."""
        return {key: self[key] for key in self}.items()

    def values(self) -> Any:
        """The entries, all of them computed."""
        return {key: self[key] for key in self}.values()

    def __repr__(self) -> str:
        return repr(dict(self))

    def known(self) -> dict[str, Any]:
        """The entries that need no computing."""
        return {key: value for key, value in super().items() if not isinstance(value, partial)}
