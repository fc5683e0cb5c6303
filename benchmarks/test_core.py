"""Core kernels beside their references, in one run: read the ratios, not the times.

Run with ``make bench``. Groups hold our function and what it is measured against.
"""

from __future__ import annotations

import itertools
from collections import defaultdict

import numpy as np
import pytest

from choquet import (
    Measure,
    OperatorGraph,
    all_walk_weights,
    choquet_integral,
    interaction,
    shapley,
)
from choquet.lattice import mobius, upward_maximum


def numpy_choquet(g, X):
    order = np.argsort(-X, axis=1)
    inputs = np.take_along_axis(X, order, 1)
    inputs[:, :-1] -= inputs[:, 1:]
    return (inputs * g[np.cumsum(1 << order, axis=1)]).sum(1)


def numpy_butterfly(values):
    values = values.copy()
    for i in range(len(values).bit_length() - 1):
        pairs = values.reshape(-1, 2, 1 << i)
        pairs[:, 1] -= pairs[:, 0]
    return values


def itertools_walks(g, n):
    rows = []
    for sort in itertools.permutations(range(n)):
        mask, before, row = 0, 0.0, []
        for i in sort:
            mask |= 1 << i
            row.append(g[mask] - before)
            before = g[mask]
        rows.append(row)
    return np.array(rows)


def plain_subset_construction(g, n):
    labels = np.round(g, 9)
    layer = {(0,): 1}
    for _ in range(n):
        following = defaultdict(int)
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


def tied_measure(n):
    """Running maximum of uniform values: about half of all values repeat one below them."""
    values = np.random.default_rng(0).random(1 << n)
    values[0] = 0
    values = upward_maximum(values)
    return Measure(values / values[-1])


@pytest.fixture(scope="module")
def million():
    return Measure.random(10, rng=0), np.random.default_rng(0).random((1_000_000, 10))


@pytest.mark.benchmark(group="Choquet of 1,000,000 x 10")
class TestChoquet:
    def test_ours(self, benchmark, million):
        g, X = million
        result = benchmark(choquet_integral, g, X)
        np.testing.assert_allclose(result[:1000], numpy_choquet(g.values, X[:1000]))

    def test_numpy_argsort(self, benchmark, million):
        g, X = million
        benchmark(numpy_choquet, g.values, X)

    def test_row_sum(self, benchmark, million):
        benchmark(million[1].sum, axis=1)


@pytest.mark.benchmark(group="transforms at N = 20")
class TestTransforms:
    g = Measure.additive(np.full(20, 0.05))

    def test_mobius(self, benchmark):
        benchmark(mobius, self.g.values)

    def test_numpy_butterfly(self, benchmark):
        benchmark(numpy_butterfly, self.g.values)

    def test_shapley(self, benchmark):
        benchmark(shapley, self.g)

    def test_all_pair_interactions(self, benchmark):
        benchmark(interaction, self.g)


@pytest.mark.benchmark(group="distinct operators at N = 12 (479,001,600 walks)")
class TestOperatorGraph:
    def test_ours(self, benchmark):
        g = tied_measure(12)
        graph = benchmark(OperatorGraph, g)
        assert graph.n_walks == 479_001_600

    def test_plain_python(self, benchmark):
        g = tied_measure(12)
        count = benchmark.pedantic(plain_subset_construction, (g.values, 12), rounds=2)
        assert count == OperatorGraph(g).n_operators


@pytest.mark.benchmark(group="operator graph, larger")
@pytest.mark.parametrize("case", ["N = 16 random", "N = 20 symmetric"])
def test_large_operator_graph(benchmark, case):
    g = Measure.random(16, rng=0) if "16" in case else Measure.symmetric(np.full(20, 0.05))
    benchmark.pedantic(OperatorGraph, (g,), rounds=2)


@pytest.mark.benchmark(group="all 40,320 walks at N = 8")
class TestWalksOfEight:
    def test_ours(self, benchmark):
        benchmark(all_walk_weights, Measure.random(8, rng=0))

    def test_itertools(self, benchmark):
        benchmark.pedantic(itertools_walks, (Measure.random(8, rng=0).values, 8), rounds=3)


@pytest.mark.benchmark(group="all 3,628,800 walks at N = 10")
class TestWalksOfTen:
    def test_ours(self, benchmark):
        benchmark(all_walk_weights, Measure.random(10, rng=0))

    def test_writing_the_array_once(self, benchmark):
        benchmark(np.full, (3_628_800, 10), 1.0)


@pytest.mark.benchmark(group="a uniform random measure at N = 10")
def test_uniform_random_measure(benchmark):
    rng = np.random.default_rng(0)
    benchmark(lambda: Measure.random(10, rng=rng))
