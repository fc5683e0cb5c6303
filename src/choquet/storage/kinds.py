"""What can be stored, and how each kind becomes plain data and comes back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import Any, NamedTuple

import numpy as np

from choquet.lattice import mask_of, members
from choquet.measures import Measure, SupportedMeasure
from choquet.operators import OrderStatistic
from choquet.walks import DataSupport

__all__ = ["KINDS", "Kind", "kind_of"]

_READABLE_SOURCES = 8
"""Up to so many sources a measure is written subset by subset, for people to read."""


class Kind(NamedTuple):
    """One row of the table of storable kinds."""

    type: type
    """The class."""
    encode: Callable[[Any], dict[str, Any]]
    """To nested dicts and lists of numbers, texts and arrays."""
    decode: Callable[[dict[str, Any]], Any]
    """Back; the class's own validation applies."""


def kind_of(obj: Any) -> str:
    """Name of the kind of an object, or a TypeError that lists the known ones.

    Examples
    --------
    >>> kind_of(OrderStatistic([1, 0]))
    'order_statistic'
    """
    for name, kind in KINDS.items():
        if type(obj) is kind.type:
            return name
    known = ", ".join(kind.type.__name__ for kind in KINDS.values())
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
        "values": measure.values,
    }


def _decode_supported(data: dict[str, Any]) -> SupportedMeasure:
    return SupportedMeasure(data["words"], data["values"], data["sources"], total=data["total"])


def _encode_fields(obj: Any) -> dict[str, Any]:
    return {field.name: getattr(obj, field.name) for field in fields(obj)}


def _decode_support(data: dict[str, Any]) -> DataSupport:
    support = DataSupport(**data)
    n, k, s = support.n_sources, len(support.words), len(support.observed_sorts)
    for name, length in (("counts", k), ("informations", k), ("sort_counts", s)):
        if getattr(support, name).shape != (length,):
            raise ValueError(f"{name} has shape {getattr(support, name).shape}, not ({length},)")
    if support.observed_sorts.shape != (s, n):
        raise ValueError(f"observed_sorts has shape {support.observed_sorts.shape}")
    return support


KINDS: dict[str, Kind] = {
    "measure": Kind(Measure, _encode_measure, _decode_measure),
    "supported_measure": Kind(SupportedMeasure, _encode_supported, _decode_supported),
    "data_support": Kind(DataSupport, _encode_fields, _decode_support),
    "order_statistic": Kind(
        OrderStatistic, _encode_fields, lambda data: OrderStatistic(data["weights"])
    ),
}
"""Storable kinds by the name they have in files."""
