"""Works with cvxpy and Clarabel: the problem as one would write it down."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

__all__ = ["absolute", "learn", "learn_2_additive"]

Task = tuple[Callable[[], Any], Callable[[Any], Any]]


def _design(X: Any) -> Any:
    """Rows of gaps at the sets of their chains: the integral is this times the measure."""
    from scipy.sparse import csr_array

    n_samples, n = X.shape
    order = np.argsort(-X, axis=1)
    gaps = np.take_along_axis(X, order, 1)
    gaps[:, :-1] -= gaps[:, 1:]
    masks = np.cumsum(1 << order, axis=1)
    rows = np.repeat(np.arange(n_samples), n)
    return csr_array((gaps.ravel(), (rows, masks.ravel())), shape=(n_samples, 1 << n))


def _solved(X: Any, g: Any, cost: Callable[[Any], Any]) -> Any:
    import cvxpy as cp

    n = X.shape[1]
    masks = np.arange(1 << n)
    rules = [g[0] == 0, g[-1] == 1]
    for i in range(n):
        low = masks[masks >> i & 1 == 0]
        rules.append(g[low] <= g[low | 1 << i])
    cp.Problem(cp.Minimize(cost(_design(X) @ g)), rules).solve(solver=cp.CLARABEL)
    return g.value


def learn(inputs: dict[str, Any]) -> Task:
    """Monotone normal least squares."""
    import cvxpy as cp

    X, y = inputs["X"], inputs["y"]
    run = lambda: _solved(  # noqa: E731
        X, cp.Variable(1 << X.shape[1]), lambda fitted: cp.sum_squares(fitted - y)
    )
    return run, lambda g: _design(X) @ g


def learn_2_additive(inputs: dict[str, Any]) -> Task:
    """The same with a Möbius representation on single sources and pairs."""
    import cvxpy as cp

    X, y = inputs["X"], inputs["y"]
    n = X.shape[1]
    masks = np.arange(1 << n)

    def run() -> Any:
        sets = [1 << i for i in range(n)]
        sets += [1 << i | 1 << j for i in range(n) for j in range(i + 1, n)]
        basis = (masks[:, None] & np.array(sets) == np.array(sets)).astype(float)
        return _solved(X, basis @ cp.Variable(len(sets)), lambda fitted: cp.sum_squares(fitted - y))

    return run, lambda g: _design(X) @ g


def absolute(inputs: dict[str, Any]) -> Task:
    """Monotone normal measure of least absolute error."""
    import cvxpy as cp

    X, y = inputs["X"], inputs["y"]
    run = lambda: _solved(X, cp.Variable(1 << X.shape[1]), lambda f: cp.norm1(f - y))  # noqa: E731
    return run, lambda g: [np.abs(_design(X) @ g - y).mean()]
