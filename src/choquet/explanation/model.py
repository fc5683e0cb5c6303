"""A model explained: its operators, when each is used, and how sure all that is."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from choquet.arrays import FloatArray
from choquet.decomposition import ContextualOperator
from choquet.decomposition.outcome import Outcome
from choquet.decomposition.runtime import TRUSTED
from choquet.errors import OptionError
from choquet.explanation.abstract import Explanation, ModelExplanation, PlainData
from choquet.explanation.collect import DataRequest, mean_width, requests_of, supported_share
from choquet.explanation.phrases import (
    NO_BIAS,
    figure,
    number_word,
    percent,
    rule_sentences,
    source_words,
)
from choquet.explanation.view import NO_RULES, View, operators_view, view_of
from choquet.frames import FrameLibrary, to_frame
from choquet.scales import Units, figures
from choquet.shown import Shown, html_table
from choquet.walks import DataSupport

_UNNAMED = "no rule names it"
"""Context of an operator that the rules, being right for most walks only, leave out."""

_TAKEN_OVER = (
    "number", "weights", "rank_weights", "source_weights", "bias", "orness", "share", "data_share",
    "n_members", "stable", "count", "rank", "condition", "trust", "residual",
)  # fmt: skip
"""What an explanation says of an operator as the operator has it."""


_CUT = re.compile(r"\btake (about|mainly) ")
"""Words of a rule that says less than its operator does."""

_SPOKEN = 12
"""Operators that are described in the text one by one; the data hold all."""


@dataclass(frozen=True, eq=False, repr=False)
class OperatorExplanation(Explanation):
    """An operator with its context in words; NaN and None stand for what is not known of it.

    Attributes
    ----------
    number : int
        Its number, from 0.
    name, phrase, context : str
        What it is called, what it takes, and when it is used.
    unit : {"walks", "samples"}
        What it has a share of.
    weights : array of N floats
        Of the order statistic nearest to it: by rank, largest input first.
    rank_weights, source_weights : arrays of N floats
        By rank and by source: the operator is the sum of both parts and the bias.
    bias : float
        Added to its output, on the common scale.
    orness : float
        1 for the max, 0 for the min.
    share, data_share : float
        Of the walks or samples; of the samples without ties.
    n_members : int
        Distinct operators of a measure that it stands for.
    worst, rms : float
        Differences of output from the integral where it is used, over inputs in [0, 1]; in units
        of the target where data were scaled.
    stable : bool or None
        Whether the data determine it.
    count, rank : int
        Samples that it was learned from; directions of the sorted inputs that these vary in.
    condition, trust, residual : float
        Ratio of largest to smallest spread; share of the weights that data, not the penalty,
        decided; root mean square of what it leaves unexplained (scaled, as the operators are).
    supported : bool
        Whether data decided more of it than a penalty did.
    """

    number: int
    name: str
    phrase: str
    context: str
    unit: str
    weights: FloatArray
    rank_weights: FloatArray
    source_weights: FloatArray
    bias: float
    orness: float
    share: float
    data_share: float
    n_members: int
    worst: float
    rms: float
    stable: bool | None
    count: int
    rank: int
    condition: float
    trust: float
    residual: float
    supported: bool

    def to_frame(self, library: FrameLibrary | None = None) -> Any:
        """A table of one row: share, errors, and weights by source and by rank.

        Examples
        --------
        >>> from choquet import Measure, explain_operator
        >>> operator = explain_operator(Measure([0, 0, 1, 1, 1, 1, 1, 1]), 1)
        >>> operator.to_frame()["weight of rank 2"].tolist()
        [1.0]
        """
        numbered = [f"source {k + 1}" for k in range(len(self.source_weights))]
        return _frame_of([self], numbered, library)

    def text(self) -> str:
        """The operator in one sentence.

        Examples
        --------
        >>> from choquet import Measure, explain_operator
        >>> g = Measure([0, 0, 1, 1, 1, 1, 1, 1], sources=["gpr", "ir", "emi"])
        >>> explain_operator(g, 1).text()
        'Operator 2 (median) takes the median of the three in 33.3 % of all orders of the inputs: \
if gpr is the largest.'
        """
        when = {"always": "always", _UNNAMED: _UNNAMED}.get(self.context, f"if {self.context}")
        of = "all orders of the inputs" if self.unit == "walks" else self.unit
        text = f"Operator {self.number + 1} ({self.name}) takes {self.phrase} "
        text += f"in {percent(self.share)} of {of}"
        if self.unit == "walks" and self.data_share == self.data_share:
            text += f" and {percent(self.data_share)} of samples without ties"
        text += f": {when}."
        if self.worst > 1e-12:
            text += f" There it differs from the model by {figure(self.rms, 2)} typically and by "
            text += f"{figure(self.worst, 2)} at most."
        if self.count:
            text += f" It was learned from {self.count:,} samples, which decided "
            text += f"{percent(self.trust)} of its weights"
            text += "." if self.supported else ": do not rely on it."
        if self.stable is False:
            text += " The data leave its weights uncertain."
        return text


@dataclass(frozen=True, eq=False, repr=False)
class Evidence(PlainData, Shown):
    """The data behind a measure.

    Attributes
    ----------
    n_samples, n_tied : int
        Samples seen, and those with ties.
    n_supported, n_subsets : int
        Supported subsets, and all, besides ∅ and X.
    n_observed_sorts : int
        Sorts seen whole.
    walk_share : float
        Share of all walks that data support throughout.
    mean_width : float
        Mean width of the integral's interval under uniform inputs; NaN if not monotone.
    n_classes : int
        Times that a sample counts: once for each class where one measure serves all of them.
    noise : str
        Where errors are largest, in a sentence; empty where they are much alike, or not known.
    """

    n_samples: int
    n_tied: int
    n_supported: int
    n_subsets: int
    n_observed_sorts: int
    walk_share: float
    mean_width: float
    n_classes: int = 1
    noise: str = ""

    @classmethod
    def of(
        cls, measure: Any, support: DataSupport, width: float = 1.0, bounds: Any = None
    ) -> Evidence:
        """Count the data behind a measure; `width` is one of its output in the data.

        Examples
        --------
        >>> from choquet import DataSupport, Measure
        >>> data = DataSupport.from_data([[0.9, 0.1]])
        >>> Evidence.of(Measure([0, 0.2, 0.3, 1]), data).walk_share
        0.5
        """
        return cls(
            n_samples=support.n_samples,
            n_tied=support.n_tied,
            n_supported=len(support.words),
            n_subsets=2**support.n_sources - 2,
            n_observed_sorts=len(support.observed_sorts),
            walk_share=supported_share(support, None if bounds is None else bounds[2]),
            mean_width=mean_width(measure, support, bounds) * width,
        )

    def counted(self) -> str:
        """How many samples there were; one measure for all classes has scores of each of them.

        Examples
        --------
        >>> Evidence(450, 0, 6, 6, 6, 1.0, 0.0, 3).counted()
        '450 scores (150 samples, 3 classes)'
        """
        if self.n_classes == 1:
            return f"{self.n_samples:,} samples"
        n = self.n_samples // self.n_classes
        return f"{self.n_samples:,} scores ({n:,} samples, {self.n_classes} classes)"

    def text(self) -> str:
        """The evidence in a sentence or two.

        Examples
        --------
        >>> Evidence(3, 0, 5, 6, 3, 0.5, 0.08).text()
        '3 samples show 5 of 6 possible sets of larger inputs, enough for 50 % of all orders \
of the inputs. Where data are missing, answers could differ by 0.08 on average.'
        """
        samples = "1 sample shows" if self.n_samples == 1 else f"{self.counted()} show"
        of = f"{self.n_subsets:,}" if self.n_subsets < 10**12 else figure(float(self.n_subsets))
        text = f"{samples} {self.n_supported:,} of {of} possible sets of larger inputs, enough "
        text += f"for {percent(self.walk_share)} of all orders of the inputs."
        if self.n_tied:
            verb = "contains" if self.n_tied == 1 else "contain"
            text += f" {self.n_tied:,} {verb} tied inputs."
        if self.mean_width < 1e-12:
            text += " No value had to be guessed; this says nothing about accuracy."
        elif self.mean_width == self.mean_width:
            text += " Where data are missing, answers could differ by "
            text += f"{figure(self.mean_width, 2)} on average."
        return f"{text} {self.noise}".rstrip()


@dataclass(frozen=True, eq=False, repr=False)
class OperatorsExplanation(ModelExplanation):
    """What a model of contextual operators does, in words and numbers.

    Attributes
    ----------
    sources : tuple of str
        Names.
    operators : tuple of OperatorExplanation
        By decreasing share.
    sentences : tuple of str
        Rules as instructions, the first that applies counting.
    rules_fidelity : float
        Share of walks for which they name the right operator; NaN if there are no rules.
    rules_exact : bool
        Whether that is so for every walk.
    learned : bool
        Whether the operators were learned directly, so that they are the model; otherwise they
        stand for an integral.
    n_contexts : int
        Contexts that are told apart; several may share an operator.
    n_samples : float
        Samples learned from, by weight; NaN if not known.
    output_name : str
        What the operators give.
    bias : float
        Added to every output, on the common scale; 0 where each operator adds its own.
    worst, rms : float
        Differences of output from the integral, over inputs in [0, 1]; NaN without an integral.
    certified : bool
        Whether these hold for every walk that was decomposed, not only for those drawn.
    restricted : bool
        Whether only walks that data support were decomposed, and not all walks are.
    evidence : Evidence or None
        The data behind a measure, if known.
    requests : tuple of DataRequest
        Data to collect next.
    units : Units or None
        Of the data, where the model sees them scaled. Differences of output, and so errors,
        widths and gains, are in units of the target; biases and weights are on the common scale.
    outcome : Outcome or None
        What the output says of a class, if it is one's.
    poor : bool
        Whether the operators should not stand in for the model.
    """

    sources: tuple[str, ...]
    operators: tuple[OperatorExplanation, ...]
    sentences: tuple[str, ...]
    rules_fidelity: float
    rules_exact: bool
    learned: bool
    n_contexts: int
    n_samples: float
    output_name: str
    bias: float
    worst: float
    rms: float
    certified: bool
    restricted: bool
    evidence: Evidence | None
    requests: tuple[DataRequest, ...]
    units: Units | None = None
    outcome: Outcome | None = None
    poor: bool = False

    def to_frame(self, library: FrameLibrary | None = None) -> Any:
        """A table of the operators, one row each.

        Parameters
        ----------
        library : {"pandas", "polars"}, optional
            Whose frame it is; the first of them that is installed by default.

        Examples
        --------
        >>> from choquet import Measure, explain_model
        >>> story = explain_model(Measure([0, 0, 1, 1, 1, 1, 1, 1], sources=["gpr", "ir", "emi"]))
        >>> story.to_frame()["phrase"].tolist()
        ['the largest', 'the median of the three']
        """
        return _frame_of(self.operators, self.sources, library)

    def text(self) -> str:
        """The explanation in sentences.

        Examples
        --------
        >>> from choquet import Measure, decompose, explain_model
        >>> d = decompose(Measure([0, 0, 1, 1, 1, 1, 1, 1], sources=["gpr", "ir", "emi"]))
        >>> print(explain_model(d).text())
        The model combines gpr, ir and emi in two ways.
        If gpr is the largest, take the median of the three; otherwise take the largest.
        Operator 1 (max) takes the largest in 66.7 % of all orders of the inputs: if gpr is not \
the largest.
        Operator 2 (median) takes the median of the three in 33.3 % of all orders of the inputs: \
if gpr is the largest.
        These rules are the whole model, not a summary of it.
        """
        lines = [self.opening(), *self.sentences]
        if self.outcome is not None:
            lines.append(" ".join(self.outcome.notes()) if self.learned else self.outcome.text())
        if self.units is not None:
            lines.append(self.units.text(self.sources))
        if abs(self.bias) > NO_BIAS:
            lines.append(f"A constant {figure(self.bias)} is added to every output.")
        if not self.rules_exact and self.rules_fidelity == self.rules_fidelity:
            lines.append(self.fidelity())
        lines += [operator.text() for operator in self.operators[:_SPOKEN]]
        if len(self.operators) > _SPOKEN:
            lines.append(f"There are {len(self.operators) - _SPOKEN:,} more operators.")
        lines.append(self.certificate())
        if self.evidence is not None:
            lines.append(self.evidence.text())
        lines += [f"Collect next: {text}." for text in self._wanted()]
        return "\n".join(line for line in lines if line)

    def _wanted(self) -> list[str]:
        """Data to collect; of two sources, either above the other is every sample."""
        if len(self.sources) == 2 and len({one.above for one in self.requests}) == 2:
            return ["more samples, of any kind"]
        # Contexts of a learned model are all there is: to name each of them says nothing.
        kept = self.requests[:1] if self.learned else self.requests
        return [request.text() for request in kept]

    def html_table(self) -> str:
        """The operators as a table, for notebooks."""
        rows = [
            (str(one.number + 1), one.phrase, one.context, percent(one.share))
            for one in self.operators[:_SPOKEN]
        ]
        return html_table(
            "Operators", ["", "takes", "context", f"share of {self.operators[0].unit}"], rows
        )

    def opening(self) -> str:
        """In how many ways the model combines how many sources, and into what."""
        count = len(self.operators)
        ways = "one way" if count == 1 else f"{number_word(count)} ways"
        text = f"The model combines {source_words(self.sources)} in {ways}"
        if self.poor:
            text = (
                "No short description comes near what the model does. The nearest one combines "
                f"{source_words(self.sources)} in {ways}"
            )
        if self.learned and self.n_samples == self.n_samples:
            text += f", learned from {self.n_samples:,.10g} samples"
        named = self.output_name != "the output"
        return text + (f", into {self.output_name}." if named else ".")

    def fidelity(self) -> str:
        """How often the rules name the right operator."""
        on = "" if self.rules_fidelity < 1 else " that were looked at"
        share = percent(self.rules_fidelity)
        return f"These rules name the right operator in {share} of all orders of the inputs{on}."

    def told(self) -> dict[str, str | None]:
        """How far the rules are the model, and what is behind them, in sentences."""
        return {
            "certificate": self.certificate(),
            "fidelity": None if self.rules_exact else self.fidelity(),
            "evidence": None if self.evidence is None else self.evidence.text(),
            "units": None if self.units is None else self.units.text(self.sources),
            "classes": None if self.outcome is None else self.outcome.text(),
        }

    def certificate(self) -> str:
        """How far the operators can be from the model, or how much of them data decided."""
        cut = any(_CUT.search(sentence) for sentence in self.sentences)
        known = self.rules_fidelity == self.rules_fidelity
        # What holds for the operators holds for rules that are right and leave nothing out.
        what = "The operators behind these rules" if cut or not self.rules_exact else "These rules"
        what = what if known else "These operators"
        if self.learned:
            decided = sum(operator.share * operator.trust for operator in self.operators)
            return (
                f"{what} are the whole model, not a summary of it. "
                f"Data decided {percent(decided)} of the weights in use; the rest was set by the "
                "preference for small weights."
            )
        reach = " where data exist" if self.restricted else ""
        width = 1.0 if self.units is None else self.units.width
        if self.certified and self.worst < 1e-12 * width:
            return f"{what} are the whole model{reach}, not a summary of it."
        reach = reach if self.certified else " in the cases that were drawn"
        scale = "" if self.units is None else " after rescaling"
        rms, worst = figures((self.rms, self.worst), 2)
        return (
            f"{what} are a summary of the model. For inputs between 0 and 1"
            f"{scale} they differ from it by {rms} typically and by {worst} at most{reach}."
        )


def _frame_of(
    operators: Sequence[OperatorExplanation], sources: Sequence[str], library: FrameLibrary | None
) -> Any:
    """A row for each operator, with its weights by source and by rank."""
    rows = [operator.to_dict() for operator in operators]
    arrays = ("weights", "rank_weights", "source_weights")
    columns = {key: [row[key] for row in rows] for key in rows[0] if key not in arrays}
    for i, name in enumerate(sources):
        columns[f"weight of {name}"] = [row["source_weights"][i] for row in rows]
    for j in range(len(sources)):
        columns[f"weight of rank {j + 1}"] = [row["rank_weights"][j] for row in rows]
    return to_frame(columns, library)


def explain_operator(model: Any, number: int) -> OperatorExplanation:
    """Explain one operator.

    Parameters
    ----------
    model : Decomposition, Measure, fitted model, or a pipeline that ends in one
        What it belongs to.
    number : int
        Which, from 0.

    Returns
    -------
    OperatorExplanation
        Its phrase, weights, share and context; `text` is a paragraph.

    Examples
    --------
    >>> from choquet import Measure, explain_operator
    >>> operator = explain_operator(Measure([0, 0, 1, 1, 1, 1, 1, 1]), 1)
    >>> operator.phrase, operator.context
    ('the median of the three', 'x1 is the largest')
    """
    view = operators_view(model, identify=True)
    n = view.parts.n_operators
    if not 0 <= number < n:
        raise OptionError(f"operator number={number}: there are 0..{n - 1}")
    return _operator(view, view.parts.operators[number])


def explain_model(
    model: Any, *, n_requests: int = 5, support: DataSupport | None = None
) -> ModelExplanation:
    """Explain a whole model.

    Parameters
    ----------
    model : Decomposition, Measure, fitted model, or a pipeline that ends in one
        What to explain; measures and models are decomposed first.
    n_requests : int, default 5
        How many kinds of data to ask for.
    support : DataSupport, optional
        Data to go by; the decomposition's own by default.

    Returns
    -------
    ModelExplanation
        Its `text` is a page of it. An `OperatorsExplanation` has operators, rules, errors, evidence
        and data to collect; the `TermsExplanation` of an additive model has its terms.

    Examples
    --------
    >>> from choquet import Measure, explain_model
    >>> story = explain_model(Measure([0, 0, 1, 1, 1, 1, 1, 1], sources=["gpr", "ir", "emi"]))
    >>> story.sentences[0]
    'If gpr is the largest, take the median of the three; otherwise take the largest.'
    """
    return view_of(model, identify=True).story(n_requests=n_requests, support=support)


def explain_view(
    view: View, *, n_requests: int = 5, support: DataSupport | None = None
) -> OperatorsExplanation:
    """Explain a view; `explain_model` comes here with what it is given."""
    parts, rules, tree = view.parts, view.rules, view.parts.tree
    sentences = [NO_RULES]
    if rules is not None:
        sentences = rule_sentences(rules, view.sources, view.phrases)
    known = support or parts.support
    evidence = None
    if known is not None and not view.learned:
        bounds = view.bounds if known is parts.support else None
        evidence = Evidence.of(parts.measure, known, view.width, bounds)
        if view.noise is not None and known is parts.support:
            evidence = replace(evidence, noise=view.noise.text(view.sources))
        outcome = view.outcome
        if known is parts.support and outcome is not None and outcome.kind == "score":
            # One measure for all classes learned from the scores of each.
            shared = outcome.number is None and evidence.n_samples % len(outcome.classes) == 0
            evidence = replace(evidence, n_classes=len(outcome.classes) if shared else 1)
    return OperatorsExplanation(
        sources=view.sources,
        operators=tuple(_operator(view, operator) for operator in parts.operators),
        sentences=tuple(sentences),
        rules_fidelity=float("nan") if rules is None else rules.fidelity,
        rules_exact=rules is not None and rules.exact,
        learned=view.learned,
        n_contexts=len(parts.leaves) or len(parts.operators),
        n_samples=float(tree.weight[0]) if tree is not None and view.learned else float("nan"),
        output_name="the output" if view.outcome is None else view.outcome.name,
        bias=0.0 if view.learned else float(parts.operators[0].bias),
        worst=parts.error.worst * view.width,
        rms=parts.error.rms * view.width,
        certified=parts.exact,
        restricted=parts.restricted,
        evidence=evidence,
        requests=requests_of(view, n_requests, known),
        units=view.units,
        outcome=view.outcome,
        poor=parts.poor,
    )


def _operator(view: View, operator: ContextualOperator) -> OperatorExplanation:
    number = operator.number
    context = "never" if view.rules is None else operator.context.text()
    return OperatorExplanation(
        name=view.names[number],
        phrase=view.phrase(operator),
        context=_UNNAMED if context == "never" else context,
        unit=view.parts.unit,
        worst=operator.error.worst * view.width,
        rms=operator.error.rms * view.width,
        supported=not operator.trust < TRUSTED,
        **{name: getattr(operator, name) for name in _TAKEN_OVER},
    )
