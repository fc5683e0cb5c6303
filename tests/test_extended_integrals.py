"""Bipolar integrals, inputs that are intervals or fuzzy, Torra's distance, and modes."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from choquet import (
    BiCapacity,
    Measure,
    SupportedMeasure,
    bipolar_integral,
    choquet_integral,
    integral_of_fuzzy,
    integral_of_intervals,
    nondirect_integral,
    sipos_integral,
    sugeno_integral,
    trapezoid_memberships,
)
from choquet.clustering import medoids, modes
from choquet.errors import (
    DataError,
    MeasureError,
    NotMonotoneError,
    OptionError,
    SourceError,
    TooLargeError,
)
from choquet.indices import derivative, hellinger_distance
from tests.strategies import measures_with_inputs

# -- bipolar ---------------------------------------------------------------------------------------


@given(measures_with_inputs(min_value=-2.0, max_value=2.0), st.integers(0, 100))
def test_two_measures(case, seed):
    g, X = case
    h = Measure.random(g.n_sources, rng=seed)
    np.testing.assert_allclose(bipolar_integral(g, g, X), sipos_integral(g, X), atol=1e-12)
    np.testing.assert_allclose(bipolar_integral(g, g.dual(), X), choquet_integral(g, X), atol=1e-12)
    if g.n_sources <= 6:
        v = BiCapacity.from_measures(g, h.renamed(dict(zip(h.sources, g.sources, strict=True))))
        both = h.renamed(dict(zip(h.sources, g.sources, strict=True)))
        np.testing.assert_allclose(v.integral(X), bipolar_integral(g, both, X), atol=1e-12)


def random_bicapacity(n, rng):
    """Differences of random monotone functions of both sets, joined by a product that couples."""
    g, h = (Measure.random(n, rng=rng) for _ in range(2))
    names = list(g.sources)

    def value(a, b):
        up, down = g(tuple(a)) if a else 0.0, h(tuple(b)) if b else 0.0
        return up - down - 0.5 * up * down

    return BiCapacity.from_function(value, names), value


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_bicapacity_by_the_definition(n):
    """C(x) is the Choquet integral of |x| by A ↦ v(A ∩ N+, A ∩ N-)."""
    rng = np.random.default_rng(n)
    v, value = random_bicapacity(n, rng)
    for x in rng.normal(size=(20, n)):
        game = np.zeros(1 << n)
        for mask in range(1, 1 << n):
            inside = [i for i in range(n) if mask >> i & 1]
            above = frozenset(v.sources[i] for i in inside if x[i] >= 0)
            below = frozenset(v.sources[i] for i in inside if x[i] < 0)
            game[mask] = value(above, below)
        expected = choquet_integral(Measure(game, monotone=False, normal=False), np.abs(x)[None])
        np.testing.assert_allclose(v.integral(x), expected, atol=1e-12)


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: BiCapacity([0, 1]), MeasureError, "3\\*\\*N values"),
        (lambda: BiCapacity([0.5, 1, -1]), MeasureError, "must be 0"),
        (lambda: BiCapacity([0, -1, -1]), NotMonotoneError, "x1 speaks for"),
        (lambda: BiCapacity([0, 1, 1]), NotMonotoneError, "x1 speaks against"),
        (lambda: BiCapacity.from_function(lambda a, b: 0, "abcdefghijklmn"), TooLargeError, "14"),
        (
            lambda: bipolar_integral(Measure.random(2), Measure.random(3), [[1, 2]]),
            SourceError,
            "same sources",
        ),
        (lambda: BiCapacity([0, 1, -1]).integral([[1, 2]]), DataError, "2 columns"),
    ],
)
def test_what_is_no_bicapacity(make, error, message):
    with pytest.raises(error, match=message):
        make()


# -- intervals and fuzzy numbers -------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["choquet", "sugeno", "shilkret"])
def test_no_inputs_inside_leave_the_bounds_and_the_ends_are_attained(kind):
    rng = np.random.default_rng(3)
    g = Measure.random(4, rng=3)
    low = rng.random((10, 4)) * 0.5
    high = low + rng.random((10, 4)) * 0.5
    bounds = integral_of_intervals(g, low, high, kind=kind)
    for share in rng.random((200, 10, 4)):
        inside = g.integral(low + share * (high - low), kind=kind)
        assert (inside >= bounds[:, 0] - 1e-12).all()
        assert (inside <= bounds[:, 1] + 1e-12).all()
    np.testing.assert_allclose(bounds[:, 0], g.integral(low, kind=kind))
    np.testing.assert_allclose(bounds[:, 1], g.integral(high, kind=kind))


def test_a_measure_known_in_part_widens_the_bounds():
    g = SupportedMeasure.from_dict({"ir": 0.4}, sources=["ir", "emi"])
    found = integral_of_intervals(g, [[0.1, 0.2]], [[0.3, 0.9]])
    fillings = [Measure([0, 0.4, e, 1], ["ir", "emi"]) for e in (0.0, 1.0)]
    assert found[0, 0] == pytest.approx(choquet_integral(fillings[0], [[0.1, 0.2]])[0])
    assert found[0, 1] == pytest.approx(choquet_integral(fillings[1], [[0.3, 0.9]])[0])


def test_fuzzy_numbers_by_the_extension_principle():
    """Membership of an output is the largest of the smallest memberships of inputs that give it."""
    g = Measure([0, 0.3, 0.6, 1])
    traps = np.array([[[0.0, 0.2, 0.3, 0.6], [0.1, 0.4, 0.5, 0.9]]])
    heights = np.array([[1.0, 0.7]])
    alphas = np.linspace(0.05, 0.65, 7)
    found = integral_of_fuzzy(g, traps, heights, alphas=alphas)
    grids = [np.linspace(t[0], t[3], 301) for t in traps[0]]
    degrees = [
        np.interp(x, t, [0, h, h, 0]) for x, t, h in zip(grids, traps[0], heights[0], strict=True)
    ]
    both = np.array(list(itertools.product(*grids)))
    degree = np.min(np.array(list(itertools.product(*degrees))), axis=1)
    out = choquet_integral(g, both)
    for k, alpha in enumerate(alphas):
        reached = out[degree >= alpha]
        assert found.lower[0, k] == pytest.approx(reached.min(), abs=0.01)
        assert found.upper[0, k] == pytest.approx(reached.max(), abs=0.01)
    assert found.height[0] == 0.7
    assert np.isnan(integral_of_fuzzy(g, traps, heights, alphas=[0.8]).lower).all()


def test_numbers_are_fuzzy_numbers_too():
    g = Measure.random(3, rng=0)
    X = np.random.default_rng(0).random((5, 3))
    found = integral_of_fuzzy(g, np.repeat(X[:, :, None], 4, axis=2), kind="sugeno")
    np.testing.assert_allclose(found.lower, found.upper)
    np.testing.assert_allclose(found.lower[:, 3], sugeno_integral(g, X))


def random_trapezoids(rng, n_samples, n):
    return np.sort(rng.random((n_samples, n, 4)), axis=2), rng.uniform(0.3, 1.0, (n_samples, n))


def test_memberships_of_trapezoids_by_interpolation():
    rng = np.random.default_rng(5)
    traps, heights = random_trapezoids(rng, 4, 3)
    places = np.linspace(-0.1, 1.1, 50)
    found = trapezoid_memberships(traps, places, heights)
    for k, i in itertools.product(range(4), range(3)):
        h = heights[k, i]
        expected = np.interp(places, traps[k, i], [0, h, h, 0], left=0, right=0)
        np.testing.assert_allclose(found[k, i], expected, atol=1e-12)
    upright = trapezoid_memberships([[[0.2, 0.2, 0.4, 0.4]]], [0.1, 0.2, 0.4, 0.5])
    np.testing.assert_array_equal(upright, [[[0, 1, 1, 0]]])  # an interval holds its ends


@pytest.mark.parametrize("n", [1, 2, 4])
def test_non_direct_integrals_by_alpha_cuts(n):
    """Membership of a place: the measure of the sources whose α-cut holds it, summed over α."""
    rng = np.random.default_rng(n)
    g = Measure.random(n, rng=rng)
    traps, heights = random_trapezoids(rng, 3, n)
    places = np.linspace(0, 1, 9)
    degrees = trapezoid_memberships(traps, places, heights)
    found = nondirect_integral(g, degrees)
    extreme = nondirect_integral(g, degrees, kind="sugeno")
    alphas = (np.arange(4000) + 0.5) / 4000
    for k, p in itertools.product(range(3), range(len(places))):
        holds = degrees[k, :, p] >= alphas[:, None]
        measures = g.values[holds @ (1 << np.arange(n))]
        assert found[k, p] == pytest.approx(measures.mean(), abs=1e-3)
        assert extreme[k, p] == pytest.approx(np.minimum(alphas, measures).max(), abs=1e-3)


def test_non_direct_integrals_are_not_limited_by_the_lowest_input():
    g = Measure.additive([0.7, 0.3])
    traps, heights = [[[0.2, 0.4, 0.4, 0.6], [0.3, 0.4, 0.4, 0.5]]], [[1.0, 0.1]]
    direct = integral_of_fuzzy(g, traps, heights)
    found = nondirect_integral(g, trapezoid_memberships(traps, [0.4], heights))
    assert direct.height[0] == 0.1
    assert found[0, 0] == pytest.approx(0.7 + 0.3 * 0.1)
    # A constant is kept, and two far sets of one source each leave two peaks.
    np.testing.assert_allclose(nondirect_integral(g, np.full((1, 2, 3), 0.25)), 0.25)
    apart = trapezoid_memberships([[[0, 0.1, 0.1, 0.2], [0.8, 0.9, 0.9, 1]]], [0.1, 0.5, 0.9])
    np.testing.assert_allclose(nondirect_integral(g, apart), [[0.7, 0.0, 0.3]])


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda g: nondirect_integral(g, [[0.1, 0.2]]), DataError, "n_samples, 2, n_places"),
        (lambda g: nondirect_integral(g, [[[0.1], [1.2]]]), DataError, "from 0 to 1"),
        (lambda g: nondirect_integral(g, [[[0.1], [np.nan]]]), DataError, "from 0 to 1"),
        (lambda _: trapezoid_memberships([[[0, 1, 2]]], [0]), DataError, "n_samples, N, 4"),
        (lambda g: integral_of_intervals(g, [[1, 1]], [[0, 2]]), DataError, "an interval is empty"),
        (lambda g: integral_of_intervals(g, [[1, 1]], [[2, 2], [2, 2]]), DataError, "alike"),
        (lambda g: integral_of_fuzzy(g, [[1, 2]]), DataError, "shape"),
        (lambda g: integral_of_fuzzy(g, [[[0, 2, 1, 3]] * 2]), DataError, "ascend"),
        (lambda g: integral_of_fuzzy(g, [[[0, 1, 1, 3]] * 2], [[1, 0]]), DataError, "heights"),
        (
            lambda g: integral_of_fuzzy(g, [[[0, 1, 1, 3]] * 2], alphas=[2]),
            OptionError,
            "between 0 and 1",
        ),
        (
            lambda _: integral_of_intervals(
                Measure([0, 2, 1, 1], monotone=False), [[0, 0]], [[1, 1]]
            ),
            MeasureError,
            "monotone=False",
        ),
    ],
)
def test_bad_uncertain_inputs(make, error, message):
    with pytest.raises(error, match=message):
        make(Measure([0, 0.3, 0.6, 1]))


# -- Torra's Hellinger distance --------------------------------------------------------------------


@given(st.integers(2, 6), st.integers(0, 1000))
def test_probabilities_have_the_usual_distance(n, seed):
    p, q, r = np.random.default_rng(seed).dirichlet(np.ones(n), size=3)
    usual = np.sqrt(((np.sqrt(p) - np.sqrt(q)) ** 2).sum() / 2)
    measures = [Measure.additive(w / w.sum()) for w in (p, q, np.maximum(r, 1e-6))]
    assert hellinger_distance(*measures) == pytest.approx(usual, abs=1e-9)


@given(st.integers(2, 5), st.integers(0, 1000))
def test_measures_made_by_integration_have_their_derivatives_back(n, seed):
    rng = np.random.default_rng(seed)
    reference = Measure.additive(rng.dirichlet(np.ones(n) * 5)) if seed % 2 else None
    if reference is None:
        base = Measure.additive(rng.dirichlet(np.ones(n) * 5)).values
        reference = Measure(np.append((base**1.7)[:-1], 1.0))
    slopes = rng.random((2, n)) + 0.1
    inside = (np.arange(1 << n)[:, None] >> np.arange(n) & 1).astype(float)
    made = [Measure(reference.integral(inside * f), monotone=False, normal=False) for f in slopes]
    for g, f in zip(made, slopes, strict=True):
        np.testing.assert_allclose(derivative(g, reference), f, rtol=1e-9)
    square = choquet_integral(reference, (np.sqrt(slopes[0]) - np.sqrt(slopes[1])) ** 2)[0] / 2
    assert hellinger_distance(*made, reference) == pytest.approx(np.sqrt(square), abs=1e-9)
    assert hellinger_distance(made[0], made[0], reference) == 0.0


def test_most_measures_have_no_derivative():
    g, r = Measure.random(4, rng=0), Measure.random(4, rng=1)
    with pytest.raises(MeasureError, match=r"no derivative.*measure_distance"):
        hellinger_distance(g, g, r)
    with pytest.raises(MeasureError, match=r"0 on \{x1\}"):
        derivative(g, Measure.symmetric([0, 0, 0, 1]))
    with pytest.raises(SourceError):
        derivative(g, Measure.random(3))


# -- modes -----------------------------------------------------------------------------------------


def test_modes_by_brute_force():
    rng = np.random.default_rng(0)
    points = rng.dirichlet([3, 2, 4], size=60)
    labels = np.arange(60) % 2
    for width in (0.3, None):
        found = modes(points, labels, bandwidth=width)
        for number in (0, 1):
            inside = np.flatnonzero(labels == number)
            logs = np.log(points[inside])
            ratios = logs - logs.mean(axis=1, keepdims=True)
            h = width
            if h is None:  # Silverman's rule in two dimensions
                h = np.sqrt(ratios.var(axis=0).sum() / 2) * (1 / len(inside)) ** (1 / 6)
            density = [
                sum(np.exp(-((a - b) ** 2).sum() / (2 * h * h)) for b in ratios) for a in ratios
            ]
            assert found[number] == inside[int(np.argmax(density))]


def test_outliers_draw_the_medoid_and_not_the_mode():
    rng = np.random.default_rng(1)
    near = rng.dirichlet([200, 200, 200], size=30)
    far = rng.dirichlet([1, 1, 30], size=25)
    points = np.vstack([near, far])
    mode, medoid = modes(points, bandwidth=0.2)[0], medoids(points, metric="aitchison")[0]
    assert mode < 30
    centre = np.full(3, 1 / 3)
    assert np.abs(points[mode] - centre).max() < np.abs(points[medoid] - centre).max() + 0.05
    counted = modes(points[[0, 40]], counts=[1, 5])
    assert counted[0] == 1


def test_bad_bandwidth():
    with pytest.raises(OptionError, match="bandwidth=0"):
        modes([[0.5, 0.5]], bandwidth=0)
