"""Families of measures: one row says all that learning, averaging and storing need of a family.

To add a family, add a row to `FAMILIES` and a test of it.
"""

from __future__ import annotations

from collections.abc import Callable
from math import comb
from typing import Any, NamedTuple

from choquet.arrays import FloatArray
from choquet.lattice.wide import WordArray
from choquet.learning.data.statistics import Statistics
from choquet.learning.families import chains
from choquet.learning.families.bases import additive_basis, k_additive_basis, symmetric_basis
from choquet.learning.families.fits import (
    fit_lambda,
    fit_pairs,
    fit_weights,
    pairs_of,
)
from choquet.measures import AbstractMeasure, FormulaMeasure, MobiusMeasure
from choquet.measures.formula import FormulaName, members_of, ranks_of
from choquet.measures.mobius import coalitions

__all__ = ["BASES", "FAMILIES", "PRIORS", "Family", "Odds"]


class Odds(NamedTuple):
    """Log-odds of a family before the data; see `choquet.certainty.posterior.posterior_weights`.

    They are chosen by trial: ``python benchmarks/family_odds.py`` finds them again.
    """

    usual: float
    """For 8 sources and an information of 10,000."""
    doubling: float
    """More for twice as many sources."""
    tenfold: float
    """More for ten times the information."""


class Family(NamedTuple):
    """One row of the table of families that a measure may belong to, or shrink towards."""

    meaning: str
    n_parameters: Callable[[int], int]
    """Free numbers, by the number of sources."""
    pattern: Callable[[WordArray, int], Any] | None
    """Columns whose weighted sum gives the value of a subset; None if the family is not linear."""
    basis: Callable[[int], Any] | None
    """Matrix from free numbers to all 2**N values, to shrink towards or to restrict to."""
    fit: Callable[[Statistics], AbstractMeasure] | None
    """The monotone normal member of least squared error; None for all measures."""
    wide: bool
    """Whether that fit is offered beyond 16 sources."""
    chain: chains.Chain
    """Mean over the family, each member with its probability given the data."""
    odds: Odds


def _weights(name: FormulaName, pattern: Callable[[WordArray, int], FloatArray]) -> Any:
    def fit(statistics: Statistics) -> FormulaMeasure:
        seen = pattern(statistics.masks, statistics.n_sources)
        return FormulaMeasure(name, fit_weights(statistics, seen))

    return fit


def _pairs(statistics: Statistics) -> MobiusMeasure:
    n = statistics.n_sources
    names = [f"x{i + 1}" for i in range(n)]
    # Monotone and normal as near as the solver proved it; whoever needs more closes the values.
    return MobiusMeasure(
        coalitions(n, min(n, 2)), fit_pairs(statistics), names, monotone=False, normal=False
    )


FAMILIES: dict[str, Family] = {
    "none": Family(
        meaning="any monotone measure",
        n_parameters=lambda n: (1 << n) - 2,
        pattern=None,
        basis=None,
        fit=None,
        wide=True,
        chain=chains.lattice,
        odds=Odds(usual=1.0, doubling=2.5, tenfold=-1.5),
    ),
    "additive": Family(
        meaning="weighted arithmetic mean",
        n_parameters=lambda n: n,
        pattern=members_of,
        basis=additive_basis,
        fit=_weights("additive", members_of),
        wide=True,
        chain=chains.simplex(members_of),
        odds=Odds(usual=3.0, doubling=3.0, tenfold=0.0),
    ),
    "symmetric": Family(
        meaning="ordered weighted average (OWA)",
        n_parameters=lambda n: n,
        pattern=ranks_of,
        basis=symmetric_basis,
        fit=_weights("symmetric", ranks_of),
        wide=True,
        chain=chains.simplex(ranks_of),
        odds=Odds(usual=5.0, doubling=1.5, tenfold=0.5),
    ),
    "2-additive": Family(
        meaning="sources with pairwise interactions",
        n_parameters=lambda n: n + comb(n, 2),
        pattern=pairs_of,
        basis=lambda n: k_additive_basis(n, min(2, n)),
        fit=_pairs,
        wide=False,
        chain=chains.simplex(pairs_of, with_pairs=True),
        odds=Odds(usual=0.0, doubling=0.0, tenfold=0.0),
    ),
    "lambda": Family(
        meaning="Sugeno λ-measure: shares of the sources, bent by one number",
        n_parameters=lambda n: n,
        pattern=None,
        basis=None,
        fit=fit_lambda,
        wide=True,
        chain=chains.curve,
        odds=Odds(usual=4.5, doubling=2.5, tenfold=0.0),
    ),
}
"""Families by name."""

PRIORS = tuple(name for name, family in FAMILIES.items() if family.fit is not None)
"""What `ChoquetRegressorCV` may choose from, or shrink towards."""
BASES = tuple(name for name, family in FAMILIES.items() if family.basis is not None)
"""What `ChoquetRegressor` may shrink towards, together with the fit."""
