"""A measure by its Möbius coefficients: k-additive measures on any number of sources.

g(A) = Σ over T ⊆ A of m(T), so a measure whose coefficients vanish beyond k sources has about N^k
numbers in place of 2**N, and its integral is Σ m(T) · (smallest input in T).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any, final

import numpy as np
import numpy.typing as npt

from choquet.arrays import FloatArray, IntArray
from choquet.errors import DataError, MeasureError, NotMonotoneError
from choquet.lattice import zeta
from choquet.lattice.wide import WordArray, membership, pack, to_dense_masks
from choquet.measures.abstract import (
    IntegralName,
    KnownMeasure,
    as_names,
    as_table,
    frozen,
    words_of_subsets,
)
from choquet.measures.measure import Measure

_BLOCK = 4_000_000
"""Coefficients by rows that are worked on at a time."""

_TOLERANCE = 1e-9
"""Decreases up to this are rounding."""


@final
@dataclass(frozen=True, eq=False, repr=False)
class MobiusMeasure(KnownMeasure):
    """A measure given by Möbius coefficients of some subsets, for any number of sources.

    Parameters
    ----------
    words : array of uint64 of shape (K, W)
        The subsets with a coefficient, as bit masks of W = ⌈N / 64⌉ words.
    coefficients : array-like of K floats
        m(T) of each; those of all other subsets are 0.
    sources : sequence of str
        Names.
    monotone, normal : bool, default True
        Require that g does not decrease, and that g(X) = 1. Up to two sources in a subset, every
        decrease is found. With more, a decrease may be missed: see `proved_monotone`.

    References
    ----------
    Grabisch (1997). k-order additive discrete fuzzy measures and their representation. Fuzzy Sets
    and Systems 92, 167-189.

    Examples
    --------
    >>> g = MobiusMeasure.from_dict({"a": 0.5, "b": 0.3, ("a", "c"): 0.2}, ["a", "b", "c"])
    >>> round(g("a", "c"), 12), g.order, g.integral([[0.4, 1.0, 0.2]]).round(12)
    (0.7, 2, array([0.54]))
    """

    words: WordArray
    coefficients: FloatArray
    sources: tuple[str, ...]
    monotone: bool
    normal: bool

    def __init__(
        self,
        words: npt.ArrayLike,
        coefficients: npt.ArrayLike,
        sources: Iterable[str],
        *,
        monotone: bool = True,
        normal: bool = True,
    ) -> None:
        names = as_names(sources)
        what = "the coefficients of a measure"
        rows, ordered = as_table(words, coefficients, what, len(names))
        if len(rows) and not rows[0].any():
            raise MeasureError("the empty set has no Möbius coefficient: g(∅) is 0")
        rows.flags.writeable = ordered.flags.writeable = False
        vars(self).update(
            words=rows, coefficients=ordered, sources=names, monotone=bool(monotone),
            normal=bool(normal), total=float(ordered.sum()),
        )  # fmt: skip
        if normal and abs(self.total - 1) > _TOLERANCE:
            raise MeasureError(
                f"the coefficients sum to g(X) = {self.total:g}, not 1; pass normal=False"
            )
        if monotone:
            self._refuse_decrease()

    @classmethod
    def from_dict(
        cls,
        coefficients: Mapping[Any, float],
        sources: Iterable[str],
        *,
        monotone: bool = True,
        normal: bool = True,
    ) -> MobiusMeasure:
        """Measure from coefficients by subset (names or numbers).

        Examples
        --------
        >>> MobiusMeasure.from_dict({"a": 0.5, ("a", "b"): 0.5}, ["a", "b"]).to_measure().values
        array([0. , 0.5, 0. , 1. ])
        """
        names = tuple(sources)
        words, values = words_of_subsets(names, coefficients), list(coefficients.values())
        return cls(words, values, names, monotone=monotone, normal=normal)

    # -- size --------------------------------------------------------------------------------------

    @cached_property
    def sizes(self) -> IntArray:
        """Number of sources in each subset with a coefficient."""
        return frozen(np.asarray(np.bitwise_count(self.words).sum(axis=1), dtype=np.int64))

    @property
    def order(self) -> int:
        """Size k of the largest subset with a coefficient: the measure is k-additive."""
        return int(self.sizes.max(initial=0))

    @cached_property
    def members(self) -> IntArray:
        """Sources of each subset (K, k); shorter ones repeat their first."""
        inside = membership(self.words, self.n_sources)
        order = np.argsort(~inside, axis=1, kind="stable")[:, : max(self.order, 1)]
        held = np.take_along_axis(inside, order, axis=1)
        return frozen(np.where(held, order, order[:, :1]))

    # -- values ------------------------------------------------------------------------------------

    def _values_of(self, words: WordArray) -> FloatArray:
        return self._integral(membership(words, self.n_sources).astype(np.float64), "choquet")

    def _integral(self, inputs: FloatArray, kind: IntegralName) -> FloatArray:
        if kind != "choquet":
            return self._combined(inputs, kind)
        result = np.empty(len(inputs))
        for rows in self._blocks(len(inputs)):
            result[rows] = inputs[rows][:, self.members].min(axis=2) @ self.coefficients
        return result

    def _walk_weights(self, sorts: IntArray) -> FloatArray:
        n = self.n_sources
        ranks = np.argsort(sorts, axis=1)
        result = np.empty(sorts.shape)
        for rows in self._blocks(len(sorts)):
            # A subset is complete, and its coefficient counts, at the rank of its last member.
            last = ranks[rows][:, self.members].max(axis=2)
            count = len(last)
            flat = (last + n * np.arange(count)[:, None]).ravel()
            weights = np.broadcast_to(self.coefficients, last.shape).ravel()
            result[rows] = np.bincount(flat, weights, minlength=n * count).reshape(count, n)
        return result

    def _walk_values(self, sorts: IntArray) -> FloatArray:
        return np.cumsum(self._walk_weights(sorts), axis=1)

    def _renamed(self, sources: tuple[str, ...]) -> MobiusMeasure:
        return MobiusMeasure(
            self.words, self.coefficients, sources, monotone=self.monotone, normal=self.normal
        )

    @property
    def as_mobius(self) -> MobiusMeasure:
        """The measure itself."""
        return self

    def _to_dense(self) -> Measure:
        masks = to_dense_masks(self.words, self.n_sources)
        dense = np.zeros(1 << self.n_sources)
        dense[masks] = self.coefficients
        return Measure(zeta(dense), self.sources, monotone=self.monotone, normal=self.normal)

    def _blocks(self, n: int) -> Iterable[slice]:
        step = max(1, _BLOCK // max(self.members.size, 1))
        return (slice(k, min(k + step, n)) for k in range(0, n, step))

    # -- monotone ----------------------------------------------------------------------------------

    @property
    def least_gains(self) -> FloatArray:
        """What each source adds at least, whichever others are there already.

        m({i}) plus all negative coefficients with i: exact up to two sources in a subset, a lower
        bound beyond, where the coefficients of a larger subset come only with its parts'.

        Examples
        --------
        >>> coefficients = {"a": 0.5, "b": 0.7, ("a", "b"): -0.2}
        >>> MobiusMeasure.from_dict(coefficients, ["a", "b"]).least_gains.round(12)
        array([0.3, 0.5])
        """
        inside = membership(self.words, self.n_sources)
        counted = np.where((self.sizes == 1) | (self.coefficients < 0), self.coefficients, 0.0)
        return np.asarray(counted @ inside)

    @property
    def proved_monotone(self) -> bool:
        """Whether no source can take anything away: certain if True, and exact up to k = 2."""
        return bool(self.least_gains.min() >= -_TOLERANCE)

    def _refuse_decrease(self) -> None:
        for source in np.flatnonzero(self.least_gains < -_TOLERANCE):
            others, gain = self._worst_company(int(source))
            if gain < -_TOLERANCE:
                names = ", ".join(self.sources[i] for i in others)
                mask = sum(1 << int(i) for i in others)
                raise NotMonotoneError(
                    f"not monotone: {self.sources[source]} adds {gain:.3g} to {{{names}}}; pass "
                    "monotone=False for a measure that may decrease",
                    mask,
                    mask | 1 << int(source),
                )

    def _worst_company(self, source: int) -> tuple[IntArray, float]:
        """Others to which a source adds least; exact for k ≤ 2, else a descent that may miss it."""
        with_source = membership(self.words, self.n_sources)
        held = np.flatnonzero(with_source[:, source])
        rest = with_source[held]
        rest[:, source] = False
        values = self.coefficients[held]
        negative = values < 0
        company = rest[negative & (self.sizes[held] == 2)].any(axis=0)

        def gain(inside: npt.NDArray[np.bool_]) -> float:
            return float(values[~(rest & ~inside).any(axis=1)].sum())

        best = gain(company)
        improved = self.order > 2
        while improved:
            improved = False
            for i in np.flatnonzero(rest.any(axis=0)):
                company[i] ^= True
                trial = gain(company)
                if trial < best - 1e-15:
                    best, improved = trial, True
                else:
                    company[i] ^= True
        return np.flatnonzero(company), best

    # -- Python ------------------------------------------------------------------------------------

    def __repr__(self) -> str:
        return (
            f"<MobiusMeasure on {self.n_sources} sources, {self.order}-additive: "
            f"{len(self.coefficients):,} coefficients>"
        )


def coalitions(n_sources: int, order: int) -> WordArray:
    """All subsets of 1 to `order` sources as words, the small ones first.

    Examples
    --------
    >>> coalitions(3, 2)[:, 0].tolist()
    [1, 2, 4, 3, 5, 6]
    """
    if not 1 <= order <= n_sources:
        raise DataError(f"k={order} is out of range for {n_sources} sources: choose 1 to N")
    subsets = [T for size in range(1, order + 1) for T in combinations(range(n_sources), size)]
    inside = np.zeros((len(subsets), n_sources), dtype=np.bool_)
    for row, subset in enumerate(subsets):
        inside[row, list(subset)] = True
    return pack(inside)
