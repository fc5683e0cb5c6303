"""How loops are compiled, and when: the one place that chooses Numba's options.

A loop is written once, in plain Python over arrays. To load Numba and compile it takes one second
to four, as long as three million steps in plain Python or more. So a loop that says how many steps
a call takes runs as it stands until it has made `PLAIN` of them, and compiled from then on. Both
ways give the same answer to the bit; nothing depends on which was taken. A process whose work is
small compiles nothing and does not even load Numba.

Compiled loops are serial and release the interpreter's lock; threads are handed out by
`choquet.lattice.threads`. What was compiled is kept on disk for the next process: beside the
package, in the user's cache folder, or where ``NUMBA_CACHE_DIR`` says. Where none of these can be
written, each process compiles in memory.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from types import FunctionType
from typing import Any, Literal

import numpy as np

from choquet.watching import steps

PLAIN = 3_000_000
"""Steps that a loop makes in plain Python, about 1 s, before it is compiled."""

Mode = Literal["plain", "fast"]

_COMPILING = threading.RLock()
"""Held while a loop is compiled. A fork waits for it: a child must not find Numba half loaded."""

if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_COMPILING.acquire,
        after_in_parent=_COMPILING.release,
        after_in_child=_COMPILING.release,
    )


class Loop:
    """A loop in plain Python that is compiled when its work is worth it.

    Parameters
    ----------
    function : function
        The loop. Other loops that it calls follow it: plain from plain, compiled from compiled.
    steps : callable, optional
        How many steps a call takes, from its arguments. Without it every call is compiled.
    plain : function, optional
        What stands in for the loop while it is plain, with the same answer to the bit: whole
        arrays at once, say.
    inside : bool, default False
        Whether compiled loops alone call it: it is compiled without what calls from Python need,
        which takes up to half as long. Called from Python it runs as it stands.
    options
        Further options of `numba.njit`.
    """

    def __init__(
        self,
        function: FunctionType,
        *,
        steps: Callable[..., float] | None = None,
        plain: FunctionType | None = None,
        inside: bool = False,
        **options: Any,
    ) -> None:
        self.function, self.steps, self.stands_in, self.options = function, steps, plain, options
        self.spent = np.inf if steps is None and not inside else 0.0
        if inside:
            self.options = options | {"no_cpython_wrapper": True}
        self.__doc__, self.__name__ = function.__doc__, function.__name__
        self.__module__, self.__wrapped__ = function.__module__, function
        self._made: dict[Mode, Callable[..., Any]] = {}
        self._compiled = False

    def __call__(self, *args: Any) -> Any:
        """Run it, in the way that suits the work."""
        if self.spent <= PLAIN and self.steps is not None:
            self.spent += self.steps(*args)
        if self.spent <= PLAIN:
            with np.errstate(all="ignore"):  # compiled loops say nothing of overflow either
                return self.made("plain")(*args)
        if self._compiled:
            return self.made("fast")(*args)
        with _COMPILING, steps("compiling, the first time"):  # Numba does so in the first call
            answer = self.made("fast")(*args)
            self._compiled = True
        return answer

    def made(self, mode: Mode) -> Callable[..., Any]:
        """The loop as it stands, or compiled."""
        if mode not in self._made:
            source = self.function
            if mode == "plain" and self.stands_in is not None:
                source = self.stands_in
            twin = FunctionType(
                source.__code__,
                _names_of(source, mode),
                source.__name__,
                source.__defaults__,
                source.__closure__,
            )
            twin.__module__, twin.__qualname__ = source.__module__, source.__qualname__
            self._made[mode] = twin if mode == "plain" else _compile(twin, self.options)
        return self._made[mode]


def _names_of(function: FunctionType, mode: Mode) -> dict[str, Any]:
    """The names of the function's module, with the loops that it calls in the same mode."""
    names = dict(function.__globals__)
    for name in function.__code__.co_names:
        if isinstance(names.get(name), Loop):
            names[name] = names[name].made(mode)
    return names


def _compile(function: FunctionType, options: dict[str, Any]) -> Callable[..., Any]:
    import numba

    options = {"nogil": True, "no_cfunc_wrapper": True} | options  # nobody calls them from C
    try:
        loop: Callable[..., Any] = numba.njit(cache=True, **options)(function)
    except RuntimeError:  # no folder can be written to
        loop = numba.njit(**options)(function)
    return loop


def compiled(function: Callable[..., Any]) -> Any:
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


def compiled_with(
    *,
    steps: Callable[..., float] | None = None,
    plain: Callable[..., Any] | None = None,
    inside: bool = False,
    **options: Any,
) -> Callable[[Callable[..., Any]], Any]:
    """Compile a loop when its work is worth it, with more of `numba.njit`'s options; see `Loop`.

    Examples
    --------
    >>> @compiled_with(steps=lambda n: n)
    ... def triangle(n):
    ...     total = 0
    ...     for k in range(n):
    ...         total += k
    ...     return total
    >>> triangle(5), triangle.spent
    (10, 5.0)
    """

    def loop_of(function: Any) -> Loop:
        return Loop(function, steps=steps, plain=plain, inside=inside, **options)  # type: ignore[arg-type]

    return loop_of
