"""Sweeps over the Boolean lattice: one pass per source, N 2**(N-1) operations, in place.

Every sweep combines the values of A and A ∪ {i} for all A, source after source. They differ only in
the operation and in which of the two receives the result, so they are rows of one table.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from choquet.arrays import FloatArray
from choquet.lattice.masks import n_sources_of


class Sweep(NamedTuple):
    """One row of the table of sweeps."""

    combine: np.ufunc
    """What is done to the receiving value and its partner."""
    upward: bool
    """Whether the set with source i receives from the one without it (else the other way)."""
    meaning: str
    """The result at A, in terms of the input f."""


SWEEPS: dict[str, Sweep] = {
    "zeta": Sweep(np.add, True, "sum of f(B) over B ⊆ A"),
    "mobius": Sweep(np.subtract, True, "inverse of zeta"),
    "superset_zeta": Sweep(np.add, False, "sum of f(B) over B ⊇ A"),
    "superset_mobius": Sweep(np.subtract, False, "inverse of superset_zeta"),
    "upward_maximum": Sweep(np.maximum, True, "largest f(B) over B ⊆ A"),
    "downward_minimum": Sweep(np.minimum, False, "smallest f(B) over B ⊇ A"),
}

SHORT = 8
"""Places of a row up to which a view for each of them is quicker than the rows one by one."""


def sweep(values: FloatArray, name: str) -> FloatArray:
    """Apply the sweep of that name to a contiguous float64 array in place, and return the array.

    Examples
    --------
    >>> import numpy as np
    >>> sweep(np.array([0.0, 0.2, 0.3, 0.5]), "zeta")
    array([0. , 0.2, 0.3, 1. ])
    """
    combine, upward, _ = SWEEPS[name]
    for i in range(n_sources_of(values)):
        for without, within in _halves(values, 1 << i):
            receiver, giver = (within, without) if upward else (without, within)
            combine(receiver, giver, out=receiver)
    return values


def _halves(values: FloatArray, width: int) -> Iterator[tuple[FloatArray, FloatArray]]:
    """Views of the values without a source and with it, whose values alternate every `width`.

    NumPy pays for each row of the last axis. Where rows are short and many, one strided view for
    each of their places is quicker: of 65,536 values, all sweeps together take half the time.
    """
    pairs = values.reshape(-1, 2, width)
    if 1 < width <= SHORT and len(pairs) > 8 * width:
        for place in range(width):
            yield pairs[:, 0, place], pairs[:, 1, place]
    else:
        yield pairs[:, 0], pairs[:, 1]


def zeta(values: FloatArray) -> FloatArray:
    """Sum over all subsets: the measure that has the given Möbius transform.

    Examples
    --------
    >>> import numpy as np
    >>> zeta(np.array([0.0, 0.2, 0.3, 0.5]))
    array([0. , 0.2, 0.3, 1. ])
    """
    return sweep(np.array(values, dtype=np.float64), "zeta")


def mobius(values: FloatArray) -> FloatArray:
    """Möbius transform, m(A) = Σ_{B ⊆ A} (-1)^|A∖B| f(B) (Rota 1964).

    Examples
    --------
    >>> import numpy as np
    >>> mobius(np.array([0.0, 0.2, 0.3, 1.0]))
    array([0. , 0.2, 0.3, 0.5])
    """
    return sweep(np.array(values, dtype=np.float64), "mobius")


def superset_zeta(values: FloatArray) -> FloatArray:
    """Sum over all supersets: the co-Möbius (commonality) transform of masses.

    Examples
    --------
    >>> import numpy as np
    >>> superset_zeta(np.array([0.0, 0.2, 0.3, 0.5]))
    array([1. , 0.7, 0.8, 0.5])
    """
    return sweep(np.array(values, dtype=np.float64), "superset_zeta")


def superset_mobius(values: FloatArray) -> FloatArray:
    """Inverse of `superset_zeta`.

    Examples
    --------
    >>> import numpy as np
    >>> superset_mobius(np.array([1.0, 0.7, 0.8, 0.5])).round(12)
    array([0. , 0.2, 0.3, 0.5])
    """
    return sweep(np.array(values, dtype=np.float64), "superset_mobius")


def upward_maximum(values: FloatArray) -> FloatArray:
    """Largest value over all subsets: the smallest monotone function not below `values`.

    Examples
    --------
    >>> import numpy as np
    >>> upward_maximum(np.array([0.0, 0.9, 0.3, 0.7]))
    array([0. , 0.9, 0.3, 0.9])
    """
    return sweep(np.array(values, dtype=np.float64), "upward_maximum")


def downward_minimum(values: FloatArray) -> FloatArray:
    """Smallest value over all supersets: the largest monotone function not above `values`.

    Examples
    --------
    >>> import numpy as np
    >>> downward_minimum(np.array([0.0, 0.9, 0.3, 0.7]))
    array([0. , 0.7, 0.3, 0.7])
    """
    return sweep(np.array(values, dtype=np.float64), "downward_minimum")


def monotonicity_witness(values: FloatArray, tolerance: float = 0.0) -> tuple[int, int] | None:
    """The pair A ⊂ A ∪ {i} with the largest decrease, or None if there is none beyond `tolerance`.

    Looking at neighbours is enough: along any chain from A to B ⊇ A some single step decreases.

    Examples
    --------
    >>> import numpy as np
    >>> monotonicity_witness(np.array([0.0, 0.9, 0.3, 0.7]))
    (1, 3)
    """
    worst, witness = tolerance, None
    for i in range(n_sources_of(values)):
        pairs = values.reshape(-1, 2, 1 << i)
        drop = pairs[:, 0] - pairs[:, 1]
        at = int(drop.argmax())
        if drop.flat[at] > worst:
            worst = float(drop.flat[at])
            block, rest = divmod(at, 1 << i)
            smaller = (block << (i + 1)) + rest
            witness = (smaller, smaller | 1 << i)
    return witness


def containing_sums(values: FloatArray) -> FloatArray:
    """Σ of f(A) over all A that contain source i, for every i, in O(2**N) altogether.

    The array is folded: what the last source contributes is the sum of the upper half; adding the
    halves removes that source from the question.

    Examples
    --------
    >>> import numpy as np
    >>> containing_sums(np.array([0.0, 0.2, 0.3, 0.5]))
    array([0.7, 0.8])
    """
    n_sources = n_sources_of(values)
    sums = np.empty(n_sources)
    folded = np.asarray(values, dtype=np.float64)
    for i in reversed(range(n_sources)):
        half = 1 << i
        sums[i] = folded[half:].sum()
        folded = folded[:half] + folded[half:]
    return sums


def containing_sums_of_pairs(values: FloatArray) -> FloatArray:
    """Σ of f(A) over all A that contain sources i and j, as an N × N matrix, in O(2**N) altogether.

    The diagonal holds `containing_sums`.

    Examples
    --------
    >>> import numpy as np
    >>> containing_sums_of_pairs(np.array([0.0, 0.2, 0.3, 0.5]))
    array([[0.7, 0.5],
           [0.5, 0.8]])
    """
    n_sources = n_sources_of(values)
    sums = np.empty((n_sources, n_sources))
    folded = np.asarray(values, dtype=np.float64)
    for i in reversed(range(n_sources)):
        half = 1 << i
        sums[i, i] = folded[half:].sum()
        if i:
            sums[i, :i] = sums[:i, i] = containing_sums(folded[half:])
        folded = folded[:half] + folded[half:]
    return sums
