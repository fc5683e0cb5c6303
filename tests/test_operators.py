from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from choquet import LinearConvexSum, Measure, OrderStatistic, choquet_integral
from choquet.errors import DataError
from choquet.operators import familiar_operators
from choquet.operators.blends import blend_name

pytestmark = pytest.mark.numerical


@pytest.mark.parametrize(
    ("weights", "name"),
    [
        ([1, 0, 0], "max"),
        ([0, 1, 0], "median"),
        ([0, 0, 1], "min"),
        ([1 / 3] * 3, "mean"),
        ([0.5, 0.5], "mean"),
        ([1], "identity"),
        ([0, 0.5, 0.5, 0], "median"),
        ([0.007, 0.491, 0.495, 0.006], "median"),  # the paper's three operators for AID, N = 4
        ([0, 0.001, 0.994, 0.006], "trimmed min"),
        ([0, 0.991, 0.007, 0.001], "trimmed max"),
        ([0, 1 / 3, 1 / 3, 1 / 3, 0], "trimmed mean"),
        ([0, 0, 1, 0, 0, 0, 0], "3rd largest"),
        ([0.5, 0, 0, 0.5], "midrange"),
        ([0.64, 0.12, 0.12, 0.12], "soft max"),
        ([0.2, 0.7, 0.1], "about soft median"),
        ([-54.6, 54.89, -0.24], "free weights"),
    ],
)
def test_names(weights, name):
    weights = np.array(weights, dtype=float)
    if name != "free weights":
        weights = weights / weights.sum()
    assert OrderStatistic(weights).name == name


def test_weights_far_from_every_name_are_mixed():
    weights = np.zeros(12)
    weights[[1, 4, 5, 10]] = [0.4, 0.1, 0.1, 0.4]
    found = OrderStatistic(weights).nearest_name
    assert (found.text == "mixed") == (found.distance > 0.25)


@given(st.lists(st.floats(0, 1), min_size=2, max_size=8).filter(lambda w: sum(w) > 0.1))
def test_distance_to_the_nearest_name_is_the_worst_difference_of_output(raw):
    weights = np.array(raw) / sum(raw)
    operator = OrderStatistic(weights)
    nearest = OrderStatistic(familiar_operators(len(weights))[operator.nearest_name.nearest])
    corners = np.tril(np.ones((len(weights), len(weights))))
    worst = np.abs(operator(corners) - nearest(corners)).max()
    assert operator.nearest_name.distance == pytest.approx(worst, abs=1e-12)
    inputs = np.random.default_rng(0).random((200, len(weights)))
    assert np.abs(operator(inputs) - nearest(inputs)).max() <= worst + 1e-12


@given(st.lists(st.floats(0, 1), min_size=2, max_size=8).filter(lambda w: sum(w) > 0.1))
def test_orness_and_dispersion(raw):
    weights = np.array(raw) / sum(raw)
    operator, mirrored = OrderStatistic(weights), OrderStatistic(weights[::-1])
    assert operator.orness == pytest.approx(mirrored.andness)
    assert -1e-12 <= operator.dispersion <= np.log(len(weights)) + 1e-12
    h = np.random.default_rng(0).random((30, len(weights)))
    np.testing.assert_allclose(
        operator(h), choquet_integral(Measure.symmetric(weights), h), atol=1e-12
    )


def test_reference_values():
    assert OrderStatistic([1, 0, 0]).orness == 1
    assert OrderStatistic([0.25] * 4).dispersion == pytest.approx(np.log(4))
    assert np.isnan(OrderStatistic([2, -1]).dispersion)
    assert OrderStatistic([1]).orness == 0.5
    assert OrderStatistic([0.3, 0.7]) == OrderStatistic([0.3, 0.7])


def test_bad_weights():
    with pytest.raises(DataError, match="at least one weight"):
        OrderStatistic([])
    with pytest.raises(DataError, match="position 1 holds nan"):
        OrderStatistic([0, np.nan])
    with pytest.raises(DataError, match="3 columns"):
        OrderStatistic([0.5, 0.5])([[1, 2, 3]])
    with pytest.raises(DataError, match="sum to 1"):
        LinearConvexSum([0.5, 0.6])
    with pytest.raises(DataError, match="1 source names"):
        LinearConvexSum([0.5, 0.5], ["a"])


def test_linear_convex_sum_is_an_additive_measure():
    weights = [0.2, 0.5, 0.3]
    h = np.random.default_rng(0).random((30, 3))
    np.testing.assert_allclose(
        LinearConvexSum(weights)(h), choquet_integral(Measure.additive(weights), h)
    )
    assert "0.2·a + 0.5·b" in repr(LinearConvexSum(weights, ["a", "b", "c"]))


def test_places_are_counted_as_people_count_them():
    """In a blend of many inputs too: the 11th, and not the 11st."""
    by_rank, by_source = np.zeros(25), np.zeros(25)
    by_rank[10], by_source[0] = 0.5, 0.5
    name = blend_name(by_rank, by_source, 0.0, [f"s{k}" for k in range(25)])
    assert "11th largest" in name
