"""Check the built site: python docs/links.py site.

Every link inside the site must lead to a file and, where it names a place, to that place; every
page must be reachable from the first; a page of the reference must describe its object; and no page
may load anything from outside.
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LOADS = {
    ("script", "src"), ("img", "src"), ("iframe", "src"), ("source", "src"), ("video", "src"),
    ("audio", "src"), ("object", "data"), ("embed", "src"), ("link", "href"),
}  # fmt: skip
"""Attributes that a browser follows by itself."""

HARMLESS = {"canonical", "next", "prev", "author", "index", "search", "license"}
"""Relations of a `link` that a browser does not load."""


_NAME = re.compile(r"choquet\.\w")
"""The place of an object on its page of the reference."""


@dataclass
class Page(HTMLParser):
    """What a page names, loads and links to."""

    path: Path
    places: set[str] = field(default_factory=set)
    links: list[str] = field(default_factory=list)
    loads: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()
        self.feed(self.path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        self.places |= {values[name] for name in ("id", "name") if values.get(name)}
        for name in ("href", "src", "data"):
            if not values.get(name):
                continue
            loaded = (tag, name) in LOADS and not HARMLESS & set(values.get("rel", "").split())
            (self.loads if loaded else self.links).append(values[name])


def faults(site: Path) -> list[str]:
    """What is wrong with the site, a line each."""
    files = (path for path in sorted(site.rglob("*.html")) if "_static" not in path.parts)
    pages = {path.resolve(): Page(path) for path in files}
    found = []
    reached: dict[Path, set[Path]] = {path: set() for path in pages}
    for path, page in pages.items():
        where = path.relative_to(site.resolve())
        for address in page.loads + page.links:
            parts = urlsplit(address)
            if parts.scheme or parts.netloc:
                if address in page.loads and parts.scheme != "data":
                    found.append(f"{where} loads {address}")
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if not target.is_file():
                found.append(f"{where} links to {address}, which is not there")
            elif target in pages:
                reached[path].add(target)
                if parts.fragment and unquote(parts.fragment) not in pages[target].places:
                    found.append(f"{where} links to {address}, and the page has no such place")
        if path.parent.name == "generated" and not any(map(_NAME.match, page.places)):
            found.append(f"{where} describes nothing")
    found += [f"{path.relative_to(site)} loads {address}" for path, address in _styles(site)]
    alone = set(pages) - _reachable((site / "index.html").resolve(), reached)
    return found + [f"{path.relative_to(site.resolve())} is not reachable" for path in alone]


def _styles(site: Path) -> list[tuple[Path, str]]:
    """What style sheets load from outside."""
    pattern = re.compile(r"""(?:url\(|@import )["']?((?:https?:)?//[^"')]+)""")
    return [
        (path, address)
        for path in site.rglob("*.css")
        for address in pattern.findall(path.read_text(encoding="utf-8"))
    ]


def _reachable(start: Path, links: dict[Path, set[Path]]) -> set[Path]:
    seen, todo = {start}, [start]
    while todo:
        fresh = links[todo.pop()] - seen
        seen |= fresh
        todo += fresh
    return seen


if __name__ == "__main__":
    wrong = faults(Path(sys.argv[1]))
    print("\n".join(wrong) or "No broken link, no request to outside.")
    sys.exit(bool(wrong))
