"""Works with tucoopy (Python)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

__all__ = ["mobius", "shapley"]

Task = tuple[Callable[[], Any], Callable[[Any], Any]]


def mobius(inputs: dict[str, Any]) -> Task:
    """Möbius transform."""
    from tucoopy.transforms import mobius_transform

    values = inputs["g"].tolist()
    n = len(values).bit_length() - 1
    return lambda: mobius_transform(values, n_players=n), np.asarray


def shapley(inputs: dict[str, Any]) -> Task:
    """Shapley values by its faster function."""
    from tucoopy import Game
    from tucoopy.solutions.shapley import shapley_value_fast

    values = inputs["g"].tolist()
    game = Game(len(values).bit_length() - 1, dict(enumerate(values)))
    return lambda: shapley_value_fast(game), np.asarray
