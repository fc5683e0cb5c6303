"""Tables for people: columns of plain data as a frame of pandas or polars."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Literal

from choquet.arrays import check_option
from choquet.errors import MissingDependencyError

__all__ = ["FrameLibrary", "to_frame"]

FrameLibrary = Literal["pandas", "polars"]


_LIBRARIES: tuple[FrameLibrary, ...] = ("pandas", "polars")


def to_frame(columns: Mapping[str, Sequence[Any]], library: FrameLibrary | None = None) -> Any:
    """A frame of columns, all of one length; of the first library that is installed by default.

    Examples
    --------
    >>> to_frame({"operator": ["max", "median"], "share": [0.6, 0.4]}).shape
    (2, 2)
    """
    if library is None:
        library = next((name for name in _LIBRARIES if find_spec(name) is not None), None)
        if library is None:
            raise MissingDependencyError("a frame needs pandas or polars: pip install pandas")
    check_option("library", library, _LIBRARIES)
    try:
        made = import_module(library)
    except ImportError:
        raise MissingDependencyError(f"a frame needs {library}: pip install {library}") from None
    return made.DataFrame(dict(columns))
