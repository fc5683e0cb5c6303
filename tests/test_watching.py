"""Long work tells how far it is, to whoever listens."""

import io
import sys
import threading
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import choquet
from choquet.estimators import fit_chunks
from choquet.estimators.fusion.baselines import fusion_scores
from choquet.estimators.fusion.class_scores import ClassScores
from choquet.jobs import run_jobs
from choquet.learning import Statistics, least_squares, solve
from choquet.watching import Line, each, steps


def data(n=4, m=60):
    rng = np.random.default_rng(0)
    X = rng.random((m, n))
    return X, X.max(axis=1) + 0.02 * rng.standard_normal(m)


def fitted():
    return choquet.ChoquetRegressor().fit(*data())


def search():
    X, y = data(8, 100)
    return solve(least_squares(Statistics.from_data(X, y)), solver="admm")


def chunks():
    X, y = data()
    return fit_chunks(choquet.ChoquetRegressor(), [(X[:30], y[:30]), (X[30:], y[30:])])


def decide():
    table = pd.DataFrame({"a": [3.0, 1, 2], "b": [1.0, 2, 3]}, index=["x", "y", "z"])
    answer = choquet.Decision(table, scales=(0.0, 4.0)).say("x > y").solve(samples=20)
    return answer.necessary


def fuse():
    rng = np.random.default_rng(0)
    scores = rng.random((40, 3, 2))
    return choquet.FusionClassifier().fit(scores, rng.integers(0, 3, 40))


def fuse_held_out():
    rng = np.random.default_rng(0)
    scores, classes = rng.random((40, 3, 2)), np.array(["a", "b", "c"])
    truth = classes[np.arange(40) % 3]
    given = ClassScores(scores, classes, ("s", "t"), np.arange(40), truth)
    return fusion_scores(choquet.FusionClassifier().fit(scores, truth), given, refit=True)


def contextual():
    X, y = data(3, 80)
    return choquet.ContextualRegressor(max_leaves=3).fit(X, y)


WORKS = {
    "fit": (fitted, {"solving"}),
    "search": (search, {"solving", "steps of the search"}),
    "chunks": (chunks, {"adding up rows"}),
    "contextual": (contextual, {"growing contexts", "folds"}),
    "additive": (lambda: choquet.ChoquetAdditiveRegressor().fit(*data()), {"adding terms"}),
    "decompose": (lambda: choquet.decompose(fitted()), {"decomposing", "describing walks"}),
    "clodd": (lambda: choquet.decompose(fitted(), method="clodd"), {"decomposing"}),
    "identify": (lambda: fitted().identify(), {"intervals of values"}),
    "draws": (lambda: fitted().sample_measures(3, rng=0), {"drawing measures"}),
    "decide": (decide, {"drawing measures", "comparing alternatives"}),
    "fuse": (fuse, {"fusing"}),
    "fuse held out": (fuse_held_out, {"holding out samples", "trying simpler ways"}),
    "report": (
        lambda: choquet.Report(fitted(), *data()).html(),
        {"looking at the model", "drawing the page"},
    ),
}


@pytest.mark.parametrize("name", WORKS)
def test_each_work_tells_its_steps_from_nothing_to_all(name):
    work, titles = WORKS[name]
    told = []
    with choquet.watch(lambda *step: told.append(step)):
        work()
    assert titles <= {title for title, _, _ in told}
    open_ = {}
    for title, done, total in told:
        # A piece begins at nothing, does not go back, and is over when all is done.
        assert done >= open_.get(title, 0)
        assert total is None or done <= total
        assert title in open_ or done == 0
        open_[title] = done
        if done == total:
            del open_[title]
    assert not open_


def test_nobody_is_told_outside(capsys):
    told = []
    with choquet.watch(lambda *step: told.append(step)):
        pass
    fitted()
    assert told == []
    assert capsys.readouterr() == ("", "")


def test_an_error_of_the_listener_stops_the_work():
    class EnoughError(Exception):
        pass

    told = []

    def tell(*step):
        told.append(step)
        if len(told) == 3:
            raise EnoughError

    with choquet.watch(tell), pytest.raises(EnoughError):
        list(each("counting", range(10)))
    assert told == [("counting", 0, 10), ("counting", 1, 10), ("counting", 2, 10)]


def test_a_failure_ends_its_piece_and_a_break_too():
    told = []
    with choquet.watch(lambda *step: told.append(step)):
        with pytest.raises(ZeroDivisionError):
            sum(1 / k for k in each("dividing", [2, 0, 1]))
        for k in each("looking", range(5)):
            if k == 1:
                break
    assert told[2] == ("dividing", 3, 3)
    assert told[-1] == ("looking", 5, 5)


def test_listening_always_is_for_all_threads_until_it_is_stopped():
    told = []
    always = choquet.watch(lambda *step: told.append(step)).start()
    try:
        run_jobs(pow, [(2, 3), (3, 2)], title="powers")
        with choquet.watch(lambda *_: None):  # a listener of its own goes first
            run_jobs(pow, [(2, 3)], title="others")
    finally:
        always.stop()
    run_jobs(pow, [(2, 3)], title="later")
    assert told == [("powers", 0, 2), ("powers", 1, 2), ("powers", 2, 2)]


def test_the_line_is_drawn_over_itself_and_wiped_away():
    out = io.StringIO()
    with choquet.watch(Line(out, after=0.0, between=0.0)):
        for _ in each("folds", range(2)):
            with steps("solving") as advance:
                advance(30)
    pictures = out.getvalue().split("\r")
    assert any(one.startswith("folds ") and "0 of 2 · solving 30" in one for one in pictures)
    assert any("██████████·········· 1 of 2" in one for one in pictures)
    assert pictures[-1] == ""
    assert not pictures[-2].strip()


def test_the_line_comes_by_itself_when_a_step_takes_long():
    class Told(io.StringIO):
        def __init__(self):
            super().__init__()
            self.drawn = threading.Event()

        def write(self, text):
            self.drawn.set()
            return super().write(text)

    out = Told()
    with choquet.watch(Line(out, after=0.01, between=0.0)), steps("thinking"):
        assert out.drawn.wait(60)  # no step is done, and still something is said
    assert "thinking" in out.getvalue()


@pytest.mark.parametrize("kernel", [True, False])
def test_a_notebook_shows_the_line_below_the_cell_and_a_pipe_shows_none(
    kernel, monkeypatch, capsys
):
    shell = SimpleNamespace(kernel=1) if kernel else None
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
    with choquet.watch(Line(after=0.0, between=0.0)):
        list(each("cells", range(3)))
    out, err = capsys.readouterr()
    assert ("cells" in out) == kernel
    assert err == ""
