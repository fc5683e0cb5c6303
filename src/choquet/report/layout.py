"""Where things stand in the drawings: numbers only, the templates draw."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

MAX_HASSE = 6
"""Sources up to which all sets are drawn; beyond, the graph of contexts takes their place."""


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


def signed_bars(values: Sequence[float], *, width: float = 120.0) -> list[dict[str, float]]:
    """Bars to the right of a common zero for positive values, to the left for negative ones.

    Examples
    --------
    >>> signed_bars([-0.5, 1.0])
    [{'x': 0.0, 'width': 40.0, 'zero': 40.0}, {'x': 40.0, 'width': 80.0, 'zero': 40.0}]
    """
    low, high = min(0.0, *values), max(0.0, *values)
    unit = width / (high - low) if high > low else 0.0
    zero = -low * unit
    return [
        {"x": zero + min(value, 0.0) * unit, "width": abs(value) * unit, "zero": zero}
        for value in values
    ]


def reliability_points(
    rows: Sequence[Mapping[str, float]], *, size: float = 220.0
) -> dict[str, Any]:
    """Where points with their intervals stand in a square, and from where to where it goes.

    The square begins at the tenth below the least number shown, so that points near 1 stay apart.

    Parameters
    ----------
    rows : sequence of mappings
        With `told`, `right`, `low` and `high`, each in [0, 1].
    size : float, default 220

    Examples
    --------
    >>> drawn = reliability_points([{"told": 0.9, "right": 0.8, "low": 0.61, "high": 0.95}])
    >>> drawn["start"], drawn["points"], drawn["ticks"][1]["label"]
    (0.6, [{'x': 165.0, 'y': 110.0, 'low': 214.5, 'high': 27.5}], '80 %')
    """
    least = min(min(row["told"], row["low"]) for row in rows)
    start = min(math.floor(10 * least + 1e-9), 8) / 10

    def away(value: float) -> float:
        return round(size * (value - start) / (1 - start), 2)

    points = [
        {"x": away(row["told"]), **{to: round(size - away(row[key]), 2) for to, key in _UP.items()}}
        for row in rows
    ]
    ticks = [start, (1 + start) / 2, 1.0]
    return {
        "size": size,
        "start": start,
        "points": points,
        "line": " ".join(f"{point['x']},{point['y']}" for point in points),
        "ticks": [{"at": away(tick), "label": f"{100 * tick:.3g} %"} for tick in ticks],
    }


_UP = {"y": "right", "low": "low", "high": "high"}


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
    step = {4: 84.0, 5: 76.0, 6: 54.0}.get(n_sources, 96.0)
    character = 7.0
    height = 36.0 if n_sources <= 5 else 22.0
    width = max(widest * step, 240.0)
    nodes, places = [], {}
    for size, level in enumerate(levels):
        # Levels with fewer subsets, whose names are longer, take more room for each.
        room = min(1.7 * step, width / len(level))
        for k, subset in enumerate(level):
            x = width / 2 + (k - (len(level) - 1) / 2) * room
            y = height / 2 + 4 + (n_sources - size) * 88.0
            mask = sum(1 << i for i in subset)
            places[mask] = (x, y)
            label = "".join(str(i + 1) for i in subset) or "∅"
            half = max(len(label) * character / 2 + 4, 18.0 if n_sources <= 5 else 12.0)
            node = {"mask": mask, "x": x, "y": y, "half": half, "label": label}
            nodes.append({**node, "members": list(subset)})
    edges = [
        {"low": mask, "high": mask | 1 << i, "x1": x, "y1": y, "x2": up[0], "y2": up[1]}
        for mask, (x, y) in places.items()
        for i in range(n_sources)
        if not mask >> i & 1
        for up in [places[mask | 1 << i]]
    ]
    return {
        "width": width,
        "height": height + 8 + n_sources * 88.0,
        "node_height": height,
        "nodes": nodes,
        "edges": edges,
        # Two lines in a box need room.
        "with_values": n_sources <= 5,
    }
