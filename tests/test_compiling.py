"""Loops give the same answer to the bit whether they are plain or compiled."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib import import_module

import numpy as np
import pytest

from choquet.lattice.compiling import PLAIN, Loop, compiled, compiled_with

N = 5


def values(rng, n=N):
    """Values of a measure on n sources."""
    import choquet

    return choquet.Measure.random(n, rng=rng).values.copy()


def sorts(rng, rows=40, n=N):
    return np.argsort(rng.random((rows, n)), axis=1)


def rank_rows(rng, rows=60, width=7):
    Z = rng.random((rows, width))
    Z[:, -2] = 1.0
    ranks = np.argsort(rng.random((rows, N)), axis=1).astype(np.int16)
    return Z, rng.random(rows), ranks, rng.permutation(rows)[: rows // 2]


def packed_rows(rng, leaves=9, width=7):
    rows = rng.random((leaves, 30, width))
    rows[3, :, 1] = rows[3, :, 0]  # a pivot that is lost
    first, second = np.triu_indices(width)
    return np.einsum("lri,lrj->lij", rows, rows)[:, first, second]


def words(rng, count=20, n=8):
    masks = np.unique(rng.integers(1, 1 << n, count)).astype(np.uint64)
    return masks[:, None], np.sort(rng.random(len(masks)))


def lattice(rng, name):
    g, X = values(rng), rng.random((300, N))
    X[::7, 1] = X[::7, 3]
    if name == "integrate":
        return [(g, X, kind, np.empty(300)) for kind in range(3)] + [
            (g, np.where(X > 0.99, np.inf, X), 1, np.zeros(300))
        ]
    if name == "walk_weights":
        return [(g, sorts(rng), np.empty((40, N)))]
    prefixes = np.array([[i, j] for i in range(N) for j in range(N) if i != j])
    return [(g, prefixes, 6, np.empty((120, N)))]


def measures(rng, name):
    masks, held = words(rng)
    if name == "gibbs_sweeps":
        return [(values(rng, n), n, 7, np.uint64(2**63 + 5)) for n in (2, 3, 4, 7)]
    if name == "fill_in_order":
        return [(1 + rng.permutation(30), rng.random(30), N)]
    if name == "containment_bounds":
        asked = words(rng)[0]
        return [(masks, held, asked, np.zeros(len(asked)), np.ones(len(asked)))]
    if name == "containment_witness":
        return [(masks, held), (masks, held[::-1].copy())]
    inside = (masks >> np.arange(8, dtype=np.uint64) & np.uint64(1)).astype(bool)
    ends = np.zeros((40, 8)), np.ones((40, 8))
    return [(inside, held, sorts(rng, n=8), 1.0, *ends)]


def contexts(rng, name):
    Z, weight, ranks, rows = rank_rows(rng)
    packed = np.zeros(28)
    if name in ("fit_free", "fit_convex"):
        given = packed_rows(rng)
        centres = rng.dirichlet(np.ones(5), len(given))
        return [(given, l2, centres, np.empty((len(given), 6))) for l2 in (0.0, 3.0)]
    if name == "soften":
        return [(packed_rows(rng)[0], 0.1, 1.0, np.full(5, 0.2), np.zeros(6), 50)]
    if name == "node_statistics":
        return [(Z, weight, rows, packed)]
    if name == "sort_by_rank":
        return [(ranks, rows, 2, np.zeros(N + 1, np.int64), np.empty_like(rows))]
    if name == "rank_statistics":
        return [(Z, weight, weight, ranks, rows, 1, np.zeros((N, 28)), np.zeros(N))]
    if name == "above_statistics":
        pairs = np.array([[0, 1], [2, 4], [3, 0]])
        return [(Z, weight, weight, ranks, rows, pairs, np.zeros((3, 28)), np.zeros(3))]
    if name == "rank_scores":
        return [(Z, weight - 0.5, weight, ranks, rows, np.zeros((N, N, 6)), np.zeros((N, N)))]
    pairs = np.array([[0, 1], [2, 4], [3, 0]])
    return [(Z, weight - 0.5, weight, ranks, rows, pairs, np.zeros((3, 6)), np.zeros(3))]


def learning(rng, name):
    masks, held = words(rng)
    sizes = np.bitwise_count(masks[:, 0]).astype(np.int64)
    order = np.argsort(sizes, kind="stable")
    X, y = rng.random((50, N)), rng.random(50)
    if name == "accumulate":
        tables = np.zeros((3**N, 2)), np.zeros((32, 2)), np.zeros((32, 2)), np.zeros((3, 2))
        return [(X, y, rng.random(50), 1e-12, 1e-300, *tables, np.zeros(32, np.int64))]
    if name == "sum_runs":
        labels = rng.integers(0, 9, 50)
        labels[labels == 4] = 7  # one label without terms
        return [(some, y, 1e-17 * y, np.zeros((9, 2))) for some in (labels, np.sort(labels))]
    if name == "close_containments":
        return [(masks, sizes, order, rng.random(len(held)))]
    if name == "worst_containments":
        return [(masks, sizes, order, rng.random(len(held)), 1e-9)]
    if name == "cover_edges":
        sizes = sizes[order]
        return [(masks[order], np.searchsorted(sizes, sizes))]
    if name == "close_edges":
        from choquet.lattice import cover_pairs

        pairs = cover_pairs(N)
        low, high = pairs[np.argsort(pairs[:, 1], kind="stable")].T
        return [
            (np.arange(19), np.arange(1, 20), rng.random(20)),
            (low, high, rng.random(1 << N)),
            (low, high, np.zeros(1 << N)),
        ]
    return [(X, y, values(rng), 0.1, 3)]


MAKERS = {
    "choquet.lattice._kernels": lattice,
    "choquet.measures._kernels": measures,
    "choquet.contexts._kernels": contexts,
    "choquet.learning._kernels": learning,
}
LOOPS = [
    (module, name)
    for module in MAKERS
    for name, loop in vars(import_module(module)).items()
    if isinstance(loop, Loop) and loop.__module__ == module and loop.steps is not None
]


def copied(arguments):
    return tuple(one.copy() if isinstance(one, np.ndarray) else one for one in arguments)


def assert_same(first, second):
    for one, other in zip(first, second, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize(("module", "name"), LOOPS)
def test_plain_and_compiled_agree_to_the_bit(module, name):
    loop = getattr(import_module(module), name)
    for arguments in MAKERS[module](np.random.default_rng(3), name):
        assert loop.steps(*arguments) >= 0
        given = {mode: copied(arguments) for mode in ("plain", "fast")}
        found = {mode: loop.made(mode)(*given[mode]) for mode in given}
        tuples = [one if isinstance(one, tuple) else (one,) for one in found.values()]
        assert_same(*tuples)
        finite = name != "integrate" or bool(found["fast"])
        if finite:  # what is left in the results of refused rows is nobody's business
            assert_same(*given.values())


@compiled
def twice(x):
    return 2 * x


def test_a_loop_is_compiled_when_its_work_is_worth_it():
    @compiled_with(steps=lambda n: n)
    def total(n):
        found = 0
        for k in range(n):
            found += twice(k)
        return found

    assert total(10) == 90
    assert "fast" not in total._made
    assert total(PLAIN) == PLAIN * (PLAIN - 1)
    assert total._made["fast"].signatures


def test_a_plain_loop_is_as_silent_about_overflow_as_a_compiled_one():
    @compiled_with(steps=lambda values: len(values))
    def squares(values):
        return values * values

    assert np.isinf(squares(np.array([1e200]))).all()  # warnings are errors here


DRAWS = """
import numpy as np, choquet
rng = np.random.default_rng(0)
X = rng.random((60, 3))
model = choquet.ChoquetRegressor().fit(X, X.max(axis=1) + 0.1 * rng.standard_normal(60))
print(model.sample_measures(5, rng=3).tobytes().hex())
"""


def test_a_seed_gives_the_same_draws_when_loops_are_compiled_and_when_they_are_loaded(tmp_path):
    """Sums that may be added in any order come out otherwise where loops are joined otherwise."""
    found = [
        subprocess.run(
            [sys.executable, "-c", DRAWS],
            env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)},
            capture_output=True, text=True, check=True,
        ).stdout
        for _ in range(2)
    ]  # fmt: skip
    assert found[0] == found[1]
    assert found[0]
