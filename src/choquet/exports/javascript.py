"""Plans as one JavaScript module without dependencies."""

from __future__ import annotations

import json
from typing import Any

from choquet.exports.code import Dialect, Tables, body, head, number
from choquet.exports.plan import Node, Plan

_DIALECT = Dialect(
    nothing="NaN",
    number_type="const",
    flag_type="const",
    order="const [{name}_x, {name}_r] = choquet_order([{values}]);",
    functions={
        "min": "Math.min", "max": "Math.max", "exp": "Math.exp", "sqrt": "Math.sqrt",
        "missing": "!Number.isFinite",
    },
    index="{0}",
    array="[{values}]",
)  # fmt: skip

_HELPERS = """\
// Numbers sorted, largest first and ties by position, and the rank of each.
const choquet_order = (x) => {
  const places = x.map((_, i) => i).sort((a, b) => x[b] - x[a] || a - b);
  const ranks = new Array(x.length);
  places.forEach((i, rank) => { ranks[i] = rank; });
  return [places.map((i) => x[i]), ranks];
};
// Sum of the weights of the numbers up to a rank.
const choquet_prefix = (ranks, weights, n, rank) => {
  let sum = 0;
  for (let i = 0; i < n; i++) if (ranks[i] <= rank) sum += weights[i];
  return sum;
};
// How many of some rising points are not above a number.
const choquet_step = (x, points, n) => {
  let low = 0, high = n;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (points[middle] <= x) low = middle + 1; else high = middle;
  }
  return low;
};
// A quadratic form of a vector: some numbers, then rows of tables summed up by their shares.
const choquet_form = (start, nStart, bases, shape, index, share, nBases, matrix, n) => {
  const v = start.slice();
  let at = 0, sum = 0;
  for (let b = 0; b < nBases; b++) {
    const columns = shape[2 * b], rows = shape[2 * b + 1], part = new Array(columns).fill(0);
    for (let r = at; r < at + rows; r++)
      for (let c = 0; c < columns; c++) part[c] += share[r] * bases[b][index[r] * columns + c];
    v.push(...part);
    at += rows;
  }
  for (let i = 0; i < n; i++) {
    let line = 0;
    for (let j = 0; j < n; j++) line += matrix[i * n + j] * v[j];
    sum += line * v[i];
  }
  return sum;
};

const asNumber = (value, i) => {
  if (value === null || value === undefined) return NaN;
  if (levels[i] === null) {
    if (typeof value === "string")
      throw new TypeError(`${names[i]} must be a number, not ${JSON.stringify(value)}`);
    return Number(value);
  }
  const place = levels[i].indexOf(value);
  return place >= 0 ? place : value !== value ? NaN : unknown[i];
};
// A row, as an array or as an object by name, as numbers; what is missing is NaN.
const inputs = (row) => {
  if (Array.isArray(row) || ArrayBuffer.isView(row)) {
    if (row.length !== names.length)
      throw new RangeError(`a row needs ${names.length} values, not ${row.length}`);
    return Array.from(row, asNumber);
  }
  return names.map((name, i) => {
    if (!Object.prototype.hasOwnProperty.call(row, name))
      throw new RangeError(`the row has no ${JSON.stringify(name)}`);
    return asNumber(row[name], i);
  });
};
"""

_FUNCTIONS = {
    "output": "The answer; NaN if there is none.",
    "operator": "Number of the operator that decides, from 0; -1 if there is none.",
    "supported": "Whether data support all that the answer needs.",
    "interval": "Bounds of the answer over all that the data leave open: [low, high].",
    "probabilities": "Probabilities of the classes.",
}
"""What they give."""


def js_source(plan: Plan) -> str:
    """An ECMAScript module of a plan.

    Examples
    --------
    >>> from choquet import Measure
    >>> from choquet.exports.models import plan_of
    >>> text = js_source(plan_of(Measure([0, 0, 0, 1], sources=["ir", "emi"])))
    >>> "export const predict = (row) => {" in text
    True
    """
    tables = Tables()
    parts = [_function(name, roots, tables) for name, roots in plan.functions.items()]
    use = 'Use it with: import { predict } from "./FILE.js"; predict(row)'
    lines = [
        f"// {''.join(c if c.isprintable() else '.' for c in line)}"
        for line in head(plan, "JavaScript", use)
    ]
    levels = [list(column.levels) or None for column in plan.columns]
    unknown = [number(column.unknown, nothing="NaN") for column in plan.columns]
    return "\n".join(
        [
            *lines,
            f"export const names = {_json([column.name for column in plan.columns])};",
            *([f"export const classes = {_json(plan.classes)};"] if plan.classes else []),
            f"const levels = {_json(levels)};",
            f"const unknown = [{', '.join(unknown)}];",
            *tables.lines("const {name} = [", "];", nothing="NaN"),
            "",
            _HELPERS,
            *parts,
        ]
    )


def _function(output: str, roots: list[Node], tables: Tables) -> str:
    lines, found = body(roots, _DIALECT, tables)
    answer = f"[{', '.join(found)}]" if output in ("interval", "probabilities") else found[0]
    answer += " === 1" if output == "supported" else ""
    text = "\n".join(f"  {line}" for line in ["const x = inputs(row);", *lines])
    begin = f"// {_FUNCTIONS[output]}\nexport const {'predict' if output == 'output' else output}"
    return f"{begin} = (row) => {{\n{text}\n  return {answer};\n}};\n"


def _json(value: Any) -> str:
    """JSON, in which no text can end a script."""
    return json.dumps(value, default=str).replace("<", "\\u003c")
