"""Slow, obvious implementations: what the textbook says, for small N."""

from __future__ import annotations

from itertools import permutations
from math import factorial

import numpy as np


def subsets(n: int) -> list[frozenset[int]]:
    return [frozenset(i for i in range(n) if m >> i & 1) for m in range(1 << n)]


def choquet(g: np.ndarray, h: np.ndarray) -> float:
    order = sorted(range(len(h)), key=lambda i: -h[i])
    total, mask, before = 0.0, 0, 0.0
    for i in order:
        mask |= 1 << i
        total += h[i] * (g[mask] - before)
        before = g[mask]
    return total


def sugeno(g: np.ndarray, h: np.ndarray) -> float:
    levels = sorted(set(h))
    return max(min(t, g[sum(1 << i for i in range(len(h)) if h[i] >= t)]) for t in levels)


def shilkret(g: np.ndarray, h: np.ndarray) -> float:
    return max(t * g[sum(1 << i for i in range(len(h)) if h[i] >= t)] for t in set(h))


def walk_operators(g: np.ndarray, n: int) -> dict[tuple[int, ...], tuple[float, ...]]:
    """Algorithm 1 of the paper: the operator of every walk, by enumeration."""
    result = {}
    for sort in permutations(range(n)):
        mask, before, weights = 0, 0.0, []
        for i in sort:
            mask |= 1 << i
            weights.append(g[mask] - before)
            before = g[mask]
        result[sort] = tuple(weights)
    return result


def shapley(g: np.ndarray, n: int) -> np.ndarray:
    total = np.zeros(n)
    for sort, weights in walk_operators(g, n).items():
        for i, w in zip(sort, weights, strict=True):
            total[i] += w
    return total / factorial(n)


def interaction(g: np.ndarray, n: int, pair: tuple[int, ...]) -> float:
    """Grabisch's definition for any coalition: a sum over subsets of the others."""
    inside = sum(1 << i for i in pair)
    others = [i for i in range(n) if i not in pair]
    total = 0.0
    for m in range(1 << len(others)):
        a = sum(1 << o for k, o in enumerate(others) if m >> k & 1)
        size = bin(a).count("1")
        share = factorial(n - size - len(pair)) * factorial(size) / factorial(n - len(pair) + 1)
        inner = 0.0
        for s in range(1 << len(pair)):
            part = sum(1 << p for k, p in enumerate(pair) if s >> k & 1)
            inner += (-1) ** (len(pair) - bin(s).count("1")) * g[a | part]
        total += share * inner
    assert inside >= 0
    return total
