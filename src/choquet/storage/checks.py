"""What the fields of stored objects must be, for classes that do not check them all themselves."""

from __future__ import annotations

from functools import partial
from typing import Any

from choquet.expected import FLAG, NAMES, NUMBER, TEXT, Array, Number, Text, Words, expect_fields

Data = dict[str, Any]

COST = partial(
    expect_fields,
    table={
        **dict.fromkeys(
            (
                "description", "integral", "weighted_mean", "order_statistic", "plain_mean",
                "same_contexts", "same_number",
            ),
            NUMBER,
        ),
        "n_folds": Number(whole=True),
        "refitted": FLAG,
        "unsupported": Number(low=0, high=1),
    },
    unknown=("unsupported",),
)  # fmt: skip
_WEIGHTS = Array(("sources",), low=0)
FORMULA = partial(
    expect_fields,
    table={"pattern": TEXT, "sources": NAMES, "weights": _WEIGHTS, "curve": NUMBER},
)
MOBIUS = partial(
    expect_fields,
    table={
        "sources": NAMES,
        "words": Words("sources"),
        "coefficients": Array(("words",)),
        "monotone": FLAG,
        "normal": FLAG,
    },
)
PATH = partial(
    expect_fields,
    table={
        "alphas": Array(("steps",)),
        "stops": Array(("steps", None), "b"),
        "n_leaves": Array(("steps",), "i", low=1),
        "errors": Array(("steps",), low=0),
    },
)
"""The classes check the rest."""

_OUTCOME = partial(
    expect_fields,
    table={
        "slope": NUMBER, "intercept": NUMBER, "chosen": FLAG, "number": Number(whole=True),
        "asked": Number(whole=True),
    },
    absent=("slope", "intercept", "chosen"),
    unknown=("number", "asked"),
)  # fmt: skip
_IDENTIFICATION = partial(
    expect_fields,
    table={
        "tau": Number(low=0),
        "level": Number(low=0, high=1),
        "masks": Array(("k",), "iO"),
        "lower": Array(("k",)),
        "upper": Array(("k",)),
        "state": Array(("k",), "i", low=0, high=2),
    },
    unknown=("level",),
)
_SOLUTION = partial(
    expect_fields,
    table={
        "values": Array((None,)),
        "intercepts": Array((None,)),
        **dict.fromkeys(("bias", "objective", "violation", "gap"), Number(lacking=True)),
        "iterations": Number(low=0, whole=True),
        "status": Text(("solved", "inaccurate")),
        "message": TEXT,
        "solver": TEXT,
    },
    absent=("intercepts",),
)
_NOISE = {"spans": Array((None, 2)), "sizes": Array((None,), low=0)}
_SCALED = {
    "sources": NAMES,
    "target": TEXT,
    "offsets": Array(("sources",)),
    "widths": Array(("sources",), low=1e-300),
    "target_offset": NUMBER,
    "target_width": Number(low=1e-300),
}


def check_outcome(data: Data) -> None:
    """Fields of an `Outcome`; those that are not there have defaults."""
    if not isinstance(data["classes"], tuple):
        raise ValueError("classes are no tuple")
    _OUTCOME(data)


def check_identification(data: Data) -> None:
    """Fields of an `Identification`."""
    _IDENTIFICATION({**data, "tau": min(data["tau"], 1e308)})  # no noise, no bound
    if not all(isinstance(mask, int) and mask >= 0 for mask in data["masks"].tolist()):
        raise ValueError("masks are no subsets")
    if (data["lower"] > data["upper"]).any():
        raise ValueError("an interval ends before it begins")


def check_solution(data: Data) -> None:
    """Fields of a `Solution`."""
    _SOLUTION({**data, "gap": min(data["gap"], 1e308)})  # a bound may be infinite


def check_noise(data: Data) -> None:
    """Fields of a `Noise`; the class checks that they fit together."""
    from choquet.learning.data.statistics import Statistics

    expect_fields({name: data[name] for name in _NOISE}, _NOISE)
    if not isinstance(data["rows"], Statistics) or not isinstance(data["usual"], Statistics | None):
        raise ValueError("noise is of spans, sizes and the statistics of rows")


def check_units(data: Data) -> None:
    """Fields of `Units`; the class checks the rest."""
    from choquet.scales import Scale

    scales = data["scales"]
    target = (data["target"],) if "target" in data else ()
    if not isinstance(scales, tuple) or not all(isinstance(s, Scale) for s in (*scales, *target)):
        raise ValueError("units hold other than scales")
    if not isinstance(data.get("target_name", ""), str):
        raise ValueError(f"target_name is {data['target_name']!r:.40}, no text")


def check_scaled(data: Data) -> None:
    """Fields of what the version before wrote as a model with offsets and widths."""
    n = len(expect_fields(data, _SCALED)["sources"])
    model = data["model"]
    measure = getattr(model, "measure", model)
    known = getattr(model, "n_features_in_", getattr(measure, "n_sources", n))
    if not hasattr(model, "predict") or known != n:
        raise ValueError(f"{n} sources, but a {type(model).__name__} of {known}")
