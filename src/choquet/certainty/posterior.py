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
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from choquet.arrays import FloatArray
from choquet.errors import SolverWarning
from choquet.lattice import upward_maximum
from choquet.learning.data.statistics import Statistics
from choquet.learning.families import FAMILIES
from choquet.learning.families.candidates import Candidate, fit_candidate

__all__ = ["Posterior", "noise_floor", "place_of", "posterior", "posterior_weights"]

FLOOR = 1e-10
"""Least variance of the noise, as a share of the mean square of the targets."""
SHARE = 0.65
"""Of the criterion in the weights, a hedge: it is known only up to chance. Chosen by trial."""
TRIED_SOURCES, TRIED_INFORMATION = (4, 12), (3e2, 1e6)
"""Where odds were tried; beyond, they are those of the nearest."""
CLEAR = 8.0
"""How much better the least squares fit must be to take the place of a mean over all measures."""
FEW = 0.05
"""Most different values of such a fit, for each row; beyond, its criterion says little."""


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
        A row of `choquet.learning.FAMILIES`; "none" is all monotone measures.
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
    floor = noise_floor(statistics)
    values, energy, _ = FAMILIES[family].chain(statistics, floor, generator)
    values = np.clip(upward_maximum(values), 0.0, 1.0)
    values[0], values[-1] = 0.0, 1.0
    weight = statistics.weight
    own = 0.5 * weight * np.log(statistics.squared_error(values) + floor)
    extra = max(2 * (energy - own), 0.0)
    found = Posterior(values, -float(own + extra), float(extra))
    return _or_fit(statistics, floor, found) if family == "none" else found


def noise_floor(statistics: Statistics) -> float:
    """Least squared error that a chain reckons with: what rounding leaves of the targets."""
    # Targets that are all zero have no size of their own.
    return FLOOR * max(statistics.target_square, 1e-20 * float(statistics.information.sum()))


def place_of(statistics: Statistics, found: Sequence[Posterior]) -> FloatArray:
    """What the odds of families are multiplied with: 1, doublings of sources, tens of information.

    Information is the sum of squared gaps between sorted inputs over the variance of the noise,
    which the best family tells.
    """
    best = max(found, key=lambda one: one.predictive)
    noise = max(statistics.squared_error(best.values), 1e-300) / statistics.weight
    information = np.clip(statistics.information.sum() / noise, *TRIED_INFORMATION)
    doublings = np.log2(np.clip(statistics.n_sources, *TRIED_SOURCES) / 8)
    return np.array([1.0, doublings, np.log10(information / 1e4)])


def posterior_weights(
    statistics: Statistics, names: Sequence[str], found: Sequence[Posterior]
) -> FloatArray:
    """Weights of families from their predictive criterion, with `SHARE` and the odds of each.

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
    place = place_of(statistics, found)
    pairs = zip(names, found, strict=True)
    score = np.array([SHARE * one.predictive + place @ FAMILIES[k].odds for k, one in pairs])
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
