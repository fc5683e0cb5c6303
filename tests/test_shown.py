"""Results show themselves: no raw dataclass at the prompt, and escaped HTML in notebooks."""

from __future__ import annotations

import numpy as np
import pytest

import choquet
from choquet.scales import points_scale
from choquet.shown import ShownTuple

EVIL = "<script>alert(1)</script>"


@pytest.fixture(scope="module")
def results():
    rng = np.random.default_rng(0)
    X = rng.random((40, 3))
    X = X[X.argmax(axis=1) != 2]
    measure = choquet.Measure([0, 0, 1, 1, 1, 1, 1, 1], sources=[EVIL, "a & b", "emi"])
    parts = choquet.decompose(measure, support=choquet.DataSupport.from_data(X))
    additive = choquet.ChoquetAdditiveRegressor(max_terms=2, link="add").fit(X, X[:, 0])
    return {
        "model": choquet.explain_model(parts),
        "operator": choquet.explain_operator(parts, 0),
        "sample": choquet.explain_sample(parts, X[0]),
        "requests": choquet.data_to_collect(parts),
        "row": additive.explain(X[:1])[0],
    }


@pytest.mark.parametrize("name", ["model", "operator", "sample", "requests", "row"])
def test_a_result_shows_its_sentences(results, name):
    shown = repr(results[name])
    assert str(results[name]) == shown
    assert "(" not in shown.split()[0]
    assert "array(" not in shown
    html = results[name]._repr_html_()
    assert "<script" not in html
    assert html.count("<p>") + html.count("<li>") == len(shown.splitlines())


def test_names_are_escaped(results):
    for name in ("model", "sample", "requests"):
        assert "&lt;script&gt;" in results[name]._repr_html_()


def test_the_table_of_a_sample_adds_up(results):
    why = results["sample"]
    rows = why._repr_html_().split("<tbody>")[1].split("<tr>")[1:]
    assert len(rows) == 3
    cells = [row.split("<td>") for row in rows]
    given = [float(cell[4].split("<")[0]) for cell in cells]
    assert sum(given) == pytest.approx(why.output, abs=2e-4)


def test_requests_are_a_tuple_and_say_when_they_are_none(results):
    assert isinstance(results["requests"], tuple)
    assert repr(results["requests"]).startswith("1. samples in which")
    none = choquet.data_to_collect(choquet.Measure([0, 0.5, 0.5, 1]))
    assert none == ()
    assert "Nothing is asked for" in repr(none)
    assert "Nothing is asked for" in none._repr_html_()
    assert ShownTuple()._repr_html_() == "<p>Nothing.</p>"


def test_an_answer_shows_its_verdict():
    table = {"site": ["<b>north</b>", "south"], "noise": [0.9, 0.4], "access": [0.3, 0.8]}
    answer = choquet.Decision(table).solve(samples=100, rng=0)
    html = answer._repr_html_()
    assert "<b>" not in html
    assert html.count("<p>") == len(str(answer).splitlines())


def test_large_numbers_of_a_scale_are_written_out():
    scale = points_scale([(34000, 0.0), (14000, 1.0)])
    assert "14,000" in repr(scale)
    assert "e+" not in repr(scale)
