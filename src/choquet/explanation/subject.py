"""What can be explained: a decomposition, or what can be decomposed."""

from __future__ import annotations

from typing import Any

from choquet.certainty.identify import Identification
from choquet.contexts import RuleList
from choquet.decomposition import ClusterDecomposition, decompose
from choquet.errors import OptionError, SolverError
from choquet.learning.scaled import ScaledModel

__all__ = ["NO_RULES", "as_decomposition", "identification_of", "rules_of"]

_MAX_RULED = 32
"""Operators up to which rules are looked for: beyond, nobody would read them, nor wait for them."""

_IDENTIFIED = 30
"""Supported subsets up to which near-optimal intervals are looked for unasked."""

NO_RULES = f"More than {_MAX_RULED} operators are too many for rules; decompose into fewer."
"""What is said in place of rules."""


def rules_of(decomposition: ClusterDecomposition) -> RuleList | None:
    """The rules, or None if there are too many operators to have any worth reading.

    Examples
    --------
    >>> from choquet import Measure, decompose
    >>> rules_of(decompose(Measure.random(5, rng=0), method="distinct")) is None
    True
    """
    return decomposition.rules if decomposition.n_operators <= _MAX_RULED else None


def as_decomposition(model: Any) -> ClusterDecomposition:
    """A decomposition as it is; a measure or a fitted model is decomposed with the defaults.

    Examples
    --------
    >>> from choquet import Measure
    >>> as_decomposition(Measure([0, 0, 0, 1])).operator_names
    ['min']
    """
    inner = model.model if isinstance(model, ScaledModel) else model
    if isinstance(inner, ClusterDecomposition):
        return inner
    return decompose(model, identification=identification_of(model))


def identification_of(model: Any) -> Identification | None:
    """What the data of a fitted model determine, where that is quickly found.

    Two cone programs for each supported subset are a matter of a second up to 30 of them. Beyond,
    pass ``decompose(model, identification=model.identify())``.

    Examples
    --------
    >>> from choquet import Measure
    >>> identification_of(Measure([0, 0, 0, 1])) is None
    True
    """
    inner = model.model if isinstance(model, ScaledModel) else model
    support = getattr(inner, "support_", None)
    if not hasattr(inner, "identify") or support is None or support.n_supported > _IDENTIFIED:
        return None
    try:
        found: Identification = inner.identify()
    except (OptionError, SolverError):
        return None  # absolute loss and families have no such intervals
    return found
