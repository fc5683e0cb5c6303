"""Measures on 20 to 100 sources: k-additive learning, walks listed, indices sampled."""

from __future__ import annotations

from itertools import combinations, permutations
from math import comb

import numpy as np
import pytest

import choquet
from choquet import (
    ChoquetRegressor,
    DataSupport,
    Measure,
    MobiusMeasure,
    SupportedMeasure,
    all_sorts,
    choquet_integral,
    choquet_interval,
    decompose,
    sample_indices,
    sorts_of,
)
from choquet.errors import DataError, NotMonotoneError, OptionError, TooLargeError
from choquet.estimators import fit_chunks, fit_statistics
from choquet.indices import banzhaf, interaction, orness, shapley
from choquet.lattice import mobius
from choquet.lattice.wide import pack
from choquet.learning.data.chunks import statistics_of_chunks
from choquet.learning.data.minima import MinimaStatistics, fit_additive
from choquet.learning.data.statistics import Statistics
from choquet.learning.families.bases import k_additive_basis
from choquet.learning.problem import least_squares, with_basis
from choquet.learning.solvers import solve
from choquet.measures.mobius import coalitions
from choquet.walks import WalkList, list_walks
from choquet.walks.paths import SupportedPaths
from tests.clustered import clustered

pytestmark = pytest.mark.numerical

MANY = (30, 50, 100)


def names(n):
    return [f"s{i}" for i in range(n)]


def two_additive(n, rng, order=2):
    """A monotone measure: a mixture of single inputs, minima and maxima of pairs."""
    words = coalitions(n, order)
    values = np.zeros(len(words))
    place = {row.tobytes(): k for k, row in enumerate(words)}
    weights = rng.dirichlet(np.ones(3 * n))
    for k, weight in enumerate(weights):
        members = rng.choice(n, size=order, replace=False)
        inside = np.zeros((1, n), dtype=bool)
        if k % 3 == 0:
            values[members[0]] += weight
            continue
        inside[0, members] = True
        at = place[pack(inside)[0].tobytes()]
        values[at] += weight if k % 3 == 1 else -weight / (order - 1)
        if k % 3 == 2:
            values[members] += weight / (order - 1)
    return MobiusMeasure(words, values, names(n))


def data(n, n_samples=60, seed=0, noise=0.03):
    """A source that decides which end of the others counts."""
    rng = np.random.default_rng(seed)
    X = rng.random((n_samples, n))
    S = -np.sort(-X, axis=1)
    high = np.argsort(np.argsort(-X, axis=1), axis=1)[:, 0] < n // 2
    y = np.where(high, S[:, :3].mean(axis=1), S[:, -3:].mean(axis=1))
    return X, y + noise * rng.standard_normal(n_samples), high


# -- measures by coefficients ----------------------------------------------------------------------


@pytest.mark.parametrize("order", [2, 3])
def test_coefficients_say_what_the_dense_measure_says(order):
    rng = np.random.default_rng(order)
    g = two_additive(6, rng, order)
    dense = g.to_measure()
    X = rng.normal(size=(40, 6))
    np.testing.assert_allclose(g.integral(X), choquet_integral(dense, X), atol=1e-12)
    np.testing.assert_allclose(choquet_integral(g, X), g.integral(X))
    np.testing.assert_allclose(
        g.walk_weights(all_sorts(6)), choquet.walk_weights(dense, all_sorts(6)), atol=1e-12
    )
    for index in (shapley, banzhaf, interaction, orness):
        np.testing.assert_allclose(index(g), index(dense), atol=1e-12)
    assert g("s1", "s4") == pytest.approx(dense("s1", "s4"))
    assert g.proved_monotone


def test_a_decrease_is_found_where_it_is():
    rng = np.random.default_rng(0)
    for _ in range(30):
        m = mobius(rng.random(16) * [bool(k) for k in range(16)])
        kept = [k for k in range(1, 16) if k.bit_count() <= 2]
        words = np.array(kept, dtype=np.uint64)[:, None]
        g = MobiusMeasure(words, m[kept], names(4), monotone=False, normal=False)
        steps = choquet.walk_weights(g.to_measure(), all_sorts(4))
        assert g.proved_monotone == (steps.min() >= -1e-9)
        if not g.proved_monotone:
            with pytest.raises(NotMonotoneError, match="adds -"):
                MobiusMeasure(words, m[kept], names(4), normal=False)
    with pytest.raises(choquet.errors.MeasureError, match="sum to g"):
        MobiusMeasure.from_dict({"s0": 0.4}, names(3))


# -- k-additive learning ---------------------------------------------------------------------------


@pytest.mark.parametrize("n", [3, 6, 8])
@pytest.mark.parametrize("normal", [True, False])
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("n_samples", [30, 200])
def test_two_additive_learning_is_the_dense_optimum(n, normal, bias, n_samples):
    X, y, _ = data(n, n_samples, seed=n, noise=0.2)
    statistics = Statistics.from_data(X, y)
    basis = k_additive_basis(n, 2)
    shape = {"normal": normal, "fit_intercept": bias}
    dense = solve(with_basis(least_squares(statistics, **shape), basis))
    rows = MinimaStatistics.from_data(X, y, order=2)
    for kept in (rows, MinimaStatistics.from_gaps(statistics, 2)):
        found = fit_additive(kept, **shape)
        assert found.status == "solved"
        assert found.objective == pytest.approx(dense.objective, abs=1e-8)
        if n_samples > comb(n, 2) + n + 1:  # else many measures are optimal
            np.testing.assert_allclose(basis @ found.values, dense.values, atol=1e-6)
            assert found.bias == pytest.approx(dense.bias, abs=1e-6)


@pytest.mark.parametrize(("l1", "l2"), [(0.3, 0.0), (0.0, 2.0), (0.2, 0.5)])
def test_penalties_are_on_interactions(l1, l2):
    cp = pytest.importorskip("cvxpy")
    n = 4
    X, y, _ = data(n, 40, seed=3, noise=0.2)
    basis = k_additive_basis(n, 2).toarray()
    Z = MinimaStatistics.from_data(X, y, order=2)
    F = choquet.learning.data.minima.minima(X, 2)
    m = cp.Variable(F.shape[1])
    steps = [basis[a | 1 << i] - basis[a] for a in range(16) for i in range(n) if not a >> i & 1]
    loss = cp.sum_squares(F @ m - y) + l1 * cp.norm1(m[n:]) + l2 * cp.sum_squares(m[n:])
    problem = cp.Problem(cp.Minimize(loss), [np.array(steps) @ m >= 0, cp.sum(m) == 1])
    problem.solve(solver=cp.CLARABEL)
    found = fit_additive(Z, l1=l1, l2=l2)
    assert found.objective == pytest.approx(problem.value, abs=1e-6)
    np.testing.assert_allclose(found.values, m.value, atol=1e-5)


def test_three_additive_learning_is_monotone_and_no_better_than_the_best():
    X, y, _ = data(6, 150, seed=5)
    basis = k_additive_basis(6, 3)
    best = solve(with_basis(least_squares(Statistics.from_data(X, y)), basis))
    two = fit_additive(MinimaStatistics.from_data(X, y, order=2))
    found = fit_additive(MinimaStatistics.from_data(X, y, order=3))
    g = MobiusMeasure(coalitions(6, 3), found.values, names(6))
    assert g.proved_monotone
    assert best.objective - 1e-9 <= found.objective <= two.objective + 1e-9


@pytest.mark.parametrize("n", MANY)
def test_two_additive_models_of_many_sources(n, tmp_path):
    rng = np.random.default_rng(n)
    truth = two_additive(n, rng)
    X = rng.random((120, n))
    y = choquet_integral(truth, X)
    model = ChoquetRegressor(k_additive=2).fit(X, y)
    g = model.measure_
    assert isinstance(g, MobiusMeasure)
    assert g.least_gains.min() >= 0 or g.least_gains.min() > -1e-15
    assert np.sqrt(np.mean((model.predict(X) - y) ** 2)) < 1e-3
    fresh = rng.random((200, n))
    want = choquet_integral(truth, fresh)
    # Far fewer samples than coefficients: still much better than the mean of the inputs.
    error = np.mean((model.predict(fresh) - want) ** 2)
    assert error < 0.7 * np.mean((fresh.mean(axis=1) - want) ** 2)
    assert model.support_share(X).min() == 1
    np.testing.assert_allclose(np.ptp(model.support_interval(X[:3]), axis=1), 0, atol=1e-9)
    low, high = model.support_interval(fresh[:3]).T
    assert (low <= model.predict(fresh[:3]) + 1e-9).all()
    assert (model.predict(fresh[:3]) <= high + 1e-9).all()
    again = choquet.load(choquet.save(model, tmp_path / "model.json"))
    np.testing.assert_array_equal(again.predict(fresh), model.predict(fresh))
    with pytest.raises(OptionError, match="coefficients"):
        model.identify()


def test_many_rows_need_no_more_memory_and_chunks_give_what_rows_give():
    n = 20
    X, y, _ = data(n, 500)
    whole = ChoquetRegressor(k_additive=2, fit_intercept=True).fit(X, y)
    size = n + comb(n, 2) + 2
    assert whole.statistics_.gram.shape == (size, size)
    parts = [(X[k : k + 77], y[k : k + 77]) for k in range(0, 500, 77)]
    chunked = fit_chunks(ChoquetRegressor(k_additive=2, fit_intercept=True), parts)
    on_gaps = fit_statistics(
        ChoquetRegressor(k_additive=2, fit_intercept=True), Statistics.from_data(X[:60], y[:60])
    )
    few = ChoquetRegressor(k_additive=2, fit_intercept=True).fit(X[:60], y[:60])
    for one, other in ((chunked, whole), (on_gaps, few)):
        assert one.solution_.objective == pytest.approx(other.solution_.objective, abs=1e-7)
    more = ChoquetRegressor(k_additive=2, fit_intercept=True).fit(X[:200], y[:200])
    more.partial_fit(X[200:], y[200:])
    np.testing.assert_allclose(more.predict(X), whole.predict(X), atol=1e-5)


def test_sums_of_minima_alone_are_enough_and_serve_nothing_else():
    X, y, _ = data(20, 300)
    parts = [(X[k : k + 77], y[k : k + 77]) for k in range(0, 300, 77)]
    minima = statistics_of_chunks(parts, k_additive=2)
    found = fit_statistics(ChoquetRegressor(k_additive=2), minima)
    whole = ChoquetRegressor(k_additive=2).fit(X, y)
    np.testing.assert_allclose(found.predict(X), whole.predict(X), atol=1e-5)
    assert found.support_.n_supported == 0
    for other, need in (
        (ChoquetRegressor(), "without it"),
        (ChoquetRegressor(k_additive=3), "with k_additive=3"),
    ):
        with pytest.raises(DataError, match=need):
            fit_statistics(other, minima)
    few = statistics_of_chunks([(X[:, :4], y)], k_additive=2)
    with pytest.raises(DataError, match="without it"):
        fit_statistics(ChoquetRegressor(k_additive=2), few)


def test_a_family_chosen_beyond_sixteen_sources_answers_by_its_formula(tmp_path):
    rng = np.random.default_rng(0)
    X, fresh = rng.random((60, 18)), rng.random((200, 18))
    for prior, target, baseline in (
        ("symmetric", np.median(X, axis=1), choquet.OWARegressor()),
        ("additive", X @ np.arange(1, 19) / 171, choquet.LinearConvexSumRegressor()),
        ("lambda", choquet_integral_of_lambda(X), choquet.LambdaRegressor()),
    ):
        y = target + 0.02 * rng.standard_normal(60)
        model = choquet.ChoquetRegressorCV(random_state=0, priors=[prior], cv=2).fit(X, y)
        assert model.prior_ == prior
        alike = baseline.fit(X, y)
        np.testing.assert_allclose(model.predict(fresh), alike.predict(fresh), atol=1e-9)
        assert isinstance(model.measure_, choquet.FormulaMeasure)
        np.testing.assert_allclose(
            choquet.choquet_integral(model.measure_, fresh), model.predict(fresh), atol=1e-12
        )
        again = choquet.load(choquet.save(model, tmp_path / "model.json", overwrite=True))
        np.testing.assert_array_equal(again.predict(fresh), model.predict(fresh))


def choquet_integral_of_lambda(X):
    """Of the λ-measure that bends equal and unequal shares alike."""
    shares = np.arange(1, X.shape[1] + 1) / (X.shape[1] * (X.shape[1] + 1) / 2)
    order = np.argsort(-X, axis=1)
    gathered = np.cumsum(shares[order], axis=1)
    values = np.expm1(3 * gathered) / np.expm1(3)
    weights = np.diff(values, axis=1, prepend=0.0)
    return (np.take_along_axis(X, order, axis=1) * weights).sum(axis=1)


def test_options_beyond_sixteen_sources():
    X, y, _ = data(20, 30)
    ridge = ChoquetRegressor(k_additive=2, monotone=False, normal=False, penalty="l2", alpha=1e6)
    coefficients = ridge.fit(X, y).measure_
    assert np.abs(coefficients.coefficients[coefficients.sizes == 2]).max() < 1e-3
    with pytest.raises(OptionError, match="use 'l2'"):
        ChoquetRegressor(k_additive=2, monotone=False, penalty="l1").fit(X, y)
    with pytest.raises(OptionError, match="'lp'"):
        ChoquetRegressor(k_additive=2, penalty="lp").fit(X, y)
    with pytest.raises(TooLargeError, match="smaller k_additive"):
        ChoquetRegressor(k_additive=5).fit(X, y)


# -- supported models ------------------------------------------------------------------------------


@pytest.mark.parametrize("n", MANY)
def test_intervals_and_trust_of_supported_models(n):
    X, y, _ = data(n, 8)
    model = ChoquetRegressor().fit(X, y)
    assert isinstance(model.measure_, SupportedMeasure)
    bounds = model.support_interval(X)
    np.testing.assert_allclose(bounds[:, 0], bounds[:, 1])
    np.testing.assert_allclose(bounds[:, 0], model.predict(X))
    assert (model.support_share(X) == 1).all()
    fresh = np.random.default_rng(9).random((5, n))
    low, high = model.support_interval(fresh).T
    assert (low <= high).all()
    assert (model.support_share(fresh) < 0.5).all()
    # One sample of eight pins a value only together with the others on its chain.
    mask = sum(int(word) << 64 * k for k, word in enumerate(model.measure_.words[n // 2]))
    found = model.identify(tau=0.5, masks=[mask])
    value = model.measure_.known_values[n // 2]
    assert found.masks.tolist() == [mask]
    assert found.lower[0] - 1e-9 <= value <= found.upper[0] + 1e-9
    assert not found.stable_walks(sorts_of(X)).any()
    pairs = {int(word) for word in model.measure_.words[:, 0]}
    unseen = next(1 << i | 1 for i in range(1, n) if 1 << i | 1 not in pairs)
    with pytest.raises(OptionError, match="has no data"):
        model.identify(masks=[unseen])


def test_identification_on_supported_subsets_is_that_of_the_lattice():
    from choquet.certainty.identification import identify

    X, y, _ = data(5, 12, noise=0.1)
    statistics = Statistics.from_data(X, y)
    dense, few = least_squares(statistics), least_squares(statistics, dense=False)
    other = identify(few, solve(few), tau=0.05)
    one = identify(dense, solve(dense), tau=0.05, masks=other.masks.astype(np.int64))
    assert one.masks.tolist() == other.masks.tolist()
    np.testing.assert_allclose(one.lower, other.lower, atol=1e-6)
    np.testing.assert_allclose(one.upper, other.upper, atol=1e-6)
    np.testing.assert_array_equal(one.state, other.state)
    np.testing.assert_array_equal(one.stable_walks(sorts_of(X)), other.stable_walks(sorts_of(X)))


# -- walks -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("allowed", [0, 1, 2])
def test_paths_are_the_walks_with_few_unsupported_subsets(allowed):
    n = 5
    rng = np.random.default_rng(allowed)
    marked = rng.random(32) < 0.45
    words = np.flatnonzero(marked[1:-1])[:, None].astype(np.uint64) + np.uint64(1)
    known = {0, 31, *words[:, 0].tolist()}
    chains = set()
    for sort in permutations(range(n)):
        masks = np.cumsum([1 << i for i in sort]).tolist()
        met = tuple(mask for mask in masks if mask in known)
        if n - len(met) <= allowed:
            chains.add(met)
    # All choices of supported subsets along a walk that leave few enough out.
    expected = {
        tuple(sub)
        for chain in chains
        for size in range(len(chain) + 1)
        for sub in combinations(chain, size)
        if sub and sub[-1] == 31 and n - len(sub) <= allowed
    }
    paths = SupportedPaths(words, n, allowed)
    assert paths.n_walks == len(expected)
    sorts = paths.sorts(10_000)
    assert len(sorts) == paths.n_walks
    missing = [n - sum(m in known for m in np.cumsum(1 << row).tolist()) for row in sorts]
    assert max(missing, default=0) <= allowed
    if paths.n_walks > 3:
        drawn = paths.sorts(3, rng=0)
        assert {tuple(row) for row in drawn} <= {tuple(row) for row in sorts}


def test_walks_are_drawn_evenly():
    words = np.arange(1, 15, dtype=np.uint64)[:, None]
    paths = SupportedPaths(words, 4)
    assert paths.n_walks == 24
    rng = np.random.default_rng(0)
    counts = np.zeros(24)
    for _ in range(120):
        counts += np.bincount(choquet.sort_rank(paths.sorts(20, rng=rng)), minlength=24)
    assert ((counts - 100) ** 2 / 100).sum() < 60  # χ² of 23 degrees of freedom


# -- decomposition ---------------------------------------------------------------------------------


def test_all_walks_listed_are_the_graph():
    g = Measure.random(5, rng=1)
    known = SupportedMeasure.from_measure(g, np.ones(32, dtype=bool))
    listed, dense = decompose(known, method="distinct"), decompose(g, method="distinct")
    assert listed.n_operators == dense.n_operators
    ours, theirs = (np.unique(d.weights.round(7), axis=0) for d in (listed, dense))
    np.testing.assert_allclose(ours, theirs, atol=2e-7)
    X = np.random.default_rng(0).random((50, 5))
    np.testing.assert_allclose(listed.predict(X), dense.predict(X), atol=1e-8)
    few, same = decompose(known), decompose(g)
    np.testing.assert_allclose(few.error, same.error, atol=1e-8)
    np.testing.assert_array_equal(few.operator_of(X), same.operator_of(X))
    assert few.rules.text() == same.rules.text()


@pytest.mark.parametrize("n", [20, 30, 50, 100])
@pytest.mark.parametrize("k", [None, 2])
def test_decomposition_of_many_sources(n, k, tmp_path):
    count = 40 if n <= 30 else 15
    X, y, _ = data(n, count, noise=0)
    X = np.concatenate([X, X[:10]])  # some walks are observed twice
    y = np.concatenate([y, y[:10]])
    model = ChoquetRegressor(k_additive=k).fit(X, y)
    parts = clustered(model, method="single_linkage", k=2)
    walks = parts.sample.graph
    assert isinstance(walks, WalkList)
    assert walks.n_walks == count + 10
    assert len(walks.sorts) == count
    assert walks.n_partial == 0
    assert sum(op.share for op in parts.operators) == pytest.approx(1)
    sorts = sorts_of(X)
    values = model.measure_.walk_values(sorts)
    weights = np.diff(values, axis=1, prepend=0.0)
    np.testing.assert_allclose(parts.sample.weights[walks.index(sorts)], weights, atol=1e-8)
    label = parts.operator_of(X)
    shares = [op.share for op in parts.operators]
    np.testing.assert_allclose(shares, [np.mean(label == j) for j in range(2)])
    off = np.abs(np.cumsum(weights - parts.weights[label], axis=1)).max()
    assert parts.error.worst == pytest.approx(off, abs=1e-8)
    known = parts.assess(X)
    assert known.supported.all()
    np.testing.assert_allclose(known.integral, model.predict(X), atol=1e-9)
    fresh = np.random.default_rng(1).random((5, n))
    left = parts.assess(fresh)
    assert not left.supported.any()
    assert (left.interval[:, 0] <= left.integral + 1e-9).all()
    assert (left.integral <= left.interval[:, 1] + 1e-9).all()
    assert np.isnan(parts.predict(fresh, unsupported="suppress")).all()
    np.testing.assert_allclose(parts.predict(fresh, unsupported="measure"), left.integral)
    again = choquet.load(choquet.save(parts, tmp_path / "parts.json"))
    np.testing.assert_array_equal(again.weights, parts.weights)
    assert again.error == parts.error
    np.testing.assert_array_equal(again.predict(fresh), parts.predict(fresh))
    assert f"in place of {count} walks of {n} sources" in str(parts)
    with pytest.raises(DataError, match="operator_of_sorts"):
        parts.index()


def test_the_hidden_context_is_found_among_forty_sources():
    X, y, high = data(40, 80, noise=0)
    parts = decompose(ChoquetRegressor().fit(X, y))
    assert parts.n_operators == 2
    assert len(parts.rules.rules) == 1
    assert parts.rules.rules[0].conditions[0].source == 0
    label = parts.operator_of(X)
    assert np.mean(label == label[high][0]) == pytest.approx(np.mean(high))


def test_partly_supported_walks_are_counted_and_bounded():
    rng = np.random.default_rng(0)
    X = rng.random((10, 20))
    X[:, 5] = X[:, 4]  # every row is tied
    model = ChoquetRegressor().fit(X, X.mean(axis=1))
    with pytest.raises(DataError, match=r"no walk .* larger epsilon"):
        decompose(model)
    parts = clustered(model, epsilon=0.06)  # one subset of nineteen may lack data
    walks = parts.sample.graph
    assert walks.n_partial == len(walks.sorts) > 0
    assert "partly supported" in str(parts)
    lower, upper = model.measure_.walk_bounds(walks.sorts)
    np.testing.assert_allclose(walks.margins, (upper - lower) / 2)
    labels = parts.operator_of_sorts(walks.sorts)
    centre = np.cumsum(parts.weights, axis=1)[labels]
    away = np.maximum(np.abs(centre - lower), np.abs(centre - upper)).max()
    # Walks that share an operator share its slack, so the bound may be wider, never narrower.
    assert away - 1e-8 <= parts.error.worst <= away + (upper - lower).max() / 2
    assert (parts.assess(X).phi == 0).all()  # a tie needs no value inside it


def test_listed_walks_of_a_measure_known_everywhere_are_drawn():
    g = two_additive(30, np.random.default_rng(0))
    walks = list_walks(g, most=50, rng=0)
    assert not walks.complete
    np.testing.assert_allclose(walks.contributions().sum(), 1, atol=1e-6)
    parts = clustered(g, n_walks=200)
    assert not parts.exact
    X = np.random.default_rng(1).random((4, 30))
    assert parts.assess(X).supported.all()
    assert abs(parts.predict(X) - choquet_integral(g, X)).max() <= 1


# -- indices by sampling ---------------------------------------------------------------------------


def test_errors_of_sampled_indices_are_right():
    """Over many repeats, 95 % intervals hold the exact value about 95 times of a hundred."""
    g = Measure.random(7, rng=3)
    exact = (shapley(g), interaction(g)[np.triu_indices(7, 1)], np.array(orness(g)))
    held: list[np.ndarray] = []
    for seed in range(150):
        found = sample_indices(g, n_rounds=20, rng=seed)
        for value, estimate in zip(
            exact, (found.shapley, found.interaction, found.orness), strict=True
        ):
            low, high = estimate.interval(0.95)
            if low.ndim == 2:
                low, high = low[np.triu_indices(7, 1)], high[np.triu_indices(7, 1)]
            held.append(np.ravel((low <= value) & (value <= high)))
    assert 0.93 < np.concatenate(held).mean() < 0.97


@pytest.mark.parametrize("n", MANY)
def test_sampling_is_exact_where_two_sources_interact_at_most(n):
    g = two_additive(n, np.random.default_rng(n))
    found = sample_indices(g, n_rounds=2, rng=1)
    np.testing.assert_allclose(found.shapley.value, shapley(g), atol=1e-12)
    np.testing.assert_allclose(found.interaction.value, interaction(g), atol=1e-12)
    assert found.shapley.error.max() < 1e-12
    assert abs(found.orness.value - orness(g)) < 6 * found.orness.error + 1e-9
    weights = np.random.default_rng(0).dirichlet(np.ones(n))
    flat = sample_indices(lambda inside: inside @ weights, n, n_rounds=2)
    np.testing.assert_allclose(flat.shapley.value, weights, atol=1e-12)
    assert float(flat.orness.value) == pytest.approx(0.5, abs=1e-12)


def test_bounded_measures_get_bounds():
    rng = np.random.default_rng(0)
    for seed in range(5):
        g = Measure.random(5, rng=seed)
        known = SupportedMeasure.from_measure(g, rng.random(32) < 0.6)
        found = sample_indices(known, n_rounds=60, rng=seed)
        for value, estimate in (
            (shapley(g), found.shapley),
            (interaction(g), found.interaction),
            (orness(g), found.orness),
        ):
            low, high = estimate.interval(0.9999)
            assert (low <= value + 1e-12).all()
            assert (value <= high + 1e-12).all()
        # Of the orness the bounds are attained, by the lowest and the highest filling.
        for end, mean, error in (
            ("lower", found.orness.low, found.orness.low_error),
            ("upper", found.orness.high, found.orness.high_error),
        ):
            assert abs(mean - orness(known.to_measure(fill=end))) < 6 * error + 1e-9


def test_sampled_indices_do_not_depend_on_who_works():
    g = Measure.random(6, rng=0)
    one, two = sample_indices(g, rng=5), sample_indices(g, rng=5, n_jobs=2)
    np.testing.assert_array_equal(one.interaction.value, two.interaction.value)
    with pytest.raises(OptionError, match="at least 2"):
        sample_indices(g, n_rounds=1)
    with pytest.raises(OptionError, match="n_sources="):
        sample_indices(lambda inside: inside.mean(axis=1))


# -- the edges -------------------------------------------------------------------------------------


@pytest.mark.parametrize(("n", "k"), [(30, None), (60, None), (60, 2)])
def test_explained_reported_and_drawn(n, k):
    pytest.importorskip("jinja2")
    X, y, _ = data(n, 20, noise=0)
    model = ChoquetRegressor(k_additive=k).fit(X, y)
    parts = clustered(model, method="single_linkage", k=2)
    story = choquet.explain_model(parts)
    assert f"combines {n} sources" in story.text()
    assert story.requests == ()
    why = choquet.explain_sample(parts, X[0])
    assert why.supported
    assert why.output == pytest.approx(parts.predict(X[:1])[0])
    report = choquet.Report(parts, X, y)
    page = report.html()
    assert len(page.encode()) < 3_000_000
    assert "values, too many for a page" in page
    assert report.data["support"]["by_size"][0]["subsets"] == n
    shares = report.data["indices"]["shapley"]
    assert sum(shares) == pytest.approx(1, abs=1e-6)
    assert (report.data["indices"]["pairs"] is not None) == (k == 2)
    assert "Shapley" in report.markdown()


def test_pictures_of_many_sources():
    figure = pytest.importorskip("matplotlib.figure")
    X, y, _ = data(30, 15, noise=0)
    parts = clustered(ChoquetRegressor().fit(X, y), method="single_linkage", k=2)
    for draw in (choquet.plot.operators, choquet.plot.ivat):
        assert draw(parts, ax=figure.Figure().subplots()) is not None


@pytest.mark.parametrize("n", [30, 60])
def test_command_line_with_many_sources(n, tmp_path, monkeypatch, capsys):
    pytest.importorskip("click")
    from choquet.cli import main

    monkeypatch.chdir(tmp_path)
    X, y, _ = data(n, 15, noise=0)
    header = ",".join([*names(n), "y"])
    np.savetxt("rows.csv", np.column_stack([X, y]), delimiter=",", header=header, comments="")
    for words in (
        ["fit", "rows.csv", "-o", "model.json"],
        ["decompose", "model.json", "-o", "parts.json"],
        ["report", "parts.json", "rows.csv", "-o", "page.html"],
        ["report", "model.json", "-o", "page.md"],
        ["explain", "model.json"],
        ["explain", "parts.json", "rows.csv", "--row", "2"],
    ):
        assert main(words) == 0, words
    said = capsys.readouterr().out
    assert "root mean square error" in said
    assert f"of {n} sources" in said
    assert (tmp_path / "page.html").stat().st_size < 3_000_000


def test_supported_measures_from_rounded_values():
    words = coalitions(20, 2)
    g = two_additive(20, np.random.default_rng(0))
    known = SupportedMeasure.nearest(words, g.values_of(words) - 1e-17, g.sources, total=1.0)
    X = np.random.default_rng(0).random((5, 20))
    low, high = choquet_interval(known, X).T
    assert (low - 1e-9 <= g.integral(X)).all()
    assert (g.integral(X) <= high + 1e-9).all()
    assert DataSupport.from_data(X).n_supported <= 5 * 19
