"""Works with interpret: explainable boosting machines."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

__all__ = ["fit_classes", "fit_table"]

Task = tuple[Callable[[], Any], Callable[[Any], Any]]


def fit_table(inputs: dict[str, Any]) -> Task:
    """Explainable boosting machine."""
    from held_out import error_held_out, fitted
    from interpret.glassbox import ExplainableBoostingRegressor

    X, y = inputs["X"], inputs["y"]
    return lambda: fitted(
        ExplainableBoostingRegressor(n_jobs=1), X, y
    ), lambda model: error_held_out(model, inputs)


def fit_classes(inputs: dict[str, Any]) -> Task:
    """Explainable boosting machine."""
    from held_out import fitted, wrong_held_out
    from interpret.glassbox import ExplainableBoostingClassifier

    X, y = inputs["X"], inputs["y"] > inputs["middle"]
    return lambda: fitted(
        ExplainableBoostingClassifier(n_jobs=1), X, y
    ), lambda model: wrong_held_out(model, inputs)
