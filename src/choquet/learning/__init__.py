"""Learning measures from data: statistics → problem → solver → estimators.

scikit-learn is imported by `choquet.learning.estimators` alone.
"""

from choquet.learning.bases import FAMILIES, additive_basis, k_additive_basis, symmetric_basis
from choquet.learning.choice import choose
from choquet.learning.chunked import (
    Evidence,
    evidence_of,
    evidence_of_chunks,
    parquet_chunks,
    statistics_of_chunks,
)
from choquet.learning.fill import FILLS, fill_unsupported, uncertainty
from choquet.learning.identify import STATES, Identification, identify, states
from choquet.learning.problem import (
    Problem,
    Rows,
    absolute_loss,
    least_squares,
    with_basis,
    with_penalty,
    with_prior,
    with_rows,
)
from choquet.learning.selective import SelectiveCurve, selective_curve
from choquet.learning.solvers import SOLVERS, Solution, hlms, solve
from choquet.learning.sparse import SparseMeasure
from choquet.learning.statistics import Statistics

__all__ = [
    "FAMILIES",
    "FILLS",
    "SOLVERS",
    "STATES",
    "Evidence",
    "Identification",
    "Problem",
    "Rows",
    "SelectiveCurve",
    "Solution",
    "SparseMeasure",
    "Statistics",
    "absolute_loss",
    "additive_basis",
    "choose",
    "evidence_of",
    "evidence_of_chunks",
    "fill_unsupported",
    "hlms",
    "identify",
    "k_additive_basis",
    "least_squares",
    "parquet_chunks",
    "selective_curve",
    "solve",
    "states",
    "statistics_of_chunks",
    "symmetric_basis",
    "uncertainty",
    "with_basis",
    "with_penalty",
    "with_prior",
    "with_rows",
]
