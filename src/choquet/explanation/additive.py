"""A sum of small Choquet integrals as explanations and reports look at it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from choquet.additive.axes import Axis, Source
from choquet.additive.contexts import AdditiveDecomposition, RowExplanation
from choquet.additive.model import FittedTerm
from choquet.arrays import BoolArray, FloatArray, cells_of
from choquet.decomposition.outcome import place_of
from choquet.errors import OptionError
from choquet.estimators.additive.columns import unseen
from choquet.explanation.abstract import AbstractView, ModelExplanation, SampleExplanation
from choquet.explanation.phrases import figure, list_words, percent, plain
from choquet.frames import FrameLibrary, to_frame

_VERBS = {"rises": "raises", "falls": "lowers"}

_SPOKEN = 12
"""Terms that are told one by one; the table holds the others."""


@dataclass(frozen=True, eq=False, repr=False)
class TermsSample(SampleExplanation):
    """Why a row got its output from an additive model.

    Attributes
    ----------
    sources : tuple of str
    inputs : tuple
        As they were given: numbers and categories.
    output : object
        What the model predicts: a number, or a class.
    interval : tuple of two floats
        Band of 95 % for the mean, or for the probability of the class.
    probability : float or None
        Of the class, where the output is one.
    trust : float
        Share of what the penalties leave open that data decided.
    why : RowExplanation
        Effects of the terms, largest first.
    start : float
        What a row has before any term: the output where all effects are zero; of classes, what
        `contest` is there.
    contest : str or None
        What the effects are on, where the output is a class.
    """

    sources: tuple[str, ...]
    inputs: tuple[Any, ...]
    output: Any
    interval: tuple[float, float]
    probability: float | None
    trust: float
    why: RowExplanation
    start: float
    contest: str | None = None

    @property
    def outcome(self) -> None:
        """Nothing: the output is what the model answers."""
        return

    def text(self) -> str:
        """The explanation in sentences: the answer, then at most one for each term."""
        low, high = self.interval
        if self.probability is None:
            head = f"The output is {figure(self.output, 4)}. With 95 % confidence, the mean of "
            head += f"such rows lies between {figure(low, 4)} and {figure(high, 4)}."
            head += f" Without any term it is {figure(self.start, 4)}."
        else:
            head = f"The answer is {self.output}, with a probability of {percent(self.probability)}"
            head += f" ({percent(low)} to {percent(high)})."
        tail = f"Data decided {percent(self.trust)} of this; "
        if any(at is None for _, _, at in self.why.effects):
            tail += "nothing decided what is left out, and a preference for smooth curves the rest."
        else:
            tail += "a preference for smooth curves decided the rest."
        if self.contest is not None:
            head += f" On {self.contest}, {figure(self.start, 4)} without any term:"
        return "\n".join([head, *self.why.sentences, tail])

    def to_dict(self) -> dict[str, Any]:
        """Plain data, as JSON holds them."""
        effects = [
            {"term": name, "effect": effect, "context": None if at is None else at.words}
            for effect, name, at in self.why.effects
        ]
        told = {"inputs": list(map(_plain_cell, self.inputs)), "output": _plain_cell(self.output)}
        more = {"effects": effects, "sentences": self.why.sentences}
        found: dict[str, Any] = plain({**vars(self), **told, **more})
        del found["why"]
        return found

    def to_frame(self, library: FrameLibrary | None = None) -> Any:
        """A table of the terms, largest effect first: effect and context.

        Parameters
        ----------
        library : {"pandas", "polars"}, optional
            Whose frame it is; the first of them that is installed by default.
        """
        effects = self.why.effects
        columns: dict[str, list[Any]] = {
            "term": [name for _, name, _ in effects],
            "effect": [effect for effect, _, _ in effects],
            "context": ["" if at is None else at.words for _, _, at in effects],
        }
        return to_frame(columns, library)


def _plain_cell(cell: Any) -> Any:
    value = cell.item() if isinstance(cell, np.generic) else cell
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)


@dataclass(frozen=True, eq=False, repr=False)
class TermsExplanation(ModelExplanation):
    """What an additive model does, in words and numbers.

    Attributes
    ----------
    head : str
        How many terms there are, and what becomes of their sum.
    sentences : tuple of str
        What the largest terms do.
    table : tuple of dict
        All terms: name, share of the variance, numbers, numbers decided by data, trust.
    sources : tuple of str
    """

    head: str
    sentences: tuple[str, ...]
    table: tuple[dict[str, Any], ...]
    sources: tuple[str, ...]

    def opening(self) -> str:
        """The first sentences."""
        return self.head

    def text(self) -> str:
        """The explanation in sentences."""
        return "\n".join([self.head, *self.sentences])

    def to_dict(self) -> dict[str, Any]:
        """Plain data, as JSON holds them."""
        names = {"head": "opening", "table": "terms"}
        found: dict[str, Any] = plain({names.get(k, k): value for k, value in vars(self).items()})
        return found

    def to_frame(self, library: FrameLibrary | None = None) -> Any:
        """A table of the terms: share of the variance, numbers, and how far data decided them.

        Parameters
        ----------
        library : {"pandas", "polars"}, optional
            Whose frame it is; the first of them that is installed by default.
        """
        columns = {key: [row[key] for row in self.table] for key in self.table[0]}
        return to_frame(columns, library)


@dataclass(frozen=True, eq=False, repr=False)
class AdditiveView(AbstractView):
    """What explanations and reports look at, of a fitted additive model.

    Where there are several scores, that of the class `label` is shown.
    """

    model: Any
    label: Any = None

    @cached_property
    def sources(self) -> tuple[str, ...]:
        """Names of the columns."""
        return tuple(source.name for source in self.model.columns_)

    @property
    def target(self) -> str | None:
        """What is predicted, where that has a name."""
        name: str | None = getattr(self.model, "target_name_", None)
        return name

    @property
    def outcome(self) -> Any:
        """What the scores say of classes; None for numbers."""
        return self.model.outcome_

    @cached_property
    def score(self) -> int:
        """Number of the score that is looked at."""
        if self.label is None or self.model.model_.n_scores == 1:
            return 0
        classes = tuple(self.model.classes_.tolist())
        found = place_of(self.label, classes)
        if found is None:
            shown = ", ".join(map(str, classes[:12]))
            raise OptionError(f"there is no class {self.label!r}; the classes are {shown}")
        return found

    @cached_property
    def parts(self) -> AdditiveDecomposition:
        """Operators and contexts of the score."""
        found: AdditiveDecomposition = self.model.decomposition_of(self.score)
        return found

    @cached_property
    def unit(self) -> float:
        """What one unit of the score is in effects that are shown."""
        return self.parts.unit

    def rows_of(self, X: Any) -> tuple[Any, FloatArray]:
        """Rows as an array in the order of the columns, and the same with levels as numbers."""
        X = cells_of(X, self.sources)
        return X, self.model.nameless()._inputs(X)

    def strange(self, X: Any) -> tuple[BoolArray, BoolArray]:
        """Which cells hold a category that was never seen, and which a number outside of those."""
        X, rows = self.rows_of(X)
        outside = np.zeros(rows.shape, dtype=bool)
        for term in self.model.terms_:
            for i, axis in zip(term.sources, term.axes, strict=True):
                outside[:, i] |= axis.beyond(rows[:, i]) != 0
        return unseen(X, self.model.columns_), outside

    def range_of(self, source: int) -> str:
        """The numbers of a source that were learned from, in words."""
        axes = [
            axis
            for term in self.model.terms_
            for i, axis in zip(term.sources, term.axes, strict=True)
            if i == source
        ]
        return f"{axes[0].words(0)} to {axes[0].words(-1)}"

    def explained(self, X: Any, model: Any = None) -> list[TermsSample]:
        """Why each row got its output; the model is the view's own."""
        X, rows = self.rows_of(X)
        model = self.model.nameless()
        answers, trust = model.predict(X), model.trust(X)
        bands = model.predict_interval(X)
        chances: FloatArray | None = None
        pairs: list[tuple[int, int | None]] = [(self.score, None)] * len(rows)
        if self.outcome is not None:
            chances = model.predict_proba(X)
            order = np.argsort(-chances, axis=1, kind="stable")
            at = (np.arange(len(rows)), order[:, 0])
            chances, bands = chances[at], bands[at]
            if self.label is None and model.model_.n_scores > 1:
                pairs = [(int(first), int(second)) for first, second in order[:, :2]]
        cells = X.tolist()
        why: list[RowExplanation] = []
        strange = unseen(X, model.columns_)
        for k, (first, second) in enumerate(pairs):
            parts = model.decomposition_of(first, second)
            why += parts.explain(rows[k][None], strange[k][None])
        return [
            TermsSample(
                self.sources,
                tuple(cells[k]),
                answers[k],
                (float(bands[k][0]), float(bands[k][1])),
                None if chances is None else float(chances[k]),
                float(trust[k]),
                why[k],
                self._start(why[k]),
                self._contest(*pairs[k]),
            )
            for k in range(len(rows))
        ]

    def _start(self, why: RowExplanation) -> float:
        """What a row has before any term."""
        if self.outcome is None:
            return float(self.parts.output(np.zeros((1, 1)))[0])
        return why.score - sum(effect for effect, _, _ in why.effects)

    def _contest(self, first: int, second: int | None) -> str | None:
        """What the effects are on, where classes are told apart."""
        if self.outcome is None:
            return None
        classes = self.model.classes_
        if second is not None:
            return f"the log-odds of {classes[first]} against {classes[second]}"
        if hasattr(self.model, "thresholds_"):
            return "the score that orders the classes"
        what = self.scored
        return f"the log-odds of {what}" if len(classes) == 2 else f"the score of {what}"

    def story(self, *, n_requests: int = 0, support: Any = None) -> TermsExplanation:  # noqa: ARG002
        """What the model does; it asks for no data."""
        model, terms = self.model, self.model.terms_
        single = sum(len(term.sources) == 1 for term in terms)
        words = [f"{single} of one source"] if single else []
        words += [f"{len(terms) - single} of two to four sources"] if len(terms) > single else []
        total = "term" if len(terms) == 1 else "terms"
        head = f"The model adds up {len(terms)} {total}"
        head += f" ({', '.join(words)}). " if words else ". "
        head += self.meaning()
        decided = f"of which data decided about {model.edf_:.0f}"
        head += f" It holds {model.n_numbers_} numbers, {decided}."
        if not model.model_.settled:
            head += " The search for how smooth its curves should be did not finish."
        said = tuple(self.story_of(term) for term in terms[:_SPOKEN])
        rows = tuple(
            {
                "term": term.name,
                "order": len(term.sources),
                "share": term.share,
                "numbers": term.n_numbers,
                "decided": term.edf,
                "trust": term.trust,
            }
            for term in terms
        )
        return TermsExplanation(head, said, rows, self.sources)

    def meaning(self) -> str:
        """What becomes of the sum, in a sentence."""
        what = self.target or "the output"
        if self.outcome is None:
            origin = self.parts.origin
            if origin is None:
                return f"The sum is {what}."
            return (
                f"Effects multiply: each term multiplies the distance of {what} from "
                f"{figure(origin, 4)}."
            )
        if hasattr(self.model, "thresholds_"):
            return "The sum is a score; thresholds on it part the ordered classes."
        if self.model.model_.n_scores == 1:
            return f"The sum is the log-odds of {self.model.classes_[1]}."
        return f"The sum is a score for each class; these sentences are on {self.scored}."

    @property
    def scored(self) -> Any:
        """The class whose score is looked at."""
        return self.model.classes_[self.score if self.model.model_.n_scores > 1 else -1]

    def story_of(self, term: FittedTerm) -> str:
        """What a term does, in a sentence."""
        text = f"{term.name} ({percent(term.share)} of the variation) "
        if len(term.sources) == 1:
            text += f"{_shape(term, self.score)}: "
        text += self._extremes(term)
        spread = float(term.errors[self.score].max()) * self.unit
        sure = f"; standard error at most {figure(spread)}." if self.parts.origin is None else "."
        return text + sure

    def _extremes(self, term: FittedTerm) -> str:
        """The least and the largest effect of a term, and where it has them."""
        values = term.values[self.score]
        low, high = (np.unravel_index(f(values), values.shape) for f in (np.argmin, np.argmax))
        words = self.parts.effect_words
        ends = [f"{words(float(values[at]))} where {self.where(term, at)}" for at in (low, high)]
        return f"from {ends[0]} to {ends[1]}"

    def short_of(self, term: FittedTerm) -> str:
        """What a term does, as shortly as a first screen needs it."""
        values, words = term.values[self.score], self.parts.effect_words
        what = self._contest(self.score, None) or self.target or "the output"
        if len(term.sources) == 1 and (shape := _shape(term, self.score)) in _VERBS:
            ends = [
                f"{words(float(values[k]))} where it is {self._place(term, 0, k)}"
                for k in (0, len(term.axes[0].knots) - 1)
            ]
            return f"{term.name} {_VERBS[shape]} {what}: {ends[0]}, {ends[1]}."
        if len(term.sources) == 1:
            return f"{term.name} moves {what} {self._extremes(term)}."
        who = f"{list_words(term.names)} together move {what}"
        return f"{who} {self._extremes(term)}, beyond what each does alone."

    def _place(self, term: FittedTerm, j: int, k: int) -> str:
        return place_words(self.model.columns_[term.sources[j]], term.axes[j], k)

    def where(self, term: FittedTerm, at: Any) -> str:
        """A place on the grid of a term, in words."""
        sources = [self.model.columns_[i] for i in term.sources]
        triples = zip(sources, term.axes, at, strict=True)
        return " and ".join(
            f"{one.name} is {place_words(one, ax, int(k))}" for one, ax, k in triples
        )


def place_words(source: Source, axis: Axis, k: int) -> str:
    """A knot or slot of an axis in words."""
    if k >= len(axis.knots) + axis.n_levels:
        return "missing"
    if source.kind == "nominal":
        return str(source.levels[k])
    if source.kind == "ordered":
        return str(source.levels[int(axis.knots[k])])
    return axis.words(k)


def _shape(term: FittedTerm, score: int) -> str:
    """Whether a utility rises, falls, or turns."""
    n = len(term.axes[0].knots)
    if n < 2:
        return "has a value for each level"
    steps = np.diff(term.values[score][:n])
    most = float(np.abs(steps).sum())
    up = float(steps[steps > 0].sum())
    if most <= 0 or up > 0.98 * most:
        return "rises"
    if up < 0.02 * most:
        return "falls"
    return "rises and falls"
