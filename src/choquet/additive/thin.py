"""Few knots, where they matter: for models that are read whole.

A knot of a utility is kept where the line without it would leave the band of one standard error.
So a straight utility has two knots, and one that bends sharply has as many as it needs.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from choquet.additive.axes import margin_of
from choquet.additive.fit import Fit
from choquet.additive.table import Block
from choquet.additive.terms import errors_of
from choquet.arrays import FloatArray, IntArray


def needed_knots(knots: FloatArray, values: FloatArray, errors: FloatArray) -> IntArray:
    """Numbers of the knots without which a broken line would leave its band.

    Parameters
    ----------
    knots : array of shape (n,)
    values, errors : arrays of shape (n_scores, n)
        At the knots, and the standard error of each.

    References
    ----------
    Douglas & Peucker (1973), "Algorithms for the reduction of the number of points required to
    represent a digitized line".

    Examples
    --------
    >>> x = np.arange(6.0)
    >>> needed_knots(x, np.abs(x - 2)[None], np.full((1, 6), 0.1))
    array([0, 2, 5])
    """
    kept = [0, len(knots) - 1]
    while len(kept) < len(knots):
        lines = np.stack([np.interp(knots, knots[kept], line[kept]) for line in values])
        off = (np.abs(values - lines) / np.maximum(errors, 1e-300)).max(axis=0)
        off[kept] = 0.0
        worst = int(np.argmax(off))
        if off[worst] <= 1:
            break
        kept = sorted([*kept, worst])
    return np.array(kept)


def thinned(fit: Fit) -> Fit:
    """The same terms, fitted again with the knots that utilities need."""
    ground, design = fit.ground, fit.design
    axes, margins = dict(ground.axes[0]), dict(ground.margins[0])
    for k, term in enumerate(fit.terms):
        i, at = term.sources[0], design.numbers(k)
        if len(term.sources) > 1 or ground.sources[i].kind != "number":
            continue
        axis, n = term.axes[0], len(term.axes[0].knots)
        values = np.stack([term.basis @ beta[at] for beta in fit.betas])[:, :n]
        spread = [r.inverse[at, at] * r.variance for r in fit.results]
        errors = np.stack([errors_of(term.basis, each) for each in spread])[:, :n]
        axes[i] = replace(axis, knots=axis.knots[needed_knots(axis.knots, values, errors)])
    new = [i for i in axes if axes[i] is not ground.axes[0][i]]

    def look(block: Block) -> tuple[Any, ...]:
        return tuple(axes[i].shares(block.X[:, i], block.weight) for i in new)

    if not new:
        return fit
    for i, shares in zip(new, fit.table.total(look), strict=True):
        margins[i] = margin_of(axes[i], shares, fit.options.ranks)
    again = replace(
        ground, axes=[axes, *ground.axes[1:]], margins=[margins, *ground.margins[1:]], terms={}
    )
    # Strengths begin at those found.
    found = Fit(fit.table, again, fit.family, fit.options)
    found.restart([again.term(term.sources) for term in fit.terms])
    counts = np.cumsum([0, *(term.penalties.shape[1] for term in fit.terms)])
    kept = [
        counts[k] + j for k, term in enumerate(found.terms) for j in range(term.penalties.shape[1])
    ]
    found.rhos = [rho[kept] for rho in fit.rhos]
    found.refit(steps=25, outer=15, tolerance=1e-2)
    return found
