"""How far one row travels: functions, files and changes of room of `fit`, `explain` and `report`.

    python benchmarks/trace_rooms.py

A function counts once, however often it is called. A room is a folder of the package, or a module
at its top. A change of room is a call from a function of one room to one of another; a generator is
called once, however often it goes on. Those into the ground, the modules at the top that check
arrays, options and documents, are counted apart as well.
The decorator of compiled loops is no room: a loop belongs to the room that it stands in.
Modules are imported, and compiled loops loaded, before anything is counted. `fit` is also shown
without the rows held out, which are five fits more.
"""

from __future__ import annotations

import contextlib
import inspect
import io
import os
import sys
import tempfile
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np

import choquet
from choquet.cli import main

HOME = str(Path(choquet.__file__).parent)
DECORATOR = str(Path(HOME) / "lattice" / "compiling.py")


def room_of(name: str) -> str | None:
    """Room of a file of the package; None for other files, and for the decorator of loops."""
    if not name.startswith(HOME) or name == DECORATOR:
        return None
    first, _, rest = name[len(HOME) + 1 :].partition(os.sep)
    return first if rest else first.removesuffix(".py")


class Trace:
    """Counts while it is set as the profile function."""

    def __init__(self) -> None:
        self.functions: set[Any] = set()
        self.files: set[str] = set()
        self.changes = self.to_ground = 0
        self.begun: set[FrameType] = set()

    def __call__(self, frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        room = room_of(code.co_filename) if event == "call" else None
        # Bodies of modules and classes, and comprehensions, are no functions of their own.
        if room is None or code.co_name.startswith("<"):
            return
        if code.co_flags & inspect.CO_GENERATOR:
            if frame in self.begun:
                return
            self.begun.add(frame)
        self.functions.add(code)
        self.files.add(code.co_filename)
        caller = frame.f_back
        while caller is not None and room_of(caller.f_code.co_filename) is None:
            caller = caller.f_back
        if caller is not None and room_of(caller.f_code.co_filename) != room:
            self.changes += 1
            self.to_ground += (Path(HOME) / f"{room}.py").exists()

    def row(self) -> tuple[int, int, int, int]:
        """Functions, files, changes of room, and those of them that are not into the ground."""
        inside = self.changes - self.to_ground
        return len(self.functions), len(self.files), self.changes, inside


def traced(words: list[str]) -> tuple[int, int, int, int]:
    """The counts of one command, run a second time."""
    for trace in (None, Trace()):
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            sys.setprofile(trace)
            try:
                code = main([*words, *([] if words[0] == "explain" else ["--force"])])
            finally:
                sys.setprofile(None)
        assert code == 0, words
    assert trace is not None
    return trace.row()


def table() -> dict[str, tuple[int, int, int, int]]:
    """The counts of each command, on a table of 40 rows and one of a single row."""
    X = np.random.default_rng(0).random((40, 3)).round(3)
    rows = np.column_stack([X, X.max(axis=1)])
    with tempfile.TemporaryDirectory() as folder:
        for name, part in (("table", rows), ("row", rows[:1])):
            text = "\n".join(",".join(map(str, row)) for row in part.tolist())
            (Path(folder) / f"{name}.csv").write_text(f"a,b,c,y\n{text}\n")
        data, one, model = (f"{folder}/{name}" for name in ("table.csv", "row.csv", "model.json"))
        return {
            "fit": traced(["fit", data, "-o", model]),
            "fit alone": traced(["fit", data, "-o", model, "--folds", "0"]),
            "explain": traced(["explain", model, one]),
            "report": traced(["report", model, one, "-o", f"{folder}/report.html"]),
        }


if __name__ == "__main__":
    heads = ("functions", "files", "changes of room", "not into the ground")
    print(f"{'':10}" + "".join(f"{head:>21}" for head in heads))
    for command, row in table().items():
        print(f"{command:10}" + "".join(f"{number:>21}" for number in row))
