"""From a sort to its operator in N look-ups, without N! entries and without the measure.

A diagram is read along the sort: at each node the next source leads on, to the child of that
source if the node makes an exception for it, else to the node's default child. After N steps stands
the label of the operator. A sort never repeats a source, so what a node would say of sources that
are used already is free, and that freedom is spent on making nodes alike: equal nodes are stored
once.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields

import numpy as np
import numpy.typing as npt

from choquet.arrays import IntArray
from choquet.contexts._diagram_build import (
    Layer,
    classes_by_label,
    classes_by_number,
    majority,
    merge_layers,
)
from choquet.contexts._labels import as_labels
from choquet.errors import DataError, OptionError, TooLargeError
from choquet.walks.graph import OperatorGraph
from choquet.walks.sorts import as_sorts


@dataclass(frozen=True, eq=False, repr=False)
class Diagram:
    """A minimised decision diagram over the prefixes of a sort.

    Inner nodes are numbered from the root, 0, level by level; the last ones are leaves.

    Parameters
    ----------
    n_sources : int
        Number of sources N.
    default : array of n_inner ints
        Child of each inner node for sources without an exception.
    exception_ptr : array of n_inner + 1 ints
        Exceptions of node v: from ``exception_ptr[v]`` to ``exception_ptr[v + 1]``.
    exception_source, exception_child : arrays of ints
        Source, ascending within a node, and the child it leads to.
    labels : array of ints
        Label of each leaf.
    default_weight, exception_weight : arrays of ints
        Added to the label along the way; empty where all are 0.

    Examples
    --------
    >>> from choquet import Measure, OperatorGraph
    >>> from choquet.contexts.diagram import Diagram
    >>> g = Measure([0, 0, 1, 1, 1, 1, 1, 1], sources=["gpr", "ir", "emi"])
    >>> diagram = Diagram.build(OperatorGraph(g), [0, 1])
    >>> diagram
    <Diagram of 3 sources: 7 nodes, 9 numbers>
    >>> diagram.index([[0, 2, 1], [2, 1, 0]])
    array([0, 1])
    """

    n_sources: int
    default: IntArray
    exception_ptr: IntArray
    exception_source: IntArray
    exception_child: IntArray
    labels: IntArray
    default_weight: IntArray
    exception_weight: IntArray

    def __post_init__(self) -> None:
        for field in fields(self):
            if field.name == "n_sources":
                continue
            value = np.array(getattr(self, field.name))
            if value.ndim != 1 or (value.size and not np.issubdtype(value.dtype, np.integer)):
                raise DataError(f"{field.name} of a diagram must be a list of whole numbers")
            array = value.astype(np.int64)
            array.flags.writeable = False
            object.__setattr__(self, field.name, array)
        self._check()

    @classmethod
    def build(
        cls,
        graph: OperatorGraph,
        labels: npt.ArrayLike | None = None,
        *,
        max_nodes: int = 2_000_000,
    ) -> Diagram:
        """The diagram of a measure's operators, or of labels given to them.

        Parameters
        ----------
        graph : OperatorGraph
            All operators. Walks that it leaves out are free: the diagram names an operator for
            them too, whichever makes it smaller.
        labels : array-like of n_operators ints, optional
            Label of each operator, by number; by default the numbers themselves, which are summed
            along the way, so that the diagram stays small although there are many of them.
        max_nodes : int, default 2,000,000
            Give up if there are more nodes before equal ones are merged.

        Returns
        -------
        Diagram

        Raises
        ------
        TooLargeError
            Beyond `max_nodes`, or where operator numbers do not fit 64 bits.

        Examples
        --------
        >>> from choquet import Measure, OperatorGraph
        >>> from choquet.contexts.diagram import Diagram
        >>> mean = OperatorGraph(Measure.symmetric([0.25, 0.25, 0.25, 0.25]))
        >>> Diagram.build(mean)
        <Diagram of 4 sources: 5 nodes, 5 numbers>
        """
        if max_nodes < 1:
            raise OptionError(f"max_nodes={max_nodes} must be at least 1")
        if not graph.n_operators:
            raise DataError("no walk is supported, so there is no operator to find")
        levels, lattice = graph._levels, graph._lattice
        if labels is None:
            if levels[0].n_paths.dtype == object:
                raise TooLargeError(
                    f"{graph.n_operators:,} operators have no 64-bit numbers; give them labels, or "
                    "round values with a smaller decimals="
                )
            known, classes = np.zeros(1, dtype=np.int64), classes_by_number(levels)
        else:
            known, compact = as_labels(labels, graph.n_operators, "operators")
            classes = classes_by_label(levels, compact, len(known))
        layers, leaves, least = merge_layers(
            lattice, levels, classes, weighted=labels is None, max_nodes=max_nodes
        )
        return _flat(graph.n_sources, layers, known[leaves] + least, weighted=labels is None)

    # -- use ---------------------------------------------------------------------------------------

    def index(self, sorts: npt.ArrayLike) -> IntArray:
        """Label (or number) of the operator of each sort, in N look-ups.

        Parameters
        ----------
        sorts : array-like of shape (n, N)
            Source numbers, largest input first.

        Returns
        -------
        array of n ints
        """
        rows = as_sorts(sorts, self.n_sources)
        keys = self._exception_keys
        node = np.zeros(len(rows), dtype=np.int64)
        total = np.zeros(len(rows), dtype=np.int64)
        for source in rows.T:
            wanted = node * self.n_sources + source
            at = np.searchsorted(keys, wanted)
            at[at == len(keys)] = 0
            usual = keys[at] != wanted if len(keys) else np.ones(len(rows), dtype=np.bool_)
            if len(self.default_weight):
                total += self.default_weight[node]
                total[~usual] += (
                    self.exception_weight[at[~usual]] - (self.default_weight[node[~usual]])
                )
            after = self.default[node]
            after[~usual] = self.exception_child[at[~usual]]
            node = after
        return np.asarray(self.labels[node - len(self.default)] + total, dtype=np.int64)

    @property
    def n_nodes(self) -> int:
        """Number of nodes, leaves included."""
        return len(self.default) + len(self.labels)

    @property
    def n_numbers(self) -> int:
        """Numbers stored: 1 for each default and leaf, 2 for each exception, and the weights."""
        weights = len(self.default_weight) + len(self.exception_weight)
        return self.n_nodes + 2 * len(self.exception_child) + weights

    # -- storage -----------------------------------------------------------------------------------

    def to_arrays(self) -> dict[str, IntArray]:
        """The diagram as flat arrays of ints, by name.

        Examples
        --------
        >>> from choquet import Measure, OperatorGraph
        >>> from choquet.contexts.diagram import Diagram
        >>> diagram = Diagram.build(OperatorGraph(Measure([0, 0.2, 0.3, 1])))
        >>> Diagram.from_arrays(diagram.to_arrays()) == diagram
        True
        """
        arrays = {field.name: getattr(self, field.name) for field in fields(self)}
        return arrays | {"n_sources": np.array([self.n_sources])}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, npt.ArrayLike]) -> Diagram:
        """The diagram that `to_arrays` wrote; arrays that make none are a `DataError`."""
        names = [field.name for field in fields(cls)]
        missing = [name for name in names if name not in arrays]
        if missing:
            raise DataError(f"a diagram needs the array {missing[0]!r}, which is missing")
        n_sources = np.asarray(arrays["n_sources"]).reshape(-1)
        if len(n_sources) != 1:
            raise DataError(f"n_sources of a diagram must be one number, not {n_sources.tolist()}")
        rest = {name: np.asarray(arrays[name]) for name in names if name != "n_sources"}
        return cls(n_sources=int(n_sources[0]), **rest)

    # -- Python ------------------------------------------------------------------------------------

    @property
    def _exception_keys(self) -> IntArray:
        owner = np.repeat(np.arange(len(self.default)), np.diff(self.exception_ptr))
        return owner * self.n_sources + self.exception_source

    def _check(self) -> None:
        """Whether following the arrays stays inside them and ends at a leaf after N steps."""
        n_inner, n_exceptions = len(self.default), len(self.exception_child)
        ptr = self.exception_ptr
        weighted = len(self.default_weight) > 0
        sound = (
            self.n_sources >= 1
            and len(ptr) == n_inner + 1
            and ptr[0] == 0
            and ptr[-1] == n_exceptions == len(self.exception_source)
            and (np.diff(ptr) >= 0).all()
            and len(self.default_weight) == (n_inner if weighted else 0)
            and len(self.exception_weight) == (n_exceptions if weighted else 0)
            and ((self.exception_source >= 0) & (self.exception_source < self.n_sources)).all()
            and (np.diff(self._exception_keys) > 0).all()
            and self._is_layered()
        )
        if not sound:
            raise DataError(
                f"these arrays make no diagram of {self.n_sources} sources: sizes, children or "
                "exceptions do not fit together"
            )

    def _is_layered(self) -> bool:
        n_inner = len(self.default)
        owner = np.repeat(np.arange(n_inner), np.diff(self.exception_ptr))
        start = np.concatenate([np.arange(n_inner), owner])
        end = np.concatenate([self.default, self.exception_child])
        if not n_inner or end.min() < 0 or end.max() >= self.n_nodes or (end <= start).any():
            return False
        depth = np.full(self.n_nodes, -1)
        reached, steps = np.array([0]), 0
        while len(reached) and steps <= self.n_sources:
            if (depth[reached] >= 0).any():
                return False
            depth[reached] = steps
            reached, steps = np.unique(end[depth[start] == steps]), steps + 1
        leaves = depth[n_inner:]
        return bool((leaves == self.n_sources).all() and (depth[:n_inner] >= 0).all())

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Diagram):
            return NotImplemented
        return all(
            np.array_equal(getattr(self, field.name), getattr(other, field.name))
            for field in fields(self)
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return (
            f"<Diagram of {self.n_sources} sources: {self.n_nodes:,} nodes, "
            f"{self.n_numbers:,} numbers>"
        )


def _flat(n_sources: int, layers: list[Layer], labels: IntArray, *, weighted: bool) -> Diagram:
    """Layers as one list of nodes: the most frequent child as default, the others exceptions."""
    defaults, sources, children, counts = [], [], [], [np.zeros(1, dtype=np.int64)]
    usual_weights, weights = [], []
    offset = 0
    for layer in layers:
        offset += len(layer.child)
        values, coded = np.unique(layer.weight, return_inverse=True)
        key = layer.child * len(values) + coded.reshape(layer.child.shape)
        usual = majority(key)
        node, source = np.nonzero(key != usual[:, None])
        defaults.append(usual // len(values) + offset)
        usual_weights.append(values[usual % len(values)])
        sources.append(source)
        children.append(layer.child[node, source] + offset)
        weights.append(layer.weight[node, source])
        counts.append(np.bincount(node, minlength=len(usual)))
    none = np.zeros(0, dtype=np.int64)
    # Weights that are all 0 (one operator) say nothing.
    weighted = weighted and any(part.any() for part in (*usual_weights, *weights))
    return Diagram(
        n_sources=n_sources,
        default=np.concatenate(defaults),
        exception_ptr=np.cumsum(np.concatenate(counts)),
        exception_source=np.concatenate(sources),
        exception_child=np.concatenate(children),
        labels=labels,
        default_weight=np.concatenate(usual_weights) if weighted else none,
        exception_weight=np.concatenate(weights) if weighted else none,
    )
