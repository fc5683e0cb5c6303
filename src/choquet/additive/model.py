"""What was learned: terms with their values on grids, and how sure each is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from choquet.additive.axes import Axis, Source
from choquet.additive.choose import score_range
from choquet.additive.families import Squares
from choquet.additive.fit import Fit
from choquet.additive.link import Link
from choquet.additive.table import Block
from choquet.additive.terms import Places, Rows, errors_of, rows_of
from choquet.arrays import BoolArray, FloatArray

_ROWS = 4096
"""Rows whose standard errors are worked out at a time."""
_LEAST_NOISE = 0.02
"""The noise is never less than this share of that in the middle, however low the output is."""
BETWEEN = 1 / 140
"""What the square of a bend at a knot says of the squared error between knots.

A line that bends by s in a cell of width h lies off the best straight line there by s h / sqrt(420)
(root mean square over all places of the bend); 2 t (1 - t) is one third on average.
"""


@dataclass(frozen=True, eq=False)
class FittedTerm:
    """A utility or an interaction as learned.

    Attributes
    ----------
    sources : tuple of int
    names : tuple of str
    axes : tuple of Axis
        Knots and slots of each source.
    values : array with one grid for each score
        On the grid; their mean over the training rows is zero.
    errors : array with one grid for each score
        Standard error of each.
    edf : float
        Numbers that data, not the penalty, decided.
    n_numbers : int
        Numbers that the term has.
    spread : array of shape (n_scores,)
        Standard deviation of the term over the training rows.
    share : float
        Its variance, as a share of that of all terms together.
    """

    sources: tuple[int, ...]
    names: tuple[str, ...]
    axes: tuple[Axis, ...]
    values: FloatArray
    errors: FloatArray
    edf: float
    n_numbers: int
    spread: FloatArray
    share: float

    def rows(self, places: Places) -> Rows:
        """Sparse rows on the grid."""
        return rows_of(places, self.sources, self.axes)

    @property
    def trust(self) -> float:
        """Share of its numbers that data decided."""
        return float(min(max(self.edf / max(self.n_numbers, 1), 0.0), 1.0))

    def bends(self, k: int) -> FloatArray:
        """Squares of how much score k bends at each place of the grid, summed over sources.

        A bend is a change of slope times the mean width of the cells beside it. Knots at the ends
        take that of their neighbours; slots have none.
        """
        total = np.zeros(self.values[k].shape)
        for a, axis in enumerate(self.axes):
            n, h = len(axis.knots), np.diff(axis.knots)
            if n < 3:
                continue
            values = np.moveaxis(self.values[k], a, 0)[:n]
            width = h.reshape(-1, *([1] * (values.ndim - 1)))
            change = np.diff(np.diff(values, axis=0) / width, axis=0)
            bend = (change * (width[1:] + width[:-1]) / 2) ** 2
            np.moveaxis(total, a, 0)[:n] += np.concatenate([bend[:1], bend, bend[-1:]])
        return total.ravel()

    def edges(self, k: int, a: int) -> FloatArray:
        """Squares of the slope of score k along source a, at its first and last knot; zero inside.

        Squared errors of both knots of the cell are added, as if they were independent.
        """
        total, n = np.zeros(self.values[k].shape), len(self.axes[a].knots)
        if n > 1:
            ends = np.moveaxis(total, a, 0)
            values, errors = (np.moveaxis(of[k], a, 0) for of in (self.values, self.errors))
            widths = np.diff(self.axes[a].knots)
            for at, near, width in ((0, 1, widths[0]), (n - 1, n - 2, widths[-1])):
                rise = (values[at] - values[near]) ** 2 + errors[at] ** 2 + errors[near] ** 2
                ends[at] = rise / width**2
        return total.ravel()

    def unknown(self, k: int) -> float:
        """Variance of what the term would add to score k of a row that it is left out of.

        What it adds to training rows differs by `spread`, and is known up to `errors` only: a term
        that few rows tell is small because it is shrunk, and its errors have what is missing.
        Knots are quantiles, so rows are as certain as knots on average. Levels are not equally
        frequent, and a new one is no better known than the rarest. A new one also lies off the mean
        of L levels by their variance, whose estimate has L - 1 degrees of freedom, times 1 + 1 / L.
        """
        squares = self.errors[k] ** 2
        levels = [axis.n_levels for axis in self.axes if axis.n_levels > 1]
        if not levels:
            return float(self.spread[k] ** 2 + squares.mean())
        few = (min(levels) + 1) / (min(levels) - 1)
        return float(few * self.spread[k] ** 2 + squares.max())

    @property
    def name(self) -> str:
        """The names of its sources."""
        return " × ".join(self.names)

    def __repr__(self) -> str:
        return f"<{self.name}: {self.edf:.1f} of {self.n_numbers} numbers, {self.share:.1%}>"


@dataclass(frozen=True, eq=False, repr=False)
class AdditiveModel:
    """A sum of small Choquet integrals: everything that predictions and errors need.

    Attributes
    ----------
    sources : tuple of Source
    terms : tuple of FittedTerm
        Largest share of the variance first.
    fixed : array of shape (n_scores, n_fixed)
        Intercepts, or thresholds between ordered classes.
    bounds : array of shape (n_scores, 2)
        Range of the sums of terms in training, a little widened: predictions stay inside.
    covariance : list of arrays
        Posterior covariance of the numbers of each score: fixed ones, then terms in order.
    prior : list of arrays
        Variances that the penalties alone would give.
    bases : list of arrays
        Values on the grid for each number of each term.
    variance : float
        Of the noise, in units of the standardised target; 1 for classes.
    settled : bool
        Whether all strengths came to rest.
    kappa : float
        Number of the link; 0 where scores are outputs, and for classes.
    kappa_error : float
        Its standard error; 0 where it was given.
    kappa_answer : array of shape (p,)
        By how much each number falls if that of the link rises by one; empty where it was given.
    growth, level : float
        The standard deviation of the noise is that of `variance` times ``level * (1 + growth *
        output)``, in units of the standardised target; 0 and 1 where it is even.
    """

    sources: tuple[Source, ...]
    terms: tuple[FittedTerm, ...]
    fixed: FloatArray
    bounds: FloatArray
    covariance: list[FloatArray]
    prior: list[FloatArray]
    bases: list[FloatArray]
    variance: float
    settled: bool
    kappa: float = 0.0
    kappa_error: float = 0.0
    kappa_answer: FloatArray = field(default_factory=lambda: np.zeros(0))
    growth: float = 0.0
    level: float = 1.0

    def __repr__(self) -> str:
        return f"<AdditiveModel of {len(self.sources)} sources, {len(self.terms)} terms>"

    def renamed(self, names: Sequence[str]) -> AdditiveModel:
        """The same with other names of the sources."""
        sources = tuple(
            replace(one, name=name) for one, name in zip(self.sources, names, strict=True)
        )
        terms = tuple(
            replace(term, names=tuple(names[i] for i in term.sources)) for term in self.terms
        )
        return replace(self, sources=sources, terms=terms)

    @property
    def n_scores(self) -> int:
        """More than one for unordered classes only."""
        return len(self.fixed)

    @property
    def n_numbers(self) -> int:
        """Numbers that were fitted."""
        return sum(term.n_numbers for term in self.terms) * self.n_scores + self.fixed.size

    @property
    def edf(self) -> float:
        """Numbers that data, not the penalties, decided."""
        return sum(term.edf for term in self.terms) + self.fixed.size

    def contributions(self, X: FloatArray) -> FloatArray:
        """What each term adds to each score: (n_scores, n, n_terms). A silent source adds zero."""
        places = Places(X)
        out = np.zeros((self.n_scores, len(X), len(self.terms)))
        for t, term in enumerate(self.terms):
            rows = term.rows(places)
            for k in range(self.n_scores):
                out[k, :, t] = rows(term.values[k].ravel())
        return out

    def scores(self, X: FloatArray) -> FloatArray:
        """Sums of the terms within `bounds`, (n_scores, n), without the fixed numbers."""
        total = self.contributions(X).sum(axis=2)
        return np.asarray(np.clip(total, self.bounds[:, :1], self.bounds[:, 1:]))

    def outputs(self, X: FloatArray) -> FloatArray:
        """The first score behind its link: of regressions, the standardised target."""
        return Squares(self.kappa).mean(self.scores(X)[0] + self.fixed[0, 0])

    def noise_shape(self, output: FloatArray) -> FloatArray:
        """Standard deviation of the noise at standardised outputs, in units of that of all rows."""
        return np.asarray(self.level * np.maximum(1 + self.growth * output, _LEAST_NOISE))

    def leverage(self, X: FloatArray) -> FloatArray:
        """How far a training row of a regression pulls the fit to itself, from 0 to about 1."""
        slope = Squares(self.kappa).slope(self.scores(X)[0] + self.fixed[0, 0])
        return np.asarray(
            slope**2 * self._variance(X, self.covariance)[0] / max(self.variance, 1e-300)
        )

    def silent(self, X: FloatArray) -> BoolArray:
        """Whether a term is left out in a row, because a source gives nothing that it knows."""
        places = Places(X)
        out = np.zeros((len(X), len(self.terms)), dtype=bool)
        for t, term in enumerate(self.terms):
            for source, axis in zip(term.sources, term.axes, strict=True):
                out[:, t] |= ~places.of(source, axis)[2]
        return out

    def score_variance(self, X: FloatArray) -> FloatArray:
        """Posterior variance of each score, (n_scores, n), widened for terms left out.

        Between knots a term is a line, which what it learns from need not be. The squared bends at
        the knots beside tell how far off it may be there. Outside of the knots see `outside`.
        """
        found = self._variance(X, self.covariance) + self.outside(X)
        places = Places(X)
        for term in self.terms:
            rows = term.rows(places)
            between = BETWEEN * (1 - (rows.share**2).sum(axis=1))
            for k in range(self.n_scores):
                found[k] += between * rows(term.bends(k))
        left_out = self.silent(X)
        for k in range(self.n_scores):
            found[k] += left_out @ np.array([term.unknown(k) for term in self.terms])
        if self.kappa_error:
            found[0] += self._link_variance(X)
        return found

    def outside(self, X: FloatArray) -> FloatArray:
        """Variance of each score, (n_scores, n), for values that no training row came near.

        A term stays at its last value there. That it goes on as it came, with the slope of its last
        cell, is one standard error.
        """
        found, places = np.zeros((self.n_scores, len(X))), Places(X)
        for term in self.terms:
            for a, (source, axis) in enumerate(zip(term.sources, term.axes, strict=True)):
                away = axis.beyond(X[:, source])
                if not away.any():
                    continue
                rows = term.rows(places)
                for k in range(self.n_scores):
                    found[k] += away**2 * rows(term.edges(k, a))
        return found

    def _link_variance(self, X: FloatArray) -> FloatArray:
        """What an uncertain link adds to the variance of the score, by the delta method."""
        link, score = Squares(self.kappa), self.scores(X)[0] + self.fixed[0, 0]
        moved = link.bend(score) / link.slope(score)
        for start in range(0, len(X), _ROWS):
            block = slice(start, start + _ROWS)
            moved[block] -= self.kappa_answer[0] + self._dense(X[block]) @ self.kappa_answer[1:]
        return np.asarray((self.kappa_error * moved) ** 2)

    def trust(self, X: FloatArray) -> FloatArray:
        """Share of the penalties' variance that data took away, by row, all scores together.

        Data decided nothing of a term that is left out: its share of the variation is taken off.
        """
        prior = self._variance(X, [np.diag(variance) for variance in self.prior])
        rest = self._variance(X, self.covariance, fixed=False)
        open_ = self.outside(X).sum(axis=0)
        prior, rest = prior.sum(axis=0) + open_, rest.sum(axis=0) + open_
        with np.errstate(divide="ignore", invalid="ignore"):
            share = np.where(prior > 0, 1 - rest / prior, 1.0)
        left_out = self.silent(X) @ np.array([term.share for term in self.terms])
        return np.asarray(np.clip(share, 0.0, 1.0) * np.clip(1 - left_out, 0.0, 1.0))

    def _variance(
        self, X: FloatArray, covariance: Sequence[FloatArray], *, fixed: bool = True
    ) -> FloatArray:
        out = np.zeros((self.n_scores, len(X)))
        n_fixed = self.fixed.shape[1]
        for start in range(0, len(X), _ROWS):
            block = slice(start, start + _ROWS)
            rows = self._dense(X[block])
            head = np.full((len(rows), n_fixed), 1.0 / n_fixed if fixed else 0.0)
            rows = np.hstack([-head if n_fixed > 1 else head, rows])
            for k, matrix in enumerate(covariance):
                out[k, block] = np.einsum("ij,ij->i", rows @ matrix, rows)
        return np.maximum(out, 0.0)

    def _dense(self, X: FloatArray) -> FloatArray:
        """Rows of the design in the numbers of the terms."""
        places = Places(X)
        parts = []
        for term, basis in zip(self.terms, self.bases, strict=True):
            rows = term.rows(places)
            parts.append(np.einsum("ij,ijk->ik", rows.share, basis[rows.index]))
        return np.hstack(parts) if parts else np.zeros((len(X), 0))


def model_of(fit: Fit, link: Link | None = None) -> AdditiveModel:
    """Sum up a fit: terms by decreasing share of the variance, each with mean zero.

    An uncertain link, if given, widens the variances of scores.
    """
    design, betas, names = fit.design, fit.betas, [s.name for s in fit.ground.sources]
    weight, sums, squares = _moments(fit)
    means = sums / weight
    variances = np.maximum(squares / weight - means**2, 0.0)
    order = np.argsort(-variances.sum(axis=0), kind="stable")
    total = max(float(variances.sum()), 1e-300)
    edf, terms, bases = fit.edf(), [], []
    spreads = _covariances(fit)
    for t in order:
        term, at = fit.terms[t], design.numbers(int(t))
        values = np.stack([term.basis @ b[at] - means[k, t] for k, b in enumerate(betas)])
        errors = np.stack([errors_of(term.basis, spread[at, at]) for spread in spreads])
        shape = (len(betas), *term.shape)
        terms.append(
            FittedTerm(
                sources=term.sources,
                names=tuple(names[i] for i in term.sources),
                axes=term.axes,
                values=values.reshape(shape),
                errors=errors.reshape(shape),
                edf=float(edf[t]),
                n_numbers=term.n_numbers,
                spread=np.sqrt(variances[:, t]),
                share=float(variances[:, t].sum()) / total,
            )
        )
        bases.append(term.basis)
    n_fixed = fit.family.n_fixed
    numbers = [np.arange(design.n_numbers)[design.numbers(int(t))] for t in order]
    kept = np.concatenate([np.arange(n_fixed), *numbers])
    sign = 1.0 if n_fixed == 1 else -1.0
    shift = means.sum(axis=1, keepdims=True)
    fixed = np.stack([beta[:n_fixed] for beta in betas]) + sign * shift
    priors = [r.variance / np.maximum(r.penalty, 1e-300) for r in fit.results]
    for prior in priors:
        prior[:n_fixed] = 0.0
    return AdditiveModel(
        sources=fit.ground.sources,
        terms=tuple(terms),
        fixed=fixed,
        bounds=score_range(fit) - shift,
        covariance=[spread[np.ix_(kept, kept)] for spread in spreads],
        prior=[prior[kept] for prior in priors],
        bases=bases,
        variance=float(np.mean([r.variance for r in fit.results])),
        settled=fit.settled,
        kappa=fit.family.kappa if isinstance(fit.family, Squares) else 0.0,
        kappa_error=link.error if link else 0.0,
        kappa_answer=link.answer[kept] if link and link.error else np.zeros(0),
    )


def _covariances(fit: Fit) -> list[FloatArray]:
    """Posterior covariance of the numbers of each score, in the order of the fit."""
    if fit.covariances:
        return fit.covariances
    if fit.family.known_scale:  # held-out rows chose the strengths
        return [r.inverse * r.variance for r in fit.results]
    return [fit.covariance()]


def _moments(fit: Fit) -> tuple[Any, ...]:
    """Weight, sums and sums of squares of each term over the training rows."""
    design = fit.design

    def look(block: Block) -> tuple[Any, ...]:
        sums = np.zeros((2, len(fit.betas), len(fit.terms)))
        for t, term in enumerate(fit.terms):
            rows = block.rows(term)
            for k, beta in enumerate(fit.betas):
                value = rows(term.basis @ beta[design.numbers(t)])
                sums[:, k, t] = block.weight @ value, block.weight @ value**2
        return block.weight.sum(), sums[0], sums[1]

    return fit.table.total(look)
