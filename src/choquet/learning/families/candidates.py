"""Choice of prior and of its weight by cross-validation, with statistics shared between the folds.

Each fold's statistics are computed once; what to train on is the sum of the others, and the error
on a fold is a quadratic form. Nothing is predicted, and no row is looked at twice.

Shrinking without limit towards a family is the fit of that family itself, so the path from a
family's own fit to the full measure contains both, and cross-validation cannot lose to either by
more than its own noise.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from choquet.arrays import FloatArray
from choquet.lattice import upward_maximum
from choquet.learning.data.statistics import Statistics
from choquet.learning.families.fits import convex_weights
from choquet.learning.families.table import FAMILIES, PRIORS, Family
from choquet.learning.fill import fill_unsupported
from choquet.learning.problem import (
    MAX_LATTICE_SOURCES,
    Problem,
    least_squares,
    with_basis,
    with_penalty,
    with_prior,
)
from choquet.learning.solvers import Solution, solve
from choquet.learning.solvers.admm import poset, poset_handles
from choquet.measures import AbstractMeasure, Measure, SparseMeasure, SupportedMeasure

CAUTION = 0.5
"""Standard errors that an average must gain over the best family's own fit to depart from it."""


@dataclass(frozen=True, eq=False)
class Candidate:
    """A way to learn: no prior, or one with a weight alpha (infinite: nothing but the prior).

    `prior` is None, a name in `FAMILIES`, "l1", "l2", or a Measure.
    """

    prior: Any = None
    alpha: float = 0.0

    @property
    def name(self) -> str:
        """The prior's name; "given" for a measure."""
        if self.prior is None:
            return "none"
        return self.prior if isinstance(self.prior, str) else "given"


@dataclass(frozen=True, eq=False)
class Fitted:
    """Values of subsets, an intercept, and what a path of solutions goes on from."""

    values: Callable[[Any], FloatArray]
    intercept: float
    solution: Solution | None
    dense: FloatArray | None
    measure: AbstractMeasure | None = None


@dataclass(frozen=True, eq=False)
class Selection:
    """Candidates with their cross-validated mean squared errors, and what to make of them.

    Attributes
    ----------
    candidates : tuple of Candidate
    errors : array of shape (C,)
    best : Candidate
        The one of least error.
    weights : array of shape (C,)
        Convex weights of the average of least error: measures average to a measure.
    """

    candidates: tuple[Candidate, ...]
    errors: FloatArray
    best: Candidate
    weights: FloatArray


def fit_candidate(
    statistics: Statistics,
    candidate: Candidate,
    *,
    monotone: bool = True,
    normal: bool = True,
    fit_intercept: bool = False,
    start: Solution | None = None,
    rough: bool = False,
) -> Fitted:
    """Learn one candidate.

    Examples
    --------
    >>> X = np.random.default_rng(0).random((50, 3))
    >>> statistics = Statistics.from_data(X, X.mean(axis=1))
    >>> fit_candidate(statistics, Candidate("symmetric", np.inf)).dense.round(3)
    array([0.   , 0.333, 0.333, 0.667, 0.333, 0.667, 0.667, 1.   ])
    """
    n = statistics.n_sources
    shape = {"monotone": monotone, "normal": normal, "fit_intercept": fit_intercept}
    if n > MAX_LATTICE_SOURCES:
        return _fit_wide(statistics, candidate, shape, start, rough)
    prior, alpha = candidate.prior, candidate.alpha
    family = FAMILIES[prior] if isinstance(prior, str) and prior in PRIORS else None
    usual = monotone and normal and not fit_intercept and n > 1
    if family is not None and np.isinf(alpha) and (usual or family.basis is None):
        own = _every_value(family, statistics)
        # A formula is monotone as it stands; sums of weights are so but for rounding.
        return fitted_values(own if family.basis is None else closed(own), 0.0)
    problem = least_squares(statistics, **shape)
    if family is not None and family.basis is None:
        prior = _every_value(family, statistics)
    if isinstance(prior, Measure):
        prior = prior.values
    if isinstance(prior, np.ndarray) and np.isinf(alpha):
        return fitted_values(np.clip(prior, 0, None), 0.0)
    if isinstance(prior, str) and prior in ("l1", "l2"):
        penalty: dict[str, Any] = {prior: alpha}
        problem = with_penalty(problem, **penalty)
    elif prior is not None:
        basis = family.basis(n) if family is not None and family.basis is not None else None
        if basis is not None and np.isinf(alpha):
            problem = with_basis(problem, basis)
        else:
            problem = with_prior(problem, prior if basis is None else basis, alpha)
    solution = _run(problem, start, rough)
    values = solution.values
    if prior is None and monotone:
        supported = np.zeros(len(values), dtype=bool)
        supported[statistics.positions] = True
        values = fill_unsupported(values, supported)
    return fitted_values(values, solution.bias, solution)


def _every_value(family: Family, statistics: Statistics) -> FloatArray:
    """Values of a family's own fit by mask."""
    assert family.fit is not None
    words = np.arange(1 << statistics.n_sources, dtype=np.uint64)[:, None]
    return family.fit(statistics).measure.values_of(words)


def closed(values: FloatArray) -> FloatArray:
    """Rounding errors cleared out of what is a monotone normal measure in exact arithmetic."""
    found = np.clip(upward_maximum(values), 0.0, 1.0)
    found[-1] = 1.0
    return np.asarray(found)


def _run(problem: Problem, start: Solution | None, rough: bool) -> Solution:
    # Two or three digits of a cross-validated error are as many as its noise leaves.
    if rough and problem.n_sources > 5 and poset_handles(problem):
        return poset(problem, start=start, tolerance=3e-3, max_iterations=400)
    return solve(problem, start=start)


def fitted_values(values: FloatArray, intercept: float, solution: Solution | None = None) -> Fitted:
    """Values by mask as a fit."""
    return Fitted(lambda words: values[words[:, 0].astype(np.int64)], intercept, solution, values)


def _fit_wide(
    statistics: Statistics,
    candidate: Candidate,
    shape: dict[str, bool],
    start: Solution | None,
    rough: bool,
) -> Fitted:
    fit = FAMILIES[candidate.prior].fit if candidate.prior in PRIORS else None
    if fit is not None:
        own = fit(statistics).measure
        return Fitted(own.values_of, 0.0, None, None, own)
    problem = least_squares(statistics, dense=False, **shape)
    if candidate.prior in ("l1", "l2"):
        penalty: dict[str, Any] = {candidate.prior: candidate.alpha}
        problem = with_penalty(problem, **penalty)
    solution = _run(problem, start, rough)
    names, values = [f"x{i + 1}" for i in range(statistics.n_sources)], solution.values
    known: AbstractMeasure = SparseMeasure(problem.masks, values, names)
    if problem.monotone:
        total = float(values[-1])
        known = SupportedMeasure(problem.masks[:-1], values[:-1], names, total=total)
    return Fitted(known.values_of, solution.bias, solution, None, known)


def candidates_of(priors: Sequence[Any]) -> tuple[Candidate, ...]:
    """All measures, and the own fit of each family.

    Examples
    --------
    >>> [one.name for one in candidates_of(["additive", "symmetric"])]
    ['none', 'additive', 'symmetric']
    """
    return (Candidate(), *(Candidate(prior, np.inf) for prior in priors))


def select(
    folds: Sequence[tuple[Statistics, Statistics]],
    priors: Sequence[Any],
    alphas: Sequence[float],
    *,
    monotone: bool = True,
    normal: bool = True,
    fit_intercept: bool = False,
    n_paths: int = 2,
    run: Callable[[Sequence[Callable[[], FloatArray]]], Sequence[FloatArray]] | None = None,
) -> Selection:
    """Cross-validated error of candidates, and the best.

    Parameters
    ----------
    folds : sequence of (Statistics, Statistics)
        What to train on, and what to test on.
    priors : sequence
        See `Candidate`.
    alphas : sequence of float
        Tried from the largest to the smallest, each started from the one before.
    monotone, normal, fit_intercept : bool
        The problem.
    n_paths : int, default 2
        Every prior's own fit is tried; alphas only for this many priors that did best.
    run : callable, optional
        Calls a list of functions and returns their results; in sequence by default.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.random((60, 4))
    >>> y = X.mean(axis=1) + 0.1 * rng.standard_normal(60)
    >>> parts = [Statistics.from_data(X[k::3], y[k::3]) for k in range(3)]
    >>> folds = [(parts[1] + parts[2], parts[0]), (parts[0] + parts[2], parts[1])]
    >>> select(folds, ["additive", "symmetric"], [1.0]).best.name != "none"
    True
    """
    call = run or (lambda jobs: [job() for job in jobs])
    weight = max(sum(test.weight for _, test in folds), 1e-300)
    shape = {"monotone": monotone, "normal": normal, "fit_intercept": fit_intercept}

    def path(candidates: list[Candidate]) -> list[FloatArray]:
        """For each fold, one row of values and an intercept for each candidate."""

        def one(train: Statistics, test: Statistics) -> FloatArray:
            rows, start = [], None
            for candidate in candidates:
                found = fit_candidate(train, candidate, start=start, rough=True, **shape)
                start = found.solution
                rows.append(np.append(found.values(test.masks), found.intercept))
            return np.array(rows)

        return list(call([partial(one, train, test) for train, test in folds]))

    dense = folds[0][0].n_sources <= MAX_LATTICE_SOURCES
    penalties = [prior for prior in priors if prior in ("l1", "l2") and isinstance(prior, str)]
    families = [prior for prior in priors if not any(prior is p for p in penalties)]
    if not monotone:
        families = [p for p in families if not isinstance(p, str) or FAMILIES[p].basis is not None]
    tried = list(candidates_of(families))
    rows = [path([candidate]) for candidate in tried]
    errors = [_errors(folds, found)[0] / weight for found in rows]
    ranked = sorted(range(1, len(tried)), key=lambda k: errors[k])
    paths = [families[k - 1] for k in ranked[:n_paths]] if dense else []
    falling = sorted((float(s) for s in alphas), reverse=True)
    for prior in [*paths, *penalties] if falling else []:
        candidates = [Candidate(prior, alpha) for alpha in falling]
        rows.append(path(candidates))
        tried += candidates
    joined = [np.concatenate(parts) for parts in zip(*rows, strict=True)]
    found = _errors(folds, joined) / weight
    return Selection(
        tuple(tried),
        found,
        tried[int(np.argmin(found))],
        _average(folds, joined, found, range(1, 1 + len(families))),
    )


def _forms(test: Statistics, rows: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Quadratic and linear form of a fold's squared error in the weights of the candidates."""
    values, bias = rows[:, :-1], rows[:, -1]
    cross = np.outer(bias, values @ test.sums)
    square = values @ (test.gram @ values.T) + cross + cross.T
    square += test.weight * np.outer(bias, bias)
    return square, values @ test.targets + bias * test.target_sum


def _errors(folds: Sequence[tuple[Statistics, Statistics]], rows: list[FloatArray]) -> FloatArray:
    total = np.zeros(len(rows[0]))
    for (_, test), found in zip(folds, rows, strict=True):
        square, linear = _forms(test, found)
        total += np.diag(square) - 2 * linear + test.target_square
    return total


def _average(
    folds: Sequence[tuple[Statistics, Statistics]],
    rows: list[FloatArray],
    errors: FloatArray,
    simple: Sequence[int],
) -> FloatArray:
    """Convex weights of least cross-validated error, unless chance explains what they gain.

    The difference of two summed squared errors has the standard error 2σ times the distance of the
    predictions, so that much, times `CAUTION`, is the price of leaving the best simple candidate.
    The least of a quadratic plus a distance is also the least of the quadratic plus some multiple
    of the squared distance: a handful of multiples are tried, and the best is kept.
    """
    n = len(errors)
    square, linear = np.zeros((n, n)), np.zeros(n)
    for (_, test), found in zip(folds, rows, strict=True):
        more = _forms(test, found)
        square, linear = square + more[0], linear + more[1]
    plain = _mixture(square, linear)
    if not simple:
        return plain
    base = np.zeros(n)
    base[min(simple, key=lambda k: errors[k])] = 1.0
    sigma = np.sqrt(max(float(errors.min()), 0.0))

    def price(weights: FloatArray) -> float:
        away = weights - base
        far = np.sqrt(max(float(away @ square @ away), 0.0))
        error = float(weights @ square @ weights - 2 * linear @ weights)
        return error + CAUTION * 2 * float(sigma) * float(far)

    multiples = np.geomspace(0.03, 30, 11)
    options = [_mixture((1 + m) * square, linear + m * (square @ base)) for m in multiples]
    return min([base, plain, *options], key=price)


def _mixture(square: FloatArray, linear: FloatArray) -> FloatArray:
    """Convex weights w of least w'Sw - 2 l'w."""
    # The tiniest ridge decides between candidates that are the same.
    ridge = 1e-9 * float(np.trace(square)) / len(linear) * np.eye(len(linear))
    weights = convex_weights(2 * (square + ridge), -2 * linear)
    weights[weights < 1e-3] = 0.0
    return np.asarray(weights / weights.sum())
