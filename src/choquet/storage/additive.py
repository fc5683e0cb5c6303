"""What the fields of stored additive models must be, before any loop looks rows up in them."""

from __future__ import annotations

from functools import partial
from math import prod
from typing import Any

import numpy as np

from choquet.expected import FLAG, NUMBER, TEXT, Array, Number, Text, expect_fields

Data = dict[str, Any]

_LEVELS = 100_000
"""Most levels of a category that a file may claim."""


def check_source(data: Data) -> None:
    """Fields of a `Source`."""
    kinds = Text(("number", "ordered", "nominal"))
    expect_fields(data, {"name": TEXT, "kind": kinds, "missing": FLAG})
    levels = data["levels"]
    if not isinstance(levels, tuple) or not all(
        isinstance(one, bool | int | float | str) for one in levels
    ):
        raise ValueError("levels are no tuple of numbers and texts")


def check_axis(data: Data) -> None:
    """Fields of an `Axis`: knots that rise, and slots."""
    levels = Number(low=0, high=_LEVELS, whole=True)
    expect_fields(data, {"knots": Array((None,)), "n_levels": levels, "missing": FLAG})
    knots = data["knots"]
    if (np.diff(knots) <= 0).any():
        raise ValueError("knots do not rise")
    if len(knots) and data["n_levels"]:
        raise ValueError("an axis has knots or levels, not both")
    if len(knots) + data["n_levels"] < 1:
        raise ValueError("an axis has neither knots nor levels")


def check_term(data: Data) -> None:
    """Fields of a `FittedTerm`: its values fill its grid."""
    from choquet.additive.axes import Axis

    sources, names, axes = data["sources"], data["names"], data["axes"]
    if not all(isinstance(part, tuple) for part in (sources, names, axes)):
        raise ValueError("sources, names and axes are no tuples")
    if not 1 <= len(sources) <= 4 or not len(sources) == len(names) == len(axes):
        raise ValueError(f"a term of {len(sources)} sources and {len(axes)} axes")
    if not all(isinstance(name, str) for name in names):
        raise ValueError("names are no texts")
    if not all(isinstance(i, int) and i >= 0 for i in sources) or len(set(sources)) < len(sources):
        raise ValueError("sources are not distinct numbers of columns")
    if not all(isinstance(axis, Axis) for axis in axes):
        raise ValueError("axes are no axes")
    shape = tuple(axis.size for axis in axes)
    table = {
        "values": Array(("scores", *shape)),
        "errors": Array(("scores", *shape), low=0),
        "spread": Array(("scores",), low=0),
        "edf": NUMBER,
        "share": NUMBER,
        "n_numbers": Number(low=0, high=prod(shape), whole=True),
    }
    expect_fields(data, table)


def check_model(data: Data) -> None:
    """Fields of an `AdditiveModel`: all parts are of the same sizes."""
    from choquet.additive.axes import Source
    from choquet.additive.model import FittedTerm

    sources, terms = data["sources"], data["terms"]
    if not isinstance(sources, tuple) or not all(isinstance(one, Source) for one in sources):
        raise ValueError("sources are no sources")
    if not isinstance(terms, tuple) or not all(isinstance(one, FittedTerm) for one in terms):
        raise ValueError("terms are no terms")
    parts = {"fixed": Array(("scores", None)), "bounds": Array(("scores", 2))}
    expect_fields(data, {**parts, "variance": Number(low=0), "settled": FLAG})
    (n_scores, n_fixed), bounds = data["fixed"].shape, data["bounds"]
    if (bounds[:, 0] > bounds[:, 1]).any():
        raise ValueError("bounds are the wrong way round")
    for term in terms:
        if len(term.values) != n_scores or max(term.sources) >= len(sources):
            raise ValueError(f"{term.name} does not belong to this model")
    size = n_fixed + sum(term.n_numbers for term in terms)
    bases = _list(data, "bases", len(terms))
    for basis, term in zip(bases, terms, strict=True):
        shape = (term.values[0].size, term.n_numbers)
        expect_fields({"basis": basis}, {"basis": Array(shape)})
    squares = {"covariance": Array((size, size)), "prior": Array((size,), low=0)}
    for pair in zip(*(_list(data, name, n_scores) for name in squares), strict=True):
        expect_fields(dict(zip(squares, pair, strict=True)), squares)
    if "kappa" in data:  # files of earlier versions take the link for certain
        expect_fields(data, {"kappa": NUMBER, "kappa_error": Number(low=0)})
        answer = Array((size if data["kappa_error"] > 0 else 0,))
        expect_fields(data, {"kappa_answer": answer})
    noise = {"growth": NUMBER, "level": Number(low=0)}  # in earlier files the noise is even
    expect_fields(data, noise, absent=tuple(noise))


def _list(data: Data, name: str, length: int) -> list[Any]:
    found = data[name]
    if not isinstance(found, list) or len(found) != length:
        raise ValueError(f"{name} is no list of {length} arrays")
    return found


_STEPS = Number(low=0, whole=True)
PROOF = partial(
    expect_fields,
    table={"least_rise": NUMBER, "gap": NUMBER, "n_constraints": _STEPS, "exact": FLAG},
)


def check_additive(fitted: Data) -> None:
    """Fitted attributes of an additive estimator: they belong to one model."""
    from choquet.additive.axes import Source
    from choquet.additive.model import AdditiveModel

    model, columns = fitted.get("model_"), fitted.get("columns_")
    if not isinstance(model, AdditiveModel):
        raise ValueError("model_ is no additive model")
    if not isinstance(columns, tuple) or not all(isinstance(one, Source) for one in columns):
        raise ValueError("columns_ are no sources")
    if not len(columns) == len(model.sources) == fitted.get("n_features_in_"):
        raise ValueError(f"{len(columns)} columns for a model of {len(model.sources)} sources")
    counts = fitted["contexts_"]
    if not isinstance(counts, tuple) or len(counts) != len(model.terms):
        raise ValueError(f"contexts_ are not those of {len(model.terms)} terms")
    for met, term in zip(counts, model.terms, strict=True):
        d = len(term.sources)
        expect_fields({"contexts_": met}, {"contexts_": Array((None, 2 * d + 1), "i", low=0)})
        sizes = [axis.size for axis in term.axes]
        if (met[:, :d] >= sizes).any() or (np.sort(met[:, d : 2 * d]) != np.arange(d)).any():
            raise ValueError(f"contexts_ of {term.name} are not on its grid")
    numbers = ("n_rows_", "edf_", "centre_", "scale_", "link_", "noise_")
    expect_fields(fitted, dict.fromkeys(numbers, NUMBER), absent=numbers)
    n_fixed, classes = model.fixed.shape[1], fitted.get("classes_")
    if classes is not None and len(classes) not in (2, model.n_scores, n_fixed + 1):
        raise ValueError(f"{len(classes)} classes for {model.n_scores} scores")
    expect_fields(fitted, {"thresholds_": Array((n_fixed,))}, absent=("thresholds_",))
