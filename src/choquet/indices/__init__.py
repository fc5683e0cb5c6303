"""Indices: what a measure says about sources, pairs of sources, and the integral as a whole."""

from choquet.indices.distribution import UniformDistribution, uniform_distribution
from choquet.indices.global_indices import (
    andness,
    distance_to_operators,
    entropy,
    favour,
    nearest_order_statistic,
    nonadditivity,
    nonmodularity,
    orness,
    veto,
)
from choquet.indices.hellinger import derivative, hellinger_distance
from choquet.indices.moments import index_frame, normal_moments, variance
from choquet.indices.power import (
    banzhaf,
    interaction,
    interaction_transform,
    shapley,
    supported_interaction,
    supported_shapley,
    to_shapiq,
)
from choquet.indices.sampled import Estimate, SampledIndices, balanced_sorts, sample_indices
from choquet.indices.summary import Summary, summary

__all__ = [
    "Estimate",
    "SampledIndices",
    "Summary",
    "UniformDistribution",
    "andness",
    "balanced_sorts",
    "banzhaf",
    "derivative",
    "distance_to_operators",
    "entropy",
    "favour",
    "hellinger_distance",
    "index_frame",
    "interaction",
    "interaction_transform",
    "nearest_order_statistic",
    "nonadditivity",
    "nonmodularity",
    "normal_moments",
    "orness",
    "sample_indices",
    "shapley",
    "summary",
    "supported_interaction",
    "supported_shapley",
    "to_shapiq",
    "uniform_distribution",
    "variance",
    "veto",
]
