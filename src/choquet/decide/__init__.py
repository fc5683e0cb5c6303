"""Decide from preferences: what people say, what holds for all measures that agree, what to ask.

statements ──► rows ──► what agrees ──► ranking with shares, conflicts, the next question
"""

from choquet.decide.answer import Answer
from choquet.decide.changes import Reversal
from choquet.decide.choosing import WAYS
from choquet.decide.consistency import Consistency
from choquet.decide.decision import Decision, cars
from choquet.decide.models.capacities import CHOICES, DISTANCES, OneOfMany, find_measure
from choquet.decide.models.conflicts import Conflicts, find_conflicts
from choquet.decide.models.fitting import classes_of, entropy_measure, fit_ranking, fit_scores
from choquet.decide.models.flips import Flip, ScoreChange, model_change, score_change
from choquet.decide.models.program import Program, program
from choquet.decide.models.relations import Relations
from choquet.decide.models.sampling import draw
from choquet.decide.models.spaces import Space, space
from choquet.decide.nodes import Node, node_indices
from choquet.decide.questions import Question
from choquet.decide.saying.language import Said, Vocabulary, describe, parse
from choquet.decide.saying.setting import Setting
from choquet.decide.saying.statements import (
    Cautious,
    FavourBetween,
    Importance,
    ImportanceBetween,
    InClass,
    Indifferent,
    Intensity,
    Interaction,
    InteractionBetween,
    InteractionOrder,
    Irrelevant,
    Must,
    OnlyIf,
    Prefer,
    SameImportance,
    Score,
    Separate,
    Statement,
    Sufficient,
    Undecided,
    ValueBetween,
    VetoBetween,
)
from choquet.decide.steps import STEPS, judged_points

__all__ = [
    "CHOICES",
    "DISTANCES",
    "STEPS",
    "WAYS",
    "Answer",
    "Cautious",
    "Conflicts",
    "Consistency",
    "Decision",
    "FavourBetween",
    "Flip",
    "Importance",
    "ImportanceBetween",
    "InClass",
    "Indifferent",
    "Intensity",
    "Interaction",
    "InteractionBetween",
    "InteractionOrder",
    "Irrelevant",
    "Must",
    "Node",
    "OneOfMany",
    "OnlyIf",
    "Prefer",
    "Program",
    "Question",
    "Relations",
    "Reversal",
    "Said",
    "SameImportance",
    "Score",
    "ScoreChange",
    "Separate",
    "Setting",
    "Space",
    "Statement",
    "Sufficient",
    "Undecided",
    "ValueBetween",
    "VetoBetween",
    "Vocabulary",
    "cars",
    "classes_of",
    "describe",
    "draw",
    "entropy_measure",
    "find_conflicts",
    "find_measure",
    "fit_ranking",
    "fit_scores",
    "judged_points",
    "model_change",
    "node_indices",
    "parse",
    "program",
    "score_change",
    "space",
]
