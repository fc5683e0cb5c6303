"""Operators: weights by rank, and how different two of them are."""

from choquet.operators.dissimilarity import (
    DISSIMILARITIES,
    Dissimilarity,
    a_norm,
    aitchison,
    as_dissimilarity,
    dissimilarity,
    lp,
)

__all__ = [
    "DISSIMILARITIES",
    "Dissimilarity",
    "a_norm",
    "aitchison",
    "as_dissimilarity",
    "dissimilarity",
    "lp",
]
