"""The iVAT image of a decomposition as data: a small PNG and the boxes of its clusters."""

from __future__ import annotations

import base64
from typing import Any

import numpy as np

from choquet.decomposition import Decomposition
from choquet.report.png import grey_png

_PIXELS = 320
"""Pixels a side of the picture."""

_BOXES = 60
"""Boxes that are drawn; clusters that are not contiguous in the picture's order can need many."""


def clustering_data(parts: Decomposition) -> dict[str, Any] | None:
    """How the operators were clustered; None if they were not."""
    if parts.tree is not None:
        return None
    found = parts.clusters
    return {
        "method": found.partition.method,
        "metric": found.metric.name,
        "score": found.partition.score,
        "proved": found.partition.proved,
        "n_distinct": len(found.sample.weights),
        "complete": found.exact,
    }


def ivat_data(parts: Decomposition) -> dict[str, Any] | None:
    """The picture, dark where operators are alike, and boxes in shares of its side.

    Examples
    --------
    >>> from choquet import Measure, decompose
    >>> parts = decompose(Measure([0, 0, 1, 1, 1, 1, 1, 1]), method="clodd")
    >>> data = ivat_data(parts)
    >>> sorted(box["operator"] for box in data["boxes"]), round(data["white"], 3)
    ([0, 1], 0.316)
    """
    if parts.tree is not None:
        return None
    picture = parts.ivat
    image = picture.image(min(picture.n_total, _PIXELS))
    white = float(picture.heights.max(initial=0.0))
    grey = np.rint(255 * image / white if white > 0 else np.zeros_like(image)).astype(np.uint8)
    return {
        "png": base64.b64encode(grey_png(grey)).decode("ascii"),
        "size": len(grey),
        "white": white,
        "metric": parts.clusters.metric.name,
        "boxes": _boxes(parts),
    }


def _boxes(decomposition: Decomposition) -> list[dict[str, Any]]:
    picture = decomposition.ivat
    labels = decomposition.labels[picture.order]
    ends = np.cumsum(picture.counts[picture.order], dtype=np.float64) / picture.n_total
    starts = np.concatenate([[0], np.flatnonzero(np.diff(labels)) + 1])
    if len(starts) > _BOXES:
        return []
    stops = np.append(starts[1:], len(labels))
    return [
        {
            "start": 0.0 if start == 0 else float(ends[start - 1]),
            "end": float(ends[stop - 1]),
            "operator": int(labels[start]),
        }
        for start, stop in zip(starts, stops, strict=True)
    ]
