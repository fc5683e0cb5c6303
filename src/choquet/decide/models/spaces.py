"""Where measures are looked for: coordinates, the rows that make them measures, and the way back.

All measures have 2**N values. Measures with interaction between pairs only are the weighted means
of single criteria, smaller ones of two and larger ones of two: N² weights and no further rows. If
all that is asked is about alternatives, the sets on their chains are enough, for any N, because a
monotone function on some sets extends to all.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import cached_property
from itertools import combinations
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from choquet.arrays import BoolArray, FloatArray
from choquet.decide.models.functionals import Functional, all_sets
from choquet.errors import OptionError, TooLargeError
from choquet.lattice import cover_pairs, upward_maximum, zeta
from choquet.lattice.wide import pack
from choquet.measures import AbstractMeasure, Measure, MobiusMeasure, SupportedMeasure

MAX_GENERAL = 12
"""Criteria up to which all 2**N values are unknowns."""


class Space(ABC):
    """Coordinates v of measures: lower ≤ v ≤ upper, order @ v ≥ margin, equal @ v = one.

    Attributes
    ----------
    by_values : bool
        Whether the coordinates are the values of the sets, not coefficients.
    n : int
        Criteria.
    sets : array of booleans
        Membership of the sets that the coordinates are about.
    lower, upper : arrays
        Bounds of the coordinates.
    order, margin : sparse matrix and array
        Rows that say that the measure does not decrease.
    equal, one : sparse matrix and array
        Rows that say that it ends at 1.
    """

    by_values: ClassVar[bool] = False
    n: int
    sets: BoolArray
    lower: FloatArray
    upper: FloatArray
    order: Any
    margin: FloatArray
    equal: Any
    one: FloatArray

    @property
    def size(self) -> int:
        """Number of coordinates."""
        return len(self.lower)

    def row(self, functional: Functional) -> FloatArray:
        """Coefficients of a linear number on the coordinates."""
        return self._row(functional)

    def measure(self, v: FloatArray, sources: Sequence[str]) -> AbstractMeasure:
        """The measure at a point, cleaned of what solvers leave."""
        return self._measure(v, sources)

    def _row(self, functional: Functional) -> FloatArray:
        return functional.games(self.sets)  # of Möbius coefficients

    @abstractmethod
    def _measure(self, v: FloatArray, sources: Sequence[str]) -> AbstractMeasure: ...

    @cached_property
    def to_values(self) -> Any:
        """Matrix from coordinates that are Möbius coefficients to the 2**N values."""
        outside = (~all_sets(self.n)).astype(np.float64) @ self.sets.T.astype(np.float64)
        return sp.csr_array((outside == 0).astype(np.float64))

    def matrix(self, functionals: Sequence[Functional]) -> FloatArray:
        """Coefficients of several, one a row."""
        rows = [self.row(one) for one in functionals]
        return np.array(rows).reshape(len(rows), self.size)

    def _set_rows(self, order: Any = None, margin: float = 0.0, *, sums_to_one: bool) -> None:
        """Rows beside the bounds: those of an order, and that all coordinates sum to 1."""
        self.order = sp.csr_array((0, self.size)) if order is None else order
        self.margin = np.full(self.order.shape[0], margin)
        self.equal = sp.csr_array(np.ones((int(sums_to_one), self.size)))
        self.one = np.ones(int(sums_to_one))


def _membership(members: Sequence[Sequence[int]], n: int) -> BoolArray:
    found = np.zeros((len(members), n), dtype=bool)
    for row, one in zip(found, members, strict=True):
        row[list(one)] = True
    return found


def order_rows(pairs: Any, size: int) -> Any:
    """Rows that say that the second coordinate of each pair is not below the first."""
    count = np.arange(len(pairs))
    data = np.concatenate([np.full(len(pairs), -1.0), np.ones(len(pairs))])
    return sp.csr_array((data, (np.tile(count, 2), pairs.T.ravel())), shape=(len(pairs), size))


def dense_measure(values: FloatArray, sources: Sequence[str]) -> Measure:
    """The measure of 2**N values, cleaned of what solvers leave."""
    clean = np.clip(values, 0.0, 1.0)
    clean[0], clean[-1] = 0.0, 1.0
    return Measure(upward_maximum(clean), sources)


class AllSets(Space):
    """All measures, by their values.

    Examples
    --------
    >>> AllSets(3).size, AllSets(3).order.shape
    (8, (12, 8))
    """

    by_values = True

    def __init__(self, n: int, margin: float = 0.0) -> None:
        if n > MAX_GENERAL:
            raise TooLargeError(
                f"{n} criteria have 2**{n} sets; measures without limits are looked for among up "
                f"to {MAX_GENERAL} criteria: use models=('weights', 'pairs')"
            )
        self.n, self.sets = n, all_sets(n)
        self.to_values = sp.eye_array(1 << n, format="csr")
        self.lower, self.upper = np.zeros(1 << n), np.ones(1 << n)
        self.upper[0], self.lower[-1] = 0.0, 1.0
        self._set_rows(order_rows(cover_pairs(n), 1 << n), margin, sums_to_one=False)

    def _row(self, functional: Functional) -> FloatArray:
        return functional.values(self.n)

    def _measure(self, v: FloatArray, sources: Sequence[str]) -> Measure:
        return dense_measure(v, sources)


class KAdditive(Space):
    """Measures whose Möbius coefficients vanish beyond k criteria, by these coefficients."""

    def __init__(self, n: int, k: int, margin: float = 0.0) -> None:
        if n > MAX_GENERAL:
            raise TooLargeError(f"{n} criteria are too many for k = {k}: use k = 1 or 2")
        self.n, self.k = n, k
        members = [c for size in range(1, k + 1) for c in combinations(range(n), size)]
        self.sets = _membership(members, n)
        self.lower, self.upper = (np.full(len(members), end) for end in (-np.inf, np.inf))
        rises = order_rows(cover_pairs(n), 1 << n)
        self._set_rows(sp.csr_array(rises @ self.to_values), margin, sums_to_one=True)

    def _measure(self, v: FloatArray, sources: Sequence[str]) -> Measure:
        return dense_measure(self.to_values @ v, sources)


class Weights(Space):
    """Plain weights, which sum to 1."""

    def __init__(self, n: int) -> None:
        self.n, self.sets = n, np.eye(n, dtype=bool)
        self.lower, self.upper = np.zeros(n), np.ones(n)
        self._set_rows(sums_to_one=True)

    def _measure(self, v: FloatArray, sources: Sequence[str]) -> AbstractMeasure:
        weights = np.maximum(v, 0.0)
        return mobius_measure(self.sets, weights / weights.sum(), sources)


class Pairs(Space):
    """Weighted means of criteria, of smaller ones of two and of larger ones of two: N² weights.

    They give exactly the measures whose criteria interact in pairs only (2-additive). A measure
    has many such weights; `mobius_matrix` leads to its coefficients, which are unique.

    References
    ----------
    Miranda, Combarro, Gil (2006). Extreme points of some families of non-additive measures.
    European Journal of Operational Research 174, 1865-1884.

    Examples
    --------
    >>> Pairs(3).size, Pairs(3).order.shape[0]
    (9, 0)
    """

    def __init__(self, n: int) -> None:
        self.n = n
        self.pairs = np.array(list(combinations(range(n), 2)), dtype=np.int64).reshape(-1, 2)
        size = n + 2 * len(self.pairs)
        self.lower, self.upper = np.zeros(size), np.ones(size)
        self._set_rows(sums_to_one=True)
        self.sets = _membership([*((i,) for i in range(n)), *self.pairs], n)

    @cached_property
    def to_values(self) -> Any:
        """Matrix from weights to the 2**N values."""
        return sp.csr_array(super().to_values @ self.mobius_matrix)

    @cached_property
    def mobius_matrix(self) -> Any:
        """Matrix from weights to Möbius coefficients of single criteria and pairs."""
        n, p = self.n, len(self.pairs)
        singles = sp.vstack([sp.eye_array(n), sp.csr_array((p, n))])
        smaller = sp.vstack([sp.csr_array((n, p)), sp.eye_array(p)])
        ends = self.sets[n:].T.astype(np.float64)
        larger = sp.vstack([sp.csr_array(ends), -sp.eye_array(p)])
        return sp.csr_array(sp.hstack([singles, smaller, larger]))

    def _row(self, functional: Functional) -> FloatArray:
        return np.asarray(functional.games(self.sets) @ self.mobius_matrix)

    def _measure(self, v: FloatArray, sources: Sequence[str]) -> AbstractMeasure:
        weights = np.maximum(v, 0.0)
        coefficients = self.mobius_matrix @ (weights / weights.sum())
        return mobius_measure(self.sets, coefficients, sources)


def mobius_measure(
    sets: BoolArray, coefficients: FloatArray, sources: Sequence[str]
) -> AbstractMeasure:
    """The measure of some Möbius coefficients; dense where all values are few."""
    if len(sources) > MAX_GENERAL:
        return MobiusMeasure(pack(sets), coefficients, sources)
    dense = np.zeros(1 << len(sources))
    dense[sets @ (1 << np.arange(len(sources)))] = coefficients
    return dense_measure(zeta(dense), sources)


class OnChains(Space):
    """Values on the sets that some rows need, ordered by inclusion: exact for any N.

    The functionals are all that is asked, now or later: sums of values on a few sets.
    """

    def __init__(self, n: int, functionals: Sequence[Functional]) -> None:
        found = {tuple(range(n))}
        for one in functionals:
            steps = one.steps()
            if steps is None:
                raise OptionError("importance and interaction need every set, not only some")
            found.update(members for members, _ in steps)
        self.n = n
        ordered = sorted(found, key=lambda members: (len(members), members))
        self.place = {members: k for k, members in enumerate(ordered)}
        self.sets = _membership(ordered, n)
        self.lower, self.upper = np.zeros(len(found)), np.ones(len(found))
        self.lower[-1] = 1.0
        self._set_rows(order_rows(_covers(self.sets), len(found)), sums_to_one=False)

    def _row(self, functional: Functional) -> FloatArray:
        found = np.zeros(self.size)
        for members, weight in functional.steps() or ():
            found[self.place[members]] += weight
        return found

    def _measure(self, v: FloatArray, sources: Sequence[str]) -> AbstractMeasure:
        values = np.clip(v, 0.0, 1.0)
        for row in range(len(values)):  # smaller sets come first
            below = ~(self.sets[:row] & ~self.sets[row]).any(axis=1)
            values[row] = max(values[row], values[:row][below].max(initial=0.0))
        found = SupportedMeasure(pack(self.sets[:-1]), values[:-1], sources)
        return found.to_measure(fill="midpoint") if self.n <= MAX_GENERAL else found


def _covers(sets: BoolArray) -> Any:
    """Pairs of rows of which the second holds the first and no other row lies between."""
    inside = sets.astype(np.float64)
    sizes = inside.sum(axis=1)
    within = inside @ inside.T == sizes[:, None]
    np.fill_diagonal(within, False)
    between = sp.csr_array(within.astype(np.int32))
    two_steps = (between @ between).toarray() > 0
    return np.argwhere(within & ~two_steps)


def space(n: int, k: int | None = None, *, margin: float = 0.0) -> Space:
    """Measures on N criteria that interact in groups of up to k; without k, all of them.

    Parameters
    ----------
    n : int
        Criteria.
    k : int, optional
        1 for weights, 2 for pairs.
    margin : float, default 0
        By how much a value must rise when a criterion joins.

    Examples
    --------
    >>> [type(space(4, k)).__name__ for k in (1, 2, 3, None)]
    ['Weights', 'Pairs', 'KAdditive', 'AllSets']
    """
    if k is None or k >= n:
        return AllSets(n, margin) if n > 1 else Weights(n)
    if k < 1:
        raise OptionError(f"k={k!r} must be 1 or more")
    if margin == 0 and k <= 2:
        return Weights(n) if k == 1 else Pairs(n)
    return KAdditive(n, k, margin)
