"""How far to believe the terms of several sources: one number, by rows that were held out.

Terms are the best of many candidates, so they look better on the rows that chose them than they
are. The whole procedure, their choice included, is done again without some rows. Between what
utilities alone say of these rows and what all terms say lies the best mean of both, and the fit
becomes that mean. It is a sum of the same terms.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from choquet.additive.choose import FEWEST, held_out, outputs, sample
from choquet.additive.fit import Fit, ground_of
from choquet.additive.mixing import mixed, moved_into, widest
from choquet.additive.search import grow
from choquet.watching import each

_PLAIN = 0.5
"""Terms that take this share of the noise away, or more, are believed without being tried."""

_STEPS = 20
"""Parts in which the share is told: it is no more exact, and sums in another order agree on it."""


def believe(fit: Fit) -> float:
    """Give a fit by squares the mean of utilities alone and of all terms that predicts best.

    Returns
    -------
    float
        The share of the fit with all terms; 1 where nothing was changed.

    References
    ----------
    Breiman (1996), "Stacked regressions".
    """
    if fit.ground.weight < FEWEST or all(len(term.sources) == 1 for term in fit.terms):
        return 1.0
    simple = replace(fit.options, max_order=1)
    alone = grow(fit.table, fit.ground, fit.family, simple)
    if fit.results[0].variance < _PLAIN * alone.results[0].variance:
        return 1.0
    pull, square = 0.0, 0.0
    rows = sample(fit.table, fit.ground.weight)
    for train, block in each("trying terms", held_out(rows)):
        ground = ground_of(train, fit.ground.sources, fit.options)
        first, whole = (
            outputs(grow(train, ground, fit.family, options), block)
            for options in (simple, fit.options)
        )
        more = block.weight * (whole - first)
        pull += float(more @ (block.y - first))
        square += float(more @ (whole - first))
    share = float(np.clip(pull / square, 0.0, 1.0)) if square else 1.0
    share = round(share * _STEPS) / _STEPS
    if share == 1:
        return share
    kept = [(one, w) for one, w in ((alone, 1 - share), (fit, share)) if w]
    terms, calm = widest(one.terms for one, _ in kept), all(one.settled for one, _ in kept)
    parts = [[moved_into(one, 0, terms, one.covariance())] for one, _ in kept]
    mixed(fit, terms, parts, np.array([w for _, w in kept]))
    fit.settled = calm
    return share
