"""In words: what a model does, why it answered as it did, and which data it lacks.

Everything is looked at through one view (`view_of`), whatever was fitted. Every explanation is
plain data first, a frozen dataclass with ``to_dict()`` and ``to_frame()``, and text second.
"""

from typing import TYPE_CHECKING

from choquet.doors import lazy_door

__all__ = [
    "AbstractView",
    "AdditiveView",
    "Brief",
    "DataRequest",
    "DataRequests",
    "Evidence",
    "FusionExplanation",
    "LinguisticSummary",
    "ModelExplanation",
    "OperatorExplanation",
    "OperatorSample",
    "OperatorsExplanation",
    "SampleExplanation",
    "Switch",
    "TermsExplanation",
    "TermsSample",
    "View",
    "brief_of",
    "brief_of_sum",
    "data_to_collect",
    "explain_fusion",
    "explain_model",
    "explain_operator",
    "explain_sample",
    "explain_samples",
    "linguistic_summaries",
    "list_words",
    "of_class",
    "operator_phrase",
    "operator_phrases",
    "operators_view",
    "rule_sentences",
    "smallest_switch",
    "view_of",
]

if TYPE_CHECKING:
    from choquet.explanation.abstract import AbstractView, ModelExplanation, SampleExplanation
    from choquet.explanation.additive import AdditiveView, TermsExplanation, TermsSample
    from choquet.explanation.brief import Brief, brief_of, brief_of_sum
    from choquet.explanation.collect import DataRequest, DataRequests, data_to_collect
    from choquet.explanation.fusion import FusionExplanation, explain_fusion
    from choquet.explanation.model import (
        Evidence,
        OperatorExplanation,
        OperatorsExplanation,
        explain_model,
        explain_operator,
    )
    from choquet.explanation.phrases import (
        list_words,
        operator_phrase,
        operator_phrases,
        rule_sentences,
    )
    from choquet.explanation.sample import OperatorSample, explain_sample, explain_samples
    from choquet.explanation.summaries import LinguisticSummary, linguistic_summaries
    from choquet.explanation.switch import Switch, smallest_switch
    from choquet.explanation.view import View, of_class, operators_view, view_of
else:
    __getattr__, __dir__ = lazy_door(
        __name__,
        {
            "abstract": "AbstractView ModelExplanation SampleExplanation",
            "additive": "AdditiveView TermsExplanation TermsSample",
            "brief": "Brief brief_of brief_of_sum",
            "collect": "DataRequest DataRequests data_to_collect",
            "fusion": "FusionExplanation explain_fusion",
            "model": (
                "Evidence OperatorExplanation OperatorsExplanation explain_model explain_operator"
            ),
            "phrases": "list_words operator_phrase operator_phrases rule_sentences",
            "sample": "OperatorSample explain_sample explain_samples",
            "summaries": "LinguisticSummary linguistic_summaries",
            "switch": "Switch smallest_switch",
            "view": "View of_class operators_view view_of",
        },
    )
