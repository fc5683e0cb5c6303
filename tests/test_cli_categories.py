"""Columns of words on the command line: categories of additive models, from `fit` to `export`."""

from __future__ import annotations

import csv
import io
import json
import sqlite3
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import choquet
from tests.commands import runner

SIZES = ["small", "medium", "large"]


@pytest.fixture
def run(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return runner(capsys)


def houses(n=150, seed=1):
    """Prices that depend on an area, on words without an order, and on words with one."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "area": rng.uniform(40, 200, n).round(1),
            "fuel": rng.choice(["gas", "oil", "wood"], n),
            "size": rng.choice(SIZES, n),
            "district": rng.choice([11, 12, 13], n),
        }
    )
    gain = frame["fuel"].map({"gas": 0.0, "oil": 3.0, "wood": -2.0})
    place = frame["size"].map({name: 4.0 * k for k, name in enumerate(SIZES)})
    noise = 0.3 * rng.standard_normal(n)
    frame["price"] = (0.05 * frame["area"] + gain + place + noise).round(3)
    return frame


@pytest.fixture
def table(run):
    frame = houses()
    frame.to_csv("houses.csv", index=False)
    return frame


def learned(run, *words, file="houses.csv"):
    done = run("fit", file, "--learner", "additive", "-o", "m.json", "--force", *words)
    return choquet.load("m.json"), done


def answers(done):
    rows = list(csv.DictReader(io.StringIO(done.out)))
    return np.array([float(row["prediction"]) for row in rows])


def test_words_are_categories_and_answers_are_those_of_python(run, table):
    model, done = learned(run)
    assert "Categories: fuel, size." in done.out
    X = table.drop(columns="price")
    python = choquet.ChoquetAdditiveRegressor(categories={"fuel": "nominal", "size": "nominal"})
    expected = python.fit(X, table["price"]).predict(X)
    np.testing.assert_allclose(answers(run("predict", "m.json", "houses.csv")), expected)
    np.testing.assert_allclose(model.predict(X), expected)


def test_levels_from_low_to_high_are_ordered(run, table):
    model, done = learned(run, "--levels", "size = small < medium < large")
    assert "size (small < medium < large)" in done.out
    kinds = {one.name: (one.kind, one.levels) for one in model.columns_}
    assert kinds["size"] == ("ordered", tuple(SIZES))
    assert kinds["fuel"] == ("nominal", ("gas", "oil", "wood"))
    X = table.drop(columns="price")
    said = {"fuel": "nominal", "size": SIZES}
    expected = choquet.ChoquetAdditiveRegressor(categories=said).fit(X, table["price"]).predict(X)
    np.testing.assert_allclose(answers(run("predict", "m.json", "houses.csv")), expected)


def test_numbers_can_be_categories(run, table):
    model, _ = learned(run, "--categories", "district")
    assert [one.levels for one in model.columns_ if one.name == "district"] == [(11, 12, 13)]
    assert answers(run("predict", "m.json", "houses.csv")).shape == (len(table),)


def test_true_and_false_are_words(run, table):
    X = table.drop(columns="price").assign(new=np.arange(len(table)) % 3 == 0)
    model = choquet.ChoquetAdditiveRegressor(categories={"new": "nominal"})
    expected = model.fit(X, table["price"] + 2 * X["new"]).predict(X)
    choquet.save(model, "b.json")
    X.to_csv("b.csv", index=False)
    np.testing.assert_allclose(answers(run("predict", "b.json", "b.csv")), expected)


def test_monotone_models_leave_words_without_an_order_free(run, table):
    model, _ = learned(run, "--levels", "size=small<medium<large", "--monotone")
    rising = table.drop(columns="price").head(20)
    least = model.predict(rising.assign(size="small", area=50.0))
    most = model.predict(rising.assign(size="large", area=50.0))
    assert (most >= least - 1e-9).all()
    assert model.proof_.least_rise >= -1e-9


def test_a_word_that_was_never_seen_has_a_wider_band(run, table):
    learned(run)
    head = ["area", "fuel", "size", "district"]
    rows = pd.DataFrame([[100.0, "gas", "small", 12], [100.0, "solar", "small", 12]], columns=head)
    rows.to_csv("new.csv", index=False)
    told = run("predict", "m.json", "new.csv", "--json")
    assert "1 row holds values unlike those learned from: fuel (such as 'solar')" in told.err
    done = told.json()
    widths = [row["high"] - row["low"] for row in done]
    assert widths[1] > 2 * widths[0]
    said = "fuel is left out, because this value of fuel was never seen."
    assert said in run("explain", "m.json", "new.csv", "--row", "2").out
    assert "fuel is gas" in run("explain", "m.json", "new.csv", "--row", "1").out


def test_numbers_outside_of_those_learned_from_are_noted(run, table):
    learned(run, "--max-order", "1")
    rows = table.drop(columns="price").head(3)
    rows.to_csv("new.csv", index=False)
    assert "unlike" not in run("predict", "m.json", "new.csv").err
    rows.assign(area=[900.0, 100.0, 901.0]).to_csv("new.csv", index=False)
    err = run("predict", "m.json", "new.csv").err
    assert "note: 2 rows hold values unlike those learned from: area (learned: 4" in err


def test_a_missing_word_is_an_error_or_dropped_or_kept(run, table):
    table.loc[[3, 5], "fuel"] = None
    table.to_csv("gaps.csv", index=False)
    words = ("fit", "gaps.csv", "--learner", "additive", "-o", "m.json", "--force")
    err = run(*words, code=1).err
    assert "line 5" in err
    assert "'fuel'" in err
    assert f"{len(table) - 2} rows (2 dropped)" in run(*words, "--missing", "drop").out
    assert f"{len(table)} rows" in run(*words, "--missing", "keep").out
    kept = choquet.load("m.json")
    expected = kept.predict(table.drop(columns="price"))
    found = answers(run("predict", "m.json", "gaps.csv", "--missing", "keep"))
    np.testing.assert_allclose(found, expected)


def test_auto_tries_the_learners_that_take_words(run, table):
    done = run("fit", "houses.csv", "--learner", "auto", "-o", "m.json", "--json").json()
    assert {one["learner"] for one in done["tried"]} == {"additive"}
    assert done["categories"] == {"fuel": "nominal", "size": "nominal"}


def test_classes_are_learned_from_words(run, table):
    table["price"] = np.where(table["price"] > table["price"].median(), "dear", "cheap")
    table.to_csv("houses.csv", index=False)
    done = run("fit", "houses.csv", "--learner", "additive", "-o", "m.json", "--json").json()
    assert done["held_out"]["model"] < 0.2 < done["held_out"]["mean"]
    assert done["held_out"]["linear"] < 0.2  # it is given one column for each word


def test_reports_and_exports_take_words(run, table):
    learned(run)
    report = run("report", "m.json", "houses.csv", "-o", "r.md")
    assert "r.md" in report.out
    assert run("report", "m.json", "houses.csv", "-o", "r.html").code == 0
    query = run("export", "m.json", "--to", "sql", "-o", "-").out
    with sqlite3.connect(":memory:") as base:
        table.drop(columns="price").to_sql("data", base, index=False)
        found = pd.read_sql_query(query, base)["output"]
    expected = answers(run("predict", "m.json", "houses.csv"))
    np.testing.assert_allclose(found, expected, rtol=1e-9)


def test_parquet_gives_the_same(run, table):
    pytest.importorskip("pyarrow")
    table.to_parquet("houses.parquet")
    model, _ = learned(run)
    again, _ = learned(run, file="houses.parquet")
    X = table.drop(columns="price")
    np.testing.assert_array_equal(model.predict(X), again.predict(X))
    np.testing.assert_allclose(
        answers(run("predict", "m.json", "houses.parquet")), model.predict(X)
    )


def test_names_of_rows_are_left_out(run, table):
    table.insert(0, "owner", [f"owner {k}" for k in range(len(table))])
    table.to_csv("named.csv", index=False)
    model, done = learned(run, file="named.csv")
    assert "'owner'" in done.err
    assert "left out" in done.err
    assert [one.name for one in model.columns_] == ["area", "fuel", "size", "district"]


def test_a_slip_in_a_column_of_numbers_is_no_category(run, table):
    table = table.astype({"area": object})
    table.loc[7, "area"] = "12o"
    table.to_csv("slip.csv", index=False)
    words = ("fit", "slip.csv", "--learner", "additive", "-o", "m.json")
    err = run(*words, code=1).err
    assert "line 9, column 'area': '12o' is not a number" in err
    assert "--categories area" in err
    run(*words, "--categories", "area")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--learner", "choquet"], "--learner additive, which takes categories"),
        (["--learner", "choquet", "--levels", "size=small<large"], "need --learner additive"),
        (["--learner", "additive", "--levels", "size"], "from low to high"),
        (["--learner", "additive", "--levels", "size=small<small"], "from low to high"),
        (["--learner", "additive", "--levels", "size=small<large"], "holds 'medium'"),
        (["--learner", "additive", "--categories", "colour"], "is no source"),
    ],
)
def test_what_cannot_be_done_is_said(words, said, run, table):
    assert said in run("fit", "houses.csv", "-o", "m.json", *words, code=1).err


def test_a_report_tries_the_model_on_all_rows_that_it_learned_from(run, table):
    """Rows that lack a word are among them; and a part of them is not called new without a word."""
    table.loc[[3, 5], "fuel"] = None
    table.to_csv("gaps.csv", index=False)
    table.head(50).to_csv("part.csv", index=False)
    words = ("--learner", "additive", "--missing", "keep", "-o", "m.json", "--json")
    told = run("fit", "gaps.csv", *words).json()["held_out"]["model"]
    run("report", "m.json", "gaps.csv", "-o", "r.json")
    quality = json.loads(Path("r.json").read_text())["first"]["quality"]
    assert quality["folds"] == 5
    assert quality["rows"][0]["error"] == pytest.approx(told)
    run("report", "m.json", "part.csv", "-o", "p.json")
    how = json.loads(Path("p.json").read_text())["first"]["quality"]["how"]
    assert "taken as new. If the model learned from some of them, it looks better" in how
