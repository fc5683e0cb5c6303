"""Decompositions, statistics and fitted estimators come back from files as they were."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas
import pytest

import choquet
from choquet import DataSupport, Measure, load, save
from choquet.errors import DamagedFileError, OptionError, SupportWarning
from choquet.learning import Statistics
from choquet.scales import fit_scale
from choquet.storage import from_bytes, to_bytes
from choquet.storage.kinds import KINDS
from choquet.storage.models import MODELS
from tests.clustered import clustered

RNG = np.random.default_rng(0)
X = RNG.random((120, 3))
Y = np.clip(0.7 * X.max(axis=1) + 0.3 * X[:, 0], 0, 1)
LEVELS = np.array(["low", "middle", "<high>"])[np.digitize(Y, [0.5, 0.8])]


def fitted(name):
    if name == "contextual_classifier":
        return choquet.ContextualClassifier().fit(X, LEVELS), X
    if name == "choquet_additive_classifier":
        return choquet.ChoquetAdditiveClassifier(max_order=2).fit(X, LEVELS), X
    if name == "choquet_classifier":
        # The lowest of three levels falls with every source, which a monotone measure cannot.
        with pytest.warns(SupportWarning, match="class 'low', .* does not rise"):
            return choquet.ChoquetClassifier().fit(X, LEVELS), X
    if name == "fusion_classifier":
        scores = RNG.random((60, 3, 2))
        return choquet.FusionClassifier().fit(scores, RNG.integers(0, 3, 60)), scores
    module, _, title = MODELS[name].path.partition(":")
    return getattr(importlib.import_module(module), title)().fit(X, Y), X


@pytest.mark.parametrize("name", list(MODELS))
def test_fitted_estimators_predict_the_same(name, tmp_path):
    model, inputs = fitted(name)
    back = load(save(model, tmp_path / "model.json"))
    assert type(back) is type(model)
    assert repr(back) == repr(model)
    method = "predict" if hasattr(model, "predict") else "transform"
    assert np.array_equal(getattr(back, method)(inputs), getattr(model, method)(inputs))
    if hasattr(model, "measure_"):
        assert back.measure_ == model.measure_
    if hasattr(model, "predict_interval"):
        assert np.array_equal(back.predict_interval(inputs), model.predict_interval(inputs))
    if hasattr(model, "support_share"):
        assert np.array_equal(back.support_interval(inputs), model.support_interval(inputs))
        assert np.array_equal(back.support_share(inputs), model.support_share(inputs))
    if hasattr(model, "predict_proba"):
        assert np.array_equal(back.predict_proba(inputs), model.predict_proba(inputs))


@pytest.mark.parametrize("scaled", [False, True])
@pytest.mark.parametrize("name", ["choquet_classifier", "contextual_classifier"])
def test_what_was_learned_for_a_class_remembers_it(name, scaled, tmp_path):
    model, inputs = fitted(name)
    if scaled:
        scales = [fit_scale([0.0, 2.0])] * 3
        model = choquet.InUnits.from_parts(model, scales, sources=("a", "b", "c"))
    one = choquet.of_class(model, "middle")
    back = load(save(one, tmp_path / "one.json"))
    assert type(back) is type(one)
    assert back.outcome == one.outcome
    assert back.outcome.label == "middle"
    assert np.array_equal(back.predict(inputs), one.predict(inputs))
    assert choquet.explain_model(back).text() == choquet.explain_model(one).text()


def test_contextual_classifiers_of_earlier_files_know_their_classes(tmp_path):
    model, _ = fitted("contextual_classifier")
    document = json.loads(to_bytes(model))
    for part in document["data"]["fitted"]["decompositions_"]["list"]:
        del part["data"]["outcome"]
    back = from_bytes(json.dumps(document).encode(), verify=False)
    assert back.decompositions_[1].outcome is None
    for label in model.classes_:
        expected, found = (choquet.explain_model(choquet.of_class(m, label)) for m in (model, back))
        assert found.text() == expected.text()


def test_contextual_models_come_back_whole(tmp_path):
    rng = np.random.default_rng(1)
    inputs = rng.random((400, 4))
    y = np.where(inputs[:, 1] > inputs[:, 3], inputs.max(axis=1), inputs.min(axis=1))
    for merge in (False, True):
        model = choquet.ContextualRegressor(merge=merge, prune="none", max_leaves=6).fit(inputs, y)
        path = save(model, tmp_path / f"model{merge}.json")
        back = load(path)
        assert back.rules_ == model.rules_
        for one, other in zip(back.operators_, model.operators_, strict=True):
            assert vars(one).keys() == vars(other).keys()
            assert (one.context, one.count, one.trust) == (other.context, other.count, other.trust)
        assert np.array_equal(back.path_.alphas, model.path_.alphas)
        alone = load(save(model.decomposition_, tmp_path / f"parts{merge}.json"))
        assert np.array_equal(alone.predict(inputs), model.predict(inputs))
        assert np.array_equal(alone.leaf_of(inputs), model.apply(inputs))


@pytest.mark.parametrize(
    ("place", "value", "reason"),
    [
        ("yes", [2, -1, -1], "are no tree"),  # one child twice
        ("yes", [0, -1, -1], "are no tree"),  # a loop
        ("source", [7, -1, -1], "more than 3 sources"),
        ("top", [9, -1, -1], "more than 3 sources"),
        ("above", [0, -1, -1], "with itself"),
        ("weight", [0.0, 1.0, 1.0], "has no weight"),
        ("no", [2, -1], "differ in length"),
    ],
)
def test_altered_trees_are_refused(place, value, reason, tmp_path):
    y = np.where(X[:, 0] == X.max(axis=1), X.min(axis=1), X.max(axis=1))
    model = choquet.ContextualRegressor(max_leaves=2, leaf="rank", prune="none").fit(X, y)
    model = model.decomposition_
    path = save(model, tmp_path / "model.json")
    data = json.loads(path.read_text())
    assert data["data"]["tree"]["source"]["array"] == [0, -1, -1]
    data["data"]["tree"][place] |= {"array": value, "shape": [len(value)]}
    path.write_text(json.dumps(data))
    with pytest.raises(DamagedFileError, match=reason):
        load(path, verify=False)
    with pytest.raises(DamagedFileError, match="does not match its checksum"):
        load(path)


def test_a_loaded_regressor_goes_on_learning_and_identifies(tmp_path):
    model = choquet.ChoquetRegressor().fit(X[:60], Y[:60])
    back = load(save(model, tmp_path / "model.json"))
    assert np.array_equal(back.identify().lower, model.identify().lower)
    back.partial_fit(X[60:], Y[60:])
    whole = choquet.ChoquetRegressor().fit(X, Y)
    assert np.allclose(back.measure_.values, whole.measure_.values, atol=1e-9)


def test_many_sources_and_no_monotonicity(tmp_path):
    wide = RNG.random((40, 70))
    for options in (
        {},
        {"monotone": False, "normal": False, "fit_intercept": True, "penalty": "l2"},
    ):
        model = choquet.ChoquetRegressor(**options).fit(wide, wide.mean(axis=1))
        back = load(save(model, tmp_path / "model.json", overwrite=True))
        assert np.array_equal(back.predict(wide), model.predict(wide))


def test_what_cannot_be_saved_says_what_to_do(tmp_path):
    from sklearn.naive_bayes import GaussianNB

    fusion = choquet.FusionClassifier([("a", GaussianNB()), ("b", GaussianNB(var_smoothing=0.1))])
    fusion.fit(X, LEVELS)
    with pytest.raises(TypeError, match=r"with its 2 classifiers.*save\(model.measure_"):
        save(fusion, tmp_path / "fusion.json")
    with pytest.raises(TypeError, match="not fitted; call fit first"):
        save(choquet.OWARegressor(), tmp_path / "owa.json")
    model = choquet.ChoquetRegressor().fit(X, Y).set_params(expert=object())
    with pytest.raises(TypeError, match=r"call set_params\(expert=None\) before"):
        save(model, tmp_path / "expert.json")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"support": DataSupport.from_data(RNG.random((30, 4))), "metric": "emd"},
        {"method": "fuzzy_c_means", "k": 2},
        {"method": "distinct", "scale": "data", "decimals": 3},
        {"max_operators": 5, "n_walks": 20},
    ],
    ids=str,
)
def test_decompositions(options, tmp_path):
    found = clustered(Measure.random(4, sources=["a", "b", "<c>", "d"], rng=1), **options)
    back = load(save(found, tmp_path / "d.json"))
    rows = RNG.random((50, 4))
    assert str(back) == str(found)
    assert np.array_equal(back.predict(rows), found.predict(rows))
    assert np.array_equal(back.operator_of(rows), found.operator_of(rows))
    assert np.array_equal(back.ivat.image(20), found.ivat.image(20))
    assert [op.share for op in back.operators] == [op.share for op in found.operators]
    assert (back.scale, back.error, back.metric) == (found.scale, found.error, found.metric)
    assert back.partition.scores == found.partition.scores


def test_a_metric_of_ones_own_cannot_be_named():
    found = clustered(Measure.random(3, rng=0), metric=lambda V, W: np.abs(V[:, None] - W).sum(2))
    with pytest.raises(OptionError, match="a file can only name rows of the table, l1"):
        save(found, "nowhere")


def test_statistics(tmp_path):
    statistics = Statistics.from_data(X, Y)
    back = load(save(statistics, tmp_path / "s.json"))
    assert np.array_equal(back.gram.toarray(), statistics.gram.toarray())
    assert (back + statistics).n_samples == 240


@pytest.mark.parametrize("name", ["scaled-regressor", "scaled-contexts"])
def test_scaled_models_of_the_version_before_are_read(name):
    """Offsets and widths became scales: of an estimator around it, of a decomposition its own."""
    folder = Path(__file__).parent / "earlier"
    known = json.loads((folder / "answers.json").read_text())[name]
    model = load(folder / f"{name}.json")
    rows = np.array(known["rows"])
    if name == "scaled-regressor":
        rows = pandas.DataFrame(rows, columns=["temp", "press", "hum"])
    np.testing.assert_allclose(model.predict(rows), known["answers"], rtol=1e-12)
    assert choquet.explain_model(model).sources == ("temp", "press", "hum")


def test_altered_files_are_refused(tmp_path):
    path = save(choquet.OWARegressor().fit(X, Y), tmp_path / "m.json")
    document = json.loads(path.read_text())
    document["data"]["fitted"]["predict"] = "print"
    path.write_text(json.dumps(document))
    with pytest.raises(DamagedFileError, match="has no fitted predict"):
        load(path, verify=False)
    path = save(clustered(Measure.random(3, rng=0)), tmp_path / "d.json")
    document = json.loads(path.read_text())
    document["data"]["labels"]["array"][0] = 99
    path.write_text(json.dumps(document))
    with pytest.raises(DamagedFileError, match="labels holds 99"):
        load(path, verify=False)


def test_rows_name_classes_that_exist():
    from importlib import import_module

    for kind in KINDS.values():
        module, _, name = kind.path.partition(":")
        assert getattr(import_module(module), name).__name__ == name


def test_files_without_estimators_need_no_scikit_learn(tmp_path):
    save(Measure.random(3, rng=0), tmp_path / "g.json")
    code = f"""
import sys, choquet
choquet.decompose(choquet.load({str(tmp_path / "g.json")!r}))
assert "sklearn" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", code], check=True)
