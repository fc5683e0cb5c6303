"""Indices of a learned measure with standard errors and intervals, as a table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from choquet.arrays import FloatArray
from choquet.certainty.functions import INDICES
from choquet.frames import FrameLibrary, to_frame
from choquet.measures import Measure
from choquet.shown import Shown

ONE_ERROR = 0.6827
"""Level of one standard error on either side, of a normal distribution."""


@dataclass(frozen=True, eq=False, repr=False)
class IndexIntervals(Shown):
    """Shapley values, interactions and orness with what is known of them.

    Attributes
    ----------
    index : tuple of str
        "shapley", "interaction" or "orness".
    of : tuple of str
        The source, the pair of sources, or "" for orness.
    estimate, error, low, high : arrays of shape (K,)
        The index of the learned measure, its standard error (half of the interval at level 0.68),
        and the ends of its interval.
    level : float
    """

    index: tuple[str, ...]
    of: tuple[str, ...]
    estimate: FloatArray
    error: FloatArray
    low: FloatArray
    high: FloatArray
    level: float

    def text(self) -> str:
        """Each index with its interval, one a line."""
        lines = [
            f"{f'{name} of {of}' if of else name}: {own:.3g}, between {low:.3g} and {high:.3g}"
            for name, of, own, low, high in zip(
                self.index, self.of, self.estimate, self.low, self.high, strict=True
            )
        ]
        return "\n".join([f"Indices, {100 * self.level:g} % sure:", *lines])

    def to_frame(self, library: FrameLibrary | None = None) -> Any:
        """One row for each index, as a frame of pandas or polars.

        Parameters
        ----------
        library : {"pandas", "polars"}, optional
            The first that is installed by default.
        """
        columns = {
            "index": self.index, "of": self.of, "estimate": self.estimate, "error": self.error,
            "low": self.low, "high": self.high,
        }  # fmt: skip
        return to_frame({name: list(column) for name, column in columns.items()}, library)


def index_intervals(
    measure: Measure, level: float, interval: Callable[[FloatArray, float, str], FloatArray]
) -> IndexIntervals:
    """Indices of a measure with the intervals that a function gives them.

    Parameters
    ----------
    measure : Measure
    level : float
    interval : callable
        Takes rows of coefficients, a level and the name of the index, and gives their lower and
        upper ends.

    Examples
    --------
    >>> found = index_intervals(
    ...     Measure([0, 0.2, 0.3, 1]), 0.9, lambda rows, *_: np.array([[0.0, 1.0]] * len(rows))
    ... )
    >>> found.of, found.estimate
    (('x1', 'x2', 'x1, x2', ''), array([0.45, 0.55, 0.5 , 0.25]))
    >>> found
    Indices, 90 % sure:
    shapley of x1: 0.45, between 0 and 1
    shapley of x2: 0.55, between 0 and 1
    interaction of x1, x2: 0.5, between 0 and 1
    orness: 0.25, between 0 and 1
    """
    n, sources = measure.n_sources, measure.sources
    of = {
        "shapley": list(sources),
        "interaction": [", ".join(pair) for pair in combinations(sources, 2)],
        "orness": [""],
    }
    rows = {name: INDICES[name](n) for name in of}
    estimate = np.vstack(list(rows.values())) @ measure.values
    ends, one = (
        np.vstack([interval(own, share, name) for name, own in rows.items()])
        for share in (level, ONE_ERROR)
    )
    # Of monotone normal measures: interactions from -1 to 1, the others from 0 to 1.
    least = np.repeat(
        [-1.0 if name == "interaction" else 0.0 for name in of], [len(own) for own in of.values()]
    )
    ends = np.clip(ends, least[:, None], 1.0)
    return IndexIntervals(
        tuple(name for name, those in of.items() for _ in those),
        tuple(one for those in of.values() for one in those),
        estimate,
        (one[:, 1] - one[:, 0]) / 2,
        np.minimum(ends[:, 0], estimate),
        np.maximum(ends[:, 1], estimate),
        level,
    )
