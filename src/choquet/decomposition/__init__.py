"""Taking an integral apart: iVAT, CLODD and other clusterings of its operators."""

from choquet.decomposition.blocks import BlockSums
from choquet.decomposition.clodd import CloddScore, clodd, clodd_score
from choquet.decomposition.clusters import cluster, fuzzy_c_means
from choquet.decomposition.ivat import IVAT, VAT, SampledIVAT, big_ivat, ivat, vat
from choquet.decomposition.medoids import medoids
from choquet.decomposition.partition import Partition

__all__ = [
    "IVAT",
    "VAT",
    "BlockSums",
    "CloddScore",
    "Partition",
    "SampledIVAT",
    "big_ivat",
    "clodd",
    "clodd_score",
    "cluster",
    "fuzzy_c_means",
    "ivat",
    "medoids",
    "vat",
]
