"""Data as sums that add up: statistics of rows, chunks, files and clusters."""

from typing import TYPE_CHECKING

from choquet.doors import lazy_door

__all__ = [
    "Evidence",
    "Statistics",
    "evidence_of",
    "evidence_of_chunks",
    "parquet_chunks",
    "statistics_of_chunks",
]

if TYPE_CHECKING:
    from choquet.learning.data.chunks import (
        Evidence,
        evidence_of,
        evidence_of_chunks,
        parquet_chunks,
        statistics_of_chunks,
    )
    from choquet.learning.data.statistics import Statistics
else:
    __getattr__, __dir__ = lazy_door(
        __name__,
        {
            "chunks": "Evidence evidence_of evidence_of_chunks parquet_chunks statistics_of_chunks",
            "statistics": "Statistics",
        },
    )
