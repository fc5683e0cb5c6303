"""Fused classifiers: scores in any form, calibrated probabilities, the command, and the page."""

from __future__ import annotations

import re
import warnings

import numpy as np
import pandas
import pytest

import choquet
from choquet.errors import DataError, OptionError
from choquet.estimators.fusion.baselines import fusion_scores
from choquet.estimators.fusion.calibration import Kept, best_power, probabilities
from choquet.estimators.fusion.class_scores import ClassScores, Roles
from tests.commands import runner

SOURCES, CLASSES = ("resnet", "vgg", "caffe"), ("forest", "sea", "town")
LONG = {"id": "image", "label": "class", "score": "score", "source": "network", "truth": "label"}


def scores(n: int = 150, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Scores of three classifiers, the first better than the others, that sum to one."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    logits = rng.normal(size=(n, 3, 3)) + np.eye(3)[y][:, :, None] * [3.0, 2.0, 1.0]
    shares = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    return shares.round(6), np.array(CLASSES)[y]


def long_frame(S, y) -> pandas.DataFrame:
    rows = [
        (f"i{k}", CLASSES[c], SOURCES[s], S[k, c, s], y[k])
        for k in range(len(S)) for c in range(3) for s in range(3)
    ]  # fmt: skip
    frame = pandas.DataFrame(rows, columns=["image", "class", "network", "score", "label"])
    return frame.sample(frac=1, random_state=0)


def wide_frame(S, y=None, mark=":") -> pandas.DataFrame:
    columns = {f"{SOURCES[s]}{mark}{CLASSES[c]}": S[:, c, s] for s in range(3) for c in range(3)}
    return pandas.DataFrame(columns if y is None else {**columns, "label": y})


@pytest.fixture(scope="module")
def fitted():
    S, y = scores()
    return choquet.FusionClassifier(sources=SOURCES, classes=CLASSES).fit(S, y), S, y


def test_all_forms_give_the_same_model(fitted):
    model, S, y = fitted
    test, _ = scores(20, seed=1)
    expected = model.predict_proba(test)
    long = choquet.FusionClassifier(columns=LONG, sources=SOURCES).fit(long_frame(S, y))
    # Long rows were shuffled: samples come in another order, and so do the halves.
    assert long.fuse(test) == pytest.approx(model.fuse(test), abs=1e-6)
    assert long.sources_ == SOURCES
    for mark in (":", "_", "/"):
        wide = choquet.FusionClassifier(columns={"truth": "label"}).fit(wide_frame(S, y, mark))
        assert wide.sources_ == SOURCES
        assert wide.classes_.tolist() == list(CLASSES)
        assert wide.predict_proba(wide_frame(test, mark=mark)) == pytest.approx(expected, abs=1e-9)
    half = [
        {"image": k, "class": CLASSES[c], "label": y[k], **dict(zip(SOURCES, S[k, c], strict=True))}
        for k in range(len(S))
        for c in range(3)
    ]
    roles = {"id": "image", "label": "class", "truth": "label"}
    halved = choquet.FusionClassifier(columns=roles).fit(pandas.DataFrame(half))
    assert halved.predict_proba(test) == pytest.approx(expected, abs=1e-9)


def test_samples_and_scores_must_be_complete(fitted):
    _, S, y = fitted
    frame = long_frame(S[:5], y[:5])
    roles = Roles(**LONG)
    with pytest.raises(DataError, match="is missing"):
        ClassScores.from_columns(frame.iloc[:-1], roles)
    with pytest.raises(DataError, match="is given twice"):
        ClassScores.from_columns(pandas.concat([frame, frame.iloc[:1]]), roles)
    with pytest.raises(DataError, match="no column 'picture'"):
        ClassScores.from_columns(frame, Roles(**{**LONG, "id": "picture"}))
    torn = frame.assign(label=["forest", *frame.label[1:]])
    if torn.label.nunique() > 1:
        with pytest.raises(DataError, match="two true classes"):
            ClassScores.from_columns(torn.assign(label=np.arange(len(torn)).astype(str)), roles)
    with pytest.raises(DataError, match="do not tell source and class"):
        ClassScores.from_columns({"a": [0.1], "b": [0.2]}, Roles())
    with pytest.raises(DataError, match="true classes are missing"):
        choquet.FusionClassifier().fit(S)
    model = choquet.FusionClassifier(columns={"truth": "label"}).fit(wide_frame(S, y))
    with pytest.raises(DataError, match="no scores of source 'vgg'"):
        model.predict(ClassScores(S[:, :, [0, 2]], np.array(CLASSES), ("resnet", "caffe"), y))


def test_probabilities_are_calibrated(fitted):
    _, S, y = fitted
    test, truth = scores(600, seed=2)
    place = np.array([CLASSES.index(label) for label in truth])
    lost = {}
    for shared in (True, False):
        for calibrate in (True, False):
            model = choquet.FusionClassifier(shared=shared, calibrate=calibrate, classes=CLASSES)
            found = model.fit(S, y).predict_proba(test)
            np.testing.assert_allclose(found.sum(axis=1), 1)
            lost[shared, calibrate] = -np.log(found[np.arange(len(place)), place]).mean()
            assert np.isnan(model.power_) == (not calibrate)
    # The scores are overconfident about nothing: a power other than one must pay here.
    assert lost[True, True] < lost[True, False]
    assert lost[False, True] < lost[False, False]


def test_the_power_is_found_again():
    rng = np.random.default_rng(0)
    fused = rng.random((4000, 3))
    proba = probabilities(fused, 2.5)
    place = (proba.cumsum(axis=1) < rng.random((4000, 1))).sum(axis=1)
    assert best_power(fused, place, np.ones(4000)) == pytest.approx(2.5, rel=0.1)


def test_batches_keep_the_same_samples():
    rows = np.arange(30_000.0)[:, None, None]
    whole, batches = Kept(), Kept()
    whole.join(rows, rows[:, 0, 0], rows[:, 0, 0])
    for part in np.array_split(rows, 7):
        batches.join(part, part[:, 0, 0], part[:, 0, 0])
    for one, other in zip(whole.rows(), batches.rows(), strict=True):
        np.testing.assert_array_equal(one, other)
    assert len(whole.rows()[0]) <= 4000


def test_batches_give_the_same_probabilities(fitted):
    model, S, y = fitted
    parts = choquet.FusionClassifier(sources=SOURCES)
    for rows in np.array_split(np.arange(len(S)), 3):
        parts.partial_fit(S[rows], y[rows], classes=CLASSES)
    assert parts.power_ == pytest.approx(model.power_, rel=1e-4)
    assert parts.predict_proba(S) == pytest.approx(model.predict_proba(S), abs=1e-5)


def test_certainty_and_explanations_are_of_the_answer(fitted):
    model, S, _ = fitted
    proba, bounds = model.predict_proba(S), model.support_interval(S)
    best = proba.max(axis=1)
    assert (bounds[:, 0] <= best + 1e-9).all()
    assert (best <= bounds[:, 1] + 1e-9).all()
    sure = model.predict_interval(S[:10], level=0.9)
    assert (sure[:, 0] <= best[:10] + 1e-9).all()
    assert (best[:10] <= sure[:, 1] + 1e-9).all()
    assert (sure[:, 1] - sure[:, 0] <= np.ptp(model.predict_interval(S[:10], 0.99), axis=1)).all()
    share = model.support_share(S)
    assert ((share >= 0) & (share <= 1)).all()
    np.testing.assert_array_equal(model.trust(S), share)
    full = share == 1
    assert bounds[full, 0].min() <= bounds[full, 1].max()
    for row, why in zip(range(5), model.explain(S[:5]), strict=True):
        assert why.answer == model.predict(S[row : row + 1])[0]
        assert why.probability == pytest.approx(best[row])
        place = CLASSES.index(why.answer)
        assert why.why.output == pytest.approx(model.fuse(S[row : row + 1])[0, place])
        assert why.why.sources == SOURCES
        assert f"The answer is {why.answer}" in why.text()


def test_files_keep_names_and_probabilities(fitted, tmp_path):
    model, S, _ = fitted
    path = tmp_path / "fusion.json"
    choquet.save(model, path)
    again = choquet.load(path)
    assert again.sources_ == SOURCES
    assert again.predict_proba(S) == pytest.approx(model.predict_proba(S), abs=1e-12)
    assert "How 3 classifiers are combined" in choquet.Report(again).html()


def test_baselines_stand_beside_it(fitted):
    model, S, y = fitted
    given = model.class_scores(S).labelled(y)
    found = fusion_scores(model, given, refit=True, folds=3)
    assert list(found.scores) == ["model", "average", "single", "vote", "product", "stacking"]
    assert found.scores["single"].detail == "resnet"
    mean = S.mean(axis=2)
    place = np.array([CLASSES.index(label) for label in y])
    wrong = np.mean(mean.argmax(axis=1) != place)
    assert found.scores["average"].error == pytest.approx(wrong)
    shares = mean / mean.sum(axis=1, keepdims=True)
    lost = -np.log(shares[np.arange(len(y)), place]).mean()
    assert found.scores["average"].log_loss == pytest.approx(lost)
    assert np.isnan(found.scores["vote"].log_loss)
    with pytest.raises(DataError, match="does not know the class 'moon'"):
        fusion_scores(model, given.labelled(np.full(len(y), "moon")), refit=False)


@pytest.mark.parametrize("shared", [True, False])
def test_the_page_has_all_classes(shared):
    S, y = scores()
    test, truth = scores(60, seed=3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = choquet.FusionClassifier(shared=shared, sources=SOURCES, classes=CLASSES)
        report = choquet.Report(model.fit(S, y), test, truth)
        page, data = report.html(), report.data
    assert [row["label"] for row in data["classes"]] == list(CLASSES)
    assert sum(row["n"] for row in data["classes"]) == 60
    answers = model.predict(test)
    for row in data["classes"]:
        assert row["right"] == pytest.approx(
            np.mean(answers[truth == row["label"]] == row["label"])
        )
    assert data["first"]["quality"]["folds"] == 0
    assert "Log-loss" in page
    assert sum(row["n"] for row in data["reliability"]["rows"]) == 60
    for name in (*SOURCES, *CLASSES):
        assert name in page
        assert name in report.markdown()
    assert data["note"] is None


def test_two_classes_make_indices_vanish(fitted):
    _, S, y = fitted
    two = np.stack([S[:, 0], 1 - S[:, 0]], axis=1)
    label = np.where(y == "forest", "a", "b")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = choquet.FusionClassifier().fit(two, label)
        note = choquet.Report(model, two, label).data["note"]
    assert "interactions are 0" in note
    pairs = choquet.interaction(model.measure_)
    assert np.abs(pairs[~np.eye(3, dtype=bool)]).max() < 1e-6


def test_the_command_takes_long_and_wide_tables(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run = runner(capsys)
    S, y = scores(90)
    long_frame(S, y).to_csv("long.csv", index=False)
    wide_frame(S, y).to_csv("wide.csv", index=False)
    told = run(
        "fuse", "long.csv", "--truth", "label", "--id", "image", "--class", "class",
        "--score", "score", "--source", "network", "-o", "long.json", "--folds", "3",
    ).out  # fmt: skip
    assert "Learned to fuse 3 sources for 3 classes from 90 samples" in told
    assert re.search(r"stacking\s*│ \d", told)
    run("fuse", "wide.csv", "--truth", "label", "-o", "wide.json", "--folds", "0", "--per-class")
    rows = run("predict", "wide.json", "wide.csv", "--json").json()
    assert len(rows) == 90
    assert {"prediction", "probability", "lowest", "highest", "support", "p(sea)"} <= set(rows[0])
    assert np.mean([row["prediction"] == label for row, label in zip(rows, y, strict=True)]) > 0.8
    assert "The answer is" in run("explain", "wide.json", "wide.csv", "--row", "2").out
    run("report", "wide.json", "wide.csv", "-o", "page.html")
    assert "Class by class" in (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "name the other columns too" in run("fuse", "long.csv", "--truth", "label", "--score",
                                               "score", "-o", "x.json", code=1).err  # fmt: skip
    assert (
        "has no column 'truth'"
        in run("fuse", "wide.csv", "--truth", "truth", "-o", "x.json", code=1).err
    )


def test_options_are_checked():
    S, y = scores(30)
    regressor = choquet.ChoquetRegressor(loss="absolute")
    with pytest.raises(OptionError, match="loss='squared'"):
        choquet.FusionClassifier(regressor=regressor).fit(S, y)
    with pytest.raises(DataError, match="give classes="):
        choquet.FusionClassifier(classes=["a", "b"]).fit(S, y)


def test_reversed_sources_and_better_rivals_are_named(tmp_path, capsys):
    S, y = scores()
    turned = S.copy()
    turned[:, :, 0] = 1 - turned[:, :, 0]
    given = ClassScores(turned, np.array(CLASSES), SOURCES, np.arange(len(S)), y)
    assert given.reversed_sources() == ["resnet"]
    path = tmp_path / "turned.csv"
    wide_frame(turned, y).to_csv(path, index=False)
    done = runner(capsys)("fuse", path, "--truth", "label", "-o", tmp_path / "turned.json")
    assert "resnet gives the true class lower scores" in done.err
    assert "stacking is more accurate" in done.err
    wide_frame(S, y).to_csv(path, index=False)
    done = runner(capsys)("fuse", path, "--truth", "label", "-o", tmp_path / "plain.json")
    assert "lower scores" not in done.err
