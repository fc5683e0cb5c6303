"""CPU seconds of each command on a small table: the first time it runs, and later.

    python benchmarks/start_up.py [--before SRC] [--only predict,explain] [--json FILE]

Cold is with an empty folder for compiled loops, warm with the one that the cold run filled; the
difference is what compiling takes. CPU seconds are those of the child process and its threads,
user and system, so a busy machine matters little; each number is the smallest of `--repeat` runs.
Modules are compiled to byte code first, as an installation does, even where the environment forbids
Python to write byte code.
`--before` names the `src` folder of an earlier version, which is measured in the same run: commands
alternate between the two, so that a busy machine is as busy for both.
"""

from __future__ import annotations

import argparse
import compileall
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
SRC = Path(__file__).resolve().parents[1] / "src"
ENVIRONMENT = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}


class Command(NamedTuple):
    """One line of the table: its name, and the words after `choquet`."""

    name: str
    words: list[str]


def fit_of(learner: str, table: str = "table.csv") -> Command:
    """How a model of one learner is learned."""
    words = ["fit", table, "--learner", learner, "-o", "fresh.json", "--force"]
    return Command(f"fit ({learner})", words)


COMMANDS = [
    Command("help", ["--help"]),
    Command("fit", ["fit", "table.csv", "-o", "fresh.json", "--force"]),
    Command("fit (no folds)", ["fit", "table.csv", "-o", "fresh.json", "--folds", "0", "--force"]),
    *(fit_of(learner) for learner in ("auto", "additive", "cv", "contextual", "gradient", "owa")),
    *(fit_of(learner, "classes.csv")
      for learner in ("classifier", "contextual-classifier", "additive-classifier")),
    Command("fuse", ["fuse", "scores.csv", "-t", "truth", "-o", "fresh.json", "--force"]),
    Command("predict", ["predict", "model.json", "table.csv"]),
    Command("predict (measure)", ["predict", "measure.json", "table.csv"]),
    Command("predict (contextual)", ["predict", "contextual.json", "table.csv"]),
    Command("predict (additive)", ["predict", "additive.json", "table.csv"]),
    Command("decompose", ["decompose", "model.json"]),
    Command("decompose (measure)", ["decompose", "measure.json"]),
    Command("decompose (table)", ["decompose", "model.json", "table.csv"]),
    Command("decompose (clodd)", ["decompose", "model.json", "--method", "clodd"]),
    Command("explain", ["explain", "model.json"]),
    Command("explain (row)", ["explain", "model.json", "table.csv", "--row", "3"]),
    Command("explain (contextual)", ["explain", "contextual.json", "table.csv", "--row", "3"]),
    Command("explain (additive)", ["explain", "additive.json", "table.csv", "--row", "3"]),
    Command("inspect", ["inspect", "model.json"]),
    Command("inspect (additive)", ["inspect", "additive.json"]),
    Command("compare", ["compare", "model.json", "measure.json"]),
    Command("report", ["report", "model.json", "table.csv", "-o", "page.html", "--force"]),
    Command("report (additive)",
            ["report", "additive.json", "table.csv", "-o", "page.html", "--force"]),
    Command("export (sql)", ["export", "model.json", "--to", "sql", "-o", "-"]),
    Command("export (onnx)", ["export", "model.json", "--to", "onnx", "-o", "m.onnx", "--force"]),
    Command("decide", ["decide", "choices.csv", "said.txt"]),
    Command("decide (7 criteria)", ["decide", "seven.csv", "said.txt"]),
    Command("decide (page)", ["decide", "choices.csv", "said.txt", "-o", "page.html", "--force"]),
    Command("reproduce", ["reproduce", "examples", "-o", "paper", "--fresh"]),
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
    seven = [[name, *row] for name, row in zip("abcdef", rng.random((6, 7)).round(3), strict=True)]
    write_table(folder / "seven.csv", ["name", *"pqrstuv"], seven)
    heads = [f"{source}:{kind}" for source in names[:3] for kind in ("no", "yes")]
    scores = np.column_stack([1 - X[:, :3], X[:, :3]])[:, [0, 3, 1, 4, 2, 5]]
    rows = [[*row, label] for row, label in zip(scores.round(6).tolist(), labels, strict=True)]
    write_table(folder / "scores.csv", [*heads, "truth"], rows)
    for learner in ("choquet", "contextual", "additive"):
        target = {"choquet": "model"}.get(learner, learner)
        words = ["fit", "table.csv", "--learner", learner, "-o", f"{target}.json"]
        subprocess.run(
            [sys.executable, "-m", "choquet", *words], cwd=folder, check=True, capture_output=True
        )


def write_table(path: Path, head: list[str], rows: list[list[object]]) -> None:
    """A CSV file."""
    with path.open("w", newline="") as stream:
        csv.writer(stream).writerows([head, *rows])


def seconds(source: Path, words: list[str], folder: Path, cache: Path) -> float:
    """CPU seconds of one command in a process of its own."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        [sys.executable, "-m", "choquet", *words],
        cwd=folder, capture_output=True, text=True, timeout=300,
        env=ENVIRONMENT | {"NUMBA_CACHE_DIR": str(cache), "PYTHONPATH": str(source)},
    )  # fmt: skip
    if done.returncode:
        raise SystemExit(f"choquet {' '.join(words)} failed: {done.stderr[-500:]}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def measured(
    sources: list[Path], commands: list[Command], repeat: int
) -> Iterator[tuple[str, list[tuple[float, float]]]]:
    """For each command, cold and warm seconds of each version."""
    for source in sources:
        compileall.compile_dir(source, quiet=1)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make_files(folder)
        for command in commands:
            caches = [folder / f"cache {k} {command.name}" for k in range(len(sources))]
            cold = [
                seconds(source, command.words, folder, cache)
                for source, cache in zip(sources, caches, strict=True)
            ]
            warm = [
                [
                    seconds(source, command.words, folder, cache)
                    for source, cache in zip(sources, caches, strict=True)
                ]
                for _ in range(repeat)
            ]
            least = [min(turns) for turns in zip(*warm, strict=True)]
            yield command.name, list(zip(cold, least, strict=True))


def main() -> None:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--before", type=Path, help="the src folder of an earlier version")
    parser.add_argument("--only", help="names of commands, with commas")
    parser.add_argument("--repeat", type=int, default=2)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    sources = [SRC] if given.before is None else [given.before.resolve(), SRC]
    only = None if given.only is None else set(given.only.split(","))
    commands = [c for c in COMMANDS if only is None or c.name in only]
    heads = ["before ", "after "][: len(sources)] if len(sources) > 1 else [""]
    head = " | ".join(f"{h}cold | {h}warm | {h}compiling" for h in heads)
    print(f"| command | {head} |\n|{'---|' * (1 + 3 * len(sources))}")
    found = {}
    for name, times in measured(sources, commands, given.repeat):
        found[name] = times
        cells = " | ".join(f"{a:.2f} | {b:.2f} | {max(a - b, 0):.2f}" for a, b in times)
        print(f"| {name} | {cells} |", flush=True)
    if given.json:
        given.json.write_text(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
