"""Laws of explanations: they say what the model does, whatever was fitted."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest

import choquet
from tests.fitted import CLASSIFIERS, MAKERS, NAMES, REGRESSORS, answers, data, thing

ROWS = data()[0].iloc[:12]
ALL = list(MAKERS)
PLAIN = [name for name in ALL if name not in CLASSIFIERS]
SCALED = ("pipeline",)


def refuse(word):
    raise AssertionError(f"{word} is no JSON")


def parsed(document) -> dict:
    """A document as a reader of JSON sees it."""
    return json.loads(json.dumps(document, allow_nan=False), parse_constant=refuse)


# -- of a sample -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", PLAIN)
def test_the_output_is_what_the_model_predicts(name):
    expected = answers(thing(name), ROWS)
    found = [why.output for why in choquet.explain_samples(thing(name), ROWS)]
    np.testing.assert_allclose(found, expected, atol=1e-9)


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_the_probability_is_what_the_classifier_predicts(name):
    shares = thing(name).predict_proba(ROWS)
    for why, share in zip(choquet.explain_samples(thing(name), ROWS), shares, strict=True):
        assert why.probability == pytest.approx(share[1])


@pytest.mark.parametrize("name", ALL)
def test_contributions_and_bias_sum_to_the_output(name):
    for why in choquet.explain_samples(thing(name), ROWS):
        assert why.contributions.sum() + why.bias == pytest.approx(why.output, abs=1e-9)


@pytest.mark.parametrize("name", ALL)
def test_inputs_are_those_that_were_given_and_their_order_is_theirs(name):
    for why, (_, row) in zip(
        choquet.explain_samples(thing(name), ROWS), ROWS.iterrows(), strict=True
    ):
        np.testing.assert_allclose(why.inputs, row.to_numpy())
        assert sorted(why.sort.tolist()) == [0, 1, 2]
        if name not in SCALED:
            assert (np.diff(why.inputs[why.sort]) <= 0).all()


@pytest.mark.parametrize("name", ALL)
def test_bounds_hold_the_integral(name):
    for why in choquet.explain_samples(thing(name), ROWS):
        low, high = why.interval
        if np.isfinite([low, high]).all():
            assert low - 1e-9 <= why.integral <= high + 1e-9
        assert 0 <= why.phi <= 1


@pytest.mark.parametrize("name", ALL)
def test_one_row_alone_is_explained_as_among_others(name):
    among = choquet.explain_samples(thing(name), ROWS)
    for k in (0, 5):
        alone = choquet.explain_sample(thing(name), ROWS.iloc[[k]])
        assert parsed(alone.to_dict()) == parsed(among[k].to_dict())


@pytest.mark.parametrize("name", ALL)
def test_an_explanation_is_plain_data_of_one_form(name):
    reference = choquet.explain_sample(thing("measure"), ROWS.iloc[[0]]).to_dict()
    found = choquet.explain_sample(thing(name), ROWS.iloc[[0]]).to_dict()
    assert parsed(found).keys() == reference.keys()


@pytest.mark.parametrize("name", ALL)
def test_the_text_names_every_source_and_the_operator(name):
    why = choquet.explain_sample(thing(name), ROWS.iloc[[0]])
    text = why.text()
    assert all(source in text for source in NAMES)
    assert why.phrase in text
    assert not any(word in text for word in ("nan", "None", "{", "}"))


@pytest.mark.parametrize("name", ["choquet", "2-additive", "contextual"])
def test_names_are_only_names(name):
    X, y = data()
    other = dict(zip(NAMES, ("north", "south", "west"), strict=True))
    renamed = X.rename(columns=other)
    model = MAKERS[name]().fit(renamed, y)
    for one, two in zip(
        choquet.explain_samples(thing(name), ROWS),
        choquet.explain_samples(model, renamed.iloc[:12]),
        strict=True,
    ):
        np.testing.assert_allclose(one.contributions, two.contributions, atol=1e-9)
        text = one.text()
        for before, after in other.items():
            text = re.sub(rf"\b{before}\b", after, text)
        assert text == two.text()


@pytest.mark.parametrize("seed", range(5))
def test_sources_in_another_order_have_their_contributions_in_that_order(seed):
    rng = np.random.default_rng(seed)
    g = choquet.Measure.random(4, rng=rng)
    order = rng.permutation(4)
    x = rng.random(4)
    one = choquet.explain_sample(g, x[None])
    two = choquet.explain_sample(g.permute(order), x[order][None])
    np.testing.assert_allclose(two.contributions, one.contributions[order], atol=1e-12)


# -- of a model ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ALL)
def test_operators_come_by_their_share_and_shares_sum_to_one(name):
    story = choquet.explain_model(thing(name))
    shares = [operator.share for operator in story.operators]
    assert shares == sorted(shares, reverse=True)
    assert sum(shares) == pytest.approx(1)
    assert [operator.number for operator in story.operators] == list(range(len(shares)))


@pytest.mark.parametrize("name", ALL)
def test_an_operator_alone_is_the_one_of_the_model(name):
    story = choquet.explain_model(thing(name))
    for operator in story.operators:
        alone = choquet.explain_operator(thing(name), operator.number)
        assert parsed(alone.to_dict()) == parsed(operator.to_dict())
        assert operator.phrase in alone.text()


@pytest.mark.parametrize("name", ALL)
def test_a_story_is_plain_data_of_one_form_and_whole_sentences(name):
    story = choquet.explain_model(thing(name))
    assert (
        parsed(story.to_dict()).keys() == choquet.explain_model(thing("measure")).to_dict().keys()
    )
    text = story.text()
    assert story.sources == NAMES
    assert not any(word in text for word in ("nan", "None", "{", "}"))
    for line in text.splitlines():
        assert line[:1].isupper() or not line[:1].isalpha(), line
        assert line.rstrip()[-1:] in ".:", line


@pytest.mark.parametrize("name", [name for name in ALL if name not in CLASSIFIERS])
def test_the_operator_of_a_row_is_one_of_the_model(name):
    names = [operator.name for operator in choquet.explain_model(thing(name)).operators]
    for why in choquet.explain_samples(thing(name), ROWS):
        assert names[why.operator] == why.operator_name


def test_an_operator_that_is_not_there_is_refused():
    with pytest.raises((ValueError, IndexError)):
        choquet.explain_operator(thing("measure"), 99)


# -- of a report -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ALL)
def test_a_report_is_made_of_anything_fitted(name, tmp_path):
    X, y = data()
    target = y > 0.6 if name in CLASSIFIERS else y
    report = choquet.Report(thing(name), X, target, title="Three sensors")
    assert json.loads(report.json(), parse_constant=refuse) == parsed(report.data)
    page = report.html()
    assert page.count("Three sensors") >= 1
    assert "Three sensors" in report.markdown()
    for source in NAMES:
        assert source in page
        assert source in report.markdown()
    path = tmp_path / "report.html"
    report.write_html(path)
    assert path.read_text(encoding="utf-8") == page


@pytest.mark.parametrize("name", ["measure", *REGRESSORS])
def test_a_report_says_the_error_that_one_would_measure(name):
    X, y = data()
    report = choquet.Report(thing(name), X, y)
    expected = np.sqrt(np.mean((answers(thing(name), X) - y) ** 2))
    assert report.data["errors"]["rows"][0]["rmse"] == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("name", ALL)
def test_the_same_report_has_the_same_bytes(name):
    X, _ = data()
    one, two = (choquet.Report(thing(name), X.iloc[:20]) for _ in range(2))
    assert one.html() == two.html()
    assert one.json() == two.json()
