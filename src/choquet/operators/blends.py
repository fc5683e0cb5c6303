"""Weights by source and by rank together: the shortest way to write them, and what to call them.

Σ a_i h_i + Σ w_j h_(j) stays the same when a number is taken from every a_i and added to every w_j,
for Σ h_i and Σ h_(j) are one sum. The split with the fewest weights that are not zero is the
shortest; of several, the one with the smallest absolute weights.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from choquet.arrays import FloatArray
from choquet.operators.names import FREE, MIXED, nearest_name, ranked

_ZERO = 1e-9
"""Weights up to so much of the largest are rounding of zero."""

_SAID = 5
"""Terms of a sum that a name spells out."""

HEARD = 0.005
"""Terms below so much of the largest are left out of a name."""

_SHARES = {
    0.5: "half", 1 / 3: "a third", 2 / 3: "two thirds", 0.25: "a quarter", 0.75: "three quarters",
}  # fmt: skip
"""Shares that have a word."""


def shortest_split(by_rank: FloatArray, by_source: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The same operator with as few weights as possible, by rank and by source.

    Where a mean can be said by ranks alone, it is.

    Examples
    --------
    >>> import numpy as np
    >>> shortest_split(np.array([-0.2, -0.2, 0.3]), np.array([0.7, 0.2, 0.2]))
    (array([0. , 0. , 0.5]), array([0.5, 0. , 0. ]))
    """
    size = max(float(np.abs(by_rank).max(initial=0)), float(np.abs(by_source).max(initial=0)))
    zero = _ZERO * max(size, 1e-300)
    shifts = np.concatenate([by_source, -by_rank, [0.0]])
    ranks = by_rank + shifts[:, None]
    sources = by_source - shifts[:, None]
    ranks[np.abs(ranks) <= zero] = 0.0
    sources[np.abs(sources) <= zero] = 0.0
    terms = (ranks != 0).sum(axis=1) + (sources != 0).sum(axis=1)
    # Of equally many terms those of one kind are read as one thing.
    mixed = (ranks != 0).any(axis=1) & (sources != 0).any(axis=1)
    sizes = np.abs(ranks).sum(axis=1) + np.abs(sources).sum(axis=1)
    best = min(
        range(len(shifts)),
        key=lambda k: (terms[k], mixed[k], round(sizes[k] / max(size, 1e-300), 6), k),
    )
    return ranks[best], sources[best]


def blend_name(
    by_rank: FloatArray, by_source: FloatArray, bias: float, sources: Sequence[str]
) -> str:
    """What to call an operator: its familiar name, or the terms that it adds up.

    Examples
    --------
    >>> import numpy as np
    >>> names, none = ["gpr", "ir", "emi"], np.zeros(3)
    >>> blend_name(np.array([0.0, 1.0, 0.0]), none, 0.0, names)
    'median'
    >>> blend_name(none, np.array([0.5, 0.3, 0.2]), 0.0, names)
    'weighted mean: 0.5 gpr + 0.3 ir + 0.2 emi'
    >>> blend_name(np.array([0.0, 0.0, 0.5]), np.array([0.5, 0.0, 0.0]), 0.0, names)
    'half of gpr, half of the smallest'
    >>> blend_name(none, np.array([1.0, 0.001, 0.0]), 0.0, names)
    'gpr'
    >>> blend_name(np.array([0.6, 0.1, 0.3]), none, 0.0, names)
    'about soft max: 0.6 largest + 0.3 smallest + 0.1 median'
    """
    n = len(by_rank)
    if not by_rank.any() and not by_source.any():
        return f"always {bias:.4g}"
    terms = [(float(w), sources[i], sources[i]) for i, w in enumerate(by_source) if w]
    terms += [(float(w), _rank(j, n), f"the {_rank(j, n)}") for j, w in enumerate(by_rank) if w]
    total, heard = sum(w for w, *_ in terms), HEARD * max(abs(w) for w, *_ in terms)
    # What is too small to be named does not change what the rest is called.
    terms = [term for term in terms if abs(term[0]) >= heard]
    shares = all(w > 0 for w, *_ in terms) and abs(total - 1) <= 1e-5
    if len(terms) == 1 and abs(bias) <= heard and _share(terms[0][0]) == "1":
        _, name, spoken = terms[0]
        return name if name == spoken else nearest_name(np.round(by_rank)).text
    added = f" {'-' if bias < 0 else '+'} {abs(bias):.4g}" if abs(bias) > heard else ""
    ranked = any(name != spoken for _, name, spoken in terms)
    if not by_source.any():
        nearest = nearest_name(by_rank)
        if nearest.text == nearest.nearest:
            return nearest.text + added
        title = "weighted ranks" if nearest.text in (MIXED, FREE) else nearest.text
    elif ranked:
        if shares and not added and len(terms) <= 3:
            return ", ".join(f"{_share(w)} of {spoken}" for w, _, spoken in terms)
        title = "weighted mean and ranks" if shares else "weighted sum and ranks"
    else:
        if len(terms) == 1 and shares:
            return terms[0][1] + added
        title = "weighted mean" if shares else "weighted sum"
    return f"{title}: {_sum(terms)}{added}"


def _rank(rank: int, n: int) -> str:
    """The input of a rank, from 0, counted from whichever end is nearer."""
    if n % 2 and rank == n // 2 and n > 1:
        return "median"
    return ranked(rank, n).removeprefix("1st ")


def _share(weight: float) -> str:
    for value, word in _SHARES.items():
        if abs(weight - value) <= 0.005:
            return word
    return f"{weight:.3g}"


def _sum(terms: list[tuple[float, str, str]]) -> str:
    """Terms by size, the smallest of many counted only."""
    heard = sorted(terms, key=lambda term: -abs(term[0]))
    said = heard if len(heard) <= _SAID + 1 else heard[:_SAID]
    text = ""
    for k, (weight, name, _) in enumerate(said):
        sign = ("-" if weight < 0 else "") if not k else (" - " if weight < 0 else " + ")
        text += f"{sign}{abs(weight):.3g} {name}"
    more = len(heard) - len(said)
    return text + (f" and {more} smaller ones" if more else "")
