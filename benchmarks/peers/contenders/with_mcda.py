"""Works with mcda (Python, pandas)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

__all__ = ["choquet", "interaction", "mobius", "shapley"]

Task = tuple[Callable[[], Any], Callable[[Any], Any]]


def _function(inputs: dict[str, Any]) -> tuple[Any, int]:
    from mcda.set_functions import SetFunction

    g = inputs["g"]
    n = len(g).bit_length() - 1
    return SetFunction(g.tolist(), ensemble=list(range(n))), n


def choquet(inputs: dict[str, Any]) -> Task:
    """Its aggregator on a performance table."""
    from mcda.matrices import PerformanceTable
    from mcda.mavt.aggregators import ChoquetIntegral

    integral = ChoquetIntegral(_function(inputs)[0])
    table = PerformanceTable(inputs["X"])
    return lambda: integral(table), lambda found: np.array(list(found.data))


def mobius(inputs: dict[str, Any]) -> Task:
    """Möbius representation."""
    from mcda.set_functions import HashableSet

    function, n = _function(inputs)
    sets = [HashableSet.from_index(mask, list(range(n))) for mask in range(1 << n)]
    return lambda: function.mobius, lambda found: np.array([found.values[s] for s in sets])


def shapley(inputs: dict[str, Any]) -> Task:
    """Shapley values."""
    function, n = _function(inputs)
    return lambda: function.shapley, lambda found: found[list(range(n))].to_numpy()


def interaction(inputs: dict[str, Any]) -> Task:
    """Interaction of all pairs."""
    function, n = _function(inputs)
    upper = np.triu_indices(n, 1)
    return lambda: function.interaction_index, lambda found: found.to_numpy()[upper]
