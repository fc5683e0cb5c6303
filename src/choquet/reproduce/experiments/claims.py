"""Statements of the paper's first sections that are numbers or can be constructed."""

from __future__ import annotations

from math import factorial
from typing import Any

import numpy as np

from choquet.measures import Measure
from choquet.reproduce.experiments.fits import fit, operators_text
from choquet.reproduce.result import Row
from choquet.walks import DataSupport, OperatorGraph, all_sorts, sort_rank


def claims() -> tuple[list[Row], dict[str, Any]]:
    """Counts of variables and walks, the numbering of sorts, support, and locked intervals.

    Examples
    --------
    >>> rows, numbers = claims()
    >>> numbers["sizes"]["N = 20"]
    1048576
    """
    parts = {
        "sizes": _sizes(), "familiar": _familiar(), "sorts": _numbering(),
        "encountered": _support(), "locked_width": _locked(), "savings": _savings(),
    }  # fmt: skip
    return [row for row, _ in parts.values()], {key: found for key, (_, found) in parts.items()}


def _sizes() -> tuple[Row, Any]:
    sizes = {f"N = {n}": 2**n for n in (10, 20, 100)}
    right = sizes["N = 10"] == 1024 and sizes["N = 20"] == 1_048_576 and factorial(7) == 5040
    row = Row(
        "2^N variables: 1,024 for N = 10, 1,048,576 for N = 20, a nonillion for N = 100; "
        "N! = 5,040 walks for N = 7",
        f"{sizes['N = 10']:,}, {sizes['N = 20']:,}, {float(sizes['N = 100']):.2e}; "
        f"{factorial(7):,} walks, counted {len(all_sorts(7)):,}",
        "holds" if right and len(all_sorts(7)) == 5040 else "differs",
    )
    return row, sizes


def _familiar() -> tuple[Row, Any]:
    """Weights of a symmetric measure come back as the one operator of all its walks."""
    n = 5
    ends = np.eye(n)
    wanted = {"max": ends[0], "min": ends[-1], "mean": np.full(n, 1 / n), "median": ends[n // 2]}
    graphs = {name: OperatorGraph(Measure.symmetric(w)) for name, w in wanted.items()}
    found = {name: graph.operator(0).name for name, graph in graphs.items()}
    right = all(
        graph.n_operators == 1 and np.allclose(graph.operator(0).weights, wanted[name])
        for name, graph in graphs.items()
    )
    row = Row(
        "An order statistic is the integral of a measure with g(A) = g(B) for |A| = |B|: maximum, "
        "minimum, mean, median",
        f"N = {n}: one operator for {factorial(n)} walks each, named {', '.join(found.values())}",
        "holds" if right and found == {name: name for name in wanted} else "differs",
    )
    return row, found


def _numbering() -> tuple[Row, Any]:
    sorts = all_sorts(3)
    right = sorts[:2].tolist() == [[0, 1, 2], [0, 2, 1]] and np.array_equal(
        sort_rank(sorts), np.arange(6)
    )
    row = Row(
        "Sorts are numbered lexicographically: for N = 3 π1 is h1 ≥ h2 ≥ h3, π2 is h1 ≥ h3 ≥ h2",
        f"π1 to π6: {operators_text(sorts + 1, 0)}",
        "holds" if right else "differs",
    )
    return row, (sorts + 1).tolist()


def _support() -> tuple[Row, Any]:
    support = DataSupport.from_data([[0.5, 0.1, 0.9]])
    masks = np.flatnonzero(support.supported)
    seen = ["{" + ", ".join(f"x{i + 1}" for i in range(3) if m >> i & 1) + "}" for m in masks if m]
    row = Row(
        "N = 3, h3 > h1 > h2: g({x3}), g({x1, x3}) and g(X) are encountered",
        f"{', '.join(seen)} supported",
        "holds" if {int(m) for m in masks} - {0} == {0b100, 0b101, 0b111} else "differs",
    )
    return row, seen


def _locked() -> tuple[Row, Any]:
    """Samples of N walks, one led by each source, leave no freedom for the maximum."""
    n = 5
    rows = np.array([np.roll(np.linspace(0.9, 0.1, n), k) for k in range(n)])
    widths = {}
    for name, target in (("max", rows.max(axis=1)), ("min", rows.min(axis=1))):
        low, high = (fit(rows, target, fill=fill).measure_ for fill in ("lower", "upper"))
        widths[name] = float(np.abs(high.values - low.values).max())
    row = Row(
        "For the maximum and the minimum a few observed variables lock all others in place",
        f"N = {n}: {n} samples, one led by each source, leave intervals of width "
        f"{widths['max']:.0e} (maximum) and {widths['min']:.0e} (minimum)",
        "holds" if max(widths.values()) < 1e-5 else "differs",
    )
    return row, widths


def _savings() -> tuple[Row, Any]:
    small, large = 15 * 3, 2**15 - 1
    row = Row(
        "Three operators are 18 against 64 weights for N = 6; for N = 15 they are 45 against "
        "32,767, 0.1 %",
        f"{6 * 3} against {2**6}; {small} against {large:,}, {small / large:.2%}: right as "
        "arithmetic. What such a compression costs stands with Figures 7 and 8, and which sorts "
        "belong to which operator must be stored too",
        "holds" if f"{small / large:.1%}" == "0.1%" else "differs",
    )
    return row, {"operators": small, "values": large}
