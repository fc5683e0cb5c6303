import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.optimize import linprog
from scipy.stats import wasserstein_distance

from choquet.errors import DataError, OptionError, TooLargeError
from choquet.operators import (
    DISSIMILARITIES,
    Dissimilarity,
    a_norm,
    aitchison,
    as_dissimilarity,
    dissimilarity,
    lp,
)

pytestmark = pytest.mark.numerical

RNG = np.random.default_rng(0)
METRICS = [*DISSIMILARITIES, lp(3), a_norm(np.diag([1.0, 2.0, 3.0, 4.0]))]
SIGNED = [m for m in METRICS if m not in ("hellinger", "aitchison")]


def simplex(n, n_sources=4, seed=0):
    return np.random.default_rng(seed).dirichlet(np.ones(n_sources), n)


def name_of(metric):
    return metric if isinstance(metric, str) else metric.name


@pytest.mark.parametrize("metric", METRICS, ids=name_of)
def test_laws_of_a_dissimilarity(metric):
    V = simplex(12)
    D = dissimilarity(V, metric=metric)
    assert D.shape == (12, 12)
    assert np.allclose(D, D.T)
    assert np.all(D.diagonal() == 0)
    assert np.all(D[~np.eye(12, dtype=bool)] > 0)
    if as_dissimilarity(metric).is_metric:
        assert np.all(D[:, None, :] <= D[:, :, None] + D[None] + 1e-12)


@pytest.mark.parametrize("metric", METRICS, ids=name_of)
def test_largest_is_an_attained_bound(metric):
    row = as_dissimilarity(metric)
    vertices = np.eye(4)
    largest = row.largest(4)
    assert dissimilarity(simplex(200), metric=metric).max() <= largest
    if math.isfinite(largest):
        assert dissimilarity(vertices, metric=metric).max() == pytest.approx(largest)


@pytest.mark.parametrize("name", DISSIMILARITIES)
def test_rows_are_described_and_a_single_source_has_one_operator(name):
    row = DISSIMILARITIES[name]
    assert row.name == name
    assert row.meaning
    assert row.citation
    assert row.embeddable
    if name != "aitchison":
        assert row.largest(1) == 0
    assert dissimilarity([[1.0]], [[1.0]], metric=name)[0, 0] == 0


def test_plain_norms_by_their_definition():
    V, W = simplex(5, seed=1), simplex(6, seed=2)
    d = np.abs(V[:, None] - W[None])
    assert np.allclose(dissimilarity(V, W, metric="l1"), d.sum(2))
    assert np.allclose(dissimilarity(V, W, metric="l2"), np.sqrt((d**2).sum(2)))
    assert np.allclose(dissimilarity(V, W, metric="sql2"), (d**2).sum(2))
    assert np.allclose(dissimilarity(V, W, metric="linf"), d.max(2))
    assert np.allclose(dissimilarity(V, W, metric=lp(3)), (d**3).sum(2) ** (1 / 3))
    A = RNG.random((4, 4))
    A = A @ A.T
    difference = V[:, None] - W[None]
    expected = np.sqrt(np.einsum("ijk,kl,ijl->ij", difference, A, difference))
    assert np.allclose(dissimilarity(V, W, metric=a_norm(A)), expected)
    H = np.sqrt(((np.sqrt(V)[:, None] - np.sqrt(W)[None]) ** 2).sum(2) / 2)
    assert np.allclose(dissimilarity(V, W, metric="hellinger"), H)


def test_emd_is_the_transport_cost_over_ranks():
    V, W = simplex(4, 5, 3), simplex(4, 5, 4)
    D = dissimilarity(V, W, metric="emd")
    ranks = np.arange(5)
    for i in range(4):
        for j in range(4):
            expected = wasserstein_distance(ranks, ranks, V[i], W[j])
            assert D[i, j] == pytest.approx(expected)


def test_aitchison_by_all_log_ratios():
    x, y = np.array([0.2, 0.3, 0.5]), np.array([0.6, 0.3, 0.1])
    ratios = np.log(x[:, None] / x) - np.log(y[:, None] / y)
    expected = np.sqrt((ratios**2).sum() / (2 * 3))
    assert dissimilarity(x, y, metric="aitchison")[0, 0] == pytest.approx(expected)
    assert dissimilarity(7 * x, y, metric="aitchison")[0, 0] == pytest.approx(expected)
    near, far = (dissimilarity([1, 0], [0, 1], metric=aitchison(z))[0, 0] for z in (1e-3, 1e-9))
    assert near < far < np.inf


@settings(max_examples=60, deadline=None)
@given(arrays(float, (2, 5), elements=st.floats(-2, 2, width=32)))
def test_worst_is_the_largest_difference_of_output(pair):
    """Totals may differ: a linear program over sorted inputs in [0, 1] is the judge."""
    d = pair[0] - pair[1]
    order = np.eye(5, k=1)[:-1] - np.eye(5)[:-1]  # h[j+1] - h[j] <= 0
    values = [-linprog(-s * d, A_ub=order, b_ub=np.zeros(4), bounds=(0, 1)).fun for s in (1, -1)]
    got = dissimilarity(pair[0], pair[1], metric="worst")[0, 0]
    assert got == pytest.approx(max(values), abs=1e-7)


@pytest.mark.parametrize("n_sources", [1, 2, 5, 9])
def test_rms_has_the_second_moments_of_uniform_order_statistics(n_sources):
    i, j = np.meshgrid(np.arange(1, n_sources + 1), np.arange(1, n_sources + 1), indexing="ij")
    low, high = np.minimum(i, j), np.maximum(i, j)
    n = n_sources
    A = (n + 1 - high) * (n + 2 - low) / ((n + 1) * (n + 2))
    V, W = RNG.normal(size=(6, n_sources)), RNG.normal(size=(7, n_sources))
    assert np.allclose(dissimilarity(V, W, metric="rms"), dissimilarity(V, W, metric=a_norm(A)))


def test_rms_by_simulation_even_for_different_totals():
    v, w = np.array([0.5, 0.2, -0.4]), np.array([0.1, 0.1, 0.9])
    h = -np.sort(-RNG.random((200_000, 3)), axis=1)
    simulated = np.sqrt(np.mean((h @ (v - w)) ** 2))
    assert dissimilarity(v, w, metric="rms")[0, 0] == pytest.approx(simulated, rel=0.02)


def test_functional_rows_agree_on_their_order():
    V = simplex(50)
    rms, worst = (dissimilarity(V, metric=m) for m in ("rms", "worst"))
    assert np.all(rms <= worst + 1e-12)


@pytest.mark.parametrize("metric", SIGNED, ids=name_of)
def test_regression_operators_may_be_negative(metric):
    assert dissimilarity([[-1, 0.5, 2, 0]], [[0, 0, 0, 0]], metric=metric)[0, 0] > 0


@pytest.mark.parametrize("metric", ["hellinger", "aitchison"])
def test_negative_weights_are_refused_where_they_mean_nothing(metric):
    with pytest.raises(DataError, match=r"row 1, column 0 holds -0\.5; .* use 'rms'"):
        dissimilarity([[1, 0], [-0.5, 1.5]], metric=metric)
    # Differences of measure values are zero up to rounding only.
    assert np.isfinite(dissimilarity([[1.0, -1e-17]], [[0.5, 0.5]], metric=metric)).all()


def test_callables_and_rows_are_metrics_too():
    def mine(V, W):
        return np.abs(V[:, None] - W[None]).sum(2)

    V = simplex(5)
    assert np.allclose(dissimilarity(V, metric=mine), dissimilarity(V, metric="l1"))
    assert not as_dissimilarity(mine).embeddable
    row = DISSIMILARITIES["l1"]
    assert as_dissimilarity(row) is row


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda V, W: np.zeros(3), r"returned shape \(3,\)"),
        (lambda V, W: np.full((len(V), len(W)), np.nan), "returned nan"),
        (lambda V, W: np.full((len(V), len(W)), -1.0), "returned -1.0"),
        (lambda V, W: "no", "did not return numbers"),
    ],
)
def test_a_callable_that_misbehaves_is_named(function, message):
    with pytest.raises(DataError, match=message):
        dissimilarity(simplex(2), metric=function)


def test_errors_name_the_value():
    with pytest.raises(OptionError, match=r"metric='cosine' is unknown; .* emd, worst, rms"):
        dissimilarity([[1, 0]], metric="cosine")
    with pytest.raises(OptionError, match=r"metric=3 is unknown"):
        dissimilarity([[1, 0]], metric=3)
    with pytest.raises(DataError, match="row 0, column 1 holds nan"):
        dissimilarity([[1, np.nan]])
    with pytest.raises(DataError, match="3 columns"):
        dissimilarity([[1, 0]], [[1, 0, 0]])
    with pytest.raises(OptionError, match=r"p=0\.5"):
        lp(0.5)
    with pytest.raises(OptionError, match="zero=0"):
        aitchison(0)
    with pytest.raises(DataError, match="row 0 is all zero"):
        dissimilarity([[0, 0]], metric="aitchison")
    with pytest.raises(DataError, match=r"square, not of shape \(1, 2\)"):
        a_norm([[1, 2]])
    with pytest.raises(DataError, match="differ by 1"):
        a_norm([[1, 1], [0, 1]])
    with pytest.raises(DataError, match="eigenvalue is -1"):
        a_norm([[1, 0], [0, -1]])
    with pytest.raises(DataError, match=r"A is 2 × 2, but the operators have 3 weights"):
        dissimilarity([[1, 0, 0]], metric=a_norm(np.eye(2)))
    wide = np.broadcast_to(np.zeros((1, 1)), (60_000, 1))
    with pytest.raises(TooLargeError, match="27 GiB"):
        dissimilarity(wide)


def test_a_row_without_a_function_is_the_plain_norm():
    row = Dissimilarity("mine", "", lambda n: 2.0, p=1.0)
    assert dissimilarity([1, 0], [0, 1], metric=row)[0, 0] == 2.0
