from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

from choquet import (
    Measure,
    SupportedMeasure,
    choquet_integral,
    choquet_interval,
    shilkret_integral,
    shilkret_interval,
    sipos_integral,
    sugeno_integral,
    sugeno_interval,
)
from choquet.errors import DataError, MeasureError, NotMonotoneError, SourceError
from choquet.lattice import cover_pairs
from tests import oracles
from tests.strategies import measures_with_inputs

pytestmark = pytest.mark.numerical


@given(measures_with_inputs(min_value=-2.0, max_value=2.0))
def test_choquet_is_the_textbook_sum(case):
    g, X = case
    expected = [oracles.choquet(g.values, h) for h in X]
    np.testing.assert_allclose(choquet_integral(g, X), expected, atol=1e-12)


@given(measures_with_inputs())
def test_sugeno_and_shilkret_are_the_textbook_maxima(case):
    g, X = case
    np.testing.assert_allclose(sugeno_integral(g, X), [oracles.sugeno(g.values, h) for h in X])
    np.testing.assert_allclose(shilkret_integral(g, X), [oracles.shilkret(g.values, h) for h in X])


@given(measures_with_inputs(), st.floats(-5, 5), st.floats(0, 5))
def test_constants_are_kept_and_scales_pass_through(case, shift, scale):
    g, X = case
    constant = np.full_like(X, shift)
    np.testing.assert_allclose(choquet_integral(g, constant), shift, atol=1e-12)
    np.testing.assert_allclose(
        choquet_integral(g, scale * X + shift), scale * choquet_integral(g, X) + shift, atol=1e-10
    )


@given(measures_with_inputs())
def test_comonotone_inputs_add_up(case):
    g, X = case
    # Increasing functions of one input vector are comonotone with it and with each other.
    Y = X**3
    np.testing.assert_allclose(
        choquet_integral(g, X + Y), choquet_integral(g, X) + choquet_integral(g, Y), atol=1e-12
    )


@given(measures_with_inputs())
def test_integrals_lie_between_min_and_max_and_increase(case):
    g, X = case
    for integral in (choquet_integral, sugeno_integral):
        result = integral(g, X)
        assert (result >= X.min(axis=1) - 1e-12).all()
        assert (result <= X.max(axis=1) + 1e-12).all()
        assert (integral(g, np.minimum(X + 0.1, 1)) >= result - 1e-12).all()


@given(measures_with_inputs(min_value=-1.0, max_value=1.0))
def test_sipos_is_odd(case):
    g, X = case
    np.testing.assert_allclose(sipos_integral(g, -X), -sipos_integral(g, X), atol=1e-12)


def test_many_samples_and_a_ragged_last_block():
    g = Measure.random(7, rng=0)
    X = np.random.default_rng(0).random((1500, 7))
    order = np.argsort(-X, axis=1)
    gaps = -np.diff(np.take_along_axis(X, order, 1), axis=1, append=0)
    expected = (gaps * g.values[np.cumsum(1 << order, axis=1)]).sum(axis=1)
    np.testing.assert_allclose(choquet_integral(g, X), expected, atol=1e-12)
    assert choquet_integral(g, X[:0]).shape == (0,)
    assert choquet_integral(g, np.asfortranarray(X)[:, :7]).shape == (1500,)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("integral", [choquet_integral, sugeno_integral, sipos_integral])
def test_what_is_not_finite_is_named(bad, integral):
    X = np.full((700, 3), 0.5)
    X[600, 2] = bad
    with pytest.raises(DataError, match=rf"row 600, column 2 holds {bad}"):
        integral(Measure.random(3, rng=0), X)


def test_other_bad_inputs():
    g = Measure.random(3, rng=0)
    with pytest.raises(DataError, match="2 columns, but there are 3 sources"):
        choquet_integral(g, [[0.1, 0.2]])
    with pytest.raises(DataError, match="must be numbers"):
        choquet_integral(g, [["a", "b", "c"]])
    with pytest.raises(DataError, match="samples by sources"):
        choquet_integral(g, np.zeros((1, 1, 3)))
    with pytest.raises(DataError, match=r"between 0 and g\(X\) = 1: row 0, column 1 holds 1\.5"):
        sugeno_integral(g, [[0.1, 1.5, 0.2]])
    with pytest.raises(DataError, match=r"at least 0: row 0, column 0 holds -1"):
        shilkret_integral(g, [[-1, 1.5, 0.2]])
    zero = Measure([0, 0], normal=False)
    with pytest.raises(MeasureError, match=r"g\(X\) = 0"):
        sugeno_integral(zero, [[0.0]])


# -- measures known in part ------------------------------------------------------------------------


@st.composite
def partly_known(draw):
    g, X = draw(measures_with_inputs(min_sources=2, max_sources=4))
    known = draw(
        st.lists(st.booleans(), min_size=len(g.values), max_size=len(g.values)).map(np.array)
    )
    return g, known, X


def extreme_integral(g: Measure, known: np.ndarray, h: np.ndarray, sign: int) -> float:
    """Smallest (sign 1) or largest (sign -1) integral given the known values: an LP."""
    n = g.n_sources
    order = np.argsort(-h, kind="stable")
    gaps = -np.diff(h[order], append=0.0)
    cost = np.zeros(1 << n)
    np.add.at(cost, np.cumsum(1 << order), gaps)
    pairs = cover_pairs(n)
    rows = np.zeros((len(pairs), 1 << n))
    rows[np.arange(len(pairs)), pairs[:, 0]] = 1
    rows[np.arange(len(pairs)), pairs[:, 1]] = -1
    bounds = [
        (v, v) if k or m in (0, (1 << n) - 1) else (0, 1)
        for m, (v, k) in enumerate(zip(g.values, known, strict=True))
    ]
    answer = linprog(sign * cost, A_ub=rows, b_ub=np.zeros(len(pairs)), bounds=bounds)
    assert answer.status == 0
    return sign * answer.fun


@given(partly_known())
def test_interval_is_tight_by_linear_programming(case):
    g, known, X = case
    part = SupportedMeasure.from_measure(g, known)
    bounds = choquet_interval(part, X)
    for h, (low, high) in zip(X, bounds, strict=True):
        assert low == pytest.approx(extreme_integral(g, known, h, 1), abs=1e-7)
        assert high == pytest.approx(extreme_integral(g, known, h, -1), abs=1e-7)


@given(partly_known())
def test_intervals_agree_with_the_dense_fillings(case):
    g, known, X = case
    part = SupportedMeasure.from_measure(g, known)
    low, high = part.to_measure(fill="lower"), part.to_measure(fill="upper")
    for integral, interval in (
        (choquet_integral, choquet_interval),
        (sugeno_integral, sugeno_interval),
        (shilkret_integral, shilkret_interval),
    ):
        expected = np.column_stack([integral(low, X), integral(high, X)])
        np.testing.assert_allclose(interval(part, X), expected, atol=1e-12)
    words = np.arange(len(g.values), dtype=np.uint64)[:, None]
    lower, upper = part.bounds(words)
    np.testing.assert_array_equal(lower, low.values)
    np.testing.assert_array_equal(upper, high.values)
    middle = part.to_measure(fill="midpoint").values
    np.testing.assert_allclose(middle, (low.values + high.values) / 2)
    assert part.is_supported(words)[known].all()


@given(measures_with_inputs(min_sources=2))
def test_full_knowledge_leaves_no_interval(case):
    g, X = case
    part = SupportedMeasure.from_measure(g, np.ones(len(g.values)))
    bounds = choquet_interval(part, X)
    np.testing.assert_allclose(bounds[:, 0], choquet_integral(g, X), atol=1e-12)
    np.testing.assert_allclose(bounds[:, 1], choquet_integral(g, X), atol=1e-12)
    assert part("x1") == g("x1")


def test_a_hundred_and_thirty_sources():
    names = [f"s{i}" for i in range(130)]
    g = SupportedMeasure.from_dict({("s0", "s129"): 0.4, ("s0", "s64", "s129"): 0.6}, names)
    lower, upper = g.bounds([("s0", "s129"), ["s0"], ("s0", "s1", "s129"), range(130)])
    assert lower.tolist() == [0.4, 0.0, 0.4, 1.0]
    assert upper.tolist() == [0.4, 0.4, 1.0, 1.0]
    h = np.linspace(1, 0.01, 130)
    assert choquet_interval(g, h[None]).shape == (1, 2)
    with pytest.raises(MeasureError, match=r"lie in \[0, 0\.4\]"):
        g("s0")
    assert "2 of 2**130 - 2 subsets known" in repr(g)


@pytest.mark.parametrize(
    ("values", "options", "error", "message"),
    [
        ({"a": 0.7, ("a", "b"): 0.4}, {}, NotMonotoneError, "g({a}) = 0.7 > g({a, b}) = 0.4"),
        ({"a": 1.7}, {}, MeasureError, "between 0 and g(X) = 1"),
        ({("a", "b", "c"): 0.5}, {}, MeasureError, "g(X) must be 1, not 0.5"),
        ({(): 0.5}, {}, MeasureError, "g(∅) must be 0, not 0.5"),
        ({("a", "b"): 0.5, ("b", "a"): 0.5}, {}, MeasureError, "more than once"),
        ({"a": 0.5}, {"total": -1}, MeasureError, "at least 0"),
        ({"z": 0.5}, {}, SourceError, "no source is named 'z'"),
        ({"a": np.nan}, {}, DataError, "finite"),
    ],
)
def test_bad_supported_measures(values, options, error, message):
    with pytest.raises(error, match=re.escape(message)):
        SupportedMeasure.from_dict(values, ["a", "b", "c"], **options)


def test_bits_beyond_the_sources_are_refused():
    with pytest.raises(SourceError, match="beyond the 2"):
        SupportedMeasure([[8]], [0.5], ["a", "b"])
