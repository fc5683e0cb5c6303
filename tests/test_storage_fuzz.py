"""Spoilt files of every kind: refused, or the same as before; nothing foreign, and no memory."""

from __future__ import annotations

import subprocess
import sys
import zlib

import numpy as np
import pytest

from choquet.documents import document_bytes, open_document
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


def test_a_file_that_lacks_a_part_is_refused():
    """Its checksum is right, and every part is fine alone."""

    def parts_of(kind):
        document = open_document(contents()[kind])
        head = {key: document.fields[key] for key in document.fields if key != "checksum"}
        head.pop("data")
        return head, document.data()

    for kind, change in {
        "choquet_classifier": lambda fitted: fitted.pop("classes_"),
        "contextual_classifier": lambda fitted: fitted.pop("classes_"),
        "commensurate": lambda fitted: fitted.update(n_features_in_=5),
        "in_units": lambda fitted: fitted.update(n_features_in_=5),
    }.items():
        head, data = parts_of(kind)
        change(data["fitted"])
        assert outcome_of(document_bytes(head, data), None) == "refused", kind
    head, data = parts_of("pipeline")
    data["steps"].reverse()
    assert outcome_of(document_bytes(head, data), None) == "refused"


def test_every_kind_is_read_by_a_process_that_has_only_just_begun(tmp_path):
    """Where no fit has loaded scikit-learn before; then the same bytes come out again."""
    for kind in WRITTEN:
        (tmp_path / kind).write_bytes(contents()[kind])
    script = (
        "import pathlib, sys, choquet\n"
        "from choquet.storage import to_bytes\n"
        "for name in sys.argv[1:]:\n"
        "    path = pathlib.Path(name)\n"
        "    assert to_bytes(choquet.load(path)) == path.read_bytes(), name\n"
    )
    ours = [kind for kind in WRITTEN if kind != "pipeline" and not kind.endswith("_scaler")]
    command = [sys.executable, "-c", script, *(str(tmp_path / kind) for kind in ours)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr
