"""Writes the tables of docs/additive.md: cross-validated errors and sizes on real data sets.

    python benchmarks/additive_table.py [--data DATA] [--only SET ...] [--models MODEL ...]

Two times five folds. Targets are standardised by the training fold, and whatever is chosen is
chosen inside it. Each cell is kept in ``benchmarks/additive_table.json``, so a stopped run goes on
where it was, and models whose libraries are in another environment can be added from there. EBM is
the package `interpret-core`, which nothing else needs. A fit with ``--limit`` that takes more
seconds of processor time is ended, and its cell is that of the reduced settings, marked as such.
``--page`` writes the tables into the page.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import resource
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).resolve().parent
DATA = HERE.parents[1] / "shared" / "data"
PAGE = HERE.parent / "docs" / "additive.md"
KEPT = HERE / "additive_table.json"
SEED = 11


def _numbers(path: Path, **options: Any) -> np.ndarray:
    return np.loadtxt(path, **options)


def _yacht(data: Path) -> tuple[Any, Any]:
    a = _numbers(data / "uci" / "yacht_hydrodynamics.data")
    return a[:, :-1], a[:, -1]


def _airfoil(data: Path) -> tuple[Any, Any]:
    a = _numbers(data / "uci" / "airfoil_self_noise.dat")
    return a[:, :-1], a[:, -1]


def _cpu(data: Path) -> tuple[Any, Any]:
    a = _numbers(data / "uci" / "machine.data", delimiter=",", usecols=range(2, 9))
    return a[:, :6], a[:, 6]


def _mpg(data: Path) -> tuple[Any, Any]:
    lines = (data / "uci" / "auto_mpg.csv").read_text().splitlines()
    head = lines[0].split(",")
    rows = [line.split(",") for line in lines[1:] if line]
    wanted = [k for k, name in enumerate(head) if name not in ("mpg", "name", "car_name")]
    X = [[_level(row[k]) for k in wanted] for row in rows]
    return np.array(X), np.array([float(row[head.index("mpg")]) for row in rows])


def _level(cell: str) -> float:
    places = {"usa": 1.0, "europe": 2.0, "japan": 3.0}
    return places[cell] if cell in places else float(cell)


_CAR = {
    "low": 0, "med": 1, "high": 2, "vhigh": 3, "small": 0, "big": 2, "2": 2, "3": 3, "4": 4,
    "5more": 5, "more": 5, "unacc": 0, "acc": 1, "good": 2, "vgood": 3,
}  # fmt: skip


def _car(data: Path) -> tuple[Any, Any]:
    lines = (data / "uci" / "car.dat").read_text().splitlines()
    rows = [line.split(",") for line in lines if line and not line.startswith("@")]
    a = np.array([[_CAR[cell.strip()] for cell in row] for row in rows], dtype=float)
    return a[:, :-1], a[:, -1]


def _ordinal(name: str) -> Callable[[Path], tuple[Any, Any]]:
    def read(data: Path) -> tuple[Any, Any]:
        a = _numbers(data / "ordinal" / f"{name}.csv", delimiter=",", skiprows=1)
        return a[:, :-1], a[:, -1]

    return read


def _bundled(name: str) -> Callable[[Path], tuple[Any, Any]]:
    def read(data: Path) -> tuple[Any, Any]:
        from sklearn import datasets

        return getattr(datasets, f"load_{name}")(return_X_y=True)

    return read


REGRESSION = {
    "yacht": _yacht, "airfoil": _airfoil, "cpu": _cpu, "auto-mpg": _mpg, "car": _car,
    "diabetes": _bundled("diabetes"), "esl": _ordinal("esl"), "lev": _ordinal("lev"),
}  # fmt: skip
CLASSES = {
    "car": _car, "iris": _bundled("iris"), "wine": _bundled("wine"),
    "breast cancer": _bundled("breast_cancer"),
}  # fmt: skip
ORDERED = {"esl": _ordinal("esl"), "lev": _ordinal("lev"), "car": _car}
KINDS = {"regression": REGRESSION, "classes": CLASSES, "ordered": ORDERED}


@dataclass(frozen=True)
class Model:
    """A row of a table: how it is made, and whether it gives a number that must be rounded."""

    make: Callable[[], Any]
    rounded: bool = False


_FEW = {"outer_bags": 4, "interactions": 10, "max_interaction_bins": 16, "n_jobs": 1}
"""Reduced settings of EBM; its defaults take up to a minute a fit on small sets."""


def _ebm(kind: str, **options: Any) -> Callable[[], Any]:
    def made() -> Any:
        from interpret import glassbox

        return getattr(glassbox, f"ExplainableBoosting{kind}")(**options, random_state=0)

    return made


def _sk(path: str, **options: Any) -> Callable[[], Any]:
    def made() -> Any:
        from importlib import import_module

        room, name = path.rsplit(".", 1)
        return getattr(import_module(f"sklearn.{room}"), name)(**options)

    return made


def _logistic() -> Any:
    from sklearn.linear_model import LogisticRegressionCV
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    return make_pipeline(
        StandardScaler(), LogisticRegressionCV(max_iter=2000, scoring="neg_log_loss")
    )


def _ours(name: str, **options: Any) -> Callable[[], Any]:
    def made() -> Any:
        import choquet

        return getattr(choquet, f"ChoquetAdditive{name}")(**options)

    return made


def _choquet(name: str, **options: Any) -> Callable[[], Any]:
    def made() -> Any:
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import StandardScaler

        import choquet

        return make_pipeline(StandardScaler(), getattr(choquet, name)(**options))

    return made


_CIR = {"monotone": False, "normal": False, "fit_intercept": True, "penalty": "l2"}
MODELS: dict[str, dict[str, Model]] = {
    "regression": {
        "linear": Model(_sk("linear_model.LinearRegression")),
        "full Choquet regression": Model(_choquet("ChoquetRegressor", **_CIR)),
        "contextual": Model(_choquet("ContextualRegressor")),
        "random forest": Model(_sk("ensemble.RandomForestRegressor", random_state=0)),
        "gradient boosting": Model(_sk("ensemble.HistGradientBoostingRegressor", random_state=0)),
        "EBM, reduced": Model(_ebm("Regressor", **_FEW)),
        "EBM": Model(_ebm("Regressor", n_jobs=1)),
        "additive": Model(_ours("Regressor")),
        "additive, compact": Model(_ours("Regressor", max_terms=6)),
    },
    "classes": {
        "logistic": Model(_logistic),
        "random forest": Model(_sk("ensemble.RandomForestClassifier", random_state=0)),
        "gradient boosting": Model(_sk("ensemble.HistGradientBoostingClassifier", random_state=0)),
        "EBM, reduced": Model(_ebm("Classifier", **_FEW)),
        "EBM": Model(_ebm("Classifier", n_jobs=1)),
        "additive": Model(_ours("Classifier")),
    },
    "ordered": {
        "linear": Model(_sk("linear_model.LinearRegression"), rounded=True),
        "gradient boosting": Model(
            _sk("ensemble.HistGradientBoostingRegressor", random_state=0), rounded=True
        ),
        "EBM, reduced, classes": Model(_ebm("Classifier", **_FEW)),
        "EBM, reduced, rounded": Model(_ebm("Regressor", **_FEW), rounded=True),
        "EBM, classes": Model(_ebm("Classifier", n_jobs=1)),
        "EBM, rounded": Model(_ebm("Regressor", n_jobs=1), rounded=True),
        "additive": Model(_ours("Classifier", ordered=True)),
    },
}
OTHER = {name for models in MODELS.values() for name in models if name.startswith("EBM")}
"""Models whose library the project does not need."""


def folds(kind: str, y: np.ndarray) -> Iterable[tuple[str, np.ndarray, np.ndarray]]:
    from sklearn.model_selection import KFold, StratifiedKFold

    for repeat in range(2):
        make = KFold if kind == "regression" else StratifiedKFold
        split = make(5, shuffle=True, random_state=SEED + repeat)
        for fold, (train, test) in enumerate(split.split(y[:, None], y.astype(int))):
            yield f"{repeat}.{fold}", train, test


def cell(kind: str, model: Model, X: Any, y: Any, train: Any, test: Any) -> dict[str, float]:
    """Errors, sizes and seconds of one fit."""
    started = time.process_time()
    estimator = model.make()
    centre, scale = (y[train].mean(), y[train].std()) if kind == "regression" else (0.0, 1.0)
    target = (y - centre) / scale if kind == "regression" or model.rounded else y.astype(int)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        estimator.fit(X[train], target[train])
        found = {"seconds": time.process_time() - started}
        guess = estimator.predict(X[test])
    if kind == "regression":
        found["error"] = float(np.mean((guess - target[test]) ** 2))
    else:
        if model.rounded:
            guess = np.clip(np.round(guess), y.min(), y.max())
        found["error"] = float(np.mean(guess != y[test]))
        found["mae"] = float(np.mean(np.abs(guess - y[test])))
        if not model.rounded:
            shares = np.clip(estimator.predict_proba(X[test]), 1e-12, 1)
            shares /= shares.sum(axis=1, keepdims=True)
            own = shares[np.arange(len(test)), np.searchsorted(estimator.classes_, y[test])]
            found["log_loss"] = float(-np.log(own).mean())
    for name in ("n_numbers_", "edf_"):
        if hasattr(estimator, name):
            found[name] = float(getattr(estimator, name))
    if hasattr(estimator, "terms_") and hasattr(estimator, "n_numbers_"):
        found["terms"] = len(estimator.terms_)
    return found


def _told(pipe: Any, limit: int, *task: Any) -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))
    pipe.send(cell(*task))


def limited(limit: int, task: Sequence[Any]) -> dict[str, float] | None:
    """The same in a process of its own; None if it takes more seconds of processor time."""
    here, there = multiprocessing.Pipe(duplex=False)
    child = multiprocessing.get_context("fork").Process(target=_told, args=(there, limit, *task))
    child.start()
    there.close()  # the child has the only other end, so that its end is noticed
    try:
        found: dict[str, float] | None = here.recv()
    except EOFError:
        found = None
    child.join()
    return found


def read() -> dict[str, dict[str, float]]:
    return json.loads(KEPT.read_text()) if KEPT.exists() else {}


def write(key: str, found: dict[str, float]) -> None:
    kept = read()  # again: another environment may have written meanwhile
    kept[key] = {name: round(value, 6) for name, value in found.items()}
    text = json.dumps(dict(sorted(kept.items())), indent=0)
    part = KEPT.with_suffix(".part")
    part.write_text(text + "\n")
    part.replace(KEPT)


def run(arguments: argparse.Namespace) -> None:
    for kind, sets in KINDS.items():
        if arguments.kinds and kind not in arguments.kinds:
            continue
        for name, load in sets.items():
            if arguments.only and name not in arguments.only:
                continue
            X, y = load(arguments.data)
            for label, model in MODELS[kind].items():
                if (label not in arguments.models) if arguments.models else (label in OTHER):
                    continue
                for fold, train, test in folds(kind, np.asarray(y)):
                    if arguments.folds and int(fold[0]) * 5 + int(fold[2]) >= arguments.folds:
                        continue
                    key = f"{kind}/{name}/{label}/{fold}"
                    if key in read() and not arguments.fresh:
                        continue
                    task = (kind, model, X, np.asarray(y), train, test)
                    found = limited(arguments.limit, task) if arguments.limit else cell(*task)
                    if found is None:
                        short = key.replace("/EBM", "/EBM, reduced")
                        found = {**read()[short], "reduced": 1.0}
                    write(key, found)
                print(kind, name, label, summary(read(), kind, name, label), flush=True)


def summary(kept: dict[str, Any], kind: str, name: str, label: str) -> dict[str, float]:
    cells = [v for k, v in kept.items() if k.startswith(f"{kind}/{name}/{label}/")]
    if not cells:
        return {}
    shared = [field for field in cells[0] if all(field in c for c in cells)]
    return {field: float(np.mean([c[field] for c in cells])) for field in shared}


def _table(kept: dict[str, Any], kind: str, field: str, digits: int, label: str) -> list[str]:
    sets = KINDS[kind]
    lines = [f"| {label} | " + " | ".join(sets) + " |", "|---" * (len(sets) + 1) + "|"]
    for model in MODELS[kind]:
        row = [summary(kept, kind, name, model).get(field) for name in sets]
        if any(value is not None for value in row):
            shown = ["" if v is None else f"{v:.{digits}f}" for v in row]
            lines.append(f"| {model} | " + " | ".join(shown) + " |")
    return [*lines, ""]


def _ratios(kept: dict[str, Any]) -> list[str]:
    rows = []
    for other in ("EBM", "gradient boosting"):
        pairs = [
            (
                summary(kept, "regression", s, "additive"),
                summary(kept, "regression", s, other)
                or summary(kept, "regression", s, f"{other}, reduced"),
            )
            for s in REGRESSION
        ]
        found = [a["error"] / b["error"] for a, b in pairs if a and b]
        if found:
            mean = float(np.exp(np.mean(np.log(found))))
            rows.append(
                f"Over the {len(found)} regressions the error is {mean:.2f} of that of {other} "
                f"(geometric mean), at worst {max(found):.2f}."
            )
    return [*rows, ""]


def _against(kept: dict[str, Any], kind: str, name: str, others: Iterable[str], field: str) -> str:
    """Difference to the best of some models by the same folds, with its standard error."""

    def column(label: str) -> np.ndarray:
        keys = [
            f"{kind}/{name}/{label}/{repeat}.{fold}" for repeat in range(2) for fold in range(5)
        ]
        return np.array([kept.get(key, {}).get(field, np.nan) for key in keys])

    ours = column("additive")
    both = [label.replace("EBM", kind) for label in others for kind in ("EBM", "EBM, reduced")]
    known = {label: cells for label in both if not np.isnan(cells := column(label)).any()}
    if not known or np.isnan(ours).any():
        return ""
    best = min(known, key=lambda label: float(known[label].mean()))
    gaps = ours - known[best]
    error = gaps.std(ddof=1) / np.sqrt(len(gaps))
    return f"{gaps.mean():+.4f} ± {error:.4f} ({best})"


def _differences(kept: dict[str, Any], kind: str, others: Sequence[str], fields: Any) -> list[str]:
    sets = KINDS[kind]
    lines = ["| additive less the best | " + " | ".join(sets) + " |"]
    lines.append("|---" * (len(sets) + 1) + "|")
    for field, words in fields.items():
        row = [_against(kept, kind, name, others, field) for name in sets]
        lines.append(f"| {words} | " + " | ".join(row) + " |")
    return [*lines, ""]


def _whole(kept: dict[str, Any]) -> dict[str, Any]:
    """Cells of rows of the tables that have all ten folds: a mean over fewer would mislead."""
    count = Counter(key.rpartition("/")[0] for key in kept)
    return {key: cell for key, cell in kept.items() if count[key.rpartition("/")[0]] == 10}


def page() -> None:
    kept = _whole(read())
    lines = [
        "### Regression: mean squared error, target standardised", "",
        *_table(kept, "regression", "error", 4, "model"), *_ratios(kept),
        "### Regression: seconds of processor time a fit", "",
        *_table(kept, "regression", "seconds", 1, "model"),
        "### Regression: numbers stored", "",
        *_table(kept, "regression", "n_numbers_", 0, "model"),
        "### Regression: numbers decided by data", "",
        *_table(kept, "regression", "edf_", 0, "model"),
        "### Classes: share of errors", "", *_table(kept, "classes", "error", 4, "model"),
        "### Classes: log-loss", "", *_table(kept, "classes", "log_loss", 4, "model"),
        "### Classes: difference to the best of EBM and logistic regression, by folds", "",
        *_differences(
            kept, "classes", ("EBM", "logistic"),
            {"log_loss": "log-loss", "error": "share of errors"},
        ),
        "### Ordered classes: mean absolute error", "",
        *_table(kept, "ordered", "mae", 4, "model"),
        "### Ordered classes: share of errors", "",
        *_table(kept, "ordered", "error", 4, "model"),
        "### Ordered classes: log-loss", "", *_table(kept, "ordered", "log_loss", 4, "model"),
        "### Ordered classes: difference to the best way to use EBM, by folds", "",
        *_differences(
            kept, "ordered", ("EBM, classes", "EBM, rounded"),
            {"mae": "absolute error", "error": "share of errors", "log_loss": "log-loss"},
        ),
    ]  # fmt: skip
    start, end = "<!-- tables -->\n", "<!-- end of tables -->"
    text = PAGE.read_text(encoding="utf-8")
    head, rest = text.split(start)
    PAGE.write_text(head + start + "\n" + "\n".join(lines) + "\n" + end + rest.split(end)[1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--only", nargs="*")
    parser.add_argument("--kinds", nargs="*")
    parser.add_argument("--models", nargs="*")
    parser.add_argument("--folds", type=int, help="only the first so many of the ten")
    parser.add_argument("--kept", type=Path, default=KEPT, help="where cells are kept")
    parser.add_argument("--limit", type=int, help="seconds of processor time a fit may take")
    parser.add_argument("--fresh", action="store_true")
    parser.add_argument("--page", action="store_true")
    arguments = parser.parse_args()
    globals()["KEPT"] = arguments.kept
    if arguments.page:
        page()
    else:
        run(arguments)


if __name__ == "__main__":
    main()
