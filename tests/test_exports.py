"""Exported models are run in their languages, and give what Python gives."""

from __future__ import annotations

import json
import math
import shutil
import subprocess
import warnings
from functools import cache

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression

import choquet
from choquet import ChoquetRegressor
from choquet.errors import (
    ChoquetWarning,
    FileError,
    MissingDependencyError,
    OptionError,
    TooLargeError,
)
from choquet.explanation import view_of
from choquet.exports import TARGETS, plan_of
from choquet.exports.export import exported
from tests import fitted, running
from tests.commands import runner

LANGUAGES = ("sqlite", "duckdb", "postgres", "node", "c", "onnx")


@pytest.fixture(scope="module")
def server():
    with running.postgres_server() as address:
        yield address


@pytest.fixture
def postgres(request):
    """A server, made when a test first needs it."""
    return lambda: request.getfixturevalue("server")


def once(function):
    """Remember answers by the model itself: measures are compared by value, and have no hash."""
    kept = {}

    def work(model, *rest):
        key = (id(model), *rest)
        if key not in kept:
            kept[key] = model, function(model, *rest)
        return kept[key][1]

    return work


@once
def written(model, to, table):
    """What `export` writes, and its plan."""
    target = TARGETS[to]
    plan = plan_of(viewed(model), arrays=target.arrays)
    return target.write(plan, **({"table": table} if to == "sql" else {})), plan


@once
def viewed(model):
    """A measure as its view, so that it is taken apart once and not for each language."""
    return view_of(model) if isinstance(model, choquet.AbstractMeasure) else model


@pytest.fixture(params=LANGUAGES)
def run(request, tmp_path, postgres):
    """A function from a model and rows to what its export gives."""
    language = request.param

    def work(model, rows, *, table="data", codes=None):
        to = {"node": "js", "c": "c", "onnx": "onnx"}.get(language, "sql")
        path = tmp_path / f"model{TARGETS[to].suffix}"
        content, plan = written(model, to, table)
        path.write_bytes(content)
        names = [column.name for column in plan.columns]
        numbers = rows if codes is None else codes
        if language == "node":
            return running.in_node(path, running.cells(rows))
        if language == "c":
            return running.in_c(path, numbers, len(plan.classes) if "p0" in plan.outputs else 0)
        if language == "onnx":
            return running.in_onnx(path, numbers)
        text = path.read_text(encoding="utf-8")
        if language == "postgres":
            return running.in_postgres(postgres(), text, names, running.cells(rows), table)
        base = {"sqlite": running.in_sqlite, "duckdb": running.in_duckdb}[language]
        return base(text, names, running.cells(rows), table)

    work.language = language
    return work


def some_rows(n_sources, unit=1.0, offset=0.0):
    """Random rows, ties, near ties, extreme values, and missing ones."""
    rng = np.random.default_rng(n_sources)
    X = rng.random((40, n_sources))
    X[:8] = np.round(X[:8], 1)
    X[8], X[9], X[10] = 0.5, 0.0, [0.1 * 3, *[0.3] * (n_sources - 1)]
    X[11, 0], X[12, -1], X[13] = 1e150, -1e120, -3.0
    X[14, 0], X[15, -1] = 1e-300, -1e-9
    tenths = rng.integers(-2, 5, (16, n_sources))
    X[20:36] = np.where(rng.random(tenths.shape) < 0.5, tenths * 0.1, tenths / 10)
    X[36] = 0.3 + np.arange(n_sources)[::-1] * 10 * np.spacing(0.3)
    X = X * unit + offset
    X[16, 0], X[17, -1] = np.nan, np.inf
    return X


def same(found, wanted, X):
    """Equal to 1e-9 of the size of a row, and no answer where a value is missing."""
    whole = np.isfinite(X).all(axis=1)
    size = np.maximum(1.0, np.abs(X[whole]).max(axis=1))
    for name, values in wanted(X[whole]).items():
        away = np.abs(found[name][whole] - values) / size
        assert away.max() <= 1e-9, (name, np.flatnonzero(away > 1e-9))
    assert np.isnan(found["output"][~whole]).all()
    assert (np.nan_to_num(found["operator"][~whole], nan=-1) == -1).all()
    assert (found["supported"][~whole] == 0).all()


@once
def parts_of(model):
    return view_of(viewed(model)).parts


def wanted_of(model, answers):
    """Columns of answers, from Python."""
    parts = parts_of(model)

    def wanted(X):
        known = parts.assess(X)
        found = {
            "output": answers(X),
            "operator": parts.operator_of(X),
            "supported": known.supported,
        }
        has_odds = hasattr(model, "predict_proba")
        if np.isfinite(known.interval).all() and parts.support is not None and not has_odds:
            found |= {"low": known.interval[:, 0], "high": known.interval[:, 1]}
        return found

    return wanted


def predicted(model):
    def answers(X):
        if hasattr(model, "feature_names_in_"):
            X = pd.DataFrame(X, columns=model.feature_names_in_)
        found = (
            model.predict_proba(X)[:, 1] if hasattr(model, "predict_proba") else model.predict(X)
        )
        return np.asarray(found, dtype=float)

    return answers


@cache
def few_rows():
    """A regressor whose data leave most subsets open: support and intervals matter."""
    rng = np.random.default_rng(3)
    X = rng.random((12, 4))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = choquet.InUnits(
            choquet.ChoquetRegressor(),
            scale=choquet.Commensurate(directions={1: "lower", 2: 30.0}, method="quantiles"),
        )
        return model.fit(X * 50 + 3, X.max(axis=1) * 7 - 2)


@cache
def clustered():
    support = choquet.DataSupport.from_data(np.random.default_rng(0).random((15, 5)))
    return choquet.decompose(choquet.Measure.random(5, rng=0), support=support, method="clodd")


@cache
def with_thresholds():
    rng = np.random.default_rng(0)
    X = rng.random((300, 4))
    y = np.where(X[:, 0] > 0.5, X.max(axis=1), X.min(axis=1))
    return choquet.ContextualRegressor(n_cuts=8, random_state=0, prune="bic").fit(X, y)


MODELS = {
    "median": (lambda: fitted.thing("measure"), "integral"),
    "measure": (lambda: choquet.Measure.random(6, rng=1), "integral"),
    "one source": (lambda: choquet.Measure([0, 1]), "integral"),
    "not monotone": (
        lambda: choquet.Measure([0, 3, -1, 0.5], monotone=False, normal=False), "integral"
    ),
    "supported measure": (lambda: fitted.thing("supported measure"), "integral"),
    "regressor": (lambda: fitted.thing("choquet"), "predict"),
    "2-additive": (lambda: fitted.thing("2-additive"), "predict"),
    "pipeline": (lambda: fitted.thing("pipeline"), "predict"),
    "in units, few rows": (few_rows, "predict"),
    "decomposition": (lambda: choquet.decompose(choquet.Measure.random(5, rng=2)), "predict"),
    "clusters": (clustered, "predict"),
    "contextual": (lambda: fitted.thing("contextual"), "predict"),
    "thresholds": (with_thresholds, "predict"),
    "classifier": (lambda: fitted.thing("classifier"), "predict"),
    "contextual classifier": (lambda: fitted.thing("contextual classifier"), "predict"),
}  # fmt: skip


@cache
def made(name):
    make, how = MODELS[name]
    model = make()
    if how == "integral":
        return model, lambda X: choquet.choquet_integral(model, X)
    return model, predicted(model)


@pytest.mark.parametrize("name", MODELS)
def test_exports_give_what_python_gives(name, run):
    model, answers = made(name)
    units = (50.0, 3.0) if "units" in name else (1.0, 0.0)
    X = some_rows(len(parts_of(model).sources), *units)
    same(run(model, X), wanted_of(model, answers), X)


@cache
def twelve():
    """The mean of twelve sources, with other values in two sets: easily taken apart."""
    values = np.bitwise_count(np.arange(1 << 12)) / 12
    values[[5, 4000]] += 0.05
    return choquet.Measure(values, monotone=False)


def test_twelve_sources(run):
    if run.language == "duckdb":
        pytest.skip("DuckDB plans a statement of this size for ten seconds")
    model, X = twelve(), some_rows(12)
    same(run(model, X), lambda rows: {"output": choquet.choquet_integral(model, rows)}, X)


# -- additive models -------------------------------------------------------------------------------


@cache
def table(n=250):
    rng = np.random.default_rng(5)
    frame = pd.DataFrame(
        {
            "a": rng.random(n) * 10,
            "b": rng.random(n),
            "colour": rng.choice(["red", "blue", "it's"], n),
            "size": pd.Categorical(rng.choice(["s", "m", "l"], n), ["s", "m", "l"], ordered=True),
        }
    )
    frame.loc[:30, "a"] = np.nan
    y = np.nan_to_num(frame["a"]) / 10 + np.minimum(frame["b"], 0.6) + (frame["colour"] == "red")
    return frame, y + 0.05 * rng.standard_normal(n)


def odd_rows():
    """Rows with values that training had, and others: missing, new, far outside."""
    frame = table()[0].sample(30, random_state=1).reset_index(drop=True).astype({"size": object})
    frame.loc[0, "b"] = np.nan
    frame.loc[1, "a"] = np.nan
    frame.loc[2, "a"], frame.loc[3, "a"] = 1e200, -1e200
    frame.loc[4, "colour"], frame.loc[5, "colour"] = "green", None
    frame.loc[6, "size"], frame.loc[7, "size"] = None, "xl"
    return frame


def additive_rows(frame):
    return [
        tuple(None if value is None or value != value else value for value in row)
        for row in frame.astype(object).to_numpy().tolist()
    ]


ADDITIVE = {
    "adds": lambda X, y: choquet.ChoquetAdditiveRegressor(link="add", max_terms=5).fit(X, y),
    "multiplies": lambda X, y: choquet.ChoquetAdditiveRegressor(link=0.7, max_terms=3).fit(X, y),
    "chosen link": lambda X, y: choquet.ChoquetAdditiveRegressor(max_terms=3).fit(X, y),
    "chosen to multiply": lambda X, y: choquet.ChoquetAdditiveRegressor(max_terms=3).fit(
        X, np.exp(2 * y)
    ),
    "two classes": lambda X, y: choquet.ChoquetAdditiveClassifier(max_terms=3).fit(X, y > 1),
    "monotone": lambda X, y: choquet.ChoquetAdditiveClassifier(
        max_terms=4, monotonic_cst={"b": 1}
    ).fit(X, y > 1),
    "three classes": lambda X, y: choquet.ChoquetAdditiveClassifier(max_terms=3).fit(
        X, np.digitize(y, [0.7, 1.3])
    ),
    "ordered": lambda X, y: choquet.ChoquetAdditiveClassifier(max_terms=3, ordered=True).fit(
        X, np.digitize(y, [0.7, 1.3])
    ),
}


@cache
def additive(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ADDITIVE[name](*table())


@pytest.mark.parametrize("name", ADDITIVE)
def test_additive_models_with_categories_and_missing_values(name, run):
    model, frame = additive(name), odd_rows()
    codes = model._inputs(frame)
    found = run(model, additive_rows(frame), codes=codes)
    wanted = {}
    if hasattr(model, "classes_"):
        shares = model.predict_proba(frame)
        wanted["output"] = shares[:, 1] if shares.shape[1] == 2 else shares.argmax(axis=1)
        if shares.shape[1] > 2:
            wanted |= {f"p{k}": shares[:, k] for k in range(shares.shape[1])}
    else:
        assert (model.model_.kappa_error > 0) == name.startswith("chosen")
        bounds = model.predict_interval(frame)
        wanted = {"output": model.predict(frame), "low": bounds[:, 0], "high": bounds[:, 1]}
    for key, values in wanted.items():
        np.testing.assert_allclose(found[key], values, rtol=0, atol=1e-9, err_msg=key)
    left_out = model.model_.silent(codes).any(axis=1)
    np.testing.assert_array_equal(found["supported"], ~left_out)


def test_bands_that_are_too_long_for_sql_are_left_out(monkeypatch):
    whole = exported(additive("two classes"), "sql")
    monkeypatch.setattr("choquet.exports.additive._MAX_LEAVES", 100)
    # Probabilities need no bands, so that classifiers are the same however small the limit is.
    assert exported(additive("two classes"), "sql") == whole
    with pytest.warns(ChoquetWarning, match="the sql file has no low and high"):
        text = exported(additive("adds"), "sql").decode()
    assert "There is no interval" in text
    assert '"low"' not in text


# -- several classes -------------------------------------------------------------------------------


@pytest.mark.parametrize("ordinal", [False, True])
def test_several_classes(ordinal, run):
    X, y = fitted.data()
    levels = np.array(["low", "mid", "top"])[np.digitize(y, [0.5, 0.7])]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = choquet.ChoquetClassifier(ordinal=ordinal).fit(X, levels)
    rows = some_rows(3)[:11]
    shares = model.predict_proba(pd.DataFrame(rows, columns=fitted.NAMES))
    found = run(model, rows)
    np.testing.assert_array_equal(found["output"], shares.argmax(axis=1))
    for k in range(3):
        np.testing.assert_allclose(found[f"p{k}"], shares[:, k], rtol=0, atol=1e-9)
    plan = plan_of(model, label="top")
    assert plan.meaning == "The output is the probability of class top."
    assert plan.classes == ("low", "mid", "top")


# -- names, errors, files --------------------------------------------------------------------------

HOSTILE = (
    "select", 'a"b', "it's -- x", "*/ ??/ /* x", "</script>", "größe", "back\\slash", "line\nbreak",
    "`${1}` :n ?1 $1 %s",
)  # fmt: skip


@cache
def hostile():
    return choquet.Measure.additive(np.arange(1, 10) / 45).renamed(HOSTILE)


def test_names_are_quoted(run):
    model, X = hostile(), np.random.default_rng(0).random((5, 9))
    found = run(model, X, table='ta"ble')
    np.testing.assert_allclose(found["output"], choquet.choquet_integral(model, X), atol=1e-9)


def test_a_row_of_javascript_may_be_an_object(tmp_path):
    model, X = hostile(), np.random.default_rng(0).random((4, 9))
    path = choquet.export(model, tmp_path / "model.js", to="js")
    rows = [dict(zip(reversed(HOSTILE), reversed(row), strict=True)) for row in X.tolist()]
    found = running.in_node(path, rows)
    np.testing.assert_allclose(found["output"], choquet.choquet_integral(model, X), atol=1e-9)
    with pytest.raises(RuntimeError, match=r"RangeError: the row has no \"select\""):
        running.in_node(path, [{"a": 1}])
    with pytest.raises(RuntimeError, match="a row needs 9 values, not 2"):
        running.in_node(path, [[1, 2]])
    with pytest.raises(RuntimeError, match="must be a number"):
        running.in_node(path, [["1"] * 9])


def test_a_column_that_is_not_there_is_an_error(tmp_path):
    text = exported(fitted.thing("measure"), "sql", table="data").decode()
    with pytest.raises(Exception, match="gpr"):
        running.in_sqlite(text, ["a", "ir", "emi"], [(1.0, 2.0, 3.0)])


def test_float32(tmp_path):
    for name in ("measure", "pipeline", "contextual", "classifier"):
        model, answers = made(name)
        path = tmp_path / "model.onnx"
        choquet.export(model, path, to="onnx", dtype="float32", overwrite=True)
        X = some_rows(len(parts_of(model).sources))[:11].astype(np.float32)
        found = running.in_onnx(path, X, np.float32)
        np.testing.assert_allclose(found["output"], answers(X.astype(float)), atol=1e-5)


@pytest.mark.parametrize("to", TARGETS)
def test_the_same_model_gives_the_same_bytes(to, tmp_path):
    model = fitted.thing("contextual")
    first = exported(model, to)
    path = choquet.export(model, tmp_path / "model", to=to)
    assert path.read_bytes() == first
    with pytest.raises(FileError, match="overwrite=True"):
        choquet.export(model, path, to=to)
    assert choquet.export(model, path, to=to, overwrite=True).read_bytes() == first


def test_what_cannot_be_exported_is_refused(tmp_path):
    wide = choquet.Measure.random(3, rng=0)
    with pytest.raises(OptionError, match="to='java' is unknown; choose one of onnx, sql, js, c"):
        choquet.export(wide, tmp_path / "x", to="java")
    with pytest.raises(OptionError, match="no name of a table"):
        choquet.export(wide, tmp_path / "x", to="sql", table="a..b")
    with pytest.raises(OptionError, match="dtype='int8' is unknown"):
        choquet.export(wide, tmp_path / "x", to="onnx", dtype="int8")
    with pytest.raises(OptionError, match="there is no class 'no': the classes are False, True"):
        choquet.export(fitted.thing("classifier"), tmp_path / "x", to="c", label="no")
    additive_one = choquet.Measure.additive(np.full(13, 1 / 13))
    with pytest.raises(TooLargeError, match=r"choquet.export\(choquet.decompose\(model\)"):
        choquet.export(additive_one, tmp_path / "x", to="c")
    assert b"choquet_predict" in exported(choquet.decompose(additive_one), "c")
    with pytest.raises(NotFittedError):
        choquet.export(ChoquetRegressor(), tmp_path / "x", to="c")
    with pytest.raises(OptionError, match="a LinearRegression cannot be exported; give a measure"):
        choquet.export(LinearRegression().fit([[0], [1]], [0, 1]), tmp_path / "x", to="c")
    with pytest.raises(OptionError, match="a DataSupport cannot be exported"):
        choquet.export(choquet.DataSupport.from_data([[1, 2]]), tmp_path / "x", to="c")
    for name in ("a\0b", ""):
        null = choquet.Measure([0, 0, 0, 1], sources=[name, "c"])
        with pytest.raises(OptionError, match="rename the column"):
            choquet.export(null, tmp_path / "x", to="sql")
    assert not list(tmp_path.iterdir())


def test_onnx_that_is_absent_is_a_sentence(monkeypatch, tmp_path):
    monkeypatch.setitem(__import__("sys").modules, "onnx", None)
    with pytest.raises(MissingDependencyError, match=r"pip install 'choquet\[export\]'"):
        choquet.export(fitted.thing("measure"), tmp_path / "x", to="onnx")


@settings(max_examples=25)
@given(st.integers(1, 5), st.integers(0, 10_000), st.data())
def test_sql_of_any_measure(n, seed, data):
    model = choquet.Measure.random(n, rng=seed)
    number = st.floats(-1e6, 1e6).map(lambda x: round(x, data.draw(st.integers(0, 6))))
    rows = data.draw(st.lists(st.lists(number, min_size=n, max_size=n), min_size=1, max_size=5))
    text = exported(model, "sql", table="data").decode()
    found = running.in_sqlite(text, [f"x{i + 1}" for i in range(n)], [tuple(row) for row in rows])
    size = max(1.0, float(np.abs(rows).max()))
    np.testing.assert_allclose(
        found["output"], choquet.choquet_integral(model, rows), rtol=0, atol=1e-12 * size
    )
    np.testing.assert_array_equal(found["operator"], view_of(model).parts.operator_of(rows))


# -- the command -----------------------------------------------------------------------------------


def test_the_command(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    choquet.save(fitted.thing("classifier"), "model.json")
    say = runner(capsys)
    assert say("export", "model.json", "--to", "sql").out.startswith("Written to model.sql")
    told = say(
        "export", "model.json", "--to", "c", "-o", "m.c", "--class", "False", "--json"
    ).json()
    assert told["to"] == "c"
    assert told["bytes"] == (tmp_path / "m.c").stat().st_size
    assert "pass --force" in say("export", "model.json", "--to", "sql", code=1).err
    text = say("export", "model.json", "--to", "sql", "--table", "my.rows", "-o", "-").out
    assert 'FROM "my"."rows" AS d' in text
    assert "choose one of onnx, sql, js, c" in say("export", "model.json", "--to", "R", code=1).err


def test_a_file_is_headed_by_the_name_of_the_learner(tmp_path):
    path = tmp_path / "m.sql"
    choquet.export(few_rows(), path, to="sql")
    assert path.read_text().startswith("-- ChoquetRegressor of 4 sources, exported by choquet")


def test_c_runs_as_a_program(tmp_path):
    """The line of the documentation: a program of a few lines, compiled with the file."""
    if shutil.which("cc") is None:
        pytest.skip("no C compiler is installed")
    choquet.export(fitted.thing("measure"), tmp_path / "median.c", to="c")
    (tmp_path / "main.c").write_text(
        "#include <stdio.h>\ndouble choquet_predict(const double *x);\n"
        'int main(void) { printf("%.17g\\n", choquet_predict((double[]){0.9, 0.4, 0.2})); }\n'
    )
    words = ["cc", "-std=c99", "main.c", "median.c", "-lm", "-o", "median"]
    subprocess.run(words, cwd=tmp_path, check=True)
    done = subprocess.run(["./median"], cwd=tmp_path, check=True, capture_output=True, text=True)
    assert math.isclose(float(done.stdout), 0.4)


def test_onnx_tells_its_columns(tmp_path):
    onnx = pytest.importorskip("onnx")
    model = onnx.load_model_from_string(exported(additive("three classes"), "onnx"))
    about = {one.key: json.loads(one.value) for one in model.metadata_props}
    assert about["sources"] == ["a", "b", "colour", "size"]
    assert about["levels"]["colour"] == ["blue", "it's", "red"]
    assert about["classes"] == ["0", "1", "2"]
