"""k-additive least squares for many sources: statistics of minima, and the fit to them.

The integral is Σ m(T) · (smallest input in T): linear regression on the R minima of at most k
sources, N + N(N-1)/2 of them for k = 2. Up to R rows are kept as they are; beyond, their products
are, R² numbers whatever the number of rows. Either way the sums of parts add up.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from math import comb
from typing import Any

import numpy as np
import numpy.typing as npt

from choquet.arrays import FloatArray, IntArray, as_inputs, as_vector
from choquet.errors import DataError, TooLargeError
from choquet.lattice.lazy import sp
from choquet.lattice.ties import TIE, tie_widths
from choquet.lattice.vectors import dot
from choquet.lattice.wide import WordArray, membership
from choquet.learning.data.scale import refuse_offset, refuse_overflow
from choquet.learning.data.statistics import Statistics, sample_weights
from choquet.learning.problem import check_weight
from choquet.learning.solvers.k_additive import mixture
from choquet.learning.solvers.solution import Solution, check_finite
from choquet.measures.mobius import coalitions

_MAX_FEATURES = 12_000
"""Coefficients whose products are held: 1.2 GB."""

_BLOCK = 8_000_000
"""Minima that are worked out at a time."""


@lru_cache(maxsize=4)
def _layout(n_sources: int, order: int) -> tuple[WordArray, IntArray, Any]:
    """Subsets of at most `order` sources, their members (padded), and the larger ones' members."""
    words = coalitions(n_sources, order)
    inside = membership(words, n_sources)
    ranked = np.argsort(~inside, axis=1, kind="stable")[:, :order]
    members = np.where(np.take_along_axis(inside, ranked, axis=1), ranked, ranked[:, :1])
    return words, members, sp.csr_array(inside[n_sources:].astype(np.float64))


def minima(X: FloatArray, order: int) -> FloatArray:
    """Smallest input of each subset of at most `order` sources, the single sources first.

    Examples
    --------
    >>> minima(np.array([[0.3, 0.7, 0.5]]), 2)
    array([[0.3, 0.7, 0.5, 0.3, 0.3, 0.5]])
    """
    members = _layout(X.shape[1], order)[1]
    found = X[:, members[:, 0]]
    for column in members.T[1:]:
        np.minimum(found, X[:, column], out=found)
    return found


@dataclass(frozen=True, eq=False)
class MinimaStatistics:
    """What squared error needs to know of a data set, for measures that are k-additive.

    Build it with `from_data`, join two with ``+``.

    Attributes
    ----------
    n_sources, order, n_samples : int
        Columns, k, and rows of positive weight.
    rows : array of shape (r, R + 2)
        Minima, 1 and target of rows that are not summed up yet, times the root of their weight.
    gram : array of shape (R + 2, R + 2), or (0, 0)
        Products of the columns over all other rows.

    Examples
    --------
    >>> part = MinimaStatistics.from_data([[0.9, 0.4, 0.1]], [0.6], order=2)
    >>> (part + part).n_samples, part.n_features
    (2, 6)
    """

    n_sources: int
    order: int
    n_samples: int
    rows: FloatArray
    gram: FloatArray

    def __post_init__(self) -> None:
        with np.errstate(over="ignore"):
            refuse_overflow(np.abs(self.rows).max(initial=0.0, keepdims=True) ** 2, self.gram)

    @classmethod
    def from_data(
        cls,
        X: npt.ArrayLike,
        y: npt.ArrayLike,
        sample_weight: npt.ArrayLike | None = None,
        *,
        order: int,
    ) -> MinimaStatistics:
        """Accumulate the statistics of one batch of rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_sources)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), optional
        order : int
            k: the largest subsets with a coefficient.
        """
        inputs = as_inputs(X)
        targets = as_vector(y, "y", len(inputs))
        weights = sample_weights(sample_weight, len(inputs))
        n_features = len(_checked(inputs.shape[1], order)[0])
        low = inputs.min(axis=1, initial=np.inf)
        high = inputs.max(axis=1, initial=-np.inf)
        apart = np.where(high - low > TIE * np.maximum(high, -low), high - low, 0.0)
        with np.errstate(over="ignore", invalid="ignore"):  # what overflows is refused in the end
            refuse_offset(weights @ (apart * np.abs(low)), weights @ apart**2, weights.sum())
        kept = np.flatnonzero(weights > 0)
        gram = np.zeros((0, 0))
        step = max(1, min(_BLOCK // n_features, n_features + 2))
        held: list[FloatArray] = []
        for start in range(0, len(kept), step):
            part = kept[start : start + step]
            root = np.sqrt(weights[part])[:, None]
            columns = [minima(inputs[part], order), np.ones((len(part), 1)), targets[part, None]]
            held.append(np.concatenate(columns, axis=1) * root)
            if sum(map(len, held)) > n_features + 2:
                gram = _folded(gram, np.concatenate(held))
                held = []
        rows = np.concatenate(held) if held else np.zeros((0, n_features + 2))
        return cls(inputs.shape[1], order, len(kept), rows, gram)

    @classmethod
    def from_gaps(cls, statistics: Statistics, order: int) -> MinimaStatistics:
        """The same from statistics of gaps, which know all of it for few rows or sources.

        Examples
        --------
        >>> X, y = [[0.9, 0.4, 0.1], [0.2, 0.3, 0.8]], [0.6, 0.4]
        >>> gaps = MinimaStatistics.from_gaps(Statistics.from_data(X, y), 2)
        >>> rows = MinimaStatistics.from_data(X, y, order=2)
        >>> np.allclose(gaps.products, rows.products)
        True
        """
        words, _, _ = _checked(statistics.n_sources, order)
        R = len(words)
        seen = membership(statistics.masks, statistics.n_sources).astype(np.float64)
        # A subset T contributes its coefficient to g(A) if T ⊆ A: its minimum over indicators.
        basis = sp.csr_array(minima(seen, order))
        gram = np.zeros((R + 2, R + 2))
        gram[:R, :R] = (basis.T @ (statistics.gram @ basis)).toarray()
        gram[:R, R] = gram[R, :R] = basis.T @ statistics.sums
        gram[:R, R + 1] = gram[R + 1, :R] = basis.T @ statistics.targets
        gram[R:, R:] = [
            [statistics.weight, statistics.target_sum],
            [statistics.target_sum, statistics.target_square],
        ]
        return cls(statistics.n_sources, order, statistics.n_samples, np.zeros((0, R + 2)), gram)

    def __add__(self, other: MinimaStatistics) -> MinimaStatistics:
        if not isinstance(other, MinimaStatistics):
            return NotImplemented
        if (self.n_sources, self.order) != (other.n_sources, other.order):
            raise DataError(
                f"statistics of {self.n_sources} and of {other.n_sources} sources (k = "
                f"{self.order} and {other.order}) do not add; fit each on its own"
            )
        gram = self.gram
        if len(other.gram):
            gram = other.gram if not len(gram) else gram + other.gram
        rows = np.concatenate([self.rows, other.rows])
        if len(rows) > self.n_features + 2:
            gram, rows = _folded(gram, rows), rows[:0]
        count = self.n_samples + other.n_samples
        return MinimaStatistics(self.n_sources, self.order, count, rows, gram)

    # -- what the rows say -------------------------------------------------------------------------

    @property
    def n_features(self) -> int:
        """Number R of coefficients."""
        return int(self.rows.shape[1]) - 2

    @property
    def products(self) -> FloatArray:
        """Products of all columns: minima, 1 and target."""
        return _folded(self.gram, self.rows)

    @property
    def _moments(self) -> FloatArray:
        last = self.rows[:, -2:]
        return _folded(self.gram[-2:, -2:], last)

    @property
    def weight(self) -> float:
        """Sum of the weights."""
        return float(self._moments[0, 0])

    @property
    def target_sum(self) -> float:
        """Weighted sum of the targets."""
        return float(self._moments[0, 1])

    @property
    def target_square(self) -> float:
        """Weighted sum of their squares."""
        return float(self._moments[1, 1])

    @property
    def tied(self) -> bool:
        """Whether every row has all its inputs alike."""
        singles = -np.sort(-self.rows[:, : self.n_sources], axis=1)
        square = np.diag(self.gram)[: self.n_features]
        return bool(
            (np.ptp(singles, axis=1, keepdims=True) <= tie_widths(singles)).all()
            and (not len(square) or np.ptp(square) <= 4 * TIE * square.max())
        )

    @property
    def sizes(self) -> tuple[float, float, float]:
        """As of `Statistics`, of which only the last is still known: the others come with rows."""
        squares = (self.rows[:, :-2] ** 2).sum(axis=0)
        if len(self.gram):
            squares = squares + np.diag(self.gram)[:-2]
        return 0.0, 0.0, float(squares.max(initial=0.0))

    # -- files -------------------------------------------------------------------------------------

    def to_arrays(self) -> dict[str, npt.NDArray[Any]]:
        """Plain arrays by name, for a file; `from_arrays` takes them back."""
        size = np.array([self.n_sources, self.order, self.n_samples])
        return {"size": size, "rows": self.rows, "gram": self.gram}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, npt.NDArray[Any]]) -> MinimaStatistics:
        """Rebuild statistics from what `to_arrays` gave; what no data can give is refused."""
        from choquet.learning.data.checks import check_minima

        check_minima(arrays)
        n_sources, order, n_samples = (int(k) for k in arrays["size"])
        return cls(n_sources, order, n_samples, arrays["rows"], arrays["gram"])


def n_coefficients(n_sources: int, order: int) -> int:
    """Number of subsets of at most `order` sources, if their products can be held.

    Examples
    --------
    >>> n_coefficients(3, 2)
    6
    """
    count = 0
    for size in range(1, min(order, n_sources) + 1):
        count += comb(n_sources, size)
        if count > _MAX_FEATURES:  # at once, for numbers to come may have millions of digits
            raise TooLargeError(
                f"{order}-additive measures of {n_sources} sources have {count:,} coefficients or "
                f"more, beyond {_MAX_FEATURES:,}; choose a smaller k_additive or fewer sources"
            )
    return count


def _checked(n_sources: int, order: int) -> tuple[WordArray, IntArray, Any]:
    n_coefficients(n_sources, order)
    return _layout(n_sources, order)


def _folded(gram: FloatArray, rows: FloatArray) -> FloatArray:
    with np.errstate(over="ignore", invalid="ignore"):  # what overflows is refused in the end
        more = rows.T @ rows
    return more if not len(gram) else gram + more


def fit_additive(
    statistics: MinimaStatistics,
    *,
    monotone: bool = True,
    normal: bool = True,
    fit_intercept: bool = False,
    l1: float = 0.0,
    l2: float = 0.0,
) -> Solution:
    """Möbius coefficients of least squared error; `Solution.values` holds them, singles first.

    Parameters
    ----------
    statistics : MinimaStatistics
    monotone, normal, fit_intercept : bool
        As in `least_squares`. Monotone 2-additive measures are searched exactly; for k ≥ 3 those
        with m_i ≥ the sum of all negative coefficients with i, all of which are monotone but which
        not all monotone measures are.
    l1, l2 : float
        Penalties on the coefficients of two and more sources: towards a weighted mean.

    Examples
    --------
    >>> X = np.random.default_rng(0).random((100, 3))
    >>> y = 0.5 * X.min(axis=1, where=[True, True, False], initial=1) + 0.5 * X[:, 2]
    >>> fit_additive(MinimaStatistics.from_data(X, y, order=2)).values.round(4) + 0.0
    array([0. , 0. , 0.5, 0.5, 0. , 0. ])
    """
    for weight in (l1, l2):
        check_weight("the weight of a penalty", weight)
    R, N = statistics.n_features, statistics.n_sources
    inside = _layout(N, statistics.order)[2]
    table = _root(statistics)
    mean = np.zeros(R + 2)
    if fit_intercept:
        # The best intercept is what is left of the means, so both sides are taken off their means.
        mean = table[:, R] @ table / statistics.weight
        table = table - table[:, R : R + 1] * mean
    root = np.ascontiguousarray(table[:, :R])
    targets = root.T @ table[:, R + 1]
    if monotone:
        # The penalty l1 |m| + l2 m² belongs to the whole error, of which half is minimised.
        found = mixture(root, targets, inside, normal=normal, l1=l1 / 2, l2=l2)
        gap, solved, iterations = 2 * found.gap, found.solved, found.iterations
        m, moved = _closed(found.coefficients, inside, normal)
    else:
        gap, solved, iterations, moved = 0.0, True, 1, 0.0
        m = _free(root, targets, normal, l2, N)
    intercept = float(mean[R + 1] - mean[:R] @ m) if fit_intercept else 0.0
    u = np.concatenate([m, [intercept, -1.0]])
    error = float(((statistics.rows @ u) ** 2).sum())
    error += float(u @ statistics.gram @ u) if len(statistics.gram) else 0.0
    penalty = l1 * float(np.abs(m[N:]).sum()) + l2 * dot(m[N:], m[N:])
    check_finite(error + penalty, gap, "k-additive learning")
    return Solution(
        values=m,
        bias=intercept,
        objective=max(error, 0.0) + penalty,
        violation=moved,
        gap=gap,
        # No error is below zero: one that is nothing next to the targets cannot be bettered.
        status="solved" if solved or error <= 1e-8 * statistics.target_square else "inaccurate",
        message="interior point on a mixture" if monotone else "closed form",
        iterations=iterations,
        solver="additive",
        intercepts=np.array([intercept]) if fit_intercept else np.zeros(0),
    )


def _closed(m: FloatArray, inside: Any, normal: bool) -> tuple[FloatArray, float]:
    """Coefficients that keep order to the bit, next to these; any positive scale keeps it too."""
    N = inside.shape[1]
    closed = m.copy()
    closed[:N] = np.maximum(m[:N], inside.T @ np.maximum(-m[N:], 0.0))
    total = float(closed.sum())
    if normal:
        closed = closed / total
    return closed, float(np.abs(closed - m).max(initial=0.0))


def _root(statistics: MinimaStatistics) -> FloatArray:
    """Rows with the same products as all rows: these themselves, or a triangle."""
    if not len(statistics.gram):
        return statistics.rows
    products = statistics.products
    scale = np.sqrt(np.maximum(np.diag(products), 1e-300))
    products /= scale
    products /= scale[:, None]
    # Columns that depend on others leave a zero on the diagonal, which rounding makes negative.
    for jitter in (1e-14, 1e-13, 1e-12, 1e-11, 1e-10):
        lifted = products.copy()
        lifted[np.diag_indices(len(lifted))] += jitter
        try:
            return np.asarray(np.linalg.cholesky(lifted).T * scale)
        except np.linalg.LinAlgError:
            continue
    raise DataError("the products of the inputs are not positive; are weights or inputs extreme?")


def _free(
    root: FloatArray, targets: FloatArray, normal: bool, l2: float, n_singles: int
) -> FloatArray:
    """Least squares without order; of many solutions the smallest."""
    G = root.T @ root
    G[np.arange(n_singles, len(G)), np.arange(n_singles, len(G))] += l2
    inverse = np.linalg.pinv(G, rcond=1e-12, hermitian=True)
    m = inverse @ targets
    if normal:
        ones = np.ones(len(m))
        through = inverse @ ones
        if ones @ through <= 1e-12:
            raise DataError("the data leave g(X) open; use normal=False, or more rows")
        m = m + through * (1 - m.sum()) / (ones @ through)
    return np.asarray(m)
