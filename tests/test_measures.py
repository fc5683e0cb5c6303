from __future__ import annotations

import pickle
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import brentq

from choquet import Measure, choquet_integral
from choquet.errors import (
    DataError,
    MeasureError,
    NotMonotoneError,
    OptionError,
    SourceError,
    TooLargeError,
)
from choquet.lattice import mobius, monotonicity_witness, subset_sizes, superset_zeta
from choquet.measures import RANDOM_MEASURES
from choquet.measures.families import CONORMS, sugeno_lambda_root
from tests.strategies import measures

pytestmark = pytest.mark.numerical


def test_values_are_copied_and_frozen():
    raw = np.array([0.0, 0.2, 0.3, 1.0])
    g = Measure(raw)
    raw[1] = 0.9
    assert g("x1") == 0.2
    with pytest.raises(ValueError, match="read-only"):
        g.values[1] = 0.5
    with pytest.raises(AttributeError):
        g.sources = ("a", "b")


def test_subsets_in_every_spelling():
    g = Measure.additive([0.1, 0.2, 0.7], ["gpr", "ir", "emi"])
    assert g("ir", "emi") == g({1, 2}) == g(["ir", 2]) == g(np.array([1, 2])) == g(1, 2)
    assert g() == g(()) == 0.0
    assert g(np.int64(0)) == 0.1
    assert g.format(0) == "∅"


@pytest.mark.parametrize(
    ("values", "options", "error", "message"),
    [
        ([0, 0.9, 0.3, 0.7], {"normal": False}, NotMonotoneError, "g({x1}) = 0.9 > g({x1, x2}) ="),
        ([0.1, 0.2, 0.3, 1], {}, MeasureError, "g(∅) must be 0, not 0.1"),
        ([0, 0.2, 0.3, 0.9], {}, MeasureError, "g(X) must be 1, not 0.9"),
        ([0, np.nan, 0.3, 1], {}, DataError, "position 1 holds nan"),
        ([0, np.inf, 0.3, 1], {}, DataError, "position 1 holds inf"),
        ([0, 0.5, 1], {}, MeasureError, "2**N values"),
        (["a", "b"], {}, DataError, "must be numbers"),
        ([[0, 1]], {}, DataError, "one-dimensional"),
        ([0, 1, 1, 1], {"sources": ["a", "a"]}, SourceError, "'a' is given more than once"),
        ([0, 1, 1, 1], {"sources": ["a"]}, SourceError, "1 source names were given for 2"),
        ([0, 1, 1, 1], {"sources": "ab"}, SourceError, "list of names"),
    ],
)
def test_bad_values_are_named(values, options, error, message):
    with pytest.raises(error, match=re.escape(message)):
        Measure(values, **options)


def test_the_witness_is_named_as_people_write_it():
    with pytest.raises(NotMonotoneError) as caught:
        Measure([0, 0.3, 0.9, 0.7], sources=["emi", "ir"], normal=False)
    assert "g({ir}) = 0.9 > g({emi, ir}) = 0.7" in str(caught.value)
    assert (caught.value.smaller, caught.value.larger) == (2, 3)


@pytest.mark.parametrize(
    ("subset", "message"),
    [
        (("sar",), "no source is named 'sar'; there are gpr, ir"),
        (("ir", "ir"), "'ir' is named twice"),
        ((2,), "source number 2 is outside 0..1"),
        ((0.5,), "source number 0.5"),
    ],
)
def test_bad_subsets_are_named(subset, message):
    g = Measure.additive([0.5, 0.5], ["gpr", "ir"])
    with pytest.raises(SourceError, match=re.escape(message)):
        g(list(subset))


def test_relaxed_measures_say_so():
    g = Measure([0, 2.0, -1.0, 0.5], monotone=False, normal=False)
    assert "not monotone, not normal by choice" in repr(g)
    assert "by choice" not in repr(Measure([0, 1]))


@given(measures())
def test_survives_pickle_and_equality(g):
    copy = pickle.loads(pickle.dumps(g))  # noqa: S301 (as joblib sends it to its workers)
    assert copy == g
    assert g != Measure(g.values, [f"s{i}" for i in range(g.n_sources)])


# -- families --------------------------------------------------------------------------------------


def test_from_dict_needs_all_or_a_filling():
    with pytest.raises(MeasureError, match=r"no value is given for \{b\} \(1 subsets"):
        Measure.from_dict({"a": 0.4, ("a", "b"): 1})
    low = Measure.from_dict({"a": 0.4}, ["a", "b", "c"], fill="lower")
    high = Measure.from_dict({"a": 0.4}, ["a", "b", "c"], fill="upper")
    assert low("b", "c") == 0
    assert low("a", "c") == 0.4
    assert high("b") == 1
    assert high("a") == 0.4
    with pytest.raises(MeasureError, match="given twice"):
        Measure.from_dict({("a", "b"): 1, ("b", "a"): 1}, ["a", "b"])
    with pytest.raises(OptionError, match="lower, upper"):
        Measure.from_dict({"a": 0.4}, ["a", "b"], fill="middle")


@given(st.lists(st.floats(0.01, 1), min_size=1, max_size=6))
def test_additive_and_symmetric_are_what_they_say(raw):
    weights = np.array(raw) / sum(raw)
    h = np.random.default_rng(0).random((20, len(weights)))
    np.testing.assert_allclose(choquet_integral(Measure.additive(weights), h), h @ weights)
    np.testing.assert_allclose(
        choquet_integral(Measure.symmetric(weights), h), -np.sort(-h, axis=1) @ weights
    )


@given(st.lists(st.floats(0.001, 0.999), min_size=2, max_size=7))
def test_lambda_rule_holds_in_every_regime(densities):
    root = sugeno_lambda_root(densities)
    g = Measure.sugeno_lambda(densities)
    assert root >= -1  # densities near 1 have roots that floats cannot tell from the limit
    assert np.sign(root) == np.sign(np.round(1 - sum(densities), 15)) or abs(root) < 1e-12
    # The defining equation; in logarithms above 0, so that huge roots are tested fairly.
    if root > 0:
        logs = np.log1p(root * np.array(densities)).sum()
        assert logs == pytest.approx(np.log1p(root), rel=1e-12)
    else:
        assert np.prod(1 + root * np.array(densities)) == pytest.approx(1 + root, abs=1e-12)
    n = len(densities)
    full = (1 << n) - 1
    for a in range(1, full):
        b = full ^ a
        joined = g.values[a] + g.values[b] + root * g.values[a] * g.values[b]
        assert joined == pytest.approx(1, abs=1e-8)


def test_lambda_root_to_twelve_digits_against_scipy():
    def product(x, g):
        return np.prod(1 + x * np.array(g)) - 1 - x

    for densities, bracket in (([0.2, 0.3, 0.1], (0.1, 50)), ([0.5, 0.6, 0.4], (-0.999999, -0.1))):
        expected = brentq(product, *bracket, args=(densities,), xtol=1e-15, rtol=1e-15)
        assert sugeno_lambda_root(densities) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    ("densities", "root"), [([0.5, 0.5], 0), ([1, 0.3], -1), ([1, 0, 0], 0), ([0.25] * 4, 0)]
)
def test_lambda_limits(densities, root):
    assert sugeno_lambda_root(densities) == pytest.approx(root, abs=1e-12)
    assert Measure.sugeno_lambda(densities).values[-1] == 1


@pytest.mark.parametrize("densities", [[0, 0], [0.4, 0], [0.4]])
def test_lambda_that_does_not_exist(densities):
    with pytest.raises(MeasureError, match="λ-measure needs two densities"):
        Measure.sugeno_lambda(densities)


def test_lambda_extremes_stay_monotone():
    for densities in ([1e-6] * 3, [0.999999] * 4, [1e-9, 0.5, 0.999], [0.1] * 12):
        g = Measure.sugeno_lambda(densities)
        assert monotonicity_witness(g.values) is None
        np.testing.assert_array_equal(g.values[1 << np.arange(len(densities))], densities)


def test_possibility_and_necessity_are_dual():
    g = Measure.possibility([0.3, 1.0, 0.6])
    assert g({0, 2}) == 0.6
    n = Measure.necessity([0.3, 1.0, 0.6])
    assert n({1}) == pytest.approx(0.4)
    np.testing.assert_allclose(n.dual().values, g.values, atol=1e-15)
    with pytest.raises(MeasureError, match=r"largest possibility must be 1, not 0\.6"):
        Measure.possibility([0.3, 0.6])


@pytest.mark.parametrize("conorm", list(CONORMS))
def test_decomposable(conorm):
    g = Measure.decomposable([0.3, 0.5, 0.6], conorm=conorm)
    pair = {"max": 0.5, "probabilistic": 0.65, "bounded": 0.8}[conorm]
    assert g({0, 1}) == pytest.approx(pair)
    assert g({0, 1, 2}) == 1


def test_unknown_options_list_the_known():
    with pytest.raises(OptionError, match="max, probabilistic, bounded"):
        Measure.decomposable([0.5, 0.5], conorm="sum")
    with pytest.raises(OptionError, match="uniform, node, increments, k_additive, convex, belief"):
        Measure.random(3, kind="gaussian")
    with pytest.raises(MeasureError, match=r"lie in \[0, 1\]"):
        Measure.decomposable([0.5, 1.5])
    with pytest.raises(MeasureError, match="sum to 1"):
        Measure.additive([0.5, 0.6])
    with pytest.raises(TooLargeError, match="30 sources"):
        Measure.additive(np.full(30, 1 / 30))


def test_p_symmetric_sees_only_counts():
    table = np.array([[0, 0.5], [0.2, 0.6], [0.4, 1.0]])
    g = Measure.p_symmetric([["a", "c"], ["b"]], table, ["a", "b", "c"])
    assert g("a") == g("c") == 0.2
    assert g("a", "b") == g("b", "c") == 0.6
    with pytest.raises(SourceError, match="exactly one group"):
        Measure.p_symmetric([[0, 1], [1]], table)
    with pytest.raises(DataError, match=r"shape \(3, 2\)"):
        Measure.p_symmetric([[0, 1], [2]], table.T)


def test_belief_and_mobius():
    g = Measure.belief({"a": 0.25, ("a", "b"): 0.75}, ["a", "b"])
    np.testing.assert_allclose(g.mobius(), [0, 0.25, 0, 0.75])
    assert Measure.from_mobius(g.mobius(), g.sources) == g
    with pytest.raises(MeasureError, match="belief masses"):
        Measure.belief({"a": -0.25, ("a", "b"): 1.25}, ["a", "b"])
    with pytest.raises(NotMonotoneError):
        Measure.from_mobius([0, 1, 1, -1.5, 0, 0, 0, 0.5])


# -- operations ------------------------------------------------------------------------------------


@given(measures(min_sources=1, max_sources=5))
def test_dual_twice_is_the_same(g):
    np.testing.assert_allclose(g.dual().dual().values, g.values, atol=1e-12)
    h = np.random.default_rng(1).random((10, g.n_sources))
    np.testing.assert_allclose(choquet_integral(g.dual(), h), -choquet_integral(g, -h), atol=1e-12)


@given(measures(min_sources=2, max_sources=5), st.randoms(use_true_random=False))
def test_permuted_sources_permute_the_inputs(g, random):
    order = list(range(g.n_sources))
    random.shuffle(order)
    h = np.random.default_rng(2).random((10, g.n_sources))
    permuted = g.permute(order)
    assert permuted.sources == tuple(g.sources[i] for i in order)
    np.testing.assert_allclose(choquet_integral(permuted, h[:, order]), choquet_integral(g, h))


def test_restriction():
    g = Measure.additive([0.2, 0.3, 0.5], ["a", "b", "c"])
    assert g.restrict(["a", "c"])("a") == pytest.approx(0.2 / 0.7)
    with pytest.raises(MeasureError, match="cannot be made normal"):
        Measure([0, 0, 0, 1]).restrict([0])
    with pytest.raises(SourceError, match="at least one source"):
        g.restrict([])
    with pytest.raises(SourceError, match="all 3 sources"):
        g.permute([0, 1])


@given(measures(3, 3), measures(3, 3), st.floats(0, 1))
def test_integral_is_linear_in_the_measure(f, g, share):
    mixed = Measure.mixture([f, g], [share, 1 - share])
    h = np.random.default_rng(3).random((10, 3))
    expected = share * choquet_integral(f, h) + (1 - share) * choquet_integral(g, h)
    np.testing.assert_allclose(choquet_integral(mixed, h), expected, atol=1e-12)


def test_bad_mixtures():
    g = Measure([0, 1])
    with pytest.raises(MeasureError, match="at least one"):
        Measure.mixture([])
    with pytest.raises(MeasureError, match="sum to 1"):
        Measure.mixture([g, g], [0.7, 0.7])
    with pytest.raises(SourceError, match="same sources"):
        Measure.mixture([g, Measure([0, 1], ["a"])])


# -- random measures -------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", RANDOM_MEASURES)
@pytest.mark.parametrize("n", [1, 2, 3, 6, 9])
def test_random_measures_are_measures_and_seeded(kind, n):
    g = Measure.random(n, kind=kind, k=min(2, n), rng=7)
    assert g == Measure.random(n, kind=kind, k=min(2, n), rng=7)
    if n > 1:
        assert g != Measure.random(n, kind=kind, k=min(2, n), rng=8)


def test_random_kinds_have_their_property():
    sizes = subset_sizes(6)
    for seed in range(10):
        two = mobius(Measure.random(6, kind="k_additive", k=2, rng=seed).values)
        assert np.abs(two[sizes > 2]).max() < 1e-12
        assert mobius(Measure.random(6, kind="belief", rng=seed).values).min() > -1e-12
        convex = Measure.random(6, kind="convex", rng=seed).values.reshape((2,) * 6)
        for i in range(6):
            for j in range(i):
                assert np.diff(np.diff(convex, axis=i), axis=j).min() > -1e-12
    with pytest.raises(OptionError, match=r"k=4 must lie in 1\.\.3"):
        Measure.random(3, kind="k_additive", k=4)
    assert superset_zeta(np.ones(4))[0] == 4


def linear_extensions_of_three() -> list[tuple[int, ...]]:
    from itertools import permutations

    return [
        order
        for order in permutations(range(1, 7))
        if all(
            order.index(a) < order.index(b)
            for a in range(1, 7)
            for b in range(1, 7)
            if a != b and a & b == a
        )
    ]


def test_uniform_measures_order_their_subsets_uniformly():
    extensions = linear_extensions_of_three()
    assert len(extensions) == 48
    number = {order: k for k, order in enumerate(extensions)}
    rng = np.random.default_rng(20)
    draws = 9600
    counts = np.zeros(48)
    for _ in range(draws):
        values = Measure.random(3, rng=rng).values
        counts[number[tuple(np.argsort(values[1:-1]) + 1)]] += 1
    expected = draws / 48
    chi_square = ((counts - expected) ** 2 / expected).sum()
    assert chi_square < 87  # 99.97 % point of 47 degrees of freedom


def test_uniform_measures_have_the_exact_mean():
    rng = np.random.default_rng(21)
    values = np.array([Measure.random(3, rng=rng).values for _ in range(20_000)])
    # E g({i}) = (mean rank of {i} in a linear extension) / 7, from all 48 of them.
    ranks = [order.index(m) + 1 for order in linear_extensions_of_three() for m in (1, 2, 4)]
    exact = np.mean(ranks) / 7
    assert exact == pytest.approx(0.2976, abs=1e-4)
    for mask in (1, 2, 4):
        assert values[:, mask].mean() == pytest.approx(exact, abs=4 * 0.19 / np.sqrt(20_000))
    for mask in (3, 5, 6):
        assert values[:, mask].mean() == pytest.approx(1 - exact, abs=4 * 0.19 / np.sqrt(20_000))


def test_extreme_starts_meet():
    """After 10 N sweeps the start matters by less than about 1e-3, as the docstring says."""
    from choquet.measures import _kernels

    for n in (3, 5, 8):
        low, high = np.zeros(1 << n), np.ones(1 << n)
        low[-1], high[0] = 1, 0
        gaps = [
            (
                _kernels.gibbs_sweeps(high, n, 10 * n, np.uint64(seed))
                - _kernels.gibbs_sweeps(low, n, 10 * n, np.uint64(seed))
            )
            for seed in range(20)
        ]
        assert min(gap.min() for gap in gaps) >= -1e-15
        assert np.mean([gap.max() for gap in gaps]) < 2e-3
