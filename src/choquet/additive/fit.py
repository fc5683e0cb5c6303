"""One fit: terms, numbers and strengths, from sums over blocks alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from choquet.additive import _kernels
from choquet.additive.axes import Axis, Margin, Source, margin_of
from choquet.additive.families import Family, Multinomial
from choquet.additive.knots import axes_of
from choquet.additive.reml import Quadratic, Reml, covariance_of, mirrored, reml
from choquet.additive.table import Block, Table
from choquet.additive.terms import Design, Term, make_term
from choquet.arrays import FloatArray, IntArray

_FIRST = np.log(3.0)
"""Strength of a new penalty, in units of standardised targets."""

_TOGETHER = 1200
"""Numbers of all classes up to which they take their steps together."""

_NOISE = 1e-5
"""Variance that every standardised target has: strengths stay finite where a fit is perfect."""


@dataclass(frozen=True)
class Options:
    """How terms are made and chosen; the estimators explain each."""

    max_order: int = 4
    max_terms: int | None = None
    n_knots: tuple[int, ...] = (16, 8, 5, 4)
    max_rounds: int = 12
    per_round: int = 2
    price: float = 3.0
    min_gain: float = 4.0
    screen: int = 20
    largest: int = 130
    most_numbers: int = 1500
    groups: tuple[frozenset[int], ...] | None = None
    utilities_only: bool = False
    thin: bool = False
    ranks: float = 0.5


@dataclass(frozen=True, eq=False)
class Ground:
    """What all fits to the same rows share: sources, axes and margins by order of the term."""

    sources: tuple[Source, ...]
    axes: list[dict[int, Axis]]
    margins: list[dict[int, Margin]]
    weight: float
    terms: dict[tuple[int, ...], Term] = field(default_factory=dict)

    @property
    def live(self) -> list[int]:
        """Sources that vary."""
        return sorted(self.axes[0])

    def term(self, sources: tuple[int, ...]) -> Term:
        """The term of some sources, made once."""
        if sources not in self.terms:
            d = len(sources) - 1
            self.terms[sources] = make_term(sources, self.axes[d], self.margins[d])
        return self.terms[sources]

    def size(self, sources: tuple[int, ...]) -> int:
        """Numbers of a term, without making it."""
        return int(np.prod([self.axes[len(sources) - 1][i].size - 1 for i in sources]))


def ground_of(table: Table, sources: Sequence[Source], options: Options) -> Ground:
    """Axes and margins from the rows; sources that do not vary are left out."""
    orders = options.n_knots[: max(options.max_order, 1)]
    axes = axes_of(table, sources, orders)

    def look(block: Block) -> tuple[Any, ...]:
        parts = [
            axis.shares(block.X[:, i], block.weight) for level in axes for i, axis in level.items()
        ]
        return (block.weight.sum(), *parts)

    weight, *shares = table.total(look)
    found = iter(shares)
    margins = [
        {i: margin_of(axis, next(found), options.ranks) for i, axis in level.items()}
        for level in axes
    ]
    return Ground(tuple(sources), axes, margins, float(weight))


class Fit:
    """Terms with their numbers for each score of a family.

    Attributes
    ----------
    terms : list of Term
    betas : list of arrays
        Numbers of each score: the fixed ones, then those of each term.
    results : list of Reml
        What is known of each score at the end of `refit`.
    """

    def __init__(self, table: Table, ground: Ground, family: Family, options: Options) -> None:
        self.table, self.ground, self.family, self.options = table, ground, family, options
        self.terms: list[Term] = []
        self._first = family.begin(table.total(lambda block: family.start(block.y, block.weight)))
        self.results: list[Reml] = []
        self.quadratics: list[Quadratic] = []
        self.covariances: list[FloatArray] = []  # where a fit is a mean of several
        self.settled = False
        self._design: Design | None = None
        self.restart([ground.term((i,)) for i in ground.live])

    def restart(self, terms: Sequence[Term]) -> None:
        """Begin again with some terms: fixed numbers as if no term said anything."""
        self.terms = []
        self.betas = [np.array(row) for row in self._first]
        self.rhos = [np.zeros(0) for _ in self._first]
        self.add(terms)

    @property
    def design(self) -> Design:
        """The terms side by side; the same one as long as the terms are the same."""
        if self._design is None or self._design.terms is not self.terms:
            self._design = Design(self.terms, self.family.n_fixed)
        return self._design

    def add(self, terms: Sequence[Term]) -> None:
        """Put terms behind the others, with numbers that are zero."""
        self.terms = [*self.terms, *terms]
        more = sum(term.n_numbers for term in terms)
        strengths = np.full(sum(term.penalties.shape[1] for term in terms), _FIRST)
        self.betas = [np.append(beta, np.zeros(more)) for beta in self.betas]
        self.rhos = [np.append(rho, strengths) for rho in self.rhos]

    def keep(self, places: Sequence[int]) -> None:
        """Keep the terms at some places, with their numbers and strengths."""
        design = self.design
        fixed = np.arange(self.family.n_fixed)
        numbers = [np.arange(design.n_numbers)[design.numbers(k)] for k in places]
        counts = np.cumsum([0, *(term.penalties.shape[1] for term in self.terms)])
        rhos = [np.arange(counts[k], counts[k + 1]) for k in places]
        kept = np.concatenate([fixed, *numbers])
        strengths = np.concatenate(rhos) if rhos else np.zeros(0, dtype=np.int64)
        self.terms = [self.terms[k] for k in places]
        self.betas = [beta[kept] for beta in self.betas]
        self.rhos = [rho[strengths] for rho in self.rhos]

    def penalties(self) -> FloatArray:
        """Diagonals of all penalties, a column each."""
        design = self.design
        counts = np.cumsum([0, *(term.penalties.shape[1] for term in self.terms)])
        D = np.zeros((design.n_numbers, int(counts[-1])))
        for k, term in enumerate(self.terms):
            D[design.numbers(k), counts[k] : counts[k + 1]] = term.penalties
        return D

    def kinds(self) -> IntArray:
        """Kind of each penalty: differences or curvatures, of utilities or of interactions."""
        found = [
            2 * min(len(term.sources) - 1, 1) + j
            for term in self.terms
            for j in range(term.penalties.shape[1])
        ]
        return np.array(found, dtype=np.int64)

    def covariance(self) -> FloatArray:
        """Posterior covariance of the numbers of the first score, averaged over strengths."""
        return covariance_of(self.quadratics[0], self.penalties(), self.results[0], self.kinds())

    def scores(self, block: Block, design: Design, betas: Sequence[FloatArray]) -> FloatArray:
        """Sums of the terms, (n_scores, n), without the fixed numbers."""
        return block.scores(design, betas)

    def fixed(self, betas: Sequence[FloatArray]) -> FloatArray:
        """The fixed numbers of each score, (n_scores, n_fixed)."""
        return np.stack([beta[: self.family.n_fixed] for beta in betas])

    def loss(self, betas: Sequence[FloatArray]) -> float:
        """Loss of all rows at some numbers."""
        design, fixed = self.design, self.fixed(betas)

        def look(block: Block) -> tuple[Any, ...]:
            eta = self.scores(block, design, betas)
            return (self.family.working(0, eta, fixed, block.y, block.weight).loss.sum(),)

        return float(self.table.total(look)[0])

    def quadratic(self, k: int) -> Quadratic:
        """Quadratic model of the loss of score k at the numbers as they are: one pass."""
        design, fixed, family = self.design, self.fixed(self.betas), self.family
        size, n_fixed = int(design.grid_cuts[-1]), family.n_fixed

        def look(block: Block) -> tuple[Any, ...]:
            rows = block.design(design)
            eta = block.scores(design, self.betas)
            found = family.working(k, eta, fixed, block.y, block.weight)
            curve = np.zeros((size, size))
            _kernels.gram(rows.index, rows.share, found.curve, curve)
            sums = np.zeros((size, 1 + n_fixed))
            values = np.column_stack([found.slope, found.cross])
            _kernels.columns(rows.index, rows.share, values, sums)
            return found.loss.sum(), curve, sums, found.fixed_slope, found.fixed_curve

        loss, curve, sums, fixed_slope, fixed_curve = self.table.total(look)
        mirrored(curve)
        inner = design.project(design.project(curve).T)
        sums = design.project(sums)
        H = np.block([[fixed_curve, sums[:, 1:].T], [sums[:, 1:], (inner + inner.T) / 2]])
        slope = np.concatenate([fixed_slope, sums[:, 0]])
        beta = self.betas[k]
        square = float(loss + 2 * slope @ beta + beta @ H @ beta)
        if not family.known_scale:
            square += _NOISE * self.ground.weight
        n = self.ground.weight
        return Quadratic(H, H @ beta + slope, square, n, n_fixed, family.known_scale, float(loss))

    def refit(
        self,
        *,
        steps: int = 4,
        outer: int = 3,
        tolerance: float = 0.1,
        aim: float | None = None,
    ) -> None:
        """Numbers and strengths again; `settled` tells whether all of them came to rest.

        `aim` is that of `reml`, where one of its runs is all.
        """
        D, kinds = self.penalties(), self.kinds()
        n_scores = self.family.n_scores
        if steps == 0 and self._small:
            self._refit_together(outer, tolerance)
            outer = 1
        results: list[Any] = [None] * n_scores
        quadratics: list[Any] = [None] * n_scores
        pace, last = np.ones(n_scores), np.full(n_scores, np.inf)
        for _ in range(1 if self.family.linear else outer):
            largest = 0.0
            for k in range(n_scores):
                q = quadratics[k] = self.quadratic(k)
                found = reml(
                    q, D, self.rhos[k], kinds, max_iter=steps, tolerance=tolerance,
                    aim=aim if self.family.linear else None,
                )  # fmt: skip
                results[k], before = found, self.betas[k]
                moved_rho = np.abs(found.log_strengths - self.rhos[k])
                step = found.beta - before
                self.rhos[k] = found.log_strengths
                if self.family.linear:
                    self.betas[k] = found.beta
                    continue
                moved = np.sqrt(max(step @ q.curve @ step, 0.0) / max(found.variance, 1e-300))
                if moved > 0.9 * last[k]:  # steps that do not shrink go back and forth
                    pace[k] = max(pace[k] / 2, 0.1)
                last[k] = moved
                share = self._step(k, pace[k] * step, D @ np.exp(self.rhos[k]), q.loss)
                calm = moved if share == 1 else np.inf
                live = np.abs(found.log_strengths) < 13
                calm = max(calm, 10 * tolerance * float(moved_rho[live].max(initial=0.0)))
                largest = max(largest, calm if share else 0.0)
            if largest < 10 * tolerance:
                break
        else:
            largest = 0.0 if self.family.linear else largest
        self.results, self.quadratics = results, quadratics
        # Without steps the strengths are given: only the numbers have to come to rest.
        calm = steps == 0 or all(r.converged for r in results)
        self.settled = calm and largest < 10 * tolerance

    @property
    def _small(self) -> bool:
        """Whether several classes can take their steps together."""
        return 1 < self.family.n_scores <= _TOGETHER / self.design.n_numbers

    def find_numbers(self, *, outer: int, tolerance: float) -> None:
        """Numbers alone, at the strengths as they are; `results` may stay those of before."""
        if self._small:
            self._refit_together(outer, tolerance)
        else:
            self.refit(steps=0, outer=outer, tolerance=tolerance)

    def _refit_together(self, outer: int, tolerance: float) -> None:
        """Numbers of all classes at given strengths, by Newton steps on all of them at once."""
        D = self.penalties()
        penalty = np.concatenate([D @ np.exp(rho) for rho in self.rhos])
        for _ in range(outer):
            H, slope, loss = self._joint()
            beta = np.concatenate(self.betas)
            # Scores that all rise alike change nothing: a little ridge settles them.
            ridge = penalty + 1e-9 * max(float(np.mean(H.diagonal())), 1e-12)
            step = np.linalg.solve(H + np.diag(ridge), slope - penalty * beta)
            base = loss + float(penalty @ beta**2)
            for share in (1.0, 0.5, 0.25, 0.1, 0.03):
                new = beta + share * step
                betas = np.split(new, self.family.n_scores)
                if self.loss(betas) + float(penalty @ new**2) <= base + 1e-9 * abs(base):
                    self.betas = betas
                    break
            else:
                return
            if share == 1 and step @ H @ step < tolerance**2:
                return

    def _joint(self) -> tuple[FloatArray, FloatArray, float]:
        """Curvature and slope of the loss in the numbers of all classes, and the loss: one pass."""
        design, fixed, family = self.design, self.fixed(self.betas), self.family
        assert isinstance(family, Multinomial)
        K, size, p = family.n_scores, int(design.grid_cuts[-1]), design.n_numbers
        pairs = [(k, j) for k in range(K) for j in range(k, K)]

        def look(block: Block) -> tuple[Any, ...]:
            rows = block.design(design)
            eta = block.scores(design, self.betas)
            mu, w = family.shares(eta, fixed), block.weight
            rest = w * ((block.y == np.arange(K)[:, None]) - mu)
            curves, weights = np.zeros((len(pairs), size, size)), []
            for at, (k, j) in enumerate(pairs):
                weight = w * mu[k] * ((k == j) - mu[j])
                _kernels.gram(rows.index, rows.share, weight, curves[at])
                weights.append(weight)
            values = np.column_stack([*rest, *weights])
            sums = np.zeros((size, values.shape[1]))
            _kernels.columns(rows.index, rows.share, values, sums)
            loss = family.working(0, eta, fixed, block.y, w).loss.sum()
            return loss, curves, sums, values.sum(axis=0)

        loss, curves, sums, totals = self.table.total(look)
        sums = design.project(sums)
        slope = np.concatenate([np.append(totals[k], sums[:, k]) for k in range(K)])
        H = np.empty((K, p, K, p))
        for at, (k, j) in enumerate(pairs):
            inner = design.project(design.project(mirrored(curves[at])).T)
            edge = sums[:, K + at]
            part = np.block([[totals[K + at], edge[None]], [edge[:, None], inner]])
            H[k, :, j], H[j, :, k] = part, part.T
        return H.reshape(K * p, K * p), slope, float(loss)

    def _step(self, k: int, step: FloatArray, penalty: FloatArray, loss: float) -> float:
        """Go as much of the step as lowers loss, which is given, and penalty: the share gone."""
        before = self.betas[k]

        def cost(beta: FloatArray) -> float:
            betas = [*self.betas[:k], beta, *self.betas[k + 1 :]]
            return self.loss(betas) + float(penalty @ beta**2)

        base = loss + float(penalty @ before**2)
        for share in (1.0, 0.5, 0.25, 0.1, 0.03):
            new = before + share * step
            if cost(new) <= base + 1e-9 * abs(base):
                self.betas[k] = new
                return share
        return 0.0

    def edf(self) -> FloatArray:
        """Degrees of freedom of each term, summed over scores."""
        design = self.design
        total = np.zeros(len(self.terms))
        for result in self.results:
            for k in range(len(self.terms)):
                total[k] += float(result.edf[design.numbers(k)].sum())
        return total
