"""How loops are compiled: the one place that chooses Numba's options.

Loops are serial and release the interpreter's lock; threads are handed out by
`choquet.lattice.threads`. What was compiled is kept on disk for the next process: beside the
package, in the user's cache folder, or where ``NUMBA_CACHE_DIR`` says. Where none of these can be
written, each process compiles in memory.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba

__all__ = ["compiled", "compiled_with"]

Loop = Callable[..., Any]


def compiled(function: Loop) -> Loop:
    """Compile a loop on its first call.

    Examples
    --------
    >>> @compiled
    ... def triangle(n):
    ...     total = 0
    ...     for k in range(n):
    ...         total += k
    ...     return total
    >>> triangle(5)
    10
    """
    return compiled_with()(function)


def compiled_with(**options: Any) -> Callable[[Loop], Loop]:
    """Compile a loop on its first call, with more of `numba.njit`'s options.

    Examples
    --------
    >>> @compiled_with(error_model="numpy")
    ... def ratio(a, b):
    ...     return a / b
    >>> ratio(1.0, 0.0)
    inf
    """

    def compile_(function: Loop) -> Loop:
        try:
            loop: Loop = numba.njit(cache=True, nogil=True, **options)(function)
        except RuntimeError:  # no folder can be written to
            loop = numba.njit(nogil=True, **options)(function)
        return loop

    return compile_
