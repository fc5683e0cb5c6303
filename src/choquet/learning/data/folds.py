"""Folds of rows that arrive one after another: a row's fold depends on its number alone."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

import numpy as np

from choquet.arrays import IntArray
from choquet.learning.data.statistics import Statistics


def fold_numbers(first: int, count: int, n_folds: int, seed: int = 0) -> IntArray:
    """Folds of the rows `first` to ``first + count - 1``.

    Each run of `n_folds` rows meets every fold once, in an order of its own: shuffled, of equal
    size, and the same however the rows were cut into chunks.

    References
    ----------
    Steele, Lea & Flood (2014), "Fast splittable pseudorandom number generators", for the hash.

    Examples
    --------
    >>> fold_numbers(0, 8, 4)
    array([2, 1, 0, 3, 0, 2, 1, 3])
    >>> fold_numbers(3, 5, 4)
    array([3, 0, 2, 1, 3])
    """
    start, stop = first // n_folds, -(-(first + count) // n_folds)
    numbers = np.arange(start * n_folds, stop * n_folds, dtype=np.uint64)
    with np.errstate(over="ignore"):
        z = np.uint64(seed) + (numbers + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        z = z ^ (z >> np.uint64(31))
    order = np.argsort(z.reshape(-1, n_folds), axis=1).ravel()
    offset = first - start * n_folds
    return np.asarray(order[offset : offset + count], dtype=np.int64)


def leave_one_out(parts: Sequence[Statistics]) -> list[tuple[Statistics, Statistics]]:
    """What to train on and what to test on, for each part that has any weight.

    Sums from the left and from the right are shared: three additions for each part.

    Examples
    --------
    >>> parts = [Statistics.from_data([[0.9, 0.4]], [y]) for y in (0.5, 0.6, 0.7)]
    >>> [(train.n_samples, test.n_samples) for train, test in leave_one_out(parts)]
    [(2, 1), (2, 1), (2, 1)]
    """
    kept = [part for part in parts if part.weight > 0]
    if len(kept) < 2:
        return []
    before, after = [kept[0]], [kept[-1]]
    for k in range(1, len(kept) - 1):
        before.append(before[-1] + kept[k])
        after.append(after[-1] + kept[-1 - k])
    after.reverse()
    middle = [reduce(Statistics.__add__, pair) for pair in zip(before, after[1:], strict=False)]
    return list(zip([after[0], *middle, before[-1]], kept, strict=True))
