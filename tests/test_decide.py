"""Deciding from preferences: rows, what agrees, conflicts, relations, draws, questions, flips."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import choquet
from choquet.decide import (
    STEPS,
    Cautious,
    Decision,
    FavourBetween,
    Importance,
    ImportanceBetween,
    InClass,
    Indifferent,
    Intensity,
    Interaction,
    InteractionBetween,
    InteractionOrder,
    Irrelevant,
    Must,
    OnlyIf,
    Prefer,
    SameImportance,
    Score,
    Separate,
    Setting,
    Sufficient,
    ValueBetween,
    VetoBetween,
    draw,
    find_conflicts,
    judged_points,
    model_change,
    program,
    score_change,
    space,
)
from choquet.decide.models import functionals as f
from choquet.decide.models.families import draw_family, shares_of_first, widest_program
from choquet.decide.models.relations import Table, extreme_ranks, largest_regrets, relations
from choquet.decide.models.spaces import OnChains, Pairs
from choquet.errors import (
    DataError,
    InconsistentError,
    OptionError,
    SolverError,
    SourceError,
    StatementError,
    TooLargeError,
)

CARS = ["Aria", "Bolt", "Cito", "Dune", "Echo", "Faro", "Gala", "Hike", "Iris", "Juno", "Koda",
        "Luna"]  # fmt: skip
CRITERIA = ["price", "running_cost", "safety", "comfort", "space"]
SCORES = np.array([
    [0.755, 0.467, 0.55, 0.333, 0.36], [0.475, 0.983, 0.8, 0.583, 0.44],
    [0.99, 0.667, 0.1, 0.167, 0.12], [0.11, 0.267, 0.95, 0.917, 0.82],
    [0.615, 0.8, 0.7, 0.5, 0.51], [0.335, 0.683, 0.9, 0.8, 0.64],
    [0.855, 0.767, 0.3, 0.417, 0.22], [0.205, 0.15, 0.75, 0.667, 0.98],
    [0.555, 0.9, 0.45, 0.733, 0.4], [0.71, 0.617, 0.85, 0.3, 0.46],
    [0.41, 0.533, 0.6, 0.867, 0.72], [0.655, 0.85, 0.5, 0.467, 0.3],
])  # fmt: skip
SAID = [
    "Echo > Aria", "Faro > Dune", "Bolt > Juno", "Koda > Hike", "safety matters more than comfort",
    "price and running_cost overlap", "safety and comfort complement each other", "be strict",
]  # fmt: skip


def setting_of(X, names=None, **more):
    names = names or [f"a{k}" for k in range(len(X))]
    rows = dict(zip(names, np.asarray(X, dtype=float), strict=True))
    return Setting([f"c{i}" for i in range(np.shape(X)[1])], rows, rows, **more)


def cars(*said: str) -> Decision:
    return Decision(SCORES, CARS, criteria=CRITERIA).say(*(said or SAID))


@pytest.fixture(scope="module")
def answer():
    return cars().solve(samples=4000, rng=1)


# -- rows ------------------------------------------------------------------------------------------


@given(st.integers(0, 10**6), st.integers(2, 5))
def test_linear_numbers_are_the_indices(seed, n):
    rng = np.random.default_rng(seed)
    g = choquet.Measure.random(n, rng=rng)
    x = rng.normal(size=n)
    from choquet.indices import favour, orness, veto

    pairs = choquet.interaction(g)
    expected = {
        f.Integral(x): float(choquet.choquet_integral(g, x[None])[0]),
        f.sipos(x): float(choquet.sipos_integral(g, x[None])[0]),
        f.Orness(): orness(g),
        f.Importance(0): float(choquet.shapley(g)[0]),
        f.InteractionIndex(0, 1): float(pairs[0, 1]),
        f.Veto(1): float(veto(g)[1]),
        f.Favour(1): float(favour(g)[1]),
        f.SetValue((0,)): float(g.values[1]),
        f.Mass((0, 1)): float(g.mobius()[3]),
    }
    for functional, value in expected.items():
        by_values = float(functional.values(n) @ g.values)
        by_games = float(functional.games(f.all_sets(n)) @ g.mobius())
        assert by_values == pytest.approx(value, abs=1e-9)
        assert by_games == pytest.approx(value, abs=1e-9)


@given(st.integers(0, 10**6))
def test_nodes_are_players_of_the_quotient_game(seed):
    """Importance of a group is the Shapley value of the game in which whole groups join."""
    g = choquet.Measure.random(5, rng=seed)
    parts = [(0, 1), (2,), (3, 4)]
    masks = [sum(1 << i for part in range(3) if k >> part & 1 for i in parts[part])
             for k in range(8)]  # fmt: skip
    quotient = choquet.Measure(g.values[masks])
    found = [f.NodeImportance(parts, k).values(5) @ g.values for k in range(3)]
    np.testing.assert_allclose(found, choquet.shapley(quotient), atol=1e-12)
    both = f.NodeInteraction(parts, 0, 2).values(5) @ g.values
    assert both == pytest.approx(choquet.interaction(quotient)[0, 2])


@pytest.mark.parametrize("k", [1, 2, 3, None])
def test_spaces_hold_measures_only(k):
    rng = np.random.default_rng(0)
    chosen = space(4, k)
    for _ in range(20):
        found = program(chosen, [], setting_of(np.eye(4))).minimise(rng.normal(size=chosen.size))
        g = chosen.measure(found[1], list("abcd")).to_measure()
        assert g.values[-1] == 1
        if k is not None:
            sizes = np.bitwise_count(np.arange(16, dtype=np.uint32))
            assert np.abs(g.mobius()[sizes > k]).max(initial=0) < 1e-9


def test_pairs_as_weights_are_all_measures_in_pairs():
    """The same least values as with every row that monotonicity needs."""
    from choquet.decide.models.spaces import KAdditive

    rng = np.random.default_rng(3)
    setting = setting_of(rng.random((4, 4)))
    said = [Prefer("a0", "a1"), Importance("c0", "c1")]
    few, many = (program(one, said, setting) for one in (Pairs(4), KAdditive(4, 2)))
    for row in rng.normal(size=(10, 4)):
        costs = [one.space.row(f.Integral(row)) for one in (few, many)]
        found = [one.minimise(c) for one, c in zip((few, many), costs, strict=True)]
        assert found[0][0] == pytest.approx(found[1][0], abs=1e-9)


def test_chains_are_enough_for_alternatives():
    rng = np.random.default_rng(4)
    X = rng.random((6, 5))
    setting = setting_of(X)
    said = [Prefer("a0", "a1"), Score("a2", 0.3, 0.6)]
    few = widest_program(said, setting, X, X)
    assert isinstance(few.space, OnChains)
    many = program(space(5), said, setting)
    a, b = (relations(Table(one, X, X)) for one in (few, many))
    np.testing.assert_array_equal(a.necessary, b.necessary)
    np.testing.assert_array_equal(a.possible, b.possible)


ROLES = {
    Must("c0"): lambda g: g.values[[2, 4, 6]].max() < 1e-9,
    Sufficient("c0"): lambda g: g.values[[1, 3, 5, 7]].min() > 1 - 1e-9,
    Irrelevant("c0"): lambda g: np.abs(g.values[1::2] - g.values[::2]).max() < 1e-8,
    OnlyIf("c0", "c1"): lambda g: abs(g.values[1]) + abs(g.values[5] - g.values[4]) < 1e-8,
    Separate((("c0",), ("c1", "c2"))): lambda g: np.abs(g.mobius()[[3, 5, 7]]).max() < 1e-8,
    SameImportance("c0", "c1", 0.01): lambda g: abs(np.diff(choquet.shapley(g)[:2])[0]) < 0.0101,
    Interaction(("c0", "c1"), 0): lambda g: abs(choquet.interaction(g)[0, 1]) < 1e-8,
    Cautious(None, 0.3): lambda g: choquet.indices.orness(g) < 0.3 + 1e-9,
}  # fmt: skip


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("said", ROLES, ids=str)
@pytest.mark.parametrize("k", [1, 2, None])
def test_what_was_said_holds_in_every_draw_and_the_walk_moves(said, k):
    setting = setting_of(np.eye(3))
    agreeing = program(space(3, k), [said], setting)
    if not agreeing.consistent():
        assert k == 1
        assert isinstance(said, Cautious)
        return
    points = draw(agreeing, 200, np.random.default_rng(0))
    sets = agreeing.space.sets if k == 2 else np.eye(3, dtype=bool) if k == 1 else f.all_sets(3)
    for point in points[::20]:
        if k is None:
            g = agreeing.space.measure(point, list("abc"))
        else:
            from choquet.decide.models.spaces import mobius_measure

            g = mobius_measure(sets, point / point.sum(), list("abc"))
        assert ROLES[said](g)
    one_measure = k == 1 and isinstance(said, Must | Sufficient)
    assert (np.ptp(points, axis=0).max() > 0.2) != one_measure


def test_a_measure_that_is_the_only_one_is_drawn_not_frozen():
    setting = setting_of(np.eye(2))
    fixed = [ImportanceBetween("c0", 0.3, 0.3)]
    points = draw(program(space(2, 1), fixed, setting), 5, np.random.default_rng(0))
    np.testing.assert_allclose(points, [[0.3, 0.7]] * 5, atol=1e-9)


def test_statements_serve_the_regressor():
    rng = np.random.default_rng(0)
    pandas = pytest.importorskip("pandas")
    X = pandas.DataFrame(rng.random((30, 3)), columns=["price", "safety", "space"])
    y = X.to_numpy() @ [0.6, 0.1, 0.3]
    said = [Importance("safety", "price", by=0.1), Interaction(("price", "space"), -1)]
    model = choquet.ChoquetRegressor(expert=said).fit(X, y)
    phi = choquet.shapley(model.measure_)
    assert phi[1] - phi[0] >= 0.1 - 1e-6
    assert choquet.interaction(model.measure_)[0, 2] <= 1e-6
    with pytest.raises(SourceError, match="no criterion is called 'comfort'"):
        choquet.ChoquetRegressor(expert=[Importance("comfort", "price")]).fit(X, y)
    with pytest.raises(OptionError, match="statements of"):
        choquet.ChoquetRegressor(expert="safety matters").fit(X, y)


GOOD, POOR = (0.1, 0.2, 0.3, 0.9), (0.9, 0.8, 0.5, 0.1)
SAID_OF_CRITERIA = [
    Importance("safety", "price"), Importance("safety", "price", by=0.15),
    Importance("safety", "price", at_most=0.05), SameImportance("safety", "price"),
    ImportanceBetween("comfort", 0.4, 0.5), Interaction(("price", "space"), -1),
    Interaction(("price", "space"), 1), Interaction(("price", "space"), 0),
    InteractionBetween(("price", "space"), 0.1, 0.2),
    InteractionOrder(("price", "space"), ("safety", "comfort"), by=0.1),
    Must("safety"), Sufficient("safety"), Irrelevant("price"), OnlyIf("price", "safety"),
    Separate((("price", "space"), ("safety", "comfort"))), Cautious(None, 0.3),
    VetoBetween("comfort", 0.8), FavourBetween("comfort", 0.8),
    ValueBetween(("price", "comfort"), 0.7, 0.8), Prefer(GOOD, POOR), Prefer(GOOD, POOR, by=0.05),
    Indifferent(GOOD, POOR), Score(GOOD, 0.7, 0.8),
    Intensity((0.9, 0.1, 0.2, 0.2), (0.5, 0.1, 0.1, 0.1), POOR[::-1], (0.1, 0.1, 0.1, 0.2)),
]  # fmt: skip


@pytest.mark.filterwarnings("ignore:on the rows learned from")
@pytest.mark.parametrize("said", SAID_OF_CRITERIA, ids=str)
def test_every_statement_holds_in_what_a_regressor_returns(said):
    """By name, exactly, and strictly where it was said strictly."""
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    names = ["price", "safety", "space", "comfort"]
    X = pandas.DataFrame(rng.random((30, 4)), columns=names)
    y = X.to_numpy() @ [0.5, 0.1, 0.3, 0.1] + 0.05 * rng.normal(size=30)
    values = choquet.ChoquetRegressor(expert=[said]).fit(X, y).measure_.to_measure().values
    for row in said.rows(Setting(names)):
        found = float(row.functional.values(4) @ values)
        if row.equal:
            assert found == pytest.approx(row.bound, abs=1e-12)
        elif row.strict:
            assert found > row.bound
        else:
            assert found >= row.bound - 1e-12


# -- conflicts -------------------------------------------------------------------------------------

IMPOSSIBLE = {
    "x": [0.2, 0.5, 0.9], "y": [0.3, 0.4, 0.8], "x2": [0.2, 0.55, 1.0], "y2": [0.3, 0.45, 0.9],
    "u": [0.6, 0.2, 0.4], "v": [0.3, 0.6, 0.2], "w": [0.25, 0.3, 0.65], "p": [0.4, 0.4, 0.4],
    "q": [0.5, 0.45, 0.4],
}  # fmt: skip


def test_all_conflicts_and_repairs():
    problem = Decision(IMPOSSIBLE, criteria=["first", "second", "third"]).say(
        "x > y", "p > q", "u > v", "y2 > x2", "v > w", "first matters more than third", "w > u"
    )
    found = problem.check()
    assert not found.ok
    assert set(found.conflicts) == {frozenset({1}), frozenset({0, 3}), frozenset({2, 4, 6})}
    assert set(found.repairs) == set(
        map(frozenset, [{1, 2, 3}, {0, 1, 2}, {0, 1, 6}, {1, 3, 4}, {1, 3, 6}, {0, 1, 4}])
    )
    text = str(found)
    assert "q is at least as good as p on every criterion" in text
    assert "run in a circle: u over v over w over u" in text
    assert "the same differences" in text
    with pytest.raises(InconsistentError) as raised:
        problem.solve()
    assert raised.value.conflicts == found.conflicts
    problem.drop(0, 1, 2)
    assert problem.check().ok


def test_firmness_decides_what_to_give_up():
    table = {"a": [0.9, 0.1], "b": [0.1, 0.9]}
    problem = Decision(table, criteria=["c1", "c2"]).say("[sure] a > b", "b > a")
    assert problem.check().repairs[0] == frozenset({1})
    problem = Decision(table, criteria=["c1", "c2"]).say("[perhaps] a > b", "b > a")
    assert problem.check().repairs[0] == frozenset({0})


def test_a_must_is_explained():
    found = cars("safety is a must", "Cito > Faro").check()
    assert "a must caps Cito at its safety, 0.1" in str(found)
    assert found.conflicts == (frozenset({0, 1}),)
    # Where the cap alone is no proof, what follows from it is said too.
    assert str(cars("safety is a must", "Aria > Echo").check()).startswith(
        "“safety is a must” and “Aria > Echo” exclude each other: a must caps Aria at its safety, "
        "0.55, and then Echo is at least as good as Aria."
    )


@settings(max_examples=12)
@given(st.integers(0, 10**6), st.integers(5, 10))
def test_conflicts_are_those_of_all_subsets(seed, count):
    rng = np.random.default_rng(seed)
    X = rng.random((6, 3)).round(2)
    others = [Importance("c0", "c1"), Must("c2"), Interaction(("c0", "c2"), 1), Cautious(None, 0.4),
              Score("a0", 0.2, 0.4), InClass("a1", 1), InClass("a2", 2)]  # fmt: skip
    said = [others[k] for k in rng.permutation(len(others))[: count // 2]]
    while len(said) < count:
        a, b = rng.choice(6, 2, replace=False)
        said.append(Prefer(f"a{a}", f"a{b}"))
    agreeing = program(space(3), said, setting_of(X))
    # Every set of statements, the small ones first; what holds a conflict is one.
    everything = frozenset(range(count))
    minimal, good = [], []
    for size in range(count + 1):
        for keep in map(frozenset, combinations(range(count), size)):
            if any(bad <= keep for bad in minimal):
                continue
            (good if agreeing.consistent(keep) else minimal).append(keep)
    largest = [keep for keep in good if not any(keep < other for other in good)]
    found = find_conflicts(agreeing)
    assert set(found.conflicts) == set(minimal)
    assert set(found.repairs) == {everything - keep for keep in largest}


def test_two_classes_of_one_alternative_conflict():
    assert cars("Bolt good", "Bolt poor").check().conflicts == (frozenset({0, 1}),)
    assert cars("Cito good", "Bolt poor").check().ok


# -- what holds for all ----------------------------------------------------------------------------


def test_cars(answer):
    assert cars().check().split == pytest.approx(0.264211822, abs=1e-7)
    pairs = {(CARS[a], CARS[b]) for a, b in np.argwhere(answer.necessary) if a != b}
    assert pairs == {("Bolt", "Juno"), ("Echo", "Aria"), ("Faro", "Dune"), ("Koda", "Hike")}
    assert answer.possible.sum() == 140
    best = dict(zip(CARS, answer.extreme_ranks[:, 0].tolist(), strict=True))
    assert {name for name, rank in best.items() if rank == 2} == {"Aria", "Dune", "Hike", "Juno"}
    assert {name for name, rank in best.items() if rank == 1} == set(CARS) - {
        "Aria", "Dune", "Hike", "Juno",
    }  # fmt: skip
    assert answer.regrets[1] == pytest.approx(0.225241605, abs=1e-5)
    assert answer.regrets[5] == pytest.approx(0.392628952, abs=1e-5)
    assert answer.cautious == "Bolt"
    many = cars().solve(("all",), samples=20_000)  # standard deviation of a share: 0.003
    assert many.shares["all"][5] == pytest.approx(0.836, abs=0.02)
    assert "weights" not in answer.shares
    assert answer.leader == "Faro"
    assert answer.certainty == answer.lowest[5] < answer.highest[5]


@pytest.mark.parametrize("seed", range(100))
def test_relations_with_and_without_pruning(seed):
    rng = np.random.default_rng(seed)
    X = rng.random((6, 3)).round(2)
    truth = choquet.Measure.random(3, rng=rng).integral(X)
    order = np.argsort(-truth)
    said = [Prefer(f"a{order[0]}", f"a{order[3]}"), Prefer(f"a{order[1]}", f"a{order[4]}")]
    agreeing = program(space(3, [None, 2, 1][seed % 3]), said, setting_of(X))
    if not agreeing.consistent():
        return
    plain = relations(Table(agreeing, X, X), prune=False)
    pruned = relations(Table(agreeing, X, X))
    np.testing.assert_array_equal(plain.necessary, pruned.necessary)
    np.testing.assert_array_equal(plain.possible, pruned.possible)
    assert pruned.solved <= plain.solved


@pytest.mark.parametrize("seed", range(4))
def test_relations_against_cvxpy(seed):
    cvxpy = pytest.importorskip("cvxpy")
    rng = np.random.default_rng(seed)
    X = rng.random((5, 3)).round(2)
    truth = choquet.Measure.random(3, rng=rng).integral(X)
    order = np.argsort(-truth)
    said = [Prefer(f"a{order[0]}", f"a{order[4]}"), Prefer(f"a{order[1]}", f"a{order[3]}")]
    found = relations(Table(program(space(3), said, setting_of(X)), X, X))
    g = cvxpy.Variable(8)
    rows = np.array([f.Integral(x).values(3) for x in X])
    rules = [g[0] == 0, g[7] == 1]
    rules += [g[a | 1 << i] >= g[a] for a in range(8) for i in range(3) if not a >> i & 1]
    keep = [rows[order[0]] @ g >= rows[order[4]] @ g, rows[order[1]] @ g >= rows[order[3]] @ g]
    for a in range(5):
        for b in range(5):
            lead = cvxpy.Problem(cvxpy.Minimize((rows[a] - rows[b]) @ g), rules + keep)
            assert found.necessary[a, b] == (lead.solve(solver="CLARABEL") >= -1e-6)


@pytest.mark.parametrize("seed", range(5))
def test_extreme_ranks_and_regret_against_draws_and_subsets(seed):
    rng = np.random.default_rng(seed)
    X = rng.random((5, 3)).round(2)
    agreeing = program(space(3), [Importance("c0", "c1")], setting_of(X))
    table = Table(agreeing, X, X)
    necessary = relations(table).necessary
    ranks = extreme_ranks(table, necessary)
    with_witnesses = extreme_ranks(table, necessary, draw(agreeing, 300, rng) @ table.low.T)
    np.testing.assert_array_equal(ranks, with_witnesses)
    for a in range(5):
        others = [b for b in range(5) if b != a]
        sizes = [
            size
            for size in range(5)
            for beaten in combinations(others, size)
            if agreeing.minimise(
                np.zeros(8), gap=1e-4,
                extra=(
                    table.low[a] - table.low[list(set(others) - set(beaten))], np.zeros(4 - size),
                ),
            )
        ]  # fmt: skip
        assert ranks[a, 0] == 1 + min(sizes)
    worst = largest_regrets(table, necessary)
    plain = [max(table.lead(b, a)[0] for b in range(5)) for a in range(5)]
    np.testing.assert_allclose(worst, np.maximum(plain, 0), atol=1e-9)


def test_ranges_of_scores():
    table = {"car": ["A", "B", "C"], "x": ["0.2 to 0.6", 0.5, "?"], "y": [0.4, 0.3, 0.9]}
    solved = Decision(table).solve(samples=300)
    assert not solved.necessary[0, 1]  # A may have 0.2
    assert solved.possible[0, 1]
    assert solved.necessary[2, 2]
    certain = Decision({**table, "x": ["0.5 to 0.6", 0.5, 0.1]}).solve(samples=300)
    assert certain.necessary[0, 1]


# -- draws -----------------------------------------------------------------------------------------


@pytest.fixture(params=["arrays", "compiled"])
def way(request, monkeypatch):
    """Small sets are walked by whole arrays, others by compiled loops: each draws the same."""
    limit = np.inf if request.param == "arrays" else 0.0
    monkeypatch.setattr("choquet.decide.models._small._SECONDS", limit)


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("n", [3, 4])
def test_draws_of_all_measures_against_rejection(n):
    rng = np.random.default_rng(n)
    X = rng.random((4, n))
    said = [Prefer("a0", "a1"), Importance("c0", "c1")]
    agreeing = program(space(n), said, setting_of(X))
    points = draw(agreeing, 6000, np.random.default_rng(0))
    kept = [g for g in (choquet.Measure.random(n, rng=rng).values for _ in range(16000))
            if (agreeing.matrix @ g >= agreeing.bound).all()]  # fmt: skip
    rows = agreeing.space.matrix([f.Integral(x) for x in X])
    ours, theirs = (shares_of_first(np.array(g) @ rows.T) for g in (points, kept))
    room = 0.02 + 3 * np.sqrt(0.25 / len(kept)) + 3 * np.sqrt(0.25 / 1500)
    assert np.abs(ours - theirs).max() < room
    np.testing.assert_allclose(points.mean(axis=0), np.mean(kept, axis=0), atol=0.02)


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("n", [3, 4])
def test_draws_of_pairs_against_rejection(n):
    """Uniform over coefficients: uniform in a box that holds them all, kept if monotone."""
    rng = np.random.default_rng(n)
    X = rng.random((4, n))
    agreeing = program(space(n, 2), [Prefer("a0", "a1")], setting_of(X))
    points = draw(agreeing, 4000, np.random.default_rng(0))
    from choquet.decide.models.spaces import KAdditive

    # The same set with every row that it needs, walked by the other kernel.
    dense = program(KAdditive(n, 2), [Prefer("a0", "a1")], setting_of(X))
    others = draw(dense, 4000, np.random.default_rng(1))
    np.testing.assert_allclose(points.mean(axis=0), others.mean(axis=0), atol=0.03)
    np.testing.assert_allclose(points.std(axis=0), others.std(axis=0), atol=0.03)
    if n == 3:
        box = rng.uniform(-1, 1, (400_000, 5))
        box = np.column_stack([np.abs(box[:, :3]), box[:, 3:], np.zeros(len(box))])
        box[:, 5] = 1 - box[:, :5].sum(axis=1)
        steps = dense.space.order @ box.T
        keep = (steps >= 0).all(axis=0) & (dense.matrix @ box.T >= 0).all(axis=0)
        keep &= np.abs(box[:, 5]) <= 1
        assert keep.sum() > 300
        np.testing.assert_allclose(points.mean(axis=0), box[keep].mean(axis=0), atol=0.05)


@pytest.mark.usefixtures("way")
def test_weights_are_uniform_on_the_simplex():
    points = draw(program(space(3, 1), [], setting_of(np.eye(3))), 5000, np.random.default_rng(0))
    np.testing.assert_allclose(points.mean(axis=0), 1 / 3, atol=0.02)
    np.testing.assert_allclose(points.std(axis=0), np.sqrt(1 / 18), atol=0.02)


def test_the_same_seed_gives_the_same_shares():
    one, two = (cars().solve(samples=200, rng=7).lowest for _ in range(2))
    np.testing.assert_array_equal(one, two)


# -- questions, flips, reversals -------------------------------------------------------------------


def test_question_and_answers(answer):
    asked = answer.question
    assert {asked.first, asked.second} == {"Bolt", "Faro"}
    assert asked.after < asked.before
    settled = answer.answered("Faro").solve(samples=1000)
    assert settled.certainty > answer.certainty
    assert len(answer.decision.statements) == 8  # answers do not change what they came from
    open_ = answer.answered(None).solve(samples=1000)
    assert {open_.question.first, open_.question.second} != {"Bolt", "Faro"}
    with pytest.raises(OptionError, match="choose"):
        answer.answered("Aria")


def test_asking_until_it_is_settled():
    rng = np.random.default_rng(0)
    X = rng.random((8, 4))
    truth = choquet.Measure.random(4, rng=rng)
    scores = dict(zip([f"a{k + 1}" for k in range(8)], truth.integral(X), strict=True))
    phi = dict(zip([f"x{k + 1}" for k in range(4)], choquet.shapley(truth), strict=True))

    def reply(question):
        table = phi if question.about == "criteria" else scores
        return max(question.first, question.second, key=table.__getitem__)

    done = Decision(X).solve(samples=500).ask(reply, most=15)
    assert done.certainty >= 0.95 or len(done.decision.statements) == 15
    assert scores[done.leader] >= sorted(scores.values())[-2]


def test_flips_of_one_score_are_ties(answer):
    flip = answer.flip("Bolt", over="Faro")
    assert flip.behind > 0
    target = answer.middle.integral(SCORES[[5]])[0]
    for change in flip.rises:
        if change.to is None:
            top = SCORES[1].copy()
            top[CRITERIA.index(change.criterion)] = 1.0
            assert answer.middle.integral(top[None])[0] < target
            continue
        row = SCORES[1].copy()
        row[CRITERIA.index(change.criterion)] = change.to
        assert answer.middle.integral(row[None])[0] == pytest.approx(target, abs=1e-9)


def test_flips_of_the_reference():
    problem = cars()
    g = problem.solve(samples=200).measure("least variance", share=0.0)
    target = float(g.integral(SCORES[[5]])[0])
    rises = [score_change(g, SCORES[1], j, target, 1.0) for j in range(5)]
    np.testing.assert_allclose(
        [rises[j] - SCORES[1, j] for j in (0, 2, 3, 4)], [0.077] * 4, atol=1e-4
    )
    assert rises[1] is None
    said = program(space(5), [one.statement for one in problem.statements], problem.setting)
    largest = model_change(said, g, SCORES[1], SCORES[5])[0]
    euclid = model_change(said, g, SCORES[1], SCORES[5], largest=False)[0]
    assert largest == pytest.approx(0.015068446, abs=1e-4)
    assert euclid == pytest.approx(0.034305014, abs=1e-4)


def test_leaving_alternatives_out(answer):
    found = answer.reversals(samples=100)
    assert [one.left_out for one in found] == CARS
    without = next(one for one in found if one.left_out == "Faro")
    assert without.leader != "Faro"
    assert not without.changed  # the leader itself was left out


# -- one measure -----------------------------------------------------------------------------------


@pytest.mark.parametrize("choice", ["maximum split", "least variance", "maximum entropy", "middle"])
def test_one_of_many_agrees_and_says_so(answer, choice):
    model = answer.model(choice)
    assert "One of many" in model.text
    scores = dict(zip(CARS, model.measure.integral(SCORES), strict=True))
    assert scores["Echo"] > scores["Aria"]
    assert scores["Bolt"] > scores["Juno"]
    phi = choquet.shapley(model.measure)
    assert phi[2] > phi[3]
    assert isinstance(model.measure, choquet.Measure)


def test_maximum_entropy_is_larger_than_that_of_others(answer):
    from choquet.indices import entropy

    most = entropy(answer.measure("maximum entropy", share=0.3))
    assert most >= entropy(answer.measure("least variance", share=0.3)) - 1e-7


def test_scores_ranking_and_sorting(answer):
    g = answer.measure("scores", scores={"Bolt": 0.7, "Faro": 0.75})
    np.testing.assert_allclose(g.integral(SCORES[[1, 5]]), [0.7, 0.75], atol=1e-5)
    ranked = answer.measure("ranking", by=0.05)
    scores = dict(zip(CARS, ranked.integral(SCORES), strict=True))
    assert scores["Echo"] >= scores["Aria"] + 0.05 - 1e-6
    placed = cars("Bolt, Faro good", "Aria, Cito poor").solve(samples=100)
    scores = dict(zip(CARS, placed.measure("sorting").integral(SCORES), strict=True))
    assert min(scores["Bolt"], scores["Faro"]) >= max(scores["Aria"], scores["Cito"]) + 0.1 - 1e-6


def test_the_result_is_a_measure_like_any_other(answer, tmp_path):
    g = answer.measure()
    choquet.save(g, tmp_path / "g.json")
    assert choquet.load(tmp_path / "g.json") == g
    assert choquet.decompose(g).n_operators >= 1


# -- size ------------------------------------------------------------------------------------------


def test_many_criteria_in_pairs_and_on_chains():
    rng = np.random.default_rng(0)
    X = rng.random((12, 40))
    problem = Decision(X).say("a1 > a2", "a3 > a4")
    solved = problem.solve(samples=50)
    assert [family.name for family in solved.families] == ["weights", "pairs"]
    assert solved.necessary[0, 1]
    assert isinstance(problem._program().space, OnChains)
    g = solved.middle
    assert g.n_sources == 40
    with pytest.raises(TooLargeError):
        solved.measure("least variance")
    assert solved.measure("maximum split").n_sources == 40


def test_hierarchies():
    tree = {"cost": ["price", "running_cost"], "quality": ["safety", "comfort"]}
    problem = Decision(SCORES, CARS, criteria=CRITERIA, tree=tree)
    problem.say("quality matters more than cost", "price matters more than running_cost")
    solved = problem.solve(samples=200, rng=0)
    setting = problem.setting
    gap = f.difference(setting.importance("quality", "cost"), setting.importance("cost", "quality"))
    inner = f.difference(
        setting.importance("price", "running_cost"), setting.importance("running_cost", "price")
    )
    family = solved.held[-1]
    assert (family.points @ gap.values(5) > -1e-9).all()
    assert (family.points @ inner.values(5) > -1e-9).all()
    same = Decision(SCORES, CARS, criteria=CRITERIA).say(
        "group cost: price, running_cost; group quality: safety, comfort",
        "quality matters more than cost; price matters more than running_cost",
    )
    assert same.check().split == pytest.approx(problem.check().split)
    with pytest.raises(SourceError, match="another group"):
        Decision(SCORES, CARS, criteria=CRITERIA, tree={"a": ["price"], "b": ["price", "safety"]})


# -- bad input -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("table", "error", "says"),
    [
        ({"car": ["A"], "x": [0.1], "y": [0.2]}, DataError, "two alternatives or more"),
        ({"car": ["A", "B"], "x": [0.1, 0.2]}, DataError, "two criteria or more"),
        ({"car": ["A", "A"], "x": [0.1, 0.2], "y": [0, 1]}, StatementError, "twice"),
        ({"car": ["A", "a"], "x": [0.1, 0.2], "y": [0, 1]}, StatementError, "case and blanks"),
        ({"car": ["A", "B"], "x": [0.1, ""], "y": [0, 1]}, DataError, "B, column x is empty"),
        ({"car": ["A", "B"], "x": [0.1, None], "y": [0, 1]}, DataError, "B, column x is empty"),
        ({"car": ["A", "B"], "x": [0.1, "lots"], "y": [0, 1]}, DataError, "is no number"),
        ({"car": ["A", "B"], "x": ["5 to 3", 1], "y": [0, 1]}, DataError, "smaller number first"),
        (np.random.default_rng(0).random((5001, 3)), TooLargeError, "5001 alternatives"),
        ({"car": ["A", "x"], "x": [0.1, 0.2], "y": [0, 1]}, StatementError, "rename one"),
    ],
)  # fmt: skip
def test_tables_that_cannot_be_used(table, error, says):
    with pytest.raises(error, match=says):
        Decision(table)


def test_columns_without_a_scale_print_the_lines_to_paste():
    problem = Decision({"car": ["A", "B"], "price": [100, 200], "x": [0.1, 0.2]})
    with pytest.raises(DataError) as raised:
        problem.check()
    assert "price: poor ?, good ?    # the table has 100 to 200" in str(raised.value)
    assert "x: poor" not in str(raised.value)
    problem.say("price: poor 200, good 100")
    np.testing.assert_allclose(problem.levels.lower[:, 0], [1.0, 0.0])
    with pytest.raises(StatementError, match="another scale"):
        problem.say("price: poor 100, good 200")
    problem.scale("price", poor=300, good=100, points=[(200, 0.8)])
    np.testing.assert_allclose(problem.levels.lower[:, 0], [1.0, 0.8])


def test_one_scale_for_all_and_its_units():
    marks = [[16, 13, 7], [16, 11, 9], [6, 13, 7], [6, 11, 9]]
    problem = Decision(marks, list("ABCD"), scales=(0, 20)).say("B > A", "C > D")
    assert problem.check().split == pytest.approx(1.0, abs=1e-7)
    weights = Decision(marks, list("ABCD")).say("scores from 0 to 20", "B > A", "C > D")
    assert weights.check().split == pytest.approx(1.0, abs=1e-7)
    with pytest.raises(InconsistentError, match="none of the models"):
        weights.solve(["weights"])


def test_intensity_indifference_and_classes_hold():
    problem = cars("Bolt - Aria > Faro - Dune", "Echo ~ Iris").say(InClass("Faro", 3, "good"))
    problem.say(InClass("Cito", 1, "poor"), Intensity("Faro", "Cito", "Echo", "Aria"))
    solved = problem.solve(samples=300)
    scores = solved.held[-1].scores
    at = {name: k for k, name in enumerate(CARS)}
    step = scores[:, at["Bolt"]] - scores[:, at["Aria"]]
    assert (step >= scores[:, at["Faro"]] - scores[:, at["Dune"]] - 1e-9).all()
    assert (np.abs(scores[:, at["Echo"]] - scores[:, at["Iris"]]) <= 0.02 + 1e-9).all()
    assert (scores[:, at["Faro"]] >= scores[:, at["Cito"]] - 1e-9).all()
    assert isinstance(problem.statements[1].statement, Indifferent)


def test_nothing_said_yet():
    solved = Decision(SCORES, CARS, criteria=CRITERIA).solve(samples=300)
    assert solved.question is not None
    assert "table alone" in str(solved) or "before anything" in str(solved)


def test_options_that_are_refused(answer):
    problem = cars()
    with pytest.raises(OptionError, match="models"):
        problem.solve(["magic"])
    with pytest.raises(OptionError, match="10 or more"):
        problem.solve(samples=1)
    with pytest.raises(OptionError, match="no statement 99"):
        problem.drop(99)
    with pytest.raises(OptionError, match="overtake itself"):
        answer.flip("Faro", over="Faro")
    with pytest.raises(OptionError, match="choice"):
        answer.measure("best")
    with pytest.raises(SolverError):
        draw(program(space(3), [Cautious(2.0, None)], setting_of(np.eye(3))), 5,
             np.random.default_rng(0))  # fmt: skip


def test_frames(answer):
    pytest.importorskip("pandas")
    frame = answer.first
    assert list(frame.index) == CARS
    assert frame.loc["Faro", "lowest"] == answer.certainty
    assert frame["regret"]["Bolt"] == pytest.approx(0.225241605, abs=1e-5)
    assert set(CRITERIA) <= set(answer.frame().columns)


def test_families_are_drawn_apart():
    setting = setting_of(SCORES)
    rng = np.random.default_rng(0)
    family = draw_family("pairs", [Interaction(("c0", "c1"), -1)], setting, SCORES, SCORES, 50, rng)
    assert family.holds
    assert (family.interactions(0, 1) <= 1e-12).all()
    np.testing.assert_allclose(family.importances.sum(axis=1), 1.0)
    plain = draw_family(
        "weights", [Interaction(("c0", "c1"), -1)], setting, SCORES, SCORES, 50, rng
    )
    assert not plain.holds


# -- within a node, directions, names of rows ------------------------------------------------------


def on_node(values, x, members):
    """The score within a node: the integral over its criteria alone, over the value of the node."""
    order = sorted(members, key=lambda i: -x[i])
    masks = np.cumsum([1 << i for i in order])
    steps = np.diff([x[i] for i in order] + [0.0]) * -1
    return float(steps @ values[masks] / values[masks[-1]])


def test_statements_within_a_node():
    problem = Decision(SCORES, CARS, criteria=CRITERIA).say(
        "group cost: price, running_cost", "group quality: safety, comfort, space",
        "Bolt > Aria on cost by 0.02", "Iris about 0.7 ± 0.05 on cost", "Faro > Koda on quality",
        "Dune - Hike > Faro - Koda on quality", "Gala ~ Luna on cost",
    )  # fmt: skip
    assert problem.check().ok
    assert problem.statements[0].text == "Bolt > Aria on cost by 0.02"
    draws = problem.solve(("all",), samples=300, rng=0).held[0].points
    row = dict(zip(CARS, SCORES, strict=True))
    for values in draws[::15]:
        cost = {name: on_node(values, row[name], (0, 1)) for name in CARS}
        quality = {name: on_node(values, row[name], (2, 3, 4)) for name in CARS}
        assert cost["Bolt"] - cost["Aria"] >= 0.02 - 1e-7
        assert 0.65 - 1e-7 <= cost["Iris"] <= 0.75 + 1e-7
        assert abs(cost["Gala"] - cost["Luna"]) <= 0.02 + 1e-7
        assert quality["Faro"] >= quality["Koda"] - 1e-7
        steps = quality["Dune"] - quality["Hike"], quality["Faro"] - quality["Koda"]
        assert steps[0] >= steps[1] - 1e-7


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ("Aria > Bolt on cots", "did you mean cost"),
        ("Aria > Bolt on price", "price is one criterion"),
        ("price is a must on cost", "within a group"),
        ("Aria > Bolt by -1", "below 0"),
    ],
)
def test_what_cannot_be_said_within_a_node(said, reason):
    problem = Decision(SCORES, CARS, criteria=CRITERIA, tree={"cost": CRITERIA[:2]})
    with pytest.raises(StatementError, match=reason):
        problem.say(said)
    assert not problem.statements


def test_a_node_in_a_conflict_is_named():
    problem = Decision(SCORES, CARS, criteria=CRITERIA, tree={"cost": CRITERIA[:2]})
    found = problem.say("Hike > Dune on cost", "Hike about 0.9 on cost").check()
    assert frozenset({1}) in found.conflicts
    assert "the score of Hike on cost lies between its worst and its best" in str(found)


def test_dominance_needs_directions_only():
    table = {"car": ["A", "B", "C"], "price": [100, 200, 150], "space": [5, 4, "4 to 6"]}
    problem = Decision(table)
    assert problem.directions == {}
    assert problem.open_columns == ["price", "space"]
    assert problem.dominance() == []
    problem.say("price: lower is better", "space: higher is better")
    assert problem.dominance() == [("A", "B"), ("C", "B")]
    with pytest.raises(StatementError, match="lower was said to be better"):
        problem.say("price: poor 50, good 300")
    with pytest.raises(StatementError, match="the reverse"):
        problem.say("price: higher is better")
    reverse = Decision({"car": ["A", "B"], "x": [0.1, 0.9], "y": [0.5, 0.5]})
    reverse.say("x: lower is better")
    assert reverse.levels.lower[:, 0].tolist() == [0.9, pytest.approx(0.1)]
    assert reverse.solve(samples=50).leader == "A"


def test_rows_of_a_frame_are_named_by_its_index():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"x": [0.1, 0.5], "y": [0.7, 0.2]}, index=[101, 102])
    assert Decision(frame).say("101 > 102").alternatives == ("101", "102")
    assert Decision(frame.rename_axis("car"), names="car").alternatives == ("101", "102")
    named = frame.assign(who=["P", "Q"])
    assert Decision(named).alternatives == ("P", "Q")
    plain = pandas.DataFrame([[0.1, 0.5], [0.7, 0.2]], index=["P", "Q"])
    assert Decision(plain).criteria == ("0", "1")
    with pytest.raises(DataError, match="name those that do"):
        Decision(plain.assign(colour=["red", "blue"]))


def test_several_statements_in_a_list_and_one_model():
    solved = cars().copy().say(["Bolt > Cito", "Bolt > Gala"]).solve("pairs", samples=50)
    assert list(solved.shares) == ["pairs"]
    assert solved.flip().leader == solved.leader


def test_nodes_of_draws_and_of_one_measure(tmp_path):
    from choquet.decide import node_indices

    tree = {"cost": ["price", "running_cost"], "quality": ["safety", "comfort", "space"]}
    problem = Decision(SCORES, CARS, criteria=CRITERIA, tree=tree)
    solved = problem.say("quality matters more than cost").solve(samples=200)
    whole, cost, quality = solved.nodes
    assert whole.parts == ("cost", "quality")
    assert cost.importance.sum() == pytest.approx(1)
    assert (quality.low <= quality.importance).all()
    assert (quality.importance <= quality.high).all()
    assert whole.low[1] >= 0.5 - 1e-9
    # One measure: the Shapley value of the game in which whole groups join, by hand.
    g = solved.middle.to_measure()
    values = g.values[[0, 0b00011, 0b11100, 0b11111]]
    expected = [(values[1] + 1 - values[2]) / 2, (values[2] + 1 - values[1]) / 2]
    np.testing.assert_allclose(node_indices(g, tree)[0].importance, expected, atol=1e-9)
    page = solved.report(tmp_path / "r.html").read_text(encoding="utf-8")
    assert "Within <bdi>quality</bdi>" in page
    assert cars().solve(samples=50).nodes == []


def test_what_a_regressor_cannot_know_is_refused():
    X = np.random.default_rng(0).random((20, 3))
    for said in (Prefer("A", "B"), InClass("A", 1)):
        with pytest.raises(SourceError, match="rows of data have no names"):
            choquet.ChoquetRegressor(expert=[said]).fit(X, X.mean(axis=1))
    said = Decision(SCORES, CARS, criteria=CRITERIA).say("safety matters more than price")
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(SCORES, columns=CRITERIA)
    model = choquet.ChoquetRegressor(expert=said.statements).fit(frame, SCORES[:, 0])
    phi = choquet.shapley(model.measure_)
    assert phi[2] >= phi[0] - 1e-9


# -- scales from judged steps ----------------------------------------------------------------------


@given(st.integers(0, 10**6), st.integers(2, 5))
def test_judged_steps_keep_their_order(seed, count):
    """Words that come from a scale can be kept: a larger word is a larger step."""
    rng = np.random.default_rng(seed)
    levels = np.sort(rng.choice(100, count + 2, replace=False)).astype(float)
    truth = np.array([0, *np.sort(rng.choice(np.arange(1, 1000), count, replace=False)), 1000])
    rising = bool(rng.integers(2))
    truth = truth if rising else truth[::-1]
    ends = levels[[0, -1]] if rising else levels[[-1, 0]]
    pairs = list(combinations(range(count + 2), 2))
    words = [STEPS[min(6 * abs(int(truth[b] - truth[a])) // 1000, 5)] for a, b in pairs]
    steps = [(levels[a], levels[b], word) for (a, b), word in zip(pairs, words, strict=True)]
    found = dict(judged_points({ends[0]: 0.0, ends[1]: 1.0}, steps))
    assert found[ends[0]] == 0
    assert found[ends[1]] == 1
    own = [abs(found[a] - found[b]) for a, b, _ in steps]
    for one, size in zip(steps, own, strict=True):
        for other, smaller in zip(steps, own, strict=True):
            if STEPS.index(one[2]) > STEPS.index(other[2]):
                assert size > smaller
    values = [found[level] for level in levels]
    assert (np.diff(values) > 0).all() if rising else (np.diff(values) < 0).all()


def test_judged_steps_in_words_and_what_they_refuse():
    line = "price: poor 34000, good 14000, 34000 to 24000 is strong, 24000 to 14000 is weak"
    table = {"car": ["A", "B"], "price": [24000, 14000], "use": [0.5, 0.1]}
    said, called = Decision(table).say(line), Decision(table)
    steps = [(34000, 24000, "strong"), (14000, 24000, "weak")]
    called.scale("price", poor=34000, good=14000, steps=steps)
    for problem in (said, called):
        assert problem.levels.lower[:, 0] == pytest.approx([7 / 12, 1.0])
    # Steps of one word leave the straight line as it is.
    even = judged_points({0: 0.0, 10: 1.0}, [(0, 4, "weak"), (4, 10, "weak")])
    assert dict(even)[4] == pytest.approx(0.4)
    fixed = judged_points({0: 0.0, 5: 0.9, 10: 1.0}, [(0, 2, "weak"), (2, 5, "strong")])
    assert dict(fixed)[5] == 0.9
    with pytest.raises(OptionError, match="0 to 4 is strong, 0 to 6 is weak"):
        judged_points({0: 0.0, 10: 1.0}, [(0, 4, "strong"), (0, 6, "weak"), (6, 10, "weak")])
    with pytest.raises(StatementError, match=r"'price: .*': 40000 is not between poor and good"):
        Decision(table).say("price: poor 34000, good 14000, 40000 to 14000 is weak")
    with pytest.raises(OptionError, match="step"):
        judged_points({0: 0.0, 10: 1.0}, [(0, 4, "enormous")])
    with pytest.raises(OptionError, match="name two levels"):
        judged_points({0: 0.0, 10: 1.0}, [(4, 4, "weak")])
