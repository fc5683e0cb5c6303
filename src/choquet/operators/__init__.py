"""Order statistics: their weights by rank, their names, and how far apart two of them are."""

from choquet.operators.names import familiar_operators
from choquet.operators.order_statistic import LinearConvexSum, OrderStatistic

__all__ = ["LinearConvexSum", "OrderStatistic", "familiar_operators"]
