"""Fuzzy measures: one type, five ways to hold one, and their families."""

from choquet.measures.abstract import AbstractMeasure, check_measure
from choquet.measures.formula import FormulaMeasure
from choquet.measures.measure import Measure
from choquet.measures.mobius import MobiusMeasure
from choquet.measures.random import RANDOM_MEASURES
from choquet.measures.sparse import SparseMeasure
from choquet.measures.supported import SupportedMeasure

__all__ = [
    "RANDOM_MEASURES",
    "AbstractMeasure",
    "FormulaMeasure",
    "Measure",
    "MobiusMeasure",
    "SparseMeasure",
    "SupportedMeasure",
    "check_measure",
]
