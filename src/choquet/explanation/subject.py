"""What can be explained: a decomposition, or what can be decomposed."""

from __future__ import annotations

from typing import Any

from choquet.decomposition import Decomposition, decompose

__all__ = ["as_decomposition"]


def as_decomposition(model: Any) -> Decomposition:
    """A decomposition as it is; a measure or a fitted model is decomposed with the defaults.

    Examples
    --------
    >>> from choquet import Measure
    >>> as_decomposition(Measure([0, 0, 0, 1])).operator_names
    ['min']
    """
    return model if isinstance(model, Decomposition) else decompose(model)
