"""A whole decomposition of a measure with many equal values, with what it found.

Time and memory against the number of walks are measured by ``python -m benchmarks.peers``.

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
def test_decompose(benchmark):
    d = benchmark.pedantic(decompose, (tied_measure(10),), rounds=1)
    benchmark.extra_info["walks"] = int(d.sample.counts.sum())
    benchmark.extra_info["distinct operators"] = len(d.sample.weights)
    benchmark.extra_info["peak MB"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    benchmark.extra_info["operators found"] = d.n_operators
