"""Names of the familiar order statistics, and the nearest of them to any weights.

The distance is the largest difference of output over all inputs in [0, 1]: with cumulative weights
C_j = w_1 + … + w_j it is max_j |C_j - C'_j|, because sorted inputs are mixtures of the corners
(1, …, 1, 0, …, 0).
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from choquet.arrays import FloatArray

_SAME, _NEAR = 0.05, 0.25
"""Worst differences of output up to which an operator is called by a name, or "about" it."""

MIXED = "mixed"
"""Name of weights that are far from every familiar operator."""

FREE = "free weights"
"""Name of weights that are no shares, as regression has them."""


class Name(NamedTuple):
    """The familiar operator nearest to some weights."""

    nearest: str
    """Its name."""
    distance: float
    """Largest difference of output over inputs in [0, 1]."""
    text: str
    """What to call the weights: the name, "about" it, or `MIXED`."""


def familiar_operators(n_sources: int) -> dict[str, FloatArray]:
    """Weights by rank of the familiar operators on N inputs; the first name of equals is kept.

    "Trimmed" leaves out the extreme: the trimmed maximum is the second largest. "Soft" is halfway
    to the mean.

    Examples
    --------
    >>> list(familiar_operators(4))[:5]
    ['max', 'min', 'median', 'mean', 'trimmed max']
    >>> familiar_operators(4)["trimmed mean"]
    array([0. , 0.5, 0.5, 0. ])
    """
    names, weights = _familiar_table(n_sources)
    return dict(zip(names, weights, strict=True))


@lru_cache(maxsize=32)
def _familiar_table(n: int) -> tuple[tuple[str, ...], FloatArray]:
    unit = np.eye(n)
    mean = np.full(n, 1 / n)
    median = (unit[(n - 1) // 2] + unit[n // 2]) / 2
    rows: list[tuple[str, FloatArray]] = [("identity", unit[0])] if n == 1 else []
    rows += [("max", unit[0]), ("min", unit[-1])]
    rows += [("mean", mean), ("median", median)] if n == 2 else [("median", median), ("mean", mean)]
    if n >= 4:
        inner = np.zeros(n)
        inner[1:-1] = 1 / (n - 2)
        rows += [("trimmed max", unit[1]), ("trimmed min", unit[-2])]
        rows += [("trimmed mean", inner)] if n > 4 else []
    rows += [(ranked(k, n), unit[k]) for k in range(1, n - 1)]
    rows += [("midrange", (unit[0] + unit[-1]) / 2)]
    rows += [
        (f"soft {name}", (row + mean) / 2)
        for name, row in (("max", unit[0]), ("min", unit[-1]), ("median", median))
    ]
    if n == 4:  # with four inputs the trimmed mean and the median are one: both names are known
        rows.append(("trimmed mean", median))
    kept: dict[str, FloatArray] = {}
    for name, row in rows:
        if name == "trimmed mean" or not any(np.array_equal(row, other) for other in kept.values()):
            kept[name] = row
    return tuple(kept), np.array(list(kept.values()))


def ranked(k: int, n: int) -> str:
    """The input of a rank, from 0, counted from whichever end is nearer, as sentences count it."""
    largest = k + 1 <= n - k
    return f"{ordinal(k + 1)} largest" if largest else f"{ordinal(n - k)} smallest"


def ordinal(k: int) -> str:
    """A place as people count it: 1st, 2nd, 11th."""
    suffix = "th" if 10 <= k % 100 <= 20 else {1: "st", 2: "nd", 3: "rd"}.get(k % 10, "th")
    return f"{k}{suffix}"


def nearest_familiar(weights: FloatArray) -> FloatArray:
    """Weights of the familiar operator nearest to the weights.

    Examples
    --------
    >>> import numpy as np
    >>> nearest_familiar(np.array([0.0, 0.991, 0.007, 0.002]))
    array([0., 1., 0., 0.])
    """
    return familiar_operators(len(weights))[nearest_name(weights).nearest]


def nearest_name(weights: FloatArray) -> Name:
    """Name of the familiar operator nearest to the weights.

    Examples
    --------
    >>> import numpy as np
    >>> nearest_name(np.array([0.0, 0.991, 0.007, 0.002]))
    Name(nearest='trimmed max', distance=0.009..., text='trimmed max')
    """
    names, table = _familiar_table(len(weights))
    distances = np.abs(np.cumsum(table - weights, axis=1)).max(axis=1)
    best = int(distances.argmin())
    distance = float(distances[best])
    if abs(weights.sum() - 1) > 1e-6 or weights.min() < -1e-6:
        text = FREE
    elif distance <= _SAME:
        text = names[best]
    else:
        text = f"about {names[best]}" if distance <= _NEAR else MIXED
    return Name(names[best], distance, text)
