"""Choquet regression on many sources: values on the subsets that data saw, zero elsewhere."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from choquet.arrays import FloatArray, IntArray, as_inputs
from choquet.lattice.wide import WordArray, chains, chains_of, find_rows

__all__ = ["SparseMeasure"]


@dataclass(frozen=True, eq=False)
class SparseMeasure:
    """A measure without monotonicity that is zero on all but some subsets.

    What least squares with a penalty says of subsets without data: nothing pulls them from zero.

    Attributes
    ----------
    words : array of shape (K, W)
        The subsets, ascending, as words of 64 bits.
    values : array of shape (K,)
    sources : tuple of str
    """

    words: WordArray
    values: FloatArray
    sources: tuple[str, ...]

    @property
    def n_sources(self) -> int:
        """Number of sources."""
        return len(self.sources)

    @property
    def monotone(self) -> bool:
        """Never promised."""
        return False

    @property
    def normal(self) -> bool:
        """Never promised."""
        return False

    def walk_values(self, sorts: IntArray) -> FloatArray:
        """Values g(A_1), …, g(A_N) along the walk of each sort.

        Examples
        --------
        >>> g = SparseMeasure(np.array([[3]], dtype=np.uint64), np.array([2.0]), ("a", "b"))
        >>> g.walk_values(np.array([[0, 1]]))
        array([[0., 2.]])
        """
        words = chains_of(sorts)
        at = find_rows(self.words, words.reshape(-1, words.shape[2])).reshape(sorts.shape)
        return np.where(at >= 0, self.values[at], 0.0)

    def integral(self, X: npt.ArrayLike) -> FloatArray:
        """Choquet integral of each row.

        Examples
        --------
        >>> g = SparseMeasure(np.array([[3]], dtype=np.uint64), np.array([2.0]), ("a", "b"))
        >>> g.integral([[0.5, 0.2]])
        array([0.4])
        """
        words, gaps = chains(as_inputs(X, self.n_sources))
        at = find_rows(self.words, words.reshape(-1, words.shape[2])).reshape(gaps.shape)
        return np.asarray((gaps * np.where(at >= 0, self.values[at], 0.0)).sum(axis=1))
