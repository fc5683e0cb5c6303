"""Docstrings of the public surface are whole, in numpydoc's form, and name every argument."""

from __future__ import annotations

import importlib
import inspect

import pytest

pytest.importorskip("numpydoc")

ROOMS = ("choquet", "choquet.datasets", "choquet.plot", "choquet.reproduce")
EVERYWHERE = {
    "GL01", "GL02", "GL03", "GL05", "GL06", "GL07", "GL08", "GL09", "GL10",
    "SS01", "SS03", "SS04", "PR02", "PR05", "PR06", "PR09", "PR10",
    "RT02", "RT04", "RT05", "YD01", "SA02", "SA03", "SA04",
}  # fmt: skip
"""Layout and spelling. Left out: extended summaries and See Also sections for their own sake; verbs
in the infinitive, because a docstring may say what a thing is; capitals at the start, where a
letter of the mathematics may stand."""
FUNCTIONS = EVERYWHERE | {"PR01", "PR03", "PR04", "RT01", "EX01"}
"""A function also names each argument with its type, says what it returns, and shows an example."""
CLASSES = EVERYWHERE | {"PR03", "PR04", "EX01"}
"""So does a class; results whose fields stand under Attributes are made by us, not by users."""


def surface() -> dict[str, set[str]]:
    """Checks by name for everything that users reach from the package, members included."""
    found: dict[str, set[str]] = {}
    for room in ROOMS:
        module = importlib.import_module(room)
        for name in module.__all__:
            thing = getattr(module, name)
            if inspect.isfunction(thing):
                found[path_of(thing)] = FUNCTIONS
            elif inspect.isclass(thing) and thing.__module__.startswith("choquet"):
                # Cleaned, because Python 3.13 takes the indentation away and earlier ones do not.
                attributes = "\nAttributes\n" in inspect.cleandoc(thing.__doc__ or "")
                found[path_of(thing)] = CLASSES | (set() if attributes else {"PR01"})
                found |= dict.fromkeys(members(thing), EVERYWHERE)
    return found


def path_of(thing: type) -> str:
    return f"{thing.__module__}.{thing.__qualname__}"


def members(thing: type) -> list[str]:
    """Methods and properties, inherited ones where they are written."""
    kinds = (classmethod, staticmethod, property)
    return [
        f"{path_of(base)}.{name}"
        for base in thing.__mro__
        if base.__module__.startswith("choquet")
        for name, member in vars(base).items()
        if not name.startswith("_") and (inspect.isfunction(member) or isinstance(member, kinds))
    ]


SURFACE = surface()


@pytest.mark.parametrize("path", sorted(SURFACE))
def test_docstring(path):
    from numpydoc.validate import validate

    faults = [text for code, text in validate(path)["errors"] if code in SURFACE[path]]
    assert not faults, f"{path}: " + "; ".join(faults)
