"""Laws of the additive models: sums of small Choquet integrals on calibrated inputs."""

from __future__ import annotations

from copy import copy
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize

import choquet
from choquet import ChoquetAdditiveClassifier, ChoquetAdditiveRegressor, Measure, choquet_integral
from choquet.additive import _kernels, temper
from choquet.additive.axes import Axis, Source, margin_of
from choquet.additive.believe import believe
from choquet.additive.choose import held_out, outputs
from choquet.additive.families import Logistic, Multinomial, Ordered, Squares
from choquet.additive.fit import Fit, Options, ground_of
from choquet.additive.knots import quantiles
from choquet.additive.link import link_of, polish
from choquet.additive.model import model_of
from choquet.additive.reml import _GRID, Quadratic, covariance_of, reml
from choquet.additive.search import grow
from choquet.additive.table import Chunks, Memory
from choquet.additive.terms import Design, Places, Term, make_term
from choquet.additive.thin import needed_knots
from choquet.errors import DataError, OptionError, SourceError
from choquet.estimators import fit_additive_chunks

SEEDS = st.integers(0, 2**32 - 1)


def friedman(n=250, sigma=1.0, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.random((n, 6))
    f = 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2 + 10 * X[:, 3]
    return X, f + sigma * rng.standard_normal(n), f


# ---- loops -------------------------------------------------------------------------------------


def test_whole_arrays_stand_in_for_loops_to_the_bit():
    rng = np.random.default_rng(0)
    n, positions = 300, rng.random((300, 3))
    positions[:50, 1], positions[60:80, 2] = positions[:50, 0], 0.0
    index = np.sort(rng.integers(0, 40, (n, 9)), axis=1)
    share, weight = rng.random((n, 9)), np.where(np.arange(n) % 7, rng.random(n), 0.0)
    calls = {
        "lattice_rows": [
            rng.integers(0, 5, (n, 3)), positions, np.array([49, 7, 1]),
            (rng.random(n) < 0.9).astype(float), np.zeros((n, 4), np.int64), np.zeros((n, 4)),
        ],
        "gram": [index, share, weight, rng.random((40, 40))],
        "cross": [index[:, :3], share[:, :3], index, share, weight, rng.random((40, 40))],
        "columns": [index, share, rng.standard_normal((n, 3)), rng.random((40, 3))],
        "outputs": [index, share, rng.random(40), rng.random(n)],
        "mirror": [rng.random((50, 50))],
    }  # fmt: skip
    for name, arguments in calls.items():
        loop = getattr(_kernels, name)
        by_loop, at_once = ([part.copy() for part in arguments] for _ in range(2))
        loop.function(*by_loop)
        loop.made("plain")(*at_once)
        for one, other in zip(by_loop, at_once, strict=True):
            np.testing.assert_array_equal(one, other)
        assert loop.stands_in is not None
        assert not np.array_equal(at_once[-1], arguments[-1])


@pytest.mark.parametrize("keep", [True, False])
def test_scores_that_are_kept_are_those_of_the_numbers_asked_for(keep):
    rng = np.random.default_rng(0)
    X = rng.random((50, 2))
    table = Memory(X, X[:, 0], np.ones(50))
    ground = ground_of(table, [Source("a"), Source("b")], Options(max_order=2))
    terms = [ground.term((0,)), ground.term((1,)), ground.term((0, 1))]
    (block,) = table.blocks() if keep else Chunks(lambda: [(X, X[:, 0], np.ones(50))]).blocks()
    for some in (terms[:2], terms, terms[:1]):
        design = Design(some, 1)
        first, second, third = rng.random((3, design.n_numbers))
        for asked in ([first, second], [first, third], [second, second], [third, first]):
            rows = block.design(design)
            expected = [rows(design.values(beta)) for beta in asked]
            np.testing.assert_array_equal(block.scores(design, asked), expected)


# ---- grids -------------------------------------------------------------------------------------


@given(SEEDS, st.integers(2, 4))
@settings(max_examples=20, deadline=None)
def test_a_term_in_a_cell_is_the_choquet_integral_of_the_positions(seed, order):
    rng = np.random.default_rng(seed)
    axis = Axis(np.array([0.0, 1.0]), 0, False)
    term = Term(tuple(range(order)), (axis,) * order, np.zeros((0, 0)), np.zeros((0, 0)))
    X = rng.random((20, order))
    values = rng.random((2,) * order)
    values.flat[0] = 0.0
    # Bit i of a mask is source i; the first source is the slowest index of the grid.
    by_mask = [values[tuple(mask >> i & 1 for i in range(order))] for mask in range(2**order)]
    expected = choquet_integral(Measure(by_mask, normal=False, monotone=False), X)
    np.testing.assert_allclose(term.rows(Places(X))(values.ravel()), expected, atol=1e-12)


@given(SEEDS)
@settings(max_examples=20, deadline=None)
def test_rows_of_a_grid_are_shares(seed):
    rng = np.random.default_rng(seed)
    axes = (Axis(np.sort(rng.random(5)), 0, True), Axis(np.zeros(0), 3, False))
    X = np.column_stack([rng.random(30) * 1.4 - 0.2, rng.integers(0, 3, 30).astype(float)])
    X[:5, 0] = np.nan
    rows = Term((0, 1), axes, np.zeros((0, 0)), np.zeros((0, 0))).rows(Places(X))
    assert (rows.share >= 0).all()
    np.testing.assert_allclose(rows.share.sum(axis=1), 1.0)
    assert (rows.index < 18).all()


@given(SEEDS)
@settings(max_examples=20, deadline=None)
def test_penalties_are_diagonal_in_the_coordinates_of_a_margin(seed):
    rng = np.random.default_rng(seed)
    knots = np.cumsum(0.1 + rng.random(6))
    share = 0.1 + rng.random(6)
    margin = margin_of(Axis(knots, 0, False), 1e9 * share)
    weight = share / share.sum() + 1e-3
    assert np.abs(weight @ margin.basis).max() < 1e-9
    h = 0.5 * np.diff(knots) / (knots[-1] - knots[0]) + 0.1
    slopes = np.diff(margin.basis, axis=0) / np.sqrt(h)[:, None]
    gram = slopes.T @ slopes
    assert np.abs(gram - np.diag(gram.diagonal())).max() < 1e-8 * gram.max()


def test_without_ranks_a_utility_without_curvature_is_a_straight_line():
    knots = np.array([0.0, 1.0, 5.0, 6.0, 20.0])
    margin = margin_of(Axis(knots, 0, False), np.ones(5), ranks=0.0)
    (line,) = margin.basis[:, margin.rough == 0].T
    slopes = np.diff(line) / np.diff(knots)
    np.testing.assert_allclose(slopes, slopes[0])


@pytest.mark.parametrize("even", [True, False])
def test_ranks_count_where_rows_tell_them_from_units(even):
    rng = np.random.default_rng(2)
    x = np.sort(rng.random(500) if even else rng.exponential(size=500))
    knots = np.quantile(x, np.linspace(0, 1, 16))
    steps = np.diff(knots) / (knots[-1] - knots[0])
    distances = steps if even else steps / 2 + 1 / 30
    margin = margin_of(Axis(knots, 0, False), np.full(16, 500 / 16))
    (straight,) = margin.basis[:, margin.rough == 0].T
    slopes = np.diff(straight) / distances
    assert np.ptp(slopes) < 0.03 * abs(slopes.mean())


def test_terms_of_pairs_have_no_part_that_a_utility_could_say():
    rng = np.random.default_rng(0)
    shares = [rng.random(5), rng.random(4)]
    axes = {0: Axis(np.arange(5.0), 0, False), 1: Axis(np.arange(4.0), 0, False)}
    margins = {i: margin_of(axes[i], shares[i]) for i in axes}
    grid = make_term((0, 1), axes, margins).basis.reshape(5, 4, -1)
    for i, share in enumerate(shares):
        weight = share / share.sum() + 1e-3
        assert np.abs(np.tensordot(weight, grid, (0, i))).max() < 1e-9


@given(SEEDS, st.integers(1, 4))
@settings(max_examples=20, deadline=None)
def test_quantiles_do_not_depend_on_the_blocks(seed, n_parts):
    rng = np.random.default_rng(seed)
    X = np.column_stack(
        [rng.standard_cauchy(200), 1.6e9 + rng.random(200), rng.integers(0, 50, 200)]
    )
    weight = rng.integers(1, 4, 200).astype(float)
    q = np.array([1e-12, 0.1, 0.5, 0.9, 1.0])
    parts = np.array_split(np.arange(200), n_parts)
    table = Chunks(lambda: [(X[p], X[p, 0], weight[p]) for p in parts])
    found = quantiles(table, [0, 1, 2], q)
    expected = np.quantile(
        np.repeat(X, weight.astype(int), axis=0), q, axis=0, method="inverted_cdf"
    )
    np.testing.assert_allclose(found, expected.T, rtol=1e-9)
    np.testing.assert_array_equal(found, quantiles(Memory(X, X[:, 0], weight), [0, 1, 2], q))


# ---- strengths ---------------------------------------------------------------------------------


def quadratic(seed=0, known=False):
    rng = np.random.default_rng(seed)
    B = np.column_stack([np.ones(80), rng.standard_normal((80, 6))])
    y = B @ np.array([1, 2, -1, 0.5, 0, 0, 0]) + rng.standard_normal(80)
    D = np.zeros((7, 2))
    D[1:4, 0] = D[4:, 1] = 1.0
    return Quadratic(B.T @ B, B.T @ y, float(y @ y), 80.0, 1, known), D


@pytest.mark.parametrize("known", [False, True])
def test_strengths_are_those_of_an_independent_optimiser(known):
    q, D = quadratic(known=known)
    kinds = np.array([0, 1])

    def criterion(rho):
        penalty = D @ np.exp(rho)
        A = q.curve + np.diag(penalty)
        loss = q.square - q.linear @ np.linalg.solve(A, q.linear)
        value = np.linalg.slogdet(A)[1] - np.log(penalty[1:]).sum()
        return value + (loss if known else 79 * np.log(loss))

    found = reml(q, D, np.zeros(2), kinds)
    best = optimize.minimize(criterion, np.zeros(2), method="Nelder-Mead", options={"xatol": 1e-6})
    assert found.converged
    assert criterion(found.log_strengths) <= best.fun + 2e-2


def test_a_certificate_is_refused_where_steps_run_out():
    q, D = quadratic()
    assert not reml(q, D, np.full(2, 9.0), np.array([0, 1]), max_iter=0).converged


@pytest.mark.parametrize(
    ("family", "y"),
    [(Squares(0.5), "number"), (Logistic(), 2), (Multinomial(3), 3), (Ordered(4), 4)],
    ids=["link", "two", "several", "ordered"],
)
def test_working_slopes_are_those_of_the_loss(family, y):
    rng = np.random.default_rng(0)
    n = 12
    y = rng.standard_normal(n) if y == "number" else np.arange(n) % y * 1.0
    eta = rng.standard_normal((family.n_scores, n))
    fixed = np.sort(rng.standard_normal((family.n_scores, family.n_fixed)), axis=1)
    weight = 1 + rng.random(n)
    for k in range(family.n_scores):
        found = family.working(k, eta, fixed, y, weight)
        for change, slope in ((eta, found.slope), (fixed, found.fixed_slope)):
            for i in range(len(slope)):
                losses = []
                for h in (1e-5, -1e-5):
                    moved = change.copy()
                    moved[k, i] += h
                    both = (moved, fixed) if change is eta else (eta, moved)
                    losses.append(family.working(k, *both, y, weight).loss.sum())
                np.testing.assert_allclose(-(losses[0] - losses[1]) / 4e-5, slope[i], atol=1e-5)


@pytest.mark.parametrize("known", [False, True])
def test_the_covariance_is_averaged_over_each_strength(known):
    q, D = quadratic(known=known)
    kinds = np.array([0, 1])
    found = reml(q, D, np.zeros(2), kinds)
    expected = found.inverse * found.variance
    for j in range(2):
        parts, values = [], []
        for new in _GRID:
            rho = found.log_strengths.copy()
            rho[j] = new
            at = reml(q, D, rho, kinds, max_iter=0)
            off = at.beta - found.beta
            parts.append(at.inverse * found.variance + np.outer(off, off))
            values.append(at.value)
        weights = np.exp((min(values) - np.array(values)) / 2)
        mean = np.einsum("g,gij->ij", weights / weights.sum(), parts)
        expected = expected + mean - found.inverse * found.variance
    np.testing.assert_allclose(covariance_of(q, D, found, kinds), expected, rtol=1e-5, atol=1e-9)


@pytest.mark.parametrize("kappa", [-0.5, 0.0, 0.7])
def test_the_bend_is_how_outputs_move_with_the_link(kappa):
    score, h = np.linspace(-6.1, 6.3, 25), 1e-5  # not where it turns straight
    moved = (Squares(kappa + h).mean(score) - Squares(kappa - h).mean(score)) / (2 * h)
    np.testing.assert_allclose(Squares(kappa).bend(score), moved, atol=1e-4)


def products(n=150, seed=0, kappa=0.7):
    rng = np.random.default_rng(seed)
    X = rng.random((n, 2))
    mean = Squares(kappa).mean(2 * X[:, 0] - 1.5 * X[:, 1] ** 2)
    y = mean + 0.1 * rng.standard_normal(n)
    return Memory(X, y, np.ones(n)), Options(max_order=1)


def test_the_error_of_the_link_is_that_of_all_numbers_together():
    table, options = products(80)
    ground = ground_of(table, [Source("a"), Source("b")], options)
    fit = Fit(table, ground, Squares(0.5), options)
    fit.refit(steps=0, outer=60, tolerance=1e-6)
    found, block = link_of(fit), next(table.blocks())
    rows, D = block.design(fit.design), fit.penalties() @ np.exp(fit.rhos[0])
    dense = np.zeros((80, int(fit.design.grid_cuts[-1])))
    for i in range(80):
        np.add.at(dense[i], rows.index[i], rows.share[i])
    design = np.column_stack([np.ones(80), fit.design.project(dense.T).T])
    score = design @ fit.betas[0]
    whole = fit.family.slope(score)[:, None] * design
    whole = np.column_stack([whole, fit.family.bend(score)])
    covariance = np.linalg.inv(whole.T @ whole + np.diag([*D, 0.0])) * fit.results[0].variance
    assert found.error == pytest.approx(np.sqrt(covariance[-1, -1]), rel=1e-4)
    # Variance of outputs, link included, as the delta method has it.
    direct = np.einsum("ij,jk,ik->i", whole, covariance, whole)
    known = np.linalg.inv(whole[:, :-1].T @ whole[:, :-1] + np.diag(D)) * fit.results[0].variance
    direct -= np.einsum("ij,jk,ik->i", whole[:, :-1], known, whole[:, :-1])
    sure, unsure = (model_of(fit, link).score_variance(block.X)[0] for link in (None, found))
    told = (unsure - sure) * fit.family.slope(score) ** 2
    np.testing.assert_allclose(told, direct, rtol=1e-3, atol=1e-9)


def test_the_link_is_polished_to_the_most_likely_number():
    table, options = products()
    ground = ground_of(table, [Source("a"), Source("b")], options)
    fit = grow(table, ground, Squares(0.5), options)
    before = fit.results[0].variance
    polish(fit, fit.family.kappa)
    assert abs(fit.family.kappa - 0.7) < 3 * link_of(fit).error < 0.3
    assert fit.results[0].variance < before
    assert fit.settled


def test_terms_do_not_say_what_the_link_ought_to_say():
    covered = []
    for seed in range(3):
        rng = np.random.default_rng(seed)
        X = rng.random((500, 4))
        f = np.exp(1.5 * X[:, 0] + X[:, 1] - X[:, 2])  # between the numbers that are tried
        model = ChoquetAdditiveRegressor().fit(X, f + 0.1 * f.std() * rng.standard_normal(500))
        assert abs(model.link_ - f.std() / f.mean()) < 4 * model.model_.kappa_error
        assert sum(len(term.sources) > 1 for term in model.terms_) <= 2
        low, high = model.predict_interval(X).T
        covered.append(np.mean((low <= f) & (f <= high)))
    assert np.mean(covered) > 0.85, covered


def test_classes_take_their_steps_together_to_the_least_loss():
    rng = np.random.default_rng(0)
    X = rng.random((60, 2))
    y = np.digitize(X[:, 0] + 0.3 * rng.standard_normal(60), [0.3, 0.7]).astype(float)
    table, options = Memory(X, y, np.ones(60)), Options(max_order=1, n_knots=(4,))
    fit = Fit(table, ground_of(table, [Source("a"), Source("b")], options), Multinomial(3), options)
    fit.refit(steps=0, outer=30, tolerance=1e-6)
    penalty = np.concatenate([fit.penalties() @ np.exp(rho) for rho in fit.rhos])

    def cost(beta):
        return fit.loss(np.split(beta, 3)) + penalty @ beta**2

    start = np.concatenate(fit.betas)
    best = optimize.minimize(cost, np.zeros(len(start)), options={"gtol": 1e-5})
    assert cost(start) <= best.fun + 1e-6


# ---- what is learned ----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def fitted():
    X, y, f = friedman()
    return ChoquetAdditiveRegressor().fit(X, y), X, y, f


@pytest.mark.parametrize("n_classes", [2, 3])
def test_scores_are_averaged_over_strengths_by_what_predicts_held_out_rows(n_classes, monkeypatch):
    rng = np.random.default_rng(n_classes)
    X = rng.standard_normal((120, 2))
    y = np.digitize(X[:, 0] + 0.7 * rng.standard_normal(120), [0.0, 0.8][: n_classes - 1]) * 1.0
    table = Memory(X, y, np.ones(120))
    family = Logistic() if n_classes == 2 else Multinomial(3)
    sources, options = [Source("a"), Source("b")], Options(ranks=0.0)
    fit = grow(table, ground_of(table, sources, options), family, options)
    choices = [*temper._straight(fit), *temper._shared(fit), *temper._moved(fit)]
    seen, shares = [], temper._shares

    def spy(*arguments):
        seen.append((*arguments, shares(*arguments)))
        return seen[0][-1]

    monkeypatch.setattr(temper, "_shares", spy)
    losses = np.array(list(temper.temper(fit).values()))
    ((_, held, sums, ahead, weights),) = seen
    np.testing.assert_allclose(sums, losses * 120, rtol=1e-9)
    assert ahead.tolist() == [choice.ahead for choice in choices]
    assert ahead.max() == 0 > ahead.min()
    _least_of_weights(family, held, ahead, weights)
    weights = np.where(weights < temper._LEAST * weights.max(), 0.0, weights)
    block, total = next(table.blocks()), 0.0
    other = Fit(table, fit.ground, family, options)
    for choice, weight in zip(choices, weights / weights.sum(), strict=True):
        if weight:
            other.restart(choice.terms)
            other.rhos = [rho.copy() for rho in choice.rhos]
            other.refit(steps=0, outer=60, tolerance=1e-3)
            fixed = np.array([beta[:1] for beta in other.betas])
            total = total + weight * (other.scores(block, other.design, other.betas) + fixed)
    fixed = np.array([beta[:1] for beta in fit.betas])
    found = fit.scores(block, fit.design, fit.betas) + fixed
    np.testing.assert_allclose(found, total, atol=0.02 * np.abs(total).max())
    assert (weights > 0).sum() > 1
    for result in fit.results:
        assert np.linalg.eigvalsh(result.inverse).min() > -1e-9


def _least_of_weights(family, held, ahead, weights):
    """No other weights are better: the problem is convex, so a peer from equal weights agrees."""

    def cost(logs):
        shares = np.exp(logs - logs.max())
        shares /= shares.sum()
        loss = sum(rows.working(family, shares)[0].loss.sum() for rows in held)
        return loss / 2 + (shares * (np.log(shares) - ahead)).sum()

    best = optimize.minimize(cost, np.zeros(len(weights)))
    assert cost(np.log(weights)) <= best.fun + 1e-9


@pytest.mark.parametrize(("seed", "kappa"), [(0, 0.0), (11, 0.0), (0, 0.3)])
def test_terms_are_believed_as_far_as_held_out_rows_ask_for_them(seed, kappa):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((150, 3))
    y = X[:, 0] + np.tanh(X[:, 1]) + 0.5 * X[:, 0] * X[:, 1] + rng.standard_normal(150)
    table = Memory(X, (y - y.mean()) / y.std(), np.ones(150))
    sources, options = [Source(name) for name in "abc"], Options()
    ways = [replace(options, max_order=1), options]
    family, ground = Squares(kappa), ground_of(table, sources, options)
    alone, whole, fit = (grow(table, ground, family, way) for way in (*ways, options))
    share = believe(fit)
    assert 0 < share < 1
    rows = []
    for train, block in held_out(table):
        fits = [grow(train, ground_of(train, sources, options), family, way) for way in ways]
        rows.append([block.y, *(outputs(one, block) for one in fits)])
    truth, first, second = np.hstack(rows)
    errors = [((truth - (1 - w) * first - w * second) ** 2).sum() for w in np.linspace(0, 1, 21)]
    assert round(20 * share) == np.argmin(errors)
    block = next(table.blocks())
    said = [f.scores(block, f.design, f.betas)[0] + f.betas[0][0] for f in (alone, whole, fit)]
    np.testing.assert_allclose(said[2], (1 - share) * said[0] + share * said[1], atol=1e-9)
    spread = model_of(fit).covariance[0]
    assert np.linalg.eigvalsh(spread).min() > -1e-9 * np.abs(spread).max()


def test_terms_that_take_most_of_the_noise_away_are_believed_whole(fitted):
    model, X, y, _ = fitted
    assert model.believed_ == 1
    shaped = ChoquetAdditiveRegressor(monotonic_cst={"x3": 1}, link="add").fit(X, y)
    assert shaped.believed_ == 1


def test_straight_lines_with_a_ridge_are_logistic_regression():
    from sklearn.linear_model import LogisticRegression

    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (200, 3)) * [1.0, 10.0, 0.1]
    y = (X @ [2.0, 0.2, -20.0] + rng.logistic(size=200) > 0) * 1.0
    table, options = Memory(X, y, np.ones(200)), Options(ranks=0.0)
    ground = ground_of(table, [Source(name) for name in "abc"], options)
    fit = Fit(table, ground, Logistic(), options)
    choice = temper._straight(fit)[4]
    fit.restart(choice.terms)
    fit.rhos = choice.rhos
    fit.refit(steps=0, outer=60, tolerance=1e-6)
    block = next(table.blocks())
    found = fit.scores(block, fit.design, fit.betas)[0] + fit.betas[0][0]
    peer = LogisticRegression(C=np.exp(-choice.rhos[0][0]), tol=1e-10)
    scaled = (X - X.mean(axis=0)) / X.std(axis=0)
    np.testing.assert_allclose(found, peer.fit(scaled, y).decision_function(scaled), atol=1e-4)


def test_among_many_columns_the_planted_pair_is_found():
    rng = np.random.default_rng(0)
    X = rng.random((400, 40))
    y = 4 * (X[:, 7] - 0.5) * (X[:, 31] - 0.5) + X[:, 3] + 0.1 * rng.standard_normal(400)
    model = ChoquetAdditiveRegressor(link="add", max_order=2, n_knots=(4, 4)).fit(X, y)
    assert [term.sources for term in model.terms_ if len(term.sources) > 1] == [(7, 31)]


def test_it_finds_the_pair_that_was_planted(fitted):
    model, X, y, f = fitted
    assert {term.sources for term in model.terms_ if len(term.sources) > 1} == {(0, 1)}
    assert np.mean((model.predict(X) - f) ** 2) < 0.15 * np.mean((y - f) ** 2) * 2
    assert model.model_.settled
    assert sum(term.share for term in model.terms_) == pytest.approx(1.0)


def test_contexts_reproduce_predictions(fitted):
    model, X, _, _ = fitted
    more = np.vstack([X, 2 * X - 0.5])
    again = model.decomposition_.predict(more)
    np.testing.assert_allclose(again, model.predict(more), atol=1e-9)


def test_what_was_fitted_shows_itself_in_a_line_a_term(fitted):
    model, _, _, _ = fitted
    first, *lines = repr(model.decomposition_).splitlines()
    assert first.startswith(f"{len(model.terms_)} term")
    assert f"{len(model.decomposition_.operators)} contexts" in first
    assert [line.split(":")[0].strip() for line in lines] == [term.name for term in model.terms_]
    assert all(len(repr(term)) < 100 for term in model.terms_)
    assert len(repr(model.model_)) < 200


def test_each_row_is_explained_by_one_sentence_a_term(fitted):
    model, X, _, _ = fitted
    parts = model.decomposition_
    for row, why in zip(X[:5], model.explain(X[:5]), strict=True):
        assert len(why.sentences) == len(model.terms_)
        sizes = [abs(effect) for effect, _, _ in why.effects]
        assert sizes == sorted(sizes, reverse=True)
        assert parts.output(np.array([[why.score - model.model_.fixed[0, 0]]])) == pytest.approx(
            model.predict(row[None])
        )


def test_operators_are_order_statistics_of_positions(fitted):
    model, X, _, _ = fitted
    parts = model.decomposition_
    numbers = parts.operator_of(X)
    assert (numbers >= 0).all()
    effects = parts.effects(X)
    for t, (_, _, positions, _) in enumerate(parts.places(X)):
        for i in range(0, len(X), 50):
            found = parts.operators[numbers[i, t]](positions[i])
            assert found == pytest.approx(effects[i, t] * model.scale_, abs=1e-9)
    frame = parts.to_frame()
    assert frame["bias"].tolist() == [operator.bias for operator in parts.operators]
    assert len(frame) == len(parts.operators)
    assert frame.groupby("term")["count"].sum().eq(len(X)).all()


def test_terms_have_mean_zero_over_the_training_rows(fitted):
    model, X, _, _ = fitted
    assert np.abs(model.model_.contributions(X).mean(axis=1)).max() < 1e-9


def test_a_silent_source_is_left_out_and_the_band_widens(fitted):
    model, X, _, _ = fitted
    silent = X.copy()
    silent[:, 3] = np.nan
    without = model.model_.contributions(silent)[0]
    holds = [3 in term.sources for term in model.terms_]
    assert (without[:, holds] == 0).all()
    width = np.diff(model.predict_interval(X), axis=1)
    assert (np.diff(model.predict_interval(silent), axis=1) > width).all()


def test_a_level_never_seen_is_no_better_known_than_one_that_was():
    import pandas as pd

    covered, ratios = [], []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        effects, x = rng.standard_normal(60), rng.random(150)
        level = rng.choice(12, 150, p=rng.dirichlet(np.ones(12)))
        y = effects[level] + x + rng.standard_normal(150)
        frame = pd.DataFrame({"level": [f"l{k}" for k in level], "x": x})
        model = ChoquetAdditiveRegressor(link="add").fit(frame, y)
        seen, new = (
            pd.DataFrame({"level": [f"l{k}" for k in which], "x": 0.5})
            for which in (sorted(set(level)), range(12, 60))
        )
        widest = np.diff(model.predict_interval(seen), axis=1).max()
        low, high = model.predict_interval(new).T
        covered.append(np.mean((low <= effects[12:] + 0.5) & (effects[12:] + 0.5 <= high)))
        ratios.append(float(np.min(high - low) / widest))
    assert min(ratios) > 1, ratios
    assert np.mean(covered) > 0.85, covered


def test_bands_cover_the_truth():
    covered = []
    for seed in range(6):
        X, y, f = friedman(300, seed=seed)
        low, high = ChoquetAdditiveRegressor(link="add").fit(X, y).predict_interval(X).T
        covered.append(((low <= f) & (f <= high)).mean())
    assert 0.90 < np.mean(covered) < 0.99


def test_noise_widens_the_band(fitted):
    model, X, y, _ = fitted
    narrow, wide = (np.diff(model.predict_interval(X, noise=n), axis=1) for n in (False, True))
    assert (wide > narrow).all()
    low, high = model.predict_interval(X, noise=True).T
    assert 0.9 < ((low <= y) & (y <= high)).mean() <= 1


def grown(rng, n, power):
    """Rows whose noise is a share of the output (power 1), or even (power 0)."""
    X = rng.random((n, 3))
    mean = np.exp(1 + 2 * X[:, 0] + X[:, 1])
    return X, mean * (1 + 0.2 * rng.standard_normal(n) * (mean / 18) ** (power - 1))


@pytest.mark.parametrize("power", [0, 1])
def test_bands_for_new_targets_hold_where_the_noise_grows(power):
    held, below = [], []
    for seed in range(2):
        model = ChoquetAdditiveRegressor().fit(*grown(np.random.default_rng(seed), 800, power))
        X, y = grown(np.random.default_rng(100 + seed), 2000, power)
        low, high = model.predict_interval(X, noise=True).T
        fifths = np.array_split(np.argsort(model.predict(X)), 5)
        held.append([((low <= y) & (y <= high))[rows].mean() for rows in fifths])
        below.append((low < 0).mean())
        assert (model.model_.growth > 0.3) if power else (abs(model.model_.growth) < 0.3)
    held = np.mean(held, axis=0)
    assert held.min() > 0.91, held
    assert held.max() < 0.995, held
    assert power == 0 or max(below) < 0.05


def test_how_the_noise_grows_does_not_depend_on_chunks_or_files(tmp_path):
    X, y = grown(np.random.default_rng(0), 300, 1)
    model = ChoquetAdditiveRegressor(link="add").fit(X, y)
    chunks = [(X[:100], y[:100]), (X[100:], y[100:])]
    again = fit_additive_chunks(ChoquetAdditiveRegressor(link="add"), chunks)
    assert model.model_.growth == again.model_.growth > 0
    back = choquet.load(choquet.save(model, tmp_path / "model.json"))
    bands = [one.predict_interval(X, noise=True) for one in (model, back)]
    np.testing.assert_array_equal(*bands)
    plain = replace(model.model_, growth=0.0, level=1.0)
    even = np.diff(copy_with(model, plain).predict_interval(X, noise=True), axis=1)
    assert np.diff(bands[0], axis=1).std() > 5 * even.std()


def copy_with(model, inner):
    """The same estimator around another model."""
    found = copy(model)
    found.model_ = inner
    return found


def ratings(n=120):
    rng = np.random.default_rng(0)
    levels = ["poor", "fair", "good", "excellent"]
    X = pd.DataFrame(
        {
            "rating": pd.Categorical(rng.choice(levels, n), levels, ordered=True),
            "sex": rng.integers(0, 2, n),
            "age": rng.uniform(20, 80, n),
            "zip": rng.choice([20095, 10115, 80331], n),
        }
    )
    y = 4.0 * X["rating"].cat.codes + 10 * X["sex"] + 0.1 * X["age"] + rng.standard_normal(n)
    return X, y.rename("bp")


@pytest.fixture(scope="module")
def rated():
    X, y = ratings()
    return ChoquetAdditiveRegressor(link="add", max_order=1).fit(X, y), X


def test_an_ordered_category_that_was_never_seen_is_not_called_missing(rated):
    model, X = rated
    row = X.astype({"rating": object}).head(1).assign(rating="Good")
    said = "rating is left out, because this value of rating was never seen."
    assert said in model.explain(row)[0].sentences
    text = choquet.explain_sample(model, row).text()
    assert said in text
    assert "nothing decided what is left out" in text
    silent = row.assign(rating=None)
    assert "because rating is missing." in model.explain(silent)[0].text()


def test_trust_falls_where_a_term_is_left_out(rated):
    model, X = rated
    rows = X.astype({"rating": object})
    strange = model.trust(rows.assign(rating="Good"))
    share = next(term.share for term in model.terms_ if term.name == "rating")
    assert (strange <= model.trust(rows) - 0.9 * share).all()
    assert share > 0.2


def test_reasons_name_the_value_of_the_row(rated):
    model, X = rated
    row = X.astype({"rating": object}).head(1)
    for sex, rating in ((0, "fair"), (1, "good")):
        text = model.explain(row.assign(sex=sex, rating=rating, age=47.3))[0].text()
        assert f"because sex is {sex}." in text
        assert f"because rating is {rating}." in text
        assert "because age is 47.3 (between " in text


def test_whole_numbers_are_told_in_full(rated):
    model, X = rated
    assert "zip is 20,095" in model.explain(X[X["zip"] == 20095].head(1))[0].text()
    assert "80,331" in choquet.explain_model(model).text()


def test_operators_are_in_units_of_the_target(rated):
    model, X = rated
    frame = model.decomposition_.to_frame()
    found = frame[(frame["term"] == "sex")].iloc[0]
    assert 9 < abs(found["weights"][0]) < 11
    multiplied = ChoquetAdditiveRegressor(link=0.5, max_order=1).fit(X, np.exp(X["age"] / 40))
    assert "bias (score)" in multiplied.decomposition_.to_frame()
    rows = model._inputs(X)
    assert np.abs(model.decomposition_.predict(rows) - model.predict(X)).max() < 1e-9


def test_columns_of_one_name_are_refused():
    X = pd.DataFrame(np.random.default_rng(0).random((20, 3)), columns=["a", "a", "b"])
    with pytest.raises(DataError, match="several columns are called a;"):
        ChoquetAdditiveRegressor().fit(X, np.arange(20.0))


def test_targets_without_noise_have_even_noise():
    X = np.random.default_rng(0).random((60, 2))
    model = ChoquetAdditiveRegressor(link="add").fit(X, np.ones(60))
    assert model.model_.growth == 0
    assert np.isfinite(model.predict_interval(X, noise=True)).all()


def test_effects_that_multiply_are_noticed():
    rng = np.random.default_rng(0)
    X = rng.random((400, 3))
    y = np.exp(2 * X[:, 0] + 2 * X[:, 1] - X[:, 2]) + 0.2 * rng.standard_normal(400)
    model = ChoquetAdditiveRegressor().fit(X, y)
    assert model.link_ > 0
    assert all(len(term.sources) == 1 for term in model.terms_[:3])


def test_predictions_stay_near_the_range_of_training(fitted):
    model, X, _, _ = fitted
    far = model.predict(100 * X - 50)
    inside = model.predict(X)
    room = 0.06 * np.ptp(inside)
    assert inside.min() - room <= far.min()
    assert far.max() <= inside.max() + room


def test_max_terms_counts_utilities_too():
    X, y, _ = friedman()
    model = ChoquetAdditiveRegressor(max_terms=3).fit(X, y)
    assert len(model.terms_) <= 3
    whole = ChoquetAdditiveRegressor(max_terms=3, n_knots=(16, 4, 3, 3)).fit(X, y)
    assert model.n_numbers_ < 0.7 * whole.n_numbers_
    assert np.mean((model.predict(X) - whole.predict(X)) ** 2) < 0.1 * model.noise_**2


@given(SEEDS, st.integers(3, 12))
@settings(max_examples=20, deadline=None)
def test_a_line_of_the_needed_knots_stays_in_the_band(seed, n):
    rng = np.random.default_rng(seed)
    knots, values = np.cumsum(0.1 + rng.random(n)), rng.standard_normal((2, n))
    errors = 0.5 * rng.random((2, n)) + 0.01
    kept = needed_knots(knots, values, errors)
    assert kept[0] == 0
    assert kept[-1] == n - 1
    lines = np.stack([np.interp(knots, knots[kept], line[kept]) for line in values])
    assert (np.abs(lines - values) <= errors * (1 + 1e-12)).all()


def test_interactions_stay_in_their_groups():
    X, y, _ = friedman()
    model = ChoquetAdditiveRegressor(interaction_cst=[["x0", "x2"], [1, 3]], link="add").fit(X, y)
    allowed = ({0, 2}, {1, 3})
    assert all(len(t.sources) == 1 or set(t.sources) in allowed for t in model.terms_)
    none = ChoquetAdditiveRegressor(interaction_cst="no_interactions", link="add").fit(X, y)
    assert all(len(term.sources) == 1 for term in none.terms_)


# ---- shapes ------------------------------------------------------------------------------------


def rising_pairs(rng, X, signs, n=50_000):
    low, high = X.min(axis=0), X.max(axis=0)
    a = low + (1.2 * rng.random((n, X.shape[1])) - 0.1) * (high - low)
    b = a.copy()
    for i, sign in signs.items():
        b[:, i] += sign * rng.random(n) * (high - low)[i] * (rng.random(n) < 0.7)
    return a, b


@pytest.mark.parametrize("max_order", [2, 3])
@pytest.mark.parametrize("link", ["add", 1.0])
def test_monotone_models_never_fall(max_order, link):
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.random((300, 2)), rng.integers(0, 4, (300, 2))])
    y = np.minimum(X[:, 0], X[:, 1]) * X[:, 2] - 0.2 * X[:, 3] + 0.4 * rng.standard_normal(300)
    signs = {0: 1, 1: 1, 2: 1, 3: -1}
    options = {"max_order": max_order, "link": link}
    model = ChoquetAdditiveRegressor(monotonic_cst=signs, **options).fit(X, y)
    a, b = rising_pairs(rng, X, signs)
    assert (model.predict(b) - model.predict(a)).min() >= -1e-9
    assert model.proof_.least_rise >= 0
    assert model.proof_.gap < 1e-6
    free = ChoquetAdditiveRegressor(**options).fit(X, y)
    a_free, b_free = free.predict(a), free.predict(b)
    assert (b_free - a_free).min() < -1e-3, "the constraint had nothing to do"


def test_a_monotone_fit_is_the_best_of_all_monotone_ones():
    import cvxpy as cp

    rng = np.random.default_rng(1)
    X = rng.random((120, 1))
    y = X[:, 0] + 0.5 * rng.standard_normal(120)
    table = Memory(X, (y - y.mean()) / y.std(), np.ones(120))
    options = Options(max_order=1)
    fit = grow(table, ground_of(table, [Source("x")], options), Squares(0.0), options)
    fit.rhos = [np.full(2, -3.0)]
    fit.refit(steps=0)
    q, term = fit.quadratics[0], fit.terms[0]
    A = q.curve + np.diag(fit.penalties() @ np.exp(fit.rhos[0]))
    from choquet.additive.shape import constrain

    x = cp.Variable(len(q.linear))
    cost = cp.quad_form(x, cp.psd_wrap(A)) - 2 * q.linear @ x
    cp.Problem(cp.Minimize(cost), [np.diff(term.basis, axis=0) @ x[1:] >= 0]).solve(cp.CLARABEL)
    proof = constrain(fit, {0: 1.0}, {})
    assert proof.exact
    np.testing.assert_allclose(fit.betas[0], x.value, atol=1e-4)


def test_convex_utilities_are_convex():
    rng = np.random.default_rng(0)
    X = rng.random((200, 2))
    y = np.abs(X[:, 0] - 0.4) + X[:, 1] + 0.2 * rng.standard_normal(200)
    model = ChoquetAdditiveRegressor(curvature_cst={"x0": "convex"}, max_order=1, link="add")
    model.fit(X, y)
    term = next(term for term in model.terms_ if term.sources == (0,))
    slopes = np.diff(term.values[0]) / np.diff(term.axes[0].knots)
    assert (np.diff(slopes) >= -1e-9).all()


# ---- classes -----------------------------------------------------------------------------------


def test_classes_of_a_known_model_are_calibrated():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((1500, 4))
    p = 1 / (1 + np.exp(-(X[:, 0] + X[:, 1] * X[:, 2])))
    y = (rng.random(1500) < p).astype(int)
    model = ChoquetAdditiveClassifier().fit(X[:1000], y[:1000])
    assert any(set(term.sources) == {1, 2} for term in model.terms_)
    found = model.predict_proba(X[1000:])[:, 1]
    assert np.abs(found - p[1000:]).mean() < 0.06
    for low in (0.0, 0.25, 0.5, 0.75):
        bin_ = (found >= low) & (found < low + 0.25)
        assert abs(found[bin_].mean() - p[1000:][bin_].mean()) < 0.06
    low, high = model.predict_interval(X[1000:])[:, 1].T
    assert 0.75 < ((low <= p[1000:]) & (p[1000:] <= high)).mean() <= 1


def test_ordered_classes_share_one_score():
    rng = np.random.default_rng(0)
    X = rng.random((600, 3))
    score = 6 * np.minimum(X[:, 0], X[:, 1]) + rng.logistic(size=600) * 0.4
    y = np.digitize(score, [1.0, 2.0, 3.0])
    model = ChoquetAdditiveClassifier(ordered=True).fit(X[:400], y[:400])
    assert (np.diff(model.thresholds_) > 0).all()
    assert np.abs(model.predict(X[400:]) - y[400:]).mean() < 0.45
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)
    words = np.array(["low", "mid", "good", "top"])[y]
    named = ChoquetAdditiveClassifier(ordered=["low", "mid", "good", "top"]).fit(
        X[:400], words[:400]
    )
    np.testing.assert_allclose(named.predict_proba(X), model.predict_proba(X), atol=1e-9)
    with pytest.raises(OptionError, match="each class once"):
        ChoquetAdditiveClassifier(ordered=["low"]).fit(X, words)


def test_monotone_classifiers_never_fall():
    rng = np.random.default_rng(0)
    X = rng.random((300, 2))
    y = (X[:, 0] * X[:, 1] + 0.2 * rng.standard_normal(300) > 0.3).astype(int)
    model = ChoquetAdditiveClassifier(monotonic_cst={0: 1, 1: 1}).fit(X, y)
    a, b = rising_pairs(rng, X, {0: 1, 1: 1}, 20_000)
    assert (model.decision_function(b) - model.decision_function(a)).min() >= -1e-9
    with pytest.raises(OptionError, match="two classes, or ordered"):
        ChoquetAdditiveClassifier(monotonic_cst={0: 1}).fit(X, np.arange(300) % 3)


def test_separated_classes_have_finite_scores():
    X = np.linspace(0, 1, 60)[:, None]
    model = ChoquetAdditiveClassifier().fit(X, X[:, 0] > 0.5)
    assert np.isfinite(model.decision_function(X)).all()
    assert (model.predict(X) == (X[:, 0] > 0.5)).all()


# ---- categories and missing values ---------------------------------------------------------------


def test_categories_and_missing_values_are_learned():
    import pandas as pd

    rng = np.random.default_rng(0)
    colour = rng.choice(["red", "green", "blue"], 300)
    size = rng.choice(["s", "m", "l"], 300)
    x = rng.random(300)
    y = x + (colour == "red") + 0.5 * (size == "l") + 0.1 * rng.standard_normal(300)
    x[:60] = np.nan
    y[:60] += 2
    frame = pd.DataFrame({"colour": pd.Categorical(colour), "size": size, "x": x})
    model = ChoquetAdditiveRegressor(categories={"size": ["s", "m", "l"]}, link="add")
    model.fit(frame, y)
    assert [source.kind for source in model.columns_] == ["nominal", "ordered", "number"]
    assert np.mean((model.predict(frame) - y) ** 2) < 0.1 * y.var()
    row = frame.iloc[[100]]
    new = pd.DataFrame({"colour": ["mauve"], "size": ["l"], "x": [0.5]})
    assert np.isfinite(model.predict(new)).all()
    assert np.diff(model.predict_interval(new)) > np.diff(model.predict_interval(row))
    text = " ".join(model.explain(new)[0].sentences)
    assert "this value of colour was never seen" in text
    with pytest.raises(OptionError, match="no order"):
        ChoquetAdditiveRegressor(monotonic_cst={"colour": 1}).fit(frame, y)


# ---- chunks ------------------------------------------------------------------------------------


@pytest.mark.parametrize("link", ["auto", 0.5])
def test_chunks_give_the_same_answer(link):
    X, y, _ = friedman(200)
    X = X.copy()
    X[::17, 4] = np.nan
    weight = np.random.default_rng(0).integers(0, 3, 200).astype(float)
    whole = ChoquetAdditiveRegressor(link=link).fit(X, y, weight)
    parts = [(X[p], y[p], weight[p]) for p in np.array_split(np.arange(200), 3)]
    chunked = fit_additive_chunks(ChoquetAdditiveRegressor(link=link), parts)
    np.testing.assert_allclose(chunked.predict(X), whole.predict(X), atol=1e-8 * y.std())
    with pytest.raises(OptionError, match="only once"):
        fit_additive_chunks(ChoquetAdditiveRegressor(), iter(parts))


def test_chunks_of_classes_give_the_same_answer():
    X, _, f = friedman(200)
    classes = np.where(f > np.median(f), 3.0, 1.0)
    whole = ChoquetAdditiveClassifier().fit(X, classes)
    parts = [(X[p], classes[p]) for p in np.array_split(np.arange(200), 3)]
    chunked = fit_additive_chunks(ChoquetAdditiveClassifier(), parts)
    np.testing.assert_allclose(chunked.predict_proba(X), whole.predict_proba(X), atol=1e-7)


def test_chunks_with_too_many_classes_are_refused():
    """Labels beyond those that are kept would be coded as others."""
    rng = np.random.default_rng(0)
    parts = [(rng.random((600, 2)), 600.0 * k + np.arange(600)) for k in range(2)]
    with pytest.raises(DataError, match="more than 1,000 classes"):
        fit_additive_chunks(ChoquetAdditiveClassifier(max_order=1), parts)


@pytest.mark.parametrize("kind", ["chunks", "rows"])
def test_chunks_have_the_limits_of_rows(kind):
    """An offset within a chunk may be none over all of them, and the other way round."""

    def fit(model, X, y, weight=None):
        weight = np.ones(len(X)) if weight is None else weight
        if kind == "rows":
            return model.fit(X, y, weight)
        parts = [(X[p], y[p], weight[p]) for p in np.array_split(np.arange(len(X)), 3)]
        return fit_additive_chunks(model, parts)

    X, y, _ = friedman(60)
    regressor, far = ChoquetAdditiveRegressor, X + 1e9
    for rows, targets, weight in (
        (far, y, None),
        (X, y + 1e12, None),
        (X * 1e155, y, None),
        (X * 1e-170, y, None),
        (X, y * 1e155, None),
        (X, y, np.full(60, 1e308)),
        (X, y, np.full(60, -1.0)),
    ):
        with pytest.raises(DataError):
            fit(regressor(), rows, targets, weight)
    with pytest.raises(DataError, match="column 0 lies near"):
        fit(ChoquetAdditiveClassifier(), far, (y > np.median(y)) * 1.0)
    # Each third of the rows is far from zero beside its spread; all of them are not.
    steps = X.copy()
    steps[:, 0] += np.repeat([0.0, 1e9, 2e9], 20)
    assert np.isfinite(fit(regressor(), steps, y).predict(steps)).all()


@pytest.mark.parametrize("parts", [[], [(np.ones((2, 2)), np.ones(2), np.zeros(2))]])
def test_chunks_without_rows_are_refused(parts):
    with pytest.raises(DataError, match="nothing to learn from"):
        fit_additive_chunks(ChoquetAdditiveRegressor(), parts)


# ---- units -------------------------------------------------------------------------------------


@pytest.mark.parametrize("factor", [1e6, 1e-6, 3.0])
def test_units_change_nothing(factor):
    """Folds go by where numbers stand in their range: the same terms and link in any unit."""
    rng = np.random.default_rng(3)
    X = rng.random((200, 4))
    X[:, 3] = rng.integers(0, 129, 200)  # whole numbers, whose places are fractions of the range
    y = np.exp(2 * X[:, 0] + X[:, 1] * X[:, 2] + 0.2 * rng.normal(size=200))
    plain = ChoquetAdditiveRegressor().fit(X, y)
    for a, b in ((factor, 1.0), (1.0, factor)):
        model = ChoquetAdditiveRegressor().fit(a * X, b * y)
        assert [term.name for term in model.terms_] == [term.name for term in plain.terms_]
        assert model.link_choice_.kappa == plain.link_choice_.kappa
        assert model.link_ == pytest.approx(plain.link_, rel=1e-6)
        away = np.abs(model.predict(a * X) / b - plain.predict(X))
        assert away.max() < 1e-6 * np.ptp(y)
    classes = y > np.median(y)
    plain, model = (ChoquetAdditiveClassifier().fit(a * X, classes) for a in (1.0, factor))
    assert [term.name for term in model.terms_] == [term.name for term in plain.terms_]
    away = np.abs(model.predict_proba(factor * X) - plain.predict_proba(X))
    assert away.max() < 1e-6


# ---- bad input ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "error", "match"),
    [
        ({"monotonic_cst": {"x9": 1}}, SourceError, "x9"),
        ({"monotonic_cst": {"x0": 2}}, OptionError, "must be 1"),
        ({"monotonic_cst": {"x0": 1, 0: -1}}, OptionError, "both"),
        ({"monotonic_cst": [1, 1]}, OptionError, "2 values for 6 columns"),
        ({"curvature_cst": {"x0": "round"}}, OptionError, "'convex' or 'concave'"),
        ({"interaction_cst": "all"}, OptionError, "pairwise"),
        ({"max_order": 5}, OptionError, "max_order"),
        ({"max_terms": 0}, OptionError, "max_terms"),
        ({"n_knots": [3]}, OptionError, "n_knots"),
        ({"link": "log"}, OptionError, "link"),
        ({"categories": "all"}, OptionError, "categories"),
    ],
)
def test_options_are_checked(options, error, match):
    X, y, _ = friedman(60)
    with pytest.raises(error, match=match):
        ChoquetAdditiveRegressor(**options).fit(X, y)


def test_odd_columns_are_no_trouble():
    rng = np.random.default_rng(0)
    x = rng.random(80)
    X = np.column_stack([x, x, np.full(80, 3.0), rng.integers(0, 2, 80), 1e12 * rng.random(80)])
    y = x + 0.1 * rng.standard_normal(80)
    model = ChoquetAdditiveRegressor().fit(X, y)
    assert np.corrcoef(model.predict(X), x)[0, 1] > 0.98
    wide = rng.standard_normal((30, 60))
    ChoquetAdditiveRegressor(link="add").fit(wide, wide[:, 0])
    constant = ChoquetAdditiveRegressor().fit(X, np.full(80, 7.0))
    np.testing.assert_allclose(constant.predict(X), 7.0)
    with pytest.raises(ValueError, match="infinity"):
        ChoquetAdditiveRegressor().fit(np.where(X == 3.0, np.inf, X), y)
    with pytest.raises(DataError, match="zero in every row"):
        ChoquetAdditiveRegressor().fit(X, y, np.zeros(80))


def test_weights_of_less_than_one_row_say_nothing_of_the_number_of_rows():
    X, y, _ = friedman(150)
    plain = ChoquetAdditiveRegressor(link="add").fit(X, y)
    small = ChoquetAdditiveRegressor(link="add").fit(X, y, np.full(150, 1e-4))
    np.testing.assert_allclose(small.predict(X), plain.predict(X), rtol=1e-6)


def test_pictures_draw_into_the_axes_given(fitted):
    pytest.importorskip("matplotlib")
    from matplotlib.figure import Figure

    model, X, _, _ = fitted
    ax = Figure().subplots()
    assert choquet.plot.utility(model, "x2", X=X[:, 2], ax=ax) is ax
    assert ax.get_xlabel() == "x2"
    ax = Figure().subplots()
    assert choquet.plot.pair_map(model, 0, 1, ax=ax) is ax
    with pytest.raises(SourceError, match="no term"):
        choquet.plot.pair_map(model, "x4", "x5", ax=ax)


def test_a_fit_of_one_value_is_a_line():
    table = Memory(np.ones((5, 1)), np.arange(5.0), np.ones(5))
    options = Options()
    fit = Fit(table, ground_of(table, [Source("x")], options), Squares(0.0), options)
    fit.refit()
    assert fit.betas[0] == pytest.approx([2.0])


def test_bands_widen_between_knots_where_a_term_bends():
    rng = np.random.default_rng(0)
    X = np.linspace(0, 1, 400)[:, None]
    y = np.abs(X[:, 0] - 0.37) + 0.01 * rng.standard_normal(400)
    model = ChoquetAdditiveRegressor(link="add", n_knots=(6, 4, 4, 4)).fit(X, y)
    term = model.terms_[0]
    knots, values = term.axes[0].knots, term.values[0]
    slopes = np.diff(values) / np.diff(knots)
    bends = np.diff(slopes) * (knots[2:] - knots[:-2]) / 2
    np.testing.assert_allclose(term.bends(0)[1:-1], bends**2)
    np.testing.assert_allclose(term.bends(0)[[0, -1]], bends[[0, -1]] ** 2)
    low, high = model.predict_interval(X).T
    truth = np.abs(X[:, 0] - 0.37)
    near = np.abs(X[:, 0] - 0.37) < 0.1
    assert np.mean((low <= truth) & (truth <= high)) > 0.85
    assert (high - low)[near].max() > 1.5 * np.median((high - low)[~near])
    at_knots = model.model_.score_variance(knots[:, None])[0]
    posterior = model.model_._variance(knots[:, None], model.model_.covariance)[0]
    kappa = model.model_.kappa_error
    assert kappa == 0
    np.testing.assert_allclose(at_knots, posterior, rtol=1e-9)
