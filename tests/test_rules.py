from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from choquet import Measure, OperatorGraph, all_sorts, random_sorts
from choquet.contexts import Condition, Rule, RuleList, find_rules
from choquet.errors import DataError, OptionError, SourceError
from tests.strategies import measures
from tests.test_walks import noise_measure

SOURCES = ["gpr", "ir", "emi"]
FIVE = ["a", "b", "c", "d", "e"]


def slow_holds(condition: Condition, sort: list[int]) -> bool:
    if condition.top is not None:
        held = condition.source in sort[: condition.top]
    else:
        held = sort.index(condition.source) < sort.index(condition.above)
    return held != condition.negated


def slow_predict(rules: RuleList, sort: list[int]) -> int:
    for rule in rules.rules:
        if all(slow_holds(condition, sort) for condition in rule.conditions):
            return rule.operator
    return rules.default


@given(measures(), st.booleans(), st.integers(0, 2**31))
def test_fidelity_shares_and_precision_are_counted(g, weighted, seed):
    sorts = all_sorts(g.n_sources)
    labels = OperatorGraph(g).index(sorts) % 4
    weights = np.random.default_rng(seed).integers(0, 3, len(sorts)) + (np.arange(len(sorts)) == 0)
    weights = weights / 1.0 if weighted else np.ones(len(sorts))
    rules = find_rules(sorts, labels, weights=weights, max_rules=6)
    named = [slow_predict(rules, sort) for sort in sorts.tolist()]
    assert rules.predict(sorts).tolist() == named
    right = np.array(named) == labels
    assert rules.fidelity == pytest.approx(weights[right].sum() / weights.sum())
    assert rules.exact == right.all()
    assert len(rules.rules) <= 6
    left = np.ones(len(sorts), dtype=bool)
    for rule in rules.rules:
        assert 1 <= len(rule.conditions) <= 3
        decided = left & rule.covers(sorts)
        assert rule.share == pytest.approx(weights[decided].sum() / weights.sum())
        correct = weights[decided & (labels == rule.operator)].sum()
        assert rule.precision == pytest.approx(correct / weights[decided].sum())
        left &= ~decided
    # Never worse than always naming the most frequent label.
    assert rules.fidelity >= np.bincount(labels, weights).max() / weights.sum() - 1e-12


@given(measures(min_sources=2, max_sources=4))
def test_the_search_is_deterministic(g):
    sorts = all_sorts(g.n_sources)
    labels = OperatorGraph(g).index(sorts)
    assert find_rules(sorts, labels) == find_rules(sorts, labels)


def test_demining_in_words():
    g = Measure([0, 0, 1, 1, 1, 1, 1, 1], sources=SOURCES)
    graph, sorts = OperatorGraph(g), all_sorts(3)
    rules = find_rules(sorts, graph.index(sorts))
    names = [graph.operator(k).name for k in range(2)]
    assert rules.text(SOURCES, names) == ["If gpr is the largest: median; otherwise: max."]
    assert rules.exact
    assert rules.n_conditions == 1
    assert rules.rules[0].share == pytest.approx(1 / 3)
    assert rules.of(0) == rules.rules
    assert [rule.text(SOURCES) for rule in rules.of(1)] == ["gpr is not the largest"]


@pytest.mark.parametrize(("n_low_pairs", "n_conditions"), [(5, 11), (4, 5)])
def test_the_noise_measure_has_an_exact_list(n_low_pairs, n_conditions):
    sorts = all_sorts(5)
    labels = OperatorGraph(noise_measure(n_low_pairs)).index(sorts)
    rules = find_rules(sorts, labels)
    assert rules.exact
    assert rules.n_conditions <= n_conditions
    assert (rules.predict(sorts) == labels).all()


def test_many_sources_from_a_sample():
    sorts = random_sorts(20, 2000, rng=0)
    rank = np.argsort(sorts, axis=1)
    labels = np.where(rank[:, 3] == 0, 7, np.where(rank[:, 5] < rank[:, 7], 2, 4))
    rules = find_rules(sorts, labels)
    assert rules.n_conditions == 2
    assert rules.fidelity == 1
    assert not rules.exact  # a sample proves nothing about the other walks
    assert find_rules(sorts, labels, complete=True).exact
    assert (rules.predict(random_sorts(20, 50, rng=1)) >= 2).all()


def test_one_label_and_one_source_need_no_rule():
    rules = find_rules([[0, 1]], [3])
    assert rules.text(names={3: "mean"}) == ["Always: mean."]
    assert rules.context(3).text() == "always"
    assert not rules.exact
    assert find_rules([[0]], [0]).exact
    assert find_rules(all_sorts(3), [0, 0, 1, 1, 1, 1], max_rules=0).fidelity == pytest.approx(
        2 / 3
    )


@pytest.mark.parametrize(
    ("condition", "sources", "text"),
    [
        (Condition(0, top=1), FIVE, "a is the largest"),
        (Condition(0, top=1, negated=True), FIVE, "a is not the largest"),
        (Condition(1, top=2), FIVE, "b is among the top two"),
        (Condition(1, top=2, negated=True), FIVE, "b is not among the top two"),
        (Condition(1, top=3, negated=True), FIVE, "b is among the bottom two"),
        (Condition(1, top=3), FIVE, "b is not among the bottom two"),
        (Condition(4, top=4, negated=True), FIVE, "e is the smallest"),
        (Condition(4, top=4), FIVE, "e is not the smallest"),
        (Condition(2, above=0), SOURCES, "emi is above gpr"),
        (Condition(2, above=0, negated=True), SOURCES, "emi is not above gpr"),
        (Condition(0, top=1), ["a", "b"], "a is the largest"),
        (Condition(0, top=1, negated=True), ["a", "b"], "a is the smallest"),
        (Condition(0, top=12), [f"x{i}" for i in range(30)], "x0 is among the top 12"),
    ],
)
def test_conditions_in_words(condition, sources, text):
    assert condition.text(sources) == text
    sorts = random_sorts(len(sources), 20, rng=0)
    assert condition.holds(sorts).tolist() == [slow_holds(condition, s) for s in sorts.tolist()]


def test_sentences():
    first = Rule((Condition(0, top=1), Condition(1, above=2)), 0, 1 / 6, 1.0)
    second = Rule((Condition(1, top=2, negated=True),), 1, 0.5, 0.9999)
    rules = RuleList((first, second), 0, 3, 0.9, False)
    assert rules.text(SOURCES, ["median"]) == [
        "If gpr is the largest and ir is above emi: median.",
        "Otherwise, if ir is the smallest: operator 1 (right for 99.9 %).",
        "Otherwise: median.",
    ]
    assert rules.context(0).text() == (
        "x1 is the largest and x2 is above x3; or x2 is not the smallest"
    )
    with pytest.raises(SourceError, match="2 source names"):
        rules.text(["a", "b"])


def test_bad_input():
    sorts = all_sorts(3)
    with pytest.raises(DataError, match=r"6 sorts, but labels have the shape \(5,\)"):
        find_rules(sorts, [0] * 5)
    with pytest.raises(DataError, match="no sorts: at least one"):
        find_rules(np.zeros((0, 3), dtype=int), [])
    with pytest.raises(DataError, match="whole numbers"):
        find_rules(sorts, [0.5] * 6)
    with pytest.raises(DataError, match="is no sort"):
        find_rules([[0, 0, 1]], [0])
    with pytest.raises(DataError, match="weights must be ≥ 0"):
        find_rules(sorts, [0] * 6, weights=[-1, 1, 1, 1, 1, 1])
    with pytest.raises(DataError, match="6 values, not 2"):
        find_rules(sorts, [0] * 6, weights=[1, 1])
    with pytest.raises(OptionError, match="max_rules=-1"):
        find_rules(sorts, [0] * 6, max_rules=-1)
    with pytest.raises(OptionError, match="max_conditions=0"):
        find_rules(sorts, [0] * 6, max_conditions=0)
    with pytest.raises(OptionError, match="min_gain=2"):
        find_rules(sorts, [0] * 6, min_gain=2)
    with pytest.raises(OptionError, match="one of top=, above= and value="):
        Condition(0)
    with pytest.raises(OptionError, match="no condition"):
        Condition(1, above=1)
    with pytest.raises(OptionError, match="top=0"):
        Condition(1, top=0)
    with pytest.raises(DataError, match="no condition on 3 sources"):
        Condition(3, top=1).holds(sorts)
    with pytest.raises(DataError, match="no condition on 3 sources"):
        Condition(0, top=3).text(SOURCES)
