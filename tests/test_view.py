"""One view of anything fitted: a pipeline is explained, reported and kept as the model it is."""

from __future__ import annotations

import gc
import json
import pickle
import weakref

import numpy as np
import pandas
import pytest
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

import choquet
from choquet.decomposition import Decomposition
from choquet.errors import DataError, MissingDependencyError
from choquet.explanation import (
    AdditiveView,
    ModelExplanation,
    OperatorSample,
    SampleExplanation,
    View,
    view_of,
)
from choquet.explanation import view as room
from choquet.frames import to_frame
from choquet.report import summarise

LOW, WIDTH = np.array([10.0, -5.0, 900.0]), np.array([2.0, 100.0, 200.0])
NAMES = ["temp", "press", "hum"]


def copied(thing):
    """Through a pickle and back."""
    return pickle.loads(pickle.dumps(thing))  # noqa: S301 - our own


def table(n=120, seed=3):
    """Rows in units of their own, the same on [0, 1], and a target with four operators."""
    u = np.random.default_rng(seed).random((n, 3))
    u[0], u[1] = 0.0, 1.0
    y = np.where(u[:, 0] == u.max(axis=1), u.min(axis=1), 0.7 * u.max(axis=1) + 0.3 * u[:, 1])
    return pandas.DataFrame(u * WIDTH + LOW, columns=NAMES), u, y


@pytest.fixture(scope="module", params=["measure", "contextual"])
def pipeline(request):
    frame, u, y = table()
    made = {
        "measure": choquet.ChoquetRegressor(),
        "contextual": choquet.ContextualRegressor(max_leaves=3, min_samples_leaf=20),
    }[request.param]
    inner = clone(made).fit(u, y)
    return make_pipeline(MinMaxScaler(), made).fit(frame, y), inner, frame, u, y


def test_a_pipeline_speaks_in_the_units_of_the_data(pipeline):
    pipe, inner, frame, u, y = pipeline
    for row in (3, 17, 40):
        why, plain = choquet.explain_sample(pipe, frame.iloc[row]), inner.explain(u[[row]])[0]
        assert why.output == pytest.approx(pipe.predict(frame.iloc[[row]])[0], abs=1e-9)
        assert why.contributions.sum() + why.bias == pytest.approx(why.output, abs=1e-9)
        assert why.inputs == pytest.approx(frame.to_numpy()[row])
        assert why.contributions == pytest.approx(plain.contributions, abs=1e-9)
        assert why.sources == tuple(NAMES)
        assert why.operator == plain.operator
        moved = plain.switch.inputs * WIDTH + LOW
        assert why.switch.inputs == pytest.approx(moved, rel=1e-9)
    story = choquet.explain_model(pipe)
    assert "temp from 10–12, press from -5 to 95, hum from 900–1100" in story.text()
    report = choquet.Report(pipe, frame, y)
    shown = [one["output"] for one in report.data["samples"]["rows"]]
    assert shown == pytest.approx(pipe.predict(frame)[:100].tolist(), abs=1e-9)
    rmse = np.sqrt(np.mean((pipe.predict(frame) - y) ** 2))
    assert report.data["errors"]["rows"][0]["rmse"] == pytest.approx(rmse, abs=1e-9)
    assert "temp" in report.html()
    json.loads(report.json())


def test_a_pipeline_is_taken_apart_and_kept(pipeline, tmp_path):
    pipe, inner, frame, u, _ = pipeline
    back = choquet.load(choquet.save(pipe, tmp_path / "pipe.json"))
    assert np.array_equal(back.predict(frame), pipe.predict(frame))
    assert choquet.explain_model(back).text() == choquet.explain_model(pipe).text()
    if not hasattr(inner, "measure_"):
        with pytest.raises(DataError, match="learned its operators directly"):
            choquet.decompose(pipe)
        return
    parts, plain = choquet.decompose(pipe), choquet.decompose(inner)
    assert parts.sources == tuple(NAMES)
    X = frame.to_numpy()
    np.testing.assert_allclose(parts.predict(X), plain.predict(u), atol=1e-9)
    np.testing.assert_allclose(parts.predict(frame[NAMES[::-1]]), plain.predict(u), atol=1e-9)
    assert np.array_equal(parts.operator_of(X), plain.operator_of(u))
    np.testing.assert_allclose(parts.assess(X).interval, plain.assess(u).interval, atol=1e-9)
    kept = choquet.load(choquet.save(parts, tmp_path / "parts.json"))
    np.testing.assert_array_equal(kept.predict(X), parts.predict(X))
    assert kept.units.text(NAMES) == parts.units.text(NAMES)
    assert copied(parts).predict(X) == pytest.approx(parts.predict(X))


def test_pipelines_that_cannot_be_undone_are_refused():
    frame, _, y = table()
    pipe = make_pipeline(PCA(), choquet.ContextualRegressor()).fit(frame, y)
    for ask in (choquet.explain_model, summarise, choquet.decompose):
        with pytest.raises(DataError, match="the step 'pca' of the pipeline, a PCA, mixes columns"):
            ask(pipe)


# -- one model, one answer -------------------------------------------------------------------------


def summarised():
    """A regressor whose operators differ from its integral, and rows."""
    rng = np.random.default_rng(1)
    X = rng.random((300, 4))
    y = np.clip(choquet.Measure.random(4, rng=5).integral(X), 0, 1)
    return choquet.ChoquetRegressor().fit(X, y), X


def test_one_model_gives_one_answer():
    model, X = summarised()
    answers, parts = model.predict(X), choquet.decompose(model)
    assert np.abs(parts.predict(X) - answers).max() > 0.01
    worst = int(np.abs(parts.predict(X) - answers).argmax())
    for why in (model.explain(X[[worst]])[0], choquet.explain_sample(model, X[worst])):
        assert why.output == pytest.approx(answers[worst])
        assert why.contributions.sum() + why.bias == pytest.approx(why.output)
        assert why.operator_output == pytest.approx(parts.predict(X[[worst]])[0])
        text = why.text()
        assert f"The model's output is {answers[worst]:.4g}." in text
        assert "In the summary: " in text
        assert f"which gives {why.operator_output:.4g}." in text
    report = choquet.Report(model, X)
    rows = report.data["samples"]["rows"]
    assert [row["output"] for row in rows] == pytest.approx(answers[:100].tolist())
    assert [row["operator_output"] for row in rows] == pytest.approx(
        parts.predict(X[:100]).tolist()
    )
    assert "By the rules" in report.html()
    assert "by the rules" in report.markdown()
    # The summary itself, asked, answers as it does.
    own = choquet.explain_sample(parts, X[worst])
    assert own.output == pytest.approx(parts.predict(X[[worst]])[0])
    assert f"The full model gives {answers[worst]:.4g}." in own.text()


@pytest.mark.parametrize("fill", ["lower", "upper", "midpoint"])
def test_whatever_fills_a_measure_the_model_is_quoted(fill):
    rng = np.random.default_rng(2)
    X = rng.random((40, 18))
    model = choquet.ChoquetRegressor(fill=fill).fit(X, X.mean(axis=1))
    rows = rng.random((5, 18))
    for row, answer in zip(rows, model.predict(rows), strict=True):
        why = choquet.explain_sample(model, row)
        assert why.output == pytest.approx(answer)
        assert why.contributions.sum() + why.bias == pytest.approx(answer)


def test_a_family_of_many_sources_is_quoted():
    X = np.random.default_rng(2).random((60, 18))
    model = choquet.LambdaRegressor().fit(X, X.max(axis=1))
    why = model.explain(X[:1])[0]
    assert why.output == pytest.approx(model.predict(X[:1])[0])


# -- kept as long as the estimator -----------------------------------------------------------------


def test_an_estimator_is_taken_apart_once(monkeypatch):
    model, X = summarised()
    calls = []
    monkeypatch.setattr(room, "decompose", lambda *a, **k: calls.append(1) or decompose(*a, **k))
    decompose = choquet.decompose
    model.explain(X[:3])
    choquet.explain_sample(model, X[4])
    assert len(calls) == 1
    before = vars(model).copy()
    assert vars(clone(model).fit(X, X.max(axis=1))).keys() == before.keys()
    model.fit(X, X.max(axis=1))  # what was learned is another thing now
    assert model.explain(X[:1])[0].operator_name == "max"
    assert len(calls) == 2
    assert copied(model).explain(X[:1])[0].operator_name == "max"
    gone = weakref.ref(model)
    del model
    gc.collect()
    assert gone() is None


def test_every_explanation_is_of_one_kind(pipeline):
    pipe, inner, frame, u, _ = pipeline
    g = choquet.Measure([0, 0, 1, 1, 1, 1, 1, 1])
    for model, row in (
        (pipe, frame.iloc[0]),
        (inner, u[0]),
        (g, u[0]),
        (choquet.decompose(g), u[0]),
    ):
        assert type(choquet.explain_sample(model, row)) is OperatorSample
        assert type(view_of(model)) is View
        assert set(choquet.Report(model).data) == set(choquet.Report(g).data)
    assert isinstance(view_of(g).parts, Decomposition)
    assert view_of(view_of(g)).sources == g.sources


def test_sums_of_integrals_are_explained_by_the_same_nouns():
    X = np.random.default_rng(1).random((60, 3))
    y = X[:, 0] + np.minimum(X[:, 1], X[:, 2])
    additive = choquet.ChoquetAdditiveRegressor(max_terms=4, link="add").fit(X, y)
    assert type(view_of(additive)) is AdditiveView
    for model in (additive, choquet.ChoquetRegressor().fit(X, y / 2)):
        story, why = choquet.explain_model(model), choquet.explain_sample(model, X[0])
        assert isinstance(story, ModelExplanation)
        assert isinstance(why, SampleExplanation)
        assert story.sources == why.sources
        assert repr(story) == story.text()  # they show themselves
        assert repr(why) == why.text()
        for one in (story, why):
            frame = one.to_frame()
            assert len(frame) > 0
            assert set(json.loads(json.dumps(one.to_dict()))) >= {"sources"}


# -- tables ----------------------------------------------------------------------------------------


def test_explanations_are_tables_too(monkeypatch):
    g = choquet.Measure([0, 0.2, 0.3, 1], sources=["ir", "emi"])
    why = choquet.explain_sample(g, [0.5, 0.8])
    assert why.to_frame()["source"].tolist() == ["emi", "ir"]
    assert why.to_frame()["contribution"].sum() + why.bias == pytest.approx(why.output)
    story = choquet.explain_model(g)
    assert story.to_frame("polars")["share"].to_list() == [one.share for one in story.operators]
    indices = g.summary().to_frame()
    assert indices["shapley"].sum() == pytest.approx(1)
    monkeypatch.setattr("choquet.frames.find_spec", lambda name: None)
    with pytest.raises(MissingDependencyError, match="pandas or polars"):
        to_frame({"a": [1]})
