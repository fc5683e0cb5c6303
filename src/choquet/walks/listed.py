"""Walks given one by one: what stands in for the operator graph where 2**N is out of reach."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from choquet.arrays import FloatArray, IntArray, generator
from choquet.errors import DataError
from choquet.measures import AbstractMeasure
from choquet.walks.abstract import AbstractWalks, ListedWalks
from choquet.walks.graph import allowed_unsupported
from choquet.walks.paths import SupportedPaths
from choquet.walks.sorts import as_sorts, random_sorts
from choquet.walks.support import DataSupport, check_support, sort_keys


class WalkList(AbstractWalks):
    """Walks of a measure on many sources, with how often each counts, and their operators.

    The walks are distinct. They are `complete` if these are all there are to take apart, not some
    drawn of them.

    Attributes
    ----------
    n_walks : int
        Sum of the counts.
    n_partial : int
        Walks in the list that meet subsets without data: their values are the middle of what is
        possible.
    margins : array of shape (S, N)
        How far each value along each walk can be from the one that is used.

    Examples
    --------
    >>> from choquet import SupportedMeasure
    >>> g = SupportedMeasure.from_dict({"a": 0.5, ("a", "b"): 0.7}, ["a", "b", "c"])
    >>> walks = WalkList(g, [[0, 1, 2], [0, 2, 1]], [3, 1])
    >>> walks.weights().round(12).tolist(), walks.n_partial
    ([[0.5, 0.2, 0.3], [0.5, 0.25, 0.25]], 1)
    >>> walks.index([[0, 2, 1], [2, 1, 0]])
    array([ 1, -1])
    """

    def __init__(
        self,
        measure: AbstractMeasure,
        sorts: npt.ArrayLike,
        counts: npt.ArrayLike,
        *,
        support: DataSupport | None = None,
        epsilon: float = 0.0,
        decimals: int = 9,
        complete: bool = True,
    ) -> None:
        rows = as_sorts(sorts, measure.n_sources)
        self.measure, self.support = measure, support
        self.epsilon, self.decimals, self.complete = float(epsilon), int(decimals), complete
        order = np.lexsort(rows.T[::-1])
        self.sorts, self.counts = rows[order], np.asarray(counts, dtype=np.int64)[order]
        lower, upper = measure.walk_bounds(self.sorts)
        values, self.margins = (lower + upper) / 2, (upper - lower) / 2
        rounded = np.round(np.diff(values, axis=1, prepend=0.0), self.decimals) + 0.0
        self._weights, first, place = np.unique(
            rounded, axis=0, return_index=True, return_inverse=True
        )
        # Operators in the order of the first walk that has them, as in an operator graph.
        rank = np.argsort(np.argsort(first))
        self._weights = self._weights[np.argsort(first)]
        self.numbers: IntArray = rank[place.reshape(-1)]
        self._keys = sort_keys(self.sorts)
        self.n_walks = int(self.counts.sum())
        self.n_operators = len(self._weights)

    @property
    def n_distinct_walks(self) -> int:
        """How many walks are in the list."""
        return len(self.sorts)

    @property
    def n_partial(self) -> int:
        """Walks in the list that meet subsets whose value is not known."""
        return int((self.margins > 0).any(axis=1).sum())

    def weights(self, numbers: npt.ArrayLike | None = None) -> FloatArray:
        """Distinct operators, one row each; by default all."""
        return self._weights if numbers is None else self._weights[np.asarray(numbers)]

    def listed(self, most: int) -> ListedWalks:
        """The walks of the list."""
        del most  # whoever listed them chose how many
        return ListedWalks(self.sorts, self.counts, self.complete)

    @property
    def slack(self) -> FloatArray:
        """For each distinct operator, how far its cumulative weights can be off: (n, N)."""
        found = np.zeros(self._weights.shape)
        np.maximum.at(found, self.numbers, self.margins)
        return found

    @property
    def walk_counts(self) -> IntArray:
        """How often each distinct operator counts."""
        return np.bincount(self.numbers, self.counts, minlength=self.n_operators).astype(np.int64)

    def index(self, sorts: npt.ArrayLike) -> IntArray:
        """Number of the operator of each sort; -1 if its walk is not in the list."""
        wanted = sort_keys(as_sorts(sorts, self.n_sources))
        at = np.minimum(np.searchsorted(self._keys, wanted), len(self._keys) - 1)
        return np.where(self._keys[at] == wanted, self.numbers[at], -1)

    def sample_sorts(self, n: int, *, rng: Any = None) -> IntArray:
        """Sorts drawn from the list, each as likely as it counts."""
        chance = self.counts / self.counts.sum()
        return self.sorts[generator(rng).choice(len(self.sorts), size=n, p=chance)]

    def contributions(self) -> FloatArray:
        """Mean contribution of each source over the walks: Shapley values of the walks listed.

        Examples
        --------
        >>> from choquet import SupportedMeasure
        >>> g = SupportedMeasure.from_dict({"a": 0.5}, ["a", "b"])
        >>> WalkList(g, [[0, 1]], [1]).contributions()
        array([0.5, 0.5])
        """
        weights = self._weights[self.numbers] * (self.counts / self.counts.sum())[:, None]
        mean = np.bincount(self.sorts.ravel(), weights.ravel(), minlength=self.n_sources)
        return np.asarray(mean, dtype=np.float64)

    def __repr__(self) -> str:
        return (
            f"<WalkList of {self.n_sources} sources: {self.n_operators:,} operators over "
            f"{len(self.sorts):,} walks, {self.n_partial:,} of them partly supported>"
        )


def list_walks(
    measure: AbstractMeasure,
    support: DataSupport | None = None,
    *,
    epsilon: float = 0.0,
    decimals: int = 9,
    most: int = 20_000,
    rng: Any = None,
) -> WalkList:
    """The walks to take a measure on many sources apart by.

    - With data that observed whole walks, and ``epsilon=0``: those, as often as they were observed.
    - Else, where only some subsets are known (`support`, or a `SupportedMeasure`): all paths
      through known subsets that pass few enough others, each once.
    - A measure that is known everywhere, and no data: walks drawn at random.

    Walks with Φ < `epsilon`, or Φ = 0, pass few enough; of more than `most` so many are drawn.

    Examples
    --------
    >>> from choquet import SupportedMeasure
    >>> g = SupportedMeasure.from_dict({"a": 0.5, ("a", "b"): 0.7}, ["a", "b", "c"])
    >>> list_walks(g).sorts
    array([[0, 1, 2]])
    """
    n = measure.n_sources
    if support is not None:
        check_support(support, measure)
    if support is not None and len(support.observed_sorts) and not epsilon:
        sorts, counts = support.observed_sorts, support.sort_counts
        if len(sorts) > most:
            chance = counts / counts.sum()
            kept = np.sort(generator(rng).choice(len(sorts), most, replace=False, p=chance))
            sorts, counts = sorts[kept], counts[kept]
        return WalkList(
            measure, sorts, counts, support=support, decimals=decimals,
            complete=len(sorts) == len(support.observed_sorts),
        )  # fmt: skip
    words = None if support is None else support.words
    if words is None:
        words = measure.known_words
    if words is None:
        sorts = np.unique(random_sorts(n, most, rng), axis=0)
        return WalkList(measure, sorts, np.ones(len(sorts)), decimals=decimals, complete=False)
    paths = SupportedPaths(words, n, allowed_unsupported(n, epsilon))
    if not paths.n_walks:
        tied = "" if support is None else f" ({support.n_tied:,} of {support.n_samples:,} are tied)"
        raise DataError(
            f"no walk of the {n} sources is supported with Φ {'<' if epsilon else '='} "
            f"{epsilon:g}: no sample orders all sources strictly{tied}; allow unsupported subsets "
            "with a larger epsilon="
        )
    sorts = np.unique(paths.sorts(most, rng), axis=0)
    return WalkList(
        measure, sorts, np.ones(len(sorts)), support=support, epsilon=epsilon,
        decimals=decimals, complete=paths.n_walks <= most,
    )  # fmt: skip
