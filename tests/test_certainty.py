"""Intervals, draws and sets: laws, an independent oracle, coverage, and bad input."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from scipy import special, stats

import choquet
from choquet.certainty.batched import nearest_at_once
from choquet.certainty.collecting import Beliefs, moments_of_gaps
from choquet.certainty.draws import Draws, draw_measures
from choquet.certainty.functions import (
    interaction_rows,
    orness_row,
    output_rows,
    shapley_rows,
)
from choquet.certainty.levels import student_quantile
from choquet.certainty.plausible import plausible_measures
from choquet.certainty.region import (
    LITTLE,
    Region,
    confidence_region,
    confidence_slack,
    numbers_used,
)
from choquet.certainty.simulated import KINDS, SETS, expected_step
from choquet.certainty.unordered import LONGEST, Unordered
from choquet.errors import DataError, OptionError, SupportWarning, TooLargeError
from choquet.indices import orness
from choquet.lattice import cover_pairs, monotonicity_witness
from choquet.learning import Statistics, least_squares, solve
from choquet.learning.problem import Rows, with_rows
from choquet.learning.solvers.interior import conic_form, run_clarabel

pytestmark = pytest.mark.numerical
quiet = pytest.mark.filterwarnings("ignore::choquet.errors.ChoquetWarning")


def make(n_sources, n_samples, *, seed=0, sigma=0.1, truth=None):
    rng = np.random.default_rng(seed)
    X = rng.random((n_samples, n_sources))
    g = choquet.Measure.random(n_sources, rng=rng) if truth is None else truth
    y = choquet.choquet_integral(g, X) + sigma * rng.standard_normal(n_samples)
    return X, y, g, rng


@pytest.mark.parametrize("n", [2, 3, 5])
def test_rows_of_coefficients_give_the_indices_themselves(n):
    g = choquet.Measure.random(n, rng=n)
    X = np.random.default_rng(n).random((5, n))
    np.testing.assert_allclose(output_rows(X) @ g.values, choquet.choquet_integral(g, X))
    np.testing.assert_allclose(shapley_rows(n) @ g.values, choquet.shapley(g), atol=1e-12)
    pairs = choquet.interaction(g)[np.triu_indices(n, 1)]
    np.testing.assert_allclose(interaction_rows(n) @ g.values, pairs, atol=1e-12)
    assert (orness_row(n) @ g.values)[0] == pytest.approx(orness(g))


@pytest.mark.parametrize("uneven", [False, True])
def test_intervals_are_the_ranges_that_an_independent_solver_finds(uneven):
    """Longer on one side for outputs and Shapley values, by what the order may have moved.

    Where noise differs between rows, every number has a slack of its own.
    """
    cp = pytest.importorskip("cvxpy")
    X, y, g, rng = make(3, 40)
    if uneven:
        y = choquet.choquet_integral(g, X) + 0.3 * X[:, 0] * rng.standard_normal(40)
    model = choquet.ChoquetRegressor().fit(X, y)
    assert (model.noise_ is not None) or not uneven
    size = model.noise_.relative(X, model.predict(X)) if uneven else np.ones(40)
    model.noise_ = model.noise_ if uneven else None
    error, quantile = model.solution_.objective, stats.f.ppf(0.9, 1, 34)
    design = output_rows(X).toarray()
    inner, rest = design[:, 1:7], y - design[:, 7]
    free = np.linalg.lstsq(inner, rest, rcond=None)[0]
    g, pairs = cp.Variable(8), cover_pairs(3)
    order = [g[0] == 0, g[7] == 1, g[pairs[:, 1]] >= g[pairs[:, 0]]]
    new = rng.random((3, 3))
    rows = [*np.eye(8)[1:4], *output_rows(new).toarray(), *shapley_rows(3)]
    values, index = model.identify(level=0.9), model.index_intervals(level=0.9)
    ours = [
        *zip(values.lower[1:4], values.upper[1:4], strict=True),
        *model.predict_interval(new, level=0.9),
        *zip(index.low[:3], index.high[:3], strict=True),
    ]
    moved = 0
    used = numbers_used(least_squares(model.statistics_), model.solution_)[1]
    firm = inner.T @ inner + 12 * error / (40 - used) * np.eye(6)
    for k, (row, ends) in enumerate(zip(rows, ours, strict=True)):
        weights = inner @ np.linalg.solve(firm, row[1:7])
        slack = error * quantile / 34 * np.average(size**2, weights=weights**2)
        near = [cp.sum_squares(design @ g - y) <= error + slack]
        low = cp.Problem(cp.Minimize(row @ g), order + near).solve(solver="CLARABEL")
        high = cp.Problem(cp.Maximize(row @ g), order + near).solve(solver="CLARABEL")
        at = row @ model.solution_.values
        away = row[1:7] @ free + row[7] - at
        variance = slack * row[1:7] @ np.linalg.solve(inner.T @ inner, row[1:7])
        bias = quantile * away**2 - max(variance - ((high - low) / 2) ** 2, 0)
        bias = min(max(bias, 0), 3 * ((high - low) / 2) ** 2)
        if k >= 3 and bias > 0:
            moved += 1
            low, high = (
                (at - np.hypot(at - low, np.sqrt(bias)), high)
                if away < 0
                else (low, at + np.hypot(high - at, np.sqrt(bias)))
            )
        assert tuple(ends) == pytest.approx((low, high), abs=2e-5)
    assert moved or uneven


def test_what_an_order_moved_makes_no_side_more_than_twice_as_long():
    """Also where the number without an order is worth nothing, or data leave it open."""
    known = Unordered(np.diag([1.0, 1e-12, 0.0]), np.array([0.0, -2e-6, 0.0]))
    ends = np.array([[-0.3, 0.1], [-0.3, 0.1]])
    found = known.doubted(np.array([[0.0, 1.0, 0.0], [0.0, 1.0, 1.0]]), ends, 4.0, np.ones(2))
    np.testing.assert_allclose(found[0], [-0.3, np.sqrt(0.1**2 + 3 * 0.2**2)])
    np.testing.assert_allclose(found[1], ends[1])


@quiet
def test_what_an_expert_said_holds_in_intervals_of_sums():
    X, _, _, rng = make(3, 80)
    problem = least_squares(Statistics.from_data(X, X.max(axis=1) + 0.1 * rng.standard_normal(80)))
    limits = Rows(sp.csr_array(np.eye(8)[[1]]), np.array([0.2]), np.array([0.6]))
    held = with_rows(problem, limits)
    for kind in ("outputs", "shapley"):
        region = confidence_region(held, solve(held), 80, 0.95, kind)
        assert region.ends(np.eye(8)[[1]])[0, 1] <= 0.6 + 1e-5


def test_arrays_the_compiled_search_and_clarabel_agree(monkeypatch):
    X, y, _, rng = make(4, 30, seed=3)
    problem = least_squares(Statistics.from_data(X, y))
    solution = solve(problem)
    rows = output_rows(rng.random((5, 4)))
    for slack in (0.1 * solution.objective, np.inf):
        found = [Region(problem, solution, slack).ends(rows)]
        for limit in ("PLAIN", "COMPILED"):  # then compiled, then by Clarabel
            with monkeypatch.context() as patch:
                patch.setattr("choquet.certainty.region.PLAIN", 0.0)
                patch.setattr(f"choquet.certainty.region.{limit}", 0)
                found.append(Region(problem, solution, slack).ends(rows))
        np.testing.assert_allclose(found[0], found[1], atol=1e-6)
        np.testing.assert_allclose(found[0], found[2], atol=1e-5)


def test_many_functions_in_several_batches_are_those_of_one(monkeypatch):
    X, y, _, rng = make(4, 30, seed=3)
    problem = least_squares(Statistics.from_data(X, y))
    region = Region(problem, solve(problem), 1e-3)
    rows = output_rows(rng.random((9, 4)))
    whole = region.ends(rows)
    monkeypatch.setattr("choquet.certainty.batched._AT_ONCE", 14 * 14 * 4)
    np.testing.assert_allclose(region.ends(rows), whole, atol=1e-12)


@quiet
def test_intervals_grow_with_the_level_and_hold_the_prediction():
    X, y, _, rng = make(4, 60, seed=1)
    new = rng.random((30, 4))
    for model in (choquet.ChoquetRegressor(), choquet.ChoquetRegressorCV(random_state=0)):
        model.fit(X, y)
        own, last = model.predict(new), np.zeros(30)
        for level in (0.5, 0.9, 0.99):
            low, high = model.predict_interval(new, level=level).T
            assert (low <= own).all()
            assert (own <= high).all()
            assert (high - low >= last - 1e-7).all()
            last = high - low
        wider = np.diff(model.predict_interval(new, level=0.99, noise=True), axis=1)[:, 0]
        assert (wider > last).all()


def coverage(kind, seed):
    n, m = 3, 60
    rng = np.random.default_rng([seed, len(kind)])
    size = np.bitwise_count(np.arange(8))
    truths = {
        "maximum": (size > 0) * 1.0,
        "veto": np.where(np.arange(8) & 1, size / 3, 0.0),
        "uniform": choquet.Measure.random(n, rng=rng).values,
    }
    g = truths[kind]
    X = rng.random((m, n))
    y = choquet.choquet_integral(choquet.Measure(g), X) + 0.1 * rng.standard_normal(m)
    model = choquet.ChoquetRegressor().fit(X, y)
    new = rng.random((20, n))
    bounds, values = model.predict_interval(new, level=0.9), model.identify(level=0.9)
    index = model.index_intervals(level=0.9)
    draws = model.measure_draws(200, rng=seed).interval(shapley_rows(n), 0.9)
    power, out = shapley_rows(n) @ g, output_rows(new) @ g
    inner = slice(1, 7)
    return [
        np.mean(
            (values.lower[inner] - 1e-6 <= g[inner]) & (g[inner] <= values.upper[inner] + 1e-6)
        ),
        np.mean((bounds[:, 0] - 1e-6 <= out) & (out <= bounds[:, 1] + 1e-6)),
        np.mean((index.low[:n] - 1e-6 <= power) & (power <= index.high[:n] + 1e-6)),
        np.mean((draws[:, 0] - 1e-6 <= power) & (power <= draws[:, 1] + 1e-6)),
    ]


@quiet
@pytest.mark.parametrize("kind", ["maximum", "veto", "uniform"])
def test_intervals_cover(kind):
    # 40 data sets: a coverage of .9 has a standard error of at most .05 even if one data set
    # covers all or nothing; three of them below is what chance allows.
    found = np.mean([coverage(kind, seed) for seed in range(40)], axis=0)
    assert (found > 0.9 - 3 * 0.05).all(), found


def test_states_follow_information():
    rng = np.random.default_rng(0)
    X = np.sort(rng.random((50, 3)), axis=1)[:, ::-1]
    X = np.vstack([X, [0.5, 0.5001, 0.2]])
    model = choquet.ChoquetRegressor().fit(X, X.mean(axis=1))
    state = model.states()
    assert (state[1], state[2], state[4]) == (2, 1, 0)
    found = model.identify()
    assert found.state[2] == 1
    assert found.level == 0.95
    assert found.masks.tolist() == list(range(8))


@quiet
def test_values_without_data_keep_their_range():
    rng = np.random.default_rng(0)
    X = np.sort(rng.random((50, 3)), axis=1)[:, ::-1]
    y = X.mean(axis=1) + 0.05 * rng.standard_normal(50)
    found = choquet.ChoquetRegressor().fit(X, y).identify()
    assert found.lower[0b100] == pytest.approx(0, abs=1e-6)
    assert found.upper[0b110] == pytest.approx(1, abs=1e-6)


@pytest.mark.parametrize("spare", [0.2, 0.7, 1, 1.5, 2, 3, 7.3, 30, 100, 199.9, 200, 1e3, 1e5, 1e9])
def test_quantiles_of_student_are_those_of_scipy(spare):
    levels = np.array([1e-6, 0.01, 0.3, 0.5, 0.68, 0.8, 0.9, 0.95, 0.99, 0.999, 0.9999])
    found = [student_quantile(level, spare) for level in levels]
    np.testing.assert_allclose(found, special.stdtrit(spare, (1 + levels) / 2), rtol=1e-8)
    np.testing.assert_allclose(np.square(found), special.fdtri(1, spare, levels), rtol=1e-8)


def test_quantiles_of_student_end_at_the_normal_distribution_and_at_infinity():
    levels = np.array([0.01, 0.5, 0.9, 0.999])
    found = [student_quantile(level, np.inf) for level in levels]
    np.testing.assert_allclose(found, special.ndtri((1 + levels) / 2), rtol=1e-12)
    assert student_quantile(0.95, 1e-3) == np.inf


# -- draws -----------------------------------------------------------------------------------------


@quiet
@pytest.mark.parametrize("model", [choquet.ChoquetRegressor(), choquet.ChoquetRegressorCV()])
def test_draws_are_monotone_normal_measures_and_repeat(model):
    X, y, g, _ = make(3, 80, seed=2)
    model.set_params(**({"random_state": 0} if "random_state" in model.get_params() else {}))
    model.fit(X, y)
    draws = model.measure_draws(120, rng=0)
    assert draws.values.shape == (120, 8)
    assert sum(draws.families.values()) == 120
    assert all(monotonicity_witness(values) is None for values in draws.values)
    assert (draws.values[:, 0] == 0).all()
    assert (draws.values[:, -1] == 1).all()
    np.testing.assert_array_equal(model.sample_measures(120, rng=0), draws.values)
    assert np.abs(draws.values.mean(axis=0) - g.values).max() < 0.3
    assert draws.mixed
    assert 0 < draws.n_effective <= 120
    order, probability = draws.ranking()
    assert sorted(order.tolist()) == [0, 1, 2]
    power = draws.values @ shapley_rows(3).T
    by_hand = draws.probability(lambda v: (np.diff((shapley_rows(3) @ v)[order]) <= 0).all())
    assert probability == pytest.approx(by_hand)
    assert (np.diff(power.mean(axis=0)[order]) <= 0).all()


def test_projected_draws_are_least_squares_fits_of_moved_targets():
    """Where no order binds, draws have the mean and the spread of linear regression."""
    rng = np.random.default_rng(0)
    X = rng.random((400, 2))
    y = X.mean(axis=1) + 0.1 * rng.standard_normal(400)
    statistics = Statistics.from_data(X, y)
    draws = draw_measures(statistics, 2000, rng=0).values[:, 1:3]
    form = statistics.gram.toarray()
    right = statistics.targets[:2] - form[:2, 2]
    mean = np.linalg.solve(form[:2, :2], right)
    values = np.array([0, *mean, 1])
    variance = statistics.squared_error(values) / 398 * np.linalg.inv(form[:2, :2])
    error = np.sqrt(np.diag(variance))
    np.testing.assert_allclose(
        draws.mean(axis=0), mean, atol=5 * error.max() / np.sqrt(2000) + 1e-3
    )
    np.testing.assert_allclose(draws.std(axis=0), error, rtol=0.12)


def test_intervals_of_eight_sources_hold_a_truth_on_the_edge():
    """Draws from a prior that is even over all measures held none of these."""
    rng = np.random.default_rng(0)
    X = rng.random((120, 8))
    model = choquet.ChoquetRegressor().fit(X, X.max(axis=1) + 0.05 * rng.standard_normal(120))
    new = rng.random((12, 8))
    low, high = model.predict_interval(new).T
    assert ((low <= new.max(axis=1)) & (new.max(axis=1) <= high)).mean() >= 0.75
    assert (low <= model.predict(new)).all()
    assert (model.predict(new) <= high).all()
    assert (high - low).mean() < 0.3


def test_more_sources_have_no_intervals_but_draws_that_say_what_they_are():
    rng = np.random.default_rng(0)
    X = rng.random((60, 10))
    model = choquet.OWARegressor().fit(X, X.max(axis=1) + 0.05 * rng.standard_normal(60))
    for ask in (lambda: model.predict_interval(X[:2]), model.index_intervals):
        with pytest.raises(TooLargeError, match=r"10 sources are more than 9.*Conformal"):
            ask()
    with pytest.warns(SupportWarning, match="no confidence intervals"):
        assert model.sample_measures(8, rng=0).shape == (8, 1024)


def test_chains_that_have_not_mixed_are_told(monkeypatch):
    X, y, _, _ = make(3, 30)
    statistics = Statistics.from_data(X, y)
    monkeypatch.setattr("choquet.certainty.draws.MIXED", 1.0 - 1e-9)
    with pytest.warns(SupportWarning, match="not mixed"):
        draw_measures(statistics, 40, shares={"additive": 1.0}, rng=0)


# -- without a model of the noise ------------------------------------------------------------------


def test_conformal_intervals_cover_heavy_tails():
    rng = np.random.default_rng(0)
    held = []
    for _ in range(8):
        X = rng.random((160, 3))
        y = X.max(axis=1) + 0.05 * rng.standard_t(2, 160)
        model = choquet.ConformalRegressor(choquet.OWARegressor(), cv=5, random_state=0)
        low, high = model.fit(X[:80], y[:80]).predict_interval(X[80:], level=0.8).T
        held.append(np.mean((low <= y[80:]) & (y[80:] <= high)))
    # About 0.8; the standard error of the mean of 8 × 80 targets, with 80 learned from, is 0.02.
    assert 0.72 < np.mean(held) < 0.9


def test_conformal_intervals_widen_where_support_is_missing():
    rng = np.random.default_rng(0)
    X = np.sort(rng.random((60, 3)), axis=1)[:, ::-1]
    y = X.mean(axis=1) + 0.01 * rng.standard_normal(60)
    model = choquet.ConformalRegressor(cv=5, random_state=0).fit(X, y)
    seen, unseen = np.diff(model.predict_interval([[0.9, 0.5, 0.1], [0.1, 0.5, 0.9]]))[:, 0]
    assert unseen > seen + 0.3
    few = choquet.ConformalRegressor(cv=5).fit(X[:10], y[:10])
    assert np.isinf(few.predict_interval(X[:2], level=0.95)).all()


def test_sets_of_classes_cover():
    rng = np.random.default_rng(1)
    X = rng.random((400, 2))
    score = X.mean(axis=1) + 0.1 * rng.standard_normal(400)
    y = np.array(["a", "b", "c"])[np.digitize(score, [0.4, 0.6])]
    model = choquet.ConformalClassifier(
        choquet.ChoquetClassifier(ordinal=True), cv=5, random_state=0
    ).fit(X[:200], y[:200])
    sets = model.predict_set(X[200:], level=0.9)
    assert sets.shape == (200, 3)
    right = sets[np.arange(200), np.searchsorted(model.classes_, y[200:])]
    # The standard error of 200 targets, with 200 learned from, is 0.03.
    assert 0.81 < right.mean() < 0.99
    assert (model.predict_set(X[200:], level=0.99).sum(axis=1) >= sets.sum(axis=1)).all()
    with pytest.raises(DataError, match="one row only"):
        model.fit(X[:3], ["a", "a", "b"])


# -- bad input -------------------------------------------------------------------------------------


@pytest.mark.parametrize("level", [0, 1, -0.5, 1.5, np.nan, "high", None])
def test_levels_lie_between_0_and_1(level):
    X, y, _, _ = make(3, 20)
    model = choquet.ChoquetRegressor().fit(X, y)
    for call in (
        lambda: model.predict_interval(X, level=level),
        lambda: model.identify(level=level),
        lambda: model.index_intervals(level=level),
    ):
        with pytest.raises(OptionError, match="between 0 and 1"):
            call()


@quiet
@pytest.mark.parametrize("rows", [1, 2, 3])
def test_few_rows_leave_everything_possible(rows):
    X, y, _, rng = make(3, rows, seed=5)
    model = choquet.ChoquetRegressor().fit(X, y)
    found = model.identify()
    assert np.isfinite(found.width).all()
    new = rng.random((5, 3))
    low, high = model.predict_interval(new).T
    assert (low <= high).all()
    assert (new.min(axis=1) - 1e-6 <= low).all()
    if rows == 1:
        assert found.lower[1] == pytest.approx(0, abs=1e-6)
        assert found.upper[6] == pytest.approx(1, abs=1e-6)
        assert (np.diff(model.predict_interval(new, noise=True), axis=1) > 1).all()
        with pytest.raises(DataError, match="nothing of the noise"):
            model.sample_measures(10)


@quiet
def test_constant_targets_ties_and_weights_of_zero():
    X, y, _, rng = make(3, 30)
    flat = choquet.ChoquetRegressor().fit(X, np.full(30, 0.5))
    low, high = flat.predict_interval(X).T
    assert np.isfinite(high - low).all()
    with pytest.raises(DataError, match="tied"):
        choquet.ChoquetRegressor().fit(np.repeat(rng.random((5, 1)), 3, axis=1), y[:5])
    weight = (np.arange(30) < 20).astype(float)
    some = choquet.ChoquetRegressor().fit(X, y, sample_weight=weight)
    part = choquet.ChoquetRegressor().fit(X[:20], y[:20])
    np.testing.assert_allclose(some.identify().width, part.identify().width, atol=1e-6)


def test_a_perfect_fit_has_narrow_intervals_where_rows_are_to_spare():
    X, y, g, _ = make(3, 60, sigma=0.0)
    model = choquet.ChoquetRegressor().fit(X, y)
    assert model.identify().width.max() < 1e-3
    np.testing.assert_allclose(model.measure_.values, g.values, atol=1e-4)


def test_what_cannot_be_asked_is_refused():
    X, y, _, _ = make(3, 20)
    free = choquet.ChoquetRegressor(monotone=False, normal=False, fit_intercept=True).fit(X, y)
    with pytest.raises(OptionError, match="monotone normal"):
        free.sample_measures(5)
    with pytest.raises(OptionError, match="monotone"):
        free.index_intervals()
    with pytest.raises(OptionError, match="at least 1"):
        choquet.ChoquetRegressor().fit(X, y).sample_measures(0)
    wide = np.random.default_rng(0).random((30, 18))
    many = choquet.ChoquetRegressor().fit(wide, wide.mean(axis=1))
    with pytest.raises(TooLargeError, match="ConformalRegressor"):
        many.predict_interval(wide)


def test_without_constraints_an_interval_is_that_of_linear_regression():
    X, y, _, rng = make(3, 60)
    model = choquet.ChoquetRegressor(monotone=False, normal=False, fit_intercept=True).fit(X, y)
    new = rng.random((4, 3))
    design = np.hstack([output_rows(X).toarray()[:, 1:], np.ones((60, 1))])
    at = np.hstack([output_rows(new).toarray()[:, 1:], np.ones((4, 1))])
    b, error = np.linalg.lstsq(design, y, rcond=None)[:2]
    spread = np.sqrt(np.einsum("ij,jk,ik->i", at, np.linalg.inv(design.T @ design), at))
    half = stats.t.ppf(0.95, 52) * np.sqrt(error[0] / 52) * spread
    low, high = model.predict_interval(new, level=0.9).T
    np.testing.assert_allclose(low, at @ b - half, atol=1e-5)
    np.testing.assert_allclose(high, at @ b + half, atol=1e-5)


def test_the_slack_is_the_f_quantile_where_rows_abound():
    X, y, _, _ = make(3, 40)
    problem = least_squares(Statistics.from_data(X, y))
    solution = solve(problem)
    shares = np.array(confidence_slack(problem, solution, 40, 0.95)) / solution.objective
    assert shares == pytest.approx(np.full(2, stats.f.ppf(0.95, 1, 34) / 34))
    assert np.isinf(confidence_slack(problem, solution, 0, 0.95)).all()


@quiet
@pytest.mark.parametrize("kind", ["values", "outputs", "shapley"])
def test_few_rows_have_slacks_whose_ends_miss_plausible_truths_as_often_on_either_side(kind):
    """By whole fits to targets drawn at what families make of the data."""
    n, m, level = 4, 14, 0.6
    X, y, _, _ = make(n, m)
    data = Statistics.from_data(X, y)
    problem = least_squares(data)
    solution = solve(problem)
    free, used = numbers_used(problem, solution)
    assert m - free < (m - used) / 2
    slacks = np.array(confidence_slack(problem, solution, m, level, kind, data))
    assert (slacks < confidence_slack(problem, solution, m, level)).all()
    rng, missed = np.random.default_rng(1), []
    spread = np.sqrt(solution.objective / (m - used))
    design, rows = output_rows(X).toarray(), KINDS[kind](problem, rng)
    for row, truth in zip(rows, plausible_measures(data, SETS), strict=True):
        own = least_squares(Statistics.from_data(X, design @ truth + spread * rng.normal(size=m)))
        best = solve(own)
        slack = tuple((slacks * best.objective / solution.objective).tolist())
        low, high = Region(own, best, slack).ends(row[None])[0]
        missed.append((row @ truth < low - 1e-6, row @ truth > high + 1e-6))
    # Three standard errors of both counts: the fits here, and the data sets behind the slacks.
    rest = (1 - level) / 2
    above = np.mean(missed, axis=0) - rest
    error = 3 * np.sqrt(2 * rest * (1 - rest) / SETS)
    assert (above < error).all()
    # No fewer, but for ends that no truth lies beyond: there no slack at all is asked for.
    least = slacks <= 2 * LITTLE * solution.objective / (m - used)
    assert ((above > -error) | least).all()


@quiet
def test_few_rows_lengthen_sums_where_truths_lie_beside_fits_to_their_data():
    """The step is the mean way back from fits, done again here with rows and other noise."""
    n, m = 4, 14
    X, y, _, _ = make(n, m, truth=choquet.Measure.additive([0.6, 0.3, 0.1, 0.0]), seed=3)
    data = Statistics.from_data(X, y)
    problem = least_squares(data)
    solution = solve(problem)
    regions = {
        kind: confidence_region(problem, solution, m, 0.9, kind, data)
        for kind in ("values", "shapley")
    }
    rng, design = np.random.default_rng(1), output_rows(X).toarray()
    spread = np.sqrt(solution.objective / (m - numbers_used(problem, solution)[1]))
    steps = []
    for truth in plausible_measures(data, SETS):
        noisy = design @ truth + spread * rng.standard_normal(m)
        steps.append(truth - solve(least_squares(Statistics.from_data(X, noisy))).values)
    away = np.array(steps) @ shapley_rows(n).T
    step = expected_step(solution)
    error = away.std(axis=0) / np.sqrt(SETS)
    bias = shapley_rows(n)[:, 1:-1] @ step
    assert (np.abs(bias - away.mean(axis=0)) < 4.5 * error).all()
    slack = regions["shapley"].slack
    plain = Region(problem, solution, slack).ends(shapley_rows(n))
    longer = regions["shapley"].ends(shapley_rows(n))
    more = np.abs(longer - plain) > 1e-6
    assert not more[bias > 0, 0].any()
    assert not more[bias < 0, 1].any()
    assert more.any()
    at = shapley_rows(n) @ solution.values
    assert (np.abs(longer - at[:, None]) <= LONGEST * np.ptp(plain, axis=1)[:, None] + 1e-5).all()
    values = Region(problem, solution, regions["values"].slack).ends(np.eye(16)[1:15])
    np.testing.assert_allclose(regions["values"].ends(np.eye(16)[1:15]), values, atol=1e-9)


def test_two_slacks_are_those_of_two_regions():
    X, y, _, rng = make(3, 12)
    problem = least_squares(Statistics.from_data(X, y))
    solution, rows = solve(problem), output_rows(rng.random((4, 3)))
    small, large = (Region(problem, solution, slack).ends(rows) for slack in (0.01, 0.1))
    both = Region(problem, solution, (0.01, 0.1)).ends(rows)
    np.testing.assert_allclose(both, np.column_stack([small[:, 0], large[:, 1]]), atol=1e-6)
    assert (large[:, 0] < small[:, 0]).all()


@quiet
def test_plausible_measures_are_monotone_and_repeat_and_know_a_simple_truth():
    X, _, _, rng = make(4, 15)
    data = Statistics.from_data(X, X @ [0.5, 0.5, 0, 0] + 0.05 * rng.standard_normal(15))
    found = plausible_measures(data, 40)
    np.testing.assert_array_equal(found, plausible_measures(data, 40))
    assert found.shape == (40, 16)
    assert all(monotonicity_witness(values) is None for values in found)
    assert (found[:, [0, -1]] == [0, 1]).all()
    truth = np.array([[0.5, 0.5, 0, 0]]) @ ((np.arange(16) >> np.arange(4)[:, None]) & 1)
    fit = solve(least_squares(data)).values
    assert np.abs(found.mean(axis=0) - truth).mean() < np.abs(fit - truth).mean()


def test_simulated_slacks_grow_with_the_level_beyond_the_data_sets():
    X, y, _, _ = make(4, 12)
    problem = least_squares(Statistics.from_data(X, y))
    solution = solve(problem)
    slacks = np.array(
        [
            confidence_slack(problem, solution, 12, level, "outputs")
            for level in (0.01, 0.5, 0.9, 0.97, 0.99, 0.999)
        ]
    )
    assert (np.diff(slacks, axis=0) >= 0).all()
    assert (slacks[-1] > slacks[-2]).all()
    assert (slacks[-2] > 0).all()


def test_least_squares_at_once_are_those_of_clarabel():
    """With and without a number held fixed, at an optimum on many edges."""
    X, _, _, rng = make(4, 40)
    problem = least_squares(Statistics.from_data(X, X.max(axis=1) + 0.1 * rng.random(40)))
    conic = conic_form(problem)
    x = conic.lift.T @ (solve(problem).values - conic.offset)
    form, room = conic.P.toarray() / 2, np.maximum(conic.b - conic.A @ x, 0.0)
    slopes = form @ rng.standard_normal((len(x), 6))
    pins = 1e3 * np.vstack([np.zeros((3, len(x))), rng.random((3, len(x)))])
    rooms = np.repeat(room[None], 6, axis=0)
    found, at, solved = nearest_at_once(form, slopes.T, sp.csr_array(-conic.A), rooms, pins)
    assert solved.all()
    for k in range(6):
        held = sp.csc_array(pins[[k]] / 1e3) if k >= 3 else sp.csc_array((0, len(x)))
        fixed = replace(
            conic, P=sp.csc_array(2 * form), q=slopes[:, k], n_equal=held.shape[0],
            A=sp.csc_array(sp.vstack([held, conic.A])), b=np.append(np.zeros(held.shape[0]), room),
        )  # fmt: skip
        d = run_clarabel(fixed, verbose=False)[0]
        assert found[k] == pytest.approx(d @ form @ d + slopes[:, k] @ d, abs=1e-3)
        assert at[k] @ form @ at[k] + slopes[:, k] @ at[k] == pytest.approx(found[k], abs=1e-2)


def test_a_rare_family_does_not_make_all_draws_worth_as_few_as_its_own():
    X, y, _, _ = make(3, 60)
    draws = draw_measures(
        Statistics.from_data(X, y), 200, shares={"none": 0.95, "additive": 0.05}, rng=0
    )
    assert draws.families["additive"] < 30
    assert 100 < draws.n_effective <= 200


@quiet
def test_averages_of_rows_that_are_fitted_exactly_give_no_draws():
    X = np.random.default_rng(0).random((3, 3))
    model = choquet.ChoquetRegressorCV(random_state=0).fit(X, X.max(axis=1))
    with pytest.raises(DataError, match="fitted exactly"):
        model.measure_draws(20, rng=0)
    np.testing.assert_allclose(model.predict_interval([[0.9, 0.5, 0.2]]), [[0.2, 0.9]], atol=1e-6)


def test_weights_count_rows():
    """A weight of 2 is a row seen twice, for every interval and for draws."""
    rng = np.random.default_rng(2)
    X = rng.random((40, 3))
    y = X.max(axis=1) + 0.1 * rng.standard_normal(40)
    number = rng.integers(1, 4, 40)
    weighed = choquet.ChoquetRegressor().fit(X, y, sample_weight=number)
    repeated = choquet.ChoquetRegressor().fit(np.repeat(X, number, axis=0), np.repeat(y, number))
    new = rng.random((5, 3))
    for noise in (False, True):
        np.testing.assert_allclose(
            weighed.predict_interval(new, noise=noise),
            repeated.predict_interval(new, noise=noise),
            atol=1e-5,
        )
    pairs = (model.identify(0.9) for model in (weighed, repeated))
    np.testing.assert_allclose(*(found.width for found in pairs), atol=1e-5)
    draws = (model.sample_measures(20, rng=0) for model in (weighed, repeated))
    np.testing.assert_allclose(*draws, atol=1e-4)


@pytest.mark.parametrize("learner", [choquet.ChoquetRegressor, choquet.ChoquetRegressorCV])
def test_weights_that_count_no_rows_are_told(learner):
    rng = np.random.default_rng(2)
    X = rng.random((40, 3))
    y = X.max(axis=1) + 0.1 * rng.standard_normal(40)
    with pytest.warns(SupportWarning, match="weights of 40 rows sum to 1:"):
        learner().fit(X, y, sample_weight=np.full(40, 1 / 40)).predict_interval(X[:1])


def test_gaps_of_uniform_rows_have_these_moments():
    rows = output_rows(np.random.default_rng(0).random((200_000, 3))).toarray()
    np.testing.assert_allclose(
        moments_of_gaps(3)[1:, 1:], (rows.T @ rows / len(rows))[1:, 1:], atol=1e-3
    )


def test_one_more_row_narrows_as_foreseen():
    """Against covariances that are found again with the row among the data."""
    X, y, g, rng = make(3, 30)
    X[:, 0] = X.max(axis=1)  # the first source is never below the others
    statistics, spread = Statistics.from_data(X, y), np.full(8, 0.7)
    beliefs = Beliefs(statistics, g.values, spread)
    new = np.vstack([X[:2], rng.random((3, 3))])
    gains = beliefs.narrowing(output_rows(new).toarray())
    form = np.zeros((8, 8))
    form[np.ix_(statistics.positions, statistics.positions)] = statistics.gram.toarray()
    expected = (0.5 * form / 30 + 0.5 * moments_of_gaps(3))[1:-1, 1:-1]
    wide = 2 * stats.norm.ppf(0.975)
    before = wide * np.sqrt((beliefs.covariance * expected).sum())
    for row, gain in zip(new, gains, strict=True):
        # The same noise, so that only the row itself is new.
        own = output_rows(row[None]).toarray()[:, 1:-1]
        precision = np.linalg.inv(beliefs.covariance) + own.T @ own / beliefs.noise
        after = wide * np.sqrt((np.linalg.inv(precision) * expected).sum())
        assert gain == pytest.approx(before - after, rel=1e-6)
    assert gains[2:].max() > gains[:2].max()


def test_data_are_asked_for_where_intervals_would_narrow_most():
    rng = np.random.default_rng(0)
    X = rng.random((300, 3))
    X = X[(X[:, 2] < X[:, 0]) | (rng.random(300) < 0.03)]  # x3 is hardly ever above x1
    y = X.mean(axis=1) + 0.1 * rng.standard_normal(len(X))
    requests = choquet.data_to_collect(choquet.ChoquetRegressor().fit(X, y))
    assert requests[0].mask in (0b100, 0b110)
    assert all(one.gain > 0 for one in requests)
    gains = [one.gain for one in requests]
    assert gains == sorted(gains, reverse=True)


def test_rows_of_equal_inputs_say_nothing_of_the_noise():
    """Scores of zero by all classifiers, and a target of zero: no interval becomes narrower."""
    X, y, _, rng = make(3, 40)
    tied = np.repeat(rng.random((1000, 1)), 3, axis=1)
    own, more = choquet.ChoquetRegressor(), choquet.ChoquetRegressor()
    own.fit(X, y)
    more.fit(np.vstack([X, tied]), np.append(y, tied[:, 0]))
    new = rng.random((5, 3))
    np.testing.assert_allclose(more.predict_interval(new), own.predict_interval(new), atol=1e-5)
    wide, narrow = (model.sample_measures(100, rng=0).std(axis=0) for model in (own, more))
    assert (narrow >= 0.5 * wide).all()


@pytest.mark.parametrize("masks", [[99], [-1], [0.5], ["a"], [[1, 2]]])
def test_masks_are_subsets_of_the_sources(masks):
    X, y, _, _ = make(3, 20)
    with pytest.raises(OptionError, match="whole numbers from 0 to 7"):
        choquet.ChoquetRegressor().fit(X, y).identify(masks=masks)


def test_operators_are_right_in_the_draws_that_they_describe():
    g = np.array([0, 0, 1, 1, 1, 1, 1, 1.0])  # the median where x1 is the largest, else the largest
    parts = choquet.decompose(choquet.Measure(g))
    assert [operator.name for operator in parts.operators] == ["max", "median"]
    lifted, largest = g.copy(), np.append(0.0, np.ones(7))
    lifted[1] = 0.3  # x1 alone: only walks that begin with it meet this value
    found = Draws(np.array([g, lifted, largest])).operators(parts)
    np.testing.assert_allclose(found.operator, [1, 1 / 3])
    np.testing.assert_allclose(found.context, [1, 2 / 3])
    alone = Draws(np.array([lifted]))
    np.testing.assert_allclose(alone.operators(parts, within=0.3 + 1e-9).operator, 1)
    np.testing.assert_allclose(
        Draws(np.array([lifted])).operators(parts, within=0.29).operator[1], 0
    )


def test_operators_of_something_else_are_not_told_by_draws():
    draws = Draws(np.array([[0.0, 0.2, 0.3, 1.0]]))
    with pytest.raises(DataError, match="2 sources"):
        draws.operators(choquet.decompose(choquet.Measure.random(3, rng=0)))
    X = np.random.default_rng(0).random((60, 2))
    learned = choquet.ContextualRegressor(max_leaves=1).fit(X, X.max(axis=1)).decomposition_
    with pytest.raises(DataError, match="of such measures"):
        draws.operators(learned)


def test_few_rows_leave_room_on_both_sides_where_the_scale_of_the_target_is_open():
    """A minimum: the intercept of the fit lies below, its integral above, and outputs anywhere."""
    held = []
    for seed in range(3):
        rng = np.random.default_rng([seed, 5, 30])
        X = rng.random((230, 5))
        y = X.min(axis=1) + 0.05 * rng.standard_normal(230)
        data = Statistics.from_data(X[:30], y[:30])
        problem = least_squares(data, normal=False, fit_intercept=True)
        region = confidence_region(problem, solve(problem), 30, 0.95, "outputs", data)
        rows = np.hstack([output_rows(X[30:]).toarray(), np.ones((200, 1))])
        low, high = region.ends(rows).T
        truth = X[30:].min(axis=1)
        held.append(np.mean((low <= truth) & (truth <= high)))
    assert min(held) > 0.75  # without the intercept 0.41, 0.72 and 0.62
