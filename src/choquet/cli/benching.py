"""``choquet bench``: this package beside its peers, with a bar, tables and, if asked, a page."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from choquet.bench import bench, install_peers, write_page
from choquet.bench.page import bytes_text, check_page, seconds_text
from choquet.cli.output import Stopped, progress, say, say_json, say_table, warn
from choquet.cli.reproducing import steps

__all__ = ["run_bench"]


def run_bench(
    which: Sequence[str],
    output: Path,
    *,
    peers: Path | None,
    install: bool,
    page: Path | None,
    quick: bool,
    limit: float | None,
    rounds: int | None,
    fresh: bool,
    as_json: bool,
) -> None:
    """Measure, keep what is done, and say it."""
    if page is not None:
        check_page(page)
    try:
        if install:
            output.mkdir(parents=True, exist_ok=True)
            peers = install_peers(
                output / "peers" if peers is None else peers.parent.parent,
                tell=lambda name: warn(f"note: installing {name}"),
            )
        with progress("bench", 1.0) as advance:
            found = bench(
                which,
                quick=quick,
                peers=peers,
                out=output,
                limit=limit,
                rounds=rounds,
                resume=not fresh,
                progress=steps(advance),
            )
    except KeyboardInterrupt:
        raise Stopped(
            f"stopped; what is done is kept in {output}, and the same command goes on from there"
        ) from None
    if page is not None:
        write_page(found, page)
    if as_json:
        say_json(found)
        return
    _say_tables(found)
    say(f"Numbers are in {output}" + (f", the page is {page}." if page is not None else "."))


def _say_tables(found: dict[str, Any]) -> None:
    for work in found["works"].values():
        rows = [
            [
                f"{row['contender']} {row['version']}".strip(),
                seconds_text(row["seconds"]) if "seconds" in row else "–",
                f"{row['ratio']:.3g}×" if "ratio" in row else "–",
                bytes_text(row["memory"]) if "memory" in row else "–",
                "–" if row.get("difference") is None else f"{row['difference']:.1e}",
                row.get("reason", ""),
            ]
            for row in work["rows"]
        ]
        header = ["contender", "time", "over ours", "memory", "difference", ""]
        say_table(header, rows, title=work["title"])
    rows = [
        [curve["title"], curve["along"], _power(curve["time_power"]), _power(curve["memory_power"])]
        for curve in found["curves"].values()
    ]
    if rows:
        say_table(["task", "along", "power of time", "power of memory"], rows, title="growth")


def _power(power: dict[str, float] | None) -> str:
    return "–" if power is None else f"{power['power']:.2f} ± {power['error']:.2f}"
