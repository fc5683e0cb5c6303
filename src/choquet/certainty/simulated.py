"""How far the error of the truth lies above the least: found by simulation, where rows are few.

With many rows the excess error of one number follows an F distribution, nearly. With few rows the
fit holds many values together or at 0 and 1, and then it follows others: less for a value that has
no room on one side, more for a number that many values at their ends make up, over a least error
that is small because the fit could choose. Which one depends on the truth, and the fit is what we
know of it. So data are drawn at the fit, with its noise; for each draw one number is fixed at what
the fit says, and the excess error is written down. Neither rows nor targets are needed for that,
only their products.
"""

from __future__ import annotations

from collections.abc import Callable
from weakref import WeakKeyDictionary

import numpy as np

from choquet.arrays import FloatArray
from choquet.certainty.batched import nearest_at_once
from choquet.certainty.functions import INDICES, output_rows
from choquet.lattice.lazy import sp
from choquet.learning.problem import Problem
from choquet.learning.solvers.interior import conic_form
from choquet.learning.solvers.solution import Solution

SETS = 59
"""Data sets drawn: the 30th, 54th and 57th in order are the quantiles of 0.5, 0.9 and 0.95."""
STIFF = 1e6
"""How much stiffer a fixed number is held than the data hold it: the excess is short by about the
square of what it gives, 1e-4 of the noise's variance."""
ENOUGH = 0.9
"""Share of the searches that must come to an end; of some 200,000 tried, nearly all did."""
MOST_SOURCES = 7
"""As for intervals by region; 1 to 2 s there, a tenth of that for five sources."""

_KNOWN: WeakKeyDictionary[Solution, dict[str, FloatArray]] = WeakKeyDictionary()
"""What was simulated for a fit, as long as the fit lives."""


def _values(problem: Problem, rng: np.random.Generator) -> FloatArray:
    touched = (problem.quadratic.diagonal()[: problem.n_values] > 0) & ~problem.fixed
    return np.asarray(np.eye(problem.n_values)[rng.choice(np.flatnonzero(touched), SETS)])


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
    problem: Problem, solution: Solution, n_samples: float, variance: float, kind: str
) -> FloatArray:
    """Excess errors over least errors of data drawn at the fit, in order; none if searches failed.

    Parameters
    ----------
    problem : Problem
        With `can_simulate`.
    solution : Solution
        Its optimum, where data are drawn.
    n_samples : float
        Number of rows.
    variance : float
        Of the noise.
    kind : str
        A row of `KINDS`.

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
    >>> len(shares), bool(0 < np.median(50 * shares) < 2)
    (59, True)
    """
    known = _KNOWN.setdefault(solution, {})
    if kind not in known:
        known[kind] = _simulated(problem, solution, n_samples, variance, kind)
    return known[kind]


def _simulated(
    problem: Problem, solution: Solution, n_samples: float, variance: float, kind: str
) -> FloatArray:
    rng = np.random.default_rng(0)
    conic = conic_form(problem)
    if conic.n_equal:
        return np.empty(0)
    x = conic.lift.T @ (np.append(solution.values, solution.intercepts) - conic.offset)
    room = np.maximum(conic.b - conic.A @ x, 0.0)
    # Squared errors in units of the noise: d'Fd - u'd, with d the distance from the fit.
    form = conic.P.toarray() / (2 * variance)
    values, vectors = np.linalg.eigh(form)
    kept = values > 1e-12 * values.max(initial=0.0)
    noise = rng.standard_normal((SETS, int(kept.sum())))
    pulls = 2 * (noise * np.sqrt(values[kept])) @ vectors[:, kept].T
    rows = KINDS[kind](problem, rng)
    rows = np.hstack([rows, np.zeros((SETS, problem.n_intercepts))])
    pins = np.asarray(sp.csr_array(rows) @ sp.csr_array(conic.lift).toarray())
    # A spring that is so much stiffer than the data, and than what they leave open.
    soft = values + values.mean()
    give = ((pins @ vectors) ** 2 / soft).sum(axis=1)
    pins *= np.sqrt(STIFF / np.maximum(give, 1e-300))[:, None]
    excess, solved = nearest_at_once(
        form, np.vstack([-pulls, -pulls]), sp.csr_array(-conic.A), room,
        np.vstack([np.zeros_like(pins), pins]),
    )  # fmt: skip
    least, fixed = excess[:SETS], excess[SETS:]
    spare = max(n_samples - int(kept.sum()), 0.0)
    rest = rng.chisquare(spare, SETS) if spare else 0.0
    error = (noise**2).sum(axis=1) + rest + least
    good = solved[:SETS] & solved[SETS:] & (error > 0)
    if good.mean() < ENOUGH:
        return np.empty(0)
    return np.sort(np.maximum(fixed - least, 0.0)[good] / error[good])


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
