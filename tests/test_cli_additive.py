"""What commands say and write for additive models, classes and tables that teach little."""

from __future__ import annotations

import csv

import numpy as np
import pytest

import choquet
from tests.commands import NAMES, as_text, runner, sample, write


@pytest.fixture
def run(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return runner(capsys)


def columns(text):
    rows = list(csv.DictReader(text.splitlines()))
    return {name: np.array([float(row[name]) for row in rows]) for name in rows[0]}


# -- limits ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("learner", ["additive", "choquet"])
def test_limits_of_a_new_target_are_wider_and_are_those_of_python(learner, run):
    pd = pytest.importorskip("pandas")
    X, y = sample(40)
    write("t.csv", as_text(X, y))
    run("fit", "t.csv", "--learner", learner, "--folds", "0", "-o", "m.json")
    mean = columns(run("predict", "m.json", "t.csv").out)
    new = columns(run("predict", "m.json", "t.csv", "--noise", "--level", "0.8").out)
    assert set(mean) == set(new) >= {"prediction", "low", "high", "level"}
    assert (mean["level"] == 0.95).all()
    assert (new["level"] == 0.8).all()
    frame = pd.DataFrame(X, columns=NAMES)
    expected = choquet.load("m.json").predict_interval(frame, level=0.8, noise=True)
    np.testing.assert_allclose(np.column_stack([new["low"], new["high"]]), expected, atol=1e-9)
    wide = columns(run("predict", "m.json", "t.csv", "--noise").out)
    assert (wide["high"] - wide["low"] > mean["high"] - mean["low"]).all()
    assert "low" not in columns(run("predict", "m.json", "t.csv", "--no-intervals").out)


def test_noise_is_refused_where_there_are_no_limits(run):
    X, y = sample(40)
    write("t.csv", as_text(X, np.where(y > 0.5, "mine", "clutter")))
    run("fit", "t.csv", "--learner", "additive", "--folds", "0", "-o", "m.json")
    assert "this model has none" in run("predict", "m.json", "t.csv", "--noise", code=1).err
    write("u.csv", as_text(X, y))
    run("fit", "u.csv", "--folds", "0", "-o", "r.json")
    err = run("predict", "r.json", "u.csv", "--noise", "--no-intervals", code=1).err
    assert "--no-intervals asks for none" in err
    assert "limits of the output without noise" in " ".join(run("predict", "-h").out.split())


# -- classes ---------------------------------------------------------------------------------------


def test_a_target_of_zeros_and_ones_is_pointed_to_classes(run):
    X, y = sample(40)
    write("t.csv", as_text(X, (y > 0.5).astype(int)))
    words = ("fit", "t.csv", "--folds", "0", "-o", "m.json", "--force", "--learner")
    assert "use --learner additive-classifier" in run(*words, "additive").err
    assert "additive-classifier" not in run(*words, "additive-classifier").err


def test_log_loss_and_the_rarest_class_are_told(run):
    X, y = sample(60)
    labels = np.where(y > np.quantile(y, 0.85), "mine", "clutter")
    write("t.csv", as_text(X, labels))
    words = ("fit", "t.csv", "--learner", "classifier", "--folds", "2", "--force", "-o", "m.json")
    told = run(*words, "--json").json()["held_out"]
    out = run(*words).out
    assert f"Log-loss there, less is better: {told['scores']['model']['log_loss']:.3f};" in out
    share = told["scores"]["model"]["rarest_right"]
    assert f"Of the rows of the rarest class, mine, {100 * share:.1f} % are found." in out
    write("u.csv", as_text(X, np.where(y > np.median(y), "mine", "clutter")))
    assert "rarest" not in run(*words[:1], "u.csv", *words[2:]).out


def test_levels_are_learned_by_an_additive_model(run):
    X, y = sample(60)
    write("t.csv", as_text(X, np.digitize(y, [0.5, 0.7]) + 1))
    for learner in ("additive", "additive-classifier"):
        words = ("--learner", learner, "--ordinal", "--folds", "0", "-o", f"{learner}.json")
        assert "Levels, lowest first: 1, 2, 3." in run("fit", "t.csv", *words).out
        model = choquet.load(f"{learner}.json")
        assert isinstance(model, choquet.ChoquetAdditiveClassifier)
        assert model.ordered


# -- missing values --------------------------------------------------------------------------------


def test_keeping_rows_that_lack_a_value_is_named_and_remembered(run):
    X, y = sample(40)
    whole = as_text(X, y)
    write("t.csv", whole + "0.1,,0.2,0.3\n0.4,,0.2,0.3\n0.5,,0.2,0.3\n")
    words = ("fit", "t.csv", "--learner", "additive", "--folds", "0", "-o", "m.json")
    assert "pass --missing keep" in run(*words, code=1).err
    assert "pass --missing keep" not in run("fit", "t.csv", "-o", "m.json", code=1).err
    run(*words, "--missing", "keep")
    assert len(columns(run("predict", "m.json", "t.csv").out)["prediction"]) == 43
    write("u.csv", whole)
    run("fit", "u.csv", *words[2:], "--force")
    assert "pass --missing keep" in run("predict", "m.json", "t.csv", code=1).err
    assert len(columns(run("predict", "m.json", "t.csv", "--missing", "keep").out)["low"]) == 43


# -- tables that teach little ----------------------------------------------------------------------


def test_a_fit_that_is_worse_than_the_mean_is_told_without_folds(run):
    X = np.array([[0.9, 0.9], [0.8, 0.9], [0.1, 0.2], [0.9, 0.2], [0.2, 0.9]])
    write("t.csv", as_text(X, [0.1, 0.12, 0.09, 0.1, 0.11], names=("a", "b", "y")))
    words = ("fit", "t.csv", "--directions", "higher", "--folds", "0", "--force", "-o", "m.json")
    assert "worse than" not in run(*words).err  # the scale of the target is learned
    err = run(*words, "--scaling", "none").err
    assert "worse than always answering the mean: rows are few" in err
    assert "choquet.Commensurate" not in err


def test_advice_on_scales_is_given_where_scales_differ():
    from choquet.scales import fit_warnings

    X = np.array([[0.9, 0.9], [0.8, 0.9], [0.1, 0.2]])
    told = fit_warnings(X, np.array([0.1, 0.2, 0.3]), 2.0, 1.0, ["a", "b"], monotone=False)
    assert "rows are few" in told[0]
    told = fit_warnings(9 * X, np.array([0.1, 0.2, 0.3]), 2.0, 1.0, ["a", "b"], monotone=False)
    assert "Commensurate" in told[0]


def test_a_target_that_never_changes_has_no_r2(run):
    X, _ = sample(20)
    write("t.csv", as_text(X, [0.5] * 20))
    done = run("fit", "t.csv", "-o", "m.json")
    assert "'truth' is the same in all rows" in done.out
    assert "nan" not in done.out


def test_one_is_singular(run):
    write("t.csv", "a,y\n0.1,0.2\n")
    assert "2 columns, 1 complete row\n" in run("inspect", "t.csv").out
    X, y = sample(20)
    write("u.csv", as_text(X[:, :1], y, names=("a", "y")))
    assert "from 1 source and 20 rows" in run("fit", "u.csv", "-o", "m.json").out


@pytest.mark.parametrize("learner", ["choquet", "additive", "auto"])
def test_row_numbers_copies_and_the_target_itself_are_named_once(learner, run):
    X, y = sample(30)
    table = np.column_stack([np.arange(1000, 1030), X[:, 0], X[:, 0], 2 * y + 3, X[:, 1]])
    write("t.csv", as_text(table, y, names=("id", "a", "again", "twice", "b", "y")))
    words = ("--learner", learner, "--folds", "2" if learner == "auto" else "0", "-o", "m.json")
    err = run("fit", "t.csv", *words).err
    assert err.count("'id' only counts the rows; keep the others with --sources a,again") == 1
    assert err.count("'again' is a copy of 'a'; one of them is enough") == 1
    assert err.count("'twice' gives 'y' exactly; leave it out if it is known only") == 1
    assert err.count("exactly") == err.count("copy") == 1


def test_rows_that_come_several_times_are_told(run):
    X, y = sample(30)
    write("t.csv", as_text(np.tile(X, (3, 1)), np.tile(y, 3)))
    told = "every row comes 3 times or more, and intervals take each"
    assert told in run("fit", "t.csv", "--folds", "0", "-o", "m.json").err
    write("u.csv", as_text(np.vstack([X, X[:5]]), np.append(y, y[:5])))
    assert "every row comes" not in run("fit", "u.csv", "--folds", "0", "-o", "n.json").err


def test_rows_that_are_few_for_a_measure_are_told(run):
    rng = np.random.default_rng(0)
    X = rng.random((80, 7))
    y = np.sort(X, axis=1)[:, 4] + 0.1 * rng.standard_normal(80)
    names = (*"abcdefg", "y")
    write("few.csv", as_text(X, y, names=names))
    told = "so these rows are few for a whole measure; --learner cv reckons with"
    assert told in run("fit", "few.csv", "-o", "m.json").err
    assert told not in run("fit", "few.csv", "--learner", "cv", "-o", "n.json").err
    X = rng.random((600, 2))
    write("many.csv", as_text(X, X.mean(axis=1) + 0.1 * rng.random(600), names=("a", "b", "y")))
    assert told not in run("fit", "many.csv", "-o", "o.json").err


def test_a_column_that_tells_the_class_is_named(run):
    X, y = sample(30)
    table = np.column_stack([X[:, :2], np.where(y > 0.6, 7, 3)])
    labels = np.where(y > 0.6, "mine", "clutter")
    write("t.csv", as_text(table, labels, names=("a", "b", "code", "y")))
    err = run("fit", "t.csv", "--learner", "classifier", "--folds", "0", "-o", "m.json").err
    assert "'code' gives 'y' exactly" in err
    assert "'a' gives" not in err


def test_missing_values_in_python_are_told_with_a_way_out():
    with pytest.raises(choquet.errors.DataError, match='or use missing="present"') as told:
        choquet.ChoquetRegressor().fit([[0.1, np.nan], [0.2, 0.3]], [0.2, 0.3])
    assert "contains NaN" in str(told.value)
    assert "HistGradient" not in str(told.value)
