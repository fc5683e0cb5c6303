from __future__ import annotations

import os
import sys
import tarfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

import choquet
from choquet.certainty import identify
from choquet.errors import OptionError, SolverError, SolverWarning
from choquet.lattice import cover_pairs, monotonicity_witness
from choquet.lattice.wide import chains
from choquet.learning import (
    FAMILIES,
    SOLVERS,
    Statistics,
    absolute_loss,
    choose,
    expert,
    hlms,
    k_additive_basis,
    least_squares,
    solve,
    with_basis,
    with_penalty,
    with_prior,
    with_rows,
)
from choquet.learning.families import BASES
from choquet.learning.solvers import choose_solver
from choquet.learning.solvers.admm import RESOLUTION, admm, poset
from choquet.learning.solvers.containments import hasse
from choquet.learning.solvers.elimination import Parts, System
from choquet.learning.solvers.supported import violated_containments
from tests.tolerances import objective_error, value_error

pytestmark = pytest.mark.numerical

DATA = Path(os.environ.get("CHOQUET_DATA", Path(__file__).parents[2] / "shared/data"))


def make(n_sources, n_samples, sigma=0.05, seed=0):
    rng = np.random.default_rng(seed)
    g = choquet.Measure.random(n_sources, rng=rng)
    X = rng.random((n_samples, n_sources))
    y = choquet.choquet_integral(g, X) + sigma * rng.standard_normal(n_samples)
    return g, X, y


def design(X):
    words, gaps = chains(X)
    Z = np.zeros((len(X), 1 << X.shape[1]))
    np.put_along_axis(Z, words[..., 0].astype(int), gaps, axis=1)
    return Z


@pytest.mark.parametrize("n_sources", range(3, 11))
def test_noise_free_data_give_the_measure_back(n_sources):
    rng = np.random.default_rng(n_sources)
    g = choquet.Measure.random(n_sources, rng=rng)
    # A chain through each subset, and random ones around.
    masks = np.arange(1, 1 << n_sources)
    inside = (masks[:, None] >> np.arange(n_sources)) & 1
    X = np.concatenate([inside * 0.5 + 0.5 * rng.random(inside.shape)] * 6)
    X += 0.2 * rng.random(X.shape)
    problem = least_squares(Statistics.from_data(X, choquet.choquet_integral(g, X)))
    solution = solve(problem)
    error = objective_error(problem, solution)
    assert abs(solution.objective) <= error  # the measure itself leaves no error at all
    assert error <= 1e-8 * problem.constant
    away = value_error(problem, solution)
    np.testing.assert_allclose(solution.values, g.values, rtol=0, atol=away)


@pytest.mark.parametrize(("n_sources", "n_samples"), [(3, 20), (4, 60), (5, 20), (6, 300)])
def test_solvers_agree_with_an_independent_oracle(n_sources, n_samples):
    cp = pytest.importorskip("cvxpy")
    _, X, y = make(n_sources, n_samples, sigma=0.2)
    Z = design(X)
    g = cp.Variable(1 << n_sources)
    pairs = cover_pairs(n_sources)
    constraints = [g[0] == 0, g[(1 << n_sources) - 1] == 1, g[pairs[:, 1]] >= g[pairs[:, 0]]]
    oracle = cp.Problem(cp.Minimize(cp.sum_squares(Z @ g - y)), constraints)
    best = oracle.solve(solver="CLARABEL")
    statistics = Statistics.from_data(X, y)
    for name in ("interior", "admm", "supported"):
        problem = least_squares(statistics, dense=name != "supported")
        solution = solve(problem, solver=name)
        assert solution.objective == pytest.approx(best, rel=1e-6, abs=1e-8)
        if problem.dense:
            assert monotonicity_witness(solution.values) is None
            error = ((Z @ solution.values - y) ** 2).sum()
            assert solution.objective == pytest.approx(error, rel=1e-9, abs=1e-10)
        else:
            assert violated_containments(problem, solution.values, 0.0)[1] == 0


def test_optimality_conditions_hold():
    # Σ multipliers along pairs must balance the gradient: non-negative least squares finds them.
    from scipy.optimize import nnls

    _, X, y = make(4, 80, sigma=0.3)
    problem = least_squares(Statistics.from_data(X, y))
    solution = solve(problem)
    g = solution.values
    gradient = problem.quadratic @ g + problem.linear
    pairs = cover_pairs(4)
    active = pairs[g[pairs[:, 1]] - g[pairs[:, 0]] < 1e-7]
    A = np.zeros((16, len(active)))
    A[active[:, 0], np.arange(len(active))] = -1
    A[active[:, 1], np.arange(len(active))] = 1
    _, rest = nnls(A[1:-1], gradient[1:-1])
    assert rest < 1e-5


def test_admm_reaches_the_interior_point_and_warm_starts():
    _, X, y = make(9, 1500)
    problem = least_squares(Statistics.from_data(X, y))
    exact = solve(problem, solver="interior")
    cold = solve(problem, solver="admm")
    warm = solve(problem, solver="admm", start=cold)
    assert cold.objective == pytest.approx(exact.objective, rel=1e-6)
    assert warm.objective == pytest.approx(exact.objective, rel=1e-6)
    assert warm.iterations <= cold.iterations
    assert cold.objective - exact.objective <= cold.gap + 1e-9


@pytest.mark.parametrize("family", BASES)
def test_family_priors_agree_between_solvers_and_tend_to_the_family(family):
    _, X, y = make(5, 60)
    problem = least_squares(Statistics.from_data(X, y))
    basis = FAMILIES[family].basis(5)
    prior = with_prior(problem, basis, 2.0)
    a, b = solve(prior, solver="interior"), solve(prior, solver="admm")
    assert a.objective == pytest.approx(b.objective, rel=1e-6)
    strong = solve(with_prior(problem, basis, 1e6))
    alone = solve(with_basis(problem, basis))
    np.testing.assert_allclose(strong.values, alone.values, atol=1e-3)
    rest = alone.values - basis @ np.linalg.lstsq(basis.toarray(), alone.values, rcond=None)[0]
    assert np.abs(rest).max() < 1e-7


def test_given_prior_pulls():
    _, X, y = make(4, 10)
    prior = choquet.Measure.additive([0.1, 0.2, 0.3, 0.4])
    problem = with_prior(least_squares(Statistics.from_data(X, y)), prior.values, 1e8)
    np.testing.assert_allclose(solve(problem).values, prior.values, atol=1e-5)


@pytest.mark.parametrize(
    "penalty", [{"l1": 0.3}, {"l2": 0.3}, {"l1": 0.2, "l2": 0.2}, {"power": (1.0, 0.3)}]
)
def test_penalties_agree_between_solvers(penalty):
    _, X, y = make(4, 60)
    statistics = Statistics.from_data(X, y)
    for shape in ({}, {"monotone": False, "normal": False, "fit_intercept": True}):
        problem = with_penalty(least_squares(statistics, **shape), **penalty)
        reference = with_penalty(
            least_squares(statistics, **shape),
            **({"l1": 0.3} if "power" in penalty else penalty),
        )
        best = solve(reference, solver="interior").objective
        assert solve(problem).objective == pytest.approx(best, rel=1e-5)


def test_choquet_regression_is_linear_regression_on_gaps():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((80, 3)), rng.standard_normal(80)
    problem = least_squares(
        Statistics.from_data(X, y), monotone=False, normal=False, fit_intercept=True
    )
    solution = solve(with_penalty(problem, l2=0.5))
    Z = np.column_stack([design(X)[:, 1:], np.ones(80)])
    ridge = 0.5 * np.eye(8)
    ridge[-1, -1] = 0
    expected = np.linalg.solve(Z.T @ Z + ridge, Z.T @ y)
    np.testing.assert_allclose(np.append(solution.values[1:], solution.bias), expected, atol=1e-9)


def test_absolute_loss_ignores_an_outlier():
    g, X, y = make(3, 60, sigma=0.0)
    y[0] += 5.0
    solution = solve(absolute_loss(X, y))
    np.testing.assert_allclose(solution.values, g.values, atol=1e-6)


def test_k_additive_measures_have_no_larger_interactions():
    from choquet.lattice import mobius, subset_sizes

    _, X, y = make(5, 100)
    problem = with_basis(least_squares(Statistics.from_data(X, y)), k_additive_basis(5, 2))
    masses = mobius(solve(problem).values)
    assert np.abs(masses[subset_sizes(5) > 2]).max() < 1e-7


def test_experts_are_obeyed():
    _, X, y = make(4, 60)
    problem = least_squares(Statistics.from_data(X, y))
    rows = (
        expert.shapley_bounds(4, 0, 0.4, 1.0)
        + expert.shapley_order(4, 2, 1, 0.05)
        + expert.interaction_bounds(4, 0, 1, -np.inf, 0.0)
        + expert.orness_bounds(4, 0.3, 0.4)
        + expert.known_values(4, {8: 0.1})
    )
    solution = solve(with_rows(problem, rows))
    at = rows.matrix @ solution.values
    assert (at >= rows.lower - 1e-7).all()
    assert (at <= rows.upper + 1e-7).all()
    assert solution.values[8] == pytest.approx(0.1, abs=1e-7)
    for kind in ("sub", "super"):
        modular = expert.modular(4, kind)
        found = solve(with_rows(problem, modular)).values
        assert (modular.matrix @ found >= -1e-7).all()


def test_contradictions_are_an_error():
    _, X, y = make(3, 20)
    rows = expert.known_values(3, {1: 0.9, 3: 0.1})
    with pytest.raises(SolverError, match="contradict"):
        solve(with_rows(least_squares(Statistics.from_data(X, y)), rows))


@pytest.mark.parametrize("by", ["variance", "entropy"])
def test_choice_keeps_the_fit_and_evens_the_rest(by):
    _, X, y = make(4, 6)
    problem = least_squares(Statistics.from_data(X, y))
    solution = solve(problem)
    chosen = choose(problem, solution, by=by)
    assert chosen.objective == pytest.approx(solution.objective, abs=1e-6)
    untouched = least_squares(Statistics.from_data([[0.5, 0.5, 0.5]], [0.5]))
    even = choose(untouched, solve(untouched), by=by)
    # Clarabel stops at a gap of 1e-8, and the curvature of both aims is more than 1/2.
    np.testing.assert_allclose(
        even.values, choquet.Measure.symmetric([1 / 3] * 3).values, atol=np.sqrt(2 * 1e-8 / 0.5)
    )


def test_heuristic_least_mean_squares_comes_near():
    _, X, y = make(4, 300, sigma=0.0)
    problem = least_squares(Statistics.from_data(X, y))
    values = hlms(X, y, rate=0.3, epochs=60)
    assert monotonicity_witness(values) is None
    flat = problem.objective(choquet.Measure.symmetric([0.25] * 4).values)
    assert problem.objective(values) < 0.1 * flat


def test_supported_solver_on_many_sources():
    rng = np.random.default_rng(0)
    X = rng.random((60, 70))
    y = np.sort(X, axis=1)[:, 35:].mean(axis=1)
    problem = least_squares(Statistics.from_data(X, y), dense=False)
    assert choose_solver(problem) == "supported"
    solution = solve(problem)
    assert solution.status == "solved"
    assert violated_containments(problem, solution.values, 0.0)[1] == 0


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("solver", ["admm", "supported"])
def test_every_solver_comes_within_a_millionth_of_the_interior_point(solver, seed):
    rng = np.random.default_rng(seed)
    n_sources, n_samples = int(rng.integers(3, 9)), int(rng.integers(5, 400))
    X = rng.random((n_samples, n_sources))
    if seed % 2:
        X = X.round(1)  # ties
    y = np.sort(X, axis=1)[:, 1] + rng.choice([0.02, 0.3]) * rng.standard_normal(n_samples)
    statistics = Statistics.from_data(X, y)
    exact = solve(least_squares(statistics), solver="interior").objective
    problem = least_squares(statistics, dense=solver == "admm")
    found = solve(problem, solver=solver)
    assert found.status == "solved"
    assert found.objective == pytest.approx(exact, rel=1e-6, abs=1e-10 * problem.constant)
    # The bound must hold for what the interior point found.
    assert found.objective - found.gap <= exact + 1e-9 * problem.constant
    assert found.gap <= 2e-7 * found.objective + 1e-9 * problem.constant


@pytest.mark.parametrize(
    ("shape", "penalty"),
    [
        ({"normal": False}, {}),
        ({"normal": False, "fit_intercept": True}, {}),
        ({"fit_intercept": True}, {"l2": 0.1}),
        ({}, {"l1": 0.2, "l2": 0.01}),
        ({}, {"l1": 0.05}),
    ],
)
def test_pools_handle_intercepts_penalties_and_a_free_top(shape, penalty):
    _, X, y = make(6, 90, sigma=0.2, seed=3)
    problem = with_penalty(least_squares(Statistics.from_data(X, 2 * y + 0.1), **shape), **penalty)
    exact, found = solve(problem, solver="interior"), solve(problem, solver="admm")
    assert found.status == "solved"
    assert found.objective == pytest.approx(exact.objective, rel=1e-6)
    assert monotonicity_witness(found.values) is None
    for iterations in (25, 50):
        hasty = admm(problem, max_iterations=iterations)
        assert hasty.objective - hasty.gap <= exact.objective * (1 + 1e-8)


@pytest.mark.parametrize("shape", [{}, {"fit_intercept": True, "normal": False}])
@pytest.mark.parametrize("penalty", [{}, {"l2": 0.01}, {"l1": 0.01}])
@pytest.mark.parametrize("dense", [True, False])
def test_rows_of_data_give_the_answer_of_their_products(shape, penalty, dense):
    _, X, y = make(10, 120, seed=7)
    problem = least_squares(Statistics.from_data(X, y), dense=dense, **shape)
    assert problem.samples is not None
    problem = with_penalty(problem, **penalty)
    run = admm if dense else poset
    by_rows, by_products = run(problem), run(replace(problem, samples=None))
    assert by_rows.status == by_products.status == "solved"
    allowed = objective_error(problem, by_rows, by_products)
    assert abs(by_rows.objective - by_products.objective) <= allowed


@pytest.mark.parametrize("seed", range(4))
def test_what_is_solved_by_hand_solves_the_equations(seed):
    rng = np.random.default_rng(seed)
    rows = sp.csr_array(rng.random((30, 80)) * (rng.random((30, 80)) < 0.03))
    extra = sp.csr_array(rng.random((80, 80)) * (rng.random((80, 80)) < 2e-3))
    diagonal = sp.diags_array((rng.random(80) > 0.7).astype(float))
    matrix = sp.csr_array(rows.T @ rows + extra @ extra.T + diagonal)
    right, shift, free = rng.random(80), rng.random(80) * 0.1, rng.random(80) > 0.1
    pick = sp.diags_array(free.astype(float))
    parts = Parts.of(sp.csr_array(pick @ matrix @ pick), rows @ pick, np.where(free, right, 0.0))
    system = System(parts, shift, free, np.zeros((0, 80)), 0.0)
    assert system.own is not None
    assert len(system.own.at) > 5
    x, _ = system.solve(parts.aims, parts.right, np.zeros(80), 1e-13, 500)
    dense = matrix.toarray()[np.ix_(free, free)] + np.diag(shift[free])
    np.testing.assert_allclose(x[free], np.linalg.solve(dense, right[free]), rtol=1e-9, atol=1e-9)
    assert not x[~free].any()


def test_a_penalty_holds_subsets_without_data():
    # Most subsets have no row: the penalty alone pulls at them, and their edges hold them.
    _, X, y = make(8, 20, sigma=0.2)
    problem = with_penalty(least_squares(Statistics.from_data(X, y)), l1=0.05)
    exact, found = solve(problem, solver="interior"), solve(problem, solver="admm")
    assert found.status == "solved"
    assert found.objective == pytest.approx(exact.objective, rel=1e-6)
    assert 0 <= found.gap <= 1e-6 * found.objective


def test_flow_carries_as_much_as_an_independent_program():
    nx = pytest.importorskip("networkx")
    from choquet.learning.solvers._kernels_flow import route

    rng = np.random.default_rng(0)
    for _ in range(20):
        n = 12
        pairs = np.array([(a, b) for a in range(n) for b in range(a + 1, n) if rng.random() < 0.2])
        low, high = np.ascontiguousarray(pairs.T)
        excess = rng.integers(-9, 10, n).astype(float)
        graph = nx.DiGraph()
        graph.add_nodes_from(["source", "sink"])
        graph.add_edges_from((int(a), int(b)) for a, b in pairs)
        for v, amount in enumerate(excess):
            ends = ("source", v) if amount > 0 else (v, "sink")
            graph.add_edge(*ends, capacity=abs(amount))
        most = nx.maximum_flow_value(graph, "source", "sink")
        ends = np.concatenate([low, high])
        arcs = np.tile(np.arange(len(low)), 2)[np.argsort(ends, kind="stable")]
        starts = np.append(0, np.cumsum(np.bincount(ends, minlength=n)))
        flow, left = np.zeros(len(low)), excess.copy()
        route(starts, arcs, low, high, flow, left, 1e-12)
        assert np.maximum(excess, 0).sum() - np.maximum(left, 0).sum() == pytest.approx(most)
        moved = np.bincount(high, flow, n) - np.bincount(low, flow, n)
        np.testing.assert_allclose(excess + moved, left, atol=1e-9)
        assert (flow >= 0).all()


@pytest.mark.parametrize(("n_sources", "n_samples"), [(8, 60), (9, 300)])
def test_supported_subsets_alone_reach_the_whole_lattice(n_sources, n_samples):
    rng = np.random.default_rng(7)
    X = rng.random((n_samples, n_sources))
    y = np.sort(X, axis=1)[:, 2] + 0.2 * rng.standard_normal(n_samples)
    statistics = Statistics.from_data(X, y)
    problem = least_squares(statistics, dense=False)
    exact = solve(least_squares(statistics), solver="interior")
    found = poset(problem)
    assert found.status == "solved"
    assert found.objective == pytest.approx(exact.objective, rel=1e-6, abs=1e-9)
    assert violated_containments(problem, found.values, 0.0)[1] == 0
    warm = poset(problem, start=found)
    assert warm.objective == pytest.approx(exact.objective, rel=1e-6, abs=1e-9)
    assert warm.iterations == 0


def test_the_interior_point_takes_over_in_rounds(monkeypatch):
    module = sys.modules[violated_containments.__module__]
    _, X, y = make(8, 100)
    problem = least_squares(Statistics.from_data(X, y), dense=False)
    exact = poset(problem)
    monkeypatch.setattr(module, "poset", lambda *_, **__: poset(problem, max_iterations=0))
    solution = solve(problem)
    assert "rounds" in solution.message
    assert solution.objective == pytest.approx(exact.objective, rel=1e-6)
    assert violated_containments(problem, solution.values, 0.0)[1] == 0


@pytest.mark.parametrize("noise", [0.0, 1e-4, 1e-3])
def test_nearly_perfect_fits_are_certified_to_the_digits_of_the_targets(noise):
    rng = np.random.default_rng(8)
    X = rng.random((50, 20))
    missed = noise * rng.standard_normal(50)
    y = choquet.choquet_integral(choquet.Measure.random(3, rng=rng), X[:, :3]) + missed
    solution = solve(least_squares(Statistics.from_data(X, y), dense=False))
    assert solution.status == "solved"
    assert solution.gap <= max(RESOLUTION * (y @ y), 1e-7 * solution.objective)
    # The truth is one of the measures, so the least error is no larger than the noise.
    assert solution.objective - solution.gap <= missed @ missed + 1e-12


def test_a_bound_holds_however_early_the_solver_stops():
    _, X, y = make(10, 300)
    problem = least_squares(Statistics.from_data(X, y), dense=False)
    solution = solve(problem)
    assert "took part" in solution.message
    assert 0 <= solution.gap <= 1e-7 * solution.objective
    assert violated_containments(problem, solution.values, 0.0)[1] == 0
    hasty = poset(problem, max_iterations=25)
    assert hasty.objective - hasty.gap <= solution.objective


def test_the_heuristic_is_a_start_and_changes_nothing_else():
    _, X, y = make(9, 200, sigma=0.1)
    problem = least_squares(Statistics.from_data(X, y))
    cold = solve(problem, solver="admm")
    warm = solve(problem, solver="admm", start=hlms(X, y, rate=0.3, epochs=20))
    assert cold.objective == pytest.approx(warm.objective, rel=1e-6)
    assert cold.iterations > 0
    assert 0 < warm.iterations <= cold.iterations
    a = choquet.ChoquetRegressor(solver="admm").fit(X, y)
    b = choquet.ChoquetRegressor(solver="admm", start="hlms").fit(X, y)
    np.testing.assert_allclose(a.predict(X), b.predict(X), atol=1e-4)
    with pytest.raises(OptionError, match="one value for each"):
        solve(problem, start=np.zeros(3))
    with pytest.raises(OptionError, match="hlms"):
        choquet.ChoquetRegressor(start="magic").fit(X, y)


def test_intervals_agree_with_an_independent_oracle_and_between_processes():
    cp = pytest.importorskip("cvxpy")
    _, X, y = make(3, 12, sigma=0.2, seed=4)
    problem = least_squares(Statistics.from_data(X, y))
    solution = solve(problem)
    calls = []
    found = identify(problem, solution, tau=0.05, progress=lambda *at: calls.append(at))
    assert [done for done, _ in calls] == sorted({done for done, _ in calls})
    assert calls[-1] == (len(found.masks), len(found.masks))
    Z, g, pairs = design(X), cp.Variable(8), cover_pairs(3)
    near = cp.sum_squares(Z @ g - y) <= 1.05 * solution.objective
    constraints = [g[0] == 0, g[7] == 1, g[pairs[:, 1]] >= g[pairs[:, 0]], near]
    for mask, low, high in zip(found.masks, found.lower, found.upper, strict=True):
        least = cp.Problem(cp.Minimize(g[int(mask)]), constraints).solve(solver="CLARABEL")
        most = cp.Problem(cp.Maximize(g[int(mask)]), constraints).solve(solver="CLARABEL")
        assert (low, high) == pytest.approx((least, most), abs=1e-5)
    done = []
    both = identify(problem, solution, tau=0.05, n_jobs=2, progress=lambda *at: done.append(at))
    np.testing.assert_allclose(both.lower, found.lower, atol=1e-7)
    np.testing.assert_allclose(both.upper, found.upper, atol=1e-7)
    assert done[-1] == (len(found.masks), len(found.masks))


def test_similar_fills_from_the_nearest_walks():
    from itertools import permutations

    from choquet.learning import fill_unsupported
    from choquet.learning.fill import uncertainty, walk_distance

    def kendall(a, b):
        at = {source: k for k, source in enumerate(b)}
        return sum(at[a[i]] > at[a[j]] for i in range(len(a)) for j in range(i + 1, len(a)))

    rng = np.random.default_rng(1)
    n = 4
    for _ in range(5):
        g = choquet.Measure.random(n, rng=rng).values
        sorts = np.unique(np.array([rng.permutation(n) for _ in range(3)]), axis=0)
        counts = rng.integers(1, 4, len(sorts))
        chains_ = np.cumsum(1 << sorts, axis=1)
        supported = np.zeros(1 << n, dtype=bool)
        supported[np.append(chains_.ravel(), 0)] = True
        lower, upper = uncertainty(g, supported)
        wished = g.copy()
        for mask in np.flatnonzero(~supported):
            size = int(mask).bit_count()
            through = [p for p in permutations(range(n)) if sum(1 << i for i in p[:size]) == mask]
            far = np.array([min(kendall(p, s) for p in through) for s in sorts.tolist()])
            assert walk_distance(np.array([mask]), sorts)[0].tolist() == far.tolist()
            near = far == far.min()
            wished[mask] = np.average(g[chains_[near, size - 1]], weights=counts[near])
        wished = np.clip(wished, lower, upper)
        expected = [max(wished[a] for a in range(b + 1) if a & ~b == 0) for b in range(1 << n)]
        found = fill_unsupported(g, supported, policy="similar", sorts=sorts, counts=counts)
        np.testing.assert_allclose(found, expected)
        assert monotonicity_witness(found) is None
        np.testing.assert_array_equal(found[supported], g[supported])


def test_covers_are_the_containments_with_nothing_in_between():
    rng = np.random.default_rng(0)
    masks = np.unique(rng.integers(0, 1 << 8, 60)).astype(np.uint64)[:, None]
    masks = masks[np.argsort(np.bitwise_count(masks[:, 0]), kind="stable")]
    plain = masks[:, 0]
    below = (plain[:, None] & ~plain[None, :] == 0) & (plain[:, None] != plain[None, :])
    covers = below & ~(below.astype(int) @ below.astype(int) > 0)
    low, high = hasse(masks)
    assert set(zip(low.tolist(), high.tolist(), strict=True)) == set(
        zip(*(part.tolist() for part in np.nonzero(covers)), strict=True)
    )


def test_a_solver_that_stops_early_says_so(monkeypatch):
    _, X, y = make(10, 100)
    problem = least_squares(Statistics.from_data(X, y))

    def hasty(problem, **options):
        return admm(problem, max_iterations=3)

    monkeypatch.setitem(SOLVERS, "admm", SOLVERS["admm"]._replace(run=hasty))
    with pytest.warns(SolverWarning, match="stopped early"):
        solution = solve(problem, solver="admm")
    assert monotonicity_witness(solution.values) is None


@pytest.mark.parametrize("solver", ["admm", "free", "supported"])
def test_a_solver_refuses_what_it_cannot_do(solver):
    _, X, y = make(3, 20)
    problem = least_squares(Statistics.from_data(X, y), monotone=solver != "admm")
    with pytest.raises(OptionError, match=f"solver='{solver}'"):
        solve(problem, solver=solver)
    with pytest.raises(OptionError, match="interior"):
        solve(problem, solver="magic")


# -- the data of the paper -------------------------------------------------------------------------


def aid(path):
    found = DATA / "aid" / path
    if not found.exists():
        pytest.skip(f"{found} is not there: set CHOQUET_DATA to the folder that holds aid/")
    return found


def test_four_networks_and_the_value_that_is_not_identified():
    table = np.loadtxt(aid("aid_4nets_nnfold1_fold1_test_02.txt"), delimiter=",")
    problem = least_squares(Statistics.from_data(table[:, :4], table[:, 4] == 1))
    solution = solve(problem)
    assert solution.objective == pytest.approx(4.19116e-4, rel=1e-5)
    assert solution.values[0b1010] == pytest.approx(1.0, abs=1e-3)
    assert solution.values[0b0110] == pytest.approx(0.0, abs=1e-3)
    found = identify(problem, solution, tau=1e-4)
    at = int(np.flatnonzero(found.masks == 0b0101)[0])
    assert found.lower[at] == pytest.approx(0.0, abs=1e-3)
    assert found.upper[at] == pytest.approx(0.997, abs=1e-3)
    assert found.state[at] == 1
    assert found.state[found.masks == 0b1010] == 2
    walks = found.stable_walks([[1, 3, 0, 2], [0, 2, 1, 3]])
    assert walks.tolist() == [True, False]


def test_seven_networks_share_one_measure():
    X, y = [], []
    with tarfile.open(aid("aid_7nets_fold1.tar.xz")) as archive:
        for member in archive.getmembers():
            if "NNFold_1/Fold_1/training" in member.name and member.name.endswith(".txt"):
                table = np.loadtxt(archive.extractfile(member), delimiter=",")
                X.append(table[:, :7])
                y.append(table[:, 7] == int(Path(member.name).stem) - 1)
    statistics = Statistics.from_data(np.concatenate(X), np.concatenate(y))
    solution = solve(least_squares(statistics))
    assert solution.objective / statistics.n_samples == pytest.approx(6.9265e-4, rel=1e-4)
    mean = choquet.all_walk_weights(choquet.Measure(solution.values)).mean(axis=0)
    np.testing.assert_allclose(mean, [0.006, 0.014, 0.213, 0.551, 0.207, 0.008, 0.0], atol=6e-4)
