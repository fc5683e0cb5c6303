"""Core kernels beside the least that the machine can do: summing rows, writing an array once.

What they are beside other packages is measured by ``python -m benchmarks.peers``;
``make bench`` runs both.
"""

from __future__ import annotations

import numpy as np
import pytest

from choquet import Measure, OperatorGraph, all_walk_weights, choquet_integral


@pytest.fixture(scope="module")
def million():
    return Measure.random(10, rng=0), np.random.default_rng(0).random((1_000_000, 10))


@pytest.mark.benchmark(group="Choquet of 1,000,000 x 10")
class TestChoquet:
    def test_ours(self, benchmark, million):
        benchmark(choquet_integral, *million)

    def test_row_sum(self, benchmark, million):
        benchmark(million[1].sum, axis=1)


@pytest.mark.benchmark(group="operator graph, symmetric, N = 20")
def test_symmetric_operator_graph(benchmark):
    benchmark.pedantic(OperatorGraph, (Measure.symmetric(np.full(20, 0.05)),), rounds=2)


@pytest.mark.benchmark(group="all 3,628,800 walks at N = 10")
class TestWalksOfTen:
    def test_ours(self, benchmark):
        benchmark(all_walk_weights, Measure.random(10, rng=0))

    def test_writing_the_array_once(self, benchmark):
        benchmark(np.full, (3_628_800, 10), 1.0)
