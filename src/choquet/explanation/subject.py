"""What can be explained: a decomposition, or what can be decomposed."""

from __future__ import annotations

from typing import Any

from choquet.decomposition import Decomposition, RuleList, decompose

__all__ = ["NO_RULES", "as_decomposition", "rules_of"]

_MAX_RULED = 12
"""Operators up to which rules are looked for: beyond, nobody would read them, nor wait for them."""

NO_RULES = f"More than {_MAX_RULED} operators are too many for rules; decompose into fewer."
"""What is said in place of rules."""


def rules_of(decomposition: Decomposition) -> RuleList | None:
    """The rules, or None if there are too many operators to have any worth reading.

    Examples
    --------
    >>> from choquet import Measure, decompose
    >>> rules_of(decompose(Measure.random(5, rng=0), method="distinct")) is None
    True
    """
    return decomposition.rules if decomposition.n_operators <= _MAX_RULED else None


def as_decomposition(model: Any) -> Decomposition:
    """A decomposition as it is; a measure or a fitted model is decomposed with the defaults.

    Examples
    --------
    >>> from choquet import Measure
    >>> as_decomposition(Measure([0, 0, 0, 1])).operator_names
    ['min']
    """
    return model if isinstance(model, Decomposition) else decompose(model)
