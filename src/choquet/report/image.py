"""The iVAT image of a decomposition as data: a small PNG and the boxes of its clusters."""

from __future__ import annotations

import base64
import struct
import zlib
from typing import Any

import numpy as np
import numpy.typing as npt

from choquet.decomposition import Decomposition
from choquet.errors import DataError

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


def grey_png(pixels: npt.NDArray[np.uint8]) -> bytes:
    r"""A grey picture, 8 bits a pixel, as a PNG file.

    Parameters
    ----------
    pixels : array of uint8 of shape (height, width)
        0 is black.

    References
    ----------
    ISO/IEC 15948, Portable Network Graphics (PNG): Functional specification.

    Examples
    --------
    >>> import numpy as np
    >>> grey_png(np.zeros((2, 3), dtype=np.uint8))[:8]
    b'\x89PNG\r\n\x1a\n'
    """
    if pixels.ndim != 2 or pixels.dtype != np.uint8 or not pixels.size:
        raise DataError(f"pixels must be rows of uint8, not {pixels.dtype} of {pixels.shape}")
    height, width = pixels.shape
    # Each row starts with the number of its filter; 0 is none.
    rows = np.column_stack([np.zeros(height, dtype=np.uint8), pixels]).tobytes()
    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    parts = [(b"IHDR", header), (b"IDAT", zlib.compress(rows, 9)), (b"IEND", b"")]
    chunks = [
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in parts
    ]
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)
