"""What fits are compared by: errors on rows that they have not seen."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

__all__ = ["error_held_out", "fitted", "wrong_held_out"]


def fitted(model: Any, X: Any, y: Any) -> Any:
    """The model, fitted; what it warns of on a few rows is not what is compared."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(X, y)


def error_held_out(model: Any, inputs: dict[str, Any]) -> Any:
    """Root mean square error, in standard deviations of the targets."""
    missed = model.predict(inputs["X_new"]) - inputs["y_new"]
    return np.array([np.sqrt(np.mean(missed**2)) / np.std(inputs["y_new"])])


def wrong_held_out(model: Any, inputs: dict[str, Any]) -> Any:
    """Share of rows that are classed wrongly."""
    truth = inputs["y_new"] > inputs["middle"]
    return np.array([np.mean(np.asarray(model.predict(inputs["X_new"])) != truth)])
