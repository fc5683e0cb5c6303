"""One fitted thing of every kind that can be explained, reported and stored."""

from __future__ import annotations

from functools import cache

import numpy as np
import pandas as pd
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

import choquet

NAMES = ("gpr", "ir", "emi")


@cache
def data(n: int = 150) -> tuple[pd.DataFrame, np.ndarray]:
    """Inputs in [0, 1] with names, and the median where gpr is the largest, else the maximum."""
    rng = np.random.default_rng(0)
    X = rng.random((n, 3))
    y = np.where(X[:, 0] == X.max(axis=1), np.median(X, axis=1), X.max(axis=1))
    y = np.clip(y + 0.02 * rng.standard_normal(n), X.min(), X.max())
    return pd.DataFrame(X, columns=NAMES), y


def _measure():
    return choquet.Measure([0, 0, 1, 1, 1, 1, 1, 1], sources=NAMES)


MAKERS = {
    "measure": _measure,
    "random measure": lambda: choquet.Measure.random(3, rng=1, sources=NAMES),
    "supported measure": lambda: choquet.SupportedMeasure.from_dict(
        {"gpr": 0.1, ("gpr", "ir"): 0.6}, NAMES
    ),
    "decomposition": lambda: choquet.decompose(_measure()),
    "choquet": lambda: choquet.ChoquetRegressor().fit(*data()),
    "2-additive": lambda: choquet.ChoquetRegressor(k_additive=2).fit(*data()),
    "owa": lambda: choquet.OWARegressor().fit(*data()),
    "convex sum": lambda: choquet.LinearConvexSumRegressor().fit(*data()),
    "contextual": lambda: choquet.ContextualRegressor(l2=0.1).fit(*data()),
    "pipeline": lambda: make_pipeline(MinMaxScaler(), choquet.ChoquetRegressor()).fit(*data()),
    "classifier": lambda: choquet.ChoquetClassifier().fit(data()[0], data()[1] > 0.6),
    "contextual classifier": lambda: choquet.ContextualClassifier().fit(data()[0], data()[1] > 0.6),
}
REGRESSORS = ("choquet", "2-additive", "owa", "convex sum", "contextual", "pipeline")
CLASSIFIERS = ("classifier", "contextual classifier")


@cache
def thing(name: str):
    return MAKERS[name]()


def answers(obj, X) -> np.ndarray:
    """What the thing gives for rows: its integral, or its own prediction."""
    if isinstance(obj, choquet.AbstractMeasure):
        return choquet.choquet_integral(obj, X)
    return obj.predict_proba(X) if hasattr(obj, "predict_proba") else obj.predict(X)
