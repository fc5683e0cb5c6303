"""Writes the tables of docs/contextual.md: cross-validated error and size on real data sets.

    python benchmarks/contextual_table.py [--data DATA] [--fresh] [--only SET ...]

Five folds that no default of the package was chosen on. Inputs are standardised by the training
fold; whatever is chosen (strengths, rows a leaf) is chosen inside it. Each cell is kept in
``benchmarks/contextual_table.json``, so that a stopped run goes on where it was. EBM is the
package `interpret`, which the tests do not need: install it in an environment of its own, or its
row says that it was not run.
"""

from __future__ import annotations

import argparse
import json
import platform
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import sklearn
from sklearn import datasets as sets
from sklearn.ensemble import (
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold

import choquet
from choquet import ChoquetClassifier, ChoquetRegressor, ContextualClassifier, ContextualRegressor

HERE = Path(__file__).resolve().parent
PAGE = HERE.parent / "docs" / "contextual.md"
KEPT = HERE / "contextual_table.json"
SEED = 2026
"""Of the folds: not the one that the defaults of `ContextualRegressor` were tried on."""

RANKS: dict[str, Any] = {"leaf": "rank", "l2": 3.0, "merge": False}
"""Leaves by rank alone, each its own operator: what the table is about."""


def by_rank(**options: Any) -> ContextualRegressor:
    """A contextual regressor with leaves by rank alone."""
    return ContextualRegressor(**{**RANKS, **options})


LARGEST_N = 12
"""Sources up to which models of 2**N values are fitted."""


class Absent(Exception):
    """Why a cell is empty."""


def _inner(n_splits: int = 3) -> KFold:
    return KFold(n_splits, shuffle=True, random_state=1)


def chosen(model: Any, grid: dict[str, Any], scoring: str = "neg_mean_squared_error") -> Any:
    """Chosen inside the training fold."""
    return GridSearchCV(model, grid, scoring=scoring, cv=_inner(), error_score="raise")


def measure_sized(make: Callable[[], Any]) -> Callable[[int], Any]:
    """A model of 2**N values, for few sources only."""

    def made(n_sources: int) -> Any:
        if n_sources > LARGEST_N:
            raise Absent(f"2^{n_sources} values")
        return make()

    return made


def ebm(kind: str) -> Callable[[int], Any]:
    """Fewer bags, pairs and cells of pairs than its defaults, which took minutes a fit."""

    def made(_: int) -> Any:
        try:
            from interpret import glassbox
        except ImportError:
            raise Absent("not installed") from None
        options = {"outer_bags": 4, "interactions": 10, "max_interaction_bins": 16}
        return getattr(glassbox, kind)(**options, n_jobs=1, random_state=0)

    return made


CIR = {"monotone": False, "normal": False, "fit_intercept": True}
GRID = {"l2": [0.3, 1.0, 3.0], "min_samples_leaf": [10, 20]}
STRENGTHS = np.logspace(-4, 2, 7)


@dataclass(frozen=True)
class Model:
    """A row: how it is made, and whether its inputs must all work upwards."""

    make: Callable[[int], Any]
    oriented: bool = False


REGRESSORS = {
    "linear": Model(lambda n: LinearRegression()),
    "full CIR, ridge": Model(
        measure_sized(
            lambda: chosen(ChoquetRegressor(**CIR, penalty="l2"), {"strength": STRENGTHS})
        )
    ),
    "monotone ChI": Model(
        measure_sized(lambda: ChoquetRegressor(normal=False, fit_intercept=True)), oriented=True
    ),
    "2-additive ChI": Model(
        lambda n: ChoquetRegressor(normal=False, fit_intercept=True, k_additive=2), oriented=True
    ),
    "contextual, ≤ 4 leaves": Model(lambda n: chosen(by_rank(max_leaves=4), GRID)),
    "contextual, ≤ 32 leaves": Model(lambda n: chosen(by_rank(max_leaves=32), GRID)),
    "… merged": Model(lambda n: chosen(by_rank(merge=True, max_leaves=32), GRID)),
    "contextual, defaults": Model(lambda n: by_rank()),
    "random forest": Model(lambda n: RandomForestRegressor(200, random_state=0)),
    "gradient boosting": Model(lambda n: GradientBoostingRegressor(random_state=0)),
    "EBM": Model(ebm("ExplainableBoostingRegressor")),
}

CLASSIFIERS = {
    "logistic": Model(
        lambda n: chosen(
            LogisticRegression(max_iter=2000), {"C": np.logspace(-2, 2, 5)}, "neg_log_loss"
        )
    ),
    "full CIR, logistic": Model(
        measure_sized(
            lambda: chosen(
                ChoquetClassifier(monotone=False), {"strength": [0.001, 0.01, 0.1]}, "neg_log_loss"
            )
        )
    ),
    "contextual, ≤ 32 leaves": Model(
        lambda n: chosen(ContextualClassifier(**RANKS, max_leaves=32), GRID, "neg_log_loss")
    ),
    "contextual, defaults": Model(lambda n: ContextualClassifier(**RANKS)),
    "random forest": Model(lambda n: RandomForestClassifier(200, random_state=0)),
    "gradient boosting": Model(lambda n: GradientBoostingClassifier(random_state=0)),
    "EBM": Model(ebm("ExplainableBoostingClassifier")),
}


@dataclass(frozen=True)
class Table:
    """One table: its sets, its models, how it splits, and how it counts errors."""

    sets: dict[str, Callable[[], tuple[np.ndarray, np.ndarray]]]
    models: dict[str, Model]
    splits: Any
    classes: bool


def _pair(bunch: Any) -> tuple[np.ndarray, np.ndarray]:
    return np.asarray(bunch.data, dtype=float), np.asarray(bunch.target, dtype=float)


def _ordinal(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """Ben-David's sets: the first line says how many rows and inputs there are."""
    rows = np.loadtxt(path, delimiter=",", skiprows=1)
    return rows[:, :-1], rows[:, -1]


def tables(data: Path | None) -> dict[str, Table]:
    """Both tables; the sets that cannot be carried only where their folder is given."""
    regression = {
        "yacht": lambda: _pair(choquet.datasets.load_yacht()),
        "airfoil": lambda: _pair(choquet.datasets.load_airfoil()),
        "cpu": lambda: _pair(choquet.datasets.load_cpu()),
        "auto-mpg": lambda: _pair(choquet.datasets.load_auto_mpg()),
        "car": lambda: _pair(choquet.datasets.load_car()),
        "diabetes (sk)": lambda: _pair(sets.load_diabetes()),
    }
    for name in ("esl", "lev"):
        if data is not None and (path := data / "ordinal" / f"{name}.csv").is_file():
            regression[name] = lambda path=path: _ordinal(path)
    classes = {
        "car": lambda: _pair(choquet.datasets.load_car()),
        "iris (sk)": lambda: _pair(sets.load_iris()),
        "wine (sk)": lambda: _pair(sets.load_wine()),
        "breast cancer (sk)": lambda: _pair(sets.load_breast_cancer()),
    }
    return {
        "regression": Table(
            regression, REGRESSORS, KFold(5, shuffle=True, random_state=SEED), False
        ),
        "classes": Table(
            classes, CLASSIFIERS, StratifiedKFold(5, shuffle=True, random_state=SEED), True
        ),
    }


def size_of(model: Any) -> float:
    """Numbers that a prediction is made of: weights, biases, predicates; nodes; cells."""
    if isinstance(model, GridSearchCV):
        return size_of(model.best_estimator_)
    if isinstance(model, LinearRegression | LogisticRegression):
        return np.size(model.coef_) + np.size(model.intercept_)
    if isinstance(model, ChoquetRegressor):
        n = model.n_features_in_
        # The bias takes the room of g(∅) = 0.
        return n * (n + 1) / 2 + 1 if model.k_additive == 2 else 2**n
    if isinstance(model, ChoquetClassifier):
        count = len(model.classes_)
        return 2**model.n_features_in_ * (1 if count == 2 else count)
    if isinstance(model, ContextualRegressor):
        return _contextual_size(model.decomposition_)
    if isinstance(model, ContextualClassifier):
        return sum(_contextual_size(one) for one in model.decompositions_)
    if hasattr(model, "term_scores_"):
        return sum(np.size(scores) for scores in model.term_scores_)
    return sum(tree.tree_.node_count for tree in np.ravel(model.estimators_))


def _contextual_size(decomposition: Any) -> float:
    return decomposition.n_numbers + len(decomposition.tree.leaves) - 1


def evaluate(table: Table, model: Model, X: np.ndarray, y: np.ndarray) -> dict[str, Any]:
    """Error and size, means over the folds."""
    errors, sizes, start = [], [], time.perf_counter()
    for train, test in table.splits.split(X, y):
        H = (X - X[train].mean(axis=0)) / X[train].std(axis=0)
        t = y if table.classes else (y - y[train].mean()) / y[train].std()
        if model.oriented:
            signs = np.sign((H[train] * t[train, None]).mean(axis=0))
            H = H * np.where(signs == 0, 1.0, signs)
        made = model.make(X.shape[1]).fit(H[train], t[train])
        found = made.predict(H[test])
        errors.append(np.mean(found != t[test] if table.classes else (found - t[test]) ** 2))
        sizes.append(size_of(made))
    return {
        "error": float(np.mean(errors)),
        "spread": float(np.std(errors, ddof=1) / np.sqrt(len(errors))),
        "size": float(np.mean(sizes)),
        "seconds": round(time.perf_counter() - start, 1),
    }


def run(kind: str, table: Table, kept: dict[str, Any], only: list[str] | None) -> None:
    """Fill the cells that are not there yet."""
    for name, load in table.sets.items():
        if only and name not in only:
            continue
        X, y = load()
        # Labels as whole numbers: EBM would give names of floats back.
        y = y.astype(int) if table.classes else y
        kept.setdefault("shapes", {})[f"{kind} | {name}"] = list(X.shape)
        for row, model in table.models.items():
            key = f"{kind} | {name} | {row}"
            if key in kept["cells"] and "absent" not in kept["cells"][key]:
                continue
            try:
                kept["cells"][key] = evaluate(table, model, X, y)
            except Absent as reason:
                kept["cells"][key] = {"absent": str(reason)}
            print(key, kept["cells"][key], flush=True)
            KEPT.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def _cell(kept: dict[str, Any], key: str, *, classes: bool) -> str:
    cell = kept["cells"].get(key, {"absent": "not run"})
    if "absent" in cell:
        return f"– ({cell['absent']})"
    error = f"{cell['error']:.1%}" if classes else f"{cell['error']:.3f}"
    spread = f"{cell['spread']:.1%}" if classes else f"{cell['spread']:.3f}"
    return f"{error} ± {spread} ({cell['size']:,.0f})"


def written(kind: str, table: Table, kept: dict[str, Any]) -> str:
    """The table as Markdown, from the cells that are kept."""
    names = [name for name in table.sets if f"{kind} | {name}" in kept["shapes"]]
    shapes = ["{} × {}".format(*kept["shapes"][f"{kind} | {name}"]) for name in names]
    lines = [
        f"| | {' | '.join(names)} |",
        "|---|" + "---:|" * len(names),
        f"| rows × sources | {' | '.join(shapes)} |",
    ]
    for row in table.models:
        cells = [_cell(kept, f"{kind} | {name} | {row}", classes=table.classes) for name in names]
        lines.append(f"| {row} | {' | '.join(cells)} |")
    return "\n".join(lines)


def replaced(text: str, mark: str, inside: str) -> str:
    """The page with what stands between two marks replaced."""
    begin, end = f"<!-- {mark}: begin -->", f"<!-- {mark}: end -->"
    head, rest = text.split(begin)
    return f"{head}{begin}\n{inside}\n{end}{rest.split(end)[1]}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, help="folder that holds ordinal/")
    parser.add_argument("--fresh", action="store_true", help="run all cells again")
    parser.add_argument("--only", nargs="*", help="names of sets")
    given = parser.parse_args()
    # Folds of small sets leave ties and thin leaves; that is what is being measured.
    warnings.simplefilter("ignore")
    there = KEPT.is_file() and not given.fresh
    kept = json.loads(KEPT.read_text(encoding="utf-8")) if there else {"cells": {}, "shapes": {}}
    text = PAGE.read_text(encoding="utf-8")
    for kind, table in tables(given.data).items():
        run(kind, table, kept, given.only)
        made = (
            f"Made by `benchmarks/contextual_table.py` with Python {platform.python_version()}, "
            f"scikit-learn {sklearn.__version__}."
        )
        text = replaced(text, f"table {kind}", f"{written(kind, table, kept)}\n\n{made}")
    PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
