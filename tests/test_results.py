"""Results that are computed when somebody looks."""

from __future__ import annotations

import pickle
from functools import partial

import numpy as np

import choquet
from choquet.estimators.results import LazyResults


def test_every_way_to_look_computes():
    looks = (
        lambda found: found["error"],
        lambda found: found.get("error"),
        lambda found: dict(found)["error"],
        lambda found: {**found}["error"],
        lambda found: dict(found.items())["error"],
        lambda found: list(found.values())[1],
        lambda found: pickle.loads(pickle.dumps(found))["error"],  # noqa: S301 - our own
    )
    for look in looks:
        found = LazyResults(name="a", error=partial(sum, [1, 2]))
        assert list(found) == ["name", "error"]
        assert found.known() == {"name": "a"}
        assert look(found) == 3
    assert found.get("other", 5) == 5


def test_errors_of_folds_wait_and_survive_a_file(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.random((60, 3))
    model = choquet.ChoquetRegressorCV(random_state=0).fit(X, X.mean(axis=1))
    assert set(model.cv_results_.known()) == {"prior", "alpha", "weight"}
    choquet.save(model, tmp_path / "model.json")
    again = choquet.load(tmp_path / "model.json")
    errors = model.cv_results_["mean_squared_error"]
    assert len(errors) == len(model.cv_results_["prior"])
    np.testing.assert_array_equal(again.cv_results_["mean_squared_error"], errors)
    choquet.save(again, tmp_path / "again.json")
    known = choquet.load(tmp_path / "again.json").cv_results_.known()
    np.testing.assert_array_equal(known["mean_squared_error"], errors)
