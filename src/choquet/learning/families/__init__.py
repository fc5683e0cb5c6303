"""Families of measures: one table, its fits and chains, and candidates to choose from."""

from choquet.learning.families.bases import additive_basis, k_additive_basis, symmetric_basis
from choquet.learning.families.table import BASES, FAMILIES, PRIORS, Family, Fit

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
