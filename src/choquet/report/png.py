"""Grey pictures as PNG files, without a library for it."""

from __future__ import annotations

import struct
import zlib

import numpy as np
import numpy.typing as npt

from choquet.errors import DataError


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
