"""Additive models told, stored, reported on, and used from the command line."""

from __future__ import annotations

import json

import numpy as np
import pytest

import choquet
from choquet import ChoquetAdditiveClassifier, ChoquetAdditiveRegressor
from choquet.errors import DamagedFileError, DataError, OptionError, SourceError
from choquet.explanation import AdditiveView, view_of
from choquet.report import summarise
from choquet.report.additive import curve_points, map_cells
from tests.commands import runner


def rows(n=160, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.random((n, 3)) * [10.0, 1.0, 5.0]
    y = 0.3 * X[:, 0] + 2 * X[:, 1] * X[:, 2] + 0.2 * rng.standard_normal(n)
    return X, y


@pytest.fixture(scope="module")
def regressor():
    X, y = rows()
    return ChoquetAdditiveRegressor(link="add", max_order=2).fit(X, y).rename("abc", "price"), X, y


@pytest.fixture(scope="module")
def classifier():
    X, y = rows()
    words = np.array(["low", "<mid>", "high"])[np.digitize(y, [2.5, 4.5])]
    return ChoquetAdditiveClassifier(max_order=2).fit(X, words), X, words


# ---- told ----------------------------------------------------------------------------------------


def test_a_model_is_told_term_by_term(regressor):
    model, X, _ = regressor
    story = choquet.explain_model(model)
    assert isinstance(view_of(model), AdditiveView)
    assert story.opening().startswith(f"The model adds up {len(model.terms_)} terms")
    assert "The sum is price." in story.opening()
    assert len(story.sentences) == len(model.terms_)
    json.dumps(story.to_dict(), allow_nan=False)
    why = choquet.explain_sample(model, X[3])
    assert why.output == pytest.approx(model.nameless().predict(X[3:4])[0])
    assert why.interval[0] <= why.output <= why.interval[1]
    # Effects are in units of the output: with the mean level they add up to it.
    base = model.centre_ + model.scale_ * model.model_.fixed[0, 0]
    assert base + sum(effect for effect, _, _ in why.why.effects) == pytest.approx(why.output)
    json.dumps(why.to_dict(), allow_nan=False)
    named = choquet.explain_sample(model, dict(zip("cab", X[3][[2, 0, 1]], strict=True)))
    assert named.text() == why.text()


def test_effects_that_multiply_are_told_as_factors():
    rng = np.random.default_rng(1)
    X = rng.random((200, 2))
    y = np.exp(X[:, 0] + 2 * X[:, 1])
    model = ChoquetAdditiveRegressor(link=1.0, max_order=1).fit(X, y)
    why = choquet.explain_sample(model, X[0])
    parts = model.decomposition_
    score = sum(effect for effect, _, _ in why.why.effects) + model.model_.fixed[0, 0]
    if -2 < score * model.link_ < 2.5:  # the straight part has no factors
        ratio = np.prod([np.exp(model.link_ * e) for e, _, _ in why.why.effects])
        start = parts.origin + model.scale_ / model.link_ * np.exp(
            model.link_ * model.model_.fixed[0, 0]
        )
        assert parts.origin + (start - parts.origin) * ratio == pytest.approx(why.output)
    assert "multiplies the distance from" in why.text()


def test_the_effects_of_a_row_speak_for_its_class_against_the_next(classifier):
    model, X, _ = classifier
    why = choquet.explain_samples(model, X[:5])
    chances = model.predict_proba(X[:5])
    for one, row in zip(why, chances, strict=True):
        first, second = np.argsort(-row)[:2]
        assert one.output == model.classes_[first]
        assert one.contest == (
            f"the log-odds of {model.classes_[first]} against {model.classes_[second]}"
        )
        assert one.interval[0] <= one.probability <= one.interval[1]
        assert one.why.score > 0
    with pytest.raises(OptionError, match="no class 'no'"):
        view_of(model, label="no").story()
    assert "on high" in view_of(model, label="high").story().head


def test_bands_widen_outside_of_the_rows_learned_from():
    rng = np.random.default_rng(3)
    X = rng.random((150, 2))
    y = 2 * X[:, 0] + np.sin(3 * X[:, 1]) + 0.1 * rng.standard_normal(150)
    model = ChoquetAdditiveRegressor().fit(X, y)
    edges = X[:, 0].min(), X[:, 0].max()
    for edge, side in zip(edges, (-1, 1), strict=True):
        away = np.array([0.0, 0.01, 0.1, 1.0, 10.0])
        rows = np.column_stack([edge + side * away, np.full(5, 0.5)])
        low, high = model.predict_interval(rows).T
        assert (np.diff(high - low) > 0).all()
        assert (np.diff(model.trust(rows)) < 0).all()
        # The line goes on: what it gives a tenth outside is in the band.
        truth = 2 * rows[2, 0] + np.sin(1.5)
        assert low[2] <= truth <= high[2]
        word = "above" if side > 0 else "below"
        assert f"x0 is {word} " in choquet.explain_sample(model, rows[3:4]).text()
        assert "no row was learned from" not in choquet.explain_sample(model, rows[:1]).text()


def test_operators_of_all_sources_are_refused(regressor):
    with pytest.raises(DataError, match="sum of small integrals"):
        choquet.data_to_collect(regressor[0])


# ---- report --------------------------------------------------------------------------------------


def test_the_report_draws_curves_and_maps(regressor):
    model, X, y = regressor
    data = summarise(model, X, y)
    kinds = {picture["name"]: picture["kind"] for picture in data["pictures"]}
    assert kinds["a"] == "curve"
    assert kinds["b × c"] == "map"
    assert data["errors"]["rmse"] == pytest.approx(
        np.sqrt(np.mean((model.nameless().predict(X) - y) ** 2))
    )
    curve = next(one for one in data["pictures"] if one["name"] == "a")
    term = next(one for one in model.terms_ if one.name == "a")
    np.testing.assert_allclose(curve["values"], term.values[0] * model.scale_)
    assert sum(curve["rows"]) == len(X)
    drawn = curve_points(curve)
    assert len(drawn["line"].split()) == len(term.axes[0].knots)
    cells = map_cells(next(one for one in data["pictures"] if one["kind"] == "map"))
    assert max(cell["strength"] for cell in cells) == 1.0
    report = choquet.Report(model, X, y)
    page = report.html()
    assert "http://" not in page.replace("http://www.w3.org", "")
    assert "<polyline" in page
    assert report.markdown().startswith("# How a, b and c are combined into price")
    assert data["first"]["quality"]["folds"] == 5  # these samples were learned from


def test_names_and_classes_cannot_break_out_of_the_page(classifier):
    model, X, words = classifier
    page = choquet.Report(model, X, words).html()
    assert "<mid>" not in page
    assert choquet.Report(model, X, words).data["errors"]["right"] > 0.8


# ---- files ---------------------------------------------------------------------------------------


def test_files_that_were_tampered_with_are_refused(regressor, tmp_path):
    model, X, _ = regressor
    path = choquet.save(model, tmp_path / "model.json")
    back = choquet.load(path)
    np.testing.assert_array_equal(back.nameless().predict(X), model.nameless().predict(X))
    np.testing.assert_array_equal(back.nameless().trust(X), model.nameless().trust(X))
    assert back.explain.__self__.target_name_ == "price"
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(DamagedFileError):
        choquet.load(path)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("sources", (7,)),
        ("axes", ()),
        ("values", np.zeros((1, 3))),
        ("n_numbers", -1),
    ],
)
def test_terms_from_files_fit_their_grids(regressor, field, value):
    from dataclasses import fields

    from choquet.storage import additive

    term = next(one for one in regressor[0].terms_ if len(one.sources) == 1)
    data = {one.name: getattr(term, one.name) for one in fields(term)} | {field: value}
    if field == "sources":
        model = regressor[0].model_
        whole = {one.name: getattr(model, one.name) for one in fields(model)}
        from dataclasses import replace

        first, *rest = model.terms
        whole["terms"] = (replace(first, sources=(7,) * len(first.sources)), *rest)
        with pytest.raises(ValueError, match="does not belong"):
            additive.check_model(whole)
        return
    with pytest.raises(ValueError, match=r"."):
        additive.check_term(data)


# ---- command line --------------------------------------------------------------------------------


@pytest.fixture
def run(capsys):
    return runner(capsys)


def write(path, X, y, names=("a", "b", "c", "y")):
    lines = [",".join(names)]
    for row, target in zip(X, y, strict=True):
        cells = ["" if np.isnan(v) else repr(float(v)) for v in row]
        lines.append(",".join([*cells, str(target)]))
    path.write_text("\n".join(lines) + "\n")
    return path


def test_fit_predict_explain_and_report(run, tmp_path):
    X, y = rows(120)
    table, model = write(tmp_path / "t.csv", X, y), tmp_path / "m.json"
    told = run("fit", table, "--learner", "additive", "--max-order", 2, "-o", model).out
    assert "On rows held out" in told
    summary = run(
        "fit", table, "--learner", "additive", "--max-terms", 4, "-o", model, "--force", "--json"
    ).json()
    assert summary["terms"] <= 4
    assert summary["held_out"]["r2"] > 0.8
    answers = run("predict", model, table, "--json").json()
    loaded = choquet.load(model)
    np.testing.assert_allclose([one["prediction"] for one in answers], loaded.nameless().predict(X))
    assert set(answers[0]) == {"prediction", "low", "high", "level", "trust"}
    assert "The output is" in run("explain", model, table, "--row", 2).out
    assert "adds up" in run("explain", model).out
    assert run("inspect", model, "--json").json()["kind"] == "ChoquetAdditiveRegressor"
    told = run("decompose", model, "--json").json()
    assert told["operators"]
    assert told["scale"] == "target"
    run("report", model, table, "-o", tmp_path / "r.html")
    assert "<svg" in (tmp_path / "r.html").read_text()


def test_rows_that_lack_values_are_learned_from(run, tmp_path):
    X, y = rows(120)
    X[::7, 0] = np.nan
    table, model = write(tmp_path / "t.csv", X, y), tmp_path / "m.json"
    options = ("--learner", "additive", "--max-order", 1, "--missing", "keep")
    told = run("fit", table, *options, "-o", model, "--json").json()
    assert told["rows"] == 120
    assert len(run("predict", model, table, "--missing", "keep", "--json").json()) == 120
    assert "a is missing" in run("explain", model, table, "--row", 1).out
    assert (
        "needs --learner additive"
        in run("fit", table, "--missing", "keep", "-o", model, "--force", code=1).err
    )


def test_monotone_on_the_command_line(run, tmp_path):
    X, y = rows(120)
    table, model = write(tmp_path / "t.csv", X, -y), tmp_path / "m.json"
    run("fit", table, "--learner", "additive", "--max-order", 1, "--monotone", "-o", model)
    loaded = choquet.load(model)
    assert set(loaded.monotonic_cst.values()) == {-1}
    assert loaded.proof_.least_rise >= 0


def test_auto_keeps_the_simplest_that_is_near_the_best(run, tmp_path):
    rng = np.random.default_rng(0)
    X = rng.random((150, 3))
    easy = write(tmp_path / "easy.csv", X, X @ [0.2, 0.3, 0.5] + 0.05 * rng.standard_normal(150))
    model = tmp_path / "m.json"
    found = run("fit", easy, "--learner", "auto", "--folds", 3, "-o", model, "--json").json()
    assert found["learner"] == "linear"
    kept = [one for one in found["tried"] if one["kept"]]
    assert len(kept) == 1
    assert all(one["numbers"] >= kept[0]["numbers"] for one in found["tried"] if one["near"])
    words = np.where(np.minimum(X[:, 0], X[:, 1]) > 0.4, "yes", "no")
    table = write(tmp_path / "words.csv", X, words)
    told = run("fit", table, "--learner", "auto", "--folds", 3, "-o", model, "--force").out
    assert "kept" in told
    assert set(
        np.unique([one["prediction"] for one in run("predict", model, table, "--json").json()])
    ) <= {"yes", "no"}
    assert (
        "2 or more"
        in run("fit", easy, "--learner", "auto", "--folds", 0, "-o", model, "--force", code=1).err
    )


# ---- bad input -----------------------------------------------------------------------------------


def test_bad_input():
    rng = np.random.default_rng(0)
    X = rng.random((60, 3))
    y = X[:, 0]
    copies = np.column_stack([X[:, 0], X[:, 0], np.full(60, 2.0)])
    for data in (copies, copies[:, 2:], rng.random((20, 200))):
        target = data[:, 0] if data.shape[1] > 1 else y
        model = ChoquetAdditiveRegressor(link="add", max_order=2).fit(data, target[: len(data)])
        assert np.isfinite(model.predict(data)).all()
        assert np.isfinite(model.predict_interval(data)).all()
    only = ChoquetAdditiveRegressor().fit(copies[:, 2:], y)
    np.testing.assert_allclose(only.predict([[5.0]]), y.mean())
    with pytest.raises(ValueError, match="infinity"):
        only.predict([[np.inf]])
    zero = np.r_[np.zeros(30), np.ones(30)]
    some = ChoquetAdditiveRegressor(link="add").fit(X, y, zero)
    rest = ChoquetAdditiveRegressor(link="add").fit(X[30:], y[30:])
    np.testing.assert_allclose(some.predict(X), rest.predict(X), atol=1e-9)
    with pytest.raises(SourceError, match="x7"):
        ChoquetAdditiveRegressor(interaction_cst=[["x7"]]).fit(X, y)


def test_classes_that_are_perfectly_separated():
    rng = np.random.default_rng(0)
    X = rng.random((90, 2))
    for y in (X[:, 0] > 0.5, np.digitize(X[:, 0], [0.3, 0.6])):
        model = ChoquetAdditiveClassifier().fit(X, y)
        shares = model.predict_proba(X)
        assert np.isfinite(shares).all()
        assert model.score(X, y) > 0.97
        np.testing.assert_allclose(shares.sum(axis=1), 1.0)


def test_the_median_of_ordered_classes_rises_with_a_monotone_score():
    rng = np.random.default_rng(0)
    X = rng.random((200, 2))
    y = np.digitize(X.sum(axis=1) + 0.3 * rng.standard_normal(200), [0.7, 1.0, 1.3])
    model = ChoquetAdditiveClassifier(ordered=True, monotonic_cst=[1, 1], max_order=1).fit(X, y)
    low = rng.random((2000, 2))
    high = low + rng.exponential(0.2, low.shape)
    assert (model.predict(high) >= model.predict(low)).all()
    shares = model.predict_proba(low).cumsum(axis=1)
    np.testing.assert_array_equal(model.predict(low), model.classes_[(shares < 0.5).sum(axis=1)])


def test_what_a_row_starts_from_and_its_effects_give_the_output(regressor, classifier):
    model, X = regressor[:2]
    for why in choquet.explain_samples(model, X[:5]):
        assert why.start + sum(effect for effect, _, _ in why.why.effects) == pytest.approx(
            why.output
        )
    model, X = classifier[:2]
    for why in choquet.explain_samples(model, X[:5]):
        total = why.start + sum(effect for effect, _, _ in why.why.effects)
        assert total == pytest.approx(why.why.score)
        assert "without any term" in why.text()
