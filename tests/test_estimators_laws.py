"""Laws of the estimators: what must hold whatever the data, stated for each of them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

import choquet
from choquet.lattice import monotonicity_witness

MEASURES = {
    "choquet": choquet.ChoquetRegressor(),
    "2-additive": choquet.ChoquetRegressor(k_additive=2),
    "towards additive": choquet.ChoquetRegressor(prior="additive"),
    "towards symmetric": choquet.ChoquetRegressor(prior="symmetric"),
    "cross-validated": choquet.ChoquetRegressorCV(random_state=0),
    "owa": choquet.OWARegressor(),
    "convex sum": choquet.LinearConvexSumRegressor(),
    "lambda": choquet.LambdaRegressor(),
}
REGRESSORS = {**MEASURES, "contextual": choquet.ContextualRegressor(random_state=0)}
CLASSIFIERS = {
    "choquistic": choquet.ChoquetClassifier(monotone=False),
    "contextual": choquet.ContextualClassifier(random_state=0),
}


def made(n=120, n_sources=3, noise=0.02, seed=0):
    rng = np.random.default_rng(seed)
    g = choquet.Measure.random(n_sources, rng=rng)
    X = rng.random((n, n_sources))
    y = choquet.choquet_integral(g, X) + noise * rng.standard_normal(n)
    return g, X, np.clip(y, X.min(), X.max())


# -- what a measure must be ------------------------------------------------------------------------


@pytest.mark.parametrize("name", MEASURES)
@pytest.mark.parametrize("seed", range(3))
def test_learned_measures_are_monotone_to_the_bit_and_normal(name, seed):
    _, X, y = made(40, 4, noise=0.3, seed=seed)
    g = clone(MEASURES[name]).fit(X, y).measure_
    values = g.values_of(np.arange(16, dtype=np.uint64)[:, None])
    assert values[0] == 0
    assert values[-1] == pytest.approx(1, abs=1e-12)
    assert monotonicity_witness(values) is None


@pytest.mark.parametrize("name", MEASURES)
def test_outputs_lie_between_the_smallest_and_the_largest_input(name):
    _, X, y = made(noise=0.3)
    new = np.random.default_rng(9).uniform(-3, 5, (200, 3))
    predicted = clone(MEASURES[name]).fit(X, y).predict(new)
    assert (predicted >= new.min(axis=1) - 1e-9).all()
    assert (predicted <= new.max(axis=1) + 1e-9).all()


@pytest.mark.parametrize("name", MEASURES)
def test_more_input_never_gives_less_output(name):
    _, X, y = made(noise=0.3)
    model = clone(MEASURES[name]).fit(X, y)
    rng = np.random.default_rng(1)
    more = X + rng.random(X.shape) * (rng.random(X.shape) < 0.5)
    assert (model.predict(more) >= model.predict(X) - 1e-9).all()


@pytest.mark.parametrize("name", MEASURES)
def test_a_constant_row_gives_the_constant(name):
    _, X, y = made()
    model = clone(MEASURES[name]).fit(X, y)
    constants = np.linspace(-2, 3, 11)
    np.testing.assert_allclose(model.predict(np.tile(constants[:, None], 3)), constants, atol=1e-9)


@pytest.mark.parametrize("name", MEASURES)
def test_scale_and_shift_of_a_row_pass_through(name):
    _, X, y = made()
    model = clone(MEASURES[name]).fit(X, y)
    np.testing.assert_allclose(model.predict(7 * X + 2), 7 * model.predict(X) + 2, atol=1e-9)


# -- what must not matter --------------------------------------------------------------------------


@pytest.mark.parametrize("name", [name for name in MEASURES if name != "cross-validated"])
def test_other_names_and_another_order_of_sources_do_not_matter(name):
    _, X, y = made()
    order = [2, 0, 1]
    one = clone(MEASURES[name]).fit(X, y)
    other = clone(MEASURES[name]).fit(X[:, order], y)
    np.testing.assert_allclose(other.predict(X[:, order]), one.predict(X), atol=1e-5)


@pytest.mark.parametrize("name", [name for name in REGRESSORS if name != "cross-validated"])
def test_the_order_of_rows_does_not_matter(name):
    _, X, y = made()
    order = np.random.default_rng(3).permutation(len(X))
    one = clone(REGRESSORS[name]).fit(X, y)
    other = clone(REGRESSORS[name]).fit(X[order], y[order])
    np.testing.assert_allclose(other.predict(X), one.predict(X), atol=1e-5)


@pytest.mark.parametrize("name", [name for name in MEASURES if name != "cross-validated"])
def test_a_weight_is_a_number_of_rows(name):
    _, X, y = made(40)
    weight = np.random.default_rng(0).integers(0, 4, len(X))
    one = clone(MEASURES[name]).fit(X, y, sample_weight=weight)
    other = clone(MEASURES[name]).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    np.testing.assert_allclose(one.predict(X), other.predict(X), atol=1e-5)


@pytest.mark.parametrize("name", REGRESSORS)
def test_the_same_data_give_the_same_model(name):
    _, X, y = made()
    one, other = (clone(REGRESSORS[name]).fit(X, y) for _ in range(2))
    np.testing.assert_array_equal(one.predict(X), other.predict(X))


@pytest.mark.parametrize("name", REGRESSORS)
def test_fitting_again_forgets_what_was_before(name):
    _, X, y = made(seed=1)
    _, Z, t = made(seed=2, n_sources=4)
    model = clone(REGRESSORS[name]).fit(Z, t).fit(X, y)
    expected = clone(REGRESSORS[name]).fit(X, y).predict(X)
    np.testing.assert_array_equal(model.predict(X), expected)


@pytest.mark.parametrize("name", [*REGRESSORS])
@pytest.mark.parametrize("kind", [np.float32, np.float64, "list", "fortran", "frame"])
def test_the_container_does_not_matter(name, kind):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 9, (60, 3)) / 8  # exact in every type
    y = np.median(X, axis=1)
    expected = clone(REGRESSORS[name]).fit(X, y).predict(X)
    if kind == "list":
        given = X.tolist()
    elif kind == "fortran":
        given = np.asfortranarray(X)
    elif kind == "frame":
        given = pd.DataFrame(X, columns=["a", "b", "c"])
    else:
        given = X.astype(kind)
    found = clone(REGRESSORS[name]).fit(given, y).predict(given)
    np.testing.assert_allclose(found, expected, atol=1e-9)


# -- names -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", REGRESSORS)
def test_names_of_columns_are_kept_and_insisted_on(name):
    _, X, y = made()
    frame = pd.DataFrame(X, columns=["gpr", "ir", "emi"])
    model = clone(REGRESSORS[name]).fit(frame, y)
    assert list(model.feature_names_in_) == ["gpr", "ir", "emi"]
    if name in MEASURES:
        assert model.measure_.sources == ("gpr", "ir", "emi")
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame.rename(columns={"ir": "sonar"}))
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame[["gpr", "ir"]])


# -- better with more ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["choquet", "2-additive", "towards additive", "lambda"])
def test_a_larger_family_never_fits_worse(name):
    _, X, y = made(noise=0.1)
    free = choquet.ChoquetRegressor(monotone=False, normal=False).fit(X, y)
    monotone = choquet.ChoquetRegressor().fit(X, y)
    narrow = clone(MEASURES[name]).fit(X, y)

    def error(model):
        return float(((model.predict(X) - y) ** 2).sum())

    assert error(free) <= error(monotone) + 1e-6 <= error(narrow) + 2e-6


@pytest.mark.parametrize("family", ["additive", "symmetric"])
def test_a_strong_prior_gives_the_family(family):
    _, X, y = made(30, noise=0.2)
    g = choquet.ChoquetRegressor(prior=family, prior_alpha=1e7).fit(X, y).measure_.values
    if family == "additive":
        np.testing.assert_allclose(g[[3, 5, 6]], [g[1] + g[2], g[1] + g[4], g[2] + g[4]], atol=1e-3)
    else:
        assert np.ptp(g[[1, 2, 4]]) < 1e-3
        assert np.ptp(g[[3, 5, 6]]) < 1e-3


def test_known_truths_come_back():
    rng = np.random.default_rng(0)
    X = rng.random((200, 3))
    truths = {
        "owa": np.sort(X, axis=1)[:, ::-1] @ [0.5, 0.3, 0.2],
        "convex sum": X @ [0.5, 0.3, 0.2],
        "choquet": np.median(X, axis=1),
        "2-additive": 0.4 * X[:, 0] + 0.6 * np.minimum(X[:, 1], X[:, 2]),
    }
    for name, y in truths.items():
        model = clone(MEASURES[name]).fit(X, y)
        np.testing.assert_allclose(model.predict(X), y, atol=1e-4, err_msg=name)


# -- support and intervals -------------------------------------------------------------------------


@settings(max_examples=15)
@given(st.integers(2, 5), st.integers(2, 12), st.integers(0, 10_000))
def test_intervals_hold_the_prediction_and_close_on_what_was_seen(n_sources, n, seed):
    rng = np.random.default_rng(seed)
    X = rng.random((n, n_sources))
    model = choquet.ChoquetRegressor().fit(X, X.mean(axis=1))
    new = np.concatenate([X, rng.random((20, n_sources))])
    low, high = model.support_interval(new).T
    predicted = model.predict(new)
    assert (low <= predicted + 1e-9).all()
    assert (predicted <= high + 1e-9).all()
    np.testing.assert_allclose((high - low)[:n], 0, atol=1e-9)


def test_more_data_never_support_less():
    _, X, y = made(60)
    counts = [
        choquet.ChoquetRegressor().fit(X[:n], y[:n]).support_.n_supported for n in (5, 20, 60)
    ]
    assert counts == sorted(counts)


# -- classes ---------------------------------------------------------------------------------------


def classes(labels=("low", "mid", "top"), n=150):
    rng = np.random.default_rng(0)
    X = rng.random((n, 3))
    score = np.median(X, axis=1) + 0.05 * rng.standard_normal(n)
    cuts = np.quantile(score, np.linspace(0, 1, len(labels) + 1)[1:-1])
    return X, np.array(labels)[np.digitize(score, cuts)]


@pytest.mark.parametrize("name", CLASSIFIERS)
@pytest.mark.parametrize("labels", [("no", "yes"), ("low", "mid", "top"), (3, 5), (-1, 0, 7)])
def test_probabilities(name, labels):
    X, y = classes(labels)
    model = clone(CLASSIFIERS[name]).fit(X, y)
    shares = model.predict_proba(X)
    assert model.classes_.tolist() == sorted(labels)
    assert shares.shape == (len(X), len(labels))
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    assert ((shares >= 0) & (shares <= 1)).all()
    np.testing.assert_array_equal(model.predict(X), model.classes_[shares.argmax(axis=1)])
    assert model.score(X, y) > 0.6


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_other_words_for_the_same_classes_do_not_matter(name):
    X, y = classes(("a", "b"))
    one = clone(CLASSIFIERS[name]).fit(X, y)
    other = clone(CLASSIFIERS[name]).fit(X, np.where(y == "a", 0, 1))
    np.testing.assert_allclose(one.predict_proba(X), other.predict_proba(X), atol=1e-9)


def test_levels_are_ordered():
    X, y = classes((1, 2, 3))
    model = choquet.ChoquetClassifier(ordinal=True).fit(X, y)
    more = np.minimum(X + 0.3, 1)
    assert (model.predict(more) >= model.predict(X)).all()
    above = model.predict_proba(more)[:, ::-1].cumsum(axis=1)
    assert (above >= model.predict_proba(X)[:, ::-1].cumsum(axis=1) - 1e-9).all()


def test_fusion_is_better_than_its_members_where_they_complement_each_other():
    from sklearn.linear_model import LogisticRegression

    rng = np.random.default_rng(0)
    X = rng.standard_normal((600, 2))
    y = (X[:, 0] > 0) & (X[:, 1] > 0)

    class Half(LogisticRegression):
        """Sees one column only."""

        def __init__(self, column=0):
            super().__init__()
            self.column = column

        def fit(self, X, y):
            return super().fit(X[:, [self.column]], y)

        def predict_proba(self, X):
            return super().predict_proba(X[:, [self.column]])

    members = [("left", Half(0)), ("right", Half(1))]
    fused = choquet.FusionClassifier(members).fit(X[:300], y[:300])
    alone = [clone(member).fit(X[:300], y[:300]) for _, member in members]
    areas = [roc_auc_score(y[300:], one.predict_proba(X[300:])[:, 1]) for one in alone]
    assert roc_auc_score(y[300:], fused.predict_proba(X[300:])[:, 1]) > max(areas) + 0.03
    assert fused.measure_.sources == ("left", "right")


# -- in the company of scikit-learn ----------------------------------------------------------------


@pytest.mark.parametrize("name", REGRESSORS)
def test_in_a_pipeline_units_do_not_matter(name):
    _, X, y = made()
    one = make_pipeline(MinMaxScaler(), clone(REGRESSORS[name])).fit(X, y)
    other = make_pipeline(MinMaxScaler(), clone(REGRESSORS[name])).fit(50 * X + 7, y)
    np.testing.assert_allclose(other.predict(50 * X + 7), one.predict(X), atol=1e-6)


@pytest.mark.parametrize("name", ["choquet", "owa", "contextual"])
def test_scores_on_held_out_rows(name):
    _, X, y = made(200)
    scores = cross_val_score(clone(REGRESSORS[name]), X, y, cv=3)
    assert scores.min() > (0.5 if name == "owa" else 0.9)


@pytest.mark.parametrize("name", [*REGRESSORS])
def test_parameters_are_kept_as_given(name):
    model = REGRESSORS[name]
    before = model.get_params()
    again = type(model)(**before)
    assert {key: repr(value) for key, value in again.get_params().items()} == {
        key: repr(value) for key, value in before.items()
    }
    _, X, y = made()
    fitted = clone(model).fit(X, y)
    after = fitted.get_params()
    assert {key: repr(value) for key, value in after.items()} == {
        key: repr(value) for key, value in before.items()
    }
