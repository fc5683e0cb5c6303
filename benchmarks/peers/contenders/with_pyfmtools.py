"""Works with pyfmtools (Beliakov and others; C++ behind Python)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

__all__ = ["absolute", "choquet", "interaction", "mobius", "random", "shapley", "walks"]

Task = tuple[Callable[[], Any], Callable[[Any], Any]]


def _opened(inputs: dict[str, Any]) -> tuple[Any, Any]:
    import pyfmtools

    g = inputs["g"]
    return g, pyfmtools.fm_init(len(g).bit_length() - 1)


def choquet(inputs: dict[str, Any]) -> Task:
    """One call for each row, since that is what there is."""
    from pyfmtools import Choquet

    g, env = _opened(inputs)
    X = inputs["X"]
    return lambda: np.array([Choquet(x, g, env) for x in X]), np.asarray


def mobius(inputs: dict[str, Any]) -> Task:
    """Möbius transform."""
    from pyfmtools import Mobius

    g, env = _opened(inputs)
    return lambda: Mobius(g, env), np.asarray


def shapley(inputs: dict[str, Any]) -> Task:
    """Shapley values."""
    from pyfmtools import Shapley

    g, env = _opened(inputs)
    return lambda: Shapley(g, env), np.asarray


def interaction(inputs: dict[str, Any]) -> Task:
    """Interaction of all subsets at once; it has no function for pairs alone."""
    from pyfmtools import Interaction

    g, env = _opened(inputs)
    n = len(g).bit_length() - 1
    pairs = [1 << i | 1 << j for i in range(n) for j in range(i + 1, n)]
    return lambda: Interaction(g, env), lambda found: found[pairs]


def walks(inputs: dict[str, Any]) -> Task:
    """All maximal chains, their weights put by source."""
    from pyfmtools import export_maximal_chains

    g, env = _opened(inputs)
    n = len(g).bit_length() - 1
    run = lambda: export_maximal_chains(n, g, env)  # noqa: E731
    return run, lambda found: np.sort(found.reshape(-1, n), axis=1)


def random(inputs: dict[str, Any]) -> Task:
    """Topological sort and Markov steps, one measure after the other.

    The steps are as many as it takes to be uniform: with a thousand of them, at 8 sources, the mean
    value of a single source is three times too large.
    """
    import pyfmtools

    n, count = int(inputs["n_sources"]), int(inputs["count"])
    env = pyfmtools.fm_init(n)
    steps = 16 * 4**n

    def run() -> Any:
        return [pyfmtools.generate_fm_tsort(1, n, n, steps, 0, 1.0, env)[1] for _ in range(count)]

    return run, lambda found: [pyfmtools.ConvertCard2Bit(g, env) for g in found]


def absolute(inputs: dict[str, Any]) -> Task:
    """Its fit: a linear program."""
    import pyfmtools

    X, y = inputs["X"], inputs["y"]
    n = X.shape[1]
    env = pyfmtools.fm_init(n)
    table = np.column_stack([X, y])

    def answer(g: Any) -> Any:
        fitted = np.array([pyfmtools.Choquet(x, g, env) for x in X])
        return [np.abs(fitted - y).mean()]

    return lambda: pyfmtools.FuzzyMeasureFit(len(X), n, env, table), answer
