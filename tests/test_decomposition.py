"""The default way to decompose: contexts grown as conditions, operators by source and by rank."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

import choquet
from choquet import (
    ChoquetRegressor,
    Clodd,
    ContextTree,
    DataSupport,
    Distinct,
    Measure,
    all_sorts,
    decompose,
    sorts_of,
)
from choquet.contexts import LeafOptions, RankRows, SplitOptions, grow
from choquet.contexts.from_walks import describe_walks
from choquet.contexts.meeting import Together
from choquet.datasets import make_fusion, make_noise_measure
from choquet.errors import DataError, OptionError, SupportWarning
from choquet.lattice.ties import strict_falls
from choquet.operators.blends import shortest_split
from choquet.walks.sorts import strict_steps
from tests.strategies import measures

DEMINING = Measure([0, 0, 1, 1, 1, 1, 1, 1], sources=["gpr", "ir", "emi"])


def additive(*weights):
    return Measure.additive(np.array(weights)).values


def symmetric(*weights):
    return Measure.symmetric(np.array(weights)).values


TRUTHS = {
    "additive": (additive(0.4, 0.3, 0.2, 0.06, 0.04), 1),
    "symmetric": (symmetric(0.4, 0.3, 0.2, 0.1), 1),
    "sum of both": (0.6 * additive(0.5, 0.3, 0.2, 0) + 0.4 * symmetric(0.5, 0.1, 0.1, 0.3), 1),
    "half a, half min": (0.5 * additive(1, 0, 0, 0) + 0.5 * symmetric(0, 0, 0, 1), 1),
    "max of two weighted means": (
        np.maximum(additive(0.5, 0.3, 0.2, 0), additive(0.5, 0, 0.2, 0.3)),
        2,
    ),
    "demining": (DEMINING.values, 2),
    "noise, figure": (make_noise_measure().values, 4),
    "noise, caption": (make_noise_measure(reading="caption").values, 4),
    "one source": (np.array([0.0, 1.0]), 1),
}


@pytest.mark.parametrize("name", list(TRUTHS))
def test_what_is_true_is_found_exactly(name):
    values, n_operators = TRUTHS[name]
    d = decompose(Measure(values))
    assert d.n_operators == n_operators
    assert d.exact
    assert d.error.worst < 1e-6
    X = np.random.default_rng(0).random((200, d.n_sources))
    np.testing.assert_allclose(d.predict(X), d.measure.integral(X), atol=1e-6)
    assert not d.poor
    assert "exactly" in str(d) or d.error.worst > 1e-9


def _additive(weights):
    masks = np.arange(2 ** len(weights))[:, None] >> np.arange(len(weights)) & 1
    return masks @ np.asarray(weights)


@pytest.mark.parametrize("n", [3, 4])
def test_the_larger_of_two_additive_measures_is_taken_apart_exactly(n):
    rng = np.random.default_rng(n)
    for _ in range(5):
        one = rng.dirichlet(np.ones(n))
        # One source counts for less, all others for more: four pieces of three sources, eight of
        # four. Where two of four count for less there are 14, more than are described.
        two = one + np.where(np.arange(n) == 0, -1, 1 / (n - 1)) * one[0] * rng.random()
        g = Measure(np.maximum(_additive(one), _additive(two)))
        d = decompose(g)
        assert d.error.worst < 1e-9
        if n == 3:
            # Weighted means: that of one measure, of the other, and two that change over.
            assert not any(operator.rank_weights.any() for operator in d.operators)
            for weights in (one, two):
                assert any(np.allclose(o.source_weights, weights) for o in d.operators)


@pytest.mark.parametrize("n", [3, 4, 5])
def test_the_larger_of_two_weighted_means_that_differ_in_two_sources(n):
    rng = np.random.default_rng(n)
    one = rng.dirichlet(np.ones(n))
    two = one.copy()
    two[[0, 1]] += np.array([-1, 1]) * one[0] / 2
    d = decompose(Measure(np.maximum(_additive(one), _additive(two))))
    X = rng.random((200, n))
    assert d.n_operators == 2
    assert d.error.worst < 1e-9
    np.testing.assert_allclose(d.predict(X), np.maximum(X @ one, X @ two), atol=1e-9)
    assert {str(operator.context) for operator in d.operators} == {
        "x1 is above x2",
        "x2 is above x1",
    }


def test_other_maxima_of_weighted_means_are_no_choquet_integrals():
    one, two = np.array([0.5, 0.3, 0.2]), np.array([0.2, 0.4, 0.4])
    # Both rows have one order of the inputs, in which an integral is linear, and this is not.
    X = np.array([[0.2, 0.9, 0.1], [0.85, 0.9, 0.1]])
    middle = X.mean(axis=0)
    ends = np.maximum(X @ one, X @ two)
    assert max(middle @ one, middle @ two) < ends.mean() - 1e-3


def test_words_tell_operators_apart():
    names = ["gpr", "ir", "emi", "cam"]
    words = {
        name: decompose(Measure(TRUTHS[name][0], names[: int(np.log2(len(TRUTHS[name][0])))]))
        for name in ("half a, half min", "sum of both", "demining")
    }
    assert words["half a, half min"].operators[0].name == "half of gpr, half of the smallest"
    assert [op.name for op in words["demining"].operators] == ["max", "median"]
    assert [str(op.context) for op in words["demining"].operators] == [
        "gpr is not the largest",
        "gpr is the largest",
    ]
    weighted = decompose(Measure.additive([0.4, 0.3, 0.2, 0.1], names)).operators[0]
    assert weighted.name == "weighted mean: 0.4 gpr + 0.3 ir + 0.2 emi + 0.1 cam"
    np.testing.assert_allclose(weighted.source_weights, [0.4, 0.3, 0.2, 0.1], atol=1e-9)
    assert not weighted.rank_weights.any()
    four = decompose(make_noise_measure())
    assert len({op.name for op in four.operators}) == 4


@given(measures(min_sources=2, max_sources=4))
@settings(max_examples=25)
def test_every_sentence_about_a_context_is_true(g):
    """Contexts, read alone, hold for the walks of their operator and for no other."""
    d = decompose(g)
    sorts = all_sorts(g.n_sources)
    labels = d.operator_of_sorts(sorts)
    for number, operator in enumerate(d.operators):
        np.testing.assert_array_equal(operator.context.holds(sorts), labels == number)
        assert operator.share == pytest.approx(np.mean(labels == number))
    np.testing.assert_array_equal(d.rules.predict(sorts), labels)


@given(measures(min_sources=2, max_sources=4))
@settings(max_examples=25)
def test_errors_are_never_exceeded(g):
    d = decompose(g)
    X = np.random.default_rng(0).random((2000, g.n_sources))
    away = np.abs(d.predict(X) - g.integral(X))
    assert away.max() <= d.error.worst + 1e-9
    for number, operator in enumerate(d.operators):
        inside = d.operator_of(X) == number
        assert away[inside].max(initial=0.0) <= operator.error.worst + 1e-9
    assert np.sqrt(np.mean(away**2)) <= 1.3 * d.error.rms + 1e-9


def test_operators_that_differ_by_less_than_the_floor_are_one():
    """Also where they would be exact as two: nobody can act on a difference of 0.002."""
    values = np.array(DEMINING.values, dtype=float)
    two = decompose(Measure(values))
    values[[2, 4]] -= [0.001, 0.003]
    near = decompose(Measure(values))
    assert two.n_operators == near.n_operators == 2
    assert 0 < near.error.worst < 0.005
    assert len({op.name for op in near.operators}) == 2


def test_four_operators_come_back_from_noisy_samples():
    """At σ = 0.05 the true four are found from 300 samples in nearly all of twelve seeds."""
    truth = make_noise_measure()
    found = []
    for seed in range(12):
        made = make_fusion(300, 5, measure=truth, noise=0.05, rng=seed)
        found.append(decompose(ChoquetRegressor().fit(made.data, made.target)).n_operators)
    assert sum(number == 4 for number in found) >= 10


def test_true_operators_come_back_with_rows_and_targets():
    """Contexts of the walks are taken where they predict as well as more contexts from rows."""
    truth = make_noise_measure()
    four, Z = decompose(truth).operators, np.random.default_rng(0).random((500, 5))
    found = []
    for seed in (101, 102, 103, 106):
        made = make_fusion(300, 5, measure=truth, noise=0.05, rng=seed)
        model = ChoquetRegressor().fit(made.data, made.target)
        d = decompose(model, made.data, made.target)
        away = [min(np.sqrt(np.mean((o(Z) - p(Z)) ** 2)) for p in d.operators) for o in four]
        found.append(d.n_operators <= 5 and max(away) < 0.03)
        assert sum(op.share for op in d.operators) == pytest.approx(1)
        np.testing.assert_allclose(
            np.bincount(d.operator_of(made.data)) / 300, [op.share for op in d.operators]
        )
    assert sum(found) >= 3


@pytest.mark.parametrize("rows", [False, True])
def test_operators_of_a_noisy_model_agree_where_their_contexts_meet(rows):
    """Without jumps, a description is itself the integral of a measure: that of its vertices."""
    made = make_fusion(300, 5, measure=make_noise_measure(), noise=0.05, rng=101)
    model = ChoquetRegressor().fit(made.data, made.target)
    d = decompose(model, made.data, made.target) if rows else decompose(model)
    assert d.n_operators == 4
    g = Measure(d.predict((np.arange(32)[:, None] >> np.arange(5)) & 1))
    X = np.random.default_rng(1).random((3000, 5))
    # Weights of walks are rounded to six decimals where that costs nothing, and ten are in play.
    np.testing.assert_allclose(d.predict(X), g.integral(X), atol=1e-5)
    clustered = decompose(model, method=Clodd(refit=True, max_clusters=4))
    assert np.abs(clustered.predict(X) - g.integral(X)).max() > 1e-3


def test_meeting_operators_are_the_best_that_meet():
    """Against a program that is told each equation: no other such operators are nearer."""
    import cvxpy

    g = Measure.random(4, rng=3)
    sorts = all_sorts(4)
    found = describe_walks(
        sorts, g.walk_weights(sorts), np.ones(24), n_values=14, max_operators=3, kinds=["rank"],
        floor=0.01,
    )  # fmt: skip
    again = Together(found.rows, found.tree, found.grouping, sorts).fitted()
    assert again is not None
    labels = found.grouping.labels[found.tree.leaf_of(found.rows.ranks)][::4]
    assert len(set(labels)) > 1
    weights = cvxpy.Variable((len(found.grouping.kinds), 4))
    value: dict[int, list[Any]] = {}
    for sort, k in zip(sorts, labels, strict=True):
        for j in range(1, 5):
            subset = int((1 << sort[:j]).sum())
            value.setdefault(subset, []).append(cvxpy.sum(weights[int(k), :j]))
    up = np.arange(4, 0, -1)
    low, high = np.minimum.outer(up, up), np.maximum.outer(up, up)
    root = np.linalg.cholesky(low * (high + 1) / 30)
    away = (weights[labels] - g.walk_weights(sorts)) @ root
    total = [cvxpy.sum(weights, axis=1) == 1]
    agree = [one == several[0] for several in value.values() for one in several[1:]]
    problem = cvxpy.Problem(cvxpy.Minimize(cvxpy.sum_squares(away)), total + agree)
    problem.solve(solver=cvxpy.CLARABEL)
    # `error` is of one of the four rows that stand for a walk.
    assert again.error * 4 == pytest.approx(problem.value / 24, rel=1e-5)
    assert again.error > found.grouping.error
    by_rank = again.in_units(found.rows).by_rank
    np.testing.assert_allclose(by_rank, weights.value, atol=1e-4)


def test_weights_that_are_small_by_chance_are_left_out():
    """Of a learned weighted mean of two sources the others' weights are noise, some below zero."""
    truth = Measure.additive([0.6, 0.4, 0, 0], sources=["a", "b", "c", "d"])
    made = make_fusion(300, 4, measure=truth, noise=0.02, rng=0)
    model = ChoquetRegressor().fit(made.data, made.target)
    assert (np.abs(model.measure_.values - truth.values) > 1e-3).any()
    (operator,) = decompose(model).operators
    np.testing.assert_allclose(operator.source_weights, [0.6, 0.4, 0, 0], atol=0.02)
    np.testing.assert_array_equal(operator.source_weights[2:], 0)
    assert not operator.rank_weights.any()


def test_rows_that_contradict_the_model_and_rows_without_noise():
    X = np.random.default_rng(0).random((200, 3))
    y = X @ [0.5, 0.3, 0.2]
    model = ChoquetRegressor().fit(X, y)
    reverse = decompose(model, X, 1 - y)
    assert reverse.cost.contradicted
    assert str(reverse).startswith("The rows contradict the model")
    exact = decompose(model, X[:80], y[:80])
    assert exact.cost.ratio == pytest.approx(1)
    assert not exact.poor


def test_of_very_many_rows_some_are_drawn_and_that_is_said():
    X = np.random.default_rng(0).random((700, 20))
    model = ChoquetRegressor().fit(X[:60], X[:60].mean(axis=1))
    d = decompose(model, X, method=ContextTree(leaf="source"))
    assert d.n_drawn == 500
    assert "grown from 500 rows drawn" in d.opening()
    assert decompose(model, X[:300], method=ContextTree(leaf="source")).n_drawn == 0


def test_clusters_that_differ_by_less_than_the_noise_floor_are_one():
    """Near the mean, unequal weights of sources make up to N! operators that are next to equal."""
    rng = np.random.default_rng(0)
    for base in (additive(0.255, 0.25, 0.25, 0.245), additive(0.26, 0.25, 0.25, 0.24)):
        for share in (0.0, 0.005, 0.01):
            g = Measure((1 - share) * base + share * Measure.random(4, rng=rng).values)
            d = decompose(g, method=Clodd())
            assert d.n_operators <= 3
            levels = np.cumsum(d.weights, axis=1)
            apart = np.abs(levels[:, None] - levels).max(axis=2)[np.triu_indices(len(levels), 1)]
            assert (apart > 0.005).all()
    # What differs by more stays apart.
    assert decompose(Measure([0, 0, 1, 1, 1, 1, 1, 1]), method=Clodd()).n_operators == 2


def test_measures_that_are_equal_to_a_hundredth_are_described_alike():
    rng = np.random.default_rng(0)
    base = additive(0.4, 0.3, 0.2, 0.1)
    for _ in range(5):
        other = Measure.random(4, rng=rng).values
        d = decompose(Measure(0.99 * base + 0.01 * other))
        assert d.n_operators == 1


def test_sources_that_do_not_matter_need_not_be_asked_about():
    """A tree may compare some sources alone; the description then says nothing of others."""
    g, sorts = Measure.random(5, rng=4), all_sorts(5)
    rows = RankRows.from_walks(sorts, g.walk_weights(sorts), np.ones(120))
    splits = SplitOptions(5.0, asked=(0, 1, 2))
    tree = grow(rows, rows.everything(), LeafOptions(l2=1e-9), splits, max_leaves=6)
    inner = ~tree.is_leaf
    assert inner.sum() > 1
    assert set(tree.source[inner]) | set(tree.above[inner]) <= {0, 1, 2}
    assert (tree.top[inner] == -1).all()
    # A source that does not matter may still make the shortest rule.
    assert [op.name for op in decompose(DEMINING).operators] == ["max", "median"]


def test_the_shortest_split_is_the_same_operator():
    rng = np.random.default_rng(0)
    X = rng.random((20, 4))
    for _ in range(50):
        ranks, sources = rng.choice([0.0, 0.5, 1.0], 4), rng.choice([0.0, 0.25, 1.0], 4)
        short = shortest_split(ranks, sources)
        before = -np.sort(-X, axis=1) @ ranks + X @ sources
        after = -np.sort(-X, axis=1) @ short[0] + X @ short[1]
        np.testing.assert_allclose(before, after, atol=1e-12)
        assert np.count_nonzero(np.concatenate(short)) <= np.count_nonzero([ranks, sources])


# -- with data -------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def learned():
    rng = np.random.default_rng(0)
    X = rng.random((400, 4))
    y = np.where(X[:, 0] == X.max(axis=1), X[:, 0], X @ [0.1, 0.2, 0.3, 0.4])
    y = y + 0.05 * rng.standard_normal(400)
    return ChoquetRegressor().fit(X, y), X, y


def test_rows_decide_and_the_cost_is_said_first(learned):
    model, X, y = learned
    d = decompose(model, X, y)
    assert d.n_operators <= 8
    assert d.unit == "samples"
    assert d.cost.refitted
    assert 0.5 < d.cost.ratio < 1.3
    assert d.cost.unsupported == 0  # 400 rows show all 14 sets of four sources
    assert d.cost.description < d.cost.plain_mean
    first, second = str(d).splitlines()[:2]
    for other in ("the full integral's", "one weighted sum", "one order statistic", "the mean"):
        assert other in first
    assert "the contexts agree by" in second
    assert "No other row supports" not in second
    assert sum(op.count for op in d.operators) == len(X)
    np.testing.assert_allclose(
        d.row_error, np.sqrt(np.mean((d.predict(X) - model.predict(X)) ** 2))
    )
    labels = d.operator_of(X)
    for number, operator in enumerate(d.operators):
        np.testing.assert_array_equal(operator.context.holds_in(X), labels == number)
    # Operators of a fusion give back what all inputs agree on.
    np.testing.assert_allclose(d.predict(np.full((1, 4), 0.3)), 0.3)
    assert pickle.loads(pickle.dumps(d)) == d  # noqa: S301
    frame = d.to_frame("polars")
    assert frame["share"].sum() == pytest.approx(1)


def test_without_targets_and_without_a_model(learned):
    model, X, y = learned
    assert decompose(model, X).cost is None
    given = decompose(model.measure_, X, y)
    assert not given.cost.refitted
    assert decompose(model, X, y, method=ContextTree(folds=0)).cost is None


def test_thresholds_where_asked(learned):
    model, X, y = learned
    d = decompose(model, X, y, method=ContextTree(n_cuts=6))
    labels = d.operator_of(X)
    for number, operator in enumerate(d.operators):
        np.testing.assert_array_equal(operator.context.holds_in(X), labels == number)


def test_values_are_asked_for_where_ranks_predict_too_badly():
    data = choquet.datasets.load_yacht()
    X, y = np.asarray(data.data, dtype=float), np.log1p(np.asarray(data.target, dtype=float))
    X, y = (X - X.mean(axis=0)) / X.std(axis=0), (y - y.mean()) / y.std()
    model = ChoquetRegressor(monotone=False, normal=False, fit_intercept=True).fit(X, y)
    by_rank = decompose(model, X, y, method=ContextTree(n_cuts=0))
    by_value = decompose(model, X, y)
    assert not by_rank.tree.has_thresholds
    assert by_rank.cost.ratio > 1
    assert by_value.tree.has_thresholds
    assert by_value.cost.description < 0.9 * by_rank.cost.description
    assert any("is at least" in str(operator.context) for operator in by_value.operators)


def test_refit_is_closer_than_medoids(learned):
    model, X, y = learned
    errors = [
        np.mean((decompose(model, X, y, method=Clodd(refit=refit)).predict(X) - y) ** 2)
        for refit in (False, True)
    ]
    assert errors[1] <= errors[0]
    g = Measure.random(5, rng=1)
    plain, fitted = (decompose(g, method=Clodd(refit=refit)).error.rms for refit in (False, True))
    assert fitted <= plain + 1e-12


def test_a_poor_description_says_so_first():
    d = decompose(Measure.random(5, rng=3), method=ContextTree(max_operators=1, leaf="source"))
    assert d.poor
    assert str(d).startswith("A poor description")
    assert "What would help" in str(d)


def test_what_was_drawn_is_said():
    d = decompose(Measure.random(9, rng=0))
    assert not d.exact
    assert f"over {d.n_walks:,} walks drawn" in d.opening() or d.error.worst < 1e-9


def test_stored_and_back(learned, tmp_path):
    model, X, y = learned
    for d in (decompose(model, X, y), decompose(DEMINING)):
        back = choquet.load(choquet.save(d, tmp_path / f"{d.n_sources}.json"))
        assert back == d
        assert str(back) == str(d)


# -- bad input -------------------------------------------------------------------------------------


def test_data_that_do_not_fit(learned):
    model, X, y = learned
    with pytest.raises(DataError, match="3 columns, but there are 4 sources"):
        decompose(model, X[:, :3], y)
    with pytest.raises(DataError, match="399 targets for 400 rows"):
        decompose(model, X, y[1:])
    with pytest.raises(DataError, match="2 rows are too few"):
        decompose(model, X[:2], y[:2])
    with pytest.raises(DataError, match="need the rows X"):
        decompose(model, y=y)
    with pytest.warns(SupportWarning, match="give at least 40 rows"):
        assert decompose(model, X[:30], y[:30]).n_operators == 1
    with pytest.raises(DataError, match="support is of 3 sources, the measure of 4"):
        decompose(model, support=DataSupport.from_data(X[:, :3]))
    with pytest.raises(DataError, match="support no walk with Φ = 0"):
        decompose(DEMINING, support=DataSupport.from_data([[0.5, 0.5, 0.1]]))


def test_what_rows_lack_is_said_once(learned):
    model, X, y = learned
    with pytest.warns(SupportWarning, match="too few for a rule") as said:
        decompose(model, X, y, method=ContextTree(min_samples=len(X)))
    assert len(said) == 1


def test_constant_outputs_are_one_operator(learned):
    _, X, _ = learned
    with pytest.warns(SupportWarning, match="every source is constant"):
        d = decompose(DEMINING, np.full((50, 3), 0.5))
    assert d.n_operators == 1
    np.testing.assert_allclose(d.predict([[0.5, 0.5, 0.5]]), 0.5)
    zero = Measure(np.zeros(8), monotone=False, normal=False)
    assert decompose(zero).n_operators == 1
    assert decompose(zero, X[:, :3]).n_operators == 1


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: decompose(DEMINING, method="kmeans"), "contexts, clodd, distinct"),
        (lambda: decompose(DEMINING, method=Clodd), "give Clodd()"),
        (lambda: decompose(DEMINING, method=3), "fit_predict"),
        (lambda: ContextTree(max_operators=0), "max_operators=0"),
        (lambda: ContextTree(leaf="mixed"), "leaf='mixed'"),
        (lambda: ContextTree(floor=-1), "floor=-1"),
        (lambda: ContextTree(min_samples=0), "min_samples=0"),
        (lambda: decompose(DEMINING, method=ContextTree(n_cuts=3)), "give rows, X"),
        (lambda: decompose(DEMINING, support="mine"), "support='mine'"),
    ],
)
def test_bad_options(make, message):
    with pytest.raises(OptionError) as caught:
        make()
    assert message in str(caught.value)


def test_what_cannot_be_decomposed():
    with pytest.raises(DataError, match="cannot decompose dict: give a measure"):
        decompose({})


@pytest.mark.parametrize("method", [ContextTree(), Clodd(), Distinct()])
def test_what_decides_a_row_is_found_once(method):
    """Operator, sort, leaf and inputs in order agree with what each is alone, ties included."""
    X = np.random.default_rng(3).random((60, 4)).round(1)
    X[0, 1] = X[0, 0] * (1 + 2e-16)
    d = decompose(Measure.random(4, rng=2), method=method)
    found = d.decided(X)
    np.testing.assert_array_equal(found.operator, d.operator_of(X))
    np.testing.assert_array_equal(found.sort, sorts_of(X))
    np.testing.assert_array_equal(found.leaf, d.leaf_of(X))
    np.testing.assert_allclose(found.ordered, -np.sort(-X, axis=1), rtol=1e-14)
    np.testing.assert_array_equal(strict_falls(found.ordered), strict_steps(X)[:, :-1])
    known = d.assess(X)
    np.testing.assert_array_equal(known.sort, found.sort)
    np.testing.assert_array_equal(known.leaf, found.leaf)
    assert (found.leaf >= 0).all() == (d.tree is not None)
    if d.tree is not None:
        np.testing.assert_array_equal(d.labels[found.leaf], found.operator)
