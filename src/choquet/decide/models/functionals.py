"""Numbers that are linear in a measure, each defined once: by what it is on unanimity games.

The unanimity game of T is 1 on the sets that hold T, and every measure is Σ m(T) u_T over its
Möbius coefficients. So a linear number f is known by c_T = f(u_T), and f(g) = Σ c_T m(T). From c_T
follow the coefficients in any other coordinates.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from choquet.arrays import BoolArray, FloatArray
from choquet.lattice import superset_mobius

Step: TypeAlias = tuple[tuple[int, ...], float]
"""A set, by the numbers of its members, and how much its value counts."""


def all_sets(n: int) -> BoolArray:
    """Membership of the 2**N subsets, by mask.

    Examples
    --------
    >>> all_sets(2).astype(int).tolist()
    [[0, 0], [1, 0], [0, 1], [1, 1]]
    """
    return np.asarray((np.arange(1 << n)[:, None] >> np.arange(n)) & 1 == 1)


class Functional(ABC):
    """A number that is linear in the measure."""

    def games(self, sets: BoolArray) -> FloatArray:
        """Its value on the unanimity game of each set, given as rows of membership."""
        return np.asarray(self._games(sets), dtype=np.float64)

    def values(self, n: int) -> FloatArray:
        """Its coefficients on the 2**N values of a measure, by mask."""
        return np.asarray(self._values(n), dtype=np.float64)

    def steps(self) -> list[Step] | None:
        """Sets and weights if it is a sum of values on a few sets; None if it needs them all."""
        return self._steps()

    @abstractmethod
    def _games(self, sets: BoolArray) -> Any: ...

    def _values(self, n: int) -> Any:
        found = superset_mobius(self.games(all_sets(n)))
        found[0] = 0.0  # as the empty set is worth nothing
        found[np.abs(found) < 1e-13 * max(1.0, float(np.abs(found).max()))] = 0.0
        return found

    def _steps(self) -> list[Step] | None:
        return None


@dataclass(frozen=True, eq=False)
class Integral(Functional):
    """The Choquet integral of one row; also of negative scores (asymmetric).

    With `members` it is the integral over these criteria alone: the score within a node of a tree,
    times the value of the node.

    Examples
    --------
    >>> import numpy as np
    >>> Integral(np.array([0.2, 0.5])).values(2).round(12)
    array([0. , 0. , 0.3, 0.2])
    """

    row: FloatArray
    members: tuple[int, ...] | None = None

    def _games(self, sets: BoolArray) -> Any:
        found = np.where(sets, self.row, np.inf).min(axis=1)
        counts = sets.any(axis=1)
        if self.members is not None:
            counts &= ~np.delete(sets, self.members, axis=1).any(axis=1)
        return np.where(counts, found, 0.0)

    def _steps(self) -> list[Step]:
        among = np.arange(len(self.row)) if self.members is None else np.array(self.members)
        order = among[np.argsort(-self.row[among], kind="stable")]
        falls = np.append(-np.diff(self.row[order]), self.row[order[-1]])
        return [
            (tuple(sorted(order[: k + 1].tolist())), float(fall))
            for k, fall in enumerate(falls)
            if fall != 0
        ]

    def _values(self, n: int) -> Any:
        found = np.zeros(1 << n)
        for members, weight in self._steps():
            found[sum(1 << i for i in members)] += weight
        return found


def sipos(row: FloatArray) -> Functional:
    """The Šipoš integral: of gains less that of losses.

    Examples
    --------
    >>> import numpy as np
    >>> sipos(np.array([0.2, -0.5])).values(2).round(12)
    array([ 0. ,  0.2, -0.5,  0. ])
    """
    return difference(Integral(np.maximum(row, 0.0)), Integral(np.maximum(-row, 0.0)))


@dataclass(frozen=True, eq=False)
class SetValue(Functional):
    """The value of one set, given by the numbers of its members."""

    members: tuple[int, ...]

    def _games(self, sets: BoolArray) -> Any:
        outside = np.delete(sets, self.members, axis=1).any(axis=1)
        return ~outside & sets.any(axis=1)

    def _steps(self) -> list[Step]:
        return [(tuple(sorted(self.members)), 1.0)] if self.members else []


@dataclass(frozen=True, eq=False)
class Mass(Functional):
    """One Möbius coefficient."""

    members: tuple[int, ...]

    def _games(self, sets: BoolArray) -> Any:
        inside = np.isin(np.arange(sets.shape[1]), self.members)
        return (sets == inside).all(axis=1)


@dataclass(frozen=True, eq=False)
class Orness(Functional):
    """How much good scores make up for poor ones: 1 for the best score, 0 for the worst."""

    def _games(self, sets: BoolArray) -> Any:
        n, size = sets.shape[1], sets.sum(axis=1)
        return np.where(size > 0, (n - size) / (max(n - 1, 1) * (size + 1.0)), 0.0)


@dataclass(frozen=True, eq=False)
class Veto(Functional):
    """The veto degree of a criterion (Marichal 2004)."""

    criterion: int

    def _games(self, sets: BoolArray) -> Any:
        n, size = sets.shape[1], sets.sum(axis=1)
        found = np.where(sets[:, self.criterion], 1.0, 1 - n / (max(n - 1, 1) * (size + 1.0)))
        return np.where(size > 0, found, 0.0)


@dataclass(frozen=True, eq=False)
class Favour(Functional):
    """The favour degree of a criterion (Marichal 2004)."""

    criterion: int

    def _games(self, sets: BoolArray) -> Any:
        n, size = sets.shape[1], sets.sum(axis=1)
        found = (n / (size + 1.0 - sets[:, self.criterion]) - 1) / max(n - 1, 1)
        return np.where(size > 0, found, 0.0)


@dataclass(frozen=True, eq=False)
class GainWithout(Functional):
    """What one criterion adds to sets that lack another, summed over all such sets.

    No term is negative, so that 0 says that the first counts only together with the second.
    """

    criterion: int
    context: int

    def _games(self, sets: BoolArray) -> Any:
        free = sets.shape[1] - sets.sum(axis=1) - 1.0
        counts = sets[:, self.criterion] & ~sets[:, self.context]
        return np.where(counts, 2.0**free / 2.0 ** (sets.shape[1] - 2), 0.0)


@dataclass(frozen=True, eq=False)
class _Quotient(Functional):
    """Shapley value of one part, or interaction index of two, in the game in which parts join.

    The parts of a node of a tree join as wholes; without parts, each criterion joins by itself.
    Sets that reach beyond the node do not count, so that within a node it is the index times the
    value of the node.
    """

    chosen: tuple[int, ...]
    parts: tuple[tuple[int, ...], ...] | None = None

    def _games(self, sets: BoolArray) -> Any:
        n = sets.shape[1]
        parts = tuple((i,) for i in range(n)) if self.parts is None else self.parts
        outside = np.delete(sets, [i for part in parts for i in part], axis=1).any(axis=1)
        met = np.stack([sets[:, list(part)].any(axis=1) for part in parts])
        counts = ~outside & met[list(self.chosen)].all(axis=0)
        return np.where(counts, 1 / np.maximum(met.sum(axis=0) - len(self.chosen) + 1, 1), 0.0)


def Importance(criterion: int) -> Functional:
    """The Shapley value of a criterion.

    Examples
    --------
    >>> Importance(0).values(2).tolist()
    [0.0, 0.5, -0.5, 0.5]
    """
    return _Quotient((criterion,))


def InteractionIndex(first: int, second: int) -> Functional:
    """The interaction index of two criteria."""
    return _Quotient((first, second))


def NodeImportance(parts: Sequence[Sequence[int]], node: int) -> Functional:
    """Importance of a part within its parent, times the value of the parent."""
    return _Quotient((node,), tuple(map(tuple, parts)))


def NodeInteraction(parts: Sequence[Sequence[int]], first: int, second: int) -> Functional:
    """Interaction of two parts within their parent, times the value of the parent."""
    return _Quotient((first, second), tuple(map(tuple, parts)))


@dataclass(frozen=True, eq=False)
class Sum(Functional):
    """A weighted sum."""

    terms: tuple[tuple[float, Functional], ...]

    def _games(self, sets: BoolArray) -> Any:
        return np.sum([weight * one.games(sets) for weight, one in self.terms], axis=0)

    def _values(self, n: int) -> Any:
        return np.sum([weight * one.values(n) for weight, one in self.terms], axis=0)

    def _steps(self) -> list[Step] | None:
        found: list[Step] = []
        for weight, one in self.terms:
            parts = one.steps()
            if parts is None:
                return None
            found += [(members, weight * value) for members, value in parts]
        return found


def difference(first: Functional, second: Functional) -> Functional:
    """The first less the second.

    Examples
    --------
    >>> difference(Importance(0), Importance(1)).values(2).tolist()
    [0.0, 1.0, -1.0, 0.0]
    """
    return Sum(((1.0, first), (-1.0, second)))
