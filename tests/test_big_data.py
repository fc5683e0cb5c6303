from __future__ import annotations

import os
import subprocess
import sys
import time

import numpy as np
import pytest

from choquet import ChoquetRegressor, LambdaRegressor, OWARegressor
from choquet.errors import DataError, FileError, OptionError, SourceError
from choquet.estimators import fit_chunks, fit_evidence, fit_statistics
from choquet.learning import (
    Evidence,
    evidence_of,
    evidence_of_chunks,
    parquet_chunks,
    statistics_of_chunks,
)

SOURCES = ["ir", "emi", "gpr"]


def make(n_samples=400, n_sources=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.random((n_samples, n_sources))
    y = np.median(X, axis=1) + 0.05 * rng.standard_normal(n_samples)
    return X, y, rng.random(n_samples) + 0.5


def same(model, whole):
    np.testing.assert_allclose(model.measure_.values, whole.measure_.values, rtol=0, atol=1e-9)
    assert model.intercept_ == pytest.approx(whole.intercept_, abs=1e-9)
    np.testing.assert_array_equal(model.support_.count, whole.support_.count)


@pytest.mark.parametrize(
    "make_model",
    [
        ChoquetRegressor,
        lambda: ChoquetRegressor(monotone=False, normal=False, fit_intercept=True, penalty="l2"),
        LambdaRegressor,
        OWARegressor,
    ],
)
def test_chunks_give_what_all_rows_give(make_model):
    X, y, w = make()
    parts = np.array_split(np.arange(400), 7)
    chunks = [(X[:0], y[:0]), *((X[p], y[p], w[p]) for p in parts)]
    model = fit_chunks(make_model(), iter(chunks), sources=SOURCES)
    same(model, make_model().fit(X, y, sample_weight=w))
    same(fit_statistics(make_model(), statistics_of_chunks(chunks)), model)
    assert model.measure_.sources == tuple(SOURCES)
    more = fit_chunks(make_model(), chunks[:4])
    for chunk in chunks[4:]:
        more.partial_fit(*chunk)
    same(more, make_model().fit(X, y, sample_weight=w))


def test_a_checkpoint_of_statistics_is_resumed(tmp_path):
    import choquet

    X, y, _ = make()
    first = evidence_of(X[:250], y[:250])
    choquet.save(first.statistics, tmp_path / "statistics.json")
    choquet.save(first.support, tmp_path / "support.json")
    again = Evidence(
        choquet.load(tmp_path / "statistics.json"), choquet.load(tmp_path / "support.json")
    )
    model = fit_evidence(ChoquetRegressor(), again + evidence_of(X[250:], y[250:]))
    same(model, ChoquetRegressor().fit(X, y))


def test_parquet_by_row_groups(tmp_path):
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    X, y, w = make()
    columns = {**{name: X[:, i] for i, name in enumerate(SOURCES)}, "y": y, "w": w}
    path = tmp_path / "rows.parquet"
    parquet.write_table(pa.table({**columns, "site": ["a"] * 400}), path, row_group_size=90)
    chunks = list(parquet_chunks(path, sources=SOURCES, target="y", weight="w"))
    assert [len(chunk[0]) for chunk in chunks] == [90, 90, 90, 90, 40]
    same(fit_chunks(ChoquetRegressor(), chunks), ChoquetRegressor().fit(X, y, sample_weight=w))
    with pytest.raises(SourceError, match="no columns radar"):
        next(iter(parquet_chunks(path, sources=["radar"], target="y")))
    with pytest.raises(DataError, match="column site"):
        next(iter(parquet_chunks(path, sources=["ir", "site"], target="y")))
    with pytest.raises(FileError, match="no file"):
        next(iter(parquet_chunks(tmp_path / "none.parquet", sources=SOURCES, target="y")))


def test_bad_chunks():
    X, y, _ = make(20)
    with pytest.raises(DataError, match="no row"):
        evidence_of_chunks([])
    with pytest.raises(DataError, match="no row"):
        evidence_of_chunks([(X[:0], y[:0])])
    with pytest.raises(DataError, match="chunk 1: inputs have 2 columns"):
        evidence_of_chunks([(X, y), (X[:, :2], y)])
    with pytest.raises(DataError, match="chunk 0: y must hold 20 values"):
        evidence_of_chunks([(X, y[:5])])
    with pytest.raises(DataError, match="chunk 0: inputs must be numbers"):
        evidence_of_chunks([(np.full((20, 3), "low"), y)])
    with pytest.raises(DataError, match="chunk 0 must be"):
        evidence_of_chunks([(X,)])
    with pytest.raises(SourceError, match="2 names were given for 3"):
        fit_chunks(ChoquetRegressor(), [(X, y)], sources=["a", "b"])
    with pytest.raises(OptionError, match="keeps no statistics"):
        fit_chunks(ChoquetRegressor(loss="absolute"), [(X, y)])


# -- checkpoints -----------------------------------------------------------------------------------


def chunks_of(X, y, step=20, fail_at=None):
    for k in range(0, len(X), step):
        if fail_at is not None and k >= fail_at:
            raise OSError("the disk went away")
        yield X[k : k + step], y[k : k + step]


@pytest.mark.parametrize("k_additive", [None, 2])
def test_a_chunk_that_fails_loses_nothing(tmp_path, k_additive):
    X, y, _ = make(400, 17 if k_additive else 3)
    model = ChoquetRegressor(k_additive=k_additive)
    options = {"checkpoint": tmp_path / "so-far.npz", "checkpoint_every": 3}
    for fail_at in (100, 240):
        with pytest.raises(OSError, match="disk went away"):
            fit_chunks(model, chunks_of(X, y, fail_at=fail_at), **options)
    seen = []

    def counted():
        for number, chunk in enumerate(chunks_of(X, y)):
            seen.append(number)
            yield chunk

    resumed = fit_chunks(ChoquetRegressor(k_additive=k_additive), counted(), **options)
    whole = fit_chunks(ChoquetRegressor(k_additive=k_additive), chunks_of(X, y))
    np.testing.assert_allclose(
        resumed.predict(X), whole.predict(X), atol=1e-9 if not k_additive else 1e-6
    )
    assert resumed.statistics_.n_samples == 400
    assert seen == list(range(20))
    # All is in the file now: nothing is read twice, and more can be added.
    from choquet.learning.data.checkpoint import Checkpoint

    assert Checkpoint.read(options["checkpoint"]).n_chunks == 20
    again = fit_chunks(ChoquetRegressor(k_additive=k_additive), chunks_of(X, y), **options)
    np.testing.assert_array_equal(again.predict(X), resumed.predict(X))


def test_a_killed_run_goes_on(tmp_path):
    script = """
import sys, time
import numpy as np
from choquet.learning import statistics_of_chunks
def chunks():
    rng = np.random.default_rng(0)
    for k in range(40):
        X = rng.random((50, 3))
        if len(sys.argv) > 2 and k == 25:
            print("here", flush=True)
            time.sleep(60)
        yield X, X.max(axis=1)
found = statistics_of_chunks(chunks(), checkpoint=sys.argv[1], checkpoint_every=10)
print(found.n_samples, repr(found.target_square))
"""
    path = tmp_path / "so-far.npz"
    command = [sys.executable, "-c", script]
    with subprocess.Popen([*command, path, "wait"], stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout.readline() == "here\n"
        running.kill()
    from choquet.learning.data.checkpoint import Checkpoint

    assert Checkpoint.read(path).n_chunks == 20
    again = subprocess.run([*command, path], capture_output=True, text=True, check=True).stdout
    rng = np.random.default_rng(0)
    parts = [rng.random((50, 3)) for _ in range(40)]
    whole = statistics_of_chunks((X, X.max(axis=1)) for X in parts)
    assert again == f"2000 {whole.target_square!r}\n"


def test_a_checkpoint_of_other_data_is_refused(tmp_path):
    X, y, _ = make(200)
    path = tmp_path / "so-far.npz"
    fit_chunks(ChoquetRegressor(), chunks_of(X, y), checkpoint=path)
    with pytest.raises(DataError, match="of 3 sources, but chunk 0 has 2"):
        fit_chunks(ChoquetRegressor(), chunks_of(X[:, :2], y), checkpoint=path)
    with pytest.raises(DataError, match="10 chunks held 200 rows, and here they hold 100"):
        fit_chunks(ChoquetRegressor(), chunks_of(X, y, step=10), checkpoint=path)
    with pytest.raises(DataError, match="fewer chunks"):
        fit_chunks(ChoquetRegressor(), chunks_of(X, y, step=100), checkpoint=path)
    path.write_bytes(path.read_bytes()[:200])
    with pytest.raises(FileError, match="is no checkpoint"):
        fit_chunks(ChoquetRegressor(), chunks_of(X, y), checkpoint=path)
    with pytest.raises(OptionError, match="checkpoint_every=0"):
        fit_chunks(ChoquetRegressor(), chunks_of(X, y), checkpoint=path, checkpoint_every=0)


def test_a_checkpoint_knows_its_data_by_their_numbers(tmp_path):
    X, y, w = make(200)
    path = tmp_path / "so-far.npz"

    def part(X, y, w=None, n=200):
        columns = (X, y) if w is None else (X, y, w)
        return [tuple(column[k : k + 20] for column in columns) for k in range(0, n, 20)]

    first = statistics_of_chunks(part(X, y, n=100), checkpoint=path)
    for column in range(3):
        other = [X.copy(), y.copy(), np.ones(200)]
        other[column][37] += 1e-9
        with pytest.raises(DataError, match=r"of other data: its 5 chunks .* but other numbers"):
            statistics_of_chunks(part(*other), checkpoint=path)
    with pytest.raises(DataError, match="of other data"):
        statistics_of_chunks(part(X, y, w), checkpoint=path)
    with pytest.raises(DataError, match="of other data"):
        statistics_of_chunks(part(X[:, ::-1], y), checkpoint=path)
    assert (
        statistics_of_chunks(part(X, y, n=100), checkpoint=path).totals[1, 0] == first.totals[1, 0]
    )
    whole = statistics_of_chunks(part(X, y), checkpoint=path)
    assert whole.target_square == statistics_of_chunks(part(X, y)).target_square
    # The digest goes on where the checkpoint ended: there is a second time to go on from.
    again = statistics_of_chunks(part(X, y), checkpoint=path)
    assert again.target_square == whole.target_square


def test_a_checkpoint_of_other_sums_is_refused(tmp_path):
    X, y, _ = make(100)
    path = tmp_path / "so-far.npz"
    statistics_of_chunks(chunks_of(X, y), checkpoint=path)
    with pytest.raises(DataError, match="holds Statistics, not Evidence of Statistics"):
        evidence_of_chunks(chunks_of(X, y), checkpoint=path)
    with pytest.raises(DataError, match="not MinimaStatistics of order 2"):
        statistics_of_chunks(chunks_of(X, y), checkpoint=path, k_additive=2)


def test_altered_and_earlier_checkpoints_are_refused(tmp_path):
    X, y, _ = make(100)
    path = tmp_path / "so-far.npz"
    evidence_of_chunks(chunks_of(X, y), checkpoint=path)
    content = path.read_bytes()
    at = content.index(b'"n_chunks": 5')
    path.write_bytes(content[:at] + b'"n_chunks": 4' + content[at + 13 :])
    with pytest.raises(FileError, match="does not match its checksum"):
        evidence_of_chunks(chunks_of(X, y), checkpoint=path)
    path.write_bytes(content.replace(b'"choquet checkpoint"', b'"choquet"'))
    with pytest.raises(FileError, match="is no checkpoint"):
        evidence_of_chunks(chunks_of(X, y), checkpoint=path)
    path.write_bytes(content.replace(b'"version": 2', b'"version": 3'))
    with pytest.raises(FileError, match="of a newer choquet"):
        evidence_of_chunks(chunks_of(X, y), checkpoint=path)
    np.savez(path, format=np.array("choquet checkpoint 1"), kind=np.array("gaps"))
    with pytest.raises(FileError, match=r"earlier choquet .* which data it belongs to"):
        evidence_of_chunks(chunks_of(X, y), checkpoint=path)


def test_a_checkpoint_knows_its_parquet_file_without_reading_it(tmp_path):
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    X, y, w = make(400)
    name, path = tmp_path / "rows.parquet", tmp_path / "so-far.npz"

    def write(X, y):
        table = pa.table({**dict(zip(SOURCES, X.T, strict=True)), "y": y, "w": w})
        parquet.write_table(table, name, row_group_size=50, write_statistics=False)

    write(X, y)
    rows = parquet_chunks(name, sources=SOURCES, target="y")
    whole = statistics_of_chunks(rows, checkpoint=path)
    assert statistics_of_chunks(rows, checkpoint=path).target_square == whole.target_square
    for other in (
        parquet_chunks(name, sources=SOURCES[::-1], target="y"),
        parquet_chunks(name, sources=SOURCES, target="w"),
        parquet_chunks(name, sources=SOURCES, target="y", weight="w"),
    ):
        with pytest.raises(DataError, match="of other data"):
            statistics_of_chunks(other, checkpoint=path)
    write(*make(400, seed=1)[:2])
    with pytest.raises(DataError, match="of other data"):
        statistics_of_chunks(rows, checkpoint=path)


def test_a_checkpoint_of_a_cluster_knows_its_partitions(tmp_path):
    da = pytest.importorskip("dask.array")
    from choquet.learning.data.distributed import statistics_from_dask

    X, y, _ = make(400)
    options = {"checkpoint": tmp_path / "so-far.npz", "checkpoint_every": 2}

    def sums(X):
        return statistics_from_dask(
            da.from_array(X, chunks=(50, 3)), da.from_array(y, chunks=50), **options
        )

    whole = sums(X)
    assert sums(X).target_square == whole.target_square
    for row in (10, 210, 390):
        other = X.copy()
        other[row, 1] += 1e-9
        with pytest.raises(DataError, match=f"partition {row // 50} holds other numbers"):
            sums(other)


def test_a_checkpoint_enters_a_parquet_file_in_the_middle(tmp_path):
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    X, y, _ = make(400)
    name, path = tmp_path / "rows.parquet", tmp_path / "so-far.npz"
    table = pa.table({**dict(zip(SOURCES, X.T, strict=True)), "y": y})
    parquet.write_table(table, name, row_group_size=50)
    rows = parquet_chunks(name, sources=SOURCES, target="y")
    first = evidence_of_chunks(list(rows)[:3], checkpoint=path)
    assert first.statistics.n_samples == 150
    resumed = fit_chunks(ChoquetRegressor(), rows, checkpoint=path)
    same(resumed, ChoquetRegressor().fit(X, y))
    n_rows, rest = rows.after(7)
    assert n_rows == 350
    np.testing.assert_array_equal(next(rest)[1], y[350:])
    parquet.write_table(table.slice(0, 100), name, row_group_size=50)
    with pytest.raises(DataError, match="fewer chunks"):
        fit_chunks(ChoquetRegressor(), rows, checkpoint=path)


# -- clusters --------------------------------------------------------------------------------------


def slowly(block, pause):
    """The block itself, after a while: time enough to lose a worker."""
    time.sleep(pause)
    return block


@pytest.fixture(scope="module")
def cluster():
    distributed = pytest.importorskip(
        "distributed", reason="clusters need dask: pip install 'choquet[dask]'"
    )
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.mark.filterwarnings("ignore")  # what the cluster itself warns about is not ours
def test_a_cluster_gives_what_one_machine_gives(cluster):
    da = pytest.importorskip("dask.array")
    from choquet.learning.data.distributed import evidence_from_dask, statistics_from_dask

    X, y, w = make(1000)
    dX = da.from_array(X, chunks=(90, 2))  # split between sources too: joined again
    dy, dw = da.from_array(y, chunks=90), da.from_array(w, chunks=90)
    evidence = evidence_from_dask(dX, dy, dw)
    same(fit_evidence(ChoquetRegressor(), evidence), ChoquetRegressor().fit(X, y, w))
    statistics = statistics_from_dask(dX, dy, dw)
    same(fit_statistics(ChoquetRegressor(), statistics), ChoquetRegressor().fit(X, y, w))


@pytest.mark.filterwarnings("ignore")
def test_data_frames_and_empty_partitions(cluster):
    pd = pytest.importorskip("pandas")
    dd = pytest.importorskip("dask.dataframe")
    from choquet.learning.data.distributed import evidence_from_dask

    X, y, _ = make(300)
    frame = pd.DataFrame({**dict(zip(SOURCES, X.T, strict=True)), "y": y, "row": np.arange(300)})
    table = dd.from_pandas(frame, npartitions=4)
    filtered = table[table["row"] >= 100]  # leaves the first partition empty
    evidence = evidence_from_dask(filtered[SOURCES], filtered["y"])
    same(fit_evidence(ChoquetRegressor(), evidence), ChoquetRegressor().fit(X[100:], y[100:]))
    with pytest.raises(DataError, match="every partition is empty"):
        evidence_from_dask(table[table["row"] > 999][SOURCES], table[table["row"] > 999]["y"])


@pytest.mark.filterwarnings("ignore")
def test_a_worker_killed_in_mid_fit_loses_nothing(cluster):
    da = pytest.importorskip("dask.array")
    from concurrent.futures import ThreadPoolExecutor

    from choquet.learning.data.distributed import evidence_from_dask

    X, y, _ = make(600)
    dX = da.from_array(X, chunks=(50, 3)).map_blocks(slowly, 0.3, dtype=float, meta=X[:0])
    dy = da.from_array(y, chunks=50)
    before = cluster.run(os.getpid)
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(evidence_from_dask, dX, dy)
        time.sleep(1.0)
        os.kill(next(iter(before.values())), 9)
        evidence = running.result(timeout=60)
    same(fit_evidence(ChoquetRegressor(), evidence), ChoquetRegressor().fit(X, y))
    assert evidence.statistics.n_samples == 600  # none lost, none twice


@pytest.mark.filterwarnings("ignore")
def test_many_measures_on_the_workers(cluster):
    joblib = pytest.importorskip("joblib")
    from sklearn.linear_model import LogisticRegression
    from sklearn.naive_bayes import GaussianNB
    from sklearn.tree import DecisionTreeClassifier

    from choquet import FusionClassifier, Measure, dissimilarity, sample_indices
    from choquet.jobs import run_jobs

    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 4))
    y = (X @ rng.normal(size=(4, 3))).argmax(axis=1)
    options = {
        "estimators": [
            ("a", GaussianNB()),
            ("b", LogisticRegression()),
            ("c", DecisionTreeClassifier(max_depth=3, random_state=0)),
        ],
        "shared": False,
        "cv": 3,
    }
    alone = FusionClassifier(**options).fit(X, y)
    g = Measure.random(5, rng=0)
    V = rng.dirichlet(np.ones(5), size=60)
    with joblib.parallel_config(backend="dask"):
        workers = set(run_jobs(os.getpid, [()] * 8, n_jobs=-1))
        together = FusionClassifier(**options, n_jobs=-1).fit(X, y)
        indices = sample_indices(g, rng=1, n_jobs=-1)
        away = dissimilarity(V, metric="emd", n_jobs=-1)
    assert workers <= set(cluster.run(os.getpid).values())
    for one, other in zip(together.measures_, alone.measures_, strict=True):
        np.testing.assert_allclose(one.values, other.values, atol=1e-9)
    np.testing.assert_allclose(indices.shapley.value, sample_indices(g, rng=1).shapley.value)
    np.testing.assert_allclose(away, dissimilarity(V, metric="emd"))


@pytest.mark.filterwarnings("ignore")
def test_a_partition_that_fails_keeps_those_before_it(cluster, tmp_path):
    da = pytest.importorskip("dask.array")
    from choquet.learning.data.distributed import statistics_from_dask

    X, y, _ = make(400)
    broken = X.copy()
    broken[333] = np.nan
    dy, path = da.from_array(y, chunks=50), tmp_path / "so-far.npz"
    options = {"checkpoint": path, "checkpoint_every": 2}
    with pytest.raises(DataError, match="partition 6: inputs must be finite"):
        statistics_from_dask(da.from_array(broken, chunks=(50, 3)), dy, **options)
    from choquet.learning.data.checkpoint import Checkpoint

    assert Checkpoint.read(path).n_chunks == 6
    found = statistics_from_dask(da.from_array(X, chunks=(50, 3)), dy, **options)
    same(
        fit_statistics(ChoquetRegressor(), found),
        fit_statistics(ChoquetRegressor(), statistics_of_chunks([(X, y)])),
    )
    with pytest.raises(DataError, match="in 8 partitions, not 4"):
        statistics_from_dask(
            da.from_array(X, chunks=(100, 3)), da.from_array(y, chunks=100), **options
        )


@pytest.mark.filterwarnings("ignore")
def test_a_cluster_that_goes_away_is_named():
    distributed = pytest.importorskip("distributed")
    da = pytest.importorskip("dask.array")
    from concurrent.futures import ThreadPoolExecutor

    from choquet.errors import ClusterError
    from choquet.learning.data.distributed import statistics_from_dask

    X, y, _ = make(100)
    with (
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None
        ) as own,
        distributed.Client(own, set_as_default=False) as client,
    ):
        dX = da.from_array(X, chunks=(10, 3)).map_blocks(slowly, 0.3, dtype=float, meta=X[:0])
        with ThreadPoolExecutor(1) as pool:

            def work():
                with client.as_current():
                    return statistics_from_dask(dX, da.from_array(y, chunks=10))

            running = pool.submit(work)
            time.sleep(0.8)
            client.close()
            with pytest.raises(ClusterError, match="connect again and repeat"):
                running.result(timeout=60)


@pytest.mark.filterwarnings("ignore")
def test_bad_partitions():
    da = pytest.importorskip("dask.array")
    from dask import delayed

    from choquet.learning.data.distributed import evidence_from_dask

    X, y, _ = make(40)
    with pytest.raises(DataError, match="2, 4 partitions"):
        evidence_from_dask(da.from_array(X, chunks=(20, 3)), da.from_array(y, chunks=10))
    parts = [X[:20], X[20:, :2]]
    odd = da.concatenate([da.from_delayed(delayed(p), (20, 3), dtype=float) for p in parts])
    with pytest.raises(DataError, match="partitions 0 and 1: statistics of 3 and of 2 sources"):
        evidence_from_dask(odd, da.from_array(y, chunks=20))
    with pytest.raises(DataError, match="Dask array or data frame is needed, not ndarray"):
        evidence_from_dask(X, y)
