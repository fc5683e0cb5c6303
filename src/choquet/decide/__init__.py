"""Decide from preferences: what people say, what holds for all measures that agree, what to ask.

statements ──► rows ──► what agrees ──► ranking with shares, conflicts, the next question
"""

from choquet.decide.capacities import (
    CHOICES,
    DISTANCES,
    OneOfMany,
    classes_of,
    entropy_measure,
    find_measure,
    fit_ranking,
    fit_scores,
)
from choquet.decide.conflicts import Conflicts, find_conflicts
from choquet.decide.program import Program, program
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

__all__ = [
    "CHOICES",
    "DISTANCES",
    "Cautious",
    "Conflicts",
    "FavourBetween",
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
    "OneOfMany",
    "OnlyIf",
    "Prefer",
    "Program",
    "Relations",
    "SameImportance",
    "Score",
    "Separate",
    "Setting",
    "Space",
    "Statement",
    "Sufficient",
    "Undecided",
    "ValueBetween",
    "VetoBetween",
    "classes_of",
    "draw",
    "entropy_measure",
    "find_conflicts",
    "find_measure",
    "fit_ranking",
    "fit_scores",
    "program",
    "space",
]
