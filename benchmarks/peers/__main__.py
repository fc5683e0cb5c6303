"""``python -m benchmarks.peers``: our package beside its peers, as tables and, if asked, a page."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.peers.page import bytes_text, check_page, seconds_text, write_page
from benchmarks.peers.run import bench
from benchmarks.peers.table import install_peers
from choquet.cli.output import say, say_json, say_table, warn
from choquet.cli.reproducing import shares
from choquet.errors import ChoquetError
from choquet.watching import steps, watch

__all__ = ["main"]


def main(words: Sequence[str] | None = None) -> int:
    """Measure, keep what is done, and say it; 0 done, 1 an error, 130 stopped by Ctrl-C."""
    options = _parser().parse_args(words)
    try:
        found = _measure(options)
    except KeyboardInterrupt:
        warn(
            f"stopped; what is done is kept in {options.output}, "
            "and the same command goes on from there"
        )
        return 130
    except ChoquetError as error:
        warn(str(error))
        return 1
    if options.json:
        say_json(found)
        return 0
    _say_tables(found)
    page = "" if options.page is None else f", the page is {options.page}"
    say(f"Numbers are in {options.output}{page}.")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.peers", description=(bench.__doc__ or "").splitlines()[0]
    )
    add = parser.add_argument
    add("which", nargs="*", default=["all"], help="all, works, growth, import, or names of works")
    add("-o", "--output", type=Path, default=Path("choquet-bench"), help="folder for the numbers")
    add("--page", type=Path, help="write a page with tables and pictures: docs/performance.md")
    add("--peers", type=Path, help="Python of the environment that holds the peers")
    add("--install", action="store_true", help="make that environment, or complete it")
    add("--quick", action="store_true", help="tiny sizes: does it work, not how fast")
    add("--limit", type=float, help="seconds that one run may take; 10 by default")
    add("--rounds", type=int, help="runs of which the best counts; 5, or 2 if quick")
    add("--fresh", action="store_true", help="measure again what is there already")
    add("--json", action="store_true", help="print one JSON document instead of text")
    return parser


def _measure(options: argparse.Namespace) -> dict[str, Any]:
    output, peers = options.output, options.peers
    if options.page is not None:
        check_page(options.page)
    if options.install:
        output.mkdir(parents=True, exist_ok=True)
        peers = install_peers(
            output / "peers" if peers is None else peers.parent.parent,
            tell=lambda name: warn(f"note: installing {name}"),
        )
    with watch(), steps("bench", 1.0) as advance:
        found = bench(
            options.which,
            quick=options.quick,
            peers=peers,
            out=output,
            limit=options.limit,
            rounds=options.rounds,
            resume=not options.fresh,
            progress=shares(advance),
        )
    if options.page is not None:
        write_page(found, options.page)
    return found


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


if __name__ == "__main__":
    sys.exit(main())
