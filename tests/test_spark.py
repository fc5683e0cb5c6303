"""Spark on this machine: several partitions give what one machine gives."""

from __future__ import annotations

import os
import sys

import numpy as np
import pandas as pd
import pytest

import choquet
from choquet import ChoquetRegressor
from choquet.errors import DataError, SourceError
from choquet.estimators import fit_evidence, fit_statistics
from choquet.exports.spark import predict_spark
from choquet.learning.data.spark import evidence_from_spark, statistics_from_spark
from tests import running

pytest.importorskip("pyspark", reason="pyspark is not installed: pip install 'choquet[spark]'")

# Warnings of Spark itself, about versions beside it, are none of ours.
pytestmark = [
    pytest.mark.filterwarnings(f"ignore::{kind}")
    for kind in ("FutureWarning", "DeprecationWarning", "UserWarning", "ResourceWarning")
]

SOURCES = ["gpr", "ir.front", "e`mi"]


@pytest.fixture(scope="module")
def spark(tmp_path_factory):
    """A local session that runs a failed task again."""
    if not running.has_java():
        pytest.skip("Spark needs Java 17 or newer")
    from pyspark.sql import SparkSession

    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    folder = tmp_path_factory.mktemp("spark")
    session = (
        SparkSession.builder.master("local[2,3]")
        .appName("choquet")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.driver.memory", "512m")
        # What makes a long-running Spark fast only makes tests of few rows slow.
        .config("spark.driver.extraJavaOptions", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")
        .config("spark.sql.codegen.wholeStage", "false")
        .config("spark.sql.adaptive.enabled", "false")
        .config("spark.local.dir", str(folder))
        .config("spark.sql.warehouse.dir", str(folder / "warehouse"))
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()


def table(n=240):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.random((n, 3)), columns=SOURCES)
    frame["truth"] = np.median(frame[SOURCES], axis=1) + 0.05 * rng.standard_normal(n)
    frame["w"] = rng.random(n) + 0.5
    frame["count"] = rng.integers(0, 9, n)
    return frame


def spread(spark, frame, n=5):
    return spark.createDataFrame(frame).repartition(n)


def same(model, whole):
    np.testing.assert_allclose(model.measure_.values, whole.measure_.values, rtol=0, atol=1e-9)
    np.testing.assert_array_equal(model.support_.count, whole.support_.count)


def test_partitions_give_what_one_machine_gives(spark):
    frame = table()
    whole = ChoquetRegressor().fit(frame[SOURCES], frame["truth"], sample_weight=frame["w"])
    given = {"sources": SOURCES, "target": "truth", "weight": "w"}
    rows = spread(spark, frame, 9)  # more than are added at a time
    model = fit_evidence(ChoquetRegressor(), evidence_from_spark(rows, **given), sources=SOURCES)
    same(model, whole)
    assert len(model.support_.observed_sorts) == len(whole.support_.observed_sorts)
    same(fit_statistics(ChoquetRegressor(), statistics_from_spark(rows, **given)), whole)


def test_a_task_that_failed_is_run_again_and_loses_nothing(spark, tmp_path):
    plain = ["a", "b", "c"]  # Spark itself knows no backtick in what a function gives
    frame = table().rename(columns=dict(zip(SOURCES, plain, strict=True)))
    mark = tmp_path / "failed"

    def stumble(batches):
        """Hands on the first rows of a partition and fails, the first time."""
        from pyspark import TaskContext

        for batch in batches:
            yield batch
            task = TaskContext.get()
            if task.partitionId() == 1 and task.attemptNumber() == 0:
                mark.write_text("once")
                raise RuntimeError("this worker stumbles")

    rows = spread(spark, frame, 4)
    shaky = rows.mapInArrow(stumble, rows.schema)
    found = statistics_from_spark(shaky, sources=plain, target="truth")
    assert mark.exists()
    assert found.n_samples == len(frame)
    whole = ChoquetRegressor().fit(frame[plain], frame["truth"])
    same(fit_statistics(ChoquetRegressor(), found), whole)


def test_scores_are_those_of_one_machine(spark):
    frame = table(60)
    model = ChoquetRegressor().fit(frame[SOURCES], frame["truth"])
    rows = frame.copy()
    rows.loc[3, "gpr"] = np.nan
    found = predict_spark(model, spread(spark, rows, 3)).toPandas().sort_values("truth")
    rows = rows.sort_values("truth")
    whole = rows["gpr"].notna().to_numpy()
    np.testing.assert_allclose(
        found["prediction"].to_numpy()[whole], model.predict(rows[SOURCES][whole]), atol=1e-12
    )
    assert np.isnan(found["prediction"].to_numpy()[~whole]).all()
    classes = choquet.ChoquetClassifier().fit(frame[SOURCES], frame["truth"] > 0.5)
    found = predict_spark(classes, spread(spark, frame, 3), column="p").toPandas()
    np.testing.assert_allclose(
        found["p"], classes.predict_proba(found[SOURCES])[:, 1], rtol=0, atol=1e-12
    )
    measure = choquet.Measure([0, 0, 0, 1], sources=SOURCES[:2])
    found = predict_spark(measure, spread(spark, frame, 2)).toPandas()
    np.testing.assert_allclose(found["prediction"], found[SOURCES[:2]].min(axis=1))


def test_bad_frames_are_refused(spark):
    from pyspark.sql import functions as F

    frame = spread(spark, table(30), 3)
    given = {"sources": SOURCES, "target": "truth"}
    with pytest.raises(SourceError, match="the frame has no column 'missing'; it has gpr"):
        evidence_from_spark(frame, sources=["missing"], target="truth")
    nested = frame.withColumn("both", F.struct("gpr", "truth")).withColumn("text", F.lit("a"))
    with pytest.raises(DataError, match=r"column 'both' holds struct.*select its fields"):
        evidence_from_spark(nested, sources=["both"], target="truth")
    with pytest.raises(DataError, match="column 'text' holds string, not numbers: encode it"):
        evidence_from_spark(nested, sources=["text"], target="truth")
    holes = frame.withColumn("gpr", F.when(F.col("count") > 3, F.col("gpr")))
    with pytest.raises(DataError, match=r"partition \d: column 'gpr' holds \d+ nulls; drop"):
        evidence_from_spark(holes, **given)
    empty = spark.createDataFrame(spark.sparkContext.emptyRDD(), frame.schema)
    with pytest.raises(DataError, match="no data: the frame has no partition"):
        statistics_from_spark(empty, **given)
    with pytest.raises(DataError, match="every partition is empty"):
        statistics_from_spark(frame.where("gpr > 2"), **given)
    with pytest.raises(SourceError, match="the frame has no column 'gpr'"):
        predict_spark(choquet.Measure([0, 1], sources=["gpr"]), frame.drop("gpr"))
    with pytest.raises(DataError, match="a Spark data frame is needed, not DataFrame"):
        statistics_from_spark(table(), **given)
