"""Gradient descent on measures from a chosen start, many at once: to see where a start survives.

The parametrisation is the one of fuzzy integrals in networks: every subset adds max(0, θ) to the
largest value below it. A subset without data moves only where a larger one with data rests on it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from choquet.arrays import FloatArray, IntArray
from choquet.learning import Statistics

_RATE = 0.3
"""Length of a step, in units of the gradient."""


def starts(n_sources: int) -> dict[str, float]:
    """Increments that gradient descent begins with.

    Examples
    --------
    >>> starts(3)
    {'1/(2^N-2)': 0.16..., '1/N': 0.33...}
    """
    return {"1/(2^N-2)": 1 / (2**n_sources - 2), "1/N": 1 / n_sources}


def descend_from(
    statistics: Sequence[Statistics], start: float, *, n_steps: int = 300
) -> FloatArray:
    """Values of the measures after plain gradient descent on the mean squared error.

    There is one measure for each of the `statistics`, all on the same number of sources. Every
    subset begins with the increment `start`, and each step takes all data.

    References
    ----------
    Islam, Anderson, Pinar, Havens, Scott & Keller (2020), "Enabling explainable fusion in deep
    learning with fuzzy integral neural networks", for the parametrisation.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).random((200, 2))
    >>> found = descend_from([Statistics.from_data(X, X.max(axis=1))], 0.5, n_steps=2000)
    >>> found.round(2)
    array([[0., 1., 1., 1.]])
    """
    n_sources = statistics[0].n_sources
    size = 1 << n_sources
    weights = np.array([one.weight for one in statistics], dtype=np.float64)
    gram, targets = (np.stack(part) for part in zip(*map(dense, statistics), strict=True))
    gram, targets = gram / weights[:, None, None], targets / weights[:, None]
    theta = np.full((len(statistics), size), float(start))
    below = [
        np.array([mask & ~(1 << i) for i in range(n_sources) if mask >> i & 1], dtype=np.int64)
        for mask in range(size)
    ]
    order = sorted(range(1, size - 1), key=int.bit_count)
    for _ in range(n_steps):
        g, chosen = _forward(theta, order, below)
        flow = 2 * ((gram @ g[:, :, None])[:, :, 0] - targets)
        theta -= _RATE * _backward(theta, g, flow, order, chosen)
    return _forward(theta, order, below)[0]


def dense(statistics: Statistics) -> tuple[FloatArray, FloatArray]:
    """Gram matrix and target products over all masks."""
    size, at = 1 << statistics.n_sources, statistics.positions
    gram, targets = np.zeros((size, size)), np.zeros(size)
    gram[np.ix_(at, at)] = statistics.gram.toarray()
    targets[at] = statistics.targets
    return gram, targets


def _forward(
    theta: FloatArray, order: Sequence[int], below: Sequence[IntArray]
) -> tuple[FloatArray, IntArray]:
    g = np.zeros_like(theta)
    chosen = np.zeros(theta.shape, dtype=np.int64)
    g[:, -1] = 1.0
    for mask in order:
        values = g[:, below[mask]]
        chosen[:, mask] = below[mask][values.argmax(axis=1)]
        g[:, mask] = np.minimum(values.max(axis=1) + np.maximum(theta[:, mask], 0.0), 1.0)
    return g, chosen


def _backward(
    theta: FloatArray, g: FloatArray, flow: FloatArray, order: Sequence[int], chosen: IntArray
) -> FloatArray:
    slope = np.zeros_like(theta)
    row = np.arange(len(theta))
    for mask in reversed(order):
        # A value cut at 1 feels pushes downwards only, a closed increment upwards only.
        push = flow[:, mask]
        passed = np.where((g[:, mask] < 1.0) | (push > 0), push, 0.0)
        slope[:, mask] = np.where((theta[:, mask] > 0) | (passed < 0), passed, 0.0)
        flow[row, chosen[:, mask]] += passed
    return slope
