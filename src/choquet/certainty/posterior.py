"""What is believed of families of measures after the data, and how well each may predict.

A least squares fit takes one measure of a family. A mean takes the whole family, every measure with
its probability given the data: uniform over the family beforehand (except that shares of λ-measures
and interactions of pairs have a spread that is itself unknown), normal noise of unknown variance.
The mean of measures is a measure; it over-fits less than the best one where the truth is like most
of the family. Where the truth is on its edge (values of 0 and 1, values that are alike, a single
order statistic), the fit is the better one, and better still a mean by which edges are likely
beforehand. So all of them stand for their family, and the data choose.

They are weighed by how well they are expected to predict rows that were left out: by the squared
error that they leave, and by how many numbers the data were used for.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from choquet.arrays import FloatArray
from choquet.errors import OptionError, SolverWarning
from choquet.lattice import upward_maximum
from choquet.learning.data.statistics import Statistics
from choquet.learning.families import FAMILIES
from choquet.learning.families.candidates import Candidate, fit_candidate
from choquet.learning.families.fits import different

FLOOR = 1e-10
"""Least variance of the noise, as a share of the mean square of the targets."""
SHARE = 0.5
"""Of the criterion in the weights. An average with weights exp(-risk / (4 · variance)), which is
half of the criterion, is proved to lose no more to the best than 4 · variance · log(1 / odds), all
rows together, whatever the truth is (Leung & Barron 2006)."""
HEDGE = 1.5
"""Times the numbers that a fit used, where constraints and the data chose them: a fit that happens
to use few numbers happens to look good too. Meyer & Woodroofe (2000) place this factor between
1 and 2 for monotone regression; ``python benchmarks/family_odds.py`` tries others."""
MAX_SPARSE = 12
"""Sources up to which second means are taken: over all measures 1.8 s there, 33 s for 16."""


@dataclass(frozen=True, eq=False)
class Posterior:
    """What is believed of a family after the data: its mean measure, or its fit.

    Attributes
    ----------
    values : array of shape (2**N,)
        The measure, by mask.
    predictive : float
        The deviance criterion: minus half of the deviance of the measure, minus the effective
        number of parameters.
    n_effective : float
        That number. Of a mean, twice the mean energy less twice the energy of the mean; of a fit,
        the numbers that no constraint holds, times `HEDGE`. What was chosen among K ways, such as
        blocks of sources, costs 2 log K more.
    """

    values: FloatArray
    predictive: float
    n_effective: float


def posterior(
    statistics: Statistics, family: str, *, rng: Any = 0, sparse: bool = False
) -> Posterior:
    """Mean measure of a family, and how well it may be expected to predict.

    Parameters
    ----------
    statistics : Statistics
        The data; at most 16 sources.
    family : str
        A row of `choquet.learning.FAMILIES` with a chain; "none" is all monotone measures.
    rng : seed or numpy.random.Generator
        Where the randomness comes from.
    sparse : bool, default False
        Under the second prior of the family, by which values are likely to be alike, or to be 0 or
        1, or weights to be zero.

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
    chain = FAMILIES[family].sparse if sparse else FAMILIES[family].chain
    if chain is None:
        raise OptionError(f"there is no mean over the {family} measures, only a fit")
    generator = np.random.default_rng(rng)
    floor = noise_floor(statistics)
    values, energy, _, chosen = chain(statistics, floor, generator)
    values = _closed(values)
    own = 0.5 * statistics.weight * np.log(statistics.squared_error(values) + floor)
    extra = max(2 * (energy - own), 0.0) + 2 * chosen
    return Posterior(values, -float(own + extra), float(extra))


def fitted(statistics: Statistics, family: str) -> Posterior:
    """The least squares fit of a family, and how well it may be expected to predict.

    Parameters
    ----------
    statistics : Statistics
        The data; at most 16 sources.
    family : str
        A row of `choquet.learning.FAMILIES`.

    Examples
    --------
    >>> X = np.random.default_rng(0).random((100, 3))
    >>> found = fitted(Statistics.from_data(X, np.sort(X)[:, 1]), "symmetric")
    >>> found.n_effective, found.values[[1, 3]].round(6) + 0.0
    (0.0, array([0., 1.]))
    """
    fit = FAMILIES[family].fit
    if fit is None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SolverWarning)
            dense: Any = fit_candidate(statistics, Candidate()).dense
        values = _closed(dense)
        used = HEDGE * different(values[statistics.positions])
    else:
        found = fit(statistics)
        every = np.arange(1 << statistics.n_sources, dtype=np.uint64)[:, None]
        values, used = _closed(found.measure.values_of(every)), HEDGE * found.n_used
    error = statistics.squared_error(values) + noise_floor(statistics)
    return Posterior(values, -0.5 * statistics.weight * float(np.log(error)) - used, used)


def believed(statistics: Statistics, family: str, *, rng: Any = 0) -> tuple[Posterior, ...]:
    """What stands for a family: its means, if it has chains, and its fit.

    Up to `MAX_SPARSE` sources there are two means for most families: one by which all measures are
    equally likely beforehand, one by which values are likely to be alike, or weights to be zero.

    Chains creep where there is no noise to move them. There, with fewer rows than values, the fit
    over all measures has a share in their mean that grows with the rows.

    Examples
    --------
    >>> X = np.random.default_rng(0).random((50, 3))
    >>> statistics = Statistics.from_data(X, X.max(axis=1))
    >>> len(believed(statistics, "symmetric")), len(believed(statistics, "possibility"))
    (3, 1)
    """
    fit = fitted(statistics, family)
    if FAMILIES[family].chain is None:
        return (fit,)
    mean = posterior(statistics, family, rng=rng)
    second: tuple[Posterior, ...] = ()
    if FAMILIES[family].sparse is not None and statistics.n_sources <= MAX_SPARSE:
        second = (posterior(statistics, family, rng=rng, sparse=True),)
    if family == "none":
        perfect = statistics.squared_error(fit.values) <= 100 * noise_floor(statistics)
        share = min(statistics.n_samples / len(statistics.masks), 1.0) ** 2 if perfect else 0.0
        mean = replace(mean, values=share * fit.values + (1 - share) * mean.values)
    return (mean, *second, fit)


def _closed(values: FloatArray) -> FloatArray:
    values = np.clip(upward_maximum(values), 0.0, 1.0)
    values[0], values[-1] = 0.0, 1.0
    return values


def noise_floor(statistics: Statistics) -> float:
    """Least squared error that a chain reckons with: what rounding leaves of the targets."""
    # Targets that are all zero have no size of their own.
    return FLOOR * max(statistics.target_square, 1e-20 * float(statistics.information.sum()))


def posterior_weights(
    statistics: Statistics, names: Sequence[str], found: Sequence[Posterior]
) -> FloatArray:
    """Weights of what stands for families, by how well it may predict rows that were left out.

    The criterion is that of generalised cross-validation: of W rows that p numbers were fitted to,
    each pulls its own prediction by p / W on average, so a row that is left out has an error
    1 / (1 - p / W) times as large as in the fit. Half of it (see `SHARE`) goes into the weights.
    The odds of a family beforehand are one over the number of its free numbers: the more a family
    can say, the less likely is each of its words. What stands for the same family shares its odds.

    Parameters
    ----------
    statistics : Statistics
    names : sequence of str
        Families; one that several stand for comes several times.
    found : sequence of Posterior

    References
    ----------
    Golub, Heath & Wahba (1979), "Generalized cross-validation as a method for choosing a good ridge
    parameter"; Leung & Barron (2006), "Information theory and mixing least-squares regressions".

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
    errors = [statistics.squared_error(one.values) for one in found]
    numbers = np.array([one.n_effective for one in found])
    floor = noise_floor(statistics)
    odds = log_odds(names, statistics.n_sources)
    return weigh(np.array(errors) + floor, numbers, statistics.weight, odds)


def log_odds(names: Sequence[str], n_sources: int) -> FloatArray:
    """Odds of families beforehand; what stands for the same family shares them.

    Examples
    --------
    >>> np.exp(log_odds(["additive", "none", "none"], 3)).round(4)
    array([0.3333, 0.0833, 0.0833])
    """
    sizes = [max(FAMILIES[name].n_parameters(n_sources), 1) for name in names]
    return -np.log([size * names.count(name) for size, name in zip(sizes, names, strict=True)])


def weigh(errors: FloatArray, numbers: FloatArray, weight: float, odds: FloatArray) -> FloatArray:
    """Weights from squared errors, numbers used, the weight of the rows, and odds beforehand.

    Examples
    --------
    >>> weigh(np.array([1.0, 1.0, 0.0]), np.array([2.0, 8.0, 60.0]), 60.0, np.zeros(3)).round(2)
    array([0.96, 0.04, 0.  ])
    """
    left = 1 - numbers / weight
    # As many numbers as rows: nothing is left to tell how well they predict.
    able = left * weight > 1
    if not able.any():
        able = left == left.max()
    gain = np.log(np.where(able, np.maximum(left, 1e-300), 1.0)) - 0.5 * np.log(errors + 1e-300)
    score = np.where(able, SHARE * weight * gain + odds, -np.inf)
    weights = np.exp(score - score.max())
    return np.asarray(weights / weights.sum())
