"""Works with scikit-learn."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

__all__ = ["mst"]

Task = tuple[Callable[[], Any], Callable[[Any], Any]]


def mst(inputs: dict[str, Any]) -> Task:
    """Single linkage: its merges are the edges of the tree."""
    from sklearn.cluster import AgglomerativeClustering

    points = inputs["points"]
    model = AgglomerativeClustering(n_clusters=1, linkage="single", compute_distances=True)
    return lambda: model.fit(points), lambda found: np.sort(found.distances_)
