"""Reliability: probabilities beside what happened, for every classifier and in every form."""

from __future__ import annotations

import json
import re
import warnings
from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, binomtest

import choquet
from choquet.certainty import reliability_curve
from choquet.errors import DataError, OptionError
from choquet.report.layout import reliability_points
from choquet.report.reliability import unreliable
from tests.commands import runner

LEVELS = ["bad", "fair", "good"]


# -- the groups ------------------------------------------------------------------------------------


@st.composite
def samples(draw):
    """Probabilities with many ties, what happened, and whole weights."""
    n = draw(st.integers(1, 120))
    seed = draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    steps = draw(st.sampled_from([3, 11, 101]))
    told = rng.integers(0, steps, n) / (steps - 1)
    weight = rng.integers(0, 4, n).astype(float)
    weight[rng.integers(n)] = 1.0
    return told, rng.random(n) < told, weight


def by_hand(told, right, n_groups):
    """Groups of single samples in plain Python: a value goes where the middle of its ties lies."""
    groups = {}
    for value in sorted(set(told)):
        below = sum(one < value for one in told)
        middle = below + sum(one == value for one in told) / 2
        number = min(int(n_groups * middle / len(told)), n_groups - 1)
        groups.setdefault(number, []).extend(k for k, one in enumerate(told) if one == value)
    return [
        (
            len(rows),
            sum(told[k] for k in rows) / len(rows),
            sum(right[k] for k in rows) / len(rows),
        )
        for _, rows in sorted(groups.items())
    ]


@given(samples(), st.integers(1, 12))
def test_groups_are_those_made_by_hand(given_, n_groups):
    told, right, _ = given_
    found = reliability_curve(told, right, n_groups=n_groups)
    expected = by_hand(told.tolist(), right.tolist(), n_groups)
    assert found.count.tolist() == [row[0] for row in expected]
    np.testing.assert_allclose(found.told, [row[1] for row in expected], atol=1e-12)
    np.testing.assert_allclose(found.right, [row[2] for row in expected], atol=1e-12)
    gap = sum(n * abs(p - share) for n, p, share in expected) / len(told)
    assert found.gap == pytest.approx(gap, abs=1e-12)
    assert (np.diff(found.told) > 0).all()
    assert found.n_samples == len(told)
    assert ((found.low <= found.right) & (found.right <= found.high)).all()


@given(samples())
def test_the_order_of_samples_does_not_matter_and_weights_are_repetitions(given_):
    told, right, weight = given_
    whole = weight.astype(int)
    heavy = reliability_curve(told, right, sample_weight=weight, n_groups=5)
    back = reliability_curve(told[::-1], right[::-1], sample_weight=7.5 * weight[::-1], n_groups=5)
    often = reliability_curve(np.repeat(told, whole), np.repeat(right, whole), n_groups=5)
    for name in ("told", "right", "gap", "mean_told", "mean_right"):
        np.testing.assert_allclose(getattr(back, name), getattr(heavy, name), atol=1e-12)
        np.testing.assert_allclose(getattr(often, name), getattr(heavy, name), atol=1e-12)
    # Samples that count for nothing are not counted, and heavy ones are no more than one each.
    assert heavy.n_samples == (weight > 0).sum()
    assert (heavy.low <= often.low + 1e-9).all()
    assert (heavy.high >= often.high - 1e-9).all()


def test_there_are_ten_groups_of_thirty_or_fewer_groups():
    told = np.arange(1000) / 1000
    sizes = {n: reliability_curve(told[:n], np.ones(n)).count for n in (5, 59, 60, 299, 300, 1000)}
    assert [len(sizes[n]) for n in sizes] == [1, 1, 2, 9, 10, 10]
    assert min(sizes[300]) == max(sizes[300]) == 30
    # Nobody tells 99.99 % from 100 %, so no group is made of that.
    assert len(reliability_curve(1 - 1e-4 * np.linspace(0, 1, 500), np.ones(500)).count) == 1


def test_intervals_are_wilsons():
    for hits, n in ((0, 12), (3, 12), (12, 12), (181, 200)):
        found = reliability_curve(np.full(n, 0.9), np.arange(n) < hits)
        exact = binomtest(hits, n).proportion_ci(method="wilson")
        assert found.low[0] == pytest.approx(exact.low, abs=1e-9)
        assert found.high[0] == pytest.approx(exact.high, abs=1e-9)
        assert (found.mean_low, found.mean_high) == (found.low[0], found.high[0])


def test_chance_is_that_of_the_binomial_law():
    n, p = 40, 0.83
    found = reliability_curve(np.full(n, p), np.ones(n), n_groups=1)
    hits = np.arange(n + 1)
    away, odds = np.abs(hits / n - p), binom.pmf(hits, n, p)
    mean = odds @ away
    error = np.sqrt(odds @ (away - mean) ** 2 / 4_000)
    assert abs(found.chance - mean) < 5 * error
    below = odds[away < found.limit - 1e-9].sum(), odds[away <= found.limit + 1e-9].sum()
    spread = 5 * np.sqrt(0.95 * 0.05 / 4_000)
    assert below[0] - spread < 0.95 < below[1] + spread


def test_fair_probabilities_are_seldom_blamed_and_others_mostly():
    rng = np.random.default_rng(0)
    blamed = {"fair": 0, "high": 0, "low": 0}
    leans = dict.fromkeys(blamed, 0)
    for _ in range(200):
        told = rng.uniform(0.5, 0.95, 300)
        truth = {"fair": told, "high": told - 0.12, "low": told + (1 - told) / 2}
        for name, share in truth.items():
            found = reliability_curve(told, rng.random(300) < share)
            blamed[name] += found.gap > found.limit
            leans[name] += found.lean == {"fair": 0, "high": 1, "low": -1}[name]
    assert blamed["fair"] <= 22  # 10 are expected; more than this has odds of 1 in 4,000
    assert leans["fair"] >= 178
    assert min(blamed["high"], blamed["low"], leans["high"], leans["low"]) >= 180


def test_what_is_no_probability_is_refused():
    for told, right, match in (
        ([], [], "no samples"),
        ([0.5, np.nan], [True, False], "told must be finite, but position 1"),
        ([0.5, 1.1], [True, False], r"told holds 1.1; probabilities lie in \[0, 1\]"),
        ([0.5], [True, False], "right must hold 1 values, not 2"),
        ([0.5, 0.5], [1, 2], "True or False"),
        ([0.5, 0.5], [1, np.nan], "right must be finite"),
    ):
        with pytest.raises(DataError, match=match):
            reliability_curve(told, right)
    for weight in ([-1.0, 2.0], [0.0, 0.0]):
        with pytest.raises(DataError, match="sample_weight must not be negative"):
            reliability_curve([0.5, 0.6], [True, False], sample_weight=weight)
    with pytest.raises(OptionError, match="n_groups=0"):
        reliability_curve([0.5], [True], n_groups=0)


def test_points_stand_where_the_numbers_are():
    rows = [
        {"told": 0.75, "right": 0.5, "low": 0.43, "high": 0.6},
        {"told": 1.0, "right": 1.0, "low": 0.9, "high": 1.0},
    ]
    drawn = reliability_points(rows, size=60)
    assert drawn["start"] == 0.4
    assert [point["x"] for point in drawn["points"]] == [35.0, 60.0]
    assert [point["y"] for point in drawn["points"]] == [50.0, 0.0]
    assert [tick["label"] for tick in drawn["ticks"]] == ["40 %", "70 %", "100 %"]


# -- reports of every classifier -------------------------------------------------------------------


@cache
def table(n=420):
    """Three sources, two classes, and three classes in an order, the middle one rare."""
    rng = np.random.default_rng(1)
    X = rng.random((n, 3))
    score = 5 * X[:, 0] + 2 * np.minimum(X[:, 1], X[:, 2]) - 3 + rng.logistic(size=n)
    two = np.where(score > 0, "yes", "no")
    return X, two, np.array(LEVELS)[np.digitize(score, [-0.5, 0.7])]


@cache
def fused_scores(n=420):
    _, _, y = table(n)
    rng = np.random.default_rng(2)
    true = (y[:, None] == np.array(LEVELS))[:, :, None]
    scores = rng.random((n, 3, 2)) + true * np.array([0.4, 0.6])
    return scores / scores.sum(axis=1, keepdims=True), y


def additive(**options):
    return lambda: choquet.ChoquetAdditiveClassifier(max_terms=3, **options)


KINDS = {
    "two": (additive(), 1),
    "several": (additive(), 2),
    "ordered": (additive(ordered=LEVELS), 2),
    "choquet": (choquet.ChoquetClassifier, 1),
    "ordinal": (lambda: choquet.ChoquetClassifier(ordinal=True), 2),
    "contextual": (lambda: choquet.ContextualClassifier(max_leaves=4), 2),
    "in units": (lambda: choquet.InUnits(choquet.ChoquetClassifier()), 1),
    "fused": (lambda: choquet.FusionClassifier(classes=LEVELS), None),
}


def given_to(kind):
    maker, column = KINDS[kind]
    if column is None:
        return maker, *fused_scores()
    X, *targets = table()
    y = targets[column - 1]
    if kind == "ordinal":
        y = np.searchsorted(
            ["a", "b", "c"], np.array(["a", "b", "c"])[[LEVELS.index(v) for v in y]]
        )
    return maker, X, y


@cache
def reported(kind, *, seen=False):
    maker, X, y = given_to(kind)
    cut = 240
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = maker().fit(X[:cut], y[:cut])
        rows = slice(0, cut) if seen else slice(cut, None)
        report = choquet.Report(model, X[rows], y[rows])
        assert report.data  # computed here, with its warnings
    return model, X[rows], y[rows], report


@pytest.mark.parametrize("kind", KINDS)
def test_every_classifier_shows_its_reliability(kind):
    model, X, y, report = reported(kind)
    found = report.data["reliability"]
    proba, said = model.predict_proba(X), model.predict(X)
    place = {label: k for k, label in enumerate(model.classes_.tolist())}
    told = proba[np.arange(len(X)), [place[label] for label in said.tolist()]]
    same = reliability_curve(np.clip(told, 0, 1), said == y)
    assert [row["n"] for row in found["rows"]] == same.count.tolist()
    np.testing.assert_allclose([row["told"] for row in found["rows"]], same.told)
    np.testing.assert_allclose([row["right"] for row in found["rows"]], same.right)
    assert found["gap"] == pytest.approx(same.gap)
    assert found["n"] == 180
    assert found["folds"] == 0
    assert "taken as new" in found["how"]
    # The same answers are judged in the table of the first screen.
    own = report.data["first"]["quality"]["rows"][0]
    assert own["error"] == pytest.approx(1 - found["right"])


@pytest.mark.parametrize("kind", KINDS)
def test_every_form_of_a_report_shows_it(kind):
    *_, report = reported(kind)
    found, page, text = report.data["reliability"], report.html(), report.markdown()
    assert json.loads(report.json())["reliability"] == found
    section = page.partition('<details id="reliability"')[2].partition("</details>")[0]
    assert found["verdict"] in section
    assert section.count('class="point"') == section.count("<tr><td>") == len(found["rows"])
    assert 'role="img"' in section
    assert '<a href="#reliability">' in page
    assert f"| {found['rows'][0]['n']} | " in text.partition("## Can the probabilities")[2]
    assert found["verdict"] in text


@pytest.mark.parametrize("kind", ["two", "ordered", "choquet", "contextual", "fused"])
def test_samples_learned_from_are_answered_by_models_that_did_not_see_them(kind):
    model, X, y, report = reported(kind, seen=True)
    found = report.data["reliability"]
    assert found["folds"] == 5
    assert "did not see it" in found["how"]
    assert found["n"] == 240
    assert found["right"] == pytest.approx(1 - report.data["first"]["quality"]["rows"][0]["error"])
    # Their own answers would have been other ones.
    assert found["told"] != pytest.approx(model.predict_proba(X).max(axis=1).mean(), rel=1e-9)
    assert len(y) == 240


def test_of_ordered_classes_the_answer_counts_and_not_the_most_probable():
    model, X, _, report = reported("ordered")
    proba = model.predict_proba(X)
    middle = np.array([LEVELS.index(label) for label in model.predict(X)])
    assert (middle != proba.argmax(axis=1)).sum() > 3
    told = report.data["reliability"]["told"]
    assert told == pytest.approx(proba[np.arange(len(X)), middle].mean())
    assert told < proba.max(axis=1).mean() - 1e-3


def test_a_model_that_claims_too_much_is_shown_to():
    X, _, _ = table()
    clear = np.where(X[:, 0] > 0.5, "yes", "no")
    model = choquet.ChoquetAdditiveClassifier(max_terms=3).fit(X[:240], clear[:240])
    rng = np.random.default_rng(3)
    flipped = np.where(
        rng.random(180) < 0.3, np.where(clear[240:] == "yes", "no", "yes"), clear[240:]
    )
    report = choquet.Report(model, X[240:], flipped)
    found = report.data["reliability"]
    assert found["lean"] == 1
    assert found["gap"] > 0.2 > found["limit"]
    assert found["verdict"].startswith("The probabilities are too high: on average they are 9")
    assert any("too high" in text for text in report.data["first"]["distrust"])
    assert "Its probabilities are too high" in report.html()
    # The points lie below the line where both would agree.
    assert all(row["high"] < row["told"] for row in found["rows"][1:])


def test_small_differences_stay_off_the_first_screen():
    told = {"lean": 1, "told": 0.999, "right": 0.995, "low": 0.992, "high": 0.997}
    assert unreliable(told) == []
    assert unreliable({**told, "told": 0.9999, "right": 0.95})
    assert unreliable({**told, "lean": 0, "right": 0.5}) == []
    assert unreliable(None) == []


def test_few_samples_and_one_class_claim_little():
    model, X, y, _ = reported("two")
    found = choquet.Report(model, X[:3], y[:3]).data["reliability"]
    assert [row["n"] for row in found["rows"]] == [3]
    assert found["rows"][0]["high"] - found["rows"][0]["low"] > 0.5
    assert found["lean"] == 0
    only = choquet.Report(model, X[y == "yes"], y[y == "yes"])
    assert only.data["reliability"]["n"] == (y == "yes").sum()
    assert "Can the probabilities be believed?" in only.html()


def test_rows_that_lack_values_are_judged_too():
    X, two, _ = table()
    holes = X.copy()
    holes[::7, 1] = np.nan
    model = choquet.ChoquetAdditiveClassifier(max_terms=3).fit(holes[:240], two[:240])
    found = choquet.Report(model, holes[240:], two[240:]).data["reliability"]
    assert found["n"] == 180
    assert np.isfinite(found["gap"])


def test_without_classes_or_truth_there_is_nothing_to_show():
    model, X, _, _ = reported("two")
    assert choquet.Report(model, X).data["reliability"] is None
    numbers = choquet.ChoquetAdditiveRegressor(max_terms=2, link="add").fit(X, X[:, 0])
    report = choquet.Report(numbers, X, X[:, 0])
    assert report.data["reliability"] is None
    assert 'id="reliability"' not in report.html()
    assert "Can the probabilities" not in report.markdown()
    fused, scores, _, _ = reported("fused")
    page = choquet.Report(fused, scores).html()
    assert 'id="reliability"' not in page
    assert "Mostly taken for" not in page


# -- commands --------------------------------------------------------------------------------------


def test_commands_tell_it_of_rows_held_out(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    X, two, _ = table()
    lines = [f"{a},{b},{c},{y}" for (a, b, c), y in zip(X.tolist(), two, strict=True)]
    (tmp_path / "table.csv").write_text("a,b,c,y\n" + "\n".join(lines), encoding="utf-8")
    run = runner(capsys)
    fit = ("fit", "table.csv", "--learner", "additive", "--max-terms", "3", "--folds", "3")
    told = run(*fit, "-o", "m.json").out
    line = r"Probabilities there: ([\d.]+) % on average, ([\d.]+) % right; in groups they differ by"
    shown = re.search(line, " ".join(told.split()))
    found = run(*fit, "-o", "n.json", "--json").json()["held_out"]["reliability"]
    assert shown[1] == f"{100 * found['told']:.1f}"
    assert shown[2] == f"{100 * found['right']:.1f}"
    assert sum(row["n"] for row in found["rows"]) == 420
    numbers = run(*fit, "--target", "a", "--sources", "b,c", "-o", "o.json").out
    assert "Probabilities" not in numbers
