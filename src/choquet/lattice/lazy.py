"""Modules that are loaded when something of them is first used, above all those of SciPy."""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.util import LazyLoader, find_spec, module_from_spec
from typing import TYPE_CHECKING, Any

__all__ = ["LazyModule", "linalg", "optimize", "put_off", "sp", "special"]


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


def put_off(*names: str) -> None:
    """Let modules inside packages load when one of their names is asked for, not on import.

    Examples
    --------
    >>> put_off("numpy.f2py")
    >>> import numpy
    >>> callable(numpy.f2py.main)
    True
    """
    for name in names:
        spec = None if name in sys.modules else find_spec(name)
        if spec is None or spec.loader is None:
            continue
        spec.loader = LazyLoader(spec.loader)
        module = sys.modules[name] = module_from_spec(spec)
        spec.loader.exec_module(module)
        package, _, last = name.rpartition(".")
        setattr(sys.modules[package], last, module)


if TYPE_CHECKING:
    import scipy.sparse as sp
    from scipy import linalg, optimize, special
else:
    sp, linalg = LazyModule("scipy.sparse"), LazyModule("scipy.linalg")
    optimize, special = LazyModule("scipy.optimize"), LazyModule("scipy.special")
