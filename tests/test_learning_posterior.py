"""The average over families: chains against quadrature, folds of rows in a stream."""

from __future__ import annotations

import warnings
from itertools import pairwise

import numpy as np
import pytest
from scipy.optimize import nnls
from scipy.special import expit, log_ndtr, logsumexp, ndtri
from scipy.stats import truncnorm

import choquet
from choquet.certainty.posterior import believed, posterior, posterior_weights
from choquet.errors import OptionError
from choquet.estimators import ChoquetRegressor, ChoquetRegressorCV
from choquet.lattice import cover_pairs
from choquet.learning import FAMILIES, Statistics, k_additive_basis, least_squares
from choquet.learning.data.folds import fold_numbers, leave_one_out
from choquet.learning.families._kernels_chains import log_gap, tail_quantile, truncated_normal
from choquet.learning.families.candidates import Candidate, fit_candidate
from choquet.learning.families.chains import PAIR_SPREAD
from choquet.learning.families.curves import CURVE_SCALE, SHARE_SPREAD
from choquet.learning.families.fits import fit_pairs
from choquet.learning.families.table import ends_of_pairs
from choquet.learning.problem import with_basis
from choquet.learning.solvers.interior import interior

pytestmark = pytest.mark.numerical


def make(n_samples, n_sources, sigma, seed=0, kind="uniform"):
    rng = np.random.default_rng(seed)
    g = choquet.Measure.random(n_sources, kind=kind, rng=rng)
    X = rng.random((n_samples, n_sources))
    return g, X, choquet.choquet_integral(g, X) + sigma * rng.standard_normal(n_samples)


def test_quantiles_of_a_cut_normal():
    rng = np.random.default_rng(0)
    for _ in range(300):
        a = 4 * rng.standard_normal()
        b = a + rng.exponential(rng.choice([1e-6, 0.1, 1.0, 10.0]))
        if max(a, -b) > 5.5:
            continue
        mean, deviation, u = rng.standard_normal(), rng.choice([0.1, 3.0]), rng.random()
        low, high = mean + deviation * a, mean + deviation * b
        found = truncated_normal(mean, deviation, low, high, u)
        expected = truncnorm.ppf(u, a, b, mean, deviation)
        assert found == pytest.approx(expected, abs=1e-7 * deviation)
    # Far out, where distribution functions are zero in floats, it stays inside and near the end.
    assert 50 <= truncated_normal(0.0, 1.0, 50.0, 51.0, 0.5) < 50.1
    assert -51 <= truncated_normal(0.0, 1.0, -51.0, -50.0, 0.5) <= -50
    assert truncated_normal(0.0, 1.0, 0.3, 0.3, 0.5) == 0.3


def test_quantiles_of_the_normal_are_those_of_scipy_in_the_middle_and_in_both_tails():
    p = np.concatenate([np.linspace(1e-9, 1 - 1e-9, 999), 10.0 ** -np.linspace(1, 299, 300)])
    found = [tail_quantile(one) for one in p.tolist()]
    assert found == pytest.approx(-ndtri(p), rel=1e-13, abs=1e-15)
    assert np.isfinite([tail_quantile(0.0), tail_quantile(1.0)]).all()


def _grids(name):
    """Points of the prior of a family of two sources, with logarithms of their weights."""
    if name == "lambda":
        odds, c = np.meshgrid(np.linspace(-30, 30, 1201), np.linspace(-20, 20, 801) + 1e-3)
        first, second = (np.expm1(c * expit(s)) / np.expm1(c) for s in (odds, -odds))
        # Student's distribution of the difference of two logarithms of shares.
        log_weight = -1.5 * np.log(SHARE_SPREAD**2 + odds**2 / 4) - np.abs(c) / CURVE_SCALE
        return first.ravel(), second.ravel(), log_weight.ravel()
    t = (np.arange(800) + 0.5) / 800
    if name in ("none", "2-additive"):
        first, second = (part.ravel() for part in np.meshgrid(t, t))
        return first, second, np.zeros(len(first))
    return t, 1 - t if name == "additive" else t, np.zeros(len(t))


@pytest.mark.parametrize("name", ["none", "2-additive", "additive", "symmetric", "lambda"])
def test_mean_and_criterion_agree_with_quadrature(name):
    _, X, y = make(25, 2, 0.1)
    statistics = Statistics.from_data(X, y)
    first, second, log_weight = _grids(name)
    values = np.column_stack([first, second, np.ones(len(first))])
    gram = statistics.gram.toarray()
    error = np.einsum("ij,jk,ik->i", values, gram, values) - 2 * values @ statistics.targets
    energy = 12.5 * np.log(error + statistics.target_square)
    share = np.exp(log_weight - energy - logsumexp(log_weight - energy))
    found = posterior(statistics, name, rng=1)
    mean = share @ values
    np.testing.assert_allclose(found.values[1:3], mean[:2], atol=0.012)
    own = 12.5 * np.log(
        mean @ gram @ mean - 2 * mean @ statistics.targets + statistics.target_square
    )
    n_effective = 2 * (share @ energy - own)
    assert found.n_effective == pytest.approx(n_effective, abs=0.25)
    assert found.predictive == pytest.approx(-own - n_effective, abs=0.25)


@pytest.mark.parametrize("edge", [False, True])
def test_values_that_are_alike_agree_with_quadrature(edge):
    """Two values, each at 0, at 1 or between them with weights of one beforehand."""
    _, X, y = make(25, 2, 0.1, seed=3)
    if edge:
        y = X.max(axis=1) + 0.1 * np.random.default_rng(1).standard_normal(25)
    statistics = Statistics.from_data(X, y)
    t = np.concatenate([[0.0, 1.0], (np.arange(800) + 0.5) / 800])
    own_weight = np.append([1.0, 1.0], np.full(800, 1 / 800))
    first, second = (part.ravel() for part in np.meshgrid(t, t))
    log_weight = np.log(np.outer(own_weight, own_weight)).ravel()
    values = np.column_stack([first, second, np.ones(len(first))])
    gram = statistics.gram.toarray()
    error = np.einsum("ij,jk,ik->i", values, gram, values) - 2 * values @ statistics.targets
    log_weight = log_weight - 12.5 * np.log(error + statistics.target_square)
    share = np.exp(log_weight - logsumexp(log_weight))
    found = posterior(statistics, "none", rng=1, sparse=True)
    np.testing.assert_allclose(found.values[1:3], (share @ values)[:2], atol=0.012)
    if edge:
        assert share[(first == 1) & (second == 1)].sum() > 0.5


def _weights_with_zeros(n_cells=120):
    """Three weights that sum to one on a grid, with what each counts: 1, 2 and 3 are as likely."""
    inner = (np.arange(n_cells) + 0.5) / n_cells
    ends, mass = [np.eye(3)], [np.full(3, 1 / 9)]
    for i, j in ((0, 1), (0, 2), (1, 2)):
        edge = np.zeros((n_cells, 3))
        edge[:, i], edge[:, j] = inner, 1 - inner
        ends.append(edge)
        mass.append(np.full(n_cells, 1 / 9 / n_cells))
    first, share = (part.ravel() for part in np.meshgrid(inner, inner))
    ends.append(np.column_stack([first, (1 - first) * share, (1 - first) * (1 - share)]))
    mass.append((1 - first) * 2 / 3 / n_cells**2)
    return np.vstack(ends), np.concatenate(mass)


@pytest.mark.parametrize("name", ["additive", "symmetric"])
@pytest.mark.parametrize("truth", [(0.2, 0.5, 0.3), (0.9, 0.1, 0.0), (0.0, 1.0, 0.0)])
def test_weights_that_may_be_zero_agree_with_quadrature(name, truth):
    rng = np.random.default_rng(4)
    X, weights = rng.random((30, 3)), np.array(truth)
    y = (X if name == "additive" else -np.sort(-X)) @ weights + 0.15 * rng.standard_normal(30)
    statistics = Statistics.from_data(X, y)
    points, mass = _weights_with_zeros()
    assert mass.sum() == pytest.approx(1, abs=0.01)
    pattern = FAMILIES[name].pattern(np.arange(8, dtype=np.uint64)[:, None], 3)
    errors = np.array([statistics.squared_error(pattern @ one) for one in points])
    log_weight = np.log(mass) - 15 * np.log(errors)
    share = np.exp(log_weight - logsumexp(log_weight))
    found = posterior(statistics, name, rng=1, sparse=True)
    np.testing.assert_allclose(found.values, pattern @ (share @ points), atol=0.02)
    states = FAMILIES[name].sparse(statistics, 1e-12, np.random.default_rng(0), 2000).states
    alone = np.isin(states.round(9), [0.0, 1.0]).all(axis=1).mean()  # one weight is not zero
    assert alone == pytest.approx(share[:3].sum(), abs=0.06)


def test_without_data_any_number_of_weights_is_as_likely():
    """One row whose inputs are next to alike says nothing; each count of weights comes up."""
    statistics = Statistics.from_data([[0.5, 0.5 - 1e-6, 0.5 - 2e-6, 0.5 - 3e-6]], [0.5])
    chain = FAMILIES["additive"].sparse
    states = chain(statistics, 1e-12, np.random.default_rng(0), 4000).states
    counts = (states[:, [1, 2, 4, 8]] > 0).sum(axis=1)
    shares = np.bincount(counts, minlength=5)[1:] / len(counts)
    np.testing.assert_allclose(shares, 0.25, atol=0.08)
    np.testing.assert_allclose(states[:, [1, 2, 4, 8]].sum(axis=1), 1.0, rtol=1e-12)


def test_integrals_of_the_normal_between_two_ends_are_those_of_scipy():
    rng = np.random.default_rng(0)
    for scale in (0.1, 1.0, 5.0, 20.0, 60.0):
        a, width = scale * rng.standard_normal(200), scale * rng.exponential(size=200) + 1e-9
        b = a + width
        low, high = np.where(a + b < 0, -b, a), np.where(a + b < 0, -a, b)
        # The mirror image leans to the right, where the upper tails lose nothing.
        upper, rest = log_ndtr(-low), log_ndtr(-high)
        wanted = upper + np.log(-np.expm1(rest - upper)) + 0.5 * np.log(2 * np.pi)
        found = [log_gap(x, z) for x, z in zip(a, b, strict=True)]
        np.testing.assert_allclose(found, wanted, atol=1e-4)


def test_2_additive_measures_are_averages_of_minima_and_maxima_of_pairs():
    for seed in range(5):
        _, X, y = make(30, 4, 0.3, seed=seed)
        words = np.arange(16, dtype=np.uint64)[:, None]
        values = FAMILIES["2-additive"].fit(Statistics.from_data(X, y)).measure.values_of(words)
        _, rest = nnls(ends_of_pairs(words, 4), values)
        assert rest < 1e-5


def test_a_single_order_statistic_is_found_among_noise():
    """The mean under the prior with zeros is nearer to a median than the fit and the other mean."""
    nearer = 0
    for seed in range(6):
        rng = np.random.default_rng(seed)
        X = rng.random((60, 5))
        y = np.median(X, axis=1) + 0.1 * rng.standard_normal(60)
        truth = choquet.Measure.symmetric([0, 0, 1, 0, 0]).values
        mean, zeros, fit = believed(Statistics.from_data(X, y), "symmetric")
        far = [np.abs(one.values - truth).max() for one in (mean, zeros, fit)]
        nearer += far[1] <= min(far) + 1e-6
    assert nearer >= 4


def test_a_chain_without_data_is_its_own_dual():
    """Beforehand, what is said of a set from below is said of its complement from above.

    Data that hardly say anything: one row whose inputs are next to alike.
    """
    statistics = Statistics.from_data([[0.5, 0.5 - 1e-6, 0.5 - 2e-6]], [0.5])
    found = posterior(statistics, "none", rng=1, sparse=True).values
    np.testing.assert_allclose(found + found[::-1], 1.0, atol=0.05)
    states = FAMILIES["none"].sparse(statistics, 1e-12, np.random.default_rng(0), 200).states
    pairs = cover_pairs(3)
    assert (states[:, pairs[:, 0]] <= states[:, pairs[:, 1]]).all()
    # Values are alike where the prior says so: 0, 1 and neighbours that are equal occur.
    assert (states[:, 1:-1] == 1).any()
    assert (np.diff(np.sort(states[:, 1:-1], axis=1), axis=1) == 0).mean() > 0.2


def test_interactions_of_pairs_are_drawn_together():
    """Three sources, against draws from the prior weighed by the likelihood."""
    _, X, y = make(30, 3, 0.15, seed=4)
    statistics = Statistics.from_data(X, y)
    rng = np.random.default_rng(0)
    a, b, c, ab, ac = rng.random((5, 3_000_000))
    bc = 1 + a + b + c - ab - ac  # 2-additive: m(abc) = 0
    fine = (ab >= np.maximum(a, b)) & (ac >= np.maximum(a, c)) & (bc >= np.maximum(b, c))
    g = np.column_stack([a, b, ab, c, ac, bc, np.ones(len(a))])[fine & (bc <= 1)]
    pairs = np.column_stack([ab - a - b, ac - a - c, bc - b - c])[fine & (bc <= 1)]
    apart = ((pairs - pairs.mean(axis=1, keepdims=True)) ** 2).sum(axis=1)
    log_prior = -2 * np.log((PAIR_SPREAD / 9) ** 2 + apart / 2)
    gram = statistics.gram.toarray()
    error = np.einsum("ij,jk,ik->i", g, gram, g) - 2 * g @ statistics.targets
    log_weight = log_prior - 15 * np.log(error + statistics.target_square)
    share = np.exp(log_weight - logsumexp(log_weight))
    assert 1 / (share**2).sum() > 500
    mean = share @ g
    found = posterior(statistics, "2-additive", rng=1).values[1:]
    np.testing.assert_allclose(found, mean, atol=0.015)
    # Without that prior the mean would be another one.
    flat = np.exp(log_weight - log_prior - logsumexp(log_weight - log_prior))
    assert np.abs(found - mean).max() < 0.5 * np.abs(flat @ g - mean).max()


def test_the_criterion_tells_the_family_and_the_mean_over_fits_less():
    g, X, y = make(300, 5, 0.1)
    T = np.random.default_rng(9).random((2000, 5))
    truth = choquet.choquet_integral(g, T)
    full = ChoquetRegressor().fit(X, y)
    mean = ChoquetRegressorCV(random_state=0).fit(X, y)
    errors = [np.mean((model.predict(T) - truth) ** 2) for model in (full, mean)]
    assert errors[1] < errors[0]
    assert mean.prior_ is None
    assert mean.cv_results_["weight"].sum() == pytest.approx(1)
    owa = X @ np.zeros(5) + np.sort(X)[:, ::-1] @ [0.5, 0.0, 0.0, 0.0, 0.5]
    symmetric = ChoquetRegressorCV(random_state=0).fit(
        X, owa + 0.1 * (y - choquet.choquet_integral(g, X))
    )
    assert symmetric.prior_ == "symmetric"
    assert symmetric.alpha_ == np.inf


def test_few_rows_are_enough_where_folds_do_not_choose():
    _, X, y = make(4, 3, 0.1)
    for n_rows in (3, 4):
        whole = ChoquetRegressorCV(random_state=0).fit(X[:n_rows], y[:n_rows])
        stream = ChoquetRegressorCV(random_state=0).partial_fit(X[:2], y[:2])
        stream.partial_fit(X[2:n_rows], y[2:n_rows])
        np.testing.assert_allclose(whole.measure_.values, stream.measure_.values, atol=1e-9)
    with pytest.raises(OptionError, match="at most the number of rows"):
        ChoquetRegressorCV(random_state=0, combine="best").fit(X, y)


def test_data_choose_between_priors_over_all_measures():
    rng = np.random.default_rng(0)
    X = rng.random((400, 6))
    noise = 0.02 * rng.standard_normal(400)
    weights = {}
    # Near a minimum no mean over all measures is near; a measure like most others is where it is.
    for name, truth in (("end", X.min(axis=1)), ("usual", None)):
        g = choquet.Measure.random(6, rng=1)
        target = truth if truth is not None else choquet.choquet_integral(g, X)
        statistics = Statistics.from_data(X, target + noise)
        weights[name] = posterior_weights(statistics, ["none"] * 3, believed(statistics, "none"))
    # The mean of all that is equally likely, the mean of values that are likely alike, the fit.
    assert weights["end"][0] < 0.01
    assert weights["end"][1] > 0.5
    assert weights["usual"][0] > 0.99


def test_without_noise_the_truth_comes_back():
    g, X, y = make(200, 5, 0.0)
    np.testing.assert_allclose(
        ChoquetRegressorCV(random_state=0).fit(X, y).measure_.values, g.values, atol=1e-5
    )


def test_pairs_give_the_best_2_additive_measure():
    for seed in range(4):
        _, X, y = make(60, 4, 0.3, seed)
        statistics = Statistics.from_data(X, y)
        basis = k_additive_basis(4, 2)
        lattice = interior(with_basis(least_squares(statistics), basis))
        found = statistics.squared_error(basis @ fit_pairs(statistics))
        assert found == pytest.approx(lattice.objective, rel=1e-6)
        quick = fit_candidate(statistics, Candidate("2-additive", np.inf)).dense
        np.testing.assert_allclose(quick, lattice.values, atol=1e-4)


def test_rough_fits_of_many_sources_predict_alike():
    rng = np.random.default_rng(0)
    X, T = rng.random((60, 17)), rng.random((200, 17))
    noise = 0.05 * rng.standard_normal(60)
    statistics = Statistics.from_data(X, np.median(X, axis=1) + noise)
    test = Statistics.from_data(T, np.median(T, axis=1))
    exact, rough = (
        np.sqrt(test.error_of(fit_candidate(statistics, Candidate(), rough=r).values(test.masks)))
        for r in (False, True)
    )
    assert rough == pytest.approx(exact, rel=0.01)


def test_folds_do_not_depend_on_chunks():
    whole = fold_numbers(0, 103, 5, 7)
    cuts = [0, 1, 4, 50, 51, 103]
    pieces = [fold_numbers(a, b - a, 5, 7) for a, b in pairwise(cuts)]
    np.testing.assert_array_equal(np.concatenate(pieces), whole)
    assert np.ptp(np.bincount(whole)) <= 1
    assert (whole != fold_numbers(0, 103, 5, 8)).any()
    _, X, y = make(20, 3, 0.1)
    parts = [Statistics.from_data(X[whole[:20] == k], y[whole[:20] == k]) for k in range(5)]
    for k, (train, test) in enumerate(leave_one_out(parts)):
        rest = Statistics.from_data(X[whole[:20] != k], y[whole[:20] != k])
        np.testing.assert_array_equal(train.gram.toarray(), rest.gram.toarray())
        assert test is parts[k]
    assert leave_one_out(parts[:1]) == []


@pytest.mark.parametrize("combine", ["posterior", "average", "best"])
def test_chunks_equal_one_fit(combine):
    _, X, y = make(60, 3, 0.1)
    weight = np.random.default_rng(3).integers(0, 3, 60).astype(float)
    options = {"combine": combine, "priors": ("symmetric", "2-additive"), "n_paths": 1, "cv": 4}
    whole = ChoquetRegressorCV(random_state=0, **options).fit(X, y, weight)
    for cuts in ([2, 30], [7, 8, 59]):
        chunks = ChoquetRegressorCV(random_state=0, **options)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a row or two may be constant
            for part in np.split(np.arange(60), cuts):
                chunks.partial_fit(X[part], y[part], weight[part])
        np.testing.assert_allclose(chunks.measure_.values, whole.measure_.values, rtol=0, atol=1e-9)
        for key in ("mean_squared_error", "weight"):
            np.testing.assert_allclose(
                chunks.cv_results_[key], whole.cv_results_[key], rtol=0, atol=1e-9
            )


def test_chunks_need_numbered_folds(tmp_path):
    from sklearn.model_selection import KFold

    _, X, y = make(40, 3, 0.1)
    with pytest.raises(OptionError, match="cv as a number"):
        ChoquetRegressorCV(random_state=0, cv=KFold(3)).partial_fit(X, y)
    model = ChoquetRegressorCV(random_state=0, cv=KFold(3), priors=("symmetric",)).fit(X, y)
    with pytest.raises(OptionError, match="call fit, or keep cv"):
        model.set_params(cv=3).partial_fit(X, y)
    with pytest.raises(OptionError, match="n_samples = 2"):
        ChoquetRegressorCV(random_state=0, cv=3, combine="average").fit(X[:2], y[:2])
    model = ChoquetRegressorCV(random_state=0, cv=3, priors=("symmetric",)).fit(X[:30], y[:30])
    choquet.save(model, tmp_path / "model.json")
    later = choquet.load(tmp_path / "model.json").partial_fit(X[30:], y[30:])
    whole = ChoquetRegressorCV(random_state=0, cv=3, priors=("symmetric",)).fit(X, y)
    np.testing.assert_allclose(later.measure_.values, whole.measure_.values, rtol=0, atol=1e-9)


def test_truths_by_increments_are_nearly_2_additive():
    """The reference cell's generator, at N = 8: the 2-additive fit beats the full one clearly."""
    errors = []
    for seed in range(4):
        g, X, y = make(300, 8, 0.05, seed, "increments")
        statistics = Statistics.from_data(X, y)
        T = np.random.default_rng(99).random((2000, 8))
        test = Statistics.from_data(T, choquet.choquet_integral(g, T))
        fits = (Candidate(), Candidate("2-additive", np.inf))
        errors.append([test.squared_error(fit_candidate(statistics, c).dense) for c in fits])
    full, pairs = np.sqrt(np.mean(errors, axis=0) / 2000)
    assert 0.6 < pairs / full < 0.9  # .0183 / .0263 = 0.70 at N = 10, M = 1000
