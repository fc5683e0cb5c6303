"""The operator graph: every distinct operator of a measure, without going through N! walks.

The operator of a walk is determined by the values g(A_1), …, g(A_N) that it meets. So the distinct
operators are the distinct sequences of labels along paths of the lattice, and these are what the
subset construction of automata theory finds: a *state* is the set of all nodes of one size that are
reached with one sequence of values; its *edges* lead to the nodes one source larger, grouped by
value. Paths from the root of that graph and distinct operators are the same thing. Counting paths
below every edge numbers the operators: the number of an operator is the sum of the counts left of
its path.

With a `DataSupport`, nodes are pairs of a subset and the number u of unsupported subsets met so
far.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import factorial
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from choquet.arrays import BoolArray, FloatArray, IntArray, check_option, generator
from choquet.errors import DataError, OptionError, TooLargeError
from choquet.measures import AbstractMeasure, Measure, check_measure
from choquet.operators import OrderStatistic
from choquet.walks._states import Lattice, Level, build_levels
from choquet.walks.abstract import AbstractWalks, ListedWalks
from choquet.walks.sorts import all_sorts, as_sorts
from choquet.walks.support import DataSupport, check_support

_MAX_LISTED = 50_000_000
"""Most operators that are listed one by one."""


@dataclass(frozen=True, eq=False, repr=False)
class OperatorGraph(AbstractWalks):
    """All distinct operators of a measure, counted, numbered and drawn without listing walks.

    Parameters
    ----------
    measure : AbstractMeasure
        On N sources, with all values known.
    support : DataSupport, optional
        Restrict to walks that data support.
    epsilon : float, default 0
        With `support`: keep walks with Φ < epsilon; 0 keeps those with Φ = 0.
    decimals : int, default 9
        Values that agree when rounded to so many decimals are one value.
    max_states : int, default 5,000,000
        Give up beyond this many states.

    Attributes
    ----------
    n_operators, n_walks : int
        Exact numbers of distinct operators and of walks.
    n_states, n_edges : int
        Size of the graph.

    References
    ----------
    Anderson et al. Fuzzy Integral = Contextual Linear Order Statistic, Algorithm 1 (which lists
    walks). Rabin, Scott (1959). Finite automata and their decision problems. IBM Journal 3,
    114-125.

    Examples
    --------
    >>> from choquet import Measure, OperatorGraph
    >>> graph = OperatorGraph(Measure([0, 0, 1, 1, 1, 1, 1, 1], sources=["gpr", "ir", "emi"]))
    >>> graph.n_operators, graph.n_walks
    (2, 6)
    >>> graph.weights(), graph.walk_counts
    (array([[0., 1., 0.],
           [1., 0., 0.]]), array([2, 4]))
    >>> graph.index([[0, 2, 1], [2, 1, 0]])
    array([0, 1])
    """

    measure: Measure
    support: DataSupport | None
    epsilon: float
    decimals: int
    n_walks: int
    n_operators: int
    _lattice: Lattice
    _levels: tuple[Level, ...]

    def __init__(
        self,
        measure: AbstractMeasure,
        support: DataSupport | None = None,
        *,
        epsilon: float = 0.0,
        decimals: int = 9,
        max_states: int = 5_000_000,
    ) -> None:
        measure = check_measure(measure).to_measure()
        if support is not None:
            check_support(support, measure)
        if epsilon < 0 or (epsilon > 0 and support is None):
            raise OptionError(f"epsilon={epsilon} needs a support and must be at least 0")
        lattice = Lattice.of(
            measure.values,
            decimals,
            None if support is None else support.supported,
            allowed_unsupported(measure.n_sources, epsilon),
        )
        levels = build_levels(lattice, max_states)
        for field, value in (
            ("measure", measure),
            ("support", support),
            ("epsilon", float(epsilon)),
            ("decimals", decimals),
            ("n_walks", lattice.n_walks),
            ("n_operators", int(levels[0].n_paths[0]) if levels else 0),
            ("_lattice", lattice),
            ("_levels", levels),
        ):
            object.__setattr__(self, field, value)

    # -- size --------------------------------------------------------------------------------------

    @property
    def n_states(self) -> int:
        """Number of states, the root included."""
        return sum(len(level.n_paths) for level in self._levels)

    @property
    def n_edges(self) -> int:
        """Number of edges."""
        return sum(len(level.label) for level in self._levels)

    @property
    def levels(self) -> tuple[Level, ...]:
        """States by size, from ∅ to X, for pictures and exports; empty if no walk is kept.

        Examples
        --------
        >>> from choquet import Measure, OperatorGraph
        >>> graph = OperatorGraph(Measure([0, 0.2, 0.3, 1]))
        >>> [len(level.n_paths) for level in graph.levels]
        [1, 2, 1]
        """
        return self._levels

    def level_subsets(self, size: int) -> IntArray:
        """Bit masks of the members of all states of one size, in the order of ``levels``.

        Examples
        --------
        >>> from choquet import Measure, OperatorGraph
        >>> OperatorGraph(Measure([0, 0.2, 0.3, 1])).level_subsets(1)
        array([1, 2])
        """
        masks: IntArray = self._levels[size].members // self._lattice.width
        return masks

    # -- from walks to operators -------------------------------------------------------------------

    def index(self, sorts: npt.ArrayLike) -> npt.NDArray[Any]:
        """Number of the operator of each sort, found in N look-ups; -1 for a walk left out.

        Parameters
        ----------
        sorts : array-like of shape (n, N)
            Source numbers, largest input first.

        Returns
        -------
        array of n ints

        Examples
        --------
        >>> from choquet import Measure, OperatorGraph
        >>> OperatorGraph(Measure([0, 0.2, 0.3, 1])).index([[1, 0]])
        array([1])
        """
        rows = as_sorts(sorts, self.n_sources)
        number = np.zeros(len(rows), dtype=self._number_type)
        if not self._levels:
            return number - 1
        masks = np.cumsum(np.int64(1) << rows, axis=1)
        kept = self._lattice.allows(masks)
        state = np.zeros(int(kept.sum()), dtype=np.int64)
        found = number[kept]
        for j, level in enumerate(self._levels[:-1]):
            edge = level.edge_of(state, self._lattice.labels[masks[kept, j]])
            found = found + level.paths_before[edge]
            state = level.target[edge]
        number[kept] = found
        number[~kept] = -1
        return number

    # -- from numbers to operators -----------------------------------------------------------------

    def weights(self, numbers: npt.ArrayLike | None = None) -> FloatArray:
        """Weights by rank of the operators with the given numbers (all of them by default).

        Examples
        --------
        >>> from choquet import Measure, OperatorGraph
        >>> OperatorGraph(Measure([0, 0.2, 0.3, 1])).weights([1])
        array([[0.3, 0.7]])
        """
        if numbers is None:
            self._refuse_long_list()
            numbers = np.arange(self.n_operators)
        rest = np.atleast_1d(np.asarray(numbers, dtype=self._number_type))
        for value in (rest.min(), rest.max()) if rest.size else ():
            if not 0 <= value < self.n_operators:
                raise DataError(f"operators are numbered 0..{self.n_operators - 1}, not {value}")
        values = np.zeros((len(rest), self.n_sources + 1))
        state = np.zeros(len(rest), dtype=np.int64)
        for j, level in enumerate(self._levels[:-1]):
            edge = level.edge_at(state, rest)
            rest = rest - level.paths_before[edge]
            values[:, j + 1] = self._lattice.label_values[level.label[edge]]
            state = level.target[edge]
        return np.diff(values, axis=1)

    def operator(self, number: int) -> OrderStatistic:
        """Operator with the given number.

        Examples
        --------
        >>> from choquet import Measure, OperatorGraph
        >>> OperatorGraph(Measure([0, 0, 0, 1])).operator(0).name
        'min'
        """
        return OrderStatistic(self.weights([number])[0])

    @property
    def walk_counts(self) -> npt.NDArray[Any]:
        """Number of walks with each operator: exact up to 20 sources, floats beyond."""
        from choquet.walks import _kernels

        self._refuse_long_list()
        exact = self.n_sources <= 20
        flat = self._lattice.flat_pairs(self._levels)
        counts = np.zeros(self.n_operators, dtype=np.int64 if exact else np.float64)
        _kernels.count_walks(*flat, self.n_sources, counts)
        return counts

    @property
    def shares(self) -> FloatArray:
        """Share of all walks (contexts) that each operator is used in; they sum to 1."""
        return np.asarray(self.walk_counts / self.n_walks, dtype=np.float64)

    @property
    def n_distinct_walks(self) -> int:
        """How many different walks there are."""
        return self.n_walks

    @property
    def n_partial(self) -> int:
        """Walks with unknown values: none, as a dense measure knows them all."""
        return 0

    @property
    def slack(self) -> FloatArray:
        """How far cumulative weights can be off: nothing."""
        return np.zeros((1, 1))

    def listed(self, most: int) -> ListedWalks:
        """The walks one by one; where they are more than `most`, half as many drawn at random.

        Examples
        --------
        >>> from choquet import Measure, OperatorGraph
        >>> OperatorGraph(Measure([0, 0.2, 0.3, 1])).listed(10).sorts
        array([[0, 1],
               [1, 0]])
        """
        if factorial(self.n_sources) > most:
            return ListedWalks(self.sample_sorts(most // 2, rng=0), None, complete=False)
        sorts = all_sorts(self.n_sources)
        return ListedWalks(sorts[self.index(sorts) >= 0], None, complete=True)

    def contributions(self) -> FloatArray:
        """Mean contribution of each source to g over the walks: Shapley values of the walks kept.

        NaN if no walk is kept.

        Examples
        --------
        >>> from choquet import Measure, OperatorGraph
        >>> OperatorGraph(Measure([0, 0.2, 0.3, 1])).contributions().round(12)
        array([0.45, 0.55])
        """
        return self._lattice.contributions(self.measure.values)

    # -- samples -----------------------------------------------------------------------------------

    def sample(
        self, n: int, *, over: Literal["walks", "operators"] = "walks", rng: Any = None
    ) -> npt.NDArray[Any]:
        """Numbers of operators drawn at random, with replacement.

        Parameters
        ----------
        n : int
            How many.
        over : {"walks", "operators"}, default "walks"
            Draw walks uniformly, or distinct operators uniformly.
        rng : seed or numpy.random.Generator, optional
            Where the randomness comes from.

        Examples
        --------
        >>> from choquet import Measure, OperatorGraph
        >>> graph = OperatorGraph(Measure([0, 0, 1, 1, 1, 1, 1, 1]))
        >>> graph.sample(6, rng=0).shape
        (6,)
        """
        check_option("over", over, ["walks", "operators"])
        if n < 0 or not self.n_operators:
            raise OptionError(f"cannot draw {n} of {self.n_operators} operators")
        random = generator(rng)
        if over == "walks":
            return self.index(self.sample_sorts(n, rng=random))
        if self._number_type is np.int64:
            return random.integers(self.n_operators, size=n)
        bits = self.n_operators.bit_length() + 64  # 64 more than needed: the bias is below 2**-64
        words = random.integers(2**32, size=(n, bits // 32 + 1))
        return np.array(
            [
                sum(int(w) << (32 * k) for k, w in enumerate(row)) % self.n_operators
                for row in words
            ],
            dtype=object,
        )

    def sample_sorts(self, n: int, *, rng: Any = None) -> IntArray:
        """Sorts of walks drawn uniformly from those the graph covers.

        Examples
        --------
        >>> from choquet import Measure, OperatorGraph
        >>> OperatorGraph(Measure([0, 0.2, 0.3, 1])).sample_sorts(3, rng=0).shape
        (3, 2)
        """
        if not self.n_walks:
            raise DataError("no walk is supported, so none can be drawn")
        return self._lattice.sample_sorts(n, generator(rng))

    # -- Python ------------------------------------------------------------------------------------

    @property
    def _number_type(self) -> Any:
        return self._levels[0].n_paths.dtype.type if self._levels else np.int64

    def _refuse_long_list(self) -> None:
        if self.n_operators > _MAX_LISTED:
            raise TooLargeError(
                f"{self.n_operators:,} operators are too many to list; "
                "draw some with sample(), or round values with a smaller decimals="
            )

    def __repr__(self) -> str:
        return (
            f"<OperatorGraph of {self.n_sources} sources: {self.n_operators:,} operators over "
            f"{self.n_walks:,} walks, {self.n_states:,} states>"
        )


def allowed_unsupported(n_sources: int, epsilon: float) -> int:
    """Largest number u of unsupported subsets with u / (N - 1) < ε, at least 0."""
    below: BoolArray = np.arange(n_sources) < epsilon * (n_sources - 1) - 1e-12
    return max(int(below.sum()) - 1, 0)
