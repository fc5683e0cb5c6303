"""The pages of the site, as files: what the build and the tests of the site share.

`python docs/pages.py` makes the notebooks of the tutorials again from their pages.
"""

from __future__ import annotations

import fnmatch
import json
import re
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parent

OUTSIDE = {
    "changes": "CHANGELOG.md",
    "conduct": "CODE_OF_CONDUCT.md",
    "contributing": "CONTRIBUTING.md",
    "benchmarks": "benchmarks/README.md",
}
"""Pages that show a file from outside `docs`."""

OTHERS = "% pages that no list names\n"
"""The line of `guide.md` in whose place these pages are listed."""


_LISTS = re.compile(r"```\{toctree\}\n.*?```", re.S)


def documents() -> list[str]:
    """Every written page, by its name on the site."""
    found = (path.relative_to(HERE) for path in HERE.rglob("*.md"))
    made = ("_", "api", "gallery")
    return sorted(str(path.with_suffix("")) for path in found if not str(path).startswith(made))


def listed(text: str) -> list[str]:
    """The pages that the lists of a page name, as they are written there."""
    lines = [line.strip() for block in _LISTS.findall(text) for line in block.splitlines()]
    return [line for line in lines if line and not line.startswith((":", "%", "`"))]


def unlisted() -> list[str]:
    """Pages that no list names: the guide shows them at its end."""
    named = {"index"}
    for document in documents():
        folder = Path(document).parent
        text = (HERE / f"{document}.md").read_text(encoding="utf-8")
        for name in listed(text):
            named |= set(fnmatch.filter(documents(), (folder / name).as_posix()))
    return [document for document in documents() if document not in named]


def shown(document: str, text: str) -> str:
    """The text of a page as the site shows it."""
    if document in OUTSIDE:
        text = (ROOT / OUTSIDE[document]).read_text(encoding="utf-8")
        text = re.sub(r"\]\((?:\.\./)?docs/", "](", text)
        for page, file in OUTSIDE.items():
            text = text.replace(f"]({file})", f"]({page}.md)")
    text = _LISTS.sub(lambda found: _expanded(document, found), text)
    if OTHERS in text:
        text = text.replace(OTHERS, "".join(f"{name}\n" for name in unlisted()))
    # Places that a page names in HTML, as the reader of Markdown knows them.
    return re.sub(r'<a id="([\w-]+)"></a>', r"(\1)=", text)


def _expanded(document: str, found: re.Match[str]) -> str:
    """A list of pages whose patterns are replaced by what they match, which may be nothing."""
    folder, lines = Path(document).parent, found[0].splitlines(keepends=True)
    named = [line.strip() for line in lines]
    made = []
    for line in lines:
        if "*" in line:
            matches = fnmatch.filter(documents(), (folder / line.strip()).as_posix())
            names = (Path(name).relative_to(folder).as_posix() for name in matches)
            made += [f"{name}\n" for name in names if name not in named]
        else:
            made.append(line)
    return "".join(made)


def tutorials() -> list[Path]:
    """The pages of the tutorials."""
    return sorted(page for page in (HERE / "tutorials").glob("*.md") if page.stem != "index")


def notebook(page: Path) -> str:
    """A tutorial as a notebook: its Python blocks are the cells with code."""
    parts = re.split(r"```python\n(.*?)\n```\n?", page.read_text(encoding="utf-8"), flags=re.S)
    cells = []
    for number, part in enumerate(parts):
        text = part.strip("\n")
        if not text:
            continue
        if "plt.subplots" in text:
            text += ";"  # a notebook then shows the picture, not the object that drew it
        source = text.splitlines(keepends=True)
        cell = {"id": f"{page.stem}-{len(cells)}", "metadata": {}, "source": source}
        if number % 2:
            cells.append({"cell_type": "code", "execution_count": None, "outputs": [], **cell})
        else:
            cells.append({"cell_type": "markdown", **cell})
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    metadata = {"kernelspec": kernel, "language_info": {"name": "python"}}
    made = {"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(made, indent=1, ensure_ascii=False, sort_keys=True) + "\n"


if __name__ == "__main__":
    for page in tutorials():
        page.with_suffix(".ipynb").write_text(notebook(page), encoding="utf-8")
