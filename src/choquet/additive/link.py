"""The number of the link, between those that were tried, and how sure it is.

The link is one more number of the model: near a fit, outputs move with it by ``bend(score)``, and
the other numbers answer. So one more column of the quadratic model of the loss gives its best
value, its standard error, and what its uncertainty means for each prediction.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from choquet.additive import _kernels
from choquet.additive.families import Squares
from choquet.additive.fit import Fit, Ground, Options
from choquet.additive.table import Block, Table
from choquet.arrays import FloatArray

_STEPS = 5
_LAST = 20
"""Runs in the end: strengths that nothing tells wander before they rest, and steps grow short."""
_FACTOR = 2**0.5
"""How far the number may move: half of the way to the next one that was tried."""
_CALM = 0.1
"""Steps of less than this share of the standard error are too small to matter."""


@dataclass(frozen=True, eq=False)
class Link:
    """What a fit knows of its link.

    Attributes
    ----------
    error : float
        Standard error of the number; 0 where it was given.
    answer : array of shape (p,)
        By how much each number of the score falls if that of the link rises by one.
    step : float
        From the number as it is to the most likely one.
    """

    error: float = 0.0
    answer: FloatArray = field(default_factory=lambda: np.zeros(0))
    step: float = 0.0


def link_of(fit: Fit) -> Link:
    """The link of a fit that is at rest: one pass."""
    family, design = fit.family, fit.design
    assert isinstance(family, Squares)
    size, beta, result = int(design.grid_cuts[-1]), fit.betas[0], fit.results[0]

    def look(block: Block) -> tuple[Any, ...]:
        rows = block.design(design)
        score = rows(design.values(beta)) + beta[0]
        bend, slope = family.bend(score), family.slope(score)
        rest, sums = block.y - family.mean(score), np.zeros((size, 1))
        _kernels.columns(rows.index, rows.share, (block.weight * slope * bend)[:, None], sums)
        weighted = block.weight * bend
        return weighted @ rest, weighted @ bend, weighted @ slope, sums

    pull, square, fixed, sums = fit.table.total(look)
    cross = np.concatenate([[fixed], design.project(sums)[:, 0]])
    answer = result.inverse @ cross
    own = float(square - cross @ answer)
    if own <= 1e-12 * float(square):  # the other numbers can say all that the link says
        return Link()
    return Link(float(np.sqrt(result.variance / own)), answer, float(pull) / own)


def refined(table: Table, ground: Ground, family: Squares, options: Options) -> Squares:
    """The link before any terms of several sources: the most likely one of utilities alone.

    Terms that are chosen behind a link that is a little off say what the link ought to say, and
    afterwards keep it where it is.
    """
    fit = Fit(table, ground, family, options)
    fit.refit(steps=12, outer=6)
    polish(fit, family.kappa)
    assert isinstance(fit.family, Squares)
    return fit.family


def polish(fit: Fit, first: float) -> None:
    """Move the number of the link to the most likely one.

    It goes half of the way at most from `first`, which was chosen, to the next that was tried.
    """
    assert isinstance(fit.family, Squares)
    low, high = sorted((first / _FACTOR, first * _FACTOR))
    for _ in range(_STEPS):
        found, kappa = link_of(fit), fit.family.kappa
        new = float(np.clip(kappa + found.step, low, high))
        if abs(new - kappa) <= _CALM * found.error:
            break
        fit.family = Squares(new)
        fit.refit(steps=2, outer=8, tolerance=1e-2)
    for _ in range(_LAST):
        fit.refit(steps=25, outer=15, tolerance=1e-2)
        if fit.settled:
            break
