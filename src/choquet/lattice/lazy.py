"""Modules of SciPy that are loaded when something of them is first used."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__all__ = ["LazyModule", "linalg", "optimize", "sp", "special"]


class LazyModule:
    """A module that stands for another until one of its names is asked for.

    Sparse matrices and linear algebra of SciPy take a quarter of a second to load; a model that was
    read from a file predicts without them.

    Examples
    --------
    >>> sp = LazyModule("scipy.sparse")
    >>> sp.eye_array(2).nnz
    2
    """

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        found = getattr(import_module(self._name), name)
        setattr(self, name, found)
        return found


if TYPE_CHECKING:
    import scipy.sparse as sp
    from scipy import linalg, optimize, special
else:
    sp, linalg = LazyModule("scipy.sparse"), LazyModule("scipy.linalg")
    optimize, special = LazyModule("scipy.optimize"), LazyModule("scipy.special")
