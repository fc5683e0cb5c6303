"""Dissimilarities between operators, as rows of one table.

Every row is a norm of the difference of two weight vectors after a map: earth mover's distance is
l1 on cumulative sums, Hellinger is l2 on square roots. The map is what makes them fast: a spanning
tree or a nearest operator needs only the mapped vectors and one of the norms l1, l2, l∞, lp.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from choquet.arrays import FloatArray, as_inputs, check_option
from choquet.errors import DataError, OptionError, TooLargeError

MetricName: TypeAlias = Literal[
    "l1", "l2", "sql2", "linf", "hellinger", "aitchison", "emd", "worst", "rms"
]

NEGATIVE_ZERO = 1e-9
"""Weights above minus this are rounding of zero: they are differences of values of a measure."""
AITCHISON_ZERO = 1e-6
"""The smallest share that log-ratios are taken of; see `aitchison`."""
_BLOCKS = 16
"""Blocks of rows that jobs are made of."""

MATRIX_LIMIT = 1 << 31
"""Entries of the largest matrix that `dissimilarity` makes: 16 GiB."""


def _as_they_are(weights: FloatArray) -> FloatArray:
    return weights


@dataclass(frozen=True)
class Dissimilarity:
    """One row of the table: what the dissimilarity is, and how to compute it.

    Attributes
    ----------
    name : str
        Key in `DISSIMILARITIES`, or a description for rows made by a constructor.
    meaning : str
        What a value says, in one line.
    largest : callable
        Largest possible value between two operators on the simplex, by the number of sources.
        Infinite where there is none.
    p : float
        Exponent of the norm taken after `embed`: 1, 2, infinity, or any other p ≥ 1. NaN when
        there is no such form and `function` is called instead.
    embed : callable
        Map of (n, N) weights to vectors whose p-norm distance is the dissimilarity.
    power : float
        The norm is raised to this power (2 for squared l2); it never changes who is nearest.
    function : callable or None
        The user's own (n, N), (m, N) → (n, m) where there is no map.
    citation : str
        Where it comes from.
    """

    name: str
    meaning: str
    largest: Callable[[int], float]
    p: float = math.nan
    embed: Callable[[FloatArray], FloatArray] = _as_they_are
    power: float = 1.0
    function: Callable[[FloatArray, FloatArray], npt.ArrayLike] | None = None
    citation: str = ""

    def __reduce__(self) -> tuple[Any, ...]:
        # A row of the table stays that row wherever it is sent.
        if DISSIMILARITIES.get(self.name) is self:
            return as_dissimilarity, (self.name,)
        return Dissimilarity, tuple(vars(self).values())

    @property
    def embeddable(self) -> bool:
        """Whether the dissimilarity is a norm of mapped vectors."""
        return not math.isnan(self.p)

    @property
    def is_metric(self) -> bool:
        """Whether the triangle inequality is known to hold."""
        return self.embeddable and self.power <= 1.0

    def between_embedded(self, U: FloatArray, W: FloatArray) -> FloatArray:
        """Dissimilarity matrix of vectors that `embed` has already mapped."""
        from scipy.spatial.distance import cdist

        named = {1.0: "cityblock", 2.0: "euclidean", math.inf: "chebyshev"}
        options = {} if self.p in named else {"p": self.p}
        norm = cdist(U, W, named.get(self.p, "minkowski"), **options)
        return np.asarray(norm if self.power == 1.0 else norm**self.power, dtype=np.float64)

    def matrix(self, V: FloatArray, W: FloatArray) -> FloatArray:
        """Dissimilarity of every row of `V` to every row of `W`."""
        if self.function is None:
            return self.between_embedded(self.embed(V), self.embed(W))
        try:
            values = np.asarray(self.function(V, W), dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise DataError(f"metric {self.name} did not return numbers: {error}") from None
        if values.shape != (len(V), len(W)):
            raise DataError(
                f"metric {self.name} returned shape {values.shape} for {len(V)} and {len(W)} "
                f"operators; it must return ({len(V)}, {len(W)})"
            )
        if not (np.isfinite(values).all() and (values >= 0).all()):
            bad = values[~(np.isfinite(values) & (values >= 0))][0]
            raise DataError(f"metric {self.name} returned {bad}; values must be finite and ≥ 0")
        return values


Metric: TypeAlias = MetricName | Dissimilarity | Callable[[FloatArray, FloatArray], npt.ArrayLike]
"""What `metric=` accepts: a name in the table, a row, or a function of two arrays of operators."""


def _nonnegative(weights: FloatArray, name: str) -> FloatArray:
    if (weights < -NEGATIVE_ZERO).any():
        row, column = (int(k) for k in np.argwhere(weights < -NEGATIVE_ZERO)[0])
        raise DataError(
            f"metric={name!r} needs weights ≥ 0, but row {row}, column {column} holds "
            f"{weights[row, column]}; operators of a regression may be negative: "
            "use 'rms', 'worst' or an lp norm for them"
        )
    return np.maximum(weights, 0.0)


def _square_roots(weights: FloatArray) -> FloatArray:
    return np.sqrt(_nonnegative(weights, "hellinger") / 2.0)


def _cumulative(weights: FloatArray) -> FloatArray:
    return np.cumsum(weights, axis=1)


def _uniform_output(weights: FloatArray) -> FloatArray:
    """Vectors whose Euclidean distance is the rms difference of output over uniform inputs.

    With D the cumulative sums of the difference and s the N + 1 gaps of sorted uniform inputs, the
    outputs differ by Σ D_k s_k, and E[s_k s_l] = (1 + [k = l]) / ((N+1)(N+2)). The triangular
    factor leaves the last coordinate to D_N alone: constant when all weights have one total.
    """
    n_sources = weights.shape[1]
    factor = np.linalg.cholesky(np.eye(n_sources) + 1.0)
    scale = math.sqrt((n_sources + 1.0) * (n_sources + 2.0))
    return np.asarray(_cumulative(weights) @ (factor / scale), dtype=np.float64)


def _largest_rms(n_sources: int) -> float:
    # The distance is convex, so it is largest between two vertices of the simplex.
    return _largest_by(_uniform_output(np.eye(n_sources)), n_sources)


def _if_several(value: float, n_sources: int) -> float:
    """Largest value when it lies between any two vertices; a single source has but one operator."""
    return value if n_sources > 1 else 0.0


def _without_limit(_: int) -> float:
    return math.inf


def _ranks_apart(n_sources: int) -> float:
    return float(n_sources - 1)


def lp(p: float) -> Dissimilarity:
    """The lp norm of the difference of the weights, p ≥ 1.

    Examples
    --------
    >>> float(dissimilarity([1, 0], [0, 1], metric=lp(4))[0, 0].round(6))
    1.189207
    """
    if not p >= 1:
        raise OptionError(f"p={p} makes no norm; choose p ≥ 1")
    return Dissimilarity(
        f"l{p:g}",
        f"l{p:g} norm of the difference of the weights",
        partial(_if_several, 2.0 ** (1.0 / p)),
        p=float(p),
        citation="Minkowski 1896",
    )


def a_norm(A: npt.ArrayLike) -> Dissimilarity:
    """The norm sqrt(dᵀ A d) of the difference d, for a positive semidefinite matrix A.

    A says which ranks matter, and together with which. With A the second moments of the sorted
    inputs it is the root mean square difference of output on such inputs; "rms" is that row for
    uniform inputs.

    Examples
    --------
    >>> float(dissimilarity([1, 0], [0, 1], metric=a_norm([[2, 0], [0, 2]]))[0, 0])
    2.0
    """
    matrix = as_inputs(A)
    n_sources = len(matrix)
    if matrix.shape != (n_sources, n_sources):
        raise DataError(f"A must be square, not of shape {matrix.shape}")
    skew = float(np.abs(matrix - matrix.T).max())
    size = float(np.abs(matrix).max())
    if skew > 1e-9 * size:
        raise DataError(f"A must be symmetric, but A and its transpose differ by {skew:g}")
    values, vectors = np.linalg.eigh((matrix + matrix.T) / 2.0)
    if values[0] < -1e-9 * size:
        raise DataError(
            f"A must be positive semidefinite, but its smallest eigenvalue is {values[0]:g}"
        )
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    return Dissimilarity(
        "a_norm", "sqrt(dᵀ A d) of the difference d of the weights", partial(_largest_by, root),
        p=2.0, embed=partial(_embed_by, root), citation="Mahalanobis 1936",
    )  # fmt: skip


def _embed_by(root: FloatArray, weights: FloatArray) -> FloatArray:
    n_sources = len(root)
    if weights.shape[1] != n_sources:
        raise DataError(
            f"A is {n_sources} × {n_sources}, but the operators have {weights.shape[1]} weights"
        )
    return np.asarray(weights @ root, dtype=np.float64)


def _largest_by(root: FloatArray, _: int) -> float:
    return float(np.sqrt(((root[:, None] - root[None]) ** 2).sum(axis=2).max()))


def aitchison(zero: float = AITCHISON_ZERO) -> Dissimilarity:
    """Aitchison's distance between compositions: Euclidean after the centred log-ratio.

    Only proportions count. Log-ratios of zero do not exist, so a share below `zero` is taken as
    `zero`; the distance between operators with zeros grows with log(1/zero), without a limit.

    Examples
    --------
    >>> float(dissimilarity([0.5, 0.5], [0.8, 0.2], metric=aitchison())[0, 0].round(6))
    0.980258
    """
    if not 0 < zero < 1:
        raise OptionError(f"zero={zero} must lie between 0 and 1")
    return Dissimilarity(
        "aitchison", "difference of the log-ratios of the weights", _without_limit, p=2.0,
        embed=partial(_log_ratios, zero), citation="Aitchison 1986",
    )  # fmt: skip


def _log_ratios(zero: float, weights: FloatArray) -> FloatArray:
    shares = _nonnegative(weights, "aitchison")
    totals = shares.sum(axis=1, keepdims=True)
    if (totals <= 0).any():
        row = int(np.flatnonzero(totals <= 0)[0])
        raise DataError(
            f"metric='aitchison' compares proportions, but row {row} is all zero; "
            "drop it or use another metric"
        )
    logs = np.log(np.maximum(shares / totals, zero))
    return np.asarray(logs - logs.mean(axis=1, keepdims=True), dtype=np.float64)


def precomputed(operators: npt.ArrayLike, matrix: npt.ArrayLike) -> Dissimilarity:
    """Dissimilarities that were computed elsewhere, as a row that knows these operators only.

    Parameters
    ----------
    operators : array-like of shape (n, n_sources)
        Distinct operators, such as ``sample_operators(measure).weights``.
    matrix : array-like of shape (n, n)
        Their dissimilarities.

    Examples
    --------
    >>> row = precomputed([[1, 0], [0, 1]], [[0, 3], [3, 0]])
    >>> dissimilarity([[0, 1]], [[1, 0], [0, 1]], metric=row)
    array([[3., 0.]])
    """
    rows, values = as_inputs(operators), as_inputs(matrix)
    if values.shape != (len(rows), len(rows)):
        raise DataError(
            f"{len(rows)} operators need a matrix of {len(rows)} × {len(rows)}, not {values.shape}"
        )
    place = {(row + 0.0).tobytes(): k for k, row in enumerate(rows)}
    if len(place) != len(rows):
        raise DataError("operators with precomputed dissimilarities must be distinct")
    known = partial(_look_up, place, values)
    return Dissimilarity("precomputed", "computed elsewhere", _without_limit, function=known)


def _look_up(
    place: dict[bytes, int], values: FloatArray, V: FloatArray, W: FloatArray
) -> FloatArray:
    try:
        rows, columns = (
            [place[(row + 0.0).tobytes()] for row in np.ascontiguousarray(weights)]
            for weights in (V, W)
        )
    except KeyError:
        raise DataError(
            "an operator is not among those whose dissimilarities were precomputed"
        ) from None
    return values[np.ix_(rows, columns)]


DISSIMILARITIES: dict[str, Dissimilarity] = {
    row.name: row
    for row in (
        Dissimilarity(
            "l1", "sum of the absolute differences of the weights", partial(_if_several, 2.0),
            p=1.0, citation="Minkowski 1896",
        ),
        Dissimilarity(
            "l2", "Euclidean distance of the weights", partial(_if_several, math.sqrt(2.0)), p=2.0,
            citation="Minkowski 1896",
        ),
        Dissimilarity(
            "sql2", "squared Euclidean distance of the weights", partial(_if_several, 2.0), p=2.0,
            power=2.0, citation="Minkowski 1896",
        ),
        Dissimilarity(
            "linf", "largest difference of any one weight", partial(_if_several, 1.0), p=math.inf,
            citation="Minkowski 1896",
        ),
        Dissimilarity(
            "hellinger", "Euclidean distance of the square roots, over √2",
            partial(_if_several, 1.0), p=2.0, embed=_square_roots, citation="Hellinger 1909",
        ),
        aitchison(),
        Dissimilarity(
            "emd", "weight times ranks it must be moved by; a surplus leaves past the last rank",
            _ranks_apart, p=1.0, embed=_cumulative,
            citation="Rubner, Tomasi and Guibas 2000; Vallender 1974 for the cumulative form",
        ),
        Dissimilarity(
            "worst", "largest difference of output over all inputs in [0, 1]",
            partial(_if_several, 1.0), p=math.inf, embed=_cumulative,
            citation="sorted inputs in [0, 1] are averages of 0-1 steps; Kolmogorov 1933",
        ),
        Dissimilarity(
            "rms", "root mean square difference of output over uniform inputs", _largest_rms,
            p=2.0, embed=_uniform_output,
            citation="moments of uniform order statistics; David and Nagaraja 2003",
        ),
    )
}  # fmt: skip
"""The dissimilarities by name. "worst" and "rms" are functional: small means "same answers"."""


def as_dissimilarity(metric: Metric) -> Dissimilarity:
    """The row of the table meant by `metric`.

    Examples
    --------
    >>> as_dissimilarity("emd").p
    1.0
    >>> as_dissimilarity("cosine")
    Traceback (most recent call last):
        ...
    choquet.errors.OptionError: metric='cosine' is unknown; choose one of l1, l2, sql2, linf,
    hellinger, aitchison, emd, worst, rms
    """
    if isinstance(metric, Dissimilarity):
        return metric
    if callable(metric):
        name = getattr(metric, "__name__", type(metric).__name__)
        return Dissimilarity(name, "the user's own", _without_limit, function=metric)
    return DISSIMILARITIES[check_option("metric", metric, DISSIMILARITIES)]


def dissimilarity(
    V: npt.ArrayLike,
    W: npt.ArrayLike | None = None,
    *,
    metric: Metric = "rms",
    n_jobs: int | None = None,
) -> FloatArray:
    """How different operators are, every row of `V` against every row of `W`.

    Parameters
    ----------
    V : array-like of shape (n, n_sources)
        Operators: weights by rank, largest input first. One operator may be given as one row.
    W : array-like of shape (m, n_sources), optional
        The others; `V` itself when not given.
    metric : str, Dissimilarity or callable, default "rms"
        A name in `DISSIMILARITIES`; a row, such as `lp(3)` or `a_norm(A)` make; or a function
        that takes (n, N) and (m, N) and returns (n, m).
    n_jobs : int, optional
        Blocks of rows at a time; see `choquet.jobs.run_jobs`. One block by default.

    Returns
    -------
    ndarray of shape (n, m)

    Raises
    ------
    DataError
        For weights that are not finite, or negative where the metric has no meaning for them.
    OptionError
        For an unknown name.
    TooLargeError
        For more than 2**31 entries.

    Notes
    -----
    On operators whose weights do not sum to the same total (regression) "worst" and "rms" keep
    their meaning: inputs range over [0, 1]^N and the totals count through the last cumulative sum.

    Examples
    --------
    >>> dissimilarity([[1, 0, 0], [0, 1, 0]], [[0, 0, 1]], metric="emd")
    array([[2.],
           [1.]])
    """
    row = as_dissimilarity(metric)
    left = as_inputs(V)
    right = left if W is None else as_inputs(W, left.shape[1])
    if len(left) * len(right) > MATRIX_LIMIT:
        raise TooLargeError(
            f"{len(left)} × {len(right)} dissimilarities need "
            f"{len(left) * len(right) * 8 / 2**30:.0f} GiB; `ivat` and `medoids` do without them"
        )
    if n_jobs is None or len(left) < 2:
        return row.matrix(left, right)
    from choquet.jobs import run_jobs

    blocks = np.array_split(left, min(_BLOCKS, len(left)))
    return np.concatenate(run_jobs(row.matrix, ((part, right) for part in blocks), n_jobs=n_jobs))
