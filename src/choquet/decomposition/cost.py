"""What a description costs: on rows it has not seen, beside the integral and simpler models."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from choquet.arrays import BoolArray, FloatArray, IntArray
from choquet.walks import DataSupport, sorts_of
from choquet.walks.sorts import strict_steps
from choquet.watching import each

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
    unsupported : float or None
        Share of the held-out rows whose integral needs a value that no other row supports.

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
    unsupported: float | None = None

    @property
    def ratio(self) -> float:
        """Error of the description over that of the integral; 1 where both are next to nothing."""
        least = self._nothing
        return max(self.description, least) / max(self.integral, least)

    @property
    def negligible(self) -> bool:
        """Whether the error of the description is next to nothing."""
        return self.description <= self._nothing

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
        """The cost in a few sentences."""
        return f"{self.ratios()} {self.steadiness()}"

    def ratios(self) -> str:
        """How large its error is beside others, in a sentence."""
        own = max(self.description, self._nothing)
        whose = "" if self.refitted else " (which was given and may have seen these rows)"
        weighted, ranked, mean = (
            f"{own / max(value, self._nothing):.3g}"
            for value in (self.weighted_mean, self.order_statistic, self.plain_mean)
        )
        return (
            f"Its squared error on held-out rows is {self.ratio:.3g} times the full integral's"
            f"{whose}, {weighted} times that of one weighted sum of the sources, {ranked} times "
            f"that of one order statistic, and {mean} times that of the mean."
        )

    def steadiness(self) -> str:
        """How often the same comes back from parts of the rows, and what data support."""
        text = (
            f"Learned again on parts of the rows, the contexts agree by {self.same_contexts:.2f} "
            "(1 is the same, 0 is chance), and the number of operators is the same in "
            f"{100 * self.same_number:.0f} % of {self.n_folds} tries."
        )
        if not self.unsupported:
            return text
        rows = f"{100 * self.unsupported:.3g} % of the held-out rows"
        return f"{text} No other row supports the case of {rows}."

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


def unsupported_rows(support: DataSupport, X: FloatArray) -> BoolArray:
    """Rows whose integral needs a value that no data support; values with weight zero are not."""
    sorts = sorts_of(X)
    counted = strict_steps(X, sorts, support.tolerance)[:, :-1]
    return np.asarray((support.unsupported_steps(sorts) & counted).any(axis=1))


@dataclass(frozen=True, eq=False)
class Trial:
    """A description made without each fold in turn: its cost, and the squared error of each row."""

    cost: Cost
    errors: FloatArray


def held_out_trials(
    X: FloatArray,
    y: FloatArray,
    folds: IntArray,
    made: Sequence[tuple[IntArray, int]],
    described: Callable[[IntArray], tuple[Any, Sequence[Any]]],
    *,
    refitted: bool,
) -> list[Trial]:
    """What descriptions cost, from those made in the same way without each fold.

    Of each description made with all rows, `made` holds the operator of each row and how many there
    are. From numbers of rows to learn from `described` makes the integral, a function of inputs,
    and a description for each of `made`. If `refitted`, the integral knows these rows only.
    """
    n_folds = int(folds.max()) + 1
    errors, simple = np.zeros((len(made) + 1, len(y))), np.zeros(3)
    alike, same = np.zeros((len(made), n_folds)), np.zeros((len(made), n_folds))
    unsupported = 0
    for fold in each("holding out rows", range(n_folds)):
        train, test = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
        integral, parts = described(train)
        errors[-1, test] = (integral(X[test]) - y[test]) ** 2
        simple += simple_errors(X, y, train, test)
        unsupported += int(unsupported_rows(DataSupport.from_data(X[train]), X[test]).sum())
        for k, ((labels, number), part) in enumerate(zip(made, parts, strict=True)):
            errors[k, test] = (part.predict(X[test]) - y[test]) ** 2
            alike[k, fold] = agreement(part.operator_of(X), labels)
            same[k, fold] = part.n_operators == number
    names = ("weighted_mean", "order_statistic", "plain_mean")
    known = dict(zip(names, (simple / len(y)).tolist(), strict=True))
    return [
        Trial(
            Cost(
                description=float(errors[k].mean()),
                integral=float(errors[-1].mean()),
                refitted=refitted,
                n_folds=n_folds,
                same_contexts=float(alike[k].mean()),
                same_number=float(same[k].mean()),
                unsupported=unsupported / len(y),
                **known,
            ),
            errors[k],
        )
        for k in range(len(made))
    ]


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
