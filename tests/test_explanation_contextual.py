"""Contextual models in words and on pages: what is said is what the model does."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import NotFittedError

import choquet
from choquet.contexts.conditions import Condition, Rule
from choquet.errors import ChoquetWarning, DataError, OptionError
from choquet.explanation import view_of
from choquet.explanation.brief import brief_of
from choquet.explanation.nearest import nearest_context, nearest_sort
from choquet.explanation.phrases import operator_phrases
from choquet.report import decomposition_html
from choquet.scales import IDENTITY, Scale

SOURCES = ("gpr", "ir", "emi")


def in_units(model, offsets=(0, 0, 0), widths=(1, 1, 1), target=(0.0, 1.0), name="y"):
    """A fitted model with straight scales around it."""
    unit = np.array([0.0, 1.0])
    scales = [Scale(low + width * unit, unit) for low, width in zip(offsets, widths, strict=True)]
    line = IDENTITY if target == (0.0, 1.0) else Scale(target[0] + target[1] * unit, unit)
    return choquet.InUnits.from_parts(model, scales, sources=SOURCES, target=line, target_name=name)


def gapped(x, sorts):
    """Half the largest gap among the pairs that stand the other way round in each sort."""
    changes = []
    for sort in sorts.tolist():
        pairs = itertools.combinations(sort, 2)
        changes.append(max([0.0, *((x[b] - x[a]) / 2 for a, b in pairs)]))
    return np.array(changes)


@st.composite
def condition_lists(draw, n):
    source = st.integers(0, n - 1)
    found = []
    for _ in range(draw(st.integers(1, 4))):
        i = draw(source)
        negated = draw(st.booleans())
        if draw(st.booleans()):
            found.append(Condition(i, top=draw(st.integers(1, n - 1)), negated=negated))
        else:
            j = draw(source.filter(lambda j, i=i: j != i))
            found.append(Condition(i, above=j, negated=negated))
    return found


@settings(max_examples=150)
@given(st.data())
def test_nearest_sort_is_the_nearest(data):
    """Against all sorts, with ties, and with conditions that contradict each other."""
    n = data.draw(st.integers(2, 5))
    x = np.array(data.draw(st.lists(st.integers(0, 6), min_size=n, max_size=n)), dtype=float)
    conditions = data.draw(condition_lists(n))
    sorts = choquet.all_sorts(n)
    held = Rule(tuple(conditions), 0, 0.0, 1.0).covers(sorts)
    found = nearest_sort(x, conditions)
    if not held.any():
        assert found is None
        return
    assert all(condition.holds([found])[0] for condition in conditions)
    assert gapped(x, found[None])[0] == gapped(x, sorts[held]).min()


@pytest.fixture(scope="module")
def many():
    """Eight contexts of 24 sources, learned from noise: rules of every kind."""
    rng = np.random.default_rng(4)
    X = rng.random((900, 24))
    y = np.where(X[:, 3] > X[:, 7], X.max(axis=1), X.mean(axis=1)) + 0.3 * rng.normal(size=900)
    names = [f"s{k}" for k in range(24)]
    import pandas

    model = choquet.ContextualRegressor(
        leaf="rank", l2=3.0, prune="none", merge=False, max_leaves=8, min_samples_leaf=60, screen=4
    )

    return model.fit(pandas.DataFrame(X, columns=names), y), X


def test_no_smaller_change_switches_among_many_sources(many):
    model, X = many
    parts = model.decomposition_
    rng = np.random.default_rng(0)
    for x in X[:6]:
        why = choquet.explain_sample(parts, x)
        change = why.switch.change
        assert np.abs(why.switch.inputs - x).max() <= change + 1e-12
        beyond = why.switch.inputs + 1e-9 * (why.switch.inputs - x)
        assert parts.operator_of([beyond])[0] == why.switch.operator != why.operator
        near = x + rng.uniform(-1, 1, (3000, 24)) * change * 0.999
        assert (parts.operator_of(near) == why.operator).all()


def test_a_sample_is_explained_by_its_leaf(many):
    model, X = many
    parts = model.decomposition_
    for x in X[:20]:
        why = model.explain(_frame(x))[0]
        assert why.leaf == parts.leaf_of([x])[0]
        assert why.output == pytest.approx(model.predict(_frame(x))[0])
        assert why.contributions.sum() + why.bias == pytest.approx(why.output)
        assert parts.leaves[why.leaf].covers([why.sort])[0]
        assert why.rule == parts.leaves[why.leaf].text(parts.sources)
        assert why.context_samples == parts.tree.weight[why.leaf]
        assert why.supported == (why.trust >= 0.5)
        json.dumps(why.to_dict(), allow_nan=False)


def _frame(x):
    import pandas

    return pandas.DataFrame([x], columns=[f"s{k}" for k in range(len(x))])


@pytest.fixture(scope="module")
def two():
    """One context with plenty of samples, one whose inputs hardly vary."""
    rng = np.random.default_rng(2)
    X = rng.random((300, 3))
    X[:40] = [0.9, 0.5, 0.1] + 0.001 * rng.normal(size=(40, 3))
    X[40:, 0] *= 0.3
    X[40:, 1] = 0.3 + 0.7 * X[40:, 1]
    y = np.where(X[:, 0] > X[:, 1], 0.2 * X.max(axis=1), X.min(axis=1))
    model = choquet.ContextualRegressor(
        leaf="rank", max_leaves=2, prune="none", min_samples_leaf=20, l2=5.0
    )
    return model.fit(X, y).decomposition_


def test_a_context_without_support_names_the_nearest_with_it(two):
    trusts = [operator.trust for operator in two.operators]
    assert min(trusts) < 0.5 < max(trusts)
    weak = int(np.argmin(trusts))
    x = np.array([0.9, 0.5, 0.1])
    why = choquet.explain_sample(two, x)
    assert (why.operator, why.supported) == (weak, False)
    sorts = choquet.all_sorts(3)
    there = two.operator_of_sorts(sorts) != weak
    assert why.nearest.change == pytest.approx(gapped(x, sorts[there]).min())
    assert "The nearest case with enough data is where" in why.text()
    strong = choquet.explain_sample(two, [0.1, 0.5, 0.4])
    assert strong.supported
    assert strong.nearest is None


def test_one_operator_has_nowhere_to_switch():
    X = np.random.default_rng(0).random((60, 3))
    why = choquet.ContextualRegressor(convex=True, l2=0.0).fit(X, X.max(axis=1)).explain(X[:1])[0]
    assert (why.rule, why.switch) == ("always", None)
    assert "No other operator decides anywhere." in why.text()


def test_requests_follow_the_law_of_least_squares(many):
    """Gain: half of what p numbers from m samples with such noise cost, times the share."""
    model, _ = many
    parts = model.decomposition_
    asked = choquet.data_to_collect(model, 100)
    assert [r.gain for r in asked] == sorted((r.gain for r in asked), reverse=True)
    assert {r.leaf for r in asked} == set(parts.leaves)
    one = asked[3]
    operator = parts.operators[one.operator]
    numbers = 24 * operator.trust + 1
    expected = operator.residual**2 * numbers / operator.count / 2 * parts.leaves[one.leaf].share
    assert one.gain == pytest.approx(expected)
    assert len(choquet.data_to_collect(model, 2)) == 2


def test_several_classes_are_explained_by_the_one_predicted():
    rng = np.random.default_rng(1)
    X = rng.random((300, 3))
    y = np.array(["low", "mid", "high"])[np.digitize(X.max(axis=1), [0.6, 0.85])]
    model = choquet.ContextualClassifier(prune="bic").fit(X, y)
    for x, why in zip(X[:10], model.explain(X[:10]), strict=True):
        assert why.label == model.predict([x])[0]
        assert why.output == pytest.approx(model.decision_function([x]).max())
        assert why.probability == pytest.approx(1 / (1 + np.exp(-why.output)))
    story = choquet.explain_model(model)
    assert "the log-odds of high against the rest" in story.opening()
    page = choquet.Report(model, X, y)
    assert "one of 3 classes: high, low, mid; choose another with --class" in page.html()
    right = np.mean((model.decomposition_.predict(X) > 0) == (y == "high"))
    assert page.data["errors"]["rows"][0]["right"] == pytest.approx(right)
    with pytest.raises(DataError, match="300"):
        choquet.Report(model, X, y[:5]).json()


def three_classes():
    X = np.random.default_rng(1).random((300, 3))
    return X, np.array(["low", "mid", "high"])[np.digitize(X.max(axis=1), [0.6, 0.85])]


def test_each_of_several_classes_is_explained_if_named():
    X, y = three_classes()
    model = choquet.ContextualClassifier(prune="bic").fit(X, y)
    scaled = in_units(model)
    for number, label in enumerate(model.classes_):
        one = choquet.of_class(model, label)
        assert f"log-odds of {label} against the rest" in choquet.explain_model(one).opening()
        why = choquet.explain_sample(one, X[:1])
        assert why.output == pytest.approx(model.decision_function(X[:1])[0, number])
        page = choquet.Report(choquet.of_class(scaled, label), X, y)
        right = np.mean((model.decompositions_[number].predict(X) > 0) == (y == label))
        assert page.data["errors"]["rows"][0]["right"] == pytest.approx(right)
        assert f"log-odds of {label} against the rest" in page.html()
        assert "of_class" not in page.html() + choquet.explain_model(one).text()
    with pytest.raises(OptionError, match="no class 'tall': the classes are 'high', 'low', 'mid'"):
        choquet.of_class(model, "tall")
    with pytest.raises(OptionError, match="the model has no classes"):
        choquet.of_class(choquet.ChoquetRegressor().fit(X, X.max(axis=1)), "high")


def test_classes_with_a_measure_each_are_taken_apart_one_by_one():
    X, _ = three_classes()
    y = np.array(["high", "low", "mid"])[X.argmax(axis=1)]
    model = choquet.ChoquetClassifier().fit(X, y)
    for number, label in enumerate(model.classes_):
        found = choquet.of_class(model, label)
        assert found.measure == model.measures_[number]
        assert found.support is model.support_
    scaled = choquet.of_class(in_units(model, widths=(2, 2, 2)), "mid")
    assert np.array_equal(scaled.measure.values, model.measures_[2].values)
    assert scaled.sources == SOURCES
    two = choquet.ChoquetClassifier().fit(X, y == "low")
    assert choquet.of_class(two, False).measure == choquet.of_class(two, True).measure
    scores = np.stack([X, 1 - X], axis=1)
    fusion = choquet.FusionClassifier(shared=False).fit(scores, (X.max(axis=1) < 0.7).astype(int))
    for label in (0, 1):
        found = choquet.of_class(fusion, label)
        assert found.measure == fusion.measures_[label]
        assert found.support is fusion.supports_[label]


def falling_and_rising():
    """Classes of text, each of which rises with a source of its own."""
    X, _ = three_classes()
    return X, np.array(["high", "low", "mid"])[X.argmax(axis=1)]


def test_a_measure_says_of_which_class_it_is():
    X, y = falling_and_rising()
    model = choquet.ChoquetClassifier().fit(X, y)
    story = choquet.explain_model(model)
    others = "This is one of 3 classes: high, low, mid; choose another with --class "
    others += "or choquet.of_class."
    assert "The output is a score for high against the rest" in story.text()
    assert others in story.text()
    assert others in choquet.explain_sample(model, X[0]).text()
    assert choquet.decompose(model).clusters.compress(max_error=0.1).outcome.label == "high"
    for number, label in enumerate(model.classes_):
        one = choquet.of_class(model, label)
        story = choquet.explain_model(one)
        assert f"The output is a score for {label} against the rest" in story.text()
        assert others not in story.text()
        assert story.to_dict()["outcome"]["class"] == label
        why = choquet.explain_sample(one, X[0])
        odds = model.decision_function(X[:1])[0, number]
        # The operators stand for the integral to within the certificate.
        slope = model.scales_[number] * one.error.worst
        assert abs(np.log(why.probability / (1 - why.probability)) - odds) <= slope + 1e-9
        page = choquet.Report(one, X, y)
        right = np.mean((model.decision_function(X)[:, number] > 0) == (y == label))
        assert page.data["errors"]["rows"][0]["other_right"] == pytest.approx(right)
        whole = choquet.Report(choquet.explanation.view_of(model, label=label), X, y)
        assert whole.data["errors"]["rows"][0]["right"] == pytest.approx(right)
        assert page.data["model"]["outcome"]["class"] == label
        for text in (page.html(), page.markdown(), page.json()):
            assert f"a score for {label} against the rest" in text
        assert f"Full model right about <bdi>{label}</bdi>" in page.html()


def test_one_measure_for_all_classes_says_so():
    X, y = three_classes()
    level = np.array([{"low": 0, "mid": 1, "high": 2}[label] for label in y])
    ordinal = choquet.ChoquetClassifier(ordinal=True).fit(X, level)
    page = choquet.Report(choquet.of_class(ordinal, 1), X, level)
    assert "rises with the class, of 3 classes: 0, 1, 2." in page.markdown()
    assert page.data["errors"] is None
    scores = np.stack([X, 1 - X], axis=1)
    label = np.where(X.mean(axis=1) < 0.5, "up", "down")
    shared = choquet.FusionClassifier().fit(scores, label)
    text = choquet.explain_model(shared).text()
    assert "the fused score of a class, of 2 classes: down, up." in text
    assert choquet.Report(shared, scores[:, 1], label).data["errors"] is None
    page = choquet.Report(choquet.of_class(shared, "up"), scores[:, 1], label)
    assert "The output is the fused score of up." in page.html()
    away = shared.fuse(scores)[:, 1] - (label == "up")
    rmse = page.data["errors"]["rows"][0]["other_rmse"]
    assert rmse == pytest.approx(np.sqrt(np.mean(away**2)))


def test_fused_scores_of_a_class_have_their_bias():
    X, _ = three_classes()
    scores = np.stack([X, 1 - X], axis=1)
    label = (X.mean(axis=1) < 0.5).astype(int)
    regressor = choquet.ChoquetRegressor(fit_intercept=True, normal=False)
    fusion = choquet.FusionClassifier(shared=False, regressor=regressor).fit(scores, label)
    assert abs(fusion.models_[1].intercept_) > 0.01
    for number in (0, 1):
        found = choquet.of_class(fusion, number).assess(scores[:, number])
        np.testing.assert_allclose(found.integral, fusion.fuse(scores)[:, number])
    assert set(choquet.decompose(fusion).biases) == {fusion.models_[0].intercept_}


@pytest.mark.parametrize("kind", [choquet.ChoquetClassifier, choquet.ContextualClassifier])
def test_the_first_of_two_classes_is_the_second_turned_round(kind):
    X, _ = three_classes()
    y = np.where(X.max(axis=1) > 0.7, "yes", "no")
    model = kind().fit(X, y)
    no, yes = (
        choquet.explain_model(choquet.of_class(model, label)).text() for label in ("no", "yes")
    )
    turned = {
        choquet.ChoquetClassifier: "The probability of no is 1 minus that.",
        choquet.ContextualClassifier: "The log-odds of no are the same with the opposite sign.",
    }[kind]
    assert turned in no
    assert turned not in yes
    assert turned in choquet.explain_sample(choquet.of_class(model, "no"), X[0]).text()
    assert no.replace(turned, "").split() == yes.split()
    # What is about both can be asked again for the other.
    again = choquet.of_class(choquet.of_class(model, "no"), "yes")
    assert choquet.explain_model(again).text() == yes


@pytest.mark.parametrize(
    ("classes", "labels"),
    [
        ([0.0, 1.0, 2.0], [0, "1", "2.0"]),
        ([0, 1, 2], [0.0, "1.0", np.int64(2)]),
        (["0.0", "1.0", "2.0"], ["0", 1, 2.0]),
        (["1", "1.0", "01"], ["1", "1.0", "01"]),
    ],
)
def test_classes_are_found_by_value_name_and_number(classes, labels):
    X, _ = three_classes()
    y = np.array(classes)[X.argmax(axis=1)]
    model = choquet.ChoquetClassifier().fit(X, y)
    for value, label in zip(classes, labels, strict=True):
        found = choquet.of_class(model, label).outcome
        assert found.classes[found.number] == value


def test_what_has_no_such_class_is_refused():
    X, y = falling_and_rising()
    with pytest.raises(NotFittedError, match="not fitted"):
        choquet.of_class(choquet.ChoquetClassifier(), "low")
    one = choquet.of_class(choquet.ChoquetClassifier().fit(X, y), "low")
    assert choquet.of_class(one, "low").outcome == one.outcome
    with pytest.raises(OptionError, match="learned for class 'low' alone"):
        choquet.of_class(one, "mid")
    with pytest.raises(DataError, match="no outcome of 2 classes"):
        replace(one.outcome, classes=("a", "b"), number=2)


# -- pages -----------------------------------------------------------------------------------------


def test_a_hundred_sources_fit_on_a_page(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.random((400, 100))
    model = choquet.ContextualRegressor(prune="none", max_leaves=3, min_samples_leaf=50, screen=2)
    report = choquet.Report(model.fit(X, X.max(axis=1)), X, X.max(axis=1))
    assert report.write_html(tmp_path / "page.html").stat().st_size < 1_500_000
    assert report.data["n_operators"] == model.n_operators_
    assert "x100" in report.markdown()
    json.loads(report.json())


def test_page_says_what_python_computes(many):
    model, X = many
    y = X.max(axis=1)
    with pytest.warns(ChoquetWarning, match="column 'more' left out"):
        data = choquet.report.summarise(model, _with_more(X), y)
    outputs = model.decomposition_.predict(X)
    shown = [row["output"] for row in data["samples"]["rows"]]
    assert shown == pytest.approx(outputs[:100].tolist())
    assert data["errors"]["rows"][0]["rmse"] == pytest.approx(np.sqrt(np.mean((outputs - y) ** 2)))
    leaves = [node for node in data["tree"] if node["question"] is None]
    assert sum(node["weight"] for node in leaves) == 900
    assert {node["node"] for node in leaves} == set(model.decomposition_.leaves)
    means = sum(row["mean"] for row in data["source_table"])
    biases = model.decomposition_.biases[model.decomposition_.operator_of(X)]
    assert means + biases.mean() == pytest.approx(outputs.mean())


def _with_more(X):
    import pandas

    frame = pandas.DataFrame(X, columns=[f"s{k}" for k in range(X.shape[1])])
    return frame.assign(more=1.0)[["more", *frame.columns[::-1]]]


def test_contextual_models_show_themselves(many):
    model, _ = many
    text = model.decomposition_._repr_html_()
    assert text == decomposition_html(model.decomposition_)
    assert text.count("<tr>") == model.n_operators_ + 1


# -- tables by name --------------------------------------------------------------------------------


def tables(names, rows):
    import pandas
    import polars
    import pyarrow

    columns = dict(zip(names, np.transpose(rows).tolist(), strict=True))
    return [pandas.DataFrame(columns), polars.DataFrame(columns), pyarrow.table(columns), columns]


def test_columns_are_taken_by_name():
    g = choquet.Measure([0, 0, 1, 1, 1, 1, 1, 1], sources=SOURCES)
    X = np.random.default_rng(0).random((20, 3))
    expected = choquet.Report(g, X).data
    for table in tables(["emi", "gpr", "ir"], X[:, [2, 0, 1]]):
        assert choquet.Report(g, table).data == expected
    for table in tables(["emi", "gpr"], X[:, [2, 0]]):
        with pytest.raises(DataError, match="no column 'ir'; they have 'emi', 'gpr'"):
            choquet.Report(g, table).html()
    for table in tables(["emi", "gpr", "ir", "day"], X[:, [2, 0, 1, 1]]):
        with pytest.warns(ChoquetWarning, match="column 'day' left out"):
            assert choquet.Report(g, table).data == expected
    import pandas

    numbered = pandas.DataFrame(X)
    assert choquet.Report(g, numbered).data == expected
    row = pandas.DataFrame(X[:, [2, 0, 1]], columns=["emi", "gpr", "ir"]).iloc[4]
    assert choquet.explain_sample(g, row).inputs == pytest.approx(X[4])
    with pytest.raises(DataError, match="numbers"):
        choquet.explain_sample(g, {"gpr": "much", "ir": 0.1, "emi": 0.2})


# -- units -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["measure", "contextual"])
def test_units_change_words_not_answers(kind):
    rng = np.random.default_rng(3)
    scaled = rng.random((120, 3))
    y = np.where(scaled[:, 0] == scaled.max(axis=1), np.median(scaled, axis=1), scaled.max(axis=1))
    made = {"measure": choquet.ChoquetRegressor(), "contextual": choquet.ContextualRegressor()}
    import pandas

    inner = made[kind].fit(pandas.DataFrame(scaled, columns=list(SOURCES)), y)
    offsets, widths = np.array([10.0, -5.0, 0.0]), np.array([2.0, 100.0, 0.5])
    model = in_units(inner, offsets, widths, (7.0, 3.0), "height")
    X = scaled * widths + offsets
    plain, why = choquet.explain_sample(inner, scaled[5]), choquet.explain_sample(model, X[5])
    assert why.output == pytest.approx(3 * plain.output + 7)
    assert why.contributions == pytest.approx(3 * plain.contributions)
    assert why.switch.inputs == pytest.approx(plain.switch.inputs * widths + offsets)
    assert why.switch.change == pytest.approx(plain.switch.change)
    assert "(height)" in why.text()
    assert f"{X[5, 1]:.4g}" in why.text()
    assert choquet.explain_model(model).units.target_name == "height"
    report = choquet.Report(model, X, 3 * y + 7)
    bare = choquet.Report(inner, scaled, y)
    assert [row["output"] for row in report.data["samples"]["rows"]] == pytest.approx(
        [3 * row["output"] + 7 for row in bare.data["samples"]["rows"]]
    )
    assert report.data["errors"]["rows"][0]["rmse"] == pytest.approx(
        3 * bare.data["errors"]["rows"][0]["rmse"]
    )
    low, high = report.data["explorer"]["span"]
    np.testing.assert_allclose(
        report.data["explorer"]["ranges"], np.outer(widths, [low, high]) + offsets[:, None]
    )
    assert "gpr from 10–12" in report.markdown()


def test_classes_are_counted_as_they_are_in_the_data():
    X = np.random.default_rng(0).random((100, 3))
    y = (X.max(axis=1) > 0.7).astype(int)
    model = choquet.ContextualClassifier(prune="none", max_leaves=2).fit(X, y)
    right = np.mean(model.predict(X) == y)
    for same in (y, y.astype(float), y.astype(bool), y.astype(str)):
        rows = choquet.Report(model, X, same).data["errors"]["rows"]
        assert rows[0]["right"] == pytest.approx(right)


def test_a_constant_is_said_to_be_one():
    X = np.random.default_rng(0).random((60, 3))
    model = choquet.ContextualRegressor().fit(X, np.full(60, 4.0))
    assert choquet.explain_model(model).sentences == ("Always take 4, whatever the inputs.",)


def test_wrong_arguments_are_refused(many):
    model, X = many
    with pytest.raises(DataError, match="what it learned is in decomposition_"):
        choquet.decompose(model)
    with pytest.raises(OptionError, match="there are 0"):
        choquet.explain_operator(model, 99)
    with pytest.raises(DataError, match="one row"):
        choquet.explain_sample(model, X[:2])
    with pytest.raises(OptionError, match="without X"):
        choquet.Report(model, y=X[:, 0])
    assert nearest_context(model.decomposition_, X[0], []) is None


def noisy_stations(n_sources=8):
    """The largest or the median, with noise that no operator follows."""
    rng = np.random.default_rng(0)
    X = rng.random((600, n_sources))
    y = np.where(X[:, 0] > X[:, 1], X.max(axis=1), np.median(X, axis=1))
    return X, y + 0.03 * rng.standard_normal(len(y))


def test_first_screens_name_a_familiar_operator_where_it_is_as_good():
    X, y = noisy_stations()
    model = choquet.ContextualRegressor(max_leaves=2).fit(X, y)
    brief = brief_of(view_of(model), X)
    said = " ".join(brief.sentences)
    assert "about the largest" in said
    assert "about the median of the eight" in said
    assert brief.lost < 0.02  # and the words are held against the model's own answers
    assert "times" not in said


def test_long_sums_are_cut_to_their_main_terms():
    X = np.random.default_rng(1).random((400, 6))
    y = -np.sort(-X, axis=1) @ [0.3, -0.2, 0.25, 0.4, -0.15, 0.45]
    model = choquet.ContextualRegressor(max_leaves=1, l2=0.0).fit(X, y)
    (phrase,) = operator_phrases(model.decomposition_)
    assert phrase.startswith("mainly ")
    assert phrase.count(" times ") == 3
