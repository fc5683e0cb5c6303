"""The table of curves: which of our tasks grow along what, and how fast they were found to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from benchmarks.peers.exponents import fit_exponent

__all__ = ["CURVES", "Curve", "key_of", "summarise"]

SHORTEST = 1e-3
"""Seconds below which a point is left out of a fit: fixed costs hide the growth there."""
LEAST = 2**20
"""The same for memory, in bytes: below it, what the interpreter does beside is of that size."""

SAMPLES = (100, 1000, 10_000, 100_000, 1_000_000)
SOURCES = tuple(range(4, 21, 2))
WALKS = (24, 120, 720, 5040, 40_320, 362_880)


@dataclass(frozen=True)
class Curve:
    """One row of the table.

    Attributes
    ----------
    title : str
        What is done.
    function : str
        In `benchmarks.peers.contenders.growth`.
    along : str
        "n_sources", "n_samples" or "n_walks": what grows.
    values, quick : tuple of int
        Along that, for the page and for a quick look, which leaves most curves out.
    group : str
        The picture that shows it.
    fixed : mapping
        The other sizes.

    Examples
    --------
    >>> next(CURVES["integral in N"].sizes(quick=False))
    {'n_sources': 4, 'n_samples': 10000}
    """

    title: str
    function: str
    along: str
    values: tuple[int, ...]
    quick: tuple[int, ...]
    group: str
    fixed: Mapping[str, int] = field(default_factory=dict)

    def sizes(self, quick: bool) -> Iterator[dict[str, int]]:
        """The sizes of its points, ascending."""
        for value in self.quick if quick else self.values:
            yield {self.along: value, **self.fixed}

    @property
    def small(self) -> dict[str, int]:
        """Sizes for the warm-up."""
        return {"n_sources": 4, "n_samples": 50, "n_walks": 24}

    def scale(self, value: int) -> float:
        """The size that the power is of: all 2^N subsets where sources grow."""
        return 2.0**value if self.along == "n_sources" else float(value)


def _in_sources(title: str, function: str, last: int, **fixed: int) -> Curve:
    values = tuple(n for n in SOURCES if n <= last)
    quick = (3, 5, 7) if function == "shapley" else ()
    return Curve(title, function, "n_sources", values, quick, "sources", fixed)


def _in_samples(title: str, function: str, group: str, n_sources: int) -> Curve:
    quick = (50, 100, 200) if n_sources == SOURCES[0] else ()
    return Curve(title, function, "n_samples", SAMPLES, quick, group, {"n_sources": n_sources})


def _in_walks(title: str, function: str, last: int) -> Curve:
    values = tuple(n for n in WALKS if n <= last)
    quick = (24, 120, 720) if function == "ivat" else ()
    return Curve(title, function, "n_walks", values, quick, "walks")


CURVES: Mapping[str, Curve] = {
    "integral in N": _in_sources(
        "Choquet integral of 10,000 rows", "integral", 20, n_samples=10_000
    ),
    "mobius in N": _in_sources("Möbius transform", "mobius", 20),
    "shapley in N": _in_sources("Shapley values", "shapley", 20),
    "interaction in N": _in_sources("interaction of all pairs", "interaction", 20),
    "graph in N": _in_sources("operator graph, no equal values", "graph_of_random", 18),
    "tied graph in N": _in_sources("operator graph, half tied", "graph_of_tied", 14),
    "statistics in N": _in_sources(
        "statistics of 10,000 rows", "statistics", 20, n_samples=10_000
    ),
    "integral in M": _in_samples("Choquet integral, 10 sources", "integral", "samples", 10),
    "statistics in M": _in_samples("statistics, 10 sources", "statistics", "samples", 10),
    "ivat in walks": _in_walks("iVAT: order and heights", "ivat", 362_880),
    "clodd in walks": _in_walks("CLODD on the picture", "clodd", 362_880),
    "decompose in walks": _in_walks("the whole decomposition", "decompose", 362_880),
    # Estimators other than least squares.
    "intervals in N": Curve(
        "intervals of 200 outputs", "intervals", "n_sources", (3, 4, 5, 6, 7), (3, 4), "sources",
        {"n_samples": 300},
    ),
    "decide in N": Curve(
        "decision among 12 alternatives", "decide", "n_sources", (3, 4, 5, 6, 7), (3,), "sources",
    ),
    "additive in M": Curve(
        "additive model, 6 sources", "additive", "n_samples", (100, 1000, 10_000), (100,),
        "samples", {"n_sources": 6},
    ),
    "averaged in N": Curve(
        "average over families, 1,000 rows", "averaged", "n_sources", (4, 6, 8, 10), (3,),
        "sources", {"n_samples": 1000},
    ),
    "contextual in M": Curve(
        "contextual model, 6 sources", "contextual", "n_samples", (100, 1000, 10_000), (100,),
        "samples", {"n_sources": 6},
    ),
    # Along M first: a data set that takes too long spares those that are larger.
    **{
        f"learning in M at N = {n}": _in_samples(f"learning, {n} sources", "learning", "rows", n)
        for n in SOURCES
    },
    **{
        f"learning in N at M = {m}": Curve(
            f"learning from {m:,} rows", "learning", "n_sources", SOURCES, (), "learning",
            {"n_samples": m},
        )
        for m in SAMPLES
    },
}  # fmt: skip
"""Curves by name. Points that curves share are measured once."""


def key_of(function: str, size: Mapping[str, int]) -> str:
    """The name of a point.

    Examples
    --------
    >>> key_of("learning", {"n_sources": 4, "n_samples": 100})
    'learning n_samples=100 n_sources=4'
    """
    return " ".join([function, *(f"{name}={size[name]}" for name in sorted(size))])


def summarise(points: Mapping[str, Mapping[str, Any]], *, quick: bool) -> dict[str, Any]:
    """Each curve as lists of its points, with the powers of time and memory.

    Examples
    --------
    >>> point = {"status": "ok", "seconds": 0.5, "memory": 0}
    >>> summarise({"shapley n_sources=4": point}, quick=False)["shapley in N"]["seconds"]
    [0.5]
    """
    found: dict[str, Any] = {}
    for name, curve in CURVES.items():
        at = [(size, points.get(key_of(curve.function, size))) for size in curve.sizes(quick)]
        known = [(size, point) for size, point in at if point is not None]
        if not known:
            continue
        done = [(size[curve.along], point) for size, point in known if point["status"] == "ok"]
        scales = [curve.scale(value) for value, _ in done]
        time = fit_exponent(scales, [point["seconds"] for _, point in done], floor=SHORTEST)
        memory = fit_exponent(scales, [point["memory"] for _, point in done], floor=LEAST)
        found[name] = {
            "title": curve.title,
            "along": curve.along,
            "group": curve.group,
            "values": [value for value, _ in done],
            "seconds": [point["seconds"] for _, point in done],
            "memory": [point["memory"] for _, point in done],
            "skipped": {
                str(size[curve.along]): point["reason"]
                for size, point in known
                if point["status"] != "ok"
            },
            "time_power": None if time is None else vars(time),
            "memory_power": None if memory is None else vars(memory),
        }
    return found
