"""Families weighed by how well they predict the data before seeing them, and their mean measures.

A least squares fit takes one measure of a family. Here the whole family is averaged, every measure
with its probability given the data: uniform over the family beforehand, normal noise of unknown
variance. The mean of measures is a measure; it over-fits far less than the best one.

How probable the data are under a family (its evidence) comes from the same Markov chain, run at
tempers between the prior and the posterior: d log Z / d temper is minus the mean of W/2 log RSS.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
import scipy.sparse as sp

from choquet.arrays import FloatArray
from choquet.errors import SolverWarning
from choquet.lattice import subset_sizes, upward_maximum
from choquet.learning.bases import k_additive_basis
from choquet.learning.families import fit_lambda, members_of, ranks_of
from choquet.learning.fill import fill_unsupported
from choquet.learning.problem import least_squares
from choquet.learning.solvers import solve
from choquet.learning.statistics import Statistics

__all__ = ["POSTERIORS", "Posterior", "posterior", "posterior_weights"]

FLOOR = 1e-10
"""Least variance of the noise, as a share of the mean square of the targets."""
RUNGS = 20
TEMPERS = (np.arange(RUNGS + 1) / RUNGS) ** 5
SHARES = (0.15, 0.4)
"""Of evidence and of predictive criterion in the weights; chosen by trial, as `LOG_ODDS` were."""
LOG_ODDS = {"symmetric": 2.0, "lambda": 2.0, "2-additive": 0.0, "none": -1.0, "additive": -3.0}
"""Beforehand, in logarithms. Additive measures are λ-measures as well: on their own, seldom."""
QUIET = 1e-4
"""Where less than this share of the mean square of the targets is left, there may be no noise."""
CURVE_SCALE = 3.0
"""Mean size of the curve c = log(1 + λ) beforehand."""
STATES = 400
"""Measures that the mean of a λ family is made of, at least."""
SHARE_SPREAD = 0.3
"""Standard deviation of the logarithms of shares beforehand, about; data can make it larger."""


@dataclass(frozen=True, eq=False)
class Posterior:
    """What is believed of a family after the data.

    Attributes
    ----------
    values : array of shape (2**N,)
        The mean measure, by mask.
    evidence : float
        Log probability of the data, up to a constant that all families share.
    predictive : float
        The deviance criterion: minus half of the deviance of the mean measure, minus the effective
        number of parameters.
    n_effective : float
        That number: twice the mean energy less twice the energy of the mean.
    """

    values: FloatArray
    evidence: float
    predictive: float
    n_effective: float


def posterior(statistics: Statistics, family: str, *, rng: Any = 0) -> Posterior:
    """Mean measure and evidence of a family.

    Parameters
    ----------
    statistics : Statistics
        The data; at most 16 sources.
    family : str
        A row of `POSTERIORS`; "none" is all monotone measures.
    rng : seed or numpy.random.Generator
        Where the randomness comes from.

    References
    ----------
    Friel & Pettitt (2008), "Marginal likelihood estimation via power posteriors", for the ladder;
    Gelfand, Smith & Lee (1992), "Bayesian analysis of constrained parameter and truncated data
    problems using Gibbs sampling"; Spiegelhalter, Best, Carlin & van der Linde (2002), "Bayesian
    measures of model complexity and fit".

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.random((100, 3))
    >>> statistics = Statistics.from_data(X, np.sort(X)[:, 1] + 0.05 * rng.standard_normal(100))
    >>> owa, mean = posterior(statistics, "symmetric"), posterior(statistics, "additive")
    >>> bool(owa.evidence > mean.evidence + 10), owa.values[[1, 3]].round(1)
    (True, array([0., 1.]))
    """
    generator = np.random.default_rng(rng)
    floor = FLOOR * max(statistics.target_square, 1e-300)
    values, energies, last = POSTERIORS[family](statistics, floor, generator)
    values = np.clip(upward_maximum(values), 0.0, 1.0)
    values[0], values[-1] = 0.0, 1.0
    weight = statistics.weight
    own = 0.5 * weight * np.log(statistics.squared_error(values) + floor)
    extra = max(2 * (last - own), 0.0)
    evidence = -float(np.trapezoid(energies, TEMPERS))
    found = Posterior(values, evidence, -float(own + extra), float(extra))
    if family == "none" and np.exp(2 * last / weight) < QUIET * statistics.target_square:
        return _quiet(statistics, floor, found)
    return found


def posterior_weights(names: Sequence[str], found: Sequence[Posterior]) -> FloatArray:
    """Weights of families from evidence and predictive criterion, with `SHARES`, and `LOG_ODDS`.

    Evidence alone finds a simple family that is exactly right, but asks much before it leaves one
    that is almost right; the predictive criterion is the other way round. The shares sum to about
    a half, which is a hedge: the criteria are themselves known only up to chance.

    Examples
    --------
    >>> sure, poor = Posterior(np.zeros(2), 9.0, 9.0, 1.0), Posterior(np.zeros(2), 1.0, 3.0, 1.0)
    >>> posterior_weights(["lambda", "symmetric"], [sure, poor]).round(3)
    array([0.973, 0.027])
    """
    score = np.array(
        [
            SHARES[0] * one.evidence + SHARES[1] * one.predictive + LOG_ODDS[name]
            for name, one in zip(names, found, strict=True)
        ]
    )
    weights = np.exp(score - score.max())
    return np.asarray(weights / weights.sum())


def _quiet(statistics: Statistics, floor: float, found: Posterior) -> Posterior:
    """What a chain found, or the least squares fit, if that leaves no error at all.

    Chains creep where there is no noise to move them. With more rows than values the fit is the
    measure itself; with fewer, it gets a share that grows with the rows.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SolverWarning)
        values = solve(least_squares(statistics)).values
    error = statistics.squared_error(values)
    if error > 100 * floor:
        return found
    seen = np.zeros(len(values), dtype=bool)
    seen[statistics.positions] = True
    values = fill_unsupported(values, seen)
    n_seen = len(statistics.masks)
    if statistics.n_samples > n_seen:
        score = -0.5 * statistics.weight * float(np.log(error + floor))
        # The chains of other families that fit exactly shrink to the floor: so would this one.
        shrunk = 0.5 * float(np.log(1 / FLOOR))
        return Posterior(values, score - shrunk * n_seen, score - n_seen, float(n_seen))
    share = (statistics.n_samples / n_seen) ** 2
    return replace(found, values=share * values + (1 - share) * found.values)


def _noise(statistics: Statistics, rng: np.random.Generator) -> tuple[int, int, FloatArray]:
    """Sweeps on each rung and on the last one (fewer where a sweep is long), and gamma numbers."""
    length, last = (100, 2000) if statistics.n_sources <= 8 else (25, 500)
    shapes = 0.5 * statistics.weight * TEMPERS[:, None]
    return length, last, np.maximum(rng.standard_gamma(shapes, (len(TEMPERS), last)), 1e-200)


def _seed(rng: np.random.Generator) -> np.uint64:
    return rng.integers(2**64, dtype=np.uint64)


def _all(
    statistics: Statistics, floor: float, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray, float]:
    from choquet.learning._kernels_chains import lattice_chain

    n = statistics.n_sources
    at, size = statistics.positions, 1 << n
    gram = sp.coo_array(statistics.gram)
    form = sp.csr_array((gram.data, (at[gram.row], at[gram.col])), shape=(size, size))
    form.sort_indices()
    targets = np.zeros(size)
    targets[at] = statistics.targets
    start = subset_sizes(n) / n
    total, energies, count = lattice_chain(
        form.indptr.astype(np.int32), form.indices.astype(np.int32), form.data, targets,
        statistics.target_square, statistics.weight, start, n, TEMPERS,
        *_noise(statistics, rng), floor, _seed(rng),
    )  # fmt: skip
    return total / count, energies, float(energies[-1])


def _linear(
    pattern: Callable[[Any, int], Any], with_pairs: bool
) -> Callable[[Statistics, float, np.random.Generator], tuple[FloatArray, FloatArray, float]]:
    """Chain over the measures pattern @ m, m with or without pairs: see `simplex_chain`."""

    def run(
        statistics: Statistics, floor: float, rng: np.random.Generator
    ) -> tuple[FloatArray, FloatArray, float]:
        from choquet.learning._kernels_chains import simplex_chain

        n = statistics.n_sources
        every = pattern(np.arange(1 << n, dtype=np.uint64)[:, None], n)
        seen = every[statistics.positions]
        form = seen.T @ (statistics.gram @ seen)
        form = form.toarray() if sp.issparse(form) else np.asarray(form)
        form = np.ascontiguousarray(0.5 * (form + form.T))
        size = len(form)
        pairs = np.full((n, n), -1)
        if with_pairs:
            for k, (i, j) in enumerate(combinations(range(n), 2)):
                pairs[i, j] = pairs[j, i] = n + k
        start = np.zeros(size)
        start[:n] = 1.0 / n
        steps = _directions(form)
        images = steps @ form
        total, energies, count = simplex_chain(
            form, np.asarray(seen.T @ statistics.targets), statistics.target_square,
            statistics.weight, start, steps, images, (steps * images).sum(axis=1), pairs, n,
            TEMPERS, *_noise(statistics, rng), floor, _seed(rng),
        )  # fmt: skip
        return np.asarray(every @ (total / count)), energies, float(energies[-1])

    return run


def _directions(form: FloatArray) -> FloatArray:
    """Rows that sum to zero and hardly interact in the form, so that steps along them mix fast."""
    size = len(form)
    free = np.vstack([-np.ones(size - 1), np.eye(size - 1)])
    inner = free.T @ form @ free
    inner += 1e-4 * np.trace(inner) / max(size - 1, 1) * np.eye(size - 1)
    return np.ascontiguousarray((free @ np.linalg.inv(np.linalg.cholesky(inner)).T).T)


def _curve(
    statistics: Statistics, floor: float, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray, float]:
    from choquet.learning._kernels_chains import bend, curve_chain

    n = statistics.n_sources
    inside = members_of(np.arange(1 << n, dtype=np.uint64)[:, None], n)
    fit = fit_lambda(statistics)
    shares = np.maximum(fit.shares, 1e-5)
    start = np.append(np.log(shares / shares.mean()), np.clip(fit.curve, -50.0, 50.0))
    at = statistics.positions
    base = np.empty(len(inside))
    bend(inside, start, base)
    bent = np.empty((n + 1, len(inside)))
    for k, nudge in enumerate(start + 1e-4 * np.eye(n + 1)):
        bend(inside, nudge, bent[k])
    slopes = ((bent - base) / 1e-4)[:, at].T
    curvature = slopes.T @ (statistics.gram @ slopes)
    variance = (statistics.error_of(base[at]) + floor) / statistics.weight
    prior = np.diag(np.append(np.ones(n), 1 / CURVE_SCALE**2))
    falling = TEMPERS[::-1]
    shapes = np.array(
        [np.linalg.cholesky(np.linalg.inv(t * curvature / variance + prior)) for t in falling]
    )
    upper = sp.csr_array(2 * sp.triu(statistics.gram) - sp.diags_array(statistics.information))
    # One step costs as much as the form has entries: about a second's worth in all.
    budget = int(np.clip(1.2e9 / max(upper.nnz + 20 * len(inside), 1), 2_500, 30_000))
    length, last = budget * 2 // 3 // RUNGS, budget // 3
    n_steps = RUNGS * length + last
    states, energies = curve_chain(
        upper.indptr.astype(np.int32), upper.indices.astype(np.int32), upper.data,
        statistics.targets, statistics.target_square, statistics.weight,
        np.ascontiguousarray(inside[at]), start, CURVE_SCALE, SHARE_SPREAD, shapes,
        falling, length, last, max(last // STATES, 1),
        rng.random((n_steps, 4)), rng.standard_normal((n_steps, n + 1)), floor,
    )  # fmt: skip
    # Over all subsets, not only those of the data: a few hundred states are enough for a mean.
    total = np.zeros(len(inside))
    for state in states:
        bend(inside, state, base)
        total += base
    return total / len(states), energies[::-1], float(energies[0])


def _pair_pattern(words: Any, n_sources: int) -> Any:
    del words  # every subset, in order
    return k_additive_basis(n_sources, min(2, n_sources))


POSTERIORS: dict[
    str, Callable[[Statistics, float, np.random.Generator], tuple[FloatArray, FloatArray, float]]
] = {
    "none": _all,
    "additive": _linear(members_of, with_pairs=False),
    "symmetric": _linear(ranks_of, with_pairs=False),
    "2-additive": _linear(_pair_pattern, with_pairs=True),
    "lambda": _curve,
}
"""Chains by the name of the family: from statistics, a floor of the squared error, and a generator
to the mean measure, the energy at each of `TEMPERS`, and the energy at the last."""
