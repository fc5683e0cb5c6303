"""How far the error of the truth lies above the least: found by simulation, where rows are few.

With many rows the excess error of one number follows an F distribution, nearly. With few rows the
fit holds many values together or at 0 and 1, and then it follows others: less for a value that has
no room on one side, more for a number that many values at their ends make up, over a least error
that is small because the fit could choose. Which one depends on the truth. So data are drawn at
measures that may be the truth, with the noise of the fit; for each draw one number is fixed at what
the measure says, and the excess error is written down. The fit often lies on one side of the truth,
so this is done for both sides: truths below their fit tell of lower ends, those above it of upper
ones. Neither rows nor targets are needed for that, only their products.
"""

from __future__ import annotations

from collections.abc import Callable
from weakref import WeakKeyDictionary

import numpy as np

from choquet.arrays import BoolArray, FloatArray
from choquet.certainty.batched import nearest_at_once
from choquet.certainty.functions import INDICES, output_rows
from choquet.certainty.noise import Noise, Ratios
from choquet.lattice.lazy import sp
from choquet.learning.data.statistics import Statistics
from choquet.learning.problem import Problem
from choquet.learning.solvers.interior import conic_form
from choquet.learning.solvers.solution import Solution

SETS = 119
"""Data sets drawn: on either side the 90th, 114th and 117th in order are the quantiles of 0.75,
0.95 and 0.975, which are those of intervals at level 0.5, 0.9 and 0.95."""
STIFF = 1e6
"""How much stiffer a fixed number is held than the data hold it: the excess is short by about the
square of what it gives, 1e-4 of the noise's variance."""
ENOUGH = 0.9
"""Share of the searches that must come to an end; of some 200,000 tried, nearly all did."""
MOST_SOURCES = 7
"""A kind of number takes 0.4 s there. What is the same for all of them takes 1.6 s before, most of
it for what families make of the data; five sources take half of that."""

_KNOWN: WeakKeyDictionary[Solution, _Simulation] = WeakKeyDictionary()
"""What was simulated for a fit, as long as the fit lives."""


def _values(problem: Problem, rng: np.random.Generator) -> FloatArray:
    return np.asarray(np.eye(problem.n_values)[rng.choice(np.flatnonzero(~problem.fixed), SETS)])


def _outputs(problem: Problem, rng: np.random.Generator) -> FloatArray:
    return np.asarray(output_rows(rng.random((SETS, problem.n_sources))).toarray())


def _index(name: str) -> Callable[[Problem, np.random.Generator], FloatArray]:
    def rows(problem: Problem, rng: np.random.Generator) -> FloatArray:
        own = INDICES[name](problem.n_sources)
        return np.asarray(own[rng.integers(len(own), size=SETS)])

    return rows


KINDS = {"values": _values, "outputs": _outputs, **{name: _index(name) for name in INDICES}}
"""Numbers that intervals are asked for: each draw of data looks at a random one of its kind."""


def can_simulate(problem: Problem) -> bool:
    """Whether edges matter, and simulating takes a second or two at most.

    Examples
    --------
    >>> from choquet.learning import Statistics, least_squares
    >>> rows = Statistics.from_data([[0.9, 0.4], [0.8, 0.2]], [0.6, 0.5])
    >>> can_simulate(least_squares(rows)), can_simulate(least_squares(rows, monotone=False))
    (True, False)
    """
    return problem.monotone and problem.dense and 2 <= problem.n_sources <= MOST_SOURCES


def simulated_shares(
    problem: Problem,
    solution: Solution,
    n_samples: float,
    variance: float,
    kind: str,
    statistics: Statistics | None = None,
    noise: Noise | None = None,
) -> FloatArray:
    """Excess errors over least errors of simulated data, in order; none if searches failed.

    Parameters
    ----------
    problem : Problem
        With `can_simulate`.
    solution : Solution
        Its optimum.
    n_samples : float
        Number of rows.
    variance : float
        Of the noise.
    kind : str
        A row of `KINDS`.
    statistics : Statistics, optional
        The data. Without them, and where measures are not those of the families, all data sets are
        drawn at the optimum.
    noise : Noise, optional
        How the noise differs between rows; by default it is alike in all of them.

    Returns
    -------
    array of shape (2, S)
        First of truths below their fit, then of those above it; zero where a truth is not. Each is
        divided by what the noise of its number is beside that of all rows.

    References
    ----------
    Batlle, Patil, Stanley, Owhadi & Kuusela (2023), "Optimization-based frequentist confidence
    intervals for functionals in constrained inverse problems: resolving the Burrus conjecture".

    Examples
    --------
    >>> from choquet.learning import Statistics, least_squares, solve
    >>> X = np.random.default_rng(0).random((50, 2))
    >>> problem = least_squares(Statistics.from_data(X, X.mean(axis=1)))
    >>> shares = simulated_shares(problem, solve(problem), 50, 1e-6, "outputs")
    >>> shares.shape[0], bool(0 < np.median(50 * shares.max(axis=0)) < 4)
    (2, True)
    """
    known = _KNOWN.get(solution)
    if known is None:
        truths = _truths(problem, solution, statistics)
        ratios = Ratios(noise, problem, solution, variance)
        known = _KNOWN[solution] = _Simulation(problem, truths, n_samples, ratios)
    if kind not in known.shares:
        known.shares[kind] = known.of(kind)
    return known.shares[kind]


def expected_step(solution: Solution) -> FloatArray | None:
    """Mean step from fits to the truths that their data were drawn at; None without a simulation.

    In the free unknowns of the problem. A fit to few rows is biased: a Shapley value that is large
    comes out too small, and one that is small too large.
    """
    known = _KNOWN.get(solution)
    return None if known is None else -known.fits[known.solved].mean(axis=0)


def _truths(problem: Problem, solution: Solution, statistics: Statistics | None) -> FloatArray:
    """Unknowns of the problem, a row for each data set."""
    from choquet.certainty.plausible import plausible_measures  # families load slowly

    usual = problem.rows is None and problem.basis is None
    if statistics is not None and usual and (problem.normal or problem.n_intercepts):
        found = plausible_measures(statistics, SETS)
        return np.hstack([found, np.zeros((SETS, problem.n_intercepts))])
    return np.repeat(np.append(solution.values, solution.intercepts)[None], SETS, axis=0)


class _Simulation:
    """Data sets drawn at truths, and the fits to them: the same for all kinds of number.

    Squared errors are in units of the noise: d'Fd - u'd, with d the distance from the truth.
    """

    def __init__(
        self, problem: Problem, truths: FloatArray, n_samples: float, ratios: Ratios
    ) -> None:
        rng, conic = np.random.default_rng(0), conic_form(problem)
        self.problem, self.ratios, self.shares = problem, ratios, dict[str, FloatArray]()
        self.form, self.order = conic.P.toarray() / (2 * ratios.variance), sp.csr_array(-conic.A)
        self.lift = sp.csr_array(conic.lift).toarray()
        self.room = np.maximum(conic.b - (conic.A @ ((truths - conic.offset) @ self.lift).T).T, 0.0)
        self.values, self.vectors = np.linalg.eigh(self.form)
        kept = self.values > 1e-12 * self.values.max(initial=0.0)
        pulls, left = self._pulls(rng, kept, n_samples)
        self.slopes = -2 * (pulls * np.sqrt(self.values[kept])) @ self.vectors[:, kept].T
        self.least, self.fits, self.solved = self.nearest(np.zeros_like(self.slopes))
        spare = max(n_samples - int(kept.sum()), 0.0)
        rest = left / spare * rng.chisquare(spare, SETS) if spare else 0.0
        self.error = (pulls**2).sum(axis=1) + rest + self.least
        # Where equations hold values together, none of this is known.
        self.solved &= (self.error > 0) & (not conic.n_equal)

    def _pulls(
        self, rng: np.random.Generator, kept: BoolArray, n_samples: float
    ) -> tuple[FloatArray, float]:
        """Noise along the directions that data see, and how much of it is left for all others."""
        pulls, size = rng.standard_normal((SETS, int(kept.sum()))), float(kept.sum())
        if self.ratios.known:
            along = self.vectors[:, kept] / np.sqrt(self.values[kept])
            form = along.T @ (self.ratios.noisy / self.ratios.variance) @ along
            values, vectors = np.linalg.eigh(form)
            pulls = (pulls * np.sqrt(np.maximum(values, 0.0))) @ vectors.T
            size = float(np.trace(form))
        return pulls, max(n_samples - size, 0.0)

    def nearest(self, pins: FloatArray) -> tuple[FloatArray, FloatArray, BoolArray]:
        """Least errors, the fits, and whether they were found, with one number held by each pin."""
        return nearest_at_once(self.form, self.slopes, self.order, self.room, pins)

    def of(self, kind: str) -> FloatArray:
        """The shares of a kind of number; none if searches failed."""
        rows = KINDS[kind](self.problem, np.random.default_rng(1))
        # An intercept is a part of every output, and of nothing else.
        own = np.full((SETS, self.problem.n_intercepts), float(kind == "outputs"))
        pins = np.hstack([rows, own]) @ self.lift
        ratios = self.ratios.of(pins)
        # A spring that is so much stiffer than the data, and than what they leave open.
        soft = self.values + self.values.mean()
        give = ((pins @ self.vectors) ** 2 / soft).sum(axis=1)
        pins *= np.sqrt(STIFF / np.maximum(give, 1e-300))[:, None]
        fixed, _, solved = self.nearest(pins)
        good = self.solved & solved
        if good.mean() < ENOUGH:
            return np.empty((2, 0))
        share = np.maximum(fixed - self.least, 0.0)[good] / (self.error * ratios)[good]
        above = (pins * self.fits).sum(axis=1)[good] < 0
        return np.sort([np.where(above, 0.0, share), np.where(above, share, 0.0)], axis=1)


def quantile_of(shares: FloatArray, level: float) -> tuple[float, float]:
    """The share of this level, and the level it stands for: the highest that so few data sets give.

    Of S numbers in order the k-th exceeds one more number of the same kind with a probability of
    k / (S + 1).

    Examples
    --------
    >>> quantile_of(np.arange(1.0, 60.0), 0.95), quantile_of(np.arange(1.0, 60.0), 0.99)
    ((57.0, 0.95), (59.0, 0.9833333333333333))
    """
    whole = len(shares) + 1
    at = min(max(int(np.ceil(whole * level - 1e-9)), 1), len(shares))
    return float(shares[at - 1]), min(level, len(shares) / whole)
