"""What was measured as a page: tables and pictures, with what a reader needs to judge them."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks.peers.growth import SAMPLES, SHORTEST, SOURCES, key_of
from benchmarks.peers.table import PEERS
from choquet.errors import FileError, MissingDependencyError
from choquet.files import write_whole

__all__ = ["bytes_text", "check_page", "page_text", "seconds_text", "write_page"]

MARK = "<!-- choquet benchmark: written by `make bench`; do not edit -->"
_DPI = 100
_INTRODUCTION = """\
Every contender runs in a process of its own, the peers in an environment of their own. It warms up
on a small task, so that libraries are loaded and loops compiled (that time is in the JSON file
beside this page, not in the tables). We run loops in plain Python until they have worked for a
second or so; here they are compiled at once, and [another page](start-up.md) has what first calls
cost. Putting the inputs into a contender's own form is not timed
either. Its answer is compared with ours before its time is believed: *difference* is the largest.
Then all take turns, {rounds} rounds where one takes less than {limit:g} s for them, and the best of
each counts. What takes more than {limit:g} s is not finished (a point of a curve: nine times
that). All may use all cores. *Memory* is the peak while running above what the process held before,
which includes inputs and libraries. Compare ratios, not seconds: they are taken in one run, and
another machine has other seconds."""


_BUSY = (
    "**The machine was busy with other work.** Times are too long, most of all short ones of code "
    "that uses several threads, and powers too small. Repeat this on a quiet machine."
)


def seconds_text(seconds: float) -> str:
    """A time that people can read.

    Examples
    --------
    >>> [seconds_text(s) for s in (2.5e-5, 0.0123, 4.2, 130)]
    ['25 µs', '12 ms', '4.2 s', '130 s']
    """
    for scale, unit in ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs")):
        if seconds >= scale:
            return f"{_two_digits(seconds / scale)} {unit}"
    return f"{_two_digits(seconds / 1e-9)} ns"


def bytes_text(size: float) -> str:
    """A size that people can read.

    Examples
    --------
    >>> [bytes_text(s) for s in (0, 300_000, 5_000_000, 3_000_000_000)]
    ['< 1 MiB', '< 1 MiB', '4.8 MiB', '2.8 GiB']
    """
    if size < 2**20:
        return "< 1 MiB"
    if size < 2**30:
        return f"{_two_digits(size / 2**20)} MiB"
    return f"{_two_digits(size / 2**30)} GiB"


def _two_digits(number: float) -> str:
    return f"{number:,.0f}" if number >= 10 else f"{number:.2g}"


def _table(header: list[str], rows: list[list[str]]) -> str:
    lines = [f"| {' | '.join(header)} |", "|" + "---|" * len(header)]
    for row in rows:
        cells = (cell.replace("|", "\\|").replace("\n", " ") for cell in row)
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _work(work: Mapping[str, Any]) -> str:
    rows = []
    for row in work["rows"]:
        name = f"{row['contender']} {row['version']}".strip()
        if "seconds" not in row:
            rows.append([name, "–", "–", "–", "–", row["reason"]])
            continue
        ratio = _ratio(row["ratio"]) if "ratio" in row else "–"
        difference = row.get("difference")
        rows.append(
            [
                name,
                seconds_text(row["seconds"]),
                ratio,
                bytes_text(row["memory"]),
                "–" if difference is None else f"{difference:.1e}",
                row.get("reason", ""),
            ]
        )
    header = ["contender", "time", "over ours", "memory", "difference", ""]
    note = f"\n\n{work['note']}" if work["note"] else ""
    return f"### {work['title']}\n\n{_table(header, rows)}{note}"


def _ratio(ratio: float) -> str:
    return f"{ratio:,.0f}×" if ratio >= 10 else f"{ratio:.2g}×"


def _imports(peers: Mapping[str, Mapping[str, Any]]) -> str:
    rows = []
    for name in (name for name in PEERS if name in peers):
        peer = peers[name]
        note = PEERS[name].note
        if peer["status"] == "ok":
            held = [seconds_text(peer["seconds"]), bytes_text(peer["memory"]), note]
        else:
            held = ["–", "–", f"**absent:** {peer['reason']}"]
        rows.append([name, peer["version"] or "–", *held])
    return _table(["contender", "version", "import", "memory", ""], rows)


def _curves(curves: Mapping[str, Mapping[str, Any]]) -> str:
    rows = []
    for curve in curves.values():
        base = {"n_sources": "2^N", "n_samples": "M", "n_walks": "walks"}[curve["along"]]
        values = curve["values"]
        last = "–"
        if values:
            time, memory = seconds_text(curve["seconds"][-1]), bytes_text(curve["memory"][-1])
            last = f"{values[0]:,} … {values[-1]:,}: {time}, {memory}"
        skipped = _left_out(curve["skipped"])
        rows.append(
            [
                curve["title"],
                base,
                _power(curve["time_power"]),
                _power(curve["memory_power"]),
                last,
                skipped,
            ]
        )
    header = [
        "task",
        "size",
        "time ∝ size to the",
        "memory ∝ size to the",
        "at the largest",
        "left out",
    ]
    return _table(header, rows)


def _left_out(skipped: Mapping[str, str]) -> str:
    """Sizes by why they have no point.

    Examples
    --------
    >>> _left_out({"12": "takes more than 9 s", "14": "takes more than 9 s", "16": "skipped: so"})
    '12, 14: takes more than 9 s; 16: not tried'
    """
    sizes: dict[str, list[str]] = {}
    for at, why in skipped.items():
        reason = "not tried" if why.startswith("skipped") else why
        sizes.setdefault(reason, []).append(f"{int(at):,}")
    return "; ".join(f"{', '.join(found)}: {why}" for why, found in sizes.items())


def _power(power: Mapping[str, float] | None) -> str:
    if power is None:
        return "–"
    return f"{power['power']:.2f} ± {power['error']:.2f} ({power['n_points']} points)"


def _grid(points: Mapping[str, Mapping[str, Any]]) -> str:
    """Learning by sources and rows: time, solver, memory."""
    rows = []
    for n in SOURCES:
        cells = []
        for m in SAMPLES:
            point = points.get(key_of("learning", {"n_sources": n, "n_samples": m}))
            if point is None:
                cells.append("")
            elif point["status"] != "ok":
                cells.append("> limit" if point["status"] == "limit" else "–")
            else:
                details = point["details"]
                flag = "" if details["status"] == "solved" else f" ({details['status']})"
                cells.append(
                    f"{seconds_text(point['seconds'])}, {bytes_text(point['memory'])}, "
                    f"{details['solver']}{flag}"
                )
        rows.append([str(n), *cells])
    return _table(["N", *(f"M = {m:,}" for m in SAMPLES)], rows)


def page_text(document: Mapping[str, Any], images: str, captions: Mapping[str, str]) -> str:
    """The page as Markdown.

    Parameters
    ----------
    document : mapping
        What `bench` returned.
    images : str
        Folder of the pictures, as seen from the page, with a slash at its end.
    captions : mapping
        Of the pictures that there are, by name.

    Examples
    --------
    >>> head = {"version": "1", "machine": {}, "options": {"quick": 0, "limit": 9, "rounds": 2}}
    >>> text = page_text(head | {"loads": [], "peers": {}, "works": {}, "curves": {}}, "", {})
    >>> text.splitlines()[2]
    '# Performance'
    """
    options = document["options"]
    machine = [[name, value] for name, value in document["machine"].items()]
    busy, load = _busy(document)
    if load:
        machine.append(["load while measuring", load])
    parts = [
        MARK,
        "# Performance",
        _INTRODUCTION.format(**options),
        *(["**Quick run on tiny sizes: these numbers mean nothing.**"] if options["quick"] else []),
        *([_BUSY] if busy else []),
        _table(["", "measured on"], [["choquet", document["version"]], *machine]),
        "## Contenders, and what importing them takes\n\n"
        "Best of at most three, each in a fresh process, NumPy included.",
        _imports(document["peers"]),
    ]
    if document["works"]:
        parts.append("## The same work")
        parts += _picture("ratios", images, captions)
        parts += [_work(work) for work in document["works"].values()]
    if document["curves"]:
        parts.append(
            "## Growth\n\nThe power is the slope of a line through logarithms of all points of at "
            f"least {seconds_text(SHORTEST)} (memory: 1 MiB), with its standard error; where "
            "sources grow, the size is the number 2^N of subsets, so that 1 means "
            "twice the time for one source more. After a point beyond the limit (two where rows "
            "grow: few can be harder to learn from than many), larger ones are left out."
        )
        parts.append(_curves(document["curves"]))
        for group in ("sources", "samples", "walks", "learning", "rows"):
            parts += _picture(group, images, captions)
        if not options["quick"] and any(key.startswith("learning") for key in document["points"]):
            parts += ["### Learning by sources and rows", _grid(document["points"])]
    return "\n\n".join(parts) + "\n"


def _busy(document: Mapping[str, Any]) -> tuple[bool, str]:
    """Whether others were at work, as far as the load tells; up to the cores it may be our own."""
    loads = sorted(load for load in document["loads"] if load is not None)
    if not loads:
        return False, ""
    middle = loads[len(loads) // 2]
    cores = document["machine"].get("cores", "")
    busy = cores.isdecimal() and middle > int(cores) + 1
    return busy, f"{middle:g} in the middle, at most {loads[-1]:g}"


def _picture(name: str, images: str, captions: Mapping[str, str]) -> list[str]:
    if name not in captions:
        return []
    return [f"![{captions[name]}]({images}{name}.png)\n\n*{captions[name]}.*"]


def check_page(page: str | os.PathLike[str]) -> Path:
    """Refuse before the work a page that could not be written after it.

    Examples
    --------
    >>> import tempfile
    >>> check_page(tempfile.mkdtemp() + "/here/performance.md")
    Traceback (most recent call last):
    ...
    choquet.errors.FileError: ...here is no folder that can be written to; choose another
    """
    target = Path(page)
    if not target.absolute().parent.is_dir() or not os.access(target.absolute().parent, os.W_OK):
        raise FileError(f"{target.parent} is no folder that can be written to; choose another")
    if target.exists() and MARK not in target.read_text(encoding="utf-8", errors="replace"):
        raise FileError(f"{target} exists and is not of this command; choose another name")
    return target


def write_page(
    document: Mapping[str, Any],
    page: str | os.PathLike[str],
    *,
    images: str | os.PathLike[str] | None = None,
) -> Path:
    """Write what `bench` found as a page, with pictures and a JSON file beside it.

    Parameters
    ----------
    document : mapping
        What `bench` returned.
    page : path
        The Markdown file to write; one written by this function before is replaced.
    images : path, optional
        Folder for the pictures: ``images/`` and the page's name, beside the page, by default.

    Raises
    ------
    FileError
        If the page is somebody else's.
    MissingDependencyError
        Without matplotlib.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "mine.md").write_text("# Mine")
    >>> write_page({}, folder / "mine.md")
    Traceback (most recent call last):
    ...
    choquet.errors.FileError: ...mine.md exists and is not of this command; choose another name
    """
    target = check_page(page)
    folder = target.parent / "images" / target.stem if images is None else Path(images)
    captions = _write_pictures(document, folder)
    link = os.path.relpath(folder, target.parent).replace(os.sep, "/") + "/"
    numbers = json.dumps(_plain(document), indent=1, ensure_ascii=False)
    write_whole(target.with_suffix(".json"), numbers.encode() + b"\n", overwrite=True)
    return write_whole(target, page_text(document, link, captions).encode(), overwrite=True)


def _plain(node: Any) -> Any:
    if isinstance(node, Mapping):
        return {name: _plain(value) for name, value in node.items()}
    if isinstance(node, list):
        return [_plain(value) for value in node]
    if isinstance(node, float):
        # Four digits are more than a time is good for, and keep the file small.
        return None if node in (float("inf"), float("-inf")) else float(f"{node:.4g}")
    return node


def _write_pictures(document: Mapping[str, Any], folder: Path) -> dict[str, str]:
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingDependencyError(
            "Pictures need matplotlib: pip install 'choquet[plot]', or leave the page out"
        ) from None
    from benchmarks.peers.pictures import pictures_of

    captions = {}
    for name, (caption, draw) in pictures_of(document).items():
        folder.mkdir(parents=True, exist_ok=True)
        figure = Figure(layout="constrained")
        draw(figure)
        stream = io.BytesIO()
        # Without the program's name and version in it, the same picture is the same file.
        figure.savefig(stream, format="png", dpi=_DPI, metadata={"Software": None})
        write_whole(folder / f"{name}.png", stream.getvalue(), overwrite=True)
        captions[name] = caption
    return captions
