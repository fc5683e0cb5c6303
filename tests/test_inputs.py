"""Columns go by name or are refused, and what is no number is refused: in every room alike."""

from __future__ import annotations

import inspect
import warnings
from datetime import date
from functools import cache, partial

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.linear_model import LogisticRegression

import choquet
from choquet import estimators
from choquet.arrays import as_inputs, cells_of
from choquet.errors import ChoquetError, DataError, SourceError
from choquet.estimators import fit_additive_chunks, fit_chunks, fit_evidence
from choquet.learning.data.chunks import evidence_of_chunks, statistics_of_chunks

NAMES = ["a", "b", "c"]
OTHER = ["c", "a", "b"]
X = np.random.default_rng(0).random((60, 3))
Y = np.clip(0.5 * X[:, 2] + 0.5 * X.max(axis=1), 0, 1)
FRAME = pd.DataFrame(X, columns=NAMES)
LABELS = np.array(["low", "high"])[(np.median(Y) < Y).astype(int)]

MODELS = {
    "regressor": lambda: estimators.ChoquetRegressor(),
    "cross-validated": lambda: estimators.ChoquetRegressorCV(),
    "classifier": lambda: estimators.ChoquetClassifier(),
    "additive": lambda: estimators.ChoquetAdditiveRegressor(max_order=1, link="add"),
    "additive classifier": lambda: estimators.ChoquetAdditiveClassifier(max_order=1),
    "contextual": lambda: estimators.ContextualRegressor(l2=0.1),
    "contextual classifier": lambda: estimators.ContextualClassifier(l2=0.1),
    "scale": lambda: estimators.Commensurate(),
    "in units": lambda: estimators.InUnits(),
    "in units, classes": lambda: estimators.InUnits(estimators.ChoquetClassifier()),
    "conformal": lambda: estimators.ConformalRegressor(cv=2),
    "conformal classifier": lambda: estimators.ConformalClassifier(cv=2),
    "owa": lambda: estimators.OWARegressor(),
    "binary": lambda: estimators.BinaryRegressor(),
    "decomposable": lambda: estimators.DecomposableRegressor(),
    "genetic": lambda: estimators.GeneticRegressor(),
    "gradient descent": lambda: estimators.GradientDescentRegressor(),
    "lambda": lambda: estimators.LambdaRegressor(),
    "linear convex sum": lambda: estimators.LinearConvexSumRegressor(),
    "reward and punishment": lambda: estimators.RewardPunishmentRegressor(),
    "fusion": lambda: estimators.FusionClassifier(
        estimators=[("one", LogisticRegression()), ("two", LogisticRegression(C=0.1))]
    ),
    "ordered": lambda: estimators.ChoquetAdditiveClassifier(max_order=1, ordered=True),
}
BAGS = "MultipleInstanceRegressor"
"""It takes bags of rows, not rows."""


def _call(method, beside, rows):
    return method(rows, *beside)


def methods_of(model):
    """Methods that take rows, with what they take beside them; found, not listed."""
    found = {}
    for method, function in inspect.getmembers(type(model), callable):
        if method.startswith(("_", "fit", "partial_fit", "set_")) or not hasattr(model, method):
            continue
        if "X" in inspect.signature(function).parameters:
            beside = [targets(model)[:5]] if "y" in inspect.signature(function).parameters else []
            found[method] = partial(_call, getattr(model, method), beside)
    return found


def test_every_estimator_is_tried():
    known = {type(make()).__name__ for make in MODELS.values()} | {BAGS}
    public = {name for name in estimators.__all__ if hasattr(getattr(estimators, name), "fit")}
    assert public <= known


def targets(model):
    return LABELS if hasattr(model, "predict_proba") or hasattr(model, "predict_set") else Y


@cache
def fitted(name):
    model = MODELS[name]()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(FRAME, targets(model))


def strange_frames():
    """Columns that cannot be told apart from others, or are out of order."""
    numbered = pd.DataFrame(X[:5])
    levels = pd.MultiIndex.from_tuples([("x", name) for name in NAMES])
    return {
        "numbers out of order": numbered[[2, 0, 1]],
        "several levels": FRAME[:5].set_axis(levels, axis=1),
        "numbers beside text": FRAME[:5].set_axis([0, "b", "c"], axis=1),
        "dates out of order": FRAME[:5].set_axis(pd.to_datetime([3e9, 1e9, 2e9]), axis=1),
        "not collected": pl.DataFrame(X[:5], schema=NAMES).lazy(),
    }


def no_numbers():
    masked = np.ma.masked_array(X[:5], mask=X[:5] > 0.9)
    return {
        "masked": masked,
        "dates": (1e9 * X[:5]).astype("datetime64[s]"),
        "time differences": (1e9 * X[:5]).astype("timedelta64[s]"),
        "complex": X[:5] + 1j,
        "text": X[:5].astype(str),
        "text among objects": np.array([["1_0", 0.2, 0.3]], dtype=object),
        "infinite": np.array([[np.inf, 0.2, 0.3]]),
        "a date that is not there": FRAME[:5].assign(a=pd.NaT),
        "dates among objects": FRAME[:5].assign(a=np.array([date(2026, 1, 1)] * 5, dtype=object)),
        "records": FRAME[:5].to_records(index=False),
        "not there": None,
    }


REFUSED = {**strange_frames(), **no_numbers()}
# scikit-learn has a word on columns that have other names than before, or none.
pytestmark = pytest.mark.filterwarnings("ignore:X ", "ignore:A column-vector")


@pytest.mark.parametrize("given", REFUSED)
@pytest.mark.parametrize("name", MODELS)
def test_every_method_of_every_estimator_refuses_them_with_an_error_of_ours(name, given):
    model = fitted(name)
    for call in methods_of(model).values():
        with pytest.raises(ChoquetError):
            call(REFUSED[given])
    with pytest.raises(ChoquetError):
        MODELS[name]().fit(REFUSED[given], targets(model)[:5])


@pytest.mark.parametrize("given", REFUSED)
def test_functions_refuse_them_too(given):
    g = choquet.Measure.random(3, rng=0, sources=NAMES)
    parts = choquet.decompose(g)
    for call in (
        lambda X: choquet.choquet_integral(g, X),
        lambda X: choquet.sugeno_interval(g, X),
        lambda X: choquet.bipolar_integral(g, g, X),
        lambda X: choquet.BiCapacity.from_measures(g, g).integral(X),
        lambda X: choquet.DataSupport.from_data(X, sources=NAMES),
        parts.predict,
        parts.assess,
        fitted("additive").decomposition_.predict,
        lambda X: choquet.explain_samples(fitted("additive"), X),
        lambda X: choquet.explain_samples(fitted("regressor"), X),
    ):
        with pytest.raises(ChoquetError):
            call(REFUSED[given])


def renamed():
    """The same rows with the columns in another order, by different libraries."""
    some = FRAME[OTHER][:5]
    return {
        "pandas": some,
        "polars": pl.DataFrame(dict(some)),
        "arrow": pa.table({name: some[name].to_numpy() for name in OTHER}),
    }


@pytest.mark.parametrize("library", renamed())
@pytest.mark.parametrize("name", MODELS)
def test_estimators_refuse_columns_in_another_order(name, library):
    model = fitted(name)
    for method, call in methods_of(model).items():
        if method != "inverse_transform":
            with pytest.raises(DataError, match="names should match"):
                call(renamed()[library])


def test_scales_are_undone_by_name():
    scale = fitted("scale")
    for other in renamed().values():
        np.testing.assert_array_equal(
            scale.inverse_transform(other), scale.inverse_transform(X[:5])
        )


@pytest.mark.parametrize("library", renamed())
@pytest.mark.parametrize("name", ["regressor", "classifier", "additive", "additive classifier"])
def test_explanations_and_reports_take_columns_by_name(name, library):
    model, other = fitted(name), renamed()[library]
    told = [one.to_dict() for one in choquet.explain_samples(model, FRAME[:5])]
    assert [one.to_dict() for one in choquet.explain_samples(model, other)] == told
    y = targets(model)[:5]
    found = choquet.Report(model, other, y).json()
    assert found == choquet.Report(model, FRAME[:5], y).json()


def test_parts_of_an_additive_model_take_columns_by_name():
    parts = fitted("additive").decomposition_
    for other in renamed().values():
        np.testing.assert_array_equal(parts.predict(other), parts.predict(X[:5]))
        np.testing.assert_array_equal(parts.operator_of(other), parts.operator_of(X[:5]))


def test_numbered_columns_in_order_go_by_position():
    g = choquet.Measure.random(3, rng=0, sources=NAMES)
    for labels in ([0, 1, 2], [3, 5, 8], [0.1, 0.2, 0.3], pd.to_datetime([1e9, 2e9, 3e9])):
        frame = pd.DataFrame(X, columns=labels)
        np.testing.assert_array_equal(choquet.choquet_integral(g, frame), g.integral(X))
    np.testing.assert_array_equal(as_inputs(pd.Series(X[0]), 3), X[:1])
    with pytest.raises(DataError, match="in order"):
        as_inputs(pd.Series(X[0])[[1, 0, 2]], 3)


def test_cells_keep_text_beside_numbers():
    frame = pd.DataFrame({"size": [1.5, 2.0], "colour": ["red", "blue"]})
    for given in (frame, pl.DataFrame(dict(frame)), frame.to_dict("list")):
        assert cells_of(given, ["colour", "size"]).tolist() == [["red", 1.5], ["blue", 2.0]]
    assert cells_of({"a": 1.0, "b": 2.0}, ["b", "a"]).tolist() == [[2.0, 1.0]]
    with pytest.raises(DataError, match="no column 'c'"):
        cells_of(frame, ["c"])
    with pytest.raises(DataError, match="2 sources"):
        cells_of([[1, 2, 3]], ["a", "b"])


# -- chunks ----------------------------------------------------------------------------------------


def chunks():
    """Frames of three columns, the second chunk in another order."""
    return [(FRAME[:30], Y[:30]), (FRAME[OTHER][30:], Y[30:])]


def test_chunks_are_joined_by_the_names_of_their_columns():
    whole = evidence_of_chunks([(X, Y)])
    found = evidence_of_chunks(chunks())
    np.testing.assert_array_equal(found.statistics.products, whole.statistics.products)
    np.testing.assert_array_equal(found.support.count, whole.support.count)
    assert found.support.sources == ("a", "b", "c")
    sums = statistics_of_chunks(chunks(), sources=NAMES)
    np.testing.assert_array_equal(sums.products, whole.statistics.products)
    with pytest.raises(DataError, match="chunk 1: the data have no column 'a'"):
        evidence_of_chunks([chunks()[0], (FRAME.rename(columns={"a": "z"}), Y)])
    with pytest.raises(SourceError, match="in this order"):
        fit_evidence(choquet.ChoquetRegressor(), found, sources=OTHER)


@pytest.mark.parametrize(
    ("fit", "model"),
    [
        (fit_chunks, lambda: choquet.ChoquetRegressor()),
        (fit_additive_chunks, lambda: choquet.ChoquetAdditiveRegressor(max_order=1, link="add")),
    ],
)
@pytest.mark.parametrize("sources", [None, NAMES])
def test_models_of_chunks_know_the_names_of_their_columns(fit, model, sources):
    made = fit(model(), chunks(), sources=sources)
    expected = model().fit(X, Y).predict(X[:5])
    np.testing.assert_allclose(made.predict(X[:5]), expected, atol=1e-8)
    for other in renamed().values():
        np.testing.assert_array_equal(made.predict(other), made.predict(X[:5]))
    with pytest.raises(DataError, match="no column 'a'"):
        made.predict(FRAME.rename(columns={"a": "z"}))
