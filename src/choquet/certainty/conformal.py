"""Intervals and sets of classes that cover without a model of the noise: cross-validation plus.

Each row is judged by a model that has not seen it. A new target is as likely as any of the rows to
be the one that is judged worst, so the quantile of what the rows say covers it. The lines are few
and need the folds of the models themselves, to widen intervals where support is missing; so they
stand here, and no other library is needed (MAPIE has the same method, crepes the split one).
"""

from __future__ import annotations

import numpy as np

from choquet.arrays import BoolArray, FloatArray, IntArray


def cv_plus(
    predictions: FloatArray,
    fold: IntArray,
    residuals: FloatArray,
    level: float,
    sizes: FloatArray | None = None,
) -> FloatArray:
    """Intervals of new targets.

    Parameters
    ----------
    predictions : array of shape (n_folds, n_new)
        Of the model that was fitted without each fold.
    fold : array of shape (n_samples,)
        The fold of each row learned from.
    residuals : array of shape (n_samples,)
        Absolute error of each row by the model that has not seen it, in units of the size of the
        noise there, if `sizes` are given.
    level : float
        Share of new targets that the intervals hold; at least ``2 * level - 1`` is proved, about
        `level` is usual. Too few rows for the level give infinite ends.
    sizes : array of shape (n_folds, n_new), optional
        What these models take the size of the noise to be.

    Returns
    -------
    array of shape (n_new, 2)

    References
    ----------
    Barber, Candès, Ramdas & Tibshirani (2021), "Predictive inference with the jackknife+".

    Examples
    --------
    >>> errors = np.arange(1, 20) / 20
    >>> cv_plus(np.zeros((2, 1)), np.arange(19) % 2, errors, 0.9)
    array([[-0.9,  0.9]])
    >>> cv_plus(np.zeros((2, 2)), np.arange(19) % 2, errors, 0.9, np.array([[1.0, 2.0]] * 2))
    array([[-0.9,  0.9],
           [-1.8,  1.8]])
    """
    sizes = np.ones_like(predictions) if sizes is None else sizes
    n = len(residuals)
    rank = int(np.ceil((n + 1) * level - 1e-9))
    if rank > n:
        return np.tile([-np.inf, np.inf], (predictions.shape[1], 1))
    ends = np.empty((predictions.shape[1], 2))
    for k in range(0, len(ends), 1000):
        own, away = predictions[fold, k : k + 1000], sizes[fold, k : k + 1000]
        away = away * residuals[:, None]
        ends[k : k + 1000, 0] = -np.partition(away - own, rank - 1, axis=0)[rank - 1]
        ends[k : k + 1000, 1] = np.partition(away + own, rank - 1, axis=0)[rank - 1]
    return ends


def class_sets(
    probabilities: FloatArray, fold: IntArray, doubts: FloatArray, level: float
) -> BoolArray:
    """Sets of classes for new rows.

    Parameters
    ----------
    probabilities : array of shape (n_folds, n_new, n_classes)
        Of the model that was fitted without each fold.
    fold : array of shape (n_samples,)
    doubts : array of shape (n_samples,)
        One minus the probability of the true class, by the model that has not seen the row.
    level : float

    Returns
    -------
    array of bool of shape (n_new, n_classes)
        A class is in the set unless it is doubted more than nearly all rows were.

    References
    ----------
    Vovk (2015), "Cross-conformal predictors"; Romano, Sesia & Candès (2020), "Classification with
    valid and adaptive coverage".

    Examples
    --------
    >>> shares = np.array([[[0.9, 0.1]], [[0.8, 0.2]]])
    >>> class_sets(shares, np.arange(19) % 2, np.linspace(0.05, 0.5, 19), 0.9)
    array([[ True, False]])
    """
    n = len(doubts)
    inside = np.zeros(probabilities.shape[1:], dtype=bool)
    for label in range(probabilities.shape[2]):
        for k in range(0, len(inside), 1000):
            own = 1 - probabilities[fold, k : k + 1000, label]
            below = (doubts[:, None] < own).sum(axis=0)
            inside[k : k + 1000, label] = below < level * (n + 1)
    return inside
