"""In words: what a model does, why it answered as it did, and which data it lacks.

Every explanation is plain data first, a frozen dataclass with ``to_dict()``, and text second.
"""

from choquet.explanation.classes import of_class
from choquet.explanation.collect import DataRequest, data_to_collect
from choquet.explanation.contextual import (
    ContextRequest,
    ContextualModelExplanation,
    ContextualOperatorExplanation,
)
from choquet.explanation.contextual_sample import ContextualSampleExplanation
from choquet.explanation.model import (
    Evidence,
    ModelExplanation,
    OperatorExplanation,
    explain_model,
    explain_operator,
)
from choquet.explanation.phrases import (
    list_words,
    operator_phrase,
    operator_phrases,
    rule_sentences,
)
from choquet.explanation.sample import SampleExplanation, explain_sample
from choquet.explanation.switch import Switch, smallest_switch
from choquet.explanation.units import Units

__all__ = [
    "ContextRequest",
    "ContextualModelExplanation",
    "ContextualOperatorExplanation",
    "ContextualSampleExplanation",
    "DataRequest",
    "Evidence",
    "ModelExplanation",
    "OperatorExplanation",
    "SampleExplanation",
    "Switch",
    "Units",
    "data_to_collect",
    "explain_model",
    "explain_operator",
    "explain_sample",
    "list_words",
    "of_class",
    "operator_phrase",
    "operator_phrases",
    "rule_sentences",
    "smallest_switch",
]
