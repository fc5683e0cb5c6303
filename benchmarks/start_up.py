"""CPU seconds of each command on a small table: the first time it runs, and later.

    python benchmarks/start_up.py [--python OTHER] [--only predict,explain] [--json FILE]

Cold is with an empty folder for compiled loops, warm with the one that the cold run filled; the
difference is what compiling takes. CPU seconds are those of the child process and its threads,
user and system, so a busy machine matters little; each number is the smallest of `--repeat` runs.
`--python` measures another environment, such as that of an earlier version, in the same run:
commands alternate between the two, and the last column is the ratio.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

ROWS = 200
STATEMENTS = "a > b\nc > d\ne > f\n"


class Command(NamedTuple):
    """One line of the table: its name, the words after `choquet`, and what it must write."""

    name: str
    words: list[str]


COMMANDS = [
    Command("help", ["--help"]),
    Command("fit", ["fit", "table.csv", "-o", "fresh.json", "--force"]),
    Command("fit, no folds", ["fit", "table.csv", "-o", "fresh.json", "--folds", "0", "--force"]),
    Command("fit, contextual",
            ["fit", "table.csv", "--learner", "contextual", "-o", "fresh.json", "--force"]),
    Command("fit, classifier",
            ["fit", "classes.csv", "--learner", "classifier", "-o", "fresh.json", "--force"]),
    Command("predict", ["predict", "model.json", "table.csv"]),
    Command("predict, measure", ["predict", "measure.json", "table.csv"]),
    Command("predict, contextual", ["predict", "contextual.json", "table.csv"]),
    Command("decompose", ["decompose", "model.json"]),
    Command("decompose, measure", ["decompose", "measure.json"]),
    Command("decompose, clodd", ["decompose", "model.json", "--method", "clodd"]),
    Command("explain", ["explain", "model.json"]),
    Command("explain, row", ["explain", "model.json", "table.csv", "--row", "3"]),
    Command("explain, contextual", ["explain", "contextual.json", "table.csv", "--row", "3"]),
    Command("inspect", ["inspect", "model.json"]),
    Command("report", ["report", "model.json", "table.csv", "-o", "page.html", "--force"]),
    Command("decide", ["decide", "choices.csv", "said.txt"]),
]  # fmt: skip


def make_files(folder: Path) -> None:
    """A table of five sources, one with classes, alternatives, and models learned from them."""
    import choquet

    rng = np.random.default_rng(5)
    X = rng.random((ROWS, 5))
    measure = choquet.Measure.random(5, rng=rng)
    y = choquet.choquet_integral(measure, X) + 0.02 * rng.standard_normal(ROWS)
    names = ["ir", "emi", "gpr", "sonar", "radar"]
    write_table(folder / "table.csv", [*names, "y"], np.column_stack([X, y]).round(6).tolist())
    labels = np.where(y > np.median(y), "yes", "no")
    rows = [[*row, label] for row, label in zip(X.round(6).tolist(), labels, strict=True)]
    write_table(folder / "classes.csv", [*names, "kind"], rows)
    named = choquet.Measure(measure.values, sources=names)
    choquet.save(named, folder / "measure.json")
    choices = [[name, *row] for name, row in zip("abcdef", X[:6].round(3).tolist(), strict=True)]
    write_table(folder / "choices.csv", ["name", *names], choices)
    (folder / "said.txt").write_text("a > b\n" if y[0] > y[1] else "b > a\n")
    for learner in ("choquet", "contextual"):
        target = {"choquet": "model"}.get(learner, learner)
        words = ["fit", "table.csv", "--learner", learner, "-o", f"{target}.json"]
        subprocess.run(
            [sys.executable, "-m", "choquet", *words], cwd=folder, check=True, capture_output=True
        )


def write_table(path: Path, head: list[str], rows: list[list[object]]) -> None:
    """A CSV file."""
    with path.open("w", newline="") as stream:
        csv.writer(stream).writerows([head, *rows])


def seconds(python: str, words: list[str], folder: Path, cache: Path) -> float:
    """CPU seconds of one command in a process of its own."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        [python, "-m", "choquet", *words],
        cwd=folder, capture_output=True, text=True, timeout=300,
        env=os.environ | {"NUMBA_CACHE_DIR": str(cache)},
    )  # fmt: skip
    if done.returncode:
        raise SystemExit(f"choquet {' '.join(words)} failed: {done.stderr[-500:]}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def measured(
    pythons: list[str], commands: list[Command], repeat: int
) -> Iterator[tuple[str, list[tuple[float, float]]]]:
    """For each command, cold and warm seconds in each environment."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make_files(folder)
        for command in commands:
            cold: list[list[float]] = [[] for _ in pythons]
            warm: list[list[float]] = [[] for _ in pythons]
            for turn in range(repeat):
                for k, python in enumerate(pythons):
                    with tempfile.TemporaryDirectory() as cache:
                        if turn == 0:
                            cold[k].append(seconds(python, command.words, folder, Path(cache)))
                            kept = folder / f"cache-{k}-{command.name}"
                            Path(cache).rename(kept)
                            Path(cache).mkdir()
                    warm[k].append(
                        seconds(python, command.words, folder, kept_of(folder, k, command))
                    )
            yield command.name, [(min(a), min(b)) for a, b in zip(cold, warm, strict=True)]


def kept_of(folder: Path, k: int, command: Command) -> Path:
    """Where the loops that one environment compiled for a command are."""
    return folder / f"cache-{k}-{command.name}"


def main() -> None:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--python", action="append", default=[], help="another environment")
    parser.add_argument("--only", help="names of commands, with commas")
    parser.add_argument("--repeat", type=int, default=2)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    pythons = [*given.python, sys.executable]
    only = None if given.only is None else set(given.only.split(","))
    commands = [c for c in COMMANDS if only is None or c.name.split(",")[0] in only]
    heads = ["before", "after"] if len(pythons) == 2 else [Path(p).parts[-4] for p in pythons]
    head = " | ".join(f"{h} cold | {h} warm | {h} compiling" for h in heads)
    print(f"| command | {head} |\n|{'---|' * (1 + 3 * len(pythons))}")
    found = {}
    for name, times in measured(pythons, commands, given.repeat):
        found[name] = times
        cells = " | ".join(f"{a:.2f} | {b:.2f} | {max(a - b, 0):.2f}" for a, b in times)
        print(f"| {name} | {cells} |", flush=True)
    if given.json:
        given.json.write_text(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
