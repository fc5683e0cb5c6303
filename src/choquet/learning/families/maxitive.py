"""k-maxitive measures and their duals: a subset is worth its best part of at most k sources.

k = 1 are possibility measures, and their duals necessity measures. The squared error is quadratic
as long as the same parts are the best ones; each step solves that quadratic problem and goes as far
as the true error falls. All sources together are worth 1 whatever their parts are.
"""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np

from choquet.arrays import FloatArray, IntArray
from choquet.lattice import mask_of, subset_sizes, upward_maximum
from choquet.lattice.lazy import sp
from choquet.learning.data.statistics import Statistics
from choquet.learning.families.fits import fit_weights, least_form, order_of_pairs
from choquet.measures.formula import members_of

MOST_STEPS = 30
"""Steps from a start at most; five are usual."""
GAIN = 1e-6
"""Share of the error that a step must gain."""


class _Parts:
    """Squared error as a function of the worth of parts, on seen subsets or their complements."""

    def __init__(self, statistics: Statistics, k: int, dual: bool) -> None:
        n = statistics.n_sources
        self.n_sources, self.dual = n, dual
        self.sets: IntArray = np.array(
            [mask_of(c) for size in range(1, k + 1) for c in combinations(range(n), size)]
        )
        self.gram, self.targets = statistics.gram, statistics.targets
        if dual:  # the error of 1 - u, as a form in u
            self.targets = statistics.gram @ np.ones(len(self.targets)) - self.targets
        masks = statistics.masks[:, 0].astype(np.int64)
        self.masks = masks ^ ((1 << n) - 1) if dual else masks
        self.coo = sp.coo_array(self.gram)
        self.bounds = self._order()

    def _order(self) -> tuple[Any, FloatArray]:
        """Parts are worth 0 to 1, and no less than what they hold."""
        size, sets = len(self.sets), self.sets
        small, large = np.nonzero(
            (sets[:, None] & sets == sets[:, None]) & ~np.eye(size, dtype=bool)
        )
        eye = sp.eye_array(size)
        b = np.concatenate([np.zeros(size), np.ones(size), np.zeros(len(small))])
        return sp.vstack([-eye, eye, order_of_pairs(small, large, size)]), b

    def values(self, worth: FloatArray) -> FloatArray:
        """Worth of every subset by mask: that of its best part, by a sweep over the lattice."""
        found = np.zeros(1 << self.n_sources)
        found[self.sets] = worth
        found = upward_maximum(found)
        found[-1] = 1.0
        return found

    def chosen(self, worth: FloatArray) -> IntArray:
        """The best part of each seen subset, of equals the first; there is none of ∅."""
        ranking = np.argsort(-worth, kind="stable")
        places = np.full(1 << self.n_sources, -float(len(ranking)))
        places[self.sets[ranking]] = -np.arange(len(ranking))
        best = -upward_maximum(places)[self.masks].astype(np.int64)
        return np.append(ranking, -1)[best]

    def error(self, worth: FloatArray) -> float:
        """Squared error but for a constant."""
        u = self.values(worth)[self.masks]
        return float(u @ (self.gram @ u) - 2 * self.targets @ u)

    def step(self, worth: FloatArray) -> FloatArray:
        """The best worth of parts while the best part of each subset stays the same."""
        size, full = len(self.sets), (1 << self.n_sources) - 1
        chosen = self.chosen(worth)
        chosen[self.masks == full], chosen[self.masks == 0] = size, size + 1
        pairs = chosen[self.coo.row] * (size + 2) + chosen[self.coo.col]
        form = np.bincount(pairs, self.coo.data, minlength=(size + 2) ** 2)
        form = form.reshape(size + 2, size + 2)
        linear = np.bincount(chosen, self.targets, minlength=size + 2)
        pull = 1e-9 * max(float(np.trace(form)), 1e-300)  # what nothing asks for stays where it is
        own = form[:size, :size] + pull * np.eye(size)
        q = 2 * (form[:size, size] - linear[:size] - pull * worth)
        return np.clip(least_form(2 * own, q, *self.bounds, 0), 0.0, 1.0)

    def descend(self, worth: FloatArray) -> tuple[float, FloatArray]:
        """Steps from a start until the error falls no more."""
        error = self.error(worth)
        for _ in range(MOST_STEPS):
            away = self.step(worth) - worth
            trials = [worth + share * away for share in (1.0, 0.5, 0.25, 0.1, 0.03)]
            errors = [self.error(trial) for trial in trials]
            best = int(np.argmin(errors))
            gained = error - errors[best]
            if gained <= 0:
                break
            error, worth = errors[best], trials[best]
            if gained <= GAIN * abs(error):
                break
        return error, worth

    def dense(self, worth: FloatArray) -> FloatArray:
        """Values of the measure by mask."""
        values = self.values(worth)
        return 1 - values[::-1] if self.dual else values


def fit_maxitive(statistics: Statistics, k: int, *, dual: bool = False) -> FloatArray:
    """Values by mask of a k-maxitive measure, or of the dual of one, with a small squared error.

    The error has many valleys; the best of three starts is taken.

    References
    ----------
    Calvo & De Baets (1998), "Aggregation operators defined by k-order additive/maxitive fuzzy
    measures".

    Examples
    --------
    >>> X = np.random.default_rng(0).random((100, 3))
    >>> y = 0.6 * X.max(axis=1) + 0.4 * X[:, :2].max(axis=1)
    >>> fit_maxitive(Statistics.from_data(X, y), 1).round(3)[[1, 2, 4, 5]]
    array([1. , 1. , 0.6, 1. ])
    """
    parts, n = _Parts(statistics, k, dual), statistics.n_sources
    weights = fit_weights(statistics, members_of(statistics.masks, n))
    inside = ((parts.sets[:, None] >> np.arange(n)) & 1).astype(np.float64)
    best_of = (inside * weights / max(weights.max(), 1e-300)).max(axis=1)
    sizes = subset_sizes(n)[parts.sets] / n
    starts = [best_of, inside @ weights, 0.5 * (sizes + best_of)]
    return parts.dense(min((parts.descend(start) for start in starts), key=lambda one: one[0])[1])
