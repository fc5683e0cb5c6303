"""Works with pyclustertend (Numba for VAT, Python for iVAT), without its drawing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

__all__ = ["ivat", "vat"]

Task = tuple[Callable[[], Any], Callable[[Any], Any]]


def vat(inputs: dict[str, Any]) -> Task:
    """The reordered matrix of dissimilarities."""
    from pyclustertend.visual_assessment_of_tendency import compute_ordered_dissimilarity_matrix

    points = inputs["points"]
    return (
        lambda: compute_ordered_dissimilarity_matrix(points),
        lambda m: np.sort([m[i, :i].min() for i in range(1, len(m))]),
    )


def ivat(inputs: dict[str, Any]) -> Task:
    """The whole iVAT matrix."""
    from pyclustertend.visual_assessment_of_tendency import (
        compute_ivat_ordered_dissimilarity_matrix,
    )

    points = inputs["points"]
    return (
        lambda: compute_ivat_ordered_dissimilarity_matrix(points),
        lambda m: np.sort(m[np.triu_indices(len(m), 1)]),
    )
