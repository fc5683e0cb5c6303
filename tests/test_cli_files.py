"""The command line and files: cells that no spreadsheet runs, numbers as people write them."""

from __future__ import annotations

import csv
import io
import os

import numpy as np
import pytest

import choquet
from choquet.cli import main
from choquet.cli.output import guarded
from choquet.errors import OptionError

posix = pytest.mark.skipif(os.name != "posix", reason="pipes and links are POSIX's")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    lines = ["a,b,y", *(f"{x:.6f},{y:.6f},{max(x, y):.6f}" for x, y in rng.random((40, 2)))]
    (tmp_path / "scores.csv").write_text("\n".join(lines) + "\n")
    choquet.save(choquet.Measure([0, 0.2, 0.3, 1], ["a", "b"]), "g.json")
    return tmp_path


@pytest.fixture
def run(capsys):
    def call(*words):
        capsys.readouterr()
        code = main([str(word) for word in words])
        out, err = capsys.readouterr()
        return code, out, err

    return call


def refused(run, *words, code=1):
    """The one line that a refused command says; nothing is made or changed."""
    before = {name: os.lstat(name).st_mtime_ns for name in os.listdir()}
    got, out, err = run(*words)
    assert (got, out) == (code, "")
    assert err.count("\n") == 1
    assert {name: os.lstat(name).st_mtime_ns for name in os.listdir()} == before
    return err


# -- formulas --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    ['=HYPERLINK("http://x")', "+1+cmd", "-2+3", "@SUM(1)", "\t=1", "\r=1", "-inf", "- 1", "+"],
)
def test_text_like_a_formula_is_guarded(text):
    assert guarded(text) == f"'{text}"


@pytest.mark.parametrize("cell", [-0.5, -1, "-1", "+2.5e3", "-.5", "a=b", "", "'=1", 7, "p(=x)"])
def test_numbers_and_other_text_stay(cell):
    assert guarded(cell) == cell


def test_predicted_classes_cannot_be_formulas(folder, run):
    evil = '=HYPERLINK("http://example.org","click")'
    rng = np.random.default_rng(1)
    with open("c.csv", "w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["a", "b", "class"])
        for x, y in rng.random((60, 2)):
            writer.writerow([x, y, evil if x + y > 1 else "-1"])
    assert run("fit", "c.csv", "--learner", "classifier", "-o", "c.json")[0] == 0
    for words in ([], ["-o", "answers.csv"]):
        code, out, _ = run("predict", "c.json", "c.csv", *words)
        assert code == 0
        text = (folder / "answers.csv").read_text() if words else out
        rows = list(csv.DictReader(io.StringIO(text)))
        assert {row["prediction"] for row in rows} == {f"'{evil}", "-1"}
        assert not any(name.startswith(("=", "+", "-", "@")) for name in rows[0])


def test_negative_predictions_are_numbers(folder, run):
    choquet.save(choquet.Measure([0, -2.0, -3.0, -1.0], monotone=False, normal=False), "n.json")
    (folder / "x.csv").write_text("x1,x2\n0.5,0.25\n")
    assert run("predict", "n.json", "x.csv")[1] == "prediction\n-0.75\n"


# -- numbers ---------------------------------------------------------------------------------------


def test_1_0_is_not_10(folder, run):
    for cell, line in (("1_0", "'1_0' is not a number"), ("0x10", "'0x10' is not a number")):
        (folder / "bad.csv").write_text(f"a,b,y\n0.1,0.2,0.3\n{cell},0.5,0.6\n")
        said = refused(run, "fit", "bad.csv", "-o", "m.json")
        assert f"line 3, column 'a': {line}" in said
        assert line in refused(run, "predict", "g.json", "bad.csv")
    for option in ("--alpha", "--prior-alpha", "--k-additive"):
        said = refused(run, "fit", "scores.csv", option, "1_0", "-o", "m.json", code=2)
        assert f"'1_0' is not a {'whole ' if 'k' in option else ''}number" in said
    assert "'1_0'" in refused(run, "explain", "g.json", "scores.csv", "--row", "1_0", code=2)


def test_underscores_in_columns_that_are_not_numbers_are_fine(folder, run):
    (folder / "named.csv").write_text("a,name,b\n0.5,row_1,0.25\n")
    code, out, _ = run("predict", "g.json", "named.csv")
    assert (code, float(out.split()[1])) == (0, pytest.approx(0.3))


def test_classes_are_numbers_only_if_they_look_so(folder, run):
    from choquet.cli.learners import _levels
    from choquet.decomposition.outcome import place_of

    assert _levels(np.array(["9", "10"], dtype=object)).tolist() == [9, 10]
    assert _levels(np.array(["9", "1_0"], dtype=object)).tolist() == ["9", "1_0"]
    assert place_of("1_0", ["9", "10"]) is None


def test_tables_of_other_programs_have_no_underscores():
    from choquet.datasets.aid import _table
    from choquet.errors import DamagedFileError

    assert _table(b"0.5,1\n", "01.txt").tolist() == [[0.5, 1.0]]
    with pytest.raises(DamagedFileError, match="underscores"):
        _table(b"0.5,1_0\n", "01.txt")


# -- names and places ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["report.pdf", "report.docx", "report.csv", "report.PDF"])
def test_a_report_in_another_format_is_refused_before_the_work(name, folder, run, monkeypatch):
    import choquet.cli.using as using

    monkeypatch.setattr(using, "load_subject", lambda *_: pytest.fail("the work began"))
    said = refused(run, "report", "g.json", "scores.csv", "-o", name)
    assert "files are not written; choose a name that ends in .html" in said
    report = choquet.Report(choquet.Measure([0, 0.2, 0.3, 1]))
    with pytest.raises(OptionError, match=r"end the name in \.html"):
        report.write_html(name)
    assert not os.path.exists(name)


@posix
def test_pipes_are_neither_read_nor_replaced(folder, run):
    os.mkfifo("pipe")
    assert "is a pipe" in refused(run, "fit", "pipe", "-o", "m.json")
    assert "is a pipe" in refused(run, "inspect", "pipe")
    assert "is a pipe" in refused(run, "predict", "pipe", "scores.csv")
    for words in (["fit", "scores.csv"], ["predict", "g.json", "scores.csv"], ["report", "g.json"]):
        for force in ([], ["--force"]):
            assert "is a pipe" in refused(run, *words, "-o", "pipe", *force)


@posix
def test_output_goes_where_a_link_leads(folder, run):
    (folder / "there").mkdir()
    (folder / "link.csv").symlink_to("there/answers.csv")
    assert run("predict", "g.json", "scores.csv", "-o", "link.csv")[0] == 0
    assert (folder / "link.csv").is_symlink()
    assert os.listdir("there") == ["answers.csv"]
    said = refused(run, "predict", "g.json", "scores.csv", "-o", "link.csv")
    assert "exists; choose another name, or pass --force" in said
