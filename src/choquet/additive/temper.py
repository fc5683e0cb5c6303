"""Strengths for classes, once more by prediction.

Where classes are nearly separable, the quadratic model of the likelihood says too little about the
strengths, and they come out too large. So a few others are tried on held-out rows: all strengths
moved together, and strengths that all sources share. Held-out rows say nothing about strengths
that they helped to find, so the likelihood is asked for its strengths again without them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from choquet.additive.choose import sample, simplest
from choquet.additive.fit import Fit
from choquet.additive.table import Block, RowHash, Table
from choquet.additive.terms import Design, Term
from choquet.arrays import BoolArray, FloatArray

__all__ = ["Strengths", "temper"]

_MOVES = (0.0, -1.5, -3.0)
_DIFFERENCES = (-3.0, -1.0, 1.0, 3.0)
_CURVATURES = (0.0, 4.0, 9.0)
_FOLDS = ((1000.0, 5), (np.inf, 3))
"""Folds by the number of rows: more where few rows say little."""
_FEWEST = 30


@dataclass(frozen=True, eq=False)
class Strengths:
    """Terms with the logarithms of their strengths, for each score.

    The simplest `level`, 0, has utilities that are practically lines. Those of level 1 share their
    strengths. Those of level 2 have strengths of their own for each term, which few rows tell
    badly.
    """

    name: str
    terms: Sequence[Term]
    rhos: list[FloatArray]
    level: int = 2


def temper(fit: Fit) -> dict[str, float]:
    """Give a fit the strengths by which held-out rows are predicted best.

    Returns
    -------
    dict of float by str
        Held-out loss of each choice, per row; empty where there are too few rows.
    """
    if fit.ground.weight < _FEWEST or not fit.terms:
        return {}
    choices = [*_moved(fit), *(shared := _shared(fit))]
    table, n = sample(fit.table, fit.ground.weight), len(choices)
    sums, products, edf, weight = np.zeros(n), np.zeros((n, n)), np.zeros(n), 0.0
    n_folds = next(folds for most, folds in _FOLDS if fit.ground.weight < most)
    numbers = RowHash.of(table)
    for fold in range(n_folds):
        train = table.part(_Fold(numbers, fold, n_folds, False))
        test = table.part(_Fold(numbers, fold, n_folds, True))
        if not _complete(fit, train):
            continue
        part = Fit(train, fit.ground, fit.family, fit.options)
        _take(part, Strengths("", fit.terms, fit.rhos))
        part.refit(steps=12, outer=10)
        found, own, freedom = _held_out(part, [*_moved(part), *shared], test)
        weight += float(own.sum())
        sums += found.sum(axis=1)
        products += (found / own) @ found.T
        edf += freedom
    if not weight:
        return {}
    order = np.lexsort((edf, np.array([choice.level for choice in choices])))
    first = simplest(sums[order], products[np.ix_(order, order)], weight)
    _take(fit, choices[order[first]])
    fit.refit(steps=0, outer=60, tolerance=0.01)
    names = [choice.name for choice in choices]
    return dict(zip(names, (sums / weight).tolist(), strict=True))


@dataclass(frozen=True)
class _Fold:
    """Rows inside or outside of a fold, by their content."""

    numbers: RowHash
    number: int
    n_folds: int
    inside: bool

    def __call__(self, block: Block) -> BoolArray:
        found = self.numbers(block) // 7 % self.n_folds == self.number
        return np.asarray(found == self.inside)


def _moved(fit: Fit) -> list[Strengths]:
    return [
        Strengths(f"moved by {move:g}", fit.terms, [rho + move for rho in fit.rhos])
        for move in _MOVES
    ]


def _shared(fit: Fit) -> list[Strengths]:
    """All utilities, and the interactions found, with one strength for each kind of penalty."""
    if fit.options.max_terms is not None:
        return []
    utilities = [fit.ground.term((i,)) for i in fit.ground.live]
    terms = [*utilities, *(term for term in fit.terms if len(term.sources) > 1)]
    found = []
    for first in _DIFFERENCES:
        for second in _CURVATURES:
            parts = [[first, second][: term.penalties.shape[1]] for term in terms]
            rho = np.concatenate([np.array(part) for part in parts])
            rhos = [rho.copy() for _ in fit.rhos]
            level = 0 if second == _CURVATURES[-1] else 1
            found.append(Strengths(f"shared {first:g}, {second:g}", terms, rhos, level))
    return found


def _take(fit: Fit, choice: Strengths) -> None:
    if [id(term) for term in choice.terms] != [id(term) for term in fit.terms]:
        fit.keep([])
        fit.add(choice.terms)
    fit.rhos = [rho.copy() for rho in choice.rhos]


def _complete(fit: Fit, table: Table) -> bool:
    """Whether rows of all classes are left."""
    sums = table.total(lambda block: fit.family.start(block.y, block.weight))
    return bool(min(np.min(part) for part in sums) > 0)


def _held_out(
    part: Fit, choices: Sequence[Strengths], test: Table
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Loss of each test row by each choice, weights, and degrees of freedom of each choice.

    Numbers begin at those of the choice before.
    """
    found, weight, edf = [], np.zeros(0), np.zeros(len(choices))
    n_fixed = part.family.n_fixed
    for c, choice in enumerate(choices):
        _take(part, choice)
        part.refit(steps=0, outer=25, tolerance=0.1)
        edf[c] = part.edf().sum()
        design, fixed = part.design, np.stack([beta[:n_fixed] for beta in part.betas])

        def look(block: Block, design: Design = design, fixed: FloatArray = fixed) -> Any:
            eta = part.scores(block, design, part.betas)
            loss = part.family.working(0, eta, fixed, block.y, block.weight).loss
            return [loss], [block.weight]

        losses, weights = test.total(look)
        found.append(np.concatenate(losses))
        weight = np.concatenate(weights)
    return np.stack(found), weight, edf
