"""Explanations: golden sentences of the paper's example, and laws that hold for any measure."""

from __future__ import annotations

import itertools
import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import choquet
from choquet import DataSupport, Measure, data_to_collect, decompose
from choquet.certainty.identification import Identification
from choquet.errors import DataError, OptionError
from choquet.explanation import list_words, operator_phrase
from choquet.explanation.collect import mean_width, supported_share
from choquet.explanation.view import value_bounds

DEMINING = choquet.Measure([0, 0, 1, 1, 1, 1, 1, 1], sources=["gpr", "ir", "emi"])


@pytest.fixture(scope="module")
def demining():
    return choquet.decompose(DEMINING)


def random_decomposition(seed: int, n: int, n_samples: int = 6) -> choquet.Decomposition:
    rng = np.random.default_rng(seed)
    measure = choquet.Measure.random(n, rng=rng)
    support = choquet.DataSupport.from_data(rng.random((n_samples, n)))
    return choquet.decompose(measure, support=support, method="distinct")


def test_golden_sentence(demining):
    story = choquet.explain_model(demining)
    assert story.sentences == (
        "If gpr is the largest, take the median of the three; otherwise take the largest.",
    )
    assert story.text().splitlines() == [
        "The model combines gpr, ir and emi in two ways.",
        "If gpr is the largest, take the median of the three; otherwise take the largest.",
        "Operator 1 (max) takes the largest in 66.7 % of all orders of the inputs: "
        "if gpr is not the largest.",
        "Operator 2 (median) takes the median of the three in 33.3 % of all orders of the inputs: "
        "if gpr is the largest.",
        "These rules are the whole model, not a summary of it.",
    ]


def test_golden_sample(demining):
    why = choquet.explain_sample(demining, [0.2, 0.7, 0.4])
    assert why.text().splitlines() == [
        "The inputs, largest first: ir 0.7, emi 0.4, gpr 0.2.",
        "Because gpr is not the largest, the output is the largest: 0.7.",
        "It is the sum of ir 0.7 (1 × 0.7), emi 0 (0 × 0.4), gpr 0 (0 × 0.2).",
        "Another operator, the median of the three, would decide if ir fell below gpr: "
        "changing inputs by 0.25 is enough.",
    ]


def test_of_many_sources_a_sample_names_those_that_give_most():
    weights = np.arange(1, 15) / 105
    g = choquet.Measure.symmetric(weights[::-1])
    inputs = np.linspace(0.1, 0.9, 14)
    _, _, made, *_ = choquet.explain_sample(choquet.decompose(g), inputs).text().splitlines()
    assert "x14 0.12 (0.133 × 0.9)" in made
    assert "x3 " in made
    assert "x2 " not in made
    small = weights[:2] @ inputs[:2]
    assert made.endswith(f", {small:.4g} of 2 other sources.")


@pytest.mark.parametrize(
    ("weights", "phrase"),
    [
        ([1, 0, 0, 0, 0], "the largest"),
        ([0, 0, 0, 0, 1], "the smallest"),
        ([0, 0, 1, 0, 0], "the median of the five"),
        ([0.2] * 5, "the mean of the five"),
        ([0, 1, 0, 0, 0], "the second largest"),
        ([0, 0, 0, 1, 0], "the second smallest"),
        ([0, 1 / 3, 1 / 3, 1 / 3, 0], "the mean of the five without the largest and the smallest"),
        ([0, 0, 1, 0, 0, 0, 0], "the third largest"),
        ([0.99, 0.01, 0, 0, 0], "about the largest"),
        ([0.9, 0.1, 0, 0, 0], "0.9 times the largest plus 0.1 times the second largest"),
        ([0.5, 0.5, 0], "the mean of the two largest"),
        ([0, 0, 1 / 3, 1 / 3, 1 / 3], "the mean of the three smallest"),
        ([0.4, 0.6, 0], "0.4 times the largest plus 0.6 times the median"),
        ([0.7, 0, 0.3], "0.7 times the largest plus 0.3 times the smallest"),
        ([0.653, 0.347, 0], "0.653 times the largest plus 0.347 times the median"),
        ([1], "the input"),
        ([2.5, -0.5], "2.5 times the largest minus 0.5 times the smallest"),
        ([0.0, 0.0], "nothing: every weight is 0"),
    ],
)
def test_operators_in_words(weights, phrase):
    assert operator_phrase(np.array(weights, dtype=float)) == phrase


def test_lists_in_words():
    assert list_words([]) == ""
    assert list_words(["a", "b", "c"]) == "a, b and c"


@settings(max_examples=15)
@given(seed=st.integers(0, 10_000), n=st.integers(2, 5))
def test_contributions_sum_to_the_output(seed, n):
    decomposition = random_decomposition(seed, n)
    x = np.random.default_rng(seed + 1).random(n)
    why = choquet.explain_sample(decomposition, x)
    assert why.contributions.sum() + why.bias == pytest.approx(why.output, abs=1e-12)
    assert why.output == pytest.approx(decomposition.predict([x])[0], abs=1e-12)
    assert why.operator == decomposition.operator_of([x])[0]
    assert why.interval[0] - 1e-9 <= why.integral <= why.interval[1] + 1e-9
    assert (np.diff(why.sorted_inputs) <= 0).all()
    if why.supported:
        assert why.nearest_sort.tolist() == why.sort.tolist()
    json.dumps(why.to_dict(), allow_nan=False)


@settings(max_examples=15)
@given(seed=st.integers(0, 10_000), n=st.integers(2, 5))
def test_switch_is_the_smallest(seed, n):
    decomposition = random_decomposition(seed, n, n_samples=20)
    rng = np.random.default_rng(seed + 1)
    x = rng.random(n)
    why = choquet.explain_sample(decomposition, x)
    if why.switch is None:
        assert decomposition.n_operators == 1
        return
    change, sort = why.switch.change, why.switch.sort
    # The border is where it is said to be, and the other operator is behind it.
    assert np.abs(why.switch.inputs - x).max() == pytest.approx(change, abs=1e-12)
    beyond = why.switch.inputs.copy()
    beyond[sort] -= 1e-7 * np.arange(n)
    assert decomposition.operator_of([beyond])[0] == why.switch.operator != why.operator
    upper, lower = why.switch.pair
    assert (x[upper] - x[lower]) / 2 == pytest.approx(change, abs=1e-12)
    # No smaller change does it.
    near = x + change * (1 - 1e-6) * rng.uniform(-1, 1, (200, n))
    assert (decomposition.operator_of(near) == why.operator).all()


def test_switch_beyond_eight_sources_is_found_by_search():
    measure = choquet.Measure.symmetric(np.full(9, 1 / 9)).values.copy()
    measure[1] = 0.0  # the first source alone counts for nothing
    decomposition = choquet.decompose(choquet.Measure(measure), method="distinct")
    x = np.linspace(0.1, 0.9, 9)  # the first source is the smallest
    why = choquet.explain_sample(decomposition, x[::-1])
    assert why.switch is not None
    assert why.switch.pair == (0, 1)
    assert why.switch.change == pytest.approx(0.05)


def test_tied_sample_is_on_the_border(demining):
    why = choquet.explain_sample(demining, [0.5, 0.5, 0.1])
    assert why.switch is not None
    assert why.switch.change == 0.0
    assert set(why.switch.pair) == {0, 1}


@given(seed=st.integers(0, 10_000), n=st.integers(2, 5))
def test_gain_is_what_a_known_value_saves(seed, n):
    rng = np.random.default_rng(seed)
    measure = choquet.Measure.random(n, rng=rng)
    support = choquet.DataSupport.from_data(rng.random((2, n)))
    requests = choquet.data_to_collect(choquet.decompose(measure), 50, support=support)
    assert len(requests) == min(50, 2**n - 2 - support.n_supported)
    assert all(a.gain >= b.gain for a, b in itertools.pairwise(requests))
    if not requests:
        return
    # The closed form against the mean over values of the subset, by brute force.
    best = requests[0]
    lower, upper, _, _ = value_bounds(measure, support)
    masks, before = np.arange(2**n), mean_width(measure, support)
    shares = np.array(
        [1 / len([m for m in masks if m.bit_count() == k.bit_count()]) for k in masks.tolist()]
    )
    grid = lower[best.mask] + (np.arange(400) + 0.5) / 400 * (upper[best.mask] - lower[best.mask])
    saved = []
    for value in grid:
        low = np.where(masks & best.mask == best.mask, np.maximum(lower, value), lower)
        high = np.where(masks & best.mask == masks, np.minimum(upper, value), upper)
        saved.append(before - ((high - low) * shares).sum() / (n + 1))
    assert best.gain == pytest.approx(np.mean(saved), abs=1e-4)


@pytest.mark.parametrize("n", [-1, 1.5, True, None, np.zeros(2)])
def test_a_number_of_requests_is_a_whole_number(n):
    with pytest.raises(OptionError, match="whole number of requests"):
        data_to_collect(decompose(Measure([0, 0.3, 0.5, 1])), n)


def test_data_to_collect_in_words():
    X = [[0.9, 0.4, 0.2], [0.8, 0.1, 0.3], [0.2, 0.6, 0.5]]
    decomposition = choquet.decompose(DEMINING, support=choquet.DataSupport.from_data(X))
    (request,) = choquet.data_to_collect(decomposition)
    assert request.text() == "samples in which emi is above gpr and ir; best with gpr above ir"
    assert request.gain == pytest.approx(1 / 12)
    # Collected, it is no longer asked for.
    more = choquet.DataSupport.from_data([*X, [0.2, 0.1, 0.6]])
    assert choquet.data_to_collect(decomposition, support=more) == ()


def test_without_data_nothing_is_asked_for(demining):
    assert choquet.data_to_collect(demining) == ()
    assert choquet.explain_model(demining).evidence is None


def test_evidence_counts_supported_walks():
    rng = np.random.default_rng(3)
    support = choquet.DataSupport.from_data(rng.random((7, 4)))
    share = (support.phi(choquet.all_sorts(4)) == 0).mean()
    assert supported_share(support) == pytest.approx(share)


def test_measure_that_is_not_monotone_is_explained():
    rng = np.random.default_rng(0)
    values = np.concatenate([[0.0], rng.normal(size=7)])
    measure = choquet.Measure(values, monotone=False, normal=False)
    support = choquet.DataSupport.from_data(rng.random((3, 3)))
    decomposition = choquet.decompose(measure, support=support)
    story = choquet.explain_model(decomposition)
    assert story.to_dict()["evidence"]["mean_width"] is None
    assert story.requests
    why = choquet.explain_sample(decomposition, [0.1, 0.2, 0.3])
    assert why.to_dict()["interval"] == [None, None]
    assert "could lie anywhere" not in why.text()


def test_too_many_operators_go_without_rules():
    decomposition = choquet.decompose(choquet.Measure.random(5, rng=0), method="distinct")
    story = choquet.explain_model(decomposition)
    assert story.sentences[0].startswith("More than 32 operators")
    assert (
        "For this order of the inputs, the output"
        in choquet.explain_sample(decomposition, np.ones(5)).text()
    )


def test_wrong_arguments_are_refused(demining):
    with pytest.raises(DataError, match="one sample"):
        choquet.explain_sample(demining, [[0.1, 0.2, 0.3], [0.1, 0.2, 0.3]])
    with pytest.raises(DataError, match="3 sources"):
        choquet.explain_sample(demining, [0.1, 0.2])
    with pytest.raises(OptionError, match=r"0\.\.1"):
        choquet.explain_operator(demining, 2)
    with pytest.raises(OptionError, match="n=-1"):
        choquet.data_to_collect(demining, -1)


def test_regressors_explain_their_answers():
    from choquet import ChoquetRegressor

    X = np.random.default_rng(0).random((100, 3))
    model = ChoquetRegressor().fit(X, X.max(axis=1))
    why = model.explain(X[:2])
    assert [w.operator_name for w in why] == ["max", "max"]
    np.testing.assert_allclose([w.output for w in why], model.predict(X[:2]), atol=1e-6)


# -- unstable contexts -----------------------------------------------------------------------------


def pinned(masks, lower, upper):
    """An identification that says so of these subsets."""
    masks, lower, upper = np.array(masks), np.array(lower), np.array(upper)
    return Identification(0.01, masks, lower, upper, np.ones(len(masks), dtype=int))


def three_but_one(values, identification):
    """A measure on three sources of which the data saw all subsets but {emi}."""
    X = [[0.9, 0.4, 0.2], [0.8, 0.1, 0.3], [0.2, 0.6, 0.5], [0.1, 0.7, 0.0], [0.5, 0.9, 0.6]]
    support = DataSupport.from_data([*X, [0.2, 0.6, 0.5], [0.5, 0.9, 0.6]])
    assert np.flatnonzero(~support.supported).tolist() == [4]
    g = Measure(values, sources=["gpr", "ir", "emi"])
    return decompose(g, support=support, identification=identification)


def mean_saving(lower, upper, mask, n):
    """Oracle: for many values of g(mask), close it, propagate, and measure the mean width."""
    shares = np.array([1 / math.comb(n, m.bit_count()) for m in range(2**n)])
    before = ((upper - lower) * shares).sum()
    saved = []
    for v in (np.arange(4000) + 0.5) / 4000 * (upper[mask] - lower[mask]) + lower[mask]:
        low = [max(lower[b], v) if b & mask == mask else lower[b] for b in range(2**n)]
        high = [min(upper[b], v) if b & mask == b else upper[b] for b in range(2**n)]
        saved.append(before - ((np.array(high) - np.array(low)) * shares).sum())
    return np.mean(saved) / (n + 1)


def test_unstable_contexts_are_ranked_beside_unsupported_ones():
    # {emi} lies under {gpr, emi}, {ir, emi}: where these are small, little can be unknown of it.
    values = [0, 0.5, 0.1, 1, 0.05, 0.6, 0.1, 1]
    wide = pinned([1], [0.1], [0.5])
    first, second = data_to_collect(three_but_one(values, wide))
    assert (first.state, first.mask, first.count) == ("unstable", 1, 2)
    assert (second.state, second.mask, second.count) == ("unsupported", 4, 0)
    assert "(there are 2, but they leave the value uncertain)" in first.text()
    lower = np.array([0, 0.1, 0.1, 1, 0, 0.6, 0.1, 1])
    upper = np.array([0, 0.5, 0.1, 1, 0.1, 0.6, 0.1, 1])
    for request in (first, second):
        assert request.gain == pytest.approx(mean_saving(lower, upper, request.mask, 3), rel=1e-5)
        assert request.interval == pytest.approx((lower[request.mask], upper[request.mask]))
    # And the other way: with large values above, nearly anything is possible of {emi}.
    values = [0, 0.5, 0.5, 1, 0.4, 0.9, 0.9, 1]
    narrow = pinned([1, 2], [0.4, 0.49], [0.5, 0.5])
    first, second = data_to_collect(three_but_one(values, narrow))
    assert [(one.state, one.mask) for one in (first, second)] == [
        ("unsupported", 4),
        ("unstable", 1),
    ]
    # Under 0.05 a value counts as known.
    assert [
        one.mask for one in data_to_collect(three_but_one(values, pinned([1], [0.47], [0.5])))
    ] == [4]


def test_fitted_models_tell_what_their_data_do_not_pin_down(tmp_path):
    """A subset seen once, by a hair, takes any value; its samples support it all the same."""
    rng = np.random.default_rng(0)
    X = rng.random((60, 3))
    X = X[X[:, 2] < X[:, :2].min(axis=1)]
    X = np.vstack([X, [0.5, 0.5 - 1e-4, 0.6 - 0.1 + 1e-4]])
    y = X.max(axis=1) * 0.7 + 0.3 * X.min(axis=1) + 0.02 * rng.normal(size=len(X))
    model = choquet.ChoquetRegressor().fit(X, y)
    assert model.support_.supported[4]
    asked = {one.mask: one for one in data_to_collect(model, 9)}
    assert asked[4].state == "unstable"
    found = model.identify()
    at = found.masks.tolist().index(4)
    assert asked[4].interval == pytest.approx((found.lower[at], found.upper[at]), abs=1e-6)
    # Kept in a file with the decomposition.
    parts = decompose(model, identification=found)
    back = choquet.load(choquet.save(parts, tmp_path / "parts.json"))
    assert [one.to_dict() for one in data_to_collect(back, 9)] == [
        one.to_dict() for one in data_to_collect(parts, 9)
    ]
    clusters = decompose(model, method="clodd", identification=found)
    assert choquet.explain_model(clusters).operators[0].stable is not None


@pytest.mark.parametrize("values", [[0, 0.5, 0, 1], [0, 0.2, 0.3, 1], [0, 1, 1, 1]])
@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_tables_of_operators_hold_all_that_an_operator_is(values, library):
    """Weights by source and by rank of each row give the model's output where it is used."""
    g = choquet.Measure(values, sources=["a", "b"])
    X = np.random.default_rng(0).random((20, 2))
    whole = choquet.explain_model(g).to_frame(library)
    parts = choquet.decompose(g)
    labels = parts.operator_of(X)
    for number in range(parts.n_operators):
        alone = choquet.explain_operator(g, number).to_frame(library)
        by_source = np.array([whole[f"weight of {name}"][number] for name in "ab"])
        by_rank = np.array([whole[f"weight of rank {j}"][number] for j in (1, 2)])
        assert [alone[f"weight of source {k}"][0] for k in (1, 2)] == by_source.tolist()
        assert [alone[f"weight of rank {k}"][0] for k in (1, 2)] == by_rank.tolist()
        rows = X[labels == number]
        told = rows @ by_source - np.sort(-rows, axis=1) @ by_rank
        np.testing.assert_allclose(told, choquet.choquet_integral(g, rows), atol=1e-9)


def test_inputs_outside_of_the_range_learned_from_are_said():
    rng = np.random.default_rng(5)
    X = rng.uniform([10, 100], [20, 900], (60, 2))
    model = choquet.InUnits(choquet.ChoquetRegressor()).fit(X, X[:, 0] + X[:, 1] / 100)
    said = "Outside of the range that inputs are rescaled from"
    assert said not in choquet.explain_sample(model, X[0]).text()
    for row in (X.min(axis=0), X.max(axis=0)):
        assert said not in choquet.explain_sample(model, row).text()
    text = choquet.explain_sample(model, [15.0, 5000.0]).text()
    assert f"{said}: x2 (" in text
