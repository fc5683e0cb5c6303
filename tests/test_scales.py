"""Scales and directions: maps that can be undone, and models in the units of the data."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.compose import TransformedTargetRegressor
from sklearn.decomposition import PCA
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    MaxAbsScaler,
    MinMaxScaler,
    QuantileTransformer,
    RobustScaler,
    StandardScaler,
)
from sklearn.utils.estimator_checks import parametrize_with_checks

from choquet import (
    ChoquetClassifier,
    ChoquetRegressor,
    Commensurate,
    ContextualRegressor,
    InUnits,
    Measure,
    OWARegressor,
    choquet_integral,
    load,
    save,
)
from choquet.errors import DataError, OptionError, SupportWarning
from choquet.estimators.commensurate import fit_target
from choquet.scales import (
    METHODS,
    Scale,
    Units,
    against_target,
    auto_directions,
    fit_scale,
    fit_warnings,
    points_scale,
    rank_correlation,
    unwrapped,
)
from tests.commands import runner

SCALERS = [MinMaxScaler(), StandardScaler(), MaxAbsScaler(), RobustScaler()]
# Of different numbers none are so near that they are refused.
COLUMNS = st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=30).map(lambda x: np.round(x, 6))


@pytest.mark.filterwarnings("ignore::choquet.errors.SupportWarning")
@parametrize_with_checks(
    [
        Commensurate(),
        Commensurate(method="quantiles", clip=True),
        # The solution of the default, a free measure, is not unique to nine digits.
        InUnits(OWARegressor()),
        InUnits(ChoquetClassifier()),
    ]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@given(COLUMNS, st.sampled_from(METHODS), st.sampled_from(["higher", "lower"]))
def test_a_scale_points_its_way_and_can_be_undone(column, method, direction):
    scale = fit_scale(column, direction=direction, method=method)
    assert scale.direction == direction
    values = scale(column)
    steps = np.diff(values[np.argsort(column, kind="stable")])
    assert (steps >= -1e-9).all() if direction == "higher" else (steps <= 1e-9).all()
    size = np.abs(column).max() + 1
    np.testing.assert_allclose(scale.inverse(values), column, atol=1e-8 * size)
    if method in ("minmax", "quantiles"):
        assert values.min() >= -1e-12
        assert values.max() <= 1 + 1e-12


@given(
    COLUMNS,
    st.floats(-1e3, 1e3).map(lambda x: round(x, 6)),
    st.sampled_from(["minmax", "quantiles"]),
)
def test_a_peak_is_best_and_what_is_nearer_is_better(column, peak, method):
    peak /= 10**6
    scale = fit_scale(column, direction=peak, method=method)
    assert scale.direction == pytest.approx(peak)
    values, away = scale(column), np.abs(column - peak)
    assert scale([peak])[0] == 1.0
    assert (np.diff(values[np.argsort(away, kind="stable")]) <= 1e-9).all()
    size = np.abs(column).max() + abs(peak) + 1
    np.testing.assert_allclose(scale.inverse(values, near=column), column, atol=1e-7 * size)


def test_quantiles_are_the_share_of_the_data_below():
    column = np.random.default_rng(0).normal(size=3300) ** 3
    scale = fit_scale(column, method="quantiles")
    shares = np.array([(column < x).mean() for x in scale.points])
    np.testing.assert_allclose(scale.values, shares, atol=1e-3)


def test_points_of_your_own():
    scale = points_scale([(50, 0.0), (10, 1.0), (20, 0.5)])
    np.testing.assert_allclose(scale([5, 10, 15, 20, 35, 99]), [1, 1, 0.75, 0.5, 0.25, 0])
    assert points_scale([(0, 0), (5, 1), (7, 0.2)]).direction == 5.0
    for wrong in ([(1, 0.5)], [(0, 0), (1, 2)], [(0, "x"), (1, 1)], 3):
        with pytest.raises(OptionError):
            points_scale(wrong)
    for values in ([0.0, 1.0, 0.0, 1.0], [1.0, 0.0, 0.5, 0.5], [0.3] * 4):
        with pytest.raises(DataError, match="one peak"):
            Scale(np.arange(4.0), np.array(values))
    with pytest.raises(DataError, match="must increase"):
        Scale(np.array([1.0, 1.0]), np.array([0.0, 1.0]))


def test_rank_correlation_is_that_of_scipy():
    from scipy.stats import spearmanr

    rng = np.random.default_rng(0)
    x, y = rng.integers(0, 9, 50), rng.normal(size=50)
    assert rank_correlation(x, y) == pytest.approx(spearmanr(x, y).statistic)
    assert rank_correlation(np.ones(5), np.arange(5)) == 0.0


def table(n=80, seed=0):
    """Three columns in units of their own; price counts the other way."""
    import pandas

    u = np.random.default_rng(seed).random((n, 3))
    u[0], u[1] = 0.0, 1.0
    frame = pandas.DataFrame(
        {"size": 10 + 5 * u[:, 0], "price": 900 - 400 * u[:, 1], "age": u[:, 2]}
    )
    y = 50 + 30 * (0.5 * u.min(axis=1) + 0.5 * u[:, 1])
    return frame, pandas.Series(y, name="value"), u


def test_directions_by_name_by_position_and_from_the_data():
    frame, y, u = table()
    for directions in ({"price": "lower"}, {1: "lower"}, "auto", {"price": "auto"}):
        made = Commensurate(directions=directions).fit(frame, y)
        assert made.directions_ == {"size": "higher", "price": "lower", "age": "higher"}
        np.testing.assert_allclose(made.transform(frame), u, atol=1e-12)
        np.testing.assert_allclose(made.inverse_transform(u), frame, atol=1e-9)
        assert made.get_feature_names_out().tolist() == ["size", "price", "age"]
    assert made.note_.startswith("Less is taken as better of price (rank correlation")
    assert Commensurate(directions={"price": "lower"}).fit(frame).note_ is None
    peaked = Commensurate(directions={"size": 12.0}, method={"age": [(0, 1.0), (1, 0.0)]})
    assert peaked.fit(frame).directions_ == {"size": 12.0, "price": "higher", "age": "lower"}


def test_what_cannot_be_a_direction_is_refused():
    frame, y, _ = table()
    for directions, message in [
        ("up", "directions='up' is unknown"),
        ({"prize": "lower"}, "no column 'prize'; the columns are size, price, age"),
        ({9: "lower"}, "no column 9"),
        ({"price": None}, "directions=None is unknown"),
        ({"price": np.inf}, "finite"),
    ]:
        with pytest.raises(OptionError, match=message):
            Commensurate(directions=directions).fit(frame, y)
    with pytest.raises(OptionError, match="method='log' is unknown"):
        Commensurate(method="log").fit(frame)
    with pytest.raises(OptionError, match="its points say"):
        Commensurate(directions="lower", method={"age": [(0, 0), (1, 1)]}).fit(frame)
    with pytest.raises(DataError, match="needs the target"):
        Commensurate(directions="auto").fit(frame)


def test_classes_without_an_order_have_no_direction():
    frame, _, u = table()
    two = np.where(u[:, 1] > 0.5, "yes", "no")
    three = np.array(["a", "b", "c"])[np.digitize(u[:, 1], [0.3, 0.6])]
    assert Commensurate(directions="auto").fit(frame, two).directions_["price"] == "lower"
    assert Commensurate(directions="auto").fit(frame, three).directions_["price"] == "higher"


def mixed(ways, seed=0, n=400, shared=1.0):
    """Columns that rise together, and the least of them, some turned round."""
    rng = np.random.default_rng(seed)
    common = shared * rng.standard_normal((n, 1))
    X = common + 0.7 * rng.standard_normal((n, len(ways)))
    turned = X * np.asarray(ways)
    return X, turned.min(axis=1) + 0.05 * rng.standard_normal(n)


@pytest.mark.parametrize("ways", [(1, 1, -1, 1), (1, -1, 1, -1), (-1, -1, 1), (1, 1, 1)])
def test_directions_are_those_that_columns_have_beside_each_other(ways):
    wanted = ["higher" if way > 0 else "lower" for way in ways]
    for seed in range(3):
        X, y = mixed(ways, seed)
        assert auto_directions(X, y).directions == wanted
        order = np.arange(len(ways))[::-1]
        assert auto_directions(X[:, order], y).directions == wanted[::-1]
        # Rows that count for nothing change nothing, and neither do other units.
        more, weight = np.vstack([X, -X]), np.repeat([1.0, 0.0], len(y))
        found = auto_directions(more, np.append(y, 9 * y), weight)
        assert found.directions == wanted
        assert auto_directions(1e300 * X, 1e-3 * y).directions == wanted


def test_a_search_that_fails_leaves_directions_as_they_are_alone(monkeypatch):
    def lost(*_, **__):
        raise RuntimeError("Maximum number of iterations reached.")

    X, y = mixed((1, 1, -1, 1))
    monkeypatch.setattr("scipy.optimize.nnls", lost)
    assert auto_directions(X, y).directions == ["higher"] * 4


def test_columns_that_were_given_a_direction_keep_it():
    X, y = mixed((1, 1, -1, 1))
    assert rank_correlation(X[:, 2], y) > -0.15  # three standard errors: alone it is not turned
    made = Commensurate(directions="auto").fit(X, y)
    assert made.directions_["x2"] == "lower"
    assert made.note_.startswith("Less is taken as better of x2, because beside the other columns")
    kept = Commensurate(directions={2: "higher", 0: "auto", 1: "auto", 3: "auto"}).fit(X, y)
    assert kept.directions_["x2"] == "higher"
    given = Commensurate(directions={2: "lower", 0: "auto", 1: "auto", 3: "auto"}).fit(X, y)
    assert given.directions_ == made.directions_
    assert given.note_ is None


def test_a_target_that_nothing_tells_turns_hardly_a_column():
    rng = np.random.default_rng(1)
    turned = [
        (np.array(auto_directions(rng.random((n, 5)), rng.random(n)).directions) == "lower").mean()
        for n in (9, 19, 40, 200)
        for _ in range(25)
    ]
    assert np.mean(turned) < 0.02


def test_a_model_with_its_scales_answers_in_units():
    frame, y, u = table()
    model = InUnits().fit(frame, y)
    inner = ChoquetRegressor().fit(u, (y - y.min()) / (y.max() - y.min()))
    expected = inner.predict(u) * (y.max() - y.min()) + y.min()
    np.testing.assert_allclose(model.predict(frame), expected, atol=1e-6)
    for bounds in (model.support_interval(frame), model.predict_interval(frame, level=0.5)):
        assert (bounds[:, 0] <= expected + 1e-6).all()
        assert (expected <= bounds[:, 1] + 1e-6).all()
    assert (model.target_name_, model.units_.target_name) == ("value", "value")
    assert model.score(frame, y) > 0.8
    assert not hasattr(model, "predict_proba")
    label = np.where(y > 66, "good", "bad")
    judge = InUnits(ChoquetClassifier()).fit(frame, label)
    assert judge.score(frame, label) > 0.8
    np.testing.assert_allclose(judge.predict_proba(frame).sum(axis=1), 1.0)


@pytest.mark.parametrize("scaler", SCALERS)
def test_scalers_of_a_pipeline_are_read(scaler):
    frame, y, _ = table()
    pipe = make_pipeline(scaler, ContextualRegressor()).fit(frame, y)
    found = unwrapped(pipe)
    assert found.sources == ("size", "price", "age")
    X = frame.to_numpy()
    np.testing.assert_allclose(found.units.scaled(X), pipe[0].transform(frame), atol=1e-9)
    np.testing.assert_allclose(found.units.inputs(found.units.scaled(X)), X, atol=1e-9)


def test_searches_targets_and_several_steps_are_read():
    frame, y, _ = table()
    inner = make_pipeline(Commensurate(method="quantiles"), StandardScaler(), ContextualRegressor())
    search = GridSearchCV(
        TransformedTargetRegressor(inner, transformer=MinMaxScaler()),
        {"regressor__contextualregressor__max_leaves": [1, 2]},
        cv=2,
    ).fit(frame, y)
    found = unwrapped(search)
    X, fitted = frame.to_numpy(), search.best_estimator_
    scaled = fitted.regressor_[:-1].transform(frame)
    np.testing.assert_allclose(found.units.scaled(X), scaled, atol=1e-9)
    answers = found.units.output(found.model.predict(scaled))
    np.testing.assert_allclose(answers, search.predict(frame), atol=1e-9)


def test_steps_that_cannot_be_undone_are_refused():
    frame, y, _ = table()
    for step, message in [
        (PCA(), "mixes columns"),
        (QuantileTransformer(n_quantiles=10), "bends"),
    ]:
        pipe = make_pipeline(step, ContextualRegressor()).fit(frame, y)
        with pytest.raises(DataError, match=message):
            unwrapped(pipe)
    from sklearn.impute import SimpleImputer
    from sklearn.kernel_approximation import RBFSampler

    filled = make_pipeline(SimpleImputer(), ContextualRegressor()).fit(frame, y)
    with pytest.raises(DataError, match=r"the step 'simpleimputer' .* leave it out: additive"):
        unwrapped(filled)
    with pytest.raises(DataError, match="cannot be undone"):
        unwrapped(make_pipeline(RBFSampler(n_components=4), ContextualRegressor()).fit(frame, y))
    with pytest.raises(DataError, match="not fitted"):
        unwrapped(make_pipeline(MinMaxScaler(), ChoquetRegressor()))
    bent = Commensurate(method="quantiles")
    with pytest.raises(DataError, match="both bend"):
        unwrapped(
            make_pipeline(bent, Commensurate(method="quantiles"), ContextualRegressor()).fit(
                frame, y
            )
        )


def test_targets_must_rise_on_a_straight_line():
    with pytest.raises(DataError, match="straight line that rises"):
        Units((), target=fit_scale([1.0, 2.0], direction="lower"))


def test_sources_against_the_target_are_named():
    frame, y, _ = table()
    assert against_target(frame.to_numpy(), y.to_numpy(), list(frame)) == ["price"]


def test_models_with_scales_come_back_from_files(tmp_path):
    frame, y, _ = table()
    label = np.where(y > 66, "good", "bad")
    models = [
        (InUnits(scale=Commensurate(directions={"price": "lower"}, method="quantiles")), y),
        (InUnits(ChoquetClassifier()), label),
        (make_pipeline(Commensurate(directions={"size": 12.0}), ContextualRegressor()), y),
        *((make_pipeline(scaler, ContextualRegressor()), y) for scaler in SCALERS),
    ]
    for number, (model, target) in enumerate(models):
        model.fit(frame, target)
        back = load(save(model, tmp_path / f"{number}.json"))
        assert repr(back) == repr(model)
        assert np.array_equal(back.predict(frame), model.predict(frame))
    with pytest.raises(TypeError, match="its step 'pca': cannot save a PCA"):
        save(make_pipeline(PCA(), ContextualRegressor()).fit(frame, y), tmp_path / "pca.json")


def test_the_advice_for_a_column_without_a_name_turns_that_column():
    rng = np.random.default_rng(0)
    X = rng.random((60, 2))
    y = 0.8 * (1 - X[:, 0]) + 0.2 * X[:, 1]
    (*_, told) = fit_warnings(X, y, 1.0, 2.0, ["x1", "x2"])
    assert told.startswith("x1 falls")
    assert "directions={0: 'lower'}" in told
    assert Commensurate(directions={0: "lower"}).fit(X).directions_ == {
        "x0": "lower",
        "x1": "higher",
    }


# -- far from zero ---------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["minmax", "quantiles", "standard"])
@pytest.mark.parametrize("offset", [1e6, 1e9, 1e12, 1e14, 1e15, -1e12])
def test_offsets_are_taken_off_or_refused(method, offset):
    """The right answer, to the digits that the numbers have left, or an error: never a constant."""
    rng = np.random.default_rng(0)
    X = rng.random((200, 3))
    y = choquet_integral(Measure.random(3, rng=1), X)

    def fit(rows, targets):
        model = InUnits(ChoquetRegressor(), scale=Commensurate(method=method))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SupportWarning)
            return model.fit(rows, targets)

    # A number near the offset is off by half a unit in the last place, of a spread of one; scales
    # and the solution move by some multiple of that.
    plain, digits = fit(X, y).predict(X), max(1e3 * np.spacing(abs(offset)), 1e-9)
    if digits > 0.2:
        with pytest.raises(DataError, match="too few digits"):
            fit(X + offset, y)
        with pytest.raises(DataError, match="the target lies near"):
            fit(X, y + offset)
        return
    np.testing.assert_allclose(fit(X + offset, y).predict(X + offset), plain, atol=digits)
    np.testing.assert_allclose(fit(X, y + offset).predict(X) - offset, plain, atol=digits)


@pytest.mark.parametrize("ends", [(0.0, 1e-310), (-1.5e308, 1.5e308), (0.3, 0.1 * 3)])
def test_ranges_by_which_one_cannot_divide_are_refused(ends):
    for method in ("minmax", "quantiles", "standard"):
        with pytest.raises(DataError, match="the column"):
            fit_scale(list(ends), method=method)
    assert fit_scale([1e17, 1e17], method="standard")([1e17]) == 0


# -- the scale of a target -------------------------------------------------------------------------


def _three(seed, n=150):
    rng = np.random.default_rng(seed)
    return rng.random((n, 3)), rng


@pytest.mark.parametrize("truth", [np.max, np.median, np.mean])
def test_the_ends_of_a_target_are_learned_not_met(truth):
    """Exact targets have the ends of the integral, wherever the least and the largest lie."""
    X, rng = _three(0)
    y = 20 + 30 * truth(X, axis=1)
    assert fit_target(X, y).ends == pytest.approx((20, 50), abs=1e-4)
    noisy = fit_target(X, y + 3 * rng.standard_normal(len(y))).ends
    assert noisy == pytest.approx((20, 50), abs=5)  # a few standard errors
    assert (y + 3 * rng.standard_normal(len(y))).max() > 50


def test_few_rows_gaps_weights_and_targets_that_nothing_tells():
    X, rng = _three(1, 6)
    y = rng.random(6)
    assert fit_target(X[:4], y[:4]).ends == (y[:4].min(), y[:4].max())
    X, rng = _three(2)
    y = 5 - X.sum(axis=1)  # falls with every source
    low, high = fit_target(X, y).ends
    assert low < y.mean() < high < low + 0.01
    assert fit_target(X, np.full(150, 7.0)).ends == pytest.approx((7, 7), rel=1e-8)
    gaps = X.copy()
    gaps[:100, 0] = np.nan
    y = X.max(axis=1)
    assert fit_target(gaps, y).ends == pytest.approx((0, 1), abs=1e-4)
    weight = np.where(np.arange(150) < 75, 0.0, 1.0)
    wrong = np.where(weight > 0, y, 50.0)
    assert fit_target(X, wrong, weight).ends == pytest.approx((0, 1), abs=1e-4)


def test_intervals_know_that_the_scale_of_the_target_was_learned(tmp_path):
    """Where all inputs are at their ends the output is not known exactly; it is in a file too."""
    held, ends = [], np.array([[0.0] * 3, [1.0] * 3])
    for seed in range(12):
        X, rng = _three(seed, 80)
        X[:2] = ends  # so that both scales are the same
        y = 20 + 30 * (X.max(axis=1) + 0.1 * rng.standard_normal(80))
        model = InUnits().fit(X, y)
        low, high = model.predict_interval(X).T
        truth = 20 + 30 * X.max(axis=1)
        held.append(((low - 1e-9 <= truth) & (truth <= high + 1e-9)).mean())
        assert (np.diff(model.predict_interval(ends)) > 0.5).all()
    # 95 % of 12 × 80 that hang together by data set; with the range of the target it was 0.4.
    assert np.mean(held) > 0.85
    path = tmp_path / "model.json"
    save(model, path)
    again = load(path).predict_interval(ends)
    np.testing.assert_allclose(again, model.predict_interval(ends), rtol=1e-6)


def test_a_table_in_one_unit_stays_in_it(tmp_path, capsys):
    run = runner(capsys)
    X, rng = _three(3, 120)
    kelvin = 280 + 20 * X
    for truth, name in ((np.median, "median"), (np.max, "max")):
        y = truth(kelvin, axis=1) + 0.1 * rng.standard_normal(120)
        rows = np.column_stack([kelvin, y]).round(4).tolist()
        table = "\n".join([",".join("abcy"), *(",".join(map(str, row)) for row in rows)])
        (tmp_path / "t.csv").write_text(table)
        model = tmp_path / f"{name}.json"
        assert "scaling none" in run("fit", tmp_path / "t.csv", "-o", model).out
        assert f"1. {name}" in run("decompose", model).out
    units = X * [10, 300, 7]
    rows = np.column_stack([units, X.max(axis=1)]).round(4).tolist()
    table = "\n".join([",".join("abcy"), *(",".join(map(str, row)) for row in rows)])
    (tmp_path / "u.csv").write_text(table)
    assert "scaling minmax" in run("fit", tmp_path / "u.csv", "-o", tmp_path / "u.json").out


def _table(path, X, y):
    rows = np.column_stack([X, y]).tolist()
    head = [*(f"x{k}" for k in range(X.shape[1])), "y"]
    path.write_text("\n".join([",".join(head), *(",".join(map(str, row)) for row in rows)]))
    return path


@pytest.mark.parametrize("truth", [np.min, np.max, np.mean])
def test_columns_of_other_ranges_are_scaled_also_between_0_and_1(truth, tmp_path, capsys):
    run = runner(capsys)
    X, rng = _three(1, 200)
    y = np.clip(truth(X, axis=1) + 0.03 * rng.standard_normal(200), 0, 1)
    shares = _table(tmp_path / "s.csv", X * [0.08, 0.4, 1] + [0.02, 0.05, 0], y)
    assert "scaling minmax" in run("fit", shares, "-o", tmp_path / "s.json").out
    units = X * [25, 1.1, 50] + [-25, -0.2, 270]
    # So much noise that rows hardly tell the scales apart.
    noisy = _table(tmp_path / "n.csv", units, 50 * truth(X, axis=1) + 10 * rng.normal(size=200))
    assert "scaling minmax" in run("fit", noisy, "-o", tmp_path / "n.json").out


@pytest.mark.parametrize("truth", [np.min, np.max])
def test_many_columns_in_one_unit_stay_in_it(truth, tmp_path, capsys):
    rng = np.random.default_rng(0)
    X = rng.random((200, 10))
    y = truth(X, axis=1) + 0.03 * rng.standard_normal(200)
    assert (
        "scaling none"
        in runner(capsys)(
            "fit", _table(tmp_path / "t.csv", X, y), "-o", tmp_path / "t.json", "--folds", "0"
        ).out
    )
    ends = np.array(fit_target(X, 20 + 5 * y).ends)
    assert np.abs(ends - [20, 25]).max() < 0.5  # of a 2-additive measure more than 2 is missing


def test_sources_in_one_unit_and_a_target_in_another(tmp_path, capsys):
    """Marks out of ten, and a grade out of a hundred: one range for all marks, ends learned."""
    import pandas

    run = runner(capsys)
    X, rng = _three(5, 150)
    marks = 1 + 8 * X
    y = 10 * marks.min(axis=1) + rng.standard_normal(150)
    rows = np.column_stack([marks, y]).round(4).tolist()
    table = "\n".join([",".join("abcy"), *(",".join(map(str, row)) for row in rows)])
    (tmp_path / "t.csv").write_text(table)
    assert "scaling common" in run("fit", tmp_path / "t.csv", "-o", tmp_path / "m.json").out
    assert "1. min" in run("decompose", tmp_path / "m.json").out
    model = load(tmp_path / "m.json")
    assert len({scale.ends for scale in model.scale_.scales_}) == 1
    low, high = model.predict_interval(pandas.DataFrame(marks, columns=list("abc"))).T
    assert np.mean((low <= 10 * marks.min(axis=1)) & (10 * marks.min(axis=1) <= high)) > 0.8


@pytest.mark.parametrize("constant", [3.0, 0.0, -7.5, 1e-13])
def test_a_constant_target_is_answered_by_itself(constant):
    X, _ = _three(0, 40)
    with pytest.warns(SupportWarning, match="the target is constant"):
        model = InUnits().fit(9 * X, np.full(40, constant))
    answers = model.predict(20 * X)
    assert np.abs(answers - constant).max() <= 1e-7 * (abs(constant) or 1.0)
    weight = np.repeat([1.0, 0.0], 20)
    y = np.repeat([constant, constant + 5], 20)
    with pytest.warns(SupportWarning, match="the target is constant"):
        model = InUnits().fit(9 * X, y, sample_weight=weight)
    assert np.abs(model.predict(9 * X) - constant).max() <= 1e-7 * (abs(constant) or 1.0)


@pytest.mark.filterwarnings("ignore::choquet.errors.SupportWarning")
def test_one_source_is_a_line_with_bands():
    held, new = [], []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        x = 40 * rng.random((60, 1))
        y = 2 * x[:, 0] + 3 + 2.5 * rng.standard_normal(60)
        model, at = InUnits().fit(x, y), 40 * rng.random((50, 1))
        truth = 2 * at[:, 0] + 3
        low, high = model.predict_interval(at).T
        held.append(np.mean((low <= truth) & (truth <= high)))
        assert (high - low).max() < 5
        low, high = model.predict_interval(at, noise=True).T
        truth += 2.5 * rng.standard_normal(50)
        new.append(np.mean((low <= truth) & (truth <= high)))
    assert np.mean(held) > 0.85
    assert 0.88 < np.mean(new) < 0.99


def test_a_target_that_nothing_tells_is_answered_by_its_mean():
    for seed in range(5):
        X, rng = _three(seed, 60)
        y = 5 - X[:, 0] - X[:, 1] - X[:, 2] + 0.1 * rng.standard_normal(60)
        model = InUnits(scale=Commensurate())
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SupportWarning)
            answers = model.fit(X, y).predict(X)
        assert np.abs(answers - y.mean()).max() < 0.01 * np.ptp(y)


def test_the_advice_on_directions_knows_what_was_asked(tmp_path, capsys):
    X, _ = _three(6)
    rows = np.column_stack([10 * X, X.mean(axis=1)]).round(4).tolist()
    table = "\n".join([",".join("abcy"), *(",".join(map(str, row)) for row in rows)])
    (tmp_path / "t.csv").write_text(table)
    words = ("fit", tmp_path / "t.csv", "-o", tmp_path / "m.json", "--lower-is-better", "b")
    assert "leave b out of --lower-is-better" in runner(capsys)(*words).err


@pytest.mark.parametrize("n_sources", [5, 7])
def test_ends_of_a_target_stay_near_it_however_few_rows(n_sources):
    """With two rows for each source, ends were a hundred ranges away."""
    for n in (n_sources + 2, 2 * (n_sources + 1), 3 * (n_sources + 1)):
        for seed in range(4):
            rng = np.random.default_rng(seed)
            X = rng.random((n, n_sources))
            y = X.min(axis=1) + 0.1 * rng.standard_normal(n)
            low, high = fit_target(X, y).ends
            assert y.min() - 2.01 * np.ptp(y) <= low < high <= y.max() + 2.01 * np.ptp(y)
