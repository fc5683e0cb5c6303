"""One sample explained by a contextual model: operator, rule, contributions, support."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from choquet.arrays import FloatArray, IntArray
from choquet.decomposition.outcome import Outcome
from choquet.explanation.contextual import biased_phrases
from choquet.explanation.learned import TRUSTED, Learned
from choquet.explanation.nearest import nearest_context
from choquet.explanation.phrases import (
    NO_BIAS,
    inputs_sentence,
    named_and_rest,
    percent,
    plain,
)
from choquet.explanation.switch import Switch, moves_text
from choquet.explanation.units import Units
from choquet.walks import sorts_of

__all__ = ["ContextualSampleExplanation", "explain_contextual_sample"]


@dataclass(frozen=True, eq=False)
class ContextualSampleExplanation:
    """Why a contextual model gave a sample its output.

    Attributes
    ----------
    sources : tuple of str
    inputs : array of N floats
        By source, in the units of the data.
    sort : array of N ints
        Source numbers, largest input first (on the common scale, where there is one).
    leaf, operator : int
        Numbers of the context in the tree, and of the operator that decided.
    operator_name, phrase : str
        What it is called, and what it takes, in words.
    weights : array of N floats
        Its weights by rank.
    contributions : array of N floats
        By source; with the bias they sum to the output.
    bias, output : float
        Added by the operator; what came out: a number, or the log-odds of `label`.
    output_name : str
        What that is.
    label, probability : str, float or None
        Of a classifier: the class in question, and the output as a probability of it.
    rule : str
        The path of rank predicates that led there, in words.
    context_samples : float
        Samples of this context that were learned from, by weight.
    count, trust : int, float
        Samples that the operator was learned from, and the share of its weights that they, not the
        penalty, decided.
    supported : bool
        Whether that is more than half.
    nearest : Switch or None
        The smallest change that leads to a context that is supported; None if this one is, or none.
    nearest_rule : str or None
        That context, in words.
    switch : Switch or None
        The smallest change that leads to another operator, exact for any number of sources.
    switch_rule, switch_phrase : str or None
        The context it leads to, and what the operator there takes.
    units : Units or None
        Of the data, where the model sees them scaled; changes are on the common scale.
    outcome : Outcome or None
        What the output says of a class, if it is one's.
    """

    sources: tuple[str, ...]
    inputs: FloatArray
    sort: IntArray
    leaf: int
    operator: int
    operator_name: str
    phrase: str
    weights: FloatArray
    contributions: FloatArray
    bias: float
    output: float
    output_name: str
    label: str | None
    probability: float | None
    rule: str
    context_samples: float
    count: int
    trust: float
    supported: bool
    nearest: Switch | None
    nearest_rule: str | None
    switch: Switch | None
    switch_rule: str | None
    switch_phrase: str | None
    units: Units | None
    outcome: Outcome | None = None

    @property
    def sorted_inputs(self) -> FloatArray:
        """Inputs, largest first."""
        return self.inputs[self.sort]

    def to_dict(self) -> dict[str, Any]:
        """Plain data, as JSON holds them."""
        data = dict(vars(self))
        data["sorted_inputs"] = self.sorted_inputs
        for name in ("nearest", "switch", "units", "outcome"):
            part = getattr(self, name)
            data[name] = None if part is None else part.to_dict()
        found: dict[str, Any] = plain(data)
        return found

    def text(self) -> str:
        """The explanation in sentences.

        Examples
        --------
        >>> import numpy as np
        >>> from choquet import ContextualRegressor
        >>> X = np.random.default_rng(0).random((300, 3))
        >>> y = np.where(X[:, 0] == X.max(axis=1), np.median(X, axis=1), X.max(axis=1))
        >>> model = ContextualRegressor(convex=True, l2=0.0).fit(X, y)
        >>> print(model.explain([[0.9, 0.4, 0.2]])[0].text())
        The inputs, largest first: x1 0.9, x2 0.4, x3 0.2.
        Because x1 is the largest, the output is the median of the three: 0.4.
        It is made of x2 0.4 (weight 1).
        The operator was learned from 98 samples, which decided 100 % of its weights.
        Another operator, the largest, would decide if x1 fell below x2: \
no input need change by more than 0.25.
        """
        lines = [self._inputs_text(), self._operator_text()]
        lines += [] if self.outcome is None else self.outcome.notes()
        lines += [self._contributions_text(), self._support_text(), self._switch_text()]
        return "\n".join(line for line in lines if line)

    def _inputs_text(self) -> str:
        scaled = self.units is not None
        return inputs_sentence(self.sources, self.inputs, self.sort, scaled=scaled)

    def _operator_text(self) -> str:
        because = "Always" if self.rule == "always" else f"Because {self.rule}"
        text = f"{because}, {self.output_name} "
        text += "are " if self.label is not None else "is "
        text += f"{self.phrase}: {self.output:.4g}"
        if self.units is not None and self.label is None:
            text += f" of {self.units.target}"
        if self.probability is not None:
            text += f", a probability of {percent(self.probability)}"
        return text + "."

    def _contributions_text(self) -> str:
        size = np.abs(self.contributions)
        heard = size > 1e-3 * max(float(size.max()), 1e-300)
        named, rest = named_and_rest(self.contributions, [int(i) for i in self.sort if heard[i]])
        weights = dict(zip(self.sort.tolist(), self.weights, strict=True))
        parts = [
            f"{self.sources[i]} {self.contributions[i]:.4g} (weight {weights[i]:.3g})"
            for i in named
        ]
        if rest:
            total = self.contributions[rest].sum()
            parts.append(f"{total:.4g} of {len(rest)} other sources")
        if abs(self.bias) > NO_BIAS:
            lead = "and " if parts else ""
            parts.append(f"{lead}{self.bias:.4g} that the operator adds")
        return f"It is made of {', '.join(parts)}." if parts else "No input counts here."

    def _support_text(self) -> str:
        text = f"The operator was learned from {self.count:,} samples, which decided "
        text += f"{percent(self.trust)} of its weights"
        if self.supported:
            return text + "."
        text += "; the rest is the penalty's."
        if self.nearest is not None:
            text += f" The nearest context that data support is where {self.nearest_rule}: "
            text += f"{moves_text(self.nearest, self.sources, self.inputs)}."
        return text

    def _switch_text(self) -> str:
        if self.switch is None:
            return "No other operator decides anywhere." if self.rule == "always" else ""
        upper, lower = (self.sources[i] for i in self.switch.pair)
        if self.units is not None:
            moves = moves_text(self.switch, self.sources, self.inputs)
            return f"Another operator, {self.switch_phrase}, would decide {moves}."
        return (
            f"Another operator, {self.switch_phrase}, would decide if {upper} fell below {lower}: "
            f"no input need change by more than {self.switch.change:.4g}."
        )


def explain_contextual_sample(learned: Learned, inputs: FloatArray) -> ContextualSampleExplanation:
    """Explain one sample, a row in the units of the data; `explain_sample` comes here by itself."""
    model, units = learned.model, learned.units
    scaled = learned.scaled(inputs)
    sort = sorts_of(scaled)[0]
    leaf = int(model.leaf_of(scaled)[0])
    number = int(model.labels[leaf])
    operator = model.operators[number]
    contributions = np.empty(len(sort))
    contributions[sort] = operator.weights * scaled[0, sort]
    bias = operator.bias
    if units is not None:
        contributions, bias = contributions * units.target_width, units.output(bias)
    output = float(contributions.sum()) + bias
    others = [k for k in model.leaves if model.labels[k] != number]
    switch = nearest_context(model, scaled[0], others)
    supported = operator.trust >= TRUSTED
    nearest = None if supported else nearest_context(model, scaled[0], learned.trusted_leaves())
    return ContextualSampleExplanation(
        sources=model.sources,
        inputs=inputs[0],
        sort=sort,
        leaf=leaf,
        operator=number,
        operator_name=model.operator_names[number],
        phrase=biased_phrases(learned)[number],
        weights=operator.weights,
        contributions=contributions,
        bias=bias,
        output=output,
        output_name=learned.output_name,
        label=learned.label,
        probability=None if learned.outcome is None else learned.outcome.chance(output),
        rule=model.leaves[leaf].text(model.sources) or "always",
        context_samples=float(model.tree.weight[leaf]),
        count=operator.count,
        trust=operator.trust,
        supported=supported,
        nearest=_in_units(nearest, units),
        nearest_rule=_rule_at(learned, nearest),
        switch=_in_units(switch, units),
        switch_rule=_rule_at(learned, switch),
        switch_phrase=None if switch is None else biased_phrases(learned)[switch.operator],
        units=units,
        outcome=learned.outcome,
    )


def _in_units(switch: Switch | None, units: Units | None) -> Switch | None:
    if switch is None or units is None:
        return switch
    return replace(switch, inputs=units.inputs(switch.inputs))


def _rule_at(learned: Learned, switch: Switch | None) -> str | None:
    if switch is None:
        return None
    ranks = np.argsort(switch.sort)[None].astype(np.int16)
    leaf = int(learned.model.tree.leaf_of(ranks)[0])
    return learned.model.leaves[leaf].text(learned.sources) or "always"
