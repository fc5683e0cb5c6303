"""Markdown pages from the documents that experiments leave: numbers are never typed by hand."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from choquet.errors import FileError
from choquet.files import write_whole

MARK = "<!-- written by the choquet reproduction; do not edit -->"

INTRODUCTION = (
    "Every experiment of “Fuzzy Integral = Contextual Linear Order Statistic” (Anderson et al.), "
    "run again. The tables set what the paper says beside what comes out. Intervals (±) are 95 % "
    "confidence intervals of a mean.",
)

MEANINGS = {
    "holds": "comes out as said.",
    "corrected": "what is said is wrong, and the table says what is right.",
    "not reproducible": "data and method do not determine it.",
    "differs": "comes out otherwise here, and the paper does not say enough to tell why.",
    "skipped": "not looked at, because data are absent.",
}
"""What the verdicts mean."""

_COMMANDS = """\
All numbers and pictures on this page are written by the commands

    choquet reproduce all -o results --data DATA
    python -m choquet.reproduce page -o results --page docs/paper.md --images docs/images/paper
"""


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def _table(header: Sequence[str], rows: Iterable[Sequence[str]], rule: str = "---|") -> str:
    """A table in Markdown; `rule` stands below all heads but the first."""
    lines = [f"| {' | '.join(map(_cell, row))} |" for row in (header, *rows)]
    lines.insert(1, "|---|" + rule * (len(header) - 1))
    return "\n".join(lines)


def _section(document: Mapping[str, Any], images: str) -> str:
    found = [(row["paper"], row["found"], f"**{row['verdict']}**") for row in document["rows"]]
    parts = [*document["notes"], _table(("paper says", "we find", "verdict"), found)]
    for table in document["tables"]:
        numbers = _table(table["header"], table["rows"], "---:|")
        parts.append(f"{table['caption']}:\n\n{numbers}")
    return "\n\n".join([*parts, *figures(document, images)])


def figures(document: Mapping[str, Any], images: str) -> list[str]:
    """The pictures of a document with their captions; `images` stands before their names."""
    return [
        f"![{caption}]({images}{name}.png)\n\n*{caption}.*"
        for name, caption in document["figures"].items()
    ]


def experiment_page(document: Mapping[str, Any]) -> str:
    """The page of one experiment, beside its pictures.

    Examples
    --------
    >>> row = {"paper": "three", "found": "two", "verdict": "corrected"}
    >>> document = {"title": "T", "notes": [], "rows": [row], "figures": {}, "tables": []}
    >>> print(experiment_page(document).splitlines()[-1])
    | three | two | **corrected** |
    """
    return f"{MARK}\n\n# {document['title']}\n\n{_section(document, '')}\n"


def index_page(documents: Mapping[str, Mapping[str, Any]]) -> str:
    """A page that links to those of the experiments and counts their verdicts.

    Examples
    --------
    >>> row = {"paper": "three", "found": "two", "verdict": "corrected"}
    >>> document = {"title": "T", "notes": [], "rows": [row], "figures": {}, "tables": []}
    >>> print(index_page({"examples": document}).splitlines()[-1])
    | [T](examples.md) | 1 corrected |
    """
    lines = [MARK, "", "# The paper, reproduced", "", _verdicts(documents, "{}.md")]
    return "\n".join(lines) + "\n"


def _verdicts(documents: Mapping[str, Mapping[str, Any]], link: str) -> str:
    rows = [
        (f"[{document['title']}]({link.format(name)})", count_verdicts(document))
        for name, document in documents.items()
    ]
    return _table(("experiment", "verdicts"), rows)


def count_verdicts(document: Mapping[str, Any]) -> str:
    """How often each verdict was given, in words."""
    found = Counter(row["verdict"] for row in document["rows"])
    return ", ".join(f"{count} {verdict}" for verdict, count in found.items())


def paper_page(
    results: str | os.PathLike[str],
    page: str | os.PathLike[str],
    *,
    images: str | os.PathLike[str],
) -> Path:
    """Write everything that `reproduce` left in a folder as one page, with its pictures.

    Parameters
    ----------
    results : path
        The folder that was given to `reproduce` as ``out=``.
    page : path
        The Markdown file to write; one written by this function before is replaced.
    images : path
        The folder for the pictures.

    Returns
    -------
    Path
        The page.

    Raises
    ------
    FileError
        If there are no results, or the page is somebody else's.

    Examples
    --------
    >>> paper_page("no/such/folder", "paper.md", images="images")
    Traceback (most recent call last):
    ...
    choquet.errors.FileError: no/such/folder holds no results; run the experiments first
    """
    from choquet.reproduce.erratum import erratum_page
    from choquet.reproduce.run import EXPERIMENTS

    source, target, pictures = Path(results), Path(page), Path(images)
    files = [source / f"{name}.json" for name in EXPERIMENTS]
    documents = {file.stem: json.loads(file.read_bytes()) for file in files if file.is_file()}
    if not documents:
        raise FileError(f"{source} holds no results; run the experiments first")
    if target.exists() and MARK not in target.read_text(encoding="utf-8"):
        raise FileError(f"{target} exists and is not of this command; choose another name")
    pictures.mkdir(parents=True, exist_ok=True)
    seeds = sorted({document["options"]["seeds"] for document in documents.values()})
    link = os.path.relpath(pictures, target.parent).replace(os.sep, "/") + "/"
    parts = [
        MARK,
        "# The paper, reproduced and corrected",
        "\n\n".join(INTRODUCTION),
        "\n".join(f"- **{name}**: {meaning}" for name, meaning in MEANINGS.items()),
        _COMMANDS + f"\nSeeds: {', '.join(map(str, seeds))}; where fewer were used, the section "
        "says so.",
        _verdicts(documents, "#{}"),
    ]
    for name, document in documents.items():
        parts.append(f'<a id="{name}"></a>\n\n## {document["title"]}\n\n{_section(document, link)}')
        for key in document["figures"]:
            content = (source / f"{key}.png").read_bytes()
            write_whole(pictures / f"{key}.png", content, overwrite=True)
    if "authors" in documents and documents["authors"]["complete"]:
        erratum = target.with_name("erratum.md")
        text = erratum_page(documents["authors"], link)
        write_whole(erratum, text.encode(), overwrite=True)
    return write_whole(target, ("\n\n".join(parts) + "\n").encode(), overwrite=True)
