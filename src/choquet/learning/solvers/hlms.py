"""Heuristic least mean squares: a walk over the samples that keeps the measure monotone."""

from __future__ import annotations

import numpy as np

from choquet.arrays import FloatArray
from choquet.lattice import check_dense, subset_sizes, upward_maximum


def hlms(X: FloatArray, y: FloatArray, *, rate: float = 0.1, epochs: int = 5) -> FloatArray:
    """Values of a normal measure by the heuristic least mean squares of Grabisch.

    It begins at the arithmetic mean. Sample after sample, the values on its chain move against the
    error, in proportion to their gaps, and no further than their neighbours on the lattice allow.
    Cheap and not optimal: a start for the other solvers.

    Parameters
    ----------
    X : array of shape (n_samples, n_sources)
    y : array of shape (n_samples,)
    rate : float, default 0.1
        Step length.
    epochs : int, default 5
        Passes over the samples.

    References
    ----------
    Grabisch (1995), "A new algorithm for identifying fuzzy measures and its application to
    pattern recognition".

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.random((200, 2))
    >>> hlms(X, X.min(axis=1), rate=0.5, epochs=50).round(1)
    array([0., 0., 0., 1.])
    """
    from choquet.learning._kernels import hlms_passes

    n_sources = X.shape[1]
    check_dense(n_sources)
    values = subset_sizes(n_sources) / n_sources
    hlms_passes(np.ascontiguousarray(X), np.asarray(y, float), values, rate, epochs)
    values[-1] = 1.0
    return np.minimum(upward_maximum(values), 1.0)
