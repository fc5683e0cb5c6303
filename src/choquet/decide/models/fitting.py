"""One measure from scores, from an order, from classes, or from the table alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp

from choquet.arrays import FloatArray, IntArray, check_option
from choquet.decide.models.capacities import quadratic_form, solve_quadratic
from choquet.decide.models.functionals import Functional, Integral, all_sets, sipos
from choquet.decide.models.program import Program
from choquet.errors import DataError, SolverError
from choquet.measures import Measure

_EXACT_FIT = 1e-9
"""A mean squared error up to this is none: then many measures fit."""


def fit_scores(
    program: Program,
    X: FloatArray,
    y: FloatArray,
    *,
    integral: Literal["choquet", "sipos"] = "choquet",
) -> tuple[FloatArray, FloatArray]:
    """Least squares to scores; of all measures that fit equally well, the one of least variance.

    Parameters
    ----------
    program : Program
        The measures that agree.
    X, y : arrays
        Rows and their scores.
    integral : {"choquet", "sipos"}, default "choquet"
        Which integral gives the scores.

    Returns
    -------
    point, fitted : arrays
        Coordinates, and the scores that the measure gives.
    """
    check_option("integral", integral, ["choquet", "sipos"])
    rows: list[Functional] = [sipos(x) if integral == "sipos" else Integral(x) for x in X]
    R = sp.csr_array(program.space.matrix(rows))
    point = solve_quadratic(program, 2 * (R.T @ R), -2 * (R.T @ y))
    return _smoothest(program, R, R @ point, point)


def _smoothest(
    program: Program, R: Any, fitted: FloatArray, point: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """The measure of least variance that gives the same scores."""
    room = np.full(len(fitted), 1e-9)
    rows = (sp.vstack([R, -R]), np.concatenate([fitted - room, -fitted - room]))
    try:
        found = _least_variance(program, rows)
    except SolverError:
        return point, fitted
    return found, R @ found


def _least_variance(program: Program, rows: tuple[Any, FloatArray]) -> FloatArray:
    Z, F = program.space.to_values, quadratic_form(program.space.n, "coefficients")
    return solve_quadratic(program, 2 * Z.T @ F @ Z, np.zeros(program.space.size), rows=rows)


def fit_ranking(
    program: Program,
    X: FloatArray,
    pairs: Sequence[tuple[int, int]],
    by: float | Sequence[float],
) -> tuple[FloatArray, FloatArray, float]:
    """Ranking or sorting least squares: free targets that keep an order, nearest to the scores.

    Parameters
    ----------
    program : Program
        The measures that agree.
    X : array of shape (n, N)
        Rows.
    pairs : sequence of pairs
        The first of each must have the larger target.
    by : float or sequence of float
        By how much.

    Returns
    -------
    point, targets : arrays
        Coordinates and targets.
    mse : float
        Mean squared difference of scores and targets; 0 if the order can be kept as it is.

    References
    ----------
    Marichal, Meyer, Roubens (2005). Sorting multi-attribute alternatives: the TOMASO method.
    Computers & Operations Research 32, 861-877.
    """
    m, space = len(X), program.space
    steps = np.broadcast_to(np.asarray(by, dtype=np.float64), len(pairs))
    scores = sp.csr_array(space.matrix([Integral(x) for x in X]))
    R = sp.csr_array(sp.hstack([scores, -sp.eye_array(m)]))
    order = np.zeros((len(pairs), m))
    for row, (a, b) in enumerate(pairs):
        order[row, a] += 1.0
        order[row, b] -= 1.0
    rows = (sp.hstack([sp.csr_array((len(pairs), space.size)), sp.csr_array(order)]), steps)
    found = solve_quadratic(program, 2 * (R.T @ R), np.zeros(R.shape[1]), further=m, rows=rows)
    mse = float(np.mean((R @ found) ** 2))
    if mse > _EXACT_FIT:
        near, targets = found[: space.size], found[space.size :]
        point, fitted = _smoothest(program, scores, scores @ near, near)
        return point, targets, float(np.mean((fitted - targets) ** 2))
    # The order can be kept as it is: of all measures that do, the one of least variance.
    point = _least_variance(program, (sp.csr_array(order @ scores.toarray()), np.array(steps)))
    return point, np.asarray(scores @ point), 0.0


def classes_of(scores: FloatArray, prototypes: FloatArray, classes: IntArray) -> IntArray:
    """Lowest and highest class of new scores, from scored prototypes of each class.

    A score between the prototypes of two classes, or where those of two overlap, gets both.

    Parameters
    ----------
    scores : array
        Of the new rows.
    prototypes, classes : arrays
        Scores of the prototypes and their classes; larger numbers are better.

    Examples
    --------
    >>> import numpy as np
    >>> classes_of(np.array([0.3, 0.55]), np.array([0.2, 0.4, 0.7]), np.array([1, 1, 2])).tolist()
    [[1, 1], [1, 2]]
    """
    labels = np.unique(classes)
    low = np.array([prototypes[classes == one].min() for one in labels])
    high = np.array([prototypes[classes == one].max() for one in labels])
    rounding = 1e-9
    found = []
    for score in scores:
        reached = np.flatnonzero(low <= score + rounding)
        within = np.flatnonzero(high >= score - rounding)
        ends = (reached[-1] if len(reached) else 0, within[0] if len(within) else len(labels) - 1)
        found.append([labels[min(ends)], labels[max(ends)]])
    return np.array(found, dtype=np.int64).reshape(-1, 2)


def entropy_measure(
    X: Any, *, sources: Sequence[str] | None = None, kind: str = "renyi", order: float = 1.0
) -> Measure:
    """A measure without any opinion: how much of the variety in a table each set of columns shows.

    Parameters
    ----------
    X : array-like of shape (n, N)
        Discrete data.
    sources : sequence of str, optional
        Names.
    kind : {"renyi", "havrda"}, default "renyi"
        Which entropy.
    order : float, default 1
        Its parameter; 1 is Shannon's entropy.

    References
    ----------
    Kojadinovic (2004). Unsupervised aggregation of commensurate correlated attributes by means of
    the Choquet integral and entropy functionals. International Journal of Intelligent Systems 19,
    1167-1184 (published 2008).

    Examples
    --------
    >>> entropy_measure([[0, 0], [1, 0], [0, 1], [1, 1]]).values
    array([0. , 0.5, 0.5, 1. ])
    """
    check_option("kind", kind, ["renyi", "havrda"])
    table = np.asarray(X)
    if table.ndim != 2 or not len(table):
        raise DataError("entropy needs rows and columns of discrete data")
    values = np.zeros(1 << table.shape[1])
    for mask, inside in enumerate(all_sets(table.shape[1])):
        if mask:
            _, counts = np.unique(table[:, inside], axis=0, return_counts=True)
            values[mask] = _entropy(counts / len(table), kind, order)
    if values[-1] <= 0:
        raise DataError("all rows are equal: there is nothing to tell them apart by")
    return Measure(np.maximum(values / values[-1], 0.0), sources)


def _entropy(p: FloatArray, kind: str, order: float) -> float:
    if order == 1:
        return float(-(p * np.log(p)).sum())
    power = float((p**order).sum())
    if kind == "renyi":
        return float(np.log(power) / (1 - order))
    return (1 - power) / (1 - 2 ** (1 - order))
