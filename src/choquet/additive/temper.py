"""Strengths for classes, once more by prediction.

Where classes are nearly separable, the quadratic model of the likelihood says too little about the
strengths, and they come out too large. So others are tried on held-out rows: all strengths moved
together, strengths that all sources share, and straight lines with a ridge, which is logistic
regression. Held-out rows say nothing about strengths that they helped to find, so the likelihood
is asked for its strengths again without them. Few rows hardly tell one choice from the next, so
scores are averaged over the choices, each weighted by the likelihood of the held-out rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from choquet.additive.choose import sample
from choquet.additive.fit import Fit
from choquet.additive.reml import Reml
from choquet.additive.table import Block, RowHash, Table
from choquet.additive.terms import Design, Term
from choquet.arrays import BoolArray, FloatArray

_SLOPES = np.arange(5.0, -10.0, -1.5)
"""Ridges of straight lines, in logarithms, for sources of standard deviation one."""
_DIFFERENCES = (3.0, 1.0, -1.0, -3.0)
_CURVATURES = (0.0, 4.0)
_MOVES = (0.0, -1.5, -3.0)
_FOLDS = ((1000.0, 5), (np.inf, 3))
"""Folds by the number of rows: more where few rows say little."""
_FEWEST = 30
_STRAIGHT = 4.0
"""What straight lines are ahead of curves before rows are seen, in logarithms of odds."""
_LEAST = 0.01
"""Choices of less weight than this share of the largest are left out."""


@dataclass(frozen=True, eq=False)
class Strengths:
    """Terms with the logarithms of their strengths, for each score."""

    name: str
    terms: Sequence[Term]
    rhos: list[FloatArray]
    straight: bool = False


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
    table, sums, weight = sample(fit.table, fit.ground.weight), np.zeros(len(choices)), 0.0
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
        found, own = _held_out(part, [*given, *_moved(part)], test)
        weight += own
        sums += found
    if not weight:
        return {}
    # Losses are minus twice the log-likelihood.
    priced = sums + 2 * _STRAIGHT * np.array([not choice.straight for choice in choices])
    shares = np.exp((priced.min() - priced) / 2)
    if average:
        _mix(fit, choices, np.where(shares < _LEAST, 0.0, shares))
    else:
        _take(fit, choices[int(np.argmin(priced))])
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
    """The strengths of the likelihood, and weaker ones."""
    return [
        Strengths(f"moved by {move:g}", fit.terms, [rho + move for rho in fit.rhos])
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
        Strengths(
            f"straight {slope:g}", lines, [np.full(len(lines), slope) for _ in fit.rhos], True
        )
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


def _held_out(part: Fit, choices: Sequence[Strengths], test: Table) -> tuple[FloatArray, float]:
    """Loss of the test rows by each choice, and their weight.

    Numbers begin at those of the choice before.
    """
    found, weight, n_fixed = [], 0.0, part.family.n_fixed
    for choice in choices:
        _take(part, choice)
        part.find_numbers(outer=25, tolerance=0.1)
        design, fixed = part.design, np.stack([beta[:n_fixed] for beta in part.betas])

        def look(block: Block, design: Design = design, fixed: FloatArray = fixed) -> Any:
            eta = part.scores(block, design, part.betas)
            loss = part.family.working(0, eta, fixed, block.y, block.weight).loss
            return loss.sum(), block.weight.sum()

        loss, weight = test.total(look)
        found.append(loss)
    return np.array(found), float(weight)


def _mix(fit: Fit, choices: Sequence[Strengths], shares: FloatArray) -> None:
    """Numbers of all choices that have a share, averaged, on terms that hold those of each."""
    kept = [(choice, share) for choice, share in zip(choices, shares, strict=True) if share]
    largest: dict[tuple[int, ...], Term] = {}
    for choice, _ in kept:
        for term in choice.terms:
            if term.n_numbers > getattr(largest.get(term.sources), "n_numbers", 0):
                largest[term.sources] = term
    terms, calm, parts = list(largest.values()), True, []
    for choice, _ in kept:
        _take(fit, choice)
        fit.refit(steps=0, outer=60, tolerance=0.01)
        calm = calm and fit.settled
        parts.append([_moved_into(fit, k, terms) for k in range(len(fit.betas))])
    weights = np.array([share for _, share in kept]) / shares.sum()
    fit.restart(terms)
    fit.results = [_mean(same, weights) for same in zip(*parts, strict=True)]
    fit.betas = [result.beta for result in fit.results]
    fit.quadratics, fit.settled = [], calm


def _moved_into(fit: Fit, score: int, terms: Sequence[Term]) -> Reml:
    """The same score by the numbers of other terms, which can say all that those of the fit can."""
    n_fixed, result = fit.family.n_fixed, fit.results[score]
    old, new = fit.design, Design(list(terms), n_fixed)
    places = {term.sources: k for k, term in enumerate(terms)}
    change, edf = np.zeros((new.n_numbers, old.n_numbers)), np.zeros(new.n_numbers)
    change[:n_fixed, :n_fixed], edf[:n_fixed] = np.eye(n_fixed), result.edf[:n_fixed]
    for k, term in enumerate(fit.terms):
        to = new.numbers(places[term.sources])
        wider = terms[places[term.sources]]
        change[to, old.numbers(k)] = (
            np.eye(term.n_numbers)
            if wider is term
            else np.linalg.lstsq(wider.basis, term.basis, rcond=None)[0]
        )
        edf[to] = result.edf[old.numbers(k)].sum() / wider.n_numbers
    prior = change[:, n_fixed:] ** 2 @ (1 / result.penalty[n_fixed:])
    return replace(
        result,
        beta=change @ fit.betas[score],
        inverse=change @ result.inverse @ change.T,
        edf=edf,
        penalty=1 / np.maximum(prior, 1e-300),
    )


def _mean(results: Sequence[Reml], weights: FloatArray) -> Reml:
    """One result for several: means, and what lies between them added to the covariance."""
    betas = np.stack([result.beta for result in results])
    beta = weights @ betas
    inverse = sum(w * result.inverse for w, result in zip(weights, results, strict=True))
    apart = (betas - beta) * np.sqrt(weights)[:, None]
    prior = weights @ np.stack([1 / result.penalty for result in results])
    return replace(
        results[0],
        beta=beta,
        inverse=inverse + apart.T @ apart,
        edf=weights @ np.stack([result.edf for result in results]),
        penalty=1 / np.maximum(prior, 1e-300),
    )
