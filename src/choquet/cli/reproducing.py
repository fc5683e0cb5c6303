"""``choquet reproduce``: the paper's experiments, with a bar for each and a table of verdicts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from choquet.cli.output import say, say_json, say_table
from choquet.reproduce import EXPERIMENTS
from choquet.reproduce import reproduce as run_experiment
from choquet.watching import steps


def run_reproduce(
    which: Sequence[str],
    output: Path,
    *,
    data: Path | None,
    seeds: int,
    fresh: bool,
    jobs: int | None,
    as_json: bool,
) -> None:
    """Run the experiments named, or all; what is complete already is read, not run again."""
    names = [name for word in which for name in (EXPERIMENTS if word == "all" else [word])]
    found: dict[str, Any] = {}
    for name in dict.fromkeys(names):
        with steps(name, 1.0) as advance:
            found |= run_experiment(
                name,
                data=data,
                out=output,
                seeds=seeds,
                resume=not fresh,
                n_jobs=jobs,
                progress=shares(advance),
            )
    if as_json:
        say_json(found)
        return
    for name, document in found.items():
        rows = [[row["paper"], row["found"], row["verdict"]] for row in document["rows"]]
        say_table(["paper says", "we find", "verdict"], rows, title=name)
    say(f"Written to {output}: index.html for people, results.json for programs.")


def shares(advance: Callable[[float], None]) -> Callable[[str, int, int], None]:
    """Turn "so many of so many" into shares by which a bar moves on."""
    before = 0.0

    def step(_: str, done: int, total: int) -> None:
        nonlocal before
        now = done / max(total, 1)
        advance(now - before)
        before = now

    return step
