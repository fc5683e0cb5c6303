"""Every work with this package."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.peers.contenders.held_out import error_held_out, fitted, wrong_held_out
from benchmarks.peers.contenders.kernels import call_solvers, call_trees, compile_at_once

__all__ = [
    "absolute", "choquet", "fit_classes", "fit_table", "graph", "interaction", "ivat", "learn",
    "learn_2_additive", "mobius", "mst", "random", "shapley", "statistics", "vat", "walks",
]  # fmt: skip

beforehand = compile_at_once

Task = tuple[Callable[[], Any], Callable[[Any], Any]]


def choquet(inputs: dict[str, Any]) -> Task:
    """Choquet integral of every row."""
    from choquet import Measure, choquet_integral

    g, X = Measure(inputs["g"]), inputs["X"]
    return lambda: choquet_integral(g, X), np.asarray


def mobius(inputs: dict[str, Any]) -> Task:
    """Möbius transform."""
    from choquet.lattice import mobius as transform

    return lambda: transform(inputs["g"]), np.asarray


def shapley(inputs: dict[str, Any]) -> Task:
    """Shapley values."""
    from choquet import Measure
    from choquet import shapley as values

    g = Measure(inputs["g"])
    return lambda: values(g), np.asarray


def interaction(inputs: dict[str, Any]) -> Task:
    """Shapley interaction of all pairs."""
    from choquet import Measure
    from choquet import interaction as values

    g = Measure(inputs["g"])
    return lambda: values(g), lambda found: found[np.triu_indices(len(found), 1)]


def walks(inputs: dict[str, Any]) -> Task:
    """The operators of all walks; compared by sorted weights, as not all put them by rank."""
    from choquet import Measure, all_walk_weights

    g = Measure(inputs["g"])
    return lambda: all_walk_weights(g), lambda rows: np.sort(rows, axis=1)


def graph(inputs: dict[str, Any]) -> Task:
    """Number of distinct operators."""
    from choquet import Measure, OperatorGraph

    g = Measure(inputs["g"])
    return lambda: OperatorGraph(g), lambda found: [found.n_operators]


def random(inputs: dict[str, Any]) -> Task:
    """Random measures, one after the other."""
    from choquet import Measure

    n, count = int(inputs["n_sources"]), int(inputs["count"])
    rng = np.random.default_rng(0)
    draw = lambda: np.array([Measure.random(n, rng=rng).values for _ in range(count)])  # noqa: E731
    return draw, np.asarray


def statistics(inputs: dict[str, Any]) -> Task:
    """Sufficient statistics of least squares; compared by the squared error of a measure."""
    from choquet.learning import Statistics

    X, y, g = inputs["X"], inputs["y"], inputs["g"]
    return lambda: Statistics.from_data(X, y), lambda found: [found.squared_error(g) / len(X)]


def learn(inputs: dict[str, Any]) -> Task:
    """Monotone normal least squares, from rows to a measure."""
    from choquet.learning import Statistics, least_squares, solve

    X, y = inputs["X"], inputs["y"]
    call_solvers()
    return lambda: solve(least_squares(Statistics.from_data(X, y))).values, _fitted(X)


def learn_2_additive(inputs: dict[str, Any]) -> Task:
    """The same over 2-additive measures."""
    from choquet.learning import (
        Statistics,
        k_additive_basis,
        least_squares,
        solve,
        with_basis,
    )

    X, y = inputs["X"], inputs["y"]

    def run() -> Any:
        problem = least_squares(Statistics.from_data(X, y))
        return solve(with_basis(problem, k_additive_basis(X.shape[1], 2))).values

    return run, _fitted(X)


def absolute(inputs: dict[str, Any]) -> Task:
    """Monotone normal measure of least absolute error; compared by that error."""
    from choquet.learning import absolute_loss, solve

    X, y = inputs["X"], inputs["y"]
    fitted = _fitted(X)
    return lambda: solve(absolute_loss(X, y)).values, lambda g: [np.abs(fitted(g) - y).mean()]


def _fitted(X: Any) -> Callable[[Any], Any]:
    from choquet import Measure, choquet_integral

    return lambda g: choquet_integral(Measure(g), X)


def vat(inputs: dict[str, Any]) -> Task:
    """The reordered matrix of dissimilarities; compared by how near each row is to those before."""
    from choquet import vat as order

    points = inputs["points"]
    run = lambda: order(points, metric="l2").matrix()  # noqa: E731
    return run, lambda m: np.sort([m[i, :i].min() for i in range(1, len(m))])


def ivat(inputs: dict[str, Any]) -> Task:
    """The whole iVAT matrix; compared by its sorted entries, since ends may be exchanged."""
    from choquet import ivat as picture

    points = inputs["points"]
    run = lambda: picture(points, metric="l2").matrix()  # noqa: E731
    return run, lambda m: np.sort(m[np.triu_indices(len(m), 1)])


def mst(inputs: dict[str, Any]) -> Task:
    """Euclidean minimum spanning tree, here with the order of iVAT; compared by its lengths."""
    from choquet import ivat as picture

    points = inputs["points"]
    call_trees(len(points))
    return lambda: picture(points, metric="l2"), lambda found: np.sort(found.heights[1:])


def fit_table(inputs: dict[str, Any]) -> Task:
    """Additive model: utilities, pairs, strengths."""
    from choquet import estimators

    learner: Any = estimators.ChoquetAdditiveRegressor
    X, y = inputs["X"], inputs["y"]
    return lambda: fitted(learner(), X, y), lambda model: error_held_out(model, inputs)


def fit_classes(inputs: dict[str, Any]) -> Task:
    """Additive model of log-odds."""
    from choquet import estimators

    learner: Any = estimators.ChoquetAdditiveClassifier
    X, y = inputs["X"], inputs["y"] > inputs["middle"]
    return lambda: fitted(learner(), X, y), lambda model: wrong_held_out(model, inputs)
