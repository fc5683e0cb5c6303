"""`choquet.export`: a model written in another language."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from os import PathLike
from pathlib import Path
from typing import Any, Literal, NamedTuple

from choquet.arrays import check_option
from choquet.errors import ChoquetWarning, OptionError
from choquet.exports.c import c_source
from choquet.exports.javascript import js_source
from choquet.exports.models import plan_of
from choquet.exports.onnx_graph import DTYPES, onnx_bytes
from choquet.exports.plan import NO_INTERVAL, Plan
from choquet.exports.sql import sql_source
from choquet.files import check_target, write_whole


class Target(NamedTuple):
    """One row of the table of languages."""

    suffix: str
    """How files of it end."""
    write: Callable[..., bytes]
    """From a plan, and the options below, to the content of the file."""
    options: tuple[str, ...] = ()
    arrays: bool = True
    """Whether it has arrays and loops."""


def _text(source: Callable[..., str]) -> Callable[..., bytes]:
    def write(plan: Plan, **options: Any) -> bytes:
        return source(plan, **options).encode("utf-8")

    return write


TARGETS: dict[str, Target] = {
    "onnx": Target(".onnx", onnx_bytes, ("dtype",)),
    "sql": Target(".sql", _text(sql_source), ("table",), arrays=False),
    "js": Target(".js", _text(js_source)),
    "c": Target(".c", _text(c_source)),
}
"""Languages that models are written in."""


def export(
    model: Any,
    path: str | PathLike[str],
    to: Literal["onnx", "sql", "js", "c"],
    *,
    label: Any = None,
    table: str = "data",
    dtype: Literal["float64", "float32"] = "float64",
    overwrite: bool = False,
) -> Path:
    """Write a model as a file that runs without Python.

    Parameters
    ----------
    model : measure, decomposition, fitted estimator, or pipeline that ends in one
        Measures of up to 12 sources; decompositions and contextual models of up to 64; additive
        models; classifiers, whose output is a probability.
    path : str or path
        The file to write, whole or not at all.
    to : {"onnx", "sql", "js", "c"}
        An ONNX graph, one SELECT of standard SQL, one JavaScript module, or C99.
    label : object, optional
        Of a classifier: the class whose probability is the output. By default it is the second of
        two; of several, the output is the number of the most probable class.
    table : str, default "data"
        Of SQL: the table to select from.
    dtype : {"float64", "float32"}, default "float64"
        Of ONNX: the numbers that it takes and gives.
    overwrite : bool, default False
        Whether to replace a file that exists.

    Returns
    -------
    Path
        The file that was written.

    Raises
    ------
    TooLargeError
        If the model has too many sources; the message says what to export instead.
    OptionError
        If the language is not known, or the model cannot be exported.
    FileError
        If the file exists, or cannot be written.

    Examples
    --------
    >>> import os, tempfile
    >>> import choquet
    >>> g = choquet.Measure([0, 0, 1, 1, 1, 1, 1, 1], sources=["gpr", "ir", "emi"])
    >>> path = choquet.export(g, os.path.join(tempfile.mkdtemp(), "median.sql"), to="sql")
    >>> import sqlite3
    >>> base = sqlite3.connect(":memory:")
    >>> _ = base.execute("CREATE TABLE data (gpr REAL, ir REAL, emi REAL)")
    >>> _ = base.execute("INSERT INTO data VALUES (0.9, 0.4, 0.2), (0.1, 0.4, 0.2)")
    >>> base.execute(path.read_text()).fetchall()
    [(0.4, 1, 1), (0.4, 0, 1)]
    >>> base.close()
    """
    check_option("to", to, TARGETS)
    check_target(path, overwrite=overwrite)
    content = exported(model, to, label=label, table=table, dtype=dtype)
    return write_whole(path, content, overwrite=overwrite)


def exported(model: Any, to: str, *, label: Any = None, **options: Any) -> bytes:
    """The content of the file that `export` writes.

    Examples
    --------
    >>> from choquet import Measure
    >>> exported(Measure([0, 0, 0, 1]), "c").startswith(b"/* Measure of 2 sources")
    True
    """
    target = TARGETS[check_option("to", to, TARGETS)]
    if "dtype" in options:
        check_option("dtype", options["dtype"], DTYPES)
    given = {key: value for key, value in options.items() if key in target.options}
    plan = plan_of(model, label=label, arrays=target.arrays)
    if NO_INTERVAL in plan.notes:
        warnings.warn(
            f"the {to} file has no low and high: the band of this model has too many numbers for "
            "it; fit with max_terms=, or export to c, js or onnx",
            ChoquetWarning,
            stacklevel=3,
        )
    try:
        return target.write(plan, **given)
    except RecursionError:
        raise OptionError(
            f"this model is too deep to be written as {to}; decompose it into fewer operators"
        ) from None
