from __future__ import annotations

import os
import time

import numpy as np
import pytest

from choquet import ChoquetRegressor, LambdaRegressor, OWARegressor
from choquet.errors import DataError, FileError, OptionError, SourceError
from choquet.learning import (
    Evidence,
    evidence_of,
    evidence_of_chunks,
    parquet_chunks,
    statistics_of_chunks,
)
from choquet.learning.estimators import fit_chunks, fit_evidence, fit_statistics

SOURCES = ["ir", "emi", "gpr"]


def make(n_samples=400, n_sources=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.random((n_samples, n_sources))
    y = np.median(X, axis=1) + 0.05 * rng.standard_normal(n_samples)
    return X, y, rng.random(n_samples) + 0.5


def same(model, whole):
    np.testing.assert_allclose(model.measure_.values, whole.measure_.values, rtol=0, atol=1e-9)
    assert model.bias_ == pytest.approx(whole.bias_, abs=1e-9)
    np.testing.assert_array_equal(model.support_.count, whole.support_.count)


@pytest.mark.parametrize(
    "make_model",
    [
        ChoquetRegressor,
        lambda: ChoquetRegressor(monotone=False, normal=False, bias=True, penalty="l2"),
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
        next(parquet_chunks(path, sources=["radar"], target="y"))
    with pytest.raises(DataError, match="column site"):
        next(parquet_chunks(path, sources=["ir", "site"], target="y"))
    with pytest.raises(FileError, match="no file"):
        next(parquet_chunks(tmp_path / "none.parquet", sources=SOURCES, target="y"))


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
    from choquet.learning.distributed import evidence_from_dask, statistics_from_dask

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
    from choquet.learning.distributed import evidence_from_dask

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

    from choquet.learning.distributed import evidence_from_dask

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
def test_bad_partitions():
    da = pytest.importorskip("dask.array")
    from dask import delayed

    from choquet.learning.distributed import evidence_from_dask

    X, y, _ = make(40)
    with pytest.raises(DataError, match="2, 4 partitions"):
        evidence_from_dask(da.from_array(X, chunks=(20, 3)), da.from_array(y, chunks=10))
    parts = [X[:20], X[20:, :2]]
    odd = da.concatenate([da.from_delayed(delayed(p), (20, 3), dtype=float) for p in parts])
    with pytest.raises(DataError, match="partitions 0 and 1: statistics of 3 and of 2 sources"):
        evidence_from_dask(odd, da.from_array(y, chunks=20))
    with pytest.raises(DataError, match="Dask array or data frame is needed, not ndarray"):
        evidence_from_dask(X, y)
