"""Log-odds in the leaves: weights by source and by rank behind a logistic link."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from choquet.arrays import FloatArray
from choquet.contexts.grouping import Grouping
from choquet.contexts.rows import RankRows
from choquet.contexts.tree import Tree
from choquet.learning.logistic import sigmoid

_STEPS = 50
_LEAST = 1e-6
"""Least penalty: without any, classes that separate would send the weights to infinity."""


def fit_log_odds(
    Z: FloatArray, target: FloatArray, weight: FloatArray, penalty: FloatArray, centre: FloatArray
) -> FloatArray:
    """Coefficients of least log loss plus ½ Σ penalty · (coefficient - centre)², by Newton steps.

    Examples
    --------
    >>> import numpy as np
    >>> Z = np.column_stack([[-1.0, 1.0, -1.0, 1.0], np.ones(4)])
    >>> target = np.array([0.0, 1.0, 1.0, 1.0])
    >>> fit_log_odds(Z, target, np.ones(4), np.array([1.0, 1e-6]), np.zeros(2)).round(3)
    array([0.583, 1.184])
    """

    def loss(beta: FloatArray) -> float:
        odds = Z @ beta
        both = np.logaddexp(0.0, odds) - target * odds
        return float(weight @ both + 0.5 * penalty @ (beta - centre) ** 2)

    beta = centre.copy()
    value = loss(beta)
    for _ in range(_STEPS):
        share = sigmoid(Z @ beta)
        slope = Z.T @ (weight * (share - target)) + penalty * (beta - centre)
        curve = (Z * (weight * share * (1 - share))[:, None]).T @ Z + np.diag(penalty)
        step = np.linalg.solve(curve, slope)
        length = 1.0
        while length > 1e-6 and loss(beta - length * step) > value:
            length /= 2
        if length <= 1e-6:
            break
        beta = beta - length * step
        new = loss(beta)
        if value - new <= 1e-12 * abs(value):
            break
        value = new
    return beta


def logistic_operators(
    rows: RankRows, target: FloatArray, tree: Tree, found: Grouping, l2: float
) -> Grouping:
    """Operators for the log-odds of `target` (0 or 1) in place of those of least squares.

    One for all rows comes first; those of the contexts are drawn to it, so that a context with one
    class alone keeps finite odds.
    """
    width = rows.n_columns + 1
    Z = rows.Z[:, :width]
    ridge = np.full(width, max(l2, _LEAST))
    base = np.append(ridge[:-1], _LEAST)
    share = np.clip(rows.weight @ target / rows.weight.sum(), 1e-6, 1 - 1e-6)
    start = np.zeros(width)
    start[-1] = np.log(share / (1 - share))
    root = fit_log_odds(Z, target, rows.weight, base, start)
    place = found.labels[tree.leaf_of(rows.ranks, rows.values)]
    coefficients = np.array(
        [
            fit_log_odds(Z[place == k], target[place == k], rows.weight[place == k], ridge, root)
            for k in range(len(found.coefficients))
        ]
    )
    return replace(found, coefficients=coefficients)
