"""What people read: no jargon without an explanation, no numbers that only machines write."""

from __future__ import annotations

import re
import warnings
from html.parser import HTMLParser

import numpy as np
import pandas
import pytest

import choquet
from choquet.decide import cars
from choquet.decide.summary import summarise_conflict
from choquet.report.deciding import decision_page
from choquet.scales import figure
from tests.commands import runner

EXPLAINED = ("orness", "ivat", "shapley value", "subset", "interaction", "context")
"""Terms of art that may be used after a <dfn> said what they are."""

BANNED = (
    "walk", "walks", "banzhaf", "lattice", "sort", "sorts", "penalty", "möbius", "k-additive",
    "common scale", "monotone", "integral", "pin down", "medoid", "gSAMP", "phi", "Φ",
)  # fmt: skip
"""Terms of art that a report does without."""

NUMBERS = (
    r"\d[eE][+-]?\d",
    r"\bnan\b",
    r"\binf\b",
    r"\bNone\b",
    r"\b-0\b(?!\.)",
    r"[1-9]\d*\.\d{6}",
    r"\b0\.0*[1-9]\d{6}",
)
"""Numbers as people do not write them."""


class Read(HTMLParser):
    """The texts of a page, and which of them explain a term."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.texts: list[tuple[str, bool]] = []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        if tag not in ("meta", "input", "br", "rect", "line", "image"):
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        pass

    def handle_endtag(self, tag):
        if tag in self.open:
            while self.open.pop() != tag:
                pass

    def handle_data(self, data):
        if not {"script", "style"} & set(self.open):
            self.texts.append((data, "dfn" in self.open))


def made(kind: str) -> choquet.Report:
    """One page of each kind."""
    rng = np.random.default_rng(0)
    X = pandas.DataFrame(rng.random((80, 3)), columns=["ir", "gpr", "emi"])
    y = np.where(X.ir > X.gpr, X.max(axis=1), X.median(axis=1))
    wide = pandas.DataFrame(X.to_numpy() * [1e5, 2.0, 300.0] + [0, 0, 20], columns=X.columns)
    label = np.where(y > 0.5, "yes", "no")
    scores = np.stack([X.to_numpy(), 1 - X.to_numpy()], axis=1)
    if kind == "measure":
        return choquet.Report(choquet.Measure([0, 0, 1, 1, 1, 1, 1, 1]), X.to_numpy())
    if kind == "clusters":
        random = choquet.Measure.random(4, rng=0)
        return choquet.Report(choquet.decompose(random, method="clodd"))
    if kind == "regressor":
        return choquet.Report(choquet.ChoquetRegressor().fit(X[:60], y[:60]), X, y)
    if kind == "units":
        return choquet.Report(choquet.InUnits().fit(wide, 5e4 * y), wide, 5e4 * y)
    if kind == "contextual":
        return choquet.Report(choquet.ContextualRegressor(max_leaves=3).fit(X, y), X, y)
    if kind == "classifier":
        model = choquet.ContextualClassifier(max_leaves=2).fit(X, label)
        return choquet.Report(model, X, label)
    if kind == "sum":
        wide["emi"] = np.where(X.emi > 0.5, "high", "low")
        model = choquet.ChoquetAdditiveRegressor(link="add", max_order=2).fit(wide, 5e4 * y)
        return choquet.Report(model, wide, 5e4 * y)
    if kind == "product":
        model = choquet.ChoquetAdditiveRegressor(link=1.0, max_order=1).fit(
            wide[:60], np.exp(y[:60])
        )
        return choquet.Report(model, wide[60:], np.exp(y[60:]))
    if kind == "sum of classes":
        model = choquet.ChoquetAdditiveClassifier(max_order=1).fit(X, label)
        return choquet.Report(model, X, label)
    model = choquet.FusionClassifier(sources=["a", "b", "c"]).fit(scores, label)
    return choquet.Report(model, scores, label)


KINDS = (
    "measure", "clusters", "regressor", "units", "contextual", "classifier", "fusion", "sum",
    "product", "sum of classes",
)  # fmt: skip


@pytest.fixture(scope="module", params=KINDS)
def report(request):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = made(request.param)
        assert found.data["first"]
    return found


def test_pages_explain_their_terms(report):
    texts = Read(report.html()).texts
    whole = " ".join(text for text, _ in texts)
    for term in BANNED:
        found = re.search(rf"\b{term}\b", whole, re.IGNORECASE)
        assert found is None, whole[max(found.start() - 60, 0) : found.end() + 40]
    for term in EXPLAINED:
        for text, explained in texts:
            if re.search(rf"\b{term}", text, re.IGNORECASE) and text.strip() != "Contexts":
                in_place = f"(its {term}" in text or f"(their {term}" in text
                assert explained or in_place, (term, text)
                break


def test_scores_are_explained_and_compared(report):
    quality = report.data["first"]["quality"]
    if quality is None:
        pytest.skip("no results are known")
    page = report.html()
    assert ("R² is the share" in page) == quality["numbers"]
    assert ("Log-loss punishes" in page) != quality["numbers"]
    for row in quality["rows"]:
        shown = row["told"]["error"] if quality["numbers"] else row["told"]["right"]
        assert f"<td>{shown}" in page
        assert "± –" not in page


def test_numbers_are_written_for_people(report):
    whole = " ".join(text for text, _ in Read(report.html()).texts)
    for text in (whole, report.markdown()):
        for pattern in NUMBERS:
            found = re.search(pattern, text)
            assert found is None, text[max(found.start() - 60, 0) : found.end() + 40]


def test_the_first_screen_is_short_and_the_same_everywhere(report):
    first = report.data["first"]
    assert 1 <= len(first["works"]["sentences"]) <= 5
    assert len(first["next"]) <= 5
    page = " ".join(text for text, _ in Read(report.html()).texts)
    page, markdown = " ".join(page.split()), report.markdown().replace("\\", "")
    said = [first["what"], *first["warnings"], *first["works"]["sentences"], first["works"]["cost"]]
    for text in [*said, *first["distrust"]]:
        assert text in page
        assert text in markdown
    for text in first["next"]:  # what is to be typed is code on the page
        typed = "".join(text.replace("`", "").split())
        assert typed in "".join(page.split())
        assert text in markdown
    if first["quality"]:
        keys = [row["key"] for row in first["quality"]["rows"]]
        assert keys[0] == "model"
        assert {"mean", "linear", "single"} <= set(keys) or {"average", "vote"} <= set(keys)


@pytest.mark.parametrize(
    "more", [(), ("safety is a must", "Cito > Faro")], ids=["open", "conflict"]
)
def test_pages_of_decisions_are_plain(more):
    problem = cars().say(*more)
    data = (
        summarise_conflict(problem, problem.check())
        if more
        else problem.solve(samples=100, rng=0).to_dict()
    )
    texts = Read(decision_page(data)).texts
    whole = " ".join(text for text, explained in texts if not explained)
    for term in BANNED:
        found = re.search(rf"\b{term}\b", whole, re.IGNORECASE)
        assert found is None, whole[max(found.start() - 60, 0) : found.end() + 40]
    for pattern in NUMBERS:
        found = re.search(pattern, whole)
        assert found is None, whole[max(found.start() - 60, 0) : found.end() + 40]


@pytest.mark.parametrize(
    ("value", "digits", "text"),
    [
        (8.88e-16, 3, "0"), (-0.0, 3, "0"), (4.59e4, 3, "45,900"), (0.1234567, 3, "0.123"),
        (1984.0, 4, "1984"), (-12345.6, 3, "-12,300"), (2.5e-5, 2, "0.000025"),
        (float("nan"), 3, "–"), (float("inf"), 3, "–"), (None, 3, "–"),
    ],
)  # fmt: skip
def test_figures(value, digits, text):
    assert figure(value, digits) == text


def test_help_is_whole_and_plain(capsys):
    run = runner(capsys)
    text = run("--help").out
    assert "..." not in text.split("Commands:")[1]
    commands = ("fit", "fuse", "predict", "explain", "report", "decompose", "export", "decide")
    for command in (*commands, "compare", "inspect", "reproduce", "demo"):
        told = run(command, "--help").out.replace("--all-walks", "")
        for word in ("Insist", "Say the", "Of a classifier", "Of SQL", "…", "walks"):
            assert word not in told, (command, word)
