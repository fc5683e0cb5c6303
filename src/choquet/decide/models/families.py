"""Three families of models, draws from each, and what the draws say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from choquet.arrays import BoolArray, FloatArray
from choquet.decide.models.functionals import Functional, Importance, Integral, InteractionIndex
from choquet.decide.models.program import Program, program, rows_of
from choquet.decide.models.sampling import draw
from choquet.decide.models.spaces import MAX_GENERAL, OnChains, space
from choquet.decide.saying.setting import Setting
from choquet.decide.saying.statements import Statement

FAMILIES = {
    "weights": "plain weights",
    "pairs": "pairs of criteria interact",
    "all": "any criteria interact",
}
"""Families of models, and what they say of the criteria."""

MAX_DRAWN = 10
"""Criteria up to which measures without limits are drawn."""


def widest_program(
    statements: Sequence[Statement], setting: Setting, rows: FloatArray, upper: FloatArray
) -> Program:
    """All measures that agree, in the fewest coordinates that do.

    If everything that is asked is about alternatives, the sets on their chains are enough. Beyond
    `MAX_GENERAL` criteria, other statements are looked at in pairs.
    """
    n = setting.n
    said, _ = rows_of(statements, setting)
    asked = [row.functional for row in said]
    if all(one.steps() is not None for one in asked):
        asked += [Integral(row) for row in rows] + [Integral(row) for row in upper]
        chains = OnChains(n, asked)
        if n > MAX_GENERAL or chains.size < 1 << n:
            return program(chains, statements, setting)
    return program(space(n, None if n <= MAX_GENERAL else 2), statements, setting)


@dataclass(frozen=True, eq=False)
class Family:
    """Draws from one family of models, a row of `FAMILIES`.

    The columns of `points` belong to `sets`: they are Möbius coefficients, or the values of all
    sets for the family of all measures. `scores` are those of the alternatives in each draw.
    """

    name: str
    program: Program
    sets: BoolArray
    points: FloatArray
    scores: FloatArray

    @property
    def holds(self) -> bool:
        """Whether a model of this family agrees with what was said."""
        return len(self.points) > 0

    @property
    def by_values(self) -> bool:
        """Whether points are values of sets, not Möbius coefficients."""
        return self.program.space.by_values

    @cached_property
    def importances(self) -> FloatArray:
        """Importance of the criteria in each draw."""
        n = self.program.space.n
        return np.stack([self.values_of(Importance(i)) for i in range(n)], axis=1)

    def interactions(self, first: int, second: int) -> FloatArray:
        """Interaction of two criteria in each draw."""
        return self.values_of(InteractionIndex(first, second))

    def values_of(self, functional: Functional) -> FloatArray:
        """A number that is linear in the measure, in each draw."""
        if self.by_values:
            return np.asarray(self.points @ functional.values(self.program.space.n))
        return np.asarray(self.points @ functional.games(self.sets))


def shares_of_first(scores: FloatArray) -> FloatArray:
    """Share of rows in which each column is the largest; ties are shared.

    Examples
    --------
    >>> import numpy as np
    >>> shares_of_first(np.array([[1.0, 0.0], [0.5, 0.5]]))
    array([0.75, 0.25])
    """
    best = scores >= scores.max(axis=1, keepdims=True) - 1e-12
    return np.asarray((best / best.sum(axis=1, keepdims=True)).mean(axis=0))


def rank_shares(scores: FloatArray) -> FloatArray:
    """Share of rows in which each column (first axis) has each rank (second axis).

    Examples
    --------
    >>> import numpy as np
    >>> rank_shares(np.array([[1.0, 0.0], [0.2, 0.5]])).tolist()
    [[0.5, 0.5], [0.5, 0.5]]
    """
    m = scores.shape[1]
    ranks = np.argsort(np.argsort(-scores, axis=1, kind="stable"), axis=1, kind="stable")
    return np.stack([(ranks == r).mean(axis=0) for r in range(m)], axis=1)


def wins(scores: FloatArray) -> FloatArray:
    """Share of rows in which one column is above another."""
    return np.array([(scores[:, [a]] > scores).mean(axis=0) for a in range(scores.shape[1])])


def draw_family(
    name: str,
    statements: Sequence[Statement],
    setting: Setting,
    lower: FloatArray,
    upper: FloatArray,
    count: int,
    rng: np.random.Generator,
) -> Family:
    """Draw models of a family that agree, and score the alternatives with them."""
    chosen = space(setting.n, {"weights": 1, "pairs": 2}.get(name))
    agreeing = program(chosen, statements, setting)
    sets = chosen.sets
    if not agreeing.consistent():
        return Family(name, agreeing, sets, np.zeros((0, len(sets))), np.zeros((0, len(lower))))
    points = draw(agreeing, count, rng)
    by_values = chosen.by_values
    rows = [Integral(row) for row in lower]
    own = [row.values(setting.n) if by_values else row.games(sets) for row in rows]
    scores = points @ np.transpose(own)
    for a in np.flatnonzero((lower != upper).any(axis=1)):
        ranged = lower[a] + rng.random((count, setting.n)) * (upper[a] - lower[a])
        scores[:, a] = integrals(points, sets, ranged, by_values=by_values)
    return Family(name, agreeing, sets, points, scores)


def integrals(
    points: FloatArray, sets: BoolArray, rows: FloatArray, *, by_values: bool
) -> FloatArray:
    """The integral of one row for each draw, each with its own measure."""
    if not by_values:
        least = np.stack([rows[:, inside].min(axis=1) for inside in sets], axis=1)
        return np.asarray((points * least).sum(axis=1))
    order = np.argsort(-rows, axis=1, kind="stable")
    ordered = np.take_along_axis(rows, order, axis=1)
    masks = np.cumsum(1 << order, axis=1)
    falls = ordered - np.append(ordered[:, 1:], np.zeros((len(rows), 1)), axis=1)
    return np.asarray((falls * np.take_along_axis(points, masks, axis=1)).sum(axis=1))
