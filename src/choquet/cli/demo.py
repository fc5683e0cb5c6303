"""`choquet demo`: the whole way from data to words, on data that scikit-learn carries."""

from __future__ import annotations

import io
import json
import os
import sys
import webbrowser
from collections.abc import Callable
from importlib import import_module
from math import factorial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from choquet.arrays import FloatArray, IntArray
from choquet.cli.output import plain, say, say_json, say_table, warn
from choquet.decomposition import Decomposition, decompose
from choquet.errors import FileError, MissingDependencyError
from choquet.explanation import explain_model
from choquet.files import write_whole
from choquet.report import Report
from choquet.storage import save

_MARK = "demo.json"
"""The file by which a folder of an earlier demo is known, and may be written again."""

_GROUPS = {
    "size": ("radius", "perimeter", "area"),
    "texture": ("texture",),
    "surface": ("smoothness", "compactness"),
    "outline": ("concavity", "concave"),
    "symmetry": ("symmetry", "fractal"),
}
"""What each classifier gets to see of a cell nucleus: words in the names of the columns."""


class _Fusion(NamedTuple):
    model: Any
    scores: FloatArray
    """Of the classifiers on the test samples: (n_samples, n_classes, n_sources)."""
    target: IntArray
    """Number of the true class of each."""
    kinds: dict[str, str]
    rows: FloatArray
    """The test samples themselves."""


def run_demo(folder: Path, *, show: bool, force: bool, as_json: bool) -> None:
    """Train, fuse, decompose, tell, draw."""
    _check_folder(folder, force=force)
    talk: Any = (lambda *_, **__: None) if as_json else say
    _tell_demining(talk)
    talk(
        "Now with data: 569 biopsies of breast tissue, benign or malignant. Five classifiers of "
        "different kinds each see one side of the cell nuclei; a Choquet integral learns how to "
        "fuse their scores."
    )
    fusion = _fuse()
    decomposition = decompose(fusion.model)
    accuracy = _accuracies(fusion, decomposition)
    if not as_json:
        _tell_accuracy(fusion, accuracy)
        _tell_decomposition(fusion, decomposition)
    folder.mkdir(parents=True, exist_ok=True)
    written = _write(folder, fusion, decomposition, accuracy)
    if as_json:
        say_json({"accuracy": accuracy, **_summary(decomposition), "files": written})
    else:
        say(f"\nWritten to {folder}: {', '.join(Path(name).name for name in written)}")
    page = folder / "report.html"
    if show and not as_json and str(page) in written and _has_display():
        webbrowser.open(page.resolve().as_uri())


def _check_folder(folder: Path, *, force: bool) -> None:
    if folder.exists() and not folder.is_dir():
        raise FileError(f"{folder} is a file; give the demo a folder with -o")
    if folder.is_dir() and not force and any(folder.iterdir()) and not (folder / _MARK).exists():
        raise FileError(
            f"{folder} holds files that are not of an earlier demo; give another folder with -o, "
            "or pass --force"
        )


def _tell_demining(talk: Any) -> None:
    from choquet.datasets import make_demining

    bunch = make_demining(1, rng=0)
    found = decompose(bunch.measure)
    rules = " ".join(explain_model(found).sentences)
    talk("A fuzzy integral, taken apart", style="bold")
    talk(
        "Three sensors look for a buried mine: radar (gpr), infrared (ir) and induction (emi). "
        "Radar alone is not believed. Their measure has 8 numbers and 6 walks, but only "
        f"{found.n_operators} operators: {rules[:1].lower()}{rules[1:]} Nothing is lost by "
        "saying it so.\n"
    )


def _fuse() -> _Fusion:
    from sklearn.compose import make_column_transformer
    from sklearn.datasets import load_breast_cancer
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import train_test_split
    from sklearn.naive_bayes import GaussianNB
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    # Through `Any`, because estimators are not typed.
    estimator_room: Any = import_module("choquet.estimators")
    bunch = load_breast_cancer()
    columns = {
        name: [k for k, text in enumerate(bunch.feature_names) if set(words) & set(text.split())]
        for name, words in _GROUPS.items()
    }
    classifiers = {
        "size": ("logistic regression", LogisticRegression(max_iter=1000)),
        "texture": ("naive Bayes", GaussianNB()),
        "surface": ("nearest neighbours", KNeighborsClassifier(15)),
        "outline": ("random forest", RandomForestClassifier(60, random_state=0)),
        "symmetry": ("naive Bayes", GaussianNB()),
    }
    estimators = [
        (
            name,
            make_pipeline(make_column_transformer((StandardScaler(), columns[name])), classifier),
        )
        for name, (_, classifier) in classifiers.items()
    ]
    X, X_test, y, y_test = train_test_split(
        bunch.data, bunch.target, test_size=0.4, random_state=0, stratify=bunch.target
    )
    names = bunch.target_names
    model = estimator_room.FusionClassifier(estimators).fit(X, names[y])
    scores = np.stack([one.predict_proba(X_test) for one in model.estimators_], axis=2)
    kinds = {name: kind for name, (kind, _) in classifiers.items()}
    target = np.searchsorted(model.classes_, names[y_test])
    return _Fusion(model, scores, target, kinds, X_test)


def _accuracies(fusion: _Fusion, decomposition: Decomposition) -> dict[str, float]:
    scores = fusion.scores
    n_samples, n_classes, n_sources = scores.shape
    flat = scores.reshape(-1, n_sources)
    fused = {
        **{name: scores[:, :, k] for k, name in enumerate(fusion.kinds)},
        "mean": scores.mean(axis=2),
        "max": scores.max(axis=2),
        "fusion": fusion.model.measure_.integral(flat).reshape(n_samples, n_classes),
        "operators": decomposition.predict(flat).reshape(n_samples, n_classes),
    }
    return {
        name: float(np.mean(answer.argmax(axis=1) == fusion.target))
        for name, answer in fused.items()
    }


def _tell_accuracy(fusion: _Fusion, accuracy: dict[str, float]) -> None:
    what = {
        **{name: f"{kind} on {name}" for name, kind in fusion.kinds.items()},
        "mean": "mean of the five",
        "max": "largest of the five",
        "fusion": "Choquet integral of the five",
        "operators": "its few operators alone",
    }
    rows = [(what[name], f"{100 * value:.1f} %") for name, value in accuracy.items()]
    say_table(
        ["answer by", "right"],
        rows,
        title=f"On the {len(fusion.target)} samples kept for testing, in one split",
    )


def _tell_decomposition(fusion: _Fusion, decomposition: Decomposition) -> None:
    from choquet.indices import shapley

    n = decomposition.n_sources
    say(f"The fusion holds {2**n} numbers. {decomposition.opening()}")
    rows = [
        (name, f"{100 * operator.share:.0f} %", operator.context.text())
        for name, operator in zip(
            decomposition.operator_names, decomposition.operators, strict=True
        )
    ]
    say_table(["operator", f"of {decomposition.unit}", "where"], rows)
    values = shapley(decomposition.measure)
    order = np.argsort(-values)
    words = ", ".join(f"{decomposition.measure.sources[i]} {values[i]:.2f}" for i in order)
    support = fusion.model.support_
    say(
        f"Importance (Shapley): {words}. The data support {support.n_supported} of {2**n - 2} "
        f"subsets; {len(support.observed_sorts)} of {factorial(n)} sorts were seen."
    )


def _summary(decomposition: Decomposition) -> dict[str, Any]:
    return {
        "operators": [
            {
                "name": name,
                "rank_weights": one.rank_weights,
                "source_weights": one.source_weights,
                "share": one.share,
                "context": one.context.text(),
            }
            for name, one in zip(decomposition.operator_names, decomposition.operators, strict=True)
        ],
        "rules": explain_model(decomposition).sentences,
        "error": {"worst": decomposition.error.worst, "rms": decomposition.error.rms},
    }


def _write(
    folder: Path, fusion: _Fusion, decomposition: Decomposition, accuracy: dict[str, float]
) -> list[str]:
    """Everything that the demo leaves behind; the mark first, so that it can be run again."""
    document = plain({"accuracy": accuracy, **_summary(decomposition)})
    text = json.dumps(document, indent=1, ensure_ascii=False)
    written = [str(write_whole(folder / _MARK, f"{text}\n".encode(), overwrite=True))]
    written.append(str(save(decomposition, folder / "model.json", overwrite=True)))
    try:
        written += _draw(folder, fusion, decomposition)
    except MissingDependencyError as error:
        warn(f"note: no pictures. {error}")
    try:
        page = Report(fusion.model, fusion.rows, fusion.model.classes_[fusion.target]).html()
        path = write_whole(folder / "report.html", page.encode(), overwrite=True)
        written.append(str(path))
    except MissingDependencyError as error:
        warn(f"note: no report. {error}")
    return written


def _draw(folder: Path, fusion: _Fusion, decomposition: Decomposition) -> list[str]:
    from choquet import plot

    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingDependencyError("Plots need matplotlib: pip install 'choquet[plot]'") from None
    pictures: dict[str, tuple[tuple[float, float], Callable[[Any], Any]]] = {
        "ivat": ((9, 7), lambda ax: plot.ivat(decomposition, ax=ax)),
        "hasse": (
            (12, 7),
            lambda ax: plot.hasse(decomposition.measure, support=fusion.model.support_, ax=ax),
        ),
        "operators": ((9, 5), lambda ax: plot.operators(decomposition, ax=ax)),
        "indices": ((9, 4.5), lambda ax: plot.indices(decomposition.measure, ax=ax)),
    }
    written = []
    for name, (size, draw) in pictures.items():
        figure = Figure(figsize=size, layout="constrained")
        draw(figure.subplots())
        stream = io.BytesIO()
        figure.savefig(stream, format="png", dpi=120)
        path = write_whole(folder / f"{name}.png", stream.getvalue(), overwrite=True)
        written.append(str(path))
    return written


def _has_display() -> bool:
    if not sys.stdout.isatty():
        return False
    return sys.platform in ("darwin", "win32") or bool(
        os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    )
