"""An operator of a decomposition: an order statistic, and when and how well it is used."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from choquet.arrays import FloatArray, IntArray
from choquet.contexts.rules import Rule
from choquet.operators import OrderStatistic
from choquet.operators.dissimilarity import DISSIMILARITIES

__all__ = ["ContextualOperator", "Errors", "cluster_errors"]


class Errors(NamedTuple):
    """How far the decomposition's output can be from the integral, over inputs in [0, 1]."""

    worst: float
    """Largest difference over all inputs."""
    rms: float
    """Root mean square difference over uniform inputs."""


@dataclass(frozen=True, eq=False, repr=False)
class ContextualOperator(OrderStatistic):
    """An order statistic with the situations in which it is used.

    Attributes
    ----------
    weights : array of N floats
        By rank, largest input first.
    share : float
        Share of the walks (contexts) in which it is used.
    data_share : float
        Share of the samples without ties in which it is used; NaN if no data are known.
    n_members : int
        Distinct operators that it stands for.
    spread : float
        Mean dissimilarity of those to it, weighted by walks, in the metric of the decomposition.
    error : Errors
        Worst and root mean square difference of output, where it is used.
    stable_share : float
        Share of its walks whose values the data pin down; NaN if that was not looked into. Of the
        others some value could be quite another at almost the same error.
    """

    share: float
    data_share: float
    n_members: int
    spread: float
    error: Errors
    stable_share: float
    _context: Callable[[], tuple[Rule, ...]]

    def __init__(
        self,
        weights: FloatArray,
        *,
        share: float,
        data_share: float,
        n_members: int,
        spread: float,
        error: Errors,
        context: Callable[[], tuple[Rule, ...]],
        stable_share: float = float("nan"),
    ) -> None:
        super().__init__(weights)
        for name, value in (
            ("share", share),
            ("data_share", data_share),
            ("n_members", n_members),
            ("spread", spread),
            ("error", error),
            ("stable_share", stable_share),
            ("_context", context),
        ):
            object.__setattr__(self, name, value)

    @property
    def stable(self) -> bool | None:
        """Whether the data determine most of its walks; None if that was not looked into."""
        return None if np.isnan(self.stable_share) else self.stable_share > 0.5

    @property
    def context(self) -> tuple[Rule, ...]:
        """The rules of the decomposition that lead to it; none for what is used otherwise.

        They are found when first asked for. A rule applies where no earlier one does.
        """
        return self._context()

    def __repr__(self) -> str:
        shown = ", ".join(f"{w:.4g}" for w in self.weights)
        return f"<ContextualOperator {self.name} ({shown}) in {self.share:.1%} of walks>"


def cluster_errors(
    weights: FloatArray,
    shares: FloatArray,
    labels: IntArray,
    chosen: FloatArray,
    slack: FloatArray | float = 0.0,
) -> tuple[Errors, list[Errors]]:
    """Exact errors of replacing each operator by its cluster's, overall and by cluster.

    Along one walk the largest difference over inputs in [0, 1] is the largest cumulative difference
    of the weights, and the mean square over uniform inputs is a quadratic form; all walks are
    equally likely under uniform inputs. Where cumulative weights are known up to a slack only, the
    largest difference has room for it; the mean square is that from the middle.
    """
    replaced = chosen[labels]
    worst = (np.abs(np.cumsum(weights - replaced, axis=1)) + slack).max(axis=1)
    embed = DISSIMILARITIES["rms"].embed
    squares = ((embed(weights) - embed(replaced)) ** 2).sum(axis=1)
    by_cluster = []
    for k in range(len(chosen)):
        inside = labels == k
        mean = float(shares[inside] @ squares[inside] / shares[inside].sum())
        by_cluster.append(Errors(float(worst[inside].max()), float(np.sqrt(mean))))
    return Errors(float(worst.max()), float(np.sqrt(shares @ squares))), by_cluster
