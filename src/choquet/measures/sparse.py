"""Choquet regression on many sources: values on the subsets that data saw, zero elsewhere."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import final

import numpy as np
import numpy.typing as npt

from choquet.arrays import FloatArray
from choquet.lattice.wide import WordArray, find_rows, pack
from choquet.measures.abstract import ComputedMeasure, as_names, as_table


@final
@dataclass(frozen=True, eq=False, repr=False)
class SparseMeasure(ComputedMeasure):
    """A measure without monotonicity that is zero on all but some subsets.

    What least squares with a penalty says of subsets without data: nothing pulls them from zero.

    Parameters
    ----------
    words : array of uint64 of shape (K, W)
        The subsets as bit masks of W = ⌈N / 64⌉ words.
    values : array-like of K floats
        Their values; g(X) is one of them, or 0.
    sources : sequence of str
        Names.

    Examples
    --------
    >>> g = SparseMeasure(np.array([[3]], dtype=np.uint64), [2.0], ["a", "b"])
    >>> g("a"), g.total, g.integral([[0.5, 0.2]])
    (0.0, 2.0, array([0.4]))
    """

    words: WordArray
    known_values: FloatArray
    sources: tuple[str, ...]

    def __init__(self, words: npt.ArrayLike, values: npt.ArrayLike, sources: Iterable[str]) -> None:
        names = as_names(sources)
        rows, ordered = as_table(words, values, "the values of a measure", len(names))
        rows.flags.writeable = ordered.flags.writeable = False
        vars(self).update(
            words=rows, known_values=ordered, sources=names, monotone=False, normal=False
        )
        everything = pack(np.ones((1, len(names)), dtype=np.bool_))
        vars(self).update(total=float(self._values_of(everything)[0]))

    def _values_of(self, words: WordArray) -> FloatArray:
        at = find_rows(self.words, words)
        found = np.zeros(len(at))
        found[at >= 0] = self.known_values[at[at >= 0]]
        return found

    def _renamed(self, sources: tuple[str, ...]) -> SparseMeasure:
        return SparseMeasure(self.words, self.known_values, sources)

    def __repr__(self) -> str:
        count = len(self.known_values)
        return f"<SparseMeasure on {self.n_sources} sources: {count:,} values, else 0>"
