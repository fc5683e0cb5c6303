"""All results as one HTML page that needs nothing else, online or off."""

from __future__ import annotations

import base64
import struct
from collections.abc import Mapping
from typing import Any

from choquet._version import __version__
from choquet.report import rendering
from choquet.reproduce.page import INTRODUCTION, MEANINGS


def environment() -> Any:
    """What renders the page; asked for before hours of work rather than after."""
    return rendering.environment(
        "choquet.reproduce", "The page of results needs", ", or pass out=None"
    )


def html_page(
    documents: Mapping[str, Mapping[str, Any]], pictures: Mapping[str, bytes], *, kind: str
) -> str:
    """The page of what `reproduce` returns, with the PNG files of all figures inside it.

    The kind is a mark that stands near the beginning of the page.

    Examples
    --------
    >>> row = {"paper": "three <b>", "found": "two", "verdict": "corrected"}
    >>> document = {"name": "a", "title": "T", "notes": [], "rows": [row], "figures": {},
    ...             "tables": [], "options": {"seeds": 3}}
    >>> page = html_page({"a": document}, {}, kind="demo")
    >>> "three &lt;b&gt;" in page, "<script" in page, "http://" in page
    (True, False, False)
    """
    own = rendering.template_text("results.css", "choquet.reproduce")
    style = rendering.template_text("report.css") + own
    seeds = sorted({document["options"]["seeds"] for document in documents.values()})
    page: str = (
        environment()
        .get_template("results.html")
        .render(
            kind=kind,
            title="The paper, reproduced and corrected",
            introduction=INTRODUCTION,
            verdicts=MEANINGS,
            experiments=documents.values(),
            pictures={name: _embedded(png) for name, png in pictures.items()},
            style=style,
            style_hash=rendering.hash_of(style),
            seeds=", ".join(map(str, seeds)),
            version=__version__,
        )
    )
    return page


def _embedded(png: bytes) -> dict[str, Any]:
    """A picture as text, with the size that the file's head tells: the page does not jump."""
    width, height = struct.unpack(">II", png[16:24])
    return {"data": base64.b64encode(png).decode("ascii"), "width": width, "height": height}
