"""The benchmark: contenders that give the same answers, curves, absent peers, the command."""

from __future__ import annotations

import importlib.util
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from benchmarks.peers import (
    CURVES,
    PEERS,
    WORKS,
    bench,
    fit_exponent,
    install_peers,
    measure,
    write_page,
)
from benchmarks.peers import run as runner
from benchmarks.peers.__main__ import main
from benchmarks.peers.growth import key_of, summarise
from benchmarks.peers.measure import Setting, measure_imports, measure_work
from benchmarks.peers.page import MARK, page_text
from benchmarks.peers.process import ContenderError, Process
from benchmarks.peers.table import Peer, peers_python, reasons
from benchmarks.peers.worker import Worker, _module
from benchmarks.peers.works import agreement
from choquet.errors import FileError, OptionError
from tests.processes import interruptible

ROOT = Path(__file__).resolve().parents[1]
HERE = {name: peer for name, peer in PEERS.items() if importlib.util.find_spec(peer.module)}
ONCE = Setting(rounds=1, limit=60.0)


def contender(peer: Peer):
    return _module(str(peer.path))


# -- works and contenders --------------------------------------------------------------------------


@pytest.mark.parametrize("name", PEERS)
def test_table_names_what_the_module_does(name):
    assert set(contender(PEERS[name]).__all__) == set(PEERS[name].works) <= set(WORKS)


@pytest.mark.parametrize(
    ("name", "who"),
    [(work, who) for who, peer in HERE.items() if who != "choquet" for work in peer.works],
)
def test_contenders_agree(name, who):
    work = WORKS[name]
    inputs = work.inputs(*work.quick[0])
    answers = []
    for peer in (PEERS["choquet"], PEERS[who]):
        run, answer = getattr(contender(peer), name)({k: v.copy() for k, v in inputs.items()})
        answers.append(np.asarray(answer(run()), dtype=np.float64))
    difference = agreement(work, *answers)
    if (name, who) == ("random", "NumPy or plain Python"):
        assert difference > work.tolerance  # a running maximum is no uniform measure
    else:
        assert difference <= work.tolerance


def test_agreement_is_not_had_cheaply():
    work = WORKS["shapley"]
    assert agreement(work, np.zeros(3), np.zeros(4)) == np.inf
    assert agreement(work, np.zeros(3), np.array([0, np.nan, 0])) == np.inf
    falling = np.array([[0.0, 0.6, 0.5, 0.4]])
    assert agreement(WORKS["random"], np.maximum.accumulate(falling, axis=1), falling) > 0.19


def test_a_contender_that_is_wrong_gets_no_ratio(tmp_path, monkeypatch):
    file = tmp_path / "wrong.py"
    file.write_text(
        "import numpy as np\ndef shapley(inputs):\n    return (lambda: np.zeros(6)), np.asarray\n"
    )
    wrong = Peer("json", "json", "wrong", ("shapley",), ours=True)
    monkeypatch.setattr(Peer, "path", property(lambda peer: _path(peer, file)))
    ours = PEERS["choquet"]
    monkeypatch.setattr(measure, "PEERS", {"choquet": ours, "wrong": wrong})
    fine = {"status": "ok", "version": ""}
    found = measure_work("shapley", (6,), {"choquet": fine, "wrong": fine}, ONCE)
    first, second = found["rows"]
    assert (first["status"], first["ratio"]) == ("ok", 1.0)
    assert second["status"] == "differs"
    assert second["difference"] > 0.1
    assert "ratio" not in second


def _path(peer, file):
    return (
        file
        if peer.file == "wrong"
        else ROOT / "benchmarks" / "peers" / "contenders" / f"{peer.file}.py"
    )


def test_contenders_of_peers_need_nothing_of_this_repository(tmp_path):
    folder = ROOT / "benchmarks" / "peers"
    files = sorted(str(file) for file in (folder / "contenders").glob("with_*.py"))
    code = (
        f"import sys; sys.path.append({str(folder)!r}); import worker\n"
        f"print([worker._module(file).__name__ for file in {files!r}], 'choquet' in sys.modules)\n"
        "import held_out\n"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert done.stdout.split("]")[1].strip() == "False"


# -- processes -------------------------------------------------------------------------------------


def test_a_process_that_takes_too_long_is_ended(tmp_path):
    (tmp_path / "slow.py").write_text(
        "import time\ndef wait(size):\n    return (lambda: time.sleep(size['seconds'])), None\n"
    )
    order = {"file": str(tmp_path / "slow.py"), "function": "wait"}
    with Process(sys.executable) as process:
        process.ask(60, do="load", small={"seconds": 0}, full={"seconds": 60}, **order)
        with pytest.raises(ContenderError, match=r"more than 0\.2 s") as caught:
            process.ask(0.2, do="run")
        assert caught.value.status == "limit"
        assert process._process.returncode is not None


def test_a_process_that_dies_or_cannot_start_is_a_reason(tmp_path):
    (tmp_path / "dies.py").write_text("import os\nos._exit(3)\n")
    with Process(sys.executable) as process, pytest.raises(ContenderError, match="code 3"):
        process.ask(60, do="load", file=str(tmp_path / "dies.py"), function="f", small=1, full=1)
    with Process(sys.executable) as process, pytest.raises(ContenderError, match="No module"):
        process.ask(60, do="import", module="no_such_module_here")
    with pytest.raises(ContenderError, match="cannot start"):
        Process(str(tmp_path / "no-python"))


def test_memory_is_that_of_the_run(tmp_path):
    (tmp_path / "eats.py").write_text(
        "import numpy as np\n"
        "def eat(size):\n"
        "    def run():\n"
        "        return float(np.ones(size['bytes'] // 8).sum())\n"
        "    return run, None\n"
    )
    found = []
    for size in (2**26, 2**23):
        with Process(sys.executable) as process:
            file = str(tmp_path / "eats.py")
            process.ask(
                60, do="load", file=file, function="eat", small={"bytes": 8}, full={"bytes": size}
            )
            found.append(process.ask(60, do="run"))
    assert [reply["details"] for reply in found] == [2**23, 2**20]
    if sys.platform == "linux":
        assert 0.95 * 2**26 < found[0]["memory"] < 2**26 + 2**24
        assert 0.9 * 2**23 < found[1]["memory"] < 2**23 + 2**24


def test_quick_calls_are_repeated_within_a_round(tmp_path):
    (tmp_path / "counts.py").write_text(
        "calls = []\ndef count(size):\n    return (lambda: calls.append(1) or len(calls)), None\n"
    )
    worker = Worker()
    worker.obey(
        {"do": "load", "file": str(tmp_path / "counts.py"), "function": "count", "small": 0,
         "full": 0}
    )  # fmt: skip
    assert worker.obey({"do": "run"})["details"] == 2
    worker.obey({"do": "run"})
    assert worker.run() > 100
    assert "error" in worker.obey({"do": "nothing"})


# -- growth ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("power", [0.5, 1.0, 2.3])
def test_exponent_of_a_power_law(power):
    sizes = np.array([10.0, 100, 1000, 10_000, 100_000])
    exact = fit_exponent(sizes, 3e-4 * sizes**power)
    assert exact.power == pytest.approx(power)
    assert exact.error < 1e-9
    noisy = 3e-4 * sizes**power * np.exp(0.1 * np.random.default_rng(0).standard_normal(5))
    found = fit_exponent(sizes, noisy)
    from scipy.stats import linregress

    oracle = linregress(np.log(sizes), np.log(noisy))
    assert found.power == pytest.approx(oracle.slope)
    assert found.error == pytest.approx(oracle.stderr)


def test_exponent_leaves_fixed_costs_out():
    sizes = 10.0 ** np.arange(1, 7)
    values = np.maximum(1e-4, 1e-6 * sizes)
    assert fit_exponent(sizes, values).power < 0.9
    assert fit_exponent(sizes, values, floor=9e-4).power == pytest.approx(1.0)
    assert fit_exponent(sizes, values, floor=0.5) is None
    assert fit_exponent([10, 10, 10], [1.0, 2.0, 3.0]) is None


def test_curves_share_points_and_reach_what_was_asked():
    grid = {
        key_of(curve.function, size)
        for curve in CURVES.values()
        for size in curve.sizes(quick=False)
        if curve.function == "learning"
    }
    assert len(grid) == 9 * 5
    assert key_of("learning", {"n_sources": 20, "n_samples": 1_000_000}) in grid
    for curve in CURVES.values():
        assert list(curve.values) == sorted(curve.values)


def test_summary_fits_in_subsets_and_names_what_was_left_out():
    points = {}
    for n in (4, 6, 8, 10, 12):
        size = {"n_sources": n}
        points[key_of("shapley", size)] = {
            "status": "ok", "seconds": 1e-3 * 4.0**n, "memory": 2**20 * 2**n,
        }  # fmt: skip
    points[key_of("shapley", {"n_sources": 14})] = {"status": "limit", "reason": "takes more"}
    found = summarise(points, quick=False)["shapley in N"]
    assert found["time_power"]["power"] == pytest.approx(2.0)
    assert found["memory_power"]["power"] == pytest.approx(1.0)
    assert found["values"] == [4, 6, 8, 10, 12]
    assert found["skipped"] == {"14": "takes more"}


def test_larger_points_are_skipped_after_the_limit(monkeypatch):
    asked = []

    def slow(function, size, small, setting):
        asked.append(size["n_walks"])
        if size["n_walks"] < 100:
            return {"status": "ok", "seconds": 1.0, "memory": 1, "size": size}
        return {"status": "limit", "reason": "takes more than 10 s", "size": size}

    monkeypatch.setattr(runner, "measure_point", slow)
    monkeypatch.setattr(runner, "CURVES", {"ivat in walks": CURVES["ivat in walks"]})
    found = bench("growth", quick=True, rounds=1)
    assert asked == [24, 120]
    point = found["points"][key_of("ivat", {"n_walks": 720})]
    assert point["reason"] == "skipped: at 120 it takes more than 10 s"


def test_one_slow_data_set_is_no_proof_that_larger_ones_are(monkeypatch):
    asked = []

    def slow(function, size, small, setting):
        asked.append(size["n_samples"])
        if size["n_samples"] == 1000:
            return {"status": "ok", "seconds": 1.0, "memory": 1, "size": size}
        return {"status": "limit", "reason": "takes more than 30 s", "size": size}

    name = "learning in M at N = 12"
    monkeypatch.setattr(runner, "measure_point", slow)
    monkeypatch.setattr(runner, "CURVES", {name: CURVES[name]})
    found = bench("growth")
    assert asked == [100, 1000, 10_000]
    point = found["points"][key_of("learning", {"n_samples": 1_000_000, "n_sources": 12})]
    assert point["reason"] == "skipped: at 10,000 it takes more than 30 s"


def test_every_growing_task_runs_in_small():
    file = PEERS["choquet"].path.with_name("growth.py")
    module = _module(str(file))
    assert {curve.function for curve in CURVES.values()} == set(module.__all__)
    for name in module.__all__:
        run, answer = getattr(module, name)(CURVES["shapley in N"].small)
        details = run()
        assert answer is None
        if name == "learning":
            assert (details["status"], details["unknowns"]) == ("solved", 16)
        else:
            assert details is None


# -- peers -----------------------------------------------------------------------------------------


def test_an_absent_peer_has_its_row(monkeypatch):
    absent = Peer("no_such_module_here", "no-such", "with_shapiq", ("shapley",), ours=True)
    table = {"choquet": PEERS["choquet"], "absent": absent}
    monkeypatch.setattr(measure, "PEERS", table)
    monkeypatch.setattr(runner, "PEERS", table)
    found = bench("shapley", quick=True, rounds=1)
    assert found["peers"]["absent"]["reason"] == "not installed in the peers' environment"
    row = found["works"]["shapley 6"]["rows"][1]
    assert (row["contender"], row["status"]) == ("absent", "absent")
    assert "not installed" in page_text(found, "images/", {})


def test_why_a_peer_could_not_be_installed_is_kept(tmp_path, monkeypatch):
    hopeless = Peer("no_such_module_here", "./no-such-folder-here", "with_shapiq", ("shapley",))
    monkeypatch.setitem(install_peers.__globals__, "PEERS", {"hopeless": hopeless})
    folder = tmp_path / "peers"
    python = peers_python(folder)
    python.parent.mkdir(parents=True)
    python.symlink_to(sys.executable)
    python = install_peers(folder)
    why = reasons(str(python))["hopeless"]
    assert why.startswith("pip install ./no-such-folder-here: ")
    assert str(tmp_path) not in why
    monkeypatch.setattr(measure, "PEERS", {"hopeless": hopeless})
    found = measure_imports(Setting(str(python), rounds=1), ["hopeless"])
    assert found["hopeless"] == {"status": "absent", "reason": why, "version": ""}


def test_no_interpreter_is_an_error(tmp_path):
    with pytest.raises(FileError, match="is no interpreter"):
        bench("shapley", quick=True, peers=tmp_path / "python")


# -- the command -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "part"),
    [
        ({"which": "nonsense"}, "choose among all, works, growth, import, choquet"),
        ({"which": []}, "names nothing"),
        ({"limit": 0}, "limit=0 must be positive"),
        ({"rounds": 0}, "rounds=0 must be at least 1"),
    ],
)
def test_options_are_checked(words, part):
    with pytest.raises(OptionError, match=part):
        bench(**{"quick": True, **words})


def test_quick_run_through_the_command(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(runner, "CURVES", {"shapley in N": CURVES["shapley in N"]})
    words = ["shapley", "mobius", "growth", "--quick", "--rounds", "1", "-o", "out"]
    assert main([*words, "--page", "docs.md", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert {"shapley 6", "mobius 6"} == set(found["works"])
    contenders = [row["contender"] for row in found["works"]["mobius 6"]["rows"]]
    assert contenders == [name for name, peer in PEERS.items() if "mobius" in peer.works]
    assert found["works"]["mobius 6"]["rows"][1]["ratio"] > 0
    assert found["curves"]["shapley in N"]["values"] == [3, 5, 7]
    page = (tmp_path / "docs.md").read_text()
    assert page.startswith(MARK)
    assert "Möbius transform, 6 sources" in page
    for name in ("ratios", "sources"):
        assert f"images/docs/{name}.png" in page
        assert (tmp_path / "images" / "docs" / f"{name}.png").read_bytes().startswith(b"\x89PNG")
    assert json.loads((tmp_path / "docs.json").read_text())["kind"] == "choquet benchmark"
    assert str(tmp_path) not in page + (tmp_path / "docs.json").read_text()

    def refuse(*_):
        raise AssertionError("measured again")

    monkeypatch.setattr(runner, "measure_work", refuse)
    monkeypatch.setattr(runner, "measure_point", refuse)
    assert main(words) == 0  # read, not measured again
    out = capsys.readouterr().out
    assert "Shapley values, 6 sources" in out
    assert "power of time" in out
    with pytest.raises(AssertionError, match="measured again"):
        main([*words, "--fresh"])
    assert main(["nonsense"]) == 1
    assert "choose among all, works" in capsys.readouterr().err


def test_page_is_written_whole_or_not_at_all(tmp_path, monkeypatch):
    monkeypatch.setattr(runner, "CURVES", {})
    found = bench("growth", quick=True, rounds=1)
    page = write_page(found, tmp_path / "page.md")
    before = page.read_bytes()

    def broken(*_):
        raise RuntimeError("no page")

    monkeypatch.setitem(write_page.__globals__, "page_text", broken)
    with pytest.raises(RuntimeError):
        write_page(found, page)
    assert page.read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["page.json", "page.md"]
    page.write_text("# Mine")
    with pytest.raises(FileError, match="not of this command"):
        write_page(found, page)


@pytest.mark.parametrize(("loads", "busy"), [([0.5, 2.1, 2.4], False), ([9.0, 1.0, 12.0], True)])
def test_page_says_that_the_machine_was_busy(loads, busy):
    found = {
        "version": "1", "machine": {"cores": "2"}, "loads": [*loads, None],
        "options": {"quick": False, "limit": 10.0, "rounds": 5},
        "peers": {}, "works": {}, "points": {}, "curves": {},
    }  # fmt: skip
    text = page_text(found, "images/", {})
    assert ("The machine was busy" in text) == busy
    assert f"at most {max(loads):g}" in text


def test_files_of_others_stay(tmp_path):
    (tmp_path / "bench.json").write_text("{}")
    with pytest.raises(FileError, match="not of this command"):
        bench("shapley", quick=True, out=tmp_path)
    assert (tmp_path / "bench.json").read_text() == "{}"


def test_another_version_of_a_peer_is_measured_again(tmp_path, monkeypatch):
    versions = iter(["1", "1", "2"])
    fine = {"status": "ok", "seconds": 1.0, "memory": 1}
    monkeypatch.setattr(
        runner, "measure_imports", lambda *_: {"choquet": {**fine, "version": next(versions)}}
    )
    done = []
    monkeypatch.setattr(
        runner, "measure_work", lambda name, *_: done.append(name) or {"rows": [], "title": name}
    )
    for _ in range(3):
        bench("shapley", quick=True, out=tmp_path)
    assert done == ["shapley", "shapley"]


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_stopped_in_the_middle_what_is_done_stays(tmp_path):
    options = ["-o", "out", "--rounds", "1", "--quick"]
    words = interruptible("benchmarks.peers", "shapley", "mobius", *options)
    path = os.pathsep.join([str(ROOT), *sys.path])
    process = subprocess.Popen(
        words,
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": path},
    )
    file = tmp_path / "out" / "bench.json"
    until = time.monotonic() + 120
    done = {}
    while not done and time.monotonic() < until:
        time.sleep(0.02)
        done = json.loads(file.read_text())["works"] if file.exists() else {}
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert err == (
        "choquet: stopped; what is done is kept in out, and the same command goes on from there\n"
    )
    assert done
    assert json.loads(file.read_text())["works"].items() >= done.items()
