"""``python -m choquet.reproduce all -o results --data DATA``."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from choquet.errors import ChoquetError
from choquet.reproduce.page import count_verdicts, paper_page
from choquet.reproduce.run import EXPERIMENTS, reproduce


def main(arguments: Sequence[str] | None = None) -> int:
    """Run experiments from the shell; returns the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m choquet.reproduce", description="Run the paper's experiments again."
    )
    parser.add_argument("which", nargs="+", choices=["all", "page", *EXPERIMENTS])
    parser.add_argument("-o", "--out", type=Path, default=Path("choquet-paper"))
    parser.add_argument("--data", type=Path, help="folder of data that the package lacks")
    parser.add_argument("--seeds", type=int, default=100)
    parser.add_argument("--rng", type=int, default=0)
    parser.add_argument("--jobs", type=int, help="repetitions at a time; -1 for all cores")
    parser.add_argument("--fresh", action="store_true", help="run again what is there already")
    parser.add_argument("--page", type=Path, help="with 'page': one page of all results")
    parser.add_argument("--images", type=Path, help="with 'page': folder for its pictures")
    given = parser.parse_args(arguments)
    if "page" in given.which and (given.page is None or given.images is None):
        parser.error("'page' needs --page and --images")
    try:
        for name in (name for name in given.which if name != "page"):
            _run(name, given)
        if "page" in given.which:
            paper_page(given.out, given.page, images=given.images)
    except ChoquetError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


def _run(which: str, given: argparse.Namespace) -> None:
    for name in EXPERIMENTS if which == "all" else [which]:
        began = time.perf_counter()
        found = reproduce(
            name,
            data=given.data,
            out=given.out,
            seeds=given.seeds,
            resume=not given.fresh,
            rng=given.rng,
            n_jobs=given.jobs,
            progress=_show if sys.stderr.isatty() else None,
        )
        took = time.perf_counter() - began
        sys.stdout.write(f"{name}: {count_verdicts(found[name])} ({took:.0f} s)\n")
        sys.stdout.flush()


def _show(name: str, done: int, total: int) -> None:
    sys.stderr.write(f"\r{name} {done}/{total}{chr(10) if done == total else ''}")
    sys.stderr.flush()


if __name__ == "__main__":
    sys.exit(main())
