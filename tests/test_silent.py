"""Silent sources: integrals of rows that lack inputs, against brute force."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from choquet import (
    ChoquetRegressor,
    FusionClassifier,
    Measure,
    SupportedMeasure,
    choquet_integral,
    choquet_interval,
)
from choquet.errors import DataError, OptionError, SupportWarning

SEEDS = st.integers(0, 2**32 - 1)
NAN = float("nan")


def rows_with_gaps(rng, n, n_sources, *, keep_one=True):
    X = rng.random((n, n_sources)).round(2)
    absent = rng.random(X.shape) < 0.4
    if keep_one:
        absent[np.arange(n), rng.integers(0, n_sources, n)] = False
    X[absent] = np.nan
    return X


def restricted(measure, row):
    """Integral by the measure on the present sources, written out."""
    here = [i for i in range(len(row)) if not np.isnan(row[i])]
    values = [0.0] * 2 ** len(here)
    whole = measure(*here)
    for size in range(1, len(here) + 1):
        for part in combinations(range(len(here)), size):
            values[sum(1 << j for j in part)] = measure(*(here[j] for j in part)) / whole
    small = Measure(values, monotone=measure.monotone, normal=False)
    return measure.total * small.integral(row[here][None])[0]


@given(SEEDS, st.integers(2, 5))
@settings(max_examples=25, deadline=None)
def test_present_sources_answer_by_the_restricted_measure(seed, n):
    rng = np.random.default_rng(seed)
    g, X = Measure.random(n, rng=rng), rows_with_gaps(rng, 8, n)
    found = choquet_integral(g, X, missing="present")
    for value, row in zip(found, X, strict=True):
        if g(*np.flatnonzero(~np.isnan(row))) > 1e-6:
            assert value == pytest.approx(restricted(g, row), abs=1e-9)


@given(SEEDS, st.booleans())
@settings(max_examples=25, deadline=None)
def test_the_interval_holds_every_value_and_both_ends_are_attained(seed, monotone):
    rng = np.random.default_rng(seed)
    n, (low, high) = 3, (-0.5, 1.5)
    g = Measure.random(n, rng=rng)
    if not monotone:
        values = rng.normal(size=2**n)
        values[0] = 0.0
        g = Measure(values, monotone=False, normal=False)
    X = rows_with_gaps(rng, 4, n, keep_one=False)
    found = choquet_interval(g, X, missing=(low, high))
    for (least, most), row in zip(found, X, strict=True):
        absent = np.isnan(row)
        if not absent.any():
            assert (least, most) == pytest.approx((g.integral(row[None])[0],) * 2)
            continue
        # A grid that holds the ends and the present values: the extremes of a piecewise linear
        # function lie on it; random values in between must stay inside.
        ends = np.unique([low, high, *row[~absent]])
        grid = np.array(list(product(ends, repeat=absent.sum())))
        tried = np.vstack([grid, low + (high - low) * rng.random((200, absent.sum()))])
        filled = np.repeat(row[None], len(tried), axis=0)
        filled[:, absent] = tried
        value = g.integral(filled)
        assert value.min() == pytest.approx(least, abs=1e-9)
        assert value.max() == pytest.approx(most, abs=1e-9)
    middle = choquet_integral(g, X, missing=(low, high))
    np.testing.assert_allclose(middle, found.mean(axis=1), atol=1e-12)


def test_rows_that_lack_nothing_are_as_ever():
    g = Measure([0, 0.2, 0.3, 1])
    X = np.random.default_rng(0).random((5, 2))
    for missing in ("present", "interval", (0, 2)):
        np.testing.assert_allclose(choquet_integral(g, X, missing=missing), g.integral(X))


def test_sources_without_weight_say_nothing():
    g = Measure([0, 0, 0.4, 1])
    found = choquet_integral(g, [[0.3, NAN], [NAN, 0.3], [NAN, NAN]], missing="present")
    assert np.isnan(found[[0, 2]]).all()
    assert found[1] == pytest.approx(0.3)


def test_values_that_are_only_bounded_widen_the_interval():
    g = SupportedMeasure.from_dict({"a": 0.4}, sources=["a", "b"])
    low, high = choquet_interval(g, [[0.9, NAN]], missing="interval")[0]
    assert (low, high) == pytest.approx((0.36, 1.0))


@pytest.mark.parametrize("missing", ["middle", (1, 0), (0, NAN), 3, (0,)])
def test_what_missing_may_be(missing):
    with pytest.raises(OptionError, match="missing="):
        choquet_integral(Measure([0, 0.2, 0.3, 1]), [[0.1, NAN]], missing=missing)


def test_by_default_a_missing_input_is_an_error():
    g = Measure([0, 0.2, 0.3, 1])
    with pytest.raises(DataError):
        choquet_integral(g, [[0.1, NAN]])
    with pytest.raises(DataError, match="infinite"):
        choquet_integral(g, [[0.1, np.inf]], missing="present")
    with pytest.raises(OptionError, match="one number"):
        choquet_interval(g, [[0.1, NAN]], missing="present")


def learned(missing, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.random((200, 3))
    y = 0.5 * X.max(axis=1) + 0.5 * X[:, 1]
    return ChoquetRegressor(missing=missing).fit(X, y), X, y


def test_a_regressor_answers_when_a_source_falls_silent():
    present, X, _ = learned("present")
    interval = learned("interval")[0]
    gone = X[:20].copy()
    gone[::2, 0] = np.nan
    g = present.measure_
    np.testing.assert_allclose(present.predict(gone), choquet_integral(g, gone, missing="present"))
    bounds = interval.predict_interval(gone)
    assert (
        (bounds[:, 0] <= interval.predict(gone)) & (interval.predict(gone) <= bounds[:, 1])
    ).all()
    for value in (0.0, 0.3, 1.0):
        filled = np.where(np.isnan(gone), value, gone)
        inner = interval.predict(filled)
        assert (bounds[:, 0] <= inner + 1e-9).all()
        assert (inner <= bounds[:, 1] + 1e-9).all()
    with pytest.raises(DataError):
        learned("error")[0].predict(gone)


def test_support_is_counted_by_pattern():
    rng = np.random.default_rng(1)
    X = rng.random((100, 3))
    X[:, 0] = 0.9 + 0.1 * X[:, 0]  # x1 is always the largest: {x2} and {x3} alone have no data
    X[:, 1:] *= 0.8
    y = X.mean(axis=1)
    X[:10, 2] = np.nan
    with pytest.warns(SupportWarning, match="10 of 100 rows lack an input"):
        model = ChoquetRegressor(missing="present").fit(X, y)
    assert model.patterns_ == {(): 90, (2,): 10}
    rows = np.array([[0.9, 0.5, NAN], [0.9, 0.4, NAN], [NAN, 0.5, 0.2]])
    # {x1} and {x1, x2} have data; {x2} and {x2, x3} have none.
    np.testing.assert_allclose(model.support_share(rows), [1.0, 1.0, 0.0])
    first, second = model.missing_patterns(rows)
    assert (first.silent, first.rows, first.learned, first.support) == (("x3",), 2, 10, 1.0)
    assert (second.silent, second.rows, second.learned, second.support) == (("x1",), 1, 0, 0.0)


def test_no_complete_row_is_an_error():
    with pytest.raises(DataError, match="every row lacks"):
        ChoquetRegressor(missing="present").fit([[0.1, NAN], [NAN, 0.2]], [0.1, 0.2])


def test_fusion_without_one_classifier():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 300)
    scores = np.eye(3)[y][:, :, None] * [0.8, 0.5, 0.1] + 0.2 * rng.random((300, 3, 3))
    model = FusionClassifier(missing="present").fit(scores, y)
    gone = scores.copy()
    gone[:, :, 2] = np.nan
    assert model.score(gone, y) > 0.9
    gone[:, :, 0] = np.nan
    flat = gone.reshape(-1, 3)
    expected = choquet_integral(model.measure_, flat, missing="present").reshape(300, 3)
    np.testing.assert_allclose(model.fuse(gone), expected + model.intercept_, atol=1e-12)
    with pytest.raises(DataError):
        FusionClassifier().fit(scores, y).predict(gone)


def test_fusion_learns_from_complete_scores():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 200)
    scores = np.eye(2)[y][:, :, None] * [0.6, 0.4] + 0.3 * rng.random((200, 2, 2))
    whole = FusionClassifier().fit(scores[50:], y[50:])
    scores[:50, :, 1] = np.nan
    part = FusionClassifier(missing="interval").fit(scores, y)
    np.testing.assert_allclose(part.measure_.values, whole.measure_.values, atol=1e-6)
