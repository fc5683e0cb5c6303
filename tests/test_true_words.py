"""Sentences of explanations and reports say no more than what is so."""

from __future__ import annotations

import re

import numpy as np
import pytest

import choquet
from choquet.cli import main
from choquet.explanation import view_of
from choquet.explanation.phrases import _main_terms, percent
from choquet.report.first_of_sum import unseen_rows


@pytest.fixture(scope="module")
def fused():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 150)
    scores = np.eye(3)[y][:, :, None] * [0.5, 0.3] + 0.5 * rng.random((150, 3, 2))
    labels = np.array(["field", "forest", "water"])[y]
    return choquet.FusionClassifier(sources=["resnet", "vgg"]).fit(scores, labels), scores, labels


@pytest.fixture(scope="module")
def summed():
    rng = np.random.default_rng(0)
    X = rng.gamma(2, 1, (300, 3))
    y = X[:, 0] + np.sqrt(X[:, 1]) + rng.normal(0, 0.1, 300)
    return choquet.ChoquetAdditiveRegressor(link="add").fit(X, y), X, y


@pytest.fixture(scope="module")
def learned():
    rng = np.random.default_rng(1)
    X = rng.random((150, 3))
    y = np.sort(X, axis=1) @ [0.2, 0.3, 0.5] + rng.normal(0, 0.05, 150)
    return choquet.ChoquetRegressor().fit(X, y), X, y


def test_orders_that_need_no_more_data_are_not_said_to_be_shown():
    X = [[0.9, 0.5, 0.1], [0.1, 0.9, 0.5], [0.5, 0.1, 0.9]]
    g = choquet.Measure([0, 0, 1, 1, 1, 1, 1, 1])
    found = choquet.decompose(g, support=choquet.DataSupport.from_data(X))
    said = choquet.explain_model(found).text()
    assert "3 samples show 6 of 6 possible sets of larger inputs, enough for 100 % of" in said


def test_the_widest_interval_is_one_of_the_samples_that_were_looked_at(learned):
    model, X, y = learned
    distrust = choquet.Report(model, X, y, n_samples=10).data["first"]["distrust"]
    (text,) = (one for one in distrust if "95 % interval" in one)
    assert text.startswith(
        "The widest 95 % interval of an answer among the first 10 samples is that of"
    )
    distrust = choquet.Report(model, X, y, n_samples=150).data["first"]["distrust"]
    (text,) = (one for one in distrust if "95 % interval" in one)
    worst = np.ptp(model.predict_interval(X), axis=1).argmax() + 1
    assert text.startswith(f"The widest 95 % interval of an answer is that of sample {worst}:")


def test_a_row_above_all_rows_learned_from_was_not_seen(summed):
    model, X, _ = summed
    rows = X[:4].copy()
    rows[1, 0] = 1.01 * X[:, 0].max()
    assert unseen_rows(view_of(model), rows).tolist() == [False, True, False, False]
    assert "where no row was learned from" in choquet.explain_sample(model, rows[1]).text()
    assert not unseen_rows(view_of(model), X).any()


def test_a_strong_term_is_not_uncertain_because_of_its_ends(summed):
    model, X, y = summed
    first = choquet.Report(model, X, y).data["first"]
    assert not any("The effect of x0 is uncertain" in one for one in first["distrust"])


def test_a_term_of_noise_is_uncertain():
    rng = np.random.default_rng(2)
    X = rng.random((60, 2))
    y = 5 * rng.standard_normal(60) + X[:, 0]
    model = choquet.ChoquetAdditiveRegressor(link="add").fit(X, y)
    distrust = choquet.Report(model, X).data["first"]["distrust"]
    assert any("is uncertain: where the rows are" in one for one in distrust)


def test_one_measure_for_all_classes_names_none_of_them(fused):
    model, scores, labels = fused
    report = choquet.Report(model, scores, labels)
    for row in report.data["classes"]:
        assert not re.search("score of (field|forest|water)", " ".join(row["sentences"]))
    text = report.markdown()
    if "list of samples begins" in " ".join(report.data["first"]["next"]):
        assert "Wrong answers come first" in text


def test_samples_of_a_fusion_are_counted_once(fused):
    model, scores, labels = fused
    assert "450 samples" not in choquet.Report(model, scores, labels).markdown()
    for one in (model, choquet.decompose(model)):
        said = choquet.explain_model(one).text()
        assert "450 scores (150 samples, 3 classes) show" in said


def test_bounds_by_support_say_what_they_are(learned):
    model, X, y = learned
    report = choquet.Report(model, X, y)
    assert "could lie, by support" in report.markdown()
    assert "this is no confidence interval" in report.markdown()
    assert "At least, by support" in report.html()


def test_intervals_of_scores_are_shown_where_they_are_explained(learned):
    model, X, y = learned
    text = choquet.Report(model, X, y).markdown()
    row = next(line for line in text.splitlines() if line.startswith("| This model"))
    assert "±" in row
    assert "± gives a 95 % interval" in text


def test_a_page_opens_on_the_least_supported_sample_only_if_one_is(learned):
    model, X, _ = learned
    assert "which the data support least" not in choquet.Report(model, X).html()
    lone = choquet.ChoquetRegressor().fit(X[:2], [0.2, 0.4])
    assert "which the data support least of those listed" in choquet.Report(lone, X).html()


@pytest.mark.parametrize("kind", [choquet.ChoquetClassifier, choquet.ContextualClassifier])
def test_the_probability_of_a_row_is_also_told_as_predict_gives_it(kind):
    X = np.random.default_rng(0).random((200, 2))
    y = np.array(["low", "mid", "high"])[np.digitize(X.mean(axis=1), [0.4, 0.6])]
    model = kind(monotone=False) if kind is choquet.ChoquetClassifier else kind(max_leaves=1)
    model.fit(X, y)
    why = choquet.explain_sample(model, X[0])
    place = model.classes_.tolist().index(why.label)
    assert why.share == pytest.approx(model.predict_proba(X[:1])[0, place])
    said = f"classes, which gives {percent(why.share)} for {why.label}."
    assert said in why.text()


def test_what_a_sum_is_the_sum_of_is_named():
    rng = np.random.default_rng(0)
    X = rng.random((60, 3))
    y = np.sort(X, axis=1) @ [0.2, 0.3, 0.5] + 0.1 * X[:, 0] + rng.normal(0, 0.02, 60)
    said = choquet.explain_sample(choquet.ChoquetRegressor().fit(X, y), X[0]).text()
    assert "In the summary" in said
    assert "The model's output is the sum of" in said
    assert "confidence the output lies between" in said


def test_data_to_collect_are_not_all_data_in_two_parts():
    rng = np.random.default_rng(0)
    X = rng.random((8, 2))
    y = 0.7 * X[:, 0] + 0.3 * X[:, 1] + rng.normal(0, 0.1, 8)
    model = choquet.ChoquetRegressor().fit(X, y)
    assert len(choquet.data_to_collect(model)) == 2
    said = choquet.explain_model(model).text()
    assert "Collect next: more samples, of any kind." in said
    assert said.count("Collect next") == 1


def test_small_terms_are_left_out_of_what_is_mainly_taken():
    terms = [(1.0004, "food"), (0.00539, "service"), (0.004, "mood"), (0.003, "the largest")]
    assert _main_terms(terms) == "about food"
    assert _main_terms([(0.9, "food"), (0.3, "mood"), (0.001, "a"), (0.001, "b")]) == (
        "mainly 0.9 times food plus 0.3 times mood"
    )


def test_comparisons_say_what_they_compare(tmp_path, capsys):
    X = np.random.default_rng(0).random((80, 2))
    model = choquet.ChoquetRegressor().fit(X, X.max(axis=1))
    choquet.save(model, tmp_path / "model.json")
    choquet.save(choquet.decompose(model), tmp_path / "parts.json")
    assert main(["compare", str(tmp_path / "model.json"), str(tmp_path / "parts.json")]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "Mean distance of the measures that they come from" in said
    assert "% of orders" in said
