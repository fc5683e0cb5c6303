"""A model in five sentences: the words are read back, and cost what they say that they cost."""

from __future__ import annotations

import re
import unicodedata

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import choquet
from choquet.explanation import operator_phrase, view_of
from choquet.explanation.brief import brief_formula, brief_of, brief_of_sum
from choquet.explanation.summaries import QUANTIFIERS, linguistic_summaries
from tests.strategies import measures
from tests.test_context_words import all_conditions, holds

SIDES = ("largest", "smallest")
PLACES = {"": 0, "second ": 1, "third ": 2, "fourth ": 3}
INSTRUCTION = re.compile(r"(?:(?:If|Otherwise, if) (.+), take|Otherwise take|Always take) (.+)\.")
TERM = re.compile(r"(?:(?P<sign>plus|minus) )?(?:(?P<times>[\d.e-]+) times )?(?P<what>.+)")


def input_of(words, X, sources):
    """The input that words name: a source, or a rank counted from either end."""
    if words in sources:
        return X[:, sources.index(words)]
    ranked = np.sort(X, axis=1)
    for end in SIDES:
        for word, place in PLACES.items():
            if words == f"the {word}{end}":
                return ranked[:, -1 - place] if end == "largest" else ranked[:, place]
    if some := re.fullmatch(r"the mean of the (two|three|four) (largest|smallest)", words):
        k = ["two", "three", "four"].index(some[1]) + 2
        return (ranked[:, -k:] if some[2] == "largest" else ranked[:, :k]).mean(axis=1)
    if words == "the median" or words.startswith("the median of the "):
        return np.median(X, axis=1)
    if words.startswith("the mean of the "):
        trimmed = words.endswith(" without the largest and the smallest")
        return (ranked[:, 1:-1] if trimmed else X).mean(axis=1)
    if words.startswith("halfway between "):
        ends = words.removeprefix("halfway between ").split(" and ", 1)
        return sum(input_of(end, X, sources) for end in ends) / 2
    return np.full(len(X), float(words))


def taken(words, X, sources):
    """What an instruction takes: a sum of inputs, in words."""
    words = words.removeprefix("about ")
    total = np.zeros(len(X))
    for part in re.split(r" (?=plus |minus )", words):
        term = TERM.fullmatch(part)
        own = input_of(term["what"], X, sources) * float(term["times"] or 1)
        total += -own if term["sign"] == "minus" else own
    return total


def instructions(sentences, X, sources):
    """What the sentences give for each row: the first whose condition holds."""
    told, open_ = np.full(len(X), np.nan), np.ones(len(X), dtype=bool)
    for sentence in sentences:
        where, what = INSTRUCTION.fullmatch(sentence).groups()
        here = open_ if where is None else open_ & holds(where, X, sources)
        told[here] = taken(what, X[here], sources)
        open_ = open_ & ~here
    assert not open_.any()
    return told


def formula(sentence, X, sources):
    """What "the output is about 0.7 × ir − 0.3 × emi + 2" gives."""
    text = re.fullmatch(r".+? (?:is|are) (?:about )?(.+)\.", sentence)[1]
    total = np.zeros(len(X))
    for part in re.split(r" (?=[+−] )", text):
        sign = -1.0 if part.startswith("−") else 1.0
        weight, _, name = part.lstrip("+− ").rpartition(" × ")
        own = X[:, sources.index(name)] if name in sources else number(name)
        total += sign * (number(weight) if weight else 1.0) * own
    return total


def number(text):
    """A number as it is written for people: 12,300, or 1.2 × 10⁻⁷."""
    digits, _, power = text.replace(",", "").partition(" × 10")
    return float(digits) * 10.0 ** int(unicodedata.normalize("NFKC", power).replace("−", "-") or 0)


def check_cost(brief, told, answers):
    """The numbers of a brief are those of its words."""
    away = told - answers
    # Printed numbers are read as they are used, so only sums in another order may differ.
    scale = 1e-9 * (1 + np.abs(answers).max())
    assert brief.rms == pytest.approx(np.sqrt(np.mean(away**2)), abs=scale)
    assert brief.worst == pytest.approx(np.abs(away).max(), abs=scale)
    if brief.rms > scale:
        assert brief.lost == pytest.approx(np.mean(away**2) / answers.var(), rel=1e-6)
    assert brief.n_rows == len(answers)
    assert 1 <= len(brief.sentences) <= 5


def read(brief, X, sources):
    if brief.kind == "formula":
        return formula(brief.sentences[0], X, sources)
    return instructions(brief.sentences, X, sources)


@given(measures(min_sources=2, max_sources=4), st.integers(0, 1000))
@settings(max_examples=25)
def test_the_words_of_a_measure_cost_what_they_say(g, seed):
    X = np.random.default_rng(seed).random((200, g.n_sources))
    view = view_of(g)
    brief = brief_of(view, X)
    told = read(brief, X, list(view.sources))
    check_cost(brief, told, choquet.choquet_integral(g, X))


@given(measures(min_sources=2, max_sources=4), st.integers(0, 1000))
@settings(max_examples=15)
def test_the_words_of_a_decomposition_are_held_against_the_measure(g, seed):
    X = np.random.default_rng(seed).random((200, g.n_sources))
    view = view_of(choquet.decompose(g, method="clodd").compress(max_error=0.3))
    brief = brief_of(view, X)
    told = read(brief, X, list(view.sources))
    check_cost(brief, told, choquet.choquet_integral(g, X))


@given(st.lists(st.integers(0, 4), min_size=2, max_size=5).filter(any), st.integers(1, 3))
@settings(max_examples=60)
def test_the_phrase_of_an_operator_gives_what_the_operator_gives(shares, step):
    weights = np.array(shares) ** step / np.sum(np.array(shares) ** step)
    # Outputs differ most at the corners (1, …, 1, 0, …, 0).
    corners = np.tril(np.ones((len(weights), len(weights))))
    told = taken(operator_phrase(weights), corners, [])
    assert np.abs(told - corners @ weights).max() <= 0.02 + 1e-9


@pytest.mark.parametrize("n_leaves", [2, 4])
def test_the_words_of_a_contextual_model_cost_what_they_say(n_leaves):
    rng = np.random.default_rng(n_leaves)
    X = rng.random((400, 3))
    y = np.where(X[:, 0] > X[:, 1], X @ [0.5, 0.2, 0.3], X.max(axis=1))
    y = y + 0.01 * rng.standard_normal(400)
    model = choquet.ContextualRegressor(max_leaves=n_leaves, random_state=0).fit(X, y)
    brief = brief_of(view_of(model), X)
    told = read(brief, X, list(view_of(model).sources))
    check_cost(brief, told, model.predict(X))


@pytest.mark.parametrize(
    ("values", "sentences"),
    [
        ([0, 1, 1, 1], ("Always take the largest.",)),
        ([0, 0.25, 0.75, 1], ("The output is 0.75 × b + 0.25 × a.",)),
        ([0, 0.5, 0, 1], ("Always take 0.5 times a plus 0.5 times the smallest.",)),
    ],
)
def test_what_is_simple_is_said_whole(values, sentences):
    brief = brief_of(view_of(choquet.Measure(values, sources=["a", "b"])))
    told = {"a": np.array([0.2, 0.9, 0.4]), "b": np.array([0.7, 0.3, 0.1])}
    X = np.column_stack(list(told.values()))
    expected = choquet.choquet_integral(choquet.Measure(values), X)
    np.testing.assert_allclose(read(brief, X, ["a", "b"]), expected, atol=1e-12)
    assert brief.lost == 0
    assert not brief.poor
    assert "This is the whole model" in brief.cost()
    assert brief.drawn
    assert brief.sentences == sentences


def test_a_poor_summary_says_so():
    rng = np.random.default_rng(0)
    X = rng.random((300, 2))
    brief = brief_formula(["a", "b"], "the output", X, np.sin(20 * X[:, 0]))
    assert brief.poor
    assert "This is a summary" in brief.cost()
    assert brief.to_dict()["poor"] is True


def test_a_monotone_model_is_not_told_with_a_weight_against_its_direction():
    """Two columns that say the same thing: least squares alone would give one a minus."""
    rng = np.random.default_rng(1)
    a = rng.random(300)
    X = np.column_stack([a, a + 0.01 * rng.standard_normal(300)])
    y = X[:, 0] - 0.5 * (X[:, 1] - X[:, 0])
    free = brief_formula(["a", "b"], "the output", X, y)
    signed = brief_formula(["a", "b"], "the output", X, y, np.ones(2))
    assert "−" in free.sentences[0]
    assert "−" not in signed.sentences[0]
    for brief in (free, signed):
        check_cost(brief, formula(brief.sentences[0], X, ["a", "b"]), y)


@given(st.integers(0, 10_000))
@settings(max_examples=20)
def test_formulas_of_any_size_are_read_back(seed):
    rng = np.random.default_rng(seed)
    sizes = 10.0 ** rng.integers(-3, 5, 3)
    X = rng.random((60, 3)) * sizes + sizes * rng.integers(0, 3, 3)
    y = X @ (rng.standard_normal(3) / sizes) * 10.0 ** rng.integers(-2, 4)
    names = ["first", "second", "third"]
    brief = brief_formula(names, "the price", X, y)
    assert brief.sentences[0].startswith("The price is ")
    check_cost(brief, formula(brief.sentences[0], X, names), y)


# -- sums of small integrals -----------------------------------------------------------------------


@pytest.fixture(scope="module")
def additive():
    rng = np.random.default_rng(0)
    X = rng.random((250, 4))
    y = 3 * X[:, 0] + np.sin(3 * X[:, 1]) + X[:, 2] * X[:, 3] + 0.05 * rng.standard_normal(250)
    return choquet.ChoquetAdditiveRegressor(link="add").fit(X, y), X


def test_the_terms_that_are_told_cost_what_the_others_add(additive):
    model, X = additive
    brief = brief_of_sum(view_of(model), X)
    effects = model.decomposition_.effects(X)
    told = len(brief.sentences)
    rest = effects[:, told:].sum(axis=1)
    assert brief.kind == "terms"
    assert brief.rms == pytest.approx(model.decomposition_.unit * np.sqrt(np.mean(rest**2)))
    for sentence, term in zip(brief.sentences, model.terms_, strict=False):
        assert all(name in sentence for name in term.names)


def test_a_row_has_one_effect_a_term_and_they_sum_to_its_output(additive):
    model, X = additive
    constant = model.predict(X[:1])[0] - sum(
        effect for effect, _, _ in choquet.explain_sample(model, X[:1]).why.effects
    )
    for why, answer in zip(
        choquet.explain_samples(model, X[:15]), model.predict(X[:15]), strict=True
    ):
        effects = [effect for effect, _, _ in why.why.effects]
        assert why.output == pytest.approx(answer, abs=1e-9)
        assert constant + sum(effects) == pytest.approx(answer, abs=1e-9)
        sizes = [abs(effect) for effect in effects]
        assert sizes == sorted(sizes, reverse=True)
        assert len(why.why.sentences) <= len(model.terms_)
        low, high = why.interval
        assert low <= answer <= high
        assert 0 <= why.trust <= 1


# -- linguistic summaries --------------------------------------------------------------------------


@given(measures(min_sources=2, max_sources=4), st.integers(0, 1000))
@settings(max_examples=15)
def test_summaries_are_as_true_as_they_say(g, seed):
    X = np.random.default_rng(seed).random((80, g.n_sources))
    parts = choquet.decompose(g)
    used = parts.operator_of(X)
    sources = list(parts.sources)
    for one in linguistic_summaries(parts, X, least_truth=0.3):
        about = np.ones(len(X), dtype=bool)
        if one.condition:
            about = all_conditions(one.condition.removeprefix("in which "), X, sources)
        shares = [
            (used[about] == k).mean()
            for k, o in enumerate(parts.operators)
            if o.name == one.operator
        ]
        assert one.coverage == pytest.approx(about.mean())
        assert min(abs(share - one.share) for share in shares) < 1e-12
        a, b, c, d = QUANTIFIERS[one.quantifier]
        inside = 1.0 if b <= one.share <= c else 0.0
        if a < one.share < b:
            inside = (one.share - a) / (b - a)
        if c < one.share < d:
            inside = (d - one.share) / (d - c)
        assert one.truth == pytest.approx(inside)
        assert one.truth >= 0.3


def test_a_median_of_sensors_that_rise_together_is_told_as_one():
    """Nearly any mean follows its variation, and errs more than the model itself."""
    rng = np.random.default_rng(0)
    X = rng.uniform(270, 300, 200)[:, None] + 2 * rng.standard_normal((200, 3))
    y = np.median(X, axis=1) + 0.1 * rng.standard_normal(200)
    found = brief_of(view_of(choquet.ChoquetRegressor().fit(X, y)), X)
    assert found.sentences == ("Always take the median of the three.",)
