"""What the page needs to compute by itself: the measure, its bounds, and who decides where."""

from __future__ import annotations

from typing import Any

import numpy as np

from choquet.decomposition import ClusterDecomposition
from choquet.explanation.collect import value_bounds
from choquet.measures import Measure
from choquet.walks import DataSupport, all_sorts

__all__ = ["explorer_data"]

_MAX_SOURCES = 12
"""Sources up to which the 2**N values travel with the page."""

_MAX_LISTED = 8
"""Sources up to which the operator of every sort does."""

_MAX_WEIGHTS = 20_000
"""Most numbers in the table of operators."""

_MAX_COMPARISONS = 200_000_000
"""Comparisons that unsupported sorts may cost when their similar sorts are looked for."""

_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"


def explorer_data(
    decomposition: ClusterDecomposition, support: DataSupport | None
) -> dict[str, Any]:
    """Data of the explorer, with a note on what was left out.

    Operators of all sorts, in lexicographic order, are written with a fixed number of digits in
    base 36; "-" stands for a sort whose operator is not known.

    Examples
    --------
    >>> from choquet import Measure, decompose
    >>> data = explorer_data(decompose(Measure([0, 0, 1, 1, 1, 1, 1, 1])), None)
    >>> data["labels"], data["note"]
    ('110000', None)
    """
    measure = decomposition.measure
    n = measure.n_sources
    if n > _MAX_SOURCES or not isinstance(measure, Measure):
        note = (
            f"The 2^{n} values of the measure are too many for a page, so it cannot compute by "
            f"itself beyond {_MAX_SOURCES} sources."
        )
        return {"available": False, "note": note}
    few = decomposition.n_operators * n <= _MAX_WEIGHTS
    labels, width = _labels(decomposition) if few else (None, 1)
    left_out = None
    if labels is None:
        left_out = (
            "The operator of every sort is too much for a page: the explorer shows the weights of "
            "each walk itself, and the operator that the rules name, if there are any."
        )
    lower, upper = (None, None) if support is None else value_bounds(measure, support)
    return {
        "available": True,
        "note": left_out,
        "values": measure.values,
        "lower": lower if measure.monotone else None,
        "upper": upper if measure.monotone else None,
        "supported": None if support is None else "".join("01"[int(k)] for k in support.supported),
        "tolerance": 0.0 if support is None else support.tolerance,
        "bias": decomposition.bias,
        "weights": decomposition.weights if few else None,
        "labels": labels,
        "label_width": width,
    }


def _labels(decomposition: ClusterDecomposition) -> tuple[str | None, int]:
    """Operators of all sorts as text, and how many digits each takes."""
    n = decomposition.measure.n_sources
    if n > _MAX_LISTED:
        return None, 1
    sorts = all_sorts(n)
    labels = decomposition.contexts.labels_of_sorts(sorts)
    left_out = labels < 0
    candidates = 10_000 if decomposition.support is None else len(decomposition.support.sort_counts)
    if left_out.any() and int(left_out.sum()) * (candidates or 10_000) * n <= _MAX_COMPARISONS:
        labels = decomposition.operator_of_sorts(sorts)
    width = 1
    while 36**width < decomposition.n_operators:
        width += 1
    names = np.array([*(_base36(k, width) for k in range(decomposition.n_operators)), "-" * width])
    return "".join(names[labels].tolist()), width


def _base36(number: int, width: int) -> str:
    digits = ""
    for _ in range(width):
        number, digit = divmod(number, 36)
        digits = _DIGITS[digit] + digits
    return digits
