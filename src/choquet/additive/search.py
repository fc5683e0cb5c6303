"""Which terms: forward by a penalised score, then back to those that data decide."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np

from choquet.additive import _kernels
from choquet.additive.families import Family
from choquet.additive.fit import Fit, Ground, Options
from choquet.additive.reml import mirrored
from choquet.additive.table import Block, Table
from choquet.additive.terms import Term
from choquet.additive.thin import thinned
from choquet.arrays import FloatArray
from choquet.lattice.lazy import linalg
from choquet.watching import each

_STRENGTHS = np.array([0.03, 0.3, 3.0, 30.0, 300.0])
_BATCH = 64
_LIKELY = 256
"""Most pairs whose grids are looked at in a round; beyond, their smoothest parts choose."""
_SMOOTHEST = 3
"""Columns of a margin that stand for the source where there are many pairs."""
_REST = 1e-6
"""Gradient at which strengths end: what weights give and what repeated rows give agree then."""
_FEW = 100
"""Rows up to which strengths of classes get more steps: they move slowly, and each is quick."""
_MANY = 500
"""Numbers beyond which idle utilities are dropped before terms are looked for: it saves time."""
_KEPT = 400
"""Most candidates whose terms are kept from round to round."""


def grow(table: Table, ground: Ground, family: Family, options: Options) -> Fit:
    """The whole procedure: utilities, rounds of terms, strengths to the end, idle terms dropped."""
    fit = Fit(table, ground, family, options)
    fit.refit(steps=12, outer=6)
    if fit.design.n_numbers > _MANY and _drop_idle(fit):
        fit.refit(steps=4, outer=3)
    if options.max_order > 1:
        for _ in each("adding terms", range(options.max_rounds)):
            if not _round(fit):
                break
    _finish(fit)
    return thinned(fit) if options.thin else fit


def candidates(fit: Fit) -> list[tuple[int, ...]]:
    """Pairs, and larger subsets of which at least two parts are in already."""
    options, ground = fit.options, fit.ground
    have = {term.sources for term in fit.terms}
    found: list[tuple[int, ...]] = list(combinations(ground.live, 2))
    for d in range(3, options.max_order + 1):
        parts = [T for T in have if len(T) == d - 1]
        larger = {tuple(sorted((*p, i))) for p in parts for i in ground.live if i not in p}
        found += [T for T in sorted(larger) if sum(p in have for p in combinations(T, d - 1)) >= 2]
    groups = options.groups
    return [
        T
        for T in found
        if T not in have
        and ground.size(T) <= options.largest
        and (groups is None or any(set(T) <= group for group in groups))
    ]


def _round(fit: Fit) -> bool:
    """Score the candidates by what they would explain; take the best few."""
    options, ground = fit.options, fit.ground
    found = candidates(fit)
    if options.max_terms is not None:
        room = max(2 * options.max_terms, len(ground.live) + options.max_terms) - len(fit.terms)
        if room <= 0:
            return False
    if not found or fit.design.n_numbers > options.most_numbers:
        return False
    count = {d: sum(len(T) == d for T in found) for d in range(2, options.max_order + 1)}
    best = _screen(fit, _likely(fit, found))
    gains = _gains(fit, [ground.term(T) for T in best])
    priced = [g - options.price * np.log(count[len(T)]) for g, T in zip(gains, best, strict=True)]
    ranked = sorted(zip(priced, best, strict=True), reverse=True)
    chosen = [T for gain, T in ranked[: options.per_round] if gain > options.min_gain]
    if not chosen:
        return False
    fit.add([ground.term(T) for T in chosen])
    fit.refit(steps=4, outer=3)
    return True


def _working(fit: Fit, block: Block) -> tuple[list[FloatArray], list[FloatArray], Any]:
    """Slope and curvature of each score in a block, and the sparse rows of the design."""
    eta, fixed = fit.scores(block, fit.design, fit.betas), fit.fixed(fit.betas)
    found = [
        fit.family.working(k, eta, fixed, block.y, block.weight) for k in range(len(fit.betas))
    ]
    return [w.slope for w in found], [w.curve for w in found], (block.design(fit.design), found)


def _likely(fit: Fit, found: Sequence[tuple[int, ...]]) -> list[tuple[int, ...]]:
    """The pairs whose smoothest parts say most of the residual, and all larger terms: one pass."""
    pairs = np.array([T for T in found if len(T) == 2], dtype=np.int64).reshape(-1, 2)
    if len(pairs) <= _LIKELY:
        return list(found)
    live, ground = fit.ground.live, fit.ground
    place = {source: k for k, source in enumerate(live)}

    def look(block: Block) -> tuple[Any, ...]:
        slopes, curves, _ = _working(fit, block)
        values = np.zeros((len(block.y), len(live), _SMOOTHEST))
        for i in live:
            cell, position, known = block.places.of(i, ground.axes[1][i])
            basis = ground.margins[1][i].basis[:, :_SMOOTHEST]
            upper = np.minimum(cell + 1, len(basis) - 1)
            between = basis[cell] + position[:, None] * (basis[upper] - basis[cell])
            values[:, place[i], : basis.shape[1]] = between * known[:, None]
        flat = values.reshape(len(block.y), -1)
        sums = [(flat * slope[:, None]).T @ flat for slope in slopes]
        return np.stack(sums), (flat**2 * np.mean(curves, axis=0)[:, None]).T @ flat**2

    sums, sizes = fit.table.total(look)
    said = (sums**2 / np.maximum(sizes, 1e-12 * sizes.max())).sum(axis=0)
    n = len(live)
    score = said.reshape(n, _SMOOTHEST, n, _SMOOTHEST).sum(axis=(1, 3))
    at = np.array([[place[i], place[j]] for i, j in pairs])
    best = np.argsort(-score[at[:, 0], at[:, 1]], kind="stable")[:_LIKELY]
    kept = {(int(i), int(j)) for i, j in pairs[best]}
    return [T for T in found if len(T) > 2 or T in kept]


def _screen(fit: Fit, found: Sequence[tuple[int, ...]]) -> list[tuple[int, ...]]:
    """The candidates of the best cheap score: what they say of the residual, each alone."""
    ground, most = fit.ground, fit.options.screen
    if len(found) <= most:
        return list(found)
    cheap = np.zeros(len(found))
    for start in range(0, len(found), _BATCH):
        batch = [ground.term(T) for T in found[start : start + _BATCH]]

        def look(block: Block, batch: list[Term] = batch) -> tuple[Any, ...]:
            slopes, curves, _ = _working(fit, block)
            values, weight = np.column_stack(slopes), np.mean(curves, axis=0)
            out = []
            for term in batch:
                rows = term.rows(block.places)
                n = len(term.basis)
                sums, curve = np.zeros((n, len(slopes))), np.zeros((n, n))
                _kernels.columns(rows.index, rows.share, values, sums)
                _kernels.gram(rows.index, rows.share, weight, curve)
                out += [sums, curve]
            return tuple(out)

        sums = fit.table.total(look)
        for j, term in enumerate(batch):
            g = term.basis.T @ sums[2 * j]
            H = term.basis.T @ mirrored(sums[2 * j + 1]) @ term.basis
            variance = float(np.mean([r.variance for r in fit.results]))
            H[np.diag_indices_from(H)] += 30 * variance * term.penalties.sum(axis=1)
            cheap[start + j] = float((g * linalg.solve(H, g, assume_a="pos")).sum()) / variance
        if len(found) > _KEPT:
            for T in found[start : start + _BATCH]:
                ground.terms.pop(T, None)
    return [found[k] for k in np.argsort(-cheap, kind="stable")[:most]]


def _gains(fit: Fit, terms: Sequence[Term]) -> FloatArray:
    """Exact penalised scores: what each term would explain that the model cannot say already."""
    design, n_fixed = fit.design, fit.family.n_fixed
    size = int(design.grid_cuts[-1])

    def look(block: Block) -> tuple[Any, ...]:
        slopes, curves, (rows, found) = _working(fit, block)
        out = []
        for term in terms:
            own, n = term.rows(block.places), len(term.basis)
            for k, weight in enumerate(curves):
                sums, curve, cross = (np.zeros((n, m)) for m in (1 + n_fixed, n, size))
                values = np.column_stack([slopes[k], found[k].cross])
                _kernels.columns(own.index, own.share, values, sums)
                _kernels.gram(own.index, own.share, weight, curve)
                _kernels.cross(own.index, own.share, rows.index, rows.share, weight, cross)
                out += [sums, curve, cross]
        return tuple(out)

    totals = iter(fit.table.total(look))
    gains = np.zeros(len(terms))
    for t, term in enumerate(terms):
        for result in fit.results:
            sums, curve, cross = next(totals), next(totals), next(totals)
            g = term.basis.T @ sums[:, 0]
            H = term.basis.T @ mirrored(curve) @ term.basis
            inner = design.project(cross.T).T
            C = term.basis.T @ np.hstack([sums[:, 1:], inner])
            gains[t] += _gain(g, H - C @ result.inverse @ C.T, term, result.variance)
    return gains


def _gain(g: FloatArray, H: FloatArray, term: Term, variance: float) -> float:
    """Fall of the loss less two for each degree of freedom, at the best of a few strengths."""
    root = np.sqrt(term.penalties.sum(axis=1))
    values, vectors = linalg.eigh((H + H.T) / 2 / np.outer(root, root))
    e, z = np.maximum(values, 0.0)[:, None], (vectors.T @ (g / root))[:, None]
    strong = e + _STRENGTHS
    gain = (z**2 * (2 / strong - e / strong**2)).sum(axis=0) / variance
    return float((gain - 2 * (e / strong).sum(axis=0)).max())


def _finish(fit: Fit) -> None:
    """Strengths to the end; terms that the likelihood closed are dropped."""
    outer = 15 if fit.ground.weight > _FEW else 60
    fit.refit(steps=25, outer=outer, tolerance=1e-2, aim=_REST)
    for _ in range(3):
        if not _drop_idle(fit):
            break
        fit.refit(steps=25, outer=outer, tolerance=1e-2, aim=_REST)
    most = fit.options.max_terms
    while most is not None and len(fit.terms) > most:
        worst = int(np.argmin(_worth(fit)))
        fit.keep([k for k in range(len(fit.terms)) if k != worst])
        fit.refit(steps=10, outer=6, tolerance=0.02)
    if most is not None:
        fit.refit(steps=25, outer=15, tolerance=1e-2, aim=_REST)


def _drop_idle(fit: Fit) -> bool:
    """Drop terms of which data decide next to nothing; whether there were any."""
    edf = fit.edf()
    kept = [
        k for k, term in enumerate(fit.terms) if edf[k] > (0.3 if len(term.sources) > 1 else 0.05)
    ]
    if len(kept) == len(fit.terms):
        return False
    fit.keep(kept)
    return True


def _worth(fit: Fit) -> FloatArray:
    """What the loss would rise, at least, without each term: its Wald statistic less its price."""
    design, worth = fit.design, np.zeros(len(fit.terms))
    for beta, result in zip(fit.betas, fit.results, strict=True):
        for k in range(len(fit.terms)):
            at = design.numbers(k)
            inverse = result.inverse[at, at]
            rise = beta[at] @ linalg.solve(inverse, beta[at], assume_a="pos")
            worth[k] += rise / result.variance - 2 * float(result.edf[at].sum())
    return worth
