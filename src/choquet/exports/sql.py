"""Plans as one SELECT of standard SQL.

Formulas that are needed more than once are columns of common table expressions, one stage after
another; MATERIALIZED keeps databases from writing them out again in each place. There is no join,
so rows keep the order in which the table gives them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from choquet.errors import OptionError
from choquet.exports.code import head, uses
from choquet.exports.plan import Column, Node, Plan, Table, reachable

_LEAVES = 6
"""Entries of a table that are compared one by one; more are halved first."""

_FLOAT = "DOUBLE PRECISION"


def sql_source(plan: Plan, table: str = "data") -> str:
    """One SELECT of a plan over a table; a dot stands between a schema and a table.

    Examples
    --------
    >>> from choquet import Measure
    >>> from choquet.exports.models import plan_of
    >>> print(sql_source(plan_of(Measure([0, 0, 0, 1]))).splitlines()[-1])
    FROM s2;
    """
    printer = _Stages(plan)
    use = "Run it with: sqlite3 data.db < FILE.sql, duckdb data.db < FILE.sql, or psql -f FILE.sql"
    lines = [
        f"-- {''.join(c if c.isprintable() else '.' for c in line)}"
        for line in head(plan, "SQL", use)
    ]
    return "\n".join([*lines, *printer.statement(_table(table))]) + "\n"


class _Stages:
    """Nodes by the stage whose columns they are."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.roots = list(plan.outputs.values())
        self.nodes = reachable(self.roots)
        self.named = self._named()
        self.stage: dict[int, int] = {}
        for node in self.nodes:
            below = max((self._ready(arg) for arg in node.args), default=0)
            self.stage[node.number] = 0 if node.op == "input" else below
        self.text: dict[int, str] = {}

    def _named(self) -> set[int]:
        """Nodes that have a column: those needed twice, or in a place that repeats them."""
        count = uses(self.nodes, self.roots)
        found = {
            node.number
            for node in self.nodes
            if node.op in ("input", "order")
            or (count[node.number] > 1 and node.op not in ("const", "less", "missing"))
        }
        for node in self.nodes:
            if node.op in ("lookup", "step", "order", "min", "max"):
                found |= {arg.number for arg in node.args if arg.op != "const"}
        return found

    def _ready(self, node: Node) -> int:
        """First stage at which a node can be used."""
        return self.stage[node.number] + (node.number in self.named)

    def statement(self, table: str) -> list[str]:
        """Lines of the SELECT."""
        last = max((self._ready(root) for root in self.roots), default=1)
        last = max(last, 1)
        lines, source = [], f"{table} AS d"
        for stage in range(last):
            columns = self._kept(stage) + self._made(stage)
            body = ",\n    ".join(columns) if columns else "1 AS one"
            lines.append(f"{'WITH ' if stage == 0 else ''}s{stage} AS MATERIALIZED (")
            lines.append(
                f"  SELECT\n    {body}\n  FROM {source}\n)" + ("," if stage < last - 1 else "")
            )
            source = f"s{stage}"
        self._fill(last)
        outputs = [f"  {self._output(name)} AS {_quoted(name)}" for name in self.plan.outputs]
        return [*lines, "SELECT", ",\n".join(outputs), f"FROM {source};"]

    def _output(self, name: str) -> str:
        text = self.text[self.plan.outputs[name].number]
        if name == "operator":
            # No operator is no number; elsewhere it is -1.
            return f"CAST(NULLIF({text}, -1) AS INTEGER)"
        return f"CAST({text} AS {'INTEGER' if name == 'supported' else _FLOAT})"

    def _columns(self, node: Node) -> list[str]:
        name = f"v{node.number}"
        return [f"{name}_{i}" for i in range(len(node.args))] if node.op == "order" else [name]

    def _kept(self, stage: int) -> list[str]:
        """Columns of earlier stages that this one or a later one hands on."""
        needed: set[int] = set()
        for node in self.nodes:
            if self.stage[node.number] > stage:
                needed |= self._direct(node)
        for root in self.roots:
            needed |= {root.number} if root.number in self.named else self._direct(root)
        return [
            column
            for node in self.nodes
            if node.number in needed and node.number in self.named
            if self.stage[node.number] < stage
            for column in self._columns(node)
        ]

    def _direct(self, node: Node) -> set[int]:
        """Named nodes that the text of a node mentions."""
        found: set[int] = set()
        for arg in node.args:
            if arg.number in self.named:
                found.add(arg.number)
                if arg.op == "order":
                    found |= {one.number for one in arg.args}
            else:
                found |= self._direct(arg)
        return found

    def _made(self, stage: int) -> list[str]:
        """Columns that are worked out at a stage."""
        self._fill(stage)
        found = []
        for node in self.nodes:
            if node.number not in self.named or self.stage[node.number] != stage:
                continue
            columns = self._columns(node)
            if node.op == "order":
                args = [self.text[arg.number] for arg in node.args]
                found += [f"{_rank(args, i)} AS {name}" for i, name in enumerate(columns)]
            elif node.is_flag:
                text = f"CASE WHEN {self.text[node.number]} THEN 1 ELSE 0 END"
                found.append(f"{text} AS {columns[0]}")
            else:
                found.append(f"{self.text[node.number]} AS {columns[0]}")
        return found

    def _fill(self, stage: int) -> None:
        """Texts of the nodes of a stage; those that earlier stages name are their columns."""
        for node in self.nodes:
            if node.number in self.named and self.stage[node.number] < stage:
                name = self._columns(node)[0]
                self.text[node.number] = f"({name} = 1)" if node.is_flag else name
            elif self.stage[node.number] <= stage:
                args = [self.text[arg.number] for arg in node.args]
                self.text[node.number] = _text(node, args, self.plan.columns)


def _rank(args: Sequence[str], i: int) -> str:
    before = [
        f"CASE WHEN {arg} {'>=' if j < i else '>'} {args[i]} THEN 1 ELSE 0 END"
        for j, arg in enumerate(args)
        if j != i
    ]
    return " + ".join(before) or "0"


def _text(node: Node, args: list[str], columns: Sequence[Column]) -> str:
    signs = {"add": " + ", "sub": " - ", "mul": " * ", "div": " / ", "or": " OR "}
    if node.op in signs:
        return f"({signs[node.op].join(args)})"
    match node.op:
        case "const":
            return _number(node.data)
        case "input":
            return _column(columns[node.data])
        case "exp" | "sqrt":
            # PostgreSQL would work with decimal digits otherwise.
            return f"{node.op.upper()}(CAST({args[0]} AS {_FLOAT}))"
        case "min" | "max":
            sign = "<" if node.op == "min" else ">"
            return f"CASE WHEN {args[0]} {sign} {args[1]} THEN {args[0]} ELSE {args[1]} END"
        case "less":
            return f"({args[0]} < {args[1]})"
        case "missing":
            return f"({args[0]} IS NULL)"
        case "if":
            return f"CASE WHEN {args[0]} THEN {args[1]} ELSE {args[2]} END"
        case "step":
            return _piecewise(args[0], [_number(p) for p in node.data], range(len(node.data) + 1))
        case "lookup":
            return _lookup(args[0], node.data)
        case "order":
            return f"v{node.number}"
        case "sorted":
            order = node.args[0]
            whens = " ".join(
                f"WHEN v{order.number}_{i} THEN v{one.number}"
                if one.op != "const"
                else f"WHEN v{order.number}_{i} THEN {_number(one.data)}"
                for i, one in enumerate(order.args)
            )
            return f"CASE {node.data} {whens} END"
        case "rank":
            return f"v{node.args[0].number}_{node.data}"
        case "prefix":
            rank, weights = node.data
            name = f"v{node.args[0].number}"
            parts = [
                f"CASE WHEN {name}_{i} <= {rank} THEN {weight} ELSE 0 END"
                for i, weight in enumerate(weights)
            ]
            return f"({' + '.join(parts)})"
    raise AssertionError(node.op)


def _lookup(index: str, table: Table) -> str:
    """A table as comparisons: only what can occur, equal neighbours together, halved."""
    places = np.arange(len(table.values)) if table.possible is None else np.asarray(table.possible)
    values = table.values[places]
    starts = np.flatnonzero(np.append(True, values[1:] != values[:-1]))
    bounds = [str(int(place)) for place in places[starts[1:]]]
    text = _piecewise(index, bounds, [_number(float(v)) for v in values[starts]])
    return f"CAST({text} AS {_FLOAT})"


def _piecewise(index: str, bounds: Sequence[str], values: Sequence[Any]) -> str:
    """One of some values by where a number lies between rising bounds."""
    if len(bounds) <= _LEAVES:
        whens = " ".join(
            f"WHEN {index} < {bound} THEN {value}"
            for bound, value in zip(bounds, values, strict=False)
        )
        return f"CASE {whens} ELSE {values[-1]} END" if bounds else str(values[-1])
    half = len(bounds) // 2
    low = _piecewise(index, bounds[:half], values[: half + 1])
    high = _piecewise(index, bounds[half + 1 :], values[half + 1 :])
    return f"CASE WHEN {index} < {bounds[half]} THEN {low} ELSE {high} END"


def _column(column: Column) -> str:
    """A column of the table as a number; NULL where it is missing, infinite or NaN."""
    # With the name of the table before it, a column that is not there is an error everywhere.
    name = f"d.{_quoted(column.name)}"
    if column.levels:
        whens = " ".join(
            f"WHEN {name} = {_literal(level)} THEN {k}" for k, level in enumerate(column.levels)
        )
        unknown = _number(column.unknown)
        return f"CASE WHEN {name} IS NULL THEN NULL {whens} ELSE {unknown} END"
    cast = f"CAST({name} AS {_FLOAT})"
    largest = _number(float(np.finfo(np.float64).max))
    return f"CASE WHEN {cast} BETWEEN -{largest} AND {largest} THEN {cast} END"


def _number(value: float) -> str:
    """A number with all its digits, as a float in every database: with an exponent."""
    if value != value:
        return "NULL"
    if value == int(value) and abs(value) < 1e15:
        return f"{int(value)}e0"
    text = repr(value)
    return text if "e" in text else f"{text}e0"


def _literal(level: Any) -> str:
    if isinstance(level, bool | np.bool_):
        return "TRUE" if level else "FALSE"
    if isinstance(level, int | float | np.number):
        return repr(level.item() if isinstance(level, np.number) else level)
    return "'" + _no_null(str(level)).replace("'", "''") + "'"


def _quoted(name: str) -> str:
    """A name that is no keyword and ends nothing: in double quotes, those inside doubled."""
    if not name:
        raise OptionError("a column without a name cannot be written in SQL; rename the column")
    return '"' + _no_null(name).replace('"', '""') + '"'


def _table(name: str) -> str:
    if not name or not all(name.split(".")):
        raise OptionError(f"table={name!r} is no name of a table; give one such as 'data'")
    return ".".join(_quoted(part) for part in name.split("."))


def _no_null(text: str) -> str:
    if "\0" in text or any(0xD800 <= ord(c) < 0xE000 for c in text):
        raise OptionError(f"{text!r} cannot be written in SQL; rename the column")
    return text
