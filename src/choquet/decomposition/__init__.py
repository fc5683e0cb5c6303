"""Taking an integral apart: rows or walks → contexts and their operators → `Decomposition`."""

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
