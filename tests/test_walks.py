from __future__ import annotations

from itertools import pairwise, permutations
from math import factorial

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from choquet import (
    DataSupport,
    Measure,
    OperatorGraph,
    all_sorts,
    all_walk_weights,
    choquet_integral,
    datasets,
    gsamp,
    random_sorts,
    sort_rank,
    sort_unrank,
    sorts_of,
    walk_weights,
)
from choquet.errors import DataError, OptionError, TooLargeError
from choquet.walks.sorts import strict_steps
from tests import oracles
from tests.strategies import measures, measures_with_inputs

pytestmark = pytest.mark.numerical

# -- sorts -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
def test_all_sorts_are_lexicographic_and_numbered(n):
    sorts = all_sorts(n)
    assert sorts.tolist() == [list(p) for p in permutations(range(n))]
    np.testing.assert_array_equal(sort_rank(sorts), np.arange(factorial(n)))
    np.testing.assert_array_equal(sort_unrank(np.arange(factorial(n)), n), sorts)


@given(st.integers(1, 30), st.randoms(use_true_random=False))
def test_rank_and_unrank_are_inverse(n, random):
    sort = list(range(n))
    random.shuffle(sort)
    rank = sort_rank([sort])
    assert 0 <= rank[0] < factorial(n)
    assert sort_unrank(rank, n).tolist() == [sort]


def test_numbers_beyond_sixty_four_bits_are_exact():
    last = list(range(25))[::-1]
    assert sort_rank([last])[0] == factorial(25) - 1
    assert sort_unrank([factorial(25) - 1], 25)[0].tolist() == last


@given(measures_with_inputs())
def test_walk_weights_give_the_integral(case):
    g, X = case
    sorts = sorts_of(X)
    weights = walk_weights(g, sorts)
    np.testing.assert_allclose(weights.sum(axis=1), 1)
    inputs = np.take_along_axis(X, sorts, axis=1)
    np.testing.assert_allclose((weights * inputs).sum(1), choquet_integral(g, X), atol=1e-12)


@pytest.mark.parametrize("n", [1, 2, 3, 6])
def test_all_walk_weights(n):
    g = Measure.random(n, rng=n)
    expected = list(oracles.walk_operators(g.values, n).values())
    np.testing.assert_allclose(all_walk_weights(g), expected, atol=1e-15)
    np.testing.assert_allclose(walk_weights(g, all_sorts(n)), expected, atol=1e-15)


def test_bad_sorts():
    g = Measure.random(3, rng=0)
    with pytest.raises(DataError, match=r"row 1 is no sort: \[0, 0, 1\]"):
        walk_weights(g, [[0, 1, 2], [0, 0, 1]])
    with pytest.raises(DataError, match="3 entries, not 2"):
        walk_weights(g, [[0, 1]])
    with pytest.raises(DataError, match="rows of source numbers"):
        walk_weights(g, [[0.0, 1.0, 2.0]])
    with pytest.raises(DataError, match=r"numbered 0\.\.5, not 6"):
        sort_unrank([6], 3)
    with pytest.raises(TooLargeError, match="OperatorGraph"):
        all_sorts(12)


def test_random_sorts_are_uniform():
    counts = np.bincount(sort_rank(random_sorts(4, 24_000, rng=0)), minlength=24)
    assert ((counts - 1000) ** 2 / 1000).sum() < 55  # 23 degrees of freedom, 99.98 %


# -- support ---------------------------------------------------------------------------------------


def is_gap(upper, lower, h, tolerance=0.0):
    """More than rounding, and with a square that is a number."""
    gap = upper - lower
    rounding = 16 * np.finfo(float).eps * np.abs(h).max()
    return gap > max(tolerance, rounding) and gap**2 >= np.finfo(float).tiny


def slow_support(X, tolerance=0.0):
    """Count and information by mask, sample by sample."""
    n = X.shape[1]
    count, information = np.zeros(1 << n, int), np.zeros(1 << n)
    for h in X:
        levels = sorted(set(h), reverse=True)
        for upper, lower in pairwise(levels):
            if is_gap(upper, lower, h, tolerance):
                mask = sum(1 << i for i in range(n) if h[i] >= upper)
                count[mask] += 1
                information[mask] += (upper - lower) ** 2
    count[-1] = len(X)
    return count, information


@given(measures_with_inputs(min_sources=2))
@example((None, np.array([[np.finfo(float).tiny, 0.0]])))
def test_support_counts_strict_gaps_only(case):
    _, X = case
    support = DataSupport.from_data(X)
    count, information = slow_support(X)
    np.testing.assert_array_equal(support.count, count)
    np.testing.assert_allclose(support.information, information, atol=1e-15)
    falling = [sorted(h, reverse=True) for h in X]
    tied = [not all(is_gap(a, b, h) for a, b in pairwise(h)) for h in falling]
    assert support.n_tied == sum(tied)
    observed = {tuple(s) for s, t in zip(sorts_of(X).tolist(), tied, strict=True) if not t}
    assert {tuple(s) for s in support.observed_sorts.tolist()} == observed
    assert support.sort_counts.sum() == len(X) - sum(tied)


@given(measures_with_inputs(min_sources=2), st.data())
def test_supports_of_parts_add_up(case, data):
    _, X = case
    cut = data.draw(st.integers(0, len(X)))
    whole = DataSupport.from_data(X)
    total = DataSupport.empty(X.shape[1])
    for part in (X[:cut], X[cut:]):
        if len(part):
            total = total + DataSupport.from_data(part)
    np.testing.assert_array_equal(total.count, whole.count)
    np.testing.assert_allclose(total.information, whole.information)
    np.testing.assert_array_equal(total.observed_sorts, whole.observed_sorts)
    np.testing.assert_array_equal(total.sort_counts, whole.sort_counts)
    assert (total.n_samples, total.n_tied) == (whole.n_samples, whole.n_tied)


def test_chunks_make_no_difference(monkeypatch):
    X = np.round(np.random.default_rng(0).random((500, 4)), 1)
    whole = DataSupport.from_data(X)
    monkeypatch.setattr("choquet.walks.support._CHUNK", 7)
    parts = DataSupport.from_data(X)
    np.testing.assert_array_equal(parts.count, whole.count)
    np.testing.assert_allclose(parts.information, whole.information)


def test_phi_in_both_forms():
    support = DataSupport.from_data([[0.9, 0.5, 0.3, 0.1], [0.2, 0.9, 0.2, 0.2]])
    # Walk 1, 0, 2, 3 shares {1} with the second sample and {0, 1}, {0, 1, 2} with the first.
    assert support.phi([[0, 1, 2, 3], [1, 0, 2, 3], [3, 2, 1, 0]]).tolist() == [0, 0, 1]
    assert support.phi([[2, 0, 1, 3]]) == pytest.approx([2 / 3])
    assert DataSupport.from_data([[1.0]]).phi([[0]]).tolist() == [0]


def test_weights_and_tolerance():
    X = np.array([[0.9, 0.5], [0.5, 0.9]])
    weighted = DataSupport.from_data(X, sample_weight=[2.0, 0.0])
    np.testing.assert_allclose(weighted.information, [0, 2 * 0.16, 0, 0])
    assert weighted.count.tolist() == [0, 1, 0, 2]
    assert DataSupport.from_data(X, tolerance=0.5).n_supported == 0
    assert "2 samples (2 tied)" in repr(DataSupport.from_data(X, tolerance=0.5))


def test_strict_steps():
    X = [[0.5, 0.5, 0.1], [0.1, 0.2, 0.3]]
    assert strict_steps(X).tolist() == [[False, True, True], [True, True, True]]


def test_wide_data():
    X = np.random.default_rng(0).random((20, 100))
    support = DataSupport.from_data(X)
    assert support.words.shape[1] == 2
    assert support.phi(sorts_of(X)).max() == 0
    assert support.phi(sorts_of(-X)).min() > 0.9
    with pytest.raises(TooLargeError):
        _ = support.count


def test_bad_support():
    with pytest.raises(DataError, match="no data"):
        DataSupport.from_data(np.zeros((0, 3)))
    with pytest.raises(DataError, match="row 0, column 1 holds nan"):
        DataSupport.from_data([[0.1, np.nan]])
    with pytest.raises(DataError, match="sample_weight must hold 1 values"):
        DataSupport.from_data([[0.1, 0.2]], sample_weight=[1, 2])
    with pytest.raises(DataError, match="at least 0"):
        DataSupport.from_data([[0.1, 0.2]], sample_weight=[-1])
    with pytest.raises(DataError, match="tolerance=-1"):
        DataSupport.from_data([[0.1, 0.2]], tolerance=-1)
    with pytest.raises(DataError, match="2 and 3 sources"):
        _ = DataSupport.empty(2) + DataSupport.empty(3)


# -- gSAMP -----------------------------------------------------------------------------------------


def test_gsamp_keeps_what_is_supported_well_enough():
    g = Measure.random(4, rng=0)
    X = np.random.default_rng(0).random((4, 4))
    support = DataSupport.from_data(X)
    sorts = all_sorts(4)
    phi = support.phi(sorts)
    everything = walk_weights(g, sorts)
    np.testing.assert_array_equal(gsamp(g), everything)
    np.testing.assert_array_equal(gsamp(g, support), everything[phi == 0])
    np.testing.assert_array_equal(gsamp(g, support, epsilon=0.5), everything[phi < 0.5])
    assert gsamp(g, n_walks=7, rng=0).shape == (7, 4)
    with pytest.raises(OptionError, match="n_walks=0"):
        gsamp(g, n_walks=0)
    with pytest.raises(OptionError, match="epsilon=-1"):
        gsamp(g, support, epsilon=-1)
    with pytest.raises(DataError, match="support is of 2 sources"):
        gsamp(g, DataSupport.empty(2))


# -- operator graph --------------------------------------------------------------------------------


def distinct_by_enumeration(g, sorts):
    weights = np.round(walk_weights(g, sorts), 9) + 0.0
    return np.unique(weights, axis=0, return_counts=True)


@given(measures(max_sources=5))
def test_graph_equals_algorithm_one(g):
    graph = OperatorGraph(g)
    sorts = all_sorts(g.n_sources)
    rows, counts = distinct_by_enumeration(g, sorts)
    assert graph.n_operators == len(rows)
    assert graph.n_walks == len(sorts)
    listed = np.round(graph.weights(), 9) + 0.0
    order = np.lexsort(listed.T[::-1])
    np.testing.assert_allclose(listed[order], rows, atol=1e-9)
    np.testing.assert_array_equal(graph.walk_counts[order], counts)
    assert graph.shares.sum() == pytest.approx(1)
    np.testing.assert_allclose(
        graph.weights(graph.index(sorts)), walk_weights(g, sorts), atol=1e-12
    )
    np.testing.assert_allclose(graph.contributions(), oracles.shapley(g.values, g.n_sources))


@given(measures_with_inputs(min_sources=2, max_sources=4), st.sampled_from([0, 0.4, 0.7, 1.0, 1.1]))
def test_graph_restricted_to_supported_walks(case, epsilon):
    g, X = case
    support = DataSupport.from_data(X)
    graph = OperatorGraph(g, support, epsilon=epsilon)
    sorts = all_sorts(g.n_sources)
    phi = support.phi(sorts)
    kept = (phi == 0) | (phi < epsilon - 1e-9)
    numbers = graph.index(sorts)
    np.testing.assert_array_equal(numbers >= 0, kept)
    assert graph.n_walks == kept.sum()
    if not kept.any():
        assert graph.n_operators == 0
        assert np.isnan(graph.contributions()).all()
        with pytest.raises(DataError, match="no walk is supported"):
            graph.sample_sorts(1)
        return
    rows, counts = distinct_by_enumeration(g, sorts[kept])
    assert graph.n_operators == len(rows)
    listed = np.round(graph.weights(), 9) + 0.0
    np.testing.assert_array_equal(graph.walk_counts[np.lexsort(listed.T[::-1])], counts)
    drawn = graph.sample_sorts(50, rng=0)
    assert (graph.index(drawn) >= 0).all()
    steps = np.zeros((kept.sum(), g.n_sources))
    np.put_along_axis(steps, sorts[kept], walk_weights(g, sorts[kept]), axis=1)
    np.testing.assert_allclose(graph.contributions(), steps.mean(axis=0), atol=1e-12)


def test_samples_follow_the_shares():
    graph = OperatorGraph(noise_measure(5))
    over_walks = np.bincount(graph.sample(12_000, rng=0), minlength=4) / 12_000
    np.testing.assert_allclose(over_walks, graph.shares, atol=0.02)
    over_operators = np.bincount(graph.sample(12_000, over="operators", rng=0)) / 12_000
    np.testing.assert_allclose(over_operators, 0.25, atol=0.02)
    X = np.random.default_rng(1).random((6, 5))
    part = OperatorGraph(noise_measure(5), DataSupport.from_data(X), epsilon=0.6)
    drawn = np.bincount(part.sample(12_000, rng=0), minlength=part.n_operators) / 12_000
    np.testing.assert_allclose(drawn, part.shares, atol=0.02)


def test_large_graphs_count_exactly():
    symmetric = OperatorGraph(Measure.symmetric(np.full(18, 1 / 18)))
    assert (symmetric.n_operators, symmetric.n_walks) == (1, factorial(18))
    assert symmetric.walk_counts.tolist() == [factorial(18)]
    generic = OperatorGraph(Measure.random(12, rng=0))
    assert generic.n_operators == generic.n_walks == factorial(12)
    sorts = random_sorts(12, 50, rng=0)
    np.testing.assert_allclose(
        generic.weights(generic.index(sorts)), walk_weights(generic.measure, sorts), atol=1e-12
    )
    with pytest.raises(TooLargeError, match="too many to list"):
        generic.weights()
    assert "479,001,600 operators" in repr(generic)


def test_counts_beyond_sixty_four_bits_are_python_integers(monkeypatch):
    """What happens from 21 sources on, forced at five by lowering the limit of int64."""
    g = noise_measure(5)
    small = OperatorGraph(g)
    monkeypatch.setattr("choquet.walks._states._EXACT", 2)
    large = OperatorGraph(g)
    assert large.n_operators == small.n_operators
    sorts = all_sorts(5)
    numbers = large.index(sorts)
    assert numbers.dtype == object
    np.testing.assert_array_equal(numbers.astype(int), small.index(sorts))
    np.testing.assert_array_equal(large.weights(numbers), small.weights(small.index(sorts)))
    drawn = large.sample(4000, over="operators", rng=0).astype(int)
    np.testing.assert_allclose(np.bincount(drawn) / 4000, 0.25, atol=0.03)


def test_rounding_merges_values():
    values = np.array([0, 0.3, 0.3 + 1e-12, 1])
    assert OperatorGraph(Measure(values)).n_operators == 1
    assert OperatorGraph(Measure(values), decimals=14).n_operators == 2


def test_bad_graphs():
    g = Measure.random(4, rng=0)
    with pytest.raises(TooLargeError, match="more than 3 states"):
        OperatorGraph(g, max_states=3)
    with pytest.raises(OptionError, match=r"epsilon=0\.5 needs a support"):
        OperatorGraph(g, epsilon=0.5)
    with pytest.raises(DataError, match="support is of 2 sources"):
        OperatorGraph(g, DataSupport.empty(2))
    graph = OperatorGraph(g)
    with pytest.raises(DataError, match=r"numbered 0\.\.23, not 24"):
        graph.weights([24])
    with pytest.raises(OptionError, match="walks, operators"):
        graph.sample(3, over="sorts")


# -- the paper's examples --------------------------------------------------------------------------


def noise_measure(n_low_pairs: int) -> Measure:
    """The handcrafted measure of Figure 4; the caption says four low pairs, the figure has five."""
    return datasets.make_noise_measure(reading={5: "figure", 4: "caption"}[n_low_pairs])


@pytest.mark.parametrize(("n_low_pairs", "walks"), [(5, [44, 28, 16, 32]), (4, [36, 36, 12, 36])])
def test_noise_measure_has_four_operators(n_low_pairs, walks):
    graph = OperatorGraph(noise_measure(n_low_pairs))
    found = {tuple(w): c for w, c in zip(graph.weights().round(9), graph.walk_counts, strict=True)}
    operators = [
        (0.1, 0.1, 0.4, 0.0, 0.4),
        (0.1, 0.3, 0.2, 0.0, 0.4),
        (0.1, 0.1, 0.4, 0.3, 0.1),
        (0.1, 0.3, 0.2, 0.3, 0.1),
    ]
    assert {w: found[w] for w in operators} == dict(zip(operators, walks, strict=True))
    assert len(found) == 4


def test_demining_has_two_operators():
    g = Measure([0, 0, 1, 1, 1, 1, 1, 1], sources=["gpr", "ir", "emi"])
    graph = OperatorGraph(g)
    assert graph.n_operators == 2
    for sort in all_sorts(3):
        expected = [0, 1, 0] if sort[0] == 0 else [1, 0, 0]
        assert graph.weights(graph.index([sort])).tolist() == [expected]
    assert [graph.operator(k).name for k in range(2)] == ["median", "max"]


def test_lemma_one_both_ways():
    one = OperatorGraph(Measure.symmetric([1, 0, 0, 0, 0]))
    assert one.n_operators == 1
    most = OperatorGraph(Measure.random(5, rng=3))
    assert most.n_operators == factorial(5)
