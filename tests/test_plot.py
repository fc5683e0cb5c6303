from __future__ import annotations

import functools
import re
import subprocess
import sys
from itertools import combinations
from math import comb, factorial
from pathlib import Path
from types import SimpleNamespace

import matplotlib

import choquet

matplotlib.use("Agg")

import numpy as np
import pytest
from matplotlib import pyplot
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.text import Text

from choquet import (
    DataSupport,
    Measure,
    OperatorGraph,
    OrderStatistic,
    all_sorts,
    datasets,
    decompose,
    plot,
    uniform_distribution,
)
from choquet.certainty import reliability_curve
from choquet.clustering import ivat
from choquet.errors import DataError, OptionError, SourceError
from choquet.plot.evidence import walks_by_missing
from choquet.plot.style import STYLES, spread

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture
def ax():
    return Figure(figsize=(8, 6)).subplots()


@pytest.fixture(autouse=True)
def close_figures():
    yield
    pyplot.close("all")


def decomposition(measure, k):
    """What the pictures ask of a decomposition: image, labels, and operators with shares."""
    graph = OperatorGraph(measure)
    weights = graph.weights()
    picture = ivat(weights, counts=graph.walk_counts)
    labels = picture.cut(k=k)
    operators = []
    for label in range(k):
        made = OrderStatistic(weights[labels == label].mean(axis=0))
        share = float(graph.shares[labels == label].sum())
        operators.append(SimpleNamespace(weights=made.weights, name=made.name, share=share))
    return SimpleNamespace(ivat=picture, labels=labels, operators=operators)


@pytest.mark.parametrize("n", [3, 5])
def test_a_real_decomposition_can_be_drawn(n):
    made = decompose(Measure.random(n, rng=n), method="clodd")
    axes = plot.ivat(made)
    assert len(axes.texts) == len(made.operators)
    assert len(plot.operators(made).containers) == min(len(made.operators), 8)
    panel = plot.compare({"one": made}).child_axes[0]
    assert panel.get_xlabel().startswith(f"{len(made.operators)} operator")
    assert "worst error" in panel.get_xlabel()


def drawn(ax):
    """Draw it, and return the renderer that knows how large everything is."""
    canvas = FigureCanvasAgg(ax.figure)
    canvas.draw()
    return canvas.get_renderer()


def touching(boxes):
    return [
        (i, j)
        for (i, a), (j, b) in combinations(enumerate(boxes), 2)
        if a.x0 < b.x1 and b.x0 < a.x1 and a.y0 < b.y1 and b.y0 < a.y1
    ]


# -- every picture ---------------------------------------------------------------------------------


def everything():
    g = datasets.make_noise_measure()
    support = DataSupport.from_data(np.random.default_rng(0).random((9, 5)))
    apart = decomposition(g, 4)
    return {
        "compare": ([apart, apart.ivat],),
        "coverage": (support,),
        "distribution": (g,),
        "hasse": (g,),
        "indices": (g,),
        "ivat": (apart,),
        "operator_graph": (OperatorGraph(g),),
        "operators": (apart,),
        "pair_map": (additive_model(), "x0", "x1"),
        "reliability": (reliability_curve([0.6] * 40 + [0.9] * 40, [True, False] * 40),),
        "selective": ([0.5, 1.0], [0.1, 0.2]),
        "support": (support,),
        "utility": (additive_model(), "x0"),
    }


@functools.cache
def additive_model():
    X = np.random.default_rng(0).random((200, 2))
    return choquet.ChoquetAdditiveRegressor(link="add").fit(X, X.min(axis=1))


def test_every_picture_is_tested():
    assert sorted(everything()) == plot.__all__


@pytest.mark.parametrize("name", plot.__all__)
def test_given_axes_are_used_and_returned(name, ax):
    arguments = everything()[name]
    assert getattr(plot, name)(*arguments, ax=ax) is ax
    assert not pyplot.get_fignums()
    drawn(ax)
    labelled = [a for a in (ax, *ax.child_axes) if a.get_xlabel() or a.get_ylabel()]
    assert labelled


@pytest.mark.parametrize("name", plot.__all__)
def test_new_axes_are_made(name):
    arguments = everything()[name]
    made = getattr(plot, name)(*arguments)
    assert made.figure.number in pyplot.get_fignums()
    drawn(made)


def test_colours_never_speak_alone():
    assert len({style.colour for style in STYLES}) == len(STYLES)
    assert len({style.hatch for style in STYLES}) == len(STYLES)
    assert len({str(style.line) for style in STYLES}) == len(STYLES)
    assert len({style.marker for style in STYLES}) == len(STYLES)


def test_hostile_names_are_shown_as_they_are(ax):
    names = ["$a$", "_b", "<script>"]
    g = Measure.random(3, rng=0, sources=names)
    plot.hasse(g, walks=[names], ax=ax)
    drawn(ax)
    assert "walk $a$ > _b > <script>" in [t.get_text() for t in ax.get_legend().get_texts()]
    plot.indices(g, ax=Figure().subplots())


def test_without_matplotlib_there_is_a_sentence():
    code = (
        "import sys; sys.modules['matplotlib'] = None\n"
        "import choquet\n"
        "try:\n    choquet.plot\n"
        "except choquet.errors.MissingDependencyError as error:\n    print(error)\n"
        "choquet.nothing"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)
    assert done.stdout == "Plots need matplotlib: pip install 'choquet[plot]'\n"
    assert "has no attribute 'nothing'" in done.stderr


@pytest.mark.parametrize("page", ["datasets.md", "pictures.md"])
def test_examples_of_the_pages_run(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / page).read_text("utf-8"), re.S)
    assert blocks
    names: dict[str, object] = {}
    for block in blocks:
        exec(compile(block, page, "exec"), names)


# -- the Hasse diagram -----------------------------------------------------------------------------


@pytest.mark.parametrize("size", [None, (6.4, 4.8)])
@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 6, 7])
def test_hasse_labels_do_not_overlap(n, size):
    names = ["CaffeNet", "GoogleNet", "ResNet50", "ResNet101", "DenseNet", "Inception", "Xception"]
    g = Measure.random(n, rng=n, sources=names[:n])
    walks = [range(n), list(reversed(range(n)))]
    support = DataSupport.from_data(np.random.default_rng(n).random((2, n)))
    axes = None if size is None else Figure(figsize=size, layout="constrained").subplots()
    axes = plot.hasse(g, support=support, walks=walks, ax=axes)
    renderer = drawn(axes)
    boxes = [text.get_bbox_patch().get_window_extent(renderer) for text in axes.texts]
    dots = [c for c in axes.collections if str(c.get_gid()).endswith("subsets")]
    assert len(boxes) + sum(len(c.get_offsets()) for c in dots) == 2**n
    assert not dots or (n == 7 and size is not None)  # too small for letters
    assert touching(boxes) == []
    legend = axes.get_legend().get_window_extent(renderer)
    assert touching([legend, *boxes]) == []
    figure = axes.figure.bbox
    assert all(box.x0 >= figure.x0 and box.x1 <= figure.x1 for box in boxes)
    if size is None:
        assert min(text.get_fontsize() for text in axes.texts) >= 6.5


def test_hasse_holds_every_subset_and_step(ax):
    g = Measure.random(4, rng=1)
    plot.hasse(g, ax=ax)
    texts = {text.get_text() for text in ax.texts}
    assert len(texts) == 16
    assert "∅\n0.00" in texts
    assert "X\n1.00" in texts
    steps, missing = ax.collections
    assert len(steps.get_segments()) == 4 * 2**3
    assert len(missing.get_segments()) == 0
    assert ax.get_legend() is None


def test_hasse_dashes_what_no_sample_supports(ax):
    g = datasets.make_demining().measure
    support = DataSupport.from_data([[0.9, 0.5, 0.1]])
    plot.hasse(g, support=support, walks=[["gpr", "ir", "emi"], [2, 1, 0], [0, 2, 1]], ax=ax)
    by_name = {text.get_text().split("\n")[0]: text.get_bbox_patch() for text in ax.texts}
    solid = {name for name, box in by_name.items() if box.get_linestyle() in ("-", "solid")}
    assert solid == {"∅", "gpr", "gpr, ir", "gpr, ir, emi"}
    steps, missing = ax.collections
    assert (len(steps.get_segments()), len(missing.get_segments())) == (3, 9)
    walks = [line for line in ax.lines if line.get_gid() == "walk"]
    assert [line.get_linestyle() for line in walks] == ["-", ":", "--"]
    entries = [text.get_text() for text in ax.get_legend().get_texts()]
    assert entries == [
        "walk gpr > ir > emi: observed",
        "walk emi > ir > gpr: unobserved",
        "walk gpr > emi > ir: partly observed (Φ = 0.5)",
        "subset that no sample supports",
    ]
    assert walks[0].get_ydata().tolist() == [0, 1, 2, 3]


def test_hasse_of_regression_measures_and_long_values(ax):
    g = Measure([0, -54.6, 12345.0, 3.0], monotone=False, normal=False)
    plot.hasse(g, ax=ax)
    assert "x1\n-54.6" in {text.get_text() for text in ax.texts}


def test_hasse_refuses(ax):
    g = Measure.random(3, rng=0)
    with pytest.raises(DataError, match="support is of 2 sources"):
        plot.hasse(g, support=DataSupport.empty(2), ax=ax)
    with pytest.raises(DataError, match="names all 3 sources"):
        plot.hasse(g, walks=[["x1", "x2"]], ax=ax)
    with pytest.raises(SourceError, match="no source is named 'x9'"):
        plot.hasse(g, walks=[["x1", "x2", "x9"]], ax=ax)


# -- the operator graph ----------------------------------------------------------------------------


def test_beyond_seven_sources_the_operator_graph_is_drawn(ax):
    g = Measure.random(8, rng=0)
    plot.hasse(g, walks=[range(8)], ax=ax)
    assert [text.get_text() for text in ax.texts] == [str(comb(8, k)) for k in range(9)]
    assert f"{factorial(8):,} operators" in ax.get_title()
    (walk,) = ax.lines
    np.testing.assert_allclose(walk.get_ydata(), [g(range(k)) for k in range(9)])
    lines = ax.collections[0]
    assert len(lines.get_segments()) == OperatorGraph(g).n_edges


def test_states_stand_at_their_values(ax):
    support = DataSupport.from_data(np.random.default_rng(0).random((4, 5)))
    graph = OperatorGraph(datasets.make_noise_measure(), support, epsilon=0.6)
    plot.operator_graph(graph, ax=ax)
    heights = {
        (round(x), round(float(y), 9))
        for points in ax.collections[1:]
        for x, y in points.get_offsets()
    }
    paths = np.cumsum(graph.weights(), axis=1)
    expected = {(0, 0.0)} | {
        (j + 1, round(float(value), 9)) for row in paths for j, value in enumerate(row)
    }
    assert heights == expected


def test_large_graphs_become_densities(ax, monkeypatch):
    monkeypatch.setattr("choquet.plot.graph_diagram._MAX_LINES", 100)
    plot.operator_graph(OperatorGraph(Measure.random(6, rng=0)), ax=ax)
    assert len(ax.images) == 7
    assert not ax.collections
    drawn(ax)


def test_a_graph_without_walks_is_refused(ax):
    graph = OperatorGraph(Measure.random(3, rng=0), DataSupport.empty(3))
    with pytest.raises(DataError, match="no walk is supported"):
        plot.operator_graph(graph, ax=ax)


# -- iVAT ------------------------------------------------------------------------------------------


def test_ivat_has_a_box_and_a_name_for_every_cluster(ax):
    apart = decomposition(datasets.make_noise_measure(), 4)
    plot.ivat(apart, ax=ax)
    (image,) = ax.images
    assert image.get_array().shape == (120, 120)
    widths = sorted(box.get_width() for box in ax.patches)
    np.testing.assert_allclose(widths, np.array([16, 28, 32, 44]) / 120)
    assert {text.get_text().split("\n")[1] for text in ax.texts} == {"13%", "23%", "27%", "37%"}
    bar = ax.child_axes[0]
    assert bar.get_xlabel() == "iVAT dissimilarity (rms)"


@pytest.mark.parametrize("k", [1, 6, 24])
def test_names_beside_the_image_do_not_overlap(k):
    axes = plot.ivat(decomposition(Measure.random(5, rng=2), k))
    renderer = drawn(axes)
    # Of the letters alone: an annotation counts its line as well.
    boxes = [Text.get_window_extent(text, renderer) for text in axes.texts]
    assert len(boxes) == k
    if k < 20:
        assert touching(boxes) == []
    figure = axes.figure.bbox
    assert all(box.x1 <= figure.x1 and box.y1 <= figure.y1 + 1 for box in boxes)


def test_ivat_of_points_with_labels(ax):
    picture = ivat([[1, 0], [0, 1], [0.9, 0.1]], metric="l1")
    plot.ivat(picture, labels=[0, -1, 0], size=30, scale=2.0, ax=ax)
    assert ax.images[0].get_array().shape == (30, 30)
    assert ax.images[0].get_clim() == (0, 2)
    assert [box.get_width() for box in ax.patches] == [pytest.approx(2 / 3)]
    assert [text.get_text() for text in ax.texts] == ["cluster 1"]
    bare = plot.ivat(picture, ax=Figure().subplots())
    assert not bare.patches
    without = plot.ivat(picture, labels=[0, 1, 0], boxes=False, ax=Figure().subplots())
    assert not without.patches


def test_clusters_that_are_not_together_have_several_boxes(ax):
    picture = ivat([[1, 0], [0.9, 0.1], [0, 1]], metric="l1")
    labels = np.empty(3, dtype=int)
    labels[picture.order] = [0, 1, 0]
    plot.ivat(picture, labels=labels, ax=ax)
    assert len(ax.patches) == 3
    assert len(ax.texts) == 2


def test_one_operator_is_black(ax):
    plot.ivat(ivat([[1, 0], [1, 0]]), ax=ax)
    assert ax.images[0].get_clim() == (0, 1)
    assert not ax.images[0].get_array().any()


def test_bad_images(ax):
    picture = ivat([[1, 0], [0, 1]])
    with pytest.raises(DataError, match="not Measure; make one"):
        plot.ivat(Measure.random(2, rng=0), ax=ax)
    with pytest.raises(DataError, match=r"shape \(3,\) do not fit an image of 2 points"):
        plot.ivat(picture, labels=[0, 1, 2], ax=ax)
    with pytest.raises(OptionError, match="scale=0"):
        plot.ivat(picture, scale=0, ax=ax)
    with pytest.raises(DataError, match="nothing to compare"):
        plot.compare([], ax=ax)
    with pytest.raises(OptionError, match="one dissimilarity, not l1, rms"):
        plot.compare([picture, ivat([[1, 0], [0, 1]], metric="l1")], ax=ax)


def test_compare_has_one_scale():
    apart = {f"({c})": decomposition(Measure.random(4, rng=k), 3) for k, c in enumerate("abcdef")}
    axes = plot.compare(apart)
    panels = axes.child_axes[:-1]
    assert [panel.get_title() for panel in panels] == list(apart)
    assert len({panel.images[0].get_clim() for panel in panels}) == 1
    largest = max(d.ivat.heights.max() for d in apart.values())
    assert panels[0].images[0].get_clim() == (0, largest)
    assert panels[0].get_xlabel() == "3 operators"
    renderer = drawn(axes)
    assert touching([panel.get_tightbbox(renderer) for panel in axes.child_axes]) == []


# -- bars ------------------------------------------------------------------------------------------


def test_operators_by_rank(ax):
    plot.operators([OrderStatistic([0, 1, 0]), [0.5, 0.3, 0.2]], ax=ax)
    heights = [[bar.get_height() for bar in bars] for bars in ax.containers]
    assert heights == [[0, 1, 0], [0.5, 0.3, 0.2]]
    assert len({bars[0].get_hatch() for bars in ax.containers}) == 2
    entries = [text.get_text() for text in ax.get_legend().get_texts()]
    assert entries[0] == "1: median"
    assert len({round(bars[0].get_x(), 9) for bars in ax.containers}) == 2


def test_too_many_operators_are_cut_to_the_largest_shares(ax):
    graph = OperatorGraph(datasets.make_noise_measure())
    plot.operators(graph, max_operators=2, ax=ax)
    assert len(ax.containers) == 2
    assert ax.get_title() == "2 of 4 operators, largest shares"
    entries = [text.get_text() for text in ax.get_legend().get_texts()]
    assert [entry.rsplit(", ")[1] for entry in entries] == ["37% of walks", "27% of walks"]


def test_bad_operators(ax):
    with pytest.raises(DataError, match="no operator"):
        plot.operators([], ax=ax)
    with pytest.raises(DataError, match=r"\[2, 3\] sources"):
        plot.operators([[1, 0], [1, 0, 0]], ax=ax)
    with pytest.raises(OptionError, match="max_operators=0"):
        plot.operators([[1, 0]], max_operators=0, ax=ax)


@pytest.mark.parametrize("n", [1, 2, 7, 12])
def test_indices(n, ax):
    g = Measure.random(n, rng=n, kind="belief")
    plot.indices(g, ax=ax)
    bars, cells, scale = ax.child_axes
    assert len(bars.patches) == n
    assert sum(bar.get_width() for bar in bars.patches) == pytest.approx(1)
    assert [tick.get_text() for tick in bars.get_yticklabels()] == list(g.sources)
    assert len(cells.texts) == (n * (n - 1) if n <= 10 else 0)
    assert "interaction" in scale.get_ylabel()
    renderer = drawn(ax)
    assert touching([text.get_window_extent(renderer) for text in cells.texts]) == []


def test_negative_interaction_is_hatched_where_there_are_no_numbers(ax):
    g = Measure.symmetric(np.eye(11)[0])  # the maximum: every pair replaces each other
    plot.indices(g, ax=ax)
    assert len(ax.child_axes[1].patches) == 11 * 10


# -- support and coverage --------------------------------------------------------------------------


@pytest.mark.parametrize("n", [2, 5, 12])
def test_support_by_size(n, ax):
    X = np.random.default_rng(n).random((6, n))
    support = DataSupport.from_data(X)
    plot.support(support, ax=ax)
    assert len(ax.patches) == 2 * (n - 1)
    seen = sum(int(text.get_text().split(" of ")[0].replace(",", "")) for text in ax.texts)
    assert seen == support.n_supported
    points = plot.support(support, show="samples", ax=Figure().subplots())
    offsets = points.collections[-1].get_offsets()
    assert sorted(offsets[:, 1]) == sorted(support.counts)
    assert points.get_ylabel() == "samples"
    information = plot.support(support, show="information", ax=Figure().subplots())
    assert "squared gaps" in information.get_ylabel()


def test_support_of_very_many_sources(ax):
    X = np.random.default_rng(0).random((5, 40))
    plot.support(DataSupport.from_data(X), show="information", ax=ax)
    plot.coverage(DataSupport.from_data(X), ax=Figure().subplots())
    plot.support(DataSupport.empty(4), show="samples", ax=Figure().subplots())


def test_bad_support(ax):
    with pytest.raises(OptionError, match="subsets, samples, information"):
        plot.support(DataSupport.empty(3), show="walks", ax=ax)
    with pytest.raises(DataError, match="single source"):
        plot.support(DataSupport.empty(1), ax=ax)
    with pytest.raises(DataError, match="no support"):
        plot.coverage(OperatorGraph(Measure.random(3, rng=0)), ax=ax)


@pytest.mark.parametrize("n", [1, 2, 3, 5, 6])
def test_walks_by_missing_against_enumeration(n):
    support = DataSupport.from_data(np.random.default_rng(n).random((4, n)))
    missing = support.unsupported_steps(all_sorts(n)).sum(axis=1)
    shares, exact = walks_by_missing(support)
    assert exact
    np.testing.assert_allclose(shares, np.bincount(missing, minlength=n) / factorial(n))


def test_sampled_coverage_agrees_with_the_exact_one(monkeypatch):
    support = DataSupport.from_data(np.random.default_rng(0).random((20, 6)))
    exact, _ = walks_by_missing(support)
    monkeypatch.setattr("choquet.plot.evidence._MAX_EXACT", 5)
    sampled, is_exact = walks_by_missing(support)
    assert not is_exact
    np.testing.assert_allclose(sampled, exact, atol=0.01)
    assert "random walks" in plot.coverage(support, ax=Figure().subplots()).get_title()


@pytest.mark.parametrize("epsilon", [0, 0.3, 0.6, 1.1])
def test_coverage_marks_what_a_graph_keeps(epsilon, ax):
    support = DataSupport.from_data(np.random.default_rng(3).random((6, 5)))
    graph = OperatorGraph(Measure.random(5, rng=0), support, epsilon=epsilon)
    plot.coverage(graph, ax=ax)
    kept = sum(bar.get_height() for bar in ax.patches if not bar.get_hatch())
    assert kept == pytest.approx(graph.n_walks / 120)
    assert ax.get_title() == f"{len(support.observed_sorts)} of 120 walks observed whole"


# -- curves ----------------------------------------------------------------------------------------


def test_selective_curves_lie_over_each_other(ax):
    plot.selective([1.0, 0.5], [0.2, 0.1], ax=ax)
    assert ax.get_legend() is None
    assert ax.lines[0].get_xdata().tolist() == [0.5, 1.0]
    curve = SimpleNamespace(accepted=[0.2, 1.0], error=[0.0, 0.3])
    plot.selective(curve, name="interval", ax=ax)
    assert [t.get_text() for t in ax.get_legend().get_texts()] == ["curve 1", "interval"]
    assert ax.lines[0].get_linestyle() != ax.lines[1].get_linestyle()
    assert ax.get_ylim()[0] == 0
    with pytest.raises(DataError, match="not list alone"):
        plot.selective([0.1, 0.2], ax=ax)
    with pytest.raises(DataError, match="must hold 2 values, not 1"):
        plot.selective([0.1, 0.2], [0.3], ax=ax)
    with pytest.raises(DataError, match=r"lie in \[0, 1\]"):
        plot.selective([0.1, 1.2], [0.3, 0.3], ax=ax)


def test_reliability_curves_lie_over_each_other(ax):
    told, right = [0.6] * 30 + [0.9] * 30, [True, False] * 15 + [True] * 27 + [False] * 3
    plot.reliability(reliability_curve(told, right), ax=ax)
    drawn = [line for line in ax.lines if line.get_gid() == "reliability"]
    assert drawn[0].get_xdata().tolist() == pytest.approx([0.6, 0.9])
    assert drawn[0].get_ydata().tolist() == pytest.approx([0.5, 0.9])
    assert ax.get_title().startswith("mean distance 5 points on 60 samples")
    assert ax.get_legend() is None
    plot.reliability(reliability_curve([0.3] * 20, [True] * 20), name="other", ax=ax)
    assert [t.get_text() for t in ax.get_legend().get_texts()] == ["curve 1", "other"]
    assert ax.get_xlim() == ax.get_ylim()
    assert ax.get_xlim()[0] < 0.3
    with pytest.raises(DataError, match="reliability_curve returns, not list"):
        plot.reliability([0.1, 0.2], ax=ax)


def test_distribution_exact_and_sampled(ax, monkeypatch):
    g = Measure.random(4, rng=0)
    plot.distribution(g, ax=ax)
    points, density = ax.lines[0].get_data()
    np.testing.assert_allclose(density, uniform_distribution(g).pdf(points))
    assert "samples" not in ax.get_title()
    monkeypatch.setattr("choquet.plot.curves._MAX_OPERATORS", 1)
    sampled = plot.distribution(g, ax=Figure().subplots())
    assert "200,000 samples" in sampled.get_title()
    np.testing.assert_allclose(sampled.lines[0].get_ydata(), density, atol=0.15)


def test_labels_are_spread():
    places = spread(np.array([0.0, 0.1, 0.2, 9.9, 10.0]), 1.0, 0.0, 10.0)
    assert (np.diff(places) >= 1 - 1e-12).all()
    assert places[0] >= 0
    assert places[-1] <= 10
    assert spread(np.array([5.0]), 20.0, 0.0, 10.0).tolist() == [5.0]
    np.testing.assert_allclose(spread(np.zeros(3), 9.0, 0.0, 10.0), [0, 5, 10])
    assert len(spread(np.array([]), 1.0, 0.0, 1.0)) == 0
