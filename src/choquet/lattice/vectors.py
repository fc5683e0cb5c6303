"""Sums over long vectors that never wait for the threads of BLAS.

OpenBLAS shares a product of vectors among its threads from 10,000 numbers on. One processor needs
microseconds for it, but a thread that has to wait for its turn on a busy machine takes
milliseconds. The products here are taken in shorter parts, so that their results do not depend on
the number of threads either. Products of matrices are worth threads and stay as they are.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Vector = npt.NDArray[np.floating[Any]]

SHORT = 8192
"""Numbers that BLAS multiplies in the calling thread."""


def dot(a: Vector, b: Vector) -> float:
    """Σ a·b of two vectors.

    Examples
    --------
    >>> dot(np.array([1.0, 2.0]), np.array([3.0, 4.0]))
    11.0
    """
    if len(a) <= SHORT:
        return float(a @ b)
    return sum(float(a[k : k + SHORT] @ b[k : k + SHORT]) for k in range(0, len(a), SHORT))


def norm(a: Vector) -> float:
    """Euclidean length of a vector.

    Examples
    --------
    >>> norm(np.array([3.0, 4.0]))
    5.0
    """
    return float(np.sqrt(dot(a, a)))
