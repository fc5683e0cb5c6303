"""Taking an integral apart: sample → dissimilarity → iVAT → clusters → medoids → rules."""

from choquet.decomposition.blocks import BlockSums
from choquet.decomposition.clodd import CloddScore, clodd, clodd_score
from choquet.decomposition.clusters import cluster, fuzzy_c_means
from choquet.decomposition.compare import Comparison, compare, measure_distance
from choquet.decomposition.compress import Cover, cover_operators
from choquet.decomposition.decompose import decompose
from choquet.decomposition.diagram import Diagram
from choquet.decomposition.ivat import IVAT, VAT, SampledIVAT, big_ivat, ivat, vat
from choquet.decomposition.medoids import medoids
from choquet.decomposition.operators import ContextualOperator, Errors
from choquet.decomposition.partition import Partition
from choquet.decomposition.result import Decomposition
from choquet.decomposition.rules import Condition, Rule, RuleList, find_rules
from choquet.decomposition.runtime import Assessment
from choquet.decomposition.sample import OperatorSample, sample_operators

__all__ = [
    "IVAT",
    "VAT",
    "Assessment",
    "BlockSums",
    "CloddScore",
    "Comparison",
    "Condition",
    "ContextualOperator",
    "Cover",
    "Decomposition",
    "Diagram",
    "Errors",
    "OperatorSample",
    "Partition",
    "Rule",
    "RuleList",
    "SampledIVAT",
    "big_ivat",
    "clodd",
    "clodd_score",
    "cluster",
    "compare",
    "cover_operators",
    "decompose",
    "find_rules",
    "fuzzy_c_means",
    "ivat",
    "measure_distance",
    "medoids",
    "sample_operators",
    "vat",
]
