"""Order statistics: their weights by rank, their names, and how far apart two of them are."""

from choquet.operators.dissimilarity import (
    DISSIMILARITIES,
    Dissimilarity,
    a_norm,
    aitchison,
    as_dissimilarity,
    dissimilarity,
    lp,
    precomputed,
)
from choquet.operators.names import familiar_operators
from choquet.operators.order_statistic import LinearConvexSum, OrderStatistic

__all__ = [
    "DISSIMILARITIES",
    "Dissimilarity",
    "LinearConvexSum",
    "OrderStatistic",
    "a_norm",
    "aitchison",
    "as_dissimilarity",
    "dissimilarity",
    "familiar_operators",
    "lp",
    "precomputed",
]
