"""Doors of rooms: names that load the module which holds them when they are first asked for."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

__all__ = ["lazy_door"]


def lazy_door(
    room: str, places: Mapping[str, str], prepare: Callable[[], None] | None = None
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """`__getattr__` and `__dir__` (PEP 562) of a room whose names are found in the modules named.

    A command then loads what it uses, not all that stands beside it. Type checkers see the same
    names by imports under ``TYPE_CHECKING``; a test compares the two.

    Parameters
    ----------
    room : str
        Name of the package.
    places : mapping of str to str
        For each module inside the room the names that it holds, with spaces between them. The
        names of the empty module are rooms inside the room.
    prepare : callable, optional
        Called before a module is loaded.

    Examples
    --------
    >>> load, names = lazy_door("choquet", {"measures": "Measure"})
    >>> load("Measure").__name__, names()
    ('Measure', ['Measure'])
    """
    where = {name: module for module, names in places.items() for name in names.split()}

    def load(name: str) -> Any:
        if name not in where:
            raise AttributeError(f"module {room!r} has no attribute {name!r}")
        if prepare is not None:
            prepare()
        if not where[name]:
            return import_module(f"{room}.{name}")
        found = getattr(import_module(f"{room}.{where[name]}"), name)
        setattr(sys.modules[room], name, found)
        return found

    return load, lambda: sorted({*vars(sys.modules[room]), *where})
