"""Every example of the gallery runs as a user would run it, draws, and says what it is to say."""

from __future__ import annotations

import ast
import runpy
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[1] / "examples"
EXAMPLES = sorted(FOLDER.glob("*.py"))
SAYS = {
    "a_table_in_units": "Less is taken as better of horsepower",
    "choose_and_ask": "Which do you prefer: north or east?",
    "contexts_from_data": "x1 is the largest",
    "fuse_classifiers": "bayes, tree, neighbours and logistic",
    "fuse_sensors": "samples in which gpr is above ir and emi",
    "integral_by_hand": "by hand: 0.71  by choquet: 0.71",
    "operators_of_a_measure": "120 walks, 4 distinct operators",
    "take_apart": "median, 33.3 % of walks: gpr is the largest",
    "weigh_criteria": "Faro is ahead of Bolt, but your eight statements do not settle it.",
}
"""A sentence that an example prints, where it prints one worth a look."""


def test_the_gallery_is_large_enough():
    assert len(EXAMPLES) >= 15
    assert set(SAYS) <= {path.stem for path in EXAMPLES}


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example(path, capsys):
    plt = pytest.importorskip("matplotlib.pyplot")
    pytest.importorskip("pandas")
    plt.switch_backend("agg")
    try:
        runpy.run_path(str(path), run_name="__main__")
        figures = [plt.figure(number) for number in plt.get_fignums()]
        assert figures, "the gallery shows a picture of every example"
        for figure in figures:
            figure.draw_without_rendering()
            drawn = [ax for ax in figure.axes if ax.has_data() or ax.child_axes]
            assert drawn, "a figure is empty"
    finally:
        plt.close("all")
    assert SAYS.get(path.stem, "") in capsys.readouterr().out


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_has_a_title_and_an_introduction(path):
    lines = (ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or "").splitlines()
    title, rule, blank = lines[:3]
    assert rule == "=" * len(title)
    assert blank == ""
    assert len(" ".join(lines[3:])) > 60
