"""Files of the paper's repositories: made-up ones everywhere, the authors' own where they are."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.io import savemat

from choquet import Measure, choquet_integral, datasets, sorts_of
from choquet.datasets.author_orders import observed_subsets
from choquet.datasets.authors import carried_rows
from choquet.errors import (
    ChoquetWarning,
    DamagedFileError,
    DataError,
    FileError,
    MeasureError,
    NotMonotoneError,
    OptionError,
)
from choquet.lattice import masks_by_sizes
from choquet.reproduce import reproduce
from choquet.reproduce.experiments.authors import run as run_authors
from choquet.reproduce.experiments.authors_files import authors_folder

# -- orders ----------------------------------------------------------------------------------------


def by_size(n):
    """Masks by size, then lexicographically, from the definition."""
    subsets = [c for k in range(n + 1) for c in itertools.combinations(range(n), k)]
    return [sum(1 << i for i in subset) for subset in subsets]


@pytest.mark.parametrize("n", range(1, 7))
def test_masks_by_sizes(n):
    assert masks_by_sizes(n).tolist() == by_size(n)


@given(st.integers(1, 6), st.integers(0, 1000), st.booleans())
def test_measures_come_back_from_either_order(n, seed, empty):
    g = Measure.random(n, rng=seed)
    first = 0 if empty else 1
    assert Measure.from_values(g.values[first:], order="binary") == g
    assert Measure.from_values(g.values[by_size(n)][first:], order="size") == g


def test_names_and_relaxed_measures():
    values = [0, 3.0, -1.0, 2.0]
    g = Measure.from_values(values, "size", ["a", "b"], monotone=False, normal=False)
    assert g("a") == 3.0
    assert g.sources == ("a", "b")


@pytest.mark.parametrize(
    ("values", "order", "error", "message"),
    [
        ([], "binary", MeasureError, "0 values"),
        ([0, 0.1, 0.2, 0.3, 0.4], "binary", MeasureError, "5 values make no measure"),
        ([0.2, 0.3, 0.4, 1], "binary", MeasureError, "must be 0, not 0.2"),
        ([0, 1, 1, 1], "kappalab", OptionError, "order='kappalab'"),
        ([0, 0.1, 0.2, 0.4, 0.3, 0.35, 0.6, 1], "size", NotMonotoneError, "order='binary'"),
        ([0, np.nan, 1, 1], "size", DataError, "finite"),
    ],
)
def test_values_that_are_no_measure(values, order, error, message):
    with pytest.raises(error, match=message):
        Measure.from_values(values, order=order)


# -- made-up files ---------------------------------------------------------------------------------


def made(n=4, runs=12, rows=60, seed=0, unseen=True):
    """Rows whose sorts leave some subsets out, and regressions on them with zeros there."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, n))
    if unseen:
        X[:, 0] = X[:, 1] + rng.random(rows)  # no subset holds source 1 without source 0
    counts = observed_subsets(n, X)
    values = rng.normal(size=(runs, 1 << n))
    noise = rng.normal(size=values.shape) / np.sqrt(np.maximum(counts, 1))
    values = values[:1] + 0.2 * noise
    values[:, counts == 0] = 0.0
    values[:, 0] = 0.0
    bias = rng.normal(size=runs) * 0.01
    g = Measure(values.mean(axis=0), monotone=False, normal=False)
    return X, choquet_integral(g, X), values, bias


def written(path, values, bias, order, *, errors=None, empty=True, delimiter=","):
    if order == "size":
        values = values[:, masks_by_sizes(values.shape[1].bit_length() - 1)]
    table = np.column_stack([values if empty else values[:, 1:], bias]).T
    lines = [delimiter.join(f"{v:.12g}" for v in row) for row in table]
    if errors is not None:
        comma = delimiter * (len(bias) - 1)
        lines += [comma, f"Testing MSE{comma}", delimiter.join(f"{v:.12g}" for v in errors)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8-sig")
    return path


@pytest.mark.parametrize("order", ["binary", "size"])
@pytest.mark.parametrize("delimiter", [",", ";", "\t", " "])
def test_both_orders_are_told_by_the_rows(tmp_path, order, delimiter):
    X, y, values, bias = made()
    path = written(tmp_path / "fish.csv", values, bias, order, delimiter=delimiter)
    found = datasets.read_authors(path, X=X, y=y)
    assert found.order == order
    np.testing.assert_allclose(found.values, values, atol=1e-10)
    np.testing.assert_allclose(found.bias, bias, atol=1e-10)
    other = found.evidence["size" if order == "binary" else "binary"]
    assert np.median(found.evidence[order].best_errors) < np.median(other.best_errors)
    assert len(found) == 12
    assert found[3].n_sources == 4


@pytest.mark.parametrize("order", ["binary", "size"])
def test_sorts_tell_the_order_by_zeros(tmp_path, order):
    X, _, values, bias = made()
    path = written(tmp_path / "fish.csv", values, bias, order)
    found = datasets.read_authors(path, sorts=sorts_of(X))
    assert found.order == order
    assert found.evidence[order].zeros == 1.0
    with pytest.raises(DataError, match="nothing tells the order"):
        datasets.read_authors(path)


def test_counts_tell_the_order_by_spread(tmp_path):
    X, _, values, bias = made(n=5, runs=200, rows=400, unseen=False)
    found = datasets.read_authors(
        written(tmp_path / "a.csv", values, bias, "size"), sorts=sorts_of(X)
    )
    assert found.order == "size"
    assert found.evidence["size"].zeros is None
    assert found.evidence["size"].spread[0] < -0.5


def test_a_wrong_order_is_warned_of(tmp_path):
    X, y, values, bias = made()
    path = written(tmp_path / "fish.csv", values, bias, "binary")
    with pytest.warns(ChoquetWarning, match="order='size', but the median error"):
        datasets.read_authors(path, order="size", X=X, y=y)
    with pytest.raises(DataError, match="order='ranks' does not suit"):
        datasets.read_authors(path, order="ranks", X=X, y=y)
    with pytest.raises(DataError, match="without X="):
        datasets.read_authors(path, order="size", y=y)


@pytest.mark.parametrize("empty", [True, False])
@pytest.mark.parametrize("transposed", [True, False])
def test_layouts(tmp_path, empty, transposed):
    """With and without the empty set, a run a column or a run a row, as many runs as values."""
    X, y, values, bias = made(runs=16)
    path = written(tmp_path / "b.txt", values, bias, "binary", empty=empty)
    if transposed:
        table = np.loadtxt(path, delimiter=",", encoding="utf-8-sig").T
        np.savetxt(path, table, delimiter=",")
    found = datasets.read_authors(path, order="binary", X=X, y=y)
    if empty or not transposed:
        np.testing.assert_allclose(found.values, values, atol=1e-9)
        np.testing.assert_allclose(found.bias, bias, atol=1e-9)


def test_the_number_of_sources_tells_which_way_the_runs_lie(tmp_path):
    """Seven runs of 15 values and a bias in rows, or 16 runs of seven values in columns?"""
    X, y, values, bias = made(runs=7)
    table = np.column_stack([values[:, 1:], bias])
    np.savetxt(tmp_path / "b.csv", table, delimiter=",")
    found = datasets.read_authors(tmp_path / "b.csv", X=X, y=y)
    np.testing.assert_allclose(found.values, values, atol=1e-9)
    assert datasets.read_authors(tmp_path / "b.csv", sorts=sorts_of(X)).n_sources == 4
    assert datasets.read_authors(tmp_path / "b.csv", order="binary").n_sources == 3


def test_other_rows_decide_nothing(tmp_path):
    """Rows that neither order predicts better than their mean does are not those of the file."""
    X, y, values, bias = made(unseen=False)
    path = written(tmp_path / "fish.csv", values, bias, "size")
    rng = np.random.default_rng(9)
    noise = rng.normal(size=X.shape), 0.1 * rng.normal(size=len(y))
    with pytest.raises(DataError, match="no better than the mean of the targets"):
        datasets.read_authors(path, X=noise[0], y=noise[1])
    assert datasets.read_authors(path, X=X, y=y).order == "size"


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_lines_of_other_systems_and_blank_lines(tmp_path, end):
    X, y, values, bias = made(runs=9)
    errors = np.linspace(0.1, 0.2, 9)
    table = np.column_stack([values[:, by_size(4)], bias]).T
    lines = [",".join(f"{v:.12g}" for v in row) for row in table]
    lines = [*lines, "", "", ",".join(f"{v:.12g}" for v in errors), "", ""]
    (tmp_path / "fish.csv").write_bytes(end.join(lines).encode())
    found = datasets.read_authors(tmp_path / "fish.csv", X=X, y=y)
    np.testing.assert_allclose(found.values, values, atol=1e-10)
    np.testing.assert_allclose(found.errors, errors)
    assert found.order == "size"


@pytest.mark.parametrize(
    ("name", "load"), [("auto_mpg", datasets.load_auto_mpg), ("machine", datasets.load_cpu)]
)
def test_rows_of_the_package_are_taken_by_name(name, load):
    bunch = load()
    X, y = carried_rows(f"{name}_noreg.csv", bunch.data.shape[1])
    assert X.shape == bunch.data.shape
    assert np.corrcoef(y, bunch.target)[0, 1] == pytest.approx(1)
    assert carried_rows(f"{name}.csv", 3) is None


def test_errors_below_the_bias(tmp_path):
    X, y, values, bias = made()
    errors = np.linspace(0.1, 0.2, len(bias))
    path = written(tmp_path / "fish_noreg.csv", values, bias, "binary", errors=errors)
    np.testing.assert_allclose(datasets.read_authors(path, X=X, y=y).errors, errors)


@pytest.mark.parametrize("start", [0, 1])
@pytest.mark.parametrize("kind", ["sorts", "ranks"])
def test_sorts_and_ranks(tmp_path, start, kind):
    X, *_ = made(n=5)
    sorts = sorts_of(X)
    lines = sorts if kind == "sorts" else np.argsort(sorts, axis=1)
    path = tmp_path / "fish_sorts.csv"
    np.savetxt(path, lines + start, fmt="%d", delimiter=",")
    found = datasets.read_authors(path, X=X)
    assert (found.kind, found.order) == ("sorts", kind)
    np.testing.assert_array_equal(found.sorts, sorts)
    assert found.evidence[kind].n_matched == len(sorts)
    np.testing.assert_array_equal(datasets.read_authors(path, order=kind).sorts, sorts)
    with pytest.raises(DataError, match="look alike without rows"):
        datasets.read_authors(path)


def test_matlab(tmp_path):
    X, y, values, bias = made()
    sized = np.column_stack([values[:, masks_by_sizes(4)], bias])
    savemat(tmp_path / "a.mat", {"fm": sized.T})
    assert datasets.read_authors(tmp_path / "a.mat", X=X, y=y).order == "size"
    sorts = sorts_of(X)
    savemat(tmp_path / "b.mat", {"fm": sized, "sorts": sorts + 1, "note": "fish"})
    with pytest.raises(DataError, match="variable= with one of fm, sorts"):
        datasets.read_authors(tmp_path / "b.mat")
    found = datasets.read_authors(tmp_path / "b.mat", variable="sorts", X=X)
    np.testing.assert_array_equal(found.sorts, sorts)
    cells = np.empty(len(sized), dtype=object)
    cells[:] = list(sized)
    savemat(tmp_path / "c.mat", {"runs": cells})
    np.testing.assert_allclose(
        datasets.read_authors(tmp_path / "c.mat", X=X, y=y).values, values, atol=1e-12
    )
    (tmp_path / "d.mat").write_bytes(b"no matlab at all" * 20)
    with pytest.raises(DamagedFileError, match="no MATLAB file"):
        datasets.read_authors(tmp_path / "d.mat")


@pytest.mark.parametrize(
    ("name", "text", "error", "message"),
    [
        ("a.csv", "1,2\n3,4,5\n", DataError, "line 2 has 3 numbers"),
        ("a.csv", "0,0\n0.1,nan\n1,1\n", DataError, "holds nan"),
        ("a.csv", "words only\n", DataError, "no table of numbers"),
        ("a.csv", "", DataError, "no table of numbers"),
        ("a.csv", "1.5,2\n2,3\n4,5\n5,6\n7,7\n8,8\n", DataError, "neither measures"),
        ("a.docx", "0", FileError, "ends in '.docx'"),
    ],
)
def test_files_that_are_neither(tmp_path, name, text, error, message):
    (tmp_path / name).write_text(text)
    with pytest.raises(error, match=message):
        datasets.read_authors(tmp_path / name)


def test_no_file(tmp_path):
    with pytest.raises(FileError, match="cannot be read"):
        datasets.read_authors(tmp_path / "none.csv")
    with pytest.raises(FileError, match="cannot be read"):
        datasets.read_authors(tmp_path / "none.mat")


# -- the authors' own ------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def authors(shared_data):
    folder = shared_data / "authors"
    if not folder.is_dir():
        pytest.skip("the authors' files, which have no licence, are not here")
    return folder


@pytest.mark.parametrize("name", ["yacht_noreg", "yacht", "airfoil_noreg", "airfoil"])
def test_the_authors_regressions_are_in_binary_order(authors, name):
    found = datasets.read_authors(authors / f"{name}.csv")
    assert (found.order, len(found)) == ("binary", 100)
    right, wrong = (np.median(found.evidence[k].best_errors) for k in ("binary", "size"))
    assert right < 0.35
    assert wrong > 5 * right


@pytest.mark.parametrize("name", ["yacht_sort", "airfoil_sorts"])
def test_the_authors_sorts_are_ranks(authors, name):
    found = datasets.read_authors(authors / f"{name}.csv")
    assert found.order == "ranks"
    assert found.evidence["ranks"].matched.all()
    assert not found.evidence["sorts"].matched.all()


def test_the_authors_shared_measures_are_in_binary_order(authors):
    files = sorted((authors / "aid_shared").glob("*.txt"))
    assert len(files) == 15
    for file in files:
        found = datasets.read_authors(file)
        assert found.order == "binary"
        assert found[0].monotone
        assert found[0].normal


# -- the experiment --------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path):
    """A folder as the authors' is, of a data set that the package does not know, with its rows."""
    X, y, values, bias = made(n=4, runs=5, rows=80)
    written(tmp_path / "fish_noreg.csv", values, bias, "binary", errors=np.full(5, 0.1))
    written(tmp_path / "fish.csv", 0.5 * values, bias, "binary")
    np.savetxt(
        tmp_path / "fish_sorts.csv", np.argsort(sorts_of(X[:60]), axis=1) + 1, "%d", delimiter=","
    )
    (tmp_path / "crisp_sorts.csv").write_text("no numbers\n")
    (tmp_path / "README.md").write_text("what the files are\n")
    (tmp_path / "shared").mkdir()
    for k in range(3):
        sizes = np.bitwise_count(np.arange(1, 8))
        start = np.append(sizes[:-1] / 6 * (1 + 1e-3 * k), 1.0)
        np.savetxt(tmp_path / "shared" / f"m_{k}.txt", start)
    return tmp_path, X, y


def test_the_command_reads_unknown_data_sets(folder):
    path, X, y = folder
    (found,) = reproduce("authors", data=path, seeds=3).values()
    numbers = found["numbers"]
    assert set(numbers) == {"fish", "shared"}
    # Without rows the zeros tell both the order of the values and that the lines are ranks.
    assert (numbers["fish"]["order"], numbers["fish"]["lines_are"]) == ("binary", "ranks")
    assert numbers["fish"]["files"]["none"]["binary"]["error"] is None
    assert any("crisp_sorts.csv was not read" in note for note in found["notes"])
    assert numbers["shared"]["start"]["median_distance"] < 0.01
    np.savetxt(path / "fish_data.csv", np.column_stack([X, y]), delimiter=",")
    (found,) = reproduce("authors", data=path, seeds=1).values()
    fish = found["numbers"]["fish"]
    # The rows are standardised, which these measures were not learned from, so a few sorts differ.
    assert fish["lines_matched"]["ranks"] > max(55, fish["lines_matched"]["sorts"])
    both = fish["files"]["none"]
    errors = [both[order]["error_with_best_constant"]["median"] for order in ("binary", "size")]
    assert errors[0] < errors[1]
    assert sum(both["binary"]["operators"]["all walks, rms"]) == 1


def test_the_command_writes_an_erratum(folder, tmp_path):
    path, *_ = folder
    out = tmp_path / "out"
    reproduce("authors", data=path, out=out, seeds=2)
    page = (out / "erratum.md").read_text()
    assert "Fish" in page
    assert "(fish_orders.png)" in page
    assert "the values were written: Fish by bit mask." in page
    assert (out / "fish_orders.png").is_file()
    assert len(page.split()) < 900


def test_a_monotone_file_with_a_penalty_and_lines_that_are_no_sorts(tmp_path):
    """One file alone, and a file of sorts that holds none, which is said and not guessed at."""
    g = Measure.random(3, rng=0)
    np.savetxt(tmp_path / "crisp.csv", np.column_stack([g.values, g.dual().values]), delimiter=",")
    (tmp_path / "odd_sort.csv").write_text("1,2,3\n1,1,2\n")
    result = run_authors(data=tmp_path, seeds=1)
    assert list(result.numbers) == ["crisp"]
    assert any("no permutations" in note for note in result.notes)
    assert result.rows[0].verdict == "differs"  # not the minimum


def test_no_files_are_no_error(tmp_path):
    assert authors_folder(tmp_path) is None
    assert run_authors(data=tmp_path).rows[0].verdict == "skipped"


def test_what_the_authors_files_say(authors):
    result = run_authors(data=authors.parent, seeds=2)
    numbers = result.numbers
    yacht, airfoil = numbers["yacht"], numbers["airfoil"]
    assert yacht["order"] == airfoil["order"] == "binary"
    files = yacht["files"]["none"]
    assert files["binary"]["error"]["median"] == pytest.approx(0.110, abs=0.001)
    assert files["size"]["error_with_best_constant"]["median"] == pytest.approx(253, abs=1)
    assert files["binary"]["zeros_without_data"] > 0.99
    assert files["size"]["zeros_without_data"] == 0.0
    assert airfoil["files"]["none"]["binary"]["error"]["median"] == pytest.approx(0.327, abs=0.001)
    assert yacht["lines_matched"] == {"sorts": 27, "ranks": 231}
    assert airfoil["lines_matched"]["ranks"] == 1127
    assert yacht["observed"]["lines_that_are_walks"] == 12
    assert airfoil["observed"]["lines_that_are_walks"] == 61
    assert yacht["printed"]["size"][1][[0, 2]].max() < 0.04
    assert yacht["printed"]["binary"][1][[0, 2]].min() > 50
    assert yacht["printed_but_one"]["size"][1].max() < 0.04  # w2 has one misprint
    assert yacht["printed_but_one"]["binary"][1].min() > 0.5
    assert numbers["aid_shared"]["start"]["median_distance"] < 0.002
    assert airfoil["test_error"]["mean"]["none"] == pytest.approx(0.346, abs=0.001)
