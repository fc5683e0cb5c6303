"""Direct learning of contextual operators: a tree of rank predicates over order statistics.

Nothing here touches the 2**N subsets: a node keeps the sums of products of its inputs by rank,
(N + 2)² numbers that add up over rows, and a split is priced from those.
"""

from choquet.learning.contextual.leaves import LeafOptions, fit_leaf
from choquet.learning.contextual.pruning import weakest_links
from choquet.learning.contextual.rows import RankRows
from choquet.learning.contextual.splits import SplitOptions, best_split
from choquet.learning.contextual.tree import Tree, grow

__all__ = [
    "LeafOptions",
    "RankRows",
    "SplitOptions",
    "Tree",
    "best_split",
    "fit_leaf",
    "grow",
    "weakest_links",
]
