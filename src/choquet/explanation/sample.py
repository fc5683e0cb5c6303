"""One sample explained: which operator decided, what each source gave, and how sure that is."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from choquet.arrays import FloatArray, IntArray, as_inputs
from choquet.decomposition.outcome import Outcome
from choquet.decomposition.runtime import Assessment, assess, assess_each
from choquet.errors import DataError
from choquet.explanation.abstract import SampleExplanation
from choquet.explanation.nearest import nearest_context
from choquet.explanation.phrases import NO_BIAS, inputs_sentence, named_and_rest, percent
from choquet.explanation.switch import Switch, moves_text, smallest_switch
from choquet.explanation.view import LEVEL, View, operators_view, unnamed, view_of
from choquet.frames import FrameLibrary, to_frame
from choquet.lattice.ties import settled
from choquet.scales import Units, Unwrapped, figure, figures
from choquet.shown import html_table, rounded

_SAME = 1e-9
"""Relative difference up to which two outputs are one."""


@dataclass(frozen=True, eq=False, repr=False)
class OperatorSample(SampleExplanation):
    """Why a sample got its output from a model of contextual operators.

    Inputs, contributions, outputs and bounds are in the units of the data; ``switch.change`` and
    weights are on the common scale.

    Attributes
    ----------
    sources : tuple of str
        Names.
    inputs : array of N floats
        By source.
    sort : array of N ints
        Source numbers, largest input first (on the common scale, where there is one).
    output : float
        What the model gives, as its own ``predict`` does: a number, or what `outcome` says.
    contributions : array of N floats
        By source; with the bias they sum to the output.
    bias : float
        What is added whatever the inputs.
    weights : array of N floats
        The weights by rank that made them.
    operator : int
        Number of the operator that decided, from 0.
    operator_name, phrase : str
        What it is called, and what it takes, in words.
    operator_output : float
        What the operator gives. Where operators are a summary of the model, it may differ from the
        output, and both are told.
    summary : bool
        Whether they are.
    integral : float
        Of the measure behind the operators; the output where there is none.
    interval : tuple of two floats
        Bounds of the integral over all monotone measures with the supported values; NaN if the
        measure is not monotone, or there is none.
    phi : float
        Share of the values behind the integral that no data support; of learned operators, the
        share of their weights that the penalty decided.
    supported : bool
        Whether that is little enough.
    nearest_sort : array of N ints
        The most similar supported sort: its own if that is supported.
    rule : str
        The rule that applies, in words; empty if there are too many operators for rules.
    rule_agrees : bool
        Whether that rule names the operator that decided; rules may be right for most walks only.
    switch : Switch or None
        The smallest change of input that leads to another operator; None if it was not found, and
        where contexts ask for values of sources, because only orders are searched.
    switch_phrase : str or None
        What that one takes, in words.
    nearest, nearest_rule : Switch or None, str or None
        Of learned operators: the smallest change that leads to a context that is supported, and
        that context; None if this one is, or none.
    leaf : int or None
        Of contexts that were grown: which.
    context_samples : float
        Samples of this context that were learned from, by weight; NaN if not known.
    count, trust : int, float
        Samples that the operator was learned from, and the share of its weights that they, not the
        penalty, decided; 0 and NaN if it was made from a measure.
    units : Units or None
        Of the data, where the model sees them scaled.
    outcome : Outcome or None
        What the output says of a class, if it is one's.
    confidence, level : tuple of two floats or None, float
        Interval of the output without noise, and its level of confidence; None if not known.
    share : float or None
        Of three classes and more, the probability that the model gives to this one: `probability`
        by the sum of those of all classes; None if not known.
    """

    sources: tuple[str, ...]
    inputs: FloatArray
    sort: IntArray
    output: float
    contributions: FloatArray
    bias: float
    weights: FloatArray
    operator: int
    operator_name: str
    phrase: str
    operator_output: float
    summary: bool
    integral: float
    interval: tuple[float, float]
    phi: float
    supported: bool
    nearest_sort: IntArray
    rule: str
    rule_agrees: bool
    switch: Switch | None = None
    switch_phrase: str | None = None
    nearest: Switch | None = None
    nearest_rule: str | None = None
    leaf: int | None = None
    context_samples: float = float("nan")
    count: int = 0
    trust: float = float("nan")
    units: Units | None = None
    outcome: Outcome | None = None
    confidence: tuple[float, float] | None = None
    level: float = LEVEL
    share: float | None = None

    @property
    def label(self) -> str | None:
        """The class in question, where the output is about one."""
        return None if self.outcome is None else self.outcome.label

    @property
    def probability(self) -> float | None:
        """The output as a probability of the class, where a link makes it one."""
        return None if self.outcome is None else self.outcome.chance(self.output)

    @property
    def output_name(self) -> str:
        """What the output is called."""
        return "the output" if self.outcome is None else self.outcome.name

    @property
    def sorted_inputs(self) -> FloatArray:
        """Inputs, largest first."""
        return self.inputs[self.sort]

    def _more(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in ("sorted_inputs", "probability", "label")}

    def to_frame(self, library: FrameLibrary | None = None) -> Any:
        """A table of the sources, the largest first: input, weight and contribution.

        Parameters
        ----------
        library : {"pandas", "polars"}, optional
            Whose frame it is; the first of them that is installed by default.

        Examples
        --------
        >>> from choquet import Measure, explain_sample
        >>> why = explain_sample(Measure([0, 0.2, 0.3, 1], sources=["ir", "emi"]), [0.5, 0.8])
        >>> why.to_frame()["contribution"].round(2).tolist()
        [0.24, 0.35]
        """
        columns = {
            "source": [self.sources[i] for i in self.sort],
            "input": self.sorted_inputs.tolist(),
            "weight": self.weights.tolist(),
            "contribution": self.contributions[self.sort].tolist(),
        }
        return to_frame(columns, library)

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
        It is the sum of gpr 0 (0 × 0.9), ir 0.4 (1 × 0.4), emi 0 (0 × 0.2).
        Another operator, the largest, would decide if gpr fell below ir: \
changing inputs by 0.25 is enough.
        """
        scaled = self.units is not None
        lines = [inputs_sentence(self.sources, self.inputs, self.sort, scaled=scaled)]
        lines += [*self._operator_text(), *self._outcome_text(), self._contributions_text()]
        lines += [*self._certainty_text(), self._outside_text(), self._switch_text()]
        return "\n".join(line for line in lines if line)

    def html_table(self) -> str:
        """The sources as a table, for notebooks: input, weight and contribution."""
        rows = [
            (
                self.sources[source],
                f"{self.inputs[source]:.4g}",
                rounded(self.weights[rank], 3),
                rounded(self.contributions[source], 4),
            )
            for rank, source in enumerate(self.sort)
        ]
        return html_table("Sources, largest first", ["source", "input", "weight", "gives"], rows)

    def _operator_text(self) -> list[str]:
        because = {"always": "Always", "otherwise": "Because no rule applies"}.get(
            self.rule, f"Because {self.rule}"
        )
        if not self.rule_agrees:
            because = "For this order of the inputs"
            because += ", where the rules are not right" if self.rule else ""
        logs = self.outcome is not None and self.outcome.kind == "log-odds"
        verb, of = ("are" if logs else "is"), ""
        if self.units is not None and self.outcome is None:
            of = f" ({self.units.target_name})"
        scale = "" if self.units is None or logs else " (inputs rescaled to 0–1)"
        bias = ""
        if self.units is None and not self.count and abs(self.bias) > NO_BIAS:
            bias = f", plus a constant {figure(self.bias)}"
        if self._differs(self.operator_output):
            return [
                f"The model's output is {figure(self.output, 4)}{of}.",
                f"In the summary: {because[0].lower()}{because[1:]}, take {self.phrase}{bias}"
                f"{scale}, which gives {figure(self.operator_output, 4)}{of}.",
            ]
        chance = "" if not logs else f", a probability of {percent(self.probability or 0.0)}"
        text = f"{because}, {self.output_name} {verb} {self.phrase}{bias}{scale}: "
        text += f"{figure(self.output, 4)}{of}{chance}."
        if self._differs(self.integral):
            text += f" The full model gives {figure(self.integral, 4)}{of}."
        return [text]

    def _differs(self, other: float) -> bool:
        return abs(self.output - other) > _SAME * max(1.0, abs(self.output))

    def _outcome_text(self) -> list[str]:
        if self.outcome is None:
            return []
        if self.outcome.kind == "log-odds":
            return [*self.outcome.notes(), *self._of_all()]
        here = "" if self.probability is None else f" Here it is {percent(self.probability)}."
        return [" ".join([self.outcome.meaning() + here, *self.outcome.notes(), *self._of_all()])]

    def _of_all(self) -> list[str]:
        """The probability beside those of the other classes, where each stands alone here."""
        if self.outcome is None or self.probability is None or len(self.outcome.classes) < 3:
            return []
        sum_ = f"the sum of those of all {len(self.outcome.classes)} classes"
        if self.share is None:
            return [f"The model divides this probability by {sum_}."]
        return [
            f"The model divides this probability by {sum_}, which gives {percent(self.share)} "
            f"for {self.label}."
        ]

    def _contributions_text(self) -> str:
        scaled = self.inputs if self.units is None else self.units.scaled(self.inputs)
        named, rest = named_and_rest(self.contributions, self.sort.tolist())
        if not self.contributions.any():
            named, rest = [], []
        by_source = np.empty(len(self.sort))
        by_source[self.sort] = self.weights
        # Rounding errors of a solver are nothing to read.
        heard = np.abs(self.contributions) > 1e-9 * np.abs(self.contributions).max(initial=0.0)
        weights = np.where(heard | (np.abs(by_source) > 1e-9), by_source, 0.0)
        given = figures([*np.where(heard, self.contributions, 0.0)[named], *scaled[named]], 4)
        parts = [
            f"{self.sources[i]} {gives} ({weight} × {value})"
            for i, gives, weight, value in zip(
                named, given, figures(weights[named]), given[len(named) :], strict=False
            )
        ]
        if rest:
            total = figure(self.contributions[rest].sum(), 4)
            parts.append(f"{total} of {len(rest)} other sources")
        constant = f" a constant {figure(self.bias, 4)}" if abs(self.bias) > NO_BIAS else ""
        if not parts:
            return f"No input counts here{constant and f'; the output is{constant}'}."
        it = "It" if not self._differs(self.operator_output) and self.outcome is None else None
        it = it or ("The model's output" if self._differs(self.operator_output) else "The output")
        return f"{it} is the sum of {', '.join(parts)}{constant and f', plus{constant}'}."

    def _outside_text(self) -> str:
        """Which inputs are outside of what the model knows, where it knows ranges."""
        if self.units is None or not (out := self.units.outside(self.inputs)).any():
            return ""
        ranges = self.units.ranges(self.sources, out)
        return (
            f"Outside of the range that inputs are rescaled from: {ranges}. Nothing says that the "
            "model holds there."
        )

    def _certainty_text(self) -> list[str]:
        if self.count:
            text = f"The operator was learned from {self.count:,} samples, which decided "
            text += f"{percent(self.trust)} of its weights"
            if self.supported:
                return [text + "."]
            text += "; the rest was set by the preference for small weights."
            if self.nearest is not None:
                text += f" The nearest case with enough data is where {self.nearest_rule}: "
                text += f"{moves_text(self.nearest, self.sources, self.inputs)}."
            return [text]
        lines = []
        if self.confidence is not None:
            ends = " and ".join(figures(self.confidence, 4))
            lines.append(f"With {percent(self.level)} confidence the output lies between {ends}.")
        low, high = self.interval
        if high - low > 1e-9:
            ends = " to ".join(figures(self.interval, 4))
            lines.append(f"The answer could lie anywhere from {ends}.")
        if self.phi > 0:
            lines.append(f"No data were seen for {percent(self.phi)} of the values it rests on.")
        if not self.supported:
            names = " above ".join(self.sources[i] for i in self.nearest_sort)
            lines.append(f"It is treated as the nearest order that was seen: {names}.")
        return lines

    def _switch_text(self) -> str:
        if self.switch is None:
            if self.rule == "always":
                return "No other operator decides anywhere."
            return "Which change of the inputs leads to another operator was not found."
        upper, lower = (self.sources[i] for i in self.switch.pair)
        if self.units is not None:
            moves = moves_text(self.switch, self.sources, self.inputs)
            return f"Another operator, {self.switch_phrase}, would decide {moves}."
        change = self.switch.change
        least = "the least change" if change < 1e-12 else f"changing inputs by {figure(change)}"
        return (
            f"Another operator, {self.switch_phrase}, would decide if {upper} fell below {lower}: "
            f"{least} is enough."
        )


def explain_sample(model: Any, x: Any) -> SampleExplanation:
    """Explain the output for one sample.

    Parameters
    ----------
    model : Decomposition, Measure, fitted model, or a pipeline that ends in one
        What to explain; measures and models are decomposed first, and estimators keep the result.
    x : array-like of N floats, row of a frame, or dict
        Inputs by source, in the units of the data; what has names is taken by them.

    Returns
    -------
    SampleExplanation
        An `OperatorSample` has the output, contributions, operator, rule, support, and what would
        change the operator; the `TermsSample` of an additive model has the effects of its terms.

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
    found = explain_samples(model, x)
    if len(found) != 1:
        raise DataError(f"one sample is explained at a time, not {len(found)}; pass one row")
    return found[0]


def explain_samples(model: Any, X: Any) -> list[SampleExplanation]:
    """Explain the outputs for several samples: the rows of an array or a frame.

    Parameters
    ----------
    model : object
        As of `explain_sample`.
    X : array-like of shape (n_samples, N), or data frame
        In the units of the data.

    Returns
    -------
    list of SampleExplanation
        One for each row; see `explain_sample`.

    Examples
    --------
    >>> from choquet import Measure
    >>> g = Measure([0, 0, 0, 1])
    >>> [why.output for why in explain_samples(g, [[0.2, 0.9], [0.7, 0.4]])]
    [0.2, 0.4]
    """
    return list(view_of(model).explained(X, model))


def explained_rows(view: View, X: Any, model: Any = None) -> list[OperatorSample]:
    """Explain rows by a view; of several classes, the model is asked for that of each row."""
    rows = as_inputs(X, sources=view.sources)
    scaled = view.scaled(rows)
    several = view.outcome is not None and view.learned and not view.outcome.chosen
    if several and model is not None:
        # Of several classes, the one that each sample is put into.
        views = [operators_view(model, row=one[None]) for one in scaled]
        each = [explained_row(here, row) for here, row in zip(views, rows, strict=True)]
        return _with_shares(each, *_asked(model, rows, scaled))
    # Intervals of all rows at once take little longer than those of one.
    sure = view.confidence(scaled)
    found = [
        _explained(view, row, scaled[k, None], seen, None if sure is None else sure[k, None])
        for k, (row, seen) in enumerate(zip(rows, assess_each(view.parts, scaled), strict=True))
    ]
    return _with_shares(found, *_asked(model, rows, scaled))


def _asked(model: Any, rows: FloatArray, scaled: FloatArray) -> tuple[Any, FloatArray]:
    """The model that knows probabilities, and the rows as it takes them."""
    return (model.model, scaled) if isinstance(model, Unwrapped) else (model, rows)


def _with_shares(found: list[OperatorSample], model: Any, rows: FloatArray) -> list[OperatorSample]:
    """The same with what the model says of each class beside the others."""
    if not found or not hasattr(model, "predict_proba") or found[0].outcome is None:
        return found
    if found[0].probability is None or len(found[0].outcome.classes) < 3:
        return found
    with unnamed():
        shares = model.predict_proba(rows)
    return [
        replace(one, share=float(share[one.outcome.number]))
        if one.outcome is not None and one.outcome.number is not None
        else one
        for one, share in zip(found, shares, strict=True)
    ]


def explained_row(view: View, row: FloatArray) -> OperatorSample:
    """Explain one row, given in the data, through a view that is there already."""
    scaled = view.scaled(row[None])
    return _explained(view, row, scaled, assess(view.parts, scaled), view.confidence(scaled))


def _explained(
    view: View,
    inputs: FloatArray,
    scaled: FloatArray,
    known: Assessment,
    sure: FloatArray | None,
) -> OperatorSample:
    """Explain one row, given in the data and on the common scale, and what is known of it.

    `sure` is the interval of its output, where the model has one.
    """
    parts, units, width = view.parts, view.units, view.width
    sort, number = known.sort[0], int(known.operator[0])
    operator = parts.operators[number]
    summary = float(parts.outputs(scaled, known.operator)[0])
    output, weights, bias = summary, operator.rank_weights, operator.bias
    by_source = operator.source_weights
    if view.own is not None:
        output, own, added = view.along_walk(scaled, sort)
        total = float(own @ scaled[0, sort]) + added
        # Along a walk an integral is a sum; what is not is told by its operator.
        if abs(total - output) <= 1e-6 * max(1.0, abs(output)):
            weights, bias, by_source = own, added, np.zeros(len(sort))
    weights = weights + by_source[sort]
    contributions = np.empty(len(sort))
    contributions[sort] = weights * scaled[0, sort] * width
    low, high = view.in_data(known.interval[0])
    leaf = None if known.leaf[0] < 0 else int(known.leaf[0])
    rule, named = view.rule_of(leaf, known.similar_sort)
    why = OperatorSample(
        sources=view.sources,
        inputs=inputs,
        sort=sort,
        output=float(view.in_data(output)),
        contributions=contributions,
        bias=float(view.in_data(bias)),
        weights=weights,
        operator=number,
        operator_name=view.names[number],
        phrase=view.phrase(operator),
        operator_output=float(view.in_data(summary)),
        summary=view.own is not None,
        integral=float(view.in_data(known.integral[0])),
        interval=(float(low), float(high)),
        confidence=None if sure is None else tuple(view.in_data(sure[0]).tolist()),
        phi=float(known.phi[0]),
        supported=bool(known.supported[0]),
        nearest_sort=known.similar_sort[0],
        rule=rule,
        rule_agrees=named == number,
        leaf=leaf,
        context_samples=float("nan") if parts.tree is None else float(parts.tree.weight[leaf]),
        count=operator.count,
        trust=operator.trust,
        units=units,
        outcome=view.outcome,
    )
    return _with_switch(view, why, settled(scaled)[0])


def _with_switch(view: View, why: OperatorSample, scaled: FloatArray) -> OperatorSample:
    """What would change the operator, and where the nearest supported context is."""
    parts, nearest, where = view.parts, None, None
    if parts.tree is not None:
        others = [leaf for leaf, rule in parts.leaves.items() if rule.operator != why.operator]
        switch = nearest_context(parts, scaled, others)
        if not why.supported:
            nearest = nearest_context(parts, scaled, view.trusted_leaves())
        if nearest is not None:
            ranks = np.argsort(nearest.sort)[None].astype(np.int16)
            where = view.context_of(int(parts.tree.leaf_of(ranks)[0]))
    else:
        switch = smallest_switch(parts, scaled, why.sort, why.operator)
    return replace(
        why,
        switch=_in_data(view, switch, why.inputs),
        switch_phrase=None if switch is None else view.phrases[switch.operator],
        nearest=_in_data(view, nearest, why.inputs),
        nearest_rule=where,
    )


def _in_data(view: View, switch: Switch | None, near: FloatArray) -> Switch | None:
    if switch is None or view.units is None:
        return switch
    return replace(switch, inputs=view.units.inputs(switch.inputs, near))
