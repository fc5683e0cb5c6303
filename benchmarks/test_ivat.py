"""Pictures, CLODD and medoids beside their matrix form, and iVAT under several metrics.

iVAT beside other packages is measured by ``python -m benchmarks.peers``.
"""

import math
from itertools import permutations

import numpy as np
import pytest
from scipy.spatial.distance import pdist, squareform

from choquet.clustering import BlockSums, clodd, clodd_score, ivat, medoids
from choquet.clustering._kernels_clodd import evaluate
from choquet.operators import DISSIMILARITIES


def operators(n_sources):
    """Operators of all walks of a generic measure: as many as there are sorts."""
    rng = np.random.default_rng(0)
    sizes = np.array([mask.bit_count() for mask in range(2**n_sources)])
    g = (sizes + 0.9 * (rng.random(2**n_sources) - 0.5)) / n_sources
    g[0], g[-1] = 0.0, 1.0
    chains = np.cumsum(1 << np.array(list(permutations(range(n_sources)))), axis=1)
    return np.diff(g[chains], axis=1, prepend=0.0)


@pytest.fixture(scope="module", params=[6, 7], ids=lambda n: f"{math.factorial(n)} walks")
def walks(request):
    points = operators(request.param)
    clodd(ivat(points[:30]))  # compile before the clock runs
    return points


@pytest.mark.parametrize("metric", ["rms", "emd", "worst"])
def test_ivat_of_40320_walks(benchmark, metric):
    benchmark.group = "iVAT of 40320 walks"
    walks = operators(8)
    picture = benchmark.pedantic(lambda: ivat(walks, metric=metric), rounds=3, warmup_rounds=1)
    assert picture.n_points == 40320


def test_image(benchmark, walks):
    benchmark.group = f"picture of 500 pixels a side from {len(walks)} walks"
    picture = ivat(walks)
    assert benchmark(picture.image, 500).shape == (500, 500)


CUTS = (0.2, 0.35, 0.6, 0.9)


def test_clodd_evaluation(benchmark, walks):
    benchmark.group = f"CLODD evaluation at {len(walks)} walks"
    tables = BlockSums(ivat(walks).heights).tables
    n = len(walks)
    bounds = np.array([0, *(int(share * n) for share in CUTS), n])
    assert benchmark(evaluate, tables, bounds, 0.5, 0.05 * n)[0] > -1


def test_clodd_evaluation_on_the_matrix(benchmark, walks):
    benchmark.group = f"CLODD evaluation at {len(walks)} walks"
    matrix = ivat(walks).matrix()
    cuts = [int(share * len(walks)) for share in CUTS]
    assert benchmark.pedantic(lambda: clodd_score(matrix, cuts), rounds=3).score > -1


@pytest.mark.parametrize("method", ["path+local", "swarm"])
def test_clodd(benchmark, walks, method):
    benchmark.group = f"CLODD of {len(walks)} walks"
    picture = ivat(walks)
    found = benchmark.pedantic(lambda: clodd(picture, method=method, rng=0), rounds=3)
    assert found.n_clusters >= 1


def test_medoid(benchmark, walks):
    benchmark.group = f"medoid of {len(walks)} walks"
    assert len(benchmark.pedantic(lambda: medoids(walks), rounds=3)) == 1


def test_medoid_by_the_matrix(benchmark, walks):
    benchmark.group = f"medoid of {len(walks)} walks"
    vectors = DISSIMILARITIES["rms"].embed(walks)
    best = benchmark.pedantic(lambda: squareform(pdist(vectors)).sum(axis=1).argmin(), rounds=3)
    assert best == medoids(walks)[0]
