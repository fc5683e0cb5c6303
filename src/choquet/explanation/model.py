"""A model explained: its operators, when each is used, and how sure all that is."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from choquet.arrays import FloatArray
from choquet.decomposition import ClusterDecomposition
from choquet.decomposition.outcome import Outcome
from choquet.errors import OptionError
from choquet.explanation.collect import DataRequest, mean_width, supported_share, unsupported_data
from choquet.explanation.contextual import (
    ContextualModelExplanation,
    ContextualOperatorExplanation,
    explain_contextual,
    explain_contextual_operator,
)
from choquet.explanation.learned import as_learned
from choquet.explanation.phrases import (
    NO_BIAS,
    list_words,
    number_word,
    operator_phrase,
    operator_phrases,
    percent,
    plain,
    rule_sentences,
)
from choquet.explanation.subject import NO_RULES, as_decomposition, rules_of
from choquet.explanation.units import Units, units_of
from choquet.walks import DataSupport

__all__ = [
    "Evidence",
    "ModelExplanation",
    "OperatorExplanation",
    "evidence_of",
    "explain_decomposition",
    "explain_model",
    "explain_operator",
]

_UNNAMED = "no rule leads to it"
"""Context of an operator that the rules, being right for most walks only, leave out."""

_SPOKEN = 12
"""Operators that are described in the text one by one; the data hold all."""


@dataclass(frozen=True, eq=False)
class OperatorExplanation:
    """An operator of a decomposition, with its context in words.

    Attributes
    ----------
    number : int
        Its number, from 0.
    name, phrase, context : str
        What it is called, what it takes, and when it is used.
    weights : array of N floats
        By rank, largest input first.
    orness : float
        1 for the max, 0 for the min.
    share, data_share : float
        Of the walks, and of the samples without ties (NaN without data).
    n_members : int
        Distinct operators that it stands for.
    worst, rms : float
        Differences of output from the integral where it is used, over inputs in [0, 1]; in units
        of the target where data were scaled.
    stable : bool or None
        Whether the data determine it; None if that is not known.
    """

    number: int
    name: str
    phrase: str
    context: str
    weights: FloatArray
    orness: float
    share: float
    data_share: float
    n_members: int
    worst: float
    rms: float
    stable: bool | None

    def to_dict(self) -> dict[str, Any]:
        """Plain data, as JSON holds them."""
        found: dict[str, Any] = plain(dict(vars(self)))
        return found

    def text(self) -> str:
        """The operator in one sentence.

        Examples
        --------
        >>> from choquet import Measure, explain_operator
        >>> g = Measure([0, 0, 1, 1, 1, 1, 1, 1], sources=["gpr", "ir", "emi"])
        >>> explain_operator(g, 1).text()
        'Operator 2, median, takes the median of the three in 33.3 % of walks: if gpr is the \
largest.'
        """
        named = {"otherwise": "where no rule applies", "always": "always", _UNNAMED: _UNNAMED}
        when = named.get(self.context, f"if {self.context}")
        text = f"Operator {self.number + 1}, {self.name}, takes {self.phrase} "
        text += f"in {percent(self.share)} of walks"
        if self.data_share == self.data_share:
            text += f" and {percent(self.data_share)} of samples without ties"
        text += f": {when}."
        if self.worst > 1e-12:
            text += f" It is off by at most {self.worst:.3g} there (rms {self.rms:.3g})."
        if self.stable is False:
            text += " The data do not determine it well."
        return text


@dataclass(frozen=True, eq=False)
class Evidence:
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
    """

    n_samples: int
    n_tied: int
    n_supported: int
    n_subsets: int
    n_observed_sorts: int
    walk_share: float
    mean_width: float

    def to_dict(self) -> dict[str, Any]:
        """Plain data, as JSON holds them."""
        found: dict[str, Any] = plain(dict(vars(self)))
        return found

    def text(self) -> str:
        """The evidence in a sentence or two.

        Examples
        --------
        >>> Evidence(3, 0, 5, 6, 3, 0.5, 0.08).text()
        '3 samples support 5 of 6 subsets and 50 % of walks. The integral is then known to within \
0.08 on average.'
        """
        samples = (
            "1 sample supports" if self.n_samples == 1 else f"{self.n_samples:,} samples support"
        )
        of = f"{self.n_subsets:,}" if self.n_subsets < 10**12 else f"{self.n_subsets:.1e}"
        text = f"{samples} {self.n_supported:,} of {of} subsets and "
        text += f"{percent(self.walk_share)} of walks."
        if self.n_tied:
            text += f" {self.n_tied:,} of them {'holds' if self.n_tied == 1 else 'hold'} ties."
        if self.mean_width == self.mean_width:
            known = "exactly" if self.mean_width < 1e-12 else f"to within {self.mean_width:.3g}"
            text += f" The integral is then known {known} on average."
        return text.replace("exactly on average", "exactly")


@dataclass(frozen=True, eq=False)
class ModelExplanation:
    """What a decomposition does, in words and numbers.

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
    bias : float
        Added to every output.
    worst, rms : float
        Differences of output from the integral, over inputs in [0, 1].
    certified : bool
        Whether these hold for every walk that was decomposed, not only for those drawn.
    restricted : bool
        Whether only walks that data support were decomposed, and not all walks are.
    evidence : Evidence or None
        The data behind it, if known.
    requests : tuple of DataRequest
        Data to collect next.
    units : Units or None
        Of the data, where the measure sees them scaled. Differences of output, and so errors,
        widths and gains, are in units of the target; bias and inputs are on the common scale.
    outcome : Outcome or None
        What the output says of a class, if the measure is a classifier's.
    """

    sources: tuple[str, ...]
    operators: tuple[OperatorExplanation, ...]
    sentences: tuple[str, ...]
    rules_fidelity: float
    rules_exact: bool
    bias: float
    worst: float
    rms: float
    certified: bool
    restricted: bool
    evidence: Evidence | None
    requests: tuple[DataRequest, ...]
    units: Units | None = None
    outcome: Outcome | None = None

    def to_dict(self) -> dict[str, Any]:
        """Plain data, as JSON holds them."""
        data = dict(vars(self))
        data["operators"] = [operator.to_dict() for operator in self.operators]
        data["evidence"] = None if self.evidence is None else self.evidence.to_dict()
        data["requests"] = [request.to_dict() for request in self.requests]
        data["units"] = None if self.units is None else self.units.to_dict()
        data["outcome"] = None if self.outcome is None else self.outcome.to_dict()
        found: dict[str, Any] = plain(data)
        return found

    def text(self) -> str:
        """The explanation in sentences.

        Examples
        --------
        >>> from choquet import Measure, decompose, explain_model
        >>> d = decompose(Measure([0, 0, 1, 1, 1, 1, 1, 1], sources=["gpr", "ir", "emi"]))
        >>> print(explain_model(d).text())
        Two operators fuse gpr, ir and emi.
        If gpr is the largest, take the median of the three; otherwise take the largest.
        Operator 1, max, takes the largest in 66.7 % of walks: if gpr is not the largest.
        Operator 2, median, takes the median of the three in 33.3 % of walks: if gpr is the largest.
        This is exactly the integral.
        """
        lines = [self.opening(), *self.sentences]
        lines += [] if self.outcome is None else [self.outcome.text()]
        if self.units is not None:
            lines.append(self.units.text(self.sources))
        if abs(self.bias) > NO_BIAS:
            lines.append(f"To every output {self.bias:.4g} is added.")
        if not self.rules_exact and self.rules_fidelity == self.rules_fidelity:
            on = "" if self.rules_fidelity < 1 else " that were looked at"
            lines.append(f"These rules are right for {percent(self.rules_fidelity)} of walks{on}.")
        lines += [operator.text() for operator in self.operators[:_SPOKEN]]
        if len(self.operators) > _SPOKEN:
            lines.append(f"There are {len(self.operators) - _SPOKEN:,} more operators.")
        lines.append(self.certificate())
        if self.evidence is not None:
            lines.append(self.evidence.text())
        lines += [f"To collect: {request.text()}." for request in self.requests]
        return "\n".join(lines)

    def opening(self) -> str:
        """How many operators fuse how many sources."""
        count = len(self.operators)
        many = len(self.sources) > 12
        what = f"{len(self.sources)} sources" if many else list_words(self.sources)
        verb = "operator fuses" if count == 1 else "operators fuse"
        return f"{number_word(count).capitalize()} {verb} {what}."

    def certificate(self) -> str:
        """How far the operators can be from the integral."""
        reach = " on the walks that data support" if self.restricted else ""
        width = 1.0 if self.units is None else self.units.target_width
        if self.certified and self.worst < 1e-12 * width:
            return f"This is exactly the integral{reach}."
        reach = reach if self.certified else " on the walks that were drawn"
        scale = "" if self.units is None else " on the common scale"
        return (
            f"For inputs between 0 and 1{scale} this differs from the integral by at most "
            f"{self.worst:.3g}{reach} (root mean square {self.rms:.3g})."
        )


def explain_operator(
    model: Any, number: int
) -> OperatorExplanation | ContextualOperatorExplanation:
    """Explain one operator.

    Parameters
    ----------
    model : ClusterDecomposition, Measure or fitted model
        What it belongs to; contextual models have explanations of their own kind.
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
    learned = as_learned(model)
    if learned is not None:
        return explain_contextual_operator(learned, number)
    decomposition = as_decomposition(model)
    if not 0 <= number < decomposition.n_operators:
        raise OptionError(f"operator number={number}: there are 0..{decomposition.n_operators - 1}")
    units = units_of(model)
    width = 1.0 if units is None else units.target_width
    return _operator(decomposition, number, decomposition.operator_names[number], width)


def explain_model(
    model: Any, *, n_requests: int = 5, support: DataSupport | None = None
) -> ModelExplanation | ContextualModelExplanation:
    """Explain a whole model.

    Parameters
    ----------
    model : ClusterDecomposition, Measure or fitted model
        What to explain; measures and models are decomposed first.
    n_requests : int, default 5
        How many kinds of data to ask for.
    support : DataSupport, optional
        Data to go by; the decomposition's own by default.

    Returns
    -------
    ModelExplanation
        Of a contextual model, a `ContextualModelExplanation`.

    Examples
    --------
    >>> from choquet import Measure, explain_model
    >>> story = explain_model(Measure([0, 0, 1, 1, 1, 1, 1, 1], sources=["gpr", "ir", "emi"]))
    >>> story.sentences[0]
    'If gpr is the largest, take the median of the three; otherwise take the largest.'
    """
    learned = as_learned(model)
    if learned is not None:
        return explain_contextual(learned, n_requests=n_requests)
    return explain_decomposition(
        as_decomposition(model), n_requests=n_requests, support=support, units=units_of(model)
    )


def explain_decomposition(
    decomposition: ClusterDecomposition,
    *,
    n_requests: int = 5,
    support: DataSupport | None = None,
    units: Units | None = None,
) -> ModelExplanation:
    """Explain a decomposition; `explain_model` comes here with what it is given."""
    known = support or decomposition.support
    rules = rules_of(decomposition)
    sentences = [NO_RULES]
    if rules is not None:
        sources, phrases = decomposition.measure.sources, operator_phrases(decomposition)
        sentences = rule_sentences(rules, sources, phrases)
    width = 1.0 if units is None else units.target_width
    requests = unsupported_data(decomposition, n_requests, known)
    evidence = None if known is None else evidence_of(decomposition, known)
    if evidence is not None:
        evidence = replace(evidence, mean_width=evidence.mean_width * width)
    return ModelExplanation(
        sources=decomposition.measure.sources,
        operators=tuple(
            _operator(decomposition, number, name, width)
            for number, name in enumerate(decomposition.operator_names)
        ),
        sentences=tuple(sentences),
        rules_fidelity=float("nan") if rules is None else rules.fidelity,
        rules_exact=rules is not None and rules.exact,
        bias=decomposition.bias,
        worst=decomposition.error.worst * width,
        rms=decomposition.error.rms * width,
        certified=decomposition.exact,
        restricted=_restricted(decomposition),
        evidence=evidence,
        requests=tuple(replace(request, gain=request.gain * width) for request in requests),
        units=units,
        outcome=decomposition.outcome,
    )


def _restricted(decomposition: ClusterDecomposition) -> bool:
    return decomposition.sample.graph.restricted


def evidence_of(decomposition: ClusterDecomposition, support: DataSupport) -> Evidence:
    """The data behind a decomposition, counted.

    Examples
    --------
    >>> from choquet import DataSupport, Measure, decompose
    >>> d = decompose(Measure([0, 0.2, 0.3, 1]))
    >>> evidence_of(d, DataSupport.from_data([[0.9, 0.1]])).walk_share
    0.5
    """
    n = support.n_sources
    return Evidence(
        n_samples=support.n_samples,
        n_tied=support.n_tied,
        n_supported=support.n_supported,
        n_subsets=2**n - 2,
        n_observed_sorts=len(support.observed_sorts),
        walk_share=supported_share(support),
        mean_width=mean_width(decomposition.measure, support),
    )


def _operator(
    decomposition: ClusterDecomposition, number: int, name: str, width: float
) -> OperatorExplanation:
    operator = decomposition.operators[number]
    rules = rules_of(decomposition)
    context = "never" if rules is None else decomposition.operators[number].context.text()
    return OperatorExplanation(
        number=number,
        name=name,
        phrase=operator_phrase(operator.weights),
        context=_UNNAMED if context == "never" else context,
        weights=operator.weights,
        orness=operator.orness,
        share=operator.share,
        data_share=operator.data_share,
        n_members=operator.n_members,
        worst=operator.error.worst * width,
        rms=operator.error.rms * width,
        stable=operator.stable,
    )
