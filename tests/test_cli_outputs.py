"""What commands write: the library's answers, whole files, one JSON document, the same bytes."""

from __future__ import annotations

import csv
import io
import json
import os
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import choquet
from tests.commands import NAMES, as_text, runner, sample, write

REGRESSORS = {
    "choquet": "ChoquetRegressor",
    "cv": "ChoquetRegressorCV",
    "owa": "OWARegressor",
    "linear": "LinearConvexSumRegressor",
    "lambda": "LambdaRegressor",
    "contextual": "ContextualRegressor",
}
COMMANDS = ["demo", "fit", "predict", "explain", "decompose", "report", "compare", "inspect"]


@pytest.fixture
def run(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write("t.csv", as_text(*sample()))
    return runner(capsys)


@pytest.fixture
def model(run):
    """A fitted model in model.json, and its decomposition in parts.json."""
    run("fit", "t.csv", "-o", "model.json")
    run("decompose", "model.json", "-o", "parts.json")
    return choquet.load("model.json")


def named(X):
    """Rows with the names of the columns: files remember them."""
    return pd.DataFrame(X, columns=list(NAMES))


def table_of(text):
    return list(csv.DictReader(io.StringIO(text)))


# -- the library's own answers ---------------------------------------------------------------------


@pytest.mark.parametrize("learner", REGRESSORS)
def test_fit_is_the_estimator(learner, run):
    X, y = sample()
    run("fit", "t.csv", "--learner", learner, "-o", "m.json")
    own = getattr(choquet, REGRESSORS[learner])()
    if "random_state" in own.get_params():
        own.set_params(random_state=0)  # commands give the same answer every time
    own.fit(X, y)
    np.testing.assert_allclose(choquet.load("m.json").predict(named(X)), own.predict(X), atol=1e-9)


@pytest.mark.parametrize(
    ("words", "options"),
    [
        (["--no-monotone"], {"monotone": False}),
        (["--no-normal", "--fit-intercept"], {"normal": False, "fit_intercept": True}),
        (["--penalty", "l2", "--alpha", "0.5"], {"penalty": "l2", "alpha": 0.5}),
        (["--prior", "additive", "--prior-alpha", "3"],
         {"prior": "additive", "prior_alpha": 3.0}),
        (["--k-additive", "2"], {"k_additive": 2}),
        (["--fill", "lower"], {"fill": "lower"}),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)  # fmt: skip
def test_options_are_those_of_the_estimator(words, options, run):
    X, y = sample()
    run("fit", "t.csv", "-o", "m.json", *words)
    own = choquet.ChoquetRegressor(**options).fit(X, y)
    np.testing.assert_allclose(choquet.load("m.json").predict(named(X)), own.predict(X), atol=1e-9)


def test_predictions_have_all_their_digits(run, model):
    X, _ = sample()
    rows = table_of(run("predict", "model.json", "t.csv").out)
    found = np.array([float(row["prediction"]) for row in rows])
    np.testing.assert_array_equal(found, model.predict(named(X)))
    as_json = run("predict", "model.json", "t.csv", "--json").json()
    np.testing.assert_array_equal([row["prediction"] for row in as_json], model.predict(named(X)))


def test_predictions_lie_in_their_intervals(run, model):
    rng = np.random.default_rng(5)
    write("new.csv", as_text(rng.random((40, 3))))
    rows = run("predict", "model.json", "new.csv", "--json").json()
    assert len(rows) == 40
    for row in rows:
        numbers = [value for name, value in row.items() if name != "prediction"]
        assert all(isinstance(value, int | float) for value in numbers)
        assert row["low"] - 1e-9 <= row["prediction"] <= row["high"] + 1e-9


def test_a_decomposition_predicts_like_the_one_of_the_library(run, model):
    X, _ = sample()
    parts = choquet.load("parts.json")
    rows = run("predict", "parts.json", "t.csv", "--json").json()
    np.testing.assert_array_equal([row["prediction"] for row in rows], parts.predict(named(X)))


def test_operators_of_the_command_are_those_of_the_file(run, model):
    told = run("decompose", "model.json", "--json").json()
    parts = choquet.load("parts.json")
    assert [one["name"] for one in told["operators"]] == list(parts.operator_names)
    assert sum(one["share"] for one in told["operators"]) == pytest.approx(1)
    for one, operator in zip(told["operators"], parts.operators, strict=True):
        np.testing.assert_allclose(one["weights"], operator.weights)


def test_fewer_operators_where_a_larger_error_is_allowed(run, model):
    counts = [
        len(run("decompose", "model.json", "--max-error", error, "--json").json()["operators"])
        for error in (0.001, 0.1, 1)
    ]
    assert counts == sorted(counts, reverse=True)
    assert counts[-1] == 1


def test_a_model_compared_with_itself_differs_in_nothing(run, model):
    Path("copy.json").write_bytes(Path("model.json").read_bytes())
    told = run("compare", "model.json", "copy.json", "--json").json()
    assert told["names"] == ["model", "copy"]
    np.testing.assert_allclose(told["measures"], 0, atol=1e-12)
    assert told["matches"][0] == told["matches"][1]


@pytest.mark.parametrize("scaling", ["minmax", "standard"])
def test_units_come_back(scaling, run):
    X, y = sample()
    write("units.csv", as_text(50 * X + 7, 1000 * y - 30))
    words = ["--no-normal", "--no-monotone"] if scaling == "standard" else []
    run("fit", "units.csv", "-o", "m.json", "--scaling", scaling, *words)
    found = choquet.load("m.json").predict(named(50 * X + 7))
    assert np.abs(found - (1000 * y - 30)).max() < 200
    assert np.corrcoef(found, y)[0, 1] > 0.95


# -- classes ---------------------------------------------------------------------------------------


@pytest.fixture(params=["classifier", "contextual-classifier"])
def classified(request, run):
    X, y = sample(90)
    labels = np.array(["low", "mid", "top"])[np.digitize(y, [0.4, 0.7])]
    write("c.csv", as_text(X, labels))
    run("fit", "c.csv", "--learner", request.param, "-o", "c.json")
    return labels


def test_probabilities_sum_to_one_and_choose_the_class(classified, run):
    rows = table_of(run("predict", "c.json", "c.csv").out)
    assert list(rows[0]) == ["prediction", "p(low)", "p(mid)", "p(top)"]
    for row in rows:
        shares = {name: float(row[f"p({name})"]) for name in ("low", "mid", "top")}
        assert sum(shares.values()) == pytest.approx(1)
        assert row["prediction"] == max(shares, key=lambda name: shares[name])
    right = [row["prediction"] == label for row, label in zip(rows, classified, strict=True)]
    assert np.mean(right) > 0.6


def test_commands_ask_for_a_class_that_is_there(classified, run):
    for command in ("explain", "decompose"):
        assert "top" in run(command, "c.json", "--class", "top").out
        assert "'none'" in run(command, "c.json", "--class", "none", code=1).err


# -- one JSON document -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "words",
    [
        ["fit", "t.csv", "-o", "other.json"],
        ["predict", "model.json", "t.csv"],
        ["predict", "parts.json", "t.csv"],
        ["explain", "model.json"],
        ["explain", "model.json", "t.csv", "--row", "2", "--row", "5"],
        ["explain", "parts.json"],
        ["decompose", "model.json"],
        ["decompose", "model.json", "--all-walks", "--method", "distinct"],
        ["report", "model.json", "t.csv", "-o", "r.html"],
        ["compare", "model.json", "parts.json"],
        ["inspect", "model.json"],
        ["inspect", "parts.json"],
        ["inspect", "t.csv"],
    ],
    ids=" ".join,
)
def test_json_is_one_document_without_nan(words, run, model):
    done = run(*words, "--json")
    assert done.json()
    assert done.err == ""


def test_explained_rows_are_those_that_were_asked_for(run, model):
    told = run("explain", "model.json", "t.csv", "--row", "7", "--row", "2", "--json").json()
    X, _ = sample()
    assert [one["row"] for one in told] == [7, 2]
    expected = model.predict(named(X[[6, 1]]))
    np.testing.assert_allclose([one["prediction"] for one in told], expected)


# -- files whole or not at all ---------------------------------------------------------------------

WRITERS = [
    ["fit", "t.csv", "-o", "out.json"],
    ["predict", "model.json", "t.csv", "-o", "out.json"],
    ["decompose", "model.json", "-o", "out.json"],
    ["report", "model.json", "-o", "out.json"],
]


@pytest.mark.parametrize("words", WRITERS, ids=lambda words: words[0])
def test_a_file_is_replaced_only_by_force(words, run, model):
    Path("out.json").write_text("mine")
    assert "--force" in run(*words, code=1).err
    assert Path("out.json").read_text() == "mine"
    run(*words, "--force")
    assert Path("out.json").read_text() != "mine"
    assert not [name for name in os.listdir() if "tmp" in name.lower()]


@pytest.mark.parametrize("words", WRITERS, ids=lambda words: words[0])
def test_the_same_command_writes_the_same_bytes(words, run, model):
    found = []
    for _ in range(2):
        run(*words, "--force")
        found.append(Path("out.json").read_bytes())
    assert found[0] == found[1]


@pytest.mark.parametrize("words", WRITERS, ids=lambda words: words[0])
def test_a_folder_that_is_not_there_is_said_before_the_work(words, run, model):
    words = [word.replace("out.json", "no/such/out.json") for word in words]
    before = sorted(os.listdir())
    assert "no" in run(*words, code=1).err
    assert sorted(os.listdir()) == before


def test_reports_are_of_the_kind_that_the_name_says(run, model):
    for name, start in (("r.html", "<!doctype html>"), ("r.md", "#"), ("r.json", "{")):
        run("report", "model.json", "t.csv", "-o", name, "--title", "Three sensors")
        text = Path(name).read_text()
        assert text.lower().startswith(start)
        assert "Three sensors" in text
    page = Path("r.html").read_text()
    assert not re.search(r"""(?:src|href)=["']?(?:https?:)?//""", page)  # opens without a network
    json.loads(Path("r.json").read_text())


# -- help and errors -------------------------------------------------------------------------------


@pytest.mark.parametrize("command", COMMANDS)
def test_help_says_what_a_command_does_and_takes(command, run):
    done = run(command, "--help")
    assert done.err == ""
    assert f"choquet {command}" in done.out
    assert "--help" in done.out
    assert run(command, "-h").out == done.out


@pytest.mark.parametrize("command", COMMANDS)
def test_an_option_that_is_not_there_is_one_line(command, run):
    done = run(command, "--no-such-option", code=2)
    assert done.out == ""
    assert done.err.count("\n") == 1
    assert f"choquet {command} --help" in done.err


def test_version(run):
    assert run("--version").out.split() == ["choquet", choquet.__version__]


@pytest.mark.parametrize("row", ["0", "-3"])
def test_rows_are_counted_from_one(row, run, model):
    assert "counted from 1" in run("explain", "model.json", "t.csv", "--row", row, code=1).err


@pytest.mark.parametrize("content", ["", "{}", "[1, 2]", "null", '{"format": 1}', "model"])
def test_files_that_are_no_models(content, run):
    Path("bad.json").write_text(content)
    for words in (["predict", "bad.json", "t.csv"], ["decompose", "bad.json"]):
        done = run(*words, code=1)
        assert "bad.json" in done.err
        assert done.err.count("\n") == 1


def test_explanations_name_every_source_of_a_small_model(run, model):
    text = run("explain", "model.json").out + run("explain", "model.json", "t.csv").out
    assert all(name in text for name in NAMES)


def test_rows_outside_of_the_range_learned_from_are_told(run):
    X, y = sample()
    write("t.csv", as_text(10 * X, y))
    run("fit", "t.csv", "-o", "m.json")
    assert "outside" not in run("predict", "m.json", "t.csv").err
    X[:2, 1] = [3.0, -2.0]
    write("new.csv", as_text(10 * X))
    err = run("predict", "m.json", "new.csv").err
    assert "2 rows hold values outside of the range" in err
    assert "ir (" in err
    assert "gpr (" not in err
