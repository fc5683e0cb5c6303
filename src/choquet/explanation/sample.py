"""One sample explained: which operator decided, what each source gave, and how sure that is."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from choquet.arrays import FloatArray, IntArray
from choquet.decomposition import ClusterDecomposition
from choquet.decomposition.outcome import Outcome
from choquet.errors import DataError
from choquet.explanation.contextual_sample import (
    ContextualSampleExplanation,
    explain_contextual_sample,
)
from choquet.explanation.learned import as_learned
from choquet.explanation.phrases import (
    NO_BIAS,
    inputs_sentence,
    named_and_rest,
    operator_phrase,
    operator_phrases,
    percent,
    plain,
)
from choquet.explanation.rows import named_inputs
from choquet.explanation.subject import as_decomposition, rules_of
from choquet.explanation.switch import Switch, moves_text, smallest_switch
from choquet.explanation.units import Units, units_of
from choquet.walks import sorts_of

__all__ = ["SampleExplanation", "explain_sample"]


@dataclass(frozen=True, eq=False)
class SampleExplanation:
    """Why a sample got its output.

    Attributes
    ----------
    sources : tuple of str
        Names.
    inputs : array of N floats
        By source, in the units of the data.
    sort : array of N ints
        Source numbers, largest input first (on the common scale, where there is one).
    operator : int
        Number of the operator that decided, from 0.
    operator_name, phrase : str
        What it is called, and what it takes, in words.
    weights : array of N floats
        Its weights by rank.
    contributions : array of N floats
        Weight times input, by source; with the bias they sum to the output.
    bias, output, integral : float
        Added to every output; of the operator; of the measure itself.
    interval : tuple of two floats
        Bounds of the integral over all monotone measures with the supported values; NaN if the
        measure is not monotone.
    phi : float
        Share of the values behind the integral that no data support.
    supported : bool
        Whether the walk counts as supported.
    nearest_sort : array of N ints
        The most similar supported sort: its own if that is supported.
    rule : str
        The rule that applies, in words; empty if there are too many operators for rules.
    rule_agrees : bool
        Whether that rule names the operator that decided; rules may be right for most walks only.
    switch : Switch or None
        The smallest change of input that leads to another operator.
    switch_phrase : str or None
        What that one takes, in words.
    units : Units or None
        Of the data, where the measure sees them scaled. Inputs, contributions, outputs and bounds
        are in these units; ``switch.change`` is on the common scale.
    outcome : Outcome or None
        What the output says of a class, if the measure is a classifier's.
    """

    sources: tuple[str, ...]
    inputs: FloatArray
    sort: IntArray
    operator: int
    operator_name: str
    phrase: str
    weights: FloatArray
    contributions: FloatArray
    bias: float
    output: float
    integral: float
    interval: tuple[float, float]
    phi: float
    supported: bool
    nearest_sort: IntArray
    rule: str
    rule_agrees: bool
    switch: Switch | None
    switch_phrase: str | None
    units: Units | None = None
    outcome: Outcome | None = None

    @property
    def probability(self) -> float | None:
        """The output as a probability of the class, where a link makes it one."""
        return None if self.outcome is None else self.outcome.chance(self.output)

    @property
    def sorted_inputs(self) -> FloatArray:
        """Inputs, largest first."""
        return self.inputs[self.sort]

    def to_dict(self) -> dict[str, Any]:
        """Plain data, as JSON holds them."""
        data = dict(vars(self))
        data["sorted_inputs"] = self.sorted_inputs
        data["switch"] = None if self.switch is None else self.switch.to_dict()
        data["units"] = None if self.units is None else self.units.to_dict()
        data["outcome"] = None if self.outcome is None else self.outcome.to_dict()
        data["probability"] = self.probability
        found: dict[str, Any] = plain(data)
        return found

    def text(self) -> str:
        """The explanation in sentences.

        Examples
        --------
        >>> from choquet import Measure, decompose
        >>> from choquet.explanation import explain_sample
        >>> d = decompose(Measure([0, 0, 1, 1, 1, 1, 1, 1], sources=["gpr", "ir", "emi"]))
        >>> print(explain_sample(d, [0.9, 0.4, 0.2]).text())
        The inputs, largest first: gpr 0.9, ir 0.4, emi 0.2.
        Because gpr is the largest, the output is the median of the three: 0.4.
        It is made of gpr 0 (0 × 0.9), ir 0.4 (1 × 0.4), emi 0 (0 × 0.2).
        Another operator, the largest, would decide if gpr fell below ir: \
no input need change by more than 0.25.
        """
        lines = [self._inputs_text(), self._operator_text(), *self._outcome_text()]
        lines += [self._contributions_text(), *self._certainty_text(), self._switch_text()]
        return "\n".join(lines)

    def _inputs_text(self) -> str:
        scaled = self.units is not None
        return inputs_sentence(self.sources, self.inputs, self.sort, scaled=scaled)

    def _operator_text(self) -> str:
        because = {"always": "Always", "otherwise": "Because no rule applies"}.get(
            self.rule, f"Because {self.rule}"
        )
        if not self.rule_agrees:
            because = "On this walk" + (", where the rules are not right" if self.rule else "")
        text = f"{because}, the output is {self.phrase}"
        if self.units is None:
            text += f", plus {self.bias:.4g}" if abs(self.bias) > NO_BIAS else ""
            text += f": {self.output:.4g}."
        else:
            of = f" of {self.units.target}" if self.outcome is None else ""
            text += f" on the common scale: {self.output:.4g}{of}."
        if abs(self.output - self.integral) > 1e-9 * max(1.0, abs(self.integral)):
            text += f" The integral itself is {self.integral:.4g}."
        return text

    def _outcome_text(self) -> list[str]:
        if self.outcome is None:
            return []
        here = "" if self.probability is None else f" Here it is {percent(self.probability)}."
        return [" ".join([self.outcome.meaning() + here, *self.outcome.notes()])]

    def _contributions_text(self) -> str:
        scaled = self.inputs if self.units is None else self.units.scaled(self.inputs)
        named, rest = named_and_rest(self.contributions, self.sort.tolist())
        weights = dict(zip(self.sort.tolist(), self.weights, strict=True))
        parts = [
            f"{self.sources[i]} {self.contributions[i] + 0.0:.4g} "
            f"({weights[i] + 0.0:.3g} × {scaled[i]:.4g})"
            for i in named
        ]
        if rest:
            parts.append(f"{self.contributions[rest].sum():.4g} of {len(rest)} other sources")
        end = f", and {self.bias:.4g} that every output has" if abs(self.bias) > NO_BIAS else ""
        return f"It is made of {', '.join(parts)}{end}."

    def _certainty_text(self) -> list[str]:
        lines = []
        low, high = self.interval
        if high - low > 1e-9:
            lines.append(f"The data allow any integral from {low:.4g} to {high:.4g}.")
        if self.phi > 0:
            lines.append(f"No data support {percent(self.phi)} of the values it rests on.")
        if not self.supported:
            names = " above ".join(self.sources[i] for i in self.nearest_sort)
            lines.append(f"The nearest supported sort, which lent its operator, is {names}.")
        return lines

    def _switch_text(self) -> str:
        if self.switch is None:
            return "No other operator was found near these inputs."
        upper, lower = (self.sources[i] for i in self.switch.pair)
        if self.units is not None:
            moves = moves_text(self.switch, self.sources, self.inputs)
            return f"Another operator, {self.switch_phrase}, would decide {moves}."
        return (
            f"Another operator, {self.switch_phrase}, would decide if {upper} fell below {lower}: "
            f"no input need change by more than {self.switch.change:.4g}."
        )


def explain_sample(model: Any, x: Any) -> SampleExplanation | ContextualSampleExplanation:
    """Explain the output for one sample.

    Parameters
    ----------
    model : ClusterDecomposition, Measure, or fitted model
        What answered; measures and models are decomposed first.
    x : array-like of N floats, row of a frame, or dict
        Inputs by source, in the units of the data; what has names is taken by them.

    Returns
    -------
    SampleExplanation
        Of a contextual model, a `ContextualSampleExplanation`.

    Examples
    --------
    >>> from choquet import Measure, decompose, explain_sample
    >>> d = decompose(Measure([0, 0, 1, 1, 1, 1, 1, 1], sources=["gpr", "ir", "emi"]))
    >>> why = explain_sample(d, [0.9, 0.4, 0.2])
    >>> why.operator_name, why.rule, why.contributions.tolist(), why.output
    ('median', 'gpr is the largest', [0.0, 0.4, 0.0], 0.4)
    >>> why.switch.pair, round(why.switch.change, 6)
    ((0, 1), 0.25)
    """
    learned = as_learned(model)
    if learned is not None:
        inputs = _one(named_inputs(x, learned.sources))
        chosen = as_learned(model, inputs) or learned
        return explain_contextual_sample(chosen, inputs)
    decomposition, units = as_decomposition(model), units_of(model)
    inputs = _one(named_inputs(x, decomposition.measure.sources))
    if units is None:
        return _explained(decomposition, inputs)
    return _in_units(_explained(decomposition, units.scaled(inputs)), inputs[0], units)


def _one(inputs: FloatArray) -> FloatArray:
    if len(inputs) != 1:
        raise DataError(f"one sample is explained at a time, not {len(inputs)}; pass one row")
    return inputs


def _in_units(why: SampleExplanation, inputs: FloatArray, units: Units) -> SampleExplanation:
    """The same, of a sample as it is in the data."""
    switch = why.switch
    return replace(
        why,
        inputs=inputs,
        contributions=why.contributions * units.target_width,
        bias=units.output(why.bias),
        output=units.output(why.output),
        integral=units.output(why.integral),
        interval=(units.output(why.interval[0]), units.output(why.interval[1])),
        switch=None if switch is None else replace(switch, inputs=units.inputs(switch.inputs)),
        units=units,
    )


def _explained(decomposition: ClusterDecomposition, inputs: FloatArray) -> SampleExplanation:
    known = decomposition.assess(inputs)
    sort = sorts_of(inputs)[0]
    number = int(known.operator[0])
    operator = decomposition.operators[number]
    contributions = np.empty(len(sort))
    contributions[sort] = operator.weights * inputs[0, sort]
    rule, named = _rule(decomposition, known.similar_sort)
    switch = smallest_switch(decomposition, inputs[0], sort, number)
    phrases = operator_phrases(decomposition)
    return SampleExplanation(
        sources=decomposition.measure.sources,
        inputs=inputs[0],
        sort=sort,
        operator=number,
        operator_name=decomposition.operator_names[number],
        phrase=operator_phrase(operator.weights),
        weights=operator.weights,
        contributions=contributions,
        bias=decomposition.bias,
        output=float(contributions.sum()) + decomposition.bias,
        integral=float(known.integral[0]),
        interval=(float(known.interval[0, 0]), float(known.interval[0, 1])),
        phi=float(known.phi[0]),
        supported=bool(known.supported[0]),
        nearest_sort=known.similar_sort[0],
        rule=rule,
        rule_agrees=named == number,
        switch=switch,
        switch_phrase=None if switch is None else phrases[switch.operator],
        outcome=decomposition.outcome,
    )


def _rule(decomposition: ClusterDecomposition, sorts: IntArray) -> tuple[str, int]:
    """The rule that applies to a sort, in words, and the operator that it names."""
    rules = rules_of(decomposition)
    if rules is None:
        return "", -1
    for rule in rules.rules:
        if rule.covers(sorts)[0]:
            return rule.text(decomposition.measure.sources), rule.operator
    return "otherwise" if rules.rules else "always", rules.default
