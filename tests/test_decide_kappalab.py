"""What users of kappalab also look for: predicates, truncation, variance, normal inputs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from choquet import Measure, choquet_integral
from choquet.errors import MeasureError, OptionError
from choquet.indices import index_frame, normal_moments, variance


@given(st.integers(0, 10**6), st.integers(2, 4))
def test_predicates(seed, n):
    rng = np.random.default_rng(seed)
    weights = rng.dirichlet(np.ones(n))
    additive, symmetric = Measure.additive(weights), Measure.symmetric(weights)
    assert additive.is_additive()
    assert additive.is_k_additive(1)
    assert symmetric.is_symmetric()
    other = Measure.random(n, rng=rng)
    assert other.is_k_additive(n)
    assert not other.is_additive()
    assert not other.is_symmetric()


@given(st.integers(0, 10**6))
def test_truncation_keeps_small_coefficients(seed):
    g = Measure.random(4, rng=seed)
    cut = g.k_truncate(2)
    sizes = np.bitwise_count(np.arange(16, dtype=np.uint32))
    np.testing.assert_allclose(cut.mobius()[sizes <= 2], g.mobius()[sizes <= 2], atol=1e-12)
    assert cut.is_k_additive(2)
    np.testing.assert_allclose(g.k_truncate(4).values, g.values, atol=1e-12)


def test_normalised():
    g = Measure([0, 1, 2, 4], normal=False)
    assert not g.is_normalised()
    assert g.normalised().is_normalised()
    with pytest.raises(MeasureError, match="only a positive one"):
        Measure([0, 0, 0, 0], normal=False).normalised()
    with pytest.raises(OptionError, match="between 1 and 2"):
        g.k_truncate(0)


@given(st.integers(0, 10**6), st.integers(2, 5))
def test_variance_lies_between_the_mean_and_one_input(seed, n):
    assert -1e-12 <= variance(Measure.random(n, rng=seed)) <= 1
    assert variance(Measure.symmetric(np.eye(n)[0])) == pytest.approx(1)
    assert variance(Measure.additive(np.full(n, 1 / n))) == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("n", [2, 3, 5])
def test_normal_inputs(n):
    rng = np.random.default_rng(n)
    weights = rng.dirichlet(np.ones(n))
    mean, sd = normal_moments(Measure.additive(weights))
    assert mean == pytest.approx(0, abs=1e-9)
    assert sd == pytest.approx(float(np.linalg.norm(weights)), abs=1e-6)
    g = Measure.random(n, rng=rng)
    drawn = choquet_integral(g, rng.normal(size=(200_000, n)))
    mean, sd = normal_moments(g)
    assert mean == pytest.approx(drawn.mean(), abs=5 * drawn.std() / np.sqrt(len(drawn)))
    assert sd == pytest.approx(drawn.std(), rel=0.02)


def test_a_frame_of_everything():
    pytest.importorskip("pandas")
    g = Measure.random(3, rng=0)
    frame = index_frame(g)
    assert set(frame["index"]) >= {"shapley", "interaction", "orness", "variance"}
    assert len(frame) == 4 * 3 + 3 + 9 + 2 * 7
    values = frame[frame["index"] == "value"].set_index("of")["value"]
    assert values["x1, x3"] == g.values[5]
    assert frame[frame["index"] == "mobius"]["value"].to_numpy() == pytest.approx(g.mobius()[1:])
