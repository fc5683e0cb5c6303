"""Groups of points, from points and distances alone: iVAT, CLODD and other clusterings, medoids."""

from choquet.clustering.blocks import BlockSums
from choquet.clustering.clodd import CloddScore, clodd, clodd_score
from choquet.clustering.clusters import cluster, fuzzy_c_means
from choquet.clustering.ivat import IVAT, VAT, SampledIVAT, big_ivat, ivat, vat
from choquet.clustering.medoids import medoids
from choquet.clustering.modes import modes
from choquet.clustering.partition import Partition

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
    "modes",
    "vat",
]
