from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from choquet.errors import DataError
from choquet.lattice.wide import chains
from choquet.learning import Statistics
from choquet.learning.data import statistics as module

pytestmark = pytest.mark.numerical

FIELDS = ("masks", "counts", "rows", "columns", "targets", "sums", "n_samples")


def data(n_samples=60, n_sources=5, seed=0, ties=False):
    rng = np.random.default_rng(seed)
    X = rng.random((n_samples, n_sources))
    if ties:
        X = X.round(1)
    return X, rng.random(n_samples), rng.integers(0, 3, n_samples).astype(float)


def same(a, b):
    for name in FIELDS:
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name))
    assert (a.gram != b.gram).nnz == 0
    assert (a.weight, a.target_sum, a.target_square) == (b.weight, b.target_sum, b.target_square)


@pytest.mark.parametrize("ties", [False, True])
def test_gram_is_the_product_of_the_design(ties):
    X, y, w = data(ties=ties)
    words, gaps = chains(X)
    Z = np.zeros((len(X), 32))
    np.put_along_axis(Z, words[..., 0].astype(int), gaps, axis=1)
    statistics = Statistics.from_data(X, y, w)
    full = (Z * w[:, None]).T @ Z
    at = statistics.positions
    np.testing.assert_allclose(statistics.gram.toarray(), full[np.ix_(at, at)], atol=1e-13)
    np.testing.assert_allclose(statistics.targets, ((Z * w[:, None]).T @ y)[at], atol=1e-13)
    # A tie has no gap: nothing but strict chain sets is there.
    seen = np.flatnonzero((np.abs(Z[w > 0]) > 0).any(axis=0))
    np.testing.assert_array_equal(at, seen)
    assert statistics.gram.nnz <= 3**5 * 2


@settings(max_examples=25, deadline=None)
@given(st.lists(st.integers(1, 59), max_size=5, unique=True), st.integers(0, 99))
def test_any_split_and_order_gives_the_same_bits(cuts, seed):
    X, y, w = data(ties=seed % 2 == 0)
    order = np.random.default_rng(seed).permutation(len(X))
    parts = np.split(order, sorted(cuts))
    total = Statistics.from_data(X[parts[0]], y[parts[0]], w[parts[0]])
    for part in parts[1:]:
        total = total + Statistics.from_data(X[part], y[part], w[part])
    same(total, Statistics.from_data(X, y, w))


def test_table_and_sorting_agree_to_the_bit():
    X, y, w = data(n_sources=7, ties=True)
    same(module._by_table(X, y, w), module._by_sorting(X, y, w))


def test_wide_chunks_merge():
    X, y, w = data(n_samples=40, n_sources=70)
    same(Statistics.from_data(X, y, w, chunk_size=7), Statistics.from_data(X, y, w))


def test_a_subset_of_one_sample_shows_all_of_its_row():
    rng = np.random.default_rng(3)
    X, y, w = rng.random((120, 8)).round(2), rng.random(120), rng.integers(1, 4, 120) * 0.5
    found = Statistics.from_data(X, y, w)
    gaps, ones = found.alone
    Z = np.zeros((len(X), 1 << 8))
    words, steps = chains(X)
    np.put_along_axis(Z, words[..., 0].astype(int), steps, axis=1)
    Z = Z[:, found.positions]
    single = (Z[:, found.counts == 1] != 0).any(axis=1)
    assert 0 < len(ones) == single.sum() < len(X)
    expected = np.column_stack([Z, np.ones(len(X))])[single] * np.sqrt(w[single])[:, None]
    rows = np.column_stack([gaps.toarray(), ones])
    place = np.abs(rows[:, None] - expected[None]).max(axis=2)
    assert place.min(axis=1).max() < 1e-14
    assert len(set(place.argmin(axis=1))) == len(ones)


def test_arrays_round_trip():
    X, y, w = data()
    statistics = Statistics.from_data(X, y, w)
    same(Statistics.from_arrays(statistics.to_arrays()), statistics)
    arrays = statistics.to_arrays()
    del arrays["totals"]
    with pytest.raises(DataError, match="totals"):
        Statistics.from_arrays(arrays)


def test_weights_count_as_repeats():
    X, y, w = data()
    repeated = np.repeat(np.arange(len(X)), w.astype(int))
    a = Statistics.from_data(X, y, w)
    b = Statistics.from_data(X[repeated], y[repeated])
    np.testing.assert_allclose(a.gram.toarray(), b.gram.toarray(), atol=1e-13)
    assert a.weight == b.weight


def test_squared_error_is_that_of_the_integral():
    from choquet import Measure, choquet_integral

    X, y, w = data()
    g = Measure.random(5, rng=0)
    error = w @ (choquet_integral(g, X) + 0.1 - y) ** 2
    assert Statistics.from_data(X, y, w).squared_error(g.values, 0.1) == pytest.approx(error)


@pytest.mark.parametrize(
    ("X", "y", "w", "message"),
    [
        ([[0.1, np.nan]], [1.0], None, "finite"),
        ([[0.1, 0.2]], [np.inf], None, "y must be finite"),
        ([[0.1, 0.2]], [1.0, 2.0], None, "y must hold 1"),
        ([[0.1, 0.2]], [1.0], [-1.0], "negative"),
    ],
)
def test_bad_input_is_named(X, y, w, message):
    with pytest.raises(DataError, match=message):
        Statistics.from_data(X, y, w)


def test_other_numbers_of_sources_do_not_add():
    with pytest.raises(DataError, match="2 and of 3 sources"):
        Statistics.from_data([[0.1, 0.2]], [1.0]) + Statistics.from_data([[0.1, 0.2, 0.3]], [1.0])
