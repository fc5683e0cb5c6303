"""What experts said holds in the measure that is returned, and in every interval."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

import choquet
from choquet.errors import OptionError, SolverError
from choquet.lattice import cover_pairs
from choquet.learning import Rows, expert
from choquet.learning.statements import KEPT, check_statements

SEEDS = st.integers(0, 10_000)


def misses(said, model):
    at = said.matrix @ model.measure_.values
    return float(np.maximum(said.lower - at, at - said.upper).max())


def one_of_each(X, rng):
    """Targets that a measure can reach: in each row one of its inputs."""
    return X[np.arange(len(X)), rng.integers(X.shape[1], size=len(X))]


def statements(n, rng):
    """A few statements that some measure keeps: bounds around the indices of a random one."""
    truth = choquet.Measure.random(n, rng=rng)
    importance = choquet.shapley(truth)
    more, less = int(importance.argmax()), int(importance.argmin())
    together = float(choquet.interaction(truth)[0, 1])
    orness = truth.summary().orness
    return (
        expert.shapley_order(n, more=more, less=less, margin=importance[more] - importance[less])
        + expert.interaction_bounds(n, 0, 1, together - 0.01, together + 0.01)
        + expert.orness_bounds(n, orness - 0.01, orness + 0.01)
    )


def test_an_order_of_importances_survives_the_filling():
    X = np.random.default_rng(3).random((6, 3))
    said = expert.shapley_order(3, more=2, less=0, margin=0.1)
    for fill in ("lower", "upper", "midpoint", "similar"):
        model = choquet.ChoquetRegressor(expert=said, fill=fill).fit(X, X[:, 0])
        importance = choquet.shapley(model.measure_)
        assert importance[2] - importance[0] >= 0.1 - KEPT


@pytest.mark.filterwarnings("ignore:on the rows learned from")
@settings(deadline=None, max_examples=25)
@given(SEEDS, st.integers(3, 5), st.sampled_from(["lower", "upper", "midpoint", "similar"]))
def test_statements_hold_whatever_the_filling(seed, n, fill):
    rng = np.random.default_rng(seed)
    said = statements(n, rng)
    X = rng.random((int(rng.integers(2, 12)), n))
    model = choquet.ChoquetRegressor(expert=said, fill=fill).fit(X, one_of_each(X, rng))
    assert misses(said, model) <= KEPT
    # The filling changes nothing that data decide.
    seen = model.support_.supported
    assert np.array_equal(model.measure_.values[seen], model.solution_.values[seen])


@pytest.mark.parametrize("choice", ["variance", "entropy"])
def test_statements_hold_in_the_chosen_measure(choice):
    rng = np.random.default_rng(4)
    X = rng.random((5, 3))
    said = expert.shapley_order(3, more=2, less=0, margin=0.3)
    model = choquet.ChoquetRegressor(expert=said, choice=choice).fit(X, X.mean(axis=1))
    assert misses(said, model) <= KEPT


def extremes(said, model, row):
    """Both ends of a row's integral, by a linear program over all 2**N values at once."""
    values, seen, n = model.measure_.values, model.support_.supported, model.n_features_in_
    pairs = cover_pairs(n)
    order = np.zeros((len(pairs), len(values)))
    order[np.arange(len(pairs)), pairs[:, 0]] = 1
    order[np.arange(len(pairs)), pairs[:, 1]] = -1
    matrix = said.matrix.toarray()
    room = 1e-9
    upper, lower = np.isfinite(said.upper), np.isfinite(said.lower)
    A = np.vstack([order, matrix[upper], -matrix[lower]])
    b = np.concatenate([np.zeros(len(pairs)), said.upper[upper], -said.lower[lower]]) + room
    cost = np.zeros(len(values))
    sort = np.argsort(-row)
    for j in range(n):
        cost[(1 << sort[: j + 1]).sum()] += row[sort[j]] - (row[sort[j + 1]] if j + 1 < n else 0)
    bounds = [(v, v) if known else (0, 1) for v, known in zip(values, seen, strict=True)]
    ends = [linprog(sign * cost, A, b, bounds=bounds).fun * sign for sign in (1, -1)]
    return np.array(ends)


@pytest.mark.filterwarnings("ignore:on the rows learned from")
@settings(deadline=None, max_examples=15)
@given(SEEDS, st.integers(3, 4))
def test_intervals_respect_the_statements(seed, n):
    rng = np.random.default_rng(seed)
    said = statements(n, rng)
    X = rng.random((int(rng.integers(2, 5)), n))
    model = choquet.ChoquetRegressor(expert=said).fit(X, one_of_each(X, rng))
    rows = rng.random((4, n))
    found = model.support_interval(rows)
    wanted = np.array([extremes(said, model, row) for row in rows])
    assert np.abs(found - wanted).max() <= 1e-5
    answers = model.predict(rows)
    assert (found[:, 0] <= answers).all()
    assert (answers <= found[:, 1]).all()


def test_a_statement_narrows_intervals():
    X, y = np.array([[0.9, 0.4, 0.4], [0.8, 0.3, 0.3]]), np.array([0.6, 0.5])
    said = expert.known_values(3, {2: 0.3, 6: 0.5})
    rows = np.array([[0.1, 0.9, 0.5], [0.5, 0.1, 0.9]])
    plain = choquet.ChoquetRegressor().fit(X, y).support_interval(rows)
    told = choquet.ChoquetRegressor(expert=said).fit(X, y).support_interval(rows)
    assert np.ptp(told[0]) < 1e-6 < np.ptp(plain[0])
    assert told[0, 0] == pytest.approx(0.4 * 0.3 + 0.4 * 0.5 + 0.1)
    assert np.ptp(told[1]) < np.ptp(plain[1])  # g({z}) is at most g({y, z}) = 0.5


def test_without_order_only_statements_bound():
    X = np.array([[0.9, 0.4, 0.4], [0.8, 0.3, 0.3], [0.7, 0.7, 0.7]])
    said = expert.known_values(3, {2: (0.2, 0.4), 3: 0.7})
    model = choquet.ChoquetRegressor(monotone=False, normal=False, expert=said)
    found = model.fit(X, [0.6, 0.5, 0.7]).support_interval([[0.5, 1.0, 0.0], [0.0, 0.5, 1.0]])
    assert np.ptp(found[0]) == pytest.approx(0.5 * 0.2, abs=1e-6)
    assert np.isinf(found[1]).all()


def test_a_broken_statement_is_an_error():
    said = expert.shapley_order(2, more=0, less=1) + expert.orness_bounds(2, 0.9, 1.0)
    with pytest.raises(SolverError, match=r"breaks statement 2 of 2: 0\.5 does not lie in \[0\.9"):
        check_statements(said, np.array([0.0, 0.6, 0.4, 1.0]))


def test_bounds_that_hold_nothing_are_refused():
    for make in (
        lambda: expert.shapley_bounds(3, 0, 0.5, 0.4),
        lambda: expert.shapley_order(3, 0, 1, margin=float("nan")),
        lambda: expert.known_values(3, {1: (0.4, 0.2)}),
        lambda: Rows(expert.orness_bounds(3, 0, 1).matrix * np.nan, np.zeros(1), np.ones(1)),
    ):
        with pytest.raises(OptionError):
            make()
    X = np.random.default_rng(0).random((9, 4))
    model = choquet.ChoquetRegressor(expert=expert.orness_bounds(3, 0, 1))
    with pytest.raises(OptionError, match="for 4 sources"):
        model.fit(X, X.mean(axis=1))
