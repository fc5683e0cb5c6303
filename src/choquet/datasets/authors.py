"""Measures and sorts in the files of the paper's repositories, with their order checked."""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from choquet.arrays import FloatArray, IntArray, as_inputs, as_vector, check_option
from choquet.datasets.author_orders import MatchedRows, Reading, choose, match_rows, readings
from choquet.datasets.author_tables import Block, blocks_of
from choquet.datasets.uci import load_airfoil, load_auto_mpg, load_cpu, load_yacht
from choquet.errors import ChoquetWarning, DataError, MeasureError
from choquet.measures import Measure
from choquet.measures.orders import ORDERS, by_mask

FileOrder: TypeAlias = Literal["auto", "binary", "size", "sorts", "ranks"]
_SORTS = ("sorts", "ranks")
_LOADERS = {
    "yacht": load_yacht,
    "airfoil": load_airfoil,
    **dict.fromkeys(("auto", "autompg", "mpg"), load_auto_mpg),
    **dict.fromkeys(("cpu", "computer", "machine"), load_cpu),
}
"""Data sets of the package by the first word of a file's name."""


@dataclass(frozen=True, eq=False, repr=False)
class AuthorsFile:
    """What a file of the paper's repositories holds: measures, or sorts.

    Attributes
    ----------
    kind : {"measures", "sorts"}
        What was found in the file.
    order : str
        How it was read: "binary" or "size" for measures, "sorts" or "ranks" for sorts.
    values : array of shape (n_runs, 2**N)
        Values of the measures by bit mask, one row for each run; none for sorts.
    bias : array of shape (n_runs,)
        The constant that each run adds; 0 where the file has none.
    errors : array of shape (n_runs,)
        Test errors that the file tells; empty where it has none.
    sorts : array of shape (n_rows, N)
        Source numbers from 0, largest input first; none for measures.
    evidence : mapping from order to Reading or MatchedRows
        What was checked of each order.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> path = Path(tempfile.mkdtemp()) / "two.txt"
    >>> _ = path.write_text("0.2 0.5 1".replace(" ", chr(10)))
    >>> read_authors(path, order="binary")
    <AuthorsFile: 1 measure on 2 sources, read with order='binary'>
    """

    kind: Literal["measures", "sorts"]
    order: str
    values: FloatArray = field(default_factory=lambda: np.empty((0, 0)))
    bias: FloatArray = field(default_factory=lambda: np.empty(0))
    errors: FloatArray = field(default_factory=lambda: np.empty(0))
    sorts: IntArray = field(default_factory=lambda: np.empty((0, 0), dtype=np.int64))
    evidence: dict[str, Reading] | dict[str, MatchedRows] = field(default_factory=dict)

    @property
    def n_sources(self) -> int:
        """The number of sources."""
        width = int(self.values.shape[1])
        return self.sorts.shape[1] if self.kind == "sorts" else width.bit_length() - 1

    @cached_property
    def measures(self) -> tuple[Measure, ...]:
        """The measures, each monotone and normal if it is so."""
        return tuple(_measure(row) for row in self.values)

    def __len__(self) -> int:
        return len(self.sorts) if self.kind == "sorts" else len(self.values)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.sorts if self.kind == "sorts" else self.measures)

    def __getitem__(self, k: int) -> Any:
        return (self.sorts if self.kind == "sorts" else self.measures)[k]

    def __repr__(self) -> str:
        what = self.kind if len(self) != 1 else self.kind.removesuffix("s")
        return (
            f"<AuthorsFile: {len(self):,} {what} on {self.n_sources} sources, read with "
            f"order={self.order!r}>"
        )


def read_authors(
    path: str | os.PathLike[str],
    order: FileOrder = "auto",
    *,
    X: Any = None,
    y: npt.ArrayLike | None = None,
    sorts: npt.ArrayLike | None = None,
    variable: str | None = None,
) -> AuthorsFile:
    """Read measures or sorts as the paper's repositories keep them.

    Measures: one column for each run (or one row), the rows being the values of the subsets with or
    without the empty set; a further row is the bias. Numbers below an empty line or a heading are
    the runs' test errors. Sorts: one line for each sample, a permutation counted from 0 or 1.

    Parameters
    ----------
    path : path
        Text (.csv, .txt, .dat, .data, .tsv; any delimiter) or MATLAB (.mat up to version 7).
    order : {"auto", "binary", "size", "sorts", "ranks"}, default "auto"
        Of measures: "binary", by bit mask, or "size", by size and then lexicographically. Of sorts:
        "sorts", sources by decreasing input, or "ranks", the place of each source (the inverse).
        "auto" takes what the checks say, and is an error if they say nothing.
    X : array-like of shape (n_samples, N), optional
        The rows that the file was made from, on the scale of the measures. By default, where the
        name of the file begins with that of a data set in the package, its standardised rows.
    y : array-like of shape (n_samples,), optional
        Their targets: the right order predicts them.
    sorts : array-like of shape (n_rows, N), optional
        Sorts of training rows, from 0: the right order has no data where these have none.
    variable : str, optional
        The variable of a MATLAB file, where it holds several tables.

    Returns
    -------
    AuthorsFile
        With ``.measures`` or ``.sorts``, and in ``.evidence`` what was checked.

    Raises
    ------
    DataError
        If the file holds neither measures nor sorts, or "auto" cannot tell the order.
    FileError
        If it cannot be read.

    Warns
    -----
    ChoquetWarning
        If what can be checked speaks against the order that was given.

    References
    ----------
    Anderson et al. Fuzzy Integral = Contextual Linear Order Statistic; its measures are in the
    public repositories of the authors.

    Examples
    --------
    A monotone measure on three sources tells its order by itself.

    >>> import tempfile
    >>> from pathlib import Path
    >>> path = Path(tempfile.mkdtemp()) / "one.csv"
    >>> _ = path.write_text(chr(10).join("0 .1 .2 .5 .1 .3 .7 1".split()))
    >>> found = read_authors(path)
    >>> found.order, found[0]({0, 1})
    ('binary', 0.5)
    """
    check_option("order", order, ("auto", *ORDERS, *_SORTS))
    blocks = [b for b in blocks_of(path) if variable is None or b.label == variable]
    given: tuple[Any, ...] = (X, sorts)
    hint = next((np.shape(one)[1] for one in given if np.ndim(one) == 2), None)
    tables = [(block, table) for block in blocks if (table := _table(block, hint)) is not None]
    if not tables:
        shapes = "; ".join(f"{b.label or 'a table'} {b.numbers.shape}" for b in blocks) or "nothing"
        raise DataError(
            f"{path} holds neither measures (2**N values, with or without the empty set and a "
            f"bias) nor sorts (permutations): {shapes}"
        )
    if len(tables) > 1 and str(path).lower().endswith(".mat"):
        names = ", ".join(block.label for block, _ in tables)
        raise DataError(f"{path} holds several tables; pass variable= with one of {names}")
    chosen, table = tables[0]
    n_sources = table.n_sources
    carried = None if X is not None or y is not None else carried_rows(path, n_sources)
    rows = (None if carried is None else carried[0]) if X is None else as_inputs(X, n_sources)
    if table.kind == "sorts":
        ways = {"sorts": table.sorts, "ranks": np.argsort(table.sorts, axis=1)}
        matches = {name: match_rows(way, rows) for name, way in ways.items()}
        taken = _settle(order, _SORTS, _better_match(matches), str(path))
        return AuthorsFile("sorts", taken, sorts=ways[taken], evidence=matches)
    tested = [b.numbers[0] for b in blocks if b is not chosen and len(b.numbers) == 1]
    errors = next((t for t in tested if len(t) == len(table.values)), np.empty(0))
    known = None if sorts is None else _as_permutations(np.asarray(sorts, dtype=np.float64))
    if sorts is not None and known is None:
        raise DataError("sorts must be permutations of the source numbers, one in each row")
    if y is not None and rows is None:
        raise DataError("y= without X= says nothing; give the rows too")
    targets = None if carried is None else carried[1]
    if y is not None and rows is not None:
        targets = as_vector(y, "y", len(rows))
    found = readings(table.values, table.bias, rows, targets, known)
    taken = _settle(order, ORDERS, choose(found), str(path))
    values = found[taken].values
    return AuthorsFile("measures", taken, values, table.bias, errors, evidence=found)


def carried_rows(
    path: str | os.PathLike[str], n_sources: int
) -> tuple[FloatArray, FloatArray] | None:
    """Standardised rows and targets of the data set that a file is named after, or None.

    Examples
    --------
    >>> X, y = carried_rows("some/where/yacht_noreg.csv", 6)
    >>> X.shape, round(float(X.std()), 6), carried_rows("fish.csv", 6)
    ((308, 6), 1.0, None)
    """
    loader = _LOADERS.get(re.split(r"[^a-z]", Path(path).stem.lower())[0])
    if loader is None:
        return None
    bunch = loader()
    if bunch.data.shape[1] != n_sources:
        return None
    return standardised(bunch.data, bunch.target)


def standardised(X: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Columns and target with mean 0 and deviation 1, as the measures of the paper were learned.

    Examples
    --------
    >>> standardised(np.array([[1.0], [3.0]]), np.array([2.0, 4.0]))[1]
    array([-1.,  1.])
    """
    deviation = X.std(axis=0)
    scale = np.where(deviation > 0, deviation, 1.0)
    return (X - X.mean(axis=0)) / scale, (y - y.mean()) / (y.std() or 1.0)


def _table(block: Block, n_sources: int | None) -> AuthorsFile | None:
    """What a table holds, as it stands in the file; `n_sources` goes with what else was given."""
    numbers = block.numbers
    permutations = _as_permutations(numbers)
    if permutations is not None:
        return AuthorsFile("sorts", "sorts", sorts=permutations)
    # One column for each run, as the authors have it, unless the rows look more like it: an empty
    # set that is 0 in every run, or the number of sources, says which way the runs lie.
    ways = sorted((numbers.T, numbers), key=lambda runs: bool(runs[:, 0].any()))
    found = [fit for runs in ways if (fit := _as_values(runs)) is not None]
    found.sort(key=lambda fit: fit.n_sources != n_sources)
    return found[0] if found else None


def _as_permutations(numbers: FloatArray) -> IntArray | None:
    n = numbers.shape[1] if numbers.ndim == 2 else 0
    if n < 2:
        return None
    lowest = float(numbers.min())
    wanted = np.arange(n) + lowest
    if lowest not in (0.0, 1.0) or not (np.sort(numbers, axis=1) == wanted).all():
        return None
    return (numbers - lowest).astype(np.int64)


def _as_values(runs: FloatArray) -> AuthorsFile | None:
    """Runs in rows: 2**N values or, without the empty set, one less; a bias may follow."""
    length = runs.shape[1]
    n_values = length if runs[:, 0].any() else length - 1  # beside the empty set, and a bias or not
    if length < 3:
        return None
    if _is_power(n_values) and n_values >= 4:
        values, bias = by_mask(runs[:, :-1], "binary"), runs[:, -1].copy()
        return AuthorsFile("measures", "binary", values, bias)
    if _is_power(n_values + 1) or _is_power(length + 1):
        return AuthorsFile("measures", "binary", by_mask(runs, "binary"), np.zeros(len(runs)))
    return None


def _is_power(number: int) -> bool:
    return number >= 1 and number & (number - 1) == 0


def _settle(order: str, known: tuple[str, ...], says: tuple[str | None, str], path: str) -> str:
    """The order to take: that given, with a warning if the checks speak for another."""
    best, why = says
    if order == "auto":
        if best is None:
            raise DataError(
                f"nothing tells the order of {path}: {why}. Pass order={known[0]!r} or "
                f"{known[1]!r}, or the rows it was made from as X= and y="
            )
        return best
    if order not in known:
        choice = f"choose {known[0]!r} or {known[1]!r}"
        raise DataError(f"order={order!r} does not suit what {path} holds; {choice}")
    if best not in (None, order):
        warnings.warn(
            f"{path} is read with order={order!r}, but {why}", ChoquetWarning, stacklevel=3
        )
    return order


def _better_match(found: dict[str, MatchedRows]) -> tuple[str | None, str]:
    counts = {name: one.n_matched for name, one in found.items()}
    if any(count is None for count in counts.values()):
        return None, "permutations and their inverses look alike without rows to compare with"
    total = len(found["sorts"].sorts)
    why = ", ".join(f"as {name} {n} of {total} lines match the rows" for name, n in counts.items())
    best = max(counts, key=lambda k: counts[k] or 0)
    if counts["sorts"] == counts["ranks"]:
        return None, why
    return best, why


def _measure(values: FloatArray) -> Measure:
    """The measure of a run, with whatever of monotone and normal it is."""
    normal = abs(values[-1] - 1) <= 1e-12
    try:
        return Measure(values, normal=normal)
    except MeasureError:
        return Measure(values, monotone=False, normal=normal)
