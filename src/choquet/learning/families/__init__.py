"""Families of measures: their patterns, and fits of each."""

from choquet.learning.families.bases import (
    FAMILIES,
    additive_basis,
    k_additive_basis,
    symmetric_basis,
)

__all__ = [
    "FAMILIES",
    "additive_basis",
    "k_additive_basis",
    "symmetric_basis",
]
