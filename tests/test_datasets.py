from __future__ import annotations

import io
import sys
import tarfile
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from math import isclose

import numpy as np
import pytest

from choquet import Measure, OperatorGraph, choquet_integral, datasets
from choquet.datasets import aid
from choquet.datasets.download import cache_folder, download, show_progress
from choquet.errors import (
    DamagedFileError,
    DataError,
    FileError,
    MissingDependencyError,
    OptionError,
)

# -- carried in the package ------------------------------------------------------------------------

LOADERS = {
    "yacht": (datasets.load_yacht, (308, 6), "residuary_resistance", "10.24432/C5XG7R"),
    "airfoil": (datasets.load_airfoil, (1503, 5), "sound_pressure", "10.24432/C5VW2C"),
    "cpu": (datasets.load_cpu, (209, 6), "PRP", "10.24432/C5830D"),
    "auto_mpg": (datasets.load_auto_mpg, (392, 7), "mpg", "10.24432/C5859H"),
    "car": (datasets.load_car, (1728, 6), "acceptability", "10.24432/C5JP48"),
}


@pytest.mark.parametrize("name", LOADERS)
def test_loaders(name):
    load, shape, target_name, doi = LOADERS[name]
    bunch = load()
    assert bunch.data.shape == shape
    assert bunch.target.shape == shape[:1]
    assert bunch.data.dtype == bunch.target.dtype == np.float64
    assert np.isfinite(bunch.data).all()
    assert np.isfinite(bunch.target).all()
    assert len(set(bunch.feature_names)) == shape[1]
    assert bunch.target_name == target_name
    assert target_name not in bunch.feature_names
    assert doi in bunch.description
    assert "CC BY 4.0" in bunch.description
    frame = bunch.frame
    assert list(frame.columns) == [*bunch.feature_names, target_name]
    np.testing.assert_array_equal(frame.to_numpy(), np.column_stack([bunch.data, bunch.target]))


def test_no_loader_shares_its_arrays():
    datasets.load_yacht().data[:] = 0
    assert datasets.load_yacht().data.any()


def test_estimated_performance_is_no_feature():
    cpu = datasets.load_cpu()
    # The first machine: PRP 198, ERP 199.
    assert cpu.data[0].tolist() == [125, 256, 6000, 256, 16, 128]
    assert cpu.target[0] == 198


def test_car_is_monotone_and_its_classes_are_in_order():
    car = datasets.load_car()
    assert car.classes == ("unacc", "acc", "good", "vgood")
    assert np.bincount(car.target.astype(int)).tolist() == [1210, 384, 69, 65]
    # The table is a full grid; a step up lowers the class only in the persons of small cars.
    levels = [4, 4, 4, 3, 3, 3]
    grid = np.full(levels, -1)
    grid[tuple(car.data.astype(int).T)] = car.target
    assert (grid >= 0).all()
    drops = [int((np.diff(grid, axis=axis) < 0).sum()) for axis in range(6)]
    assert drops == [0, 0, 0, 18, 0, 0]


def test_frames_need_pandas(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(MissingDependencyError, match="pip install pandas"):
        _ = datasets.load_yacht().frame


# -- made by rule ----------------------------------------------------------------------------------


def test_demining_has_two_operators_and_its_target_is_the_integral():
    made = datasets.make_demining(50, rng=0)
    assert OperatorGraph(made.measure).n_operators == 2
    np.testing.assert_allclose(made.target, choquet_integral(made.measure, made.data))
    assert "gpr" in made.description


@pytest.mark.parametrize(
    ("reading", "walks"), [("figure", [16, 28, 32, 44]), ("caption", [12, 36, 36, 36])]
)
def test_noise_measure(reading, walks):
    graph = OperatorGraph(datasets.make_noise_measure(reading=reading))
    assert sorted(graph.walk_counts.tolist()) == walks


def test_fusion():
    clean = datasets.make_fusion(400, 5, rng=3)
    np.testing.assert_allclose(clean.target, choquet_integral(clean.measure, clean.data))
    noisy = datasets.make_fusion(4000, 5, measure=clean.measure, noise=0.1, rng=4)
    rest = noisy.target - choquet_integral(clean.measure, noisy.data)
    assert isclose(rest.std(), 0.1, rel_tol=0.1)
    again = datasets.make_fusion(400, 5, rng=3)
    np.testing.assert_array_equal(clean.data, again.data)
    with pytest.raises(OptionError, match="n_sources=4, but the measure has 5"):
        datasets.make_fusion(10, 4, measure=clean.measure)
    with pytest.raises(OptionError, match="n_samples=0"):
        datasets.make_fusion(0, 4)
    with pytest.raises(OptionError, match="noise=-1"):
        datasets.make_fusion(10, 4, noise=-1)
    with pytest.raises(OptionError, match="figure, caption"):
        datasets.make_noise_measure(reading="text")
    assert isinstance(clean.measure, Measure)


# -- AID -------------------------------------------------------------------------------------------

FOLDS, CLASSES, IMAGES, NETWORKS = 2, 3, 4, 2


def aid_files():
    """A small grid of files as the origin keeps them, with a neighbour that is not ours."""
    rng = np.random.default_rng(0)
    files = {"top/AID_4net_dataset/Fold_1/NNFold_1/test/01.txt": b"0,0\n"}
    for fold in range(1, FOLDS + 1):
        for split in ("training", "test"):
            labels = rng.integers(CLASSES, size=IMAGES)
            for number in range(1, CLASSES + 1):
                scores = rng.random((IMAGES, NETWORKS)).round(4)
                lines = [
                    ",".join([*map(repr, map(float, row)), str(label)])
                    for row, label in zip(scores, labels, strict=True)
                ]
                name = f"top/AID_dataset/NNFold_{fold}/Fold_1/{split}/{number:02d}.txt"
                files[name] = "\n".join(lines).encode() + b"\n"
    return files


def archive_of(files, mode="w:gz"):
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode=mode) as archive:
        for name, text in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(text)
            archive.addfile(member, io.BytesIO(text))
    return content.getvalue()


def write_folder(files, folder):
    for name, text in files.items():
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(text)
    return folder / "top"


@pytest.mark.parametrize("mode", ["w:gz", "w:xz", "w"])
def test_folder_and_archive_give_the_same(tmp_path, mode):
    folder = write_folder(aid_files(), tmp_path)
    (tmp_path / "aid.tar").write_bytes(archive_of(aid_files(), mode))
    first = datasets.fetch_aid(folder, verify=False)
    second = datasets.fetch_aid(tmp_path / "aid.tar", verify=False)
    third = datasets.fetch_aid(folder / "AID_dataset", verify=False)
    for other in (second, third):
        np.testing.assert_array_equal(first.scores, other.scores)
        np.testing.assert_array_equal(first.labels, other.labels)
    assert first.scores.shape == (FOLDS, 2, CLASSES, IMAGES, NETWORKS)
    assert first.networks == ("network1", "network2")
    assert "2 network folds" in repr(first)


def test_parts_of_aid(tmp_path):
    scores = datasets.fetch_aid(write_folder(aid_files(), tmp_path), verify=False)
    part = scores.bunch(1, "test", 2)
    np.testing.assert_array_equal(part.data, scores.scores[1, 1, 2])
    np.testing.assert_array_equal(part.target, scores.labels[1, 1] == 2)
    assert part.target_name == "BaseballField"
    exchanged = scores.bunch(1, "training", 2, fusion_fold=2)
    np.testing.assert_array_equal(part.data, exchanged.data)
    with pytest.raises(DataError, match=r"network_fold=2 must lie in 0\.\.1"):
        scores.bunch(2)
    with pytest.raises(DataError, match=r"label=3 must lie in 0\.\.2"):
        scores.bunch(label=3)
    with pytest.raises(DataError, match="fusion_fold=3"):
        scores.bunch(fusion_fold=3)
    with pytest.raises(OptionError, match="training, test"):
        scores.bunch(split="train")


def test_damaged_aid(tmp_path):
    files = aid_files()
    folder = write_folder(files, tmp_path)
    with pytest.raises(DamagedFileError, match="pass verify=False"):
        datasets.fetch_aid(folder)
    gone = folder / "AID_dataset/NNFold_2/Fold_1/test/03.txt"
    text = gone.read_bytes()
    gone.unlink()
    with pytest.raises(DamagedFileError, match=r"NNFold_2/Fold_1/test/03.txt .* is missing"):
        datasets.fetch_aid(folder, verify=False)
    gone.write_bytes(text + b"0.1,0.2,1\n")
    with pytest.raises(DamagedFileError, match=r"of shape \(5, 3\), not \(4, 3\)"):
        datasets.fetch_aid(folder, verify=False)
    gone.write_bytes(text.replace(b",", b",x", 1))
    with pytest.raises(DamagedFileError, match="no table of numbers"):
        datasets.fetch_aid(folder, verify=False)
    gone.write_bytes(b"0.1,0.2,9\n" * IMAGES)
    with pytest.raises(DamagedFileError, match="differ in their true classes"):
        datasets.fetch_aid(folder, verify=False)
    with pytest.raises(DamagedFileError, match="holds no AID_dataset"):
        datasets.fetch_aid(tmp_path / "top" / "AID_4net_dataset", verify=False)
    (tmp_path / "cut.tar.gz").write_bytes(archive_of(files)[:200])
    with pytest.raises(DamagedFileError, match="no tar archive"):
        datasets.fetch_aid(tmp_path / "cut.tar.gz", verify=False)
    (tmp_path / "text").write_bytes(b"hello")
    with pytest.raises(DamagedFileError, match="no tar archive"):
        datasets.fetch_aid(tmp_path / "text", verify=False)
    with pytest.raises(FileError, match="is not there"):
        datasets.fetch_aid(tmp_path / "nowhere")


def test_members_outside_are_never_written(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    files = aid_files()
    name = "../AID_dataset/NNFold_1/Fold_1/training/01.txt"
    hostile = {name: files.pop("top/AID_dataset/NNFold_1/Fold_1/training/01.txt"), **files}
    inside = tmp_path / "inside"
    inside.mkdir()
    (inside / "a.tar.gz").write_bytes(archive_of(hostile))
    datasets.fetch_aid(inside / "a.tar.gz", verify=False)
    assert [p.name for p in tmp_path.iterdir()] == ["inside"]
    (inside / "big.tar").write_bytes(archive_of({name: b"0" * 10_000_001}, "w"))
    with pytest.raises(DamagedFileError, match="10,000,001 bytes: no file of AID"):
        datasets.fetch_aid(inside / "big.tar", verify=False)


def test_the_real_scores(shared_data):
    scores = datasets.fetch_aid(shared_data / "aid" / "aid_7nets_fold1.tar.xz")
    assert scores.scores.shape == (5, 2, 30, 1000, 7)
    assert scores.networks[-1] == "Xception"
    assert scores.classes[1] == "BareLand"
    # Each image's scores over the classes are a distribution, to the four decimals of the files.
    np.testing.assert_allclose(scores.scores.sum(axis=2), 1, atol=2e-3)
    best = scores.scores.argmax(axis=2)
    assert (best == scores.labels[..., None]).mean() > 0.9


# -- downloads -------------------------------------------------------------------------------------


class Origin(BaseHTTPRequestHandler):
    """Answers by path: the archive, a cut one, an error, or nothing for too long."""

    archive = archive_of(aid_files())
    asked: list[str]

    def do_GET(self):
        self.server.asked.append(self.path)
        if self.path == "/missing":
            self.send_error(404)
            return
        if self.path == "/slow":
            time.sleep(1.0)
            return
        self.send_response(200)
        if self.path != "/nolength":
            self.send_header("Content-Length", str(len(self.archive)))
        self.end_headers()
        body = self.archive[: len(self.archive) // 2] if self.path == "/cut" else self.archive
        self.wfile.write(body)

    def log_message(self, *args):
        pass


@pytest.fixture
def origin():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Origin)
    server.asked = []
    server.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("CHOQUET_CACHE", str(tmp_path / "cache"))
    for name in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path / "cache"


def test_download_once_then_read_the_cache(origin, cache, monkeypatch):
    told = []
    first = datasets.fetch_aid(
        url=f"{origin.url}/aid", verify=False, progress=lambda done, total: told.append(done)
    )
    assert told[-1] == len(Origin.archive)
    assert [p.name for p in cache.iterdir()] == ["aid_7_networks.npz"]
    second = datasets.fetch_aid(url=f"{origin.url}/aid", verify=False)
    np.testing.assert_array_equal(first.scores, second.scores)
    assert origin.asked == ["/aid"]
    # With the right checksum it is taken, a damaged cache is fetched again.
    monkeypatch.setattr(aid, "AID_DIGEST", aid._digest(first))
    (cache / "aid_7_networks.npz").write_bytes(b"PK damaged")
    third = datasets.fetch_aid(url=f"{origin.url}/aid")
    np.testing.assert_array_equal(first.labels, third.labels)
    assert origin.asked == ["/aid", "/aid"]


def test_wrong_content_is_not_cached(origin, cache):
    with pytest.raises(DamagedFileError, match="pass verify=False"):
        datasets.fetch_aid(url=f"{origin.url}/aid")
    assert list(cache.iterdir()) == []


@pytest.mark.parametrize(
    ("path", "kind", "message"),
    [
        ("/missing", FileError, r"answers 404 .* pass its name as path="),
        ("/cut", FileError, r"broke off after .* pass its name as path=|cannot fetch"),
        ("/slow", FileError, r"cannot fetch .*timed out.* pass its name as path="),
    ],
)
def test_failing_origin(origin, cache, path, kind, message):
    with pytest.raises(kind, match=message):
        datasets.fetch_aid(url=origin.url + path, verify=False, timeout=0.3)
    assert list(cache.iterdir()) == []


def test_offline(origin, cache):
    origin.shutdown()
    origin.server_close()
    with pytest.raises(FileError, match=r"cannot fetch http://127.* pass its name as path="):
        datasets.fetch_aid(url=f"{origin.url}/aid")


def test_download_checks(origin, cache, monkeypatch):
    import hashlib

    right = hashlib.sha256(Origin.archive).hexdigest()
    stream = io.BytesIO()
    assert download(f"{origin.url}/nolength", stream, sha256=right) == len(Origin.archive)
    assert stream.getvalue() == Origin.archive
    with pytest.raises(DamagedFileError, match="SHA-256 checksum"):
        download(f"{origin.url}/aid", io.BytesIO(), sha256="0" * 64)
    with pytest.raises(OptionError, match="timeout=0"):
        download(f"{origin.url}/aid", io.BytesIO(), timeout=0)
    with pytest.raises(OptionError, match="no http or https address"):
        download("file:///etc/hosts", io.BytesIO())
    monkeypatch.setattr("choquet.datasets.download._MAX_BYTES", 10)
    with pytest.raises(FileError, match="more than 10 bytes"):
        download(f"{origin.url}/aid", io.BytesIO())


def test_cache_folder_that_cannot_be_made(tmp_path, monkeypatch, origin):
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("CHOQUET_CACHE", str(tmp_path / "file" / "cache"))
    with pytest.raises(FileError, match="set the variable CHOQUET_CACHE"):
        datasets.fetch_aid(url=f"{origin.url}/aid")


@pytest.mark.parametrize(
    ("platform", "variable", "expected"),
    [
        ("linux", "XDG_CACHE_HOME", "choquet"),
        ("win32", "LOCALAPPDATA", "choquet"),
    ],
)
def test_cache_folder_by_platform(monkeypatch, tmp_path, platform, variable, expected):
    monkeypatch.delenv("CHOQUET_CACHE", raising=False)
    monkeypatch.setattr(sys, "platform", platform)
    monkeypatch.setenv(variable, str(tmp_path))
    assert cache_folder() == tmp_path / expected
    monkeypatch.setattr(sys, "platform", "darwin")
    assert cache_folder().parts[-3:] == ("Library", "Caches", "choquet")


def test_progress_bar(monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    show_progress(500_000, 1_000_000)
    show_progress(1_000_000, 1_000_000)
    show_progress(1_000_000, None)
    assert "###############               ]     0.5 of 1.0 MB" in terminal.getvalue()
