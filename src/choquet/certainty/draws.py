"""Draws of measures given the data, and whether the chains that made them have mixed.

Families have the shares that they are given. Within all monotone measures, up to 8 sources, draws
are independent (see `choquet.certainty.projected`). Within other families, and beyond, Markov
chains draw each measure with its probability given the data (see `choquet.certainty.posterior`).
Several chains run; where they do not agree in the end, a warning says so.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from choquet import watching
from choquet.arrays import FloatArray, IntArray
from choquet.certainty.functions import INDICES, shapley_rows
from choquet.certainty.levels import check_level
from choquet.certainty.noise import Noise
from choquet.certainty.posterior import noise_floor
from choquet.certainty.projected import MAX_PROJECTED, projected_draws, rows_that_speak
from choquet.certainty.region import knows_noise
from choquet.decomposition import Decomposition
from choquet.errors import DataError, OptionError, SupportWarning
from choquet.lattice import upward_maximum
from choquet.learning.data.statistics import Statistics
from choquet.learning.families import FAMILIES
from choquet.learning.problem import least_squares
from choquet.learning.solvers import solve
from choquet.operators import DISSIMILARITIES
from choquet.shown import Shown
from choquet.walks import all_sorts, random_sorts

CHAINS = 4
"""Chains for each family; two where a sweep is long."""
LONG = 10
"""Sources beyond which a sweep is long."""
NO_NOISE = (
    "the data say nothing of the noise ({}), so no measure that fits is more likely than another; "
    "give more rows, or draw from all measures with choquet.Measure.random"
)
_LISTED, _DRAWN = 7, 5040
"""Sources up to which all walks are looked at, and how many are drawn beyond."""
MIXED = 1.1
"""R̂ up to which chains count as mixed (Gelman & Rubin 1992)."""


@dataclass(frozen=True, eq=False, repr=False)
class Draws(Shown):
    """Measures drawn given the data.

    Attributes
    ----------
    values : array of shape (n, 2**N)
        One monotone normal measure in a row, by mask.
    families : dict
        How many draws come from each family.
    n_effective : float
        Independent draws that these are worth, for the least well known index of each family.
    r_hat : float
        The largest R̂ of an index: near 1 where all chains tell the same.
    """

    values: FloatArray
    families: dict[str, int] = field(default_factory=dict)
    n_effective: float = float("nan")
    r_hat: float = float("nan")

    def text(self) -> str:
        """How many draws there are, where they come from, and what they are worth.

        Examples
        --------
        >>> Draws(np.array([[0.0, 0.2, 0.3, 1.0]] * 4), {"none": 3, "additive": 1}, 4.0, 1.0)
        4 draws of measures of 2 sources (3 of all measures, 1 additive).
        They are worth 4 independent ones; R-hat is 1.00, so the chains agree.
        """
        n_sources = int(self.values.shape[1]).bit_length() - 1
        parts = [
            f"{count} {'of all measures' if name == 'none' else name}"
            for name, count in sorted(self.families.items(), key=lambda one: -one[1])
        ]
        of = f" ({', '.join(parts)})" if parts else ""
        line = f"{len(self.values)} draws of measures of {n_sources} sources{of}."
        if np.isnan(self.r_hat):
            return line
        agree = "so the chains agree" if self.mixed else "so the chains have not mixed"
        return (
            f"{line}\nThey are worth {self.n_effective:.0f} independent ones; "
            f"R-hat is {self.r_hat:.2f}, {agree}."
        )

    @property
    def mixed(self) -> bool:
        """Whether the chains agree: R̂ up to 1.1."""
        return not self.r_hat > MIXED

    def probability(self, holds: Callable[[FloatArray], Any]) -> float:
        """Share of the draws for which something holds.

        Parameters
        ----------
        holds : callable
            Takes the values of one measure by mask, and answers yes or no.

        Examples
        --------
        >>> draws = Draws(np.array([[0.0, 0.2, 0.3, 1.0], [0.0, 0.6, 0.3, 1.0]]))
        >>> draws.probability(lambda g: g[1] > g[2])
        0.5
        """
        return float(np.mean([bool(holds(values)) for values in self.values]))

    def interval(self, functions: FloatArray, level: float = 0.95) -> FloatArray:
        """Central interval of linear functions of the measure, of shape (K, 2).

        Parameters
        ----------
        functions : array or sparse matrix of shape (K, 2**N)
            See `choquet.certainty.functions`.
        level : float, default 0.95
        """
        found = np.asarray(functions @ self.values.T)
        tail = (1 - check_level(level)) / 2
        return np.quantile(found, [tail, 1 - tail], axis=1).T

    def ranking(self) -> tuple[IntArray, float]:
        """Sources by mean Shapley value, and the probability that this order is right.

        Examples
        --------
        >>> draws = Draws(np.array([[0.0, 0.2, 0.3, 1.0], [0.0, 0.6, 0.3, 1.0]]))
        >>> order, probability = draws.ranking()
        >>> order, probability
        (array([0, 1]), 0.5)
        """
        n_sources = int(self.values.shape[1]).bit_length() - 1
        power = self.values @ shapley_rows(n_sources).T
        order = np.argsort(-power.mean(axis=0), kind="stable")
        right = (np.diff(power[:, order], axis=1) <= 0).all(axis=1)
        return order, float(right.mean())

    def operators(self, parts: Decomposition, *, within: float = 0.05) -> OperatorChances:
        """Probability that each operator of a decomposition is right, and that its context is.

        Parameters
        ----------
        parts : Decomposition
            Of a measure of the same sources, with conditions on ranks.
        within : float, default 0.05
            An operator is right for a measure if, in its context, the output of the two differs
            by no more than this for any inputs in [0, 1].

        Examples
        --------
        >>> from choquet import Measure, decompose
        >>> parts = decompose(Measure([0, 0, 1, 1]))
        >>> draws = Draws(np.array([[0.0, 0.01, 0.99, 1.0], [0.0, 0.6, 0.7, 1.0]]))
        >>> draws.operators(parts)
        OperatorChances(operator=array([0.5]), context=array([1.]))
        """
        n = int(self.values.shape[1]).bit_length() - 1
        if parts.measure is None or parts.n_sources != n or parts.biases.any():
            raise DataError(
                f"draws of measures of {n} sources tell of decompositions of such measures, "
                "without a constant"
            )
        if parts.tree is not None and parts.tree.has_thresholds:
            raise DataError("contexts that ask for values are not told by measures; use n_cuts=0")
        sorts = all_sorts(n) if n <= _LISTED else random_sorts(n, _DRAWN, rng=0)
        labels = parts.operator_of_sorts(sorts)
        chains = np.cumsum(1 << sorts, axis=1)
        # Along a walk an operator is an order statistic, with each source's weight at its rank.
        along = parts.rank_weights[:, None] + parts.source_weights[:, sorts]
        right, nearest = (np.zeros((len(self.values), len(along)), np.bool_) for _ in range(2))
        for d, values in enumerate(watching.each("operators of draws", self.values)):
            own = np.diff(values[chains], axis=1, prepend=0.0)
            worst = np.abs(np.cumsum(own - along, axis=2)).max(axis=2)
            rms = (DISSIMILARITIES["rms"].embed((own - along).reshape(-1, n)) ** 2).sum(axis=1)
            rms = rms.reshape(worst.shape)
            for k in range(len(along)):
                used = labels == k
                right[d, k] = worst[k, used].max(initial=0.0) <= within
                means = rms[:, used].sum(axis=1)
                nearest[d, k] = means[k] <= means.min(initial=np.inf) + 1e-12
        return OperatorChances(right.mean(axis=0), nearest.mean(axis=0))


class OperatorChances(NamedTuple):
    """What draws of measures say of the operators of a decomposition, one number each."""

    operator: FloatArray
    """Probability that the operator gives the measure's output in its context."""
    context: FloatArray
    """Probability that in its context no other operator of the decomposition comes closer."""


def draw_measures(
    statistics: Statistics,
    n: int,
    *,
    shares: Mapping[str, float] | None = None,
    noise: Noise | None = None,
    rng: Any = None,
) -> Draws:
    """Draw monotone normal measures given the data.

    Parameters
    ----------
    statistics : Statistics
        The data; 2 to 16 sources.
    n : int
        How many measures.
    shares : mapping from names in `choquet.learning.FAMILIES` to float, optional
        Probability of each family; all monotone measures by default.
    noise : Noise, optional
        How the noise differs between rows, for independent draws of all monotone measures; chains
        take it as alike in all of them.
    rng : seed or numpy.random.Generator, optional

    References
    ----------
    Gelfand, Smith & Lee (1992), "Bayesian analysis of constrained parameter and truncated data
    problems using Gibbs sampling"; Gelman & Rubin (1992), "Inference from iterative simulation
    using multiple sequences".

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.random((100, 2))
    >>> statistics = Statistics.from_data(X, X.mean(axis=1) + 0.1 * rng.standard_normal(100))
    >>> draws = draw_measures(statistics, 200, rng=0)
    >>> draws.values.shape, draws.mixed, bool(abs(draws.values[:, 1].mean() - 0.5) < 0.1)
    ((200, 4), True, True)
    """
    if isinstance(n, bool) or not isinstance(n, int | np.integer) or n < 1:
        raise OptionError(f"n={n!r} must be a whole number of draws, at least 1")
    _check_noise(statistics)
    generator = np.random.default_rng(rng)
    given = {"none": 1.0} if shares is None else {k: v for k, v in shares.items() if v > 0}
    names, weights = list(given), np.array(list(given.values()))
    counts = generator.multinomial(n, weights / weights.sum())
    floor, found, spread, r_hat = noise_floor(statistics), [], 0.0, 1.0
    n_chains = CHAINS if statistics.n_sources <= LONG else 2
    for name, count in zip(names, counts, strict=True):
        if not count:
            continue
        if name == "none" and statistics.n_sources <= MAX_PROJECTED:
            found.append(_closed(projected_draws(statistics, int(count), generator, noise)))
            spread += count / n**2
            continue
        each = max(-(-int(count) // n_chains), 25)
        if name == "none":
            warnings.warn(
                f"beyond {MAX_PROJECTED} sources draws of all monotone measures come from a prior "
                "that is spread evenly over them, which is far from simple truths: their "
                "quantiles are no confidence intervals",
                SupportWarning,
                stacklevel=3,
            )
        # Chains of equal length, of which as many states are taken as the family has draws.
        chain = FAMILIES[name].chain
        if chain is None:
            raise OptionError(f"no measures of the {name} family can be drawn, it has only a fit")
        runs = [
            _closed(chain(statistics, floor, one, each).states)
            for one in watching.each("drawing measures", generator.spawn(n_chains))
        ]
        chosen = np.linspace(0, n_chains * each - 1, int(count)).round().astype(np.int64)
        found.append(np.concatenate(runs)[chosen])
        size, own = _mixing(np.array(runs), int(count))
        # A share of the draws has that share, squared, of the variance of one draw over its size.
        spread, r_hat = spread + (count / n) ** 2 / size, max(r_hat, own)
    values = np.concatenate(found)[generator.permutation(n)]
    size = min(1 / spread, float(n))
    kept = {k: int(c) for k, c in zip(names, counts, strict=True) if c}
    draws = Draws(values, kept, size, r_hat)
    if not draws.mixed:
        warnings.warn(
            f"the chains have not mixed: R-hat is {r_hat:.2f}, and the draws are worth about "
            f"{size:.0f} independent ones; take what they say as a rough guide, or ask for more "
            "draws",
            SupportWarning,
            stacklevel=3,
        )
    return draws


def _check_noise(statistics: Statistics) -> None:
    if statistics.n_sources < 2 or statistics.n_sources > 16:
        raise OptionError(
            f"draws are of measures on 2 to 16 sources, these data have {statistics.n_sources}"
        )
    if statistics.n_samples < 3:
        raise DataError(NO_NOISE.format(f"{statistics.n_samples} row(s) are too few"))
    if statistics.n_sources <= MAX_PROJECTED:
        problem = least_squares(statistics)
        if not knows_noise(problem, solve(problem), rows_that_speak(statistics)):
            raise DataError(NO_NOISE.format(f"{statistics.n_samples} rows are fitted exactly"))


def _closed(states: FloatArray) -> FloatArray:
    """Measures whose last rounding errors are cleared: monotone to the bit, and normal."""
    for row in states:
        row[:] = np.clip(upward_maximum(row), 0.0, 1.0)
    states[:, 0], states[:, -1] = 0.0, 1.0
    return states


def _mixing(chains: FloatArray, count: int) -> tuple[float, float]:
    """Effective size and R̂ of the worst of all indices, for chains of shape (C, S, 2**N)."""
    n_sources = int(chains.shape[2]).bit_length() - 1
    rows = np.vstack([INDICES[name](n_sources) for name in ("shapley", "orness")])
    numbers = chains @ rows.T
    sizes = [effective_size(numbers[:, :, k]) for k in range(len(rows))]
    hats = [split_r_hat(numbers[:, :, k]) for k in range(len(rows))]
    return min(min(sizes), float(count)), max(hats)


def split_r_hat(chains: FloatArray) -> float:
    """How much wider all chains together are than each half of them: 1 where they have mixed.

    Parameters
    ----------
    chains : array of shape (C, S)
        One number along each chain.

    References
    ----------
    Gelman, Carlin, Stern, Dunson, Vehtari & Rubin (2013), "Bayesian data analysis", 11.4.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> split_r_hat(rng.standard_normal((4, 500))) < 1.02
    True
    >>> split_r_hat(rng.standard_normal((4, 500)) + np.arange(4)[:, None]) > 1.3
    True
    """
    half = chains.shape[1] // 2
    parts = np.concatenate([chains[:, :half], chains[:, half : 2 * half]])
    within = float(parts.var(axis=1, ddof=1).mean())
    between = float(parts.mean(axis=1).var(ddof=1))
    # A number that every draw shares, but for rounding, has nothing to disagree about.
    if max(within, between) <= 1e-18:
        return 1.0
    return float(np.sqrt((half - 1) / half + between / max(within, 1e-300)))


def effective_size(chains: FloatArray) -> float:
    """How many independent draws the chains are worth, by Geyer's sum of autocorrelations.

    Parameters
    ----------
    chains : array of shape (C, S)
        One number along each chain.

    References
    ----------
    Geyer (1992), "Practical Markov chain Monte Carlo".

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> 1500 < effective_size(rng.standard_normal((4, 500))) <= 2000
    True
    """
    n_chains, n = chains.shape
    centered = chains - chains.mean()
    spread = float((centered**2).mean())
    if spread <= 1e-18:
        return float(n_chains * n)
    size = 1 << (2 * n - 1).bit_length()
    power = np.abs(np.fft.rfft(centered, size, axis=1)) ** 2
    covariance = np.fft.irfft(power, size, axis=1)[:, :n].mean(axis=0) / n
    rho = covariance / spread
    pairs = rho[: n // 2 * 2].reshape(-1, 2).sum(axis=1)
    stop = int(np.argmax(pairs <= 0)) if (pairs <= 0).any() else len(pairs)
    pairs = np.minimum.accumulate(pairs[:stop]) if stop else pairs[:1]
    return float(n_chains * n / max(2 * pairs.sum() - 1, 1.0))
