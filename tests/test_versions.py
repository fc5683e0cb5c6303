"""What is declared about versions is what is tested."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
TOOLS = {
    "coverage", "import-linter", "ipykernel", "mypy", "myst-nb", "numpydoc", "pydata-sphinx-theme",
    "ruff", "sphinx", "sphinx-design", "sphinx-gallery",
}  # fmt: skip
"""What `make test-minimum` does not run: their newest version is as good as any."""


def plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def floors() -> dict[str, str]:
    """Lowest version of each requirement, of the package and of its extras."""
    extras = PROJECT["optional-dependencies"]
    found = {}
    for text in [*PROJECT["dependencies"], *(line for name in extras for line in extras[name])]:
        match = re.fullmatch(r"([\w.-]+)(?:\[[^\]]*\])?(?:>=([\d.]+))?", text)
        assert match, text
        if match[1] != PROJECT["name"]:
            assert match[2], f"{text} has no floor"
            found[plain(match[1])] = match[2]
    return found


def pins(file: str) -> dict[str, str]:
    lines = (ROOT / file).read_text(encoding="utf-8").splitlines()
    pairs = [line.split("==") for line in lines if line and not line.startswith("#")]
    return {plain(name): version for name, version in pairs}


def parts(version: str) -> list[int]:
    """Numbers of a version without zeros at the end: 2.0 is 2.0.0."""
    return [int(part) for part in re.findall(r"\d+", re.sub(r"(\.0+)+$", "", version))]


def test_minimum_versions_are_those_that_are_declared():
    declared, tested = floors(), pins("constraints-minimum.txt")
    assert sorted(tested) == sorted(set(declared) - TOOLS)
    for name, version in tested.items():
        assert parts(version) == parts(declared[name]), name


@pytest.mark.parametrize("name", floors())
def test_versions_that_pass_are_pinned(name):
    pinned = pins("constraints.txt")
    assert name in pinned
    assert parts(pinned[name]) >= parts(floors()[name])
