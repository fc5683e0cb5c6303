"""A measure known on some subsets only: what data supported, and intervals for the rest."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, final

import numpy as np
import numpy.typing as npt

from choquet.arrays import BoolArray, FloatArray, IntArray, check_option
from choquet.errors import DataError, MeasureError, NotMonotoneError
from choquet.lattice import downward_minimum, members, upward_maximum
from choquet.lattice.threads import in_chunks
from choquet.lattice.wide import WordArray, find_rows, membership, to_dense_masks
from choquet.measures.abstract import (
    AbstractMeasure,
    FillName,
    IntegralName,
    as_names,
    as_table,
    combine,
    refuse_beyond,
    words_of_subsets,
)
from choquet.measures.measure import Measure


@final
@dataclass(frozen=True, eq=False, repr=False)
class SupportedMeasure(AbstractMeasure):
    """A monotone measure with values on some subsets, for any number of sources.

    ∅ (value 0) and the set X of all sources (value `total`) are always known. Every other subset
    has an interval: from the largest known value inside it to the smallest known value around it.
    Both ends are attained by monotone measures, so the interval cannot be narrowed.

    Parameters
    ----------
    words : array of uint64 of shape (K, W)
        The known subsets as bit masks of W = ⌈N / 64⌉ words; see `choquet.lattice.wide`.
    values : array-like of K floats
        Their values.
    sources : sequence of str
        Names.
    total : float, default 1
        g(X).

    References
    ----------
    Islam, Anderson, Pinar, Havens (2018). Data-driven compression and efficient learning of the
    Choquet integral. IEEE Transactions on Fuzzy Systems 26, 1908-1922.

    Examples
    --------
    >>> g = SupportedMeasure.from_dict({"ir": 0.4, ("ir", "emi"): 0.7}, ["gpr", "ir", "emi"])
    >>> g.bounds(["ir", "emi", ("gpr", "ir")])
    (array([0.4, 0. , 0.4]), array([0.4, 0.7, 1. ]))
    """

    words: WordArray
    known_values: FloatArray
    sources: tuple[str, ...]
    total: float

    def __init__(
        self,
        words: npt.ArrayLike,
        values: npt.ArrayLike,
        sources: Iterable[str],
        *,
        total: float = 1.0,
    ) -> None:
        names = as_names(sources)
        table = as_table(words, values, "the values of a measure", len(names))
        self._hold(*_tidy(*table, len(names), float(total)), names, float(total))
        self._refuse_decrease()

    def _hold(
        self, words: WordArray, values: FloatArray, sources: tuple[str, ...], total: float
    ) -> None:
        values.flags.writeable = words.flags.writeable = False
        vars(self).update(
            words=words, known_values=values, sources=sources, total=total,
            monotone=True, normal=abs(total - 1) < 1e-12,
        )  # fmt: skip

    # -- constructors ------------------------------------------------------------------------------

    @classmethod
    def from_dict(
        cls, values: Mapping[Any, float], sources: Iterable[str], *, total: float = 1.0
    ) -> SupportedMeasure:
        """Measure from values by subset (names or numbers).

        Examples
        --------
        >>> SupportedMeasure.from_dict({("a", "c"): 0.5}, ["a", "b", "c"]).n_supported
        1
        """
        names = tuple(sources)
        return cls(words_of_subsets(names, values), list(values.values()), names, total=total)

    @classmethod
    def from_measure(cls, measure: Measure, supported: npt.ArrayLike) -> SupportedMeasure:
        """Keep of a dense measure only the subsets marked in `supported` (2**N booleans by mask).

        Examples
        --------
        >>> SupportedMeasure.from_measure(Measure([0, 0.2, 0.3, 1]), [0, 1, 0, 1]).bounds(["x2"])
        (array([0.]), array([1.]))
        """
        marked = np.asarray(supported, dtype=np.bool_)
        if marked.shape != measure.values.shape:
            raise DataError(
                f"support must mark all {len(measure.values)} subsets, not shape {marked.shape}"
            )
        masks = np.flatnonzero(marked)
        return cls(
            masks.astype(np.uint64).reshape(-1, 1),
            measure.values[masks],
            measure.sources,
            total=float(measure.values[-1]),
        )

    @classmethod
    def nearest(
        cls, words: WordArray, values: FloatArray, sources: Iterable[str], *, total: float
    ) -> SupportedMeasure:
        """Measure from values in which rounding may have made a decrease: they are lifted over it.

        Examples
        --------
        >>> words = np.array([[1], [3]], dtype=np.uint64)
        >>> g = SupportedMeasure.nearest(words, np.array([0.3, 0.29]), ["a", "b", "c"], total=1.0)
        >>> g.known_values
        array([0.3, 0.3])
        """
        inside = np.clip(values, 0.0, total)
        lifted = _bounds_by_containment(words, inside, words, total)[0]
        return cls(words, lifted, sources, total=total)

    # -- values ------------------------------------------------------------------------------------

    @property
    def n_supported(self) -> int:
        """Number of known subsets besides ∅ and X."""
        return len(self.known_values)

    def _bounds(self, words: WordArray) -> tuple[FloatArray, FloatArray]:
        sizes = np.bitwise_count(words).sum(axis=1)
        lower, upper = _bounds_by_containment(self.words, self.known_values, words, self.total)
        lower[sizes == self.n_sources] = self.total
        upper[sizes == 0] = 0.0
        return lower, upper

    def _values_of(self, words: WordArray) -> FloatArray:
        lower, upper = self._bounds(words)
        return (lower + upper) / 2

    def _walk_bounds(self, sorts: IntArray) -> tuple[FloatArray, FloatArray]:
        from choquet.measures import _kernels

        inside = membership(self.words, self.n_sources)
        lower, upper = np.zeros(sorts.shape), np.full(sorts.shape, self.total)

        def part(low: int, high: int) -> None:
            rows = slice(low, high)
            _kernels.walk_bounds(
                inside, self.known_values, sorts[rows], self.total, lower[rows], upper[rows]
            )

        in_chunks(part, len(sorts), 4 * inside.size)
        return lower, upper

    def _walk_values(self, sorts: IntArray) -> FloatArray:
        lower, upper = self._walk_bounds(sorts)
        return (lower + upper) / 2

    def _walk_weights(self, sorts: IntArray) -> FloatArray:
        return np.diff(self._walk_values(sorts), axis=1, prepend=0.0)

    def _interval(self, inputs: FloatArray, kind: IntegralName) -> FloatArray:
        sorts = np.argsort(-inputs, axis=1, kind="stable")
        ordered = np.take_along_axis(inputs, sorts, axis=1)
        ends = self._walk_bounds(sorts)
        return np.column_stack([combine(ordered, end, kind) for end in ends])

    def _integral(self, inputs: FloatArray, kind: IntegralName) -> FloatArray:
        if kind == "choquet":
            return np.asarray(self._interval(inputs, kind).mean(axis=1))
        return self._combined(inputs, kind)

    def _renamed(self, sources: tuple[str, ...]) -> SupportedMeasure:
        return SupportedMeasure(self.words, self.known_values, sources, total=self.total)

    @property
    def known_words(self) -> WordArray:
        """The subsets that have a value."""
        return self.words

    def is_supported(self, words: WordArray) -> BoolArray:
        """Whether each subset is known; ∅ and X always are.

        Examples
        --------
        >>> g = SupportedMeasure.from_dict({"a": 0.5}, ["a", "b"])
        >>> g.is_supported(np.array([[1], [2], [3]], dtype=np.uint64)).tolist()
        [True, False, True]
        """
        sizes = np.bitwise_count(words).sum(axis=1)
        trivial: BoolArray = (sizes == 0) | (sizes == self.n_sources)
        return trivial | (find_rows(self.words, words) >= 0)

    def to_measure(self, *, fill: FillName | None = None) -> Measure:
        """Dense measure, unknown subsets filled from their bounds.

        Parameters
        ----------
        fill : {"lower", "upper", "midpoint"}, optional
            Which value unknown subsets get. By default they are refused.

        Examples
        --------
        >>> g = SupportedMeasure.from_dict({"a": 0.4}, ["a", "b"])
        >>> g.to_measure(fill="midpoint").values
        array([0. , 0.4, 0.5, 1. ])
        """
        masks = to_dense_masks(self.words, self.n_sources)
        known = np.full(1 << self.n_sources, np.nan)
        known[masks] = self.known_values
        known[0], known[-1] = 0.0, self.total
        unknown = np.isnan(known)
        if fill is None and unknown.any():
            raise MeasureError(
                f"{int(unknown.sum()):,} of the {len(known):,} subsets have no value, only bounds: "
                'fill them with to_measure(fill="midpoint"), "lower" or "upper", or ask bounds(), '
                "interval() and sample_indices() for what is certain"
            )
        check_option("fill", fill or "midpoint", ["lower", "upper", "midpoint"])
        lower = upward_maximum(np.where(unknown, 0.0, known))
        upper = downward_minimum(np.where(unknown, self.total, known))
        # Each filling is monotone, and so is their mean.
        filled = {"lower": lower, "upper": upper}.get(fill or "", (lower + upper) / 2)
        return Measure(filled, self.sources, normal=self.normal)

    # -- Python ------------------------------------------------------------------------------------

    def _refuse_decrease(self) -> None:
        from choquet.measures import _kernels

        row, other = _kernels.containment_witness(self.words, self.known_values)
        if row < 0:
            return
        masks = [
            sum(int(word) << (64 * k) for k, word in enumerate(self.words[at]))
            for at in (row, other)
        ]
        names = [", ".join(self.sources[i] for i in members(mask)) for mask in masks]
        raise NotMonotoneError(
            f"not monotone: g({{{names[0]}}}) = {self.known_values[row]:g} > "
            f"g({{{names[1]}}}) = {self.known_values[other]:g}",
            *masks,
        )

    def __repr__(self) -> str:
        n = self.n_sources
        return (
            f"<SupportedMeasure on {n} sources: {self.n_supported:,} of 2**{n} - 2 subsets known>"
        )


def known_at(measure: AbstractMeasure, words: WordArray) -> SupportedMeasure | None:
    """What is left of a measure if only these values are known; None if they bound no others.

    `words` are distinct proper subsets in order, as those of a `DataSupport`.

    Examples
    --------
    >>> words = np.array([[1]], dtype=np.uint64)
    >>> known_at(Measure([0, 0.2, 0.3, 1]), words).bounds(["x1", "x2"])
    (array([0.2, 0. ]), array([0.2, 1. ]))
    """
    if not measure.monotone:
        return None
    values = measure._values_of(words)
    if not measure.is_dense:
        return SupportedMeasure.nearest(words, values, measure.sources, total=measure.total)
    # Some values of a measure that was checked need no check again.
    found = object.__new__(SupportedMeasure)
    found._hold(words.copy(), values, measure.sources, measure.total)
    return found


def _tidy(
    rows: WordArray, ordered: FloatArray, n_sources: int, total: float
) -> tuple[WordArray, FloatArray]:
    """Check ∅ and X, and take both out of the table."""
    if not np.isfinite(total) or total < 0:
        raise MeasureError(f"g(X) must be finite and at least 0, not {total:g}")
    refuse_beyond(rows, n_sources)
    sizes = np.bitwise_count(rows).sum(axis=1)
    for size, expected, name in ((0, 0.0, "∅"), (n_sources, total, "X")):
        given = ordered[sizes == size]
        if len(given) and abs(given[0] - expected) > 1e-12:
            raise MeasureError(f"g({name}) must be {expected:g}, not {given[0]:g}")
    free = (sizes > 0) & (sizes < n_sources)
    rows, ordered = rows[free], ordered[free]
    if len(ordered) and (ordered.min() < 0 or ordered.max() > total):
        raise MeasureError(f"values must lie between 0 and g(X) = {total:g}")
    return rows, ordered


def _bounds_by_containment(
    words: WordArray, values: FloatArray, asked: WordArray, total: float
) -> tuple[FloatArray, FloatArray]:
    """Largest value inside and smallest value around each set asked for, between 0 and `total`."""
    from choquet.measures import _kernels

    lower, upper = np.zeros(len(asked)), np.full(len(asked), total)

    def part(low: int, high: int) -> None:
        _kernels.containment_bounds(
            words, values, asked[low:high], lower[low:high], upper[low:high]
        )

    in_chunks(part, len(asked), 4 * words.size)
    return lower, upper
