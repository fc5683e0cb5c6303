"""Values inside stored objects: numbers, texts, arrays, and other storable objects."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

_WIDE = {"f": np.float64, "i": np.int64, "u": np.uint64, "b": np.bool_}
"""What arrays are stored as, by the kind of their elements."""


def encode_value(value: Any) -> Any:
    """Plain data from a value, or a TypeError for what a file cannot hold.

    Examples
    --------
    >>> import numpy as np
    >>> encode_value(("l1", 2, None))
    {'tuple': ['l1', 2, None]}
    >>> decode_value(encode_value(np.array(["no", "yes"])))
    array(['no', 'yes'], dtype='<U3')
    """
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, tuple):
        return {"tuple": [encode_value(item) for item in value]}
    if isinstance(value, list):
        return {"list": [encode_value(item) for item in value]}
    if isinstance(value, dict):
        if not all(isinstance(key, str) for key in value):
            return {"pairs": [[encode_value(k), encode_value(v)] for k, v in value.items()]}
        return {"dict": {key: encode_value(item) for key, item in value.items()}}
    if isinstance(value, np.ndarray):
        return _encode_array(value)
    from choquet.storage.kinds import KINDS, kind_of

    kind = kind_of(value)
    return {"kind": kind, "data": KINDS[kind].encode(value)}


def _encode_array(array: np.ndarray[Any, Any]) -> Any:
    if array.dtype.kind in _WIDE:
        return array.astype(_WIDE[array.dtype.kind])
    items = array.ravel().tolist()
    if not all(item is None or isinstance(item, bool | int | float | str) for item in items):
        raise TypeError(f"arrays of {array.dtype} with other than numbers and texts are not saved")
    return {"items": items, "object": array.dtype.kind == "O", "size": list(array.shape)}


def _decode_items(items: Any, mixed: Any, size: Any) -> Any:
    scalars = bool | int | float | str | None
    if not isinstance(items, list) or not all(isinstance(item, scalars) for item in items):
        raise ValueError("an array holds other than numbers and texts")
    if not isinstance(mixed, bool) or not (mixed or all(isinstance(item, str) for item in items)):
        raise ValueError("an array of texts holds other than texts")
    if math.prod(size) != len(items):
        raise ValueError(f"{len(items)} items do not fill an array of {size}")
    return np.array(items, dtype=object if mixed else np.str_).reshape(size)


def decode_value(node: Any) -> Any:
    """Inverse of `encode_value`; arrays arrive as arrays."""
    if not isinstance(node, dict):
        return node
    if set(node) == {"tuple"}:
        return tuple(_decode_each(node["tuple"]))
    if set(node) == {"list"}:
        return _decode_each(node["list"])
    if set(node) == {"dict"}:
        return {key: decode_value(item) for key, item in node["dict"].items()}
    if set(node) == {"pairs"}:
        return {decode_value(key): decode_value(item) for key, item in node["pairs"]}
    if set(node) == {"items", "object", "size"}:
        return _decode_items(node["items"], node["object"], node["size"])
    from choquet.storage.kinds import KINDS

    if node["kind"] not in KINDS:
        raise ValueError(f"unknown kind of object, {node['kind']!r}")
    return KINDS[node["kind"]].decode(node["data"])


def _decode_each(items: list[Any]) -> list[Any]:
    """Several values; what is of one kind is made together where the kind has a way to do so."""
    from choquet.storage.kinds import KINDS

    kinds = {str(item.get("kind")) if isinstance(item, dict) else "" for item in items}
    together = KINDS[kinds.pop()].together if len(kinds) == 1 and kinds <= set(KINDS) else None
    if together is None:
        return [decode_value(item) for item in items]
    return together([{k: decode_value(v) for k, v in item["data"].items()} for item in items])
