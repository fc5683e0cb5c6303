"""One pool of threads for all compiled loops.

Compiled loops are serial and release the interpreter's lock (see `choquet.lattice.compiling`), so
that plain threads can share their rows. There is no OpenMP: a process may fork after any call,
and several threads may call at the same time. Chunks do not depend on the number of threads, so
neither do results.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from functools import cache
from typing import TypeVar

T = TypeVar("T")

WORTH_THREADS = 5_000_000
"""Steps of a loop (about 2 ms) from which on several threads share it."""
CHUNK = 1_000_000
"""Steps of a chunk (about 0.4 ms): a thread that loses its processor delays no more than that."""
LIMITS = ("CHOQUET_NUM_THREADS", "NUMBA_NUM_THREADS", "OMP_NUM_THREADS")
"""Variables of the environment that limit the number of threads; the first that is set counts."""


def n_threads() -> int:
    """How many threads may share a loop: what the environment says, or one for each processor.

    joblib and Dask set such variables for their workers.

    Examples
    --------
    >>> n_threads() >= 1
    True
    """
    for name in LIMITS:
        # OpenMP takes a list, one number for each level of nesting; ours is the outermost.
        first = os.environ.get(name, "").split(",")[0].strip()
        if first.isdecimal() and int(first) > 0:
            return int(first)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Linear algebra in one thread, as a context or a decorator.

    Products that are small and many take longer in several threads, which wait for each other, and
    on a busy machine for very long: an additive fit of 20,000 rows and 20 columns took four times
    the processor time with two. Sums have the same order in every process, too.

    Examples
    --------
    >>> import numpy as np
    >>> with one_blas_thread():
    ...     float(np.ones(3) @ np.ones(3))
    3.0
    """
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    with threadpool_limits(limits=1, user_api="blas"):
        yield


def in_chunks(run: Callable[[int, int], T], n: int, steps: int) -> list[T]:
    """Results of ``run(low, high)`` over consecutive parts of 0..n, in order.

    The calling thread takes one part after the other, and so do helpers if there are many steps.
    An error in a part stops the others and is raised here.

    Parameters
    ----------
    run : callable
        Works on rows low to high - 1. It writes to no place that other rows write to, and
        releases the interpreter's lock.
    n : int
        Number of rows.
    steps : int
        Steps of the loop for one row, of about 0.4 ns each.

    Examples
    --------
    >>> in_chunks(lambda low, high: high - low, 10, steps=CHUNK // 4)
    [4, 4, 2]
    """
    size = max(1, CHUNK // max(steps, 1))
    if n <= size:
        return [run(0, n)]
    parts = [(low, min(n, low + size)) for low in range(0, n, size)]
    todo = deque(enumerate(parts))
    done: dict[int, T] = {}

    def work() -> None:
        try:
            while True:
                try:
                    number, part = todo.popleft()
                except IndexError:
                    return
                done[number] = run(*part)
        except BaseException:
            todo.clear()
            raise

    helpers = _helpers(work, len(parts) - 1) if n * steps >= WORTH_THREADS else []
    try:
        work()
        for helper in helpers:
            # One that has not begun yet is not waited for.
            if not helper.cancel():
                helper.result()
    finally:
        # After an error or Ctrl-C, nothing may still write to the caller's arrays.
        wait([helper for helper in helpers if not helper.cancel()])
    return [done[number] for number in range(len(parts))]


def _helpers(work: Callable[[], None], most: int) -> list[Future[None]]:
    """Futures of the helpers; fewer where no thread can be started."""
    limit, found = n_threads() - 1, list[Future[None]]()
    for _ in range(min(limit, most)):
        # Refused when the interpreter is about to end, or the system has no thread to give.
        with suppress(RuntimeError):
            found.append(_pool(limit).submit(work))
    return found


@cache
def _pool(size: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(size, thread_name_prefix="choquet")


if hasattr(os, "register_at_fork"):
    # Threads do not survive a fork: the child makes its own pool when it needs one.
    os.register_at_fork(after_in_child=_pool.cache_clear)
