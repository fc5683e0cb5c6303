"""Where things stand in the drawings: numbers only, the templates draw."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

from choquet.lattice import mask_of

__all__ = ["MAX_HASSE", "bars", "hasse", "signed_bar"]

MAX_HASSE = 7
"""Sources up to which the lattice is drawn; beyond, a walk is a list."""


def bars(weights: Sequence[float], *, height: float = 90.0, step: float = 34.0) -> dict[str, Any]:
    """Bars by rank above and below a common line.

    Examples
    --------
    >>> drawn = bars([0.25, 0.75])
    >>> [round(bar["height"], 3) for bar in drawn["bars"]], drawn["width"]
    ([22.5, 67.5], 68.0)
    """
    top = max(1.0, *weights) if weights else 1.0
    bottom = min(0.0, *weights) if weights else 0.0
    unit = height / (top - bottom)
    zero = top * unit
    # Many ranks share the width that a dozen would have.
    step = min(step, 12 * step / max(len(weights), 1))
    drawn = [
        {
            "x": k * step + step * 0.12,
            "y": zero - max(w, 0.0) * unit,
            "width": step * 0.76,
            "height": abs(w) * unit,
            "centre": (k + 0.5) * step,
            "value": w,
            "rank": k + 1,
        }
        for k, w in enumerate(weights)
    ]
    return {
        "width": step * len(weights),
        "height": height,
        "zero": zero,
        "bars": drawn,
        "labelled": step >= 20,
    }


def signed_bar(value: float, largest: float, *, width: float = 120.0) -> dict[str, float]:
    """A bar to the right of the middle for a positive value, to the left for a negative one.

    Examples
    --------
    >>> signed_bar(-0.5, 1.0)
    {'x': 30.0, 'width': 30.0}
    """
    half = width / 2
    length = half * min(abs(value) / largest, 1.0) if largest > 0 else 0.0
    return {"x": half if value >= 0 else half - length, "width": length}


def hasse(n_sources: int) -> dict[str, Any] | None:
    """Places of all subsets, ∅ at the bottom, and of the lines between neighbours.

    Nothing beyond `MAX_HASSE` sources: nobody could read it.

    Examples
    --------
    >>> drawn = hasse(2)
    >>> [node["label"] for node in drawn["nodes"]], len(drawn["edges"]), hasse(8)
    (['∅', '1', '2', '12'], 4, None)
    """
    if n_sources > MAX_HASSE:
        return None
    levels = [list(combinations(range(n_sources), size)) for size in range(n_sources + 1)]
    widest = max(len(level) for level in levels)
    step = {1: 90.0, 2: 90.0, 3: 90.0, 4: 76.0, 5: 62.0, 6: 46.0, 7: 33.0}[n_sources]
    radius = {5: 22.0, 6: 18.0, 7: 14.0}.get(n_sources, 25.0)
    rise = {6: 84.0, 7: 92.0}.get(n_sources, 88.0)
    width = max(widest * step + 2 * radius, 240.0)
    nodes, places = [], {}
    for size, level in enumerate(levels):
        for k, subset in enumerate(level):
            x = width / 2 + (k - (len(level) - 1) / 2) * step
            y = radius + 4 + (n_sources - size) * rise
            mask = mask_of(subset)
            places[mask] = (x, y)
            label = "".join(str(i + 1) for i in subset) or "∅"
            nodes.append({"mask": mask, "x": x, "y": y, "label": label, "members": list(subset)})
    edges = [
        {"low": mask, "high": mask | 1 << i, "x1": x, "y1": y, "x2": up[0], "y2": up[1]}
        for mask, (x, y) in places.items()
        for i in range(n_sources)
        if not mask >> i & 1
        for up in [places[mask | 1 << i]]
    ]
    return {
        "width": width,
        "height": 2 * radius + 8 + n_sources * rise,
        "radius": radius,
        "nodes": nodes,
        "edges": edges,
        # Two lines in a circle need room.
        "with_values": n_sources <= 5,
    }
