"""Works with measures averaged over families."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from benchmarks.peers.contenders.held_out import error_held_out, fitted
from benchmarks.peers.contenders.kernels import compile_at_once

__all__ = ["fit_table"]

beforehand = compile_at_once

Task = tuple[Callable[[], Any], Callable[[Any], Any]]


def fit_table(inputs: dict[str, Any]) -> Task:
    """Average over families of measures."""
    from choquet import estimators

    learner: Any = estimators.ChoquetRegressorCV
    X, y = inputs["X"], inputs["y"]
    return lambda: fitted(learner(), X, y), lambda model: error_held_out(model, inputs)
