"""Several fits as one: a weighted mean of their numbers, on terms that hold those of each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from choquet.additive.fit import Fit
from choquet.additive.reml import Reml
from choquet.additive.terms import Design, Term
from choquet.arrays import FloatArray


def widest(fits: Iterable[Sequence[Term]]) -> list[Term]:
    """For all sources of the terms of some fits, the term with most numbers."""
    found: dict[tuple[int, ...], Term] = {}
    for terms in fits:
        for term in terms:
            if term.n_numbers > getattr(found.get(term.sources), "n_numbers", 0):
                found[term.sources] = term
    return list(found.values())


def moved_into(
    fit: Fit, score: int, terms: Sequence[Term], spread: FloatArray
) -> tuple[Reml, FloatArray]:
    """The same score by the numbers of other terms, which can say all that those of the fit can.

    `spread` is the covariance of the numbers, which is moved too.
    """
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
    found = replace(
        result,
        beta=change @ fit.betas[score],
        inverse=change @ result.inverse @ change.T,
        edf=edf,
        penalty=1 / np.maximum(prior, 1e-300),
    )
    return found, change @ spread @ change.T


def mixed(
    fit: Fit,
    terms: Sequence[Term],
    parts: Sequence[Sequence[tuple[Reml, FloatArray]]],
    weights: FloatArray,
) -> None:
    """Give a fit the mean of some results on some terms, one for each score; strengths are gone.

    What lies between the results is part of the covariance.
    """
    fit.restart(terms)
    scores = [list(zip(*same, strict=True)) for same in zip(*parts, strict=True)]
    fit.results = [_mean(results, weights) for results, _ in scores]
    fit.betas = [result.beta for result in fit.results]
    fit.covariances = []
    for (results, spreads), mean in zip(scores, fit.betas, strict=True):
        apart = np.stack([result.beta - mean for result in results]) * np.sqrt(weights)[:, None]
        fit.covariances.append(np.tensordot(weights, np.stack(spreads), 1) + apart.T @ apart)


def _mean(results: Sequence[Reml], weights: FloatArray) -> Reml:
    """One result for several."""
    scaled = weights * np.array([result.variance for result in results])
    variance = float(scaled.sum())
    inverse = sum(w * result.inverse for w, result in zip(scaled, results, strict=True))
    prior = scaled @ np.stack([1 / result.penalty for result in results])
    return replace(
        results[0],
        beta=weights @ np.stack([result.beta for result in results]),
        inverse=inverse / variance,
        edf=weights @ np.stack([result.edf for result in results]),
        variance=variance,
        penalty=variance / np.maximum(prior, 1e-300),
    )
