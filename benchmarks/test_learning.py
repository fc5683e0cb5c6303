"""Solvers of the learning room beside each other: ratios within one run.

Other packages, and curves over N and M, are measured by ``python -m benchmarks.peers``.

Run ``pytest benchmarks/test_learning.py --benchmark-only -s``; set CHOQUET_BENCH=full for the
largest sizes. Nothing here asserts a time: a slow machine is not a bug.
"""

from __future__ import annotations

import os
import resource
import time

import numpy as np
import pytest

from choquet.certainty import identify
from choquet.lattice.wide import membership
from choquet.learning import Statistics, least_squares, solve
from choquet.learning.data.statistics import chains
from choquet.learning.solvers.supported import violated_containments

FULL = os.environ.get("CHOQUET_BENCH") == "full"


def make(n_sources, n_samples, sigma=0.05, seed=1):
    """Samples of a distorted probability, which has a value on every subset of any N."""
    rng = np.random.default_rng(seed)
    weights = rng.dirichlet(np.ones(n_sources))
    X = rng.random((n_samples, n_sources))
    words, gaps = chains(X)
    inside = membership(words.reshape(-1, words.shape[2]), n_sources)
    values = ((inside @ weights) ** 2).reshape(gaps.shape)
    return X, (gaps * values).sum(axis=1) + sigma * rng.standard_normal(n_samples)


def once(function):
    start = time.perf_counter()
    result = function()
    return time.perf_counter() - start, result


@pytest.mark.benchmark(group="lattice")
@pytest.mark.parametrize(("n_sources", "n_samples"), [(10, 3000), (12, 1000)])
def test_lattice_against_interior_point(benchmark, n_sources, n_samples):
    if n_sources > 10 and not FULL:
        pytest.skip("the interior point takes 20 s here: set CHOQUET_BENCH=full")
    problem = least_squares(Statistics.from_data(*make(n_sources, n_samples)))
    solve(least_squares(Statistics.from_data(*make(4, 50))), solver="admm")
    best = benchmark.pedantic(lambda: solve(problem), rounds=3)
    slow, reference = once(lambda: solve(problem, solver="interior"))
    ratio = slow / benchmark.stats["min"]
    benchmark.extra_info["times_faster"] = ratio
    benchmark.extra_info["relative_excess"] = best.objective / reference.objective - 1
    benchmark.extra_info["relative_gap"] = best.gap / best.objective
    print(
        f"\nN={n_sources} M={n_samples}: {best.solver} {ratio:.1f} times faster than one interior "
        f"point, objective {best.objective / reference.objective - 1:+.1e} of the error "
        f"({(best.objective - reference.objective) / problem.constant:+.1e} of y'y), proved gap "
        f"{best.gap / best.objective:.1e} of the error"
    )


@pytest.mark.benchmark(group="lattice")
def test_sixteen_sources(benchmark):
    if not FULL:
        pytest.skip("takes a minute: set CHOQUET_BENCH=full")
    small = least_squares(Statistics.from_data(*make(12, 1000)))
    large = least_squares(Statistics.from_data(*make(16, 2000)))
    unit, _ = once(lambda: solve(small, solver="admm"))
    found = benchmark.pedantic(lambda: solve(large), rounds=1)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    ratio = benchmark.stats["min"] / unit
    benchmark.extra_info.update(times_twelve_sources=ratio, peak_gib=memory)
    benchmark.extra_info["relative_gap"] = found.gap / found.objective
    print(
        f"\nN=16 M=2000: {ratio:.0f} times N=12, peak {memory:.2f} GiB, proved gap "
        f"{found.gap / found.objective:.1e} of the error"
    )


@pytest.mark.benchmark(group="supported")
@pytest.mark.parametrize(("n_sources", "n_samples"), [(20, 5000 if FULL else 100), (50, 300)])
def test_supported_only(benchmark, n_sources, n_samples):
    problem = least_squares(Statistics.from_data(*make(n_sources, n_samples)), dense=False)
    found = benchmark.pedantic(lambda: solve(problem), rounds=1)
    violated = violated_containments(problem, found.values, 0.0)[1]
    benchmark.extra_info.update(n_values=problem.n_values, violated=violated)
    print(
        f"\nN={n_sources} M={n_samples}: {problem.n_values} values, {found.message}, "
        f"{violated} violated after the closure"
    )


@pytest.mark.benchmark(group="identify")
@pytest.mark.parametrize("n_sources", [6, 7] + ([8] if FULL else []))
def test_near_optimal_intervals(benchmark, n_sources):
    problem = least_squares(Statistics.from_data(*make(n_sources, 100 * n_sources)))
    solution = solve(problem)
    found = benchmark.pedantic(lambda: identify(problem, solution), rounds=1)
    each = 1000 * benchmark.stats["min"] / len(found.masks)
    benchmark.extra_info["milliseconds_each"] = each
    print(f"\nN={n_sources}: {len(found.masks)} intervals, {each:.0f} ms each")
