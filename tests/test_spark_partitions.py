"""What one task of Spark does with its Arrow batches, without Spark."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from choquet.learning.data.checkpoint import Checkpoint
from choquet.learning.data.chunks import evidence_of, statistics_of
from choquet.learning.data.spark import sums_of_batches

pyarrow = pytest.importorskip("pyarrow")


def batches(X, y, step):
    columns = [f"c{k}" for k in range(X.shape[1] + 1)]
    for start in range(0, len(X), step):
        rows = np.column_stack([X, y])[start : start + step]
        yield pyarrow.RecordBatch.from_arrays([pyarrow.array(c) for c in rows.T], columns)


def sent(make, X, y, step=7):
    (batch,) = sums_of_batches(make, ["a", "b", "c", "y"], 3, batches(X, y, step), "partition 2")
    return batch.to_pylist()[0]


@pytest.mark.parametrize("make", [evidence_of, statistics_of, partial(statistics_of, k_additive=2)])
def test_a_partition_sends_what_its_rows_give(make):
    rng = np.random.default_rng(0)
    X, y = rng.random((40, 3)), rng.random(40)
    found = Checkpoint.from_bytes(sent(make, X, y)["sums"], "a partition")
    expected = make(X, y)
    assert type(found.total) is type(expected)
    assert found.n_rows == 40
    sums, wanted = (getattr(s, "statistics", s) for s in (found.total, expected))
    assert sums.target_square == pytest.approx(wanted.target_square, rel=1e-12)
    assert sums.n_samples == wanted.n_samples == 40


def test_a_partition_says_what_is_wrong_and_where():
    X = np.random.default_rng(1).random((5, 3))
    told = sent(statistics_of, X, np.array([1.0, np.nan, 0.0, 1.0, 0.0]))
    assert told["sums"] is None
    assert told["problem"].startswith("partition 2: ")


def test_a_partition_without_rows_sends_nothing():
    none = np.empty((0, 3))
    assert not list(
        sums_of_batches(statistics_of, list("abcy"), 3, batches(none, none[:, 0], 1), "")
    )
