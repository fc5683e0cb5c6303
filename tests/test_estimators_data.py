"""What is no number is refused by every estimator, and nothing is predicted upside down."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import roc_auc_score
from sklearn.naive_bayes import GaussianNB
from sklearn.preprocessing import minmax_scale
from sklearn.tree import DecisionTreeClassifier

import choquet
from choquet import ChoquetClassifier, ChoquetRegressor, ChoquetRegressorCV, FusionClassifier
from choquet.errors import DataError, SupportWarning
from choquet.estimators import LambdaRegressor

RNG = np.random.default_rng(1)
X = RNG.random((30, 3))
Y = X.mean(axis=1)
LABELS = (Y > 0.5).astype(int)
DATES = np.full((30, 3), "2024-01-01", dtype="datetime64[D]")

ESTIMATORS = {
    "regressor": (ChoquetRegressor(), Y),
    "wide": (ChoquetRegressor(k_additive=2), Y),
    "cv": (ChoquetRegressorCV(random_state=0), Y),
    "lambda": (LambdaRegressor(), Y),
    "classifier": (ChoquetClassifier(), LABELS),
    "fusion": (
        FusionClassifier([("bayes", GaussianNB()), ("tree", DecisionTreeClassifier())]),
        LABELS,
    ),
}


def nullable():
    frame = pd.DataFrame(X, columns=list("abc")).convert_dtypes()
    frame.loc[3, "b"] = pd.NA
    return frame


BAD = {
    "masked": lambda: np.ma.masked_array(X, X > 0.9),
    "dates": lambda: DATES,
    "not a time": lambda: np.where(X > 0.9, np.datetime64("NaT"), DATES),
    "durations": lambda: DATES - DATES[:, :1],
    "a column of dates": lambda: pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "c": DATES[:, 0]}),
    "complex": lambda: X + 0j,
    "text": lambda: X.astype(str),
    "nullable": nullable,
    "dates among objects": lambda: np.where(X > 0.9, DATES.astype(object), X.astype(object)),
    "not a number": lambda: np.where(X > 0.9, np.nan, X),
}


@pytest.mark.filterwarnings("ignore:X has feature names")
@pytest.mark.parametrize("name", ESTIMATORS)
@pytest.mark.parametrize("kind", BAD)
def test_inputs_must_be_numbers(name, kind):
    model, y = ESTIMATORS[name]
    with pytest.raises(DataError):
        clone(model).fit(BAD[kind](), y)
    fitted = clone(model).fit(X, y)
    with pytest.raises(DataError):
        fitted.predict(BAD[kind]())
    if hasattr(fitted, "predict_interval"):
        with pytest.raises(DataError):
            fitted.predict_interval(BAD[kind]())
        with pytest.raises(DataError):
            fitted.support_share(BAD[kind]())


@pytest.mark.parametrize("name", ["regressor", "cv", "lambda"])
@pytest.mark.parametrize("kind", BAD)
def test_targets_and_weights_must_be_numbers(name, kind):
    bad = BAD[kind]()
    column = bad["c" if "dates" in kind else "b"] if isinstance(bad, pd.DataFrame) else bad[:, 1]
    model = ESTIMATORS[name][0]
    with pytest.raises(DataError):
        clone(model).fit(X, column)
    with pytest.raises(DataError):
        clone(model).fit(X, Y, sample_weight=column)


@pytest.mark.parametrize("name", ["classifier", "fusion"])
def test_labels_must_be_labels(name):
    model = ESTIMATORS[name][0]
    for bad in (
        np.ma.masked_array(LABELS, X[:, 0] > 0.9),
        DATES[:, 0] + LABELS,
        pd.array([None, *LABELS[1:]], dtype="Int64"),
    ):
        with pytest.raises(DataError):
            clone(model).fit(X, bad)
    with pytest.raises(DataError):
        clone(model).fit(X, LABELS, sample_weight=np.ma.masked_array(Y, X[:, 0] > 0.9))


def test_scores_must_be_numbers():
    scores = np.stack([1 - X, X], axis=1)
    model = FusionClassifier().fit(scores, LABELS)
    for bad in (np.ma.masked_array(scores, scores > 0.9), scores + 0j, scores.astype(str)):
        with pytest.raises(DataError):
            FusionClassifier().fit(bad, LABELS)
        with pytest.raises(DataError):
            model.predict(bad)
    with pytest.raises(DataError, match="scores of 30 samples"):
        FusionClassifier().fit(scores, LABELS[:5])
    with pytest.raises(DataError):
        FusionClassifier().fit(scores, LABELS, sample_weight=np.full(30, np.nan))


def test_what_scikit_learn_refuses_is_an_error_of_ours():
    frame = pd.DataFrame(X, columns=list("abc"))
    model = ChoquetRegressor().fit(frame, Y)
    for bad in (frame[["c", "b", "a"]], frame[["a", "b"]], frame.assign(d=1.0)):
        with pytest.raises(DataError):
            model.predict(bad)


def test_good_nullable_columns_are_numbers():
    frame = pd.DataFrame(X, columns=list("abc"))
    model = ChoquetRegressor().fit(frame.convert_dtypes(), pd.Series(Y).convert_dtypes())
    np.testing.assert_array_equal(model.predict(frame), ChoquetRegressor().fit(X, Y).predict(X))


@pytest.mark.parametrize("shared", [True, False])
def test_fusion_takes_the_regressor_that_chooses(shared):
    rng = np.random.default_rng(2)
    y = rng.integers(0, 3, 150)
    scores = np.eye(3)[y][:, :, None] * [0.8, 0.5] + 0.3 * rng.random((150, 3, 2))
    model = FusionClassifier(regressor=ChoquetRegressorCV(random_state=0), shared=shared).fit(
        scores, y
    )
    assert model.score(scores, y) > 0.95
    assert len(model.measures_) == (1 if shared else 3)
    parts = FusionClassifier(regressor=ChoquetRegressorCV(random_state=0), shared=shared)
    parts.partial_fit(scores[:60], y[:60], classes=[0, 1, 2]).partial_fit(scores[60:], y[60:])
    for one, other in zip(model.measures_, parts.measures_, strict=True):
        np.testing.assert_allclose(one.values, other.values, atol=1e-9)
    learners = [("bayes", GaussianNB()), ("tree", DecisionTreeClassifier(random_state=0))]
    flat = scores.reshape(150, -1)
    whole = FusionClassifier(learners, regressor=ChoquetRegressorCV(random_state=0)).fit(flat, y)
    assert whole.score(flat, y) > 0.9
    assert whole.measure_.sources == ("bayes", "tree")


@pytest.mark.parametrize("n", [5, 8, 30])
@pytest.mark.parametrize("scaled", [True, False])
def test_a_class_that_falls_with_every_source_is_not_predicted_upside_down(n, scaled):
    data, benign = load_breast_cancer(return_X_y=True)
    rows = (minmax_scale(data) if scaled else data)[:, :n]
    if n == 30:  # some of them rise with the class
        model = ChoquetClassifier().fit(rows, benign)
    else:
        with pytest.warns(SupportWarning, match="does not rise with any source"):
            model = ChoquetClassifier().fit(rows, benign)
        proba = model.predict_proba(rows)[:, 1]
        assert np.ptp(proba) == 0
        assert proba[0] == pytest.approx(benign.mean(), abs=1e-3)
        assert model.scales_[0] == 0
    assert roc_auc_score(benign, model.predict_proba(rows)[:, 1]) >= 0.5


def test_ordered_levels_that_fall_get_their_shares():
    level = np.digitize(-Y, [-0.6, -0.4])
    with pytest.warns(SupportWarning, match="not rise"):
        model = ChoquetClassifier(ordinal=True).fit(X, level)
    proba = model.predict_proba(X)
    assert (np.ptp(proba, axis=0) == 0).all()
    np.testing.assert_allclose(proba[0], np.bincount(level) / len(level), atol=1e-2)
    assert choquet.ChoquetClassifier(ordinal=True).fit(X, 2 - level).scales_[0] > 0
