"""A model in at most five short sentences, and what it costs to say no more.

Two ways are tried. The operators that were found, each cut down to its few largest weights, where
there are at most five contexts; and one weighted formula, fitted to the model's own answers. The
cost is that of the words as they are printed, numbers rounded, on the samples at hand.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from choquet.arrays import FloatArray, IntArray
from choquet.decomposition import ContextualOperator
from choquet.decomposition.runtime import assess
from choquet.explanation.abstract import PlainData
from choquet.explanation.phrases import operator_phrase, percent, rank_phrase
from choquet.explanation.view import View
from choquet.operators.names import nearest_familiar, nearest_name
from choquet.scales import figure, figures

if TYPE_CHECKING:
    from choquet.explanation.additive import AdditiveView

_MOST = 5
"""Sentences."""

_TERMS = 4
"""Terms of a sum that a sentence holds."""

_SMALL = 0.05
"""Share of the largest term below which one is left out."""

_SMALL_TERM = 0.01
"""Share of the variation below which a term is not told."""

_ROWS = 2_000
"""Rows that the cost is measured on."""

_AS_GOOD = 0.01
"""Share of the variation that a formula may lose against rules and still be preferred."""

POOR = 0.1
"""Share of the variation of the answers from which on a summary is far from its model."""


@dataclass(frozen=True, eq=False)
class Brief(PlainData):
    """At most five sentences, and how far they are from the model.

    They tell the contexts that were found, one weighted sum for all of them, or terms to be added.
    They miss a share of the variation of the model's answers (`lost`), and differ from these by
    `rms` and `worst` in units of the output: on so many samples, or scores of them, `drawn` evenly
    between 0 and 1 if none were given. A sample counts `n_classes` times, once for each class where
    its scores for each are taken.
    """

    sentences: tuple[str, ...]
    kind: str
    lost: float
    rms: float
    worst: float
    n_rows: int
    drawn: bool
    n_classes: int = 1

    @property
    def poor(self) -> bool:
        """Whether the sentences are too far from the model to stand for it."""
        return bool(self.lost > POOR)

    def cost(self) -> str:
        """What the summary costs, in one sentence."""
        where = f"{self.n_rows:,} " + ("inputs drawn at random" if self.drawn else "samples")
        if self.n_classes > 1 and not self.drawn:
            where = f"the scores of samples for each of {self.n_classes} classes"
        if self.kind == "terms":
            return self._cost_of_terms(where)
        if self.lost <= 1e-9:
            return f"This is the whole model: on {where} it gives the same answers."
        kept = percent(1 - self.lost) if self.lost < 1 else "none"
        return (
            f"This is a summary. On {where} it follows {kept} of the variation of the model's "
            f"answers; it differs from them by {figure(self.rms, 2)} typically and by "
            f"{figure(self.worst, 2)} at most."
        )

    def _cost_of_terms(self, where: str) -> str:
        if self.lost <= 1e-9:
            return "These are all terms, each given by its ends; their curves show the rest."
        return (
            f"These are the largest terms, each given by its ends. On {where} they follow "
            f"{percent(max(1 - self.lost, 0.0))} of the variation of the model's answers; without "
            f"the others, answers change by {figure(self.rms, 2)} typically and by "
            f"{figure(self.worst, 2)} at most."
        )

    def _more(self) -> dict[str, Any]:
        return {"cost": self.cost(), "poor": self.poor}


def brief_of_sum(view: AdditiveView, rows: FloatArray | None = None) -> Brief:
    """The largest terms of an additive model, at most five, and what the others would add.

    The cost is measured on rows with levels as numbers; without any, on rows drawn at random.

    Examples
    --------
    >>> import numpy as np
    >>> from choquet import ChoquetAdditiveRegressor
    >>> from choquet.explanation import view_of
    >>> X = np.linspace(0, 1, 60)[:, None]
    >>> view = view_of(ChoquetAdditiveRegressor(link="add").fit(X, 2 * X[:, 0]))
    >>> brief_of_sum(view, X).sentences[0].partition(":")[0]
    'x0 raises the output'
    """
    terms, parts = view.model.terms_, view.parts
    told_of = max(sum(term.share >= _SMALL_TERM for term in terms[:_MOST]), min(len(terms), 1))
    sentences = tuple(view.short_of(term) for term in terms[:told_of])
    sentences = sentences or ("The answer is always the same.",)
    drawn = rows is None or len(rows) < 2
    if drawn or rows is None:
        rows = _within(view)
    rows = rows[_thin(rows)]
    effects = parts.effects(rows)
    told, whole = effects[:, :told_of].sum(axis=1), effects.sum(axis=1)
    if view.outcome is None:  # in units of the output, not of the sum
        told, whole = (np.asarray(parts.output(one[None])).ravel() for one in (told, whole))
    return Brief(sentences, "terms", *_cost(told, whole), len(rows), drawn)


def _within(view: AdditiveView) -> FloatArray:
    """Inputs drawn at random, evenly over the knots or levels of each source."""
    rng, columns = np.random.default_rng(0), []
    for i, source in enumerate(view.model.columns_):
        ends = [
            knots
            for term in view.model.terms_
            for j, axis in zip(term.sources, term.axes, strict=True)
            if j == i and len(knots := axis.knots)
        ]
        if source.kind == "nominal":
            columns.append(rng.integers(0, max(len(source.levels), 1), _ROWS).astype(np.float64))
        else:
            low = min((float(knots[0]) for knots in ends), default=0.0)
            high = max((float(knots[-1]) for knots in ends), default=0.0)
            columns.append(rng.uniform(low, high, _ROWS))
    return np.column_stack(columns)


def brief_of(view: View, inputs: FloatArray | None = None) -> Brief:
    """Say in at most five sentences what a model does.

    The cost is measured on inputs in the units of the data; without any, on inputs drawn at random.

    Examples
    --------
    >>> from choquet import Measure
    >>> from choquet.explanation import view_of
    >>> g = Measure([0, 0, 1, 1, 1, 1, 1, 1], sources=["gpr", "ir", "emi"])
    >>> brief = brief_of(view_of(g))
    >>> brief.sentences
    ('If gpr is the largest, take the median of the three.', 'Otherwise take the largest.')
    >>> brief.cost()
    'This is the whole model: on 2,000 inputs drawn at random it gives the same answers.'
    """
    drawn = inputs is None or len(inputs) < 2
    if drawn or inputs is None:
        scaled = np.random.default_rng(0).random((_ROWS, len(view.sources)))
        inputs = scaled if view.units is None else view.units.inputs(scaled)
    inputs = inputs[_thin(inputs)]
    scaled = view.scaled(inputs)
    own = _of_the_model(view, scaled)
    answers = view.in_data(own)
    found = [
        _formula(view.sources, _name(view), inputs, answers, view.signs),
        _rules(view, scaled, own),
    ]
    tried = [
        Brief(tuple(words), kind, *_cost(told, answers), len(inputs), drawn)
        for kind, one in zip(("formula", "rules"), found, strict=True)
        if one is not None
        for words, told in [one]
    ]
    best = min(tried, key=lambda one: one.lost)
    formula = tried[0]
    # One line is easier than five, and units of the data easier than a scale from 0 to 1. But one
    # or two rules in these units that err half as much are as easy: of sensors that rise and fall
    # together, nearly any mean follows the variation of a median.
    plain = view.units is None and len(best.sentences) <= 2 and best.lost < formula.lost / 4
    as_good = formula.lost <= best.lost + _AS_GOOD and best.lost > 1e-9
    return formula if formula.kind == "formula" and as_good and not plain else best


def brief_formula(
    sources: Sequence[str],
    name: str,
    inputs: FloatArray,
    answers: FloatArray,
    signs: FloatArray | None = None,
) -> Brief:
    """Say in one weighted formula how answers follow from inputs.

    Signs, 1 or -1, are for columns that can only raise or lower the answer.

    Examples
    --------
    >>> X = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    >>> brief_formula(["ir", "emi"], "the output", X, X @ [0.7, 0.3]).sentences
    ('The output is 0.7 × ir + 0.3 × emi.',)
    """
    X, y = inputs[_thin(inputs)], answers[_thin(inputs)]
    words, told = _formula(sources, name, X, y, signs)
    return Brief(tuple(words), "formula", *_cost(told, y), len(X), False)


def _thin(rows: FloatArray) -> slice:
    """Rows that the cost is measured on, evenly spread over all."""
    return slice(None, None, max(1, -(-len(rows) // _ROWS)))


def _of_the_model(view: View, scaled: FloatArray) -> FloatArray:
    """What the model gives; of a decomposition, what the measure gives that it was made from."""
    if view.own is None and not view.learned and view.parts.measure is not None:
        return assess(view.parts, scaled).integral
    return view.answers(scaled)


def _cost(told: FloatArray, answers: FloatArray) -> tuple[float, float, float]:
    away = told - answers
    rms, spread = float(np.sqrt(np.mean(away**2))), float(np.std(answers))
    size = max(float(np.abs(answers).max(initial=0.0)), 1e-300)
    if rms <= 1e-9 * size:
        return 0.0, 0.0, 0.0
    lost = (rms / spread) ** 2 if spread > 1e-12 * size else 1.0
    return lost, rms, float(np.abs(away).max())


# -- one weighted formula --------------------------------------------------------------------------


def _formula(
    sources: Sequence[str],
    name: str,
    inputs: FloatArray,
    answers: FloatArray,
    signs: FloatArray | None,
) -> tuple[list[str], FloatArray]:
    """Answers as a sum of a few inputs, by least squares; numbers rounded as they are printed."""
    spread = inputs.std(axis=0)
    moving = np.flatnonzero(spread > 0)
    size = _effects(inputs, answers, moving, signs) * spread[moving]
    order = np.argsort(-np.abs(size), kind="stable")
    kept = moving[order][np.abs(size[order]) > _SMALL * np.abs(size).max(initial=1e-300)][:_MOST]
    found = _effects(inputs, answers, kept, signs)
    weights = np.array(
        [_rounded(w, float(answers.std() / spread[k])) for w, k in zip(found, kept, strict=True)]
    )
    rest = answers - inputs[:, kept] @ weights
    constant = _rounded(float(rest.mean()), float(answers.std()))
    terms = [(float(w), sources[k]) for w, k in zip(weights, kept, strict=True) if w]
    told = inputs[:, kept] @ weights + constant
    about = "" if _cost(told, answers)[0] == 0 else "about "
    return [_sum(name, terms, constant, about)], told


def _effects(X: FloatArray, y: FloatArray, which: IntArray, signs: FloatArray | None) -> FloatArray:
    """Weights of some columns; none against the direction that a monotone model has."""
    if not len(which):
        return np.zeros(0)
    columns, target = X[:, which] - X[:, which].mean(axis=0), y - y.mean()
    if signs is None:
        return np.asarray(np.linalg.lstsq(columns, target, rcond=1e-9)[0])
    from scipy.optimize import nnls

    widths = columns.std(axis=0)
    found = nnls(columns / widths * signs[which], target)[0]
    return np.asarray(found * signs[which] / widths)


def _name(view: View) -> str:
    if view.outcome is None:
        return view.target or "the output"
    if view.outcome.kind == "log-odds":
        return view.outcome.name
    return f"the score of {view.outcome.label}" if view.outcome.label else "the score"


def _sum(name: str, terms: list[tuple[float, str]], constant: float, about: str) -> str:
    text, told = "", figures([*(abs(weight) for weight, _ in terms), abs(constant)])
    for (weight, what), size in zip(terms, told, strict=False):
        sign = "−" if weight < 0 else "+"
        text += f"{f' {sign} ' if text else sign.strip('+')}{size} × {what}"
    if not text:
        text = figure(constant).replace("-", "−")
    elif constant:
        text += f" {'−' if constant < 0 else '+'} {told[-1]}"
    verb = "are" if name.startswith("the log-odds") else "is"
    name = f"The{name[3:]}" if name.startswith("the ") else name
    return f"{name} {verb} {about}{text}."


def _rounded(number: float, scale: float) -> float:
    """A number to a hundredth of a scale; without one, as three digits say it."""
    if not 0 < scale < np.inf:
        return float(f"{number:.3g}")
    unit = 10.0 ** np.floor(np.log10(scale / 100))
    return float(f"{np.round(number / unit) * unit:.6g}")


# -- a few contexts --------------------------------------------------------------------------------


def _rules(
    view: View, scaled: FloatArray, answers: FloatArray
) -> tuple[list[str], FloatArray] | None:
    """The contexts that were found, where they are few, with operators cut down to a few terms."""
    rules = view.rules
    if rules is None or len(rules.rules) + 1 > _MOST or view.parts.n_operators > _MOST:
        return None
    labels = view.parts.decided(scaled)[0]
    told, say = np.empty(len(scaled)), []
    for number, operator in enumerate(view.parts.operators):
        rows = labels == number
        text, told[rows] = _said(view, operator, scaled[rows], answers[rows], float(answers.std()))
        say.append(text)
    if 1 < len(view.parts.leaves) <= _MOST:
        leaves = sorted(view.parts.leaves.items(), key=lambda leaf: -leaf[1].share)
        where = [(view.context_of(leaf), say[rule.operator]) for leaf, rule in leaves]
        if len(where) == 2:
            first = min(range(2), key=lambda k: len(where[k][0]))
            where = [where[first], where[1 - first]]
        sentences = [f"If {context}, take {what}." for context, what in where[:-1]]
        sentences.append(f"Otherwise take {where[-1][1]}.")
    else:
        sentences = [
            f"{lead} {rule.text(view.sources)}, take {say[rule.operator]}."
            for lead, rule in zip(["If", *["Otherwise, if"] * _MOST], rules.rules, strict=False)
        ]
        lead = "Otherwise take" if sentences else "Always take"
        sentences.append(f"{lead} {say[rules.default]}.")
    return sentences, view.in_data(told)


def _said(
    view: View,
    operator: ContextualOperator,
    inputs: FloatArray,
    answers: FloatArray,
    width: float,
) -> tuple[str, FloatArray]:
    """An operator in words, and what the words give: a familiar one if that is as good."""
    text, by_rank, by_source, cut = _shortened(view, operator)
    ranked = -np.sort(-inputs, axis=1)
    found = [(text, ranked @ by_rank + inputs @ by_source, cut)]
    if cut and not operator.source_weights.any():
        nearest = nearest_familiar(by_rank)
        found.append((f"about {operator_phrase(nearest)}", ranked @ nearest, True))
    tried = []
    for words, told, away in found:
        # What was left out is made good for on average.
        bias = float(np.mean(answers - told)) if away and len(told) else float(operator.bias)
        # Less than a hundredth of the variation is nothing to speak of.
        bias = _rounded(bias, width) if abs(bias) > max(width / 100, 1e-9) else 0.0
        added = f" {'plus' if bias > 0 else 'minus'} {figure(abs(bias))}" if bias else ""
        lost = float(np.mean((told + bias - answers) ** 2)) if len(told) else 0.0
        tried.append((lost, words + added, told + bias))
    spelled, familiar = tried[0], tried[-1]
    best = familiar if familiar[0] <= spelled[0] + _AS_GOOD * width**2 else spelled
    return best[1], best[2]


def _shortened(
    view: View, operator: ContextualOperator
) -> tuple[str, FloatArray, FloatArray, bool]:
    """A phrase of at most four terms, the weights by rank and by source that it says, and
    whether they are not quite the operator's own.
    """
    n, by_rank, by_source = operator.n_sources, operator.rank_weights, operator.source_weights
    if not by_source.any() and nearest_name(by_rank).distance <= 1e-9:
        return operator_phrase(by_rank), by_rank, by_source, False
    weights = np.concatenate([by_source, by_rank])
    order = np.argsort(-np.abs(weights), kind="stable")[:_TERMS]
    kept = np.sort(order[np.abs(weights[order]) > _SMALL * np.abs(weights).max(initial=1e-300)])
    short = np.zeros(2 * n)
    short[kept] = [float(f"{w:.2f}" if abs(w) >= 0.01 else f"{w:.2g}") for w in weights[kept]]
    names = [*view.sources, *(rank_phrase(j + 1, n) for j in range(n))]
    text = ""
    for at in kept:
        sign = "minus" if short[at] < 0 else "plus"
        lead = f" {sign} " if text else ("minus " if short[at] < 0 else "")
        times = "" if abs(short[at]) == 1 else f"{figure(abs(short[at]))} times "
        text += f"{lead}{times}{names[at]}"
    cut = bool(np.abs(short - weights).max() > 1e-9)
    return text or "0", short[n:], short[:n], cut
