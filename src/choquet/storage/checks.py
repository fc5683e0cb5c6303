"""What the fields of stored objects must be, for classes that do not check them all themselves."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from choquet.expected import expect_array, expect_number, expect_text
from choquet.lattice.wide import expect_words

__all__ = [
    "check_cost",
    "check_flag",
    "check_formula",
    "check_identification",
    "check_mobius",
    "check_names",
    "check_outcome",
    "check_path",
    "check_scale",
    "check_scaled",
    "check_solution",
    "check_units",
]

Data = dict[str, Any]


def check_flag(data: Data, name: str) -> bool:
    """True or False, and nothing that only counts as one."""
    if not isinstance(data[name], bool):
        raise ValueError(f"{name} is {data[name]!r:.40}, not true or false")
    return bool(data[name])


def check_names(data: Data, name: str) -> tuple[str, ...]:
    """Distinct texts, at least one."""
    names = data[name]
    if not isinstance(names, list | tuple) or not all(isinstance(one, str) for one in names):
        raise ValueError(f"{name} are no list of names")
    if not names or len(set(names)) < len(names):
        raise ValueError(f"{name} are not distinct, or none")
    return tuple(names)


def check_mobius(data: Data) -> None:
    """Fields of a `MobiusMeasure`."""
    expect_words(data, "words", len(check_names(data, "sources")))
    expect_array(data, "coefficients", (len(data["words"]),))
    check_flag(data, "monotone")
    check_flag(data, "normal")


def check_formula(data: Data) -> None:
    """Fields of a `FormulaMeasure`; the class checks the rest."""
    expect_text(data, "pattern")
    expect_array(data, "weights", (len(check_names(data, "sources")),), low=0)
    expect_number(data, "curve")


def check_outcome(data: Data) -> None:
    """Fields of an `Outcome`; those that are not there have defaults."""
    if not isinstance(data["classes"], tuple):
        raise ValueError("classes are no tuple")
    _where(data, ("slope", "intercept"), expect_number)
    _where(data, ("chosen",), check_flag)
    for name in ("number", "asked"):
        if data.get(name) is not None:
            expect_number(data, name, whole=True)


def check_cost(data: Data) -> None:
    """Fields of a `Cost`."""
    for name in ("description", "integral", "weighted_mean", "order_statistic", "plain_mean"):
        expect_number(data, name)
    for name in ("same_contexts", "same_number"):
        expect_number(data, name)
    expect_number(data, "n_folds", whole=True)
    check_flag(data, "refitted")
    if data.get("unsupported") is not None:
        expect_number(data, "unsupported", low=0, high=1)


def check_path(data: Data) -> None:
    """Fields of a pruning `Path`."""
    k = len(expect_array(data, "alphas", (None,)))
    expect_array(data, "stops", (k, None), kinds="b")
    expect_array(data, "n_leaves", (k,), kinds="i", low=1)
    expect_array(data, "errors", (k,), low=0)


def check_identification(data: Data) -> None:
    """Fields of an `Identification`."""
    expect_number({"tau": min(data["tau"], 1e308)}, "tau", low=0)  # no noise, no bound
    if data.get("level") is not None:
        expect_number(data, "level", low=0, high=1)
    masks = expect_array(data, "masks", (None,), kinds="iO")
    k = len(masks)
    if not all(isinstance(mask, int) and mask >= 0 for mask in masks.tolist()):
        raise ValueError("masks are no subsets")
    lower, upper = expect_array(data, "lower", (k,)), expect_array(data, "upper", (k,))
    if (lower > upper).any():
        raise ValueError("an interval ends before it begins")
    expect_array(data, "state", (k,), kinds="i", low=0, high=2)


def check_solution(data: Data) -> None:
    """Fields of a `Solution`."""
    expect_array(data, "values", (None,))
    _where(data, ("intercepts",), lambda d, name: expect_array(d, name, (None,)))
    for name in ("bias", "objective", "violation"):
        expect_number(data, name, lacking=True)
    expect_number({"gap": min(data["gap"], 1e308)}, "gap", lacking=True)  # a bound may be infinite
    expect_number(data, "iterations", low=0, whole=True)
    expect_text(data, "status", ("solved", "inaccurate"))
    expect_text(data, "message")
    expect_text(data, "solver")


def check_scale(data: Data) -> None:
    """Fields of a `Scale`; the class checks the rest."""
    n = len(expect_array(data, "points", (None,)))
    expect_array(data, "values", (n,))
    _where(data, ("clip",), check_flag)


def check_units(data: Data) -> None:
    """Fields of `Units`; the class checks the rest."""
    from choquet.scales import Scale

    scales = data["scales"]
    target = (data["target"],) if "target" in data else ()
    if not isinstance(scales, tuple) or not all(isinstance(s, Scale) for s in (*scales, *target)):
        raise ValueError("units hold other than scales")
    _where(data, ("target_name",), expect_text)


def check_scaled(data: Data) -> None:
    """Fields of what the version before wrote as a model with offsets and widths."""
    n = len(check_names(data, "sources"))
    expect_text(data, "target")
    expect_array(data, "offsets", (n,))
    expect_array(data, "widths", (n,), low=1e-300)
    expect_number(data, "target_offset")
    expect_number(data, "target_width", low=1e-300)
    model = data["model"]
    measure = getattr(model, "measure", model)
    known = getattr(model, "n_features_in_", getattr(measure, "n_sources", n))
    if not hasattr(model, "predict") or known != n:
        raise ValueError(f"{n} sources, but a {type(model).__name__} of {known}")


def _where(data: Data, names: tuple[str, ...], check: Callable[..., Any]) -> None:
    """Check the fields that are there."""
    for name in names:
        if name in data:
            check(data, name)
