from __future__ import annotations

import json
import os
import zipfile

import numpy as np
import pytest
from hypothesis import given

from choquet import (
    DataSupport,
    Measure,
    OrderStatistic,
    SupportedMeasure,
    load,
    save,
)
from choquet.errors import DamagedFileError, FileError, NewerFileError
from choquet.files import write_whole
from choquet.storage.kinds import KINDS
from tests.clustered import clustered
from tests.strategies import measures

WIDE = np.random.default_rng(0).random((30, 100))
EXAMPLES = {
    "measure": [
        Measure.random(3, sources=["a", 'quo"te', "naïve <b>"], rng=0),
        Measure([0, 3.0, -1.0, 0.1 + 0.2], monotone=False, normal=False),
        Measure.random(10, rng=0),
        Measure.random(14, rng=0),
    ],
    "supported_measure": [
        SupportedMeasure.from_dict({("s0", "s99"): 1 / 3}, [f"s{i}" for i in range(100)]),
        SupportedMeasure.from_dict({}, ["a", "b"], total=2.5),
    ],
    "data_support": [DataSupport.from_data(WIDE[:, :4]), DataSupport.from_data(WIDE)],
    "order_statistic": [OrderStatistic([1 / 3, 2 / 3])],
    "diagram": [
        clustered(Measure.symmetric([0.5, 0.3, 0.2])).index(),
        clustered(Measure.random(7, rng=0), method="distinct").index(),
    ],
}


def same(a, b) -> bool:
    if isinstance(a, DataSupport):
        return all(
            np.array_equal(getattr(a, f), getattr(b, f)) for f in DataSupport.__dataclass_fields__
        )
    return a == b


def test_every_kind_has_an_example():
    assert set(EXAMPLES) <= set(KINDS)


@pytest.mark.parametrize("obj", [o for kind in EXAMPLES.values() for o in kind], ids=repr)
def test_what_is_saved_is_loaded(obj, tmp_path):
    path = save(obj, tmp_path / "thing.json")
    back = load(path)
    assert type(back) is type(obj)
    assert same(back, obj)


@given(measures())
def test_every_digit_survives(g):
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        assert load(save(g, os.path.join(folder, "g.json"))) == g


def test_small_files_are_for_people_and_large_ones_are_archives(tmp_path):
    small = save(Measure([0, 0, 1, 1, 1, 1, 1, 1], ["gpr", "ir", "emi"]), tmp_path / "small.json")
    document = json.loads(small.read_text())
    assert (document["format"], document["version"], document["kind"]) == ("choquet", 1, "measure")
    assert {"subset": ["gpr", "emi"], "value": 1.0} in document["data"]["subsets"]
    large = save(Measure.random(14, rng=0), tmp_path / "large.json")
    assert zipfile.is_zipfile(large)
    assert large.stat().st_size < 14 * 2**14


def test_nothing_is_written_over(tmp_path):
    path = save(Measure([0, 1]), tmp_path / "g.json")
    before = path.read_bytes()
    with pytest.raises(FileError, match="exists; choose another name, or pass overwrite=True"):
        save(Measure([0, 1], ["other"]), path)
    assert path.read_bytes() == before
    save(Measure([0, 1], ["other"]), path, overwrite=True)
    assert load(path).sources == ("other",)


def test_nothing_half_made_stays_behind(tmp_path, monkeypatch):
    path = save(Measure([0, 1]), tmp_path / "g.json")

    def full_disk(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full_disk)
    with pytest.raises(FileError, match="No space left"):
        save(Measure([0, 1], ["other"]), path, overwrite=True)
    assert load(path).sources == ("x1",)
    assert [p.name for p in tmp_path.iterdir()] == ["g.json"]


def test_folders_and_missing_places(tmp_path):
    with pytest.raises(FileError, match="is a folder"):
        save(Measure([0, 1]), tmp_path)
    with pytest.raises(FileError, match="cannot write"):
        save(Measure([0, 1]), tmp_path / "no" / "such" / "folder.json")
    with pytest.raises(FileError, match="cannot read"):
        load(tmp_path / "absent.json")
    assert write_whole(tmp_path / "x", b"1").stat().st_mode & 0o600 == 0o600


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "damaged or no file of choquet"),
        (b"\x00\xff\xfe", "damaged or no file of choquet"),
        (b"PK\x03\x04 cut short", "damaged or no file of choquet"),
        (b"[1, 2]", "does not say so in 'format'"),
        (b'{"format": "other"}', "does not say so in 'format'"),
        (b'{"format": "choquet"}', "no valid version, but None"),
        (b'{"format": "choquet", "version": 1, "kind": "eval"}', "unknown kind of object, 'eval'"),
        (b'{"format": "choquet", "version": 1, "kind": "measure"}', "KeyError('data')"),
        (
            b'{"format": "choquet", "version": 1, "kind": "order_statistic", "data": '
            b'{"weights": {"dtype": "object", "shape": [1], "array": ["x"]}}}',
            "unknown type of array, 'object'",
        ),
        (
            b'{"format": "choquet", "version": 1, "kind": "measure", "data": {"sources": ["a"], '
            b'"monotone": true, "normal": true, "subsets": []}}',
            "does not hold a valid measure",
        ),
    ],
)
def test_foreign_and_damaged_files(content, message, tmp_path):
    path = tmp_path / "bad.json"
    path.write_bytes(content)
    with pytest.raises(DamagedFileError) as caught:
        load(path)
    assert message in str(caught.value)


def test_cut_short_anywhere(tmp_path):
    for obj in (Measure.random(3, rng=0), Measure.random(14, rng=0)):
        path = save(obj, tmp_path / "whole.json", overwrite=True)
        content = path.read_bytes()
        for share in (0.1, 0.5, 0.9, 0.999):
            part = tmp_path / "part.json"
            part.write_bytes(content[: min(int(len(content) * share), len(content) - 2)])
            with pytest.raises(DamagedFileError):
                load(part)


def test_newer_files_say_what_to_do(tmp_path):
    path = save(Measure([0, 1]), tmp_path / "g.json")
    path.write_text(path.read_text().replace('"version": 1', '"version": 99'))
    with pytest.raises(NewerFileError, match=r"version 99 .* pip install -U choquet"):
        load(path)


def test_pickles_are_not_loaded(tmp_path):
    path = tmp_path / "evil.json"
    with zipfile.ZipFile(path, "w") as archive:
        document = {
            "format": "choquet",
            "version": 1,
            "kind": "order_statistic",
            "data": {"weights": {"stored": "a"}},
        }
        archive.writestr("document.json", json.dumps(document))
        with archive.open("a.npy", "w") as member:
            np.lib.format.write_array(member, np.array([object()]), allow_pickle=True)
    with pytest.raises(DamagedFileError, match="damaged"):
        load(path)


def test_unknown_objects():
    with pytest.raises(TypeError, match="cannot save a dict; what can be saved is Measure"):
        save({}, "nowhere")
