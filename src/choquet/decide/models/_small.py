"""Walks through small sets of measures by whole arrays: many at once, side by side, uncompiled.

To compile a walk takes seconds, which a small table does not repay. Which way is taken depends on
the size of the problem alone, so that a seed gives the same draws in every process.
"""

from __future__ import annotations

from itertools import combinations, islice
from math import comb
from typing import Any, NamedTuple

import numpy as np

from choquet.arrays import FloatArray, IntArray

_CHAINS = 100
"""Walks side by side."""

_SECONDS = 0.8
"""What a walk by whole arrays may take, about: as long as to load Numba and compile a line, and a
fifth of what it takes to compile the walk through pairs. Seven criteria are within it."""

_MOST = 200
"""Directions that are tried at most, where equations leave a choice."""


def _turns(equations: int, count: int) -> tuple[int, int]:
    """Draws of each walk, and those before that do not count."""
    return -(-count // min(_CHAINS, count)), 20 + 10 * equations


def is_small(A: Any, equations: int, count: int, thin: int) -> bool:
    """Is the work small enough for whole arrays?

    A turn takes about 25 µs, and 4 ns for each row that it touches in each walk: about twice as
    many as a column has, for directions that keep an equation join two.
    """
    size = A.shape[1]
    draws, burn = _turns(equations, count)
    touched = (1 + bool(equations)) * A.nnz / max(size, 1)
    turns = (draws + burn) * thin * size
    return bool(turns * (25e-6 + 4e-9 * _CHAINS * touched) <= _SECONDS)


class _Way(NamedTuple):
    """One direction: the coordinates that it moves, and the rows that stop it."""

    at: IntArray
    weights: FloatArray
    rows: IntArray
    change: FloatArray
    falling: int
    """How many of the rows, which come first, fall along it; the others rise."""


def _directions(size: int, E: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Directions on few coordinates that keep E v, and together reach all that it leaves free."""
    m = len(E)
    if m == 0:
        return np.eye(size)
    every: Any = combinations(range(size), m + 1)
    if comb(size, m + 1) > _MOST:
        every = (rng.choice(size, m + 1, replace=False) for _ in range(_MOST))
    chosen = np.array(list(islice(every, _MOST)))
    free = np.linalg.svd(np.moveaxis(E[:, chosen], 1, 0))[2][:, -1]
    found = np.zeros((len(chosen), size))
    np.put_along_axis(found, chosen, np.where(np.abs(free) > 1e-11, free, 0.0), axis=1)
    if np.linalg.matrix_rank(found) < size - m:
        found = np.vstack([found, np.linalg.svd(E)[2][m:]])
    return found


def _ways(A: FloatArray, directions: FloatArray) -> list[_Way]:
    """What each direction moves and touches; one that nothing stops is no way."""
    found = []
    for direction in directions:
        change = A @ direction
        falls, rises = np.flatnonzero(change < -1e-14), np.flatnonzero(change > 1e-14)
        if len(falls) and len(rises):
            at, rows = np.flatnonzero(direction), np.concatenate([falls, rises])
            found.append(_Way(at, direction[at, None], rows, change[rows, None], len(falls)))
    return found


def walk_together(
    A: Any,
    b: FloatArray,
    E: FloatArray,
    start: FloatArray,
    count: int,
    thin: int,
    rng: np.random.Generator,
) -> tuple[FloatArray, float]:
    """Draws from {A v ≥ b, E v constant}, and the share of moves that were any."""
    A, size, chains = A.toarray(), len(start), min(_CHAINS, count)
    ways = _ways(A, _directions(size, E, rng))
    draws, burn = _turns(len(E), count)
    V = np.repeat(start[:, None], chains, axis=1)
    out = np.empty((draws, chains, size))
    moved = 0
    steps = thin * size
    if not ways:
        return np.tile(start, (count, 1)), 0.0
    for draw in range(-burn, draws):
        slack = A @ V - b[:, None]  # recomputed, so that nothing drifts
        chance = rng.random((steps, chains))
        for way, u in zip(rng.integers(len(ways), size=steps).tolist(), chance, strict=True):
            at, weights, rows, change, falling = ways[way]
            room = slack[rows]
            reach = np.maximum(room, 0.0) / np.abs(change)
            low, high = -reach[falling:].min(axis=0), reach[:falling].min(axis=0)
            step = low + (high - low) * u
            moved += int(np.count_nonzero(high - low > 1e-13))
            V[at] += weights * step
            slack[rows] = room + change * step
        if draw >= 0:
            out[draw] = V.T
    return out.reshape(-1, size)[:count], moved / (steps * (burn + draws) * chains)
