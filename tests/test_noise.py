"""Noise that differs between rows: how it is learned, what numbers have of it, and intervals."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import choquet
from choquet.certainty.functions import output_rows
from choquet.certainty.noise import MOST_SOURCES, Noise, Ratios, learned_noise
from choquet.certainty.region import Region
from choquet.errors import DataError
from choquet.estimators import fit_chunks
from choquet.learning import Statistics, least_squares, solve

pytestmark = pytest.mark.numerical

INNER = slice(1, 7)


def uneven(n_samples, seed, *, size=0.2, n_sources=3):
    """Rows of a random measure whose noise grows with the first input."""
    rng = np.random.default_rng(seed)
    X, g = rng.random((n_samples, n_sources)), choquet.Measure.random(n_sources, rng=rng)
    y = choquet.choquet_integral(g, X) + size * X[:, 0] * rng.standard_normal(n_samples)
    return X, y, g, rng


def noise_of(X, y, g):
    return learned_noise(X, y, choquet.choquet_integral(g, X))


def test_the_size_of_the_noise_is_found():
    X, y, g, rng = uneven(4000, 0)
    noise, new = noise_of(X, y, g), rng.random((50, 3))
    own = noise.relative(new, choquet.choquet_integral(g, new))
    # The root mean square of a uniform number is the root of a third.
    np.testing.assert_allclose(own, new[:, 0] * np.sqrt(3), atol=0.12)
    rows = noise.relative(X, choquet.choquet_integral(g, X)) ** 2
    assert rows.mean() == pytest.approx(1)
    same = Statistics.from_data(X, y, rows)
    np.testing.assert_allclose(noise.rows.gram.toarray(), same.gram.toarray())


def test_targets_of_0_and_1_are_noisiest_in_the_middle():
    rng = np.random.default_rng(0)
    X = rng.random((4000, 2))
    chance = X.mean(axis=1)
    noise = learned_noise(X, (rng.random(4000) < chance).astype(float), chance)
    found = noise.relative(np.array([[0.5, 0.5], [0.05, 0.05]]), np.array([0.5, 0.05]))
    assert found[0] / found[1] == pytest.approx(0.5 / np.sqrt(0.05 * 0.95), rel=0.15)


def test_outputs_are_no_nearer_to_their_ends_than_laplaces_rule_says():
    """Where a fit meets all targets of 0, the errors are none: that is no proof that all are 0."""
    rng = np.random.default_rng(3)
    X = rng.beta(0.3, 0.3, (400, 4))
    chance = X.mean(axis=1)
    low, high = learned_noise(X, (rng.random(400) < chance).astype(float), chance).spans[-1]
    rows_each = 400 / 14
    assert -low / (high - low) == pytest.approx(1 / (rows_each + 2))
    assert (1 - low) / (high - low) == pytest.approx((rows_each + 1) / (rows_each + 2))


def test_noise_that_is_alike_is_told_as_nearly_alike():
    """Chance makes some difference; little of it is believed, and often none."""
    spread, none = [], 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        X, y = rng.random((200, 3)), 0.1 * rng.standard_normal(200)
        noise = learned_noise(X, y, np.zeros(200))
        none += noise is None
        spread.append(0.0 if noise is None else noise.relative(X, np.zeros(200)).std())
    assert none >= 5
    assert np.mean(spread) < 0.08


def test_a_weight_of_two_is_a_row_seen_twice():
    X, y, g, rng = uneven(60, 1)
    out, number = choquet.choquet_integral(g, X), rng.integers(1, 4, 60)
    one = learned_noise(X, y, out, number.astype(float))
    two = learned_noise(*(np.repeat(part, number, axis=0) for part in (X, y, out)))
    np.testing.assert_allclose(one.relative(X, out), two.relative(X, out), atol=1e-8)
    np.testing.assert_allclose(one.rows.gram.toarray(), two.rows.gram.toarray(), atol=1e-8)


@pytest.mark.parametrize(
    ("X", "y"),
    [
        (np.full((20, 3), 0.5), np.arange(20.0)),  # no row says anything of the measure
        (np.random.default_rng(0).random((5, 3)), np.arange(5.0)),  # too few
        (np.random.default_rng(0).random((50, 3)), np.zeros(50)),  # no error
        (np.random.default_rng(0).random((50, 3)), 1e-9 * np.arange(50.0)),  # no more than rounding
        (np.random.default_rng(0).random((50, MOST_SOURCES + 1)), np.arange(50.0)),  # too many
    ],
)
def test_rows_that_do_not_tell_leave_it_alike(X, y):
    assert learned_noise(X, 1 + y, np.ones(len(y))) is None


def test_rows_of_equal_inputs_change_nothing_where_measures_are_not_normal():
    """They tell of the value of all sources, but not of how the noise differs."""
    X, y, g, _ = uneven(200, 14)
    same = np.repeat(np.linspace(0, 1, 300)[:, None], 3, axis=1)
    X, y = np.vstack([X, same]), np.append(y, same[:, 0])
    noise = noise_of(X, y, g)
    assert noise.usual.n_samples == 200
    problem = least_squares(Statistics.from_data(X, y), normal=False)
    ratios = Ratios(noise, problem, solve(problem), 0.01)
    top = ratios.of(np.eye(7)[[6]])
    alone = least_squares(Statistics.from_data(X[:200], y[:200]), normal=False)
    known = Ratios(noise, alone, solve(alone), 0.01).of(np.eye(7)[[6]])
    assert top == pytest.approx(known, rel=0.4)


@pytest.mark.parametrize("intercept", [False, True])
def test_ratios_are_means_of_variances_over_rows(intercept):
    """By the rows themselves, which the library does not keep."""
    X, y, g, rng = uneven(80, 2)
    noise = noise_of(X, y, g)
    problem = least_squares(
        Statistics.from_data(X, y), normal=not intercept, fit_intercept=intercept
    )
    design = output_rows(X).toarray()
    design = np.hstack([design[:, 1:], np.ones((80, 1))]) if intercept else design[:, INNER]
    solution = solve(problem)
    span = np.ptp(np.append(solution.values, 0.0))
    costs = rng.standard_normal((5, design.shape[1]))
    firm = design.T @ design + 0.01 * 12 / span**2 * np.eye(design.shape[1])
    weights = costs @ np.linalg.solve(firm, design.T)
    variance = noise.relative(X, choquet.choquet_integral(g, X)) ** 2
    wanted = [np.average(variance, weights=one**2) for one in weights]
    ratios = Ratios(noise, problem, solution, 0.01)
    np.testing.assert_allclose(ratios.of(costs), wanted, rtol=1e-6)
    np.testing.assert_allclose(ratios.of(np.zeros((1, design.shape[1]))), 1.0)


def test_slacks_of_their_own_are_those_of_regions_of_their_own(monkeypatch):
    """By arrays, by the compiled search and by Clarabel."""
    X, y, g, rng = uneven(60, 3)
    problem = least_squares(Statistics.from_data(X, y))
    solution, noise = solve(problem), noise_of(X, y, g)
    rows, slack = output_rows(rng.random((4, 3))).toarray(), 0.05 * solution.objective
    ratios = Ratios(noise, problem, solution, 0.01).of(rows[:, INNER])
    assert np.ptp(ratios) > 0.2
    alone = np.vstack(
        [
            Region(problem, solution, slack * ratio).ends(row[None])
            for row, ratio in zip(rows, ratios, strict=True)
        ]
    )
    for patches in ((), ("PLAIN",), ("PLAIN", "COMPILED")):
        with monkeypatch.context() as patch:
            for name in patches:
                patch.setattr(f"choquet.certainty.region.{name}", 0)
            together = Region(problem, solution, slack, noise=noise, variance=0.01).ends(rows)
        np.testing.assert_allclose(together, alone, atol=1e-5)


def test_intervals_hold_the_truth_where_noise_is_large_and_where_it_is_small():
    """With noise taken as alike 0.80 and 0.99 of the outputs were held at level 0.9."""
    loud, quiet, widths = [], [], []
    for seed in range(60):
        X, y, g, rng = uneven(100, seed)
        model = choquet.ChoquetRegressor().fit(X, y)
        new = rng.random((20, 3))
        new[:10, 0], new[10:, 0] = 0.8 + 0.2 * new[:10, 0], 0.2 * new[10:, 0]
        low, high = model.predict_interval(new, level=0.9).T
        own = choquet.choquet_integral(g, new)
        held = (low - 1e-6 <= own) & (own <= high + 1e-6)
        loud.append(held[:10].mean())
        quiet.append(held[10:].mean())
        widths.append([np.mean((high - low)[:10]), np.mean((high - low)[10:])])
    # The shares have standard errors of .02 to .03.
    assert 0.84 <= np.mean(loud) <= 0.97
    assert 0.84 <= np.mean(quiet) <= 0.98
    wide, narrow = np.mean(widths, axis=0)
    assert wide > 1.7 * narrow


def test_intervals_of_new_targets_are_as_long_as_their_noise():
    X, y, g, rng = uneven(1000, 4)
    model = choquet.ChoquetRegressor().fit(X, y)
    new = rng.random((4000, 3))
    out = choquet.choquet_integral(g, new)
    targets = out + 0.2 * new[:, 0] * rng.standard_normal(4000)
    low, high = model.predict_interval(new, level=0.9, noise=True).T
    held = (low <= targets) & (targets <= high)
    for inside in (new[:, 0] > 0.7, new[:, 0] < 0.3):
        assert held[inside].mean() == pytest.approx(0.9, abs=0.05)
    model.noise_ = None
    low, high = model.predict_interval(new, level=0.9, noise=True).T
    held = (low <= targets) & (targets <= high)
    assert held[new[:, 0] > 0.7].mean() < 0.8


def test_conformal_intervals_are_longer_where_the_noise_is_larger():
    held = []
    for seed in range(4):
        X, y, g, rng = uneven(300, 20 + seed)
        new = rng.random((1000, 3))
        out = choquet.choquet_integral(g, new)
        targets = out + 0.2 * new[:, 0] * rng.standard_normal(1000)
        model = choquet.ConformalRegressor(choquet.InUnits(), cv=5, random_state=0).fit(X, y)
        low, high = model.predict_interval(new, level=0.9).T
        inside = (low <= targets) & (targets <= high)
        held.append([inside[new[:, 0] > 0.7].mean(), inside[new[:, 0] < 0.3].mean()])
    # With errors of one size, 0.75 and 1.00.
    assert np.mean(held, axis=0) == pytest.approx([0.9, 0.9], abs=0.06)


def test_sizes_of_rows_that_lack_an_input_are_those_of_its_least():
    X, y, _, _ = uneven(300, 12)
    model = choquet.ChoquetRegressor(missing="present").fit(X, y)
    rows = np.array([[0.9, 0.5, np.nan], [0.9, 0.5, 0.2]])
    sizes = model.relative_noise(rows)
    assert sizes.shape == (2,)
    assert (sizes > 1).all()
    assert choquet.ChoquetRegressor().partial_fit(X, y).relative_noise(X[:2]).tolist() == [1, 1]


@pytest.mark.parametrize("size", [1e-8, 1e-3, 1e6])
def test_intervals_have_the_size_of_the_data(size):
    """Of inputs of 1e-8 the search for ends stopped where it began."""
    X, y, _, rng = uneven(60, 13)
    new = rng.random((4, 3))
    usual, other = choquet.ChoquetRegressor().fit(X, y), choquet.ChoquetRegressor()
    other.fit(size * X, size * y)
    for noise in (False, True):
        np.testing.assert_allclose(
            other.predict_interval(size * new, noise=noise) / size,
            usual.predict_interval(new, noise=noise),
            atol=1e-5,
        )


def test_draws_vary_as_the_noise_of_their_rows():
    X, y, _, _ = uneven(400, 5)
    model = choquet.ChoquetRegressor().fit(X, y)
    spread = model.sample_measures(300, rng=0).std(axis=0)
    model.noise_ = None
    alike = model.sample_measures(300, rng=0).std(axis=0)
    ratio = spread / np.where(alike > 0, alike, 1.0)
    # Rows in which the first input is the largest tell of the first source alone; rows in which it
    # is the smallest tell of the other two together.
    assert ratio[0b001] > 1.1
    assert ratio[0b110] < 0.8


def test_sums_alone_do_not_tell():
    X, y, _, _ = uneven(200, 6)
    whole = choquet.ChoquetRegressor().fit(X, y)
    parts = choquet.ChoquetRegressor().partial_fit(X[:100], y[:100]).partial_fit(X[100:], y[100:])
    assert whole.noise_ is not None
    assert parts.noise_ is None
    whole.partial_fit(X[:1], y[:1])
    assert whole.noise_ is None


def test_fused_classifiers_know_it():
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, 200)
    scores = np.clip(truth[:, None] + 0.6 * rng.standard_normal((200, 3)), 0, 1)
    fused = choquet.FusionClassifier().fit(np.stack([1 - scores, scores], axis=1), truth)
    noise = fused.models_[0].noise_
    middle, end = noise.relative(np.full((2, 3), 0.5), np.array([0.5, 0.0]))
    assert middle > 1.5 * end


def test_rows_that_come_in_chunks_tell_as_much(monkeypatch):
    X, y, _, rng = uneven(900, 11)
    new = rng.random((10, 3))
    whole = choquet.ChoquetRegressor().fit(X, y).predict_interval(new, noise=True)

    def by_chunks():
        parts = ((X[k : k + 70], y[k : k + 70]) for k in range(0, 900, 70))
        return fit_chunks(choquet.ChoquetRegressor(), parts)

    np.testing.assert_allclose(by_chunks().predict_interval(new, noise=True), whole, atol=1e-9)
    monkeypatch.setattr("choquet.estimators.chunks.MOST_ROWS", 300)
    monkeypatch.setattr("choquet.certainty.noise.MOST_ROWS", 300)
    drawn = choquet.ChoquetRegressor().fit(X, y)
    assert drawn.noise_.usual.n_samples == 300
    assert (
        np.abs(np.log(np.diff(drawn.predict_interval(new, noise=True)) / np.diff(whole))) < 0.5
    ).all()
    some = by_chunks()
    assert some.noise_.usual.n_samples == 300
    lengths = np.diff(some.predict_interval(new, noise=True)) / np.diff(whole)
    assert (lengths > 0.6).all()
    assert (lengths < 1.6).all()
    alone = fit_chunks(choquet.ChoquetRegressor(k_additive=1), [(X, y)])
    assert alone.predict(new).shape == (10,)


@pytest.mark.parametrize("scaled", [False, True])
def test_files_keep_it(tmp_path, scaled):
    X, y, _, rng = uneven(100, 7)
    model = choquet.ChoquetRegressorCV(random_state=0)
    model = (choquet.InUnits(model) if scaled else model).fit(100 * X if scaled else X, y)
    choquet.save(model, tmp_path / "model.json")
    read, new = choquet.load(tmp_path / "model.json"), rng.random((5, 3)) * (100 if scaled else 1)
    for noise in (False, True):
        np.testing.assert_array_equal(
            read.predict_interval(new, noise=noise), model.predict_interval(new, noise=noise)
        )


def test_noise_that_no_rows_have_is_refused():
    X, y, g, _ = uneven(50, 8)
    known = noise_of(X, y, g)
    for spans, sizes in (
        (known.spans[1:], known.sizes),
        (known.spans[:, ::-1], known.sizes),
        (known.spans, -known.sizes),
        (known.spans, known.sizes * np.nan),
    ):
        with pytest.raises(DataError, match=r"spans"):
            Noise(spans, sizes, known.rows)


def test_without_constraints_the_interval_is_that_of_sandwich_errors():
    """White (1980), with the sizes of the noise in place of squared residuals."""
    X, y, _, rng = uneven(500, 9)
    options = {"monotone": False, "normal": False, "fit_intercept": True}
    model = choquet.ChoquetRegressor(**options).fit(X, y)
    design = np.hstack([output_rows(X).toarray()[:, 1:], np.ones((500, 1))])
    new = rng.random((4, 3))
    at = np.hstack([output_rows(new).toarray()[:, 1:], np.ones((4, 1))])
    variance = model.noise_.relative(X, model.predict(X)) ** 2
    inverse = np.linalg.inv(design.T @ design)
    meat = inverse @ (design.T * variance) @ design @ inverse
    error = np.sum((y - model.predict(X)) ** 2) / 492
    half = stats.t.ppf(0.95, 492) * np.sqrt(error * np.einsum("ij,jk,ik->i", at, meat, at))
    low, high = model.predict_interval(new, level=0.9).T
    np.testing.assert_allclose((high - low) / 2, half, rtol=0.03)
