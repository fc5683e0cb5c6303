"""Learning measures from data: statistics → problem → solver.

The estimators, which bring scikit-learn, are in `choquet.estimators`.
"""

from typing import TYPE_CHECKING

from choquet.doors import lazy_door

__all__ = [
    "FAMILIES",
    "FILLS",
    "SOLVERS",
    "Evidence",
    "Problem",
    "Rows",
    "Solution",
    "Statistics",
    "absolute_loss",
    "additive_basis",
    "choose",
    "evidence_of",
    "evidence_of_chunks",
    "fill_unsupported",
    "hlms",
    "k_additive_basis",
    "least_squares",
    "parquet_chunks",
    "solve",
    "statistics_of_chunks",
    "symmetric_basis",
    "uncertainty",
    "with_basis",
    "with_penalty",
    "with_prior",
    "with_rows",
]

if TYPE_CHECKING:
    from choquet.learning.data import (
        Evidence,
        Statistics,
        evidence_of,
        evidence_of_chunks,
        parquet_chunks,
        statistics_of_chunks,
    )
    from choquet.learning.families import (
        FAMILIES,
        additive_basis,
        k_additive_basis,
        symmetric_basis,
    )
    from choquet.learning.fill import FILLS, fill_unsupported, uncertainty
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
    from choquet.learning.representative import choose
    from choquet.learning.solvers import SOLVERS, Solution, solve
    from choquet.learning.solvers.hlms import hlms
else:
    __getattr__, __dir__ = lazy_door(
        __name__,
        {
            "data": (
                "Evidence Statistics evidence_of evidence_of_chunks parquet_chunks "
                "statistics_of_chunks"
            ),
            "families": "FAMILIES additive_basis k_additive_basis symmetric_basis",
            "fill": "FILLS fill_unsupported uncertainty",
            "problem": (
                "Problem Rows absolute_loss least_squares with_basis with_penalty with_prior "
                "with_rows"
            ),
            "representative": "choose",
            "solvers": "SOLVERS Solution hlms solve",
        },
    )
