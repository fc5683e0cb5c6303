"""Data as sums that add up: statistics of rows, chunks, files and clusters."""

from choquet.learning.data.chunks import (
    Evidence,
    evidence_of,
    evidence_of_chunks,
    parquet_chunks,
    statistics_of_chunks,
)
from choquet.learning.data.statistics import Statistics

__all__ = [
    "Evidence",
    "Statistics",
    "evidence_of",
    "evidence_of_chunks",
    "parquet_chunks",
    "statistics_of_chunks",
]
