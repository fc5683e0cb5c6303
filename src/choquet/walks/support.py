"""Which subsets, and so which walks, a data set supports."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from choquet.arrays import BoolArray, FloatArray, IntArray, as_inputs, as_vector, column_names
from choquet.errors import DataError
from choquet.lattice.ties import LEAST, falling, tie_widths
from choquet.lattice.wide import (
    WordArray,
    chains_of,
    n_words,
    steps_outside,
    to_dense_masks,
    unique_rows,
)
from choquet.measures.abstract import AbstractMeasure
from choquet.walks.sorts import all_sorts, as_sorts

_CHUNK = 65_536
"""Samples whose chains are held at a time."""

_NIBBLES, _COUNTED = 16, 16
"""Sources up to which a sort fits one integer, and up to which all subsets are counted at once."""


@dataclass(frozen=True, eq=False, repr=False)
class DataSupport:
    """How well data support each subset of the sources.

    A sample supports the set of its j largest inputs if input j is strictly larger than input
    j + 1. Only then does the value of the set have a weight, the gap, in the sample's integral. A
    tie supports nothing, because a sorting routine may put tied inputs in any order. Inputs that
    differ by rounding alone are tied (see `choquet.lattice.ties`). Add the supports of parts of the
    data with ``+``.

    Attributes
    ----------
    n_sources, n_samples : int
        Size of the data seen.
    n_tied : int
        Samples with at least one tie; they observe no walk fully.
    words : array of uint64 of shape (K, W)
        Supported subsets besides ∅ and X, ascending, as bit masks of W words.
    counts : array of K ints
        Number of samples that support each.
    informations : array of K floats
        Sum of squared gaps for each, weighted if the samples are.
    observed_sorts : array of ints of shape (S, N)
        Sorts of the samples without ties, distinct, in lexicographic order.
    sort_counts : array of S ints
        Number of samples with each.
    tolerance : float
        Gaps up to this size count as ties too.
    sources : tuple of str or None
        Names of the columns, where the data had them.

    Examples
    --------
    >>> support = DataSupport.from_data([[0.9, 0.5, 0.1], [0.8, 0.3, 0.3]])
    >>> support.count
    array([0, 2, 0, 1, 0, 0, 0, 2])
    >>> support.observed_sorts
    array([[0, 1, 2]])
    >>> support.phi([[0, 1, 2], [0, 2, 1]])
    array([0. , 0.5])
    """

    n_sources: int
    n_samples: int
    n_tied: int
    words: WordArray
    counts: IntArray
    informations: FloatArray
    observed_sorts: IntArray
    sort_counts: IntArray
    tolerance: float
    sources: tuple[str, ...] | None = None

    @classmethod
    def from_data(
        cls,
        X: Any,
        *,
        sources: Sequence[str] | None = None,
        sample_weight: npt.ArrayLike | None = None,
        tolerance: float = 0.0,
    ) -> DataSupport:
        """Support by the rows of `X`.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_sources)
            Inputs.
        sources : sequence of str, optional
            The order of the sources: a frame is read by these names. By default its columns are
            taken in their own order, and their names are kept to be checked against a measure's.
        sample_weight : array-like of shape (n_samples,), optional
            Weights ≥ 0 of the information; a sample of weight 0 supports nothing.
        tolerance : float, default 0
            Gaps up to this size count as ties, in addition to those of rounding.

        Examples
        --------
        >>> DataSupport.from_data([[0.2, 0.7]]).information.round(12)
        array([0.  , 0.  , 0.25, 0.  ])
        """
        inputs = as_inputs(X, sources=sources)
        names = column_names(X) if sources is None else sources
        if not inputs.size:
            raise DataError(f"no data: the inputs have shape {inputs.shape}")
        if not 0 <= tolerance < np.inf:
            raise DataError(f"tolerance={tolerance} must be a number not below 0")
        weights = None
        if sample_weight is not None:
            weights = as_vector(sample_weight, "sample_weight", len(inputs))
            if (weights < 0).any():
                raise DataError("sample_weight must be at least 0")
        parts = [
            _support_of_chunk(
                inputs[k : k + _CHUNK],
                None if weights is None else weights[k : k + _CHUNK],
                float(tolerance),
            )
            for k in range(0, len(inputs), _CHUNK)
        ]
        return replace(_merge(parts), sources=None if names is None else tuple(names))

    @classmethod
    def empty(cls, n_sources: int, *, tolerance: float = 0.0) -> DataSupport:
        """Support by no data: the neutral element of ``+``.

        Examples
        --------
        >>> DataSupport.empty(3).n_supported
        0
        """
        return cls(
            n_sources=n_sources,
            n_samples=0,
            n_tied=0,
            words=np.zeros((0, n_words(n_sources)), dtype=np.uint64),
            counts=np.zeros(0, dtype=np.int64),
            informations=np.zeros(0),
            observed_sorts=np.zeros((0, n_sources), dtype=np.int64),
            sort_counts=np.zeros(0, dtype=np.int64),
            tolerance=tolerance,
        )

    def __add__(self, other: DataSupport) -> DataSupport:
        if not isinstance(other, DataSupport):
            return NotImplemented
        if (self.n_sources, self.tolerance) != (other.n_sources, other.tolerance):
            raise DataError(
                "supports can be added only for the same sources and tolerance, not "
                f"{self.n_sources} and {other.n_sources} sources, "
                f"{self.tolerance:g} and {other.tolerance:g}"
            )
        if self.sources and other.sources and self.sources != other.sources:
            raise DataError(
                f"supports can be added only for the same sources in one order, not {self.sources} "
                f"and {other.sources}"
            )
        return replace(_merge([self, other]), sources=self.sources or other.sources)

    # -- by mask -----------------------------------------------------------------------------------

    @property
    def n_supported(self) -> int:
        """Number of supported subsets besides ∅ and X."""
        return len(self.words)

    @property
    def count(self) -> IntArray:
        """Number of supporting samples of each of the 2**N subsets; for X, all samples."""
        dense = self._dense(self.counts)
        dense[-1] = self.n_samples
        return dense

    @property
    def information(self) -> FloatArray:
        """Sum of squared gaps of each of the 2**N subsets (0 for ∅ and X, which are known)."""
        return self._dense(self.informations)

    @property
    def supported(self) -> BoolArray:
        """Which of the 2**N subsets are supported; ∅ and X always are."""
        dense = self._dense(np.ones(self.n_supported, dtype=np.bool_))
        dense[[0, -1]] = True
        return dense

    def _dense(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        masks = to_dense_masks(self.words, self.n_sources)  # refused where there are too many
        dense = np.zeros(1 << self.n_sources, dtype=values.dtype)
        dense[masks] = values
        return dense

    # -- walks -------------------------------------------------------------------------------------

    def unsupported_steps(self, sorts: npt.ArrayLike) -> BoolArray:
        """Which of the sets A_1, …, A_{N-1} along each walk are unsupported: (n, N - 1).

        Examples
        --------
        >>> DataSupport.from_data([[0.9, 0.5, 0.1]]).unsupported_steps([[0, 2, 1]])
        array([[False,  True]])
        """
        return steps_outside(self.words, as_sorts(sorts, self.n_sources))

    def phi(self, sorts: npt.ArrayLike) -> FloatArray:
        """Φ of each walk: the share of its N - 1 free values that no sample supports.

        Zero for a walk that is supported throughout (the paper's Algorithm 1), anything below a
        limit ε for one that is supported well enough (Algorithm 2).

        Examples
        --------
        >>> DataSupport.from_data([[0.9, 0.5, 0.1]]).phi([[0, 1, 2], [2, 1, 0]])
        array([0., 1.])
        """
        return self._phi(as_sorts(sorts, self.n_sources))

    def _phi(self, sorts: IntArray) -> FloatArray:
        missing = steps_outside(self.words, sorts)
        if self.n_sources == 1:
            return np.zeros(len(missing))
        share: FloatArray = missing.mean(axis=1)
        return share

    def supported_sorts(self, epsilon: float = 0.0) -> IntArray:
        """All sorts whose walks have Φ = 0 or, with an epsilon, below that.

        Examples
        --------
        >>> DataSupport.from_data([[0.9, 0.5, 0.1]]).supported_sorts()
        array([[0, 1, 2]])
        """
        sorts = all_sorts(self.n_sources)
        phi = self._phi(sorts)
        kept: IntArray = sorts[(phi == 0) | (phi < epsilon)]
        return kept

    def __repr__(self) -> str:
        n = self.n_sources
        return (
            f"<DataSupport of {n} sources by {self.n_samples:,} samples ({self.n_tied:,} tied): "
            f"{self.n_supported:,} of 2**{n} - 2 subsets, {len(self.observed_sorts):,} sorts>"
        )


def check_support(support: DataSupport, measure: AbstractMeasure) -> None:
    """Check that data have the sources of a measure, in the same order.

    Examples
    --------
    >>> from choquet import Measure
    >>> check_support(DataSupport.empty(3), Measure([0, 0.2, 0.3, 1]))
    Traceback (most recent call last):
    ...
    choquet.errors.DataError: the support is of 3 sources, the measure of 2
    """
    if support.n_sources != measure.n_sources:
        raise DataError(
            f"the support is of {support.n_sources} sources, the measure of {measure.n_sources}"
        )
    if support.sources is not None and support.sources != measure.sources:
        raise DataError(
            f"the support is of the columns {', '.join(support.sources)}, but the measure of "
            f"{', '.join(measure.sources)}: make it with DataSupport.from_data(X, "
            "sources=measure.sources), or name the measure's sources with renamed()"
        )


def _merge(parts: list[DataSupport]) -> DataSupport:
    """Support by all parts together: every list is made distinct once, however many parts."""
    if len(parts) == 1:
        return parts[0]
    words, row = unique_rows(np.concatenate([part.words for part in parts]))
    sorts, sort_row = _distinct_sorts(np.concatenate([part.observed_sorts for part in parts]))
    counts = np.concatenate([part.counts for part in parts])
    informations = np.concatenate([part.informations for part in parts])
    sort_counts = np.concatenate([part.sort_counts for part in parts])
    return DataSupport(
        n_sources=parts[0].n_sources,
        n_samples=sum(part.n_samples for part in parts),
        n_tied=sum(part.n_tied for part in parts),
        words=words,
        counts=_gather(row, counts, len(words)),
        informations=_gather(row, informations, len(words)),
        observed_sorts=sorts,
        sort_counts=_gather(sort_row, sort_counts, len(sorts)),
        tolerance=parts[0].tolerance,
    )


def _gather(row: IntArray, values: npt.NDArray[Any], length: int) -> npt.NDArray[Any]:
    """Sum of the values with each row number, in their own type."""
    total = np.zeros(length, dtype=values.dtype)
    np.add.at(total, row, values)
    return total


def _distinct_sorts(sorts: IntArray) -> tuple[IntArray, IntArray]:
    """Distinct sorts in lexicographic order, and for each row the position of its sort."""
    n_sources = sorts.shape[1]
    keys: npt.NDArray[Any]
    if n_sources <= _NIBBLES:
        # Four bits a source, the first in front: one integer that sorts as the row does.
        places = 4 * np.arange(n_sources - 1, -1, -1, dtype=np.uint64)
        keys = (sorts.astype(np.uint64) << places).sum(axis=1, dtype=np.uint64)
    else:
        keys = sort_keys(sorts)
    _, first, row = np.unique(keys, return_index=True, return_inverse=True)
    return sorts[first], row.reshape(-1)


def sort_keys(sorts: IntArray) -> npt.NDArray[Any]:
    """One sortable key a sort: big-endian bytes compare as the rows do."""
    wide = np.ascontiguousarray(sorts.astype(">u2"))
    return wide.view(np.dtype((np.void, 2 * sorts.shape[1])))[:, 0]


def _support_of_chunk(
    inputs: FloatArray, weights: FloatArray | None, tolerance: float
) -> DataSupport:
    n_samples, n_sources = inputs.shape
    used = inputs if weights is None else inputs[weights > 0]
    kept = None if weights is None else weights[weights > 0]
    sorts, ordered = falling(used)
    gaps = -np.diff(ordered, axis=1)
    strict = gaps > np.maximum(tie_widths(ordered), tolerance)
    with np.errstate(over="ignore", under="ignore"):
        squares = gaps**2 if kept is None else gaps**2 * kept[:, None]
    if not np.isfinite(squares).all():
        raise DataError(
            f"the squares of inputs up to {np.abs(used).max():.3g} overflow: divide the inputs or "
            "the weights by their size"
        )
    strict &= squares >= LEAST
    untied = strict.all(axis=1)
    words, counts, informations = _count_sets(sorts, strict, squares)
    observed, row = _distinct_sorts(sorts[untied])
    return DataSupport(
        n_sources=n_sources,
        n_samples=n_samples,
        n_tied=int((~untied).sum()),
        words=words,
        counts=counts,
        informations=informations,
        observed_sorts=observed,
        sort_counts=np.bincount(row, minlength=len(observed)),
        tolerance=tolerance,
    )


def _count_sets(
    sorts: IntArray, strict: BoolArray, squares: FloatArray
) -> tuple[WordArray, IntArray, FloatArray]:
    """Sets at strict steps, how many samples meet each, and the sum of squared gaps there."""
    n_sources = sorts.shape[1]
    if n_sources <= _COUNTED:
        # Few enough sets to count them all, which is faster than sorting those met.
        masks = np.cumsum(np.int64(1) << sorts, axis=1)[:, :-1][strict]
        counts = np.bincount(masks, minlength=1 << n_sources)
        sums = _gather(masks, squares[strict], 1 << n_sources)
        met = np.flatnonzero(counts)
        return met.astype(np.uint64)[:, None], counts[met], sums[met]
    words, row = unique_rows(chains_of(sorts)[:, :-1][strict])
    return words, np.bincount(row, minlength=len(words)), _gather(row, squares[strict], len(words))
