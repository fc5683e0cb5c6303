"""Fuzzy integrals as a handful of contextual linear order statistics."""

from choquet._version import __version__
from choquet.indices import (
    banzhaf,
    interaction,
    shapley,
    uniform_distribution,
)
from choquet.integrals import (
    choquet_integral,
    choquet_interval,
    shilkret_integral,
    sipos_integral,
    sugeno_integral,
    sugeno_interval,
)
from choquet.measures import Measure, SupportedMeasure
from choquet.operators import LinearConvexSum, OrderStatistic
from choquet.storage import load, save
from choquet.walks import (
    DataSupport,
    OperatorGraph,
    all_sorts,
    all_walk_weights,
    gsamp,
    random_sorts,
    sort_rank,
    sort_unrank,
    sorts_of,
    walk_weights,
)

__all__ = [
    "DataSupport",
    "LinearConvexSum",
    "Measure",
    "OperatorGraph",
    "OrderStatistic",
    "SupportedMeasure",
    "__version__",
    "all_sorts",
    "all_walk_weights",
    "banzhaf",
    "choquet_integral",
    "choquet_interval",
    "gsamp",
    "interaction",
    "load",
    "random_sorts",
    "save",
    "shapley",
    "shilkret_integral",
    "sipos_integral",
    "sort_rank",
    "sort_unrank",
    "sorts_of",
    "sugeno_integral",
    "sugeno_interval",
    "uniform_distribution",
    "walk_weights",
]
