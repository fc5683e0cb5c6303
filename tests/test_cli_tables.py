"""The same table, however it is written, is the same table; and what a table lacks is said."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import choquet
from tests.commands import NAMES, as_text, runner, sample, write


@pytest.fixture
def run(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return runner(capsys)


def measure_of(run, *words):
    run("fit", *words, "-o", "m.json", "--force")
    return choquet.load("m.json").measure_


@pytest.fixture
def plain(run):
    """The measure that the plain table gives."""
    X, y = sample()
    return measure_of(run, write("plain.csv", as_text(X, y))).values


# -- ways to write a table -------------------------------------------------------------------------


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_delimiters_and_ends_of_lines_do_not_matter(delimiter, end, run, plain):
    text = as_text(*sample(), delimiter=delimiter, end=end)
    np.testing.assert_array_equal(measure_of(run, write("t.csv", text)).values, plain)


@pytest.mark.parametrize(
    "change",
    [
        lambda text: "\ufeff" + text,
        lambda text: text + "\n\n",
        lambda text: text.rstrip("\n"),
        lambda text: text.replace("gpr", '"gpr"', 1),
        lambda text: text.replace(",", ", "),
    ],
    ids=["byte order mark", "empty lines at the end", "no last newline", "quotes", "spaces"],
)
def test_what_editors_do_to_a_file_does_not_matter(change, run, plain):
    text = change(as_text(*sample()))
    np.testing.assert_array_equal(measure_of(run, write("t.csv", text)).values, plain)


def test_a_name_may_hold_the_delimiter_if_it_is_quoted(run):
    X, y = sample()
    text = as_text(X, y, names=("a,b", "ir", "emi", "truth"))
    assert measure_of(run, write("t.csv", text)).sources == ("a,b", "ir", "emi")
    assert measure_of(run, "t.csv", "-s", "a,b", "-s", "ir").sources == ("a,b", "ir")


def test_names_of_any_language_are_kept(run):
    names = ("größe", "温度", "α β")
    X, y = sample()
    text = as_text(X, y, names=(*names, "wahrheit"))
    assert measure_of(run, write("t.csv", text)).sources == names
    assert all(name in run("decompose", "m.json").out for name in names[:1])
    assert run("inspect", "m.json", "--json").json()["sources"] == list(names)


def test_numbers_may_be_written_in_any_way(run):
    numbers = ["1e-1", ".25", "+0.5", "5E-1", "1", "0.75", "00.5", "1.", "2.5e-01"]
    rows = [numbers[k : k + 3] for k in range(0, 9, 3)]
    plain = [[float(cell) for cell in row] for row in rows]
    for path, cells in (("odd.csv", rows), ("plain.csv", plain)):
        write(path, "a,b,y\n" + "".join(",".join(map(str, row)) + "\n" for row in cells))
    np.testing.assert_array_equal(
        measure_of(run, "odd.csv").values, measure_of(run, "plain.csv").values
    )


@pytest.mark.parametrize("kind", ["parquet", "feather"])
@pytest.mark.parametrize("number", ["float64", "float32", "int64"])
def test_columns_of_numbers_of_any_type(kind, number, run):
    pd = pytest.importorskip("pandas")
    X, y = sample()
    frame = pd.DataFrame(np.column_stack([X, y]), columns=[*NAMES, "truth"])
    frame = (frame * (100 if number == "int64" else 1)).round(6).astype(number)
    getattr(frame, f"to_{kind}")(f"t.{kind}")
    frame.astype("float64").to_csv("t.csv", index=False)
    np.testing.assert_allclose(
        measure_of(run, f"t.{kind}").values, measure_of(run, "t.csv").values, atol=1e-12
    )


def test_standard_input_is_a_table_too(run, plain, monkeypatch):
    import io
    import sys

    content = as_text(*sample()).encode()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
    np.testing.assert_array_equal(measure_of(run, "-").values, plain)


# -- rows and columns ------------------------------------------------------------------------------


def test_the_order_of_rows_does_not_matter(run, plain):
    X, y = sample()
    order = np.random.default_rng(1).permutation(len(X))
    found = measure_of(run, write("t.csv", as_text(X[order], y[order])))
    np.testing.assert_allclose(found.values, plain, atol=1e-6)


def test_rows_twice_are_the_same_evidence(run, plain):
    X, y = sample()
    text = as_text(np.tile(X, (2, 1)), np.tile(y, 2))
    np.testing.assert_allclose(measure_of(run, write("t.csv", text)).values, plain, atol=1e-6)


def test_sources_come_in_the_order_in_which_they_are_named(run):
    write("t.csv", as_text(*sample()))
    g = measure_of(run, "t.csv", "-s", "emi,gpr")
    assert g.sources == ("emi", "gpr")
    h = measure_of(run, "t.csv", "-s", "gpr,emi")
    assert h.sources == ("gpr", "emi")
    assert g("emi") == pytest.approx(h("emi"), abs=1e-6)


def test_the_target_may_stand_anywhere(run, plain):
    X, y = sample()
    text = as_text(np.column_stack([y, X]), names=("truth", *NAMES))
    found = measure_of(run, write("t.csv", text), "--target", "truth")
    assert found.sources == NAMES
    np.testing.assert_array_equal(found.values, plain)


def test_other_columns_may_hold_anything(run, plain):
    X, y = sample()
    rows = [[*x, "a remark, with 1 comma", t] for x, t in zip(X.tolist(), y, strict=True)]
    lines = [",".join(f'"{cell}"' for cell in row) for row in [[*NAMES, "note", "truth"], *rows]]
    found = measure_of(run, write("t.csv", "\n".join(lines)), "-s", ",".join(NAMES))
    np.testing.assert_array_equal(found.values, plain)


def test_predictions_find_columns_by_name(run):
    X, y = sample()
    write("t.csv", as_text(X, y))
    run("fit", "t.csv", "-o", "m.json")
    expected = run("predict", "m.json", "t.csv").out
    turned = as_text(np.column_stack([y, X[:, ::-1]]), names=("truth", *NAMES[::-1]))
    assert run("predict", "m.json", write("turned.csv", turned)).out == expected
    err = run("predict", "m.json", write("few.csv", as_text(X[:, :2])), code=1).err
    assert "no column 'emi'" in err


# -- what is missing -------------------------------------------------------------------------------


@pytest.mark.parametrize("cell", ["", " ", "NA", "n/a", "nan", "NaN", "null", "None", "?"])
def test_words_for_a_missing_value(cell, run):
    X, y = sample(10)
    write("t.csv", as_text(X, y) + f"0.1,{cell},0.2,0.3\n")
    err = run("fit", "t.csv", "-o", "m.json", code=1).err
    assert "t.csv, line 12, column 'ir': the value is missing" in err
    told = run("fit", "t.csv", "-o", "m.json", "--missing", "drop", "--json").json()
    assert (told["rows"], told["rows_dropped"]) == (10, 1)


@pytest.mark.parametrize("cell", ["x", "1,5", "0x1A", "1 2", "--3", "$3", "1e", "3%"])
def test_words_that_are_no_numbers_are_never_dropped(cell, run):
    write("t.csv", as_text(*sample(10)) + f'0.1,"{cell}",0.2,0.3\n')
    for policy in ("error", "drop"):
        err = run("fit", "t.csv", "-o", "m.json", "--missing", policy, code=1).err
        assert "line 12, column 'ir'" in err
        assert "is not a number" in err
    assert not Path("m.json").exists()


def test_a_missing_class_is_a_missing_value(run):
    X, y = sample(20)
    labels = np.where(y > 0.5, "mine", "clutter")
    write("t.csv", as_text(X, labels) + "0.1,0.2,0.3,\n")
    words = ["fit", "t.csv", "--learner", "classifier", "-o", "m.json"]
    assert "line 22, column 'truth': the value is missing" in run(*words, code=1).err
    told = run(*words, "--missing", "drop", "--json").json()
    assert (told["rows"], told["classes"]) == (20, ["clutter", "mine"])


def test_nothing_left_is_an_error(run):
    write("t.csv", "a,b,y\n,1,2\n1,,2\n")
    err = run("fit", "t.csv", "-o", "m.json", "--missing", "drop", code=1).err
    assert "no rows with all values" in err
    assert not Path("m.json").exists()


# -- what people hit first -------------------------------------------------------------------------


def test_first_mistakes_are_told_with_a_way_out(run):
    X, y = sample(20)
    names, sources = ("row", "name", *NAMES, "truth"), ",".join(NAMES)
    rows = [[k, f"car {k}", *x, t] for k, (x, t) in enumerate(zip(X.tolist(), y, strict=True), 1)]
    table = write("t.csv", "\n".join(",".join(map(str, line)) for line in (names, *rows)))
    told = run("fit", table, code=1).err
    assert (
        f"'car 1' is not a number; choose the columns to combine with --sources row,{sources}"
        in told
    )
    told = run("fit", table, "--target", "name", "--sources", sources, code=1).err
    assert "use --learner classifier" in told
    assert "--target" not in told
    words = write("words.csv", "\n".join(["gpr,ir,word", *(f"{x[0]},{x[1]},w{x[2]}" for x in X)]))
    assert "name another with --target" in run("fit", words, code=1).err
    told = run("fit", table, "--sources", f"row,{sources}", "-o", "m.json").err
    assert f"'row' only counts the rows; keep the others with --sources {sources}" in told
    for command in (("explain",), ("report",), ("decompose",), ("export", "--to", "sql")):
        told = run(*command, table, code=1).err
        assert "looks like a table, and a model is expected here; make one with choquet fit" in told
        assert "char" not in told
