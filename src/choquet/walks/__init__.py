"""Walks through the Hasse diagram: sorts, their support by data, their distinct operators."""

from choquet.walks.abstract import AbstractWalks
from choquet.walks.graph import OperatorGraph
from choquet.walks.listed import WalkList, list_walks
from choquet.walks.sampling import gsamp
from choquet.walks.sorts import (
    all_sorts,
    all_walk_weights,
    random_sorts,
    sort_rank,
    sort_unrank,
    sorts_of,
    walk_weights,
)
from choquet.walks.support import DataSupport, check_support

__all__ = [
    "AbstractWalks",
    "DataSupport",
    "OperatorGraph",
    "WalkList",
    "all_sorts",
    "all_walk_weights",
    "check_support",
    "gsamp",
    "list_walks",
    "random_sorts",
    "sort_rank",
    "sort_unrank",
    "sorts_of",
    "walk_weights",
]
