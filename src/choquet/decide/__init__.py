"""Decide from preferences: what people say, what holds for all measures that agree, what to ask.

statements ──► rows ──► what agrees ──► ranking with shares, conflicts, the next question
"""

from choquet.decide.answer import Answer
from choquet.decide.capacities import CHOICES, DISTANCES, OneOfMany, find_measure
from choquet.decide.changes import Reversal
from choquet.decide.choosing import WAYS
from choquet.decide.conflicts import Conflicts, find_conflicts
from choquet.decide.consistency import Consistency
from choquet.decide.decision import Decision
from choquet.decide.examples import cars
from choquet.decide.fitting import classes_of, entropy_measure, fit_ranking, fit_scores
from choquet.decide.flips import Flip, ScoreChange, model_change, score_change
from choquet.decide.language import Said, Vocabulary, describe, parse
from choquet.decide.nodes import Node, node_indices
from choquet.decide.program import Program, program
from choquet.decide.questions import Question
from choquet.decide.relations import Relations
from choquet.decide.sampling import draw
from choquet.decide.spaces import Space, space
from choquet.decide.statements import (
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
    Setting,
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
