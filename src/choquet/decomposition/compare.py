"""Decompositions side by side: operators matched, measures compared walk by walk."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from choquet.arrays import FloatArray, IntArray, generator
from choquet.decomposition.result import Decomposition
from choquet.errors import DataError
from choquet.measures import AbstractMeasure, check_measure
from choquet.operators.dissimilarity import Dissimilarity, Metric, as_dissimilarity
from choquet.walks import DataSupport, all_sorts, random_sorts, walk_weights

_MAX_LISTED = 8
"""Sources up to which all N! walks are compared."""


@dataclass(frozen=True, eq=False)
class Comparison:
    """Several decompositions on one scale.

    Attributes
    ----------
    names : tuple of str
        Of the decompositions.
    matches : tuple of arrays
        For each decomposition, the operator of the first that each of its operators is matched
        with, or -1 if it has no partner.
    distances : tuple of arrays
        Dissimilarity of each operator to its partner; NaN without one.
    measures : array of shape (n, n)
        Mean dissimilarity of the measures' operators, walk by walk.
    scale : float
        The largest of the decompositions' scales, for pictures side by side.
    metric : str
        Name of the dissimilarity.
    """

    names: tuple[str, ...]
    matches: tuple[IntArray, ...]
    distances: tuple[FloatArray, ...]
    measures: FloatArray
    scale: float
    metric: str


def compare(
    decompositions: Sequence[Decomposition],
    *,
    names: Sequence[str] | None = None,
    metric: Metric = "rms",
    support: DataSupport | None = None,
) -> Comparison:
    """Match operators between decompositions, and compare their measures walk by walk.

    Parameters
    ----------
    decompositions : sequence of Decomposition
        Two or more, of measures on the same sources.
    names : sequence of str, optional
        What to call them; 1, 2, … by default.
    metric : str, Dissimilarity or callable, default "rms"
        For operators and for walks; "emd" and "hellinger" are usual as well.
    support : DataSupport, optional
        Weight walks by how often data observed them, instead of all alike.

    Returns
    -------
    Comparison
        Which operator of each answers to which of the first, and how far the measures are apart.

    Examples
    --------
    >>> from choquet import Measure, compare, decompose
    >>> g = Measure([0, 0, 1, 1, 1, 1, 1, 1])
    >>> same = compare([decompose(g), decompose(g)])
    >>> same.matches[1], same.measures
    (array([0, 1]), array([[0., 0.],
           [0., 0.]]))
    """
    if len(decompositions) < 2:
        raise DataError(f"a comparison needs two decompositions or more, not {len(decompositions)}")
    first = decompositions[0]
    if any(d.measure is None for d in decompositions):
        raise DataError("only decompositions of measures can be compared walk by walk")
    if any(d.sources != first.sources for d in decompositions):
        raise DataError("only decompositions of the same sources, in one order, can be compared")
    n = len(decompositions)
    titles = tuple(map(str, range(1, n + 1))) if names is None else tuple(names)
    if len(titles) != n:
        raise DataError(f"{len(titles)} names were given for {n} decompositions")
    row = as_dissimilarity(metric)
    partners = [_match(row.matrix(other.weights, first.weights)) for other in decompositions]
    between = np.zeros((n, n))
    for i in range(n):
        for j in range(i):
            between[i, j] = between[j, i] = measure_distance(
                decompositions[i].measure, decompositions[j].measure, metric=row, support=support
            )
    return Comparison(
        names=titles,
        matches=tuple(match for match, _ in partners),
        distances=tuple(away for _, away in partners),
        measures=between,
        scale=max(_white(d, row) for d in decompositions),
        metric=row.name,
    )


def _white(decomposition: Decomposition, metric: Dissimilarity) -> float:
    """The dissimilarity drawn white in pictures: the largest possible, or the largest there is."""
    if decomposition.tree is None:
        return decomposition.clusters.scale
    measure, possible = decomposition.measure, metric.largest(decomposition.n_sources)
    if measure is not None and measure.monotone and measure.normal and np.isfinite(possible):
        return possible
    return float(metric.matrix(decomposition.weights, decomposition.weights).max()) or 1.0


def measure_distance(
    first: AbstractMeasure,
    second: AbstractMeasure,
    *,
    metric: Metric = "rms",
    support: DataSupport | None = None,
    n_walks: int = 20_000,
    rng: Any = 0,
) -> float:
    """Mean dissimilarity between the operators of two measures, walk by walk.

    Over all walks up to 8 sources, over walks drawn at random beyond; with a support, over the
    sorts that data observed, each as often as it was.

    References
    ----------
    Torra, Narukawa, Sugeno, Carlson (2013). Hellinger distance for fuzzy measures. EUSFLAT.

    Examples
    --------
    >>> from choquet import Measure
    >>> measure_distance(Measure([0, 0, 0, 1]), Measure([0, 1, 1, 1]), metric="emd")
    1.0
    """
    if check_measure(first).sources != check_measure(second).sources:
        raise DataError("only measures on the same sources, in one order, can be compared")
    n = first.n_sources
    weights: npt.NDArray[Any] | None = None
    if support is not None:
        sorts, weights = support.observed_sorts, support.sort_counts
        if not len(sorts):
            raise DataError(
                "the data observed no walk whole (all samples have ties); pass support=None"
            )
    elif n <= _MAX_LISTED:
        sorts = all_sorts(n)
    else:
        sorts = random_sorts(n, n_walks, generator(rng))
    row = as_dissimilarity(metric)
    V, W = walk_weights(first, sorts), walk_weights(second, sorts)
    if row.embeddable:
        difference = np.abs(row.embed(V) - row.embed(W))
        away = np.linalg.norm(difference, ord=row.p, axis=1) ** row.power
    else:
        away = np.array([row.matrix(v[None], w[None])[0, 0] for v, w in zip(V, W, strict=True)])
    return float(np.average(away, weights=weights))


def _match(away: FloatArray) -> tuple[IntArray, FloatArray]:
    """One-to-one partners with the smallest total dissimilarity."""
    from scipy.optimize import linear_sum_assignment

    rows, columns = linear_sum_assignment(away)
    match = np.full(len(away), -1, dtype=np.int64)
    distance = np.full(len(away), np.nan)
    match[rows], distance[rows] = columns, away[rows, columns]
    return match, distance
