"""Strengths for classes, once more by prediction.

Where classes are nearly separable, the quadratic model of the likelihood says too little about the
strengths, and they come out too large. So others are tried on held-out rows: all strengths moved
together, strengths that all sources share, and straight lines with a ridge, which is logistic
regression. Held-out rows say nothing about strengths that they helped to find, so the likelihood
is asked for its strengths again without them. Few rows hardly tell one choice from the next, so
scores are averaged over the choices, with weights whose average predicts the held-out rows well.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from choquet.additive.choose import sample
from choquet.additive.families import Family, Working
from choquet.additive.fit import Fit
from choquet.additive.mixing import mixed, moved_into, widest
from choquet.additive.table import Block, Table
from choquet.additive.terms import Term
from choquet.arrays import FloatArray
from choquet.lattice.lazy import special

_SLOPES = np.arange(5.0, -6.0, -1.5)
"""Ridges of straight lines, in logarithms, for sources of standard deviation one."""
_DIFFERENCES = (3.0, 1.0, -1.0)
_CURVATURES = (0.0, 4.0)
_MOVES = (0.0, -1.5, -3.0)
"""Logarithms by which the strengths of the likelihood are moved: data without noise want less."""
_FOLDS = ((1000.0, 5), (np.inf, 3))
"""Folds by the number of rows: more where few rows say little."""
_FEWEST = 30
_STEPS = 100
"""Newton steps to the weights, about ten of which are needed."""
_CALM = 1e-18
"""Fall of the criterion, in logarithms of likelihood, that a last step may promise."""
_LEAST = 0.01
"""Choices of less weight than this share of the largest are left out."""


@dataclass(frozen=True, eq=False)
class Strengths:
    """Terms with the logarithms of their strengths, for each score.

    `ahead` is the logarithm of the weight before any row is seen, up to a constant.
    """

    name: str
    terms: Sequence[Term]
    rhos: list[FloatArray]
    ahead: float = 0.0


class _Held(NamedTuple):
    """Scores of held-out rows by each choice, (n_choices, n_scores, n), with the fixed numbers."""

    eta: FloatArray
    fixed: FloatArray
    y: FloatArray
    weight: FloatArray

    def working(self, family: Family, weights: FloatArray) -> list[Working]:
        """Working numbers of each score where the scores are averaged over the choices."""
        eta, fixed = (np.tensordot(weights, part, 1) for part in (self.eta, self.fixed))
        return [family.working(k, eta, fixed, self.y, self.weight) for k in range(family.n_scores)]


def temper(fit: Fit, *, average: bool = True) -> dict[str, float]:
    """Give a fit the mean over strengths, weighted by how well they predict held-out rows.

    Parameters
    ----------
    fit : Fit
    average : bool, default True
        Otherwise the best strengths are taken, as a proof of shapes needs.

    Returns
    -------
    dict of float by str
        Held-out loss of each choice, per row; empty where there are too few rows.
    """
    if fit.ground.weight < _FEWEST or not fit.terms:
        return {}
    given = [*_straight(fit), *_shared(fit)]
    choices = [*given, *_moved(fit)]
    table, held = sample(fit.table, fit.ground.weight), []
    n_folds = next(folds for most, folds in _FOLDS if fit.ground.weight < most)
    for train, test in table.folds(n_folds):
        if not _complete(fit, train):
            continue
        part = Fit(train, fit.ground, fit.family, fit.options)
        _take(part, Strengths("", fit.terms, fit.rhos))
        part.refit(steps=12, outer=10)
        held += [_held_out(part, [*given, *_moved(part)], block) for block in test.blocks()]
    weight = sum(float(rows.weight.sum()) for rows in held)
    if not weight:
        return {}
    losses = [
        sum(float(rows.working(fit.family, alone)[0].loss.sum()) for rows in held)
        for alone in np.eye(len(choices))
    ]
    if average:
        ahead = np.array([choice.ahead for choice in choices])
        shares = _shares(fit.family, held, np.array(losses), ahead)
        _mix(fit, choices, np.where(shares < _LEAST * shares.max(), 0.0, shares))
    else:
        _take(fit, choices[int(np.argmin(losses))])
        fit.refit(steps=0, outer=60, tolerance=0.01)
    return {c.name: loss / weight for c, loss in zip(choices, losses, strict=True)}


def _shares(
    family: Family, held: Sequence[_Held], losses: FloatArray, ahead: FloatArray
) -> FloatArray:
    """Weights w of the choices that minimise half the loss of the averaged scores plus KL(w).

    KL(w), the sum of w (log w - ahead), is how far the weights are from those before any row. With
    the average of the losses in place of the loss of the average, the minimum would be the
    likelihood of each choice times its weight before.
    The loss of the average knows what choices say together, and that large scores weigh more.
    The problem is convex, and its minimum has ``log w = ahead - gradient`` up to a constant. Newton
    steps are on these equations, with the curvature of each score by itself.

    References
    ----------
    Yao, Vehtari, Simpson & Gelman (2018), "Using stacking to average Bayesian predictive
    distributions"; Catoni (2007), "PAC-Bayesian supervised classification", for the KL term.
    """
    logs = ahead + (losses.min() - losses) / 2
    n = len(logs)
    for _ in range(_STEPS):
        weights, value = _stacked(family, held, logs, ahead)
        slope, curve = np.zeros(n), np.zeros((n, n))
        for rows in held:
            for k, found in enumerate(rows.working(family, weights)):
                eta = rows.eta[:, k]
                slope -= eta @ found.slope + rows.fixed[:, k] @ found.fixed_slope
                curve += (eta * found.curve) @ eta.T
        rest = logs - ahead + slope
        rest -= weights @ rest
        spread = np.diag(weights) - np.outer(weights, weights)
        step = np.linalg.solve(np.eye(n) + curve @ spread, -rest)
        fall = float(rest @ spread @ step)
        share = 1.0
        while _stacked(family, held, logs + share * step, ahead)[1] > value + 0.1 * share * fall:
            share /= 2
            if share < 1e-3:
                return weights
        logs = logs + share * step
        if fall > -_CALM:
            break
    return _stacked(family, held, logs, ahead)[0]


def _stacked(
    family: Family, held: Sequence[_Held], logs: FloatArray, ahead: FloatArray
) -> tuple[FloatArray, float]:
    """Weights by their logarithms up to a constant, and what they are to minimise."""
    weights = np.exp(logs - logs.max())
    weights /= weights.sum()
    loss = sum(float(rows.working(family, weights)[0].loss.sum()) for rows in held)
    return weights, loss / 2 - float(special.entr(weights).sum() + weights @ ahead)


def _moved(fit: Fit) -> list[Strengths]:
    """The strengths of the likelihood, and weaker ones.

    Weaker ones make large scores, so where classes are nearly separable a little weight is much.
    They begin with as much less weight as they are weaker.
    """
    return [
        Strengths(f"moved by {move:g}", fit.terms, [rho + move for rho in fit.rhos], move)
        for move in _MOVES
    ]


def _utilities(fit: Fit) -> list[Term]:
    """All utilities; those of the fit alone where the number of terms is bounded."""
    if fit.options.max_terms is not None:
        return [term for term in fit.terms if len(term.sources) == 1]
    return [fit.ground.term((i,)) for i in fit.ground.live]


def _straight(fit: Fit) -> list[Strengths]:
    """Utilities without curvature, a unit of each of which has standard deviation one."""
    lines = []
    for term in _utilities(fit):
        line = term.penalties[:, -1] == 0 if term.penalties.shape[1] > 1 else slice(None)
        basis = term.basis[:, line]

        def look(block: Block, term: Term = term, basis: FloatArray = basis) -> tuple[Any, ...]:
            rows = block.rows(term)
            values = np.stack([rows(column) for column in basis.T])
            return block.weight.sum(), values @ block.weight, values**2 @ block.weight

        total, first, second = fit.table.total(look)
        spread = np.sqrt(np.maximum(second / total - (first / total) ** 2, 1e-12))
        lines.append(replace(term, basis=basis / spread, penalties=np.ones((len(spread), 1))))
    return [
        Strengths(f"straight {slope:g}", lines, [np.full(len(lines), slope) for _ in fit.rhos])
        for slope in _SLOPES
        if lines
    ]


def _shared(fit: Fit) -> list[Strengths]:
    """All utilities, and the interactions found, with one strength for each kind of penalty."""
    if fit.options.max_terms is not None:
        return []
    terms = [*_utilities(fit), *(term for term in fit.terms if len(term.sources) > 1)]
    found = []
    for first in _DIFFERENCES:
        for second in _CURVATURES:
            parts = [[first, second][: term.penalties.shape[1]] for term in terms]
            rho = np.concatenate([np.array(part) for part in parts])
            rhos = [rho.copy() for _ in fit.rhos]
            found.append(Strengths(f"shared {first:g}, {second:g}", terms, rhos))
    return found


def _take(fit: Fit, choice: Strengths) -> None:
    if [id(term) for term in choice.terms] != [id(term) for term in fit.terms]:
        fit.restart(choice.terms)
    fit.rhos = [rho.copy() for rho in choice.rhos]


def _complete(fit: Fit, table: Table) -> bool:
    """Whether rows of all classes are left."""
    sums = table.total(lambda block: fit.family.start(block.y, block.weight))
    return bool(min(np.min(part) for part in sums) > 0)


def _held_out(part: Fit, choices: Sequence[Strengths], block: Block) -> _Held:
    """Scores of some rows by each choice. Numbers begin at those of the choice before."""
    etas, fixed = [], []
    for choice in choices:
        _take(part, choice)
        part.find_numbers(outer=25, tolerance=0.1)
        etas.append(part.scores(block, part.design, part.betas))
        fixed.append([beta[: part.family.n_fixed] for beta in part.betas])
    return _Held(np.stack(etas), np.array(fixed), block.y, block.weight)


def _mix(fit: Fit, choices: Sequence[Strengths], shares: FloatArray) -> None:
    """Numbers of all choices that have a share, averaged, on terms that hold those of each."""
    kept = [(choice, share) for choice, share in zip(choices, shares, strict=True) if share]
    terms, calm, parts = widest(choice.terms for choice, _ in kept), True, []
    for choice, _ in kept:
        _take(fit, choice)
        fit.refit(steps=0, outer=60, tolerance=0.01)
        calm = calm and fit.settled
        spreads = [result.inverse * result.variance for result in fit.results]
        parts.append([moved_into(fit, k, terms, spread) for k, spread in enumerate(spreads)])
    mixed(fit, terms, parts, np.array([share for _, share in kept]) / shares.sum())
    fit.settled = calm
