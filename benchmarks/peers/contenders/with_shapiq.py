"""Works with shapiq's exact computer (Python, NumPy)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

__all__ = ["interaction", "mobius", "shapley"]

Task = tuple[Callable[[], Any], Callable[[Any], Any]]


def _computer(inputs: dict[str, Any]) -> tuple[Callable[[], Any], int]:
    from shapiq.game_theory.exact import ExactComputer

    g = inputs["g"]
    n = len(g).bit_length() - 1
    bits = 1 << np.arange(n)
    # A new one for every run: it keeps what it has computed.
    return lambda: ExactComputer(lambda sets: g[sets.astype(np.int64) @ bits], n_players=n), n


def mobius(inputs: dict[str, Any]) -> Task:
    """Möbius transform."""
    computer, n = _computer(inputs)
    sets = [tuple(i for i in range(n) if mask >> i & 1) for mask in range(1 << n)]
    return (
        lambda: computer().moebius_transform,
        lambda found: np.array([found[s] if s else 0.0 for s in sets]),
    )


def shapley(inputs: dict[str, Any]) -> Task:
    """Shapley values."""
    computer, n = _computer(inputs)
    return lambda: computer()("SV", 1), lambda found: np.array([found[(i,)] for i in range(n)])


def interaction(inputs: dict[str, Any]) -> Task:
    """Shapley interaction of all pairs."""
    computer, n = _computer(inputs)
    pairs = [(i, j) for i in range(n) for j in range(i + 1, n)]
    return lambda: computer()("SII", 2), lambda found: np.array([found[p] for p in pairs])
