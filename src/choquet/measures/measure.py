"""The dense fuzzy measure: 2**N values by bit mask, validated once, frozen."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, final

import numpy as np
import numpy.typing as npt

from choquet.arrays import FloatArray, IntArray, as_vector, check_option, generator
from choquet.errors import MeasureError, NotMonotoneError, SourceError
from choquet.lattice import check_dense, mask_of, mobius, monotonicity_witness, n_sources_of
from choquet.lattice.rows import integrals_of_rows, weights_of_walks
from choquet.lattice.wide import WordArray
from choquet.measures import families
from choquet.measures.abstract import INTEGRALS, IntegralName, KnownMeasure
from choquet.measures.orders import OrderName, by_mask, other_order
from choquet.measures.properties import Properties
from choquet.measures.random import RANDOM_MEASURES, RandomName
from choquet.measures.sources import check_sources, format_subset, source_numbers, subset_of

if TYPE_CHECKING:
    from choquet.indices import Summary

_ROUNDING = 1e-12
"""How far from 1 a computed g(X) may be before it is set to exactly 1."""


@final
@dataclass(frozen=True, eq=False, repr=False)
class Measure(Properties, KnownMeasure):
    """A fuzzy measure (capacity) on N sources.

    Parameters
    ----------
    values : array-like of 2**N floats
        The value of every subset, indexed by bit mask: bit i of the index says whether source i
        belongs to the subset. ``values[0]`` is g(∅) and must be 0.
    sources : sequence of str, optional
        Names; x1, x2, … by default.
    monotone : bool, default True
        Require that no subset has a larger value than a superset of it.
    normal : bool, default True
        Require that all sources together have the value 1.

    Raises
    ------
    NotMonotoneError
        If a value decreases, naming the pair of subsets.
    MeasureError, SourceError, DataError, TooLargeError
        If the values cannot be a measure for another reason.

    References
    ----------
    Sugeno, M. (1974). Theory of fuzzy integrals and its applications. PhD thesis, Tokyo.

    Examples
    --------
    The measure of the demining example: radar alone is not believed, infrared and induction are.

    >>> g = Measure([0, 0, 1, 1, 1, 1, 1, 1], sources=["gpr", "ir", "emi"])
    >>> g("gpr"), g("gpr", "ir"), g({1, 2})
    (0.0, 1.0, 1.0)
    >>> Measure([0, 0.3, 0.9, 0.7], sources=["emi", "ir"], normal=False)
    Traceback (most recent call last):
    ...
    choquet.errors.NotMonotoneError: not monotone: g({ir}) = 0.9 > g({emi, ir}) = 0.7; ...
    """

    values: FloatArray
    sources: tuple[str, ...]
    monotone: bool
    normal: bool

    is_dense = True
    _refuses_nonfinite = True

    def __init__(
        self,
        values: npt.ArrayLike,
        sources: Iterable[str] | None = None,
        *,
        monotone: bool = True,
        normal: bool = True,
    ) -> None:
        array = as_vector(values, "the values of a measure")
        names = check_sources(sources, n_sources_of(array))
        if array[0] != 0:
            raise MeasureError(f"g(∅) must be 0, not {array[0]:g}")
        if normal:
            if abs(array[-1] - 1) > _ROUNDING:
                raise MeasureError(
                    f"g(X) must be 1, not {array[-1]:g}; divide by it, or pass normal=False"
                )
            array[-1] = 1.0
        if monotone:
            _refuse_decrease(array, names)
        array.flags.writeable = False
        # The way around the freeze that dataclasses themselves take.
        vars(self).update(
            values=array, sources=names, monotone=monotone, normal=normal, total=float(array[-1])
        )

    # -- constructors ------------------------------------------------------------------------------

    @classmethod
    def from_dict(
        cls,
        values: Mapping[Any, float],
        sources: Iterable[str] | None = None,
        *,
        fill: Literal["lower", "upper"] | None = None,
        monotone: bool = True,
        normal: bool = True,
    ) -> Measure:
        """Measure from values by subset.

        Parameters
        ----------
        values : mapping
            Keys are tuples or frozensets of names or numbers, or single names; g(∅) may be absent.
        sources : sequence of str, optional
            Names in order; by default the order in which they first appear in the keys.
        fill : {"lower", "upper"}, optional
            How to fill subsets that are not given: with the smallest or the largest value that
            monotonicity allows. By default every subset must be given.
        monotone, normal : bool
            As for `Measure`.

        Examples
        --------
        >>> g = Measure.from_dict({"ir": 0.4, "emi": 0.3, ("ir", "emi"): 1.0})
        >>> g.values
        array([0. , 0.4, 0.3, 1. ])
        """
        subsets = [subset_of(key) for key in values]
        if sources is None:
            sources = list(dict.fromkeys(str(item) for subset in subsets for item in subset))
            subsets = [tuple(str(item) for item in subset) for subset in subsets]
        names = tuple(sources)
        dense = families.by_subset(zip(subsets, values.values(), strict=True), names)
        if np.isnan(dense).any():
            dense = families.fill_missing(dense, names, fill, normal=normal)
        return cls(dense, names, monotone=monotone, normal=normal)

    @classmethod
    def from_values(
        cls,
        values: npt.ArrayLike,
        order: OrderName = "binary",
        sources: Iterable[str] | None = None,
        *,
        monotone: bool = True,
        normal: bool = True,
    ) -> Measure:
        """Measure from a list of values in one of the two orders that other programs write.

        Parameters
        ----------
        values : array-like of 2**N floats, or of 2**N - 1 without the empty set
            The values, in the order of the subsets that `order` names.
        order : {"binary", "size"}, default "binary"
            "binary": by bit mask, ∅, {1}, {2}, {1, 2}, {3}, …, as pyfmtools and kappalab's binary
            order have it. "size": by size, then lexicographic, ∅, {1}, {2}, {3}, {1, 2}, …, as
            kappalab's natural order and the programs of the paper's authors have it.
        sources : sequence of str, optional
            Names.
        monotone, normal : bool
            As for `Measure`.

        Raises
        ------
        MeasureError
            For another number of values, or values that are no measure in this order; the error
            says so if they are monotone in the other one.

        Examples
        --------
        >>> Measure.from_values([0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 1], order="size").values
        array([0. , 0.1, 0.2, 0.4, 0.3, 0.5, 0.6, 1. ])
        """
        dense = by_mask(as_vector(values, "the values of a measure"), order)
        try:
            return cls(dense, sources, monotone=monotone, normal=normal)
        except NotMonotoneError as error:
            message = f"{error}{other_order(values, order)}"
            raise NotMonotoneError(message, error.smaller, error.larger) from None

    @classmethod
    def additive(cls, weights: npt.ArrayLike, sources: Iterable[str] | None = None) -> Measure:
        """Additive measure (probability): its integral is the weighted mean.

        Examples
        --------
        >>> Measure.additive([0.2, 0.8]).values
        array([0. , 0.2, 0.8, 1. ])
        """
        return cls(families.additive(weights), sources)

    @classmethod
    def symmetric(cls, weights: npt.ArrayLike, sources: Iterable[str] | None = None) -> Measure:
        """Symmetric measure from order-statistic weights, largest input first: an OWA operator.

        Examples
        --------
        >>> Measure.symmetric([0, 1, 0])("x1", "x2")  # the median of three
        1.0
        """
        return cls(families.symmetric(weights), sources)

    @classmethod
    def sugeno_lambda(
        cls, densities: npt.ArrayLike, sources: Iterable[str] | None = None
    ) -> Measure:
        """Sugeno λ-measure from the values of the single sources.

        Examples
        --------
        >>> g = Measure.sugeno_lambda([0.2, 0.3, 0.1])
        >>> round(g("x1", "x2"), 6)
        0.686546
        """
        return cls(families.sugeno_lambda(densities), sources)

    @classmethod
    def possibility(cls, densities: npt.ArrayLike, sources: Iterable[str] | None = None) -> Measure:
        """Possibility measure: the largest density in the subset; the largest of all must be 1.

        Examples
        --------
        >>> Measure.possibility([0.2, 1.0]).values
        array([0. , 0.2, 1. , 1. ])
        """
        return cls(families.possibility(densities), sources)

    @classmethod
    def necessity(cls, densities: npt.ArrayLike, sources: Iterable[str] | None = None) -> Measure:
        """Necessity measure: the dual of the possibility with these densities.

        Examples
        --------
        >>> Measure.necessity([0.2, 1.0]).values
        array([0. , 0. , 0.8, 1. ])
        """
        return cls.possibility(densities, sources).dual()

    @classmethod
    def from_mobius(
        cls,
        masses: npt.ArrayLike,
        sources: Iterable[str] | None = None,
        *,
        monotone: bool = True,
        normal: bool = True,
    ) -> Measure:
        """Measure from its Möbius transform; zero beyond size k makes it k-additive.

        Examples
        --------
        >>> Measure.from_mobius([0, 0.2, 0.3, 0.5]).values
        array([0. , 0.2, 0.3, 1. ])
        """
        return cls(families.from_mobius(masses), sources, monotone=monotone, normal=normal)

    @classmethod
    def belief(cls, masses: Mapping[Any, float], sources: Sequence[str]) -> Measure:
        """Belief function from non-negative masses by subset (Shafer 1976).

        Examples
        --------
        >>> Measure.belief({"a": 0.5, ("a", "b"): 0.5}, ["a", "b"]).values
        array([0. , 0.5, 0. , 1. ])
        """
        names = check_sources(sources, len(sources))
        dense = np.zeros(1 << len(names))
        for key, mass in masses.items():
            dense[mask_of(source_numbers(names, subset_of(key)))] += mass
        return cls(families.belief(dense), names)

    @classmethod
    def p_symmetric(
        cls,
        groups: Sequence[Iterable[str | int]],
        table: npt.ArrayLike,
        sources: Iterable[str] | None = None,
    ) -> Measure:
        """p-symmetric measure: it sees only how many sources of each group are in the subset.

        Parameters
        ----------
        groups : sequence of p groups
            Names or numbers; every source in exactly one group.
        table : array-like of shape (n_1 + 1, …, n_p + 1)
            The value by the number of members from each group.
        sources : sequence of str, optional
            Names.

        References
        ----------
        Miranda, Grabisch, Gil (2002). p-symmetric fuzzy measures. IJUFKS 10, 105-123.

        Examples
        --------
        >>> g = Measure.p_symmetric([[0, 1], [2]], [[0, 0.5], [0.2, 0.6], [0.4, 1]])
        >>> g({0}), g({1}), g({0, 2})
        (0.2, 0.2, 0.6)
        """
        listed = [list(group) for group in groups]
        names = check_sources(sources, sum(len(group) for group in listed))
        numbers = [source_numbers(names, group) for group in listed]
        if len({i for group in numbers for i in group}) != len(names):
            raise SourceError("every source must be in exactly one group")
        return cls(families.p_symmetric(numbers, table), names)

    @classmethod
    def decomposable(
        cls,
        densities: npt.ArrayLike,
        sources: Iterable[str] | None = None,
        *,
        conorm: Literal["max", "probabilistic", "bounded"] = "probabilistic",
    ) -> Measure:
        """S-decomposable measure: densities joined by a t-conorm, with g(X) set to 1 (Weber 1984).

        Examples
        --------
        >>> Measure.decomposable([0.3, 0.5, 0.6], conorm="bounded")({0, 1})
        0.8
        """
        check_option("conorm", conorm, families.CONORMS)
        return cls(families.decomposable(densities, conorm), sources)

    @classmethod
    def random(
        cls,
        n_sources: int,
        *,
        kind: RandomName = "uniform",
        k: int = 2,
        sources: Iterable[str] | None = None,
        rng: Any = None,
    ) -> Measure:
        """Random normal monotone measure.

        Parameters
        ----------
        n_sources : int
            Number of sources.
        kind : str, default "uniform"
            A row of `choquet.measures.RANDOM_MEASURES`; "uniform" is uniform over all normal
            monotone measures.
        k : int, default 2
            The order for ``kind="k_additive"``.
        sources : sequence of str, optional
            Names.
        rng : seed or numpy.random.Generator, optional
            Where the randomness comes from.

        Examples
        --------
        >>> g = Measure.random(4, rng=0)
        >>> g == Measure.random(4, rng=0)
        True
        """
        check_dense(n_sources)
        row = RANDOM_MEASURES[check_option("kind", kind, RANDOM_MEASURES)]
        return cls(row.draw(n_sources, generator(rng), k), sources)

    @classmethod
    def mixture(cls, measures: Sequence[Measure], weights: npt.ArrayLike | None = None) -> Measure:
        """Convex combination of measures on the same sources (equal weights by default).

        Examples
        --------
        >>> low, high = Measure([0, 0, 0, 1]), Measure([0, 1, 1, 1])
        >>> Measure.mixture([low, high], [0.25, 0.75]).values
        array([0.  , 0.75, 0.75, 1.  ])
        """
        if not measures:
            raise MeasureError("a mixture needs at least one measure")
        shares = as_vector(
            np.full(len(measures), 1 / len(measures)) if weights is None else weights,
            "mixture weights",
            len(measures),
        )
        if (shares < 0).any() or abs(shares.sum() - 1) > 1e-9:
            raise MeasureError(f"mixture weights must be ≥ 0 and sum to 1, not {shares.tolist()}")
        first = measures[0]
        if any(m.sources != first.sources for m in measures):
            raise SourceError("the measures of a mixture must have the same sources in one order")
        return cls(
            sum(share * m.values for share, m in zip(shares, measures, strict=True)),
            first.sources,
            monotone=all(m.monotone for m in measures),
            normal=all(m.normal for m in measures),
        )

    # -- values ------------------------------------------------------------------------------------

    def _values_of(self, words: WordArray) -> FloatArray:
        return self.values[words[:, 0].astype(np.int64)]

    def _walk_values(self, sorts: IntArray) -> FloatArray:
        return self.values[np.cumsum(np.int64(1) << sorts, axis=1)]

    def _walk_weights(self, sorts: IntArray) -> FloatArray:
        return weights_of_walks(self.values, sorts)

    def _integral(self, inputs: FloatArray, kind: IntegralName) -> FloatArray:
        return integrals_of_rows(self.values, inputs, INTEGRALS.index(kind))

    def _to_dense(self) -> Measure:
        return self

    def mask(self, *subset: Any) -> int:
        """Bit mask of a subset given by names or numbers, or as one collection of them.

        Examples
        --------
        >>> Measure.additive([0.2, 0.8], ["ir", "emi"]).mask("emi")
        2
        """
        items = subset_of(subset[0]) if len(subset) == 1 else subset
        return mask_of(source_numbers(self.sources, items))

    def format(self, mask: int) -> str:
        """Subset of that mask in words.

        Examples
        --------
        >>> Measure.additive([0.2, 0.8], ["ir", "emi"]).format(3)
        '{ir, emi}'
        """
        return format_subset(self.sources, mask)

    def formatted(self, masks: Iterable[int]) -> list[str]:
        """Subsets of several masks in words.

        Examples
        --------
        >>> Measure.additive([0.2, 0.8], ["ir", "emi"]).formatted([1, 3])
        ['{ir}', '{ir, emi}']
        """
        return [format_subset(self.sources, int(mask)) for mask in masks]

    def mobius(self) -> FloatArray:
        """Möbius transform, by mask.

        Examples
        --------
        >>> Measure([0, 0.2, 0.3, 1]).mobius()
        array([0. , 0.2, 0.3, 0.5])
        """
        return mobius(self.values)

    def summary(self) -> Summary:
        """Shapley, interaction, orness and all other indices in one table; print it.

        Examples
        --------
        >>> Measure([0, 0.2, 0.3, 1]).summary().orness
        0.25
        """
        from choquet.indices import summary

        return summary(self)

    # -- other measures ----------------------------------------------------------------------------

    def dual(self) -> Measure:
        """Dual (conjugate) measure, g*(A) = g(X) - g(X∖A): its integral of -h is minus that of h.

        Examples
        --------
        >>> Measure([0, 0.2, 0.3, 1]).dual().values
        array([0. , 0.7, 0.8, 1. ])
        """
        # The complement of mask a is 2**N - 1 - a: the array read backwards.
        return self._with(self.values[-1] - self.values[::-1])

    def restrict(self, subset: Iterable[str | int]) -> Measure:
        """Measure on some of the sources, in the order given, scaled to be normal if this one is.

        Examples
        --------
        >>> Measure.additive([0.2, 0.3, 0.5]).restrict(["x3", "x1"]).values.round(4)
        array([0.    , 0.7143, 0.2857, 1.    ])
        """
        numbers = source_numbers(self.sources, subset)
        if not numbers:
            raise SourceError("a measure needs at least one source")
        masks = np.zeros(1, dtype=np.int64)
        for number in numbers:
            masks = np.concatenate([masks, masks | 1 << number])
        values = self.values[masks]
        if self.normal:
            if values[-1] == 0:
                raise MeasureError(
                    f"g({self.format(int(masks[-1]))}) = 0: a measure restricted to it cannot be "
                    "made normal"
                )
            values = values / values[-1]
        return self._with(values, tuple(self.sources[i] for i in numbers))

    def permute(self, order: Iterable[str | int]) -> Measure:
        """Measure with its sources in another order.

        Examples
        --------
        >>> Measure.additive([0.2, 0.8], ["ir", "emi"]).permute(["emi", "ir"]).values
        array([0. , 0.8, 0.2, 1. ])
        """
        numbers = source_numbers(self.sources, order)
        if len(numbers) != self.n_sources:
            raise SourceError(f"the order must name all {self.n_sources} sources")
        return self.restrict(numbers)

    def _renamed(self, sources: tuple[str, ...]) -> Measure:
        return self._with(self.values, sources)

    def _with(self, values: FloatArray, sources: tuple[str, ...] | None = None) -> Measure:
        return Measure(values, sources or self.sources, monotone=self.monotone, normal=self.normal)

    # -- Python ------------------------------------------------------------------------------------

    def _repr_html_(self) -> str:
        # Notebooks ask for this; the room that draws is loaded only then.
        from choquet.report import measure_html

        return measure_html(self)

    def __repr__(self) -> str:
        relaxed = [f"not {word}" for word in ("monotone", "normal") if not getattr(self, word)]
        note = f" ({', '.join(relaxed)} by choice)" if relaxed else ""
        names = ", ".join(self.sources)
        if self.n_sources <= 3:
            shown = ", ".join(f"{self.format(m)}: {v:.4g}" for m, v in enumerate(self.values) if m)
        else:
            shown = f"{len(self.values):,} values"
        return f"<Measure on {self.n_sources} sources ({names}){note}: {shown}>"


def _refuse_decrease(values: FloatArray, names: tuple[str, ...]) -> None:
    witness = monotonicity_witness(values)
    if witness is None:
        return
    smaller, larger = witness
    raise NotMonotoneError(
        f"not monotone: g({format_subset(names, smaller)}) = {values[smaller]:g} > "
        f"g({format_subset(names, larger)}) = {values[larger]:g}; "
        "correct the values, or pass monotone=False",
        smaller,
        larger,
    )
