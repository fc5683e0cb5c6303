"""Spoilt files of every kind: refused, or the same as before; nothing foreign, and no memory."""

from __future__ import annotations

import zlib

import numpy as np
import pytest

from choquet.storage import from_bytes, to_bytes
from choquet.storage.kinds import KINDS
from tests.fuzzing import FINE, contents, forged, outcome_of, samples, spoilt

READ_ONLY = {"lambda_fit", "scaled_model", "weights_fit"}
"""Kinds that only the version before wrote."""
WRITTEN = [kind for kind in KINDS if kind not in READ_ONLY]
N_SPOILT = 8
N_FORGED = 8
NAMES = [*WRITTEN, *(f"{kind}, packed" for kind in WRITTEN)]


def test_every_kind_has_a_sample():
    assert set(samples()) == set(WRITTEN)


@pytest.mark.parametrize("kind", WRITTEN)
def test_the_same_object_is_the_same_bytes_every_time(kind):
    content = contents()[kind]
    assert to_bytes(samples()[kind]) == content
    assert to_bytes(from_bytes(content)) == content


@pytest.mark.parametrize("name", NAMES)
def test_spoilt_files(name):
    if name not in contents():
        pytest.skip("it holds no arrays, so that it is never an archive")
    content, expected = contents()[name], contents()[name.removesuffix(", packed")]
    assert outcome_of(content, expected) == "same"
    rng = np.random.default_rng(zlib.crc32(name.encode()))
    for k in range(N_SPOILT):
        told = outcome_of(spoilt(content, rng), expected)
        assert told in FINE, (name, k)
    for k in range(N_FORGED):
        told = outcome_of(forged(content, rng), None)
        assert told in FINE, (name, k)


@pytest.mark.parametrize("name", WRITTEN)
def test_one_changed_digit_is_found(name):
    content = contents()[name]
    rng = np.random.default_rng(0)
    start = content.index(b'"data"')
    digits = [k for k in range(start, len(content)) if content[k : k + 1].isdigit()]
    for at in rng.choice(digits, 10) if digits else []:
        other = b"7" if content[at : at + 1] != b"7" else b"3"
        changed = content[:at] + other + content[at + 1 :]
        assert outcome_of(changed, content) == "refused"
