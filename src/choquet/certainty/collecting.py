"""What one more row would tell: how much narrower it makes the intervals of outputs.

Beforehand each value is spread as its bounds allow: over [0, 1], or between the values that
monotonicity leaves a subset without data. With normal noise the values are then normal given the
data, and one more row makes their covariance smaller by an amount that does not depend on its
target. Half of the rows to come are expected to be like those learned from, half to lie anywhere,
so that what was never seen counts as well.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import comb

import numpy as np

from choquet.arrays import FloatArray
from choquet.certainty.levels import student_quantile
from choquet.lattice import subset_sizes
from choquet.learning.data.statistics import Statistics
from choquet.learning.families.fits import noise_of

MAX_BELIEFS = 10
"""Sources up to which the covariance of all values is at hand: 8 MB, a tenth of a second."""


@dataclass(frozen=True, eq=False)
class Beliefs:
    """Values of a measure as normal numbers given the data.

    Attributes
    ----------
    statistics : Statistics
        The data; at most `MAX_BELIEFS` sources.
    values : array of shape (2**N,)
        The learned measure, which says how large the noise is.
    spread : array of shape (2**N,)
        Width of what each value can be before the data.
    level : float, default 0.95
        Of the intervals.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.random((50, 2))
    >>> X[:, 1] *= X[:, 0]                                       # x2 is never above x1
    >>> statistics = Statistics.from_data(X, X.mean(axis=1) + 0.1 * rng.standard_normal(50))
    >>> beliefs = Beliefs(statistics, np.array([0, 0.5, 0.5, 1]), np.ones(4))
    >>> gains = beliefs.narrowing(np.array([[0, 0.4, 0, 0.4], [0, 0, 0.4, 0.4]]))
    >>> bool(gains[1] > 5 * gains[0] > 0)
    True
    """

    statistics: Statistics
    values: FloatArray
    spread: FloatArray
    level: float = 0.95

    @cached_property
    def noise(self) -> float:
        """Variance of the noise; infinite where as many numbers were learned as there are rows."""
        return noise_of(self.statistics, self.values)

    @cached_property
    def _form(self) -> FloatArray:
        form = np.zeros((len(self.values), len(self.values)))
        at = self.statistics.positions
        form[np.ix_(at, at)] = self.statistics.gram.toarray()
        return form

    @cached_property
    def covariance(self) -> FloatArray:
        """Of the values without the first and the last one, which are known."""
        before = 12 / np.maximum(self.spread, 1e-6) ** 2
        precision = (self._form / self.noise + np.diag(before))[1:-1, 1:-1]
        return np.asarray(np.linalg.inv(precision), dtype=np.float64)

    @property
    def widths(self) -> FloatArray:
        """Width of the interval of each value, by mask."""
        inner = self._wide * np.sqrt(np.diag(self.covariance))
        return np.concatenate([[0.0], inner, [0.0]])

    @property
    def _wide(self) -> float:
        return 2 * student_quantile(self.level, np.inf)

    def narrowing(self, rows: FloatArray) -> FloatArray:
        """How much narrower intervals of outputs are with one more row, in the root mean square.

        Parameters
        ----------
        rows : array of shape (K, 2**N)
            Gaps by mask, as `choquet.certainty.functions.output_rows` has them; each on its own.
        """
        n = self.statistics.n_sources
        expected = 0.5 * self._form / self.statistics.weight + 0.5 * moments_of_gaps(n)
        inner, expected = rows[:, 1:-1], expected[1:-1, 1:-1]
        before = float((self.covariance * expected).sum())
        images = inner @ self.covariance
        saved = ((images @ expected) * images).sum(axis=1)
        saved /= self.noise + (images * inner).sum(axis=1)
        after = np.sqrt(np.maximum(before - saved, 0.0))
        return np.asarray(self._wide * (np.sqrt(before) - after), dtype=np.float64)


def moments_of_gaps(n_sources: int) -> FloatArray:
    """Mean products of the gaps of rows with independent uniform inputs, by pairs of subsets.

    Both subsets lie on the walk of a row if one holds the other and both begin its order; the gaps
    of N uniform numbers have the mean products (1 + [same]) / ((N + 1)(N + 2)).

    Examples
    --------
    >>> moments_of_gaps(2)[1].round(4)
    array([0.    , 0.0833, 0.    , 0.0417])
    """
    n, masks = n_sources, np.arange(1 << n_sources)
    sizes = subset_sizes(n).astype(np.int64)
    below = (masks[:, None] & masks) == masks[:, None]
    first = np.array([1 / comb(n, k) for k in range(n + 1)])
    ways = np.array(
        [[1 / comb(n - k, j - k) if j >= k else 0.0 for j in range(n + 1)] for k in range(n + 1)]
    )
    both = np.where(below, first[sizes][:, None] * ways[sizes[:, None], sizes], 0.0)
    both = both + np.triu(both, 1).T
    both *= (1 + np.eye(len(masks))) / ((n + 1) * (n + 2))
    both[0] = both[:, 0] = 0.0
    return np.asarray(both)
