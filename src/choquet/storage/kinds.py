"""What can be stored, and how each kind becomes plain data and comes back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

from choquet.contexts import Diagram
from choquet.lattice import mask_of, members
from choquet.measures import Measure, SparseMeasure, SupportedMeasure
from choquet.operators import OrderStatistic
from choquet.storage.contexts import decode_contextual, encode_contextual
from choquet.storage.decompositions import decode_decomposition, encode_decomposition
from choquet.storage.models import MODELS, decode_model, encode_model, path_of
from choquet.storage.pipelines import decode_pipeline, decode_scaled_model, encode_pipeline
from choquet.storage.values import decode_value, encode_value
from choquet.walks import DataSupport

__all__ = ["KINDS", "Kind", "kind_of"]

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
    sources = data["sources"]
    if "subsets" in data:
        values = np.full(1 << len(sources), np.nan)
        for entry in data["subsets"]:
            values[mask_of(sources.index(name) for name in entry["subset"])] = entry["value"]
    else:
        values = data["values"]
    return Measure(values, sources, monotone=data["monotone"], normal=data["normal"])


def _encode_supported(measure: SupportedMeasure) -> dict[str, Any]:
    return {
        "sources": list(measure.sources),
        "total": measure.total,
        "words": measure.words,
        "values": measure.known_values,
    }


def _decode_supported(data: dict[str, Any]) -> SupportedMeasure:
    return SupportedMeasure(data["words"], data["values"], data["sources"], total=data["total"])


def _encode_sparse(measure: SparseMeasure) -> dict[str, Any]:
    return {
        "sources": list(measure.sources), "words": measure.words, "values": measure.known_values
    }  # fmt: skip


def _decode_sparse(data: dict[str, Any]) -> SparseMeasure:
    return SparseMeasure(data["words"], data["values"], data["sources"])


def _encode_fields(obj: Any) -> dict[str, Any]:
    return {field.name: getattr(obj, field.name) for field in fields(obj)}


def _decode_support(data: dict[str, Any]) -> DataSupport:
    names = data.get("sources")  # files of earlier versions have none
    support = DataSupport(**{**data, "sources": None if names is None else tuple(names)})
    n, k, s = support.n_sources, len(support.words), len(support.observed_sorts)
    for name, length in (("counts", k), ("informations", k), ("sort_counts", s)):
        if getattr(support, name).shape != (length,):
            raise ValueError(f"{name} has shape {getattr(support, name).shape}, not ({length},)")
    if support.observed_sorts.shape != (s, n):
        raise ValueError(f"observed_sorts has shape {support.observed_sorts.shape}")
    return support


def _decode_statistics(data: dict[str, Any]) -> Any:
    from choquet.learning.data.statistics import Statistics

    found = Statistics.from_arrays(data)
    k, p = len(found.masks), len(found.rows)
    shapes = {
        "counts": (k,), "target_products": (k, 2), "gap_sums": (k, 2),
        "columns": (p,), "products": (p, 2), "totals": (3, 2),
    }  # fmt: skip
    for name, shape in shapes.items():
        if getattr(found, name).shape != shape:
            raise ValueError(f"{name} has shape {getattr(found, name).shape}, not {shape}")
    return found


def _decode_minima(data: dict[str, Any]) -> Any:
    from choquet.learning.data.minima import MinimaStatistics

    return MinimaStatistics.from_arrays(data)


def _plain(path: str) -> Kind:
    """A row for a dataclass whose fields are stored one by one."""
    module, _, name = path.partition(":")

    def encode(obj: Any) -> dict[str, Any]:
        # What a solver can start from next time is its own affair, and made again.
        return {
            key: encode_value(value) for key, value in _encode_fields(obj).items() if key != "warm"
        }

    def decode(data: dict[str, Any]) -> Any:
        made = getattr(import_module(module), name)
        return made(**{key: decode_value(value) for key, value in data.items()})

    return Kind(path, encode, decode)


KINDS: dict[str, Kind] = {
    "measure": Kind(path_of(Measure), _encode_measure, _decode_measure),
    "supported_measure": Kind(path_of(SupportedMeasure), _encode_supported, _decode_supported),
    "mobius_measure": _plain("choquet.measures.mobius:MobiusMeasure"),
    "data_support": Kind(path_of(DataSupport), _encode_fields, _decode_support),
    "order_statistic": Kind(
        path_of(OrderStatistic), _encode_fields, lambda data: OrderStatistic(data["weights"])
    ),
    "decomposition": Kind(
        "choquet.decomposition.clusters:ClusterDecomposition",
        encode_decomposition,
        decode_decomposition,
    ),
    "diagram": Kind(
        "choquet.contexts.diagram:Diagram",
        lambda diagram: dict(diagram.to_arrays()),
        Diagram.from_arrays,
    ),
    "statistics": Kind(
        "choquet.learning.data.statistics:Statistics",
        lambda statistics: dict(statistics.to_arrays()),
        _decode_statistics,
    ),
    "minima_statistics": Kind(
        "choquet.learning.data.minima:MinimaStatistics",
        lambda statistics: dict(statistics.to_arrays()),
        _decode_minima,
    ),
    "contextual_model": Kind(
        "choquet.decomposition.trees:TreeDecomposition", encode_contextual, decode_contextual
    ),
    "outcome": _plain("choquet.decomposition.outcome:Outcome"),
    "cost": _plain("choquet.decomposition.cost:Cost"),
    "pruning_path": _plain("choquet.contexts.pruning:Path"),
    "sparse_measure": Kind(path_of(SparseMeasure), _encode_sparse, _decode_sparse),
    "formula_measure": _plain("choquet.measures.formula:FormulaMeasure"),
    "identification": _plain("choquet.certainty.identify:Identification"),
    "solution": _plain("choquet.learning.solvers.solution:Solution"),
    "lambda_fit": _plain("choquet.learning.families.fits:LambdaFit"),
    "weights_fit": _plain("choquet.learning.families.fits:WeightsFit"),
    "scale": _plain("choquet.scales.scale:Scale"),
    "units": _plain("choquet.scales.units:Units"),
    "pipeline": Kind("sklearn.pipeline:Pipeline", encode_pipeline, decode_pipeline),
    **{name: Kind(row.path, encode_model, decode_model) for name, row in MODELS.items()},
    # What the version before wrote in place of an `in_units`.
    "scaled_model": Kind(
        "choquet.estimators.commensurate:InUnits", encode_model, decode_scaled_model
    ),
}
"""Storable kinds by the name they have in files."""
