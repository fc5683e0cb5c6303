"""Seven networks on AID: all measures, exact, with their tests on the other half."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import factorial
from typing import Any, NamedTuple

import numpy as np

from choquet.arrays import FloatArray, IntArray
from choquet.datasets import AIDScores
from choquet.decomposition import Clodd, decompose
from choquet.integrals import choquet_integral
from choquet.learning import Statistics
from choquet.measures import Measure
from choquet.operators import dissimilarity
from choquet.operators.names import familiar_operators
from choquet.reproduce.experiments.descent import descend_from, starts
from choquet.reproduce.experiments.fits import fit, mean_walk
from choquet.reproduce.work import ALONE, Work
from choquet.walks import OperatorGraph, sorts_of

_NEAR = 0.25
"""Largest difference of output up to which an operator counts as a familiar one."""


STEPS = (0, 30, 300)
"""Lengths of gradient descent; none shows the start itself."""


class Walks(NamedTuple):
    """What one training set observes."""

    by_sorting: int
    """Distinct sorts, ties broken by the order of the sources."""
    untied: int
    """Distinct sorts of the rows without ties."""
    supported: float
    """Share of all walks whose values are all supported."""
    tied_rows: float
    """Share of rows with a tie."""
    default: float
    """Share of rows sorted 1, 2, …, N when ties are broken by the order of the sources."""
    default_untied: float
    """Share of rows that are so without a tie."""
    default_rounded: float
    """Share of rows that are so when all scores are rounded to four decimals, as four are."""
    by_sorting_rounded: int
    """Distinct sorts then."""


@dataclass(eq=False)
class Fusion:
    """All that the rows and pictures need; filled fold by fold."""

    measures: list[Measure] = field(default_factory=list)
    shared: list[Measure] = field(default_factory=list)
    statistics: list[Statistics] = field(default_factory=list)
    walks: list[Walks] = field(default_factory=list)
    operators: list[int] = field(default_factory=list)
    operators_supported: list[int] = field(default_factory=list)
    supported_walks: list[FloatArray] = field(default_factory=list)
    """Mean weights by rank over supported walks; measures without such walks have none."""
    supported_minimum: list[float] = field(default_factory=list)
    """Share of supported walks near the minimum."""
    distinct: list[int] = field(default_factory=list)
    error: dict[str, list[float]] = field(default_factory=dict)
    """Mean squared test error by method, one number for each of the folds."""
    accuracy: dict[str, list[float]] = field(default_factory=dict)
    descents: dict[str, list[Measure]] = field(default_factory=dict)


def fuse_all(scores: AIDScores, *, n_folds: int, work: Work = ALONE) -> Fusion:
    """Fit and test every class of every network fold, both ways round.

    `n_folds` network folds are used; all five for the paper's 300 measures.
    """
    n_classes = scores.scores.shape[2]
    pairs = [(fold, half) for fold in range(n_folds) for half in (0, 1)]
    tasks: dict[str, tuple[Any, ...]] = {}
    for fold, half in pairs:
        X, labels = scores.scores[fold, half], scores.labels[fold, half]
        everything = (labels[None, :] == np.arange(n_classes)[:, None]).astype(np.float64)
        for label in range(n_classes):
            tasks[f"fold {fold} half {half} class {label}"] = (X[label], everything[label])
        whole = X.reshape(-1, X.shape[2]), everything.ravel(), False
        tasks[f"fold {fold} half {half} shared"] = whole
    learned = dict(zip(tasks, work.map(_learn, tasks), strict=True))
    fusion = Fusion()
    for key, found in learned.items():
        if key.endswith("shared"):
            fusion.shared.append(Measure(found["values"]))
        else:
            X, y = tasks[key][:2]
            fusion.statistics.append(Statistics.from_data(X, y))
            _add(fusion, found)
    n_sources = fusion.measures[0].n_sources
    for name, start in starts(n_sources).items():
        for n_steps in STEPS:
            values = descend_from(fusion.statistics, start, n_steps=n_steps)
            fusion.descents[f"{name}, {n_steps} steps"] = [Measure(row) for row in values]
    for number, (fold, half) in enumerate(pairs):
        _test(fusion, scores, number, fold, 1 - half)
    return fusion


def _learn(X: FloatArray, y: FloatArray, whole: bool = True) -> dict[str, Any]:
    """The exact optimum as plain numbers; if `whole`, with its walks and operators."""
    model = fit(X, y)
    found: dict[str, Any] = {"values": model.measure_.values.tolist()}
    if not whole:
        return found
    walks = _walks(X, model.support_)
    full = decompose(model, support=None, method=Clodd(decimals=4))
    found |= {
        "walks": list(walks),
        "operators": full.n_operators,
        "distinct": len(full.sample.weights),
        "supported": None,
    }
    # Rows may all be tied in some variable, so that no walk is supported throughout.
    if walks.supported > 0:
        part = decompose(model, method=Clodd(decimals=4))
        found["supported"] = {
            "operators": part.n_operators,
            "mean_walk": (part.sample.shares @ part.sample.weights).tolist(),
            "minimum": familiar_shares(model.measure_, model.support_).get("min", 0.0),
        }
    return found


def _add(fusion: Fusion, found: dict[str, Any]) -> None:
    fusion.measures.append(Measure(found["values"]))
    fusion.walks.append(Walks(*found["walks"]))
    fusion.operators.append(found["operators"])
    fusion.distinct.append(found["distinct"])
    if found["supported"] is not None:
        fusion.operators_supported.append(found["supported"]["operators"])
        fusion.supported_walks.append(np.array(found["supported"]["mean_walk"]))
        fusion.supported_minimum.append(found["supported"]["minimum"])


def _walks(X: FloatArray, support: Any) -> Walks:
    sorts = sorts_of(X)
    n = X.shape[1]
    rounded = sorts_of(X.round(4))
    default = (sorts == np.arange(n)).all(axis=1)
    tied = (np.diff(np.sort(X, axis=1), axis=1) == 0).any(axis=1)
    # Walks are counted alike for every measure; the mean has the smallest graph.
    mean = Measure.symmetric(np.full(n, 1 / n))
    n_supported = OperatorGraph(mean, support=support).n_walks
    return Walks(
        by_sorting=len(np.unique(sorts, axis=0)),
        untied=len(support.observed_sorts),
        supported=n_supported / factorial(n),
        tied_rows=float(tied.mean()),
        default=float(default.mean()),
        default_untied=float((default & ~tied).mean()),
        default_rounded=float((rounded == np.arange(n)).all(axis=1).mean()),
        by_sorting_rounded=len(np.unique(rounded, axis=0)),
    )


def _test(fusion: Fusion, scores: AIDScores, number: int, fold: int, half: int) -> None:
    """Errors of every method on the half that it was not learned from."""
    X, labels = scores.scores[fold, half], scores.labels[fold, half]
    n_classes = len(X)
    own = slice(number * n_classes, (number + 1) * n_classes)
    shared = [fusion.shared[number]] * n_classes
    fused = {
        "Choquet, one measure a class": _integrals(fusion.measures[own], X),
        "Choquet, shared measure": _integrals(shared, X),
        **{
            f"descent from {name}": _integrals(found[own], X)
            for name, found in fusion.descents.items()
        },
        "mean": X.mean(axis=2),
        "median": np.median(X, axis=2),
        "min": X.min(axis=2),
        "max": X.max(axis=2),
        **{name: X[:, :, i] for i, name in enumerate(scores.networks)},
    }
    for name, outputs in fused.items():
        error, right = _scored(outputs, labels)
        fusion.error.setdefault(name, []).append(error)
        fusion.accuracy.setdefault(name, []).append(right)


def _scored(outputs: FloatArray, labels: IntArray) -> tuple[float, float]:
    """Mean squared error and accuracy of outputs by class and image."""
    target = labels[None, :] == np.arange(len(outputs))[:, None]
    error = float(((outputs - target) ** 2).mean())
    return error, float((outputs.argmax(axis=0) == labels).mean())


def mean_tests(
    measures: list[Measure], scores: AIDScores, n_folds: int
) -> tuple[list[float], list[float]]:
    """Mean error and accuracy of shared measures on each half of each network fold."""
    errors, accuracy = [], []
    for fold, half in ((fold, half) for fold in range(n_folds) for half in (0, 1)):
        X, labels = scores.scores[fold, half], scores.labels[fold, half]
        outputs = (choquet_integral(g, X.reshape(-1, X.shape[2])) for g in measures)
        found = [_scored(one.reshape(X.shape[:2]), labels) for one in outputs]
        errors.append(float(np.mean([error for error, _ in found])))
        accuracy.append(float(np.mean([right for _, right in found])))
    return errors, accuracy


def _integrals(measures: list[Measure], X: FloatArray) -> FloatArray:
    return np.stack([choquet_integral(g, rows) for g, rows in zip(measures, X, strict=True)])


def familiar_shares(measure: Measure, support: Any = None) -> dict[str, float]:
    """Share of walks by the familiar operator nearest to theirs; "other" if none is near.

    Examples
    --------
    >>> familiar_shares(Measure([0, 0, 1, 1, 1, 1, 1, 1]))
    {'max': 0.666..., 'median': 0.333...}
    """
    graph = OperatorGraph(measure, support=support, decimals=4)
    known = familiar_operators(measure.n_sources)
    away = dissimilarity(graph.weights(), np.array(list(known.values())), metric="worst")
    names: IntArray = np.where(away.min(axis=1) <= _NEAR, away.argmin(axis=1), len(known))
    shares = np.bincount(names, weights=graph.shares, minlength=len(known) + 1)
    listed = zip([*known, "other"], shares, strict=True)
    return {name: float(share) for name, share in listed if share > 0}


def average_walk(measures: list[Measure]) -> FloatArray:
    """Mean over measures of the mean weights by rank."""
    return np.asarray(np.mean([mean_walk(measure) for measure in measures], axis=0))


def unmoved_share(measures: list[Measure], start: float) -> float:
    """Share of values that gradient descent left within 0.01 of where its start put them."""
    sizes = np.bitwise_count(np.arange(1 << measures[0].n_sources))[1:-1]
    values = np.array([measure.values[1:-1] for measure in measures])
    return float((np.abs(values - np.minimum(start * sizes, 1.0)) < 0.01).mean())
