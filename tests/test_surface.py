"""The surface and the habits of the package."""

from __future__ import annotations

import ast
import doctest
import importlib
import json
import os
import pkgutil
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import choquet
from choquet.lattice.compiling import Loop

ROOT = Path(__file__).resolve().parents[1]


def modules():
    found = [
        m.name
        for m in pkgutil.walk_packages(choquet.__path__, "choquet.")
        if "__main__" not in m.name
    ]
    return ["choquet", *found]


@pytest.mark.parametrize("name", modules())
def test_all_is_complete_and_sorted(name):
    module = importlib.import_module(name)
    listed = getattr(module, "__all__", [])
    for item in listed:
        assert hasattr(module, item), f"{name}.__all__ names {item}, which is not there"
    assert list(listed) == sorted(set(listed), key=_isort_style), f"{name}.__all__ is not sorted"


def _isort_style(name: str):
    """Constants, then classes, then the rest, as ruff orders them."""
    kind = 0 if name.isupper() else 1 if name[:1].isupper() else 2
    return kind, name


@pytest.mark.parametrize("name", choquet.__all__)
def test_everything_public_is_documented_with_an_example(name):
    thing = getattr(choquet, name)
    if isinstance(thing, str | dict) or type(thing).__name__ == "module":
        return
    doc = thing.__doc__ or ""
    assert len(doc) > 40, f"{name} has no docstring"
    assert ">>>" in doc, f"{name} has no example"


def lazy_doors():
    """Rooms whose names load when they are asked for."""
    found = [name for name in modules() if "lazy_door" in vars(importlib.import_module(name))]
    return [name for name in found if name != "choquet.doors"]


@pytest.mark.parametrize("name", lazy_doors())
def test_what_loads_lazily_is_public_and_seen_by_type_checkers(name):
    room = importlib.import_module(name)
    tree = ast.parse(Path(room.__file__).read_text(encoding="utf-8"))
    [block] = [node for node in tree.body if isinstance(node, ast.If)]
    seen = {
        name.name: node.module
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for name in node.names
    }
    assert set(seen) == set(room.__all__) - {"__version__"}
    assert set(dir(room)) >= set(room.__all__)
    for item, module in seen.items():
        assert getattr(room, item) is getattr(importlib.import_module(module), item)
    with pytest.raises(AttributeError, match=rf"module '{name}' has no attribute 'nothing'"):
        _ = room.nothing


def run(code: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT
    )
    return done.stdout


@pytest.mark.skipif(not hasattr(os, "fork"), reason="each module begins in a process of its own")
def test_every_module_can_be_the_first():
    """Doors that load late must not close a circle, whichever module is asked for first."""
    code = """
import importlib, os, sys
import numpy, scipy.optimize, scipy.sparse, scipy.special, sklearn.base
for name in sys.argv[1:]:
    child = os.fork()
    if not child:
        try:
            importlib.import_module(name)
        except ImportError as error:
            print(name, error, flush=True)
        os._exit(0)
    os.waitpid(child, 0)
"""
    done = subprocess.run(
        [sys.executable, "-c", code, *modules()], capture_output=True, text=True, check=True
    )
    assert done.stdout == ""


def test_rooms_are_there_without_being_imported():
    code = "import choquet; print(choquet.indices.shapley.__name__, choquet.errors.DataError, "
    code += "choquet.learning.solvers.SOLVERS is not None, hasattr(choquet, 'nothing'))"
    assert run(code).split()[-2:] == ["True", "False"]


def test_a_module_does_not_hide_what_it_holds():
    """Some rooms hold a function in a module of the same name."""
    code = """
import choquet.decomposition.decompose, choquet.clustering.ivat, choquet.learning.solvers.hlms
from choquet.decomposition import compare, decompose
print(callable(decompose), callable(compare), callable(choquet.clustering.ivat),
      callable(choquet.learning.solvers.hlms))
"""
    assert run(code).split() == ["True"] * 4


def test_import_is_light():
    heavy = ["sklearn", "numba", "matplotlib", "scipy.optimize", "jinja2", "click", "pandas"]
    code = f"import sys, choquet, json; print(json.dumps([m for m in {heavy} if m in sys.modules]))"
    assert json.loads(run(code)) == []


def test_kernels_are_not_compiled_twice():
    """A second process loads compiled kernels from disk."""
    code = """
import numpy as np, choquet
from choquet.lattice import _kernels
from choquet.measures import _kernels as m
loops = _kernels.integrate, _kernels.walk_weights, m.gibbs_sweeps
for loop in loops:
    loop.spent = np.inf  # however small the work
g = choquet.Measure.random(3, rng=0)
choquet.choquet_integral(g, np.ones((2, 3)))
choquet.walk_weights(g, [[0, 1, 2]])
stats = [loop.made("fast").stats for loop in loops]
print(sum(len(s.cache_misses) for s in stats), sum(len(s.cache_hits) for s in stats))
"""
    run(code)
    assert run(code).split() == ["0", "3"]


@pytest.mark.parametrize("name", [name for name in modules() if "._kernels" in name])
def test_every_kernel_is_cached_on_disk(name):
    module = importlib.import_module(name)
    loops = [one for one in vars(module).values() if isinstance(one, Loop)]
    assert loops
    for loop in loops:
        where = loop.made("fast")._cache.cache_path
        assert where, f"{name}.{loop.__name__} is compiled in every process"


def test_small_work_does_not_load_numba():
    code = """
import sys, numpy as np, choquet
g = choquet.Measure.random(5, rng=0)
choquet.choquet_integral(g, np.random.default_rng(0).random((300, 5)))
print(choquet.decompose(g).error.worst >= 0, "numba" in sys.modules)
"""
    assert run(code).split() == ["True", "False"]


def test_version_is_the_same_everywhere():
    assert choquet.__version__ in (ROOT / "CHANGELOG.md").read_text()
    assert f"version: {choquet.__version__}" in (ROOT / "CITATION.cff").read_text()


def python_blocks(path: Path) -> list[str]:
    return re.findall(r"```python\n(.*?)```", path.read_text(encoding="utf-8"), re.S)


# Tutorials run as the notebooks that are made of them (test_site.py).
PAGES = [
    ROOT / "README.md",
    *sorted(p for p in (ROOT / "docs").rglob("*.md") if p.parent.name != "tutorials"),
]


@pytest.mark.parametrize("path", PAGES, ids=lambda p: p.relative_to(ROOT).as_posix())
def test_examples_of_the_docs_run(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    blocks = python_blocks(path)
    if not blocks:
        pytest.skip("no examples on this page")
    names: dict[str, object] = {}
    for block in blocks:
        if block.lstrip().startswith(">>>"):
            test = doctest.DocTestParser().get_doctest(block, names, path.name, str(path), 0)
            options = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
            assert (
                doctest.DocTestRunner(optionflags=options).run(test, clear_globs=False).failed == 0
            )
            names.update(test.globs)
        else:
            exec(compile(block, str(path), "exec"), names)


HEAVY = [
    *("sklearn", "pandas", "scipy.stats", "scipy.special", "numba", "matplotlib"),
    *("choquet.additive.model", "choquet.clustering.ivat", "choquet.decomposition.clusters"),
    "choquet.learning.families.table",
]


@pytest.mark.parametrize("command", ["predict", "explain", "explain all", "decompose", "inspect"])
def test_a_saved_model_answers_without_heavy_libraries(tmp_path, command):
    """Neither from Python nor on the command line does a model from a file load scikit-learn.

    Nor does it load rooms that it has no use for.
    """
    rng = np.random.default_rng(0)
    X = rng.random((60, 3))
    model = choquet.InUnits().fit(10 * X, X.max(axis=1) + 0.1 * X[:, 0])
    path, table = tmp_path / "model.json", tmp_path / "table.csv"
    choquet.save(model, path)
    np.savetxt(table, 10 * X[:5], delimiter=",", header="x1,x2,x3", comments="")
    words = {
        "predict": ["predict", str(path), str(table)],
        "explain": ["explain", str(path), str(table), "--row", "2"],
        "explain all": ["explain", str(path)],
        "decompose": ["decompose", str(path)],
        "inspect": ["inspect", str(path)],
    }[command]
    code = f"""
import sys, contextlib, io, json, numpy as np, choquet
from choquet.cli.app import run
with contextlib.redirect_stdout(io.TextIOWrapper(io.BytesIO())):
    code = run({words!r})
model = choquet.load({str(path)!r})
X = np.array({(10 * X[:4]).tolist()!r})
answers, loaded = model.predict(X).tolist(), [m for m in {HEAVY} if m in sys.modules]
from sklearn.base import BaseEstimator, clone, is_regressor
again = clone(model)
print(json.dumps([code, answers, loaded, is_regressor(model), isinstance(again, BaseEstimator),
                  repr(model) == repr(again), isinstance(model, BaseEstimator)]))
"""
    code, answers, loaded, *same = json.loads(run(code))
    assert code == 0
    assert loaded == []
    assert same == [True] * 4
    np.testing.assert_array_equal(answers, model.predict(10 * X[:4]))
