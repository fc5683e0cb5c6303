"""The pages of the reference: one for each room, which lists what its door offers."""

from __future__ import annotations

import importlib
import pkgutil
from pathlib import Path
from types import ModuleType

import choquet

TITLES = {
    "choquet": "The package",
    "choquet.measures": "Measures",
    "choquet.integrals": "Integrals",
    "choquet.walks": "Walks and support",
    "choquet.operators": "Operators",
    "choquet.indices": "Indices",
    "choquet.clustering": "Clustering",
    "choquet.contexts": "Contexts",
    "choquet.decomposition": "Decomposition",
    "choquet.learning": "Learning a measure",
    "choquet.additive": "Additive models",
    "choquet.certainty": "Certainty",
    "choquet.scales": "Scales",
    "choquet.estimators": "Estimators",
    "choquet.decide": "Deciding",
    "choquet.explanation": "Explanation",
    "choquet.plot": "Pictures",
    "choquet.report": "Reports",
    "choquet.storage": "Files of models",
    "choquet.datasets": "Data sets",
    "choquet.reproduce": "The paper's experiments",
    "choquet.errors": "Errors",
}
"""The order of the rooms, and what they are called. Other rooms follow in the order of the
alphabet."""

INTERNAL = {
    "arrays", "cli", "documents", "expected", "files", "frames", "jobs", "lattice", "shown",
}  # fmt: skip
"""Rooms that users do not import from."""


def rooms() -> dict[str, str]:
    """Each room that users import from, with its title."""
    found = dict(TITLES)
    for room in pkgutil.iter_modules(choquet.__path__, "choquet."):
        short = room.name.removeprefix("choquet.")
        if short not in INTERNAL and not short.startswith("_"):
            found.setdefault(room.name, short.capitalize())
    return found


def contents() -> dict[str, list[str]]:
    """The names that each room is the first to offer."""
    seen: set[int] = set()
    found = {}
    for name in rooms():
        room = importlib.import_module(name)
        things = {one: getattr(room, one) for one in room.__all__ if not one.startswith("__")}
        found[name] = [
            one
            for one, thing in things.items()
            if id(thing) not in seen and not isinstance(thing, ModuleType)
        ]
        seen |= {id(thing) for thing in things.values()}
    return found


def summary(name: str) -> str:
    """What a room's docstring says first."""
    doc = importlib.import_module(name).__doc__ or ""
    return doc.strip().split("\n\n")[0].replace("\n", " ")


def write(folder: Path) -> None:
    """Write the pages, and leave those alone that have not changed."""
    folder.mkdir(exist_ok=True)
    titles = rooms()
    kept = {name: names for name, names in contents().items() if names}
    for old in set(folder.glob("*.rst")) - {folder / f"{_page(name)}.rst" for name in kept}:
        old.unlink()
    for name, names in kept.items():
        title = titles[name]
        lines = [title, "=" * len(title), "", f".. currentmodule:: {name}", "", summary(name), ""]
        lines += [".. autosummary::", "   :toctree: generated", "   :nosignatures:", ""]
        lines += [f"   {one}" for one in names]
        _write(folder / f"{_page(name)}.rst", "\n".join(lines) + "\n")
    pages = "\n".join(map(_page, kept))
    text = (
        "# Reference\n\nEverything public, one page for each part of the package. Import the names "
        "of the first page from `choquet`, and the others from the part that lists them.\n\n"
        f"```{{toctree}}\n:maxdepth: 1\n\n{pages}\n```\n"
    )
    _write(folder / "index.md", text)


def _page(name: str) -> str:
    return name.removeprefix("choquet.")


def _write(path: Path, text: str) -> None:
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")
