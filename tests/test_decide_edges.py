"""The command `choquet decide`, its page, and words for people."""

from __future__ import annotations

import json
import re

import pytest

from choquet.cli import main
from choquet.decide import Decision
from choquet.decide.words import percent, verdict
from choquet.errors import StatementError, TooLargeError

pytest.importorskip("jinja2")

CARS = """car,price,safety,space
Aria,18900,4.1,380
Bolt,24500,4.6,420
Cito,14200,3.2,260
Dune,31800,4.9,610
"""
SCALES = """price: poor 34000, good 14000
safety: poor 3, good 5
space: poor 200, good 700
"""
JARGON = re.compile(r"capacity|möbius|shapley|polytope|epsilon|optimal|2-additive", re.IGNORECASE)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "cars.csv").write_text(CARS)
    (tmp_path / "said.txt").write_text("Bolt > Aria\nsafety matters more than space\n" + SCALES)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def first_screen(page: str) -> str:
    found = re.search(r'<section class="verdict.*?</section>', page, re.DOTALL)
    return re.sub(r"<[^>]+>", " ", found[0])


def test_decide_writes_a_verdict_and_a_page(folder, capsys):
    assert main(["decide", "cars.csv", "said.txt", "-o", "r.html", "--samples", "200"]) == 0
    out = capsys.readouterr().out
    assert "How often each comes first" in out
    page = (folder / "r.html").read_text(encoding="utf-8")
    screen = first_screen(page)
    assert not JARGON.search(screen)
    assert "%" in screen  # never a ranking without shares
    assert "optimal" not in page
    assert "The seed was 0." in page
    assert "http://" not in page
    assert "https://" not in page
    assert main(["decide", "cars.csv", "said.txt", "-o", "r.html"]) == 1
    assert "--force" in capsys.readouterr().err
    assert main(["decide", "cars.csv", "said.txt", "-o", "r.md"]) == 1
    assert "a name that ends in .html, .htm" in capsys.readouterr().err


def test_a_conflict_has_its_own_exit_code_and_page(folder, capsys):
    (folder / "said.txt").write_text("Bolt > Aria\nAria > Bolt\n" + SCALES)
    assert main(["decide", "cars.csv", "said.txt", "-o", "r.html"]) == 3
    out = capsys.readouterr().out
    assert "line 1 “Bolt > Aria” and line 2 “Aria > Bolt” exclude each other" in out.replace(
        "Line", "line"
    )
    page = (folder / "r.html").read_text(encoding="utf-8")
    assert "Two of your statements exclude each other." in page
    assert "Drop <bdi>line 1" in page
    assert main(["decide", "cars.csv", "said.txt", "--json"]) == 3
    data = json.loads(capsys.readouterr().out)
    assert data["conflicts"][0]["numbers"] == [0, 1]


def test_wrong_lines_are_all_said(folder, capsys):
    (folder / "said.txt").write_text("Bolt > Arias\nsafety is nice\n" + SCALES)
    assert main(["decide", "cars.csv", "said.txt"]) == 1
    err = capsys.readouterr().err
    assert "line 1: 'Bolt > Arias': no alternative is called 'Arias'; did you mean Aria?" in err
    assert "\nline 2: " in err


def test_columns_without_scales(folder, capsys):
    (folder / "said.txt").write_text("Bolt > Aria\n")
    assert main(["decide", "cars.csv", "said.txt"]) == 1
    assert "price: poor ?, good ?    # the table has 14200 to 31800" in capsys.readouterr().err
    assert main(["decide", "cars.csv"]) == 0
    assert "price: poor ?, good ?" in capsys.readouterr().out
    (folder / "scales.txt").write_text(SCALES)
    assert main(["decide", "cars.csv", "scales.txt", "--samples", "100"]) == 0
    assert "Which" in capsys.readouterr().out  # the first question


def test_asking_appends_answers(folder, monkeypatch, capsys):
    import io
    import sys

    monkeypatch.setattr(sys, "stdin", io.StringIO("what\n3\n1\n\n"))
    code = main(["decide", "cars.csv", "said.txt", "--ask", "--samples", "100", "--sure", "100%"])
    assert code in (0, 3)
    text = (folder / "said.txt").read_text(encoding="utf-8")
    assert text.startswith("Bolt > Aria\n")
    assert "cannot say" in text
    assert re.search(r"# \d{4}-\d\d-\d\d", text)
    again = Decision(folder / "cars.csv").read(folder / "said.txt")
    assert len(again.statements) >= 3
    assert main(["decide", "cars.csv", "said.txt", "--sure", "3"]) == 1


def test_json_holds_shares_and_no_page(folder, capsys):
    assert main(["decide", "cars.csv", "said.txt", "--json", "--samples", "100"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["state"] in ("open", "settled")
    assert set(data["shares"]) == {"weights", "pairs", "all"}
    assert data["statements"][0] == {
        "number": 0, "line": 1, "text": "Bolt > Aria", "firm": 1.0, "follows": False,
    }  # fmt: skip


def test_names_are_escaped(tmp_path):
    bad = "<script>alert(1)</script>"
    table = {"car": [bad, "B & C"], "x": [0.1, 0.9], "y": [0.8, 0.3]}
    path = Decision(table).say(f'"{bad}" > "B & C"').solve(samples=100).report(tmp_path / "r.html")
    page = path.read_text(encoding="utf-8")
    assert "<script>alert" not in page
    assert page.count("<script") == 2


def test_a_settled_and_a_certain_verdict():
    table = {"car": ["A", "B", "C"], "x": [0.9, 0.1, 0.2], "y": [0.8, 0.3, 0.1]}
    certain = verdict(Decision(table).solve(samples=100))
    assert certain.headline == "A comes first, whatever the model."
    assert certain.settled
    assert certain.question == ""
    close = {"car": ["A", "B"], "x": [0.9, 0.1], "y": [0.1, 0.9]}
    open_ = verdict(Decision(close).solve(samples=400))
    assert not open_.settled
    assert "A or B" in open_.question
    assert "100 %" not in open_.shares


def test_a_share_of_draws_is_no_proof():
    """Every draw may agree, but only what is proved is called 0 or 100 %."""
    table = {"car": ["A", "B"], "x": [0.9, 0.89], "y": [0.1, 0.1001], "z": [0.5, 0.4]}
    solved = Decision(table).solve(samples=500)
    assert not solved.necessary[0, 1]
    assert percent(solved.claimed(0, 1.0)) == "over 99 %"
    assert percent(solved.claimed(1, 0.0)) == "under 1 %"


def test_what_follows_is_marked():
    table = {"car": ["A", "B", "C"], "x": [0.9, 0.5, 0.2], "y": [0.2, 0.6, 0.8]}
    data = Decision(table).say("A > B", "B > C", "A > C").solve(samples=50).to_dict()
    assert [row["follows"] for row in data["statements"]] == [False, False, True]


def test_columns_that_count_are_named(folder, capsys):
    lines = [line.split(",") for line in CARS.splitlines()]
    wide = "\n".join(",".join([*line, "seen"]) for line in lines)
    (folder / "wide.csv").write_text(wide)
    assert main(["decide", "wide.csv", "said.txt"]) == 1
    assert "--criteria price,space" in capsys.readouterr().err
    chosen = ["--criteria", "price, safety,space", "--names", "car", "--samples", "50"]
    assert main(["decide", "wide.csv", "said.txt", *chosen]) == 0
    assert "behind by" in capsys.readouterr().out


def test_the_table_of_shares_fits_a_terminal(folder, capsys):
    assert main(["decide", "cars.csv", "said.txt", "--samples", "50"]) == 0
    out = capsys.readouterr().out
    assert max(map(len, out[out.index("┏") :].splitlines())) <= 80
    for name in ("Aria", "Bolt", "Cito", "Dune"):
        assert f"│ {name} │" in out


def test_equal_alternatives_are_called_a_tie():
    table = {"car": ["A", "B", "C"], "x": [0.1, 0.1, 0.3], "y": [0.2, 0.2, 0.1]}
    said = verdict(Decision(table).say("A > C").solve(samples=100))
    assert said.changes == "In the middle model (the mean of those drawn) A and B tie."
    assert said.headline == "A and B tie for the first place, whatever the model."


def test_of_equal_alternatives_nothing_is_asked():
    answer = Decision({"car": ["A", "B"], "p": [0.5, 0.5], "q": [0.3, 0.3]}).solve(samples=100)
    said = verdict(answer)
    assert said.headline == "A and B tie for the first place, whatever the model."
    assert said.certain == "Certain whatever the model: who ties (A and B)."
    assert "range" not in said.families
    assert said.question == ""
    assert answer.question is None


def test_directions_that_contradict_scales_name_the_line(folder, capsys):
    (folder / "said.txt").write_text(SCALES + "price: higher is better\n")
    assert main(["decide", "cars.csv", "said.txt"]) == 1
    assert "line 4: 'price: higher is better'" in capsys.readouterr().err
    (folder / "said.txt").write_text("price: higher is better\n" + SCALES)
    assert main(["decide", "cars.csv", "said.txt"]) == 1
    assert "line 2: 'price: poor 34000, good 14000'" in capsys.readouterr().err


def test_the_explorer_knows_sets_of_more_criteria_than_bits():
    """A page holds sets as lists: 40 criteria do not fit into a number of a browser."""
    import numpy as np

    rng = np.random.default_rng(0)
    solved = Decision(rng.random((3, 40))).solve(("weights", "pairs"), samples=20)
    weights, pairs = solved.to_dict()["explorer"]
    assert weights["sets"] == [[i] for i in range(40)]
    assert [38, 39] in pairs["sets"]
    rows = solved.decision.levels.middle
    least = np.array([[rows[a][members].min() for members in pairs["sets"]] for a in range(3)])
    scores = np.array(pairs["points"]) @ least.T
    np.testing.assert_allclose(scores, solved.held[1].scores[: len(scores)], atol=0.02)
    assert np.shape(pairs["importances"]) == (len(scores), 40)


def test_a_table_without_scales_has_a_page(folder, capsys):
    assert main(["decide", "cars.csv", "-o", "r.html"]) == 0
    page = (folder / "r.html").read_text(encoding="utf-8")
    assert "price: poor ?, good ?    # the table has 14200 to 31800" in page
    assert "First question: which level of price is poor" in first_screen(page)
    assert "is not known for price, safety and space" in page
    table = CARS + "Echo,18900,4.0,380\n"
    (folder / "cars.csv").write_text(table)
    lower = ["--lower-is-better", "price"]
    assert main(["decide", "cars.csv", "-o", "r.html", "--force", *lower]) == 0
    page = (folder / "r.html").read_text(encoding="utf-8")
    assert "Aria is at least as good as Echo on every criterion." in first_screen(page)
    capsys.readouterr()
    assert main(["decide", "cars.csv", "--json", *lower]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["state"] == "start"
    assert data["dominance"] == [["Aria", "Echo"]]


def many(count, criteria, seed=5):
    import numpy as np

    X = np.random.default_rng(seed).random((count, criteria)).round(2)
    return {"name": [f"A{k}" for k in range(count)]} | {f"c{j}": X[:, j] for j in range(criteria)}


def test_many_alternatives_are_cut_to_a_short_list(folder, capsys):
    import numpy as np

    table = many(500, 3)
    lines = [",".join(map(str, row)) for row in zip(*table.values(), strict=True)]
    (folder / "many.csv").write_text("\n".join([",".join(table), *lines]) + "\n")
    (folder / "said.txt").write_text("c0 matters more than c1\nA7 > A8\n")
    words = ["decide", "many.csv", "said.txt", "-o", "r.html", "--samples", "50"]
    assert main(words) == 0
    out = capsys.readouterr().out
    short = Decision(table).say("A7 > A8").shortlist()
    assert f"{len(short.left_out)} of 500 alternatives are left out" in out
    assert "of 500 alternatives are left out" in first_screen((folder / "r.html").read_text())
    X = np.column_stack([table[f"c{j}"] for j in range(3)])
    beaten = [((x <= X).all(axis=1) & (x < X).any(axis=1)).any() for x in X]
    kept = [k for k, behind in enumerate(beaten) if not behind or k in (7, 8)]
    assert short.alternatives == tuple(f"A{k}" for k in kept)
    assert set(short.left_out) | set(short.alternatives) == set(table["name"])


def test_too_many_alternatives_say_what_to_do():
    with pytest.raises(TooLargeError, match=r"there are 500: go on with \.shortlist\(\)"):
        Decision(many(500, 3)).solve(samples=50)
    short = Decision(many(500, 9)).shortlist()
    with pytest.raises(TooLargeError, match=r"of 500 there are \d+ .* keep those"):
        short.solve(samples=50)
    with pytest.raises(TooLargeError, match="5001 alternatives are too many; the limit is 5000"):
        Decision(many(5001, 2))


def test_a_short_list_keeps_two():
    table = {"car": ["A", "B", "C"], "x": [0.9, 0.1, 0.2], "y": [0.8, 0.1, 0.2]}
    short = Decision(table).shortlist()
    assert short.alternatives == ("A", "C")  # C is beaten by fewer
    assert short.solve(samples=50).leader == "A"


def test_ranks_of_very_many_are_left_out():
    """Best and worst ranks are exact and slow: reports do without beyond 60 alternatives."""
    import numpy as np

    solved = Decision(np.random.default_rng(0).random((61, 2))).solve(samples=50)
    assert solved.shown_ranks is None
    assert solved.to_dict()["extreme_ranks"] is None
    assert solved.first["best_rank"].isna().all()
    proved = solved.extreme_ranks[:, 0] > 1
    assert not (solved.never_first & ~proved).any()
    assert solved.never_first.any()


def test_what_contradicts_another_file_names_file_and_line(folder, capsys):
    (folder / "more.txt").write_text("Bolt > Cito\n\nprice: poor 20000, good 10000\n")
    assert main(["decide", "cars.csv", "said.txt", "more.txt"]) == 1
    err = capsys.readouterr().err
    assert "more.txt, line 3: 'price: poor 20000, good 10000': price has another scale" in err


def test_groups_are_compared_within_a_group(folder):
    problem = Decision(folder / "cars.csv").read(folder / "said.txt")
    problem.say("group size: price, space")
    with pytest.raises(StatementError, match=r"'size matters more than space': .* same group"):
        problem.say("size matters more than space")
    with pytest.raises(StatementError, match=r"line 2: 'group other: space, safety': .* already"):
        problem.say("Bolt > Aria\ngroup other: space, safety")
    assert problem.say("safety matters more than size").check().ok
    found = problem.say("Cito ~ Bolt on size").check()
    assert found.ok
    level = {"car": ["A", "B"], "x": [0.9, 0.2], "y": [0.8, 0.6]}
    assert "A is better than B by 0.2 or more on every criterion" in str(
        Decision(level).say("A ~ B").check()
    )


def test_the_measure_of_a_decision_is_exported(folder):
    import sqlite3
    from contextlib import closing

    import numpy as np

    import choquet

    solved = Decision(folder / "cars.csv").read(folder / "said.txt").solve(samples=50)
    measure, rows = solved.measure("least variance"), solved.decision.levels.middle
    path = choquet.export(measure, folder / "model.sql", to="sql")
    with closing(sqlite3.connect(":memory:")) as base:
        base.execute("CREATE TABLE data (price REAL, safety REAL, space REAL)")
        base.executemany("INSERT INTO data VALUES (?, ?, ?)", rows.tolist())
        found = [row[0] for row in base.execute(path.read_text(encoding="utf-8"))]
    np.testing.assert_allclose(found, measure.integral(rows), atol=1e-12)
    choquet.save(measure, folder / "model.json")
    assert np.array_equal(choquet.load(folder / "model.json").values, measure.values)
