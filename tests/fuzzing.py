"""Files of every kind, and ways to spoil them: for the test suite and for a longer run."""

from __future__ import annotations

import math
import re
import tracemalloc
import warnings
from functools import cache
from importlib import import_module
from typing import Any
from unittest import mock

import numpy as np
from sklearn.pipeline import Pipeline

import choquet
from choquet import Measure, SupportedMeasure, decompose, documents
from choquet.errors import ChoquetError
from choquet.learning import Statistics
from choquet.learning.data.minima import MinimaStatistics
from choquet.measures import MobiusMeasure
from choquet.measures.formula import FormulaMeasure
from choquet.scales import Scale, Units
from choquet.storage import from_bytes, to_bytes
from choquet.storage.models import MODELS

MEMORY = 64 << 20
"""Bytes that reading a spoilt file may need: the files themselves have some 100 kB at most."""


@cache
def samples() -> dict[str, Any]:
    """One small object of every kind that is written today."""
    rng = np.random.default_rng(0)
    X = rng.random((40, 3))
    y = np.clip(0.7 * X.max(axis=1) + 0.3 * X[:, 0], 0, 1)
    levels = np.array(["low", "=high()"])[(y > 0.6).astype(int)]
    models: dict[str, Any] = {}
    for name, row in MODELS.items():
        module, _, title = row.path.partition(":")
        made = getattr(import_module(module), title)()
        if name.startswith("choquet_additive"):
            made.set_params(max_order=1, monotonic_cst={0: 1})  # small, and with a proof
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if name == "fusion_classifier":
                models[name] = made.fit(rng.random((20, 3, 2)), rng.integers(0, 3, 20))
            else:
                models[name] = made.fit(X, levels if "classifier" in name else y)
    regressor, contextual = models["choquet_regressor"], models["contextual_regressor"]
    uneven = choquet.ChoquetRegressor().fit(X, y + 0.2 * X[:, 0] * rng.standard_normal(40))
    wide = rng.random((20, 20))
    scale = Scale(np.array([10.0, 50.0]), np.array([1.0, 0.0]))
    loose = choquet.ChoquetRegressor(monotone=False, normal=False, penalty="l2")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        loose.fit(wide, wide.mean(axis=1))
        described = decompose(regressor, X, y)
    g = Measure.random(3, sources=["a", 'quo"te', "naïve <b>"], rng=0)
    return {
        "measure": g,
        "supported_measure": SupportedMeasure.from_dict({("a", "c"): 1 / 3}, ["a", "b", "c"]),
        "mobius_measure": MobiusMeasure.from_dict({"a": 0.5, ("a", "b"): 0.5}, ["a", "b", "c"]),
        "formula_measure": FormulaMeasure("symmetric", [0.5, 0.25, 0.25], curve=0.5),
        "data_support": regressor.support_,
        "order_statistic": choquet.OrderStatistic([1 / 3, 2 / 3]),
        "decomposition": decompose(g, method="clodd"),
        "cost": described.cost,
        "diagram": decompose(g, method="clodd").index(),
        "statistics": Statistics.from_data(X, y),
        "minima_statistics": MinimaStatistics.from_data(X, y, order=2),
        "contextual_model": contextual.decomposition_,
        "outcome": choquet.of_class(models["choquet_classifier"], "low").outcome,
        "pruning_path": contextual.path_,
        "sparse_measure": loose.measure_,
        "identification": regressor.identify(),
        "noise": uneven.noise_,
        "solution": regressor.solution_,
        "scale": scale,
        **_of_additive(models["choquet_additive_regressor"]),
        "units": Units((scale, scale), target_name="y"),
        "pipeline": Pipeline([("scale", models["min_max_scaler"]), ("model", regressor)]),
        **models,
    }


def _of_additive(model: Any) -> dict[str, Any]:
    """The parts of an additive model that have a kind of their own."""
    inner = model.model_
    term = inner.terms[0]
    return {
        "additive_model": inner,
        "additive_term": term,
        "additive_axis": term.axes[0],
        "additive_source": inner.sources[0],
        "shape_proof": model.proof_,
    }


@cache
def contents() -> dict[str, bytes]:
    """Content of a file of every kind, as text and as an archive."""
    found = {kind: to_bytes(one) for kind, one in samples().items()}
    with mock.patch.object(documents, "_INLINE", 0):
        packed = {f"{kind}, packed": to_bytes(one) for kind, one in samples().items()}
    return found | {name: content for name, content in packed.items() if content[:2] == b"PK"}


# -- bytes -----------------------------------------------------------------------------------------

_HOSTILE = [
    b"NaN", b"-Infinity", b"1e999", b"-1", b"0", b"9" * 400, b"9" * 5000, b"null", b"true", b"[]",
    b"{}", b'""', b'"1_0"', b"1_0", b"18446744073709551616", b"[" * 100_000, b'{"a":' * 3000,
]  # fmt: skip
_NUMBER = re.compile(rb"-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?")


def spoilt(content: bytes, rng: np.random.Generator) -> bytes:
    """The content with one random change, as disks, networks, editors and attackers make them."""
    n = len(content)
    at, end = sorted(int(k) for k in rng.integers(0, n, 2))
    end = min(end, at + int(rng.integers(1, 200)))
    noise = rng.bytes(int(rng.integers(1, 20)))
    spots = [match.span() for match in _NUMBER.finditer(content)]
    begin, stop = spots[int(rng.integers(len(spots)))] if spots else (at, end)
    digit = bytes([48 + int(rng.integers(10))])
    ways = [
        lambda: (
            content[:at] + bytes([content[at] ^ (1 << int(rng.integers(8)))]) + content[at + 1 :]
        ),
        lambda: content[:at] + noise + content[at + len(noise) :],
        lambda: content[:at] + noise + content[at:],
        lambda: content[:at] + content[end:],
        lambda: content[:end] + content[at:end] + content[end:],
        lambda: content[:at],
        lambda: content[:begin] + digit + content[begin + 1 :],
        lambda: content[: stop - 1] + digit + content[stop:],
        lambda: content[:begin] + _HOSTILE[int(rng.integers(len(_HOSTILE)))] + content[stop:],
    ]
    return ways[int(rng.integers(len(ways)))]()


# -- what they say ---------------------------------------------------------------------------------

_VALUES: list[Any] = [
    None, True, -1, 0, 1, 2**31, 2**63, 10**400, 0.5, -0.5, 1e308, math.nan, math.inf, "", "1_0",
    "measure", [], [1], {}, {"tuple": [1, 2]}, {"kind": "solution", "data": {}}, [[[[]]]],
]  # fmt: skip


def forged(content: bytes, rng: np.random.Generator) -> bytes:
    """A file whose data were changed somewhere by someone who knows how to make the checksum."""
    document = documents.open_document(content)
    head = {key: value for key, value in document.fields.items() if key not in ("data", "checksum")}
    data = _changed(document.data(), rng)
    try:
        return documents.document_bytes(head, data)
    except (TypeError, ValueError, OverflowError):
        return b"{}"


def _changed(node: Any, rng: np.random.Generator) -> Any:
    if isinstance(node, np.ndarray):
        return _changed_array(node, rng)
    if isinstance(node, dict) and node:
        key = list(node)[int(rng.integers(len(node)))]
        if rng.random() < 0.05:
            return {name: value for name, value in node.items() if name != key}
        return {**node, key: _changed(node[key], rng)}
    if isinstance(node, list) and node and rng.random() < 0.9:
        at = int(rng.integers(len(node)))
        way = rng.random()
        middle = [] if way < 0.1 else [node[at]] * 2 if way < 0.2 else [_changed(node[at], rng)]
        return node[:at] + middle + node[at + 1 :]
    return _VALUES[int(rng.integers(len(_VALUES)))]


def _changed_array(array: np.ndarray[Any, Any], rng: np.random.Generator) -> Any:
    way = int(rng.integers(8))
    if way == 0:
        return _VALUES[int(rng.integers(len(_VALUES)))]
    if way == 1:
        return array.reshape(-1)
    if way == 2:
        return np.concatenate([array, array]) if array.ndim else array
    if way == 3:
        with np.errstate(all="ignore"):
            return array.astype(["float64", "int64", "uint64", "bool"][int(rng.integers(4))])
    if way == 4:
        return array[:-1] if array.ndim else array
    changed = array.copy()
    if changed.size:
        spot = int(rng.integers(changed.size))
        value = [-1, 0, 1, 2, 10**6, 2**62, math.nan, math.inf, 0.3][int(rng.integers(9))]
        with np.errstate(all="ignore"):
            changed.flat[spot] = np.array(value).astype(array.dtype)
    return changed


# -- trying ----------------------------------------------------------------------------------------


def outcome_of(content: bytes, expected: bytes | None, *, verify: bool = True) -> str:
    """What became of a file: "refused", "same" or "loaded", or what went wrong, in words.

    Parameters
    ----------
    content : bytes
        The file.
    expected : bytes or None
        What the object in it must be saved as again; None where it may be another one.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tracemalloc.start()
        try:
            found = from_bytes(content, verify=verify)
        except ChoquetError:
            told = "refused"
        except Exception as error:
            told = f"a foreign {type(error).__name__}: {error!s:.200}"
        else:
            told = "loaded"
        finally:
            peak = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
        if told == "loaded" and expected is not None:
            told = "same" if to_bytes(found) == expected else "another answer, silently"
    return f"{peak / 2**20:.0f} MiB" if peak > MEMORY else told


FINE = {"refused", "same", "loaded"}
