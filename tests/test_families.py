"""Every row of the table of families keeps what its columns promise."""

import numpy as np
import pytest

import choquet
from choquet.certainty.posterior import posterior, posterior_weights
from choquet.estimators import ChoquetRegressor, ChoquetRegressorCV
from choquet.lattice import upward_maximum
from choquet.learning import FAMILIES, Statistics
from choquet.learning.families import BASES, PRIORS, Odds, chains
from choquet.learning.families.candidates import Candidate, fit_candidate
from choquet.learning.families.table import Family

pytestmark = pytest.mark.numerical

N = 4
EVERY = np.arange(1 << N, dtype=np.uint64)[:, None]
MEMBERS = {
    "additive": choquet.Measure.additive([0.1, 0.2, 0.3, 0.4]),
    "symmetric": choquet.Measure.symmetric([0.1, 0.2, 0.3, 0.4]),
    "2-additive": choquet.Measure(
        0.5 * choquet.Measure.additive([0.1, 0.2, 0.3, 0.4]).values + 0.5 * ((EVERY[:, 0] & 3) == 3)
    ),
    "lambda": choquet.Measure.sugeno_lambda([0.1, 0.2, 0.3, 0.2]),
}
"""A measure of each family, to be found again."""


def data(name, noise=0.0, n_samples=200):
    rng = np.random.default_rng(7)
    X = rng.random((n_samples, N))
    y = choquet.choquet_integral(MEMBERS[name], X)
    return X, y + noise * rng.standard_normal(n_samples)


def test_each_family_has_a_member_here():
    assert set(MEMBERS) == set(PRIORS) == {name for name in FAMILIES if FAMILIES[name].fit}


@pytest.mark.parametrize("name", PRIORS)
def test_the_fit_finds_a_member_of_the_family(name):
    values = FAMILIES[name].fit(Statistics.from_data(*data(name))).values_of(EVERY)
    np.testing.assert_allclose(values, MEMBERS[name].values, atol=1e-4)


@pytest.mark.parametrize("name", BASES)
def test_basis_and_pattern_hold_every_member(name):
    family = FAMILIES[name]
    for table in (family.basis(N), family.pattern(EVERY, N)):
        columns = table.toarray() if hasattr(table, "toarray") else table
        assert columns.shape[1] == family.n_parameters(N)
        found = columns @ np.linalg.lstsq(columns, MEMBERS[name].values, rcond=None)[0]
        np.testing.assert_allclose(found, MEMBERS[name].values, atol=1e-12)


@pytest.mark.parametrize("name", PRIORS)
def test_the_chain_stays_near_a_member(name):
    found = posterior(Statistics.from_data(*data(name, noise=0.01)), name)
    np.testing.assert_allclose(found.values, MEMBERS[name].values, atol=0.03)


@pytest.mark.parametrize("name", PRIORS)
def test_the_family_of_the_truth_gets_the_weight(name):
    model = ChoquetRegressorCV(random_state=0).fit(*data(name, noise=0.01))
    weights = dict(zip(model.cv_results_["prior"], model.cv_results_["weight"], strict=True))
    allowed = [name] if name != "additive" else ["additive", "lambda", "2-additive"]
    assert sum(weights.get(one, 0.0) for one in allowed) > 0.5


def test_a_new_family_is_one_row(monkeypatch):
    """Measures that see the largest input of each half: learned, averaged and weighed by a row."""

    def halves(words, n_sources):
        inside = (words[:, :1].astype(np.int64) >> np.arange(n_sources)) & 1
        half = n_sources // 2
        return np.column_stack([inside[:, :half].max(axis=1), inside[:, half:].max(axis=1)]) * 1.0

    class Fit:
        def __init__(self, statistics):
            seen = halves(statistics.masks, statistics.n_sources)
            gram = seen.T @ (statistics.gram @ seen)
            weights = np.clip(np.linalg.solve(gram, seen.T @ statistics.targets), 0, None)
            self.n, self.weights = statistics.n_sources, weights / weights.sum()

        def values_of(self, words):
            return halves(words, self.n) @ self.weights

    def chain(statistics, floor, rng, n_states=0):
        del rng
        values = Fit(statistics).values_of(EVERY)
        energy = 0.5 * statistics.weight * np.log(statistics.squared_error(values) + floor)
        mean = upward_maximum(values)
        return chains.Chained(mean, energy + 1.0, np.tile(mean, (n_states, 1)))

    row = Family(
        meaning="the larger of two halves", n_parameters=lambda n: 2, pattern=halves,
        basis=lambda n: halves(np.arange(1 << n, dtype=np.uint64)[:, None], n), fit=Fit, wide=True,
        chain=chain, odds=Odds(usual=0.0, doubling=0.0, tenfold=0.0),
    )  # fmt: skip
    monkeypatch.setitem(FAMILIES, "halves", row)
    rng = np.random.default_rng(1)
    X = rng.random((80, N))
    y = 0.3 * X[:, :2].max(axis=1) + 0.7 * X[:, 2:].max(axis=1) + 0.01 * rng.standard_normal(80)
    statistics = Statistics.from_data(X, y)
    names = ["additive", "halves"]
    found = [posterior(statistics, name) for name in names]
    assert posterior_weights(statistics, names, found)[1] > 0.99
    np.testing.assert_allclose(found[1].values[[1, 4]], [0.3, 0.7], atol=0.05)


def test_what_may_be_a_prior_follows_from_the_table():
    X, y = data("additive")
    for name in BASES:
        ChoquetRegressor(prior=name).fit(X, y)
    for name in ("none", "lambda", "other"):
        with pytest.raises(choquet.errors.OptionError, match="additive, symmetric, 2-additive"):
            ChoquetRegressor(prior=name).fit(X, y)
    with pytest.raises(choquet.errors.OptionError, match="lambda, l1, l2"):
        ChoquetRegressorCV(random_state=0, priors=["none"]).fit(X, y)
    dense = fit_candidate(Statistics.from_data(X, y), Candidate("lambda", np.inf)).dense
    np.testing.assert_allclose(dense, MEMBERS["additive"].values, atol=1e-4)
    assert callable(chains.simplex(FAMILIES["additive"].pattern))
