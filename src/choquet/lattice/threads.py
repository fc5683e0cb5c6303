"""How many threads a compiled loop gets."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["WORTH_THREADS", "threads_for"]

WORTH_THREADS = 200_000
"""Steps of a loop (about 0.1 ms) from which on several threads are used."""


@contextmanager
def threads_for(n_steps: int) -> Iterator[None]:
    """One thread for short loops: on busy cores, waiting for a second one takes far longer.

    Examples
    --------
    >>> import numba
    >>> with threads_for(10):
    ...     numba.get_num_threads()
    1
    """
    if n_steps >= WORTH_THREADS:
        yield
        return
    import numba

    before = numba.get_num_threads()
    numba.set_num_threads(1)
    try:
        yield
    finally:
        numba.set_num_threads(before)
