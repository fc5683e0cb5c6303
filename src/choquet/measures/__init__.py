"""Fuzzy measures: dense, on supported subsets only, and the families they come in."""

from choquet.measures.measure import Measure
from choquet.measures.random import RANDOM_MEASURES
from choquet.measures.supported import SupportedMeasure

__all__ = ["RANDOM_MEASURES", "Measure", "SupportedMeasure"]
