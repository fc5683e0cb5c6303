"""What the page needs to compute by itself: who decides where, the measure, and the sliders."""

from __future__ import annotations

from typing import Any

import numpy as np

from choquet.arrays import FloatArray
from choquet.decomposition import Decomposition
from choquet.explanation.view import View
from choquet.lattice.ties import TIE
from choquet.scales import Units
from choquet.walks import all_sorts

_MAX_SOURCES = 12
"""Sources up to which the 2**N values travel with the page."""

_MAX_LISTED = 8
"""Sources up to which the operator of every sort does."""

_MAX_WEIGHTS = 20_000
"""Most numbers in the table of operators."""

_MAX_COMPARISONS = 200_000_000
"""Comparisons that unsupported sorts may cost when their similar sorts are looked for."""

_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"


def explorer_data(view: View, inputs: FloatArray | None, first: int = 0) -> dict[str, Any]:
    """Data of the explorer, with a note on what was left out.

    Operators of all sorts, in lexicographic order, are written with a fixed number of digits in
    base 36; "-" stands for a sort whose operator is not known. A tree travels as it is.

    Examples
    --------
    >>> from choquet import Measure
    >>> from choquet.explanation import view_of
    >>> data = explorer_data(view_of(Measure([0, 0, 1, 1, 1, 1, 1, 1])), None)
    >>> data["labels"] is None, data["note"]
    (True, None)
    """
    parts, outcome = view.parts, view.outcome
    sliders = slider_data(parts.n_sources, view.units, inputs, first)
    values = _value_data(view)
    if values is None and parts.tree is None:
        left_out = (
            f"The model has 2^{parts.n_sources} values, too many for a page. The explorer works "
            f"up to {_MAX_SOURCES} sources."
        )
        return {**sliders, "available": False, "note": left_out, "supported": None}
    few = parts.n_operators * parts.n_sources <= _MAX_WEIGHTS
    labels, width, tree, note = None, 1, None, None
    if parts.tree is not None:
        names = ("source", "top", "above", "value", "yes", "no")
        grown = parts.tree
        tree = {**{name: getattr(grown, name) for name in names}, "operator": parts.labels}
    elif few:
        labels, width = _labels(parts)
    if labels is None and tree is None:
        note = (
            "There are too many orders of the inputs to list the operator of each. The explorer "
            "shows the model's own weights, and the operator that the rules name."
        )
    linked = outcome is not None and outcome.probability([0.0]) is not None
    return {
        **sliders,
        "values": None,
        "supported": None,
        **(values or {}),
        "available": True,
        "tie": TIE,
        "note": note,
        "own": view.own is not None and values is not None,
        "weights": parts.rank_weights if few else None,
        "source_weights": parts.source_weights if few and parts.source_weights.any() else None,
        "biases": parts.biases if few else None,
        "bias": 0.0 if view.learned else float(parts.biases[0]),
        "labels": labels,
        "label_width": width,
        "tree": tree,
        "noise": _noise_data(view),
        "link": [outcome.slope, outcome.intercept] if outcome is not None and linked else None,
    }


def _noise_data(view: View) -> dict[str, Any] | None:
    """How large the noise is beside the usual, by inputs and output; None if it is alike."""
    noise = view.noise
    return None if noise is None else {"spans": noise.spans, "sizes": noise.sizes}


def _value_data(view: View) -> dict[str, Any] | None:
    """The values of the measure, which of them data support, and the bounds of the others."""
    measure, support = view.parts.measure, view.parts.support
    if measure is None or not measure.is_dense or measure.n_sources > _MAX_SOURCES:
        return None
    lower, upper, supported, _ = view.bounds or (None, None, None, None)
    return {
        "values": measure.values,
        "lower": lower if measure.monotone else None,
        "upper": upper if measure.monotone else None,
        "supported": None if supported is None else "".join("01"[int(k)] for k in supported),
        "tolerance": 0.0 if support is None else support.tolerance,
    }


def _labels(parts: Decomposition) -> tuple[str | None, int]:
    """Operators of all sorts as text, and how many digits each takes."""
    n = parts.n_sources
    if n > _MAX_LISTED:
        return None, 1
    sorts = all_sorts(n)
    labels = parts.contexts.labels_of_sorts(sorts)
    left_out = labels < 0
    candidates = 10_000 if parts.support is None else len(parts.support.sort_counts)
    if left_out.any() and int(left_out.sum()) * (candidates or 10_000) * n <= _MAX_COMPARISONS:
        labels = parts.operator_of_sorts(sorts)
    width = 1
    while 36**width < parts.n_operators:
        width += 1
    names = np.array([*(_base36(k, width) for k in range(parts.n_operators)), "-" * width])
    return "".join(names[labels].tolist()), width


def _base36(number: int, width: int) -> str:
    digits = ""
    for _ in range(width):
        number, digit = divmod(number, 36)
        digits = _DIGITS[digit] + digits
    return digits


def slider_data(
    n_sources: int, units: Units | None, inputs: FloatArray | None, first: int = 0
) -> dict[str, Any]:
    """Ends and start of each slider in the units of the data, and the span on the common scale.

    All sliders have one range on the common scale, because sources are compared on it: [0, 1], or
    what the data need if they leave it.

    Examples
    --------
    >>> import numpy as np
    >>> from choquet.scales import fit_scale
    >>> units = Units((fit_scale([10.0, 100.0]), fit_scale([0.0, 4.0], direction="lower")))
    >>> data = slider_data(2, units, None)
    >>> data["span"], data["ranges"], np.round(data["start"], 9).tolist()
    ([0.0, 1.0], [[10.0, 100.0], [0.0, 4.0]], [91.0, 3.6])
    """
    scaled = inputs if inputs is None or units is None else units.scaled(inputs)
    low, high = _span(units, scaled)
    order = np.arange(n_sources)
    start = low + (high - low) * (0.9 - 0.8 * order / max(n_sources - 1, 1)).round(4)
    ends = np.array([[low] * n_sources, [high] * n_sources])
    if units is not None:
        start = units.inputs(start)
        ends = np.sort(units.inputs(ends), axis=0)
        for k, scale in enumerate(units.scales):
            if not scale.affine:
                ends[:, k] = scale.points[[0, -1]]
    if inputs is not None and len(inputs):
        start = inputs[first]
        if units is not None:
            bent = [k for k, scale in enumerate(units.scales) if not scale.affine]
            ends[0, bent] = np.minimum(ends[0, bent], inputs[:, bent].min(axis=0))
            ends[1, bent] = np.maximum(ends[1, bent], inputs[:, bent].max(axis=0))
    return {
        "n_sources": n_sources,
        "span": [low, high],
        "ranges": [[float(a), float(b)] for a, b in ends.T],
        "start": [float(v) for v in start],
        "first": None if inputs is None or not len(inputs) else first,
        "units": None if units is None else units.to_dict(),
    }


def _span(units: Units | None, scaled: FloatArray | None) -> tuple[float, float]:
    low, high = 0.0, 1.0
    if units is not None:
        # Standardised columns lie about 0, as many below as above.
        low = min(low, *(float(scale.values.min()) for scale in units.scales))
        high = max(high, *(float(scale.values.max()) for scale in units.scales))
    if scaled is None or not len(scaled) or (scaled.min() >= low and scaled.max() <= high):
        return low, high
    low, high = float(scaled.min()), float(scaled.max())
    return low, high if high > low else low + 1.0
