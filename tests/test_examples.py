"""Every example runs as a user would run it, and says what it is there to say."""

import runpy
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[1] / "examples"
SAYS = {
    "fuse_classifiers.py": "bayes, tree, neighbours and logistic",
    "fuse_sensors.py": "samples in which gpr is above ir and emi",
    "weigh_criteria.py": "Faro is ahead of Bolt, but your eight statements do not settle it.",
}


def test_every_example_is_here():
    assert sorted(SAYS) == sorted(path.name for path in FOLDER.glob("*.py"))


@pytest.mark.parametrize("name", SAYS)
def test_example(name, capsys):
    runpy.run_path(str(FOLDER / name), run_name="__main__")
    assert SAYS[name] in capsys.readouterr().out
