"""Threads, forks, interrupts and folders that cannot be written to."""

from __future__ import annotations

import math
import os
import shutil
import signal
import subprocess
import sys
import threading
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import choquet
from choquet import Measure, SupportedMeasure
from choquet.clustering import medoids
from choquet.clustering.boruvka import spanning_tree
from choquet.lattice import threads, vectors
from choquet.lattice.threads import LIMITS, in_chunks, n_threads
from choquet.learning.solvers.quadratic import projected
from choquet.walks import all_walk_weights, random_sorts

PACKAGE = Path(choquet.__file__).parent
NO_FORK = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")


def python(code, *, path=PACKAGE.parent, timeout=240, **variables):
    """Run a program in a process of its own, with a time limit."""
    environment = {**os.environ, "PYTHONPATH": str(path), **variables}
    return subprocess.run(
        [sys.executable, "-c", code],
        env={key: value for key, value in environment.items() if value is not None},
        capture_output=True,
        text=True,
        timeout=timeout,
    )


@pytest.fixture
def small_chunks(monkeypatch):
    """Let small inputs take the way of large ones; the number of threads is set by the caller."""
    monkeypatch.setattr(threads, "WORTH_THREADS", 1)
    monkeypatch.setattr(threads, "CHUNK", 5000)
    return lambda n: monkeypatch.setenv("CHOQUET_NUM_THREADS", str(n))


# -- chunks ----------------------------------------------------------------------------------------


@given(
    n=st.integers(0, 300),
    steps=st.sampled_from([0, 1, threads.CHUNK // 7, threads.CHUNK, 3 * threads.CHUNK]),
    n_threads=st.integers(1, 5),
)
def test_every_row_is_handed_out_once_and_results_come_in_order(n, steps, n_threads):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CHOQUET_NUM_THREADS", str(n_threads))
        parts = in_chunks(lambda low, high: (low, high), n, steps)
    assert parts[0][0] == 0
    assert parts[-1][1] == n
    assert all(one[1] == two[0] for one, two in pairwise(parts))


def test_threads_share_a_long_loop(small_chunks):
    small_chunks(3)
    together = threading.Barrier(3, timeout=60)
    assert len(set(in_chunks(lambda *_: together.wait(), 3, threads.CHUNK))) == 3


def test_there_is_one_pool_however_long_the_loops(small_chunks):
    small_chunks(4)
    threads._pool.cache_clear()
    for n in (2, 3, 4, 50):
        in_chunks(lambda low, high: threading.Event().wait(0.001), n, threads.CHUNK)
    assert threads._pool.cache_info().currsize == 1


def test_a_short_loop_stays_in_the_calling_thread(monkeypatch):
    monkeypatch.setenv("CHOQUET_NUM_THREADS", "4")
    steps = threads.CHUNK // 2  # several chunks, but little work
    names = in_chunks(lambda *_: threading.current_thread(), 8, steps)
    assert len(names) == 4
    assert set(names) == {threading.current_thread()}


@pytest.mark.parametrize("wrong", [0, 5, 39])
@pytest.mark.parametrize("count", [1, 4])
def test_an_error_in_a_chunk_reaches_the_caller_and_stops_the_others(small_chunks, count, wrong):
    small_chunks(count)
    begun = []

    def run(low, high):
        begun.append(low)
        if low == wrong:
            raise ZeroDivisionError(f"row {low}")
        if low > wrong:
            threading.Event().wait(0.01)
        return low

    with pytest.raises(ZeroDivisionError, match=f"row {wrong}"):
        in_chunks(run, 200, threads.CHUNK)
    assert len(begun) < 200
    n_begun = len(begun)
    threading.Event().wait(0.05)
    assert len(begun) == n_begun  # nothing works on behind the caller's back


def test_an_interrupt_in_the_caller_waits_for_what_helpers_have_begun(small_chunks):
    small_chunks(3)
    main, open_ = threading.current_thread(), []

    def run(low, high):
        if threading.current_thread() is main:
            while not open_:  # until a helper is at work
                threading.Event().wait(0.001)
            raise KeyboardInterrupt
        open_.append(low)
        threading.Event().wait(0.05)
        open_.remove(low)

    with pytest.raises(KeyboardInterrupt):
        in_chunks(run, 1000, threads.CHUNK)
    assert open_ == []


def test_loops_inside_of_loops_end(small_chunks):
    small_chunks(3)

    def inner(low, high):
        return high - low

    def outer(low, high):
        return sum(in_chunks(inner, 7, threads.CHUNK))

    assert in_chunks(outer, 20, threads.CHUNK) == [7] * 20


@pytest.mark.parametrize("variable", LIMITS)
def test_the_environment_limits_the_threads(monkeypatch, variable):
    for name in LIMITS:
        monkeypatch.delenv(name, raising=False)
    cores = n_threads()
    assert cores >= 1
    monkeypatch.setenv(variable, "3,2")
    assert n_threads() == 3
    for nonsense in ("", "0", "-2", "many"):
        monkeypatch.setenv(variable, nonsense)
        assert n_threads() == cores


def _answers():
    rng = np.random.default_rng(4)
    g, X = Measure.random(6, rng=1), rng.random((3001, 6))
    known = SupportedMeasure.from_measure(g, rng.random(64) < 0.4)
    points = rng.random((700, 3)).round(1) + rng.random((700, 3)).round(2)
    return {
        "choquet": choquet.choquet_integral(g, X),
        "sugeno": choquet.sugeno_integral(g, X),
        "shilkret": choquet.shilkret_integral(g, X),
        "all walks": all_walk_weights(g),
        "walks": choquet.walk_weights(g, random_sorts(6, 3001, rng=2)),
        "intervals": choquet.choquet_interval(known, X),
        "bounds": np.array(known.bounds(np.arange(64, dtype=np.uint64)[:, None])),
        "tree": np.column_stack(spanning_tree(points, 2.0)),
        "medoids": medoids(points, np.arange(700) % 3),
    }


def test_results_are_the_same_to_the_bit_whatever_the_threads(small_chunks, monkeypatch):
    with monkeypatch.context() as whole:
        whole.setattr(threads, "CHUNK", 1 << 60)
        expected = _answers()
    for count in (1, 2, 5):
        small_chunks(count)
        found = _answers()
        for name, values in expected.items():
            assert np.array_equal(found[name], values), (name, count)


# -- forks and threads -----------------------------------------------------------------------------

PREDICT = """
import threading, numpy as np, choquet
g = choquet.Measure.random(10, rng=0)
X = np.random.default_rng(0).random((120_000, 10))
def predict():
    return choquet.choquet_integral(g, X).sum(), choquet.choquet_integral(g, X[:20]).sum()
"""


@NO_FORK
@pytest.mark.parametrize("busy", [False, True], ids=["idle", "while another thread predicts"])
def test_a_process_may_fork_after_and_during_predictions(busy):
    code = f"""{PREDICT}
import multiprocessing, warnings
warnings.simplefilter("ignore")  # newer Pythons warn of any fork beside threads
expected = predict()
stop = threading.Event()
def work():
    while not stop.is_set():
        predict()
if {busy}:
    threading.Thread(target=work).start()
def check():
    assert predict() == expected
    choquet.walk_weights(g, np.argsort(-X, axis=1))
processes = multiprocessing.get_context("fork")
for _ in range(3):
    child = processes.Process(target=check)
    child.start()
    child.join(60)
    print("exit", child.exitcode)
    if child.exitcode is None:
        child.kill()
with processes.Pool(2) as pool:
    print(len(pool.starmap(predict, [()] * 4)))
stop.set()
assert predict() == expected
"""
    done = python(code, CHOQUET_NUM_THREADS="3", OMP_NUM_THREADS="2")
    assert done.returncode == 0, done.stderr
    assert done.stdout.split("\n")[:4] == ["exit 0"] * 3 + ["4"]


def test_two_threads_may_predict_at_the_same_time_without_openmp():
    code = f"""{PREDICT}
import numba
found = []
def work():
    for _ in range(30):
        found.append(predict())
several = [threading.Thread(target=work) for _ in range(4)]
for one in several: one.start()
for one in several: one.join()
print(len(found), len(set(found)))
try:
    print(numba.threading_layer())
except ValueError:
    print("no threading layer was started")
"""
    # Of Numba's own ways to run threads, the one that is always there allows one caller only.
    done = python(code, NUMBA_THREADING_LAYER="workqueue", CHOQUET_NUM_THREADS="3")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["120 1", "no threading layer was started"]


def test_predictions_still_work_while_the_interpreter_ends():
    code = f"""{PREDICT}
import atexit
expected = predict()
atexit.register(lambda: print(predict() == expected))
"""
    done = python(code, CHOQUET_NUM_THREADS="3")
    assert (done.returncode, done.stdout, done.stderr) == (0, "True\n", "")


@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGINT between processes")
def test_ctrl_c_stops_a_long_prediction():
    code = f"""{PREDICT}
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)  # a parent may have switched it off
X = np.tile(X, (20, 1))
predict()
try:
    print("ready", flush=True)
    while True:
        predict()
except KeyboardInterrupt:
    print("stopped", flush=True)
"""
    with subprocess.Popen(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": str(PACKAGE.parent), "CHOQUET_NUM_THREADS": "3"},
        stdout=subprocess.PIPE,
        text=True,
    ) as child:
        try:
            assert child.stdout.readline() == "ready\n"
            child.send_signal(signal.SIGINT)
            assert child.communicate(timeout=120) == ("stopped\n", None)
            assert child.returncode == 0
        finally:
            child.kill()


# -- threads of BLAS -------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [0, 1, vectors.SHORT, vectors.SHORT + 1, 5 * vectors.SHORT + 17])
def test_products_of_vectors_are_right_to_rounding(n):
    a, b = np.random.default_rng(n).normal(size=(2, n))
    products = (a * b).tolist()
    # Each of the n products and of the n sums is rounded once.
    room = 2 * n * np.finfo(float).eps * math.fsum(map(abs, products))
    assert abs(vectors.dot(a, b) - math.fsum(products)) <= room
    assert vectors.norm(a) == pytest.approx(math.sqrt(math.fsum((a * a).tolist())), rel=1e-12)
    if n <= vectors.SHORT:
        assert vectors.dot(a, b) == float(a @ b)


@pytest.mark.parametrize("shape", [(0, 5), (3, 64), (7, 3000)])
def test_projections_by_hand_are_those_of_matrices(shape):
    rng = np.random.default_rng(1)
    frame = np.ascontiguousarray(np.linalg.qr(rng.normal(size=shape[::-1]))[0].T)
    x = rng.normal(size=shape[1])
    assert np.allclose(projected(frame, x), frame.T @ (frame @ x), rtol=0, atol=1e-12)


def test_long_products_do_not_depend_on_the_threads_of_blas():
    code = """
import numpy as np
from choquet.lattice.vectors import dot, norm
a, b = np.random.default_rng(0).normal(size=(2, 1_000_003))
print(dot(a, b).hex(), norm(a).hex())
"""
    found = {python(code, OPENBLAS_NUM_THREADS=str(n)).stdout for n in (1, 2, 4)}
    assert len(found) == 1
    assert found.pop().startswith(("0x", "-0x"))


# -- folders that cannot be written to -------------------------------------------------------------


def test_a_read_only_installation_without_a_home_compiles_in_memory(tmp_path):
    # A file where a folder is needed cannot be written into, not even by root.
    copy = tmp_path / "lib" / "choquet"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    for folder in [copy, *(path for path in copy.rglob("*") if path.is_dir())]:
        (folder / "__pycache__").touch()
    no_home = tmp_path / "home"
    no_home.touch()
    code = """
import numpy as np, choquet
from choquet.clustering import ivat
print(choquet.__file__)
g = choquet.Measure.random(3, rng=0)
print(choquet.choquet_integral(g, np.full((2, 3), 0.5)))
heights = ivat([[0.0], [1.0], [3.0]]).heights
print((heights / heights[1]).round(9))
"""
    done = python(
        code,
        path=copy.parent,
        PYTHONDONTWRITEBYTECODE="1",
        HOME=str(no_home),
        XDG_CACHE_HOME=str(no_home / "cache"),
        LOCALAPPDATA=str(no_home / "cache"),
        NUMBA_CACHE_DIR=None,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [str(copy / "__init__.py"), "[0.5 0.5]", "[0. 1. 2.]"]
    assert not list(tmp_path.rglob("*.nbi"))
