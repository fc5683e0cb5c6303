"""Laws of files: what comes back is as good as what was saved, whatever it was."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest

import choquet
from choquet.errors import ChoquetError, FileError
from choquet.storage import from_bytes, to_bytes
from tests.fitted import CLASSIFIERS, MAKERS, REGRESSORS, answers, data, thing

ALL = list(MAKERS)
X, Y = data()
FITTED = (*REGRESSORS, *CLASSIFIERS)


@pytest.fixture(params=ALL)
def name(request):
    return request.param


def test_answers_are_the_same_to_the_bit(name, tmp_path):
    back = choquet.load(choquet.save(thing(name), tmp_path / "thing.json"))
    assert type(back) is type(thing(name))
    np.testing.assert_array_equal(answers(back, X), answers(thing(name), X))


def test_the_same_thing_has_the_same_bytes(name):
    content = to_bytes(thing(name))
    assert to_bytes(thing(name)) == content
    assert to_bytes(from_bytes(content)) == content


def test_a_loaded_thing_is_explained_alike(name):
    back = from_bytes(to_bytes(thing(name)))
    for one, two in zip(
        choquet.explain_samples(thing(name), X.iloc[:5]),
        choquet.explain_samples(back, X.iloc[:5]),
        strict=True,
    ):
        assert one.text() == two.text()
    assert choquet.explain_model(back).text() == choquet.explain_model(thing(name)).text()


def test_a_loaded_thing_is_taken_apart_alike(name):
    assert str(parts(from_bytes(to_bytes(thing(name))))) == str(parts(thing(name)))


def parts(obj):
    """Its decomposition, or the one that it is or has learned."""
    if isinstance(obj, choquet.Decomposition):
        return obj
    if hasattr(obj, "decomposition_"):
        return obj.decomposition_
    return choquet.of_class(obj, True) if hasattr(obj, "classes_") else choquet.decompose(obj)


def test_a_loaded_thing_is_reported_alike(name):
    back = from_bytes(to_bytes(thing(name)))
    rows = X.iloc[:10]
    assert choquet.Report(back, rows).json() == choquet.Report(thing(name), rows).json()


@pytest.mark.parametrize("name", FITTED)
def test_names_and_parameters_survive(name):
    model = thing(name)
    back = from_bytes(to_bytes(model))
    assert list(back.feature_names_in_) == list(model.feature_names_in_)
    assert back.n_features_in_ == model.n_features_in_
    if name in CLASSIFIERS:
        assert back.classes_.tolist() == model.classes_.tolist()
    if name != "pipeline":
        assert {key: repr(value) for key, value in back.get_params().items()} == {
            key: repr(value) for key, value in model.get_params().items()
        }
    with pytest.raises(ValueError, match="feature names"):
        back.predict(X.rename(columns={"ir": "sonar"}))


@pytest.mark.parametrize("name", ["choquet", "2-additive", "owa", "convex sum"])
def test_a_loaded_model_goes_on_learning(name):
    rng = np.random.default_rng(1)
    more = X.sample(60, random_state=0)
    y = rng.random(60) * (more.max(axis=1) - more.min(axis=1)) + more.min(axis=1)
    one, two = from_bytes(to_bytes(thing(name))), from_bytes(to_bytes(thing(name)))
    np.testing.assert_array_equal(
        one.partial_fit(more, y).predict(X), two.partial_fit(more, y).predict(X)
    )
    assert np.abs(one.predict(X) - thing(name).predict(X)).max() > 1e-6


def test_files_are_read_in_another_process_without_the_estimators_of_this_one(tmp_path):
    expected = {}
    for name in ALL:
        choquet.save(thing(name), tmp_path / f"{name}.json")
        expected[name] = answers(thing(name), X.iloc[:7]).tolist()
    X.iloc[:7].to_csv(tmp_path / "rows.csv", index=False)
    code = """
import json, sys
from pathlib import Path
import pandas as pd, choquet
rows = pd.read_csv("rows.csv", float_precision="round_trip")
found = {}
for path in sorted(Path().glob("*.json")):
    obj = choquet.load(path)
    if isinstance(obj, choquet.AbstractMeasure):
        found[path.stem] = choquet.choquet_integral(obj, rows).tolist()
    else:
        ask = getattr(obj, "predict_proba", None) or obj.predict
        found[path.stem] = ask(rows).tolist()
print(json.dumps(found))
"""
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert json.loads(done.stdout) == expected


# -- paths and damage ------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [str, lambda path: path], ids=["text", "path"])
def test_a_path_may_be_text_or_a_path(kind, tmp_path):
    target = tmp_path / "g.json"
    assert choquet.save(thing("measure"), kind(target)) == target
    assert choquet.load(kind(target)) == thing("measure")


def test_a_file_is_written_over_only_where_that_is_said(tmp_path):
    path = choquet.save(thing("measure"), tmp_path / "g.json")
    before = path.read_bytes()
    with pytest.raises(FileError, match="overwrite=True"):
        choquet.save(thing("random measure"), path)
    assert path.read_bytes() == before
    choquet.save(thing("random measure"), path, overwrite=True)
    assert choquet.load(path) == thing("random measure")
    assert [entry.name for entry in tmp_path.iterdir()] == ["g.json"]


def test_a_digit_that_was_changed_is_found(name):
    content = to_bytes(thing(name))
    if content[:1] != b"{":
        pytest.skip("an archive: the fuzz test changes those")
    text = content.decode()
    digits = [k for k, c in enumerate(text) if c.isdigit()]
    for k in digits[:: max(len(digits) // 12, 1)]:
        changed = text[:k] + str((int(text[k]) + 1) % 10) + text[k + 1 :]
        with pytest.raises(ChoquetError):
            from_bytes(changed.encode())


def test_a_file_that_was_cut_is_found(name):
    content = to_bytes(thing(name))
    for share in (0.0, 0.3, 0.7, 0.99):
        with pytest.raises(ChoquetError):
            from_bytes(content[: int(share * len(content))])


@pytest.mark.parametrize("obj", [1, "text", None, {"a": 1}, np.zeros(3), object(), print])
def test_what_cannot_be_stored_is_refused_and_leaves_nothing(obj, tmp_path):
    with pytest.raises((TypeError, ChoquetError)):
        choquet.save(obj, tmp_path / "thing.json")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", [*REGRESSORS, *CLASSIFIERS])
def test_what_was_not_fitted_is_refused(name, tmp_path):
    from sklearn.base import clone

    with pytest.raises((TypeError, ValueError, ChoquetError)):
        choquet.save(clone(thing(name)), tmp_path / "thing.json")
    assert not list(tmp_path.iterdir())
