"""Data and options beyond what floating-point numbers hold: a right answer or a clear error."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import choquet
from choquet import (
    ChoquetAdditiveClassifier,
    ChoquetAdditiveRegressor,
    ChoquetClassifier,
    ChoquetRegressor,
    ChoquetRegressorCV,
    ContextualClassifier,
    ContextualRegressor,
    FusionClassifier,
)
from choquet.errors import ChoquetError, DataError, OptionError, SolverError
from choquet.estimators import (
    GradientDescentRegressor,
    LambdaRegressor,
    LinearConvexSumRegressor,
    OWARegressor,
)
from choquet.learning import Statistics, least_squares, solve, with_penalty
from choquet.learning.data.minima import MinimaStatistics

RNG = np.random.default_rng(0)
X = RNG.random((40, 3))
WEIGHTS = np.array([0.2, 0.3, 0.5])
Y = X @ WEIGHTS

REGRESSORS = {
    "monotone": ChoquetRegressor(),
    "free": ChoquetRegressor(monotone=False, normal=False, fit_intercept=True),
    "absolute": ChoquetRegressor(loss="absolute"),
    "cv": ChoquetRegressorCV(random_state=0),
    "cv average": ChoquetRegressorCV(random_state=0, combine="average"),
    "cv best": ChoquetRegressorCV(random_state=0, combine="best"),
    "lambda": LambdaRegressor(),
    "owa": OWARegressor(),
    "mean": LinearConvexSumRegressor(),
    "descent": GradientDescentRegressor(max_iter=50),
}


def fresh(name):
    from sklearn.base import clone

    return clone(REGRESSORS[name])


@pytest.mark.filterwarnings("ignore::choquet.errors.ChoquetWarning")
@pytest.mark.parametrize("name", REGRESSORS)
@pytest.mark.parametrize("scale", [1e155, 1e-170, 1e300, 5e-324])
def test_inputs_beyond_squares_are_refused(name, scale):
    with pytest.raises(DataError, match="squares"):
        fresh(name).fit(X * scale, Y * scale)


@pytest.mark.parametrize("name", ["monotone", "cv", "cv best", "mean", "absolute"])
@pytest.mark.parametrize("scale", [1e60, 1e-60])
def test_within_them_the_scale_does_not_matter(name, scale):
    plain, scaled = fresh(name).fit(X, Y), fresh(name).fit(X * scale, Y * scale)
    np.testing.assert_allclose(scaled.measure_.values, plain.measure_.values, atol=1e-4)


@pytest.mark.parametrize("name", REGRESSORS)
def test_a_large_offset_is_refused(name):
    with pytest.raises(DataError, match=r"near 1e\+09 .*differ by .* subtract"):
        fresh(name).fit(X + 1e9, Y + 1e9)


@pytest.mark.parametrize("name", ["monotone", "free", "cv", "cv best", "mean"])
def test_an_offset_that_is_accepted_changes_nothing(name):
    plain, moved = fresh(name).fit(X, Y), fresh(name).fit(X + 1e3, Y + 1e3)
    np.testing.assert_allclose(moved.predict(X + 1e3) - 1e3, plain.predict(X), atol=1e-3)


def test_targets_far_from_zero_are_refused():
    with pytest.raises(DataError, match="targets lie near"):
        fresh("free").fit(X, Y + 1e9)
    first = fresh("free").partial_fit(X, Y)
    first.partial_fit(X[:2], np.array([1.0, 1.0 + 1e-9]))  # the sums as a whole are good


@pytest.mark.parametrize("scale", [1e155, 1e-170])
def test_classifiers_refuse_them_too(scale):
    with pytest.raises(DataError, match="squares"):
        ChoquetClassifier().fit(X * scale, Y > 0.5)
    scores = np.stack([X, 1 - X], axis=1) * scale
    with pytest.raises(DataError, match="squares"):
        FusionClassifier().fit(scores, (Y < 0.5).astype(int))


def test_a_classifier_refuses_a_large_offset():
    with pytest.raises(DataError, match="subtract the same number"):
        ChoquetClassifier().fit(X + 1e9, Y > 0.5)


def test_statistics_refuse_what_overflows():
    wide = RNG.random((9, 14))
    for rows in (X, wide):
        y = rows[:, 0]
        for bad in ((rows * 1e155, y), (rows, y * 1e160), (rows, y, np.full(len(rows), 1e308))):
            with pytest.raises(DataError, match="do not fit"):
                Statistics.from_data(*bad)
        with pytest.raises(DataError, match="do not fit"):
            MinimaStatistics.from_data(rows * 1e155, y, order=2)
    with pytest.raises(DataError, match="overflow"):
        choquet.DataSupport.from_data(X * 1e155)
    large = Statistics.from_data(X * 1e99, Y * 1e99)
    with pytest.raises(DataError, match="do not fit"):
        sum([large] * 20, start=large)


@pytest.mark.filterwarnings("ignore::choquet.errors.ChoquetWarning")
@pytest.mark.parametrize("name", REGRESSORS)
@pytest.mark.parametrize("weight", [1e308, 1e-308])
def test_extreme_weights_are_refused(name, weight):
    with pytest.raises(DataError, match="weights"):
        fresh(name).fit(X, Y, sample_weight=np.full(len(X), weight))


@pytest.mark.parametrize("strength", [np.nan, np.inf, -1.0, 1e308, "1"])
def test_strengths_are_numbers(strength):
    problem = least_squares(Statistics.from_data(X, Y))
    with pytest.raises(OptionError, match="finite number"):
        with_penalty(problem, l2=strength)
    for penalty in ("l1", "l2", "elasticnet", "lp"):
        with pytest.raises(OptionError, match="finite number"):
            ChoquetRegressor(penalty=penalty, alpha=strength).fit(X, Y)
    with pytest.raises(OptionError, match="finite number"):
        ChoquetClassifier(alpha=strength).fit(X, Y > 0.5)
    with pytest.raises(OptionError, match="finite number"):
        ChoquetRegressorCV(random_state=0, alphas=[strength]).fit(X, Y)
    wide = RNG.random((20, 17))
    with pytest.raises(OptionError, match="finite number"):
        ChoquetRegressor(k_additive=2, penalty="l2", alpha=strength).fit(wide, wide[:, 0])


def test_a_solve_without_a_finite_answer_raises():
    from dataclasses import replace

    problem = least_squares(Statistics.from_data(X, Y))
    relaxed = least_squares(Statistics.from_data(X, Y), monotone=False, normal=False)
    for one in (problem, relaxed):
        for bad in (
            replace(one, quadratic=one.quadratic * np.inf),
            replace(one, linear=one.linear * np.nan),
            replace(one, constant=np.inf),
        ):
            with pytest.raises(SolverError, match=r"finite|usable"):
                solve(bad)


@settings(deadline=None, max_examples=25)
@given(
    st.integers(0, 10_000),
    st.integers(1, 3),
    st.integers(2, 4),
    st.sampled_from([None, 1e-150, 1e150, "mixed"]),
    st.sampled_from(["zero", "equal", "mean"]),
)
def test_few_rows_and_extreme_weights_never_show_a_raw_error(seed, n_rows, n, weight, targets):
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, 4, (n_rows, n)) / 3
    y = {"zero": np.zeros(n_rows), "equal": np.full(n_rows, 0.5), "mean": rows.mean(axis=1)}
    weights = None if weight is None else np.full(n_rows, 1.0)
    if weight == "mixed":
        weights = 10.0 ** rng.integers(-90, 90, n_rows)
    elif weight is not None:
        weights = weights * weight
    for combine in ("posterior", "average"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                model = ChoquetRegressorCV(random_state=0, combine=combine).fit(
                    rows, y[targets], weights
                )
            except ChoquetError:
                continue
        assert np.isfinite(model.measure_.values).all()
        assert np.isfinite(model.predict(rows)).all()


# -- learners that go on from rows -----------------------------------------------------------------

FROM_ROWS = {
    "additive": ChoquetAdditiveRegressor(max_order=1, link="add"),
    "additive classes": ChoquetAdditiveClassifier(max_order=1),
    "contextual": ContextualRegressor(random_state=0),
    "contextual classes": ContextualClassifier(random_state=0),
}


def from_rows(name):
    from sklearn.base import clone

    return clone(FROM_ROWS[name]), (Y > 0.5) if "classes" in name else Y


@pytest.mark.parametrize("name", FROM_ROWS)
@pytest.mark.parametrize("scale", [1e155, 1e-170, 1e300, 1e-310])
def test_learners_from_rows_refuse_what_they_cannot_square(name, scale):
    model, y = from_rows(name)
    with pytest.raises(DataError, match="squares"):
        model.fit(X * scale, y if y.dtype == bool else y * scale)
    if y.dtype != bool and scale > 1:
        with pytest.raises(DataError, match="squares"):
            model.fit(X, y * scale)


@pytest.mark.parametrize("name", FROM_ROWS)
@pytest.mark.parametrize("offset", [1e9, -1e9, 1e12, 1e17])
def test_learners_from_rows_refuse_a_large_offset(name, offset):
    model, y = from_rows(name)
    moved = X.copy()
    moved[:, 1] += offset
    if np.ptp(moved[:, 1]):
        with pytest.raises(DataError, match=r"column 1 lies near .* subtract"):
            model.fit(moved, y)
    if y.dtype != bool and np.ptp(y + offset):
        with pytest.raises(DataError, match=r"the target lies near .* subtract"):
            model.fit(X, y + offset)


@pytest.mark.parametrize("name", FROM_ROWS)
@pytest.mark.parametrize("weight", [1e308, 1e-308, 0.0, np.nan, np.inf, -1.0])
def test_learners_from_rows_refuse_extreme_weights(name, weight):
    model, y = from_rows(name)
    with pytest.raises(DataError):
        model.fit(X, y, sample_weight=np.full(len(X), weight))


@pytest.mark.parametrize("name", ["additive", "contextual"])
@pytest.mark.parametrize("scale", [2.0**180, 2.0**-180])
def test_within_them_they_learn_the_same(name, scale):
    (plain, y), (scaled, _) = from_rows(name), from_rows(name)
    found = scaled.fit(X * scale, y * scale).predict(X * scale) / scale
    np.testing.assert_allclose(found, plain.fit(X, y).predict(X), atol=1e-6)
