"""What a description costs: on rows it has not seen, beside the integral and simpler models."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from choquet.arrays import FloatArray, IntArray

__all__ = ["Cost", "held_out_cost"]

_POOR = 1.15
"""Ratio of errors on held-out rows from which on a description is called poor."""


_NOTHING = 1e-4
"""Squared error, in shares of the targets' variance, that is next to nothing: 1 % of their spread,
below which descriptions count as equally good."""


@dataclass(frozen=True)
class Cost:
    """Mean squared errors on held-out rows, and how steady the description is.

    Attributes
    ----------
    description, integral : float
        Of the operators, and of the full integral that they stand for. Where the model can be
        fitted again, both are fitted to the other rows only.
    weighted_mean, order_statistic, plain_mean : float
        Of one weighted sum of the sources, of one of the sorted inputs, both fitted to the targets
        of the other rows, and of their plain mean.
    refitted : bool
        Whether the integral was learned again without the held-out rows. If not, its error is that
        of the measure as it was given.
    n_folds : int
    same_contexts : float
        How alike the contexts found in the folds are to those found with all rows, on the rows: 1
        the same, 0 as alike as by chance (adjusted Rand index).
    same_number : float
        Share of folds with the same number of operators.

    Examples
    --------
    >>> import numpy as np
    >>> from choquet import ChoquetRegressor, decompose
    >>> X = np.random.default_rng(0).random((200, 3))
    >>> cost = decompose(ChoquetRegressor().fit(X, X.max(axis=1)), X, X.max(axis=1)).cost
    >>> cost.same_number
    1.0
    """

    description: float
    integral: float
    weighted_mean: float
    order_statistic: float
    plain_mean: float
    refitted: bool
    n_folds: int
    same_contexts: float
    same_number: float

    @property
    def ratio(self) -> float:
        """Error of the description over that of the integral; 1 where both are next to nothing."""
        least = self._nothing
        return max(self.description, least) / max(self.integral, least)

    @property
    def _nothing(self) -> float:
        return max(_NOTHING * self.plain_mean, 1e-300)

    @property
    def contradicted(self) -> bool:
        """Whether the integral itself predicts the targets worse than their mean does."""
        return self.integral > self.plain_mean + self._nothing

    @property
    def poor(self) -> bool:
        """Whether the operators predict clearly worse than the integral, or than a simple model."""
        simple = min(self.weighted_mean, self.order_statistic, self.plain_mean)
        return self.ratio > _POOR or self.description > _POOR * max(simple, self._nothing)

    def text(self) -> str:
        """The cost in a sentence or two."""
        own = max(self.description, self._nothing)
        simple = [
            f"{max(value, self._nothing) / own:.3g} times for {name}"
            for name, value in (
                ("one weighted sum of the sources", self.weighted_mean),
                ("one order statistic", self.order_statistic),
                ("the mean", self.plain_mean),
            )
        ]
        whose = "" if self.refitted else ", which had seen these rows or was given"
        return (
            f"On held-out rows its squared error is {self.ratio:.3g} times that of the full "
            f"integral{whose}; beside its own, the error is {', '.join(simple)}. Learned again on "
            f"parts of the rows, the contexts agree by {self.same_contexts:.2f} (1 is the same, 0 "
            f"is chance), and their number of operators in {100 * self.same_number:.0f} % of "
            f"{self.n_folds} tries."
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain data, with the ratio."""
        return {**{f.name: getattr(self, f.name) for f in fields(self)}, "ratio": self.ratio}


def simple_errors(
    X: FloatArray, y: FloatArray, train: IntArray, test: IntArray
) -> tuple[float, float, float]:
    """Held-out errors of one weighted sum, one order statistic, and the mean."""
    found = []
    for columns in (X, -np.sort(-X, axis=1)):
        design = np.column_stack([columns, np.ones(len(X))])
        weights = np.linalg.lstsq(design[train], y[train], rcond=None)[0]
        found.append(float(np.sum((design[test] @ weights - y[test]) ** 2)))
    return found[0], found[1], float(np.sum((y[test] - y[train].mean()) ** 2))


def held_out_cost(
    X: FloatArray,
    y: FloatArray,
    folds: IntArray,
    labels: IntArray,
    n_operators: int,
    described: Any,
    *,
    refitted: bool,
) -> Cost:
    """The cost from descriptions made without each fold.

    Parameters
    ----------
    X, y : arrays
    folds : array of ints
        Fold of each row.
    labels : array of ints
        Operator of each row in the description made with all rows.
    n_operators : int
        Of that description.
    described : callable
        Maps numbers of rows to learn from to ``(operator_of, predict, integral)``, functions of
        inputs, and the number of operators.
    refitted : bool
        Whether `integral` knows the rows to learn from only.
    """
    sums = np.zeros(5)
    alike, same = [], []
    n_folds = int(folds.max()) + 1
    for fold in range(n_folds):
        train, test = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
        operator_of, predict, integral, number = described(train)
        sums[0] += np.sum((predict(X[test]) - y[test]) ** 2)
        sums[1] += np.sum((integral(X[test]) - y[test]) ** 2)
        sums[2:] += simple_errors(X, y, train, test)
        alike.append(agreement(operator_of(X), labels))
        same.append(number == n_operators)
    names = ("description", "integral", "weighted_mean", "order_statistic", "plain_mean")
    errors = dict(zip(names, (sums / len(y)).tolist(), strict=True))
    return Cost(
        **errors,
        refitted=refitted,
        n_folds=n_folds,
        same_contexts=float(np.mean(alike)),
        same_number=float(np.mean(same)),
    )


def agreement(one: IntArray, two: IntArray) -> float:
    """Adjusted Rand index of two partitions: 1 the same, 0 as alike as by chance.

    References
    ----------
    Hubert & Arabie (1985), "Comparing partitions".

    Examples
    --------
    >>> import numpy as np
    >>> agreement(np.array([0, 0, 1, 1]), np.array([1, 1, 0, 0]))
    1.0
    """
    table = np.zeros((one.max() + 1, two.max() + 1))
    np.add.at(table, (one, two), 1)

    def pairs(counts: FloatArray) -> float:
        return float((counts * (counts - 1) / 2).sum())

    both, first, second = pairs(table), pairs(table.sum(axis=1)), pairs(table.sum(axis=0))
    whole = max(len(one) * (len(one) - 1) / 2, 1.0)
    chance, most = first * second / whole, (first + second) / 2
    return 1.0 if most == chance else (both - chance) / (most - chance)
