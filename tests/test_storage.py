from __future__ import annotations

import io
import json
import os
import time
import tracemalloc
import warnings
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given

from choquet import (
    DataSupport,
    Measure,
    OrderStatistic,
    SupportedMeasure,
    documents,
    load,
    save,
)
from choquet.errors import DamagedFileError, DataError, FileError, NewerFileError
from choquet.expected import FLAG, NAMES, Array, Number, Text, expect_fields
from choquet.files import write_whole
from choquet.scales import Scale
from choquet.storage import from_bytes, to_bytes
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
    assert (document["format"], document["version"], document["kind"]) == ("choquet", 2, "measure")
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
        (b"[1, 2]", "its text is no JSON object"),
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
    path.write_text(path.read_text().replace('"version": 2', '"version": 99'))
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
    with pytest.raises(DamagedFileError, match="unknown type of array, object"):
        load(path)


def test_a_changed_digit_is_found_and_can_be_meant(tmp_path):
    path = save(Measure([0, 0.25, 0.5, 1], ["a", "b"]), tmp_path / "g.json")
    path.write_text(path.read_text().replace("0.25", "0.26"))
    with pytest.raises(
        DamagedFileError, match=r"checksum: it was damaged, or edited.*verify=False"
    ):
        load(path)
    assert load(path, verify=False)("a") == 0.26
    # Layout is free: editors and version control may change it.
    path = save(Measure([0, 0.25, 0.5, 1]), tmp_path / "h.json")
    path.write_text(json.dumps(json.loads(path.read_text()), indent=4).replace("\n", "\r\n"))
    assert load(path)("x1") == 0.25


def test_the_checksum_cannot_be_left_out_nor_the_version_set_back():
    content = to_bytes(Measure([0, 0.25, 0.5, 1]))
    document = json.loads(content)
    del document["checksum"]
    with pytest.raises(DamagedFileError, match="checksum"):
        from_bytes(json.dumps(document).encode())
    altered = content.replace(b'"version": 2', b'"version": 1').replace(b"0.25", b"0.26")
    with pytest.raises(DamagedFileError, match="checksum"):
        from_bytes(altered)


def test_a_changed_number_in_an_archive_is_found(tmp_path):
    path = save(Measure.random(13, rng=0), tmp_path / "g.json")
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    array = np.load(io.BytesIO(members["array0.npy"]))
    array[100] = np.nextafter(array[100], 0)
    stream = io.BytesIO()
    np.save(stream, array)
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in {**members, "array0.npy": stream.getvalue()}.items():
            archive.writestr(name, content)
    with pytest.raises(DamagedFileError, match="checksum"):
        load(path)


VERSION_1 = Path(__file__).parent / "data"


def test_files_of_the_version_before_are_read():
    assert load(VERSION_1 / "version1_measure.json") == Measure([0, 0.2, 0.3, 1], ["gpr", "ir"])
    assert load(VERSION_1 / "version1_archive.json").n_sources == 13
    assert load(VERSION_1 / "version1_statistics.json").n_samples == 4
    model = load(VERSION_1 / "version1_owa_regressor.json")
    assert model.predict([[0.9, 0.4, 0.1]]).round(6) == pytest.approx(0.567847)


def test_what_cannot_be_read_says_who_wrote_it():
    content = (VERSION_1 / "version1_measure.json").read_text()
    content = content.replace('"library": "0.1.0"', '"library": "0.0.7"').replace("0.3", "-0.3")
    with pytest.raises(DamagedFileError, match=r"written by choquet 0\.0\.7, does not hold"):
        from_bytes(content.encode())


def peak_of(content):
    """Memory that reading takes, in bytes; it must be refused."""
    tracemalloc.start()
    try:
        with pytest.raises(DamagedFileError):
            from_bytes(content)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def archive_of(document, **members):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("document.json", json.dumps(document))
        for name, content in members.items():
            archive.writestr(f"{name}.npy", content)
    return stream.getvalue()


def npy_header(shape, dtype="<f8"):
    stream = io.BytesIO()
    about = {"descr": dtype, "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(stream, about)
    return stream.getvalue()


ENVELOPE = {"format": "choquet", "version": 1, "kind": "order_statistic"}


@pytest.mark.parametrize(
    "content",
    [
        # 2**29 values are asked for by 29 names.
        json.dumps(
            {
                "format": "choquet",
                "version": 1,
                "kind": "measure",
                "data": {
                    "sources": [chr(97 + k) for k in range(26)] + ["A", "B", "C"],
                    "monotone": True,
                    "normal": True,
                    "subsets": [],
                },
            }
        ).encode(),
        # An array says that it is large, and is not there.
        archive_of({**ENVELOPE, "data": {"weights": {"stored": "a"}}}, a=npy_header((2**29,))),
        archive_of(
            {**ENVELOPE, "data": {"weights": {"stored": "a"}}}, a=npy_header((2**60, 2**60))
        ),
        archive_of({**ENVELOPE, "data": {"weights": {"stored": "a"}}}, a=npy_header((-1,))),
        # One that nobody asked for is large, and there.
        archive_of({**ENVELOPE, "data": {"weights": [1.0]}}, a=npy_header((2**24,)) + bytes(2**27)),
        # Coefficients of all subsets of many sources, in three numbers.
        json.dumps(
            {
                "format": "choquet",
                "version": 1,
                "kind": "minima_statistics",
                "data": {
                    "size": {"dtype": "int64", "shape": [3], "array": [10**6, 10**6, 1]},
                    "rows": {"dtype": "float64", "shape": [0, 0], "array": []},
                    "gram": {"dtype": "float64", "shape": [0, 0], "array": []},
                },
            }
        ).encode(),
        b"[" * 10_000_000,
        b'{"a":' * 1000 + b"1" + b"}" * 1000,
    ],
    ids=["names", "header", "overflow", "negative", "unused", "coefficients", "deep", "nested"],
)
def test_little_content_needs_little_memory(content):
    assert peak_of(content) < 48 << 20


def test_a_member_that_claims_more_than_it_holds_is_not_inflated():
    content = bytearray(to_bytes(Measure.random(13, rng=0)))
    at = content.rindex(b"array0.npy") - 46 + 24  # the uncompressed size in the directory
    content[at : at + 4] = (2**31 - 1).to_bytes(4, "little")
    assert peak_of(bytes(content)) < 4 << 20


def test_foreign_ways_of_packing_are_refused():
    data = {**ENVELOPE, "data": {"weights": {"stored": "a"}}}
    for method in (zipfile.ZIP_LZMA, zipfile.ZIP_BZIP2):
        stream = io.BytesIO()
        with zipfile.ZipFile(stream, "w", method) as archive:
            archive.writestr("document.json", json.dumps(data))
        with pytest.raises(DamagedFileError, match="packed in a way that is not ours"):
            from_bytes(stream.getvalue())
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        archive.writestr("document.json", json.dumps(data))
        archive.writestr("document.json", json.dumps(data))
    with pytest.raises(DamagedFileError, match="there twice"):
        from_bytes(stream.getvalue())


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ('"value": 0.25', '"value": NaN', "value 1 is nan, which is not finite"),
        ('"value": 0.25', '"value": 1e999', "value 1 is inf"),
        ('"value": 0.25', '"value": "1_0"', "value 1 is '1_0', no number"),
        ('"value": 0.25', '"value": ' + "9" * 400, "value 1 is 999"),
        ('"value": 0.25', '"value": ' + "9" * 5000, "4300 digits"),
        ('"value": 0.25', '"value": 0.25, "value": 0.5', "a key is there twice"),
        ('"monotone": true', '"monotone": 1', "monotone is 1, not true or false"),
        ('"kind": "measure"', '"kind": ["measure"]', "unknown kind of object"),
        ('"version": 2', '"version": true', "no valid version, but True"),
        ('"version": 2', '"version": 2.0', "no valid version, but 2.0"),
        ('"b"\n', "7\n", "sources are no list of names"),
    ],
)
def test_what_json_allows_and_measures_do_not(old, new, reason):
    content = to_bytes(Measure([0, 0.25, 0.5, 1], ["a", "b"])).decode()
    assert old in content
    with pytest.raises(DamagedFileError) as caught:
        from_bytes(content.replace(old, new, 1).encode(), verify=False)
    assert reason in str(caught.value)


def test_half_a_surrogate_in_a_name_can_be_saved(tmp_path):
    g = Measure([0, 0.25, 0.5, 1], ["\ud800", "b"])
    assert load(save(g, tmp_path / "g.json")) == g


def test_bytes_do_not_depend_on_the_clock_nor_on_the_layout_of_arrays(monkeypatch):
    support = DataSupport.from_data(np.random.default_rng(0).random((2000, 6)))
    first = to_bytes(support)
    assert first.startswith(b"PK")
    sorts = np.asfortranarray(support.observed_sorts)
    monkeypatch.setattr(time, "time", lambda: 2e9)
    assert to_bytes(replace(support, observed_sorts=sorts)) == first


@pytest.mark.parametrize(
    ("name", "change", "reason"),
    [
        ("masks", lambda a: a[::-1], "not distinct subsets in order"),
        ("masks", lambda a: a * 2, "of more than 3 sources"),
        ("counts", lambda a: -a, "counts holds -"),
        ("counts", lambda a: a + 1000, "which is not from 1 to 40"),
        ("rows", lambda a: a[:-1], "columns has shape"),
        ("columns", lambda a: a + 1, "columns holds"),
        ("products", lambda a: a * np.nan, "products holds nan"),
        ("products", lambda a: -a, "a sum of squares is negative"),
        ("products", lambda a: a * (1 + 1e4 * (np.arange(len(a)) == 1))[:, None], "too large"),
        ("target_products", lambda a: a * 1e3, "product with the target is too large"),
        ("gap_sums", lambda a: a * 1e3, "sum of gaps is too large"),
        ("totals", lambda a: a * [[1], [1e3], [1]], "sum of targets is too large"),
        ("totals", lambda a: a.astype(int), "no array of numbers of its kind"),
        ("size", lambda a: a * 0, "0 sources"),
    ],
)
def test_statistics_are_checked_like_data(name, change, reason):
    from choquet.learning import Statistics

    X = np.random.default_rng(0).random((40, 3))
    arrays = Statistics.from_data(X, X.max(axis=1)).to_arrays()
    Statistics.from_arrays(arrays)
    with pytest.raises(DataError, match=reason):
        Statistics.from_arrays({**arrays, name: change(arrays[name])})
    head = {"format": "choquet", "version": 2, "kind": "statistics", "library": "0"}
    content = documents.document_bytes(head, {**arrays, name: change(arrays[name])})
    with pytest.raises(DamagedFileError, match=reason):
        from_bytes(content)


@pytest.mark.parametrize("seed", range(4))
def test_all_real_statistics_pass(seed):
    from choquet.learning import Statistics
    from choquet.learning.data.minima import MinimaStatistics

    rng = np.random.default_rng(seed)
    scale = 10.0 ** rng.integers(-100, 100)
    X = np.round(rng.standard_normal((60, 4)), 1) * scale + rng.choice([0, 1e3 * scale])
    y, w = rng.standard_normal(60) * scale, rng.random(60) * (rng.random(60) > 0.3)
    parts = [Statistics.from_data(X[k : k + 20], y[k : k + 20], w[k : k + 20]) for k in (0, 20, 40)]
    wide = Statistics.from_data(np.tile(X, 5), y, w)
    for one in (*parts, parts[0] + parts[1] + parts[2], wide, Statistics.from_data(X[:0], y[:0])):
        assert from_bytes(to_bytes(one)).n_samples == one.n_samples
    minima = [MinimaStatistics.from_data(X, y, w, order=k) for k in (1, 2, 3)]
    for one in (*minima, minima[1] + minima[1], MinimaStatistics.from_gaps(parts[0], 2)):
        assert from_bytes(to_bytes(one)).n_samples == one.n_samples


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"n_tied": 31}, "n_tied is 31"),
        ({"n_samples": 3}, "which is not from 1 to 3"),
        ({"tolerance": float("nan")}, "tolerance is nan"),
        ({"sort_counts": lambda a: a + 5}, "more sorts were seen than rows"),
        ({"observed_sorts": lambda a: a[::-1]}, "sorts are not in order"),
        ({"observed_sorts": lambda a: a * 0}, "a sort repeats a source"),
        ({"informations": lambda a: -a}, "informations holds -"),
    ],
)
def test_supports_are_checked_like_data(change, reason):
    support = DataSupport.from_data(np.random.default_rng(0).random((30, 3)))
    data = {
        name: change[name](value) if callable(change.get(name)) else change.get(name, value)
        for name, value in vars(support).items()
    }
    head = {"format": "choquet", "version": 2, "kind": "data_support", "library": "0"}
    with pytest.raises(DamagedFileError, match=reason):
        from_bytes(documents.document_bytes(head, data))


def test_unknown_objects():
    with pytest.raises(TypeError, match="cannot save a dict; what can be saved is Measure"):
        save({}, "nowhere")


TABLE = {
    "names": NAMES,
    "n": Number(low=1, high=9, whole=True),
    "weights": Array(("names", "n"), low=0),
    "counts": Array(("k",), "i", high="n"),
    "shares": Array(("k",)),
    "status": Text(("solved", "inaccurate")),
    "proved": FLAG,
    "gap": Number(lacking=True),
}
FIELDS = {
    "names": ["a", "b"],
    "n": 3,
    "weights": np.ones((2, 3)),
    "counts": np.array([1, 3]),
    "shares": np.array([0.5, 0.5]),
    "status": "solved",
    "proved": True,
    "gap": float("nan"),
}


def test_fields_of_a_table_are_given_back():
    found = expect_fields(FIELDS, TABLE)
    assert found["names"] == ("a", "b")
    assert list(found) == list(TABLE)
    some = {name: value for name, value in FIELDS.items() if name != "gap"}
    assert "gap" not in expect_fields(some, TABLE, absent=("gap",))
    assert "gap" not in expect_fields({**FIELDS, "gap": None}, TABLE, unknown=("gap",))
    with pytest.raises(KeyError):
        expect_fields(some, TABLE)


@pytest.mark.parametrize(
    ("name", "value", "reason"),
    [
        ("names", ["a", "a"], "names are not distinct"),
        ("names", "ab", "names are no list of names"),
        ("n", 3.0, "n is 3.0, no whole number"),
        ("n", True, "n is True, no whole number"),
        ("n", 10, "n is 10, which is not from 1 to 9"),
        ("weights", np.ones((3, 3)), r"weights has shape \(3, 3\), not \(2, 3\)"),
        ("weights", np.ones((2, 3), dtype=np.int64), "weights is int64, no array"),
        ("weights", np.full((2, 3), np.inf), "weights holds inf"),
        ("counts", np.array([1, 4]), "counts holds 4, which is not from -inf to 3"),
        ("shares", np.ones(3), r"shares has shape \(3,\), not \(2\)"),
        ("status", "lost", "status is 'lost', which is unknown"),
        ("proved", 1, "proved is 1, not true or false"),
        ("gap", None, "gap is None, no number"),
        ("gap", 10**400, "gap is 1000"),
    ],
)
def test_fields_that_are_not_what_the_table_says_are_refused(name, value, reason):
    with pytest.raises(ValueError, match=reason):
        expect_fields({**FIELDS, name: value}, TABLE)


@pytest.mark.parametrize(
    ("points", "values", "clip", "reason"),
    [
        (["1", "2"], [0.0, 1.0], False, "made of numbers"),
        ([True, False], [0.0, 1.0], False, "made of numbers"),
        ([1.0, 2.0], [0.0, 1.0], "no", "clip is 'no', not true or false"),
        ([1.0, 2.0], [0.0], False, "two points or more"),
    ],
)
def test_a_scale_checks_its_own_fields(points, values, clip, reason):
    with pytest.raises(DataError, match=reason):
        Scale(points, values, clip)
