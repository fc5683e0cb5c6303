"""Do effects add or multiply? One number, chosen by what predicts rows that were held out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from choquet.additive.axes import Source
from choquet.additive.families import Squares
from choquet.additive.fit import Fit, Ground, Options, ground_of
from choquet.additive.search import grow
from choquet.additive.table import Block, Memory, RowHash, Span, Table
from choquet.arrays import FloatArray
from choquet.watching import each

LINKS = (0.0, -1.0, -0.5, -0.25, 0.25, 0.5, 1.0, 2.0)
"""Numbers that are tried: 0 adds, the others multiply; the first is the simplest."""
_PROBES = (0.0, -0.5, 0.5)
"""Those that are tried first: others only on the side of 0 that predicts better."""
MARGIN = 0.05
"""Scores stay in the range of training, widened by this share of it."""
_FOLDS = 3
_ROWS = 4000
FEWEST = 40
"""Rows of less weight are not held out."""


@dataclass(frozen=True)
class LinkChoice:
    """The number chosen, with the errors it was chosen by.

    Attributes
    ----------
    kappa : float
    utilities : dict of float by float
        Held-out squared error of each number, utilities alone.
    whole : dict of float by float
        That of the best two by the whole procedure; empty where utilities alone chose 0.
    """

    kappa: float
    utilities: dict[float, float]
    whole: dict[float, float]


def score_range(fit: Fit) -> FloatArray:
    """Least and largest score of training rows, widened: (n_scores, 2). Fixed numbers are out."""
    design = fit.design
    (span,) = fit.table.total(lambda block: (Span(fit.scores(block, design, fit.betas)),))
    room = MARGIN * (span.high - span.low)
    return np.stack([span.low - room, span.high + room], axis=1)


def sample(table: Table, n_rows: float) -> Memory:
    """At most about `_ROWS` rows, chosen by their content, in memory."""
    share = min(1.0, _ROWS / max(n_rows, 1.0))
    limit = int(share * (1 << 62)) * 2
    numbers = RowHash.of(table) if share < 1 else None

    def look(block: Block) -> tuple[Any, ...]:
        kept = slice(None) if numbers is None else numbers(block) <= limit
        return ([block.X[kept]], [block.y[kept]], [block.weight[kept]])

    X, y, weight = (np.concatenate(part) for part in table.total(look))
    return Memory(X, y, weight)


def choose_link(
    table: Memory, sources: Sequence[Source], options: Options, links: Sequence[float] = LINKS
) -> LinkChoice:
    """Choose among links: by utilities alone first, then the best against 0 by all that a fit does.

    Ties within half a standard error go to the simpler one.
    """
    if table.weight < FEWEST or len(links) == 1:
        return LinkChoice(links[0], {}, {})
    simple = replace(options, utilities_only=True)
    tried = tuple(link for link in links if link in _PROBES) or tuple(links)
    first, means = _compare(table, sources, simple, tried)
    known = dict(zip(tried, means, strict=True))
    if first == links[0]:
        return LinkChoice(first, known, {})
    side = tuple(link for link in links if link * first >= 0)
    if len(side) > 2:
        first, means = _compare(table, sources, simple, side)
        known |= dict(zip(side, means, strict=True))
        if first == links[0]:
            return LinkChoice(first, known, {})
    second, whole = _compare(table, sources, options, (links[0], first))
    return LinkChoice(second, known, {links[0]: whole[0], first: whole[1]})


def _compare(
    table: Memory, sources: Sequence[Source], options: Options, links: Sequence[float]
) -> tuple[float, list[float]]:
    """The simplest link within half a standard error of the best, and all held-out errors."""
    total, products, sums = 0.0, np.zeros((len(links), len(links))), np.zeros(len(links))
    for train, block in each("comparing links", held_out(table)):
        ground = ground_of(train, sources, options)
        if options.utilities_only:
            fits = _utilities(train, ground, options, links)
        else:
            fits = [grow(train, ground, Squares(kappa), options) for kappa in links]
        losses = np.stack([(block.y - outputs(fit, block)) ** 2 for fit in fits])
        total += float(block.weight.sum())
        sums += losses @ block.weight
        products += (losses * block.weight) @ losses.T
    if not total:
        return links[0], [0.0] * len(links)
    return links[simplest(sums, products, total)], (sums / total).tolist()


def held_out(table: Memory) -> list[tuple[Table, Block]]:
    """Rows to learn from, and those held out, for each of a few folds by the content of rows."""
    return [
        (train, block)
        for train, test in table.folds(_FOLDS)
        if train.weight and test.weight
        for block in test.blocks()
    ]


def simplest(sums: FloatArray, products: FloatArray, total: float) -> int:
    """The first choice whose held-out loss is within half a standard error of the least.

    Parameters
    ----------
    sums : array of shape (n_choices,)
        Losses of the rows by each choice, simplest first, times the weights of the rows.
    products : array of shape (n_choices, n_choices)
        Products of the losses of two choices, times the weights.
    total : float
        All weight.

    Examples
    --------
    >>> losses = np.array([[4.0, 4.0, 4.0], [1.0, 3.0, 2.0], [1.9, 1.9, 1.9]])
    >>> simplest(losses.sum(axis=1), losses @ losses.T, 3.0)
    1
    """
    means, squares = sums / total, products / total
    best = int(np.argmin(means))
    for k in range(len(means)):
        gap = means[k] - means[best]
        spread = squares[k, k] - 2 * squares[k, best] + squares[best, best] - gap**2
        if gap <= 0.5 * np.sqrt(max(spread, 0.0) / total):
            return k
    return best


def _utilities(table: Table, ground: Ground, options: Options, links: Sequence[float]) -> list[Fit]:
    """Utilities alone with each link; strengths begin at those of the first."""
    fits = [Fit(table, ground, Squares(kappa), options) for kappa in links]
    fits[0].refit(steps=12, outer=6)
    for fit in fits[1:]:
        fit.rhos = [fits[0].rhos[0].copy()]
        fit.refit(steps=1, outer=5)
    return fits


def outputs(fit: Fit, block: Block) -> FloatArray:
    """Output of each row of a fit by squares; scores stay in the range of training."""
    assert isinstance(fit.family, Squares)
    low, high = score_range(fit)[0]
    eta = np.clip(fit.scores(block, fit.design, fit.betas)[0], low, high)
    return fit.family.mean(eta + fit.betas[0][0])
