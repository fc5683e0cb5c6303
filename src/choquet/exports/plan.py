"""A model as a plan: formulas over one row, made once and printed in other languages.

A formula is a node of a graph without cycles. Equal formulas are one node, so that printers
compute each once. There are few kinds of nodes, listed in `OPS`; a new kind of model is a function
that makes nodes, a new language a printer that knows each kind.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from choquet.arrays import FloatArray
from choquet.lattice.ties import TIE

OPS: dict[str, str] = {
    "input": "number i of the row; missing where it is not finite",
    "const": "a number; NaN stands for no answer",
    "add": "sum of all arguments",
    "sub": "difference",
    "mul": "product",
    "div": "quotient",
    "min": "the smaller of two",
    "max": "the larger of two",
    "exp": "exponential function, of numbers from -700 to 700",
    "sqrt": "square root",
    "step": "how many of some rising points are not above the argument",
    "lookup": "number of a table at an index",
    "missing": "flag: whether an input is no finite number",
    "less": "flag: whether the first is below the second",
    "or": "flag: whether one holds",
    "if": "the second where the flag holds, else the third",
    "order": "numbers sorted, largest first, ties by position; only for the three that follow",
    "sorted": "of an order: the number at a rank, from 0",
    "rank": "of an order: the rank of an argument",
    "prefix": "of an order: sum of the weights of the arguments up to a rank",
    "form": "a quadratic form of rows of tables, each with its share",
}
"""Kinds of nodes, and what each gives."""

_FLAGS = ("missing", "less", "or")


@dataclass(frozen=True, eq=False)
class Table:
    """Numbers to look up."""

    values: FloatArray
    """By index, from 0."""
    possible: Any = None
    """Indices that can occur, where not all can; languages without arrays write only these."""

    @property
    def key(self) -> tuple[bytes, bytes]:
        """What tells tables apart."""
        return self.values.tobytes(), b"" if self.possible is None else self.possible.tobytes()


@dataclass(frozen=True, eq=False)
class Form:
    """A quadratic form v'Cv, where v begins with numbers; sums of rows of tables follow."""

    start: FloatArray
    """First numbers of v."""
    bases: tuple[FloatArray, ...]
    """Tables; of each, some rows are summed up by their shares, and joined to v."""
    counts: tuple[int, ...]
    """How many rows of each."""
    matrix: FloatArray
    """C, symmetric."""

    @property
    def key(self) -> tuple[bytes, ...]:
        """What tells forms apart."""
        parts = (self.start, *self.bases, self.matrix)
        return tuple(np.ascontiguousarray(part).tobytes() for part in parts)

    @property
    def n_numbers(self) -> int:
        """Numbers that it takes in arrays."""
        return int(sum(base.size for base in self.bases) + self.matrix.size)

    @property
    def n_leaves(self) -> int:
        """Numbers that it takes to write it as formulas."""
        tables = sum(n * base.size for n, base in zip(self.counts, self.bases, strict=True))
        return int(tables + self.matrix.size)


@dataclass(frozen=True, eq=False)
class Node:
    """A formula."""

    op: str
    """A row of `OPS`."""
    args: tuple[Node, ...]
    data: Any
    """What is fixed: a number, a position, points, a `Table`, or (rank, weights)."""
    number: int
    """Arguments have smaller numbers."""

    @property
    def is_flag(self) -> bool:
        """Whether it is true or false, not a number."""
        return self.op in _FLAGS


@dataclass(frozen=True)
class Column:
    """A column of the data."""

    name: str
    levels: tuple[Any, ...] = ()
    """Of a category: languages that see names take these, the others their numbers, from 0."""
    unknown: float = -1.0
    """What a level that is not among them becomes: a number, or NaN for missing."""


NO_INTERVAL = "There is no interval, because its numbers would make the file too long."
"""Note of a plan that has no low and high, though the model has them."""


@dataclass(frozen=True, eq=False)
class Plan:
    """A model ready to be printed.

    Attributes
    ----------
    columns : tuple of Column
    outputs : dict of Node by name
        "output", "operator" and "supported" always; "low" and "high" where there is an interval;
        "p0", "p1" and so on, the probabilities of the classes, where there are several.
    title : str
        What it is, for the head of the file.
    meaning : str
        What the output is.
    classes : tuple of str
    """

    columns: tuple[Column, ...]
    outputs: Mapping[str, Node]
    title: str
    meaning: str
    classes: tuple[str, ...] = ()
    notes: tuple[str, ...] = field(default=())

    @property
    def n_inputs(self) -> int:
        """Number of columns."""
        return len(self.columns)

    @property
    def functions(self) -> dict[str, list[Node]]:
        """What functions of a language give: an output each, or the interval, or all chances."""
        found = {name: [self.outputs[name]] for name in ("output", "operator", "supported")}
        if "low" in self.outputs:
            found["interval"] = [self.outputs["low"], self.outputs["high"]]
        chances = [node for name, node in self.outputs.items() if name[1:].isdigit()]
        return {**found, "probabilities": chances} if chances else found


class Formulas:
    """Makes nodes; equal ones are one node, and what is known already is worked out.

    Examples
    --------
    >>> f = Formulas()
    >>> f.add(f.input(0), f.const(2), f.const(3)) is f.add(f.input(0), f.const(5))
    True
    """

    def __init__(self) -> None:
        self._known: dict[Any, Node] = {}

    def node(self, op: str, *args: Node, data: Any = None) -> Node:
        """The node of a kind with these arguments."""
        assert op in OPS, op
        key = (op, tuple(one.number for one in args), _key(data))
        if key not in self._known:
            self._known[key] = Node(op, args, data, len(self._known))
        return self._known[key]

    def const(self, value: float) -> Node:
        """A number."""
        return self.node("const", data=float(value) + 0.0)

    def input(self, i: int) -> Node:
        """A number of the row, which may be missing."""
        return self.node("input", data=i)

    def missing(self, i: int) -> Node:
        """Whether a number of the row is missing."""
        return self.node("missing", self.input(i), data=i)

    def present(self, i: int) -> Node:
        """A number of the row; 0 in place of a missing one, so that all formulas stay defined."""
        return self.choose(self.missing(i), self.const(0.0), self.input(i))

    def add(self, *args: Node) -> Node:
        """A sum."""
        fixed = sum(one.data for one in args if one.op == "const")
        rest = [one for one in args if one.op != "const"]
        if fixed != 0.0 or not rest:
            rest.append(self.const(fixed))
        return rest[0] if len(rest) == 1 else self.node("add", *rest)

    def sub(self, a: Node, b: Node) -> Node:
        """A difference."""
        return a if _is(b, 0.0) else self.node("sub", a, b)

    def mul(self, a: Node, b: Node) -> Node:
        """A product."""
        if _is(a, 0.0) or _is(b, 0.0):
            return self.const(0.0)
        if _is(a, 1.0) or _is(b, 1.0):
            return b if _is(a, 1.0) else a
        if a.op == "const" and b.op == "const":
            return self.const(a.data * b.data)
        return self.node("mul", a, b)

    def div(self, a: Node, b: Node) -> Node:
        """A quotient."""
        return a if _is(b, 1.0) else self.node("div", a, b)

    def clip(self, a: Node, low: float, high: float) -> Node:
        """The number, within bounds."""
        return self.node("min", self.node("max", a, self.const(low)), self.const(high))

    def exp(self, a: Node) -> Node:
        """Exponential function; beyond 700 either way, that of the end."""
        return self.node("exp", self.clip(a, -700.0, 700.0))

    def sigmoid(self, a: Node) -> Node:
        """Logistic function."""
        one = self.const(1.0)
        return self.div(one, self.add(one, self.exp(self.sub(self.const(0.0), a))))

    def choose(self, flag: Node, yes: Node, no: Node) -> Node:
        """One or the other."""
        if flag.op == "const":
            return yes if flag.data else no
        return yes if yes is no else self.node("if", flag, yes, no)

    def less(self, a: Node, b: Node) -> Node:
        """Whether a < b."""
        if a.op == "const" and b.op == "const":
            return self.const(a.data < b.data)
        return self.node("less", a, b)

    def any(self, flags: Sequence[Node]) -> Node:
        """Whether one holds."""
        return flags[0] if len(flags) == 1 else self.node("or", *flags)

    def lookup(self, index: Node, values: Any, possible: Any = None) -> Node:
        """Number of a table; a constant where all that can occur are equal."""
        table = np.asarray(values, dtype=np.float64) + 0.0
        seen = table if possible is None else table[possible]
        if (seen == seen[0]).all():
            return self.const(seen[0])
        return self.node("lookup", index, data=Table(table, possible))

    def step(self, a: Node, points: FloatArray) -> Node:
        """How many of the rising points are not above a number."""
        if not len(points):
            return self.const(0.0)
        return self.node("step", a, data=tuple(float(p) for p in points))

    def curve(self, a: Node, points: FloatArray, values: FloatArray, *, clip: bool) -> Node:
        """A broken line through points; beyond the ends it stays, or goes on as it came."""
        slopes = np.diff(values) / np.diff(points)
        ends = (0.0, 0.0) if clip else (slopes[0], slopes[-1])
        at = self.step(a, points)
        where = self.lookup(at, np.append(points[:1], points))
        base = self.lookup(at, np.append(values[:1], values))
        slope = self.lookup(at, np.concatenate([ends[:1], slopes, ends[1:]]))
        return self.add(self.mul(slope, self.sub(a, where)), base)

    def spelled_form(self, indices: Sequence[Node], shares: Sequence[Node], form: Form) -> Node:
        """A quadratic form of rows by index, each with its share, as sums and products."""
        vector, at = [self.const(value) for value in form.start], 0
        for base, count in zip(form.bases, form.counts, strict=True):
            rows = list(zip(indices[at : at + count], shares[at : at + count], strict=True))
            vector += [
                self.add(*(self.mul(share, self.lookup(i, column)) for i, share in rows))
                for column in base.T
            ]
            at += count
        doubled = np.triu(form.matrix) + np.triu(form.matrix, 1)
        lines = [
            self.mul(
                one,
                self.add(*(self.mul(self.const(c), b) for b, c in zip(vector, row, strict=True))),
            )
            for one, row in zip(vector, doubled, strict=True)
        ]
        return self.add(*lines)

    def order(self, numbers: Iterable[Node]) -> Order:
        """Numbers sorted, largest first."""
        return Order(self, self.node("order", *numbers))

    def settled(self, order: Order) -> Order:
        """The same order with ties as Python has them: what rounding parts is by position."""
        if order.n == 1:
            return order
        one, zero = self.const(1.0), self.const(0.0)
        width = order.tie_width()
        apart = [
            self.choose(self.less(width, order.gap(rank)), one, zero) for rank in range(order.n - 1)
        ]
        # How many gaps are above each number: equal for those that are tied.
        levels = [
            self.add(
                *(
                    self.choose(self.less(self.const(rank + 0.5), order.rank(i)), gap, zero)
                    for rank, gap in enumerate(apart)
                )
            )
            for i in range(order.n)
        ]
        return self.order(self.sub(zero, level) for level in levels)


@dataclass(frozen=True, eq=False)
class Order:
    """Numbers sorted, largest first, ties by position."""

    formulas: Formulas
    node: Node

    @property
    def n(self) -> int:
        """How many there are."""
        return len(self.node.args)

    def number(self, rank: int) -> Node:
        """The number at a rank, from 0."""
        if self.n == 1:
            return self.node.args[0]
        return self.formulas.node("sorted", self.node, data=rank)

    def rank(self, i: int) -> Node:
        """The rank of the i-th number."""
        return self.formulas.node("rank", self.node, data=i)

    def prefix(self, rank: int, weights: Iterable[int]) -> Node:
        """Sum of the weights of the numbers up to a rank."""
        given = tuple(int(w) for w in weights)
        if rank == self.n - 1:
            return self.formulas.const(sum(given))
        return self.formulas.node("prefix", self.node, data=(rank, given))

    def tie_width(self) -> Node:
        """The largest gap that counts as a tie; see `choquet.lattice.ties`."""
        f = self.formulas
        largest = f.node("max", self.number(0), f.sub(f.const(0.0), self.number(self.n - 1)))
        return f.mul(f.const(TIE), largest)

    def gap(self, rank: int) -> Node:
        """How far the number at a rank is above the next; of the last, the number itself."""
        here = self.number(rank)
        last = rank == self.n - 1
        return here if last else self.formulas.sub(here, self.number(rank + 1))


def _key(data: Any) -> Any:
    if isinstance(data, Table | Form):
        return data.key
    # Zero and minus zero are equal, and NaN is not; as text all numbers are what they are.
    return repr(data) if isinstance(data, float) else data


def _is(node: Node, value: float) -> bool:
    return bool(node.op == "const" and node.data == value)


def reachable(roots: Iterable[Node]) -> list[Node]:
    """The nodes that some nodes need, arguments first."""
    found: dict[int, Node] = {}
    pending = list(roots)
    while pending:
        node = pending.pop()
        if node.number not in found:
            found[node.number] = node
            pending += node.args
    return [found[number] for number in sorted(found)]
