"""Works with contexts, an operator in each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from benchmarks.peers.contenders.held_out import error_held_out, fitted, wrong_held_out
from benchmarks.peers.contenders.kernels import compile_at_once

__all__ = ["fit_classes", "fit_table"]

beforehand = compile_at_once

Task = tuple[Callable[[], Any], Callable[[Any], Any]]


def fit_table(inputs: dict[str, Any]) -> Task:
    """Contexts with an operator in each."""
    from choquet import estimators

    learner: Any = estimators.ContextualRegressor
    X, y = inputs["X"], inputs["y"]
    return lambda: fitted(learner(), X, y), lambda model: error_held_out(model, inputs)


def fit_classes(inputs: dict[str, Any]) -> Task:
    """Contexts with log-odds in each."""
    from choquet import estimators

    learner: Any = estimators.ContextualClassifier
    X, y = inputs["X"], inputs["y"] > inputs["middle"]
    return lambda: fitted(learner(), X, y), lambda model: wrong_held_out(model, inputs)
