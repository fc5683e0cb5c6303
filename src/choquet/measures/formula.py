"""Measures by a formula: about N numbers give the value of any subset of any number of sources."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal, TypeAlias, final

import numpy as np
import numpy.typing as npt

from choquet.arrays import FloatArray, as_vector, check_option
from choquet.errors import MeasureError
from choquet.lattice.wide import WordArray, membership, pack
from choquet.measures.abstract import ComputedMeasure
from choquet.measures.mobius import MobiusMeasure
from choquet.measures.sources import check_sources

FormulaName: TypeAlias = Literal["additive", "symmetric"]


def members_of(words: WordArray, n_sources: int) -> FloatArray:
    """Membership of each subset as 0.0 and 1.0."""
    return membership(words, n_sources).astype(np.float64)


def ranks_of(words: WordArray, n_sources: int) -> FloatArray:
    """Row of |A| ones followed by zeros for each subset: which ranks it sums."""
    sizes = np.bitwise_count(words).sum(axis=1)
    return np.asarray(np.arange(n_sources) < sizes[:, None], dtype=np.float64)


PATTERNS: dict[str, Callable[[WordArray, int], FloatArray]] = {
    "additive": members_of,
    "symmetric": ranks_of,
}
"""Families of convex weights by the columns that a subset sums: its sources, or its ranks."""


def distort(t: FloatArray, curve: float) -> FloatArray:
    """The curve (e^(c t) - 1) / (e^c - 1) from 0 to 1: a straight line for c = 0.

    Examples
    --------
    >>> distort(np.array([0.0, 0.5, 1.0]), 0.0)
    array([0. , 0.5, 1. ])
    """
    if abs(curve) < 1e-6:
        return t + 0.5 * curve * t * (t - 1)
    return np.asarray(np.expm1(curve * t) / np.expm1(curve))


@final
@dataclass(frozen=True, eq=False, repr=False)
class FormulaMeasure(ComputedMeasure):
    """A normal monotone measure given by weights that sum to 1 and one further number.

    g(A) = (e^(c t) - 1) / (e^c - 1), where t is the sum of the weights that A has: those of its
    sources ("additive"), or the first ``|A|`` ones ("symmetric"). With c = 0 these are the weighted
    mean and the ordered weighted average; an additive one with another c is a Sugeno λ-measure,
    λ = e^c - 1.

    Parameters
    ----------
    pattern : {"additive", "symmetric"}
        What the weights belong to: sources, or ranks from the largest input on.
    weights : array-like of N floats
        At least 0, summing to 1.
    sources : sequence of str, optional
        Names.
    curve : float, default 0
        The number c.

    References
    ----------
    Sugeno (1974), "Theory of fuzzy integrals and its applications"; Wakker (1990), for distorted
    probabilities.

    Examples
    --------
    >>> g = FormulaMeasure("additive", [0.5, 0.3, 0.2], ["a", "b", "c"])
    >>> g("a", "c"), g.integral([[1.0, 0.0, 0.5]])
    (0.7, array([0.6]))
    """

    pattern: str
    weights: FloatArray
    sources: tuple[str, ...]
    curve: float

    def __init__(
        self,
        pattern: FormulaName,
        weights: npt.ArrayLike,
        sources: Iterable[str] | None = None,
        *,
        curve: float = 0.0,
    ) -> None:
        check_option("pattern", pattern, PATTERNS)
        array = as_vector(weights, "the weights of a measure")
        if not len(array) or (array < 0).any() or abs(array.sum() - 1) > 1e-9:
            raise MeasureError(
                f"weights must be at least 0 and sum to 1; the smallest is "
                f"{array.min(initial=np.inf):g}, the sum {array.sum():g}"
            )
        if not np.isfinite(curve):
            raise MeasureError(f"curve={curve} must be a finite number")
        array.flags.writeable = False
        vars(self).update(
            pattern=pattern, weights=array, sources=check_sources(sources, len(array)),
            curve=float(curve), monotone=True, normal=True, total=1.0,
        )  # fmt: skip

    @property
    def densities(self) -> FloatArray:
        """Values on the single sources.

        Examples
        --------
        >>> FormulaMeasure("symmetric", [0.7, 0.3]).densities
        array([0.7, 0.7])
        """
        return self._values_of(pack(np.eye(self.n_sources, dtype=np.bool_)))

    @property
    def parameter(self) -> float:
        """Sugeno's λ = e^c - 1."""
        return float(np.expm1(self.curve))

    def _values_of(self, words: WordArray) -> FloatArray:
        sums = PATTERNS[self.pattern](words, self.n_sources) @ self.weights
        sizes = np.bitwise_count(words).sum(axis=1)
        values = distort(np.minimum(sums, 1.0), self.curve)
        return np.asarray(np.where(sizes == self.n_sources, 1.0, values))

    def _renamed(self, sources: tuple[str, ...]) -> FormulaMeasure:
        return FormulaMeasure(self.pattern, self.weights, sources, curve=self.curve)  # type: ignore[arg-type]

    @property
    def as_mobius(self) -> MobiusMeasure | None:
        """The same measure by one coefficient for each source, where it is additive; or None."""
        if self.pattern != "additive" or self.curve:
            return None
        words = pack(np.eye(self.n_sources, dtype=np.bool_))
        return MobiusMeasure(words, self.weights, self.sources)

    def __repr__(self) -> str:
        bent = f", curve {self.curve:.4g}" if self.curve else ""
        return f"<FormulaMeasure on {self.n_sources} sources, {self.pattern}{bent}>"
