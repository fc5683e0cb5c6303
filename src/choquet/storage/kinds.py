"""What can be stored, and how each kind becomes plain data and comes back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

from choquet.expected import FLAG, NAMES, NUMBER, Array, Words, expect_fields
from choquet.lattice import members
from choquet.measures import FormulaMeasure, Measure, SparseMeasure, SupportedMeasure
from choquet.operators import OrderStatistic
from choquet.scales.scale import scales_from
from choquet.storage import additive, checks
from choquet.storage.contexts import decode_contextual, encode_contextual
from choquet.storage.decompositions import decode_decomposition, encode_decomposition
from choquet.storage.models import MODELS, decode_model, encode_model, path_of
from choquet.storage.pipelines import decode_pipeline, decode_scaled_model, encode_pipeline
from choquet.storage.values import decode_value, encode_value
from choquet.walks import DataSupport

_READABLE_SOURCES = 8
"""Up to so many sources a measure is written subset by subset, for people to read."""


class Kind(NamedTuple):
    """One row of the table of storable kinds."""

    path: str
    """The class, as "module:name": it is imported when a file holds it, not before."""
    encode: Callable[[Any], dict[str, Any]]
    """To nested dicts and lists of numbers, texts and arrays."""
    decode: Callable[[dict[str, Any]], Any]
    """Back; the class's own validation applies."""
    together: Callable[[list[dict[str, Any]]], list[Any]] | None = None
    """Several from their fields at once, where the room of the class has a way to make them."""

    @property
    def class_name(self) -> str:
        """Name of the class alone."""
        return self.path.partition(":")[2]


def kind_of(obj: Any) -> str:
    """Name of the kind of an object, or a TypeError that lists the known ones.

    Examples
    --------
    >>> kind_of(OrderStatistic([1, 0]))
    'order_statistic'
    """
    path = path_of(type(obj))
    for name, kind in KINDS.items():
        if path == kind.path:
            return name
    known = ", ".join(kind.class_name for kind in KINDS.values())
    raise TypeError(f"cannot save a {type(obj).__name__}; what can be saved is {known}")


def _encode_measure(measure: Measure) -> dict[str, Any]:
    head = {
        "sources": list(measure.sources),
        "monotone": measure.monotone,
        "normal": measure.normal,
    }
    if measure.n_sources > _READABLE_SOURCES:
        return {**head, "values": measure.values}
    subsets = [
        {"subset": [measure.sources[i] for i in members(mask)], "value": float(value)}
        for mask, value in enumerate(measure.values)
    ]
    return {**head, "subsets": subsets}


def _decode_measure(data: dict[str, Any]) -> Measure:
    head = {"sources": NAMES, "monotone": FLAG, "normal": FLAG}
    if "subsets" not in data:
        return Measure(**expect_fields(data, {**head, "values": Array((None,))}))
    given = {f"value {k}": one["value"] for k, one in enumerate(data["subsets"])}
    found = expect_fields({**data, **given}, {**head, **dict.fromkeys(given, NUMBER)})
    sources, monotone, normal, *numbers = found.values()
    # Before there is room for 2**N values, whatever N the file has.
    if len(numbers) != 1 << len(sources):
        raise ValueError(f"{len(numbers)} subsets, not 2**{len(sources)}")
    values, bits = np.full(len(numbers), np.nan), {name: 1 << i for i, name in enumerate(sources)}
    values[[sum(bits[name] for name in set(one["subset"])) for one in data["subsets"]]] = numbers
    return Measure(values, sources, monotone=monotone, normal=normal)


def _listed(kind: type[SupportedMeasure | SparseMeasure], *more: str) -> Kind:
    """A row for measures of which some values are known, and `more` numbers."""
    table = {"sources": NAMES, **dict.fromkeys(more, NUMBER), "words": Words("sources")}

    def encode(measure: Any) -> dict[str, Any]:
        found = {name: getattr(measure, name) for name in table}
        return {**found, "sources": list(measure.sources), "values": measure.known_values}

    def decode(data: dict[str, Any]) -> Any:
        return kind(**expect_fields(data, {**table, "values": Array((None,))}))

    return Kind(path_of(kind), encode, decode)


def _encode_fields(obj: Any) -> dict[str, Any]:
    return {field.name: getattr(obj, field.name) for field in fields(obj)}


def _decode_support(data: dict[str, Any]) -> DataSupport:
    from choquet.learning.data.checks import support_from

    return support_from(data)


def _as_arrays(path: str) -> Kind:
    """A row for a class that is made of arrays, and imported when a file holds it."""
    return Kind(
        path, lambda obj: dict(obj.to_arrays()), lambda data: _class(path).from_arrays(data)
    )


def _class(path: str) -> Any:
    module, _, name = path.partition(":")
    return getattr(import_module(module), name)


def _decode_lambda(data: dict[str, Any]) -> FormulaMeasure:
    found = expect_fields(data, {"shares": Array((None,), low=0, high=1), "curve": NUMBER})
    return FormulaMeasure("additive", found["shares"], curve=found["curve"])


def _decode_weights(data: dict[str, Any]) -> FormulaMeasure:
    found = expect_fields(data, {"weights": Array((None,), low=0, high=1)})
    return FormulaMeasure(data["family"], **found)


def _plain(path: str, check: Callable[[dict[str, Any]], object] | None = None) -> Kind:
    """A row for a dataclass whose fields are stored one by one, and checked when they come back.

    Without a check, the class does it.
    """

    def encode(obj: Any) -> dict[str, Any]:
        # What a solver can start from next time is its own affair, and made again.
        return {
            key: encode_value(value) for key, value in _encode_fields(obj).items() if key != "warm"
        }

    def decode(data: dict[str, Any]) -> Any:
        found = {key: decode_value(value) for key, value in data.items()}
        if check is not None:
            check(found)
        return _class(path)(**found)

    return Kind(path, encode, decode)


KINDS: dict[str, Kind] = {
    "measure": Kind(path_of(Measure), _encode_measure, _decode_measure),
    "supported_measure": _listed(SupportedMeasure, "total"),
    "mobius_measure": _plain("choquet.measures.mobius:MobiusMeasure", checks.MOBIUS),
    "data_support": Kind(path_of(DataSupport), _encode_fields, _decode_support),
    "order_statistic": Kind(
        path_of(OrderStatistic),
        _encode_fields,
        lambda data: OrderStatistic(**expect_fields(data, {"weights": Array((None,))})),
    ),
    "decomposition": Kind(
        "choquet.decomposition.clusters:ClusterDecomposition",
        encode_decomposition,
        decode_decomposition,
    ),
    "diagram": _as_arrays("choquet.contexts.diagram:Diagram"),
    "statistics": _as_arrays("choquet.learning.data.statistics:Statistics"),
    "minima_statistics": _as_arrays("choquet.learning.data.minima:MinimaStatistics"),
    "contextual_model": Kind(
        "choquet.decomposition.trees:TreeDecomposition", encode_contextual, decode_contextual
    ),
    "outcome": _plain("choquet.decomposition.outcome:Outcome", checks.check_outcome),
    "cost": _plain("choquet.decomposition.cost:Cost", checks.COST),
    "pruning_path": _plain("choquet.contexts.pruning:Path", checks.PATH),
    "sparse_measure": _listed(SparseMeasure),
    "formula_measure": _plain("choquet.measures.formula:FormulaMeasure", checks.FORMULA),
    "identification": _plain(
        "choquet.certainty.identification:Identification", checks.check_identification
    ),
    "noise": _plain("choquet.certainty.noise:Noise", checks.check_noise),
    "solution": _plain("choquet.learning.solvers.solution:Solution", checks.check_solution),
    # What the formula of a family was called in files of earlier versions.
    "lambda_fit": Kind(path_of(FormulaMeasure), _encode_fields, _decode_lambda),
    "weights_fit": Kind(path_of(FormulaMeasure), _encode_fields, _decode_weights),
    "additive_source": _plain("choquet.additive.axes:Source", additive.check_source),
    "additive_axis": _plain("choquet.additive.axes:Axis", additive.check_axis),
    "additive_term": _plain("choquet.additive.model:FittedTerm", additive.check_term),
    "additive_model": _plain("choquet.additive.model:AdditiveModel", additive.check_model),
    "shape_proof": _plain("choquet.additive.shape:Proof", additive.PROOF),
    "scale": _plain("choquet.scales.scale:Scale")._replace(together=scales_from),
    "units": _plain("choquet.scales.units:Units", checks.check_units),
    "pipeline": Kind("sklearn.pipeline:Pipeline", encode_pipeline, decode_pipeline),
    **{name: Kind(row.path, encode_model, decode_model) for name, row in MODELS.items()},
    # What the version before wrote in place of an `in_units`.
    "scaled_model": Kind(
        "choquet.estimators.commensurate:InUnits", encode_model, decode_scaled_model
    ),
}
"""Storable kinds by the name they have in files."""
