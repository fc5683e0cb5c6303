"""Works with SciPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

__all__ = ["absolute", "ivat", "learn", "mst"]

Task = tuple[Callable[[], Any], Callable[[Any], Any]]


def mst(inputs: dict[str, Any]) -> Task:
    """Single linkage: its merges are the edges of the tree."""
    from scipy.cluster.hierarchy import linkage
    from scipy.spatial.distance import pdist

    points = inputs["points"]
    return lambda: linkage(pdist(points), "single"), lambda found: np.sort(found[:, 2])


def ivat(inputs: dict[str, Any]) -> Task:
    """Cophenetic distances of single linkage, as a matrix."""
    from scipy.cluster.hierarchy import cophenet, linkage
    from scipy.spatial.distance import pdist, squareform

    points = inputs["points"]
    return (
        lambda: squareform(cophenet(linkage(pdist(points), "single"))),
        lambda m: np.sort(m[np.triu_indices(len(m), 1)]),
    )


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


def _steps(n: int) -> Any:
    """Rows g(A with i) - g(A): monotone where none is below zero."""
    from scipy.sparse import csr_array

    masks = np.arange(1 << n)
    pairs = [(a, a | 1 << i) for i in range(n) for a in masks[masks >> i & 1 == 0]]
    low, high = np.array(pairs).T
    rows = np.arange(len(pairs))
    values = np.concatenate([-np.ones(len(pairs)), np.ones(len(pairs))])
    places = (np.concatenate([rows, rows]), np.concatenate([low, high]))
    return csr_array((values, places), shape=(len(pairs), 1 << n))


def _ends(n: int) -> tuple[Any, Any]:
    lower, upper = np.zeros(1 << n), np.ones(1 << n)
    upper[0], lower[-1] = 0.0, 1.0
    return lower, upper


def learn(inputs: dict[str, Any]) -> Task:
    """Monotone normal least squares by sequential quadratic programming."""
    from scipy.optimize import minimize

    X, y = inputs["X"], inputs["y"]
    n = X.shape[1]

    def run() -> Any:
        Z, steps = _design(X), _steps(n).toarray()
        P, q = (Z.T @ Z).toarray() / len(y), Z.T @ y / len(y)
        lower, upper = _ends(n)
        start = np.array([mask.bit_count() for mask in range(1 << n)]) / n
        found = minimize(
            lambda g: (0.5 * g @ P @ g - q @ g, P @ g - q),
            start,
            jac=True,
            method="SLSQP",
            bounds=np.column_stack([lower, upper]),
            constraints={"type": "ineq", "fun": lambda g: steps @ g, "jac": lambda _: steps},
            options={"maxiter": 1000, "ftol": 1e-12},
        )
        return found.x

    return run, lambda g: _design(X) @ g


def absolute(inputs: dict[str, Any]) -> Task:
    """Monotone normal measure of least absolute error: a linear program by HiGHS."""
    from scipy.optimize import linprog
    from scipy.sparse import csr_array, eye_array, hstack, vstack

    X, y = inputs["X"], inputs["y"]
    n, m = X.shape[1], len(y)

    def run() -> Any:
        Z, steps = _design(X), _steps(n)
        # Error is at least fitted - y and y - fitted.
        slack = -eye_array(m, format="csr")
        below = csr_array((steps.shape[0], m))
        A = vstack([hstack([Z, slack]), hstack([-Z, slack]), hstack([-steps, below])])
        b = np.concatenate([y, -y, np.zeros(steps.shape[0])])
        cost = np.concatenate([np.zeros(1 << n), np.ones(m)])
        lower, upper = _ends(n)
        low = np.concatenate([lower, np.zeros(m)])
        high = np.concatenate([upper, np.full(m, np.inf)])
        return linprog(cost, A, b, bounds=np.column_stack([low, high])).x[: 1 << n]

    return run, lambda g: [np.abs(_design(X) @ g - y).mean()]
