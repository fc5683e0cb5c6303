"""Numbers as people write them: decimal marks, thousands, percent signs and units."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from choquet.cli.marks import Marks, UnclearNumberError, advice, kind_of
from tests.commands import as_text, runner, sample, write


@pytest.fixture
def run(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return runner(capsys)


def highest(run, text, **expected):
    """The largest value of each column as it was read, and what was noted."""
    done = run("inspect", write("t.csv", text), "--json")
    found = {one["column"]: one["high"] for one in done.json()["columns"]}
    assert {name: found[name] for name in expected} == expected
    return done.err


@pytest.mark.parametrize(
    ("text", "price"),
    [
        ("price;score\n2,626;0.27\n998;0.5\n", 2626),
        ("price;score\n2.626;0,27\n998;0,5\n", 2626),
        ('price,score\n"2,626",0.27\n998,0.5\n', 2626),
        ("price;score\n1,234,567;3\n2,626;5\n", 1234567),
        ("price;score\n1.234.567;3\n2.626;5\n", 1234567),
        ("price;score\n1.234,5;3\n998;5\n", 1234.5),
        ("price;score\n1,234.5;3\n998;5\n", 1234.5),
        ('price,score\n"1,234.5",3\n998,5\n', 1234.5),
        ("price;score\n2,626\t;998.5\n-12,345;0.5\n", 2626),
        ("price\tscore\n2,626\t0.27\n998\t0.5\n", 2626),
    ],
)
def test_marks_between_thousands_are_told_by_the_rest_of_the_file(text, price, run):
    assert "in 'price' were read as thousands separators" in highest(run, text, price=price)


@pytest.mark.parametrize(
    ("text", "price"),
    [
        ("price;score\n2,626;0,27\n9,8;0,5\n", 9.8),
        ("price;score\n2,626;0,27\n1,5;3\n", 2.626),
        ("price;score\n2,626;3,5\n9;3\n", 9),
        ("price;score\n2,626;0,581\n9;3\n", 9),
        ("price;score\n2.626;1\n998;3\n", 998),
        ("price,score\n2.626,0.27\n998,0.5\n", 998),
        ("price;score\n2.626;0.27\n1.5;3\n", 2.626),
    ],
)
def test_decimal_marks_stay_what_they_are(text, price, run):
    assert "thousands" not in highest(run, text, price=price)


@pytest.mark.parametrize(
    "text",
    [
        "price;score\n2,626;1\n998;2\n",
        "price;score\n5;1\n2,626;2\n",
        'price,score\n"2,626",1\n998,2\n',
        "price;score;other\n2,626;0.5;0,5\n998;0.25;0,2\n",
    ],
)
def test_what_may_be_two_numbers_is_refused(text, run):
    for words in (("inspect",), ("fit", "-o", "m.json"), ("fit", "--learner", "additive")):
        err = run(*words, write("t.csv", text), code=1).err
        line = 2 + ("5;1" in text)
        assert f"line {line}, column 'price': '2,626'" in err
        assert "write numbers without thousands separators" in err
        assert err.count("\n") == 1
    assert not Path("m.json").exists()


def test_the_note_shows_a_value_of_the_file(run):
    X, y = sample(20)
    write("t.csv", as_text(X, y, delimiter=";").replace(".", ","))
    err = run("fit", "t.csv", "-o", "m.json").err
    assert f"decimal commas: {str(X[0, 0]).replace('.', ',')} as {X[0, 0]}" in err
    assert f"{str(X[0, 0]).replace('.', ',')} as" in run("predict", "m.json", "t.csv").err


def test_a_later_cell_that_contradicts_the_first_rows_is_refused():
    marks = Marks(["a", "b"], [["2,626", "0.5"], ["998", "0.2"]])
    assert marks.plain("2,626", "a") == "2626"
    with pytest.raises(UnclearNumberError, match="above commas part thousands"):
        marks.plain("3,5", "a")
    assert marks.plain("red", "a") == "red"


def test_words_of_a_column_do_not_say_what_marks_are():
    rows = [["2,626", "3,5"], ["998", "so so"], ["9", "well"]]
    with pytest.raises(UnclearNumberError):
        Marks(["a", "b"], rows).plain("2,626", "a")


# -- percent signs and units -----------------------------------------------------------------------


def test_advice_is_right_for_each_way_to_write_a_number():
    assert "percent" in str(advice("5%"))
    assert "without thousands separators" in str(advice("52,452"))
    assert "decimal comma" in str(advice("3,5"))
    assert "unit" in str(advice("$1,200"))
    assert "unit" in str(advice("12 km/h"))
    assert [advice(word) for word in ("red", "car 1", "2019-01-01", "a1", "-", "")] == [None] * 6
    assert kind_of("1.5") is None


def test_percent_signs_and_units_are_not_categories_without_a_word(run):
    X, y = sample(30)
    shares = [f"{k % 7}%" for k in range(30)]
    write("t.csv", as_text(np.column_stack([X[:, 0], shares]), y, names=("gpr", "share", "truth")))
    for learner in ("additive", "choquet"):
        err = run("fit", "t.csv", "--learner", learner, "-o", "m.json", code=1).err
        assert "line 2, column 'share': '0%' is not a number; take the percent signs out" in err
        assert "takes categories" not in err
    weights = [f"{5 + k % 3} kg" for k in range(30)]
    write("u.csv", as_text(np.column_stack([X[:, 0], weights]), y, names=("gpr", "w", "truth")))
    err = run("fit", "u.csv", "--learner", "additive", "--folds", "0", "-o", "m.json").err
    assert "'w' is taken as words, such as '5 kg'" in err


# -- targets ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["{:.0f}%", "{:.0f} EUR", "${:.0f}"])
def test_a_target_of_written_numbers_is_not_learned_as_classes(form, run):
    X, y = sample(15)
    labels = [form.format(100 * value) for value in y]
    write("t.csv", as_text(X, labels))
    for learner in ("additive", "auto"):
        err = run("fit", "t.csv", "--learner", learner, "-o", "m.json", code=1).err
        assert f"the target holds numbers that are written as text, such as {labels[0]!r}" in err


@pytest.mark.parametrize("learner", ["classifier", "additive-classifier", "additive"])
def test_a_target_whose_rows_are_classes_of_their_own_is_refused(learner, run):
    X, _ = sample(15)
    write("t.csv", as_text(X, [f"name {k}" for k in range(15)]))
    err = run("fit", "t.csv", "--learner", learner, "-o", "m.json", code=1).err
    assert "column 'truth': 15 classes in 15 rows, such as 'name 0', are too many to learn" in err


@pytest.mark.parametrize("learner", ["additive-classifier", "additive", "auto"])
def test_many_classes_are_refused_before_they_take_long(learner, run):
    X, _ = sample(120)
    write("t.csv", as_text(X, [f"name {k % 51}" for k in range(120)]))
    err = run("fit", "t.csv", "--learner", learner, "-o", "m.json", code=1).err
    assert "51 classes in 120 rows, such as 'name 0', are too many for an additive model" in err
    assert "put rare ones together, or add --ordinal if they have an order" in err


def test_numbers_as_classes_are_sent_to_a_regression(run):
    X, y = sample(15)
    write("t.csv", as_text(X, y + np.arange(15)))
    err = run("fit", "t.csv", "--learner", "classifier", "-o", "m.json", code=1).err
    assert "these are numbers: use --learner additive" in err
