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
    """The page of the experiments' documents, their pictures inside it.

    Parameters
    ----------
    documents : mapping from name to document
        As `reproduce` returns them.
    pictures : mapping from name to bytes
        PNG files of all figures that the documents name.
    kind : str
        A mark that stands near the beginning of the page.

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
            verdicts=[
                {"name": name, "meaning": meaning, "class": _class(name)}
                for name, meaning in MEANINGS.items()
            ],
            experiments=[_experiment(document, pictures) for document in documents.values()],
            style=style,
            style_hash=rendering.hash_of(style),
            seeds=", ".join(map(str, seeds)),
            version=__version__,
        )
    )
    return page


def _experiment(document: Mapping[str, Any], pictures: Mapping[str, bytes]) -> dict[str, Any]:
    found = [row["verdict"] for row in document["rows"]]
    return {
        "name": document["name"],
        "title": document["title"],
        "notes": document["notes"],
        "rows": [{**row, "class": _class(row["verdict"])} for row in document["rows"]],
        "tables": document["tables"],
        "counts": {verdict: found.count(verdict) for verdict in MEANINGS},
        "pictures": [
            {"caption": caption, **_embedded(pictures[name])}
            for name, caption in document["figures"].items()
        ],
    }


def _embedded(png: bytes) -> dict[str, Any]:
    """A picture as text, with the size that the file's head tells: the page does not jump."""
    width, height = struct.unpack(">II", png[16:24])
    return {"data": base64.b64encode(png).decode("ascii"), "width": width, "height": height}


def _class(verdict: str) -> str:
    return verdict.replace(" ", "-")
