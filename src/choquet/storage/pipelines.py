"""Pipelines and scalers of scikit-learn, and the models with scales of the version before.

Nothing here imports scikit-learn: a row names its class, which is imported when a file holds it.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np

from choquet.expected import TEXT, expect_fields
from choquet.storage.checks import check_scaled
from choquet.storage.values import decode_value, encode_value

_MIN_MAX = ("min_", "scale_", "data_min_", "data_max_", "data_range_")

SCALERS: dict[str, tuple[str, tuple[str, ...]]] = {
    "min_max_scaler": ("MinMaxScaler", (*_MIN_MAX, "n_samples_seen_")),
    "standard_scaler": ("StandardScaler", ("mean_", "var_", "scale_", "n_samples_seen_")),
    "max_abs_scaler": ("MaxAbsScaler", ("scale_", "max_abs_", "n_samples_seen_")),
    "robust_scaler": ("RobustScaler", ("center_", "scale_")),
}
"""Storable scalers of scikit-learn by the name they have in files: class and fitted attributes."""


def encode_pipeline(pipeline: Any) -> dict[str, Any]:
    """Names and content of the steps, as plain data."""
    steps = []
    for name, step in pipeline.steps:
        try:
            found = "passthrough" if step is None else encode_value(step)
        except TypeError as error:
            raise TypeError(f"cannot save a Pipeline with its step {name!r}: {error}") from None
        steps.append({"name": name, "step": found})
    return {"steps": steps}


def decode_pipeline(data: dict[str, Any]) -> Any:
    """The pipeline again."""
    made: Any = import_module("sklearn.pipeline")
    steps = [
        (expect_fields(one, {"name": TEXT})["name"], decode_value(one["step"]))
        for one in data["steps"]
    ]
    if not steps or not all(step == "passthrough" or hasattr(step, "fit") for _, step in steps):
        raise ValueError("a pipeline has steps that learn, or pass data through")
    first = [step for _, step in steps[:-1] if step != "passthrough"]
    if not all(hasattr(step, "transform") for step in first):
        raise ValueError("a step of a pipeline before the last changes no rows")
    return made.Pipeline(steps)


def decode_scaled_model(data: dict[str, Any]) -> Any:
    """What the version before wrote as a model with offsets and widths.

    An estimator becomes an `InUnits`; a decomposition keeps its units itself.
    """
    from choquet.scales import IDENTITY, Scale, Units

    found = {key: decode_value(value) for key, value in data.items()}
    check_scaled(found)
    unit, sources = np.array([0.0, 1.0]), found["sources"]
    lines = zip(found["offsets"], found["widths"], strict=True)
    scales = tuple(Scale(np.array([low, low + width]), unit) for low, width in lines)
    low, width = float(found["target_offset"]), float(found["target_width"])
    target = IDENTITY if (low, width) == (0.0, 1.0) else Scale(np.array([low, low + width]), unit)
    if len(scales) != len(sources):
        raise ValueError(f"{len(scales)} scales for {len(sources)} sources")
    inner = found["model"]
    if not hasattr(inner, "get_params"):
        return inner.in_units(Units(scales, target, found["target"]))
    made: Any = import_module("choquet.estimators")
    return made.InUnits.from_parts(
        inner, scales, sources=sources, target=target, target_name=found["target"]
    )
