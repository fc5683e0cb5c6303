from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from choquet import lattice
from choquet.errors import MeasureError, SourceError, TooLargeError
from choquet.lattice import wide

pytestmark = pytest.mark.numerical


def functions(max_sources=5):
    return st.integers(1, max_sources).flatmap(
        lambda n: arrays(np.float64, 1 << n, elements=st.floats(-100, 100, width=32))
    )


BRUTE = {
    "zeta": lambda f, n: [sum(f[b] for b in range(1 << n) if b & a == b) for a in range(1 << n)],
    "superset_zeta": lambda f, n: [
        sum(f[b] for b in range(1 << n) if b & a == a) for a in range(1 << n)
    ],
    "mobius": lambda f, n: [
        sum((-1) ** bin(a ^ b).count("1") * f[b] for b in range(1 << n) if b & a == b)
        for a in range(1 << n)
    ],
    "superset_mobius": lambda f, n: [
        sum((-1) ** bin(a ^ b).count("1") * f[b] for b in range(1 << n) if b & a == a)
        for a in range(1 << n)
    ],
    "upward_maximum": lambda f, n: [
        max(f[b] for b in range(1 << n) if b & a == b) for a in range(1 << n)
    ],
    "downward_minimum": lambda f, n: [
        min(f[b] for b in range(1 << n) if b & a == a) for a in range(1 << n)
    ],
}


def test_every_sweep_has_a_brute_force():
    assert set(BRUTE) == set(lattice.SWEEPS)


@pytest.mark.parametrize("name", list(lattice.SWEEPS))
@given(f=functions())
def test_sweep_equals_its_definition(name, f):
    before = f.copy()
    result = getattr(lattice, name)(f)
    np.testing.assert_allclose(result, BRUTE[name](f, lattice.n_sources_of(f)), atol=1e-9)
    np.testing.assert_array_equal(f, before)  # the public functions leave their argument alone


@given(f=functions())
def test_mobius_undoes_zeta(f):
    np.testing.assert_allclose(lattice.mobius(lattice.zeta(f)), f, atol=1e-9)
    np.testing.assert_allclose(lattice.superset_mobius(lattice.superset_zeta(f)), f, atol=1e-9)


@given(f=functions())
def test_closures_are_the_nearest_monotone_functions(f):
    above, below = lattice.upward_maximum(f), lattice.downward_minimum(f)
    assert lattice.monotonicity_witness(above) is None
    assert lattice.monotonicity_witness(below) is None
    assert (above >= f).all()
    assert (below <= f).all()
    np.testing.assert_array_equal(lattice.upward_maximum(above), above)


@given(f=functions())
def test_witness_is_the_largest_decrease_of_a_cover(f):
    pairs = lattice.cover_pairs(lattice.n_sources_of(f))
    drops = f[pairs[:, 0]] - f[pairs[:, 1]]
    witness = lattice.monotonicity_witness(f)
    if drops.max() <= 0:
        assert witness is None
    else:
        assert f[witness[0]] - f[witness[1]] == drops.max()


@given(f=functions(6))
def test_containing_sums(f):
    n = lattice.n_sources_of(f)
    masks = np.arange(1 << n)
    expected = [
        [f[(masks >> i & 1 == 1) & (masks >> j & 1 == 1)].sum() for j in range(n)] for i in range(n)
    ]
    np.testing.assert_allclose(lattice.containing_sums_of_pairs(f), expected, atol=1e-6)
    np.testing.assert_allclose(lattice.containing_sums(f), np.diag(expected), atol=1e-6)


def test_masks_by_size_are_lexicographic():
    pairs = [lattice.members(m) for m in lattice.masks_by_size(5, 2)]
    assert pairs == sorted(pairs)
    assert len(pairs) == 10


def test_too_many_sources_say_what_they_need():
    with pytest.raises(TooLargeError, match=r"2\*\*30 values \(8 GiB\).*SupportedMeasure"):
        lattice.check_dense(30)
    with pytest.raises(TooLargeError, match=r"2\*\*103 bytes"):
        lattice.check_dense(100)
    with pytest.raises(SourceError, match="at least one source"):
        lattice.check_dense(0)


@pytest.mark.parametrize("bad", [[], [1.0], [0, 1, 2], np.zeros((2, 2))])
def test_lengths_that_are_no_power_of_two(bad):
    with pytest.raises(MeasureError, match=r"2\*\*N values"):
        lattice.n_sources_of(np.asarray(bad))


@given(st.integers(1, 130), st.integers(1, 8), st.integers(0, 2**32 - 1))
def test_words_hold_what_was_packed(n_sources, n_sets, seed):
    inside = np.random.default_rng(seed).random((n_sets, n_sources)) < 0.5
    words = wide.pack(inside)
    assert words.shape == (n_sets, wide.n_words(n_sources))
    np.testing.assert_array_equal(wide.membership(words, n_sources), inside)
    rows, inverse = wide.unique_rows(words)
    np.testing.assert_array_equal(rows[inverse], words)
    np.testing.assert_array_equal(wide.find_rows(rows, words), inverse)
    as_numbers = [sum(int(w) << 64 * k for k, w in enumerate(row)) for row in rows]
    assert as_numbers == sorted(set(as_numbers))


def test_chains_beyond_one_word():
    sort = np.random.default_rng(0).permutation(100)
    chain = wide.membership(wide.chains_of(sort[None])[0], 100)
    for j in range(100):
        assert set(np.flatnonzero(chain[j])) == set(sort[: j + 1])
    assert (
        wide.find_rows(np.zeros((0, 2), dtype=np.uint64), wide.pack(chain)).tolist() == [-1] * 100
    )


@pytest.mark.parametrize("name", sorted(lattice.SWEEPS))
def test_a_sweep_over_many_subsets_goes_source_by_source(name):
    """Large arrays are swept by strided views; here by rows, as they are thought of."""
    combine, upward, _ = lattice.SWEEPS[name]
    f = np.random.default_rng(0).random(1 << 12)
    wanted = f.copy()
    for i in range(12):
        without, within = np.moveaxis(wanted.reshape(-1, 2, 1 << i), 1, 0)
        receiver, giver = (within, without) if upward else (without, within)
        receiver[:] = combine(receiver, giver)
    np.testing.assert_array_equal(getattr(lattice, name)(f), wanted)
