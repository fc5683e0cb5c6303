"""The paper's experiments in small: what can be reproduced, what is corrected, what is written."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import sys
from collections.abc import Iterable
from dataclasses import replace
from itertools import permutations
from math import factorial
from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure

from choquet import Measure, OperatorGraph, datasets, walk_weights
from choquet.errors import FileError, MissingDependencyError, OptionError
from choquet.explanation.phrases import plain
from choquet.learning import Statistics
from choquet.reproduce import EXPERIMENTS, ExperimentResult, Picture, Row, paper_page, reproduce
from choquet.reproduce import run as runner
from choquet.reproduce.__main__ import main
from choquet.reproduce.experiments import aid, aid_fusion, examples, noise, regression, sampling
from choquet.reproduce.experiments.aid_figure import FILE, four_networks
from choquet.reproduce.experiments.aid_fusion import average_walk, fuse_all
from choquet.reproduce.experiments.claims import claims
from choquet.reproduce.experiments.counting import CLUSTERINGS, xie_beni
from choquet.reproduce.experiments.descent import descend_from, starts
from choquet.reproduce.experiments.fits import fit, picture_correlation
from choquet.reproduce.experiments.regression_rows import PRINTED_YACHT
from choquet.reproduce.result import VERDICTS, Table, estimate
from choquet.reproduce.where import aid_origin, data_folder
from choquet.reproduce.work import Work
from choquet.walks import all_sorts


def verdict_of(rows: Iterable[Row], start: str) -> str:
    (found,) = [row.verdict for row in rows if row.paper.startswith(start)]
    return found


def verdict(result: ExperimentResult, start: str) -> str:
    return verdict_of(result.rows, start)


def draws(result: ExperimentResult) -> None:
    for picture in result.figures.values():
        figure = Figure(figsize=picture.size, layout="constrained")
        picture(figure)
        assert figure.axes


# -- examples --------------------------------------------------------------------------------------


def test_examples():
    result = examples.run()
    for kind in ("Choquet integral", "order statistic", "convex sum"):
        assert verdict(result, f"N = 2, {kind}") == "holds"
    assert verdict(result, "Lemma 1") == "holds"
    assert verdict(result, "Proof of Lemma 1") == "corrected"
    assert verdict(result, "Demining") == "corrected"
    assert verdict(result, "Normalisation") == "corrected"
    assert result.complete
    draws(result)


@pytest.mark.parametrize(
    "start",
    [
        "2^N variables: 1,024",
        "An order statistic is the integral",
        "Sorts are numbered lexicographically",
        "N = 3, h3 > h1 > h2",
        "For the maximum and the minimum",
        "Three operators are 18 against 64",
    ],
)
def test_numbers_of_the_first_sections_hold(start):
    assert verdict(examples.run(), start) == "holds"


def test_numbers_of_the_first_sections():
    _, found = claims()
    assert found["sizes"] == {"N = 10": 1024, "N = 20": 1_048_576, "N = 100": 2**100}
    assert found["familiar"] == {name: name for name in ("max", "min", "mean", "median")}
    assert found["sorts"] == [list(sort) for sort in permutations((1, 2, 3))]
    assert found["encountered"] == ["{x3}", "{x1, x3}", "{x1, x2, x3}"]
    assert found["savings"] == {"operators": 45, "values": 32767}
    # A fit without error is known to the root of what rounding leaves of its objective.
    assert max(found["locked_width"].values()) < 1e-5


def test_walk_weights_sum_to_one():
    sums = walk_weights(Measure.random(5, rng=0), all_sorts(5)).sum(axis=1)
    np.testing.assert_allclose(sums, 1)


def test_lemma_is_constructed_both_ways():
    lemma = examples.run().numbers["lemma"]
    assert set(lemma["fewest"].values()) == {1}
    assert lemma["most"] == {n: factorial(n) for n in lemma["most"]}


def test_demining_has_two_operators():
    found = examples.run().numbers["demining"]
    assert found["names"] == ["max", "median"]
    np.testing.assert_array_equal(found["operators"], [[1, 0, 0], [0, 1, 0]])


def test_largest_dissimilarity_is_two_for_l1_and_squared_l2_only():
    found = examples.run().numbers["max_to_min"]
    assert found["l1"] == pytest.approx(2)
    assert found["sql2"] == pytest.approx(2)
    assert found["l2"] == pytest.approx(2**0.5)


# -- noise -----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def noisy():
    return noise.run(seeds=1)


def test_both_readings_have_the_same_four_operators(noisy):
    found = noisy.numbers["operators"]
    assert found["figure"]["walks"] == [44, 28, 16, 32]
    assert found["caption"]["walks"] == [36, 36, 12, 36]
    expected = [[1, 1, 4, 0, 4], [1, 3, 2, 0, 4], [1, 1, 4, 3, 1], [1, 3, 2, 3, 1]]
    for reading in found.values():
        np.testing.assert_allclose(reading["weights"], np.array(expected) / 10, atol=1e-9)


def test_without_noise_the_four_operators_come_back(noisy):
    assert verdict(noisy, "σ = 0:") == "holds"


def test_noise_makes_more_operators_and_larger_errors(noisy):
    found = noisy.numbers["found"]
    walk = [found[f"figure | {s} | False | least squares"]["walk"].mean for s in noise.SIGMAS]
    assert walk == sorted(walk)
    assert found["figure | 0.1 | False | least squares"]["distinct"].mean > 50


def test_every_clustering_counts_and_gets_its_own_verdict(noisy):
    lines = [row for row in noisy.rows if row.paper.startswith("σ = 0.1: more than the four")]
    counted = [row.found.split(":")[0] for row in lines]
    assert counted == ["distinct, to three decimals", "CLODD", *CLUSTERINGS]
    found = noisy.numbers["found"]["figure | 0.1 | False | least squares"]
    for row, name in zip(lines, ["distinct", "CLODD", *CLUSTERINGS], strict=True):
        assert row.verdict == ("holds" if found[name].low > 4 else "differs")
    quiet = noisy.numbers["found"]["figure | 0.0 | False | least squares"]
    assert {quiet[name].mean for name in CLUSTERINGS} == {4}
    (table,) = noisy.tables
    assert [row[0] for row in table.rows] == counted


def test_clusters_of_fuzzy_c_means_are_judged_by_spread_and_distance():
    points = np.repeat(np.eye(3), 4, axis=0) + 0.01 * np.random.default_rng(0).random((12, 3))
    scores = {k: xie_beni(points, np.ones(12, dtype=int), k, rng=0) for k in (2, 3, 4)}
    assert min(scores, key=scores.get) == 3


def test_noise_draws(noisy):
    assert set(noisy.figures) == {"figure4", "noise", "noise_counts"}
    draws(noisy)


# -- sampling --------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def sampled():
    return sampling.run(seeds=1)


def test_all_walks_determine_the_measure(sampled):
    found = sampled.numbers["found"]["1.0"]
    assert found["error"].mean < 1e-6
    assert found["like_true"].mean == pytest.approx(1, abs=1e-6)


def test_few_walks_touch_most_values(sampled):
    found = sampled.numbers["found"]["0.15"]
    assert found["values_seen"].mean > 0.8
    assert 0.4 < found["walks_supported"].mean < 1
    assert found["like_supported"].mean > found["by_chance"].mean
    draws(sampled)


def test_ascending_sorts_call_walks_supported_that_are_not(sampled):
    assert sampled.numbers["found"]["0.15"]["ascending"].mean > 0
    assert sampled.numbers["found"]["1.0"]["ascending"].mean == 0
    assert verdict(sampled, "(in the authors' program)") == "corrected"


def test_samples_take_only_the_walks_chosen():
    _, X, _ = sampling.draw_sample(0.15, (0, 0))
    assert len(np.unique(np.argsort(-X, axis=1), axis=0)) == 18


# -- AID -------------------------------------------------------------------------------------------


def test_aid_says_when_data_are_absent(tmp_path):
    result = aid.run(data=tmp_path)
    assert [row.verdict for row in result.rows] == ["skipped", "skipped"]
    assert "CHOQUET_DATA" in result.rows[0].found
    assert not result.complete


def test_the_median_of_four_networks_is_not_identified(shared_data):
    rows, numbers, decomposition = four_networks(shared_data / "aid" / FILE, None)
    assert numbers["sum_of_squares"] == pytest.approx(4.19116e-4, rel=1e-4)
    low, high = numbers["interval"]
    assert low == pytest.approx(0, abs=1e-3)
    assert high == pytest.approx(0.997, abs=1e-3)
    assert numbers["rows_touching"] == 1
    assert numbers["gap"] == pytest.approx(1e-4, rel=1e-6)
    assert numbers["excess_of_printed_value"] < 1e-4
    assert [operator.name for operator in decomposition.operators] == ["trimmed min", "trimmed max"]
    assert [row.verdict for row in rows] == ["corrected", "not reproducible", "holds"]


@pytest.fixture(scope="module")
def whole(shared_data):
    return datasets.fetch_aid(aid_origin(shared_data), progress=None)


@pytest.fixture(scope="module")
def scores(whole):
    """Four classes of the first network fold."""
    return replace(
        whole, scores=whole.scores[:1, :, :4], labels=whole.labels[:1], classes=whole.classes[:4]
    )


def test_aid_is_as_large_as_said(whole):
    folds, halves, classes, images, networks = whole.scores.shape
    assert folds * halves * classes == 300
    assert (classes, images * halves * folds, networks) == (30, 10_000, 7)


def test_the_example_is_bare_land_of_the_test_half(shared_data, scores):
    rows, numbers, _ = four_networks(shared_data / "aid" / FILE, scores)
    assert numbers["equals_test_half"]
    assert "BareLand" in rows[-1].found


@pytest.fixture(scope="module")
def fused(scores):
    return fuse_all(scores, n_folds=1)


def test_exact_optima_are_no_minimum(fused):
    fusion = fused
    assert len(fusion.measures) == 8
    assert average_walk(fusion.measures)[-1] < 0.1
    assert average_walk(fusion.shared).argmax() == 3  # the median's rank
    assert np.mean(fusion.error["Choquet, one measure a class"]) < 0.5 * np.mean(
        fusion.error["min"]
    )
    assert np.mean([walks.tied_rows for walks in fusion.walks]) > 0.98
    assert all(walks.untied < walks.by_sorting for walks in fusion.walks)
    start = average_walk(fusion.descents["1/(2^N-2), 0 steps"])
    np.testing.assert_allclose(start[:-1], 1 / 126)
    np.testing.assert_allclose(average_walk(fusion.descents["1/N, 0 steps"]), 1 / 7)


def test_aid_tells_every_network_and_every_start(fused):
    names = [row[0] for row in aid._test_table(fused).rows]
    assert {"mean", "median", "min", "max", "Xception", "CaffeNet"} <= set(names)
    assert len(names) == 2 + 4 + 7
    table = aid._descent_table(fused)
    near_minimum = {row[0]: row[2] for row in table.rows}
    assert near_minimum["1/(2^N-2), 0 steps"] == "100%"
    assert near_minimum["1/N, 0 steps"] == "0%"
    assert {row.verdict for row in aid._minimum_rows(fused)} == {"differs"}
    assert verdict_of(aid._walk_rows(fused), "About 60") == "holds"
    assert verdict_of(aid._walk_rows(fused), "Almost all observations") == "holds"


def test_measures_of_others_are_tested_on_the_same_scores(scores, fused):
    order = {"min": [0.0] * 6 + [1.0], "max": [1.0] + [0.0] * 6}
    for name, weights in order.items():
        errors, accuracy = aid_fusion.mean_tests([Measure.symmetric(weights)], scores, 1)
        # Those of `fused` are on the other half, so they come in the other order.
        np.testing.assert_allclose(errors, fused.error[name][::-1])
        np.testing.assert_allclose(accuracy, fused.accuracy[name][::-1])


def test_descent_leaves_values_on_which_no_data_rest():
    X = np.array([[0.9, 0.5, 0.1], [0.8, 0.4, 0.3]])
    found = descend_from([Statistics.from_data(X, X.max(axis=1))], starts(3)["1/N"])[0]
    assert found[0b001] > 0.5
    assert found[0b100] == pytest.approx(1 / 3)
    Measure(found)  # monotone


def test_descent_comes_near_the_exact_optimum_where_data_are_rich():
    made = datasets.make_fusion(400, 3, rng=3)
    statistics = Statistics.from_data(made.data, made.target)
    found = descend_from([statistics], 1 / 3, n_steps=5000)[0]
    np.testing.assert_allclose(found, fit(made.data, made.target).measure_.values, atol=0.02)


# -- regression ------------------------------------------------------------------------------------


@pytest.fixture(scope="module", params=["yacht", "airfoil"])
def regressed(request):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(regression, "N_SPLITS", 2)
        patch.setattr(regression, "N_TREES", 5)
        patch.setattr(regression, "KEPT", (1, 4))
        patch.setattr(regression, "STRENGTHS", {"l1": (10.0,), "l2": (1.0,)})
        patch.setattr(regression, "SWEEP", (10.0,))
        patch.setattr(regression, "LEAF_PENALTIES", (3.0,))
        yield regression.run(dataset=request.param, seeds=1)


def test_walks_observed(regressed):
    wanted = {"yacht": 0.111, "airfoil": 0.667}[regressed.name]
    assert regressed.numbers["walks_observed"] == pytest.approx(wanted, abs=1e-3)
    assert regressed.rows[0].verdict == "holds"


def test_compression_costs_accuracy(regressed):
    found = regressed.numbers
    small = found["training_error_of_operators"]["none, supported walks"]
    assert small > 2 * found["training_error"]["none"]
    errors = found["cross_validated_error"]
    assert errors["operators of CIR, refit"].mean < errors["operators of CIR"].mean
    draws(regressed)


def test_contextual_operators_stand_beside_the_others(regressed):
    n = {"yacht": 6, "airfoil": 5}[regressed.name]
    (table,) = regressed.tables
    rows = {row[0]: row for row in table.rows}
    assert list(rows) == list(regressed.numbers["cross_validated_error"])
    assert rows["CIR"][3] == f"2^{n} = {2**n}"
    k = regressed.numbers["operators"]["none, all walks"]
    assert rows["operators of CIR"][3] == f"{n} × {k} = {n * k}"
    few = regressed.numbers["contextual"]["contextual, ≤ 4 operators"]
    assert few["operators"] <= 4
    # Weights, a bias each, and the rules between.
    assert few["numbers"] == few["operators"] * (n + 1) + few["operators"] - 1
    errors = regressed.numbers["cross_validated_error"]
    best = min(e.mean for name, e in errors.items() if name.startswith("contextual"))
    assert best < errors["operators of CIR"].mean


def test_all_operators_of_a_measure_have_the_same_sum(regressed):
    for name, weights in regressed.numbers["weights"].items():
        total = regressed.numbers["total"][name.split(",")[0]]
        np.testing.assert_allclose(np.sum(weights, axis=1), total, atol=1e-8)


def test_a_printed_operator_of_yacht_does_not():
    sums = np.sum(PRINTED_YACHT, axis=1)
    assert abs(sums[0] - sums[2]) < 0.03
    assert sums[1] == pytest.approx(1.23)


def test_an_unknown_data_set_is_refused():
    with pytest.raises(OptionError, match="iris"):
        regression.run(dataset="iris")


# -- running and writing ---------------------------------------------------------------------------


def _draw(rng, k):
    return float(np.random.default_rng([rng, k]).random())


@pytest.fixture
def tiny(monkeypatch):
    """Two experiments that count how often they are run."""
    calls = []

    def make(name, verdict="holds"):
        def run(*, data=None, seeds=1, rng=0, work=Work()):  # noqa: B008
            calls.append(name)
            drawn = work.map(_draw, {f"seed {k}": (rng, k) for k in range(seeds)})
            picture = Picture("A line", (2, 2), lambda figure: figure.subplots().plot(drawn))
            numbers = {"mean": estimate(drawn), "bad": float("nan")}
            row = Row("one | two", "one", verdict)
            table = Table("More", ("a", "b"), [("<i>", "2")])
            figures = {f"{name}_a": picture}
            return ExperimentResult(
                name, name.title(), (row,), numbers, figures, ("A note.",), (table,)
            )

        return run

    experiments = {"examples": make("examples"), "aid": make("aid", "skipped")}
    monkeypatch.setattr(runner, "EXPERIMENTS", experiments)
    return calls


def test_files_are_written_and_taken_up_again(tiny, tmp_path):
    seen = []
    first = reproduce(out=tmp_path, seeds=3, progress=lambda *told: seen.append(told))
    assert tiny == ["examples", "aid"]
    assert ("examples", 3, 3) in seen
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {
        *("examples.json", "examples.md", "examples_a.png"),
        *("aid.json", "aid.md", "aid_a.png"),
        *("index.md", "index.html", "results.json"),
    }
    again = reproduce(out=tmp_path, seeds=3)
    assert tiny == ["examples", "aid", "aid"]  # what was skipped is tried again
    assert (
        again["examples"]
        == first["examples"]
        == json.loads((tmp_path / "examples.json").read_text())
    )
    assert first["examples"]["numbers"]["bad"] is None
    assert "one \\| two" in (tmp_path / "examples.md").read_text()


def test_other_options_or_lost_files_run_again(tiny, tmp_path):
    reproduce("examples", out=tmp_path, seeds=3)
    reproduce("examples", out=tmp_path, seeds=4)
    (tmp_path / "examples_a.png").unlink()
    reproduce("examples", out=tmp_path, seeds=4)
    reproduce("examples", out=tmp_path, seeds=4, resume=False)
    (tmp_path / "examples.json").write_text('{"kind": "choquet reproduction", "na')
    reproduce("examples", out=tmp_path, seeds=4)
    assert tiny == ["examples"] * 5


def test_the_same_seed_gives_the_same_files(tiny, tmp_path):
    for name in "ab":
        reproduce("examples", out=tmp_path / name, seeds=3)
    for path in (tmp_path / "a").iterdir():
        assert path.read_bytes() == (tmp_path / "b" / path.name).read_bytes(), path.name


def test_one_page_holds_everything_and_asks_for_nothing(tiny, tmp_path):
    reproduce(out=tmp_path, seeds=2)
    page = (tmp_path / "index.html").read_text(encoding="utf-8")
    results = json.loads((tmp_path / "results.json").read_text(encoding="utf-8"))
    assert list(results["experiments"]) == ["examples", "aid"]
    assert results["experiments"]["examples"]["tables"][0]["rows"] == [["<i>", "2"]]
    for inside in ("one | two", "&lt;i&gt;", "A note.", ">holds<", ">skipped<", 'id="aid"'):
        assert inside in page
    picture = base64.b64encode((tmp_path / "examples_a.png").read_bytes()).decode()
    assert f'src="data:image/png;base64,{picture}" width="160" height="160"' in page
    assert "<script" not in page
    assert "prefers-color-scheme: dark" in page
    links = re.findall(r"(?:href|src)=\"([^\"]*)\"", page)
    assert all(link.startswith(("#", "data:")) for link in links)
    # The style passes the page's own policy.
    (style,) = re.findall(r"<style>(.*?)</style>", page, flags=re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    assert f"style-src 'sha256-{digest}'" in page


def test_results_of_an_older_kind_are_left_out_of_the_page(tiny, tmp_path):
    reproduce(out=tmp_path, seeds=2)
    old = json.loads((tmp_path / "aid.json").read_text())
    del old["tables"]
    (tmp_path / "aid.json").write_text(json.dumps(old))
    reproduce("examples", out=tmp_path, seeds=2)
    assert list(json.loads((tmp_path / "results.json").read_text())["experiments"]) == ["examples"]


@pytest.mark.parametrize(
    "name",
    [
        *("examples.md", "examples.json", "examples_a.png", "examples.part"),
        *("index.md", "index.html", "results.json"),
    ],
)
def test_files_of_others_stay(tiny, tmp_path, name):
    (tmp_path / name).write_text("mine")
    with pytest.raises(FileError, match="choose another folder"):
        reproduce("examples", out=tmp_path)
    assert (tmp_path / name).read_text() == "mine"


def test_a_stopped_run_can_be_taken_up(tiny, tmp_path, monkeypatch):
    def stop(picture):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(runner, "_png", stop)
        with pytest.raises(KeyboardInterrupt):
            reproduce("examples", out=tmp_path)
    assert reproduce("examples", out=tmp_path)["examples"]["complete"]


def test_finished_repetitions_of_a_stopped_run_are_kept(tmp_path, monkeypatch):
    def stop(rng, k):
        if k == 2 and stopping:
            raise KeyboardInterrupt
        asked.append(k)
        return _draw(rng, k)

    def run(*, data=None, seeds=1, rng=0, work=Work()):  # noqa: B008
        found = work.map(stop, {f"seed {k}": (rng, k) for k in range(seeds)})
        return ExperimentResult("examples", "Examples", (Row("a", "b", "holds"),), {"all": found})

    monkeypatch.setattr(runner, "EXPERIMENTS", {"examples": run})
    stopping, asked = True, []
    with pytest.raises(KeyboardInterrupt):
        reproduce("examples", out=tmp_path, seeds=3)
    assert (tmp_path / "examples.part").is_file()
    with (tmp_path / "examples.part").open("a") as file:
        file.write('["seed 7", 0.')  # cut short
    stopping = False
    told = []
    found = reproduce("examples", out=tmp_path, seeds=4, progress=lambda *at: told.append(at))
    assert asked == [0, 1, 2, 3]
    assert told[0] == ("examples", 2, 4)
    assert found["examples"]["numbers"]["all"] == [_draw(0, k) for k in range(4)]
    assert not (tmp_path / "examples.part").exists()
    stopping = True
    with pytest.raises(KeyboardInterrupt):
        reproduce("examples", out=tmp_path, seeds=3, rng=1)
    stopping, asked = False, []
    reproduce("examples", out=tmp_path, seeds=3, rng=1, resume=False)
    assert asked == [0, 1, 2]


def test_parallel_repetitions_give_the_same_numbers():
    """The three tasks that are shared out, in worker processes and in this one."""
    made = datasets.make_fusion(200, 5, rng=0)
    tied = made.data.round(1)
    for task, arguments in (
        (noise._trial, (noise.Setting("figure", 0.05, False, "least squares"), (0, 0))),
        (sampling._repetition, (0, 0)),
        (aid_fusion._learn, (tied, made.target)),
    ):
        twice = {"a": arguments, "b": arguments}
        together = Work(2).map(task, twice)
        # Through a file as well: what is kept must be what was found.
        assert json.dumps(together) == json.dumps(Work().map(task, twice))


def test_work_is_refused_or_told():
    with pytest.raises(OptionError, match="n_jobs=0"):
        reproduce("examples", n_jobs=0)
    told = []
    work = Work(2, progress=lambda *at: told.append(at))
    assert work.map(_draw, {f"{k}": (0, k) for k in range(9)}) == [_draw(0, k) for k in range(9)]
    assert told == [(8, 9), (9, 9)]


def test_a_page_without_jinja_is_refused_before_anything_runs(tiny, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(MissingDependencyError, match=r"choquet\[report\]"):
        reproduce("examples", out=tmp_path)
    assert tiny == []


def test_one_page_of_all_results(tiny, tmp_path):
    reproduce(out=tmp_path / "out")
    page = paper_page(tmp_path / "out", tmp_path / "paper.md", images=tmp_path / "images" / "p")
    text = page.read_text()
    assert "(images/p/examples_a.png)" in text
    assert (tmp_path / "images" / "p" / "examples_a.png").is_file()
    paper_page(tmp_path / "out", page, images=tmp_path / "images" / "p")
    page.write_text("mine")
    with pytest.raises(FileError, match="choose another name"):
        paper_page(tmp_path / "out", page, images=tmp_path / "images")


def test_bad_options():
    with pytest.raises(OptionError, match="'nose' is unknown"):
        reproduce("nose")
    with pytest.raises(OptionError, match="names nothing"):
        reproduce([])
    with pytest.raises(OptionError, match="seeds=0"):
        reproduce("examples", seeds=0)
    with pytest.raises(FileError, match="no/such"):
        reproduce("examples", data="no/such")
    with pytest.raises(OptionError, match="perhaps"):
        Row("a", "b", "perhaps")
    with pytest.raises(OptionError, match="has not 2 cells"):
        Table("T", ("a", "b"), [("one",)])


def test_every_verdict_and_experiment_has_its_name():
    assert set(EXPERIMENTS) == {
        "examples", "noise", "sampling", "aid", "yacht", "airfoil", "authors", "solvers",
    }  # fmt: skip
    assert VERDICTS[:4] == ("holds", "corrected", "not reproducible", "differs")


def test_the_folder_of_data(monkeypatch, tmp_path):
    monkeypatch.setenv("CHOQUET_DATA", str(tmp_path))
    assert data_folder() == tmp_path
    assert aid_origin(tmp_path) is None
    (tmp_path / "aid" / "AID_dataset").mkdir(parents=True)
    assert aid_origin(tmp_path) == tmp_path / "aid"


def test_from_the_shell(tiny, tmp_path, capsys):
    assert main(["examples", "-o", str(tmp_path / "out"), "--seeds", "2"]) == 0
    assert capsys.readouterr().out.startswith("examples: 1 holds (")
    page = ["--page", str(tmp_path / "p.md"), "--images", str(tmp_path / "i")]
    assert main(["page", "-o", str(tmp_path / "out"), *page]) == 0
    assert main(["page", "-o", str(tmp_path / "none"), *page]) == 1
    assert "holds no results" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["page"])


def test_small_parts():
    assert plain({"a": [np.float64(1), np.inf]}) == {"a": [1.0, None]}
    assert np.isnan(picture_correlation(np.zeros((3, 3)), np.ones((3, 3))))
    assert f"{estimate([3.0]):.1f}" == "3.0"
    assert OperatorGraph(examples.three_operator_measure()).n_operators == 3


def test_the_page_of_the_docs_is_written_by_the_command():
    page = Path(__file__).resolve().parents[1] / "docs" / "paper.md"
    text = page.read_text(encoding="utf-8")
    assert "written by the choquet reproduction" in text
    images = sorted((page.parent / "images" / "paper").glob("*.png"))
    assert images
    erratum = (page.parent / "erratum.md").read_text(encoding="utf-8")
    assert all(f"images/paper/{image.name}" in text + erratum for image in images)
    assert all(image.stat().st_size < 60_000 for image in images)
