"""Selective prediction: answer, or abstain where a score is low; accepted share against error."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from choquet.arrays import FloatArray, as_vector
from choquet.errors import DataError


@dataclass(frozen=True, eq=False)
class SelectiveCurve:
    """Error among accepted samples as the limit on a score is lowered.

    Attributes
    ----------
    limit : array of shape (L,)
        Score from which a sample is accepted, falling.
    accepted : array of shape (L,)
        Share of samples accepted.
    error : array of shape (L,)
        Mean error among them.
    """

    limit: FloatArray
    accepted: FloatArray
    error: FloatArray


def selective_curve(errors: npt.ArrayLike, score: npt.ArrayLike) -> SelectiveCurve:
    """Accepted share and mean error for every limit on a score that occurs.

    Parameters
    ----------
    errors : array-like of shape (n_samples,)
        Error of each answer.
    score : array-like of shape (n_samples,)
        Larger is better: `ChoquetRegressor.support_share`, or minus the width of the interval.

    References
    ----------
    El-Yaniv & Wiener (2010), "On the foundations of noise-free selective classification".

    Examples
    --------
    >>> curve = selective_curve([0.0, 0.4, 0.2], [0.9, 0.2, 0.9])
    >>> curve.limit, curve.accepted.round(2), curve.error.round(2)
    (array([0.9, 0.2]), array([0.67, 1.  ]), array([0.1, 0.2]))
    """
    wrong = as_vector(errors, "errors")
    sure = as_vector(score, "score", len(wrong))
    if not len(wrong):
        raise DataError("no samples: a curve needs at least one")
    order = np.argsort(-sure, kind="stable")
    ordered = sure[order]
    last = np.append(np.flatnonzero(np.diff(ordered)), len(ordered) - 1)
    count = last + 1.0
    total = np.cumsum(wrong[order])[last]
    return SelectiveCurve(ordered[last], count / len(wrong), total / count)
