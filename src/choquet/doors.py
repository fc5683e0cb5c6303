"""Doors of rooms: names that load the module which holds them when they are first asked for."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any

__all__ = ["lazy_door"]


class _Room(ModuleType):
    """A room in which a module does not take the place of what it holds, if both have one name."""

    _where: Mapping[str, str]

    def __setattr__(self, name: str, value: Any) -> None:
        if not (isinstance(value, ModuleType) and name in self._where):
            super().__setattr__(name, value)


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
        For each module inside the room the names that it holds, with spaces between them. Modules
        and rooms inside the room are found by their own names.
    prepare : callable, optional
        Called before a module is loaded.

    Examples
    --------
    >>> load, names = lazy_door("choquet", {"measures": "Measure"})
    >>> load("Measure").__name__, load("indices").__name__, "Measure" in names()
    ('Measure', 'choquet.indices', True)
    """
    where = {name: module for module, names in places.items() for name in names.split()}
    own: Any = sys.modules[room]
    own._where, own.__class__ = {**vars(own).get("_where", {}), **where}, _Room

    def load(name: str) -> Any:
        if prepare is not None and name in where:
            prepare()
        if name in where:
            found = getattr(import_module(f"{room}.{where[name]}"), name)
            setattr(sys.modules[room], name, found)
            return found
        if not name.startswith("_") and find_spec(f"{room}.{name}") is not None:
            return import_module(f"{room}.{name}")
        raise AttributeError(f"module {room!r} has no attribute {name!r}")

    return load, lambda: sorted({*vars(sys.modules[room]), *sys.modules[room].__all__})
