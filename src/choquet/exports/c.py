"""Plans as C99 without allocation."""

from __future__ import annotations

from choquet.exports.code import Dialect, Tables, body, head
from choquet.exports.plan import Node, Plan, reachable

_DIALECT = Dialect(
    nothing="NAN",
    number_type="const double",
    flag_type="const int",
    order=(
        "double {name}_x[{n}] = {{{values}}};\n"
        "int {name}_r[{n}];\n"
        "choquet_order({name}_x, {name}_r, {n});"
    ),
    functions={
        "min": "fmin", "max": "fmax", "exp": "exp", "sqrt": "sqrt", "missing": "!isfinite",
    },
    index="(int)({0})",
    array="(const choquet_{kind}[]){{{values}}}",
)  # fmt: skip

_HELPERS = {
    "choquet_order": """\
/* Sorts x, largest first and ties by position; r takes the rank of each number. */
static void choquet_order(double *x, int *r, int n) {
  double given[CHOQUET_MOST];
  int s[CHOQUET_MOST];
  for (int i = 0; i < n; i++) {
    int k = i;
    given[i] = x[i];
    while (k > 0 && given[s[k - 1]] < given[i]) { s[k] = s[k - 1]; k--; }
    s[k] = i;
  }
  for (int k = 0; k < n; k++) { x[k] = given[s[k]]; r[s[k]] = k; }
}
""",
    "choquet_form": """\
/* A quadratic form of a vector: some numbers, then rows of tables summed up by their shares. */
static double choquet_form(const double *start, int n_start, const choquet_table *bases,
                           const int *shape, const double *index, const double *share,
                           int n_bases, const double *matrix, int n) {
  double v[CHOQUET_FORM], sum = 0.0;
  int at = n_start;
  for (int i = 0; i < n_start; i++) v[i] = start[i];
  for (int b = 0; b < n_bases; b++) {
    const int columns = shape[2 * b], rows = shape[2 * b + 1];
    for (int c = 0; c < columns; c++) v[at + c] = 0.0;
    for (int r = 0; r < rows; r++) {
      const double *row = bases[b] + (int)index[r] * columns;
      for (int c = 0; c < columns; c++) v[at + c] += share[r] * row[c];
    }
    at += columns; index += rows; share += rows;
  }
  for (int i = 0; i < n; i++) {
    double line = 0.0;
    for (int j = 0; j < n; j++) line += matrix[i * n + j] * v[j];
    sum += line * v[i];
  }
  return sum;
}
""",
    "choquet_prefix": """\
/* Sum of the weights of the numbers up to a rank. */
static int choquet_prefix(const int *r, const double *weights, int n, int rank) {
  int sum = 0;
  for (int i = 0; i < n; i++) if (r[i] <= rank) sum += (int)weights[i];
  return sum;
}
""",
    "choquet_step": """\
/* How many of some rising points are not above a number. */
static int choquet_step(double x, const double *points, int n) {
  int low = 0, high = n;
  while (low < high) {
    const int middle = (low + high) / 2;
    if (points[middle] <= x) low = middle + 1; else high = middle;
  }
  return low;
}
""",
}

_FORM = """\
#define CHOQUET_FORM {n}
typedef const double *choquet_table;
typedef int choquet_whole;
typedef double choquet_number;"""

_FUNCTIONS = {
    "output": ("double choquet_predict(const double *x)", "The answer; NAN if there is none."),
    "operator": (
        "int choquet_operator(const double *x)",
        "Number of the operator that decides, from 0; -1 if there is none.",
    ),
    "supported": (
        "int choquet_supported(const double *x)",
        "1 where data support all that the answer needs, else 0.",
    ),
    "interval": (
        "void choquet_interval(const double *x, double *low, double *high)",
        "Bounds of the answer over all that the data leave open.",
    ),
    "probabilities": (
        "void choquet_probabilities(const double *x, double *p)",
        "Probabilities of the classes.",
    ),
}
"""Signatures, and what they give."""


def c_source(plan: Plan) -> str:
    """A C99 file of a plan.

    Examples
    --------
    >>> from choquet import Measure
    >>> from choquet.exports.models import plan_of
    >>> text = c_source(plan_of(Measure([0, 0, 0, 1], sources=["ir", "emi"])))
    >>> "double choquet_predict(const double *x) {" in text
    True
    """
    tables = Tables()
    code = "\n".join(_function(name, roots, tables) for name, roots in plan.functions.items())
    nodes = reachable(plan.outputs.values())
    most = max([len(node.args) for node in nodes if node.op == "order"], default=1)
    longest = max([len(node.data.matrix) for node in nodes if node.op == "form"], default=0)
    helpers = [text for name, text in _HELPERS.items() if f"{name}(" in code]
    return "\n".join(
        [
            _comment(head(plan, "C99", "Compile with: cc -std=c99 -O2 -c FILE.c (link with -lm).")),
            "#include <math.h>\n",
            f"#define CHOQUET_MOST {most}",
            *(_FORM.format(n=longest).split("\n") if longest else []),
            f"const int choquet_n_inputs = {plan.n_inputs};",
            _names("choquet_names", [column.name for column in plan.columns]),
            *([_names("choquet_classes", plan.classes)] if plan.classes else []),
            *tables.lines("static const double {name}[{n}] = {{", "};", nothing="NAN"),
            "",
            *helpers,
            code,
        ]
    )


def _function(name: str, roots: list[Node], tables: Tables) -> str:
    signature, about = _FUNCTIONS[name]
    lines, found = body(roots, _DIALECT, tables)
    if name == "interval":
        inside = [*lines, f"*low = {found[0]};", f"*high = {found[1]};"]
    elif name == "probabilities":
        inside = [*lines, *(f"p[{k}] = {one};" for k, one in enumerate(found))]
    else:
        inside = [*lines, f"return {found[0]};"]
    if not any("x[" in line for line in inside):
        inside.insert(0, "(void)x;")
    text = "\n".join(f"  {line}" for line in inside)
    return f"/* {about} */\n{signature} {{\n{text}\n}}\n"


def _names(variable: str, names: list[str] | tuple[str, ...]) -> str:
    listed = ", ".join(_quoted(name) for name in names)
    return f"const char *const {variable}[{len(names)}] = {{{listed}}};"


def _quoted(name: str) -> str:
    r"""A name as a C string: what is no plain letter, digit or space becomes an octal escape.

    Examples
    --------
    >>> print(_quoted('a "b" ??/ */'))
    "a \042b\042 \077\077\057 \052\057"
    """
    plain = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 _-.,:()")
    content = name.encode("utf-8", "surrogatepass")
    return '"' + "".join(chr(one) if one in plain else f"\\{one:03o}" for one in content) + '"'


def _comment(lines: list[str]) -> str:
    """A comment that no name can end, nor make a compiler look twice."""
    safe = [
        "".join(c if c.isascii() and c.isprintable() and c not in "*?\\" else "." for c in line)
        for line in lines
    ]
    return "/* " + "\n   ".join(safe) + " */"
