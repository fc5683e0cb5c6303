"""How unevenly a measure weighs, and the integral of independent normal inputs."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from math import comb, lgamma
from typing import Any

import numpy as np

from choquet.arrays import FloatArray
from choquet.frames import FrameLibrary, to_frame
from choquet.lattice import subset_sizes
from choquet.measures import AbstractMeasure, Measure, check_measure


def variance(measure: AbstractMeasure) -> float:
    """How unevenly the integral weighs: 0 for the mean, 1 if one input decides on every walk.

    Parameters
    ----------
    measure : AbstractMeasure
        Normal.

    Returns
    -------
    float
        The mean over walks of the sum of squared weights, scaled to [0, 1].

    References
    ----------
    Kojadinovic (2007). Minimum variance capacity identification. European Journal of Operational
    Research 177, 498-514.

    Examples
    --------
    >>> from choquet import Measure
    >>> variance(Measure.additive([0.5, 0.5])), variance(Measure.symmetric([1, 0, 0]))
    (0.0, 1.0)
    """
    g = check_measure(measure).to_measure()
    n = g.n_sources
    if n == 1:
        return 0.0
    total = 0.0
    for share, step in joins_of(g):
        total += float(share @ step**2)
    return max((n * total - 1) / (n - 1), 0.0)


def joins_of(measure: Measure) -> Iterator[tuple[FloatArray, FloatArray]]:
    """For each source: the share of walks on which it joins each set, and what it adds there."""
    n, g = measure.n_sources, measure.values
    sizes, masks = subset_sizes(n), np.arange(1 << n)
    weight = np.array([1 / (n * comb(n - 1, size)) for size in range(n)])
    for i in range(n):
        without = masks[masks >> i & 1 == 0]
        yield weight[sizes[without]], g[without | 1 << i] - g[without]


def normal_moments(measure: AbstractMeasure) -> tuple[float, float]:
    """Mean and standard deviation of the integral of independent standard normal inputs.

    All sorts are equally likely whatever the order statistics are, so that both follow from the
    moments of order statistics and the mean products of values along random chains.

    Parameters
    ----------
    measure : AbstractMeasure
        Up to about 16 sources.

    Returns
    -------
    mean, sd : float
        Of the Choquet integral.

    Examples
    --------
    >>> from choquet import Measure
    >>> mean, sd = normal_moments(Measure.symmetric([1, 0]))     # the larger of two
    >>> round(mean, 6), round(sd, 6)
    (0.56419, 0.825645)
    """
    g = check_measure(measure).to_measure()
    n = g.n_sources
    sizes = subset_sizes(n).astype(np.int64)
    counts = np.array([comb(n, k) for k in range(n + 1)], dtype=np.float64)
    means = np.bincount(sizes, g.values, minlength=n + 1) / counts
    # products[j, k]: mean of g(A) g(B) over chains A ⊂ B with j and k members.
    products = np.zeros((n + 1, n + 1))
    for j in range(n + 1):
        below = np.where(sizes == j, g.values, 0.0)
        products[j, j] = float((below * g.values).sum() / counts[j])
        for k in range(j + 1, n + 1):
            below = _mean_below(below, sizes, n, k)
            at = sizes == k
            products[j, k] = products[k, j] = float((below[at] * g.values[at]).mean())
    first, second = order_moments(n)
    # The integral is Σ X_(k) (g(A_k) - g(A_{k-1})), the largest input first.
    weights = np.diff(means)
    mean = float(weights @ first)
    steps = np.diff(np.diff(products, axis=0), axis=1)
    return mean, float(np.sqrt(max(float((steps * second).sum()) - mean**2, 0.0)))


def _mean_below(values: FloatArray, sizes: Any, n: int, size: int) -> FloatArray:
    """For each set of one size, the mean over its subsets with one member less."""
    found = np.zeros_like(values)
    masks = np.flatnonzero(sizes == size)
    for i in range(n):
        inside = masks[masks >> i & 1 == 1]
        found[inside] += values[inside ^ 1 << i] / size
    return found


@lru_cache(maxsize=16)
def order_moments(n: int) -> tuple[FloatArray, FloatArray]:
    """Means and mean products of the order statistics of n normal inputs, the largest first."""
    from scipy.special import log_ndtr, ndtr

    x = np.linspace(-9.0, 9.0, 361)
    h = x[1] - x[0]
    density = np.exp(-(x**2) / 2) / np.sqrt(2 * np.pi)
    below, above = log_ndtr(x), log_ndtr(-x)
    first, second = np.zeros(n), np.zeros((n, n))
    node, share = np.polynomial.legendre.leggauss(160)
    gap, gap_share = 9.0 * (node + 1), 9.0 * share
    y = x[:, None] + gap[None, :]
    density_y = np.exp(-(y**2) / 2) / np.sqrt(2 * np.pi)
    above_y = log_ndtr(-y)
    between = np.log(np.maximum(ndtr(y) - ndtr(x)[:, None], 1e-300))
    for a in range(1, n + 1):  # ranks from below
        log_c = lgamma(n + 1) - lgamma(a) - lgamma(n - a + 1)
        p = np.exp(log_c + (a - 1) * below + (n - a) * above) * density
        first[n - a] = h * float(p @ x)
        second[n - a, n - a] = h * float(p @ x**2)
        for b in range(a + 1, n + 1):
            log_c = lgamma(n + 1) - lgamma(a) - lgamma(b - a) - lgamma(n - b + 1)
            q = np.exp(log_c + (a - 1) * below[:, None] + (b - a - 1) * between + (n - b) * above_y)
            inner = (q * density_y * y) @ gap_share
            both = h * float((density * x) @ inner)
            second[n - a, n - b] = second[n - b, n - a] = both
    first.flags.writeable = second.flags.writeable = False
    return first, second


def index_frame(measure: AbstractMeasure, library: FrameLibrary = "pandas") -> Any:
    """Everything about a measure as a frame: indices of sources, pairs and the whole, and all sets.

    Parameters
    ----------
    measure : AbstractMeasure
        Up to about 16 sources.
    library : {"pandas", "polars"}, default "pandas"
        Whose frame.

    Returns
    -------
    data frame
        Columns ``index``, ``of`` and ``value``.

    Examples
    --------
    >>> from choquet import Measure
    >>> index_frame(Measure([0, 0.2, 0.3, 1], sources=["ir", "emi"])).head(2)
         index   of  value
    0  shapley   ir   0.45
    1  shapley  emi   0.55
    """
    from choquet.indices.summary import summary

    g = check_measure(measure).to_measure()
    found = summary(g)
    names = g.sources
    rows: list[tuple[str, str, float]] = []
    for title in ("shapley", "banzhaf", "veto", "favour"):
        rows += [(title, name, float(getattr(found, title)[i])) for i, name in enumerate(names)]
    rows += [
        ("interaction", f"{names[i]}, {names[j]}", float(found.interaction[i, j]))
        for i in range(len(names))
        for j in range(i + 1, len(names))
    ]
    mean, sd = normal_moments(g)
    whole = {
        "orness": found.orness, "entropy": found.entropy, "variance": variance(g),
        "nonadditivity": found.nonadditivity, "nonmodularity": found.nonmodularity,
        "mean, uniform inputs": found.mean, "deviation, uniform inputs": found.sd,
        "mean, normal inputs": mean, "deviation, normal inputs": sd,
    }  # fmt: skip
    rows += [(title, "", float(value)) for title, value in whole.items()]
    sets = [", ".join(name for i, name in enumerate(names) if mask >> i & 1)
            for mask in range(1 << len(names))]  # fmt: skip
    for title, numbers in (("value", g.values), ("mobius", g.mobius())):
        rows += [(title, sets[mask], float(numbers[mask])) for mask in range(1, len(sets))]
    columns = {name: [row[k] for row in rows] for k, name in enumerate(("index", "of", "value"))}
    return to_frame(columns, library)
