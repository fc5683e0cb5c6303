"""Reports: the same content in every form, one file that needs nothing, and no way out of it."""

from __future__ import annotations

import itertools
import json
import re
import struct
import sys
import zlib
from html.parser import HTMLParser

import numpy as np
import pytest

import choquet
from choquet.errors import DataError, FileError, MissingDependencyError, OptionError
from choquet.report import decomposition_html, measure_html
from choquet.report.image import grey_png
from choquet.report.layout import hasse
from tests.fitted import data

HOSTILE = ["<script>alert(1)</script>", "\"'><img src=x onerror=alert(2)>", "</script>🎈|*_`\n# x"]
SENTENCE = "If gpr is the largest, take the median of the three; otherwise take the largest."


def demining(sources=("gpr", "ir", "emi")):
    return choquet.Measure([0, 0, 1, 1, 1, 1, 1, 1], sources=sources)


class Page(HTMLParser):
    """Elements, attributes and texts of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.ids: list[str] = []
        self.script: list[str] = []
        self.inside = ""
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs
        self.ids += [value for key, value in attrs if key == "id"]
        self.inside = tag

    def handle_data(self, data):
        if self.inside == "script":
            self.script.append(data)
            self.inside = ""


@pytest.fixture(scope="module")
def report():
    rng = np.random.default_rng(0)
    X = rng.random((40, 3))
    return choquet.Report(demining(), X, np.median(X, axis=1))


def test_all_forms_say_the_same(report):
    assert json.loads(report.json()) == report.data
    assert SENTENCE in report.html()
    assert SENTENCE in report.markdown()
    assert report.data["model"]["sentences"] == [SENTENCE]


def test_page_needs_nothing_else(report):
    page = Page(report.html())
    links = [v for k, v in page.attributes if k in ("src", "href", "xlink:href", "action")]
    assert all(link.startswith(("#", "data:image/png")) for link in links)
    assert not re.search(r"https?://|url\(|@import", report.html())
    policy = next(v for k, v in page.attributes if k == "content" and "default-src" in v)
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert len(page.ids) == len(set(page.ids))
    assert {"header", "nav", "main", "footer", "h1", "noscript"} <= set(page.tags)


def test_hostile_names_stay_text():
    report = choquet.Report(demining(HOSTILE), [[0.1, 0.5, 0.3]], title=HOSTILE[0])
    text = report.html()
    page = Page(text)
    assert page.tags.count("script") == 2
    assert page.tags.count("img") == 0
    assert not [key for key, _ in page.attributes if key.startswith("on")]
    assert json.loads(page.script[0])["sources"] == HOSTILE
    assert json.loads(report.json())["sources"] == HOSTILE
    markdown = report.markdown()
    assert "<script" not in markdown.replace("\\<", "")
    assert "\n# x" not in markdown
    rows = [line for line in markdown.splitlines() if line.startswith("| ")]
    assert len({len(re.findall(r"(?<!\\)\|", row)) for row in rows}) <= 5  # one for each table
    for part in (
        measure_html(demining(HOSTILE)),
        choquet.decompose(demining(HOSTILE))._repr_html_(),
    ):
        assert {"script", "img"}.isdisjoint(Page(part).tags)


def test_lone_surrogates_do_not_stop_a_report(tmp_path):
    path = tmp_path / "report.html"
    choquet.Report(demining(["a\ud800", "b", "c"])).write_html(path)
    assert b"a?" in path.read_bytes()


@pytest.mark.parametrize("n", [1, 2, 6, 10])
def test_size_stays_small(n):
    rng = np.random.default_rng(n)
    report = choquet.Report(choquet.Measure.random(n, rng=n), rng.random((300, n)))
    assert len(report.html().encode()) < 3_000_000
    assert report.data["explorer"]["available"]
    assert len(report.data["samples"]["rows"]) == 100
    assert report.data["samples"]["n"] == 300


def test_too_many_values_are_left_out_and_said_so():
    measure = choquet.Measure.symmetric(np.full(13, 1 / 13))
    report = choquet.Report(choquet.decompose(measure, method="clodd"))
    assert not report.data["explorer"]["available"]
    assert "2^13" in report.data["explorer"]["note"]
    assert "2^13" in report.html()


def test_operator_of_every_sort_travels_with_the_page():
    rng = np.random.default_rng(0)
    support = choquet.DataSupport.from_data(rng.random((5, 5)))
    decomposition = choquet.decompose(
        choquet.Measure.random(5, rng=1), support=support, method=choquet.Distinct(epsilon=0.8)
    )
    data = choquet.Report(decomposition).data["explorer"]
    width = data["label_width"]
    codes = [data["labels"][k : k + width] for k in range(0, len(data["labels"]), width)]
    found = decomposition.operator_of_sorts(choquet.all_sorts(5))
    assert [int(code, 36) for code in codes] == found.tolist()


def test_samples_and_errors_go_by_the_data(report):
    rows = report.data["samples"]["rows"]
    assert all(row["low"] - 1e-9 <= row["integral"] <= row["high"] + 1e-9 for row in rows)
    assert report.data["errors"]["rows"][0]["n"] == 40
    first = report.data["errors"]["rows"][0]
    truth = [row["target"] for row in rows]
    away = np.array([row["output"] for row in rows]) - truth
    assert first["rmse"] == pytest.approx(np.sqrt(np.mean(away**2)))
    other = np.array([row["operator_output"] for row in rows]) - truth
    assert first["other_rmse"] == pytest.approx(np.sqrt(np.mean(other**2)))
    assert report.data["support"]["by_size"][0]["subsets"] == 3


def test_fitted_model_with_bias_is_reported():
    class Fitted:
        measure_ = choquet.Measure([0, 2.0, -1.0, 3.0], monotone=False, normal=False)
        support_ = choquet.DataSupport.from_data([[0.2, 0.9], [5.0, 2.0]])
        intercept_ = 1.5

    report = choquet.Report(Fitted(), [[0.2, 0.9], [5.0, 2.0]])
    assert "A constant 1.5 is added" in report.html()
    assert report.data["explorer"]["ranges"] == [[0.2, 5.0]] * 2
    assert report.data["samples"]["rows"][0]["low"] is None


def test_files_are_whole_and_not_overwritten(report, tmp_path):
    path = report.write_html(tmp_path / "report.html")
    assert path.read_text(encoding="utf-8") == report.html()
    with pytest.raises(FileError, match="exists"):
        report.write_html(path)
    report.write_html(path, overwrite=True)


def test_objects_show_themselves_in_notebooks(report):
    assert "iframe" in report._repr_html_()
    assert "{gpr, ir}" in demining()._repr_html_()
    decomposition = choquet.decompose(demining())
    assert decomposition._repr_html_() == decomposition_html(decomposition)
    assert SENTENCE in decomposition_html(decomposition)
    many = choquet.decompose(choquet.Measure.random(5, rng=0), method="distinct")
    assert "more operators" in decomposition_html(many)
    assert "more subsets" in measure_html(choquet.Measure.random(6, rng=0))


def test_absent_jinja_is_a_sentence(report, monkeypatch):
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(MissingDependencyError, match=r"choquet\[report\]"):
        report.html()
    assert report.markdown()


def test_wrong_arguments_are_refused():
    with pytest.raises(DataError, match="2 columns"):
        choquet.Report(demining(), [[0.1, 0.2]]).html()
    with pytest.raises(OptionError, match="without X"):
        choquet.Report(demining(), y=[1.0])
    with pytest.raises(DataError, match="y must hold 1"):
        choquet.Report(demining(), [[0.1, 0.2, 0.3]], [1.0, 2.0]).json()
    with pytest.raises(OptionError, match="n_samples=-1"):
        choquet.Report(demining(), n_samples=-1)
    with pytest.raises(DataError, match="cannot decompose"):
        choquet.Report("a model").markdown()


def test_png_can_be_read_back():
    pixels = np.arange(12, dtype=np.uint8).reshape(3, 4)
    data = grey_png(pixels)
    width, height = struct.unpack(">II", data[16:24])
    length = struct.unpack(">I", data[33:37])[0]
    rows = np.frombuffer(zlib.decompress(data[41 : 41 + length]), dtype=np.uint8)
    assert (width, height) == (4, 3)
    np.testing.assert_array_equal(rows.reshape(3, 5)[:, 1:], pixels)
    with pytest.raises(DataError, match="uint8"):
        grey_png(pixels.astype(float))


@pytest.mark.parametrize("n", range(1, 7))
def test_nothing_overlaps_in_the_lattice(n):
    drawn = hasse(n)
    assert len(drawn["nodes"]) == 2**n
    assert len(drawn["edges"]) == n * 2 ** (n - 1)
    for y in {node["y"] for node in drawn["nodes"]}:
        level = sorted((node for node in drawn["nodes"] if node["y"] == y), key=lambda k: k["x"])
        assert level[0]["x"] - level[0]["half"] >= 0
        assert level[-1]["x"] + level[-1]["half"] <= drawn["width"]
        for left, right in itertools.pairwise(level):
            assert left["x"] + left["half"] < right["x"] - right["half"]


@pytest.mark.parametrize("learner", ["ChoquetClassifier", "ChoquetAdditiveClassifier"])
@pytest.mark.parametrize("held_back", [False, True])
def test_a_report_on_rows_of_one_class_is_written(learner, held_back):
    X, y = data()
    model = getattr(choquet, learner)().fit(X, y > 0.6)
    # Rows that the model was not learned from, or some of those it was.
    rows = (1 - X if held_back else X)[(y > 0.6)][:8]
    page = choquet.Report(model, rows, np.ones(8, dtype=bool)).html()
    assert page.startswith("<!doctype html>")


# -- one rule for who is better --------------------------------------------------------------------


def _three_kinds(n=240):
    """Classes each of which rises with a source of its own, and falls with the others."""
    rng = np.random.default_rng(4)
    X = rng.random((n, 3))
    return X, np.array(["low", "mid", "high"])[(X + 0.1 * rng.standard_normal(X.shape)).argmax(1)]


def test_one_class_is_judged_by_its_probability():
    X, y = _three_kinds()
    model = choquet.ChoquetClassifier().fit(X, y)
    part = choquet.of_class(model, "high")
    table = choquet.Report(part, X, y).json()
    quality = json.loads(table)["first"]["quality"]
    rows = {row["key"]: row for row in quality["rows"]}
    chance = part.outcome.probability(part.predict(X))
    assert not quality["numbers"]
    wrong = np.mean((chance > 0.5) != (y == "high"))
    assert rows["model"]["error"] == pytest.approx(wrong, abs=0.02)  # its operators, or itself
    assert rows["mean"]["error"] == pytest.approx(np.mean(y == "high"), abs=0.01)


def test_directions_are_no_advice_where_classes_have_no_order():
    X, y = _three_kinds()
    model = choquet.InUnits(choquet.ChoquetClassifier()).fit(X, y)
    text = choquet.Report(model, X, y).markdown()
    assert "lower-is-better" not in text
    assert "falls where the target rises" not in text


def test_warnings_and_the_verdict_agree():
    """Whoever is clearly better by the differences row by row is so in both sentences."""
    rng = np.random.default_rng(0)
    for noise in (0.02, 0.05, 0.1):
        X = rng.random((150, 3))
        y = X @ [0.5, 0.3, 0.2] + noise * rng.standard_normal(150)
        for model in (choquet.OWARegressor(), choquet.ChoquetRegressor()):
            first = json.loads(choquet.Report(model.fit(X, y), X, y).json())["first"]
            rows = {row["key"]: row for row in first["quality"]["rows"]}
            warned = any("linear model" in text for text in first["warnings"])
            assert warned == (rows["linear"]["beats"] and not rows["mean"]["beats"])
            if warned:
                assert "as accurate as" not in first["quality"]["verdict"]
