"""The Boolean lattice of subsets: bit masks, sweeps, and sums over the sets that hold a source.

A subset of N sources is an integer whose bit i says whether source i belongs to it; a function on
subsets is an array of 2**N floats indexed by that integer.
"""

from choquet.lattice.masks import (
    MAX_DENSE_SOURCES,
    check_dense,
    cover_pairs,
    mask_of,
    masks_by_size,
    masks_by_sizes,
    members,
    n_sources_of,
    subset_sizes,
)
from choquet.lattice.sweeps import (
    SWEEPS,
    containing_sums,
    containing_sums_of_pairs,
    downward_minimum,
    mobius,
    monotonicity_witness,
    superset_mobius,
    superset_zeta,
    upward_maximum,
    zeta,
)

__all__ = [
    "MAX_DENSE_SOURCES",
    "SWEEPS",
    "check_dense",
    "containing_sums",
    "containing_sums_of_pairs",
    "cover_pairs",
    "downward_minimum",
    "mask_of",
    "masks_by_size",
    "masks_by_sizes",
    "members",
    "mobius",
    "monotonicity_witness",
    "n_sources_of",
    "subset_sizes",
    "superset_mobius",
    "superset_zeta",
    "upward_maximum",
    "zeta",
]
