"""A contextual model explained: operators that were learned directly, and when each is used."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from choquet.arrays import FloatArray
from choquet.decomposition.outcome import Outcome
from choquet.errors import OptionError
from choquet.explanation.learned import TRUSTED, Learned
from choquet.explanation.phrases import (
    NO_BIAS,
    list_words,
    number_word,
    operator_phrases,
    percent,
    plain,
    rule_sentences,
)
from choquet.explanation.units import Units

__all__ = [
    "ContextRequest",
    "ContextualModelExplanation",
    "ContextualOperatorExplanation",
    "biased_phrases",
    "contexts_to_collect",
    "explain_contextual",
    "explain_contextual_operator",
]

_SPOKEN = 12
"""Operators that are described in the text one by one; the data hold all."""


@dataclass(frozen=True, eq=False)
class ContextRequest:
    """Samples of one context that would make its operator surer.

    Attributes
    ----------
    context : str
        The context, in words.
    leaf, operator : int
        Its number in the tree, and that of its operator.
    count : int
        Samples that the operator was learned from.
    trust : float
        Share of its weights that data decided, not the penalty.
    gain : float
        Expected fall of the mean squared error on samples like those learned from, if the samples
        of this operator were twice as many: half of noise × numbers learned / samples, times the
        share of samples in the context.
    """

    context: str
    leaf: int
    operator: int
    count: int
    trust: float
    gain: float

    def text(self) -> str:
        """What to collect, in words.

        Examples
        --------
        >>> ContextRequest("gpr is the largest", 1, 1, 98, 0.9, 0.01).text()
        'samples in which gpr is the largest (98 so far)'
        """
        where = "samples" if self.context == "always" else f"samples in which {self.context}"
        return f"{where} ({self.count:,} so far)"

    def to_dict(self) -> dict[str, Any]:
        """Plain data, as JSON holds them, with the text."""
        found: dict[str, Any] = plain({**vars(self), "text": self.text()})
        return found


@dataclass(frozen=True, eq=False)
class ContextualOperatorExplanation:
    """An operator that was learned from the samples of its contexts.

    Attributes
    ----------
    number : int
        Its number, from 0.
    name, phrase, context : str
        What it is called, what it takes, and when it is used.
    weights : array of N floats
        By rank, largest input first.
    bias : float
        Added to its output.
    orness : float
        1 for the max, 0 for the min.
    share, count : float, int
        Share and number of the samples that it was learned from.
    rank : int
        Directions of the sorted inputs, at most N, that these vary in.
    condition, trust, residual : float
        Ratio of largest to smallest spread; share of the weights that data, not the penalty,
        decided; root mean square of what it leaves unexplained (scaled, as the operators are).
    supported : bool
        Whether data decided more of it than the penalty did.
    """

    number: int
    name: str
    phrase: str
    context: str
    weights: FloatArray
    bias: float
    orness: float
    share: float
    count: int
    rank: int
    condition: float
    trust: float
    residual: float
    supported: bool

    def to_dict(self) -> dict[str, Any]:
        """Plain data, as JSON holds them."""
        found: dict[str, Any] = plain(dict(vars(self)))
        return found

    def text(self) -> str:
        """The operator in one sentence.

        Examples
        --------
        >>> import numpy as np
        >>> from choquet import ContextualRegressor, explain_operator
        >>> X = np.random.default_rng(0).random((300, 3))
        >>> y = np.where(X[:, 0] == X.max(axis=1), np.median(X, axis=1), X.max(axis=1))
        >>> explain_operator(ContextualRegressor(convex=True, l2=0.0).fit(X, y), 1).text()
        'Operator 2, median, takes the median of the three if x1 is the largest. It was learned \
from 98 samples (32.7 %), which decided 100 % of its weights.'
        """
        always = self.context == "always"
        text = f"Operator {self.number + 1}, {self.name}, {'always ' if always else ''}takes "
        text += f"{self.phrase}{'' if always else f' if {self.context}'}. "
        text += f"It was learned from {self.count:,} samples ({percent(self.share)}), "
        text += f"which decided {percent(self.trust)} of its weights"
        return text + ("." if self.supported else ": do not rely on it.")


@dataclass(frozen=True, eq=False)
class ContextualModelExplanation:
    """What a contextual model does, in words and numbers.

    Attributes
    ----------
    sources : tuple of str
    operators : tuple of ContextualOperatorExplanation
        By decreasing share.
    sentences : tuple of str
        Rules as instructions, the first that applies counting.
    rules_fidelity, rules_exact : float, bool
        The rules are the model: 1 and True.
    n_contexts : int
        Leaves of the tree; several may share an operator.
    n_samples : float
        Samples learned from, by weight.
    output_name : str
        What the operators give.
    requests : tuple of ContextRequest
        Data to collect next.
    units : Units or None
        Of the data, where the model sees them scaled.
    outcome : Outcome or None
        What the output says of a class, if it is one's.
    """

    sources: tuple[str, ...]
    operators: tuple[ContextualOperatorExplanation, ...]
    sentences: tuple[str, ...]
    rules_fidelity: float
    rules_exact: bool
    n_contexts: int
    n_samples: float
    output_name: str
    requests: tuple[ContextRequest, ...]
    units: Units | None
    outcome: Outcome | None = None

    def to_dict(self) -> dict[str, Any]:
        """Plain data, as JSON holds them."""
        data = dict(vars(self))
        data["operators"] = [operator.to_dict() for operator in self.operators]
        data["requests"] = [request.to_dict() for request in self.requests]
        data["units"] = None if self.units is None else self.units.to_dict()
        data["outcome"] = None if self.outcome is None else self.outcome.to_dict()
        found: dict[str, Any] = plain(data)
        return found

    def text(self) -> str:
        r"""The explanation in sentences.

        Examples
        --------
        >>> import numpy as np
        >>> from choquet import ContextualRegressor, explain_model
        >>> X = np.random.default_rng(0).random((300, 3))
        >>> y = np.where(X[:, 0] == X.max(axis=1), np.median(X, axis=1), X.max(axis=1))
        >>> story = explain_model(ContextualRegressor(convex=True, l2=0.0).fit(X, y))
        >>> print("\n".join(story.text().splitlines()[:2]))
        Two operators, learned directly from 300 samples, fuse x1, x2 and x3.
        If x1 is the largest, take the median of the three; otherwise take the largest.
        """
        lines = [self.opening(), *self.sentences]
        lines += [] if self.outcome is None else self.outcome.notes()
        if self.units is not None:
            lines.append(self.units.text(self.sources))
        lines += [operator.text() for operator in self.operators[:_SPOKEN]]
        if len(self.operators) > _SPOKEN:
            lines.append(f"There are {len(self.operators) - _SPOKEN:,} more operators.")
        lines.append(self.certificate())
        lines += [f"To collect: {request.text()}." for request in self.requests]
        return "\n".join(lines)

    def opening(self) -> str:
        """How many operators fuse how many sources, and into what."""
        count = len(self.operators)
        many = len(self.sources) > 12
        what = f"{len(self.sources)} sources" if many else list_words(self.sources)
        verb = "operator" if count == 1 else "operators"
        text = f"{number_word(count).capitalize()} {verb}, learned directly from "
        text += f"{self.n_samples:,.10g} samples, {'fuses' if count == 1 else 'fuse'} {what}"
        return text + ("." if self.output_name == "the output" else f" into {self.output_name}.")

    def certificate(self) -> str:
        """What the rules are, and how much of the model data decided."""
        decided = sum(operator.share * operator.trust for operator in self.operators)
        return (
            "The rules are the model itself, not a summary of it. "
            f"Data, not the penalty, decided {percent(decided)} of the weights in use."
        )


def biased_phrases(learned: Learned) -> list[str]:
    """What each operator takes, with the constant that it adds.

    Examples
    --------
    >>> import numpy as np
    >>> from choquet import ContextualRegressor
    >>> X = np.random.default_rng(0).random((60, 2))
    >>> model = ContextualRegressor(l2=0.0).fit(X, X.max(axis=1) + 2).decomposition_
    >>> biased_phrases(Learned(model))
    ['the largest plus 2']
    """
    found = []
    for phrase, operator in zip(
        operator_phrases(learned.model), learned.model.operators, strict=True
    ):
        sign = "plus" if operator.bias > 0 else "minus"
        added = f" {sign} {abs(operator.bias):.4g}"
        if not operator.weights.any():
            found.append(f"{operator.bias:.4g}, whatever the inputs")
            continue
        found.append(phrase + (added if abs(operator.bias) > NO_BIAS else ""))
    return found


def explain_contextual(learned: Learned, *, n_requests: int = 5) -> ContextualModelExplanation:
    """Explain a whole contextual model; `explain_model` comes here by itself."""
    model = learned.model
    phrases = biased_phrases(learned)
    return ContextualModelExplanation(
        sources=model.sources,
        operators=tuple(_operator(learned, k, phrases[k]) for k in range(model.n_operators)),
        sentences=tuple(rule_sentences(model.rules, model.sources, phrases)),
        rules_fidelity=1.0,
        rules_exact=True,
        n_contexts=len(model.leaves),
        n_samples=float(model.tree.weight[0]),
        output_name=learned.output_name,
        requests=contexts_to_collect(learned, n_requests),
        units=learned.units,
        outcome=learned.outcome,
    )


def explain_contextual_operator(learned: Learned, number: int) -> ContextualOperatorExplanation:
    """Explain one operator of a contextual model; `explain_operator` comes here by itself."""
    if not 0 <= number < learned.model.n_operators:
        raise OptionError(f"operator number={number}: there are 0..{learned.model.n_operators - 1}")
    return _operator(learned, number, biased_phrases(learned)[number])


def _operator(learned: Learned, number: int, phrase: str) -> ContextualOperatorExplanation:
    model = learned.model
    operator = model.operators[number]
    return ContextualOperatorExplanation(
        number=number,
        name=model.operator_names[number],
        phrase=phrase,
        context=operator.context.text(),
        weights=operator.weights,
        bias=operator.bias,
        orness=operator.orness,
        share=operator.share,
        count=operator.count,
        rank=operator.rank,
        condition=operator.condition,
        trust=operator.trust,
        residual=operator.residual,
        supported=operator.trust >= TRUSTED,
    )


def contexts_to_collect(learned: Learned, n: int) -> tuple[ContextRequest, ...]:
    """Contexts in the order of how much twice the samples of their operator would tell.

    Least squares of p numbers from m samples with noise of variance v is off by v p / m in the
    mean squared error, and twice the samples halve that.
    """
    model = learned.model
    width = 1.0 if learned.units is None else learned.units.target_width
    found = []
    for leaf, rule in model.leaves.items():
        operator = model.operators[rule.operator]
        numbers = operator.trust * len(model.sources) + (operator.bias != 0)
        size = float(np.abs(operator.weights).max()) + abs(operator.bias)
        if operator.residual <= 1e-9 * size:
            continue  # nothing is left to learn
        excess = (operator.residual * width) ** 2 * numbers / max(operator.count, 1)
        found.append(
            ContextRequest(
                context=rule.text(model.sources) or "always",
                leaf=leaf,
                operator=rule.operator,
                count=operator.count,
                trust=operator.trust,
                gain=float(excess * rule.share / 2),
            )
        )
    gains = np.array([request.gain for request in found])
    return tuple(found[k] for k in np.argsort(-gains, kind="stable")[:n])
