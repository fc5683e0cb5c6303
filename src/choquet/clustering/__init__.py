"""Groups of points, from points and distances alone: iVAT, CLODD and other clusterings, medoids."""

from typing import TYPE_CHECKING

from choquet.doors import lazy_door

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

if TYPE_CHECKING:
    from choquet.clustering.blocks import BlockSums
    from choquet.clustering.clodd import CloddScore, clodd, clodd_score
    from choquet.clustering.clusters import cluster, fuzzy_c_means
    from choquet.clustering.ivat import IVAT, VAT, SampledIVAT, big_ivat, ivat, vat
    from choquet.clustering.medoids import medoids
    from choquet.clustering.modes import modes
    from choquet.clustering.partition import Partition
else:
    __getattr__, __dir__ = lazy_door(
        __name__,
        {
            "blocks": "BlockSums",
            "clodd": "CloddScore clodd clodd_score",
            "clusters": "cluster fuzzy_c_means",
            "ivat": "IVAT VAT SampledIVAT big_ivat ivat vat",
            "medoids": "medoids",
            "modes": "modes",
            "partition": "Partition",
        },
    )
