"""Plans as statements of a language with arrays and functions: what C and JavaScript share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np

from choquet.exports.plan import Form, Node, Plan, Table, reachable

_INLINE = ("const", "input", "sorted", "rank")
"""Nodes that are as short as a name."""


def number(value: float, *, nothing: str) -> str:
    """A number with all its digits; `nothing` stands for NaN."""
    if value != value:
        return nothing
    whole = int(value) if abs(value) < 1e15 else None
    return f"{whole}.0" if whole == value else repr(value)


@dataclass(frozen=True)
class Dialect:
    """What differs between languages that write formulas alike."""

    nothing: str
    """NaN."""
    number_type: str
    flag_type: str
    order: str
    """A template of statements that sort some values."""
    functions: Mapping[str, str]
    """Names of the functions for "min", "max", "exp", "sqrt" and "missing"."""
    index: str
    """A template that makes an index of a number."""
    array: str
    """A template that makes an array of values, of a kind: "table", "whole" or "number"."""


@dataclass
class Tables:
    """Arrays of constants, each written once."""

    names: dict[bytes, str] = field(default_factory=dict)
    values: dict[str, Iterable[float]] = field(default_factory=dict)

    def name(self, numbers: Iterable[float], key: bytes) -> str:
        """The name of an array."""
        if key not in self.names:
            self.names[key] = f"choquet_t{len(self.names)}"
            self.values[self.names[key]] = list(numbers)
        return self.names[key]

    def lines(self, begin: str, end: str, *, nothing: str) -> list[str]:
        """All arrays; `begin` is a template of the name and the number of values."""
        found = []
        for name, values in self.values.items():
            listed = [number(float(value), nothing=nothing) for value in values]
            rows = [f"  {', '.join(listed[k : k + 6])}," for k in range(0, len(listed), 6)]
            found += [begin.format(name=name, n=len(listed)), *rows, end]
        return found


def uses(nodes: Iterable[Node], roots: Iterable[Node]) -> Counter[int]:
    """How often each node is needed."""
    found = Counter(root.number for root in roots)
    for node in nodes:
        found.update(arg.number for arg in node.args)
    return found


def body(roots: list[Node], dialect: Dialect, tables: Tables) -> tuple[list[str], list[str]]:
    """Statements that name what is needed more than once, and the formulas of the roots."""
    nodes = reachable(roots)
    count = uses(nodes, roots)
    text: dict[int, str] = {}
    lines: list[str] = []
    for node in nodes:
        name = f"v{node.number}"
        if node.op == "order":
            listed = ", ".join(text[arg.number] for arg in node.args)
            lines += dialect.order.format(name=name, n=len(node.args), values=listed).split("\n")
            text[node.number] = name
            continue
        written = _text(node, text, dialect, tables)
        if count[node.number] > 1 and node.op not in _INLINE:
            kind = dialect.flag_type if node.is_flag else dialect.number_type
            lines.append(f"{kind} {name} = {written};")
            written = name
        text[node.number] = written
    return lines, [text[root.number] for root in roots]


def _text(node: Node, text: Mapping[int, str], dialect: Dialect, tables: Tables) -> str:
    args = [text[arg.number] for arg in node.args]
    signs = {"add": " + ", "sub": " - ", "mul": " * ", "div": " / ", "or": " || "}
    if node.op in signs:
        return f"({signs[node.op].join(args)})"
    if node.op in dialect.functions:
        return f"{dialect.functions[node.op]}({', '.join(args)})"
    match node.op:
        case "const":
            return number(node.data, nothing=dialect.nothing)
        case "input":
            return f"x[{node.data}]"
        case "less":
            return f"({args[0]} < {args[1]})"
        case "if":
            return f"({args[0]} ? {args[1]} : {args[2]})"
        case "step":
            points = tables.name(node.data, repr(node.data).encode())
            return f"choquet_step({args[0]}, {points}, {len(node.data)})"
        case "lookup":
            table: Table = node.data
            name = tables.name(table.values.tolist(), table.values.tobytes())
            return f"{name}[{dialect.index.format(args[0])}]"
        case "sorted":
            return f"{args[0]}_x[{node.data}]"
        case "rank":
            return f"{args[0]}_r[{node.data}]"
        case "prefix":
            rank, weights = node.data
            name = tables.name(weights, repr(weights).encode())
            return f"choquet_prefix({args[0]}_r, {name}, {len(weights)}, {rank})"
        case "form":
            return _form(node.data, args, dialect, tables)
    raise AssertionError(node.op)


def _form(form: Form, args: list[str], dialect: Dialect, tables: Tables) -> str:
    """A call of the helper: start, tables, columns and rows of each, indices, shares, matrix."""
    parts = [form.start, *form.bases, form.matrix]
    start, *bases, matrix = (
        tables.name(part.ravel().tolist(), np.ascontiguousarray(part).tobytes()) for part in parts
    )
    half = len(args) // 2
    shape = [
        value
        for base, n in zip(form.bases, form.counts, strict=True)
        for value in (base.shape[1], n)
    ]
    listed = [
        dialect.array.format(kind=kind, values=", ".join(values))
        for kind, values in (
            ("table", bases),
            ("whole", [str(value) for value in shape]),
            ("number", args[:half]),
            ("number", args[half:]),
        )
    ]
    size, first = len(form.matrix), len(form.start)
    given = ", ".join([start, str(first), *listed, str(len(bases)), matrix, str(size)])
    return f"choquet_form({given})"


def head(plan: Plan, target: str, use: str) -> list[str]:
    """Lines that say what the file is, without anything that the names of the data could break."""
    return [
        f"{plan.title}, exported by choquet to {target}.",
        f"{plan.meaning}",
        *plan.notes,
        "A value that is missing or infinite gives no answer, unless the model has learned what to",
        "do without it.",
        use,
    ]
