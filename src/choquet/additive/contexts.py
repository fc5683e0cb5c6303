"""The sum taken apart: each row meets one context a term, and there the term is an operator.

A context of a term is a cell of its grid (a band for each source) and an order of the positions in
the bands. There the term is ``bias + sum of weights[j] * j-th largest position``: a linear order
statistic, with the increases of a capacity along a chain as its weights.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from choquet.additive.model import AdditiveModel, FittedTerm
from choquet.additive.table import Block, Table
from choquet.additive.terms import Places
from choquet.arrays import BoolArray, FloatArray, IntArray, as_inputs
from choquet.errors import DataError
from choquet.frames import to_frame
from choquet.lattice.ties import falling
from choquet.scales import figure
from choquet.shown import Shown


@dataclass(frozen=True)
class Context:
    """Where an operator of a term is used.

    Attributes
    ----------
    term : int
        Number of the term.
    cell : tuple of int
        Interval of each source of the term, or its slot.
    order : tuple of int
        Places in the term's sources, largest position first.
    words : str
    """

    term: int
    cell: tuple[int, ...]
    order: tuple[int, ...]
    words: str


@dataclass(frozen=True, eq=False)
class TermOperator:
    """A linear order statistic of the positions of a term's sources in their bands.

    Attributes
    ----------
    name : str
        The sources of the term.
    context : Context
    bias : float
        In the units in which effects are shown, as the weights: those of the target where effects
        add; of the score otherwise.
    rank_weights : array
        By rank of the positions, largest first; `weights` is the same.
    source_weights : array of shape (n_sources,)
        The same weights by source, zero for those outside the term.
    share : float
        Share of the training rows in this context.
    count : int
        Number of these rows.
    """

    name: str
    context: Context
    bias: float
    rank_weights: FloatArray
    source_weights: FloatArray
    share: float
    count: int

    @property
    def weights(self) -> FloatArray:
        """By rank of the positions, largest first."""
        return self.rank_weights

    def __call__(self, positions: npt.ArrayLike) -> FloatArray:
        """Value at the positions of the term's sources in their bands, row by row."""
        ordered = -np.sort(-np.atleast_2d(np.asarray(positions, dtype=np.float64)), axis=1)
        return np.asarray(self.bias + ordered @ self.rank_weights)


@dataclass(frozen=True, repr=False)
class RowExplanation(Shown):
    """Why a row gets its score: at most one sentence a term, largest effect first.

    Attributes
    ----------
    score : float
        Sum of the intercept and the effects.
    effects : tuple of (float, str, Context or None)
        Effect, name and context of each term; no context where a source is silent.
    sentences : tuple of str
    """

    score: float
    effects: tuple[tuple[float, str, Context | None], ...]
    sentences: tuple[str, ...]

    def text(self) -> str:
        """The sentences, one a line."""
        return "\n".join(self.sentences)


@dataclass(frozen=True, eq=False, repr=False)
class AdditiveDecomposition(Shown):
    """A sum of terms as operators with contexts.

    Attributes
    ----------
    model : AdditiveModel
    output : callable
        From sums of terms, (n_scores, n), to predictions.
    counts : tuple of int arrays, one a term
        Training rows in each context: a line for each, with cell, order, and number of rows.
    score : int
        Which score, where a classifier has several.
    against : int or None
        The score that is taken away from it: of two classes, what speaks for one.
    unit : float
        What one unit of the score is in effects that are shown.
    kappa : float
        Of the link: 0 where effects add; where they multiply, a term of effect e has the factor
        exp(kappa e).
    origin : float or None
        Where effects multiply: the output whose distance from the prediction they multiply.
    """

    model: AdditiveModel
    output: Callable[[FloatArray], FloatArray]
    counts: tuple[IntArray, ...]
    score: int = 0
    against: int | None = None
    unit: float = 1.0
    kappa: float = 0.0
    origin: float | None = None

    def text(self) -> str:
        """How many contexts rows met in each term, one term a line."""
        n, met = len(self.counts), sum(map(len, self.counts))
        lines = [
            f"{n} term{'s' if n != 1 else ''}, which training rows met in {met:,} "
            f"context{'s' if met != 1 else ''}. to_frame() lists them."
        ]
        for term, one in zip(self.model.terms, self.counts, strict=True):
            times = f"{len(one):,} context{'s' if len(one) != 1 else ''}"
            lines.append(f"  {term.name}: {times}, {100 * term.share:.3g} % of the variance")
        return "\n".join(lines)

    def effect_words(self, effect: float) -> str:
        """An effect on the score as it is shown: what is added, or by what is multiplied."""
        if self.origin is None:
            return f"{'+' if effect > 0 else ''}{figure(effect * self.unit)}"
        return f"×{figure(np.exp(self.kappa * effect))}"

    def _grid(self, term: FittedTerm) -> FloatArray:
        values = term.values[self.score]
        return np.asarray(values if self.against is None else values - term.values[self.against])

    @property
    def sources(self) -> tuple[str, ...]:
        """Names of the sources."""
        return tuple(source.name for source in self.model.sources)

    @cached_property
    def operators(self) -> tuple[TermOperator, ...]:
        """Operators of the contexts that training rows met, those of most rows first."""
        found = []
        for t, met in enumerate(self.counts):
            d, total = met.shape[1] // 2, max(int(met[:, -1].sum()), 1)
            for *place, count in met.tolist():
                cell, order = tuple(place[:d]), tuple(place[d:])
                found.append(self._operator(t, cell, order, count, count / total))
        return tuple(sorted(found, key=lambda op: (op.context.term, -op.count, op.context.cell)))

    def _operator(
        self, t: int, cell: tuple[int, ...], order: tuple[int, ...], count: int, share: float
    ) -> TermOperator:
        term = self.model.terms[t]
        bias, weights = _chain(term, self._grid(term) * self.unit, cell, order)
        by_source = np.zeros(len(self.model.sources))
        for weight, j in zip(weights, order, strict=True):
            by_source[term.sources[j]] = weight
        context = Context(t, cell, order, self._words(term, cell, order))
        return TermOperator(term.name, context, bias, weights, by_source, share, count)

    def _words(
        self,
        term: FittedTerm,
        cell: tuple[int, ...],
        order: tuple[int, ...],
        row: FloatArray | None = None,
        strange: BoolArray | None = None,
    ) -> str:
        """A context in words; of a row, with its own values."""
        away = np.zeros(len(cell), dtype=bool)
        if row is None:
            told = [self._band(term, j, c) for j, c in enumerate(cell)]
        else:
            told = [self._value(term, j, c, row, strange) for j, c in enumerate(cell)]
            for j, (i, axis) in enumerate(zip(term.sources, term.axes, strict=True)):
                away[j] = axis.beyond(row[[i]])[0] or axis.knot_at(float(row[i])) is not None
        bands = [" and ".join(told)]
        between = [j for j in order if cell[j] < len(term.axes[j].knots) - 1 and not away[j]]
        if len(between) > 1:
            bands.append(" above ".join(term.names[j] for j in between) + " within these ranges")
        return " and ".join(bands)

    def _value(
        self, term: FittedTerm, j: int, cell: int, row: FloatArray, strange: BoolArray | None
    ) -> str:
        """What a row has of a source, in words."""
        axis, i, name = term.axes[j], term.sources[j], term.names[j]
        source, x = self.model.sources[i], float(row[i])
        away = float(axis.beyond(row[[i]])[0])
        if away:
            side, end = ("above", -1) if away > 0 else ("below", 0)
            return f"{name} is {side} {axis.words(end)}, where no row was learned from"
        if strange is not None and strange[i]:
            return f"this value of {name} was never seen, and counts as missing"
        band = self._band(term, j, cell)
        if source.kind == "nominal" or np.isnan(x):
            return band
        if source.kind == "ordered" and x.is_integer() and 0 <= x < len(source.levels):
            return f"{name} is {source.levels[int(x)]}"
        if axis.knot_at(x) is not None:
            return f"{name} is {axis.told(x)}"
        return f"{name} is {axis.told(x)} ({band.removeprefix(f'{name} is ')})"

    def _band(self, term: FittedTerm, j: int, cell: int) -> str:
        axis, source, name = term.axes[j], self.model.sources[term.sources[j]], term.names[j]
        if cell >= len(axis.knots) + axis.n_levels:
            return f"{name} is missing"
        if source.kind == "nominal":
            return f"{name} is {source.levels[cell]}"
        after = min(cell + 1, len(axis.knots) - 1)
        if source.kind == "ordered":
            low, high = (source.levels[int(axis.knots[k])] for k in (cell, after))
            return f"{name} is between {low} and {high}"
        return f"{name} is between {axis.words(cell)} and {axis.words(after)}"

    def place_words(self, term: FittedTerm, cell: tuple[int, ...]) -> str:
        """A cell of a term's grid in words."""
        return " and ".join(self._band(term, j, c) for j, c in enumerate(cell))

    def places(self, X: FloatArray) -> list[tuple[IntArray, IntArray, FloatArray, Any]]:
        """Cells, orders and positions of each row in each term, and whether it is known."""
        looked, found = Places(X), []
        for term in self.model.terms:
            cells, positions, known = looked.in_term(term.sources, term.axes)
            found.append((cells, falling(positions)[0], positions, known))
        return found

    def effects(self, X: FloatArray) -> FloatArray:
        """What each term gives in each row, by the operator of its context: (n, n_terms)."""
        out = np.zeros((len(X), len(self.model.terms)))
        for t, (cells, orders, positions, known) in enumerate(self.places(X)):
            key = np.hstack([cells, orders])
            distinct, place = np.unique(key, axis=0, return_inverse=True)
            d, grid = cells.shape[1], self._grid(self.model.terms[t])
            for k, row in enumerate(distinct):
                rows = (place.ravel() == k) & known
                cell, order = tuple(row[:d].tolist()), tuple(row[d:].tolist())
                bias, weights = _chain(self.model.terms[t], grid, cell, order)
                out[rows, t] = bias + positions[rows][:, list(order)] @ weights
        return out

    def _numbers(self, X: Any) -> FloatArray:
        """Rows as numbers, NaN where a value is missing; frames go by the names of the sources."""
        rows = as_inputs(X, sources=self.sources, finite=False)
        if np.isinf(rows).any():
            raise DataError("inputs must not be infinite; NaN says that a value is missing")
        return rows

    def predict(self, X: npt.ArrayLike) -> FloatArray:
        """Predictions by operators and contexts alone; equal to those of the model."""
        X = self._numbers(X)
        parts = [
            replace(self, score=k, against=None).effects(X).sum(axis=1)
            for k in range(self.model.n_scores)
        ]
        low, high = self.model.bounds[:, :1], self.model.bounds[:, 1:]
        return self.output(np.clip(np.stack(parts), low, high))

    def operator_of(self, X: npt.ArrayLike) -> IntArray:
        """Number, in `operators`, of each row's operator in each term; -1 if never met."""
        X = self._numbers(X)
        contexts = [op.context for op in self.operators]
        number = {(c.term, c.cell, c.order): k for k, c in enumerate(contexts)}
        out = np.full((len(X), len(self.model.terms)), -1, dtype=np.int64)
        for t, (cells, orders, _, known) in enumerate(self.places(X)):
            for i in np.flatnonzero(known):
                key = (t, tuple(cells[i].tolist()), tuple(orders[i].tolist()))
                out[i, t] = number.get(key, -1)
        return out

    def explain(self, X: npt.ArrayLike, strange: BoolArray | None = None) -> list[RowExplanation]:
        """Why each row gets its score: at most one sentence a term, largest effect first.

        `strange` says which cells hold a category that was never seen, where that is known.
        """
        X = self._numbers(X)
        effects, places = self.effects(X), self.places(X)
        fixed = self.model.fixed
        base = float(fixed[self.score, 0]) if fixed.shape[1] == 1 else 0.0
        if self.against is not None:
            base -= float(fixed[self.against, 0])
        unseen = [None] * len(X) if strange is None else list(strange)
        return [self._explain(effects[i], i, places, base, X[i], unseen[i]) for i in range(len(X))]

    def _explain(
        self,
        effects: FloatArray,
        i: int,
        places: Any,
        base: float,
        row: FloatArray,
        strange: BoolArray | None,
    ) -> RowExplanation:
        found: list[tuple[float, str, Context | None]] = []
        sentences = []
        for t in np.argsort(-np.abs(effects), kind="stable"):
            term = self.model.terms[t]
            cells, orders, _, known = places[t]
            if not known[i]:
                found.append((0.0, term.name, None))
                sentences.append(
                    f"{term.name} is left out, because {_unknown(term, row, strange)}."
                )
                continue
            cell, order = tuple(cells[i].tolist()), tuple(orders[i].tolist())
            context = Context(int(t), cell, order, self._words(term, cell, order, row, strange))
            effect = float(effects[t]) * self.unit
            found.append((effect, term.name, context))
            if self.origin is None:
                does = f"{'adds' if effect >= 0 else 'takes away'} {figure(abs(effect), 4)}"
            else:
                factor = np.exp(self.kappa * float(effects[t]))
                does = f"multiplies the distance from {figure(self.origin, 4)} by {figure(factor)}"
            sentences.append(f"{term.name} {does}, because {context.words}.")
        score = base + float(effects.sum())
        return RowExplanation(score, tuple(found), tuple(sentences))

    def to_frame(self) -> Any:
        """Operators as a pandas data frame, a row for each context that was met.

        Biases and weights are in units of the target where effects add, and of the score otherwise,
        which the columns say: `bias (score)`.
        """
        of = "" if self.origin is None else " (score)"
        columns: dict[str, list[Any]] = {
            "term": [op.name for op in self.operators],
            "context": [op.context.words for op in self.operators],
            f"bias{of}": [op.bias for op in self.operators],
            f"weights{of}": [op.rank_weights.tolist() for op in self.operators],
            "share": [op.share for op in self.operators],
            "count": [op.count for op in self.operators],
            "trust": [self.model.terms[op.context.term].trust for op in self.operators],
        }
        return to_frame(columns, "pandas")


def _unknown(term: FittedTerm, row: FloatArray, strange: BoolArray | None) -> str:
    """Which values of a row a term does not know, in words."""
    absent = np.isnan(row) if strange is None else np.isnan(row) & ~strange
    return " and ".join(
        f"{name} is missing" if absent[source] else f"this value of {name} was never seen"
        for name, source, axis in zip(term.names, term.sources, term.axes, strict=True)
        if not axis.place(row[[source]])[2][0]
    )


def count_contexts(model: AdditiveModel, table: Table) -> tuple[IntArray, ...]:
    """Rows of a table in each context of each term, as `AdditiveDecomposition.counts`: one pass."""
    looking = AdditiveDecomposition(model, lambda score: score[0], ())

    def look(block: Block) -> tuple[Any, ...]:
        found = []
        for cells, orders, _, known in looking.places(block.X):
            key = np.hstack([cells, orders])[known]
            distinct, counts = np.unique(key, axis=0, return_counts=True)
            found.append(
                Counter(dict(zip(map(tuple, distinct.tolist()), counts.tolist(), strict=True)))
            )
        return tuple(found)

    return tuple(
        np.array([[*place, count] for place, count in sorted(met.items())], dtype=np.int64).reshape(
            -1, 2 * len(term.sources) + 1
        )
        for met, term in zip(table.total(look), model.terms, strict=True)
    )


def _chain(
    term: FittedTerm, grid: FloatArray, cell: tuple[int, ...], order: tuple[int, ...]
) -> tuple[float, FloatArray]:
    """Value at the lower corner, and the increases along the chain of the order."""
    at = list(cell)
    chain = [grid[tuple(at)]]
    for j in order:
        if at[j] < len(term.axes[j].knots) - 1:  # slots have no way to another
            at[j] += 1
        chain.append(grid[tuple(at)])
    return float(chain[0]), np.diff(chain)
