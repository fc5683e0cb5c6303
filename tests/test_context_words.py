"""Every sentence about a context, read back as words and held against the walks it speaks of."""

from __future__ import annotations

import json
import pickle
import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import choquet
from choquet import (
    ChoquetRegressor,
    Clodd,
    Commensurate,
    ContextTree,
    ContextualRegressor,
    Report,
    all_sorts,
    decompose,
)
from choquet.contexts import Condition
from choquet.contexts.logic import possible, shortest
from choquet.datasets import make_noise_measure
from choquet.decomposition import TreeDecomposition
from choquet.explanation import explain_model, explain_operator, view_of
from tests.commands import runner
from tests.strategies import measures

NUMBERS = ["zero", "one", "two", "three", "four", "five", "six"]
CHAINED = re.compile(r"(?:If|Otherwise, if) (.*)|(?:Otherwise|otherwise|Always): .*")
ENDS = re.compile(r"(?:(not) )?(?:the (largest|smallest)|among the (top|bottom) (\w+))$")


def one_condition(text, X, sources):
    """What a condition says, row by row, from its words alone."""
    name, said = re.fullmatch(r"(\S+) is (.+)", text).groups()
    own = X[:, sources.index(name)]
    if said.startswith("at least "):
        return own >= float(said[9:])
    if said.startswith("below "):
        return own < float(said[6:])
    if "above" in said:
        no, other = re.fullmatch(r"(not )?above (\S+)", said).groups()
        return (own > X[:, sources.index(other)]) != bool(no)
    no, end, side, count = ENDS.fullmatch(said).groups()
    larger = (own[:, None] < X).sum(axis=1)
    place = larger if end == "largest" or side == "top" else X.shape[1] - 1 - larger
    return (place < (1 if end else NUMBERS.index(count))) != bool(no)


def all_conditions(text, X, sources):
    return np.all([one_condition(part, X, sources) for part in text.split(" and ")], axis=0)


def holds(text, X, sources):
    """What a context says, row by row: cases with "; or", each with its exceptions."""
    if text in ("always", "never"):
        return np.full(len(X), text == "always")
    found = np.zeros(len(X), dtype=bool)
    for case in text.split("; or "):
        plain, _, exceptions = re.fullmatch(r"(.*?)(, )?(?:unless (.*))?", case).groups()
        here = all_conditions(plain, X, sources) if plain else np.ones(len(X), dtype=bool)
        for part in (exceptions or "").split(", or "):
            here &= ~all_conditions(part, X, sources) if part else True
        found |= here
    return found


def chain(sentences, X, sources, names):
    """Operator of each row by sentences that are read from the top."""
    found = np.full(len(X), -1)
    for sentence in sentences:
        for whole in re.split(r"; (?=otherwise: )", sentence.rstrip(".")):
            part = re.sub(r" \(right for [^)]*\)$", "", whole)
            condition = re.fullmatch(
                r"(?:If|Otherwise, if) (.*)|[Oo]therwise: .*|Always: .*", part
            )[1]
            name = max((n for n in names if part.endswith(f": {n}")), key=len)
            here = np.ones(len(X), dtype=bool)
            if condition is not None:
                here = all_conditions(condition.removesuffix(f": {name}"), X, sources)
            found[here & (found < 0)] = names.index(name)
    return found


def rows_of(sorts):
    """Inputs with these sorts and no ties."""
    X = np.empty(sorts.shape)
    np.put_along_axis(X, sorts, np.arange(sorts.shape[1], 0, -1.0)[None, :], axis=1)
    return X


def check_words(d, X, labels):
    """All that a decomposition says of its contexts."""
    sources = list(d.sources)
    frame = d.to_frame("polars")
    lines = str(d).splitlines()
    for number, operator in enumerate(d.operators):
        here = labels == number
        texts = [str(operator.context), frame["context"][number]]
        if d.n_operators > 1:
            card = explain_operator(d, number)
            texts += [card.context, explain_model(d, n_requests=0).operators[number].context]
            if isinstance(d, TreeDecomposition):
                start = f"  {number + 1}. {operator.name}, "
                line = next(line for line in lines if line.startswith(start))
                texts.append(re.fullmatch(r"[\d.]+ % of \w+: (.*)", line.removeprefix(start))[1])
            assert card.text().count(f"if {card.context}.") == 1
        for text in texts:
            np.testing.assert_array_equal(holds(text, X, sources), here, err_msg=text)
    sentences = d.rules.text(d.sources, d.operator_names)
    told = chain(sentences, X, sources, d.operator_names)
    np.testing.assert_array_equal(told, labels)


@given(measures(min_sources=2, max_sources=5), st.booleans())
@settings(max_examples=20)
def test_words_of_measures_are_true(g, by_clusters):
    d = decompose(g, method=Clodd() if by_clusters else ContextTree())
    sorts = all_sorts(g.n_sources)
    # Rules of clusters may be right for most walks only, and say so; words must be the rules'.
    check_words(d, rows_of(sorts), d.rules.predict(sorts))
    if not by_clusters:
        np.testing.assert_array_equal(d.rules.predict(sorts), d.operator_of_sorts(sorts))


@pytest.fixture(scope="module")
def learned():
    rng = np.random.default_rng(3)
    X = rng.random((300, 4))
    y = np.where(X[:, 0] == X.max(axis=1), X.min(axis=1), X @ [0.4, 0.3, 0.2, 0.1])
    return X, np.where(X[:, 1] > X[:, 2], y, X.max(axis=1)) + 0.02 * rng.standard_normal(300)


@pytest.mark.parametrize("n_cuts", [0, 5])
def test_words_of_what_was_learned_are_true(learned, n_cuts):
    X, y = learned
    Z = np.random.default_rng(4).random((2000, 4))
    model = ContextualRegressor(n_cuts=n_cuts).fit(X, y)
    assert model.n_operators_ > 1
    # Words round thresholds to four digits.
    away = np.abs(Z[:, :, None] - model.decomposition_.tree.value).min(axis=(1, 2), initial=1.0)
    Z = Z[~(away < 1e-3)]
    page = Report(model, X, y).markdown()
    for rule in model.decomposition_.leaves.values():
        assert f"| {rule.text(model.decomposition_.sources)} |" in page
    parts = [model.decomposition_]
    free = ChoquetRegressor(monotone=False, normal=False, fit_intercept=True).fit(X, y)
    parts.append(decompose(free, X, y, method=ContextTree(folds=0)))
    for d in parts:
        if n_cuts and not d.tree.has_thresholds:
            continue
        labels = d.operator_of(Z)
        if d.tree.has_thresholds:
            for number, operator in enumerate(d.operators):
                here = holds(str(operator.context), Z, list(d.sources))
                np.testing.assert_array_equal(here, labels == number)
        else:
            check_words(d, Z, labels)


def test_values_are_told_in_the_units_of_the_data():
    """Of a column that rises, one of which less is better, and one with a best value."""
    rng = np.random.default_rng(0)
    X = rng.uniform([100, 0, 10], [900, 1, 20], (400, 3))
    y = np.where(X[:, 0] > 500, np.where(X[:, 1] > 0.6, 3 * X[:, 2], -X[:, 2]), 5 * X[:, 1])
    directions = {"x1": 450.0, "x2": "lower", "x3": "higher"}
    for scaler in (
        StandardScaler(),
        Commensurate(directions="lower"),
        Commensurate(directions=directions),
    ):
        frame = pd.DataFrame(X, columns=["x1", "x2", "x3"])
        model = make_pipeline(scaler, ContextualRegressor(n_cuts=6)).fit(frame, y)
        d = view_of(model).parts
        assert d.tree.has_thresholds
        Z = rng.uniform([100, 0, 10], [900, 1, 20], (1000, 3))
        scaled = d.scaled(Z)
        away = np.abs(scaled[:, :, None] - d.tree.value)
        Z = Z[~(np.nanmin(away, axis=(1, 2)) < 1e-2)]
        for number, operator in enumerate(d.operators):
            told = in_units(str(operator.context), Z, d.scaled(Z), list(d.sources))
            np.testing.assert_array_equal(told, d.operator_of(Z) == number)
        page = Report(model, frame, y).markdown()
        for rule in d.leaves.values():
            assert f"| {rule.text(d.sources)} |" in page
        again = pickle.loads(pickle.dumps(d))  # noqa: S301 (our own bytes)
        assert [str(one.context) for one in again.operators] == [
            str(one.context) for one in d.operators
        ]


def in_units(text, Z, scaled, sources):
    """What a context says of rows: of ranks on the common scale, of values in the data."""
    found = np.zeros(len(Z), dtype=bool)
    for case in text.split("; or "):
        here = np.ones(len(Z), dtype=bool)
        for part in re.split(r" and (?=x\d is )", case):
            value = re.fullmatch(
                r"(x\d) is (?:(at least|at most|below|above) ([\d.,]+)|between ([\d.,]+) and "
                r"([\d.,]+)|below ([\d.,]+) or above ([\d.,]+))",
                part,
            )
            if value is None:
                here &= one_condition(part, scaled, sources)
                continue
            name, how, one, *ends = value.groups()
            own, numbers = Z[:, sources.index(name)], [float(e) for e in ends if e]
            here &= (
                {
                    "at least": lambda x, c: x >= c,
                    "at most": lambda x, c: x <= c,
                    "below": lambda x, c: x < c,
                    "above": lambda x, c: x > c,
                }[how](own, float(one))
                if how
                else (((own >= numbers[0]) & (own <= numbers[1])) == (ends[0] is not None))
            )
        found |= here
    return found


def test_contexts_of_reports_and_commands_are_complete(tmp_path, capsys):
    d = decompose(make_noise_measure())
    sources, sorts = list(d.sources), all_sorts(5)
    X, labels = rows_of(sorts), d.operator_of_sorts(sorts)
    report = Report(d)
    data = json.loads(report.json())
    cards = data["model"]["operators"]
    assert len(cards) == 4
    for card in cards:
        told = holds(card["context"], X, sources)
        np.testing.assert_array_equal(told, labels == card["number"])
    found = np.zeros(len(X), dtype=int)
    for leaf in (node for node in data["tree"] if node["question"] is None):
        here = holds(leaf["rule"], X, sources)
        assert (labels[here] == leaf["operator"]).all()
        assert leaf["share"] == pytest.approx(here.mean())
        assert leaf["weight"] == here.sum()
        found += here
        assert leaf["rule"] in report.markdown()
    assert (found == 1).all()
    choquet.save(d, tmp_path / "parts.json")
    run = runner(capsys)
    lines = run("decompose", tmp_path / "parts.json").out.replace("\n", " ")
    for operator in d.operators:
        assert str(operator.context) in re.sub(r" +", " ", lines)
    for row in run("decompose", tmp_path / "parts.json", "--json").json()["operators"]:
        np.testing.assert_array_equal(holds(row["context"], X, sources), labels == row["number"])


# -- which conditions can hold together ------------------------------------------------------------


@st.composite
def conditions(draw):
    n = draw(st.integers(2, 5))
    found = []
    for _ in range(draw(st.integers(1, 6))):
        source = draw(st.integers(0, n - 1))
        negated = draw(st.booleans())
        if draw(st.booleans()):
            other = (source + draw(st.integers(1, n - 1))) % n
            found.append(Condition(source, above=other, negated=negated))
        else:
            found.append(
                Condition(source, top=draw(st.integers(1, max(n - 1, 1))), negated=negated)
            )
    return n, found


@given(conditions())
@settings(max_examples=300)
def test_what_is_possible_is_what_some_sort_does(made):
    n, asked = made
    held = np.all([one.holds(all_sorts(n)) for one in asked], axis=0)
    assert possible(asked, n) == held.any()
    if held.any():
        short = shortest(asked, n)
        always = np.ones(len(held), dtype=bool)
        again = np.all([always, *(one.holds(all_sorts(n)) for one in short)], axis=0)
        np.testing.assert_array_equal(again, held)
        for left_out in short:  # nothing is left that the others say
            others = [one.holds(all_sorts(n)) for one in short if one != left_out]
            assert (np.all([always, *others], axis=0) != held).any()


def test_values_and_ranks_that_exclude_each_other():
    low, high = Condition(0, value=0.5, negated=True), Condition(1, value=0.6)
    assert not possible([low, high, Condition(0, above=1)], 3)
    assert possible([low, high, Condition(1, above=0)], 3)
    assert not possible([Condition(0, value=0.7), Condition(0, value=0.5, negated=True)], 2)
    assert shortest([Condition(0, value=0.2), Condition(0, value=0.5)], 2) == (
        Condition(0, value=0.5),
    )


def test_contexts_are_said_shortly():
    """A condition that only parts two cases of one operator is not said."""
    texts = [
        str(operator.context)
        for operator in decompose(make_noise_measure(reading="caption")).operators
    ]
    assert texts[2] == "x1 is the smallest; or x1 is not among the top two and x2 is the smallest"
