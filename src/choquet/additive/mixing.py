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


def moved_into(fit: Fit, score: int, terms: Sequence[Term]) -> Reml:
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


def mixed(
    fit: Fit, terms: Sequence[Term], parts: Sequence[Sequence[Reml]], weights: FloatArray
) -> None:
    """Give a fit the mean of some results on some terms, one for each score; strengths are gone."""
    fit.restart(terms)
    fit.results = [_mean(same, weights) for same in zip(*parts, strict=True)]
    fit.betas = [result.beta for result in fit.results]
    fit.quadratics = []


def _mean(results: Sequence[Reml], weights: FloatArray) -> Reml:
    """One result for several: means, and what lies between them added to the covariance."""
    betas = np.stack([result.beta for result in results])
    beta = weights @ betas
    scaled = weights * np.array([result.variance for result in results])
    variance = float(scaled.sum())
    inverse = sum(w * result.inverse for w, result in zip(scaled, results, strict=True))
    apart = (betas - beta) * np.sqrt(weights)[:, None]
    prior = scaled @ np.stack([1 / result.penalty for result in results])
    return replace(
        results[0],
        beta=beta,
        inverse=(inverse + apart.T @ apart) / variance,
        edf=weights @ np.stack([result.edf for result in results]),
        variance=variance,
        penalty=variance / np.maximum(prior, 1e-300),
    )
