"""A measure known on some subsets only: what data supported, and intervals for the rest."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from choquet.arrays import BoolArray, FloatArray, IntArray, as_vector, check_option
from choquet.errors import DataError, MeasureError, NotMonotoneError, SourceError
from choquet.lattice import downward_minimum, members, upward_maximum
from choquet.lattice.threads import in_chunks
from choquet.lattice.wide import (
    WordArray,
    chains_of,
    find_rows,
    membership,
    n_words,
    pack,
    to_dense_masks,
    unique_rows,
)
from choquet.measures.measure import Measure
from choquet.measures.sources import check_sources, source_numbers, subset_of

__all__ = ["SupportedMeasure"]


@dataclass(frozen=True, eq=False, repr=False)
class SupportedMeasure:
    """Monotone measure with values on some subsets, for any number of sources.

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
    >>> g.interval("ir"), g.interval("emi"), g.interval("gpr", "ir")
    ((0.4, 0.4), (0.0, 0.7), (0.4, 1.0))
    """

    words: WordArray
    values: FloatArray
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
        names = tuple(sources)
        names = check_sources(names, len(names))
        if not names:
            raise SourceError("a measure needs at least one source")
        table = np.array(words, dtype=np.uint64).reshape(-1, n_words(len(names)))
        array = as_vector(values, "the values of a measure", len(table))
        table, array = _tidy(table, array, len(names), float(total))
        array.flags.writeable = table.flags.writeable = False
        for field, value in (
            ("words", table),
            ("values", array),
            ("sources", names),
            ("total", float(total)),
        ):
            object.__setattr__(self, field, value)
        self._refuse_decrease()

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
        inside = np.zeros((len(values), len(names)), dtype=np.bool_)
        for row, key in enumerate(values):
            inside[row, list(source_numbers(names, subset_of(key)))] = True
        return cls(pack(inside), list(values.values()), names, total=total)

    @classmethod
    def from_measure(cls, measure: Measure, supported: npt.ArrayLike) -> SupportedMeasure:
        """Keep of a dense measure only the subsets marked in `supported` (2**N booleans by mask).

        Examples
        --------
        >>> SupportedMeasure.from_measure(Measure([0, 0.2, 0.3, 1]), [0, 1, 0, 1]).interval("x2")
        (0.0, 1.0)
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
        >>> g.values
        array([0.3, 0.3])
        """
        inside = np.clip(values, 0.0, total)
        lifted = _bounds_by_containment(words, inside, words, total)[0]
        return cls(words, lifted, sources, total=total)

    # -- values ------------------------------------------------------------------------------------

    @property
    def n_sources(self) -> int:
        """Number of sources N."""
        return len(self.sources)

    @property
    def n_supported(self) -> int:
        """Number of known subsets besides ∅ and X."""
        return len(self.values)

    @property
    def monotone(self) -> bool:
        """Always: values that decrease are refused."""
        return True

    @property
    def normal(self) -> bool:
        """Whether g(X) = 1."""
        return abs(self.total - 1) < 1e-12

    def __call__(self, *subset: Any) -> float:
        """Value of a subset, which must be known; see `interval` for the others."""
        low, high = self.interval(*subset)
        if low != high:
            raise MeasureError(
                f"g is known on this subset only to lie in [{low:g}, {high:g}]; call interval()"
            )
        return low

    def interval(self, *subset: Any) -> tuple[float, float]:
        """Smallest and largest value that a subset (names or numbers) can have.

        Examples
        --------
        >>> SupportedMeasure.from_dict({"a": 0.5}, ["a", "b"]).interval("b")
        (0.0, 1.0)
        """
        items = subset_of(subset[0]) if len(subset) == 1 else subset
        inside = np.zeros((1, self.n_sources), dtype=np.bool_)
        inside[0, list(source_numbers(self.sources, items))] = True
        lower, upper = self.bounds(pack(inside))
        return float(lower[0]), float(upper[0])

    def bounds(self, words: WordArray) -> tuple[FloatArray, FloatArray]:
        """Lower and upper bound of each subset given as words.

        Examples
        --------
        >>> g = SupportedMeasure.from_dict({"a": 0.5}, ["a", "b"])
        >>> g.bounds(np.array([[0], [1], [2], [3]], dtype=np.uint64))
        (array([0. , 0.5, 0. , 1. ]), array([0. , 0.5, 1. , 1. ]))
        """
        asked = np.ascontiguousarray(words, dtype=np.uint64)
        sizes = np.bitwise_count(asked).sum(axis=1)
        lower, upper = _bounds_by_containment(self.words, self.values, asked, self.total)
        lower[sizes == self.n_sources] = self.total
        upper[sizes == 0] = 0.0
        return lower, upper

    def walk_bounds(self, sorts: IntArray) -> tuple[FloatArray, FloatArray]:
        """Bounds of g(A_1), …, g(A_N) along the walk of each sort: two arrays of shape (n, N).

        Examples
        --------
        >>> g = SupportedMeasure.from_dict({"a": 0.5}, ["a", "b"])
        >>> g.walk_bounds(np.array([[0, 1], [1, 0]]))[1]
        array([[0.5, 1. ],
               [1. , 1. ]])
        """
        from choquet.measures import _kernels

        inside = membership(self.words, self.n_sources)
        sorts = np.ascontiguousarray(sorts, dtype=np.int64)
        lower, upper = np.zeros(sorts.shape), np.full(sorts.shape, self.total)

        def part(low: int, high: int) -> None:
            _kernels.walk_bounds(
                inside, self.values, sorts[low:high], self.total, lower[low:high], upper[low:high]
            )

        in_chunks(part, len(sorts), 4 * inside.size)
        return lower, upper

    def walk_values(self, sorts: IntArray) -> FloatArray:
        """Values along the walk of each sort; of unknown ones the middle of what is possible.

        Examples
        --------
        >>> g = SupportedMeasure.from_dict({"a": 0.5}, ["a", "b"])
        >>> g.walk_values(np.array([[0, 1], [1, 0]]))
        array([[0.5, 1. ],
               [0.5, 1. ]])
        """
        lower, upper = self.walk_bounds(sorts)
        return (lower + upper) / 2

    def unsupported_steps(self, sorts: IntArray) -> BoolArray:
        """Which of the sets A_1, …, A_{N-1} along each walk are unknown: (n, N - 1).

        Examples
        --------
        >>> g = SupportedMeasure.from_dict({"a": 0.5}, ["a", "b"])
        >>> g.unsupported_steps(np.array([[0, 1], [1, 0]]))
        array([[False],
               [ True]])
        """
        chains = chains_of(sorts)[:, :-1]
        known = self.is_supported(chains.reshape(-1, chains.shape[2]))
        return ~known.reshape(chains.shape[:2])

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

    def to_measure(self, *, fill: Literal["lower", "upper", "midpoint"] = "midpoint") -> Measure:
        """Dense measure, unknown subsets filled from their intervals.

        Examples
        --------
        >>> SupportedMeasure.from_dict({"a": 0.4}, ["a", "b"]).to_measure().values
        array([0. , 0.4, 0.5, 1. ])
        """
        check_option("fill", fill, ["lower", "upper", "midpoint"])
        masks = to_dense_masks(self.words, self.n_sources)
        known = np.full(1 << self.n_sources, np.nan)
        known[masks] = self.values
        known[0], known[-1] = 0.0, self.total
        unknown = np.isnan(known)
        lower = upward_maximum(np.where(unknown, 0.0, known))
        upper = downward_minimum(np.where(unknown, self.total, known))
        # Each filling is monotone, and so is their mean.
        filled = {"lower": lower, "upper": upper, "midpoint": (lower + upper) / 2}[fill]
        return Measure(filled, self.sources, normal=abs(self.total - 1) < 1e-12)

    # -- Python ------------------------------------------------------------------------------------

    def _refuse_decrease(self) -> None:
        from choquet.measures import _kernels

        row, other = _kernels.containment_witness(self.words, self.values)
        if row < 0:
            return
        masks = [_mask_of_words(self.words[k]) for k in (row, other)]
        names = [", ".join(self.sources[i] for i in members(mask)) for mask in masks]
        raise NotMonotoneError(
            f"not monotone: g({{{names[0]}}}) = {self.values[row]:g} > "
            f"g({{{names[1]}}}) = {self.values[other]:g}",
            *masks,
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, SupportedMeasure):
            return NotImplemented
        return (
            self.sources == other.sources
            and self.total == other.total
            and np.array_equal(self.words, other.words)
            and np.array_equal(self.values, other.values)
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        n = self.n_sources
        return (
            f"<SupportedMeasure on {n} sources: {self.n_supported:,} of 2**{n} - 2 subsets known>"
        )


def _mask_of_words(row: WordArray) -> int:
    return sum(int(word) << (64 * k) for k, word in enumerate(row))


def _tidy(
    table: WordArray, values: FloatArray, n_sources: int, total: float
) -> tuple[WordArray, FloatArray]:
    """Sort the subsets, check ∅ and X, and take both out of the table."""
    if not np.isfinite(total) or total < 0:
        raise MeasureError(f"g(X) must be finite and at least 0, not {total:g}")
    if n_sources % 64 and len(table) and (table[:, -1] >> np.uint64(n_sources % 64)).any():
        raise SourceError(f"a subset holds a source beyond the {n_sources} that are named")
    rows, inverse = unique_rows(table)
    if len(rows) != len(table):
        raise MeasureError("a subset is given more than once")
    ordered = np.empty(len(values))
    ordered[inverse] = values
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
