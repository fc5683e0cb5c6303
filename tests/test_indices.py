from __future__ import annotations

from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given
from scipy import integrate, stats

from choquet import (
    DataSupport,
    Measure,
    banzhaf,
    choquet_integral,
    indices,
    interaction,
    shapley,
    uniform_distribution,
)
from choquet.errors import DataError, MeasureError, MissingDependencyError
from choquet.operators import familiar_operators
from tests import oracles
from tests.strategies import measures

pytestmark = pytest.mark.numerical


@given(measures(max_sources=5))
def test_shapley_is_the_mean_over_permutations(g):
    values = shapley(g)
    np.testing.assert_allclose(values, oracles.shapley(g.values, g.n_sources), atol=1e-12)
    assert values.sum() == pytest.approx(1)


@given(measures(max_sources=5))
def test_interaction_by_definition(g):
    n = g.n_sources
    full = indices.interaction_transform(g)
    pairs = interaction(g)
    for size in range(1, n + 1):
        for subset in combinations(range(n), size):
            expected = oracles.interaction(g.values, n, subset)
            assert full[sum(1 << i for i in subset)] == pytest.approx(expected, abs=1e-10)
            if size == 2:
                assert pairs[subset] == pytest.approx(expected, abs=1e-12)
    np.testing.assert_allclose(np.diag(pairs), shapley(g))
    np.testing.assert_allclose(pairs, pairs.T)


@given(measures(max_sources=5))
def test_banzhaf_by_definition(g):
    masks = np.arange(len(g.values))
    for i, value in enumerate(banzhaf(g)):
        a = masks[masks >> i & 1 == 0]
        assert value == pytest.approx((g.values[a | 1 << i] - g.values[a]).mean(), abs=1e-12)


@given(measures(max_sources=5))
def test_duality_mirrors_the_indices(g):
    dual = g.dual()
    np.testing.assert_allclose(shapley(dual), shapley(g), atol=1e-12)
    assert indices.orness(dual) == pytest.approx(indices.andness(g))
    np.testing.assert_allclose(indices.veto(dual), indices.favour(g), atol=1e-12)
    assert indices.entropy(dual) == pytest.approx(indices.entropy(g))


@given(measures(min_sources=2, max_sources=5))
def test_orness_is_where_the_mean_lies_between_min_and_max(g):
    n = g.n_sources
    low, high = 1 / (n + 1), n / (n + 1)
    mean = uniform_distribution(g).mean
    assert indices.orness(g) == pytest.approx((mean - low) / (high - low), abs=1e-12)
    veto, favour = indices.veto(g), indices.favour(g)
    assert veto.mean() == pytest.approx(indices.andness(g))  # Marichal (2004)
    assert favour.mean() == pytest.approx(indices.orness(g))


@given(measures(min_sources=2, max_sources=5))
def test_entropy_and_distances_are_means_over_walks(g):
    operators = np.array(list(oracles.walk_operators(g.values, g.n_sources).values()))
    logs = np.where(operators > 0, operators * np.log(np.where(operators > 0, operators, 1)), 0)
    assert indices.entropy(g, normalised=False) == pytest.approx(-logs.sum(1).mean(), abs=1e-12)
    levels = np.cumsum(operators, axis=1)[:, :-1]
    distances = indices.distance_to_operators(g)
    for name, weights in familiar_operators(g.n_sources).items():
        expected = np.sqrt(((levels - np.cumsum(weights)[:-1]) ** 2).mean())
        assert distances[name] == pytest.approx(expected, abs=1e-7)
    nearest = indices.nearest_order_statistic(g)
    np.testing.assert_allclose(nearest.weights, operators.mean(axis=0), atol=1e-12)


def test_additive_measures_have_no_interaction():
    g = Measure.additive([0.1, 0.2, 0.3, 0.4])
    assert indices.nonadditivity(g) == pytest.approx(0, abs=1e-12)
    assert indices.nonmodularity(g) == pytest.approx(0, abs=1e-12)
    np.testing.assert_allclose(shapley(g), [0.1, 0.2, 0.3, 0.4])
    off = interaction(g)[~np.eye(4, dtype=bool)]
    np.testing.assert_allclose(off, 0, atol=1e-12)
    assert indices.nonadditivity(Measure([0, 1])) == 0
    other = Measure([0, 0.1, 0.1, 1])
    # Nearest additive with sum 1 is (1/2, 1/2): both subsets miss by 0.4.
    assert indices.nonadditivity(other) == pytest.approx(0.4)


@given(measures(min_sources=2, max_sources=4))
def test_full_support_gives_the_full_indices(g):
    X = np.random.default_rng(0).random((400, g.n_sources))
    support = DataSupport.from_data(X)
    assert support.supported.all()
    np.testing.assert_allclose(
        indices.supported_interaction(g, support), interaction(g), atol=1e-12
    )
    np.testing.assert_allclose(indices.supported_shapley(g, support), shapley(g), atol=1e-12)


def test_no_support_gives_nothing():
    g = Measure.random(3, rng=0)
    empty = DataSupport.empty(3)
    assert np.isnan(indices.supported_shapley(g, empty)).all()
    assert np.isnan(indices.supported_interaction(g, empty)).all()
    with pytest.raises(DataError, match="support is of 2"):
        indices.supported_interaction(g, DataSupport.empty(2))


# -- distribution ----------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
def test_order_statistics_of_uniforms_are_beta(n):
    x = np.linspace(0.01, 0.99, 25)
    for k in range(n):
        d = uniform_distribution(Measure.symmetric(np.eye(n)[k]))
        beta = stats.beta(n - k, k + 1)
        np.testing.assert_allclose(d.cdf(x), beta.cdf(x), atol=1e-12)
        np.testing.assert_allclose(d.pdf(x), beta.pdf(x), atol=1e-10)
        assert d.mean == pytest.approx(beta.mean())
        assert d.sd == pytest.approx(beta.std())


@given(measures(min_sources=2, max_sources=4))
def test_moments_and_cdf_follow_from_the_density(g):
    d = uniform_distribution(g)
    assert d.cdf([-0.1, 1.0, 2.0]).tolist() == pytest.approx([0, 1, 1])
    knots = np.unique(np.round(g.values, 12))
    total = mean = square = 0.0
    for low, high in pairwise(knots):
        x, w = np.polynomial.legendre.leggauss(12)
        x, w = (high - low) / 2 * x + (high + low) / 2, w * (high - low) / 2
        f = d.pdf(x)
        total, mean, square = total + w @ f, mean + w @ (f * x), square + w @ (f * x * x)
        middle = (low + high) / 2
        slope = (d.cdf([middle + 1e-6]) - d.cdf([middle - 1e-6]))[0] / 2e-6
        if high - low > 1e-3:
            assert slope == pytest.approx(d.pdf([middle])[0], rel=1e-3, abs=1e-3)
    assert total == pytest.approx(1, abs=1e-9)
    assert mean == pytest.approx(d.mean, abs=1e-9)
    assert np.sqrt(max(square - mean**2, 0)) == pytest.approx(d.sd, abs=1e-6)


def test_distribution_against_simulation():
    g = Measure.random(6, rng=5)
    values = choquet_integral(g, np.random.default_rng(0).random((40_000, 6)))
    d = uniform_distribution(g)
    assert values.mean() == pytest.approx(d.mean, abs=5 * d.sd / 200)
    assert stats.kstest(values[:4000], d.cdf).pvalue > 1e-4
    assert integrate.quad(lambda x: d.pdf([x])[0], 0, 1, limit=200)[0] == pytest.approx(1, abs=1e-4)


def test_distribution_needs_values_above_zero():
    with pytest.raises(MeasureError, match="≥ 0"):
        uniform_distribution(Measure([0, -1, 2, 1], monotone=False))


# -- summary and export ----------------------------------------------------------------------------


def test_summary_holds_every_index():
    g = Measure.random(4, sources=["gpr", "ir", "emi", "a very long name"], rng=0)
    s = g.summary()
    np.testing.assert_array_equal(s.shapley, shapley(g))
    text = str(s)
    for word in ("Shapley", "veto", "orness", "entropy", "a very long name", "nearest operator"):
        assert word in text
    assert str(Measure([0, 1]).summary()).startswith("source")


def test_export_to_shapiq():
    pytest.importorskip("shapiq")
    g = Measure.random(4, rng=0)
    values = indices.to_shapiq(g)
    assert values[(0, 1)] == pytest.approx(interaction(g)[0, 1])
    assert values[(2,)] == pytest.approx(shapley(g)[2])


def test_export_to_shapiq_says_what_is_missing(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "shapiq", None)
    with pytest.raises(MissingDependencyError, match="pip install shapiq"):
        indices.to_shapiq(Measure([0, 1]))
