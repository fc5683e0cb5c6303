"""Inputs that differ by rounding alone are tied: in support, intervals, learning and answers."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import choquet
import choquet.contexts
from choquet.errors import DataError
from choquet.lattice.ties import TIE, settled, tie_widths
from choquet.learning import Statistics, absolute_loss
from choquet.learning.data import statistics as room
from choquet.learning.data.minima import MinimaStatistics
from choquet.walks.sorts import strict_steps


def grids(n_sources, n_samples=12):
    """Tenths as whole numbers, with many ties."""
    return arrays(np.int64, (n_samples, n_sources), elements=st.integers(-3, 9))


def two_ways(tenths, seed):
    """The same numbers, worked out in one way, and each in a way of its own."""
    plain = tenths / 10
    other = np.where(np.random.default_rng(seed).random(tenths.shape) < 0.5, tenths * 0.1, plain)
    return plain, other


def test_three_tenths_are_three_tenths():
    support = choquet.DataSupport.from_data([[0.1 * 3, 0.3, 0.1]])
    assert support.n_tied == 1
    assert support.words.ravel().tolist() == [3]
    model = choquet.ChoquetRegressor().fit([[0.9, 0.5, 0.1], [0.8, 0.6, 0.3]], [0.5, 0.6])
    # Only {x, y} is needed, which has data: {y} alone is not, whatever the last digit says.
    row = [[0.3, 0.1 * 3, 0.1]]
    assert model.support_share(row) == 1.0
    low, high = model.support_interval(row)[0]
    assert low == high


@settings(deadline=None, max_examples=40)
@given(grids(4), st.integers(0, 99))
def test_support_does_not_see_rounding(tenths, seed):
    plain, other = (choquet.DataSupport.from_data(X) for X in two_ways(tenths, seed))
    np.testing.assert_array_equal(plain.words, other.words)
    np.testing.assert_array_equal(plain.counts, other.counts)
    np.testing.assert_array_equal(plain.observed_sorts, other.observed_sorts)
    assert plain.n_tied == other.n_tied


@settings(deadline=None, max_examples=30)
@given(st.one_of(grids(4), grids(14, 6)), st.integers(0, 99))
def test_statistics_do_not_see_rounding(tenths, seed):
    """By table up to 13 sources, by sorting beyond."""
    y = np.arange(len(tenths)) / 7
    plain, other = (Statistics.from_data(X, y) for X in two_ways(tenths, seed))
    np.testing.assert_array_equal(plain.masks, other.masks)
    np.testing.assert_array_equal(plain.counts, other.counts)
    np.testing.assert_allclose(plain.gram.toarray(), other.gram.toarray(), rtol=1e-12, atol=1e-14)
    assert plain.tied == other.tied


@settings(deadline=None, max_examples=30)
@given(st.one_of(grids(5), grids(14, 6)), st.integers(0, 99))
def test_statistics_and_support_count_the_same_subsets(tenths, seed):
    _, X = two_ways(tenths, seed)
    statistics, support = Statistics.from_data(X, X[:, 0]), choquet.DataSupport.from_data(X)
    proper = np.bitwise_count(statistics.masks).sum(axis=1) < X.shape[1]
    np.testing.assert_array_equal(statistics.masks[proper], support.words)
    np.testing.assert_array_equal(statistics.counts[proper], support.counts)


@settings(deadline=None, max_examples=20)
@given(grids(3, 8), grids(3, 5), st.integers(0, 99))
def test_models_do_not_see_rounding(tenths, asked, seed):
    if (tenths == tenths[:, :1]).all() or np.ptp(tenths[:, 0]) == 0:
        return
    y = tenths[:, 0] / 10
    models = [choquet.ChoquetRegressor().fit(X, y) for X in two_ways(tenths, seed)]
    plain, other = two_ways(asked, seed)
    for model in models:
        np.testing.assert_array_equal(model.support_share(plain), model.support_share(other))
        apart = model.support_interval(plain) - model.support_interval(other)
        assert np.abs(apart).max() < 1e-12
    widths = [np.ptp(model.support_interval(plain), axis=1) for model in models]
    np.testing.assert_allclose(*widths, atol=1e-6)


@pytest.mark.parametrize("seed", range(3))
def test_contexts_are_not_learned_from_rounding(seed):
    rng = np.random.default_rng(seed)
    plain, other = two_ways(rng.integers(0, 11, (300, 3)), seed)
    y = np.where(plain[:, 0] > plain[:, 1], plain[:, 2], plain.max(axis=1))
    found = [
        choquet.ContextualRegressor(prune="bic", l2=0.1, random_state=0).fit(X, y).predict(plain)
        for X in (plain, other)
    ]
    np.testing.assert_allclose(found[1], found[0], atol=1e-9)


def deciding(name):
    """A model whose answer jumps where the order of the inputs changes, and how it answers."""
    if name in ("clodd", "contexts"):
        found = choquet.decompose(choquet.Measure.random(3, rng=5), method=name)
        return found, found.predict
    X = np.random.default_rng(1).random((300, 3))
    y = np.where(X[:, 0] > X[:, 1], X[:, 2], 4 - X.max(axis=1))
    if name == "classes":
        model = choquet.ContextualClassifier(prune="none", max_leaves=4).fit(X, y > 1)
        return model, lambda rows: model.predict_proba(rows)[:, 1]
    model = choquet.ContextualRegressor(prune="bic", l2=0.1, n_cuts=4 if name == "cuts" else 0)
    return model.fit(X, y), model.predict


@pytest.mark.parametrize("name", ["contextual", "cuts", "classes", "clodd", "contexts"])
def test_answers_do_not_see_rounding(name):
    model, predict = deciding(name)
    for seed in range(5):
        plain, other = two_ways(np.random.default_rng(seed).integers(-3, 10, (400, 3)), seed)
        assert (plain != other).any()
        np.testing.assert_array_equal(choquet.sorts_of(plain), choquet.sorts_of(other))
        np.testing.assert_array_equal(model.operator_of(plain), model.operator_of(other))
        # Operators weigh inputs that differ by a unit in the last place.
        np.testing.assert_allclose(predict(plain), predict(other), rtol=0, atol=1e-12)
    pair = [choquet.explain_sample(model, [0.3, x, 0.1]) for x in (0.1 * 3, 0.3)]
    assert pair[0].operator == pair[1].operator
    assert pair[0].sort.tolist() == pair[1].sort.tolist() == [0, 1, 2]
    assert pair[0].rule == pair[1].rule
    assert (pair[0].switch is None) == (pair[1].switch is None)
    if pair[0].switch is not None:
        assert pair[0].switch.operator == pair[1].switch.operator
        assert pair[0].switch.pair == pair[1].switch.pair


def test_conditions_and_rules_do_not_see_rounding():
    condition = choquet.contexts.Condition(1, above=0)
    assert not condition.holds_in([[0.3, 0.1 * 3, 0.1]]).any()
    assert condition.holds_in([[0.3, 0.31, 0.1]]).all()


def test_cuts_are_between_values():
    """A threshold at a value would part 0.3 from what is worked out as 0.1 * 3."""
    tenths = np.random.default_rng(0).integers(0, 30, (400, 2))
    y = (tenths[:, 0] > 12) * 1.0
    for n_cuts in (3, 8, 40):
        plain, other = two_ways(tenths, 3)
        model = choquet.ContextualRegressor(n_cuts=n_cuts, prune="none", l2=0.1).fit(other, y)
        np.testing.assert_array_equal(model.apply(plain), model.apply(other))
        values = model.decomposition_.tree.value
        away = np.abs(values[np.isfinite(values), None] - np.arange(30) / 10).min(axis=1)
        assert len(away)
        assert away.min() > 0.04


def test_a_chain_of_near_ties_is_one_tie():
    row = 1.0 + np.arange(6)[::-1] * 10 * np.finfo(float).eps
    assert row[0] - row[-1] > TIE
    for order in np.random.default_rng(0).permuted(np.tile(np.arange(6), (20, 1)), axis=1):
        assert choquet.sorts_of(row[order][None]).tolist() == [[0, 1, 2, 3, 4, 5]]


@pytest.mark.filterwarnings("error")
def test_the_largest_numbers_have_an_order():
    largest = np.finfo(float).max
    assert choquet.sorts_of([[-largest, largest, 0.0]]).tolist() == [[1, 2, 0]]


def test_absolute_loss_and_minima_see_the_same_ties():
    exact, near = np.array([[0.3, 0.3, 0.1]]), np.array([[0.1 * 3, 0.3, 0.1]])
    designs = [absolute_loss(X, np.array([0.2])).absolute.design for X in (exact, near)]
    assert designs[0].nnz == designs[1].nnz == 2
    assert MinimaStatistics.from_data([[0.3, 0.1 * 3]] * 2, [0.1, 0.2], order=2).tied
    assert MinimaStatistics.from_data([[0.3, 0.1 * 3]] * 9, np.arange(9), order=2).tied
    assert not MinimaStatistics.from_data([[0.3, 0.31]] * 9, np.arange(9), order=2).tied


def test_rows_that_are_all_tied_are_refused_by_every_learner():
    X = np.column_stack([np.arange(1, 9) * 0.1, np.arange(1, 9) / 10])
    assert (X[:, 0] != X[:, 1]).any()
    for model, y in (
        (choquet.ChoquetRegressor(), X[:, 0]),
        (choquet.ChoquetClassifier(), X[:, 0] > 0.4),
    ):
        with pytest.raises(DataError, match="tied in all sources"):
            model.fit(X, y)


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 10_000), st.integers(1, 6), st.sampled_from([1e-60, 1.0, 3.0, 1e60]))
def test_without_near_ties_nothing_changes_to_the_bit(seed, n, scale):
    rng = np.random.default_rng(seed)
    X = scale * rng.integers(-50, 50, (20, n)).astype(float)
    assert settled(X) is X
    y, weight = rng.random(20), rng.random(20)
    found = Statistics.from_data(X, y, weight)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(room, "TIE", 0.0)
        plain = Statistics.from_data(X, y, weight)
    for name, array in found.to_arrays().items():
        np.testing.assert_array_equal(array, plain.to_arrays()[name])


@settings(deadline=None, max_examples=60)
@given(grids(5), st.integers(0, 99), st.sampled_from([1.0, 1e-3, 7e5, -1.0]))
def test_settled_rows_have_exact_ties(tenths, seed, scale):
    _, X = two_ways(tenths, seed)
    X = X * scale
    even = settled(X)
    assert (np.abs(even - X) <= X.shape[1] * tie_widths(-np.sort(-X))).all()
    ranks = tenths * np.sign(scale)
    for i in range(X.shape[1]):
        for j in range(i):
            np.testing.assert_array_equal(even[:, i] == even[:, j], ranks[:, i] == ranks[:, j])
    np.testing.assert_array_equal(strict_steps(X), strict_steps(even))


def test_the_limit_is_where_it_is_said_to_be():
    def tied(gap):
        return not strict_steps([[4.0 + gap, 4.0, 0.0]])[0, 0]

    assert tied(4 * TIE)
    assert not tied(4.01 * TIE + 1e-15)
