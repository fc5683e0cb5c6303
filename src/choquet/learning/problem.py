"""The learning problem as data: a quadratic form on subsets, and what the measure must satisfy.

A `Problem` is built in steps, each a function from problem to problem::

    least_squares(statistics)  ─►  with_penalty / with_prior / with_basis / with_rows  ─►  solve

The unknowns are the values on `masks` (every subset in a *dense* problem, only supported ones
otherwise), followed by the intercepts if there are any.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from numbers import Real
from typing import Any

import numpy as np

from choquet.arrays import BoolArray, FloatArray
from choquet.errors import OptionError
from choquet.lattice import check_dense
from choquet.lattice.lazy import sp
from choquet.lattice.ties import settled
from choquet.lattice.vectors import dot
from choquet.lattice.wide import WordArray, chains, pack, unique_rows
from choquet.learning.data.scale import LARGEST
from choquet.learning.data.statistics import Statistics

MAX_LATTICE_SOURCES = 16
"""Up to here all 2**N values are learned; beyond, only those that data support."""
FEW_SUBSETS = 256
"""Up to so many supported subsets the rows of data save no work."""
ALONE = 0.5
"""Share of subsets with one sample from which on the rows of data are fewer numbers."""


@dataclass(frozen=True, eq=False)
class Rows:
    """Linear statements about a dense measure: lower ≤ matrix @ g ≤ upper."""

    matrix: Any
    lower: FloatArray
    upper: FloatArray

    def __post_init__(self) -> None:
        if not np.isfinite(self.matrix.data).all():
            raise OptionError("the coefficients of a statement must be finite numbers")
        wrong = np.flatnonzero(~(self.lower <= self.upper))
        if len(wrong):
            low, high = self.lower[wrong[0]], self.upper[wrong[0]]
            raise OptionError(
                f"no value lies between the bounds {low} and {high} of a statement: give two "
                "numbers, the smaller one first"
            )

    def __add__(self, other: Rows) -> Rows:
        return Rows(
            sp.csr_array(sp.vstack([self.matrix, other.matrix])),
            np.concatenate([self.lower, other.lower]),
            np.concatenate([self.upper, other.upper]),
        )


def reached(rows: Rows, values: FloatArray) -> Rows:
    """Statements with as much more room as these values need, where rounding left them outside."""
    at = rows.matrix @ values
    return Rows(rows.matrix, np.minimum(rows.lower, at), np.maximum(rows.upper, at))


@dataclass(frozen=True, eq=False)
class PriorTerm:
    """alpha · min over θ of the squared distance from g to basis @ θ."""

    basis: Any
    alpha: float


@dataclass(frozen=True, eq=False)
class Absolute:
    """Weighted sum of absolute errors of design @ unknowns against the targets."""

    design: Any
    targets: FloatArray
    weights: FloatArray


@dataclass(frozen=True, eq=False)
class Problem:
    """Minimise ½ v'Pv + q'v + c + penalties over the unknowns v, subject to what is asked.

    Attributes
    ----------
    n_sources : int
    masks : array of shape (K, W)
        Subsets whose values are unknowns, ascending. A dense problem holds all 2**N of them.
    quadratic, linear, constant
        P (scipy.sparse, CSC), q and c over the K values and the intercepts.
    monotone, normal : bool
        Whether g must not decrease, whether g(X) = 1.
    n_intercepts : int
        Number of intercepts (ordered classes have several).
    l1 : float
        Weight of ``Σ |g(A)|``.
    power : tuple of float (p, weight), or None
        Weight of ``Σ |g(A)|^p``.
    prior : PriorTerm or None
    basis : sparse matrix of shape (K, R), or None
        Restricts g to basis @ x: k-additive or symmetric measures.
    rows : Rows or None
        What experts say.
    absolute : Absolute or None
    samples : sparse matrix of shape (S, K + intercepts), or None
        Some rows of data whose products are a part of `quadratic`, where that saves work.
    """

    n_sources: int
    masks: WordArray
    quadratic: Any
    linear: FloatArray
    constant: float
    monotone: bool = True
    normal: bool = True
    n_intercepts: int = 0
    l1: float = 0.0
    power: tuple[float, float] | None = None
    prior: PriorTerm | None = None
    basis: Any = None
    rows: Rows | None = None
    absolute: Absolute | None = None
    samples: Any = None

    @cached_property
    def n_values(self) -> int:
        """Number of subsets whose values are unknowns."""
        return len(self.masks)

    @cached_property
    def dense(self) -> bool:
        """Whether every subset is there, so that a mask is its own position."""
        return self.n_sources < 60 and self.n_values == 1 << self.n_sources

    @cached_property
    def fixed(self) -> BoolArray:
        """Which values are known beforehand: g(∅) = 0 and, if normal, g(X) = 1."""
        fixed = np.zeros(self.n_values, dtype=bool)
        fixed[0] = not self.masks[0].any()
        fixed[-1] = self.normal and self.has_top
        fixed.flags.writeable = False
        return fixed

    @cached_property
    def has_top(self) -> bool:
        """Whether the set of all sources is among the unknowns (it is always the last)."""
        return int(np.bitwise_count(self.masks[-1]).sum()) == self.n_sources

    @property
    def start(self) -> FloatArray:
        """Values at the fixed positions, zero elsewhere."""
        start = np.zeros(self.n_values)
        start[-1] = 1.0 if self.normal and self.has_top else 0.0
        return start

    def objective(self, values: FloatArray, intercepts: float | FloatArray = 0.0) -> float:
        """What is minimised, at these values."""
        v = np.append(values, intercepts) if self.n_intercepts else values
        total = 0.5 * dot(v, self.quadratic @ v) + dot(self.linear, v) + self.constant
        inner = np.abs(values[~self.fixed])
        total += self.l1 * inner.sum()
        if self.power is not None:
            total += self.power[1] * (inner ** self.power[0]).sum()
        if self.prior is not None:
            total += self.prior.alpha * prior_distance(self.prior.basis, values)
        if self.absolute is not None:
            error = np.abs(self.absolute.design @ v - self.absolute.targets)
            total += dot(self.absolute.weights, error)
        return float(total)


def prior_distance(basis: Any, values: FloatArray) -> float:
    """Squared distance from values to the column space of a sparse basis."""
    gram = (basis.T @ basis).toarray()
    theta = np.linalg.lstsq(gram, basis.T @ values, rcond=None)[0]
    rest = values - basis @ theta
    return dot(rest, rest)


def least_squares(
    statistics: Statistics,
    *,
    monotone: bool = True,
    normal: bool = True,
    fit_intercept: bool = False,
    dense: bool = True,
) -> Problem:
    """Sum of squared errors as a problem.

    Parameters
    ----------
    statistics : Statistics
        The data.
    monotone, normal, fit_intercept : bool
        ``monotone=False, normal=False, fit_intercept=True`` is the Choquet regression "CIR".
    dense : bool, default True
        All 2**N subsets as unknowns; otherwise only those that data support.

    References
    ----------
    Anderson, Price & Havens (2014), "Regularization-based learning of the Choquet integral";
    Kakula, Pinar, Havens & Anderson (2020), "Choquet integral ridge regression".

    Examples
    --------
    >>> from choquet.learning.data.statistics import Statistics
    >>> problem = least_squares(Statistics.from_data([[0.9, 0.4]], [0.6]))
    >>> problem.n_values, round(problem.objective(np.array([0.0, 0.4, 0.7, 1.0])), 12)
    (4, 0.0)
    """
    masks, place, size = _layout(statistics, dense)
    total = size + int(fit_intercept)
    gram = sp.coo_array(statistics.gram)
    rows, columns, data = place[gram.row], place[gram.col], gram.data
    linear = np.zeros(total)
    linear[place] = -2 * statistics.targets
    if fit_intercept:
        edge = np.full(len(place), size)
        rows = np.concatenate([rows, place, edge, [size]])
        columns = np.concatenate([columns, edge, place, [size]])
        data = np.concatenate([data, statistics.sums, statistics.sums, [statistics.weight]])
        linear[size] = -2 * statistics.target_sum
    quadratic = sp.csc_array((2 * data, (rows, columns)), shape=(total, total))
    quadratic.sort_indices()
    return Problem(
        n_sources=statistics.n_sources,
        masks=masks,
        quadratic=quadratic,
        linear=linear,
        constant=statistics.target_square,
        monotone=monotone,
        normal=normal,
        n_intercepts=int(fit_intercept),
        samples=_samples(statistics, place, total, fit_intercept),
    )


def _samples(statistics: Statistics, place: Any, total: int, fit_intercept: bool) -> Any:
    """Samples that are alone in a subset, if they are most of the data; else None."""
    if len(statistics.masks) <= FEW_SUBSETS or (statistics.counts == 1).mean() < ALONE:
        return None
    gaps, ones = statistics.alone
    entries = sp.coo_array(gaps)
    rows, columns, data = entries.row, place[entries.col], entries.data
    if fit_intercept:
        rows = np.concatenate([rows, np.arange(len(ones))])
        columns = np.concatenate([columns, np.full(len(ones), total - 1)])
        data = np.concatenate([data, ones])
    return sp.csr_array((np.sqrt(2) * data, (rows, columns)), shape=(len(ones), total))


def _layout(statistics: Statistics, dense: bool) -> tuple[WordArray, Any, int]:
    if dense:
        check_dense(statistics.n_sources)
        size = 1 << statistics.n_sources
        return np.arange(size, dtype=np.uint64)[:, None], statistics.positions, size
    top = pack(np.ones((1, statistics.n_sources), dtype=np.bool_))
    masks, place = unique_rows(np.concatenate([statistics.masks, top]))
    return masks, place[:-1], len(masks)


def absolute_loss(
    X: FloatArray,
    y: FloatArray,
    sample_weight: FloatArray | None = None,
    *,
    monotone: bool = True,
    normal: bool = True,
    fit_intercept: bool = False,
) -> Problem:
    """Sum of absolute errors as a problem (a linear program; needs the rows themselves).

    References
    ----------
    Beliakov (2009), "Construction of aggregation functions from data using linear programming".

    Examples
    --------
    >>> problem = absolute_loss(np.array([[0.9, 0.4]]), np.array([0.5]))
    >>> round(problem.objective(np.array([0.0, 0.4, 0.7, 1.0])), 12)
    0.1
    """
    n_samples, n_sources = X.shape
    check_dense(n_sources)
    # Numbers far from 1 are brought there by a power of two, which rounds nothing.
    largest = max(float(np.abs(X).max(initial=0.0)), float(np.abs(y).max(initial=0.0)), 1e-300)
    unit = 1.0 if 1e-6 < largest < 1e6 else 2.0 ** np.round(np.log2(largest))
    words, gaps = chains(settled(X / unit))
    size = 1 << n_sources
    total = size + int(fit_intercept)
    rows = np.repeat(np.arange(n_samples), n_sources)
    columns = words[..., 0].ravel().astype(np.int64)
    data = gaps.ravel()
    if fit_intercept:
        rows = np.concatenate([rows, np.arange(n_samples)])
        columns = np.concatenate([columns, np.full(n_samples, size)])
        data = np.concatenate([data, np.full(n_samples, 1 / unit)])
    design = sp.csr_array((data, (rows, columns)), shape=(n_samples, total))
    design.eliminate_zeros()
    weights = np.ones(n_samples) if sample_weight is None else np.asarray(sample_weight)
    targets = np.asarray(y, dtype=np.float64) / unit
    return Problem(
        n_sources=n_sources,
        masks=np.arange(size, dtype=np.uint64)[:, None],
        quadratic=sp.csc_array((total, total)),
        linear=np.zeros(total),
        constant=0.0,
        monotone=monotone,
        normal=normal,
        n_intercepts=int(fit_intercept),
        absolute=Absolute(design, targets, weights * unit),
    )


def check_weight(name: str, weight: Any) -> None:
    """Refuse a weight that is not a finite number, below zero, or too large to calculate with."""
    if not isinstance(weight, Real) or not 0 <= float(weight) <= LARGEST:
        raise OptionError(
            f"{name} must be a finite number not below zero (and at most {LARGEST:g}), not "
            f"{weight!r}"
        )


def with_diagonal(problem: Problem, diagonal: FloatArray) -> Problem:
    """Add a diagonal to the quadratic form of the values; intercepts have none."""
    padded = np.append(diagonal, np.zeros(problem.n_intercepts))
    quadratic = sp.csc_array(problem.quadratic + sp.diags_array(padded))
    quadratic.sort_indices()
    return replace(problem, quadratic=quadratic)


def with_penalty(
    problem: Problem, *, l1: float = 0.0, l2: float = 0.0, power: tuple[float, float] | None = None
) -> Problem:
    """Add l1 Σ|g| + l2 Σ g² (both: elastic net) + weight Σ|g|^p with ``power=(p, weight)``.

    Intercepts and known values are not penalised.

    References
    ----------
    Zou & Hastie (2005), "Regularization and variable selection via the elastic net".

    Examples
    --------
    >>> from choquet.learning.data.statistics import Statistics
    >>> problem = least_squares(Statistics.from_data([[0.9, 0.4]], [0.6]))
    >>> with_penalty(problem, l1=1.0).objective(np.array([0.0, 0.4, 0.7, 1.0]))
    1.1
    """
    for weight in (l1, l2, 0.0 if power is None else power[1]):
        check_weight("the weight of a penalty", weight)
    if power is not None and not 0 < power[0] <= 2:
        raise OptionError(f"p={power[0]} is out of range; an lp penalty needs 0 < p <= 2")
    if l2:
        problem = with_diagonal(problem, np.where(problem.fixed, 0.0, 2.0 * l2))
    return replace(problem, l1=problem.l1 + l1, power=power)


def with_prior(problem: Problem, prior: Any, alpha: float) -> Problem:
    """Add alpha · squared distance to a prior.

    Parameters
    ----------
    problem : Problem
    prior : array of values, or a sparse basis
        A given measure on the problem's subsets; or a matrix whose column space is the family that
        g shrinks towards, the member of the family being estimated jointly with g.
    alpha : float
        In the units of the squared error: the weight of one squared unit of g.

    Examples
    --------
    >>> from choquet.learning.data.statistics import Statistics
    >>> problem = least_squares(Statistics.from_data([[0.9, 0.4]], [0.6]))
    >>> prior = np.array([0.0, 0.5, 0.5, 1.0])
    >>> round(with_prior(problem, prior, 1.0).objective(np.array([0.0, 0.4, 0.7, 1.0])), 12)
    0.05
    """
    check_weight("alpha", alpha)
    if sp.issparse(prior):
        return replace(problem, prior=PriorTerm(sp.csr_array(prior), float(alpha)))
    center = np.asarray(prior, dtype=np.float64)
    padded = np.append(center, np.zeros(problem.n_intercepts))
    return replace(
        with_diagonal(problem, np.full(problem.n_values, 2.0 * alpha)),
        linear=problem.linear - 2 * alpha * padded,
        constant=problem.constant + alpha * dot(center, center),
    )


def with_basis(problem: Problem, basis: Any) -> Problem:
    """Restrict the measure to basis @ x (see `choquet.learning.families.bases`)."""
    return replace(problem, basis=sp.csr_array(basis))


def with_rows(problem: Problem, rows: Rows) -> Problem:
    """Add what experts say (see `choquet.learning.expert`); the problem must be dense."""
    if not problem.dense:
        raise OptionError("expert statements need a dense problem: at most 16 sources or so")
    if rows.matrix.shape[1] != problem.n_values:
        raise OptionError(
            f"the statements are about {rows.matrix.shape[1]} subsets, the problem has "
            f"{problem.n_values}: make them for {problem.n_sources} sources"
        )
    return replace(problem, rows=rows if problem.rows is None else problem.rows + rows)
