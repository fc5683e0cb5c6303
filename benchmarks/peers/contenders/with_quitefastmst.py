"""Works with quitefastmst (C++)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

__all__ = ["mst"]

Task = tuple[Callable[[], Any], Callable[[Any], Any]]


def mst(inputs: dict[str, Any]) -> Task:
    """Euclidean minimum spanning tree."""
    from quitefastmst import mst_euclid

    points = inputs["points"]
    return lambda: mst_euclid(points), lambda found: np.sort(found[0])
