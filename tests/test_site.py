"""The documentation site, as far as it can be checked without building it."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import json
import re
import sys
from pathlib import Path

import pytest

import choquet

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"


def load(name: str):
    spec = importlib.util.spec_from_file_location(f"docs_{name}", DOCS / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look there
    spec.loader.exec_module(module)
    return module


pages = load("pages")
DOCUMENTS = pages.documents()
NOTEBOOKS = sorted((DOCS / "tutorials").glob("*.ipynb"))


def text_of(document: str) -> str:
    return pages.shown(document, (DOCS / f"{document}.md").read_text(encoding="utf-8"))


def without_code(text: str) -> str:
    text = re.sub(r"^( *)(`{3,}|:{3,})(?!\{).*?\n.*?^\1\2 *$", "", text, flags=re.S | re.M)
    return re.sub(r"`[^`\n]+`", "", text)


def places(text: str) -> set[str]:
    """What links can point to: headings as GitHub and the site name them, and labels."""
    heads = re.findall(r"^#{1,3} (.+)$", without_headless(text), flags=re.M)
    slugs = {re.sub(r"[^\w\- ]", "", head.lower()).strip().replace(" ", "-") for head in heads}
    return slugs | set(re.findall(r"^\(([\w-]+)\)=$", text, flags=re.M))


def without_headless(text: str) -> str:
    return re.sub(r"^```.*?^```", "", text, flags=re.S | re.M)


def test_every_page_is_reachable():
    """From the first page along the lists, as the site's menus go."""
    found, todo = {"index"}, ["index"]
    while todo:
        here = todo.pop()
        for name in pages.listed(text_of(here)):
            pattern = (Path(here).parent / name).as_posix()
            known = [one for one in DOCUMENTS if Path(one).match(pattern)]
            made = pattern.startswith(("api/", "gallery/"))
            assert known or made, f"{here} lists {name}, which is not there"
            todo += set(known) - found
            found |= set(known)
    assert found == set(DOCUMENTS)


def test_a_page_that_no_list_names_is_shown_by_the_guide(tmp_path, monkeypatch):
    for name in ("guide", "index"):
        (tmp_path / f"{name}.md").write_text((DOCS / f"{name}.md").read_text(encoding="utf-8"))
    (tmp_path / "fresh.md").write_text("# Fresh\n")
    monkeypatch.setattr(pages, "HERE", tmp_path)
    assert pages.unlisted() == ["fresh"]
    guide = (tmp_path / "guide.md").read_text(encoding="utf-8")
    assert "fresh" in pages.listed(pages.shown("guide", guide))


@pytest.mark.parametrize("document", DOCUMENTS)
def test_a_page_has_one_title_and_its_links_lead_somewhere(document):
    text = text_of(document)
    assert len(re.findall(r"^# .+$", without_headless(text), flags=re.M)) == 1
    folder = (DOCS / f"{document}.md").parent
    for label, target in re.findall(r"(?<!\\)\[([^\]]*)\]\(([^)\s]+)\)", without_code(text)):
        if target.startswith(("http://", "https://", "mailto:")):
            continue
        file, _, place = target.partition("#")
        path = (folder / file).resolve() if file else DOCS / f"{document}.md"
        assert path.is_file(), f"[{label}]({target})"
        assert path.is_relative_to(DOCS), f"[{label}]({target}) is not part of the site"
        if place:
            there = text_of(path.relative_to(DOCS).with_suffix("").as_posix())
            assert place in places(there), f"[{label}]({target})"


def test_the_readme_links_to_what_is_there():
    text = without_code((ROOT / "README.md").read_text(encoding="utf-8"))
    for target in re.findall(r"\]\(([^)\s#]+)", text):
        assert target.startswith("http") or (ROOT / target).exists(), target


def test_every_public_name_is_in_the_reference():
    reference = load("reference")
    offered = reference.contents()
    listed = [(room, name) for room, names in offered.items() for name in names]
    things = {id(getattr(importlib.import_module(room), name)) for room, name in listed}
    for room in reference.rooms():
        module = importlib.import_module(room)
        for name in module.__all__:
            thing = getattr(module, name)
            if not name.startswith("__") and type(thing).__name__ != "module":
                assert id(thing) in things, f"{room}.{name}"
    assert "Measure" in offered["choquet"]
    assert len(choquet.__all__) > 30


def test_the_reference_is_written(tmp_path):
    load("reference").write(tmp_path)
    index = (tmp_path / "index.md").read_text(encoding="utf-8")
    for name in pages.listed(index):
        room = (tmp_path / f"{name}.rst").read_text(encoding="utf-8")
        assert ".. autosummary::" in room
    assert "\n   Measure\n" in (tmp_path / "choquet.rst").read_text(encoding="utf-8")


def test_each_tutorial_has_its_notebook():
    assert [page.stem for page in pages.tutorials()] == [path.stem for path in NOTEBOOKS]
    assert len(NOTEBOOKS) >= 5
    for page in pages.tutorials():
        made = page.with_suffix(".ipynb").read_text(encoding="utf-8")
        assert made == pages.notebook(page), f"{page.name} has changed: python docs/pages.py"


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_and_shows_its_results(path, tmp_path, monkeypatch):
    """As a notebook does: each cell runs, and the value of its last line is shown."""
    plt = pytest.importorskip("matplotlib.pyplot")
    for library in ("pandas", "pyarrow", "dask.array"):
        pytest.importorskip(library)
    monkeypatch.chdir(tmp_path)
    plt.switch_backend("agg")
    names: dict[str, object] = {}
    pictures = 0
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        if cell["cell_type"] != "code":
            continue
        source = "".join(cell["source"])
        tree = ast.parse(source)
        *rest, last = tree.body
        shown = isinstance(last, ast.Expr) and not source.endswith(";")
        exec(compile(ast.Module(rest if shown else tree.body, []), str(path), "exec"), names)
        if shown:
            value = eval(compile(ast.Expression(last.value), str(path), "eval"), names)  # noqa: S307
            assert "object at 0x" not in repr(value)
        pictures += len(plt.get_fignums())
        plt.close("all")
    assert pictures, "a tutorial without a picture"


def test_links_are_checked(tmp_path):
    links = load("links")
    (tmp_path / "index.html").write_text('<a href="other.html#here">x</a><script src="a.js">')
    (tmp_path / "other.html").write_text('<h1 id="here"></h1><a href="https://example.org">x</a>')
    (tmp_path / "a.js").write_text("")
    assert links.faults(tmp_path) == []
    (tmp_path / "alone.html").write_text(
        '<a href="other.html#there">x</a><a href="gone.html">x</a>'
        '<img src="https://example.org/x.png"><link rel="canonical" href="https://example.org/">'
    )
    (tmp_path / "generated").mkdir()
    (tmp_path / "generated/choquet.X.html").write_text('<h1 id="x"><a href="../alone.html">x</a>')
    (tmp_path / "a.css").write_text("@import url(https://example.org/font.css);")
    found = "\n".join(links.faults(tmp_path))
    assert len(found.splitlines()) == 7
    faults = ("no such place", "gone.html", "x.png", "font.css", "alone.html is not reachable")
    for fault in (*faults, "choquet.X.html describes nothing"):
        assert fault in found
