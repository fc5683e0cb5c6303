"""Taking an integral apart: rows or walks → contexts and their operators → `Decomposition`."""

from typing import TYPE_CHECKING

from choquet.doors import lazy_door

__all__ = [
    "Assessment",
    "Clodd",
    "ClusterDecomposition",
    "Clustering",
    "Comparison",
    "ContextTree",
    "ContextualOperator",
    "Cost",
    "Cover",
    "Decomposition",
    "Distinct",
    "Errors",
    "FuzzyCMeans",
    "Linkage",
    "Method",
    "OperatorSample",
    "TreeDecomposition",
    "compare",
    "cover_operators",
    "decompose",
    "measure_distance",
    "sample_operators",
]

if TYPE_CHECKING:
    from choquet.decomposition.clustering_methods import (
        Clodd,
        Clustering,
        Distinct,
        FuzzyCMeans,
        Linkage,
    )
    from choquet.decomposition.clusters import ClusterDecomposition
    from choquet.decomposition.compare import Comparison, compare, measure_distance
    from choquet.decomposition.compress import Cover, cover_operators
    from choquet.decomposition.context_tree import ContextTree
    from choquet.decomposition.cost import Cost
    from choquet.decomposition.decompose import decompose
    from choquet.decomposition.methods import Method
    from choquet.decomposition.operators import ContextualOperator, Errors
    from choquet.decomposition.result import Decomposition
    from choquet.decomposition.runtime import Assessment
    from choquet.decomposition.sample import OperatorSample, sample_operators
    from choquet.decomposition.trees import TreeDecomposition
else:
    __getattr__, __dir__ = lazy_door(
        __name__,
        {
            "clustering_methods": "Clodd Clustering Distinct FuzzyCMeans Linkage",
            "clusters": "ClusterDecomposition",
            "compare": "Comparison compare measure_distance",
            "compress": "Cover cover_operators",
            "context_tree": "ContextTree",
            "cost": "Cost",
            "decompose": "decompose",
            "methods": "Method",
            "operators": "ContextualOperator Errors",
            "result": "Decomposition",
            "runtime": "Assessment",
            "sample": "OperatorSample sample_operators",
            "trees": "TreeDecomposition",
        },
    )
