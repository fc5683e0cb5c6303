"""Modes of compositional data: the operator around which most others lie."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from choquet.arrays import FloatArray, IntArray
from choquet.clustering.medoids import check_clusters
from choquet.errors import OptionError
from choquet.operators.dissimilarity import aitchison


def modes(
    points: npt.ArrayLike,
    labels: npt.ArrayLike | None = None,
    *,
    counts: npt.ArrayLike | None = None,
    bandwidth: float | None = None,
) -> IntArray:
    """The mode of every cluster: the operator with the largest density of operators around it.

    Weights that sum to one are compositions, so the density is estimated in Aitchison's geometry,
    by a Gaussian kernel on log-ratios. Like the medoid it is one of the points, but outliers do not
    draw it.

    Parameters
    ----------
    points : array-like of shape (n, n_sources)
        Operators with weights that are not negative.
    labels : array-like of shape (n,), optional
        Cluster of each, numbered from 0; one cluster when not given. Negative ones are left out.
    counts : array-like of shape (n,), optional
        How often each operator occurs.
    bandwidth : float, optional
        Width of the kernel in Aitchison's distance; by Silverman's rule for each cluster, if not
        given.

    Returns
    -------
    ndarray of shape (n_clusters,)
        Row number of each mode, the first among equals.

    References
    ----------
    Aitchison (1986), "The statistical analysis of compositional data"; Wilkin & Beliakov (2019),
    "Robust aggregation of compositional and interval-valued data: the mode on the unit simplex";
    Silverman (1986), "Density estimation".

    Examples
    --------
    >>> modes([[0.5, 0.5], [0.52, 0.48], [0.48, 0.52], [0.9, 0.1], [0.1, 0.9]])
    array([0])
    """
    rows, weights, groups = check_clusters(points, labels, counts)
    if bandwidth is not None and not bandwidth > 0:
        raise OptionError(f"bandwidth={bandwidth} must be above 0")
    vectors = aitchison().embed(rows)
    found = []
    for number in range(int(groups.max()) + 1):
        inside = np.flatnonzero(groups == number)
        width = bandwidth or _silverman(vectors[inside], weights[inside])
        found.append(int(inside[_densest(vectors[inside], weights[inside], width)]))
    return np.array(found, dtype=np.int64)


def _silverman(vectors: FloatArray, weights: FloatArray) -> float:
    """Silverman's rule for a Gaussian kernel with one width in all N - 1 dimensions."""
    total, dimensions = float(weights.sum()), max(vectors.shape[1] - 1, 1)
    middle = weights @ vectors / total
    spread = float(weights @ ((vectors - middle) ** 2).sum(axis=1)) / total / dimensions
    factor = float((4 / ((dimensions + 2) * total)) ** (1 / (dimensions + 4)))
    return max(float(np.sqrt(spread)) * factor, 1e-12)


def _densest(vectors: FloatArray, weights: FloatArray, width: float) -> int:
    step = max(1, (1 << 22) // len(vectors))
    density = np.empty(len(vectors))
    for low in range(0, len(vectors), step):
        part = vectors[low : low + step]
        away = ((part[:, None] - vectors[None]) ** 2).sum(axis=2)
        density[low : low + step] = np.exp(-away / (2 * width**2)) @ weights
    return int(density.argmax())
