"""Choquet regression on many sources: values on the subsets that data saw, zero elsewhere."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import final

import numpy as np
import numpy.typing as npt

from choquet.arrays import FloatArray, as_vector
from choquet.errors import MeasureError
from choquet.lattice.wide import WordArray, find_rows, n_words, pack, unique_rows
from choquet.measures.abstract import ComputedMeasure, as_names


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
        table = np.array(words, dtype=np.uint64).reshape(-1, n_words(len(names)))
        array = as_vector(values, "the values of a measure", len(table))
        rows, inverse = unique_rows(table)
        if len(rows) != len(table):
            raise MeasureError("a subset is given more than once")
        ordered = np.empty(len(array))
        ordered[inverse] = array
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

    def _as_mobius(self) -> None:
        return None

    def __repr__(self) -> str:
        count = len(self.known_values)
        return f"<SparseMeasure on {self.n_sources} sources: {count:,} values, else 0>"
