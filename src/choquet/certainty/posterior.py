"""Mean measures of families, and how well each may be expected to predict.

A least squares fit takes one measure of a family. Here the whole family is averaged, every measure
with its probability given the data: uniform over the family beforehand (except that shares of
λ-measures and interactions of pairs have a spread that is itself unknown), normal noise of unknown
variance. The mean of measures is a measure; it over-fits far less than the best one.

Families are weighed by how well their mean is expected to predict: by the squared error it leaves,
and by how many numbers the data were used for, which the same Markov chain tells.
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
from choquet.learning.data.statistics import Statistics
from choquet.learning.families.bases import k_additive_basis
from choquet.learning.families.candidates import Candidate, fit_candidate
from choquet.learning.families.fits import fit_lambda, members_of, ranks_of

__all__ = ["POSTERIORS", "Posterior", "posterior", "posterior_weights"]

FLOOR = 1e-10
"""Least variance of the noise, as a share of the mean square of the targets."""
SHARE = 0.65
"""Of the criterion in the weights, a hedge: it is known only up to chance. Chosen by trial."""
LOG_ODDS = {
    "none": (1.0, 2.5, -1.5),
    "additive": (3.0, 3.0, 0.0),
    "symmetric": (5.0, 1.5, 0.5),
    "2-additive": (0.0, 0.0, 0.0),
    "lambda": (4.5, 2.5, 0.0),
}
"""Beforehand, in logarithms, chosen by trial: for 8 sources and an information of 10,000; more for
twice as many sources; more for ten times the information. Information is the sum of squared gaps
between sorted inputs over the variance of the noise."""
TRIED_SOURCES, TRIED_INFORMATION = (4, 12), (3e2, 1e6)
"""Where odds were tried; beyond, they are those of the nearest."""
CLEAR = 8.0
"""How much better the least squares fit must be to take the place of a mean over all measures."""
FEW = 0.05
"""Most different values of such a fit, for each row; beyond, its criterion says little."""
CURVE_SCALE = 3.0
"""Mean size of the curve c = log(1 + λ) beforehand."""
STATES = 1000
"""Measures that the mean of a λ family is made of, about."""
SHARE_SPREAD = 0.5
"""Standard deviation of the logarithms of shares beforehand, about; data can make it larger."""
PAIR_SPREAD = 1.0
"""The same of interactions of pairs about their mean, times N²: in all about half of the whole."""


@dataclass(frozen=True, eq=False)
class Posterior:
    """What is believed of a family after the data.

    Attributes
    ----------
    values : array of shape (2**N,)
        The mean measure, by mask; of all measures the fit, where that is clearly better.
    predictive : float
        The deviance criterion: minus half of the deviance of the mean measure, minus the effective
        number of parameters.
    n_effective : float
        That number: twice the mean energy less twice the energy of the mean.
    """

    values: FloatArray
    predictive: float
    n_effective: float


def posterior(statistics: Statistics, family: str, *, rng: Any = 0) -> Posterior:
    """Mean measure of a family, and how well it may be expected to predict.

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
    Gelfand, Smith & Lee (1992), "Bayesian analysis of constrained parameter and truncated data
    problems using Gibbs sampling"; Spiegelhalter, Best, Carlin & van der Linde (2002), "Bayesian
    measures of model complexity and fit".

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.random((100, 3))
    >>> statistics = Statistics.from_data(X, np.sort(X)[:, 1] + 0.05 * rng.standard_normal(100))
    >>> owa, mean = posterior(statistics, "symmetric"), posterior(statistics, "additive")
    >>> bool(owa.predictive > mean.predictive + 10), owa.values[[1, 3]].round(1)
    (True, array([0., 1.]))
    """
    generator = np.random.default_rng(rng)
    # Targets that are all zero have no size of their own.
    floor = FLOOR * max(statistics.target_square, 1e-20 * float(statistics.information.sum()))
    values, energy = POSTERIORS[family](statistics, floor, generator)
    values = np.clip(upward_maximum(values), 0.0, 1.0)
    values[0], values[-1] = 0.0, 1.0
    weight = statistics.weight
    own = 0.5 * weight * np.log(statistics.squared_error(values) + floor)
    extra = max(2 * (energy - own), 0.0)
    found = Posterior(values, -float(own + extra), float(extra))
    return _or_fit(statistics, floor, found) if family == "none" else found


def posterior_weights(
    statistics: Statistics, names: Sequence[str], found: Sequence[Posterior]
) -> FloatArray:
    """Weights of families from their predictive criterion, with `SHARE` and `LOG_ODDS`.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.random((100, 3))
    >>> statistics = Statistics.from_data(X, X.max(axis=1) + 0.1 * rng.standard_normal(100))
    >>> names = ["symmetric", "additive"]
    >>> found = [posterior(statistics, name) for name in names]
    >>> posterior_weights(statistics, names, found).round(2)
    array([1., 0.])
    """
    best = max(found, key=lambda one: one.predictive)
    noise = max(statistics.squared_error(best.values), 1e-300) / statistics.weight
    information = np.clip(statistics.information.sum() / noise, *TRIED_INFORMATION)
    doublings = np.log2(np.clip(statistics.n_sources, *TRIED_SOURCES) / 8)
    place = np.array([1.0, doublings, np.log10(information / 1e4)])
    score = np.array(
        [SHARE * one.predictive + place @ LOG_ODDS[k] for k, one in zip(names, found, strict=True)]
    )
    weights = np.exp(score - score.max())
    return np.asarray(weights / weights.sum())


def _or_fit(statistics: Statistics, floor: float, found: Posterior) -> Posterior:
    """What a chain over all measures found, or the least squares fit, where that is clearly better.

    Most measures are much alike, so the uniform prior is far from truths near a minimum or maximum;
    a fit that is expected to predict better by far says so. And chains creep where there is no
    noise to move them: there, with more rows than values, the fit is the measure itself; with
    fewer, it gets a share that grows with the rows.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SolverWarning)
        values = np.asarray(fit_candidate(statistics, Candidate()).dense, dtype=np.float64)
    error, weight, n_seen = (
        statistics.squared_error(values),
        statistics.weight,
        len(statistics.masks),
    )
    pools = np.unique(values[statistics.positions].round(5))
    used = int(np.count_nonzero((pools > 0) & (pools < 1)))
    perfect, enough = error <= 100 * floor, statistics.n_samples > n_seen
    if perfect and not enough:
        share = (statistics.n_samples / n_seen) ** 2
        return replace(found, values=share * values + (1 - share) * found.values)
    score = -0.5 * weight * float(np.log(error + floor)) - used
    clear = used <= FEW * weight and score > found.predictive + CLEAR
    return Posterior(values, score, float(used)) if perfect or clear else found


def _schedule(
    statistics: Statistics, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray, int]:
    """Tempers of all sweeps, gamma numbers for their noise, and the first sweep that is kept."""
    rising, kept = (1000, 2000) if statistics.n_sources <= 8 else (400, 600)
    tempers = np.minimum(np.arange(rising + kept) / (0.75 * rising), 1.0) ** 5
    shapes = 0.5 * statistics.weight * tempers
    return tempers, np.maximum(rng.standard_gamma(shapes), 1e-200), rising


def _seed(rng: np.random.Generator) -> np.uint64:
    return rng.integers(2**64, dtype=np.uint64)


def _all(
    statistics: Statistics, floor: float, rng: np.random.Generator
) -> tuple[FloatArray, float]:
    from choquet.certainty._kernels_chains import lattice_chain

    n = statistics.n_sources
    at, size = statistics.positions, 1 << n
    gram = sp.coo_array(statistics.gram)
    form = sp.csr_array((gram.data, (at[gram.row], at[gram.col])), shape=(size, size))
    form.sort_indices()
    targets = np.zeros(size)
    targets[at] = statistics.targets
    start = subset_sizes(n) / n
    mean, energy = lattice_chain(
        form.indptr.astype(np.int32), form.indices.astype(np.int32), form.data, targets,
        statistics.target_square, statistics.weight, start, n,
        *_schedule(statistics, rng), floor, _seed(rng),
    )  # fmt: skip
    return mean, energy


def _linear(
    pattern: Callable[[Any, int], Any], with_pairs: bool
) -> Callable[[Statistics, float, np.random.Generator], tuple[FloatArray, float]]:
    """Chain over the measures pattern @ m, m with or without pairs: see `simplex_chain`."""

    def run(
        statistics: Statistics, floor: float, rng: np.random.Generator
    ) -> tuple[FloatArray, float]:
        from choquet.certainty._kernels_chains import simplex_chain

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
        tilts = np.zeros_like(steps)
        n_pairs = size - n
        if n_pairs:
            tilts[:, n:] = steps[:, n:] - steps[:, n:].mean(axis=1, keepdims=True)
        schedule = _schedule(statistics, rng)
        sizes = rng.standard_gamma(1 + 0.5 * max(n_pairs - 1, 0), len(schedule[0]))
        mean, energy = simplex_chain(
            form, np.asarray(seen.T @ statistics.targets), statistics.target_square,
            statistics.weight, start, steps, steps @ form, tilts, pairs, n,
            PAIR_SPREAD / n**2, sizes, *schedule, floor, _seed(rng),
        )  # fmt: skip
        return np.asarray(every @ mean), energy

    return run


def _directions(form: FloatArray) -> FloatArray:
    """Rows that sum to zero and hardly interact in the form, so that steps along them mix fast."""
    size = len(form)
    free = np.vstack([-np.ones(size - 1), np.eye(size - 1)])
    inner = free.T @ form @ free
    inner += 1e-4 * np.trace(inner) / max(size - 1, 1) * np.eye(size - 1)
    try:
        root = np.linalg.cholesky(inner)
    except np.linalg.LinAlgError:  # next to no data: any directions do
        root = np.eye(size - 1)
    return np.ascontiguousarray((free @ np.linalg.inv(root).T).T)


def _root_of_inverse(matrix: FloatArray) -> FloatArray:
    """A root of the inverse of a positive matrix, also where rounding makes it singular."""
    try:
        return np.linalg.cholesky(np.linalg.inv(matrix))
    except np.linalg.LinAlgError:
        values, vectors = np.linalg.eigh(matrix)
        return np.asarray(vectors / np.sqrt(np.maximum(values, 1e-12 * values.max())))


def _curve(
    statistics: Statistics, floor: float, rng: np.random.Generator
) -> tuple[FloatArray, float]:
    from choquet.certainty._kernels_chains import bend, curve_chain

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
    shape = _root_of_inverse(curvature / variance + prior)
    upper = sp.csr_array(2 * sp.triu(statistics.gram) - sp.diags_array(statistics.information))
    # One step costs as much as the form has entries: about a second's worth in all.
    n_steps = int(np.clip(1.2e9 / max(upper.nnz + 20 * len(inside), 1), 2_500, 30_000))
    states, energy = curve_chain(
        upper.indptr.astype(np.int32), upper.indices.astype(np.int32), upper.data,
        statistics.targets, statistics.target_square, statistics.weight,
        np.ascontiguousarray(inside[at]), start, CURVE_SCALE, SHARE_SPREAD, shape,
        n_steps // 4, max(n_steps // STATES, 1),
        rng.random((n_steps, 4)), rng.standard_normal((n_steps, n + 1)), floor,
    )  # fmt: skip
    # Over all subsets, not only those of the data; a part of the states is enough for a mean.
    total = np.zeros(len(inside))
    for state in states:
        bend(inside, state, base)
        total += base
    return total / len(states), energy


def _pair_pattern(words: Any, n_sources: int) -> Any:
    del words  # every subset, in order
    return k_additive_basis(n_sources, min(2, n_sources))


POSTERIORS: dict[
    str, Callable[[Statistics, float, np.random.Generator], tuple[FloatArray, float]]
] = {
    "none": _all,
    "additive": _linear(members_of, with_pairs=False),
    "symmetric": _linear(ranks_of, with_pairs=False),
    "2-additive": _linear(_pair_pattern, with_pairs=True),
    "lambda": _curve,
}
"""Chains by the name of the family: from statistics, a floor of the squared error, and a generator
to the mean measure and the mean energy W/2 log RSS."""
