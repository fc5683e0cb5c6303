"""What every measure is: named sources, values or bounds of any subset, integrals of samples.

The classes that hold a measure differ in what they store, not in what can be asked of them:

=====================  ===============================================  =====================
`Measure`              all 2**N values                                  up to 20-some sources
`SupportedMeasure`     the values that data support, bounds elsewhere   any number
`MobiusMeasure`        Möbius coefficients of small subsets             any number
`FormulaMeasure`       weights of the sources or ranks, and a curve     any number
`SparseMeasure`        values on some subsets, zero elsewhere           any number
=====================  ===============================================  =====================

Public methods are final and check what comes in; a class fills in the hooks below them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Mapping
from dataclasses import fields
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeAlias, final

import numpy as np
import numpy.typing as npt

from choquet.arrays import FloatArray, IntArray, as_inputs, as_vector, check_option
from choquet.errors import DataError, MeasureError, SourceError
from choquet.lattice.wide import WordArray, as_sorts, chains_of, n_words, pack, unique_rows
from choquet.measures.sources import check_sources, source_numbers, subset_of

if TYPE_CHECKING:
    from choquet.measures.measure import Measure
    from choquet.measures.mobius import MobiusMeasure

INTEGRALS = ("choquet", "sugeno", "shilkret")
"""Integrals that every measure has; the order is that of the compiled loop."""

IntegralName: TypeAlias = Literal["choquet", "sugeno", "shilkret"]
FillName: TypeAlias = Literal["lower", "upper", "midpoint"]


class AbstractMeasure(ABC):
    """A fuzzy measure on named sources.

    Attributes
    ----------
    sources : tuple of str
        Names.
    monotone : bool
        Whether no subset has a larger value than a superset of it.
    normal : bool
        Whether g(X) = 1.
    total : float
        The value g(X) of all sources together.

    Examples
    --------
    >>> from choquet import FormulaMeasure, Measure
    >>> for g in (Measure([0, 0.4, 0.6, 1]), FormulaMeasure("additive", [0.4, 0.6])):
    ...     print(type(g).__name__, g("x1"), g.integral([[1.0, 0.5]]), g.interval([[1.0, 0.5]]))
    Measure 0.4 [0.7] [[0.7 0.7]]
    FormulaMeasure 0.4 [0.7] [[0.7 0.7]]
    """

    sources: tuple[str, ...]
    monotone: bool
    normal: bool
    total: float

    is_dense: ClassVar[bool] = False
    """Whether all 2**N values are held, as `Measure.values`."""

    _refuses_nonfinite: ClassVar[bool] = False
    """Whether integrals refuse NaN and infinities by themselves, so that nobody looks twice."""

    # -- subsets -----------------------------------------------------------------------------------

    @final
    @cached_property
    def n_sources(self) -> int:
        """Number of sources N."""
        return len(self.sources)

    @final
    def __call__(self, *subset: Any) -> float:
        """Value of a subset given by names or numbers, or as one collection of them.

        A subset whose value is known only to lie between bounds is refused: see `bounds`.
        """
        lower, upper = self._bounds(self._words_of([subset if len(subset) != 1 else subset[0]]))
        if lower[0] != upper[0]:
            raise MeasureError(
                f"g is known on this subset only to lie in [{lower[0]:g}, {upper[0]:g}]; "
                "ask bounds() for both ends, or values_of() for the middle"
            )
        return float(lower[0])

    @final
    def values_of(self, subsets: Any) -> FloatArray:
        """Value of each subset; the middle of what is possible where only bounds are known.

        Parameters
        ----------
        subsets : sequence of subsets, array of masks, or array of words
            Each subset by names or numbers of its sources; or bit masks (integers, up to 63
            sources); or an array of uint64 of shape (K, W), see `choquet.lattice.wide`.

        Examples
        --------
        >>> from choquet import Measure
        >>> g = Measure.additive([0.2, 0.8], ["ir", "emi"])
        >>> g.values_of(["ir", ("ir", "emi"), ()])
        array([0.2, 1. , 0. ])
        """
        return self._values_of(self._words_of(subsets))

    @final
    def bounds(self, subsets: Any) -> tuple[FloatArray, FloatArray]:
        """Smallest and largest value that each subset can have; equal where the value is known.

        Parameters
        ----------
        subsets
            As for `values_of`.

        Examples
        --------
        >>> from choquet import SupportedMeasure
        >>> SupportedMeasure.from_dict({"a": 0.5}, ["a", "b"]).bounds(["a", "b"])
        (array([0.5, 0. ]), array([0.5, 1. ]))
        """
        return self._bounds(self._words_of(subsets))

    # -- walks -------------------------------------------------------------------------------------

    @final
    def walk_values(self, sorts: npt.ArrayLike) -> FloatArray:
        """Values g(A_1), …, g(A_N) along the walk of each sort: an array (n, N).

        Examples
        --------
        >>> from choquet import Measure
        >>> Measure([0, 0.2, 0.3, 1]).walk_values([[1, 0]])
        array([[0.3, 1. ]])
        """
        return self._walk_values(as_sorts(sorts, self.n_sources))

    @final
    def walk_bounds(self, sorts: npt.ArrayLike) -> tuple[FloatArray, FloatArray]:
        """Bounds of the values along the walk of each sort: two arrays (n, N).

        Examples
        --------
        >>> from choquet import SupportedMeasure
        >>> SupportedMeasure.from_dict({"a": 0.5}, ["a", "b"]).walk_bounds([[0, 1], [1, 0]])[1]
        array([[0.5, 1. ],
               [1. , 1. ]])
        """
        return self._walk_bounds(as_sorts(sorts, self.n_sources))

    @final
    def walk_weights(self, sorts: npt.ArrayLike) -> FloatArray:
        """Operator of the walk of each sort: weights by rank, largest input first, (n, N).

        Examples
        --------
        >>> from choquet import Measure
        >>> Measure([0, 0.2, 0.3, 1]).walk_weights([[1, 0]])
        array([[0.3, 0.7]])
        """
        return self._walk_weights(as_sorts(sorts, self.n_sources))

    # -- samples -----------------------------------------------------------------------------------

    @final
    def integral(self, X: Any, *, kind: IntegralName = "choquet") -> FloatArray:
        """Integral of each sample; the middle of what is possible where only bounds are known.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, N)
            Frames are read by the names of the sources.
        kind : {"choquet", "sugeno", "shilkret"}, default "choquet"

        Examples
        --------
        >>> from choquet import Measure
        >>> Measure([0, 0.2, 0.3, 1]).integral([[0.9, 0.4]])
        array([0.5])
        """
        return self._integral(self._checked(X, kind), kind)

    @final
    def interval(self, X: Any, *, kind: IntegralName = "choquet") -> FloatArray:
        """Tight bounds of the integral of each sample: (n, 2), equal where all values are known.

        Parameters
        ----------
        X, kind
            As for `integral`.

        Examples
        --------
        >>> from choquet import SupportedMeasure
        >>> SupportedMeasure.from_dict({"a": 0.4}, ["a", "b"]).interval([[0.1, 0.9]])
        array([[0.1, 0.9]])
        """
        return self._interval(self._checked(X, kind), kind)

    @final
    def integral_of_rows(self, rows: FloatArray) -> FloatArray:
        """Choquet integral of rows that were checked: finite floats, a column for each source."""
        return self._integral(rows, "choquet")

    @final
    def interval_of_rows(self, rows: FloatArray) -> FloatArray:
        """Bounds of the Choquet integral of rows that were checked."""
        return self._interval(rows, "choquet")

    @final
    def weights_of_sorts(self, sorts: IntArray) -> FloatArray:
        """Operator of the walk of each sort, of sorts that were checked."""
        return self._walk_weights(sorts)

    @final
    def bounds_of_sorts(self, sorts: IntArray) -> tuple[FloatArray, FloatArray]:
        """Bounds of the values along the walk of each sort, of sorts that were checked."""
        return self._walk_bounds(sorts)

    # -- other measures ----------------------------------------------------------------------------

    @final
    def renamed(self, sources: Iterable[str] | Mapping[str, str]) -> Any:
        """The same measure with other names of its sources, as a list or from old to new ones.

        Examples
        --------
        >>> from choquet import Measure
        >>> Measure([0, 0.2, 0.3, 1]).renamed({"x1": "ir"}).sources
        ('ir', 'x2')
        """
        if isinstance(sources, Mapping):
            source_numbers(self.sources, sources)  # refuses names that are none
            sources = [sources.get(name, name) for name in self.sources]
        return self._renamed(check_sources(sources, self.n_sources))

    @abstractmethod
    def to_measure(self, *, fill: FillName | None = None) -> Measure:
        """Dense measure with the same values, for as many sources as one can have.

        Parameters
        ----------
        fill : {"lower", "upper", "midpoint"}, optional
            Which value a subset gets that is known only to lie between bounds. By default such a
            measure is refused: its values would be guesses.
        """

    @property
    def as_mobius(self) -> MobiusMeasure | None:
        """The same measure by its Möbius coefficients, where it has few of them; or None."""
        return None

    @property
    def known_words(self) -> WordArray | None:
        """The subsets that have a value, where the others have only bounds; None if all do."""
        return None

    # -- hooks -------------------------------------------------------------------------------------

    @abstractmethod
    def _values_of(self, words: WordArray) -> FloatArray: ...

    @abstractmethod
    def _bounds(self, words: WordArray) -> tuple[FloatArray, FloatArray]: ...

    @abstractmethod
    def _walk_values(self, sorts: IntArray) -> FloatArray: ...

    @abstractmethod
    def _walk_bounds(self, sorts: IntArray) -> tuple[FloatArray, FloatArray]: ...

    @abstractmethod
    def _walk_weights(self, sorts: IntArray) -> FloatArray: ...

    @abstractmethod
    def _integral(self, inputs: FloatArray, kind: IntegralName) -> FloatArray: ...

    @abstractmethod
    def _interval(self, inputs: FloatArray, kind: IntegralName) -> FloatArray: ...

    @abstractmethod
    def _renamed(self, sources: tuple[str, ...]) -> AbstractMeasure: ...

    # -- what they share ---------------------------------------------------------------------------

    @final
    def _checked(self, X: Any, kind: IntegralName) -> FloatArray:
        check_option("kind", kind, INTEGRALS)
        return as_inputs(X, sources=self.sources, finite=not self._refuses_nonfinite)

    @final
    def _combined(self, inputs: FloatArray, kind: IntegralName) -> FloatArray:
        """Integral of each sample from the values along its walk."""
        sorts = np.argsort(-inputs, axis=1, kind="stable")
        return combine(np.take_along_axis(inputs, sorts, axis=1), self._walk_values(sorts), kind)

    @final
    def _words_of(self, subsets: Any) -> WordArray:
        n = self.n_sources
        if isinstance(subsets, np.ndarray) and subsets.ndim == 2 and subsets.dtype == np.uint64:
            if subsets.shape[1] != n_words(n):
                raise DataError(
                    f"subsets of {n} sources have {n_words(n)} words, not {subsets.shape[1]}"
                )
            words = np.ascontiguousarray(subsets)
        elif isinstance(subsets, np.ndarray) and subsets.ndim == 1 and subsets.dtype.kind in "iu":
            if n > 63:
                raise DataError(f"masks hold up to 63 sources, not {n}; pass names or words")
            if len(subsets) and int(subsets.min()) < 0:
                raise SourceError(f"a subset cannot have the mask {subsets.min()}")
            words = subsets.astype(np.uint64)[:, None]
        else:
            if isinstance(subsets, str):
                raise DataError(f"subsets must be a list of subsets, not the text {subsets!r}")
            return words_of_subsets(self.sources, list(subsets))
        refuse_beyond(words, n)
        return words

    @final
    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return all(
            np.array_equal(getattr(self, field.name), getattr(other, field.name))
            for field in fields(self)  # type: ignore[arg-type]
        )

    __hash__ = None  # type: ignore[assignment]

    @final
    def __setstate__(self, state: dict[str, Any]) -> None:
        # Copies and what comes out of a pickle are as frozen as what went in.
        for value in state.values():
            if isinstance(value, np.ndarray):
                value.flags.writeable = False
        vars(self).update(state)


class KnownMeasure(AbstractMeasure):
    """A measure of which every value is known: bounds are the value itself."""

    @final
    def to_measure(self, *, fill: FillName | None = None) -> Measure:
        """Dense measure with the same values, for as many sources as one can have.

        Parameters
        ----------
        fill
            Without effect: no value is unknown.
        """
        del fill
        return self._to_dense()

    @abstractmethod
    def _to_dense(self) -> Measure: ...

    @final
    def _bounds(self, words: WordArray) -> tuple[FloatArray, FloatArray]:
        values = self._values_of(words)
        return values, values

    @final
    def _walk_bounds(self, sorts: IntArray) -> tuple[FloatArray, FloatArray]:
        values = self._walk_values(sorts)
        return values, values

    @final
    def _interval(self, inputs: FloatArray, kind: IntegralName) -> FloatArray:
        values = self._integral(inputs, kind)
        return np.column_stack([values, values])


class ComputedMeasure(KnownMeasure):
    """A measure whose value is computed for any subset."""

    @final
    def _walk_values(self, sorts: IntArray) -> FloatArray:
        words = chains_of(sorts)
        return self._values_of(words.reshape(-1, words.shape[2])).reshape(sorts.shape)

    @final
    def _walk_weights(self, sorts: IntArray) -> FloatArray:
        return np.diff(self._walk_values(sorts), axis=1, prepend=0.0)

    @final
    def _integral(self, inputs: FloatArray, kind: IntegralName) -> FloatArray:
        return self._combined(inputs, kind)

    @final
    def _to_dense(self) -> Measure:
        from choquet.lattice import check_dense
        from choquet.measures.measure import Measure

        check_dense(self.n_sources)
        words = np.arange(1 << self.n_sources, dtype=np.uint64)[:, None]
        return Measure(
            self._values_of(words), self.sources, monotone=self.monotone, normal=self.normal
        )


def combine(ordered: FloatArray, values: FloatArray, kind: IntegralName) -> FloatArray:
    """Integral from inputs in decreasing order and the values along their walks."""
    if kind == "choquet":
        # Gaps between neighbouring inputs are the coefficients of the values.
        return np.asarray((-np.diff(ordered, axis=1, append=0.0) * values).sum(axis=1))
    each = np.minimum(ordered, values) if kind == "sugeno" else ordered * values
    return np.asarray(each.max(axis=1))


def frozen(array: IntArray) -> IntArray:
    """The array, closed to writing."""
    array.flags.writeable = False
    return array


def check_measure(measure: Any) -> AbstractMeasure:
    """Return a measure as it is, or raise an error that says what to pass instead.

    Examples
    --------
    >>> check_measure([0, 0.2, 0.3, 1])
    Traceback (most recent call last):
    ...
    choquet.errors.MeasureError: a measure is needed, not a list; make one with Measure(values)
    """
    if isinstance(measure, AbstractMeasure):
        return measure
    if isinstance(getattr(measure, "measure_", None), AbstractMeasure):
        raise MeasureError(
            f"a measure is needed, not a {type(measure).__name__}; pass its attribute measure_"
        )
    raise MeasureError(
        f"a measure is needed, not a {type(measure).__name__}; make one with Measure(values)"
    )


def refuse_beyond(words: WordArray, n_sources: int) -> None:
    """Raise if a subset holds a source beyond those that are named."""
    if n_sources % 64 and len(words) and (words[:, -1] >> np.uint64(n_sources % 64)).any():
        raise SourceError(f"a subset holds a source beyond the {n_sources} that are named")


def as_names(sources: Iterable[str]) -> tuple[str, ...]:
    """Names of at least one source."""
    names = tuple(sources)
    names = check_sources(names, len(names))
    if not names:
        raise SourceError("a measure needs at least one source")
    return names


def words_of_subsets(sources: tuple[str, ...], subsets: Collection[Any]) -> WordArray:
    """Subsets given by names or numbers as words."""
    inside = np.zeros((len(subsets), len(sources)), dtype=np.bool_)
    for row, subset in enumerate(subsets):
        inside[row, list(source_numbers(sources, subset_of(subset)))] = True
    return pack(inside)


def as_table(
    words: npt.ArrayLike, values: npt.ArrayLike, what: str, n_sources: int
) -> tuple[WordArray, FloatArray]:
    """Different subsets in the order of their words, each with its value."""
    table = np.array(words, dtype=np.uint64).reshape(-1, n_words(n_sources))
    numbers = as_vector(values, what, len(table))
    rows, inverse = unique_rows(table)
    if len(rows) != len(table):
        raise MeasureError("a subset is given more than once")
    ordered = np.empty(len(numbers))
    ordered[inverse] = numbers
    return rows, ordered
