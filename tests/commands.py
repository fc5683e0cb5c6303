"""Running commands in the tests' own process, and tables for them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from choquet.cli import main

NAMES = ("gpr", "ir", "emi")


class Done(NamedTuple):
    """What a command left behind."""

    code: int
    out: str
    err: str

    def json(self):
        """Its one document; NaN and infinities are no JSON."""

        def refuse(word):
            raise AssertionError(f"{word} is no JSON")

        return json.loads(self.out, parse_constant=refuse)


def runner(capsys: pytest.CaptureFixture[str]):
    """A function that runs a command which must succeed, and gives what it said."""

    def run(*words, code=0):
        capsys.readouterr()
        got = main([str(word) for word in words])
        out, err = capsys.readouterr()
        assert got == code, err
        return Done(got, out, err)

    return run


def sample(n: int = 60, *, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Inputs in [0, 1], and a target that a Choquet integral gives but for noise."""
    rng = np.random.default_rng(seed)
    X = rng.random((n, len(NAMES))).round(3)
    y = np.where(X[:, 0] == X.max(axis=1), np.median(X, axis=1), X.max(axis=1))
    return X, np.clip(y + 0.02 * rng.standard_normal(n), 0, 1).round(3)


def as_text(X, y=None, *, names=(*NAMES, "truth"), delimiter=",", end="\n") -> str:
    """A table as CSV text; cells that hold the delimiter are quoted."""
    rows = X.tolist() if y is None else [[*x, t] for x, t in zip(X.tolist(), y, strict=True)]
    lines = [names[: len(rows[0])], *rows]

    def cell(value):
        text = str(value)
        return f'"{text}"' if delimiter in text else text

    return "".join(delimiter.join(map(cell, line)) + end for line in lines)


def write(path: str, text: str) -> str:
    Path(path).write_bytes(text.encode())
    return path
