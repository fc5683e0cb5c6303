"""Fuzzy measures: dense, on supported subsets only, by Möbius coefficients, and their families."""

from choquet.measures.measure import Measure
from choquet.measures.mobius import MobiusMeasure
from choquet.measures.random import RANDOM_MEASURES
from choquet.measures.sparse import SparseMeasure
from choquet.measures.supported import SupportedMeasure

__all__ = ["RANDOM_MEASURES", "Measure", "MobiusMeasure", "SparseMeasure", "SupportedMeasure"]
