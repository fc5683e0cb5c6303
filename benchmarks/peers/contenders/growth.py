"""Tasks of this package by their size: they make their own inputs, which is not timed."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from math import factorial
from time import perf_counter
from typing import Any

import numpy as np

from benchmarks.peers.contenders.kernels import call_solvers, call_trees, compile_at_once

__all__ = [
    "additive", "averaged", "clodd", "contextual", "decide", "decompose", "graph_of_random",
    "graph_of_tied", "integral", "interaction", "intervals", "ivat", "learning", "mobius",
    "shapley", "statistics",
]  # fmt: skip

beforehand = compile_at_once

Task = tuple[Callable[[], Any], None]


def _generic(n: int) -> Any:
    """A measure without equal values."""
    from choquet import Measure
    from choquet.lattice import subset_sizes

    noise = np.random.default_rng(0).random(1 << n) - 0.5
    values = (subset_sizes(n) + 0.9 * noise) / n
    values[0], values[-1] = 0.0, 1.0
    return Measure(values)


def _rows(n_sources: int, n_samples: int) -> tuple[Any, Any]:
    """Rows, and the integrals of a distorted probability with noise."""
    from choquet import Measure, choquet_integral
    from choquet.lattice import zeta

    rng = np.random.default_rng(1)
    weights = np.zeros(1 << n_sources)
    weights[1 << np.arange(n_sources)] = rng.dirichlet(np.ones(n_sources))
    values = np.minimum(zeta(weights), 1.0) ** 2
    values[-1] = 1.0
    X = rng.random((n_samples, n_sources))
    return X, choquet_integral(Measure(values), X) + 0.05 * rng.standard_normal(n_samples)


def _silent(run: Callable[[], Any]) -> Task:
    def quiet() -> None:
        run()

    return quiet, None


def integral(size: dict[str, int]) -> Task:
    """Choquet integral."""
    from choquet import choquet_integral

    g = _generic(size["n_sources"])
    X = np.random.default_rng(0).random((size["n_samples"], size["n_sources"]))
    return _silent(lambda: choquet_integral(g, X))


def mobius(size: dict[str, int]) -> Task:
    """Möbius transform."""
    from choquet.lattice import mobius as transform

    values = _generic(size["n_sources"]).values
    return _silent(lambda: transform(values))


def shapley(size: dict[str, int]) -> Task:
    """Shapley values."""
    from choquet import shapley as values

    g = _generic(size["n_sources"])
    return _silent(lambda: values(g))


def interaction(size: dict[str, int]) -> Task:
    """Interaction of all pairs."""
    from choquet import interaction as values

    g = _generic(size["n_sources"])
    return _silent(lambda: values(g))


def graph_of_random(size: dict[str, int]) -> Task:
    """Operator graph of a measure without equal values: N! distinct operators."""
    from choquet import OperatorGraph

    g = _generic(size["n_sources"])
    return _silent(lambda: OperatorGraph(g))


def graph_of_tied(size: dict[str, int]) -> Task:
    """Operator graph of a measure half of whose values repeat one below them."""
    from choquet import Measure, OperatorGraph
    from choquet.lattice import upward_maximum

    values = np.random.default_rng(0).random(1 << size["n_sources"])
    values[0] = 0
    values = upward_maximum(values)
    g = Measure(values / values[-1])
    return _silent(lambda: OperatorGraph(g))


def statistics(size: dict[str, int]) -> Task:
    """Sufficient statistics of least squares."""
    from choquet.learning import Statistics

    X, y = _rows(size["n_sources"], size["n_samples"])
    return _silent(lambda: Statistics.from_data(X, y))


def learning(size: dict[str, int]) -> Task:
    """Monotone least squares from rows to a measure, as the regressor does it."""
    from choquet.learning import Statistics, least_squares, solve
    from choquet.learning.problem import MAX_LATTICE_SOURCES

    n_sources = size["n_sources"]
    X, y = _rows(n_sources, size["n_samples"])
    call_solvers()

    def run() -> dict[str, Any]:
        start = perf_counter()
        gathered = Statistics.from_data(X, y)
        middle = perf_counter()
        problem = least_squares(gathered, dense=n_sources <= MAX_LATTICE_SOURCES)
        found = solve(problem)
        return {
            "statistics": middle - start,
            "solve": perf_counter() - middle,
            "solver": found.solver,
            "status": found.status,
            "unknowns": problem.n_values,
        }

    return run, None


def _operators(n_walks: int) -> Any:
    """Operators of all walks of a measure without equal values."""
    from choquet import all_walk_weights

    return all_walk_weights(_generic(_sources_of(n_walks)))


def _sources_of(n_walks: int) -> int:
    n = 1
    while factorial(n) < n_walks:
        n += 1
    return n


def ivat(size: dict[str, int]) -> Task:
    """Order and heights of the iVAT picture of operators."""
    from choquet import ivat as picture

    points = _operators(size["n_walks"])
    call_trees(len(points))
    return _silent(lambda: picture(points))


def clodd(size: dict[str, int]) -> Task:
    """Clusters of a picture that is there."""
    from choquet import clodd as cluster
    from choquet import ivat as picture

    found = picture(_operators(size["n_walks"]))
    return _silent(lambda: cluster(found))


def decompose(size: dict[str, int]) -> Task:
    """From a measure to its operators and their rules, all walks distinct."""
    from choquet import decompose as take_apart

    g = _generic(_sources_of(size["n_walks"]))
    call_trees(size["n_walks"])
    return _silent(lambda: take_apart(g))


def additive(size: dict[str, int]) -> Task:
    """Fit of an additive model: utilities, pairs, strengths."""
    from choquet import estimators

    X, y = _rows(size["n_sources"], size["n_samples"])
    model: Any = estimators.ChoquetAdditiveRegressor
    return _silent(lambda: model().fit(X, y))


def averaged(size: dict[str, int]) -> Task:
    """Fit of an average over families of measures."""
    from choquet import estimators

    X, y = _rows(size["n_sources"], size["n_samples"])
    model: Any = estimators.ChoquetRegressorCV
    return _silent(lambda: model().fit(X, y))


def contextual(size: dict[str, int]) -> Task:
    """Fit of contexts with an operator in each."""
    from choquet import estimators

    X, y = _rows(size["n_sources"], size["n_samples"])
    model: Any = estimators.ContextualRegressor
    return _silent(lambda: model().fit(X, y))


def intervals(size: dict[str, int]) -> Task:
    """Confidence intervals of 200 outputs of a measure that was learned from the rows."""
    from choquet import estimators

    X, y = _rows(size["n_sources"], size["n_samples"])
    learner: Any = estimators.ChoquetRegressor
    model = learner().fit(X, y)
    rows = np.random.default_rng(2).random((200, size["n_sources"]))
    return _silent(lambda: model.predict_interval(rows))


def decide(size: dict[str, int]) -> Task:
    """Ranks of 12 alternatives from one statement for each criterion but one."""
    import pandas as pd

    from choquet import Decision

    n = size["n_sources"]
    names = [f"c{k}" for k in range(n)]
    table = pd.DataFrame(np.random.default_rng(3).random((12, n)).round(3), columns=names)
    table.index = [f"a{k}" for k in range(len(table))]
    said = [f"{a} matters more than {b}" for a, b in pairwise(names)]
    return _silent(lambda: Decision(table, scales=(0.0, 1.0)).say(*said).solve().necessary)
