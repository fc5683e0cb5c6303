"""Which walks belong together, in words: conditions on ranks, rules, diagrams, trees.

A tree of rank conditions never touches the 2**N subsets: a node keeps the sums of products of its
inputs by rank, (N + 2)² numbers that add up over rows, and a split is priced from those.
"""

from typing import TYPE_CHECKING

from choquet.doors import lazy_door

__all__ = [
    "Condition",
    "Context",
    "Diagram",
    "LeafOptions",
    "RankRows",
    "Rule",
    "RuleList",
    "SplitOptions",
    "Tree",
    "find_rules",
    "fit_leaf",
    "grow",
    "weakest_links",
]

if TYPE_CHECKING:
    from choquet.contexts.conditions import Condition, Context, Rule
    from choquet.contexts.diagram import Diagram
    from choquet.contexts.leaves import LeafOptions, fit_leaf
    from choquet.contexts.pruning import weakest_links
    from choquet.contexts.rows import RankRows
    from choquet.contexts.rules import RuleList, find_rules
    from choquet.contexts.splits import SplitOptions
    from choquet.contexts.tree import Tree, grow
else:
    __getattr__, __dir__ = lazy_door(
        __name__,
        {
            "conditions": "Condition Context Rule",
            "diagram": "Diagram",
            "leaves": "LeafOptions fit_leaf",
            "pruning": "weakest_links",
            "rows": "RankRows",
            "rules": "RuleList find_rules",
            "splits": "SplitOptions",
            "tree": "Tree grow",
        },
    )
