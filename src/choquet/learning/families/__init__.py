"""Families of measures: one table, its fits and chains, and candidates to choose from."""

from typing import TYPE_CHECKING

from choquet.doors import lazy_door

__all__ = [
    "BASES",
    "FAMILIES",
    "PRIORS",
    "Family",
    "Fit",
    "additive_basis",
    "k_additive_basis",
    "symmetric_basis",
]

if TYPE_CHECKING:
    from choquet.learning.families.bases import additive_basis, k_additive_basis, symmetric_basis
    from choquet.learning.families.table import BASES, FAMILIES, PRIORS, Family, Fit
else:
    __getattr__, __dir__ = lazy_door(
        __name__,
        {
            "bases": "additive_basis k_additive_basis symmetric_basis",
            "table": "BASES FAMILIES PRIORS Family Fit",
        },
    )
