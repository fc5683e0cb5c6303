"""What people say, as small frozen classes; each gives linear rows on measures.

Alternatives are named, or given as rows of scores; criteria are named or numbered. A statement is
resolved by a `Setting`, which knows the names. Statements about criteria and about rows of scores
also serve ``ChoquetRegressor(expert=[…])``.
"""

from choquet.decide.saying.comparisons import (
    Compared,
    InClass,
    Indifferent,
    Intensity,
    Prefer,
    Score,
    Undecided,
    class_rows,
)
from choquet.decide.saying.criteria import (
    Cautious,
    FavourBetween,
    Importance,
    ImportanceBetween,
    Interaction,
    InteractionBetween,
    InteractionOrder,
    Irrelevant,
    Must,
    OnlyIf,
    SameImportance,
    Separate,
    Sufficient,
    ValueBetween,
    VetoBetween,
)
from choquet.decide.saying.setting import Row, Setting
from choquet.decide.saying.statement import Statement

__all__ = [
    "Cautious",
    "Compared",
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
    "OnlyIf",
    "Prefer",
    "Row",
    "SameImportance",
    "Score",
    "Separate",
    "Setting",
    "Statement",
    "Sufficient",
    "Undecided",
    "ValueBetween",
    "VetoBetween",
    "class_rows",
]
