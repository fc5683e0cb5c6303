"""The works as one writes them with NumPy, or in plain Python, without a library."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Callable
from typing import Any

import numpy as np

__all__ = ["choquet", "graph", "mobius", "random", "statistics", "walks"]

Task = tuple[Callable[[], Any], Callable[[Any], Any]]


def choquet(inputs: dict[str, Any]) -> Task:
    """Sort every row."""
    g, X = inputs["g"], inputs["X"]

    def run() -> Any:
        order = np.argsort(-X, axis=1)
        gaps = np.take_along_axis(X, order, 1)
        gaps[:, :-1] -= gaps[:, 1:]
        return (gaps * g[np.cumsum(1 << order, axis=1)]).sum(axis=1)

    return run, np.asarray


def mobius(inputs: dict[str, Any]) -> Task:
    """N passes over two halves."""
    g = inputs["g"]

    def run() -> Any:
        values = g.copy()
        for i in range(len(values).bit_length() - 1):
            pairs = values.reshape(-1, 2, 1 << i)
            pairs[:, 1] -= pairs[:, 0]
        return values

    return run, np.asarray


def walks(inputs: dict[str, Any]) -> Task:
    """A loop over all permutations."""
    g = inputs["g"].tolist()
    n = len(g).bit_length() - 1

    def run() -> Any:
        rows = []
        for sort in itertools.permutations(range(n)):
            mask, before, row = 0, 0.0, []
            for i in sort:
                mask |= 1 << i
                row.append(g[mask] - before)
                before = g[mask]
            rows.append(row)
        return np.array(rows)

    return run, lambda found: np.sort(found, axis=1)


def graph(inputs: dict[str, Any]) -> Task:
    """The subset construction on dicts."""
    labels = np.round(inputs["g"], 9).tolist()
    n = len(labels).bit_length() - 1

    def run() -> int:
        layer: dict[tuple[int, ...], int] = {(0,): 1}
        for _ in range(n):
            following: dict[tuple[int, ...], int] = defaultdict(int)
            for state, count in layer.items():
                groups = defaultdict(set)
                for mask in state:
                    for i in range(n):
                        if not mask >> i & 1:
                            groups[labels[mask | 1 << i]].add(mask | 1 << i)
                for group in groups.values():
                    following[tuple(sorted(group))] += count
            layer = following
        return sum(layer.values())

    return run, lambda count: [count]


def random(inputs: dict[str, Any]) -> Task:
    """Uniform values and a running maximum: what scripts do, and not uniform."""
    n, count = int(inputs["n_sources"]), int(inputs["count"])
    rng = np.random.default_rng(0)

    def run() -> Any:
        drawn = rng.random((count, 1 << n))
        drawn[:, 0], drawn[:, -1] = 0.0, 1.0
        for i in range(n):
            pairs = drawn.reshape(count, -1, 2, 1 << i)
            np.maximum(pairs[:, :, 1], pairs[:, :, 0], out=pairs[:, :, 1])
        return drawn

    return run, np.asarray


def statistics(inputs: dict[str, Any]) -> Task:
    """A loop over rows that adds up products of gaps."""
    X, y, g = inputs["X"], inputs["y"], inputs["g"]

    def run() -> Any:
        gram: dict[tuple[int, int], float] = defaultdict(float)
        targets: dict[int, float] = defaultdict(float)
        for row, target in zip(X.tolist(), y.tolist(), strict=True):
            order = sorted(range(len(row)), key=row.__getitem__, reverse=True)
            chain, mask = [], 0
            for j, source in enumerate(order):
                mask |= 1 << source
                gap = row[source] - (row[order[j + 1]] if j + 1 < len(order) else 0.0)
                chain.append((mask, gap))
                targets[mask] += gap * target
            for i, (a, u) in enumerate(chain):
                for b, v in chain[i:]:
                    gram[a, b] += u * v
        return gram, targets, float(y @ y)

    def answer(found: Any) -> Any:
        gram, targets, total = found
        error = total - 2 * sum(t * g[a] for a, t in targets.items())
        error += sum(v * g[a] * g[b] * (1 if a == b else 2) for (a, b), v in gram.items())
        return [error / len(X)]

    return run, answer
