"""What estimators promise in their docstrings, and what they refuse."""

from __future__ import annotations

import inspect
import re
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

import choquet
from choquet.errors import ChoquetError, SupportWarning

ESTIMATORS = {
    name: getattr(choquet, name)
    for name in choquet.__all__
    if inspect.isclass(getattr(choquet, name)) and hasattr(getattr(choquet, name), "get_params")
}
MEMBERS = [("bayes", GaussianNB()), ("tree", DecisionTreeClassifier(max_depth=3, random_state=0))]
PREDICTORS = [name for name in ESTIMATORS if hasattr(ESTIMATORS[name], "predict")]
REGRESSORS = [name for name in PREDICTORS if "Regressor" in name]
CLASSIFIERS = [name for name in PREDICTORS if "Classifier" in name]


def made(name):
    return ESTIMATORS[name](MEMBERS) if name == "FusionClassifier" else ESTIMATORS[name]()


def data(name, n=160):
    rng = np.random.default_rng(0)
    X = rng.random((n, 3))
    y = np.clip(X @ [0.5, 0.3, 0.2] + 0.02 * rng.standard_normal(n), 0.01, 0.99)
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    return frame, (y > 0.5) if name in CLASSIFIERS else y


@pytest.fixture(scope="module")
def fitted():
    known = {}

    def fit(name):
        if name not in known:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", SupportWarning)
                known[name] = made(name).fit(*data(name))
        return known[name]

    return fit


# -- docstrings ------------------------------------------------------------------------------------


def documented(kind, section):
    """Names that a section of a docstring describes."""
    doc = inspect.getdoc(kind) or ""
    match = re.search(rf"^{section}\n-+\n(.*?)(?=^\w[\w ]*\n-+\n|\Z)", doc, re.M | re.S)
    heads = re.findall(r"^(\S[^:\n]*?) ?(?::.*)?$", match[1], re.M) if match else []
    return [name.strip() for head in heads for name in head.split(",")]


@pytest.mark.parametrize("name", ESTIMATORS)
def test_every_parameter_is_described_in_its_order(name):
    given = list(inspect.signature(ESTIMATORS[name]).parameters)
    assert documented(ESTIMATORS[name], "Parameters") == given


@pytest.mark.parametrize("name", PREDICTORS)
def test_what_is_described_is_there_after_fitting(name, fitted):
    listed = [word for word in documented(ESTIMATORS[name], "Attributes") if word.endswith("_")]
    missing = [word for word in listed if not hasattr(fitted(name), word)]
    assert not missing


@pytest.mark.parametrize("name", PREDICTORS)
def test_nothing_is_there_before_fitting(name):
    model = made(name)
    listed = [word for word in documented(ESTIMATORS[name], "Attributes") if word.endswith("_")]
    assert not [word for word in listed if word in vars(model)]
    with pytest.raises(NotFittedError):
        model.predict(data(name)[0])


@pytest.mark.parametrize("name", ESTIMATORS)
def test_options_are_named_and_have_defaults(name):
    for parameter in inspect.signature(ESTIMATORS[name]).parameters.values():
        if parameter.name in ("estimator", "estimators"):
            continue  # what is wrapped comes first, as in scikit-learn
        assert parameter.kind is inspect.Parameter.KEYWORD_ONLY, parameter.name
        assert parameter.default is not inspect.Parameter.empty, parameter.name
    with pytest.raises(TypeError):
        ESTIMATORS[name](no_such_option=1)


# -- data that cannot be learned from --------------------------------------------------------------


def broken(X, y):
    """Data with one fault each, by what is wrong with them."""
    nan = X.copy()
    nan.iloc[3, 1] = np.nan
    infinite = X.copy()
    infinite.iloc[3, 1] = np.inf
    text = X.astype(object)
    text.iloc[3, 1] = "much"
    return {
        "missing": (nan, y),
        "infinite": (infinite, y),
        "text": (text, y),
        "complex": (X.to_numpy() + 1j, y),
        "no rows": (X.iloc[:0], y[:0]),
        "other length": (X, y[:-1]),
        "no columns": (X.iloc[:, :0], y),
        "flat": (X["a"].to_numpy(), y),
        "deep": (X.to_numpy()[None], y),
    }


@pytest.mark.parametrize("fault", list(broken(*data("ChoquetRegressor"))))
@pytest.mark.parametrize("name", PREDICTORS)
def test_bad_data_are_refused_in_words(name, fault):
    if "Additive" in name and fault in ("missing", "text"):
        pytest.skip("additive models learn from missing values and categories")
    X, y = broken(*data(name))[fault]
    with pytest.raises(ValueError) as caught:
        made(name).fit(X, y)
    assert len(str(caught.value)) > 15


@pytest.mark.parametrize("fault", ["missing", "infinite", "text", "complex", "flat"])
@pytest.mark.parametrize("name", PREDICTORS)
def test_bad_rows_get_no_prediction(name, fault, fitted):
    if "Additive" in name and fault == "missing":
        pytest.skip("additive models leave a missing source out")
    X, _ = broken(*data(name))[fault]
    model = fitted(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # arrays have no names
        with pytest.raises(ValueError):
            model.predict(X)


@pytest.mark.parametrize("name", REGRESSORS)
def test_bad_targets_are_refused(name):
    X, y = data(name)
    for bad in (np.where(np.arange(len(y)) == 3, np.nan, y), np.where(y > 0.5, np.inf, y)):
        with pytest.raises(ValueError):
            made(name).fit(X, bad)
    with pytest.raises(ValueError):
        made(name).fit(X, np.column_stack([y, y]))


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_one_class_alone_is_refused(name):
    X, y = data(name)
    with pytest.raises(ValueError, match="class"):
        made(name).fit(X, np.zeros_like(y))


# -- options that make no sense --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("ChoquetRegressor", {"fill": "guess"}),
        ("ChoquetRegressor", {"solver": "magic"}),
        ("ChoquetRegressor", {"penalty": "l7"}),
        ("ChoquetRegressor", {"loss": "cubic"}),
        ("ChoquetRegressor", {"prior": "fair"}),
        ("ChoquetRegressor", {"k_additive": 0}),
        ("ChoquetRegressor", {"k_additive": 4}),
        ("ChoquetRegressor", {"k_additive": 1.5}),
        ("ChoquetRegressor", {"choice": "best"}),
        ("ContextualRegressor", {"max_leaves": 0}),
        ("ContextualRegressor", {"prune": "garden"}),
        ("ContextualRegressor", {"loss": "cubic"}),
        ("ContextualRegressor", {"cv": 1}),
        ("ContextualClassifier", {"prune": "garden"}),
        ("ContextualClassifier", {"max_leaves": -1}),
    ],
)
def test_the_error_names_the_option_and_its_value(name, options):
    with pytest.raises(ChoquetError) as caught:
        ESTIMATORS[name](**options).fit(*data(name))
    ((option, value),) = options.items()
    assert option in str(caught.value)
    assert str(value) in str(caught.value)
