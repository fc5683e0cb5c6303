"""Indices by sampling walks, with standard errors: for measures without an array of 2**N values.

A round is a set of walks in which every source stands once at every rank, every pair is adjacent
equally often, and every walk comes with its reverse (a Williams design, its sources shuffled). Each
step gives a contribution to a Shapley value, and, with one more value of g, each pair of
neighbours one to an interaction. Rounds are independent, so their spread tells the error.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from choquet.arrays import BoolArray, FloatArray, IntArray
from choquet.errors import MeasureError, OptionError
from choquet.jobs import run_jobs, spawn
from choquet.lattice.wide import pack
from choquet.measures import AbstractMeasure

_Bounds = tuple[FloatArray, FloatArray]


@dataclass(frozen=True, eq=False)
class Estimate:
    """An index estimated from independent rounds.

    Attributes
    ----------
    value : array
        The estimate; of a measure that is bounded only, that of the middle of its bounds.
    error : array
        Its standard error.
    low, high : array
        Estimated bounds over all monotone measures with the known values: the same as `value` if
        every value is known. The true range is inside them, but may be narrower.
    low_error, high_error : array
        Their standard errors.
    n_rounds : int
        Independent rounds behind them.
    """

    value: FloatArray
    error: FloatArray
    low: FloatArray
    high: FloatArray
    low_error: FloatArray
    high_error: FloatArray
    n_rounds: int

    def interval(self, level: float = 0.95) -> tuple[FloatArray, FloatArray]:
        """Ends that hold the index with this confidence (Student's t), bounds included.

        Examples
        --------
        >>> one = np.array([0.5])
        >>> Estimate(one, one / 50, one, one, one / 50, one / 50, 10).interval()[0].round(3)
        array([0.477])
        """
        from scipy.stats import t

        if not 0 < level < 1:
            raise OptionError(f"level={level} must lie between 0 and 1")
        wide = float(t.ppf((1 + level) / 2, self.n_rounds - 1))
        return self.low - wide * self.low_error, self.high + wide * self.high_error


@dataclass(frozen=True, eq=False)
class SampledIndices:
    """Indices of a measure, estimated from a sample of walks.

    Attributes
    ----------
    shapley : Estimate
        Of each source (N,).
    interaction : Estimate
        Of each pair (N, N); the diagonal holds the Shapley values.
    orness : Estimate
        Of the integral, a single number.
    n_rounds, n_walks : int
        Rounds, and walks in all.
    """

    shapley: Estimate
    interaction: Estimate
    orness: Estimate
    n_rounds: int
    n_walks: int


def balanced_sorts(n_sources: int, rng: np.random.Generator) -> IntArray:
    """A round of sorts: each source once at each rank, each pair adjacent equally often.

    N sorts for an even number of sources, 2N for an odd one.

    References
    ----------
    Williams (1949), "Experimental designs balanced for the estimation of residual effects".

    Examples
    --------
    >>> sorts = balanced_sorts(4, np.random.default_rng(0))
    >>> [sorted(column) for column in sorts.T.tolist()] == [[0, 1, 2, 3]] * 4
    True
    """
    steps = np.arange(n_sources)
    zigzag = np.where(steps % 2, (steps + 1) // 2, -(steps // 2))
    square = (zigzag + steps[:, None]) % n_sources
    if n_sources % 2:
        # Of an even number the reverses are in the square already.
        square = np.concatenate([square, square[:, ::-1]])
    found: IntArray = rng.permutation(n_sources)[square]
    return found


def sample_indices(
    measure: Any,
    n_sources: int | None = None,
    *,
    n_rounds: int = 20,
    rng: Any = 0,
    n_jobs: int | None = None,
) -> SampledIndices:
    """Shapley values, interactions and orness of any measure, each with its standard error.

    Exact for additive measures; Shapley values and interactions are for 2-additive ones too (the
    error is then 0 but for rounding).

    Parameters
    ----------
    measure : AbstractMeasure or callable
        A callable takes memberships, an array of booleans (n, N), and gives n values.
    n_sources : int, optional
        N, for a callable.
    n_rounds : int, default 20
        Rounds of N walks (2N for odd N), at least 2.
    rng : seed or numpy.random.Generator, default 0
    n_jobs : int, optional
        Rounds at a time; see `choquet.jobs.run_jobs`.

    Returns
    -------
    SampledIndices
        Values and standard errors of `shapley`, `interaction` and `orness`.

    References
    ----------
    Castro, Gómez & Tejada (2009), "Polynomial calculation of the Shapley value based on sampling";
    Mitchell, Cooper, Frank & Holmes (2022), "Sampling permutations for Shapley value estimation".

    Examples
    --------
    >>> found = sample_indices(lambda inside: inside.mean(axis=1) ** 2, 30)
    >>> np.allclose(found.shapley.value, 1 / 30), float(found.orness.value.round(3))
    (True, 0.328)
    """
    if n_rounds < 2:
        raise OptionError(f"n_rounds={n_rounds} must be at least 2: errors come from their spread")
    bounds, n = _bounds_of(measure, n_sources)
    if n < 2:
        raise OptionError("indices are sampled for two and more sources")
    jobs = [(bounds, n, seed) for seed in spawn(rng, n_rounds)]
    rounds = run_jobs(_round, jobs, n_jobs=n_jobs, title="sampling orders")
    shapley, pairs, orness = (_estimate(np.stack([one[k] for one in rounds])) for k in range(3))
    return SampledIndices(shapley, pairs, orness, n_rounds, n_rounds * (n if n % 2 == 0 else 2 * n))


def _estimate(rounds: FloatArray) -> Estimate:
    """From rounds of (value, low, high)."""
    means = rounds.mean(axis=0)
    errors = rounds.std(axis=0, ddof=1) / np.sqrt(len(rounds))
    return Estimate(
        means[0], errors[0], means[1], means[2], errors[1], errors[2], len(rounds)
    )  # fmt: skip


def _round(
    bounds: Callable[[BoolArray], _Bounds], n: int, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Value, lower and upper bound of each index from one round of walks."""
    sorts = balanced_sorts(n, rng)
    count = len(sorts)
    ranks = np.argsort(sorts, axis=1)
    # Chains A_0 ⊂ … ⊂ A_N, then A_(j-1) with the source after next: (walks, 2N, N) memberships.
    chain = ranks[:, None, :] < np.arange(n + 1)[None, :, None]
    aside = chain[:, : n - 1].copy()
    np.put_along_axis(aside, sorts[:, 1:, None], True, axis=2)
    inside = np.concatenate([chain, aside], axis=1).reshape(-1, n)
    low, high = (side.reshape(count, 2 * n) for side in bounds(inside))
    middle = (low + high) / 2
    total = middle[:, n]
    at, nearby = slice(0, n + 1), slice(n + 1, 2 * n)
    gains = [
        np.diff(middle[:, at], axis=1),
        np.maximum(low[:, 1 : n + 1] - high[:, :n], 0.0),
        high[:, 1 : n + 1] - low[:, :n],
    ]
    known = np.array_equal(low, high)
    if known:
        gains = [gains[0]] * 3
    shapley = np.stack([_mean_by(sorts, gain, n) for gain in gains])
    joint = _joint(low[:, at], high[:, at], low[:, nearby], high[:, nearby], known)
    pair = sorts[:, :-1] * n + sorts[:, 1:]
    table = np.stack([_mean_by(pair, one, n * n).reshape(n, n) for one in joint])
    # Both orders of a pair are the same pair; each met equally often in the round.
    seen = np.bincount(pair.ravel(), minlength=n * n).reshape(n, n)
    table = table * seen
    table = (table + table.transpose(0, 2, 1)) / np.maximum(seen + seen.T, 1)
    table[:, np.arange(n), np.arange(n)] = shapley
    scale = np.where(total != 0, total, 1.0)[:, None]
    orness = np.array([(side[:, 1:n] / scale).mean() for side in (middle, low, high)])
    return shapley, table, orness


def _joint(
    low: FloatArray, high: FloatArray, low_aside: FloatArray, high_aside: FloatArray, known: bool
) -> list[FloatArray]:
    """Contributions g(A+ab) - g(A+a) - g(A+b) + g(A) of neighbours a, b: value and bounds."""
    middle, beside = (low + high) / 2, (low_aside + high_aside) / 2
    value = middle[:, 2:] - middle[:, 1:-1] - beside + middle[:, :-2]
    if known:
        return [value] * 3
    least = low[:, 2:] - high[:, 1:-1] - high_aside + low[:, :-2]
    most = high[:, 2:] - low[:, 1:-1] - low_aside + high[:, :-2]
    # Order bounds it too: g(A+ab) is above both, and both are above g(A).
    least = np.maximum(least, low[:, :-2] - np.minimum(high[:, 1:-1], high_aside))
    most = np.minimum(most, high[:, 2:] - np.maximum(low[:, 1:-1], low_aside))
    return [value, least, most]


def _mean_by(labels: IntArray, values: FloatArray, size: int) -> FloatArray:
    counts = np.bincount(labels.ravel(), minlength=size)
    return np.bincount(labels.ravel(), values.ravel(), minlength=size) / np.maximum(counts, 1)


class _Evaluate:
    """Values or bounds of memberships; a class, so that other processes can be sent one."""

    def __init__(self, measure: Any) -> None:
        self.measure = measure

    def __call__(self, inside: BoolArray) -> _Bounds:
        measure = self.measure
        if isinstance(measure, AbstractMeasure):
            return measure.bounds(pack(inside))
        values = np.asarray(measure(inside), dtype=np.float64)
        if values.shape != (len(inside),):
            raise MeasureError(
                f"the measure gave an array of shape {values.shape} for {len(inside)} subsets"
            )
        return values, values


def _bounds_of(measure: Any, n_sources: int | None) -> tuple[_Evaluate, int]:
    known = getattr(measure, "n_sources", None)
    n = known if n_sources is None else n_sources
    if n is None:
        raise OptionError("a callable does not tell its number of sources; pass n_sources=")
    if known is not None and known != n:
        raise OptionError(f"n_sources={n_sources}, but the measure has {known}")
    return _Evaluate(measure), int(n)
