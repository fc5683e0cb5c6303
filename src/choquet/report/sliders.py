"""Where the sliders of a page end, where they start, and how to read them."""

from __future__ import annotations

from typing import Any

import numpy as np

from choquet.arrays import FloatArray
from choquet.explanation.units import Units

__all__ = ["slider_data"]


def slider_data(n_sources: int, units: Units | None, inputs: FloatArray | None) -> dict[str, Any]:
    """Ends and start of each slider in the units of the data, and the span on the common scale.

    All sliders have one range on the common scale, because sources are compared on it: [0, 1], or
    what the data need if they leave it.

    Examples
    --------
    >>> import numpy as np
    >>> units = Units("minmax", np.array([10.0, 0.0]), np.array([90.0, 4.0]), "y", 0.0, 2.0)
    >>> data = slider_data(2, units, None)
    >>> data["span"], data["ranges"], data["start"]
    ([0.0, 1.0], [[10.0, 100.0], [0.0, 4.0]], [91.0, 0.4])
    """
    scaled = inputs if inputs is None or units is None else units.scaled(inputs)
    low, high = _span(units, scaled)
    order = np.arange(n_sources)
    start = low + (high - low) * (0.9 - 0.8 * order / max(n_sources - 1, 1)).round(4)
    ends = np.array([[low] * n_sources, [high] * n_sources])
    if units is not None:
        start, ends = units.inputs(start), units.inputs(ends)
    if inputs is not None and len(inputs):
        start = inputs[0]
    return {
        "n_sources": n_sources,
        "span": [low, high],
        "ranges": [[float(a), float(b)] for a, b in ends.T],
        "start": [float(v) for v in start],
        "units": None if units is None else units.to_dict(),
    }


def _span(units: Units | None, scaled: FloatArray | None) -> tuple[float, float]:
    # Standardised inputs lie about 0, as many below as above.
    low, high = (-2.0, 2.0) if units is not None and units.scaling == "standard" else (0.0, 1.0)
    if scaled is None or not len(scaled) or (scaled.min() >= low and scaled.max() <= high):
        return low, high
    low, high = float(scaled.min()), float(scaled.max())
    return low, high if high > low else low + 1.0
