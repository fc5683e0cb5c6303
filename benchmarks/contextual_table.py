"""Writes the table of docs/contextual.md: cross-validated error and size on real data sets.

    python benchmarks/contextual_table.py

Errors are mean squared errors over five folds, inputs and target standardised by the training fold.
"""

from __future__ import annotations

import platform
import time
from pathlib import Path

import numpy as np
from sklearn.ensemble import GradientBoostingRegressor, RandomForestRegressor
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV, KFold

import choquet
from choquet import ChoquetRegressor, ContextualRegressor

PAGE = Path(__file__).resolve().parents[1] / "docs" / "contextual.md"
BEGIN, END = "<!-- table: begin -->", "<!-- table: end -->"

SETS = {
    "yacht": choquet.datasets.load_yacht,
    "airfoil": choquet.datasets.load_airfoil,
    "cpu": choquet.datasets.load_cpu,
    "auto-mpg": choquet.datasets.load_auto_mpg,
    "car": choquet.datasets.load_car,
}

CIR = ChoquetRegressor(monotone=False, normal=False, bias=True, penalty="l2")
"""The full measure of 2**N values, free, with ridge."""

MODELS = {
    "linear": lambda: LinearRegression(),
    "full CIR, ridge": lambda: GridSearchCV(
        CIR,
        {"strength": np.logspace(-4, 3, 8)},
        scoring="neg_mean_squared_error",
        cv=KFold(5, shuffle=True, random_state=0),
    ),
    "contextual, 4 leaves": lambda: ContextualRegressor(max_leaves=4, prune="none"),
    "contextual": lambda: ContextualRegressor(),
    "contextual, merged": lambda: ContextualRegressor(merge=True),
    "contextual, ≤ 32 leaves": lambda: ContextualRegressor(max_leaves=32),
    "random forest": lambda: RandomForestRegressor(200, random_state=0),
    "gradient boosting": lambda: GradientBoostingRegressor(random_state=0),
}


def size_of(model: object) -> float:
    """Numbers that a prediction is made of: weights, biases, thresholds."""
    if isinstance(model, LinearRegression):
        return len(model.coef_) + 1
    if isinstance(model, GridSearchCV):
        return len(model.best_estimator_.measure_.values)  # g(∅) = 0 makes room for the bias
    if isinstance(model, ContextualRegressor):
        return model.decomposition_.n_numbers + model.n_leaves_ - 1
    trees = np.ravel(model.estimators_)
    return sum(tree.tree_.node_count for tree in trees)


def evaluate(make, X, y) -> tuple[float, float, float]:
    errors, sizes, start = [], [], time.perf_counter()
    for train, test in KFold(5, shuffle=True, random_state=0).split(X):
        mean, deviation = X[train].mean(axis=0), X[train].std(axis=0)
        H, t = (X - mean) / deviation, (y - y[train].mean()) / y[train].std()
        model = make().fit(H[train], t[train])
        errors.append(np.mean((model.predict(H[test]) - t[test]) ** 2))
        sizes.append(size_of(model))
    return float(np.mean(errors)), float(np.mean(sizes)), time.perf_counter() - start


def main() -> None:
    rows = [f"| | {' | '.join(SETS)} |", "|---|" + "---:|" * len(SETS)]
    data = {name: load() for name, load in SETS.items()}
    shapes = [f"{b.data.shape[0]} × {b.data.shape[1]}" for b in data.values()]
    rows.append(f"| rows × sources | {' | '.join(shapes)} |")
    for name, make in MODELS.items():
        cells = []
        for bunch in data.values():
            error, size, _ = evaluate(make, bunch.data, bunch.target)
            cells.append(f"{error:.3f} ({size:,.0f})")
        rows.append(f"| {name} | {' | '.join(cells)} |")
        print(rows[-1], flush=True)
    made = f"Made by `benchmarks/contextual_table.py` with Python {platform.python_version()}."
    text = PAGE.read_text(encoding="utf-8")
    head, rest = text.split(BEGIN)
    table = "\n".join([BEGIN, *rows, "", made, END])
    PAGE.write_text(head + table + rest.split(END)[1], encoding="utf-8")


if __name__ == "__main__":
    main()
