"""Rows as a tree of order statistics sees them: inputs by rank, and the rank of each source."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from choquet.arrays import FloatArray, IntArray

__all__ = ["RankRows", "ranks_of"]

RankArray = npt.NDArray[np.int16]


def ranks_of(X: FloatArray) -> tuple[FloatArray, RankArray]:
    """Inputs by rank, largest first, and the rank of each source, from 0; ties by source number.

    Examples
    --------
    >>> import numpy as np
    >>> ordered, ranks = ranks_of(np.array([[0.2, 0.9, 0.5]]))
    >>> ordered, ranks
    (array([[0.9, 0.5, 0.2]]), array([[2, 0, 1]], dtype=int16))
    """
    sorts = np.argsort(-X, axis=1, kind="stable")
    ranks = np.empty(X.shape, dtype=np.int16)
    np.put_along_axis(ranks, sorts, np.arange(X.shape[1], dtype=np.int16)[None, :], axis=1)
    return np.take_along_axis(X, sorts, axis=1), ranks


@dataclass(frozen=True, eq=False)
class RankRows:
    """Rows in units of the data's own spread, with what is needed to undo that.

    Attributes
    ----------
    Z : array of shape (n_samples, N + 2)
        Inputs by rank, one, and the target, all centred and scaled.
    ranks : array of shape (n_samples, N)
        Rank of each source, from 0 for the largest input.
    weight : array of shape (n_samples,)
    centres : array of shape (N,)
        What was taken off each rank.
    scale, target_centre, target_scale : float
    convex : bool
        Whether inputs and target share centre and scale, as weights on the simplex need.

    Examples
    --------
    >>> import numpy as np
    >>> rows = RankRows.from_data(np.array([[0.2, 0.9], [0.4, 0.3]]), np.array([1.0, 3.0]))
    >>> rows.ranks.tolist(), rows.target_centre
    ([[1, 0], [0, 1]], 2.0)
    """

    Z: FloatArray
    ranks: RankArray
    weight: FloatArray
    centres: FloatArray
    scale: float
    target_centre: float
    target_scale: float
    convex: bool

    @classmethod
    def from_data(
        cls,
        X: FloatArray,
        y: FloatArray,
        weight: FloatArray | None = None,
        *,
        convex: bool = False,
    ) -> RankRows:
        """Rows from inputs and targets, weights not negative."""
        w = np.ones(len(X)) if weight is None else np.asarray(weight, dtype=np.float64)
        n_sources = X.shape[1]
        ordered, ranks = ranks_of(X)
        total = float(w.sum())
        centres = w @ ordered / total
        if convex:
            centres[:] = centres.mean()
        ordered -= centres
        spread = float(np.sqrt(w @ np.einsum("ij,ij->i", ordered, ordered) / (total * n_sources)))
        # Rounding leaves dust where nothing varies: that is no scale.
        size = float(np.abs(X).max(initial=0.0))
        scale = spread if spread > 1e-12 * size else 1.0
        centre = float(centres[0]) if convex else float(w @ y / total)
        deviation = float(np.sqrt(w @ (y - centre) ** 2 / total))
        level = float(np.abs(y).max(initial=0.0))
        target_scale = scale if convex else deviation if deviation > 1e-12 * level else 1.0
        Z = np.empty((len(X), n_sources + 2))
        Z[:, :n_sources] = ordered / scale
        Z[:, n_sources] = 1.0
        Z[:, n_sources + 1] = (y - centre) / target_scale
        return cls(Z, ranks, w, centres, scale, centre, target_scale, convex)

    @property
    def n_sources(self) -> int:
        """Number of sources N."""
        return int(self.ranks.shape[1])

    def everything(self) -> IntArray:
        """Numbers of all rows."""
        return np.arange(len(self.Z))

    def in_units(self, coefficients: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Weights by rank (one row each) and biases, in the units of the data."""
        weights = coefficients[:, :-1] * (self.target_scale / self.scale)
        if self.convex:
            return weights, np.zeros(len(weights))
        biases = self.target_centre + self.target_scale * coefficients[:, -1]
        return weights, biases - weights @ self.centres
