"""The command line: every command, every error on one line, nothing half-written."""

from __future__ import annotations

import csv
import functools
import io
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pandas
import pytest
from sklearn.base import clone

import choquet
from choquet.cli import columns, demo, main, subjects
from choquet.cli.subjects import Subject
from tests.processes import interruptible

ROOT = Path(__file__).resolve().parents[1]
HOSTILE = ["<script>alert(1)</script>", 'quo"te', "🦊, [bold]", "\x1b[2J"]
needs_words = pytest.mark.skipif(
    find_spec("choquet.explanation") is None, reason="no room of explanations yet"
)
needs_report = pytest.mark.skipif(
    find_spec("choquet.report") is None, reason="no room of reports yet"
)


def write_csv(path, names, rows):
    with open(path, "w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow(names)
        writer.writerows(rows)
    return path


def rows_of(names, n=60, seed=0):
    X = np.random.default_rng(seed).random((n, len(names) - 1))
    y = 0.6 * X.max(axis=1) + 0.4 * X[:, 0]
    return np.column_stack([X, y]).round(6).tolist()


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = ["gpr", "ir", "emi", "truth"]
    write_csv("scores.csv", names, rows_of(names))
    return tmp_path


@pytest.fixture
def run(capsys):
    def call(*words):
        capsys.readouterr()
        code = main([str(word) for word in words])
        out, err = capsys.readouterr()
        return code, out, err

    return call


def refused(run, *words, code=1):
    """The one line that a refused command says."""
    got, out, err = run(*words)
    assert got == code, err
    assert out == ""
    assert err.startswith("choquet: ")
    assert err.count("\n") == 1
    assert "Traceback" not in err
    return err


# -- every command ---------------------------------------------------------------------------------


def test_fit_writes_a_model_that_python_reads(folder, run):
    code, out, err = run("fit", "scores.csv", "-o", "model.json")
    assert (code, err) == (0, "")
    assert "3 sources and 60 rows, scaling none" in out
    model = choquet.load("model.json")
    assert model.feature_names_in_.tolist() == ["gpr", "ir", "emi"]
    assert model.target_name_ == "truth"
    table = pandas.read_csv("scores.csv")
    rows = table[["gpr", "ir", "emi"]]
    own = choquet.ChoquetRegressor().fit(rows, table["truth"])
    assert np.allclose(model.predict(rows), own.predict(rows), atol=1e-9)


@pytest.mark.parametrize("learner", ["choquet", "cv", "owa", "linear", "lambda", "gradient"])
def test_learners(learner, folder, run):
    code, out, _ = run("fit", "scores.csv", "--learner", learner, "--json")
    assert code == 0
    assert json.loads(out)["rmse"] < 0.2
    assert run("decompose", "model.json")[0] == 0


def test_classifier(folder, run):
    rows = [[*row[:3], "mine" if row[3] > 0.6 else "clutter"] for row in rows_of("abcd")]
    write_csv("c.csv", ["a", "b", "c", "class"], rows)
    code, out, _ = run("fit", "c.csv", "--learner", "classifier", "--json")
    assert (code, json.loads(out)["accuracy"] > 0.8) == (0, True)
    _, out, _ = run("predict", "model.json", "c.csv")
    lines = out.splitlines()
    assert lines[0] == "prediction,p(clutter),p(mine)"
    assert {line.split(",")[0] for line in lines[1:]} == {"mine", "clutter"}
    assert "is not a number" in refused(run, "fit", "c.csv", "-o", "other.json")


def test_rows_keep_their_numbers_where_values_are_missing(folder, run):
    assert run("fit", "scores.csv", "--target", "truth", "--sources", "gpr,ir,emi")[0] == 0
    rows = [[0.1, 0.2, 0.3, 0.3], ["", 0.5, 0.9, 0.9], [0.7, 0.8, 0.6, 0.8]]
    write_csv("gaps.csv", ["gpr", "ir", "emi", "truth"], rows)
    code, out, _ = run("explain", "model.json", "gaps.csv", "--row", "3")
    assert code == 0
    assert "ir 0.8, gpr 0.7, emi 0.6" in out
    assert "gaps.csv, row 2: a value is missing" in refused(
        run, "explain", "model.json", "gaps.csv", "--row", "2"
    )
    assert "has 3 rows; there is no row 4" in refused(
        run, "explain", "model.json", "gaps.csv", "--row", "4"
    )
    code, _, err = run("report", "model.json", "gaps.csv", "-o", "gaps.html")
    assert code == 0
    assert "note: rows that lack a value, and are left out: 1" in err


def test_importance_of_many_sources_is_inspected(folder, run):
    X = np.random.default_rng(0).random((100, 20))
    model = choquet.ChoquetRegressor(k_additive=2)
    choquet.save(model.fit(X, 0.5 * np.minimum(X[:, 0], X[:, 1]) + 0.5 * X[:, 2]), "many.json")
    importance = json.loads(run("inspect", "many.json", "--json")[1])["shapley"]
    np.testing.assert_allclose(list(importance.values())[:4], [0.25, 0.25, 0.5, 0], atol=1e-3)
    assert "Shapley" in run("inspect", "many.json")[1]


def test_options_reach_the_learner(folder, run):
    words = ["--prior", "additive", "--prior-alpha", "1e6", "--no-normal", "--fit-intercept"]
    assert run("fit", "scores.csv", *words)[0] == 0
    model = choquet.load("model.json").estimator_
    assert (model.prior, model.prior_alpha, model.normal, model.fit_intercept) == (
        "additive", 1e6, False, True,
    )  # fmt: skip


@pytest.mark.parametrize("scaling", ["auto", "minmax", "standard"])
def test_scaled_models_answer_in_the_units_of_the_data(scaling, folder, run):
    names = ["a", "b", "c", "y"]
    table = np.array(rows_of(names)) * [1, 10, 1000, 50] + [0, -5, 0, 7]
    write_csv("units.csv", names, table.tolist())
    words = [] if scaling != "standard" else ["--no-monotone", "--no-normal", "--fit-intercept"]
    code, out, _ = run("fit", "units.csv", "--scaling", scaling, "--json", *words)
    assert code == 0
    assert json.loads(out)["scaling"] == ("minmax" if scaling == "auto" else scaling)
    _, out, _ = run("predict", "model.json", "units.csv", "--json")
    found = np.array([row["prediction"] for row in json.loads(out)])
    assert np.sqrt(np.mean((found - table[:, 3]) ** 2)) < 3.0


def cars(n=120):
    """Size counts upwards and price downwards; noise counts not at all."""
    u = np.random.default_rng(7).random((n, 3))
    y = 5 + 20 * np.minimum(u[:, 0], u[:, 1])
    return np.column_stack([2 + 3 * u[:, 0], 900 - 800 * u[:, 1], u[:, 2], y]).round(6).tolist()


@pytest.mark.parametrize("words", [(), ("--lower-is-better", "price", "--directions", "higher")])
def test_directions_are_found_or_given(words, folder, run):
    write_csv("cars.csv", ["size", "price", "noise", "worth"], cars())
    code, out, err = run("fit", "cars.csv", *words)
    assert (code, err) == (0, "")
    told = "Less is taken as better of price (rank correlation with the target -0."
    assert (told in out) == (not words)
    code, out, _ = run("fit", "cars.csv", *words, "--force", "--json")
    summary = json.loads(out)
    assert summary["directions"] == {"size": "higher", "price": "lower", "noise": "higher"}
    assert summary["r2"] > 0.95
    scale = choquet.load("model.json").scale_
    assert scale.directions_ == {"size": "higher", "price": "lower", "noise": "higher"}
    out = run("explain", "model.json")[1]
    assert "For price, less is better: a smaller number counts as larger." in out


def test_columns_that_point_the_wrong_way_are_noted(folder, run):
    write_csv("cars.csv", ["size", "price", "noise", "worth"], cars())
    words = ["--directions", "higher", "-s", "price,noise"]
    _, out, _ = run("fit", "cars.csv", *words, "--json")
    held_out = json.loads(out)["held_out"]
    assert held_out["model"] > 0.95 * held_out["mean"]
    wrong = ["--lower-is-better", "worth"]
    assert "that is no source" in refused(run, "fit", "cars.csv", *wrong, "-o", "x.json")
    wrong = ["--scaling", "none", "--lower-is-better", "price"]
    assert "turn them with minmax" in refused(run, "fit", "cars.csv", *wrong, "-o", "x.json")
    wrong = ["--directions", "sideways"]
    assert "choose auto, higher, lower" in refused(run, "fit", "cars.csv", *wrong, "-o", "x.json")


def test_errors_are_told_on_rows_held_out(folder, run):
    """Against folds done by hand, and beside the mean and a linear model."""
    from sklearn.linear_model import LinearRegression
    from sklearn.model_selection import KFold, cross_val_predict

    write_csv("cars.csv", ["size", "price", "noise", "worth"], cars())
    _, out, _ = run("fit", "cars.csv", "--json")
    told = json.loads(out)["held_out"]
    rows = np.array(cars())
    folds = KFold(5, shuffle=True, random_state=0)
    for name, model in [
        ("model", choquet.InUnits()),
        ("linear", LinearRegression()),
    ]:
        answers = cross_val_predict(model, rows[:, :3], rows[:, 3], cv=folds)
        rmse = np.sqrt(np.mean((answers - rows[:, 3]) ** 2))
        assert told[name] == pytest.approx(rmse, rel=1e-6)
    assert told["r2"] == pytest.approx(1 - (told["model"] / told["mean"]) ** 2)
    assert (
        "On rows held out (5 folds): root mean square error" in run("fit", "cars.csv", "--force")[1]
    )
    _, out, _ = run("fit", "cars.csv", "--force", "--folds", "0", "--json")
    assert json.loads(out)["held_out"] is None
    assert "--folds 1" in refused(run, "fit", "cars.csv", "--folds", "1", "-o", "x.json")


@pytest.mark.parametrize(
    "words",
    [
        (),
        ("--lower-is-better", "price", "--directions", "higher"),
        ("--scaling", "quantiles"),
        ("--scaling", "standard"),
        ("--learner", "contextual"),
        ("--learner", "additive"),
    ],
)
def test_fit_and_report_tell_the_same_error(words, folder, run):
    """A model from a file is learned again in the same directions and on the same scales."""
    write_csv("cars.csv", ["size", "price", "noise", "worth"], cars())
    told = json.loads(run("fit", "cars.csv", *words, "-o", "m.json", "--json")[1])["held_out"]
    run("report", "m.json", "cars.csv", "-o", "r.json")
    quality = json.loads(Path("r.json").read_text())["first"]["quality"]
    again = {row["key"]: row["error"] for row in quality["rows"]}
    assert again["model"] == pytest.approx(told["model"], rel=1e-6)
    assert again["linear"] == pytest.approx(told["linear"], rel=1e-6)
    model, rows = choquet.load("m.json"), np.array(cars())
    refitted = clone(model).fit(rows[:, :3], rows[:, 3])
    given = pandas.DataFrame(rows[:, :3], columns=["size", "price", "noise"])
    np.testing.assert_allclose(refitted.predict(rows[:, :3]), model.predict(given), rtol=1e-6)


def test_sources_that_run_against_the_target_are_told(folder, run):
    write_csv("cars.csv", ["size", "price", "noise", "worth"], cars())
    told = "note: price falls where worth rises, which this learner cannot follow; try "
    assert told + "--lower-is-better price" in run("fit", "cars.csv", "--directions", "higher")[2]
    for words in ((), ("--lower-is-better", "price"), ("--learner", "contextual")):
        given = () if not words else ("--directions", "higher")
        assert told not in run("fit", "cars.csv", *given, *words, "--force")[2]


def test_a_linear_model_that_is_clearly_better_is_told(folder, run):
    """Here one source lowers the target, though it goes up with another that raises it more."""
    rng = np.random.default_rng(0)
    a = rng.random(300)
    b = np.clip(a + 0.1 * rng.standard_normal(300), 0, 1)
    write_csv("both.csv", ["a", "b", "y"], np.column_stack([a, b, 3 * a - 2 * b]))
    write_csv("mean.csv", ["a", "b", "y"], np.column_stack([a, b, a + b]))
    note = "note: a linear model is more accurate here; --learner auto tries other learners"
    assert note in run("fit", "both.csv", "--directions", "higher", "-o", "both.json")[2]
    assert note not in run("fit", "both.csv", "-o", "turned.json")[2]
    assert note not in run("fit", "mean.csv", "-o", "mean.json")[2]
    assert note not in run("fit", "both.csv", "--learner", "auto", "-o", "auto.json")[2]


def test_more_rows_than_are_kept_are_drawn_evenly(folder, run, monkeypatch):
    from choquet.cli import learners

    monkeypatch.setattr(learners, "_KEPT", 40)
    monkeypatch.setattr(columns, "_CHUNK_CELLS", 44)
    look = learners._Look(np.random.default_rng(0))
    for start in range(0, 1000, 50):
        look.join(np.arange(start, start + 50.0)[:, None], None)
    assert (len(look.rows), look.n, look.low[0], look.high[0]) == (40, 1000, 0, 999)
    assert len(np.unique(look.rows)) == 40
    assert 300 < look.rows.mean() < 700
    assert look.mean[0] == pytest.approx(499.5)
    assert look.square[0] / 1000 == pytest.approx(np.var(np.arange(1000)))
    write_csv("cars.csv", ["size", "price", "noise", "worth"], cars(400))
    _, out, _ = run("fit", "cars.csv", "--json")
    assert json.loads(out)["held_out"]["rows"] == 40
    assert json.loads(out)["rows"] == 400


def test_intervals_of_many_rows_wait_until_they_are_asked_for(folder, run, monkeypatch):
    run("fit", "scores.csv")
    few = len(json.loads(run("predict", "model.json", "scores.csv", "--json")[1]))
    n_sources = 3
    monkeypatch.setitem(subjects._INTERVAL_ROWS, n_sources, few // 2)
    code, out, err = run("predict", "model.json", "scores.csv")
    assert code == 0
    assert "low" not in out.splitlines()[0]
    assert "--intervals" in err
    code, out, err = run("predict", "model.json", "scores.csv", "--intervals")
    assert out.startswith("prediction,low,high,level")
    assert "--intervals" not in err


def test_predict_gives_intervals_and_support(folder, run):
    run("fit", "scores.csv")
    code, out, _ = run("predict", "model.json", "scores.csv", "-o", "answers.csv")
    assert (code, out) == (0, "")
    with open("answers.csv") as stream:
        rows = list(csv.DictReader(stream))
    assert len(rows) == 60
    assert all(float(r["low"]) <= float(r["prediction"]) <= float(r["high"]) for r in rows)
    run("decompose", "model.json", "-o", "parts.json")
    _, out, _ = run("predict", "parts.json", "scores.csv")
    assert out.startswith("prediction,operator,supported\n")


def test_columns_are_found_by_name(folder, run):
    run("fit", "scores.csv")
    _, expected, _ = run("predict", "model.json", "scores.csv")
    with open("scores.csv") as stream:
        rows = list(csv.reader(stream))
    write_csv("turned.csv", ["note", *rows[0][::-1]], [["text", *r[::-1]] for r in rows[1:]])
    assert run("predict", "model.json", "turned.csv")[1] == expected


def test_decompose(folder, run):
    choquet.save(choquet.Measure([0, 0, 1, 1, 1, 1, 1, 1], ["gpr", "ir", "emi"]), "g.json")
    code, out, _ = run("decompose", "g.json")
    assert code == 0
    assert "median, 33.3 % of walks: gpr is the largest" in out
    _, out, _ = run("decompose", "g.json", "--json")
    assert [one["name"] for one in json.loads(out)["operators"]] == ["max", "median"]
    run("fit", "scores.csv")
    _, out, _ = run("decompose", "model.json", "--max-error", "0.05", "-o", "d.json", "--json")
    assert json.loads(out)["error"]["worst"] <= 0.05
    assert choquet.load("d.json").error.worst <= 0.05
    assert run("decompose", "model.json", "--method", "single_linkage", "-k", "2")[0] == 0
    assert run("decompose", "d.json", "--all-walks", "--metric", "emd")[0] == 0


def test_decompose_on_rows(folder, run):
    run("fit", "scores.csv")
    code, out, _ = run("decompose", "model.json", "scores.csv", "-o", "parts.json")
    assert code == 0
    assert "times the full integral's" in out
    found = choquet.load("parts.json")
    assert found.unit == "samples"
    data = json.loads(run("decompose", "model.json", "scores.csv", "--json")[1])
    assert data["cost"]["ratio"] == pytest.approx(found.cost.ratio)
    # What was written can be taken apart again; it tells no target, and so no cost.
    again = json.loads(run("decompose", "parts.json", "scores.csv", "--json")[1])
    assert {one["unit"] for one in again["operators"]} == {"samples"}
    assert "only one of model and data" in refused(run, "decompose", "-", "-")


def test_compare_and_inspect(folder, run):
    run("fit", "scores.csv", "-o", "a.json")
    run("fit", "scores.csv", "-o", "b.json", "--learner", "owa")
    code, out, _ = run("compare", "a.json", "b.json")
    assert code == 0
    assert "matched in a" in out
    _, out, _ = run("compare", "a.json", "b.json", "--json")
    assert json.loads(out)["measures"][0][1] > 0
    _, out, _ = run("inspect", "a.json")
    assert "InUnits" in out
    assert "Shapley" in out
    _, out, _ = run("inspect", "a.json", "--json")
    assert sum(json.loads(out)["shapley"].values()) == pytest.approx(1)
    _, out, _ = run("inspect", "scores.csv")
    assert "60 complete rows" in out
    _, out, _ = run("inspect", "scores.csv", "--json")
    assert [one["column"] for one in json.loads(out)["columns"]] == ["gpr", "ir", "emi", "truth"]


@needs_words
def test_explain(folder, run):
    run("fit", "scores.csv")
    code, out, _ = run("explain", "model.json")
    assert code == 0
    assert "gpr" in out
    _, out, _ = run("explain", "model.json", "scores.csv", "--row", "3", "--row", "5", "--json")
    assert [one["row"] for one in json.loads(out)] == [3, 5]
    assert "there is no row 99" in refused(
        run, "explain", "model.json", "scores.csv", "--row", "99"
    )


@needs_report
@pytest.mark.parametrize("name", ["report.html", "report.md", "report.json"])
def test_report(name, folder, run):
    run("fit", "scores.csv")
    assert run("report", "model.json", "scores.csv", "-o", name)[0] == 0
    assert "gpr" in Path(name).read_text()
    assert "exists" in refused(run, "report", "model.json", "-o", name)


def recipe(target):
    """Commands of a target of the Makefile, as they stand there."""
    makefile = (ROOT / "Makefile").read_text()
    return re.search(rf"^{target}:.*\n((?:\t.*\n)+)", makefile, re.M)[1].strip().split("\n\t")


def test_demo(folder, run, monkeypatch):
    monkeypatch.setattr(demo, "_fuse", functools.cache(demo._fuse))
    # What `make demo` runs, which the README says it does.
    python, module, name, *words = shlex.split(recipe("demo")[-1])
    assert (python, module, name) == ("$(BIN)/python", "-m", "choquet")
    code, out, _ = run(*words, "-o", "shown", "--no-open")
    assert code == 0
    assert "if gpr is the largest" in out
    assert "Choquet integral of the five" in out
    names = {path.name for path in Path("shown").iterdir()}
    assert {"demo.json", "ivat.png", "hasse.png", "operators.png", "indices.png"} <= names
    accuracy = json.loads(Path("shown/demo.json").read_text())["accuracy"]
    five = ("size", "texture", "surface", "outline", "symmetry", "mean", "max")
    assert accuracy["fusion"] > max(accuracy[name] for name in five)
    # Again, into its own folder; but into no other that holds something.
    assert run("demo", "-o", "shown", "--json")[0] == 0
    Path("mine").mkdir()
    Path("mine/thesis.txt").write_text("years of work")
    assert "not of an earlier demo" in refused(run, "demo", "-o", "mine")


def contextual_rows(n=300):
    """Three sources in units of their own, a target and a class; hum decides the operator."""
    rng = np.random.default_rng(5)
    low, width = np.array([10.0, 900.0, 0.0]), np.array([20.0, 200.0, 100.0])
    u = rng.random((n, 3))
    u[0], u[1] = 0.0, 1.0  # so that the ranges are known
    y = np.where(u[:, 2] == u.max(axis=1), np.median(u, axis=1), u.max(axis=1))
    return np.column_stack([u * width + low, 50 + 30 * y]), u


@pytest.fixture
def weather(folder):
    rows, _ = contextual_rows()
    write_csv("weather.csv", ["temp", "press", "hum", "yield"], rows.tolist())
    labelled = [[*row[:3], "good" if row[3] > 68 else "bad"] for row in rows.tolist()]
    write_csv("classes.csv", ["temp", "press", "hum", "class"], labelled)
    return rows


def test_contextual_models_on_the_command_line(weather, run):
    rows = weather
    fit = ("fit", "weather.csv", "--learner", "contextual", "--convex", "--l2", "0")
    code, out, _ = run(*fit, "-o", "model.json", "--json")
    assert code == 0
    told = json.loads(out)
    assert (told["operators"], told["contexts"], told["scaling"]) == (2, 2, "minmax")
    assert told["rmse"] < 1e-6
    code, out, _ = run("predict", "model.json", "weather.csv", "--json")
    answers = json.loads(out)
    assert [row["prediction"] for row in answers] == pytest.approx(rows[:, 3])
    assert {row["operator"] for row in answers} == {"max", "median"}
    # Decomposed and kept, it answers in the same units.
    code, out, _ = run("decompose", "model.json", "-o", "parts.json")
    assert "% of samples: hum is the largest" in out
    assert "temp from 10–30, press from 900–1100, hum from 0–100." in out
    assert "yield is rescaled from 50–80 to 0–1." in out
    code, out, _ = run("predict", "parts.json", "weather.csv", "--json")
    assert [row["prediction"] for row in json.loads(out)] == pytest.approx(rows[:, 3])
    code, out, _ = run("explain", "model.json")
    assert "If hum is the largest, take the median of the three; otherwise take the largest." in out
    code, out, _ = run("explain", "model.json", "weather.csv", "--row", "3", "--row", "4", "--json")
    for row, why in zip((2, 3), json.loads(out), strict=True):
        assert why["inputs"] == pytest.approx(rows[row, :3])
        assert why["output"] == pytest.approx(rows[row, 3])
        assert sum(why["contributions"]) + why["bias"] == pytest.approx(rows[row, 3])
        moved = np.array(why["switch"]["inputs"])
        # Just beyond the border the other operator decides; just before, this one.
        there = moved + 1e-6 * (moved - rows[row, :3])
        before = moved - 1e-6 * (moved - rows[row, :3])
        parts = choquet.load("parts.json")
        assert parts.operator_of([there])[0] == why["switch"]["operator"]
        assert parts.operator_of([before])[0] == why["operator"]
    assert run("report", "model.json", "weather.csv", "-o", "page.html")[0] == 0
    assert run("report", "model.json", "weather.csv", "-o", "page.json")[0] == 0
    data = json.loads(Path("page.json").read_text())
    assert data["explorer"]["ranges"] == [[10, 30], [900, 1100], [0, 100]]
    assert data["errors"]["rows"][0]["rmse"] < 1e-6
    assert "hum" in run("report", "model.json", "-o", "-")[1]
    code, out, _ = run("inspect", "model.json", "--json")
    assert json.loads(out)["learner"] == "ContextualRegressor"
    assert "holds no measure" in refused(run, "compare", "model.json", "parts.json")
    assert "-k has nothing to take apart" in refused(run, "decompose", "model.json", "-k", "2")
    assert "leave out --max-error" in refused(run, "decompose", "model.json", "--max-error", "1")
    assert "does not take --monotone" in refused(run, *fit, "--monotone", "-o", "no.json")
    assert "does not take --max-leaves" in refused(run, "fit", "weather.csv", "--max-leaves", "3")


def test_contextual_classes_on_the_command_line(weather, run):
    assert run("fit", "classes.csv", "--learner", "contextual-classifier", "--prune", "bic")[0] == 0
    code, out, _ = run("predict", "model.json", "classes.csv", "--json")
    assert code == 0
    answers = json.loads(out)
    right = [
        (row["prediction"] == "good") == (y > 68)
        for row, y in zip(answers, weather[:, 3], strict=True)
    ]
    assert np.mean(right) > 0.95
    code, out, _ = run("explain", "model.json", "classes.csv", "--row", "3", "--json")
    why = json.loads(out)[0]
    assert why["label"] == "good"
    assert why["probability"] == pytest.approx(answers[2]["p(good)"])
    code, out, _ = run("explain", "model.json", "classes.csv", "--row", "3")
    assert "the log-odds of good against bad are" in out
    assert f"The model answers class = {answers[2]['prediction']}." in out
    assert "The output is the log-odds of good against bad." in run("decompose", "model.json")[1]
    assert run("report", "model.json", "classes.csv", "-o", "page.html")[0] == 0
    assert "against bad" in Path("page.html").read_text()


@pytest.mark.parametrize("learner", ["classifier", "contextual-classifier"])
def test_one_of_several_classes_on_the_command_line(learner, folder, run):
    rows = [[*row[:3], ("high", "low", "mid")[np.argmax(row[:3])]] for row in rows_of("abcd")]
    write_csv("c.csv", ["a", "b", "c", "class"], rows)
    assert run("fit", "c.csv", "--learner", learner)[0] == 0
    model = choquet.load("model.json")
    parts = {}
    for number, label in enumerate(model.classes_):
        code, out, _ = run("decompose", "model.json", "--class", label, "--json")
        assert code == 0
        assert json.loads(out)["outcome"]["class"] == label
        parts[label] = json.loads(out)["operators"]
        if learner == "contextual-classifier":
            expected = model.estimator_.decompositions_[number].operators
        else:
            expected = choquet.of_class(model, label).operators
        want = [list(one.weights) for one in expected]
        np.testing.assert_allclose([one["weights"] for one in parts[label]], want)
        against = f"{label} against the rest"
        assert against in run("explain", "model.json", "--class", label)[1]
        assert against in run("explain", "model.json", "c.csv", "--class", label)[1]
        for end in ("html", "md", "json"):
            page = f"{label}.{end}"
            assert run("report", "model.json", "c.csv", "--class", label, "-o", page)[0] == 0
            assert against in Path(page).read_text()
        assert json.loads(Path(page).read_text())["errors"]["classes"]
    assert parts["low"] != parts["high"]
    known = "the classes are 'high', 'low', 'mid'"
    assert known in refused(run, "explain", "model.json", "--class", "x")
    for command in ("inspect", "explain", "decompose"):
        out = " ".join(run(command, "model.json")[1].replace("│", " ").split())
        assert "one of 3 classes: high, low, mid; choose another with --class" in out
    assert json.loads(run("inspect", "model.json", "--json")[1])["classes"] == list(parts)


@pytest.mark.parametrize("learner", ["classifier", "contextual-classifier"])
def test_a_file_of_one_class_remembers_it(learner, folder, run):
    rows = [[*row[:3], ("high", "low", "mid")[np.argmax(row[:3])]] for row in rows_of("abcd")]
    write_csv("c.csv", ["a", "b", "c", "class"], rows)
    _, out, _ = run("fit", "c.csv", "--learner", learner, "--scaling", "minmax", "--json")
    assert json.loads(out)["classes"] == ["high", "low", "mid"]
    assert run("decompose", "model.json", "--class", "mid", "-o", "mid.json")[0] == 0
    for command in ("inspect", "explain", "decompose"):
        assert "mid against the rest" in " ".join(run(command, "mid.json")[1].split())
    _, out, err = run("predict", "mid.json", "c.csv", "--json")
    assert "mid against the rest" in err
    chances = [row["p(mid against the rest)"] for row in json.loads(out)]
    model = choquet.load("model.json")
    frame = pandas.DataFrame([row[:3] for row in rows], columns=["a", "b", "c"])
    odds = model.decision_function(frame)[:, 2]
    np.testing.assert_allclose(chances, 1 / (1 + np.exp(-odds)), atol=0.05)
    # The column of classes is text, and counted as such.
    assert run("report", "mid.json", "c.csv", "-o", "mid.json.md")[0] == 0
    assert "Errors on the samples" in Path("mid.json.md").read_text()
    assert "'mid' alone" in refused(run, "explain", "mid.json", "--class", "low")


def test_operators_of_all_classes_are_counted(folder, run):
    rows = [[*row[:3], ("high", "low", "mid")[np.argmax(row[:3])]] for row in rows_of("abcd")]
    write_csv("c.csv", ["a", "b", "c", "class"], rows)
    _, out, _ = run("fit", "c.csv", "--learner", "contextual-classifier")
    parts = choquet.load("model.json").estimator_.decompositions_
    count = sum(one.n_operators for one in parts)
    assert f"Found {count} operators in" in out
    assert "in all, for 3 classes." in out


def test_levels_on_the_command_line(folder, run):
    """Levels that are numbers are in the order of numbers, and warnings speak of options."""
    found = [(row[:3], int(np.digitize(max(row[:3]), [0.6, 0.85]))) for row in rows_of("abcd")]
    for name, labels in (("c.csv", ["9.0", "10.0", "11.0"]), ("t.csv", "xyz")):
        write_csv(name, ["a", "b", "c", "class"], [[*row, labels[k]] for row, k in found])
    fit = ("fit", "c.csv", "--learner", "classifier", "--force")
    code, out, err = run(*fit)
    assert "class '9.0', taken against the rest, does not rise" in err
    assert "pass --no-monotone, or --ordinal if the classes are ordered" in err
    assert "9.0 against the rest" in run("explain", "model.json", "--class", "9")[1]
    code, out, err = run(*fit, "--ordinal")
    assert (code, err) == (0, "")
    assert "Levels, lowest first: 9, 10, 11." in out
    assert "rises with the class" in run("explain", "model.json", "--class", "10.0")[1]
    assert "Levels, lowest first: x, y, z." in run("fit", "t.csv", *fit[2:], "--ordinal")[1]
    assert "does not take --ordinal" in refused(run, "fit", "c.csv", "--ordinal", "-o", "no.json")


def test_explanations_speak_in_the_units_of_the_data(weather, run):
    """Of a measure learned from scaled columns too, and of its decomposition in a file."""
    rows = weather
    run("fit", "weather.csv")
    run("decompose", "model.json", "-o", "parts.json")
    model, parts = choquet.load("model.json"), choquet.load("parts.json")
    assert isinstance(parts, choquet.Decomposition)
    frame = pandas.read_csv("weather.csv").iloc[:, :3]
    answers = {"model.json": model.predict(frame), "parts.json": parts.predict(rows[:, :3])}
    # A model and its summary are two things: each is told as what it is.
    for name, expected in answers.items():
        _, out, _ = run("predict", name, "weather.csv", "--json")
        assert [row["prediction"] for row in json.loads(out)] == pytest.approx(expected)
        _, out, _ = run("explain", name, "weather.csv", "--row", "5", "--json")
        why = json.loads(out)[0]
        assert why["inputs"] == pytest.approx(rows[4, :3])
        assert why["output"] == pytest.approx(expected[4])
        assert sum(why["contributions"]) + why["bias"] == pytest.approx(expected[4])
        low, high = why["interval"]
        assert low - 1e-9 <= why["integral"] <= high + 1e-9
        assert why["integral"] == pytest.approx(answers["model.json"][4])
        assert why["operator_output"] == pytest.approx(answers["parts.json"][4])
        assert "rescaled to 0–1" in run("explain", name, "weather.csv", "--row", "5")[1]
        run("report", name, "weather.csv", "-o", "page.json", "--force")
        data = json.loads(Path("page.json").read_text())
        assert data["explorer"]["ranges"] == [[10, 30], [900, 1100], [0, 100]]
        assert data["samples"]["rows"][4]["inputs"] == pytest.approx(rows[4, :3])
        assert data["samples"]["rows"][4]["output"] == pytest.approx(expected[4])
        rmse = np.sqrt(np.mean((expected - rows[:, 3]) ** 2))
        assert data["errors"]["rows"][0]["rmse"] == pytest.approx(rmse)


# -- help ------------------------------------------------------------------------------------------


def test_help_names_all_commands(run):
    code, out, _ = run("--help")
    assert code == 0
    for name in ("demo", "fit", "predict", "explain", "decompose", "report", "compare", "inspect"):
        assert re.search(rf"^  {name} ", out, re.M)
        assert run(name, "--help")[0] == 0
    assert run()[1] == out


def test_help_loads_nothing_heavy():
    code = """
import sys
from choquet.cli import main
main(["--help"])
heavy = [m for m in ("sklearn", "numba", "matplotlib", "scipy.optimize") if m in sys.modules]
assert not heavy, heavy
"""
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)


def test_threads_of_blas_are_told_before_numpy_loads_not_to_wait_long():
    code = """
import os, sys
import choquet.cli
assert "numpy" not in sys.modules
choquet.cli.main(["--help"])
assert os.environ["OPENBLAS_THREAD_TIMEOUT"] == {expected!r}
"""
    unset = {k: v for k, v in os.environ.items() if k != "OPENBLAS_THREAD_TIMEOUT"}
    for given, expected in ({}, "16"), ({"OPENBLAS_THREAD_TIMEOUT": "20"}, "20"):
        words = [sys.executable, "-c", code.format(expected=expected)]
        subprocess.run(words, check=True, capture_output=True, env=unset | given)


def test_without_click_there_is_a_sentence(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "click", None)
    assert main(["--help"]) == 1
    assert "The command line needs click: pip install 'choquet[cli]'" in capsys.readouterr().err


# -- errors on one line ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["nothing"], "No such command"),
        (["fit"], "Missing argument"),
        (["fit", "scores.csv", "--nope"], "No such option"),
        (["fit", "scores.csv", "--fit-intercept=7"], "fit-intercept"),
        (["fit", "scores.csv", "--alpha", "much"], "alpha"),
        (["predict", "m", "d", "--missing", "ignore"], "choose error, drop, keep"),
    ],
)
def test_wrong_usage(words, message, folder, run):
    assert message in refused(run, *words, code=2)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["fit", "absent.csv"], "No such file"),
        (["fit", "."], "is a folder"),
        (["fit", "scores.csv", "-o", "no/such/model.json"], "is no folder"),
        (["fit", "scores.csv", "-o", "."], "is a folder"),
        (["fit", "scores.csv", "-t", "mines"], "no column 'mines'; it has gpr, ir, emi, truth"),
        (["fit", "scores.csv", "-s", "gpr,sonar"], "no column 'sonar'"),
        (["fit", "scores.csv", "-s", "gpr,gpr"], "named twice"),
        (["fit", "scores.csv", "-s", "truth"], "is the target"),
        (["fit", "scores.csv", "--learner", "deep"], "choose auto, choquet"),
        (["fit", "scores.csv", "--scaling", "log"], "choose auto, none, minmax"),
        (
            ["fit", "scores.csv", "--learner", "owa", "--fit-intercept"],
            "does not take --fit-intercept",
        ),
        (["fit", "scores.csv", "--penalty", "l3"], "penalty"),
        (["fit", "scores.csv", "--delimiter", ";;"], "one character"),
        (["predict", "absent.json", "scores.csv"], "No such file"),
        (["predict", "scores.csv", "scores.csv"], "looks like a table"),
        (["decompose", "scores.csv"], "looks like a table"),
        (["compare", "g.json"], "two files or more"),
        (["predict", "-", "-"], "only one of"),
        (["inspect", "absent"], "No such file"),
        (["decompose", "g.json", "--metric", "l77"], "l77"),
        (["decompose", "g.json", "--method", "single_linkage"], "give k or level"),
    ],
)
def test_wrong_data(words, message, folder, run):
    choquet.save(choquet.Measure([0, 0.2, 0.3, 1]), "g.json")
    before = sorted(os.listdir())
    assert message in refused(run, *words)
    assert sorted(os.listdir()) == before


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "is empty"),
        ("a,b,y\n", "has no rows"),
        ("a,,y\n1,2,3\n", "column 2 has no name"),
        ("a,a,y\n1,2,3\n", "two columns are called 'a'"),
        ("a,b,y\n1,2\n", "line 2: 2 cells, but the header has 3"),
        ("a,b,y\n1,2,3\n1,x,3\n", "line 3, column 'b': 'x' is not a number"),
        ("a,b,y\n1,2,3\n1,,3\n", "line 3, column 'b': the value is missing"),
        ("a,b,y\n1,2,3\n1,NA,3\n", "line 3, column 'b': the value is missing"),
        ("a,b,y\n1,inf,3\n", "line 2, column 'b': the value is infinite"),
        ('a,b,y\n1,"2,3\n', "line 2: unexpected end of data"),
        ("y\n1\n", "no column besides the target"),
        (b"a,b,y\n1,\xff,3\n", "line 2 is not UTF-8"),
        (b"\xff\xfea\x00", "line 1 is not UTF-8"),
        (",".join(f"c{i}" for i in range(10_000)) + "\n" + ",".join("1" * 10_000), "at most 128"),
        (",".join(f"c{i}" for i in range(30_000)), "at most 20000"),
        ("a" * (9 << 20), "longer than 8 MiB"),
        (b"PAR1 but not really", "cannot be read"),
    ],
    ids=lambda value: str(value)[:30],
)
def test_bad_tables(content, message, folder, run):
    data = content.encode() if isinstance(content, str) else content
    Path("bad.csv").write_bytes(data)
    assert message in refused(run, "fit", "bad.csv", "-o", "m.json")
    assert not Path("m.json").exists()


def test_missing_values_can_be_dropped(folder, run):
    text = Path("scores.csv").read_text()
    Path("gaps.csv").write_text(text + "0.1,,0.2,0.3\n\n0.1,nan,0.2,0.3\n")
    _, out, _ = run("fit", "gaps.csv", "--missing", "drop", "--json")
    assert json.loads(out)["rows"] == 60
    assert json.loads(out)["rows_dropped"] == 2


@pytest.mark.parametrize("cells_at_once", [4, 28, 1 << 18])
def test_predictions_stay_beside_their_rows_where_values_are_missing(
    cells_at_once, folder, run, monkeypatch
):
    assert run("fit", "scores.csv")[0] == 0
    whole = [[0.1, 0.2, 0.3], [0.7, 0.8, 0.6], [0.9, 0.1, 0.4]]
    gap, other = ["", 0.5, 0.9], [0.3, "NA", 0.2]
    names = ["gpr", "ir", "emi"]
    write_csv("whole.csv", names, whole)
    write_csv("gaps.csv", names, [gap, other, whole[0], gap, *whole[1:], other, gap])
    expected = json.loads(run("predict", "model.json", "whole.csv", "--json")[1])
    monkeypatch.setattr(columns, "_CHUNK_CELLS", cells_at_once)
    assert "line 2, column 'gpr': the value is missing" in refused(
        run, "predict", "model.json", "gaps.csv"
    )
    code, out, err = run("predict", "model.json", "gaps.csv", "--missing", "drop")
    assert (code, err) == (0, "choquet: note: rows that lack a value, and have no answer: 5\n")
    table = list(csv.DictReader(io.StringIO(out)))
    assert [row.pop("row") for row in table] == list("12345678")
    lacking = [0, 1, 3, 6, 7]
    assert all(set(table[k].values()) == {""} for k in lacking)
    found = [
        {name: float(cell) for name, cell in row.items()}
        for k, row in enumerate(table)
        if k not in lacking
    ]
    assert found == expected
    rows = json.loads(run("predict", "model.json", "gaps.csv", "--missing", "drop", "--json")[1])
    assert [row.pop("row") for row in rows] == list(range(1, 9))
    assert [row for row in rows if row["prediction"] is not None] == expected
    # Every row is numbered, also where none is missing.
    code, out, err = run("predict", "model.json", "whole.csv", "--missing", "drop")
    assert (code, err, out[:4], out.count("\n")) == (0, "", "row,", 4)
    write_csv("none.csv", names, [gap, other, gap])
    assert "none.csv has no row without a missing value" in refused(
        run, "predict", "model.json", "none.csv", "--missing", "drop", "-o", "out.csv"
    )
    assert not Path("out.csv").exists()


def test_classes_stay_beside_their_rows_too(folder, run):
    rows = [[a, b, "mine" if a > b else "clutter"] for a, b, *_ in rows_of("abcd")]
    write_csv("classes.csv", ["a", "b", "label"], rows)
    run("fit", "classes.csv", "--learner", "classifier")
    write_csv("gaps.csv", ["a", "b"], [[0.9, 0.1], ["", 0.5], [0.1, 0.9]])
    _, out, _ = run("predict", "model.json", "gaps.csv", "--missing", "drop")
    table = list(csv.DictReader(io.StringIO(out)))
    assert [row["prediction"] for row in table] == ["mine", "", "clutter"]


def test_warnings_are_notes(folder, run):
    write_csv("flat.csv", ["a", "b", "y"], [[k / 10, (k * 7 % 10) / 10, 0.5] for k in range(10)])
    code, _, err = run("fit", "flat.csv")
    assert (code, err.count("\n")) == (0, 1)
    assert err.startswith("choquet: note: the target is constant: ")


def test_debug_shows_where(folder, run):
    code, _, err = run("fit", "absent.csv", "--debug")
    assert code == 1
    assert "Traceback" in err


def test_the_unexpected_is_one_line_too(folder, run, monkeypatch):
    run("fit", "scores.csv")
    monkeypatch.setattr(Subject, "answer", lambda *_: 1 / 0)
    err = refused(run, "predict", "model.json", "scores.csv")
    assert "unexpected ZeroDivisionError" in err
    assert "--debug" in err


# -- tables of other kinds -------------------------------------------------------------------------


def test_few_rows_at_a_time_give_the_same(folder, run, monkeypatch):
    run("fit", "scores.csv", "-o", "whole.json")
    monkeypatch.setattr(columns, "_CHUNK_CELLS", 28)
    monkeypatch.setattr("choquet.learning.data.chunks._BLOCK", 10)
    run("fit", "scores.csv", "-o", "parts.json")
    whole, parts = choquet.load("whole.json"), choquet.load("parts.json")
    assert np.allclose(whole.measure_.values, parts.measure_.values, atol=1e-9)
    assert np.array_equal(whole.support_.sort_counts, parts.support_.sort_counts)
    _, answers, _ = run("predict", "whole.json", "scores.csv", "--json")
    assert len(json.loads(answers)) == 60


def test_more_sorts_than_fit_are_refused(folder, run, monkeypatch):
    monkeypatch.setattr(columns, "_CHUNK_CELLS", 28)
    monkeypatch.setattr("choquet.learning.data.chunks._BLOCK", 10)
    monkeypatch.setattr("choquet.learning.data.chunks._MAX_SORT_BYTES", 100)
    err = refused(run, "fit", "scores.csv")
    assert "different sorts of 3 sources" in err
    assert "fewer rows, or from fewer sources" in err


def test_many_sources(folder, run):
    names = [*(f"s{k}" for k in range(20)), "y"]
    write_csv("wide.csv", names, rows_of(names))
    assert run("fit", "wide.csv")[0] == 0
    _, out, _ = run("predict", "model.json", "wide.csv", "--json")
    assert all("low" not in row and 0 <= row["support"] <= 1 for row in json.loads(out))
    code, out, _ = run("decompose", "model.json", "--json")
    assert code == 0
    assert sum(o["share"] for o in json.loads(out)["operators"]) == pytest.approx(1)
    assert run("report", "model.json", "-o", "wide.html")[0] == 0
    assert Path("wide.html").stat().st_size < 3_000_000
    assert run("inspect", "model.json")[0] == 0


@pytest.mark.parametrize("delimiter", [";", "\t", "|"])
def test_delimiters_and_marks(delimiter, folder, run):
    text = Path("scores.csv").read_text().replace(",", delimiter)
    Path("other.csv").write_bytes(b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode())
    _, out, _ = run("fit", "other.csv", "--json")
    assert json.loads(out)["sources"] == ["gpr", "ir", "emi"]


def test_ten_thousand_columns_of_which_three_are_sources(folder, run):
    rows = rows_of("abcd", n=20)
    names = ["a", "b", "c", *(f"note{k}" for k in range(9_996)), "y"]
    write_csv("wide.csv", names, [[*r[:3], *["-"] * 9_996, r[3]] for r in rows])
    code, out, _ = run("fit", "wide.csv", "-s", "a,b,c", "--json")
    assert (code, json.loads(out)["rows"]) == (0, 20)


@pytest.mark.parametrize("kind", ["parquet", "arrow"])
def test_parquet_and_arrow(kind, folder, run):
    pa = pytest.importorskip("pyarrow")
    feather, parquet = (
        pytest.importorskip("pyarrow.feather"),
        pytest.importorskip("pyarrow.parquet"),
    )
    rows = np.array(rows_of("abcd"))
    table = pa.table(dict(zip(["gpr", "ir", "emi", "truth"], rows.T, strict=True)))
    if kind == "parquet":
        parquet.write_table(table, "data.bin")
    else:
        feather.write_feather(table, "data.bin", compression="uncompressed")
    run("fit", "data.bin", "-o", "a.json")
    run("fit", "scores.csv", "-o", "b.json")
    a, b = choquet.load("a.json"), choquet.load("b.json")
    assert np.allclose(a.measure_.values, b.measure_.values, atol=1e-9)


@pytest.mark.parametrize("command", ["decompose", "inspect", "explain", "report"])
def test_hostile_names(command, folder, run):
    if command in ("explain", "report") and find_spec("choquet.report") is None:
        pytest.skip("the room is not there yet")
    write_csv("bad.csv", [*HOSTILE, "y"], rows_of([*HOSTILE, "y"]))
    assert run("fit", "bad.csv", "-o", "m.json")[0] == 0
    assert choquet.load("m.json").feature_names_in_.tolist() == HOSTILE
    code, out, err = run(command, "m.json")
    assert (code, "\x1b" in out) == (0, False), err
    if command == "report":
        assert "<script>alert" not in Path("report.html").read_text()
    code, out, _ = run("predict", "m.json", "bad.csv")
    assert out.count("\n") == 61


# -- files -----------------------------------------------------------------------------------------


def test_nothing_is_overwritten_without_force(folder, run):
    run("fit", "scores.csv")
    before = Path("model.json").read_bytes()
    assert "pass --force" in refused(run, "fit", "scores.csv")
    assert "pass --force" in refused(run, "predict", "model.json", "scores.csv", "-o", "model.json")
    assert "pass --force" in refused(run, "decompose", "model.json", "-o", "scores.csv")
    assert Path("model.json").read_bytes() == before
    assert run("fit", "scores.csv", "--force", "--learner", "owa")[0] == 0
    assert Path("model.json").read_bytes() != before


def test_stopping_leaves_nothing_half_written(folder, run, monkeypatch):
    run("fit", "scores.csv")
    monkeypatch.setattr(columns, "_CHUNK_CELLS", 40)
    answer, calls = Subject.answer, []

    def stopped(self, X, *more, **options):
        calls.append(len(X))
        if len(calls) == 3:
            raise KeyboardInterrupt
        return answer(self, X, *more, **options)

    monkeypatch.setattr(Subject, "answer", stopped)
    before = sorted(os.listdir())
    assert refused(run, "predict", "model.json", "scores.csv", "-o", "out.csv", code=130)
    assert sorted(os.listdir()) == before


def test_a_bad_row_late_in_the_file_leaves_nothing(folder, run, monkeypatch):
    run("fit", "scores.csv")
    monkeypatch.setattr(columns, "_CHUNK_CELLS", 40)
    with open("scores.csv", "a") as stream:
        stream.write("0.1,oops,0.2,0.3\n")
    assert "line 62" in refused(run, "predict", "model.json", "scores.csv", "-o", "out.csv")
    assert not Path("out.csv").exists()


@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write anywhere"
)
def test_a_folder_that_may_not_be_written(folder, run):
    locked = folder / "locked"
    locked.mkdir(mode=0o500)
    assert "ermission denied" in refused(run, "fit", "scores.csv", "-o", locked / "m.json")


# -- processes and pipes ---------------------------------------------------------------------------

CHOQUET = [sys.executable, "-m", "choquet"]


def test_ctrl_c(folder):
    process = subprocess.Popen(
        interruptible("choquet", "fit", "-", "-o", "model.json"),
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    assert process.stdin is not None
    # More than a pipe holds: once it is written, the command is reading.
    process.stdin.write(b"a,b,y\n" + b"1,2,3\n" * 1_000_000)
    process.stdin.flush()
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert sorted(os.listdir()) == ["scores.csv"]


def test_pipes(folder, monkeypatch, capfdbinary):
    def feed(content):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))

    feed(Path("scores.csv").read_bytes())
    assert main(["fit", "-", "-o", "-"]) == 0
    model = capfdbinary.readouterr().out
    assert json.loads(model)["kind"] == "in_units"
    feed(model)
    assert main(["predict", "-", "scores.csv"]) == 0
    assert capfdbinary.readouterr().out.count(b"\n") == 61
    feed(model)
    assert main(["decompose", "-", "-o", "-"]) == 0
    kind = json.loads(capfdbinary.readouterr().out)["kind"]
    assert kind in ("decomposition", "contextual_model")


def test_a_reader_that_has_seen_enough(folder):
    names = ["a", "b", "c", "y"]
    write_csv("long.csv", names, rows_of(names, n=20_000))
    main(["fit", "scores.csv", "-s", "gpr,ir,emi"])
    main(["fit", "long.csv", "-o", "long.json"])
    # A pipe tells the exit code of its last command; ours is written to a file.
    for words in (["predict", "long.json", "long.csv"], ["inspect", "long.json"], ["--help"]):
        done = subprocess.run(
            f"({shlex.join([*CHOQUET, *words])}; echo $? > code) | head -n 1",
            shell=True, capture_output=True, text=True, check=True,
        )  # fmt: skip
        assert (Path("code").read_text(), done.stderr) == ("0\n", "")
        assert done.stdout.count("\n") == 1
        # A reader that is gone before anything is written.
        done = subprocess.run(
            f"(sleep 0.1; {shlex.join([*CHOQUET, *words])}; echo $? > code) | true",
            shell=True, capture_output=True, text=True, check=True,
        )  # fmt: skip
        assert (Path("code").read_text(), done.stderr) == ("0\n", "")


@pytest.mark.parametrize(
    ("words", "stream", "line"),
    [
        ("predict model.json scores.csv", ">&-", "standard output is closed; send it to a file"),
        ("--version", ">&-", "standard output is closed; send it to a file"),
        ("predict model.json -", "<&-", "standard input is closed; pipe a file into it"),
        ("predict - scores.csv", "<&-", "standard input is closed; pipe a file into it"),
        ("inspect -", "<&-", "standard input is closed; pipe a file into it"),
        ("inspect absent", "2>&-", ""),
    ],
)
def test_closed_streams_are_one_clear_line(words, stream, line, folder, run):
    run("fit", "scores.csv")
    done = subprocess.run(
        f"{shlex.join(CHOQUET)} {words} {stream}", shell=True, capture_output=True, text=True
    )
    assert (done.returncode, done.stdout) == (1, "")
    if line:
        assert done.stderr.startswith(f"choquet: {line}")
        assert done.stderr.count("\n") == 1
    else:
        assert done.stderr == ""


def test_standard_input_is_inspected_by_its_content(folder, run, monkeypatch):
    def inspect(content):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
        return run("inspect", "-", "--json")

    run("fit", "scores.csv")
    for name in ("scores.csv", "model.json"):
        _, from_file, _ = run("inspect", name, "--json")
        assert inspect(Path(name).read_bytes()) == (0, from_file, "")
    code, _, err = inspect(b"")
    assert code == 1
    assert "standard input is empty" in err


# -- pages -----------------------------------------------------------------------------------------


def commands_of(page):
    blocks = re.findall(r"```sh\n(.*?)```", (ROOT / page).read_text(encoding="utf-8"), re.S)
    lines = [line.partition(" #")[0].strip() for block in blocks for line in block.splitlines()]
    return [line for line in lines if line.startswith("choquet ")]


@pytest.mark.parametrize("page", ["README.md", "docs/command-line.md"])
def test_commands_of_the_pages_run_as_written(page, folder, run, monkeypatch, capsys):
    rooms = {"explain": "choquet.explanation", "report": "choquet.report"}
    for path in (ROOT / "src/choquet/decide/data").iterdir():
        (folder / path.name).write_bytes(path.read_bytes())
    for line in commands_of(page):
        given = None
        for part in line.split(" | "):
            words = shlex.split(part)[1:]
            if words[0] in rooms and find_spec(rooms[words[0]]) is None:
                continue
            if words[0] == "demo":
                continue  # has a test of its own
            if given is not None:
                stream = io.TextIOWrapper(io.BytesIO(given.encode()))
                monkeypatch.setattr(sys, "stdin", stream)
            code, given, err = run(*words)
            assert code == 0, (line, err)


def dry_run(target):
    """Lines of commands that `make` would run for a target, in an environment that is ready."""
    done = subprocess.run(
        ["make", "-n", "-C", str(ROOT), target, "VENV=absent", "PYTHON=python3"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    return [line for line in done.stdout.splitlines() if line.startswith("absent/bin/")]


@pytest.mark.skipif(shutil.which("make") is None, reason="no make: install it")
def test_make_targets_of_the_readme_run_what_the_tests_run():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```sh\n(.*?)```", readme, re.S)
    targets = re.findall(r"^make (\w+)", "\n".join(blocks), re.M)
    assert targets == ["demo", "test"]
    programs = {target: dry_run(target) for target in targets}
    assert any("pip" in line and "-e '.[plot,report,cli]'" in line for line in programs["demo"])
    # `test_demo` runs this line.
    assert programs["demo"][-1] == f"absent/bin/{recipe('demo')[-1].removeprefix('$(BIN)/')}"
    # `test` runs the tools that pyproject.toml sets up, then these tests.
    tools = [shlex.split(line)[0].removeprefix("absent/bin/") for line in programs["test"]]
    assert tools[-5:] == ["ruff", "ruff", "mypy", "lint-imports", "python"]
    assert programs["test"][-1] == "absent/bin/python -m pytest -n auto -q"
    settings = (ROOT / "pyproject.toml").read_text()
    assert 'choquet = "choquet.cli:main"' in settings
    assert 'testpaths = ["tests"' in settings


def test_reproduce_tells_verdicts(folder, run):
    code, out, _ = run("reproduce", "examples", "-o", "paper", "--jobs", "1", "--json")
    assert code == 0
    assert {row["verdict"] for row in json.loads(out)["examples"]["rows"]} == {"holds", "corrected"}
    code, out, _ = run("reproduce", "examples", "-o", "paper")  # read, not run again
    assert code == 0
    assert "corrected" in out
    code, _, err = run("reproduce", "nonsense")
    assert code == 1
    assert "choose among all, examples, noise" in err
