"""What every decomposition answers to, however it was made."""

from __future__ import annotations

import pickle
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given

import choquet
from choquet import ContextualRegressor, Decomposition, Measure, all_sorts, decompose, sorts_of
from choquet.contexts import find_rules
from choquet.operators import DISSIMILARITIES, a_norm, aitchison, lp, precomputed
from tests.strategies import measures


def learned() -> Decomposition:
    X = np.random.default_rng(0).random((300, 3))
    y = np.where(X[:, 0] == X.max(axis=1), np.median(X, axis=1), X.max(axis=1))
    return ContextualRegressor(convex=True, l2=0.0).fit(X, y).decomposition_


def made() -> Decomposition:
    return decompose(Measure([0, 0, 1, 1, 1, 1, 1, 1], sources=["gpr", "ir", "emi"]))


def clustered() -> Decomposition:
    return decompose(Measure([0, 0, 1, 1, 1, 1, 1, 1], ["gpr", "ir", "emi"]), method="clodd")


@pytest.mark.parametrize("make", [learned, made, clustered])
def test_one_interface(make):
    d = make()
    assert isinstance(d, Decomposition)
    X = np.random.default_rng(1).random((50, 3))
    labels = d.operator_of(X)
    by_operator = np.array([operator(X) for operator in d.operators])
    np.testing.assert_allclose(by_operator[labels, np.arange(50)], d.predict(X), atol=1e-12)
    for number, operator in enumerate(d.operators):
        np.testing.assert_array_equal(operator.context.holds_in(X), labels == number)
        assert operator.rank_weights.shape == operator.source_weights.shape == (3,)
    found = d.assess(X)
    np.testing.assert_array_equal(found.operator, labels)
    assert found.supported.all()
    frame = d.to_frame()
    assert frame["operator"].tolist() == d.operator_names
    assert frame["share"].sum() == pytest.approx(1)
    assert d._repr_html_().count("<tr") == 1 + d.n_operators


@pytest.mark.parametrize("make", [learned, made, clustered])
def test_leaves_tell_the_operator_of_each_sample(make):
    d = make()
    X = np.random.default_rng(2).random((40, 3))
    leaves = d.leaf_of(X)
    np.testing.assert_array_equal(d.contexts.labels_of_sorts(sorts_of(X)), d.operator_of(X))
    assert (d.tree is None) == (not d.leaves)
    if d.tree is None:
        assert set(leaves) == {-1}
        return
    assert [d.leaves[leaf].operator for leaf in leaves] == d.operator_of(X).tolist()
    for leaf, rule in d.leaves.items():
        np.testing.assert_array_equal(rule.covers_in(X), leaves == leaf)
    assert sum(rule.share for rule in d.leaves.values()) == pytest.approx(1)


def test_nobody_asks_which_class_a_decomposition_is_of():
    # What differs is asked by name (`tree`, `clusters`), so that a third kind needs no fork.
    home = Path(choquet.__file__).parent
    asked = re.compile(r"isinstance\([^)]*(Tree|Cluster)Decomposition")
    found = [path for path in home.rglob("*.py") if asked.search(path.read_text(encoding="utf-8"))]
    assert not found


@pytest.mark.parametrize("make", [learned, made, clustered])
def test_a_pickled_decomposition_equals_itself(make):
    d = make()
    again = pickle.loads(pickle.dumps(d))  # noqa: S301
    assert again == d
    assert d != make().rules
    assert str(again) == str(d)
    X = np.random.default_rng(1).random((50, 3))
    np.testing.assert_array_equal(again.predict(X), d.predict(X))
    assert learned() != made()


def test_every_dissimilarity_can_be_sent():
    rows = [*DISSIMILARITIES.values(), lp(3), a_norm(np.eye(2)), aitchison(1e-3)]
    rows.append(precomputed([[1, 0], [0, 1]], [[0, 3], [3, 0]]))
    V = np.array([[1.0, 0.0], [0.0, 1.0]])
    for row in rows:
        again = pickle.loads(pickle.dumps(row))  # noqa: S301
        np.testing.assert_array_equal(again.matrix(V, V), row.matrix(V, V))
        if row.name in DISSIMILARITIES and DISSIMILARITIES[row.name] is row:
            assert again is row


@given(measures(min_sources=2, max_sources=4))
def test_contexts_read_alone_are_true(g):
    """Every context, read without the others, holds for the walks of its operator and no other."""
    d = decompose(g, method="distinct")
    sorts = all_sorts(g.n_sources)
    named = d.rules.predict(sorts)
    for number, operator in enumerate(d.operators):
        np.testing.assert_array_equal(operator.context.holds(sorts), named == number)


def test_contexts_of_a_list_of_many_rules_are_complete():
    rng = np.random.default_rng(0)
    sorts = all_sorts(4)
    for _ in range(20):
        rules = find_rules(sorts, rng.integers(0, 3, 24))
        named = rules.predict(sorts)
        for k in range(3):
            context = rules.context(k)
            np.testing.assert_array_equal(context.holds(sorts), named == k)
            assert "otherwise" not in context.text()
