"""Learners that search, bags, and linguistic summaries: against brute force."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

from choquet import (
    ChoquetRegressor,
    Clodd,
    LambdaRegressor,
    Measure,
    SupportedMeasure,
    choquet_integral,
    decompose,
)
from choquet.errors import DataError, OptionError, TooLargeError
from choquet.estimators import (
    BinaryRegressor,
    DecomposableRegressor,
    GeneticRegressor,
    MultipleInstanceRegressor,
    RewardPunishmentRegressor,
)
from choquet.estimators.searches import binary_measures
from choquet.explanation import linguistic_summaries
from choquet.lattice import monotonicity_witness
from choquet.lattice.wide import membership


def rows(n=3, m=80, seed=0, noise=0.05):
    rng = np.random.default_rng(seed)
    X = rng.random((m, n))
    y = choquet_integral(Measure.random(n, rng=rng), X) + noise * rng.normal(size=m)
    return X, np.clip(y, 0, 1)


def error(measure, X, y):
    return float(((choquet_integral(measure, X) - y) ** 2).mean())


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_all_binary_measures(n):
    every = [
        v
        for v in itertools.product([0.0, 1.0], repeat=1 << n)
        if v[0] == 0 and v[-1] == 1 and monotonicity_witness(np.array(v)) is None
    ]
    assert sorted(map(tuple, binary_measures(n).tolist())) == sorted(every)


def test_as_many_binary_measures_as_dedekind_counted():
    assert len(binary_measures(5)) == 7581 - 2


@pytest.mark.parametrize("seed", range(3))
def test_the_best_binary_measure(seed):
    X, y = rows(4, seed=seed)
    model = BinaryRegressor().fit(X, y)
    best = min(error(Measure(v), X, y) for v in binary_measures(4))
    assert model.proved_
    assert model.error_ == pytest.approx(best, abs=1e-12)
    np.testing.assert_allclose(model.predict(X), choquet_integral(model.measure_, X))


def test_binary_measures_of_more_sources():
    rng = np.random.default_rng(0)
    X = rng.random((300, 6))
    y = np.maximum(np.minimum(X[:, 0], X[:, 1]), np.minimum(X[:, 2], X[:, 3]))
    model = BinaryRegressor().fit(X, y)
    assert not model.proved_
    assert set(np.unique(model.measure_.values)) == {0.0, 1.0}
    # No single value can be turned to gain anything.
    for mask in range(1, 63):
        values = model.measure_.values.copy()
        values[mask] = 1 - values[mask]
        if monotonicity_witness(values) is None:
            assert error(Measure(values), X, y) >= model.error_ - 1e-12


@pytest.mark.parametrize("conorm", ["probabilistic", "max", "bounded"])
def test_densities_come_back(conorm):
    rng = np.random.default_rng(1)
    X = rng.random((150, 3))
    truth = Measure.decomposable([0.15, 0.5, 0.3], conorm=conorm)
    model = DecomposableRegressor(conorm=conorm).fit(X, choquet_integral(truth, X))
    np.testing.assert_allclose(model.densities_, [0.15, 0.5, 0.3], atol=0.01)
    X, y = rows(3, seed=5)
    model.fit(X, y)
    grid = np.linspace(0, 1, 6)
    best = min(
        error(Measure.decomposable(d, conorm=conorm), X, y)
        for d in itertools.product(grid, repeat=3)
    )
    assert model.error_ <= best + 1e-9
    assert not model.proved_


def test_genetic_search_nears_the_exact_optimum():
    X, y = rows(4)
    model = GeneticRegressor(random_state=0).fit(X, y)
    exact = error(ChoquetRegressor().fit(X, y).measure_, X, y)
    assert exact - 1e-9 <= model.error_ <= 1.1 * exact
    assert (np.diff(model.errors_) <= 0).all()
    again = clone(model).fit(X, y)
    np.testing.assert_array_equal(again.measure_.values, model.measure_.values)


def test_reward_and_punishment():
    X, y = rows(3, m=150)
    model = RewardPunishmentRegressor().fit(X, y)
    start = error(Measure.sugeno_lambda([1 / 3] * 3), X, y)
    best = error(LambdaRegressor().fit(X, y).measure_, X, y)
    assert best - 1e-9 <= model.error_ < start
    np.testing.assert_allclose(
        model.measure_.values, Measure.sugeno_lambda(model.densities_).values, atol=1e-12
    )


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (GeneticRegressor(population=2), "population=2"),
        (DecomposableRegressor(conorm="sum"), "conorm='sum'"),
        (RewardPunishmentRegressor(rate=0), "rate=0"),
        (MultipleInstanceRegressor(max_iter=0), "max_iter=0"),
    ],
)
def test_bad_options(model, message):
    with pytest.raises(OptionError, match=message):
        model.fit(*rows())


@pytest.mark.parametrize(
    "model", [BinaryRegressor(), DecomposableRegressor(), GeneticRegressor(random_state=0)], ids=str
)
def test_more_sources_than_can_be_listed(model):
    """Beyond 12 sources the values of the supported subsets are searched, in order."""
    rng = np.random.default_rng(0)
    X = rng.random((25, 14))
    y = X.max(axis=1)
    model.fit(X, y)
    assert isinstance(model.measure_, SupportedMeasure)
    values = model.measure_.values_of(model.measure_.words)
    inside = membership(model.measure_.words, 14)
    for i, j in itertools.permutations(range(len(values)), 2):
        if (inside[i] <= inside[j]).all():
            assert values[i] <= values[j]
    assert model.error_ == pytest.approx(((model.predict(X) - y) ** 2).mean(), abs=1e-9)
    assert model.error_ < np.var(y)


def test_too_much_to_search(monkeypatch):
    X = np.random.default_rng(0).random((20, 13))
    with pytest.raises(TooLargeError, match="up to 12 sources, not 13"):
        RewardPunishmentRegressor().fit(X, X.max(axis=1))
    monkeypatch.setattr("choquet.estimators.searches.MAX_SUBSETS", 40)
    with pytest.raises(TooLargeError, match="at most 40, not"):
        BinaryRegressor().fit(X, X.max(axis=1))


ESTIMATORS = [
    BinaryRegressor(),
    DecomposableRegressor(),
    GeneticRegressor(population=10, generations=10, random_state=0),
    RewardPunishmentRegressor(epochs=2),
    MultipleInstanceRegressor(),
]


# The checks feed targets and inputs of any scale, which the estimators rightly warn about.
@pytest.mark.numerical
@pytest.mark.filterwarnings("ignore::choquet.errors.ChoquetWarning")
@parametrize_with_checks(ESTIMATORS)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


# -- bags ------------------------------------------------------------------------------------------


def test_single_rows_are_least_squares():
    X, y = rows()
    model = MultipleInstanceRegressor().fit(X, y)
    assert model.proved_
    np.testing.assert_allclose(model.predict(X), ChoquetRegressor().fit(X, y).predict(X))


@pytest.mark.parametrize("seed", range(3))
def test_bags_against_all_choices_of_witnesses(seed):
    rng = np.random.default_rng(seed)
    X, bags = rng.random((12, 2)), np.arange(12) // 2
    g = Measure.random(2, rng=rng)
    labels = choquet_integral(g, X).reshape(-1, 2).max(axis=1) + 0.05 * rng.normal(size=6)
    labels = labels.clip(0, 1)
    model = MultipleInstanceRegressor().fit(X, labels[bags], bags)
    found = ((model.predict_bags(X, bags) - labels) ** 2).mean()
    assert found == pytest.approx(model.errors_[-1])
    grid = np.linspace(0, 1, 41)
    best = min(
        (
            (choquet_integral(Measure([0, a, b, 1]), X).reshape(-1, 2).max(axis=1) - labels) ** 2
        ).mean()
        for a in grid
        for b in grid
    )
    assert found <= best + 0.005  # a heuristic: near the best of all measures, never proved
    assert not model.proved_
    assert (np.diff(model.errors_) < 0).all()


def test_bags_of_a_frame_keep_its_names():
    X, y = rows()
    frame = pd.DataFrame(X, columns=["gpr", "ir", "emi"])
    model = MultipleInstanceRegressor().fit(frame, y)
    assert model.measure_.sources == ("gpr", "ir", "emi")
    np.testing.assert_allclose(model.measure_.integral(frame), model.predict(frame))
    bounds = model.support_interval(frame)
    assert (bounds[:, 0] <= model.predict(frame) + 1e-9).all()
    assert (model.predict(frame) <= bounds[:, 1] + 1e-9).all()
    assert model.explain(frame[:1])[0].output == pytest.approx(model.predict(frame[:1])[0])


def test_bad_bags():
    X, y = rows(m=4)
    with pytest.raises(DataError, match="several labels"):
        MultipleInstanceRegressor().fit(X, y, [0, 0, 1, 1])
    with pytest.raises(DataError, match="one bag for each of 4 rows"):
        MultipleInstanceRegressor().fit(X, y, [0, 1])


# -- linguistic summaries --------------------------------------------------------------------------


def test_summaries_say_what_is_counted():
    g = Measure([0, 0, 1, 1, 1, 1, 1, 1], sources=["gpr", "ir", "emi"])
    X = np.random.default_rng(0).random((300, 3))
    parts = decompose(g, method=Clodd())
    found = linguistic_summaries(parts, X, least_truth=0.0, least_coverage=0.0)
    used = [parts.operators[k].name for k in parts.operator_of(X)]
    largest = X.argmax(axis=1)
    one = next(s for s in found if s.condition.endswith("ir is the largest") and s.share > 0.5)
    assert one.share == np.mean(
        [u == one.operator for u, i in zip(used, largest, strict=True) if i == 1]
    )
    assert one.coverage == np.mean(largest == 1)
    assert one.truth == 1.0
    assert one.text == "Almost all samples in which ir is the largest use the largest."
    about_all = next(s for s in found if not s.condition and s.operator == "max")
    share = used.count("max") / 300
    assert about_all.share == share
    assert about_all.quantifier == "most"
    assert about_all.truth == pytest.approx(min(max((share - 0.3) / 0.5, 0), 1))
    assert [s.truth for s in found] == sorted((s.truth for s in found), reverse=True)


def test_degrees_of_truth_are_memberships_of_shares():
    """The truth of a sentence is where the share of its samples lies in the trapezoid."""
    g = Measure([0, 0, 1, 1, 1, 1, 1, 1], sources=["gpr", "ir", "emi"])
    parts = decompose(g, method=Clodd())
    corners = {"a quarter or so of the": (0.1, 0.2, 0.3, 0.4)}
    for n_median in range(11):
        X = np.array([[0.9, 0.5, 0.1]] * n_median + [[0.1, 0.9, 0.5]] * (10 - n_median))
        found = linguistic_summaries(parts, X, least_truth=0.0, quantifiers=corners)
        (one,) = [s for s in found if not s.condition and s.operator == "median"]
        share = n_median / 10
        expected = max(0.0, min(1.0, (share - 0.1) / 0.1, (0.4 - share) / 0.1))
        assert one.truth == pytest.approx(expected)
        assert one.text == "A quarter or so of the samples use the median of the three."


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"least_truth": 2}, "least_truth=2"),
        ({"quantifiers": {}}, "quantifiers is empty"),
        ({"quantifiers": {"most": (0.3, 0.8, 1)}}, "the quantifier 'most' must have four shares"),
        ({"quantifiers": {"most": (0.8, 0.3, 1, 1)}}, "ascend"),
    ],
)
def test_bad_limits(options, message):
    g = Measure([0, 0.2, 0.3, 1])
    with pytest.raises(OptionError, match=message):
        linguistic_summaries(decompose(g), [[0.1, 0.2]], **options)
