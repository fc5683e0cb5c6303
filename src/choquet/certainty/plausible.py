"""Measures that may be the truth, where rows are few: what families of measures make of the data.

With few rows the least squares fit over all monotone measures is a poor picture of the truth: many
of its values are held together or at 0 and 1. Families of measures are each a guess of what the
truth is like, and the data say how good each guess is. Their weighted average is much nearer to
most truths than the fit. One measure after the other, in proportion to the weights, they tell more
than the average does: additive ones and maxima stay what they are, edges and all.
"""

from __future__ import annotations

import numpy as np

from choquet.arrays import FloatArray
from choquet.certainty.posterior import believed, posterior_weights
from choquet.lattice.threads import one_blas_thread
from choquet.learning.data.statistics import Statistics
from choquet.learning.families import FAMILIES


@one_blas_thread()  # sums have one order, whatever the number of processors
def plausible_measures(statistics: Statistics, n: int) -> FloatArray:
    """Measures that may be the truth, each as often as its weight given the data says.

    Parameters
    ----------
    statistics : Statistics
        The data; 2 to 16 sources.
    n : int
        How many measures.

    Returns
    -------
    array of shape (n, 2**N)
        One monotone normal measure in a row, by mask; alike ones come one after the other.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.random((40, 3))
    >>> data = Statistics.from_data(X, X.max(axis=1) + 0.1 * rng.standard_normal(40))
    >>> found = plausible_measures(data, 20)
    >>> found.shape, bool(found[:, 1:].mean() > 0.9)
    ((20, 8), True)
    """
    found = [
        (name, one)
        for k, name in enumerate(FAMILIES)
        for one in believed(statistics, name, rng=[0, k])
    ]
    weights = posterior_weights(statistics, [name for name, _ in found], [one for _, one in found])
    at = np.searchsorted(np.cumsum(weights), (np.arange(n) + 0.5) / n)
    return np.array([one.values for _, one in found])[np.minimum(at, len(found) - 1)]
