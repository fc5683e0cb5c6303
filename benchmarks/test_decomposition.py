"""Whole decompositions: time and memory of the way from a measure to its operators.

Run with ``make bench``; the extra info holds the peak memory of the process so far.
"""

from __future__ import annotations

import resource

import numpy as np
import pytest

from choquet import Measure, decompose
from choquet.lattice import upward_maximum


def tied_measure(n):
    """Running maximum of uniform values: about half of all values repeat one below them."""
    values = np.random.default_rng(0).random(1 << n)
    values[0] = 0
    values = upward_maximum(values)
    return Measure(values / values[-1])


@pytest.mark.benchmark(group="decompose, all walks")
@pytest.mark.parametrize(("name", "n"), [("random", 7), ("random", 8), ("random", 9), ("tied", 10)])
def test_decompose(benchmark, name, n):
    measure = Measure.random(n, rng=0) if name == "random" else tied_measure(n)
    d = benchmark.pedantic(decompose, (measure,), rounds=1)
    benchmark.extra_info["walks"] = int(d.sample.counts.sum())
    benchmark.extra_info["distinct operators"] = len(d.sample.weights)
    benchmark.extra_info["peak MB"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    benchmark.extra_info["operators found"] = d.n_operators
