"""Problems with known results, most of them from kappalab's documented examples run in R."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pytest

from choquet import Measure, choquet_integral, interaction, shapley, sipos_integral
from choquet.decide import (
    Importance,
    ImportanceBetween,
    InteractionBetween,
    InteractionOrder,
    Prefer,
    Separate,
    Setting,
    classes_of,
    entropy_measure,
    find_conflicts,
    find_measure,
    fit_ranking,
    fit_scores,
    program,
    space,
)
from choquet.decide.models.capacities import quadratic_form
from choquet.indices import entropy, favour, orness, veto

FOLDER = Path(os.environ.get("CHOQUET_DATA", Path(__file__).parents[1] / "../shared/data"))
FILE = FOLDER / "decide" / "reference.json"
CASES = json.loads(FILE.read_text(encoding="utf-8"))["cases"] if FILE.exists() else []
pytestmark = pytest.mark.skipif(not CASES, reason="../shared/data/decide is not here")

DISTANCE = {
    "Choquet.coefficients": "coefficients", "binary.alternatives": "binary",
    "global.scores": "scores",
}  # fmt: skip


def named(part: str) -> list:
    return [pytest.param(case, id=case["name"]) for case in CASES if part in case["name"]]


def statement(said: dict):
    kind = said["kind"]
    if kind == "prefer":
        return Prefer(said["better"], said["worse"], by=said["by"])
    if kind == "prefer_rows":
        return Prefer(tuple(said["better"]), tuple(said["worse"]), by=said["by"])
    if kind == "importance":
        return Importance(said["more"], said["less"], by=said["by"])
    if kind == "importance_between":
        return ImportanceBetween(said["criterion"], said["low"], said["high"])
    if kind == "interaction_order":
        return InteractionOrder(tuple(said["more"]), tuple(said["less"]), by=said["by"])
    if kind == "interaction_between":
        return InteractionBetween(tuple(said["pair"]), said["low"], said["high"])
    assert kind == "no_interaction_across"
    groups = {label: [] for label in said["classes"]}
    for k, label in enumerate(said["classes"]):
        groups[label].append(k)
    return Separate(tuple(map(tuple, groups.values())))


def problem(case: dict, width: float = 20.0, k: int | None = -1, margin: bool = True):
    """A case as a program; scores between 0 and `width`."""
    n = case["criteria"]
    names = case.get("names") or [f"a{i}" for i in range(len(case.get("data", ())))]
    rows = {
        name: np.array(row) / width for name, row in zip(names, case.get("data", ()), strict=True)
    }
    setting = Setting([f"c{i}" for i in range(n)], rows, rows, width=width)
    epsilon = case.get("options", {}).get("epsilon", 0.0) if margin else 0.0
    chosen = space(n, case["k"] if k == -1 else k, margin=epsilon)
    return program(chosen, [statement(one) for one in case["statements"]], setting)


@pytest.mark.parametrize("case", [*named("lin.prog"), *named("LP where")])
def test_maximum_split(case):
    width = 1.0 if "LP where" in case["name"] else 20.0
    split = problem(case, width).split()[0] * width
    assert split == pytest.approx(case["expected"]["objective"], abs=1e-7)


@pytest.mark.parametrize("case", [*named("mini.var"), *named("mini.dist")])
def test_least_variance_and_nearest(case):
    said = problem(case)
    options = case["options"]
    sources = [f"c{i}" for i in range(case["criteria"])]
    expected = case["expected"]
    if "reference" in options:
        target = np.array(options["reference"])
        target[-1] = 1.0
        found = find_measure(
            said, "nearest", sources=sources, share=0.0, reference=Measure(target, sources),
            distance=DISTANCE[options["distance"]],
        )  # fmt: skip
    else:
        found = find_measure(said, "least variance", sources=sources, share=0.0)
    g = found.measure.to_measure()
    np.testing.assert_allclose(g.values, expected["measure"], atol=1e-6)
    np.testing.assert_allclose(shapley(g), expected["shapley"], atol=1e-6)
    np.testing.assert_allclose(veto(g), expected["veto"], atol=1e-6)
    np.testing.assert_allclose(favour(g), expected["favor"], atol=1e-6)
    assert orness(g) == pytest.approx(expected["orness"], abs=1e-6)
    assert entropy(g) == pytest.approx(expected["entropy"], abs=1e-4)
    pairs = np.array(expected["interaction"], dtype=float)
    off = ~np.eye(len(pairs), dtype=bool)
    np.testing.assert_allclose(interaction(g)[off], pairs[off], atol=1e-6)
    np.testing.assert_allclose(choquet_integral(g, case["data"]), expected["scores"], atol=1e-4)


@pytest.mark.parametrize("case", [*named("least.squares"), *named("heuristic")])
def test_least_squares(case):
    X, y = np.array(case["data"]), np.array(case["scores"])
    kind = "sipos" if case["options"].get("integral") == "Sipos" else "choquet"
    said = problem(case, 1.0, margin="heuristic" not in case["name"])
    point, fitted = fit_scores(said, X, y, integral=kind)
    g = said.space.measure(point, [f"c{i}" for i in range(case["criteria"])])
    own = (sipos_integral if kind == "sipos" else choquet_integral)(g, X)
    np.testing.assert_allclose(own, fitted, atol=1e-6)
    mse, expected = float(np.mean((own - y) ** 2)), case["expected"]
    assert mse <= expected["mse"] + 1e-8
    if case["unique"]:
        assert mse == pytest.approx(expected["mse"], abs=1e-8)
        np.testing.assert_allclose(g.values, expected["measure"], atol=1e-6)


@pytest.mark.parametrize("case", named("ls.ranking"))
def test_ranking_least_squares(case):
    said = problem({**case, "statements": []}, 1.0)
    names = case["names"]
    pairs = [(names.index(s["better"]), names.index(s["worse"])) for s in case["statements"]]
    point, targets, mse = fit_ranking(said, np.array(case["data"]), pairs, 0.1)
    g = said.space.measure(point, ["a", "b", "c", "d"])
    scores = choquet_integral(g, case["data"])
    assert mse <= 1e-8
    np.testing.assert_allclose(scores, targets, atol=1e-6)
    assert all(scores[a] - scores[b] >= 0.1 - 1e-6 for a, b in pairs)


@pytest.mark.parametrize("case", named("ls.sorting"))
def test_sorting_least_squares(case):
    said = problem({**case, "names": None}, 1.0)
    classes, X = np.array(case["classes"]), np.array(case["data"])
    pairs = [(a, b) for a in range(len(X)) for b in range(len(X)) if classes[a] == classes[b] + 1]
    point, _, mse = fit_ranking(said, X, pairs, case["options"]["delta"])
    assert mse <= 1e-8
    g = said.space.measure(point, ["a", "b", "c", "d"])
    own = classes_of(choquet_integral(g, X), choquet_integral(g, X), classes)
    assert (own[:, 0] <= classes).all()
    assert (classes <= own[:, 1]).all()
    # Classes of new rows as kappalab gives them, from its own scores.
    expected = case["expected"]["treatment"]
    found = classes_of(
        np.array(expected["Choquet.A"]), np.array(case["expected"]["scores"]), classes
    )
    np.testing.assert_array_equal(found.T, expected["class.A"])


@pytest.mark.parametrize("case", named("entropy.capa"))
def test_unsupervised(case):
    kind = "renyi" if case["options"]["entropy"] == "renyi" else "havrda"
    g = entropy_measure(case["data"], kind=kind, order=case["options"]["parameter"])
    np.testing.assert_allclose(g.values, case["expected"]["measure"], atol=1e-6)
    np.testing.assert_allclose(shapley(g), case["expected"]["shapley"], atol=1e-6)


@pytest.mark.parametrize("case", named("students, three"))
def test_three_students(case):
    g = Measure(case["options"]["measure"])
    np.testing.assert_allclose(choquet_integral(g, case["data"]), case["expected"]["scores"])
    np.testing.assert_allclose(shapley(g), case["expected"]["shapley"], atol=1e-9)


@pytest.mark.parametrize("case", named("students, four"))
@pytest.mark.parametrize("k", [1, 2, 3])
def test_four_students(case, k):
    said = problem(case, k=k)
    expected = case["expected"][f"k={k}"]
    assert said.split()[0] * 20 == pytest.approx(expected["split"], abs=1e-7)
    found = find_conflicts(said)
    assert set(found.conflicts) == {frozenset(one) for one in expected["conflicts"]}
    if expected["conflicts"]:
        assert set(found.repairs) == {frozenset(one) for one in expected["repairs"]}
    else:
        assert found.repairs == [frozenset()]


@pytest.mark.parametrize("kind", ["coefficients", "binary", "scores"])
def test_distances_are_what_they_say(kind):
    """The form for scores is a mean over the cube, that for coefficients one over all sorts."""
    rng = np.random.default_rng(0)
    g, h = Measure.random(3, rng=rng), Measure.random(3, rng=rng)
    away = g.values - h.values
    found = float(away @ (quadratic_form(3, kind) @ away))
    if kind == "binary":
        assert found == pytest.approx(float(away @ away))
    elif kind == "scores":
        X = rng.random((200_000, 3))
        squares = (choquet_integral(g, X) - choquet_integral(h, X)) ** 2
        assert found == pytest.approx(squares.mean(), abs=5 * squares.std() / np.sqrt(len(X)))
    else:
        from choquet import all_walk_weights

        apart = all_walk_weights(g) - all_walk_weights(h)
        assert found == pytest.approx(float((apart**2).sum(axis=1).mean()))
