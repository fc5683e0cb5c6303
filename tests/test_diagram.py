from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from choquet import DataSupport, Measure, OperatorGraph, all_sorts, random_sorts
from choquet.contexts.diagram import Diagram
from choquet.errors import DataError, OptionError, TooLargeError
from tests.strategies import measures, measures_with_inputs


def demining() -> OperatorGraph:
    return OperatorGraph(Measure([0, 0, 1, 1, 1, 1, 1, 1]))


@given(measures())
def test_numbers_are_those_of_the_graph(g):
    graph, sorts = OperatorGraph(g), all_sorts(g.n_sources)
    diagram = Diagram.build(graph)
    np.testing.assert_array_equal(diagram.index(sorts), graph.index(sorts))
    assert Diagram.from_arrays(diagram.to_arrays()) == diagram


@given(measures(), st.integers(1, 4), st.integers(0, 2**31))
def test_labels_are_those_of_the_operators(g, n_labels, seed):
    graph, sorts = OperatorGraph(g), all_sorts(g.n_sources)
    labels = np.random.default_rng(seed).integers(-1, n_labels, graph.n_operators)
    diagram = Diagram.build(graph, labels)
    np.testing.assert_array_equal(diagram.index(sorts), labels[graph.index(sorts)])
    assert Diagram.from_arrays(diagram.to_arrays()) == diagram


@given(measures_with_inputs(min_sources=2), st.sampled_from([0.0, 0.4, 0.7]), st.integers(0, 99))
def test_supported_walks_keep_their_operators(case, epsilon, seed):
    g, X = case
    graph = OperatorGraph(g, DataSupport.from_data(X), epsilon=epsilon)
    sorts = all_sorts(g.n_sources)
    numbers = graph.index(sorts)
    if not graph.n_operators:
        with pytest.raises(DataError, match="no walk"):
            Diagram.build(graph)
        return
    kept = numbers >= 0
    np.testing.assert_array_equal(Diagram.build(graph).index(sorts)[kept], numbers[kept])
    labels = np.random.default_rng(seed).integers(0, 3, graph.n_operators)
    named = Diagram.build(graph, labels).index(sorts)
    np.testing.assert_array_equal(named[kept], labels[numbers[kept]])
    assert set(named) <= set(labels)


def test_a_symmetric_measure_is_a_chain():
    diagram = Diagram.build(OperatorGraph(Measure.symmetric(np.full(20, 0.05))))
    assert diagram.n_nodes == diagram.n_numbers == 21
    assert (diagram.index(random_sorts(20, 5, rng=0)) == 0).all()


@pytest.mark.parametrize("size", [4, 6])
def test_a_p_symmetric_measure_counts_groups_not_subsets(size):
    n = 2 * size
    masks = np.arange(1 << n)
    in_first = np.bitwise_count(masks & ((1 << size) - 1))
    in_second = np.bitwise_count(masks >> size)
    g = Measure((3.0 * in_first + in_second + in_first * in_second / 9) / (4 * size + size**2 / 9))
    graph = OperatorGraph(g)
    diagram = Diagram.build(graph)
    # One node for each pair of counts at most: (size + 1)² of them.
    assert diagram.n_nodes <= (size + 1) ** 2
    sorts = random_sorts(n, 500, rng=1)
    np.testing.assert_array_equal(diagram.index(sorts), graph.index(sorts))


def test_the_diagram_of_a_random_measure_is_exact():
    graph = OperatorGraph(Measure.random(7, rng=0))
    diagram, sorts = Diagram.build(graph), all_sorts(7)
    np.testing.assert_array_equal(diagram.index(sorts), graph.index(sorts))


def test_demining_needs_two_paths():
    diagram = Diagram.build(demining(), [5, 9])
    assert diagram.index([[0, 1, 2], [1, 0, 2]]).tolist() == [5, 9]
    assert diagram.n_nodes == 7
    assert diagram.exception_source.tolist() == [0]
    assert diagram != Diagram.build(demining(), [9, 5])
    assert diagram != "diagram"


def test_one_source():
    assert Diagram.build(OperatorGraph(Measure([0, 1])), [3]).index([[0]]).tolist() == [3]


def test_bad_input():
    graph = demining()
    with pytest.raises(DataError, match=r"2 operators, but labels have the shape \(3,\)"):
        Diagram.build(graph, [0, 1, 2])
    with pytest.raises(DataError, match="whole numbers, not float64"):
        Diagram.build(graph, [0.5, 1])
    with pytest.raises(OptionError, match="max_nodes=0"):
        Diagram.build(graph, max_nodes=0)
    with pytest.raises(TooLargeError, match="more than max_nodes=3"):
        Diagram.build(OperatorGraph(Measure.random(4, rng=0)), max_nodes=3)
    with pytest.raises(DataError, match="3 entries, not 2"):
        Diagram.build(graph, [0, 1]).index([[0, 1]])


def test_damaged_arrays_are_refused():
    arrays = Diagram.build(demining(), [0, 1]).to_arrays()
    for name, value in (
        ("default", arrays["default"][:-1]),
        ("default", np.zeros_like(arrays["default"])),
        ("exception_child", arrays["exception_child"] + 100),
        ("exception_source", arrays["exception_source"] + 3),
        ("default_weight", np.array([1])),
        ("n_sources", np.array([2])),
        ("labels", arrays["labels"][:-1]),
    ):
        with pytest.raises(DataError, match="no diagram"):
            Diagram.from_arrays(arrays | {name: value})
    with pytest.raises(DataError, match="'labels', which is missing"):
        Diagram.from_arrays({k: v for k, v in arrays.items() if k != "labels"})
    with pytest.raises(DataError, match="whole numbers"):
        Diagram.from_arrays(arrays | {"labels": np.array([0.5, 1.0])})
    with pytest.raises(DataError, match="one number"):
        Diagram.from_arrays(arrays | {"n_sources": np.array([3, 3])})
