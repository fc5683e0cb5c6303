from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

import choquet
from choquet.errors import DataError, OptionError, SupportWarning
from choquet.estimators import (
    ChoquetClassifier,
    ChoquetRegressor,
    ChoquetRegressorCV,
    FusionClassifier,
    GradientDescentRegressor,
    LambdaRegressor,
    LinearConvexSumRegressor,
    OWARegressor,
)
from choquet.lattice import monotonicity_witness
from choquet.learning import Statistics, least_squares
from tests.tolerances import value_error

pytestmark = pytest.mark.numerical

ESTIMATORS = [
    ChoquetClassifier(),
    ChoquetClassifier(ordinal=True),
    FusionClassifier([("bayes", GaussianNB()), ("tree", DecisionTreeClassifier(random_state=0))]),
    ChoquetRegressor(),
    ChoquetRegressor(monotone=False, normal=False, fit_intercept=True, penalty="l2"),
    ChoquetRegressorCV(random_state=0, priors=("symmetric",), cv=2),
    GradientDescentRegressor(max_iter=100),
    LambdaRegressor(),
    LinearConvexSumRegressor(),
    OWARegressor(),
]


# The checks feed targets and inputs of any scale, which the estimators rightly warn about.
@pytest.mark.filterwarnings("ignore::choquet.errors.ChoquetWarning")
@parametrize_with_checks(ESTIMATORS)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


REGRESSORS = [
    ChoquetRegressor(),
    ChoquetRegressor(monotone=False, normal=False, fit_intercept=True, penalty="l2"),
    ChoquetRegressor(prior="2-additive"),
    ChoquetRegressor(k_additive=2),
    GradientDescentRegressor(max_iter=50),
    LambdaRegressor(),
    LinearConvexSumRegressor(),
    OWARegressor(),
]


def make(n_samples=80, n_sources=4, sigma=0.05, seed=0):
    rng = np.random.default_rng(seed)
    g = choquet.Measure.random(n_sources, rng=rng)
    X = rng.random((n_samples, n_sources))
    return g, X, choquet.choquet_integral(g, X) + sigma * rng.standard_normal(n_samples)


@pytest.mark.parametrize("model", REGRESSORS, ids=str)
def test_chunks_equal_one_fit(model):
    _, X, y = make()
    whole = clone(model).fit(X, y)
    chunks = clone(model)
    for part in np.array_split(np.random.default_rng(1).permutation(len(X)), 7):
        chunks.partial_fit(X[part], y[part])
    np.testing.assert_allclose(chunks.measure_.values, whole.measure_.values, rtol=0, atol=1e-9)
    assert chunks.intercept_ == pytest.approx(whole.intercept_, abs=1e-9)
    np.testing.assert_array_equal(chunks.support_.count, whole.support_.count)


def test_chunks_equal_one_fit_where_data_determine_little():
    _, X, y = make(12, 6)
    whole, chunks = ChoquetRegressor().fit(X, y), ChoquetRegressor()
    for k in range(12):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # one row alone has a constant target
            chunks.partial_fit(X[k : k + 1], y[k : k + 1])
    np.testing.assert_allclose(chunks.measure_.values, whole.measure_.values, rtol=0, atol=1e-9)


@pytest.mark.parametrize("shared", [True, False])
def test_fusion_learns_from_scores_in_chunks(shared):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 300)
    scores = np.eye(3)[y][:, :, None] * [0.6, 0.4, 0.2] + 0.6 * rng.random((300, 3, 3))
    whole = FusionClassifier(shared=shared).fit(scores, y)
    chunks = FusionClassifier(shared=shared)
    for part in np.array_split(np.arange(300), 4):
        chunks.partial_fit(scores[part], y[part], classes=[0, 1, 2])
    for a, b in zip(whole.measures_, chunks.measures_, strict=True):
        np.testing.assert_allclose(a.values, b.values, rtol=0, atol=1e-9)
    assert len(whole.measures_) == (1 if shared else 3)
    assert whole.score(scores, y) > 0.95
    np.testing.assert_allclose(whole.predict_proba(scores).sum(axis=1), 1.0)
    with pytest.raises(DataError, match="not among the classes"):
        chunks.partial_fit(scores[:3], [0, 1, 7])
    with pytest.raises(OptionError, match="classes="):
        FusionClassifier().partial_fit(scores, y)
    with pytest.raises(DataError, match="estimators="):
        FusionClassifier().fit(scores[:, 0], y)


def test_fusion_of_fitted_and_unfitted_classifiers():
    X, y = make_classification(200, 6, n_informative=4, n_classes=3, random_state=0)
    members = [("bayes", GaussianNB()), ("tree", DecisionTreeClassifier(max_depth=3))]
    stacked = FusionClassifier(members).fit(X, y)
    fitted = [(name, clone(member).fit(X, y)) for name, member in members]
    prefit = FusionClassifier(fitted, cv="prefit").fit(X, y)
    assert min(stacked.score(X, y), prefit.score(X, y)) > 0.6
    assert stacked.measure_.sources == ("bayes", "tree")


def test_support_intervals_and_trust():
    g, X, y = make(200, 3, sigma=0.0)
    seen = X[:, 0] > X[:, 1]
    model = ChoquetRegressor().fit(X[seen], y[seen])
    bounds = model.support_interval(X)
    truth = choquet.choquet_integral(g, X)
    problem = least_squares(Statistics.from_data(X[seen], y[seen]))
    away = value_error(problem, model.solution_)
    assert away < 1e-5
    assert (bounds[:, 0] <= truth + away).all()
    assert (truth <= bounds[:, 1] + away).all()
    predicted = model.predict(X)
    assert (bounds[:, 0] <= predicted + 1e-12).all()
    assert (predicted <= bounds[:, 1] + 1e-12).all()
    assert (model.support_share(X[seen]) == 1).all()
    assert (model.support_share(X[~seen]) < 1).all()
    assert model.support_share([[0.5, 0.5, 0.5]]) == 1  # a tie needs no subset
    assert model.states().tolist() == [2, 2, 0, 2, 2, 2, 0, 2]
    for by in ("support", "width"):
        curve = model.selective_curve(X, y, by=by)
        assert curve.accepted[-1] == 1
        assert curve.error[0] < 1e-8 < curve.error[-1]


@pytest.mark.parametrize("fill", ["lower", "upper", "midpoint", "prior", "similar"])
def test_fills_stay_inside_the_interval(fill):
    g, X, y = make(6, 4)
    model = ChoquetRegressor(fill=fill, prior=g, prior_alpha=0.0).fit(X, y)
    bounds = model.support_interval(X + 0.0)
    assert bounds.shape == (6, 2)
    low = ChoquetRegressor(fill="lower").fit(X, y).measure_.values
    high = ChoquetRegressor(fill="upper").fit(X, y).measure_.values
    supported = model.support_.supported
    values = model.measure_.values
    np.testing.assert_allclose(values[supported], low[supported], atol=1e-6)
    assert (low - 1e-6 <= values).all()
    assert (values <= high + 1e-6).all()


def test_more_sources_than_a_lattice_can_hold():
    rng = np.random.default_rng(0)
    X = rng.random((40, 30))
    model = ChoquetRegressor().fit(X, X.mean(axis=1))
    assert isinstance(model.measure_, choquet.SupportedMeasure)
    np.testing.assert_allclose(model.predict(X), X.mean(axis=1), atol=1e-3)
    assert (model.support_share(rng.random((5, 30))) < 0.5).all()
    with pytest.raises(OptionError, match="more than 16"):
        ChoquetRegressor(prior="additive").fit(X, X.mean(axis=1))


def test_frames_give_the_names_of_the_sources():
    pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")
    _, X, y = make()
    columns = ["ir", "emi", "gpr", "lidar"]
    for frame in (pd.DataFrame(X, columns=columns), pl.DataFrame(X, schema=columns)):
        model = ChoquetRegressor().fit(frame, y)
        assert model.measure_.sources == tuple(columns)
        assert model.predict(frame).shape == (80,)


def test_search_and_pipelines():
    _, X, y = make()
    search = GridSearchCV(
        make_pipeline(
            StandardScaler(), ChoquetRegressor(monotone=False, normal=False, fit_intercept=True)
        ),
        {"choquetregressor__penalty": ["l1", "l2"], "choquetregressor__alpha": [0.1, 1.0]},
        cv=3,
    ).fit(X, y)
    assert search.best_score_ > 0.5
    assert "ChoquetRegressor" in ChoquetRegressor()._repr_html_()


def test_cross_validation_shrinks_where_that_helps():
    rng = np.random.default_rng(0)
    X, T = rng.random((120, 6)), rng.random((2000, 6))
    weights = rng.dirichlet(np.ones(6))
    y = X @ weights + 0.1 * rng.standard_normal(120)
    plain = ChoquetRegressor().fit(X, y).predict(T)
    model = ChoquetRegressorCV(random_state=0, n_jobs=1).fit(X, y)
    error = np.mean((model.predict(T) - T @ weights) ** 2)
    assert error < 0.5 * np.mean((plain - T @ weights) ** 2)
    assert set(model.cv_results_) == {"prior", "alpha", "mean_squared_error", "weight"}
    given = choquet.Measure.additive(weights)
    transfer = ChoquetRegressorCV(random_state=0, priors=[given], alphas=[10.0]).fit(X, y)
    assert transfer.prior_ is given


def test_error_falls_with_the_root_of_the_number_of_samples():
    errors = []
    for n_samples in (200, 3200):
        found = []
        for seed in range(5):
            g, X, y = make(n_samples, 4, sigma=0.1, seed=seed)
            fitted = ChoquetRegressor().fit(X, y).measure_
            T = np.random.default_rng(99).random((2000, 4))
            difference = choquet.choquet_integral(fitted, T) - choquet.choquet_integral(g, T)
            found.append(np.mean(difference**2))
        errors.append(np.sqrt(np.mean(found)))
    assert 2.5 < errors[0] / errors[1] < 6.5  # four, for sixteen times the samples


def test_choquistic_regression():
    rng = np.random.default_rng(0)
    X = rng.random((400, 3))
    odds = 8 * (X.min(axis=1) - 0.3)
    y = rng.random(400) < 1 / (1 + np.exp(-odds))
    model = ChoquetClassifier().fit(X, y)
    assert np.abs(model.predict_proba(X)[:, 1] - 1 / (1 + np.exp(-odds))).mean() < 0.06
    assert monotonicity_witness(model.measure_.values) is None
    up = np.minimum(X + 0.1, 1.0)
    assert (model.decision_function(up) >= model.decision_function(X) - 1e-9).all()
    level = np.digitize(X.max(axis=1), [0.5, 0.7, 0.9])
    ordinal = ChoquetClassifier(ordinal=True).fit(X, level)
    assert ordinal.score(X, level) > 0.9
    assert (np.diff(ordinal.intercepts_) < 0).all()
    falls = "classes 0, 1, taken against the rest, do not rise.* or ordinal=True"
    with pytest.warns(SupportWarning, match=falls):
        several = ChoquetClassifier().fit(X, level)
    assert several.score(X, level) > 0.4


# -- bad input -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("X", "y", "options", "message"),
    [
        (np.empty((0, 3)), [], {}, "0 sample"),
        (np.full((5, 3), 0.5), np.arange(5) / 5, {}, "tied"),
        ([[0.1, np.nan]], [0.1], {}, "NaN"),
        (np.eye(3), np.ones(3), {"sample_weight": np.zeros(3)}, "zero"),
    ],
)
def test_no_information_is_an_error(X, y, options, message):
    with pytest.raises(ValueError, match=message):
        ChoquetRegressor().fit(X, y, **options)


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        (np.random.default_rng(0).random((9, 3)), np.full(9, 0.5), "constant"),
        (np.random.default_rng(0).random((9, 3)), np.arange(9.0), "outside"),
        (np.random.default_rng(0).random((9, 1)), np.arange(9) / 9, "one source"),
    ],
)
def test_little_information_is_a_warning(X, y, message):
    with pytest.warns(SupportWarning, match=message):
        ChoquetRegressor().fit(X, y)


def test_other_bad_input():
    _, X, y = make()
    model = ChoquetRegressor().fit(X, y)
    with pytest.raises(ValueError, match="3 features"):
        model.partial_fit(X[:, :3], y)
    with pytest.raises(OptionError, match="penalty='l3'"):
        ChoquetRegressor(penalty="l3").fit(X, y)
    with pytest.raises(OptionError, match="keeps no statistics"):
        ChoquetRegressor(loss="absolute").partial_fit(X, y)
    with pytest.raises(OptionError, match="p=3"):
        ChoquetRegressor(penalty="lp", p=3).fit(X, y)
    with pytest.raises(OptionError, match="prior has 2 sources"):
        ChoquetRegressor(prior=choquet.Measure.additive([0.5, 0.5])).fit(X, y)
    with pytest.raises(DataError, match="one class"):
        ChoquetClassifier().fit(X, np.ones(len(X)))


def test_a_classifier_without_information_says_so():
    """No smooth-looking measure made of nothing."""
    with pytest.raises(DataError, match="tied in all sources"):
        ChoquetClassifier().fit(np.full((20, 3), 0.5), np.arange(20) % 2)
    X = np.random.default_rng(0).random((60, 3))
    falls = "^class True does not rise with any source.*or pass monotone=False$"
    with pytest.warns(SupportWarning, match=falls):
        ChoquetClassifier().fit(X, X.sum(axis=1) < 1.5)
    level = -np.digitize(X.mean(axis=1), [0.4, 0.6])
    falls = "^the classes do not rise with any source.*or pass monotone=False$"
    with pytest.warns(SupportWarning, match=falls):
        ChoquetClassifier(ordinal=True).fit(X, level)


def test_an_average_leaves_a_family_only_for_more_than_chance(monkeypatch):
    from choquet.learning import Statistics
    from choquet.learning.families import candidates as families

    rng = np.random.default_rng(3)
    X = rng.random((90, 3))
    y = X.mean(axis=1) + 0.2 * rng.standard_normal(90)
    parts = [Statistics.from_data(X[k::3], y[k::3]) for k in range(3)]
    folds = [(parts[k - 2] + parts[k - 1], parts[k]) for k in range(3)]
    candidates = [families.Candidate(), families.Candidate("symmetric", np.inf)]
    rows = [
        np.array(
            [np.append(families.fit_candidate(train, c).values(test.masks), 0) for c in candidates]
        )
        for train, test in folds
    ]
    errors = families._errors(folds, rows) / 90
    monkeypatch.setattr(families, "CAUTION", 100.0)
    np.testing.assert_array_equal(families._average(folds, rows, errors, [1]), [0.0, 1.0])
    monkeypatch.setattr(families, "CAUTION", 0.0)
    assert families._average(folds, rows, errors, [1]).sum() == pytest.approx(1.0)
