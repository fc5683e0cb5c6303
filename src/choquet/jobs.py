"""Many jobs at once: the one place that hands work to joblib, whatever its backend.

    with joblib.parallel_config(backend="dask"):
        FusionClassifier(estimators, n_jobs=-1).fit(X, y)

runs classes and folds on the workers of a `dask.distributed` client; without it they are processes
of this machine, and with ``n_jobs=None`` outside of any `parallel_config` one job runs at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from choquet.arrays import generator
from choquet.watching import each, steps

__all__ = ["run_jobs", "spawn"]


def run_jobs(
    function: Callable[..., Any],
    jobs: Iterable[tuple[Any, ...]],
    *,
    n_jobs: int | None = None,
    title: str = "fitting",
) -> list[Any]:
    """Results of ``function(*job)`` for each job, in order.

    Parameters
    ----------
    function : callable
        Defined in a module, so that other processes find it.
    jobs : iterable of tuples
        Arguments; drawn one by one as workers have room.
    n_jobs : int, optional
        Jobs at a time; -1 for all processors. None takes what `joblib.parallel_config` says, and 1
        without it.
    title : str, default "fitting"
        What the jobs do, for whoever watches; see `choquet.watch`.

    Examples
    --------
    >>> run_jobs(pow, [(2, 3), (3, 2)])
    [8, 9]
    """
    from joblib import Parallel, delayed, effective_n_jobs

    total = len(jobs) if isinstance(jobs, list | tuple) else None
    if effective_n_jobs(n_jobs) == 1:
        return [function(*job) for job in each(title, jobs, total)]
    # Workers outlive a call. An iterator of their results that nobody ends would stop them for the
    # next one, so results come all at once.
    with steps(title, total) as advance:
        found = list(Parallel(n_jobs=n_jobs)(delayed(function)(*job) for job in jobs))
        advance(len(found))
    return found


def spawn(rng: Any, n: int) -> list[np.random.Generator]:
    """Independent generators, one a job, that depend on the seed but not on who runs them.

    Examples
    --------
    >>> first, second = spawn(0, 2)
    >>> first.integers(100) != second.integers(100)
    np.True_
    """
    return generator(rng).spawn(n)
