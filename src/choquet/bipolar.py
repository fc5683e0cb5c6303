"""Bipolar integrals: inputs around a neutral 0, with two measures or a bi-capacity."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, final

import numpy as np
import numpy.typing as npt

from choquet.arrays import FloatArray, IntArray, as_inputs, as_vector
from choquet.errors import MeasureError, NotMonotoneError, SourceError, TooLargeError
from choquet.measures.abstract import AbstractMeasure, check_measure
from choquet.measures.sources import check_sources

__all__ = ["BiCapacity", "bipolar_integral"]

MAX_SOURCES = 12
"""Largest number of sources of a bi-capacity: 3**12 values are 4 MiB."""


def bipolar_integral(positive: AbstractMeasure, negative: AbstractMeasure, X: Any) -> FloatArray:
    """Integral of the positive parts by one measure, minus that of the negative parts by another.

    With the same measure twice it is the symmetric (Šipoš) integral; with the measure and its dual
    the asymmetric one, which is `choquet_integral`.

    Parameters
    ----------
    positive, negative : AbstractMeasure
        On the same sources.
    X : array-like or data frame of shape (n_samples, N)
        Inputs, good above 0 and bad below.

    Returns
    -------
    array of shape (n_samples,)

    References
    ----------
    Tversky & Kahneman (1992), "Advances in prospect theory: cumulative representation of
    uncertainty"; Greco & Rindone (2013), "Bipolar fuzzy integrals".

    Examples
    --------
    >>> from choquet import Measure
    >>> g, h = Measure([0, 0.2, 0.3, 1]), Measure([0, 0.5, 0.6, 1])
    >>> bipolar_integral(g, h, [[1.0, -1.0]]).round(12)
    array([-0.4])
    """
    if check_measure(positive).sources != check_measure(negative).sources:
        raise SourceError("both measures of a bipolar integral must be on the same sources")
    inputs = as_inputs(X, sources=positive.sources)
    return positive.integral(np.maximum(inputs, 0.0)) - negative.integral(np.maximum(-inputs, 0.0))


@final
@dataclass(frozen=True, eq=False, repr=False)
class BiCapacity:
    """A value for every pair of disjoint subsets: the sources that speak for, and those against.

    Parameters
    ----------
    values : array-like of 3**N floats
        v(A, B) by ternary code: the digit 3**i is 0 if source i is in neither set, 1 if it is in A
        (for), 2 if it is in B (against). v(∅, ∅) = 0; v grows with A and falls with B.
    sources : sequence of str, optional
        Names; x1, x2, … by default.

    Raises
    ------
    MeasureError, NotMonotoneError
        If it is none.

    References
    ----------
    Grabisch & Labreuche (2005), "Bi-capacities I and II", Fuzzy Sets and Systems 151.

    Examples
    --------
    One source for and one against cancel out here, though each alone counts for 0.3.

    >>> v = BiCapacity.from_function(lambda a, b: 0.3 * (len(a) - len(b)), ["ir", "emi"])
    >>> v.integral([[0.8, -0.8], [0.8, 0.5]]).round(12)
    array([0.  , 0.39])
    """

    values: FloatArray
    sources: tuple[str, ...]

    def __init__(self, values: npt.ArrayLike, sources: Iterable[str] | None = None) -> None:
        array = as_vector(values, "the values of a bi-capacity")
        n = _sources_of(len(array))
        names = check_sources(sources, n)
        if array[0] != 0:
            raise MeasureError(f"v(∅, ∅) must be 0, not {array[0]:g}")
        _refuse_decrease(array, names)
        array.flags.writeable = False
        vars(self).update(values=array, sources=names)

    @classmethod
    def from_function(
        cls,
        value: Callable[[frozenset[str], frozenset[str]], float],
        sources: Iterable[str],
    ) -> BiCapacity:
        """Bi-capacity from a function of the sources for and the sources against.

        Examples
        --------
        >>> BiCapacity.from_function(lambda a, b: len(a) - len(b), ["x"]).values
        array([ 0.,  1., -1.])
        """
        names = tuple(sources)
        codes = range(3 ** _checked(len(names)))
        digits = [[code // 3**i % 3 for i in range(len(names))] for code in codes]
        sets = [
            tuple(frozenset(n for n, d in zip(names, row, strict=True) if d == k) for k in (1, 2))
            for row in digits
        ]
        return cls([float(value(*pair)) for pair in sets], names)

    @classmethod
    def from_measures(cls, positive: AbstractMeasure, negative: AbstractMeasure) -> BiCapacity:
        """The bi-capacity v(A, B) = g(A) - h(B), whose integral is `bipolar_integral`.

        Examples
        --------
        >>> from choquet import Measure
        >>> g = Measure.additive([0.4, 0.6])
        >>> BiCapacity.from_measures(g, g).integral([[1.0, -1.0]]).round(12)
        array([-0.2])
        """
        if check_measure(positive).sources != check_measure(negative).sources:
            raise SourceError("both measures must be on the same sources")
        above, below = positive.to_measure().values, negative.to_measure().values
        n = _checked(positive.n_sources)
        codes = np.arange(3**n)
        digits = codes[:, None] // 3 ** np.arange(n) % 3
        bits = np.int64(1) << np.arange(n)
        return cls(above[(digits == 1) @ bits] - below[(digits == 2) @ bits], positive.sources)

    @property
    def n_sources(self) -> int:
        """The number of sources."""
        return len(self.sources)

    def integral(self, X: Any) -> FloatArray:
        """Choquet integral of each sample: of its sizes, by the signs that go with them.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, N)
            Inputs around 0.

        Returns
        -------
        array of shape (n_samples,)

        Examples
        --------
        >>> BiCapacity([0, 1, -2]).integral([[0.5], [-0.5]])
        array([ 0.5, -1. ])
        """
        inputs = as_inputs(X, sources=self.sources)
        size = np.abs(inputs)
        sorts: IntArray = np.argsort(-size, axis=1, kind="stable")
        ordered = np.take_along_axis(size, sorts, axis=1)
        digits = np.where(np.take_along_axis(inputs, sorts, axis=1) >= 0, 1, 2)
        chain = np.cumsum(digits * 3**sorts, axis=1)
        gaps = ordered - np.column_stack([ordered[:, 1:], np.zeros(len(ordered))])
        return np.asarray((gaps * self.values[chain]).sum(axis=1))

    def __repr__(self) -> str:
        return f"<BiCapacity on {self.n_sources} sources ({', '.join(self.sources)})>"


def _checked(n: int) -> int:
    if n > MAX_SOURCES:
        raise TooLargeError(
            f"a bi-capacity on {n} sources needs 3**{n} values; the limit is {MAX_SOURCES} sources"
        )
    return n


def _sources_of(length: int) -> int:
    n = 0
    while 3**n < length:
        n += 1
    if 3**n != length or n < 1:
        raise MeasureError(
            f"a bi-capacity on N sources needs 3**N values (3, 9, 27, ...), not {length}"
        )
    return _checked(n)


def _refuse_decrease(values: FloatArray, names: tuple[str, ...]) -> None:
    codes = np.arange(len(values))
    for i, name in enumerate(names):
        neither = codes[codes // 3**i % 3 == 0]
        for step, word in ((1, "for"), (2, "against")):
            after = values[neither + step * 3**i] - values[neither]
            wrong = np.flatnonzero(after < -1e-12 if step == 1 else after > 1e-12)
            if len(wrong):
                code = int(neither[wrong[0]])
                raise NotMonotoneError(
                    f"not monotone: v goes from {values[code]:g} to "
                    f"{values[code + step * 3**i]:g} when {name} speaks {word} as well",
                    code,
                    code + step * 3**i,
                )
