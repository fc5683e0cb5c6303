from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from choquet import (
    DataSupport,
    Measure,
    OperatorGraph,
    all_sorts,
    choquet_integral,
    compare,
    dissimilarity,
    random_sorts,
    walk_weights,
)
from choquet.decomposition import cover_operators, measure_distance, sample_operators
from choquet.errors import DataError, OptionError
from choquet.operators import DISSIMILARITIES, precomputed
from tests.clustered import clustered
from tests.strategies import measures, measures_with_inputs
from tests.test_walks import noise_measure

pytestmark = pytest.mark.numerical

DEMINING = Measure([0, 0, 1, 1, 1, 1, 1, 1], sources=["gpr", "ir", "emi"])

# -- the paper's measures --------------------------------------------------------------------------


def test_demining_in_words():
    d = clustered(DEMINING)
    assert [(op.name, round(op.share, 6)) for op in d.operators] == [
        ("max", 0.666667),
        ("median", 0.333333),
    ]
    assert "If gpr is the largest: median; otherwise: max." in str(d)
    contexts = [str(op.context) for op in d.operators]
    assert contexts == ["gpr is not the largest", "gpr is the largest"]
    assert d.rules.exact
    assert d.error == (0, 0)
    assert d.exact


@pytest.mark.parametrize(("n_low_pairs", "walks"), [(5, [44, 32, 28, 16]), (4, [36, 36, 36, 12])])
def test_noise_measure(n_low_pairs, walks):
    d = clustered(noise_measure(n_low_pairs))
    assert [round(op.share * 120) for op in d.operators] == walks
    assert d.error.worst == 0


def test_symmetric_measure_of_twenty_sources_is_one_operator():
    d = clustered(Measure.symmetric(np.full(20, 0.05)))
    assert [op.name for op in d.operators] == ["mean"]
    assert d.operators[0].share == 1
    assert d.rules.rules == ()
    assert "1 operator in place of 2**20 values, exact" in str(d)
    X = np.random.default_rng(0).random((10, 20))
    np.testing.assert_allclose(d.predict(X), X.mean(axis=1))


# -- laws ------------------------------------------------------------------------------------------


@given(measures_with_inputs(min_sources=1, max_sources=5))
def test_an_exact_decomposition_is_the_integral(case):
    g, X = case
    d = clustered(g, method="distinct")
    assert d.error.worst <= 1e-9
    np.testing.assert_allclose(d.predict(X), choquet_integral(g, X), atol=1e-9)
    assert sum(op.share for op in d.operators) == pytest.approx(1)


def test_an_exact_decomposition_is_exact_to_the_last_digits():
    for g in (DEMINING, noise_measure(5), Measure.random(5, rng=1)):
        X = np.random.default_rng(0).random((2000, g.n_sources))
        d = clustered(g, method="distinct")
        np.testing.assert_allclose(d.predict(X), choquet_integral(g, X), atol=1e-12)


@given(measures(min_sources=2, max_sources=5), st.sampled_from(["clodd", "single_linkage"]))
def test_errors_hold_and_shares_add_up(g, method):
    d = clustered(g, method=method, **({"k": 1} if method == "single_linkage" else {}))
    X = np.random.default_rng(0).random((3000, g.n_sources))
    difference = np.abs(d.predict(X) - choquet_integral(g, X))
    assert difference.max() <= d.error.worst + 1e-12
    assert sum(op.share for op in d.operators) == pytest.approx(1)
    shares = [op.share for op in d.operators]
    assert shares == sorted(shares, reverse=True)
    assert d.error.worst == pytest.approx(max(op.error.worst for op in d.operators))
    squares = sum(op.share * op.error.rms**2 for op in d.operators)
    assert d.error.rms == pytest.approx(np.sqrt(squares), abs=1e-12)


def test_operators_of_as_many_walks_have_the_same_share():
    values = np.zeros(32)
    values[1::2] = 0.01
    values[[6, 14, 22, 30]] = 0.001
    values[31] = 1.0
    d = clustered(Measure(values), same_below=0.0)
    assert [op.share for op in d.operators] == [0.2] * 5
    assert clustered(Measure(values)).n_operators == 1


@pytest.mark.parametrize("seed", range(4))
def test_the_worst_case_is_attained_and_the_rms_is_right(seed):
    g = Measure.random(5, rng=seed)
    d = clustered(g, method="single_linkage", k=3)
    # The corner (1, …, 1, 0, …, 0) of some walk attains the worst; break its ties by a hair.
    sorts = all_sorts(5)
    hair = np.linspace(1e-9, 0, 5)
    worst = 0.0
    for j in range(1, 6):
        inputs = np.empty((len(sorts), 5))
        row = np.where(np.arange(5) < j, 1.0 - 1e-9, 0.0) + hair
        np.put_along_axis(inputs, sorts, np.broadcast_to(row, inputs.shape), axis=1)
        worst = max(worst, np.abs(d.predict(inputs) - choquet_integral(g, inputs)).max())
    assert worst == pytest.approx(d.error.worst, abs=1e-7)
    X = np.random.default_rng(seed).random((200_000, 5))
    rms = np.sqrt(np.mean((d.predict(X) - choquet_integral(g, X)) ** 2))
    assert rms == pytest.approx(d.error.rms, rel=0.02)


@given(measures(min_sources=2, max_sources=4), st.randoms(use_true_random=False))
def test_relabelling_sources_changes_nothing(g, random):
    order = list(range(g.n_sources))
    random.shuffle(order)
    before, after = clustered(g), clustered(g.permute(order))
    assert before.n_operators == after.n_operators
    assert [op.share for op in before.operators] == pytest.approx(
        [op.share for op in after.operators]
    )
    assert before.error.worst == pytest.approx(after.error.worst)
    X = np.random.default_rng(0).random((50, g.n_sources))
    np.testing.assert_allclose(before.predict(X), after.predict(X[:, order]), atol=1e-12)


@pytest.mark.parametrize("metric", list(DISSIMILARITIES))
def test_every_metric(metric):
    d = clustered(noise_measure(5), metric=metric)
    # To these the one weight that is 0 in two of the operators matters more than all others.
    assert d.n_operators == (2 if metric in ("sql2", "hellinger", "aitchison") else 4)
    assert d.ivat.metric == metric
    if np.isfinite(DISSIMILARITIES[metric].largest(5)):
        assert d.scale == DISSIMILARITIES[metric].largest(5)
    assert d.ivat.heights.max() <= d.scale + 1e-12


def test_a_metric_of_ones_own_and_other_scales():
    d = clustered(noise_measure(5), metric=lambda v, w: dissimilarity(v, w, metric="l1"))
    assert d.n_operators == 4
    assert clustered(noise_measure(5), scale="data").scale == pytest.approx(
        clustered(noise_measure(5)).ivat.heights.max()
    )
    assert clustered(noise_measure(5), scale=3.5).scale == 3.5


def test_precomputed_dissimilarities():
    g = noise_measure(5)
    weights = sample_operators(g).weights
    given = precomputed(weights, dissimilarity(weights, metric="rms"))
    by_matrix, by_name = clustered(g, metric=given), clustered(g)
    np.testing.assert_allclose(by_matrix.ivat.heights, by_name.ivat.heights)
    assert [op.share for op in by_matrix.operators] == [op.share for op in by_name.operators]
    with pytest.raises(DataError, match="need a matrix of 4 × 4"):
        precomputed(weights, np.zeros((3, 3)))
    with pytest.raises(DataError, match="must be distinct"):
        precomputed([[1, 0], [1, 0]], np.zeros((2, 2)))
    with pytest.raises(DataError, match="not among those"):
        clustered(DEMINING, metric=precomputed([[1, 0, 0]], [[0]]))


def test_density_clusterers():
    from sklearn.cluster import HDBSCAN, MeanShift

    g = Measure.random(5, rng=0)
    X = np.random.default_rng(0).random((50, 5))
    for method in (HDBSCAN(metric="precomputed", copy=True), MeanShift()):
        d = clustered(g, method=method)
        assert d.n_operators >= 1
        assert np.abs(d.predict(X) - choquet_integral(g, X)).max() <= d.error.worst


def test_scikit_learn_clusterers():
    from sklearn.cluster import DBSCAN, AgglomerativeClustering

    g = noise_measure(5)
    assert clustered(g, method=DBSCAN(eps=1e-3, min_samples=1)).n_operators == 4
    linkage = AgglomerativeClustering(n_clusters=2, metric="precomputed", linkage="complete")
    d = clustered(g, method=linkage)
    assert d.n_operators == 2
    assert d.partition.method == "AgglomerativeClustering"
    assert clustered(g, method="fuzzy_c_means", k=2, rng=0).partition.memberships.shape == (4, 2)


def test_noise_points_of_a_clusterer_join_the_nearest():
    from sklearn.cluster import DBSCAN

    g = Measure.random(4, rng=0)
    d = clustered(g, method=DBSCAN(eps=0.03, min_samples=3))
    assert (d.labels >= 0).all()
    X = np.random.default_rng(0).random((100, 4))
    assert (d.operator_of(X) >= 0).all()


def test_eight_sources_end_to_end():
    g = Measure.random(8, rng=0)
    d = clustered(g)
    assert d.sample.counts.sum() == d.ivat.n_total == 40_320
    X = np.random.default_rng(0).random((5000, 8))
    difference = np.abs(d.predict(X) - choquet_integral(g, X))
    assert difference.max() <= d.error.worst


def test_rules_of_seven_sources_beat_the_commonest_operator():
    d = clustered(Measure.random(7, rng=0))
    assert d.rules.fidelity >= max(op.share for op in d.operators) - 1e-9
    assert (d.rules.fidelity == 1) == d.rules.exact


# -- samples ---------------------------------------------------------------------------------------


def test_drawn_walks_when_there_are_too_many_operators():
    g = Measure.random(7, rng=0)
    d = clustered(g, max_operators=100, n_walks=500)
    assert not d.exact
    assert d.sample.counts.sum() == 500
    assert "on the walks drawn" in str(d)
    X = np.random.default_rng(0).random((200, 7))
    assert set(d.operator_of(X)) <= set(range(d.n_operators))
    with pytest.raises(DataError, match="larger max_operators"):
        d.compress(max_error=0.1)
    with pytest.raises(DataError, match="larger max_operators"):
        d.index()


def test_stratified_draws_cover_every_beginning():
    sample = sample_operators(Measure.random(9, rng=0), max_operators=10, n_walks=900, rng=0)
    assert sample.counts.sum() == 900
    assert not sample.complete


# -- support ---------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def half_seen():
    g = Measure.random(4, rng=3)
    X = np.random.default_rng(1).random((6, 4))
    return g, X, DataSupport.from_data(X)


def test_only_supported_walks_by_default(half_seen):
    g, X, support = half_seen
    model = SimpleNamespace(measure_=g, support_=support, intercept_=0.5)
    d = clustered(model, method="distinct")
    graph = OperatorGraph(g, support)
    assert d.sample.graph.n_walks == graph.n_walks < 24
    np.testing.assert_allclose(d.predict(X), choquet_integral(g, X) + 0.5, atol=1e-9)
    assert sum(op.data_share for op in d.operators) == pytest.approx(1)
    everything = clustered(model, support=None)
    assert everything.sample.graph.n_walks == 24
    assert np.isnan(everything.operators[0].data_share)
    some = clustered(model, epsilon=0.5)
    assert graph.n_walks <= some.sample.graph.n_walks <= 24


def test_samples_without_support_are_assessed(half_seen):
    g, _, support = half_seen
    d = clustered(g, support=support)
    sorts = all_sorts(4)
    inputs = np.empty((24, 4))
    np.put_along_axis(inputs, sorts, np.tile([0.9, 0.6, 0.4, 0.1], (24, 1)), axis=1)
    found = d.assess(inputs)
    phi = support.phi(sorts)
    np.testing.assert_allclose(found.phi, phi)
    np.testing.assert_array_equal(found.supported, phi == 0)
    assert (found.interval[:, 0] <= found.integral + 1e-12).all()
    assert (found.interval[:, 1] >= found.integral - 1e-12).all()
    width = np.diff(found.interval, axis=1)[:, 0]
    np.testing.assert_allclose(width[found.supported], 0, atol=1e-12)
    assert (support.phi(found.similar_sort) == 0).all()
    np.testing.assert_array_equal(found.similar_sort[found.supported], sorts[found.supported])
    # No other supported walk shares more sets.
    chain = np.cumsum(1 << sorts, axis=1)
    good = chain[phi == 0]
    for k in np.flatnonzero(~found.supported):
        shared = (np.cumsum(1 << found.similar_sort[k]) == chain[k]).sum()
        observed = np.cumsum(1 << support.observed_sorts, axis=1)
        assert shared == (observed == chain[k]).sum(axis=1).max()
    assert len(good)
    suppressed = d.predict(inputs, unsupported="suppress")
    np.testing.assert_array_equal(np.isnan(suppressed), ~found.supported)
    by_measure = d.predict(inputs, unsupported="measure")
    np.testing.assert_allclose(by_measure[~found.supported], found.integral[~found.supported])
    with pytest.raises(OptionError, match="similar, measure, suppress"):
        d.predict(inputs, unsupported="guess")


def test_ties_do_not_count_as_unsupported(half_seen):
    g, _, support = half_seen
    d = clustered(g, support=support)
    tied = np.full((1, 4), 0.5)
    found = d.assess(tied)
    assert found.supported.all()
    np.testing.assert_allclose(found.interval, [[0.5, 0.5]])
    np.testing.assert_allclose(d.predict(tied), 0.5)


def test_rules_and_stability_from_data(half_seen):
    g, _, support = half_seen
    d = clustered(g, support=support, method="distinct")
    rules = d.rules_by_data()
    found = rules.predict(support.observed_sorts)
    right = found == d.operator_of_sorts(support.observed_sorts)
    assert rules.fidelity == pytest.approx(np.average(right, weights=support.sort_counts))
    with pytest.raises(DataError, match="no data without ties"):
        clustered(g).rules_by_data()
    first_only = SimpleNamespace(stable_walks=lambda sorts: sorts[:, 0] == 0)
    flagged = clustered(DEMINING, identification=first_only)
    assert [op.stable for op in flagged.operators] == [False, True]
    assert [op.stable for op in clustered(DEMINING).operators] == [None, None]


def test_no_supported_walk():
    with pytest.raises(DataError, match="support no walk with Φ = 0; allow unsupported subsets"):
        clustered(Measure.random(3, rng=0), support=DataSupport.from_data([[0.5, 0.5, 0.1]]))


# -- compress --------------------------------------------------------------------------------------


@pytest.mark.parametrize("max_error", [0.0, 0.05, 0.2, 0.5, 1.0])
def test_compress_keeps_its_promise(max_error):
    g = Measure.random(6, rng=2)
    d = clustered(g, method="distinct").compress(max_error=max_error)
    assert d.error.worst <= max_error + 1e-9
    X = np.random.default_rng(0).random((1_000_000 if max_error == 0.2 else 20_000, 6))
    assert np.abs(d.predict(X) - choquet_integral(g, X)).max() <= max_error + 1e-9
    if max_error >= 0.5:
        assert d.n_operators == 1


def test_fewest_by_brute_force():
    """The smallest number of groups, over all ways to colour, for a few operators."""
    from itertools import product

    for seed in range(6):
        weights = np.random.default_rng(seed).dirichlet(np.ones(3), 6)
        levels = np.cumsum(weights, axis=1)
        for max_error in (0.1, 0.2, 0.3):
            cover = cover_operators(weights, max_error)
            best = (
                min(
                    len(set(colours))
                    for colours in product(range(3), repeat=6)
                    if all(
                        np.ptp(levels[np.array(colours) == c], axis=0).max() <= 2 * max_error
                        for c in set(colours)
                    )
                )
                if len(cover.weights) <= 3
                else len(cover.weights)
            )
            assert cover.lower_bound <= best <= len(cover.weights)
            if cover.proved:
                assert len(cover.weights) == best
    with pytest.raises(OptionError, match="max_error=-1"):
        cover_operators(weights, -1)


# -- index -----------------------------------------------------------------------------------------


@given(measures(min_sources=1, max_sources=5))
def test_index_without_the_measure(g):
    d = clustered(g)
    sorts = all_sorts(g.n_sources)
    np.testing.assert_array_equal(d.index().index(sorts), d.operator_of_sorts(sorts))


# -- comparing -------------------------------------------------------------------------------------


def test_operators_are_matched_between_decompositions():
    first = clustered(noise_measure(5))
    shaken = np.array(noise_measure(5).values)
    shaken[3:31] *= 0.999
    second = clustered(Measure(shaken), decimals=2)
    c = compare([first, second], names=["a", "b"])
    for number, partner in enumerate(c.matches[1]):
        away = np.abs(second.operators[number].weights - first.operators[partner].weights)
        assert away.max() < 0.01
    assert c.measures[0, 1] == c.measures[1, 0] > 0
    assert c.measures[0, 0] == 0
    assert c.scale == first.scale
    fewer = compare([first, clustered(noise_measure(5), method="single_linkage", k=2)])
    assert len(fewer.matches[1]) == 2
    more = compare([clustered(DEMINING, method="single_linkage", k=1), clustered(DEMINING)])
    assert sorted(more.matches[1]) == [-1, 0]
    assert np.isnan(more.distances[1]).sum() == 1


@pytest.mark.parametrize("metric", ["emd", "hellinger", "sql2", "worst"])
def test_distance_between_measures_is_the_mean_over_walks(metric):
    f, g = Measure.random(4, rng=0), Measure.random(4, rng=1)
    sorts = all_sorts(4)
    pairs = zip(walk_weights(f, sorts), walk_weights(g, sorts), strict=True)
    away = [dissimilarity(v, w, metric=metric)[0, 0] for v, w in pairs]
    assert measure_distance(f, g, metric=metric) == pytest.approx(np.mean(away))
    support = DataSupport.from_data(np.random.default_rng(0).random((30, 4)))
    index = {tuple(s): a for s, a in zip(sorts.tolist(), away, strict=True)}
    expected = np.average(
        [index[tuple(s)] for s in support.observed_sorts.tolist()], weights=support.sort_counts
    )
    assert measure_distance(f, g, metric=metric, support=support) == pytest.approx(expected)


def test_bad_comparisons():
    d = clustered(DEMINING)
    with pytest.raises(DataError, match="two decompositions or more, not 1"):
        compare([d])
    with pytest.raises(DataError, match="same sources"):
        compare([d, clustered(noise_measure(5))])
    with pytest.raises(DataError, match="1 names were given for 2"):
        compare([d, d], names=["a"])
    with pytest.raises(DataError, match="same sources"):
        measure_distance(DEMINING, noise_measure(5))
    with pytest.raises(DataError, match="all samples have ties"):
        measure_distance(DEMINING, DEMINING, support=DataSupport.from_data([[1, 1, 1]]))


# -- bad input -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"metric": "cosine"}, OptionError, "l1, l2, sql2"),
        ({"method": "single_linkage", "k": 7}, OptionError, "k=7"),
        ({"method": "single_linkage"}, OptionError, "k or level"),
        ({"scale": -1}, OptionError, "scale=-1"),
        ({"scale": "shared"}, OptionError, "scale='shared'"),
        ({"support": "mine"}, OptionError, "support='mine'"),
        ({"epsilon": 0.5}, OptionError, "needs a support"),
        ({"alpha": 2.0}, OptionError, "alpha=2.0"),
        ({"max_operators": 0}, OptionError, "max_operators=0"),
        ({"metric": "precomputed"}, OptionError, "metric='precomputed'"),
    ],
)
def test_bad_options(options, error, message):
    with pytest.raises(error) as caught:
        clustered(DEMINING, **options)
    assert message in str(caught.value)


def test_what_cannot_be_decomposed():
    with pytest.raises(DataError, match="cannot decompose dict: give a measure"):
        clustered({})
    assert random_sorts(3, 2, rng=0).shape == (2, 3)


def test_one_source():
    d = clustered(Measure([0, 1]))
    assert [op.name for op in d.operators] == ["identity"]
    np.testing.assert_allclose(d.predict([[0.3], [0.9]]), [0.3, 0.9])


def test_regression_measures():
    g = Measure([0, 3.0, -1.0, 0.5, 2.0, 0.1, -2.0, 1.5], monotone=False, normal=False)
    X = np.random.default_rng(0).normal(size=(200, 3))
    d = clustered(g, method="distinct")
    np.testing.assert_allclose(d.predict(X), choquet_integral(g, X), atol=1e-9)
    assert all(op.name.startswith("weighted ranks: ") for op in d.operators)
    assert len(set(d.operator_names)) == d.n_operators
    assert d.scale == pytest.approx(d.ivat.heights.max())
