"""The table of works: what is to be done, on which inputs, and when two answers are the same."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import factorial
from types import MappingProxyType
from typing import Any

import numpy as np

from choquet.arrays import FloatArray
from choquet.lattice import subset_sizes, upward_maximum

__all__ = ["WORKS", "Work", "agreement"]

Inputs = dict[str, Any]


@dataclass(frozen=True)
class Work:
    """One row of the table.

    Attributes
    ----------
    title : str
        What is done; ``{}`` is filled with the sizes.
    inputs : callable
        Arrays by name, from one of the sizes.
    small, quick, full : sizes
        For the warm-up; for a quick look; for the page.
    tolerance : float
        Answers whose entries differ by more are not the same.
    summary : callable, optional
        What is compared of answers that are random.
    note : str
        What a reader of the table must know.

    Examples
    --------
    >>> WORKS["shapley"].titled((10,))
    'Shapley values, 10 sources'
    """

    title: str
    inputs: Callable[..., Inputs]
    small: tuple[int, ...]
    quick: tuple[tuple[int, ...], ...]
    full: tuple[tuple[int, ...], ...]
    tolerance: float = 1e-9
    summary: Callable[[FloatArray], FloatArray] | None = None
    note: str = ""

    def titled(self, size: tuple[int, ...]) -> str:
        """The title for a size."""
        return self.title.format(*(f"{number:,}" for number in size))


def _generic(n: int) -> FloatArray:
    """A monotone measure without equal values."""
    values: FloatArray = (
        subset_sizes(n) + 0.9 * (np.random.default_rng(0).random(1 << n) - 0.5)
    ) / n
    values[0], values[-1] = 0.0, 1.0
    return values


def _measure(n: int) -> Inputs:
    return {"g": _generic(n)}


def _tied(n: int) -> Inputs:
    """Running maximum of uniform values: about half of all values repeat one below them."""
    values = np.random.default_rng(0).random(1 << n)
    values[0] = 0
    values = upward_maximum(values)
    return {"g": values / values[-1]}


def _measure_and_rows(n: int, m: int) -> Inputs:
    return {"g": _generic(n), "X": np.random.default_rng(1).random((m, n))}


def _regression(n: int, m: int) -> Inputs:
    """Rows with the integral of a measure, and noise."""
    from choquet.integrals import choquet_integral
    from choquet.measures import Measure

    rng = np.random.default_rng(2)
    g, X = _generic(n) ** 2, rng.random((m, n))
    y = choquet_integral(Measure(g), X) + 0.05 * rng.standard_normal(m)
    return {"g": g, "X": X, "y": y}


def _tabular(n: int, m: int) -> Inputs:
    """Rows with bent effects and the smaller of two, noise, and as many rows that are held out."""
    rng = np.random.default_rng(4)
    X = rng.random((2 * m, n))
    y = np.sqrt(X[:, 0]) + X[:, 1] ** 2 + 0.5 * X[:, 2] + np.minimum(X[:, 3], X[:, 4])
    y = (y + 0.1 * rng.standard_normal(2 * m)) / 3.5  # no larger than the largest column
    return {"X": X[:m], "y": y[:m], "X_new": X[m:], "y_new": y[m:], "middle": np.median(y[:m])}


def _operators(count: int) -> Inputs:
    """Operators of the walks of a measure, as many as asked for: points to cluster."""
    from choquet.measures import Measure
    from choquet.walks import all_walk_weights

    n = next(n for n in range(1, 13) if factorial(n) >= count)
    return {"points": all_walk_weights(Measure(_generic(n)))[:count]}


def _draws(n: int, count: int) -> Inputs:
    return {"n_sources": np.array(n), "count": np.array(count)}


def _profile(drawn: FloatArray) -> FloatArray:
    """Mean value by size of the subset, and the largest violation of monotonicity."""
    n = drawn.shape[1].bit_length() - 1
    sizes = subset_sizes(n)
    means = [drawn[:, sizes == k].mean() for k in range(n + 1)]
    worst = max(float((upward_maximum(g) - g).max()) for g in drawn)
    return np.array([*means, worst])


WORKS: Mapping[str, Work] = MappingProxyType(
    {
        "choquet": Work(
            "Choquet integral, {1} rows of {0} sources", _measure_and_rows,
            (3, 20), ((6, 2000),), ((10, 1000), (10, 1_000_000)),
        ),
        "mobius": Work("Möbius transform, {0} sources", _measure, (3,), ((6,),), ((10,), (16,))),
        "shapley": Work("Shapley values, {0} sources", _measure, (3,), ((6,),), ((10,), (16,))),
        "interaction": Work(
            "Interaction of all pairs, {0} sources", _measure, (3,), ((6,),), ((10,), (14,)),
            note="pyfmtools computes all 2^N interactions; it has no function for pairs alone.",
        ),
        "walks": Work(
            "Operators of all walks, {0} sources", _measure, (3,), ((5,),), ((7,), (9,)),
            note="pyfmtools puts weights by source, the others by rank.",
        ),
        "graph": Work(
            "Number of distinct operators, {0} sources, half of the values tied", _tied,
            (3,), ((5,),), ((8,), (12,)),
        ),
        "random": Work(
            "{1} uniform random measures of {0} sources", _draws,
            (3, 2), ((4, 60),), ((6, 100), (8, 20)),
            tolerance=0.05, summary=_profile,
            note="Compared by the mean value of the subsets of each size. A running maximum of "
            "uniform values is no uniform measure, which the difference shows; pyfmtools makes the "
            "16 · 4^N Markov steps that bring it there.",
        ),
        "statistics": Work(
            "Statistics of least squares, {1} rows of {0} sources", _regression,
            (3, 20), ((5, 200),), ((10, 2000), (10, 100_000)),
        ),
        "learn": Work(
            "Monotone least squares, {1} rows of {0} sources", _regression,
            (3, 20), ((4, 100),), ((6, 500), (8, 1000), (10, 3000)), tolerance=1e-3,
            note="Compared by the fitted values, which are unique.",
        ),
        "learn_2_additive": Work(
            "Monotone 2-additive least squares, {1} rows of {0} sources", _regression,
            (3, 20), ((4, 100),), ((8, 1000), (10, 3000)), tolerance=1e-3,
        ),
        "absolute": Work(
            "Monotone least absolute error, {1} rows of {0} sources", _regression,
            (3, 20), ((4, 60),), ((6, 200), (8, 500)), tolerance=1e-5,
            note="Compared by the mean absolute error reached; the measure need not be unique.",
        ),
        "fit_table": Work(
            "Fit of a flexible regressor, {1} rows of {0} columns", _tabular,
            (5, 60), ((5, 200),), ((6, 1000), (10, 10_000)), tolerance=0.3,
            note="Every learner has a model of its own, with its own defaults, so answers are not "
            "the same: the difference is that of the root mean square errors on rows held out, in "
            "standard deviations of the targets. The first row is `ChoquetAdditiveRegressor`; "
            "averaged is `ChoquetRegressorCV`, contexts is `ContextualRegressor`, neither of which "
            "bends a column; scikit-learn is its boosting of trees.",
        ),
        "fit_classes": Work(
            "Fit of a flexible classifier, {1} rows of {0} columns", _tabular,
            (5, 60), ((5, 200),), ((6, 1000),), tolerance=0.3,
            note="The same columns; the class says whether the target is above its median. The "
            "difference is that of the shares of rows held out that are classed wrongly.",
        ),
        "vat": Work(
            "VAT matrix of {0} operators", _operators, (24,), ((60,),), ((720,), (5040,)),
        ),
        "ivat": Work(
            "iVAT matrix of {0} operators", _operators, (24,), ((60,),), ((720,), (5040,)),
        ),
        "mst": Work(
            "Euclidean minimum spanning tree of {0} operators", _operators,
            (24,), ((300,),), ((5040,), (40_320,), (362_880,)),
            note="Ours also orders the points for iVAT.",
        ),
    }
)  # fmt: skip
"""Works by name. `benchmarks.peers.table.PEERS` says who does which."""


def agreement(work: Work, reference: FloatArray, found: FloatArray) -> float:
    """The largest difference between two answers; infinite where they cannot be compared.

    Examples
    --------
    >>> import numpy as np
    >>> agreement(WORKS["shapley"], np.array([0.5, 0.5]), np.array([0.5, 0.25]))
    0.25
    """
    if reference.shape != found.shape:
        return float("inf")
    if work.summary is not None:
        reference, found = work.summary(reference), work.summary(found)
    difference = np.abs(reference - found).max(initial=0.0)
    return float(difference) if np.isfinite(difference) else float("inf")
