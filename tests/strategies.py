"""Measures and inputs for property tests, ties included."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from choquet import Measure
from choquet.lattice import upward_maximum


@st.composite
def measures(draw, min_sources=1, max_sources=5):
    n = draw(st.integers(min_sources, max_sources))
    # Few levels make many equal values; many make almost none.
    levels = draw(st.sampled_from([1, 2, 4, 1000]))
    raw = draw(arrays(np.int64, 1 << n, elements=st.integers(0, levels)))
    values = upward_maximum(raw / levels)
    values[0], values[-1] = 0.0, 1.0
    return Measure(upward_maximum(values))


@st.composite
def measures_with_inputs(draw, min_value=0.0, max_value=1.0, **sizes):
    measure = draw(measures(**sizes))
    grid = draw(st.booleans())  # a coarse grid makes ties
    element = (
        st.integers(0, 3).map(lambda k: min_value + (max_value - min_value) * k / 3)
        if grid
        else st.floats(min_value, max_value, allow_subnormal=False)
    )
    n_samples = draw(st.integers(1, 5))
    return measure, draw(arrays(np.float64, (n_samples, measure.n_sources), elements=element))
