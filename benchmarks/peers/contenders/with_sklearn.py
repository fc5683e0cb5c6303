"""Works with scikit-learn."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

__all__ = ["fit_classes", "fit_table", "mst"]

Task = tuple[Callable[[], Any], Callable[[Any], Any]]


def mst(inputs: dict[str, Any]) -> Task:
    """Single linkage: its merges are the edges of the tree."""
    from sklearn.cluster import AgglomerativeClustering

    points = inputs["points"]
    model = AgglomerativeClustering(n_clusters=1, linkage="single", compute_distances=True)
    return lambda: model.fit(points), lambda found: np.sort(found.distances_)


def fit_table(inputs: dict[str, Any]) -> Task:
    """Gradient boosting of trees on binned columns."""
    from held_out import error_held_out, fitted
    from sklearn.ensemble import HistGradientBoostingRegressor

    X, y = inputs["X"], inputs["y"]
    return lambda: fitted(HistGradientBoostingRegressor(), X, y), lambda model: error_held_out(
        model, inputs
    )


def fit_classes(inputs: dict[str, Any]) -> Task:
    """Gradient boosting of trees on binned columns."""
    from held_out import fitted, wrong_held_out
    from sklearn.ensemble import HistGradientBoostingClassifier

    X, y = inputs["X"], inputs["y"] > inputs["middle"]
    return lambda: fitted(HistGradientBoostingClassifier(), X, y), lambda model: wrong_held_out(
        model, inputs
    )
