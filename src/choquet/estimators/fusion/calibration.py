"""Probabilities from fused scores: one power, chosen on samples that the measure has not seen."""

from __future__ import annotations

import numpy as np

_FLOOR = 1e-6
"""Added to fused scores, so that no class is impossible."""

_POWERS = (-3.0, 4.0)
"""Logarithms of the least and largest power."""

_MOST = 4_000
"""Samples that the power is chosen on; beyond, every second, fourth, … is kept."""


def probabilities(fused, power):
    """Fused scores as probabilities, by sample and class.

    Parameters
    ----------
    fused : array of shape (n, n_classes)
    power : float
        NaN for the fused scores divided by their sum.

    Examples
    --------
    >>> import numpy as np
    >>> probabilities(np.array([[0.9, 0.3]]), float("nan")).round(2), probabilities(
    ...     np.array([[0.9, 0.3]]), 2.0).round(2)
    (array([[0.75, 0.25]]), array([[0.9, 0.1]]))
    """
    fused = np.maximum(fused, 0.0)
    if np.isnan(power):
        total = fused.sum(axis=1, keepdims=True)
        return np.where(total > 0, fused / np.maximum(total, 1e-300), 1.0 / fused.shape[1])
    logs = power * np.log(fused + _FLOOR)
    found = np.exp(logs - logs.max(axis=1, keepdims=True))
    return found / found.sum(axis=1, keepdims=True)


def best_power(fused, place, weight):
    """The power with the least log-loss.

    Parameters
    ----------
    fused : array of shape (n, n_classes)
    place : array of n ints
        True classes.
    weight : array of n floats
    """
    from scipy.optimize import minimize_scalar

    at = np.arange(len(place))

    def lost(log_power):
        found = probabilities(fused, np.exp(log_power))[at, place]
        return -float(weight @ np.log(np.maximum(found, 1e-300)))

    return float(np.exp(minimize_scalar(lost, bounds=_POWERS, method="bounded").x))


class Kept:
    """Some of all samples that came, evenly spaced, whatever batches they came in."""

    def __init__(self):
        self.n_seen, self.step, self._parts = 0, 1, []

    def join(self, scores, place, weight):
        """Take what is to be kept of one more batch."""
        index = np.arange(self.n_seen, self.n_seen + len(scores))
        self.n_seen += len(scores)
        # Neighbours stay together, for one of them belongs to each half.
        mine = index // 2 % self.step == 0
        self._parts.append([part[mine] for part in (scores, place, weight, index)])
        while sum(len(part[0]) for part in self._parts) > _MOST:
            self.step *= 2
            self._parts = [
                [one[part[3] // 2 % self.step == 0] for one in part] for part in self._parts
            ]

    def rows(self):
        """Scores, true classes, weights, and whether each is in the second half."""
        scores, place, weight, index = (
            np.concatenate([part[k] for part in self._parts]) for k in range(4)
        )
        return scores, place, weight, index % 2 == 1
