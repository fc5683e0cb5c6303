"""Distribution of the Choquet integral of independent uniform inputs, in closed form.

Sorted uniform inputs cut [0, 1] into N + 1 pieces that are uniform on the simplex, and the integral
is Σ_j D_j g(A_j) over these pieces: along one walk its density is the B-spline of degree N - 1
whose knots are the values g(A_0), …, g(A_N). The distribution is the mean of these over all walks,
which the operator graph lists without repetition.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from choquet.arrays import FloatArray
from choquet.errors import MeasureError
from choquet.lattice import subset_sizes
from choquet.measures import AbstractMeasure, Measure, check_measure
from choquet.walks import OperatorGraph


@dataclass(frozen=True, eq=False, repr=False)
class UniformDistribution:
    """Distribution of the Choquet integral for independent inputs, uniform on [0, 1].

    Attributes
    ----------
    mean, sd : float
        Exact moments, in O(N 2**N).

    References
    ----------
    Marichal, Kojadinovic (2008). Distribution functions of linear combinations of lattice
    polynomials from the uniform distribution. Statistics & Probability Letters 78, 985-991.
    """

    measure: Measure
    mean: float
    sd: float

    def cdf(self, x: npt.ArrayLike) -> FloatArray:
        """Probability that the integral is at most x.

        Examples
        --------
        >>> from choquet import Measure, uniform_distribution
        >>> uniform_distribution(Measure.symmetric([1, 0])).cdf([0.5])  # both below a half
        array([0.25])
        """
        return self._mixture(x, cumulative=True)

    def pdf(self, x: npt.ArrayLike) -> FloatArray:
        """Density at x (0 where the integral has an atom, as that of a constant has).

        Examples
        --------
        >>> from choquet import Measure, uniform_distribution
        >>> uniform_distribution(Measure.symmetric([1, 0])).pdf([0.5])
        array([1.])
        """
        return self._mixture(x, cumulative=False)

    def _mixture(self, x: npt.ArrayLike, *, cumulative: bool) -> FloatArray:
        points = np.atleast_1d(np.asarray(x, dtype=np.float64))
        graph = OperatorGraph(self.measure)
        shares = graph.shares
        knots = np.concatenate(
            [np.zeros((len(shares), 1)), np.cumsum(graph.weights(), axis=1)], axis=1
        )
        knots = np.sort(knots, axis=1)
        total = np.zeros(len(points))
        block = max(1, 2_000_000 // (len(points) * knots.shape[1]))
        for k in range(0, len(shares), block):
            part = _bspline(knots[k : k + block], points, cumulative)
            total += shares[k : k + block] @ part
        return total

    def __repr__(self) -> str:
        return f"<UniformDistribution: mean {self.mean:.4g}, sd {self.sd:.4g}>"


def uniform_distribution(measure: AbstractMeasure) -> UniformDistribution:
    """Distribution of the integral when inputs are independent and uniform on [0, 1].

    Parameters
    ----------
    measure : AbstractMeasure
        On N sources.

    Returns
    -------
    UniformDistribution
        With `mean`, `sd`, `cdf` and `pdf`.

    Examples
    --------
    >>> from choquet import Measure, uniform_distribution
    >>> d = uniform_distribution(Measure.additive([0.5, 0.5]))
    >>> round(d.mean, 6), round(d.sd, 6), d.cdf([0.5])
    (0.5, 0.204124, array([0.5]))
    """
    measure = check_measure(measure).to_measure()
    if not measure.monotone and (measure.values < 0).any():
        raise MeasureError("the distribution is implemented for measures with values ≥ 0")
    n, g = measure.n_sources, measure.values
    sizes = subset_sizes(n)
    # Mean over walks of S = Σ_j g(A_j) and of S² + Σ_j g(A_j)²: two passes over the lattice, where
    # `first` and `second` at A are means over the walks to A of the sum up to A and of its square.
    first, second, squares = g.copy(), g**2, g**2
    for size in range(1, n + 1):
        masks = np.flatnonzero(sizes == size)
        sums = np.zeros((3, len(masks)))
        for i in range(n):
            inside = masks >> i & 1 == 1
            below = masks[inside] ^ 1 << i
            sums[:, inside] += (first[below], second[below], squares[below])
        mean, mean_square, mean_squares = sums / size
        first[masks] = mean + g[masks]
        second[masks] = mean_square + 2 * mean * g[masks] + g[masks] ** 2
        squares[masks] = mean_squares + g[masks] ** 2
    moment = (second[-1] + squares[-1]) / ((n + 1) * (n + 2))
    average = first[-1] / (n + 1)
    variance = max(moment - average**2, 0.0)
    return UniformDistribution(measure, float(average), float(np.sqrt(variance)))


def _bspline(knots: FloatArray, points: FloatArray, cumulative: bool) -> FloatArray:
    """B-spline density with N + 1 sorted knots in each row, or its integral, at all points.

    By the recurrence of Cox and de Boor on M-splines, which stays exact where knots coincide; the
    integral is that of the spline with the last knot repeated often enough, summed.
    """
    n_rows, n_knots = knots.shape
    degree = n_knots - 2
    t = knots
    if cumulative:
        # ∫ of an M-spline = Σ of the B-splines of one degree more, starting at or after it.
        t = np.concatenate([knots, np.repeat(knots[:, -1:] + 1.0, n_knots, axis=1)], axis=1)
    x = points[None, :]
    basis = [
        ((t[:, j, None] <= x) & (x < t[:, j + 1, None])).astype(np.float64)
        for j in range(t.shape[1] - 1)
    ]
    top = degree + 1 if cumulative else degree
    for k in range(1, top + 1):
        basis = [
            _ramp(x, t[:, j, None], t[:, j + k, None]) * basis[j]
            + (1 - _ramp(x, t[:, j + 1, None], t[:, j + k + 1, None])) * basis[j + 1]
            if j + k + 1 < t.shape[1]
            else np.zeros((n_rows, len(points)))
            for j in range(len(basis) - 1)
        ]
    if cumulative:
        summed: FloatArray = np.where(x >= knots[:, -1:], 1.0, np.sum(basis[:n_knots], axis=0))
        return summed
    width = knots[:, -1:] - knots[:, :1]
    density: FloatArray = (degree + 1) * basis[0] / np.where(width > 0, width, np.inf)
    return density


def _ramp(x: FloatArray, low: FloatArray, high: FloatArray) -> FloatArray:
    """(x - low) / (high - low), and 0 where the two coincide."""
    span = high - low
    return np.divide(x - low, span, out=np.zeros(np.broadcast(x, low).shape), where=span > 0)
